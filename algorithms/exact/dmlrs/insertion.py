"""Plans built job by job on the machines: each inserted job gets its best schedule in the room that the others leave.

The room is that on the machines, where the others stay where they are (`packing.Machines`) or are placed anew
(`repacking.Repacked`), or all that fits is listed (`configurations.Listed`). Large-neighbourhood search takes a few
jobs out and inserts them, and a few of the rejected ones, in random order and with random weight on prices: two or
three milliseconds for fifty jobs on thirty machines, ten times as many where they are placed anew.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dlsched.algorithms.exact.dmlrs.schedules import Bools, JobSchedule, Schedules
from dlsched.algorithms.exact.dmlrs.slots import Ints, Slots
from dlsched.arithmetic import log
from dlsched.halt import polled
from dlsched.solvers.matrix import Floats

_WEIGHTS = (0.05, 0.3, 0.6, 1.0)
"""Of the prices: from nearly none, which is greedy, to all of them; the steps between are arbitrary."""

_MOST_OUT = 6
"""Jobs that are taken out together, at most; by trial, 4 and 10 are a little worse."""

_MOST_NEW = 4
"""Rejected jobs that are tried with them, at most: all of them took half of the time, by trial."""

_RECORDS = (0.003, 0.0, 0.01)
"""By how much a plan that is gone on from may be worse than the best one, in turn; by trial."""

_HEAT = 0.003
"""Of the annealing when it begins, as a share of the best plan's value; by trial."""

_IDLE = 200
"""Rounds without a better plan before the next of these; twice as many before the search goes back; arbitrary."""

_AIMED = 0.7
"""How often a round is about one job and those that run at the same time; arbitrary."""

_REPACKED = 0.1
"""How often all that stays is placed anew; by trial."""

_LEAST = 1 / 5000
"""Of the plan's value, that a job counts as having lost at least; arbitrary."""


class Room(Protocol):
    """What is left beside the jobs of a plan."""

    def fits(self, i: int) -> tuple[Bools, Any]:
        """Return which levels of a job that has nothing yet fit, shape (slots, levels + 1), and how."""

    def put(self, schedule: JobSchedule, ways: Any) -> Any:
        """Place a schedule whose levels fit so; return what it has."""

    def take(self, things: Any) -> None:
        """Place things where they were."""

    def leave(self, things: Any) -> None:
        """Take things away."""

    def repack(self, plan: dict[int, Any]) -> dict[int, Any]:
        """Place the things of all jobs that are there anew."""


class ByLevels(Room):
    """Room that the levels of the jobs in a slot tell: where their workers are is not settled.

    A job has nothing but its schedule in it.
    """

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._levels: Ints = np.zeros((slots.slots, len(slots.jobs)), dtype=np.int64)

    @property
    def levels(self) -> Ints:
        """The levels of what is in it, shape (slots, jobs)."""
        return self._levels

    def put(self, schedule: JobSchedule, ways: None) -> JobSchedule:
        """Add a schedule."""
        del ways
        self.take(schedule)
        return schedule

    def take(self, things: JobSchedule) -> None:
        """Add a schedule."""
        self._levels[:, things.job] = things.levels

    def leave(self, things: JobSchedule) -> None:
        """Take a schedule away."""
        self._levels[:, things.job] = 0

    def repack(self, plan: dict[int, JobSchedule]) -> dict[int, JobSchedule]:
        """Return the schedules."""
        return plan


@dataclass(frozen=True, slots=True)
class Placed:
    """A job's schedule, and what it has in the room."""

    schedule: JobSchedule
    things: Any


Plan = dict[int, Placed]
"""By job."""


