"""The verb `reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dlsched.cli import output
from dlsched.cli.options import Json, cores, named

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[FIGURE]...", help="'smd/7', papers ('smd') or patterns; all where left out."),
]
Folder = Annotated[
    Path, typer.Option("--out", "-o", metavar="DIR", callback=named, help="Where tables, pictures and draws go.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Few points and draws: less than a minute a figure.")]
Listed = Annotated[bool, typer.Option("--list", help="List the figures, and measure none.")]
Seeds = Annotated[int | None, typer.Option("--seeds", metavar="N", min=1, help="Draws of a point.")]
Processes = Annotated[int | None, typer.Option("--jobs", metavar="N", help="Processes; one a core where left out.")]
Address = Annotated[
    str | None,
    typer.Option("--executor", metavar="ADDRESS", help="A dask scheduler's, tcp://HOST:PORT (extra cluster)."),
]
Pictures = Annotated[bool, typer.Option("--pictures/--no-pictures", help="Draw PNG and SVG files (extra plot).")]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", callback=named, help="Public data that some figures need; see --list."),
]


def reproduce(
    names: Names = None,
    listed: Listed = False,
    out: Folder = Path("figures"),
    quick: Quick = False,
    seeds: Seeds = None,
    jobs: Processes = None,
    executor: Address = None,
    pictures: Pictures = True,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Measure figures of the papers.

    Each becomes a table (CSV) and pictures, with 99 % intervals. Draws are kept: the same command goes on from them.
    """
    from dlsched.figures import figures_named
    from dlsched.figures import reproduce as reproduce_

    if listed:
        chosen = figures_named(names or None)
        if as_json:
            output.emit_json(
                [{"name": f.name, "paper": f.paper, "title": f.title, "says": f.says, "data": f.data} for f in chosen]
            )
        else:
            columns = ("name", "where", "what it shows", "what the paper says")
            output.table("Figures", columns, [(f.name, f.paper, f.title, f.says) for f in chosen])
            for entry in chosen:
                if entry.data:
                    output.emit(f"{entry.name} needs {', '.join(entry.data)} in the folder that --data names")
        return
    with output.counting("draws") as progress:
        found = reproduce_(
            names or None,
            out=out,
            quick=quick,
            seeds=seeds,
            jobs=cores() if jobs is None else jobs,
            executor=executor,
            pictures=pictures,
            data=data,
            progress=progress,
        )
    if as_json:
        output.emit_json([one.dump() for one in found])
        return
    for one in found:
        told_of = {"the paper says": one.figure.says, "measured": one.measured, "note": one.figure.note}
        output.facts(one.figure.name, {"where": one.figure.paper, **told_of, "files": list(map(str, one.files))})
