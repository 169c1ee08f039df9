"""Exact confidence intervals for the claims about probabilities that can only be sampled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from scipy.stats import beta

CONFIDENCE = 0.99


class Support(Enum):
    """What a sample says of a claimed bound on a probability."""

    SUPPORTED = "supported"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A sampled probability with its Clopper-Pearson interval.

    Attributes
    ----------
    successes, trials : int
    low, high : float
        The probability lies between them in at least `confidence` of all samples.
    confidence : float
    """

    successes: int
    trials: int
    low: float
    high: float
    confidence: float

    def at_least(self, probability: float) -> Support:
        """Tell whether the claim "the probability is at least this" is supported."""
        if self.low >= probability:
            return Support.SUPPORTED
        return Support.REFUTED if self.high < probability else Support.UNDECIDED

    def at_most(self, probability: float) -> Support:
        """Tell whether the claim "the probability is at most this" is supported."""
        if self.high <= probability:
            return Support.SUPPORTED
        return Support.REFUTED if self.low > probability else Support.UNDECIDED


def clopper_pearson(successes: int, trials: int, confidence: float = CONFIDENCE) -> Estimate:
    """Return the exact two-sided confidence interval of a binomial proportion.

    With a = (1 - confidence)/2 its ends are BetaInv(a; k, n-k+1) and BetaInv(1-a; k+1, n-k), and 0 and 1 where no or
    every trial succeeds (Clopper and Pearson, 1934).

    Parameters
    ----------
    successes, trials : int
    confidence : float
        Between 0 and 1, both excluded.

    Raises
    ------
    ValueError
        If the counts do not fit, or the confidence is out of range.
    """
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"{successes} successes in {trials} trials")
    if not 0 < confidence < 1 or math.isnan(confidence):
        raise ValueError(f"confidence {confidence} is not between 0 and 1")
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, successes, trials - successes + 1)) if successes else 0.0
    high = float(beta.isf(tail, successes + 1, trials - successes)) if successes < trials else 1.0
    return Estimate(successes, trials, low, high, confidence)
