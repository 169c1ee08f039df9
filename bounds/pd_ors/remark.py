"""Remark 1 and Fig. 5: for which delta the threshold of Lemma 1 is positive.

1 - sqrt(2 ln(3m/delta)/(G W_a)) > 0 if and only if delta > 3m exp(-G W_a/2), the RHS of Fig. 5. G increases with delta,
so the RHS falls, and the two sides meet once; with W_a the RHS falls too, so they meet at a smaller delta.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, model_validator

from dlsched.arithmetic import exp
from dlsched.bounds.claim import Expectation, Premise, Source, Subject, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.models.document import Document
from dlsched.models.numbers import Positive
from dlsched.rounding import gain_packing

_HALVINGS = 60
"""Of the interval that delta is looked for in: more digits than a float has."""


class Feasibility(Document):
    """What Fig. 5 draws: the RHS for some W_a, as delta goes to 1.

    Attributes
    ----------
    cover_widths : tuple of Fraction
        W_a, increasing.
    packing_width : Fraction
        W_b.
    covers, packings : int
        m and r.
    """

    cover_widths: Annotated[tuple[Positive, ...], Field(min_length=2)]
    packing_width: Positive
    covers: Annotated[int, Field(ge=1)]
    packings: Annotated[int, Field(ge=1)]

    @model_validator(mode="after")
    def _increasing(self) -> Self:
        if any(before >= after for before, after in pairwise(self.cover_widths)):
            raise ValueError("cover_widths: must increase")
        return self


class FeasibilityFacts:
    """Where the curves of a figure meet.

    Parameters
    ----------
    instance : Feasibility
    seed : int
        Not used: nothing is drawn.
    """

    def __init__(self, instance: Feasibility, seed: int) -> None:
        del seed
        self.instance = instance

    def rhs(self, width: float, delta: float) -> float:
        """Return 3m exp(-G W_a/2) with G of Lemma 1."""
        gain = gain_packing(float(self.instance.packing_width), self.instance.packings, delta, events=3)
        return 3 * self.instance.covers * exp(-gain * width / 2)

    @property
    def cross(self) -> bool:
        """Whether every RHS is at most 1 at delta = 1."""
        return self.rhs(float(self.instance.cover_widths[0]), 1.0) <= 1

    @property
    def crossings(self) -> list[float]:
        """The delta at which each RHS is delta, by halving."""
        return [self._crossing(float(width)) for width in self.instance.cover_widths]

    def _crossing(self, width: float) -> float:
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if middle < self.rhs(width, middle) else (low, middle)
        return high

    @property
    def steepest(self) -> float:
        """The greatest crossing over that at the next smaller W_a."""
        return max(after / before for before, after in pairwise(self.crossings))

    def dump(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {"crossings": self.crossings}


def feasibility(rng: np.random.Generator) -> Feasibility:
    """Return widths and numbers of rows around those of Fig. 5."""
    first, step = int(rng.integers(10, 60)), int(rng.integers(1, 10))
    return Feasibility(
        cover_widths=tuple(first + k * step for k in range(3)),
        packing_width=int(rng.integers(5, 60)),
        covers=int(rng.integers(1, 4)),
        packings=int(rng.integers(2, 500)),
    )


FIG_5 = Feasibility(cover_widths=(30, 35, 40), packing_width=15, covers=1, packings=401)
"""What the paper draws: W_a, W_b = 15, m = 1 and r = RH + 1 = 401."""

REMARK_1 = Subject(problem="dmlrs", instance=Feasibility, facts=FeasibilityFacts).printed(
    "pd-ors/remark-1",
    paper="PD-ORS, Remark 1 and Fig. 5",
    statement="as W_a increases, 3m/e^(G W_a/2) crosses delta at a smaller delta",
    quantity="the greatest crossing over that at the next smaller W_a, against 1",
    measure=lambda facts: facts.steepest,
    relation=Relation.AT_MOST,
    bound=always(1),
    expectation=Expectation.TRUE,
    premises=(Premise("the curves cross where delta is in (0, 1]", lambda facts: facts.cross, source="Lemma 1"),),
    details=FeasibilityFacts.dump,
    sources=(Source("pd-ors/fig-5", feasibility),),
    golden=("pd-ors-remark-1-fig-5",),
)

CLAIMS = stated(globals())
"""Every claim of the remark."""
