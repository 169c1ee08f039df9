"""An optimum of a matrix, or the proof that it has no point: what fails in one setting of a solver is tried in another.

A solver can end without either, and an algorithm that takes this for "there is none" is wrong in silence.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dlsched.arguments import checked
from dlsched.halt import poll
from dlsched.solvers.matrix import Floats, Matrix
from dlsched.solvers.solution import RawSolution, ResidualError, SolverError, Status
from dlsched.solvers.solve import solve_matrix

_SEED = 7
"""Arbitrary: any but 0, HiGHS's own, with which it has just failed."""


@dataclass(frozen=True, slots=True, eq=False)
class OptimalPoint:
    """An optimum of a matrix.

    Attributes
    ----------
    value : float
    x : ndarray, shape (n,)
        Integers are rounded.
    row_duals : ndarray, shape (m,), or None
        Of a linear program that HiGHS solved.
    """

    value: float
    x: Floats
    row_duals: Floats | None


@checked
def solve_to_optimality(
    matrix: Matrix,
    *,
    presolve: bool = True,
    duals: bool = False,
    accept: Callable[[Floats], bool] | None = None,
) -> OptimalPoint | None:
    """Return an optimum of a bounded matrix, its residuals checked; None only if it is proved to have no point.

    HiGHS is asked with and without presolve, then SCIP where it is installed, until one has an answer. An integer
    program has no point where two of them say so: HiGHS's presolve has been seen to lose one.

    Parameters
    ----------
    matrix : Matrix
    presolve : bool
        Whether the first attempt presolves; the second does the opposite.
    duals : bool
        Whether row duals are wanted, of a linear program; SCIP has none to give.
    accept : callable, optional
        Told a point; where it says no, the next setting is tried.

    Raises
    ------
    SolverError
        If no setting has an answer; the message says how each ended.
    Halt
        If the work is over before there is an answer.
    UnfitNumberError
        If the matrix has a number that no solver keeps.
    """
    endings, empty = [], 0
    for name, setting in _attempts(presolve, duals):
        try:
            raw = solve_matrix(matrix, threads=1 if matrix.integer.any() else None, **setting)
        except ResidualError as error:
            endings.append(str(error))
            continue
        status = raw.summary.status
        if status is Status.OPTIMAL and raw.x is not None:
            found = OptimalPoint(matrix.value(raw.x), raw.x, _duals(matrix, raw))
            if (found.row_duals is not None or not duals) and (accept is None or accept(found.x)):
                return found
            endings.append(f"{name}: a point that was refused")
            continue
        poll()
        endings.append(f"{name}: {status.value}")
        empty += status is Status.INFEASIBLE
        if empty == (2 if matrix.integer.any() else 1):
            return None
    raise SolverError(f"no solver decided the program ({'; '.join(endings)})")


def _duals(matrix: Matrix, raw: RawSolution) -> Floats | None:
    """Return the row duals; 0 without columns, for which HiGHS gives none."""
    return raw.row_duals if matrix.A.shape[1] else np.zeros(matrix.A.shape[0])


def _attempts(presolve: bool, duals: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "HiGHS", {"presolve": presolve}
    yield f"HiGHS {'without' if presolve else 'with'} presolve", {"presolve": not presolve, "seed": _SEED}
    if not duals and importlib.util.find_spec("pyscipopt"):
        yield "SCIP", {"solver": "scip"}
