"""What the claims ask about one SMD instance: layers, relaxations, laws of the rounding, runs, optima; each once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np

from dlsched import relaxations
from dlsched.algorithms.baselines.smd import esw, optimus
from dlsched.algorithms.run import Run
from dlsched.algorithms.smd import InnerStep, run
from dlsched.arguments import at_least, expect_share
from dlsched.arithmetic import exact_power
from dlsched.bounds.claim import Premise, Subject, Undecided
from dlsched.bounds.comparison import Interval
from dlsched.bounds.evidence import rests_on
from dlsched.bounds.facts import OPT_POSITIVE, OptimumFacts, refused_otherwise
from dlsched.bounds.sharing import shared
from dlsched.bounds.smd.least import least_times
from dlsched.bounds.smd.packing import Shifted, promised
from dlsched.models.numbers import exceeds, rational
from dlsched.models.smd import Instance, Job, Layer, Measured, Point, Schedule, best_point, points, ratios
from dlsched.models.smd.layered import layered_time
from dlsched.models.smd.speed import Overlap
from dlsched.rounding import gain_packing, outcome_distribution, width
from dlsched.tolerances import NEAR_WHOLE

DELTA = 0.5
"""delta of Lemma 3 and Theorems 4 and 5, which the paper leaves to choose in (0, 1]. Arbitrary: a smaller one promises
more, of a gain that is less."""

COARSE = 0.5
"""eps of Algorithm 1 where its guarantee is checked. Arbitrary: a coarse grid, on which it is not trivially kept."""

FINE = 0.01
"""eps_1 and eps_2 of the paper's evaluation (Section V)."""

MAX_OUTCOMES = 4_096
"""Outcomes of the rounding of all jobs that a verdict looks through, at most. Arbitrary."""

MAX_POINTS = 20_000
"""Points (w, p) of a job that a verdict looks through, at most. Arbitrary: limits count work and not seconds, so that
verdicts are the same everywhere."""


@dataclass(frozen=True, slots=True)
class Layered:
    """A job's layers, the transfer time of a slice, and how transfers overlap."""

    job: Job
    layers: tuple[Layer, ...]
    slice: Fraction
    overlap: Overlap


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

    @classmethod
    def of(cls, job: Job, x: tuple[float, float], gain: float) -> Rounding:
        """Return the rounding of a point, scaled by a gain."""
        law = outcome_distribution([gain * part for part in x])
        return cls(job, x, gain, tuple(zip(map(tuple, law.points.tolist()), law.probabilities, strict=True)))

    def probability(self, good: Callable[[int, int], bool]) -> Fraction:
        """Return the exact probability of the outcomes that are good."""
        return sum((p for point, p in self.outcomes if good(*point)), Fraction(0))

    def feasible(self, workers: int, servers: int) -> bool:
        """Tell whether a point keeps (7) and (8): the limits, with a worker and a server at least."""
        return workers >= 1 and servers >= 1 and self.job.fits(workers, servers)

    def returned(self, rounds: int | None) -> list[tuple[Fraction, Fraction]]:
        """Return what the first feasible point is worth, of all rounds or of some, 0 for none; each with its chance.

        Without an end some round is feasible almost surely where any may be.
        """
        once = self.probability(self.feasible)
        never = Fraction(not once) if rounds is None else exact_power(1 - once, rounds)
        found = [
            (self.job.utility.exact(self.job.training.time(*point)), p / once * (1 - never))
            for point, p in self.outcomes
            if self.feasible(*point)
        ]
        return [*found, (Fraction(0), never)]

    def cost(self, workers: int, servers: int) -> float:
        """Return the completion time over that of x~; infinite without a worker or a server."""
        if workers < 1 or servers < 1:
            return math.inf
        return float(self.job.training.time(workers, servers)) / self.relaxed_time

    @property
    def relaxed_time(self) -> float:
        """The completion time at x~."""
        return self.time(*self.x)

    def time(self, workers: float | Fraction, servers: float | Fraction) -> float:
        """Return the completion time at a fractional point."""
        return float(ratios(self.job)(np.array([float(workers), float(servers)])))

    def shifted(self, delta: float) -> Shifted:
        """Return the rounding of 1 + M (x~ - 1)."""
        job = self.job
        rows = [(job.worker_needs(r), job.server_needs(r)) for r in job.resources]
        point = [Fraction(max(1.0, x)) if abs(x - 1) > NEAR_WHOLE else Fraction(1) for x in self.x]
        return Shifted(rows, [job.limit_of(r) for r in job.resources], point, Fraction(delta))


