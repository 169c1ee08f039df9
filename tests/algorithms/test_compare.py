"""Comparisons: every row against the run that it tells of, the measures by hand, tables, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms import algorithms, compare, hadar, optimum
from dlsched.algorithms.table import Table
from dlsched.models import InputError, load_instance, problems
from dlsched.models.ddljs import Embedding
from dlsched.models.ddljs import Instance as DdljsInstance
from dlsched.models.ddljs import Schedule as DdljsSchedule
from dlsched.models.ddljs import random as random_ddljs
from dlsched.models.ddljs.schedule import measures as ddljs_measures
from dlsched.models.hadar import Instance, Schedule
from dlsched.models.hadar.schedule import measures
from dlsched.solvers import UnfitNumberError
from tests import paths
from tests.cases.ddljs import built, job

FAMILIES: dict[str, dict[str, Any]] = {"hadar": {}, "dmlrs": {}, "smd": {}, "ddljs": {}}


def drawn(name: str) -> Any:
    entry = next(entry for entry in problems() if entry.name == name)
    return entry.families["random"](np.random.default_rng(3))


def two_jobs() -> Instance:
    """Two machines with two devices; `a` runs in slots 1 and 3, `b` in slot 2."""
    return Instance.model_validate(
        {
            "slots": 5,
            "slot_seconds": 10,
            "device_types": ["v", "k"],
            "machines": [{"name": "m", "devices": {"v": 2}}, {"name": "n", "devices": {"k": 2}}],
            "jobs": [
                {"name": "a", "arrival": 1, "gang": 2, "iterations": 40, "rate": {"v": 1}, "utility": VALUE},
                {"name": "b", "arrival": 2, "gang": 2, "iterations": 5, "rate": {"k": 1}, "utility": VALUE},
            ],
        }
    )


VALUE = {"kind": "table", "values": [5, 4, 3, 2, 1]}


def test_measures_by_hand() -> None:
    schedule = Schedule.of({"a": {1: {"m": {"v": 2}}, 3: {"m": {"v": 2}}}, "b": {2: {"n": {"k": 2}}}})
    found = measures(two_jobs(), schedule)
    assert found.durations == {"a": 30, "b": 10}
    assert (found.mean, found.median, found.end, found.unit) == (20, 20, 30, "seconds")
    # Six of the twelve device-slots until the end of slot 3.
    assert found.used == Fraction(1, 2)
    # Half of each type for two jobs: of its type a gang of two has half of its time, one iteration a second in all.
    assert found.alone == {"a": 40, "b": 5}
    assert found.unfairness == 2


def test_an_empty_schedule_has_no_times() -> None:
    found = measures(two_jobs(), Schedule.of({}))
    assert (found.mean, found.median, found.end, found.used, found.unfairness) == (None,) * 5


def test_rings_use_what_their_workers_need() -> None:
    instance = DdljsInstance.model_validate(
        {
            "slots": 2,
            "resources": ["gpu", "cpu"],
            "nodes": [{"name": "s", "capacity": {"gpu": 4, "cpu": 8}}],
            "links": [],
            "jobs": [{"name": "j", "arrival": 1, "max_workers": 4, "budget": {"gpu": 9, "cpu": 9}} | JOB],
        }
    )
    schedule = DdljsSchedule.of({"j": {2: Embedding(workers={"s": 2})}})
    assert ddljs_measures(instance, schedule).used == (Fraction(2, 8) + Fraction(2, 16)) / 2


JOB = {
    "worker": {"gpu": 1, "cpu": 1},
    "bandwidth": 0,
    "progress": 1,
    "utility": {"kind": "power", "scale": 1, "exponent": 1},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_every_algorithm_has_the_row_of_its_run(name: str) -> None:
    instance = drawn(name)
    found = compare(instance)
    mine = [entry for entry in algorithms() if entry.problem == name and entry.schedule is None]
    assert [row.name for row in found.rows] == ["optimum", *(entry.name for entry in mine)]
    assert found.rows[0].utility == optimum(instance).value
    for row, entry in zip(found.rows[1:], mine, strict=True):
        run = entry.run(instance, seed=0)
        assert (row.utility, row.schedule) == (run.utility, run.schedule)
        assert row.measures is not None
        assert row.measures.used is None or 0 <= row.measures.used <= 1
    columns, rows = found.table()
    assert all(len(row) == len(columns) for row in rows)
    shares = [row[columns.index("of the bound")] for row in rows]
    assert all(share is None or share <= 1 + 1e-6 for share in shares if not isinstance(share, str))


def test_tables_as_csv_and_markdown(tmp_path: Path) -> None:
    found = compare(two_jobs(), ["gavel"])
    table = found.table()
    header, *lines_of_csv = csv.reader(io.StringIO(table.csv()))
    assert (header, len(lines_of_csv)) == (table.columns, len(table.rows))
    lines = table.markdown().splitlines()
    assert len(lines) == 4
    assert {line.count("|") for line in lines} == {len(table.columns) + 1}
    for name, text in (("t.csv", table.csv()), ("t.md", table.markdown())):
        table.write(tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8") == text
    assert found.job_table().rows == [["a", 20.0, 20.0], ["b", 10.0, 10.0]]
    assert found.job_table().records()[1] == {"job": "b", "optimum": 10.0, "gavel": 10.0}


def test_bars_in_a_cell_part_no_columns_of_markdown() -> None:
    assert Table(["a|b"], [["x|y"], [None]]).markdown().splitlines()[2:] == ["| x\\|y |", "|  |"]


def test_line_breaks_in_a_cell_part_no_rows_of_markdown() -> None:
    assert Table(["job"], [["x\ny\r\nz"]]).markdown().splitlines()[2:] == ["| x y z |"]


def test_an_algorithm_may_be_told_its_options() -> None:
    names = ["gavel", "gavel:policy=max-sum-throughput:normaliser=isolated", "hadar:mode=rounds:comm-cost=0.5"]
    found = compare(two_jobs(), names)
    assert [row.name for row in found.rows[1:]] == names
    assert found.rows[3].schedule == hadar.run(two_jobs(), mode="rounds", comm_cost=0.5).schedule


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gavel:mode=rounds", "gavel: has no option 'mode'; there are mechanism, policy, normaliser"),
        ("gavel:policy=money", "gavel: policy: 'money' is not one of max-min-fairness, "),
        ("gavel:policy", "gavel: policy: '' is not one of "),
        ("hadar:max_states=few", "hadar: max_states: 'few' is not a whole number"),
        ("hadar:comm_cost=much", "hadar: comm_cost: 'much' is not a number"),
        ("hadar:mode=rounds:mode=commit", "hadar: 'mode' is named twice"),
        ("gavel:", "gavel: has no option ''; there are "),
        (":policy=x", "unknown algorithm ''; there are "),
    ],
)
def test_options_that_are_none_are_refused(name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        compare(two_jobs(), [name])
    assert str(caught.value).startswith(message)


def test_what_is_stopped_keeps_what_is_done() -> None:
    asked: list[int] = []

    def progress(done: int, total: int) -> None:
        asked.append(done)

    found = compare(two_jobs(), ["gavel", "fifo", "srtf"], progress=progress, stop=lambda: 2 in asked)
    assert [(row.name, row.utility is None, row.note) for row in found.rows] == [
        ("optimum", False, "proved"),
        ("gavel", False, ""),
        ("fifo", True, "interrupted"),
        ("srtf", True, "interrupted"),
    ]


def test_an_algorithm_whose_program_no_solver_takes_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise UnfitNumberError("row 2: the coefficient of column 0 is 3e+15")

    monkeypatch.setattr(import_module("dlsched.relaxations.augmented_vne"), "by_columns", refuse)
    rows = {row.name: row for row in compare(random_ddljs(69)).rows}
    assert (rows["gadget"].utility, rows["gadget"].note) == (None, "row 2: the coefficient of column 0 is 3e+15")
    assert rows["optimum"].note == "proved"
    assert rows["fifo"].utility is not None


@pytest.mark.parametrize("unit", [10**15, 10**40, Fraction(1, 10**12), Fraction(1, 10**30)])
def test_bandwidth_in_any_unit(unit: Fraction) -> None:
    instance = random_ddljs(69).dump()
    for limited in (*instance["jobs"], *instance["links"]):
        limited["bandwidth"] = str(Fraction(str(limited["bandwidth"])) * unit)
    found, usual = (
        {row.name: row.utility for row in compare(one).rows}
        for one in (DdljsInstance.parse(instance), random_ddljs(69))
    )
    assert found == usual


def test_utilities_of_any_size() -> None:
    rows = {row.name: row for row in compare(DdljsInstance.load(paths.GOLDEN / "ddljs-utilities-1e30.json")).rows}
    assert rows["optimum"].note == "proved"
    assert rows["gadget"].utility is not None
    assert rows["optimum"].utility is not None
    assert 0 < rows["gadget"].utility <= rows["optimum"].utility


@pytest.mark.slow
def test_all_schedules_in_one_picture(tmp_path: Path) -> None:
    found = compare(two_jobs())
    found.save_plot(tmp_path / "all.svg")
    text = (tmp_path / "all.svg").read_text(encoding="utf-8")
    assert text.count("<!-- slot [") == len(found.rows)


def test_an_algorithm_of_another_problem_is_refused() -> None:
    with pytest.raises(InputError, match=r"^esw: runs on other instances than those of hadar$"):
        compare(two_jobs(), ["esw"])


def test_time_that_is_up_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    found = compare(drawn("hadar"), time_limit=1e-9)
    assert found.rows[0].name in ("optimum", "best found")
    assert {row.note for row in found.rows[1:]} <= {"", "time is up"}


@pytest.mark.parametrize("name", FAMILIES)
def test_an_instance_is_known_by_its_fields(name: str, tmp_path: Path) -> None:
    instance = drawn(name)
    instance.save(tmp_path / "i.json")
    problem, loaded = load_instance(tmp_path / "i.json")
    assert (problem.name, loaded) == (name, instance)


def test_a_file_of_no_problem_is_refused(tmp_path: Path) -> None:
    (tmp_path / "i.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"i.json: has not the fields of an instance of ddljs, dmlrs, hadar, smd; "):
        load_instance(tmp_path / "i.json")


@pytest.mark.parametrize("name", FAMILIES)
def test_a_file_with_a_wrong_field_is_told_of_it(name: str, tmp_path: Path) -> None:
    data = drawn(name).dump()
    first = next(iter(data))
    wrong = {
        rf"extra: unknown field \(read as an instance of {name}\)": data | {"extra": 1},
        f"{first}: required field is missing": {key: value for key, value in data.items() if key != first},
        f"{first}: required field is missing .*read": {"odd" if key == first else key: data[key] for key in data},
    }
    for message, changed in wrong.items():
        (tmp_path / "i.json").write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(InputError, match=f"i.json: {message}"):
            load_instance(tmp_path / "i.json")


def test_schedules_of_another_kind_have_no_share_of_the_bound() -> None:
    instance = two_jobs()
    found = compare(instance, ["hadar_e", "gavel"])
    columns, rows = found.table()
    assert [row[columns.index("of the bound")] is None for row in rows] == [False, True, False]
    assert found.rows[1].utility is not None
    assert found.rows[1].measures is None


def test_a_bound_below_zero_has_no_shares() -> None:
    """Logarithms of less than 1: what is twice the bound is worth less than it."""
    poor = {"kind": "log", "scale": 1, "offset": "1/10"}
    jobs = [job(name, max_workers=1, progress="3/10", utility=poor) for name in "ab"]
    found = compare(DdljsInstance.parse(built({"s": 2}, [], *jobs)), ["fifo"])
    assert found.bound is not None
    assert found.bound < 0
    assert "of the bound" not in found.table().columns
