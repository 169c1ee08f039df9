"""Commands and Python of a page, run as a reader would, and what they print beside what stands there."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

from tests import paths

Session = list[tuple[str, str]]
"""Commands with what they print."""

_BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_TIMING = re.compile(r"seconds|found after|proved after")
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: str) -> list[tuple[str, str]]:
    """Return the language and the text of each block of a page."""
    return _BLOCK.findall(page)


def session(text: str) -> Session:
    """Return the commands of a console block with what they print."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and found[-1][0].endswith("\\"):
            found[-1] = (found[-1][0][:-1] + line.strip(), [])
        else:
            found[-1][1].append(line)
    return [(command, "\n".join(printed)) for command, printed in found]


def steady(text: str) -> str:
    """Drop what differs from run to run: figures on lines about time, and the table's padding."""
    lines = [re.sub(r"…|[\d.]+(e-\d+)?", "#", line) if _TIMING.search(line) else line for line in text.splitlines()]
    return "\n".join(re.sub(r"[ ━─]+", " ", line).strip() for line in lines if line.strip())


def run(commands: Session, folder: Path) -> None:
    """Run commands in `folder`/dlsched, beside public data where they are there; compare what they print."""
    environment = {**os.environ, "COLUMNS": "120", "PYTHONHASHSEED": "0"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    for command, printed in commands:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=place(folder),
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode in (0, 1), done.stderr
        if printed.strip():
            assert steady(done.stdout) == steady(printed), command


def place(folder: Path) -> Path:
    """Return `folder`/dlsched, made where it is not there: with the examples, and public data beside it."""
    inside, shared = folder / "dlsched", paths.ROOT.parent / "shared"
    if not inside.exists():
        inside.mkdir()
        (inside / "examples").symlink_to(paths.ROOT / "examples")
        if shared.is_dir():
            (folder / "shared").symlink_to(shared)
        else:
            (folder / "shared").mkdir()
    return inside


def run_examples(text: str, name: str, known: dict[str, object], folder: Path) -> None:
    """Run what stands behind ``>>>``, with what is known from before, in a folder."""
    test = doctest.DocTestParser().get_doctest(text, known, name, name, 0)
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=_FLAGS)
    with chdir(folder):
        runner.run(test, out=told.append, clear_globs=False)
    known.update(test.globs)
    assert not told, "".join(told)
