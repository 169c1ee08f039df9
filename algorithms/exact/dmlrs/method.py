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
from contextlib import suppress

from dlsched.algorithms.algorithm import ExactMethod
from dlsched.algorithms.exact.bracket import Bracket
from dlsched.algorithms.exact.certify import Finding, certify, default_routes
from dlsched.algorithms.exact.dmlrs.fragmented import solve_fragmented
from dlsched.algorithms.exact.dmlrs.single import single_machines
from dlsched.algorithms.exact.dmlrs.slots import Slots
from dlsched.algorithms.exact.dmlrs.summed import Summed
from dlsched.algorithms.exact.result import Note, Optimum, Progress
from dlsched.algorithms.pd_ors import run as pd_ors
from dlsched.algorithms.pd_ors import schedule_bound
from dlsched.arguments import at_least, checked
from dlsched.halt import Halt, grace, over, poll, until
from dlsched.models import UnreadableModel, read
from dlsched.models.dmlrs import AsyncJob, Instance, Job, Machine, Schedule, check, exact_utility
from dlsched.models.numbers import agree
from dlsched.models.solve import load_point
from dlsched.solvers.matrix import Matrix, compile_model
from dlsched.tolerances import TOLERANCE

_FEW = 2
_SHARE = 0.08
_NODES = 200
"""How much of the time, and how many nodes, the sum of machines gets where it will be a weak bound."""


@checked
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
    at_least(0, time_limit=time_limit)
    start = time.perf_counter()
    if not instance.jobs:
        return Optimum(0.0, 0.0, Schedule.of({}), True, ("no jobs",), 0.0, 0.0)
    deadline = start + (float("inf") if time_limit is None else time_limit)
    with until(stop, deadline):
        return _Solve(instance, start, deadline, progress or (lambda phase, lower, upper: None)).run()


