"""What the claims about mixed programs measure: exact probabilities over what the lemmas promise."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from dlsched.bounds.claim import Premise, Subject
from dlsched.bounds.pd_ors.law import Excess, Law, excess, shortfall
from dlsched.bounds.pd_ors.mixed import MixedFacts, MixedProgram
from dlsched.models.numbers import to_json
from dlsched.rounding import Gain


class Rounded:
    """The rounding of G x-bar: probabilities over delta, delta/3, or delta/3 over the number of the rows.

    Parameters
    ----------
    facts : MixedFacts
    gain : float
        G.
    """

    def __init__(self, facts: MixedFacts, gain: float) -> None:
        self.facts, self.gain = facts, gain
        self.law = Law(facts.instance, gain)

    @property
    def dearer(self) -> float:
        """The probability that the cost exceeds 3 G/delta times that of x-bar, over delta."""
        return float(self.law.dearer()) / self.facts.delta

    @property
    def dearer_third(self) -> float:
        """The same over delta/3."""
        return float(self.law.dearer()) * 3 / self.facts.delta

    @property
    def feasible_share(self) -> float:
        """The probability that all rows are kept, over G."""
        return float(self.law.feasible()) / self.gain

    def each_packing(self, factor: float = 1.0) -> float:
        """Return the greatest probability that a packing row exceeds `factor` b_i, over delta/(3r)."""
        return float(max(self.law.packing_exceeds(factor))) * 3 * self.facts.instance.packings / self.facts.delta

    def some_packing(self, factor: float = 1.0) -> float:
        """Return the probability that some packing row exceeds `factor` b_i, over delta/3."""
        return float(self.law.some_packing_exceeds(factor)) * 3 / self.facts.delta

    def each_excess(self, rule: Excess) -> float:
        """Return the greatest probability that a packing row exceeds b_i (1 + eps) G, over delta/(3r)."""
        return self.each_packing(self._packing_factor(rule))

    def some_excess(self, rule: Excess) -> float:
        """Return the probability that some packing row exceeds b_i (1 + eps) G, over delta/3."""
        return self.some_packing(self._packing_factor(rule))

    def each_cover(self, factor: float = 1.0) -> float:
        """Return the greatest probability that a cover row is at `factor` a_i or below, over delta/(3m)."""
        return float(max(self.law.cover_falls(factor))) * 3 * self.facts.instance.covers / self.facts.delta

    def each_shortfall(self) -> float:
        """Return the greatest probability that a cover row is at a_i (1 - eps) G or below, over delta/(3m)."""
        return self.each_cover(self._cover_factor())

    def some_shortfall(self) -> float:
        """Return the probability that some cover row is at a_i (1 - eps) G or below, over delta/3."""
        return float(self.law.some_cover_falls(self._cover_factor())) * 3 / self.facts.delta

    def _packing_factor(self, rule: Excess) -> float:
        facts, gain = self.facts, self.law.gain
        return gain * (1 + excess(rule, gain, facts.packing_width, facts.instance.packings, facts.delta))

    def _cover_factor(self) -> float:
        facts, gain = self.facts, self.law.gain
        return gain * (1 - shortfall(gain, facts.cover_width, facts.instance.covers, facts.delta))


class LemmaFacts(MixedFacts):
    """What is known of a mixed program, its roundings at the gains of both lemmas among it."""

    @cached_property
    def shrunk(self) -> Rounded:
        """The rounding at G of Lemma 1."""
        return Rounded(self, self.shrink())

    @cached_property
    def shrunk_exactly(self) -> Rounded:
        """The rounding at the G with which Lemma 1 holds, from the Chernoff bound itself."""
        return Rounded(self, self.shrink(variant=Gain.EXACT))

    @cached_property
    def stretched(self) -> Rounded:
        """The rounding at G of Lemma 2."""
        return Rounded(self, self.stretch())

    @cached_property
    def stretched_exactly(self) -> Rounded:
        """The rounding at the least G with which Lemma 2 holds, from the Chernoff bound itself."""
        return Rounded(self, self.stretch(variant=Gain.EXACT))

    @property
    def ratio(self) -> float:
        """3 G/delta with G of Lemma 1."""
        return 3 * self.shrink() / self.delta


def _widths(facts: LemmaFacts) -> dict[str, Any]:
    return {
        "W_a": facts.cover_width,
        "W_b": facts.packing_width,
        "m": facts.instance.covers,
        "r": facts.instance.packings,
        "delta": to_json(facts.instance.delta),
    }


OPTIMAL = Premise[LemmaFacts](
    "x-bar is an optimum of the relaxation", lambda facts: facts.optimal, source="Section 4.4; thesis, Section 3.2.4"
)

INTEGRAL = Premise[LemmaFacts](
    "the program has an integral point", lambda facts: facts.integral, source="Section 4.4: an integer program"
)

PROGRAMS = Subject(problem="dmlrs", instance=MixedProgram, facts=LemmaFacts, premises=(OPTIMAL,), details=_widths)
"""What claims about mixed programs are about: a probability over what is promised is at most 1."""
