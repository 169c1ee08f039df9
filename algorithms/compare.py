"""Several algorithms on one instance, beside its certified optimum."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dlsched.algorithms.algorithm import Algorithm, algorithms, algorithms_named
from dlsched.algorithms.exact.dispatch import optimum
from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.halt import Halt, until
from dlsched.models import picture
from dlsched.models.document import Document
from dlsched.models.files import PathLike, write_text
from dlsched.models.problem import Problem, problem_of
from dlsched.models.schedule import Measures

OPTIMUM, BEST_FOUND = "optimum", "best found"
_PANEL = (9.0, 3.0)
"""Inches of a schedule in the picture of all. Arbitrary: a page is as wide, and holds three or four."""

Cell = str | float | int | None


@dataclass(frozen=True, slots=True)
class Row:
    """What one algorithm does.

    Attributes
    ----------
    name : str
        Of the algorithm; ``optimum``, or ``best found`` where time was up before its proof.
    utility : float or None
        Of its schedule; None where there is none.
    schedule : Document or None
        Passed the problem's checker.
    measures : Measures or None
        Of a schedule of the problem's own kind.
    seconds : float
    note : str
        Whether an optimum is proved; why there is no schedule, where there is none.
    """

    name: str
    utility: float | None
    schedule: Any
    measures: Measures | None
    seconds: float
    note: str = ""

    @property
    def admitted(self) -> int | None:
        """How many jobs are in the schedule."""
        return None if self.schedule is None else len(self.schedule.jobs)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Several algorithms on one instance.

    Attributes
    ----------
    instance : Document
    problem : Problem
    bound : float or None
        On the utility of every schedule, certified.
    rows : tuple of Row
        The optimum first.
    """

    instance: Any
    problem: Problem[Any, Any]
    bound: float | None
    rows: tuple[Row, ...]

    def table(self) -> tuple[list[str], list[list[Cell]]]:
        """Return the columns and the rows of the table; a measure that the problem has not has no column.

        JCT and makespan are in `unit`; *in use* is the utilisation, *unfairness* the greatest finish-time ratio.
        """
        named: dict[str, Callable[[Row], Cell]] = {
            "algorithm": lambda row: row.name,
            "utility": lambda row: row.utility,
            "of the bound": self._share,
            "jobs": lambda row: row.admitted,
            "mean JCT": _measured(lambda known: known.mean),
            "median JCT": _measured(lambda known: known.median),
            "makespan": _measured(lambda known: _float(known.end)),
            "in use": _measured(lambda known: _float(known.used)),
            "unfairness": _measured(lambda known: known.unfairness),
            "seconds": lambda row: row.seconds,
            "note": lambda row: row.note,
        }
        columns: dict[str, list[Cell]] = {name: [read(row) for row in self.rows] for name, read in named.items()}
        kept = {name: cells for name, cells in columns.items() if any(cell not in (None, "") for cell in cells)}
        return list(kept), [list(cells) for cells in zip(*kept.values(), strict=True)]

    @property
    def unit(self) -> str:
        """Of times, e.g. ``slots``; empty where there are none."""
        return next((row.measures.unit for row in self.rows if row.measures is not None), "")

    def job_table(self) -> tuple[list[str], list[list[Cell]]]:
        """Return, for each job, how long it takes under each algorithm: nothing where it does not end."""
        shown = [row for row in self.rows if row.measures is not None]
        columns = ["job", *(row.name for row in shown)]
        rows: list[list[Cell]] = [
            [job.name, *(_float(row.measures.durations.get(job.name)) for row in shown if row.measures is not None)]
            for job in self.instance.jobs
        ]
        return columns, rows

    def csv(self) -> str:
        """Return the table as CSV."""
        columns, rows = self.table()
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([columns, *rows])
        return text.getvalue()

    def markdown(self) -> str:
        """Return the table in Markdown."""
        columns, rows = self.table()
        lines = [columns, ["---"] * len(columns), *([_text(cell) for cell in row] for row in rows)]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def save_plot(self, path: PathLike) -> None:
        """Draw all schedules of the problem's own kind into one file, one below the other.

        The name's ending chooses the format.

        Raises
        ------
        InputError
            If the problem has no pictures, no schedule is there, the format is unknown, or the file cannot be written.
        MissingExtra
            If matplotlib is not installed.
        """
        drawn = [row for row in self.rows if self._usual(row)]
        if self.problem.plot is None or not drawn:
            raise InputError(f"{path}: {self.problem.name} has no picture of these schedules")
        width, height = _PANEL
        axes = picture.axes(width, height * len(drawn), rows=len(drawn))
        for row, ax in zip(drawn, axes, strict=True):
            self.problem.plot(self.instance, row.schedule, ax)
            ax.set_title(f"{row.name}: {_text(row.utility)}")
        picture.save(axes[0].figure, path)

    def write(self, path: PathLike) -> None:
        """Write the table, as CSV or, where the name ends in ``.md``, in Markdown."""
        write_text(path, self.markdown() if str(path).lower().endswith(".md") else self.csv())

    def _share(self, row: Row) -> float | None:
        # The bound is on the problem's own schedules: those of another kind may be worth more.
        return row.utility / self.bound if self._usual(row) and row.utility is not None and self.bound else None

    def _usual(self, row: Row) -> bool:
        """Tell whether a row has a schedule of the problem's own kind."""
        return isinstance(row.schedule, self.problem.schedule)


