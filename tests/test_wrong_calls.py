"""Wrong calls from Python: one line that names the argument, what was expected and what came."""

from __future__ import annotations

import importlib
import inspect as python_inspect
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import networkx as nx
import numpy as np
import pyomo.environ as pyo
import pyomo.kernel
import pytest

from dlsched import algorithms, bounds, models, rounding, traces
from dlsched.algorithms import baselines, optimum, solve_knapsack
from dlsched.algorithms.exact import certify
from dlsched.errors import shown
from dlsched.extras import MissingExtra
from dlsched.models import (
    FractionalSum,
    InputError,
    Polytope,
    Ratio,
    build,
    changes,
    compile_model,
    ddljs,
    difference,
    dmlrs,
    duals,
    explain,
    hadar,
    inspect,
    latex,
    read,
    residuals,
    smd,
    solve,
    spy,
)
from dlsched.relaxations import (
    Planar,
    TransformationRefused,
    aggregate_machines,
    augmented_vne,
    charnes_cooper,
    dual,
    generate_columns,
    knapsack_vne,
    lift_bounds,
    relax,
    standard_form,
    sum_of_ratios,
    to_cvxpy,
)
from dlsched.rounding import MappingTable, WeightedMapping
from dlsched.solvers import solve_matrix
from tests import paths

ROOT = paths.ROOT
ROOMS = ("solvers", "models", "relaxations", "rounding", "algorithms", "bounds", "figures", "traces", "cli")
H, S, D, N = hadar.random(0), smd.random(0), dmlrs.random(0), ddljs.random(0)
PROBLEM, ONE = ddljs.slot_problem(N, 2), Fraction(1)
FASTER = 1
"""A seed of DMLRS with which a job is faster between machines."""

PROBLEMS = {hadar: H, smd: S, dmlrs: D, ddljs: N}
NAMES = {hadar: "hadar", smd: "smd", dmlrs: "dmlrs", ddljs: "ddljs"}
RUNS = {
    algorithms.hadar: H,
    algorithms.hadar_e: H,
    algorithms.smd: S,
    algorithms.pd_ors: D,
    algorithms.gadget: N,
    baselines.hadar.gavel: H,
    baselines.smd.esw: S,
    baselines.smd.optimus: S,
    baselines.dmlrs.dorm: D,
    baselines.dmlrs.drf: D,
    baselines.dmlrs.fifo: D,
    baselines.dmlrs.oasis: D,
    baselines.ddljs.drf: N,
    baselines.ddljs.fifo: N,
    baselines.ddljs.las: N,
}


def refused(call: Callable[[], object], *kinds: type[Exception]) -> str:
    """Return the one line with which a call is refused."""
    with pytest.raises(kinds) as caught:
        call()
    (line,) = str(caught.value).splitlines()
    return line


def public_functions() -> Iterator[tuple[str, FunctionType]]:
    """Yield every function that a stub exports, itself or in a module."""
    for stub in sorted(stub for room in ROOMS for stub in (ROOT / room).rglob("__init__.pyi")):
        package = importlib.import_module(".".join(["dlsched", *stub.parent.relative_to(ROOT).parts]))
        for name in package.__all__:
            value = getattr(package, name)
            if isinstance(value, FunctionType):
                yield f"{package.__name__}.{name}", value
            elif isinstance(value, ModuleType) and not hasattr(value, "__path__"):
                for inner, function in vars(value).items():
                    own = isinstance(function, FunctionType) and function.__module__ == value.__name__
                    if own and not inner.startswith("_"):
                        yield f"{value.__name__}.{inner}", function


FUNCTIONS = {python_inspect.unwrap(function): (name, function) for name, function in public_functions()}
ARITHMETIC = "dlsched.models.numbers"
"""Functions of numbers are called in every inner loop, and leave the check to the arithmetic."""

TYPED = [
    (name, function, parameter.name)
    for name, function in FUNCTIONS.values()
    for parameter in python_inspect.signature(function).parameters.values()
    if function.__module__ != ARITHMETIC and parameter.annotation not in ("Any", "object")
]


class Alien:
    """What no function expects."""


@pytest.mark.parametrize(("name", "function", "parameter"), TYPED, ids=[f"{name}-{p}" for name, _, p in TYPED])
def test_every_argument_of_every_public_function_is_refused_by_name(name: str, function: Any, parameter: str) -> None:
    line = refused(lambda: function(**{parameter: Alien()}), TypeError)
    assert line.startswith(f"{parameter}: expected ")
    assert line.endswith(f"got a {__name__}.Alien")


_MODELS = ("changes", "duals", "explain", "inspect", "latex", "read", "residuals", "solve", "spy")
UNTYPED = {
    ("dlsched.models.difference", "before"),
    ("dlsched.models.difference", "after"),
    ("dlsched.models.build", "instance"),
    ("dlsched.models.read", "instance"),
    ("dlsched.bounds.check", "instance"),
    ("dlsched.algorithms.exact.optimum", "instance"),
    ("dlsched.algorithms.exact.certify", "problem"),
    ("dlsched.relaxations.sum_of_ratios", "problem"),
    ("dlsched.relaxations.to_cvxpy", "model"),
    *((f"dlsched.models.{name}.plot", "ax") for name in NAMES.values()),
    ("dlsched.algorithms.hadar_e.plot", "ax"),
    ("dlsched.algorithms.simulator.gantt", "ax"),
    ("dlsched.algorithms.plot_gap", "ax"),
    ("dlsched.algorithms.plot_prices", "ax"),
    ("dlsched.bounds.plot_claim", "ax"),
    *((f"dlsched.models.{name}", "model") for name in _MODELS),
    ("dlsched.solvers.compile_model", "model"),
    *((f"dlsched.models.ddljs.{name}_from", "model") for name in ("embeddings", "mappings")),
    *(
        (f"dlsched.relaxations.{name}", "model")
        for name in ("charnes_cooper", "dual", "lift_bounds", "relax", "standard_form")
    ),
}


def test_what_the_annotations_leave_open_is_tested_below() -> None:
    found = {
        (name, parameter.name)
        for name, function in FUNCTIONS.values()
        for parameter in python_inspect.signature(function).parameters.values()
        if function.__module__ != ARITHMETIC
        and parameter.annotation in ("Any", "object")
        and parameter.kind is not parameter.VAR_KEYWORD
    }
    assert found == UNTYPED


# What users hand to a function of a problem, and what they are told.
STRANGERS: dict[str, tuple[Callable[[Any], object], str]] = {
    "another problem's": (lambda package: S if package is hadar else H, "got an instance of "),
    "data": (lambda package: PROBLEMS[package].dump(), "got a dict: read it with Instance.parse"),
    "a name": (lambda package: "instance.json", "got 'instance.json': read it with Instance.load"),
    "a path": (lambda package: Path("instance.json"), "got 'instance.json': read it with Instance.load"),
    "a schedule": (lambda package: package.Schedule(jobs={}), "got a schedule of "),
    "nothing": (lambda package: None, "got None"),
    "the class": (lambda package: package.Instance, "got the class Instance"),
}


