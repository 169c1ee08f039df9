"""What a result says of itself: plain text that fits a terminal, and tables where a notebook shows it."""

from __future__ import annotations

import html
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

WIDTH = 80
"""Columns of the text: those of a terminal unless its user has made it wider."""

_LEAST = 24
"""Columns that the last column of a table is broken at, at least. Arbitrary: a few words fit."""

_DIGITS = 9
"""Significant digits of a number: those that values are compared by, and a few more."""

_BLANKS = 2
"""Between two columns."""


@dataclass(frozen=True, slots=True)
class Section:
    """A title and a table; without columns, names and values.

    Attributes
    ----------
    title : str
    rows : sequence of sequence of object
        None is an empty cell. The last cell of a row may be a long text, which is broken; one that stands alone is
        indented after that, as an entry of a list.
    columns : sequence of str
    """

    title: str
    rows: Sequence[Sequence[object]] = ()
    columns: Sequence[str] = ()

    def text(self) -> str:
        """Return it as lines of at most `WIDTH` characters, where names allow that."""
        cells = [*([list(self.columns)] if self.columns else []), *([told(cell) for cell in row] for row in self.rows)]
        title = _lines(self.title)
        if not cells:
            return title
        wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
        right = [self._is_numeric(k) for k in range(len(wide))]
        room = max(_LEAST, WIDTH - sum(wide[:-1]) - _BLANKS * len(wide))
        lines = [title]
        for *first, last in cells:
            lead = "".join(
                " " * _BLANKS + (cell.rjust(size) if flag else cell.ljust(size))
                for cell, size, flag in zip(first, wide, right, strict=False)
            )
            # A number that stands behind others is aligned with those above it; a text may be long.
            parts = [last.rjust(wide[-1])] if right[-1] and self.columns else _broken(last, room, alone=not first)
            lines += [f"{lead if not k else ' ' * len(lead)}{' ' * _BLANKS}{part}" for k, part in enumerate(parts)]
        return "\n".join(line.rstrip() for line in lines)

    def html(self) -> str:
        """Return it as a table of HTML."""
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{html.escape(told(cell))}</td>' for cell in row)}</tr>" for row in self.rows
        )
        caption = f"<caption>{html.escape(self.title)}</caption>"
        return f"<table>{caption}{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"

    def _is_numeric(self, column: int) -> bool:
        cells = [row[column] for row in self.rows if row[column] is not None]
        return bool(cells) and all(
            isinstance(cell, int | float | Fraction) and not isinstance(cell, bool) for cell in cells
        )


def _broken(text: str, room: int, *, alone: bool) -> list[str]:
    """Return the lines of a text; names in one that stands alone stay whole."""
    indent = " " * _BLANKS if alone else ""
    lines = textwrap.wrap(text, room, subsequent_indent=indent, break_long_words=not alone, break_on_hyphens=False)
    return lines or [""]


class Readable(ABC):
    """Gives a result its text and its HTML; ``repr`` stays what Python makes of its fields."""

    __slots__ = ()

    @abstractmethod
    def _sections(self) -> Iterable[Section]:
        """Return what there is to say."""

    def __str__(self) -> str:
        return "\n".join(section.text() for section in self._sections())

    def _repr_html_(self) -> str:
        return "".join(section.html() for section in self._sections())


def facts(**named: object) -> list[tuple[str, object]]:
    """Return names and values as rows, names without underscores; what is None or empty is left out."""
    return [(name.replace("_", " "), value) for name, value in named.items() if value is not None and value != ""]


def told(value: object) -> str:
    """Return a value as people read it, None as nothing, of several one a line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return "\n".join(map(told, value))
    return f"{value:.{_DIGITS}g}" if isinstance(value, float) else _lines(str(value))


def _lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def printable(text: str) -> str:
    """Return a text without characters that a terminal would obey: names of files and jobs may have any."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
