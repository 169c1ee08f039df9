"""Rows over integers alone, their sides moved to multiples of what divides all coefficients: 6 x - 4 y >= 1 says 2.

Where integers have no bounds, and such a row has no point, HiGHS 1.15.1 searches for ever, beyond any limit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dlsched.solvers.matrix import Floats, Matrix
from dlsched.tolerances import ROUNDING, TOLERANCE

_EXACT = 2.0**53
"""Up to here every whole number is a double."""


def divided(matrix: Matrix) -> Matrix:
    """Return the matrix with the sides of rows over integers at multiples of what divides the row's coefficients.

    That is their greatest common divisor where they are whole, and one that stands alone. Integer points stay what they
    were; a side that misses a multiple by what a solver forgives is left there.
    """
    A, size = matrix.A, np.abs(matrix.A.data)
    lengths = np.diff(A.indptr)
    alone = np.repeat(lengths == 1, lengths) & (size > 0)
    fits = matrix.integer[A.indices] & (alone | ((size == np.round(size)) & (size <= _EXACT)))
    rows = np.flatnonzero((np.bincount(matrix.entry_rows, ~fits, A.shape[0]) == 0) & (lengths > 0))
    if not rows.size:
        return matrix
    divisor = np.ones(A.shape[0])
    divisor[matrix.entry_rows[alone]] = size[alone]
    several = rows[lengths[rows] > 1]
    if several.size:
        entries = size[np.isin(matrix.entry_rows, several)].astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths[several])[:-1]])
        divisor[several] = np.gcd.reduceat(entries, starts)
    rows = rows[divisor[rows] > 0]
    lower, upper = matrix.row_lower.copy(), matrix.row_upper.copy()
    lower[rows] = -_down(-lower[rows], divisor[rows])
    upper[rows] = _down(upper[rows], divisor[rows])
    return replace(matrix, row_lower=lower, row_upper=upper)


def _down(sides: Floats, divisor: Floats) -> Floats:
    """Return upper sides moved down to multiples; those near one, and those beyond all whole doubles, stay.

    Near, as in `Matrix.residual`, is beside the side itself: a millionth of the divisor is much of a small one.
    """
    with np.errstate(over="ignore"):
        multiples = np.where(np.isfinite(sides), sides, 0.0) / divisor
    moved = (np.abs(sides) <= _EXACT) & (np.abs(multiples) <= _EXACT)
    forgiven = np.maximum(TOLERANCE * np.minimum(1.0, np.abs(multiples)), ROUNDING)
    moved &= np.abs(multiples - np.round(multiples)) > forgiven
    return np.where(moved, np.floor(multiples) * divisor, sides)
