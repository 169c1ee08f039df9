"""`dlsched explain`: a conflict, an optimum, and requests that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlsched.models import hadar
from tests.cli.cases import answer, refusal, save
from tests.cli.conftest import Command


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    return save(tmp_path / "crowded.json", hadar.preset("benchmark", 0, jobs=6, machines=2, types=2, slots=3).dump())


def test_a_conflict_is_told(dlsched: Command, crowded: Path) -> None:
    result = dlsched("explain", "hadar/aggregate", crowded, "--full", "once")
    assert result.returncode == 0
    assert result.stdout.startswith("These cannot hold together; without any one of them there is a point:\n")
    assert "(1d) capacity: devices of a type in the cluster" in result.stdout
    data = answer(dlsched("explain", "hadar/aggregate", crowded, "--full", "once", "--json"))
    assert data["conflict"]["irreducible"]
    assert {side["equation"] for side in data["conflict"]["sides"]} >= {"(1a)", "(1d)"}


def test_an_optimum_is_told(dlsched: Command, crowded: Path) -> None:
    data = answer(dlsched("explain", "hadar/aggregate", crowded, "--json"))
    assert data["conflict"] is None
    assert data["objective"] == pytest.approx(answer(dlsched("optimum", "hadar", crowded, "--json"))["value"])


def test_requests_that_are_refused(dlsched: Command, crowded: Path) -> None:
    told = refusal(dlsched("explain", "hadar/aggregate", crowded, "--full", "onc"))
    assert told.startswith("unknown constraint 'onc'; there are ")
    assert "is nonlinear" in refusal(dlsched("explain", "smd/minlp", crowded))
