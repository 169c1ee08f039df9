"""The certified optimum of DDLJS against golden values, exhaustive search and its own dynamic program."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms import optimum
from dlsched.algorithms.exact.ddljs.counts import best_value
from dlsched.algorithms.exact.ddljs.greedy import greedy_schedule
from dlsched.algorithms.exact.ddljs.horizon import Condensed, alike, horizon_program, pooled_program, values
from dlsched.algorithms.exact.result import Proof
from dlsched.models.ddljs import Instance, Schedule, check, exact_utility, random
from dlsched.models.ddljs.presets import benchmark
from dlsched.models.numbers import agree
from dlsched.models.utility import Power
from dlsched.solvers.solve import solve_matrix
from tests.cases.ddljs import OFFLINE, expected, instance, instance_data
from tests.longer import longer
from tests.oracles import ddljs as oracle

OPTIMA = {name: value for name in OFFLINE for key in ("opt", "opt_all_paths") if (value := expected(name).get(key))}


def drawn(seed: int) -> Instance:
    """Return a random instance: half duplex, varying links, two resources, placement and log utilities among them."""
    rng = np.random.default_rng(seed)
    found = random(
        rng,
        jobs=int(rng.integers(1, 4)),
        servers=int(rng.integers(1, 5)),
        resources=int(rng.integers(1, 3)),
        slots=int(rng.integers(1, 4)),
        varying=bool(rng.integers(2)),
        half=bool(rng.integers(2)),
    )
    data = json.loads(found.model_dump_json())
    first = data["jobs"][0]
    if found.servers and rng.random() < 0.25:
        names = [server.name for server in found.servers]
        first["placement"] = [sorted(set(rng.choice(names, 2).tolist())) for _ in range(first["max_workers"])]
    if rng.random() < 0.2:
        first["utility"] = {"kind": "log", "scale": 1, "offset": 0}
    elif rng.random() < 0.2:
        first["utility"] = {"kind": "linear", "intercept": 5, "slope": 1}
    return Instance.parse(data)


def assert_optimal(found: Instance) -> None:
    """Assert that the optimum is proved and that of exhaustive search."""
    result = optimum(found)
    best = float(oracle.optimum(json.loads(found.model_dump_json()))[0])
    assert result.proved
    if result.value is None:
        assert best < -(10**8)
        assert result.schedule is None
        return
    assert agree(result.value, best)
    assert not check(found, result.schedule)
    assert agree(result.value, exact_utility(found, result.schedule))


@pytest.mark.parametrize("name", OPTIMA)
def test_golden(name: str) -> None:
    result = optimum(instance(name))
    assert result.proved
    assert agree(result.value, OPTIMA[name])
    assert not check(instance(name), result.schedule)
    assert best_value(instance(name)) == pytest.approx(OPTIMA[name])


def test_every_offline_golden_optimum_is_tested() -> None:
    assert set(OPTIMA) == {"G1", "G4", "G5", "G6", "G7", "G11", "G12", "G13"}


@pytest.mark.parametrize("seed", longer(range(120), *range(40, 120)))
def test_random(seed: int) -> None:
    assert_optimal(drawn(seed))


def with_job(name: str, **fields: Any) -> Instance:
    """Return an offline golden instance with other fields of its first job."""
    data = instance_data(name)
    data["jobs"][0].update(fields)
    return Instance.parse(data)


def test_half_duplex_links_carry_both_directions() -> None:
    data = {
        "slots": 2,
        "resources": ["g"],
        "nodes": [{"name": u, "capacity": {"g": 1}} for u in "ab"],
        "links": [{"source": "a", "target": "b", "bandwidth": 1}],
        "jobs": [
            {
                "name": "J",
                "arrival": 1,
                "max_workers": 2,
                "worker": {"g": 1},
                "progress": 1,
                "bandwidth": 1,
                "utility": {"kind": "linear", "intercept": 0, "slope": -1},
            }
        ],
    }
    assert optimum(Instance.parse(data | {"duplex": True})).value == 4
    assert optimum(Instance.parse(data | {"duplex": "half"})).value == 2
    assert optimum(Instance.parse(data)).value == 2


def test_no_jobs() -> None:
    result = optimum(Instance.parse(instance_data("G1") | {"jobs": []}))
    assert (result.value, result.bound, result.proved) == (0, 0, True)
    assert result.schedule == Schedule.of({})


def test_log_job_that_cannot_get_anything() -> None:
    result = optimum(with_job("G1", utility={"kind": "log", "scale": 1, "offset": 0}, worker={"g": 4}, budget=None))
    assert (result.value, result.bound, result.schedule, result.proved) == (None, None, None, True)


def test_log_jobs_that_cannot_all_get_something() -> None:
    data = instance_data("G11") | {"slots": 1}
    for job in data["jobs"]:
        job["utility"] = {"kind": "log", "scale": 1, "offset": 0}
    result = optimum(Instance.parse(data))
    assert (result.value, result.bound, result.schedule, result.proved) == (None, None, None, True)
    assert len(result.evidence) == 3
    assert result.proof is Proof.EXACT


def test_log_job_must_get_something() -> None:
    result = optimum(with_job("G11", utility={"kind": "log", "scale": "1/1000", "offset": 0}))
    assert result.proved
    assert 1 <= sum(e.size for e in result.schedule.embeddings("S").values()) < 10


def test_zero_capacities() -> None:
    data = instance_data("G1")
    data["nodes"][0]["capacity"] = {"g": 0}
    result = optimum(Instance.parse(data))
    assert (result.value, result.proved) == (0, True)


def test_falling_utility_is_best_left_alone() -> None:
    result = optimum(with_job("G1", utility={"kind": "linear", "intercept": 9, "slope": 1}))
    assert result.schedule.embeddings("A") == {}
    assert result.value == pytest.approx(9 + 2)


@pytest.mark.parametrize("seed", range(12))
def test_what_some_jobs_cost_and_others_gain(seed: int) -> None:
    drawn = random(np.random.default_rng(seed), jobs=3)
    signs = [-1, 1, -1]
    utilities = [Power(scale=Fraction(sign), exponent=Fraction(2)) for sign in signs]
    jobs = [job.model_copy(update={"utility": u}) for job, u in zip(drawn.jobs, utilities, strict=True)]
    instance = drawn.model_copy(update={"jobs": tuple(jobs)})
    found = optimum(instance)
    assert found.proved
    assert found.value == float(oracle.optimum(instance.dump())[0])
    assert set(found.schedule.jobs) <= {jobs[1].name}


def test_no_time() -> None:
    result = optimum(instance("G11"), time_limit=0)
    assert not result.proved
    assert result.value <= 100.5 <= result.bound


def long(seed: int) -> Instance:
    """Return a random instance in which most slots are alike."""
    rng = np.random.default_rng(seed)
    found = random(rng, jobs=int(rng.integers(1, 4)), servers=int(rng.integers(1, 3)), slots=4, varying=False)
    data = json.loads(found.model_dump_json())
    for job in data["jobs"]:
        job["arrival"] = int(rng.integers(1, 3))
        if rng.random() < 0.5:
            job["max_workers"], job["budget"] = min(2, job["max_workers"]), None
        if rng.random() < 0.3:
            job["utility"] = {"kind": "sigmoid", "height": 10, "steepness": -2, "midpoint": 3}
    return Instance.parse(data)


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(500, 580), *range(520, 580)))
def test_slots_that_are_alike(seed: int) -> None:
    assert_optimal(long(seed))


@pytest.mark.parametrize("seed", range(500, 540))
def test_pooled_slots_relax_all_slots(seed: int) -> None:
    found = long(seed)
    groups, points = alike(found), {job.name: values(found, job) for job in found.jobs}
    pooled, whole = pooled_program(found, points, groups).matrix, horizon_program(found, points, groups).matrix
    linear, of_all = (solve_matrix(m.relaxed(), threads=1).summary.objective for m in (pooled, whole))
    assert linear == pytest.approx(of_all)
    best = float(oracle.optimum(json.loads(found.model_dump_json()))[0])
    integer = solve_matrix(pooled, threads=1).summary.objective
    assert integer is not None
    assert best - 1e-6 <= integer <= (linear or 0.0) + 1e-6


@pytest.mark.parametrize("seed", range(500, 540))
def test_greedy_schedules_are_feasible(seed: int) -> None:
    found = long(seed)
    schedule = greedy_schedule(found, alike(found))
    assert not check(found, schedule)
    assert float(exact_utility(found, schedule)) <= float(oracle.optimum(json.loads(found.model_dump_json()))[0]) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(500, 530), *range(510, 530)))
def test_slots_without_need_change_nothing(seed: int) -> None:
    data = json.loads(long(seed).model_dump_json())
    for job in data["jobs"]:
        job["budget"] = {r: 2 * need for r, need in job["worker"].items()}
    count = len(data["jobs"])
    data["slots"], data["jobs"][-1]["arrival"] = 4 * count, 2
    short = Instance.parse(data)
    data["slots"], data["jobs"][-1]["arrival"] = 120, 70
    found = Instance.parse(data)
    assert Condensed.of(found).instance.slots <= 4 * count
    result, same = optimum(found), optimum(short)
    assert result.proved
    assert same.proved
    assert agree(result.value, same.value)
    assert not check(found, result.schedule)


@pytest.mark.slow
@pytest.mark.parametrize("slots", [10**5, 10**6])
def test_a_small_job_over_many_slots(slots: int) -> None:
    data = instance_data("G1") | {"slots": slots}
    for job in data["jobs"]:
        job["budget"] = {r: 3 * Fraction(need) for r, need in job["worker"].items()}
    result = optimum(Instance.parse(data), time_limit=10)
    assert result.proved
    assert not check(Instance.parse(data), result.schedule)


@pytest.mark.slow
@pytest.mark.parametrize("slots", [1, 5])
@pytest.mark.parametrize("capacity", [10**6, 10**18])
def test_a_job_of_a_million_workers(slots: int, capacity: int) -> None:
    data = instance_data("G1") | {"slots": slots}
    data["nodes"][0]["capacity"] = {"g": capacity}
    data["jobs"] = [data["jobs"][0] | {"max_workers": 10**6, "budget": None, "worker": {"g": 1}}]
    data["jobs"][0]["utility"] = {"kind": "sqrt", "scale": 10}
    result = optimum(Instance.parse(data), time_limit=5)
    assert result.value == pytest.approx(10 * (slots * 10**6) ** 0.5)
    assert result.proved


@pytest.mark.slow
def test_what_is_too_large_to_be_written_has_a_schedule_and_a_bound() -> None:
    data = instance_data("G1") | {"slots": 5}
    data["nodes"][0]["capacity"] = {"g": 10**6}
    job = data["jobs"][0] | {"max_workers": 10**6, "budget": None, "worker": {"g": 1}}
    data["jobs"] = [job | {"name": name, "utility": {"kind": "sqrt", "scale": 10}} for name in "ABC"]
    result = optimum(Instance.parse(data))
    assert not result.proved
    assert not check(Instance.parse(data), result.schedule)
    assert 0.5 * result.bound <= result.value <= result.bound
    assert any("not written" in line for line in result.evidence)


def test_capacities_beyond_what_solvers_take() -> None:
    nodes = [{"name": u, "capacity": {"g": 10**18, "m": 1}} for u in "ab"]
    link = {"source": "a", "target": "b", "bandwidth": 10**18}
    need = {"arrival": 1, "max_workers": 2, "worker": {"g": 1, "m": 1}, "progress": 1, "bandwidth": 1}
    jobs = [need | {"name": name, "utility": {"kind": "sqrt", "scale": 10}} for name in "ABC"]
    data = {"slots": 6, "resources": ["g", "m"], "nodes": nodes, "links": [link], "duplex": True, "jobs": jobs}
    result = optimum(Instance.parse(data))
    assert result.proved
    assert result.value == pytest.approx(60)


@pytest.mark.slow
def test_a_time_limit_leaves_a_schedule_of_a_long_horizon() -> None:
    data = instance_data("G1") | {"slots": 10**6}
    data["jobs"][0] |= {"budget": None, "max_workers": 1, "utility": {"kind": "sqrt", "scale": 10}}
    data["jobs"] = data["jobs"][:1]
    result = optimum(Instance.parse(data), time_limit=2)
    assert 0 < result.value < result.bound == pytest.approx(10**4)


@pytest.mark.slow
@pytest.mark.parametrize("tight", [False, True])
def test_benchmark_family(tight: bool) -> None:
    found = benchmark(np.random.default_rng(2), servers=5, jobs=4, slots=4, tight=tight)
    result = optimum(found)
    assert result.proved
    assert not check(found, result.schedule)
    points = {job.name: values(found, job) for job in found.jobs}
    whole = solve_matrix(horizon_program(found, points, alike(found)).matrix, threads=1).summary.objective
    assert whole is not None
    assert agree(whole, result.value)


@pytest.mark.slow
def test_ten_servers_ten_jobs_ten_slots() -> None:
    found = benchmark(np.random.default_rng(1), servers=10, jobs=10, slots=10, tight=False)
    result = optimum(found)
    assert result.proved
    assert agree(result.value, exact_utility(found, result.schedule))


def test_slots_are_alike_where_links_and_jobs_are() -> None:
    data = instance_data("G6") | {"slots": 4}
    assert alike(Instance.parse(data)) == [[1], [2, 3, 4]]
    assert alike(instance("G12")) == [[1], [2]]


def test_program_of_all_slots_has_the_same_optimum_with_and_without_presolve() -> None:
    found = drawn(5)
    program = horizon_program(found, {job.name: values(found, job) for job in found.jobs}, alike(found))
    first, second = (solve_matrix(program.matrix, threads=1, presolve=p).summary.objective for p in (True, False))
    assert first is not None
    assert second is not None
    assert agree(first, second)
