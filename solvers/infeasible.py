"""Why a program has no point: sides of rows and bounds of columns that cannot hold together, none to spare.

HiGHS names such rows of a linear program. Where only the integers are in the way it names none, and what it names need
not be the least: so sides are left out, many at a time and then one by one, as long as no point appears (deletion
filter; Chinneck, Feasibility and Infeasibility in Optimization, 2008, section 6.2).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from dlsched.arguments import at_least, checked
from dlsched.solvers.highs import infeasible_rows
from dlsched.solvers.matrix import Floats, Matrix
from dlsched.solvers.scaling import scaled
from dlsched.solvers.solution import ResidualError, Status
from dlsched.solvers.solve import solve_matrix, solve_to_optimality


@dataclass(frozen=True, slots=True)
class InfeasibleSubsystem:
    """Sides of rows, and bounds of columns, that no point keeps all.

    Attributes
    ----------
    lower, upper : tuple of int
        The rows whose lower or upper side is one of them.
    integral : bool
        Whether the integrality of columns is used as well.
    irreducible : bool
        Whether it is shown of each side and bound, and of integrality if it is used, that there is a point without it.
    least, most : tuple of int
        The columns whose lower or upper bound is one of them. What a column is by nature, at least 0 or a binary, is
        kept throughout: thousands of such bounds may be needed, and are the cause of nothing. So are all bounds where
        integrality is used: a search over integers without bounds may have no end.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    integral: bool
    irreducible: bool
    least: tuple[int, ...] = ()
    most: tuple[int, ...] = ()

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows, in order."""
        return tuple(sorted({*self.lower, *self.upper}))

    def within(self, matrix: Matrix) -> Matrix:
        """Return the matrix with no other sides and bounds than these."""
        own, natural = _bounds(matrix)
        bounds = own if self.integral else _sides(lower=self.least, upper=self.most)
        sides = *_sides(row_lower=self.lower, row_upper=self.upper), *bounds, *natural
        return _within(matrix if self.integral else matrix.relaxed(), sides)


_Sides = tuple[tuple[str, int], ...]
"""Each with the field of `Matrix` that it stands in, and which row or column it is of."""

_NONE = {"row_lower": -np.inf, "row_upper": np.inf, "lower": -np.inf, "upper": np.inf}
"""What stands in those fields where there is no such side."""


@checked
def infeasible_subsystem(matrix: Matrix, *, nodes: int | None = 10_000) -> InfeasibleSubsystem | None:
    """Return sides of rows and bounds of columns that no point keeps all; None where the matrix has a point.

    Parameters
    ----------
    matrix : Matrix
    nodes : int, optional
        Of HiGHS's tree, in every solve that asks whether a side can be left out.

    Raises
    ------
    SolverError
        If no solver decides whether the matrix has a point.
    UnfitNumberError
        If the matrix has a number that no solver keeps.
    Halt
        If the work (`dlsched.halt`) is over before that is decided; if it is later, what is left is returned.
    """
    at_least(1, nodes=nodes)
    matrix = replace(matrix, c=np.zeros_like(matrix.c), offset=0.0)
    if solve_to_optimality(matrix) is not None:
        return None
    finite = np.isfinite(matrix.row_lower), np.isfinite(matrix.row_upper)
    rows = _sides(row_lower=np.flatnonzero(finite[0]), row_upper=np.flatnonzero(finite[1]))
    bounds, natural = _bounds(matrix)
    question = _Question(matrix.relaxed(), nodes, natural)
    integral = not question.is_impossible((*rows, *bounds))
    if integral:
        question = _Question(matrix, nodes, (*bounds, *natural))
        sides = rows
    else:
        lower, upper = infeasible_rows(scaled(matrix.relaxed()).matrix)
        named = (*_sides(row_lower=lower, row_upper=upper), *bounds)
        sides = named if question.is_impossible(named) else (*rows, *bounds)
    sides = _least(sides, question)
    found = {field: tuple(n for of, n in sides if of == field) for field in _NONE}
    return InfeasibleSubsystem(
        lower=found["row_lower"],
        upper=found["row_upper"],
        integral=integral,
        irreducible=question.decided,
        least=found["lower"],
        most=found["upper"],
    )


class _Question:
    """Whether no point of a matrix keeps some sides; `decided` is False once that remained open."""

    def __init__(self, matrix: Matrix, nodes: int | None, always: _Sides = ()) -> None:
        self._matrix, self._nodes, self._always = matrix, nodes, always
        self.decided = True

    def is_impossible(self, sides: _Sides) -> bool:
        try:
            raw = solve_matrix(_within(self._matrix, (*sides, *self._always)), threads=1, nodes=self._nodes)
        except ResidualError:
            self.decided = False
            return False
        self.decided &= raw.x is not None or raw.summary.status is Status.INFEASIBLE
        return raw.summary.status is Status.INFEASIBLE


def _least(sides: _Sides, question: _Question) -> _Sides:
    """Leave sides out for which the others are still impossible; a side that was once needed stays needed."""
    size = max(1, len(sides) // 2)
    while True:
        start = 0
        while start < len(sides):
            rest = sides[:start] + sides[start + size :]
            if question.is_impossible(rest):
                sides = rest
            else:
                start += size
        if size == 1:
            return sides
        size //= 2


def _sides(**fields: Iterable[int]) -> _Sides:
    """Return the sides in some fields, by row or column."""
    return tuple(sorted(((field, int(n)) for field, of in fields.items() for n in of), key=lambda side: side[::-1]))


def _bounds(matrix: Matrix) -> tuple[_Sides, _Sides]:
    """Return the bounds of the columns that somebody chose, and those that say what a column is: from 0 on, binary."""
    nonnegative = matrix.lower == 0
    binary = matrix.integer & nonnegative & (matrix.upper == 1)
    lower, upper = np.isfinite(matrix.lower) & ~nonnegative, np.isfinite(matrix.upper) & ~binary
    return (
        _sides(lower=np.flatnonzero(lower), upper=np.flatnonzero(upper)),
        _sides(lower=np.flatnonzero(nonnegative), upper=np.flatnonzero(binary)),
    )


def _within(matrix: Matrix, sides: _Sides) -> Matrix:
    """Return the matrix without the other sides and bounds."""
    kept: dict[str, Floats] = {}
    for field, none in _NONE.items():
        own = getattr(matrix, field)
        at = [n for of, n in sides if of == field]
        kept[field] = np.full_like(own, none)
        kept[field][at] = own[at]
    return replace(matrix, **kept)  # type: ignore[arg-type]
