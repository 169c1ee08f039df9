"""What an oracle of Algorithm 1 answers for a grid, and what it has to be able to do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from dlsched.models.ratio import Floats


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
