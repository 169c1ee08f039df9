"""The best choice of a knapsack with several rows, by trying all of them, in rationals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Numbers = Sequence[Fraction]


def optimum(
    values: Sequence[Fraction], weights: Sequence[Sequence[Fraction]], capacity: Sequence[Fraction]
) -> Fraction:
    """Return what the best choice is worth.

    Each item doubles the choices: those before, without it and with it.
    """
    choices = [(Fraction(0), [Fraction(0)] * len(capacity))]
    for worth, needs in zip(values, weights, strict=True):
        choices += [(value + worth, [a + b for a, b in zip(use, needs, strict=True)]) for value, use in choices]
    return max(value for value, use in choices if all(used <= room for used, room in zip(use, capacity, strict=True)))
