"""Rounding until feasible, and sampling: how often it succeeds, exactly and in samples."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from dlsched.bounds.statistics import clopper_pearson
from dlsched.errors import InputError
from dlsched.rounding import (
    gain_packing,
    joint_violation_probability,
    outcome_distribution,
    round_independent,
    round_until_feasible,
    sample_violations,
    success_probability,
    violation_probability,
)
from dlsched.rounding import retry as retry_module


@pytest.mark.parametrize(("rounds", "expected"), [(1, 0.0279), (5, 0.1317), (20, 0.4316)])
def test_true_success_probability_of_rounding_one_worker_and_one_server(rounds: int, expected: float) -> None:
    """x~ = (1, 1), W_b = 2, four rows, delta = .5: both counts stay positive with probability M^2 in a round."""
    gain = gain_packing(2, 4, 0.5)
    found = success_probability([gain, gain], lambda x: bool(x.min() >= 1), rounds)
    assert float(found) == pytest.approx(expected, abs=5e-5)
    assert float(found) == pytest.approx(1 - (1 - gain**2) ** rounds, rel=1e-9)
    assert float(found) < 1 - (0.5 / 8) ** rounds


@pytest.mark.parametrize("scaling", [1.0, 0.25, 1 / 3, math.pi])
def test_sampling_agrees_with_the_exact_probabilities(scaling: float) -> None:
    """In single precision, in double precision, and with rows that need more bits."""
    rng = np.random.default_rng(5)
    B = rng.integers(-2, 4, size=(6, 10)) * scaling
    x = rng.uniform(-1, 3, size=10)
    b = B @ np.round(x)
    draws = 40_000
    found = sample_violations(B, b, x, rng, draws, 0.9)
    again = sample_violations(B, b, x, np.random.default_rng(6), 1000, 0.9)
    assert (again.rows == sample_violations(B, b, x, np.random.default_rng(6), 1000, 0.9).rows).all()
    assert found.rows.max() <= found.joint <= draws == found.draws
    for i, count in enumerate(found.rows.tolist()):
        interval = clopper_pearson(count, draws, 0.9999)
        assert interval.low <= violation_probability(B[i], (0.9 * x).tolist(), b[i]) <= interval.high
    interval = clopper_pearson(found.joint, draws, 0.9999)
    assert interval.low <= joint_violation_probability(B, (0.9 * x).tolist(), b) <= interval.high


def test_sampling_counts_rows_that_are_met_exactly_as_kept() -> None:
    row = [[0.1, 0.2, 1e-17]]
    assert sample_violations(row, [0.3], [1, 1, 0], np.random.default_rng(0), 100).joint == 0
    assert sample_violations(row, [0.3], [1, 1, 1], np.random.default_rng(0), 100).joint == 100
    assert sample_violations(np.zeros((0, 2)), [], [0.5, 0.5], np.random.default_rng(0), 7).joint == 0


def test_what_a_solver_leaves_below_0_is_0() -> None:
    """-1e-17 is 1 - 1e-17 above -1: it goes up, but for one draw in 1e17."""
    for noise in (-1e-17, -5e-324):
        assert violation_probability([-1], [noise], 0.5) < Fraction(1, 10**16)
        assert sample_violations([[-1.0]], [0.5], [noise], np.random.default_rng(0), 1000).joint == 0
        assert not round_independent([noise], np.random.default_rng(0), draws=1000).any()


@pytest.mark.parametrize(
    ("B", "b", "says"),
    [
        ([[1.0, math.nan]], [1.0], "B: entry (0, 1) is nan, which is no finite number"),
        ([[1.0, -math.inf]], [1.0], "B: entry (0, 1) is -inf, which is no finite number"),
        ([[1.0, 1.0]], [math.inf], "b: entry 0 is inf, which is no finite number"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_rows_without_numbers(B: list[list[float]], b: list[float], says: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(says)}$"):
        sample_violations(B, b, [0.5, 0.5], 0, 10)


@pytest.mark.filterwarnings("error")
def test_rows_of_numbers_beyond_int64() -> None:
    found = sample_violations([[1e30, 1.0]], [1e30], [0.5, 0.5], np.random.default_rng(0), 40_000)
    interval = clopper_pearson(found.joint, found.draws, 0.9999)
    assert interval.low <= Fraction(1, 4) <= interval.high


def test_outcomes_that_no_array_holds() -> None:
    with pytest.raises(InputError, match=r"^x\[1\]: 1e\+30 must be at most 2\^62 in size$"):
        outcome_distribution([0.5, 1e30])


def test_the_byte_that_decides_meets_the_probability() -> None:
    """Probabilities between two bytes: 1/1024 and 1 - 1/1024 are neither 0 nor 1, nor a multiple of 1/256."""
    draws = 400_000
    for up in (1 / 1024, 0.3, 1 - 1 / 1024):
        found = sample_violations([[1.0]], [0.5], [up], np.random.default_rng(3), draws)
        interval = clopper_pearson(found.joint, draws, 0.9999)
        assert interval.low <= up <= interval.high


def test_the_corrected_algorithm_keeps_the_cheapest_feasible_round() -> None:
    result = round_until_feasible(
        [2.5, 2.5],
        lambda x: bool(x.sum() <= 5),
        np.random.default_rng(0),
        rounds=60,
        cost=lambda x: -float(x.sum()),
    )
    assert result.x is not None
    assert result.x.sum() == 5
    assert 0 < result.feasible < result.rounds == 60
    nothing = round_until_feasible([2.5], lambda x: False, np.random.default_rng(0), rounds=4)
    assert (nothing.x, nothing.rounds, nothing.feasible) == (None, 4, 0)


def test_the_printed_algorithm_makes_f_more_rounds_and_may_never_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Literally "infeasible or cnt < F": it stops at the first feasible round after F others."""
    result = round_until_feasible([2.0], lambda x: True, np.random.default_rng(0), rounds=5, variant="printed")
    assert (result.rounds, result.feasible) == (6, 6)
    monkeypatch.setattr(retry_module, "MAX_ROUNDS", 50)
    nothing = round_until_feasible([2.0], lambda x: False, np.random.default_rng(0), rounds=5, variant="printed")
    assert (nothing.x, nothing.rounds) == (None, 50)
