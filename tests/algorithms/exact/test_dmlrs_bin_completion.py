"""Exact packing of a slot: bin completion, against a search that places one item after the other."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms.exact.dmlrs import bin_completion
from dlsched.algorithms.exact.dmlrs.bin_completion import Packer, Undecided
from dlsched.algorithms.exact.dmlrs.configurations import enumerate_configurations
from dlsched.algorithms.exact.dmlrs.packing import Items
from dlsched.algorithms.exact.dmlrs.slots import SlotJob, Slots
from dlsched.models.dmlrs import Instance, Schedule, check, preset
from tests.longer import longer


def jittered(seed: int, machines: int = 3) -> Slots:
    """A fragmented cluster with four jobs, whose first machines are another one each."""
    data = preset("benchmark", seed, jobs=4, machines=machines, slots=4, multiple=3, load=0.95).dump()
    rng = np.random.default_rng(seed)
    for machine in data["machines"][: seed % (machines + 1)]:
        machine["capacity"] = {r: int(amount * rng.uniform(0.8, 1.2)) for r, amount in machine["capacity"].items()}
    return Slots.of(Instance.parse(data))


def ways(job: SlotJob, level: int) -> list[list[tuple[int, ...]]]:
    """The needs of each thing to place, for each alternative of a level."""
    if level == 0:
        return [[]]
    one_by_one = [
        [job.worker] * choice.workers + [job.server] * choice.servers
        for choice in job.alternatives[level - 1]
        if not choice.internal
    ]
    return one_by_one + [[job.needs(choice)] for choice in job.alternatives[level - 1] if choice.internal]


def fits(rooms: list[list[int]], things: list[tuple[int, ...]]) -> bool:
    if not things:
        return True
    first, *others = things
    return any(
        all(need <= left for need, left in zip(first, room, strict=True))
        and fits([*rooms[:h], [a - b for a, b in zip(room, first, strict=True)], *rooms[h + 1 :]], others)
        for h, room in enumerate(rooms)
        if room not in rooms[:h]
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(20), *range(6, 20)))
@pytest.mark.parametrize("remembered", [1, 100_000])
def test_what_fits_is_what_one_item_after_the_other_does(
    seed: int, remembered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bin_completion, "_REMEMBERED", remembered)
    slots = jittered(seed)
    packer, empty = Packer(Items(slots)), slots.capacity.tolist()
    guard, both = packer.items.coding.guard, set[bool]()
    vectors = list(itertools.product(*(range(job.levels + 1) for job in slots.jobs)))
    for vector in vectors[:: 1 + len(vectors) // 100]:
        choices = itertools.product(*(ways(job, level) for job, level in zip(slots.jobs, vector, strict=True)))
        expected = any(fits(empty, list(itertools.chain(*choice))) for choice in choices)
        found = packer.fit(vector)
        assert (found is not None) == expected
        assert found is None or all(room & guard == guard for room in found)
        both.add(expected)
    assert both == {False, True}


def test_a_search_that_may_place_no_more_items_says_so() -> None:
    slots = jittered(0)
    levels = [0, 0, slots.jobs[2].levels, 0]
    placed = Packer(Items(slots)).place(levels)
    assert placed is not None
    (where,) = placed.values()
    with pytest.raises(Undecided):
        Packer(Items(slots), nodes=1).place(levels)
    assert len(where) > 1


@pytest.mark.parametrize("machines", [0, 1, 2])
def test_nothing_fits_on_any_number_of_machines(machines: int) -> None:
    capacity = np.full((machines, 1), 5)
    slots = Slots(tuple(f"m{h}" for h in range(machines)), capacity, jittered(0).jobs[:0], 1)
    assert Packer(Items(slots)).fit([]) == tuple(Items(slots).coding.rooms.tolist())


@pytest.mark.slow
def test_a_packing_of_more_items_than_calls_may_be_nested() -> None:
    """600 workers and as many servers on a machine of their own, three halves and more on others: all fit."""

    def job(name: str, workers: int, cpu: str) -> dict[str, Any]:
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
