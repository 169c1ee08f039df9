"""What in a model has no value, or one that no float holds, is refused in one line that names the place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyomo.environ as pyo
import pytest

from dlsched.models import InputError, duals, explain, inspect, latex, solve
from dlsched.relaxations import (
    TransformationRefused,
    charnes_cooper,
    dual,
    lift_bounds,
    standard_form,
    sum_of_ratios,
    to_cvxpy,
)
from dlsched.solvers import UnfitNumberError

HUGE = 10**400
SOLVING = [solve, explain, duals, lambda m: solve(m, solver="scip")]
TRANSFORMING = [
    charnes_cooper,
    dual,
    lift_bounds,
    standard_form,
    to_cvxpy,
    lambda m: sum_of_ratios(m, epsilon=0.5),
]
PARTS: list[tuple[float, Callable[[Any], Any], str]] = [
    (0, lambda m: m.x / m.p, "1/p has no value: division by zero"),
    (0, lambda m: (m.x + 1) / m.p, "1/p has no value: division by zero"),
    (0, lambda m: (m.x + 1) / (m.fixed - 2), "1/(fixed - 2) has no value: division by zero"),
    (-1, lambda m: m.x * pyo.log(m.p), "log(p) has no value: math domain error"),
    (-1, lambda m: m.x * m.p**0.5, "p**0.5 has no value: it is no real number"),
    (1000, lambda m: m.x * pyo.exp(m.p), "has a number that no float holds: exp(p)"),
    (0, lambda m: HUGE * m.x, "has a number that no float holds"),
    (0, lambda m: m.x + HUGE, "has a number that no float holds"),
]


def small() -> Any:
    m = pyo.ConcreteModel()
    m.x, m.fixed = pyo.Var(bounds=(1, 5)), pyo.Var(initialize=2)
    m.fixed.fix()
    m.p = pyo.Param(initialize=1, mutable=True)
    m.o = pyo.Objective(expr=m.x + 1)
    return m


def said(asked: Callable[[Any], Any], model: Any) -> str:
    with pytest.raises(UnfitNumberError if asked in SOLVING else TransformationRefused) as caught:
        asked(model)
    return str(caught.value)


@pytest.mark.parametrize("asked", [*SOLVING, *TRANSFORMING])
@pytest.mark.parametrize(("value", "write", "message"), PARTS)
def test_a_part_of_a_row_or_objective(asked: Any, value: float, write: Any, message: str) -> None:
    m = small()
    m.p = value
    m.row = pyo.Constraint(expr=write(m) <= 3)
    assert said(asked, m) == f"row: {message}"
    m.row.deactivate()
    m.o.set_value(write(m))
    assert said(asked, m) == f"o: {message}"


@pytest.mark.parametrize("asked", [*SOLVING, *TRANSFORMING])
def test_a_side_and_a_fixed_value(asked: Any) -> None:
    m = small()
    m.row = pyo.Constraint(expr=m.x <= HUGE)
    assert said(asked, m) == "row: has a number that no float holds"
    m.row.set_value(m.x + m.fixed <= 3)
    m.fixed.fix(HUGE)
    assert said(asked, m) == "row: has a number that no float holds: fixed"


@pytest.mark.parametrize("asked", [*SOLVING, *TRANSFORMING])
@pytest.mark.parametrize("used", [True, False])
@pytest.mark.parametrize(
    ("value", "bound", "message"),
    [
        (0, lambda m: 4 / m.p, "in a bound, 4/p has no value: division by zero"),
        (-1, lambda m: m.p**0.5, "in a bound, p**0.5 has no value: it is no real number"),
        (1000, lambda m: pyo.exp(m.p), "has a bound that no float holds: exp(p)"),
    ],
)
def test_a_bound(asked: Any, used: bool, value: float, bound: Any, message: str) -> None:
    m = small()
    m.idle = pyo.Var()
    variable = m.x if used else m.idle
    variable.setub(bound(m))
    m.p = value
    if asked is not duals or used:  # which asks for no values of what is in no row
        assert said(asked, m) == f"{variable.name}: {message}"


@pytest.mark.parametrize("asked", [solve, *TRANSFORMING])
def test_what_is_left_out_needs_no_value(asked: Any) -> None:
    """A product with 0, and the side of a condition that is not taken."""
    m = small()
    m.y = pyo.Var()
    m.p = 0
    m.o.set_value(m.x + m.p * m.y + pyo.Expr_if(m.p > 0, m.x / (m.p + 1), 1))
    if asked in (solve, dual, standard_form, lift_bounds):
        asked(m)
    m.o.set_value(m.x + m.p * m.y)
    asked(m)


@pytest.mark.parametrize("asked", [inspect, latex])
def test_descriptions_name_the_place_too(asked: Any) -> None:
    for write, message in ((PARTS[0][1], f"row: {PARTS[0][2]}"), (PARTS[6][1], f"row: {PARTS[6][2]}")):
        m = small()
        m.p = 0
        m.row = pyo.Constraint(expr=write(m) <= 3)
        with pytest.raises(InputError) as caught:
            asked(m)
        assert str(caught.value) == message
