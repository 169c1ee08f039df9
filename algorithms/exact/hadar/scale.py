"""Utilities on a grid of a power of two, so that sums of utilities and prices are exact in floats."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dlsched.algorithms.exact.hadar.states import Options
from dlsched.models.arithmetic import ceil_log2
from dlsched.models.matrix import Floats

_BITS = 40


def grid_of(jobs: tuple[Options, ...]) -> float:
    """Return the power of two that all utilities and prices are multiples of."""
    total = sum((max(o.utility) for o in jobs), Fraction(1))
    return math.ldexp(1.0, ceil_log2(total) - _BITS)


def scaled_utilities(jobs: tuple[Options, ...], slots: int, grid: float) -> Floats:
    """Return utilities by job and completion slot, each rounded up to a multiple of the grid."""
    step = Fraction(grid)
    return np.array([[math.ceil(u / step) * grid for u in o.utility] for o in jobs]).reshape(len(jobs), slots)
