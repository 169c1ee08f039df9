"""Why a program has no point: sides of rows and bounds of columns that cannot hold together, none to spare.

HiGHS names such rows of a linear program. Where only the integers are in the way it names none, and what it names need
not be the least: so sides are left out, many at a time and then one by one, as long as no point appears (deletion
filter; Chinneck, Feasibility and Infeasibility in Optimization, 2008, section 6.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dlsched.arguments import at_least, checked
from dlsched.lazy import sp
from dlsched.solvers.divisors import divided
from dlsched.solvers.highs import infeasible_rows
from dlsched.solvers.matrix import Floats, Matrix
from dlsched.solvers.scaling import scaled
from dlsched.solvers.solution import ResidualError, Status
from dlsched.solvers.solve import solve_matrix, solve_to_optimality
from dlsched.tolerances import CLEAR


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
        kept throughout: thousands of such bounds may be needed, and are the cause of nothing.

    Examples
    --------
    >>> from dlsched.solvers import Builder, infeasible_subsystem, solve_matrix
    >>> program = Builder(sense=1)
    >>> x = program.column(cost=1.0)
    >>> least, most, other = (program.row([(x, 1.0)], *sides) for sides in ((2.0, 9.0), (0.0, 1.0), (0.0, 8.0)))
    >>> found = infeasible_subsystem(program.matrix())
    >>> found.rows == (least, most), found.lower, found.upper, found.irreducible
    (True, (0,), (1,), True)
    >>> str(solve_matrix(found.within(program.matrix())).summary.status)
    'infeasible'
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
        rows, bounds = _sides(row_lower=self.lower, row_upper=self.upper), _sides(lower=self.least, upper=self.most)
        return _within(matrix if self.integral else matrix.relaxed(), (*rows, *bounds, *_bounds(matrix)[1]))


_Sides = tuple[tuple[str, int], ...]
"""Each with the field of `Matrix` that it stands in, and which row or column it is of."""

_NONE = {"row_lower": -np.inf, "row_upper": np.inf, "lower": -np.inf, "upper": np.inf}
"""What stands in those fields where there is no such side."""

_FAR = 10_000.0
"""How far bounds are moved that may not be needed. Arbitrary: where they are, points are a few units beyond."""


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

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.solvers import compile_model, infeasible_subsystem
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(bounds=(0, 1))
    >>> m.need, m.other = pyo.Constraint(expr=m.x >= 2), pyo.Constraint(expr=m.x <= 9)
    >>> m.total = pyo.Objective(expr=m.x)
    >>> matrix = compile_model(m)
    >>> found = infeasible_subsystem(matrix)
    >>> [matrix.row_names[i] for i in found.rows], [matrix.column_names[j] for j in found.most]
    (['need'], ['x'])
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
    decided = question.decided
    if integral:
        beside, elsewhere = _beside(matrix, sides, bounds)
        question = _FarQuestion(matrix, nodes, (*sides, *elsewhere, *natural))
        sides = (*sides, *(() if question.is_impossible(()) else _least(beside, question)))
    found = {field: tuple(n for of, n in sides if of == field) for field in _NONE}
    return InfeasibleSubsystem(
        lower=found["row_lower"],
        upper=found["row_upper"],
        integral=integral,
        irreducible=decided and question.decided,
        least=found["lower"],
        most=found["upper"],
    )


def enough(
    matrix: Matrix, found: InfeasibleSubsystem, row: int, upper: bool, *, nodes: int | None = 10_000
) -> float | None:
    """Return the nearest limit of one side of a row with which there is a point that keeps the others.

    Parameters
    ----------
    matrix : Matrix
    found : InfeasibleSubsystem
        Of it, irreducible.
    row : int
    upper : bool
        Whether it is the row's upper side; one of `found`.
    nodes : int, optional
        Of HiGHS's tree.

    Returns
    -------
    float or None
        None where the search ends before it is known.
    """
    rest = tuple(n for n in (found.upper if upper else found.lower) if n != row)
    others = replace(found, upper=rest) if upper else replace(found, lower=rest)
    entries = np.asarray(matrix.A[[row]].todense(), dtype=float).ravel()
    within = others.within(matrix)
    if found.integral:
        within = _moved_away(within, matrix)
    nearest = replace(within, c=entries, offset=0.0, sense=1 if upper else -1)
    try:
        raw = solve_matrix(nearest, threads=1, nodes=nodes)
    except ResidualError:
        return None
    return raw.summary.objective if raw.summary.status is Status.OPTIMAL else None


@dataclass(frozen=True, slots=True)
class Sum:
    """Sides of rows with weights, which added up contradict each other within the bounds of the columns.

    Attributes
    ----------
    lower, upper : mapping of int to float
        Positive weights, by row.
    needed, there : float
        What the lower sides ask for together, and what the upper sides and the bounds leave for it, which is less.
    bounds : float
        The bounds' part of it.
    """

    lower: Mapping[int, float]
    upper: Mapping[int, float]
    needed: float
    there: float
    bounds: float


def contradiction(matrix: Matrix, found: InfeasibleSubsystem) -> Sum | None:
    """Return the sum of sides that shows that no point keeps them, where integrality is not needed for it.

    The weights are Farkas multipliers: duals of the least amount by which the upper sides whose limit is not 0, what
    there is, have to give together; where there are none, the lower ones, what is needed. The least of them is 1.
    """
    own = found.within(matrix)
    giving = [i for i in found.upper if own.row_upper[i]] or [i for i in found.lower if own.row_lower[i]]
    if found.integral or not giving:
        return None
    (m, n), k = own.A.shape, len(giving)
    sign = -1.0 if own.row_upper[giving[0]] and giving[0] in found.upper else 1.0
    slack = sp.csr_array((np.full(k, sign), (giving, range(k))), shape=(m, k))
    elastic = replace(
        own,
        c=np.concatenate([np.zeros(n), np.ones(k)]),
        offset=0.0,
        sense=1,
        A=sp.hstack([own.A, slack]).tocsr(),
        lower=np.concatenate([own.lower, np.zeros(k)]),
        upper=np.concatenate([own.upper, np.full(k, np.inf)]),
        integer=np.zeros(n + k, dtype=bool),
        column_names=(),
        columns=(),
    )
    raw = solve_matrix(elastic)
    if raw.row_duals is None or raw.reduced_costs is None:
        return None
    y, d = raw.row_duals, raw.reduced_costs[:n]
    lower = {i: float(y[i]) for i in found.lower if y[i] > CLEAR}
    upper = {i: -float(y[i]) for i in found.upper if y[i] < -CLEAR}
    unit = min(abs(float(y[i])) for i in giving if abs(y[i]) > CLEAR)
    held = np.where(d > CLEAR, own.lower, np.where(d < -CLEAR, own.upper, 0.0))
    bounds = -math.fsum((d * held).tolist())
    return Sum(
        {i: weight / unit for i, weight in lower.items()},
        {i: weight / unit for i, weight in upper.items()},
        math.fsum(w * own.row_lower[i] for i, w in lower.items()) / unit,
        (math.fsum(w * own.row_upper[i] for i, w in upper.items()) + bounds) / unit,
        bounds / unit,
    )


class _Question:
    """Whether no point of a matrix keeps some sides; `decided` is False once that remained open."""

    def __init__(self, matrix: Matrix, nodes: int | None, always: _Sides = ()) -> None:
        self._matrix, self._nodes, self._always = matrix, nodes, always
        self.decided = True

    def is_impossible(self, sides: _Sides) -> bool:
        return self._has_none(_within(self._matrix, (*sides, *self._always)))

    def _has_none(self, matrix: Matrix) -> bool:
        try:
            raw = solve_matrix(matrix, threads=1, nodes=self._nodes)
        except ResidualError:
            self.decided = False
            return False
        self.decided &= raw.x is not None or raw.summary.status is Status.INFEASIBLE
        return raw.summary.status is Status.INFEASIBLE


class _FarQuestion(_Question):
    """As `_Question`, of integers without some of their bounds, over which a search may have no end.

    So it is made with these bounds far away, and the relaxation, its rows over integers rounded, must not reach beyond.
    """

    def is_impossible(self, sides: _Sides) -> bool:
        within = _within(self._matrix, (*sides, *self._always))
        if not self._has_none(_moved_away(within, self._matrix)):
            return False
        if self._is_kept_near(within):
            return True
        self.decided = False
        return False

    def _is_kept_near(self, within: Matrix) -> bool:
        """Tell whether the relaxation goes nowhere beyond the bounds that are far away."""
        away, free = _moved_away(within, self._matrix), divided(within.with_whole_bounds()).relaxed()
        for own, moved, sign in ((within.lower, away.lower, 1.0), (within.upper, away.upper, -1.0)):
            for column in np.flatnonzero(own != moved).tolist():
                cost = np.zeros_like(free.c)
                cost[column] = sign
                try:
                    raw = solve_matrix(replace(free, c=cost, sense=1), threads=1)
                except ResidualError:
                    return False
                if raw.summary.status is Status.INFEASIBLE:
                    return True
                if raw.summary.objective is None or raw.summary.objective < sign * moved[column]:
                    return False
        return True


def _moved_away(within: Matrix, matrix: Matrix) -> Matrix:
    """Return the matrix within which bounds of another are left out with these far away instead."""
    lower = np.where(np.isfinite(within.lower), within.lower, matrix.lower - _FAR)
    upper = np.where(np.isfinite(within.upper), within.upper, matrix.upper + _FAR)
    return replace(within, lower=lower, upper=upper)


def _beside(matrix: Matrix, rows: _Sides, bounds: _Sides) -> tuple[_Sides, _Sides]:
    """Return the bounds that some rows have to do with, all where there is no row, and the others."""
    columns = set(matrix.A[sorted({row for _, row in rows})].indices.tolist())
    beside = {bound: not rows or bound[1] in columns for bound in bounds}
    return tuple(b for b in bounds if beside[b]), tuple(b for b in bounds if not beside[b])


def _least(sides: _Sides, question: _Question) -> _Sides:
    """Leave sides out for which the others are still impossible; a side that was once needed stays needed.

    Each that is left was asked for by itself at last: what remained open of several of them is of no account.
    """
    size = max(1, len(sides) // 2)
    while True:
        start = 0
        question.decided |= size == 1
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
