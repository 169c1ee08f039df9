"""Packing into identical bins against trying every assignment; the sum of machines and its way back."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dlsched.models import InputError, solve
from dlsched.models.dmlrs import Instance, check, exact_utility, preset, random
from dlsched.models.dmlrs.instance import identical, singletons
from dlsched.relaxations import relax
from dlsched.relaxations.aggregation import aggregate_machines, place, trimmed
from dlsched.relaxations.packing import Outcome, Packing, pack
from tests.longer import longer


def possible(
    bundles: np.ndarray, units: np.ndarray, counts: np.ndarray, capacity: np.ndarray, bins: int, apart: np.ndarray
) -> bool:
    """Try every bin for every bundle and single unit."""
    singles = [k for k, n in enumerate(counts) for _ in range(n)]
    for homes in itertools.product(range(bins), repeat=len(bundles)):
        for places in itertools.product(range(bins), repeat=len(singles)):
            room = np.tile(capacity, (bins, 1))
            for b, h in enumerate(homes):
                room[h] -= bundles[b]
            for k, h in zip(singles, places, strict=True):
                room[h] -= units[k]
            clash = any(apart[k] >= 0 and homes[apart[k]] == h for k, h in zip(singles, places, strict=True))
            if (room >= 0).all() and not clash:
                return True
    return False


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int, np.ndarray]:
    rng = np.random.default_rng(seed)
    bins, resources = int(rng.integers(2, 4)), int(rng.integers(1, 3))
    capacity = rng.integers(3, 7, size=resources)
    bundles = rng.integers(0, 6, size=(int(rng.integers(0, 3)), resources))
    units = rng.integers(0, 4, size=(int(rng.integers(0, 3)), resources))
    counts = rng.integers(0, 3, size=len(units))
    apart = np.array([int(rng.integers(-1, len(bundles))) for _ in range(len(units))], dtype=np.int64)
    return bundles, units, counts, capacity, bins, apart


def assert_packed(found: Packing, case: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int, np.ndarray]) -> None:
    bundles, units, counts, capacity, bins, apart = case
    room = np.tile(capacity, (bins, 1))
    for b, h in enumerate(found.bins):
        room[h] -= bundles[b]
    assert (room - (units.T @ found.split).T >= 0).all() if len(units) else (room >= 0).all()
    assert (found.split.sum(axis=1) == counts).all()
    assert all(found.split[k, found.bins[b]] == 0 for k, b in enumerate(apart) if b >= 0)


@pytest.mark.parametrize("seed", range(150))
def test_pack_is_right_where_it_decides(seed: int) -> None:
    case = drawn(seed)
    bundles, units, counts, capacity, bins, apart = case
    found = pack(bundles, units, counts, capacity, bins, apart=apart)
    assert found.outcome is not Outcome.UNKNOWN
    assert (found.outcome is Outcome.PACKED) == possible(*case)
    if found.outcome is Outcome.PACKED:
        assert_packed(found, case)


def test_the_draws_have_both_outcomes() -> None:
    outcomes = [pack(*case[:5], apart=case[5]).outcome for case in map(drawn, range(60))]
    assert outcomes.count(Outcome.PACKED) > 10
    assert outcomes.count(Outcome.IMPOSSIBLE) > 10


def test_what_best_fit_misses_is_searched_for() -> None:
    """Three bins of 10 that are exactly full: 6+4, 5+5, 7+3."""
    bundles = np.array([[6], [5], [7], [3], [5], [4]])
    none = np.zeros((0, 1), dtype=np.int64)
    found = pack(bundles, none, np.zeros(0, dtype=np.int64), np.array([10]), 3)
    assert found.outcome is Outcome.PACKED
    awkward = np.array([[4], [4], [4], [6], [6]])
    result = pack(awkward, none, np.zeros(0, dtype=np.int64), np.array([8]), 3, nodes=0)
    assert result.outcome is Outcome.UNKNOWN
    assert pack(awkward, none, np.zeros(0, dtype=np.int64), np.array([8]), 3).outcome is Outcome.IMPOSSIBLE


def test_groups() -> None:
    instance = preset("benchmark", 0, machines=5)
    (group,) = identical(instance)
    assert len(group) == 5
    assert [len(one) for one in singletons(instance)] == [1] * 5
    data = instance.dump()
    data["machines"][3]["capacity"]["gpu"] = 1
    assert [one.machines for one in identical(Instance.parse(data))] == [
        ("machine1", "machine2", "machine3", "machine5"),
        ("machine4",),
    ]


@pytest.mark.parametrize("seed", longer(range(30), *range(10, 30)))
def test_the_sum_of_machines_and_back(seed: int) -> None:
    """What is packed is a schedule of the relaxation's value."""
    rng = np.random.default_rng(seed)
    instance = random(rng, jobs=3, machines=3, slots=2, identical=True, asynchronous=seed % 2 == 1)
    aggregation = aggregate_machines(instance)
    value = solve(aggregation.model).objective
    packed = aggregation.recover()
    assert (packed.schedule is None) == bool(packed.impossible or packed.unknown)
    if packed.schedule is not None and not check(instance, packed.schedule):
        assert float(exact_utility(instance, packed.schedule)) >= value - 1e-6


def test_trimming_takes_what_is_not_needed() -> None:
    """Two samples a slot are enough, four workers were given; the servers go with them."""
    instance = preset("benchmark", 3, jobs=1, machines=1, slots=4)
    job = instance.jobs[0]
    content = {1: {"machine1": {job.name: (job.batch, 8, 0, 0)}}, 2: {"machine1": {job.name: (0, 0, job.batch, 8)}}}
    result = trimmed(instance, content)
    home = [result[t]["machine1"][job.name] for t in (1, 2)]
    done = home[0][0] / job.internal_time + home[1][2] / job.external_time
    given = job.batch / job.internal_time + job.batch / job.external_time
    assert done >= min(job.work, given)
    assert home[0][1] == job.servers_for(home[0][0])
    assert home[1][3] == job.servers_for(home[1][2])
    if done > job.work:
        assert done - max(1 / job.internal_time, 1 / job.external_time) < job.work


def test_a_slot_that_cannot_be_packed_is_named() -> None:
    instance = preset("benchmark", 0, jobs=2, machines=2, slots=2, multiple=3)
    names = [job.name for job in instance.jobs]
    content = {2: {"machine1": {names[0]: (0, 0, 40, 0), names[1]: (0, 0, 40, 0)}}}
    packed = place(instance, identical(instance), content)
    assert packed.schedule is None
    assert packed.impossible == (2,)


def test_only_a_solution_is_packed() -> None:
    """Neither is a model that was not solved the empty schedule, nor is anything proved by a rounded point."""
    summed = aggregate_machines(preset("benchmark", 0, jobs=2, machines=3, slots=2))
    with pytest.raises(InputError, match=r"solve it$"):
        summed.recover()
    relaxation = relax(summed.model)
    solve(relaxation.model)
    relaxation.recover(load=True)
    with pytest.raises(InputError, match=r"^\w+\[.*\] is [0-9.]+: solve the summed model with its integers$"):
        summed.recover()
