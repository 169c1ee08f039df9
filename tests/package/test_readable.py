"""What results say of themselves: text of 80 columns, and tables of HTML that hold what they were given and no more."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pyomo.environ as pyo
import pytest

from dlsched.algorithms import Optimum, compare, compare_policies, optimum, rejections, shortfall
from dlsched.algorithms.hadar import run
from dlsched.bounds import attack, check, replay, verify
from dlsched.models import build, difference, explain, hadar, inspect, solve
from dlsched.readable import WIDTH, Readable, Section, told
from dlsched.relaxations import relax

LONG = "a text of many words " * 20


def results() -> dict[str, Any]:
    instance = hadar.preset("benchmark", 0, jobs=4, machines=2, types=2, slots=4)
    model, full = build("hadar/aggregate", instance), build("hadar/aggregate", instance)
    full.demand = pyo.Constraint(expr=sum(full.completion.values()) >= 4)
    ran, best = run(instance), optimum(instance)
    return {
        "Inspection": inspect(model),
        "Solution": solve(model),
        "Relaxation": relax(model),
        "Difference": difference(model, relax(model).model),
        "Explanation": explain(model, raised=["capacity"]),
        "Conflict": explain(full).conflict,
        "Optimum": best,
        "Run": ran,
        "Rejections": rejections(instance, ran),
        "Shortfall": shortfall(instance, ran.schedule),
        "Comparison": compare(instance),
        "PolicyComparison": compare_policies(instance, ["las", "srtf"], round_seconds=instance.slot_seconds),
        "Verdict": check("hadar/theorem-1", instance),
        "Replay": replay("hadar-theorem-2-lone-job"),
        "Attack": attack("hadar/theorem-1", instances=2),
        "Report": verify(["hadar/theorem-1", "hadar/theorem-2"], instances=2),
    }


NAMES = (
    "Inspection",
    "Solution",
    "Relaxation",
    "Difference",
    "Explanation",
    "Conflict",
    "Optimum",
    "Run",
    "Rejections",
    "Shortfall",
    "Comparison",
    "PolicyComparison",
    "Verdict",
    "Replay",
    "Attack",
    "Report",
)


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return results()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_results_are_short_and_fit_a_terminal(made: dict[str, Any], name: str) -> None:
    result = made[name]
    assert isinstance(result, Readable)
    assert type(result).__name__ == name
    assert "__str__" not in vars(type(result))
    lines = str(result).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert len(lines) < 40
    assert str(result) != repr(result)
    tables = ElementTree.fromstring(f"<all>{result._repr_html_()}</all>")
    cells = [cell.text for cell in tables.iter("td") if cell.text]
    assert {word for cell in cells for word in cell.split()} <= set(str(result).split())


@pytest.mark.slow
def test_they_say_what_was_found(made: dict[str, Any]) -> None:
    best = made["Optimum"]
    assert str(best).startswith("Optimum: proved, exact\n")
    assert f"{best.value:.9g}" in str(best)
    assert f"{made['Run'].utility:.9g}" in str(made["Run"])
    assert str(made["Verdict"]).splitlines()[0].startswith("hadar/theorem-1 (")
    assert "completion" in str(made["Relaxation"])
    assert re.search(r"\(1d\) +capacity +", str(made["Inspection"]))


@pytest.mark.parametrize(
    ("value", "bound", "gap"),
    [(8.0, 10.0, 0.25), (0.0, 0.0, 0.0), (None, None, None), (-2.0, -1.0, 0.5), (5.0, 5.0, 0)],
)
def test_gap_of_an_optimum(value: float | None, bound: float | None, gap: float | None) -> None:
    assert Optimum(value, bound, None, False, (), 0.0, 0.0).gap == gap


def test_gap_to_nothing_is_infinite() -> None:
    assert Optimum(0.0, 1.0, None, False, (), 0.0, 0.0).gap == float("inf")


def test_numbers_stand_below_each_other_and_long_texts_are_broken() -> None:
    lines = Section("title", [("a", 1.5, LONG), ("bcd", 200, "x")], ("", "size", "what")).text().splitlines()
    assert lines[:2] == ["title", "       size  what"]
    assert lines[2].startswith("  a     1.5  a text")
    assert re.fullmatch(r" {13}\S.*", lines[3])
    assert lines[-1] == "  bcd   200  x"
    assert " ".join(line[13:] for line in lines[2:-1]) == LONG.strip()


def test_html_is_escaped() -> None:
    assert Section("a < b", [("<script>", 1)]).html() == (
        "<table><caption>a &lt; b</caption><tbody><tr><td>&lt;script&gt;</td><td>1</td></tr></tbody></table>"
    )


def test_nothing_but_a_title() -> None:
    assert Section("title").text() == "title"


def test_a_terminal_obeys_nothing_that_is_told() -> None:
    """Names of jobs and files may have any characters; lines of a text stay lines."""
    section = Section("of \x1b[31m.json", [("a\x1b[31mb", "\x07"), ("c", "d\te")], ("job", "note"))
    assert section.text() == "of \\x1b[31m.json\n  job         note\n  a\\x1b[31mb  \\x07\n  c           d\\te"
    assert told(["a\nb", "Größe\x9b"]) == "a\nb\nGröße\\x9b"