@pytest.mark.parametrize("stranger", STRANGERS)
@pytest.mark.parametrize("package", PROBLEMS, ids=NAMES.values())
def test_an_instance_of_the_problem_is_asked_for(package: Any, stranger: str) -> None:
    make, words = STRANGERS[stranger]
    wrong, schedule = make(package), package.Schedule(jobs={})
    for function in (package.check, package.utility, package.exact_utility, package.plot):
        line = refused(lambda function=function: function(wrong, schedule), TypeError)
        assert line.startswith(f"instance: expected an instance of {NAMES[package]}, ")
        assert words in line
    for entry in models.catalog():
        if entry.problem == NAMES[package]:
            line = refused(lambda entry=entry: entry.build(wrong), TypeError)
            assert line.startswith(f"{entry.name}: expected an instance of {NAMES[package]}, ")
            assert words in line


@pytest.mark.parametrize("stranger", STRANGERS)
@pytest.mark.parametrize("module", RUNS, ids=lambda module: module.__name__)
def test_algorithms_ask_for_an_instance_of_their_problem(module: Any, stranger: str) -> None:
    make, words = STRANGERS[stranger]
    package = next(package for package, instance in PROBLEMS.items() if instance is RUNS[module])
    line = refused(lambda: module.run(make(package)), TypeError)
    assert line.startswith(f"instance: expected an instance of {NAMES[package]}, ")
    assert words in line


@pytest.mark.parametrize("package", PROBLEMS, ids=NAMES.values())
def test_a_schedule_of_the_problem_is_asked_for(package: Any) -> None:
    instance = PROBLEMS[package]
    other = smd.Schedule(jobs={}) if package is hadar else hadar.Schedule(jobs={})
    module = next(module for module, its in RUNS.items() if its is instance)
    wanted = f"schedule: expected a schedule of {NAMES[package]}, got "
    for wrong, words in (
        (other, "a schedule of "),
        ({"jobs": {}}, "a dict: read it with Schedule.parse"),
        ("s.json", "'s.json': read it with Schedule.load"),
        (module.run(instance), "a dlsched.algorithms.Run: pass its .schedule"),
        (instance, "an instance of "),
    ):
        for function in (package.check, package.utility):
            assert refused(lambda f=function, w=wrong: f(instance, w), TypeError).startswith(wanted + words)


def test_a_schedule_of_another_instance_names_the_job() -> None:
    schedule = hadar.Schedule.of({"stranger": {1: {"machine1": {"type1": 1}}}})
    assert hadar.check(H, schedule)[0].place == "job stranger"
    assert refused(lambda: hadar.utility(H, schedule), InputError).startswith("unknown job 'stranger'; there are job1,")


def lp() -> Any:
    """Minimise x[1] where x[1] + x[2] >= 1, both in [0, 1]; nothing has a value."""
    model = pyo.ConcreteModel(name="lp")
    model.x = pyo.Var([1, 2], bounds=(0, 1))
    model.cost = pyo.Objective(expr=model.x[1])
    model.cover = pyo.Constraint(expr=model.x[1] + model.x[2] >= 1)
    return model


def ratio(*, bounds: tuple[float, float | None] = (1, 3)) -> Any:
    """Minimise (x[1] + 1) / x[2] with 1 <= x[2]."""
    model = pyo.ConcreteModel(name="ratio")
    model.x = pyo.Var([1, 2], domain=pyo.NonNegativeReals)
    model.x[1].setub(2)
    model.x[2].setlb(bounds[0])
    model.x[2].setub(bounds[1])
    model.cost = pyo.Objective(expr=(model.x[1] + 1) / model.x[2])
    return model


def wide() -> Any:
    """Minimise (x[1] + 1) / x[2] + x[2] / (x[1] + 1)."""
    model = ratio()
    model.cost.expr += model.x[2] / (model.x[1] + 1)
    return model


def arrays(*coefficients: float) -> FractionalSum:
    """Minimise a linear function over a ratio's denominator 1, each variable between 1 and 4."""
    n = len(coefficients)
    region = Polytope(np.ones((1, n)), np.array([-np.inf]), np.array([99.0]), np.ones(n), np.full(n, 4.0))
    return FractionalSum((Ratio(np.array(coefficients), 0.0, np.zeros(n), 1.0),), region)


def empty() -> Any:
    """A model without rows."""
    model = lp()
    model.cover.deactivate()
    return model


def members() -> Any:
    """An indexed block."""
    model = pyo.ConcreteModel()
    model.part = pyo.Block([1, 2])
    return model.part


def integer_lp(*values: float) -> Any:
    """The same, its variables integers, with values in it where they are given."""
    model = lp()
    model.x.domain = pyo.Integers
    for k, value in enumerate(values, start=1):
        model.x[k].set_value(value, skip_validation=True)
    return model


def endless_lp() -> Any:
    """The same without a row, and without the lower bound that keeps it from falling for ever."""
    model = empty()
    model.x[1].setlb(None)
    return model


RESULTS: dict[str, Callable[[], Any]] = {
    "relax": lambda: relax(lp()),
    "lift_bounds": lambda: lift_bounds(lp()),
    "dual": lambda: dual(lp()),
    "standard_form": lambda: standard_form(lp()),
    "charnes_cooper": lambda: charnes_cooper(ratio()),
    "sum_of_ratios": lambda: sum_of_ratios(ratio(), epsilon=0.1),
}
OF_MODELS: dict[str, Callable[[Any], object]] = {
    "solve": solve,
    "changes": changes,
    "inspect": inspect,
    "explain": explain,
    "latex": latex,
    "spy": spy,
    "difference": lambda model: difference(lp(), model),
    "compile_model": compile_model,
    "duals": duals,
    "residuals": residuals,
    "certify": certify,
    "read": lambda model: read(model, H),
    "embeddings_from": ddljs.embeddings_from,
    "mappings_from": ddljs.mappings_from,
}
TRANSFORMATIONS: dict[str, Callable[[Any], object]] = {
    "relax": relax,
    "lift_bounds": lift_bounds,
    "dual": dual,
    "standard_form": standard_form,
    "charnes_cooper": charnes_cooper,
    "sum_of_ratios": lambda model: sum_of_ratios(model, epsilon=0.1),
}


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("function", [*OF_MODELS, *TRANSFORMATIONS])
def test_the_result_of_a_transformation_is_no_model(function: str, result: str) -> None:
    call = (OF_MODELS | TRANSFORMATIONS)[function]
    line = refused(lambda: call(RESULTS[result]()), TypeError, TransformationRefused)
    assert line.startswith("model: ")
    assert line.endswith(" is not a Pyomo model or block: pass its .model")


