"""Solve a model honestly: exact gap, values only where a solution exists, every row checked at the loaded point.

This module alone knows about solver interfaces. An optimum that decides something needs more than one solver's word;
see `dlsched.algorithms.optimum`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np

from dlsched.models.arguments import at_least, between, checked, named
from dlsched.models.failure import ResidualError
from dlsched.models.halt import Halt, current, grace, over, run_in_thread, until
from dlsched.models.matrix import Floats, InfeasibleError, Matrix, NotLinearError, compile_model, highs, interruptible
from dlsched.models.numbers import TOLERANCE
from dlsched.models.scaling import scaled

SOLVERS = ("highs", "scip")

MOST_SEED = 2**31 - 1
"""Solvers keep their seeds in 32 bits."""


class Status(StrEnum):
    """How a solve ended."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    NO_SOLUTION = "no_solution"


@dataclass(frozen=True, slots=True)
class Solution:
    """What a solver found; the values are in the model.

    Attributes
    ----------
    status : Status
    objective : float or None
        Value of the loaded point; None where there is none.
    bound : float or None
        Best bound on the optimum that the solver claims; None where it has none.
    gap : float or None
        ``|bound - objective| / max(unit, |objective|)``; the unit is 1, or the largest term of the objective where that
        is less.
    seconds : float
        Of the solver alone.
    nodes : int
        Of the branch-and-bound tree, 0 for an LP.
    solver, version : str
    """

    status: Status
    objective: float | None
    bound: float | None
    gap: float | None
    seconds: float
    nodes: int
    solver: str
    version: str


@dataclass(frozen=True, slots=True)
class RawSolution:
    """What a solver returned for a matrix: `Solution`, the point and, for an LP, row duals and reduced costs."""

    summary: Solution
    x: Floats | None
    row_duals: Floats | None = None
    reduced_costs: Floats | None = None


@checked
def solve(
    model: Any,
    *,
    solver: str = "highs",
    time_limit: float | None = None,
    threads: int | None = None,
    gap: float = 0.0,
    seed: int | None = None,
    presolve: bool = True,
    stop: Callable[[], bool] | None = None,
) -> Solution:
    """Solve a Pyomo model and load its solution.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        Without active disjunctions; linear, or factorable for SCIP, which finds global optima.
    solver : {"highs", "scip"}
        SCIP needs the extra ``certify``.
    time_limit : float, optional
        Seconds, not negative.
    threads : int, optional
        At least 1.
    gap : float
        Relative gap at which the solver may stop; not negative.
    seed : int, optional
        At most 2^31 - 1.
    presolve : bool
    stop : callable, optional
        Asked often, also from other threads; where it tells True, the solve ends as if time were up.

    Returns
    -------
    Solution

    Raises
    ------
    TypeError
        If `model` is no Pyomo model, or an argument is of another type.
    ValueError
        If the model is abstract, or not linear and the solver is not SCIP, an argument is out of range, or the solver
        is unknown.
    UnfitNumberError
        If a coefficient or bound is NaN, infinite, or of a size that solvers drop or refuse; a ValueError.
    ResidualError
        If the loaded point breaks a row or bound by more than 1e-6 of its scale.
    """
    named("solver", solver, dict.fromkeys(SOLVERS))
    at_least(0, time_limit=time_limit, gap=gap)
    at_least(1, threads=threads)
    between(0, MOST_SEED, seed=seed)
    settings: dict[str, Any] = {"time_limit": time_limit, "gap": gap, "seed": seed, "presolve": presolve}
    try:
        with until(stop):
            return _solve(model, solver, threads, settings)
    except Halt:
        return _nothing(solver)


def _solve(model: Any, solver: str, threads: int | None, settings: dict[str, Any]) -> Solution:
    try:
        matrix = compile_model(model)
    except InfeasibleError:
        return _infeasible(solver)
    except NotLinearError as error:
        if solver != "scip":
            raise NotLinearError(f'{error}; solver="scip" takes nonlinear models') from None
        return _solve_nonlinear(model, **settings)
    unused = _unused(model, matrix)
    if any(_crossed(variable) for variable in unused):
        return _infeasible(solver)
    raw = solve_matrix(matrix, solver=solver, threads=threads, **settings)
    if raw.x is not None:
        _load(matrix, raw.x, unused)
    return raw.summary


def _solve_nonlinear(model: Any, time_limit: float | None, gap: float, seed: int | None, presolve: bool) -> Solution:
    import pyomo.environ as pyo

    from dlsched.models.nonlinear import solve_nonlinear
    from dlsched.models.residuals import residuals

    status, point, bound, nodes, version, seconds = solve_nonlinear(model, time_limit, gap, seed, presolve)
    summary = Solution(Status(status), None, bound, None, seconds, nodes, "scip", version)
    if point is None:
        return summary
    for variable, value in point.items():
        variable.set_value(value, skip_validation=True)
    _load_unused(v for v in model.component_data_objects(pyo.Var, descend_into=True) if not v.fixed and v not in point)
    allowed = TOLERANCE * max(1.0, *(abs(value) for value in point.values()))
    objective = next(model.component_data_objects(pyo.Objective, active=True, descend_into=True))
    try:
        excesses, value = residuals(model), float(pyo.value(objective))
    except ArithmeticError as error:
        raise ResidualError(f"scip returned a point at which the model has no value: {error}") from None
    for row, excess in excesses.items():
        if not excess <= allowed:
            raise ResidualError(f"scip returned a point that breaks the model by {excess:.3g} ({row.name})")
    return _with_value(summary, value)


