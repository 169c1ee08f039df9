"""Utilities: values by hand, no overflow, shape."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from dlsched.models import InputError
from dlsched.models.utility import Utility

PARSE = TypeAdapter(Utility).validate_python


@pytest.mark.parametrize(
    ("data", "x", "value"),
    [
        ({"kind": "table", "values": [10, 4]}, 1, 4),
        ({"kind": "table", "values": [10, 4]}, 2, 0),
        ({"kind": "table", "values": [10, 4]}, -3, 10),
        ({"kind": "sigmoid", "height": 8, "steepness": 1, "midpoint": 2}, 2, 4),
        ({"kind": "sigmoid", "height": 8, "steepness": 1000, "midpoint": 0}, 10**6, 0),
        ({"kind": "sigmoid", "height": 8, "steepness": -1000, "midpoint": 0}, 10**6, 8),
        ({"kind": "sqrt", "scale": 3}, 16, 12),
        ({"kind": "log", "scale": 2}, math.e - 1, 2),
        ({"kind": "linear", "intercept": 10, "slope": 3}, 2, 4),
        ({"kind": "linear", "intercept": 10, "slope": 3}, 9, 0),
        ({"kind": "power", "scale": 2, "exponent": 3}, 2, 16),
        ({"kind": "power", "scale": 2, "exponent": "1/2"}, 9, 6),
        ({"kind": "power", "scale": -1, "exponent": 2}, 3, -9),
        ({"kind": "hyperbolic", "scale": 12}, 3, 3),
        ({"kind": "step", "value": 5, "deadline": 3}, 3, 5),
        ({"kind": "step", "value": 5, "deadline": 3}, "7/2", 0),
    ],
)
def test_values(data: dict[str, Any], x: Any, value: float) -> None:
    utility = PARSE(data)
    argument = Fraction(x) if isinstance(x, str) else x
    assert utility(argument) == pytest.approx(value, abs=1e-12)
    assert float(utility.exact(argument)) == pytest.approx(value, abs=1e-12)


def test_rational_kinds_are_exact() -> None:
    assert PARSE({"kind": "hyperbolic", "scale": 10}).exact(2) == Fraction(10, 3)
    assert PARSE({"kind": "linear", "intercept": "1/3", "slope": "1/7"}).exact(1) == Fraction(4, 21)
    assert PARSE({"kind": "power", "scale": 1, "exponent": 2}).exact(Fraction(1, 3)) == Fraction(1, 9)


def test_shape() -> None:
    points = range(6)
    falling, rising = PARSE({"kind": "hyperbolic", "scale": 4}), PARSE({"kind": "sqrt", "scale": 4})
    bent = PARSE({"kind": "table", "values": [1, 3, 2]})
    assert falling.is_monotone(points, increasing=False)
    assert not falling.is_monotone(points, increasing=True)
    assert falling.is_monotone(points)
    assert PARSE({"kind": "step", "value": 0, "deadline": 1}).is_monotone(points, increasing=True)
    assert not PARSE({"kind": "step", "value": 1, "deadline": 1}).is_monotone(points, increasing=True)
    assert rising.is_monotone(points, increasing=True)
    assert not bent.is_monotone(range(3))
    assert rising.is_concave(points)
    assert not falling.is_concave(points)
    assert PARSE({"kind": "linear", "intercept": 10, "slope": 1}).is_concave(points)


def test_log_at_zero_has_no_value() -> None:
    with pytest.raises(InputError, match="minus infinity"):
        PARSE({"kind": "log", "scale": 1, "offset": 0})(0)


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "none"},
        {"kind": "table", "values": []},
        {"kind": "table", "values": [-1]},
        {"kind": "step", "value": 1, "deadline": -1},
        {"kind": "power", "scale": 1, "exponent": 0},
        {"kind": "sqrt", "scale": 1, "extra": 1},
    ],
)
def test_bad_utilities_are_refused(data: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PARSE(data)


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "sigmoid", "height": 8, "steepness": 1, "midpoint": 2},
        {"kind": "sigmoid", "height": 8, "steepness": -1, "midpoint": 2},
        {"kind": "sqrt", "scale": 3},
        {"kind": "log", "scale": 2},
        {"kind": "linear", "intercept": 10, "slope": 3},
        {"kind": "linear", "intercept": 10, "slope": -3},
        {"kind": "power", "scale": 2, "exponent": "1/2"},
        {"kind": "power", "scale": -2, "exponent": 2},
        {"kind": "hyperbolic", "scale": 12},
        {"kind": "step", "value": 5, "deadline": 3},
        {"kind": "table", "values": [5, 4, 4]},
        {"kind": "table", "values": [0, 0]},
        {"kind": "table", "values": [1, 2, 3, 4, 5, 6, 7, 8, 9]},
        {"kind": "table", "values": [1, 2, 3, 4, 5, 6, 7]},
    ],
)
def test_what_is_known_of_a_kind_is_what_its_values_do(data: dict[str, Any]) -> None:
    utility = PARSE(data)
    values = [utility.exact(x) for x in range(8)]
    assert utility.is_monotone(range(8), increasing=True) == (values == sorted(values))
    assert utility.is_monotone(range(8), increasing=False) == (values == sorted(values, reverse=True))
