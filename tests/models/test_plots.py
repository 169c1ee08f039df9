"""Pictures: what is told apart, what stands in titles and on axes, and what cannot be drawn."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dlsched.algorithms.algorithm import algorithms_named
from dlsched.models import InputError, picture, plot_schedules, plot_use
from dlsched.models.problem import problem

RULES = {"hadar": "fifo", "dmlrs": "fifo", "ddljs": "fifo", "smd": "esw"}
SIZES: dict[str, dict[str, int]] = {
    "hadar": {"machines": 6, "slots": 60},
    "dmlrs": {"machines": 6, "slots": 60},
    "ddljs": {"servers": 8, "slots": 60},
    "smd": {},
}


def planned(name: str, jobs: int) -> tuple[Any, Any]:
    """Return an instance and a schedule of a quick rule."""
    instance = problem(name).preset("paper" if name == "smd" else "benchmark", 0, jobs=jobs, **SIZES[name])
    (rule,) = (entry for entry in algorithms_named(RULES[name]) if entry.problem == name)
    return instance, rule.run(instance, seed=0).schedule


def test_sixty_jobs_are_told_apart() -> None:
    names = [f"job{k}" for k in range(picture.DISTINCT)]
    found = picture.styles(names)
    assert len({(style.colour, style.hatch) for style in found.values()}) == len(names) == 64
    assert picture.styles(names[:5]) == {name: found[name] for name in names[:5]}


def test_a_long_name_keeps_both_ends() -> None:
    assert picture.short("a" * 36) == "a" * 36
    xs = "x" * 11
    assert picture.short(f"user-1/{xs}{xs}{xs}/run-7") == f"user-1/{xs}\N{HORIZONTAL ELLIPSIS}{xs}/run-7"
    assert len(picture.short("y" * 99)) == 36


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("jobs", [1, 12])
def test_schedules_side_by_side(name: str, jobs: int, tmp_path: Path) -> None:
    instance, schedule = planned(name, jobs)
    own = problem(name)
    figure = plot_schedules(instance, {"first": schedule, "none": own.schedule.parse({"jobs": {}})})
    first, none = (ax for ax in figure.axes if ax.get_title())
    worth = float(own.utility(instance, schedule))
    assert first.get_title().startswith(f"first: utility {worth:.6g}, {len(schedule.jobs)} of {jobs} jobs")
    assert none.get_title().startswith(f"none: utility 0, 0 of {jobs} jobs")
    assert first.get_xlim() == none.get_xlim()
    picture.save(figure, tmp_path / "two.png")
    assert (tmp_path / "two.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["hadar", "dmlrs", "ddljs"])
def test_use_over_time_is_that_of_the_schedule(name: str) -> None:
    instance, schedule = planned(name, 12)
    own = problem(name)
    assert own.use is not None
    shares = own.use(instance, schedule)
    last = max(slot for _, slot, _ in schedule.items())
    assert {len(values) for values in shares.values()} == {last}
    assert all(0 <= share <= 1 + 1e-12 for values in shares.values() for share in values)
    ax = plot_use(instance, {"fifo": schedule}).axes[0]
    assert ax.get_xlim() == (0.5, last + 0.5)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(shares)
    for patch, values in zip(ax.patches, shares.values(), strict=True):
        assert list(patch.get_data().values) == values


def test_a_picture_by_hand() -> None:
    """One of two devices in slots 1 and 3 of 9, each of a second."""
    own = problem("hadar")
    utility = {"kind": "hyperbolic", "scale": 6}
    job = {"name": "a", "arrival": 1, "gang": 1, "iterations": 2, "rate": {"r": 1}, "utility": utility}
    machines = [{"name": "m", "devices": {"r": 2}}]
    instance = own.instance.parse(
        {"slots": 9, "slot_seconds": 1, "device_types": ["r"], "machines": machines, "jobs": [job]}
    )
    schedule = own.schedule.parse({"jobs": {"a": {"slots": {t: {"m": {"r": 1}} for t in ("1", "3")}}}})
    assert own.use is not None
    assert own.use(instance, schedule) == {"r": [0.5, 0.0, 0.5]}
    (ax,) = plot_schedules(instance, {"plan": schedule}).axes
    assert ax.get_title() == "plan: utility 2, 1 of 1 jobs"
    assert (ax.get_xlim(), ax.get_xlabel()) == ((0.5, 3.5), "slot [1 s each]")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a (done in slot 3)"]


def test_a_legend_names_no_more_than_there_is_room_for() -> None:
    from matplotlib.figure import Figure

    ax = Figure(figsize=(9, 3)).subplots()
    for k in range(200):
        ax.plot([0, 1], [k, k], label=f"job{k}")
    picture.legend(ax)
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert told[:-1] == [f"job{k}" for k in range(len(told) - 1)]
    assert told[-1] == f"and {200 - len(told) + 1} more"
    assert len(told) < 60


def test_what_cannot_be_drawn() -> None:
    instance, schedule = planned("smd", 2)
    with pytest.raises(InputError, match="smd does not tell what is in use when"):
        plot_use(instance, {"esw": schedule})
    with pytest.raises(InputError, match="schedules: there is none to draw"):
        plot_schedules(instance, {})
    with pytest.raises(InputError, match="the schedule cannot be drawn"):
        plot_schedules(instance, {"nobody": type(schedule).of({"nobody": (1, 1)})})


def test_a_headline_takes_fractions() -> None:
    assert picture.headline(Fraction(1, 3), 0, 1) == "utility 0.333333, 0 of 1 jobs"
