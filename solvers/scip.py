"""A matrix through SCIP, the independent second solver (PySCIPOpt, extra ``certify``)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dlsched.extras import from_extra
from dlsched.halt import run_in_thread
from dlsched.solvers.matrix import Floats, Matrix
from dlsched.solvers.scaling import INFINITE
from dlsched.solvers.solution import RawSolution, Solution, Status
from dlsched.tolerances import FEASIBLE, TOLERANCE

_STATUS = {status.value: status for status in (Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED)}


def solve_scip(
    matrix: Matrix,
    time_limit: float | None,
    gap: float,
    seed: int | None,
    presolve: bool,
    tell: Callable[[float, Floats | None], None] | None = None,
) -> RawSolution:
    """Solve a matrix with SCIP; `tell` as for `dlsched.solvers.solve.solve_here`.

    Raises
    ------
    MissingExtra
        If PySCIPOpt is not installed.
    """
    pyscipopt = import_scip()
    scip, variables = _loaded(pyscipopt, matrix)
    apply_settings(pyscipopt, scip, time_limit, gap, seed, presolve)
    if tell is not None:
        _tell_news(pyscipopt, scip, variables, tell)
    summary = optimized(scip)
    has_point = summary.status in (Status.OPTIMAL, Status.FEASIBLE)
    return RawSolution(summary, np.array([scip.getVal(v) for v in variables]) if has_point else None)


def _tell_news(pyscipopt: Any, scip: Any, variables: list[Any], tell: Callable[[float, Floats | None], None]) -> None:
    """Tell bounds and points as SCIP finds them."""
    kinds = pyscipopt.SCIP_EVENTTYPE

    class News(pyscipopt.Eventhdlr):
        def eventinit(self) -> None:
            self.model.catchEvent(kinds.BESTSOLFOUND, self)
            self.model.catchEvent(kinds.NODESOLVED, self)

        def eventexit(self) -> None:
            self.model.dropEvent(kinds.BESTSOLFOUND, self)
            self.model.dropEvent(kinds.NODESOLVED, self)

        def eventexec(self, event: Any) -> None:
            bound = float(self.model.getDualbound())
            x = None
            if event.getType() == kinds.BESTSOLFOUND:
                best = self.model.getBestSol()
                x = np.array([self.model.getSolVal(best, v) for v in variables])
            tell(bound if abs(bound) < INFINITE else float("nan"), x)

    scip.includeEventhdlr(News(), "news", "tells bounds and points")


def import_scip() -> Any:
    """Return the module `pyscipopt`.

    Raises
    ------
    MissingExtra
        If PySCIPOpt is not installed.
    """
    return from_extra("certify", "pyscipopt", "solver scip needs PySCIPOpt")


def apply_settings(
    pyscipopt: Any, scip: Any, time_limit: float | None, gap: float, seed: int | None, presolve: bool
) -> None:
    """Set the tolerance, and what `dlsched.models.solve.solve` lets a user choose."""
    scip.setParam("numerics/feastol", FEASIBLE)
    # It would ask SoPlex for less than it takes.
    scip.setParam("constraints/nonlinear/tightenlpfeastol", False)
    scip.setParam("limits/gap", gap)
    # It would take Ctrl-C for itself and end as if nothing had happened.
    scip.setParam("misc/catchctrlc", False)
    if time_limit is not None and np.isfinite(time_limit):
        scip.setParam("limits/time", float(time_limit))
    if seed is not None:
        scip.setParam("randomization/randomseedshift", seed)
    if not presolve:
        scip.setPresolve(pyscipopt.SCIP_PARAMSETTING.OFF)


def optimized(scip: Any) -> Solution:
    """Let SCIP optimize; where it breaks off with an error of its own, there is no solution."""
    version = f"{scip.getMajorVersion()}.{scip.getMinorVersion()}.{scip.getTechVersion()}"
    start = time.perf_counter()
    try:
        run_in_thread(scip.optimizeNogil, scip.interruptSolve)
    except MemoryError:
        raise
    except Exception:  # PySCIPOpt has no class of its own for SCIP's errors, e.g. of its LP solver
        return Solution(Status.NO_SOLUTION, None, None, None, time.perf_counter() - start, 0, "scip", version)
    seconds = time.perf_counter() - start
    status = _STATUS.get(scip.getStatus(), Status.FEASIBLE if scip.getNSols() else Status.NO_SOLUTION)
    bound = float(scip.getDualbound())
    finite = abs(bound) < scip.infinity() and status is not Status.INFEASIBLE
    nodes = int(scip.getNTotalNodes())
    return Solution(status, None, bound if finite else None, None, seconds, nodes, "scip", version)


def _loaded(pyscipopt: Any, matrix: Matrix) -> tuple[Any, list[Any]]:
    scip = pyscipopt.Model()
    scip.hideOutput()
    kinds = np.where(matrix.integer, "I", "C")
    variables = [
        scip.addVar(lb=_finite(lb), ub=_finite(ub), vtype=str(kind), obj=float(cost))
        for lb, ub, kind, cost in zip(matrix.lower, matrix.upper, kinds, matrix.c, strict=True)
    ]
    scip.addObjoffset(matrix.offset)
    if matrix.sense == -1:
        scip.setMaximize()
    A = matrix.A
    for i in range(A.shape[0]):
        entries = slice(A.indptr[i], A.indptr[i + 1])
        terms = [(variables[j], float(a)) for j, a in zip(A.indices[entries], A.data[entries], strict=True) if a]
        body = pyscipopt.quicksum(a * v for v, a in terms)
        _add_row(scip, pyscipopt, body, terms, float(matrix.row_lower[i]), float(matrix.row_upper[i]))
    return scip, variables


def _add_row(scip: Any, pyscipopt: Any, body: Any, terms: list[Any], lower: float, upper: float) -> None:
    if not terms:
        if lower > TOLERANCE or upper < -TOLERANCE:
            fixed = scip.addVar(lb=0.0, ub=0.0)
            scip.addCons(fixed >= 1.0)
        return
    if lower == upper:
        scip.addCons(body == upper)
    elif np.isfinite(lower) and np.isfinite(upper):
        scip.addCons(pyscipopt.scip.ExprCons(body, lower, upper))
    elif np.isfinite(upper):
        scip.addCons(body <= upper)
    elif np.isfinite(lower):
        scip.addCons(body >= lower)


def _finite(bound: float) -> float | None:
    return float(bound) if np.isfinite(bound) else None
