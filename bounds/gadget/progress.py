"""zeta_i of the first example: the iterations of a worker by inverting (1), whose time grows with the ring.

The instances are what (1) needs of a job, which the DDLJS problem has only zeta_i of.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Annotated

import numpy as np
from pydantic import Field

from dlsched.bounds.claim import Expectation, Source, Subject, always, stated
from dlsched.bounds.comparison import Interval, Relation
from dlsched.models.ddljs import iteration_time
from dlsched.models.document import Document
from dlsched.models.numbers import NonNegative, Positive


class Training(Document):
    """What (1) needs of a job, in any units.

    Attributes
    ----------
    max_workers : int
        N_i, the most workers in one slot.
    gradient, bandwidth, speed : Fraction
        d, b and G: the size of the gradient, and how much of it a time unit transfers and adds up.
    forward, minibatch, backward, latency : Fraction
        t^f, M, t^b and gamma.
    """

    max_workers: Annotated[int, Field(strict=True, ge=1, le=10**4)]
    gradient: NonNegative
    bandwidth: Positive
    speed: Positive
    forward: NonNegative
    minibatch: NonNegative
    backward: Positive
    latency: NonNegative = Fraction(0)


class TrainingFacts:
    """The iterations that rings of a job make, exactly.

    Parameters
    ----------
    instance : Training
    seed : int
        Unused: nothing is drawn.
    """

    def __init__(self, instance: Training, seed: int) -> None:
        self.instance = instance

    def time(self, workers: int) -> Fraction:
        """Return tau of a ring (1)."""
        job = self.instance
        return iteration_time(
            workers,
            gradient=job.gradient,
            bandwidth=job.bandwidth,
            speed=job.speed,
            forward=job.forward,
            minibatch=job.minibatch,
            backward=job.backward,
            latency=job.latency,
        )

    @cached_property
    def times(self) -> list[Fraction]:
        """The tau of rings of 1, ..., N_i workers."""
        return [self.time(w) for w in range(1, self.instance.max_workers + 1)]

    @property
    def unevenness(self) -> Interval:
        """The greatest over the least, over rings, of what zeta_i counts of an iteration that is made.

        A ring of w makes w/tau(w) in a unit of time if each worker's are counted, 1/tau(w) if the ring's are; zeta_i w
        are counted in either case, so that no constant zeta_i matters.
        """
        of_ring = [w * tau for w, tau in enumerate(self.times, start=1)]
        return Interval(*sorted(float(max(each) / min(each)) for each in (self.times, of_ring)))

    @property
    def limit(self) -> Fraction:
        """1 + d (2/b + 1/G)/(t^f M + t^b + gamma): tau of ever longer rings over that of one worker."""
        job = self.instance
        return 1 + job.gradient * (2 / job.bandwidth + 1 / job.speed) / self.time(1)

    def dump(self) -> dict[str, list[float]]:
        """Return plain JSON data."""
        return {"tau": [float(tau) for tau in self.times]}


def trained(rng: np.random.Generator) -> Training:
    """Return a job of up to eight workers in round numbers, now and then with nothing to exchange."""
    gradient, bandwidth, speed, minibatch, backward, latency = rng.integers(1, 11, size=6).tolist()
    return Training(
        max_workers=int(rng.integers(1, 9)),
        gradient=Fraction(gradient if rng.random() < 0.9 else 0),
        bandwidth=Fraction(bandwidth),
        speed=Fraction(speed),
        forward=Fraction(1, int(rng.integers(1, 11))),
        minibatch=Fraction(minibatch),
        backward=Fraction(backward, 2),
        latency=Fraction(latency - 1, 2),
    )


JOBS = Subject(
    problem="ddljs",
    instance=Training,
    facts=TrainingFacts,
    details=TrainingFacts.dump,
    sources=(Source("ddljs/training", trained),),
)
"""What claims about the time of an iteration are about."""

PROGRESS = JOBS.printed(
    "gadget/progress",
    paper="GADGET, Section IV-3, excessive training avoidance, and (1)",
    statement="with zeta_i the iterations per unit time of each worker, by inverting (1), zeta_i sum_t sum_s y are the "
    "iterations of job i",
    quantity="what a constant zeta_i counts of an iteration that is made, the greatest over the least of rings of up "
    "to N_i workers, against 1",
    measure=lambda facts: facts.unevenness,
    relation=Relation.AT_MOST,
    bound=always(1),
    expectation=Expectation.FALSE,
    open="which iterations are counted: of each worker, w/tau(w) in a unit of time, or of the ring, 1/tau(w)",
    counterexamples=("gadget-progress-two-workers",),
)

PROGRESS_CORRECTED = PROGRESS.corrected(
    statement="with zeta_i = 1/tau(1), zeta_i sum_t sum_s y are at least the iterations of job i's workers, and at "
    "most 1 + d (2/b + 1/G)/(t^f M + t^b + gamma) times as many",
    quantity="the greatest tau(w)/tau(1) of rings of up to N_i workers, against that",
    measure=lambda facts: max(facts.times) / facts.time(1),
    bound=lambda facts: facts.limit,
    golden=("gadget-progress-corrected-two-workers",),
)

CLAIMS = stated(globals())
