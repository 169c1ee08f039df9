"""The LP bound over all schedules: against the LP over enumerated ones, and valid whenever it is cut short."""

from __future__ import annotations

import numpy as np
import pytest

from dlsched.algorithms import optimum
from dlsched.algorithms.pd_ors import schedule_bound
from dlsched.models import build, solve
from dlsched.models.dmlrs import Instance, preset, random
from dlsched.models.dmlrs.schedules import enumerate_schedules
from dlsched.relaxations import relax
from tests.longer import longer


@pytest.mark.parametrize("seed", longer(range(36), *range(12, 36)))
def test_it_is_the_lp_over_all_schedules(seed: int) -> None:
    rng = np.random.default_rng(seed)
    asynchronous = seed % 3 == 2
    instance = random(rng, jobs=2, machines=2, slots=2, identical=seed % 2 == 0, asynchronous=asynchronous)
    listed = solve(relax(build("dmlrs/schedules", instance)).model).objective or 0.0
    found = schedule_bound(instance)
    assert found.finished
    assert found.bound == pytest.approx(listed, abs=1e-4)
    assert found.value == pytest.approx(listed, abs=1e-4)
    for job in instance.jobs:
        for column in enumerate_schedules(instance, job):
            cost = sum(found.prices.get(place, 0.0) * float(n) for place, n in column.usage(instance).items())
            assert found.payoffs[job.name] >= float(column.utility) - cost - 1e-6
    weights = {job.name: 0.0 for job in instance.jobs}
    for name, plan, weight in found.schedules:
        weights[name] += weight
        assert sum(instance.job(name).progress(placement) for placement in plan.values()) >= instance.job(name).work
    assert all(weight <= 1 + 1e-6 for weight in weights.values())


@pytest.mark.slow
def test_it_is_valid_at_any_moment() -> None:
    instance = preset("benchmark", 0, jobs=5, machines=2, slots=4, multiple=4)
    whole = schedule_bound(instance)
    for rounds in (1, 2, 5):
        cut = schedule_bound(instance, rounds=rounds)
        assert cut.rounds <= rounds + 1
        assert cut.bound >= whole.bound - 1e-6
    best = optimum(instance, time_limit=60)
    assert best.proved
    assert whole.bound >= best.value - 1e-6


def test_it_stops_when_told() -> None:
    instance = preset("benchmark", 0, jobs=10, machines=4, slots=10, multiple=3, load=0.9)
    told: list[tuple[float, float]] = []

    def stop(bound: float, value: float) -> bool:
        told.append((bound, value))
        return len(told) == 2

    assert not schedule_bound(instance, stop=stop).finished
    assert len(told) == 2


def test_without_jobs_or_resources() -> None:
    data = preset("benchmark", 0, jobs=1, machines=1, slots=2).dump()
    assert schedule_bound(Instance.parse(data | {"jobs": []})).bound == 0
    free = [job | {"worker": {}, "server": {}} for job in data["jobs"]]
    machines = [{"name": "m", "capacity": {}}]
    instance = Instance.parse(data | {"resources": [], "machines": machines, "jobs": free})
    assert schedule_bound(instance).bound == pytest.approx(optimum(instance).value)
