"""The figures of HadarE: Fig. 6 as it is printed, series that are of the same constants, and tables that stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlsched.algorithms.hadar_e import MIXES, constants, physical
from dlsched.bounds import claim
from dlsched.bounds.hadar.physical import Scheduler, outcome
from dlsched.figures import Figure, figure, figures_named, reproduce

MEASURED = [f"hadar/{number}{part}" for number in (8, 9, 10, 11, 12) for part in "ab"]


def drawn(entry: Figure, at: float, seed: int) -> dict[str, float]:
    assert entry.draw is not None
    values = dict(entry.draw(at, seed))
    assert set(values) == set(entry.series)
    return values


@pytest.mark.slow
def test_fig_6_is_the_printed_one(tmp_path: Path) -> None:
    (done,) = reproduce("hadar/6", out=tmp_path)
    nodes = {name: [curve.mean for curve in done.curves if curve.series == name] for name in ("Hadar", "HadarE")}
    assert nodes == {"Hadar": [3, 3, 3, 2, 1, 1, 1, 1], "HadarE": [5, 5, 5, 1, 0, 0, 0, 0]}
    assert [path.suffix for path in done.files] == [".csv", ".png", ".svg"]
    svg = (tmp_path / "hadar-6.svg").read_text(encoding="utf-8")
    assert svg.count("<svg") == 1


def test_the_picture_of_fig_6_has_both_replays() -> None:
    plot = figure("hadar/6").plot
    assert plot is not None
    titles = [ax.get_title() for ax in plot().figure.axes]
    assert [title.split(":")[0] for title in titles] == ["(a) Hadar", "(b) HadarE"]
    assert ["8 rounds" in titles[0], "4 rounds" in titles[1]] == [True, True]


def test_table_iv_is_out_of_reach(tmp_path: Path) -> None:
    (done,) = reproduce("hadar/IV", out=tmp_path)
    assert done.files == ()
    assert "training" in done.measured


def test_every_mix_stands_on_the_axis() -> None:
    for entry in figures_named(MEASURED):
        assert entry.labels == tuple(MIXES)
        assert [entry.label(x) for x in entry.quick] == list(MIXES)
        assert "leave undecided what the paper says of its own runs" in entry.note
        assert entry.statements
        assert all(statement.guessed for statement in entry.statements)


@pytest.mark.slow
@pytest.mark.parametrize(("part", "cluster"), [("a", "aws"), ("b", "lab")])
def test_the_three_figures_of_a_cluster_are_of_the_same_runs(part: str, cluster: str) -> None:
    instance = physical(constants(3), cluster, "M-3")
    found = {scheduler: outcome(instance, scheduler) for scheduler in Scheduler}
    cru, ttd, jct = (drawn(figure(f"hadar/{number}{part}"), 3.0, 3) for number in (8, 9, 10))
    for scheduler in Scheduler:
        mine = found[scheduler]
        assert (cru[scheduler], ttd[scheduler], jct[scheduler]) == (float(mine.cru), float(mine.ttd), float(mine.jct))
    assert (jct["HadarE, least"], jct["HadarE, greatest"]) == (
        float(min(found[Scheduler.HADAR_E].times)),
        ttd["HadarE"],
    )


@pytest.mark.slow
def test_a_lone_job_leaves_four_nodes_idle_unless_it_is_forked() -> None:
    """M-1: what Gavel and Hadar do is the same, a fifth of the nodes at most; both divisions of HadarE are one."""
    for part in "ab":
        for seed in range(4):
            values = drawn(figure(f"hadar/8{part}"), 1.0, seed)
            assert values["Gavel"] == values["Hadar"] <= 0.2 < values["HadarE"]
            assert values["HadarE"] == values["HadarE, printed division"]


@pytest.mark.parametrize("name", ["hadar/11a", "hadar/12b"])
def test_slots_are_compared_with_the_overhead_and_without(name: str) -> None:
    """11(a) has 90 s best for M-1, 12(b) too; without overhead no slot of a lone job loses, but for the restart."""
    values = drawn(figure(name), 1.0, 0)
    assert values["best of the slots that the paper names"] == values["90 s"]
    assert values["best of the others"] == max(values["180 s"], values["360 s"])
    assert values["90 s"] < values["90 s, no communication"]


def test_the_overhead_that_the_text_has_lighter_under_hadar_is_said_to_be_the_same() -> None:
    lighter = '"at a lighter degree due to fewer jobs involved"'
    parts = ("11a", "11b", "12a", "12b")
    assert [lighter in figure(f"hadar/{part}").note for part in parts] == [False, False, True, True]
    assert [lighter in claim(f"hadar/evaluation-slot-{part}").open for part in parts] == [False, False, True, True]


@pytest.mark.slow
def test_tables_are_the_same_on_one_and_two_processes(tmp_path: Path) -> None:
    for jobs in (1, 2):
        reproduce(["hadar/6", "hadar/9b"], out=tmp_path / str(jobs), quick=True, seeds=1, jobs=jobs, pictures=False)
    for name in ("hadar-6.csv", "hadar-9b.csv"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


@pytest.mark.slow
def test_statements_are_judged_on_paired_draws(tmp_path: Path) -> None:
    """A value a seed: the mixes of a seed have its constants in common."""
    (done,) = reproduce("hadar/8b", out=tmp_path, quick=True, seeds=2, pictures=False)
    for statement, sample in done.samples:
        assert sample.draws == sample.better + sample.worse + sample.ties == 2
        if statement.series == "HadarE":
            assert (sample.mean > 0, sample.worse) == (True, 0)
        assert sample.support.value == "undecided"
