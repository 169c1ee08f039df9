"""The room beside a plan where the machines of a slot are packed anew for each job that is tried.

Where jobs stay on their machines, as in `packing.Machines`, the rest of a full cluster is in pieces that no worker fits
into; placed anew, the same jobs often leave room for one more. All slots and levels of a job are packed at once, by
best fit in some ways, and what came of it is remembered: some milliseconds where a slot is new.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlsched.algorithms.exact.dmlrs.insertion import ByLevels
from dlsched.algorithms.exact.dmlrs.packing import Bools, Items
from dlsched.algorithms.exact.dmlrs.schedules import JobSchedule, Schedules
from dlsched.algorithms.exact.dmlrs.slots import Ints, TooLarge
from dlsched.halt import polled
from dlsched.models.dmlrs import Schedule
from dlsched.models.dmlrs.job import Placement

_MOST_CELLS = 5_000_000
"""Jobs times levels times items of a level, twice: their items are listed. Arbitrary: 40 MB."""

_REMEMBERED = 100_000
"""Slots beside a job; beyond, all are forgotten. Arbitrary: some 50 MB."""

_LOOK = 4
"""Items that are placed before vectors that do not fit are left out; arbitrary."""

_WAYS = (0, -1)
"""Alternatives that all jobs of a slot take: the first ones, or the last ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Packed(JobSchedule):
    """A schedule and the levels of all jobs, shape (slots, jobs), when it was put beside the others: they fit.

    Those of some of the jobs fit as well, but best fit, where it begins with fewer, may not find it.
    """

    beside: Ints


