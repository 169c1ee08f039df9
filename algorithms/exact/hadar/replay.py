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

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.exact.hadar.branch import Branch, Record
from dlsched.algorithms.exact.hadar.problem import GRID, Ints, Options, Scale
from dlsched.algorithms.exact.hadar.rows import Hall, Inequality
from dlsched.arithmetic import exact_power
from dlsched.halt import Halt, polled
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
"""What may still be done: by slot, (options and idling last) x states."""


_FREE = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
"""No prices at all: every job gets its best schedule."""


class _Refused(Exception):
    """The record cannot be replayed."""


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """A job's remaining work by slot from its arrival: where each option, and idling, leads from each state."""

    options: Options
    gain: Floats
    following: tuple[Ints, ...]
    useful: Mask


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
    return _Work(options, gain, tuple(tables), _useful(tables))


def _all_followed(jobs: tuple[Options, ...], scale: Scale) -> list[_Work]:
    works, room = [], _MOST_STATES
    for options in jobs:
        works.append(_follow(options, _rounded_up(options, scale), room))
        room -= sum(table.shape[1] for table in works[-1].following)
    return works


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


class _Layer:
    """The states of all jobs in a slot, those of a job side by side.

    Parameters
    ----------
    works : list of _Work
    t : int
        The slot.
    following : _Layer, optional
        The next one.
    """

    def __init__(self, works: list[_Work], t: int, following: _Layer | None) -> None:
        here = [(j, t - work.options.arrival) for j, work in enumerate(works) if work.options.arrival <= t]
        sizes = np.zeros(len(works), dtype=np.int64)
        sizes[[j for j, _ in here]] = [works[j].following[i].shape[1] for j, i in here]
        self.size, ends = int(sizes.sum()), np.cumsum(sizes)
        self.of = [slice(int(end - size), int(end)) for size, end in zip(sizes, ends, strict=True)]
        self.job = np.repeat(np.arange(len(works)), sizes)
        self.gain = np.array([work.gain[t] for work in works])
        onward = 0 if following is None else following.size
        rows = 1 + max(len(work.options.works) for work in works)
        # Behind the states of the next slot stand what is hopeless, and what completes each job.
        self.table = np.full((rows, self.size), onward, dtype=np.int64)
        self.useful = np.zeros(self.table.shape, dtype=bool)
        for j, i in here:
            own, options = works[j].following[i], [*range(len(works[j].options.works)), rows - 1]
            first = 0 if following is None else following.of[j].start
            joint = np.where(own == _COMPLETE, onward + 1 + j, np.where(own == _HOPELESS, onward, first + own))
            self.table[options, self.of[j]] = joint
            self.useful[options, self.of[j]] = works[j].useful[i]
        self.completes = self.table > onward
        flat = self.table.ravel()
        self.places = np.argsort(flat, kind="stable")[: np.count_nonzero(flat < onward)]
        self.starts = np.flatnonzero(np.diff(flat[self.places], prepend=-1))
        self.entered = flat[self.places][self.starts]

    def onward(self, values: Floats) -> Floats:
        """Return what each option, and idling, leads to from each state, given the values of the next slot's states."""
        earned: Floats = np.concatenate([values, [-np.inf], self.gain])[self.table]
        return earned

    def reached(self, offer: Floats, size: int) -> Floats:
        """Return the most that is offered to each state of the next slot; 0 to that of a job that arrives there."""
        found = np.zeros(size)
        if len(self.places):
            found[self.entered] = np.maximum.reduceat(offer.ravel()[self.places], self.starts)
        return found


