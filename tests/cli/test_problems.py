"""What the command does alike for several problems: optimum, runs, checks and what is refused, each on its own case."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dlsched.models.problem import problem
from tests.cli.cases import D3, answer, h2, refusal, ring, s3, save
from tests.cli.conftest import Command


@dataclass(frozen=True)
class Case:
    """An instance with its optimum, a schedule's jobs that break rules, and a change that makes it no instance."""

    document: dict[str, Any]
    optimum: float
    broken: dict[str, Any]
    rules: set[str]
    spoil: Callable[[dict[str, Any]], object]
    refused: str


CASES = {
    "hadar": Case(
        h2(),
        17,
        {"a": {"slots": {"1": {"m1": {"fast": 3}}}}},
        {"(1e) gang", "(1d) capacity"},
        lambda data: data["jobs"][1].update(gang=4),
        "jobs[1].gang: 4 exceeds the 3 devices of the whole cluster",
    ),
    "dmlrs": Case(
        D3,
        12,
        {"J1": {"slots": {"1": {D3["machines"][0]["name"]: {"workers": 3, "servers": 2}}}}},
        {"(2) servers", "(4) workers", "(5) capacity"},
        lambda data: data["jobs"][1].update(workers_per_server=0),
        "jobs[1].workers_per_server: 0 must be positive",
    ),
    "smd": Case(
        s3(),
        481 / 105,
        {n: {"workers": 3, "servers": 2} for n in ("a", "b")},
        {"(2) capacity", "(3) limit"},
        lambda data: data["jobs"][1]["training"].update(theta=[1, 2]),
        "jobs[1].training.theta: has 2 entries; async training has 4 coefficients",
    ),
    "ddljs": Case(
        ring(),
        math.sqrt(2),
        {"j": {"slots": {"1": {"workers": {"a": 2, "b": 1}, "ring": []}}}},
        {"(2) workers", "(4) capacity", "(9) ring"},
        lambda data: data["links"][0].update(target="z"),
        "links[0].target: unknown node 'z'; nodes does not list it",
    ),
}

RUNS = {
    "hadar": ("hadar", "hadar --variant printed", "hadar --mode rounds", "gavel", "gavel --normaliser isolated"),
    "dmlrs": (
        "pd_ors",
        "pd_ors --external greedy --prices repaired",
        "pd_ors --external lp-rounding --gain packing --delta .5 --rounds 5",
        "pd_ors --external lp-rounding --gain 1.1 --program samples",
        "pd_ors --variant printed",
        "fifo",
        "drf",
        "dorm",
        "oasis",
    ),
    "smd": (
        "smd",
        "smd --inner exact --outer exact",
        "smd --variant printed --gain 1 --epsilon .05 --rounds 3",
        "smd --delta .1 --outer scheme",
        "esw",
        "optimus",
    ),
    "ddljs": (
        "gadget",
        "gadget --variant printed --draws 3",
        "gadget --embedding exact --node-limit 10",
        "gadget --sizes joint --no-idle",
        "gadget --relaxation augmented",
        "fifo",
        "drf",
        "las",
    ),
}
"""Algorithms with options."""

REFUSED_RUNS = {
    "dmlrs": {
        "pd_ors --delta 2": "delta",
        "pd_ors --gain much": "gain: 'much' is neither a number nor one of 1, packing, cover",
        "pd_ors --gain inf": "gain: inf must be finite",
        "pd_ors --external lp-rounding --gain 1e300": "gain: 1e+300 must be at most 1e+06",
        "pd_ors --prices x": "Invalid value for '--prices'",
        "pd_ors --prices theorem": "machine",
        "pd_ors --epsilon .1": "No such option: --epsilon",
        "fifo --external exact": "No such option: --external",
    },
    "smd": {
        "smd --epsilon 0": "epsilon",
        "smd --delta 2": "delta",
        "smd --gain 0": "gain",
        "smd --rounds 0": "rounds: 0 must be at least 1",
        "smd --mode rounds": "No such option: --mode",
        "esw --epsilon .1": "No such option: --epsilon",
    },
    "ddljs": {
        "gadget --draws 0": "draws: 0 must be at least 1",
        "gadget --seconds-per-slot inf": "seconds_per_slot: inf must be finite",
        "fifo --node-limit 3": "No such option: --node-limit",
    },
}


def each(table: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, words) for name, found in table.items() for words in found]


