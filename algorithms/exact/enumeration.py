"""Every choice of items that may be worth more than a known one, item by item, in whole numbers.

A partial choice has decided the first items; all of them go on together, as arrays, thousands at a time. What one may
still come to is at most its worth, plus y.room, plus max(0, u_i - y.v_i) of every item that is not decided, whatever
the prices y >= 0 (Lagrangian bound): that of a linear program at its room, if these are the duals. The programs of a
few partial choices give prices for all of them, so one costs a thousandth of a program.

Values are rounded up and weights down to whole numbers of at most 2^53 in all, which doubles add and multiply exactly:
what is dropped is worth no more than what is known, by no more than a unit for each item.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.knapsack_items import Items
from dlsched.arithmetic import exact_product
from dlsched.halt import poll
from dlsched.solvers.highs import Session
from dlsched.solvers.matrix import Floats
from dlsched.solvers.solution import SolverError

_WORTH = 2**48
"""All items together, in units of value. With `_DEAR` below 2^53, beyond which doubles skip whole numbers."""

_DEAR = 2**52
"""What the room of all rows may cost at any prices, in units of value."""

_ROOM = 2**24
"""Units of a row's room where its own are too many: prices in units of value for one of them keep seven digits."""

_TOGETHER = 2**13
"""Partial choices that go on together. Of 2^12 to 2^15 about the best on 100 items with 5 and 10 rows: fewer need more
linear programs, more leave the cache and bring the first whole choices late."""

_START = 2**9
"""Partial choices of a first pass that keeps no others: with what it finds, a fifth to two thirds as many are looked at
afterwards. 2^7 to 2^11 are about as good."""

_SAMPLE = 24
"""Linear programs for new prices. 12 to 48 take about as long: what bounds cost against what they decide."""

_EVERY = 4
"""Items between new prices. 2 to 5 take about as long."""

_OPEN = 128
"""Sets of partial choices up to which that of the best bound goes on, so that the bound falls; beyond, the last one, so
that few more are put aside: with 100 items and 30 rows they take half a gigabyte."""

_FEW = 500
"""Partial choices up to which new prices cost more than they save."""


