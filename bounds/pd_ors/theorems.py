"""Theorems 3 and 4: the lemmas for one slot's external placement.

Their thresholds are not feasibility: where the machines have room for exactly what is needed, the gains of both make
every outcome infeasible.
"""

from __future__ import annotations

from typing import Any

from dlsched.bounds.claim import Claim, Premise
from dlsched.bounds.comparison import Relation
from dlsched.bounds.pd_ors.law import Excess, Law, excess, shortfall
from dlsched.bounds.pd_ors.measures import CORRECTED, PRINTED, TRUE_AS_PRINTED
from dlsched.bounds.pd_ors.slot import ExternalSlot, Placement, SlotFacts
from dlsched.bounds.pd_ors.sources import CRUMBS, SLOT
from dlsched.models.numbers import to_json

ROOM = "W_2 > 0"
FEASIBLE = "the relaxation is feasible"

PRINTED_PREMISES = (
    Premise(ROOM, lambda facts: facts.printed.packing_width > 0),
    Premise(FEASIBLE, lambda facts: facts.printed.program is not None),
)
CORRECTED_PREMISES = (Premise(FEASIBLE, lambda facts: facts.corrected.program is not None),)

_ONE_SLOT: dict[str, Any] = {
    "bound": lambda facts: 1,
    "relation": Relation.AT_MOST,
    "facts": SlotFacts,
    "instances": ExternalSlot,
}


def explain(placement: Placement, law: Law) -> dict[str, Any]:
    """Return constants, x-bar and gain of a placement as plain JSON data."""
    return {
        "W_1": placement.cover_width,
        "W_2": placement.packing_width,
        "m": placement.covers,
        "r": placement.packings,
        "x-bar": [to_json(x) for x in law.program.point],
        "G": law.gain,
    }


def dearer(placement: Placement, law: Law) -> float:
    """Return the probability that the cost exceeds 3 G/delta times that of x-bar, over delta."""
    return float(law.dearer()) / placement.delta


def overfull(placement: Placement, law: Law, rule: Excess) -> float:
    """Return the greatest probability that a row (24) exceeds C^ (1 + eps) G, over delta/(3r)."""
    eps = excess(rule, law.gain, placement.packing_width, placement.packings, placement.delta)
    probabilities = law.packing_exceeds(law.gain * (1 + eps))
    rows = len(probabilities) - placement.limits_workers
    return float(max(probabilities[:rows], default=0)) * 3 * placement.packings / placement.delta


def _short(placement: Placement, law: Law) -> float:
    """Return the probability that some cover row falls to W (1 - eps) G, over delta/3."""
    eps = shortfall(law.gain, placement.cover_width, placement.covers, placement.delta)
    return float(law.some_cover_falls(law.gain * (1 - eps))) * 3 / placement.delta


def _third(placement: Placement) -> float:
    return max(dearer(placement, placement.shrunk), _short(placement, placement.shrunk))


def _fourth(placement: Placement, rule: Excess) -> float:
    return max(dearer(placement, placement.stretched), overfull(placement, placement.stretched, rule))


_THIRD: dict[str, Any] = {
    **_ONE_SLOT,
    "id": "pd-ors/theorem-3",
    "paper": "PD-ORS, Theorem 3",
    "quantity": "the greater of the probability of a higher cost over delta, and that of LHS(26) at its threshold or "
    "below over delta/3, against 1",
    "sources": (SLOT, CRUMBS),
}

THEOREM_3 = Claim(
    statement="with G of (29), the cost is at most 3 G/delta times that of x-bar with probability above 1 - delta, and "
    "Pr{LHS(26) <= W_1 (1 - eps) G} <= delta/3",
    measure=lambda facts: _third(facts.printed),
    premises=PRINTED_PREMISES,
    details=lambda facts: explain(facts.printed, facts.printed.shrunk),
    golden=("pd-ors-theorem-3-E1",),
    **{**_THIRD, **TRUE_AS_PRINTED},
)

