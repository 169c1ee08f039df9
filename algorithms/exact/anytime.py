"""What an exact method knows at any moment: the best schedule, bounds by route, lines of evidence, and when."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Generic, TypeVar

from dlsched.algorithms.exact.result import Note, Optimum, Progress
from dlsched.halt import Halt, until
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


S = TypeVar("S")


class Anytime(Bracket, Generic[S]):
    """A bracket whose value is that of the best schedule, with the routes so far and a clock.

    Parameters
    ----------
    utility : callable
        Of a schedule; None for minus infinity.
    check : callable
        Returns the rules that a schedule breaks.
    upper : float
        A bound that needs no route.
    unit : float
        What utilities are measured in, as for `Bracket`.
    progress : callable, optional
        Told of news, as for `dlsched.algorithms.optimum`.

    Attributes
    ----------
    best : Schedule or None
        It passed `check`, and is worth `value`.
    evidence : list of str
        The routes so far.
    """

    def __init__(
        self,
        utility: Callable[[S], Fraction | float | None],
        check: Callable[[S], Sequence[object]],
        *,
        upper: float = float("inf"),
        unit: float = 1.0,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(-float("inf"), upper, unit=unit)
        self.best: S | None = None
        self.evidence: list[str] = []
        self._utility, self._check, self._progress = utility, check, progress
        self._start = time.perf_counter()
        self._found: float | None = None
        self._infeasible = False

    def run(
        self, steps: Callable[[], bool], *, time_limit: float | None, stop: Callable[[], bool] | None = None
    ) -> Optimum:
        """Return what is known after some steps, or when the work is over before they are.

        Parameters
        ----------
        steps : callable
            Tells whether the optimum is proved.
        time_limit, stop
            As for `dlsched.algorithms.optimum`.
        """
        with until(stop, time_limit):
            try:
                proved = steps()
            except Halt:
                proved = False
        return self.optimum(proved)

    def take(self, schedule: S) -> bool:
        """Make a schedule the best one where it is better; return False where it is and breaks a rule."""
        utility = self._utility(schedule)
        if utility is None or not float(utility) > self.value:
            return True
        if self._check(schedule):
            return False
        self.best = schedule
        return self.raise_to(float(utility))

    def closed(self) -> bool:
        """Whether there is a schedule, and its value and the bound agree."""
        return self.best is not None and super().closed()

    def note(self, *parts: str | float) -> None:
        """Add a line of evidence; numbers are amounts of utility."""
        self.evidence.append(Note(*parts))

    def tell(self, phase: str, value: float = -float("inf"), upper: float = float("inf")) -> None:
        """Report the phase and what is known, here or where a search inside of this one says more."""
        if self._progress is not None:
            known = max(value, self.value)
            self._progress(phase, known, max(known, min(upper, self.upper)))

    def found(self, ago: float = 0.0) -> None:
        """Mark the end of the first proof, so many seconds ago; what follows confirms it."""
        self._found = self._elapsed() - ago

    def optimum(self, proved: bool) -> Optimum:
        """Return what is known."""
        seconds = self._elapsed()
        found = seconds if self._found is None else self._found
        evidence = (*self.evidence, *self.refuted)
        if self.best is None:
            return Optimum(
                None, None if self._infeasible else self.upper, None, proved, evidence, found, seconds - found
            )
        return Optimum(self.value, self.upper, self.best, proved, evidence, found, seconds - found)

    def infeasible(self) -> None:
        """Take it that no schedule exists."""
        self._infeasible = True

    def _elapsed(self) -> float:
        return time.perf_counter() - self._start