@pytest.mark.parametrize("name", RESULTS)
def test_recover_takes_maps_of_the_transformed_model(name: str) -> None:
    result, other = RESULTS[name](), lp()
    foreign = pyo.ComponentMap([(other.x[1], 1.0)])
    for argument in ("x",) if name == "sum_of_ratios" else ("x", "duals"):
        for wrong, words in ((3, "got 3"), ({"x": 1.0}, "got a dict"), (result.model, ""), ("x", "got 'x'")):
            line = refused(lambda a=argument, w=wrong: result.recover(**{a: w}), TypeError, InputError)
            assert line.startswith(f"{argument}: ")
            assert words in line
        if argument == "x":
            line = refused(lambda: result.recover(x=foreign), InputError)
            assert line == "x: 'x[1]' is not of the transformed model, nor is any other"
    for value in (math.nan, math.inf, 10**400, "one"):
        wrong = pyo.ComponentMap((v, value) for v in _ones(result.model))
        line = refused(lambda w=wrong: result.recover(x=w), InputError)
        assert re.fullmatch(rf"x: \S+ has the value {re.escape(shown(value))}, which is no finite number", line)
    assert refused(lambda: result.recover(load=1), TypeError) == "load: expected true or false, got 1"
    if name != "sum_of_ratios":
        assert "solve it, or pass a map" in refused(result.recover, InputError)
        ones, rows = _ones(result.model), result.model.component_data_objects(pyo.Constraint, descend_into=True)
        assert refused(lambda: result.recover(x=ones, duals=foreign), InputError).startswith("duals: ")
        wrong = pyo.ComponentMap((row, math.nan) for row in rows)
        line = refused(lambda: result.recover(x=ones, duals=wrong), InputError)
        assert re.fullmatch(r"duals: \S+ has the value nan, which is no finite number", line)


def _ones(model: Any) -> Any:
    return pyo.ComponentMap((v, 1.0) for v in model.component_data_objects(pyo.Var, descend_into=True))


def test_points_of_another_shape_are_refused() -> None:
    line = refused(lambda: standard_form(lp()).recover(np.ones(2)), InputError)
    assert line.startswith("x: has shape (2,), not (")
    line = refused(lambda: augmented_vne(PROBLEM).recover([1.0] * 1000), InputError)
    assert line.startswith("x: has shape (1000,), not (")
    line = refused(lambda: standard_form(lp()).recover([1.0, math.nan, *[1.0] * 3]), InputError)
    assert line == "x: entry 1 is nan, which is no finite number"


NO_MODELS: dict[str, tuple[Callable[[], Any], str]] = {
    "an abstract model": (
        lambda: pyo.AbstractModel(name="later"),
        "model: 'later' is abstract: call create_instance() first",
    ),
    "an indexed block": (members, "model: 'part' is an indexed block: take one of its members"),
    "an instance": (lambda: H, "model: an instance of hadar is not a Pyomo model or block"),
    "a variable": (lambda: lp().x, "IndexedVar is not a Pyomo model or block"),
    "a model of pyomo.kernel": (pyomo.kernel.block, "is not a Pyomo model or block: write it with pyomo.environ"),
    "a class": (lambda: pyo.ConcreteModel, "is not a Pyomo model or block"),
    "a path": (lambda: "model.lp", "model: a str is not a Pyomo model or block"),
    "nothing": (lambda: None, "model: None is not a Pyomo model or block"),
}


@pytest.mark.parametrize("thing", NO_MODELS)
@pytest.mark.parametrize("function", [*OF_MODELS, *TRANSFORMATIONS])
def test_what_is_no_model_is_refused(function: str, thing: str) -> None:
    make, words = NO_MODELS[thing]
    call = (OF_MODELS | TRANSFORMATIONS)[function]
    assert words in refused(lambda: call(make()), TypeError, InputError, TransformationRefused)


def test_readers_of_ddljs_ask_for_a_solved_model_of_ddljs() -> None:
    unsolved = build("ddljs/offline-circulation", N)
    assert refused(lambda: ddljs.embeddings_from(unsolved), InputError).endswith("is not of one slot of ddljs")
    slot = build("ddljs/slot-circulation", ddljs.random(1))
    assert refused(lambda: ddljs.embeddings_from(slot), InputError).endswith("has no values: solve it first")
    assert refused(lambda: ddljs.mappings_from(unsolved), InputError).endswith("is not of ddljs/gvne")
    line = refused(lambda: ddljs.embeddings_from(build("hadar/hall", H)), InputError)
    assert line == "model: Hadar Hall is not of one slot of ddljs"


Case = tuple[Callable[[], object], type[Exception], str]

TO_SOLVE: dict[str, Case] = {
    "negative time": (lambda: solve(lp(), time_limit=-1), InputError, "time_limit: -1 must not be negative"),
    "no time": (lambda: solve(lp(), time_limit=math.nan), InputError, "time_limit: nan is not a number"),
    "time in words": (
        lambda: solve(lp(), time_limit="1 h"),  # type: ignore[arg-type]
        TypeError,
        "time_limit: expected a number or None, got '1 h'",
    ),
    "negative gap": (lambda: solve(lp(), gap=-0.5), InputError, "gap: -0.5 must not be negative"),
    "no gap": (lambda: solve(lp(), gap=None), TypeError, "gap: expected a number, got None"),  # type: ignore[arg-type]
    "no threads": (lambda: solve(lp(), threads=0), InputError, "threads: 0 must be at least 1"),
    "negative threads": (lambda: solve(lp(), threads=-1), InputError, "threads: -1 must be at least 1"),
    "half a thread": (
        lambda: solve(lp(), threads=0.5),  # type: ignore[arg-type]
        TypeError,
        "threads: expected a whole number or None, got 0.5",
    ),
    "threads as a bool": (
        lambda: solve(lp(), threads=True),
        TypeError,
        "threads: expected a whole number or None, got True",
    ),
    "negative seed": (lambda: solve(lp(), seed=-1), InputError, "seed: -1 is not between 0 and 2147483647"),
    "long seed": (lambda: solve(lp(), seed=2**31), InputError, "seed: 2147483648 is not between 0 and 2147483647"),
    "presolve as a number": (
        lambda: solve(lp(), presolve=0),  # type: ignore[arg-type]
        TypeError,
        "presolve: expected true or false, got 0",
    ),
    "unknown solver": (
        lambda: solve(lp(), solver="cplex"),
        InputError,
        "unknown solver 'cplex'; there are highs, scip",
    ),
    "matrix: negative time": (
        lambda: solve_matrix(compile_model(lp()), time_limit=-1),
        InputError,
        "time_limit: -1 must not be negative",
    ),
    "matrix: negative gap": (
        lambda: solve_matrix(compile_model(lp()), gap=-1.0),
        InputError,
        "gap: -1 must not be negative",
    ),
    "matrix: no threads": (
        lambda: solve_matrix(compile_model(lp()), threads=0),
        InputError,
        "threads: 0 must be at least 1",
    ),
    "matrix: negative seed": (
        lambda: solve_matrix(compile_model(lp()), seed=-1),
        InputError,
        "seed: -1 is not between 0 and 2147483647",
    ),
    "matrix: negative nodes": (
        lambda: solve_matrix(compile_model(lp()), nodes=-1),
        InputError,
        "nodes: -1 must not be negative",
    ),
    "values that are missing": (
        lambda: residuals(lp()),
        InputError,
        "x[1]: has no value, and cover needs it: solve the model first",
    ),
    "duals of integers": (
        lambda: duals(integer_lp(), fix_integers=False),
        InputError,
        "the model has integer variables: relax it, or fix them with fix_integers=True",
    ),
    "duals at no point": (
        lambda: duals(integer_lp()),
        InputError,
        "the model's integer variables have no values to fix them at: solve it first",
    ),
    "duals between whole numbers": (
        lambda: duals(integer_lp(0.375, 1)),
        InputError,
        "x[1]: its value 0.375 is no whole number, to fix it at: solve the model first",
    ),
    "duals beyond a bound": (
        lambda: duals(integer_lp(1, -1)),
        InputError,
        "x[2]: its value -1 is outside of its bounds, to fix it at: solve the model first",
    ),
    "duals of no optimum": (
        lambda: duals(endless_lp()),
        InputError,
        "the LP has no optimum (it is unbounded), so it has no duals",
    ),
    "certify: negative time": (
        lambda: certify(lp(), time_limit=-1),
        InputError,
        "time_limit: -1 must not be negative",
    ),
    "certify: no value": (lambda: certify(lp(), value=math.nan), InputError, "value: nan is not a number"),
}

