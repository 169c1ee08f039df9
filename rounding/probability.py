"""Exact probabilities of independent randomized rounding: the law of the outcome, and how often rows break.

Numbers are read as `dlsched.models.numbers.rational` reads them, so that a row that is met with equality is not broken,
and probabilities come back as rationals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import product

import numpy as np

from dlsched.arguments import checked
from dlsched.arithmetic import exact_power
from dlsched.errors import InputError
from dlsched.models.numbers import amount, to_integers
from dlsched.rounding.convolution import probability_beyond
from dlsched.rounding.independent import Ints

Number = int | float | Fraction

MAX_OUTCOMES = 2**20
"""The most outcomes that are listed: those of twenty coins. Arbitrary."""

_LARGEST = 2**62
"""Size of a coordinate up to which outcomes are listed: half of what int64 holds, so that one more is in it too."""


class Method(StrEnum):
    """How a probability is computed."""

    ENUMERATION = "enumeration"
    CONVOLUTION = "convolution"


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The law of a rounded point.

    Attributes
    ----------
    points : ndarray of int64, shape (k, n)
        The outcomes of positive probability, in lexicographic order.
    probabilities : tuple of Fraction
        Of each; they sum to 1.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.rounding import outcome_distribution
    >>> law = outcome_distribution([Fraction(1, 3), 1, Fraction(5, 4)])
    >>> for point, probability in zip(law.points.tolist(), law.probabilities):
    ...     print(point, probability)
    [0, 1, 1] 1/2
    [0, 1, 2] 1/6
    [1, 1, 1] 1/4
    [1, 1, 2] 1/12
    """

    points: Ints
    probabilities: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class _Coordinate:
    """A coordinate's floor, and the probability of going up."""

    floor: int
    up: Fraction

    @property
    def outcomes(self) -> tuple[tuple[int, Fraction], ...]:
        if not self.up:
            return ((self.floor, Fraction(1)),)
        return ((self.floor, 1 - self.up), (self.floor + 1, self.up))


def _coordinates(x: Sequence[Number]) -> list[_Coordinate]:
    values = [amount(f"x[{i}]", value) for i, value in enumerate(x)]
    return [_Coordinate(math.floor(value), value - math.floor(value)) for value in values]


@checked
def outcome_distribution(x: Sequence[Number]) -> Outcomes:
    """Return the exact law of the independent rounding of x.

    Parameters
    ----------
    x : sequence of n numbers
        The point that is rounded, its gain applied.

    Raises
    ------
    InputError
        If there are more than `MAX_OUTCOMES` outcomes, or a number is not finite or beyond what int64 holds.

    References
    ----------
    SMD, Algorithm 2, step 2.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.rounding import outcome_distribution
    >>> law = outcome_distribution([Fraction(1, 2)] * 3)
    >>> print(sum(p for point, p in zip(law.points, law.probabilities) if point.sum() >= 2))
    1/2
    """
    coordinates = _coordinates(x)
    fractional = sum(1 for coordinate in coordinates if coordinate.up)
    if exact_power(2, fractional) > MAX_OUTCOMES:
        raise InputError(
            f"x: {fractional} fractional coordinates have 2^{fractional} outcomes; at most {MAX_OUTCOMES} are listed "
            "(violation_probability convolves instead)"
        )
    large = next((i for i, coordinate in enumerate(coordinates) if abs(coordinate.floor) > _LARGEST), None)
    if large is not None:
        raise InputError(f"x[{large}]: {float(x[large]):.9g} must be at most 2^62 in size")
    listed = list(product(*(coordinate.outcomes for coordinate in coordinates)))
    points = np.array([[value for value, _ in outcome] for outcome in listed], dtype=np.int64)
    return Outcomes(
        points.reshape(len(listed), len(coordinates)),
        tuple(math.prod((p for _, p in outcome), start=Fraction(1)) for outcome in listed),
    )


