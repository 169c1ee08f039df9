"""The Hadar formulations agree with each other and with an exhaustive search written independently of them."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given

from dlsched.algorithms.hadar import constants, run
from dlsched.algorithms.run import Decision
from dlsched.models import InputError, build, compile_model, read, residuals, solve
from dlsched.models.hadar import Instance, Job, Schedule, check, enumerate_schedules, exact_utility, random, utility
from dlsched.models.hadar.levels import place_counts
from dlsched.models.hadar.schedule import bottleneck
from dlsched.models.hadar.schedules import gangs
from dlsched.models.numbers import agree
from dlsched.solvers.solution import Status
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import TOLERANCE
from tests import paths
from tests.longer import examples
from tests.oracles import hadar as oracle
from tests.strategies.hadar import hadar_data

GOLDEN = json.loads((paths.GOLDEN / "hadar.json").read_text())
CASES = {case["name"]: case for case in GOLDEN["cases"]}
LP_BOUNDS = json.loads((paths.GOLDEN / "hadar_lp_bounds.json").read_text())
DISJUNCTIVE = ["gdp.bigm", "gdp.hull"]


def formulated(name: str, instance: Instance, transformation: str | None = None) -> Any:
    model = build(name, instance)
    if transformation:
        pyo.TransformationFactory(transformation).apply_to(model)
    return model


def lp_bound(model: Any) -> float:
    raw = solve_matrix(compile_model(model).relaxed())
    assert raw.summary.status is Status.OPTIMAL
    assert raw.summary.objective is not None
    return raw.summary.objective


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    ("formulation", "transformation"),
    [
        ("hadar/p1-admission", "gdp.bigm"),
        ("hadar/p1-admission", "gdp.hull"),
        ("hadar/aggregate", None),
        ("hadar/hall", None),
        ("hadar/p2", None),
    ],
)
def test_golden_optimum_with_admission(name: str, formulation: str, transformation: str | None) -> None:
    instance = Instance.parse(CASES[name]["instance"])
    solution = solve(formulated(formulation, instance, transformation))
    assert solution.status is Status.OPTIMAL
    assert solution.objective == pytest.approx(float(oracle.rational(CASES[name]["p2"])), abs=TOLERANCE)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("transformation", DISJUNCTIVE)
def test_golden_optimum_as_printed(name: str, transformation: str) -> None:
    expected = CASES[name]["p1"]
    solution = solve(formulated("hadar/p1", Instance.parse(CASES[name]["instance"]), transformation))
    if expected is None:
        assert solution.status is Status.INFEASIBLE
        assert solution.objective is None
    else:
        assert solution.objective == pytest.approx(float(oracle.rational(expected)), abs=TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_golden_lp_bounds(name: str) -> None:
    instance = Instance.parse(CASES[name]["instance"])
    found = {
        "p2": lp_bound(build("hadar/p2", instance)),
        "hall": lp_bound(build("hadar/hall", instance)),
        "aggregate": lp_bound(build("hadar/aggregate", instance)),
        "hull": lp_bound(formulated("hadar/p1-admission", instance, "gdp.hull")),
        "bigm": lp_bound(formulated("hadar/p1-admission", instance, "gdp.bigm")),
    }
    assert found == pytest.approx(LP_BOUNDS["bounds"][name], abs=TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize(("reading", "rounds"), [("per-job", 6), ("per-device", 3)])
def test_motivational_example_minimum_makespan(reading: str, rounds: int) -> None:
    case = next(case for case in GOLDEN["motivation"] if case["name"] == f"motivation-{reading}")
    assert case["makespan"] == rounds
    for slots, feasible in [(rounds, True), (rounds - 1, False)]:
        data = case["instance"] | {"slots": slots}
        for job in data["jobs"]:
            job["utility"] = {"kind": "step", "value": 1, "deadline": slots}
        solution = solve(formulated("hadar/p1", Instance.parse(data), "gdp.bigm"), presolve=False)
        assert (solution.status is Status.OPTIMAL) == feasible
        assert (solution.status is Status.INFEASIBLE) != feasible


@pytest.mark.slow
@examples(10, 40)
@given(data=hadar_data())
def test_formulations_and_exhaustive_search_agree(data: dict[str, Any]) -> None:
    instance = Instance.parse(data)
    best, _ = oracle.optimum(data)
    for transformation in DISJUNCTIVE:
        assert agree(solve(formulated("hadar/p1-admission", instance, transformation)).objective, best)
    assert agree(solve(build("hadar/p2", instance)).objective, best)
    for name in ("hadar/aggregate", "hadar/hall"):
        model = build(name, instance)
        assert agree(solve(model).objective, best)
        schedule = read(model, instance)
        assert check(instance, schedule) == []
        assert oracle.check(data, schedule.dump()) == []
        assert agree(exact_utility(instance, schedule), best)
        assert oracle.value(data, schedule.dump()) == exact_utility(instance, schedule)


@pytest.mark.slow
@examples(15, 40)
@given(data=hadar_data())
def test_p1_as_printed_is_infeasible_exactly_where_some_job_cannot_finish(data: dict[str, Any]) -> None:
    best, _ = oracle.optimum(data, every_job=True)
    solution = solve(formulated("hadar/p1", Instance.parse(data), "gdp.bigm"))
    if best is None:
        assert solution.status is Status.INFEASIBLE
    else:
        assert agree(solution.objective, best)


@pytest.mark.slow
@examples(10, 40)
@given(data=hadar_data())
def test_lp_bounds_are_ordered(data: dict[str, Any]) -> None:
    instance = Instance.parse(data)
    best, _ = oracle.optimum(data)
    p2, p3 = lp_bound(build("hadar/p2", instance)), lp_bound(build("hadar/p3", instance))
    aggregate, hall = lp_bound(build("hadar/aggregate", instance)), lp_bound(build("hadar/hall", instance))
    hull, bigm = (lp_bound(formulated("hadar/p1-admission", instance, t)) for t in DISJUNCTIVE[::-1])
    ordered = [float(best), p2, aggregate, bigm]
    assert p2 <= hall + TOLERANCE * max(1, hall)
    assert all(a <= b + TOLERANCE * max(1, b) for a, b in itertools.pairwise(ordered))
    assert p2 <= hull + TOLERANCE * max(1, hull)
    assert hull <= bigm + TOLERANCE * max(1, bigm)
    assert agree(p2, p3)


@pytest.mark.slow
@examples(15, 25)
@given(data=hadar_data())
def test_the_loaded_point_satisfies_every_row(data: dict[str, Any]) -> None:
    model = formulated("hadar/p1-admission", Instance.parse(data), "gdp.bigm")
    solve(model)
    assert max(residuals(model).values(), default=0.0) <= TOLERANCE


def test_no_jobs() -> None:
    instance = Instance.parse(CASES["H1"]["instance"] | {"jobs": []})
    for name, transformation in [
        ("hadar/p1", "gdp.bigm"),
        ("hadar/aggregate", None),
        ("hadar/hall", None),
        ("hadar/p2", None),
        ("hadar/p3", None),
    ]:
        solution = solve(formulated(name, instance, transformation))
        assert solution.status is Status.OPTIMAL
        assert solution.objective == 0


def test_a_job_that_makes_no_progress_on_the_types_there_are_is_rejected() -> None:
    data = CASES["H1"]["instance"]
    data = data | {"device_types": ["v100", "absent"], "jobs": [data["jobs"][0] | {"rate": {"absent": 1}}]}
    instance = Instance.parse(data)
    for name, transformation in [("hadar/p1-admission", "gdp.hull"), ("hadar/aggregate", None), ("hadar/p2", None)]:
        assert solve(formulated(name, instance, transformation)).objective == 0


def test_unplaceable_levels_are_refused() -> None:
    instance = Instance.parse(CASES["H3"]["instance"])
    crowd = {job.name: instance.usable_types(job)[-1] for job in instance.jobs}
    with pytest.raises(ValueError, match="need 4 devices"):
        place_counts(instance, crowd)


def test_data_that_a_formulation_does_not_take_are_refused() -> None:
    instance = Instance.parse(CASES["H1"]["instance"])
    with pytest.raises(TypeError, match="takes no data, not schedules"):
        build("hadar/p1", instance, schedules={})
    with pytest.raises(InputError, match="unknown formulation"):
        build("hadar/none", instance)
    with pytest.raises(TypeError, match="expected an instance of hadar"):
        build("hadar/p1", {"slots": 1})


def test_p2_over_given_schedules_is_restricted_to_them() -> None:
    instance = Instance.parse(CASES["H3"]["instance"])
    assert solve(build("hadar/p2", instance, schedules={})).objective == 0


def test_a_schedule_is_worth_what_its_jobs_reach() -> None:
    instance = Instance.parse(CASES["H1"]["instance"])
    assert utility(instance, Schedule.of({})) == 0.0


def two_jobs(rate: Any, iterations: Any, seconds: Any = 1) -> Instance:
    """Two jobs in four slots; the first needs both devices a, the second one device a or b."""
    utility = {"kind": "table", "values": [9, 8, 7, 6]}
    job = {"arrival": 1, "iterations": iterations, "utility": utility, "rate": rate}
    return Instance.parse(
        {
            "slots": 4,
            "slot_seconds": seconds,
            "device_types": ["a", "b"],
            "machines": [{"name": "m", "devices": {"a": 2, "b": 1}}],
            "jobs": [job | {"name": "j", "gang": 2}, job | {"name": "k", "gang": 1}],
        }
    )


EXACT = [
    ("hadar/p1-admission", "gdp.bigm"),
    ("hadar/p1-admission", "gdp.hull"),
    ("hadar/aggregate", None),
    ("hadar/hall", None),
    ("hadar/p2", None),
]


@pytest.mark.slow
@pytest.mark.parametrize(("formulation", "transformation"), EXACT)
@pytest.mark.parametrize(
    ("rate", "iterations", "seconds"),
    [
        ({"a": 0.3333333333}, 2, 1),
        ({"a": 0.3333333333, "b": 1}, 2, 1),
        ({"a": "333333333/500000000"}, 4, 1),
        ({"a": 1e-9}, 6e-9, 1),
        ({"a": 1e-9}, 6.00000001e-9, 1),
        ({"a": 1e12}, 1, 1),
        ({"a": 1e12, "b": 3e-7}, 1e-3, 1e-6),
        ({"a": 1e-9, "b": 1}, 1e12, 5e20),
        ({"a": 1e-9}, 3e-3, 1e6),
    ],
)
def test_work_is_done_or_not_in_any_unit(
    rate: Any, iterations: Any, seconds: Any, formulation: str, transformation: str | None
) -> None:
    """Three slots at .3333333333 do not do what four do; a solver's tolerance of 1e-6 takes it for done."""
    instance = two_jobs(rate, iterations, seconds)
    expected, _ = oracle.optimum(instance.dump())
    assert solve(formulated(formulation, instance, transformation)).objective == pytest.approx(float(expected or 0))


