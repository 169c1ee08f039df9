"""The data of every formulation's models are Params, and a change of a value is followed or refused, never lost."""

from __future__ import annotations

import io
import itertools
import pickle
import re
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from functools import cache
from numbers import Number
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.contrib.latex_printer import latex_printer
from pyomo.gdp import Disjunction

from dlsched.algorithms.exact import certify
from dlsched.models import (
    InputError,
    StaleModelError,
    UnreadableModel,
    Updates,
    build,
    catalog,
    changes,
    dmlrs,
    hadar,
    inspect,
    read,
    solve,
)
from dlsched.models.catalog import formulation
from dlsched.models.dmlrs.schedules import enumerate_schedules
from dlsched.models.document import Record
from dlsched.models.formulation import Formulation
from dlsched.relaxations import TransformationRefused, relax
from dlsched.solvers.matrix import Matrix, compile_model
from tests.longer import longer
from tests.models.test_read import data_of, drawn

DRAWN, MORE = 2, 4
"""Instances of each formulation whose data are changed, and where that may take long; every other has extra data."""

FOLLOWS, REBUILD = Updates.FOLLOWS, Updates.REBUILD

MUTABLE: dict[str, dict[str, Updates]] = {
    "hadar/p1": {"utility": FOLLOWS, "count": REBUILD},
    "hadar/p1-admission": {"utility": FOLLOWS, "count": REBUILD},
    "hadar/p2": {"utility": FOLLOWS, "count": REBUILD},
    "hadar/p3": {"utility": FOLLOWS, "count": REBUILD},
    "hadar/response": {"utility": FOLLOWS, "count": REBUILD, "price": FOLLOWS, "allocated": FOLLOWS},
    "hadar/round": {"count": REBUILD, "left": REBUILD, "price": FOLLOWS, "allocated": FOLLOWS},
    "hadar/aggregate": {"utility": FOLLOWS, "count": REBUILD},
    "hadar/hall": {"utility": FOLLOWS, "count": REBUILD},
    "dmlrs/compact": {"utility": FOLLOWS, "room": REBUILD},
    "dmlrs/compact-printed": {"utility": FOLLOWS, "room": REBUILD},
    "dmlrs/response": {"utility": FOLLOWS, "price": FOLLOWS, "residual": REBUILD},
    **{f"dmlrs/{name}": {"price": FOLLOWS, "residual": REBUILD} for name in ("cheapest", "one-slot")},
    "dmlrs/async": {"utility": FOLLOWS, "room": REBUILD},
    "dmlrs/compact-milp": {"utility": FOLLOWS, "room": REBUILD},
    "dmlrs/aggregate": {"utility": FOLLOWS, "room": REBUILD},
    "dmlrs/schedules": {"utility": FOLLOWS, "room": REBUILD},
    "dmlrs/dual": {"utility": FOLLOWS, "room": REBUILD},
    **{
        f"dmlrs/{name}slot{printed}": {"price": FOLLOWS, "residual": FOLLOWS}
        for name, printed in itertools.product(("internal-", "external-", "async-external-"), ("", "-printed"))
    },
    "smd/minlp": dict.fromkeys(
        ("room", "value", "height", "steepness", "midpoint", "scale", "intercept", "slope"), FOLLOWS
    ),
    "smd/milp": {"utility": FOLLOWS, "room": FOLLOWS},
    "smd/milp-layers": {"utility": FOLLOWS, "room": FOLLOWS},
    "smd/inner": {"reservation": REBUILD},
    "smd/ratio-box": {"reservation": REBUILD},
    "smd/ratio-caps": {"reservation": REBUILD, "nu": FOLLOWS},
    "smd/knapsack": {"utility": FOLLOWS, "room": FOLLOWS},
    **{
        f"ddljs/{name}": {"utility": FOLLOWS, "node_capacity": REBUILD, "link_capacity": REBUILD}
        for name in ("offline", "offline-milp", "offline-circulation", "offline-printed", "slot", "slot-printed")
    },
    **{
        f"ddljs/{name}": {"profit": FOLLOWS, "node_capacity": REBUILD, "link_capacity": REBUILD}
        for name in ("slot-circulation", "gvne", "gvne-printed", "gvne-plain", "gvne-augmented")
    },
}
"""Capacities, utilities and prices of each formulation, and what a change of them does."""

AMOUNTS = {"utility", "value", "height", "scale", "intercept", "slope", "profit"}
"""What is proportional to the jobs' utilities."""

