"""Linear-fractional programs in the plane by their vertices: the closed form of Algorithm 1's LPs for two variables.

A linear-fractional function takes its least value over a polygon at a vertex, and allowing ratio j at most nu_j cuts
the polygon by a line. So a grid point's optimum is at one of: a vertex of the polygon, where a cut crosses an edge, or
where two cuts cross. Each candidate depends on at most two coordinates of the grid, and for the others it is feasible
from some step on: the whole grid is the minimum of a few arrays, without any loop over its points.

The vertices are found in rational arithmetic. Floats stand for what `dlsched.models.numbers.rational` reads in them, so
0.1 w + 0.2 p <= 0.3 has the point (1, 1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt

from dlsched.arithmetic import dot, powers_of_two
from dlsched.errors import InputError
from dlsched.models.numbers import rational
from dlsched.models.ratio import Floats, FractionalSum, Polytope, Ratio
from dlsched.relaxations.contract import TransformationRefused
from dlsched.relaxations.ratio_grid import Sweep
from dlsched.solvers.scaling import INFINITE
from dlsched.tolerances import BENT, ON_CAP, ROUNDING

SLAB = 2**20
"""Grid points whose values are held at a time. Arbitrary: 8 MiB an array, of which there are a few."""


class Planar:
    """The oracle for at most two variables.

    Parameters
    ----------
    problem : FractionalSum

    Raises
    ------
    TransformationRefused
        If the polytope is empty or unbounded, or a denominator is not positive on it.
    InputError
        If there are more than two variables.

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.models import FractionalSum, Polytope, Ratio
    >>> from dlsched.relaxations import Planar, sum_of_ratios
    >>> box = Polytope(np.array([[2.0, 1.0]]), np.array([-np.inf]), np.array([12.0]), np.ones(2), np.full(2, 8.0))
    >>> compute = Ratio(np.zeros(2), 12.0, np.array([1.0, 0.0]), 0.0)
    >>> send = Ratio(np.array([1.0, 0.0]), 0.0, np.array([0.0, 1.0]), 0.0)
    >>> problem = FractionalSum((compute, send), box)
    >>> least, greatest = Planar(problem).bounds()
    >>> print(least.round(3), greatest.round(3))
    [2.182 0.125] [12.   5.5]
    >>> print(sum_of_ratios(problem, epsilon=0.01, oracle=Planar).x.round(2))
    [4. 4.]
    """

    def __init__(self, problem: FractionalSum) -> None:
        self._variables = len(problem.polytope.lower)
        if self._variables > 2:
            raise InputError(f"the closed form is for at most two variables, not {self._variables}")
        found = vertices(problem.polytope)
        # Where lines cross is compared in both coordinates at once, and a large one would hide a small one.
        self._unit = powers_of_two(np.abs(found).max(axis=0), _ORDINARY)
        self._ratios = tuple(_padded(ratio, self._unit) for ratio in problem.ratios)
        self._vertices = np.pad(found / self._unit, ((0, 0), (0, 2 - self._variables)))
        self._lines = _lines(problem.polytope, self._unit) if len(found) > 2 else None
        for j, ratio in enumerate(self._ratios):
            below = dot(self._vertices, ratio.denominator) + ratio.denominator_constant
            if not below.min() > ROUNDING * np.abs(below).max():
                raise TransformationRefused(
                    f"the denominator of ratio {j} is {below.min():.6g} somewhere: it must be positive"
                )

    def bounds(self) -> tuple[Floats, Floats]:
        """Return l_j and phi_j, the least and the greatest value of each ratio."""
        values = np.array([ratio(self._vertices) for ratio in self._ratios])
        return values.min(axis=1), values.max(axis=1)

    def sweep(self, last: int, grids: Sequence[Floats]) -> Sweep:
        """Return the least sum of caps and of ratio `last` over the grid of caps on the other ratios.

        Parameters
        ----------
        last : int
            J.
        grids : sequence of ndarray
            The steps of the other ratios, ascending, in their order.
        """
        target, others = self._ratios[last], [ratio for j, ratio in enumerate(self._ratios) if j != last]
        least, caps, feasible = math.inf, None, 0
        for slab in _slabs(grids):
            psi = self._values(target, others, slab)
            feasible += int(np.count_nonzero(psi < np.inf))
            for axis, grid in enumerate(slab):
                psi += _along(grid, axis, len(slab))
            place = np.unravel_index(int(np.argmin(psi)), psi.shape)
            if psi[place] < least:
                least, caps = float(psi[place]), [grid[[k]] for grid, k in zip(slab, place, strict=True)]
        return Sweep(least, None if caps is None else self._point(target, others, caps), feasible)

    def _values(self, target: Ratio, others: list[Ratio], grids: list[Floats]) -> Floats:
        """Return the optimum of (15) at each grid point, infinite where nothing is feasible."""
        values = np.full([len(grid) for grid in grids], np.inf)
        for worth, _ in self._allowed(target, others, grids):
            np.minimum(values, worth, out=values)
        return values

    def _point(self, target: Ratio, others: list[Ratio], caps: list[Floats]) -> Floats:
        """Return where the optimum of one feasible grid point is."""
        found = [(float(worth.min()), points.reshape(2)) for worth, points in self._allowed(target, others, caps)]
        nearest: Floats = min(found, key=lambda pair: pair[0])[1][: self._variables] * self._unit
        return nearest

    def _allowed(self, target: Ratio, others: list[Ratio], grids: list[Floats]) -> Iterator[tuple[Floats, Floats]]:
        """Yield what candidates are worth, infinite where a cap rules them out, and the candidates themselves."""
        for candidates, axes in self._candidates(others, grids):
            values = target(candidates)
            worth = _spread(np.where(np.isnan(values), np.inf, values), axes, len(grids))
            for axis, (ratio, grid) in enumerate(zip(others, grids, strict=True)):
                if axis not in axes:
                    needed = _spread(ratio(candidates), axes, len(grids))
                    worth = np.where(needed <= _along(grid, axis, len(grids)) * (1 + ON_CAP), worth, np.inf)
            yield worth, candidates

    def _candidates(self, others: list[Ratio], grids: list[Floats]) -> Iterator[tuple[Floats, tuple[int, ...]]]:
        """Yield arrays of points in the polygon, NaN where there is none, and the grid's axes that they run along."""
        for vertex in self._vertices:
            yield vertex, ()
        cuts = [_cut(ratio, grid) for ratio, grid in zip(others, grids, strict=True)]
        for axis, cut in enumerate(cuts):
            for k, end in enumerate(self._vertices):
                yield _on_edge(cut, self._vertices[k - 1], end), (axis,)
        if self._lines is not None:
            for (a, one), (b, two) in combinations(enumerate(cuts), 2):
                yield _inside(self._lines, _cross(one[:, None, :], two[None, :, :])), (a, b)


