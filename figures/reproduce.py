"""Figures of the papers, measured: drawn on as many cores as there are, resumably, into tables and pictures."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlsched.algorithms.table import Cell, Table
from dlsched.arguments import at_least, between, checked
from dlsched.bounds.runner import runner
from dlsched.bounds.statistics import Sample, Support
from dlsched.errors import InputError
from dlsched.figures.drawing import draw
from dlsched.figures.figure import DIGITS, Figure, Statement, Trend, figure, figures_named
from dlsched.figures.points import Curve, Points, curves, judged
from dlsched.models import picture
from dlsched.models.files import write_text

_VERDICT = {Support.SUPPORTED: "holds", Support.REFUTED: "violated", Support.UNDECIDED: "undecided"}

_TOLD = ("draws", "better", "worse", "ties", "mean", "low", "high")

Task = tuple[str, float, int, Path | None]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Reproduction:
    """One figure, measured.

    Attributes
    ----------
    figure : Figure
    curves : tuple of Curve
        Means by point and series; empty where the figure is out of reach.
    samples : tuple of (Statement or Trend, Sample)
        What the draws say of each statement of the paper.
    files : tuple of Path
        What was written.

    Examples
    --------
    >>> from dlsched.figures import reproduce
    >>> (found,) = reproduce("hadar/6", out="build", pictures=False)
    >>> found.figure.title, found.samples, [path.name for path in found.files]
    ('nodes that train in each round: three jobs on five nodes', (), ['hadar-6.csv'])
    """

    figure: Figure
    curves: tuple[Curve, ...]
    samples: tuple[tuple[Statement | Trend, Sample], ...]
    files: tuple[Path, ...]

    @property
    def measured(self) -> str:
        """What was measured, in a sentence for each statement."""
        if self.figure.draw is None:
            return f"Out of reach: {self.figure.note}."
        if not self.curves:
            return f"Not drawn: it needs {', '.join(self.figure.data)}; --data DIR names the folder that has them."
        return " ".join(
            [_summary(self.figure, self.curves), *(_sentence(statement, sample) for statement, sample in self.samples)]
        )

    def csv(self) -> str:
        """Return the table of the means as CSV."""
        rows: list[list[Cell]] = []
        for curve in self.curves:
            numbers = (curve.mean, curve.low, curve.high)
            told = (f"{number:.{DIGITS}g}" if math.isfinite(number) else "" for number in numbers)
            rows.append([self.figure.label(curve.x), curve.series, curve.draws, *told])
        return Table(["x", "series", "draws", "mean", "low", "high"], rows).csv()

    def dump(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "figure": self.figure.name,
            "paper": self.figure.paper,
            "says": self.figure.says,
            "measured": self.measured,
            "note": self.figure.note,
            "curves": [
                {
                    "x": c.x,
                    **({"label": self.figure.label(c.x)} if self.figure.labels else {}),
                    "series": c.series,
                    "draws": c.draws,
                    "mean": c.mean,
                    "low": c.low,
                    "high": c.high,
                }
                for c in self.curves
            ],
            "statements": [
                {
                    "text": statement.text,
                    "claim": statement.claim,
                    "verdict": _VERDICT[sample.support],
                    **{name: getattr(sample, name) for name in _TOLD},
                }
                for statement, sample in self.samples
            ],
            "files": [str(path) for path in self.files],
        }


def _summary(of: Figure, curves_: Iterable[Curve]) -> str:
    """Return where each series begins and ends."""
    told: dict[str, list[Curve]] = {}
    for curve in curves_:
        told.setdefault(curve.series, []).append(curve)
    return "; ".join(_ends(of, series, mine) for series, mine in told.items()) + "."


def _ends(of: Figure, series: str, mine: list[Curve]) -> str:
    ends = [mine[0], *mine[-1:]] if len(mine) > 1 else mine
    return f"{series} {', '.join(f'{curve.mean:.4g} at {of.label(curve.x)}' for curve in ends)}"


def _sentence(statement: Statement | Trend, sample: Sample) -> str:
    counts = f"{sample.better} of {sample.draws} draws for it, {sample.worse} against"
    if not math.isfinite(sample.low):
        return f"{statement.text}: {_VERDICT[sample.support]} ({counts})."
    reach = f"mean difference {sample.mean:.4g}, between {sample.low:.4g} and {sample.high:.4g} at 99 %"
    return f"{statement.text}: {_VERDICT[sample.support]} ({counts}; {reach})."


@checked
def reproduce(
    names: str | Iterable[str] | None = None,
    *,
    out: str | os.PathLike[str],
    quick: bool = False,
    seeds: int | None = None,
    jobs: int | None = 1,
    executor: Executor | str | None = None,
    pictures: bool = True,
    data: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> tuple[Reproduction, ...]:
    r"""Measure figures, and write their tables and pictures.

    What was drawn is kept beside them, so that the same call goes on where one was stopped. Tables and pictures are the
    same whatever the number of processes, but for seconds that are measured.

    Parameters
    ----------
    names : str or iterable of str, optional
        As for `figures_named`; all where it is left out.
    out : path
        A folder, which is made where it is not there.
    quick : bool
        Few points and draws, less than a minute a figure.
    seeds : int, optional
        Draws of a point.
    jobs : int, optional
        Processes; 1 draws in this one. None: one a core, where this one is not done in a few seconds.
    executor : concurrent.futures.Executor or str, optional
        Used in place of processes of this machine; a string is the address of a dask scheduler.
    pictures : bool
        Whether pictures are drawn (extra ``plot``).
    data : path, optional
        A folder of public data, with the names that `Figure.data` has; figures that need it are left out without it,
        and say so.
    progress : callable, optional
        Told (draws there, draws in all).

    Raises
    ------
    InputError
        If there is no such figure, a number is out of range, or the folder cannot be written or has other draws.
    MissingExtra
        If pictures are wanted and matplotlib is not installed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dlsched.figures import reproduce
    >>> (found,) = reproduce("hadar/6", out="build", quick=True, pictures=False)
    >>> [curve.mean for curve in found.curves if curve.series == "HadarE"]
    [5.0, 5.0, 5.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    >>> print("\n".join(Path("build/hadar-6.csv").read_text().splitlines()[:2]))
    x,series,draws,mean,low,high
    1,Hadar,1,3,3,3
    """
    chosen = figures_named(names)
    at_least(1, seeds=seeds)
    between(1, 4096, jobs=jobs)
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror or error}") from None
    source = None if data is None else Path(data)
    within_reach = [entry for entry in chosen if entry.draw is not None and (source is not None or not entry.data)]
    wanted = {entry.name: entry.tasks(quick, seeds) for entry in within_reach}
    with ExitStack() as stack:
        kept = {
            entry.name: stack.enter_context(Points(folder / f"{_stem(entry)}.jsonl", entry, source))
            for entry in within_reach
        }
        _complete(wanted, kept, source, jobs, executor, progress or (lambda there, total: None))
        found = {name: {task: kept[name].found[task] for task in tasks} for name, tasks in wanted.items()}
    return tuple(_written(entry, found.get(entry.name, {}), folder, pictures) for entry in chosen)


def _stem(entry: Figure) -> str:
    return entry.name.replace("/", "-")


def _complete(
    wanted: dict[str, list[tuple[float, int]]],
    kept: dict[str, Points],
    source: Path | None,
    jobs: int | None,
    executor: Executor | str | None,
    tell: Progress,
) -> None:
    """Draw what is not there yet."""
    total = sum(map(len, wanted.values()))

    def missing() -> Iterator[Task]:
        for name, tasks in wanted.items():
            for x, seed in tasks:
                if (x, seed) not in kept[name].found:
                    yield name, x, seed, source

    there = total - sum(1 for _ in missing())
    tell(there, total)
    with runner(jobs, executor, drawn) as run:
        for (name, x, seed, _), values in run(missing()):
            kept[name].add((x, seed), values)
            there += 1
            tell(there, total)


def drawn(task: Task) -> dict[str, float]:
    """Return the values of one draw."""
    name, x, seed, folder = task
    entry = figure(name)
    if entry.draw is None:
        raise InputError(f"{name}: is out of reach")
    return dict(entry.draw(x, seed, folder) if entry.data else entry.draw(x, seed))


def _written(
    entry: Figure, found: dict[tuple[float, int], dict[str, float]], folder: Path, pictures: bool
) -> Reproduction:
    means = tuple(curves(entry, found))
    samples = tuple((each, sample) for each in entry.statements if (sample := judged(each, found)) is not None)
    files = [folder / f"{_stem(entry)}.{ending}" for ending in ("csv", *(("png", "svg") if pictures else ()))]
    done = Reproduction(entry, means, samples, tuple(files) if found else ())
    if found:
        write_text(files[0], done.csv())
        for path in files[1:]:
            picture.save((entry.plot() if entry.plot else draw(entry, means)).figure, path)
    return done
