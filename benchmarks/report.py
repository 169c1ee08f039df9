"""What was measured, for people: a line a row, and the page docs/benchmarks.md."""

from __future__ import annotations

import math
import platform
import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from importlib.metadata import version
from operator import itemgetter

from benchmarks.benchmark import Benchmark, Row
from dlsched.algorithms.table import Table

_HEAD = """# Benchmarks

Own methods beside other solvers, in one run, the ways in turn on each instance, each in a process of its own with one
thread. *Seconds* are of the wall until the first proof, or until the limit: the least, the median and the most over
the seeds; a second route that confirms the proof, and checks, are timed apart. *CPU* is the median of the
processor's, all routes included. *Gap* is how much better than the value the bound is, median and most, where not all
are proved; *value* is the mean of what was found, over that of the first way. *Ratio* is the median of the seconds
over those of the first way on the same seed: it travels between machines, which seconds do not. Times are of building
and compiling too. Where one method is measured at growing sizes, the exponents of the sizes are least squares of the
logarithms, and *at last* those of the last two; memory is that of the whole process, some 135 MB before it begins. This
page is made by `make bench`, which goes on where it was stopped; `python -m benchmarks NAME --page docs/benchmarks.md`
measures some anew and leaves the others. So two sections may be of two machines, and their seconds do not compare.
"""

_SOLVERS = {"HiGHS": "highspy", "PySCIPOpt": "pyscipopt"}

_SUMMARY = """Where other solvers are measured too, on each seed the one that proves first, or has the least gap at the
limit: how often it proves, and the median of its seconds over the own ones (of two in the middle the lower) where
either proves: a lower bound (≥) where the other had not by then, an upper one (≤) where the own method had not.
"""

_COLUMNS = (
    "family",
    "proved",
    "most seconds",
    "most gap, %",
    "others proved",
    "their most gap, %",
    "their seconds over own",
)


def page(benchmarks: Collection[Benchmark], rows: Iterable[Row], before: str = "") -> str:
    """Return the page of what was measured; what was not is as on the page before, or left out."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.benchmark, []).append(row)
    summary, sections = _parts(before)
    for entry in benchmarks:
        if entry.name in found:
            sections[entry.name] = "\n".join(section(entry, found[entry.name]))
            summary.pop(entry.name, None)
            if _has_rivals(entry, found[entry.name]):
                cells = entry.name, *_against(entry, found[entry.name])
                summary[entry.name] = dict(zip(_COLUMNS, cells, strict=True))
    names = [entry.name for entry in benchmarks]
    parts = [_HEAD]
    if summary:
        lines = [defaultdict(str, summary[name]) for name in names if name in summary]
        parts += [_SUMMARY, Table.of(lines, {name: itemgetter(name) for name in _COLUMNS}).markdown()]
    return "\n".join([*parts, *(f"{sections[name]}\n" for name in names if name in sections)])


def _parts(page: str) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Return a page's summary, cells by column, and its sections, by benchmark."""
    head, *sections = page.split("\n## ")
    lines = [line for line in head.splitlines() if line.startswith("| ")]
    # Columns of empty cells are left out of a table: those that are there are named in its first line.
    columns, *rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines] or [[]]
    summary = {row[0]: dict(zip(columns, row, strict=True)) for row in rows}
    return summary, {part.split("\n", 1)[0]: f"## {part.rstrip()}" for part in sections}


def _has_rivals(entry: Benchmark, rows: Sequence[Row]) -> bool:
    bounded = {row.way for row in rows if row.outcome.bound is not None}
    others = bounded - set(_own_ways(entry))
    return next(iter(entry.ways)) in bounded and any(solver in way for way in others for solver in ("HiGHS", "SCIP"))


def _own_ways(entry: Benchmark) -> list[str]:
    """Return the first way, and the same in several processes."""
    first = next(iter(entry.ways))
    return [way for way in entry.ways if way.startswith(first)]


