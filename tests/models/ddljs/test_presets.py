"""The named families of DDLJS instances have the shapes and ranges that they state."""

from __future__ import annotations

import math
from fractions import Fraction

import networkx as nx
import pytest

from dlsched.models import InputError
from dlsched.models.ddljs import PRESETS, Instance, preset, slot_problem
from dlsched.models.utility import Sigmoid, Sqrt


def links_between(instance: Instance, one: str, other: str) -> list[Fraction]:
    pairs = [(link.source, link.target, link.bandwidth) for link in instance.links]
    return [b for u, v, b in pairs if u.startswith(one) and v.startswith(other)]


def gpus(instance: Instance) -> list[int]:
    return [int(server.capacity_of("gpu")) for server in instance.servers]


@pytest.mark.parametrize("name", PRESETS)
def test_presets_depend_on_the_seed_alone(name: str) -> None:
    assert preset(name, 3).digest == preset(name, 3).digest != preset(name, 4).digest
    assert Instance.parse(preset(name, 3).dump()).digest == preset(name, 3).digest


@pytest.mark.parametrize(("servers", "jobs", "racks"), [(5, 5, 2), (20, 10, 2), (25, 4, 3), (50, 20, 5)])
def test_benchmark_is_a_two_level_tree(servers: int, jobs: int, racks: int) -> None:
    instance = preset("benchmark", 1, servers=servers, jobs=jobs)
    assert (instance.slots, len(instance.jobs), len(instance.servers)) == (1, jobs, servers)
    assert len(instance.nodes) == servers + racks + 2
    assert len(links_between(instance, "server", "rack")) == servers
    assert len(links_between(instance, "rack", "core")) == 2 * racks
    graph = instance.graph()
    assert nx.is_strongly_connected(graph)
    assert all(graph.degree(server.name) == 2 for server in instance.servers)
    assert all(10 <= b <= 100 for b in links_between(instance, "server", "rack"))
    assert all(200 <= b <= 3200 for b in links_between(instance, "rack", "core"))
    assert len(slot_problem(instance, 1).requests) == jobs


def test_benchmark_jobs() -> None:
    jobs = [job for seed in range(20) for job in preset("benchmark", seed, servers=5, jobs=20, workers=4).jobs]
    assert {job.max_workers for job in jobs} == {2, 3, 4}
    assert all(job.arrival == 1 and job.budget is None and job.worker == {"gpu": 1} for job in jobs)
    assert all(Fraction(1, 10) <= job.bandwidth <= 5 for job in jobs)
    for job in jobs:
        assert isinstance(job.utility, Sqrt)
        assert 1 <= job.utility.scale <= 100
        assert float(job.gain(0, 3)) == pytest.approx(float(job.utility.scale) * math.sqrt(3))


def test_benchmark_gpus_and_tight_links() -> None:
    usual = [preset("benchmark", seed, servers=30, jobs=1) for seed in range(3)]
    tight = [preset("benchmark", seed, servers=30, jobs=1, tight=True) for seed in range(3)]
    assert {g for instance in usual for g in gpus(instance)} == {1, 2, 4, 8}
    drawn = [g for instance in tight for g in gpus(instance)]
    assert set(drawn) == {1, 2}
    assert drawn.count(1) > drawn.count(2)
    for instance in tight:
        assert all(Fraction(5, 4) <= b <= Fraction(25, 2) for b in links_between(instance, "server", "rack"))
        assert all(5 <= b <= 80 for b in links_between(instance, "rack", "core"))


def test_benchmark_over_several_slots() -> None:
    instance = preset("benchmark", 2, jobs=40, slots=6)
    assert instance.slots == 6
    arrivals = [job.arrival for job in instance.jobs]
    assert arrivals == sorted(arrivals)
    assert set(arrivals) == {1, 2, 3}
    with pytest.raises(InputError, match="workers: 1 must be at least 2"):
        preset("benchmark", workers=1)


def test_paper_as_printed() -> None:
    instance = preset("paper", 1)
    assert (instance.slots, len(instance.servers)) == (200, 50)
    assert set(gpus(instance)) == {1, 2, 4, 8}
    assert 2 <= len({link.source for link in instance.links if link.target == "core1"}) <= 5
    for job in instance.jobs:
        assert 1 <= job.max_workers <= 5
        assert 50 <= job.progress <= 500
        assert Fraction(1, 10) <= job.bandwidth <= 5
        assert isinstance(job.utility, Sigmoid)
        assert 1 <= job.utility.height <= 100
        assert 0 < -job.utility.steepness < 1
        assert 300 <= job.utility.midpoint <= 3000
        assert job.value(200) >= job.value(1)
    assert len({job.arrival for job in instance.jobs}) > 30
    assert "Google" in (instance.origin or {})["arrivals"]


def test_racks_are_two_to_five() -> None:
    racks = set()
    for seed in range(25):
        instance = preset("paper", seed, jobs=1, slots=1)
        racks.add(sum(node.name.startswith("rack") for node in instance.nodes))
    assert racks == {2, 3, 4, 5}


def test_the_two_readings_of_the_budget() -> None:
    """As worker-slots F >= 1000 >= N_i T never binds; as iterations the same draws give floor(F / zeta)."""
    printed, iterations = preset("paper", 5), preset("paper", 5, budget="iterations")
    bound = []
    for one, other in zip(printed.jobs, iterations.jobs, strict=True):
        assert one.budget is not None
        assert 1000 <= one.budget["gpu"] <= 6000
        assert other.budget_slots == one.budget["gpu"] // one.progress
        assert printed.most(one) == min(one.max_workers, sum(gpus(printed))) * (201 - one.arrival)
        bound.append(iterations.most(other) < printed.most(one))
        assert one.model_copy(update={"budget": None}) == other.model_copy(update={"budget": None})
    assert any(bound)
    with pytest.raises(InputError, match="budget: 'money' must be one of worker-slots, iterations"):
        preset("paper", budget="money")
