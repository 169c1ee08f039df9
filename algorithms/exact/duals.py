"""What row multipliers prove of a program, in exact rationals: the second look at a bound by linear programming."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from dlsched.halt import polled
from dlsched.solvers.matrix import Floats, Matrix

_ONE = 1 << 60
"""Multipliers are rounded to multiples of 2^-60, so that most of the work is in whole numbers; any others will do."""


def dual_bound(matrix: Matrix, duals: Floats) -> Fraction | None:
    """Return a bound on the objective that weak duality gives, whatever the multipliers; None for none.

    Parameters
    ----------
    matrix : Matrix
        Taken as it stands: a float is the rational that it is.
    duals : ndarray of shape (rows,)
        A multiplier of each row, as HiGHS returns them: the change of the objective for one more unit of its side.

    Notes
    -----
    With d = c - A'y every point is worth ``sum_i y_i (Ax)_i + sum_j d_j x_j``, where each term is at most (maximising)
    what the sides of the row, or the bounds of the column, allow. A multiplier of a side that is infinite counts 0.
    """
    sign = -matrix.sense
    total = sign * Fraction(matrix.offset) * _ONE
    loads: dict[int, int | Fraction] = defaultdict(int)
    for row in polled(duals.nonzero()[0].tolist()):
        y = sign * round(Fraction(float(duals[row])) * _ONE)
        side = float(matrix.row_upper[row] if y > 0 else matrix.row_lower[row])
        if side in (float("inf"), -float("inf")):
            continue
        total += y * Fraction(side)
        start, end = matrix.A.indptr[row : row + 2].tolist()
        columns, values = matrix.A.indices[start:end].tolist(), matrix.A.data[start:end].tolist()
        for column, value in zip(columns, values, strict=True):
            loads[column] += y * (int(value) if value.is_integer() else Fraction(value))
    bounds = zip(matrix.c.tolist(), matrix.lower.tolist(), matrix.upper.tolist(), strict=True)
    for column, (cost, low, high) in enumerate(polled(bounds)):
        reduced = sign * Fraction(cost) * _ONE - loads.get(column, 0)
        end = high if reduced > 0 else low
        if reduced and end in (float("inf"), -float("inf")):
            return None
        total += reduced * Fraction(end) if reduced else 0
    return Fraction(sign * total, _ONE)
