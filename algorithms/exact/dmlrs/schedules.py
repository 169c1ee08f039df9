"""Schedules of single jobs, one level a slot, priced by dynamic programming over the work left.

Arrays run over (job, slot, level) and (job, amount of work left); amount 0 is "done". All sums are of multiples of one
power of two below 2**52 of them, so they are exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.exact.dmlrs.slots import Ints, SlotJob, Slots, TooLarge, amounts_left
from dlsched.arithmetic import ceil_log2
from dlsched.halt import polled
from dlsched.models.dmlrs import Schedule
from dlsched.models.numbers import integer_dtype
from dlsched.solvers.matrix import Floats

Bools = npt.NDArray[np.bool_]

_BITS = 36
"""Of the sum of all utilities, on the grid: 16 bits are left of a float's 52 for sums of that many, or of prices."""

_MOST_STEPS = 50_000_000
"""Each is an integer of 8 bytes, 400 MB in all, and every pricing round goes over them once a slot."""


def grid_of(jobs: Sequence[SlotJob]) -> float:
    """Return the power of two that all utilities and prices are multiples of."""
    total = sum((max(job.utility) for job in jobs), Fraction(1))
    return math.ldexp(1.0, ceil_log2(total) - _BITS)


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """What is left open of the jobs' schedules.

    Attributes
    ----------
    levels : ndarray of shape (jobs, slots, levels + 1)
        Levels that may be used.
    ends : ndarray of shape (jobs, slots)
        Slots in which a job may complete.
    required : ndarray of shape (jobs,)
        Jobs that have to complete.
    """

    levels: Bools
    ends: Bools
    required: Bools

    def copy(self) -> Limits:
        """Return a copy that can be changed."""
        return Limits(self.levels.copy(), self.ends.copy(), self.required.copy())

    def settled(self, slot: int, levels: Ints) -> Limits:
        """Return the limits with one level a job in a slot; who runs there completes there at the earliest."""
        cut = self.copy()
        cut.levels[:, slot] = False
        cut.levels[np.arange(len(levels)), slot, levels] = True
        cut.ends[levels > 0, :slot] = False
        return cut


@dataclass(frozen=True, slots=True)
class JobSchedule:
    """Levels of a job by slot; it completes in slot `end`."""

    job: int
    levels: tuple[int, ...]
    end: int