_ORDINARY = 10
"""Coordinates between two to the power of minus this and of this (1000) are taken as they are."""


def _padded(ratio: Ratio, unit: Floats) -> Ratio:
    """Return a ratio in two variables, each in its unit."""
    missing = 2 - len(ratio.numerator)
    return Ratio(
        np.pad(ratio.numerator * unit, (0, missing)),
        ratio.numerator_constant,
        np.pad(ratio.denominator * unit, (0, missing)),
        ratio.denominator_constant,
    )


def _lines(polytope: Polytope, unit: Floats) -> Floats:
    """Return the half-planes a x + b y <= rhs of a polytope, with unit normals, as rows (a, b, rhs)."""
    A, lower, upper = polytope.A * unit, polytope.lower / unit, polytope.upper / unit
    rows = np.vstack([A, -A, np.eye(2), -np.eye(2)])
    rhs = np.concatenate([polytope.row_upper, -polytope.row_lower, upper, -lower])
    norms = _lengths(rows)
    real = np.isfinite(rhs) & (norms > 0)
    return np.asarray(np.column_stack([rows, rhs])[real] / norms[real, None])


def _lengths(vectors: Floats) -> Floats:
    lengths: Floats = np.sqrt((vectors * vectors).sum(axis=1))
    return lengths


def _cut(ratio: Ratio, caps: Floats) -> Floats:
    """Return the lines on which a ratio equals each cap: (a - nu c) x = nu d - q, shape (k, 3)."""
    normals = ratio.numerator - caps[:, None] * ratio.denominator
    lines = np.column_stack([normals, caps * ratio.denominator_constant - ratio.numerator_constant])
    norms = _lengths(normals)
    return np.asarray(lines / np.where(norms > 0, norms, 1.0)[:, None])


def _on_edge(cut: Floats, start: Floats, end: Floats) -> Floats:
    """Return where lines cross an edge between its ends, shape (k, 2), NaN where they do not."""
    before, after = (dot(cut[:, :2], corner) - cut[:, 2] for corner in (start, end))
    crossed = np.sign(before) * np.sign(after) < 0
    share = np.where(crossed, before, np.nan) / np.where(crossed, before - after, 1.0)
    return np.asarray(start + share[:, None] * (end - start))


def _cross(one: Floats, two: Floats) -> Floats:
    """Return where lines (a, b, rhs) meet, shape (..., 2), NaN where they are parallel; its residual refines it."""
    determinant = one[..., 0] * two[..., 1] - one[..., 1] * two[..., 0]
    safe = np.where(np.abs(determinant) > ROUNDING, determinant, np.nan)
    x = y = np.zeros(safe.shape)
    for _ in range(2):
        first = one[..., 2] - one[..., 0] * x - one[..., 1] * y
        second = two[..., 2] - two[..., 0] * x - two[..., 1] * y
        x = x + (first * two[..., 1] - one[..., 1] * second) / safe
        y = y + (one[..., 0] * second - first * two[..., 0]) / safe
    return np.stack([x, y], axis=-1)


