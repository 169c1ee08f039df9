"""Verdicts in an SQLite file: written as they come, in WAL mode, so that a killed run loses and repeats none.

A verdict's key is (claim, variant, parameters, instance digest, seed, code version). What was drawn for it is kept
beside it, so that a run that starts again knows what is done without drawing anything.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, Json, ValidationError, model_validator

from dlsched.algorithms.exact.result import Proof
from dlsched.bounds.claim import Variant, Verdict
from dlsched.bounds.comparison import Status
from dlsched.bounds.search import Task
from dlsched.bounds.witness import Witness
from dlsched.errors import InputError, cut, few, shown
from dlsched.models.document import Record, one_line
from dlsched.models.files import PathLike, status
from dlsched.models.registry import foreign

_APPLICATION = 0x646C7364
"""The letters dlsd: what tells such a file from other SQLite databases (PRAGMA application_id)."""

_VERSION = 3
"""Of the tables; it changes with them."""

_SMALLEST = 512
"""Bytes of the smallest page of SQLite, and so of the smallest database."""

_BUSY_SECONDS = 10.0
"""How long a lock is waited for. Arbitrary: another process holds it for one short transaction."""

_ROOMS = ("solvers", "models", "relaxations", "rounding", "algorithms", "bounds")
_SCHEMA = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE verdicts (
    claim TEXT NOT NULL, variant TEXT NOT NULL, parameters TEXT NOT NULL,
    digest TEXT NOT NULL, seed INTEGER NOT NULL, code TEXT NOT NULL,
    source TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL,
    status TEXT NOT NULL, measured REAL, bound REAL, reason TEXT NOT NULL, witness TEXT, proof TEXT,
    PRIMARY KEY (claim, variant, parameters, digest, seed, code),
    UNIQUE (claim, variant, source, position, code)
) WITHOUT ROWID;
"""
_STATEMENTS = tuple(statement.strip() for statement in _SCHEMA.split(";") if statement.strip())
_COLUMNS = (
    "claim, variant, parameters, digest, seed, code, source, position, name, status, measured, bound, reason, witness, "
    "proof"
)
_GOES_ON = "; what was written before stays, and the same command goes on from it"
_REASONS = {
    sqlite3.SQLITE_BUSY: f"another process has kept it locked for {_BUSY_SECONDS:.0f} seconds",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened for writing",
    sqlite3.SQLITE_CORRUPT: "is damaged",
    sqlite3.SQLITE_FULL: f"the disk is full{_GOES_ON}",
    sqlite3.SQLITE_IOERR: f"cannot be read or written{_GOES_ON}",
    sqlite3.SQLITE_NOTADB: "not a database of verdicts",
    sqlite3.SQLITE_READONLY: "may only be read",
}


def code_version(*more: str) -> str:
    """Return a digest of the source files and shipped cases that decide verdicts, of plug-ins and more packages too."""
    return _digest(("dlsched", *(f"dlsched.{room}" for room in _ROOMS), *more, *foreign()))


@cache
def _digest(modules: tuple[str, ...]) -> str:
    content = hashlib.sha256()
    for name in modules:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise RuntimeError(f"{name} is not installed")
        root = Path(spec.origin)
        files = [root]
        if spec.submodule_search_locations is not None:
            root = root.parent
            # The rooms may stand below `dlsched` or elsewhere, and some of them decide no verdict.
            below = root.glob if name == "dlsched" else root.rglob
            files = sorted(path for kind in ("*.py", "*.json") for path in below(kind))
        for file in files:
            content.update(f"{name}/{file.relative_to(root).as_posix()}\0".encode())
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


Number = Annotated[float, Field(allow_inf_nan=True)]


class _Row(Record):
    """A row of the table of verdicts, as anything may have written it."""

    claim: str
    variant: Variant
    parameters: Json[dict[str, Any]]
    digest: str
    seed: int
    code: str
    source: str
    position: int
    name: str
    status: Status
    measured: Number | None
    bound: Number | None
    reason: str
    witness: Json[Witness] | None
    proof: Proof | None

    @model_validator(mode="after")
    def _violations_have_witnesses(self) -> Self:
        if self.status is Status.VIOLATED:
            for field in ("measured", "bound", "witness"):
                if getattr(self, field) is None:
                    raise ValueError(f"{field}: is missing where the status is violated")
        witness = self.witness
        if witness is not None and (witness.claim, witness.variant) != (self.claim, self.variant.value):
            raise ValueError(f"witness: is of {cut(witness.claim)} {cut(witness.variant)}")
        return self

    def entry(self) -> Entry:
        verdict = Verdict(
            *(self.claim, self.variant, self.status, self.digest, self.seed),
            *(self.measured, self.bound, self.reason, self.witness, self.parameters),
            proof=self.proof,
        )
        return Entry(verdict, self.source, self.position, self.name)


def _apart(name: str, was: str, now: str) -> str:
    """Return how a setting of a file differs: of claims, whose lists look alike when they are cut, which one lacks."""
    before, after = {*was.split()}, {*now.split()}
    if name != "claims" or before == after:
        return f"{name} {shown(was)}, not {shown(now)}"
    parts = {"lack": after - before, "have": before - after}
    return f"{name} that {', and '.join(f'{verb} {few(names)}' for verb, names in parts.items() if names)}"


