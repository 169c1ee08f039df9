"""A function's options as a dataclass: what may be chosen, its default, what is said of it; and typed values."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
import types
import typing
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Annotated, Any

from dlsched.errors import InputError, shown

_SECTION = re.compile(r"\n[ ]*Parameters\n[ ]*-+\n(.*?)(?:\n[ ]*\n[ ]*\w+\n[ ]*-+\n|\Z)", re.DOTALL)


def options_of(function: Callable[..., Any], without: Collection[str] = ()) -> type:
    """Return a frozen dataclass of the keyword parameters of a function, or of what makes a class's objects.

    Those without a default have none there. Each field has the parameter's type and default; its metadata have, as
    ``help``, the first sentence that the numpydoc section on parameters says of it, there or in a class it inherits.

    Parameters
    ----------
    function : callable
        Annotated.
    without : collection of str
        Parameters that are no options.
    """
    documented = function.func if isinstance(function, partial) else function
    said: dict[str, str] = {}
    for kind in reversed(documented.__mro__ if isinstance(documented, type) else (documented,)):
        said |= _said(inspect.getdoc(kind) or "")
    fields = [
        (
            parameter.name,
            Any if parameter.annotation is parameter.empty else parameter.annotation,
            dataclasses.field(
                default=dataclasses.MISSING if parameter.default is parameter.empty else parameter.default,
                metadata={"help": said.get(parameter.name, "")},
            ),
        )
        for parameter in inspect.signature(function, eval_str=True).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.name not in without
    ]
    return dataclasses.make_dataclass("Options", fields, frozen=True, kw_only=True)


def _said(text: str) -> dict[str, str]:
    """Return the first sentence on each parameter of a numpydoc docstring."""
    section = _SECTION.search(f"\n{text}")
    if section is None:
        return {}
    said: dict[str, list[str]] = {}
    names: list[str] = []
    for line in textwrap.dedent(section.group(1)).splitlines():
        if line and not line[0].isspace():
            names = [name.strip(" *") for name in line.partition(" : ")[0].split(",")]
        else:
            for name in names:
                said.setdefault(name, []).append(line.strip())
    return {name: _first_sentence(" ".join(lines)) for name, lines in said.items()}


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s+(?=[A-Z`\"(])", text.replace("``", "").replace("`", ""), maxsplit=1)[0]


def pairs(what: str, text: str, separator: str = ",") -> dict[str, str]:
    """Read ``"a=1,b=2"``; what has no ``=`` stands for nothing.

    Raises
    ------
    InputError
        If a name is there twice; the message begins with what they are options of.
    """
    found: dict[str, str] = {}
    for item in text.split(separator):
        name, _, value = (part.strip() for part in item.partition("="))
        if name in found:
            raise InputError(f"{what}: {shown(name)} is named twice")
        found[name] = value
    return found


def chosen(text: str) -> tuple[str, dict[str, str]]:
    """Return the name and the options in ``"name:option=value:option=value"``, for `values`."""
    name, colon, options = text.partition(":")
    return name, pairs(name, options, ":") if colon else {}


def values(what: str, options: type, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of options that were typed as text.

    Parameters
    ----------
    what : str
        What they are options of, for error messages.
    options : type
        As `options_of` returns it.
    texts : mapping of str to str
        By option, with ``-`` or ``_``.

    Raises
    ------
    InputError
        If there is no such option, or a text is no value of it.
    """
    known, found = can_be_typed(options), dict[str, Any]()
    for name, text in texts.items():
        field = known.get(name.replace("-", "_"))
        if field is None:
            raise InputError(f"{what}: has no option {shown(name)}; there are {', '.join(known) or 'none'}")
        found[field.name] = _value(f"{what}: {field.name}", typed(field.type), text)
    return found


def _value(place: str, kind: Any, text: str) -> Any:
    if kind is bool and text in _TRUTH:
        return _TRUTH[text]
    try:
        if kind is not bool:
            return kind(text)
    except ValueError:
        pass
    expected = NUMBERS.get(kind) or f"one of {', '.join(_TRUTH if kind is bool else kind)}"
    raise InputError(f"{place}: {shown(text)} is not {expected}")


_TRUTH = {"yes": True, "no": False}


def can_be_typed(options: type) -> dict[str, dataclasses.Field[Any]]:
    """Return the fields of an options dataclass whose values can stand on a command line."""
    return {field.name: field for field in dataclasses.fields(options) if typed(field.type) is not None}


def typed(hint: Any) -> Any:
    """Return what a typed value of a type is read as; None where its values cannot be typed."""
    members = {member for member in _members(hint) if member is not type(None)}
    names = {member for member in members if isinstance(member, type) and issubclass(member, StrEnum)}
    if len(names) == 1:
        return next(iter(names))
    if {float, str} <= members:
        return number_or_text
    if float in members and any(_is_numbers(member) for member in members):
        return numbers
    # Where text is taken too, the function itself reads numbers in it.
    return next((kind for kind in (str, bool, float, int) if kind in members), None)


def number_or_text(text: str) -> float | str:
    """Return a number where a text is one, and else the text."""
    try:
        return float(text)
    except ValueError:
        return text


def numbers(text: str) -> float | list[float]:
    """Return a number, or those in ``"1,2"`` (ValueError where one is none)."""
    found = [float(part) for part in text.split(",")]
    return found if len(found) > 1 else found[0]


NUMBERS: dict[Any, str] = {int: "a whole number", float: "a number", numbers: "a number, nor several as in 1,2"}
"""What a typed value is to be, by what it is read as."""


def _is_numbers(hint: Any) -> bool:
    return typing.get_origin(hint) is Sequence and float in _members(typing.get_args(hint)[0])


def _members(hint: Any) -> Iterator[Any]:
    if typing.get_origin(hint) is Annotated:
        yield from _members(typing.get_args(hint)[0])
    elif typing.get_origin(hint) in (typing.Union, types.UnionType):
        for member in typing.get_args(hint):
            yield from _members(member)
    else:
        yield hint
