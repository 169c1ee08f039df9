"""Theorem 8: how likely rounding overloads one node or link by the factor beta.

The instances are one node or link, and what each job's mappings put there: the theorem's bound concerns one place
alone, and needs far more jobs than a slot whose laws are listed in full.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, model_validator

from dlsched.arithmetic import exact_power, log, power
from dlsched.bounds.claim import Expectation, Premise, Source, Subject, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.choices import EPSILON
from dlsched.models.document import Document, Record
from dlsched.models.numbers import NonNegative, Positive, to_integers, to_json
from dlsched.rounding.convolution import distribution

Whole = Annotated[int, Field(strict=True, ge=1, le=10**4)]


class Share(Record):
    """How many of a job's workers some of its mappings put on the place, and the weight of those mappings."""

    weight: NonNegative
    workers: Whole


class JobLoad(Record):
    """A job whose ring is rounded.

    Attributes
    ----------
    need : Fraction
        d_max(i,u): what one worker, or ring edge, needs.
    size : int
        k_i, the most workers that a valid mapping puts on the place.
    shares : tuple of Share
        Weights add up to at most 1; with the rest nothing is put there.
    """

    need: Positive
    size: Whole
    shares: tuple[Share, ...] = ()


class Load(Document):
    """One node (or link) with the mappings of a decomposed LP solution.

    It has some of the resource, as "each server has a certain amount of computing resources" (Section IV).

    Attributes
    ----------
    places : int
        |V_S| (or |E_S|).
    capacity : Fraction
        g.
    jobs : tuple of JobLoad
        Those for which the place is valid: one worker fits.
    """

    places: Whole
    capacity: Positive
    jobs: tuple[JobLoad, ...] = ()

    @model_validator(mode="after")
    def _decomposed(self) -> Self:
        expected = Fraction(0)
        for i, job in enumerate(self.jobs):
            if job.need > self.capacity:
                raise ValueError(f"jobs[{i}].need: {to_json(job.need)} exceeds the capacity, so no mapping is valid")
            if sum(share.weight for share in job.shares) > 1:
                raise ValueError(f"jobs[{i}].shares: the weights add up to more than 1")
            if any(share.workers > job.size for share in job.shares):
                raise ValueError(f"jobs[{i}].shares: more workers than the ring has")
            expected += sum(share.weight * share.workers * job.need for share in job.shares)
        if expected > self.capacity:
            raise ValueError(f"jobs: their expected load {to_json(expected)} exceeds the capacity")
        return self


class LoadFacts:
    """The constants of Theorem 8 for one place, and exact probabilities.

    Parameters
    ----------
    instance : Load
    seed : int
        Unused: nothing is drawn.
    """

    def __init__(self, instance: Load, seed: int) -> None:
        self.instance = instance

    @property
    def epsilon(self) -> Fraction:
        """The greatest need over the capacity; 0 where no job's worker fits."""
        return max((job.need / self.instance.capacity for job in self.instance.jobs), default=Fraction(0))

    @property
    def delta(self) -> int:
        """Delta: the sum of (C_max/d_max)^2 over the jobs."""
        return sum(job.size * job.size for job in self.instance.jobs)

    @property
    def beta(self) -> float:
        """1 + epsilon sqrt(2 Delta ln |V_S|)."""
        return 1 + float(self.epsilon) * math.sqrt(2 * self.delta * log(self.instance.places))

    @property
    def threshold(self) -> Fraction:
        """The load beta g, from which on Theorem 8 calls the place overloaded."""
        return Fraction(self.beta) * self.instance.capacity

    @cached_property
    def law(self) -> dict[Fraction, Fraction]:
        """The law of the load after one draw."""
        loads, scale = to_integers([share.workers * job.need for job in self.instance.jobs for share in job.shares])
        left = iter(loads)
        terms = [_term([(share.weight, next(left)) for share in job.shares]) for job in self.instance.jobs]
        return {Fraction(load, scale): p for (load,), p in distribution(terms, 1).items()}

    @cached_property
    def reaches(self) -> Fraction:
        """P(A >= beta g) of one draw."""
        return sum((p for load, p in self.law.items() if load >= self.threshold), Fraction(0))

    @property
    def rare(self) -> Fraction:
        """|V_S|^-4, which Theorem 8 allows."""
        return Fraction(1, exact_power(self.instance.places, 4))

    def dump(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {"beta": self.beta, "Delta": self.delta, "P": float(self.reaches)}

    @property
    def most(self) -> Fraction:
        """The sum of C_max: what all jobs together can put there."""
        return sum((job.size * job.need for job in self.instance.jobs), Fraction(0))


def _term(shares: Iterable[tuple[Fraction, int]]) -> list[tuple[int, tuple[int]]]:
    known = list(shares)
    rest = 1 - sum((weight for weight, _ in known), Fraction(0))
    weights, _ = to_integers([rest, *(weight for weight, _ in known)])
    return list(zip(weights, [(0,), *((load,) for _, load in known)], strict=True))


def many(rng: np.random.Generator) -> Load:
    """Return a node that holds about half of the workers of 1-40 jobs."""
    places = int(rng.integers(3, 8))
    size = int(rng.integers(1, 4))
    parts = int(rng.integers(2, 5))
    jobs = [
        JobLoad(need=Fraction(1), size=size, shares=(Share(weight=Fraction(1, parts), workers=int(workers)),))
        for workers in rng.integers(1, size + 1, size=round(power(10, rng.uniform(0, 1.6))))
    ]
    expected = sum(share.workers for job in jobs for share in job.shares)
    capacity = Fraction(max(parts, expected), parts)
    return Load(places=places, capacity=capacity, jobs=tuple(jobs))


LOADS = Source("ddljs/loads", many)

PLACES = Subject(problem="ddljs", instance=Load, facts=LoadFacts, details=LoadFacts.dump, sources=(LOADS,))
"""What claims about one node or link are about."""


_THREE = Premise[LoadFacts]("|V_S| >= 3", lambda facts: facts.instance.places >= 3, source="Theorem 8")
_USED = Premise[LoadFacts]("Delta > 0", lambda facts: facts.delta > 0)

LOAD = PLACES.printed(
    "gadget/theorem-8-load",
    paper="GADGET, Theorem 8",
    statement="P(A^{u,r} >= beta^r g^{u,r}) <= |V_S|^-4 for all u and r, where u has some of r, as each server has by "
    "Section IV",
    quantity="P(A >= beta g) of one draw over |V_S|^-4, against 1",
    measure=lambda facts: facts.reaches / facts.rare,
    relation=Relation.AT_MOST,
    bound=always(1),
    worst=lambda facts: (facts.most >= facts.threshold) / facts.rare,
    expectation=Expectation.TRUE,
    premises=(_THREE,),
    open=EPSILON,
    golden=(
        "gadget-theorem-8-load-sixteen-jobs",
        "gadget-theorem-8-load-thirty-two-jobs",
        "gadget-theorem-8-load-sixty-four-jobs",
        "gadget-theorem-8-load-ten-nodes",
    ),
)

SCALE = PLACES.derived(
    "gadget/theorem-8-scale",
    paper="GADGET, Theorem 8",
    statement="beta^r limits what rounding puts on a node: it is less than all jobs together could put there",
    quantity="beta g, against the sum of C_max over the jobs",
    measure=lambda facts: facts.threshold,
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.most,
    expectation=Expectation.FALSE,
    premises=(_THREE, _USED),
    counterexamples=("gadget-theorem-8-scale-three-jobs",),
    golden=("gadget-theorem-8-scale-section-6",),
)

CLAIMS = stated(globals())
