"""The directive ``room``: the reference of what a package exports, from the docstrings where it is defined."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Room(SphinxDirective):
    """``room:: PACKAGE`` lists each public name, in the order of the alphabet, packages within it left out.

    Of a module without a list of them, its classes and functions are.
    """

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the docstring of the package and a section of autodoc for each name."""
        room = importlib.import_module(self.arguments[0])
        # Pages are in Markdown, docstrings and autodoc's directives in reStructuredText.
        lines = StringList(["```{eval-rst}", *_lines(room), "```"], source=room.__name__)
        section = nodes.section()
        section.document = self.state.document
        self.state.nested_parse(lines, self.content_offset, section)
        return section.children


def _lines(room: ModuleType) -> Iterator[str]:
    yield from (*(room.__doc__ or "").splitlines(), "")
    yield from (f".. py:currentmodule:: {room.__name__}", "")
    for name in sorted(_public(room), key=str.casefold):
        thing = getattr(room, name)
        if not isinstance(thing, ModuleType):
            directive = _directive(thing)
            # The text of a number stands below it, where it is defined.
            home = vars(room)["_exports"][name] if directive == "autodata" else room.__name__
            yield from (f".. {directive}:: {home}.{name}", *_options(thing))
            # What another room defines, or a package around this one lists, has its place there.
            here = getattr(thing, "__module__", home).startswith(room.__name__) and not _listed_above(room, name)
            yield from ("" if here else "   :no-index:", "")


def _public(room: ModuleType) -> Iterable[str]:
    """Return what a package lists, or else what a module defines that has a docstring of its own."""
    own = inspect.getmembers(room, lambda thing: getattr(thing, "__module__", "") == room.__name__)
    defined = (name for name, thing in own if inspect.isclass(thing) or inspect.isroutine(thing))
    return getattr(room, "__all__", None) or [name for name in defined if not name.startswith("_")]


def _listed_above(room: ModuleType, name: str) -> bool:
    parts = room.__name__.split(".")
    above = (importlib.import_module(".".join(parts[:k])) for k in range(2, len(parts)))
    return any(name in package.__all__ and getattr(package, name) is getattr(room, name) for package in above)


def _directive(thing: Any) -> str:
    if isinstance(thing, type):
        return "autoexception" if issubclass(thing, BaseException) else "autoclass"
    return "autofunction" if callable(thing) else "autodata"


def _options(thing: Any) -> tuple[str, ...]:
    if isinstance(thing, type) and not issubclass(thing, BaseException):
        ancestors = "BaseModel, tuple, str, int, Enum, Exception, Protocol"
        return ("   :members:", f"   :inherited-members: {ancestors}", "   :exclude-members: model_config")
    return ()


def _prepare(_app: Sphinx, _what: str, _name: str, _thing: Any, _options: Any, lines: list[str]) -> None:
    """Write bars so that they are bars (sizes of sets)."""
    shown = False
    for number, line in enumerate(lines):
        shown = line.lstrip().startswith(">>>") or (shown and bool(line.strip()))
        if not shown and "``" not in line:
            lines[number] = line.replace("|", "\\|")


_ANNOTATED = re.compile(r"~?[\w.]*\bAnnotated\[")


def _sign(
    _app: Sphinx, _what: str, _name: str, _thing: Any, _options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Write types without what makes a field of them: how it is read and checked stands in its text."""
    return _bare(signature), _bare(returned)


def _bare(text: str | None) -> str | None:
    while text is not None and (found := _ANNOTATED.search(text)):
        depth, comma, at = 1, len(text), found.end()
        while depth:
            depth += {"[": 1, "]": -1}.get(text[at], 0)
            if depth == 1 and text[at] == ",":
                comma = min(comma, at)
            at += 1
        text = text[: found.start()] + text[found.end() : comma] + text[at:]
    return text


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive, and what comes before napoleon reads a docstring."""
    app.add_directive("room", Room)
    app.connect("autodoc-process-docstring", _prepare, priority=1)
    app.connect("autodoc-process-signature", _sign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
