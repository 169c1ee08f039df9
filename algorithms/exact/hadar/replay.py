"""The second route of a Hadar proof: its tree replayed from the instance, by other code.

Nothing of the first route is trusted but the questions it asked, the prices it used, and what
`dlsched.algorithms.exact.hadar.problem` reads off the instance: which jobs can finish with a positive utility, what
each can do in a slot, and which slots matter, which is proved there. Each job's remaining work is followed as it is,
each inequality is checked against the devices it speaks of, and every bound is a Lagrangian bound in whole multiples
of a power of two, with utilities rounded up. The result is an upper bound on the optimum whatever the record says; it
is a useful one if the record is right.

The replay must not be weaker than the record, or a right record proves nothing. The first route knows no schedule that
completes a job for nothing, and none that runs a job at an option where a slower one leads to as much: once a question
is answered "no", what it has left out cannot take the place of what the answer forbids. The replay looks at the same
schedules, and finds them by itself:

- *Nothing for nothing.* A job that would complete for nothing is rejected instead, and the value is the same.
- *The slowest option that will do.* Two amounts of remaining work have the same future if the same options, in the
  slots that are left, complete the job in the same slots (the states of an automaton that no word tells apart, found
  from the last slot to the first). Where two options, or an option and idling, lead to amounts of the same future, the
  faster is left out: the gang of a faster option may run at the slower one, in the same devices.

Amounts of the same future stay apart: what led to them differs, and so does what a reduced cost leaves of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.exact.hadar.branch import Branch, Record
from dlsched.algorithms.exact.hadar.problem import GRID, Ints, Options, Scale
from dlsched.algorithms.exact.hadar.rows import Hall, Inequality
from dlsched.arithmetic import exact_power
from dlsched.halt import Halt, poll, polled
from dlsched.models.hadar import Instance
from dlsched.models.numbers import integer_dtype
from dlsched.solvers.matrix import Floats

_MOST_STATES = 3_000_000
"""Amounts of remaining work of all jobs and slots, which a replay keeps about 100 bytes each of: 300 MB."""

_MOST_LOADS = 100_000
"""Different loads when an inequality is checked; with the jobs of an instance that takes seconds."""

_COMPLETE, _HOPELESS = -1, -2
"""In place of a state of the next slot, whose numbers are not negative: the job is complete, or cannot be any more."""

Mask = list[npt.NDArray[np.bool_]]
"""What a job may still do: by slot from its arrival, (options and idling last) x states."""


_FREE = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
"""No prices at all: every job gets its best schedule."""


class _Refused(Exception):
    """The record cannot be replayed."""


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """A job's remaining work by slot from its arrival: where each option, and idling, leads from each state.

    `entering` has, by slot, the places of a table in the order of the states of the next slot that they lead to, and
    where those of each state begin: each is led to from somewhere.
    """

    options: Options
    gain: Floats
    following: tuple[Ints, ...]
    entering: tuple[tuple[Ints, Ints], ...]
    useful: Mask

    def cost(self, costs: Floats) -> Floats:
        """Return the costs of its options by slot, and of idling."""
        own = np.zeros((len(costs), len(self.options.works) + 1))
        own[:, :-1] = costs[:, : len(self.options.works)]
        return own

    def steps(self, cost: Floats, mask: Mask) -> tuple[list[Floats], list[Floats]]:
        """Return, by slot, the best utility less cost from each (option, state) on, and from each state on."""
        poll()
        through, values = [], []
        # Behind the states of the next slot stand what is hopeless, and what completes the job.
        onward = np.full(2, -np.inf)
        for i in range(len(self.following) - 1, -1, -1):
            table, t = self.following[i], self.options.arrival + i
            onward[_COMPLETE] = self.gain[t]
            worth = np.where(mask[i], onward[table] - cost[t][:, None], -np.inf)
            onward = np.full(table.shape[1] + 2, -np.inf)
            values.append(worth.max(axis=0, out=onward[:-2]))
            through.append(worth)
        return through[::-1], values[::-1]

    def so_far(self, cost: Floats, mask: Mask) -> list[Floats]:
        """Return, by slot, minus the least cost with which each state is reached."""
        poll()
        reached = [np.zeros(1)]
        for i, (places, starts) in enumerate(self.entering):
            offer = np.where(mask[i], reached[-1] - cost[self.options.arrival + i][:, None], -np.inf)
            here = offer.ravel()[places]
            reached.append(np.maximum.reduceat(here, starts) if len(here) else here)
        return reached


def _rounded_up(options: Options, scale: Scale) -> Floats:
    step = exact_power(Fraction(2), scale.exponent) * Fraction(GRID)
    return np.array([-(-u // step) * GRID for u in options.utility])


def _follow(options: Options, gain: Floats, room: int) -> _Work:
    kind = integer_dtype(options.need)
    works = np.array([*options.works, 0], dtype=kind)
    values, tables, total = np.array([options.need], dtype=kind), [], 0
    for t in polled(range(options.arrival, len(gain))):
        left = values[None, :] - works[:, None]
        alive = (left > 0) & (left <= options.works[0] * (len(gain) - t - 1))
        after = np.unique(left[alive])
        table = np.where((left <= 0) & (gain[t] > 0), _COMPLETE, _HOPELESS)
        table[alive] = np.searchsorted(after, left[alive])
        tables.append(table)
        values, total = after, total + len(after)
        if total > room:
            raise _Refused("too many amounts of remaining work")
    return _Work(options, gain, tuple(tables), tuple(map(_entering, tables[:-1])), _useful(tables))


def _entering(table: Ints) -> tuple[Ints, Ints]:
    flat = table.ravel()
    places = np.argsort(flat, kind="stable")[np.count_nonzero(flat < 0) :]
    return places, np.flatnonzero(np.diff(flat[places], prepend=-1))


def _useful(tables: list[Ints]) -> Mask:
    """Return which option to use from which state: of those that lead to states of the same future, the slowest."""
    masks: Mask = []
    future = np.zeros(0, dtype=np.int64)
    for table in polled(reversed(tables)):
        onward = np.append(future, [_HOPELESS, _COMPLETE])[table]
        mask = onward != _HOPELESS
        for k in range(1, len(onward)):
            mask[:k] &= onward[:k] != onward[k]
        masks.append(mask)
        futures, which = np.unique(onward, axis=1, return_inverse=True)
        hopeless = (futures == _HOPELESS).all(axis=0)
        future = np.where(hopeless, _HOPELESS, np.arange(len(hopeless)))[which.ravel()]
    return masks[::-1]


class _Replay:
    def __init__(self, works: list[_Work], pool: list[Inequality], cutoff: float) -> None:
        self.works, self.pool, self.cutoff = works, pool, cutoff

    def bound(self, record: Record, masks: list[Mask], required: npt.NDArray[np.bool_]) -> float:
        best = np.inf
        for step in record.steps or [_FREE]:
            value, masks, required = self._fix(step, masks, required)
            best = min(best, value)
            if best <= self.cutoff:
                return best
        if record.branch is None:
            return best
        answers = zip(record.children, (True, False), strict=True)
        return min(best, max(self._child(child, record.branch, yes, masks, required) for child, yes in answers))

    def _child(
        self, child: Record, branch: Branch, yes: bool, masks: list[Mask], required: npt.NDArray[np.bool_]
    ) -> float:
        masks, required = list(masks), required.copy()
        masks[branch.job] = self._answered(self.works[branch.job], masks[branch.job], branch, yes)
        required[branch.job] |= yes
        return self.bound(child, masks, required)

    def _answered(self, work: _Work, mask: Mask, branch: Branch, yes: bool) -> Mask:
        answered = []
        for i, (old, table) in enumerate(zip(mask, work.following, strict=True)):
            t, new = work.options.arrival + i, old.copy()
            completes = table == _COMPLETE
            if not branch.options:
                if (t > branch.slot) == yes:
                    new[completes] = False
            else:
                named = [k for k in branch.options if k < len(work.options.works)]
                others = np.setdiff1d(np.arange(len(new)), named)
                if t == branch.slot:
                    new[others if yes else named] = False
                elif yes and t < branch.slot:
                    new[completes] = False
            answered.append(new)
        return answered

    def _fix(
        self, step: tuple[Ints, Ints, Floats], masks: list[Mask], required: npt.NDArray[np.bool_]
    ) -> tuple[float, list[Mask], npt.NDArray[np.bool_]]:
        slot, number, price = step
        options = max(len(work.options.works) for work in self.works)
        costs = np.zeros((len(self.works), len(self.works[0].gain), options))
        paid = 0.0
        for t, k, p in zip(slot.tolist(), number.tolist(), price.tolist(), strict=True):
            if p < 0:
                raise _Refused("a price is negative")
            costs[:, t] += p * self.pool[k].coefficient.T
            paid += p * self.pool[k].rhs
        own = [work.cost(cost) for work, cost in zip(self.works, costs, strict=True)]
        parts = [work.steps(cost, mask) for work, cost, mask in zip(self.works, own, masks, strict=True)]
        best = np.array([values[0][0] for _, values in parts])
        share = np.where(required, best, np.maximum(best, 0.0))
        bound = paid + float(share.sum())
        if not bound > self.cutoff:
            return bound, masks, required
        kept = []
        for j, (work, (through, _)) in enumerate(zip(self.works, parts, strict=True)):
            reached = work.so_far(own[j], masks[j])
            rest = bound - float(share[j])
            kept.append([rest + r[None, :] + w > self.cutoff for r, w in zip(reached, through, strict=True)])
        return bound, kept, required | ~(bound - share > self.cutoff)


def _holds(instance: Instance, hall: Hall, inequality: Inequality, jobs: tuple[Options, ...]) -> bool:
    """Check an inequality of the jobs that run within a set of types against the set's devices."""
    devices = sum(instance.capacity[r] for i, r in enumerate(instance.device_types) if hall.types >> i & 1)
    items = []
    for j, options in enumerate(polled(jobs)):
        worth = 0
        for k, types in enumerate(options.types):
            value = int(inequality.coefficient[k, j])
            if value < 0 or (value and types & ~hall.types):
                return False
            worth = max(worth, value)
        if worth and options.gang <= devices:
            items.append((options.gang, worth))
    most = max((Fraction(worth, gang) for gang, worth in items), default=Fraction(0))
    if most * devices < inequality.rhs + 1:
        return True
    best = {0: 0}
    for gang, worth in items:
        for used, total in sorted(best.items(), reverse=True):
            if used + gang <= devices:
                best[used + gang] = max(best.get(used + gang, 0), total + worth)
        if len(best) > _MOST_LOADS:
            raise _Refused("an inequality takes too long to check")
    return max(best.values()) <= inequality.rhs


