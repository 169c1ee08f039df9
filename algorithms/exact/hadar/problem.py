"""A Hadar instance as the exact method sees it, and a schedule of the instance from what it finds.

A job's *option* is a level: run with a device of that speed as the slowest. It does ``work`` iterations (an integer
after scaling, capped at the need Q_j) and may use any type of its ``types``. Options are sorted from fast to slow, so
their type sets grow; of options with equal capped work the slowest is kept.

Slots that matter
-----------------
Let D_j be the last slot in which completing job j is worth something, and n_j the most slots that it can use: at most
D_j - a_j + 1, and at most ceil(Q_j / w_j), w_j the least work of an option. Slots are kept as long as a queue is not
empty that every job joins on arrival with n_j slots and that each slot takes one from, up to the last D_j. So no more
than ``sum n_j`` slots are kept, and the optimum is the same: there is an optimal schedule that uses no others.

- Of the optimal schedules take one with the least sum of all slots that its jobs run in. Nobody runs in vain in it:
  jobs that earn nothing do not run, and no job runs in a slot without which it would complete too. If a job runs in n
  slots, it does less than Q_j in all of them but any one, and at least w_j in each; so (n - 1) w_j < Q_j, and n is no
  more than n_j.
- If nobody runs in a slot t, no job that has arrived by then runs later: moved to t from there, where all devices are
  free, it would do the same work and complete no later, so be worth no less, and the sum of slots were less.
- Let somebody run in slot t, and in all slots from s to t, but not in s - 1. Who runs in them has arrived from s on.
  There are t - s + 1 slots, each with a job, and no job uses more than n_j of them, so ``t - s < sum n_j`` over the
  jobs that arrive from s to t: the queue is not empty in t. And somebody completes in t or later, so t is no later than
  the last D_j of the jobs that have arrived.

A million slots with a job of two slots are two slots then.

Utilities
---------
They are whole multiples of a power of two, whatever they are measured in. Divided by a power of two so that all jobs
together are worth at most `TOTAL`, and rounded up to multiples of `GRID`, sums of utilities and of prices on the same
grid are exact in floats. What is worth less than 1e-12 of all jobs together counts as that much, far below any
tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import or_
from typing import Self

import numpy as np
import numpy.typing as npt

from dlsched.arithmetic import ceil_log2, exact_power
from dlsched.halt import polled
from dlsched.models.hadar import Instance, Job, Schedule, place
from dlsched.models.numbers import to_integers
from dlsched.solvers.matrix import Floats

Ints = npt.NDArray[np.int64]

TOTAL = 2.0**10
"""What all jobs together are worth at most, scaled: 2**40 times `GRID`, which leaves sums of prices 12 bits."""

GRID = 2.0**-30
"""What scaled utilities and prices are multiples of."""


@dataclass(frozen=True, slots=True)
class Options:
    """A job as the exact method sees it; slots are those that matter, numbered from 0.

    Attributes
    ----------
    name : str
    arrival : int
        First slot.
    gang : int
    need : int
        Q_j, scaled to an integer.
    works : tuple of int
        Work in a slot by option, strictly decreasing.
    types : tuple of int
        Bit mask of usable device types by option, growing.
    levels : tuple of str
        The bottleneck type by option.
    utility : tuple of Fraction
        U_j by completion slot; 0 where it cannot complete yet.
    """

    name: str
    arrival: int
    gang: int
    need: int
    works: tuple[int, ...]
    types: tuple[int, ...]
    levels: tuple[str, ...]
    utility: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A schedule of all jobs.

    Attributes
    ----------
    levels : ndarray of shape (jobs, slots)
        Option in each slot, -1 where the job does not run.
    finish : ndarray of shape (jobs,)
        Completion slot, -1 where the job is rejected.
    value : float
        Total utility.
    """

    levels: Ints
    finish: Ints
    value: float


