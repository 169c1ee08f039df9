"""The directive ``room``: the reference of what a package exports, from the docstrings where it is defined."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Room(SphinxDirective):
    """``room:: PACKAGE`` lists each public name, in the order of the alphabet, packages within it left out."""

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
    for name in sorted(room.__all__, key=str.casefold):
        thing = getattr(room, name)
        if not isinstance(thing, ModuleType):
            yield from (f".. {_directive(thing)}:: {room.__name__}.{name}", *_options(thing))
            # What another room defines has its place there.
            yield from ("" if thing.__module__.startswith(room.__name__) else "   :no-index:", "")


def _directive(thing: Any) -> str:
    if isinstance(thing, type):
        return "autoexception" if issubclass(thing, BaseException) else "autoclass"
    return "autofunction" if callable(thing) else "autodata"


def _options(thing: Any) -> tuple[str, ...]:
    if isinstance(thing, type) and not issubclass(thing, BaseException):
        return ("   :members:", "   :inherited-members: BaseModel, tuple, str, int, Enum, Exception, Protocol")
    return ()


def _prepare(_app: Sphinx, _what: str, _name: str, _thing: Any, _options: Any, lines: list[str]) -> None:
    """Write bars so that they are bars (sizes of sets), and give the line with the source a section of its own.

    That line would belong to the section before it.
    """
    shown = False
    for number, line in enumerate(lines):
        shown = line.lstrip().startswith(">>>") or (shown and bool(line.strip()))
        if not shown and "``" not in line:
            lines[number] = line.replace("|", "\\|")
    source = next((n for n, line in enumerate(lines) if line.startswith(("Source: ", "Sources: "))), None)
    if source is not None:
        lines[source:source] = ["References", "----------"]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive, and what comes before napoleon reads a docstring."""
    app.add_directive("room", Room)
    app.connect("autodoc-process-docstring", _prepare, priority=1)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
