"""What the abstract says of the evaluation, against what the text reports: both are numbers in the paper."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

from pydantic import Field

from dlsched.bounds.claim import Expectation, Subject, stated
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


class ReportedFacts:
    """What is known of such a number.

    Parameters
    ----------
    instance : Reported
    seed : int
        Not used: nothing is drawn.
    """

    def __init__(self, instance: Reported, seed: int) -> None:
        del seed
        self.instance = instance

    @property
    def distance(self) -> Fraction:
        """From the nearest number of the text."""
        return min(abs(self.instance.abstract - value) for value in self.instance.text.values())


ABSTRACT = Subject(problem="hadar", instance=Reported, facts=ReportedFacts).derived(
    "hadar/abstract",
    paper="Hadar, abstract, against Sections I, IV and VI",
    statement="each number that the abstract reports is one that the text reports of that quantity, rounded",
    quantity="distance of the abstract's number from the nearest of the text, against half a unit of its last digit",
    measure=lambda facts: facts.distance,
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.instance.unit / 2,
    expectation=Expectation.FALSE,
    counterexamples=(
        "hadar-abstract-utilisation",
        "hadar-abstract-reduction-aws",
        "hadar-abstract-reduction-lab",
        "hadar-abstract-total-time",
    ),
)

CLAIMS = stated(globals())
