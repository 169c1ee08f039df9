"""Whether items fit the machines in a slot: rooms as integers, best fit and exact search."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dlsched.algorithms.exact.dmlrs.configurations import enumerate_configurations
from dlsched.algorithms.exact.dmlrs.packing import Coding, Items, Packer
from dlsched.algorithms.exact.dmlrs.slots import Slots
from dlsched.models.dmlrs import Instance, Schedule, check, preset


@pytest.mark.parametrize("seed", range(20))
def test_an_item_is_placed_where_every_resource_suffices_and_nowhere_else(seed: int) -> None:
    rng = np.random.default_rng(seed)
    machines, resources = rng.integers(1, [6, 5])
    capacity = rng.integers(0, rng.choice([2, 9, 70_000]), (machines, resources))
    # Among them some of exactly what a machine has, of one more, and of far more than all have.
    needs = np.concatenate([capacity, capacity + rng.integers(0, 2, capacity.shape), 1_000 * capacity])
    for first in range(resources):
        coding = Coding(capacity, first)
        homes, rooms = coding.place_all(np.repeat(coding.rooms[None], len(needs), axis=0), coding.code(needs)[:, None])
        for need, home, room in zip(needs, homes[:, 0], coding.read(rooms), strict=True):
            hosts = np.flatnonzero((need <= capacity).all(axis=1))
            assert home in hosts if len(hosts) else home == -1
            if home >= 0:
                assert (room[home] == capacity[home] - need).all()


def test_more_machines_need_no_longer_integers() -> None:
    assert Coding(np.full((10_000, 4), 12_000)).dtype == Coding(np.full((1, 4), 12_000)).dtype == np.int64


def test_a_packing_of_more_items_than_calls_may_be_nested() -> None:
    """600 workers and as many servers on a machine of their own, three halves and more on others: all fit."""

    def job(name: str, workers: int, cpu: str) -> dict:
        one, free = {"cpu": cpu}, {"cpu": 0}
        sizes = {"epochs": 1, "samples": workers, "batch": workers, "slots_per_sample": "1", "gradient_size": 0}
        rates = {"workers_per_server": 1, "internal_rate": 1000, "external_rate": 1000}
        table = {"kind": "table", "values": [4, 3]}
        return {"name": name, "arrival": 1, "worker": one, "server": free, "utility": table} | sizes | rates

    slots = Slots.of(
        Instance.parse(
            {
                "slots": 2,
                "resources": ["cpu"],
                "machines": [{"name": f"m{i}", "capacity": {"cpu": 1}} for i in range(3)],
                "jobs": [job("many", 600, "1/100000000"), *(job(f"s{i}", 1, "3/5") for i in range(3))],
            }
        )
    )
    placed = Packer(Items(slots)).place([job.levels for job in slots.jobs])
    assert placed is not None
    assert sum(workers for workers, _ in placed["many"].values()) == 600


@pytest.mark.parametrize("seed", range(12))
def test_a_packing_is_feasible_and_reaches_its_levels(seed: int) -> None:
    instance = preset("random", seed, jobs=4, machines=2, slots=4, capacity=4, identical=bool(seed % 2))
    slots = Slots.of(instance)
    packer = Packer(Items(slots))
    for levels in enumerate_configurations(slots).levels.tolist():
        placed = packer.place(levels)
        assert placed is not None
        shares = Schedule.of({name: {instance.job(name).arrival: where} for name, where in placed.items()})
        together = Schedule.of({name: {instance.slots: where} for name, where in placed.items()})
        assert not [v for v in check(instance, together) if "capacity" in v.rule or "servers" in v.rule]
        for job, level in zip(slots.jobs, levels, strict=True):
            if level:
                (where,) = shares.placements(job.name).values()
                done = instance.job(job.name).progress(where)
                assert done >= Fraction(job.work[level - 1], job.total) * instance.job(job.name).work
