"""The verb `compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlsched.cli import output
from dlsched.cli.options import InstanceFile, Json, Seed, TimeLimit, writable

if TYPE_CHECKING:
    from dlsched.algorithms.compare import Cell

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ALGORITHM]...", help="Those of the instance's problem; all where left out."),
]
Table = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", callback=writable, help="Write the table: CSV, or FILE.md Markdown."),
]
Picture = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", callback=writable, help="Draw all schedules (extra plot): png, svg, pdf."),
]
PerJob = Annotated[bool, typer.Option("--per-job", help="Also how long every job takes.")]


def compare(
    file: InstanceFile,
    algorithms: Names = None,
    seed: Seed = 0,
    time_limit: TimeLimit = None,
    per_job: PerJob = False,
    out: Table = None,
    picture: Picture = None,
    as_json: Json = False,
) -> None:
    """Run algorithms on an instance, beside its certified optimum.

    With their usual options; --time-limit is the optimum's, and each algorithm's.
    """
    from dlsched.algorithms import compare as compare_
    from dlsched.models.problem import load_instance

    problem, instance = load_instance(file)
    with output.counting("algorithms") as progress:
        found = compare_(instance, algorithms or (), seed=seed, time_limit=time_limit, progress=progress)
    try:
        if out is not None:
            found.write(out)
            output.note(f"wrote {out}")
        if picture is not None:
            found.save_plot(picture)
            output.note(f"wrote {picture}")
    finally:
        columns, rows = found.table()
        jobs = found.job_table()
        if as_json:
            data = {"problem": problem.name, "seed": seed, "bound": found.bound}
            told = [dict(zip(columns, row, strict=True)) for row in rows]
            output.emit_json(
                data | {"algorithms": told, "jobs": [dict(zip(jobs[0], job, strict=True)) for job in jobs[1]]}
            )
        else:
            times = f"; times in {found.unit}" if found.unit else ""
            output.table(f"Algorithms on {file.name} ({problem.name}{times})", _aligned(columns), _short(rows))
            if per_job:
                output.table("Jobs", _aligned(jobs[0]), _short(jobs[1]))


def _short(rows: list[list[Cell]]) -> list[list[Cell]]:
    """Return rows with numbers of few digits, which fit a narrow terminal; --json has them all."""
    return [[f"{cell:.4g}" if isinstance(cell, float) else cell for cell in row] for row in rows]


def _records(columns: list[str], rows: list[list[Cell]]) -> list[dict[str, Cell]]:
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _aligned(columns: list[str]) -> list[str]:
    """Return columns with those of numbers, which are all but names and notes, aligned to the right."""
    return [name if name in ("algorithm", "job", "note") else f">{name}" for name in columns]
