"""The verbs about schedules: optimum, certify, check."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from dlsched.cli import interrupt, output
from dlsched.cli.options import (
    InstanceFile,
    Json,
    MaybeProblem,
    Out,
    Picture,
    TimeLimit,
    judged,
    loaded,
    read,
    read_alone,
    writable,
)

if TYPE_CHECKING:
    from dlsched.algorithms import Optimum, Shortfall
    from dlsched.models.problem import Problem


ScheduleFile = Annotated[Path, typer.Argument(metavar="SCHEDULE", callback=read_alone, help="A schedule, as JSON.")]


class Check(TyperCommand):
    """The command of `check`: where one word is typed, that is FILE, and what is missing is SCHEDULE."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return what is left of the words that are typed, as usual."""
        typed = [*args]
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            given, _, _ = self.make_parser(ctx).parse_args(args=typed)
            # Words are dealt out from the last argument on.
            if isinstance(given["schedule"], str) and not isinstance(given["file"], str):
                missing: Any = next(own for own in self.params if own.name == "schedule")
                error.param = missing
            raise


def optimum(
    problem: MaybeProblem,
    file: InstanceFile,
    time_limit: TimeLimit = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes, which take different routes at the same time.")] = 1,
    out: Out = None,
    certificate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", callback=writable, help="Write an exact certificate, which `certify` checks."),
    ] = None,
    as_json: Json = False,
) -> int:
    """Find the certified optimum of an instance.

    With --out, keep its schedule. Ctrl-C ends the search with the best schedule and bound so far. Its proof is exact,
    over the rationals, where a tree is found within limits, larger ones with --certificate; else two routes agree, and
    no certificate is written: "certificate" is null with --json then.
    """
    from dlsched.algorithms import optimum as optimum_
    from dlsched.algorithms.exact.certificates.make import MUCH_WORK, WORK

    own, instance = loaded(problem, file)
    start = time.perf_counter()
    with output.waiting("looking for the optimum") as tell, interrupt.deferred() as stop:

        def progress(phase: str, lower: float, upper: float) -> None:
            tell(f"{phase}, {lower:.6g} to {upper:.6g}")

        work = WORK if certificate is None else MUCH_WORK
        found = optimum_(instance, time_limit=time_limit, jobs=jobs, work=work, progress=progress, stop=stop)
    seconds = time.perf_counter() - start
    result: dict[str, object] = {
        "problem": own.name,
        "value": found.value,
        "bound": found.bound,
        "proved": found.proved,
        "proof": found.proof,
        "seconds": seconds,
        "seconds_found": found.seconds_found,
        "seconds_proved": found.seconds_proved,
        "evidence": found.evidence,
    }
    if certificate is not None:
        result["certificate"] = None if found.exact is None else str(certificate)
    try:
        output.keep(found.schedule, out)
        _keep(found, certificate)
    finally:
        output.tell(f"Optimum of {file.name}", result, as_json)
    return stop.code


def _keep(found: Optimum, out: Path | None) -> None:
    """Write a certificate where a file is named, and say so."""
    if out is None:
        return
    if found.exact is None:
        reason = f" ({found.evidence[-1]})" if found.evidence else ""
        output.note(f"{out} is not written: there is no exact certificate{reason}")
        return
    found.exact.document().save(out)
    output.note(f"wrote {out}")


def certify(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", callback=read_alone, help="A certificate, as `optimum --certificate` writes it."
        ),
    ],
    vipr: Annotated[
        Path | None,
        typer.Option(metavar="OUT", callback=writable, help="Write its tree in VIPR's format 1.0 as well."),
    ] = None,
    time_limit: TimeLimit = None,
    as_json: Json = False,
) -> int:
    """Check an exact certificate, in rationals and without a solver.

    Exit code 1, and the first place that does not check, where it proves nothing.
    """
    from dlsched.algorithms import ExactCertificate, check_certificate
    from dlsched.algorithms.exact.certificates import Refuted, vipr_lines
    from dlsched.arguments import UnknownName
    from dlsched.errors import InputError
    from dlsched.models.files import write_text

    certificate = read(ExactCertificate, file)
    title = f"{file.name}, of an instance of {certificate.problem}"
    result: dict[str, object] = {"problem": certificate.problem}
    try:
        proved = output.within(time_limit, "to check it", lambda: check_certificate(certificate))
    except Refuted as refuted:
        output.tell(title, {**result, "checks": False, "refuted": str(refuted)}, as_json)
        return 1
    except UnknownName as error:
        raise InputError(f"{file}: problem: {error}") from None
    result |= {
        "checks": True,
        "value": proved.value,
        "bound": proved.bound,
        "exact": proved.value == proved.bound,
        "formulation": proved.program.formulation,
        "columns": len(proved.program.columns),
        "rows": len(proved.program.rows),
        "leaves": proved.leaves,
    }
    try:
        if vipr is not None:
            lines = vipr_lines(proved.program, certificate.nodes, proved.bound, certificate.lattice)
            write_text(vipr, "".join(f"{line}\n" for line in lines))
            output.note(f"wrote {vipr}")
    finally:
        output.tell(title, result, as_json)
    return 0


def check(
    problem: MaybeProblem,
    file: InstanceFile,
    schedule: ScheduleFile,
    picture: Picture = None,
    why: Annotated[
        bool, typer.Option("--explain", help="Tell why it is not better: the bound, and which jobs.")
    ] = False,
    time_limit: TimeLimit = None,
    as_json: Json = False,
) -> int:
    """Check a schedule, and value it.

    Exit code 1 where it breaks a rule of the instance; with --plot, draw it where it breaks none. With --explain, look
    for the optimum, within --time-limit.
    """
    from dlsched.errors import InputError

    own, instance = loaded(problem, file)
    judge, plan = judged(own, schedule)
    if why and judge is not own:
        raise InputError(f"--explain: {schedule} is of {judge.name}; optima are of {own.name}, and bound others")
    with output.waiting(f"checking {schedule.name}"):
        violations = judge.violations(instance, plan)
        value = None if violations else float(judge.worth(instance, plan))
    found = _shortfall(instance, plan, time_limit) if why and not violations else None
    try:
        if picture is not None:
            _draw(judge, instance, plan, picture, bool(violations))
    finally:
        if as_json:
            told = {} if found is None else {"explanation": found.dump()}
            output.emit_json({"violations": violations, "utility": value, **told})
        elif violations:
            rows = [(v.rule, v.place, v.message) for v in violations]
            output.table(f"{schedule.name} breaks {len(rows)} rules", ("rule", "place", "what is wrong"), rows)
        else:
            output.facts(f"{schedule.name} is feasible", {"utility": value})
            if found is not None:
                output.emit(str(found))
    return 1 if violations else 0


def _shortfall(instance: Any, plan: Any, time_limit: float | None) -> Shortfall:
    from dlsched.algorithms import shortfall

    with output.waiting("looking for the optimum"):
        return shortfall(instance, plan, time_limit=time_limit)


def _draw(problem: Problem[Any, Any], instance: Any, plan: Any, picture: Path, broken: bool) -> None:
    from dlsched.errors import InputError

    if problem.save_plot is None:
        raise InputError(f"--plot: {problem.name} has no picture of schedules")
    if broken:
        output.note(f"{picture} is not written: the schedule breaks rules")
        return
    problem.save_plot(instance, plan, picture)
    output.note(f"wrote {picture}")
