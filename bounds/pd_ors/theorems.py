"""Theorems 3 and 4, and the thesis's Theorem 2: the lemmas for one slot's external placement.

Their thresholds are not feasibility: where the machines have room for exactly what is needed, the gains of both make
every outcome infeasible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dlsched.bounds.claim import Expectation, Premise, Subject, stated
from dlsched.bounds.comparison import Interval, Relation, Value
from dlsched.bounds.pd_ors.law import Excess, Judged, Law, excess, judged, shortfall
from dlsched.bounds.pd_ors.slot import WHICH_OPTIMUM, ExternalSlot, Placement, Roundings, SlotFacts
from dlsched.bounds.pd_ors.sources import CRUMBS, SLOT
from dlsched.models.numbers import to_json

ROOM = "W_2 > 0"
FEASIBLE = "the relaxation is feasible"

_HAS_ROOM = Premise[SlotFacts](ROOM, lambda facts: facts.printed.packing_width > 0, "Theorem 3: (29) divides by W_2")
RELAXED = Premise[SlotFacts](
    FEASIBLE, lambda facts: facts.printed.program is not None, "Section 4.3: the fractional optimal solution"
)
WHOLE = Premise[SlotFacts](
    "workers fit in whole numbers", lambda facts: facts.printed.integral, "Appendix C: a feasible integer solution"
)
PRINTED_PREMISES = (_HAS_ROOM, RELAXED)
CORRECTED_PREMISES = (Premise[SlotFacts](FEASIBLE, lambda facts: facts.corrected.program is not None),)

SLOTS = Subject(problem="dmlrs", instance=ExternalSlot, facts=SlotFacts, premises=PRINTED_PREMISES, sources=(SLOT,))
"""What claims about the external placement of a job in one slot are about."""


_judged: Callable[[Callable[[SlotFacts], Value]], Judged[SlotFacts]] = judged


def _explain(placement: Placement, rounded: Roundings) -> dict[str, Any]:
    """Return constants, every x-bar that is looked at, and the gain of a placement as plain JSON data."""
    return {
        "W_1": placement.cover_width,
        "W_2": placement.packing_width,
        "m": placement.covers,
        "r": placement.packings,
        "x-bar": [[to_json(x) for x in law.program.point] for law in rounded.laws],
        "G": rounded.gain,
    }


def _explain_shrunk(placement: Placement) -> dict[str, Any]:
    return _explain(placement, placement.shrunk)


def _explain_stretched(placement: Placement) -> dict[str, Any]:
    return _explain(placement, placement.stretched)


def _dearer(placement: Placement, law: Law) -> float:
    """Return the probability that the cost exceeds 3 G/delta times that of x-bar, over delta."""
    return float(law.dearer()) / placement.delta


def _overfull(placement: Placement, law: Law, rule: Excess) -> float:
    """Return the greatest probability that a row (24) exceeds C^ (1 + eps) G, over delta/(3r)."""
    eps = excess(rule, law.gain, placement.packing_width, placement.packings, placement.delta)
    probabilities = law.packing_exceeds(law.gain * (1 + eps))
    rows = len(probabilities) - placement.limits_workers
    return float(max(probabilities[:rows], default=0)) * 3 * placement.packings / placement.delta


def _short(placement: Placement, law: Law) -> float:
    """Return the probability that some cover row falls to W (1 - eps) G, over delta/3."""
    eps = shortfall(law.gain, placement.cover_width, placement.covers, placement.delta)
    return float(law.some_cover_falls(law.gain * (1 - eps))) * 3 / placement.delta


def _third(placement: Placement) -> Interval:
    return placement.shrunk.over(lambda law: max(_dearer(placement, law), _short(placement, law)))


def _fourth(placement: Placement, rule: Excess) -> Interval:
    return placement.stretched.over(lambda law: max(_dearer(placement, law), _overfull(placement, law, rule)))


THEOREM_3 = SLOTS.printed(
    "pd-ors/theorem-3",
    paper="PD-ORS, Theorem 3",
    statement="with G of (29), the cost is at most 3 G/delta times that of x-bar with probability above 1 - delta, and "
    "Pr{LHS(26) <= W_1 (1 - eps) G} <= delta/3",
    quantity="the greater of the probability of a higher cost over delta, and that of LHS(26) at its threshold or "
    "below over delta/3, against 1",
    **_judged(lambda facts: _third(facts.printed)),
    open=WHICH_OPTIMUM,
    expectation=Expectation.TRUE,
    details=lambda facts: _explain_shrunk(facts.printed),
    sources=(SLOT, CRUMBS),
    golden=("pd-ors-theorem-3-E1",),
)

THEOREM_3_CORRECTED = THEOREM_3.corrected(
    statement="with a row for servers, and W_2 over what has room, the cost is at most 3 G/delta times that of x-bar "
    "with probability above 1 - delta, and workers or servers, each with its own need a, fall to a (1 - eps) G with "
    "probability at most delta/3, eps with ln(6/delta) and W_1, the lesser need",
    **_judged(lambda facts: _third(facts.corrected)),
    premises=CORRECTED_PREMISES,
    details=lambda facts: _explain_shrunk(facts.corrected),
    golden=("pd-ors-theorem-3-corrected-E1",),
)

_SCHEDULE = "a round misses the cost or breaks (24), (25) or (26) with probability below delta: it obtains a schedule"

THEOREM_3_FEASIBLE = SLOTS.printed(
    "pd-ors/theorem-3-feasible",
    paper="PD-ORS, Appendix A, last sentence, for (23)",
    statement=_SCHEDULE,
    quantity="the probability that a round keeps (24)-(26), against 1 - delta",
    measure=lambda facts: facts.printed.shrunk.feasible(),
    open=WHICH_OPTIMUM,
    relation=Relation.AT_LEAST,
    bound=lambda facts: 1 - facts.instance.delta,
    expectation=Expectation.FALSE,
    premises=(*PRINTED_PREMISES, WHOLE),
    details=lambda facts: _explain_shrunk(facts.printed),
    counterexamples=("pd-ors-theorem-3-feasible-E1", "pd-ors-theorem-3-feasible-exact-fit"),
)

THEOREM_4_FEASIBLE = SLOTS.printed(
    "pd-ors/theorem-4-feasible",
    paper="PD-ORS, Appendix B, last sentence, for (23)",
    statement=_SCHEDULE,
    quantity="the probability that a round keeps (24)-(26), against 1 - delta",
    measure=lambda facts: facts.printed.stretched.feasible(),
    open=WHICH_OPTIMUM,
    relation=Relation.AT_LEAST,
    bound=lambda facts: 1 - facts.instance.delta,
    expectation=Expectation.FALSE,
    premises=(RELAXED, WHOLE),
    details=lambda facts: _explain_stretched(facts.printed),
    counterexamples=("pd-ors-theorem-4-feasible-E1", "pd-ors-theorem-4-feasible-exact-fit"),
)

THEOREM_4 = SLOTS.printed(
    "pd-ors/theorem-4",
    paper="PD-ORS, Theorem 4",
    statement="with G of (30), the cost is at most 3 G/delta times that of x-bar with probability above 1 - delta, and "
    "Pr{LHS(24) > C^ (1 + eps) G} <= delta/(3(RH+1)), eps = sqrt(3 ln(3(RH+1)/delta) / (G W_2))",
    quantity="the greater of the probability of a higher cost over delta, and that of LHS(24) above its threshold "
    "over delta/(3(RH+1)), against 1",
    **_judged(lambda facts: _fourth(facts.printed, Excess.PRINTED)),
    open=WHICH_OPTIMUM,
    expectation=Expectation.FALSE,
    premises=(replace(_HAS_ROOM, source="Theorem 4: its threshold divides by W_2"), RELAXED),
    details=lambda facts: _explain_stretched(facts.printed),
    sources=(SLOT, CRUMBS),
    counterexamples=("pd-ors-theorem-4-crumbs",),
)

THEOREM_4_CORRECTED = THEOREM_4.corrected(
    statement="with a row for servers, W_2 over what has room, and eps from G W_2 ((1 + eps) ln(1 + eps) - eps) = "
    "ln(3(RH+1)/delta), the same two bounds",
    **_judged(lambda facts: _fourth(facts.corrected, Excess.EXACT)),
    premises=CORRECTED_PREMISES,
    details=lambda facts: _explain_stretched(facts.corrected),
    golden=("pd-ors-theorem-4-corrected-crumbs",),
)

THESIS_THEOREM_2 = SLOTS.printed(
    "pd-ors-thesis/theorem-2",
    paper="PD-ORS thesis, Theorem 2",
    statement="with probability above 1 - delta, the cost is at most 3 G/delta times that of x-bar, and "
    "Pr{LHS(3.23) > C^ (1 + sqrt(3 / (G W_2))) G} <= delta/(3HR)",
    quantity="the greater of the probability of a higher cost over delta, and that of LHS(3.23) above its threshold "
    "over delta/(3HR), against 1",
    **_judged(lambda facts: _fourth(facts.thesis, Excess.THESIS)),
    open=WHICH_OPTIMUM,
    expectation=Expectation.FALSE,
    premises=(
        Premise(ROOM, lambda facts: facts.thesis.packing_width > 0, "Theorem 2: its threshold divides by W_2"),
        Premise(
            FEASIBLE, lambda facts: facts.thesis.program is not None, "Section 3.2.3: the fractional optimal solution"
        ),
    ),
    details=lambda facts: _explain_stretched(facts.thesis),
    sources=(SLOT, CRUMBS),
    counterexamples=("pd-ors-thesis-theorem-2-crumbs",),
)

THESIS_THEOREM_2_CORRECTED = THESIS_THEOREM_2.corrected(
    statement="with eps from G W_2 ((1 + eps) ln(1 + eps) - eps) = ln(3HR/delta) in place of the root, the same two "
    "bounds",
    **_judged(lambda facts: _fourth(facts.thesis, Excess.EXACT)),
    golden=("pd-ors-thesis-theorem-2-corrected-crumbs",),
)

CLAIMS = stated(globals())
"""Every claim of the theorems."""