TO_BUILD: dict[str, Case] = {
    "no such formulation": (
        lambda: build("smd/p9", S),
        InputError,
        "unknown formulation 'smd/p9'; of 42, the nearest are ",
    ),
    "swapped": (lambda: build(S, "smd/milp"), TypeError, "name: expected text, got an instance of smd"),
    "no such data": (lambda: build("smd/milp", S, job="J1"), TypeError, "smd/milp takes no data, not job"),
    "no such preset": (lambda: smd.preset("none"), InputError, "unknown preset 'none'; there are random, "),
    "no such size": (lambda: smd.preset("random", 0, machines=2), TypeError, "argument 'machines'"),
    "size in words": (
        lambda: smd.preset("random", 0, jobs="two"),
        TypeError,
        "jobs: expected a whole number, got 'two'",
    ),
    "size as a float": (
        lambda: smd.preset("random", 0, jobs=2.0),
        TypeError,
        "jobs: expected a whole number, got 2.0",
    ),
    "no such mode": (lambda: smd.preset("paper", mode="odd"), InputError, "mode: 'odd' is not one of sync, async"),
    "incomplete instance": (
        lambda: hadar.Instance(slots=-1),  # type: ignore[call-arg]
        InputError,
        "slots: -1 should be greater than or equal to 1 (and at least 3 more)",
    ),
    "job without a gang": (
        lambda: hadar.Job(name="a", arrival=1),  # type: ignore[call-arg]
        InputError,
        "gang: required field is missing",
    ),
    "no such job": (lambda: H.job("J9"), KeyError, "unknown job 'J9'; there are job1, job2, job3"),
    "no such job of a response": (
        lambda: build("hadar/response", H, job="J9"),
        InputError,
        "unknown job 'J9'; there are job1, job2, job3",
    ),
    "no such job of a slot": (
        lambda: build("dmlrs/one-slot", D, job="J9"),
        InputError,
        "unknown job 'J9'; there are job1, job2, job3",
    ),
    "no such job of a sum of ratios": (
        lambda: build("smd/inner", S, job="J9"),
        InputError,
        "unknown job 'J9'; there are job1, job2, job3",
    ),
    "a response of no job": (
        lambda: build("hadar/response", hadar.Instance.parse(H.dump() | {"jobs": []})),
        InputError,
        "job: the instance has none",
    ),
    "jobs of the thesis": (
        lambda: build("dmlrs/compact", dmlrs.random(0, asynchronous=True)),
        InputError,
        "dmlrs/compact states the journal's problem and the jobs have chunks: use dmlrs/async",
    ),
    "jobs of the journal": (
        lambda: build("dmlrs/async", D),
        InputError,
        "dmlrs/async states the thesis's problem and the jobs have no chunks: use dmlrs/compact",
    ),
    "no such machine": (lambda: D.machine("m9"), InputError, "unknown machine 'm9'; there are machine1, machine2"),
    "no such node": (lambda: N.node("s9"), InputError, "unknown node 's9'; there are "),
    "no such type": (
        lambda: hadar.place(H, {1: {"job1": {"warp": 1}}}),
        InputError,
        "unknown device type 'warp'; there are type1, type2",
    ),
    "no schedules": (
        lambda: hadar.enumerate_schedules(H, H.jobs[0], limit=0),
        InputError,
        "limit: 0 must be at least 1",
    ),
    "another problem's job": (
        lambda: hadar.enumerate_schedules(H, S.jobs[0]),
        TypeError,
        "job: expected a job of hadar, got a job of smd",
    ),
    "no axes": (
        lambda: hadar.plot(H, hadar.Schedule(jobs={}), ax=3),
        TypeError,
        "ax: expected axes of matplotlib, got 3",
    ),
    "endless gradient": (
        lambda: ddljs.iteration_time(
            1, gradient=math.inf, bandwidth=1, speed=1, forward=1, minibatch=1, backward=1, latency=0
        ),
        InputError,
        "gradient: inf must be finite",
    ),
    "too many gangs": (
        lambda: hadar.enumerate_schedules(H, H.jobs[0], limit=1),
        InputError,
        "job job1 has more than 1 gangs: too many to enumerate",
    ),
    "more devices than there are": (
        lambda: hadar.place(H, {1: {"job1": {"type1": 9}}}),
        InputError,
        "slot 1: job job1 needs 6 more devices of type type1 than are free",
    ),
    "worth of no job": (
        lambda: build("smd/knapsack", S, utilities={"J9": 1}),
        InputError,
        "utilities.J9: is not a job of the instance",
    ),
    "worth less than nothing": (
        lambda: build("smd/knapsack", S, utilities={"job1": -0.5}),
        InputError,
        "utilities.job1: -1/2 must not be negative",
    ),
    "worth that is no number": (
        lambda: build("smd/knapsack", S, utilities={"job1": math.nan}),
        InputError,
        "utilities.job1: must be a finite number, not nan",
    ),
    "caps of no ratio": (
        lambda: build("smd/ratio-caps", S, caps=[1, 1, 1, 1]),
        InputError,
        "caps: has 4 entries for 0 ratios beside the last",
    ),
    "a faster network between machines": (
        lambda: build("dmlrs/aggregate", dmlrs.random(FASTER, faster_external=True)),
        InputError,
        "its external rate is above its internal rate: use dmlrs/compact or async",
    ),
    "a ring of a size that the job has not": (
        lambda: build("ddljs/gvne-augmented", N, slot=2, sizes={"job1": 9}),
        InputError,
        "sizes.job1: there is no job 'job1' with a ring of 9 in this slot",
    ),
    "a sense that is none": (
        lambda: replace(models.problem("hadar"), sense="most"),  # type: ignore[arg-type]
        InputError,
        "problem hadar: sense is 'most', not maximize or minimize",
    ),
    "a ring of no node": (
        lambda: ddljs.RingRequest("a", {0: ONE}, {}, ONE),
        InputError,
        "request a: ring size 0 is not positive",
    ),
    "more ring nodes than places": (
        lambda: ddljs.RingRequest("a", {2: ONE}, {}, ONE, (frozenset("s"),)),
        InputError,
        "request a: a ring of 2 nodes, but 1 allowed",
    ),
    "requests of one name": (
        lambda: PROBLEM.keeping(PROBLEM.requests * 2),
        InputError,
        "two requests have the same name",
    ),
    "a link to nowhere": (
        lambda: ddljs.RingProblem({"a": {}}, (((("a", "b"),), ONE),), ()),
        InputError,
        "links join 'b', which is not a node",
    ),
    "a link to itself": (
        lambda: ddljs.RingProblem({"a": {}}, (((("a", "a"),), ONE),), ()),
        InputError,
        "self loop at 'a'; a ring node needs no link to itself",
    ),
    "a link twice": (
        lambda: ddljs.RingProblem({"a": {}, "b": {}}, (((("a", "b"), ("a", "b")), ONE),), ()),
        InputError,
        "an arc stands in two shares; add the bandwidths of parallel links",
    ),
    "a graph with parallel edges": (
        lambda: ddljs.RingProblem.of(nx.MultiDiGraph(), []),
        InputError,
        "the graph may have parallel edges; add their bandwidths in a DiGraph or Graph",
    ),
    "an edge without a bandwidth": (
        lambda: ddljs.RingProblem.of(nx.DiGraph([("a", "b")]), []),
        InputError,
        "edge 'a' -> 'b' has no bandwidth",
    ),
    "a ring without edges": (
        lambda: ddljs.RingMapping(("a", "b"), ()),
        InputError,
        "a ring of 2 nodes has 2 edges, not 0",
    ),
    "a path elsewhere": (
        lambda: ddljs.RingMapping(("a", "b"), (("a", "b"), ("a", "b"))),
        InputError,
        "edge 1 does not lead from 'b' to 'a'",
    ),
    "servers that nothing joins": (
        lambda: ddljs.embedding_of({"a": 1, "b": 1}, {}),
        InputError,
        "the circulation does not join 'a' and 'b'",
    ),
    "a ring that is open": (
        lambda: ddljs.embedding_of({"a": 1, "b": 1}, {("a", "b"): 1}),
        InputError,
        "the circulation is not balanced at every node",
    ),
    "the logarithm of nothing": (
        lambda: models.utility.Log(scale=ONE, offset=Fraction(0)).exact(0),
        InputError,
        "log utility at 0 is minus infinity",
    ),
    "nothing to draw": (
        lambda: spy(empty()),
        InputError,
        "the model has no coefficients to draw",
    ),
}

