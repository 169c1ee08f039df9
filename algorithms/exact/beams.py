"""What beams over the slots share: which of what is tried goes on, and in what order chance draws.

A beam settles slot after slot. Each of a few partial solutions goes on in some ways, column generation over what is
then still open tells what each way is worth, and the best go on.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np

from dlsched.solvers.matrix import Floats
from dlsched.tolerances import CLEAR

T = TypeVar("T")

WIDTH = 3
"""Partial solutions that go on. On Hadar six or twenty take as much longer and end no better than as many beams of
three; on DMLRS, (20, 10, 10), load .85, seed 1, with six ways each, three end at 859 and 861 in 4 s, eight with ten at
865 in half a minute, as long as vectors were not annealed."""

ROUNDS_TRIED, ROUNDS_SETTLED = 3, 6
"""Of column generation for a way that is tried, and for one that goes on. With fewer, the linear programs' values order
ways by the columns that happen to be there."""

UNLIKELY = 1 / 1000
"""Weight of what the linear program does not do, where a way that does it is compared with others."""


class Shortlist(Generic[T]):
    """The `WIDTH` best of what is tried; of equal values, which mostly have the same future, the first.

    Parameters
    ----------
    cutoff : float
        What is worth less does not count.

    Attributes
    ----------
    least : float
        What else is tried has to be worth more.
    """

    def __init__(self, cutoff: float) -> None:
        self.least = self._cutoff = cutoff
        self._kept: dict[int, tuple[float, T]] = {}

    def add(self, value: float, item: T) -> None:
        """Take note of something that was tried."""
        self._kept.setdefault(round(value / CLEAR), (value, item))
        if len(self._kept) > WIDTH:
            del self._kept[min(self._kept)]
            self.least = max(self._cutoff, min(value for value, _ in self._kept.values()))

    def kept(self) -> list[T]:
        """Return what goes on, in the order in which it was tried."""
        return [item for _, item in self._kept.values()]


def drawn(weights: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Return keys, shape (count, weights): large for large weights, the largest where a weight is 1, else by chance."""
    chance = weights * np.sqrt(rng.random((count, len(weights))))
    return np.where(weights > 1 - CLEAR, 2.0, chance)
