"""Theorem 1: the number of states that Algorithm 2 visits in a round."""

from __future__ import annotations

import math
from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Premise, Variant
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.hadar.facts import MAX_STATES, HadarFacts
from dlsched.bounds.hadar.sources import SPECIALISTS, TINY
from dlsched.models.hadar import Instance


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


_THEOREM_1: dict[str, Any] = {
    "id": "hadar/theorem-1",
    "paper": "Hadar, Theorem 1",
    "measure": _states,
    "relation": Relation.AT_MOST,
    "facts": HadarFacts,
    "premises": (Premise("some job is in the queue", lambda facts: _queue(facts) > 0),),
    "details": lambda facts: {
        "jobs in the queue": _queue(facts),
        "machines": len(facts.instance.machines),
        "types": len(facts.instance.device_types),
    },
}

THEOREM_1 = Claim(
    variant=Variant.PRINTED,
    statement="Algorithm 2 decides in polynomial time: n(Q) H R function calls, one for each state that is kept",
    quantity="distinct (index, server state) of the first round, against n(Q) H R",
    bound=_claimed,
    expectation=Expectation.FALSE,
    sources=(SPECIALISTS,),
    counterexamples=tuple(f"hadar-theorem-1-G4-{n}" for n in (4, 8, 10, 12)),
    **_THEOREM_1,
)

THEOREM_1_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="Algorithm 2 visits at most min(2^(n+1) - 1, (n+1) prod_(h,r) (c_h^r + 1)) states",
    quantity="distinct (index, server state) of the first round, against that number",
    bound=_all_states,
    expectation=Expectation.TRUE,
    sources=(SPECIALISTS, TINY),
    golden=("hadar-theorem-1-corrected-G4-8",),
    **_THEOREM_1,
)

CLAIMS = (THEOREM_1, THEOREM_1_CORRECTED)
