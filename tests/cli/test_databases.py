"""Databases of verdicts that something went wrong with: one line, exit code 2, and what they hold is kept."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from dlsched.bounds import Report, store, verify
from dlsched.models import InputError
from tests.cli.cases import answer, complaint, refusal
from tests.cli.conftest import COMMAND, ORDINARY, Command, on_a_full_disk
from tests.forks import Fresh

pytestmark = pytest.mark.process

CLAIM = "hadar/initial-dual"
CHEAP = "hadar/definition-1"
"""It asks for no optimum."""

VERIFY = ("verify", CLAIM, "--instances", "2", "--seed", "3", "--jobs", "1", "--json", "--out")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished database, in one file."""
    path = tmp_path_factory.mktemp("made") / "verdicts.sqlite"
    assert verify([CLAIM], instances=2, seed=3, out=path).ok
    return path


@pytest.fixture
def database(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copy(made, tmp_path))


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


def again(path: Path) -> str:
    """Return the one line with which going on is refused; the file stays as it was."""
    before = path.read_bytes()
    with pytest.raises(InputError) as caught:
        verify([CLAIM], instances=2, seed=3, out=path)
    assert path.read_bytes() == before
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def test_the_schema_has_a_version(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
    for version in (0, 1, -1):
        change(database, f"PRAGMA user_version={version}")
        assert again(database) == f"has schema {version}, and schema 3 is read here; use another file"


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE verdicts",
        "DROP TABLE settings",
        "ALTER TABLE verdicts RENAME COLUMN bound TO bounded",
        "ALTER TABLE verdicts ADD COLUMN weight",
        "ALTER TABLE verdicts RENAME TO other",
    ],
)
def test_other_tables_are_refused(database: Path, statement: str) -> None:
    change(database, statement)
    assert again(database) == "its tables are not those of schema 3; use another file"


ROWS = {
    "status = 'banana'": "status: 'banana' should be 'holds', 'violated', 'premise-fails', 'vacuous' or 'undecided'",
    "variant = 'banana'": "variant: 'banana' should be 'printed', 'corrected' or 'derived'",
    "measured = 'much'": "measured: 'much' should be a valid number",
    "measured = NULL": "measured: is missing where the status is violated",
    "bound = NULL": "bound: is missing where the status is violated",
    "witness = NULL": "witness: is missing where the status is violated",
    "witness = '{\"claim\": '": "witness: '{\"claim\": ' invalid JSON",
    "witness = '{}'": "witness.claim: required field is missing",
    f"witness = '{'[' * 10**5}'": "witness: '[[[",
    "witness = replace(witness, '\"printed\"', '\"odd\"')": "witness: is of hadar/initial-dual odd",
    "witness = replace(witness, '\"seed\"', '\"sad\"')": "witness.seed: required field is missing",
    "position = 'first'": "position: 'first' should be a valid integer",
    "reason = x'ff'": "reason: b'\\xff' should be a valid string",
}


@pytest.mark.parametrize("change_", ROWS)
def test_a_row_that_cannot_be_read_is_named(database: Path, change_: str) -> None:
    row = "status = 'violated' AND name = 'hadar-initial-dual-H4'"
    change(database, f"UPDATE verdicts SET {change_} WHERE {row}")
    message = again(database)
    assert message.startswith(f"verdict {CLAIM} ")
    assert f" hadar-initial-dual-H4: {ROWS[change_]}" in message
    assert len(message) < 400


def test_rows_of_other_code_are_not_looked_at(database: Path, made: Path) -> None:
    change(database, "UPDATE verdicts SET code = 'other', status = 'banana'")
    assert verify([CLAIM], instances=2, seed=3, out=database).dump() == verify([CLAIM], instances=2, seed=3).dump()


def _damaged(path: Path) -> bytes:
    content = path.read_bytes()
    return content[:4096] + bytes(4096) + content[8192:]


DAMAGE: dict[str, tuple[Callable[[Path], bytes], str]] = {
    "truncated": (lambda path: path.read_bytes()[: path.stat().st_size // 2], "is damaged"),
    "a header": (lambda path: path.read_bytes()[:100], "not a database of verdicts"),
    "a page of zeros": (_damaged, "is damaged"),
    "zeros": (lambda path: bytes(8192), "not a database of verdicts"),
    "a short text": (lambda path: b"my notes\n", "not a database of verdicts"),
    "a long text": (lambda path: b"my notes\n" * 1000, "not a database of verdicts"),
    "text that is not UTF-8": (lambda path: path.read_bytes().replace(b"premise", b"pre\xffise"), "Could not decode"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_refused(database: Path, kind: str) -> None:
    change(database, "UPDATE verdicts SET reason = 'a premise'")
    damage, message = DAMAGE[kind]
    content = damage(database)
    assert content != database.read_bytes()
    database.write_bytes(content)
    assert again(database).startswith(message)


def test_a_name_that_sqlite_takes_for_memory_is_a_file(dlsched: Command, tmp_path: Path) -> None:
    answer(dlsched("verify", CLAIM, "--instances", "0", "--jobs", "1", "--json", "--out", ":memory:"))
    assert (tmp_path / ":memory:").stat().st_size > 4096


def test_a_locked_file_is_one_line(dlsched: Command, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_BUSY_SECONDS", 1.0)  # the line was made of the ten that users wait
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        message = refusal(dlsched(*VERIFY, database))
    assert message == f"{database}: another process has kept it locked for 10 seconds"
    answer(dlsched(*VERIFY, database))


def test_a_file_that_may_only_be_read_is_one_line(database: Path) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("DELETE FROM verdicts WHERE name = ''")
    database.chmod(0o444)
    command = (*ORDINARY, COMMAND, *VERIFY, str(database))
    process = subprocess.run(command, cwd=database.parent, capture_output=True, text=True, check=False)
    assert refusal(process) == f"{database}: may only be read"


def test_witnesses_have_no_place(dlsched: Command, tmp_path: Path) -> None:
    (tmp_path / "witnesses").touch()
    message = refusal(dlsched(*VERIFY, "new.sqlite"))
    assert message == "witnesses: is no folder; witnesses are written into it"
    assert not (tmp_path / "new.sqlite").exists()


@pytest.fixture(scope="module")
def undisturbed() -> Report:
    return verify([CHEAP], instances=20)


@pytest.mark.parametrize("size", [2**14, 2**16])
def test_a_full_disk_loses_nothing(
    dlsched: Command, fresh: Fresh, tmp_path: Path, undisturbed: Report, size: int
) -> None:
    path = tmp_path / "verdicts.sqlite"
    options = ("verify", CHEAP, "--instances", 20, "--jobs", 1, "--json", "--out", path)
    stopped = fresh.run(on_a_full_disk(size), *options)
    assert complaint(stopped).startswith(f"{path}: ")
    assert stopped.stdout == ""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if size > 2**15:
            (there,) = connection.execute("SELECT count(*) FROM verdicts").fetchone()
            assert 0 < there < sum(row.instances for row in undisturbed.rows)
    assert answer(dlsched(*options)) == undisturbed.dump()
