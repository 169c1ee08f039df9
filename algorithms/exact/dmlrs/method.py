"""The certified optimum of the DMLRS problem.

Machines that are alike are summed (`dlsched.algorithms.exact.dmlrs.summed`): the relaxation's optimum is an upper
bound, and a plan of that value that was packed onto the machines and passed the checker is optimal. Nothing above it
exists by a second route, another run on the relaxation. Where plans of that value cannot be packed, the cluster is
fragmented: branch and price over slot configurations and job schedules (`fragmented`) decides, and once more with the
jobs in reverse order. What it does not take, exact programs over single machines decide by two routes.

Where a job's external rate is above its internal rate the relaxation does not hold and those programs decide alone.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from dlsched.algorithms.exact.certify import Finding, certify, default_routes
from dlsched.algorithms.exact.dmlrs.fragmented import solve_fragmented
from dlsched.algorithms.exact.dmlrs.single import read, single_machines
from dlsched.algorithms.exact.dmlrs.summed import Summed
from dlsched.algorithms.exact.result import Optimum, Progress
from dlsched.algorithms.pd_ors import run as pd_ors
from dlsched.algorithms.pd_ors import schedule_bound
from dlsched.models.dmlrs import AsyncJob, Instance, Job, Machine, Schedule, check, exact_utility
from dlsched.models.matrix import Matrix, compile_model
from dlsched.models.numbers import TOLERANCE, agree

_FEW = 2
_SHARE = 0.08
_NODES = 200
"""How much of the time, and how many nodes, the sum of machines gets where it will be a weak bound."""


def solve(
    instance: Instance,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Optimum:
    """Return the certified optimum of a DMLRS instance, or what is known of it when time is up.

    Parameters
    ----------
    instance : Instance
        Journal or asynchronous.
    time_limit : float, optional
        Seconds in all.
    progress, stop
        As for `dlsched.algorithms.optimum`.

    Source: PD-ORS, (1)-(7); PD-ORS thesis, (3.1)-(3.7).
    """
    start = time.perf_counter()
    if not instance.jobs:
        return Optimum(0.0, 0.0, Schedule.of({}), True, ("no jobs",), 0.0, 0.0)
    report = progress or (lambda phase, lower, upper: None)
    return _Solve(instance, start, time_limit, report, stop or (lambda: False)).run()


class _Solve:
    def __init__(
        self,
        instance: Instance,
        start: float,
        time_limit: float | None,
        report: Progress,
        stop: Callable[[], bool],
    ) -> None:
        self.instance, self.start, self.report, self.stop = instance, start, report, stop
        self.deadline = start + (float("inf") if time_limit is None else time_limit)
        self.best = Schedule.of({})
        self.value = 0.0
        self.upper = sum(max(0.0, job.utility(0)) for job in instance.jobs)
        self.evidence: list[str] = []

    def run(self) -> Optimum:
        """Run the steps until value and bound meet or time is up."""
        if not self._late():
            self.best = pd_ors(self.instance).schedule
            self.value = float(exact_utility(self.instance, self.best))
        if any(job.external_rate > job.internal_rate for job in self.instance.jobs):
            return self._single_machines()
        summed = Summed.of(self.instance)
        splits = self._splits()
        if splits and self._coarse():
            left = self._left()
            summed.solve(None if left is None else _SHARE * left, self.stop, _NODES)
        else:
            summed.solve(self._left(), self.stop)
        self._take(summed, "sum of machines")
        if summed.finished and not self._closed():
            for _ in summed.thin_out(self.deadline, self.stop):
                self._take(summed, "plans that leave room")
                if self._closed():
                    break
        if self._closed():
            return self._certified_sum(summed)
        if splits and (found := self._fragmented()):
            return found
        return self._single_machines()

    def _splits(self) -> bool:
        """Tell whether the method for fragmented clusters takes the instance."""
        return len(self.instance.machines) > 1 and not self.instance.asynchronous

    def _coarse(self) -> bool:
        """Tell whether most jobs get less than `_FEW` workers with their servers onto a machine.

        The sum of machines is a weak bound then, and takes long.
        """
        machine = max(self.instance.machines, key=lambda h: sum(h.capacity.values()))
        return statistics.median(_at_home(job, machine) for job in self.instance.jobs) < _FEW

    def _certified_sum(self, summed: Summed) -> Optimum:
        found = time.perf_counter() - self.start
        self.evidence.append(f"checked schedule worth {self.value:.9g}, packed from the sum of identical machines")
        certificate = certify(
            summed.matrix,
            [self._first, self._schedules, *default_routes()[1:]],
            value=self.value,
            time_limit=self._each_route(),
        )
        self.evidence += certificate.evidence
        return self._conclude(certificate.proved, found)

    def _fragmented(self) -> Optimum | None:
        """Branch and price, and once more with the jobs in reverse order; None where it gives up with time left."""
        self._search(self.instance)
        found = time.perf_counter() - self.start
        if not self._closed():
            return self._conclude(False, found) if self._late() else None
        first, self.upper = self.upper, float("inf")
        reverse = self.instance.model_copy(update={"jobs": self.instance.jobs[::-1]})
        self._search(reverse)
        proved, self.upper = self._closed(), min(first, self.upper)
        return self._conclude(proved, found)

    def _search(self, instance: Instance) -> None:
        schedule, bound, evidence = solve_fragmented(
            instance,
            incumbent=self.best,
            upper=self.upper,
            deadline=self.deadline,
            progress=self.report,
            stop=self.stop,
        )
        value = float(exact_utility(self.instance, schedule))
        if value > self.value:
            self.best, self.value = schedule, value
        self.upper = max(self.value, min(self.upper, bound))
        self.evidence += evidence

    def _late(self) -> bool:
        return self.stop() or time.perf_counter() > self.deadline

    def _first(self, matrix: Matrix, cutoff: float | None, seconds: float | None) -> Finding:
        """Return what the solve of the sum has shown, as a route."""
        del matrix, cutoff, seconds
        return Finding("HiGHS on the sum of identical machines", self.upper, None)

    def _schedules(self, matrix: Matrix, cutoff: float | None, seconds: float | None) -> Finding:
        """Return the Lagrangian bound over all schedules of all jobs, as a route."""
        del matrix
        deadline = time.perf_counter() + (float("inf") if seconds is None else seconds)
        target = -float("inf") if cutoff is None else cutoff
        found = schedule_bound(
            self.instance,
            gap=0.1 * TOLERANCE,
            stop=lambda bound, value: (
                bound <= target or value > target or time.perf_counter() > deadline or self.stop()
            ),
        )
        return Finding("column generation over schedules", found.bound, None)

    def _take(self, summed: Summed, phase: str) -> None:
        if summed.value > self.value:
            self.best, self.value = summed.best, summed.value
        self.upper = max(self.value, min(self.upper, summed.upper))
        self.report(phase, self.value, self.upper)

    def _closed(self) -> bool:
        return agree(self.value, self.upper)

    def _left(self) -> float | None:
        if self.deadline == float("inf"):
            return None
        return max(0.0, self.deadline - time.perf_counter())

    def _each_route(self) -> float | None:
        left = self._left()
        return None if left is None else left / len(default_routes())

    def _single_machines(self) -> Optimum:
        """Solve an exact program over single machines by two routes."""
        model = single_machines(self.instance)
        matrix = compile_model(model)
        if self._late():
            return self._conclude(False, time.perf_counter() - self.start)
        certificate = certify(matrix, time_limit=self._each_route())
        self.evidence += certificate.evidence
        if certificate.point is not None:
            schedule = read(self.instance, model, matrix, certificate.point)
            value = float(exact_utility(self.instance, schedule))
            if not check(self.instance, schedule) and value > self.value:
                self.best, self.value = schedule, value
        if certificate.bound is not None:
            self.upper = max(self.value, min(self.upper, certificate.bound))
        self.report("single machines", self.value, self.upper)
        return self._conclude(certificate.proved and self._closed(), time.perf_counter() - self.start)

    def _conclude(self, proved: bool, found: float) -> Optimum:
        if check(self.instance, self.best) or not agree(exact_utility(self.instance, self.best), self.value):
            raise RuntimeError("the optimum's schedule does not pass the checker: report this instance")
        seconds = time.perf_counter() - self.start - found
        return Optimum(self.value, self.upper, self.best, proved, tuple(self.evidence), found, seconds)


def _at_home(job: Job | AsyncJob, machine: Machine) -> int:
    """Return how many workers of a synchronous job fit a machine together with their servers."""
    if isinstance(job, AsyncJob):
        return job.most_workers
    return max(
        n
        for n in range(job.batch + 1)
        if all(amount <= machine.capacity_of(r) for r, amount in job.uses(n, job.servers_for(n)).items())
    )
