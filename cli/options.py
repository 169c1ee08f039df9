"""Options that several verbs share, and the parsers of their values."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from dlsched.cli import output

if TYPE_CHECKING:
    from dlsched.models.document import Document
    from dlsched.models.problem import Problem

D = TypeVar("D", bound="Document")
F = TypeVar("F", Path, Path | None, list[Path])

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


def exact_seconds(text: str) -> Fraction:
    """Return a typed number of seconds, or p/q, which is not negative."""
    from dlsched.models.numbers import in_range

    try:
        value = in_range(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if value < 0:
        raise typer.BadParameter(f"{text!r} is negative")
    return value


def some_exact_seconds(text: str) -> Fraction:
    """Return a typed number of seconds, or p/q, which is positive."""
    value = exact_seconds(text)
    if not value:
        raise typer.BadParameter(f"{text!r} is not a positive number of seconds")
    return value


def named(path: Path | None) -> Path | None:
    """Refuse ``-``, which would become a file of that name."""
    if path is not None and str(path) == "-":
        raise typer.BadParameter("'-' does not stand for standard output here; name a file")
    return path


def writable(ctx: typer.Context, path: Path | None) -> Path | None:
    """Refuse what cannot be written, or is named twice, before the work that is to be written is done."""
    if path is not None and named(path) is not None:
        from dlsched.models.files import target

        target(path)
        once(path, _in_options(ctx))
    return path


def drawable(ctx: typer.Context, path: Path | None) -> Path | None:
    """Refuse what no picture can be written into, before the work that is to be drawn is done."""
    if path is not None and writable(ctx, path):
        from dlsched.models.picture import format_of

        format_of(path)
    return path


def once(path: Path, others: Iterable[object]) -> None:
    """Refuse a file that is among others, one of which is written.

    Raises
    ------
    typer.BadParameter
    """
    if any(isinstance(other, Path) and other.resolve() == path.resolve() for other in others):
        raise typer.BadParameter(f"{str(path)!r} is named twice, and what is there would be lost")


def _in_options(ctx: typer.Context) -> list[object]:
    """Return what the options that are known so far name: files that are written are among it, and no arguments."""
    kinds = {parameter.name: parameter.param_type_name for parameter in ctx.command.params}
    return [value for name, value in ctx.params.items() if kinds[name] == "option"]


def read_alone(ctx: typer.Context, path: F) -> F:
    """Refuse files that are to be written, too: options are known before arguments."""
    for each in path if isinstance(path, list) else [path]:
        if each is not None:
            once(each, _in_options(ctx))
    return path


def names_of(kind: str) -> Callable[[str], list[str]]:
    """Return what completes a name of a kind that `dlsched list` knows, in a shell.

    Parameters
    ----------
    kind : str
    """

    def complete(incomplete: str) -> list[str]:
        from dlsched.cli.listing import KINDS

        return [name for name in KINDS[kind].names() if name.startswith(incomplete)]

    return complete


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
Picture = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", callback=drawable, help="Draw it into FILE (.png, .svg, .pdf)."),
]
Processes = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", min=1, help="Processes; where left out one a core, if it takes long."),
]
Seed = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the random draws.")]
TimeLimit = Annotated[
    float | None, typer.Option(parser=seconds, metavar="SECONDS", help="Stop SECONDS after files are read.")
]
ProblemName = Annotated[
    str, typer.Argument(metavar="PROBLEM", help="A problem, e.g. hadar.", autocompletion=names_of("problems"))
]
MaybeProblem = Annotated[
    list[str],
    typer.Argument(
        metavar="PROBLEM",
        default_factory=list,
        show_default=False,
        help="Its problem, where the fields of FILE are those of several.",
    ),
]
FormulationName = Annotated[
    str,
    typer.Argument(metavar="FORMULATION", help="As `dlsched list` names it.", autocompletion=names_of("formulations")),
]
InstanceFile = Annotated[Path, typer.Argument(metavar="FILE", callback=read_alone, help="An instance, as JSON.")]


def reading(file: Path) -> AbstractContextManager[object]:
    """Tell a terminal that a file is being read, which takes seconds where it is large."""
    return output.waiting(f"reading {file.name}")


def read(kind: type[D], file: Path) -> D:
    """Return the document of a kind in a file.

    Raises
    ------
    InputError
        As `Document.load`.
    """
    with reading(file):
        return kind.load(file)


def loaded(problem: list[str], file: Path) -> tuple[Problem[Any, Any], Any]:
    """Return the problem, as it is named before the file or else as the file's fields tell, and the instance.

    Raises
    ------
    InputError
        If more than one word stands before the file, or as `load_instance`.
    """
    from dlsched.errors import InputError
    from dlsched.models.problem import load_instance
    from dlsched.models.problem import problem as find

    if len(problem) > 1:
        raise InputError(f"too many arguments: {' '.join(problem[1:])}")
    if not problem:
        with reading(file):
            return load_instance(file)
    own = find(problem[0])
    return own, read(own.instance, file)


def judged(own: Problem[Any, Any], schedule: Path) -> tuple[Problem[Any, Any], Any]:
    """Return who checks and draws the schedule of a file (`dlsched.algorithms.algorithm.judge_of`), and the schedule.

    Raises
    ------
    InputError
        As `Document.load`.
    """
    from dlsched.algorithms.algorithm import judge_of
    from dlsched.models.document import read_json

    with reading(schedule):
        document = read_json(schedule)
        judge = judge_of(own, document)
        return judge, judge.schedule.parse(document, schedule)


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
