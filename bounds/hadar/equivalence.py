"""The claim that P1 and P2 are equivalent."""

from __future__ import annotations

from functools import partial
from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Undecided, Variant
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.hadar.facts import HadarFacts
from dlsched.bounds.hadar.sources import TINY
from dlsched.models import Status, build, solve

INFEASIBLE = -1.0
"""Stands for the value of an infeasible P1: below every utility."""


def _p2(facts: HadarFacts) -> Interval:
    """Return the optimum of P2 over all schedules in which no slot can be dropped, solved on its own."""
    if not any(facts.schedules.values()):
        return Interval(0.0, 0.0)
    solution = solve(build("hadar/p2", facts.instance, schedules=facts.schedules), threads=1, presolve=False)
    if solution.status is not Status.OPTIMAL or solution.objective is None:
        raise Undecided(f"P2 was not solved: {solution.status}")
    return Interval.of(solution.objective)


def _p1(facts: HadarFacts) -> Interval:
    every = facts.every_job
    return Interval(INFEASIBLE, INFEASIBLE) if every is None else every


def _details(facts: HadarFacts, admission: bool) -> dict[str, Any]:
    every = facts.every_job
    return {
        "P1": facts.opt.low if admission else "infeasible" if every is None else every.low,
        "schedules": sum(map(len, facts.schedules.values())),
    }


_EQUIVALENCE: dict[str, Any] = {
    "id": "hadar/equivalence",
    "paper": "Hadar, Section III-B",
    "measure": _p2,
    "relation": Relation.EQUAL,
    "facts": HadarFacts,
    "schedule": lambda facts: facts.best.schedule,
    "sources": (TINY,),
}

EQUIVALENCE = Claim(
    variant=Variant.PRINTED,
    statement="P1 and P2 are equivalent: the same feasible solutions, with the same objective values",
    quantity="the optimum of P2, against that of P1, in which every job must finish (-1: P1 is infeasible)",
    bound=_p1,
    expectation=Expectation.FALSE,
    details=partial(_details, admission=False),
    counterexamples=("hadar-equivalence-H5", "hadar-equivalence-H6"),
    golden=("hadar-equivalence-H2",),
    **_EQUIVALENCE,
)

EQUIVALENCE_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="P1 in which a job may be rejected and P2 are equivalent",
    quantity="the optimum of P2, against that of P1 with admission",
    bound=lambda facts: facts.opt,
    expectation=Expectation.TRUE,
    details=partial(_details, admission=True),
    golden=("hadar-equivalence-corrected-H5", "hadar-equivalence-corrected-H6"),
    **_EQUIVALENCE,
)

CLAIMS = (EQUIVALENCE, EQUIVALENCE_CORRECTED)
