"""Exact certificates as files: written, checked without a solver, refused where they are tampered with."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from tests import paths
from tests.cli.cases import answer, complaint, refusal, save
from tests.cli.conftest import Command
from tests.oracles.vipr import verified


@pytest.fixture
def certificate(dlsched: Command, tmp_path: Path, instance: Path) -> Path:
    """The certificate that 17 is the optimum of `h2`."""
    path = tmp_path / "certificate.json"
    data = answer(dlsched("optimum", "hadar", instance, "--certificate", path, "--json"))
    assert data["certificate"] == str(path)
    assert (data["value"], data["bound"], data["proved"], data["proof"]) == (17, 17, True, "exact")
    return path


def test_two_processes_give_the_same_proof(dlsched: Command, instance: Path) -> None:
    one, two = (answer(dlsched("optimum", "hadar", instance, "--jobs", jobs, "--json")) for jobs in (1, 2))
    assert [two[key] for key in ("value", "bound", "proof")] == [one[key] for key in ("value", "bound", "proof")]


@pytest.mark.slow
def test_certify(dlsched: Command, certificate: Path) -> None:
    data = answer(dlsched("certify", certificate, "--json"))
    assert (data["problem"], data["checks"], data["value"], data["bound"], data["exact"]) == (
        "hadar",
        True,
        17,
        17,
        True,
    )
    text = dlsched("certify", certificate)
    assert text.returncode == 0
    assert "17" in text.stdout


def test_vipr(dlsched: Command, certificate: Path, tmp_path: Path) -> None:
    answer(dlsched("certify", certificate, "--vipr", "tree.vipr", "--json"))
    assert verified((tmp_path / "tree.vipr").read_text()) == ("max", 17)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("field", "value", "place"),
    [
        ("bound", "16", "node 0: its multipliers allow 17"),
        ("value", "18", "schedule: is worth 17"),
        ("nodes", [], "node 0: is missing"),
        ("schedule", {"problem": "hadar", "jobs": {}}, "schedule: is worth 0"),
        ("sha256", "0", "instance: its digest"),
    ],
)
def test_tampered(dlsched: Command, certificate: Path, field: str, value: object, place: str) -> None:
    save(certificate, json.loads(certificate.read_text()) | {field: value})
    data = answer(dlsched("certify", certificate, "--vipr", "tree.vipr", "--json"), 1)
    assert data["checks"] is False
    assert data["refuted"].startswith(place)
    assert not (certificate.parent / "tree.vipr").exists()
    text = dlsched("certify", certificate)
    assert (text.returncode, place in text.stdout) == (1, True)


@pytest.mark.slow
def test_what_is_no_certificate(dlsched: Command, instance: Path, tmp_path: Path) -> None:
    assert "certificate: required field is missing" in refusal(dlsched("certify", instance))
    assert "no such file" in refusal(dlsched("certify", tmp_path / "none.json"))
    (tmp_path / "text.json").write_text("17")
    assert "text.json" in refusal(dlsched("certify", "text.json"))
    (tmp_path / "deep.json").write_text('{"nodes":' + "[" * 100_000 + "]" * 100_000 + "}")
    assert "nested too deeply" in refusal(dlsched("certify", "deep.json"))


@pytest.mark.parametrize("node", [None, 1, "x", []])
def test_a_node_that_is_none(dlsched: Command, certificate: Path, node: object) -> None:
    save(certificate, json.loads(certificate.read_text()) | {"nodes": [node]})
    assert "nodes[0]" in refusal(dlsched("certify", certificate))


def test_none_is_written_where_there_was_no_time(dlsched: Command, instance: Path, tmp_path: Path) -> None:
    done = dlsched("optimum", "hadar", instance, "--certificate", "c.json", "--time-limit", "1e-6", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["evidence"][-1].startswith("not exact: ")
    assert "c.json is not written: there is no exact certificate (not exact: " in done.stderr
    assert json.loads(done.stdout)["certificate"] is None
    assert not (tmp_path / "c.json").exists()


def test_a_problem_that_nobody_has(dlsched: Command, certificate: Path) -> None:
    save(certificate, json.loads(certificate.read_text()) | {"problem": "none"})
    assert refusal(dlsched("certify", certificate)).startswith(
        f"{certificate}: problem: unknown problem 'none'; there are"
    )


def test_time_limit(dlsched: Command, certificate: Path) -> None:
    assert "--time-limit" in complaint(dlsched("certify", certificate, "--time-limit", "1e-9"))


def test_where_there_is_none_it_is_said(dlsched: Command, tmp_path: Path) -> None:
    """Two placements of a kind that circulations do not tell apart: two routes agree, and no tree is tried."""
    data = {
        "slots": 1,
        "resources": ["g"],
        "nodes": [{"name": "a", "capacity": {"g": 2}}],
        "links": [],
        "jobs": [
            {
                "name": "j",
                "arrival": 1,
                "max_workers": 1,
                "worker": {"g": 1},
                "progress": 1,
                "bandwidth": 1,
                "placement": [["a"]],
                "utility": {"kind": "linear", "intercept": 0, "slope": -1},
            }
        ],
    }
    process = dlsched("optimum", "ddljs", save(tmp_path / "placed.json", data), "--certificate", "c.json", "--json")
    found = answer(process)
    assert (found["proved"], found["proof"]) == (True, "agreed")
    assert "c.json is not written" in process.stderr
    assert not (tmp_path / "c.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["false-dmlrs", "false-dmlrs2"])
def test_the_false_certificates_of_old(dlsched: Command, tmp_path: Path, name: str) -> None:
    """The optimum is 5, and that it is 1, as was once proved, no change of the numbers makes a certificate say."""
    data = answer(dlsched("optimum", "dmlrs", paths.GOLDEN / f"{name}.json", "--certificate", "c.json", "--json"))
    assert (data["value"], data["proof"]) == (5, "exact")
    assert answer(dlsched("certify", "c.json", "--json"))["value"] == 5
    document = json.loads((tmp_path / "c.json").read_text())
    assert Fraction(document["bound"]) == 5
    poor = {**document, "schedule": {"problem": "dmlrs", "jobs": {}}, "value": "0"}
    for bound in ("0", "1", "4"):
        save(tmp_path / "c.json", poor | {"bound": bound})
        assert answer(dlsched("certify", "c.json", "--json"), 1)["refuted"].startswith("node ")
