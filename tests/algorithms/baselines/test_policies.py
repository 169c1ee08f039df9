"""FIFO, backfill, SRTF, DRF, LAS and Tiresias: traces by hand, second by second, and a published trace."""

from __future__ import annotations

import csv
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlsched.algorithms.algorithm import Algorithm, algorithms, algorithms_named
from dlsched.algorithms.baselines.hadar import fifo, srtf, tiresias
from dlsched.algorithms.baselines.hadar.drf import Drf
from dlsched.algorithms.baselines.hadar.fifo import Fifo
from dlsched.algorithms.baselines.hadar.las import Las
from dlsched.algorithms.baselines.hadar.srtf import Srtf
from dlsched.algorithms.baselines.hadar.tiresias import Tiresias
from dlsched.algorithms.simulator import Placement, Policy, busy, check, run_policy, simulate
from dlsched.models import InputError
from dlsched.models.hadar import Instance
from dlsched.models.options import options_of
from tests.algorithms.simulator.gpus import instance_of, spans
from tests.longer import examples
from tests.oracles import gpus
from tests.strategies.hadar import hadar_data

FOUR = [("A", 0, 2, 10), ("B", 1, 4, 5), ("C", 2, 2, 8), ("D", 3, 1, 20)]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (Fifo(), [("A", 0, 10), ("B", 10, 15), ("C", 15, 23), ("D", 15, 35)]),
        # At 2, C ends by the shadow time 10 of B; at 3 nothing is free for D, and at 10 all goes to B.
        (Fifo(backfill="easy"), [("A", 0, 10), ("C", 2, 10), ("B", 10, 15), ("D", 15, 35)]),
        # At 1, B has 5 s left and A 9; at 6, C has 8.
        (Srtf(), [("A", 0, 1), ("B", 1, 6), ("A", 6, 15), ("C", 6, 14), ("D", 14, 34)]),
        (Drf(), [("A", 0, 10), ("C", 2, 3), ("D", 3, 23), ("C", 10, 17), ("B", 23, 28)]),
        # A leaves the first queue at 4, C at 6, D at 12, B at 14.
        (
            Tiresias(thresholds=[8]),
            [
                ("A", 0, 4),
                ("C", 2, 6),
                ("D", 4, 12),
                ("A", 6, 12),
                ("B", 12, 14),
                ("C", 14, 18),
                ("D", 14, 26),
                ("B", 26, 29),
            ],
        ),
        # C, which ran for 4 s and waited as long, is back in the first queue at 10; B at 18 and 22.
        (
            Tiresias(thresholds=[8], promote_knob=1),
            [
                ("A", 0, 4),
                ("C", 2, 6),
                ("D", 4, 12),
                ("A", 6, 10),
                ("C", 10, 14),
                ("A", 12, 14),
                ("B", 14, 16),
                ("D", 16, 18),
                ("B", 18, 20),
                ("D", 20, 22),
                ("B", 22, 23),
                ("D", 23, 31),
            ],
        ),
    ],
)
def test_a_small_trace_by_hand(policy: Policy, expected: list[tuple[str, float, float]]) -> None:
    assert spans(simulate(instance_of(FOUR, 4), policy, round_seconds=None)) == expected


def test_who_is_preempted_stands_before_those_who_have_waited_all_the_while() -> None:
    # A, in the second queue since 1, gives way to C at 3; B has waited there since 2.
    jobs = instance_of([("A", 0, 1, 9), ("B", 0, 1, 9), ("C", 3, 1, 1)], 1)
    found = spans(simulate(jobs, Tiresias(thresholds=[1]), round_seconds=None))
    assert found == [("A", 0, 1), ("B", 1, 2), ("A", 2, 3), ("C", 3, 4), ("A", 4, 11), ("B", 11, 19)]