class SmdFacts(OptimumFacts[Instance]):
    """What is known of an instance and a seed, which is that of the rounding in runs."""

    @shared
    def running(self) -> tuple[Job, ...]:
        """The jobs whose limits leave room for a worker and a server, and whose time is not identically 0."""
        return tuple(job for job in self.instance.jobs if job.can_run and ratios(job).ratios)

    @shared
    def layered(self) -> tuple[Layered, ...]:
        """The jobs whose layers are known."""
        trainings = ((job, job.training) for job in self.instance.jobs)
        return tuple(
            Layered(job, t.layers, t.slice, t.overlap) for job, t in trainings if isinstance(t, Measured) and t.layers
        )

    @shared
    def relative_times(self) -> dict[str, dict[Fraction, Fraction]]:
        """The time with each point's own critical path over that with the constant eta, the greatest by w/p, by job."""
        return {entry.job.name: found for entry in self.layered if (found := self._relative(entry.job))}

    def _relative(self, job: Job) -> dict[Fraction, Fraction]:
        pairs = points(job)
        if len(pairs) > MAX_POINTS:
            raise Undecided(f"{len(pairs)} points of job {job.name}; {MAX_POINTS} are looked through")
        found: dict[Fraction, Fraction] = {}
        for w, p in pairs.tolist():
            constant = job.training.time(w, p)
            if constant:
                relative = layered_time(job.training, w, p) / constant
                found[Fraction(w, p)] = max(relative, found.get(Fraction(w, p), relative))
        return found

    @shared
    def fine(self) -> dict[str, relaxations.SumOfRatios]:
        """Algorithm 1, corrected, at `FINE`, by job."""
        return {job.name: relaxations.sum_of_ratios(ratios(job), epsilon=FINE) for job in self.running}

    @shared
    def evaluated(self) -> Run[Schedule]:
        """SMD as the paper evaluates it: printed, with M = 1; the outer step exact."""
        return run(self.instance, seed=self.seed, variant="printed", epsilon=FINE, gain=1.0, outer="exact")

    @shared
    def exact(self) -> Run[Schedule]:
        """SMD with exact inner and outer steps."""
        return run(self.instance, inner="exact", outer="exact")

    @shared
    def baselines(self) -> dict[str, float]:
        """The utilities of ESW and Optimus."""
        return {"esw": esw.run(self.instance).utility, "optimus": optimus.run(self.instance).utility}

    @shared
    def best_points(self) -> dict[str, Point]:
        """The exact optimum of the inner problem of each job that could be admitted."""
        jobs = (job for job in self.instance.jobs if self.instance.admissible(job))
        return {job.name: point for job in jobs if (point := best_point(job)) is not None}

    @property
    def opt(self) -> Interval:
        """OPT: the optimum's checked value, and its bound."""
        if self.best.value is None or self.best.bound is None or not self.best.proved:
            raise Undecided("the optimum is not proved")
        rests_on(self.best.proof)
        return Interval(self.best.value, self.best.bound)


class GridFacts(SmdFacts):
    """What is known of Algorithm 1 on an instance.

    Parameters
    ----------
    instance : Instance
    seed : int
    epsilon : float
        Of Algorithm 1, in (0, 1). The paper evaluates .01; a coarser grid shows more.
    """

    def __init__(self, instance: Instance, seed: int, *, epsilon: float = COARSE) -> None:
        super().__init__(instance, seed)
        expect_share(whole=False, epsilon=epsilon)
        self.epsilon = epsilon

    @cached_property
    def grids(self) -> dict[str, dict[str, relaxations.SumOfRatios]]:
        """Algorithm 1 by variant and job."""
        return {
            variant: {
                job.name: relaxations.sum_of_ratios(ratios(job), epsilon=self.epsilon, variant=variant)
                for job in self.running
            }
            for variant in ("printed", "corrected")
        }

    def least_time(self, job: Job) -> Interval:
        """Return the continuous optimum of a job's time: a bound and a point's value that owe nothing to any grid."""
        return Interval(*map(float, least_times(job)))


