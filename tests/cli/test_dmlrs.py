"""The command on DMLRS: every verb on good input, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlsched.models import catalog
from dlsched.models.dmlrs import Instance
from tests.cli.cases import D3, answer, refusal, save
from tests.cli.conftest import Command

OPTIMUM = 12


def asynchronous() -> dict[str, Any]:
    """One job, two machines: two workers beside the server's machine, worth 5 if they finish in the only slot."""
    job = {
        "name": "a",
        "arrival": 1,
        "epochs": 1,
        "chunks": 2,
        "minibatches_per_chunk": 1,
        "slots_per_minibatch": 1,
        "gradient_size": 0,
        "internal_rate": 2,
        "external_rate": 1,
        "server_rate": 4,
        "worker": {"gpu": 1},
        "server": {"gpu": 1},
        "utility": {"kind": "table", "values": [5]},
    }
    machines = [{"name": "m1", "capacity": {"gpu": 2}}, {"name": "m2", "capacity": {"gpu": 1}}]
    return {"slots": 1, "resources": ["gpu"], "machines": machines, "jobs": [job]}


@pytest.fixture
def dmlrs(tmp_path: Path) -> Path:
    """A file with D3 of the golden instances."""
    return save(tmp_path / "dmlrs.json", D3)


@pytest.fixture
def thesis(tmp_path: Path) -> Path:
    """A file with `asynchronous`."""
    return save(tmp_path / "async.json", asynchronous())


EXACT = ["dmlrs/compact", "dmlrs/compact-milp", "dmlrs/schedules"]


@pytest.mark.parametrize("name", EXACT)
def test_solve_the_exact_formulations(dlsched: Command, dmlrs: Path, name: str) -> None:
    data = answer(dlsched("solve", name, dmlrs, "--json"))
    assert data["status"] == "optimal"
    assert data["objective"] == pytest.approx(OPTIMUM)


@pytest.mark.parametrize("name", ["dmlrs/aggregate", "dmlrs/dual"])
def test_solve_the_relaxations(dlsched: Command, dmlrs: Path, name: str) -> None:
    assert answer(dlsched("solve", name, dmlrs, "--json"))["objective"] >= OPTIMUM - 1e-6


@pytest.mark.slow
def test_the_external_problem_of_a_job(dlsched: Command, dmlrs: Path) -> None:
    """J2 has one sample in two slots: half a sample a slot takes one external worker, and one server if asked for."""
    right = answer(dlsched("solve", "dmlrs/external-slot", dmlrs, "--job", "J2", "--json"))["objective"]
    printed = answer(dlsched("solve", "dmlrs/external-slot-printed", dmlrs, "--job", "J2", "--json"))["objective"]
    assert right > printed > 0
    assert refusal(dlsched("solve", "dmlrs/external-slot", dmlrs, "--job", "z")).endswith(
        "unknown job 'z'; there are J1, J2, J3"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", [entry.name for entry in catalog() if entry.problem == "dmlrs"])
def test_show(dlsched: Command, dmlrs: Path, thesis: Path, name: str) -> None:
    shown = dlsched("show", name, thesis if name.startswith("dmlrs/async") else dmlrs)
    assert shown.returncode == 0
    assert "(" in shown.stdout


@pytest.mark.slow
def test_the_thesis(dlsched: Command, thesis: Path) -> None:
    assert answer(dlsched("solve", "dmlrs/async", thesis, "--json"))["objective"] == pytest.approx(5)
    assert answer(dlsched("optimum", "dmlrs", thesis, "--json"))["value"] == 5
    assert answer(dlsched("run", "pd_ors", thesis, "--json"))["utility"] in (0, 5)
    assert "use dmlrs/async" in refusal(dlsched("solve", "dmlrs/compact", thesis))


@pytest.mark.slow
def test_generate_options(dlsched: Command) -> None:
    made = Instance.parse(answer(dlsched("generate", "dmlrs", "--asynchronous", "--identical", "--capacity", 2)))
    assert made.asynchronous
    assert len({tuple(machine.capacity.items()) for machine in made.machines}) == 1
    assert refusal(dlsched("generate", "dmlrs", "--preset", "paper", "--mix", "x")) == (
        "mix: 'x' must be one of default, google"
    )
    assert refusal(dlsched("generate", "dmlrs", "--units", 3)).startswith("No such option: --units")


@pytest.mark.slow
def test_verify_and_replay(dlsched: Command, tmp_path: Path) -> None:
    data = answer(dlsched("verify", "pd-ors/theorem-5", "--instances", 4, "--jobs", 1, "--out", "v.sqlite", "--json"))
    assert [row["outcome"] for row in data["claims"]] == ["as expected"] * 2
    witness = sorted((tmp_path / "witnesses").iterdir())[0]
    assert answer(dlsched("replay", witness, "--json"))["reproduced"]
    assert answer(dlsched("replay", "pd-ors-theorem-6-whole-machine", "--json"))["reproduced"]
