"""Models as cvxpy problems: optima known from elsewhere, and duals that prove them or are differences of optima."""

from __future__ import annotations

import doctest
from typing import Any

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest

from dlsched.models import InputError, catalog, compile_model, residuals
from dlsched.relaxations import (
    Point,
    TransformationRefused,
    charnes_cooper,
    cvxpy_bridge,
    dual,
    plain_vne,
    relax,
    to_cvxpy,
)
from dlsched.relaxations.conformance_cases import Case, narrow_star
from tests.strangers import STRANGERS, beyond
from tests.strangers.stranger import INTEGER, Stranger

from .conformance.cases import KNOWN
from .conformance.solving import solve
from .conformance.test_catalog import formulation

CLOSE = {"rel": 1e-6, "abs": 1e-6}
LINEAR = [*(s for s in STRANGERS if s.traits <= INTEGER), *KNOWN]


def relaxed(case: Case) -> tuple[Any, float]:
    """Return a linear model, or its relaxation, and the optimum of that."""
    return relax(case.build()).model, case.optimum if case.relaxed is None else case.relaxed


def proved(model: Any, point: Point) -> float:
    """Return the bound that duals prove: each times the side that its sign prices, as the contract's table has it."""
    matrix = compile_model(model)
    bound = matrix.offset
    for prices, lower, upper in (
        ([point.duals[row] for row in matrix.rows if row in point.duals], *_priced(matrix, point)),
        ([point.reduced_costs[v] for v in matrix.columns], matrix.lower, matrix.upper),
    ):
        for price, low, high in zip(prices, lower, upper, strict=True):
            if abs(price) > 1e-6:
                side = low if matrix.sense * price > 0 else high
                assert np.isfinite(side), "a side that does not exist has a price"
                bound += price * side
    return float(bound)


def _priced(matrix: Any, point: Point) -> tuple[Any, Any]:
    some = [row in point.duals for row in matrix.rows]
    return matrix.row_lower[some], matrix.row_upper[some]


