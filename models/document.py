"""JSON documents that users hand in: validated, and refused in one line that names the place."""

from __future__ import annotations

import difflib
import gc
import hashlib
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationError, model_validator
from pydantic_core import CoreSchema

from dlsched.arguments import checked
from dlsched.errors import InputError, cut, shown
from dlsched.models.files import MAX_BYTES, PathLike, decode, read_bytes, write_bytes
from dlsched.models.places import of_deepest, of_long_integer, of_second_key

_LONGEST_RULE = 600
"""Characters of a rule in a message. Arbitrary: longer than any that is written here; what pydantic says of a choice
may list all that is allowed."""

_OTHERS = frozenset({".csv", ".tsv", ".txt", ".log", ".gml", ".graphml"})
"""What files of tables, logs and networks end in, for which there are readers."""

_SHAPES = {
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type"), "an object with fields"),
    **dict.fromkeys(("list_type", "tuple_type"), "a list"),
}
"""What JSON calls what pydantic asks for by other names."""

_TAGGED = frozenset({"utility", "training"})
_COLLECTIONS = frozenset({"list", "tuple", "set", "frozenset", "dict"})
_OPAQUE = frozenset({"default", "metadata", "serialization"})
_NAMES_A_FIELD = re.compile(r"[a-z][a-z_0-9]*: ")


def read_json(path: PathLike) -> Any:
    """Read a JSON file; a key that appears twice in one object is refused.

    Raises
    ------
    InputError
        As `dlsched.models.files.read_bytes`, and if the content is not JSON.
    """
    is_other = Path(path).suffix.lower() in _OTHERS
    hint = "; `dlsched convert` makes an instance of such files" if is_other else ""
    return parse_json(path, read_bytes(path), hint)


def parse_json(path: PathLike, content: bytes, hint: str = "") -> Any:
    """Return the data in a JSON file's content; `path` is what error messages begin with.

    Parameters
    ----------
    path : path
    content : bytes
    hint : str
        What an error message ends with where it is no JSON.

    Raises
    ------
    InputError
        If it is not JSON in UTF-8.
    """
    text = decode(path, content)
    if text.startswith("\ufeff"):
        raise InputError(f"{path}: starts with a byte order mark; JSON is UTF-8 without one")
    unique = _Unique(path, text)
    try:
        with _no_collections():
            return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: line {error.lineno} column {error.colno}: not JSON: {error.msg}{hint}") from None
    except RecursionError:
        raise InputError(f"{path}: {of_deepest(text)}: nested too deeply") from None
    except InputError:
        raise
    except ValueError:
        most = sys.get_int_max_str_digits()
        place = of_long_integer(text, most)
        raise InputError(f"{path}: {place}: has an integer of more than {most} digits") from None


