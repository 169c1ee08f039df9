"""HadarE run as a process: what it answers and writes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlsched.algorithms import hadar_e
from dlsched.models.hadar import Instance
from tests.cli.cases import answer, refusal, save
from tests.cli.conftest import Command

pytestmark = pytest.mark.process


def two_nodes() -> dict[str, Any]:
    """One job of 12 steps on a node that does 4 a slot and one that does 2; worth 9, 6, 3, 1, 1, 1 by slot."""
    return {
        "slots": 6,
        "slot_seconds": 2,
        "device_types": ["fast", "slow"],
        "machines": [{"name": "m1", "devices": {"fast": 1}}, {"name": "m2", "devices": {"slow": 1}}],
        "jobs": [
            {
                "name": "a",
                "arrival": 1,
                "gang": 1,
                "iterations": 12,
                "rate": {"fast": 2, "slow": 1},
                "utility": {"kind": "table", "values": [9, 6, 3, 1, 1, 1]},
            }
        ],
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return save(tmp_path / "instance.json", two_nodes())


@pytest.mark.parametrize(
    ("options", "slots", "utility"),
    [
        ((), 2, 6),  # 4 + 2 steps in each slot
        (("--variant", "printed"), 2, 6),  # all copies run, so that both divisions are one
        (("--copies", 1), 3, 3),  # 4 steps in each slot
        (("--communication", 1), 4, 1),  # a second of each slot is lost: 2 + 1 steps
        (("--restart", "0.5", "--steps", "divisible"), 3, 3),  # 4.5 steps, 6, and 1.5
    ],
)
def test_a_run_is_what_the_hand_finds(
    options: tuple[object, ...], slots: int, utility: int, dlsched: Command, file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "schedule.json"
    report = answer(dlsched("run", "hadar_e", file, "--json", "--out", out, *options))
    assert (report["algorithm"], report["utility"], report["jobs"], report["scheduled"]) == ("hadar_e", utility, 1, 1)
    instance, schedule = Instance.load(file), hadar_e.ForkedSchedule.load(out)
    assert hadar_e.check(instance, schedule) == []
    assert hadar_e.completions(instance, schedule) == {"a": slots}


def test_the_same_file_comes_out_twice(dlsched: Command, file: Path, tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        answer(dlsched("run", "hadar_e", file, "--json", "--out", tmp_path / name))
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


@pytest.mark.parametrize("named", [(), ("hadar",)])
def test_what_a_run_writes_is_checked_and_drawn(
    named: tuple[str, ...], dlsched: Command, file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "forked.json"
    answer(dlsched("run", "hadar_e", file, "--json", "--out", out))
    report = answer(dlsched("check", *named, file, out, "--plot", tmp_path / "check.svg", "--json"))
    assert report == {"violations": [], "utility": 6}
    assert dlsched("plot", "schedule", file, out, "--out", tmp_path / "plot.svg").returncode == 0
    for name in ("check", "plot"):
        assert "2 rounds" in (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
    data = json.loads(out.read_text(encoding="utf-8"))
    data["jobs"]["a"]["slots"]["2"][0]["node"] = "m2"
    broken = dlsched("check", *named, file, save(out, data), "--json")
    assert (broken.returncode, json.loads(broken.stdout)["violations"][0]["rule"]) == (1, "nodes")


def test_what_is_of_another_kind_of_schedule_is_told(dlsched: Command, file: Path, tmp_path: Path) -> None:
    forked, usual = tmp_path / "forked.json", tmp_path / "usual.json"
    for algorithm, out in (("hadar_e", forked), ("hadar", usual)):
        answer(dlsched("run", algorithm, file, "--json", "--out", out))
    told = refusal(dlsched("check", file, forked, "--explain"))
    assert "forked.json is of hadar_e; optima are of hadar" in told
    told = refusal(dlsched("plot", "schedule", file, usual, forked, "--out", tmp_path / "both.svg"))
    assert "forked.json: is of hadar_e, " in told
    assert "usual.json of hadar: " in told
    told = refusal(dlsched("plot", "use", file, forked, "--out", tmp_path / "use.svg"))
    assert "hadar_e does not tell what is in use when" in told


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--copies", 0), "copies: 0 must be at least 1"),
        (("--restart", 1, "--communication", 1), "2 s leave a slot no time to train"),
        (("--consolidation", -1), "consolidation: -1 must "),
        (("--steps", "half"), "half"),
        (("--variant", "derived"), "derived"),
        (("--copies", 2, "--max-job-count", 0), "max_job_count: 0 must be at least 1"),
    ],
)
def test_bad_options_are_refused(options: tuple[object, ...], message: str, dlsched: Command, file: Path) -> None:
    assert message in refusal(dlsched("run", "hadar_e", file, *options))


def test_a_gang_that_no_node_holds_is_refused(dlsched: Command, tmp_path: Path) -> None:
    data = two_nodes()
    data["jobs"][0]["gang"] = 2
    message = refusal(dlsched("run", "hadar_e", save(tmp_path / "wide.json", data)))
    assert "jobs[0]: a makes progress on no single machine with its gang of 2" in message


def test_an_instance_of_another_problem_is_refused(dlsched: Command, tmp_path: Path) -> None:
    other = tmp_path / "smd.json"
    assert dlsched("generate", "smd", "--out", other).returncode == 0
    assert "smd.json: is an instance of smd: slots: required field is missing" in refusal(
        dlsched("run", "hadar_e", other)
    )
    (tmp_path / "broken.json").write_text(json.dumps(two_nodes())[:-5], encoding="utf-8")
    assert "not JSON" in refusal(dlsched("run", "hadar_e", tmp_path / "broken.json"))
