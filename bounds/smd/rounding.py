"""Lemma 3 and Theorem 4: what randomized rounding costs, and how often it breaks rows. All probabilities are exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Premise, Variant
from dlsched.bounds.comparison import Relation
from dlsched.bounds.smd.facts import DELTA, Rounding, SmdFacts
from dlsched.bounds.smd.fractional import RUNNING
from dlsched.bounds.smd.packing import Packing, PackingFacts
from dlsched.bounds.smd.sources import INNER, NARROW, PACKING, TINY
from dlsched.models.smd import ratios
from dlsched.rounding import gain_packing, outcome_distribution, width


def _cheap(rounding: Rounding, terms: int) -> Fraction:
    """Return the probability that the cost is at most (8 L/M + 4)/delta times that of x~."""
    factor = (8 * terms / rounding.gain + 4) / DELTA
    return rounding.probability(lambda w, p: rounding.cost(w, p) <= factor)


def _laws(facts: SmdFacts) -> dict[str, Any]:
    return {
        r.job.name: {"x": list(r.x), "gain": r.gain, "outcomes": [[*point, str(p)] for point, p in r.outcomes]}
        for r in facts.roundings
    }


def _shifted_cost(facts: SmdFacts) -> float:
    """Return the greatest cost of an outcome of 1 + M (x~ - 1), over 4/M times that of x~."""
    worst = 0.0
    for rounding in facts.roundings:
        law = outcome_distribution([rounding.gain * (x - 1) for x in rounding.x])
        costs = (rounding.cost(*point) for point in (1 + law.points).tolist())
        worst = max(worst, max(costs) * rounding.gain / 4)
    return worst


_COST: dict[str, Any] = {"facts": SmdFacts, "premises": (RUNNING,), "details": _laws}
_SURELY: dict[str, Any] = {
    "variant": Variant.CORRECTED,
    "statement": "rounding 1 + M (x~ - 1), surely w, p >= 1 and the cost is at most 4/M times that of x~",
    "quantity": "the greatest cost of an outcome over 4/M times that of x~, against 1",
    "measure": _shifted_cost,
    "bound": lambda facts: 1,
    "relation": Relation.AT_MOST,
    "expectation": Expectation.TRUE,
    "sources": (INNER, TINY),
}
_PROBABLY: dict[str, Any] = {
    "variant": Variant.PRINTED,
    "quantity": "the least probability of such a cost over the jobs, against 1 - delta, at delta = 1/2",
    "bound": lambda facts: 1 - DELTA,
    "relation": Relation.AT_LEAST,
    "expectation": Expectation.FALSE,
}

LEMMA_3 = Claim(
    id="smd/lemma-3",
    paper="SMD, Lemma 3",
    statement="with probability above 1 - delta, the cost is at most (8L/M + 4)/delta times that of x~",
    measure=lambda facts: min(_cheap(r, len(ratios(r.job).ratios)) for r in facts.roundings),
    sources=(NARROW, INNER),
    counterexamples=("smd-lemma-3-one-worker-one-server",),
    golden=("smd-lemma-3-roomy",),
    **_PROBABLY,
    **_COST,
)

LEMMA_3_CORRECTED = Claim(
    id="smd/lemma-3",
    paper="SMD, Lemma 3",
    golden=("smd-lemma-3-corrected-one-worker-one-server",),
    **_SURELY,
    **_COST,
)

THEOREM_4 = Claim(
    id="smd/theorem-4",
    paper="SMD, Theorem 4",
    statement="with probability above 1 - delta, Algorithm 2's schedule costs at most (24/M + 4)/delta times x~'s time",
    measure=lambda facts: min(_cheap(r, 3) for r in facts.roundings),
    sources=(NARROW,),
    counterexamples=("smd-theorem-4-four-resources",),
    **_PROBABLY,
    **_COST,
)

THEOREM_4_CORRECTED = Claim(
    id="smd/theorem-4",
    paper="SMD, Theorem 4",
    golden=("smd-theorem-4-corrected-four-resources",),
    **_SURELY,
    **_COST,
)


def _promise(instance: Packing) -> Fraction:
    """Return delta / (2 r)."""
    return instance.delta / (2 * len(instance.rows))


def _gains(facts: PackingFacts) -> dict[str, Any]:
    return {"printed gain": facts.printed.gain, "exact gain": facts.corrected.gain}


_ROW: dict[str, Any] = {
    "id": "smd/lemma-3-row",
    "paper": "SMD, Lemma 3",
    "quantity": "the greatest probability that a row breaks over delta/(2r), against 1",
    "bound": lambda facts: 1,
    "relation": Relation.AT_MOST,
    "facts": PackingFacts,
    "details": _gains,
    "instances": Packing,
    "sources": (PACKING,),
}

ROW = Claim(
    variant=Variant.PRINTED,
    statement="at M_delta, each row breaks with probability at most delta/(2r)",
    measure=lambda facts: max(facts.printed.rows) / _promise(facts.instance),
    expectation=Expectation.FALSE,
    counterexamples=("smd-lemma-3-row-halves", "smd-lemma-3-row-ten-coordinates"),
    **_ROW,
)

ROW_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="with M from W_b (ln(1/M) - 1 + M) = ln(2r/delta), each row breaks with probability at most delta/(2r)",
    measure=lambda facts: max(facts.corrected.rows) / _promise(facts.instance),
    expectation=Expectation.TRUE,
    golden=("smd-lemma-3-row-corrected-halves",),
    **_ROW,
)

_SOME: dict[str, Any] = {**_ROW, "id": "smd/lemma-3-some-row"}

SOME_ROW = Claim(
    **{**_SOME, "quantity": "the probability that some row breaks over delta/(2r), against 1"},
    variant=Variant.PRINTED,
    statement="Pr{(B x)_i > b_i for some i} <= delta/(2r)",
    measure=lambda facts: facts.printed.some / _promise(facts.instance),
    expectation=Expectation.FALSE,
    counterexamples=("smd-lemma-3-some-row-hundred-copies",),
)

SOME_ROW_CORRECTED = Claim(
    **{**_SOME, "quantity": "the probability that some row breaks over delta/2, against 1"},
    variant=Variant.CORRECTED,
    statement="with that M, Pr{(B x)_i > b_i for some i} <= delta/2",
    measure=lambda facts: facts.corrected.some / (facts.instance.delta / 2),
    expectation=Expectation.TRUE,
    golden=("smd-lemma-3-some-row-corrected-hundred-copies",),
)


def _gain(facts: SmdFacts, delta: float) -> float:
    """Return the greatest M_delta of the jobs."""
    polytopes = [ratios(job).polytope for job in facts.running]
    rows = len(facts.instance.resources)
    return max(gain_packing(width(p.A, p.row_upper), rows, delta) for p in polytopes)


GAIN = Claim(
    id="smd/gain-increases",
    paper="SMD, Section IV-A",
    variant=Variant.PRINTED,
    statement="M_delta increases with delta, and with it the ratio improves",
    quantity="M at delta = 1/2, against M at delta = 3/4",
    measure=lambda facts: _gain(facts, 0.5),
    bound=lambda facts: _gain(facts, 0.75),
    relation=Relation.AT_MOST,
    expectation=Expectation.TRUE,
    facts=SmdFacts,
    premises=(RUNNING, Premise("some row bounds a job", lambda facts: any(job.resources for job in facts.running))),
    sources=(TINY,),
    golden=("smd-gain-increases-S1",),
)

CLAIMS = (
    LEMMA_3,
    LEMMA_3_CORRECTED,
    THEOREM_4,
    THEOREM_4_CORRECTED,
    ROW,
    ROW_CORRECTED,
    SOME_ROW,
    SOME_ROW_CORRECTED,
    GAIN,
)
