"""Lemma 5 and Theorem 6: submodularity over slots, and what Algorithm 1 keeps of OPT."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Premise, Variant
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.facts import (
    FINITE,
    HYPOTHESES,
    OPT_POSITIVE,
    SINGLE_HOP,
    GadgetFacts,
)
from dlsched.bounds.gadget.families import CONCAVE as CONCAVE_FAMILY
from dlsched.bounds.gadget.families import LASTING, OUTAGES, THRESHOLDS, TINY

ALPHA = Fraction(1, 2)
"""alpha of the claim about approximate slots."""

_LEMMA_5: dict[str, Any] = {
    "id": "gadget/lemma-5",
    "paper": "GADGET, Lemma 5",
    "quantity": "the greatest that the gain of an allocation at B exceeds its gain at a subset A, over sets of up to "
    "5 allocations, against 0",
    "measure": lambda facts: facts.curvature.excess,
    "bound": lambda facts: 0,
    "relation": Relation.AT_MOST,
    "facts": GadgetFacts,
    "details": lambda facts: facts.curvature.dump(),
}

LEMMA_5 = Claim(
    variant=Variant.PRINTED,
    statement="F, the utility of all that a set of allocations gives, is submodular",
    expectation=Expectation.FALSE,
    premises=(FINITE,),
    sources=(TINY, THRESHOLDS),
    counterexamples=("gadget-lemma-5-sigmoid",),
    **_LEMMA_5,
)

LEMMA_5_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="F is submodular where every mu_i is finite at 0 and concave on 0, zeta_i, 2 zeta_i, ...",
    expectation=Expectation.TRUE,
    premises=(
        FINITE,
        Premise(
            "every mu_i is concave on 0, zeta_i, 2 zeta_i, ... as far as the sets get",
            lambda facts: facts.concave_on_ground,
        ),
    ),
    sources=(TINY, CONCAVE_FAMILY, OUTAGES),
    golden=("gadget-lemma-5-corrected-G1",),
    **_LEMMA_5,
)


def _share(alpha: Fraction) -> Fraction:
    return alpha / (1 + alpha)


def _values(facts: GadgetFacts) -> dict[str, Any]:
    return {"opt": float(facts.opt), "greedy": [float(facts.greedy[0]), float(facts.greedy[-1])]}


_THEOREM_6: dict[str, Any] = {
    "id": "gadget/theorem-6",
    "paper": "GADGET, Theorem 6",
    "quantity": "the least utility of Algorithm 1 with exact slots over all ways to break ties, against OPT/2",
    "measure": lambda facts: facts.greedy[0],
    "bound": lambda facts: facts.opt / 2,
    "relation": Relation.AT_LEAST,
    "facts": GadgetFacts,
    "details": _values,
}

THEOREM_6 = Claim(
    variant=Variant.PRINTED,
    statement="Algorithm 1 with alpha = 1 is 1/2-competitive, also with the utilities of Section VI",
    expectation=Expectation.FALSE,
    premises=(FINITE, OPT_POSITIVE),
    sources=(THRESHOLDS,),
    counterexamples=("gadget-theorem-6-G11", "gadget-theorem-6-negative"),
    **_THEOREM_6,
)

THEOREM_6_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="Algorithm 1 with alpha = 1 is 1/2-competitive where every mu_i is finite at 0, concave and "
    "non-decreasing, F(empty) >= 0 and P_ss' has all simple paths",
    expectation=Expectation.TRUE,
    premises=(*HYPOTHESES, OPT_POSITIVE),
    sources=(TINY, CONCAVE_FAMILY, OUTAGES),
    golden=("gadget-theorem-6-corrected-G6", "gadget-theorem-6-corrected-G12"),
    **_THEOREM_6,
)

_APPROXIMATE: dict[str, Any] = {
    "id": "gadget/theorem-6-approximate",
    "paper": "GADGET, Theorem 6",
    "bound": lambda facts: _share(ALPHA) * facts.opt,
    "relation": Relation.AT_LEAST,
    "facts": GadgetFacts,
    "premises": (*HYPOTHESES, OPT_POSITIVE),
    "sources": (CONCAVE_FAMILY, LASTING),
}

APPROXIMATE = Claim(
    variant=Variant.PRINTED,
    statement="with slots solved to alpha = 1/2 of the value (10), Algorithm 1 is 1/3-competitive",
    quantity="the least utility of Algorithm 1 over all choices worth half of the best value (10), against OPT/3",
    measure=lambda facts: facts.horizon().greedy(ALPHA, of_value=True)[0],
    expectation=Expectation.FALSE,
    counterexamples=("gadget-theorem-6-approximate-idle",),
    **_APPROXIMATE,
)

APPROXIMATE_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="with slots solved to alpha = 1/2 of the increment (12), Algorithm 1 is 1/3-competitive",
    quantity="the least utility of Algorithm 1 over all choices worth half of the best increment, against OPT/3",
    measure=lambda facts: facts.horizon().greedy(ALPHA)[0],
    expectation=Expectation.TRUE,
    golden=("gadget-theorem-6-approximate-corrected-idle",),
    **_APPROXIMATE,
)

_PATHS: dict[str, Any] = {
    "id": "gadget/theorem-6-paths",
    "paper": "GADGET, Theorem 6 and (7)-(9)",
    "quantity": "the least utility of Algorithm 1 with exact slots, against half of the optimum, both with these paths",
    "relation": Relation.AT_LEAST,
    "facts": GadgetFacts,
    "sources": (OUTAGES,),
    "premises": (*HYPOTHESES, OPT_POSITIVE),
}

PATHS = Claim(
    variant=Variant.PRINTED,
    statement="Theorem 6 holds whatever the path sets are, e.g. with single links as paths",
    measure=lambda facts: facts.horizon(SINGLE_HOP).greedy()[0],
    bound=lambda facts: facts.optimum(SINGLE_HOP) / 2,
    expectation=Expectation.FALSE,
    counterexamples=("gadget-theorem-6-paths-G13",),
    **_PATHS,
)

PATHS_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="Theorem 6 holds with all simple paths",
    measure=lambda facts: facts.greedy[0],
    bound=lambda facts: facts.opt / 2,
    expectation=Expectation.TRUE,
    golden=("gadget-theorem-6-paths-corrected-G13",),
    **_PATHS,
)

CLAIMS = (
    LEMMA_5,
    LEMMA_5_CORRECTED,
    THEOREM_6,
    THEOREM_6_CORRECTED,
    APPROXIMATE,
    APPROXIMATE_CORRECTED,
    PATHS,
    PATHS_CORRECTED,
)
