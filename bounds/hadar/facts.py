"""What the claims ask about one Hadar instance: constants, runs, dual values, certified optima; each computed once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from dlsched.algorithms import Optimum, optimum
from dlsched.algorithms.hadar import PriceConstants, Round, alpha_measured, constants, run
from dlsched.algorithms.hadar.commit import best_response
from dlsched.algorithms.hadar.find_allocation import Finder, after
from dlsched.algorithms.hadar.occupancy import Counts, Occupancy
from dlsched.algorithms.hadar.rounds import queues
from dlsched.algorithms.run import Decision, Run, Variant
from dlsched.arithmetic import expm1, log
from dlsched.bounds.claim import Premise, Subject, Undecided
from dlsched.bounds.comparison import Interval
from dlsched.bounds.facts import OPT_POSITIVE, OptimumFacts, Step, interval, least_alpha, refused_otherwise, steps_of
from dlsched.bounds.sharing import shared
from dlsched.models.hadar import Instance, Job, Schedule, enumerate_schedules
from dlsched.models.hadar.schedules import Column
from dlsched.models.utility import Table

MAX_SCHEDULES = 5_000
"""Schedules of one job that a verdict enumerates, at most. Arbitrary: limits count work and not seconds, so that
verdicts are the same everywhere."""

MAX_SEARCH = 400
"""Jobs times slots of an instance whose optimum a verdict asks for, at most. Arbitrary."""

MAX_STATES = 2**15
"""States of the recursion of Algorithm 2 in one round, at most. Arbitrary."""

Place = tuple[str, str, int]
"""Machine, device type, slot."""


class Commitment:
    """The commit-at-arrival run of one variant, and the primal and dual values after each of its decisions.

    Parameters
    ----------
    instance : Instance
    seed : int
    variant : str
        Of the price constants, ``printed`` or ``corrected``.
    """

    def __init__(self, instance: Instance, seed: int, variant: str) -> None:
        self.instance = instance
        self.constants: PriceConstants = constants(instance, variant)
        self.run: Run[Schedule] = run(instance, seed=seed, variant=variant, mode="commit")

    @property
    def decisions(self) -> list[Decision]:
        """One for each job, in the order in which they were made."""
        return [event for event in self.run.log if isinstance(event, Decision)]

    @property
    def admissions(self) -> list[Decision]:
        """The decisions that admit a job."""
        return [decision for decision in self.decisions if decision.admitted]

    @property
    def positive(self) -> bool:
        """Whether every lowest price is above 0, so that (5) and ln(Umax/Umin) mean something."""
        return bool(self.constants.umin) and all(low > 0 for low in self.constants.umin.values())

    @cached_property
    def alpha_measured(self) -> float:
        """The greatest c dk / (k_old dgamma) of the run, at least 1; infinite where a price rises from 0."""
        return max(1.0, alpha_measured(self.instance, self.run.log))

    @property
    def log_ratio(self) -> float:
        """ln(Umax/Umin), which is the same for every type with w_j^r read as W_j; Umin is positive.

        As printed, Umax can be below Umin, and 0: U_j(tmin_j - a_j) may lie beyond the horizon.
        """
        (low, *_), (high, *_) = self.constants.umin.values(), self.constants.umax.values()
        return log(high) - log(low) if high > 0 else -math.inf

    @property
    def alpha_possible(self) -> float:
        """The greatest c dk / (k_old dgamma) that any run could have, at least 1; Umin is positive.

        A job that takes w devices of a cell raises its price at most from Umin (Umax/Umin)^(gamma/s) to that with
        min(gamma + w, s) for gamma, so that c dk / (k_old w) is at most c ((Umax/Umin)^(w/s) - 1) / w for w <= s, which
        grows with w, and no more for w > s.
        """
        worst = 1.0
        for (machine, type_), saturation in self.constants.saturation.items():
            gangs = [job.gang for job in map(self.instance.job, self.constants.tmin) if job.rate_on(type_)]
            taken = min(saturation, max(gangs, default=0))
            if taken:
                capacity = self.instance.machine(machine).count(type_)
                worst = max(worst, expm1(self.log_ratio * taken / saturation) * capacity / taken)
        return worst

    @cached_property
    def steps(self) -> list[Step]:
        """P_j - P_(j-1) and D_j - D_(j-1) of each admission."""
        machine = self.instance.machine
        return steps_of(self.instance, self.admissions, lambda step: machine(step.machine).count(step.type))

    @property
    def least_alpha(self) -> float:
        """The least alpha >= 1 with P_j - P_(j-1) >= (D_j - D_(j-1))/alpha; infinite where there is none."""
        return least_alpha(self.steps)

    @property
    def final_dual(self) -> float:
        """D_f, the value of P3 at the payoffs and the final prices."""
        return float(self.constants.d0) + math.fsum(step.dual for step in self.steps)

    @cached_property
    def allocated(self) -> Counter[Place]:
        """gamma_h^r(t), devices allocated in the end."""
        used: Counter[Place] = Counter()
        for decision in self.admissions:
            for step in decision.steps:
                used[step.machine, step.type, step.slot] += step.devices
        return used

    def dump(self) -> dict[str, Any]:
        """Return the constants and values as plain JSON data."""
        low, high = self.constants.umin, self.constants.umax
        return {
            "umin": {r: float(x) for r, x in low.items()},
            "umax": {r: float(x) for r, x in high.items()},
            "alpha": self.constants.alpha if math.isfinite(self.constants.alpha) else None,
            "alpha_measured": self.alpha_measured if math.isfinite(self.alpha_measured) else None,
            "d0": float(self.constants.d0),
            "d_final": self.final_dual,
            "alg": self.run.utility,
            "admitted": [decision.job for decision in self.admissions],
        }

    def price(self, place: Place) -> float:
        """Return the final price of one device."""
        machine, type_, _ = place
        return self.constants.price(machine, type_, self.allocated[place])


@dataclass(frozen=True, slots=True)
class Call:
    """A call of FIND_ALLOC as printed.

    Attributes
    ----------
    job : str
    payoff : float
        mu_j of the allocation that it returns; 0 where it refuses all.
    best : float
        The greatest mu_j of an allocation of this round; 0 where none is above.
    before : list of dict
        The allocations of the jobs before it.
    """

    job: str
    payoff: float
    best: float
    before: list[Counts]


class HadarFacts(OptimumFacts[Instance]):
    """What is known of one (instance, seed)."""

    @shared
    def printed(self) -> Commitment:
        """Commit at arrival with the printed constants."""
        return Commitment(self.instance, self.seed, "printed")

    @shared
    def corrected(self) -> Commitment:
        """Commit at arrival with the corrected constants."""
        return Commitment(self.instance, self.seed, "corrected")

    @shared
    def printed_rounds(self) -> Run[Schedule]:
        """Algorithms 1 and 2 to the letter."""
        return run(self.instance, seed=self.seed, variant="printed", mode="rounds", max_states=MAX_STATES)

    @shared
    def payoff_rounds(self) -> Run[Schedule]:
        """Algorithm 1 with the printed prices, in each round the jobs of the greatest payoff together."""
        prices = self.printed.constants
        return run(
            self.instance, seed=self.seed, variant="corrected", mode="rounds", prices=prices, max_states=MAX_STATES
        )

    @shared
    def first_calls(self) -> list[Call]:
        """FIND_ALLOC for the first queue, each job beside what those before it are given, until one is refused."""
        instance, remaining = self.instance, {job.name: job.iterations for job in self.instance.jobs}
        occupancy = Occupancy(instance, self.printed.constants)
        slot, queue = self._first_queue
        printed, greatest = (
            Finder(instance, occupancy, variant, 0.0, slot, remaining)
            for variant in (Variant.PRINTED, Variant.CORRECTED)
        )
        found: list[Call] = []
        state, taken = printed.start, list[Counts]()
        for job in queue:
            offer, best = printed.find(job, state), greatest.find(job, state)
            found.append(Call(job.name, offer.payoff if offer else 0.0, best.payoff if best else 0.0, list(taken)))
            if offer is None:
                break
            state = after(state, offer.counts)
            taken.append(offer.counts)
        return found

    def response(self, call: Call) -> float:
        """Return max(0, max_s phi_j(s)) of (4), at the prices of a call and beside the allocations before it."""
        occupancy, (slot, _) = Occupancy(self.instance, self.printed.constants), self._first_queue
        for counts in call.before:
            occupancy.commit({slot: counts})
        return best_response(self.instance, occupancy, self.instance.job(call.job))[0]

    @property
    def _first_queue(self) -> tuple[int, list[Job]]:
        """The first slot with a job in its queue, and the queue."""
        remaining = {job.name: job.iterations for job in self.instance.jobs}
        return next(queues(self.instance, remaining), (1, []))

    @property
    def first_round(self) -> Round | None:
        """The first round of Algorithm 1 with a job in its queue."""
        return next((event for event in self.printed_rounds.log if isinstance(event, Round)), None)

    @shared
    def best(self) -> Optimum:
        """The certified optimum of P1 with admission."""
        return certified(self.instance)

    @shared
    def schedules(self) -> dict[str, list[Column]]:
        """S_j of every job, without schedules in which a slot can be dropped."""
        return {job.name: self._enumerate(job.name, True) for job in self.instance.jobs}

    @shared
    def all_schedules(self) -> dict[str, list[Column]]:
        """S_j of every job."""
        return {job.name: self._enumerate(job.name, False) for job in self.instance.jobs}

    @shared
    def worth(self) -> dict[str, list[Column]]:
        """The schedules of every job, as in `schedules`, that are worth something."""
        return {name: [column for column in found if column.utility > 0] for name, found in self.schedules.items()}

    def _enumerate(self, job: str, minimal: bool) -> list[Column]:
        try:
            return enumerate_schedules(self.instance, self.instance.job(job), minimal=minimal, limit=MAX_SCHEDULES)
        except ValueError:
            raise Undecided(f"job {job} has more than {MAX_SCHEDULES} schedules") from None

    @shared
    def _finishing(self) -> tuple[Fraction, Optimum]:
        """More than all utilities together, and the certified optimum where each job that finishes gets it beside."""
        bonus = self._more + sum((job.utility.exact(0) for job in self.instance.jobs), Fraction(0))
        return bonus, certified(_with_bonus(self.instance, bonus))

    @property
    def _more(self) -> Fraction:
        """By how much a job's finishing is worth more than all utilities together: what can be told in their unit."""
        return self.instance.greatest_utility or Fraction(1)

    @property
    def every_job(self) -> Interval | None:
        """The optimum of P1 as printed, where every job must finish; None where none such exists.

        It is read off a certified optimum with admission in which finishing is worth more than all utilities together.
        """
        bonus, found = self._finishing
        needed = float(bonus * len(self.instance.jobs))
        without = needed - float(self._more) / 2
        best = interval(found)
        if best.low >= without:
            return Interval(best.low - needed, best.high - needed)
        if best.high < without:
            return None
        raise Undecided("whether all jobs can finish is not proved")


