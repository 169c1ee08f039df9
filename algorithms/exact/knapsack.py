"""The certified optimum of a 0-1 knapsack problem with several rows.

Items are chosen by HiGHS and checked in rationals; nothing better exists by two routes, or by one exact one:

- every useful item fits, or the Lagrangian bound y.C + sum_i max(0, u_i - y.v_i) at rational prices y >= 0, which
  weak duality makes valid whatever the prices, meets the value: no search is needed;
- else every choice that may be worth more is looked at, in whole numbers (`dlsched.algorithms.exact.enumeration`);
- where these are too many, HiGHS finds the optimum.

A search is confirmed by another one: HiGHS without presolve, from another seed, finds nothing better among the items
that the bound leaves open (an item whose reduced cost alone exceeds its gap to the optimum is decided); or, where this
would take far longer, nothing better is found in another order, at other prices.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dlsched.algorithms.exact.anytime import UNSOLVED
from dlsched.algorithms.exact.enumeration import Enumeration
from dlsched.algorithms.exact.result import Progress
from dlsched.algorithms.knapsack_items import Items
from dlsched.halt import Halt, over, poll, until
from dlsched.models.numbers import agree, exceeds
from dlsched.solvers.matrix import Floats
from dlsched.solvers.solution import RawSolution, Status
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import TOLERANCE

_MANY = 2**14
"""Partial choices from which on HiGHS takes longer than to look at them all once more: most problems of a hundred jobs
have far fewer, and Chu and Beasley's of 100 items and 5 rows, where HiGHS takes 5 to 40 times as long, have more."""

_MOST = 2**28
"""Partial choices before HiGHS is asked, which may see what they cannot. Arbitrary: some minutes."""

_CUTS = 8
"""Points that HiGHS takes for choices that fit before the second route is another order: of twelve items that all but
fit there are a thousand. Arbitrary."""

_OTHER = Fraction(97, 100)
"""Prices of the second order, as a share of those of the first: another order, and still a good one."""


@dataclass(frozen=True, slots=True)
class Knapsack:
    """A certified optimum, or what is known of it.

    Attributes
    ----------
    chosen : tuple of int
        Indices of the chosen items, increasing; they fit.
    value : Fraction
        Their values' sum.
    bound : Fraction
        No choice is worth more.
    proved : bool
        Value and bound agree within `dlsched.tolerances.TOLERANCE`, and the routes say so.
    evidence : tuple of str
        The routes.
    nodes : int
        Branch-and-bound nodes and partial choices of all routes.
    seconds_found, seconds_proved : float
        Until the value was found and first proved (or time was up), and spent on the second route after that.
    """

    chosen: tuple[int, ...]
    value: Fraction
    bound: Fraction
    proved: bool
    evidence: tuple[str, ...]
    nodes: int
    seconds_found: float
    seconds_proved: float


