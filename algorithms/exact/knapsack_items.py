"""A 0-1 knapsack problem in exact numbers: what fits, what it is worth, and what prices say of it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dlsched.halt import polled
from dlsched.models.numbers import to_integers
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Matrix
from dlsched.solvers.solve import solve_matrix


class Items:
    """The items of a knapsack problem, rows scaled to integers.

    Parameters
    ----------
    values : sequence of I rationals
    weights : sequence of I sequences of R rationals
        Not negative.
    capacity : sequence of R rationals

    Raises
    ------
    ValueError
        If a weight or a capacity is negative, or shapes do not fit.
    """

    def __init__(
        self, values: Sequence[Fraction], weights: Sequence[Sequence[Fraction]], capacity: Sequence[Fraction]
    ) -> None:
        _check(values, weights, capacity)
        self._u = list(values)
        rows = [to_integers([*(item[r] for item in weights), limit])[0] for r, limit in enumerate(capacity)]
        self._capacity = [row.pop() for row in rows]
        self._rows = rows
        self.useful = [i for i, u in enumerate(self._u) if u > 0 and self.fits([i])]
        self.unit = max((self._u[i] for i in self.useful), default=Fraction(1))

    def worth(self, items: Sequence[int]) -> Fraction:
        """Return the items' value."""
        return sum((self._u[i] for i in items), Fraction(0))

    def fits(self, items: Sequence[int]) -> bool:
        """Tell whether the items fit together."""
        return all(sum(row[i] for i in items) <= room for row, room in zip(self._rows, self._capacity, strict=True))

    def filled(self, items: Sequence[int]) -> list[int]:
        """Add further items while they fit, the most valuable first."""
        left = [room - sum(row[i] for i in items) for row, room in zip(self._rows, self._capacity, strict=True)]
        filled = list(items)
        taken = set(items)
        for i in sorted(self.useful, key=lambda i: self._u[i], reverse=True):
            if i not in taken and all(row[i] <= room for row, room in zip(self._rows, left, strict=True)):
                left = [room - row[i] for row, room in zip(self._rows, left, strict=True)]
                filled.append(i)
        return filled

    def reduced(self, prices: Sequence[Fraction], i: int) -> Fraction:
        """Return u_i - y.v_i, what an item is worth beyond its price."""
        return self._u[i] - sum((y * row[i] for y, row in zip(prices, self._rows, strict=True)), Fraction(0))

    def lagrangian(self, prices: Sequence[Fraction]) -> Fraction:
        """Return y.C + sum_i max(0, u_i - y.v_i), which no choice exceeds."""
        base = sum((y * room for y, room in zip(prices, self._capacity, strict=True)), Fraction(0))
        return base + sum((max(Fraction(0), self.reduced(prices, i)) for i in polled(self.useful)), Fraction(0))

    def greedy(self, prices: Sequence[Fraction]) -> list[int]:
        """Return items taken in the order of their reduced costs while they fit."""
        taken: list[int] = []
        left = list(self._capacity)
        for i in sorted(self.useful, key=lambda i: self.reduced(prices, i), reverse=True):
            if all(row[i] <= room for row, room in zip(self._rows, left, strict=True)):
                left = [room - row[i] for row, room in zip(self._rows, left, strict=True)]
                taken.append(i)
        return taken

    def prices(self) -> list[Fraction]:
        """Return a price y_r >= 0 for each row: the duals of the linear relaxation, as the rationals that they are."""
        raw = solve_matrix(self.matrix(self.useful).relaxed())
        if raw.row_duals is None:
            return [Fraction(0)] * len(self._rows)
        scale = [max([1, *(row[i] for i in self.useful)]) for row in self._rows]
        return [
            max(Fraction(0), Fraction(float(dual))) * self.unit / size
            for dual, size in zip(raw.row_duals.tolist(), scale, strict=True)
        ]

    def matrix(self, items: Sequence[int], fixed: Sequence[int] = (), cuts: Sequence[Sequence[int]] = ()) -> Matrix:
        """Return the problem over some items, in units of the most valuable one, others taken or left.

        Each of the cuts is a set of items that do not fit together.
        """
        rows = np.array([[row[i] for i in items] for row in self._rows], dtype=object).reshape(-1, len(items))
        room = [c - sum(row[i] for i in fixed) for row, c in zip(self._rows, self._capacity, strict=True)]
        scale = [max([1, *row]) for row in rows.tolist()]
        A = np.array([[a / s for a in row] for row, s in zip(rows.tolist(), scale, strict=True)], dtype=float)
        upper = np.array([c / s for c, s in zip(room, scale, strict=True)], dtype=float)
        program = Builder(-1, float(self.worth(fixed) / self.unit))
        x = program.columns(1.0, cost=[float(self._u[i] / self.unit) for i in items], integer=True)
        program.add(program.rows(upper=upper)[:, None], x, A.reshape(-1, len(items)))
        for cut in cuts:
            within = [(column, 1.0) for column, i in enumerate(items) if i in cut]
            program.row(within, upper=len(cut) - 1 - sum(i in cut for i in fixed))
        names = (f"row{r}" for r in range(len(upper) + len(cuts))), (f"item{i}" for i in items)
        return program.matrix(*names)


def _check(values: Sequence[Fraction], weights: Sequence[Sequence[Fraction]], capacity: Sequence[Fraction]) -> None:
    if len(weights) != len(values):
        raise ValueError(f"weights: there are {len(weights)} for {len(values)} values")
    for i, row in enumerate(weights):
        if len(row) != len(capacity):
            raise ValueError(f"weights[{i}]: has {len(row)} entries for {len(capacity)} capacities")
        if any(weight < 0 for weight in row):
            raise ValueError(f"weights[{i}]: {float(min(row))} is negative")
    if any(room < 0 for room in capacity):
        raise ValueError(f"capacity: {float(min(capacity))} is negative")
