"""The verb `plot`: pictures of schedules, of the cluster, of prices, of an exact search and of claims (extra plot)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlsched.cli import interrupt, output
from dlsched.cli.options import (
    InstanceFile,
    Seed,
    TimeLimit,
    drawable,
    help_if_bare,
    judged,
    loaded,
    names_of,
    read,
    read_alone,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dlsched.models.problem import Problem

ScheduleFiles = Annotated[
    list[Path],
    typer.Argument(metavar="SCHEDULE", callback=read_alone, help="Schedules, as JSON; each is called as its file."),
]
PictureFile = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="PICTURE", callback=drawable, help="Where it goes: .png, .svg or .pdf."),
]

plot = typer.Typer(
    help="Draw a picture (extra plot).\n\nEach kind has its own arguments: `dlsched plot KIND --help`.",
    rich_markup_mode=None,
    add_completion=False,
)
plot.callback(invoke_without_command=True)(help_if_bare)


@plot.command()
def schedule(file: InstanceFile, schedules: ScheduleFiles, out: PictureFile) -> None:
    """Draw who has what when, several schedules side by side.

    Titles tell what each is worth; the axis of time ends with the last slot that one of them uses.
    """
    from dlsched.models.plots import plot_schedules

    problem, instance = loaded([], file)
    judge, plans = _read(problem, schedules)
    _save(plot_schedules(instance, plans, judge=judge), out)


@plot.command()
def use(file: InstanceFile, schedules: ScheduleFiles, out: PictureFile) -> None:
    """Draw how much of the cluster is in use over time."""
    from dlsched.models.plots import plot_use

    problem, instance = loaded([], file)
    judge, plans = _read(problem, schedules)
    _save(plot_use(instance, plans, judge=judge), out)


@plot.command()
def network(
    file: InstanceFile,
    out: PictureFile,
    schedule: Annotated[
        Path | None,
        typer.Argument(
            metavar="SCHEDULE", callback=read_alone, help="Whose rings are drawn; the network alone where left out."
        ),
    ] = None,
    slot: Annotated[
        int | None, typer.Option(min=1, metavar="T", help="The rings' slot; the busiest where left out.")
    ] = None,
) -> None:
    """Draw a network (ddljs), and the rings of a slot of a schedule."""
    from dlsched.errors import InputError
    from dlsched.models import ddljs
    from dlsched.models.ddljs.plot import busiest, plot_rings
    from dlsched.models.picture import literal

    problem, instance = loaded([], file)
    if not isinstance(instance, ddljs.Instance):
        raise InputError(f"{file}: is an instance of {problem.name}; networks are of ddljs")
    plan = ddljs.Schedule.of({}) if schedule is None else read(ddljs.Schedule, schedule)
    when = busiest(plan) if slot is None else slot
    if when is not None and when > instance.slots:
        raise InputError(f"--slot: {when} is after the last, {instance.slots}")
    ax = plot_rings(instance, plan, when or 1)
    servers = sum(node.is_server for node in instance.nodes)
    of = literal((file if schedule is None else schedule).stem)
    alone = f"{servers} servers, {len(instance.nodes) - servers} switches, {len(instance.links)} links"
    ax.set_title(f"{of}: {alone if schedule is None else ax.get_title()}", fontsize=10)
    _save(ax.figure, out)


@plot.command()
def prices(
    file: InstanceFile,
    algorithm: Annotated[
        str,
        typer.Argument(
            metavar="ALGORITHM",
            help="One with prices, NAME[:OPTION=VALUE]...: hadar, pd_ors.",
            autocompletion=names_of("algorithms"),
        ),
    ],
    out: PictureFile,
    seed: Seed = 0,
    time_limit: TimeLimit = None,
) -> None:
    """Run an algorithm, and draw the prices that it leaves."""
    from dlsched.algorithms.compare import runs_of
    from dlsched.algorithms.plots import plot_prices

    problem, instance = loaded([], file)
    (run,) = runs_of(problem, [algorithm]).values()
    with output.waiting(f"running {algorithm}"):
        found = output.within(time_limit, f"running {algorithm}", lambda: run(instance, seed=seed))
    ax = plot_prices(instance, found)
    ax.set_title(f"{algorithm}: {ax.get_title()}")
    _save(ax.figure, out)


@plot.command()
def gap(file: InstanceFile, out: PictureFile, time_limit: TimeLimit = None) -> int:
    """Look for the certified optimum, and draw its value and bound over time.

    Ctrl-C ends the search, and draws what was known.
    """
    from dlsched.algorithms.plots import plot_gap, watched_optimum
    from dlsched.models.picture import literal

    _, instance = loaded([], file)
    with output.waiting("looking for the optimum") as tell, interrupt.deferred() as stop:
        _, moments = watched_optimum(
            instance,
            time_limit=time_limit,
            progress=lambda phase, lower, upper: tell(f"{phase}, {lower:.6g} to {upper:.6g}"),
            stop=stop,
        )
    ax = plot_gap(moments)
    ax.set_title(f"{literal(file.stem)}: {ax.get_title()}")
    _save(ax.figure, out)
    return stop.code


@plot.command()
def claim(
    claim: Annotated[str, typer.Argument(metavar="CLAIM", help="A claim's id.", autocompletion=names_of("claims"))],
    out: PictureFile,
    variant: Annotated[
        str | None,
        typer.Option(
            "--variant", metavar="NAME", help="printed, derived or corrected; the first there is if left out."
        ),
    ] = None,
    database: Annotated[
        Path | None,
        typer.Option("--of", metavar="DB", help="The verdicts that `verify --out DB` left, and no new ones."),
    ] = None,
    instances: Annotated[int, typer.Option("--instances", metavar="N", min=0, help="Draws of each source.")] = 100,
    seed: Seed = 0,
) -> None:
    """Draw what is measured against the bound, on the claim's cases and on draws of its sources."""
    from dlsched.bounds.catalog import claim as find
    from dlsched.bounds.plots import judged, plot_claim
    from dlsched.bounds.store import Store
    from dlsched.errors import InputError

    known = find(claim, variant)
    if database is None:
        with output.waiting(f"checking {claim}"):
            entries = judged(known, instances, seed)
    else:
        with Store(database, None) as store:
            entries = list(store.entries())
        if known.key not in {entry.verdict.key for entry in entries}:
            raise InputError(
                f"{database}: has no verdict of {claim} ({known.variant.value}) by this version of the code: "
                f"dlsched verify {claim} --out DB makes some"
            )
    _save(plot_claim(known, entries).figure, out)


def _read(problem: Problem[Any, Any], files: list[Path]) -> tuple[Problem[Any, Any], Mapping[str, Any]]:
    """Return who draws schedules, and these by what their files are called: with the folder where two are alike.

    Raises
    ------
    InputError
        If they are of several kinds.
    """
    from dlsched.errors import InputError

    found = {file: judged(problem, file) for file in files}
    judge, _ = found[files[0]]
    for file, (other, _) in found.items():
        if other is not judge:
            raise InputError(f"{file}: is of {other.name}, {files[0]} of {judge.name}: pictures of their own")
    stems = [file.stem for file in files]
    return judge, {str(file) if stems.count(file.stem) > 1 else file.stem: plan for file, (_, plan) in found.items()}


def _save(figure: Any, out: Path) -> None:
    from dlsched.models.picture import save

    save(figure, out)
    output.note(f"wrote {out}")
