"""The vertices of a polygon given by rows and bounds, in rational arithmetic.

Floats stand for what `dlsched.models.numbers.rational` reads in them, so 0.1 w + 0.2 p <= 0.3 has the point (1, 1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from dlsched.models.numbers import rational
from dlsched.models.ratio import Floats, Polytope
from dlsched.relaxations.contract import TransformationRefused
from dlsched.solvers.scaling import INFINITE
from dlsched.tolerances import BENT

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
            raise TransformationRefused(f"the region is unbounded: nothing bounds variable {polytope.name(i)}")
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
