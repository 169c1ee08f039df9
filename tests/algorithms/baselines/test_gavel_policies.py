"""Gavel's policies: known values, and each against its own program by another solver, at its value and below it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from dlsched.algorithms.baselines.hadar import gavel
from dlsched.algorithms.baselines.hadar.gavel_policies import Policy, Progress, policy_shares
from dlsched.models import InputError
from dlsched.models.hadar import Instance, check, preset
from tests.longer import examples
from tests.strategies.hadar import hadar_data

SPEEDS = ((2, 1, 0.5), (3, 2, 1))
TYPES = ("v100", "p100", "k80")


def cluster(devices: Mapping[str, int], *jobs: tuple[int, Mapping[str, float]]) -> Instance:
    """One machine, and jobs of (gang, iterations per second and device by type) with ten iterations each."""
    return Instance.model_validate(
        {
            "slots": 9,
            "device_types": list(devices),
            "machines": [{"name": "m", "devices": dict(devices)}],
            "jobs": [
                {
                    "name": f"J{i}",
                    "arrival": 1,
                    "gang": gang,
                    "iterations": 10,
                    "rate": dict(speeds),
                    "utility": {"kind": "table", "values": [1] * 9},
                }
                for i, (gang, speeds) in enumerate(jobs)
            ],
        }
    )


def gavels() -> Instance:
    """The jobs of Gavel's own tests, on one device of each type."""
    return cluster(dict.fromkeys(TYPES, 1), *((1, dict(zip(TYPES, speeds, strict=True))) for speeds in SPEEDS))


def throughput(instance: Instance, shares: Mapping[str, Mapping[str, float]], name: str) -> float:
    job = instance.job(name)
    return float(sum(job.gang * job.rate_on(r) * Fraction(share) for r, share in shares.get(name, {}).items()))


def near(value: float) -> Any:
    return pytest.approx(value, rel=1e-6, abs=1e-9)


