"""A linear program on HiGHS that grows and stays warm, for masters and grids of similar problems."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from dlsched.models.matrix import Floats


class Session:
    """A linear program that grows and stays warm: each solve starts from the basis of the last one.

    Parameters
    ----------
    sense : {1, -1}
        1 to minimise, -1 to maximise.
    tolerance : float, optional
        By how much rows, bounds and reduced costs may be off; 1e-7 where it is left out, as in HiGHS.
    """

    def __init__(self, sense: Literal[1, -1], tolerance: float = 1e-7) -> None:
        import highspy

        self._highs = highspy.Highs()
        self._highs.setOptionValue("output_flag", False)
        self._highs.setOptionValue("threads", 1)
        self._highs.setOptionValue("primal_feasibility_tolerance", tolerance)
        self._highs.setOptionValue("dual_feasibility_tolerance", tolerance)
        both = highspy.ObjSense
        self._highs.changeObjectiveSense(both.kMinimize if sense == 1 else both.kMaximize)
        self._stale = False

    def add_rows(self, lower: Floats, upper: Floats, A: Any) -> None:
        """Append rows; `A` is a sparse matrix of shape (new rows, columns so far)."""
        A, self._stale = sp.csr_array(A), True
        self._highs.addRows(
            len(lower), lower, upper, A.nnz, A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data.astype(float)
        )

    def add_row(self, lower: float, upper: float, columns: npt.NDArray[np.int32], values: Floats) -> None:
        """Append one row by its nonzeros."""
        self._stale = True
        self._highs.addRow(lower, upper, len(columns), columns, values)

    def add_columns(self, c: Floats, upper: Floats, A: Any, lower: Floats | None = None) -> None:
        """Append columns between `lower`, or 0, and `upper`; `A` has shape (rows so far, new columns) and is sparse."""
        A = sp.csc_array(A)
        starts, indices, data = A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data.astype(float)
        self._highs.addCols(
            len(c), c, np.zeros(len(c)) if lower is None else lower, upper, A.nnz, starts, indices, data
        )

    def bound_columns(self, upper: Floats, lower: Floats | None = None) -> None:
        """Replace the bounds of all columns; their lower bounds are 0 where they are left out."""
        self._stale = True
        columns = np.arange(len(upper), dtype=np.int32)
        self._highs.changeColsBounds(len(upper), columns, np.zeros(len(upper)) if lower is None else lower, upper)

    def set_costs(self, c: Floats) -> None:
        """Replace the objective coefficients of all columns."""
        self._stale = True
        self._highs.changeColsCost(len(c), np.arange(len(c), dtype=np.int32), c)

    def set_coefficient(self, row: int, column: int, value: float) -> None:
        """Replace one coefficient."""
        self._stale = True
        self._highs.changeCoeff(row, column, value)

    def bound_rows(self, rows: npt.NDArray[np.int32], lower: Floats, upper: Floats) -> None:
        """Replace the bounds of some rows."""
        for row, low, high in zip(rows.tolist(), lower.tolist(), upper.tolist(), strict=True):
            self._highs.changeRowBounds(row, low, high)

    def delete_rows(self, rows: npt.NDArray[np.int32]) -> None:
        """Remove rows; those behind them move up."""
        self._highs.deleteRows(len(rows), rows)

    def delete_columns(self, columns: npt.NDArray[np.int32]) -> None:
        """Remove columns; those behind them move up."""
        self._highs.deleteCols(len(columns), columns)

    def solve(self) -> tuple[float, Floats, Floats] | None:
        """Return the objective, the point and the row duals of an optimum; None where there is none.

        A dual is the change of the objective for one more unit of right-hand side. Where only columns were added, the
        last basis is feasible and the primal simplex goes on from it; else HiGHS chooses. A solve that fails is tried
        once more from scratch.
        """
        import highspy

        self._highs.setOptionValue("simplex_strategy", 0 if self._stale else 4)
        self._stale = False
        self._highs.run()
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self._highs.clearSolver()
            self._highs.run()
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        solution = self._highs.getSolution()
        value = float(self._highs.getInfo().objective_function_value)
        return value, np.array(solution.col_value, dtype=float), np.array(solution.row_dual, dtype=float)