@checked
def violation_probability(
    row: Sequence[Number],
    x: Sequence[Number],
    rhs: Number,
    sense: str = "<=",
    method: str | Method = Method.CONVOLUTION,
) -> Fraction:
    """Return the exact probability that the rounding of x breaks ``row . x <= rhs`` (or ``>=``).

    Parameters
    ----------
    row : sequence of n numbers
    x : sequence of n numbers
        The point that is rounded, its gain applied.
    rhs : number
    sense : {"<=", ">="}
        Of the row; equality does not break it.
    method : {"convolution", "enumeration"}
        Over the distinct values of partial sums, of which a row of few distinct coefficients has few, however many
        variables it has; or over all outcomes.

    Raises
    ------
    InputError
        If there are too many outcomes or partial sums, the lengths differ, or the sense is unknown.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.rounding import violation_probability
    >>> print(violation_probability([2, 3, 1], [Fraction(1, 2)] * 3, rhs=4))
    1/4
    >>> print(f"{float(violation_probability([1] * 300, [Fraction(1, 2)] * 300, rhs=180)):.3e}")
    2.053e-04
    """
    return joint_violation_probability([row], x, [rhs], sense, method)


@checked
def joint_violation_probability(
    B: Sequence[Sequence[Number]],
    x: Sequence[Number],
    b: Sequence[Number],
    sense: str = "<=",
    method: str | Method = Method.CONVOLUTION,
) -> Fraction:
    """Return the exact probability that the rounding of x breaks some row of B x <= b (or >=).

    Parameters
    ----------
    B : sequence of r sequences of n numbers
    x : sequence of n numbers
    b : sequence of r numbers
    sense, method
        As for `violation_probability`.

    Raises
    ------
    InputError
        As `violation_probability`.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.rounding import joint_violation_probability, violation_probability
    >>> rows, room, x = [[2, 3, 1], [1, 0, 4]], [4, 4], [Fraction(1, 2)] * 3
    >>> print([str(violation_probability(row, x, rhs)) for row, rhs in zip(rows, room)])
    ['1/4', '1/4']
    >>> print(joint_violation_probability(rows, x, room))
    3/8
    """
    if sense not in ("<=", ">="):
        raise InputError(f"sense: {sense!r} is neither '<=' nor '>='")
    sign = 1 if sense == "<=" else -1
    columns, room = _integers(B, b, len(x), sign)
    coordinates = _coordinates(x)
    if Method(method) is Method.ENUMERATION:
        return _by_enumeration(columns, room, x)
    return _by_convolution(columns, room, coordinates)


def _integers(
    B: Sequence[Sequence[Number]], b: Sequence[Number], n: int, sign: int
) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """Return the columns and the right-hand sides of <= rows, scaled to integers; right-hand sides are rounded down."""
    if len(B) != len(b):
        raise InputError(f"B: has {len(B)} rows and b {len(b)} entries")
    scaled = []
    for i, (row, rhs) in enumerate(zip(B, b, strict=True)):
        if len(row) != n:
            raise InputError(f"row {i}: has {len(row)} entries, x has {n}")
        integers, common = to_integers(sign * amount(f"row {i}[{j}]", value) for j, value in enumerate(row))
        scaled.append([*integers, math.floor(sign * common * amount(f"b[{i}]", rhs))])
    return [tuple(row[j] for row in scaled) for j in range(n)], tuple(row[n] for row in scaled)


def _by_enumeration(columns: list[tuple[int, ...]], room: tuple[int, ...], x: Sequence[Number]) -> Fraction:
    law = outcome_distribution(x)
    broken = Fraction(0)
    for point, probability in zip(law.points.tolist(), law.probabilities, strict=True):
        sums = (sum(column[i] * value for column, value in zip(columns, point, strict=True)) for i in range(len(room)))
        if any(total > limit for total, limit in zip(sums, room, strict=True)):
            broken += probability
    return broken


def _by_convolution(columns: list[tuple[int, ...]], room: tuple[int, ...], coordinates: list[_Coordinate]) -> Fraction:
    """Add the coordinates that go up one by one to the floors."""
    pairs = list(zip(coordinates, columns, strict=True))
    floors = [sum(c.floor * column[i] for c, column in pairs) for i in range(len(room))]
    free = [(c.up, column) for c, column in pairs if c.up and any(column)]
    stay = (0,) * len(room)
    terms = [((up.denominator - up.numerator, stay), (up.numerator, column)) for up, column in free]
    return probability_beyond(terms, tuple(limit - floor for limit, floor in zip(room, floors, strict=True)))
