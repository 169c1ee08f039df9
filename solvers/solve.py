"""A matrix through a solver, honestly: scaled, every row checked at the point that comes back, ended when work is over.

An optimum that decides something needs more than one solver's word; see `dlsched.algorithms.optimum`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dlsched.arguments import checked
from dlsched.halt import current, grace, left, over
from dlsched.solvers.highs import solve_highs
from dlsched.solvers.matrix import Floats, Matrix
from dlsched.solvers.scaling import scaled
from dlsched.solvers.scip import solve_scip
from dlsched.solvers.solution import RawSolution, ResidualError, Solution, Status
from dlsched.tolerances import TOLERANCE

SOLVERS = ("highs", "scip")

MOST_SEED = 2**31 - 1
"""Solvers keep their seeds in 32 bits."""


@checked
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
    """Solve a matrix; the parameters that are not listed are those of `dlsched.models.solve`.

    Where the work is over (`dlsched.halt`), or its time is up, the solve ends with what is known.

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
        return RawSolution(Solution.unasked(Status.NO_SOLUTION, solver), None)
    fit = scaled(matrix if cutoff is None else matrix.beyond(cutoff))
    settings: dict[str, Any] = {"threads": threads, "gap": gap, "seed": seed, "presolve": presolve, "nodes": nodes}
    limits = [seconds for seconds in (time_limit, left()) if seconds is not None]
    raw = _solve_stoppable(fit.matrix, solver, settings, min(limits, default=None))
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
        return RawSolution(summary.with_value(matrix.value(x), matrix.unit), x)
    # A cutoff's row is behind the model's own.
    duals = fit.row_duals(raw.row_duals)[: matrix.A.shape[0]]
    return RawSolution(summary.with_value(matrix.value(x), matrix.unit), x, duals, fit.reduced_costs(raw.reduced_costs))


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


def _solve_stoppable(matrix: Matrix, solver: str, settings: dict[str, Any], time_limit: float | None) -> RawSolution:
    """Solve in this process, or in another where the solver would not ask often enough whether to stop."""
    stop = current()
    if stop is not None:
        from dlsched.solvers.apart import is_long, solve_apart

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
        return solve_highs(matrix, time_limit, threads, gap, seed, presolve, nodes, tell)
    return solve_scip(matrix, time_limit, gap, seed, presolve, tell)
