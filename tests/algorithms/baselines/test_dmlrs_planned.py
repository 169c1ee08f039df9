"""Dorm and OASiS: small cases by hand, the plans against enumeration, the best responses against the oracle."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms import Run
from dlsched.algorithms.baselines.dmlrs import dorm, drf, oasis
from dlsched.algorithms.pd_ors import JobDecision, Occupancy, constants
from dlsched.models import InputError
from dlsched.models.dmlrs import Instance, Schedule, preset
from tests.cases.dmlrs import built, job, rounds
from tests.longer import in_two
from tests.oracles import dmlrs as oracle
from tests.strategies import dmlrs as dmlrs_strategies


def planned(result: Run[Schedule]) -> list[dorm.Planned]:
    return [event for event in result.log if isinstance(event, dorm.Planned)]


def test_dorm_by_hand() -> None:
    """Of 10, dominant resource fairness gives 5 to a and 3 to b; two workers of a would use all, with a loss of .8."""
    instance = built([{"r": 10}], 1, job("a", {"r": 5}, 2, 2), job("b", {"r": 3}, 3, 3))
    assert rounds(drf.run(instance))[0].counts == {"a": (1, 1), "b": (1, 1)}
    assert rounds(dorm.run(instance, fairness=0.1))[0].counts == {"a": (1, 1), "b": (1, 1)}
    assert rounds(dorm.run(instance, fairness=0.5))[0].counts == {"a": (2, 2)}
    assert planned(dorm.run(instance, fairness=0.5))[0].planned == pytest.approx(1.0)


def test_dorm_changes_no_more_than_it_may() -> None:
    """When b arrives, fairness wants a to shrink; without adjustments b has to wait until a is done."""
    instance = built([{"r": 4}], 4, job("a", {"r": 1}, 4, 8), job("b", {"r": 1}, 4, 4, arrival=2))
    kept = dorm.run(instance, adjustment=0.0)
    assert [event.counts for event in rounds(kept)] == [{"a": (4, 4)}, {"a": (4, 4)}, {"b": (4, 4)}]
    assert [(event.slot, event.kept, event.changed) for event in planned(kept)] == [
        (1, (), ()),
        (2, ("a",), ()),
        (3, (), ()),
    ]
    assert planned(kept)[1].planned is None
    shared = dorm.run(instance, adjustment=0.1, fairness=0.1)
    assert [event.counts for event in rounds(shared)][:2] == [{"a": (4, 4)}, {"a": (2, 2), "b": (2, 2)}]
    assert planned(shared)[1].changed == ("a",)


@pytest.mark.slow
def test_dorm_uses_most_within_fairness() -> None:
    """On one machine of one resource, against all numbers of workers."""
    rng = np.random.default_rng(2)
    for _ in range(25):
        total, fairness = int(rng.integers(6, 20)), float(rng.choice([0.05, 0.1, 0.3]))
        needs = rng.integers(1, 6, size=3).tolist()
        jobs = [job(str(k), {"r": need}, int(rng.integers(1, 5)), 50) for k, need in enumerate(needs)]
        instance = built([{"r": total}], 1, *jobs)
        fair = rounds(drf.run(instance))[0].counts
        best = Fraction(0)
        for workers in itertools.product(*(range(each.most_workers + 1) for each in instance.jobs)):
            used = sum(n * need for n, need in zip(workers, needs, strict=True))
            loss = sum(
                abs(n - fair.get(str(k), (0, 0))[0]) * need
                for k, (n, need) in enumerate(zip(workers, needs, strict=True))
            )
            if used <= total and loss <= 2 * Fraction(str(fairness)) * total:
                best = max(best, Fraction(used, total))
        event = planned(dorm.run(instance, fairness=fairness))[0]
        assert event.planned == pytest.approx(float(best), rel=0.006)
        assert event.short == {}


@pytest.mark.slow
@in_two(2, 8)
def test_dorm_keeps_to_its_adjustments(seeds: range) -> None:
    adjusted = 0
    for seed in seeds:
        instance = preset("benchmark", seed, jobs=10, machines=3, slots=8, multiple=4.0)
        result = dorm.run(instance, seed=seed, adjustment=0.3)
        before: dict[str, tuple[int, int]] = {}
        plans = {event.slot: event for event in planned(result)}
        for event in rounds(result):
            if event.slot in plans:
                plan = plans[event.slot]
                assert len(plan.changed) <= -(-3 * (len(plan.kept) + len(plan.changed)) // 10)
                adjusted += len(plan.changed)
                assert all(event.counts[name] == before[name] for name in plan.kept)
            else:
                assert event.counts == before
            before = event.counts
    assert adjusted > 1.25 * len(seeds)


@pytest.mark.parametrize("name", ["fairness", "adjustment"])
def test_dorm_refuses_what_is_no_part(name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: 1.5 must be in"):
        dorm.run(built([{"r": 1}], 1), **{name: 1.5})


def test_oasis_by_hand() -> None:
    """One worker a machine: apart, three machines hold two workers and one for their servers, and one machine none."""
    each = job("a", {"r": 1}, 4, 4, server={"r": 1}, workers_per_server=2)
    result = oasis.run(built([{"r": 1}, {"r": 1}, {"r": 1}], 4, each))
    assert result.schedule.placements("a") == {t: {"m1": (1, 0), "m2": (1, 0), "m3": (0, 1)} for t in (1, 2)}
    assert result.utility == 8
    assert oasis.run(built([{"r": 99}], 4, each)).schedule.jobs == {}


def seated(data: dict[str, Any]) -> dict[str, Any]:
    """The instance with a seat for each worker on the first half of the machines and for each server on the others."""
    half = (len(data["machines"]) + 1) // 2
    seats = [({"ws": 99}, {"ss": 99})[h >= half] for h in range(len(data["machines"]))]
    machines = [m | {"capacity": m["capacity"] | seat} for m, seat in zip(data["machines"], seats, strict=True)]
    jobs = [j | {"worker": j["worker"] | {"ws": 1}, "server": j["server"] | {"ss": 1}} for j in data["jobs"]]
    return data | {"resources": [*data["resources"], "ws", "ss"], "machines": machines, "jobs": jobs}


@pytest.mark.slow
@in_two(40, 120)
def test_oasis_finds_the_best_schedule_of_each_job_apart(seeds: range) -> None:
    admitted = 0
    for seed in seeds:
        data = dmlrs_strategies.draw(seed, machines=4, slots=3)
        instance, apart = Instance.parse(data), seated(data)
        result = oasis.run(instance)
        state = Occupancy(instance, constants(instance))
        plain = {each["name"]: each for each in apart["jobs"]}
        for event in result.log:
            assert isinstance(event, JobDecision)
            price, room = {}, {}
            for t, h, k in np.ndindex(state.used.shape):
                cell = state.machines[h], instance.resources[k], t + 1
                price[cell] = float(state.prices[t, h, k])
                room[cell] = Fraction(int(state.capacity[h, k] - state.used[t, h, k]), state.scale[k])
            payoffs = [0.0]
            for deadline in range(event.slot, instance.slots + 1):
                cost = oracle.cheapest(apart, plain[event.job], price, room, deadline)
                if cost is not None:
                    payoffs.append(float(oracle.worth(plain[event.job], deadline - event.slot) - cost))
            assert event.payoff == pytest.approx(max(payoffs), abs=1e-9)
            state.commit(instance.job(event.job), event.placements)
            admitted += event.admitted
        assert result.prices == state.final_prices()
        assert oracle.feasible(apart, result.schedule.dump())
    assert admitted >= 50 / 120 * len(seeds)
