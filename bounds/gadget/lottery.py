"""Theorem 8 for one slot: the profit and the loads of rounded mappings; and Algorithm 2's loop of draws.

All probabilities are exact, for every optimum of the linear programs that the tool can name.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np

from dlsched.arithmetic import exp, power
from dlsched.bounds.claim import Expectation, Premise, always, stated
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.gadget.choices import EPSILON, VERTEX, Choice, over
from dlsched.bounds.gadget.families import SHARED, SLOT, WHEELS
from dlsched.bounds.gadget.slot import (
    FINITE,
    MODERATE,
    PRINTED,
    PROFITABLE,
    SERVERS,
    SLOTS,
    SOME,
    THREE,
    SlotFacts,
)
from dlsched.rounding import Acceptance, round_mappings
from dlsched.rounding.mapping_table import NodeRow, Row
from dlsched.tolerances import AS_GOOD

LARGE = 10**6
"""Capacities that one worker or ring edge never needs: larger than any in the sources."""


def explain(facts: SlotFacts) -> dict[str, Any]:
    """Return, for each optimum, the selected rings, their LP and the law of the profit of a draw."""
    return {
        choice.vertex.value: {
            "kappa": choice.fractional.selection.sizes if choice.fractional.selection else {},
            "LP": choice.fractional.value,
            "profit": [[str(profit), str(p)] for profit, p in choice.law.profit().items()],
        }
        for choice in facts.choices
    }


def _poor(choice: Choice, rounds: int) -> Fraction:
    """Return the probability that what the loop returns is worth less than a third of the LP of the rings."""
    return choice.law.profit_below(choice.third, acceptance=choice.acceptance, rounds=rounds)


def _poor_against_optimum(facts: SlotFacts) -> Interval:
    least = facts.ilp / 3 - AS_GOOD * facts.problem.unit
    return over(c.law.profit_below(least, acceptance=c.acceptance, rounds=facts.u_b) for c in facts.choices)


def _poor_draw(facts: SlotFacts) -> Interval:
    return over(_poor(choice, 1) for choice in facts.choices)


def _poor_loop(facts: SlotFacts) -> Interval:
    return over(_poor(choice, facts.u_b) for choice in facts.choices)


def _poor_possible(facts: SlotFacts) -> float:
    """Return 1 where some draw is worth less than a third of the LP."""
    return float(any(_poor(choice, 1) for choice in facts.choices))


PROFIT = SLOTS.printed(
    "gadget/theorem-8",
    paper="GADGET, Theorem 8",
    statement="LP-RS-MDE achieves at least a third of the optimal value of (12)",
    quantity="the probability that what it returns after u_b draws at most is worth less, against 0",
    measure=_poor_against_optimum,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(*PRINTED, SERVERS, SOME),
    details=explain,
    open=VERTEX,
    sources=(SLOT, WHEELS),
    counterexamples=("gadget-theorem-8-three-servers",),
    golden=("gadget-theorem-8-ample",),
)

PROFIT_CORRECTED = PROFIT.corrected(
    statement="one unconditional draw is worth less than a third of the LP of the selected rings with probability at "
    "most exp(-2/9), if no selected ring alone is worth more than that LP",
    quantity="the probability that one draw is worth less than a third of the LP, against exp(-2/9)",
    measure=_poor_draw,
    bound=always(exp(-2 / 9)),
    worst=_poor_possible,
    premises=(FINITE, SOME, PROFITABLE, MODERATE),
    golden=("gadget-theorem-8-corrected-G8",),
)


def _loop_bound(facts: SlotFacts) -> float:
    """Return exp(-2/9) times the bound of a draw that is not accepted, to the u_b - 1."""
    return max(exp(-2 / 9) * power(min(1.0, c.constants.miss), facts.u_b - 1) for c in facts.choices)


PROFIT_LOOP = PROFIT_CORRECTED.derived(
    "gadget/theorem-8-loop",
    statement="what the loop with u_b draws, as corrected, returns is worth less than a third of the LP of the "
    "selected rings with probability at most exp(-2/9) min(1, exp(-2/9) + |R| |V_S|^-3 + |E_S|^-3)^(u_b - 1)",
    quantity="the probability that what is returned after u_b draws at most is worth less, against that",
    measure=_poor_loop,
    bound=_loop_bound,
    premises=(FINITE, SOME, THREE, PROFITABLE, MODERATE),
    golden=("gadget-theorem-8-loop-G8",),
)


def _best_draw(facts: SlotFacts) -> Fraction:
    """Return the greatest profit of a draw of the augmented LP with (5) and the rings that the plain LP selects."""
    return max(facts.law(cap=True, sizes=facts.selected(cap=True)).profit())


def _expected_profit(facts: SlotFacts) -> Interval:
    return over(choice.law.table.expected_profit for choice in facts.own_choices)


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
    quantity="the expected profit of a draw, against the optimum of (12) over Gamma",
    measure=_expected_profit,
    bound=lambda facts: facts.ilp / facts.largest,
    premises=(FINITE, SOME, PROFITABLE),
    golden=("gadget-theorem-8-optimum-corrected-G10",),
)


def _overloaded(choice: Choice, rounds: int) -> float:
    """Return the greatest of P(A >= beta g) |V|^4 over nodes and P(A >= gamma e) |E|^4 over links."""
    worst = 0.0
    for row in choice.overloads:
        reached = choice.law.violation(row, factor=choice.factor(row), reaches=True)
        if reached and rounds > 1:
            reached = choice.law.violation(
                row, factor=choice.factor(row), reaches=True, acceptance=choice.acceptance, rounds=rounds
            )
        worst = max(worst, float(reached / choice.rare(row)))
    return worst


def _breakable(facts: SlotFacts) -> float:
    """Return the greatest that (an overload's probability over its bound) could be: 0 where none is possible."""
    return max(float(1 / c.constants.node_bound) * c.breakable for c in facts.choices)


PLACES = SLOTS.printed(
    "gadget/theorem-8-places",
    paper="GADGET, Theorem 8",
    statement="P(A >= beta^r g) <= |V_S|^-4 for all r and u, where u has some of r, as each server has by Section IV, "
    "and P(A >= gamma e) <= |E_S|^-4 for all links",
    quantity="the greatest P(A >= beta g) over |V_S|^-4 of nodes and P(A >= gamma e) over |E_S|^-4 of links, of what "
    "is returned after u_b draws at most, against 1",
    measure=lambda facts: over(_overloaded(choice, facts.u_b) for choice in facts.choices),
    relation=Relation.AT_MOST,
    bound=always(1),
    worst=_breakable,
    expectation=Expectation.TRUE,
    premises=(*PRINTED, SERVERS),
    open=f"{EPSILON}; {VERTEX}",
    sources=(SLOT, WHEELS),
    golden=("gadget-theorem-8-places-wheel",),
)


def _profit_alone(facts: SlotFacts, choice: Choice) -> Acceptance:
    boundless = len(facts.problem.requests) * facts.largest * LARGE
    return Acceptance(choice.third, dict.fromkeys(facts.problem.resources, boundless), boundless)


def _rise(choice: Choice, acceptance: Acceptance, rounds: int) -> float:
    """Return by how much acceptance raises the probability that a row is above its capacity, at most."""
    law, worst = choice.law, Fraction(0)
    for row, capacity in law.table.capacity.items():
        once = law.violation(row) if capacity else Fraction(0)
        if once:
            worst = max(worst, law.violation(row, acceptance=acceptance, rounds=rounds) - once)
    return float(worst)


RETURNED = SLOTS.derived(
    "gadget/theorem-8-returned",
    paper="GADGET, Algorithm 2 and Theorem 8",
    statement="what Algorithm 2 returns overloads no place more often than a draw does, if profit alone is accepted",
    quantity="the greatest rise of the probability that a place is overloaded, over one draw, with u_b draws, against "
    "0",
    measure=lambda facts: over(_rise(c, _profit_alone(facts, c), facts.u_b) for c in facts.choices),
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(FINITE, SOME),
    open=VERTEX,
    sources=(SLOT, WHEELS),
    counterexamples=("gadget-theorem-8-returned-G8",),
)


def _share(choice: Choice, rounds: int) -> float:
    """Return the greatest ratio of the probability of an overload by beta or gamma of what is returned to a draw's."""
    law, worst = choice.law, 0.0
    for row in choice.overloads:
        once = law.violation(row, factor=choice.factor(row))
        if once:
            returned = law.violation(row, factor=choice.factor(row), acceptance=choice.acceptance, rounds=rounds)
            worst = max(worst, float(returned / once))
    return worst


RETURNED_CORRECTED = RETURNED.corrected(
    statement="what Algorithm 2 returns, accepting (1/3, beta, gamma)-approximate draws, exceeds beta g or gamma e no "
    "more often than a draw does",
    quantity="the greatest ratio of the probability of such an overload, with u_b draws, to that of one draw, "
    "against 1",
    measure=lambda facts: over(_share(choice, facts.u_b) for choice in facts.choices),
    bound=always(1),
    worst=_breakable,
    golden=("gadget-theorem-8-returned-corrected-wheel",),
)


def _apart(choice: Choice) -> int:
    """Return the most ring nodes of a job that two of its mappings place differently."""
    return max(
        (
            sum(u != v for u, v in zip(one.mapping.nodes, other.mapping.nodes, strict=True))
            for several in choice.fractional.mappings.values()
            for one, other in itertools.combinations(several, 2)
        ),
        default=0,
    )


def _lost(facts: SlotFacts) -> Interval:
    """Return the most ring nodes that the intersection of a mapping for each resource lacks."""
    return over(_apart(choice) if len(facts.problem.resources) > 1 else 0 for choice in facts.choices)


def _expected_share(choice: Choice) -> Fraction:
    """Return the greatest expected load of a resource of a node over what there is of it."""
    table = choice.law.table
    loads: dict[Row, Fraction] = defaultdict(Fraction)
    for option in itertools.chain.from_iterable(table.options.values()):
        for row, load in option.loads.items():
            loads[row] += option.probability * load
    used = ((row, load) for row, load in loads.items() if load and isinstance(row, NodeRow))
    return max((load / table.capacity[row] for row, load in used), default=Fraction(0))


def _mapped(facts: SlotFacts) -> dict[str, Any]:
    return {
        choice.vertex.value: {
            name: [[str(one.weight), list(one.mapping.nodes)] for one in several]
            for name, several in choice.fractional.mappings.items()
        }
        for choice in facts.choices
    }


INTERSECTION = SLOTS.derived(
    "gadget/mapping-intersection",
    paper="GADGET, Section V-C, omega_i^k as the intersection of all omega_i^k(r)",
    statement="where a mapping omega_i^k(r) is searched for each resource r by itself, what the mappings have in "
    "common places every worker",
    quantity="the most ring nodes of a job that two mappings of its solution place differently, where there are two "
    "resources or more, against 0",
    measure=_lost,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(*PRINTED, SOME),
    details=_mapped,
    open=(
        "which of several mappings a search returns: any here; if all choose alike, they are one search, as corrected; "
        f"{VERTEX}"
    ),
    sources=(SLOT, SHARED),
    counterexamples=("gadget-mapping-intersection-three-jobs",),
)

INTERSECTION_CORRECTED = INTERSECTION.corrected(
    statement="with one search for all resources, the mappings keep (18) for every resource in expectation",
    quantity="the greatest expected load of a resource of a node over what there is of it, against 1",
    measure=lambda facts: over(map(_expected_share, facts.choices)),
    bound=always(1),
    premises=(FINITE, SOME),
    golden=("gadget-mapping-intersection-corrected-three-jobs",),
)


def _draws(facts: SlotFacts) -> int:
    """Return the draws that the loop makes where none is good enough."""
    impossible = Acceptance(1 + sum(max(request.profit.values()) for request in facts.problem.requests))
    rng, weighted = np.random.default_rng(0), facts.choices[0].fractional.mappings
    return round_mappings(
        facts.problem, weighted, rng, rule="accepted", rounds=facts.u_b, acceptance=impossible, variant="printed"
    ).draws


LOOP = SLOTS.printed(
    "gadget/algorithm-2-rounds",
    paper="GADGET, Algorithm 2, lines 1 and 7",
    statement="with iter = 1 at first and while iter < u_b, the mappings are drawn u_b times at most",
    quantity="draws where none is accepted, against u_b",
    measure=_draws,
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.u_b,
    expectation=Expectation.TRUE,
    premises=(FINITE, SOME),
    golden=("gadget-algorithm-2-rounds-G8",),
)


def _shape(facts: SlotFacts) -> dict[str, Any]:
    return {"resources": list(facts.problem.resources), "nodes": len(facts.problem.nodes)}


def _miss(facts: SlotFacts) -> float:
    """Return exp(-2/9) + |R| |V_S|^-3 + |E_S|^-3."""
    return facts.choices[0].constants.miss


SUCCESS = SLOTS.derived(
    "gadget/theorem-8-success",
    paper="GADGET, Theorem 8, all its parts for one draw",
    statement="with |V_S| >= 3, the parts' bounds leave some probability that a draw is (1/3, beta, gamma)-approximate",
    quantity="exp(-2/9) + |R| |V_S|^-3 + |E_S|^-3, against 0.99",
    measure=_miss,
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
    measure=lambda facts: over(1 - choice.law.accepted(choice.acceptance) for choice in facts.choices),
    bound=_miss,
    worst=lambda facts: float(any(c.breakable for c in facts.choices) or _poor_possible(facts)),
    premises=(FINITE, SOME, THREE, PROFITABLE, MODERATE),
    sources=(SLOT, WHEELS),
    golden=("gadget-theorem-8-success-corrected-five-resources", "gadget-theorem-8-success-corrected-three-servers"),
)

CLAIMS = stated(globals())
