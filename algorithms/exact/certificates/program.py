"""A mixed-integer linear program over the rationals: what an exact certificate is about.

A problem's writer, ``program(instance) -> ExactProgram``, states one of the problem's exact formulations again, from
the numbers of the instance alone: no Pyomo, no solver, no float. Columns and rows have the names that they have in that
formulation, so that a test compares the two coefficient by coefficient. The writer stands in ``rationals.py`` beside
the problem's exact method and is the `program` of its `dlsched.algorithms.ExactMethod`. What it writes decides what a
certificate proves: the optimum of the program has to be that of the problem, which its docstring shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from dlsched.halt import poll

MAX_COLUMNS = 10_000
"""The most columns of a program. Arbitrary: a tree over more takes a linear program's time, thousands of times."""

MAX_TERMS = 300_000
"""The most coefficients in the rows of a program. Arbitrary: one leaf's bound in rationals then takes a second."""


class TooLargeError(ValueError):
    """The instance's program has more columns or coefficients than exact certificates are made for."""


Side = Fraction | int | None
"""Of a column or a row: None where it is infinite; an integer where it is one, which is several times as fast."""

Bounds = list[Side]
"""Of all columns, from below or from above."""


@dataclass(frozen=True, slots=True)
class Column:
    """A variable.

    Attributes
    ----------
    name : str
        As in the formulation, ``completion[a,1]``.
    lower, upper : Side
    integer : bool
    cost : Fraction
        Its coefficient in the objective.
    """

    name: str
    lower: Side
    upper: Side
    integer: bool
    cost: Fraction


@dataclass(frozen=True, slots=True)
class Row:
    """``lower <= sum of terms <= upper``.

    Attributes
    ----------
    name : str
        As in the formulation, ``capacity[gpu,1]``.
    terms : mapping of int to Fraction
        Column number to coefficient, none of them 0.
    lower, upper : Side
        Equal for an equation.
    """

    name: str
    terms: Mapping[int, Fraction]
    lower: Side
    upper: Side


@dataclass(frozen=True, slots=True)
class ExactProgram:
    """A program in exact rationals.

    Attributes
    ----------
    formulation : str
        The formulation that it restates, ``hadar/hall``.
    sense : {"maximize", "minimize"}
    constant : Fraction
        Of the objective.
    columns : tuple of Column
    rows : tuple of Row

    Examples
    --------
    >>> from dlsched.algorithms import ProgramBuilder
    >>> knapsack = ProgramBuilder("mine/knapsack")
    >>> small, large = knapsack.binary("x[1]", cost=3), knapsack.binary("x[2]", cost=5)
    >>> knapsack.row("room", [(small, 1), (large, 2)], upper=2)
    >>> program = knapsack.program()
    >>> program.worth([0, 1])
    Fraction(5, 1)
    >>> program.worth([1, 1]) is None
    True
    """

    formulation: str
    sense: Literal["maximize", "minimize"]
    constant: Fraction
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    @property
    def numbers(self) -> tuple[object, ...]:
        """All that decides its optimum: programs that differ in names alone have the same."""
        columns = tuple((c.lower, c.upper, c.integer, c.cost) for c in self.columns)
        rows = tuple((tuple(row.terms.items()), row.lower, row.upper) for row in self.rows)
        return self.sense, self.constant, columns, rows

    def worth(self, point: Sequence[Fraction]) -> Fraction | None:
        """Return what a point is worth; None where it breaks a bound, integrality or a row."""
        for x, column in zip(point, self.columns, strict=True):
            if (column.integer and x.denominator > 1) or not _between(column.lower, x, column.upper):
                return None
        for row in self.rows:
            activity = sum((a * point[j] for j, a in row.terms.items()), Fraction(0))
            if not _between(row.lower, activity, row.upper):
                return None
        return self.constant + sum((c.cost * x for c, x in zip(self.columns, point, strict=True)), Fraction(0))


