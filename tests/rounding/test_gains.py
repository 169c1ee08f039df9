"""Gains of PD-ORS, (29) and (30): values by hand, the equations they solve, and what they promise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlsched.models import InputError
from dlsched.rounding import gain_cover, gain_packing, violation_probability, width
from tests.longer import examples


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((2, 2, 1), 0.224034),
        ((2, 5, 0.5), 0.143718),
        ((10, 3, 0.3), 0.378525),
        ((20, 5, 0.5), 0.496637),
        ((15, 401, 0.05), 0.266591),
        ((40, 401, 0.05), 0.429764),
        ((1, 1, 0.00111223), 0.0389696),
        ((1, 100, 0.1), 0.0384902),
    ],
)
def test_packing_gains_with_three_events(arguments: tuple[float, int, float], expected: float) -> None:
    """(29) of PD-ORS, computed by hand; it solves (1-G)^2 W / (3G) = ln(3r/delta)."""
    assert gain_packing(*arguments, events=3) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((1, 1, 1), 3.943653),
        ((10, 1, 1), 1.591309),
        ((10, 1, 0.3), 1.946873),
        ((2, 2, 1), 3.506581),
        ((30, 2, 0.5), 1.498187),
        ((1000, 1, 1e-6), 1.188265),
    ],
)
def test_cover_gains(arguments: tuple[float, int, float], expected: float) -> None:
    """(30) of PD-ORS, computed by hand."""
    assert gain_cover(*arguments) == pytest.approx(expected, abs=1e-6)


@given(st.floats(0.05, 1e6), st.integers(1, 10**4), st.floats(1e-9, 1))
def test_gains_solve_their_equations(w: float, rows: int, delta: float) -> None:
    need = math.log(3 * rows / delta)
    packing, cover = gain_packing(w, rows, delta, events=3), gain_cover(w, rows, delta)
    assert 0 < packing < 1 < cover
    assert (1 - packing) ** 2 * w / (3 * packing) == pytest.approx(need, rel=1e-6)
    assert (cover - 1) ** 2 * w / (2 * cover) == pytest.approx(need, rel=1e-6)
    exact = gain_cover(w, rows, delta, "exact")
    assert 1 < exact < cover
    assert w * (exact - 1 - math.log1p(exact - 1)) == pytest.approx(need, rel=1e-6)


@given(st.floats(1e-2, 1e6), st.integers(1, 10**4), st.floats(1e-9, 0.99))
def test_three_gains_over_delta_decrease_in_delta(w: float, rows: int, delta: float) -> None:
    """For (29) since k l^2 + 2 l > k at l = ln(3r/delta) >= 1, k = 3/(2W); for (30) since G itself decreases."""
    later = delta * 1.01
    assert gain_packing(w, rows, later, events=3) / later < gain_packing(w, rows, delta, events=3) / delta
    for variant in ("printed", "exact"):
        assert gain_cover(w, rows, later, variant) / later < gain_cover(w, rows, delta, variant) / delta


def test_the_exact_packing_gain_over_delta_may_increase() -> None:
    """At W = 1/2 it falls like delta^2, so that the ratio 3G/delta grows with delta."""
    ratios = [3 * gain_packing(0.5, 1, delta, "exact", events=3) / delta for delta in (0.01, 0.1, 1)]
    assert ratios == sorted(ratios)


@pytest.mark.slow
@examples(67, 200)
@given(
    row=st.lists(st.integers(0, 3), min_size=1, max_size=6).filter(any),
    data=st.data(),
    m=st.integers(1, 4),
    delta=st.floats(1e-4, 1),
)
def test_cover_rows_fail_as_rarely_as_promised(row: list[int], data: Any, m: int, delta: float) -> None:
    """P(row fails) <= delta/(3m) for every point of the row, in exact arithmetic."""
    rhs = data.draw(st.integers(1, 12))
    x = np.array(data.draw(st.lists(st.floats(0.1, 4), min_size=len(row), max_size=len(row))))
    x = x * max(1.0, rhs / float(np.dot(row, x)))
    for variant in ("printed", "exact"):
        gain = gain_cover(width([row], [rhs]), m, delta, variant)
        fails = violation_probability(row, (gain * x).tolist(), rhs, ">=")
        assert float(fails) <= delta / (3 * m) * (1 + 1e-9)


def test_wide_rows_need_no_gain() -> None:
    assert gain_cover(math.inf, 1, 0.5) == 1
    assert gain_packing(math.inf, 1, 0.5, events=3) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gain_packing(1, 1, 1, events=0), "events: 0 must be at least 1"),
        (lambda: gain_cover(0, 1, 0.5), "width: 0 must be positive"),
        (lambda: gain_cover(1, 0, 0.5), "rows: 0 must be at least 1"),
        (lambda: gain_cover(1, 1, 2), r"delta: 2 is not in \(0, 1\]"),
        (lambda: gain_cover(1e-300, 1, 0.5), "width: 1e-300 is so small that the gain would be infinite"),
        (lambda: gain_cover(1, 1, 1, "odd"), "odd"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_gains_of_numbers_at_the_end_of_floats() -> None:
    """By hand: of a = 1.5 ln(2/delta)/W the gain is 1/(2 a) in the end."""
    assert gain_packing(1e-200, 1, 0.1) == pytest.approx(1e-200 / (3 * math.log(20)), rel=1e-12, abs=0)
    for tiny in (1e-310, 1e-320):
        a = 1.5 * (math.log(2) - math.log(tiny))
        assert gain_packing(1, 1, tiny) == pytest.approx(1 / (1 + a + math.sqrt(a * a + 2 * a)), rel=1e-12)
        assert math.isfinite(gain_cover(1, 1, tiny))
    for variant in ("printed", "exact"):
        with pytest.raises(InputError, match="width: 1e-309 is so small that the gain would be 0"):
            gain_packing(1e-309, 1, 0.1, variant)
