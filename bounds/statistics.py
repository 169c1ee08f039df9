"""What samples say: of probabilities, exact confidence intervals; of averages, paired differences and their signs.

>>> from dlsched.bounds.statistics import clopper_pearson, paired
>>> clopper_pearson(3, 1000).at_most(0.05).value
'supported'
>>> paired([1.0, 2.0, 0.5, 1.5, 3.0, 0.25, 1.0, 2.5]).support.value
'supported'
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np

from dlsched.arguments import checked
from dlsched.errors import InputError

CONFIDENCE = 0.99
"""Of an interval, where no other is asked for, and of a sign test. Arbitrary: one sampled verdict in a hundred may be
wrong. A sign test needs eight draws for it."""

_REACH, _LEAST_REACH = 13, 70
"""Standard deviations from the most probable number that probabilities are added up to, and numbers beside: what is
further away has less than e**-84 together, which no sum of floats shows. The numbers are for distributions whose
deviation is below one, whose tails fall with the factorial."""


class Support(StrEnum):
    """What a sample says of a claimed bound on a probability.

    Examples
    --------
    >>> from dlsched.bounds.statistics import Support, clopper_pearson
    >>> estimate = clopper_pearson(successes=990, trials=1000)
    >>> estimate.at_least(0.95) is Support.SUPPORTED
    True
    """

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

    Examples
    --------
    >>> from dlsched.bounds.statistics import clopper_pearson
    >>> estimate = clopper_pearson(successes=0, trials=500)
    >>> print(f"at most {estimate.high:.4f} with {estimate.confidence:.0%} confidence")
    at most 0.0105 with 99% confidence
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


@checked
def clopper_pearson(successes: int, trials: int, confidence: float = CONFIDENCE) -> Estimate:
    """Return the exact two-sided confidence interval of a binomial proportion.

    With a = (1 - confidence)/2, k or more successes have the probability a at its lower end, and k or fewer at its
    upper end; they are 0 and 1 where no or every trial succeeds (Clopper and Pearson, 1934).

    Parameters
    ----------
    successes, trials : int
    confidence : float
        Between 0 and 1, both excluded.

    Raises
    ------
    InputError
        If the counts do not fit, or the confidence is out of range.

    Examples
    --------
    >>> from dlsched.bounds import clopper_pearson
    >>> estimate = clopper_pearson(successes=18, trials=1000)
    >>> print(f"{estimate.low:.4f} {estimate.high:.4f}")
    0.0090 0.0319
    >>> print(estimate.at_most(0.05), estimate.at_least(0.02))
    supported undecided
    """
    if not 0 <= successes <= trials or trials < 1:
        raise InputError(f"{successes} successes in {trials} trials")
    if not 0 < confidence < 1 or math.isnan(confidence):
        raise InputError(f"confidence {confidence} is not between 0 and 1")
    tail = (1 - confidence) / 2
    low, _ = _bisected(lambda p: _tail(trials, p, successes, trials) <= tail, 0.0, successes / trials)
    _, high = _bisected(lambda p: _tail(trials, p, 0, successes) > tail, successes / trials, 1.0)
    return Estimate(successes, trials, low, high, confidence)


def _bisected(holds: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Return the two neighbouring floats between which a predicate, true at `low` and not at `high`, ends to hold."""
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def _tail(trials: int, p: float, first: int, last: int) -> float:
    """Return the probability that so many trials have `first` to `last` successes, 0 < p < 1.

    Each probability is the one beside it times a ratio, from the most probable number outwards as far as they matter.
    """
    mode = math.floor((trials + 1) * p)
    reach = math.ceil(_REACH * math.sqrt(trials * p * (1 - p))) + _LEAST_REACH
    below, above = np.arange(mode, max(0, mode - reach), -1), np.arange(mode, min(trials, mode + reach))
    down = np.cumprod(below / (trials - below + 1) * ((1 - p) / p))
    up = np.cumprod((trials - above) / (above + 1) * (p / (1 - p)))
    parts = np.concatenate([down[::-1], [1.0], up])
    number = mode - len(below) + np.arange(len(parts))
    return float(parts[(number >= first) & (number <= last)].sum() / parts.sum())


@dataclass(frozen=True, slots=True)
class Sample:
    """Paired differences between what is claimed to be greater, or no less, and what it is compared with.

    Attributes
    ----------
    better, worse, ties : int
        Draws whose difference is above 0, below, and neither.
    mean : float
        Of the differences.
    low, high : float
        The 99 % interval of the mean by Student's t; infinite for fewer than two draws.
    p : float
        Of the two-sided sign test: how probable so few draws of the rarer sign are if both are equally probable.
    decides : bool
        Whether so many draws could decide anything: they do not where what is drawn are guesses of fixed numbers.

    Examples
    --------
    >>> from dlsched.bounds.statistics import paired
    >>> sample = paired([1.0, 2.0, 0.5, 1.5, 3.0, 0.0, 1.0, 2.5, 2.0])
    >>> sample.better, sample.ties, sample.support.value
    (8, 1, 'supported')
    """

    better: int
    worse: int
    ties: int
    mean: float
    low: float
    high: float
    p: float
    decides: bool = True

    @property
    def draws(self) -> int:
        """How many there are."""
        return self.better + self.worse + self.ties

    @property
    def support(self) -> Support:
        """What the draws say: the interval and the sign test must agree."""
        if self.p > 1 - CONFIDENCE or not self.decides:
            return Support.UNDECIDED
        if self.low > 0 and self.better > self.worse:
            return Support.SUPPORTED
        return Support.REFUTED if self.high < 0 and self.worse > self.better else Support.UNDECIDED


@checked
def paired(differences: Iterable[float], decides: bool = True) -> Sample:
    """Return what paired differences say; those that are 0 count for the mean and not for the sign test.

    Parameters
    ----------
    differences : iterable of float
    decides : bool
        As in `Sample`.

    Raises
    ------
    InputError
        If there are none.

    Examples
    --------
    >>> from dlsched.bounds.statistics import paired
    >>> sample = paired([2.0, -1.0, 3.0, 1.0])
    >>> print(f"{sample.mean} in ({sample.low:.2f}, {sample.high:.2f}), p = {sample.p}: {sample.support}")
    1.25 in (-3.74, 6.24), p = 0.625: undecided
    """
    # The quantile of scipy.stats, which takes a second to import.
    from scipy.special import stdtrit

    values = list(differences)
    if not values:
        raise InputError("no differences")
    n, mean = len(values), math.fsum(values) / len(values)
    better, worse = sum(d > 0 for d in values), sum(d < 0 for d in values)
    signs = better + worse
    tail = sum(math.comb(signs, k) for k in range(min(better, worse) + 1))
    reach = math.inf
    if n > 1:
        deviation = math.sqrt(math.fsum((d - mean) * (d - mean) for d in values) / (n - 1) / n)
        reach = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * deviation
    p = min(1.0, float(Fraction(2 * tail, 1 << signs)))
    return Sample(better, worse, n - signs, mean, mean - reach, mean + reach, p, decides)
