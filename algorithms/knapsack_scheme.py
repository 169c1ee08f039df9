"""The approximation scheme of Frieze and Clarke for the multi-dimensional 0-1 knapsack problem.

The scheme of size k solves, for every subset S of at most k items, the linear program LP(S) that takes the items of S,
leaves those outside S that are worth more than some item of S, and may take fractions of the rest; it rounds a basic
solution down, and returns the best of these. A basic solution has at most R fractional items, R the number of rows, and
each is worth at most the least of S; so with k = ceil(R (1 - eps) / eps) the value is at least 1 - eps of the optimum.

Most subsets need no program of their own: with an item more, S restricts LP(S) further, so where LP(S) is worth no more
than what is already found, neither S nor any subset that continues it can improve on that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dlsched.lazy import sp
from dlsched.models.document import InputError
from dlsched.models.numbers import rational, to_integers
from dlsched.solvers.highs import Session
from dlsched.solvers.matrix import Floats

Exact = int | float | Fraction | str
"""A number, read as `dlsched.models.numbers.rational` reads it."""

MAX_LPS = 200_000
"""The most linear programs that the scheme solves where no other limit is given."""

_WHOLE = 1e-9
_CRUMB = 1e-12
"""Of the room: an item that takes no more is left out of the linear programs' row, whose tolerance is 1e-7."""


class TooManyProgramsError(InputError):
    """The scheme is not done after as many linear programs as it may solve."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Items that fit the knapsack.

    Attributes
    ----------
    chosen : tuple of int
        Their indices, increasing; items worth nothing are left out.
    value : Fraction
        What they are worth.
    subset_size : int or None
        k of the scheme; None for the exact method.
    guarantee : Fraction
        The value is at least this part of the optimum.
    subsets : int
        Subsets S that a scheme of this size ranges over; 0 for the exact method.
    lps : int
        Linear programs solved.
    """

    chosen: tuple[int, ...]
    value: Fraction
    subset_size: int | None
    guarantee: Fraction
    subsets: int
    lps: int


def subset_size(items: int, rows: int, epsilon: Exact) -> int:
    """Return k = min(I, ceil(R (1 - eps) / eps)), with which the scheme's value is at least 1 - eps of the optimum.

    Parameters
    ----------
    items, rows : int
        I and R.
    epsilon : number
        In (0, 1).

    Raises
    ------
    ValueError
        If epsilon is out of range.

    Source: SMD, step 3, and Frieze and Clarke (1984): k / (k + R) >= 1 - eps.
    """
    part = rational(epsilon)
    if not 0 < part < 1:
        raise ValueError(f"epsilon: {float(part)} is not in (0, 1)")
    return min(items, math.ceil(rows * (1 - part) / part))


