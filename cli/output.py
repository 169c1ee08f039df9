"""What the command prints: JSON or a table on stdout; notes, progress and errors on stderr."""

from __future__ import annotations

import errno
import json
import math
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, is_dataclass
from fractions import Fraction
from operator import gt
from pathlib import Path
from typing import Any, TypeVar

import typer

from dlsched.cli.interrupt import HUNG_UP
from dlsched.errors import InputError
from dlsched.readable import printable, told

T = TypeVar("T")

PATIENCE = 2.0
"""Seconds after which a terminal is told that something is still going on. Arbitrary: before, nobody wonders."""

CLOSED = 141
"""Exit code when whoever reads stdout has gone away: as a shell reports SIGPIPE."""

_WIDEST = 160
"""Columns of a table, at most. Arbitrary: few of its cells are broken, and lines can still be followed."""

_READABLE = 110
"""Columns of prose. Arbitrary: longer lines are hard to follow."""

_UNBROKEN = 10**6
"""Columns that no table has."""

_NAME = 36
"""Columns up to which names, which stand first, are not broken. Arbitrary: less than half of a narrow terminal."""

_LONGEST_NOTE = 2000
"""Characters of a line on stderr. Arbitrary: no message of ours is as long; what a library says may be."""

_REFRESH = 0.1
"""Seconds between two pictures of a spinner. Arbitrary: it seems to move."""


def note(text: str) -> None:
    """Print one line on stderr."""
    with suppress(OSError):
        print(f"dlsched: {_one_line(text)}", file=sys.stderr, flush=True)


def _one_line(text: str) -> str:
    """Return a text on one line of bounded length."""
    line = " ".join(text.split())
    line = line if len(line) <= _LONGEST_NOTE else line[: _LONGEST_NOTE - 3] + "..."
    return printable(line)


def emit(text: str) -> None:
    """Print text on stdout.

    Raises
    ------
    typer.Exit
        With `CLOSED` or `HUNG_UP`, if nobody reads it any more.
    InputError
        If it cannot be written to.
    """
    with _to_stdout():
        print(text, flush=True)


@contextmanager
def _to_stdout() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        gone = error.errno == errno.EIO and stat.S_ISCHR(os.fstat(sys.stdout.fileno()).st_mode)
        if gone or isinstance(error, BrokenPipeError):
            _drop()
            raise typer.Exit(HUNG_UP if gone else CLOSED) from None
        raise unwritable(error) from None


def unwritable(error: OSError) -> InputError:
    """Return what refuses a standard output that cannot be written to."""
    _drop()
    return InputError(f"standard output: {error.strerror or error}")


def _drop() -> None:
    """Drop what is left in the buffer: it would be tried again, and fail again, when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def emit_json(data: Any) -> None:
    """Print one JSON document on stdout."""
    emit(json.dumps(plain(data), indent=1, allow_nan=False))


def plain(value: Any) -> Any:
    """Return plain JSON data: rationals in their JSON form, what is not a finite number as null."""
    if isinstance(value, Fraction):
        from dlsched.models.numbers import to_json

        return to_json(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table for people on stdout; columns whose name starts with ``>`` are aligned to the right.

    Where it is wider than the console, its columns have no blanks beside them; where that does not do, cells are
    broken between words, and lines part the rows: nothing is left out. Where words would be broken, rows become
    columns if they fit as such; else the columns are told in parts, one below the other, each beside the first one.
    """
    cells = [[told(cell) for cell in row] for row in rows]
    console = _console()
    names = [name.removeprefix(">") for name in columns]
    broken = _all_in(_least(columns, cells)) > console.width
    if broken and _all_in(_widest(row) for row in (names, *cells)) <= console.width:
        first, *others = zip(names, *cells, strict=True)
        columns, cells = [first[0], *(f">{name}" for name in first[1:])], [list(row) for row in others if any(row[1:])]
    tables = [
        _rendered(console, [columns[k] for k in block], [[row[k] for k in block] for row in cells])
        for block in _blocks(_least(columns, cells), console.width)
    ]
    emit("\n".join([printable(title), *tables]))


def _console() -> Any:
    """Return a console as wide as the terminal, or the variable ``COLUMNS``, says: else 80 columns."""
    from rich.console import Console

    console = Console()
    console.width = min(console.width, _WIDEST)
    return console


def _all_in(widths: Iterable[int]) -> int:
    """Return how wide a table of such columns is, with what parts them."""
    return 1 + sum(1 + width for width in widths)


