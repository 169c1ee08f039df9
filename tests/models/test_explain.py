"""`explain`: the true cause of infeasible models, in sets that no member of which can be spared, and what binds."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.gdp import Disjunction
from pyomo.gdp.util import get_src_constraint
from scipy.optimize import Bounds, LinearConstraint, milp

from dlsched.models import Conflict, InputError, build, compile_model, ddljs, dmlrs, explain, hadar, smd, solve
from dlsched.solvers import SolverError
from tests.cli.cases import s3


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
    assert told[1] == "  (1) need: work to be done: x[1] + x[2] >= 5 (4 would do)"
    assert told[2] == "  (2) room[1]: room: x[1] <= 2 (alone it could be 0; 3 would do)"
    assert told[-5:] == [
        "In words:",
        "  x[1]: at most 2, by (2) room[1]",
        "  x[2]: at most 2, by (2) room[2]",
        "  work to be done: 5 needed, at most 4 there, by (1) need",
        "  added up: 5 needed, by (1) need; 4 there, by (2) room[1], (2) room[2]",
    ]
    m, _, _ = whole_numbers()
    assert "  whole numbers: x[1], x[2]" in str(explain(m)).splitlines()


def table(*values: int) -> dict[str, Any]:
    return {"kind": "table", "values": list(values)}


def gangs(count: dict[str, int], *jobs: tuple[int, int], slots: int = 1) -> hadar.Instance:
    """Jobs, each a gang and its iterations, on one machine; each device does one a slot."""
    made = [
        {
            "name": name,
            "arrival": 1,
            "gang": gang,
            "iterations": iterations,
            "rate": dict.fromkeys(count, 1),
            "utility": table(*range(9, 9 - slots, -1)),
        }
        for name, (gang, iterations) in zip("ab", jobs, strict=False)
    ]
    machine = {"name": "m", "devices": count}
    return hadar.Instance.parse(
        {"slots": slots, "slot_seconds": 1, "device_types": list(count), "machines": [machine], "jobs": made}
    )


def samples(n: int, batch: int, cpu: int = 2, jobs: str = "a", gpu: int = 4) -> dmlrs.Instance:
    """Jobs of n samples in one slot; a worker takes a GPU and does a sample, a server takes a CPU and serves two."""
    job = {
        "arrival": 1,
        "epochs": 1,
        "samples": n,
        "batch": batch,
        "gradient_size": 0,
        "slots_per_sample": 1,
        "workers_per_server": 2,
        "internal_rate": 1,
        "external_rate": 1,
        "worker": {"gpu": 1},
        "server": {"cpu": 1},
        "utility": table(9),
    }
    return dmlrs.Instance.parse(
        {
            "slots": 1,
            "resources": ["gpu", "cpu"],
            "machines": [{"name": "m", "capacity": {"gpu": gpu, "cpu": cpu}}],
            "jobs": [{"name": name} | job for name in jobs],
        }
    )


def rings(*capacity: int, bandwidth: float = 1, jobs: str = "i", most: int = 2) -> ddljs.Instance:
    """Jobs of up to so many workers, a GPU each, on servers with a link both ways between the first two."""
    job = {
        "arrival": 1,
        "max_workers": most,
        "worker": {"gpu": 1},
        "progress": 1,
        "bandwidth": 1,
        "utility": {"kind": "sqrt", "scale": 1},
    }
    return ddljs.Instance.parse(
        {
            "slots": 1,
            "resources": ["gpu"],
            "nodes": [{"name": name, "capacity": {"gpu": n}} for name, n in zip("st", capacity, strict=False)],
            "links": [{"source": "s", "target": "t", "bandwidth": bandwidth}],
            "duplex": True,
            "jobs": [{"name": name} | job for name in jobs],
        }
    )


def small_cluster() -> smd.Instance:
    """The first job reserves (8, 6) of the (7, 7) that there are."""
    return smd.Instance.parse(s3() | {"capacity": {"gpu": 7, "cpu": 7}})


def admitting(name: str, instance: Any, rows: str = "once") -> Any:
    """Let rows that say `at most once` say `exactly once`: the jobs are admitted."""
    m = build(name, instance)
    for row in m.component(rows).values():
        row.set_value(row.body == row.upper)
    return m


def asking(name: str, instance: ddljs.Instance, count: int) -> Any:
    """Ask for so many workers of every job."""
    m = build(name, instance)
    m.asked = pyo.Constraint(m.I, rule=lambda m, i: sum(k * m.count[i, k] for j, k in m.counts if j == i) >= count)
    return m


CAUSES: dict[str, tuple[Callable[[], Any], set[str], str]] = {
    "hadar (1d): devices of a type": (
        lambda: admitting("hadar/aggregate", gangs({"fast": 1}, (1, 1), (1, 1))),
        {"once[a]", "once[b]", "work[a,1]", "work[b,1]", "whole_gang[a,1]", "whole_gang[b,1]", "capacity[fast,1]"},
        "added up: 2 needed, by (1a) once[a], (1a) once[b]; 1 there, by (1d) capacity[fast,1]",
    ),
    "hadar (1a): iterations": (
        lambda: admitting("hadar/aggregate", gangs({"fast": 1}, (1, 3), slots=2)),
        {"once[a]", "work[a,2]"},
        "added up: 1 needed, by (1a) once[a]; 0.666666667 there, by the bounds",
    ),
    "hadar (1e): gangs": (
        lambda: admitting("hadar/aggregate", gangs({"fast": 2, "slow": 2}, (3, 3), (2, 2))),
        {"once[a]", "once[b]", "work[a,1]", "work[b,1]", "whole_gang[a,1]", "whole_gang[b,1]"}
        | {"capacity[fast,1]", "capacity[slow,1]"},
        "added up: 5 needed, by 3 times (1a) once[a], 2 times (1a) once[b]; "
        "4 there, by (1d) capacity[fast,1], (1d) capacity[slow,1]",
    ),
    "hadar (1a) as printed: every job finishes": (
        lambda: build("hadar/p1", gangs({"fast": 1}, (1, 1), (1, 1))),
        {"finish[a]", "finish[b]", "work[a]", "work[b]", "idle_or_gang[a,1]", "idle_or_gang[b,1]"}
        | {f"option[{job},1,{rows}" for job in "ab" for rows in ("fast].gang", "idle].rate")}
        | {"capacity[m,fast,1]"},
        "machine m, device type fast, slot 1: devices of a machine and type: at least 2 needed, 1 there, "
        "by (1d) capacity[m,fast,1]",
    ),
    "hadar (2a): schedules": (
        lambda: admitting("hadar/p2", gangs({"fast": 1}, (1, 1), (1, 1))),
        {"once[a]", "once[b]", "capacity[m,fast,1]"},
        "added up: 2 needed, by (2b) once[a], (2b) once[b]; 1 there, by (2a) capacity[m,fast,1]",
    ),
    "hadar: Hall's rows": (
        lambda: admitting("hadar/hall", gangs({"fast": 1}, (1, 1), (1, 1))),
        {"once[a]", "once[b]", "work[a,1]", "work[b,1]", "hall[0,1]"},
        "added up: 2 needed, by (1a) once[a], (1a) once[b]; 1 there, by (1b) (1d) (1e) hall[0,1]",
    ),
    "dmlrs (4): most workers": (
        lambda: admitting("dmlrs/compact", samples(4, 2)),
        {"once[a]", "work[a]", "samples[a,1]"},
        "job a: x_i, a job is admitted at most once: 1 needed, at most 0.5 there, by (DMLRS) once[a]",
    ),
    "dmlrs (2): servers": (
        lambda: admitting("dmlrs/compact-milp", samples(4, 4, cpu=1)),
        {"once[a]", "work[a]", "spread_enough[a,1]"},
        "job a, slot 1, group m: workers elsewhere: at most 2, by (2) spread_enough[a,1]",
    ),
    "dmlrs (5): capacity": (
        lambda: admitting("dmlrs/compact-milp", samples(2, 2, jobs="ab", gpu=3)),
        {"once[a]", "once[b]", "work[a]", "work[b]", "capacity[m,gpu,1]"},
        "added up: 4 needed, by 2 times (DMLRS) once[a], 2 times (DMLRS) once[b]; 3 there, by (5) capacity[m,gpu,1]",
    ),
    "smd (2): reservations": (
        lambda: admitting("smd/milp", small_cluster()),
        {"once[a]", "capacity[gpu]"},
        "added up: 8 needed, by 8 times (3) once[a]; 7 there, by (2) capacity[gpu]",
    ),
    "ddljs (4): capacity": (
        lambda: asking("ddljs/offline-milp", rings(1, 0, jobs="ij"), 1),
        {"asked[i]", "asked[j]", "worker_slots[i]", "worker_slots[j]", "capacity[s,gpu,1]"},
        "added up: 2 needed, by asked[i], asked[j]; 1 there, by (4) capacity[s,gpu,1]",
    ),
    "ddljs (7), (9): a ring that no link carries": (
        lambda: asking("ddljs/offline-milp", rings(1, 1, bandwidth=0.5), 2),
        {"asked[i]", "worker_slots[i]", "room_in_use[i,1,s]", "room_in_use[i,1,t]", "more_than_one[i,1]"}
        | {"all_joined[i,1,s]", "leave[i,1,s]"},
        "added up: 4 needed, by 2 times asked[i]; 3 there, "
        "by (9) more_than_one[i,1], (9) all_joined[i,1,s] and the bounds",
    ),
    "ddljs: one number of workers": (
        lambda: asking("ddljs/offline-circulation", rings(4, 4, most=2), 3),
        {"asked[i]", "one_count[i]"},
        "job i: one number of worker-slots: at least 2 needed, 1 there, by (DDLJS) one_count[i]",
    ),
}
"""What cannot hold together in models of the papers, by the constraint that is in the way."""


@pytest.mark.slow
@pytest.mark.parametrize("cause", CAUSES)
def test_the_true_cause_of_models_of_the_papers(cause: str) -> None:
    made, expected, story = CAUSES[cause]
    m = made()
    found = explain(m).conflict
    assert found is not None
    assert found.irreducible
    assert {side.name for side in found.sides} == expected
    assert story in found.story
    System(m).expect_irreducible(found)


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
    instance = smd.preset("paper", 0, jobs=6)
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
    System(m).expect_irreducible(found)


class System:
    """The rows of a model by the names of what they were written for, and SciPy to say whether some have a point."""

    def __init__(self, m: Any) -> None:
        m = m.clone()
        disjunctions = list(m.component_data_objects(Disjunction, active=True))
        pyo.TransformationFactory("gdp.bigm").apply_to(m)
        either_or = {disjunction.algebraic_constraint.name: disjunction.name for disjunction in disjunctions}
        self.matrix = compile_model(m)
        self.rows: dict[tuple[str, str], int] = {}
        for i, row in enumerate(self.matrix.rows):
            name = either_or.get(row.name) or (
                row.name if row.name.count("_pyomo") == 0 else get_src_constraint(row).name
            )
            for sense, sides in ((">=", self.matrix.row_lower), ("<=", self.matrix.row_upper)):
                if np.isfinite(sides[i]):
                    assert (name, sense) not in self.rows
                    self.rows[name, sense] = i

    def expect_irreducible(self, found: Conflict) -> None:
        sides = [(side.name, side.sense) for side in found.sides]
        assert not self.has_point(sides, bool(found.integers))
        for k in range(len(sides)):
            assert self.has_point(sides[:k] + sides[k + 1 :], bool(found.integers)), sides[k]
        for side in found.sides:
            if side.enough is not None:
                assert self.has_point(sides, bool(found.integers), {(side.name, side.sense): side.enough})
                nearer = side.enough + (0.01 if side.sense == ">=" else -0.01)
                assert not self.has_point(sides, bool(found.integers), {(side.name, side.sense): nearer})

    def has_point(
        self, sides: list[tuple[str, str]], whole: bool, limits: Mapping[tuple[str, str], float] = MappingProxyType({})
    ) -> bool:
        """Tell whether some sides have a point, with nonnegative and binary variables as they are."""
        a = self.matrix
        binary = a.integer & (a.lower == 0) & (a.upper == 1)
        lower = np.where((a.lower == 0) | whole, a.lower, -np.inf)
        upper = np.where(binary | whole, a.upper, np.inf)
        row_lower, row_upper = np.full(len(a.rows), -np.inf), np.full(len(a.rows), np.inf)
        for name, sense in sides:
            if (name, sense) in self.rows:
                i = self.rows[name, sense]
                given = (a.row_lower if sense == ">=" else a.row_upper)[i]
                (row_lower if sense == ">=" else row_upper)[i] = limits.get((name, sense), given)
            else:
                n = a.column_names.index(name)
                (lower if sense == ">=" else upper)[n] = (a.lower if sense == ">=" else a.upper)[n]
        found = milp(
            np.zeros(len(a.c)),
            integrality=a.integer.astype(int) if whole else None,
            bounds=Bounds(lower, upper),
            constraints=LinearConstraint(a.A, row_lower, row_upper),
        )
        assert found.status in (0, 2)
        return bool(found.status == 0)


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
    assert str(found).splitlines()[0] == "The optimum is 11."
    assert str(found).splitlines()[3] == "  (1) first: devices: x[1] + x[2] <= 4 (dual 2)"


def knapsack() -> Any:
    """The second of two things is taken; with 1 more room the other two as well."""
    m = model(lambda m: 5 * m.x[1] + 6 * m.x[2] + 2 * m.x[3], domain=pyo.Binary)
    m.room = pyo.Constraint([1, 2], rule=lambda m, k: 2 * m.x[1] + 3 * m.x[2] + m.x[3] <= 3 + k - 1, doc="(1) room")
    m.whole = pyo.Constraint(expr=m.x[1] + m.x[2] + m.x[3] >= 1)
    return m


def test_what_more_of_something_is_worth_with_integers_free() -> None:
    found = explain(knapsack(), raised=["room", "room[1]", "room[2]"])
    assert found.objective == pytest.approx(7)
    assert [(one.name, one.objective, one.change) for one in found.raised] == [
        ("room", pytest.approx(8), pytest.approx(1)),
        ("room[1]", pytest.approx(8), pytest.approx(1)),
        ("room[2]", pytest.approx(7), pytest.approx(0)),
    ]
    assert "  with 1 more in room: 8, a change of 1" in str(found).splitlines()
    assert "no limit changes it" in str(found)
    with pytest.raises(InputError, match="no constraint with an upper limit is called whole"):
        explain(knapsack(), raised=["whole"])


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


@pytest.mark.slow
def test_models_that_are_refused() -> None:
    with pytest.raises(TypeError, match="a Pyomo model"):
        explain(3)
    with pytest.raises(InputError, match="nodes"):
        explain(model(), nodes=0)
    with pytest.raises(InputError, match=r"^the model has points, and no best one: it is unbounded$"):
        explain(model())
    with pytest.raises(InputError, match=r"^the model has points, and no best one: it is unbounded$"):
        explain(model(domain=pyo.NonNegativeIntegers))


def test_what_solvers_leave_open_is_no_unbounded_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def undecided(matrix: Any) -> Any:
        raise SolverError("no solver decided the program (HiGHS: time)")

    for best, told in ((undecided, "no solver decided"), (lambda matrix: None, "and none with it")):
        monkeypatch.setattr(sys.modules["dlsched.models.explain"], "solve_to_optimality", best)
        with pytest.raises(SolverError, match=told):
            explain(model(bounds=(0, 1)))


def test_the_model_is_left_as_it_is() -> None:
    m, _, _ = rows_that_conflict()
    m.x[1].value = 7
    before = printed(m)
    explain(m)
    assert printed(m) == before


def printed(model: Any) -> str:
    stream = io.StringIO()
    model.pprint(stream)
    return stream.getvalue()


@pytest.mark.parametrize(("domain", "limits"), [(pyo.Reals, (3, 1)), (pyo.Integers, (0.2, 0.8))])
def test_an_unused_variable_that_has_no_value(domain: Any, limits: tuple[float, float]) -> None:
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 1)), pyo.Var(domain=domain, bounds=limits)
    m.total = pyo.Objective(expr=m.x)
    conflict = explain(m).conflict
    assert conflict is not None
    assert [(side.name, side.sense, side.limit) for side in conflict.sides] == [
        ("y", ">=", limits[0]),
        ("y", "<=", limits[1]),
    ]
    assert conflict.integers == (("y",) if domain is pyo.Integers else ())


@pytest.mark.parametrize("used", [True, False])
def test_an_integer_that_has_no_value(used: bool) -> None:
    for limits, integers in (((0.3, 0.7), ("n",)), ((3, 1), ()), ((3.6, 3.4), ())):
        m = model(bounds=(0, 4))
        m.n = pyo.Var(domain=pyo.Integers, bounds=limits)
        m.row = pyo.Constraint(expr=m.x[1] + (m.n if used else 0) <= 3)
        conflict = explain(m).conflict
        assert conflict is not None
        told = [(side.name, side.sense, side.limit) for side in conflict.sides]
        assert told == [("n", ">=", limits[0]), ("n", "<=", limits[1])]
        assert (conflict.integers, conflict.irreducible) == (integers, True)
        assert str(conflict).splitlines()[1:3] == [f"  n: n >= {limits[0]}", f"  n: n <= {limits[1]}"]
        assert ("  whole numbers: n" in str(conflict).splitlines()) == bool(integers)


def test_a_model_whose_variables_are_all_fixed() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 1))
    m.x.fix(0.5)
    m.room = pyo.Constraint(expr=m.x <= 0.7)
    m.total = pyo.Objective(expr=m.x)
    assert explain(m).objective == 0.5
    m.x.fix(0.8)
    conflict = explain(m).conflict
    assert conflict is not None
    assert [(side.name, side.limit, side.reach) for side in conflict.sides] == [("room", 0.7, 0.8)]
    m.room.deactivate()
    m.nothing = pyo.Param(mutable=True, initialize=0)
    m.y = pyo.Var()
    m.empty = pyo.Constraint(expr=m.nothing * m.y >= 1)
    conflict = explain(m).conflict
    assert conflict is not None
    assert [(side.name, side.limit, side.reach) for side in conflict.sides] == [("empty", 1, 0)]


def block_of_an_expression_outside() -> Any:
    """x <= 2 by way of a named expression of the block around it, and x >= 3."""
    m = pyo.ConcreteModel()
    m.b = pyo.Block()
    m.b.x = pyo.Var(bounds=(0, 10))
    m.twice = pyo.Expression(expr=2 * m.b.x)
    m.b.low = pyo.Constraint(expr=m.twice <= 4)
    m.b.high = pyo.Constraint(expr=m.b.x >= 3)
    return m.b


def test_a_block_with_a_named_expression_outside() -> None:
    block = block_of_an_expression_outside()
    found = explain(block)
    assert found.conflict is not None
    assert {side.name.rpartition(".")[2] for side in found.conflict.sides} == {"low", "high"}
    block.high.deactivate()
    block.choice = Disjunction(expr=[[block.x >= 1], [block.x >= 5]])
    block.cost = pyo.Objective(expr=-block.x, sense=pyo.maximize)
    assert explain(block).objective == -1
    assert block.x.value is None


def test_an_either_or_without_a_big_m_is_refused_in_one_line() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var()
    m.either = Disjunction(expr=[[m.x <= 2], [m.x >= 8]])
    m.cost = pyo.Objective(expr=m.x)
    with pytest.raises(ValueError, match=r"^the either-or cannot be written as rows: Cannot estimate M .* bounded\.$"):
        explain(m)


def test_many_rows_of_a_component_say_which_side_of_theirs_it_is() -> None:
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(range(4), bounds=(1, 2)), pyo.Var(range(4), bounds=(0, 5))
    m.same = pyo.Constraint(range(4), rule=lambda m, i: m.x[i] == m.y[i])
    m.much = pyo.Constraint(expr=sum(m.y.values()) >= 9)
    m.cost = pyo.Objective(expr=m.x[0])
    assert "  x: 4 of them <= 2 each, x[0], x[1], x[2], x[3]" in str(explain(m)).splitlines()


def test_bounds_that_whole_numbers_need() -> None:
    """Without k <= 4.5 there is a point, k = 5 and x = -3; with fractions there is one within it."""
    m = pyo.ConcreteModel()
    m.k = pyo.Var(domain=pyo.PositiveIntegers, bounds=(None, 4.5))
    m.x = pyo.Var(domain=pyo.NonPositiveReals)
    m.a = pyo.Constraint(expr=-3 * m.x >= 2)
    m.b = pyo.Constraint(expr=-3 * m.k - m.x == -12)
    m.o = pyo.Objective(expr=m.x)
    found = explain(m).conflict
    assert found is not None
    assert [f"{side.name} {side.sense} {side.limit:g}" for side in found.sides] == ["a >= 2", "b <= -12", "k <= 4.5"]
    assert found.integers == ("k",)
    assert found.irreducible
