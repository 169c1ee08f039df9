"""What good solutions are made of, for merging: their parts, each by what the best solution that has it is worth."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class Pool(Generic[T]):
    """Parts of solutions.

    Parameters
    ----------
    near : float
        Of the best solution's value, that a solution counts from.
    most : int
        Parts from which on those of the best tenth alone are kept.
    """

    def __init__(self, near: float, most: int) -> None:
        self._near, self._most = near, most
        self._best = 0.0
        self.value: dict[T, float] = {}

    def counts(self, value: float) -> bool:
        """Tell whether a solution is good enough, beside those that were asked about."""
        self._best = max(self._best, value)
        return value >= self._near * self._best

    def add(self, part: T, value: float) -> None:
        """Take note of a part of a solution."""
        if self.value.get(part, 0.0) < value:
            self.value[part] = value
            if len(self.value) > self._most:
                self.value = {each: self.value[each] for each in self.first(self._most // 10)}

    def first(self, count: int) -> list[T]:
        """Return the parts of the best solutions, the best first."""
        return sorted(self.value, key=lambda part: -self.value[part])[:count]
