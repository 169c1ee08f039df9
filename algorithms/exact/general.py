"""The certified optimum of any problem: its exact formulation, two routes, and the schedule of the point."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dlsched.algorithms.exact.anytime import Bracket
from dlsched.algorithms.exact.certify import Certificate, Finding, certify, default_routes
from dlsched.algorithms.exact.result import Note, Optimum, Progress
from dlsched.algorithms.soundness import UnsoundError
from dlsched.errors import InputError
from dlsched.halt import Halt, cut, left, until
from dlsched.models.catalog import read
from dlsched.models.formulation import Formulation, Kind, UnreadableModel, write_rows
from dlsched.models.numbers import agree
from dlsched.models.problem import Problem
from dlsched.models.solve import load_point
from dlsched.solvers.matrix import Matrix, compile_model


def solve(
    problem: Problem[Any, Any],
    instance: Any,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Optimum:
    """Return the certified optimum of an instance, or what is known of it when time is up.

    Parameters
    ----------
    problem : Problem
    instance : Instance
    time_limit, progress, stop
        As for `dlsched.algorithms.optimum`.

    Raises
    ------
    InputError
        If the problem has no exact linear formulation that can be read back.
    UnsoundError
        If the problem's checker finds fault with the schedule that is read back, or values it otherwise.
    """
    formulation = exact_formulation(problem)
    start = time.perf_counter()
    with until(stop, time_limit):
        try:
            model, matrix = cut(lambda: _compiled(formulation, instance))
        except Halt:
            late = f"{formulation.name}: not built in time"
            return Optimum(None, None, None, False, (late,), time.perf_counter() - start, 0.0)
        found = certify(matrix)
    if progress is not None and found.value is not None and found.bound is not None:
        progress("certified", found.value, found.bound)
    return _read(problem, formulation, instance, model, matrix, found, time.perf_counter() - start)


def certified_model(model: Any, instance: Any, known: Bracket, *first: Finding) -> tuple[Certificate, Any]:
    """Return what general solvers show with an exact model of an instance, and the schedule of their point.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        Of an exact formulation, without either-or.
    instance : Instance
    known : Bracket
        What the solvers have to beat.
    *first : Finding
        What other routes have shown.

    Returns
    -------
    certificate : Certificate
    schedule : Schedule or None
        None where they have no point better than what is known, or theirs is no schedule, which the evidence says.

    Raises
    ------
    Halt
        If the work is over before the model is compiled.
    """
    matrix = cut(lambda: compile_model(model))
    # Two routes that end are enough, and where the first does not end in half of the time there is no proof by two.
    found = certify(matrix, [*first, *default_routes()], value=known.value, time_limit=left(1 / 2))
    if found.point is None:
        return found, None
    load_point(model, matrix, found.point)
    try:
        return found, read(model, instance)
    except UnreadableModel as error:
        return replace(found, evidence=(*found.evidence, Note(f"their point is no schedule: {error}"))), None


def exact_formulation(problem: Problem[Any, Any]) -> Formulation[Any]:
    """Return the formulation that solvers get: exact, linear and readable, one without either-or where there is one."""
    known = [f for f in problem.formulations if f.kind is Kind.EXACT and f.linear and f.reader is not None]
    if not known:
        raise InputError(f"{problem.name}: has neither an exact method nor an exact linear formulation with a reader")
    return min(known, key=lambda formulation: formulation.disjunctive)


def _compiled(formulation: Formulation[Any], instance: Any) -> tuple[Any, Matrix]:
    model = formulation.build(instance)
    if formulation.disjunctive:
        write_rows(model)
    return model, compile_model(model)


def _read(
    problem: Problem[Any, Any],
    formulation: Formulation[Any],
    instance: Any,
    model: Any,
    matrix: Matrix,
    found: Certificate,
    seconds: float,
) -> Optimum:
    evidence = tuple(found.evidence)
    if found.point is None:
        return Optimum(None, found.bound, None, found.infeasible, evidence, seconds, 0.0)
    load_point(model, matrix, found.point)
    schedule = formulation.read(model, instance)
    if (matrix.sense == 1) != (problem.sense == "minimize"):
        raise UnsoundError(f"{formulation.name}: its objective has another sense than {problem.name}")
    violations = problem.violations(instance, schedule)
    if violations:
        raise UnsoundError(f"{formulation.name}: an optimal point breaks a rule: {violations[0]}")
    value = float(problem.worth(instance, schedule))
    if found.value is None or not agree(value, found.value, unit=matrix.unit):
        raise UnsoundError(f"{formulation.name}: says {found.value}, but the schedule is worth {value}")
    return Optimum(value, found.bound, schedule, found.proved, evidence, seconds, 0.0)