class _Solve:
    def __init__(self, instance: Instance, start: float, deadline: float, report: Progress) -> None:
        self.instance, self.start, self.deadline, self.report = instance, start, deadline, report
        self.best = Schedule.of({})
        self.known = Bracket(0.0, sum(max(0.0, job.utility(0)) for job in instance.jobs))
        self.evidence: list[Note] = []
        self.found: float | None = None
        self.proved = False

    def run(self) -> Optimum:
        """Run the steps until value and bound meet by two routes or the work is over."""
        with suppress(Halt):
            self._steps()
        return self._conclude()

    def _steps(self) -> None:
        self._begin()
        if all(job.external_rate <= job.internal_rate for job in self.instance.jobs):
            for step in (self._summed, self._fragmented):
                step()
                if self.proved:
                    return
                poll()
        self._single_machines()

    def _begin(self) -> None:
        """Start from what PD-ORS finds; without it where it fails, as it only saves time."""
        with suppress(ArithmeticError, RuntimeError, ValueError), grace():
            self._take(pd_ors(self.instance).schedule)

    def _take(self, schedule: Schedule) -> None:
        """Make a schedule the best one where it is better and passes the checker."""
        value = float(exact_utility(self.instance, schedule))
        if value > self.known.value and not check(self.instance, schedule):
            self.best = schedule
            self.known.raise_to(value)

    def _summed(self) -> None:
        """Solve the sum of identical machines and pack its plans."""
        summed = Summed.of(self.instance)
        if self._splits() and self._coarse():
            left = self._left()
            summed.solve(None if left is None else _SHARE * left, _NODES)
        else:
            summed.solve(self._left())
        self._learn(summed, "sum of machines")
        if summed.finished and not self.known.closed():
            for _ in summed.thin_out(self.deadline):
                self._learn(summed, "plans that leave room")
                if self.known.closed():
                    break
        if self.known.closed():
            self._certified_sum(summed)

    def _splits(self) -> bool:
        """Tell whether the method for fragmented clusters takes the instance."""
        return len(self.instance.machines) > 1 and not self.instance.asynchronous

    def _coarse(self) -> bool:
        """Tell whether most jobs get less than `_FEW` workers with their servers onto a machine.

        The sum of machines is a weak bound then, and takes long.
        """
        machine = max(self.instance.machines, key=lambda h: sum(h.capacity.values()))
        return statistics.median(_at_home(job, machine) for job in self.instance.jobs) < _FEW

    def _certified_sum(self, summed: Summed) -> None:
        self.found = time.perf_counter() - self.start
        value = self.known.value
        self.evidence.append(Note("checked schedule worth ", value, ", packed from the sum of identical machines"))
        certificate = certify(
            summed.matrix,
            [self._first, self._schedules, *default_routes()[1:]],
            value=value,
            time_limit=self._each_route(),
        )
        self.evidence += certificate.evidence
        self.proved = certificate.proved

    def _fragmented(self) -> None:
        """Branch and price, and once more with the jobs in reverse order.

        Amounts without a small common unit are rounded first; where that leaves a gap, long integers follow.
        """
        if not self._splits():
            return
        for exact in (False, True):
            self._search(self.instance, self.known.upper, exact)
            if self.known.closed() or over() or Slots.of(self.instance).exact:
                break
        if not self.known.closed():
            return
        self.found = time.perf_counter() - self.start
        reverse = self.instance.model_copy(update={"jobs": self.instance.jobs[::-1]})
        again = self._search(reverse, float("inf"), exact)
        self.proved = self.known.closed() and agree(self.known.value, again)

    def _search(self, instance: Instance, upper: float, exact: bool) -> float:
        """Branch and price below an upper bound; return the bound that it ends with."""
        schedule, bound, evidence = solve_fragmented(
            instance,
            incumbent=self.best,
            upper=upper,
            deadline=self.deadline,
            progress=lambda phase, value, bound: self.report(phase, value, min(bound, self.known.upper)),
            exact=exact,
        )
        self._take(schedule)
        self.known.bound(bound, "branch and price")
        self.evidence += evidence
        return bound

    def _first(self, matrix: Matrix, cutoff: float | None, seconds: float | None) -> Finding:
        """Return what the solve of the sum has shown, as a route."""
        del matrix, cutoff, seconds
        return Finding("HiGHS on the sum of identical machines", self.known.upper, None)

    def _schedules(self, matrix: Matrix, cutoff: float | None, seconds: float | None) -> Finding:
        """Return the Lagrangian bound over all schedules of all jobs, as a route."""
        del matrix
        deadline = time.perf_counter() + (float("inf") if seconds is None else seconds)
        target = -float("inf") if cutoff is None else cutoff
        found = schedule_bound(
            self.instance,
            gap=0.1 * TOLERANCE,
            stop=lambda bound, value: bound <= target or value > target or time.perf_counter() > deadline,
        )
        return Finding("column generation over schedules", found.bound, None)

    def _learn(self, summed: Summed, phase: str) -> None:
        self._take(summed.best)
        self.known.bound(summed.upper, "HiGHS on the sum of identical machines")
        self.report(phase, self.known.value, self.known.upper)

    def _left(self) -> float | None:
        if self.deadline == float("inf"):
            return None
        return max(0.0, self.deadline - time.perf_counter())

    def _each_route(self) -> float | None:
        left = self._left()
        return None if left is None else left / len(default_routes())

    def _single_machines(self) -> None:
        """Solve an exact program over single machines by two routes."""
        model = single_machines(self.instance)
        matrix = compile_model(model)
        certificate = certify(matrix, value=self.known.value, time_limit=self._each_route())
        self.evidence += certificate.evidence
        if certificate.point is not None:
            load_point(model, matrix, certificate.point)
            try:
                self._take(read(model, self.instance))
            except UnreadableModel as error:
                self.evidence.append(Note(f"their point is no schedule: {error}"))
        self.known.bound(certificate.bound, "program over single machines")
        self.report("single machines", self.known.value, self.known.upper)
        self.proved = certificate.proved and self.known.closed()

    def _conclude(self) -> Optimum:
        if not agree(exact_utility(self.instance, self.best), self.known.value):
            raise RuntimeError("the optimum's schedule is not worth what it was: report this instance")
        seconds = time.perf_counter() - self.start
        found = seconds if self.found is None else self.found
        evidence = (*self.evidence, *self.known.refuted)
        value, upper = self.known.value, self.known.upper
        return Optimum(value, upper, self.best, self.proved, evidence, found, seconds - found)


def _at_home(job: Job | AsyncJob, machine: Machine) -> int:
    """Return how many workers of a synchronous job fit a machine together with their servers."""
    if isinstance(job, AsyncJob):
        return job.most_workers
    return max(
        n
        for n in range(job.batch + 1)
        if all(amount <= machine.capacity_of(r) for r, amount in job.uses(n, job.servers_for(n)).items())
    )


EXACT = ExactMethod("exact", "dmlrs", "branch and price over schedules", solve)
