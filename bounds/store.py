"""Verdicts in an SQLite file: written as they come, in WAL mode, so that a killed run loses and repeats none.

A verdict's key is (claim, variant, instance digest, seed, code version). What was drawn for it is kept beside it, so
that a run that starts again knows what is done without drawing anything.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

from dlsched.bounds.claim import Variant, Verdict
from dlsched.bounds.comparison import Status
from dlsched.bounds.search import Task
from dlsched.bounds.witness import Witness
from dlsched.models.document import InputError

_APPLICATION = 0x646C7364
_BUSY_SECONDS = 60.0
_ROOMS = ("models", "relaxations", "rounding", "algorithms", "bounds")
_SCHEMA = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE verdicts (
    claim TEXT NOT NULL, variant TEXT NOT NULL, digest TEXT NOT NULL, seed INTEGER NOT NULL, code TEXT NOT NULL,
    source TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL,
    status TEXT NOT NULL, measured REAL, bound REAL, reason TEXT NOT NULL, witness TEXT,
    PRIMARY KEY (claim, variant, digest, seed, code),
    UNIQUE (claim, variant, source, position, code)
) WITHOUT ROWID;
"""
_COLUMNS = "claim, variant, digest, seed, code, source, position, name, status, measured, bound, reason, witness"


@cache
def code_version() -> str:
    """Return a digest of the source files and shipped cases that decide verdicts."""
    content = hashlib.sha256()
    for room in _ROOMS:
        spec = importlib.util.find_spec(f"dlsched.{room}")
        if spec is None or spec.origin is None:
            raise RuntimeError(f"dlsched.{room} is not installed")
        root = Path(spec.origin).parent
        for file in sorted(path for kind in ("*.py", "*.json") for path in root.rglob(kind)):
            content.update(f"{room}/{file.relative_to(root).as_posix()}\0".encode())
            content.update(file.read_bytes())
    return content.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Entry:
    """A verdict, and where its instance came from.

    Attributes
    ----------
    verdict : Verdict
    source : str
    position : int
    name : str
        Of a shipped case; empty for a draw.
    """

    verdict: Verdict
    source: str
    position: int
    name: str


class Store:
    """The verdicts of one run of `verify`, in a file or in memory.

    Parameters
    ----------
    path : path or None
        None keeps them in memory.
    settings : mapping of str to str
        What decides the run; a file made with others is refused.

    Raises
    ------
    InputError
        If the file is no such database, cannot be written, or was made with other settings.
    """

    def __init__(self, path: str | os.PathLike[str] | None, settings: Mapping[str, str]) -> None:
        self.path = None if path is None else Path(path)
        self.code = code_version()
        try:
            self._connection = sqlite3.connect(
                ":memory:" if path is None else path, timeout=_BUSY_SECONDS, isolation_level=None
            )
            try:
                self._open(settings)
            except BaseException:
                self._connection.close()
                raise
        except sqlite3.Error as error:
            raise InputError(f"{path}: not a database of verdicts: {error}") from None

    def _open(self, settings: Mapping[str, str]) -> None:
        run = self._connection.execute
        (application,) = run("PRAGMA application_id").fetchone()
        (tables,) = run("SELECT count(*) FROM sqlite_master").fetchone()
        if application != _APPLICATION and tables:
            raise InputError(f"{self.path}: not a database of verdicts")
        run("PRAGMA journal_mode=WAL")
        run("PRAGMA synchronous=NORMAL")
        run("BEGIN IMMEDIATE")
        try:
            if not run("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    run(statement)
                self._connection.executemany("INSERT INTO settings VALUES (?, ?)", sorted(settings.items()))
                run(f"PRAGMA application_id={_APPLICATION}")
            self._compare(settings)
        except BaseException:
            run("ROLLBACK")
            raise
        run("COMMIT")

    def _compare(self, settings: Mapping[str, str]) -> None:
        made = dict(self._connection.execute("SELECT name, value FROM settings"))
        for name in sorted({*made, *settings}):
            was, now = made.get(name, ""), settings.get(name, "")
            if was != now:
                raise InputError(
                    f"{self.path}: was made with {name} {_short(was)}, not {_short(now)}; "
                    "use the same settings or another file"
                )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def done(self) -> set[tuple[str, str, str, int]]:
        """Return (claim, variant, source, position) of every verdict of this code version."""
        query = "SELECT claim, variant, source, position FROM verdicts WHERE code = ?"
        return set(self._connection.execute(query, (self.code,)))

    def add(self, task: Task, verdicts: Iterable[Verdict]) -> None:
        """Write the verdicts of one task, all or none."""
        rows = [
            (
                *(v.claim, v.variant.value, v.digest, v.seed, self.code, task.source, task.position, task.name),
                *(v.status.value, v.measured, v.bound, v.reason),
                None if v.witness is None else json.dumps(v.witness.dump()),
            )
            for v in verdicts
        ]
        marks = ", ".join("?" * len(_COLUMNS.split(",")))
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._connection.executemany(f"INSERT OR IGNORE INTO verdicts ({_COLUMNS}) VALUES ({marks})", rows)
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def entries(self) -> Iterator[Entry]:
        """Yield the verdicts of this code version, cases first, then draws, in an order that no run changes."""
        query = (
            f"SELECT {_COLUMNS} FROM verdicts WHERE code = ? ORDER BY claim, variant, name = '', position, source, name"
        )
        for row in self._connection.execute(query, (self.code,)):
            id_, variant, digest, seed, _, source, position, name, status, measured, bound, reason, text = row
            witness = None if text is None else Witness.model_validate_json(text)
            verdict = Verdict(id_, Variant(variant), Status(status), digest, seed, measured, bound, reason, witness)
            yield Entry(verdict, source, position, name)


def _short(value: str) -> str:
    return repr(value if len(value) <= 60 else value[:57] + "...")
