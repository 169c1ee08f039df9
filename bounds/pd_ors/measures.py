"""What the claims about mixed programs measure: exact probabilities over what the lemmas promise."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from dlsched.bounds.claim import Expectation, Premise, Variant
from dlsched.bounds.comparison import Relation
from dlsched.bounds.pd_ors.law import Excess, Law, excess, shortfall
from dlsched.bounds.pd_ors.mixed import MixedFacts, MixedProgram
from dlsched.models.numbers import to_json
from dlsched.rounding import Gain

OPTIMAL = Premise("x-bar is an optimum of the relaxation", lambda facts: facts.optimal)

LEMMA: dict[str, Any] = {
    "bound": lambda facts: 1,
    "relation": Relation.AT_MOST,
    "facts": MixedFacts,
    "premises": (OPTIMAL,),
    "details": lambda facts: {
        "W_a": facts.cover_width,
        "W_b": facts.packing_width,
        "m": facts.instance.covers,
        "r": facts.instance.packings,
        "delta": to_json(facts.instance.delta),
    },
    "instances": MixedProgram,
}
"""What the claims about mixed programs have in common: a probability over what is promised is at most 1."""

PRINTED: dict[str, Any] = {"variant": Variant.PRINTED, "expectation": Expectation.FALSE}
TRUE_AS_PRINTED: dict[str, Any] = {"variant": Variant.PRINTED, "expectation": Expectation.TRUE}
CORRECTED: dict[str, Any] = {"variant": Variant.CORRECTED, "expectation": Expectation.TRUE}


@lru_cache(maxsize=8)
def _law(program: MixedProgram, gain: float) -> Law:
    """Return the law at a gain; claims about the same gain share it, and what it has computed."""
    return Law(program, gain)


def shrunk(facts: MixedFacts, variant: Gain = Gain.PRINTED) -> Law:
    """Return the law at G of Lemma 1."""
    return _law(facts.instance, facts.shrink(variant=variant))


def stretched(facts: MixedFacts, variant: Gain = Gain.PRINTED) -> Law:
    """Return the law at G of Lemma 2."""
    return _law(facts.instance, facts.stretch(variant=variant))


def packing_factor(facts: MixedFacts, law: Law, rule: Excess) -> float:
    """Return (1 + eps) G, the packing threshold over b."""
    return law.gain * (1 + excess(rule, law.gain, facts.packing_width, facts.instance.packings, facts.delta))


def cover_factor(facts: MixedFacts, law: Law) -> float:
    """Return (1 - eps) G, the cover threshold over a."""
    return law.gain * (1 - shortfall(law.gain, facts.cover_width, facts.instance.covers, facts.delta))


def each_packing(facts: MixedFacts, law: Law, factor: float = 1.0) -> float:
    """Return the greatest probability that a packing row exceeds its threshold, over delta/(3r)."""
    return float(max(law.packing_exceeds(factor))) * 3 * facts.instance.packings / facts.delta


def some_packing(facts: MixedFacts, law: Law, factor: float = 1.0) -> float:
    """Return the probability that some packing row exceeds its threshold, over delta/3."""
    return float(law.some_packing_exceeds(factor)) * 3 / facts.delta


def each_cover(facts: MixedFacts, law: Law, factor: float = 1.0) -> float:
    """Return the greatest probability that a cover row is at its threshold or below, over delta/(3m)."""
    return float(max(law.cover_falls(factor))) * 3 * facts.instance.covers / facts.delta


def some_cover(facts: MixedFacts, law: Law, factor: float = 1.0) -> float:
    """Return the probability that some cover row is at its threshold or below, over delta/3."""
    return float(law.some_cover_falls(factor)) * 3 / facts.delta


def due_to_each(facts: MixedFacts, law: Law, rule: Excess) -> float:
    """Return the greatest probability that a packing row exceeds b (1 + eps) G, over delta/(3r)."""
    return each_packing(facts, law, packing_factor(facts, law, rule))


def due_to_some(facts: MixedFacts, law: Law, rule: Excess) -> float:
    """Return the probability that some packing row exceeds b (1 + eps) G, over delta/3."""
    return some_packing(facts, law, packing_factor(facts, law, rule))
