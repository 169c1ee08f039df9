"""Benchmarks: every way on a small instance, rows in a file, and the page that is made of them."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

import pytest

from benchmarks.__main__ import BENCHMARKS
from benchmarks.benchmark import Benchmark, Outcome, Row
from benchmarks.report import page
from dlsched.models.numbers import agree
from tests import paths

LIMIT = 10.0
GROWTH = [name for name, entry in BENCHMARKS.items() if entry.grows]


SLOW = {"algorithm-1/coarse", *(name for name in BENCHMARKS if name.startswith("dmlrs"))}
"""A Pyomo model for each point of a grid, and programs in three ways."""

LIKE_OTHERS = {
    *("dmlrs/fragmented-12", "dmlrs/fragmented-20", "dmlrs/contended-2", "dmlrs/contended-3", "dmlrs/moderate"),
    "dmlrs/paper-6",
}
"""Of the same ways as others of these."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.long] * (name in LIKE_OTHERS) + [pytest.mark.slow] * (name in SLOW))
        for name in BENCHMARKS
        if name not in GROWTH
    ],
)
def test_every_way_is_measured_on_a_small_instance(name: str) -> None:
    entry = BENCHMARKS[name]
    found = {way: measure(entry.smoke(0), LIMIT) for way, measure in entry.ways.items()}
    proved = [outcome.value for outcome in found.values() if outcome.proved]
    assert all(outcome.phases and min(outcome.phases.values()) >= 0 for outcome in found.values())
    assert all(value is not None and agree(value, proved[0] or 0.0, unit=0.0) for value in proved)


@pytest.mark.slow
@pytest.mark.parametrize("name", GROWTH)
def test_growing_sizes_are_measured(name: str) -> None:
    way, measure = next(iter(BENCHMARKS[name].ways.items()))
    assert int(way) <= 64
    assert measure(0, LIMIT).phases


def test_names_are_given_once() -> None:
    from benchmarks import algorithms, exact

    assert len(BENCHMARKS) == len(exact.BENCHMARKS) + len(algorithms.BENCHMARKS)


TOY = Benchmark(
    name="toy/1",
    title="a toy",
    draw=int,
    smoke=int,
    ways={"own": lambda instance, limit: Outcome({}), "HiGHS": lambda instance, limit: Outcome({})},
    aim="1 s",
)
ROWS = [
    Row("toy/1", "own", 0, Outcome({"first proof": 1.0, "second route": 5.0}, 10.0, 10.0, True), 6.0, 100.0),
    Row("toy/1", "own", 1, Outcome({"first proof": 3.0, "second route": 5.0}, 8.0, 10.0), 8.0, 120.0),
    Row("toy/1", "HiGHS", 0, Outcome({"build": 1.0, "solve": 2.0}, 10.0, 10.0, True), 3.0, 50.0),
    Row("toy/1", "HiGHS", 1, Outcome({"build": 1.0, "solve": 11.0}, None, 12.0), 12.0, 50.0),
]


def test_rows_travel_as_data() -> None:
    assert [Row.parse(row.dump()) for row in ROWS] == ROWS


def test_the_page_compares_with_the_own_way() -> None:
    lines = page([TOY], ROWS).splitlines()
    assert "## toy/1" in lines
    assert "Aim: 1 s." in lines
    assert "| own | 1/2 | 1, 2, 3 | 7 | 5 | 12.50, 25.00 | 1.0000 | 1 | 120 |" in lines
    assert "| HiGHS | 1/2 | 3, 7.5, 12 | 7.5 |  | 0.00, 0.00 | 1.0000 | 3.5 | 50 |" in lines


def test_the_summary_takes_the_best_of_the_others() -> None:
    slower = [replace(row, way="SCIP", outcome=replace(row.outcome, proved=False, bound=11.0)) for row in ROWS[2:]]
    toy = replace(TOY, ways=dict.fromkeys(("own", "own, two processes", "HiGHS", "SCIP"), TOY.ways["own"]))
    lines = page([toy], [*ROWS, *slower, replace(ROWS[0], way="own, two processes")]).splitlines()
    assert "| toy/1 | 1/2 | 3 | 25.00 | 1/2 | no schedule | 3 |" in lines
    unproved = [ROWS[0], slower[0]]
    assert "| toy/1 | 1/1 | 1 | 0/1 | 10.00 | ≥ 3 |" in page([toy], unproved).splitlines()
    behind = [ROWS[1], replace(ROWS[2], seed=1)]
    assert "| toy/1 | 0/1 | 3 | 25.00 | 1/1 | ≤ 1 |" in page([toy], behind).splitlines()
    assert "| toy/1 | 1/2 | 3 | 25.00 | 2/2 | ≤ 1 |" in page([toy], [*ROWS[:3], behind[1]]).splitlines()
    assert "family" not in page([toy], ROWS[:2])
    assert "family" not in page([toy], [*ROWS[:2], replace(ROWS[2], way="a variant")])


def test_what_is_not_measured_anew_stays_on_the_page() -> None:
    other = replace(TOY, name="toy/2")
    moved = [replace(row, benchmark="toy/2", memory=10.0) for row in ROWS]
    before = page([TOY, other], [*ROWS, *moved])
    assert page([TOY, other], [], before) == before
    assert page([TOY, other], moved, page([TOY, other], ROWS)) == before
    assert page([TOY], [], before) == page([TOY], ROWS)
    dearer = [replace(row, memory=11.0) for row in moved]
    assert page([TOY, other], dearer, before) == page([TOY, other], [*ROWS, *dearer])
    assert page([TOY, other], moved[:2], before).count("toy/2") == 1


