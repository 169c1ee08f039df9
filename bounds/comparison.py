"""Comparing quantities that are known as intervals: which end decides, and when neither does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from dlsched.models.numbers import agree, exceeds


class Status(StrEnum):
    """What a claim says on one instance; `UNDECIDED` (a limit was hit) never counts as holding.

    Examples
    --------
    >>> from dlsched.bounds import Status, check, claim
    >>> instance = claim("hadar/theorem-2").case("hadar-theorem-2-lone-job").read_instance()
    >>> check("hadar/theorem-2", instance).status is Status.VIOLATED
    True
    >>> check("hadar/theorem-2", instance, variant="corrected").status is Status.HOLDS
    True
    """

    HOLDS = "holds"
    VIOLATED = "violated"
    PREMISE_FAILS = "premise-fails"
    VACUOUS = "vacuous"
    UNDECIDED = "undecided"


class Relation(StrEnum):
    """How the measured quantity must stand to the bound.

    Examples
    --------
    >>> from dlsched.bounds import Relation
    >>> Relation.AT_MOST.nearness(measured=9.0, bound=12.0)
    0.75
    >>> Relation.AT_LEAST.nearness(measured=9.0, bound=12.0)
    1.3333333333333333
    """

    AT_MOST = "<="
    AT_LEAST = ">="
    EQUAL = "="

    def nearness(self, measured: float | None, bound: float | None) -> float | None:
        """Return the smaller side's share of the greater, as the relation has them: 1 is tight, more a violation.

        None where the sides cannot be compared so: one is missing, negative or infinite, or they are to be equal.
        """
        if measured is None or bound is None or self is Relation.EQUAL:
            return None
        low, high = (measured, bound) if self is Relation.AT_MOST else (bound, measured)
        if low < 0 or high < 0 or not math.isfinite(low + high):
            return None
        return low / high if high else (math.inf if low else None)

    def gain(self, measured: float, bound: float) -> float:
        """Return by how much the measured quantity has more than the relation asks for, 0 within the tolerance."""
        if agree(measured, bound, unit=0.0):
            return 0.0
        return measured - bound if self is Relation.AT_LEAST else bound - measured


@dataclass(frozen=True, slots=True)
class Interval:
    """A quantity known to lie between two ends.

    Attributes
    ----------
    low, high : float

    Examples
    --------
    >>> from dlsched.bounds import Interval
    >>> optimum = Interval(8.0, 10.0)
    >>> optimum.over(2)
    Interval(low=4.0, high=5.0)
    >>> Interval.of(3)
    Interval(low=3.0, high=3.0)
    """

    low: float
    high: float

    @classmethod
    def of(cls, value: Value) -> Interval:
        """Return the value itself if it is an interval, else the one that is a point."""
        low, high = (value.low, value.high) if isinstance(value, Interval) else (value, value)
        return cls(float(low), float(high))

    def over(self, divisor: float) -> Interval:
        """Return the interval divided by a number that is not negative; infinite where that is 0."""
        return Interval(self.low / divisor, self.high / divisor) if divisor else Interval(math.inf, math.inf)


Value = float | Fraction | Interval
"""What a measure or a bound may return."""


def compare(
    measured: Interval, relation: Relation, bound: Interval, *, unit: float = 1.0
) -> tuple[Status, float, float]:
    """Return the status, and the ends of both sides that decide it.

    Parameters
    ----------
    measured : Interval
    relation : Relation
    bound : Interval
    unit : float
        As for `dlsched.models.numbers.slack`.
    """
    if any(math.isnan(end) for end in (*_ends(measured), *_ends(bound))):
        return Status.UNDECIDED, measured.low, bound.high
    if relation is Relation.AT_LEAST:
        status, other, own = compare(bound, Relation.AT_MOST, measured, unit=unit)
        return status, own, other
    if relation is Relation.EQUAL:
        below = compare(measured, Relation.AT_MOST, bound, unit=unit)
        above = compare(measured, Relation.AT_LEAST, bound, unit=unit)
        known = agree(*_ends(measured), unit=unit) and agree(*_ends(bound), unit=unit)
        if below[0] is above[0] is Status.HOLDS and not known:
            return Status.UNDECIDED, measured.low, bound.high
        return max(below, above, key=lambda outcome: _GRAVITY[outcome[0]])
    if math.isinf(bound.low) and bound.low > 0:
        return Status.VACUOUS, measured.high, bound.low
    if _above(measured.low, bound.high, unit):
        return Status.VIOLATED, measured.low, bound.high
    if _above(measured.high, bound.low, unit):
        return Status.UNDECIDED, measured.high, bound.low
    return Status.HOLDS, measured.high, bound.low


_GRAVITY = {Status.HOLDS: 0, Status.VACUOUS: 1, Status.UNDECIDED: 2, Status.VIOLATED: 3}


def _above(a: float, b: float, unit: float) -> bool:
    """Tell whether `a` is above `b` by more than the tolerance, which means nothing where one is infinite."""
    return a > b if math.isinf(a) or math.isinf(b) else exceeds(a, b, unit=unit)


def _ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high
