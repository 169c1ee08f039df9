"""What inspect says of a model is counted by hand."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest
from pyomo.gdp import Disjunction

from dlsched.models import Inspection, build, inspect
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
