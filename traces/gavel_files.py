"""Gavel's file formats: measured throughputs (JSON) and job traces (tab-separated text).

Sources: Gavel (Narayanan et al., OSDI 2020) and Shockwave (Zheng et al., NSDI 2023), whose files share the format.
A throughput is in training steps per second of a whole job at its scale factor (its number of workers).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from dlsched.errors import InputError, shown
from dlsched.models.document import parse_json
from dlsched.models.files import PathLike, decode, read_bytes
from dlsched.models.numbers import in_range, to_json
from dlsched.traces.request import COUNT
from dlsched.traces.source import Source

_SHARED = ("steps argument", "needs data dir", "total steps")
LAYOUTS: dict[int, tuple[str, ...]] = {
    7: ("model", "command", *_SHARED, "arrival", "scale factor"),
    10: ("model", "command", "working dir", *_SHARED, "scale factor", "priority", "SLO", "arrival"),
    12: (
        *("model", "command", "working dir", *_SHARED, "scale factor"),
        *("mode", "priority", "SLO", "duration", "arrival"),
    ),
}
"""Columns of a trace line, by their number: Microsoft's cluster, Gavel's physical cluster, Shockwave."""

MAX_JOBS = 150_000
"""Of a trace: more than Microsoft's published log has, and as many as an instance file holds that can be read again."""

_KEY = re.compile(r"\('(.+)', ([1-9]\d{0,8})\)")


@dataclass(frozen=True)
class Throughputs:
    """Measured throughputs of jobs that run alone.

    Attributes
    ----------
    source : Source
    steps_per_second : dict
        Device type to (model, scale factor) to steps per second of the whole job; 0 where it cannot run.
    layout : str
        How the file writes its keys.
    """

    source: Source
    steps_per_second: dict[str, dict[tuple[str, int], Fraction]]
    layout: str

    def rates(self, job: TraceJob, types: Iterable[str]) -> dict[str, Fraction]:
        """Return steps per second and device of a job, by type, without the types it was not measured on."""
        key = (job.model, job.scale_factor)
        measured = {r: self.steps_per_second[r].get(key, Fraction(0)) / job.scale_factor for r in types}
        return {r: rate for r, rate in measured.items() if rate}

    def knows(self, model: str) -> bool:
        """Tell whether the file has a model, on whatever type and at whatever scale factor."""
        return model in self._models

    @cached_property
    def _models(self) -> frozenset[str]:
        return frozenset(name for entries in self.steps_per_second.values() for name, _ in entries)


@dataclass(frozen=True, slots=True)
class TraceJob:
    """One line of a trace.

    Attributes
    ----------
    line : int
        From 1.
    model : str
    steps : int
    arrival : Fraction
        Seconds.
    scale_factor : int
        Workers, one device each.
    """

    line: int
    model: str
    steps: int
    arrival: Fraction
    scale_factor: int


@dataclass(frozen=True, slots=True)
class Trace:
    """A job trace.

    Attributes
    ----------
    source : Source
    columns : int
        Of a line: 7, 10 or 12 (see `LAYOUTS`).
    jobs : tuple of TraceJob
        In the order of the file.
    """

    source: Source
    columns: int
    jobs: tuple[TraceJob, ...]

    def place(self, line: int, column: str) -> str:
        """Return where a value stands, for an error message."""
        return _cell(f"{self.source.path}: line {line}", self.columns, column)