@contextmanager
def _no_collections() -> Iterator[None]:
    """Switch Python's search for cyclic garbage off: data has none, and looking for it takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _without_numpy(data: Any) -> Any:
    """Return data with NumPy's numbers and arrays as Python's own.

    They are looked for only where data is refused: in what is read from files there are none, and it may be large.
    """
    try:
        return _plain(data)
    except RecursionError:  # it is within itself, which validation refuses by its place
        return data


def _plain(data: Any) -> Any:
    if isinstance(data, np.generic | np.ndarray):
        return data.tolist()
    if isinstance(data, dict):
        return {_plain(key): _plain(value) for key, value in data.items()}
    if type(data) in (list, tuple):
        return type(data)(_plain(value) for value in data)
    return data


class _Unique:
    """Makes the objects of a text, whose keys must differ, in the order in which they end."""

    def __init__(self, path: PathLike, text: str) -> None:
        self._path, self._text, self._ended = path, text, 0

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        self._ended += 1
        result = dict(pairs)
        if len(result) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            repeated = next(key for key, count in counts.items() if count > 1)
            place = of_second_key(self._text, self._ended, repeated)
            raise InputError(f"{self._path}: {place}: key {shown(repeated)} appears twice in one object")
        return result


def _fail_fast(schema: Any) -> None:
    parts: Iterable[Any] = schema if isinstance(schema, list) else ()
    if isinstance(schema, dict):
        if schema.get("type") in _COLLECTIONS:
            schema["fail_fast"] = True
        parts = (part for key, part in schema.items() if key not in _OPAQUE)
    for part in parts:
        _fail_fast(part)


class Record(BaseModel):
    """A frozen pydantic model that refuses fields it does not know.

    Examples
    --------
    >>> from dlsched.models import Record
    >>> class Span(Record):
    ...     first: int
    ...     last: int = 9
    >>> Span(first=3).model_copy(update={"last": 4})
    Span(first=3, last=4)
    >>> Span(first=3, lats=4)
    Traceback (most recent call last):
        ...
    dlsched.errors.InputError: lats: unknown field; the nearest is last
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Stop at the first bad item of a list or dict: millions of errors take minutes, and one is shown."""
        schema = handler(source)
        _fail_fast(handler.resolve_ref_schema(schema))
        return schema

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, data: Any) -> Any:
        """Stop at an unknown field that is nearly a known one, or the first where there are more than all of these."""
        if isinstance(data, dict) and not data.keys() <= cls.model_fields.keys():
            unknown = cut(str(next(key for key in data if key not in cls.model_fields)))
            nearest = difflib.get_close_matches(unknown, cls.model_fields.keys() - data.keys(), 1)
            if nearest or len(data) > 2 * len(cls.model_fields):
                raise ValueError(f"{unknown}: unknown field" + "".join(f"; the nearest is {name}" for name in nearest))
        return data

    def __init__(self, **data: Any) -> None:
        try:
            try:
                super().__init__(**data)
            except ValidationError:
                super().__init__(**_without_numpy(data))
        except ValidationError as error:
            raise InputError(one_line(error)) from None

    # Says to pydantic that validation need not come through here: parts of a record are made without it.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the JSON schema; the examples of docstrings, which are in Python, are left out of its descriptions."""
        schema = super().model_json_schema(*args, **kwargs)
        for part in (schema, *schema.get("$defs", {}).values()):
            if "description" in part:
                part["description"] = part["description"].partition("\n\nExamples\n")[0]
        return schema

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields changed and not validated; what is derived from them is derived anew."""
        copy = super().model_copy(update=update, deep=deep)
        for name in [name for name in copy.__dict__ if name not in type(self).model_fields]:
            del copy.__dict__[name]
        return copy


class Document(Record):
    """A record that lives in a JSON file.

    Examples
    --------
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> instance.save("instance.json")
    >>> hadar.Instance.load("instance.json") == instance
    True
    >>> hadar.Instance.parse(instance.dump() | {"slots": 0})
    Traceback (most recent call last):
        ...
    dlsched.errors.InputError: slots: 0 should be greater than or equal to 1
    """

    @classmethod
    @checked
    def load(cls, path: PathLike) -> Self:
        """Read and validate a JSON file.

        Raises
        ------
        InputError
            One line that names the file, the place in it, the value and the rule.
        """
        return cls.parse(read_json(path), path)

    @classmethod
    def parse(cls, data: object, path: PathLike | None = None) -> Self:
        """Validate plain data (dicts, lists, numbers, strings); NumPy's numbers and arrays count as Python's own.

        Parameters
        ----------
        data : object
        path : path, optional
            Of the file that it was read from, for error messages.

        Raises
        ------
        InputError
            One line that names the place, the value and the rule.
        """
        try:
            with _no_collections():
                try:
                    return cls.model_validate(data)
                except ValidationError:
                    if path is not None:
                        raise
                    return cls.model_validate(_without_numpy(data))
        except ValidationError as error:
            place = "" if path is None else f"{path}: {_other_kind(cls, data)}"
            raise InputError(f"{place}{one_line(error)}") from None

    @classmethod
    def misfits(cls, data: object) -> float:
        """Return how many fields data lacks of those needed, or has beside those known; infinite if it has none."""
        if not isinstance(data, dict):
            return math.inf
        needed = {name for name, field in cls.model_fields.items() if field.is_required()}
        return len(data.keys() - cls.model_fields) + len(needed - data.keys())

    def dump(self) -> dict[str, Any]:
        """Return plain JSON data, without the fields that are absent."""
        return self.model_dump(mode="json", exclude_none=True)

    @checked
    def save(self, path: PathLike) -> None:
        """Write the JSON file in one step.

        Raises
        ------
        InputError
            If it cannot be written, or would be larger than files that are read.
        """
        content = (json.dumps(self.dump(), indent=1) + "\n").encode()
        if len(content) > MAX_BYTES:
            raise InputError(f"{path}: would be {len(content)} bytes; files of at most {MAX_BYTES} bytes are read")
        write_bytes(path, content)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON, `origin` left out, as 64 hexadecimal digits."""
        data = self.dump()
        data.pop("origin", None)
        canonical = json.dumps(data, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


def _other_kind(kind: type[Document], data: object) -> str:
    """Return, before what is wrong with a file, what it is instead, where it has other fields that say so."""
    from dlsched.models.problem import recognised

    other = isinstance(data, dict) and not data.keys() <= kind.model_fields.keys()
    what = recognised(data) if other else None
    return "" if what is None else f"is {what}: "


def one_line(error: ValidationError) -> str:
    """Return the first error as ``place: value rule``, and how many more were seen."""
    errors = [each for each in error.errors(include_url=False) if not _follows(each)]
    first = errors[0]
    place = _place(first["loc"])
    rule = _rule(first)
    more = f" (and at least {len(errors) - 1} more)" if len(errors) > 1 else ""
    if not place:
        return f"{rule}{more}"
    return f"{place}{'.' if _NAMES_A_FIELD.match(rule) else ': '}{rule}{more}"


def _follows(error: Any) -> bool:
    """Tell whether pydantic calls a list too short because its bad items are not counted."""
    return bool(error["type"] == "too_short" and len(error["input"]) >= error["ctx"]["min_length"])


def _place(location: tuple[int | str, ...]) -> str:
    text = ""
    tag = False
    for part in location:
        if tag:
            tag = False
            continue
        if isinstance(part, str) and part.startswith("["):
            continue
        text += f"[{part}]" if isinstance(part, int) else f".{cut(part)}" if text else cut(part)
        tag = part in _TAGGED
    return text


def _rule(error: Any) -> str:
    kind, message, value = error["type"], cut(str(error["msg"]), _LONGEST_RULE), error["input"]
    if kind == "value_error":
        return message.removeprefix("Value error, ")
    if kind == "missing":
        return "required field is missing"
    if kind == "extra_forbidden":
        return "unknown field"
    if kind in ("too_long", "too_short"):
        limit = error["ctx"].get("max_length", error["ctx"].get("min_length"))
        return f"{len(value)} values; it must have at {'most' if kind == 'too_long' else 'least'} {limit}"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        ctx = error["ctx"]
        field = str(ctx["discriminator"]).strip("'")
        if kind == "union_tag_not_found":
            return f"{field}: required field is missing"
        return f"{field}: {shown(ctx['tag'])} must be one of {ctx['expected_tags']}"
    what = f"a {type(value).__name__}" if isinstance(value, dict | list | tuple) else shown(value)
    if kind in _SHAPES:
        return f"{what} should be {_SHAPES[kind]}"
    message = message.removeprefix("Input ")
    return f"{what} {message[0].lower()}{message[1:]}"
