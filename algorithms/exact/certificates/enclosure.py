"""The optimum of a program between two rationals: a solver's point, read as rationals, and a tree."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dlsched.algorithms.exact.certificates.make import WORK
from dlsched.algorithms.exact.certificates.program import ExactProgram
from dlsched.algorithms.exact.certificates.tree import Beaten, GaveUp, prove, side_of
from dlsched.once import once
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Matrix
from dlsched.solvers.solution import SolverError
from dlsched.solvers.solve import solve_to_optimality

_DENOMINATORS = (1, 10**3, 10**6, 10**9)
"""Tried in turn: the least with which every row holds is what the solver's point stands for; beyond the last one it
would be the solver's noise (`dlsched.tolerances.ZERO`)."""


class NoPointError(GaveUp):
    """What a solver finds breaks a row, by less than its tolerances, in all rationals near it."""


@dataclass(frozen=True, slots=True)
class Enclosure:
    """The optimum of a program.

    Attributes
    ----------
    point : tuple of Fraction
        It keeps bounds, integrality and rows.
    value : Fraction
        What it is worth.
    bound : Fraction
        Nothing is better: mostly the same.
    """

    point: tuple[Fraction, ...]
    value: Fraction
    bound: Fraction


@once(lambda program: program.numbers)
def enclose(program: ExactProgram) -> Enclosure | None:
    """Return the optimum of a program; None where it has no point.

    A solver's point is read as rationals, and a tree shows that nothing is better.

    Raises
    ------
    NoPointError
        If no rational point near the solver's keeps the rows.
    GaveUp
        If none that does is shown to be an optimum.
    Halt
        If the work (`dlsched.halt`) is over.
    """
    try:
        solved = solve_to_optimality(_matrix(program))
    except (SolverError, OverflowError) as error:
        raise GaveUp(str(error)) from None
    if solved is None:
        prove(program, None, work=WORK)
        return None
    points = (tuple(Fraction(x).limit_denominator(most) for x in solved.x.tolist()) for most in _DENOMINATORS)
    reason: GaveUp = NoPointError("no rational point near the solver's keeps the rows")
    for point in points:
        try:
            if (value := program.worth(point)) is not None:
                return _enclosed(program, point, value)
        except GaveUp as error:
            reason = error
    raise reason


def _enclosed(program: ExactProgram, point: tuple[Fraction, ...], value: Fraction) -> Enclosure:
    """Return the optimum, at a point of some value or at one that is met where nothing better was looked for."""
    try:
        bound = prove(program, value, work=WORK).bound
    except Beaten as better:
        return _enclosed(program, better.point, better.worth)
    assert bound is not None
    return Enclosure(point, value, bound)


def _matrix(program: ExactProgram) -> Matrix:
    builder = Builder(-1 if program.sense == "maximize" else 1, float(program.constant))
    for c in program.columns:
        builder.column(side_of(c.upper, 1), lower=side_of(c.lower, -1), cost=float(c.cost), integer=c.integer)
    for row in program.rows:
        terms = [(column, float(value)) for column, value in row.terms.items()]
        builder.row(terms, side_of(row.lower, -1), side_of(row.upper, 1))
    return builder.matrix()