def _infeasible(solver: str) -> Solution:
    """Return what is known before any solver is asked."""
    return Solution(Status.INFEASIBLE, None, None, None, 0.0, 0, solver, "")


def _nothing(solver: str) -> Solution:
    """Return what is known where the work was over before any solver was asked."""
    return Solution(Status.NO_SOLUTION, None, None, None, 0.0, 0, solver, "")


def solve_matrix(
    matrix: Matrix,
    *,
    solver: str = "highs",
    time_limit: float | None = None,
    threads: int | None = None,
    gap: float = 0.0,
    seed: int | None = None,
    presolve: bool = True,
    cutoff: float | None = None,
    nodes: int | None = None,
) -> RawSolution:
    """Solve a matrix; parameters as in `solve`.

    Where the work is over (`dlsched.models.halt`), the solve ends as if time were up.

    Parameters
    ----------
    cutoff : float, optional
        Only points at least as good as this are looked for, so `infeasible` means that there is none.
    nodes : int, optional
        Of HiGHS's tree, at most.

    Raises
    ------
    ResidualError
        If the point, its integers rounded, breaks a row or bound by more than 1e-6 of its scale.
    UnfitNumberError
        If the matrix has a number that no solver keeps.
    """
    if over():
        return RawSolution(_nothing(solver), None)
    fit = scaled(matrix if cutoff is None else matrix.beyond(cutoff))
    settings: dict[str, Any] = {"threads": threads, "gap": gap, "seed": seed, "presolve": presolve, "nodes": nodes}
    raw = _solve_stoppable(fit.matrix, solver, settings, time_limit)
    summary = raw.summary
    if summary.bound is not None:
        summary = replace(summary, bound=fit.value(summary.bound))
    if raw.x is None:
        return RawSolution(summary, None)
    x = fit.point(raw.x)
    x = np.where(matrix.integer, np.round(x), x)
    if matrix.residual(x) > TOLERANCE:
        x = _completed(matrix, x)
    where, residual = matrix.worst(x)
    if not residual <= TOLERANCE and over():
        return RawSolution(replace(summary, status=Status.NO_SOLUTION), None)
    if not residual <= TOLERANCE:
        raise ResidualError(f"{solver} returned a point that breaks {where} by {residual:.3g} of its scale")
    if raw.row_duals is None or raw.reduced_costs is None:
        return RawSolution(_with_value(summary, matrix.value(x), matrix.unit), x)
    # A cutoff's row is behind the model's own.
    duals = fit.row_duals(raw.row_duals)[: matrix.A.shape[0]]
    return RawSolution(
        _with_value(summary, matrix.value(x), matrix.unit), x, duals, fit.reduced_costs(raw.reduced_costs)
    )


def _completed(matrix: Matrix, x: Floats) -> Floats:
    """Return the point with its integers kept and the others chosen anew, where that is possible.

    A solver's integers are 1e-6 off, and its other variables fit those and not the rounded ones.
    """
    if not matrix.integer.any() or matrix.integer.all():
        return x
    fixed = replace(
        matrix.relaxed(),
        lower=np.where(matrix.integer, x, matrix.lower),
        upper=np.where(matrix.integer, x, matrix.upper),
    )
    fit = scaled(fixed)
    with grace():
        raw = solve_here(fit.matrix)
    return x if raw.x is None else np.where(matrix.integer, x, fit.point(raw.x))


def _with_value(summary: Solution, value: float, unit: float = 1.0) -> Solution:
    gap = None if summary.bound is None else abs(summary.bound - value) / max(unit, abs(value))
    return Solution(
        summary.status, value, summary.bound, gap, summary.seconds, summary.nodes, summary.solver, summary.version
    )


def _solve_stoppable(matrix: Matrix, solver: str, settings: dict[str, Any], time_limit: float | None) -> RawSolution:
    """Solve in this process, or in another where the solver would not ask often enough whether to stop."""
    stop = current()
    if stop is not None:
        from dlsched.models.apart import is_long, solve_apart

        if is_long(matrix, solver):
            return solve_apart(matrix, solver, settings, stop, time_limit)
    return solve_here(matrix, solver=solver, time_limit=time_limit, **settings)


def solve_here(
    matrix: Matrix,
    *,
    solver: str = "highs",
    time_limit: float | None = None,
    threads: int | None = None,
    gap: float = 0.0,
    seed: int | None = None,
    presolve: bool = True,
    nodes: int | None = None,
    tell: Callable[[float, Floats | None], None] | None = None,
) -> RawSolution:
    """Solve a matrix, whose numbers a solver keeps, in this process; the point is as the solver returned it.

    Parameters
    ----------
    matrix, solver, time_limit, threads, gap, seed, presolve, nodes
        As for `solve_matrix`.
    tell : callable, optional
        Called from a search tree with the bound so far and, where there is a better one, the point.
    """
    if solver == "highs":
        return _solve_highs(matrix, time_limit, threads, gap, seed, presolve, nodes, tell)
    return _solve_scip(matrix, time_limit, gap, seed, presolve, tell)


