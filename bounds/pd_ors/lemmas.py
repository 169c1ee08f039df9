"""Lemmas 1 and 2: what rounding a scaled optimum costs, and how often it breaks rows. All probabilities are exact.

The cost bounds are Markov's inequality and hold. The rows' bounds use forms of Chernoff's that hold for eps <= 1 only,
and the print bounds "some row" by what is due to each. The thesis's Lemma 1 is the journal's Lemma 2 without
ln(3r/delta) under the root.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from dlsched.arithmetic import power
from dlsched.bounds.claim import Expectation, Premise, always, stated
from dlsched.bounds.comparison import Relation, Value
from dlsched.bounds.pd_ors.law import Excess, Judged, judged
from dlsched.bounds.pd_ors.measures import INTEGRAL, OPTIMAL, PROGRAMS, LemmaFacts
from dlsched.bounds.pd_ors.sources import BATCHES, DEAR, MIXED, NARROW, SPREAD, UNEVEN

_judged: Callable[[Callable[[LemmaFacts], Value]], Judged[LemmaFacts]] = judged

_COST = "with probability above 1 - delta, the cost is at most 3 G/delta times that of x-bar"
_MARKOV = (
    "with G from the Chernoff bound itself, the cost exceeds 3 G/delta times that of x-bar with probability at most "
    "delta/3"
)
_DEARER = "the probability of a higher cost over delta, against 1"
_DEARER_THIRD = "the probability of a higher cost over delta/3, against 1"

_USUAL = (MIXED, NARROW, UNEVEN, SPREAD, DEAR)

COST_1 = PROGRAMS.printed(
    "pd-ors/lemma-1",
    paper="PD-ORS, Lemma 1",
    statement=_COST,
    quantity=_DEARER,
    **_judged(lambda facts: facts.shrunk.dearer),
    expectation=Expectation.TRUE,
    sources=_USUAL,
    golden=("pd-ors-lemma-1-halves", "pd-ors-lemma-1-dear"),
)

COST_1_CORRECTED = COST_1.corrected(
    statement=_MARKOV,
    quantity=_DEARER_THIRD,
    **_judged(lambda facts: facts.shrunk_exactly.dearer_third),
    golden=("pd-ors-lemma-1-corrected-halves", "pd-ors-lemma-1-corrected-dear"),
)

RATIO = PROGRAMS.derived(
    "pd-ors/lemma-1-ratio",
    paper="PD-ORS, Section 4.4, remark i on Lemmas 1 and 2",
    statement="3 G/delta, which remark i calls an approximation ratio, is not below 1",
    quantity="3 G/delta, against 1",
    measure=lambda facts: facts.ratio,
    relation=Relation.AT_LEAST,
    bound=always(1),
    expectation=Expectation.FALSE,
    premises=(OPTIMAL, INTEGRAL),
    sources=(MIXED, NARROW),
    counterexamples=("pd-ors-lemma-1-ratio-two-rows", "pd-ors-lemma-1-ratio-five-rows"),
)


def _costs_something(facts: LemmaFacts) -> bool:
    return facts.instance.total(facts.instance.cost) > 0


RATIO_CORRECTED = RATIO.corrected(
    statement="x^ keeps all rows with probability at most G: then it costs no less than x-bar, on average G times that",
    quantity="the probability that all rows are kept over G, against 1",
    **_judged(lambda facts: facts.shrunk.feasible_share),
    premises=(OPTIMAL, Premise("c x-bar > 0", _costs_something)),
    golden=("pd-ors-lemma-1-ratio-corrected-two-rows", "pd-ors-lemma-1-ratio-corrected-five-rows"),
)

PACKING_1 = PROGRAMS.printed(
    "pd-ors/lemma-1-packing",
    paper="PD-ORS, Appendix A, (34) and (35)",
    statement="at G, each packing row breaks with probability at most delta/(3r)",
    quantity="the greatest probability that a packing row breaks over delta/(3r), against 1",
    **_judged(lambda facts: facts.shrunk.each_packing()),
    expectation=Expectation.FALSE,
    premises=(OPTIMAL, INTEGRAL),
    sources=(NARROW,),
    counterexamples=("pd-ors-lemma-1-packing-triangle", "pd-ors-lemma-1-packing-hundred-triangles"),
)

PACKING_1_CORRECTED = PACKING_1.corrected(
    statement="with G from W_b (ln(1/G) - 1 + G) = ln(3r/delta), each packing row breaks with probability at most "
    "delta/(3r)",
    **_judged(lambda facts: facts.shrunk_exactly.each_packing()),
    premises=(OPTIMAL,),
    sources=(MIXED, NARROW, UNEVEN, SPREAD, BATCHES),
    golden=("pd-ors-lemma-1-packing-corrected-triangle",),
)

SOME_1 = PROGRAMS.printed(
    "pd-ors/lemma-1-some-row",
    paper="PD-ORS, Appendix A, the union bound after (36)",
    statement="at G, some packing row breaks with probability at most delta/3",
    quantity="the probability that some packing row breaks over delta/3, against 1",
    **_judged(lambda facts: facts.shrunk.some_packing()),
    expectation=Expectation.FALSE,
    premises=(OPTIMAL, INTEGRAL),
    sources=(NARROW,),
    counterexamples=("pd-ors-lemma-1-some-row-triangle", "pd-ors-lemma-1-some-row-hundred-triangles"),
)

SOME_1_CORRECTED = SOME_1.corrected(
    statement="with that G, some packing row breaks with probability at most delta/3",
    **_judged(lambda facts: facts.shrunk_exactly.some_packing()),
    premises=(OPTIMAL,),
    sources=(MIXED, NARROW, UNEVEN, SPREAD, BATCHES),
    golden=("pd-ors-lemma-1-some-row-corrected-hundred-triangles",),
)


def _some_shortfall_as_each(facts: LemmaFacts) -> float:
    return facts.shrunk.some_shortfall() * facts.instance.covers


COVER_1 = PROGRAMS.printed(
    "pd-ors/lemma-1-cover",
    paper="PD-ORS, Lemma 1",
    statement="Pr{(A x^)_i <= a_i (1 - eps) G for some i} <= delta/(3m), eps = sqrt(2 ln(3m/delta) / (G W_a))",
    quantity="the probability that some cover row falls to its threshold over delta/(3m), against 1",
    **_judged(_some_shortfall_as_each),
    expectation=Expectation.FALSE,
    sources=(BATCHES,),
    counterexamples=("pd-ors-lemma-1-cover-hundred-copies",),
)

COVER_1_CORRECTED = COVER_1.corrected(
    statement="Pr{(A x^)_i <= a_i (1 - eps) G for some i} <= delta/3, with the same eps",
    quantity="the probability that some cover row falls to its threshold over delta/3, against 1",
    **_judged(lambda facts: facts.shrunk.some_shortfall()),
    sources=(MIXED, NARROW, SPREAD, BATCHES),
    golden=("pd-ors-lemma-1-cover-corrected-hundred-copies",),
)

COVER_ROW_1 = PROGRAMS.printed(
    "pd-ors/lemma-1-cover-row",
    paper="PD-ORS, Appendix A, before (36)",
    statement="each cover row falls to a_i (1 - eps) G with probability at most delta/(3m), eps as in Lemma 1",
    quantity="the greatest probability that a cover row falls to its threshold over delta/(3m), against 1",
    **_judged(lambda facts: facts.shrunk.each_shortfall()),
    expectation=Expectation.TRUE,
    sources=(MIXED, NARROW, SPREAD, BATCHES),
    golden=("pd-ors-lemma-1-cover-row-hundred-copies",),
)

COST_2 = PROGRAMS.printed(
    "pd-ors/lemma-2",
    paper="PD-ORS, Lemma 2",
    statement=_COST,
    quantity=_DEARER,
    **_judged(lambda facts: facts.stretched.dearer),
    expectation=Expectation.TRUE,
    sources=_USUAL,
    golden=("pd-ors-lemma-2-thousand-thousandths", "pd-ors-lemma-2-dear"),
)

COST_2_CORRECTED = COST_2.corrected(
    statement=_MARKOV,
    quantity=_DEARER_THIRD,
    **_judged(lambda facts: facts.stretched_exactly.dearer_third),
    golden=("pd-ors-lemma-2-corrected-thousand-thousandths", "pd-ors-lemma-2-corrected-dear"),
)

COVER_2 = PROGRAMS.printed(
    "pd-ors/lemma-2-cover",
    paper="PD-ORS, Appendix B, (37) and (38)",
    statement="at G, each cover row falls to a_i with probability at most delta/(3m)",
    quantity="the greatest probability that a cover row falls to a_i over delta/(3m), against 1",
    **_judged(lambda facts: facts.stretched.each_cover()),
    expectation=Expectation.TRUE,
    sources=_USUAL,
    golden=("pd-ors-lemma-2-cover-halves",),
)

COVER_2_CORRECTED = COVER_2.corrected(
    statement="with G from W_a (G - 1 - ln G) = ln(3m/delta), each cover row falls to a_i with probability at most "
    "delta/(3m)",
    **_judged(lambda facts: facts.stretched_exactly.each_cover()),
    golden=("pd-ors-lemma-2-cover-corrected-halves",),
)

PACKING_2 = PROGRAMS.printed(
    "pd-ors/lemma-2-packing",
    paper="PD-ORS, Appendix B, before (39)",
    statement="each packing row exceeds b_i (1 + eps) G with probability at most delta/(3r), "
    "eps = sqrt(3 ln(3r/delta) / (G W_b))",
    quantity="the greatest probability that a packing row exceeds its threshold over delta/(3r), against 1",
    **_judged(lambda facts: facts.stretched.each_excess(Excess.PRINTED)),
    expectation=Expectation.FALSE,
    sources=(UNEVEN,),
    counterexamples=("pd-ors-lemma-2-packing-thousand-thousandths", "pd-ors-lemma-2-packing-crumb"),
)

PACKING_2_CORRECTED = PACKING_2.corrected(
    statement="each packing row exceeds b_i (1 + eps) G with probability at most delta/(3r), with eps from "
    "G W_b ((1 + eps) ln(1 + eps) - eps) = ln(3r/delta)",
    **_judged(lambda facts: facts.stretched.each_excess(Excess.EXACT)),
    sources=_USUAL,
    golden=("pd-ors-lemma-2-packing-corrected-thousand-thousandths",),
)


def _some_excess_as_each(facts: LemmaFacts, rule: Excess) -> float:
    """Return the probability that some packing row exceeds its threshold, over delta/(3r)."""
    return facts.stretched.some_excess(rule) * facts.instance.packings


_EXACT_EXCESS = (
    "Pr{(B x^)_i > b_i (1 + eps) G for some i} <= delta/3, with eps from "
    "G W_b ((1 + eps) ln(1 + eps) - eps) = ln(3r/delta)"
)

SOME_2 = PROGRAMS.printed(
    "pd-ors/lemma-2-some-row",
    paper="PD-ORS, Lemma 2",
    statement="Pr{(B x^)_i > b_i (1 + eps) G for some i} <= delta/(3r), eps = sqrt(3 ln(3r/delta) / (G W_b))",
    quantity="the probability that some packing row exceeds its threshold over delta/(3r), against 1",
    **_judged(lambda facts: _some_excess_as_each(facts, Excess.PRINTED)),
    expectation=Expectation.FALSE,
    sources=(UNEVEN,),
    counterexamples=("pd-ors-lemma-2-some-row-thousand-thousandths", "pd-ors-lemma-2-some-row-two-crumbs"),
)

SOME_2_CORRECTED = SOME_2.corrected(
    statement=_EXACT_EXCESS,
    quantity="the probability that some packing row exceeds its threshold over delta/3, against 1",
    **_judged(lambda facts: facts.stretched.some_excess(Excess.EXACT)),
    sources=_USUAL,
    golden=("pd-ors-lemma-2-some-row-corrected-thousand-thousandths",),
)

THESIS_LEMMA_1 = PROGRAMS.printed(
    "pd-ors-thesis/lemma-1",
    paper="PD-ORS thesis, Lemma 1",
    statement="Pr{(B x^)_i > b_i (1 + sqrt(3 / (G W_b))) G for some i} <= delta/(3r)",
    quantity="the probability that some packing row exceeds its threshold over delta/(3r), against 1",
    **_judged(lambda facts: _some_excess_as_each(facts, Excess.THESIS)),
    expectation=Expectation.FALSE,
    sources=(UNEVEN,),
    counterexamples=("pd-ors-thesis-lemma-1-thousand-thousandths",),
)

THESIS_LEMMA_1_CORRECTED = THESIS_LEMMA_1.corrected(
    statement=_EXACT_EXCESS,
    quantity="the probability that some packing row exceeds its threshold over delta/3, against 1",
    **_judged(lambda facts: facts.stretched.some_excess(Excess.EXACT)),
    sources=_USUAL,
    golden=("pd-ors-thesis-lemma-1-corrected-thousand-thousandths",),
)

THESIS_COST = PROGRAMS.printed(
    "pd-ors-thesis/lemma-1-cost",
    paper="PD-ORS thesis, Lemma 1",
    statement=_COST,
    quantity=_DEARER,
    **_judged(lambda facts: facts.stretched.dearer),
    expectation=Expectation.TRUE,
    sources=_USUAL,
    golden=("pd-ors-thesis-lemma-1-cost-thousand-thousandths", "pd-ors-thesis-lemma-1-cost-dear"),
)

_DELTAS = tuple(power(10, -k / 4) for k in range(24, -1, -1))


def _steepest(ratio: Callable[[float], float]) -> float:
    """Return the greatest 3 G/delta over that at the next smaller delta."""
    return max(ratio(later) / ratio(earlier) for earlier, later in pairwise(_DELTAS))


def _steepest_of_both(facts: LemmaFacts) -> float:
    return max(
        _steepest(lambda delta: facts.shrink(delta) / delta), _steepest(lambda delta: facts.stretch(delta) / delta)
    )


MONOTONE = PROGRAMS.printed(
    "pd-ors/gain-monotone",
    paper="PD-ORS, Section 4.4, remark ii on Lemmas 1 and 2",
    statement="3 G/delta decreases in delta, for the G of Lemma 1 and that of Lemma 2",
    quantity="the greatest 3 G/delta over that at a smaller delta, among 25 from 1e-6 to 1, against 1",
    measure=_steepest_of_both,
    relation=Relation.AT_MOST,
    bound=always(1),
    expectation=Expectation.TRUE,
    premises=(),
    sources=(MIXED, NARROW, UNEVEN, SPREAD, BATCHES),
    golden=("pd-ors-gain-monotone-halves",),
)

CLAIMS = stated(globals())
"""Every claim of the lemmas."""