def test_a_long_job_may_start_beside_the_reservation_and_no_two() -> None:
    # B waits for A until 10 and leaves one GPU free then: for C, not for E; D ends in time.
    jobs = [("A", 0, 2, 10), ("B", 0, 4, 5), ("C", 0, 1, 20), ("E", 0, 1, 20), ("D", 0, 1, 10)]
    found = spans(simulate(instance_of(jobs, 5), Fifo(backfill="easy"), round_seconds=None))
    assert found == [("A", 0, 10), ("C", 0, 20), ("D", 0, 10), ("B", 10, 15), ("E", 15, 35)]


def test_backfill_without_a_reservation_delays_the_first_job() -> None:
    jobs = instance_of([("A", 0, 2, 10), ("B", 1, 4, 5), ("C", 2, 2, 12)], 4)
    easy, anybody = (simulate(jobs, Fifo(backfill=backfill), round_seconds=None) for backfill in ("easy", "any"))
    assert spans(easy) == [("A", 0, 10), ("B", 10, 15), ("C", 15, 27)]
    assert spans(anybody) == [("A", 0, 10), ("C", 2, 14), ("B", 14, 19)]


def test_in_rounds_a_reservation_counts_from_the_round_in_which_devices_come_free() -> None:
    # A's devices come free at 12, not at 10, so that C, which ends at 12, delays nobody.
    jobs = [("A", 0, 2, 10), ("B", 0, 4, 5), ("C", 0, 2, 12)]
    found = simulate(instance_of(jobs, 4), Fifo(backfill="easy"), round_seconds=6)
    assert spans(found) == [("A", 0, 10), ("C", 0, 12), ("B", 12, 17)]


def test_whoever_fits_no_cluster_holds_up_nobody() -> None:
    p = instance_of([("A", 0, 3, 5), ("B", 1, 1, 5)], 3)
    two = Instance.parse(
        p.dump() | {"device_types": ["gpu", "old"], "machines": [{"name": "m", "devices": {"gpu": 2, "old": 1}}]}
    )
    for policy in (Fifo(), Fifo(backfill="easy"), Srtf(), Las(), Drf(), Tiresias()):
        simulation = simulate(two, policy, round_seconds=1)
        assert simulation.completions == {"B": 6}


def test_las_takes_turns() -> None:
    jobs = [("A", 0, 1, 4), ("B", 0, 1, 4), ("C", 5, 1, 1)]
    found = simulate(instance_of(jobs, 1), Las(), round_seconds=2)
    assert spans(found) == [("A", 0, 2), ("B", 2, 4), ("A", 4, 6), ("C", 6, 7), ("B", 8, 10)]


def test_srtf_looks_at_the_fastest_gang_that_a_job_can_have() -> None:
    # Two fast devices and a slow one: L's gang of three is as fast as the slow one, 6/3 s; S takes 3/2.
    common = {"arrival": 1, "iterations": 6, "utility": {"kind": "hyperbolic", "scale": 1}}
    data = {
        "slots": 10,
        "device_types": ["fast", "slow"],
        "machines": [{"name": "m", "devices": {"fast": 2, "slow": 1}}],
        "jobs": [
            {"name": "L", "gang": 3, "rate": {"fast": 9, "slow": 1}} | common,
            {"name": "S", "gang": 2, "rate": {"fast": 2, "slow": 1}} | common,
        ],
    }
    simulation = simulate(Instance.parse(data), Srtf(), round_seconds=None)
    assert simulation.completions == {"S": Fraction(3, 2), "L": Fraction(7, 2)}


@pytest.mark.parametrize("bad", [[2, 2], [3, 2], [-1], 0])
def test_thresholds_rise(bad: list[float] | float) -> None:
    with pytest.raises(InputError, match="thresholds"):
        Tiresias(thresholds=bad)


def test_without_thresholds_there_is_one_queue_by_arrival() -> None:
    assert spans(simulate(instance_of(FOUR, 4), Tiresias(thresholds=[]), round_seconds=None))[:2] == [
        ("A", 0, 10),
        ("C", 2, 10),
    ]


OVER_TIME = [entry for entry in algorithms() if entry.policy is not None]


