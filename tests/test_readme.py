"""What the README shows is what a user gets: its Python runs, and its commands print what stands there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from dlsched.algorithms import algorithms
from dlsched.cli.main import main
from tests import paths, snippets

pytestmark = pytest.mark.process


ROOT = paths.ROOT
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables stand there as they are printed where nothing tells how wide they may be."""
    monkeypatch.setenv("COLUMNS", "80")


def blocks(language: str) -> list[str]:
    return [text for kind, text in snippets.blocks(README) if kind == language]


def sessions() -> list[snippets.Session]:
    return [snippets.session(text) for text in blocks("console")]


def test_one_install_line_comes_first_and_real_data_next() -> None:
    assert sessions()[0] == [("pip install '.[plot]'", "")]
    assert "../shared/data/gavel" in sessions()[1][0][0]


@pytest.mark.shared_data
def test_real_data_session_and_the_table_below_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    snippets.run(sessions()[1], tmp_path)
    best = schedule_value(tmp_path, "check real.json best.json", "utility", capfd)
    rows = re.findall(r"^\| `([^`]+)` \| (\d+) \| (\d+) % \|$", README, re.MULTILINE)
    assert len(rows) == 5
    for command, utility, share in rows:
        name, *options = command.split()
        value = schedule_value(tmp_path, " ".join(["run", name, "real.json", *options]), "utility", capfd)
        assert (utility, share) == (f"{value:.0f}", f"{100 * value / best:.0f}"), command


def schedule_value(folder: Path, arguments: str, field: str, capfd: pytest.CaptureFixture[str]) -> float:
    capfd.readouterr()
    with chdir(folder / "dlsched"):
        assert main([*arguments.split(), "--json"]) == 0
    return float(json.loads(capfd.readouterr().out)[field])


def marked(number: int) -> Any:
    needs_data = any("../shared" in command for command, _ in sessions()[number])
    return pytest.param(number, marks=pytest.mark.shared_data if needs_data else ())


@pytest.mark.parametrize("number", [marked(number) for number in range(2, len(sessions()))])
def test_session(number: int, tmp_path: Path) -> None:
    if any(command.startswith("make") for command, _ in sessions()[number]):
        assert all(command in {"make verify", "make test"} for command, _ in sessions()[number])
        return
    snippets.run(sessions()[number], tmp_path)


def test_python(tmp_path: Path) -> None:
    code = "\n".join(blocks("python"))
    assert code
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shown = re.findall(r"# prints (.*)$", code, re.MULTILINE)
    assert [line for line in done.stdout.splitlines() if line in shown] == shown


def test_every_algorithm_is_named() -> None:
    """In the row of its room, of what the package has itself."""
    (row,) = re.findall(r"^\| `dlsched\.algorithms` \| (.*) \|$", README, re.MULTILINE)
    named = {name.replace("-", "_") for name in re.findall(r"`([^`]+)`", row)}
    assert {algorithm.name.replace("-", "_") for algorithm in algorithms()} - named == set()