FALLING = {
    **dict.fromkeys(("hadar/p1", "hadar/p1-admission", "hadar/response", "hadar/aggregate", "hadar/hall"), "utility"),
    **dict.fromkeys(("dmlrs/compact", "dmlrs/compact-printed", "dmlrs/response", "dmlrs/async"), "utility"),
    **dict.fromkeys(("dmlrs/compact-milp", "dmlrs/aggregate"), "utility"),
    "smd/minlp": "value",
}
"""What bounds completion from one side only: a job would wait for a slot, or take a level, that is worth more."""

CURVED = {"steepness", "midpoint"}
"""What rows and objective are not linear in."""

ENTRIES = catalog()
NAMES = [entry.name for entry in ENTRIES]


def built(entry: Formulation[Any]) -> Iterator[tuple[Any, Any]]:
    """Instances and their models."""
    for seed in range(200):
        instance = drawn(entry, seed)
        with suppress(ValueError):  # not for such an instance
            yield instance, entry.build(instance, **data_of(entry, instance, seed))


@cache
def models(name: str, count: int = DRAWN) -> list[tuple[Any, Any]]:
    """Instances and their models, such that each Param has a value in some of them; not to be changed."""
    found: list[tuple[Any, Any]] = []
    empty = set(MUTABLE[name])
    for instance, model in built(formulation(name)):
        filled = {param for param in empty if len(model.component(param))}
        if filled or len(found) < count:
            found.append((instance, model))
            empty -= filled
        if len(found) >= count and not empty:
            return found
    raise AssertionError(f"{name}: no values for {empty}")


Numbers = dict[tuple[str, ...], float]
"""All numbers of a model by where they are."""


def numbers(entry: Formulation[Any], model: Any) -> Numbers:
    """Of the compiled matrix; of a nonlinear model at a few points, what its rows and objective are there."""
    if not entry.linear:
        return {(*place, str(seed)): number for seed in range(3) for place, number in at_point(model, seed).items()}
    if next(model.component_data_objects(Disjunction, active=True), None) is not None:
        pyo.TransformationFactory("gdp.bigm").apply_to(model)
    return entries(compile_model(model))


def entries(matrix: Matrix) -> Numbers:
    """The numbers of a matrix that are neither 0 nor infinite."""
    rows, columns = matrix.row_names, matrix.column_names
    coo = matrix.A.tocoo()
    found = {("c", columns[j]): c for j, c in enumerate(matrix.c)} | {("offset",): matrix.offset}
    found |= {(rows[i], columns[j]): a for i, j, a in zip(coo.row, coo.col, coo.data, strict=True)}
    for side, names in (("row_lower", rows), ("row_upper", rows), ("lower", columns), ("upper", columns)):
        found |= {(side, name): end for name, end in zip(names, getattr(matrix, side), strict=True) if abs(end) < 1e300}
    return {place: float(number) for place, number in found.items() if number}


def at_point(model: Any, seed: int) -> Numbers:
    rng = np.random.default_rng(seed)
    for variable in model.component_data_objects(pyo.Var):
        variable.set_value(int(rng.integers(1, 4)), skip_validation=True)
    found = {("objective",): next(model.component_data_objects(pyo.Objective)).expr}
    for row in model.component_data_objects(pyo.Constraint):
        found |= {("body", row.name): row.body, ("upper", row.name): row.upper}
    return {place: float(pyo.value(expr)) for place, expr in found.items() if expr is not None}


def difference(after: Numbers, before: Numbers) -> Numbers:
    found = {place: after.get(place, 0.0) - before.get(place, 0.0) for place in {*after, *before}}
    return {place: number for place, number in found.items() if number}


