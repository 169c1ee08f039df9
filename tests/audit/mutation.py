"""Mutations of JSON documents, of text and of bytes, from a generator's draws alone."""

from __future__ import annotations

import copy
import json
import math
import string
from collections.abc import Callable
from typing import Any

import numpy as np

_RAW = "\ue000"
"""Marks a string that stands for the JSON text after it, such as a number that Python cannot hold."""

_ODD: tuple[Any, ...] = (
    *(0, 1, -1, 2, 3, 0.5, -0.0, 1e-9, 1e-300, 5e-324, 1e20, 1e300, 2**31, 2**53 + 1, 2**63, 2**64, 10**18, 10**30),
    *(math.nan, math.inf, -math.inf, True, False, None),
    *(
        "",
        " ",
        "0",
        "1/3",
        "1/0",
        "-1/2",
        "1e400",
        "1e-400",
        "9" * 399,
        "1/" + "9" * 398,
        "NaN",
        "inf",
        "0x10",
        "1_000",
    ),
    *("\x00", "a\nb", "\u202e", "\ud800", "é" * 50, "name" * 5000, "１２", "../../etc/passwd"),
    *([], {}, [[]], [1, 2, 3], {"a": 1}, [None], {"": {}}),
    *(_RAW + raw for raw in ("1e400", "-1e400", "1" * 400, "9" * 5000, "1e-5000", "0." + "0" * 300 + "1")),
    *(10**5, 10**6, 10**9, 10**12),
)
_DEEP = 3000


def _path(data: Any, rng: np.random.Generator) -> list[Any]:
    """Return the keys that lead to a random place, deeper ones as likely as shallow ones."""
    path: list[Any] = []
    while isinstance(data, dict | list) and data and (not path or rng.random() < 0.75):
        keys = list(data) if isinstance(data, dict) else list(range(len(data)))
        path.append(keys[int(rng.integers(len(keys)))])
        data = data[path[-1]]
    return path


def _at(data: Any, path: list[Any]) -> Any:
    for key in path:
        data = data[key]
    return data


def _odd(rng: np.random.Generator) -> Any:
    return copy.deepcopy(_ODD[int(rng.integers(len(_ODD)))])


def _drop(place: Any, key: Any, rng: np.random.Generator, other: Any) -> None:
    del place[key]


def _replace(place: Any, key: Any, rng: np.random.Generator, other: Any) -> None:
    place[key] = _odd(rng)


def _retype(place: Any, key: Any, rng: np.random.Generator, other: Any) -> None:
    value = place[key]
    turned: tuple[Any, ...] = (str(value), [value], {"value": value}, None, json.dumps(value, default=str))
    place[key] = turned[int(rng.integers(len(turned)))]


def _scale(place: Any, key: Any, rng: np.random.Generator, other: Any) -> None:
    value = place[key]
    if isinstance(value, bool) or not isinstance(value, int | float):
        _replace(place, key, rng, other)
        return
    factors = (-1, 10, 1000, 10**6, 10**9, 10**12, 10**18, 1e-3, 1e-9, 1e-12, 0.1 + 0.2, 1.0)
    place[key] = value * factors[int(rng.integers(len(factors)))]


def _repeat(place: Any, key: Any, rng: np.random.Generator, other: Any) -> None:
    if isinstance(place, list):
        place.insert(int(rng.integers(len(place) + 1)), copy.deepcopy(place[key]))
    else:
        place[f"{key}2"] = copy.deepcopy(place[key])


def _rename(place: Any, key: Any, rng: np.random.Generator, other: Any) -> None:
    if isinstance(place, dict):
        names = (key.upper(), key[:-1], f"{key} ", "", "name", "02", "-1", "１", "9" * 30)
        place[names[int(rng.integers(len(names)))]] = place.pop(key)
    else:
        place.reverse()


def _graft(place: Any, key: Any, rng: np.random.Generator, other: Any) -> None:
    place[key] = copy.deepcopy(_at(other, _path(other, rng)))


def _nest(place: Any, key: Any, rng: np.random.Generator, other: Any) -> None:
    place[key] = _RAW + "[" * _DEEP + "]" * _DEEP


def _swap(place: Any, key: Any, rng: np.random.Generator, other: Any) -> None:
    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
    second = keys[int(rng.integers(len(keys)))]
    place[key], place[second] = place[second], place[key]


_CHANGES: tuple[Callable[[Any, Any, np.random.Generator, Any], None], ...] = (
    *(_drop, _replace, _replace, _replace, _retype, _scale, _scale, _scale, _repeat, _rename, _graft, _swap, _nest),
)


