"""Mutated inputs: files of every kind through the command, command lines, and Python calls of public functions.

Whatever comes in, the command answers with exit code 0, 1 or 2, the last with one line that names the fault, and no
file changes that was not named.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from dlsched.algorithms import algorithms
from dlsched.cli.main import main
from dlsched.models import catalog
from tests import paths
from tests.audit import mutation
from tests.audit.case import Case, Fault
from tests.audit.draws import FAMILIES, draw, package
from tests.audit.reference import must_all_run
from tests.audit.scaling import problem_of

Data = dict[str, Any]
Files = dict[str, bytes]

_DATA = paths.DATA
_GOOD = (0, 1, 2)
_STOPPED = (-signal.SIGXCPU, -signal.SIGKILL)
_PREFIX = "dlsched: error: "
SECONDS = 10
"""What a command may take of a processor."""


def _one(rng: np.random.Generator, among: Any) -> Any:
    listed = list(among)
    return listed[int(rng.integers(len(listed)))]


def _mutated(data: Any, rng: np.random.Generator, other: Any = None) -> bytes:
    """Return the text of a JSON document, mutated as data or as bytes."""
    kind = rng.random()
    if kind < 0.5:
        return mutation.encoded(mutation.mild(data, rng))
    if kind < 0.9:
        return mutation.encoded(mutation.structured(data, rng, other))
    return mutation.raw(json.dumps(data, indent=1).encode(), rng)


def _drawn(rng: np.random.Generator) -> Data:
    return draw(_one(rng, FAMILIES), rng).data


def _instance(rng: np.random.Generator) -> tuple[Files, list[str]]:
    data = _drawn(rng)
    problem = problem_of(data)
    content = _mutated(data, rng, _drawn(rng))
    formulations = [entry.name for entry in catalog() if entry.problem == problem and entry.linear]
    runnable = [entry.name for entry in algorithms() if entry.problem == problem]
    verb = _one(
        rng,
        (
            ["optimum", problem, "instance.json", "--time-limit", "1", "--out", "out.json"],
            ["run", _one(rng, runnable), "instance.json", "--time-limit", "1", "--out", "out.json"],
            ["solve", _one(rng, formulations), "instance.json", "--time-limit", "1"],
            ["show", _one(rng, formulations), "instance.json", "--lp", "out.lp", "--time-limit", "1"],
            ["check", problem, "instance.json", "schedule.json"],
        ),
    )
    return {"instance.json": content, "schedule.json": b'{"problem": "%s", "jobs": {}}' % problem.encode()}, verb


def _schedule(rng: np.random.Generator) -> tuple[Files, list[str]]:
    family = _one(rng, FAMILIES)
    data = draw(family, rng).data
    problem = problem_of(data)
    entry = _one(rng, [entry for entry in algorithms() if entry.problem == problem and entry.schedule is None])
    schedule = {"problem": problem, "jobs": {}}
    if not must_all_run(data):
        schedule = entry.run(package(family).Instance.parse(data), seed=0).schedule.dump()
    plot = ["--plot", "out.png"] if rng.random() < 0.05 else []
    content = _mutated(schedule, rng, data)
    return {"instance.json": json.dumps(data).encode(), "schedule.json": content}, [
        *("check", problem, "instance.json", "schedule.json"),
        *plot,
    ]


@functools.cache
def _witnesses() -> dict[str, bytes]:
    folder = files("dlsched.bounds.witnesses")
    found = {entry.name: entry.read_bytes() for entry in folder.iterdir() if entry.name.endswith(".json")}
    return dict(sorted(found.items()))


def _witness(rng: np.random.Generator) -> tuple[Files, list[str]]:
    data = json.loads(_witnesses()[_one(rng, _witnesses())])
    return {"witness.json": _mutated(data, rng, _drawn(rng))}, ["replay", "witness.json", "--time-limit", "1"]


_VERIFY = ("verify", "hadar/initial-dual", "smd/lemma-3", "--instances", "2", "--jobs", "1", "--out", "verdicts.sqlite")


@functools.cache
def _database() -> bytes:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        _answer(list(_VERIFY))
        connection = sqlite3.connect("verdicts.sqlite")
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.close()
        return Path("verdicts.sqlite").read_bytes()


_CELLS: tuple[Any, ...] = (
    *(None, "", "odd", -1, 2**62, 1e300, 0.5, b"\xff\x00", "holds", "violated", "undecided", "vacuous"),
    *("{}", "[", '{"claim": 3}', "printed", "corrected"),
)


def _rows(content: bytes, rng: np.random.Generator) -> bytes:
    """Change the schema or rows of a database of verdicts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "changed.sqlite"
        path.write_bytes(content)
        connection = sqlite3.connect(path, isolation_level=None)
        for _ in range(int(rng.integers(1, 3))):
            with contextlib.suppress(sqlite3.Error):
                _statement(connection, rng)
        connection.close()
        return path.read_bytes()


