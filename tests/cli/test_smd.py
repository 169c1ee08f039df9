"""The command on SMD: every verb on good input, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlsched.models import catalog
from dlsched.models.smd import Instance
from tests.cli.cases import answer, refusal, s3, save
from tests.cli.conftest import Command

OPTIMUM = 481 / 105

OF_ONE_JOB = {"smd/inner": 17 / 3, "smd/ratio-box": 5.4904, "smd/ratio-caps": 17 / 3}
"""Of the first job: 6 / 3 + 6 / 2 + 2 / 3 at three workers and two servers; the box also has fractions of them."""


@pytest.fixture
def smd(tmp_path: Path) -> Path:
    """A file with `s3`."""
    return save(tmp_path / "smd.json", s3())


@pytest.mark.slow
@pytest.mark.parametrize("name", [entry.name for entry in catalog() if entry.problem == "smd"])
def test_solve_every_formulation(dlsched: Command, smd: Path, name: str) -> None:
    data = answer(dlsched("solve", name, smd, "--solver", "scip", "--json"))
    assert data["status"] == "optimal"
    assert data["objective"] == pytest.approx(OF_ONE_JOB.get(name, OPTIMUM), abs=1e-4)


@pytest.mark.slow
def test_the_inner_problem_of_a_job(dlsched: Command, smd: Path) -> None:
    data = answer(dlsched("solve", "smd/inner", smd, "--solver", "scip", "--job", "c", "--json"))
    assert data["objective"] == pytest.approx(13)
    shown = dlsched("show", "smd/inner", smd, "--job", "b")
    assert "(12)" in shown.stdout
    assert refusal(dlsched("show", "smd/inner", smd, "--job", "z")).endswith("unknown job 'z'; there are a, b, c")
    assert refusal(dlsched("show", "smd/milp", smd, "--job", "a")) == "--job: smd/milp is of all jobs"


@pytest.mark.parametrize("name", ["smd/minlp", "smd/inner"])
def test_nonlinear_models_need_scip_and_fit_no_linear_file(dlsched: Command, smd: Path, name: str) -> None:
    assert refusal(dlsched("solve", name, smd)) == f"--solver: {name} is nonlinear; use --solver scip (extra certify)"
    message = refusal(dlsched("show", name, smd, "--lp", "out.lp"))
    assert message == f"--lp, --mps: {name} is nonlinear; these files hold linear models"


@pytest.mark.slow
def test_generate_options(dlsched: Command) -> None:
    options = ("--jobs", 2, "--units", 3, "--mode", "async", "--overlap", "priority")
    instance = Instance.parse(answer(dlsched("generate", "smd", "--preset", "paper", *options)))
    training: Any = instance.jobs[0].training
    assert (training.mode, training.overlap) == ("async", "priority")
    assert instance.capacity["gpu"] == 1800
    sizes = ("--resources", 3, "--limit", 4)
    assert len(Instance.parse(answer(dlsched("generate", "smd", *sizes))).resources) == 3
    assert refusal(dlsched("generate", "smd", "--preset", "paper", "--slots", 3)).startswith("No such option: --slots")


def test_a_job_that_can_never_run_is_said_so(dlsched: Command, tmp_path: Path) -> None:
    data = s3()
    data["jobs"][1]["limit"]["gpu"] = 2
    path = save(tmp_path / "smd.json", data)
    evidence = answer(dlsched("optimum", "smd", path, "--json"))["evidence"]
    assert "1 can never be admitted: too little for one worker and one server" in evidence[0]


def test_schema(dlsched: Command) -> None:
    assert set(answer(dlsched("schema", "smd", "--json"))["required"]) == {"resources", "capacity", "jobs"}


@pytest.mark.slow
def test_verify_and_replay_a_packing(dlsched: Command, tmp_path: Path) -> None:
    """Lemma 3's row bounds are about packings, which are no SMD instances."""
    data = answer(dlsched("verify", "smd/lemma-3-row", "--instances", 4, "--jobs", 1, "--out", "v.sqlite", "--json"))
    assert [row["outcome"] for row in data["claims"]] == ["as expected"] * 2
    witness = sorted((tmp_path / "witnesses").iterdir())[0]
    assert answer(dlsched("replay", witness, "--json"))["reproduced"]
