"""The dynamic program over workloads (21), and Theorem 7, which calls it polynomial."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated

import numpy as np
from pydantic import Field

from dlsched.algorithms.pd_ors import JobDecision, Occupancy, Prices, Rounding, constants, respond
from dlsched.algorithms.pd_ors.market import market
from dlsched.algorithms.pd_ors.offers import External, slot_offers
from dlsched.algorithms.pd_ors.response import Program, Settings
from dlsched.algorithms.pd_ors.samples import sample_costs, whole_units
from dlsched.algorithms.run import Variant as RunVariant
from dlsched.arithmetic import exact_power
from dlsched.bounds.claim import Expectation, Premise, Subject, Undecided, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.pd_ors.facts import ORDINARY, PD_ORS, SYNCHRONOUS, PdOrsFacts
from dlsched.bounds.pd_ors.families import ROOMY, SAMPLES, TINY
from dlsched.errors import InputError
from dlsched.models.dmlrs import Instance, Job

MAX_SAMPLES = 10**6
"""V of a job whose table theta(t, v) a verdict fills, at most. Arbitrary: it takes seconds."""

_RULE = Rounding.of("1", 1.0, 1, RunVariant.CORRECTED)


def _payoffs(facts: PdOrsFacts, program: Program) -> float:
    """Return the sum of the best payoffs at the first prices, by a dynamic program with exact one-slot costs."""
    occupancy = Occupancy(facts.instance, constants(facts.instance, Prices.REPAIRED))
    settings = Settings(External.EXACT, _RULE, program, RunVariant.CORRECTED)
    try:
        return sum(respond(occupancy, job, settings, np.random.default_rng(0)).payoff for job in facts.instance.jobs)
    except InputError as limit:
        raise Undecided(str(limit)) from None


def _best_payoffs(facts: PdOrsFacts) -> float:
    """Return the same by enumerating all schedules."""
    low = float(facts.repaired.constants.low)
    priced = facts.repaired.constants.saturation
    total = 0.0
    for columns in facts.schedules.values():
        payoffs = (
            float(column.utility)
            - low * float(sum(n for (h, r, _), n in column.usage(facts.instance).items() if (h, r) in priced))
            for column in columns
        )
        total += max(payoffs, default=0.0) if columns else 0.0
    return total


def _all_positive(facts: PdOrsFacts) -> bool:
    return all(column.utility > 0 for columns in facts.schedules.values() for column in columns)


DYNAMIC_PROGRAM = PD_ORS.printed(
    "pd-ors/dynamic-program",
    paper="PD-ORS, Section 4.3, (21) and Algorithm 3",
    statement="Algorithm 3, which solves (21) over the workloads v = 0, 1, ..., V of a slot, finds the optimum of (16)",
    quantity="sum of the best payoffs by it at the first prices, against that by the program over worker-slots",
    measure=lambda facts: _payoffs(facts, Program.SAMPLES),
    relation=Relation.EQUAL,
    bound=lambda facts: _payoffs(facts, Program.WORKER_SLOTS),
    expectation=Expectation.FALSE,
    premises=(SYNCHRONOUS, ORDINARY),
    sources=(TINY, ROOMY),
    counterexamples=("pd-ors-dynamic-program-seven-tenths", "pd-ors-dynamic-program-half-samples"),
    golden=("pd-ors-dynamic-program-D1",),
    open="of (21) whether v is whole; Algorithm 3 goes in steps of 1",
)

DYNAMIC_PROGRAM_CORRECTED = DYNAMIC_PROGRAM.corrected(
    statement="the program over worker-slots, with work counted by totals, is equivalent to (16)",
    quantity="sum of the best payoffs by that program at the first prices, against that over all schedules",
    measure=lambda facts: _payoffs(facts, Program.WORKER_SLOTS),
    bound=_best_payoffs,
    premises=(SYNCHRONOUS, ORDINARY, Premise("every payoff is positive", _all_positive)),
    golden=("pd-ors-dynamic-program-corrected-half-samples",),
)


class GrowthFacts(PdOrsFacts):
    """What the print's program costs for the largest job, alone on the empty cluster, as its data set grows.

    Parameters
    ----------
    instance : Instance
    seed : int
    degree : int
        Of the polynomial in the length of the input. 8: the print's T K^2 E^2 H^3 has it, in the numbers themselves.
    """

    def __init__(self, instance: Instance, seed: int, *, degree: Annotated[int, Field(ge=1)] = 8) -> None:
        super().__init__(instance, seed)
        self.degree = degree

    @property
    def synchronous(self) -> list[Job]:
        """The synchronous jobs."""
        return [job for job in self.instance.jobs if isinstance(job, Job)]

    @property
    def largest(self) -> Job:
        """The synchronous job with the most samples to process."""
        return max(self.synchronous, key=lambda job: job.work)

    def grown(self, factor: int) -> int:
        """Return the size of the table of the largest job where K is so many times as great."""
        return self.cells(self.largest.model_copy(update={"samples": self.largest.samples * factor}))

    def cells(self, job: Job) -> int:
        """Return the size of the table theta(t, v) that is filled for a job, with a row for each slot from a_i on."""
        if job.work > MAX_SAMPLES:
            raise Undecided(f"{math.ceil(job.work)} samples: more than {MAX_SAMPLES}")
        occupancy = Occupancy(self.instance, constants(self.instance, Prices.REPAIRED))
        offers = slot_offers(market(occupancy, job, self.instance.slots), job, External.GREEDY).offers
        theta, _ = sample_costs(offers, *whole_units(job))
        return theta.size

    @property
    def digits(self) -> int:
        """Decimal digits of K, rounded up."""
        return len(str(math.ceil(self.largest.samples)))


GROWTH = Subject(problem="dmlrs", instance=Instance, facts=GrowthFacts)


def _growth(facts: GrowthFacts, factor: int) -> Fraction:
    return Fraction(facts.grown(factor), facts.grown(1))


_SOME = Premise[PdOrsFacts](
    "there are synchronous jobs",
    lambda facts: bool(facts.instance.jobs) and not facts.instance.asynchronous,
    "Section 3 2)",
)

THEOREM_7 = GROWTH.printed(
    "pd-ors/theorem-7",
    paper="PD-ORS, Theorem 7",
    statement="the running time of PD-ORS is polynomial in the length of its input",
    quantity="cells of the table theta(t, v) with twice the digits of K, over those with K, against 2^degree",
    measure=lambda facts: _growth(facts, exact_power(10, facts.digits)),
    relation=Relation.AT_MOST,
    bound=lambda facts: exact_power(2, facts.degree),
    expectation=Expectation.FALSE,
    premises=(_SOME,),
    details=lambda facts: {"digits": facts.digits, "cells": facts.grown(1)},
    sources=(SAMPLES,),
    counterexamples=("pd-ors-theorem-7-three-digits",),
    open=(
        "polynomial in what: in the length of the input, as the word is used (here), or in the numbers T, K, E, H and "
        "S, in which the theorem's own bound O(T K^2 E^2 (H^3 + S)) is, a bound on a fair reading, of which the states "
        "(t, v) alone are counted, by the corrected claim; of which degree, though one more digit of K, a table ten "
        "times as large, outgrows any; what Algorithm 4 repeats: while infeasible or fewer than S rounds, which to the "
        "letter need not end, or S rounds at most, as the text below it says (here); and what Algorithm 3, which calls "
        "itself, keeps: nothing, and then it calls itself exponentially often, or a table of the states (t, v), as the "
        "proof counts them (here)"
    ),
)

THEOREM_7_CORRECTED = THEOREM_7.corrected(
    statement=(
        "(21) has at most T (V + 1) states (t, v) a job, V its samples in all: polynomial in the numbers, or "
        "pseudo-polynomial"
    ),
    quantity="cells of the tables theta(t, v) that are filled for the jobs, against sum_i T (V_i + 1)",
    measure=lambda facts: sum(map(facts.cells, facts.synchronous)),
    bound=lambda facts: sum(facts.instance.slots * (math.ceil(job.work) + 1) for job in facts.synchronous),
    sources=(SAMPLES, TINY),
    golden=("pd-ors-theorem-7-corrected-three-digits",),
)


def _most_states(facts: PdOrsFacts) -> float:
    """Return the most one-slot states of a job of the run, over T F."""
    decisions = [event for event in facts.repaired.run.log if isinstance(event, JobDecision)]
    slots = facts.instance.slots
    return max(event.subproblems.states / (slots * facts.instance.job(event.job).most_workers) for event in decisions)


THEOREM_7_WORKER_SLOTS = PD_ORS.derived(
    "pd-ors/theorem-7-worker-slots",
    paper="PD-ORS, Theorem 7",
    statement="by worker-slots PD-ORS settles at most T F external one-slot states (t, n) a job, whatever K and E",
    quantity="the most states (t, n), n external workers in slot t, of a job of the run, over T F, against 1",
    measure=_most_states,
    relation=Relation.AT_MOST,
    bound=always(1),
    expectation=Expectation.TRUE,
    premises=(_SOME,),
    sources=(TINY, ROOMY),
    golden=("pd-ors-theorem-7-worker-slots-half-samples",),
)

CLAIMS = stated(globals())
