"""Ring sizes q_i of a slot, and Theorem 9: how large the programs are."""

from __future__ import annotations

from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Premise, Variant
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.families import JOINT, SLOT
from dlsched.bounds.gadget.slot import FINITE, FREE, SlotFacts

_BOUND: dict[str, Any] = {
    "id": "gadget/ring-bound",
    "paper": "GADGET, Section V-C",
    "bound": lambda facts: facts.counted,
    "relation": Relation.EQUAL,
    "facts": SlotFacts,
    "premises": (FINITE, FREE),
}

BOUND = Claim(
    variant=Variant.PRINTED,
    statement="with Q_i = {1, ..., ceil(q_i)}, q_i of the joint relaxation of (10), (12)-(19) is (10)",
    quantity="the optimum of (12) with those ring sizes, against the most that the counts of the slot add",
    measure=lambda facts: facts.ilp_of_joint_sizes,
    expectation=Expectation.FALSE,
    sources=(JOINT,),
    counterexamples=("gadget-ring-bound-G16", "gadget-ring-bound-two-jobs"),
    **_BOUND,
)

BOUND_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="with q_i = min(N_i, K_i - z_i, sum_u floor(min_r C_u^r/l_i^r)), (12)-(19) is (10)",
    quantity="the optimum of (12) with those ring sizes, against the most that the counts of the slot add",
    measure=lambda facts: facts.embedded.value,
    expectation=Expectation.TRUE,
    sources=(JOINT,),
    golden=("gadget-ring-bound-corrected-G16", "gadget-ring-bound-corrected-two-jobs"),
    **_BOUND,
)


def _graph(facts: SlotFacts) -> int:
    """Return |G_s| = |V_S| + |E_S|."""
    return len(facts.problem.nodes) + len(facts.problem.arcs)


def _most(facts: SlotFacts) -> int:
    """Return |I| |V_S| (1 + Gamma |G_s|)."""
    return len(facts.selected()) * len(facts.problem.nodes) * (1 + facts.largest * _graph(facts))


_SIZE: dict[str, Any] = {
    "id": "gadget/theorem-9",
    "paper": "GADGET, Theorem 9",
    "relation": Relation.AT_MOST,
    "facts": SlotFacts,
    "sources": (SLOT,),
    "premises": (FINITE, Premise("some ring is selected", lambda facts: bool(facts.selected()))),
    "details": lambda facts: {"Gamma": facts.largest, "variables": facts.variables, "mappings": facts.mappings},
}

SIZE = Claim(
    variant=Variant.PRINTED,
    statement="the LPs have at most |I| |G_s| variables, as a time of (|I| |G_s|)^3 supposes",
    quantity="variables of the augmented LP of the selected rings, against |I| |G_s|",
    measure=lambda facts: facts.variables,
    bound=lambda facts: len(facts.instance.jobs) * _graph(facts),
    expectation=Expectation.FALSE,
    counterexamples=("gadget-theorem-9-G3",),
    **_SIZE,
)

SIZE_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="the augmented LP of the selected rings has at most |I| |V_S| (1 + Gamma |G_s|) variables, and "
    "decomposes into no more mappings than it has positive ones",
    quantity="variables over that bound, or mappings over positive variables where that is more, against 1",
    measure=lambda facts: max(facts.variables / _most(facts), facts.mappings / max(1, facts.positive)),
    bound=lambda facts: 1,
    expectation=Expectation.TRUE,
    golden=("gadget-theorem-9-corrected-G3",),
    **_SIZE,
)

CLAIMS = (BOUND, BOUND_CORRECTED, SIZE, SIZE_CORRECTED)
