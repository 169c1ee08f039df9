"""Ratios that the text reports beside the two numbers that they are of, which are printed to few digits themselves."""

from __future__ import annotations

from fractions import Fraction
from typing import Self

from pydantic import model_validator

from dlsched.bounds.claim import Expectation, Subject, stated
from dlsched.bounds.comparison import Relation
from dlsched.models.document import Document
from dlsched.models.numbers import Positive


class Ratio(Document):
    """A ratio of the text, and the two numbers that it is of.

    Attributes
    ----------
    quantity : str
        What they are about.
    ratio : Fraction
        As reported.
    unit : Fraction
        Of its last digit.
    dividend, divisor : Fraction
    rounded : Fraction
        Unit of the last digit of both.
    """

    quantity: str
    ratio: Positive
    unit: Positive
    dividend: Positive
    divisor: Positive
    rounded: Positive

    @model_validator(mode="after")
    def _digits(self) -> Self:
        if self.rounded > min(self.dividend, self.divisor):
            raise ValueError("rounded: exceeds what is rounded")
        return self


class RatioFacts:
    """What is known of such a ratio.

    Parameters
    ----------
    instance : Ratio
    seed : int
        Not used: nothing is drawn.
    """

    def __init__(self, instance: Ratio, seed: int) -> None:
        del seed
        self.instance = instance

    @property
    def distance(self) -> Fraction:
        """From the nearest quotient of two numbers that are rounded to those printed."""
        known, half = self.instance, self.instance.rounded / 2
        least = (known.dividend - half) / (known.divisor + half)
        greatest = (known.dividend + half) / (known.divisor - half)
        return max(Fraction(0), least - known.ratio, known.ratio - greatest)


RATIOS = Subject(problem="hadar", instance=Ratio, facts=RatioFacts).derived(
    "hadar/text-ratios",
    paper="Hadar, Sections IV-B and VI-C",
    statement="each ratio that the text reports beside the two numbers that it is of is their quotient, all rounded",
    quantity="distance of the ratio from the nearest quotient of two numbers that are rounded to those printed, "
    "against half a unit of its last digit",
    measure=lambda facts: facts.distance,
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.instance.unit / 2,
    expectation=Expectation.FALSE,
    counterexamples=("hadar-text-ratios-aws",),
    golden=("hadar-text-ratios-lab", "hadar-text-ratios-trace"),
)

CLAIMS = stated(globals())
