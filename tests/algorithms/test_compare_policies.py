"""Policies over time: every row against the simulation that it tells of, the checker, pictures, and what is refused."""

from __future__ import annotations

import importlib
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlsched.algorithms import compare, compare_policies
from dlsched.algorithms.algorithm import algorithms
from dlsched.algorithms.baselines.hadar.fifo import Fifo
from dlsched.algorithms.baselines.hadar.las import Las
from dlsched.algorithms.simulator import Allocations, Policy, State, gantt, in_use, metrics, simulate
from dlsched.models import InputError, hadar
from dlsched.models.hadar import Instance
from dlsched.models.hadar.plot import Bar, bars
from dlsched.solvers import SolverError
from tests.algorithms.simulator.gpus import instance_of
from tests.longer import examples
from tests.strategies.hadar import hadar_data

THREE = [("A", 0, 2, 10), ("B", 1, 4, 5), ("C", 2, 2, 8)]
EVERYBODY = [entry.name for entry in algorithms() if entry.policy is not None]


class Greedy(Policy):
    """Gives the first job all devices of the first machine, whatever its gang."""

    name = "greedy"

    def decide(self, state: State, rng: np.random.Generator) -> Allocations:
        """Give everything."""
        machine = state.instance.machines[0]
        return {state.jobs[0].name: {machine.name: dict(machine.devices)}}


def test_a_small_trace_by_hand() -> None:
    """FIFO: A 0-10, B 10-15, C 15-23, in slots 10, 15 and 23; backfill: C 2-10, B 10-15."""
    found = compare_policies(instance_of(THREE, 4), ["yarn-cs", "fifo:backfill=easy"])
    assert found.job_table().columns == ["job", "yarn-cs", "fifo:backfill=easy"]
    assert found.job_table().rows == [["A", 10, 10], ["B", 14, 14], ["C", 21, 8]]
    first, second = found.table().records()
    told = {"utility": 3000 - 9 - 13 - 20, "admitted": 3, "done": 3, "mean JCT": 15, "median JCT": 14, "TTD": 23}
    assert {name: first[name] for name in told} == told
    assert (first["GRU"], second["GRU"]) == ((20 + 20 + 16) / (4 * 23), (20 + 20 + 16) / (4 * 15))
    # 5 decisions at the three arrivals and the two ends after which somebody is there, at three of which one starts.
    assert first["changed"] == 3 / 5
    # FIFO's utility is the checker's, and so no column tells it.
    assert "checked" not in first
    assert found.rows[0].checked == told["utility"]


@pytest.mark.parametrize("seed", range(3))
def test_every_policy_has_the_row_of_its_simulation(seed: int) -> None:
    instance = hadar.random(seed)
    found = compare_policies(instance, round_seconds=instance.slot_seconds, restart_seconds=Fraction(1, 10), seed=seed)
    assert [row.name for row in found.rows] == EVERYBODY
    for row in found.rows:
        assert row.simulation is not None
        assert row.metrics == metrics(row.simulation)
        # Copies are no schedule of the problem.
        assert row.checked == (None if row.simulation.copies else row.metrics.utility)
    records = found.table().records()
    assert all(record["checked"] in (None, record["utility"]) for record in records)


def test_at_events_those_that_need_rounds_are_left_out() -> None:
    found = compare_policies(instance_of(THREE, 4))
    assert [row.name for row in found.rows] == ["drf", "fifo", "srtf", "tiresias"]
    assert found.left_out == dict.fromkeys(
        ("gavel", "hadar", "hadar_e", "las"), "decides in rounds; say how long they are (round_seconds)"
    )
    assert not compare_policies(instance_of(THREE, 4), round_seconds=5).left_out


@pytest.mark.slow
@examples(20, 60)
@given(data=hadar_data(slots=5, jobs=4), slots=st.integers(1, 2))
def test_with_whole_slots_the_utility_is_the_checkers_and_within_the_bound(data: dict[str, Any], slots: int) -> None:
    instance = Instance.parse(data)
    length = slots * instance.slot_seconds
    found = compare_policies(instance, ["fifo", "srtf"], round_seconds=length, bound_seconds=20)
    assert found.bound is not None
    for row, record in zip(found.rows, found.table().records(), strict=True):
        assert row.metrics is not None
        assert row.checked == row.metrics.utility
        share = record.get("of the bound")
        assert share is None or isinstance(share, float)
        assert float(row.metrics.utility) <= found.bound * (1 + 1e-6)
        assert share == (float(row.metrics.utility) / found.bound if found.bound else None)


