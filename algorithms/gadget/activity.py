"""The embedding problem of each slot as GADGET meets it: who is active, with which ring sizes and gains.

`slot_problem` and `printed_problem` of dlsched.models.ddljs give the same from scratch; over a horizon most of that
work repeats. The joint relaxation is solved over classes of servers here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction

from dlsched.algorithms.gadget.classes import largest_counts, server_classes
from dlsched.errors import InputError
from dlsched.models.ddljs import Instance, Job, RingProblem, RingRequest
from dlsched.models.ddljs.requests import request_of
from dlsched.models.utility import Table
from dlsched.tolerances import TOLERANCE


class Sizes(StrEnum):
    """How q_i[t], the largest ring of a job, is found."""

    FLOOR = "floor"
    """min(N_i, K_i - z, sum_u m_iu): as many workers as the job alone can have."""

    ALONE = "alone"
    """As printed, if (10) is relaxed for each job by itself: its most workers, any part of one counting, rounded up."""

    JOINT = "joint"
    """As printed, if (10) is relaxed for all jobs together: the workers of the job in an optimum of it, rounded up."""


class Activity:
    """The embedding problems of an instance, slot by slot.

    Parameters
    ----------
    instance : Instance
    sizes : Sizes

    Raises
    ------
    InputError
        If a job's utility at 0 is minus infinity, as gains are then not defined.
    """

    def __init__(self, instance: Instance, sizes: Sizes) -> None:
        self._instance = instance
        self._sizes = sizes
        self._nodes = {node.name: dict(node.capacity) for node in instance.nodes}
        self._usual = RingProblem(self._nodes, instance.shares(1), ()) if not instance.bandwidth_by_slot else None
        self._room: dict[str, int | Fraction] = {}
        if sizes is Sizes.FLOOR:
            self._room = {job.name: instance.total_room(job) for job in instance.jobs}
        elif sizes is Sizes.ALONE:
            self._room = {job.name: _parts(instance, job) for job in instance.jobs}
        self._most = {job.name: instance.most(job) for job in instance.jobs}
        self._values: dict[tuple[str, int], Fraction] = {}
        for job in instance.jobs:
            try:
                self.value(job, 0)
            except ValueError as error:
                raise InputError(f"job {job.name}: {error}; GADGET needs a finite utility at 0") from None

    def value(self, job: Job, worker_slots: int) -> Fraction:
        """Return mu_i(zeta_i n); a table, which need not cover what breaks the budget, keeps its last value there."""
        n = min(worker_slots, self._most[job.name]) if isinstance(job.utility, Table) else worker_slots
        key = (job.name, n)
        if key not in self._values:
            self._values[key] = job.value(n)
        return self._values[key]

    def problem(self, slot: int, so_far: Mapping[str, int]) -> RingProblem:
        """Return the embedding problem of a slot, given the worker-slots so far."""
        empty = self._usual or RingProblem(self._nodes, self._instance.shares(slot), ())
        if self._sizes is Sizes.FLOOR:
            largest = {job.name: job.payable(so_far[job.name]) for job in self._arrived(slot)}
            largest = {name: math.floor(min(k, self._room[name])) for name, k in largest.items()}
        elif self._sizes is Sizes.ALONE:
            most = {job.name: _unrounded(job, so_far[job.name]) for job in self._arrived(slot)}
            largest = {name: math.ceil(min(q, self._room[name])) for name, q in most.items()}
        else:
            largest = self._joint(slot, so_far)
        return empty.keeping(
            self._request(self._instance.job(name), so_far[name], k) for name, k in largest.items() if k > 0
        )

    def until_gain(self, job: Job, so_far: int) -> int | None:
        """Return after how many more worker-slots the utility is above what it is now; None if it never is, in the end.

        A logistic utility that is still far from its midpoint gains less than a double shows.
        """
        low, high = so_far, self._most[job.name]
        now = self.value(job, so_far)
        if high <= low or self.value(job, high) <= now:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            if self.value(job, middle) > now:
                high = middle
            else:
                low = middle
        return high - so_far

    def _arrived(self, slot: int) -> list[Job]:
        return [job for job in self._instance.jobs if job.arrival <= slot]

    def _joint(self, slot: int, so_far: Mapping[str, int]) -> dict[str, int]:
        """Return ceil(q_i[t]) as printed, by active job."""
        limits = {job.name: _unrounded(job, so_far[job.name]) for job in self._arrived(slot)}
        limits = {name: limit for name, limit in limits.items() if limit > 0}
        requests = [
            self._request(self._instance.job(name), so_far[name], math.ceil(limit)) for name, limit in limits.items()
        ]
        problem = RingProblem(self._nodes, (), tuple(requests))
        counts = largest_counts(problem, server_classes(problem), {name: float(q) for name, q in limits.items()})
        return {name: math.ceil(count - TOLERANCE) for name, count in counts.items()}

    def _request(self, job: Job, so_far: int, largest: int) -> RingRequest:
        now = self.value(job, so_far)
        gains = {k: self.value(job, so_far + k) - now for k in range(1, largest + 1)}
        return request_of(job, gains)


def _unrounded(job: Job, so_far: int) -> Fraction:
    """Return min(N_i, min_r F_i^r / l_i^r - z), the right-hand sides of (2) and (11) as printed."""
    if job.budget is None:
        return Fraction(job.max_workers)
    ratios = [job.budget.get(r, Fraction(0)) / need for r, need in job.worker.items() if need]
    return min([Fraction(job.max_workers), *(ratio - so_far for ratio in ratios)])


def _parts(instance: Instance, job: Job) -> Fraction:
    """Return the most workers of a job on the empty servers, any part of one counting."""
    total = Fraction(0)
    for node, servers in instance.kinds:
        rooms = [node.capacity_of(r) / need for r, need in job.worker.items() if need]
        total += min([Fraction(job.max_workers), *rooms]) * servers
    return total
