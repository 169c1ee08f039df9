"""The contents of single machines, and what levels need of them.

What is counted is of a kind: workers or servers of a job, each for itself, or bundles of workers and servers that have
to be on one machine. Whatever alike machines hold, its mean is a mixture of the contents of one to which nothing can be
added.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.exact.dmlrs.slots import Alternative, Ints, Slots, TooLarge
from dlsched.halt import polled

MOST_CELLS = 7_500_000
"""Patterns times kinds of things: all of them are priced in every slot and round. Arbitrary: 60 MB, and a round of
twenty slots takes a tenth of a second."""

_MOST_ON_A_MACHINE = 500
"""Things, each of which is a pass over the contents; arbitrary."""

_AT_ONCE = 2_000
"""Contents that are compared with what else fits together; arbitrary: some megabytes."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is counted: workers (1, 0) or servers (0, 1) of a job, or its bundles of (workers, servers)."""

    job: int
    workers: int
    servers: int
    bundle: bool


def kinds_of(slots: Slots) -> list[Kind]:
    """Return what the jobs' alternatives need; bundles of a job in ascending order."""
    found = []
    for i, job in enumerate(slots.jobs):
        choices = [choice for choices in job.alternatives for choice in choices]
        if any(not choice.internal for choice in choices):
            found += [Kind(i, 1, 0, False), Kind(i, 0, 1, False)]
        bundles = sorted({(choice.workers, choice.servers) for choice in choices if choice.internal})
        found += [Kind(i, workers, servers, True) for workers, servers in bundles]
    return found


def patterns_of(slots: Slots, kinds: list[Kind], capacity: Ints) -> Ints:
    """Return the contents of one machine to which nothing can be added, shape (patterns, kinds).

    Contents of one thing more are listed from all those of so many, in ascending order of kinds.

    Raises
    ------
    TooLarge
        Where they, or contents on the way to them, are more than `MOST_CELLS` in all, or things on a machine too many.
    """
    needs: Ints = np.array(
        [slots.jobs[k.job].needs(Alternative(k.bundle, k.workers, k.servers)) for k in kinds], dtype=capacity.dtype
    ).reshape(len(kinds), len(capacity))
    free = ~np.array([any(row) for row in needs.tolist()], dtype=bool)
    most = max(max(c.workers, c.servers) for job in slots.jobs for choices in job.alternatives for c in choices)
    limit = MOST_CELLS // max(1, len(kinds))
    found: list[npt.NDArray[np.int16]] = []
    contents, left = np.zeros((1, len(kinds)), dtype=np.int16), capacity[None]
    while len(contents):
        if len(found) > _MOST_ON_A_MACHINE:
            raise TooLarge(f"over {_MOST_ON_A_MACHINE} things on a machine")
        last = len(kinds) - 1 - (contents[:, ::-1] > 0).argmax(axis=1)
        last[~contents.any(axis=1)] = 0
        full, parents, added = [], [], []
        for first in polled(range(0, len(contents), _AT_ONCE)):
            fits = (left[first : first + _AT_ONCE, None] >= needs).astype(bool).all(axis=2) & ~free
            full.append(~fits.any(axis=1))
            rows, kind = np.nonzero(fits & (np.arange(len(kinds)) >= last[first : first + _AT_ONCE, None]))
            parents.append(first + rows)
            added.append(kind)
            if sum(map(len, parents)) > limit:
                raise TooLarge(f"over {limit} contents of a machine")
        found.append(contents[np.concatenate(full)])
        parent, kind = np.concatenate(parents), np.concatenate(added)
        contents, left = contents[parent], left[parent] - needs[kind]
        contents[np.arange(len(contents)), kind] += 1
    patterns = np.concatenate(found).astype(np.int64)
    if len(patterns) > limit:
        raise TooLarge(f"over {limit} contents of a machine")
    patterns[:, free] = most
    return patterns


class Patterns:
    """The contents of the machines of a cluster, by groups of machines that are alike.

    Of a bundle, the larger ones of its job count too, in contents and in what is needed: a content that has a larger
    one has it.

    Parameters
    ----------
    slots : Slots

    Attributes
    ----------
    kinds : list of Kind
    machines : list of int
        By group.
    contents : list of ndarray of shape (contents, kinds)
        By group.

    Raises
    ------
    TooLarge
        As by `patterns_of`.
    """

    def __init__(self, slots: Slots) -> None:
        self.kinds = kinds_of(slots)
        groups = sorted(Counter(map(tuple, slots.capacity.tolist())).items())
        self.machines = [count for _, count in groups]
        rooms = [np.array(row, dtype=slots.capacity.dtype) for row, _ in groups]
        self.contents = [self._or_more(patterns_of(slots, self.kinds, room)) for room in rooms]

    def needed(self, i: int, choice: Alternative) -> Ints:
        """Return what an alternative of a job needs, by kind."""
        if choice.internal:
            same = [k == Kind(i, choice.workers, choice.servers, True) for k in self.kinds]
            return self._or_more(np.array(same, dtype=np.int64))
        mine = [k.job == i and not k.bundle for k in self.kinds]
        counts = [k.workers * choice.workers + k.servers * choice.servers for k in self.kinds]
        return np.where(mine, counts, 0)

    def _or_more(self, content: Ints) -> Ints:
        content = content.copy()
        for k in range(len(self.kinds) - 2, -1, -1):
            if self.kinds[k].bundle and self.kinds[k + 1].job == self.kinds[k].job:
                content[..., k] += content[..., k + 1]
        return content
