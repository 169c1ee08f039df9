"""Numbers: the one place that parses them, compares them and scales them to integers.

Checkers, dynamic programs and certificates compute in exact rationals (`fractions.Fraction`); models handed to a
solver use floats. A JSON number may be written as a string ``"p/q"``. A JSON float stands for the nearest fraction
with a denominator up to a million where that is within 1e-12 relative, else for its exact decimal.

A number of a document is 0 or between 1e-100 and 1e100 in size. Every number becomes a float somewhere, and so do sums
and products: those of three such numbers, millions of times, are still ordinary floats.

>>> from dlsched.models import numbers
>>> numbers.rational(0.1) + numbers.rational("1/5"), numbers.agree(0.1 + 0.2, 0.3), numbers.is_whole(2.9999999)
(Fraction(3, 10), True, True)
>>> numbers.to_integers([numbers.rational("1/2"), numbers.rational("2/3")])
([3, 4], 6)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from dlsched.errors import InputError, shown
from dlsched.tolerances import SNAP, TOLERANCE, WHOLE

LARGEST = 10**100
"""Numbers of documents are at most this in size, and where they are not 0 at least its reciprocal: the product of
three, millions of times, is still a float (the largest is 1.8e308)."""

MAX_DENOMINATOR = 10**6
"""Of the fraction that a JSON float stands for: six decimals, and ratios of small numbers, are what people write. Part
of the format; squared it is 1e12, so that no two such fractions up to 1 are within `SNAP`."""

_MAX_DIGITS = 400
"""Characters of a number in a string. Arbitrary: a fraction of two integers up to `LARGEST` takes 203."""

_INT64 = 2**62
"""Half of what int64 holds, so that the sum or difference of two such amounts still fits."""

_ROUNDED = 2**40
"""Units that all capacities of a resource come to where they are rounded: rounding takes 1e-12 of them (`ROUNDING`),
and four million needs as large as all of them still add up within int64."""

_RATIONAL = re.compile(r"[+-]?\d+(/\d+)?|[+-]?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d{1,3})?")


def rational(value: object) -> Fraction:
    """Return the exact rational that a number stands for.

    Parameters
    ----------
    value : int, float, Fraction, Decimal or str
        A string is ``"p/q"``, an integer or a decimal.

    Raises
    ------
    ValueError
        If `value` is not a finite number.
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float):
        return _from_float(value)
    if isinstance(value, Decimal) and value.is_finite():
        return Fraction(value)
    if isinstance(value, str):
        return _from_string(value)
    raise ValueError(f'must be a number or a string "p/q", not {shown(value)}')


def amount(place: str, value: object) -> Fraction:
    """Return the rational that an argument stands for, as `rational` does, also of a NumPy scalar.

    Raises
    ------
    InputError
        If it is no finite number; the message begins with the place.
    """
    import numpy as np

    try:
        return rational(value.item() if isinstance(value, np.generic) else value)
    except ValueError as error:
        raise InputError(f"{place}: {error}") from None


@lru_cache(maxsize=2**16)
def _from_float(value: float) -> Fraction:
    """Return what a float stands for; kept, since files of millions of numbers of three digits are common."""
    if not math.isfinite(value):
        raise ValueError(f"must be a finite number, not {value}")
    # The own `repr` of a subclass, as `numpy.float64` is one, names the class.
    decimal = Fraction(*Decimal(float.__repr__(value)).as_integer_ratio())
    if decimal.denominator <= MAX_DENOMINATOR:
        return decimal
    snapped = decimal.limit_denominator(MAX_DENOMINATOR)
    return snapped if abs(snapped - decimal) <= SNAP * abs(decimal) else decimal


def _from_string(value: str) -> Fraction:
    text = value.strip()
    if len(text) > _MAX_DIGITS or not _RATIONAL.fullmatch(text):
        raise ValueError(f'must be a number or a string "p/q", not {shown(value)}')
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise ValueError(f"has denominator 0 in {shown(value)}") from None


def in_range(value: object) -> Fraction:
    """Return the exact rational that a number of a document stands for.

    Raises
    ------
    ValueError
        As `rational`, and if it is neither 0 nor between 1e-100 and 1e100 in size.
    """
    number = rational(value)
    p, q = abs(number.numerator), number.denominator
    if (p > LARGEST or q > LARGEST) and not q <= p * LARGEST <= q * LARGEST * LARGEST:
        seen = size_of(value) if isinstance(value, Fraction) else shown(value)
        raise ValueError(f"{seen} must be 0 or between 1e-100 and 1e100 in size, so that floats hold its products")
    return number


def size_of(number: Fraction) -> str:
    """Return three digits of a rational of any size, to be read by people."""
    return f"{Context(prec=3).divide(Decimal(number.numerator), Decimal(number.denominator)).normalize():g}"


def to_json(value: Fraction) -> int | float | str:
    """Return the JSON form of a rational: an integer or float where that reads back the same, else ``"p/q"``."""
    if value.denominator == 1 and abs(value.numerator) < 2**53:
        return value.numerator
    if max(abs(value.numerator), value.denominator) < 2**1000:
        short = float(value)
        if _from_float(short) == value:
            return short
    return f"{value.numerator}/{value.denominator}"