def _least(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> list[int]:
    """Return how wide columns are in which no word is broken, and no name that stands in front."""
    names = _widest(row[0] for row in cells)
    words = [_longest_word([name, *(row[k] for row in cells)]) for k, name in enumerate(columns)]
    return [max(words[0], names) if names <= _NAME else words[0], *words[1:]]


def _blocks(least: Sequence[int], room: int) -> list[list[int]]:
    """Return which columns stand beside each other: the first one, and at least one other, as many as have room."""
    blocks = [[0]]
    for k, width in enumerate(least[1:], start=1):
        if len(blocks[-1]) > 1 and _all_in([*(least[j] for j in blocks[-1]), width]) > room:
            blocks.append([0])
        blocks[-1].append(k)
    return blocks


def _longest_word(texts: Iterable[str]) -> int:
    return max((_widest([word]) for text in texts for word in text.removeprefix(">").split()), default=0)


def _shared(natural: Sequence[int], least: Sequence[int], room: int) -> list[int] | None:
    """Return how wide columns are that share a room: no less than they need, the rest by what they would like.

    None where there is no room for what they need.
    """
    spare = room - sum(least)
    if spare < 0:
        return None
    missing = [wanted - need for wanted, need in zip(natural, least, strict=True)]
    total = sum(missing)
    return [need + spare * more // max(total, spare, 1) for need, more in zip(least, missing, strict=True)]


def _widest(texts: Iterable[str]) -> int:
    from rich.cells import cell_len

    return max((cell_len(line) for text in texts for line in text.splitlines()), default=0)


def prose(paragraphs: Iterable[str]) -> None:
    """Print paragraphs for people on stdout, as wide as the terminal, and no wider than is read with ease.

    What is indented belongs to the paragraph before.
    """
    from textwrap import wrap

    width = min(_READABLE, _console().width)
    lines = []
    for text in paragraphs:
        indent = " " * (len(text) - len(text.lstrip()))
        lines += wrap(
            printable(text), width, subsequent_indent=f"{indent}  ", break_long_words=False, break_on_hyphens=False
        )
    emit("\n".join(lines))


def facts(title: str, data: dict[str, object]) -> None:
    """Print names and values for people on stdout."""
    table(title, ("", "value"), list(data.items()))


def _rendered(console: Any, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    from rich.table import Table
    from rich.text import Text

    grid = Table(header_style="bold")
    names = _widest(row[0] for row in cells)
    for k, column in enumerate(columns):
        justify: Any = "right" if column.startswith(">") else "left"
        whole = not k and names <= _NAME
        grid.add_column(Text(column.removeprefix(">")), justify=justify, overflow="fold", no_wrap=whole)
    for row in cells:
        grid.add_row(*map(Text, row))
    with _to_stdout(), console.capture() as capture:
        wanted = console.measure(grid, options=console.options.update(width=_UNBROKEN)).maximum
        if wanted > console.width:
            contents = [_widest(row[k] for row in cells) for k in range(len(columns))]
            natural = [max(_widest([name]), width) for name, width in zip(columns, contents, strict=True)]
            widths = _shared(natural, _least(columns, cells), console.width - 1 - len(columns))
            for k, width in enumerate(widths or ()):
                grid.columns[k].width = width
            if widths is None:
                # Every column shows some of its letters in each line, names as well.
                for each in grid.columns:
                    each.no_wrap, each.min_width = False, 1
            grid.padding = (0, 0)
            grid.show_lines = widths is None or any(map(gt, contents, widths))
        console.print(grid)
    text: str = capture.get()
    return text.rstrip("\n")


def within(seconds: float | None, work: str, run: Callable[[], T]) -> T:
    """Return what a function returns, if it does within a time.

    Raises
    ------
    InputError
        If it does not.
    """
    from dlsched.halt import Halt, cut, until

    try:
        with until(seconds=seconds):
            return cut(run)
    except Halt:
        raise InputError(f"--time-limit: {work} takes longer than {seconds:g} s") from None


@contextmanager
def waiting(text: str) -> Iterator[Callable[[str], None]]:
    """Show a spinner and the seconds on a terminal's stderr while the block takes longer than `PATIENCE`.

    Yields
    ------
    callable
        Called with what is to be shown beside the text from then on.
    """
    if not sys.stderr.isatty():
        yield lambda news: None
        return
    over, shown_ = threading.Event(), [text]
    thread = threading.Thread(target=_spin, args=(shown_, over), daemon=True)
    thread.start()
    try:
        yield lambda news: shown_.__setitem__(0, f"{text}: {news}")
    finally:
        over.set()
        thread.join()


def _spin(text: list[str], over: threading.Event) -> None:
    if over.wait(PATIENCE):
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=_stderr(), transient=True) as progress:
        task = progress.add_task(text[0], total=None)
        while not over.wait(_REFRESH):
            progress.update(task, description=text[0])


@contextmanager
def counting(text: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function of (done, total) that shows a bar on a terminal's stderr once the block takes `PATIENCE`."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    progress = Progress(*columns, console=_stderr(), transient=True)
    bar = progress.add_task(text, total=None)
    late = threading.Timer(PATIENCE, progress.start)
    late.daemon = True
    late.start()
    try:
        yield lambda done, total: progress.update(bar, completed=done, total=total)
    finally:
        late.cancel()
        late.join()
        progress.stop()


def _stderr() -> Any:
    from rich.console import Console

    return Console(stderr=True)


def tell(title: str, result: dict[str, object], as_json: bool) -> None:
    """Print what was found: in a ``finally``, so that a file that cannot be written costs nobody the result."""
    if as_json:
        emit_json(result)
    else:
        facts(title, result)


def keep(schedule: Any, out: Path | None) -> None:
    """Write a schedule where a file is named, and say so."""
    if out is None:
        return
    if schedule is None:
        note(f"{out} is not written: there is no feasible schedule")
        return
    schedule.save(out)
    note(f"wrote {out}")
