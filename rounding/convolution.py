"""Exact laws of sums of independent vectors of integers, added one by one.

A term is a list of (weight, vector): its outcomes and their probabilities, scaled to integers. All arithmetic is on
integers of any size, so nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Vector = tuple[int, ...]
Term = Sequence[tuple[int, Vector]]

MAX_SUMS = 2**22
"""The most partial sums that a convolution holds. Arbitrary: hundreds of megabytes, in exact numbers."""


def distribution(terms: Sequence[Term], width: int) -> dict[Vector, Fraction]:
    """Return the law of the sum of independent terms.

    Parameters
    ----------
    terms : sequence of terms
    width : int
        Length of the vectors.

    Raises
    ------
    ValueError
        If there are more than `MAX_SUMS` distinct partial sums.
    """
    sums = {(0,) * width: 1}
    total = 1
    for term in terms:
        spread: dict[Vector, int] = {}
        for before, weight in sums.items():
            for times, vector in term:
                after = tuple(a + b for a, b in zip(before, vector, strict=True))
                spread[after] = spread.get(after, 0) + weight * times
        sums = spread
        total *= sum(times for times, _ in term)
        _limit(sums)
    return {vector: Fraction(weight, total) for vector, weight in sums.items()}


def probability_beyond(terms: Sequence[Term], room: Vector) -> Fraction:
    """Return the probability that the sum of independent terms exceeds `room` in some coordinate.

    Room that suffices for whatever the rest may add is cut to exactly that much, and a vector that no rest can save is
    counted as beyond at once; so most vectors merge.

    Parameters
    ----------
    terms : sequence of terms
        Added in the order given; large ones first settle the sum soonest.
    room : tuple of int

    Raises
    ------
    ValueError
        As `distribution`.
    """
    worst, best = [[0] * len(room)], [[0] * len(room)]
    for term in reversed(terms):
        columns = list(zip(*(vector for _, vector in term), strict=True))
        worst.append([total + max(column) for total, column in zip(worst[-1], columns, strict=True)])
        best.append([total + min(column) for total, column in zip(best[-1], columns, strict=True)])
    total = 1
    kept, beyond = _settle({room: 1}, best[-1], worst[-1])
    for k, term in enumerate(terms):
        rest = len(terms) - k - 1
        spread: dict[Vector, int] = {}
        for left, weight in kept.items():
            for times, vector in term:
                after = tuple(a - b for a, b in zip(left, vector, strict=True)) if any(vector) else left
                spread[after] = spread.get(after, 0) + weight * times
        whole = sum(times for times, _ in term)
        kept, lost = _settle(spread, best[rest], worst[rest])
        beyond, total = beyond * whole + lost, total * whole
        _limit(kept)
    return Fraction(beyond, total)


def _settle(weights: dict[Vector, int], best: Sequence[int], worst: Sequence[int]) -> tuple[dict[Vector, int], int]:
    """Return the vectors of room that the rest decides, cut to what it can add, and the weight of the lost ones."""
    kept: dict[Vector, int] = {}
    lost = 0
    for left, weight in weights.items():
        if any(room < least for room, least in zip(left, best, strict=True)):
            lost += weight
        elif any(room < most for room, most in zip(left, worst, strict=True)):
            cut = tuple(min(room, most) for room, most in zip(left, worst, strict=True))
            kept[cut] = kept.get(cut, 0) + weight
    return kept, lost


def _limit(sums: dict[Vector, int]) -> None:
    if len(sums) > MAX_SUMS:
        raise ValueError(f"there are more than {MAX_SUMS} distinct partial sums: sample instead")
