"""Randomized rounding: the law, exact violation probabilities, gains, sampling, and rounding until feasible."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dlsched.models import InputError
from dlsched.rounding import (
    gain_packing,
    joint_violation_probability,
    outcome_distribution,
    round_independent,
    round_shifted,
    round_until_feasible,
    sample_violations,
    violation_probability,
    width,
)
from tests.longer import examples

points = st.lists(st.fractions(-3, 5, max_denominator=12), min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((2, 1, 0.5), 0.2619522755),
        ((2, 4, 0.5), 0.1668893604),
        ((10, 4, 0.5), 0.4135212590),
        ((20, 2, 0.4), 0.5601492380),
        ((100, 4, 0.1), 0.6972452784),
        ((5, 2, 1), 0.4135212590),
        ((6, 1, 0.5), 0.444764),
        ((1, 1, 1e-4), 0.0315668),
    ],
)
def test_printed_gains(arguments: tuple[float, int, float], expected: float) -> None:
    """Computed by hand from Lemma 3's formula; it solves (1-M)^2 W / (3M) = ln(2r/delta)."""
    gain = gain_packing(*arguments)
    assert gain == pytest.approx(expected, abs=1e-6)
    w, r, delta = arguments
    assert (1 - gain) ** 2 * w / (3 * gain) == pytest.approx(math.log(2 * r / delta), rel=1e-9)


@given(st.floats(0.05, 1e6), st.integers(1, 10**4), st.floats(1e-9, 1))
def test_exact_gains_solve_the_chernoff_equation(w: float, r: int, delta: float) -> None:
    gain = gain_packing(w, r, delta, "exact")
    assert 0 < gain <= 1
    assert w * (-math.log(gain) - 1 + gain) == pytest.approx(math.log(2 * r / delta), rel=1e-6)
    assert 0 < gain_packing(w, r, delta) < 1


@given(st.floats(0.1, 1e4), st.integers(1, 50), st.floats(1e-6, 0.9))
def test_gains_grow_with_delta(w: float, r: int, delta: float) -> None:
    for variant in ("printed", "exact"):
        assert gain_packing(w, r, delta * 1.1, variant) > gain_packing(w, r, delta, variant)


def test_the_printed_gain_of_narrow_rows_keeps_its_digits() -> None:
    """1 + a - sqrt(a^2 + 2a) is about 1/(2a): subtracting would leave no digit at a = 1e9."""
    gain = gain_packing(1e-9, 1, 2 * math.exp(-1))
    assert gain == pytest.approx(1 / (2 * (1.5e9 + 1)), rel=1e-9, abs=0)


