"""What is left where the tree or its replay has no answer: the problem as an integer program, for general solvers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dlsched.algorithms.exact.bracket import Bracket
from dlsched.algorithms.exact.certify import Certificate, Finding, Runner, certify, default_routes
from dlsched.algorithms.exact.result import Note
from dlsched.halt import cut, left
from dlsched.models import UnreadableModel, build, read
from dlsched.models.hadar import Instance, Schedule
from dlsched.models.solve import load_point
from dlsched.solvers.matrix import Matrix, compile_model

FORMULATIONS = ("hadar/hall", "hadar/aggregate")


def certificate_of(formulation: str, instance: Instance, known: Bracket) -> tuple[Certificate, Schedule | None]:
    """Return what general solvers show with a formulation, and the schedule they found where it is better.

    Parameters
    ----------
    formulation : str
        One of `FORMULATIONS`.
    instance : Instance
    known : Bracket
        Its bound counts as a route.

    Raises
    ------
    Halt
        If the work is over before the model is built.
    """
    model, matrix = cut(lambda: _compiled(formulation, instance))
    routes = default_routes()
    limit = left(1 / len(routes))
    found = certify(matrix, [_route(known.upper), *routes], value=known.value, time_limit=limit)
    if found.point is None:
        return found, None
    load_point(model, matrix, found.point)
    try:
        return found, read(model, instance)
    except UnreadableModel as error:
        return replace(found, evidence=(*found.evidence, Note(f"their point is no schedule: {error}"))), None


def _compiled(formulation: str, instance: Instance) -> tuple[Any, Matrix]:
    model = build(formulation, instance)
    return model, compile_model(model)


def _route(bound: float) -> Runner:
    return lambda matrix, cutoff, seconds: Finding("branch, cut and price", bound, None)
