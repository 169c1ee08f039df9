"""The draws of a figure in a file, a line each, so that a killed run, or one beside another, loses none; and means."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from dlsched.bounds.statistics import Sample, paired
from dlsched.bounds.store import code_version
from dlsched.errors import InputError, shown
from dlsched.figures.figure import Figure, Statement, Trend
from dlsched.models.files import read_bytes

Values = dict[str, float]
Task = tuple[float, int]


@dataclass(frozen=True, slots=True)
class Curve:
    """A series at one point.

    Attributes
    ----------
    x : float
    series : str
    draws : int
    mean, low, high : float
        With the 99 % interval of the mean by Student's t; infinite for one draw of several that there could be.

    Examples
    --------
    >>> from dlsched.figures import reproduce
    >>> (found,) = reproduce("hadar/6", out="build", pictures=False)
    >>> [(curve.series, curve.mean) for curve in found.curves if curve.x == 1]
    [('Hadar', 3.0), ('HadarE', 5.0)]
    """

    x: float
    series: str
    draws: int
    mean: float
    low: float
    high: float


class Points:
    """The draws of one figure, in a file.

    Parameters
    ----------
    path : Path
        A file that is there already goes on.
    figure : Figure
    folder : Path, optional
        That has the figure's data.

    Raises
    ------
    InputError
        If the file is of something else, was made by other code or from other data, or cannot be read or written; or a
        file of the data cannot be read.
    """

    def __init__(self, path: Path, figure: Figure, folder: Path | None = None) -> None:
        self.path, self.figure = path, figure
        self.found: dict[Task, Values] = {}
        self._head: dict[str, object] = {
            "figure": figure.name,
            "series": list(figure.series),
            "code": code_version("dlsched.figures"),
        }
        if folder is not None and figure.data:
            self._head["data"] = {name: hashlib.sha256(read_bytes(folder / name)).hexdigest() for name in figure.data}
        try:
            whole, broken = self._read()
            # Appended lines of two runs at once stand one after the other.
            self._file = path.open("a", encoding="utf-8")
            if broken:
                self._file.truncate(whole)
            if not whole:
                self._write(self._head)
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}") from None

    def _read(self) -> tuple[int, bool]:
        """Read the whole lines, and return how many bytes they have, and whether a killed run has left a broken one."""
        content = self.path.read_bytes() if self.path.exists() else b""
        whole = content.rfind(b"\n") + 1
        lines = content[:whole].splitlines()
        if lines:
            self._compare(lines[0])
        for number, line in enumerate(lines[1:], start=2):
            # Two runs that begin at once may both have written the first line.
            if line == lines[0]:
                continue
            try:
                data = json.loads(line)
                values = {series: _number(data[series]) for series in self.figure.series}
                self.found[float(data["x"]), int(data["seed"])] = values
            except (ValueError, KeyError, TypeError):
                text = shown(line.decode(errors="replace"))
                raise InputError(f"{self.path}: line {number}: {text} is no draw of {self.figure.name}") from None
        return whole, whole < len(content)

    def _compare(self, line: bytes) -> None:
        try:
            made = dict(json.loads(line))
        except (ValueError, TypeError):
            raise InputError(f"{self.path}: has no draws of a figure") from None
        for name, value in self._head.items():
            if made.get(name) != value:
                was, now = shown(made.get(name)), shown(value)
                raise InputError(f"{self.path}: was made with {name} {was}, not {now}; use another folder")

    def add(self, task: Task, values: Mapping[str, float]) -> None:
        """Write one draw.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        self.found[task] = {series: float(values[series]) for series in self.figure.series}
        try:
            told = {series: None if math.isnan(value) else value for series, value in self.found[task].items()}
            self._write({"x": task[0], "seed": task[1], **told})
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror or error}") from None

    def _write(self, data: Mapping[str, object]) -> None:
        self._file.write(json.dumps(data) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()


def _number(value: Any) -> float:
    """Return a drawn value; NaN where a draw has none, which JSON writes as null."""
    return math.nan if value is None else float(value)


def curves(figure: Figure, found: Mapping[Task, Values]) -> Iterator[Curve]:
    """Yield the means, by point and series."""
    for x in sorted({x for x, _ in found}):
        for series in figure.series:
            drawn = [values[series] for (at, _), values in sorted(found.items()) if at == x]
            values = [value for value in drawn if not math.isnan(value)]
            if not values:
                continue
            sample = paired(values)
            exact = figure.seeds == 1
            low, high = (sample.mean, sample.mean) if exact else (sample.low, sample.high)
            yield Curve(x, series, len(values), sample.mean, low, high)


def judged(statement: Statement | Trend, found: Mapping[Task, Values]) -> Sample | None:
    """Return what all seeds together say of a statement; None where they say nothing of it."""
    gains = list(statement.gains(found))
    return paired(gains, not statement.guessed) if gains else None
