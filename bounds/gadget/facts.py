"""What the claims ask about one DDLJS instance: its slots, optima and greedy runs under several rules; each once."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cached_property
from typing import Annotated

from pydantic import Field

from dlsched.algorithms.exact.result import Proof
from dlsched.bounds.claim import Premise, Subject
from dlsched.bounds.evidence import rests_on
from dlsched.bounds.gadget.horizon import Horizon
from dlsched.bounds.gadget.plans import CORRECTED, Paths, Rings, Rules
from dlsched.bounds.gadget.shape import Shapes, concave, finite
from dlsched.bounds.gadget.submodularity import Allocation, Curvature, curvature, total
from dlsched.models.ddljs import Instance

GROUND = 5
"""Allocations in the ground set that Lemma 5 and p-systems are checked on, at most. Arbitrary."""

GROUND_SLOTS = 3
"""Slots that they are of, at most: the first ones in which something is possible. Arbitrary."""


class GadgetFacts(Shapes):
    """What is known of one (instance, seed).

    Parameters
    ----------
    instance : Instance
    seed : int
        Of the runs.
    alpha : float
        How well slots are solved, where they are not solved exactly. Arbitrary: the paper allows any in (0, 1].
    """

    def __init__(self, instance: Instance, seed: int, *, alpha: Annotated[float, Field(gt=0, le=1)] = 0.5) -> None:
        self.instance, self.alpha = instance, Fraction(alpha)
        self.seed = seed
        self._horizons: dict[Rules, Horizon] = {}
        self._optima: dict[Rules, Fraction] = {}

    def horizon(self, rules: Rules = CORRECTED) -> Horizon:
        """Return what can be reached under the rules."""
        if rules not in self._horizons:
            self._horizons[rules] = Horizon(self.instance, rules)
        return self._horizons[rules]

    def optimum(self, rules: Rules = CORRECTED) -> Fraction:
        """Return OPT under the rules: the most of all that can be reached, in whole numbers."""
        if rules not in self._optima:
            self._optima[rules] = self.horizon(rules).opt
        rests_on(Proof.EXACT)
        return self._optima[rules]

    @property
    def opt(self) -> Fraction:
        """OPT of (2)-(9) corrected."""
        return self.optimum()

    @cached_property
    def boundless(self) -> Fraction:
        """The greatest F of a choice of one allocation a slot, whether it keeps (3) or not."""
        return Horizon(self.instance, budgets=False).opt

    @cached_property
    def truncated(self) -> Fraction:
        """The same where a job's worker-slots count up to K_i."""
        return Horizon(self.instance, budgets=False, truncated=True).opt

    @cached_property
    def greedy(self) -> list[Fraction]:
        """The utilities that Algorithm 1 with exact slots can end with, ascending."""
        return self.horizon().greedy()

    @cached_property
    def ground(self) -> list[Allocation]:
        """Some allocations (slot, counts), the smallest and largest of each slot first."""
        by_slot = []
        for slot, vectors in enumerate(self.horizon().slots, start=1):
            ascending = sorted((v for v in vectors if any(v)), key=lambda v: (sum(v), v))
            half = (len(ascending) + 1) // 2
            ends = itertools.zip_longest(ascending[:half], reversed(ascending[half:]))
            by_slot.append([(slot, v) for pair in ends for v in pair if v is not None])
        rounds = itertools.zip_longest(*[group for group in by_slot if group][:GROUND_SLOTS])
        return [element for turn in rounds for element in turn if element is not None][:GROUND]

    @cached_property
    def curvature(self) -> Curvature:
        """How far F is from submodular on the ground set."""
        return curvature(self.ground, self.horizon())

    @property
    def concave_on_ground(self) -> bool:
        """Whether every utility is concave as far as all allocations of the ground set together get."""
        together = total(self.ground, len(self.instance.jobs))
        return all(concave(job, n) for job, n in zip(self.instance.jobs, together, strict=True))

    @property
    def finite(self) -> bool:
        """Whether every utility is finite at 0."""
        return finite(self.instance)

    @property
    def starts_at_nothing_less(self) -> bool:
        """Whether F of the empty schedule is at least 0."""
        return self.horizon().value((0,) * len(self.instance.jobs)) >= 0


GADGET = Subject(problem="ddljs", instance=Instance, facts=GadgetFacts)
"""What claims about all slots are about."""

FINITE = Premise[GadgetFacts]("every mu_i(0) is finite", lambda facts: facts.finite, source="Section V-B, Definition 1")
CONCAVE = Premise[GadgetFacts](
    "every mu_i is concave on 0, zeta_i, 2 zeta_i, ...", lambda facts: facts.concave, source="Section IV-3"
)
NON_DECREASING = Premise[GadgetFacts](
    "every mu_i is non-decreasing", lambda facts: facts.non_decreasing, source="Section IV-3"
)
NON_NEGATIVE = Premise[GadgetFacts](
    "F(empty) >= 0", lambda facts: facts.starts_at_nothing_less, source="Section V-B, below Definition 2"
)
OPT_POSITIVE = Premise[GadgetFacts]("OPT > 0", lambda facts: facts.opt > 0)
HYPOTHESES = (FINITE, CONCAVE, NON_DECREASING, NON_NEGATIVE)
"""What Theorem 6 needs of utilities."""

SINGLE_HOP = Rules(paths=Paths.SINGLE_HOP)
RELAYED = Rules(paths=Paths.SINGLE_HOP, relays=True)
DEGREES = Rules(rings=Rings.DEGREES)
EVERYWHERE = Rules(rings=Rings.EVERYWHERE)
BY_PATH = Rules(by_path=True)