def affordable(instance: Instance, job: Job, prices: dict[Any, Any], allocated: dict[Any, int]) -> Fraction:
    """Return max(0, max_s phi_j(s)) over the schedules, listed, that fit beside what is allocated."""
    best = Fraction(0)
    for column in enumerate_schedules(instance, job):
        usage = column.usage()
        if all(n + allocated.get(place, 0) <= instance.machine(place[0]).count(place[1]) for place, n in usage.items()):
            cost = sum((n * Fraction(prices.get(place, 0)) for place, n in usage.items()), Fraction(0))
            best = max(best, column.utility - cost)
    return best


@pytest.mark.slow
@pytest.mark.parametrize("transformation", DISJUNCTIVE)
@pytest.mark.parametrize("seed", range(8))
def test_the_best_response_is_the_schedule_of_the_greatest_payoff(seed: int, transformation: str) -> None:
    rng = np.random.default_rng(seed)
    instance = random(rng, jobs=2, machines=2, types=2, slots=3, devices=2)
    places = [(h.name, r, t) for h in instance.machines for r in h.devices for t in range(1, instance.slots + 1)]
    prices = {place: Fraction(int(rng.integers(0, 9)), 4) for place in places}
    allocated = {place: int(rng.integers(0, instance.machine(place[0]).count(place[1]) + 1)) for place in places[::2]}
    for job in instance.jobs:
        model = build("hadar/response", instance, job=job.name, prices=prices, allocated=allocated)
        pyo.TransformationFactory(transformation).apply_to(model)
        best = affordable(instance, job, prices, allocated)
        assert solve(model).objective == pytest.approx(float(best), abs=TOLERANCE)
        assert read(model, instance).payoff == best


