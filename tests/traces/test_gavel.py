"""Gavel's files: the columns of each layout, the arithmetic of the conversion, and what is refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dlsched.models import InputError
from dlsched.models.hadar import Instance
from dlsched.traces import gavel
from dlsched.traces.request import parse_cluster
from tests import paths

DATA = paths.DATA / "gavel"
ALPHA, BETA, GAMMA = "Alpha (batch size 8)", "Beta (batch size 4)", "Gamma"


def convert(trace: Path | str = "seven.trace.txt", throughputs: str = "throughputs.json", **options: Any) -> Instance:
    given = {"cluster": {"fast": 2, "slow": 2}, "slots": 10, "slot_seconds": 10, "skip": True, **options}
    return gavel.convert(throughputs=DATA / throughputs, trace=DATA / trace, **given)


@pytest.fixture
def edited(tmp_path: Path) -> Callable[..., Path]:
    """A copy of a trace in which one cell of one line is replaced."""

    def edit(name: str, line: int, column: int, value: str) -> Path:
        lines = [text.split("\t") for text in (DATA / name).read_text(encoding="utf-8").splitlines()]
        lines[line - 1][column - 1] = value
        path = tmp_path / name
        path.write_text("\n".join("\t".join(cells) for cells in lines) + "\n", encoding="utf-8")
        return path

    return edit


@pytest.mark.parametrize(("name", "columns"), [("seven", 7), ("ten", 10), ("twelve", 12)])
def test_the_three_layouts_hold_the_same_jobs(name: str, columns: int) -> None:
    trace = gavel.read_trace(DATA / f"{name}.trace.txt")
    assert trace.columns == columns
    third = trace.jobs[2]
    assert (third.line, third.model, third.steps, third.arrival, third.scale_factor) == (
        3,
        ALPHA,
        240,
        Fraction(19, 2),
        2,
    )
    assert trace.jobs == gavel.read_trace(DATA / "seven.trace.txt").jobs


def test_throughputs_of_pairs_are_left_out() -> None:
    measured = gavel.read_throughputs(DATA / "throughputs.json")
    assert measured.steps_per_second["fast"][ALPHA, 4] == Fraction(61, 2)
    assert measured.steps_per_second["slow"][GAMMA, 1] == 0
    assert set(measured.steps_per_second) == {"fast", "slow", "slow_unconsolidated"}


def test_plain_names_were_measured_at_scale_factor_one() -> None:
    measured = gavel.read_throughputs(DATA / "throughputs_plain.json")
    assert measured.steps_per_second["slow"] == {(ALPHA, 1): 4, (BETA, 1): Fraction(5, 4)}


def test_conversion_by_hand() -> None:
    instance = convert(slots=7)
    assert [(job.name, job.arrival, job.gang, job.iterations) for job in instance.jobs] == [
        (f"{ALPHA} #1", 1, 1, 100),
        (f"{BETA} #2", 1, 1, 30),
        (f"{ALPHA} #3", 1, 2, 240),
        (f"{ALPHA} #4", 2, 4, 200),
        (f"{GAMMA} #5", 3, 1, 6),
        (f"{ALPHA} #7", 6, 1, 50),
    ]
    four = instance.job(f"{ALPHA} #4")
    assert four.rate == {"fast": Fraction(61, 8), "slow": 3}
    assert instance.work(four, "fast") == 305
    assert instance.job(f"{GAMMA} #5").rate == {"fast": Fraction(3, 4)}
    assert four.utility.exact(3) == 50
    assert instance.capacity == {"fast": 2, "slow": 2}
    assert [machine.name for machine in instance.machines] == ["fast", "slow"]


def test_origin_tells_files_and_choices_without_folders() -> None:
    origin = convert().origin
    assert origin is not None
    digest = hashlib.sha256((DATA / "throughputs.json").read_bytes()).hexdigest()
    assert origin["throughputs"] == f"throughputs.json, sha256 {digest}, keys: (model, scale factor)"
    assert origin["trace"].startswith("seven.trace.txt, sha256 ")
    assert origin["skipped"] == "1 jobs: 1 without a measurement at its scale factor on any type of the cluster"
    assert "slow_unconsolidated" in origin["unused"]
    assert not [text for text in origin.values() if str(DATA) in text]
    assert "mode" not in origin
    assert "mode" in (convert("twelve.trace.txt").origin or {})


def test_skip_counts_by_reason() -> None:
    instance = convert(cluster={"slow": 2}, slots=3)
    assert [job.name for job in instance.jobs] == [f"{ALPHA} #1", f"{BETA} #2", f"{ALPHA} #3"]
    skipped = (instance.origin or {})["skipped"]
    assert skipped == (
        "4 jobs: 1 arriving after the last slot; 1 larger than the cluster; "
        "2 without a measurement at its scale factor on any type of the cluster"
    )


def test_jobs_counts_what_is_taken_and_start_moves_slot_one() -> None:
    instance = convert(jobs=3, start=3)
    assert [(job.name, job.arrival) for job in instance.jobs] == [
        (f"{ALPHA} #4", 1),
        (f"{GAMMA} #5", 1),
        (f"{ALPHA} #7", 5),
    ]


def test_lines_are_taken_in_order_of_arrival(edited: Callable[..., Path]) -> None:
    instance = convert(edited("seven.trace.txt", 7, 6, "0.5"), jobs=2)
    assert [job.name for job in instance.jobs] == [f"{ALPHA} #1", f"{ALPHA} #7"]


@pytest.mark.parametrize(
    ("utility", "first", "said"),
    [
        ("effective-throughput", "hyperbolic", "iterations / (1 + duration in slots), the effective throughput"),
        ("equal", "hyperbolic", "1 / (1 + duration in slots), the same for every job"),
        ("finished", "step", "1 for every job that ends"),
    ],
)
def test_the_utility_is_chosen(utility: str, first: str, said: str) -> None:
    instance = convert(utility=utility)
    assert {job.utility.kind for job in instance.jobs} == {first}
    assert instance.origin is not None
    assert instance.origin["utility"] == f"assumed: {said}"
    scales = {job.utility.exact(0) for job in instance.jobs}
    assert scales == ({job.iterations for job in instance.jobs} if utility == "effective-throughput" else {1})


def test_machines_of_a_given_size() -> None:
    instance = convert(cluster={"fast": 5, "slow": 2}, per_machine=2)
    assert [(machine.name, machine.devices) for machine in instance.machines] == [
        ("fast-1", {"fast": 2}),
        ("fast-2", {"fast": 2}),
        ("fast-3", {"fast": 1}),
        ("slow-1", {"slow": 2}),
    ]


def test_an_instance_survives_its_file(tmp_path: Path) -> None:
    instance = convert(slot_seconds="7/3")
    instance.save(tmp_path / "instance.json")
    assert Instance.load(tmp_path / "instance.json") == instance


def test_unconsolidated_types_can_be_asked_for() -> None:
    instance = convert(cluster={"slow_unconsolidated": 2})
    assert [job.name for job in instance.jobs] == [f"{ALPHA} #3"]
    assert instance.jobs[0].rate == {"slow_unconsolidated": Fraction(5, 2)}


@pytest.mark.parametrize(
    ("line", "column", "value", "message"),
    [
        (2, 1, "Delta", "line 2, column 1 (model): 'Delta' is not a model of throughputs.json"),
        (2, 1, "", "line 2, column 1 (model): must not be empty"),
        (3, 5, "-240", "line 3, column 5 (total steps): '-240' must be a positive integer"),
        (3, 5, "0", "line 3, column 5 (total steps): '0' must be a positive integer"),
        (3, 5, "nan", "line 3, column 5 (total steps): 'nan' must be a positive integer"),
        (3, 5, "1e3", "line 3, column 5 (total steps): '1e3' must be a positive integer"),
        (1, 6, "-1", "line 1, column 6 (arrival): -1 must not be negative"),
        (1, 6, "nan", "line 1, column 6 (arrival): must be a number or a string \"p/q\", not 'nan'"),
        (1, 6, "inf", "line 1, column 6 (arrival): must be a number or a string \"p/q\", not 'inf'"),
        (4, 7, "1.5", "line 4, column 7 (scale factor): '1.5' must be a positive integer"),
        (4, 7, "5", "line 4, column 7 (scale factor): 5 exceeds the 4 devices of the whole cluster"),
        (6, 7, "3", "line 6, column 1 (model): 'Beta (batch size 4)' at scale factor 3 has no throughput above 0"),
        (5, 6, "1000", "line 5, column 6 (arrival): 1000 is in slot 101, after the last slot 10"),
        (2, 3, "a\tb", "line 2: 8 tab-separated columns; line 1 has 7"),
        (1, 3, "a\tb", "line 1: 8 tab-separated columns; a Gavel trace has 7, 10 or 12"),
    ],
)
def test_bad_lines_are_refused(edited: Callable[..., Path], line: int, column: int, value: str, message: str) -> None:
    path = edited("seven.trace.txt", line, column, value)
    kept = [text for i, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if i != 6 or line == 6]
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        convert(path, skip=False)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; a trace has one job a line"),
        ("\n", "line 1: 1 tab-separated columns; a Gavel trace has 7, 10 or 12"),
        ((DATA / "ten.trace.txt").read_text(encoding="utf-8") + "\n", "line 8: 1 tab-separated columns; line 1 has 10"),
    ],
)
def test_bad_traces_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "trace.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        gavel.read_trace(path)
    assert str(refused.value) == f"{path}: {message}"


def test_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_bytes((DATA / "seven.trace.txt").read_bytes().replace(b"\n", b"\r\n"))
    assert gavel.read_trace(path).jobs == gavel.read_trace(DATA / "seven.trace.txt").jobs


def test_a_byte_order_mark_is_no_part_of_a_model_s_name(tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_bytes(b"\xef\xbb\xbf" + (DATA / "seven.trace.txt").read_bytes())
    assert gavel.read_trace(path).jobs == gavel.read_trace(DATA / "seven.trace.txt").jobs


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "must be an object"),
        ({}, "must be an object"),
        ({"fast": []}, "fast: must be an object, not []"),
        ({"fast": {"Alpha": 3}}, "fast.Alpha: must be an object, not 3"),
        ({"fast": {"Alpha": {"null": -1}}}, "fast.Alpha.null: -1 must not be negative"),
        ({"fast": {"Alpha": {"null": float("nan")}}}, "fast.Alpha.null: must be a finite number, not nan"),
        ({"fast": {"Alpha": {"null": "many"}}}, "fast.Alpha.null: must be a number"),
        ({"fast": {"Alpha": {"null": True}}}, "fast.Alpha.null: must be a number, not true or false"),
        ({"fast": {"('Alpha', 0)": {"null": 1}}}, "fast: key \"('Alpha', 0)\" must be \"('model', scale factor)\""),
        ({"fast": {"('Alpha', 1)": {}, "Beta": {}}}, "mixes keys ('model', scale factor) with plain model names"),
    ],
)
def test_bad_throughputs_are_refused(tmp_path: Path, data: object, message: str) -> None:
    path = tmp_path / "throughputs.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        gavel.read_throughputs(path)
    assert str(refused.value).startswith(f"{path}: {message}")


def test_truncated_throughputs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "throughputs.json"
    path.write_text((DATA / "throughputs.json").read_text(encoding="utf-8")[:200], encoding="utf-8")
    with pytest.raises(InputError, match=r"throughputs.json: line \d+ column \d+: not JSON"):
        gavel.read_throughputs(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 8}, "8 jobs asked for; it has 7"),
        ({"jobs": 3, "start": 5}, "3 jobs asked for after passing over 5; it has 7"),
        ({"start": 7}, "no job is left after passing over 7; it has 7"),
        ({"cluster": {"fast": 2, "warp": 1}}, "has no device type 'warp' (of the cluster); it has fast, slow"),
        ({"cluster": {"fast": 0}}, "cluster: fast=0 must have a positive number of devices"),
        ({"cluster": {}}, "cluster: must have a device type"),
        ({"slots": 0}, "slots: 0 must be from 1 to 1000000"),
        ({"slot_seconds": 0}, "slot_seconds: 0 must be positive"),
        ({"slot_seconds": "ten"}, "slot_seconds: must be a number"),
        ({"slot_seconds": 1e300}, "slot_seconds: 1e+300 must be 0 or between 1e-100 and 1e100 in size"),
        ({"jobs": 0}, "jobs: 0 must be positive"),
        ({"per_machine": 0}, "per_machine: 0 must be positive"),
        ({"cluster": {"fast": 200_001}, "per_machine": 2}, "cluster: 100001 machines of 2; at most 100000 are made"),
        ({"start": -1}, "start: -1 must not be negative"),
        ({"start": 5, "jobs": 1, "cluster": {"slow_unconsolidated": 2}}, "no job can be used: 2 without a measurement"),
    ],
)
def test_bad_requests_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        convert(**options)
    assert message in str(refused.value)


def test_cluster_text() -> None:
    assert parse_cluster("v100=2, p100=3,k80=1") == {"v100": 2, "p100": 3, "k80": 1}


@pytest.mark.parametrize(
    "text", ["", "v100=2,p100", "v100=2,,k80=1", "v100=0", "v100=-1", "v100=2.5", "=3", "v100=2,v100=1"]
)
def test_bad_cluster_text_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^cluster: "):
        parse_cluster(text)
