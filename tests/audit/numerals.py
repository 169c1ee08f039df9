"""JSON numbers as exact rationals and back, in the reading that the instances' documentation states."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.oracles.hadar_instance import rational

__all__ = ["exact", "number", "rational"]


def number(value: Fraction) -> int | float | str:
    """Return a JSON number that reads back as exactly this rational."""
    if value.denominator == 1 and abs(value) < 2**53:
        return int(value)
    if 10**-300 < abs(value) < 10**300 and rational(float(value)) == value:
        return float(value)
    return f"{value.numerator}/{value.denominator}"


def exact(data: Any) -> Any:
    """Return JSON data with every float as the ``"p/q"`` that it stands for, so that every reader agrees on it."""
    if isinstance(data, dict):
        return {key: exact(value) for key, value in data.items()}
    if isinstance(data, list):
        return [exact(value) for value in data]
    if isinstance(data, float):
        value = rational(data)
        return f"{value.numerator}/{value.denominator}"
    return data
