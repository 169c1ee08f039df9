"""The grid of Algorithm 1: how far each ratio but one may go, in geometric steps (SMD, Step 2.1), and its oracles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np

from dlsched.arithmetic import log, log1p, power
from dlsched.errors import InputError
from dlsched.models.ratio import Floats
from dlsched.tolerances import AS_GOOD, NEAR_WHOLE

MAX_POINTS = 10**8
"""The most grid points that are searched. Arbitrary: they are held a slab at a time, so it bounds the time alone."""

MAX_STEPS = 10**6
"""The most steps of one ratio's grid. Arbitrary: they are held at once."""


class Grid(StrEnum):
    """Which grid is searched."""

    PRINTED = "printed"
    CORRECTED = "corrected"


def steps(lower: float, upper: float, epsilon: float, variant: Grid) -> Floats:
    """Return l, l(1+eps), l(1+eps)^2, ... up to phi; corrected, also phi itself.

    Rounded down, as printed, a value of the ratio above the last step has no grid point that allows it: points there
    are lost. With phi as the last step every value has one, within the factor 1 + eps.

    Parameters
    ----------
    lower, upper : float
        l and phi, 0 < l <= phi, or both 0.
    epsilon : float
    variant : Grid

    Raises
    ------
    InputError
        If these are more than `MAX_STEPS`.

    References
    ----------
    SMD, Step 2.1, printed and corrected.
    """
    if lower == upper:
        return np.array([lower])
    last = math.floor(log(upper / lower) / log1p(epsilon) + NEAR_WHOLE)
    if last >= MAX_STEPS:
        raise InputError(f"epsilon: {epsilon} takes {last + 1} steps for a ratio; at most {MAX_STEPS} are taken")
    values = lower * power(1 + epsilon, np.arange(last + 1))
    if values[-1] >= upper * (1 - AS_GOOD):
        values[-1] = upper
    elif variant is Grid.CORRECTED:
        values = np.append(values, upper)
    return np.asarray(values)


def widest(lower: Floats, upper: Floats) -> int:
    """Return J, the ratio with the largest phi/l, which is minimised and not gridded; of equal ones, the first."""
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.where(lower > 0, upper / lower, np.where(upper > 0, np.inf, 1.0))
    return int(np.flatnonzero(spread >= spread.max() * (1 - AS_GOOD))[0])


def size(grids: Sequence[Floats]) -> int:
    """Return the number of grid points.

    Raises
    ------
    InputError
        If there are more than `MAX_POINTS`.
    """
    count = math.prod(len(grid) for grid in grids)
    if count > MAX_POINTS:
        raise InputError(f"epsilon: its grid has {count} points; at most {MAX_POINTS} are searched: take a larger one")
    return count


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """The best of a grid's points.

    Attributes
    ----------
    cost : float
        Psi, the least sum of the caps and of the ratio that is minimised; infinite where nothing is feasible.
    x : ndarray of shape (n,), or None
        Where it is reached.
    feasible : int
        Grid points whose program (15) is feasible.
    """

    cost: float = math.inf
    x: Floats | None = None
    feasible: int = 0

    def joined(self, other: Sweep) -> Sweep:
        """Return the best of two parts of a grid; of equal ones, this."""
        better = other if other.cost < self.cost else self
        return Sweep(better.cost, better.x, self.feasible + other.feasible)


class Oracle(Protocol):
    """Solves the linear-fractional programs (14), (15) of a sum of ratios over a polytope."""

    def bounds(self) -> tuple[Floats, Floats]:
        """Return l_j and phi_j, the least and the greatest value of each ratio."""

    def sweep(self, last: int, grids: Sequence[Floats]) -> Sweep:
        """Minimise ratio `last` for each combination of caps on the others, and return the best."""