class _Grid(NamedTuple):
    """Items in whole numbers, in the order in which they are decided.

    Attributes
    ----------
    items : list of int
    values : array, shape (n,)
        Rounded up.
    weights : array, shape (rows, n)
        Rounded down.
    room : array, shape (rows,)
    scale : Fraction
        Units of value in 1.
    excess : int
        By how many units rounding may make a choice look better.
    merges : bool
        Whether weights are what they were, so that what leaves the same room is as good for the rest.
    """

    items: list[int]
    values: Floats
    weights: Floats
    room: Floats
    scale: Fraction
    excess: int
    merges: bool

    @classmethod
    def of(cls, items: Items, order: list[int], limits: Sequence[int]) -> Self:
        """Round the numbers of some items: each fits into what there is of each row, not all of them together."""
        total = items.worth(order)
        common = lcm(*(items.values[i].denominator for i in order))
        exact = common * total <= _WORTH
        # Prices are whole numbers of units, too: the smaller the units, the better.
        scale = common * (_WORTH // (common * total)) if exact else (_WORTH - len(order)) / total
        values = [-(-items.values[i] * scale // 1) for i in order]
        weights, room = [], []
        binding = [r for r in items.rows if sum(items.scaled[r][i] for i in order) > limits[r]]
        for r in binding:
            limit = min(limits[r], _ROOM)
            weights.append([items.scaled[r][i] * limit // limits[r] for i in order])
            room.append(limit)
        return cls(
            order,
            np.array(values, dtype=float),
            np.array(weights, dtype=float).reshape(len(room), len(order)),
            np.array(room, dtype=float),
            Fraction(scale),
            0 if exact else len(order),
            all(limits[r] <= _ROOM for r in binding),
        )


class _Prices(NamedTuple):
    """Prices, and what the items from each on are worth beyond them.

    Attributes
    ----------
    prices : array, shape (K, rows)
        Units of value for a unit of room, whole.
    rest : array, shape (n + 1, K)
        Sum of max(0, u_i - y.v_i) over the items from each on.
    """

    prices: Floats
    rest: Floats

    @classmethod
    def of(cls, grid: _Grid, prices: Floats) -> Self:
        """Round prices to whole ones at which the room of all rows costs at most `_DEAR`."""
        whole = np.floor(np.clip(prices, 0.0, _DEAR // len(grid.room) / grid.room))
        beyond = np.maximum(grid.values - exact_product(whole, grid.weights), 0.0)
        rest = np.zeros((beyond.shape[1] + 1, len(whole)))
        rest[:-1] = np.cumsum(beyond[:, ::-1], axis=1)[:, ::-1].T
        return cls(whole, rest)

    def bound(self, depth: int, worth: Floats, room: Floats) -> Floats:
        """Return what partial choices come to at most."""
        least: Floats = (exact_product(self.prices, room) + self.rest[depth][:, None]).min(axis=0)
        return worth + least


class _Step(NamedTuple):
    """How partial choices came from those before them.

    Attributes
    ----------
    origin : array, shape (k,)
        Each one's place among those before.
    item : int, optional
        The item decided, if one was.
    taken : array, shape (k,), optional
        Who took it.
    """

    origin: npt.NDArray[np.int32]
    item: int | None = None
    taken: npt.NDArray[np.bool_] | None = None


@dataclass(slots=True)
class _Choices:
    """Partial choices that have decided the same items.

    Attributes
    ----------
    depth : int
        Items decided.
    worth : array, shape (k,)
    room : array, shape (rows, k)
    bound : array, shape (k,)
        What each comes to at most.
    prices : _Prices
    since : int
        Items decided since the prices were new.
    decided : array of uint8
        What partial choices took, in bits, when they were last put aside.
    steps : list of _Step
        Since then.
    """

    depth: int
    worth: Floats
    room: Floats
    bound: Floats
    prices: _Prices
    since: int
    decided: npt.NDArray[np.uint8]
    steps: list[_Step]

    def keep(self, which: npt.NDArray[np.intp]) -> None:
        """Leave the others out."""
        self.worth, self.room, self.bound = self.worth[which], self.room[:, which], self.bound[which]
        self.steps.append(_Step(which.astype(np.int32)))

    def part(self, size: int) -> _Choices:
        """Return all but those with the best bounds, which stay, in as little memory as they need."""
        order = np.argsort(-self.bound, kind="stable")
        others = order[size:]
        aside = replace(
            self,
            worth=self.worth[others],
            # Whole numbers up to `_ROOM` are exact in half as many bytes.
            room=self.room[:, others].astype(np.float32),
            bound=self.bound[others],
            decided=np.packbits(self.taken(others), axis=1),
            steps=[],
        )
        self.keep(order[:size])
        return aside

    def taken(self, which: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.bool_]:
        """Return who of them took which item, shape (k, n)."""
        items = len(self.prices.rest) - 1
        taken = np.zeros((len(which), items), dtype=bool)
        for step in reversed(self.steps):
            if step.taken is not None:
                taken[:, step.item] = step.taken[which]
            which = step.origin[which]
        before: npt.NDArray[np.bool_] = np.unpackbits(self.decided[which], axis=1, count=items).astype(bool)
        return taken | before


class Enumeration:
    """The choices of items that may be worth more than the best one known.

    Parameters
    ----------
    items : Items
        Not all of the useful ones fit.
    prices : sequence of R rationals
        At which items are the further ahead the more they are worth beyond what they cost, or cost beyond their worth.
    known : Fraction
        Value of the best choice so far.
    offer : callable
        Called with items that may be worth more; returns the value of the best choice that is known then.
    seed : int, optional
        Of the sample of partial choices that new prices are for.

    Attributes
    ----------
    looked_at : int
        Partial choices so far.
    """

    def __init__(
        self,
        items: Items,
        prices: Sequence[Fraction],
        known: Fraction,
        offer: Callable[[Sequence[int]], Fraction],
        seed: int = 0,
    ) -> None:
        free, self._taken = items.decided(prices, known)
        self._base = items.worth(self._taken)
        limits = items.room(self._taken)
        free = [i for i in free if min(items.without(limits, i), default=0) >= 0]
        self._known, self._offer, self._slack = known, offer, Fraction(0)
        self._open: list[_Choices] = []
        self.looked_at = 0
        if min(limits, default=0) < 0:
            return
        if items.fits([*self._taken, *free]):
            self._known = max(known, offer([*self._taken, *free]))
            return
        order = sorted(free, key=lambda i: abs(items.reduced(prices, i)), reverse=True)
        self._grid = _Grid.of(items, order, limits)
        self._slack = self._grid.excess / self._grid.scale
        self._random = np.random.default_rng(seed)
        self._relaxed = _Relaxed(self._grid)
        rows = len(self._grid.room)
        self._hash = self._random.integers(1, _DEAR // _ROOM // rows, size=rows).astype(float)
        self._aim()
        room = self._grid.room
        first = _Prices.of(self._grid, np.array([np.zeros(len(room)), self._relaxed.at(0, room)]))
        nothing = np.packbits(np.zeros((1, len(order)), dtype=bool), axis=1)
        bound = first.bound(0, np.zeros(1), room[:, None])
        self._open.append(_Choices(0, np.zeros(1), room[:, None], bound, first, 0, nothing, []))

    def run(self, most: int, tell: Callable[[], None] = lambda: None) -> bool:
        """Go on until nothing is open, or as many partial choices have been looked at; tell which.

        Parameters
        ----------
        most : int
        tell : callable, optional
            Called some twenty times a second, when `bound` may be lower.

        Raises
        ------
        Halt
            If the work is over (`dlsched.halt`); what is open stays so.
        """
        if self._open and not self.looked_at:
            others: list[_Choices] = []
            self._follow(replace(self._open[0], steps=[]), _START, others)
            if not others:
                self._open.clear()
        while self._open and self.looked_at < most:
            poll()
            choices = self._open.pop(self._next())
            try:
                self._follow(choices, _TOGETHER, self._open)
            except BaseException:
                self._open.append(choices)
                raise
            tell()
        return not self._open

    @property
    def bound(self) -> Fraction:
        """The least upper bound on all choices that is known."""
        opened = (self._base + Fraction(float(choices.bound.max())) / self._grid.scale for choices in self._open)
        return max([self._known + self._slack, *opened])

    def _next(self) -> int:
        """Return the place of what goes on next: what has the best bound or, where much is open, what came last."""
        if len(self._open) > _OPEN:
            return -1
        return max(range(len(self._open)), key=lambda place: float(self._open[place].bound.max()))

    def _aim(self) -> None:
        """Look for what is worth more than the best choice that is known."""
        self._target = float((self._known - self._base) * self._grid.scale // 1 + 1 + self._grid.excess)

    def _follow(self, choices: _Choices, size: int, aside: list[_Choices]) -> None:
        """Decide item by item, for those with the best bounds; put the others aside."""
        n = len(self._grid.items)
        choices.room = choices.room.astype(float)
        self._drop(choices)
        while len(choices.worth) and choices.depth < n:
            # Before the next item: what was put aside is as many as are too many, and would be twice as many each time.
            if len(choices.worth) > size:
                aside.append(choices.part(size // 2))
            if choices.since >= _EVERY and len(choices.worth) > _FEW:
                self._price(choices)
            self._decide(choices)
        # The best in whole numbers may not fit, or not be the best: all that are left are looked at.
        for which in np.argsort(-choices.worth, kind="stable")[:, None] if choices.depth == n else ():
            if choices.worth[which[0]] < self._target:
                break
            places = np.flatnonzero(choices.taken(which)[0])
            self._known = self._offer([*self._taken, *(self._grid.items[place] for place in places)])
            self._aim()

    def _drop(self, choices: _Choices) -> None:
        if (choices.bound < self._target).any():
            choices.keep(np.flatnonzero(choices.bound >= self._target))

    def _decide(self, choices: _Choices) -> None:
        """Leave the next item, and take it where it fits; drop what cannot be better."""
        item = choices.depth
        room = choices.room - self._grid.weights[:, item, None]
        fits = np.flatnonzero(room.min(axis=0) >= 0)
        left = len(choices.worth)
        choices.worth = np.concatenate([choices.worth, choices.worth[fits] + self._grid.values[item]])
        choices.room = np.concatenate([choices.room, room[:, fits]], axis=1)
        choices.depth += 1
        choices.since += 1
        bound = choices.prices.bound(choices.depth, choices.worth, choices.room)
        choices.bound = np.minimum(bound, np.concatenate([choices.bound, choices.bound[fits]]))
        kept = np.flatnonzero(choices.bound >= self._target)
        choices.worth, choices.room, choices.bound = choices.worth[kept], choices.room[:, kept], choices.bound[kept]
        origin = np.concatenate([np.arange(left), fits])[kept].astype(np.int32)
        choices.steps.append(_Step(origin, item, kept >= left))
        self.looked_at += len(kept)

    def _price(self, choices: _Choices) -> None:
        """Take new prices, from linear programs of some of the partial choices; drop what cannot be better at these."""
        if self._grid.merges:
            self._merge(choices)
        size = min(_SAMPLE, len(choices.worth) // 20)
        prices = [np.zeros(len(self._grid.room))]
        for which in self._random.choice(len(choices.worth), size=size, replace=False).tolist():
            prices.append(self._relaxed.at(choices.depth, choices.room[:, which]))
        choices.prices = _Prices.of(self._grid, np.array(prices))
        choices.since = 0
        bound = choices.prices.bound(choices.depth, choices.worth, choices.room)
        choices.bound = np.minimum(bound, choices.bound)
        self._drop(choices)

    def _merge(self, choices: _Choices) -> None:
        """Of partial choices that leave the same room, keep one that is worth most: items may be alike."""
        code = exact_product(self._hash, choices.room)
        order = np.lexsort((-choices.worth, code))
        same = (np.diff(choices.room[:, order], axis=1) == 0).all(axis=0)
        if same.any():
            choices.keep(order[np.concatenate([[True], ~same])])


class _Relaxed:
    """The linear relaxation of what is left for a partial choice, warm."""

    def __init__(self, grid: _Grid) -> None:
        n, rows = len(grid.items), len(grid.room)
        self._value, self._unit = float(grid.values.max()), grid.room
        self._session = Session(sense=-1)
        self._session.add_rows(np.full(rows, -np.inf), np.ones(rows), np.zeros((rows, 0)))
        self._session.add_columns(grid.values / self._value, np.ones(n), grid.weights / self._unit[:, None])
        self._rows = np.arange(rows, dtype=np.int32)
        self._depth = 0

    def at(self, depth: int, room: Floats) -> Floats:
        """Return the prices of a linear program over the items from `depth` on; 0 where HiGHS does not solve it."""
        if depth != self._depth:
            columns = np.arange(*sorted((depth, self._depth)), dtype=np.int32)
            self._session.bound_columns(np.full(len(columns), float(depth < self._depth)), columns=columns)
            self._depth = depth
        self._session.bound_rows(self._rows, np.full(len(room), -np.inf), room / self._unit)
        try:
            solved = self._session.solve()
        except SolverError:
            solved = None
        return np.zeros(len(room)) if solved is None else solved[2] * self._value / self._unit
