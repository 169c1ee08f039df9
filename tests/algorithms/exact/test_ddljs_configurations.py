"""Bounds by prices of worker-slots, and schedules made of configurations, against exhaustive search and programs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dlsched.algorithms.exact.ddljs import solver
from dlsched.algorithms.exact.ddljs.configurations import Bound, Configurations
from dlsched.algorithms.exact.ddljs.horizon import alike, horizon_program, pooled_program, values
from dlsched.algorithms.exact.ddljs.solver import solve
from dlsched.models.ddljs import Instance, Schedule, check, exact_utility, random
from dlsched.models.ddljs.presets import benchmark
from dlsched.models.numbers import agree, exceeds
from dlsched.solvers.solve import solve_matrix
from tests.cases.ddljs import instance_data
from tests.longer import longer
from tests.oracles import ddljs as oracle


def concave(seed: int) -> Instance:
    """Return a random instance whose jobs gain less with each worker-slot, and compete for two servers."""
    rng = np.random.default_rng(seed)
    data = random(rng, jobs=3, servers=2, slots=4, varying=bool(rng.integers(2))).dump()
    for job in data["jobs"]:
        job["arrival"], job["max_workers"] = int(rng.integers(1, 3)), min(2, job["max_workers"])
        job["utility"] = {"kind": "sqrt", "scale": int(rng.integers(1, 20))}
        if rng.random() < 0.3:
            job["utility"] = {"kind": "log", "scale": 3, "offset": int(rng.integers(2))}
    return Instance.parse(data)


def generated(found: Instance) -> tuple[Configurations, list[Bound]]:
    """Return the configurations that come when all prices are 0 at first, and the bounds in their order."""
    points = {job.name: values(found, job) for job in found.jobs}
    configurations, bounds = Configurations(found, points, alike(found), Schedule.of({})), list[Bound]()
    configurations.generate({job.name: Fraction(0) for job in found.jobs}, bounds.append)
    return configurations, bounds


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(40), *range(6, 40)))
def test_the_bound_lies_between_the_optimum_and_the_linear_program(seed: int) -> None:
    found = concave(seed)
    best = float(oracle.optimum(found.dump())[0])
    configurations, bounds = generated(found)
    values_ = [bound.value for bound in bounds]
    assert values_ == sorted(values_, reverse=True)
    assert not any(exceeds(best, float(value)) for value in values_)
    points = {job.name: values(found, job) for job in found.jobs}
    linear = solve_matrix(pooled_program(found, points, alike(found)).matrix.relaxed(), threads=1).summary.objective
    if linear is not None:  # a job may have no finite utility
        assert configurations.best is not None
        assert not exceeds(float(configurations.best.value), linear)


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("seed", longer(range(20), 1, *range(4, 20)))
def test_what_is_settled_can_be_completed(seed: int, share: float) -> None:
    found = benchmark(np.random.default_rng(seed), servers=4, jobs=4, slots=5, workers=3, tight=True)
    configurations, bounds = generated(found)
    part = configurations.part(share)
    settled = {slot for own in part.embeddings.values() for slot in own}
    assert settled.isdisjoint(slot for group in part.groups for slot in group)
    assert settled or share < 1
    assert not settled or share > 0
    program = horizon_program(found, part.points, part.groups)
    raw = solve_matrix(program.matrix, threads=1)
    assert raw.x is not None
    schedule = part.with_rest(program.read(raw.x))
    assert not check(found, schedule)
    assert agree(raw.summary.objective, exact_utility(found, schedule))
    assert not exceeds(float(exact_utility(found, schedule)), float(bounds[-1].value))


def test_marginal_prices_are_what_another_worker_slot_is_worth() -> None:
    data = instance_data("G1") | {"slots": 6}
    for job in data["jobs"]:
        job["utility"] = {"kind": "linear", "intercept": 1, "slope": -3}
    found = Instance.parse(data)
    points = {job.name: values(found, job) for job in found.jobs}
    configurations = Configurations(found, points, alike(found), Schedule.of({}))
    first, second = points
    prices = configurations.marginal({first: 2, second: max(points[second])})
    assert {name: float(price) for name, price in prices.items()} == pytest.approx({first: 3, second: 0})


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(3), 1, 2))
def test_prices_prove_an_optimum_where_no_program_can_be_written(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the 785 229 columns of 50 servers, 40 jobs and 60 slots cannot."""
    found = benchmark(np.random.default_rng(seed), servers=4, jobs=4, slots=5, workers=3, tight=True)
    best = solve(found).value
    count = solver.columns
    monkeypatch.setattr(solver, "columns", lambda instance, slots: 1000 * count(instance, slots))
    result = solve(found)
    assert any("not written" in line for line in result.evidence)
    assert not any("linear program" in line for line in result.evidence)
    assert result.proved
    assert best is not None
    assert agree(result.value, best)


def test_a_job_gets_no_more_than_its_budget() -> None:
    data = instance_data("G1") | {"slots": 6}
    for job in data["jobs"]:
        job["budget"] = {r: 5 * Fraction(need) for r, need in job["worker"].items()}
    found = Instance.parse(data)
    configurations, _ = generated(found)
    part = configurations.part(1.0)
    assert not check(found, part.with_rest(Schedule.of({})))


@pytest.mark.parametrize("seed", longer(range(20), *range(8, 20)))
def test_both_routes_have_the_same_optimum(seed: int) -> None:
    found = concave(seed)
    first, second = solve(found), solve(found, whole=True)
    assert first.proved
    assert second.proved
    assert first.value is None or agree(first.value, second.value)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 7])
def test_ten_servers_with_tight_links(seed: int) -> None:
    found = benchmark(np.random.default_rng(seed), servers=10, jobs=10, slots=20, tight=True)
    result = solve(found)
    assert result.proved
    assert agree(result.value, exact_utility(found, result.schedule))
    assert not check(found, result.schedule)
    assert sum("each slot at prices of worker-slots" in line for line in result.evidence) == 2
