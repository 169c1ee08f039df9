"""Lemmas 1 and 2: what rounding a scaled optimum costs, and how often it breaks rows. All probabilities are exact.

The cost bounds are Markov's inequality and hold. The rows' bounds use forms of Chernoff's that hold for eps <= 1 only,
and the print bounds "some row" by what is due to each.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from dlsched.bounds.claim import Claim, Premise
from dlsched.bounds.comparison import Relation
from dlsched.bounds.pd_ors.law import Excess
from dlsched.bounds.pd_ors.measures import (
    CORRECTED,
    LEMMA,
    OPTIMAL,
    PRINTED,
    TRUE_AS_PRINTED,
    cover_factor,
    due_to_each,
    due_to_some,
    each_cover,
    each_packing,
    shrunk,
    some_cover,
    some_packing,
    stretched,
)
from dlsched.bounds.pd_ors.sources import BATCHES, MIXED, NARROW, SPREAD, UNEVEN
from dlsched.models.arithmetic import power
from dlsched.rounding import Gain

_FIRST: dict[str, Any] = {**LEMMA, "paper": "PD-ORS, Lemma 1"}
_SECOND: dict[str, Any] = {**LEMMA, "paper": "PD-ORS, Lemma 2"}


_COST: dict[str, Any] = {
    "statement": "with probability above 1 - delta, the cost is at most 3 G/delta times that of x-bar",
    "quantity": "the probability of a higher cost over delta, against 1",
    "sources": (MIXED, NARROW, UNEVEN, SPREAD),
}
_MARKOV: dict[str, Any] = {
    "statement": "with G from the Chernoff bound itself, the cost exceeds 3 G/delta times that of x-bar with "
    "probability at most delta/3",
    "quantity": "the probability of a higher cost over delta/3, against 1",
    "sources": (MIXED, NARROW, UNEVEN, SPREAD),
}

COST_1 = Claim(
    id="pd-ors/lemma-1",
    measure=lambda facts: float(shrunk(facts).dearer()) / facts.delta,
    golden=("pd-ors-lemma-1-halves",),
    **{**_FIRST, **_COST, **TRUE_AS_PRINTED},
)

COST_1_CORRECTED = Claim(
    id="pd-ors/lemma-1",
    measure=lambda facts: float(shrunk(facts, Gain.EXACT).dearer()) * 3 / facts.delta,
    golden=("pd-ors-lemma-1-corrected-halves",),
    **{**_FIRST, **_MARKOV, **CORRECTED},
)

RATIO = Claim(
    id="pd-ors/lemma-1-ratio",
    statement="3 G/delta is an approximation ratio, hence not below 1",
    quantity="3 G/delta, against 1",
    measure=lambda facts: 3 * facts.shrink() / facts.delta,
    sources=(MIXED, NARROW),
    counterexamples=("pd-ors-lemma-1-ratio-two-rows", "pd-ors-lemma-1-ratio-five-rows"),
    **{**_FIRST, **PRINTED, "relation": Relation.AT_LEAST},
)

RATIO_CORRECTED = Claim(
    id="pd-ors/lemma-1-ratio",
    statement="if 3 G/delta < 1, x^ keeps all rows with probability at most delta/3: then it costs as much as x-bar",
    quantity="the probability that all rows are kept over delta/3, against 1",
    measure=lambda facts: float(shrunk(facts).feasible()) * 3 / facts.delta,
    sources=(MIXED, NARROW),
    golden=("pd-ors-lemma-1-ratio-corrected-two-rows", "pd-ors-lemma-1-ratio-corrected-five-rows"),
    **{
        **_FIRST,
        **CORRECTED,
        "premises": (
            OPTIMAL,
            Premise("c x-bar > 0", lambda facts: facts.instance.total(facts.instance.cost) > 0),
            Premise("3 G/delta < 1", lambda facts: 3 * facts.shrink() < facts.delta),
        ),
    },
)

PACKING_1 = Claim(
    id="pd-ors/lemma-1-packing",
    statement="(34), (35): at G, each packing row breaks with probability at most delta/(3r)",
    quantity="the greatest probability that a packing row breaks over delta/(3r), against 1",
    measure=lambda facts: each_packing(facts, shrunk(facts)),
    sources=(NARROW,),
    counterexamples=("pd-ors-lemma-1-packing-halves", "pd-ors-lemma-1-packing-hundred-copies"),
    **{**_FIRST, **PRINTED},
)

PACKING_1_CORRECTED = Claim(
    id="pd-ors/lemma-1-packing",
    statement="with G from W_b (ln(1/G) - 1 + G) = ln(3r/delta), each packing row breaks with probability at most "
    "delta/(3r)",
    quantity="the greatest probability that a packing row breaks over delta/(3r), against 1",
    measure=lambda facts: each_packing(facts, shrunk(facts, Gain.EXACT)),
    sources=(MIXED, NARROW, UNEVEN, SPREAD, BATCHES),
    golden=("pd-ors-lemma-1-packing-corrected-halves",),
    **{**_FIRST, **CORRECTED},
)

SOME_1 = Claim(
    id="pd-ors/lemma-1-some-row",
    statement="at G, some packing row breaks with probability at most delta/3",
    quantity="the probability that some packing row breaks over delta/3, against 1",
    measure=lambda facts: some_packing(facts, shrunk(facts)),
    sources=(NARROW,),
    counterexamples=("pd-ors-lemma-1-some-row-halves", "pd-ors-lemma-1-some-row-hundred-copies"),
    **{**_FIRST, **PRINTED},
)

SOME_1_CORRECTED = Claim(
    id="pd-ors/lemma-1-some-row",
    statement="with that G, some packing row breaks with probability at most delta/3",
    quantity="the probability that some packing row breaks over delta/3, against 1",
    measure=lambda facts: some_packing(facts, shrunk(facts, Gain.EXACT)),
    sources=(MIXED, NARROW, UNEVEN, SPREAD, BATCHES),
    golden=("pd-ors-lemma-1-some-row-corrected-hundred-copies",),
    **{**_FIRST, **CORRECTED},
)

COVER_1 = Claim(
    id="pd-ors/lemma-1-cover",
    statement="Pr{(A x^)_i <= a_i (1 - eps) G for some i} <= delta/(3m), eps = sqrt(2 ln(3m/delta) / (G W_a))",
    quantity="the probability that some cover row falls to its threshold over delta/(3m), against 1",
    measure=lambda facts: some_cover(facts, law := shrunk(facts), cover_factor(facts, law)) * facts.instance.covers,
    sources=(BATCHES,),
    counterexamples=("pd-ors-lemma-1-cover-hundred-copies",),
    **{**_FIRST, **PRINTED},
)

COVER_1_CORRECTED = Claim(
    id="pd-ors/lemma-1-cover",
    statement="Pr{(A x^)_i <= a_i (1 - eps) G for some i} <= delta/3, with the same eps",
    quantity="the probability that some cover row falls to its threshold over delta/3, against 1",
    measure=lambda facts: some_cover(facts, law := shrunk(facts), cover_factor(facts, law)),
    sources=(MIXED, NARROW, SPREAD, BATCHES),
    golden=("pd-ors-lemma-1-cover-corrected-hundred-copies",),
    **{**_FIRST, **CORRECTED},
)

COVER_ROW_1 = Claim(
    id="pd-ors/lemma-1-cover-row",
    statement="(36), and all of Lemma 1 where m = 1: each cover row falls to a_i (1 - eps) G with probability at most "
    "delta/(3m)",
    quantity="the greatest probability that a cover row falls to its threshold over delta/(3m), against 1",
    measure=lambda facts: each_cover(facts, law := shrunk(facts), cover_factor(facts, law)),
    sources=(MIXED, NARROW, SPREAD, BATCHES),
    golden=("pd-ors-lemma-1-cover-row-hundred-copies",),
    **{**_FIRST, **TRUE_AS_PRINTED},
)

COST_2 = Claim(
    id="pd-ors/lemma-2",
    measure=lambda facts: float(stretched(facts).dearer()) / facts.delta,
    golden=("pd-ors-lemma-2-thousand-thousandths",),
    **{**_SECOND, **_COST, **TRUE_AS_PRINTED},
)

COST_2_CORRECTED = Claim(
    id="pd-ors/lemma-2",
    measure=lambda facts: float(stretched(facts, Gain.EXACT).dearer()) * 3 / facts.delta,
    golden=("pd-ors-lemma-2-corrected-thousand-thousandths",),
    **{**_SECOND, **_MARKOV, **CORRECTED},
)

COVER_2 = Claim(
    id="pd-ors/lemma-2-cover",
    statement="(37), (38): at G, each cover row falls to a_i with probability at most delta/(3m)",
    quantity="the greatest probability that a cover row falls to a_i over delta/(3m), against 1",
    measure=lambda facts: each_cover(facts, stretched(facts)),
    sources=(MIXED, NARROW, UNEVEN, SPREAD),
    golden=("pd-ors-lemma-2-cover-halves",),
    **{**_SECOND, **TRUE_AS_PRINTED},
)

COVER_2_CORRECTED = Claim(
    id="pd-ors/lemma-2-cover",
    statement="with G from W_a (G - 1 - ln G) = ln(3m/delta), each cover row falls to a_i with probability at most "
    "delta/(3m)",
    quantity="the greatest probability that a cover row falls to a_i over delta/(3m), against 1",
    measure=lambda facts: each_cover(facts, stretched(facts, Gain.EXACT)),
    sources=(MIXED, NARROW, UNEVEN, SPREAD),
    golden=("pd-ors-lemma-2-cover-corrected-halves",),
    **{**_SECOND, **CORRECTED},
)

PACKING_2 = Claim(
    id="pd-ors/lemma-2-packing",
    statement="(39): each packing row exceeds b_i (1 + eps) G with probability at most delta/(3r), "
    "eps = sqrt(3 ln(3r/delta) / (G W_b))",
    quantity="the greatest probability that a packing row exceeds its threshold over delta/(3r), against 1",
    measure=lambda facts: due_to_each(facts, stretched(facts), Excess.PRINTED),
    sources=(UNEVEN,),
    counterexamples=("pd-ors-lemma-2-packing-thousand-thousandths", "pd-ors-lemma-2-packing-crumb"),
    **{**_SECOND, **PRINTED},
)

PACKING_2_CORRECTED = Claim(
    id="pd-ors/lemma-2-packing",
    statement="each packing row exceeds b_i (1 + eps) G with probability at most delta/(3r), with eps from "
    "G W_b ((1 + eps) ln(1 + eps) - eps) = ln(3r/delta)",
    quantity="the greatest probability that a packing row exceeds its threshold over delta/(3r), against 1",
    measure=lambda facts: due_to_each(facts, stretched(facts), Excess.EXACT),
    sources=(MIXED, NARROW, UNEVEN, SPREAD),
    golden=("pd-ors-lemma-2-packing-corrected-thousand-thousandths",),
    **{**_SECOND, **CORRECTED},
)

SOME_2 = Claim(
    id="pd-ors/lemma-2-some-row",
    statement="Pr{(B x^)_i > b_i (1 + eps) G for some i} <= delta/(3r), eps = sqrt(3 ln(3r/delta) / (G W_b))",
    quantity="the probability that some packing row exceeds its threshold over delta/(3r), against 1",
    measure=lambda facts: due_to_some(facts, stretched(facts), Excess.PRINTED) * facts.instance.packings,
    sources=(UNEVEN,),
    counterexamples=("pd-ors-lemma-2-some-row-thousand-thousandths", "pd-ors-lemma-2-some-row-two-crumbs"),
    **{**_SECOND, **PRINTED},
)

SOME_2_CORRECTED = Claim(
    id="pd-ors/lemma-2-some-row",
    statement="Pr{(B x^)_i > b_i (1 + eps) G for some i} <= delta/3, with eps from "
    "G W_b ((1 + eps) ln(1 + eps) - eps) = ln(3r/delta)",
    quantity="the probability that some packing row exceeds its threshold over delta/3, against 1",
    measure=lambda facts: due_to_some(facts, stretched(facts), Excess.EXACT),
    sources=(MIXED, NARROW, UNEVEN, SPREAD),
    golden=("pd-ors-lemma-2-some-row-corrected-thousand-thousandths",),
    **{**_SECOND, **CORRECTED},
)

_DELTAS = tuple(power(10, -k / 4) for k in range(24, -1, -1))


def _steepest(ratio: Callable[[float], float]) -> float:
    """Return the greatest 3 G/delta over that at the next smaller delta."""
    return max(ratio(later) / ratio(earlier) for earlier, later in pairwise(_DELTAS))


MONOTONE = Claim(
    id="pd-ors/gain-monotone",
    statement="3 G/delta decreases in delta, for the G of Lemma 1 and that of Lemma 2",
    quantity="the greatest 3 G/delta over that at a smaller delta, among 25 from 1e-6 to 1, against 1",
    measure=lambda facts: max(
        _steepest(lambda delta: facts.shrink(delta) / delta), _steepest(lambda delta: facts.stretch(delta) / delta)
    ),
    sources=(MIXED, NARROW, UNEVEN, SPREAD, BATCHES),
    golden=("pd-ors-gain-monotone-halves",),
    **{**LEMMA, **TRUE_AS_PRINTED, "paper": "PD-ORS, (29), (30), remark ii", "premises": ()},
)

LEMMAS = (
    COST_1,
    COST_1_CORRECTED,
    RATIO,
    RATIO_CORRECTED,
    PACKING_1,
    PACKING_1_CORRECTED,
    SOME_1,
    SOME_1_CORRECTED,
    COVER_1,
    COVER_1_CORRECTED,
    COVER_ROW_1,
    COST_2,
    COST_2_CORRECTED,
    COVER_2,
    COVER_2_CORRECTED,
    PACKING_2,
    PACKING_2_CORRECTED,
    SOME_2,
    SOME_2_CORRECTED,
    MONOTONE,
)
"""Every claim of the two lemmas."""
