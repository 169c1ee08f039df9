"""Schedules at any size: jobs one after the other, each as early as the devices that are left allow."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dlsched.algorithms.exact.hadar.problem import Ints, Needs
from dlsched.halt import over
from dlsched.models.hadar import Instance, Schedule, place
from dlsched.models.numbers import integer_dtype

FEW_USES = 20_000
"""Slots of all jobs together, at most: devices for so many are given on machines and checked in half a second."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What a job gets.

    Attributes
    ----------
    needs : Needs
    slots : ndarray of shape (n,)
        Places of its slots among those that matter; it completes in the last one.
    devices : ndarray of shape (n, types)
    """

    needs: Needs
    slots: Ints
    devices: np.ndarray


class Lists:
    """Schedules by lists of jobs: those in front choose first.

    A job runs at the fastest level that there are devices for, on the slowest of them that will do. Jobs that take too
    many slots are left out.

    Parameters
    ----------
    instance : Instance
    slots : sequence of int
        Those that matter.
    most : int
        Slots of all jobs together, at most.
    """

    def __init__(self, instance: Instance, slots: Sequence[int], most: int) -> None:
        self.instance, self.slots, self.most = instance, slots, most
        types = instance.device_types
        self._capacity = np.array([instance.capacity[r] for r in types], dtype=integer_dtype(instance.devices))
        self._columns: dict[str, dict[int, list[int]]] = {}

    def runs(self, jobs: Sequence[Needs]) -> list[Run]:
        """Return what the jobs of a list get; where the work is over, of those that came first."""
        free, left, found = np.tile(self._capacity, (len(self.slots), 1)), self.most, []
        for needs in jobs:
            if over():
                break
            run = self._run(needs, free, left)
            if run is not None:
                left -= len(run.slots)
                found.append(run)
        return found

    def _run(self, needs: Needs, free: np.ndarray, most: int) -> Run | None:
        """Take devices for a job, at most so many slots, from what slots have left; None where it is not completed."""
        first, gang = bisect_left(self.slots, needs.job.arrival), needs.job.gang
        room = free[first : bisect_right(self.slots, needs.last)]
        columns = self._usable(needs)
        work = np.zeros(len(room), dtype=integer_dtype(needs.need * len(room)))
        for amount, usable in reversed(columns.items()):
            work[room[:, usable].sum(axis=1) >= gang] = amount
        end = int(np.searchsorted(work.cumsum(), needs.need))
        running = np.flatnonzero(work[: end + 1])
        if end == len(room) or len(running) > most:
            return None
        before = room[running]
        for amount, usable in columns.items():
            at = running[work[running] == amount]
            missing = np.full(len(at), gang, dtype=room.dtype)
            for column in reversed(usable):
                taken = np.minimum(missing, room[at, column])
                room[at, column] -= taken
                missing -= taken
        return Run(needs, first + running, before - room[running])

    def _usable(self, needs: Needs) -> dict[int, list[int]]:
        """Return the columns of the types that a job may use, by the work that it does then."""
        found = self._columns.get(needs.job.name)
        if found is None:
            instance = self.instance
            types = instance.device_types
            found = {w: [types.index(r) for r in instance.eligible(needs.job, level)] for w, level in needs.by_work}
            self._columns[needs.job.name] = found
        return found

    def worth(self, runs: Sequence[Run]) -> Fraction:
        """Return the total utility."""
        jobs = ((run.needs.job, self.slots[run.slots[-1]]) for run in runs)
        return sum((job.utility.exact(slot - job.arrival) for job, slot in jobs), Fraction(0))

    def schedule(self, runs: Sequence[Run]) -> Schedule:
        """Return the schedule on machines."""
        types = self.instance.device_types
        counts: dict[int, dict[str, dict[str, int]]] = {}
        for run in runs:
            for place_, row in zip(run.slots.tolist(), run.devices.tolist(), strict=True):
                used = {r: n for r, n in zip(types, row, strict=True) if n}
                counts.setdefault(self.slots[place_], {})[run.needs.job.name] = used
        return place(self.instance, counts)


def by_worth(jobs: Sequence[Needs]) -> list[Needs]:
    """Return jobs, those first that are worth most for each device and slot with the cluster to themselves."""
    return sorted(jobs, key=_worth, reverse=True)


def _worth(needs: Needs) -> Fraction:
    duration = needs.first - needs.job.arrival
    return needs.job.utility.exact(duration) / (needs.job.gang * (duration + 1))


def first_schedule(instance: Instance, jobs: Sequence[Needs], slots: Sequence[int]) -> Schedule:
    """Return a schedule of jobs in slots that matter, at any size in little time."""
    lists = Lists(instance, slots, FEW_USES)
    return lists.schedule(lists.runs(by_worth(jobs)))