TO_TRANSFORM: dict[str, Case] = {
    "not solved, and summed": (
        lambda: aggregate_machines(D).recover(),
        InputError,
        "no variable of the summed model has a value: solve it",
    ),
    "not solved by CVXPY": (
        lambda: to_cvxpy(lp()).recover(),
        InputError,
        "the problem has no solution to recover (status: None): solve it first",
    ),
    "of nothing transformed": (
        lambda: pyo.TransformationFactory("dlsched.lp_relaxation").recover(lp()),
        InputError,
        "'lp' does not come from a dlsched transformation",
    ),
    "a model of arrays": (
        lambda: sum_of_ratios(arrays(1.0), epsilon=0.1).recover(),
        InputError,
        "the problem was given as arrays: there is no model to recover to",
    ),
    "a ratio that is no number": (
        lambda: sum_of_ratios(arrays(math.nan), epsilon=0.1),
        InputError,
        "ratio 0 has a coefficient that is not a finite number",
    ),
    "three variables in the plane": (
        lambda: Planar(arrays(1.0, 1.0, 1.0)),
        InputError,
        "the closed form is for at most two variables, not 3",
    ),
    "a grid too fine": (
        lambda: sum_of_ratios(wide(), epsilon=1e-12),
        InputError,
        "steps for a ratio; at most ",
    ),
    "sizes of no request": (
        lambda: augmented_vne(PROBLEM, sizes={"job9": 1}),
        InputError,
        "sizes.job9: there is no request 'job9' with ring size 1",
    ),
    "lifted to a program with caps": (
        lambda: (knapsack := knapsack_vne(PROBLEM, cap=True)).lift(knapsack.solve(), augmented_vne(PROBLEM, cap=True)),
        InputError,
        "with cap the augmented LP can be below the knapsack LP; only duals lift",
    ),
    "duals lifted to another program": (
        lambda: (knapsack := knapsack_vne(PROBLEM, cap=True)).lift_duals(knapsack.solve(), augmented_vne(PROBLEM)),
        InputError,
        "the two programs are not of the same problem, sizes and cap",
    ),
    "unbounded ratio": (
        lambda: sum_of_ratios(ratio(bounds=(1, None)), epsilon=0.1),
        TransformationRefused,
        "the region is unbounded: nothing bounds variable x[2]; give it bounds",
    ),
    "no precision": (lambda: sum_of_ratios(ratio(), epsilon=0), InputError, "epsilon: 0 must be positive"),
    "endless precision": (lambda: sum_of_ratios(ratio(), epsilon=math.inf), InputError, "epsilon: inf must be finite"),
    "no such grid": (
        lambda: sum_of_ratios(ratio(), epsilon=0.1, variant="odd"),
        InputError,
        "variant: 'odd' is not one of ",
    ),
    "no master": (
        lambda: generate_columns(lp(), []),
        TypeError,
        "master: expected a dlsched.relaxations.Master, got a pyomo.core.base.PyomoModel.ConcreteModel",
    ),
}

