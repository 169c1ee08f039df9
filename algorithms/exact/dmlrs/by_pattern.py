"""The decomposition whose offers are contents of single machines: a weaker bound, for clusters of any size.

Machines of one group are alike; a slot's offer of a group is a content of one machine, for all its machines. Linking
rows, by slot: workers, and servers, of each job for external levels, and for internal levels bundles of n workers or
more. Whatever the machines of a group hold in a plan, its mean is a mixture of such offers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from dlsched.algorithms.exact.dmlrs.decomposition import Decomposition, Offer, Part
from dlsched.algorithms.exact.dmlrs.schedules import JobSchedule, Limits, Schedules
from dlsched.algorithms.exact.dmlrs.slots import Alternative, Ints, Slots, TooLarge
from dlsched.arithmetic import exact_product
from dlsched.halt import polled
from dlsched.solvers.matrix import Floats

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


class ByPattern(Decomposition):
    """One content of a machine a slot and group of machines.

    Parameters
    ----------
    schedules : Schedules
    """

    def __init__(self, schedules: Schedules) -> None:
        slots = schedules.slots
        self.kinds = kinds_of(slots)
        groups = sorted(Counter(map(tuple, slots.capacity.tolist())).items())
        self._machines = [count for _, count in groups]
        capacities = [np.array(row, dtype=slots.capacity.dtype) for row, _ in groups]
        patterns = [self._or_more(patterns_of(slots, self.kinds, row)) for row in capacities]
        self._patterns = [sp.csr_array(rows, dtype=float) for rows in patterns]
        super().__init__(schedules, slots.slots * len(self.kinds), slots.slots * len(groups))
        self._needs = np.zeros((self.jobs, self.most + 1, 2, len(self.kinds)))
        self._open = np.full((self.jobs, self.most + 1, 2), np.inf)
        self._open[:, 0, 0] = 0.0
        self._priced: tuple[Floats, Floats] | None = None
        self._unused = np.ones((self.jobs, self.most + 1), dtype=bool)
        self._unused[:, 0] = False
        for i, job in enumerate(slots.jobs):
            for level, choices in enumerate(job.alternatives, 1):
                self._unused[i, level] = False
                for q, choice in enumerate(choices):
                    self._needs[i, level, q] = self._or_more(self._kinds_in(i, choice))
                    self._open[i, level, q] = 0.0

    @property
    def patterns(self) -> int:
        """How many patterns there are."""
        return sum(rows.shape[0] for rows in self._patterns)

    def _kinds_in(self, i: int, choice: Alternative) -> Ints:
        if choice.internal:
            same = [k == Kind(i, choice.workers, choice.servers, True) for k in self.kinds]
            return np.array(same, dtype=np.int64)
        mine = [k.job == i and not k.bundle for k in self.kinds]
        counts = [k.workers * choice.workers + k.servers * choice.servers for k in self.kinds]
        return np.where(mine, counts, 0)

    def _or_more(self, content: Ints) -> Ints:
        """Count, for each bundle, also the larger ones of its job."""
        content = content.copy()
        for k in range(len(self.kinds) - 2, -1, -1):
            if self.kinds[k].bundle and self.kinds[k + 1].job == self.kinds[k].job:
                content[..., k] += content[..., k + 1]
        return content

    def list_offers(self, limits: Limits) -> Part:
        """Return the part with all patterns."""
        masks = [np.ones(self._of(place).shape[0], dtype=bool) for place in range(self.places)]
        return Part(limits, tuple(masks))

    def _of(self, place: int) -> Any:
        return self._patterns[place % len(self._patterns)]

    def within(self, part: Part) -> Part:
        """Return the part: a single machine's content excludes nothing."""
        return part

    def _by_alternative(self, prices: Floats) -> Floats:
        """Return the cost of each (job, slot, level, alternative), infinite where there is none."""
        if self._priced is None or self._priced[0] is not prices:
            by_slot = prices.reshape(self.slots, len(self.kinds))
            self._priced = prices, np.moveaxis(exact_product(self._needs, by_slot.T), 3, 1) + self._open[:, None]
        return self._priced[1]

    def costs(self, prices: Floats) -> Floats:
        """Return the cost of each (job, slot, level) at its cheapest alternative."""
        cost = self._by_alternative(prices).min(axis=3)
        return np.where(self._unused[:, None], 0.0, cost)

    def earned(self, prices: Floats) -> list[Floats]:
        """Return the prices that each pattern earns on all machines of its group."""
        by_slot = prices.reshape(self.slots, len(self.kinds))
        values = [
            machines * exact_product(rows, by_slot.T)
            for machines, rows in zip(self._machines, self._patterns, strict=True)
        ]
        return [value[:, t] for t in range(self.slots) for value in values]

    def loss(self, place: int, earned: Floats) -> Floats:
        """Return by how much a pattern earns less than the best one on one machine."""
        lost: Floats = (earned - earned.max()) / self._machines[place % len(self._machines)]
        return lost

    def taken(self, schedule: JobSchedule, prices: Floats) -> Floats:
        """Return what a schedule needs, by (slot, kind), each level in its cheapest way."""
        cheapest = self._by_alternative(prices)[schedule.job].argmin(axis=2)
        slots = np.arange(self.slots)
        levels = np.array(schedule.levels)
        rows: Floats = self._needs[schedule.job, levels, cheapest[slots, levels]]
        return rows.ravel()

    def offered(self, place: int, number: int) -> tuple[bytes, Floats]:
        """Return what a pattern has on all machines of its group, by (slot, kind)."""
        slot, group = divmod(place, len(self._patterns))
        rows = np.zeros((self.slots, len(self.kinds)))
        rows[slot] = self._machines[group] * self._patterns[group][[number]].toarray()[0]
        return number.to_bytes(4, "big"), rows.ravel()

    def listed(self, offer: Offer) -> int | None:
        """Return the number of a pattern."""
        return int.from_bytes(offer.key, "big")
