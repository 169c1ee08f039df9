"""What the evaluation says: PD-ORS against its baselines and the optimum; and how likely its rounding succeeds."""

from __future__ import annotations

from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Premise, Variant
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.pd_ors.competitive import OPT_POSITIVE, ORDINARY, optimal_schedule, repaired_details
from dlsched.bounds.pd_ors.facts import PdOrsFacts
from dlsched.bounds.pd_ors.families import BENCHMARK, RISING, TINY
from dlsched.bounds.pd_ors.slot import ExternalSlot, SlotFacts
from dlsched.bounds.pd_ors.sources import SLOT
from dlsched.bounds.pd_ors.theorems import PRINTED_PREMISES
from dlsched.models.arithmetic import power

ROUNDS = 10
"""S of Algorithm 4."""

EVALUATION = Claim(
    id="pd-ors/evaluation",
    paper="PD-ORS, Figs. 6-9 and 12-17",
    variant=Variant.PRINTED,
    statement="PD-ORS is worth more than FIFO, DRF, Dorm and OASiS",
    quantity="utility of PD-ORS with exact subproblems, against the best of the baselines",
    measure=lambda facts: facts.repaired.run.utility,
    bound=lambda facts: max(facts.baselines.values()),
    relation=Relation.AT_LEAST,
    expectation=Expectation.FALSE,
    facts=PdOrsFacts,
    premises=(OPT_POSITIVE, ORDINARY),
    details=lambda facts: {**facts.baselines, "pd_ors": facts.repaired.run.utility, "opt": facts.opt.low},
    schedule=lambda facts: facts.repaired.run.schedule,
    sources=(TINY, RISING, BENCHMARK),
    counterexamples=("pd-ors-evaluation-blocked",),
)


def _ratio(facts: PdOrsFacts) -> Interval:
    """Return OPT over the utility of PD-ORS; infinite where that is 0."""
    value = facts.repaired.run.utility
    return Interval(facts.opt.low / value, facts.opt.high / value) if value else Interval(float("inf"), float("inf"))


RATIO = Claim(
    id="pd-ors/ratio-1.4",
    paper="PD-ORS, Fig. 10",
    variant=Variant.PRINTED,
    statement="the competitive ratio of PD-ORS is between 1.0 and 1.4",
    quantity="OPT over the utility of PD-ORS with exact subproblems, against 1.4",
    measure=_ratio,
    bound=lambda facts: 1.4,
    relation=Relation.AT_MOST,
    expectation=Expectation.FALSE,
    facts=PdOrsFacts,
    premises=(OPT_POSITIVE, ORDINARY),
    details=repaired_details,
    schedule=optimal_schedule,
    sources=(TINY, RISING, BENCHMARK),
    counterexamples=("pd-ors-ratio-1.4-D5",),
    golden=("pd-ors-ratio-1.4-D8",),
)

_SUCCEEDS: dict[str, Any] = {
    "variant": Variant.PRINTED,
    "relation": Relation.AT_LEAST,
    "expectation": Expectation.FALSE,
    "facts": SlotFacts,
    "instances": ExternalSlot,
    "premises": (*PRINTED_PREMISES, Premise("workers and servers fit in whole numbers", lambda facts: _some(facts))),
    "sources": (SLOT,),
}


def _some(facts: SlotFacts) -> bool:
    """Tell whether each machine alone has room for the smallest number of workers: a sufficient, simple condition."""
    slot = facts.instance
    room = [
        min((left // need for left, need in zip(row, slot.worker, strict=True) if need), default=slot.most_workers)
        for row in slot.room
    ]
    return sum(min(n, slot.most_workers) for n in room) >= slot.workers


def _within(probability: float, rounds: int) -> float:
    """Return the probability that one of some independent rounds succeeds."""
    return 1 - power(1 - probability, rounds)


THEOREM_5_SUCCEEDS = Claim(
    id="pd-ors/theorem-5-succeeds",
    paper="PD-ORS, Theorem 5",
    statement="a state (t, v) is solved within S rounds with probability at least 1 - (delta/3)^S, G of (29)",
    quantity=f"exact probability that one of {ROUNDS} rounds keeps (24)-(26), against 1 - (delta/3)^{ROUNDS}",
    measure=lambda facts: _within(float(facts.printed.shrunk.feasible()), ROUNDS),
    bound=lambda facts: 1 - power(facts.printed.delta / 3, ROUNDS),
    counterexamples=("pd-ors-theorem-5-succeeds-E1",),
    **_SUCCEEDS,
)

THEOREM_6_SUCCEEDS = Claim(
    id="pd-ors/theorem-6-succeeds",
    paper="PD-ORS, Theorem 6",
    statement="a state (t, v) is solved within S rounds with probability at least 1 - (delta/(3(RH+1)))^S, G of (30)",
    quantity=f"exact probability that one of {ROUNDS} rounds keeps (24)-(26), against 1 - (delta/(3(RH+1)))^{ROUNDS}",
    measure=lambda facts: _within(float(facts.printed.stretched.feasible()), ROUNDS),
    bound=lambda facts: 1 - power(facts.printed.delta / (3 * facts.printed.packings), ROUNDS),
    counterexamples=("pd-ors-theorem-6-succeeds-E1",),
    **_SUCCEEDS,
)

CLAIMS = (EVALUATION, RATIO, THEOREM_5_SUCCEEDS, THEOREM_6_SUCCEEDS)
