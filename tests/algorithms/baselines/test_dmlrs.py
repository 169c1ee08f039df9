"""The baselines of DMLRS: schedules against the oracle, how they place, and FIFO and DRF by hand and property."""

from __future__ import annotations

import itertools
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms import Stripped
from dlsched.algorithms.baselines.dmlrs import dorm, drf, fifo, oasis
from dlsched.algorithms.baselines.dmlrs.cluster import Cluster, Held, grow
from dlsched.models import InputError
from dlsched.models.dmlrs import AsyncJob, Instance, check, completions, preset, progress
from tests import paths
from tests.cases.dmlrs import built, job, rounds
from tests.longer import in_two
from tests.oracles import dmlrs as oracle
from tests.strategies import dmlrs as dmlrs_strategies

BASELINES = [fifo, drf, dorm, oasis]


@pytest.mark.slow
@in_two(30, 120)
@pytest.mark.parametrize("baseline", BASELINES)
def test_schedules_are_feasible_and_worth_what_is_said(baseline: ModuleType, seeds: range) -> None:
    finished = stripped = 0
    for seed in seeds:
        data = dmlrs_strategies.draw(seed, jobs=4, machines=3, slots=4)
        instance = Instance.parse(data)
        result = baseline.run(instance, seed=seed)
        assert oracle.feasible(data, result.schedule.dump())
        assert check(instance, result.schedule) == []
        assert result.utility == pytest.approx(float(oracle.value(data, result.schedule.dump())))
        finished += len(result.schedule.jobs)
        stripped += sum(isinstance(event, Stripped) for event in result.log)
    assert finished >= len(seeds) / 3
    assert (stripped > 0) == (baseline is not oasis)


@pytest.mark.slow
@pytest.mark.parametrize("baseline", BASELINES)
def test_no_schedule_beats_the_optimum(baseline: ModuleType) -> None:
    for seed in range(25):
        data = dmlrs_strategies.draw(seed)
        result = baseline.run(Instance.parse(data), seed=seed)
        assert oracle.value(data, result.schedule.dump()) <= oracle.optimum(data)[0]


@pytest.mark.slow
@pytest.mark.parametrize("baseline", BASELINES)
def test_a_job_ends_when_its_work_is_done(baseline: ModuleType) -> None:
    for seed in range(60):
        instance = Instance.parse(dmlrs_strategies.draw(seed, slots=4))
        schedule = baseline.run(instance, seed=seed).schedule
        for name, slot in completions(instance, schedule).items():
            placements = schedule.placements(name)
            assert max(placements) == slot
            del placements[slot]
            assert progress(instance.job(name), placements) < instance.job(name).work


@pytest.mark.slow
@pytest.mark.parametrize("baseline", BASELINES)
@pytest.mark.parametrize(
    ("family", "sizes"),
    [
        ("benchmark", {"jobs": 15, "machines": 10, "slots": 12, "multiple": 6.0}),
        ("benchmark", {"jobs": 6, "machines": 5, "slots": 8, "multiple": 3.0, "load": 0.9}),
        ("paper", {"jobs": 8, "machines": 20}),
        ("thesis", {"jobs": 6, "machines": 6}),
    ],
)
def test_presets(baseline: ModuleType, family: str, sizes: dict[str, Any]) -> None:
    instance = preset(family, 1, **sizes)
    result = baseline.run(instance, seed=1)
    assert check(instance, result.schedule) == []
    assert baseline.run(instance, seed=1) == result
    assert result.schedule.jobs or family == "paper"


@pytest.mark.slow
@pytest.mark.parametrize("baseline", [fifo, drf, dorm])
def test_the_log_counts_the_work_left(baseline: ModuleType) -> None:
    for seed in range(40):
        instance = Instance.parse(dmlrs_strategies.draw(seed, jobs=4, slots=4))
        result = baseline.run(instance, seed=seed)
        last = {name: left for event in rounds(result) for name, left in event.remaining.items()}
        stripped = {event.job: event for event in result.log if isinstance(event, Stripped)}
        assert {name for name, left in last.items() if not left} == set(result.schedule.jobs)
        for name, event in stripped.items():
            assert event.needed - event.done == last[name] > 0