THEOREM_3_CORRECTED = Claim(
    statement="with a row for servers, and W_2 over what has room, the cost is at most 3 G/delta times that of x-bar "
    "with probability above 1 - delta, and workers or servers fall to W_1 (1 - eps) G with probability at most "
    "delta/3, eps with ln(6/delta)",
    measure=lambda facts: _third(facts.corrected),
    premises=CORRECTED_PREMISES,
    details=lambda facts: explain(facts.corrected, facts.corrected.shrunk),
    golden=("pd-ors-theorem-3-corrected-E1",),
    **{**_THIRD, **CORRECTED},
)

_SCHEDULE: dict[str, Any] = {
    **_ONE_SLOT,
    "statement": "with probability above 1 - delta, what a round obtains is a schedule: it keeps (24)-(26)",
    "quantity": "the probability that a round keeps (24)-(26), against 1 - delta",
    "bound": lambda facts: 1 - facts.instance.delta,
    "relation": Relation.AT_LEAST,
    "premises": PRINTED_PREMISES,
    "sources": (SLOT,),
}

THEOREM_3_FEASIBLE = Claim(
    id="pd-ors/theorem-3-feasible",
    paper="PD-ORS, Theorem 3",
    measure=lambda facts: facts.printed.shrunk.feasible(),
    details=lambda facts: explain(facts.printed, facts.printed.shrunk),
    counterexamples=("pd-ors-theorem-3-feasible-E1", "pd-ors-theorem-3-feasible-exact-fit"),
    **{**_SCHEDULE, **PRINTED},
)

THEOREM_4_FEASIBLE = Claim(
    id="pd-ors/theorem-4-feasible",
    paper="PD-ORS, Theorem 4",
    measure=lambda facts: facts.printed.stretched.feasible(),
    details=lambda facts: explain(facts.printed, facts.printed.stretched),
    counterexamples=("pd-ors-theorem-4-feasible-E1", "pd-ors-theorem-4-feasible-exact-fit"),
    **{**_SCHEDULE, **PRINTED},
)

_FOURTH: dict[str, Any] = {
    **_ONE_SLOT,
    "id": "pd-ors/theorem-4",
    "paper": "PD-ORS, Theorem 4",
    "quantity": "the greater of the probability of a higher cost over delta, and that of LHS(24) above its threshold "
    "over delta/(3(RH+1)), against 1",
    "sources": (SLOT, CRUMBS),
}

THEOREM_4 = Claim(
    statement="with G of (30), the cost is at most 3 G/delta times that of x-bar with probability above 1 - delta, and "
    "Pr{LHS(24) > C^ (1 + eps) G} <= delta/(3(RH+1)), eps = sqrt(3 ln(3(RH+1)/delta) / (G W_2))",
    measure=lambda facts: _fourth(facts.printed, Excess.PRINTED),
    premises=PRINTED_PREMISES,
    details=lambda facts: explain(facts.printed, facts.printed.stretched),
    counterexamples=("pd-ors-theorem-4-crumbs",),
    **{**_FOURTH, **PRINTED},
)

THEOREM_4_CORRECTED = Claim(
    statement="with a row for servers, W_2 over what has room, and eps from G W_2 ((1 + eps) ln(1 + eps) - eps) = "
    "ln(3(RH+1)/delta), the same two bounds",
    measure=lambda facts: _fourth(facts.corrected, Excess.EXACT),
    premises=CORRECTED_PREMISES,
    details=lambda facts: explain(facts.corrected, facts.corrected.stretched),
    golden=("pd-ors-theorem-4-corrected-crumbs",),
    **{**_FOURTH, **CORRECTED},
)

THEOREMS = (
    THEOREM_3,
    THEOREM_3_CORRECTED,
    THEOREM_3_FEASIBLE,
    THEOREM_4,
    THEOREM_4_CORRECTED,
    THEOREM_4_FEASIBLE,
)
"""Every claim of the two theorems."""
