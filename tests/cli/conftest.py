"""The command, called in this process or started as one of its own, and files for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir
from functools import partial
from pathlib import Path

import pytest

from dlsched.cli.main import main
from tests import forks
from tests.cli.cases import best, h2, save
from tests.forks import Fresh

COMMAND = str(Path(sys.executable).with_name("dlsched"))
TIMEOUT = 300
ORDINARY = ("setpriv", "--bounding-set=-dac_override") if os.geteuid() == 0 else ()
"""What a command begins with for whom modes count: root may write everywhere."""

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def dlsched(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Command:
    """Call the command in an empty folder and return what a process would do (`test_process` compares the two)."""

    def run(*arguments: object, folder: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        capfd.readouterr()
        words = [*map(str, arguments)]
        with chdir(folder):
            code = main(words)
        return subprocess.CompletedProcess(words, code, *capfd.readouterr())

    return run


def on_a_full_disk(size: int = 100) -> str:
    """Return a script of the command for which no file may grow beyond some bytes, which a full disk does too."""
    return f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size})); {forks.COMMAND}"


@pytest.fixture
def as_process(fresh: Fresh, tmp_path: Path) -> Command:
    """Run the command in a fresh process and an empty folder: what it loads, it loads there alone."""
    return partial(fresh.run, forks.COMMAND, folder=tmp_path)


def started(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command as a process in a folder and return what it did."""
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=TIMEOUT,
        check=False,
    )


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    """A file with `h2`."""
    return save(tmp_path / "instance.json", h2())


@pytest.fixture
def schedule(tmp_path: Path) -> Path:
    """A file with the optimal schedule of `h2`."""
    return save(tmp_path / "schedule.json", best())
