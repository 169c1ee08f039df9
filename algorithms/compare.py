"""Several algorithms on one instance, beside its certified optimum."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from dlsched.algorithms.algorithm import algorithms, algorithms_named
from dlsched.algorithms.exact.anytime import UNSOLVED
from dlsched.algorithms.exact.dispatch import optimum
from dlsched.algorithms.run import Run
from dlsched.algorithms.table import Table, plain, text_of
from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.halt import Halt, cut, until
from dlsched.models import picture
from dlsched.models.document import Document
from dlsched.models.files import PathLike
from dlsched.models.options import chosen, values
from dlsched.models.plots import plot_schedules
from dlsched.models.problem import Problem, problem_of
from dlsched.models.schedule import Measures
from dlsched.readable import Readable, Section

OPTIMUM, BEST_FOUND = "optimum", "best found"
PANEL = (9.0, 3.0)
"""Inches of a schedule in the picture of all. Arbitrary: a page is as wide, and holds three or four."""

_TOLD = "algorithm", "utility", "of the bound", "jobs", "mean JCT", "makespan"
"""Columns that are printed: they fit a terminal beside names of twenty letters. The table has them all."""

INTERRUPTED = "interrupted"
"""What is said of what had no time to end because the user stopped it, or was not begun."""


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
class Comparison(Readable):
    """Several algorithms on one instance.

    Attributes
    ----------
    instance : Document
    problem : Problem
    bound : float or None
        On the utility of every schedule, certified.
    rows : tuple of Row
        The optimum first.

    Examples
    --------
    >>> from dlsched.algorithms import compare
    >>> from dlsched.models import hadar
    >>> found = compare(hadar.random(0), ["hadar", "las"])
    >>> found.bound
    34.0
    >>> [(row.name, row.utility, row.admitted) for row in found.rows]
    [('optimum', 34.0, 2), ('hadar', 34.0, 2), ('las', 17.0, 1)]
    >>> print(found.job_table().markdown())
    | job | optimum | hadar | las |
    | --- | --- | --- | --- |
    | job1 |  |  |  |
    | job2 | 2 | 2 |  |
    | job3 | 1 | 1 | 1 |
    """

    instance: Any
    problem: Problem[Any, Any]
    bound: float | None
    rows: tuple[Row, ...]
    refused = ()

    def table(self) -> Table:
        """Return the table; a measure that the problem has not has no column.

        JCT and makespan are in `unit`; *in use* is the utilisation, *unfairness* the greatest finish-time ratio.
        """
        return Table.of(
            self.rows,
            {
                "algorithm": lambda row: row.name,
                "utility": lambda row: row.utility,
                "of the bound": self._share,
                "jobs": lambda row: row.admitted,
                "mean JCT": _measured(lambda known: known.mean),
                "median JCT": _measured(lambda known: known.median),
                "makespan": _measured(lambda known: known.end),
                "in use": _measured(lambda known: known.used),
                "unfairness": _measured(lambda known: known.unfairness),
                "seconds": lambda row: row.seconds,
                "note": lambda row: row.note,
            },
        )

    @property
    def unit(self) -> str:
        """Of times, e.g. ``slots``; empty where there are none."""
        return next((row.measures.unit for row in self.rows if row.measures is not None), "")

    def job_table(self) -> Table:
        """Return, for each job, how long it takes under each algorithm: nothing where it does not end."""
        return durations(
            (job.name for job in self.instance.jobs),
            {row.name: row.measures.durations for row in self.rows if row.measures is not None},
        )

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
        schedules = {row.name: row.schedule for row in drawn}
        picture.save(plot_schedules(self.instance, schedules, size=PANEL, columns=1), path)

    def _sections(self) -> Iterable[Section]:
        return self.table().sections(f"Algorithms on {self.problem.name}", _TOLD)

    def _share(self, row: Row) -> float | None:
        # The bound is on the problem's own schedules: those of another kind may be worth more. Below 0 (logarithms) a
        # share is none: what is worth twice the bound is less.
        if self.bound is None or self.bound <= 0 or row.utility is None:
            return None
        return row.utility / self.bound if self._usual(row) else None

    def _usual(self, row: Row) -> bool:
        """Tell whether a row has a schedule of the problem's own kind."""
        return isinstance(row.schedule, self.problem.schedule)


