"""What an exact method knows at any moment: the best schedule, bounds by route, lines of evidence, and when."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from dlsched.algorithms.exact.result import Note, Optimum, Progress
from dlsched.halt import Halt, until
from dlsched.models.numbers import agree, exceeds
from dlsched.solvers.matrix import UnfitNumberError
from dlsched.solvers.solution import SolverError

UNSOLVED = (SolverError, UnfitNumberError)
"""What a program ends with that no solver takes, or whose answer is none."""


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


class News(NamedTuple):
    """What one search tells another.

    Attributes
    ----------
    schedule : Schedule or None
        Better than those before.
    bound : float
        The least upper bound that it knows; infinite for none.
    """

    schedule: Any
    bound: float


class Others(Protocol):
    """Searches for the same optimum elsewhere."""

    def send(self, news: News) -> None:
        """Tell them."""

    def received(self) -> Iterable[News]:
        """Return what they have told since this was last asked."""

    def present(self) -> bool:
        """Tell whether one of them is still at it."""


_OTHERS: ContextVar[Others | None] = ContextVar("searches for the same optimum", default=None)


@contextmanager
def sharing(others: Others) -> Iterator[None]:
    """Share what the next search of this block finds with others; searches within it are about something else."""
    token = _OTHERS.set(others)
    try:
        yield
    finally:
        _OTHERS.reset(token)


S = TypeVar("S")


class Anytime(Bracket, Generic[S]):
    """A bracket whose value is that of the best schedule, with the routes so far and a clock.

    Within `sharing` it tells others what it finds, and takes their schedules. Their bounds are told and decide nothing:
    what closes the bracket here has been found here.

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
    others : Others, optional
        Who shares with it where it is not `run`.

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
        others: Others | None = None,
    ) -> None:
        super().__init__(-float("inf"), upper, unit=unit)
        self.best: S | None = None
        self.evidence: list[str] = []
        self._utility, self._check, self._progress = utility, check, progress
        self._start = time.perf_counter()
        self._found: float | None = None
        self._infeasible = False
        self._others = others
        self._elsewhere = math.inf

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
        self._others, token = _OTHERS.get(), _OTHERS.set(None)
        try:
            self._tell_others(self.best)
            with until(stop, time_limit):
                try:
                    proved = self.attempt(steps)
                except Halt:
                    proved = False
        finally:
            _OTHERS.reset(token)
        if self.hear() and proved:
            # A better schedule from elsewhere refutes a proof that nothing is better.
            proved = self.closed()
        return self.optimum(proved)

    def attempt(self, steps: Callable[[], bool]) -> bool:
        """Return what some steps do; False where a program in them fails, and what is known before them stays known."""
        try:
            return steps()
        except UNSOLVED as error:
            self.note(f"a program failed: {error}")
            return False

    @property
    def shared(self) -> bool:
        """Whether others search for the same optimum, and are still at it."""
        return self._others is not None and self._others.present()

    def _tell_others(self, schedule: S | None = None) -> None:
        if self._others is not None:
            self._others.send(News(schedule, self.upper))

    def hear(self) -> bool:
        """Take what others have found; return whether there is a better schedule."""
        before = self.value
        for schedule, bound in () if self._others is None else self._others.received():
            self._elsewhere = min(self._elsewhere, bound)
            if schedule is not None:
                self.take(schedule)
        return self.value > before

    def take(self, schedule: S) -> bool:
        """Make a schedule the best one where it is better; return False where it is and breaks a rule."""
        utility = self._utility(schedule)
        if utility is None or not float(utility) > self.value:
            return True
        if self._check(schedule):
            return False
        self.best = schedule
        self.raise_to(float(utility))
        self._tell_others(schedule)
        return True

    def bound(self, bound: float | None, route: str) -> None:
        """Take the upper bound of a route, None for none; the least one of each route counts."""
        before = self.upper
        super().bound(bound, route)
        if self.upper < before:
            self._tell_others()

    def closed(self) -> bool:
        """Whether there is a schedule, and its value and the bound agree."""
        return self.best is not None and super().closed()

    def note(self, *parts: str | float) -> None:
        """Add a line of evidence; numbers are amounts of utility."""
        self.evidence.append(Note(*parts))

    def tell(self, phase: str, value: float = -float("inf"), upper: float = float("inf")) -> None:
        """Report the phase and what is known, here or where a search inside of this one says more."""
        self.hear()
        if self._progress is not None:
            known = max(value, self.value)
            self._progress(phase, known, max(known, min(upper, self.upper, self._elsewhere)))

    def found(self, ago: float = 0.0) -> None:
        """Mark the end of the first proof, so many seconds ago; what follows confirms it."""
        self._found = self._elapsed() - ago

    def optimum(self, proved: bool) -> Optimum:
        """Return what is known."""
        seconds = self._elapsed()
        found = seconds if self._found is None else self._found
        evidence = (*self.evidence, *self.refuted)
        upper = self.upper
        if not proved and self.value <= self._elsewhere < upper:
            upper = self._elsewhere
            evidence = (*evidence, Note("another process: nothing better than ", upper))
        if self.best is None:
            return Optimum(None, None if self._infeasible else upper, None, proved, evidence, found, seconds - found)
        return Optimum(self.value, upper, self.best, proved, evidence, found, seconds - found)

    def infeasible(self) -> None:
        """Take it that no schedule exists."""
        self._infeasible = True

    def _elapsed(self) -> float:
        return time.perf_counter() - self._start


class Around(Generic[S]):
    """The search that another one is a part of, as what that one shares with: both are about the same schedules.

    Parameters
    ----------
    known : Anytime
        What is known around; it shares with others in turn. Its bounds are not passed on inwards.
    route : str
        Of the bounds from within.
    """

    def __init__(self, known: Anytime[S], route: str) -> None:
        self._known, self._route = known, route
        self._told: S | None = None

    def send(self, news: News) -> None:
        """Take what was found within."""
        if news.schedule is not None:
            self._known.take(news.schedule)
        self._known.bound(news.bound, self._route)

    def received(self) -> Iterable[News]:
        """Return the best schedule, once."""
        self._known.hear()
        if self._known.best is self._told:
            return ()
        self._told = self._known.best
        return (News(self._told, math.inf),)

    def present(self) -> bool:
        """Tell whether others share with the search around."""
        return self._known.shared
