"""The instances of Lemma 3: packing rows, a fractional point that keeps them, and a cost of the lemma's form.

Lemma 3 is about any packing program with a cost sum_l a_l'x/d_l'x + c'x, which the time of an SMD job is not; and its
row bounds fail at points below 1, which an SMD job has only where (8) is left out, as in (12) (`omega`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, model_validator

from dlsched.bounds.claim import Undecided
from dlsched.models.document import Document
from dlsched.models.numbers import NonNegative, Positive, to_json
from dlsched.rounding import (
    Gain,
    gain_packing,
    joint_violation_probability,
    outcome_distribution,
    violation_probability,
    width,
)


class Packing(Document):
    """Packing rows B x <= b, a point x~ >= 0 that keeps them, and delta.

    Attributes
    ----------
    rows : tuple of tuple of Fraction
        B, not negative.
    limits : tuple of Fraction
        b, positive.
    point : tuple of Fraction
        x~.
    delta : Fraction
        In (0, 1].
    """

    rows: Annotated[tuple[tuple[NonNegative, ...], ...], Field(min_length=1)]
    limits: tuple[Positive, ...]
    point: tuple[NonNegative, ...]
    delta: Positive

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(self.limits) != len(self.rows):
            raise ValueError(f"limits: has {len(self.limits)} entries for {len(self.rows)} rows")
        if self.delta > 1:
            raise ValueError(f"delta: {to_json(self.delta)} exceeds 1")
        for i, (row, limit) in enumerate(zip(self.rows, self.limits, strict=True)):
            if len(row) != len(self.point):
                raise ValueError(f"rows[{i}]: has {len(row)} entries for {len(self.point)} coordinates")
            if not any(row):
                raise ValueError(f"rows[{i}]: is 0, so it limits nothing")
            if sum(a * x for a, x in zip(row, self.point, strict=True)) > limit:
                raise ValueError(f"point: exceeds the limit of rows[{i}]")
        return self


class PackingFacts:
    """The exact probabilities with which a packing's rows break.

    Parameters
    ----------
    instance : Packing
    seed : int
        Not used: nothing is drawn.
    """

    def __init__(self, instance: Packing, seed: int) -> None:
        del seed
        self.instance = instance

    @cached_property
    def printed(self) -> Broken:
        """The probabilities at the printed gain."""
        return Broken(self.instance, Gain.PRINTED)

    @cached_property
    def corrected(self) -> Broken:
        """The probabilities at the exact gain.

        Raises
        ------
        Undecided
            If the gain is too small for a double.
        """
        try:
            return Broken(self.instance, Gain.EXACT)
        except ValueError as error:
            raise Undecided(str(error)) from None

    @property
    def exact_gain(self) -> float | None:
        """The exact gain; None where it is too small for a double."""
        try:
            return self.corrected.gain
        except Undecided:
            return None

    @property
    def optimal_for_some_cost(self) -> bool:
        """Whether x~ is a fractional optimum of some cost of the lemma's form: wherever it is not 0.

        That of the sum of (x_i/x~_i)/(x_k/x~_k) over all ordered pairs i != k of positive coordinates, and of x_i/sum x
        over those that are 0: two such ratios, whose product is 1, are 2 together at least.
        """
        return any(self.instance.point)

    @property
    def promise(self) -> Fraction:
        """Delta / (2 r)."""
        return self.instance.delta / (2 * len(self.instance.rows))


class Broken:
    """The probabilities at one gain."""

    def __init__(self, instance: Packing, variant: Gain) -> None:
        self._instance = instance
        B = np.array([[float(a) for a in row] for row in instance.rows])
        b = np.array([float(limit) for limit in instance.limits])
        self.gain = gain_packing(width(B, b), len(b), float(instance.delta), variant)

    @cached_property
    def rows(self) -> tuple[Fraction, ...]:
        """The probability that each row breaks."""
        scaled = [Fraction(self.gain) * x for x in self._instance.point]
        pairs = zip(self._instance.rows, self._instance.limits, strict=True)
        return tuple(violation_probability(row, scaled, limit) for row, limit in pairs)

    @cached_property
    def some(self) -> Fraction:
        """The probability that some row breaks."""
        scaled = [Fraction(self.gain) * x for x in self._instance.point]
        return joint_violation_probability(self._instance.rows, scaled, self._instance.limits)


def promised(ratios: int, gain: Any, delta: Any) -> Any:
    """Return (8 L/M + 4)/delta, how many times the cost of x~ Lemma 3 allows for L ratios; exact of fractions."""
    return (8 * ratios / gain + 4) / delta


class Shifted:
    """The rounding of 1 + M (x~ - 1), for x~ >= 1, at the exact gain M of the rows B (x - 1) <= b - B 1.

    A coordinate at 1 stays there, so a row counts for W as far as it has others.

    Parameters
    ----------
    rows : sequence of sequence of Fraction
        B.
    limits : sequence of Fraction
        b.
    point : sequence of Fraction
        x~.
    delta : Fraction

    Attributes
    ----------
    gain : float
        M, from W (ln(1/M) - 1 + M) = ln(2r/delta).

    Raises
    ------
    Undecided
        If the gain is too small for a double.
    """

    def __init__(
        self,
        rows: Sequence[Sequence[Fraction]],
        limits: Sequence[Fraction],
        point: Sequence[Fraction],
        delta: Fraction,
    ) -> None:
        self._rows, self._point, self._promise = rows, point, delta / (2 * len(rows))
        self._room = [limit - sum(row) for row, limit in zip(rows, limits, strict=True)]
        moving = [x > 1 for x in point]
        B = np.array([[float(a) if moves else 0.0 for a, moves in zip(row, moving, strict=True)] for row in rows])
        try:
            self.gain = gain_packing(
                width(B, np.array([float(room) for room in self._room])), len(rows), float(delta), Gain.EXACT
            )
        except ValueError as error:
            raise Undecided(str(error)) from None
        self._scaled = [Fraction(self.gain) * (x - 1) for x in point]

    def dearest(self, cost: Callable[[Any, Any], Fraction | float]) -> float:
        """Return the greatest cost of an outcome over 4/M times that of x~."""
        outcomes = (1 + outcome_distribution(self._scaled).points).tolist()
        return float(max(cost(*outcome) for outcome in outcomes) / cost(*self._point)) * self.gain / 4

    @property
    def breaks(self) -> float:
        """The greatest probability that a row breaks over delta/(2r)."""
        chances = [
            violation_probability(row, self._scaled, room) for row, room in zip(self._rows, self._room, strict=True)
        ]
        return float(max(chances) / self._promise)


class Balance(Packing):
    """Packing rows over (w, p), and the cost theta r + phi/r, r = (w + e p)/(e w + p): L = 2 ratios of Lemma 3's form.

    The cost is the same along a ray, and least where theta r^2 = phi, so that every such point is an optimum. c is 0:
    with c > 0 it would fall towards 0 along the ray, and only x~ = 0 could be one, where every ratio is 0/0.

    Attributes
    ----------
    theta, phi : Fraction
    cross : Fraction, optional
        e, below 1: where it is above 0 the denominators vanish at 0 alone. 0 where absent.
    """

    theta: Positive
    phi: Positive
    cross: Positive | None = None

    @model_validator(mode="after")
    def _plane(self) -> Self:
        if len(self.point) != 2:
            raise ValueError(f"point: has {len(self.point)} coordinates; the cost is of 2")
        if self.cross is not None and self.cross >= 1:
            raise ValueError(f"cross: {to_json(self.cross)} is not below 1")
        return self


class BalanceFacts(PackingFacts):
    """What rounding costs.

    Parameters
    ----------
    instance : Balance
    seed : int
        Not used: nothing is drawn.
    """

    instance: Balance

    def _sides(self, w: Fraction | int, p: Fraction | int) -> tuple[Fraction, Fraction]:
        """Return w + e p and e w + p."""
        cross = self.instance.cross or Fraction(0)
        return w + cross * p, cross * w + p

    @property
    def optimal(self) -> bool:
        """Whether x~ is a fractional optimum: where r is right, or at the end of its range that is nearer."""
        w, p = self.instance.point
        above, below = self._sides(w, p)
        slope = self.instance.theta * above * above - self.instance.phi * below * below
        return min(above, below) > 0 and (slope == 0 or (w if slope > 0 else p) == 0)

    def cost(self, w: Fraction | int, p: Fraction | int) -> Fraction | float:
        """Return theta r + phi/r; infinite where one side of r is 0, and 0 where both are, as 0/0 is undefined."""
        above, below = self._sides(w, p)
        if not above or not below:
            return math.inf if above or below else 0.0
        return self.instance.theta * above / below + self.instance.phi * below / above

    @property
    def cheap(self) -> Fraction:
        """The probability that M x~, rounded, costs at most (8 L/M + 4)/delta times what x~ costs."""
        gain = Fraction(self.printed.gain)
        law = outcome_distribution([gain * x for x in self.instance.point])
        most = promised(2, gain, self.instance.delta) * self.cost(*self.instance.point)
        pairs = zip(law.points.tolist(), law.probabilities, strict=True)
        return sum((chance for point, chance in pairs if self.cost(*point) <= most), Fraction(0))

    @cached_property
    def shifted(self) -> Shifted:
        """The rounding of 1 + M (x~ - 1)."""
        instance = self.instance
        return Shifted(instance.rows, instance.limits, instance.point, instance.delta)

    def dump(self) -> dict[str, Any]:
        """Return the gain and the law of the outcome as plain JSON data."""
        law = outcome_distribution([Fraction(self.printed.gain) * x for x in self.instance.point])
        pairs = zip(law.points.tolist(), law.probabilities, strict=True)
        return {"gain": self.printed.gain, "outcomes": [[*point, float(chance)] for point, chance in pairs]}


class Timed(Packing):
    """Packing rows over (w, p), and the coefficients of a synchronous job's time (9).

    Attributes
    ----------
    theta : tuple of five Fraction
        theta^1 to theta^5 of theta^1 w + theta^2 p + theta^3 + theta^4 w/p + theta^5/w.
    """

    theta: Annotated[tuple[NonNegative, ...], Field(min_length=5, max_length=5)]

    @model_validator(mode="after")
    def _plane(self) -> Self:
        if len(self.point) != 2:
            raise ValueError(f"point: has {len(self.point)} coordinates; (9) is of 2")
        if not all(map(any, zip(*self.rows, strict=True))):
            raise ValueError("rows: do not limit both workers and servers")
        return self