def test_width() -> None:
    assert width([[1, 0], [2, 4]], [3, 6]) == 1.5
    assert width([[0, 0]], [3]) == math.inf
    assert width([[1, 0], [2, 4]], [3, math.inf]) == 3
    assert gain_packing(math.inf, 1, 0.5) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gain_packing(0, 1, 0.5), "width: 0 must be positive"),
        (lambda: gain_packing(math.nan, 1, 0.5), "width: nan is not a number"),
        (lambda: gain_packing(1, 0, 0.5), "rows: 0 must be at least 1"),
        (lambda: gain_packing(1, 1, 0), r"delta: 0 is not in \(0, 1\]"),
        (lambda: gain_packing(1, 1, 1.5), r"delta: 1.5 is not in \(0, 1\]"),
        (lambda: gain_packing(1, 1, 1, "odd"), "odd"),
        (lambda: gain_packing(1e-4, 1, 0.5, "exact"), "width: 0.0001 is so small that the gain would be 0"),
        (lambda: width([[-1]], [1]), "B: -1.0 is negative"),
        (lambda: width([[1], [1]], [1, -1]), "^b: -1.0 is negative; packing rows have no negative sides$"),
        (lambda: width([[math.inf]], [math.inf]), r"^B: entry \(0, 0\) is inf, which is no finite number$"),
        (lambda: width([[1]], [math.nan]), "^b: nan is not a number$"),
        (lambda: width([[1, 2]], [1, 2]), "B: has shape"),
        (lambda: round_independent([math.nan], np.random.default_rng(0)), r"x\[0\]: nan after the gain must be finite"),
        (lambda: round_independent([1, 1e300], np.random.default_rng(0)), r"x\[1\]: 1e\+300 after the gain"),
        (lambda: round_independent([1], np.random.default_rng(0), gain=0), "gain: 0 must be positive"),
        (lambda: round_independent([1], np.random.default_rng(0), draws=-1), "draws: -1 must not be negative"),
        (lambda: round_independent([[1]], np.random.default_rng(0)), "x: has 2 dimensions; it must be a vector"),
        (lambda: round_shifted([1, 0.5], np.random.default_rng(0)), r"x\[1\]: 0.5 is below its bound 1"),
        (lambda: round_shifted([1, 0.99999], np.random.default_rng(0)), r"x\[1\]: 0.99999 is below its bound 1"),
        (lambda: round_shifted([1], np.random.default_rng(0), lower=0.5), "lower: 0.5 must be an integer"),
        (
            lambda: round_shifted([2.5], 1, lower=-math.inf),
            "^lower: -inf must be an integer, and at most 2.52 in size$",
        ),
        (lambda: round_shifted([2.5, 2], 1, lower=[1, math.nan]), "^lower: nan must be an integer"),
        (lambda: round_shifted([2.5], 1, lower=-1e300), "^lower: -1e.300 must be an integer"),
        (lambda: round_shifted([1, 2, 3], np.random.default_rng(0), lower=[1, 2]), r"lower: has shape \(2,\)"),
        (lambda: round_shifted([[0.5]], np.random.default_rng(0)), "x: has 2 dimensions; it must be a vector"),
        (lambda: outcome_distribution([0.5] * 40), r"40 fractional coordinates have 2\^40 outcomes; at most"),
        (lambda: outcome_distribution([math.inf]), r"x\[0\]: must be a finite number"),
        (lambda: violation_probability([1], [0.5], 1, "="), "sense: '=' is neither '<=' nor '>='"),
        (lambda: violation_probability([1, 2], [0.5], 1), "row 0: has 2 entries, x has 1"),
        (lambda: violation_probability([math.nan], [0.5], 1), r"row 0\[0\]: must be a finite number"),
        (lambda: joint_violation_probability([[1]], [0.5], [1, 2]), "B: has 1 rows and b 2 entries"),
        (lambda: sample_violations([[1, 2]], [1], [0.5], np.random.default_rng(0), 1), "B: has shape"),
        (lambda: sample_violations([[1]], [1], [0.5], np.random.default_rng(0), -1), "draws: -1 must not be negative"),
        (lambda: round_until_feasible([1], bool, np.random.default_rng(0), rounds=0), "rounds: 0 must be at least 1"),
        (
            lambda: round_until_feasible([1], bool, np.random.default_rng(0), rounds=1, variant="odd"),
            "variant: 'odd' is neither",
        ),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_the_law_of_a_point() -> None:
    """x~ = (3.5, 2.25) and M = .8, by hand: x' = (2.8, 1.8)."""
    law = outcome_distribution([Fraction(4, 5) * Fraction(7, 2), Fraction(4, 5) * Fraction(9, 4)])
    found = {tuple(point): p for point, p in zip(law.points.tolist(), law.probabilities, strict=True)}
    assert found == {
        (3, 2): Fraction(64, 100),
        (3, 1): Fraction(16, 100),
        (2, 2): Fraction(16, 100),
        (2, 1): Fraction(4, 100),
    }


@pytest.mark.slow
@given(points)
def test_the_law_is_one_of_independent_coordinates_with_the_point_as_mean(x: list[Fraction]) -> None:
    law = outcome_distribution(x)
    assert sum(law.probabilities) == 1
    assert all(p > 0 for p in law.probabilities)
    assert len({tuple(point) for point in law.points.tolist()}) == len(law.points)
    for j, value in enumerate(x):
        mean = sum(p * point[j] for p, point in zip(law.probabilities, law.points.tolist(), strict=True))
        assert mean == value
        assert {point[j] for point in law.points.tolist()} <= {math.floor(value), math.ceil(value)}


def by_hand(B: list[list[Any]], x: list[Any], b: list[Any], sense: str) -> Fraction:
    """Return P(some row breaks), by trying every combination of ups and downs."""
    total = Fraction(0)
    for ups in itertools.product((0, 1), repeat=len(x)):
        p = Fraction(1)
        point = []
        for up, value in zip(ups, x, strict=True):
            fraction = value - math.floor(value)
            p *= fraction if up else 1 - fraction
            point.append(math.floor(value) + up)
        sums = [sum(a * v for a, v in zip(row, point, strict=True)) for row in B]
        pairs = list(zip(sums, b, strict=True))
        total += p * any(s > r if sense == "<=" else s < r for s, r in pairs)
    return total