class Schedules:
    """All schedules of the jobs of a cluster.

    Attributes
    ----------
    grid : float
    utility : ndarray of shape (jobs, slots)
        By completion slot, rounded up to the grid.
    full : ndarray of shape (jobs,)
        Number of the amount that all of a job's work is.
    """

    def __init__(self, slots: Slots) -> None:
        self.slots, self.jobs = slots, slots.jobs
        self.grid = grid_of(slots.jobs)
        step = Fraction(self.grid)
        self.utility = np.array(
            [[math.ceil(u / step) * self.grid for u in polled(job.utility)] for job in self.jobs], dtype=float
        ).reshape(len(self.jobs), slots.slots)
        amounts = [amounts_left(job, slots.slots) for job in self.jobs]
        states, most = max(map(len, amounts)), slots.most_levels
        if len(self.jobs) * states * (most + 1) > _MOST_STEPS:
            raise TooLarge(f"over {_MOST_STEPS} steps from one amount of work left to another")
        # What each (level, job, amount) leaves, numbered through all (job, amount). With levels first, what is gathered
        # and compared lies side by side: a fifth of the time that it takes with levels last.
        self._onward = np.zeros((most + 1, len(self.jobs), states), dtype=np.int64)
        for i, (job, left) in enumerate(polled(zip(self.jobs, amounts, strict=True))):
            amount = np.array(left, dtype=integer_dtype(job.total))
            after = np.maximum(amount - np.array([0, *job.work], dtype=amount.dtype)[:, None], 0)
            self._onward[: job.levels + 1, i, : len(left)] = np.searchsorted(amount, after)
        self._first = np.arange(len(self.jobs)) * states
        self._onward += self._first[:, None]
        self._work = [
            np.array([0, *job.work], dtype=integer_dtype(job.total * max(1, slots.slots))) for job in self.jobs
        ]
        self.full = np.array([len(left) - 1 for left in amounts])

    def limits(self) -> Limits:
        """Return the limits that every schedule keeps."""
        shape = (len(self.jobs), self.slots.slots)
        levels = np.zeros((*shape, self.slots.most_levels + 1), dtype=bool)
        levels[:, :, 0] = True
        for i, job in enumerate(self.jobs):
            levels[i, job.arrival :, : job.levels + 1] = True
        return Limits(levels, self.utility > 0, np.zeros(len(self.jobs), dtype=bool))

    def _steps(self, cost: Floats, limits: Limits) -> Floats:
        """Return minus the cost of each (job, slot, level), -inf where it is not allowed."""
        return np.where(limits.levels, -cost, -np.inf)

    def backward(self, cost: Floats, limits: Limits) -> Floats:
        """Return the best value from each (slot, job, amount left before the slot) on.

        In the first slots, as long as one level is left to each job, only for the amounts that these leave.
        """
        steps = self._steps(cost, limits)
        _, jobs, states = self._onward.shape
        value = np.full((self.slots.slots + 1, jobs, states), -np.inf)
        ends = np.where(limits.ends, self.utility, -np.inf)
        each, reached = np.arange(jobs), [self.full]
        for levels in limits.levels.swapaxes(0, 1):
            if (levels.sum(axis=1) != 1).any():
                break
            reached.append(self._onward[levels.argmax(axis=1), each, reached[-1]] - self._first)
        by_level = np.ascontiguousarray(np.moveaxis(steps, 2, 0))
        for t in polled(range(self.slots.slots - 1, -1, -1)):
            after = value[t + 1]
            after[:, 0] = ends[:, t]
            if t < len(reached) - 1:
                value[t, each, reached[t]] = steps[:, t].max(axis=1) + after[each, reached[t + 1]]
            else:
                whole = after.take(self._onward)
                whole += by_level[:, :, t, None]
                whole.max(axis=0, out=value[t])
        return value

    def best(self, value: Floats) -> Floats:
        """Return each job's best schedule value, from what `backward` returned."""
        found: Floats = value[0, np.arange(len(self.jobs)), self.full]
        return found

    def trace(self, cost: Floats, limits: Limits, value: Floats) -> list[JobSchedule]:
        """Return a best schedule of each job that has one."""
        steps = np.moveaxis(self._steps(cost, limits), 2, 0)
        found = np.flatnonzero(np.isfinite(self.best(value)))
        levels, end = np.zeros((len(self.jobs), self.slots.slots), dtype=np.int64), np.full(len(self.jobs), -1)
        going, amount = found, self.full[found]
        for t in polled(range(self.slots.slots)):
            if not len(going):
                break
            onward = self._onward[:, going, amount]
            level = (steps[:, going, t] + value[t + 1].take(onward)).argmax(axis=0)
            levels[going, t], amount = level, onward[level, np.arange(len(going))] - self._first[going]
            end[going[amount == 0]] = t
            going, amount = going[amount > 0], amount[amount > 0]
        pairs = zip(found.tolist(), levels[found].tolist(), end[found].tolist(), strict=True)
        return [JobSchedule(i, tuple(own), t) for i, own, t in pairs]

    def through(self, cost: Floats, limits: Limits, value: Floats) -> tuple[Floats, Floats]:
        """Return the best value of schedules by (job, slot, level) that they use, and by (job, slot) of completion.

        In slots after its completion a schedule uses level 0.
        """
        steps = np.moveaxis(self._steps(cost, limits), 2, 0)
        levels, jobs, states = self._onward.shape
        so_far = np.full((jobs, states), -np.inf)
        so_far[np.arange(jobs), self.full] = 0.0
        done = np.full(jobs, -np.inf)
        using = np.full((jobs, self.slots.slots, levels), -np.inf)
        ending = np.full((jobs, self.slots.slots), -np.inf)
        for t in polled(range(self.slots.slots)):
            reach = so_far + steps[:, :, t, None]
            using[:, t] = (reach + value[t + 1].take(self._onward)).max(axis=2).T
            using[:, t, 0] = np.maximum(using[:, t, 0], done)
            so_far = np.full((jobs, states), -np.inf)
            np.maximum.at(so_far.reshape(-1), self._onward.reshape(-1), reach.reshape(-1))
            ending[:, t] = so_far[:, 0] + value[t + 1][:, 0]
            done = np.maximum(done, ending[:, t])
            so_far[:, 0] = -np.inf
        return using, ending

    def levels_of(self, plan: Iterable[JobSchedule]) -> Ints:
        """Return the level of each job by slot, shape (slots, jobs)."""
        levels = np.zeros((self.slots.slots, len(self.jobs)), dtype=np.int64)
        for schedule in plan:
            levels[:, schedule.job] = schedule.levels
        return levels

    def read(self, schedule: Schedule) -> list[JobSchedule]:
        """Return the levels that jobs have in a schedule, of those that complete by them."""
        found = []
        for i, job in enumerate(polled(self.jobs)):
            levels, left = [0] * self.slots.slots, job.total
            for t, placed in sorted(schedule.placements(job.name).items()):
                if left > 0 and (level := _level(job, list(placed.values()))):
                    levels[t - 1], left, end = level, left - job.work[level - 1], t - 1
            if left <= 0:
                found.append(JobSchedule(i, tuple(levels), end))
        return found

    def best_within(self, i: int, room: Bools, cost: Floats) -> JobSchedule | None:
        """Return a job's best schedule, None where none is worth its cost.

        Parameters
        ----------
        i : int
        room : ndarray of shape (slots, levels + 1)
            Levels that may be used.
        cost : ndarray of shape (slots, levels + 1)
        """
        job, slots, work = self.jobs[i], self.slots.slots, self._work[i]
        last = int(np.flatnonzero(self.utility[i] > 0).max(initial=-1))
        count, room = int(self.full[i]) + 1, room[:, : len(work)]
        if np.where(room[job.arrival : last + 1], work, 0).max(axis=1).sum() < job.total:
            return None
        following = self._onward[: len(work), i, :count] - self._first[i]
        steps = np.where(room, -cost[:, : len(work)], -np.inf)
        value = np.full((slots + 1, count), -np.inf)
        ends = np.where(self.utility[i] > 0, self.utility[i], -np.inf).tolist()
        for t in range(last, job.arrival - 1, -1):
            value[t + 1, 0] = ends[t]
            np.maximum.reduce(steps[t, :, None] + value[t + 1].take(following), axis=0, out=value[t])
        if not value[job.arrival, -1] > 0:
            return None
        state, levels = count - 1, [0] * slots
        for t in range(job.arrival, slots):
            levels[t] = int((steps[t] + value[t + 1][following[:, state]]).argmax())
            state = int(following[levels[t], state])
            if state == 0:
                return JobSchedule(i, tuple(levels), t)
        return None


def _level(job: SlotJob, on: list[tuple[int, int]]) -> int:
    """Return the highest level that (workers, servers) on some machines are enough for."""
    workers, servers = (sum(column) for column in zip((0, 0), *on, strict=True))
    alone = sum(1 for each in on if any(each)) == 1
    enough = (
        level
        for level, choices in enumerate(job.alternatives, 1)
        if any(c.workers <= workers and c.servers <= servers and (alone or not c.internal) for c in choices)
    )
    return max(enough, default=0)