class _Replay:
    def __init__(self, works: list[_Work], pool: list[Inequality], cutoff: float) -> None:
        self.jobs, self.pool, self.cutoff = [work.options for work in works], pool, cutoff
        layers: list[_Layer] = []
        for t in polled(range(len(works[0].gain) - 1, -1, -1)):
            layers.append(_Layer(works, t, layers[-1] if layers else None))
        self.layers = layers[::-1]

    def all(self, root: Record) -> float:
        """Return the bound of a record of the whole tree."""
        useful = [layer.useful for layer in self.layers]
        return self.bound(root, useful, np.zeros(len(self.jobs), dtype=bool))

    def bound(self, record: Record, mask: Mask, required: npt.NDArray[np.bool_]) -> float:
        best = np.inf
        for step in record.steps or [_FREE]:
            value, mask, required = self._fix(step, mask, required)
            best = min(best, value)
            if best <= self.cutoff:
                return best
        if record.branch is None:
            return best
        answers = zip(record.children, (True, False), strict=True)
        return min(best, max(self._child(child, record.branch, yes, mask, required) for child, yes in answers))

    def _child(self, child: Record, branch: Branch, yes: bool, mask: Mask, required: npt.NDArray[np.bool_]) -> float:
        required = required.copy()
        required[branch.job] |= yes
        return self.bound(child, self._answered(mask, branch, yes), required)

    def _answered(self, mask: Mask, branch: Branch, yes: bool) -> Mask:
        options = self.jobs[branch.job]
        answered = list(mask)
        for t in range(options.arrival, len(mask)):
            layer, new = self.layers[t], mask[t].copy()
            own, completes = new[:, layer.of[branch.job]], layer.completes[:, layer.of[branch.job]]
            if not branch.options:
                if (t > branch.slot) == yes:
                    own[completes] = False
            else:
                named = [k for k in branch.options if k < len(options.works)]
                others = np.setdiff1d(np.arange(len(own)), named)
                if t == branch.slot:
                    own[others if yes else named] = False
                elif yes and t < branch.slot:
                    own[completes] = False
            answered[t] = new
        return answered

    def _fix(
        self, step: tuple[Ints, Ints, Floats], mask: Mask, required: npt.NDArray[np.bool_]
    ) -> tuple[float, Mask, npt.NDArray[np.bool_]]:
        slot, number, price = step
        rows = len(self.layers[0].table)
        costs = np.zeros((len(self.layers), rows, len(self.jobs)))
        paid = 0.0
        for t, k, p in zip(slot.tolist(), number.tolist(), price.tolist(), strict=True):
            if p < 0:
                raise _Refused("a price is negative")
            costs[t, :-1] += p * self.pool[k].coefficient
            paid += p * self.pool[k].rhs
        by_state = [cost[:, layer.job] for cost, layer in zip(costs, self.layers, strict=True)]
        through, best = self._through(by_state, mask)
        share = np.where(required, best, np.maximum(best, 0.0))
        bound = paid + float(share.sum())
        if not bound > self.cutoff:
            return bound, mask, required
        kept = []
        for layer, reached, worth in zip(self.layers, self._so_far(by_state, mask), through, strict=True):
            kept.append((bound - share)[layer.job] + reached + worth > self.cutoff)
        return bound, kept, required | ~(bound - share > self.cutoff)

    def _through(self, costs: list[Floats], mask: Mask) -> tuple[list[Floats], Floats]:
        """Return, by slot, the best utility less cost from each (option, state) on, and each job's best."""
        through, values = [], np.zeros(0)
        best = np.zeros(len(self.jobs))
        for t in polled(range(len(self.layers) - 1, -1, -1)):
            layer = self.layers[t]
            worth = np.where(mask[t], layer.onward(values) - costs[t], -np.inf)
            values = worth.max(axis=0)
            through.append(worth)
            for j, options in enumerate(self.jobs):
                if options.arrival == t:
                    best[j] = values[layer.of[j].start]
        return through[::-1], best

    def _so_far(self, costs: list[Floats], mask: Mask) -> Iterator[Floats]:
        """Yield, by slot, minus the least cost with which each state is reached."""
        reached = np.zeros(self.layers[0].size)
        for t, layer in enumerate(polled(self.layers)):
            yield reached
            if t + 1 < len(self.layers):
                offer = np.where(mask[t], reached - costs[t], -np.inf)
                reached = layer.reached(offer, self.layers[t + 1].size)


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
        bound = _Replay(_all_followed(jobs, scale), pool, cutoff).all(root)
    except Halt:
        return float("inf"), "not replayed: out of time"
    except _Refused as refusal:
        return float("inf"), f"not replayed: {refusal}"
    return bound, f"replayed {len(records)} nodes from the instance"
