"""Large coefficients of binaries, made as small as they may be: what a big M costs is the solver's tolerance times M.

A row ``x <= M z`` with a binary z says no more with M than with the largest x that the other rows leave. A solver takes
a z of 1e-6 for 0, which lets x be 1e-6 M; and HiGHS 1.15.1 has been seen to call a program with an M of 1e7
infeasible that is not. Integer points stay what they were; the linear relaxation gets tighter.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dlsched.solvers.matrix import Floats, Matrix
from dlsched.tolerances import ULP

LARGE = 2.0**17
"""Coefficients this many times (1e5) the least of their row are made smaller: 1e-6 of others is below a fifth of it.

Arbitrary beyond that. Rows whose numbers are all large have another unit, and no big M.
"""

_ROUNDS = 2
"""Of looking at every row for bounds: the second sees what the first has found. Arbitrary: more find little."""


def tightened(matrix: Matrix) -> Matrix:
    """Return the matrix with the large coefficients of binaries as small as bounds and the other rows allow.

    Only rows with one side are looked at.
    """
    A = matrix.A
    binary = matrix.integer & (matrix.lower == 0) & (matrix.upper == 1)
    size = np.abs(A.data)
    large = (size >= LARGE * size[size > 0].min(initial=np.inf)) & binary[A.indices]
    if not large.any():
        return matrix
    of_row = matrix.entry_rows
    least = np.full(A.shape[0], np.inf)
    np.minimum.at(least, of_row[size > 0], size[size > 0])
    large &= size >= LARGE * least[of_row]
    if not large.any():
        return matrix
    rows = np.unique(of_row[large])
    lower, upper = _implied_bounds(matrix, rows)
    data, row_lower, row_upper = A.data.copy(), matrix.row_lower.copy(), matrix.row_upper.copy()
    for i in rows[np.isfinite(row_lower[rows]) != np.isfinite(row_upper[rows])].tolist():
        start, end = A.indptr[i : i + 2]
        columns = A.indices[start:end]
        sides, sign = (row_upper, 1) if np.isfinite(row_upper[i]) else (row_lower, -1)
        terms, side = _smaller(
            sign * data[start:end], large[start:end], lower[columns], upper[columns], float(sign * sides[i])
        )
        data[start:end], sides[i] = sign * terms, sign * side
    smaller = type(A)((data, A.indices, A.indptr), shape=A.shape)
    return replace(matrix, A=smaller, row_lower=row_lower, row_upper=row_upper)


def _smaller(
    terms: Floats, large: npt.NDArray[np.bool_], lower: Floats, upper: Floats, side: float
) -> tuple[Floats, float]:
    """Return the coefficients and the side of a <= row, those of some binaries as near 0 as they may be."""
    terms = terms.copy()
    with np.errstate(invalid="ignore"):
        most = np.where(terms == 0, 0.0, np.where(terms > 0, terms * upper, terms * lower))
    for k in np.flatnonzero(large).tolist():
        rest = math.fsum(np.delete(most, k).tolist())
        if not math.isfinite(rest):
            continue
        spare = side - rest
        if terms[k] < 0:
            terms[k] = max(terms[k], min(0.0, spare))
        elif 0 < spare < terms[k]:
            terms[k], side = terms[k] - spare, rest
            most[k] = terms[k]
    return terms, side


def _implied_bounds(matrix: Matrix, without: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return bounds of the columns that follow from the rows, some rows left aside."""
    lower, upper = matrix.lower.copy(), matrix.upper.copy()
    some = np.setdiff1d(np.arange(matrix.A.shape[0]), without).tolist()
    for _ in range(_ROUNDS):
        for i in some:
            start, end = matrix.A.indptr[i : i + 2]
            columns, terms = matrix.A.indices[start:end], matrix.A.data[start:end]
            for sign, side in ((1.0, matrix.row_upper[i]), (-1.0, -matrix.row_lower[i])):
                if np.isfinite(side):
                    _tighten(sign * terms, columns, float(side), lower, upper)
    return lower, upper


def _tighten(terms: Floats, columns: npt.NDArray[np.int32], side: float, lower: Floats, upper: Floats) -> None:
    """Tighten the bounds of the columns of one <= row, each by the least that the others can be."""
    with np.errstate(invalid="ignore"):
        least = np.where(terms == 0, 0.0, np.where(terms > 0, terms * lower[columns], terms * upper[columns]))
    open_ended = np.flatnonzero(~np.isfinite(least))
    if open_ended.size > 1:
        return
    # A sum of all less one of them would lose the others beside a large one.
    others, size = _without_each(least), _without_each(np.abs(least))
    lost = np.where(size > 0, len(terms) * ULP * (abs(side) + size), 0.0)
    for k in open_ended.tolist() if open_ended.size else np.flatnonzero(terms).tolist():
        limit = (side - others[k] + lost[k]) / terms[k]
        if terms[k] > 0:
            upper[columns[k]] = min(upper[columns[k]], limit)
        else:
            lower[columns[k]] = max(lower[columns[k]], limit)


def _without_each(numbers: Floats) -> Floats:
    """Return the sums of all numbers but one, for each of them."""
    before, after = (np.concatenate([[0.0], np.cumsum(part[:-1])]) for part in (numbers, numbers[::-1]))
    total: Floats = before + after[::-1]
    return total
