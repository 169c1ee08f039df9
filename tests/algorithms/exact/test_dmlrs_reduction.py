"""What an optimal DMLRS schedule never needs is left out, without loss, and what is left is solved at any size."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlsched.algorithms import optimum
from dlsched.algorithms.exact.dmlrs import reduction
from dlsched.algorithms.exact.dmlrs.reduction import reduced
from dlsched.algorithms.exact.dmlrs.single_machines import single_machines
from dlsched.models import build, read, solve
from dlsched.models.dmlrs import Instance, Schedule, check, completions, exact_utility, random
from dlsched.models.numbers import agree
from tests.longer import longer

JOB: dict[str, Any] = {
    "name": "job",
    "arrival": 1,
    "epochs": 1,
    "samples": 4,
    "batch": 2,
    "slots_per_sample": "1/4",
    "gradient_size": 1,
    "workers_per_server": 2,
    "internal_rate": 4,
    "external_rate": 1,
    "worker": {"gpu": 1},
    "server": {"gpu": 1},
    "utility": {"kind": "linear", "intercept": 10, "slope": 0.0001},
}
"""Two workers and a server do 8/3 samples a slot: two slots, alone."""


def cluster(*jobs: dict[str, Any], slots: int = 10, gpus: int = 4, machines: int = 1) -> Instance:
    return Instance.parse(
        {
            "slots": slots,
            "resources": ["gpu"],
            "machines": [{"name": f"machine{h}", "capacity": {"gpu": gpus}} for h in range(machines)],
            "jobs": [JOB | {"name": f"job{i}"} | job for i, job in enumerate(jobs)],
        }
    )


def stretched(instance: Instance, factor: int, beyond: int) -> Instance:
    """The instance with its arrivals wide apart, its horizon further off and utilities that last longer."""
    document = instance.dump()
    document["slots"] = 1 + (instance.slots - 1) * factor + beyond
    for job in document["jobs"]:
        job["arrival"] = 1 + (job["arrival"] - 1) * factor
        job["utility"]["values"] += job["utility"]["values"][-1:] * (document["slots"] - instance.slots)
    return Instance.parse(document)


def small(seed: int) -> Instance:
    rng = np.random.default_rng(seed)
    instance = random(
        rng,
        jobs=3,
        machines=2,
        slots=3,
        capacity=4,
        asynchronous=seed % 3 == 0,
        identical=seed % 2 == 0,
        faster_external=seed % 4 == 1,
    )
    return stretched(instance, 1 + seed % 4, seed % 5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(40), 2, 4, *range(9, 40)))
def test_the_optimum_is_the_same(seed: int) -> None:
    """The plain program over single machines has it, of the instance and of the reduced one."""
    instance = small(seed)
    plain = solve(single_machines(instance)).objective
    reduction = reduced(instance)
    assert reduction.instance.slots <= instance.slots
    if reduction.instance.dump() != instance.dump():
        least = solve(single_machines(reduction.instance)).objective if reduction.instance.jobs else 0.0
        assert agree(plain, least)
    found = optimum(instance)
    assert found.proved
    assert agree(plain, found.value)
    assert check(instance, found.schedule) == []


@pytest.mark.slow
def test_most_of_the_stretched_instances_are_reduced() -> None:
    assert sum(reduced(small(seed)).instance.slots < small(seed).slots for seed in range(60)) > 30


def late(instance: Instance) -> Schedule:
    """A schedule of the reduced instance whose jobs complete as late as the program lets them, whatever that costs."""
    model = build("dmlrs/compact-milp", instance)
    model.total_utility.deactivate()
    model.late = type(model.total_utility)(
        expr=sum((1 + t / 100) * model.completion[i, t] for i, t in model.IT), sense=model.total_utility.sense
    )
    solve(model)
    return read(model, instance)


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer([seed for seed in range(60) if seed % 4 != 1], 4, *range(16, 60)))
def test_lifted_schedules_lose_nothing(seed: int) -> None:
    """Also those in which jobs dawdle beyond their period, as programs may where utilities are constant."""
    instance = small(seed)
    reduction = reduced(instance)
    if not reduction.instance.jobs:
        return
    schedule = late(reduction.instance)
    lifted = reduction.lift(schedule)
    assert check(instance, lifted) == []
    assert set(completions(instance, lifted)) == set(completions(reduction.instance, schedule))
    assert exact_utility(instance, lifted) >= exact_utility(reduction.instance, schedule)


def test_jobs_that_dawdle_are_set_right() -> None:
    """The first two of three may complete beyond their period in the reduced instance; by its end they can alone."""
    constant = {"utility": {"kind": "step", "value": 5, "deadline": 99}}
    instance = cluster(constant, constant, {"arrival": 50} | constant, slots=99)
    reduction = reduced(instance)
    assert reduction.instance.slots == 6
    pair = {"machine0": (2, 1)}
    schedule = Schedule.of({"job0": {1: pair, 6: pair}, "job1": {2: pair, 5: pair}})
    assert check(reduction.instance, schedule) == []
    lifted = reduction.lift(schedule)
    assert check(instance, lifted) == []
    assert completions(instance, lifted) == {"job0": 4, "job1": 2}


def test_what_comes_of_an_instance() -> None:
    wide = cluster({}, {"arrival": 5000}, {"arrival": 5001}, slots=10**6, gpus=10**18, machines=1000)
    left = reduced(wide).instance
    assert left.slots == 2 + 5
    assert [job.arrival for job in left.jobs] == [1, 3, 4]
    assert left.capacity["gpu"] == len(left.machines) * 9
    assert len(left.machines) == 9
    assert reduced(cluster({"batch": 10**5, "gradient_size": 50000}, gpus=10**6)).instance.jobs[0].batch == 9
    assert reduced(cluster({"batch": 10**5, "samples": 1000}, gpus=7, slots=100)).instance.jobs[0].batch == 4
    assert reduced(cluster({}, gpus=1)).instance.jobs == ()


@pytest.mark.slow
@given(
    st.lists(st.fractions(0, 6, max_denominator=4), max_size=4),
    st.fractions(0, 20, max_denominator=5),
    st.sampled_from([0, 100_000]),
)
def test_a_capacity_counts_as_the_largest_sum_of_needs_in_it(needs: list[Fraction], most: Fraction, units: int) -> None:
    """One after the other added, by hand; or, of too many units, the largest multiple of what they have in common."""
    sums = {Fraction(0)}
    for need in filter(None, needs):
        sums |= {base + k * need for base in sums for k in range(1, int((most - base) // need) + 1)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reduction, "_MOST_UNITS", units)
        found = reduction._Sums(needs, most).largest(most)
        assert reduction._Sums(needs, most + 3).largest(most) == found
    if units:
        assert found == max(sums)
    else:
        scale = math.lcm(*(need.denominator for need in needs)) if needs else 1
        unit = Fraction(math.gcd(*(int(need * scale) for need in needs)), scale)
        assert found == (most // unit * unit if unit else 0)
    assert max(sums) <= found <= most


@pytest.mark.slow
def test_machines_that_differ_by_less_than_any_need_are_alike() -> None:
    """Amounts in bytes, of machines that keep some thousand for themselves: in units of 8 GiB, they have five."""
    gib, rng = 2**30, np.random.default_rng(0)
    instance = cluster({}, {"worker": {"gpu": 24 * gib}, "server": {"gpu": 16 * gib}}, gpus=47 * gib, machines=8)
    own = [int(kept) for kept in rng.integers(1000, gib, 8)]
    jobs = [job.model_copy(update={"worker": {"gpu": Fraction(16 * gib)}, "server": {}}) for job in instance.jobs[:1]]
    machines = [
        machine.model_copy(update={"capacity": {"gpu": machine.capacity_of("gpu") - kept}})
        for machine, kept in zip(instance.machines, own, strict=True)
    ]
    instance = instance.model_copy(update={"jobs": (*jobs, instance.jobs[1]), "machines": tuple(machines)})
    left = reduced(instance).instance
    assert {machine.capacity_of("gpu") for machine in left.machines} == {Fraction(40 * gib)}
    found = optimum(instance)
    assert found.proved
    assert found.schedule is not None
    assert check(instance, found.schedule) == []


SIZES = {
    "a million slots": cluster({}, slots=10**6),
    "jobs far apart": cluster(*({"arrival": 1 + 30_000 * i, "samples": 400 + i} for i in range(12)), slots=10**6),
    "a batch of 100 000": cluster({"batch": 10**5, "samples": 10**6}, gpus=10**6),
    "capacities of 10^18": cluster({}, gpus=10**18),
    "ten thousand machines": cluster(*[{}] * 20, machines=10_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_what_decides_nothing_costs_nothing(name: str) -> None:
    instance = SIZES[name]
    found = optimum(instance)
    assert found.proved
    assert check(instance, found.schedule) == []


@pytest.mark.slow
@pytest.mark.process
def test_a_limit_holds_where_schedules_are_long(tmp_path: Path) -> None:
    """A minute is for a limit that nothing hears: without one, a proof takes longer."""
    instance = cluster(*({"arrival": 1 + 300 * i, "samples": 40_000 * (i + 1)} for i in range(5)), slots=10**6)
    path = tmp_path / "long.json"
    instance.save(path)
    command = [sys.executable, "-m", "dlsched", "optimum", "dmlrs", str(path), "--time-limit", "1", "--json"]
    told = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=60).stdout)
    assert 0 < told["value"] <= told["bound"]
