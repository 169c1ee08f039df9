"""What inspect says of a model is counted by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyomo.environ as pyo
import pytest
from pyomo.gdp import Disjunction

from dlsched.models import InputError, Inspection, build, compile_model, difference, inspect, latex, solve, spy
from dlsched.models.hadar import Instance

H1 = Instance.parse(
    {
        "slots": 2,
        "device_types": ["g"],
        "machines": [{"name": "m", "devices": {"g": 1}}],
        "jobs": [
            {
                "name": "a",
                "arrival": 1,
                "gang": 1,
                "iterations": 2,
                "rate": {"g": 1},
                "utility": {"kind": "table", "values": [10, 4]},
            }
        ],
    }
)


def test_aggregate_of_h1() -> None:
    found = inspect(build("hadar/aggregate", H1))
    assert (found.binary, found.integer, found.continuous, found.disjunctions, found.big_m) == (4, 0, 2, 0, None)
    rows = {c.name: c.rows for c in found.components}
    assert rows == {
        "total_utility": 1,
        "once": 1,
        "last": 2,
        "work": 2,
        "whole_gang": 2,
        "fast_enough": 2,
        "capacity": 2,
    }
    assert found.rows == 11
    assert {c.name: c.equation for c in found.components}["capacity"] == "(1d)"
    assert {c.name: c.nonzeros for c in found.components}["work"] == 2 + 4


def either_or() -> pyo.ConcreteModel:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 10))
    m.either = Disjunction(expr=[[m.x <= 3], [m.x >= 8]], doc="(9) low or high")
    m.cost = pyo.Objective(expr=m.x)
    return m


def test_largest_big_m_before_and_after_the_transformation() -> None:
    """x <= 3 needs M = 7 on [0, 10], x >= 8 needs M = 8."""
    model = either_or()
    plain = inspect(model)
    assert (plain.disjunctions, plain.big_m) == (1, 8)
    assert next(model.component_data_objects(Disjunction, active=True), None) is not None
    pyo.TransformationFactory("gdp.bigm").apply_to(model)
    transformed = inspect(model)
    assert (transformed.disjunctions, transformed.big_m) == (0, 8)


def test_hull_has_no_big_m() -> None:
    model = either_or()
    pyo.TransformationFactory("gdp.hull").apply_to(model)
    assert inspect(model).big_m is None


def test_rows_of_a_transformed_model_keep_their_equations() -> None:
    model = build("hadar/p1", H1)
    pyo.TransformationFactory("gdp.bigm").apply_to(model)
    found = inspect(model)
    assert {"(1b)", "(1e)", "(1a)", "(1d)"} <= {c.equation for c in found.components}
    assert not any("[" in c.name for c in found.components)


def test_unbounded_disjuncts_have_no_m() -> None:
    model = either_or()
    model.x.setub(None)
    assert inspect(model).big_m is None


def test_dump_is_plain_data() -> None:
    found = inspect(either_or())
    assert isinstance(found, Inspection)
    assert found.dump()["disjunctions"] == 1
    assert found.dump()["components"][0]["name"] == "cost"


@pytest.mark.parametrize("name", ["hadar/p1", "hadar/p2", "hadar/p3"])
def test_sizes_add_up(name: str) -> None:
    found = inspect(build(name, H1))
    assert found.model
    assert found.nonzeros >= found.rows > 0


def test_coefficients_and_what_is_hard_in_them() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2, 3], bounds=(0, 1))
    m.wild = pyo.Constraint(expr=2e-3 * m.x[1] - 4e5 * m.x[2] <= 1)
    m.tame = pyo.Constraint([1, 2], rule=lambda m, j: 3 * m.x[j] + 6 * m.x[3] <= 4)
    m.total = pyo.Objective(expr=m.x[1] * m.x[2])
    found = inspect(m)
    sizes = {c.name: (c.least, c.most, c.spread) for c in found.components}
    assert sizes["wild"] == (2e-3, 4e5, pytest.approx(2e8))
    assert sizes["tame"] == (3, 6, 2)
    assert sizes["total"] == (None, None, None)
    (warning,) = found.warnings
    assert warning.startswith("wild: coefficients of one row differ 2e+08 times: ")
    assert "Warnings" in str(found)
    m.wild.deactivate()
    assert inspect(m).warnings == ()


def test_a_big_m_that_forgives_too_much() -> None:
    """x <= 3 on [0, 10^7] needs M = 10^7 - 3, of which a millionth is 10: more than the 1 before x."""
    model = either_or()
    model.x.setub(1e7)
    (warning,) = inspect(model).warnings
    assert "big-M is 9999997: an indicator that is 1e-06 off" in warning
    assert inspect(either_or()).warnings == ()


def test_where_big_m_binds() -> None:
    """At x = 10, low is not taken: x <= 3 + 7 holds with equality. At x = 8.5 it has slack."""
    model = either_or()
    low, high = model.either.disjuncts
    pyo.TransformationFactory("gdp.bigm").apply_to(model)
    assert inspect(model).big_m_at.startswith(high.name)
    assert inspect(model).big_m_binds == ()
    low.binary_indicator_var.value, high.binary_indicator_var.value = 0, 1
    model.x.value = 10
    (row,) = inspect(model).big_m_binds
    assert row.startswith(low.name)
    assert "at this point big-M binds in" in str(inspect(model))
    model.x.value = 8.5
    assert inspect(model).big_m_binds == ()


def test_difference_of_a_model_and_itself() -> None:
    model = build("hadar/p1", H1)
    assert difference(model, model.clone()).components == ()
    assert str(difference(model, model)) == "No difference"


def test_what_big_m_adds_and_removes() -> None:
    model = either_or()
    before = model.clone()
    pyo.TransformationFactory("gdp.bigm").apply_to(model)
    found = {(c.kind, c.name): (c.removed, c.added, c.changed, c.kept) for c in difference(before, model).components}
    assert found["disjunction", "either"] == (1, 0, 0, 0)
    assert found["constraint", "either"] == (0, 1, 0, 0)
    rows = [sizes for (kind, name), sizes in found.items() if kind == "constraint" and name != "either"]
    assert [sum(column) for column in zip(*rows, strict=True)] == [2, 2, 0, 0]
    assert ("variable", "x") not in found


def test_changes_of_rows_and_variables() -> None:
    first = pyo.ConcreteModel()
    first.x = pyo.Var([1, 2, 3], bounds=(0, 1))
    first.row = pyo.Constraint([1, 2], rule=lambda m, j: m.x[j] + m.x[3] <= 1)
    first.total = pyo.Objective(expr=first.x[1])
    second = first.clone()
    second.x[1].setub(2)
    second.x[3].fix(1)
    second.row[2].set_value(second.x[3] + second.x[2] <= 1)
    assert {(c.kind, c.changed, c.kept, c.examples) for c in difference(first, second).components} == {
        ("variable", 2, 1, ("x[1]", "x[3]")),
        ("constraint", 2, 0, ("row[1]", "row[2]")),
    }
    second.x[3].unfix()
    second.row[1].deactivate()
    second.total.sense = pyo.maximize
    found = {c.name: (c.removed, c.added, c.changed, c.kept) for c in difference(first, second).components}
    assert found == {"x": (0, 0, 1, 2), "row": (1, 0, 0, 1), "total": (0, 0, 1, 0)}


@pytest.mark.slow
def test_the_picture_has_a_mark_for_each_coefficient() -> None:
    model = build("hadar/aggregate", H1)
    ax = spy(model)
    matrix = compile_model(model)
    marks = [(line.get_label(), len(line.get_xdata())) for line in ax.lines if str(line.get_label()).endswith("0")]
    assert dict(marks) == {"above 0": int((matrix.A.data > 0).sum()), "below 0": int((matrix.A.data < 0).sum())}
    assert {label.get_text() for label in ax.get_yticklabels()} <= {
        f"{c.equation} {c.name}" for c in inspect(model).components
    }
    assert ax.get_title().endswith(
        f"{len(matrix.rows)} rows, {len(matrix.columns)} columns, {matrix.A.nnz} coefficients"
    )
    assert spy(either_or()).get_title()
    empty = pyo.ConcreteModel()
    empty.x = pyo.Var()
    empty.total = pyo.Objective(expr=empty.x)
    with pytest.raises(InputError, match="no coefficients to draw"):
        spy(empty)


@pytest.mark.parametrize("place", ["row", "objective", "side", "nowhere"])
def test_a_parameter_that_is_yet_to_be_set(place: str) -> None:
    model = pyo.ConcreteModel()
    model.x, model.worth, model.p = (
        pyo.Var(bounds=(0, 1)),
        pyo.Param(initialize=7, mutable=True),
        pyo.Param(mutable=True),
    )
    model.fixed = pyo.Param(initialize=4)
    model.row = pyo.Constraint(expr=(model.p if place == "row" else 2) * model.x <= (model.p if place == "side" else 3))
    model.total = pyo.Objective(expr=(model.p if place == "objective" else model.worth) * model.x)
    found = inspect(model)
    ends = {param.name: (param.least, param.most) for param in found.parameters}
    assert ends == {"worth": (7, 7), "p": (None, None), "fixed": (4, 4)}
    assert found.rows == 1


@pytest.mark.parametrize("use", [inspect, latex, solve])
def test_a_named_expression_without_one_is_refused_by_name(use: Callable[[Any], object]) -> None:
    model = pyo.ConcreteModel()
    model.x, model.later = pyo.Var(bounds=(0, 1)), pyo.Expression()
    model.row = pyo.Constraint(expr=model.x + model.later >= 0)
    model.total = pyo.Objective(expr=model.x)
    with pytest.raises(ValueError, match=r"^later: has no expression$"):
        use(model)
