"""A mixed-integer program to maximise, written down column by column and row by row."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from dlsched.halt import poll
from dlsched.lazy import sp
from dlsched.models.numbers import to_integers
from dlsched.solvers.matrix import Matrix

Terms = list[tuple[int, int]]
"""A linear expression with whole coefficients: (column, coefficient)."""

_LARGE = 10**9


class Program:
    """Columns and rows so far."""

    def __init__(self) -> None:
        self._cost: list[float] = []
        self._lower: list[float] = []
        self._upper: list[float] = []
        self._integer: list[bool] = []
        self._starts: list[int] = [0]
        self._indices: list[int] = []
        self._values: list[float] = []
        self._row_lower: list[float] = []
        self._row_upper: list[float] = []

    def column(self, upper: float = 1.0, *, cost: float = 0.0, integer: bool = True) -> int:
        """Add a column between 0 and `upper`; return its number."""
        self._cost.append(cost)
        self._lower.append(0.0)
        self._upper.append(upper)
        self._integer.append(integer)
        return len(self._cost) - 1

    def price(self, column: int, cost: float) -> None:
        """Set what a column is worth."""
        self._cost[column] = cost

    def fix(self, column: int, value: float) -> None:
        """Fix a column."""
        self._lower[column] = self._upper[column] = value

    def row(self, terms: Iterable[tuple[int, float]], lower: float = -math.inf, upper: float = math.inf) -> None:
        """Add a row; a column may stand in it more than once."""
        poll()
        for column, value in terms:
            self._indices.append(column)
            self._values.append(value)
        self._starts.append(len(self._indices))
        self._row_lower.append(lower)
        self._row_upper.append(upper)

    def at_most(self, terms: Iterable[tuple[int, Fraction]], limit: Fraction) -> None:
        """Add the row ``terms <= limit`` where all columns are whole at every solution.

        It is scaled to coprime integers, the limit rounded down; where they get too large for a solver, to at most 1.
        """
        kept = [(column, value) for column, value in terms if value]
        if not kept:
            return
        whole, _ = to_integers([*(value for _, value in kept), limit])
        divisor = math.gcd(*whole[:-1])
        if max(whole) < _LARGE * divisor:
            values: list[float] = [value // divisor for value in whole[:-1]]
            upper = float(whole[-1] // divisor)
        else:
            most = max(value for _, value in kept)
            values = [float(value / most) for _, value in kept]
            upper = float(limit / most)
        self.row(zip((column for column, _ in kept), values, strict=True), upper=upper)

    @property
    def columns(self) -> int:
        """The number of columns."""
        return len(self._cost)

    def matrix(self) -> Matrix:
        """Return the program as arrays."""
        shape = len(self._row_lower), len(self._cost)
        A = sp.csr_array((np.array(self._values, dtype=float), self._indices, self._starts), shape=shape)
        A.sum_duplicates()
        return Matrix(
            c=np.array(self._cost),
            offset=0.0,
            sense=-1,
            A=A,
            row_lower=np.array(self._row_lower),
            row_upper=np.array(self._row_upper),
            lower=np.array(self._lower),
            upper=np.array(self._upper),
            integer=np.array(self._integer, dtype=bool),
        )