def _measured(read: Callable[[Measures], float | None]) -> Callable[[Row], Cell]:
    return lambda row: None if row.measures is None else read(row.measures)


def _float(value: Any) -> float | None:
    return None if value is None else float(value)


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell).replace("|", "\\|")


@checked
def compare(
    instance: Document,
    names: Sequence[str] = (),
    *,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Run algorithms on an instance, each with its usual options, beside the certified optimum.

    Parameters
    ----------
    instance : Document
        Of any problem.
    names : sequence of str
        Of algorithms; all that make schedules of the problem's own kind where it is left out.
    seed : int
        Of every run.
    time_limit : float, optional
        Seconds for the optimum, and for each algorithm.
    progress : callable, optional
        Told (how many are done, how many there are).

    Raises
    ------
    InputError
        If there is no such algorithm for the problem.
    """
    problem = problem_of(instance)
    chosen = _chosen(problem, names)
    tell = progress or (lambda done, total: None)
    tell(0, len(chosen) + 1)
    start = time.perf_counter()
    best = optimum(instance, time_limit=time_limit)
    name, note = (OPTIMUM, "proved") if best.proved else (BEST_FOUND, f"not proved, bound {_text(best.bound)}")
    rows = [_row(problem, instance, name, best.value, best.schedule, start, note)]
    for done, algorithm in enumerate(chosen, start=1):
        tell(done, len(chosen) + 1)
        rows.append(_ran(problem, instance, algorithm, seed, time_limit))
    tell(len(chosen) + 1, len(chosen) + 1)
    return Comparison(instance, problem, best.bound, tuple(rows))


def _chosen(problem: Problem[Any, Any], names: Sequence[str]) -> list[Algorithm]:
    if not names:
        return [entry for entry in algorithms() if entry.problem == problem.name and entry.schedule is None]
    chosen = []
    for name in dict.fromkeys(names):
        found = [entry for entry in algorithms_named(name) if entry.problem == problem.name]
        if not found:
            raise InputError(f"{name}: runs on other instances than those of {problem.name}")
        chosen += found
    return chosen


def _ran(problem: Problem[Any, Any], instance: Document, algorithm: Algorithm, seed: int, seconds: float | None) -> Row:
    start = time.perf_counter()
    try:
        with until(seconds=seconds):
            run = algorithm.run(instance, seed=seed)
    except Halt:
        return Row(algorithm.name, None, None, None, time.perf_counter() - start, "time is up")
    except InputError as error:
        return Row(algorithm.name, None, None, None, time.perf_counter() - start, str(error))
    return _row(problem, instance, algorithm.name, run.utility, run.schedule, start, "")


def _row(
    problem: Problem[Any, Any],
    instance: Document,
    name: str,
    utility: float | None,
    schedule: Any,
    start: float,
    note: str,
) -> Row:
    seconds = time.perf_counter() - start
    usual = isinstance(schedule, problem.schedule)
    known = problem.measures(instance, schedule) if usual and problem.measures is not None else None
    return Row(name, utility, schedule, known, seconds, note)
