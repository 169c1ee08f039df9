"""The certified optimum of the DDLJS problem: offline (2)-(9), corrected, for any utility.

One slot is an embedding problem (`slot`). Of many, worker-slots by class of slots give a bound and a plan (`by_slots`).
Else the program over all slots (`horizon`) decides; small instances are confirmed by an exact dynamic program over
counts (`reachable`), larger ones by a second run of a solver.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from dlsched.algorithms.algorithm import ExactMethod
from dlsched.algorithms.exact.anytime import Anytime
from dlsched.algorithms.exact.certify import Finding, certify, default_routes
from dlsched.algorithms.exact.ddljs.by_slots import BySlots
from dlsched.algorithms.exact.ddljs.horizon import HorizonProgram, alike, horizon_program, values
from dlsched.algorithms.exact.ddljs.options import TooLargeError
from dlsched.algorithms.exact.ddljs.reachable import best_value
from dlsched.algorithms.exact.ddljs.slot import embed
from dlsched.algorithms.exact.ddljs.start import first_schedules
from dlsched.algorithms.exact.result import Optimum, Progress
from dlsched.arguments import at_least, checked
from dlsched.halt import Halt, grace, left
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
    known = Anytime[Schedule](partial(_worth, instance), partial(check, instance), progress=progress)
    return known.run(lambda: _Solve(instance, known).steps(), time_limit=time_limit, stop=stop)


def _worth(instance: Instance, schedule: Schedule) -> Fraction | None:
    """Return the utility of a schedule, None where a job is at minus infinity."""
    try:
        return exact_utility(instance, schedule)
    except ValueError:
        return None


class _Solve:
    def __init__(self, instance: Instance, known: Anytime[Schedule]) -> None:
        self.instance, self.known = instance, known

    def steps(self) -> bool:
        """Run the steps until value and bound meet; tell whether they are proved."""
        with grace():
            self.known.take(Schedule.of({}))
            most = sum(float(max(values(self.instance, job).values(), default=0)) for job in self.instance.jobs)
            self.known.bound(most, "every job at its best")
        if not self.instance.jobs:
            self.known.note("no jobs")
            return True
        if self.instance.slots == 1 and self._finite():
            return self._one_slot()
        for schedule in first_schedules(self.instance):
            if schedule is not None:
                self.known.take(schedule)
        if self._many() and self._finite() and self._by_slots():
            return True
        return self._whole()

    def _one_slot(self) -> bool:
        """Solve an instance that is one slot's embedding problem."""
        found = embed(slot_problem(self.instance, 1))
        nothing = float(exact_utility(self.instance, Schedule.of({})))
        self.known.take(Schedule.of({name: {1: embedding} for name, embedding in found.embeddings.items()}))
        self.known.bound(nothing + found.bound, "one slot")
        self.known.evidence += found.evidence
        self.known.found(found.seconds_proved)
        return found.proved and self.known.closed()

    def _many(self) -> bool:
        """Tell whether there is so much that slots are better taken one by one."""
        instance = self.instance
        return instance.slots > 1 and instance.slots * len(instance.jobs) * len(instance.servers) >= _MANY

    def _finite(self) -> bool:
        """Tell whether jobs may get nothing."""
        return _worth(self.instance, Schedule.of({})) is not None

    def _by_slots(self) -> bool:
        """Tell whether a plan of worker-slots leads to the optimum."""
        method = BySlots.of(self.instance)
        route = "HiGHS, worker-slots by class of slots"
        try:
            for schedule in method.schedules():
                if schedule is not None:
                    self.known.take(schedule)
                self.known.bound(method.upper, route)
                self.known.tell("slot by slot")
                if self.known.closed():
                    break
            self.known.note(f"{route}: nothing better than ", self.known.upper)
            if not self.known.closed():
                return False
            self.known.found()
            second = method.confirm(self.known.value)
        except Halt:
            self.known.bound(method.upper, route)
            self.known.note(f"{route}: nothing better than ", self.known.upper)
            raise
        except ResidualError as error:
            self.known.note(f"{route}: {error}")
            return False
        if second.bound is None or not agree(second.bound, self.known.value):
            return False
        self.known.note(f"{second.route}: nothing better than ", second.bound)
        return True

    def _whole(self) -> bool:
        """Solve the program over all slots by two routes."""
        program = horizon_program(self.instance, alike(self.instance))
        if program is None:
            self.known.note("a job has no finite utility, whatever it gets")
            self.known.infeasible()
            return True
        try:
            raw = solve_matrix(program.matrix, threads=1, seed=0)
        except ResidualError as error:
            self.known.note(f"HiGHS, all slots: {error}")
            return self._second(program, Finding("HiGHS", None, None))
        if raw.summary.status is Status.INFEASIBLE:
            return self._second(program, Finding("HiGHS, all slots", None, None, infeasible=True))
        route = f"HiGHS {raw.summary.version}, all slots"
        self.known.bound(raw.summary.bound, route)
        if raw.x is not None:
            self.known.take(program.read(raw.x))
        self.known.tell("all slots")
        attained = raw.summary.status is Status.OPTIMAL
        return self._second(program, Finding(route, raw.summary.bound, None, attained=attained))

    def _second(self, program: HorizonProgram, first: Finding) -> bool:
        self.known.found()
        seconds = left()
        certificate = certify(
            program.matrix,
            [lambda *_: first, self._counts, *default_routes()[1:]],
            value=None if self.known.best is None else self.known.value,
            time_limit=None if seconds is None else seconds / 2,
        )
        self.known.evidence += certificate.evidence
        if certificate.infeasible:
            self.known.infeasible()
            return True
        if certificate.point is not None:
            self.known.take(program.read(certificate.point))
        self.known.bound(certificate.bound, "two routes over all slots")
        return certificate.proved and self.known.closed()

    def _counts(self, *_: object) -> Finding:
        """Return the optimum of the exact dynamic program, as a route; nothing where it would be too large."""
        route = "exact dynamic program over worker-slots"
        try:
            value = best_value(self.instance, most=_MOST)
        except TooLargeError as error:
            return Finding(f"{route} ({error})", None, None)
        return Finding(route, None if value is None else float(value), None, infeasible=value is None)


EXACT = ExactMethod("exact", "ddljs", "branch and bound over slots and worker counts", solve)
