"""The initial dual value, (9): D_0 <= OPT/2, and the steps by which the proof gets there."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Premise, Variant
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.hadar.competitive import (
    EVERYWHERE,
    OPT_POSITIVE,
    corrected_details,
    optimal_schedule,
    printed_details,
)
from dlsched.bounds.hadar.facts import HadarFacts
from dlsched.bounds.hadar.sources import TINY
from dlsched.models.hadar import Instance

_INITIAL_DUAL: dict[str, Any] = {
    "id": "hadar/initial-dual",
    "paper": "Hadar, (9)",
    "quantity": "D_0 = T sum_h sum_r c_h^r Umin^r, against OPT/2",
    "bound": lambda facts: Interval(facts.opt.low / 2, facts.opt.high / 2),
    "relation": Relation.AT_MOST,
    "facts": HadarFacts,
    "premises": (OPT_POSITIVE,),
    "schedule": optimal_schedule,
    "sources": EVERYWHERE,
}

INITIAL_DUAL = Claim(
    variant=Variant.PRINTED,
    statement="D_0 <= OPT/2 with 1/eta = min_j tmax_j W_j / (sum c)",
    measure=lambda facts: facts.printed.constants.d0,
    expectation=Expectation.FALSE,
    details=printed_details,
    counterexamples=("hadar-initial-dual-H4",),
    golden=("hadar-initial-dual-H2",),
    **_INITIAL_DUAL,
)

INITIAL_DUAL_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="D_0 <= OPT/2 with 1/eta = min_j tmax_j W_j / (T sum c)",
    measure=lambda facts: facts.corrected.constants.d0,
    expectation=Expectation.TRUE,
    details=corrected_details,
    golden=("hadar-initial-dual-corrected-H4",),
    **_INITIAL_DUAL,
)


def _least_over_schedules(facts: HadarFacts) -> Fraction:
    """Return min over (j, s) of U_j(f_js - a_j)/(tmax_j W_j)."""
    return min(
        column.utility / (facts.printed.constants.tmax[name] * facts.instance.job(name).gang)
        for name, columns in facts.all_schedules.items()
        for column in columns
    )


def _least_at_horizon(facts: HadarFacts) -> Fraction:
    """Return min over j of U_j(T - a_j)/(tmax_j W_j)."""
    instance: Instance = facts.instance
    tmax = facts.printed.constants.tmax
    return min(job.utility.exact(instance.slots - job.arrival) / (tmax[job.name] * job.gang) for job in instance.jobs)


_SOME_SCHEDULE = Premise("some job has a schedule", lambda facts: any(facts.all_schedules.values()))

_QUARTER: dict[str, Any] = {
    "id": "hadar/one-over-four-eta",
    "paper": "Hadar, (9)",
    "quantity": "min over (j, s) of U_j(f_js - a_j)/(tmax_j W_j), against min over j of U_j(T - a_j)/(tmax_j W_j)",
    "measure": _least_over_schedules,
    "bound": _least_at_horizon,
    "facts": HadarFacts,
    "premises": (_SOME_SCHEDULE,),
    "sources": (TINY,),
}

ONE_OVER_FOUR_ETA = Claim(
    variant=Variant.PRINTED,
    statement="Umin = (1/(4 eta)) min over (j, s) of U_j(f_js - a_j)/(tmax_j W_j), as the proof writes for (7)",
    relation=Relation.EQUAL,
    expectation=Expectation.FALSE,
    counterexamples=("hadar-one-over-four-eta-unfinishable",),
    **_QUARTER,
)

ONE_OVER_FOUR_ETA_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="Umin is at most what the proof writes, since no schedule ends after T",
    relation=Relation.AT_LEAST,
    expectation=Expectation.TRUE,
    golden=("hadar-one-over-four-eta-corrected-unfinishable",),
    **_QUARTER,
)

OPTIMUM_ADMITS = Claim(
    id="hadar/optimum-admits-one",
    paper="Hadar, (9)",
    variant=Variant.PRINTED,
    statement="if the optimum accepts at least one job, OPT >= min over (j, s) of U_j(f_js - a_j)",
    quantity="OPT, against the least utility of a schedule",
    measure=lambda facts: facts.opt,
    bound=lambda facts: min(c.utility for columns in facts.all_schedules.values() for c in columns),
    relation=Relation.AT_LEAST,
    expectation=Expectation.TRUE,
    facts=HadarFacts,
    premises=(_SOME_SCHEDULE,),
    schedule=lambda facts: facts.best.schedule,
    sources=(TINY,),
    golden=("hadar-optimum-admits-one-H6",),
)

CLAIMS = (
    INITIAL_DUAL,
    INITIAL_DUAL_CORRECTED,
    ONE_OVER_FOUR_ETA,
    ONE_OVER_FOUR_ETA_CORRECTED,
    OPTIMUM_ADMITS,
)