def _against(entry: Benchmark, rows: Sequence[Row]) -> tuple[str, ...]:
    own = {row.seed: row for row in rows if row.way == next(iter(entry.ways))}
    others = [
        min((row for row in rows if row.seed == seed and row.way not in _own_ways(entry)), key=_rank, default=None)
        for seed in own
    ]
    pairs = [(row, mine) for row, mine in zip(others, own.values(), strict=True) if row is not None]
    ratios = sorted(
        (row.first / mine.first, _side(row.outcome.proved, mine.outcome.proved))
        for row, mine in pairs
        if row.outcome.proved or mine.outcome.proved
    )
    middle = ratios[(len(ratios) - 1) // 2] if ratios else None
    return (
        f"{sum(row.outcome.proved for row in own.values())}/{len(own)}",
        _short(max(row.first for row in own.values())),
        _most_gap(own.values()),
        f"{sum(row.outcome.proved for row, _ in pairs)}/{len(pairs)}",
        _most_gap(row for row, _ in pairs),
        f"{middle[1]}{_short(middle[0])}" if middle else "",
    )


def _side(other: bool, own: bool) -> str:
    """Return which bound the ratio of seconds is where one of the two was stopped before it had a proof."""
    if other and own:
        return ""
    return "≤ " if other else "≥ "


def _most_gap(rows: Iterable[Row]) -> str:
    gaps = [math.inf if row.gap is None else row.gap for row in rows]
    return "" if not any(gaps) else "no schedule" if math.inf in gaps else f"{100 * max(gaps):.2f}"


def _rank(row: Row) -> tuple[bool, float, float]:
    """Return what is less for those that prove first, or end nearer."""
    return not row.outcome.proved, row.gap if row.gap is not None else math.inf, row.first


def section(entry: Benchmark, rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines on one benchmark."""
    versions = ", ".join(f"{name} {version(package)}" for name, package in _SOLVERS.items())
    machine = f"Python {platform.python_version()}, {platform.machine()}"
    yield from (f"## {entry.name}", "")
    yield f"{entry.title}; {len({row.seed for row in rows})} seeds, {entry.limit:g} s; {versions}, {machine}."
    if entry.aim:
        yield f"Aim: {entry.aim}."
    names = list(dict.fromkeys(name for row in rows for name in row.outcome.notes))
    columns = ("way", "proved", "seconds", "CPU", "second route", "gap, %", "value", "ratio", "MB", *names)
    ways = [(way, [row for row in rows if row.way == way]) for way in entry.ways]
    own = {row.seed: row for row in ways[0][1]}
    cells = [(way, *_cells(mine, own), *_notes(mine, names)) for way, mine in ways if mine]
    yield ""
    yield from Table.of(cells, {name: itemgetter(n) for n, name in enumerate(columns)}).markdown().splitlines()
    if entry.grows and len({row.way for row in rows}) > 1:
        yield from ("", growth(rows))


def growth(rows: Sequence[Row]) -> str:
    """Return how CPU seconds and memory grow with the size, which is the way's name: exponents by least squares."""
    sizes = sorted({int(row.way) for row in rows})
    alike = [[row for row in rows if int(row.way) == size] for size in sizes]
    cpu = _exponents(sizes, [statistics.median(row.cpu for row in same) for same in alike])
    memory = _exponents(sizes, [statistics.median(row.memory for row in same) for same in alike])
    return f"Over {math.log2(sizes[-1] / sizes[0]):.1f} doublings CPU as {cpu}; memory as {memory}."


def _exponents(sizes: Sequence[int], costs: Sequence[float]) -> str:
    across, up = [math.log(size) for size in sizes], [math.log(max(cost, _LEAST)) for cost in costs]
    slopes = [statistics.linear_regression(across[first:], up[first:]).slope for first in (0, len(sizes) - 2)]
    return "size^{:.2f}, at last size^{:.2f}".format(*slopes)


_LEAST = 0.01
"""Seconds of a way are at least this much, so that they have a logarithm: a tick of the kernel's clock."""


def _cells(mine: Sequence[Row], own: dict[int, Row]) -> tuple[str, ...]:
    first = [row.first for row in mine]
    second = [row.outcome.phases.get("second route") for row in mine]
    confirmed = [seconds for seconds in second if seconds is not None]
    gaps = [row.gap for row in mine if row.gap is not None]
    bounded = any(row.outcome.bound is not None for row in mine)
    proved = sum(row.outcome.proved for row in mine)
    pairs = [(row, own[row.seed]) for row in mine if row.seed in own]
    ratios = [row.first / best.first for row, best in pairs if best.first]
    worth = [(row.outcome.value, best.outcome.value) for row, best in pairs]
    shares = [value / best for value, best in worth if value is not None and best]
    return (
        f"{proved}/{len(mine)}" if bounded else "",
        f"{_short(min(first))}, {_short(statistics.median(first))}, {_short(max(first))}",
        _short(statistics.median(row.cpu for row in mine)),
        _short(statistics.median(confirmed)) if confirmed else "",
        f"{100 * statistics.median(gaps):.2f}, {100 * max(gaps):.2f}" if gaps and proved < len(mine) else "",
        f"{statistics.mean(shares):.4f}" if shares else "",
        _short(statistics.median(ratios)) if ratios else "",
        f"{max(row.memory for row in mine):.0f}",
    )


def _notes(mine: Sequence[Row], names: Sequence[str]) -> Iterator[str]:
    for name in names:
        values = [row.outcome.notes[name] for row in mine if name in row.outcome.notes]
        numbers = [value for value in values if not isinstance(value, str)]
        if len(numbers) == len(values):
            yield _short(statistics.median(numbers)) if numbers else ""
        else:
            yield ", ".join(dict.fromkeys(map(str, values)))


def line(row: Row) -> str:
    """Return a line on one row."""
    outcome = row.outcome
    state = "proved" if outcome.proved else "" if row.gap is None else f"gap {100 * row.gap:.2f} %"
    phases = "  ".join(f"{phase} {_short(seconds)}" for phase, seconds in outcome.phases.items())
    return f"{row.benchmark:28} {row.way:32} seed {row.seed}  {state:14} {phases}  {row.memory:.0f} MB"


def _short(number: float) -> str:
    return f"{number:.3g}" if abs(number) < 1000 else f"{number:.0f}"
