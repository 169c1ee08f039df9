"""The instances of Lemma 3: packing rows, and a fractional point that keeps them.

Lemma 3 is about any packing program, and its row bounds fail at points below 1, which an SMD job never has.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from dlsched.models.document import Document
from dlsched.models.numbers import NonNegative, Positive, to_json
from dlsched.rounding import Gain, gain_packing, violation_probability, width


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
        self.printed = _Broken(instance, Gain.PRINTED)
        self.corrected = _Broken(instance, Gain.EXACT)

    @property
    def promise(self) -> Fraction:
        """Delta / (2 r)."""
        return self.instance.delta / (2 * len(self.instance.rows))


class _Broken:
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
        from dlsched.rounding import joint_violation_probability

        scaled = [Fraction(self.gain) * x for x in self._instance.point]
        return joint_violation_probability(self._instance.rows, scaled, self._instance.limits)
