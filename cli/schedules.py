"""The verbs about schedules: optimum, check."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlsched.cli import interrupt, output
from dlsched.cli.options import InstanceFile, Json, Out, ProblemName, TimeLimit, writable

if TYPE_CHECKING:
    from dlsched.models.problem import Problem


ScheduleFile = Annotated[Path, typer.Argument(metavar="SCHEDULE", help="A schedule, as JSON.")]
Picture = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", callback=writable, help="Draw it into FILE (.png, .svg, .pdf)."),
]


def optimum(
    problem: ProblemName, file: InstanceFile, time_limit: TimeLimit = None, out: Out = None, as_json: Json = False
) -> int:
    """Find the certified optimum of an instance.

    With --out, keep its schedule. Ctrl-C ends the search with the best schedule and bound so far.
    """
    from dlsched.algorithms import optimum as optimum_
    from dlsched.models.problem import problem as find

    instance = find(problem).instance.load(file)

    start = time.perf_counter()
    with output.waiting("looking for the optimum") as tell, interrupt.deferred() as stop:

        def progress(phase: str, lower: float, upper: float) -> None:
            tell(f"{phase}, {lower:.6g} to {upper:.6g}")

        found = optimum_(instance, time_limit=time_limit, progress=progress, stop=stop)
    seconds = time.perf_counter() - start
    result: dict[str, object] = {
        "problem": problem,
        "value": found.value,
        "bound": found.bound,
        "proved": found.proved,
        "seconds": seconds,
        "seconds_found": found.seconds_found,
        "seconds_proved": found.seconds_proved,
        "evidence": found.evidence,
    }
    try:
        output.keep(found.schedule, out)
    finally:
        output.tell(f"Optimum of {file.name}", result, as_json)
    return interrupt.INTERRUPTED if stop() else 0


def check(
    problem: ProblemName, file: InstanceFile, schedule: ScheduleFile, picture: Picture = None, as_json: Json = False
) -> int:
    """Check a schedule, and value it.

    Exit code 1 where it breaks a rule of the instance; with --plot, draw it where it breaks none.
    """
    from dlsched.models.problem import problem as find

    own = find(problem)
    instance, plan = own.instance.load(file), own.schedule.load(schedule)
    violations = own.check(instance, plan)
    value = None if violations else float(own.utility(instance, plan))
    try:
        if picture is not None:
            _draw(own, instance, plan, picture, bool(violations))
    finally:
        if as_json:
            output.emit_json({"violations": violations, "utility": value})
        elif violations:
            rows = [(v.rule, v.place, v.message) for v in violations]
            output.table(f"{schedule.name} breaks {len(rows)} rules", ("rule", "place", "what is wrong"), rows)
        else:
            output.facts(f"{schedule.name} is feasible", {"utility": value})
    return 1 if violations else 0


def _draw(problem: Problem[Any, Any], instance: Any, plan: Any, picture: Path, broken: bool) -> None:
    from dlsched.errors import InputError

    if problem.save_plot is None:
        raise InputError(f"--plot: {problem.name} has no picture of schedules")
    if broken:
        output.note(f"{picture} is not written: the schedule breaks rules")
        return
    problem.save_plot(instance, plan, picture)
    output.note(f"wrote {picture}")