_SCHEMA: dict[str, Any] = {
    "anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^[+-]?\d+(/\d+)?$|^[+-]?\d*\.?\d+([eE][+-]?\d+)?$"}],
    "description": 'A number, or a string "p/q" for an exact rational; 0 or between 1e-100 and 1e100 in size.',
}

_WRITTEN = PlainSerializer(to_json, return_type=int | float | str)
_DESCRIBED = WithJsonSchema(_SCHEMA)

Number = Annotated[Fraction, BeforeValidator(in_range), _WRITTEN, _DESCRIBED]
"""A pydantic field that holds an exact rational, 0 or between 1e-100 and 1e100 in size."""


def _nonnegative(value: Fraction) -> Fraction:
    if value.numerator < 0:
        raise ValueError(f"{to_json(value)} must not be negative")
    return value


def _positive(value: Fraction) -> Fraction:
    if value.numerator <= 0:
        raise ValueError(f"{to_json(value)} must be positive")
    return value


def _after(check: Any) -> Any:
    return BeforeValidator(lambda value: check(in_range(value)))


NonNegative = Annotated[Fraction, _after(_nonnegative), _WRITTEN, _DESCRIBED]
"""A `Number` that is at least 0."""

Positive = Annotated[Fraction, _after(_positive), _WRITTEN, _DESCRIBED]
"""A `Number` above 0."""


def slack(*values: float | Fraction, unit: float = 1.0) -> float:
    """Return the absolute tolerance for comparing objective values of this size, where differences below `unit` count.

    Parameters
    ----------
    *values : float or Fraction
    unit : float
        What the objective is measured in: values below it are compared as if they were as large.
    """
    return TOLERANCE * max(unit, *(abs(float(v)) for v in values))


def small_unit(greatest: float | Fraction) -> float:
    """Return the unit of values up to a greatest one: that, where it is positive and less than 1, else 1."""
    return min(1.0, float(greatest)) if greatest > 0 else 1.0


def agree(a: float | Fraction, b: float | Fraction, *, unit: float = 1.0) -> bool:
    """Tell whether two objective values are equal within `slack`; an infinite one equals only itself."""
    difference = float(a - b)
    return abs(difference) <= slack(a, b, unit=unit) if math.isfinite(difference) else a == b


def exceeds(a: float | Fraction, b: float | Fraction, *, unit: float = 1.0) -> bool:
    """Tell whether `a` is above `b` by more than `slack`."""
    difference = float(a - b)
    return difference > slack(a, b, unit=unit) if math.isfinite(difference) else a > b


def is_whole(value: float) -> bool:
    """Tell whether a solver's value stands for an integer, that is, is within `WHOLE` of one."""
    return abs(value - round(value)) <= WHOLE


def splits(total: int, rooms: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the ways to share a number among places of some room, in ascending order; none where a room is negative."""
    if not 0 <= total <= sum(rooms) or min(rooms, default=0) < 0:
        return
    shares, left, first = [0] * len(rooms), total, 0
    while True:
        # What is left goes to the last places.
        for k in range(len(rooms) - 1, first - 1, -1):
            shares[k] = min(rooms[k], left)
            left -= shares[k]
        yield tuple(shares)
        for k in range(len(rooms) - 1, -1, -1):
            if left and shares[k] < rooms[k]:
                break
            left += shares[k]
        else:
            return
        shares[k], left, first = shares[k] + 1, left - 1, k + 1


def to_integers(values: Iterable[Fraction]) -> tuple[list[int], int]:
    """Scale rationals to integers.

    Returns
    -------
    integers : list of int
        ``value * scale`` for each value.
    scale : int
        The least common multiple of the denominators.
    """
    fractions = list(values)
    scale = math.lcm(*(v.denominator for v in fractions)) if fractions else 1
    return [v.numerator * (scale // v.denominator) for v in fractions], scale


def integer_dtype(largest: int) -> Any:
    """Return the NumPy type for exact integer arithmetic on amounts whose sums stay at most `largest`.

    That is int64 where nothing can wrap; else object, Python's own integers: slower, and as exact.
    """
    import numpy as np

    return np.int64 if largest < _INT64 else object


def whole_units(
    capacities: Sequence[Fraction], needs: Sequence[Fraction], *, exact: bool = False
) -> tuple[list[int], list[int], bool]:
    """Return capacities and needs of one resource in whole units.

    Parameters
    ----------
    capacities, needs : sequence of Fraction
        Not negative.
    exact : bool
        Nothing may be rounded, however large the integers get.

    Returns
    -------
    capacities, needs : list of int
        Below 2**40 in all unless exact, so that millions of needs add up within int64.
    exact : bool
        False where both were rounded down, as numbers of sixteen digits have no small common unit. Needs that fit a
        capacity together still do, so what is shown impossible is impossible; what fits may exceed a capacity by
        about 1e-12 of it and has to be checked.
    """
    total = sum(capacities, Fraction(0))
    whole, _ = to_integers([*capacities, *needs])
    count = len(capacities)
    if exact or max(sum(whole[:count]), max(whole[count:], default=0)) < _ROUNDED:
        return whole[:count], whole[count:], True
    if not total:
        return [0] * count, [int(need > 0) for need in needs], True
    unit = _ROUNDED / total
    beyond = math.floor(max(capacities) * unit) + 1
    return (
        [math.floor(capacity * unit) for capacity in capacities],
        [min(math.floor(need * unit), beyond) for need in needs],
        False,
    )
