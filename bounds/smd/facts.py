"""What the claims ask about one SMD instance: layers, relaxations, laws of the rounding, runs, optima; each once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dlsched import relaxations
from dlsched.algorithms.baselines.smd import esw, optimus
from dlsched.algorithms.run import Run
from dlsched.algorithms.smd import InnerStep, run
from dlsched.bounds.claim import Premise, Subject, Undecided
from dlsched.bounds.comparison import Interval
from dlsched.bounds.facts import OptimumFacts
from dlsched.models.smd import Instance, Job, Layer, Measured, Point, Schedule, best_point, points, ratios
from dlsched.models.smd.layered import layered_time
from dlsched.rounding import gain_packing, outcome_distribution, width

DELTA = 0.5
"""delta of Lemma 3 and Theorems 4 and 5. Arbitrary in (0, 1): a smaller one promises more, of a gain that is less."""

COARSE = 0.5
"""eps of Algorithm 1 where its guarantee is checked. Arbitrary: a coarse grid, on which it is not trivially kept."""

FINE = 0.01
"""eps_1 and eps_2 of the paper's evaluation; also what brackets the continuous optimum."""

MAX_POINTS = 20_000
"""Points (w, p) of a job that a verdict looks through, at most. Arbitrary: limits count work and not seconds, so that
verdicts are the same everywhere."""


@dataclass(frozen=True, slots=True)
class Layered:
    """A job's layers, and the transfer time of a slice."""

    job: Job
    layers: tuple[Layer, ...]
    slice: Fraction


@dataclass(frozen=True, slots=True)
class Rounding:
    """The printed rounding of a job's x~: the gain, and the law of the outcome.

    Attributes
    ----------
    job : Job
    x : tuple of float
        x~.
    gain : float
        M_delta.
    outcomes : tuple of ((int, int), Fraction)
        Workers and servers, and their probability.
    """

    job: Job
    x: tuple[float, float]
    gain: float
    outcomes: tuple[tuple[tuple[int, int], Fraction], ...]

    def probability(self, good: Callable[[int, int], bool]) -> Fraction:
        """Return the exact probability of the outcomes that are good."""
        return sum((p for point, p in self.outcomes if good(*point)), Fraction(0))

    def cost(self, workers: int, servers: int) -> float:
        """Return the completion time over that of x~; infinite without a worker or a server."""
        if workers < 1 or servers < 1:
            return math.inf
        return float(self.job.training.time(workers, servers)) / self.relaxed_time

    @property
    def relaxed_time(self) -> float:
        """The completion time at x~."""
        return float(ratios(self.job)(np.array(self.x)))


class SmdFacts(OptimumFacts[Instance]):
    """What is known of an instance and a seed, which is that of the rounding in runs."""

    @cached_property
    def running(self) -> tuple[Job, ...]:
        """The jobs whose limits leave room for a worker and a server, and whose time is not identically 0."""
        return tuple(job for job in self.instance.jobs if job.can_run and ratios(job).ratios)

    @cached_property
    def layered(self) -> tuple[Layered, ...]:
        """The jobs whose layers are known."""
        trainings = ((job, job.training) for job in self.instance.jobs)
        return tuple(Layered(job, t.layers, t.slice) for job, t in trainings if isinstance(t, Measured) and t.layers)

    @cached_property
    def relative_times(self) -> tuple[Fraction, ...]:
        """The time with each point's own critical path over the time with the constant eta, at every point."""
        found = []
        for entry in self.layered:
            pairs = points(entry.job)
            if len(pairs) > MAX_POINTS:
                raise Undecided(f"{len(pairs)} points of job {entry.job.name}; {MAX_POINTS} are looked through")
            for w, p in pairs.tolist():
                constant = entry.job.training.time(w, p)
                if constant:
                    found.append(layered_time(entry.job.training, w, p) / constant)
        return tuple(found)

    @cached_property
    def coarse(self) -> dict[str, dict[str, relaxations.SumOfRatios]]:
        """Algorithm 1 at `COARSE` by variant and job."""
        return {
            variant: {
                job.name: relaxations.sum_of_ratios(ratios(job), epsilon=COARSE, variant=variant)
                for job in self.running
            }
            for variant in ("printed", "corrected")
        }

    @cached_property
    def fine(self) -> dict[str, relaxations.SumOfRatios]:
        """Algorithm 1, corrected, at `FINE`, by job."""
        return {job.name: relaxations.sum_of_ratios(ratios(job), epsilon=FINE) for job in self.running}

    def least_time(self, job: Job) -> Interval:
        """Return the continuous optimum of a job's time: a bound, and a point's value."""
        fine = self.fine[job.name]
        return Interval(fine.bound, min(fine.value, *(found[job.name].value for found in self.coarse.values())))

    @cached_property
    def roundings(self) -> tuple[Rounding, ...]:
        """The printed rounding of each job's x~, at M_delta with as many rows as there are resources."""
        found = []
        for job in self.running:
            polytope, x = ratios(job).polytope, self.fine[job.name].x
            assert x is not None
            gain = gain_packing(width(polytope.A, polytope.row_upper), len(self.instance.resources), DELTA)
            law = outcome_distribution((gain * x).tolist())
            pairs = zip(map(tuple, law.points.tolist()), law.probabilities, strict=True)
            found.append(Rounding(job, (float(x[0]), float(x[1])), gain, tuple(pairs)))
        return tuple(found)

    @cached_property
    def corrected(self) -> Run[Schedule]:
        """SMD, corrected, with the exact outer step."""
        return run(self.instance, seed=self.seed, epsilon=FINE, delta=DELTA, outer="exact")

    @cached_property
    def evaluated(self) -> Run[Schedule]:
        """SMD as the paper evaluates it: printed, with M = 1; the outer step exact."""
        return run(self.instance, seed=self.seed, variant="printed", epsilon=FINE, gain=1.0, outer="exact")

    @cached_property
    def exact(self) -> Run[Schedule]:
        """SMD with exact inner and outer steps."""
        return run(self.instance, inner="exact", outer="exact")

    @cached_property
    def baselines(self) -> dict[str, float]:
        """The utilities of ESW and Optimus."""
        return {"esw": esw.run(self.instance).utility, "optimus": optimus.run(self.instance).utility}

    @cached_property
    def inner_steps(self) -> tuple[InnerStep, ...]:
        """The inner steps of the corrected run."""
        return tuple(event for event in self.corrected.log if isinstance(event, InnerStep))

    @cached_property
    def best_points(self) -> dict[str, Point]:
        """The exact optimum of the inner problem of each job that could be admitted."""
        jobs = (job for job in self.instance.jobs if self.instance.admissible(job))
        return {job.name: point for job in jobs if (point := best_point(job)) is not None}

    @property
    def opt(self) -> Interval:
        """OPT: the optimum's checked value, and its bound."""
        if self.best.value is None or self.best.bound is None or not self.best.proved:
            raise Undecided("the optimum is not proved")
        return Interval(self.best.value, self.best.bound)


SMD = Subject(problem="smd", instance=Instance, facts=SmdFacts)
"""What claims about jobs and clusters are about."""

RUNNING = Premise[SmdFacts]("some job can run, and takes time", lambda facts: bool(facts.running))
