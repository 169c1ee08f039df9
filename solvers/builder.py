"""A program written down as sparse arrays: columns and rows one at a time, or whole blocks of them.

What is written one at a time is gathered in lists and what comes as arrays stays arrays, so that either is as fast as
scipy.sparse by hand; both may be mixed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dlsched.halt import poll
from dlsched.lazy import sp
from dlsched.solvers.matrix import Floats, Matrix

Ints = npt.NDArray[np.int64]


class _Numbers:
    """Numbers in order that come one at a time, into `last`, or as arrays."""

    def __init__(self) -> None:
        self.last: list[float] = []
        self._before: list[Floats] = []

    def extend(self, array: Floats) -> None:
        self.settle()
        self._before.append(array)

    def settle(self) -> None:
        if self.last:
            self._before.append(np.array(self.last, dtype=float))
            self.last = []

    def array(self) -> Floats:
        self.settle()
        return np.concatenate([_NONE, *self._before])


_NONE = np.zeros(0)


def _spread(shape: tuple[int, ...], *parts: npt.ArrayLike, dtype: type = float) -> list[Any]:
    """Return parts broadcast to a shape, flat; `numpy.broadcast_arrays` takes several times as long with small ones."""
    found = []
    for part in parts:
        whole: npt.NDArray[Any] = np.empty(shape, dtype)
        whole[...] = part
        found.append(whole.ravel())
    return found


class Builder:
    """Columns and rows so far.

    Parameters
    ----------
    sense : {1, -1}
        1 to minimise, -1 to maximise.
    offset : float
        Constant of the objective.

    Examples
    --------
    >>> from dlsched.solvers import Builder, solve_matrix
    >>> program = Builder(sense=-1)
    >>> x, y = program.binary(cost=3.0), program.column(2.5, cost=1.0, integer=True)
    >>> _ = program.row([(x, 2.0), (y, 1.0)], upper=3.0)
    >>> found = solve_matrix(program.matrix())
    >>> found.summary.objective, found.x.tolist()
    (4.0, [1.0, 1.0])
    """

    def __init__(self, sense: Literal[1, -1], offset: float = 0.0) -> None:
        self._sense, self._offset = sense, offset
        self._cost, self._lower, self._upper, self._integer = _Numbers(), _Numbers(), _Numbers(), _Numbers()
        self._row_lower, self._row_upper = _Numbers(), _Numbers()
        self._width = self._height = 0
        self._prices: list[tuple[npt.ArrayLike, npt.ArrayLike]] = []
        self._blocks: list[tuple[Ints, Ints, Floats]] = []
        # The nonzeros of rows written one at a time: where they end, their columns, their values.
        self._ends: list[int] = []
        self._columns: list[int] = []
        self._values: list[float] = []

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns so far."""
        return self._height, self._width

    def column(self, upper: float = math.inf, *, lower: float = 0.0, cost: float = 0.0, integer: bool = False) -> int:
        """Add a column; return its number."""
        self._cost.last.append(cost)
        self._lower.last.append(lower)
        self._upper.last.append(upper)
        self._integer.last.append(integer)
        self._width += 1
        return self._width - 1

    def binary(self, *, cost: float = 0.0) -> int:
        """Add a column that is 0 or 1; return its number."""
        return self.column(1.0, cost=cost, integer=True)

    def columns(
        self,
        upper: npt.ArrayLike,
        *,
        lower: npt.ArrayLike = 0.0,
        cost: npt.ArrayLike = 0.0,
        integer: npt.ArrayLike = False,
    ) -> Ints:
        """Add a column for each element; the four are broadcast to one shape, and that of the returned numbers."""
        shape = np.broadcast(upper, lower, cost, integer).shape
        parts = _spread(shape, upper, lower, cost, integer)
        for numbers, part in zip((self._upper, self._lower, self._cost, self._integer), parts, strict=True):
            numbers.extend(part)
        first, self._width = self._width, self._width + math.prod(shape)
        return np.arange(first, self._width).reshape(shape)

    def price(self, columns: npt.ArrayLike, cost: npt.ArrayLike) -> None:
        """Set the objective coefficient of one column or of several."""
        self._prices.append((columns, cost))

    def row(self, terms: Iterable[tuple[int, float]], lower: float = -math.inf, upper: float = math.inf) -> int:
        """Add a row; return its number. Where a column stands in it more than once, its coefficients are added up.

        Raises
        ------
        Halt
            If the work (`dlsched.halt`) is over.
        """
        poll()
        for column, value in terms:
            self._columns.append(column)
            self._values.append(value)
        self._ends.append(len(self._columns))
        self._row_lower.last.append(lower)
        self._row_upper.last.append(upper)
        self._height += 1
        return self._height - 1

    def rows(self, lower: npt.ArrayLike = -math.inf, upper: npt.ArrayLike = math.inf) -> Ints:
        """Add an empty row for each element; sides are broadcast to one shape, and that of the returned numbers."""
        poll()
        self._settle()
        shape = np.broadcast(lower, upper).shape
        for numbers, part in zip((self._row_lower, self._row_upper), _spread(shape, lower, upper), strict=True):
            numbers.extend(part)
        first, self._height = self._height, self._height + math.prod(shape)
        return np.arange(first, self._height).reshape(shape)

    def add(self, rows: npt.ArrayLike, columns: npt.ArrayLike, values: npt.ArrayLike) -> None:
        """Add to coefficients; the three are broadcast to one shape."""
        shape = np.broadcast(rows, columns, values).shape
        self._blocks.append((*_spread(shape, rows, columns, dtype=np.int64), *_spread(shape, values)))

    def matrix(self, row_names: Iterable[str] = (), column_names: Iterable[str] = ()) -> Matrix:
        """Return the program as arrays; the entries of a row are in the order of columns, zeros left out."""
        self._settle()
        cost = self._cost.array()
        for columns, values in self._prices:
            cost[np.asarray(columns)] = values
        return Matrix(
            c=cost,
            offset=self._offset,
            sense=self._sense,
            A=self._coefficients(),
            row_lower=self._row_lower.array(),
            row_upper=self._row_upper.array(),
            lower=self._lower.array(),
            upper=self._upper.array(),
            integer=self._integer.array().astype(bool),
            row_names=tuple(row_names),
            column_names=tuple(column_names),
        )

    def _coefficients(self) -> sp.csr_array:
        """Return A. Rows are sorted here: scipy.sparse takes several times as long with small matrices."""
        shape = self._height, self._width
        if not self._blocks:
            return sp.csr_array(shape)
        rows, columns, values = (np.concatenate(parts) for parts in zip(*self._blocks, strict=True))
        if (rows[1:] < rows[:-1]).any():
            order = np.argsort(rows, kind="stable")
            columns, values = columns[order], values[order]
        starts = np.zeros(self._height + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=self._height), out=starts[1:])
        A = sp.csr_array((values, columns, starts), shape=shape)
        A.sum_duplicates()
        A.eliminate_zeros()
        return A

    def _settle(self) -> None:
        """Make a block of the rows that were written one at a time; they are the last ones."""
        if self._ends:
            lengths = np.diff(self._ends, prepend=0)
            rows = np.repeat(np.arange(self._height - len(lengths), self._height), lengths)
            self._blocks.append((rows, np.array(self._columns, dtype=np.int64), np.array(self._values, dtype=float)))
            self._ends, self._columns, self._values = [], [], []
