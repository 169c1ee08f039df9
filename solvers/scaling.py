"""What a solver is given: a matrix whose numbers it keeps, and the way back.

A solver drops coefficients below 1e-9, refuses those of 1e15 and more, takes 1e20 for infinity and judges rows by
absolute tolerances, all without a word. So rows, continuous columns and the objective that are far from 1 are
multiplied by powers of two, which no rounding touches; what is left outside is refused by name. Numbers of ordinary
size are passed as they are. A small bound says how large a column's values are, a large one does not: whoever writes
1e9 for "no bound" means values near 1, which would be lost beside it. Nor may a penalty of 1e9 hide the other costs.
Where no side and no bound of a linear program is near 1, its values have another unit, which becomes that of all of its
columns: coefficients stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dlsched.lazy import sp
from dlsched.solvers.matrix import Floats, Matrix, UnfitNumberError
from dlsched.tolerances import DROPPED, ULP

SMALL, LARGE = 2.0**-13, 2.0**20
"""Rows and costs between these (1e-4, 1e6) are passed as they are: a solver's tolerances of 1e-6 to 1e-9 suit them."""

LEAST_COST = 0.5
"""An objective whose largest coefficient is below is multiplied: solvers end 1e-7 to 1e-6 from an optimum."""

REFUSED = 1e15
"""HiGHS refuses coefficients from this on (`large_matrix_value`); SCIP is given none that HiGHS would not take."""

INFINITE = 1e20
"""What HiGHS (`infinite_bound`) and SCIP (`numerics/infinity`) take for infinity, by default."""

_SPREAD = 70
"""Of a line's exponents: what lies further below its largest number is noise or refused, and moves no middle."""

_MOST_EXPONENT = 1000
"""Of a factor: what is smaller than that is at the end of the range of floats, and its factor would be infinite."""

_ROUNDS = 3
"""Of rows and columns in turn; geometric scaling settles after two or three."""

Exponents = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """A matrix fit for a solver: ``A' = R A C``, ``x = C x'``, ``c' = s C c``.

    Attributes
    ----------
    matrix : Matrix
    rows : ndarray, shape (m,)
        R, powers of two.
    columns : ndarray, shape (n,)
        C, powers of two; 1 for integer columns.
    objective : float
        s, a power of two.
    """

    matrix: Matrix
    rows: Floats
    columns: Floats
    objective: float

    def point(self, x: Floats) -> Floats:
        """Return the point of the original matrix."""
        found: Floats = self.columns * x
        return found

    def value(self, value: float) -> float:
        """Return an objective value, or a bound, of the original matrix."""
        return value / self.objective

    def row_duals(self, duals: Floats) -> Floats:
        """Return the row duals of the original matrix."""
        found: Floats = duals * self.rows / self.objective
        return found

    def reduced_costs(self, costs: Floats) -> Floats:
        """Return the reduced costs of the original matrix."""
        found: Floats = costs / self.columns / self.objective
        return found


def scaled(matrix: Matrix) -> Scaled:
    """Return the matrix as a solver keeps every number of it.

    Raises
    ------
    UnfitNumberError
        Naming row, column and value: where a number is NaN or infinite, or is too small or too large beside the
        others of its row for any scaling.
    """
    refuse_non_numbers(matrix)
    unit = _unit(matrix)
    rows, columns = _factors(matrix, unit)
    if unit == 1.0 and (rows == 1.0).all() and (columns == 1.0).all():
        found = matrix
    else:
        data = matrix.A.data * np.repeat(rows, np.diff(matrix.A.indptr)) * columns[matrix.A.indices]
        rows, columns = rows / unit, columns * unit
        A = sp.csr_array((data, matrix.A.indices, matrix.A.indptr), shape=matrix.A.shape)
        found = replace(
            matrix,
            c=matrix.c * columns,
            A=A,
            row_lower=matrix.row_lower * rows,
            row_upper=matrix.row_upper * rows,
            lower=matrix.lower / columns,
            upper=matrix.upper / columns,
        )
    objective = _objective_factor(found.c)
    if objective != 1.0:
        found = replace(found, c=found.c * objective, offset=found.offset * objective)
    found = _without_noise(found)
    _refuse_what_is_lost(matrix, found)
    return Scaled(found, rows, columns, objective)


