"""What every formulation of the catalog promises of a solved model: it reads back, and is worth what it says.

A formulation that is added is tested by itself; one of a part of a problem adds what its piece is measured by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

from dlsched.models import UnreadableModel, build, catalog, dmlrs, hadar, read, smd, solve
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.numbers import agree
from dlsched.models.problem import problem, problems
from dlsched.models.smd.layered import layered_utility
from dlsched.relaxations import lift_bounds, relax
from tests.cases import dmlrs as dmlrs_cases
from tests.cases import smd as smd_cases
from tests.longer import longer
from tests.strategies import smd as smd_strategies

SOLVED = 6
"""Models of each formulation that are solved and read; of these every third by `gdp.hull`, if it is disjunctive."""

MORE = 15
"""As many, where it takes long."""

MOST = 500
"""Instances that are drawn for them: some have no solution, and some are not for the formulation."""

SIZES: dict[str, tuple[dict[str, Any], ...]] = {
    "hadar": ({}, {"types": 3, "machines": 1}, {"jobs": 2, "slots": 4, "machines": 1}),
    "smd": ({}, {"jobs": 4, "resources": 3, "limit": 7}),
    "dmlrs": ({}, {"asynchronous": True}, {"faster_external": True}, {"asynchronous": True, "faster_external": True}),
    "ddljs": ({}, {"varying": True}, {"half": True, "shape": "star"}, {"jobs": 3}),
}

FEW_JOBS = {"hadar/p1": {"jobs": 2}}
"""As printed all jobs must finish, which more of them seldom can."""

MEASURES: dict[str, Callable[[Any, Any], Any]] = {
    "hadar/response": lambda _, response: response.payoff,
    "hadar/round": lambda _, selected: selected.payoff,
    "smd/milp-layers": layered_utility,
    "smd/inner": lambda _, point: point.time,
    "smd/knapsack": lambda _, admission: admission.utility,
    "dmlrs/response": lambda _, response: response.payoff,
    "dmlrs/cheapest": lambda _, response: response.cost,
    **{
        f"dmlrs/{name}slot{printed}": lambda _, placed: placed.cost
        for name, printed in product(("one-", "internal-", "external-", "async-external-"), ("", "-printed"))
    },
    **{
        f"ddljs/{name}": lambda _, rings: rings.worth
        for name in ("slot", "slot-printed", "slot-circulation", "gvne", "gvne-printed")
    },
}
"""What the objective measures where it is not the utility of a schedule."""

BROKEN = {"ddljs/offline-printed": {"(8) bandwidth"}}
"""Rules that a schedule of the print may break, as its reader says."""

READABLE = [entry for entry in catalog() if entry.kind is not Kind.RELAXATION]
RELAXED = [entry for entry in catalog() if entry.kind is Kind.RELAXATION]
NAMES = [entry.name for entry in READABLE]


def drawn(entry: Formulation[Any], seed: int) -> Any:
    sizes = SIZES.get(entry.problem, ({},))
    asked = sizes[seed % len(sizes)] | FEW_JOBS.get(entry.name, {})
    instance = problem(entry.problem).families["random"](np.random.default_rng(seed), **asked)
    return layered(instance, seed) if entry.problem == "smd" and seed % 3 == 2 else instance


def layered(instance: smd.Instance, seed: int) -> smd.Instance:
    """The same jobs, with measured training and layers that overlap."""
    rng, data = np.random.default_rng(seed), instance.dump()
    for job in data["jobs"]:
        job["training"] = smd_strategies.measured(rng)
    return smd.Instance.parse(data)


def data_of(entry: Formulation[Any], instance: Any, seed: int) -> dict[str, Any]:
    """Extra data in every other model: a later slot, other prices, fewer paths, some readings of the print."""
    if seed % 2 == 0:
        return {}
    places: list[tuple[Any, ...]] = [
        (h.name, r) for h in getattr(instance, "machines", ()) for r in getattr(instance, "resources", ())
    ]
    if entry.problem == "hadar":
        places = [(h.name, r, t) for h in instance.machines for r in h.devices for t in range(1, instance.slots + 1)]
    so_far = {
        job.name: n
        for n, job in enumerate(getattr(instance, "jobs", ()))
        if (budget := getattr(job, "budget_slots", None)) is None or n < budget
    }
    if entry.name == "hadar/round":
        places = list(dict.fromkeys(place[:2] for place in places))
    choices: dict[str, Any] = {
        "slot": getattr(instance, "slots", 1),
        "so_far": so_far,
        "cap": True,
        "paths": "single-hop" if seed % 3 == 0 else "all",
        "literal": ((), ("(5)",), ("(8)",), ("(9)",))[seed % 4],
        "prices": {place: Fraction(1 + seed * k % 7, 3) for k, place in enumerate(places)},
        "allocated": dict.fromkeys(places[::3], 1) if entry.problem == "hadar" else {},
        "taken": dict.fromkeys(places[::3], 1) if entry.problem == "hadar" else {},
        "prices_by_slot": {(*place, 1): Fraction(1 + seed * k % 7, 3) for k, place in enumerate(places)},
    }
    return {name: choices[name] for name in entry.data if name in choices}


def solved(entry: Formulation[Any], count: int = MORE) -> Iterator[tuple[Any, Any, float]]:
    """Models, instances and optima."""
    found = 0
    for seed in range(MOST):
        instance = drawn(entry, seed)
        try:
            model = entry.build(instance, **data_of(entry, instance, seed))
        except ValueError:  # not for such an instance
            continue
        if entry.disjunctive:
            pyo.TransformationFactory("gdp.hull" if found % 3 == 2 else "gdp.bigm").apply_to(model)
        objective = solve(model, solver="highs" if entry.linear else "scip", threads=1).objective
        if objective is not None:
            found += 1
            yield model, instance, objective
        if found == count:
            return


def first(entry: Formulation[Any], solver: bool = True) -> tuple[Any, Any]:
    """A model with integers, solved or not, and its instance."""
    for model, instance, _ in solved(entry):
        if any(v.is_integer() for v in model.component_data_objects(pyo.Var)):
            return model if solver else entry.build(instance), instance
    raise AssertionError(f"{entry.name} has no integers in {MORE} models")


@pytest.mark.slow
@pytest.mark.parametrize("count", longer([SOLVED, MORE], MORE))
@pytest.mark.parametrize("entry", READABLE, ids=NAMES)
def test_a_solved_model_is_a_schedule_worth_its_objective(entry: Formulation[Any], count: int) -> None:
    of = problem(entry.problem)
    found = unreadable = 0
    for model, instance, objective in solved(entry, count):
        found += 1
        try:
            result = read(model, instance)
        except UnreadableModel as error:
            if "as printed lets" not in str(error):
                raise
            unreadable += 1
            continue
        assert agree(MEASURES.get(entry.name, of.utility)(instance, result), objective)
        schedule = result if isinstance(result, of.schedule) else getattr(result, "schedule", None)
        if schedule is not None and not (entry.kind is Kind.SUBPROBLEM and entry.name.endswith("-printed")):
            rules = {violation.rule for violation in of.check(instance, schedule)}
            assert rules <= BROKEN.get(entry.name, set())
    assert found == count
    assert unreadable <= (count // 5 if entry.kind is Kind.AS_PRINTED or entry.name == "ddljs/slot-printed" else 0)


@pytest.mark.slow
@pytest.mark.parametrize("entry", READABLE, ids=NAMES)
def test_what_is_not_its_solved_model_is_refused(entry: Formulation[Any]) -> None:
    model, instance = first(entry)
    other = next(e for e in catalog() if e.name != entry.name and e.problem == entry.problem)
    with pytest.raises(UnreadableModel, match=f"^{other.name}: .* not one of {entry.name}$|is a relaxation"):
        other.read(model, instance)
    another = instance.model_copy(update={"jobs": instance.jobs[1:]})
    with pytest.raises(UnreadableModel, match=f"^{entry.name}: the model was built from another instance$"):
        entry.read(model, another)
    strangers = (
        p.families["random"] for p in problems() if p.instance is not entry.instance and "random" in p.families
    )
    stranger = next(strangers)(np.random.default_rng(0))
    with pytest.raises(TypeError, match="expected an instance of"):
        entry.read(model, stranger)
    with pytest.raises(UnreadableModel, match=r"has no solution .*: solve it first$"):
        entry.read(entry.build(instance), instance)
    integer = next(v for v in model.component_data_objects(pyo.Var) if v.is_integer())
    integer.set_value(integer.value + 0.5, skip_validation=True)
    with pytest.raises(UnreadableModel, match=f"^{entry.name}: the point is fractional: "):
        entry.read(model, instance)


@pytest.mark.parametrize("entry", RELAXED, ids=[entry.name for entry in RELAXED])
def test_a_relaxation_has_no_schedules(entry: Formulation[Any]) -> None:
    model, instance, _ = next(solved(entry))
    with pytest.raises(UnreadableModel, match=f"^{entry.name} is a relaxation: its points are no schedules$"):
        read(model, instance)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["hadar/p1-admission", "hadar/hall", "smd/milp", "dmlrs/compact-milp", "ddljs/offline"]
)
def test_a_fractional_point_of_the_relaxation_is_refused_by_its_jobs(name: str) -> None:
    entry = next(entry for entry in READABLE if entry.name == name)
    refused = 0
    for model, instance, objective in solved(entry):
        relaxation = relax(model).model
        bound = solve(relaxation, threads=1).objective
        assert bound is not None
        try:
            schedule = read(relaxation, instance)
        except UnreadableModel as error:
            jobs = str(error).removeprefix(f"{name}: the point is fractional: jobs ").partition(";")[0].split(", ")
            assert set(jobs) <= {job.name for job in instance.jobs}
            refused += 1
        else:
            assert agree(problem(entry.problem).utility(instance, schedule), objective)
            assert agree(bound, objective)
        if refused == 3:
            return
    raise AssertionError(f"only {refused} fractional points")


def test_a_copy_is_read_as_its_source() -> None:
    instance = hadar.random(0)
    model = build("hadar/hall", instance)
    solve(model)
    copy = lift_bounds(model).model
    solve(copy)
    assert read(model.clone(), instance) == read(model, instance) == read(copy, instance)


def test_a_model_that_no_formulation_has_built() -> None:
    with pytest.raises(UnreadableModel, match="expected a model that a formulation has built"):
        read(pyo.ConcreteModel(), hadar.random(0))
    with pytest.raises(TypeError, match="model: an int is not a Pyomo model or block"):
        read(3, hadar.random(0))


ONE = {
    "slots": 3,
    "device_types": ["gpu"],
    "machines": [{"name": "m", "devices": {"gpu": 1}}],
    "jobs": [
        {
            "name": name,
            "arrival": 1,
            "gang": 1,
            "iterations": 1,
            "rate": {"gpu": 1},
            "utility": {"kind": "table", "values": [5, 5, 5]},
        }
        for name in ("a", "b")
    ],
}
"""Each job needs one of the three slots, and is worth the same in all of them."""


@pytest.mark.parametrize("name", ["hadar/p1-admission", "hadar/aggregate", "hadar/hall"])
def test_devices_that_a_job_does_not_need_are_left_out(name: str) -> None:
    """One job runs in all slots, though it is done after the first; so the other one does not run at all."""
    instance = hadar.Instance.parse(ONE)
    model = build(name, instance)
    for t in (1, 2, 3):
        (model.devices["a", t, "m", "gpu"] if name == "hadar/p1-admission" else model.bottleneck["a", t, "gpu"]).fix(1)
    pyo.TransformationFactory("gdp.bigm").apply_to(model)
    assert solve(model, threads=1).objective == 5
    schedule = read(model, instance)
    assert schedule == hadar.Schedule.of({"a": {1: {"m": {"gpu": 1}}}})
    assert hadar.utility(instance, schedule) == 5


def test_gangs_that_do_not_fit_are_no_schedule() -> None:
    instance = hadar.Instance.parse(ONE)
    model = build("hadar/hall", instance)
    for variable in model.component_data_objects(pyo.Var):
        variable.set_value(int(variable.index()[1] == 1))
    with pytest.raises(UnreadableModel, match="hadar/hall: the running jobs need 2 devices at their levels; 1 can be"):
        read(model, instance)


def at_home(samples: str) -> Any:
    """A job that does 4/3 samples a slot on one machine, and 1 on two; its servers need nothing."""
    job = dmlrs_cases.job("a", {"gpu": 1}, 2, 1, gradient_size=1, internal_rate=2) | {"samples": samples}
    return dmlrs_cases.built([{"gpu": 2}, {"gpu": 2}], 2, job)


def test_servers_beside_those_at_home_are_left_out() -> None:
    """With the idle server elsewhere all workers would be slower than the model says, and the job not done in time."""
    instance = at_home("8/3")
    model = build("dmlrs/compact-milp", instance)
    for t in (1, 2):
        model.spread_servers["a", t, "m2"].fix(1)
        model.home["a", t, "m1"].fix(1)
    assert solve(model, threads=1).objective == 8
    schedule = read(model, instance)
    assert dmlrs.check(instance, schedule) == []
    assert dmlrs.utility(instance, schedule) == 8
    assert {h for _, _, placement in schedule.items() for h in placement} == {"m1"}


def test_work_that_is_all_but_done_is_not_done() -> None:
    """Solvers take it for done; the checker does not, and no other schedule is worth as much."""
    instance = at_home("2666667/1000000")
    model = build("dmlrs/compact-milp", instance)
    assert solve(model, threads=1).objective == 8
    with pytest.raises(UnreadableModel, match=r"compact-milp: job a does only \S+ of \S+ of its work"):
        read(model, instance)


def test_a_level_is_not_reached_past_its_deadline() -> None:
    """With one worker and one server the job takes 9, and a worth of 5 is for 5 at most."""
    instance = smd_cases.built((6,), ("sync", (0, 0, 0, 1, 8), smd_cases.step(5, 5), 1, 1, 6))
    model = build("smd/minlp", instance)
    for variable in model.component_data_objects(pyo.Var):
        variable.set_value(1)
    with pytest.raises(UnreadableModel, match=r"smd/minlp: job 1 takes 9\.0, past the deadline of its level"):
        read(model, instance)
