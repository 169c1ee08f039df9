"""The command on DMLRS: every verb on good input, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlsched.models import catalog
from dlsched.models.dmlrs import PRESETS, Instance
from tests import paths
from tests.cli.cases import answer, refusal, save
from tests.cli.conftest import Command

GOLDEN = json.loads((paths.GOLDEN / "dmlrs.json").read_text())
D3 = next(case["instance"] for case in GOLDEN["instances"] if case["name"] == "D3")
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


def test_the_external_problem_of_a_job(dlsched: Command, dmlrs: Path) -> None:
    """J2 has one sample in two slots: half a sample a slot takes one external worker, and one server if asked for."""
    right = answer(dlsched("solve", "dmlrs/external-slot", dmlrs, "--job", "J2", "--json"))["objective"]
    printed = answer(dlsched("solve", "dmlrs/external-slot-printed", dmlrs, "--job", "J2", "--json"))["objective"]
    assert right > printed > 0
    assert refusal(dlsched("solve", "dmlrs/external-slot", dmlrs, "--job", "z")).endswith(
        "job: 'z' is not a job of the instance"
    )


@pytest.mark.parametrize("name", [entry.name for entry in catalog() if entry.problem == "dmlrs"])
def test_show(dlsched: Command, dmlrs: Path, thesis: Path, name: str) -> None:
    shown = dlsched("show", name, thesis if name.startswith("dmlrs/async") else dmlrs)
    assert shown.returncode == 0
    assert "(" in shown.stdout


def test_the_thesis(dlsched: Command, thesis: Path) -> None:
    assert answer(dlsched("solve", "dmlrs/async", thesis, "--json"))["objective"] == pytest.approx(5)
    assert answer(dlsched("optimum", "dmlrs", thesis, "--json"))["value"] == 5
    assert answer(dlsched("run", "pd_ors", thesis, "--json"))["utility"] in (0, 5)
    assert "use dmlrs/async" in refusal(dlsched("solve", "dmlrs/compact", thesis))


def test_optimum_check_and_picture(dlsched: Command, tmp_path: Path, dmlrs: Path) -> None:
    data = answer(dlsched("optimum", "dmlrs", dmlrs, "--out", "best.json", "--json"))
    assert data["proved"]
    assert data["value"] == pytest.approx(OPTIMUM)
    checked = answer(dlsched("check", "dmlrs", dmlrs, "best.json", "--plot", "best.svg", "--json"))
    assert checked == {"violations": [], "utility": data["value"]}
    assert "<svg" in (tmp_path / "best.svg").read_text()


def test_check_a_schedule_that_breaks_rules(dlsched: Command, tmp_path: Path, dmlrs: Path) -> None:
    machine = D3["machines"][0]["name"]
    plan = {"problem": "dmlrs", "jobs": {"J1": {"slots": {"1": {machine: {"workers": 3, "servers": 2}}}}}}
    data = answer(dlsched("check", "dmlrs", dmlrs, save(tmp_path / "plan.json", plan), "--json"), code=1)
    assert {violation["rule"] for violation in data["violations"]} == {
        "(2) servers",
        "(4) workers",
        "(5) capacity",
    }


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        ("pd_ors", ()),
        ("pd_ors", ("--external", "greedy", "--prices", "repaired")),
        ("pd_ors", ("--external", "lp-rounding", "--gain", "packing", "--delta", ".5", "--rounds", "5")),
        ("pd_ors", ("--external", "lp-rounding", "--gain", "1.1", "--program", "samples")),
        ("pd_ors", ("--variant", "printed")),
        ("fifo", ()),
        ("drf", ()),
        ("dorm", ()),
        ("oasis", ()),
    ],
)
def test_run(dlsched: Command, dmlrs: Path, algorithm: str, options: tuple[str, ...]) -> None:
    data = answer(dlsched("run", algorithm, dmlrs, *options, "--seed", 5, "--out", "plan.json", "--json"))
    assert data["utility"] <= OPTIMUM + 1e-9
    assert answer(dlsched("check", "dmlrs", dmlrs, "plan.json", "--json")) == {
        "violations": [],
        "utility": data["utility"],
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("pd_ors", "--delta", "2"), "delta"),
        (("pd_ors", "--gain", "much"), "gain: 'much' is neither a number nor one of 1, packing, cover"),
        (("pd_ors", "--prices", "x"), "Invalid value for '--prices'"),
        (("pd_ors", "--prices", "theorem"), "machine"),
        (("pd_ors", "--epsilon", ".1"), "No such option: --epsilon"),
        (("fifo", "--external", "exact"), "No such option: --external"),
    ],
)
def test_run_refuses(dlsched: Command, dmlrs: Path, options: tuple[str, ...], message: str) -> None:
    algorithm, *rest = options
    assert refusal(dlsched("run", algorithm, dmlrs, *rest, "--out", "plan.json")).startswith(message)
    assert not dmlrs.with_name("plan.json").exists()


@pytest.mark.parametrize("preset", PRESETS)
def test_generate(dlsched: Command, preset: str) -> None:
    options = ("--preset", preset, "--jobs", 3, "--machines", 2, "--slots", 4, "--seed", 4)
    instance = Instance.parse(answer(dlsched("generate", "dmlrs", *options)))
    assert (len(instance.jobs), len(instance.machines), instance.slots) == (3, 2, 4)


def test_generate_options(dlsched: Command) -> None:
    made = Instance.parse(answer(dlsched("generate", "dmlrs", "--asynchronous", "--identical", "--capacity", 2)))
    assert made.asynchronous
    assert len({tuple(machine.capacity.items()) for machine in made.machines}) == 1
    assert refusal(dlsched("generate", "dmlrs", "--preset", "paper", "--mix", "x")) == (
        "mix: 'x' must be one of default, google"
    )
    assert refusal(dlsched("generate", "dmlrs", "--units", 3)).startswith("No such option: --units")


def test_bad_instance(dlsched: Command, tmp_path: Path) -> None:
    data = json.loads(json.dumps(D3))
    data["jobs"][1]["workers_per_server"] = 0
    path = save(tmp_path / "bad.json", data)
    message = "jobs[1].workers_per_server: 0 must be positive"
    assert refusal(dlsched("optimum", "dmlrs", path, "--out", "x.json")) == f"{path}: {message}"
    assert [file.name for file in tmp_path.iterdir()] == ["bad.json"]


def test_verify_and_replay(dlsched: Command, tmp_path: Path) -> None:
    data = answer(dlsched("verify", "pd-ors/theorem-5", "--instances", 4, "--jobs", 1, "--out", "v.sqlite", "--json"))
    assert [row["outcome"] for row in data["claims"]] == ["as expected"] * 2
    witness = sorted((tmp_path / "witnesses").iterdir())[0]
    assert answer(dlsched("replay", witness, "--json"))["reproduced"]
    assert answer(dlsched("replay", "pd-ors-theorem-6-whole-machine", "--json"))["reproduced"]
