"""The command on DDLJS: generate, convert and check on good input, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlsched.models.ddljs import Instance
from tests import paths
from tests.cli.cases import answer, complaint, refusal, ring, save
from tests.cli.conftest import Command

TOPOLOGY = paths.DATA / "topology"
SMALL = TOPOLOGY / "small.graphml"


def plan(*paths: list[str], **workers: int) -> dict[str, Any]:
    return {"problem": "ddljs", "jobs": {"j": {"slots": {"1": {"workers": workers, "ring": list(paths)}}}}}


@pytest.fixture
def ddljs(tmp_path: Path) -> Path:
    """A file with `ring`."""
    return save(tmp_path / "ddljs.json", ring())


@pytest.mark.slow
def test_generate_options(dlsched: Command, tmp_path: Path) -> None:
    options = ("--shape", "star", "--utility", "sigmoid", "--varying", "--half", "--resources", 2, "--slots", 9)
    drawn = Instance.parse(answer(dlsched("generate", "ddljs", *options)))
    assert drawn.nodes[-1].name == "switch"
    assert {job.utility.kind for job in drawn.jobs} == {"sigmoid"}
    assert drawn.duplex == "half"
    assert drawn.bandwidth_by_slot
    assert len(drawn.resources) == 2
    tight = Instance.parse(answer(dlsched("generate", "ddljs", "--preset", "benchmark", "--tight")))
    assert {int(server.capacity_of("gpu")) for server in tight.servers} == {1, 2}
    written = answer(
        dlsched("generate", "ddljs", "--preset", "paper", "--budget", "iterations", "--out", "p.json", "--json")
    )
    assert written["digest"] == Instance.load(tmp_path / "p.json").digest


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--shape", "torus"), "shape: 'torus' must be one of mesh, star, ring, any"),
        (("--shape", "ring", "--half"), "half: a ring's links have one direction; half is for mesh, star and any"),
        (("--tight",), "--tight: preset random takes "),
        (("--preset", "paper", "--budget", "x"), "budget: 'x' must be one of worker-slots, iterations"),
        (("--preset", "benchmark", "--workers", 1), "workers: 1 must be at least 2"),
        (
            ("--preset", "benchmark", "--servers", 0),
            "Invalid value for '--servers': '0' should be greater than or equal to 1",
        ),
    ],
)
def test_generate_refuses(dlsched: Command, tmp_path: Path, options: tuple[object, ...], message: str) -> None:
    assert refusal(dlsched("generate", "ddljs", *options, "--out", "x.json")).startswith(message)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_check_and_picture(dlsched: Command, tmp_path: Path, ddljs: Path) -> None:
    schedule = save(tmp_path / "plan.json", plan(["a", "b"], ["b", "a"], a=1, b=1))
    checked = answer(dlsched("check", "ddljs", ddljs, schedule, "--plot", "plan.svg", "--json"))
    assert checked == {"violations": [], "utility": pytest.approx(2**0.5)}
    assert "<svg" in (tmp_path / "plan.svg").read_text()
    message = complaint(dlsched("check", "ddljs", ddljs, schedule, "--plot", "plan.gif.txt"))
    assert message.startswith("plan.gif.txt: pictures are written as ")


@pytest.mark.slow
def test_check_refuses(dlsched: Command, tmp_path: Path, ddljs: Path) -> None:
    bad = ring()
    bad["links"][0]["target"] = "z"
    instance = save(tmp_path / "bad.json", bad)
    schedule = save(tmp_path / "plan.json", plan(a=1))
    message = f"{instance}: links[0].target: unknown node 'z'; nodes does not list it"
    assert refusal(dlsched("check", "ddljs", instance, schedule)) == message
    short = save(tmp_path / "short.json", plan(["a"], a=1))
    assert refusal(dlsched("check", "ddljs", ddljs, short)).startswith(f"{short}: jobs.j.slots.1")
    other = save(tmp_path / "other.json", {"problem": "hadar", "jobs": {}})
    assert refusal(dlsched("check", "ddljs", ddljs, other)).startswith(f"{other}: problem: ")


def test_convert_one_network(dlsched: Command, tmp_path: Path) -> None:
    options = ("--bandwidth", "1,2", "--jobs", 3, "--slots", 4, "--seed", 8)
    printed = answer(dlsched("convert", "topology-zoo", SMALL, *options))
    instance = Instance.parse(printed)
    assert (len(instance.nodes), len(instance.jobs), instance.slots) == (4, 3, 4)
    written = answer(dlsched("convert", "topology-zoo", SMALL, *options, "--out", "net.json", "--json"))
    assert written == {"out": "net.json", "digest": instance.digest, "jobs": 3}
    assert json.loads((tmp_path / "net.json").read_text()) == printed
    assert str(TOPOLOGY) not in json.dumps(printed)


def test_convert_several_networks(dlsched: Command, tmp_path: Path) -> None:
    files = SMALL, TOPOLOGY / "directed.graphml"
    (tmp_path / "nets").mkdir()
    options = ("--bandwidth", 5, "--servers", "all", "--gpus", 2)
    written = answer(dlsched("convert", "topology-zoo", *files, *options, "--out", "nets", "--json"))
    assert [entry["out"] for entry in written] == ["nets/small.json", "nets/directed.json"]
    for entry in written:
        instance = Instance.load(tmp_path / entry["out"])
        assert instance.digest == entry["digest"]
        assert {node.capacity_of("gpu") for node in instance.nodes} == {2}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((SMALL,), f"{SMALL}: 1 of 5 edges have no LinkSpeed; give a bandwidth for these"),
        ((SMALL, "--bandwidth", "fast"), "bandwidth: must be a number"),
        ((SMALL, "--bandwidth", 1, "--gpus", "many"), "gpus: 'many' must be a positive whole number"),
        ((SMALL, "--bandwidth", 1, "--servers", "9" * 5000), f"{SMALL}: servers: '999"),
        ((SMALL, "--bandwidth", 1, "--out", "no/such/folder"), "no/such/folder: "),
        ((SMALL, TOPOLOGY / "directed.graphml"), "--out: is missing: several files go into a folder that is there"),
        ((SMALL, SMALL, "--out", "."), f"{SMALL}: would be written as small.json, as {SMALL}"),
        (("no such file",), "no such file: no such file"),
        ((), "Missing argument 'FILE'"),
    ],
)
def test_convert_refuses(dlsched: Command, tmp_path: Path, arguments: tuple[object, ...], message: str) -> None:
    assert refusal(dlsched("convert", "topology-zoo", *arguments)).startswith(message)
    assert list(tmp_path.iterdir()) == []


def test_convert_leaves_nothing_where_one_file_is_bad(dlsched: Command, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yml"
    bad.write_text("nodes: {a: {}}\nedges: [[a, b]]\n", encoding="utf-8")
    message = f"{bad}: edges[0]: 'b' is not a node of the file"
    assert refusal(dlsched("convert", "topology-zoo", SMALL, bad, "--bandwidth", 1, "--out", ".")) == message
    assert list(tmp_path.iterdir()) == [bad]
