"""Options that several verbs share, and the parsers of their values."""

from __future__ import annotations

import math
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

BAD_INPUT = 2
"""Exit code of bad input or usage."""


def seconds(text: str) -> float:
    """Return a typed number of seconds, which is positive and finite."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (value > 0 and math.isfinite(value)):
        raise typer.BadParameter(f"{text!r} is not a positive number of seconds")
    return value


def named(path: Path | None) -> Path | None:
    """Refuse ``-``, which would become a file of that name."""
    if path is not None and str(path) == "-":
        raise typer.BadParameter("'-' does not stand for standard output here; name a file")
    return path


def writable(path: Path | None) -> Path | None:
    """Refuse what cannot be written, before the work that is to be written is done."""
    if path is not None and named(path) is not None:
        from dlsched.models.files import target

        target(path)
    return path


class Gdp(StrEnum):
    """How either-or is written as rows."""

    BIGM = "bigm"
    HULL = "hull"


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout, and nothing else.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="FILE", callback=writable, help="Write it to FILE, in one step: no device, pipe or '-'."
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the random draws.")]
TimeLimit = Annotated[float | None, typer.Option(parser=seconds, metavar="SECONDS", help="Stop after SECONDS.")]
ProblemName = Annotated[str, typer.Argument(metavar="PROBLEM", help="A problem, e.g. hadar.")]
FormulationName = Annotated[str, typer.Argument(metavar="FORMULATION", help="As `dlsched list` names it.")]
InstanceFile = Annotated[Path, typer.Argument(metavar="FILE", help="An instance, as JSON.")]


def help_if_bare(context: typer.Context) -> None:
    """Print the help on stderr where the verb is missing, as the usage error that it is.

    Raises
    ------
    typer.Exit
        With `BAD_INPUT`, if there is no verb.
    """
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        raise typer.Exit(BAD_INPUT)


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were given: those that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
