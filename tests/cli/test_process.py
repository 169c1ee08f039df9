"""The command as a process among others: what it imports, prints where, and does when a reader or the user stops it."""

from __future__ import annotations

import importlib
import json
import math
import os
import pty
import re
import select
import signal
import sqlite3
import subprocess
import sys
import time
import tomllib
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from dlsched.cli import interrupt
from dlsched.models.hadar import Instance, Schedule, check, preset, utility
from tests import paths
from tests.cli.cases import h2, save
from tests.cli.conftest import COMMAND, Command, started
from tests.longer import longer

pytestmark = pytest.mark.process


GAVEL = paths.DATA / "gavel"
SPOKEN = (
    "--help",
    "list --json",
    "show hadar/p1 instance.json",
    "solve hadar/aggregate instance.json --json",
    "optimum hadar instance.json --certificate c.json --json",
    "run hadar instance.json --out plan.json",
    "run hadar instance.json --mode odd",
    "compare instance.json hadar gavel --json",
    "check hadar instance.json schedule.json --plot plan.svg --json",
    "verify hadar/positive-prices --instances 2 --out v.sqlite",
    "generate ddljs --jobs 3",
    f"convert gavel --throughputs {GAVEL}/throughputs.json --trace {GAVEL}/seven.trace.txt --cluster fast=2 "
    "--slots 10 --slot-seconds 10 --skip",
)


@pytest.mark.parametrize("words", SPOKEN)
@pytest.mark.usefixtures("instance", "schedule")
def test_a_process_answers_as_a_call_does(dlsched: Command, as_process: Command, words: str) -> None:
    """But for the time that it takes."""
    is_same(dlsched(*words.split()), as_process(*words.split()))


@pytest.mark.parametrize("words", ["--help", SPOKEN[4], "run hadar instance.json --mode odd"])
@pytest.mark.usefixtures("instance")
def test_a_script_answers_as_a_process_does_that_has_loaded_all(
    as_process: Command, tmp_path: Path, words: str
) -> None:
    is_same(as_process(*words.split()), started(tmp_path, *words.split()))


def is_same(called: subprocess.CompletedProcess[str], process: subprocess.CompletedProcess[str]) -> None:
    """Compare what two calls did, but for the time that it took."""
    assert process.returncode == called.returncode
    for first, second in ((called.stdout, process.stdout), (called.stderr, process.stderr)):
        assert without_times(first) == without_times(second)


def without_times(text: str) -> str:
    """Leave out numbers that are not whole, and how wide they make the columns of a table."""
    return re.sub(r"[ \u2500\u2501]+", " ", re.sub(r"\d+\.\d+|\d+e-\d+", "0", text))


HEAVY = ("pyomo", "scipy", "highspy", "networkx", "matplotlib", "pandas", "cvxpy", "pyscipopt")
"""What the work needs, and a list of what there is does not."""


@pytest.mark.parametrize(
    ("words", "heavy"),
    [
        ("--help", ("numpy", "pyomo", "pydantic", "rich", "dlsched.bounds")),
        ("list", HEAVY),
        ("list claims", HEAVY),
    ],
)
def test_nothing_heavy_is_imported(words: str, heavy: tuple[str, ...]) -> None:
    script = f"""
import sys
from dlsched.cli.main import main
code = main({words.split()})
print([name for name in {heavy} if name in sys.modules], code)
"""
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert process.stdout.splitlines()[-1] == "[] 0"