@dataclass(slots=True)
class ProgramBuilder:
    """Columns and rows so far; numbers may be integers or fractions, never floats.

    Attributes
    ----------
    formulation, sense, constant
        As of `ExactProgram`.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.algorithms import ProgramBuilder
    >>> built = ProgramBuilder("mine/diet", sense="minimize")
    >>> bread = built.column("bread", 9, cost=Fraction(1, 3), integer=True)
    >>> built.row("energy", [(bread, 2)], lower=5)
    >>> program = built.program()
    >>> [(row.name, row.lower, row.upper) for row in program.rows]
    [('energy', 5, None)]
    >>> print(program.worth([3]))
    1
    """

    formulation: str
    sense: Literal["maximize", "minimize"] = "maximize"
    constant: Fraction = Fraction(0)
    _columns: list[Column] = field(default_factory=list, init=False)
    _rows: list[Row] = field(default_factory=list, init=False)
    _terms: int = field(default=0, init=False)

    def column(
        self,
        name: str,
        upper: Side = None,
        *,
        lower: Side = 0,
        cost: Fraction | int = 0,
        integer: bool = False,
    ) -> int:
        """Add a column; return its number.

        Raises
        ------
        TooLargeError
            If there are more than `MAX_COLUMNS`.
        """
        self._columns.append(Column(name, _side(lower), _side(upper), integer, Fraction(cost)))
        if len(self._columns) > MAX_COLUMNS:
            raise TooLargeError(f"more than {MAX_COLUMNS} columns")
        return len(self._columns) - 1

    def binary(self, name: str, *, cost: Fraction | int = 0) -> int:
        """Add a column that is 0 or 1; return its number."""
        return self.column(name, 1, cost=cost, integer=True)

    def row(
        self,
        name: str,
        terms: Iterable[tuple[int, Fraction | int]],
        lower: Side = None,
        upper: Side = None,
    ) -> None:
        """Add a row; where a column stands in it more than once, its coefficients are added up.

        Raises
        ------
        TooLargeError
            If the rows have more than `MAX_TERMS` coefficients.
        Halt
            If the work (`dlsched.halt`) is over.
        """
        poll()
        sums: dict[int, Fraction] = {}
        for column, value in terms:
            sums[column] = sums[column] + value if column in sums else Fraction(value)
        kept = {column: value for column, value in sums.items() if value}
        self._terms += len(kept)
        if self._terms > MAX_TERMS:
            raise TooLargeError(f"more than {MAX_TERMS} coefficients")
        self._rows.append(Row(name, kept, _side(lower), _side(upper)))

    def program(self) -> ExactProgram:
        """Return what was built."""
        return ExactProgram(self.formulation, self.sense, self.constant, tuple(self._columns), tuple(self._rows))


Place = tuple[str, str, int]
"""A machine, what it has, and a slot."""


def choice(
    formulation: str,
    schedules: Mapping[str, Iterable[tuple[Fraction, Mapping[Place, Fraction | int]]]],
    room: Callable[[str, str, int], Fraction | int],
) -> ExactProgram:
    """Return the program that chooses at most one of the listed schedules of each job, within the machines' room.

    Parameters
    ----------
    formulation : str
        That it restates.
    schedules : mapping
        By job: what each schedule is worth, and what it uses of each place.
    room : callable
        What there is of a place.

    Raises
    ------
    TooLargeError
        If there are too many.
    """
    built = ProgramBuilder(formulation)
    used: dict[Place, list[tuple[int, Fraction | int]]] = {}
    for name, listed in schedules.items():
        own = []
        for k, (worth, usage) in enumerate(listed):
            own.append(built.binary(f"chosen[{name},{k}]", cost=worth))
            for place, amount in usage.items():
                used.setdefault(place, []).append((own[-1], amount))
        if own:
            built.row(f"once[{name}]", [(column, 1) for column in own], upper=1)
    for (machine, what, t), terms in used.items():
        built.row(f"capacity[{machine},{what},{t}]", terms, upper=room(machine, what, t))
    return built.program()


def _between(lower: Side, value: Fraction, upper: Side) -> bool:
    return (lower is None or lower <= value) and (upper is None or value <= upper)


def _side(value: Side) -> Side:
    return int(value) if value is not None and value.denominator == 1 else value
