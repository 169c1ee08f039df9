"""Ways that problems share: the certified optimum, and a formulation in a solver, phases apart."""

from __future__ import annotations

import time
from typing import Any

import pyomo.environ as pyo

from benchmarks.benchmark import Outcome, Way
from dlsched.algorithms import optimum
from dlsched.models import build, compile_model, problem_of
from dlsched.solvers.matrix import Matrix
from dlsched.solvers.solution import Status
from dlsched.solvers.solve import solve_matrix


def certified(jobs: int = 1) -> Way:
    """Return `optimum` in so many processes as a way, its schedule checked."""

    def way(instance: Any, limit: float) -> Outcome:
        start = time.perf_counter()
        found = optimum(instance, time_limit=limit, jobs=jobs)
        whole = time.perf_counter() - start
        broken = problem_of(instance).check(instance, found.schedule)
        if broken:
            raise RuntimeError(f"the schedule breaks a rule: {broken[0]}")
        phases = {"first proof": whole - found.seconds_proved, "second route": found.seconds_proved}
        phases["check"] = time.perf_counter() - start - whole
        return Outcome(phases, found.value, found.bound, found.proved)

    return way


def formulation(name: str, solver: str = "highs", relaxed: str = "") -> Way:
    """Return a formulation in a solver as a way: built, compiled, solved once with one thread.

    Parameters
    ----------
    name : str
    solver : {"highs", "scip"}
    relaxed : str
        A Pyomo transformation to apply first, such as ``gdp.bigm``.
    """

    def way(instance: Any, limit: float) -> Outcome:
        start = time.perf_counter()
        model = build(name, instance)
        if relaxed:
            pyo.TransformationFactory(relaxed).apply_to(model)
        built = time.perf_counter()
        matrix = compile_model(model)
        phases = {"build": built - start, "compile": time.perf_counter() - built}
        return solved(matrix, limit, solver, phases)

    return way


def solved(matrix: Matrix, limit: float, solver: str, phases: dict[str, float]) -> Outcome:
    """Solve a matrix once with one thread, after the phases that made it."""
    start = time.perf_counter()
    summary = solve_matrix(matrix, solver=solver, time_limit=limit, threads=1).summary
    took = time.perf_counter() - start
    return Outcome({**phases, "solve": took}, summary.objective, summary.bound, summary.status is Status.OPTIMAL)
