"""Hadar as a policy: its rounds are those of the algorithm, and the incremental update leaves running jobs alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlsched.algorithms import hadar
from dlsched.algorithms.simulator import exact_utility, metrics, run_policy, schedule, simulate
from dlsched.algorithms.simulator.placement import by_type
from dlsched.models.hadar import Instance, Schedule, preset
from dlsched.models.hadar import exact_utility as value_of
from tests.longer import examples
from tests.strategies.hadar import hadar_data


def counted(schedule: Schedule) -> dict[tuple[str, int], dict[str, int]]:
    """What each job has of each type in each slot."""
    return {(name, slot): by_type(allocation) for name, slot, allocation in schedule.items()}


@pytest.mark.parametrize("variant", ["printed", "corrected"])
@examples(20, 60)
@given(data=hadar_data(slots=5, jobs=4), limit=st.sampled_from([0, 3, 2048]), comm_cost=st.sampled_from([0.0, 0.25]))
def test_rounds_of_a_slot_are_algorithm_1(variant: str, data: dict[str, Any], limit: int, comm_cost: float) -> None:
    p = Instance.parse(data)
    options: dict[str, Any] = {"variant": variant, "max_states": limit, "comm_cost": comm_cost}
    direct = hadar.run(p, mode="rounds", **options)
    simulated = run_policy(p, hadar.Hadar(**options))
    if comm_cost:
        assert simulated.schedule == direct.schedule
    assert counted(simulated.schedule) == counted(direct.schedule)
    assert simulated.utility == direct.utility
    if variant == "printed":
        assert direct.schedule.jobs == {}


@pytest.mark.parametrize("seed", range(4))
def test_the_incremental_update_moves_nobody(seed: int) -> None:
    p = preset("benchmark", seed, jobs=12, machines=5, slots=24)
    anew = simulate(p, hadar.Hadar(), round_seconds=p.slot_seconds)
    kept = simulate(p, hadar.Hadar(incremental=True), round_seconds=p.slot_seconds)
    assert metrics(kept).moved == 0 < metrics(anew).moved
    for simulation in (anew, kept):
        assert value_of(p, schedule(simulation)) == exact_utility(simulation)
    assert len({s.job for s in kept.segments}) == len(kept.segments)


def test_waiting_jobs_see_the_devices_of_running_ones_as_taken_and_dear() -> None:
    # Two devices. A takes one in slot 1; the other then costs more than B is worth, but not more than C.
    data = {
        "slots": 2,
        "device_types": ["t"],
        "machines": [{"name": "m", "devices": {"t": 2}}],
        "jobs": [
            {"name": name, "arrival": arrival, "gang": 1, "iterations": work, "rate": {"t": 1}}
            | {"utility": {"kind": "step", "value": value, "deadline": 2}}
            for name, arrival, work, value in [("A", 1, 2, 100), ("B", 2, 1, 1), ("C", 2, 1, 100)]
        ],
    }
    p = Instance.parse(data)
    prices = hadar.constants(p, saturation="full")
    found = simulate(p, hadar.Hadar(incremental=True, prices=prices), round_seconds=1)
    assert found.completions == {"A": 2, "C": 2}
    assert prices.price("m", "t", 1) > 1 > prices.price("m", "t", 0)


def test_a_gang_that_keeps_its_types_keeps_its_devices() -> None:
    p = preset("benchmark", 0, jobs=12, machines=9, slots=24)
    found = simulate(p, hadar.Hadar(), round_seconds=p.slot_seconds)
    meetings = [
        (before, after)
        for before in found.segments
        for after in found.segments
        if (before.job, before.end) == (after.job, after.start)
    ]
    assert meetings
    for before, after in meetings:
        assert by_type(before.allocation) != by_type(after.allocation)


@pytest.mark.slow
def test_two_thousand_jobs_are_decided_on_at_once() -> None:
    # In half a second; the paper says less than 7 minutes, and has a cluster that grows with the jobs.
    nodes = [{"name": f"n{h}", "devices": {("v", "p", "k")[h % 3]: 4}} for h in range(512)]
    jobs = [
        {"name": f"j{i}", "arrival": 1, "gang": (1, 1, 2, 4)[i % 4], "iterations": 10**5 + 7 * i}
        | {"rate": {"v": 8 + i % 5, "p": 4 + i % 3, "k": 1 + i % 2}, "utility": {"kind": "hyperbolic", "scale": 10**5}}
        for i in range(2048)
    ]
    data = {"slots": 600, "slot_seconds": 360, "device_types": ["v", "p", "k"], "machines": nodes, "jobs": jobs}
    found = simulate(Instance.parse(data), hadar.Hadar(), round_seconds=360, horizon=360)
    assert [moment.jobs for moment in found.moments] == [2048]
    assert found.moments[0].devices > 1900
