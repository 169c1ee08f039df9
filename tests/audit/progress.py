"""What an audit has done so far, in an SQLite file, so that an interrupted one goes on."""

from __future__ import annotations

import hashlib
import importlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from tests import paths
from tests.audit.case import Fault
from tests.audit.worker import Result, dump

_ROOMS = ("solvers", "models", "relaxations", "rounding", "algorithms", "bounds", "figures", "traces", "cli")
_TESTS = paths.TESTS
_SCHEMA = """
CREATE TABLE IF NOT EXISTS cases (
    code TEXT NOT NULL, family TEXT NOT NULL, seed INTEGER NOT NULL,
    title TEXT NOT NULL, faults TEXT NOT NULL, seconds REAL NOT NULL,
    PRIMARY KEY (code, family, seed)
) WITHOUT ROWID;
"""


def code_version() -> str:
    """Return a digest of the sources that decide what comes out: of the package, of the audit and of its oracles."""
    content = hashlib.sha256()
    roots = [Path(importlib.import_module(f"dlsched.{room}").__path__[0]) for room in _ROOMS]
    shared = sorted(Path(importlib.import_module("dlsched").__file__ or "").parent.glob("*.py"))
    content.update(b"".join(file.read_bytes() for file in shared))
    for root in (*roots, _TESTS / "audit", _TESTS / "oracles"):
        for file in sorted(path for kind in ("*.py", "*.json") for path in root.rglob(kind)):
            content.update(f"{root.name}/{file.relative_to(root).as_posix()}\0".encode())
            content.update(file.read_bytes())
    return content.hexdigest()[:16]


class Progress:
    """The results of one code version in a file that several versions may share."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.code = code_version()
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute(_SCHEMA)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._connection.close()

    def done(self) -> set[tuple[str, int]]:
        """Return (family, seed) of every case that was run."""
        return set(self._connection.execute("SELECT family, seed FROM cases WHERE code = ?", (self.code,)))

    def add(self, result: Result) -> None:
        """Keep a result."""
        row = (self.code, result.family, result.seed, result.title, json.dumps(dump(result)["faults"]), result.seconds)
        self._connection.execute("INSERT OR REPLACE INTO cases VALUES (?, ?, ?, ?, ?, ?)", row)

    def results(self) -> Iterator[Result]:
        """Yield all results, by family and seed."""
        query = "SELECT family, seed, title, faults, seconds FROM cases WHERE code = ? ORDER BY family, seed"
        for family, seed, title, faults, seconds in self._connection.execute(query, (self.code,)):
            yield Result(family, seed, title, tuple(Fault(**fault) for fault in json.loads(faults)), seconds)