@dataclass(frozen=True, slots=True)
class Needs:
    """A job that can earn something.

    Attributes
    ----------
    job : Job
    need : int
        Q_j, scaled to an integer.
    by_work : tuple of (int, str)
        Work in a slot, and the slowest level that does it, from fast to slow.
    first, last : int
        Slots between which it completes if it earns something.
    """

    job: Job
    need: int
    by_work: tuple[tuple[int, str], ...]
    first: int
    last: int

    @classmethod
    def of(cls, instance: Instance, job: Job) -> Self | None:
        """Return what a job needs, None where it can earn nothing."""
        levels = instance.levels(job)
        (need, *works), _ = to_integers([job.iterations, *(instance.work(job, level) for level in levels)])
        slowest_of = {min(work, need): level for work, level in zip(works, levels, strict=True)}
        best = max(slowest_of, default=0)
        last = instance.last_useful_slot(job)
        if not best or last is None:
            return None
        first = job.arrival + -(-need // best) - 1
        if first > last:
            return None
        return cls(job, need, tuple(sorted(slowest_of.items(), reverse=True)), first, last)

    @property
    def most_slots(self) -> int:
        """n_j, how many slots it runs in at most if none is in vain."""
        return min(-(-self.need // self.by_work[-1][0]), self.last - self.job.arrival + 1)

    def options(self, instance: Instance, slots: Sequence[int]) -> Options:
        """Return what it can do in the slots that matter."""
        start = self.job.arrival
        bit = {r: 1 << i for i, r in enumerate(instance.device_types)}
        return Options(
            name=self.job.name,
            arrival=slots.index(start),
            gang=self.job.gang,
            need=self.need,
            works=tuple(work for work, _ in self.by_work),
            types=tuple(sum(bit[r] for r in instance.eligible(self.job, level)) for _, level in self.by_work),
            levels=tuple(level for _, level in self.by_work),
            utility=tuple(
                self.job.utility.exact(t - start) if self.first <= t <= self.last else Fraction(0)
                for t in polled(slots)
            ),
        )


def useful_jobs(instance: Instance) -> tuple[Needs, ...]:
    """Return the jobs that can finish with a positive utility, in the instance's order."""
    return tuple(needs for job in polled(instance.jobs) if (needs := Needs.of(instance, job)) is not None)


def slots_that_matter(jobs: Sequence[Needs]) -> tuple[int, ...]:
    """Return the slots, counted from 1, that some optimal schedule of useful jobs uses no others than."""
    slots: list[int] = []
    coming = sorted(jobs, key=lambda needs: needs.job.arrival)
    next_arrivals = [*(needs.job.arrival for needs in coming), math.inf][1:]
    free = last = 0
    for needs, following in zip(coming, next_arrivals, strict=True):
        free = max(free, needs.job.arrival) + needs.most_slots
        last = max(last, needs.last)
        slots += polled(range(needs.job.arrival, int(min(free, following, last + 1))))
    return tuple(slots)


def what_matters(instance: Instance) -> tuple[tuple[Needs, ...], tuple[int, ...]]:
    """Return the jobs and the slots of an instance that matter."""
    jobs = useful_jobs(instance)
    return jobs, slots_that_matter(jobs)


@dataclass(frozen=True, slots=True)
class Scale:
    """The power of two that utilities are divided by.

    Attributes
    ----------
    exponent : int
    """

    exponent: int

    @classmethod
    def of(cls, jobs: tuple[Options, ...]) -> Self:
        """Return the scale of the jobs of an instance."""
        return cls(ceil_log2(sum((max(o.utility) for o in jobs), Fraction(0)) / int(TOTAL)))

    def units(self, jobs: tuple[Options, ...], slots: int) -> Floats:
        """Return utilities by job and completion slot, divided and rounded up, shape (jobs, slots)."""
        step = exact_power(Fraction(2), self.exponent) * Fraction(GRID)
        return np.array([[math.ceil(u / step) * GRID for u in polled(o.utility)] for o in jobs]).reshape(
            len(jobs), slots
        )

    def utility(self, units: float) -> float:
        """Return what a sum of scaled utilities, or a bound on one, is worth."""
        return math.ldexp(units, self.exponent)


def schedule_of(instance: Instance, jobs: tuple[Options, ...], slots: Sequence[int], plan: Plan) -> Schedule:
    """Return the schedule of a plan for the slots that matter.

    Raises
    ------
    ValueError
        If a slot does not have the devices.
    """
    counts: dict[int, dict[str, dict[str, int]]] = {}
    for i, t in enumerate(slots):
        running = [j for j in range(len(jobs)) if plan.finish[j] >= i and plan.levels[j, i] >= 0]
        if running:
            usable = [jobs[j].types[int(plan.levels[j, i])] for j in running]
            amounts = _transport([jobs[j].gang for j in running], usable, tuple(instance.capacity.values()))
            counts[t] = {
                jobs[j].name: {r: n for r, n in zip(instance.device_types, row, strict=True) if n}
                for j, row in zip(running, amounts, strict=True)
            }
    return place(instance, counts)


def plan_of(
    schedule: Schedule, instance: Instance, jobs: tuple[Options, ...], slots: Sequence[int], units: Floats
) -> Plan:
    """Return the plan of a schedule: what it does in the slots that matter, up to each job's completion."""
    bit = {r: 1 << i for i, r in enumerate(instance.device_types)}
    levels = np.full((len(jobs), len(slots)), -1, dtype=np.int64)
    finish = np.full(len(jobs), -1, dtype=np.int64)
    for j, options in enumerate(jobs):
        used = schedule.jobs[options.name].slots if options.name in schedule.jobs else {}
        left = options.need
        for i, t in enumerate(slots):
            if left > 0 and t in used:
                taken = reduce(or_, (bit[r] for counts in used[t].values() for r, n in counts.items() if n))
                levels[j, i] = next(k for k, types in enumerate(options.types) if not taken & ~types)
                left -= options.works[levels[j, i]]
                finish[j] = i if left <= 0 else -1
    levels[finish < 0] = -1
    served = np.flatnonzero(finish >= 0)
    return Plan(levels, finish, float(units[served, finish[served]].sum()))


def _transport(gangs: list[int], usable: list[int], capacity: tuple[int, ...]) -> list[list[int]]:
    """Give every gang its devices by augmenting paths; `usable` are bit masks of types."""
    amounts = [[0] * len(capacity) for _ in gangs]
    free = list(capacity)
    for i, gang in enumerate(gangs):
        while gang:
            given = _augment(i, gang, amounts, usable, free, set())
            if not given:
                raise ValueError(f"{sum(gangs)} devices are needed in a slot and cannot be had at these speeds")
            gang -= given
    return amounts


def _augment(i: int, most: int, amounts: list[list[int]], usable: list[int], free: list[int], seen: set[int]) -> int:
    """Give gang i up to so many more devices, moving others to other types where that is needed; return how many."""
    types = [r for r in range(len(free)) if usable[i] >> r & 1 and r not in seen]
    for r in types:
        if free[r]:
            given = min(most, free[r])
            free[r] -= given
            amounts[i][r] += given
            return given
    for r in types:
        if r in seen:
            continue
        seen.add(r)
        for k in range(len(amounts)):
            if k != i and amounts[k][r]:
                given = _augment(k, min(most, amounts[k][r]), amounts, usable, free, seen)
                if given:
                    amounts[k][r] -= given
                    amounts[i][r] += given
                    return given
    return 0
