"""Theorem 10 and what rounding promises over all slots; capacities, and the baselines of Section VI."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Premise, Variant
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.facts import HYPOTHESES, OPT_POSITIVE
from dlsched.bounds.gadget.families import FEW
from dlsched.bounds.gadget.rounds import RoundsFacts
from dlsched.models.arithmetic import exp, power

_FREE = Premise("no job has a placement", lambda facts: all(job.placement is None for job in facts.instance.jobs))

_OVERALL: dict[str, Any] = {
    "facts": RoundsFacts,
    "relation": Relation.AT_LEAST,
    "sources": (FEW,),
    "premises": (*HYPOTHESES, OPT_POSITIVE, _FREE),
}


def _goal(facts: RoundsFacts) -> Fraction:
    """Return OPT/(3 Gamma + 1), less what rounding of numbers may cost."""
    return facts.opt / (3 * facts.largest + 1) - Fraction(1, 10**9)


_THEOREM_10: dict[str, Any] = {
    **_OVERALL,
    "id": "gadget/theorem-10",
    "paper": "GADGET, Theorem 10",
    "measure": lambda facts: facts.probability(facts.selected, lambda value: value >= _goal(facts)),
    "details": lambda facts: {"Gamma": facts.largest, "opt": float(facts.opt)},
}

THEOREM_10 = Claim(
    variant=Variant.PRINTED,
    statement="Algorithm 1 yields at least 1/(3 Gamma + 1) of OPT",
    quantity="the probability that it does, with one draw a slot, against 1",
    bound=lambda facts: 1,
    expectation=Expectation.FALSE,
    counterexamples=("gadget-theorem-10-G8",),
    **_THEOREM_10,
)

THEOREM_10_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="under the premises of Theorem 6, and if no selected ring is worth more than the LP of its slot, "
    "Algorithm 1 with one draw a slot yields 1/(3 Gamma + 1) of OPT, overloads allowed, with probability at least "
    "(1 - exp(-2/9))^T",
    quantity="the probability that it does, against (1 - exp(-2/9))^T",
    bound=lambda facts: power(1 - exp(-2 / 9), facts.instance.slots),
    expectation=Expectation.TRUE,
    golden=("gadget-theorem-10-corrected-G8",),
    **{
        **_THEOREM_10,
        "premises": (
            *_OVERALL["premises"],
            Premise(
                "pi_ik <= LP_res in every slot", lambda facts: bool(facts.selected.law) and facts.selected.moderate
            ),
        ),
    },
)

HALF = Claim(
    id="gadget/half-of-optimum",
    paper="GADGET, Theorem 10, without ring selection",
    variant=Variant.PRINTED,
    statement="one unconditional draw a slot, over sizes and mappings together, has E[F] >= OPT/2",
    quantity="the expected utility, against OPT/2",
    measure=lambda facts: facts.expectation(facts.joint),
    bound=lambda facts: facts.opt / 2,
    expectation=Expectation.TRUE,
    golden=("gadget-half-of-optimum-G6", "gadget-half-of-optimum-G8"),
    **_OVERALL,
)

SELECTED = Claim(
    id="gadget/selected-expectation",
    paper="GADGET, Theorem 10, with ring selection",
    variant=Variant.PRINTED,
    statement="one unconditional draw a slot of the selected rings has E[F] >= OPT/(1 + Gamma)",
    quantity="the expected utility, against OPT/(1 + Gamma)",
    measure=lambda facts: facts.expectation(facts.selected),
    bound=lambda facts: facts.opt / (1 + facts.largest),
    expectation=Expectation.TRUE,
    golden=("gadget-selected-expectation-blocked",),
    **_OVERALL,
)

DISCARD = Claim(
    id="gadget/fit-or-discard",
    paper="GADGET, Algorithm 2 within the capacities",
    variant=Variant.PRINTED,
    statement="if what does not fit is discarded, 1/(3 Gamma + 1) of OPT is kept in expectation",
    quantity="the expected utility of what fits, against OPT/(3 Gamma + 1)",
    measure=lambda facts: facts.expectation(facts.discarding),
    bound=lambda facts: facts.opt / (3 * facts.largest + 1),
    expectation=Expectation.FALSE,
    counterexamples=("gadget-fit-or-discard-G10",),
    **_OVERALL,
)

CLAIMS = (THEOREM_10, THEOREM_10_CORRECTED, HALF, SELECTED, DISCARD)
