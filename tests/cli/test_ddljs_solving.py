"""The command on DDLJS: models, the optimum and the algorithms, on good input and bad."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from dlsched.models import catalog
from tests.cli.cases import answer, refusal, ring, save
from tests.cli.conftest import Command

FORMULATIONS = [entry.name for entry in catalog() if entry.problem == "ddljs"]


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A file with two servers and a job that needs both: worth sqrt(2)."""
    return save(tmp_path / "two.json", ring())


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMULATIONS)
def test_solve(dlsched: Command, two: Path, name: str) -> None:
    data = answer(dlsched("solve", name, two, "--json"))
    assert data["status"] == "optimal"
    assert data["objective"] == pytest.approx(math.sqrt(2), rel=1e-6)


def test_a_log_utility_at_nothing(dlsched: Command, tmp_path: Path) -> None:
    data = ring()
    data["jobs"][0]["utility"] = {"kind": "log", "scale": 1, "offset": 0}
    file = save(tmp_path / "log.json", data)
    assert "minus infinity" in refusal(dlsched("run", "gadget", file))
    assert answer(dlsched("optimum", "ddljs", file, "--json"))["value"] == pytest.approx(math.log(2))
    data["nodes"] = [{"name": "a"}, {"name": "b"}]
    found = answer(dlsched("optimum", "ddljs", save(tmp_path / "none.json", data), "--json"))
    assert (found["value"], found["proved"]) == (None, True)


def test_a_problem_is_told_by_the_file(dlsched: Command, tmp_path: Path) -> None:
    file = save(tmp_path / "other.json", {"slots": 1, "machines": []})
    message = refusal(dlsched("run", "fifo", file))
    assert ": fifo runs on ddljs" in message
    assert message.endswith("; this is an instance of none of them")


@pytest.mark.slow
def test_placements_that_a_formulation_cannot_express(dlsched: Command, tmp_path: Path) -> None:
    data = ring()
    data["jobs"][0]["placement"] = [["a"], ["b"]]
    file = save(tmp_path / "placed.json", data)
    assert "placement" in refusal(dlsched("solve", "ddljs/offline", file))
    assert answer(dlsched("solve", "ddljs/gvne", file, "--json"))["objective"] == pytest.approx(math.sqrt(2))
    assert json.loads(dlsched("optimum", "ddljs", file, "--json").stdout)["value"] == pytest.approx(math.sqrt(2))