@pytest.mark.parametrize("case", LINEAR, ids=lambda case: case.name)
def test_linear_models(case: Case) -> None:
    model, optimum = relaxed(case)
    bridge = to_cvxpy(model)
    assert bridge.problem.solve() == pytest.approx(optimum, **CLOSE)
    point = bridge.recover(load=True)
    assert pyo.value(next(model.component_data_objects(pyo.Objective, active=True))) == pytest.approx(optimum, **CLOSE)
    for row, excess in residuals(model).items():
        assert excess <= 1e-5 * max(1, abs(row.lb or 0), abs(row.ub or 0)), row.name
    assert proved(model, point) == pytest.approx(optimum, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("case", LINEAR, ids=lambda case: case.name)
def test_duals_of_a_simplex_solver_prove_the_optimum(case: Case) -> None:
    model, optimum = relaxed(case)
    bridge = to_cvxpy(model)
    bridge.problem.solve(solver=cp.HIGHS)
    assert proved(model, bridge.recover()) == pytest.approx(optimum)


@pytest.mark.slow
@pytest.mark.parametrize("name", [entry.name for entry in catalog() if entry.linear])
def test_relaxed_formulations(name: str) -> None:
    model = relax(formulation(name, 1)).model
    expected = solve(model)
    bridge = to_cvxpy(model)
    bridge.problem.solve(solver=cp.HIGHS)
    if expected.status != "optimal":
        assert bridge.problem.status == expected.status
        return
    assert bridge.problem.value == pytest.approx(expected.objective, **CLOSE)
    assert proved(model, bridge.recover()) == pytest.approx(expected.objective, rel=1e-5, abs=1e-5)


def test_models_that_other_transformations_made() -> None:
    lp = to_cvxpy(charnes_cooper(beyond.efficiency()).model)
    assert lp.problem.solve() == pytest.approx(beyond.efficiency_answer(), **CLOSE)
    rings = plain_vne(narrow_star())
    assert to_cvxpy(rings.model).problem.solve() == pytest.approx(solve(rings.model).objective, **CLOSE)
    plants = next(s for s in STRANGERS if s.name == "plants")
    assert to_cvxpy(dual(plants.build()).model).problem.solve() == pytest.approx(plants.optimum, **CLOSE)


def test_a_convex_objective() -> None:
    """Prices are the differences of the optimum that the conditions of optimality give."""
    m = beyond.portfolio()
    bridge = to_cvxpy(m)
    assert bridge.problem.is_qp()
    assert bridge.problem.solve() == pytest.approx(beyond.portfolio_answer(), abs=1e-8)
    point = bridge.recover(load=True)
    assert pyo.value(m.variance) == pytest.approx(beyond.portfolio_answer(), abs=1e-8)
    step = 1e-4
    slope = (beyond.portfolio_answer(0.12 + step) - beyond.portfolio_answer(0.12 - step)) / (2 * step)
    assert slope > 0.01
    assert point.duals[m.earn] == pytest.approx(slope, abs=1e-5)


def test_a_convex_row_under_a_maximisation() -> None:
    m = beyond.disc()
    bridge = to_cvxpy(m)
    assert bridge.problem.solve() == pytest.approx(beyond.disc_answer(), **CLOSE)
    step = 1e-4
    slope = (beyond.disc_answer(9 + step) - beyond.disc_answer(9 - step)) / (2 * step)
    point = bridge.recover()
    assert point.duals[m.disc] == pytest.approx(slope, rel=1e-4)
    assert point.reduced_costs[m.y] == pytest.approx(0, abs=1e-6)
    assert bridge.rows == (m.disc,)


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_a_concave_row_and_its_sign(sense: Any) -> None:
    """At least 1 of 4 - (x - 2)^2 leaves x between 2 - 3^(1/2) and 2 + 3^(1/2); by hand for either sense."""
    m = pyo.ConcreteModel()
    m.x, m.fixed = pyo.Var(), pyo.Var(initialize=2)
    m.fixed.fix()
    m.hill = pyo.Constraint(expr=m.fixed * 2 - (m.x - m.fixed) ** 2 >= 1)
    m.o = pyo.Objective(expr=m.x + 3, sense=sense)
    bridge = to_cvxpy(m)
    side = 1 if sense == pyo.maximize else -1
    assert bridge.problem.solve() == pytest.approx(5 + side * 3**0.5, **CLOSE)
    point = bridge.recover()
    # As near as an interior point comes to the multiplier of a cone.
    assert point.duals[m.hill] == pytest.approx(-side / (2 * 3**0.5), rel=1e-3)
    assert point.values[m.fixed] == 2


def test_a_form_of_lower_rank_with_products() -> None:
    """(x + y - z)^2 + (z - 3)^2, which has no least point by coordinates; 0 where z = 3 and x + y = 3."""
    m = pyo.ConcreteModel()
    m.x, m.y, m.z, m.w = pyo.Var(), pyo.Var(bounds=(0, 1)), pyo.Var(), pyo.Var(bounds=(2, None))
    m.o = pyo.Objective(expr=(m.x + m.y - m.z) ** 2 + (m.z - 3) ** 2 + 2 * m.w)
    bridge = to_cvxpy(m)
    assert bridge.problem.solve() == pytest.approx(4, **CLOSE)
    assert bridge.recover().reduced_costs[m.w] == pytest.approx(2, abs=1e-5)


@pytest.mark.parametrize("factor", [1.0, 1e5, 1e6, 1e8])
def test_squares_of_variables_in_other_units_count(factor: float) -> None:
    """u^2 + u y + y^2 - 3 y is least at u = -1, y = 2: -3, whatever x = u/factor is counted in."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(-10, 10)), pyo.Var(bounds=(-10, 10))
    u = factor * m.x
    m.cost = pyo.Objective(expr=u**2 + u * m.y + m.y**2 - 3 * m.y)
    bridge = to_cvxpy(m)
    assert bridge.problem.solve(solver="CLARABEL") == pytest.approx(-3)
    bridge.recover(load=True)
    assert pyo.value(m.cost) == pytest.approx(-3)
    m.cost.set_value(u**2 + u * m.y - m.y**2 - 3 * m.y)
    with pytest.raises(TransformationRefused, match="not convex"):
        to_cvxpy(m)
    m.cost.set_value(u**2 + u * m.y - 3 * m.y)
    with pytest.raises(TransformationRefused, match="not convex"):
        to_cvxpy(m)


def test_points_and_duals_that_are_given() -> None:
    stranger = next(s for s in STRANGERS if s.name == "knapsack")
    source = stranger.build()
    relaxation = relax(source)
    bridge = to_cvxpy(relaxation.model)
    with pytest.raises(InputError, match=r"has no solution to recover .* solve it first"):
        bridge.recover()
    point = bridge.recover(np.ones(4), np.array([2.0]))
    assert list(point.values.values()) == [1] * 4
    assert point.duals[relaxation.model.weight] == 2
    with pytest.raises(InputError, match="x"):
        bridge.recover(np.ones(3))
    bridge.problem.solve()
    back = relaxation.recover(bridge.recover().values, bridge.recover().duals)
    assert back.duals[source.weight] == pytest.approx(3 / 7, abs=1e-6)


def test_no_point_and_no_end() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, None))
    m.low = pyo.Constraint(expr=m.x <= -1)
    m.o = pyo.Objective(expr=m.x)
    bridge = to_cvxpy(m)
    assert bridge.problem.solve() == np.inf
    with pytest.raises(InputError, match="status: infeasible"):
        bridge.recover()
    m.low.deactivate()
    m.o.sense = pyo.maximize
    bridge = to_cvxpy(m)
    assert bridge.problem.solve() == np.inf
    with pytest.raises(InputError, match="status: unbounded"):
        bridge.recover()


@pytest.mark.parametrize(
    "stranger",
    [s for s in STRANGERS if not s.traits <= INTEGER and s.name not in ("portfolio", "disc")],
    ids=lambda case: case.name,
)
def test_what_is_not_convex_is_refused_in_a_line(stranger: Stranger) -> None:
    with pytest.raises(TransformationRefused) as caught:
        to_cvxpy(stranger.build())
    assert "\n" not in str(caught.value)
    assert stranger.culprit in str(caught.value)


def square() -> Any:
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 2)), pyo.Var(bounds=(0, 2))
    m.o = pyo.Objective(expr=m.x + m.y)
    return m


REFUSED: dict[str, tuple[Any, str]] = {
    "integer": (lambda m: setattr(m.x, "domain", pyo.Binary), "variable 'x' is not continuous: apply relax first"),
    "indefinite": (lambda m: m.o.set_value(m.x * m.y), "the squares of 'o' are not convex, so the model is not"),
    "concave": (lambda m: m.o.set_value(m.x - m.y**2), "the squares of 'o' are not convex, so the model is not"),
    "wrong side": (lambda m: setattr(m, "c", pyo.Constraint(expr=m.x**2 >= 1)), "the squares of 'c' are not concave"),
    "equation": (lambda m: setattr(m, "c", pyo.Constraint(expr=m.x**2 == 1)), "'c' is quadratic between two sides"),
    "cubic": (lambda m: m.o.set_value(m.x**3), "'o' has terms that are not quadratic, of which no atoms"),
    "all fixed": (lambda m: (m.x.fix(1), m.y.fix(1)), "has no free variable"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_place_and_remedy(name: str) -> None:
    change, message = REFUSED[name]
    m = square()
    change(m)
    with pytest.raises(TransformationRefused, match=message) as caught:
        to_cvxpy(m)
    assert "\n" not in str(caught.value)


def test_the_example_runs() -> None:
    assert doctest.testmod(cvxpy_bridge).failed == 0


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda m, p: p * m.x**2, "objective: the coefficient of x*x is {}, which is not a finite number"),
        (lambda m, p: p * m.x * m.y + m.x**2, "objective: the coefficient of x*y is {}, which is not a finite number"),
        (lambda m, p: m.x**2 + p * m.y, "objective: the coefficient of y is {}, which is not a finite number"),
        (lambda m, p: m.x**2 + p, "objective: the constant is {}, which is not a finite number"),
    ],
)
@pytest.mark.parametrize("mutable", [True, False])
def test_what_is_no_number_beside_squares(number: float, write: Any, message: str, mutable: bool) -> None:
    """A factorisation with NaN in it would never end."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(), pyo.Var()
    m.p = pyo.Param(initialize=number, mutable=mutable)
    m.o = pyo.Objective(expr=write(m, m.p if mutable else number))
    with pytest.raises(TransformationRefused) as caught:
        to_cvxpy(m)
    assert str(caught.value) == message.format(number)
    m.row = pyo.Constraint(expr=m.o.expr <= 4)
    m.o.set_value(m.x**2)
    with pytest.raises(TransformationRefused) as caught:
        to_cvxpy(m)
    assert str(caught.value) == message.replace("objective", "row").format(number)


def test_a_side_of_a_quadratic_row_that_is_no_number() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var()
    m.row = pyo.Constraint(expr=m.x**2 <= float("nan"))
    m.o = pyo.Objective(expr=m.x)
    with pytest.raises(TransformationRefused, match=r"'row' .*nan"):
        to_cvxpy(m)


def test_squares_with_the_factor_0() -> None:
    """A weight that is switched off leaves a linear program, and squares elsewhere leave what they were."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(1, 5)), pyo.Var()
    m.weight = pyo.Param(initialize=0, mutable=True)
    m.row = pyo.Constraint(expr=m.weight * (m.x**2 + m.y) + 2 * m.x - m.y <= 4)
    m.o = pyo.Objective(expr=m.weight * m.x**2 + m.weight * m.x * m.y + m.x + 2 * m.y)
    bridge = to_cvxpy(m)
    assert bridge.problem.is_lp()
    assert bridge.problem.solve() == pytest.approx(-3, **CLOSE)
    assert dual(m).matrix.c.tolist() == [1, 2]
    assert solve(m).objective == pytest.approx(-3)
    m.row.set_value(m.weight * m.x**2 + m.y**2 <= 9)
    assert to_cvxpy(m).problem.solve() == pytest.approx(-5, **CLOSE)
