"""The thesis's Lemma 1 and Theorem 2: the journal's Lemma 2 and Theorem 4 without ln(3r/delta) under the root."""

from __future__ import annotations

from typing import Any

from dlsched.bounds.claim import Claim, Premise
from dlsched.bounds.pd_ors.law import Excess
from dlsched.bounds.pd_ors.measures import (
    CORRECTED,
    LEMMA,
    PRINTED,
    TRUE_AS_PRINTED,
    due_to_some,
    stretched,
)
from dlsched.bounds.pd_ors.slot import ExternalSlot, Placement, SlotFacts
from dlsched.bounds.pd_ors.sources import CRUMBS, MIXED, NARROW, SLOT, SPREAD, UNEVEN
from dlsched.bounds.pd_ors.theorems import FEASIBLE, ROOM, dearer, explain, overfull

_LEMMA: dict[str, Any] = {**LEMMA, "paper": "PD-ORS thesis, Lemma 1"}

LEMMA_1 = Claim(
    id="pd-ors-thesis/lemma-1",
    statement="Pr{(B x^)_i > b_i (1 + sqrt(3 / (G W_b))) G for some i} <= delta/(3r)",
    quantity="the probability that some packing row exceeds its threshold over delta/(3r), against 1",
    measure=lambda facts: due_to_some(facts, stretched(facts), Excess.THESIS) * facts.instance.packings,
    sources=(UNEVEN,),
    counterexamples=("pd-ors-thesis-lemma-1-thousand-thousandths",),
    **{**_LEMMA, **PRINTED},
)

LEMMA_1_CORRECTED = Claim(
    id="pd-ors-thesis/lemma-1",
    statement="Pr{(B x^)_i > b_i (1 + eps) G for some i} <= delta/3, with eps from "
    "G W_b ((1 + eps) ln(1 + eps) - eps) = ln(3r/delta)",
    quantity="the probability that some packing row exceeds its threshold over delta/3, against 1",
    measure=lambda facts: due_to_some(facts, stretched(facts), Excess.EXACT),
    sources=(MIXED, NARROW, UNEVEN, SPREAD),
    golden=("pd-ors-thesis-lemma-1-corrected-thousand-thousandths",),
    **{**_LEMMA, **CORRECTED},
)

COST = Claim(
    id="pd-ors-thesis/lemma-1-cost",
    statement="with probability above 1 - delta, the cost is at most 3 G/delta times that of x-bar",
    quantity="the probability of a higher cost over delta, against 1",
    measure=lambda facts: float(stretched(facts).dearer()) / facts.delta,
    sources=(MIXED, NARROW, UNEVEN, SPREAD),
    golden=("pd-ors-thesis-lemma-1-cost-thousand-thousandths",),
    **{**_LEMMA, **TRUE_AS_PRINTED},
)


def _second(placement: Placement, rule: Excess) -> float:
    return max(dearer(placement, placement.stretched), overfull(placement, placement.stretched, rule))


_THEOREM: dict[str, Any] = {
    "id": "pd-ors-thesis/theorem-2",
    "paper": "PD-ORS thesis, Theorem 2",
    "quantity": "the greater of the probability of a higher cost over delta, and that of LHS(3.23) above its threshold "
    "over delta/(3HR), against 1",
    "bound": lambda facts: 1,
    "relation": LEMMA["relation"],
    "facts": SlotFacts,
    "instances": ExternalSlot,
    "premises": (
        Premise(ROOM, lambda facts: facts.thesis.packing_width > 0),
        Premise(FEASIBLE, lambda facts: facts.thesis.program is not None),
    ),
    "details": lambda facts: explain(facts.thesis, facts.thesis.stretched),
    "sources": (SLOT, CRUMBS),
}

THEOREM_2 = Claim(
    statement="with probability above 1 - delta, the cost is at most 3 G/delta times that of x-bar, and "
    "Pr{LHS(3.23) > C^ (1 + sqrt(3 / (G W_2))) G} <= delta/(3HR)",
    measure=lambda facts: _second(facts.thesis, Excess.THESIS),
    counterexamples=("pd-ors-thesis-theorem-2-crumbs",),
    **{**_THEOREM, **PRINTED},
)

THEOREM_2_CORRECTED = Claim(
    statement="with eps from G W_2 ((1 + eps) ln(1 + eps) - eps) = ln(3HR/delta) in place of the root, the same two "
    "bounds",
    measure=lambda facts: _second(facts.thesis, Excess.EXACT),
    golden=("pd-ors-thesis-theorem-2-corrected-crumbs",),
    **{**_THEOREM, **CORRECTED},
)

THESIS = (LEMMA_1, LEMMA_1_CORRECTED, COST, THEOREM_2, THEOREM_2_CORRECTED)
"""Every claim of the thesis about rounding."""
