"""Section III-B, P1 and P2 are equivalent; Theorem 1, the states of Algorithm 2 in a round; and what it finds a job."""

from __future__ import annotations

import math
from typing import Any

from dlsched.algorithms.exact.hadar.rationals import over
from dlsched.bounds.claim import Expectation, Premise, stated
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.facts import optimal_schedule, over_schedules
from dlsched.bounds.hadar.facts import HADAR, MAX_STATES, NOT_INCREASING, UMIN_POSITIVE, Call, HadarFacts
from dlsched.bounds.hadar.sources import MIXED, ROOMY, SPECIALISTS, TINY
from dlsched.models.hadar import Instance

INFEASIBLE = -1.0
"""Stands for the value of an infeasible P1: below every utility."""


def _p1(facts: HadarFacts) -> Interval:
    every = facts.every_job
    return Interval(INFEASIBLE, INFEASIBLE) if every is None else every


def _schedules(facts: HadarFacts) -> int:
    return sum(map(len, facts.schedules.values()))


def _every_job_details(facts: HadarFacts) -> dict[str, Any]:
    every = facts.every_job
    return {"P1": "infeasible" if every is None else every.low, "schedules": _schedules(facts)}


def _admission_details(facts: HadarFacts) -> dict[str, Any]:
    return {"P1": facts.opt.low, "schedules": _schedules(facts)}


EQUIVALENCE = HADAR.printed(
    "hadar/equivalence",
    paper="Hadar, Section III-B",
    statement="P1 and P2 are equivalent: the same feasible solutions, with the same objective values",
    quantity="the optimum of P2, against that of P1, in which every job must finish (-1: P1 is infeasible)",
    measure=lambda facts: over_schedules("hadar/p2", facts.instance, facts.schedules, over),
    relation=Relation.EQUAL,
    bound=_p1,
    expectation=Expectation.FALSE,
    premises=(NOT_INCREASING,),
    details=_every_job_details,
    schedule=optimal_schedule,
    sources=(TINY,),
    counterexamples=("hadar-equivalence-two-types", "hadar-equivalence-H5", "hadar-equivalence-H6"),
    golden=("hadar-equivalence-H2",),
)

EQUIVALENCE_CORRECTED = EQUIVALENCE.corrected(
    statement="P1 in which a job may be rejected and P2 are equivalent",
    quantity="the optimum of P2, against that of P1 with admission",
    bound=lambda facts: facts.opt,
    details=_admission_details,
    golden=("hadar-equivalence-corrected-H5", "hadar-equivalence-corrected-H6"),
)


def _states(facts: HadarFacts) -> Interval:
    """Return the distinct (index, server state) pairs of the first round."""
    first = facts.first_round
    states = 0 if first is None else first.states
    return Interval(states, math.inf if states >= MAX_STATES else states)


def _queue(facts: HadarFacts) -> int:
    first = facts.first_round
    return 0 if first is None else len(first.queue)


def _claimed(facts: HadarFacts) -> float:
    """Return n(Q) H R."""
    return _queue(facts) * len(facts.instance.machines) * len(facts.instance.device_types)


def _all_states(facts: HadarFacts) -> float:
    """Return min(2^(n+1) - 1, (n+1) prod (c_h^r + 1)): a queue of n jobs splits in two at each, in no more states."""
    n, instance = _queue(facts), facts.instance
    return min(math.ldexp(1.0, n + 1) - 1, (n + 1) * float(math.prod(_levels(instance))))


def _levels(instance: Instance) -> list[int]:
    return [machine.count(r) + 1 for machine in instance.machines for r in instance.device_types]


def _round(facts: HadarFacts) -> dict[str, Any]:
    return {
        "jobs in the queue": _queue(facts),
        "machines": len(facts.instance.machines),
        "types": len(facts.instance.device_types),
    }


