"""The instances of Lemmas 1 and 2: a program with cover and packing rows, an optimum of its relaxation, and delta.

The lemmas are about any such program; their row bounds fail at points that an external placement seldom has.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Self, TypeVar

from pydantic import Field, model_validator

from dlsched.algorithms.exact.result import Proof
from dlsched.bounds.evidence import rests_on
from dlsched.bounds.optima import Rationals, exactly, optimum
from dlsched.models.document import Document
from dlsched.models.numbers import NonNegative, Positive, agree, rational, small_unit, to_json
from dlsched.rounding import Gain, gain_cover, gain_packing, width

Delta = Annotated[float, Field(gt=0, le=1)]
"""The claims' parameter delta, as a user gives it."""

D = TypeVar("D", bound=Document)

MAX_COUNT = 10_000
"""Most variables, and most copies, of one program. Arbitrary: limits count work and not seconds, so that verdicts are
the same everywhere."""


class MixedProgram(Document):
    """min c x with A x >= a, B x <= b, x >= 0 and whole; a point that keeps the rows; and delta.

    Attributes
    ----------
    cost : tuple of Fraction
        c, one entry a column.
    cover : tuple of tuple of Fraction
        A, not negative.
    needs : tuple of Fraction
        a, positive.
    packing : tuple of tuple of Fraction
        B, not negative.
    limits : tuple of Fraction
        b, positive.
    point : tuple of Fraction
        x-bar, by column.
    delta : Fraction
        In (0, 1].
    counts : tuple of int, optional
        How many variables have each column; one each where it is left out.
    copies : int
        The program consists of so many copies of these variables and rows, side by side.
    """

    cost: Annotated[tuple[NonNegative, ...], Field(min_length=1)]
    cover: Annotated[tuple[tuple[NonNegative, ...], ...], Field(min_length=1)]
    needs: tuple[Positive, ...]
    packing: Annotated[tuple[tuple[NonNegative, ...], ...], Field(min_length=1)]
    limits: tuple[Positive, ...]
    point: tuple[NonNegative, ...]
    delta: Positive
    counts: tuple[Annotated[int, Field(ge=1)], ...] | None = None
    copies: Annotated[int, Field(ge=1, le=MAX_COUNT)] = 1

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.delta > 1:
            raise ValueError(f"delta: {to_json(self.delta)} exceeds 1")
        n = len(self.cost)
        for name, entries in (("point", self.point), ("counts", self.multiplicity)):
            if len(entries) != n:
                raise ValueError(f"{name}: has {len(entries)} entries for {n} columns")
        if sum(self.multiplicity) > MAX_COUNT:
            raise ValueError(f"counts: {sum(self.multiplicity)} variables; at most {MAX_COUNT}")
        for name, sides, rows, sign in (
            ("needs", self.needs, self.cover, -1),
            ("limits", self.limits, self.packing, 1),
        ):
            if len(sides) != len(rows):
                raise ValueError(f"{name}: has {len(sides)} entries for {len(rows)} rows")
            kind = "cover" if sign < 0 else "packing"
            for i, (row, side) in enumerate(zip(rows, sides, strict=True)):
                if len(row) != n:
                    raise ValueError(f"{kind}[{i}]: has {len(row)} entries for {n} columns")
                if not any(row):
                    raise ValueError(f"{kind}[{i}]: is 0, so it says nothing")
                if sign * (self.total(row) - side) > 0:
                    raise ValueError(f"point: breaks {kind}[{i}]")
        return self

    @property
    def multiplicity(self) -> tuple[int, ...]:
        """How many variables have each column."""
        return (1,) * len(self.cost) if self.counts is None else self.counts

    @property
    def covers(self) -> int:
        """m, the number of cover rows of all copies."""
        return self.copies * len(self.cover)

    @property
    def packings(self) -> int:
        """r, the number of packing rows of all copies."""
        return self.copies * len(self.packing)

    def total(self, row: Rationals) -> Fraction:
        """Return the value of a row of one copy at x-bar."""
        terms = zip(row, self.point, self.multiplicity, strict=True)
        return sum((a * x * count for a, x, count in terms), Fraction(0))

    def spread(self, row: Rationals) -> list[Fraction]:
        """Return a row of one copy, one entry a variable."""
        return [a for a, count in zip(row, self.multiplicity, strict=True) for _ in range(count)]


class MixedFacts:
    """The widths and gains of a program, and whether its point is an optimum of the relaxation.

    Parameters
    ----------
    instance : MixedProgram
    seed : int
        Not used: nothing is drawn.
    delta : float, optional
        In place of the program's own.
    """

    def __init__(self, instance: MixedProgram, seed: int, *, delta: Delta | None = None) -> None:
        del seed
        self.instance = instance = at_delta(instance, delta)
        self.delta = float(instance.delta)
        self.cover_width = _width(instance.cover, instance.needs)
        self.packing_width = _width(instance.packing, instance.limits)

    @property
    def optimal(self) -> bool:
        """Whether x-bar is an optimum of the relaxation, in which variables of one column are equal: their mean is."""
        rests_on(Proof.EXACT)
        return self._optimal

    @cached_property
    def _optimal(self) -> bool:
        program = self.instance
        each = [_times(row, program.multiplicity) for row in (program.cost, *program.cover, *program.packing)]
        cost, cover, packing = each[0], each[1 : 1 + len(program.cover)], each[1 + len(program.cover) :]
        found = exactly(lambda: optimum(cost, cover, program.needs, packing, program.limits))
        unit = small_unit(max(program.cost))
        return found is not None and agree(program.total(program.cost), found.bound, unit=unit)

    @property
    def integral(self) -> bool:
        """Whether the program has an integral point. Copies, and variables of one column, are alike: sums are asked."""
        rests_on(Proof.EXACT)
        return self._integral

    @cached_property
    def _integral(self) -> bool:
        program = self.instance
        free = (Fraction(0),) * len(program.cost)
        rows = (program.cover, program.needs, program.packing, program.limits)
        return exactly(lambda: optimum(free, *rows, integer=True)) is not None

    def shrink(self, delta: float | None = None, variant: Gain = Gain.PRINTED) -> float:
        """Return G of Lemma 1, at most 1; at another delta where one is given."""
        rows = self.instance.packings
        return exactly(lambda: gain_packing(self.packing_width, rows, delta or self.delta, variant, events=3))

    def stretch(self, delta: float | None = None, variant: Gain = Gain.PRINTED) -> float:
        """Return G of Lemma 2, at least 1; at another delta where one is given."""
        return exactly(lambda: gain_cover(self.cover_width, self.instance.covers, delta or self.delta, variant))


def at_delta(instance: D, delta: float | None) -> D:
    """Return a document with another delta, where one is given."""
    return instance if delta is None else instance.model_copy(update={"delta": rational(delta)})


def _width(rows: Sequence[Rationals], sides: Rationals) -> float:
    return width([[float(a) for a in row] for row in rows], [float(side) for side in sides])


def _times(row: Rationals, counts: Sequence[int]) -> Rationals:
    return tuple(a * n for a, n in zip(row, counts, strict=True))