@pytest.mark.slow
def test_progress_of_what_is_held() -> None:
    rng = np.random.default_rng(0)
    for seed in range(200):
        instance = Instance.parse(dmlrs_strategies.draw(seed, machines=3))
        names = [machine.name for machine in instance.machines]
        for each in instance.jobs:
            workers, servers = ({h: int(n) for h, n in enumerate(rng.integers(0, 3, len(names))) if n} for _ in (0, 1))
            held = Held(each, workers, servers)
            assert held.progress() == each.progress({names[h]: counts for h, counts in held.counts().items()})


@pytest.mark.slow
@pytest.mark.parametrize("tight", [False, True])
def test_growing_keeps_the_rules_and_leaves_no_trace_when_it_fails(tight: bool) -> None:
    for seed in range(100):
        instance = Instance.parse(dmlrs_strategies.draw(seed, machines=3))
        cluster = Cluster(instance, tight=tight)
        held = [Held(each) for each in instance.jobs]
        for each in held:
            while grow(cluster, each):
                assert each.job.server_shortage(cluster.placement(each)) is None
        free, turn, counts = [list(row) for row in cluster.free], cluster.turn, [each.counts() for each in held]
        assert min((amount for row in free for amount in row), default=0) >= 0
        assert not any(grow(cluster, each) for each in held)
        assert (cluster.free, cluster.turn, [each.counts() for each in held]) == (free, turn, counts)
        for each in held:
            cluster.release(each)
        assert cluster.free == [list(row) for row in cluster.capacity]


def test_workers_and_servers_take_turns() -> None:
    jobs = [job("a", {"r": 1}, 9, 9, server={"r": 1}, workers_per_server=2)]
    instance = built([{"r": 2}, {"r": 3}, {"r": 1}], 1, *jobs)
    cluster, held = Cluster(instance), Held(instance.jobs[0])
    grown = [grow(cluster, held) and held.counts() for _ in range(5)]
    assert grown == [
        {0: (1, 0), 1: (0, 1)},
        {0: (1, 0), 1: (0, 1), 2: (1, 0)},
        {0: (2, 0), 1: (0, 2), 2: (1, 0)},
        {0: (2, 0), 1: (1, 2), 2: (1, 0)},
        False,
    ]


def test_fifo_by_hand() -> None:
    """One machine of 3; a fixed number of 2 workers each: b waits for a, and c, which would fit beside a, for b."""
    jobs = job("a", {"r": 1}, 2, 3), job("b", {"r": 1}, 2, 2), job("c", {"r": 1}, 1, 1, arrival=2)
    instance = built([{"r": 3}], 4, *jobs)
    seed = next(s for s in range(100) if min(np.random.default_rng(s).integers(1, 31, size=3)) >= 2)
    result = fifo.run(instance, seed=seed)
    assert [event.workers for event in result.log if isinstance(event, fifo.Fixed)] == [2, 2, 1]
    assert [event.counts for event in rounds(result)] == [
        {"a": (2, 2)},
        {"a": (2, 2)},
        {"b": (2, 2), "c": (1, 1)},
    ]
    assert result.utility == 8 + 7 + 8


@pytest.mark.slow
def test_fifo_keeps_order_numbers_and_places() -> None:
    for seed in range(80):
        instance = Instance.parse(dmlrs_strategies.draw(seed, jobs=4, machines=3, slots=4))
        result = fifo.run(instance, seed=seed)
        fixed = {event.job: event for event in result.log if isinstance(event, fifo.Fixed)}
        started: dict[str, int] = {}
        for event in rounds(result):
            for name, (workers, _) in event.counts.items():
                started.setdefault(name, event.slot)
                assert workers == fixed[name].workers <= min(fixed[name].drawn, instance.job(name).most_workers)
        queue = [each for each in sorted(instance.jobs, key=lambda each: each.arrival) if fixed[each.name].workers]
        starts = [started.get(each.name, instance.slots + 1) for each in queue]
        assert starts == sorted(starts)
        for name in result.schedule.jobs:
            placements = list(result.schedule.placements(name).values())
            assert all(placement == placements[0] for placement in placements)
        assert all(1 <= event.drawn <= fifo.MOST for event in fixed.values())