def some(param: Any) -> list[Any]:
    """The first, middle and last index of a Param."""
    keys = list(param)
    return list(dict.fromkeys((keys[0], keys[len(keys) // 2], keys[-1]))) if keys else []


def message(param: Any, key: Any, old: Any, new: Any) -> str:
    return f"{re.escape(param[key].name)} was changed from {re.escape(str(old))} to {re.escape(str(new))}"


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_data_are_params_with_symbols_and_units(entry: Formulation[Any]) -> None:
    _, model = models(entry.name)[0]
    found = {p.name: p for p in inspect(model).parameters}
    assert {p.name: p.updates for p in found.values() if p.updates is not Updates.FIXED} == MUTABLE[entry.name]
    printed = io.StringIO()
    model.pprint(ostream=printed)
    for name, parameter in found.items():
        assert re.fullmatch(r"[^\s,][^,]*, .+ \[.+\]", parameter.text), f"{name}: {parameter.text}"
        assert f"{name} : {parameter.text}" in printed.getvalue()
        values = [pyo.value(value) for value in model.component(name).values()]
        ends = (min(values), max(values)) if values else (None, None)
        assert (parameter.values, parameter.least, parameter.most) == (len(values), *ends)
    plain = [value for name, value in vars(model).items() if isinstance(value, dict) and value and name[0] != "_"]
    assert not [value for value in plain if all(isinstance(v, Number | Record) for v in value.values())]
    assert not [value for value in vars(model).values() if isinstance(value, Record)]


@pytest.mark.parametrize(
    "name",
    [
        *("hadar/p3", "hadar/aggregate", "dmlrs/dual", "dmlrs/external-slot", "dmlrs/external-slot-printed"),
        *("smd/milp", "smd/milp-layers", "smd/inner", "smd/knapsack"),
    ],
)
def test_formulas_name_the_params(name: str) -> None:
    """Of the other formulations, Pyomo's writer of LaTeX takes few or none."""
    _, model = models(name)[0]
    text = latex_printer(model, ostream=io.StringIO())
    assert all(param in text for param in MUTABLE[name])


@pytest.mark.slow
@pytest.mark.parametrize("count", longer([DRAWN, MORE], MORE))
@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_a_change_is_followed_or_refused(entry: Formulation[Any], count: int) -> None:
    for instance, model in models(entry.name, count):
        original = numbers(entry, model.clone())
        for name, updates in MUTABLE[entry.name].items():
            for key in some(model.component(name)):
                changed = model.clone()
                param = changed.component(name)
                old = pyo.value(param[key])
                param[key] = old + 1
                assert [(c.name, c.old, c.new, not c.why) for c in changes(changed)] == [
                    (param[key].name, old, old + 1, updates is FOLLOWS)
                ]
                assert changes(model) == ()
                if updates is REBUILD:
                    refused(entry, changed, instance, message(param, key, old, old + 1))
                    continue
                once = difference(numbers(entry, changed), original)
                assert once
                param[key] = old + 3
                thrice = difference(numbers(entry, changed), original)
                if name not in CURVED:
                    assert thrice == pytest.approx({place: 3 * number for place, number in once.items()})
                param[key] = old
                assert not changes(changed)
                assert not difference(numbers(entry, changed), original)


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_a_model_that_follows_is_the_model_of_the_changed_instance(entry: Formulation[Any]) -> None:
    """All utilities are doubled, in the model and in the instance."""
    amounts = AMOUNTS.intersection(MUTABLE[entry.name])
    for seed, (instance, _) in enumerate(models(entry.name) if amounts else ()):
        jobs = tuple(job.model_copy(update={"utility": job.utility.times(Fraction(2))}) for job in instance.jobs)
        given = data_of(entry, instance, seed)
        model = entry.build(instance, **given)
        for param in map(model.component, amounts):
            for data in param.values():
                data.set_value(2 * data.value)
        anew = entry.build(instance.model_copy(update={"jobs": jobs}), **given)
        assert numbers(entry, model) == numbers(entry, anew)


def refused(entry: Formulation[Any], model: Any, instance: Any, change: str) -> None:
    """In one line, wherever a model is taken."""
    line = (
        f"{change}, but [^\n]+ (was|were) (derived from|listed for) it: build the model anew from a changed instance$"
    )
    for take in (solve, inspect, certify):
        with pytest.raises(StaleModelError, match=f"^{line}"):
            take(model)
    with pytest.raises(TransformationRefused, match=f"^{line}"):
        relax(model)
    if entry.reader is not None:
        with pytest.raises(UnreadableModel, match=f"^{entry.name}: {line}"):
            read(model, instance)


ONE = {
    "slots": 3,
    "device_types": ["gpu"],
    "machines": [{"name": "m", "devices": {"gpu": 1}}],
    "jobs": [
        {
            "name": name,
            "arrival": 1,
            "gang": 1,
            "iterations": 2,
            "rate": {"gpu": 1},
            "utility": {"kind": "table", "values": values},
        }
        for name, values in (("a", [9, 8, 0]), ("b", [5, 5, 0]))
    ],
}
"""One device for 3 slots; each job needs two of them, so that one job runs."""


def test_what_was_changed_decides_and_the_schedule_is_of_the_instance() -> None:
    instance = hadar.Instance.parse(ONE)
    model = build("hadar/aggregate", instance)
    assert solve(model).objective == 8
    model.utility["b", 2] = 9
    model.utility["b", 1] = 9
    assert solve(model).objective == 9
    schedule = read(model, instance)
    assert (set(schedule.jobs), hadar.utility(instance, schedule)) == ({"b"}, 5)
    assert [str(change) for change in changes(model)] == [
        "utility[b,1] was changed from 5.0 to 9",
        "utility[b,2] was changed from 5.0 to 9",
    ]


def two_values(name: str) -> tuple[Any, Any, Any, Any, Any]:
    """An instance, its model, a Param that must not increase, and two indices of it one after the other."""
    for instance, model in built(formulation(name)):
        param = model.component(FALLING[name])
        for first, second in itertools.pairwise(param):
            if first[0] == second[0]:
                return instance, model, param, first, second
    raise AssertionError(f"{name}: no job has two values")


@pytest.mark.slow
@pytest.mark.parametrize("name", FALLING)
def test_utilities_must_not_increase(name: str) -> None:
    instance, model, param, first, second = two_values(name)
    old = pyo.value(param[first])
    param[second] = old + 1
    says = (
        f"{re.escape(param[second].name)} is {old + 1}, more than {re.escape(param[first].name)} with {old}: "
        f"the model is right only where no later value is larger$"
    )
    with pytest.raises(StaleModelError, match=f"^{says}"):
        solve(model)
    if formulation(name).reader is not None:
        with pytest.raises(UnreadableModel, match=f"^{name}: {says}"):
            read(model, instance)
    param[first] = old + 1
    assert inspect(model).parameters


@pytest.mark.parametrize("name", ["hadar/p2", "hadar/p3"])
def test_given_schedules_do_not_come_from_the_devices(name: str) -> None:
    instance = hadar.Instance.parse(ONE)
    columns = {job.name: hadar.enumerate_schedules(instance, job) for job in instance.jobs}
    model = build(name, instance, schedules=columns)
    model.count["m", "gpu"] = 2
    more = ONE | {"machines": [{"name": "m", "devices": {"gpu": 2}}]}
    anew = build(name, hadar.Instance.parse(more), schedules=columns)
    assert entries(compile_model(model)) == entries(compile_model(anew))
    assert [p.updates for p in inspect(model).parameters if p.name == "count"] == [FOLLOWS]


def test_a_schedule_of_changed_data_that_the_instance_does_not_allow() -> None:
    instance = hadar.Instance.parse(ONE)
    model = build(
        "hadar/p2", instance, schedules={j.name: hadar.enumerate_schedules(instance, j) for j in instance.jobs}
    )
    model.count["m", "gpu"] = 2
    assert solve(model).objective == 13
    with pytest.raises(UnreadableModel, match=r"exceed the 1 there .*; count\[m,gpu\] was changed from 1 to 2$"):
        read(model, instance)


def test_models_within_a_model() -> None:
    instance = hadar.Instance.parse(ONE)
    whole = pyo.ConcreteModel()
    whole.part = build("hadar/hall", instance)
    assert solve(whole).objective == 8
    whole.part.count["gpu"] = 2
    with pytest.raises(StaleModelError, match=r"^part.count\[gpu\] was changed from 1 to 2, but "):
        solve(whole)


def test_copies_keep_what_they_were_built_with() -> None:
    model = build("hadar/hall", hadar.Instance.parse(ONE))
    for copy in (model.clone(), pickle.loads(pickle.dumps(model)), relax(model).model):
        assert changes(copy) == ()
        copy.count["gpu"].clear()
        (change,) = changes(copy)
        assert (change.old, change.new) == (1, None)
        copy.count["gpu"] = 1
        copy.utility["a", 2].clear()
        with pytest.raises(StaleModelError, match=r"^utility\[a,2\] was changed from 8.0 to None, which is no value$"):
            solve(copy)
    assert changes(model) == ()


@pytest.mark.parametrize("name", ["hadar/p2", "hadar/p3", "dmlrs/schedules", "dmlrs/dual"])
def test_given_schedules_that_are_of_no_job_or_no_schedules(name: str) -> None:
    """Nothing of what is given is left out of a model without a word."""
    problem = name.split("/")[0]
    package, job, other = {"hadar": (hadar, "job2", "job3"), "dmlrs": (dmlrs, "job3", "job2")}[problem]
    instance = package.random(0)
    list_schedules = {"hadar": hadar.enumerate_schedules, "dmlrs": enumerate_schedules}[problem]
    column = list_schedules(instance, instance.job(job))[0]
    for given, error, says in (
        ({"nope": []}, InputError, "schedules: 'nope' is not a job of the instance"),
        ({job: [column, 5]}, TypeError, f"schedules['{job}'][1]: expected a Column of {problem}, got 5"),
        ({job: column}, TypeError, f"schedules['{job}']: expected a sequence, got a Column of {problem}"),
        ([column], TypeError, "schedules: expected a mapping, got a list"),
        ({other: [column]}, InputError, f"schedules['{other}'][0]: is a schedule of job '{job}'"),
    ):
        with pytest.raises(error, match=f"^{re.escape(says)}$"):
            build(name, instance, schedules=given)
