"""Algorithm 2's loop: how many draws it makes, and how likely one of them is accepted."""

from __future__ import annotations

from typing import Any

import numpy as np

from dlsched.bounds.claim import Claim, Expectation, Premise, Variant
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.families import SLOT
from dlsched.bounds.gadget.lottery import MODERATE, third
from dlsched.bounds.gadget.relaxed import PROFITABLE
from dlsched.bounds.gadget.slot import FINITE, SOME, SlotFacts
from dlsched.rounding import Acceptance, round_mappings

ROUNDS = 3
"""u_b."""


def _draws(facts: SlotFacts, variant: str) -> int:
    """Return the draws that the loop makes where none is good enough."""
    weighted = {
        name: [option.chosen for option in options if option.chosen is not None]
        for name, options in facts.printed_law.table.options.items()
    }
    impossible = Acceptance(1 + sum(max(request.profit.values()) for request in facts.problem.requests))
    rng = np.random.default_rng(0)
    return round_mappings(
        facts.problem, weighted, rng, rule="accepted", rounds=ROUNDS, acceptance=impossible, variant=variant
    ).draws


_LOOP: dict[str, Any] = {
    "id": "gadget/algorithm-2-rounds",
    "paper": "GADGET, Algorithm 2",
    "quantity": "draws where none is accepted and u_b = 3, against 3",
    "bound": lambda facts: ROUNDS,
    "relation": Relation.EQUAL,
    "facts": SlotFacts,
    "premises": (FINITE, SOME),
}

LOOP = Claim(
    variant=Variant.PRINTED,
    statement="with iter = 1 at first and while iter < u_b, the mappings are drawn up to u_b times",
    measure=lambda facts: _draws(facts, "printed"),
    expectation=Expectation.FALSE,
    counterexamples=("gadget-algorithm-2-rounds-G8",),
    **_LOOP,
)

LOOP_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="with a loop over 1..u_b, the mappings are drawn up to u_b times",
    measure=lambda facts: _draws(facts, "corrected"),
    expectation=Expectation.TRUE,
    golden=("gadget-algorithm-2-rounds-corrected-G8",),
    **_LOOP,
)

THREE = Premise("|V_S| >= 3", lambda facts: len(facts.problem.nodes) >= 3)

_SUCCESS: dict[str, Any] = {
    "id": "gadget/theorem-8-success",
    "paper": "GADGET, Theorem 8, all its parts for one draw",
    "relation": Relation.AT_MOST,
    "facts": SlotFacts,
    "details": lambda facts: {"resources": list(facts.problem.resources), "nodes": len(facts.problem.nodes)},
}

SUCCESS = Claim(
    variant=Variant.PRINTED,
    statement="with |V_S| >= 3, the parts' bounds leave some probability that a draw is (1/3, beta, gamma)-approximate",
    quantity="exp(-2/9) + |R| |V_S|^-3 + |E_S|^-3, against 0.99",
    measure=lambda facts: facts.constants.miss,
    bound=lambda facts: 0.99,
    expectation=Expectation.FALSE,
    premises=(FINITE, SOME, THREE, Premise("|E_S| >= 3", lambda facts: len(facts.problem.arcs) >= 3)),
    counterexamples=("gadget-theorem-8-success-five-resources",),
    **_SUCCESS,
)

SUCCESS_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="a draw is not (1/3, beta, gamma)-approximate with probability at most exp(-2/9) + |R| |V_S|^-3 + "
    "|E_S|^-3, which can exceed 1",
    quantity="the probability that a draw is not, against that",
    measure=lambda facts: 1 - facts.printed_law.accepted(facts.constants.acceptance(third(facts))),
    bound=lambda facts: facts.constants.miss,
    expectation=Expectation.TRUE,
    premises=(FINITE, SOME, THREE, PROFITABLE, MODERATE),
    sources=(SLOT,),
    golden=("gadget-theorem-8-success-corrected-five-resources",),
    **_SUCCESS,
)

CLAIMS = (LOOP, LOOP_CORRECTED, SUCCESS, SUCCESS_CORRECTED)
