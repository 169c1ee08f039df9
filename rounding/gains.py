"""Gains for randomized rounding: how far to shrink a point so that packing rows rarely break, or to stretch it so that
cover rows rarely fail.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from dlsched.arguments import at_least, checked, expect_share, finite, floats
from dlsched.arithmetic import exp, expm1, log, log1p
from dlsched.errors import InputError
from dlsched.rounding.independent import Floats

_LARGEST_ROOT = 1e154
"""Numbers up to here have a square that is a float."""


class Gain(StrEnum):
    """Which formula a gain comes from.

    Examples
    --------
    >>> from dlsched.rounding import Gain, gain_packing
    >>> for formula in Gain:
    ...     print(formula.value, round(gain_packing(20, rows=2, delta=0.5, variant=formula), 4))
    printed 0.5761
    exact 0.6105
    """

    PRINTED = "printed"
    EXACT = "exact"


@checked
def width(B: Sequence[Sequence[float]] | Floats, b: Sequence[float] | Floats) -> float:
    """Return W_b = min b_i / B_ij over the positive B_ij; infinite where there is none.

    Parameters
    ----------
    B : array_like of shape (r, n)
        Finite, not negative.
    b : array_like of shape (r,)
        Not negative; infinite where a row has no limit.

    Raises
    ------
    InputError
        If an entry of B or b is negative or no number, one of B infinite, or the shapes do not fit.

    References
    ----------
    SMD, Lemma 3.

    Examples
    --------
    >>> from dlsched.rounding import gain_packing, width
    >>> W = width([[2, 3, 1], [1, 0, 4]], [40, 60])
    >>> print(round(W, 3), round(gain_packing(W, rows=2, delta=0.5), 3))
    13.333 0.511
    """
    matrix, rhs = finite("B", B), floats("b", b)
    if matrix.ndim != 2 or rhs.shape != matrix.shape[:1]:
        raise InputError(f"B: has shape {matrix.shape} and b {rhs.shape}; they must be (r, n) and (r,)")
    if np.isnan(rhs).any():
        raise InputError("b: nan is not a number")
    for name, array, what in (("B", matrix, "entries"), ("b", rhs, "sides")):
        if (array < 0).any():
            raise InputError(f"{name}: {array[array < 0][0]} is negative; packing rows have no negative {what}")
    rows, columns = np.nonzero(matrix)
    return float(np.min(rhs[rows] / matrix[rows, columns], initial=np.inf))


@checked
def gain_packing(
    width: float, rows: int, delta: float, variant: str | Gain = Gain.PRINTED, *, events: int = 2
) -> float:
    """Return the gain at which each packing row breaks with probability at most delta / (events rows).

    Printed: G = 1 + a - sqrt(a^2 + 2a) with a = 3 l / (2 W), l = ln(events rows / delta), which solves
    (1-G)^2 W / (3G) = l; its tail bound needs G >= 1/2. Exact: W (ln(1/G) - 1 + G) = l, the Chernoff bound itself, for
    every G.

    Parameters
    ----------
    width : float
        W, as `dlsched.rounding.width` returns it.
    rows : int
        r, number of packing rows.
    delta : float
        In (0, 1].
    variant : {"printed", "exact"}
    events : int
        How many bad events share delta: 2 in SMD, 3 in PD-ORS.

    Returns
    -------
    float
        In (0, 1]; 1 where the width is infinite.

    Raises
    ------
    InputError
        If the width is not positive or too small for a gain above 0, there is no row or event, or delta is out of
        range.

    References
    ----------
    SMD, Lemma 3; PD-ORS, Lemma 1 and (29), with three events; printed and corrected.

    Examples
    --------
    >>> from dlsched.rounding import gain_packing, violation_probability
    >>> gain = gain_packing(20, rows=1, delta=0.1, variant="exact", events=1)
    >>> for factor in (1, gain):
    ...     breaks = violation_probability([1] * 40, [factor * 0.5] * 40, 20)
    ...     print(round(factor, 4), round(float(breaks), 4))
    1 0.4373
    0.5936 0.0021
    """
    need = _need(width, rows, delta, events)
    if not need:
        return 1.0
    if Gain(variant) is Gain.PRINTED:
        a = 1.5 * need
        # No float holds the square of 1e155, beside which 2 a and 1 are nothing.
        return _above_zero(1 / (1 + a + math.sqrt(a * a + 2 * a) if a < _LARGEST_ROOT else 2 * a), width)
    # t - (1 - exp(-t)), t = ln(1/G), is convex and above `need` at 1 + need: Newton's steps fall to the root
    above, t = math.inf, 1 + need
    while t < above:
        above, t = t, t - (t + expm1(-t) - need) / -expm1(-t)
    return _above_zero(exp(-above), width)


@checked
def gain_cover(width: float, rows: int, delta: float, variant: str | Gain = Gain.PRINTED, *, events: int = 3) -> float:
    """Return the gain at which each cover row fails with probability at most delta / (events rows).

    Printed: G = 1 + a + sqrt(a^2 + 2a) with a = l / W, l = ln(events rows / delta), which solves (G-1)^2 W / (2G) = l.
    Exact: W (G - 1 - ln G) = l, the Chernoff bound itself, which asks for less.

    Parameters
    ----------
    width : float
        W = min a_i / A_ij over the positive A_ij of the rows A x >= a; `dlsched.rounding.width` computes it.
    rows : int
        m, number of cover rows.
    delta : float
        In (0, 1].
    variant : {"printed", "exact"}
    events : int
        How many bad events share delta.

    Returns
    -------
    float
        At least 1; 1 where the width is infinite.

    Raises
    ------
    InputError
        If the width is not positive or too small for a finite gain, there is no row or event, or delta is out of
        range.

    References
    ----------
    PD-ORS, Lemma 2 and (30); thesis, Lemma 1. The exact form is the lower tail's counterpart of (29)'s.

    Examples
    --------
    >>> from dlsched.rounding import gain_cover, violation_probability
    >>> gain = gain_cover(20, rows=1, delta=0.1, variant="exact", events=1)
    >>> for factor in (1, gain):
    ...     fails = violation_probability([1] * 40, [factor * 0.5] * 40, 20, ">=")
    ...     print(round(factor, 4), round(float(fails), 4))
    1 0.4373
    1.5595 0.0
    """
    need = _need(width, rows, delta, events)
    if not need:
        return 1.0
    printed = need + math.sqrt(need * need + 2 * need)
    if math.isinf(printed):
        raise InputError(f"width: {width} is so small that the gain would be infinite")
    if Gain(variant) is Gain.PRINTED:
        return 1 + printed
    # g - ln(1 + g) is convex and at least `need` at the printed gain: Newton's steps fall to the root
    above, g = math.inf, printed
    while g < above:
        above, g = g, g - (g - log1p(g) - need) * (1 + g) / g
    return 1 + above


def _need(width: float, rows: int, delta: float, events: int) -> float:
    """Return ln(events rows / delta) / width."""
    if not width > 0:
        raise InputError(f"width: {width} must be positive")
    at_least(1, rows=rows, events=events)
    expect_share(delta=delta)
    share = events * rows / delta
    return (log(share) if math.isfinite(share) else log(events * rows) - log(delta)) / width


def _above_zero(gain: float, width: float) -> float:
    if not gain:
        raise InputError(f"width: {width} is so small that the gain would be 0")
    return gain
