"""Without an extra: what does not need it is answered, and one line says what to install."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.cli.cases import answer, best, save
from tests.cli.conftest import Command, on_a_full_disk
from tests.forks import COMMAND, OTHERS, Fresh

pytestmark = pytest.mark.process

WITHOUT = """
import sys
from importlib.machinery import PathFinder

class Elsewhere(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        extra = name.partition(".")[0] in ("matplotlib", "pyscipopt", "dask", "distributed")
        return None if extra else PathFinder.find_spec(name, path, target)

sys.meta_path = [Elsewhere if finder is PathFinder else finder for finder in sys.meta_path]
"""


@pytest.fixture(scope="module")
def no_extras() -> Iterator[Fresh]:
    """A process where no extra is installed."""
    with Fresh(f"{WITHOUT}{OTHERS}") as process:
        yield process


@pytest.fixture
def without_extras(no_extras: Fresh) -> Command:
    """Run the command where no extra is installed."""
    return partial(no_extras.run, COMMAND)


def advice(process: subprocess.CompletedProcess[str]) -> str:
    assert process.returncode == 2, process.stderr
    (line,) = process.stderr.splitlines()
    return line


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_picture_without_matplotlib_costs_nobody_the_verdict(
    without_extras: Command, tmp_path: Path, instance: Path, schedule: Path, options: tuple[str, ...]
) -> None:
    process = without_extras("check", "hadar", instance, schedule, "--plot", tmp_path / "picture.png", *options)
    assert advice(process) == "dlsched: error: a plot needs matplotlib: pip install 'dlsched[plot]'"
    plain = without_extras("check", "hadar", instance, schedule, *options)
    assert (plain.returncode, plain.stdout) == (0, process.stdout)
    assert not (tmp_path / "picture.png").exists()


@pytest.mark.parametrize("verb", [("check", "hadar"), ("compare",), ("solve", "hadar/hall"), ("plot", "schedule")])
def test_what_no_picture_can_be_written_into_is_refused_before_any_work(
    verb: tuple[str, ...], instance: Path, schedule: Path
) -> None:
    files = [schedule] if verb[0] in ("check", "plot") else []
    option = "--out" if verb[0] == "plot" else "--plot"
    arguments = map(str, [*verb, instance, *files, option, "picture.gif"])
    process = subprocess.run([sys.executable, "-m", "dlsched", *arguments], capture_output=True, text=True, check=False)
    assert advice(process) == "dlsched: error: picture.gif: pictures are written as pdf, png, svg, not gif"
    assert process.stdout == ""


@pytest.mark.parametrize("verb", [("optimum", "hadar"), ("run", "hadar")])
def test_a_schedule_that_cannot_be_written_costs_nobody_the_result(
    no_extras: Fresh, tmp_path: Path, instance: Path, verb: tuple[str, str]
) -> None:
    words = (*verb, instance, "--json", "--out", tmp_path / "best.json")
    process = no_extras.run(on_a_full_disk(), *words)
    assert advice(process).endswith(f"{tmp_path}/best.json: File too large")
    result = answer(process, 2)
    assert result.get("value", result.get("utility")) == 17.0


def test_scip_without_pyscipopt(without_extras: Command, instance: Path) -> None:
    process = without_extras("solve", "hadar/hall", instance, "--solver", "scip")
    assert advice(process) == "dlsched: error: solver scip needs PySCIPOpt: pip install 'dlsched[certify]'"
    assert process.stdout == ""


def test_what_needs_no_extra(without_extras: Command, tmp_path: Path, instance: Path) -> None:
    schedule = save(tmp_path / "schedule.json", best())
    assert answer(without_extras("optimum", "hadar", instance, "--json"))["proved"]
    assert answer(without_extras("solve", "hadar/hall", instance, "--json"))["objective"] == 17.0
    assert answer(without_extras("check", "hadar", instance, schedule, "--json"))["utility"] == 17.0
    verified = without_extras("verify", "hadar/initial-dual", "--instances", "0", "--jobs", "1", "--json")
    assert verified.returncode in (0, 1), verified.stderr
