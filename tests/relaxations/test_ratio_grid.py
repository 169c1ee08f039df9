"""The grid of Algorithm 1 counted in exact rationals, the polygon against all pairs of lines, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlsched.models import InputError
from dlsched.models.ratio import FractionalSum, Polytope, Ratio
from dlsched.relaxations import LinearProgram, Planar, TransformationRefused, planar, sum_of_ratios
from dlsched.relaxations.planar import vertices
from dlsched.relaxations.ratio_grid import Grid, steps
from tests.oracles.sum_of_ratios import corners

INF = np.inf
halves = st.integers(-8, 12).map(lambda n: Fraction(n, 2))
positives = st.fractions(Fraction(1, 20), 20, max_denominator=20)


def ratio(above: list[float], below: list[float]) -> Ratio:
    """A ratio from coefficients, the constant last."""
    return Ratio(np.array(above[:-1], dtype=float), above[-1], np.array(below[:-1], dtype=float), below[-1])


def region(lower: list[float], upper: list[float], *rows: list[float]) -> Polytope:
    """A box with rows (low, coefficients, high)."""
    table = np.array(rows, dtype=float).reshape(-1, len(lower) + 2)
    return Polytope(
        table[:, 1:-1], table[:, 0], table[:, -1], np.array(lower, dtype=float), np.array(upper, dtype=float)
    )


W, P, ONE = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]
SQUARE = region([1, 1], [4, 4])


@pytest.mark.slow
@given(positives, positives, st.sampled_from(["1/2", "1/10", "1/100", "1/3"]), st.integers(0, 40), st.booleans())
def test_steps_are_counted_exactly(low: Fraction, factor: Fraction, eps: str, power: int, at_a_step: bool) -> None:
    """Also where phi is a step itself, which a rounded logarithm puts on either side."""
    epsilon = Fraction(eps)
    upper = low * (1 + epsilon) ** power if at_a_step else low * (1 + factor)
    exact = [low]
    while (following := exact[-1] * (1 + epsilon)) <= upper:
        exact.append(following)
    printed = steps(float(low), float(upper), float(epsilon), Grid.PRINTED)
    assert printed == pytest.approx([float(value) for value in exact], rel=1e-12)
    assert printed.max() <= float(upper)
    corrected = steps(float(low), float(upper), float(epsilon), Grid.CORRECTED)
    assert len(corrected) == len(exact) + (exact[-1] != upper)
    assert corrected[-1] == pytest.approx(float(upper), rel=1e-15)


@pytest.mark.slow
@given(st.lists(st.tuples(halves, halves, halves), max_size=4), halves, halves, st.integers(0, 8), st.integers(0, 8))
def test_polygon_is_exact(rows: list[Any], left: Fraction, low: Fraction, width: int, height: int) -> None:
    right, high = left + Fraction(width, 2), low + Fraction(height, 2)
    one, none = Fraction(1), Fraction(0)
    box = [(one, none, right), (-one, none, -left), (none, one, high), (none, -one, -low)]
    polytope = region([left, low], [right, high], *([-INF, *row] for row in rows))
    if any(not a and not b and c < 0 for a, b, c in rows) or not (expected := set(corners([*rows, *box]))):
        with pytest.raises(TransformationRefused, match="empty"):
            vertices(polytope)
        return
    found = vertices(polytope)
    assert {tuple(corner) for corner in found.tolist()} == {(float(x), float(y)) for x, y in expected}
    assert len(found) == len(expected)
    turns = found - np.roll(found, 1, axis=0)
    after = np.roll(turns, -1, axis=0)
    assert (turns[:, 0] * after[:, 1] - turns[:, 1] * after[:, 0] >= -1e-9).all()


def test_rounding_alone_makes_nothing_empty() -> None:
    """0.1 + 0.2 > 0.3 in floats, yet (1, 1) uses just the limit; so does a row written with an inexact sum."""
    problem = FractionalSum((ratio(W, ONE), ratio(ONE, P)), region([1, 1], [INF, INF], [-INF, 0.1, 0.2, 0.3]))
    for oracle in (Planar, LinearProgram):
        assert sum_of_ratios(problem, epsilon=0.1, oracle=oracle).x == pytest.approx([1, 1], abs=1e-9)
    third = region([1 / 3, 0.1], [1 / 3, 0.1], [1 / 3 + 0.1 + 1e-16, 1, 1, 1 / 3 + 0.1 + 1e-16])
    assert vertices(third) == pytest.approx(np.array([[1 / 3, 0.1]]), abs=1e-9)


@pytest.mark.parametrize("oracle", [Planar, LinearProgram])
@pytest.mark.parametrize(
    ("terms", "polytope", "message"),
    [
        pytest.param([(W, P)], region([1, 1], [4, INF]), "unbounded: nothing bounds variable number 1", id="no-bound"),
        pytest.param([(W, P)], region([1, 1], [INF, INF], [-1, 1, -1, 1]), "unbounded", id="unbounded-strip"),
        pytest.param([(W, P)], region([1, 1], [4, 4], [-INF, 1, 1, 1]), "empty", id="empty"),
        pytest.param([(W, P)], region([1, 5], [4, 4]), "empty", id="crossed-bounds"),
        pytest.param([(W, P)], region([1, 1], [4, 4], [-INF, 0, 0, -1]), "empty", id="row-without-variables"),
        pytest.param([(W, P)], region([0, 0], [4, 4]), "denominator of ratio 0 is 0 somewhere", id="zero-denominator"),
        pytest.param([(ONE, W), (W, [0, 1, -2])], SQUARE, "denominator of ratio 1 is -1", id="sign-change"),
        pytest.param([([0, 0, 0], [0, 0, 0])], SQUARE, "denominator of ratio 0 is 0", id="0/0"),
        pytest.param([(ONE, W), ([1, 0, -2], P)], SQUARE, "ratio 1 is negative, -1", id="negative"),
        pytest.param([([1, 0, -1], P), ([0, 1, -1], W)], SQUARE, "ratio 1 is 0 somewhere", id="two-zeros"),
    ],
)
def test_what_is_refused(terms: list[Any], polytope: Polytope, message: str, oracle: Any) -> None:
    with pytest.raises(TransformationRefused, match=message):
        sum_of_ratios(FractionalSum(tuple(ratio(*term) for term in terms), polytope), epsilon=0.1, oracle=oracle)


@pytest.mark.parametrize("oracle", [Planar, LinearProgram])
def test_one_ratio_that_reaches_0_is_the_one_that_is_minimised(oracle: Any) -> None:
    """(w-1)/p + 4/w over [1, 4]^2: by hand, the first is 0 at w = 1; the least sum is 7/4, at (4, 4)."""
    found = sum_of_ratios(
        FractionalSum((ratio([1, 0, -1], P), ratio([0, 0, 4], W)), SQUARE), epsilon=0.01, oracle=oracle
    )
    assert found.last == 0
    assert 1.75 <= found.value <= found.cost * (1 + 1e-9) <= 1.01 * 1.75
    assert found.bound <= 1.75


@pytest.mark.parametrize("oracle", [Planar, LinearProgram])
def test_constant_and_vanishing_ratios_take_one_cell(oracle: Any) -> None:
    """3/w + w is least at sqrt(3); a constant 2 and two zeros, one of them only on the region, add no grid points."""
    terms = (ratio([0, 0, 3], W), ratio(W, ONE), ratio([0, 0, 2], ONE), ratio([0, 0, 0], P), ratio([0, 1, -1], W))
    found = sum_of_ratios(FractionalSum(terms, region([1, 1], [4, 1])), epsilon=0.05, oracle=oracle)
    assert [len(grid) for grid in found.grids][1:] == [1, 1, 1]
    assert 2 + 2 * 3**0.5 <= found.cost <= 1.05 * (2 + 2 * 3**0.5)


@pytest.mark.parametrize("oracle", [Planar, LinearProgram])
def test_a_single_ratio_is_solved_exactly(oracle: Any) -> None:
    """(w + 1)/(p + 1) over a square: 2/5 at (1, 4)."""
    found = sum_of_ratios(FractionalSum((ratio([1, 0, 1], [0, 1, 1]),), SQUARE), epsilon=0.5, oracle=oracle)
    assert (found.points, found.feasible, found.grids) == (1, 1, ())
    assert found.cost == pytest.approx(0.4)
    assert found.bound == pytest.approx(0.4)
    assert found.x == pytest.approx([1, 4])


def test_equal_spreads_are_equal_though_rounded() -> None:
    """Of ratios with the same phi/l the first is minimised, 0.1 w/(0.3 p) and 0.7 w/(0.9 p) as well."""
    terms = (ratio([0.1, 0, 0], [0, 0.3, 0]), ratio([0.7, 0, 0], [0, 0.9, 0]), ratio([0.1, 0, 0], [0, 0.7, 0]))
    for seed in range(20):
        corner = np.random.default_rng(seed).uniform(1, 9, 2)
        problem = FractionalSum(terms, region([1, 1], corner.tolist()))
        assert sum_of_ratios(problem, epsilon=0.5).last == 0


@pytest.mark.slow
@pytest.mark.parametrize("size", [7, 100])
def test_slabs_do_not_change_what_is_found(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    terms = (ratio([0, 0, 3], W), ratio([1, 1, 0], ONE), ratio([0, 0, 5], P), ratio(W, P))
    problem = FractionalSum(terms, region([1, 1], [9, 5], [-INF, 1, 2, 12]))
    whole = sum_of_ratios(problem, epsilon=0.2)
    assert whole.points > 10 * size
    monkeypatch.setattr(planar, "SLAB", size)
    slabs = sum_of_ratios(problem, epsilon=0.2)
    assert (slabs.cost, slabs.points, slabs.feasible) == (whole.cost, whole.points, whole.feasible)
    assert slabs.x == pytest.approx(whole.x)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": INF}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": 1e-12}, "steps for a ratio; at most"),
        ({"variant": "rounded"}, "rounded"),
    ],
)
def test_options_that_mean_nothing(change: dict[str, Any], message: str) -> None:
    problem = FractionalSum((ratio(W, P), ratio([0, 0, 3], W)), SQUARE)
    with pytest.raises(InputError, match=message):
        sum_of_ratios(problem, **({"epsilon": 0.1} | change))


@pytest.mark.parametrize("broken", [float("nan"), INF])
def test_coefficients_that_are_no_numbers(broken: float) -> None:
    with pytest.raises(InputError, match="ratio 1 has a coefficient"):
        sum_of_ratios(FractionalSum((ratio(W, P), ratio([0, 0, broken], W)), SQUARE), epsilon=0.1)
    with pytest.raises(InputError, match="polytope has a coefficient"):
        sum_of_ratios(FractionalSum((ratio(W, P),), region([1, 1], [4, float("nan")])), epsilon=0.1)


def test_three_variables_are_not_planar() -> None:
    flat = ratio([1.0, 0, 0, 0], [0, 0, 0, 1.0])
    with pytest.raises(InputError, match="two variables"):
        Planar(FractionalSum((flat,), region([1, 1, 1], [2, 2, 2])))


def _model(sense: Any, domain: Any, expression: Callable[[Any], Any]) -> Any:
    model = pyo.ConcreteModel("machines")
    model.x = pyo.Var(["w", "p"], bounds=(1, 4), domain=domain)
    model.time = pyo.Objective(expr=expression(model.x), sense=sense)
    return model


@pytest.mark.parametrize(
    ("sense", "domain", "expression", "message"),
    [
        (pyo.maximize, pyo.Reals, lambda x: x["w"] / x["p"] + 1 / x["w"], "maximises"),
        (pyo.minimize, pyo.Integers, lambda x: x["w"] / x["p"] + 1 / x["w"], "not continuous: apply relax first"),
        (pyo.minimize, pyo.Reals, lambda x: x["w"] ** 2 / x["p"], "numerator"),
        (pyo.minimize, pyo.Reals, lambda x: 0 * x["w"], "identically 0"),
    ],
)
def test_models_that_are_refused(sense: Any, domain: Any, expression: Any, message: str) -> None:
    with pytest.raises(TransformationRefused, match=message):
        sum_of_ratios(_model(sense, domain, expression), epsilon=0.1)


def test_only_models_and_points_are_recovered() -> None:
    problem = FractionalSum((ratio(W, P), ratio([0, 0, 3], W)), SQUARE)
    with pytest.raises(InputError, match="arrays"):
        sum_of_ratios(problem, epsilon=0.1).recover()
    model = _model(pyo.minimize, pyo.Reals, lambda x: 10 + 0.1 * (x["w"] + x["p"]) + x["w"] / x["p"] + 40 / x["w"])
    with pytest.raises(InputError, match="no grid point"):
        sum_of_ratios(model, epsilon=0.5, variant="printed").recover()
    found = sum_of_ratios(model, epsilon=0.5)
    assert model.x["w"].value is None
    found.recover(load=True)
    assert pyo.value(model.time) == pytest.approx(21.8)
