"""What the claims ask about one DMLRS instance: runs and their dual values, schedules, certified optima; each once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache, cached_property, partial
from typing import Annotated, Any

from pydantic import Field

from dlsched.algorithms import Optimum, optimum
from dlsched.algorithms.baselines.dmlrs import dorm, drf, fifo, oasis
from dlsched.algorithms.pd_ors import (
    Certificate,
    JobDecision,
    PriceConstants,
    Prices,
    certificate,
    constants,
    run,
    unmet_premises,
)
from dlsched.algorithms.run import Run
from dlsched.bounds.claim import Premise, Subject, Undecided
from dlsched.bounds.facts import OptimumFacts, Step, least_alpha, optimal_schedule, steps_of
from dlsched.bounds.sharing import shared
from dlsched.errors import InputError
from dlsched.models.dmlrs import Instance, Schedule
from dlsched.models.dmlrs.schedules import Column, enumerate_schedules

MAX_SCHEDULES = 5_000
"""Schedules of one job that a verdict enumerates, at most. Arbitrary: limits count work and not seconds, so that
verdicts are the same everywhere."""

MAX_SEARCH = 1200
"""Jobs times slots times machines of an instance whose optimum a verdict asks for, at most: those of Fig. 10."""

_BASELINES = {"FIFO": fifo.run, "DRF": drf.run, "Dorm": dorm.run, "OASiS": oasis.run}

Times = Annotated[int, Field(ge=1)]
"""How many times smaller is "much smaller", as a user gives it."""

MUCH_SMALLER: Times = 9
"""How many times the need of a worker or server a machine has at the least where the paper says that the need is much
smaller. A reading of the paper's evaluation (Section 5): a machine has "roughly 18 times of the resource demands of a
worker/PS", and 18 times the mean of 2 GPUs is 9 times the 4 that a worker may take. Shipped counterexamples have a
hundred times the need, so that they are fair if more is meant.
"""


class Commitment:
    """A run of PD-ORS with exact subproblems, and the primal and dual values after each of its decisions.

    Parameters
    ----------
    instance : Instance
    seed : int
    prices : str
        Which constants (12) has: ``printed``, where (12)-(14) are defined and L > 0, ``repaired`` or ``theorem``.
    """

    def __init__(self, instance: Instance, seed: int, prices: str) -> None:
        self.instance = instance
        self.constants: PriceConstants = constants(instance, prices)
        self.run: Run[Schedule] = run(instance, seed=seed, prices=self.constants)

    @property
    def admissions(self) -> list[JobDecision]:
        """The decisions that admit a job."""
        return [event for event in self.run.log if isinstance(event, JobDecision) and event.admitted]

    @cached_property
    def full(self) -> set[tuple[str, str, int]]:
        """Where a resource is allocated whole in the end: machine, resource and slot."""
        left: dict[tuple[str, str, int], Fraction] = {}
        for step in (step for decision in self.admissions for step in decision.steps):
            place = step.machine, step.resource, step.slot
            before = left.get(place, self.instance.machine(step.machine).capacity_of(step.resource))
            left[place] = before - step.amount
        return {place for place, amount in left.items() if not amount}

    @cached_property
    def certificate(self) -> Certificate:
        """The dual values of the run."""
        return certificate(self.instance, self.run)

    @property
    def alpha(self) -> float:
        """The greatest C dp / (p_old drho) of the run, at least 1."""
        return max(1.0, self.certificate.alpha)

    @cached_property
    def steps(self) -> list[Step]:
        """P_i - P_(i-1) and D_i - D_(i-1) of each admission."""
        machine = self.instance.machine
        return steps_of(self.instance, self.admissions, lambda step: machine(step.machine).capacity_of(step.resource))

    @property
    def least_alpha(self) -> float:
        """The least alpha >= 1 with P_i - P_(i-1) >= (D_i - D_(i-1))/alpha; infinite where there is none."""
        return least_alpha(self.steps)

    def dump(self) -> dict[str, Any]:
        """Return the constants and values as plain JSON data."""
        return {
            "L": float(self.constants.low),
            "U": {r: None if high is None else float(high) for r, high in self.constants.high.items()},
            "alpha_measured": self.alpha if math.isfinite(self.alpha) else None,
            "d0": self.certificate.initial,
            "d_final": self.certificate.dual,
            "alg": self.run.utility,
            "admitted": [decision.job for decision in self.admissions],
        }


class PdOrsFacts(OptimumFacts[Instance]):
    """What is known of one (instance, seed)."""

    @property
    def ordinary(self) -> bool:
        """Whether no job's external rate is above its internal one."""
        return all(job.internal_rate >= job.external_rate for job in self.instance.jobs)

    @property
    def faster_inside(self) -> bool:
        """Whether every job's internal rate is above its external one, as Fact 1 assumes."""
        return all(job.internal_rate > job.external_rate for job in self.instance.jobs)

    @shared
    def printed_constants(self) -> PriceConstants | None:
        """(13) and (14) as printed; None where they divide by zero."""
        try:
            found = constants(self.instance, Prices.PRINTED)
        except InputError:
            return None
        return None if any(high is None for high in found.high.values()) else found

    @property
    def defined_constants(self) -> PriceConstants:
        """The same, where they are defined."""
        assert self.printed_constants is not None
        return self.printed_constants

    @property
    def prices_printed(self) -> bool:
        """Whether (12)-(14) divide by nothing that is 0, but for L."""
        return self.printed_constants is not None and all(self.printed_constants.saturation.values())

    @shared
    def printed(self) -> Commitment:
        """PD-ORS with (12)-(14) as printed, where they are defined and L > 0."""
        return Commitment(self.instance, self.seed, Prices.PRINTED)

    @shared
    def repaired(self) -> Commitment:
        """PD-ORS with (13) and (14) repaired where they are not defined."""
        return Commitment(self.instance, self.seed, Prices.REPAIRED)

    @property
    def small_demand(self) -> bool:
        """Whether every capacity exceeds what one job can put there in a slot, and some job can earn something."""
        return not unmet_premises(self.instance)

    @shared
    def theorem(self) -> Commitment:
        """PD-ORS with the constants of the corrected theorem."""
        return Commitment(self.instance, self.seed, Prices.THEOREM)

    def baseline(self, name: str) -> float:
        """Return the utility of FIFO, DRF, Dorm or OASiS."""
        return _BASELINES[name](self.instance, seed=self.seed).utility

    @shared
    def best(self) -> Optimum:
        """The certified optimum."""
        size = len(self.instance.jobs) * self.instance.slots * len(self.instance.machines)
        if size > MAX_SEARCH:
            raise Undecided(f"{size} jobs times slots times machines: more than {MAX_SEARCH}")
        return optimum(self.instance)

    @shared
    def schedules_of(self) -> Callable[[str], list[Column]]:
        """Pi_i of a job, without schedules in which a slot can be dropped, enumerated when first asked for."""
        return cache(partial(_enumerate, self.instance))

    @shared
    def schedules(self) -> dict[str, list[Column]]:
        """The same of every job."""
        return {job.name: self.schedules_of(job.name) for job in self.instance.jobs}

    @shared
    def turned_away(self) -> dict[str, list[Column]]:
        """The same of the jobs that PD-ORS with (12)-(14) as printed turns away."""
        admitted = {decision.job for decision in self.printed.admissions}
        return {job.name: self.schedules_of(job.name) for job in self.instance.jobs if job.name not in admitted}


