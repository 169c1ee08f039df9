"""Logs of jobs that have run, of any format, into Hadar instances.

A log says when a job came, how many devices it had, and how long it ran on them; of types it says little. So a job has
as many iterations as device-seconds, a device of speed 1 does one a second, and types may be given other speeds.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dlsched.arguments import checked
from dlsched.errors import InputError, shown
from dlsched.models.files import PathLike, decode, read_bytes
from dlsched.models.hadar.instance import Instance
from dlsched.models.numbers import in_range, size_of, to_json
from dlsched.models.options import pairs
from dlsched.traces.gavel_files import MAX_JOBS
from dlsched.traces.reader import Reader
from dlsched.traces.request import TOO_LARGE, TOO_LATE, Problem, Request, UtilityChoice, fit_name
from dlsched.traces.source import Source

_WHOLE = re.compile(r"(0|[1-9]\d{0,17})(\.0*)?")
"""An integer in a table: programs write 2 as 2.0 where another cell of the column is empty."""

_SEPARATORS = ";\t|"
"""What tables have between their cells instead of commas."""

UNFIT = "that need other types than the cluster has"
BACKWARDS = "of negative length"


@dataclass(frozen=True, slots=True)
class Ran:
    """A job of a log.

    Attributes
    ----------
    name : str
    place : str
        Where it stands, for an error message.
    arrival : Fraction
        Seconds, from whatever the log counts from.
    gang : int
        Devices that it had.
    seconds : Fraction
        How long it ran on them.
    types : tuple of str or None
        Those that it may run on; None for any.
    unusable : str
        Why it cannot be used, as in "without a recorded run"; empty where it can.
    """

    name: str
    place: str
    arrival: Fraction
    gang: int
    seconds: Fraction
    types: tuple[str, ...] | None = None
    unusable: str = ""


@dataclass(frozen=True, slots=True)
class Log:
    """A log of jobs.

    Attributes
    ----------
    source : Source
    jobs : tuple of Ran
    origin : dict of str to str
        What the format means and what is assumed of it.
    """

    source: Source
    jobs: tuple[Ran, ...]
    origin: dict[str, str]


def log_reader(name: str, title: str, read: Callable[[PathLike], Log]) -> Reader:
    """Return the reader of a format of logs, whose options are the same for all formats."""

    def convert(
        path: PathLike,
        *,
        cluster: Mapping[str, int] | str,
        slots: int,
        slot_seconds: Fraction | float | str,
        speeds: Mapping[str, float] | str | None = None,
        jobs: int | None = None,
        skip: bool = False,
        start: int = 0,
        per_machine: int | None = None,
        utility: UtilityChoice | str = UtilityChoice.EFFECTIVE_THROUGHPUT,
    ) -> Instance:
        """Make a Hadar instance of the jobs of a log, in order of arrival.

        Parameters
        ----------
        path : path
            The log.
        cluster : mapping of str to int, or str
            Devices by type; as text, e.g. ``v100=2,p100=3,k80=1``.
        slots : int
            How many slots the instance has.
        slot_seconds : number or str
            Seconds a slot; a rational p/q will do.
        speeds : mapping of str to number, or str, optional
            How fast a device of a type is beside those of the log, as in ``v100=1,k80=0.25``; 1 where it is left out.
        jobs : int, optional
            How many jobs to take, in order of arrival; all where it is left out.
        skip : bool
            Leave out, and count in `origin`, jobs that cannot be used. Otherwise such a job is an error.
        start : int
            How many jobs to pass over first.
        per_machine : int, optional
            Devices of a machine; one machine per type where it is left out.
        utility : UtilityChoice
            What a job is worth, which no log says.

        Raises
        ------
        InputError
            One line that names the file, the place, the value and the rule.
        """
        request = Request.of(cluster, slots, slot_seconds, jobs, skip, start, per_machine, utility)
        return converted(read(path), request, speeds)

    return Reader(name, "hadar", title, checked(convert))


def converted(log: Log, request: Request, speeds: Mapping[str, float] | str | None) -> Instance:
    """Make a Hadar instance of the jobs of a log, in order of arrival.

    Parameters
    ----------
    log : Log
    request : Request
        What the instance is to be.
    speeds : mapping of str to number, or str, optional
        As for what `log_reader` returns.
    """
    speed = _speeds(speeds, request)
    path = log.source.path
    available = request.available(path, log.jobs)
    first = available[0].arrival
    taken, skipped = request.select(path, available, lambda job: _problem(job, request, first))
    _expect_distinct(path, taken)
    told = ", ".join(f"{r}={to_json(s)}" for r, s in speed.items())
    return request.instance(
        path,
        [
            {
                "name": job.name,
                "arrival": request.slot(job, first),
                "gang": job.gang,
                "iterations": iterations,
                "rate": {r: s for r, s in speed.items() if job.types is None or r in job.types},
                "utility": request.utility_of(iterations),
            }
            for job in taken
            for iterations in [_iterations(job)]
        ],
        {
            **log.origin,
            "log": f"{log.source.name}, sha256 {log.source.sha256}",
            "iterations": "seconds that the job ran, times its devices",
            "rate": f"assumed: iterations per second and device {told}; any gang scales linearly",
            **request.origin(taken, skipped),
        },
    )


def _iterations(job: Ran) -> Fraction:
    """Return the iterations of a job (InputError where they are out of range, though devices and seconds are not)."""
    try:
        return in_range(job.gang * job.seconds)
    except ValueError as error:
        raise InputError(f"{job.place}: {job.gang} devices times {size_of(job.seconds)} seconds: {error}") from None


def _speeds(speeds: Mapping[str, float] | str | None, request: Request) -> dict[str, Fraction]:
    given: Mapping[str, float | str] = pairs("speeds", speeds) if isinstance(speeds, str) else speeds or {}
    found = dict.fromkeys(request.cluster, Fraction(1))
    for r, value in given.items():
        if r not in found:
            raise InputError(f"speeds: {shown(r)} is no type of the cluster; it has {', '.join(found)}")
        try:
            found[r] = in_range(value)
        except ValueError as error:
            raise InputError(f"speeds: {r}: {error}") from None
        if found[r] <= 0:
            raise InputError(f"speeds: {r}={value} must be positive")
    return found


def _expect_distinct(path: str, jobs: Iterable[Ran]) -> None:
    places: dict[str, str] = {}
    for job in jobs:
        if job.name in places:
            there = places[job.name].removeprefix(f"{path}: ")
            raise InputError(f"{job.place}: {shown(job.name)} is already the name of the job at {there}")
        places[job.name] = job.place


def _problem(job: Ran, request: Request, first: Fraction) -> Problem | None:
    """Return why a job cannot be used, None where it can."""
    if job.unusable:
        return job.unusable, job.place, f"is {job.unusable}"
    if job.gang > request.devices:
        return TOO_LARGE, job.place, f"{job.gang} exceeds the {request.devices} devices of the whole cluster"
    if job.types is not None and not set(job.types).intersection(request.cluster):
        return (
            UNFIT,
            job.place,
            f"runs on {' or '.join(job.types)} alone, and the cluster has {', '.join(request.cluster)}",
        )
    slot = request.slot(job, first)
    if slot > request.slots:
        return TOO_LATE, job.place, f"arrives in slot {slot}, after the last slot {request.slots}"
    return None


@dataclass(frozen=True, slots=True)
class Cells:
    """A row of a table, with what its cells are read as.

    Attributes
    ----------
    place : str
        The file and the line.
    cells : dict of str to str
        By column.
    """

    place: str
    cells: dict[str, str]

    def lacking(self, *columns: str) -> str:
        """Return why a row with an empty cell in one of these columns cannot be used; "" where they are all filled."""
        return next((f"without {column}" for column in columns if not self.cells[column]), "")

    def count(self, column: str, least: int = 1) -> int:
        """Return an integer, 0 only where that is the least (InputError where it is none)."""
        found = _WHOLE.fullmatch(self.cells[column])
        if not found or int(found[1]) < least:
            rule = "must be a positive integer below 1e18" if least else "must be 0 or a positive integer below 1e18"
            raise InputError(f"{self.cell(column)}: {shown(self.cells[column])} {rule}")
        return int(found[1])

    def seconds(self, column: str) -> Fraction:
        """Return a number of seconds that is not negative (InputError where it is none)."""
        try:
            value = in_range(self.cells[column])
        except ValueError as error:
            raise InputError(f"{self.cell(column)}: seconds {error}") from None
        if value < 0:
            raise InputError(f"{self.cell(column)}: {self.cells[column]} must not be negative")
        return value

    def name(self, *columns: str) -> str:
        """Return what these columns name a job (InputError where it is too long)."""
        return fit_name(self.cell(" and ".join(columns)), " #".join(self.cells[column] for column in columns))

    def came(self, column: str, begin: Fraction) -> Fraction:
        """Return when a job came; the beginning of the log where the cell is empty."""
        return self.seconds(column) if self.cells[column] else begin

    def job(self, *names: str, arrival: str, gang: str, seconds: str, begin: Fraction) -> Ran:
        """Return the job of a row, read from the columns of these names.

        Without a duration, or with an empty cell, it cannot be used; without an arrival it stands at the beginning.
        """
        name, came = self.name(*names), self.came(arrival, begin)
        if lacking := self.lacking(*names, arrival, gang, seconds):
            return Ran(name, self.place, came, 1, Fraction(0), unusable=lacking)
        duration = self.seconds(seconds)
        unusable = "" if duration else "without a duration"
        return Ran(name, self.place, came, self.count(gang), duration, unusable=unusable)

    def cell(self, column: str) -> str:
        """Return where a cell stands, for an error message."""
        return f"{self.place}, column {column}"


def beginning(rows: Iterable[Cells], arrival: str) -> Fraction:
    """Return when the first row arrives, of those that say when they do (InputError where that is no number)."""
    return min((row.seconds(arrival) for row in rows if row.cells[arrival]), default=Fraction(0))


def read_table(path: PathLike, columns: Sequence[str]) -> tuple[Source, list[Cells]]:
    """Read a CSV file whose first line names its columns, these among them.

    Raises
    ------
    InputError
        If it is no such file, or has more than `MAX_JOBS` rows.
    """
    content = read_bytes(path)
    return Source.of(path, content), list(_rows(path, decode(path, content).removeprefix("\ufeff"), columns))


def _rows(path: PathLike, text: str, columns: Sequence[str]) -> Iterator[Cells]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip() for name in next(rows, [])]
        for column in columns:
            if header.count(column) != 1:
                _expect_commas(path, header)
                many = "is there twice" if column in header else "is missing"
                raise InputError(
                    f"{path}: line 1: column {shown(column)} {many}; there are {', '.join(header) or 'none'}"
                )
        for number, row in enumerate((row for row in rows if row), start=1):
            place = f"{path}: line {rows.line_num}"
            if len(row) != len(header):
                raise InputError(f"{place}: {len(row)} cells; line 1 has {len(header)}")
            if number > MAX_JOBS:
                raise InputError(
                    f"{path}: more than {MAX_JOBS} rows; logs of at most so many are read, whatever is taken of them"
                )
            yield Cells(place, {name: cell.strip() for name, cell in zip(header, row, strict=True) if name in columns})
    except csv.Error as error:
        raise InputError(f"{path}: line {rows.line_num}: not CSV: {error}") from None


def _expect_commas(path: PathLike, header: Sequence[str]) -> None:
    """Refuse a table whose first line seems to be one cell, as other separators stand in it."""
    found = [other for other in _SEPARATORS if len(header) == 1 and other in header[0]]
    if found:
        raise InputError(f"{path}: line 1: cells must be separated by commas, not by {found[0]!r}")
