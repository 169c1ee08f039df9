"""Exact optima of small boxed linear programs by a look at every vertex, in rationals, from the specification."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from .random_models import Spec

Halfspace = tuple[tuple[Fraction, ...], Fraction]


def optimum(spec: Spec) -> Fraction | None:
    """Return the optimum of the continuous relaxation of a boxed specification, None if it has no point."""
    costs = tuple(Fraction(c) for c in spec.costs)
    best = best_vertex(costs, _halfspaces(spec), maximise=spec.maximise)
    return None if best is None else best + spec.constant


def best_vertex(costs: tuple[Fraction, ...], halfspaces: list[Halfspace], *, maximise: bool) -> Fraction | None:
    """Return the best value of a vertex of a bounded polyhedron, None if it has none."""
    size = len(costs)
    best: Fraction | None = None
    for chosen in combinations(halfspaces, size):
        vertex = _solve([[*a, b] for a, b in chosen], size)
        if vertex is None or any(_dot(a, vertex) > b for a, b in halfspaces):
            continue
        value = _dot(costs, vertex)
        if best is None or (value > best) == maximise:
            best = value
    return best


def lagrangian_bound(spec: Spec, prices: dict[int, Fraction]) -> Fraction | None:
    """Return the bound on the optimum that prices of the rows prove, None if a price sits on a side a row lacks.

    Each row and each variable contributes its price (reduced cost) times the side that is worse for the objective.
    """
    bound = Fraction(spec.constant)
    reduced = [Fraction(c) for c in spec.costs]
    for i, price in prices.items():
        row = spec.rows[i]
        share = _worst(price, _shift(row.lower, row.constant), _shift(row.upper, row.constant), spec.maximise)
        if share is None:
            return None
        bound += share
        reduced = [c - price * a for c, a in zip(reduced, row.coefficients, strict=True)]
    for cost, variable in zip(reduced, spec.variables, strict=True):
        share = _worst(cost, *variable.bounds(), spec.maximise)
        if share is None:
            return None
        bound += share
    return bound


def _shift(side: int | None, constant: int) -> Fraction | None:
    return None if side is None else Fraction(side - constant)


def _worst(price: Fraction, lower: Fraction | None, upper: Fraction | None, maximise: bool) -> Fraction | None:
    if not price:
        return Fraction(0)
    side = lower if (price > 0) != maximise else upper
    return None if side is None else price * side


def _halfspaces(spec: Spec) -> list[Halfspace]:
    found = []
    for j, variable in enumerate(spec.variables):
        unit = tuple(Fraction(int(j == k)) for k in range(len(spec.variables)))
        found += sides(unit, *variable.bounds())
    for row in spec.rows:
        a = tuple(Fraction(c) for c in row.coefficients)
        found += sides(a, _shift(row.lower, row.constant), _shift(row.upper, row.constant))
    return found


def sides(a: tuple[Fraction, ...], lower: Fraction | None, upper: Fraction | None) -> list[Halfspace]:
    """Return the halfspaces of a row, or of a bound."""
    below = [] if upper is None else [(a, upper)]
    return below if lower is None else [*below, (tuple(-c for c in a), -lower)]


def _dot(a: tuple[Fraction, ...], x: tuple[Fraction, ...]) -> Fraction:
    return sum((c * v for c, v in zip(a, x, strict=True)), Fraction(0))


def _solve(system: list[list[Fraction]], size: int) -> tuple[Fraction, ...] | None:
    for k in range(size):
        pivot = next((r for r in range(k, size) if system[r][k]), None)
        if pivot is None:
            return None
        system[k], system[pivot] = system[pivot], system[k]
        system[k] = [value / system[k][k] for value in system[k]]
        for r in range(size):
            if r != k and system[r][k]:
                factor = system[r][k]
                system[r] = [a - factor * b for a, b in zip(system[r], system[k], strict=True)]
    return tuple(row[-1] for row in system)
