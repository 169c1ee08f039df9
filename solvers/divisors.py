"""Rows over integers alone, their sides moved to multiples of what divides all coefficients: 6 x - 4 y >= 1 says 2.

Where integers have no bounds, and such a row has no point, HiGHS 1.15.1 searches for ever, beyond any limit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dlsched.solvers.matrix import Floats, Matrix
from dlsched.tolerances import TOLERANCE

_EXACT = 2.0**53
"""Up to here every whole number is a double."""


def divided(matrix: Matrix) -> Matrix:
    """Return the matrix with the sides of rows over integers at multiples of what divides the row's coefficients.

    Integer points stay what they were; a side that misses a multiple by what a solver forgives is left there.
    """
    A, size = matrix.A, np.abs(matrix.A.data)
    whole = matrix.integer[A.indices] & (size == np.round(size)) & (size <= _EXACT)
    fits = (np.bincount(matrix.entry_rows, ~whole, A.shape[0]) == 0) & (np.diff(A.indptr) > 0)
    rows = np.flatnonzero(fits)
    if not rows.size:
        return matrix
    entries = size[np.repeat(fits, np.diff(A.indptr))].astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(np.diff(A.indptr)[rows])[:-1]])
    divisor = np.gcd.reduceat(entries, starts)
    rows, divisor = rows[divisor > 1], divisor[divisor > 1]
    lower, upper = matrix.row_lower.copy(), matrix.row_upper.copy()
    lower[rows] = -_down(-lower[rows], divisor)
    upper[rows] = _down(upper[rows], divisor)
    return replace(matrix, row_lower=lower, row_upper=upper)


def _down(sides: Floats, divisor: npt.NDArray[np.int64]) -> Floats:
    """Return upper sides moved down to multiples; those near one, and those beyond all whole doubles, stay."""
    moved = np.abs(sides) <= _EXACT
    multiples = np.where(moved, sides, 0.0) / divisor
    moved &= np.abs(multiples - np.round(multiples)) > TOLERANCE
    return np.where(moved, np.floor(multiples) * divisor, sides)
