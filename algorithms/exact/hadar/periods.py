"""Many slots: a bound over periods of slots, and schedules by lists of jobs.

Where amounts of work, slots and options are too many for graphs of all schedules, slots are taken together. In a period
of n slots a job may run up to n slots at each option, and each Hall row of a slot holds n times; what a job is worth in
its first slot it is worth in all; and completions may be fractions. Any schedule is a point of this linear program, so
its optimum is a bound, and with exact sums of its duals (`certify.dual_bound`) one over the rationals. The periods in
which its completions gain most from their early ends are halved, again and again.

Symbols: y_jkl `runs`, the slots of period k in which job j runs at option l; a_jk `done`, the share of its work that is
done by the end of the period; c_jk `complete`, whether the job is complete by then.

Schedules are lists (`greedy`): jobs are moved and exchanged in the list as long as that is no worse.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction

import numpy as np

from dlsched.algorithms.exact.anytime import UNSOLVED, Anytime
from dlsched.algorithms.exact.certify import dual_bound
from dlsched.algorithms.exact.hadar.greedy import FEW_USES, Lists, by_worth, first_schedule
from dlsched.algorithms.exact.hadar.problem import Ints, Needs
from dlsched.algorithms.exact.hadar.rows import hall_sets
from dlsched.algorithms.exact.result import Note
from dlsched.halt import Halt, cut, grace, left, over, polled, until
from dlsched.models.hadar import Instance, Schedule
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Floats
from dlsched.solvers.solution import Status
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import TOLERANCE

_ROUTE = "linear program over periods of slots"

_FEW = 8
"""Periods to begin with."""

_MOST_COLUMNS = 100_000
"""Of a linear program: some minutes."""

_LONGER = 3.0
"""Times as long as a linear program the next one takes at most, which has half as many periods more."""

_IN_VAIN = 3
"""Programs, one after the other, that lower the bound by less than the tolerance, after which there is no other one.
Arbitrary: with a job alone on an idle cluster none does, and the last ones took minutes and gigabytes."""

_BOUND_SHARE = 0.4
"""Of the time, for bounds; of the rest, for schedules, as much at most to put one on machines. Arbitrary."""

_MOST_USES = 500_000
"""Slots of all jobs together, at most: a schedule of so many has half a gigabyte."""

_USES_A_SECOND = 20_000
"""That are put on machines and checked, with room for a slow processor."""

_EXCHANGED = 0.5
"""How often two jobs are exchanged in the list, where else one is moved. Arbitrary."""

_TRIES_A_JOB = 100
"""Lists that are tried in vain, for each job, before the search ends. Arbitrary."""


class Periods:
    """The route for many slots.

    Parameters
    ----------
    instance : Instance
    known : Anytime
        Of the instance; takes what is found.
    jobs : sequence of Needs
        That can earn something.
    slots : sequence of int
        That matter.
    seed : int
        Of the search for schedules.
    """

    def __init__(
        self, instance: Instance, known: Anytime[Schedule], jobs: Sequence[Needs], slots: Sequence[int], seed: int
    ) -> None:
        self.instance, self.known, self.jobs, self.slots = instance, known, jobs, slots
        self._number = np.array(slots, dtype=np.int64)
        self._options = max(len(needs.by_work) for needs in jobs)
        self._rng = np.random.default_rng(seed)
        single = tuple(needs.options(instance, (needs.job.arrival,)) for needs in jobs)
        self._types = hall_sets(single, tuple(instance.capacity.values()))
        seconds = left(_BOUND_SHARE)
        most = _MOST_USES if seconds is None else min(_MOST_USES, int(seconds * _USES_A_SECOND))
        self._lists = Lists(instance, slots, max(FEW_USES, most))
        known.take(first_schedule(instance, jobs, slots))
        self._order = by_worth(jobs)
        self._best = self._lists.runs(self._order)
        self._waits = self._uses > FEW_USES  # else it is the first schedule
        if sum(needs.most_slots for needs in jobs) > self._lists.most:
            known.note(f"schedules of at most {self._lists.most} slots, those of all jobs together, are looked for")
        alone = [_raised(needs.job.utility.exact(needs.first - needs.job.arrival)) for needs in jobs]
        known.unit = max(alone)
        known.bound(math.fsum(alone), "every job at its best")

    def steps(self) -> bool:
        """Bound, then look for schedules; tell whether value and bound agree."""
        try:
            self._put()
            self._bound()
            self._search()
        finally:
            self.known.evidence.insert(0, Note("checked schedule worth ", self.known.value))
        self.known.found()
        return self.known.closed()

    def improve(self) -> bool:
        """Look for schedules; prove nothing."""
        self._put()
        self._search()
        return False

    def _bound(self) -> None:
        """Take the bounds of ever more periods."""
        most = max(1, _MOST_COLUMNS // (len(self.jobs) * (self._options + 2)))
        few = min(_FEW, most, len(self.slots))
        ends = np.unique(np.linspace(0, len(self.slots), few + 1).astype(np.int64))
        best, count, in_vain = math.inf, 0, 0
        with suppress(Halt), until(seconds=left(_BOUND_SHARE)):
            while len(ends) <= most + 1:
                start = time.perf_counter()
                try:
                    bound, gains = self._over(ends)
                except UNSOLVED:
                    break
                if bound is None:
                    break
                in_vain = in_vain + 1 if bound > best * (1 - TOLERANCE) else 0
                best, count = min(best, bound), len(ends) - 1
                self.known.bound(bound, _ROUTE)
                self.known.tell("periods")
                halves = _halved(ends, gains)
                is_late = _is_left_less_than(_LONGER * (time.perf_counter() - start))
                if is_late or in_vain == _IN_VAIN or self.known.closed() or len(halves) == len(ends):
                    break
                ends = halves
        if count:
            self.known.note(f"{_ROUTE}, {count} of them, duals in exact rationals: nothing better than ", best)

    def _over(self, ends: Ints) -> tuple[float | None, Floats]:
        """Return the bound over periods that end so, None where time is up, and by period what early ends may gain."""
        shape = len(self.jobs), len(ends) - 1
        lengths = np.diff(ends)
        room, early, late = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        share = np.zeros((len(self.jobs), self._options))
        for j, needs in enumerate(polled(self.jobs)):
            share[j, : len(needs.by_work)] = [_raised(Fraction(work, needs.need)) for work, _ in needs.by_work]
            room[j] = self._within(needs.job.arrival, needs.last, ends)
            early[j], late[j] = self._worth(needs, ends)
        program = Builder(sense=-1)
        runs = program.columns(np.where(share[:, None, :] > 0.0, room[:, :, None], 0.0))
        done = program.columns(np.ones(shape))
        # A sum of utilities by period is one of their differences times what is complete by the period's end.
        complete = program.columns(np.maximum.accumulate(early > 0.0, axis=1).astype(float), cost=_falls(early))
        rows = program.rows(np.zeros(shape), np.inf)  # done in this period, less done before it, at most what is run
        program.add(rows[:, :, None], runs, share[:, None, :])
        program.add(rows, done, -1.0)
        program.add(rows[:, 1:], done[:, :-1], 1.0)
        rows = program.rows(np.zeros(shape), np.inf)  # nobody is complete who is not done
        program.add(rows, done, 1.0)
        program.add(rows, complete, -1.0)
        rows = program.rows(np.zeros(shape), np.inf)  # what is complete stays so
        program.add(rows, complete, 1.0)
        program.add(rows[:, 1:], complete[:, :-1], -1.0)
        rows = program.rows(np.zeros(shape), np.inf)  # who is never complete, or was before, does not run
        program.add(rows, complete[:, -1:], room)
        program.add(rows[:, 1:], complete[:, :-1], -room[:, 1:])
        program.add(rows[:, :, None], runs, -1.0)
        for hall in self._types:
            rows = program.rows(-np.inf, float(hall.devices) * lengths)
            weight = np.where(hall.member.T, hall.weight[:, None], 0).astype(float)
            program.add(rows[None, :, None], runs[:, :, : weight.shape[1]], weight[:, None, :])
        matrix = program.matrix()
        found = solve_matrix(matrix, threads=1)
        if found.summary.status is not Status.OPTIMAL or found.row_duals is None or found.x is None:
            return None, np.zeros(len(lengths))
        exact = dual_bound(matrix, found.row_duals)
        completed = np.diff(found.x[complete], axis=1, prepend=0.0)
        return None if exact is None else _raised(exact), (completed * (early - late)).sum(axis=0)

    def _within(self, first: int, last: int, ends: Ints) -> Ints:
        """Return how many slots of each period lie between two slots."""
        low, high = np.searchsorted(self._number, [first, last + 1])
        within: Ints = np.clip(ends, low, high)
        return within[1:] - within[:-1]

    def _worth(self, needs: Needs, ends: Ints) -> tuple[Floats, Floats]:
        """Return what a job is worth that completes as early, and as late, as it may in each period."""
        early, late = np.zeros(len(ends) - 1), np.zeros(len(ends) - 1)
        job = needs.job
        first = bisect_left(self.slots, needs.first)
        for k, (start, end) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
            begin = max(start, first)
            if begin < end and self.slots[begin] <= needs.last:
                early[k] = _raised(job.utility.exact(self.slots[begin] - job.arrival))
                late[k] = float(job.utility.exact(min(self.slots[end - 1], needs.last) - job.arrival))
        return early, late

    def _search(self) -> None:
        """Change the list as long as that is no worse; put the best one on machines where it stays, and in the end."""
        value, in_vain = self._lists.worth(self._best), 0
        try:
            while in_vain < _TRIES_A_JOB * len(self._order) and not self.known.closed() and not self._is_late(2.0):
                changed = self._changed()
                runs = self._lists.runs(changed)
                if over():
                    break
                worth = self._lists.worth(runs)
                in_vain = 0 if worth > value else in_vain + 1
                if worth >= value:
                    self._waits = self._waits or worth > value
                    self._order, self._best, value = changed, runs, worth
                if in_vain > len(self._order):
                    self._put()
        finally:
            # Whoever presses Ctrl-C gets the schedule before it, where this one takes long.
            with suppress(Halt), grace():
                self._put()

    def _put(self) -> None:
        """Put the best list on machines, where it waits for that and there is time for it."""
        if self._waits and not self._is_late():
            self.known.take(cut(lambda: self._lists.schedule(self._best)))
            self._waits = False
            self.known.tell("search")

    @property
    def _uses(self) -> int:
        """Slots that jobs run in by the best list."""
        return sum(len(run.slots) for run in self._best)

    def _is_late(self, times: float = 1.0) -> bool:
        """Tell whether what is left of the time is needed to put the best list on machines, so many times."""
        return _is_left_less_than(times * self._uses / _USES_A_SECOND)

    def _changed(self) -> list[Needs]:
        """Return the list with one job elsewhere, or with two exchanged."""
        changed = list(self._order)
        here, there = self._rng.integers(len(changed), size=2).tolist()
        if self._rng.random() < _EXCHANGED:
            changed[here], changed[there] = changed[there], changed[here]
        else:
            changed.insert(there, changed.pop(here))
        return changed


def _is_left_less_than(seconds: float) -> bool:
    """Tell whether time is limited, and less of it is left."""
    rest = left()
    return rest is not None and rest < seconds


def _raised(number: Fraction) -> float:
    """Return the least float that is not less."""
    near = float(number)
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)


def _falls(worth: Floats) -> Floats:
    """Return by how much each row falls from one column to the next, and in the end to 0, rounded up; no rises."""
    falls = worth - np.append(worth[:, 1:], np.zeros((len(worth), 1)), axis=1)
    return np.where(falls > 0.0, np.nextafter(falls, np.inf), 0.0)


def _halved(ends: Ints, gains: Floats) -> Ints:
    """Return the ends of periods, of which the half that gains most is halved, the longest first where none gains."""
    lengths = np.diff(ends)
    splits = np.lexsort((-lengths, -gains))
    splits = splits[lengths[splits] > 1][: -(-len(lengths) // 2)]
    found: Ints = np.sort(np.append(ends, ends[splits] + lengths[splits] // 2))
    return found
