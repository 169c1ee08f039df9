"""`explain`: the true cause of infeasible models, in sets that no member of which can be spared, and what binds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyomo.environ as pyo
import pytest
from pyomo.gdp import Disjunction

from dlsched.models import InputError, build, ddljs, dmlrs, explain, hadar, smd, solve
from dlsched.solvers import SolverError


def model(objective: Callable[[Any], Any] = lambda m: m.x[1], **bounds: Any) -> Any:
    """Three variables to maximise over."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2, 3], **({"domain": pyo.NonNegativeReals} | bounds))
    m.total = pyo.Objective(expr=objective(m), sense=pyo.maximize)
    return m


def rows_that_conflict() -> Any:
    m = model()
    m.need = pyo.Constraint(expr=m.x[1] + m.x[2] >= 5, doc="(1) work to be done")
    m.room = pyo.Constraint([1, 2], rule=lambda m, j: m.x[j] <= 2, doc="(2) room")
    m.other = pyo.Constraint(expr=m.x[3] <= 1)
    return m, {"need >=", "room[1] <=", "room[2] <="}, False


def a_row_and_bounds() -> Any:
    m = model(bounds=(0, 2))
    m.need = pyo.Constraint(expr=m.x[1] - m.x[2] >= 3)
    return m, {"need >=", "x[1] <="}, False


def an_equation() -> Any:
    m = model()
    m.balance = pyo.Constraint(expr=m.x[1] + m.x[2] == 3)
    m.room = pyo.Constraint(expr=m.x[1] + m.x[2] <= 2)
    return m, {"balance >=", "room <="}, False


def a_range() -> Any:
    m = model()
    m.between = pyo.Constraint(expr=pyo.inequality(2, m.x[1], 4))
    m.room = pyo.Constraint(expr=m.x[1] <= 1)
    return m, {"between >=", "room <="}, False


def bounds_that_cross() -> Any:
    m = model()
    m.x[2].setlb(3)
    m.x[2].setub(2)
    m.row = pyo.Constraint(expr=m.x[1] + m.x[2] <= 9)
    return m, {"x[2] >=", "x[2] <="}, False


def whole_numbers() -> Any:
    m = model(domain=pyo.NonNegativeIntegers, bounds=(0, 5))
    m.gang = pyo.Constraint(expr=2 * m.x[1] + 4 * m.x[2] == 5, doc="(1e) whole gangs")
    m.other = pyo.Constraint(expr=m.x[3] <= 4)
    return m, {"gang >=", "gang <="}, True


def either_or() -> Any:
    m = model(bounds=(0, 10))
    m.way = Disjunction(expr=[[m.x[1] >= 4], [m.x[1] <= 1]], doc="(3) one of two ways")
    m.middle = pyo.Constraint(expr=m.x[1] == 2)
    return m, None, True


def a_block() -> Any:
    m = model()
    m.part = pyo.Block()
    m.part.need = pyo.Constraint(expr=m.x[1] >= 5)
    m.room = pyo.Constraint(expr=m.x[1] <= 4)
    return m, {"part.need >=", "room <="}, False


def fixed_variables() -> Any:
    m = model()
    m.x.fix(1)
    m.need = pyo.Constraint(expr=m.x[1] + m.x[2] >= 5, doc="(1) work")
    return m, {"need >="}, False


def no_objective() -> Any:
    m = model()
    m.total.deactivate()
    m.need = pyo.Constraint(expr=m.x[1] >= 5)
    m.room = pyo.Constraint(expr=m.x[1] <= 4)
    return m, {"need >=", "room <="}, False


HAND_MADE = [
    rows_that_conflict,
    a_row_and_bounds,
    an_equation,
    a_range,
    bounds_that_cross,
    whole_numbers,
    either_or,
    a_block,
    fixed_variables,
    no_objective,
]


@pytest.mark.parametrize("made", HAND_MADE, ids=lambda made: made.__name__)
def test_the_true_cause_of_hand_made_models(made: Callable[[], tuple[Any, set[str] | None, bool]]) -> None:
    m, cause, integral = made()
    found = explain(m).conflict
    assert found is not None
    assert found.irreducible
    assert bool(found.integers) == integral
    if cause is not None:
        assert {f"{side.name} {side.sense}" for side in found.sides} == cause


def test_an_either_or_is_named_as_it_was_written() -> None:
    m, _, _ = either_or()
    found = explain(m).conflict
    assert found is not None
    assert {side.name for side in found.sides} >= {"way", "middle"}
    assert {side.equation for side in found.sides} >= {"(3)"}
    assert next(m.component_data_objects(Disjunction, active=True)) is m.way


def test_what_is_told_in_words() -> None:
    m, _, _ = rows_that_conflict()
    told = str(explain(m)).splitlines()
    assert told[0] == "These cannot hold together; without any one of them there is a point:"
    assert told[1] == "  (1) need: work to be done: x[1] + x[2] >= 5"
    assert told[2] == "  (2) room[1]: room: x[1] <= 2 (alone it could be 0)"
    m, _, _ = whole_numbers()
    assert "  whole numbers: x[1], x[2]" in str(explain(m)).splitlines()


def must(m: Any, rows: dict[str, Any]) -> Any:
    """Let rows that say `at most once` say `exactly once`: the jobs are admitted."""
    m.must = pyo.Constraint(list(rows), rule=lambda m, job: rows[job] >= 1, doc="admitted")
    return m


