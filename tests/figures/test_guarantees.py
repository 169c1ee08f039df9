"""What `reproduce` promises: the same on any number of processes, nothing drawn twice, one line for bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.longer import longer

COMMAND = str(Path(sys.executable).with_name("dlsched"))
TIMEOUT = 300
PASSED = 8
"""Draws of a run that is to be killed; the next ones wait for ever, so the kill comes in their midst at any speed."""
TOY = """
import os
from dlsched.bounds.comparison import Relation
from dlsched.figures import Figure, Statement

def draw(at, seed):
    with open(os.environ["DRAWN"], "a+") as file:
        file.write(f"{at:g} {seed}\\\\n")
        file.seek(0)
        drawn = len(file.readlines())
    if os.environ["GATE"] and drawn > PASSED:
        open(os.environ["GATE"]).close()
    return {"a": at + seed, "b": at / 3}

FIGURES = Figure(
    name="toy/1", paper="Toy", title="", says="a is above b", x="x", y="y", points=(1, 2, 3), quick=(1,),
    series=("a", "b"), draw=draw, seeds=10, statements=(Statement("a", "a", Relation.AT_LEAST, "b"),),
)
""".replace("\\\\n", "\\n").replace("PASSED", str(PASSED))

Reproduce = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def reproduce(tmp_path: Path) -> Reproduce:
    """Start the command in an empty folder, with a figure of thirty draws that are written down; a gate holds most."""
    (tmp_path / "toy_figure.py").write_text(TOY, encoding="utf-8")
    paths = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))

    def start(*arguments: object, drawn: str = "drawn", gate: Path | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [COMMAND, "reproduce", *map(str, arguments)],
            cwd=tmp_path,
            env={
                **os.environ,
                "OMP_NUM_THREADS": "1",
                "PYTHONPATH": paths,
                "DLSCHED_PLUGINS": "toy_figure",
                "DRAWN": str(tmp_path / drawn),
                "GATE": str(gate or ""),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def told(process: subprocess.Popen[str]) -> str:
    """Return what a command printed that succeeded."""
    out, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0, err
    return out


def refused(process: subprocess.Popen[str]) -> str:
    """Return the one line with which a command was refused."""
    out, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, out) == (2, ""), err
    (line,) = err.splitlines()
    return line.removeprefix("dlsched: error: ")


@pytest.mark.slow
@pytest.mark.process
def test_one_and_two_processes_say_the_same(reproduce: Reproduce, tmp_path: Path) -> None:
    names = ("gadget/7", "pd-ors/5", "toy/1")
    found = []
    for jobs in (1, 2):
        data = json.loads(told(reproduce(*names, "--quick", "--no-pictures", "--json", "--jobs", jobs, "--out", jobs)))
        for each in data:
            tables = [(tmp_path / path).read_bytes() for path in each.pop("files")]
            each["tables"] = [table.decode() for table in tables]
        found.append(data)
    assert found[0] == found[1]
    assert {each["figure"] for each in found[0]} == set(names)
    assert any(statement["verdict"] for each in found[0] for statement in each["statements"])


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("jobs", longer([1, 2], 1))
def test_a_killed_run_goes_on_and_draws_nothing_twice(reproduce: Reproduce, jobs: int, tmp_path: Path) -> None:
    alone = ("toy/1", "--no-pictures", "--jobs", 1, "--out")
    options = (*alone, "f", "--jobs", jobs)
    kept = tmp_path / "f" / "toy-1.jsonl"
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    first = reproduce(*options, gate=gate)
    until = time.monotonic() + TIMEOUT
    while not kept.exists() or kept.read_text(encoding="utf-8").count("\n") < 6:
        assert first.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=TIMEOUT)
    text = kept.read_text(encoding="utf-8")
    before = {(line["x"], line["seed"]) for line in map(json.loads, text[: text.rfind("\n") + 1].splitlines()[1:])}
    assert 5 <= len(before) < 30
    told(reproduce(*options, drawn="again"))
    again = Counter(tuple(map(float, line.split())) for line in (tmp_path / "again").read_text().splitlines())
    assert set(again) == {(x, seed) for x in (1, 2, 3) for seed in range(10)} - before
    assert set(again.values()) == {1}
    told(reproduce(*options, drawn="nothing"))
    assert not (tmp_path / "nothing").exists()
    told(reproduce(*alone, "whole", drawn="whole.txt"))
    assert (tmp_path / "f" / "toy-1.csv").read_bytes() == (tmp_path / "whole" / "toy-1.csv").read_bytes()


@pytest.mark.process
def test_bad_input_is_one_line(reproduce: Reproduce, tmp_path: Path) -> None:
    line = refused(reproduce("smd/77"))
    assert line.startswith("unknown figure 'smd/77'; ")
    assert "smd/7" in line.partition("; ")[2]
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    assert refused(reproduce("pd-ors/5", "--out", "file")) == "file: File exists"
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"
    assert refused(reproduce("pd-ors/5", "--seeds", "-1")).startswith("Invalid value for '--seeds': ")
    (tmp_path / "f").mkdir()
    other = tmp_path / "f" / "pd-ors-5.jsonl"
    other.write_text('{"figure": "smd/7"}\n', encoding="utf-8")
    line = refused(reproduce("pd-ors/5", "--out", "f"))
    assert line == "f/pd-ors-5.jsonl: was made with figure 'smd/7', not 'pd-ors/5'; use another folder"
    assert other.read_text(encoding="utf-8") == '{"figure": "smd/7"}\n'
