"""Numbers that the paper reports more than once: the abstract's in the text, and ratios beside what they are of."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Self

from pydantic import Field, model_validator

from dlsched.bounds.claim import Claim, Expectation, Subject, stated
from dlsched.bounds.comparison import Relation
from dlsched.models.document import Document
from dlsched.models.numbers import Positive


class Reported(Document):
    """A number of the abstract, and those of the text that it could stand for.

    Attributes
    ----------
    quantity : str
        What it is about.
    abstract : Fraction
    unit : Fraction
        Of its last digit.
    text : dict of str to Fraction
        Numbers of the text, or what follows from two of them, by where they stand.
    """

    quantity: str
    abstract: Positive
    unit: Positive
    text: Annotated[dict[str, Positive], Field(min_length=1)]

    @property
    def distance(self) -> Fraction:
        """From the nearest number of the text."""
        return min(abs(self.abstract - value) for value in self.text.values())


class Ratio(Document):
    """A ratio of the text, and the two numbers that it is of, which are printed to few digits themselves.

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

    @property
    def distance(self) -> Fraction:
        """From the nearest quotient of two numbers that are rounded to those printed."""
        half = self.rounded / 2
        least = (self.dividend - half) / (self.divisor + half)
        greatest = (self.dividend + half) / (self.divisor - half)
        return max(Fraction(0), least - self.ratio, self.ratio - greatest)


class ReportedFacts:
    """What is known of such a number.

    Parameters
    ----------
    instance : Reported or Ratio
    seed : int
        Not used: nothing is drawn.
    """

    def __init__(self, instance: Reported | Ratio, seed: int) -> None:
        del seed
        self.instance = instance


def _rounded(
    name: str,
    kind: type[Reported | Ratio],
    paper: str,
    statement: str,
    distance: str,
    counterexamples: tuple[str, ...],
    golden: tuple[str, ...] = (),
) -> Claim[ReportedFacts]:
    """Return the claim that a number is, rounded, what it should be, of which the distance is said in words."""
    return Subject(problem="hadar", instance=kind, facts=ReportedFacts).derived(
        name,
        paper=paper,
        statement=statement,
        quantity=f"{distance}, against half a unit of its last digit",
        measure=lambda facts: facts.instance.distance,
        relation=Relation.AT_MOST,
        bound=lambda facts: facts.instance.unit / 2,
        expectation=Expectation.FALSE,
        counterexamples=counterexamples,
        golden=golden,
    )


ABSTRACT = _rounded(
    "hadar/abstract",
    Reported,
    "Hadar, abstract, against Sections I, IV and VI",
    "each number that the abstract reports is one that the text reports of that quantity, rounded",
    "distance of the abstract's number from the nearest of the text",
    (
        "hadar-abstract-utilisation",
        "hadar-abstract-reduction-aws",
        "hadar-abstract-reduction-lab",
        "hadar-abstract-total-time",
    ),
)

RATIOS = _rounded(
    "hadar/text-ratios",
    Ratio,
    "Hadar, Sections IV-B and VI-C",
    "each ratio that the text reports beside the two numbers that it is of is their quotient, all rounded",
    "distance of the ratio from the nearest quotient of two numbers that are rounded to those printed",
    ("hadar-text-ratios-aws",),
    ("hadar-text-ratios-lab", "hadar-text-ratios-trace"),
)

CLAIMS = stated(globals())
