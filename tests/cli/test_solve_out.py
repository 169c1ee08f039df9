"""`dlsched solve`: from a solved model to a schedule in a file, its picture, and the duals of rows."""

from __future__ import annotations

import json
from pathlib import Path

import highspy
import pytest

from dlsched.models import build, hadar
from tests.cli.cases import answer, h2, refusal, s3, save
from tests.cli.conftest import Command


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return save(tmp_path / "two.json", h2())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hadar/p1", "hadar/p1-admission", "hadar/p2", "hadar/aggregate", "hadar/hall"])
def test_the_schedule_of_a_solved_model_is_checked(dlsched: Command, tmp_path: Path, two: Path, name: str) -> None:
    found = answer(dlsched("solve", name, two, "--out", tmp_path / "s.json", "--json"))
    assert found["objective"] == pytest.approx(17)
    checked = answer(dlsched("check", "hadar", two, tmp_path / "s.json", "--json"))
    assert checked == {"violations": [], "utility": pytest.approx(17)}


@pytest.mark.slow
def test_its_picture(dlsched: Command, tmp_path: Path, two: Path) -> None:
    process = dlsched("solve", "hadar/hall", two, "--plot", tmp_path / "s.png")
    assert process.returncode == 0
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")


def test_no_schedule_is_no_file(dlsched: Command, tmp_path: Path) -> None:
    crowded = h2()
    crowded["jobs"][0]["iterations"] = 1000
    file = save(tmp_path / "crowded.json", crowded)
    process = dlsched("solve", "hadar/p1", file, "--out", tmp_path / "s.json", "--plot", tmp_path / "s.png")
    assert process.returncode == 0
    assert process.stderr.count("is not written: there is no feasible schedule") == 2
    assert not (tmp_path / "s.json").exists()


@pytest.mark.slow
def test_duals_are_those_of_the_linear_program(dlsched: Command, two: Path) -> None:
    found = answer(dlsched("solve", "hadar/p3", two, "--duals", "--json"))
    assert found["objective"] == pytest.approx(17)
    assert all(row["equation"] == "(3a)" and row["row"].startswith("reduced_utility[") for row in found["duals"])
    worth = build("hadar/p3", hadar.Instance.parse(h2())).utility.extract_values()
    sides = {f"reduced_utility[{job},{k}]": worth[job, k] for job, k in worth}
    assert sum(row["dual"] * sides[row["row"]] for row in found["duals"]) == pytest.approx(17)
    people = dlsched("solve", "hadar/p3", two, "--duals")
    assert "reduced_utility[a," in people.stdout
    assert "duals" not in answer(dlsched("solve", "hadar/p3", two, "--json"))


def test_rows_of_an_either_or_keep_their_names(dlsched: Command, two: Path) -> None:
    found = answer(dlsched("solve", "hadar/p1-admission", two, "--relax", "--duals", "--json"))
    assert found["duals"]
    assert not any("pyomo" in row["row"] for row in found["duals"])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("hadar/p3", "--out", "s.json"), "--out: hadar/p3 is a relaxation: its points are no schedules"),
        (("hadar/response", "--out", "s.json"), "--out: hadar/response is a subproblem: its points are no schedules"),
        (("hadar/hall", "--relax", "--plot", "s.png"), "--plot: a point of a relaxation is no schedule; "),
        (("smd/minlp", "--solver", "scip", "--duals"), "--duals: smd/minlp is nonlinear; linear models have duals"),
    ],
)
def test_requests_that_are_refused(
    dlsched: Command, tmp_path: Path, two: Path, arguments: tuple[str, ...], told: str
) -> None:
    name, *options = arguments
    assert refusal(dlsched("solve", name, two, *options)).startswith(told)


@pytest.mark.slow
def test_names_that_a_format_cannot_tell_apart(dlsched: Command, tmp_path: Path, two: Path) -> None:
    data = json.loads(two.read_text())
    for job, name in zip(data["jobs"], ("a-b", "a b"), strict=True):
        job["name"] = name
    path = save(tmp_path / "names.json", data)
    done = dlsched("show", "hadar/hall", path, "--lp", "m.lp", "--mps", "m.mps", "--json")
    assert done.returncode == 0
    assert done.stderr.count("names differ in symbols alone") == 2
    for name in ("m.lp", "m.mps"):
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.readModel(str(tmp_path / name))
        highs.run()
        value = answer(dlsched("solve", "hadar/hall", path, "--json"))["objective"]
        assert abs(highs.getInfo().objective_function_value) == pytest.approx(value)


@pytest.mark.slow
def test_the_algebra_as_a_file(dlsched: Command, tmp_path: Path, two: Path) -> None:
    process = dlsched("show", "hadar/p1", two, "--latex", tmp_path / "p1.tex")
    assert process.returncode == 0
    text = (tmp_path / "p1.tex").read_text(encoding="utf-8")
    assert text.startswith("\\documentclass")
    assert "\\tag*{(1d)}" in text


@pytest.mark.slow
def test_what_a_transformation_does_and_the_matrix(dlsched: Command, tmp_path: Path, two: Path) -> None:
    found = answer(dlsched("show", "hadar/p1", two, "--gdp", "bigm", "--diff", "--spy", tmp_path / "m.png", "--json"))
    changed = {(row["kind"], row["name"]): row for row in found["difference"]}
    assert changed["disjunction", "idle_or_gang"]["removed"] == changed["constraint", "idle_or_gang"]["added"] > 0
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")
    assert "What bigm does" in dlsched("show", "hadar/p1", two, "--gdp", "bigm", "--diff").stdout
    assert refusal(dlsched("show", "hadar/hall", two, "--gdp", "bigm", "--diff")).startswith("--diff: goes with --gdp")
    file = save(tmp_path / "smd.json", s3())
    assert refusal(dlsched("show", "smd/minlp", file, "--spy", "m.png")).startswith("--spy: smd/minlp is nonlinear")


@pytest.mark.slow
def test_a_point_of_the_print_that_breaks_a_rule_is_told(dlsched: Command, tmp_path: Path) -> None:
    """By (8) as printed a ring may use a link twice that carries it once."""
    servers = [{"name": name, "capacity": {"gpu": n}} for name, n in (("a", 0), ("b", 1), ("c", 1), ("switch", 0))]
    links = [{"source": "switch", "target": name, "bandwidth": width} for name, width in (("a", 1), ("b", 1), ("c", 3))]
    job = {"arrival": 1, "worker": {"gpu": 1}, "progress": 2, "bandwidth": 1}
    utilities = {"kind": "table", "values": [0, 1, 2, 2, 9, 10, 14, 14, 17]}, {"kind": "sqrt", "scale": 4}
    jobs = [job | {"name": f"job{k}", "max_workers": 2 + k, "utility": utilities[k]} for k in range(2)]
    network = {"slots": 2, "resources": ["gpu"], "nodes": servers, "links": links, "duplex": "half"}
    file = save(tmp_path / "three.json", network | {"jobs": jobs})
    files = {option: tmp_path / name for option, name in (("--out", "s.json"), ("--plot", "s.png"))}
    process = dlsched("solve", "ddljs/offline-printed", file, *(part for item in files.items() for part in item))
    assert process.returncode == 0, process.stderr
    assert "the schedule breaks a rule: " in process.stderr
    assert "(8) bandwidth" in process.stderr
    assert "s.png is not written: the schedule breaks rules" in process.stderr
    assert dlsched("check", "ddljs", file, files["--out"]).returncode == 1