def refuse_non_numbers(matrix: Matrix) -> None:
    """Refuse NaN, infinite coefficients, and bounds that are infinite on the wrong side, by name.

    Raises
    ------
    UnfitNumberError
    """
    bad = ~np.isfinite(matrix.A.data)
    if bad.any():
        row, column, value = _entry(matrix, int(bad.argmax()))
        raise UnfitNumberError(f"{row}: the coefficient of {column} is {value}, which is not a finite number")
    bad = ~np.isfinite(matrix.c)
    if bad.any():
        at = int(bad.argmax())
        raise UnfitNumberError(
            f"objective: the coefficient of {matrix.column(at)} is {matrix.c[at]}, which is not a finite number"
        )
    if not np.isfinite(matrix.offset):
        raise UnfitNumberError(f"objective: the constant is {matrix.offset}, which is not a finite number")
    sides = (
        ("lower side", matrix.row_lower, np.inf, matrix.row),
        ("upper side", matrix.row_upper, -np.inf, matrix.row),
        ("lower bound", matrix.lower, np.inf, matrix.column),
        ("upper bound", matrix.upper, -np.inf, matrix.column),
    )
    for side, values, wrong, name in sides:
        bad = np.isnan(values) | (values == wrong)
        if bad.any():
            at = int(bad.argmax())
            raise UnfitNumberError(f"{name(at)}: the {side} is {values[at]}, which bounds nothing")


def _factors(matrix: Matrix, unit: float) -> tuple[Floats, Floats]:
    """Return the factors of rows and columns beside the unit; all 1 where every number is of ordinary size."""
    A = matrix.A
    rows, columns = np.zeros(A.shape[0], dtype=np.int32), np.zeros(A.shape[1], dtype=np.int32)
    size = np.abs(A.data)
    free = ~matrix.integer
    reach = _largest_bound(matrix) / unit
    most = np.where(free, reach, 1.0)
    far = free & (most < SMALL) & (most > 0.0)
    # What is always 0 times any number is 0: such entries say nothing of a row's unit.
    size = np.where(reach[A.indices] > 0.0, size, 0.0)
    if not far.any() and (not size.any() or (size[size > 0].min() >= SMALL and size.max() <= LARGE)):
        return np.ones(A.shape[0]), np.ones(A.shape[1])
    columns[far] = np.frexp(most[far])[1]
    entries = size > 0
    at_row = matrix.entry_rows[entries]
    at_column, exponent = A.indices[entries], np.frexp(size[entries])[1]
    movable = free & (most > LARGE)
    for _ in range(_ROUNDS):
        rows = -_middles(exponent + columns[at_column], at_row, A.shape[0])
        columns = np.where(movable, -_middles(exponent + rows[at_row], at_column, A.shape[1]), columns)
    rows, columns = (np.clip(part, -_MOST_EXPONENT, _MOST_EXPONENT) for part in (rows, columns))
    return np.ldexp(1.0, rows), np.ldexp(1.0, columns)


def _unit(matrix: Matrix) -> float:
    """Return the power of two that a linear program's values are multiples of; 1 where one of them is near 1.

    A row says of values what its side is beside its largest coefficient.
    """
    if matrix.integer.any():
        return 1.0
    largest = _largest_in_rows(matrix)
    rows = largest > 0.0
    sides = (matrix.row_lower[rows] / largest[rows], matrix.row_upper[rows] / largest[rows])
    size = np.abs(np.concatenate([*sides, matrix.lower, matrix.upper]))
    size = size[(size > 0.0) & np.isfinite(size)]
    least, most = size.min(initial=np.inf), size.max(initial=0.0)
    if 0.0 < most < SMALL:
        return float(np.ldexp(1.0, max(-_MOST_EXPONENT, int(np.frexp(most)[1]))))
    return float(np.ldexp(1.0, min(_MOST_EXPONENT, int(np.frexp(least)[1])))) if LARGE < least < np.inf else 1.0


def _largest_in_rows(matrix: Matrix) -> Floats:
    """Return the largest coefficient of each row by size; 0 where there is none."""
    largest = np.zeros(matrix.A.shape[0])
    np.maximum.at(largest, matrix.entry_rows, np.abs(matrix.A.data))
    return largest


