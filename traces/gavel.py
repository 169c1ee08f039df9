r"""Gavel's measured throughputs and job traces into Hadar instances.

Sources: Gavel (Narayanan et al., OSDI 2020) and Shockwave (Zheng et al., NSDI 2023), whose files share the format.

>>> import json
>>> from pathlib import Path
>>> from dlsched.traces import gavel
>>> measured = {"v100": {"('ResNet-18', 2)": {"null": 40.0}}, "k80": {"('ResNet-18', 2)": {"null": 8.0}}}
>>> _ = Path("throughputs.json").write_text(json.dumps(measured))
>>> _ = Path("jobs.trace").write_text("ResNet-18\tpython3 main.py\t--steps\t1\t4800\t0\t2\n")
>>> instance = gavel.convert(
...     throughputs="throughputs.json", trace="jobs.trace", cluster="v100=2,k80=2", slots=5, slot_seconds=60
... )
>>> [(job.gang, int(job.iterations), {r: int(rate) for r, rate in job.rate.items()}) for job in instance.jobs]
[(2, 4800, {'v100': 20, 'k80': 4})]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dlsched.arguments import checked
from dlsched.errors import InputError, shown
from dlsched.models.files import PathLike
from dlsched.models.hadar.instance import Instance
from dlsched.models.numbers import to_json
from dlsched.traces.gavel_files import LAYOUTS, Throughputs, Trace, TraceJob, read_throughputs, read_trace
from dlsched.traces.reader import Reader
from dlsched.traces.request import TOO_LARGE, TOO_LATE, Problem, Request, UtilityChoice, fit_name

__all__ = ["Throughputs", "Trace", "TraceJob", "convert", "read_throughputs", "read_trace"]

_UNCONSOLIDATED = "_unconsolidated"

UNKNOWN = "of an unknown model"
UNMEASURED = "without a measurement at its scale factor on any type of the cluster"


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
    utility: UtilityChoice | str = UtilityChoice.EFFECTIVE_THROUGHPUT,
) -> Instance:
    """Make a Hadar instance of the jobs of a trace, in order of arrival, and their measured throughputs.

    Iterations E_j N_j are the job's total steps and the gang W_j is its scale factor. X_j^r is the throughput measured
    on type r at that scale factor, divided by it, so that W_j devices of one type do the steps per second that were
    measured. The arrival slot is ``1 + floor(seconds since the first arrival / slot_seconds)``. `Instance.origin` says
    all this.

    Parameters
    ----------
    throughputs : path
        Measured throughputs, as JSON.
    trace : path
        A job trace with 7, 10 or 12 columns.
    cluster : mapping of str to int, or str
        Devices by type; as text, e.g. ``v100=2,p100=3,k80=1``.
    slots : int
        How many slots the instance has.
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
    utility : UtilityChoice
        What a job is worth, which no trace says.

    Raises
    ------
    InputError
        One line that names the file, the place, the value and the rule.
    """
    request = Request.of(cluster, slots, slot_seconds, jobs, skip, start, per_machine, utility)
    measured, source = read_throughputs(throughputs), read_trace(trace)
    for r in request.cluster:
        if r not in measured.steps_per_second:
            known = ", ".join(sorted(measured.steps_per_second)) or "none"
            raise InputError(f"{throughputs}: has no device type {r!r} (of the cluster); it has {known}")
    available = request.available(source.source.path, source.jobs)
    first = available[0].arrival

    def problem(job: TraceJob) -> Problem | None:
        found = _problem(job, request, measured, first)
        return found and (found[0], source.place(job.line, found[1]), found[2])

    taken, skipped = request.select(source.source.path, available, problem)
    return request.instance(
        source.source.path,
        [_job(job, source, measured, request, first) for job in taken],
        _origin(request, measured, source, taken, skipped),
    )


def _problem(job: TraceJob, request: Request, measured: Throughputs, first: Fraction) -> tuple[str, str, str] | None:
    """Return why a job cannot be used, as (reason, column, message), or None where it can."""
    file, devices = measured.source.name, request.devices
    if not measured.knows(job.model):
        return UNKNOWN, "model", f"{shown(job.model)} is not a model of {file}"
    if job.scale_factor > devices:
        return TOO_LARGE, "scale factor", f"{job.scale_factor} exceeds the {devices} devices of the whole cluster"
    if not measured.rates(job, request.cluster):
        measured_on = f"{file} on {', '.join(request.cluster)}"
        message = f"{shown(job.model)} at scale factor {job.scale_factor} has no throughput above 0 in {measured_on}"
        return UNMEASURED, "model", message
    slot = request.slot(job, first)
    if slot > request.slots:
        message = f"{to_json(job.arrival)} is in slot {slot}, after the last slot {request.slots}"
        return TOO_LATE, "arrival", message
    return None


def _job(job: TraceJob, trace: Trace, measured: Throughputs, request: Request, first: Fraction) -> dict[str, Any]:
    return {
        "name": fit_name(trace.place(job.line, "model"), f"{job.model} #{job.line}"),
        "arrival": request.slot(job, first),
        "gang": job.scale_factor,
        "iterations": job.steps,
        "rate": measured.rates(job, request.cluster),
        "utility": request.utility_of(job.steps),
    }


def _origin(
    request: Request, measured: Throughputs, source: Trace, taken: Sequence[TraceJob], skipped: Counter[str]
) -> dict[str, str]:
    ignored = [r for r in measured.steps_per_second if r.endswith(_UNCONSOLIDATED) and r not in request.cluster]
    unused = "throughputs of pairs of jobs that share devices"
    if ignored:
        unused += f"; of workers spread over servers ({', '.join(ignored)})"
    origin = {
        "format": "gavel",
        "throughputs": f"{measured.source.name}, sha256 {measured.source.sha256}, keys: {measured.layout}",
        "trace": f"{source.source.name}, sha256 {source.source.sha256}, {source.columns} columns: "
        + ", ".join(LAYOUTS[source.columns]),
        "names": "model and line of the trace",
        "iterations": "total steps",
        "gang": "scale factor",
        "rate": "steps per second, measured alone at the scale factor, divided by the scale factor",
        "unused": unused,
        **request.origin(taken, skipped),
    }
    if "mode" in LAYOUTS[source.columns]:
        origin["mode"] = "assumed static: the rate of the first batch size holds throughout"
    return origin


READER = Reader("gavel", "hadar", "Gavel's measured throughputs and a job trace", convert)