def _solve_highs(
    matrix: Matrix,
    time_limit: float | None,
    threads: int | None,
    gap: float,
    seed: int | None,
    presolve: bool,
    nodes: int | None,
    tell: Callable[[float, Floats | None], None] | None,
) -> RawSolution:
    import highspy

    options: dict[str, Any] = {"mip_rel_gap": gap, "mip_abs_gap": 0.0 if gap == 0.0 else TOLERANCE}
    options |= {} if time_limit is None else {"time_limit": float(time_limit)}
    options |= {} if seed is None else {"random_seed": seed}
    options |= {} if presolve else {"presolve": "off"}
    options |= {} if nodes is None else {"mip_max_nodes": nodes}
    options |= {} if threads is None else {"threads": threads}
    solver = highs(matrix, **options)
    if tell is not None:
        solver.cbMipInterrupt += lambda event: tell(event.data_out.mip_dual_bound, None)
        solver.cbMipImprovingSolution += lambda event: tell(
            event.data_out.mip_dual_bound, np.array(event.data_out.mip_solution)
        )
    start = time.perf_counter()
    interrupted = threading.Event()
    # The number of HiGHS's threads is fixed, for a whole Python thread, by the first model that it solves there: a
    # second number is an error, and resetting it would take effect for everybody's models.
    run = solver.run if threads is None else partial(run_in_thread, solver.run, interrupted.set)
    with interruptible(solver, interrupted.is_set):
        run()
        if solver.getModelStatus() == highspy.HighsModelStatus.kUnboundedOrInfeasible:
            solver.setOptionValue("presolve", "off")
            run()
    return _read_highs(solver, matrix, time.perf_counter() - start)


def _read_highs(solver: Any, matrix: Matrix, seconds: float) -> RawSolution:
    from highspy import HighsModelStatus as Code
    from highspy import SolutionStatus

    info, solution = solver.getInfo(), solver.getSolution()
    integral = bool(matrix.integer.any())
    has_point = int(info.primal_solution_status) == int(SolutionStatus.kSolutionStatusFeasible)
    status = {
        Code.kOptimal: Status.OPTIMAL,
        Code.kModelEmpty: Status.OPTIMAL,
        Code.kInfeasible: Status.INFEASIBLE,
        Code.kUnbounded: Status.UNBOUNDED,
    }.get(solver.getModelStatus(), Status.FEASIBLE if has_point else Status.NO_SOLUTION)
    bound = None
    if integral and status is not Status.UNBOUNDED and np.isfinite(info.mip_dual_bound):
        bound = float(info.mip_dual_bound)
    elif status is Status.OPTIMAL:
        bound = float(info.objective_function_value)
    nodes = max(0, int(info.mip_node_count)) if integral else 0
    summary = Solution(status, None, bound, None, seconds, nodes, "highs", solver.version())
    if status not in (Status.OPTIMAL, Status.FEASIBLE):
        return RawSolution(summary, None)
    x = np.asarray(solution.col_value, dtype=float)
    if integral or not solution.dual_valid:
        return RawSolution(summary, x)
    return RawSolution(summary, x, np.asarray(solution.row_dual), np.asarray(solution.col_dual))


def _solve_scip(
    matrix: Matrix,
    time_limit: float | None,
    gap: float,
    seed: int | None,
    presolve: bool,
    tell: Callable[[float, Floats | None], None] | None,
) -> RawSolution:
    from dlsched.models.scip import solve_scip

    status, x, bound, nodes, version, seconds = solve_scip(matrix, time_limit, gap, seed, presolve, tell)
    return RawSolution(Solution(Status(status), None, bound, None, seconds, nodes, "scip", version), x)


def _unused(model: Any, matrix: Matrix) -> list[Any]:
    """Return the variables that are not fixed, in no row and not in the objective."""
    import pyomo.environ as pyo

    used = {id(variable) for variable in matrix.columns}
    variables = model.component_data_objects(pyo.Var, descend_into=True)
    return [variable for variable in variables if not variable.fixed and id(variable) not in used]


def _crossed(variable: Any) -> bool:
    lower, upper = variable.bounds
    return lower is not None and upper is not None and lower > upper


def _load(matrix: Matrix, x: Floats, unused: list[Any]) -> None:
    """Put the point into the model."""
    for variable, value in zip(matrix.columns, x.tolist(), strict=True):
        variable.set_value(round(value) if variable.is_integer() else value, skip_validation=True)
    _load_unused(unused)


def _load_unused(variables: Iterable[Any]) -> None:
    """Give variables that are in no row and not in the objective their value nearest 0."""
    for variable in variables:
        lower, upper = variable.bounds
        nearest = max(0 if lower is None else lower, min(0, 0 if upper is None else upper))
        variable.set_value(nearest, skip_validation=True)
