"""Numbers that the paper reports more than once: the abstract's in the text, ratios beside what they are of, times."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from dlsched.bounds.claim import Claim, Expectation, Subject, always, stated
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


class Twice(Document):
    """One time of one run that the text has under two names, each to some digits.

    Attributes
    ----------
    quantity : str
        What it is of.
    longest : Fraction
        The maximal job completion time, in seconds.
    longest_unit : Fraction
        Of its last digit.
    total : Fraction
        The total time duration, in seconds.
    total_unit : Fraction
        Of its last digit.
    """

    quantity: str
    longest: Positive
    longest_unit: Positive
    total: Positive
    total_unit: Positive

    @property
    def distance(self) -> Fraction:
        """Least distance of two numbers that are rounded to those printed."""
        return max(Fraction(0), abs(self.longest - self.total) - (self.longest_unit + self.total_unit) / 2)


class ReportedFacts:
    """What is known of such numbers.

    Parameters
    ----------
    instance : Reported, Ratio or Twice
    seed : int
        Not used: nothing is drawn.
    """

    def __init__(self, instance: Any, seed: int) -> None:
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
    ("hadar-abstract-reduction-lab", "hadar-abstract-reduction-aws", "hadar-abstract-total-time"),
    ("hadar-abstract-utilisation",),
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

TIMES = Subject(problem="hadar", instance=Twice, facts=ReportedFacts).derived(
    "hadar/text-times",
    paper="Hadar, Section VI-C, Figs. 9 and 10",
    statement=(
        "where all jobs of a mix are there from the start, the maximal completion time that the text reports of a run "
        "is the total time that it reports of it"
    ),
    quantity="least distance, in seconds, of two numbers that are rounded to those printed, against 0",
    measure=lambda facts: facts.instance.distance,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    open=(
        "whether all jobs are there from the start: they are a batch (Sections VI-B and VI-C), and the text has no "
        "arrivals; what a completion time is: f_j - a_j, as in Section III-A; whether both figures are of the same runs"
    ),
    counterexamples=("hadar-text-times-hadar", "hadar-text-times-gavel"),
)

CLAIMS = stated(globals())
