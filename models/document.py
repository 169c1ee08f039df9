"""JSON documents that users hand in: read with limits, validated, and refused in one line that names the place."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

MAX_BYTES = 256 * 2**20
"""Larger files are refused before they are read."""

_TAGGED = frozenset({"utility", "training"})
_NAMES_A_FIELD = re.compile(r"[a-z][a-z_0-9]*: ")


class InputError(ValueError):
    """What a user handed in cannot be used; the message names the place, the value and the rule, in one line."""


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a UTF-8 file that a user named.

    Raises
    ------
    InputError
        If the file cannot be read, is larger than `MAX_BYTES`, or is not text.
    """
    file = Path(path)
    try:
        if not file.is_file():
            raise InputError(f"{file}: {'is not a file' if file.exists() else 'no such file'}")
        size = file.stat().st_size
        if size > MAX_BYTES:
            raise InputError(f"{file}: {size} bytes; files of at most {MAX_BYTES} bytes are read")
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: byte {error.start} is not UTF-8 text") from None
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from None


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file; a key that appears twice in one object is refused.

    Raises
    ------
    InputError
        As `read_text`, and if the text is not JSON.
    """
    text = read_text(path)
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: line {error.lineno} column {error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise InputError(f"{path}: nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for i, key in enumerate(keys) if key in keys[:i])
        raise ValueError(f"key {repeated!r} appears twice in one object")
    return result


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file in one step: either the whole content is there afterwards, or what was there before.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    file = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
            os.chmod(name, 0o644)
            os.replace(name, file)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, in one step.

    Raises
    ------
    InputError
        As `write_bytes`.
    """
    write_bytes(path, text.encode())


class Record(BaseModel):
    """A frozen pydantic model that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise InputError(one_line(error)) from None

    # Says to pydantic that validation need not come through here: parts of a record are made without it.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields changed and not validated; what is derived from them is derived anew."""
        copy = super().model_copy(update=update, deep=deep)
        for name in [name for name in copy.__dict__ if name not in type(self).model_fields]:
            del copy.__dict__[name]
        return copy


class Document(Record):
    """A record that lives in a JSON file."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read and validate a JSON file.

        Raises
        ------
        InputError
            One line that names the file, the place in it, the value and the rule.
        """
        data = read_json(path)
        try:
            return cls.parse(data)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    @classmethod
    def parse(cls, data: object) -> Self:
        """Validate plain data (dicts, lists, numbers, strings).

        Raises
        ------
        InputError
            One line that names the place, the value and the rule.
        """
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise InputError(one_line(error)) from None

    def dump(self) -> dict[str, Any]:
        """Return plain JSON data, without the fields that are absent."""
        return self.model_dump(mode="json", exclude_none=True)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON file in one step."""
        write_text(path, json.dumps(self.dump(), indent=1) + "\n")

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON, `origin` left out, as 64 hexadecimal digits."""
        data = self.dump()
        data.pop("origin", None)
        canonical = json.dumps(data, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


def one_line(error: ValidationError) -> str:
    """Return the first error as ``place: value rule``, and how many more there are."""
    errors = error.errors(include_url=False)
    first = errors[0]
    place = _place(first["loc"])
    rule = _rule(first)
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    if not place:
        return f"{rule}{more}"
    return f"{place}{'.' if _NAMES_A_FIELD.match(rule) else ': '}{rule}{more}"


def _place(location: tuple[int | str, ...]) -> str:
    text = ""
    tag = False
    for part in location:
        if tag:
            tag = False
            continue
        if isinstance(part, str) and part.startswith("["):
            continue
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
        tag = part in _TAGGED
    return text


def _rule(error: Any) -> str:
    kind, message, value = error["type"], str(error["msg"]), error["input"]
    if kind == "value_error":
        return message.removeprefix("Value error, ")
    if kind == "missing":
        return "required field is missing"
    if kind == "extra_forbidden":
        return "unknown field"
    shown = repr(value) if not isinstance(value, dict | list | tuple) else f"a {type(value).__name__}"
    message = message.removeprefix("Input ")
    return f"{shown if len(shown) <= 60 else shown[:57] + '...'} {message[0].lower()}{message[1:]}"
