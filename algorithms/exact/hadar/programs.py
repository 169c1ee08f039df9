"""What is left where the tree or its replay has no answer: the problem as an integer program, for general solvers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dlsched.algorithms.exact.bracket import Bracket
from dlsched.algorithms.exact.certify import Certificate, Finding, Runner, certify, default_routes
from dlsched.algorithms.exact.result import Note
from dlsched.lazy import pyo
from dlsched.models import build
from dlsched.models.hadar import Instance, Schedule, check
from dlsched.models.hadar.levels import schedule_of
from dlsched.solvers.matrix import Floats, Matrix, compile_model

FORMULATIONS = ("hadar/hall", "hadar/aggregate")


def certificate_of(
    formulation: str, instance: Instance, known: Bracket, seconds: float | None
) -> tuple[Certificate, Schedule | None]:
    """Return what general solvers show with a formulation, and the schedule they found where it is better.

    Parameters
    ----------
    formulation : str
        One of `FORMULATIONS`.
    instance : Instance
    known : Bracket
        Its bound counts as a route.
    seconds : float or None
        For all routes together.
    """
    model = build(formulation, instance)
    matrix = compile_model(model)
    routes = default_routes()
    limit = None if seconds is None else seconds / len(routes)
    found = certify(matrix, [_route(known.upper), *routes], value=known.value, time_limit=limit)
    schedule = None if found.point is None else _schedule(instance, model, matrix, found.point)
    if schedule is not None and check(instance, schedule):
        line = Note("their point is no schedule: solvers take work that is all but done for done")
        return replace(found, evidence=(*found.evidence, line)), None
    return found, schedule


def _route(bound: float) -> Runner:
    return lambda matrix, cutoff, seconds: Finding("branch, cut and price", bound, None)


def _schedule(instance: Instance, model: Any, matrix: Matrix, point: Floats) -> Schedule:
    for variable in model.component_data_objects(pyo.Var):
        variable.set_value(0)
    for variable, x in zip(matrix.columns, point.tolist(), strict=True):
        variable.set_value(x, skip_validation=True)
    return schedule_of(instance, model)
