"""Theorem 8 for one slot: the profit and the loads of rounded mappings; and Algorithm 2's loop of draws.

All probabilities are exact.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dlsched.arithmetic import exp
from dlsched.bounds.claim import Expectation, Premise, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget.families import SLOT
from dlsched.bounds.gadget.slot import FINITE, MODERATE, PROFITABLE, SLOTS, SOME, THREE, SlotFacts
from dlsched.rounding import Acceptance, round_mappings
from dlsched.rounding.mapping_table import NodeRow
from dlsched.tolerances import AS_GOOD

ROUNDS = 3
"""u_b of the claims about what Algorithm 2 returns. Arbitrary above 1: what is returned is then not just any draw."""

LARGE = 10**6
"""Capacities that one worker or ring edge never needs: larger than any in the sources."""


def explain(facts: SlotFacts) -> dict[str, Any]:
    """Return the selected rings, their LP and the law of the profit."""
    law = facts.printed_law
    return {
        "kappa": facts.selected(),
        "LP": facts.solve(augmented=True, sizes=facts.selected()).value,
        "profit": [[str(profit), str(p)] for profit, p in law.profit().items()],
    }


def _third(facts: SlotFacts) -> Fraction:
    """Return a third of the LP of the selected rings, less what rounding of numbers may cost."""
    return Fraction(facts.solve(augmented=True, sizes=facts.selected()).value / 3 - AS_GOOD)


def _poor_against_optimum(facts: SlotFacts) -> Fraction:
    return facts.printed_law.profit_below(facts.ilp / 3 - AS_GOOD)


def _poor_against_lp(facts: SlotFacts) -> Fraction:
    return facts.printed_law.profit_below(_third(facts))


PROFIT = SLOTS.printed(
    "gadget/theorem-8",
    paper="GADGET, Theorem 8",
    statement="what is rounded to is worth at least a third of the optimal value of (12)",
    quantity="the probability that one draw is worth less than a third of the optimum of (12), against 0",
    measure=_poor_against_optimum,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(FINITE, SOME),
    details=explain,
    counterexamples=("gadget-theorem-8-G8",),
)

PROFIT_CORRECTED = PROFIT.corrected(
    statement="one unconditional draw is worth less than a third of the LP of the selected rings with probability at "
    "most exp(-2/9), if no selected ring alone is worth more than that LP",
    quantity="the probability that one draw is worth less than a third of the LP, against exp(-2/9)",
    measure=_poor_against_lp,
    bound=always(exp(-2 / 9)),
    premises=(FINITE, SOME, PROFITABLE, MODERATE),
    golden=("gadget-theorem-8-corrected-G8",),
)


def _best_draw(facts: SlotFacts) -> Fraction:
    """Return the greatest profit of a draw of the augmented LP with (5) and the rings that the plain LP selects."""
    return max(facts.law(cap=True, sizes=facts.selected(cap=True)).profit())


def _expected_profit(facts: SlotFacts) -> Fraction:
    return facts.law(sizes=facts.selected(augmented=True)).table.expected_profit


OPTIMUM = SLOTS.derived(
    "gadget/theorem-8-optimum",
    paper="GADGET, Lemma 7 and Theorem 8",
    statement="Theorem 8 is about the optimal value of (12), with all ring sizes",
    quantity="the greatest profit of a draw of the augmented LP with (5) and the rings that the plain LP selects, "
    "against a third of the optimum of (12)",
    measure=_best_draw,
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.ilp / 3,
    expectation=Expectation.FALSE,
    premises=(FINITE, SOME),
    counterexamples=("gadget-theorem-8-optimum-G10",),
)

OPTIMUM_CORRECTED = OPTIMUM.corrected(
    statement="with selection by the LP that is rounded, a draw is worth 1/Gamma of the optimum of (12) in expectation",
    quantity="the expected profit of a draw of the augmented LP without (5), against the optimum of (12) over Gamma",
    measure=_expected_profit,
    bound=lambda facts: facts.ilp / facts.largest,
    premises=(FINITE, SOME, PROFITABLE),
    golden=("gadget-theorem-8-optimum-corrected-G10",),
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


PLACES = SLOTS.printed(
    "gadget/theorem-8-places",
    paper="GADGET, Theorem 8",
    statement="P(A >= beta g) <= |V_S|^-4 for all nodes and P(A >= gamma e) <= |E_S|^-4 for all links",
    quantity="the greatest P(A >= beta g) over |V_S|^-4 of nodes and P(A >= gamma e) over |E_S|^-4 of links, against 1",
    measure=lambda facts: _overloaded(facts, empty=True),
    relation=Relation.AT_MOST,
    bound=always(1),
    expectation=Expectation.FALSE,
    premises=(FINITE, THREE),
    counterexamples=("gadget-theorem-8-places-G3",),
)

PLACES_CORRECTED = PLACES.corrected(
    statement="the same where capacity, bandwidth and Delta are positive",
    measure=lambda facts: _overloaded(facts, empty=False),
    golden=("gadget-theorem-8-places-corrected-G3",),
)


def _conditional(facts: SlotFacts, acceptance: Acceptance, *, constants: bool) -> float:
    """Return by how much acceptance raises the probability of an overload of a row, at most."""
    law, factors = facts.printed_law, facts.constants
    worst = -1.0
    for row, capacity in law.table.capacity.items():
        if not capacity:
            continue
        factor = (factors.beta[row.resource] if isinstance(row, NodeRow) else factors.gamma) if constants else 1.0
        once = law.violation(row, factor=factor)
        worst = max(worst, float(law.violation(row, factor=factor, acceptance=acceptance, rounds=ROUNDS) - once))
    return worst


def _profit_alone(facts: SlotFacts) -> Acceptance:
    boundless = len(facts.problem.requests) * facts.largest * LARGE
    return Acceptance(_third(facts), dict.fromkeys(facts.problem.resources, boundless), boundless)


def _returned_by_profit(facts: SlotFacts) -> float:
    return _conditional(facts, _profit_alone(facts), constants=False)


def _returned_by_constants(facts: SlotFacts) -> float:
    return _conditional(facts, facts.constants.acceptance(_third(facts)), constants=True)


RETURNED = SLOTS.derived(
    "gadget/theorem-8-returned",
    paper="GADGET, Algorithm 2 and Theorem 8",
    statement="what Algorithm 2 returns overloads no place more often than a draw does, if profit alone is accepted",
    quantity="the greatest rise of the probability that a place is overloaded, over one draw, with 3 draws, against 0",
    measure=_returned_by_profit,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(FINITE, SOME),
    counterexamples=("gadget-theorem-8-returned-G8",),
)

RETURNED_CORRECTED = RETURNED.corrected(
    statement="what Algorithm 2 returns, accepting (1/3, beta, gamma)-approximate draws, exceeds beta g or gamma e no "
    "more often than a draw does",
    quantity="the greatest rise of the probability of such an overload, over one draw, with 3 draws, against 0",
    measure=_returned_by_constants,
    golden=("gadget-theorem-8-returned-corrected-G8",),
)


def _draws(facts: SlotFacts) -> int:
    """Return the draws that the loop makes where none is good enough."""
    weighted = {
        name: [option.chosen for option in options if option.chosen is not None]
        for name, options in facts.printed_law.table.options.items()
    }
    impossible = Acceptance(1 + sum(max(request.profit.values()) for request in facts.problem.requests))
    rng = np.random.default_rng(0)
    return round_mappings(
        facts.problem, weighted, rng, rule="accepted", rounds=ROUNDS, acceptance=impossible, variant="printed"
    ).draws


LOOP = SLOTS.printed(
    "gadget/algorithm-2-rounds",
    paper="GADGET, Algorithm 2, lines 1 and 7",
    statement="with iter = 1 at first and while iter < u_b, the mappings are drawn u_b times at most",
    quantity="draws where none is accepted and u_b = 3, against 3",
    measure=_draws,
    relation=Relation.AT_MOST,
    bound=always(ROUNDS),
    expectation=Expectation.TRUE,
    premises=(FINITE, SOME),
    golden=("gadget-algorithm-2-rounds-G8",),
)


def _shape(facts: SlotFacts) -> dict[str, Any]:
    return {"resources": list(facts.problem.resources), "nodes": len(facts.problem.nodes)}


def _not_accepted(facts: SlotFacts) -> Fraction:
    return 1 - facts.printed_law.accepted(facts.constants.acceptance(_third(facts)))


SUCCESS = SLOTS.derived(
    "gadget/theorem-8-success",
    paper="GADGET, Theorem 8, all its parts for one draw",
    statement="with |V_S| >= 3, the parts' bounds leave some probability that a draw is (1/3, beta, gamma)-approximate",
    quantity="exp(-2/9) + |R| |V_S|^-3 + |E_S|^-3, against 0.99",
    measure=lambda facts: facts.constants.miss,
    relation=Relation.AT_MOST,
    bound=always(0.99),
    expectation=Expectation.FALSE,
    premises=(FINITE, SOME, THREE, Premise[SlotFacts]("|E_S| >= 3", lambda facts: len(facts.problem.arcs) >= 3)),
    details=_shape,
    sources=(),
    counterexamples=("gadget-theorem-8-success-five-resources",),
)

SUCCESS_CORRECTED = SUCCESS.corrected(
    statement="a draw is not (1/3, beta, gamma)-approximate with probability at most exp(-2/9) + |R| |V_S|^-3 + "
    "|E_S|^-3, which can exceed 1",
    quantity="the probability that a draw is not, against that",
    measure=_not_accepted,
    bound=lambda facts: facts.constants.miss,
    premises=(FINITE, SOME, THREE, PROFITABLE, MODERATE),
    sources=(SLOT,),
    golden=("gadget-theorem-8-success-corrected-five-resources",),
)

CLAIMS = stated(globals())
