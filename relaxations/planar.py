"""Linear-fractional programs in the plane by their vertices: the closed form of Algorithm 1's LPs for two variables.

A linear-fractional function takes its least value over a polygon at a vertex, and allowing ratio j at most nu_j cuts
the polygon by a line. So a grid point's optimum is at one of: a vertex of the polygon, a cut's line on an edge's, or
two cuts' lines. Each candidate depends on at most two coordinates of the grid, and for the others it is feasible from
some step on: the whole grid is the minimum of a few arrays, without any loop over its points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from dlsched.models.ratio import Floats, FractionalSum, Polytope, Ratio
from dlsched.relaxations.sweep import Sweep

SLAB = 2**20
"""Grid points whose values are held at a time."""

_INSIDE = 1e-10
_ALLOWED = 1e-12
_PARALLEL = 1e-12


class Planar:
    """The oracle for at most two variables.

    Parameters
    ----------
    problem : FractionalSum
        Over a bounded, non-empty polytope, with positive denominators.
    """

    def __init__(self, problem: FractionalSum) -> None:
        self._ratios = tuple(_padded(ratio) for ratio in problem.ratios)
        self._variables = len(problem.polytope.lower)
        self._lines = _lines(problem.polytope)
        first, second = np.array(list(combinations(range(len(self._lines)), 2)), dtype=int).reshape(-1, 2).T
        crossings = _cross(self._lines[first], self._lines[second])
        self._vertices = np.unique(crossings[self._inside(crossings)], axis=0)

    @property
    def vertices(self) -> Floats:
        """The polygon's vertices, shape (k, n)."""
        return self._vertices[:, : self._variables]

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
        others = [ratio for j, ratio in enumerate(self._ratios) if j != last]
        best = Sweep()
        for slab in _slabs(grids):
            values, origin = self._values(self._ratios[last], others, slab)
            psi = values.copy()
            for axis, grid in enumerate(slab):
                psi += _along(grid, axis, len(slab))
            place = np.unravel_index(int(np.argmin(psi)), psi.shape)
            x = origin[place]
            found = int(np.count_nonzero(np.isfinite(values)))
            best = best.joined(Sweep(float(psi[place]), None if np.isnan(x).any() else x[: self._variables], found))
        return best

    def _values(self, target: Ratio, others: list[Ratio], grids: list[Floats]) -> tuple[Floats, Floats]:
        """Return the optimum at each grid point, and its point, NaN where nothing is feasible."""
        shape = tuple(len(grid) for grid in grids)
        values = np.full(shape, np.inf)
        points = np.full((*shape, 2), np.nan)
        for candidates, axes in self._candidates(others, grids):
            worth = np.where(np.isnan(candidates[..., 0]), np.inf, target(np.nan_to_num(candidates, nan=1.0)))
            worth = _spread(worth, axes, len(grids))
            spread = _spread(candidates, axes, len(grids))
            allowed = np.isfinite(worth)
            for axis, (ratio, grid) in enumerate(zip(others, grids, strict=True)):
                if axis not in axes:
                    needed = _spread(ratio(np.nan_to_num(candidates, nan=1.0)), axes, len(grids))
                    allowed = allowed & (needed <= _along(grid, axis, len(grids)) * (1 + _ALLOWED))
            better = allowed & (worth < values)
            np.copyto(values, worth, where=better)
            np.copyto(points, spread, where=better[..., None])
        return values, points

    def _candidates(self, others: list[Ratio], grids: list[Floats]) -> Iterator[tuple[Floats, tuple[int, ...]]]:
        """Yield arrays of points in the polygon, NaN where there is none, and the grid's axes that they run along."""
        for vertex in self._vertices:
            yield vertex, ()
        cuts = [_cut(ratio, grid) for ratio, grid in zip(others, grids, strict=True)]
        for axis, cut in enumerate(cuts):
            for line in self._lines:
                yield self._kept(_cross(cut, line)), (axis,)
        for (a, one), (b, two) in combinations(enumerate(cuts), 2):
            yield self._kept(_cross(one[:, None, :], two[None, :, :])), (a, b)

    def _kept(self, points: Floats) -> Floats:
        return np.where(self._inside(points)[..., None], points, np.nan)

    def _inside(self, points: Floats) -> npt.NDArray[np.bool_]:
        """Tell which points keep every line's side; a missing one (NaN) does not."""
        inside = np.isfinite(points[..., 0])
        size = 1 + np.abs(points).max(axis=-1)
        for a, b, rhs in self._lines:
            inside &= a * points[..., 0] + b * points[..., 1] - rhs <= _INSIDE * size
        return inside


