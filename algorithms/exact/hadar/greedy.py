"""A first schedule at any size: jobs one after the other, each as early as the devices that are left allow."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dlsched.algorithms.exact.hadar.problem import Needs
from dlsched.halt import over
from dlsched.models.hadar import Instance, Schedule, place
from dlsched.models.numbers import integer_dtype

_MOST_USES = 20_000
"""Slots of all jobs together, at most: devices for so many are given on machines and checked in half a second."""


def first_schedule(instance: Instance, jobs: Sequence[Needs], slots: Sequence[int]) -> Schedule:
    """Return a schedule of jobs in slots that matter: those worth most for a device and slot are placed first.

    A job runs at the fastest level that there are devices for, on the slowest of them that will do. Jobs that take too
    many slots are left out; where the work is over, what is placed by then is returned.
    """
    types = instance.device_types
    capacity = np.array([instance.capacity[r] for r in types], dtype=integer_dtype(instance.devices))
    free = np.tile(capacity, (len(slots), 1))
    counts: dict[int, dict[str, dict[str, int]]] = {}
    left = _MOST_USES
    for needs in sorted(jobs, key=_worth, reverse=True):
        if over():
            break
        first = bisect_left(slots, needs.job.arrival)
        room = free[first : bisect_right(slots, needs.last)]
        columns = {work: [types.index(r) for r in instance.eligible(needs.job, level)] for work, level in needs.by_work}
        work = np.zeros(len(room), dtype=integer_dtype(needs.need * len(room)))
        for amount, usable in reversed(columns.items()):
            work[room[:, usable].sum(axis=1) >= needs.job.gang] = amount
        end = int(np.searchsorted(work.cumsum(), needs.need))
        running = np.flatnonzero(work[: end + 1]).tolist()
        if end < len(room) and len(running) <= left:
            left -= len(running)
            for i in running:
                gang = _taken(room[i], columns[int(work[i])], needs.job.gang)
                used = {types[column]: n for column, n in gang.items()}
                counts.setdefault(slots[first + i], {})[needs.job.name] = used
    return place(instance, counts)


def _worth(needs: Needs) -> Fraction:
    """Return what a job is worth for each device and slot that it takes with the cluster to itself."""
    duration = needs.first - needs.job.arrival
    return needs.job.utility.exact(duration) / (needs.job.gang * (duration + 1))


def _taken(room: np.ndarray, usable: Sequence[int], gang: int) -> dict[int, int]:
    """Take a gang's devices from what a slot has left, the last of the usable types first."""
    taken = {}
    for column in reversed(usable):
        if n := min(gang, int(room[column])):
            taken[column] = n
            room[column] -= n
            gang -= n
    return taken