class RoundingFacts(SmdFacts):
    """What is known of Algorithm 2 on an instance.

    Parameters
    ----------
    instance : Instance
    seed : int
    delta : float
        Of Lemma 3, in (0, 1].
    epsilon : float
        eps_1, of Algorithm 1, and eps_2, of the knapsack scheme, in (0, 1).
    rounds : int
        F, the roundings that a job gets, at least 1.
    """

    def __init__(
        self, instance: Instance, seed: int, *, delta: float = DELTA, epsilon: float = FINE, rounds: int = 1
    ) -> None:
        super().__init__(instance, seed)
        expect_share(whole=False, epsilon=epsilon)
        expect_share(delta=delta)
        at_least(1, rounds=rounds)
        self.delta, self.epsilon, self.rounds = delta, epsilon, rounds

    @cached_property
    def relaxed(self) -> dict[str, relaxations.SumOfRatios]:
        """Algorithm 1, corrected, by job: its point is within 1 + eps_1, which Theorem 5 supposes."""
        if self.epsilon == FINE:
            return self.fine
        return {job.name: relaxations.sum_of_ratios(ratios(job), epsilon=self.epsilon) for job in self.running}

    @cached_property
    def roundings(self) -> tuple[Rounding, ...]:
        """The printed rounding of each job's x~, at M_delta with as many rows as there are resources."""
        found = []
        for job in self.running:
            x = self.relaxed[job.name].x
            assert x is not None
            found.append(Rounding.of(job, (float(x[0]), float(x[1])), self.gain(job, self.delta)))
        return tuple(found)

    def gain(self, job: Job, delta: float) -> float:
        """Return M_delta of a job."""
        polytope = ratios(job).polytope
        return gain_packing(width(polytope.A, polytope.row_upper), len(self.instance.resources), delta)

    def factor(self, gain: float) -> float:
        """Return (24/M + 4)/delta."""
        return float(promised(3, gain, self.delta))

    @cached_property
    def printed(self) -> Run[Schedule]:
        """SMD as printed, with the exact outer step."""
        return self._run("printed")

    @cached_property
    def corrected(self) -> Run[Schedule]:
        """SMD, corrected, with the exact outer step."""
        return self._run("corrected")

    def _run(self, variant: str) -> Run[Schedule]:
        return run(
            self.instance,
            seed=self.seed,
            variant=variant,
            epsilon=self.epsilon,
            delta=self.delta,
            rounds=self.rounds,
            outer="exact",
        )

    @property
    def printed_steps(self) -> tuple[InnerStep, ...]:
        """The inner steps of the printed run."""
        return _inner_steps(self.printed)

    @property
    def corrected_steps(self) -> tuple[InnerStep, ...]:
        """The inner steps of the corrected run."""
        return _inner_steps(self.corrected)

    @property
    def grid_succeeded(self) -> bool:
        """Whether the printed Algorithm 1 found, for every job, a point that takes at most (1 + eps_1) tau*."""
        for step in self.printed_steps:
            if step.relaxed is None and step.chosen is None:
                return False
            if step.relaxed is not None:
                time = float(ratios(self.instance.job(step.job))(np.array(step.relaxed)))
                if exceeds(time, (1 + self.epsilon) * float(self.best_points[step.job].time), unit=0.0):
                    return False
        return True

    @property
    def rounding_succeeded(self) -> bool:
        """Whether the printed Algorithm 2 found a feasible point for every job."""
        return all(step.chosen is not None for step in self.printed_steps)

    def chance_of_worth(self, least: float, rounds: int | None) -> Fraction:
        """Return the exact probability that SMD is worth at least so much, with so many printed rounds a job.

        None for rounds until one is feasible.
        """
        sure = {name: [(point.utility, Fraction(1))] for name, point in self.best_points.items()}
        laws = sure | {r.job.name: r.returned(rounds) for r in self.roundings if r.job.name in sure}
        if math.prod(map(len, laws.values())) > MAX_OUTCOMES:
            raise Undecided(f"more than {MAX_OUTCOMES} outcomes of the rounding")
        sets, chance = self._admissible_sets(list(laws)), Fraction(0)
        for outcome in product(*laws.values()):
            worth = max(sum((outcome[i][0] for i in chosen), Fraction(0)) for chosen in sets)
            if not exceeds(least, float(worth), unit=self.unit):
                chance += math.prod((p for _, p in outcome), start=Fraction(1))
        return chance

    def _admissible_sets(self, names: list[str]) -> list[tuple[int, ...]]:
        """Return the sets of jobs, as indices, whose reservations fit the cluster (2) together."""
        jobs = [self.instance.job(name) for name in names]
        sets: list[tuple[int, ...]] = [()]
        for i in range(len(jobs)):
            sets += [(*chosen, i) for chosen in sets if self._fits([jobs[k] for k in (*chosen, i)])]
            if len(sets) > MAX_OUTCOMES:
                raise Undecided(f"more than {MAX_OUTCOMES} sets of jobs")
        return sets

    def _fits(self, jobs: list[Job]) -> bool:
        instance = self.instance
        return all(
            sum((job.limit_of(r) for job in jobs), Fraction(0)) <= instance.capacity_of(r) for r in instance.resources
        )

    def promised_ratio(self, factors: Mapping[str, float]) -> float:
        """Return mu'(1 - eps_2)/mu*, mu' at so many times each job's least time tau*.

        Over the jobs that could be admitted; those that cannot run have no tau*.
        """
        best = self.best_points
        highest = max((point.utility for point in best.values()), default=Fraction(0))
        lowest = min(
            (
                self.instance.job(name).utility.exact(point.time * rational(factors.get(name, 1.0)))
                for name, point in best.items()
            ),
            default=Fraction(0),
        )
        return float(lowest / highest) * (1 - self.epsilon) if highest else 0.0


def _inner_steps(result: Run[Schedule]) -> tuple[InnerStep, ...]:
    return tuple(event for event in result.log if isinstance(event, InnerStep))


SMD = Subject(problem="smd", instance=Instance, facts=SmdFacts)
"""What claims about jobs and clusters are about."""

GRID = Subject(problem="smd", instance=Instance, facts=GridFacts)
"""What claims about Algorithm 1 are about."""

ROUNDED = Subject(problem="smd", instance=Instance, facts=RoundingFacts)
"""What claims about Algorithm 2, and SMD with it, are about."""

RUNNING = Premise[SmdFacts](
    "some job can run, and takes time", lambda facts: bool(facts.running), "(7) and (8): a worker and a server fit"
)
FALLING = Premise[SmdFacts]("mu_i >= 0 does not increase with the completion time", refused_otherwise, "Section III-A")
ACCEPTS_ONE: Premise[SmdFacts] = replace(OPT_POSITIVE, source="Section IV-A: a ratio to the optimal utility")