@pytest.mark.parametrize("name", CASES)
def test_the_algorithm_takes_the_best_response(name: str) -> None:
    """The first job of the run that commits at arrival has the payoff of (8) at the lowest price."""
    instance = Instance.parse(CASES[name]["instance"])
    first = next(event for event in run(instance).log if isinstance(event, Decision))
    low = constants(instance).umin
    prices = {
        (h.name, r, t): low[r] for h in instance.machines for r in h.devices for t in range(1, instance.slots + 1)
    }
    model = build("hadar/response", instance, job=first.job, prices=prices)
    pyo.TransformationFactory("gdp.bigm").apply_to(model)
    assert solve(model).objective == pytest.approx(first.payoff, abs=TOLERANCE)


def test_what_no_best_response_is_asked_for() -> None:
    instance = Instance.parse(CASES["H4"]["instance"])
    machine, job = instance.machines[0], instance.jobs[0]
    place = machine.name, instance.device_types[0], 1
    with pytest.raises(InputError, match="unknown job 'J9'; there are"):
        build("hadar/response", instance, job="J9")
    with pytest.raises(InputError, match="2 of 1 devices"):
        build("hadar/response", instance, job=job.name, allocated={place: 2})


@pytest.mark.parametrize("seed", range(10))
def test_a_round_selects_what_trying_every_gang_selects(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = random(rng, jobs=3, machines=2, types=2, slots=3, devices=2)
    cells = [(h.name, r) for h in instance.machines for r in h.devices]
    prices = {cell: Fraction(int(rng.integers(0, 9)), 4) for cell in cells}
    taken = {cell: int(rng.integers(0, instance.machine(cell[0]).count(cell[1]) + 1)) for cell in cells[::2]}
    slot = int(rng.integers(1, 3))
    left = {job.name: job.iterations * Fraction(int(rng.integers(0, 3)), 2) for job in instance.jobs}
    model = build("hadar/round", instance, slot=slot, left=left, prices=prices, taken=taken)
    best = Fraction(0)
    options = [[None, *gangs(instance, job)] if job.arrival <= slot else [None] for job in instance.jobs]
    for chosen in itertools.product(*options):
        used = dict(taken)
        payoff = Fraction(0)
        for job, held in zip(instance.jobs, chosen, strict=True):
            if held is None or not left[job.name]:
                continue
            for h, r, n in ((h, r, n) for h, devices in held.items() for r, n in devices.items()):
                used[h, r] = used.get((h, r), 0) + n
                payoff -= n * prices[h, r]
            slots = -(-left[job.name] // (job.gang * bottleneck(job, held) * instance.slot_seconds))
            if slot - 1 + slots <= instance.slots:
                payoff += job.utility.exact(slot - 1 + slots - job.arrival)
        if all(n <= instance.machine(h).count(r) for (h, r), n in used.items()):
            best = max(best, payoff)
    assert solve(model).objective == pytest.approx(float(best), abs=TOLERANCE)
    assert read(model, instance).payoff == best


@pytest.mark.parametrize("left", [Fraction(1, 10), 0.1, np.float64(0.1)])
def test_iterations_left_in_floats_are_the_fraction_that_they_stand_for(left: Any) -> None:
    """A tenth at a tenth a slot takes one slot; the float's binary value is more than a tenth."""
    one = {"name": "a", "arrival": 1, "gang": 1, "iterations": 1, "rate": {"r": "1/10"}}
    one["utility"] = {"kind": "table", "values": [9, 4, 1]}
    machines = [{"name": "m", "devices": {"r": 1}}]
    instance = Instance.parse({"slots": 3, "device_types": ["r"], "machines": machines, "jobs": [one]})
    model = build("hadar/round", instance, left={"a": left})
    assert solve(model).objective == 9
    assert read(model, instance).payoff == 9


def test_what_no_round_is_asked_for() -> None:
    instance = Instance.parse(CASES["H4"]["instance"])
    with pytest.raises(InputError, match="slot: 11 is not between 1 and 10"):
        build("hadar/round", instance, slot=11)
    cell = instance.machines[0].name, instance.device_types[0]
    for data, words in (
        ({"taken": {cell: 2}}, "2 of 1 devices"),
        ({"taken": {cell: 0.5}}, "1/2 of 1 devices"),
        ({"taken": {("x", cell[1]): 0}}, "taken: .* is not a machine and a device type of the instance"),
        ({"prices": {("x", cell[1]): 1}}, "prices: .* is not a machine and a device type of the instance"),
        ({"prices": {cell: -1}}, "prices: -1 at .* must not be negative"),
        ({"left": {"x": 1}}, "left: x is not a job of the instance"),
    ):
        with pytest.raises(InputError, match=words):
            build("hadar/round", instance, **data)


def test_what_no_response_is_asked_for() -> None:
    """A price of a machine that is not there would leave the machine that was meant free."""
    instance = Instance.parse(CASES["H4"]["instance"])
    cell = instance.machines[0].name, instance.device_types[0]
    for data, words in (
        ({"prices": {("x", cell[1], 1): 1}}, "prices: .* is not a machine, a device type and a slot of the instance"),
        ({"prices": {(*cell, 11): 1}}, "prices: .* is not a machine, a device type and a slot of the instance"),
        ({"prices": {(*cell, 1): -1}}, "prices: -1 at .* must not be negative"),
        ({"prices": {(*cell, 1): math.inf}}, "prices: .* must be a finite number, not inf"),
        ({"allocated": {cell: 1}}, "allocated: .* is not a machine, a device type and a slot of the instance"),
        ({"allocated": {(*cell, 1): 0.5}}, "1/2 of 1 devices"),
    ):
        with pytest.raises(InputError, match=words):
            build("hadar/response", instance, **data)