@pytest.mark.parametrize("entry", OVER_TIME, ids=lambda entry: entry.name)
def test_registered_policies_say_what_may_be_chosen(entry: Algorithm) -> None:
    for options in (entry.options, options_of(entry.policy or entry.run)):
        assert all(field.metadata["help"] for field in fields(options) if field.name not in NAMED_BY_RUN)
    assert entry.policy is not None
    assert isinstance(entry.policy(), Policy)
    assert entry.policy().name == entry.name


NAMED_BY_RUN = ("shares", "weights", "costs", "floors")
"""Parameters of Gavel's policy that its docstring leaves to that of its run; no command line takes them."""


@pytest.mark.slow
@given(data=hadar_data(slots=5, jobs=4), placement=st.sampled_from(Placement))
def test_an_algorithm_of_a_policy_is_the_policy_in_rounds_of_a_slot(data: dict[str, Any], placement: Placement) -> None:
    instance = Instance.parse(data)
    for entry, policy in ((fifo.ALGORITHM, Fifo), (srtf.ALGORITHM, Srtf), (tiresias.ALGORITHM, Tiresias)):
        run = entry.run(instance, seed=1, placement=placement)
        assert run == run_policy(instance, policy(placement=placement))


def test_yarn_s_capacity_scheduler_is_fifo() -> None:
    for name in ("YARN-CS", "yarn_cs", "hadar/yarn-cs", "hadar/FIFO"):
        assert algorithms_named(name) == (fifo.ALGORITHM,)


SCHEDULERS: dict[str, tuple[Any, Any]] = {
    "fifo": (Fifo(), gpus.fifo),
    "easy": (Fifo(backfill="easy"), gpus.easy),
    "srtf": (Srtf(), gpus.srtf),
    "tiresias": (Tiresias(thresholds=[24]), lambda jobs, count: gpus.tiresias(jobs, count, 24)),
}


@st.composite
def rows(draw: st.DrawFn) -> list[gpus.Job]:
    """A few jobs by arrival; gangs divide the threshold, so that queues change at whole seconds."""
    arrivals = sorted(draw(st.lists(st.integers(0, 12), min_size=1, max_size=7)))
    size = st.sampled_from([1, 2, 3, 4])
    return [(f"j{i}", arrival, draw(size), draw(st.integers(1, 25))) for i, arrival in enumerate(arrivals)]


@pytest.mark.parametrize("name", SCHEDULERS)
@examples(20, 60)
@given(jobs=rows(), count=st.integers(4, 7))
def test_events_agree_with_deciding_every_second(name: str, jobs: list[gpus.Job], count: int) -> None:
    policy, oracle = SCHEDULERS[name]
    found = simulate(instance_of(jobs, count), policy, round_seconds=None).completions
    assert found == oracle(jobs, count)


@pytest.mark.shared_data
@pytest.mark.parametrize("count", [8, 16])
@pytest.mark.parametrize("name", ["fifo", "easy", "srtf", "tiresias"])
def test_the_published_trace_of_tiresias(shared: Path, name: str, count: int) -> None:
    with (shared / "data/tiresias/60_job.csv").open(encoding="utf-8", newline="") as file:
        lines = sorted(csv.DictReader(file), key=lambda row: int(row["submit_time"]))
    jobs = [(row["job_id"], *(int(row[key]) for key in ("submit_time", "num_gpu", "duration"))) for row in lines]
    policy, oracle = SCHEDULERS[name]
    if name == "tiresias":
        policy, oracle = Tiresias(), lambda jobs, count: gpus.tiresias(jobs, count, 3600)
    simulation = simulate(instance_of(jobs, count, seconds=10**5), policy, round_seconds=None)
    assert len(jobs) == len(simulation.completions) == 60
    assert check(simulation) == []
    assert sum(busy(simulation).values()) == sum(gang * duration for _, _, gang, duration in jobs) == 26624
    assert simulation.completions == oracle(jobs, count)