X, RNG = [0.5, 1.5], np.random.default_rng(0)
TO_ROUND: dict[str, Case] = {
    "negative seed": (lambda: rounding.round_independent(X, -1), InputError, "seed: -1 must not be negative"),
    "half a seed": (
        lambda: rounding.round_independent(X, 0.5),
        TypeError,
        "rng: expected a numpy.random.Generator or a whole number, got 0.5",
    ),
    "seed as a bool": (lambda: rounding.round_independent(X, True), TypeError, "rng: expected "),
    "no seed": (lambda: rounding.round_independent(X, None), TypeError, "whole number, got None"),
    "words": (
        lambda: rounding.round_independent(["a"], 0),
        InputError,
        "x: must be an array of numbers: could not convert string to float: 'a'",
    ),
    "text": (lambda: rounding.round_independent("ab", 0), TypeError, "x: expected a sequence, got 'ab'"),
    "a mapping": (lambda: rounding.round_independent({1: 0.5}, 0), TypeError, "x: expected a sequence, got a dict"),
    "no gain": (lambda: rounding.round_independent(X, 0, gain=0), InputError, "gain: 0 must be positive"),
    "endless gain": (lambda: rounding.round_independent(X, 0, gain=math.inf), InputError, "gain: inf must be finite"),
    "negative draws": (lambda: rounding.round_independent(X, 0, draws=-1), InputError, "draws: -1 must not be"),
    "rows of words": (lambda: rounding.width([["a"]], [1]), InputError, "B: must be an array of numbers: "),
    "rows of nothing": (
        lambda: rounding.width([[math.nan]], [1]),
        InputError,
        "B: entry (0, 0) is nan, which is no finite number",
    ),
    "no width": (lambda: rounding.gain_packing(-1, 1, 0.5), InputError, "width: -1 must be positive"),
    "no chance": (lambda: rounding.gain_packing(2, 1, 2), InputError, "delta: 2 is not in (0, 1]"),
    "no part": (lambda: rounding.gain_cover(2, 1, 0), InputError, "delta: 0 is not in (0, 1]"),
    "no rows": (lambda: rounding.gain_packing(2, 0, 0.5), InputError, "rows: 0 must be at least 1"),
    "no such gain": (
        lambda: rounding.gain_cover(2, 1, 0.5, "odd"),
        InputError,
        "variant: 'odd' is not one of printed, exact",
    ),
    "no rounds": (
        lambda: rounding.round_until_feasible(X, bool, 0, rounds=0),
        InputError,
        "rounds: 0 must be at least 1",
    ),
    "negative rounds": (
        lambda: rounding.success_probability(X, bool, rounds=-1),
        InputError,
        "rounds: -1 must not be negative",
    ),
    "no such method": (
        lambda: rounding.violation_probability([1, 1], X, 1, method="odd"),
        InputError,
        "method: 'odd' is not one of enumeration, convolution",
    ),
    "no ring": (lambda: rounding.integer_mix({"a": 1}, 0), InputError, "size: 0 must be at least 1"),
    "no such rule": (
        lambda: rounding.round_mappings(PROBLEM, {}, 0, rule="odd"),
        InputError,
        "rule: 'odd' is not one of once, accepted, fitting, best",
    ),
    "choosing by a long seed": (
        lambda: rounding.choose_mappings(PROBLEM, {}, seed=2**31),
        InputError,
        "seed: 2147483648 is not between 0 and 2147483647",
    ),
    "an instance": (
        lambda: rounding.sample_mappings(N, {}, 0, 1),
        TypeError,
        "problem: expected a RingProblem of ddljs, got an instance of ddljs",
    ),
    "a matrix": (lambda: rounding.round_independent([X], 0), InputError, "x: has 2 dimensions; it must be a vector"),
    "without end": (
        lambda: rounding.round_independent([math.inf], 0),
        InputError,
        "x[0]: inf after the gain must be finite and at most 2^52 in size",
    ),
    "half a bound": (
        lambda: rounding.round_shifted(X, 0, lower=0.5),
        InputError,
        "lower: 0.5 must be an integer",
    ),
    "below its bound": (lambda: rounding.round_shifted(X, 0), InputError, "x[0]: 0.5 is below its bound 1"),
    "rows of another length": (
        lambda: rounding.sample_violations([[1, 2, 3]], [1], X, 0, 1),
        InputError,
        "B: has shape (1, 3); b and x ask for (1, 2)",
    ),
    "a load below 0": (lambda: rounding.integer_mix({"a": -1}, 1), InputError, "loads.a: -1 must not be negative"),
    "a load in words": (
        lambda: rounding.integer_mix({"a": "much"}, 1),  # type: ignore[dict-item]
        InputError,
        "loads.a: must be a number or a string \"p/q\", not 'much'",
    ),
    "a load of no ring": (
        lambda: rounding.placement_mix(PROBLEM, {("job1", 9): {"server1": 0.5}}),
        InputError,
        "request job1: size 9 is not valid",
    ),
    "loads of two rings": (
        lambda: rounding.placement_mix(PROBLEM, {("job1", 1): {"server1": 2}}),
        InputError,
        "request job1: the weights add up to 2; at most 1 is possible",
    ),
    "mappings of no request": (
        lambda: MappingTable.of(PROBLEM, {"job9": ()}),
        InputError,
        "unknown request 'job9'; there are job1, job2",
    ),
    "mappings more than certain": (
        lambda: MappingTable.of(PROBLEM, weighted("server1", weight=2)),
        InputError,
        "request job1: weights must be at least 0 and add up to at most 1",
    ),
    "a mapping of another size": (
        lambda: MappingTable.of(PROBLEM, weighted("server1", size=2)),
        InputError,
        "request job1: a mapping of 1 nodes as ring of 2",
    ),
    "a mapping to nowhere": (
        lambda: MappingTable.of(PROBLEM, weighted("server9")),
        InputError,
        "request job1: there is no node 'server9'",
    ),
    "negative eps": (
        lambda: rounding.mapping_constants(PROBLEM, epsilon=-1),
        InputError,
        "epsilon: -1 must not be negative",
    ),
}


def weighted(node: str, weight: int = 1, size: int = 1) -> dict[str, tuple[WeightedMapping, ...]]:
    """Return a mapping of job1, all on one node."""
    return {"job1": (WeightedMapping(Fraction(weight), size, ddljs.RingMapping((node,), ())),)}


def occupied() -> Any:
    """Return the books of PD-ORS, in which nothing is taken."""
    return algorithms.pd_ors.Occupancy(D, algorithms.pd_ors.constants(D))