def structured(data: Any, rng: np.random.Generator, other: Any = None) -> Any:
    """Return JSON data with one to three changed places.

    Parameters
    ----------
    data : JSON data
    rng : numpy.random.Generator
    other : JSON data, optional
        A document of another kind, parts of which may be put into this one.
    """
    changed = copy.deepcopy(data)
    for _ in range(int(rng.integers(1, 4))):
        path = _path(changed, rng)
        if path:
            change = _CHANGES[int(rng.integers(len(_CHANGES)))]
            change(_at(changed, path[:-1]), path[-1], rng, data if other is None else other)
    return changed


_PLAIN = (0, 1, 2, 3, 7, 100, 1000, 10**5, 10**6, 10**9, 10**18, 10**30, 0.5, 1e-3, 1e-9, 1e-30, "1/3", "2/7", "1e20")


def mild(data: Any, rng: np.random.Generator) -> Any:
    """Return JSON data with one or two numbers replaced by others that may well be allowed there."""
    changed = copy.deepcopy(data)
    for _ in range(int(rng.integers(1, 3))):
        path = _path(changed, rng)
        while path and isinstance(_at(changed, path), dict | list | str):
            path = _path(changed, rng) if rng.random() < 0.9 else []
        if path:
            value = _at(changed, path)
            if rng.random() < 0.5 or not isinstance(value, int | float):
                _at(changed, path[:-1])[path[-1]] = _PLAIN[int(rng.integers(len(_PLAIN)))]
            else:
                _scale(_at(changed, path[:-1]), path[-1], rng, None)
    return changed


def encoded(data: Any) -> bytes:
    """Return the JSON text of mutated data; it may be no JSON that Python reads."""
    text = json.dumps(data)
    marker = json.dumps(_RAW)[1:-1]
    pieces = text.split(f'"{marker}')
    plain = pieces[0] + "".join("".join(piece.split('"', 1)) for piece in pieces[1:])
    return plain.replace(marker, "").encode("utf-8", "surrogatepass")


def lines(text: str, rng: np.random.Generator, words: tuple[str, ...] = ()) -> str:
    """Return text with one to three lines or words dropped, doubled, moved or replaced."""
    rows = text.split("\n")
    for _ in range(int(rng.integers(1, 4))):
        at, kind = int(rng.integers(len(rows))), int(rng.integers(6))
        if kind == 0 and len(rows) > 1:
            del rows[at]
        elif kind == 1:
            rows.insert(int(rng.integers(len(rows) + 1)), rows[at])
        elif kind == 2:
            rows.insert(int(rng.integers(len(rows))), rows.pop(at))
        else:
            rows[at] = _worded(rows[at], rng, words)
    return "\n".join(rows)


def _worded(row: str, rng: np.random.Generator, words: tuple[str, ...]) -> str:
    cuts = [i for i, c in enumerate(row) if c in "\t ,:\"'<>[]{}=-"]
    spans = [(a + 1, b) for a, b in zip([-1, *cuts], [*cuts, len(row)], strict=True) if b > a + 1]
    if not spans:
        return row + _word(rng, words)
    start, end = spans[int(rng.integers(len(spans)))]
    return row[:start] + _word(rng, words) + row[end:]


def _word(rng: np.random.Generator, words: tuple[str, ...]) -> str:
    if words and rng.random() < 0.3:
        return words[int(rng.integers(len(words)))]
    odd = _odd(rng)
    return odd.removeprefix(_RAW) if isinstance(odd, str) else json.dumps(odd)


def raw(content: bytes, rng: np.random.Generator) -> bytes:
    """Return bytes with some flipped, cut, doubled or inserted, cut short, or in another encoding."""
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(changed) + 1))
        length = int(rng.integers(1, 17))
        kind = int(rng.integers(8))
        if kind <= 1 and at < len(changed):
            changed[at] ^= 1 << int(rng.integers(8))
        elif kind == 2:
            del changed[at : at + length]
        elif kind == 3:
            changed[at:at] = changed[at : at + 8 * length]
        elif kind == 4:
            changed[at:at] = rng.bytes(length)
        elif kind == 5:
            del changed[at:]
        elif kind == 6:
            letters = string.punctuation + string.digits
            changed[at : at + 1] = letters[int(rng.integers(len(letters)))].encode()
        else:
            changed = _recoded(changed, rng)
    return bytes(changed)


def _recoded(content: bytearray, rng: np.random.Generator) -> bytearray:
    text = content.decode("utf-8", "replace")
    kind = ("utf-16", "utf-32-le", "latin-1", "utf-8-sig", "utf-7")[int(rng.integers(5))]
    return bytearray(text.encode(kind, "replace"))