HADAR = Subject(problem="hadar", instance=Instance, facts=HadarFacts)
"""What every claim of the paper is about."""

UMIN_POSITIVE = Premise[HadarFacts]("Umin > 0", lambda facts: facts.printed.positive, "(5), which divides by Umin")
SOME_ADMITTED = Premise[HadarFacts](
    "some job is admitted", lambda facts: bool(facts.printed.admissions), "Definition 1 and Lemma 2: for all jobs j"
)
NOT_INCREASING = Premise[HadarFacts](
    "U_j >= 0 does not increase with the completion time", refused_otherwise, "Section III-A"
)
OPT_OPEN = (
    "OPT is the optimum of P1, whose (1a) has every job done: read as that of P1 with admission, without which it "
    "would say nothing that OPT accepts a job (below (9))"
)
"""What is open in every claim that compares with OPT."""

ACCEPTS_ONE: Premise[HadarFacts] = replace(OPT_POSITIVE, source="Section III-D, below (9): OPT accepts a job")
BELOW_CAPACITY = Premise[HadarFacts](
    "every gang is smaller than the capacity, W_j < sum_h sum_r c_h^r",
    lambda facts: all(job.gang < facts.instance.devices for job in facts.instance.jobs),
    "Section III-D, below Lemma 3",
)
EACH_FINISHES = Premise[HadarFacts](
    "every job can finish by T", lambda facts: all(facts.schedules.values()), "(1a), for all j"
)
FINISHING = Premise[HadarFacts](
    "some job can finish while worth something", lambda facts: any(facts.worth.values()), "(1a)"
)


