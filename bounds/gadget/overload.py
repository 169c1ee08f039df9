"""Theorems 8 and 10: how likely rounding overloads one node or link by the factor beta, in a slot and over all."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Premise, Variant
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.load import LOADS, Load, LoadFacts
from dlsched.models.arithmetic import exact_power

THREE = Premise("|V_S| >= 3", lambda facts: facts.instance.places >= 3)
USABLE = Premise("g > 0 and Delta > 0", lambda facts: facts.instance.capacity > 0 and facts.delta > 0)

_PLACE: dict[str, Any] = {
    "relation": Relation.AT_MOST,
    "facts": LoadFacts,
    "instances": Load,
    "sources": (LOADS,),
    "details": lambda facts: {"beta": facts.beta, "Delta": facts.delta, "P": float(facts.reaches)},
}


def _rare(facts: LoadFacts) -> Fraction:
    return Fraction(1, exact_power(facts.instance.places, 4))


_LOAD: dict[str, Any] = {
    **_PLACE,
    "id": "gadget/theorem-8-load",
    "paper": "GADGET, Theorem 8",
    "quantity": "P(A >= beta g) of one draw over |V_S|^-4, against 1",
    "measure": lambda facts: facts.reaches / _rare(facts),
    "bound": lambda facts: 1,
}

LOAD = Claim(
    variant=Variant.PRINTED,
    statement="P(A^{u,r} >= beta^r g^{u,r}) <= |V_S|^-4 for all u, switches included",
    expectation=Expectation.FALSE,
    premises=(THREE,),
    counterexamples=("gadget-theorem-8-load-switch",),
    **_LOAD,
)

LOAD_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="P(A^{u,r} >= beta^r g^{u,r}) <= |V_S|^-4 for one unconditional draw of a decomposed LP solution, where "
    "g^{u,r} > 0 and Delta^r > 0, with eps the greatest need over capacity",
    expectation=Expectation.TRUE,
    premises=(THREE, USABLE),
    golden=(
        "gadget-theorem-8-load-corrected-sixteen-jobs",
        "gadget-theorem-8-load-corrected-thirty-two-jobs",
        "gadget-theorem-8-load-corrected-sixty-four-jobs",
        "gadget-theorem-8-load-corrected-ten-nodes",
    ),
    **_LOAD,
)

SCALE = Claim(
    id="gadget/theorem-8-scale",
    paper="GADGET, Theorem 8",
    variant=Variant.PRINTED,
    statement="beta^r limits what rounding puts on a node: it is less than all jobs together could put there",
    quantity="beta g, against the sum of C_max over the jobs",
    measure=lambda facts: facts.threshold,
    bound=lambda facts: facts.most,
    expectation=Expectation.FALSE,
    premises=(THREE, USABLE),
    counterexamples=("gadget-theorem-8-scale-three-jobs",),
    golden=("gadget-theorem-8-scale-section-6",),
    **_PLACE,
)


def ever(probability: Fraction, slots: int) -> Fraction:
    """Return the probability of an event in one of several independent slots."""
    return 1 - exact_power(1 - probability, slots)


_HORIZON: dict[str, Any] = {
    **_PLACE,
    "id": "gadget/violation-horizon",
    "paper": "GADGET, Theorem 10",
    "quantity": "P(A >= beta g in some slot) over 1 - (1 - |V_S|^-4)^T, against 1",
    "measure": lambda facts: ever(facts.reaches, facts.instance.slots) / ever(_rare(facts), facts.instance.slots),
    "bound": lambda facts: 1,
}

HORIZON = Claim(
    variant=Variant.PRINTED,
    statement="P(A^{u,r}[t] >= beta^r g^{u,r} for some t) <= 1 - (1 - |V_S|^-4)^T for all u, switches included",
    expectation=Expectation.FALSE,
    premises=(THREE,),
    counterexamples=("gadget-violation-horizon-switch",),
    **_HORIZON,
)

HORIZON_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="P(A^{u,r}[t] >= beta^r g^{u,r} for some t) <= 1 - (1 - |V_S|^-4)^T where g^{u,r} > 0 and Delta^r > 0",
    expectation=Expectation.TRUE,
    premises=(THREE, USABLE),
    golden=("gadget-violation-horizon-corrected-ten-slots",),
    **_HORIZON,
)

CLAIMS = (LOAD, LOAD_CORRECTED, SCALE, HORIZON, HORIZON_CORRECTED)
