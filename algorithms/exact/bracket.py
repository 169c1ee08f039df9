"""What is known of an optimum: the value of a checked schedule from below, bounds by route from above."""

from __future__ import annotations

from dlsched.algorithms.exact.result import Note
from dlsched.models.numbers import agree, exceeds


class Bracket:
    """A value and the least upper bound that it does not refute.

    A bound below the value of a checked schedule is wrong, whatever its route: it counts no more, from whenever it is.

    Parameters
    ----------
    value : float
        Of a checked schedule; minus infinity where there is none yet.
    upper : float
        A bound that needs no route.
    unit : float
        What utilities are measured in: differences are compared with it where the value is smaller.

    Attributes
    ----------
    value : float
    unit : float
        May be set later, when it is known.
    """

    def __init__(self, value: float, upper: float, *, unit: float = 1.0) -> None:
        self.value = value
        self.unit = unit
        self._bounds = {"": upper}

    def raise_to(self, value: float) -> bool:
        """Take the value of a checked schedule; return whether it is the best one."""
        better = value > self.value
        self.value = max(self.value, value)
        return better

    def bound(self, bound: float | None, route: str) -> None:
        """Take the upper bound of a route, None for none; the least one of each route counts."""
        if bound is not None:
            self._bounds[route] = min(bound, self._bounds.get(route, float("inf")))

    @property
    def upper(self) -> float:
        """The least bound that is not refuted, at least the value."""
        standing = [bound for bound in self._bounds.values() if not exceeds(self.value, bound, unit=self.unit)]
        return max(self.value, min(standing, default=float("inf")))

    def closed(self) -> bool:
        """Whether value and bound agree."""
        return self.agrees(self.upper)

    def agrees(self, value: float | None) -> bool:
        """Tell whether a value is known and equal to the best one."""
        return value is not None and agree(self.value, value, unit=self.unit)

    @property
    def refuted(self) -> tuple[Note, ...]:
        """A line for each route whose bound is below the value."""
        return tuple(
            Note(f"{route}: nothing better than ", bound, ", refuted (", self.value, " is feasible)")
            for route, bound in self._bounds.items()
            if exceeds(self.value, bound, unit=self.unit)
        )
