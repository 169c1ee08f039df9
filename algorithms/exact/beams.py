"""What beams over the slots share: which of what is tried goes on, and in what order chance draws.

A beam settles slot after slot. Each of a few partial solutions goes on in some ways, column generation over what is
then still open tells what each way is worth, and the best go on. The first slots have the largest linear programs, so a
few beams share them: they go on from where one was in the middle.
"""

from __future__ import annotations

import time
from typing import Generic, TypeVar

import numpy as np

from dlsched.solvers.matrix import Floats
from dlsched.tolerances import CLEAR

T = TypeVar("T")

WIDTH = 3
"""Partial solutions that go on, where nothing else is said. On Hadar six or twenty take as much longer and end no
better than as many beams of three; on DMLRS, (20, 10, 10), load .85, seed 1, with six ways each, three end at 859 and
861 in 4 s, eight with ten at 865 in half a minute, as long as vectors were not annealed."""

ROUNDS_TRIED, ROUNDS_SETTLED = 3, 6
"""Of column generation for a way that is tried, and for one that goes on. With fewer, the linear programs' values order
ways by the columns that happen to be there."""

_AGAIN = 2
"""Beams that go on from the middle of one: on Hadar (40) seed 2 ten of them end at 1086.8 on average, after a third of
the time of a whole one, where whole ones end at 1087.2."""

_LATER, _SHORTEST = 0.5, 0.5
"""What the second half of a beam takes of the time of the first, by trial, and the share of it that is worth beginning
with, where a beam tries less if time is short; arbitrary."""

UNLIKELY = 1 / 1000
"""Weight of what the linear program does not do, where a way that does it is compared with others."""


class Shortlist(Generic[T]):
    """The best of what is tried; of equal values, which mostly have the same future, the first.

    Parameters
    ----------
    cutoff : float
        What is worth less does not count.
    width : int
        How many are kept.

    Attributes
    ----------
    least : float
        What else is tried has to be worth more.
    """

    def __init__(self, cutoff: float, width: int = WIDTH) -> None:
        self.least, self._cutoff, self._width = cutoff, cutoff, width
        self._kept: dict[int, tuple[float, T]] = {}

    def add(self, value: float, item: T) -> None:
        """Take note of something that was tried."""
        self._kept.setdefault(round(value / CLEAR), (value, item))
        if len(self._kept) > self._width:
            del self._kept[min(self._kept)]
            self.least = max(self._cutoff, min(value for value, _ in self._kept.values()))

    def kept(self) -> list[T]:
        """Return what goes on, in the order in which it was tried."""
        return [item for _, item in self._kept.values()]


class Middle(Generic[T]):
    """The best partial solution of a beam in the middle, and whether the next beam goes on from it."""

    def __init__(self) -> None:
        self._best: T | None = None
        self._again, self._started, self._seconds = 0, 0.0, 0.0

    def is_late(self, seconds: float | None) -> bool:
        """Tell whether so many seconds, None where there is no limit, are too few for a beam even from the middle."""
        return seconds is not None and seconds < _SHORTEST * _LATER * self._seconds

    def begin(self, seconds: float | None) -> T | None:
        """Return what a beam of so many seconds goes on from; None where from the first slot."""
        self._started = time.perf_counter()
        if seconds is not None and seconds < (1 + _LATER) * self._seconds:
            return self._best
        self._again -= 1
        return self._best if self._again >= 0 else None

    def reach(self, best: T) -> None:
        """Take note of how far a beam from the first slot is in the middle."""
        self._best, self._again = best, _AGAIN
        self._seconds = time.perf_counter() - self._started


def drawn(weights: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Return keys, shape (count, weights): large for large weights, the largest where a weight is 1, else by chance."""
    chance = weights * np.sqrt(rng.random((count, len(weights))))
    return np.where(weights > 1 - CLEAR, 2.0, chance)