def hadar_model() -> tuple[Any, set[str]]:
    instance = hadar.preset("benchmark", 0, jobs=6, machines=2, types=2, slots=3)
    m = build("hadar/aggregate", instance)
    return must(m, {job: m.once[job].body for job in m.once}), {"must", "work", "capacity"}


def dmlrs_model() -> tuple[Any, set[str]]:
    instance = dmlrs.preset("benchmark", 0, jobs=2, machines=1, slots=2, multiple=1)
    m = build("dmlrs/compact-milp", instance)
    return must(m, {job: m.once[job].body for job in m.once}), {"must"}


def smd_model() -> tuple[Any, set[str]]:
    instance = smd.preset("paper", 0, jobs=8)
    m = build("smd/milp", instance)
    return must(m, {job: m.once[job].body for job in m.once}), {"must", "capacity"}


def ddljs_model() -> tuple[Any, set[str]]:
    instance = ddljs.preset("benchmark", 0, servers=2, jobs=2, slots=1)
    m = build("ddljs/offline-milp", instance)
    m.must = pyo.Constraint(
        list(m.worker_slots), rule=lambda m, *job: sum(m.workers[key] for key in m.workers if key[0] in job) >= 50
    )
    return m, {"must", "workers"}


@pytest.mark.slow
@pytest.mark.parametrize("made", [hadar_model, dmlrs_model, smd_model, ddljs_model], ids=lambda made: made.__name__)
def test_jobs_that_cannot_all_be_admitted(made: Callable[[], tuple[Any, set[str]]]) -> None:
    m, needed = made()
    found = explain(m).conflict
    assert found is not None
    assert found.irreducible
    assert {side.name.partition("[")[0] for side in found.sides} >= needed
    alone_again(m, {(side.name, side.sense) for side in found.sides})


def alone_again(m: Any, sides: set[tuple[str, str]]) -> None:
    """Check with solves of our own that the rows have no point, and one without each of them (some of them here)."""
    for objective in m.component_data_objects(pyo.Objective, active=True):
        objective.deactivate()
    m.nothing = pyo.Objective(expr=0.0)
    rows = {row.name: row for row in m.component_data_objects(pyo.Constraint, active=True)}
    kept = {name for name, _ in sides if name in rows}
    for name, row in rows.items():
        if name not in kept:
            row.deactivate()
    assert solve(m).status.value == "infeasible"
    for name in sorted(kept)[:3]:
        rows[name].deactivate()
        assert solve(m).status.value == "optimal"
        rows[name].activate()


def test_what_binds_at_an_optimum() -> None:
    m = model(lambda m: 3 * m.x[1] + 2 * m.x[2] - m.x[3])
    m.first = pyo.Constraint(expr=m.x[1] + m.x[2] <= 4, doc="(1) devices")
    m.second = pyo.Constraint(expr=m.x[1] <= 3, doc="(2) gang")
    m.slack = pyo.Constraint(expr=m.x[2] <= 9)
    found = explain(m)
    assert found.conflict is None
    assert found.objective == pytest.approx(11)
    assert {(side.name, side.sense, side.dual) for side in found.binding} == {
        ("first", "<=", 2.0),
        ("second", "<=", 1.0),
    }
    assert [(side.name, side.sense, side.dual) for side in found.bounds] == [("x[3]", ">=", -1.0)]
    assert str(found).splitlines()[1] == "  (1) first: devices: x[1] + x[2] <= 4 (dual 2)"


@pytest.mark.parametrize("sense", [pyo.maximize, pyo.minimize])
def test_a_dual_is_what_a_unit_more_changes(sense: Any) -> None:
    sign = 1 if sense == pyo.maximize else -1
    m = model(lambda m: sign * (2 * m.x[1] + 3 * m.x[2] + m.x[3]))
    m.total.sense = sense
    m.low = pyo.Param(initialize=1.0, mutable=True)
    m.high = pyo.Param(initialize=6.0, mutable=True)
    m.sum = pyo.Constraint(expr=m.x[1] + m.x[2] + m.x[3] <= m.high)
    m.gap = pyo.Constraint(expr=m.x[1] - m.x[2] >= m.low)
    found = {side.name: side.dual for side in explain(m).binding}
    before = solve(m).objective
    for name, param in (("sum", m.high), ("gap", m.low)):
        param.set_value(param.value + 0.5)
        after = solve(m).objective
        assert before is not None
        assert after is not None
        assert found[name] == pytest.approx((after - before) / 0.5)
        param.set_value(param.value - 0.5)


def test_integers_are_fixed_where_duals_are_asked_for() -> None:
    m = model(lambda m: m.x[1] + m.x[2], domain=pyo.NonNegativeReals)
    m.y = pyo.Var(domain=pyo.Binary)
    m.open = pyo.Constraint(expr=m.x[1] <= 4 * m.y)
    m.room = pyo.Constraint(expr=m.x[1] + m.x[2] <= 6)
    found = explain(m)
    assert found.objective == pytest.approx(6)
    assert all(side.name != "y" for side in found.bounds)


def test_models_that_are_refused() -> None:
    with pytest.raises(TypeError, match="a Pyomo model"):
        explain(3)
    with pytest.raises(InputError, match="nodes"):
        explain(model(), nodes=0)
    with pytest.raises(SolverError, match="unbounded"):
        explain(model())


def test_the_model_is_left_as_it_is() -> None:
    m, _, _ = rows_that_conflict()
    before = m.pprint
    m.x[1].value = 7
    explain(m)
    assert m.x[1].value == 7
    assert m.pprint == before