def _enumerate(instance: Instance, name: str) -> list[Column]:
    try:
        return enumerate_schedules(instance, instance.job(name), limit=MAX_SCHEDULES)
    except ValueError as limit:
        raise Undecided(str(limit)) from None


class SmallNeedsFacts(PdOrsFacts):
    """The same, for claims that assume the needs of workers and servers to be much smaller than what a machine has.

    Parameters
    ----------
    instance : Instance
    seed : int
    much_smaller : int
        How many times smaller they are, at the least.
    """

    def __init__(self, instance: Instance, seed: int, *, much_smaller: Times = MUCH_SMALLER) -> None:
        super().__init__(instance, seed)
        self.much_smaller = much_smaller

    @property
    def small_needs(self) -> bool:
        """Whether every machine has so many times what a worker or a server needs of a resource."""
        return all(
            self.much_smaller * need <= machine.capacity_of(r)
            for job in self.instance.jobs
            for r in self.instance.resources
            for need in (job.worker_needs(r), job.server_needs(r))
            for machine in self.instance.machines
        )


PD_ORS = Subject(problem="dmlrs", instance=Instance, facts=PdOrsFacts)
"""What claims about jobs and clusters are about."""

AGAINST_OPT = replace(PD_ORS, schedule=optimal_schedule)
"""The same where the optimum is one of the two sides: its schedule is the witness."""

ORDINARY = Premise[PdOrsFacts](
    "b^(i) >= b^(e)", lambda facts: facts.ordinary, "Section 3 2): in practice b^(e) << b^(i)"
)
CONSTANTS_DEFINED = Premise[PdOrsFacts](
    "(13) and (14) are defined", lambda facts: facts.printed_constants is not None, "Section 4.2, (13) and (14)"
)
PRICES_DEFINED = Premise[PdOrsFacts](
    "(12)-(14) are defined, but for L = 0", lambda facts: facts.prices_printed, "Section 4.2, (12)-(14)"
)
LOWEST_POSITIVE = Premise[PdOrsFacts](
    "L > 0", lambda facts: bool(facts.defined_constants.low), "Section 4.2: (12) divides by L"
)
SMALL_NEEDS = Premise[SmallNeedsFacts](
    "alpha_i^r, beta_i^r << C_h^r, at most C_h^r/much_smaller",
    lambda facts: facts.small_needs,
    "Appendix C, before Definition 2",
)
WHOSE_DEMAND = (
    "whose demand is much smaller than the capacity: a worker's and a server's, as Appendix C assumes (here), or a "
    "job's, as its proof says"
)
"""What the print leaves open of what is small."""

ADMITS_ONE = Premise[PdOrsFacts](
    "the optimum accepts a job: OPT > 0", lambda facts: facts.opt_positive, "Appendix C, proof of Theorems 5 and 6"
)
SOME_ADMITTED = Premise[PdOrsFacts]("some job is admitted", lambda facts: bool(facts.repaired.admissions))
SOME_SCHEDULE = Premise[PdOrsFacts](
    "some job can finish", lambda facts: any(facts.schedules.values()), "Section 4.1: Pi_i, the feasible schedules"
)
SYNCHRONOUS = Premise[PdOrsFacts](
    "jobs are synchronous", lambda facts: not facts.instance.asynchronous, "Section 3 2): the BSP scheme"
)
ASYNCHRONOUS = Premise[PdOrsFacts](
    "jobs are asynchronous",
    lambda facts: bool(facts.instance.jobs) and facts.instance.asynchronous,
    "Thesis, Section 3.1 1): asynchronous SGD",
)