def test_tables_are_printed_where_only_ascii_is(tmp_path: Path) -> None:
    data = h2()
    data["jobs"][0]["name"] = "Größe"
    path = save(tmp_path / "größe.json", data)
    process = subprocess.run(
        [COMMAND, "run", "hadar", path],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert b"gr\\xf6\\xdfe.json" in process.stdout


ANY_SHELL = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
"""Completions are of the shell that is named, whatever the tests are started from."""


PRINTING = longer(["schema hadar", "--help", "solve --help", "--show-completion bash"], "solve --help")
"""What prints by itself, and what Typer prints."""


@pytest.mark.parametrize("words", PRINTING)
def test_a_reader_that_goes_away_is_no_error(words: str, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(
        [COMMAND, *words.split()], stdout=writer, stderr=subprocess.PIPE, cwd=tmp_path, env=ANY_SHELL, check=False
    )
    os.close(writer)
    assert (process.returncode, process.stderr) == (141, b"")


@pytest.mark.parametrize("words", PRINTING)
def test_a_full_disk_costs_a_line(words: str) -> None:
    with open("/dev/full", "wb") as full:
        process = subprocess.run(
            [COMMAND, *words.split()], stdout=full, stderr=subprocess.PIPE, env=ANY_SHELL, check=False
        )
    told = b"dlsched: error: standard output: No space left on device\n"
    assert (process.returncode, process.stderr) == (2, told)


def endless() -> dict[str, Any]:
    """An instance on which the textbook model takes HiGHS minutes."""
    data = h2()
    data["slots"] = 20
    data["machines"] = [{"name": f"m{h}", "devices": {"fast": 2, "slow": 3}} for h in range(3)]
    data["jobs"] = [
        {
            "name": f"j{j}",
            "arrival": 1 + j // 3,
            "gang": 1 + j % 4,
            "iterations": 31 + 7 * j,
            "rate": {"fast": 2 + j % 3, "slow": 1 + j % 2},
            "utility": {"kind": "hyperbolic", "scale": 100 + 13 * j},
        }
        for j in range(12)
    ]
    return data


def interrupted(
    folder: Path, after: bytes, *arguments: object, by: signal.Signals = signal.SIGINT, times: int = 1
) -> tuple[int, bytes, bytes]:
    """Interrupt the command once its terminal has shown a pattern; return its exit code, stdout and terminal."""
    terminal, stderr = os.openpty()
    command = [COMMAND, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, cwd=folder) as process:
        os.close(stderr)
        seen = b""
        while not re.search(after, seen):
            seen += os.read(terminal, 4096)
        for _ in range(times):
            process.send_signal(by)
            time.sleep(0.005)
        while not re.search(rb"dlsched: (interrupted|terminated|hung up)", seen):
            seen += os.read(terminal, 4096)
        out, _ = process.communicate(timeout=60)
    os.close(terminal)
    return process.returncode, out, seen


@pytest.mark.parametrize("options", [(), ("--threads", 10**9)])
def test_an_interrupt_ends_a_solve_with_what_is_known_and_leaves_nothing_behind(
    options: tuple[Any, ...], tmp_path: Path
) -> None:
    path = save(tmp_path / "endless.json", endless())
    arguments = ("solve", "hadar/p1-admission", path, "--time-limit", 200, "--json", *options)
    code, out, seen = interrupted(tmp_path, b"solving hadar/p1-admission", *arguments)
    answer = json.loads(out)
    assert code == 130
    assert answer["status"] in ("feasible", "no_solution")
    if answer["objective"] is not None and answer["bound"] is not None:
        assert answer["objective"] <= answer["bound"]
    assert b"Traceback" not in seen
    assert [file.name for file in tmp_path.iterdir()] == ["endless.json"]


SCRIPT = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]["dlsched"]
STARTS = {
    "module": ("-m", "dlsched"),
    "script": ("-c", "from {0} import {1}; {1}()".format(*SCRIPT.split(":"))),
}


@pytest.mark.parametrize("start", STARTS)
def test_an_interrupt_while_modules_are_imported_ends_in_a_line(start: str, tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n", encoding="utf-8")
    search = os.pathsep.join((str(tmp_path), os.environ.get("PYTHONPATH", "")))
    process = subprocess.run(
        [sys.executable, *STARTS[start], "list"],
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (process.returncode, process.stdout, process.stderr) == (130, b"", b"dlsched: interrupted\n")


STUCK = """
import os, signal, sys
from dlsched.cli.main import main

def fsync(handle):
    # As a disk that hangs: nothing reaches the main thread, and the process is ended from another.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    print("writing", flush=True)
    os.read(os.pipe()[0], 1)

os.fsync = fsync
sys.exit(main(sys.argv[1:]))
"""


def test_an_interrupt_while_a_disk_hangs_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text("old")
    command = [sys.executable, "-c", STUCK, "generate", "hadar", "--out", "old.json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        assert len(list(tmp_path.iterdir())) == 2
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"dlsched: interrupted\n")
    assert [file.name for file in tmp_path.iterdir()] == ["old.json"]
    assert (tmp_path / "old.json").read_text() == "old"


LARGE = {
    "ddljs": {"servers": 50, "jobs": 100, "slots": 200},
    "dmlrs": {"jobs": 200, "machines": 100, "slots": 50},
}


@pytest.mark.parametrize("problem", LARGE)
def test_an_interrupt_ends_an_optimum_that_would_take_hours(problem: str, tmp_path: Path) -> None:
    models, path, best = importlib.import_module(f"dlsched.models.{problem}"), tmp_path / "i.json", tmp_path / "s.json"
    models.preset("benchmark", 0, **LARGE[problem]).save(path)
    arguments = ("optimum", problem, path, "--out", best, "--json")
    code, out, seen = interrupted(tmp_path, b"looking for the optimum", *arguments)
    answer, instance, schedule = json.loads(out), models.Instance.load(path), models.Schedule.load(best)
    assert (code, answer["proved"]) == (130, False)
    assert b"Traceback" not in seen
    assert models.check(instance, schedule) == []
    assert models.utility(instance, schedule) == answer["value"] < answer["bound"]


KEPT = [(signal.SIGINT, 130, 1), (signal.SIGTERM, 143, 1), (signal.SIGTERM, 143, 3), (signal.SIGHUP, 129, 1)]


@pytest.mark.parametrize(("by", "code", "times"), KEPT)
def test_a_signal_keeps_the_best_schedule_found(by: signal.Signals, code: int, times: int, tmp_path: Path) -> None:
    """`timeout` sends one to the process, and one to its group some milliseconds later."""
    path, best = tmp_path / "hard.json", tmp_path / "best.json"
    preset("benchmark", 0, jobs=40, machines=15, slots=40).save(path)
    arguments = ("optimum", "hadar", path, "--out", best, "--json")
    ended, out, seen = interrupted(tmp_path, b"looking for the optimum: ", *arguments, by=by, times=times)
    answer, instance, schedule = json.loads(out), Instance.load(path), Schedule.load(best)
    assert (ended, answer["proved"]) == (code, False)
    told = {signal.SIGINT: b"interrupted", signal.SIGTERM: b"terminated", signal.SIGHUP: b"hung up"}
    assert b"dlsched: " + told[by] in seen
    assert check(instance, schedule) == []
    assert utility(instance, schedule) == answer["value"] < answer["bound"]


def test_a_signal_half_a_second_later_ends_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupt.Asked, "last", -math.inf)
    with interrupt.deferred() as asked:
        for _ in range(3):
            signal.raise_signal(signal.SIGINT)
            assert asked.code == 130
        monkeypatch.setattr(interrupt.Asked, "last", time.monotonic() - 0.5)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_terminal_that_is_closed_keeps_the_best_schedule_found(tmp_path: Path) -> None:
    path, best = tmp_path / "hard.json", tmp_path / "best.json"
    preset("benchmark", 0, jobs=40, machines=15, slots=40).save(path)
    # The first process of a session has the terminal that it opens first.
    process, terminal = pty.fork()
    if not process:
        os.execv(COMMAND, [COMMAND, "optimum", "hadar", str(path), "--jobs", "2", "--out", str(best)])
    seen = b""
    while b"looking for the optimum: " not in seen:
        seen += os.read(terminal, 4096)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 129
    instance, schedule = Instance.load(path), Schedule.load(best)
    assert check(instance, schedule) == []
    assert utility(instance, schedule) > 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["best.json", "hard.json"]


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGHUP])
def test_what_is_started_not_to_be_ended_goes_on(by: signal.Signals, tmp_path: Path) -> None:
    """As `nohup` starts it, or `&` in a script; its processes go on as well."""
    words = [COMMAND, "verify", "hadar/theorem-1", "--jobs", "2", "--instances", "120", "--out", "v.sqlite"]
    shell = ["sh", "-c", f'trap "" {by.value}; exec "$@"', "sh", *words]
    with subprocess.Popen(shell, stderr=subprocess.PIPE, cwd=tmp_path, start_new_session=True) as process:
        await_verdicts(tmp_path / "v.sqlite")
        assert process.poll() is None
        os.killpg(process.pid, by)
        told = process.communicate(timeout=300)[1]
    assert (process.returncode, told) == (0, b"")


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_processes_of_a_run_that_is_ended_leave_nothing_to_warn_of(by: signal.Signals, tmp_path: Path) -> None:
    """Locks between processes: multiprocessing's tracker finds those that are left when all others have ended."""
    command = [COMMAND, "verify", "hadar", "--jobs", "2", "--instances", "10000", "--out", "v.sqlite"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        assert process.stderr is not None
        await_verdicts(tmp_path / "v.sqlite")
        process.send_signal(by)
        # Whoever else has it open ends before this does.
        told = process.stderr.read()
    assert process.returncode == 128 + by
    kept, ended = told.decode().splitlines()
    assert ended == f"dlsched: {'interrupted' if by == signal.SIGINT else 'terminated'}"
    done = re.fullmatch(r"dlsched: v.sqlite keeps (\d+) of \d+ verdicts; the same command goes on from there", kept)
    assert done
    assert 0 < int(done[1]) <= verdicts(tmp_path / "v.sqlite")


def await_verdicts(path: Path) -> None:
    """Wait for the first verdict in a database, which no one tells of; for a minute at most."""
    end = time.monotonic() + 60
    while not verdicts(path) and time.monotonic() < end:
        time.sleep(0.05)  # a run that has begun is over in seconds


def verdicts(path: Path) -> int:
    """Return how many verdicts a database has."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM verdicts").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def test_an_interrupt_of_an_attack_keeps_the_nearest_instance(tmp_path: Path) -> None:
    words = ("hadar/theorem-1", "--variant", "corrected", "--instances", 10**6, "--out", "near.json", "--json")
    code, out, _ = interrupted(tmp_path, rb"[1-9]\d*/\d{7}", "attack", *words)
    answer = json.loads(out)
    assert (code, answer["status"]) == (130, "holds")
    assert Instance.load(tmp_path / "near.json").dump() == answer["instance"]


def test_a_terminal_sees_that_a_conversion_goes_on(tmp_path: Path) -> None:
    """Of a log that comes slower than `PATIENCE`; a pipe is told what was done alone."""
    log, terminal, beside = b"name,arrival,gang,seconds\na,0,1,9\n", *pty.openpty()
    asked = ("--cluster", "gpu=1", "--slots", "9", "--slot-seconds", "1", "--out", "i.json")
    with subprocess.Popen(
        [COMMAND, "convert", "csv", "/dev/stdin", *asked], cwd=tmp_path, stdin=subprocess.PIPE, stderr=beside
    ) as process:
        os.close(beside)
        assert select.select([terminal], [], [], 60)[0]
        told = os.read(terminal, 2**16)
        process.communicate(log, timeout=60)
    with suppress(OSError):  # Linux's end of a terminal that nobody else has open
        while more := os.read(terminal, 2**16):
            told += more
    os.close(terminal)
    assert process.returncode == 0
    assert told.index(b"converting stdin") < told.index(b"wrote i.json: 1 jobs")
