"""Theorem 8 for one slot: the profit and the loads of rounded mappings, all probabilities exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Premise, Variant
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.families import SLOT
from dlsched.bounds.gadget.relaxed import PROFITABLE
from dlsched.bounds.gadget.slot import FINITE, SOME, SlotFacts
from dlsched.models.arithmetic import exp
from dlsched.rounding import Acceptance
from dlsched.rounding.mapping_table import NodeRow

ROUNDS = 3
"""u_b of the claims about what Algorithm 2 returns."""

LARGE = 10**6
"""Capacities that one worker or ring edge never needs."""

_SLOT: dict[str, Any] = {"facts": SlotFacts, "sources": (SLOT,)}


def explain(facts: SlotFacts) -> dict[str, Any]:
    """Return the selected rings, their LP and the law of the profit."""
    law = facts.printed_law
    return {
        "kappa": facts.selected(),
        "LP": facts.solve(augmented=True, sizes=facts.selected()).value,
        "profit": [[str(profit), str(p)] for profit, p in law.profit().items()],
    }


def third(facts: SlotFacts) -> Fraction:
    """Return a third of the LP of the selected rings, less what rounding of numbers may cost."""
    return Fraction(facts.solve(augmented=True, sizes=facts.selected()).value / 3 - 1e-9)


_PROFIT: dict[str, Any] = {
    "id": "gadget/theorem-8",
    "paper": "GADGET, Theorem 8",
    "relation": Relation.AT_MOST,
    "details": explain,
    **_SLOT,
}

PROFIT = Claim(
    variant=Variant.PRINTED,
    statement="what is rounded to is worth at least a third of the optimal value of (12)",
    quantity="the probability that one draw is worth less than a third of the optimum of (12), against 0",
    measure=lambda facts: facts.printed_law.profit_below(facts.ilp / 3 - 1e-9),
    bound=lambda facts: 0,
    expectation=Expectation.FALSE,
    premises=(FINITE, SOME),
    counterexamples=("gadget-theorem-8-G8",),
    **_PROFIT,
)


MODERATE = Premise("pi_ik <= LP_res for every selected ring", lambda facts: facts.moderate)

PROFIT_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="one unconditional draw is worth less than a third of the LP of the selected rings with probability at "
    "most exp(-2/9), if no selected ring alone is worth more than that LP",
    quantity="the probability that one draw is worth less than a third of the LP, against exp(-2/9)",
    measure=lambda facts: facts.printed_law.profit_below(third(facts)),
    bound=lambda facts: exp(-2 / 9),
    expectation=Expectation.TRUE,
    premises=(FINITE, SOME, PROFITABLE, MODERATE),
    golden=("gadget-theorem-8-corrected-G8",),
    **_PROFIT,
)

_EXPECTED: dict[str, Any] = {
    "id": "gadget/theorem-8-optimum",
    "paper": "GADGET, Lemma 7 and Theorem 8",
    "relation": Relation.AT_LEAST,
    **_SLOT,
}

OPTIMUM = Claim(
    variant=Variant.PRINTED,
    statement="Theorem 8 is about the optimal value of (12), with all ring sizes",
    quantity="the greatest profit of a draw of the augmented LP with (5) and the rings that the plain LP selects, "
    "against a third of the optimum of (12)",
    measure=lambda facts: max(facts.law(cap=True, sizes=facts.selected(cap=True)).profit()),
    bound=lambda facts: facts.ilp / 3,
    expectation=Expectation.FALSE,
    premises=(FINITE, SOME),
    counterexamples=("gadget-theorem-8-optimum-G10",),
    **_EXPECTED,
)

OPTIMUM_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="with selection by the LP that is rounded, a draw is worth 1/Gamma of the optimum of (12) in expectation",
    quantity="the expected profit of a draw of the augmented LP without (5), against the optimum of (12) over Gamma",
    measure=lambda facts: facts.law(sizes=facts.selected(augmented=True)).table.expected_profit,
    bound=lambda facts: facts.ilp / facts.largest,
    expectation=Expectation.TRUE,
    premises=(FINITE, SOME, PROFITABLE),
    golden=("gadget-theorem-8-optimum-corrected-G10",),
    **_EXPECTED,
)


def _overloaded(facts: SlotFacts, *, empty: bool) -> float:
    """Return the greatest of P(A >= beta g) |V|^4 over nodes and P(A >= gamma e) |E|^4 over links."""
    law, constants = facts.printed_law, facts.constants
    worst = 0.0
    for row, capacity in law.table.capacity.items():
        node = isinstance(row, NodeRow)
        factor = constants.beta[row.resource] if isinstance(row, NodeRow) else constants.gamma
        if factor <= 1 and not (empty and capacity == 0):
            continue
        if capacity or empty:
            bound = constants.node_bound if node else constants.link_bound
            worst = max(worst, float(law.violation(row, factor=factor, reaches=True) / bound))
    return worst


_PLACES: dict[str, Any] = {
    "id": "gadget/theorem-8-places",
    "paper": "GADGET, Theorem 8",
    "quantity": "the greatest P(A >= beta g) over |V_S|^-4 of nodes and P(A >= gamma e) over |E_S|^-4 of links, "
    "against 1",
    "bound": lambda facts: 1,
    "relation": Relation.AT_MOST,
    "premises": (FINITE, Premise("|V_S| >= 3", lambda facts: len(facts.problem.nodes) >= 3)),
    **_SLOT,
}

PLACES = Claim(
    variant=Variant.PRINTED,
    statement="P(A >= beta g) <= |V_S|^-4 for all nodes and P(A >= gamma e) <= |E_S|^-4 for all links",
    measure=lambda facts: _overloaded(facts, empty=True),
    expectation=Expectation.FALSE,
    counterexamples=("gadget-theorem-8-places-G3",),
    **_PLACES,
)

PLACES_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="the same where capacity, bandwidth and Delta are positive",
    measure=lambda facts: _overloaded(facts, empty=False),
    expectation=Expectation.TRUE,
    golden=("gadget-theorem-8-places-corrected-G3",),
    **_PLACES,
)


def _conditional(facts: SlotFacts, acceptance: Acceptance, rounds: int, *, constants: bool) -> float:
    """Return by how much acceptance raises the probability of an overload of a row, at most."""
    law, factors = facts.printed_law, facts.constants
    worst = -1.0
    for row, capacity in law.table.capacity.items():
        if not capacity:
            continue
        factor = (factors.beta[row.resource] if isinstance(row, NodeRow) else factors.gamma) if constants else 1.0
        once = law.violation(row, factor=factor)
        worst = max(worst, float(law.violation(row, factor=factor, acceptance=acceptance, rounds=rounds) - once))
    return worst


def _profit_alone(facts: SlotFacts) -> Acceptance:
    boundless = len(facts.problem.requests) * facts.largest * LARGE
    return Acceptance(third(facts), dict.fromkeys(facts.problem.resources, boundless), boundless)


_RETURNED: dict[str, Any] = {
    "id": "gadget/theorem-8-returned",
    "paper": "GADGET, Algorithm 2 and Theorem 8",
    "bound": lambda facts: 0,
    "relation": Relation.AT_MOST,
    "premises": (FINITE, SOME),
    **_SLOT,
}

RETURNED = Claim(
    variant=Variant.PRINTED,
    statement="what Algorithm 2 returns overloads no place more often than a draw does, if profit alone is accepted",
    quantity="the greatest rise of the probability that a place is overloaded, over one draw, with 3 draws, against 0",
    measure=lambda facts: _conditional(facts, _profit_alone(facts), ROUNDS, constants=False),
    expectation=Expectation.FALSE,
    counterexamples=("gadget-theorem-8-returned-G8",),
    **_RETURNED,
)

RETURNED_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="what Algorithm 2 returns, accepting (1/3, beta, gamma)-approximate draws, exceeds beta g or gamma e no "
    "more often than a draw does",
    quantity="the greatest rise of the probability of such an overload, over one draw, with 3 draws, against 0",
    measure=lambda facts: _conditional(facts, facts.constants.acceptance(third(facts)), ROUNDS, constants=True),
    expectation=Expectation.TRUE,
    golden=("gadget-theorem-8-returned-corrected-G8",),
    **_RETURNED,
)

CLAIMS = (
    PROFIT,
    PROFIT_CORRECTED,
    OPTIMUM,
    OPTIMUM_CORRECTED,
    PLACES,
    PLACES_CORRECTED,
    RETURNED,
    RETURNED_CORRECTED,
)