@dataclass(frozen=True, slots=True)
class Problem:
    """A knapsack problem in exact numbers.

    Attributes
    ----------
    values : tuple of I Fractions
    weights : tuple of I tuples of R Fractions
    capacity : tuple of R Fractions
    """

    values: tuple[Fraction, ...]
    weights: tuple[tuple[Fraction, ...], ...]
    capacity: tuple[Fraction, ...]

    @classmethod
    def of(cls, values: Sequence[Exact], weights: Sequence[Sequence[Exact]], capacity: Sequence[Exact]) -> Problem:
        """Read the numbers.

        Raises
        ------
        ValueError
            If one is negative or the shapes do not fit.
        """
        if len(weights) != len(values):
            raise ValueError(f"weights: has {len(weights)} rows for {len(values)} values")
        for i, row in enumerate(weights):
            if len(row) != len(capacity):
                raise ValueError(f"weights[{i}]: has {len(row)} entries for {len(capacity)} capacities")
        return cls(
            _numbers("values", values),
            tuple(_numbers(f"weights[{i}]", row) for i, row in enumerate(weights)),
            _numbers("capacity", capacity),
        )

    @property
    def items(self) -> tuple[int, ...]:
        """Items that fit by themselves and are worth something, the most valuable first."""
        useful = (i for i, value in enumerate(self.values) if value and self.fits((i,)))
        return tuple(sorted(useful, key=lambda i: (-self.values[i], i)))

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows that the `items` exceed together: the others never bind."""
        return tuple(r for r, room in enumerate(self.room(self.items)) if room < 0)

    def room(self, chosen: Sequence[int]) -> tuple[Fraction, ...]:
        """Return what some items leave of the capacity."""
        return tuple(c - sum(self.weights[i][r] for i in chosen) for r, c in enumerate(self.capacity))

    def fits(self, chosen: Sequence[int]) -> bool:
        """Tell whether some items fit together."""
        return all(room >= 0 for room in self.room(chosen))

    def worth(self, chosen: Sequence[int]) -> Fraction:
        """Return what some items are worth."""
        return sum((self.values[i] for i in chosen), Fraction(0))


def _numbers(name: str, numbers: Sequence[Exact]) -> tuple[Fraction, ...]:
    read = []
    for i, number in enumerate(numbers):
        try:
            read.append(rational(number.item() if isinstance(number, np.generic) else number))
        except ValueError as error:
            raise ValueError(f"{name}[{i}]: {error}") from None
        if read[-1] < 0:
            raise ValueError(f"{name}[{i}]: {float(read[-1])} is negative")
    return tuple(read)


def frieze_clarke(problem: Problem, size: int, *, max_lps: int = MAX_LPS) -> Selection:
    """Run the scheme with subsets of at most so many items.

    Parameters
    ----------
    problem : Problem
    size : int
        k.
    max_lps : int
        The most linear programs that it may solve.

    Raises
    ------
    TooManyProgramsError
        If it is not done after so many.

    Source: Frieze and Clarke (1984), as SMD, step 3, states it.
    """
    items, rows = problem.items, problem.rows
    if not rows:
        return Selection(tuple(sorted(items)), problem.worth(items), 0, Fraction(1), 1, 0)
    size = min(size, len(items))
    search = _Search(problem, items, rows, size, max_lps)
    search.run()
    subsets = sum(math.comb(len(items), taken) for taken in range(size + 1))
    guarantee = Fraction(1) if size == len(items) else Fraction(size, size + len(rows))
    return Selection(tuple(sorted(search.best)), search.value, size, guarantee, subsets, search.lps)


class _Search:
    """The scheme's subsets, depth first: each continues its parent by one item that is worth no more than those in it.

    Parameters
    ----------
    problem : Problem
    items : tuple of int
        In the order in which subsets take them, the most valuable first; below, an item is its position here.
    rows : tuple of int
    size, max_lps : int
    """

    def __init__(
        self, problem: Problem, items: tuple[int, ...], rows: tuple[int, ...], size: int, max_lps: int
    ) -> None:
        self._problem, self._items, self._size, self._max_lps = problem, items, size, max_lps
        self.best: tuple[int, ...] = ()
        self.value = Fraction(0)
        self.lps = 0
        self._scale = problem.values[items[0]]
        self._worth = np.array([float(problem.values[i] / self._scale) for i in items])
        # equally valuable items stay free, whichever of them S has
        self._first_free = np.searchsorted(-self._worth, -self._worth, side="left")
        columns = [to_integers((problem.capacity[r], *(problem.weights[i][r] for i in items)))[0] for r in rows]
        self._capacity = [column[0] for column in columns]
        self._weights = list(zip(*(column[1:] for column in columns), strict=True))
        self._session = Session(-1)
        self._session.add_rows(np.full(len(rows), -np.inf), np.ones(len(rows)), sp.csr_array((len(rows), 0)))
        shares = np.array([[w / c for w, c in zip(row, self._capacity, strict=True)] for row in self._weights])
        shares[shares <= _CRUMB] = 0.0
        self._session.add_columns(self._worth, np.ones(len(items)), sp.csc_array(shares.T))

    def run(self) -> None:
        """Go through all subsets."""
        self._extend((), self._capacity)

    def _extend(self, subset: tuple[int, ...], room: list[int]) -> None:
        """Solve LP(S), where the items of S leave so much room, and the programs of all subsets that continue S."""
        bound = self._solve(subset, room)
        if len(subset) == self._size:
            return
        for item in range(subset[-1] + 1 if subset else 0, len(self._items)):
            if bound <= float(self.value / self._scale):
                return
            left = self._without(room, item)
            if min(left) >= 0:
                self._extend((*subset, item), left)

    def _without(self, room: list[int], item: int) -> list[int]:
        return [c - w for c, w in zip(room, self._weights[item], strict=True)]

    def _solve(self, subset: tuple[int, ...], room: list[int]) -> float:
        """Return what LP(S) is worth, and keep its solution rounded down if it is the best so far."""
        if self.lps == self._max_lps:
            ranges = f"all 2^{len(self._items)}" if self._size == len(self._items) else f"{self._size}-item"
            raise TooManyProgramsError(
                f"epsilon: asks for {ranges} subsets of {len(self._items)} items, and the scheme is not done after "
                f"{self.lps} linear programs; take a larger one, or the exact method"
            )
        taken = list(subset)
        free = np.ones(len(self._items))
        free[: self._first_free[taken[-1]] if taken else 0] = 0.0
        free[taken] = 0.0
        left = np.array([c / whole for c, whole in zip(room, self._capacity, strict=True)])
        self._session.bound_columns(free)
        self._session.bound_rows(np.arange(len(left), dtype=np.int32), np.full(len(left), -np.inf), left)
        solved = self._session.solve()
        if solved is None:
            raise RuntimeError("HiGHS found no optimum of a knapsack's linear program, which always has one")
        self.lps += 1
        value, x, _ = solved
        fractional = int(((x > _WHOLE) & (x < 1 - _WHOLE)).sum())
        if fractional > len(left):
            raise RuntimeError(f"HiGHS returned {fractional} fractional items, more than a basis of {len(left)} has")
        self._keep((*subset, *self._floor(x, room)))
        return value + float(self._worth[taken].sum())

    def _floor(self, x: Floats, room: list[int]) -> list[int]:
        """Return the items that a solution takes whole, within 1e-9, as far as they fit exactly."""
        whole = np.flatnonzero(x >= 1 - _WHOLE)
        taken = []
        for item in whole[np.argsort(-x[whole], kind="stable")].tolist():
            left = self._without(room, item)
            if min(left) >= 0:
                taken.append(item)
                room = left
        return taken

    def _keep(self, subset: tuple[int, ...]) -> None:
        chosen = tuple(self._items[item] for item in subset)
        value = self._problem.worth(chosen)
        if value > self.value:
            self.best, self.value = chosen, value