def durations(jobs: Iterable[str], by_row: Mapping[str, Mapping[str, Fraction]]) -> Table:
    """Return the table of how long jobs take, a column for each row of a comparison that has schedules."""
    columns = ["job", *by_row]
    found = ([name, *(known.get(name) for known in by_row.values())] for name in jobs)
    return Table(columns, [[plain(cell) for cell in row] for row in found])


def _measured(read: Callable[[Measures], float | Fraction | None]) -> Callable[[Row], float | Fraction | None]:
    return lambda row: None if row.measures is None else read(row.measures)


@checked
def compare(
    instance: Document,
    names: Sequence[str] = (),
    *,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Comparison:
    """Run algorithms on an instance, beside the certified optimum.

    Parameters
    ----------
    instance : Document
        Of any problem.
    names : sequence of str
        Of algorithms, with options if not the usual ones, as in ``hadar:mode=rounds``; all that make schedules of the
        problem's own kind where it is left out.
    seed : int
        Of every run.
    time_limit : float, optional
        Seconds for the optimum, and for each algorithm.
    progress : callable, optional
        Told (how many are done, how many there are).
    stop : callable, optional
        Asked often; where it tells True, the comparison ends with what is known.

    Raises
    ------
    InputError
        If there is no such algorithm for the problem, or it has no such option.

    Examples
    --------
    >>> from dlsched.algorithms import compare
    >>> from dlsched.models import hadar
    >>> print(compare(hadar.random(0), ["hadar", "hadar:mode=rounds", "las"]))
    Algorithms on hadar
      algorithm          utility  of the bound  jobs  mean JCT  makespan
      optimum                 34             1     2       1.5         3
      hadar                   34             1     2       1.5         3
      hadar:mode=rounds       34             1     2       1.5         3
      las                     17           0.5     1         1         3
    Notes
      optimum  proved
    """
    problem = problem_of(instance)
    named, tell = runs_of(problem, names), progress or (lambda done, total: None)
    tell(0, len(named) + 1)
    start = time.perf_counter()
    best = optimum(instance, time_limit=time_limit, stop=stop)
    name, note = (OPTIMUM, "proved") if best.proved else (BEST_FOUND, f"not proved, bound {text_of(best.bound)}")
    rows = [_row(problem, instance, name, best.value, best.schedule, start, note)]
    for label, run in named.items():
        tell(len(rows), len(named) + 1)
        start = time.perf_counter()
        try:
            with until(stop, time_limit):
                found = cut(partial(run, instance, seed=seed))
            rows.append(_row(problem, instance, label, found.utility, found.schedule, start, ""))
        except FAILURES as error:
            rows.append(Row(label, None, None, None, time.perf_counter() - start, why(error, stop)))
    tell(len(rows), len(rows))
    return Comparison(instance, problem, best.bound, tuple(rows))


FAILURES = (Exception, SystemExit)
"""What costs its row alone: a plug-in's own code runs there, and may not take the other rows with it."""


def why(error: BaseException, stop: Callable[[], bool] | None) -> str:
    """Return why something that was to be compared is not there."""
    if isinstance(error, Halt):
        return INTERRUPTED if stop is not None and stop() else "time is up"
    return str(error) if isinstance(error, (InputError, *UNSOLVED)) else f"failed: {type(error).__name__}: {error}"


def runs_of(problem: Problem[Any, Any], names: Sequence[str]) -> dict[str, Callable[..., Run[Any]]]:
    """Return what runs each algorithm that is asked for, by what its row is called."""
    if not names:
        usual = (entry for entry in algorithms() if entry.problem == problem.name and entry.schedule is None)
        return {entry.name: entry for entry in usual}
    found: dict[str, Callable[..., Run[Any]]] = {}
    for text in names:
        name, texts = chosen(text)
        own = [entry for entry in algorithms_named(name) if entry.problem == problem.name]
        if not own:
            raise InputError(f"{name}: runs on other instances than those of {problem.name}")
        found[text] = partial(own[0], **values(name, own[0].options, texts))
    return found


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