def _padded(ratio: Ratio) -> Ratio:
    """Return a ratio in two variables."""
    missing = 2 - len(ratio.numerator)
    return Ratio(
        np.pad(ratio.numerator, (0, missing)),
        ratio.numerator_constant,
        np.pad(ratio.denominator, (0, missing)),
        ratio.denominator_constant,
    )


def _lines(polytope: Polytope) -> Floats:
    """Return the half-planes a x + b y <= rhs of a polytope, with unit normals, as rows (a, b, rhs)."""
    n = len(polytope.lower)
    rows = np.vstack([polytope.A, -polytope.A, np.eye(n), -np.eye(n)])
    rhs = np.concatenate([polytope.row_upper, -polytope.row_lower, polytope.upper, -polytope.lower])
    rows = np.pad(rows, ((0, 0), (0, 2 - n)))
    if n < 2:
        rows, rhs = np.vstack([rows, [[0.0, 1.0], [0.0, -1.0]]]), np.append(rhs, [0.0, 0.0])
    norms = np.hypot(rows[:, 0], rows[:, 1])
    real = np.isfinite(rhs) & (norms > 0)
    return np.asarray(np.column_stack([rows, rhs])[real] / norms[real, None])


def _cut(ratio: Ratio, caps: Floats) -> Floats:
    """Return the lines on which a ratio equals each cap: (a - nu c) x = nu d - q, shape (k, 3)."""
    normals = ratio.numerator - caps[:, None] * ratio.denominator
    lines = np.column_stack([normals, caps * ratio.denominator_constant - ratio.numerator_constant])
    norms = np.hypot(normals[:, 0], normals[:, 1])
    return np.asarray(lines / np.where(norms > 0, norms, 1.0)[:, None])


def _cross(one: Floats, two: Floats) -> Floats:
    """Return where lines (a, b, rhs) meet, shape (..., 2), NaN where they are parallel."""
    determinant = one[..., 0] * two[..., 1] - one[..., 1] * two[..., 0]
    safe = np.where(np.abs(determinant) > _PARALLEL, determinant, np.nan)
    x = (one[..., 2] * two[..., 1] - one[..., 1] * two[..., 2]) / safe
    y = (one[..., 0] * two[..., 2] - one[..., 2] * two[..., 0]) / safe
    return np.stack([x, y], axis=-1)


def _along(values: Floats, axis: int, dimensions: int) -> Floats:
    """Return a vector as an array that runs along one axis of the grid."""
    shape = [-1 if k == axis else 1 for k in range(dimensions)]
    return np.reshape(values, shape)


def _spread(values: Floats, axes: tuple[int, ...], dimensions: int) -> Floats:
    """Return an array that runs along some axes of the grid as one that can be combined with the whole grid."""
    lengths = dict(zip(axes, values.shape, strict=False))
    return np.reshape(values, [lengths.get(k, 1) for k in range(dimensions)] + list(values.shape[len(axes) :]))


def _slabs(grids: Sequence[Floats]) -> Iterator[list[Floats]]:
    """Yield the grid in slabs along its first axis."""
    if not grids:
        yield []
        return
    rest = int(np.prod([len(grid) for grid in grids[1:]], dtype=float))
    height = max(1, SLAB // max(1, rest))
    for start in range(0, len(grids[0]), height):
        yield [grids[0][start : start + height], *grids[1:]]