def _statement(connection: sqlite3.Connection, rng: np.random.Generator) -> None:
    columns = [row[1] for row in connection.execute("PRAGMA table_info(verdicts)")] or ["claim"]
    column, cell = _one(rng, columns), _one(rng, _CELLS)
    keys = connection.execute("SELECT claim, variant, digest, seed, code FROM verdicts").fetchall() or [(None,) * 5]
    where = "claim = ? AND variant = ? AND digest = ? AND seed = ? AND code = ?"
    kind = int(rng.integers(10))
    if kind <= 4:
        connection.execute(f"UPDATE OR REPLACE verdicts SET {column} = ? WHERE {where}", (cell, *_one(rng, keys)))
    elif kind == 5:
        connection.execute(f"DELETE FROM verdicts WHERE {where}", _one(rng, keys))
    elif kind == 6:
        connection.execute(f"ALTER TABLE verdicts RENAME COLUMN {column} TO odd")
    elif kind == 7:
        connection.execute(
            _one(rng, ("DROP TABLE verdicts", "DROP TABLE settings", "ALTER TABLE verdicts RENAME TO x"))
        )
    elif kind == 8:
        connection.execute(f"UPDATE settings SET {_one(rng, ('name', 'value'))} = ?", (str(cell),))
    else:
        names = ("application_id", "user_version")
        connection.execute(f"PRAGMA {_one(rng, names)} = {int(rng.integers(-5, 5))}")


def _verdicts(rng: np.random.Generator) -> tuple[Files, list[str]]:
    content = _database()
    kind = rng.random()
    if kind < 0.6:
        content = _rows(content, rng)
    elif kind < 0.9:
        content = mutation.raw(content, rng)
    else:
        content = _mutated(_drawn(rng), rng)
    return {"verdicts.sqlite": content}, list(_VERIFY)


def _topology(rng: np.random.Generator) -> tuple[Files, list[str]]:
    path = _one(rng, sorted((_DATA / "topology").iterdir()))
    content = path.read_bytes()
    if rng.random() < 0.7:
        content = mutation.lines(
            content.decode(), rng, ("nodes", "edges", "node", "edge", "source", "target", "id")
        ).encode("utf-8", "surrogatepass")
    else:
        content = mutation.raw(content, rng)
    options = ["--jobs", "2", "--slots", "3", *_one(rng, ([], ["--half"], ["--servers", "2"], ["--bandwidth", "1,10"]))]
    return {path.name: content}, ["convert", "topology-zoo", path.name, *options, "--out", "out.json"]


def _gavel(rng: np.random.Generator) -> tuple[Files, list[str]]:
    folder = _DATA / "gavel"
    throughputs = _one(rng, ("throughputs.json", "throughputs_plain.json"))
    trace = _one(rng, ("seven.trace.txt", "ten.trace.txt", "twelve.trace.txt"))
    content = {name: (folder / name).read_bytes() for name in (throughputs, trace)}
    if rng.random() < 0.5:
        content[throughputs] = _mutated(json.loads(content[throughputs]), rng, _drawn(rng))
    elif rng.random() < 0.7:
        content[trace] = mutation.lines(content[trace].decode(), rng, ("\t",)).encode("utf-8", "surrogatepass")
    else:
        content[trace] = mutation.raw(content[trace], rng)
    options = ["--cluster", "fast=2,slow=2", "--slots", "10", "--slot-seconds", "10", *_one(rng, ([], ["--skip"]))]
    return content, [
        *("convert", "gavel", "--throughputs", throughputs, "--trace", trace, *options, "--out", "out.json")
    ]


_WORDS = (
    *("", "-", "--", "-1", "0", "1", "2", "1e400", "nan", "inf", "1/0", "é", "\n", "9" * 40, "x.json", "instance.json"),
    *(".", "/", "/dev/null", "no/such/file", "--help", "--json", "--out", "out.json", "--seed", "--time-limit", "1"),
    *("--jobs", "--slots", "--preset", "random", "paper", "--instances", "--variant", "printed", "--solver", "scip"),
    *("--lp", "--plot", "--gdp", "--relax", "--threads", "--version", "--skip", "--cluster", "fast=2", "gavel", "smd"),
    *("hadar", "dmlrs", "ddljs", "hadar/p1", "hadar/aggregate", "smd/milp", "hadar/theorem-2", "fifo", "pd_ors"),
)
_VERBS = ("list", "show", "solve", "optimum", "run", "check", "verify", "replay", "generate", "convert", "schema")


