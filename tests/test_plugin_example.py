"""The example of a package with a sixth paper: installed beside this one, it has every command."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests import forks, paths, snippets
from tests.forks import OWN, Fresh
from tests.longer import longer

pytestmark = pytest.mark.process

EXAMPLE = paths.ROOT / "examples" / "plugin"
Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with what this one has, and the example installed into it alone."""
    folder = tmp_path_factory.mktemp("plugin")
    source = shutil.copytree(EXAMPLE, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    offline = ("--no-index", "--no-deps", "--no-build-isolation")
    subprocess.run([*pip, "wheel", *offline, "-w", folder / "wheel", source], check=True)
    environment = folder / "environment"
    venv.create(environment, with_pip=False)
    (wheel,) = (folder / "wheel").iterdir()
    site = Path(sysconfig.get_path("purelib", vars={"base": str(environment), "platbase": str(environment)}))
    subprocess.run([*pip, "install", *offline, "--target", site, wheel], check=True)
    here = [path for path in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")) if path]
    (site / "beside.pth").write_text("\n".join(dict.fromkeys(here)))
    return environment / "bin" / "python"


@pytest.fixture(scope="module")
def beside(python: Path) -> Iterator[Fresh]:
    """A process of that environment with all modules of this package, and nothing of the example yet."""
    with Fresh(OWN, python) as process:
        yield process


@pytest.fixture
def dlsched(beside: Fresh, tmp_path: Path) -> Command:
    """Run the command of that environment in a fresh process and an empty folder."""
    return partial(beside.run, forks.COMMAND, folder=tmp_path)


def answer(process: subprocess.CompletedProcess[str], code: int = 0) -> Any:
    assert process.returncode == code, process.stderr
    return json.loads(process.stdout)


@pytest.fixture
def tight(tmp_path: Path, dlsched: Command) -> Path:
    """Graham's own example for two machines: list scheduling needs 3, the optimum is 2."""
    (tmp_path / "durations.txt").write_text("2\n1 1 2\n")
    assert dlsched("convert", "durations", "durations.txt", "--out", "tight.json").returncode == 0
    return tmp_path / "tight.json"


def _statements(text: str) -> list[ast.stmt]:
    """Return the statements of a module, without docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return tree.body


def _shows(one: ast.stmt, own: ast.stmt) -> bool:
    """Tell whether a page's piece is this statement; of a class it may leave something out, an expression is a part."""
    if isinstance(one, ast.ClassDef) and isinstance(own, ast.ClassDef):
        return one.name == own.name and set(map(ast.dump, one.body)) <= set(map(ast.dump, own.body))
    if isinstance(one, ast.Expr):
        return any(ast.dump(node) == ast.dump(one.value) for node in ast.walk(own))
    return ast.dump(one) == ast.dump(own)


def test_what_its_page_shows_stands_in_it_in_this_order() -> None:
    page = (paths.ROOT / "docs" / "add-a-paper.md").read_text(encoding="utf-8")
    own = _statements((EXAMPLE / "graham.py").read_text(encoding="utf-8"))
    shown = [one for language, text in snippets.blocks(page) if language == "python" for one in _statements(text)]
    assert {type(one) for one in shown} >= {ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.Assign, ast.Expr}
    places = [[k for k, other in enumerate(own) if _shows(one, other)] for one in shown]
    assert [ast.unparse(one) for one, place in zip(shown, places, strict=True) if not place] == []
    assert [place[0] for place in places] == sorted(place[0] for place in places)


def test_it_is_short() -> None:
    assert sum(len(file.read_text().splitlines()) for file in EXAMPLE.iterdir() if file.is_file()) <= 250


def test_it_is_listed(python: Path) -> None:
    command = [python, "-m", "dlsched", "list", "--json"]
    listed = answer(subprocess.run(command, capture_output=True, text=True, check=False))
    assert "graham" in listed["problems"]
    assert "graham/assignment" in [entry["name"] for entry in listed["formulations"]]
    assert [entry["name"] for entry in listed["algorithms"] if entry["problem"] == "graham"] == [
        *("list-scheduling", "lpt")
    ]
    assert {"graham/lpt", "graham/any-list"} <= {entry["id"] for entry in listed["claims"]}


def test_its_model_and_its_optimum(dlsched: Command, tight: Path) -> None:
    shown = answer(dlsched("show", "graham/assignment", tight, "--json"))
    assert {component["equation"] for component in shown["components"]} == {"(1)", "(2)", "(3)"}
    assert answer(dlsched("solve", "graham/assignment", tight, "--json"))["objective"] == 2
    found = answer(dlsched("optimum", "graham", tight, "--json"))
    assert (found["value"], found["bound"], found["proved"]) == (2, 2, True)
    assert len(found["evidence"]) >= 2


def test_its_algorithms_and_its_checker(dlsched: Command, tight: Path, tmp_path: Path) -> None:
    assert answer(dlsched("run", "lpt", tight, "--json"))["utility"] == 2
    assert dlsched("run", "list-scheduling", tight, "--out", "plan.json").returncode == 0
    assert answer(dlsched("check", "graham", tight, "plan.json", "--json")) == {"violations": [], "utility": 3}
    (tmp_path / "plan.json").write_text('{"problem": "graham", "jobs": {"job1": 3}}')
    assert len(answer(dlsched("check", "graham", tight, "plan.json", "--json"), 1)["violations"]) == 3


def test_instances_are_drawn_and_bad_ones_refused(dlsched: Command, tmp_path: Path) -> None:
    drawn = answer(dlsched("generate", "graham", "--jobs", 3, "--machines", 2, "--seed", 1))
    assert (len(drawn["jobs"]), drawn["machines"]) == (3, 2)
    (tmp_path / "bad.txt").write_text("2\n1 x\n")
    refused = dlsched("convert", "durations", "bad.txt")
    assert (refused.returncode, refused.stderr) == (
        2,
        "dlsched: error: bad.txt: 'x' is not a positive whole number\n",
    )
    refused = dlsched("optimum", "graham", "bad.txt")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1


def test_its_claims_with_several_processes_and_their_witnesses(dlsched: Command, tmp_path: Path) -> None:
    claims = ("graham/list-scheduling", "graham/lpt", "graham/any-list", "--instances", 30, "--json")
    tables = [answer(dlsched("verify", *claims, "--jobs", jobs, "--out", f"{jobs}.sqlite")) for jobs in (1, 2)]
    assert tables[0] == tables[1]
    outcomes = {row["id"]: row["outcome"] for row in tables[0]["claims"]}
    assert outcomes == dict.fromkeys(claims[:3], "as expected")
    witness = next((tmp_path / "witnesses").iterdir())
    assert answer(dlsched("replay", witness, "--json"))["reproduced"] is True


def test_a_mistake_in_it_is_told_with_its_place(dlsched: Command, tmp_path: Path) -> None:
    text = (EXAMPLE / "graham.py").read_text().replace('"graham', '"slip').replace('"durations"', '"slip-durations"')
    text = text.replace("measure=lambda facts: lpt(facts.instance).utility", "measure=lambda facts: 1 / 0")
    text = text.replace('{"random": random}', '{"random": lambda rng: None}')
    (tmp_path / "slip.py").write_text(text)
    ended = dlsched("--plugin", "slip", "verify", "slip/lpt", "--instances", 3, "--out", "v.sqlite")
    told = ["of the claim slip/lpt (printed)", "on draw 0 of slip/small, seed 0"]
    way_on = "v.sqlite has the verdicts so far, and the same call goes on from them"
    assert (ended.returncode, ended.stderr.splitlines()[-3:]) == (70, [*told, way_on])
    ended = dlsched("--plugin", "slip", "generate", "slip")
    last = "TypeError: what preset random of slip returns: expected a slip.Instance, got None"
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (70, last)


EMPTY = {
    "the builder of idle/assignment": (
        "return m\n",
        "m\n",
        "solve",
        "expected a pyomo.core.base.block.Block, got None",
    ),
    "the reader of idle/assignment": ("return Schedule(", "Schedule(", "optimum", "expected a schedule, got None"),
    "the utility of idle": (
        "return Fraction(max(loads))",
        "return str(max(loads))",
        "optimum",
        "expected a numbers.Real, got '2'",
    ),
    "reader idle-durations": ("return of(int", "of(int", "convert", "expected an idle.Instance, got None"),
}


@pytest.mark.parametrize("what", EMPTY)
def test_what_returns_nothing_of_use_is_named(dlsched: Command, tight: Path, tmp_path: Path, what: str) -> None:
    right, wrong, verb, told = EMPTY[what]
    text = (EXAMPLE / "graham.py").read_text().replace('"graham', '"idle').replace('"durations"', '"idle-durations"')
    assert text.count(right) == 1
    (tmp_path / "idle.py").write_text(text.replace(right, wrong))
    (tmp_path / "own.json").write_text(tight.read_text())
    (tmp_path / "own.txt").write_text("2 1 1")
    words = {
        "solve": ("idle/assignment", "own.json"),
        "optimum": ("idle", "own.json"),
        "convert": ("idle-durations", "own.txt"),
    }
    ended = dlsched("--plugin", "idle", verb, *words[verb])
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (70, f"TypeError: what {what} returns: {told}")


LPT = ("graham/lpt", 120, 0, 7, [2, 2, 2, 3, 3])


@pytest.mark.parametrize(
    ("claim", "instances", "seed", "measured", "durations"),
    longer([("graham/list-scheduling", 45, 1, 3, [1, 1, 2]), LPT], LPT),
)
def test_attack_finds_the_tight_instances(
    dlsched: Command, claim: str, instances: int, seed: int, measured: int, durations: list[int]
) -> None:
    found = answer(dlsched("attack", claim, "--instances", instances, "--seed", seed, "--json"))
    assert (found["status"], found["measured"], found["nearness"]) == ("holds", measured, 1)
    assert found["instance"]["machines"] == 2
    assert sorted(job["duration"] for job in found["instance"]["jobs"]) == durations


def test_attack_finds_a_small_violation(dlsched: Command) -> None:
    found = answer(dlsched("attack", "graham/any-list", "--instances", 40, "--out", "broken.json", "--json"))
    assert found["status"] == "violated"
    assert len(found["instance"]["jobs"]) == 3
    assert answer(dlsched("replay", "broken.json", "--json"))["reproduced"] is True