def _inside(lines: Floats, points: Floats) -> Floats:
    """Return the points, NaN where they are beyond one of the lines."""
    x, y = points[..., 0], points[..., 1]
    inside: npt.NDArray[np.bool_] = np.isfinite(x)
    room = ROUNDING * (1 + np.maximum(np.abs(x), np.abs(y)))
    for a, b, rhs in lines:
        inside &= a * x + b * y - rhs <= room
    return np.where(inside[..., None], points, np.nan)


def _along(values: Floats, axis: int, dimensions: int) -> Floats:
    """Return a vector as an array that runs along one axis of the grid."""
    shape = [-1 if k == axis else 1 for k in range(dimensions)]
    return np.reshape(values, shape)


def _spread(values: Floats, axes: tuple[int, ...], dimensions: int) -> Floats:
    """Return an array that runs along some axes of the grid as one that can be combined with the whole grid."""
    lengths = dict(zip(axes, values.shape, strict=True))
    return np.reshape(values, [lengths.get(k, 1) for k in range(dimensions)])


def _slabs(grids: Sequence[Floats]) -> Iterator[list[Floats]]:
    """Yield the grid in slabs of at most `SLAB` points, along its first axes."""
    if not grids:
        yield []
        return
    first, *rest = grids
    size = math.prod(len(grid) for grid in rest)
    height = max(1, SLAB // size)
    for start in range(0, len(first), height):
        for slab in _slabs(rest) if size > SLAB else [rest]:
            yield [first[start : start + height], *slab]


Corner = tuple[Fraction, Fraction]
HalfPlane = tuple[Fraction, Fraction, Fraction]

FAR = Fraction(INFINITE)
"""Where a coordinate counts as infinite, as in solvers."""


def vertices(polytope: Polytope) -> Floats:
    """Return the vertices of a polytope in at most two variables, in counterclockwise order.

    Parameters
    ----------
    polytope : Polytope
        With n <= 2. Rows that only rounding makes contradict each other are loosened by a relative 1e-10.

    Returns
    -------
    ndarray of shape (k, n)
        k = 1 for a point, 2 for a segment.

    Raises
    ------
    TransformationRefused
        If the polytope is empty or unbounded.
    """
    n = len(polytope.lower)
    half_planes = list(_half_planes(polytope))
    found = _clipped(half_planes) or _clipped([(a, b, c + BENT * (1 + abs(c))) for a, b, c in half_planes])
    if not found:
        raise TransformationRefused("the region is empty")
    for i in range(n):
        if any(abs(corner[i]) >= FAR for corner in found):
            raise TransformationRefused(
                f"the region is unbounded: nothing bounds variable {polytope.name(i)}; give it bounds"
            )
    corners = np.array([[float(value) for value in corner[:n]] for corner in found])
    different = (corners != np.roll(corners, 1, axis=0)).any(axis=1)
    return corners[different] if different.any() else corners[:1]


def _half_planes(polytope: Polytope) -> Iterator[HalfPlane]:
    """Yield (a, b, c) for a x + b y <= c; a missing variable is 0."""
    n = len(polytope.lower)
    rows = np.pad(np.vstack([polytope.A, np.eye(n)]), ((0, 0), (0, 2 - n)))
    low = np.concatenate([polytope.row_lower, polytope.lower])
    high = np.concatenate([polytope.row_upper, polytope.upper])
    for (a, b), below, above in zip(rows.tolist(), low.tolist(), high.tolist(), strict=True):
        if np.isfinite(above):
            yield rational(a), rational(b), rational(above)
        if np.isfinite(below):
            yield rational(-a), rational(-b), rational(-below)
    for sign in (Fraction(1), Fraction(-1)):
        if n < 2:
            yield Fraction(0), sign, Fraction(0)
        if n < 1:
            yield sign, Fraction(0), Fraction(0)


def _clipped(half_planes: Sequence[HalfPlane]) -> list[Corner]:
    """Cut a large square by each half-plane in turn (Sutherland and Hodgman); an empty list where nothing is left."""
    corners = [(-FAR, -FAR), (FAR, -FAR), (FAR, FAR), (-FAR, FAR)]
    for a, b, c in half_planes:
        over = [a * x + b * y - c for x, y in corners]
        kept: list[Corner] = []
        for k, corner in enumerate(corners):
            if over[k - 1] * over[k] < 0:
                kept.append(_between(corners[k - 1], corner, over[k - 1] / (over[k - 1] - over[k])))
            if over[k] <= 0:
                kept.append(corner)
        corners = list(dict.fromkeys(kept))
    return corners


def _between(start: Corner, end: Corner, share: Fraction) -> Corner:
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])