def solve_exact(
    values: Sequence[Fraction],
    weights: Sequence[Sequence[Fraction]],
    capacity: Sequence[Fraction],
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Knapsack:
    """Return the certified optimum of max sum u_i x_i, sum_i v_i^r x_i <= C^r for all r, x binary.

    Parameters
    ----------
    values : sequence of I rationals
    weights : sequence of I sequences of R rationals
        Not negative.
    capacity : sequence of R rationals
    time_limit : float, optional
        Seconds in all.
    progress : callable, optional
        Called with (phase, value of the best choice, least upper bound).
    stop : callable, optional
        Asked often; where it tells True, the search ends as if time were up.

    Raises
    ------
    InputError
        If a weight or a capacity is negative, or shapes do not fit.
    """
    start = time.perf_counter()
    with until(stop, time_limit):
        return _Search(Items.of(values, weights, capacity), start, progress or (lambda *news: None)).run()


class _Search:
    """The phases of a search, and what is known so far."""

    def __init__(self, items: Items, start: float, progress: Progress) -> None:
        self._items = items
        self._start, self._progress = start, progress
        self._unit = self._items.unit
        self._chosen: tuple[int, ...] = ()
        self._cuts: list[list[int]] = []
        self._evidence: list[str] = []
        self._nodes = 0
        self._bound = self._safe = self._items.worth(self._items.useful)

    def run(self) -> Knapsack:
        """Return the optimum, or what is known of it when the work is over."""
        try:
            return self._steps()
        except Halt:
            return self._result(self._elapsed, False)
        except UNSOLVED as error:
            self._evidence.append(f"a program failed: {error}")
            return self._result(self._elapsed, False)

    def _steps(self) -> Knapsack:
        if self._items.fits(self._items.useful):
            self._chosen = tuple(self._items.useful)
            self._evidence.append("every item that is worth something fits")
            return self._result(self._elapsed)
        self._offer(())
        prices = self._items.prices()
        self._offer(self._items.greedy(prices))
        self._bound = self._safe = min(self._safe, self._items.lagrangian(prices))
        if self._closed:
            self._evidence.append("Lagrangian bound in rationals")
            return self._result(self._elapsed)
        poll()
        self._tell("branching", self._bound)
        first = listed = self._enumerated(prices)
        first = first or self._by_highs()
        found = self._elapsed
        if first and not over():
            self._tell("second route", self._bound)
            most = _CUTS if listed else sys.maxsize
            confirmed = "" if listed and self._nodes > _MANY else self._without_presolve(prices, most)
            if listed and not confirmed:
                confirmed = self._in_another_order(prices)
            if confirmed:
                self._evidence += [first, confirmed]
            return self._result(found, bool(confirmed))
        return self._result(found, False)

    def _result(self, found: float, confirmed: bool = True) -> Knapsack:
        return Knapsack(
            chosen=self._chosen,
            value=self._value,
            bound=max(self._bound, self._value),
            proved=confirmed and self._closed,
            evidence=tuple(self._evidence),
            nodes=self._nodes,
            seconds_found=found,
            seconds_proved=self._elapsed - found,
        )

    @property
    def _elapsed(self) -> float:
        return time.perf_counter() - self._start

    @property
    def _value(self) -> Fraction:
        return self._items.worth(self._chosen)

    @property
    def _closed(self) -> bool:
        return agree(self._value, self._bound) and agree(self._value / self._unit, self._bound / self._unit)

    def _offered(self, items: Sequence[int]) -> Fraction:
        """Take a choice if it fits, and return the value of the best one."""
        if self._items.fits(items):
            self._offer(items)
        return self._value

    def _offer(self, items: Sequence[int]) -> None:
        """Take a choice that fits, filled up, if it is the best so far."""
        filled = self._items.filled(items)
        if self._items.worth(filled) > self._value:
            self._chosen = tuple(sorted(filled))

    def _tell(self, phase: str, bound: Fraction) -> None:
        self._progress(phase, float(self._value), float(min(self._bound, max(bound, self._value))))

    def _enumerated(self, prices: Sequence[Fraction]) -> str:
        """Look at every choice that may be better; return the route's name where it ended, else nothing."""
        search = Enumeration(self._items, prices, self._value, self._offered)
        try:
            ended = search.run(_MOST, lambda: self._tell("branching", search.bound))
        finally:
            self._nodes += search.looked_at
            self._bound = min(self._bound, max(search.bound, self._value))
        return f"every choice of {len(self._items.useful)} items, by {search.looked_at} partial ones" if ended else ""

    def _by_highs(self) -> str:
        """Solve with all items; return the route's name where it ended, else nothing."""
        items = self._items.useful
        raw = self._solved(items, (), presolve=True, cutoff=None, most=sys.maxsize)
        if raw.x is not None:
            self._take(items, (), raw.x)
        if raw.summary.bound is not None:
            bound = Fraction(raw.summary.bound) * self._unit
            if self._refutes(bound):
                return ""
            self._bound = min(self._bound, max(bound, self._value))
        if raw.summary.status is not Status.OPTIMAL:
            return ""
        return f"HiGHS {raw.summary.version} on {len(items)} items"

    def _in_another_order(self, prices: Sequence[Fraction]) -> str:
        """Look at every choice once more, in another order; return the route's name where nothing is better."""
        search = Enumeration(self._items, [_OTHER * y for y in prices], self._value, self._offered, seed=1)
        try:
            search.run(sys.maxsize, lambda: self._tell("second route", self._bound))
        finally:
            self._nodes += search.looked_at
        # Rounding may hide a choice from the first pass that is better, though not beyond its bound.
        if self._value > self._bound:
            self._bound = self._safe
            return ""
        return f"every choice in another order, by {search.looked_at} partial ones: nothing is better"

    def _without_presolve(self, prices: Sequence[Fraction], most: int) -> str:
        """Look for anything better in another way; return its name where there is proved to be nothing.

        `most` programs are solved, where one point after the other does not fit.
        """
        value = self._value / self._unit
        cutoff = float(value) + 0.5 * TOLERANCE * max(1.0, float(value))
        free, taken = self._items.decided(prices, self._value)
        raw = self._solved(free, taken, presolve=False, cutoff=cutoff, most=most)
        if raw.x is not None:
            before = self._value
            self._take(free, taken, raw.x)
            if exceeds(self._value / self._unit, before / self._unit):
                return ""
        ended = raw.summary.status is Status.OPTIMAL and raw.summary.bound is not None
        if not (raw.summary.status is Status.INFEASIBLE or (ended and agree(raw.summary.bound or 0.0, float(value)))):
            return ""
        rest = f"{len(free)} of them, the others decided by prices"
        return f"HiGHS {raw.summary.version} without presolve on {rest}: nothing is better"

    def _solved(
        self, items: Sequence[int], fixed: Sequence[int], *, presolve: bool, cutoff: float | None, most: int
    ) -> RawSolution:
        """Solve; a point that rationals show to exceed a row is cut off, and the rest solved again.

        After `most` programs without the last one's point, which is none.
        """
        for _ in range(most):
            poll()
            raw = solve_matrix(
                self._items.matrix(items, fixed, self._cuts),
                threads=1,
                seed=0 if presolve else 7,
                presolve=presolve,
                cutoff=cutoff,
                cuts=False,
            )
            self._nodes += raw.summary.nodes
            if raw.x is None:
                return raw
            taken = [*fixed, *(i for i, x in zip(items, raw.x.tolist(), strict=True) if x > 0.5)]
            if self._items.fits(taken):
                return raw
            self._cuts.append(taken)
        return replace(raw, x=None)

    def _take(self, items: Sequence[int], fixed: Sequence[int], x: Floats) -> None:
        self._offer([*fixed, *(i for i, chosen in zip(items, x.tolist(), strict=True) if chosen > 0.5)])
        if self._refutes(self._bound):
            self._bound = self._safe

    def _refutes(self, bound: Fraction) -> bool:
        """Tell whether the best choice is worth more than a bound of HiGHS."""
        refuted = exceeds(self._value / self._unit, bound / self._unit)
        if refuted:
            self._evidence.append("a choice that fits refutes the bound of HiGHS")
        return refuted