def cost(column: Column, prices: Mapping[str, Fraction]) -> Fraction:
    """Return what a schedule pays where a device has the same price, by its type, on every machine in every slot."""
    return sum((n * prices[r] for (_, r, _), n in column.usage().items()), Fraction(0))


def certified(instance: Instance) -> Optimum:
    """Return the optimum of a small instance.

    Raises
    ------
    Undecided
        If it is too large for a verdict.
    """
    size = len(instance.jobs) * instance.slots
    if size > MAX_SEARCH:
        raise Undecided(f"{len(instance.jobs)} jobs in {instance.slots} slots: more than {MAX_SEARCH} pairs")
    return optimum(instance)


def _with_bonus(instance: Instance, bonus: Fraction) -> Instance:
    """Return the instance in which every job is worth `bonus` more if it finishes."""
    return replaced(
        instance,
        {
            job.name: Table(values=tuple(job.utility.exact(d) + bonus for d in range(instance.slots - job.arrival + 1)))
            for job in instance.jobs
        },
    )


def replaced(instance: Instance, utilities: dict[str, Table], slots: int | None = None) -> Instance:
    """Return the instance with other utilities, and another horizon where one is given."""
    jobs = tuple(job.model_copy(update={"utility": utilities[job.name]}) for job in instance.jobs)
    changed: dict[str, Any] = {name: getattr(instance, name) for name in type(instance).model_fields}
    return Instance(**(changed | {"jobs": jobs} | ({} if slots is None else {"slots": slots})))
