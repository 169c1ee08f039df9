"""Why a program has no point: sides of rows that cannot hold together within the bounds of columns, none to spare.

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
from dlsched.solvers.matrix import Matrix
from dlsched.solvers.scaling import scaled
from dlsched.solvers.solution import ResidualError, Status
from dlsched.solvers.solve import solve_matrix, solve_to_optimality


@dataclass(frozen=True, slots=True)
class InfeasibleSubsystem:
    """Sides of rows that no point within the columns' bounds keeps all.

    Attributes
    ----------
    lower, upper : tuple of int
        The rows whose lower or upper side is one of them. None at all where bounds cross.
    integral : bool
        Whether the integrality of columns is used as well.
    irreducible : bool
        Whether it is shown of each side, and of integrality if it is used, that there is a point without it.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    integral: bool
    irreducible: bool

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows, in order."""
        return tuple(sorted({*self.lower, *self.upper}))

    def within(self, matrix: Matrix) -> Matrix:
        """Return the matrix with no other sides than these."""
        return _within(matrix if self.integral else matrix.relaxed(), _marked(self.lower, self.upper))


_Sides = tuple[tuple[int, bool], ...]
"""Rows, each with whether it is their upper side."""


@checked
def infeasible_subsystem(matrix: Matrix, *, nodes: int | None = 10_000) -> InfeasibleSubsystem | None:
    """Return sides of rows that no point keeps all; None where the matrix has a point.

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
    sides = _marked(np.flatnonzero(np.isfinite(matrix.row_lower)), np.flatnonzero(np.isfinite(matrix.row_upper)))
    question = _Question(matrix.relaxed(), nodes)
    integral = not question.is_impossible(sides)
    if integral:
        question.matrix = matrix
    else:
        named = _marked(*infeasible_rows(scaled(matrix.relaxed()).matrix))
        sides = named if question.is_impossible(named) else sides
    sides = _least(sides, question)
    lower, upper = (tuple(row for row, is_upper in sides if is_upper is side) for side in (False, True))
    return InfeasibleSubsystem(lower, upper, integral, question.decided)


class _Question:
    """Whether no point of a matrix keeps some sides; `decided` is False once that remained open."""

    def __init__(self, matrix: Matrix, nodes: int | None) -> None:
        self.matrix, self._nodes = matrix, nodes
        self.decided = True

    def is_impossible(self, sides: _Sides) -> bool:
        try:
            raw = solve_matrix(_within(self.matrix, sides), threads=1, nodes=self._nodes)
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


def _marked(lower: Iterable[int], upper: Iterable[int]) -> _Sides:
    return tuple(sorted([*((int(row), False) for row in lower), *((int(row), True) for row in upper)]))


def _within(matrix: Matrix, sides: _Sides) -> Matrix:
    """Return the matrix without the other sides."""
    lower, upper = np.full_like(matrix.row_lower, -np.inf), np.full_like(matrix.row_upper, np.inf)
    for row, is_upper in sides:
        if is_upper:
            upper[row] = matrix.row_upper[row]
        else:
            lower[row] = matrix.row_lower[row]
    return replace(matrix, row_lower=lower, row_upper=upper)
