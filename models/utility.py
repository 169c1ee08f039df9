"""Utility functions of a job, chosen by ``kind``; the argument is a duration in slots unless a model says otherwise.

Negative arguments, which a printed formula may ask for, count as 0.

>>> from dlsched.models import utility
>>> worth = utility.Sigmoid(height=10, steepness=2, midpoint=3)
>>> [round(worth(d), 3) for d in range(6)], worth.is_concave(range(4)), worth.is_monotone(range(6))
([9.975, 9.82, 8.808, 5.0, 1.192, 0.18], True, True)
>>> utility.Step(value=4, deadline=2).exact(3)
Fraction(0, 1)
"""

from __future__ import annotations

import bisect
import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field

from dlsched.arithmetic import exact_power, exp, log, power
from dlsched.errors import InputError
from dlsched.models.document import Record
from dlsched.models.numbers import NonNegative, Number, Positive, to_json

_LARGEST_EXPONENT = 100
"""Of a power. Arbitrary: the exact power of a number of a document then has some ten thousand digits at most."""

MAX_STEPS = 2**21
"""Of a table: as many values as fit the longest horizon twice."""


class _Utility(Record, ABC):
    """What all kinds share: evaluation, and shape on given points."""

    _amounts: ClassVar[tuple[str, ...]]
    """The fields that are amounts of utility: the values are proportional to them together."""

    def times(self, factor: Fraction) -> Self:
        """Return the utility multiplied by a positive factor: the same in another unit."""
        return self.model_copy(update={name: getattr(self, name) * factor for name in self._amounts})

    def exact(self, x: float | Fraction) -> Fraction:
        """Return the utility at `x` as a rational; of irrational kinds, the rational of the double nearest to it."""
        at = x if type(x) is Fraction else Fraction(x)
        value = self._at(at if at.numerator >= 0 else Fraction(0))
        return value if type(value) is Fraction else Fraction(value)

    def __call__(self, x: float | Fraction) -> float:
        """Return the utility at `x`."""
        return float(self.exact(x))

    def greatest(self, step: Fraction, count: int) -> Fraction:
        """Return the largest value by size at 0, step, 2 step, ..., count * step."""
        points = {0, count} if self._trend() else range(count + 1)
        return max(abs(self.exact(step * n)) for n in points)

    def last_positive(self, last: int) -> int | None:
        """Return the largest of 0..last at which a utility that never increases is positive; None where none is."""
        found = bisect.bisect_left(range(last + 1), True, key=lambda x: self.exact(x) <= 0) - 1
        return found if found >= 0 else None

    @abstractmethod
    def _at(self, x: Fraction) -> Fraction | float:
        """Return the utility at x >= 0."""

    def _trend(self) -> int:
        """Return 1 or -1 where the kind is known to rise or to fall everywhere, else 0."""
        return 0

    def _alike(self, points: Sequence[float | Fraction]) -> int:
        """Return how many of the ascending points tell all: the values on the rest are that on the last of them."""
        return len(points)

    def is_concave(self, points: Sequence[float | Fraction]) -> bool:
        """Tell whether the values on the ascending `points` have non-increasing slopes."""
        values = [self.exact(x) for x in points]
        slopes = [
            (v1 - v0) / (Fraction(x1) - Fraction(x0))
            for x0, x1, v0, v1 in zip(points, points[1:], values, values[1:], strict=False)
        ]
        return all(after <= before for before, after in itertools.pairwise(slopes))

    def is_monotone(self, points: Sequence[float | Fraction], *, increasing: bool | None = None) -> bool:
        """Tell whether the values on the ascending `points` never turn.

        Parameters
        ----------
        points : sequence of numbers
            Ascending arguments.
        increasing : bool, optional
            True for non-decreasing, False for non-increasing; either will do where it is left out.
        """
        if self._trend() and (increasing is None or increasing == (self._trend() > 0)):
            return True
        if self._trend() and len(points):
            return self.exact(points[0]) == self.exact(points[-1])
        values = [self.exact(x) for x in points[: self._alike(points)]]
        steps = list(itertools.pairwise(values))
        up, down = all(a <= b for a, b in steps), all(a >= b for a, b in steps)
        return up or down if increasing is None else (up if increasing else down)


