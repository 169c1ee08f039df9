"""The classes of a Hadar job's remaining work.

With remaining work x, a multiset of options completes the job iff its total work is at least x. Totals are the sums
``n_1 w_1 + .. + n_k w_k`` with at most as many terms as there are slots. So x and the least such sum not below x
have the same completing multisets: remaining work is rounded *up* to a sum without changing the set of schedules.
Where a job has more sums than `MAX_STATES` (measured throughputs are irregular rationals), a subset of thresholds is
kept: rounding down to them can only let a job finish too early (`Rounding.OPTIMISTIC`, bounds stay valid), rounding up
only too late (`Rounding.PESSIMISTIC`, schedules stay feasible); adding the exact remainders along a schedule that is
wrongly thought complete makes it correct there.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.exact.hadar.problem import Ints, Options
from dlsched.halt import poll, polled

MAX_STATES = 2000
"""Of a job, before its amounts of work are rounded; the benchmark family has some hundred, and time grows with them."""

_MAX_SUMS = 20_000
"""Sums of a job's works that are listed at most, to see whether the states that they lead to are few."""


class Rounding(Enum):
    """How remaining work between two thresholds is rounded."""

    OPTIMISTIC = "down"
    PESSIMISTIC = "up"


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """The classes of remaining work of all jobs, numbered through; a job's first state is "done".

    Attributes
    ----------
    job : ndarray of shape (states,)
    following : ndarray of shape (options, states)
        The state after a slot with that option; "done" stays done.
    useful : ndarray of bool, shape (options, states)
        The job has the option and no slower one leads to the same state.
    steps : ndarray of shape (states,)
        Least slots to completion.
    root, done : ndarray of shape (jobs,)
    exact : ndarray of bool, shape (jobs,)
        Whether the job's states are free of rounding.
    """

    job: Ints
    following: Ints
    useful: npt.NDArray[np.bool_]
    steps: Ints
    root: Ints
    done: Ints
    exact: npt.NDArray[np.bool_]


def sums(options: Options, slots: int) -> list[int] | None:
    """Return the sorted total works of up to `slots` slots, up to the first that covers the need; None if too many."""
    known, fresh = {0}, {0}
    cover = options.need + max(options.works)
    for _ in polled(range(slots)):
        fresh = {x + w for x in fresh if x < options.need for w in options.works if x + w < cover} - known
        known |= fresh
        if not fresh:
            break
        if len(known) > _MAX_SUMS:
            return None
    return sorted(known)


def _grid(options: Options, slots: int, extra: frozenset[int], limit: int) -> list[int]:
    """Return thresholds for a job with too many sums: evenly spread, the sums of one option, and `extra`."""
    even = {options.need * k // limit for k in range(limit)}
    pure = {w * n for w in options.works for n in range(min(slots, options.need // w) + 1)}
    return sorted(even | pure | extra | {options.need})


Walk = tuple[list[int], dict[tuple[int, int], int]]
"""Reachable classes, 0 first, and the class that follows on (class, option)."""


def _walk(options: Options, thresholds: list[int], down: bool, limit: int | None) -> Walk | None:
    """Return the classes reachable from the need, or None where there are more than `limit`."""

    def rounded(x: int) -> int:
        if x <= 0:
            return 0
        if down:
            return max(thresholds[bisect_right(thresholds, x) - 1], 1)
        return thresholds[bisect_left(thresholds, x)]

    root = rounded(options.need)
    seen, stack, moves = {0, root}, [root], {}
    while stack:
        poll()
        x = stack.pop()
        for option, work in enumerate(options.works):
            y = rounded(x - work)
            moves[x, option] = y
            if y not in seen:
                seen.add(y)
                stack.append(y)
        if limit is not None and len(seen) > limit:
            return None
    return sorted(seen), moves


def _classes(options: Options, slots: int, rounding: Rounding, extra: frozenset[int], limit: int) -> tuple[Walk, bool]:
    """Return the job's classes and whether they are exact."""
    found = sums(options, slots)
    walk = _walk(options, found, False, limit) if found is not None else None
    if walk is not None:
        return walk, True
    walk = _walk(options, _grid(options, slots, extra, limit // 2), rounding is Rounding.OPTIMISTIC, None)
    if walk is None:
        raise AssertionError("a walk without a limit always ends")
    return walk, False


def build_states(
    jobs: tuple[Options, ...],
    slots: int,
    *,
    rounding: Rounding = Rounding.OPTIMISTIC,
    extra: dict[int, frozenset[int]] | None = None,
    limit: int = MAX_STATES,
) -> States:
    """Number the classes of remaining work of all jobs.

    Parameters
    ----------
    jobs : tuple of Options
    slots : int
        T.
    rounding : Rounding
        Used for jobs with more than `limit` sums.
    extra : dict of int to frozenset of int, optional
        More thresholds by job, for jobs that are rounded.
    limit : int
    """
    most = max((len(o.works) for o in jobs), default=1)
    parts: list[tuple[Ints, Ints, Ints]] = []
    base, root, exact = 0, [], []
    for j, options in enumerate(polled(jobs)):
        more = (extra or {}).get(j, frozenset())
        (values, moves), free = _classes(options, slots - options.arrival, rounding, more, limit)
        index = {x: base + i for i, x in enumerate(values)}
        table = np.full((most, len(values)), base, dtype=np.int64)
        for (x, option), y in moves.items():
            table[option, index[x] - base] = index[y]
        steps = np.array([-(-x // options.works[0]) for x in values], dtype=np.int64)
        parts.append((table, steps, np.full(len(values), j, dtype=np.int64)))
        root.append(index[values[-1]])
        exact.append(free)
        base += len(values)
    following = np.concatenate([p[0] for p in parts], axis=1) if parts else np.zeros((most, 0), dtype=np.int64)
    job = np.concatenate([p[2] for p in parts]) if parts else np.zeros(0, dtype=np.int64)
    done = np.searchsorted(job, np.arange(len(jobs)))
    return States(
        job=job,
        following=following,
        useful=_useful(jobs, job, following, done),
        steps=np.concatenate([p[1] for p in parts]) if parts else np.zeros(0, dtype=np.int64),
        root=np.array(root, dtype=np.int64),
        done=done,
        exact=np.array(exact, dtype=bool),
    )


def _useful(jobs: tuple[Options, ...], job: Ints, following: Ints, done: Ints) -> npt.NDArray[np.bool_]:
    most = following.shape[0]
    has = np.array([[k < len(o.works) for o in jobs] for k in range(most)], dtype=bool).reshape(most, len(jobs))[:, job]
    useful: npt.NDArray[np.bool_] = has & (np.arange(len(job)) != done[job])
    for k in range(most):
        for slower in range(k + 1, most):
            useful[k] &= ~(has[slower] & (following[slower] == following[k]))
    return useful