def _command(rng: np.random.Generator) -> tuple[Files, list[str]]:
    data = _drawn(rng)
    words = [str(word) for word in rng.choice(_WORDS, size=int(rng.integers(0, 6)))]
    if rng.random() < 0.6:
        _, words = _one(rng, (_instance, _schedule, _witness))(rng)
        at = int(rng.integers(1, len(words) + 1))
        words[at : at + int(rng.integers(2))] = [str(_one(rng, _WORDS))]
    elif rng.random() < 0.9:
        words = [_one(rng, _VERBS), *words]
    if words[:1] == ["verify"]:
        words[1:1] = ["hadar/initial-dual", "--instances", "1", "--jobs", "1"]
    return {"instance.json": json.dumps(data).encode(), "x.json": _mutated(data, rng)}, words


_MAKERS: dict[str, Callable[[np.random.Generator], tuple[Files, list[str]]]] = {
    "inputs/instance": _instance,
    "inputs/schedule": _schedule,
    "inputs/witness": _witness,
    "inputs/database": _verdicts,
    "inputs/topology": _topology,
    "inputs/gavel": _gavel,
    "inputs/command": _command,
}


def make(family: str, seed: int) -> Case:
    """Return the case of a seed; a family is a key of `MAKERS`."""
    rng = np.random.default_rng([seed, list(_MAKERS).index(family)])
    content, words = _MAKERS[family](rng)
    answer = _process if family == "inputs/command" else _answer
    shown = {name: text.decode("utf-8", "backslashreplace") for name, text in content.items()}
    return Case(f"dlsched {' '.join(map(repr, words))}", shown, lambda: list(_faults(content, words, answer)))


Answer = Callable[[list[str]], tuple[int, str, str]]


def _faults(content: Files, words: list[str], answer: Answer) -> Iterator[Fault]:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, text in content.items():
            Path(name).write_bytes(text)
        Path("bystander").write_bytes(b"stays")
        before = _digests()
        code, out, err = answer(words)
        yield from _judged(code, out, err)
        named = {word.removeprefix("--out=") for word in words}
        for name in sorted(before.keys() | _digests().keys()):
            owner = name.split("/")[0].removesuffix("-wal").removesuffix("-shm")
            beside = owner == "witnesses" and "verify" in words
            made = owner in named and (name not in content or name == "verdicts.sqlite" or _written(words, name))
            if before.get(name) != _digests().get(name) and not made and not beside:
                yield Fault("files", f"{name} was changed or made")


def _written(words: list[str], name: str) -> bool:
    """Tell whether an input file is also named as an output."""
    outputs = ("--out", "-o", "--lp", "--mps", "--plot")
    return any(word in outputs and after == name for word, after in itertools.pairwise(words))


def _digests() -> dict[str, str]:
    return {
        path.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in Path().rglob("*") if path.is_file()
    }


def _judged(code: int, out: str, err: str) -> Iterator[Fault]:
    if code in _STOPPED:
        yield Fault("hang", f"more than {SECONDS} s of a processor")
    elif code == 2 and err.startswith("Usage: "):
        return
    elif code not in _GOOD:
        last = " ".join(err.strip().splitlines()[-1:])[:300]
        where = [line.strip() for line in err.splitlines() if line.strip().startswith("File ")]
        yield Fault("traceback", f"exit code {code}: {last} ({_short(where)})")
    elif code == 2 and (err.count("\n") != 1 or not err.startswith(_PREFIX)):
        yield Fault("message", f"exit code 2 with other than one line: {err[:300]!r}")
    elif "Traceback" in err:
        yield Fault("traceback", f"exit code {code}, and {err[:300]!r}")


def _short(where: list[str]) -> str:
    if not where:
        return ""
    file, line = where[-1].split('"')[1], where[-1].split(", ")[1]
    return f"{'/'.join(file.split('/')[-3:])}, {line}"


def _answer(words: list[str]) -> tuple[int, str, str]:
    """Run the command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    return code, out.getvalue(), err.getvalue()


def _process(words: list[str]) -> tuple[int, str, str]:
    """Run the command as a process, for `SECONDS` of a processor at most."""
    code = (
        "import resource, sys; from dlsched.cli.main import main; "
        f"resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS})); sys.exit(main())"
    )
    command = [sys.executable, "-c", code, *(word.replace("\0", "") for word in words)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8:backslashreplace"}
    result = subprocess.run(command, capture_output=True, env=environment, check=False, stdin=subprocess.DEVNULL)
    return result.returncode, result.stdout.decode("utf-8", "replace"), result.stderr.decode("utf-8", "replace")


MAKERS: dict[str, Callable[[int], Case]] = {
    family: (lambda seed, family=family: make(family, seed)) for family in _MAKERS
}