def _records(root: Record) -> Iterable[Record]:
    stack = [root]
    while stack:
        record = stack.pop()
        yield record
        stack += record.children


def replay(
    instance: Instance,
    jobs: tuple[Options, ...],
    sets: tuple[Hall, ...],
    pool: list[Inequality],
    root: Record,
    cutoff: float,
    scale: Scale,
) -> tuple[float, str]:
    """Return an upper bound on all solutions that are better than `cutoff`, and what was done.

    Parameters
    ----------
    instance : Instance
    jobs : tuple of Options
        The jobs that can finish, in the slots that matter.
    sets, pool
        The Hall rows and the inequalities that the record's prices refer to.
    root : Record
    cutoff : float
        Value of a checked schedule, plus the margin by which better ones must exceed it, in scaled utilities.
    scale : Scale

    Returns
    -------
    bound : float
        Infinity where the record cannot be replayed.
    reason : str
    """
    records = list(_records(root))
    try:
        for k in {int(k) for record in records for _, numbers, _ in record.steps for k in numbers}:
            if not _holds(instance, sets[pool[k].hall], pool[k], jobs):
                raise _Refused("an inequality does not hold")
        works, room = [], _MOST_STATES
        for options in jobs:
            works.append(_follow(options, _rounded_up(options, scale), room))
            room -= sum(table.shape[1] for table in works[-1].following)
        masks = [work.useful for work in works]
        checker = _Replay(works, pool, cutoff)
        bound = checker.bound(root, masks, np.zeros(len(jobs), dtype=bool))
    except Halt:
        return float("inf"), "not replayed: out of time"
    except _Refused as refusal:
        return float("inf"), f"not replayed: {refusal}"
    return bound, f"replayed {len(records)} nodes from the instance"
