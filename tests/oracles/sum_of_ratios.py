"""Algorithm 1 of the SMD paper in exact rationals, and its continuous optimum by another road.

`algorithm_1` lists, for every grid point, all vertices of the region of (14): two variables, no linear program, no
float. `bracket` knows nothing of grids: for a number of workers the best number of servers has a closed form, and the
workers' axis is halved until the least completion time is known to within a factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

Line = tuple[Fraction, Fraction, Fraction]
"""(a, b, c): the half-plane a x + b y <= c, or the linear function a x + b y + c."""

Quotient = tuple[Line, Line]
"""A ratio of two linear functions."""

Pair = tuple[Fraction, Fraction]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Result:
    """What Algorithm 1 gives; `cost` and `x` are None where no grid point is feasible."""

    cost: Fraction | None
    x: Pair | None
    points: int
    feasible: int
    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]
    last: int


def algorithm_1(ratios: Sequence[Quotient], region: Sequence[Line], epsilon: Fraction, *, top: bool = False) -> Result:
    """Run Algorithm 1 on a sum of positive ratios over a bounded polygon; `top` appends phi_j to each grid."""
    vertices = corners(region)
    values = [[_value(ratio, x) for x in vertices] for ratio in ratios]
    lower, upper = tuple(map(min, values)), tuple(map(max, values))
    last = max(range(len(ratios)), key=lambda j: (upper[j] / lower[j], -j))
    others = [j for j in range(len(ratios)) if j != last]
    grids = [_grid(lower[j], upper[j], epsilon, top) for j in others]
    best: tuple[Fraction, Pair] | None = None
    points = feasible = 0
    for nu in product(*grids):
        points += 1
        cuts = [_cut(ratios[j], cap) for j, cap in zip(others, nu, strict=True)]
        found = [(sum(nu) + _value(ratios[last], x), x) for x in corners([*region, *cuts])]
        if found:
            feasible += 1
            least = min(found)
            if best is None or least[0] < best[0]:
                best = least
    cost, x = best or (None, None)
    return Result(cost, x, points, feasible, lower, upper, last)


def _grid(lower: Fraction, upper: Fraction, epsilon: Fraction, top: bool) -> list[Fraction]:
    values = [lower]
    while values[-1] * (1 + epsilon) <= upper:
        values.append(values[-1] * (1 + epsilon))
    return [*values, upper] if top and values[-1] < upper else values


def _value(ratio: Quotient, x: Pair) -> Fraction:
    above, below = (a * x[0] + b * x[1] + c for a, b, c in ratio)
    return above / below


def _cut(ratio: Quotient, cap: Fraction) -> Line:
    """Return the half-plane on which a ratio with a positive denominator is at most `cap`."""
    (a, b, q), (c, d, e) = ratio
    return a - cap * c, b - cap * d, cap * e - q


def corners(lines: Sequence[Line]) -> list[Pair]:
    """Return the vertices of a bounded polygon, those where several pairs of lines meet several times."""
    found = []
    for (a, b, c), (d, e, f) in combinations(lines, 2):
        determinant = a * e - b * d
        if determinant:
            x = (c * e - b * f) / determinant, (a * f - c * d) / determinant
            if all(g * x[0] + h * x[1] <= k for g, h, k in lines):
                found.append(x)
    return found


def bracket(
    theta: Sequence[float], rows: Sequence[tuple[float, float, float]], gap: float = 1e-4
) -> tuple[float, float]:
    """Return bounds on the least tau of (9), five coefficients, or (10), four, over real w, p >= 1.

    Parameters
    ----------
    theta : sequence of float
    rows : sequence of (O, G, v)
        The limits O w + G p <= v; together they bound w and p.
    gap : float
        The relative difference of the two bounds.
    """
    most = min((v - g) / o for o, g, v in rows if o)
    a, b, upper = np.array([1.0]), np.array([float(most)]), np.inf
    while a.size:
        upper = min(upper, float(_least(theta, a, a, _room(rows, a)).min()))
        open_ = _least(theta, a, b, _room(rows, a)) < upper * (1 - gap)
        a, b, middle = a[open_], b[open_], (a[open_] + b[open_]) / 2
        a, b = np.concatenate([a, middle]), np.concatenate([middle, b])
    return upper * (1 - gap), upper


def _room(rows: Sequence[tuple[float, float, float]], w: Floats) -> Floats:
    """Return the most servers beside w workers, which falls with w."""
    return np.maximum(1.0, np.min([(v - o * w) / g for o, g, v in rows if g], axis=0))


def _least(theta: Sequence[float], a: Floats, b: Floats, most: Floats) -> Floats:
    """Return at most the least tau for workers in [a, b], exactly where a = b; each term by itself."""
    if len(theta) == 5:
        return np.asarray(theta[0] * a + theta[2] + theta[4] / b + _servers(theta[1] + 0 * a, theta[3] * a, most))
    return np.asarray(theta[0] + theta[2] / b + _servers(theta[1] / b, theta[3] + 0 * a, most))


def _servers(rising: Floats, falling: Floats, most: Floats) -> Floats:
    """Return the least rising p + falling / p over 1 <= p <= most."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(rising > 0, np.sqrt(falling / rising), most)
    p = np.clip(p, 1.0, most)
    return np.asarray(rising * p + falling / p)
