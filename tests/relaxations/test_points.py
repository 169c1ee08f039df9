"""What the points that transformations recover have in common."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
import pytest

from dlsched.models import InputError, duals, solve
from dlsched.relaxations import charnes_cooper, dual, lift_bounds, relax, standard_form, to_cvxpy


def partly_idle() -> Any:
    """2 x <= 3, worth 1/2, and a row of fixed variables."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 4)), pyo.Var(initialize=1)
    m.y.fix()
    m.fixed = pyo.Constraint(expr=m.y <= 3)
    m.row = pyo.Constraint(expr=2 * m.x <= 3)
    m.cost = pyo.Objective(expr=-m.x)
    return m


@pytest.mark.parametrize("transform", [dual, standard_form, charnes_cooper, relax, lift_bounds])
def test_rows_that_are_left_out_have_the_price_0(transform: Any) -> None:
    """One of fixed variables, one without a finite side; 2 x <= 3 is worth -1/2."""
    m = partly_idle()
    m.open = pyo.Constraint(expr=m.x <= float("inf"))
    result = transform(m)
    solve(result.model)
    point = result.recover(duals=duals(result.model))
    assert [point.duals[row] for row in (m.fixed, m.open, m.row)] == [0, 0, pytest.approx(-0.5)]


def test_cvxpy_has_a_price_for_each_row() -> None:
    m = partly_idle()
    bridge = to_cvxpy(m)
    bridge.problem.solve()
    point = bridge.recover()
    assert [point.duals[row] for row in (m.fixed, m.row)] == [0, pytest.approx(-0.5, abs=1e-6)]


@pytest.mark.parametrize("transform", [dual, standard_form, charnes_cooper, relax, lift_bounds])
def test_a_model_that_was_not_solved_has_no_point(transform: Any) -> None:
    """That a variable is fixed gives it a value, and no solution."""
    m = partly_idle()
    result = transform(m)
    with pytest.raises(InputError, match=r"has (a|no) value: solve"):
        result.recover()
    solve(result.model)
    assert result.recover() is not None
    m.x.fix(1)
    if transform in (relax, lift_bounds):  # nothing is left to be found
        assert [*transform(m).recover().values.values()] == [1, 1]
