"""Optima of linear programs and integer ones with cover and packing rows, over the rationals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

from dlsched.algorithms.exact.certificates.enclosure import Enclosure, enclose
from dlsched.algorithms.exact.certificates.program import ProgramBuilder
from dlsched.algorithms.exact.certificates.tree import GaveUp
from dlsched.bounds.claim import Undecided
from dlsched.tolerances import TILT

Rationals = tuple[Fraction, ...]
T = TypeVar("T")


def exactly(value: Callable[[], T]) -> T:
    """Return what a function of this module or `dlsched.rounding` answers; undecided where it refuses."""
    try:
        return value()
    except ValueError as limit:
        raise Undecided(str(limit)) from None


def relaxed_optimum(
    cost: Rationals,
    cover: Sequence[Rationals],
    needs: Rationals,
    packing: Sequence[Rationals],
    limits: Rationals,
) -> Rationals | None:
    """Return an optimum of min c x, A x >= a, B x <= b, x >= 0 in rationals; None where there is none.

    The solver's point is read as rationals of small denominators; multipliers of the rows prove that nothing is better.

    Raises
    ------
    ValueError
        If no such rationals are found, or no multipliers.
    """
    found = optimum(cost, cover, needs, packing, limits)
    return None if found is None else found.point


def relaxed_optima(
    cost: Rationals,
    cover: Sequence[Rationals],
    needs: Rationals,
    packing: Sequence[Rationals],
    limits: Rationals,
) -> tuple[Rationals, ...]:
    """Return several basic optima where there are several.

    They are the solver's, and those that prefer the first columns, the last ones, or one of those that cost and cover
    the same, as far as these are known in rationals. Parameters and errors are those of `relaxed_optimum`; empty where
    there is no optimum.
    """
    rows = (cover, needs, packing, limits)
    first = relaxed_optimum(cost, *rows)
    if first is None:
        return ()
    found, step, columns = [first], TILT * max(cost), range(len(cost))
    worth = list(zip(cost, *cover, strict=True))  # what a unit costs and covers
    tied = [[k != j for k in columns] for j in columns if worth.count(worth[j]) > 1]
    for later in (columns, columns[::-1], *tied):
        try:
            other = relaxed_optimum(tuple(c + step * k for c, k in zip(cost, later, strict=True)), *rows)
        except ValueError:  # with costs of so many digits; the first optimum is one all the same
            continue
        if other is not None and other not in found and dot(cost, other) == dot(cost, first):
            found.append(other)
    return tuple(found)


def with_mean(points: Sequence[Rationals]) -> tuple[Rationals, ...]:
    """Return points, if there are any, and their mean, the last."""
    mean = tuple(sum(xs, Fraction(0)) / len(points) for xs in zip(*points, strict=True))
    return tuple(dict.fromkeys((*points, mean))) if points else ()


def optimum(
    cost: Rationals,
    cover: Sequence[Rationals],
    needs: Rationals,
    packing: Sequence[Rationals],
    limits: Rationals,
    *,
    integer: bool = False,
) -> Enclosure | None:
    """Return the optimum of the relaxation, or of the program; no variable is larger than cover rows alone want it."""
    builder = ProgramBuilder("relaxation", "minimize")
    for j, price in enumerate(cost):
        wanted = (need / row[j] for row, need in zip(cover, needs, strict=True) if row[j])
        most = max(wanted, default=Fraction(0))
        builder.column(f"x[{j}]", math.ceil(most) if integer else most, cost=price, integer=integer)
    for i, (row, need) in enumerate(zip(cover, needs, strict=True)):
        builder.row(f"cover[{i}]", enumerate(row), lower=need)
    for i, (row, limit) in enumerate(zip(packing, limits, strict=True)):
        builder.row(f"packing[{i}]", enumerate(row), upper=limit)
    try:
        return enclose(builder.program())
    except GaveUp as failure:
        kind = "program" if integer else "relaxation"
        raise ValueError(f"the {kind}'s optimum is not known: {failure}") from None


def dot(row: Rationals, point: Rationals) -> Fraction:
    """Return the exact product of two vectors."""
    return sum((a * x for a, x in zip(row, point, strict=True)), Fraction(0))
