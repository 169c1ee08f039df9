"""Exact laws of sums of independent vectors of integers, added one by one.

A term is a list of (weight, vector): its outcomes and their probabilities, scaled to integers. All arithmetic is on
integers of any size, so nothing is rounded.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence, Sized
from fractions import Fraction
from itertools import accumulate
from operator import lt, sub

from dlsched.errors import InputError

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
    InputError
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
        total *= _whole(term)
        _limit(sums)
    return {vector: Fraction(weight, total) for vector, weight in sums.items()}


def probability_beyond(terms: Sequence[Term], room: Vector) -> Fraction:
    """Return the probability that the sum of independent terms exceeds `room` in some coordinate.

    Coordinates that no term joins are independent: each part is added up by itself, and one of a single coordinate from
    both ends, so that either end holds the sums of about half of the terms.

    Parameters
    ----------
    terms : sequence of terms
    room : tuple of int

    Raises
    ------
    InputError
        As `distribution`.
    """
    inside = Fraction(1)
    for rows in _joined(terms, len(room)):
        part = _restricted(terms, rows)
        where = tuple(room[i] for i in rows)
        inside *= 1 - (_beyond_one(part, *where) if len(rows) == 1 else _beyond_some(part, where))
    return 1 - inside


def _joined(terms: Sequence[Term], width: int) -> list[tuple[int, ...]]:
    """Return the coordinates in parts: two that some term changes are in one."""
    parts = [{i} for i in range(width)]
    for changed in {frozenset(i for _, vector in term for i, a in enumerate(vector) if a) for term in terms}:
        touched = [part for part in parts if part & changed]
        parts = [part for part in parts if not part & changed]
        parts += [set().union(*touched)] if touched else []
    return sorted(tuple(sorted(part)) for part in parts)


def _restricted(terms: Sequence[Term], rows: tuple[int, ...]) -> list[Term]:
    """Return the terms in some coordinates, each outcome once, without those that change nothing.

    The largest come first, as they settle the sum soonest; by one coordinate after the other, so that the first is done
    with before others begin.
    """
    made: list[Term] = []
    for term in terms:
        weights: dict[Vector, int] = {}
        for times, vector in term:
            kept = tuple(vector[i] for i in rows)
            weights[kept] = weights.get(kept, 0) + times
        if any(map(any, weights)):
            made.append([(times, vector) for vector, times in weights.items()])
    return sorted(made, key=lambda term: [max(map(abs, column)) for column in _columns(term)], reverse=True)


def _columns(term: Term) -> list[tuple[int, ...]]:
    return list(zip(*(vector for _, vector in term), strict=True))


def _whole(term: Term) -> int:
    return sum(times for times, _ in term)


def _beyond_one(terms: list[Term], room: int) -> Fraction:
    """Return the probability that a sum of integers exceeds `room`.

    What the front has left is decided by what the rest may add, and cut to it; sums of the back which say the same
    whatever the front adds are one. In the end each front looks up how much weight of the back is above it.
    """
    values = [[(times, value) for times, (value,) in term] for term in terms]
    least = [min(value for _, value in term) for term in values]
    most = [max(value for _, value in term) for term in values]
    before = [(0, 0), *zip(accumulate(least), accumulate(most), strict=True)]
    first, last, lost = 0, len(values), 0
    front, back = {room: 1}, {0: 1}
    while first < last:
        if len(front) * len(values[first]) <= len(back) * len(values[last - 1]):
            term, first = values[first], first + 1
            low, high = (end - begun for end, begun in zip(before[-1], before[first], strict=True))
            lost *= sum(times for times, _ in term)
            kept: dict[int, int] = {}
            for left, weight in front.items():
                for times, value in term:
                    if left - value < low:
                        lost += weight * times
                    elif left - value < high:
                        kept[left - value] = kept.get(left - value, 0) + weight * times
            front = kept
        else:
            last -= 1
            within, beyond = room - before[last][1], room - before[last][0] + 1
            spread: dict[int, int] = {}
            for total, weight in back.items():
                for times, value in values[last]:
                    after = max(min(total + value, beyond), within)
                    spread[after] = spread.get(after, 0) + weight * times
            back = spread
        _limit(front)
        _limit(back)
    sums = sorted(back)
    above = [0, *accumulate(back[total] for total in reversed(sums))]
    lost *= above[-1]
    lost += sum(weight * above[len(sums) - bisect_right(sums, left)] for left, weight in front.items())
    return Fraction(lost, math.prod(map(_whole, terms)))


def _beyond_some(terms: list[Term], room: Vector) -> Fraction:
    """Return the probability that a sum of vectors exceeds `room` somewhere, added from the first to the last.

    Room that suffices for whatever the rest may add is cut to exactly that much, and a vector that no rest can save is
    counted as beyond at once; so most vectors merge.
    """
    least, most = [(0,) * len(room)], [(0,) * len(room)]
    for term in reversed(terms):
        columns = _columns(term)
        least.append(tuple(total + min(column) for total, column in zip(least[-1], columns, strict=True)))
        most.append(tuple(total + max(column) for total, column in zip(most[-1], columns, strict=True)))
    lost = 0
    kept = {room: 1}
    for term in terms:
        least.pop()
        most.pop()
        lost *= _whole(term)
        spread: dict[Vector, int] = {}
        for left, weight in kept.items():
            for times, vector in term:
                after = tuple(map(sub, left, vector))
                if any(map(lt, after, least[-1])):
                    lost += weight * times
                elif any(map(lt, after, most[-1])):
                    cut = tuple(map(min, after, most[-1]))
                    spread[cut] = spread.get(cut, 0) + weight * times
        kept = spread
        _limit(kept)
    return Fraction(lost, math.prod(map(_whole, terms)))


def _limit(sums: Sized) -> None:
    if len(sums) > MAX_SUMS:
        raise InputError(f"there are more than {MAX_SUMS} distinct partial sums: sample instead")
