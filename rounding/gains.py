"""Gains for randomized rounding with packing rows: how far to shrink a point so that rows rarely break."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from scipy.special import lambertw

from dlsched.rounding.independent import Floats


class Gain(StrEnum):
    """Which formula a gain comes from."""

    PRINTED = "printed"
    EXACT = "exact"


def width(B: Sequence[Sequence[float]] | Floats, b: Sequence[float] | Floats) -> float:
    """Return W_b = min b_i / B_ij over the positive B_ij; infinite where there is none.

    Parameters
    ----------
    B : array_like of shape (r, n)
        Not negative.
    b : array_like of shape (r,)

    Raises
    ------
    ValueError
        If an entry of B is negative or the shapes do not fit.

    Source: SMD, Lemma 3.
    """
    matrix, rhs = np.asarray(B, dtype=float), np.asarray(b, dtype=float)
    if matrix.ndim != 2 or rhs.shape != matrix.shape[:1]:
        raise ValueError(f"B: has shape {matrix.shape} and b {rhs.shape}; they must be (r, n) and (r,)")
    if (matrix < 0).any():
        raise ValueError(f"B: {matrix[matrix < 0][0]} is negative; packing rows have no negative entries")
    rows, columns = np.nonzero(matrix)
    return float(np.min(rhs[rows] / matrix[rows, columns], initial=np.inf))


def gain_packing(width: float, rows: int, delta: float, variant: str | Gain = Gain.PRINTED) -> float:
    """Return M_delta, at which each of the packing rows breaks with probability at most delta / (2 rows).

    Printed: M = 1 + a - sqrt(a^2 + 2a) with a = 3 ln(2r/delta) / (2 W), which solves (1-M)^2 W / (3M) = ln(2r/delta);
    its tail bound needs M >= 1/2. Exact: W (ln(1/M) - 1 + M) = ln(2r/delta), the Chernoff bound itself, for every M.

    Parameters
    ----------
    width : float
        W, as `dlsched.rounding.width` returns it.
    rows : int
        r, number of packing rows.
    delta : float
        In (0, 1].
    variant : {"printed", "exact"}

    Returns
    -------
    float
        In (0, 1]; 1 where the width is infinite.

    Raises
    ------
    ValueError
        If the width is not positive or too small for a gain above 0, there is no row, or delta is out of range.

    Source: SMD, Lemma 3, printed and corrected.
    """
    if not width > 0:
        raise ValueError(f"width: {width} must be positive")
    if rows < 1:
        raise ValueError(f"rows: {rows} must be at least 1")
    if not 0 < delta <= 1:
        raise ValueError(f"delta: {delta} is not in (0, 1]")
    if math.isinf(width):
        return 1.0
    need = math.log(2 * rows / delta) / width
    if Gain(variant) is Gain.PRINTED:
        a = 1.5 * need
        return 1 / (1 + a + math.sqrt(a * a + 2 * a))
    # ln(1/M) - 1 + M = need is M exp(-M) = exp(-1 - need), on the branch of W with M <= 1
    gain = float(-lambertw(-math.exp(-1 - need)).real)
    if not gain:
        raise ValueError(f"width: {width} is so small that the gain would be 0")
    return gain