def test_a_job_that_can_never_run_does_not_block_the_queue() -> None:
    instance = built([{"r": 2}], 2, job("huge", {"r": 3}, 1, 1), job("small", {"r": 1}, 1, 1))
    result = fifo.run(instance)
    assert set(result.schedule.jobs) == {"small"}


def test_drf_by_hand() -> None:
    """Ghodsi et al., Section 4.1: of 9 CPUs and 18 GB, three tasks of (1, 4) and two of (3, 1)."""
    jobs = job("a", {"cpu": 1, "memory": 4}, 9, 9), job("b", {"cpu": 3, "memory": 1}, 9, 4)
    result = drf.run(built([{"cpu": 9, "memory": 18}], 3, *jobs))
    assert [event.counts for event in rounds(result)] == [
        {"a": (3, 3), "b": (2, 2)},
        {"a": (3, 3), "b": (2, 2)},
        {"a": (3, 3)},
    ]
    assert result.utility == 7 + 8


def test_drf_raises_the_smallest_share() -> None:
    """On one machine of one resource: only a full or larger job stays behind another by more than one of its steps."""
    rng = np.random.default_rng(1)
    unequal = 0
    for _ in range(60):
        needs = rng.integers(1, 4, size=4).tolist()
        jobs = [job(str(k), {"r": need}, int(rng.integers(1, 12)), 100) for k, need in enumerate(needs)]
        instance = built([{"r": int(rng.integers(6, 30))}], 1, *jobs)
        cluster = Cluster(instance)
        held = drf.fill(cluster, instance.jobs, {each.name: each.work for each in instance.jobs})
        workers = [held[each.name].worker_count if each.name in held else 0 for each in instance.jobs]
        left = cluster.free[0][0]
        for i, j in itertools.permutations(range(4), 2):
            full = workers[i] == instance.jobs[i].most_workers
            if not full:
                assert left < needs[i]
                assert workers[i] * needs[i] >= (workers[j] - 1) * needs[j] or needs[i] > needs[j]
            unequal += full and workers[i] < workers[j]
    assert unequal > 10


@pytest.mark.slow
@in_two(30, 80)
def test_an_asynchronous_job_keeps_its_servers_together(seeds: range) -> None:
    several = 0
    for seed in seeds:
        instance = Instance.parse(dmlrs_strategies.draw(seed, asynchronous=True, machines=4, slots=4))
        for baseline in BASELINES:
            for name, _, placement in baseline.run(instance, seed=seed).schedule.items():
                assert isinstance(instance.job(name), AsyncJob)
                assert sum(s > 0 for _, s in placement.values()) == 1
                several += len(placement) > 1
    assert several > len(seeds) / 4


@pytest.mark.parametrize("baseline", BASELINES)
def test_instances_without_much_in_them(baseline: ModuleType) -> None:
    """No jobs; a job that needs nothing; no resources at all; no capacity."""
    assert baseline.run(built([{"r": 1}], 3)).schedule.jobs == {}
    free = job("free", {}, 1, 1)
    for instance in (built([{"r": 1}, {"r": 1}], 3, free), built([{}, {}], 3, free)):
        assert set(baseline.run(instance).schedule.jobs) == {"free"}
    assert baseline.run(built([{"r": 0}, {"r": 0}], 3, job("a", {"r": 1}, 1, 1))).schedule.jobs == {}


@pytest.mark.parametrize("baseline", [fifo, drf, dorm])
def test_servers_by_the_billion_are_placed_at_once(baseline: ModuleType) -> None:
    instance = Instance.load(paths.GOLDEN / "false-dmlrs.json")
    assert instance.jobs[0].servers_for(1) == 10**9
    found = baseline.run(instance, seed=0)
    assert check(instance, found.schedule) == []
    assert found.utility > 0


def test_oasis_refuses_more_servers_than_it_can_price() -> None:
    with pytest.raises(InputError, match="job a: 1000000000 servers for 1 workers; OASiS prices one after the other"):
        oasis.run(Instance.load(paths.GOLDEN / "false-dmlrs.json"))
