"""Gavel's measured throughputs and job traces into Hadar instances.

Sources: Gavel (Narayanan et al., OSDI 2020) and Shockwave (Zheng et al., NSDI 2023), whose files share the format.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlsched.arguments import checked
from dlsched.errors import InputError, shown
from dlsched.models.fields import MAX_SLOTS
from dlsched.models.files import PathLike
from dlsched.models.hadar.instance import Instance
from dlsched.models.numbers import rational, to_json
from dlsched.traces.gavel_files import (
    COUNT,
    LAYOUTS,
    Throughputs,
    Trace,
    TraceJob,
    read_throughputs,
    read_trace,
)
from dlsched.traces.reader import Reader

__all__ = ["Throughputs", "Trace", "TraceJob", "convert", "parse_cluster", "read_throughputs", "read_trace"]

_TYPE = re.compile(r"[^\s=,]+")
_UNCONSOLIDATED = "_unconsolidated"
_LEAVE_OUT = "skip leaves such jobs out and counts them"

TOO_LARGE = "larger than the cluster"
UNKNOWN = "of an unknown model"
UNMEASURED = "without a measurement at its scale factor on any type of the cluster"
TOO_LATE = "arriving after the last slot"


@dataclass(frozen=True, slots=True)
class _Request:
    """What `convert` was asked for, checked."""

    cluster: dict[str, int]
    slots: int
    slot_seconds: Fraction
    jobs: int | None
    skip: bool
    start: int
    per_machine: int | None


@checked
def parse_cluster(text: str) -> dict[str, int]:
    """Read ``"v100=2,p100=3,k80=1"``: devices by type.

    Raises
    ------
    InputError
        If an item is not ``type=count`` with a positive count, or a type is named twice.
    """
    cluster: dict[str, int] = {}
    for item in text.split(","):
        name, _, count = item.strip().partition("=")
        if not _TYPE.fullmatch(name) or not COUNT.fullmatch(count):
            raise InputError(f"cluster: {shown(item)} must be TYPE=DEVICES, devices positive, as in v100=2,p100=3")
        if name in cluster:
            raise InputError(f"cluster: {name!r} is named twice")
        cluster[name] = int(count)
    return cluster


@checked
def convert(
    *,
    throughputs: PathLike,
    trace: PathLike,
    cluster: Mapping[str, int] | str,
    slots: int,
    slot_seconds: Fraction | float | str,
    jobs: int | None = None,
    skip: bool = False,
    start: int = 0,
    per_machine: int | None = None,
) -> Instance:
    """Make a Hadar instance of the jobs of a trace, in order of arrival, and their measured throughputs.

    Iterations E_j N_j are the job's total steps and the gang W_j is its scale factor. X_j^r is the throughput measured
    on type r at that scale factor, divided by it, so that W_j devices of one type do the steps per second that were
    measured. The arrival slot is ``1 + floor(seconds since the first arrival / slot_seconds)``. The utility of a
    duration of d slots is ``iterations / (1 + d)``, Hadar's effective throughput. `Instance.origin` says all this.

    Parameters
    ----------
    throughputs : path
        Measured throughputs, as JSON.
    trace : path
        A job trace with 7, 10 or 12 columns.
    cluster : mapping of str to int, or str
        Devices by type; as text, e.g. ``v100=2,p100=3,k80=1``.
    slots : int
        Of the instance.
    slot_seconds : number or str
        Seconds a slot; a rational p/q will do.
    jobs : int, optional
        How many jobs to take, in order of arrival; all where it is left out.
    skip : bool
        Leave out, and count in `origin`, jobs that cannot be used: larger than the cluster, not measured on any of
        its types at their scale factor, or arriving after the last slot. Otherwise such a job is an error.
    start : int
        How many jobs to pass over first.
    per_machine : int, optional
        Devices of a machine; one machine per type where it is left out.

    Raises
    ------
    InputError
        One line that names the file, the place, the value and the rule.
    """
    devices = parse_cluster(cluster) if isinstance(cluster, str) else cluster
    request = _request(devices, slots, slot_seconds, jobs, skip, start, per_machine)
    measured, source = read_throughputs(throughputs), read_trace(trace)
    for r in request.cluster:
        if r not in measured.steps_per_second:
            known = ", ".join(sorted(measured.steps_per_second)) or "none"
            raise InputError(f"{throughputs}: has no device type {r!r} (of the cluster); it has {known}")
    available = sorted(source.jobs, key=lambda job: job.arrival)[start:]
    if len(available) < (jobs or 1):
        raise InputError(f"{trace}: {jobs or 1} jobs asked for after passing over {start}; it has {len(source.jobs)}")
    taken, skipped = _select(request, measured, source, available)
    first = available[0].arrival
    return Instance.parse(
        {
            "slots": slots,
            "slot_seconds": request.slot_seconds,
            "device_types": list(request.cluster),
            "machines": list(_machines(request)),
            "jobs": [_job(job, measured, request, first) for job in taken],
            "origin": _origin(request, measured, source, taken, skipped),
        }
    )


def _request(
    cluster: Mapping[str, int],
    slots: int,
    slot_seconds: Fraction | float | str,
    jobs: int | None,
    skip: bool,
    start: int,
    per_machine: int | None,
) -> _Request:
    if not 1 <= slots <= MAX_SLOTS:
        raise InputError(f"slots: {slots} must be from 1 to {MAX_SLOTS}")
    try:
        length = rational(slot_seconds)
    except ValueError as error:
        raise InputError(f"slot_seconds: {error}") from None
    if length <= 0:
        raise InputError(f"slot_seconds: {to_json(length)} must be positive")
    for name, value in (("jobs", jobs), ("per_machine", per_machine)):
        if value is not None and value < 1:
            raise InputError(f"{name}: {value} must be positive")
    if start < 0:
        raise InputError(f"start: {start} must not be negative")
    if not cluster:
        raise InputError("cluster: must have a device type")
    for r, count in cluster.items():
        if count < 1:
            raise InputError(f"cluster: {r}={count} must have a positive number of devices")
    return _Request(dict(cluster), slots, length, jobs, skip, start, per_machine)


def _select(
    request: _Request, measured: Throughputs, source: Trace, available: Sequence[TraceJob]
) -> tuple[list[TraceJob], Counter[str]]:
    """Return the jobs to take and how many were left out, by reason."""
    taken: list[TraceJob] = []
    skipped: Counter[str] = Counter()
    for job in available:
        if len(taken) == request.jobs:
            break
        problem = _problem(job, request, measured, available[0].arrival)
        if problem is None:
            taken.append(job)
        elif request.skip:
            skipped[problem[0]] += 1
        else:
            raise InputError(f"{source.place(job.line, problem[1])}: {problem[2]} ({_LEAVE_OUT})")
    if not taken:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(skipped.items()))
        raise InputError(f"{source.source.path}: no job can be used: {reasons}")
    return taken, skipped


def _problem(job: TraceJob, request: _Request, measured: Throughputs, first: Fraction) -> tuple[str, str, str] | None:
    """Return why a job cannot be used, as (reason, column, message), or None where it can."""
    file, devices = measured.source.name, sum(request.cluster.values())
    if not measured.knows(job.model):
        return UNKNOWN, "model", f"{shown(job.model)} is not a model of {file}"
    if job.scale_factor > devices:
        return TOO_LARGE, "scale factor", f"{job.scale_factor} exceeds the {devices} devices of the whole cluster"
    if not measured.rates(job, request.cluster):
        measured_on = f"{file} on {', '.join(request.cluster)}"
        message = f"{shown(job.model)} at scale factor {job.scale_factor} has no throughput above 0 in {measured_on}"
        return UNMEASURED, "model", message
    slot = _slot(job, request, first)
    if slot > request.slots:
        message = f"{to_json(job.arrival)} is in slot {slot}, after the last slot {request.slots}"
        return TOO_LATE, "arrival", message
    return None


def _slot(job: TraceJob, request: _Request, first: Fraction) -> int:
    return 1 + (job.arrival - first) // request.slot_seconds


def _job(job: TraceJob, measured: Throughputs, request: _Request, first: Fraction) -> dict[str, Any]:
    return {
        "name": f"{job.model} #{job.line}",
        "arrival": _slot(job, request, first),
        "gang": job.scale_factor,
        "iterations": job.steps,
        "rate": measured.rates(job, request.cluster),
        "utility": {"kind": "hyperbolic", "scale": job.steps},
    }


def _machines(request: _Request) -> Iterator[dict[str, Any]]:
    for r, count in request.cluster.items():
        size = request.per_machine
        if size is None:
            yield {"name": r, "devices": {r: count}}
            continue
        for number, used in enumerate(range(0, count, size), start=1):
            yield {"name": f"{r}-{number}", "devices": {r: min(size, count - used)}}


def _origin(
    request: _Request, measured: Throughputs, source: Trace, taken: Sequence[TraceJob], skipped: Counter[str]
) -> dict[str, str]:
    cluster = ",".join(f"{r}={count}" for r, count in request.cluster.items())
    machines = f"machines of {request.per_machine}" if request.per_machine else "one machine per device type"
    ignored = [r for r in measured.steps_per_second if r.endswith(_UNCONSOLIDATED) and r not in request.cluster]
    unused = "throughputs of pairs of jobs that share devices"
    if ignored:
        unused += f"; of workers spread over servers ({', '.join(ignored)})"
    wanted = "all" if request.jobs is None else str(request.jobs)
    reasons = "; ".join(f"{count} {reason}" for reason, count in sorted(skipped.items()))
    origin = {
        "format": "gavel",
        "throughputs": f"{measured.source.name}, sha256 {measured.source.sha256}, keys: {measured.layout}",
        "trace": f"{source.source.name}, sha256 {source.source.sha256}, {source.columns} columns: "
        + ", ".join(LAYOUTS[source.columns]),
        "cluster": f"{cluster}; {machines}; a gang that spans machines runs as fast as on one",
        "jobs": f"{len(taken)} in order of arrival, {wanted} asked for, {request.start} passed over first",
        "names": "model and line of the trace",
        "iterations": "total steps",
        "gang": "scale factor",
        "rate": "steps per second, measured alone at the scale factor, divided by the scale factor",
        "unused": unused,
        "arrival": "1 + floor(seconds since the first arrival / slot_seconds)",
        "utility": "assumed: iterations / (1 + duration in slots), the effective throughput",
        "skipped": f"{skipped.total()} jobs" + (f": {reasons}" if reasons else ""),
    }
    if "mode" in LAYOUTS[source.columns]:
        origin["mode"] = "assumed static: the rate of the first batch size holds throughout"
    return origin


READER = Reader("gavel", "hadar", "Gavel's measured throughputs and a job trace", convert)