TO_RUN: dict[str, Case] = {
    "optimum of data": (
        lambda: optimum(H.dump()),
        TypeError,
        "dmlrs or an instance of hadar or an instance of smd, got a dict: read it with Instance.parse",
    ),
    "optimum of a path": (lambda: optimum("h.json"), TypeError, "got 'h.json': read it with Instance.load"),
    "optimum in no time": (lambda: optimum(H, time_limit=-1), InputError, "time_limit: -1 must not be negative"),
    "optimum in nan": (lambda: optimum(S, time_limit=math.nan), InputError, "time_limit: nan is not a number"),
    "progress without a function": (
        lambda: optimum(H, progress=True),
        TypeError,
        "progress: expected a function or None",
    ),
    "exact of another": (
        lambda: algorithms.exact.smd.solve(H),
        TypeError,
        "instance: expected an instance of smd, got an instance of hadar",
    ),
    "a package": (
        lambda: algorithms.hadar(H),
        TypeError,
        "dlsched.algorithms.hadar is a module: call dlsched.algorithms.hadar.run(instance)",
    ),
    "a module": (
        lambda: baselines.hadar.gavel(H),
        TypeError,
        "gavel is a module: call dlsched.algorithms.baselines.hadar.gavel.run(instance)",
    ),
    "a package without a run": (lambda: models.hadar(H), TypeError, "dlsched.models.hadar is a module"),
    "no such variant": (
        lambda: algorithms.hadar.run(H, variant="fixed"),
        InputError,
        "variant: 'fixed' is not one of printed, corrected",
    ),
    "negative cost": (
        lambda: algorithms.hadar.run(H, comm_cost=-1),
        InputError,
        "comm_cost: -1 must not be negative",
    ),
    "no draws": (lambda: algorithms.gadget.run(N, draws=0), InputError, "draws: 0 must be at least 1"),
    "no such prices": (
        lambda: algorithms.pd_ors.run(D, prices="odd"),
        InputError,
        "prices: 'odd' is not one of printed, repaired, theorem",
    ),
    "precision 1": (lambda: algorithms.smd.run(S, epsilon=1), InputError, "epsilon: 1 is not in (0, 1)"),
    "no delta": (lambda: algorithms.smd.run(S, delta=0), InputError, "delta: 0 is not in (0, 1]"),
    "no gain": (lambda: algorithms.smd.run(S, gain=1.5), InputError, "gain: 1.5 is not in (0, 1]"),
    "delta in rounds": (lambda: algorithms.pd_ors.run(D, delta=2), InputError, "delta: 2 is not in (0, 1]"),
    "no rounds": (lambda: algorithms.pd_ors.run(D, rounds=0), InputError, "rounds: 0 must be at least 1"),
    "shares of no job": (
        lambda: baselines.hadar.gavel.run(H, {"J9": {}}),
        InputError,
        "shares.J9: unknown job",
    ),
    "shares of no type": (
        lambda: baselines.hadar.gavel.run(H, {"job1": {"warp": 1}}),
        InputError,
        "shares.job1.warp: unknown device type",
    ),
    "a share below 0": (
        lambda: baselines.hadar.gavel.run(H, {"job1": {"type1": -1}}),
        InputError,
        "shares.job1.type1: -1 must be finite and not negative",
    ),
    "a weight of no job": (
        lambda: baselines.hadar.gavel.run(H, weights={"J9": 1}),
        InputError,
        "weights.J9: unknown job",
    ),
    "no weight": (
        lambda: baselines.hadar.gavel.run(H, weights={"job1": 0}),
        InputError,
        "weights.job1: 0 must be positive and finite",
    ),
    "an endless threshold": (
        lambda: baselines.hadar.tiresias.Tiresias(thresholds=math.inf),
        InputError,
        "thresholds[0]: must be a finite number, not inf",
    ),
    "an estimate in words": (
        lambda: algorithms.hadar_e.run(algorithms.hadar_e.figure_6(), estimates={"J1": {"node1": "fast"}}),  # type: ignore[dict-item]
        InputError,
        "estimates.J1.node1: must be a number or a string \"p/q\", not 'fast'",
    ),
    "steps without end": (
        lambda: algorithms.hadar_e.Tracker({0: math.inf}, max_job_count=2),  # type: ignore[dict-item]
        InputError,
        "thresholds[0]: must be a finite number, not inf",
    ),
    "devices taken twice": (
        lambda: algorithms.hadar.Occupancy(H, algorithms.hadar.constants(H)).commit({1: ((0, 9),)}),
        InputError,
        "slot 1, machine machine1: 9 devices of type type1 are more than it has",
    ),
    "more workers than fit": (
        lambda: occupied().commit(D.jobs[0], {1: {"machine1": (99, 99)}}),
        InputError,
        "job job1, slot 1, machine machine1: more than what is left",
    ),
    "rounding without a rounder": (
        lambda: algorithms.pd_ors.slot_offers(
            algorithms.pd_ors.market(occupied(), D.jobs[2], last=3),
            D.jobs[2],
            algorithms.pd_ors.External("lp-rounding"),
        ),
        InputError,
        "rounder: is needed for lp-rounding",
    ),
    "precision 1 of a baseline": (
        lambda: baselines.smd.esw.run(S, outer_epsilon=1),
        InputError,
        "outer_epsilon: 1 is not in (0, 1)",
    ),
    "knapsack by an unknown method": (
        lambda: solve_knapsack([1], [[1]], [1], method="odd"),
        InputError,
        "method: 'odd' is not one of ",
    ),
    "knapsack to no precision": (
        lambda: solve_knapsack([1], [[1]], [1], epsilon="1/1"),
        InputError,
        "epsilon: 1 is not in (0, 1)",
    ),
    "knapsack to a word": (
        lambda: solve_knapsack([1], [[1]], [1], epsilon="fine"),
        InputError,
        "epsilon: must be a number or a string \"p/q\", not 'fine'",
    ),
    "knapsack of losses": (
        lambda: solve_knapsack([1, -1], [[1], [1]], [1]),
        InputError,
        "values[1]: -1 must not be negative",
    ),
    "knapsack of what weighs less than nothing": (
        lambda: solve_knapsack([1], [["-1/2"]], [1]),
        InputError,
        "weights[0][0]: -1/2 must not be negative",
    ),
    "knapsack of what is no number": (
        lambda: solve_knapsack([math.nan], [[1]], [1]),
        InputError,
        "values[0]: must be a finite number, not nan",
    ),
    "knapsack without weights": (
        lambda: solve_knapsack([1], [], [1]),
        InputError,
        "weights: has 0 rows for 1 values",
    ),
    "knapsack of another shape": (
        lambda: solve_knapsack([1], [[1, 2]], [1]),
        InputError,
        "weights[0]: has 2 entries for 1 capacities",
    ),
}

