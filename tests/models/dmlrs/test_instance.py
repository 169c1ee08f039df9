"""DMLRS instances: what is refused, in one line that names the place; what is allowed; the presets."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms import optimum
from dlsched.algorithms.pd_ors import constants, run
from dlsched.models import InputError
from dlsched.models.dmlrs import PRESETS, AsyncJob, Instance, Job, Schedule, check, preset, random, utility
from tests.cases.documents import refused


def job(**changes: Any) -> dict[str, Any]:
    return {
        "name": "job1",
        "arrival": 1,
        "epochs": 1,
        "samples": 2,
        "batch": 2,
        "slots_per_sample": 1,
        "gradient_size": 0,
        "workers_per_server": 1,
        "internal_rate": 2,
        "external_rate": 1,
        "worker": {"gpu": 1},
        "server": {"gpu": 1},
        "utility": {"kind": "table", "values": [10, 4]},
    } | changes


def async_job(**changes: Any) -> dict[str, Any]:
    data = job() | {"chunks": 2, "minibatches_per_chunk": 1, "slots_per_minibatch": 1, "server_rate": 4}
    for name in ("samples", "batch", "slots_per_sample", "workers_per_server"):
        del data[name]
    return data | changes


def instance(*jobs: dict[str, Any], **changes: Any) -> dict[str, Any]:
    machines = [{"name": "m1", "capacity": {"gpu": 2}}]
    return {"slots": 2, "resources": ["gpu"], "machines": machines, "jobs": list(jobs)} | changes


BAD: list[tuple[dict[str, Any], str]] = [
    (instance(job(workers_per_server=0)), "jobs[0].workers_per_server: 0 must be positive"),
    (instance(job(internal_rate=0)), "jobs[0].internal_rate: 0 must be positive"),
    (instance(job(external_rate="-1/2")), "jobs[0].external_rate: -0.5 must be positive"),
    (instance(async_job(server_rate=0)), "jobs[0].server_rate: 0 must be positive"),
    (instance(async_job(external_rate=0)), "jobs[0].external_rate: 0 must be positive"),
    (instance(job(samples=0)), "jobs[0].samples: 0 must be positive"),
    (instance(job(batch=0)), "jobs[0].batch: 0 should be greater than or equal to 1"),
    (instance(async_job(chunks=0)), "jobs[0].chunks: 0 should be greater than or equal to 1"),
    (instance(job(worker={"cpu": 1})), "jobs[0].worker.cpu: unknown resource; resources lists gpu"),
    (instance(job(server={"gpu": -1})), "jobs[0].server.gpu: -1 must not be negative"),
    (instance(job(arrival=3)), "jobs[0].arrival: 3 is after the last slot 2"),
    (instance(job(), job()), "jobs[1].name: 'job1' is already the name of jobs[0]"),
    (
        instance(async_job(), job(name="job2")),
        "jobs[1]: has no chunks, but other jobs have; jobs are all synchronous or all asynchronous",
    ),
    (
        instance(job(slots_per_sample=0)),
        "jobs[0].slots_per_sample: is 0, and so is gradient_size: the job would take no time",
    ),
    (
        instance(job(utility={"kind": "table", "values": [1, 2]})),
        "jobs[0].utility: increases with the duration; it must be non-increasing",
    ),
    (
        instance(job(utility={"kind": "power", "scale": -1, "exponent": 2})),
        "jobs[0].utility: is -1 at 1; a utility of the duration must not be negative",
    ),
    (instance(job(speed=1)), "jobs[0].speed: unknown field"),
    (instance(machines=[{"name": "m1", "capacity": {"cpu": 1}}]), "machines[0].capacity.cpu: unknown resource"),
    (instance(slots=0), "slots: 0 should be greater than or equal to 1"),
    (instance(machines=[]), "machines: "),
]


@pytest.mark.parametrize(("data", "message"), BAD, ids=[message.split(":")[0] for _, message in BAD])
def test_bad_instances_are_refused_in_one_line(data: dict[str, Any], message: str) -> None:
    assert refused(Instance.parse, data).startswith(message)


ALLOWED: dict[str, dict[str, Any]] = {
    "external faster than internal": instance(job(samples="1/2", external_rate=4, gradient_size=1)),
    "a machine without capacity": instance(job(), machines=[{"name": "m1", "capacity": {}}]),
    "a machine without one resource": instance(job(worker={"gpu": 1, "cpu": 1}), resources=["gpu", "cpu"]),
    "a job that cannot finish": instance(job(samples=100)),
    "a utility that is 0 at the horizon": instance(job(samples=1, utility={"kind": "table", "values": [10]})),
    "a job that needs nothing": instance(job(worker={}, server={})),
    "no jobs": instance(),
    "no resources": instance(job(worker={}, server={}), resources=[], machines=[{"name": "m1", "capacity": {}}]),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_odd_instances_are_solved_and_run(name: str) -> None:
    odd = Instance.parse(ALLOWED[name])
    found = optimum(odd)
    outcome = run(odd)
    assert found.proved
    assert check(odd, outcome.schedule) == []
    assert outcome.utility <= found.value + 1e-9
    if name in ("a machine without capacity", "a job that cannot finish", "no jobs", "a machine without one resource"):
        assert found.value == 0
    else:
        assert found.value == 10


def test_a_utility_of_0_at_the_horizon_prices_nothing_at_0() -> None:
    """As printed L = 0 and (12) divides by it; repaired, the last positive utility counts."""
    odd = Instance.parse(ALLOWED["a utility that is 0 at the horizon"])
    assert constants(odd, "printed").low == 0
    assert constants(odd).low > 0
    with pytest.raises(InputError, match="divides by L = 0"):
        run(odd, variant="printed")


@pytest.mark.parametrize("make", [lambda: instance(job()), lambda: instance(async_job())])
def test_an_instance_survives_its_file(make: Callable[[], dict[str, Any]], tmp_path: Path) -> None:
    first = Instance.parse(make())
    first.save(tmp_path / "i.json")
    second = Instance.load(tmp_path / "i.json")
    assert second == first
    assert second.digest == first.digest


def test_times_of_both_kinds_of_jobs() -> None:
    one = Instance.parse(instance(job(gradient_size="1/2", workers_per_server="1/2", external_rate=1))).jobs[0]
    assert isinstance(one, Job)
    assert (one.work, one.most_workers, one.servers_for(1), one.servers_for(2)) == (2, 2, 2, 4)
    assert (one.internal_time, one.external_time) == (Fraction(9, 8), Fraction(5, 4))
    other = Instance.parse(instance(async_job(gradient_size="1/2"))).jobs[0]
    assert isinstance(other, AsyncJob)
    assert (other.work, other.most_workers) == (2, 2)
    assert (other.internal_time, other.external_time) == (Fraction(3, 2), Fraction(2))


@pytest.mark.parametrize("name", PRESETS)
def test_presets_depend_on_the_seed_alone(name: str) -> None:
    assert preset(name, 3).digest == preset(name, 3).digest != preset(name, 4).digest
    assert Instance.parse(preset(name, 3).dump()).digest == preset(name, 3).digest


@pytest.mark.slow
def test_the_papers_ranges() -> None:
    drawn = preset("paper", 1)
    jobs = [one for one in drawn.jobs if isinstance(one, Job)]
    assert (len(jobs), len(drawn.machines), drawn.slots) == (50, 100, 20)
    assert all(50 <= one.epochs <= 200 and 20_000 <= one.samples <= 500_000 and 1 <= one.batch <= 200 for one in jobs)
    assert all(Fraction(1, 10**5) <= one.slots_per_sample <= Fraction(1, 10**4) for one in jobs)
    assert drawn.machines[0].capacity == {"gpu": 36, "cpu": 99, "memory": 306, "storage": 135}
    with pytest.raises(InputError, match="mix: 'x' must be one of default, google"):
        preset("paper", 1, mix="x")
    odd = sum(one.arrival % 2 for seed in range(20) for one in preset("paper", seed, machines=1).jobs)
    assert odd / 1000 == pytest.approx(1 / 3, abs=0.05)


def test_the_thesis_draws_its_rates_and_its_slots_have_a_length() -> None:
    """100 Mbps to 4 Gbps, drawn for each job; what is left of a slot for computing falls with the length of a slot."""
    drawn = preset("thesis", 1, ratio=8)
    rates = [one.internal_rate / 3600 / 125 for one in drawn.jobs]
    assert len(set(rates)) == 15
    assert all(Fraction(1, 10) <= rate <= 4 for rate in rates)
    assert min(rates) < 1 < 3 < max(rates)
    assert all(one.internal_rate == 8 * one.external_rate for one in drawn.jobs)
    shares = []
    for seconds in (3600, 600, 60):
        jobs = [one for seed in range(4) for one in preset("thesis", seed, seconds=seconds).jobs]
        computing = [one.slots_per_minibatch / one.external_time for one in jobs if isinstance(one, AsyncJob)]
        shares.append(1 - float(sum(computing)) / len(computing))
    assert shares == pytest.approx([0.255, 0.603, 0.93], abs=0.005)
    with pytest.raises(InputError, match="seconds: 0 "):
        preset("thesis", 1, seconds=0)


@pytest.mark.parametrize("name", ["paper", "thesis"])
def test_the_origin_says_what_is_assumed_of_machines_and_arrivals(name: str) -> None:
    origin = preset(name, 0, jobs=1, machines=1).origin or {}
    assert "assumed: 18 times" in origin["machine"]
    assert "assumed" in origin["arrivals"]
    assert ("assumed for g_i and tau_i" in origin["unit"]) == (name == "thesis")


def test_the_benchmark_keeps_its_load() -> None:
    drawn = preset("benchmark", 0, jobs=20, machines=4, slots=10, multiple=3, load=0.8)
    needed = sum(
        float(one.work) / 4 * (1 + 1 / float(one.workers_per_server)) for one in drawn.jobs if isinstance(one, Job)
    )
    assert needed == pytest.approx(0.8 * 4 * 10 * 3, rel=0.02)
    for one in drawn.jobs:
        assert one.external_time == Fraction(1, 4)
        assert one.internal_time in (Fraction(1, 5), Fraction(1, 6), Fraction(1, 8))


@pytest.mark.slow
def test_random_instances_are_worth_something() -> None:
    for asynchronous in (False, True):
        drawn = [random(np.random.default_rng(s), asynchronous=asynchronous) for s in range(12)]
        assert sum(run(one).utility > 0 for one in drawn) >= 6


def test_a_schedule_survives_its_file_and_is_checked_by_name(tmp_path: Path) -> None:
    one = Instance.parse(instance(job()))
    plan = Schedule.of({"job1": {1: {"m1": (1, 1)}, 2: {"m1": (1, 1)}}})
    plan.save(tmp_path / "s.json")
    assert Schedule.load(tmp_path / "s.json") == plan
    assert check(one, plan) == []
    assert utility(one, plan) == 4
    assert [v.rule for v in check(one, Schedule.of({"job2": {1: {"m1": (1, 1)}}}))] == ["names"]
    assert [v.rule for v in check(one, Schedule.of({"job1": {1: {"m2": (1, 1)}}}))] == ["names"]


@pytest.mark.parametrize(("workers", "servers"), [(0, 0), (3, 0), (0, 2), (3, 2)])
def test_what_workers_and_servers_use(workers: int, servers: int) -> None:
    one = (
        random(0)
        .jobs[0]
        .model_copy(
            update={
                "worker": {"gpu": Fraction(1, 2), "net": Fraction(0)},
                "server": {"cpu": Fraction(3), "gpu": Fraction(1)},
            }
        )
    )
    used = {"gpu": Fraction(workers, 2) + servers, "cpu": Fraction(3 * servers)}
    assert one.uses(workers, servers) == {r: amount for r, amount in used.items() if amount}
    assert one.worker_needs("cpu") == one.server_needs("net") == 0
