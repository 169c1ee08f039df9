"""Figures: names, draws in a file, tables that no run changes, what is told, and every figure's own draws."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dlsched.bounds.comparison import Relation
from dlsched.bounds.statistics import Support
from dlsched.figures import Figure, Statement, drawing, figure, figures, figures_named, reproduce
from dlsched.figures.figure import FIGURES, pulling_ahead, rising
from dlsched.figures.points import Curve, Points, curves, judged
from dlsched.models import InputError, picture
from tests.longer import longer

CALLS: list[tuple[float, int]] = []


def toy(at: float, seed: int) -> Mapping[str, float]:
    CALLS.append((at, seed))
    return {"a": at + seed, "b": at}


TOY = Figure(
    name="toy/1",
    paper="Toy, Fig. 1",
    title="a beside b",
    says="a is above b",
    x="x",
    y="y",
    points=(1, 2),
    quick=(1,),
    series=("a", "b"),
    draw=toy,
    seeds=9,
    statements=(Statement("a is above b", "a", Relation.AT_LEAST, "b", "toy/claim"),),
)
FILE = "toy/rates.json"


def weighed(at: float, seed: int, folder: Path) -> Mapping[str, float]:
    return {"a": at * float((folder / FILE).read_text(encoding="utf-8"))}


NEEDS_DATA = Figure(
    name="toy/2",
    paper="Toy, Fig. 2",
    title="what was measured elsewhere",
    says="it is 3",
    x="mix",
    y="y",
    points=(1, 2),
    quick=(2,),
    series=("a",),
    labels=("M-1", "M-3"),
    draw=weighed,
    seeds=1,
    data=(FILE,),
)
OUT_OF_REACH = Figure(
    name="toy/table",
    paper="Toy, Table I",
    title="accuracy",
    says="it is 93 %",
    x="",
    y="",
    points=(),
    quick=(),
    series=(),
    draw=None,
    note="needs training",
)


TOYS = (TOY, NEEDS_DATA, OUT_OF_REACH)


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    every = FIGURES.all
    monkeypatch.setattr(FIGURES, "all", lambda: {**every(), **{figure.name: figure for figure in TOYS}})
    CALLS.clear()


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


@pytest.mark.slow
def test_a_figure_becomes_a_table_and_pictures(tmp_path: Path) -> None:
    (done,) = reproduce("toy/1", out=tmp_path)
    assert [path.name for path in done.files] == ["toy-1.csv", "toy-1.png", "toy-1.svg"]
    assert all(path.exists() for path in done.files)
    rows = table(done.files[0])
    assert [(row["x"], row["series"], row["draws"], row["mean"]) for row in rows] == [
        ("1", "a", "9", "5"),
        ("1", "b", "9", "1"),
        ("2", "a", "9", "6"),
        ("2", "b", "9", "2"),
    ]
    # Seeds 0 to 8: a deviation of sqrt(7.5), and t of eight degrees of freedom at 99.5 % is 3.355.
    assert float(rows[0]["high"]) == pytest.approx(5 + 3.3554 * 7.5**0.5 / 3, abs=1e-3)
    assert done.samples[0][1].support is Support.SUPPORTED
    assert (done.samples[0][1].better, done.samples[0][1].ties) == (8, 1)
    assert done.measured.startswith("a 5 at 1, 6 at 2; b 1 at 1, 2 at 2. a is above b: holds (8 of 9 draws for it, 0")
    assert json.loads(json.dumps(done.dump()))["statements"][0]["claim"] == "toy/claim"


def test_quick_takes_few_points_and_draws(tmp_path: Path) -> None:
    (done,) = reproduce("toy/1", out=tmp_path, quick=True, pictures=False)
    assert [(curve.x, curve.draws) for curve in done.curves] == [(1, 3), (1, 3)]
    assert [path.name for path in done.files] == ["toy-1.csv"]
    assert CALLS == [(1, 0), (1, 1), (1, 2)]


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    def stop(there: int, total: int) -> None:
        if there == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce("toy/1", out=tmp_path, pictures=False, progress=stop)
    with (tmp_path / "toy-1.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"x": 1, "se')
    CALLS.clear()
    (done,) = reproduce("toy/1", out=tmp_path, pictures=False)
    assert len(CALLS) == 18 - 5
    (again,) = reproduce("toy/1", out=tmp_path / "other", pictures=False)
    assert done.csv() == again.csv()
    assert done.files[0].read_bytes() == again.files[0].read_bytes()


@pytest.mark.slow
def test_the_same_picture_is_the_same_file(tmp_path: Path) -> None:
    (one,) = reproduce("toy/1", out=tmp_path / "one")
    (two,) = reproduce("toy/1", out=tmp_path / "two")
    assert [path.read_bytes() for path in one.files] == [path.read_bytes() for path in two.files]


def test_more_seeds_go_on_from_fewer(tmp_path: Path) -> None:
    reproduce("toy/1", out=tmp_path, quick=True, pictures=False)
    CALLS.clear()
    (done,) = reproduce("toy/1", out=tmp_path, quick=True, seeds=4, pictures=False)
    assert CALLS == [(1, 3)]
    assert done.curves[0].draws == 4


def test_what_is_out_of_reach_says_so(tmp_path: Path) -> None:
    (done,) = reproduce("toy/table", out=tmp_path)
    assert (done.measured, done.files) == ("Out of reach: needs training.", ())


def test_a_figure_that_needs_data_says_which(tmp_path: Path) -> None:
    (done,) = reproduce("toy/2", out=tmp_path)
    assert done.measured == f"Not drawn: it needs {FILE}; --data DIR names the folder that has them."
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match=r"elsewhere/toy/rates.json: no such file"):
        reproduce("toy/2", out=tmp_path, data=tmp_path / "elsewhere")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_data_are_read_and_others_are_not_mixed_in(tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / FILE).write_text("3", encoding="utf-8")
    (done,) = reproduce("toy/2", out=tmp_path / "out", data=tmp_path)
    assert [(row["x"], row["mean"]) for row in table(done.files[0])] == [("M-1", "3"), ("M-3", "6")]
    assert done.measured == "a 3 at M-1, 6 at M-3."
    assert [(curve["label"], curve["x"]) for curve in done.dump()["curves"]] == [("M-1", 1), ("M-3", 2)]
    (tmp_path / FILE).write_text("4", encoding="utf-8")
    with pytest.raises(InputError, match=r"toy-2.jsonl: was made with data .*; use another folder"):
        reproduce("toy/2", out=tmp_path / "out", data=tmp_path)


@pytest.mark.slow
def test_a_picture_of_its_own_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def own() -> Any:
        ax = picture.axes(2, 2)
        ax.set_title("a picture of its own")
        return ax

    drawn = {TOY.name: replace(TOY, plot=own)}
    monkeypatch.setattr(FIGURES, "all", lambda: drawn)
    (done,) = reproduce("toy/1", out=tmp_path)
    assert "a picture of its own" in done.files[2].read_text(encoding="utf-8")


def test_no_two_series_of_a_figure_look_the_same() -> None:
    for entry in figures():
        ax = drawing.draw(entry, [])
        looks = {(line.get_marker(), line.get_color(), line.get_linestyle()) for line in lines_of(ax)}
        assert len(looks) == len(entry.series), entry.name


def test_series_of_other_numbers_have_an_axis_at_the_right() -> None:
    beside = replace(TOY, right=("b",), right_y="gain [%]")
    found = [Curve(x, series, 1, mean, mean, mean) for series, mean in (("a", 4000.0), ("b", 3.0)) for x in (1, 2)]
    left = drawing.draw(beside, found)
    (right,) = (ax for ax in left.figure.axes if ax is not left)
    assert (left.get_ylabel(), right.get_ylabel()) == ("y", "gain [%]")
    assert left.get_ylim()[0] > 3
    assert right.get_ylim()[1] < 4000
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["a", "b"]
    for entry in figures():
        assert set(entry.right) <= set(entry.series)
        assert bool(entry.right) == bool(entry.right_y)


def lines_of(ax: Any) -> list[Any]:
    return [container.lines[0] for side in ax.figure.axes for container in side.containers]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing\n", "has no draws of a figure"),
        ('{"figure": "toy/2"}\n', "was made with figure 'toy/2', not 'toy/1'; use another folder"),
        ('{"figure": "toy/1", "series": ["a", "b"], "code": "0"}\n', "was made with code '0', not "),
    ],
)
def test_other_draws_are_refused_and_left_alone(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "toy-1.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        reproduce("toy/1", out=tmp_path)
    assert message in str(caught.value)
    assert path.read_text(encoding="utf-8") == text


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    with Points(tmp_path / "p.jsonl", TOY) as points:
        points.add((1.0, 0), {"a": 1, "b": 2})
    with (tmp_path / "p.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"x": 1}\n')
    with pytest.raises(InputError, match=r"p.jsonl: line 3: '\{\"x\": 1\}' is no draw of toy/1"):
        Points(tmp_path / "p.jsonl", TOY)


def test_two_runs_at_once_keep_the_draws_of_both(tmp_path: Path) -> None:
    path = tmp_path / "toy-1.jsonl"
    with Points(path, TOY) as first, Points(path, TOY) as second:
        first.add((1, 0), {"a": 1, "b": 1 / 3})
        second.add((2, 0), {"a": 2, "b": 2})
        first.add((1, 1), {"a": 2, "b": 1})
    with Points(path, TOY) as again:
        assert again.found == {(1, 0): {"a": 1, "b": 1 / 3}, (2, 0): {"a": 2, "b": 2}, (1, 1): {"a": 2, "b": 1}}


def test_two_runs_that_begin_at_once_may_both_write_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "toy-1.jsonl"
    with Points(path, TOY) as one:
        one.add((1, 0), {"a": 1, "b": 1})
    head, draw = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(head + head + draw, encoding="utf-8")
    with Points(path, TOY) as again:
        assert again.found == {(1, 0): {"a": 1, "b": 1}}


def test_a_statement_at_most_and_against_a_number() -> None:
    found = {(1.0, seed): {"a": 0.25, "b": 1.0} for seed in range(8)}
    below = judged(Statement("", "a", Relation.AT_MOST, "b"), found)
    above = judged(Statement("", "b", Relation.AT_MOST, 0.5), found)
    assert below is not None
    assert above is not None
    assert (below.support, below.mean) == (Support.SUPPORTED, 0.75)
    assert above.support is Support.REFUTED


def test_trends_are_judged_seed_by_seed() -> None:
    found = {(x, seed): {"a": x * x + seed, "b": x} for x in (1.0, 2.0, 3.0) for seed in range(8)}
    up = judged(rising("", "a", (1.0, 2.0, 3.0)), found)
    assert up is not None
    assert (up.support, up.draws, up.mean) == (Support.SUPPORTED, 8, 8)
    (lead,) = pulling_ahead("b", ("a",), (1.0, 3.0), "x")
    behind = judged(lead, found)  # from 1 - 1 - seed to 3 - 9 - seed
    assert behind is not None
    assert (behind.support, behind.mean) == (Support.REFUTED, -6)
    assert lead.text == "the lead of b over a grows with the x"


def test_a_seed_without_the_points_of_a_trend_says_nothing() -> None:
    found = {(1.0, 0): {"a": 1.0}, (2.0, 0): {"a": 2.0}, (1.0, 1): {"a": 5.0}}
    trend = rising("a rises", "a", (1.0, 2.0))
    told = judged(trend, found)
    assert told is not None
    assert (told.draws, told.mean) == (1, 1)
    assert judged(trend, {(1.0, 1): {"a": 5.0}}) is None


def test_a_draw_without_a_value_counts_nowhere(tmp_path: Path) -> None:
    """As a ratio to an optimum of 0: not in means, not for a statement, not in a trend; null in the file."""
    path, none = tmp_path / "toy-1.jsonl", math.nan
    drawn = {(1.0, 0): {"a": 4.0, "b": none}, (1.0, 1): {"a": none, "b": none}, (2.0, 1): {"a": 6.0, "b": none}}
    with Points(path, TOY) as points:
        for task, values in drawn.items():
            points.add(task, values)
    assert "NaN" not in path.read_text(encoding="utf-8")
    with Points(path, TOY) as again:
        found = dict(again.found)
    assert [(curve.x, curve.series, curve.draws, curve.mean) for curve in curves(TOY, found)] == [
        (1, "a", 1, 4),
        (2, "a", 1, 6),
    ]
    told = judged(Statement("", "a", Relation.AT_LEAST, 5.0), found)
    assert told is not None
    assert (told.draws, told.better) == (2, 1)
    assert judged(Statement("", "b", Relation.AT_LEAST, 5.0), found) is None
    assert judged(rising("", "a", (1.0, 2.0)), found) is None


def test_a_statement_about_a_point_takes_the_draws_there() -> None:
    found = {(x, seed): {"a": x, "b": 1.5} for x in (1.0, 2.0) for seed in range(8)}
    low, high = (judged(Statement("", "a", Relation.AT_LEAST, "b", at=at), found) for at in (1, 2))
    assert (low.support, high.support) == (Support.REFUTED, Support.SUPPORTED)
    assert (low.draws, high.draws) == (8, 8)


def test_a_statement_that_rests_on_guesses_stays_undecided() -> None:
    found = {(1.0, seed): {"a": 1.0 + seed, "b": 0.5} for seed in range(20)}
    sample = judged(Statement("", "a", Relation.AT_LEAST, "b", guessed=True), found)
    assert (sample.support, sample.better, sample.low > 0) == (Support.UNDECIDED, 20, True)


def test_one_value_that_nothing_draws_has_no_interval() -> None:
    (a, b) = curves(replace(TOY, seeds=1), {(1.0, 0): {"a": 1.0, "b": 2.0}})
    assert (a.low, a.high, b.low, b.high) == (1, 1, 2, 2)


@pytest.mark.parametrize(
    ("names", "count"), [("smd", 6), ("smd/*", 6), ("smd/7", 1), (["smd/7", "gadget"], 5), (None, None)]
)
def test_names_and_patterns(names: Any, count: int | None) -> None:
    assert len(figures_named(names)) == (len(figures()) if count is None else count)


def test_an_unknown_figure_names_the_nearest() -> None:
    with pytest.raises(InputError, match=r"unknown figure 'smd/77'; .*smd/7"):
        figures_named("smd/77")


def test_every_figure_is_whole() -> None:
    for entry in figures():
        assert set(entry.quick) <= set(entry.points)
        assert entry.says
        assert entry.draw is not None or entry.note
        at = {(x, seed): dict.fromkeys(entry.series, 1.0) for x in entry.points for seed in (0, 1)}
        for statement in entry.statements:
            assert list(statement.gains(at)), f"{entry.name}: {statement.text} is never judged"
            if isinstance(statement, Statement):
                assert statement.at is None or {statement.at} <= set(entry.quick) & set(entry.points)


def test_the_claims_that_figures_name_are_there() -> None:
    from dlsched.bounds import claims

    known = {claim.id for claim in claims()}
    named = {s.claim for entry in figures() if not entry.name.startswith("toy/") for s in entry.statements if s.claim}
    assert named <= known


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    longer(
        ["smd/9", "smd/12", "pd-ors/8", "pd-ors/10", *(f"gadget/{n}" for n in (4, 5, 6, 7)), "pd-ors-thesis/3.11"],
        "gadget/4",
    ),
)
def test_a_draw_has_every_series(name: str) -> None:
    entry = figure(name)
    assert entry.draw is not None
    first = entry.draw(entry.quick[0], 0)
    assert set(first) == set(entry.series)
    assert entry.draw(entry.quick[0], 0) == first
