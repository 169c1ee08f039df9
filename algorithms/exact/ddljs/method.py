"""The certified optimum of the DDLJS problem: offline (2)-(9), corrected, for any utility.

One slot is an embedding problem (`slot`). Of many, worker-slots by class of slots give a bound and a plan (`by_slots`).
Else the program over all slots (`horizon`) decides; small instances are confirmed by an exact dynamic program over
counts (`reachable`), larger ones by a second run of a solver.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from dlsched.algorithms.algorithm import ExactMethod
from dlsched.algorithms.exact.bracket import Bracket
from dlsched.algorithms.exact.certify import Finding, certify, default_routes
from dlsched.algorithms.exact.ddljs.by_slots import BySlots
from dlsched.algorithms.exact.ddljs.horizon import HorizonProgram, alike, horizon_program, values
from dlsched.algorithms.exact.ddljs.options import TooLargeError
from dlsched.algorithms.exact.ddljs.reachable import best_value
from dlsched.algorithms.exact.ddljs.slot import embed
from dlsched.algorithms.exact.ddljs.start import first_schedules
from dlsched.algorithms.exact.result import Note, Optimum, Progress
from dlsched.arguments import at_least, checked
from dlsched.halt import Halt, grace, until
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.requests import slot_problem
from dlsched.models.ddljs.schedule import Schedule, check, exact_utility
from dlsched.models.numbers import agree
from dlsched.solvers.failure import ResidualError
from dlsched.solvers.solution import Status
from dlsched.solvers.solve import solve_matrix

_MOST = 1_000
"""Embeddings and states of a slot up to which the dynamic program over counts is the second route."""
_MANY = 150


@checked
def solve(
    instance: Instance,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Optimum:
    """Return the certified optimum of a DDLJS instance, or what is known of it when time is up.

    Parameters
    ----------
    instance : Instance
    time_limit : float, optional
        Seconds in all.
    progress, stop
        As for `dlsched.algorithms.optimum`.

    Notes
    -----
    Where a job with a log utility must get something and cannot, value and schedule are None and `proved` is True.
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
        self.best: Schedule | None = None
        self.known = Bracket(-float("inf"), float("inf"))
        self.evidence: list[Note] = []

    def run(self) -> Optimum:
        """Run the steps until value and bound meet or the work is over."""
        try:
            return self._steps()
        except Halt:
            return self._conclude(False, time.perf_counter() - self.start)

    def _steps(self) -> Optimum:
        with grace():
            self._take(Schedule.of({}))
            most = sum(float(max(values(self.instance, job).values(), default=0)) for job in self.instance.jobs)
            self.known.bound(most, "every job at its best")
        if self.instance.slots == 1 and self._finite():
            return self._one_slot()
        for schedule in first_schedules(self.instance):
            self._take(schedule)
        if self._many() and self._finite() and (found := self._by_slots()):
            return found
        return self._whole()

    def _one_slot(self) -> Optimum:
        """Return the optimum of an instance that is one slot's embedding problem."""
        found = embed(slot_problem(self.instance, 1), time_limit=self._left())
        nothing = float(exact_utility(self.instance, Schedule.of({})))
        self._take(Schedule.of({name: {1: embedding} for name, embedding in found.embeddings.items()}))
        self.known.bound(nothing + found.bound, "one slot")
        self.evidence += found.evidence
        return self._conclude(found.proved and self._closed(), time.perf_counter() - self.start - found.seconds_proved)

    def _many(self) -> bool:
        """Tell whether there is so much that slots are better taken one by one."""
        instance = self.instance
        return instance.slots > 1 and instance.slots * len(instance.jobs) * len(instance.servers) >= _MANY

    def _finite(self) -> bool:
        """Tell whether jobs may get nothing."""
        try:
            exact_utility(self.instance, Schedule.of({}))
        except ValueError:
            return False
        return True

    def _by_slots(self) -> Optimum | None:
        """Return the optimum where a plan of worker-slots leads to it."""
        method = BySlots.of(self.instance, self._left)
        route = "HiGHS, worker-slots by class of slots"
        try:
            for schedule in method.schedules():
                self._take(schedule)
                self.known.bound(method.upper, route)
                self.report("slot by slot", self.known.value, self.known.upper)
                if self._closed():
                    break
            found = time.perf_counter() - self.start
            self.evidence.append(Note(f"{route}: nothing better than ", self.known.upper))
            if not self._closed():
                return None
            second = method.confirm(self.known.value)
        except Halt:
            self.known.bound(method.upper, route)
            self.evidence.append(Note(f"{route}: nothing better than ", self.known.upper))
            raise
        except ResidualError as error:
            self.evidence.append(Note(f"{route}: {error}"))
            return None
        if second.bound is None or not agree(second.bound, self.known.value):
            return None
        self.evidence.append(Note(f"{second.route}: nothing better than ", second.bound))
        return self._conclude(True, found)

    def _whole(self) -> Optimum:
        program = horizon_program(self.instance, alike(self.instance))
        if program is None:
            return self._infeasible((Note("a job has no finite utility, whatever it gets"),))
        try:
            raw = solve_matrix(program.matrix, time_limit=self._left(), threads=1, seed=0)
        except ResidualError as error:
            self.evidence.append(Note(f"HiGHS, all slots: {error}"))
            return self._second(program, Finding("HiGHS", None, None))
        if raw.summary.status is Status.INFEASIBLE:
            return self._second(program, Finding("HiGHS, all slots", None, None, infeasible=True))
        route = f"HiGHS {raw.summary.version}, all slots"
        self.known.bound(raw.summary.bound, route)
        if raw.x is not None:
            self._take(program.read(raw.x))
        self.report("all slots", self.known.value, self.known.upper)
        attained = raw.summary.status is Status.OPTIMAL
        return self._second(program, Finding(route, raw.summary.bound, None, attained=attained))

    def _second(self, program: HorizonProgram, first: Finding) -> Optimum:
        found = time.perf_counter() - self.start
        left = self._left()
        certificate = certify(
            program.matrix,
            [lambda *_: first, self._counts, *default_routes()[1:]],
            value=None if self.best is None else self.known.value,
            time_limit=None if left is None else left / 2,
        )
        self.evidence += certificate.evidence
        if certificate.infeasible:
            return self._infeasible(tuple(self.evidence))
        if certificate.point is not None:
            self._take(program.read(certificate.point))
        self.known.bound(certificate.bound, "two routes over all slots")
        return self._conclude(certificate.proved and self._closed(), found)

    def _counts(self, *_: object) -> Finding:
        """Return the optimum of the exact dynamic program, as a route; nothing where it would be too large."""
        route = "exact dynamic program over worker-slots"
        try:
            value = best_value(self.instance, most=_MOST)
        except TooLargeError as error:
            return Finding(f"{route} ({error})", None, None)
        return Finding(route, None if value is None else float(value), None, infeasible=value is None)

    def _take(self, schedule: Schedule | None) -> None:
        if schedule is None or check(self.instance, schedule):
            return
        if self.known.raise_to(float(exact_utility(self.instance, schedule))):
            self.best = schedule

    def _closed(self) -> bool:
        return self.best is not None and self.known.closed()

    def _left(self) -> float | None:
        return None if self.deadline == float("inf") else max(0.0, self.deadline - time.perf_counter())

    def _infeasible(self, evidence: tuple[Note, ...]) -> Optimum:
        return Optimum(None, None, None, True, evidence, time.perf_counter() - self.start, 0.0)

    def _conclude(self, proved: bool, found: float) -> Optimum:
        seconds = time.perf_counter() - self.start - found
        value = None if self.best is None else self.known.value
        evidence = (*self.evidence, *self.known.refuted)
        return Optimum(value, self.known.upper, self.best, proved, evidence, found, seconds)


EXACT = ExactMethod("exact", "ddljs", "branch and bound over slots and worker counts", solve)
