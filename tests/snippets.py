"""Commands and Python of a page, run as a reader would, and what they print beside what stands there."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir, redirect_stdout
from pathlib import Path
from tempfile import TemporaryFile

from dlsched.cli.main import main
from tests import paths

Session = list[tuple[str, str]]
"""Commands with what they print."""

_BLOCK = re.compile(
    r"^```(?:\{code-block\} python\n:caption: )?(python|console|\w+\.py)\n(.*?)^```$", re.DOTALL | re.MULTILINE
)
_NEEDS_A_SHELL = re.compile(r"[|<>&;$*`]")
_TIMING = re.compile(r"seconds|found after|proved after")
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: str) -> list[tuple[str, str]]:
    """Return the language and the text of each block of a page; of a piece of a file, the file's name and the text."""
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
    for command, printed in commands:
        with chdir(place(folder)):
            code, output, errors = (_here if _is_own(command) else _in_a_shell)(command)
        assert code in (0, 1), errors
        if printed.strip():
            assert steady(output) == steady(printed), command


def _is_own(command: str) -> bool:
    """Tell whether it is this package's alone, and needs no shell: a process of its own would take a second more."""
    own = command.startswith("dlsched ") and "--plugin" not in command
    return own and not _NEEDS_A_SHELL.search(command)


def _here(command: str) -> tuple[int, str, str]:
    with TemporaryFile("w+", encoding="utf-8") as output, redirect_stdout(output):
        code = main(shlex.split(command)[1:])
        output.seek(0)
        return code, output.read(), f"{command}: {code}"


def _in_a_shell(command: str) -> tuple[int, str, str]:
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    shell = ["bash", "-c", command]
    done = subprocess.run(shell, env=environment, capture_output=True, text=True, check=False, timeout=300)
    return done.returncode, done.stdout, done.stderr


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