THEOREM_1 = HADAR.printed(
    "hadar/theorem-1",
    paper="Hadar, Section III-D, Theorem 1",
    statement="Algorithm 2 decides in polynomial time: n(Q) H R function calls, one for each state that is kept",
    quantity="distinct (index, server state) of the first round, against n(Q) H R",
    measure=_states,
    relation=Relation.AT_MOST,
    bound=_claimed,
    expectation=Expectation.FALSE,
    premises=(Premise("some job is in the queue", lambda facts: _queue(facts) > 0, "Section III-C: waiting jobs"),),
    open=(
        "the constant of an O(), whether states at the end of the queue count, and which of several cheapest "
        "allocations is taken: in the first witness there are 341 times as many without them, twice as many with each "
        "job more, and no job has a choice"
    ),
    details=_round,
    sources=(SPECIALISTS,),
    counterexamples=("hadar-theorem-1-powers", *(f"hadar-theorem-1-G4-{n}" for n in (12, 10, 8, 4))),
)

THEOREM_1_CORRECTED = THEOREM_1.corrected(
    statement="Algorithm 2 visits at most min(2^(n+1) - 1, (n+1) prod_(h,r) (c_h^r + 1)) states",
    quantity="distinct (index, server state) of the first round, against that number",
    bound=_all_states,
    sources=(SPECIALISTS, TINY),
    golden=("hadar-theorem-1-corrected-G4-8",),
)


def _call(facts: HadarFacts) -> Call:
    """Return the call that returns an allocation furthest from the best."""
    return max(facts.first_calls, key=lambda call: call.best - call.payoff)


def _call_details(facts: HadarFacts) -> dict[str, Any]:
    call = _call(facts)
    return {"job": call.job, "greatest payoff (4) of a schedule": facts.response(call), **facts.printed.dump()}


_CALLED = Premise[HadarFacts](
    "some job is in the queue", lambda facts: bool(facts.first_calls), "Section III-C: waiting jobs"
)

FIND_ALLOC = HADAR.printed(
    "hadar/find-alloc",
    paper="Hadar, Section III-C, Algorithm 2",
    statement=(
        "Algorithm 2 calculates s* of (4), of the greatest payoff, by taking the cheapest allocation of a round: none "
        "of that round has a greater mu_j than what FIND_ALLOC returns"
    ),
    quantity="mu_j of what FIND_ALLOC returns to a job of the first queue, those before it served, against the "
    "greatest mu_j of an allocation of this round, for the job for which they are furthest apart",
    measure=lambda facts: _call(facts).payoff,
    relation=Relation.AT_LEAST,
    bound=lambda facts: _call(facts).best,
    expectation=Expectation.FALSE,
    premises=(NOT_INCREASING, UMIN_POSITIVE, _CALLED),
    open=(
        "which allocations FIND_ALLOC ranges over: for every type to start from, the gang filled from there downwards, "
        "on each machine and over all of them, without cost of communication; what mu_j is of: the completion that the "
        "rate of the allocation would give, and the cost of this round alone, as Algorithm 2 has it, on both sides; "
        "(4) takes schedules, whose cost is of all their slots, and which may wait"
    ),
    details=_call_details,
    sources=(TINY, ROOMY, MIXED),
    counterexamples=("hadar-find-alloc-fast-and-slow",),
)

FIND_ALLOC_CORRECTED = FIND_ALLOC.corrected(
    statement=(
        "where f_j is fixed, each job being as fast on one type as on another, no allocation of the round has a "
        "greater mu_j than what FIND_ALLOC returns"
    ),
    premises=(
        NOT_INCREASING,
        UMIN_POSITIVE,
        _CALLED,
        Premise(
            "each job is as fast on one type as on another",
            lambda facts: all(len({rate for rate in job.rate.values() if rate}) == 1 for job in facts.instance.jobs),
            "Section III-C: if we fix f_j",
        ),
    ),
    golden=("hadar-find-alloc-corrected-one-type",),
)

CLAIMS = stated(globals())
