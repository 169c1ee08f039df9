"""Gavel's priority rounds: the paper's Figure 1(a), and the general properties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlsched.algorithms.baselines.hadar import gavel
from dlsched.algorithms.run import Stripped
from dlsched.models.hadar import Instance, check, completions, preset, random
from tests.strategies import hadar_data

SHARES = {
    "J1": {"v100": 0.6, "p100": 0.4, "k80": 0.0},
    "J2": {"v100": 0.2, "p100": 0.6, "k80": 0.2},
    "J3": {"v100": 0.2, "p100": 0.0, "k80": 0.8},
}


def test_the_motivational_example_is_replayed() -> None:
    instance = preset("motivation")
    result = gavel.run(instance, SHARES)
    rounds = [event for event in result.log if isinstance(event, gavel.Round)]
    remaining = [tuple(event.remaining[name] for name in ("J1", "J2", "J3")) for event in rounds]
    assert remaining == [(60, 25, 50), (60, 10, 40), (60, 0, 30), (40, 0, 20), (20, 0, 10), (0, 0, 0)]
    busy = [event.busy for event in rounds]
    assert busy == [5, 4, 4, 5, 5, 5]
    assert sum(busy) / (6 * instance.devices) == pytest.approx(7 / 9)
    assert result.utility == 3.0
    assert check(instance, result.schedule) == []


def test_the_example_does_not_fit_into_five_rounds() -> None:
    instance = preset("motivation", slots=5)
    result = gavel.run(instance, SHARES)
    assert set(completions(instance, result.schedule)) == {"J2"}
    assert {event.job for event in result.log if isinstance(event, Stripped)} == {"J1", "J3"}


@given(hadar_data(), st.data())
def test_schedules_are_valid_and_homogeneous(data: dict[str, Any], drawn: st.DataObject) -> None:
    instance = Instance.model_validate(data)
    part = st.sampled_from([0.0, 0.25, 0.5, 1.0])
    shares = {job.name: {r: drawn.draw(part) for r in instance.device_types} for job in instance.jobs}
    for result in (gavel.run(instance, shares), gavel.run(instance)):
        assert check(instance, result.schedule) == []
        assert result.prices == {}
        for _, _, allocation in result.schedule.items():
            assert len({r for devices in allocation.values() for r in devices}) == 1
    for event in gavel.run(instance, shares).log:
        if isinstance(event, gavel.Round):
            assert all(shares[name][r] > 0 for name, r in event.types.items())


def test_a_type_not_had_yet_comes_first() -> None:
    instance = preset("motivation")
    first, second, *_ = (e for e in gavel.run(instance, {"J2": {"v100": 0.9, "p100": 0.1}}).log)
    assert isinstance(first, gavel.Round)
    assert isinstance(second, gavel.Round)
    assert (first.types, second.types) == ({"J2": "v100"}, {"J2": "p100"})


@pytest.mark.parametrize("seed", range(20))
def test_max_min_shares_are_feasible_and_fair(seed: int) -> None:
    instance = random(np.random.default_rng(seed), jobs=4, machines=2, types=3, slots=4, devices=3)
    shares = gavel.max_min_shares(instance, list(instance.jobs))
    for name, by_type in shares.items():
        assert sum(by_type.values()) <= 1 + 1e-7
        assert all(instance.job(name).gang <= instance.capacity[r] for r in by_type)
    for r, count in instance.capacity.items():
        assert sum(instance.job(n).gang * y.get(r, 0.0) for n, y in shares.items()) <= count + 1e-7


def test_two_equal_jobs_share_one_device_equally() -> None:
    job = {"arrival": 1, "gang": 1, "iterations": 2, "rate": {"t": 1}, "utility": {"kind": "table", "values": [1] * 4}}
    instance = Instance.model_validate(
        {
            "slots": 4,
            "device_types": ["t"],
            "machines": [{"name": "m", "devices": {"t": 1}}],
            "jobs": [{"name": "a", **job}, {"name": "b", **job}],
        }
    )
    shares = gavel.max_min_shares(instance, list(instance.jobs))
    assert shares == {"a": {"t": pytest.approx(0.5)}, "b": {"t": pytest.approx(0.5)}}
    result = gavel.run(instance)
    assert [list(e.types) for e in result.log if isinstance(e, gavel.Round)] == [["a"], ["b"], ["a"], ["b"]]


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({"J9": {"v100": 1.0}}, "shares.J9: unknown job"),
        ({"J1": {"a100": 1.0}}, "shares.J1.a100: unknown device type"),
        ({"J1": {"v100": -0.1}}, "shares.J1.v100: -0.1"),
        ({"J1": {"v100": float("nan")}}, "shares.J1.v100: nan"),
    ],
)
def test_bad_shares_are_refused(shares: gavel.Shares, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gavel.run(preset("motivation"), shares)