@pytest.mark.slow
@examples(40, 150)
@given(data=st.data(), x=points, rows=st.integers(1, 3), sense=st.sampled_from(["<=", ">="]))
def test_enumeration_convolution_and_brute_force_agree(data: Any, x: list[Fraction], rows: int, sense: str) -> None:
    entry = st.fractions(-3, 3, max_denominator=4)
    B = [data.draw(st.lists(entry, min_size=len(x), max_size=len(x))) for _ in range(rows)]
    b = data.draw(st.lists(entry, min_size=rows, max_size=rows))
    expected = by_hand(B, x, b, sense)
    for method in ("enumeration", "convolution"):
        assert joint_violation_probability(B, x, b, sense, method) == expected
    assert violation_probability(B[0], x, b[0], sense) == by_hand(B[:1], x, b[:1], sense)


def test_a_row_that_is_met_exactly_is_not_broken() -> None:
    """0.1 + 0.2 = 0.3 in rationals, though not in doubles."""
    assert violation_probability([0.1, 0.2], [1, 0.5], 0.3) == 0
    assert violation_probability([0.1, 0.2], [1, 0.5], 0.29) == Fraction(1, 2)
    assert violation_probability([1, 1], [0.5, 0.5], 1) == Fraction(1, 4)


def test_hundreds_of_variables_are_exact() -> None:
    """A sum of 300 fair coins exceeds 160 with the binomial's probability."""
    expected = Fraction(sum(math.comb(300, k) for k in range(161, 301)), 2**300)
    assert violation_probability([1] * 300, [0.5] * 300, 160) == expected


def test_a_row_of_dozens_of_different_coefficients_is_exact() -> None:
    """All 2^30 sums differ. Their law is symmetric, and half of an odd total is no sum; one more coin moves it."""
    row = [3**k for k in range(29)] + [2 * 3**29]
    assert violation_probability(row, [0.5] * 30, Fraction(sum(row), 2)) == Fraction(1, 2)
    assert violation_probability([*row, sum(row)], [*[0.5] * 30, 0.25], Fraction(sum(row), 2)) == Fraction(5, 8)


def test_rows_without_a_common_variable_are_independent() -> None:
    """Fifty machines with two workers and two servers each: each has room for all but one outcome of sixteen."""
    rows = [[0] * 4 * h + [1, 1, 2, 2] + [0] * 4 * (49 - h) for h in range(50)]
    assert joint_violation_probability(rows, [0.5] * 200, [5] * 50) == 1 - Fraction(15, 16) ** 50


def test_rows_with_too_many_sums_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from dlsched.rounding import convolution

    monkeypatch.setattr(convolution, "MAX_SUMS", 100)
    row = np.random.default_rng(0).integers(10**6, 2 * 10**6, size=20).tolist()
    with pytest.raises(InputError, match="more than 100 distinct partial sums: sample instead"):
        violation_probability(row, [Fraction(1, 3)] * 20, sum(row) // 2)


@pytest.mark.slow
@given(points, st.integers(0, 2**32))
def test_rounding_draws_from_the_law(x: list[Fraction], seed: int) -> None:
    drawn = round_independent([float(v) for v in x], np.random.default_rng(seed), draws=20)
    law = {tuple(point) for point in outcome_distribution([float(v) for v in x]).points.tolist()}
    assert drawn.shape == (20, len(x))
    assert {tuple(point) for point in drawn.tolist()} <= law
    assert (drawn == round_independent([float(v) for v in x], np.random.default_rng(seed), draws=20)).all()


def test_integers_stay_what_they_are() -> None:
    assert (round_independent([2.0, -1.0, 0.0], np.random.default_rng(0), draws=50) == [2, -1, 0]).all()
    assert round_independent([], np.random.default_rng(0), draws=3).shape == (3, 0)


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.lists(st.floats(1, 30), min_size=2, max_size=2),
    st.floats(0.02, 1) | st.floats(1, 12),
    st.lists(st.floats(0, 20), min_size=5, max_size=5),
)
@example([3.0, 1.0], 10.0, [0.0, 0.0, 0.0, 1.0, 0.0])
def test_shifted_rounding_costs_at_most_a_factor_of_the_gain(x: list[float], gain: float, theta: list[float]) -> None:
    """Every outcome of rounding 1 + M(x - 1): at least 1, and tau of (9) and of (10) at most 4/M times tau at x.

    For M above 1: 2 (M + 1) times. X < 2 + M(x - 1) is at most 2 max(1, M) x where x >= 1, and X >= max(1, M(x - 1)) at
    least x / (1 + 1/M), whichever side of 1 + 1/M x is on; the factors multiply, and 2 (1 + 1/M) is at most 4/M for M
    up to 1. At M = 10, (3, 1) is always (21, 1), and w/p 7 times as large.
    """
    factor = 4 / gain if gain <= 1 else 2 * (gain + 1)

    def sync(w: float, p: float) -> float:
        return theta[0] * w + theta[1] * p + theta[2] + theta[3] * w / p + theta[4] / w

    def delayed(w: float, p: float) -> float:
        return theta[0] + (theta[1] * p + theta[2]) / w + theta[3] / p

    law = outcome_distribution([gain * (v - 1) for v in x])
    for w, p in (1 + law.points).tolist():
        assert min(w, p) >= 1
        for time in (sync, delayed):
            assert time(w, p) <= factor * time(*x) * (1 + 1e-9) + 1e-9
    drawn = round_shifted(x, np.random.default_rng(0), gain, draws=30)
    assert {tuple(point) for point in drawn.tolist()} <= {tuple(point) for point in (1 + law.points).tolist()}


