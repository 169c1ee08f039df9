"""A matrix through SCIP, the independent second solver (PySCIPOpt, extra ``certify``)."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dlsched.models.extras import from_extra
from dlsched.models.matrix import Floats, Matrix
from dlsched.models.numbers import TOLERANCE

_STATUS = {"optimal": "optimal", "infeasible": "infeasible", "unbounded": "unbounded"}


def solve_scip(
    matrix: Matrix, time_limit: float | None, gap: float, seed: int | None, presolve: bool
) -> tuple[str, Floats | None, float | None, int, str, float]:
    """Solve a matrix with SCIP.

    Returns
    -------
    status : str
        A value of `dlsched.models.solve.Status`.
    x : ndarray of shape (n,) or None
    bound : float or None
    nodes : int
    version : str
    seconds : float
        Of the solver alone.

    Raises
    ------
    MissingExtra
        If PySCIPOpt is not installed.
    """
    pyscipopt = import_scip()
    scip, variables = _loaded(pyscipopt, matrix)
    apply_settings(pyscipopt, scip, time_limit, gap, seed, presolve)
    start = time.perf_counter()
    scip.optimize()
    seconds = time.perf_counter() - start
    status, bound, nodes, version = read_scip(scip)
    x = np.array([scip.getVal(v) for v in variables]) if status in ("optimal", "feasible") else None
    return status, x, bound, nodes, version, seconds


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
    """Set what `dlsched.models.solve.solve` lets a user choose."""
    scip.setParam("limits/gap", gap)
    if time_limit is not None and np.isfinite(time_limit):
        scip.setParam("limits/time", float(time_limit))
    if seed is not None:
        scip.setParam("randomization/randomseedshift", seed)
    if not presolve:
        scip.setPresolve(pyscipopt.SCIP_PARAMSETTING.OFF)


def read_scip(scip: Any) -> tuple[str, float | None, int, str]:
    """Return how a solve ended: the status, the bound where there is one, the nodes, and SCIP's version."""
    status = _STATUS.get(scip.getStatus(), "feasible" if scip.getNSols() else "no_solution")
    bound = float(scip.getDualbound())
    finite = abs(bound) < scip.infinity() and status != "infeasible"
    version = f"{scip.getMajorVersion()}.{scip.getMinorVersion()}.{scip.getTechVersion()}"
    return status, bound if finite else None, int(scip.getNTotalNodes()), version


def _loaded(pyscipopt: Any, matrix: Matrix) -> tuple[Any, list[Any]]:
    scip = pyscipopt.Model()
    scip.hideOutput()
    scip.setParam("numerics/feastol", TOLERANCE / 10)
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
