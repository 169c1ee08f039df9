"""What multipliers of the rows prove of a program, in whole numbers.

For bounds l <= x <= u of the columns and any multipliers y of the rows, with d = c - A'y, every point is worth

    ``c'x = y'Ax + d'x <= sum_i max(y_i lo_i, y_i hi_i) + sum_j max(d_j l_j, d_j u_j)``

(maximising), whatever y is. With c = 0 the sum cannot be below 0 unless there is no point (Farkas).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from dlsched.algorithms.exact.certificates.program import ExactProgram

Bounds = Sequence[Fraction | int | None]
"""Of the columns; None where there is none."""


class Duality:
    """A program in whole numbers, and what multipliers prove of it.

    Parameters
    ----------
    program : ExactProgram

    Attributes
    ----------
    rows : list of (list of (int, int), int or None, int or None)
        Terms and sides, as multiples of one over the row's scale.
    scales : list of int
    costs : list of int
        As multiples of one over `unit`, to be maximised.
    """

    def __init__(self, program: ExactProgram) -> None:
        self.sign = 1 if program.sense == "maximize" else -1
        self.unit = math.lcm(program.constant.denominator, *(c.cost.denominator for c in program.columns))
        self.costs = [self.sign * int(column.cost * self.unit) for column in program.columns]
        self.constant = self.sign * program.constant
        self.lower: list[Fraction | int | None] = [_whole(column.lower) for column in program.columns]
        self.upper: list[Fraction | int | None] = [_whole(column.upper) for column in program.columns]
        self.rows, self.scales = [], []
        for row in program.rows:
            sides = [side for side in (row.lower, row.upper) if side is not None]
            scale = math.lcm(*(number.denominator for number in (*row.terms.values(), *sides)))
            terms = [(j, value.numerator * (scale // value.denominator)) for j, value in row.terms.items()]
            low, high = (None if side is None else int(side * scale) for side in (row.lower, row.upper))
            self.rows.append((terms, low, high))
            self.scales.append(scale)

    def limit(
        self, y: Mapping[int, Fraction], lower: Bounds, upper: Bounds, *, farkas: bool = False
    ) -> Fraction | None:
        """Return what no point between some bounds is worth more than, as if maximising; None where y says nothing.

        Parameters
        ----------
        y : mapping of int to Fraction
            Multipliers by row, as if maximising.
        lower, upper : sequence of numbers or None
        farkas : bool
            Take the objective for 0.
        """
        each = [(i, multiplier / self.scales[i]) for i, multiplier in y.items()]
        common = math.lcm(*(multiplier.denominator for _, multiplier in each))
        total, loads = 0, [0] * len(self.costs)
        for i, multiplier in each:
            m = multiplier.numerator * (common // multiplier.denominator)
            terms, low, high = self.rows[i]
            side = high if m > 0 else low
            if side is None and m:
                return None
            total += m * (side or 0)
            for j, value in terms:
                loads[j] += m * value
        sums: Fraction | int = total * self.unit
        costs = [0] * len(loads) if farkas else self.costs
        for j, (cost, load) in enumerate(zip(costs, loads, strict=True)):
            if reduced := cost * common - load * self.unit:
                end = upper[j] if reduced > 0 else lower[j]
                if end is None:
                    return None
                sums += reduced * end
        return Fraction(sums, common * self.unit) + (0 if farkas else self.constant)

    def worth(self, point: Bounds) -> Fraction | None:
        """Return what a point is worth, as if maximising; None where it breaks a row."""
        for terms, low, high in self.rows:
            activity = sum(value * (point[j] or 0) for j, value in terms)
            if (low is not None and activity < low) or (high is not None and activity > high):
                return None
        return self.constant + Fraction(sum(c * (x or 0) for c, x in zip(self.costs, point, strict=True)), self.unit)


def _whole(bound: Fraction | None) -> Fraction | int | None:
    """Return an integer where it is one: whole numbers are several times as fast."""
    return int(bound) if bound is not None and bound.denominator == 1 else bound


def lattice_of(program: ExactProgram) -> Fraction | None:
    """Return the greatest number whose multiples all values of the objective differ by; None where there is none."""
    costs = [(column.cost, column.integer) for column in program.columns if column.cost]
    if not costs or not all(integer for _, integer in costs):
        return None
    unit = math.lcm(*(cost.denominator for cost, _ in costs))
    return Fraction(math.gcd(*(int(cost * unit) for cost, _ in costs)), unit)


def rounded(limit: Fraction, constant: Fraction, lattice: Fraction | None) -> Fraction:
    """Return the greatest value of the objective that is at most `limit`."""
    return limit if lattice is None else constant + lattice * ((limit - constant) // lattice)