TO_BOUND: dict[str, Case] = {
    "another problem's instance": (
        lambda: bounds.check("hadar/theorem-2", S),
        TypeError,
        "hadar/theorem-2: expected an instance of hadar, got an instance of smd",
    ),
    "data": (lambda: bounds.check("hadar/theorem-2", H.dump()), TypeError, "got a dict: read it with Instance.parse"),
    "negative seed": (
        lambda: bounds.check("hadar/theorem-2", H, seed=-1),
        InputError,
        "seed: -1 must not be negative",
    ),
    "a generator": (lambda: bounds.check("hadar/theorem-2", H, seed=RNG), TypeError, "seed: expected a whole number"),
    "claims by number": (lambda: bounds.claims_named((1, 2)), TypeError, "names[0]: expected a str, got 1"),  # type: ignore[arg-type]
    "unknown claim": (lambda: bounds.verify("hadar/theorem-99"), InputError, "hadar/theorem-99: unknown claim"),
    "no list": (lambda: bounds.verify(3), TypeError, "claims: expected text or an iterable or None, got 3"),
    "negative instances": (
        lambda: bounds.verify("hadar/theorem-2", instances=-1),
        InputError,
        "instances: -1 is not between 0 and ",
    ),
    "no processes": (lambda: bounds.verify("hadar/theorem-2", jobs=0), InputError, "jobs: 0 is not between 1 and 4096"),
    "attack with less": (
        lambda: bounds.attack("hadar/theorem-2", instances=-1),
        InputError,
        "instances: -1 must not be negative",
    ),
    "no such variant": (
        lambda: bounds.claim("hadar/theorem-2", "odd"),
        InputError,
        "variant: 'odd' is not one of printed, corrected, derived",
    ),
    "variant as a number": (
        lambda: bounds.claim("hadar/theorem-2", 1),
        TypeError,
        "variant: expected one of printed, ",
    ),
    "no witness": (lambda: bounds.replay(H), TypeError, "witness: expected a dlsched.bounds.Witness or text or a path"),
    "too few trials": (lambda: bounds.clopper_pearson(3, 2), InputError, "3 successes in 2 trials"),
    "certain": (lambda: bounds.clopper_pearson(1, 2, 1), InputError, "confidence 1 is not between 0 and 1"),
}

TO_CONVERT: dict[str, Case] = {
    "a number for a cluster": (
        lambda: traces.gavel.convert(throughputs="t.json", trace="t.txt", cluster=2, slots=3, slot_seconds=1),
        TypeError,
        "cluster: expected a mapping or text, got 2",
    ),
    "no seconds": (
        lambda: traces.gavel.convert(
            throughputs="t.json", trace="t.txt", cluster={"v100": 2}, slots=3, slot_seconds=[]
        ),
        TypeError,
        "slot_seconds: expected a fractions.Fraction or text or a number, got a list",
    ),
    "a negative seed": (
        lambda: traces.topology_zoo.convert("n.graphml", seed=-1),
        InputError,
        "seed: -1 must not be negative",
    ),
}

GROUPS = {
    "solve": TO_SOLVE,
    "build": TO_BUILD,
    "transform": TO_TRANSFORM,
    "round": TO_ROUND,
    "run": TO_RUN,
    "bound": TO_BOUND,
    "convert": TO_CONVERT,
}
CASES = {f"{group}: {name}": case for group, cases in GROUPS.items() for name, case in cases.items()}


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_call_is_refused_in_one_line(name: str) -> None:
    call, kind, words = CASES[name]
    assert words in refused(call, kind)


FAMILIES = [
    (package, family, parameter.name)
    for package in PROBLEMS
    for family, function in package.PRESETS.items()
    for parameter in python_inspect.signature(function).parameters.values()
    if parameter.annotation in ("AtLeast0", "AtLeast1", "AtLeast2", "int", "float", "float | None")
]


@pytest.mark.parametrize(("package", "family", "size"), FAMILIES, ids=[f"{NAMES[p]}-{f}-{s}" for p, f, s in FAMILIES])
def test_sizes_of_families_out_of_range_are_refused_by_name(package: Any, family: str, size: str) -> None:
    for wrong, kind in ((-1, InputError), (math.nan, (InputError, TypeError)), ("3", TypeError), (True, TypeError)):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        assert refused(lambda wrong=wrong: package.preset(family, **{size: wrong}), *kinds).startswith(f"{size}: ")


@pytest.mark.parametrize("package", PROBLEMS, ids=NAMES.values())
def test_a_seed_is_as_good_as_its_generator(package: Any) -> None:
    for family, draw in package.PRESETS.items():
        sizes = {"jobs": 2} if "jobs" in python_inspect.signature(draw).parameters else {}
        made = [draw(seed, **sizes) for seed in (3, np.int64(3), np.random.default_rng(3))]
        made += [package.preset(family, seed, **sizes) for seed in (3, np.random.default_rng(3))]
        assert len({instance.digest for instance in made}) == 1
    assert package.random(3) == package.random(3) != package.random(4)


@pytest.mark.parametrize("module", RUNS, ids=lambda module: module.__name__)
def test_runs_take_seeds_of_numpy_and_generators(module: Any) -> None:
    instance = RUNS[module]
    expected = module.run(instance, seed=5)
    assert module.run(instance, seed=np.uint8(5)).schedule == expected.schedule
    first, second = (module.run(instance, seed=np.random.default_rng(5)) for _ in range(2))
    assert first.schedule == second.schedule


def test_rounding_by_a_seed_is_rounding_by_its_generator() -> None:
    x = [0.25, 1.5, 2.75]
    for call in (
        lambda rng: rounding.round_independent(x, rng, draws=5).tolist(),
        lambda rng: rounding.round_shifted(x, rng, lower=0, draws=5).tolist(),
        lambda rng: rounding.sample_violations([[1, 1, 1]], [4], x, rng, 50).rows.tolist(),
        lambda rng: rounding.round_until_feasible(x, lambda point: point.sum() <= 4, rng, rounds=9).feasible,
    ):
        assert call(7) == call(np.int32(7)) == call(np.random.default_rng(7))


def test_one_claim_may_be_named_alone() -> None:
    alone = bounds.verify("hadar/initial-dual", instances=0)
    assert alone.dump() == bounds.verify(["hadar/initial-dual"], instances=0).dump()
    assert {row.id for row in alone.rows} == {"hadar/initial-dual"}


@pytest.mark.slow
def test_numbers_of_numpy_and_endless_time_are_taken() -> None:
    for solver in ("highs", "scip"):
        solution = solve(
            lp(),
            solver=solver,
            time_limit=np.float32(math.inf),
            gap=np.int64(0),
            threads=np.int16(1),
            seed=np.int64(7),
            presolve=np.bool_(False),
        )
        assert solution.objective == 0


def test_models_lists_every_problem() -> None:
    assert set(NAMES.values()) <= set(models.__all__) & set(dir(models))
    assert not {"attach", "exports"} & set(dir(models))


@pytest.mark.parametrize("package", PROBLEMS, ids=NAMES.values())
def test_a_plot_without_matplotlib_names_the_extra(package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    line = refused(lambda: package.plot(PROBLEMS[package], package.Schedule(jobs={})), MissingExtra)
    assert line == "a plot needs matplotlib: pip install 'dlsched[plot]'"
    assert issubclass(MissingExtra, ImportError)


def test_scip_without_pyscipopt_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    assert refused(lambda: solve(lp(), solver="scip"), MissingExtra).endswith("pip install 'dlsched[certify]'")


@pytest.mark.slow
def test_checks_cost_no_import() -> None:
    script = "import sys; from dlsched.arguments import checked; assert 'pyomo' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
