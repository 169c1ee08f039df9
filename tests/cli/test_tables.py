"""Tables for people: what they do in a terminal that is too narrow for them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dlsched.cli import output
from tests.cli.cases import h2, save
from tests.cli.conftest import Command

COLUMNS = ("policy", *(f">measure {k}" for k in range(12)), "note")
ROWS = [("fifo", *(1234.5 + k for k in range(12)), ""), ("srtf", *(0.25 for _ in range(12)), "")]


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    """Return what prints a table in 80 columns and gives its lines."""

    def printed(title: str, columns: Sequence[str], rows: list[tuple[object, ...]]) -> list[str]:
        monkeypatch.setenv("COLUMNS", "80")
        output.table(title, columns, rows)
        return re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out).splitlines()

    return printed


def test_rows_become_columns_where_numbers_would_be_broken(narrow: Callable[..., list[str]]) -> None:
    lines = narrow("Wide", COLUMNS, ROWS)
    assert max(map(len, lines)) <= 80
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if line.startswith("│")]
    assert cells == [[f"measure {k}", f"{1234.5 + k:g}", "0.25"] for k in range(12)]
    assert lines[2].replace("┃", " ").split() == ["policy", "fifo", "srtf"]


def test_what_fits_stays_as_it_is(narrow: Callable[..., list[str]]) -> None:
    lines = narrow("Fits", COLUMNS[:4], [row[:4] for row in ROWS])
    assert sum(line.startswith("│") for line in lines) == 2


def parts(lines: Sequence[str]) -> list[list[list[str]]]:
    """Return the cells below the heads of tables that stand below each other."""
    found: list[list[list[str]]] = []
    for line in lines:
        if line.startswith("\u250f"):
            found.append([])
        elif line.startswith("\u2502"):
            found[-1].append([cell.strip() for cell in line.split("\u2502")[1:-1]])
    return found


def test_many_rows_are_told_in_parts(narrow: Callable[..., list[str]]) -> None:
    rows = [(f"policy {n}", *(1234.5 + n + k for k in range(12)), "as it is") for n in range(20)]
    lines = narrow("Long", COLUMNS, rows)
    assert max(map(len, lines)) <= 80
    assert not any(line.startswith("\u251c") for line in lines)
    first, *others = parts(lines)
    assert len(others) == 1
    assert [[*cells, *more[1:]] for cells, more in zip(first, others[0], strict=True)] == [
        [f"{cell:g}" if isinstance(cell, float) else cell for cell in row] for row in rows
    ]


@pytest.mark.parametrize("columns", ["14", "20"])
def test_in_a_terminal_for_nothing_else_no_cell_is_lost(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    rows = [(f"row {n}", "feasible", 1234.5678 + n) for n in range(20)]
    output.table("Narrow", ("name", "what it is", ">measure"), rows)
    lines = re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out).splitlines()
    assert max(map(len, lines)) <= int(columns)
    found = parts(lines)
    for k in (1, 2):
        said = "".join(cells[-1] for cells in found[k - 1])
        assert said == "".join(f"{row[k]:.9g}" if k == 2 else row[k] for row in rows)


def test_names_are_broken_where_they_leave_nothing_to_other_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for width, columns, rows in (
        (10, ("", "value"), [("seconds_proved", 1.5), ("value", 7)]),
        (40, ("L" * 45, "b", "c"), [("1", "2", "3")]),
        (20, ("claim", "status"), [("pd-ors/theorem-5-exponent", "violated")]),
    ):
        monkeypatch.setenv("COLUMNS", str(width))
        output.table("Narrow", columns, rows)
        told = re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out)
        assert max(map(len, told.splitlines())) <= width
        lines = [re.split("[\u2502\u2503]", line)[1:-1] for line in told.splitlines() if line[:1] in "\u2502\u2503"]
        said = ["".join(line[k].strip() for line in lines if len(line) > k) for k in range(2)]
        for row in (columns, *rows):
            assert all(any(str(cell) in part for part in said) for cell in row), told


def test_words_stay_whole_where_they_fit(narrow: Callable[..., list[str]]) -> None:
    text = "the bottleneck of a schedule is what it takes from transformations of formulations "
    columns = ("name", "kind of it", ">measured", "what is said")
    lines = narrow("Words", columns, [(f"row {k}", "subproblem", 1.5, text * 2) for k in range(20)])
    assert max(map(len, lines)) <= 80
    said = [line.split("\u2502")[4] for line in lines if line.startswith("\u2502")]
    assert " ".join(" ".join(said).split()) == (text * 40).strip()
    assert lines[2].replace("\u2503", " ").split() == ["name", "kind", "of", "it", "measured", "what", "is", "said"]


@pytest.mark.parametrize(("columns", "widest"), [(None, 80), ("80", 80), ("120", 120), ("160", 160), ("300", 160)])
def test_tables_and_prose_in_a_pipe_are_as_wide_as_columns_says_and_80_without(
    columns: str | None, widest: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS")
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("os.get_terminal_size", unknown)
    output.table("Long", ("name", "text"), [("row", "word " * 100)])
    assert {len(line) for line in capsys.readouterr().out.splitlines()[1:]} == {widest}
    output.prose(["word " * 100])
    assert widest < 110 or max(map(len, capsys.readouterr().out.splitlines())) in range(105, 111)


def unknown(descriptor: int) -> os.terminal_size:
    raise OSError(descriptor)


@pytest.mark.slow
def test_names_that_a_terminal_would_obey_are_shown_as_they_are_written(dlsched: Command, tmp_path: Path) -> None:
    data = h2()
    data["jobs"][0]["name"] = "a\x1b[31m"
    path = save(tmp_path / "i\x1b[2J.json", data)
    for words in (("compare", path, "--policies", "fifo", "--per-job"), ("run", "hadar", path, "--explain")):
        found = dlsched(*words)
        assert found.returncode == 0
        assert r"i\x1b[2J.json" in found.stdout
        assert "\x1b" not in found.stdout
    assert r"a\x1b[31m" in dlsched("compare", path, "--policies", "fifo", "--per-job").stdout
