"""Numbers are parsed exactly, or refused."""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlsched.models.numbers import agree, exceeds, rational, slack, splits, to_integers, to_json


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (3, Fraction(3)),
        ("80/3", Fraction(80, 3)),
        ("-1/2", Fraction(-1, 2)),
        (" 2.50 ", Fraction(5, 2)),
        ("1e-3", Fraction(1, 1000)),
        (0.1, Fraction(1, 10)),
        (1 / 3, Fraction(1, 3)),
        (35.869203207990005, Fraction(35489169, 989405)),
        (1.2345678901e-7, Fraction("1.2345678901e-7")),
        (1e-300, Fraction("1e-300")),
        (Decimal("0.25"), Fraction(1, 4)),
        (np.float64(7.03125), Fraction(225, 32)),  # a float, whose `repr` is no number
    ],
)
def test_what_a_number_stands_for(given_: object, expected: Fraction) -> None:
    assert rational(given_) == expected


@pytest.mark.parametrize(
    "bad",
    [
        float("nan"),
        float("inf"),
        True,
        None,
        "",
        "1/0",
        "one",
        "1/2/3",
        "0x10",
        [],
        "9" * 500,
        "1e9999",
        Decimal("NaN"),
    ],
)
def test_what_is_no_number_is_refused(bad: object) -> None:
    with pytest.raises(ValueError, match=r"must be|has denominator 0"):
        rational(bad)


@pytest.mark.slow
@given(st.fractions())
def test_json_reads_back_the_same(value: Fraction) -> None:
    assert rational(to_json(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_keeps_its_value(value: float) -> None:
    assert abs(float(rational(value)) - value) <= 1e-12 * abs(value)
    assert rational(to_json(rational(value))) == rational(value)


@pytest.mark.slow
@given(st.lists(st.fractions(max_denominator=50), max_size=6))
def test_scaling_to_integers_is_exact(values: list[Fraction]) -> None:
    integers, scale = to_integers(values)
    assert [Fraction(n, scale) for n in integers] == values


def test_equality_is_relative_above_one() -> None:
    assert agree(1000.0, 1000.0009)
    assert not agree(1.0, 1.0009)
    assert not agree(0.0, 2e-6)
    assert exceeds(1.0 + 3e-6, 1.0)
    assert not exceeds(1.0, 1.0 + 3e-6)
    assert slack(0.0) == 1e-6


@given(st.lists(st.integers(-1, 3), max_size=5), st.integers(0, 8))
def test_a_number_is_shared_in_every_way_and_in_order(rooms: list[int], total: int) -> None:
    every = itertools.product(*(range(room + 1) for room in rooms))
    assert list(splits(total, rooms)) == [shares for shares in every if sum(shares) == total]


@pytest.mark.slow
def test_a_number_is_shared_among_as_many_places_as_there_are() -> None:
    assert sum(1 for _ in splits(1, [1] * 3_000)) == 3_000
