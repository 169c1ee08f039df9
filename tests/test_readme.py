"""What the README shows is what a user gets: its Python runs, and its commands print what stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TIMING = re.compile(r"seconds|found after|proved after")


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(README) if kind == language]


def sessions() -> list[list[tuple[str, str]]]:
    """Each console block as its commands with what they print."""
    found = []
    for text in blocks("console"):
        session: list[tuple[str, list[str]]] = []
        for line in text.splitlines():
            if line.startswith("$ "):
                session.append((line[2:], []))
            elif session and session[-1][0].endswith("\\"):
                session[-1] = (session[-1][0][:-1] + line.strip(), [])
            else:
                session[-1][1].append(line)
        found.append([(command, "\n".join(printed)) for command, printed in session])
    return found


def steady(text: str) -> str:
    """Drop what differs from run to run: figures on lines about time, and the table's padding."""
    lines = [re.sub(r"[\d.]+", "#", line) if TIMING.search(line) else line for line in text.splitlines()]
    return "\n".join(re.sub(r"[ ━─]+", " ", line).strip() for line in lines if line.strip())


def run(session: list[tuple[str, str]], folder: Path) -> None:
    environment = {**os.environ, "COLUMNS": "120", "PYTHONHASHSEED": "0"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    (folder / "shared").mkdir(exist_ok=True)
    inside = folder / "dlsched"
    if not inside.exists():
        inside.mkdir()
        if (ROOT.parent / "shared").is_dir():
            (folder / "shared").rmdir()
            (folder / "shared").symlink_to(ROOT.parent / "shared")
    for command, printed in session:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=inside,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode in (0, 1), done.stderr
        if printed.strip():
            assert steady(done.stdout) == steady(printed), command


def test_real_data_session_comes_first() -> None:
    assert "../shared/data/gavel" in sessions()[0][0][0]


@pytest.mark.shared_data
def test_real_data_session(tmp_path: Path) -> None:
    run(sessions()[0], tmp_path)


@pytest.mark.parametrize("number", range(1, len(sessions())))
def test_session(number: int, tmp_path: Path) -> None:
    if any(command.startswith("make") for command, _ in sessions()[number]):
        assert all(command in {"make verify", "make test"} for command, _ in sessions()[number])
        return
    run(sessions()[number], tmp_path)


def test_python(tmp_path: Path) -> None:
    code = "\n".join(blocks("python"))
    assert code
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shown = re.findall(r"# prints (.*)$", code, re.MULTILINE)
    assert [line for line in done.stdout.splitlines() if line in shown] == shown