class Store:
    """The verdicts of one run of `verify`, in a file or in memory.

    Parameters
    ----------
    path : path or None
        None keeps them in memory.
    settings : mapping of str to str, optional
        What decides the run; a file made with others is refused. None for whatever a file that is there was made with.

    Raises
    ------
    InputError
        If the file is no such database, is damaged, has a row that cannot be read, cannot be written, or was made with
        another schema or other settings.
    """

    def __init__(self, path: PathLike | None, settings: Mapping[str, str] | None) -> None:
        self.path = None if path is None else Path(path)
        self.code = code_version()
        found = None if path is None else status(path)
        if settings is None and not (found and found.st_size):
            raise InputError(f"{path}: no database of verdicts is there")
        if found is not None and 0 < found.st_size < _SMALLEST:
            # SQLite would take it for an empty file, and write over it.
            raise InputError(f"{path}: not a database of verdicts")
        with self._reported():
            # An absolute path, since SQLite takes some names, such as :memory:, for something else than files.
            self._connection = sqlite3.connect(
                ":memory:" if path is None else os.path.abspath(path), timeout=_BUSY_SECONDS, isolation_level=None
            )
            try:
                self._open(settings)
            except BaseException:
                self._connection.close()
                raise

    def _open(self, settings: Mapping[str, str] | None) -> None:
        run = self._connection.execute
        if self._is_made():
            (problem,) = run("PRAGMA quick_check(1)").fetchone()
            if problem != "ok":
                raise InputError(f"{self.path}: is damaged: {' '.join(problem.split())}")
        run("PRAGMA journal_mode=WAL")
        run("PRAGMA synchronous=NORMAL")
        with self._transaction():
            if not self._is_made():
                for statement in _STATEMENTS:
                    run(statement)
                self._connection.executemany("INSERT INTO settings VALUES (?, ?)", sorted((settings or {}).items()))
                run(f"PRAGMA application_id={_APPLICATION}")
                run(f"PRAGMA user_version={_VERSION}")
            if settings is not None:
                self._compare(settings)
        for _ in self.entries():
            pass

    def _is_made(self) -> bool:
        """Tell whether the tables are there; refuse another application's, and those of another schema."""
        run = self._connection.execute
        statements = {sql for (sql,) in run("SELECT sql FROM sqlite_master")}
        (application,), (version,) = (run(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version"))
        if statements and application != _APPLICATION:
            raise InputError(f"{self.path}: not a database of verdicts")
        if statements and version != _VERSION:
            raise InputError(f"{self.path}: has schema {version}, and schema {_VERSION} is read here; use another file")
        if statements and not statements.issuperset(_STATEMENTS):
            raise InputError(f"{self.path}: its tables are not those of schema {_VERSION}; use another file")
        return bool(statements)

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Say in one line what SQLite found wrong with the file."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            raise InputError(f"{self.path}: {_REASONS.get(code, error)}") from None
        except UnicodeDecodeError:
            # Raised in place of SQLite's error where its message would quote the text.
            raise InputError(f"{self.path}: has text that is not UTF-8") from None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            # SQLite itself has rolled back where the disk is full.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _compare(self, settings: Mapping[str, str]) -> None:
        made = dict(self._connection.execute("SELECT name, value FROM settings"))
        for name in sorted({*made, *settings}, key=str):
            was, now = made.get(name, ""), settings.get(name, "")
            if was != now:
                raise InputError(
                    f"{self.path}: was made with {_apart(name, was, now)}; use the same settings or another file"
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
        with self._reported():
            return set(self._connection.execute(query, (self.code,)))

    def add(self, task: Task, verdicts: Iterable[Verdict]) -> None:
        """Write the verdicts of one task, all or none.

        Raises
        ------
        InputError
            If the file cannot be written; nothing that it held is lost.
        """
        rows = [
            (
                *(
                    v.claim,
                    v.variant.value,
                    json.dumps(v.parameters, sort_keys=True),
                    v.digest,
                    v.seed,
                    self.code,
                    task.source,
                    task.position,
                    task.name,
                ),
                *(v.status.value, v.measured, v.bound, v.reason),
                None if v.witness is None else json.dumps(v.witness.dump()),
                v.proof,
            )
            for v in verdicts
        ]
        marks = ", ".join("?" * len(_COLUMNS.split(",")))
        with self._reported(), self._transaction():
            self._connection.executemany(f"INSERT OR IGNORE INTO verdicts ({_COLUMNS}) VALUES ({marks})", rows)

    def entries(self) -> Iterator[Entry]:
        """Yield the verdicts of this code version, cases first, then draws, in an order that no run changes.

        Raises
        ------
        InputError
            If a row cannot be read: the file, the row, the value and the rule.
        """
        query = (
            f"SELECT {_COLUMNS} FROM verdicts WHERE code = ? ORDER BY claim, variant, name = '', position, source, name"
        )
        with self._reported():
            for values in self._connection.execute(query, (self.code,)):
                row = dict(zip(_COLUMNS.split(", "), values, strict=True))
                try:
                    yield _Row.model_validate(row).entry()
                except ValidationError as error:
                    names = ("claim", "variant", "source", "position", "name")
                    place = " ".join(cut(str(row[name])) for name in names).rstrip()
                    raise InputError(f"{self.path}: verdict {place}: {one_line(error)}") from None
