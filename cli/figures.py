"""The verb `reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dlsched.cli import output
from dlsched.cli.options import Json, Processes, named, names_of

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FIGURE",
        help="'smd/7', papers ('smd') or patterns; all where left out.",
        autocompletion=names_of("figures"),
    ),
]
Folder = Annotated[
    Path, typer.Option("--out", "-o", metavar="DIR", callback=named, help="Where tables, pictures and draws go.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Few points and draws: less than a minute a figure.")]
Seeds = Annotated[int | None, typer.Option("--seeds", metavar="N", min=1, help="Draws of a point.")]
Address = Annotated[
    str | None,
    typer.Option("--executor", metavar="ADDRESS", help="A dask scheduler's, tcp://HOST:PORT (extra cluster)."),
]
Pictures = Annotated[bool, typer.Option("--pictures/--no-pictures", help="Draw PNG and SVG files (extra plot).")]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", callback=named, help="Public data, as `dlsched list figures` names them."),
]


def reproduce(
    names: Names = None,
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
    from dlsched.figures import reproduce as reproduce_

    with output.counting("draws") as progress:
        found = reproduce_(
            names or None,
            out=out,
            quick=quick,
            seeds=seeds,
            jobs=jobs,
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
