"""The room beside a plan where the machines of a slot are packed anew for each job that is tried.

Where jobs stay on their machines, as in `packing.Machines`, the rest of a full cluster is in pieces that no worker fits
into; placed anew, the same jobs often leave room for one more. Best fit may bring all workers of a job together: that
is for the synchronous jobs of `fragmented`, which are no slower then. All slots and levels of a job are packed at once,
by best fit in some ways, and what came of it is remembered: some milliseconds where a slot is new.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.exact.dmlrs.insertion import ByLevels
from dlsched.algorithms.exact.dmlrs.packing import Bools, Items
from dlsched.algorithms.exact.dmlrs.schedules import JobSchedule, Schedules
from dlsched.algorithms.exact.dmlrs.slots import Ints, TooLarge
from dlsched.halt import poll, polled
from dlsched.models.dmlrs import Schedule
from dlsched.models.dmlrs.job import Placement

_MOST_CELLS = 15_000_000
"""Jobs times levels times items of a level, for each order: their items are listed. Arbitrary: 60 MB."""

_REMEMBERED = 100_000
"""Slots beside a job; beyond, all are forgotten. Arbitrary: some 50 MB."""

_LOOK = 4
"""Items that are placed before vectors that do not fit are left out; arbitrary."""

_MOST_ROOMS = 500
"""Machines times vectors, beyond which two ways are tried, not all: by trial they find 95 to 99 % of what all find, and
where rooms are few the others cost little."""

_BEST = 2
"""How many these are."""

_FIRST, _SAME, _OWN = 0, 1, 2
"""Lines of orders: first alternatives, last ones in the same order, and from there on last ones in others."""

_TWICE = 2.0
"""How often the resource that decides counts in the order of items; arbitrary."""


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

    Raises
    ------
    TooLarge
        Where the items are too many to list.
    """

    def __init__(self, schedules: Schedules) -> None:
        super().__init__(schedules.slots)
        slots = schedules.slots
        self._schedules, self._items = schedules, Items(slots)
        self._given: Ints = np.zeros((0, len(slots.jobs)), dtype=np.int64)
        self._homes: list[dict[str, Placement]] = []
        self._total = slots.capacity.sum(axis=0)
        self._ends = [int(np.flatnonzero(row > 0).max(initial=-1)) + 1 for row in schedules.utility]
        self._codings = [coding for coding, _ in self._items.codings]
        dtype = self._codings[0].dtype
        self._guards = np.array([coding.guard for coding in self._codings], dtype=dtype)
        self._empty = np.array([coding.rooms for coding in self._codings], dtype=dtype)
        self._full = max(coding.largest for coding in self._codings)
        self._least = np.zeros((len(slots.jobs), slots.most_levels + 1, len(self._total)), dtype=slots.capacity.dtype)
        self._orders = self._ordered()
        self._places = self._listed()
        resources = range(len(self._codings))
        # A way is a line of `_orders`, and the resource that decides on the machine; the best two come first.
        best = [(_SAME, resources[-1]), (_OWN, 0)]
        self._ways = np.array(best + [(_FIRST, r) for r in resources] + [(_OWN + r, r) for r in resources[1:]])
        codes = [codes for _, codes in self._items.codings]
        self._codes = np.array([codes[r][self._orders[line]] for line, r in self._ways.tolist()], dtype=dtype)
        self._known: dict[tuple[int, bytes], Bools] = {}

    def _ordered(self) -> Ints:
        """Return the numbers of all items as they are placed, shape (lines, items + 1); the last stands for none.

        In the lines `_FIRST` and `_SAME` by their largest share of a resource, as they are numbered; from `_OWN` on,
        for each resource that may decide, by the sum of the squares of their shares, of which that one counts more.
        """
        items, total = self._items.items, [max(1, amount) for amount in self._total.tolist()]
        shares = [[need / whole for need, whole in zip(item.needs, total, strict=True)] for item in items]
        each = np.array(shares).reshape(len(items), len(total))
        squares = each * each
        sizes = [
            squares.sum(axis=1) + (_TWICE - 1) * squares[:, r : r + 1].sum(axis=1) for r in range(len(self._codings))
        ]
        orders = [np.arange(len(items))] * _OWN + [np.argsort(-size, kind="stable") for size in sizes]
        return np.array([[*order, len(items)] for order in orders])

    def _listed(self) -> npt.NDArray[np.int32]:
        """Return the places of the items in each order, shape (lines, jobs, levels + 1, items); the last for none.

        In the line `_FIRST` a job has the first alternatives of its levels, in the others the last ones.
        """
        jobs, most, lines = self._slots.jobs, self._slots.most_levels, len(self._orders)
        sizes = (c.workers + c.servers for job in jobs for choices in job.alternatives for c in choices)
        items = max(sizes, default=0)
        if lines * len(jobs) * (most + 1) * items > _MOST_CELLS:
            raise TooLarge(f"over {_MOST_CELLS} items to place")
        place = self._orders.argsort(axis=1, kind="stable")
        # Integers of 32 bits are sorted in half the time.
        places = np.full((lines, len(jobs), most + 1, items), len(self._items.items), dtype=np.int32)
        for i, job in enumerate(polled(jobs)):
            for level, choices in enumerate(job.alternatives, 1):
                needs = np.array([job.needs(choice) for choice in choices], dtype=self._least.dtype)
                self._least[i, level] = needs.min(axis=0)
                first, last = (self._items.one_by_one(i, choices[k]) for k in (0, -1))
                places[_FIRST, i, level, : len(first)] = place[_FIRST, first]
                places[_SAME:, i, level, : len(last)] = place[_SAME:, last]
        return places

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
            fits[slots, below + 1] = self.fitting(levels) | self._is_given(levels).any(axis=1)
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        for t in new:
            self._known[keys[t - first]] = fits[t].copy()
        return fits, None

    def put(self, schedule: JobSchedule, ways: None) -> Packed:
        """Add a schedule."""
        super().put(schedule, ways)
        return Packed(schedule.job, schedule.levels, schedule.end, self._levels.copy())

    def adopt(self, plan: list[JobSchedule], on_machines: Schedule) -> dict[int, Packed]:
        """Return what jobs have in a plan that was found elsewhere; what best fit does not find of it is kept."""
        levels = self._schedules.levels_of(plan)
        busy = np.flatnonzero(levels.any(axis=1))
        if len(busy):
            for t in busy[~(self.fitting(levels[busy]) | self._is_given(levels[busy]).any(axis=1))].tolist():
                names = [self._slots.jobs[i].name for i in np.flatnonzero(levels[t]).tolist()]
                self._given = np.vstack([self._given, levels[t]])
                self._homes.append({name: on_machines.placements(name)[t + 1] for name in names})
        return {each.job: Packed(each.job, each.levels, each.end, levels) for each in plan}

    def _is_given(self, levels: Ints) -> Bools:
        """Tell which vectors of adopted plans have the levels of vectors, and maybe more, shape (vectors, adopted).

        In any slot, as what is remembered of levels says nothing of the slot that they are tried for.
        """
        levels = levels[:, None]
        found: Bools = ((levels == 0) | (levels == self._given)).all(axis=2)
        return found

    def _items_of(self, levels: Ints, lines: Ints) -> npt.NDArray[np.int32]:
        """Return the places of the items of vectors in some orders, ascending, shape (lines, vectors, items)."""
        used = np.flatnonzero(levels.any(axis=0))
        places = self._places[lines[:, None, None], used, levels[:, used]].reshape(len(lines), len(levels), -1)
        places.sort(axis=2)
        most = int((places < len(self._items.items)).sum(axis=2).max(initial=0))
        return places[:, :, :most]

    def fitting(self, levels: Ints) -> Bools:
        """Tell which vectors fit by best fit, in one of the ways."""
        count, ways = len(levels), np.arange(len(self._ways))
        if count * self._empty.shape[1] > _MOST_ROOMS:
            ways = ways[:_BEST]
        lines, line = np.unique(self._ways[ways, 0], return_inverse=True)
        places = self._items_of(levels, lines)
        way, rows = np.repeat(ways, count), np.tile(np.arange(count), len(ways))
        needs = self._codes[way[:, None], places[np.repeat(line, count), rows]]
        codings = self._ways[way, 1]
        rooms, guard = self._empty[codings], self._guards[codings, None]
        # An item that fits nowhere leaves the full mark, and no other room is as much.
        first, flat = np.arange(len(rooms)) * rooms.shape[1], rooms.reshape(-1)
        most = np.zeros(len(rooms), dtype=rooms.dtype)
        for k in range(needs.shape[1]):
            left = rooms - needs[:, k, None]
            np.putmask(left, (left & guard) != guard, self._full)
            at = left.argmin(axis=1)
            at += first
            flat[at] = least = left.take(at)
            most = np.maximum(most, least)
            if k % _LOOK == _LOOK - 1:
                poll()
                fits = (most < self._full).astype(bool)
                if 2 * np.count_nonzero(fits) < len(fits):
                    rooms, needs, guard, rows, most = rooms[fits], needs[fits], guard[fits], rows[fits], most[fits]
                    first, flat = first[: len(rooms)], rooms.reshape(-1)
        fits = (most < self._full).astype(bool)
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
                placed = self.placed(self.fitted(row, [plan[i].beside[t] for i in used.tolist()]))
                for i in used.tolist():
                    found[names[i]][t + 1] = placed[names[i]]
        return Schedule.of(found)

    def on_machines(self, levels: Ints) -> Schedule:
        """Return the schedule of levels by (slot, job) that were found to fit."""
        found: dict[str, dict[int, Placement]] = {job.name: {} for job in self._slots.jobs}
        for t, row in enumerate(polled(levels)):
            for name, placement in (self.placed(row) if row.any() else {}).items():
                found[name][t + 1] = placement
        return Schedule.of(found)

    def fitted(self, levels: Ints, candidates: list[Ints]) -> Ints:
        """Return the first vector of some that has these levels, beside others or not: the last one put has them."""
        return next(beside for beside in candidates if ((levels == 0) | (levels == beside)).all())

    def placed(self, levels: Ints) -> dict[str, Placement]:
        """Place levels that were found to fit."""
        given = self._is_given(levels[None])[0]
        if given.any():
            names = [self._slots.jobs[i].name for i in np.flatnonzero(levels).tolist()]
            return {name: self._homes[int(given.argmax())][name] for name in names}
        places = self._items_of(levels[None], np.arange(len(self._orders)))[:, 0]
        for (line, r), codes in zip(self._ways.tolist(), self._codes, strict=True):
            coding = self._codings[r]
            homes, _ = coding.place_all(coding.rooms[None], codes[places[line]][None])
            if (homes >= 0).all():
                pairs = zip(self._orders[line, places[line]].tolist(), homes[0].tolist(), strict=True)
                return self._items.placement((k, home, 1) for k, home in pairs if k < len(self._items.items))
        raise RuntimeError("levels that fitted by best fit do not: report this instance")
