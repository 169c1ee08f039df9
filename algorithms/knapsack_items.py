"""A 0-1 knapsack problem with several rows in exact numbers: what fits, what it is worth, and what prices say of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Self

import numpy as np

from dlsched.arguments import not_negative
from dlsched.errors import InputError
from dlsched.halt import polled
from dlsched.models.numbers import amount, to_integers
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Matrix
from dlsched.solvers.solve import solve_matrix

Exact = int | float | Fraction | str
"""A number, read as `dlsched.models.numbers.rational` reads it."""


class Items:
    """The items of a knapsack problem; rows are scaled to integers.

    Parameters
    ----------
    values : tuple of I Fractions
    weights : tuple of I tuples of R Fractions
    capacity : tuple of R Fractions

    Attributes
    ----------
    values, weights, capacity
        As given.
    scaled : list of R lists of I int
        Weights by row, in the greatest unit that they are multiples of.
    limits : list of R int
        Capacities in the same units, rounded down, at most what all items weigh.
    useful : list of int
        Items that fit by themselves and are worth something.
    by_value : list of int
        These, the most valuable first.
    unit : Fraction
        What the most valuable is worth.
    """

    def __init__(
        self,
        values: tuple[Fraction, ...],
        weights: tuple[tuple[Fraction, ...], ...],
        capacity: tuple[Fraction, ...],
    ) -> None:
        self.values, self.weights, self.capacity = values, weights, capacity
        self.scaled, self.limits = [], []
        for r, limit in enumerate(capacity):
            row, scale = to_integers(item[r] for item in weights)
            unit = math.gcd(*row) or 1
            self.scaled.append([weight // unit for weight in row])
            self.limits.append(min(int(limit * scale // unit), sum(self.scaled[r])))
        self.useful = [i for i, value in enumerate(values) if value > 0 and self.fits([i])]
        self.by_value = sorted(self.useful, key=self.values.__getitem__, reverse=True)
        self.unit = max((values[i] for i in self.useful), default=Fraction(1))

    @classmethod
    def of(cls, values: Sequence[Exact], weights: Sequence[Sequence[Exact]], capacity: Sequence[Exact]) -> Self:
        """Read the numbers.

        Raises
        ------
        InputError
            If a number is not finite, a weight or a capacity is negative, or shapes do not fit; items of negative value
            are never useful.
        """
        if len(weights) != len(values):
            raise InputError(f"weights: has {len(weights)} rows for {len(values)} values")
        for i, row in enumerate(weights):
            if len(row) != len(capacity):
                raise InputError(f"weights[{i}]: has {len(row)} entries for {len(capacity)} capacities")
        return cls(
            _numbers("values", values, negative=True),
            tuple(_numbers(f"weights[{i}]", row) for i, row in enumerate(weights)),
            _numbers("capacity", capacity),
        )

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows that the useful items exceed together: the others never bind."""
        return tuple(r for r, room in enumerate(self.room(self.useful)) if room < 0)

    def worth(self, items: Sequence[int]) -> Fraction:
        """Return the items' value."""
        return sum((self.values[i] for i in items), Fraction(0))

    def room(self, items: Sequence[int]) -> list[int]:
        """Return what items leave of each row, in its units."""
        return [limit - sum(row[i] for i in items) for row, limit in zip(self.scaled, self.limits, strict=True)]

    def fits(self, items: Sequence[int]) -> bool:
        """Tell whether the items fit together."""
        return all(room >= 0 for room in self.room(items))

    def without(self, room: Sequence[int], item: int) -> list[int]:
        """Return what is left of each row after one more item."""
        return [left - row[item] for row, left in zip(self.scaled, room, strict=True)]

    def filled(self, items: Sequence[int]) -> list[int]:
        """Add further items while they fit, the most valuable first."""
        return self._packed(items, self.by_value)

    def greedy(self, prices: Sequence[Fraction]) -> list[int]:
        """Return items taken in the order of their reduced costs while they fit."""
        return self._packed((), sorted(self.useful, key=lambda i: self.reduced(prices, i), reverse=True))

    def _packed(self, items: Sequence[int], order: Sequence[int]) -> list[int]:
        room, packed, taken = self.room(items), list(items), set(items)
        for i in order:
            if i not in taken and min(left := self.without(room, i), default=0) >= 0:
                room = left
                packed.append(i)
        return packed

    def reduced(self, prices: Sequence[Fraction], i: int) -> Fraction:
        """Return u_i - y.v_i, what an item is worth beyond its price."""
        return self.values[i] - sum((y * row[i] for y, row in zip(prices, self.scaled, strict=True)), Fraction(0))

    def lagrangian(self, prices: Sequence[Fraction]) -> Fraction:
        """Return y.C + sum_i max(0, u_i - y.v_i), which no choice exceeds."""
        base = sum((y * room for y, room in zip(prices, self.limits, strict=True)), Fraction(0))
        return base + sum((max(Fraction(0), self.reduced(prices, i)) for i in polled(self.useful)), Fraction(0))

    def decided(self, prices: Sequence[Fraction], known: Fraction) -> tuple[list[int], list[int]]:
        """Return the items that prices leave open, and those of the others that anything worth more than `known` takes.

        An item whose reduced cost alone exceeds the gap of the Lagrangian bound is decided in whatever is better.
        """
        gap = self.lagrangian(prices) - known
        reduced = {i: self.reduced(prices, i) for i in self.useful}
        return [i for i, d in reduced.items() if abs(d) <= gap], [i for i, d in reduced.items() if d > gap]

    def prices(self) -> list[Fraction]:
        """Return a price y_r >= 0 for each row: the duals of the linear relaxation, as the rationals that they are."""
        raw = solve_matrix(self.matrix(self.useful).relaxed())
        if raw.row_duals is None:
            return [Fraction(0)] * len(self.scaled)
        scale = [max([1, *(row[i] for i in self.useful)]) for row in self.scaled]
        return [
            max(Fraction(0), Fraction(float(dual))) * self.unit / size
            for dual, size in zip(raw.row_duals.tolist(), scale, strict=True)
        ]

    def matrix(self, items: Sequence[int], fixed: Sequence[int] = (), cuts: Sequence[Sequence[int]] = ()) -> Matrix:
        """Return the problem over some items, in units of the most valuable one, others taken or left.

        Each of the cuts is a set of items that do not fit together.
        """
        rows = np.array([[row[i] for i in items] for row in self.scaled], dtype=object).reshape(-1, len(items))
        room = [c - sum(row[i] for i in fixed) for row, c in zip(self.scaled, self.limits, strict=True)]
        scale = [max([1, *row]) for row in rows.tolist()]
        A = np.array([[a / s for a in row] for row, s in zip(rows.tolist(), scale, strict=True)], dtype=float)
        upper = np.array([c / s for c, s in zip(room, scale, strict=True)], dtype=float)
        program = Builder(-1, float(self.worth(fixed) / self.unit))
        x = program.columns(1.0, cost=[float(self.values[i] / self.unit) for i in items], integer=True)
        program.add(program.rows(upper=upper)[:, None], x, A.reshape(-1, len(items)))
        for cut in cuts:
            within = [(column, 1.0) for column, i in enumerate(items) if i in cut]
            program.row(within, upper=len(cut) - 1 - sum(i in cut for i in fixed))
        names = (f"row{r}" for r in range(len(upper) + len(cuts))), (f"item{i}" for i in items)
        return program.matrix(*names)


def _numbers(name: str, numbers: Sequence[Exact], negative: bool = False) -> tuple[Fraction, ...]:
    places = (f"{name}[{i}]" for i in range(len(numbers)))
    read = {place: amount(place, number) for place, number in zip(places, numbers, strict=True)}
    if not negative:
        not_negative(**read)
    return tuple(read.values())
