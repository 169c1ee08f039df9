"""The verb `compare`."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlsched.cli import interrupt, output
from dlsched.cli.options import (
    InstanceFile,
    Json,
    Seed,
    TimeLimit,
    drawable,
    exact_seconds,
    given,
    loaded,
    names_of,
    seconds,
    some_exact_seconds,
    writable,
)

if TYPE_CHECKING:
    from dlsched.algorithms import Comparison, PolicyComparison
    from dlsched.algorithms.table import Table
    from dlsched.models.problem import Problem

_BETWEEN = re.compile(r",(?![\d.])")
"""A comma between policies; one before a digit is in an option of several numbers."""

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ALGORITHM",
        help="Those of the instance's problem, NAME[:OPTION=VALUE]...; all where left out.",
        autocompletion=names_of("algorithms"),
    ),
]
Policies = Annotated[
    str | None,
    typer.Option(
        metavar="NAME[:OPTION=VALUE]...,...",
        help="Over time: these policies in the simulator, e.g. yarn-cs,fifo:backfill=easy,hadar; or all.",
    ),
]
Round = Annotated[
    Fraction | None,
    typer.Option(
        parser=some_exact_seconds, metavar="SECONDS", help="Over time: decide in rounds; else at arrivals and ends."
    ),
]


Restart = Annotated[
    Fraction | None,
    typer.Option(parser=exact_seconds, metavar="SECONDS", help="Over time: what new devices cost a job. [default: 0]"),
]
Horizon = Annotated[
    Fraction | None,
    typer.Option(
        parser=some_exact_seconds, metavar="SECONDS", help="Over time: when all ends. [default: with the last slot]"
    ),
]
Bound = Annotated[
    float | None,
    typer.Option(parser=seconds, metavar="SECONDS", help="Over time: look for the certified optimum so long."),
]
TableFile = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", callback=writable, help="Write the table: CSV, or FILE.md Markdown."),
]
JobsFile = Annotated[
    Path | None,
    typer.Option("--out-jobs", metavar="FILE", callback=writable, help="Write how long every job takes, likewise."),
]
Picture = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", callback=drawable, help="Draw all schedules (extra plot): png, svg, pdf."),
]
PerJob = Annotated[bool, typer.Option("--per-job", help="Also how long every job takes.")]


def compare(
    file: InstanceFile,
    algorithms: Names = None,
    policies: Policies = None,
    round_seconds: Round = None,
    restart_seconds: Restart = None,
    horizon: Horizon = None,
    bound_seconds: Bound = None,
    seed: Seed = 0,
    time_limit: TimeLimit = None,
    per_job: PerJob = False,
    out: TableFile = None,
    out_jobs: JobsFile = None,
    picture: Picture = None,
    as_json: Json = False,
) -> int:
    """Run algorithms on an instance, beside its certified optimum; or, with --policies, simulate them over time.

    --time-limit is the optimum's, and each algorithm's or policy's. Ctrl-C ends it with what is known so far.
    """
    from dlsched.errors import InputError

    over_time = given(
        round_seconds=round_seconds, restart_seconds=restart_seconds, horizon=horizon, bound_seconds=bound_seconds
    )
    for name in over_time if policies is None else ():
        raise InputError(f"--{name.replace('_', '-')}: goes with --policies")
    problem, instance = loaded([], file)
    found: Comparison | PolicyComparison
    with interrupt.deferred() as stop:
        usual: dict[str, Any] = {"seed": seed, "time_limit": time_limit, "stop": stop}
        if policies is None:
            found = _algorithms(instance, algorithms, usual)
        else:
            found = _policies(problem, file, instance, algorithms, policies, over_time | usual)
    left_out = getattr(found, "left_out", {})
    if left_out:
        output.note(f"left out: {', '.join(left_out)}, which decide in rounds; say how long (--round-seconds)")
    table, jobs = found.table(), found.job_table()
    try:
        for path, write in ((out, table.write), (out_jobs, jobs.write), (picture, found.save_plot)):
            if path is not None:
                write(path)
                output.note(f"wrote {path}")
    finally:
        if as_json:
            what = "algorithms" if policies is None else "policies"
            told = {"problem": problem.name, "seed": seed, "bound": found.bound, **over_time}
            missing = {} if policies is None else {"left out": left_out}
            output.emit_json(told | {what: table.records(), "jobs": jobs.records()} | missing)
        else:
            what = "Algorithms" if policies is None else "Policies over time"
            times = f"; times in {found.unit}" if found.unit else ""
            _show(f"{what} on {file.name} ({problem.name}{times})", table)
            if per_job:
                _show("Jobs", jobs)
    if found.refused:
        raise InputError(found.refused[0])
    return stop.code


def _algorithms(instance: Any, names: list[str] | None, usual: dict[str, Any]) -> Comparison:
    from dlsched.algorithms import compare

    with output.counting("algorithms") as progress:
        return compare(instance, names or (), progress=progress, **usual)


def _policies(
    problem: Problem[Any, Any], file: Path, instance: Any, names: list[str] | None, policies: str, usual: dict[str, Any]
) -> PolicyComparison:
    from dlsched.algorithms import compare_policies
    from dlsched.errors import InputError

    if names:
        raise InputError(f"{names[0]}: algorithms are compared without --policies")
    if problem.name != "hadar":
        raise InputError(f"{file}: policies run on instances of hadar; this is one of {problem.name}")
    asked = [] if policies == "all" else _BETWEEN.split(policies)
    with output.counting("jobs done") as progress:
        return compare_policies(instance, asked, progress=progress, **usual)


def _show(title: str, table: Table) -> None:
    """Print a table for people: numbers, which is all but names and notes, to the right, and of few digits.

    They fit a narrow terminal so; --json has them all.
    """
    columns = [name if name in ("algorithm", "policy", "job", "note") else f">{name}" for name in table.columns]
    output.table(title, columns, [[_short(cell) for cell in row] for row in table.rows])


def _short(cell: Any) -> Any:
    if not isinstance(cell, float):
        return cell
    # Times of a long trace would be 1.234e+05.
    return f"{cell:.0f}" if 1000 <= abs(cell) < 1e7 else f"{cell:.{4 if abs(cell) >= 1 else 3}g}"
