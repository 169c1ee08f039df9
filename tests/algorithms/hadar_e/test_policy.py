"""HadarE in the simulator: the same as its own rounds, by hand, and what becomes of jobs that fit no node."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlsched.algorithms import compare_policies, hadar_e
from dlsched.algorithms.hadar_e.nodes import speed_on
from dlsched.algorithms.simulator import exact_utility, metrics, simulate
from dlsched.models.hadar import Instance
from tests.longer import examples
from tests.strategies.hadar import hadar_data


def two_nodes(*jobs: tuple[str, int, int, int], slots: int = 12) -> Instance:
    """Return jobs (name, arrival, gang, iterations) on two nodes of two devices, each of which does 1 or 2 a second."""
    return Instance.parse(
        {
            "slots": slots,
            "slot_seconds": 2,
            "device_types": ["slow", "fast"],
            "machines": [{"name": "s", "devices": {"slow": 2}}, {"name": "f", "devices": {"fast": 2}}],
            "jobs": [
                {
                    "name": name,
                    "arrival": arrival,
                    "gang": gang,
                    "iterations": iterations,
                    "rate": {"slow": 1, "fast": 2},
                    "utility": {"kind": "hyperbolic", "scale": 100},
                }
                for name, arrival, gang, iterations in jobs
            ],
        }
    )


@pytest.mark.slow
@examples(20, 60)
@given(data=hadar_data(slots=5, jobs=4), copies=st.none() | st.integers(1, 3))
def test_in_rounds_of_a_slot_it_is_what_hadare_runs(data: dict[str, Any], copies: int | None) -> None:
    instance = Instance.parse(data)
    fitting = [job for job in instance.jobs if any(speed_on(job, machine) for machine in instance.machines)]
    able = instance.model_copy(update={"jobs": tuple(fitting)})
    run = hadar_e.run(able, steps="divisible", copies=copies)
    found = simulate(instance, hadar_e.HadarE(copies=copies), round_seconds=instance.slot_seconds)
    assert found.completions == hadar_e.finish_times(able, run.schedule)
    assert exact_utility(found) == hadar_e.exact_utility(able, run.schedule)
    assert {segment.job for segment in found.segments} == set(run.schedule.jobs)


@pytest.mark.parametrize(
    ("round_seconds", "restart", "ends"),
    [
        (2, 0, {"A": 5, "B": 7}),
        (1, 0, {"A": 5, "B": 7}),
        # A new job loses a third of a second on each node; A goes on in its next rounds.
        (2, Fraction(1, 3), {"A": Fraction(16, 3), "B": Fraction(22, 3)}),
    ],
)
def test_two_jobs_one_after_the_other_by_hand(
    round_seconds: int, restart: int | Fraction, ends: dict[str, Fraction]
) -> None:
    """A does 15 at 3 a second; B, which comes at 6, does 3 at 3 a second."""
    instance = two_nodes(("A", 1, 1, 15), ("B", 4, 1, 3))
    found = simulate(instance, hadar_e.HadarE(), round_seconds=round_seconds, restart_seconds=restart)
    assert found.completions == ends


def test_a_copy_is_a_whole_gang_of_one_node() -> None:
    """Of a gang of two both nodes have one, and do 2 + 4 a second; a gang of three fits none, and never runs."""
    instance = two_nodes(("pair", 1, 2, 12), ("three", 1, 3, 1))
    found = simulate(instance, hadar_e.HadarE(), round_seconds=2)
    assert found.completions == {"pair": 2}
    assert [segment.allocation for segment in found.segments] == [{"s": {"slow": 2}, "f": {"fast": 2}}]
    assert (metrics(found).admitted, metrics(found).gru) == (1, 1)


def test_compare_puts_it_beside_hadar() -> None:
    """Without forking A has the fast node alone, for 5 seconds; the bound is on schedules of one gang a job."""
    instance = two_nodes(("A", 1, 1, 10))
    found = compare_policies(instance, ["hadar", "hadar_e", "hadar_e:copies=1"], round_seconds=2, bound_seconds=9)
    assert [row["TTD"] for row in found.table().records()] == [5, pytest.approx(10 / 3), 5]
    assert [row.get("of the bound") for row in found.table().records()] == [1, None, None]
