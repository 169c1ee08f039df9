"""`dlsched explain`: a conflict, an optimum, and requests that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlsched.models import hadar
from tests.cli.cases import answer, complaint, h2, refusal, s3, save
from tests.cli.conftest import Command


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    return save(tmp_path / "crowded.json", hadar.preset("benchmark", 0, jobs=6, machines=2, types=2, slots=3).dump())


@pytest.mark.slow
def test_a_conflict_is_told(dlsched: Command, crowded: Path) -> None:
    result = dlsched("explain", "hadar/aggregate", crowded, "--full", "once")
    assert result.returncode == 0
    assert result.stdout.startswith("These cannot hold together; without any one of them there is a point:\n")
    assert "(1d) capacity: devices of a type in the cluster" in result.stdout
    data = answer(dlsched("explain", "hadar/aggregate", crowded, "--full", "once", "--json"))
    assert data["conflict"]["irreducible"]
    assert {side["equation"] for side in data["conflict"]["sides"]} >= {"(1a)", "(1d)"}


@pytest.mark.slow
def test_an_optimum_is_told(dlsched: Command, crowded: Path) -> None:
    data = answer(dlsched("explain", "hadar/aggregate", crowded, "--json"))
    assert data["conflict"] is None
    assert data["objective"] == pytest.approx(answer(dlsched("optimum", "hadar", crowded, "--json"))["value"])


def test_requests_that_are_refused(dlsched: Command, crowded: Path) -> None:
    told = refusal(dlsched("explain", "hadar/aggregate", crowded, "--full", "onc"))
    assert told.startswith("unknown constraint 'onc'; there are ")
    assert "is nonlinear" in refusal(dlsched("explain", "smd/minlp", crowded))


@pytest.mark.slow
def test_what_turned_a_job_away(dlsched: Command, crowded: Path) -> None:
    data = answer(dlsched("run", "hadar", crowded, "--explain", "--json"))
    told = data["turned away"]
    assert len(told) == data["jobs"] - data["scheduled"]
    assert all(row["reason"] for row in told)
    people = dlsched("run", "hadar", crowded, "--explain")
    assert people.stdout.startswith("Turned away\n  job ")
    refused = complaint(dlsched("run", "hadar", crowded, "--mode", "rounds", "--explain"))
    assert refused.startswith("the run does not decide once for each job")


@pytest.mark.slow
def test_why_a_schedule_is_not_better(dlsched: Command, crowded: Path, tmp_path: Path) -> None:
    assert dlsched("run", "hadar", crowded, "--out", tmp_path / "s.json").returncode == 0
    data = answer(dlsched("check", crowded, tmp_path / "s.json", "--explain", "--json"))
    found = data["explanation"]
    assert found["bound"] == pytest.approx(answer(dlsched("optimum", crowded, "--json"))["bound"])
    assert found["gap"] == pytest.approx((found["bound"] - data["utility"]) / data["utility"])
    assert "Why it is not better" in dlsched("check", crowded, tmp_path / "s.json", "--explain").stdout


@pytest.mark.slow
def test_what_a_unit_more_of_rows_is_worth(dlsched: Command, tmp_path: Path) -> None:
    file = save(tmp_path / "s3.json", s3())
    data = answer(dlsched("explain", "smd/milp", file, "--raise", "capacity[gpu]", "--json"))
    (raised,) = data["raised"]
    larger = s3()
    larger["capacity"]["gpu"] += 1
    best = answer(dlsched("optimum", save(tmp_path / "larger.json", larger), "--json"))["value"]
    assert raised["objective"] == pytest.approx(best)
    assert raised["change"] == pytest.approx(best - 481 / 105)
    told = refusal(dlsched("explain", "smd/milp", file, "--raise", "capacities"))
    assert told == "no constraint with an upper limit is called capacities"


@pytest.mark.slow
def test_what_one_more_device_is_worth(dlsched: Command, tmp_path: Path) -> None:
    """The job on the slow device finishes at once as it is; on a third fast one it would take as long."""
    file = save(tmp_path / "two.json", h2())
    data = answer(dlsched("explain", "hadar/hall", file, "--one-more", "--json"))
    assert {row["resource"]: row["least"] for row in data["one more"]["more"]} == {"fast": 0, "slow": 0}
    assert "With one more of a resource" in dlsched("explain", "hadar/hall", file, "--one-more").stdout