def _largest_bound(matrix: Matrix) -> Floats:
    found: Floats = np.maximum(np.abs(matrix.lower), np.abs(matrix.upper))
    return found


def _middles(exponents: Exponents, at: npt.NDArray[np.int64], count: int) -> Exponents:
    """Return the middle between the least and the largest exponent of each line that has one out of the ordinary."""
    least, most = np.full(count, 2**20), np.full(count, -(2**20))
    np.minimum.at(least, at, exponents)
    np.maximum.at(most, at, exponents)
    least = np.maximum(least, most - _SPREAD)
    ordinary = (least >= np.frexp(SMALL)[1]) & (most <= np.frexp(LARGE)[1])
    return np.where(ordinary | (least > most), 0, (least + most) // 2).astype(np.int32)


def _objective_factor(c: Floats) -> float:
    size = np.abs(c)
    most = float(size.max(initial=0.0))
    if most == 0.0 or LEAST_COST <= most <= LARGE:
        return 1.0
    exponent = int(np.frexp(most)[1])
    if most > LARGE:
        # Beside a penalty, what the others cost has to stay what a solver sees.
        least = float(size[size > np.ldexp(most, -_SPREAD)].min())
        exponent = max(0, min(exponent, int(np.frexp(least / SMALL)[1]) - 1))
    return float(np.ldexp(1.0, min(_MOST_EXPONENT, -exponent)))


def _without_noise(matrix: Matrix) -> Matrix:
    """Leave out the entries that no solver keeps whose largest possible term is 0, or lost in their row's sum."""
    A = matrix.A
    size = np.abs(A.data)
    if not size.any() or (size[size > 0].min() > DROPPED and size.max() < REFUSED):
        return matrix
    reach = _largest_bound(matrix)[A.indices]
    term = np.where(size > 0, size * reach, 0.0)
    largest = _largest_in_rows(matrix)[matrix.entry_rows]
    lost = ((size <= DROPPED) & (term <= ULP * largest)) | ((size >= REFUSED) & (reach == 0.0))
    kept = sp.csr_array((np.where(lost, 0.0, A.data), A.indices.copy(), A.indptr.copy()), shape=A.shape)
    kept.eliminate_zeros()
    return replace(matrix, A=kept)


def _refuse_what_is_lost(matrix: Matrix, found: Matrix) -> None:
    """Refuse what is still too small, too large or infinite to a solver, by its name and its value before scaling."""
    size = np.abs(found.A.data)
    bad = ((size > 0) & (size <= DROPPED)) | (size >= REFUSED)
    if bad.any():
        at = int(bad.argmax())
        i, j = int(np.searchsorted(found.A.indptr, at, side="right")) - 1, int(found.A.indices[at])
        entries = np.abs(matrix.A.data[matrix.A.indptr[i] : matrix.A.indptr[i + 1]])
        least, most = entries[entries > 0].min(), entries.max()
        raise UnfitNumberError(
            f"{matrix.row(i)}: the coefficient {matrix.A[i, j]:.6g} of {matrix.column(j)} cannot be kept beside the "
            f"others ({least:.3g} to {most:.3g}): solvers drop what is at most {DROPPED:g} and refuse {REFUSED:g}; "
            "use other units"
        )
    sides = ((matrix.row_lower, found.row_lower), (matrix.row_upper, found.row_upper))
    columns = ((matrix.lower, found.lower), (matrix.upper, found.upper))
    for name, pairs in ((matrix.row, sides), (matrix.column, columns)):
        for before, after in pairs:
            bad = np.isfinite(after) & (np.abs(after) >= INFINITE)
            if bad.any():
                at = int(bad.argmax())
                wide = f"cannot be kept beside the others of its rows, as what is {INFINITE:g} to solvers is infinite"
                far = f"is infinite to solvers (from {INFINITE:g})"
                raise UnfitNumberError(
                    f"{name(at)}: {before[at]:.6g} {far if abs(before[at]) >= INFINITE else wide}; use other units, "
                    "or None where it is to bound nothing"
                )


def _entry(matrix: Matrix, at: int) -> tuple[str, str, float]:
    """Return the row, the column and the value of an entry by its place in the data."""
    row = int(np.searchsorted(matrix.A.indptr, at, side="right")) - 1
    return matrix.row(row), matrix.column(int(matrix.A.indices[at])), float(matrix.A.data[at])