def test_a_page_whose_summary_has_fewer_columns_is_gone_on_with() -> None:
    other = replace(TOY, name="toy/2")
    proved = [replace(row, benchmark="toy/2") for row in (ROWS[0], ROWS[2])]
    before = page([TOY, other], proved)
    assert "| family | proved | most seconds | others proved | their seconds over own |" in before.splitlines()
    assert page([TOY, other], ROWS, before) == page([TOY, other], [*ROWS, *proved])


def test_a_growing_benchmark_states_its_exponents() -> None:
    squares = [Row("toy/1", str(n), 0, Outcome({"run": 1.0}), n * n / 100, 8.0 * n) for n in (10, 20, 40)]
    cubic = Row("toy/1", "80", 0, Outcome({"run": 1.0}), 8 * 16.0, 8.0 * 40)
    toy = replace(TOY, grows=True, ways={str(n): TOY.ways["own"] for n in (10, 20, 40, 80)})
    told = "Over 2.0 doublings CPU as size^2.00, at last size^2.00; memory as size^1.00, at last size^1.00."
    assert told in page([toy], squares).splitlines()
    assert "CPU as size^2.30, at last size^3.00; memory as size^0.70, at last size^0.00." in page(
        [toy], [*squares, cubic]
    )
    assert "doublings" not in page([toy], squares[:1])
    assert "doublings" not in page([TOY], ROWS)


PAGE = (paths.ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
REACH = (paths.ROOT / "docs" / "reach.md").read_text(encoding="utf-8")

FAMILIES = [
    *("hadar/8", "hadar/12", "hadar/20", "hadar/40"),
    *("ddljs/10-10-20-normal", "ddljs/10-10-20-tight", "ddljs/20-20-20-normal", "ddljs/20-20-20-tight"),
    *("ddljs/abilene", "ddljs/nsfnet ddljs/geant2001", "ddljs-slot/50-20-tight"),
    *("dmlrs/fragmented-10", "dmlrs/fragmented-12", "dmlrs/fragmented-20"),
    *("dmlrs/moderate", "dmlrs/contended-3", "dmlrs/contended-2", "dmlrs/paper-6"),
    *("smd/200-5-sync smd/200-5-async", "knapsack/100-5-0.25", "knapsack/100-5-0.5 knapsack/100-5-0.75"),
    *("knapsack/250-5-0.5 knapsack/500-5-0.5", "knapsack/100-10-0.5"),
]
"""What is measured in each row of the table of `docs/reach.md`."""


def measured(name: str) -> list[list[str]]:
    """The cells of the table of a benchmark's section, way by way, without its head."""
    section = PAGE.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    return [line[2:-2].split(" | ") for line in section.splitlines() if line.startswith("| ")][2:]


def rounds(told: str, number: str) -> bool:
    """Tell whether a number is another, rounded at its last digit."""
    shown = Decimal(told)
    return abs(shown - Decimal(number)) <= Decimal(5).scaleb(shown.as_tuple().exponent - 1)


def test_the_page_is_as_it_would_be_written() -> None:
    """Its introduction is the code's, and its summary what the sections say of the first way."""
    empty = page([], [])
    assert PAGE.startswith(empty.rstrip("\n"))
    head = PAGE.partition("\n## ")[0]
    summary = [line[2:-2].split(" | ") for line in head.splitlines() if line.startswith("| ")][2:]
    assert len(summary) > 30
    for name, proved, seconds, *_ in summary:
        own = measured(name)[0]
        assert (proved, seconds) == (own[1], own[2].split(", ")[-1]), name


@pytest.mark.parametrize(("row", "names"), list(enumerate(FAMILIES)))
def test_what_is_told_of_reach_is_what_was_measured(row: int, names: str) -> None:
    """A number is one of those in the sections, rounded; of a range only the greater end stands there."""
    _, proved, own, others = [line for line in REACH.splitlines() if line.startswith("| ")][row + 1][2:-2].split(" | ")
    sections = [measured(name) for name in names.split()]
    firsts = [section[0] for section in sections]
    if all(len(set(cells[1].split("/"))) == 1 for cells in firsts):
        assert proved.startswith(("all", "yes"))
        most = [cells[2].split(", ")[-1] for cells in firsts]
        told = re.findall(r"[\d.]+(?= s)", own)
        assert all(any(rounds(one, number) for one in told) for number in most), most
    numbers = re.findall(r"\d+(?:\.\d+)?", " ".join(" ".join(way[1:]) for section in sections for way in section))
    ranges = r"[\d.]+ to |\d+ of \d+|[\d.]+ % and more|\(seed 0\)"
    for told in re.findall(r"\d*\.?\d+", re.sub(ranges, "", f"{own} {others}")):
        assert any(rounds(told, number) for number in numbers), told


def test_what_is_told_of_memory_is_what_was_measured() -> None:
    told, more = re.findall(r"below (\d+) MB on all of these, but for 500 items \((\d+) MB\)", REACH)[0]
    heads = {name: PAGE.partition(f"\n## {name}\n")[2].split("\n| ")[1] for name in " ".join(FAMILIES).split()}
    columns = {name: head.split("\n")[0][:-2].split(" | ").index("MB") for name, head in heads.items()}
    most = {name: int(measured(name)[0][k]) for name, k in columns.items()}
    assert most.pop("knapsack/500-5-0.5") == int(more)
    assert int(told) - 10 <= max(most.values()) < int(told)
