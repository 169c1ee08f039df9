"""A function's options as a dataclass: what may be chosen, its default, and what its docstring says of it."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Callable, Collection
from typing import Any

_SECTION = re.compile(r"\n[ ]*Parameters\n[ ]*-+\n(.*?)(?:\n[ ]*\n[ ]*\w+\n[ ]*-+\n|\Z)", re.DOTALL)


def options_of(function: Callable[..., Any], without: Collection[str] = ()) -> type:
    """Return a frozen dataclass of the keyword parameters of a function, or of what makes a class's objects.

    Those without a default have none there. Each field has the parameter's type and default; its metadata have, as
    ``help``, the first sentence that the numpydoc section on parameters says of it.

    Parameters
    ----------
    function : callable
        Annotated.
    without : collection of str
        Parameters that are no options.
    """
    said = _said(inspect.getdoc(function) or "")
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
