"""Pictures of DMLRS schedules: the bars are the schedule, and what cannot be drawn is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlsched.algorithms.pd_ors import run
from dlsched.models.dmlrs import Schedule, preset, save_plot
from dlsched.models.dmlrs.plot import bars, busiest, plot


def test_bars_stack_to_what_is_used() -> None:
    instance = preset("benchmark", 0, jobs=8, machines=3, slots=6)
    schedule = run(instance).schedule
    resource = busiest(instance, schedule)
    drawn = list(bars(instance, schedule))
    assert {(bar.job, bar.slot) for bar in drawn} == {(name, slot) for name, slot, _ in schedule.items()}
    for slot in range(1, instance.slots + 1):
        used = sum(
            instance.job(name).uses(w, s).get(resource, 0)
            for name, t, placement in schedule.items()
            if t == slot
            for w, s in placement.values()
        )
        own = [bar for bar in drawn if bar.slot == slot]
        assert sum(bar.share for bar in own) == pytest.approx(float(used / instance.capacity[resource]))
        assert all(bar.start + bar.share <= 1 + 1e-9 for bar in own)
    assert any(bar.together for bar in drawn)


@pytest.mark.slow
def test_a_picture_is_written(tmp_path: Path) -> None:
    instance = preset("benchmark", 0, jobs=4, machines=2, slots=4)
    save_plot(instance, run(instance).schedule, tmp_path / "s.svg")
    assert (tmp_path / "s.svg").stat().st_size > 1000
    empty = plot(instance, Schedule.of({}))
    assert (empty.get_title(), empty.get_ylabel()) == ("utility 0, 0 of 4 jobs", "share of the cluster's gpu")


def test_a_broken_schedule_is_not_drawn() -> None:
    instance = preset("benchmark", 0, jobs=1, machines=1, slots=2)
    broken = Schedule.of({instance.jobs[0].name: {1: {"machine1": (99, 99)}}})
    with pytest.raises(ValueError, match="cannot be drawn"):
        plot(instance, broken)


def test_a_horizon_of_one_slot_is_drawn() -> None:
    instance = preset("benchmark", 0, jobs=2, machines=2, slots=1)
    ax = plot(instance, run(instance).schedule)
    assert (ax.get_xlim(), ax.get_xlabel()) == ((0.5, 1.5), "slot")