@pytest.fixture
def file(name: str, tmp_path: Path) -> Path:
    """A file with the problem's instance."""
    return save(tmp_path / "instance.json", CASES[name].document)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_optimum_check_and_picture(dlsched: Command, tmp_path: Path, name: str, file: Path) -> None:
    data = answer(dlsched("optimum", name, file, "--out", "best.json", "--json"))
    assert {"problem", "value", "bound", "proved", "seconds", "evidence"} <= set(data)
    assert (data["problem"], data["proved"]) == (name, True)
    assert data["value"] == pytest.approx(CASES[name].optimum)
    assert data["evidence"]
    checked = answer(dlsched("check", name, file, "best.json", "--plot", "best.svg", "--json"))
    assert checked == {"violations": [], "utility": pytest.approx(data["value"])}
    assert "<svg" in (tmp_path / "best.svg").read_text()


@pytest.mark.parametrize("name", CASES)
def test_check_a_schedule_that_breaks_rules(dlsched: Command, tmp_path: Path, name: str, file: Path) -> None:
    plan = save(tmp_path / "plan.json", {"problem": name, "jobs": CASES[name].broken})
    data = answer(dlsched("check", name, file, plan, "--plot", "plan.png", "--json"), code=1)
    assert data["utility"] is None
    assert {violation["rule"] for violation in data["violations"]} == CASES[name].rules
    assert not (tmp_path / "plan.png").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "words"), each(RUNS))
def test_run(dlsched: Command, name: str, words: str, file: Path) -> None:
    algorithm, *options = words.split()
    data = answer(dlsched("run", algorithm, file, *options, "--seed", 5, "--out", "plan.json", "--json"))
    assert (data["algorithm"], data["seed"]) == (algorithm, 5)
    assert {"algorithm", "utility", "seconds"} <= set(data)
    assert 0 <= data["utility"] <= CASES[name].optimum + 1e-9
    if name == "smd" and options.count("exact") == 2:
        assert data["utility"] == pytest.approx(CASES[name].optimum)
    checked = answer(dlsched("check", name, file, "plan.json", "--json"))
    assert checked == {"violations": [], "utility": pytest.approx(data["utility"])}


@pytest.mark.parametrize(("name", "words"), each(REFUSED_RUNS))
def test_run_refuses(dlsched: Command, name: str, words: str, file: Path) -> None:
    algorithm, *options = words.split()
    found = refusal(dlsched("run", algorithm, file, *options, "--out", "plan.json"))
    assert found.startswith(REFUSED_RUNS[name][words])
    assert not file.with_name("plan.json").exists()


SIZES = {
    "hadar": "--slots 9",
    "dmlrs": "--jobs 3 --machines 2 --slots 4",
    "smd": "--jobs 3",
    "ddljs": "--jobs 3 --servers 4 --slots 5 --workers 2",
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "preset"), [(name, preset) for name in CASES for preset in problem(name).families])
def test_generate(dlsched: Command, name: str, preset: str) -> None:
    words = SIZES[name].split()
    made = answer(dlsched("generate", name, "--preset", preset, *words, "--seed", 4))
    digest = problem(name).instance.parse(made).digest
    written = dlsched("generate", name, "--preset", preset, *words, "--seed", 4, "--out", "i.json", "--json")
    assert answer(written) == {"out": "i.json", "digest": digest, "jobs": len(made["jobs"])}
    sizes = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    assert len(made["jobs"]) == sizes.get("--jobs", len(made["jobs"]))
    assert len(made.get("machines", ())) == sizes.get("--machines", len(made.get("machines", ())))
    assert made.get("slots") == sizes.get("--slots")
    if name == "ddljs":
        assert len([node for node in made["nodes"] if node["name"].startswith("server")]) == sizes["--servers"]
        assert all(job["max_workers"] <= sizes["--workers"] for job in made["jobs"])


@pytest.mark.parametrize("name", CASES)
def test_bad_instance(dlsched: Command, tmp_path: Path, name: str) -> None:
    data = json.loads(json.dumps(CASES[name].document))
    CASES[name].spoil(data)
    path = save(tmp_path / "bad.json", data)
    assert refusal(dlsched("optimum", name, path, "--out", "x.json")) == f"{path}: {CASES[name].refused}"
    assert [file.name for file in tmp_path.iterdir()] == ["bad.json"]
