"""A seeded sample of the audit, and the audit itself: it resumes, repeats one case, and survives what a case does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import paths
from tests.audit.case import Case, Fault
from tests.audit.families import FAMILIES, case
from tests.audit.progress import Progress
from tests.audit.worker import Result, Worker, run

pytestmark = pytest.mark.process

ROOT = paths.ROOT

SAMPLES = {
    "optimum/hadar": 2,
    "optimum/smd": 3,
    "optimum/dmlrs": 2,
    "optimum/dmlrs-async": 1,
    "optimum/ddljs": 3,
    "floats/hadar": 1,
    "floats/smd": 3,
    "floats/dmlrs": 1,
    "floats/dmlrs-async": 1,
    "floats/ddljs": 2,
    "inputs/instance": 15,
    "inputs/schedule": 15,
    "inputs/witness": 10,
    "inputs/topology": 20,
    "inputs/gavel": 20,
    "inputs/command": 2,
}
"""Cases of each family that the tests run; all the others are for `make audit`."""


@pytest.mark.parametrize("family", SAMPLES)
def test_sample(family: str) -> None:
    found = {}
    for seed in range(SAMPLES[family]):
        title, faults = run(lambda seed=seed: case(family, seed))
        if faults:
            found[seed] = title, faults
    assert not found


@pytest.mark.parametrize("family", FAMILIES)
def test_a_seed_always_gives_the_same_case(family: str) -> None:
    first, second = case(family, 3), case(family, 3)
    assert first.title == second.title
    assert json.dumps(first.shown) == json.dumps(second.shown)
    assert json.dumps(first.shown) != json.dumps(case(family, 4).shown)


def test_what_a_case_raises_is_a_fault() -> None:
    def broken() -> list[Fault]:
        raise OverflowError("too\nlarge")

    assert run(lambda: Case("broken", {}, broken)) == ("broken", [Fault("exception", "OverflowError: too large")])


def test_a_case_that_takes_too_long_is_ended_and_the_next_one_runs() -> None:
    worker = Worker()
    try:
        slow = worker.check("floats/hadar", 1, 0.0)
        assert [fault.kind for fault in slow.faults] == ["hang"]
        assert worker.check("inputs/gavel", 1, 60.0).faults == ()
    finally:
        worker.stop()


def audit(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.audit", *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, encoding="utf-8"
    )


def test_an_audit_goes_on_from_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "audit.sqlite"
    with Progress(path) as progress:
        fault = Fault("wrong", "kept from before")
        progress.add(Result("inputs/gavel", 0, "planted", (fault,), 0.5))
    found = audit("inputs/gavel", "--cases", 3, "--jobs", 1, "--out", path, "--json")
    assert found.returncode == 1, found.stderr
    report = json.loads(found.stdout)
    assert report["cases"] == {"inputs/gavel": 3}
    assert report["faults"] == {"inputs/gavel": {"wrong": 1}}
    (failing,) = report["failing"]
    assert (failing["seed"], failing["title"]) == (0, "planted")
    with Progress(path) as progress:
        assert progress.done() == {("inputs/gavel", seed) for seed in range(3)}


def test_an_audit_without_faults_ends_with_a_table(tmp_path: Path) -> None:
    found = audit("inputs/gavel", "--cases", 2, "--jobs", 1, "--out", tmp_path / "audit.sqlite")
    assert found.returncode == 0, found.stderr
    assert "inputs/gavel" in found.stdout


def test_one_case_is_printed_and_run() -> None:
    found = audit("--case", "inputs/topology", 5, "--json")
    assert found.returncode == 0, found.stderr
    shown = json.loads(found.stdout)
    assert shown["case"] == case("inputs/topology", 5).shown
    assert shown["faults"] == []


@pytest.mark.parametrize("seed", [1359, 1601])
def test_a_job_that_must_run_and_cannot_is_no_fault_in_any_unit(seed: int) -> None:
    _, faults = run(lambda: case("optimum/ddljs", seed))
    assert faults == []