def test_rounds_of_a_slot_are_what_the_algorithms_do() -> None:
    instance = hadar.random(5)
    names = ["drf", "fifo", "las", "srtf", "tiresias", "gavel"]
    over_time = compare_policies(instance, names, round_seconds=instance.slot_seconds)
    planned = compare(instance, names, time_limit=20)
    for row, plan in zip(over_time.rows, planned.rows[1:], strict=True):
        assert row.metrics is not None
        assert float(row.metrics.utility) == plan.utility


def test_inside_slots_there_is_no_schedule_to_check() -> None:
    instance = instance_of([("A", 0, 1, 5), ("B", 0, 1, 2)], 1, slot=4)
    (row,) = compare_policies(instance, ["fifo"]).rows
    assert row.checked is None
    assert row.metrics is not None
    assert row.metrics.done == 2


def test_an_impossible_allocation_costs_the_others_nothing() -> None:
    found = compare_policies(instance_of(THREE, 4), ["fifo", Greedy(), "srtf"])
    message = "policy greedy at 0 s: job A: 4 devices given, which are not its gang 2"
    assert [(row.name, row.metrics is None, row.note) for row in found.rows] == [
        ("fifo", False, ""),
        ("greedy", True, message),
        ("srtf", False, ""),
    ]
    assert found.refused == (message,)
    assert found.job_table().columns == ["job", "fifo", "srtf"]


class Stuck(Greedy):
    """Asks a solver that has no answer."""

    name = "stuck"

    def decide(self, state: State, rng: np.random.Generator) -> Allocations:
        """Raise."""
        raise SolverError("no solver decided the program")


def test_a_solver_without_an_answer_costs_the_others_nothing() -> None:
    found = compare_policies(instance_of(THREE, 4), ["fifo", Stuck()])
    assert [(row.name, row.metrics is None, row.note, row.refused) for row in found.rows] == [
        ("fifo", False, "", False),
        ("stuck", True, "no solver decided the program", False),
    ]


