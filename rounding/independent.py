"""Independent randomized rounding: each coordinate up with the probability of its fractional part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dlsched.arguments import at_least, checked, floats, generator, positive
from dlsched.errors import InputError
from dlsched.tolerances import TOLERANCE

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_LARGEST = 2.0**52
"""From here on floats are whole numbers: there is nothing to round; and int64 holds them."""


@checked
def round_independent(
    x: Sequence[float] | Floats, rng: np.random.Generator | int, gain: float = 1.0, draws: int = 1
) -> Ints:
    """Round gain * x: up with the probability of the fractional part, else down, each coordinate by itself.

    Parameters
    ----------
    x : array_like of shape (n,)
    rng : numpy.random.Generator or int
        A generator, or a seed.
    gain : float
        M_delta of the papers, positive; below 1 it makes packing rows easier to keep.
    draws : int

    Returns
    -------
    ndarray of int64, shape (draws, n)

    Raises
    ------
    InputError
        If a number is not finite or too large to have a fractional part, the gain not positive, or draws negative.

    References
    ----------
    SMD, Algorithm 2, step 2.

    Examples
    --------
    >>> from dlsched.rounding import round_independent
    >>> print(round_independent([0.5, 2.0, 1.2], 7, draws=4))
    [[0 2 1]
     [1 2 1]
     [1 2 1]
     [1 2 1]]
    >>> print(round_independent([0.5, 2.0, 1.2], 7, draws=4000).mean(axis=0).round(1))
    [0.5 2.  1.2]
    """
    scaled = scale(x, gain)
    at_least(0, draws=draws)
    floor = np.floor(scaled)
    up = generator(rng).random((draws, scaled.size)) < scaled - floor
    return floor.astype(np.int64) + up


@checked
def round_shifted(
    x: Sequence[float] | Floats,
    rng: np.random.Generator | int,
    gain: float = 1.0,
    lower: float | Sequence[float] | Floats = 1.0,
    draws: int = 1,
) -> Ints:
    """Round lower + gain * (x - lower), so that no outcome is below the integer bounds `lower`.

    With x >= 1 a worker or a server never rounds away, and a sum of the ratios of (12) grows, whatever the outcome, at
    most by the factor 4/gain for a gain up to 1, and by 2 (gain + 1) for a larger one.

    Parameters
    ----------
    x : array_like of shape (n,)
        At least `lower`; what is below it by no more than solvers are off, 1e-6 of the larger of it and 1, stands for
        it.
    rng, gain, draws
        As for `round_independent`.
    lower : float or array_like of shape (n,)
        Integers.

    Raises
    ------
    InputError
        As `round_independent`; also if x is below `lower`, or `lower` is no integer, or beyond 2^52.

    References
    ----------
    SMD, Algorithm 2, corrected.

    Examples
    --------
    >>> from dlsched.rounding import round_independent, round_shifted
    >>> workers_and_servers = [1.5, 3.0]
    >>> print(round_independent(workers_and_servers, 7, gain=0.6, draws=1000).min(axis=0))
    [0 1]
    >>> print(round_shifted(workers_and_servers, 7, gain=0.6, draws=1000).min(axis=0))
    [1 2]
    """
    above = scale(x, 1.0)
    base = floats("lower", lower)
    if base.shape not in ((), above.shape):
        raise InputError(f"lower: has shape {base.shape}; it must be a number or as long as x, {above.shape}")
    base = np.broadcast_to(base, above.shape)
    whole = (base == np.round(base)) & (np.abs(base) <= _LARGEST)
    if not whole.all():
        raise InputError(f"lower: {base[~whole][0]} must be an integer, and at most 2^52 in size")
    low = np.flatnonzero(base - above > TOLERANCE * np.maximum(1.0, np.abs(base)))
    if low.size:
        raise InputError(f"x[{low[0]}]: {above[low[0]]} is below its bound {base[low[0]]:.0f}")
    return base.astype(np.int64) + round_independent(np.maximum(above - base, 0.0), rng, gain, draws)


def scale(x: Sequence[float] | Floats, gain: float) -> Floats:
    """Return gain * x as a vector of floats.

    Raises
    ------
    InputError
        As `round_independent`.
    """
    positive(gain=gain)
    scaled = floats("x", x) * gain
    if scaled.ndim != 1:
        raise InputError(f"x: has {scaled.ndim} dimensions; it must be a vector")
    bad = np.flatnonzero(~(np.abs(scaled) <= _LARGEST))
    if bad.size:
        raise InputError(f"x[{bad[0]}]: {scaled[bad[0]]} after the gain must be finite and at most 2^52 in size")
    return scaled
