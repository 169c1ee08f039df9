"""What follows from single rows: bounds of columns, one from another, until some row cannot hold.

Where the rows of an infeasible program are few, this is often the whole reason, and one that people can follow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from dlsched.halt import polled
from dlsched.solvers.matrix import Matrix
from dlsched.tolerances import FEASIBLE

_PASSES = 100
"""Times that all rows are looked at. Arbitrary: bounds of columns that are not whole may creep for ever."""


@dataclass(frozen=True, slots=True)
class Step:
    """A bound of a column that follows from one side of a row and the bounds so far.

    Attributes
    ----------
    column : int
    bound : float
    upper : bool
        Whether it is an upper bound.
    row : int
    """

    column: int
    bound: float
    upper: bool
    row: int


@dataclass(frozen=True, slots=True)
class Refutation:
    """Why a program has no point.

    Attributes
    ----------
    steps : tuple of Step
        In order; each is used later on.
    row : int
        That cannot hold after them.
    upper : bool
        Whether it is the row's upper side.
    reach : float
        How far the row can then go towards that side.
    """

    steps: tuple[Step, ...]
    row: int
    upper: bool
    reach: float


def refutation(matrix: Matrix) -> Refutation | None:
    """Return why a program has no point, if bounds that follow from single rows show it; else None.

    Parameters
    ----------
    matrix : Matrix
    """
    state = _State(matrix)
    for _ in polled(range(_PASSES)):
        before = len(state.steps)
        for row in range(matrix.A.shape[0]):
            for upper in (False, True):
                found = state.look(row, upper)
                if found is not None:
                    return Refutation(tuple(state.behind(row, upper)), row, upper, found)
        if len(state.steps) == before:
            return None
    return None


class _State:
    """Bounds so far, and the steps that led to them."""

    def __init__(self, matrix: Matrix) -> None:
        self.steps: list[Step] = []
        self._matrix = matrix
        self._bounds = {False: matrix.lower.copy(), True: matrix.upper.copy()}
        self._last: dict[tuple[int, bool], int] = {}
        self._used: list[tuple[int, ...]] = []

    def look(self, row: int, upper: bool) -> float | None:
        """Take what follows from one side of a row; return how far the row can go where that is not far enough."""
        matrix, sign = self._matrix, 1.0 if upper else -1.0
        limit = sign * float((matrix.row_upper if upper else matrix.row_lower)[row])
        if not math.isfinite(limit):
            return None
        # Of the row as sign * row <= limit: the least that each term can be.
        terms = [(n, sign * a, sign * a * self._bounds[sign * a < 0][n]) for n, a in self._entries(row)]
        open_ = [n for n, _, least in terms if not math.isfinite(least)]
        least = math.fsum(term for _, _, term in terms if math.isfinite(term))
        scale = max([1.0, abs(limit), *(abs(term) for _, _, term in terms if math.isfinite(term))])
        if not open_ and least > limit + FEASIBLE * scale:
            return sign * least
        for n, a, own in terms:
            if open_ in ([], [n]):
                rest = least - (own if math.isfinite(own) else 0.0)
                self._tighten(n, (limit - rest) / a, a > 0, (row, upper), FEASIBLE * scale / abs(a))
        return None

    def behind(self, row: int, upper: bool) -> Iterator[Step]:
        """Yield the steps that lead to a side of a row as it is now, in order."""
        wanted, found = list(self._sources(row, upper, len(self.steps))), set()
        while wanted:
            k = wanted.pop()
            if k not in found:
                found.add(k)
                wanted += self._used[k]
        return (self.steps[k] for k in sorted(found))

    def _tighten(self, column: int, bound: float, upper: bool, by: tuple[int, bool], slack: float) -> None:
        if self._matrix.integer[column]:
            bound = math.floor(bound + slack) if upper else math.ceil(bound - slack)
        now = float(self._bounds[upper][column])
        if bound >= now - slack if upper else bound <= now + slack:
            return
        self._used.append(tuple(self._sources(*by, len(self.steps), column)))
        self._last[column, upper] = len(self.steps)
        self.steps.append(Step(column, bound, upper, by[0]))
        self._bounds[upper][column] = bound

    def _sources(self, row: int, upper: bool, before: int, but: int | None = None) -> Iterator[int]:
        """Yield the steps from which the bounds come that count in a side of a row."""
        for n, a in self._entries(row):
            step = self._last.get((n, (a < 0) == upper))
            if step is not None and step < before and n != but:
                yield step

    def _entries(self, row: int) -> Iterator[tuple[int, float]]:
        start, end = self._matrix.A.indptr[row : row + 2]
        entries = zip(self._matrix.A.indices[start:end].tolist(), self._matrix.A.data[start:end].tolist(), strict=True)
        return ((n, a) for n, a in entries if a)