@pytest.mark.parametrize("work", ["compare_policies.metrics", "compare_policies._checked", "simulator.simulate.check"])
def test_what_follows_a_simulation_is_stopped_too(work: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where jobs are many it takes as long as the simulation."""
    begun: list[int] = []

    def endless(*arguments: object) -> None:
        begun.append(1)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            pass

    module, _, name = f"dlsched.algorithms.{work}".rpartition(".")
    monkeypatch.setattr(importlib.import_module(module), name, endless)
    start = time.monotonic()
    found = compare_policies(instance_of(THREE, 4), ["fifo"], stop=lambda: bool(begun))
    assert [(row.name, row.metrics, row.note) for row in found.rows] == [("fifo", None, "interrupted")]
    assert time.monotonic() - start < 30


def test_what_is_stopped_keeps_what_is_done() -> None:
    told: list[tuple[int, int]] = []
    found = compare_policies(
        instance_of(THREE, 4),
        ["fifo", "drf", "srtf"],
        progress=lambda done, total: told.append((done, total)),
        stop=lambda: bool(told) and told[-1][0] >= 4,
    )
    assert [(row.name, row.metrics is None, row.note) for row in found.rows] == [
        ("fifo", False, ""),
        ("drf", True, "interrupted"),
        ("srtf", True, "interrupted"),
    ]
    assert {total for _, total in told} == {9}
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_time_that_is_up_is_told() -> None:
    (row,) = compare_policies(instance_of(THREE, 4), ["fifo"], time_limit=1e-9).rows
    assert (row.metrics, row.note, row.refused) == (None, "time is up", False)


@pytest.mark.parametrize(
    ("policies", "options", "message"),
    [
        (["warp"], {}, "unknown policy 'warp'; there are "),
        (["optimum"], {}, "unknown policy 'optimum'; there are "),
        (["fifo:backfill=all"], {}, "fifo: backfill: 'all' is not one of none, easy, any"),
        (["fifo:placement=any:placement=any"], {}, "fifo: 'placement' is named twice"),
        (["fifo", "fifo"], {}, "policies: 'fifo' is named twice"),
        ([Fifo(), "fifo"], {}, "policies: 'fifo' is named twice"),
        (["hadar:incremental=maybe"], {"round_seconds": 1}, "hadar: incremental: 'maybe' is not one of yes, no"),
        (["tiresias:thresholds=-1"], {}, "thresholds: [-1.0] must be positive and rise"),
        (["fifo", "las"], {}, "round_seconds: policy las decides in rounds; say how long they are"),
        ([Las()], {}, "round_seconds: policy las decides in rounds"),
        (["fifo"], {"round_seconds": 0}, "round_seconds: 0 must be positive"),
        (["fifo"], {"restart_seconds": -1}, "restart_seconds: -1 must not be negative"),
        (["fifo"], {"horizon": 1001}, "horizon: 1001 s is after the last slot, which ends at 1000 s"),
        (["fifo"], {"bound_seconds": 1}, "bound_seconds: the bound is on schedules of whole slots"),
        (["fifo"], {"bound_seconds": 1, "round_seconds": 0.5}, "bound_seconds: the bound is on schedules of whole"),
    ],
)
def test_what_cannot_be_compared_is_refused_at_once(policies: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        compare_policies(instance_of(THREE, 4), policies, **options)
    assert str(caught.value).startswith(message)


def bars_of(jobs: list[tuple[str, int, int, int]], devices: int, policy: Policy) -> list[Bar]:
    instance = instance_of(jobs, devices)
    segments = simulate(instance, policy, round_seconds=None).segments
    return sorted(bars(instance, ((held.job, held.start, held.end, held.allocation) for held in segments)))


def test_a_device_keeps_its_row_in_the_picture() -> None:
    """A has rows 0 and 1 from 0 to 10; C waits for two free ones beside it; B has all four."""
    found = bars_of(THREE, 4, Fifo(backfill="easy"))
    assert found == [("A", 0, 10, 0, 2), ("B", 10, 15, 0, 4), ("C", 2, 10, 2, 2)]


@pytest.mark.slow
def test_time_is_the_same_in_all_pictures_of_a_comparison() -> None:
    simulation = simulate(instance_of(THREE, 4), Fifo(), round_seconds=None)
    assert gantt(simulation).get_xlim() == (0, 23)
    ax = gantt(simulation, until=Fraction(9000))
    assert (ax.get_xlim(), ax.get_xlabel()) == ((0, 2.5), "time [hours]")


def test_what_is_no_axes_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^ax: expected axes of matplotlib, got 3$"):
        gantt(simulate(instance_of(THREE, 4), Fifo(), round_seconds=None), ax=3)


def test_a_gang_on_devices_apart_has_a_bar_for_each_run_of_rows() -> None:
    jobs = [("A", 0, 1, 4), ("B", 0, 1, 9), ("C", 0, 1, 4), ("D", 4, 2, 3)]
    found = [bar for bar in bars_of(jobs, 3, Fifo()) if bar[0] == "D"]
    assert found == [("D", 4, 7, 0, 1), ("D", 4, 7, 2, 1)]


@pytest.mark.slow
def test_the_picture_has_a_schedule_for_each_policy_or_curves_for_many_jobs(tmp_path: Path) -> None:
    compare_policies(instance_of(THREE, 4), ["fifo", "drf"]).save_plot(tmp_path / "few.svg")
    assert (tmp_path / "few.svg").read_text(encoding="utf-8").count("<!-- time [seconds] -->") == 2
    many = [(f"j{i}", i, 1, 300 + i) for i in range(30)]
    found = compare_policies(instance_of(many, 1, seconds=20_000), ["fifo", "srtf"])
    found.save_plot(tmp_path / "many.svg")
    text = (tmp_path / "many.svg").read_text(encoding="utf-8")
    assert all(
        f"<!-- {label} -->" in text for label in ("time [hours]", "devices in use", "share of the jobs done", "srtf")
    )
    (simulation, _) = (row.simulation for row in found.rows)
    assert simulation is not None
    assert in_use(simulation)[0] == (0, 1)
    with pytest.raises(InputError, match="there is no simulation to draw"):
        compare_policies(instance_of(THREE, 4), [Greedy()]).save_plot(tmp_path / "none.svg")