class Table(_Utility):
    """Values by step 0, 1, 2, ...; below 0 the first, beyond the end 0, between steps the earlier step's."""

    kind: Literal["table"] = "table"
    values: tuple[NonNegative, ...] = Field(min_length=1, max_length=MAX_STEPS)

    def times(self, factor: Fraction) -> Self:
        """Return the values multiplied by a positive factor."""
        return self.model_copy(update={"values": tuple(value * factor for value in self.values)})

    def _alike(self, points: Sequence[float | Fraction]) -> int:
        return bisect.bisect_left(points, len(self.values)) + 1

    def _at(self, x: Fraction) -> Fraction:
        step = math.floor(x)
        return self.values[step] if step < len(self.values) else Fraction(0)


class Sigmoid(_Utility):
    """``height / (1 + exp(steepness * (x - midpoint)))``, with a signed steepness."""

    _amounts = ("height",)
    kind: Literal["sigmoid"] = "sigmoid"
    height: NonNegative
    steepness: Number
    midpoint: Number

    def _trend(self) -> int:
        return -1 if self.steepness >= 0 else 1

    def _at(self, x: Fraction) -> float:
        exponent = float(self.steepness * (x - self.midpoint))
        if exponent > 0:
            shrink = exp(-exponent)
            return float(self.height) * shrink / (1.0 + shrink)
        return float(self.height) / (1.0 + exp(exponent))


class Sqrt(_Utility):
    """``scale * sqrt(x)``."""

    _amounts = ("scale",)
    kind: Literal["sqrt"] = "sqrt"
    scale: NonNegative

    def _trend(self) -> int:
        return 1

    def _at(self, x: Fraction) -> float:
        return float(self.scale) * math.sqrt(x)


class Log(_Utility):
    """``scale * log(offset + x)``; minus infinity has no utility, so an argument of 0 is an error."""

    _amounts = ("scale",)
    kind: Literal["log"] = "log"
    scale: NonNegative
    offset: NonNegative = Fraction(1)

    def _trend(self) -> int:
        return 1

    def greatest(self, step: Fraction, count: int) -> Fraction:
        """Return the largest value by size at 0, step, ..., count * step, of those that are finite; 0 of none."""
        points = {0, count} if self.offset else {1, count} - {0}
        return max((abs(self.exact(step * n)) for n in points), default=Fraction(0))

    def _at(self, x: Fraction) -> float:
        if self.offset + x <= 0:
            raise InputError("log utility at 0 is minus infinity: the job must get something")
        return float(self.scale) * log(self.offset + x)


class Linear(_Utility):
    """``intercept - slope * x``, not below 0."""

    _amounts = ("intercept", "slope")
    kind: Literal["linear"] = "linear"
    intercept: NonNegative
    slope: Number

    def _trend(self) -> int:
        return -1 if self.slope >= 0 else 1

    def _at(self, x: Fraction) -> Fraction:
        return max(Fraction(0), self.intercept - self.slope * x)


def _at_most_hundred(exponent: Fraction) -> Fraction:
    if exponent > _LARGEST_EXPONENT:
        raise ValueError(f"{to_json(exponent)} must be at most {_LARGEST_EXPONENT}: exact powers are to stay small")
    return exponent


class Power(_Utility):
    """``scale * x ** exponent``, with an exponent above 0 and at most 100; a negative scale makes it a cost."""

    _amounts = ("scale",)
    kind: Literal["power"] = "power"
    scale: Number
    exponent: Annotated[Positive, AfterValidator(_at_most_hundred)]

    def _trend(self) -> int:
        return 1 if self.scale >= 0 else -1

    def _at(self, x: Fraction) -> Fraction | float:
        if self.exponent.denominator == 1:
            return self.scale * exact_power(x, self.exponent.numerator)
        return float(self.scale) * power(x, self.exponent)


class Hyperbolic(_Utility):
    """``scale / (1 + x)``: the effective throughput where `scale` is the job's work."""

    _amounts = ("scale",)
    kind: Literal["hyperbolic"] = "hyperbolic"
    scale: NonNegative

    def _trend(self) -> int:
        return -1

    def _at(self, x: Fraction) -> Fraction:
        return self.scale / (1 + x)


class Step(_Utility):
    """``value`` up to and including the deadline, 0 after it."""

    _amounts = ("value",)
    kind: Literal["step"] = "step"
    value: NonNegative
    deadline: NonNegative

    def _trend(self) -> int:
        return -1

    def _at(self, x: Fraction) -> Fraction:
        return self.value if x <= self.deadline else Fraction(0)


Utility = Annotated[
    Table | Sigmoid | Sqrt | Log | Linear | Power | Hyperbolic | Step,
    Field(discriminator="kind"),
]
"""Any utility; JSON chooses it by ``kind``."""