def read_throughputs(path: PathLike) -> Throughputs:
    """Read a throughputs file.

    Its keys are either ``"('ResNet-18 (batch size 16)', 1)"``, model and scale factor, or plain model names, which
    were measured at scale factor 1. Throughputs of pairs that share a device are left out.

    Raises
    ------
    InputError
        One line that names the file, the place, the value and the rule.
    """
    content = read_bytes(path)
    data = parse_json(path, content)
    if not isinstance(data, dict) or not data:
        raise InputError(f"{path}: must be an object {{device type: {{job: {{'null': steps/s}}}}}}")
    table: dict[str, dict[tuple[str, int], Fraction]] = {}
    layouts = set()
    for type_, entries in data.items():
        table[type_] = {}
        for text, entry in _object(path, type_, entries).items():
            key, layout = _key(path, type_, text)
            layouts.add(layout)
            table[type_][key] = _alone(path, f"{type_}.{text}", entry)
    if len(layouts) > 1:
        raise InputError(f"{path}: mixes keys ('model', scale factor) with plain model names; one layout is read")
    return Throughputs(Source.of(path, content), table, layouts.pop() if layouts else "no measurements")


def _object(path: PathLike, place: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{path}: {place}: must be an object, not {shown(value)}")
    return value


def _key(path: PathLike, type_: str, text: str) -> tuple[tuple[str, int], str]:
    match = _KEY.fullmatch(text)
    if match:
        return (match[1], int(match[2])), "(model, scale factor)"
    if text.startswith("("):
        raise InputError(f"{path}: {type_}: key {shown(text)} must be \"('model', scale factor)\" or a model's name")
    return (text, 1), "model, at scale factor 1"


def _alone(path: PathLike, place: str, entry: Any) -> Fraction:
    value = _object(path, place, entry).get("null", 0)
    try:
        rate = in_range(value)
    except ValueError as error:
        raise InputError(f"{path}: {place}.null: {error}") from None
    if rate < 0:
        raise InputError(f"{path}: {place}.null: {to_json(rate)} must not be negative")
    return rate


def read_trace(path: PathLike) -> Trace:
    """Read a job trace with 7, 10 or 12 columns; the columns that do not matter here are not looked at.

    Raises
    ------
    InputError
        One line that names the file, the line, the column, the value and the rule.
    """
    content = read_bytes(path)
    lines = decode(path, content).removeprefix("\ufeff").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise InputError(f"{path}: is empty; a trace has one job a line")
    if len(lines) > MAX_JOBS:
        raise InputError(f"{path}: {len(lines)} lines; traces of at most {MAX_JOBS} jobs are read")
    columns = lines[0].count("\t") + 1
    if columns not in LAYOUTS:
        raise InputError(f"{path}: line 1: {columns} tab-separated columns; a Gavel trace has 7, 10 or 12")
    jobs = tuple(_job(path, number, line, columns) for number, line in enumerate(lines, start=1))
    return Trace(Source.of(path, content), columns, jobs)


def _job(path: PathLike, number: int, line: str, columns: int) -> TraceJob:
    cells = line.rstrip("\r").split("\t")
    if len(cells) != columns:
        raise InputError(f"{path}: line {number}: {len(cells)} tab-separated columns; line 1 has {columns}")
    fields = dict(zip(LAYOUTS[columns], cells, strict=True))
    place = f"{path}: line {number}"
    if not fields["model"]:
        raise InputError(f"{place}, column 1 (model): must not be empty")
    return TraceJob(
        number,
        fields["model"],
        _count(place, columns, "total steps", fields),
        _seconds(place, columns, fields),
        _count(place, columns, "scale factor", fields),
    )


def _count(place: str, columns: int, name: str, fields: Mapping[str, str]) -> int:
    if not COUNT.fullmatch(fields[name]):
        raise InputError(f"{_cell(place, columns, name)}: {shown(fields[name])} must be a positive integer")
    return int(fields[name])


def _seconds(place: str, columns: int, fields: Mapping[str, str]) -> Fraction:
    try:
        value = in_range(fields["arrival"])
    except ValueError as error:
        raise InputError(f"{_cell(place, columns, 'arrival')}: {error}") from None
    if value < 0:
        raise InputError(f"{_cell(place, columns, 'arrival')}: {fields['arrival']} must not be negative")
    return value


def _cell(place: str, columns: int, name: str) -> str:
    return f"{place}, column {LAYOUTS[columns].index(name) + 1} ({name})"