class Direct:
    """The programs of Gavel over all pairs of a job and a type, written from their definition."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        jobs, types = instance.jobs, instance.device_types
        self.able = [j for j in jobs if any(j.rate_on(r) and instance.capacity[r] >= j.gang for r in types)]
        self.speed = np.array([[float(j.gang * j.rate_on(r)) for r in types] for j in self.able])
        self.upper = [float(bool(j.rate_on(r)) and instance.capacity[r] >= j.gang) for j in self.able for r in types]
        n, m = len(self.able), len(types)
        self.rows = np.zeros((n + m, n * m))
        for i, j in enumerate(self.able):
            for k in range(m):
                self.rows[i, i * m + k] = 1
                self.rows[n + k, i * m + k] = j.gang
        self.sides = np.array([1.0] * n + [float(instance.capacity[r]) for r in types])

    def greatest_sum(self) -> float:
        found = linprog(-self.speed.ravel(), self.rows, self.sides, bounds=[(0, u) for u in self.upper])
        return -float(found.fun)

    def reaches(self, needed: list[float]) -> bool:
        """Tell whether some shares give every job so many iterations per second."""
        n, m = self.speed.shape
        own = np.zeros((n, n * m))
        for i in range(n):
            own[i, i * m : (i + 1) * m] = -self.speed[i] / needed[i]
        found = linprog(
            np.zeros(n * m),
            np.vstack([self.rows, own]),
            np.concatenate([self.sides, -np.ones(n)]),
            bounds=[(0, u) for u in self.upper],
        )
        return int(found.status) == 0

    def is_least(self, value: float, needed_at: Callable[[float], list[float]], within: float) -> bool:
        """Tell whether what is needed is reached at a value, and not at one below it."""
        return self.reaches(needed_at(value * (1 + within))) and not self.reaches(needed_at(value * (1 - within)))


def test_the_known_values() -> None:
    two, gangs = gavels(), cluster({"t": 4}, (1, {"t": 1}), (4, {"t": 1}))
    found = policy_shares(two, two.jobs, "max-sum-throughput")
    assert sum(throughput(two, found, name) for name in ("J0", "J1")) == near(4)
    found = policy_shares(two, two.jobs, "max-min-fairness")
    assert throughput(two, found, "J0") / (3.5 / 3) == near(24 / 19)
    assert policy_shares(gangs, gangs.jobs) == {"J0": {"t": near(1)}, "J1": {"t": near(0.75)}}
    assert policy_shares(gangs, gangs.jobs, "max-sum-throughput") == {"J0": {}, "J1": {"t": near(1)}}


def test_a_type_that_costs_more_is_used_less() -> None:
    two = gavels()
    dear = policy_shares(two, two.jobs, "max-sum-throughput", costs={"v100": 10})
    assert sum(dear[name].get("v100", 0) for name in dear) == 0
    assert dear == {"J0": {"k80": near(1)}, "J1": {"p100": near(1)}}


def test_floors_are_reached_or_refused_and_never_dropped() -> None:
    gangs = cluster({"t": 4}, (1, {"t": 1}), (4, {"t": 1}))
    found = policy_shares(gangs, gangs.jobs, "max-sum-throughput", floors={"J0": 0.5})
    assert (throughput(gangs, found, "J0"), throughput(gangs, found, "J1")) == (near(0.5), near(3.5))
    with pytest.raises(InputError, match=r"^floors: no shares reach them all \(J0, J1\)$"):
        policy_shares(gangs, gangs.jobs, "max-sum-throughput", floors={"J0": 1, "J1": 3.5})
    alone = cluster({"t": 1, "u": 1}, (2, {"t": 1, "u": 1}))
    with pytest.raises(InputError, match=r"^floors.J0: the job can run on no type$"):
        policy_shares(alone, alone.jobs, "max-sum-throughput", floors={"J0": 1})


@pytest.mark.slow
@examples(20, 60)
@given(data=hadar_data())
def test_the_sum_is_the_greatest(data: dict[str, Any]) -> None:
    instance = Instance.model_validate(data)
    found = policy_shares(instance, instance.jobs, Policy.MAX_SUM_THROUGHPUT)
    direct = Direct(instance)
    if direct.able:
        assert sum(throughput(instance, found, j.name) for j in direct.able) == near(direct.greatest_sum())
    else:
        assert found == {}


@pytest.mark.slow
@examples(20, 60)
@given(data=hadar_data())
def test_the_last_job_ends_as_early_as_can_be(data: dict[str, Any]) -> None:
    instance = Instance.model_validate(data)
    found = policy_shares(instance, instance.jobs, Policy.MIN_TOTAL_DURATION)
    direct = Direct(instance)
    if not direct.able:
        assert found == {}
        return
    work = [float(j.iterations) for j in direct.able]
    ends = max(w / throughput(instance, found, j.name) for w, j in zip(work, direct.able, strict=True))
    assert direct.is_least(ends, lambda end: [w / end for w in work], within=1e-6)


@pytest.mark.slow
@examples(20, 60)
@given(data=hadar_data(), waited=st.integers(0, 5))
def test_the_greatest_ratio_of_times_is_the_least(data: dict[str, Any], waited: int) -> None:
    instance = Instance.model_validate(data)
    jobs = instance.jobs
    progress = Progress(
        {j.name: j.iterations / (1 + i % 2) for i, j in enumerate(jobs)},
        {j.name: Fraction(waited * i) for i, j in enumerate(jobs)},
        {j.name: Fraction(waited) for j in jobs},
    )
    found = policy_shares(instance, jobs, Policy.FINISH_TIME_FAIRNESS, progress=progress)
    direct = Direct(instance)
    if not direct.able:
        assert found == {}
        return
    n = len(jobs)
    alone, since, left = [], [], []
    for j in direct.able:
        part = {r: Fraction(c, n * j.gang) for r, c in instance.capacity.items()}
        speed = sum(j.gang * j.rate_on(r) * x for r, x in part.items()) / max(1, sum(part.values()))
        alone.append(float(progress.isolated[j.name] + progress.remaining[j.name] / speed))
        since.append(float(progress.since[j.name]))
        left.append(float(progress.remaining[j.name]))
    ratio = max(
        (s + w / throughput(instance, found, j.name)) / a
        for j, s, w, a in zip(direct.able, since, left, alone, strict=True)
    )
    assert direct.is_least(
        ratio,
        lambda z: [w / (z * a - s) if z * a > s else 1e15 for s, w, a in zip(since, left, alone, strict=True)],
        within=1e-5,
    )


def small(types: dict[str, int], jobs: dict[str, tuple[int, int, dict[str, int]]], seconds: int = 1) -> Instance:
    """One machine; jobs by name with gang, iterations, and rates."""
    utility = {"kind": "table", "values": [3, 2, 1]}
    return Instance.parse(
        {
            "slots": 3,
            "slot_seconds": seconds,
            "device_types": list(types),
            "machines": [{"name": "m", "devices": types}],
            "jobs": [
                {"name": name, "arrival": 1, "gang": gang, "iterations": work, "rate": rate, "utility": utility}
                for name, (gang, work, rate) in jobs.items()
            ],
        }
    )


@pytest.mark.parametrize("rate", [10**5, 10**9])
def test_a_rate_that_a_floor_leaves_no_room_for_hides_no_other(rate: int) -> None:
    """The floor of x takes all of b, so that y is on a, whatever it would do on b."""
    instance = small({"a": 1, "b": 1}, {"x": (1, 1, {"b": 1}), "y": (1, 1, {"a": 2, "b": rate})})
    assert policy_shares(instance, instance.jobs, "max-sum-throughput", floors={"x": 1}) == {
        "x": {"b": 1},
        "y": {"a": 1},
    }


def test_finish_time_fairness_where_rates_are_ten_million_times_apart() -> None:
    """The interior point finds no ratio. Gangs of four do not fit; w and x share the three devices of a."""
    fast = 10**7
    jobs = {"w": (3, 5760, {"a": 1, "b": 3 * fast}), "x": (1, 3240, {"a": 2 * fast})}
    jobs |= {"y": (4, 11520, {"a": 2, "b": 3}), "z": (4, 4320, {"a": 3})}
    instance = small({"a": 3, "b": 2}, jobs)
    shares = policy_shares(instance, instance.jobs, "finish-time-fairness")
    assert shares.keys() == {"w", "x"}
    assert 3 * shares["w"]["a"] + shares["x"]["a"] == pytest.approx(3)


@pytest.mark.parametrize("policy", list(Policy))
def test_shares_do_not_hang_on_the_unit_of_time(policy: Policy) -> None:
    rates = {"x": (1, 2, {"a": 1, "b": 2}), "y": (2, 3, {"a": 1}), "z": (1, 3, {"a": 2, "b": 3})}

    def shares(unit: int) -> dict[str, dict[str, float]]:
        jobs = {name: (gang, work * unit, rate) for name, (gang, work, rate) in rates.items()}
        instance = small({"a": 2, "b": 1}, jobs, unit)
        return policy_shares(instance, instance.jobs, policy)

    assert shares(10**13) == shares(1)


@pytest.mark.slow
@pytest.mark.parametrize("policy", list(Policy))
def test_runs_under_every_policy_are_valid_and_the_same_again(policy: Policy) -> None:
    instance = preset("benchmark", 3, jobs=8, machines=4, types=3, slots=12)
    first = gavel.run(instance, policy=policy)
    assert check(instance, first.schedule) == []
    assert gavel.run(Instance.parse(json.loads(instance.model_dump_json())), policy=policy).schedule == first.schedule


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"costs": {"x": 1}}, "costs.x: there is no such type"),
        ({"costs": {"v100": 0}}, "costs.v100: 0 must be positive and finite"),
        ({"floors": {"J9": 1}}, "floors.J9: there is no such job"),
        ({"floors": {"J0": float("inf")}}, "floors.J0: inf must be positive and finite"),
    ],
)
def test_bad_amounts_are_refused(options: dict[str, Any], message: str) -> None:
    two = gavels()
    with pytest.raises(InputError) as caught:
        policy_shares(two, two.jobs, "max-sum-throughput", **options)
    assert str(caught.value) == message


def test_a_floor_of_no_job_is_refused_by_a_run() -> None:
    with pytest.raises(InputError, match=r"^floors.J9: unknown job$"):
        gavel.run(gavels(), policy="max-sum-throughput", floors={"J9": 1})