def test_what_a_solver_returns_for_a_bound_is_rounded_to_it() -> None:
    """1 - 1e-10, the 1 of a linear program, was refused."""
    lower = [1, 0, -3, 10**9]
    x = np.array(lower) * (1 - 1e-10 * np.array([1, 1, -1, 1])) - 1e-10
    assert (round_shifted(x, 7, 0.6, lower=lower, draws=100) == lower).all()
    assert round_shifted([1 - 1e-10, 1.5], 7, draws=1000).min(axis=0).tolist() == [1, 1]


@pytest.mark.slow
@examples(67, 200)
@given(
    row=st.lists(st.integers(0, 3), min_size=1, max_size=6).filter(any),
    data=st.data(),
    r=st.integers(1, 4),
    delta=st.floats(1e-4, 1),
)
def test_rows_break_as_rarely_as_the_exact_gain_promises(row: list[int], data: Any, r: int, delta: float) -> None:
    """P(row broken) <= delta/(2r) for every point of the row, in exact arithmetic."""
    rhs = data.draw(st.integers(max(row), 12))
    x = np.array(data.draw(st.lists(st.floats(0, 4), min_size=len(row), max_size=len(row))))
    use = float(np.dot(row, x))
    x = x * min(1.0, rhs / use) if use > 0 else x
    gain = gain_packing(width([row], [rhs]), r, delta, "exact")
    broken = violation_probability(row, (gain * x).tolist(), rhs)
    assert float(broken) <= delta / (2 * r) * (1 + 1e-9)


def test_the_printed_gain_breaks_its_promise_below_one_half() -> None:
    """x~ = (1/2, 1/2) in w + p <= 1: both go up with probability M^2/4 = 2.491e-4 > delta/2 = 5e-5."""
    gain = gain_packing(1, 1, 1e-4)
    broken = float(violation_probability([1, 1], [gain / 2, gain / 2], 1))
    assert broken == pytest.approx(2.491e-4, rel=1e-3)
    assert broken == pytest.approx(gain**2 / 4)
    assert broken > 1e-4 / 2
    exact = gain_packing(1, 1, 1e-4, "exact")
    assert float(violation_probability([1, 1], [exact / 2, exact / 2], 1)) <= 1e-4 / 2


def test_some_row_of_many_breaks_more_often_than_printed() -> None:
    """100 disjoint copies at delta = .5: P(some row) = 1 - (1 - M^2/4)^100 = .06105 > delta/(2r) = .0025."""
    gain = gain_packing(1, 100, 0.5)
    once = float(violation_probability([1, 1], [gain / 2, gain / 2], 1))
    assert gain == pytest.approx(0.0501902, abs=1e-6)
    assert 1 - (1 - once) ** 100 == pytest.approx(0.06105, abs=1e-5)
    three = [[1 if j // 2 == i else 0 for j in range(6)] for i in range(3)]
    joint = joint_violation_probability(three, [gain / 2] * 6, [1] * 3)
    assert float(joint) == pytest.approx(1 - (1 - once) ** 3, rel=1e-9)