class Insertion:
    """The search.

    Parameters
    ----------
    schedules : Schedules
    room : Room
        Empty.
    seed : int

    Attributes
    ----------
    best : dict of int to Placed
        The best plan.
    value : float
        Its utility, on the grid.
    watch : callable, optional
        Told of each plan that is tried, and of its utility.
    """

    def __init__(self, schedules: Schedules, room: Room, seed: int = 0) -> None:
        self.schedules, self.jobs, self.room = schedules, schedules.jobs, room
        self.rng = np.random.default_rng(seed)
        self._plan: Plan = {}
        self.best: Plan = {}
        self.value = 0.0
        self.watch: Callable[[Plan, float], None] | None = None

    def insert(self, i: int, cost: Floats) -> bool:
        """Give a job its best schedule at some costs (slots, levels + 1); return whether one is worth more than 0."""
        fits, ways = self.room.fits(i)
        found = self.schedules.best_within(i, fits, cost)
        if found is not None:
            self._plan[i] = Placed(found, self.room.put(found, ways))
        return found is not None

    def place(self, schedule: JobSchedule) -> bool:
        """Give a job a schedule if it fits; return whether it does."""
        fits, ways = self.room.fits(schedule.job)
        inside = bool(fits[np.arange(len(schedule.levels)), schedule.levels].all())
        if inside:
            self._plan[schedule.job] = Placed(schedule, self.room.put(schedule, ways))
        return inside

    def _remove(self, i: int) -> None:
        if i in self._plan:
            self.room.leave(self._plan.pop(i).things)

    def restore(self, plan: Plan) -> None:
        """Go back to another plan."""
        for i in [i for i, placed in self._plan.items() if plan.get(i) is not placed]:
            self._remove(i)
        for i in [i for i in plan if i not in self._plan]:
            self._plan[i] = plan[i]
            self.room.take(plan[i].things)

    def _repack(self) -> None:
        things = self.room.repack({i: placed.things for i, placed in self._plan.items()})
        self._plan = {i: Placed(placed.schedule, things[i]) for i, placed in self._plan.items()}

    def prices_of_load(self) -> tuple[Floats, Floats]:
        """Return costs as by a bound, and the jobs' shares of it, where there is none: a full cluster costs what all
        jobs are worth alone.
        """
        schedules, limits = self.schedules, self.schedules.limits()
        cost = np.zeros(limits.levels.shape)
        alone = np.maximum(schedules.best(schedules.backward(cost, limits)), 0.0)
        whole = np.maximum(schedules.slots.capacity.sum(axis=0), 1).astype(float)
        price = float(alone.sum()) / (len(cost[0]) * max(1, len(whole)))
        for i, job in enumerate(self.jobs):
            for level, choices in enumerate(job.alternatives, 1):
                needs = np.array([job.needs(choice) for choice in choices], dtype=float)
                cost[i, :, level] = price * (needs / whole).sum(axis=1).min()
        return cost, alone

    def worth(self) -> float:
        """Return the utility of the plan that is worked on."""
        return float(sum(self._utility(i) for i in self._plan))

    def _utility(self, i: int) -> float:
        return float(self.schedules.utility[i, self._plan[i].schedule.end]) if i in self._plan else 0.0

    def offer(self) -> bool:
        """Keep the plan if it is the best one so far; return whether it is."""
        value = self.worth()
        if value <= self.value:
            return False
        self._tell(value)
        self.best, self.value = dict(self._plan), value
        return True

    def _tell(self, value: float) -> None:
        if self.watch is not None:
            self.watch(self._plan, value)

    def start(self, schedules: Iterable[JobSchedule]) -> None:
        """Begin a plan anew with those of some schedules that fit, in this order."""
        self.restore({})
        for schedule in polled(schedules):
            if schedule.job not in self._plan:
                self.place(schedule)

    def back(self) -> None:
        """Go on from the best plan."""
        self.restore(self.best)

    def construct(self, cost: Floats, shares: Floats, tries: int) -> None:
        """Build plans from nothing, jobs with large shares of a bound first, and go on from the best one."""
        for k in range(tries):
            noise = self.rng.uniform(0.5, 1.5, len(shares)) if k else 1.0
            self.restore({})
            self.complete(cost, np.argsort(-shares * noise, kind="stable").tolist(), _WEIGHTS[-1 - k % len(_WEIGHTS)])
        self.back()

    def complete(self, cost: Floats, order: Sequence[int], weight: float = _WEIGHTS[0]) -> None:
        """Insert jobs in an order, first at weighted costs, then at next to none; offer the plan, even half of it."""
        try:
            for factor in {weight: None, _WEIGHTS[0]: None}:
                for i in polled(order):
                    if i not in self._plan:
                        self.insert(i, factor * cost[i])
        finally:
            self.offer()

    def anneal(self, cost: Floats, shares: Floats, used: Callable[[], float]) -> None:
        """Take jobs out of the plan, and insert them again, until the share of the time that is used is 1.

        Worse plans are gone on from as in simulated annealing, which cools down with that share.
        """
        value = self.worth()
        while (share := used()) < 1:
            before = dict(self._plan)
            self._move(cost, shares)
            heat = _HEAT * self.value * (1 - share) * (1 - share)
            now = self.worth()
            self._tell(now)
            if now < value + heat * log(1 - self.rng.random()):
                self.restore(before)
            else:
                value = now

    def search(self, cost: Floats, shares: Floats, rounds: int | None, stop: Callable[[], bool]) -> None:
        """Take jobs out of the plan, and insert them again, in so many rounds or until it is to stop.

        Plans a little worse than the best one are gone on from (record-to-record travel); after many rounds without a
        better plan the search goes back to the best one.
        """
        idle = 0
        for k in itertools.count() if rounds is None else range(rounds):
            if stop():
                break
            before, value = dict(self._plan), self.value
            self._move(cost, shares)
            idle = 0 if self.value > value else idle + 1
            now = self.worth()
            self._tell(now)
            if now < self.value * (1 - _RECORDS[k // _IDLE % len(_RECORDS)]):
                self.restore(before)
            if idle > 2 * _IDLE:
                self.back()
                idle = 0

    def _move(self, cost: Floats, shares: Floats) -> None:
        """Take some jobs out, and insert them and a few rejected ones again."""
        served = list(self._plan)
        left = [i for i in range(len(self.jobs)) if i not in self._plan]
        first: list[int] = []
        if self.rng.random() < _AIMED:
            loss = np.maximum([shares[i] - self._utility(i) for i in range(len(shares))], 0.0) + _LEAST * self.value
            total = loss.cumsum()
            i = int(np.searchsorted(total, self.rng.random() * total[-1], side="right").clip(max=len(loss) - 1))
            end = self._plan[i].schedule.end if i in self._plan else len(self.schedules.utility[i]) - 1
            served = [
                j for j in served if self.jobs[j].arrival <= end and self._plan[j].schedule.end >= self.jobs[i].arrival
            ]
            first = [i]
        out = self.rng.permutation(served)[: self.rng.integers(1, _MOST_OUT + 1)].tolist()
        moved = [j for j in out + self.rng.permutation(left)[:_MOST_NEW].tolist() if j not in first]
        for j in first + moved:
            self._remove(int(j))
        if self.rng.random() < _REPACKED:
            self._repack()
        if self.rng.random() < 0.5:
            order = self.rng.permutation(moved)
        else:
            rest = np.array(moved, dtype=np.int64)
            order = rest[np.argsort(-shares[rest] * self.rng.uniform(0.3, 1.7, len(rest)), kind="stable")]
        weight = _WEIGHTS[self.rng.integers(len(_WEIGHTS))] * self.rng.uniform(0.7, 1.3)
        self.complete(cost, first + [int(j) for j in order], weight)