class Repacked(ByLevels):
    """The room beside a plan.

    Parameters
    ----------
    schedules : Schedules
    levels : ndarray of shape (slots, jobs)
        Of a plan that fits: so do any of its jobs, without the others.
    plan : Schedule
        That plan on the machines.

    Raises
    ------
    TooLarge
        Where the items are too many to list.
    """

    def __init__(self, schedules: Schedules, levels: Ints, plan: Schedule) -> None:
        super().__init__(schedules.slots)
        slots = schedules.slots
        self._items = Items(slots)
        self._given, self._plan = levels, plan
        self._total = slots.capacity.sum(axis=0)
        self._ends = [int(np.flatnonzero(row > 0).max(initial=-1)) + 1 for row in schedules.utility]
        self._codings = [coding for coding, _ in self._items.codings]
        dtype = self._codings[0].dtype
        self._codes = np.array([codes for _, codes in self._items.codings], dtype=dtype)
        self._guards = np.array([coding.guard for coding in self._codings], dtype=dtype)
        self._empty = np.array([coding.rooms for coding in self._codings], dtype=dtype)
        self._full = max(coding.largest for coding in self._codings)
        self._least = np.zeros((len(slots.jobs), slots.most_levels + 1, len(self._total)), dtype=slots.capacity.dtype)
        self._numbers = self._listed()
        self._known: dict[tuple[int, bytes], Bools] = {}

    def _listed(self) -> Ints:
        """Return the numbers of the items, shape (ways, jobs, levels + 1, items); the number of all stands for none."""
        jobs, most = self._slots.jobs, self._slots.most_levels
        sizes = (c.workers + c.servers for job in jobs for choices in job.alternatives for c in choices)
        items = max(sizes, default=0)
        if len(_WAYS) * len(jobs) * (most + 1) * items > _MOST_CELLS:
            raise TooLarge(f"over {_MOST_CELLS} items to place")
        numbers = np.full((len(_WAYS), len(jobs), most + 1, items), len(self._items.items), dtype=np.int64)
        for i, job in enumerate(polled(jobs)):
            for level, choices in enumerate(job.alternatives, 1):
                needs = np.array([job.needs(choice) for choice in choices], dtype=self._least.dtype)
                self._least[i, level] = needs.min(axis=0)
                for way, alternative in enumerate(_WAYS):
                    own, _ = self._items.one_by_one(self._items.of(i, choices[alternative]))
                    numbers[way, i, level, : len(own)] = own
        return numbers

    def fits(self, i: int) -> tuple[Bools, None]:
        """Return which levels of a job fit, shape (slots, levels + 1)."""
        job, first, end = self._slots.jobs[i], self._slots.jobs[i].arrival, self._ends[i]
        fits = np.zeros((self._slots.slots, self._slots.most_levels + 1), dtype=bool)
        fits[:, 0] = True
        keys = [(i, row.tobytes()) for row in self._levels[first:end].astype(np.int16)]
        new = []
        for t, key in enumerate(keys, first):
            if key in self._known:
                fits[t] = self._known[key]
            else:
                new.append(t)
        if not new:
            return fits, None
        others = self._levels[new]
        used = self._least[np.arange(others.shape[1]), others].sum(axis=1)
        needs = used[:, None] + self._least[i, None, 1 : job.levels + 1]
        at, below = np.nonzero((needs <= self._total).astype(bool).all(axis=2))
        if len(at):
            slots, levels = np.array(new)[at], others[at]
            levels[:, i] = below + 1
            fits[slots, below + 1] = self._pack(levels) | self._is_given(levels).any(axis=1)
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        for t in new:
            self._known[keys[t - first]] = fits[t].copy()
        return fits, None

    def put(self, schedule: JobSchedule, ways: None) -> Packed:
        """Add a schedule."""
        super().put(schedule, ways)
        return Packed(schedule.job, schedule.levels, schedule.end, self._levels.copy())

    def _is_given(self, levels: Ints) -> Bools:
        """Tell in which slots of the plan that is known to fit vectors are, without some jobs, shape (vectors, slots).

        In any slot, as what is remembered of levels says nothing of the slot that they are tried for.
        """
        levels = levels[:, None]
        found: Bools = ((levels == 0) | (levels == self._given)).all(axis=2)
        return found

    def _items_of(self, levels: Ints) -> Ints:
        """Return the items of vectors in each way, the largest ones first, shape (ways, vectors, items)."""
        used = np.flatnonzero(levels.any(axis=0))
        numbers = self._numbers[:, used, levels[:, used]].reshape(len(_WAYS), len(levels), -1)
        numbers.sort(axis=2)
        most = int((numbers < len(self._items.items)).sum(axis=2).max(initial=0))
        return numbers[:, :, :most]

    def _pack(self, levels: Ints) -> Bools:
        """Tell which vectors fit by best fit, in one of the ways and with one of the resources deciding."""
        numbers = self._items_of(levels)
        rows = np.tile(np.arange(len(levels)), (len(_WAYS), 1))
        other = np.ones(rows.shape, dtype=bool)
        other[1:] = (numbers[1:] != numbers[0]).any(axis=2)
        numbers, rows = numbers[other], rows[other]
        codings, count = len(self._codings), len(rows)
        needs = self._codes[:, numbers].reshape(codings * count, -1)
        rooms, guard = (np.repeat(array, count, axis=0) for array in (self._empty, self._guards[:, None]))
        rows = np.tile(rows, codings)
        fits = np.ones(len(rooms), dtype=bool)
        for k in polled(range(needs.shape[1])):
            left = rooms - needs[:, k, None]
            np.putmask(left, (left & guard) != guard, self._full)
            at = np.arange(len(rooms)) * rooms.shape[1] + left.argmin(axis=1)
            rooms.reshape(-1)[at] = least = left.take(at)
            fits &= (least < self._full).astype(bool)
            if k % _LOOK == _LOOK - 1 and 2 * np.count_nonzero(fits) < len(fits):
                rooms, needs, guard, rows, fits = rooms[fits], needs[fits], guard[fits], rows[fits], fits[fits]
        found = np.zeros(len(levels), dtype=bool)
        found[rows[fits]] = True
        return found

    def schedule(self, plan: dict[int, Packed]) -> Schedule:
        """Return the schedules of jobs on the machines."""
        levels = np.zeros_like(self._levels)
        for packed in plan.values():
            levels[:, packed.job] = packed.levels
        names = [job.name for job in self._slots.jobs]
        found: dict[str, dict[int, Placement]] = {names[i]: {} for i in plan}
        for t, row in enumerate(polled(levels)):
            used = np.flatnonzero(row)
            if len(used):
                placed = self._placed(self._fitted(row, [plan[i].beside[t] for i in used.tolist()]))
                for i in used.tolist():
                    found[names[i]][t + 1] = placed[names[i]]
        return Schedule.of(found)

    def _fitted(self, levels: Ints, candidates: list[Ints]) -> Ints:
        """Return the first vector of some that has these levels, beside others or not: the last one put has them."""
        return next(beside for beside in candidates if ((levels == 0) | (levels == beside)).all())

    def _placed(self, levels: Ints) -> dict[str, Placement]:
        """Place levels that were found to fit."""
        given = self._is_given(levels[None])[0]
        if given.any():
            names = [self._slots.jobs[i].name for i in np.flatnonzero(levels).tolist()]
            return {name: self._plan.placements(name)[int(given.argmax()) + 1] for name in names}
        for numbers in self._items_of(levels[None])[:, 0]:
            for coding, codes in zip(self._codings, self._codes, strict=True):
                homes, _ = coding.place_all(coding.rooms[None], codes[numbers][None])
                if (homes >= 0).all():
                    pairs = zip(numbers.tolist(), homes[0].tolist(), strict=True)
                    return self._items.placement((k, home, 1) for k, home in pairs if k < len(self._items.items))
        raise RuntimeError("levels that fitted by best fit do not: report this instance")
