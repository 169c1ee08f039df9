"""The multi-dimensional 0-1 knapsack problem, exactly or to a guaranteed part of the optimum.

To a guaranteed part it is solved by the approximation scheme of Frieze and Clarke. The scheme of size k solves, for
every subset S of at most k items, the linear program LP(S) that takes the items of S, leaves those outside S that are
worth more than some item of S, and may take fractions of the rest; it rounds a basic solution down, and returns the
best of these. A basic solution has at most R fractional items, R the number of rows, and each is worth at most the
least of S; so with k = ceil(R (1 - eps) / eps) the value is at least 1 - eps of the optimum.

Most subsets need no program of their own: with an item more, S restricts LP(S) further, so where LP(S) is worth no more
than what is already found, neither S nor any subset that continues it can improve on that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np

from dlsched.algorithms.exact.knapsack import solve_exact
from dlsched.algorithms.knapsack_items import Exact, Items
from dlsched.arguments import at_least, checked, expect_share, not_negative
from dlsched.arithmetic import dot
from dlsched.errors import InputError
from dlsched.lazy import sp
from dlsched.models.numbers import amount, to_integers
from dlsched.solvers.highs import Session
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import LEAST_DROPPED, ROUNDING, SNAP, ZERO

MAX_LPS = 200_000
"""The most linear programs that the scheme solves where no other limit is given."""


class TooManyProgramsError(InputError):
    """The scheme is not done after as many linear programs as it may solve."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Items that fit the knapsack.

    Attributes
    ----------
    chosen : tuple of int
        Their indices, increasing; items worth nothing are left out.
    value : Fraction
        What they are worth.
    subset_size : int or None
        k of the scheme; None for the exact method.
    guarantee : Fraction
        The value is at least this part of the optimum.
    subsets : int
        Subsets S that a scheme of this size ranges over; 0 for the exact method.
    lps : int
        Linear programs solved.

    Examples
    --------
    >>> from dlsched.algorithms import solve_knapsack
    >>> found = solve_knapsack([60, 100, 120], [[1], [2], [3]], [5], epsilon=0.5)
    >>> found.chosen, found.value >= found.guarantee * 220
    ((0, 2), True)
    >>> print(found.guarantee, found.subset_size, found.lps)
    1/2 1 4
    """

    chosen: tuple[int, ...]
    value: Fraction
    subset_size: int | None
    guarantee: Fraction
    subsets: int
    lps: int


def subset_size(items: int, rows: int, epsilon: Exact) -> int:
    """Return k = min(I, ceil(R (1 - eps) / eps)), with which the scheme's value is at least 1 - eps of the optimum.

    Parameters
    ----------
    items, rows : int
        I and R.
    epsilon : number
        In (0, 1).

    Raises
    ------
    InputError
        If epsilon is not in (0, 1).

    References
    ----------
    SMD, step 3, and Frieze and Clarke (1984): k / (k + R) >= 1 - eps.
    """
    part = amount("epsilon", epsilon)
    expect_share(whole=False, epsilon=part)
    return min(items, math.ceil(rows * (1 - part) / part))


def frieze_clarke(items: Items, size: int, *, max_lps: int = MAX_LPS) -> Selection:
    """Run the scheme with subsets of at most so many items.

    Parameters
    ----------
    items : Items
    size : int
        k.
    max_lps : int
        The most linear programs that it may solve.

    Raises
    ------
    TooManyProgramsError
        If it is not done after so many.

    References
    ----------
    Frieze and Clarke (1984), as SMD, step 3, states it.
    """
    useful, rows = len(items.useful), len(items.rows)
    if not rows:
        return Selection(tuple(items.useful), items.worth(items.useful), 0, Fraction(1), 1, 0)
    size = min(size, useful)
    search = _Search(items, size, max_lps)
    search.run()
    subsets = sum(math.comb(useful, taken) for taken in range(size + 1))
    guarantee = search.guarantee if size == useful else Fraction(size, size + rows)
    return Selection(tuple(sorted(search.best)), search.value, size, guarantee, subsets, search.lps)


class _Search:
    """The scheme's subsets, depth first: each continues its parent by one item that is worth no more than those in it.

    Parameters
    ----------
    items : Items
        Some of which exceed some row together; below, an item is its position in `Items.by_value`.
    size, max_lps : int
    """

    def __init__(self, items: Items, size: int, max_lps: int) -> None:
        self._problem, self._items, self._size, self._max_lps = items, items.by_value, size, max_lps
        self.best: tuple[int, ...] = ()
        self.value = Fraction(0)
        self.lps = 0
        self._worth = np.array([float(items.values[i] / items.unit) for i in self._items])
        # equally valuable items stay free, whichever of them S has
        self._first_free = np.searchsorted(-self._worth, -self._worth, side="left")
        self._limits = [items.limits[r] for r in items.rows]
        self._weights = [[items.scaled[r][i] for r in items.rows] for i in self._items]
        self._session = Session(-1)
        rows = len(self._limits)
        self._session.add_rows(np.full(rows, -np.inf), np.ones(rows), sp.csr_array((rows, 0)))
        shares = np.array([[w / c for w, c in zip(row, self._limits, strict=True)] for row in self._weights])
        shares[shares <= LEAST_DROPPED] = 0.0
        self._shares = shares
        self._session.add_columns(self._worth, np.ones(len(self._items)), sp.csc_array(shares.T))

    def run(self) -> None:
        """Go through all subsets."""
        self._extend((), self._limits)

    @property
    def guarantee(self) -> Fraction:
        """The part of the optimum that the best is, where subsets may be of any size.

        Bounds are floats, so what is better by their rounding may be missed; nothing is, where any other worth, a
        multiple of the same unit, differs by more.
        """
        missed = 2 * SNAP * self.value
        grid = Fraction(1, to_integers(self._problem.values[i] for i in self._items)[1])
        return Fraction(1) if missed < grid else 1 - 2 * SNAP

    def _extend(self, subset: tuple[int, ...], room: list[int]) -> None:
        """Solve LP(S), where the items of S leave so much room, and the programs of all subsets that continue S."""
        bound = self._solve(subset, room)
        if len(subset) == self._size:
            return
        for item in range(subset[-1] + 1 if subset else 0, len(self._items)):
            if bound <= float(self.value / self._problem.unit) * (1 + ROUNDING):
                return
            left = self._without(room, item)
            if min(left) >= 0:
                self._extend((*subset, item), left)

    def _without(self, room: list[int], item: int) -> list[int]:
        return [c - w for c, w in zip(room, self._weights[item], strict=True)]

    def _solve(self, subset: tuple[int, ...], room: list[int]) -> float:
        """Return a bound on what LP(S) is worth, and keep its solution rounded down if it is the best so far."""
        if self.lps == self._max_lps:
            ranges = f"all 2^{len(self._items)}" if self._size == len(self._items) else f"{self._size}-item"
            raise TooManyProgramsError(
                f"epsilon: asks for {ranges} subsets of {len(self._items)} items, and the scheme is not done after "
                f"{self.lps} linear programs; take a larger one, or the exact method"
            )
        taken = list(subset)
        free = np.ones(len(self._items))
        free[: self._first_free[taken[-1]] if taken else 0] = 0.0
        free[taken] = 0.0
        left = np.array([c / whole for c, whole in zip(room, self._limits, strict=True)])
        self._session.bound_columns(free)
        self._session.bound_rows(np.arange(len(left), dtype=np.int32), np.full(len(left), -np.inf), left)
        solved = self._session.solve()
        if solved is None:
            raise RuntimeError("HiGHS found no optimum of a knapsack's linear program, which always has one")
        self.lps += 1
        _, x, duals = solved
        fractional = int(((x > ZERO) & (x < 1 - ZERO)).sum())
        if fractional > len(left):
            raise RuntimeError(f"HiGHS returned {fractional} fractional items, more than a basis of {len(left)} has")
        prices = np.maximum(duals, 0.0)
        reduced = self._worth - dot(self._shares, prices)
        self._keep((*subset, *self._floor(x, np.where(free > 0, reduced, 0.0), room)))
        return float(dot(prices, left) + dot(free, np.maximum(reduced, 0.0)) + self._worth[taken].sum())

    def _floor(self, x: Floats, reduced: Floats, room: list[int]) -> list[int]:
        """Return the items that a solution takes whole, within 1e-9, as far as they fit exactly.

        Items of reduced costs that HiGHS does not tell from 0 are as it left them; an optimum takes those above.
        """
        whole = np.flatnonzero(x >= 1 - ZERO)
        unseen = np.flatnonzero((x <= ZERO) & (reduced > ROUNDING))
        taken = []
        for item in [
            *whole[np.argsort(-x[whole], kind="stable")].tolist(),
            *unseen[np.argsort(-reduced[unseen], kind="stable")].tolist(),
        ]:
            left = self._without(room, item)
            if min(left) >= 0:
                taken.append(item)
                room = left
        return taken

    def _keep(self, subset: tuple[int, ...]) -> None:
        chosen = tuple(self._items[item] for item in subset)
        value = self._problem.worth(chosen)
        if value > self.value:
            self.best, self.value = chosen, value


class Method(StrEnum):
    """How a knapsack problem is solved."""

    SCHEME = "scheme"
    EXACT = "exact"
    LP_FLOOR = "lp-floor"


@checked
def solve_knapsack(
    values: Sequence[Exact],
    weights: Sequence[Sequence[Exact]],
    capacity: Sequence[Exact],
    *,
    method: Method | str = Method.SCHEME,
    epsilon: Exact = 0.5,
    max_lps: int = MAX_LPS,
) -> Selection:
    """Choose items of the largest value that fit, exactly or to a guaranteed part of it.

    Parameters
    ----------
    values : sequence of I numbers
        Not negative.
    weights : sequence of I sequences of R numbers
        Not negative.
    capacity : sequence of R numbers
        Not negative.
    method : {"scheme", "exact", "lp-floor"}
        ``"lp-floor"`` is the scheme of size 0, which guarantees nothing.
    epsilon : number
        The scheme's value is at least 1 - epsilon of the optimum. It fixes the subset size with the items that fit and
        are worth something, and with the rows that all of these together exceed.
    max_lps : int
        The most linear programs that the scheme may solve.

    Raises
    ------
    InputError
        If a number is negative or not finite, the shapes do not fit, or epsilon is not in (0, 1).
    TooManyProgramsError
        If the scheme is not done after `max_lps` programs.

    Examples
    --------
    >>> from dlsched.algorithms import solve_knapsack
    >>> solve_knapsack([60, 100, 120], [[1], [2], [3]], [5], method="exact").chosen
    (1, 2)
    >>> print(solve_knapsack([60, 100, 120], [[1], [2], [3]], [5], method="lp-floor").value)
    160
    """
    at_least(0, max_lps=max_lps)
    items = Items.of(values, weights, capacity)
    not_negative(**{f"values[{i}]": value for i, value in enumerate(items.values)})
    how = Method(method)
    if how is Method.EXACT:
        found = solve_exact(items.values, items.weights, items.capacity)
        guarantee = Fraction(1) if found.proved or not found.bound else min(Fraction(1), found.value / found.bound)
        return Selection(found.chosen, found.value, None, guarantee, 0, 0)
    if how is Method.LP_FLOOR:
        return frieze_clarke(items, 0, max_lps=max_lps)
    size = subset_size(len(items.useful), len(items.rows), epsilon)
    return frieze_clarke(items, size, max_lps=max_lps)
