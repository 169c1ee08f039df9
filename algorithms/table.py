"""A table: what a comparison says, for people, spreadsheets and pages."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple, Self, TypeVar

from dlsched.models.files import PathLike, write_text
from dlsched.readable import Section

R = TypeVar("R")
Cell = str | float | int | None


class Table(NamedTuple):
    """Columns and rows.

    Attributes
    ----------
    columns : list of str
    rows : list of list of Cell
        None where there is nothing to tell.
    """

    columns: list[str]
    rows: list[list[Cell]]

    @classmethod
    def of(cls, things: Iterable[R], read: Mapping[str, Callable[[R], Cell | Fraction]]) -> Self:
        """Return the table of things, by column how a cell is read off one; columns of empty cells are left out."""
        listed = list(things)
        cells = {name: [plain(column(thing)) for thing in listed] for name, column in read.items()}
        kept = {name: column for name, column in cells.items() if any(cell not in (None, "") for cell in column)}
        return cls(list(kept), [list(row) for row in zip(*kept.values(), strict=True)])

    def records(self) -> list[dict[str, Cell]]:
        """Return each row by column: what JSON has, and what a data frame is made of."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def sections(self, title: str, columns: Collection[str]) -> Iterator[Section]:
        """Yield some of its columns, numbers with few digits, and what is noted of a row, as it has room below."""
        kept = [name for name in self.columns if name in columns]
        rows = self.records()
        yield Section(title, [[_short(row[name]) for name in kept] for row in rows], kept)
        notes = [(row[self.columns[0]], row["note"]) for row in rows if row.get("note")]
        if notes:
            yield Section("Notes", notes)

    def csv(self) -> str:
        """Return it as CSV."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.columns, *self.rows])
        return text.getvalue()

    def markdown(self) -> str:
        """Return it in Markdown."""
        cells = ([" ".join(text_of(cell).replace("|", "\\|").splitlines()) for cell in row] for row in self.rows)
        lines = [self.columns, ["---"] * len(self.columns), *cells]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def write(self, path: PathLike) -> None:
        """Write it, as CSV or, where the name ends in ``.md``, in Markdown."""
        write_text(path, self.markdown() if str(path).lower().endswith(".md") else self.csv())


def text_of(cell: Cell) -> str:
    """Return a cell as text, numbers with few digits."""
    if cell is None:
        return ""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def _short(cell: Cell) -> Cell:
    return float(text_of(cell)) if isinstance(cell, float) else cell


def plain(cell: Cell | Fraction) -> Cell:
    """Return a cell whose rational, if it is one, is a float."""
    return float(cell) if isinstance(cell, Fraction) else cell
