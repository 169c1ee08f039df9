"""What the evaluation says: PD-ORS against its baselines and the optimum; and how likely its rounding succeeds."""

from __future__ import annotations

from typing import Any

from dlsched.arithmetic import power
from dlsched.bounds.claim import Expectation, Premise, always, stated
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.facts import OPT_POSITIVE, optimal_schedule
from dlsched.bounds.pd_ors.facts import ORDINARY, PD_ORS, PdOrsFacts
from dlsched.bounds.pd_ors.families import BENCHMARK, RISING, TINY
from dlsched.bounds.pd_ors.slot import WHICH_OPTIMUM, Placement, SlotFacts
from dlsched.bounds.pd_ors.theorems import PRINTED_PREMISES, SLOTS

ROUNDS = 10
"""S of Algorithm 4, as `dlsched.algorithms.pd_ors.run` has it where no other is given. Arbitrary."""


def _utilities(facts: PdOrsFacts) -> dict[str, Any]:
    return {**facts.baselines, "pd_ors": facts.repaired.run.utility, "opt": facts.opt.low}


EVALUATION = PD_ORS.printed(
    "pd-ors/evaluation",
    paper="PD-ORS, Figs. 6-9 and 12-17",
    statement="PD-ORS is worth more than FIFO, DRF, Dorm and OASiS",
    quantity="utility of PD-ORS with exact subproblems, against the best of the baselines",
    measure=lambda facts: facts.repaired.run.utility,
    relation=Relation.AT_LEAST,
    bound=lambda facts: max(facts.baselines.values()),
    expectation=Expectation.FALSE,
    premises=(OPT_POSITIVE, ORDINARY),
    details=_utilities,
    schedule=lambda facts: facts.repaired.run.schedule,
    sources=(TINY, RISING, BENCHMARK),
    counterexamples=("pd-ors-evaluation-blocked",),
)


RATIO = PD_ORS.printed(
    "pd-ors/ratio-1.4",
    paper="PD-ORS, Fig. 10",
    statement="the competitive ratio of PD-ORS is between 1.0 and 1.4",
    quantity="OPT over the utility of PD-ORS with exact subproblems, against 1.4",
    measure=lambda facts: facts.opt.over(facts.repaired.run.utility),
    relation=Relation.AT_MOST,
    bound=always(1.4),
    expectation=Expectation.FALSE,
    premises=(OPT_POSITIVE, ORDINARY),
    details=lambda facts: facts.explain(facts.repaired.dump()),
    schedule=optimal_schedule,
    sources=(TINY, RISING, BENCHMARK),
    counterexamples=("pd-ors-ratio-1.4-D5",),
    golden=("pd-ors-ratio-1.4-D8",),
)


def _some_room(facts: SlotFacts) -> bool:
    """Tell whether each machine alone has room for the smallest number of workers: a sufficient, simple condition."""
    slot = facts.instance
    room = [
        min((left // need for left, need in zip(row, slot.worker, strict=True) if need), default=slot.most_workers)
        for row in slot.room
    ]
    return sum(min(n, slot.most_workers) for n in room) >= slot.workers


_FITS = (*PRINTED_PREMISES, Premise("workers and servers fit in whole numbers", _some_room))


def _within(probability: Interval) -> Interval:
    """Return the probability that one of S independent rounds succeeds."""
    return Interval(*(1 - power(1 - p, ROUNDS) for p in (probability.low, probability.high)))


def _promised_29(placement: Placement) -> float:
    return 1 - power(placement.delta / 3, ROUNDS)


def _promised_30(placement: Placement) -> float:
    return 1 - power(placement.delta / (3 * placement.packings), ROUNDS)


THEOREM_5_SUCCEEDS = SLOTS.printed(
    "pd-ors/theorem-5-succeeds",
    paper="PD-ORS, Theorem 5",
    statement="a state (t, v) is solved within S rounds with probability at least 1 - (delta/3)^S, G of (29)",
    quantity=f"exact probability that one of {ROUNDS} rounds keeps (24)-(26), against 1 - (delta/3)^{ROUNDS}",
    measure=lambda facts: _within(facts.printed.shrunk.feasible()),
    open=WHICH_OPTIMUM,
    relation=Relation.AT_LEAST,
    bound=lambda facts: _promised_29(facts.printed),
    expectation=Expectation.FALSE,
    premises=_FITS,
    counterexamples=("pd-ors-theorem-5-succeeds-E1",),
)

THEOREM_6_SUCCEEDS = SLOTS.printed(
    "pd-ors/theorem-6-succeeds",
    paper="PD-ORS, Theorem 6",
    statement="a state (t, v) is solved within S rounds with probability at least 1 - (delta/(3(RH+1)))^S, G of (30)",
    quantity=f"exact probability that one of {ROUNDS} rounds keeps (24)-(26), against 1 - (delta/(3(RH+1)))^{ROUNDS}",
    measure=lambda facts: _within(facts.printed.stretched.feasible()),
    open=WHICH_OPTIMUM,
    relation=Relation.AT_LEAST,
    bound=lambda facts: _promised_30(facts.printed),
    expectation=Expectation.FALSE,
    premises=_FITS,
    counterexamples=("pd-ors-theorem-6-succeeds-E1",),
)

CLAIMS = stated(globals())
