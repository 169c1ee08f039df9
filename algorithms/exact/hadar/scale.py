"""Utilities as whole multiples of a power of two, whatever they are measured in.

Divided by a power of two so that all jobs together are worth at most `TOTAL`, and rounded up to multiples of `GRID`,
sums of utilities and of prices on the same grid are exact in floats. What is worth less than 1e-12 of all jobs
together counts as that much, far below any tolerance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

from dlsched.algorithms.exact.hadar.states import Options
from dlsched.arithmetic import ceil_log2, exact_power
from dlsched.solvers.matrix import Floats

TOTAL = 2.0**10
GRID = 2.0**-30


@dataclass(frozen=True, slots=True)
class Scale:
    """The power of two that utilities are divided by.

    Attributes
    ----------
    exponent : int
    """

    exponent: int

    @classmethod
    def of(cls, jobs: tuple[Options, ...]) -> Self:
        """Return the scale of the jobs of an instance."""
        return cls(ceil_log2(sum((max(o.utility) for o in jobs), Fraction(0)) / int(TOTAL)))

    def units(self, jobs: tuple[Options, ...], slots: int) -> Floats:
        """Return utilities by job and completion slot, divided and rounded up, shape (jobs, slots)."""
        step = exact_power(Fraction(2), self.exponent) * Fraction(GRID)
        return np.array([[math.ceil(u / step) * GRID for u in o.utility] for o in jobs]).reshape(len(jobs), slots)

    def utility(self, units: float) -> float:
        """Return what a sum of scaled utilities, or a bound on one, is worth."""
        return math.ldexp(units, self.exponent)
