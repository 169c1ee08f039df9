"""Intervals and sign tests against closed forms, published values and the definition by binomial tails."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from scipy.stats import beta, binomtest, ttest_1samp

from dlsched.bounds import clopper_pearson
from dlsched.bounds.statistics import Support, paired


@pytest.mark.parametrize("trials", [1, 5, 100, 10_000])
def test_closed_forms_at_the_ends(trials: int) -> None:
    none, all_ = clopper_pearson(0, trials), clopper_pearson(trials, trials)
    assert none.low == 0
    assert none.high == pytest.approx(1 - 0.005 ** (1 / trials), rel=1e-10)
    assert all_.high == 1
    assert all_.low == pytest.approx(0.005 ** (1 / trials), rel=1e-10)


def test_published_value() -> None:
    # Four successes of twenty, 95 %: the textbook interval (0.0573, 0.4366).
    estimate = clopper_pearson(4, 20, 0.95)
    assert (round(estimate.low, 4), round(estimate.high, 4)) == (0.0573, 0.4366)


@pytest.mark.parametrize(("k", "n"), [(1, 10), (3, 7), (50, 100), (199, 200)])
def test_lower_end_is_the_inverse_beta_and_its_tail_is_half_a_percent(k: int, n: int) -> None:
    estimate = clopper_pearson(k, n)
    assert estimate.low == pytest.approx(float(beta.ppf(0.005, k, n - k + 1)), abs=1e-12)
    upper = sum(math.comb(n, i) * estimate.low**i * (1 - estimate.low) ** (n - i) for i in range(k, n + 1))
    lower = sum(math.comb(n, i) * estimate.high**i * (1 - estimate.high) ** (n - i) for i in range(k + 1))
    assert upper == pytest.approx(0.005, rel=1e-6)
    assert lower == pytest.approx(0.005, rel=1e-6)


def test_support() -> None:
    estimate = clopper_pearson(90, 100)
    assert estimate.at_least(0.7) is Support.SUPPORTED
    assert estimate.at_least(0.9) is Support.UNDECIDED
    assert estimate.at_least(0.99) is Support.REFUTED
    assert estimate.at_most(0.99) is Support.SUPPORTED
    assert estimate.at_most(0.9) is Support.UNDECIDED
    assert estimate.at_most(0.7) is Support.REFUTED


@pytest.mark.parametrize(("k", "n", "confidence"), [(-1, 5, 0.9), (6, 5, 0.9), (0, 0, 0.9), (1, 2, 1.0), (1, 2, 0.0)])
def test_refusals(k: int, n: int, confidence: float) -> None:
    with pytest.raises(ValueError, match=r"successes|confidence"):
        clopper_pearson(k, n, confidence)


@pytest.mark.parametrize(
    "differences", [[1.0, 2.0, 4.0, -0.5, 3.0], [-1.0] * 7 + [2.0], [0.0, 0.0, 1.0, 5.0], [float(k) for k in range(40)]]
)
def test_paired_differences_are_those_of_the_textbook_tests(differences: list[float]) -> None:
    sample = paired(differences)
    interval = ttest_1samp(differences, 0).confidence_interval(0.99)
    assert (sample.low, sample.high) == pytest.approx((interval.low, interval.high))
    signs = sample.better + sample.worse
    assert sample.p == pytest.approx(binomtest(sample.better, signs).pvalue, rel=1e-6, abs=0)
    assert sample.draws == len(differences)


def test_a_sign_test_needs_eight_draws() -> None:
    assert paired([1.0 + k / 10 for k in range(7)]).support is Support.UNDECIDED
    assert paired([1.0 + k / 10 for k in range(8)]).support is Support.SUPPORTED
    assert paired([-1.0 - k / 10 for k in range(8)]).support is Support.REFUTED


def test_signs_alone_do_not_decide_about_an_average() -> None:
    assert paired([1.0] * 19 + [-1000.0]).support is Support.UNDECIDED


@pytest.mark.parametrize("sign", [1, -1])
def test_guesses_decide_nothing_however_many(sign: int) -> None:
    sample = paired([sign * (1.0 + k / 10) for k in range(100)], decides=False)
    assert sample.support is Support.UNDECIDED
    assert sample == replace(paired([sign * (1.0 + k / 10) for k in range(100)]), decides=False)


def test_no_differences_are_refused() -> None:
    with pytest.raises(ValueError, match="no differences"):
        paired([])
