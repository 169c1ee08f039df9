"""What the linear programs of a slot promise: their order, what they know of bandwidth, and Lemma 7."""

from __future__ import annotations

import itertools
from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Premise, Variant
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.families import SLOT
from dlsched.bounds.gadget.slot import CONCAVE, FINITE, FREE, SOME, SlotFacts

_SLOT: dict[str, Any] = {"facts": SlotFacts, "sources": (SLOT,)}

EQUIVALENCE = Claim(
    id="gadget/equivalence",
    paper="GADGET, (12)-(19)",
    variant=Variant.PRINTED,
    statement="(12)-(19), with q_i by floors and for each job alone, is (10) less what was there before",
    quantity="the optimum of the integer program (12)-(19), against the most that the counts of the slot add",
    measure=lambda facts: facts.whole,
    bound=lambda facts: facts.counted,
    relation=Relation.EQUAL,
    expectation=Expectation.TRUE,
    premises=(FINITE, FREE),
    golden=("gadget-equivalence-G3", "gadget-equivalence-G15"),
    **_SLOT,
)


def _steps(facts: SlotFacts) -> list[float]:
    """Return plain LP, plain LP with (5), augmented LP with (5), and the integer optimum."""
    return [
        facts.solve(augmented=False).value,
        facts.solve(augmented=False, cap=True).value,
        facts.solve(augmented=True, cap=True).value,
        facts.ilp,
    ]


ORDER = Claim(
    id="gadget/relaxation-order",
    paper="GADGET, Section V-C",
    variant=Variant.PRINTED,
    statement="plain LP >= plain LP with (5) >= augmented LP with (5) >= (12)",
    quantity="the least difference of two neighbours, against 0",
    measure=lambda facts: min(a - b for a, b in itertools.pairwise(_steps(facts))),
    bound=lambda facts: 0,
    relation=Relation.AT_LEAST,
    expectation=Expectation.TRUE,
    premises=(FINITE,),
    details=lambda facts: {"values": _steps(facts)},
    golden=("gadget-relaxation-order-G9", "gadget-relaxation-order-G14"),
    **_SLOT,
)

BLIND = Claim(
    id="gadget/bandwidth-blind",
    paper="GADGET, Section V-C, the augmented LP",
    variant=Variant.PRINTED,
    statement="the augmented LP accounts for the bandwidth that rings need: its value is that of (12)",
    quantity="the augmented LP, against the optimum of (12)",
    measure=lambda facts: facts.solve(augmented=True).value,
    bound=lambda facts: facts.ilp,
    relation=Relation.AT_MOST,
    expectation=Expectation.FALSE,
    premises=(FINITE, FREE),
    counterexamples=("gadget-bandwidth-blind-G10",),
    **_SLOT,
)

BLIND_CORRECTED = Claim(
    id="gadget/bandwidth-blind",
    paper="GADGET, Section V-C, the augmented LP",
    variant=Variant.CORRECTED,
    statement="without placements and (5), the plain and the augmented LP are the LP in which all workers of a job "
    "share a node: they ignore bandwidth",
    quantity="the plain and the augmented LP, against the LP of shared nodes",
    measure=lambda facts: facts.simplex,
    bound=lambda facts: facts.knapsack,
    relation=Relation.EQUAL,
    expectation=Expectation.TRUE,
    premises=(FINITE, FREE),
    golden=("gadget-bandwidth-blind-corrected-G10",),
    **_SLOT,
)

PROFITABLE = Premise(
    "pi >= 0",
    lambda facts: all(profit >= 0 for request in facts.problem.requests for profit in request.profit.values()),
)

_LEMMA_7: dict[str, Any] = {
    "id": "gadget/lemma-7",
    "paper": "GADGET, Lemma 7",
    "relation": Relation.AT_LEAST,
    "details": lambda facts: {"kappa": facts.selected(), "Gamma": facts.largest},
    **_SLOT,
}

LEMMA_7 = Claim(
    variant=Variant.PRINTED,
    statement="the rings that the LP selects keep 1/Gamma of the utility of an optimal embedding",
    quantity="the optimum of (12) with the selected ring sizes, against the optimum over Gamma",
    measure=lambda facts: facts.chosen_alone(),
    bound=lambda facts: facts.ilp / facts.largest,
    expectation=Expectation.FALSE,
    premises=(FINITE, FREE, SOME),
    counterexamples=("gadget-lemma-7-G10",),
    **_LEMMA_7,
)

LEMMA_7_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="with kappa_i = argmax pi_ik chi_ik and pi >= 0, the LP of the selected rings keeps 1/Gamma of the LP",
    quantity="the plain LP with the selected ring sizes, against the plain LP over Gamma",
    measure=lambda facts: facts.solve(augmented=False, sizes=facts.selected()).value,
    bound=lambda facts: facts.solve(augmented=False).value / facts.largest,
    expectation=Expectation.TRUE,
    premises=(FINITE, PROFITABLE),
    golden=("gadget-lemma-7-corrected-G10",),
    **_LEMMA_7,
)

_CHAIN: dict[str, Any] = {
    "id": "gadget/lemma-7-augmented",
    "paper": "GADGET, Lemma 7 and Theorem 8",
    "quantity": "the augmented LP with (5) and the selected ring sizes alone, against that of all over Gamma",
    "bound": lambda facts: facts.solve(augmented=True, cap=True).value / facts.largest,
    "relation": Relation.AT_LEAST,
    **_SLOT,
}

CHAIN = Claim(
    variant=Variant.PRINTED,
    statement="rings that the plain LP selects keep 1/Gamma of the augmented LP, with (5) in both",
    measure=lambda facts: facts.solve(augmented=True, cap=True, sizes=facts.selected(cap=True)).value,
    expectation=Expectation.FALSE,
    premises=(FINITE, SOME),
    counterexamples=("gadget-lemma-7-augmented-G10",),
    **_CHAIN,
)

CHAIN_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="rings that the augmented LP with (5) selects itself keep 1/Gamma of it",
    measure=lambda facts: facts.solve(augmented=True, cap=True, sizes=facts.selected(augmented=True, cap=True)).value,
    expectation=Expectation.TRUE,
    premises=(FINITE, PROFITABLE),
    golden=("gadget-lemma-7-augmented-corrected-G10",),
    **_CHAIN,
)

HALF = Claim(
    id="gadget/selection-half",
    paper="GADGET, Lemma 7, another rule",
    variant=Variant.PRINTED,
    statement="for concave mu_i, ring sizes max(1, floor(sum_k k chi_ik)) keep half of the LP",
    quantity="the plain LP with those ring sizes alone, against half of the plain LP",
    measure=lambda facts: facts.solve(augmented=False, sizes=facts.averaged()).value,
    bound=lambda facts: facts.solve(augmented=False).value / 2,
    relation=Relation.AT_LEAST,
    expectation=Expectation.TRUE,
    premises=(FINITE, FREE, CONCAVE, PROFITABLE),
    details=lambda facts: {"sizes": facts.averaged()},
    golden=("gadget-selection-half-G15",),
    **_SLOT,
)

CLAIMS = (
    EQUIVALENCE,
    ORDER,
    BLIND,
    BLIND_CORRECTED,
    LEMMA_7,
    LEMMA_7_CORRECTED,
    CHAIN,
    CHAIN_CORRECTED,
    HALF,
)
