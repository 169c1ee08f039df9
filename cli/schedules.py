"""The verbs about schedules: optimum, run, check."""

from __future__ import annotations

import inspect
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from dlsched.cli import interrupt, output, rooms
from dlsched.cli.options import InstanceFile, Json, Out, Problem, Seed, TimeLimit, given, writable


class Variant(StrEnum):
    """Which text of an algorithm runs."""

    CORRECTED = "corrected"
    PRINTED = "printed"


class Mode(StrEnum):
    """When an algorithm decides."""

    COMMIT = "commit"
    ROUNDS = "rounds"


class InnerStep(StrEnum):
    """How workers and servers are chosen for a job."""

    ALGORITHM = "algorithm"
    EXACT = "exact"


class OuterStep(StrEnum):
    """How jobs are admitted."""

    AUTO = "auto"
    SCHEME = "scheme"
    EXACT = "exact"


class ExternalStep(StrEnum):
    """How placements on several machines are found."""

    EXACT = "exact"
    GREEDY = "greedy"
    LP_ROUNDING = "lp-rounding"


class PriceChoice(StrEnum):
    """Which constants the price function has."""

    PRINTED = "printed"
    REPAIRED = "repaired"
    THEOREM = "theorem"


class ProgramChoice(StrEnum):
    """What the dynamic program over slots counts."""

    WORKER_SLOTS = "worker-slots"
    SAMPLES = "samples"


class EmbeddingStep(StrEnum):
    """How the rings of a slot are found."""

    ROUNDING = "rounding"
    EXACT = "exact"


class RingSizes(StrEnum):
    """How the largest ring of a job in a slot is found."""

    FLOOR = "floor"
    JOINT = "joint"


class RingRelaxation(StrEnum):
    """Which linear program is rounded."""

    AUTO = "auto"
    COLOCATED = "colocated"
    AUGMENTED = "augmented"


class NormaliserChoice(StrEnum):
    """What a job's throughput is measured in."""

    PROPORTIONAL = "proportional"
    ISOLATED = "isolated"


ScheduleFile = Annotated[Path, typer.Argument(metavar="SCHEDULE", help="A schedule, as JSON.")]
Picture = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", callback=writable, help="Draw it into FILE (.png, .svg, .pdf)."),
]
Algorithm = Annotated[
    str, typer.Argument(metavar="ALGORITHM", help=", ".join(dict.fromkeys(a.name for a in rooms.ALGORITHMS)))
]
VariantOption = Annotated[Variant | None, typer.Option("--variant", help="As printed, or corrected (the default).")]
ModeOption = Annotated[Mode | None, typer.Option("--mode", help="Commit at arrival (the default), or rounds.")]
Epsilon = Annotated[float | None, typer.Option(help="Precision of Algorithm 1's grid.")]
Delta = Annotated[float | None, typer.Option(help="Failure probability that the rounding's gain is chosen for.")]
Gain = Annotated[
    str | None, typer.Option(metavar="NUMBER|RULE", help="The rounding's gain; of pd_ors also packing or cover.")
]
Rounds = Annotated[int | None, typer.Option(min=1, max=10**5, help="F, rounds of randomized rounding.")]
Inner = Annotated[InnerStep | None, typer.Option("--inner", help="How workers and servers are chosen.")]
External = Annotated[ExternalStep | None, typer.Option("--external", help="How placements on machines are found.")]
Prices = Annotated[PriceChoice | None, typer.Option("--prices", help="Which constants the prices have.")]
Program = Annotated[ProgramChoice | None, typer.Option("--program", help="What the dynamic program counts.")]
Outer = Annotated[OuterStep | None, typer.Option("--outer", help="How jobs are admitted.")]
Embeddings = Annotated[EmbeddingStep | None, typer.Option("--embedding", help="How the rings of a slot are found.")]
Draws = Annotated[int | None, typer.Option(min=1, max=10**6, help="u_b, most roundings of a slot.")]
Sizes = Annotated[RingSizes | None, typer.Option("--sizes", help="How the largest ring of a slot is found.")]
Relaxation = Annotated[RingRelaxation | None, typer.Option("--relaxation", help="Which linear program is rounded.")]
Idle = Annotated[bool | None, typer.Option("--idle/--no-idle", help="Idle workers to jobs that gain nothing yet.")]
Normalisers = Annotated[
    NormaliserChoice | None, typer.Option("--normaliser", help="What Gavel measures throughputs in.")
]
NodeLimit = Annotated[int | None, typer.Option(min=1, max=10**9, help="Nodes of the exact method for a slot.")]


def optimum(
    problem: Problem, file: InstanceFile, time_limit: TimeLimit = None, out: Out = None, as_json: Json = False
) -> int:
    """Find the certified optimum of an instance.

    With --out, keep its schedule. Ctrl-C ends the search with the best schedule and bound so far.
    """
    instance = rooms.problem(problem).Instance.load(file)
    from dlsched.algorithms import optimum as optimum_

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
        _keep(found.schedule, out)
    finally:
        _tell(f"Optimum of {file.name}", result, as_json)
    return interrupt.INTERRUPTED if stop() else 0


def run(
    algorithm: Algorithm,
    file: InstanceFile,
    seed: Seed = 0,
    variant: VariantOption = None,
    mode: ModeOption = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    gain: Gain = None,
    rounds: Rounds = None,
    inner: Inner = None,
    outer: Outer = None,
    external: External = None,
    prices: Prices = None,
    program: Program = None,
    embedding: Embeddings = None,
    draws: Draws = None,
    sizes: Sizes = None,
    relaxation: Relaxation = None,
    idle: Idle = None,
    normaliser: Normalisers = None,
    node_limit: NodeLimit = None,
    time_limit: TimeLimit = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Run an algorithm on an instance.

    With --out, keep its schedule. With --time-limit, give up after so long; gadget bounds the exact method of a slot.
    """
    package, function, data = rooms.algorithm(algorithm, file)
    options = _options(
        algorithm,
        function,
        variant=variant,
        mode=mode,
        epsilon=epsilon,
        delta=delta,
        gain=_number(gain),
        rounds=rounds,
        inner=inner,
        outer=outer,
        external=external,
        prices=prices,
        program=program,
        embedding=embedding,
        draws=draws,
        sizes=sizes,
        relaxation=relaxation,
        idle=idle,
        normaliser=normaliser,
        node_limit=node_limit,
    )
    if "time_limit" in inspect.signature(function).parameters:
        options |= given(time_limit=time_limit)
    instance = package.Instance.load(file) if data is None else package.Instance.parse(data, file)
    start = time.perf_counter()
    if "progress" in inspect.signature(function).parameters:
        with output.counting(f"running {algorithm}") as step:
            outcome = function(instance, seed=seed, **options, progress=step)
    else:
        with output.waiting(f"running {algorithm}"):
            outcome = output.within(
                time_limit, f"running {algorithm}", lambda: function(instance, seed=seed, **options)
            )
    seconds = time.perf_counter() - start
    result: dict[str, object] = {
        "algorithm": algorithm,
        "utility": outcome.utility,
        "seconds": seconds,
        "seed": seed,
        **options,
        "jobs": len(instance.jobs),
        "scheduled": len(outcome.schedule.jobs),
        "events": len(outcome.log),
    }
    try:
        _keep(outcome.schedule, out)
    finally:
        _tell(f"{algorithm} on {file.name}", result, as_json)


def check(
    problem: Problem, file: InstanceFile, schedule: ScheduleFile, picture: Picture = None, as_json: Json = False
) -> int:
    """Check a schedule, and value it.

    Exit code 1 where it breaks a rule of the instance; with --plot, draw it where it breaks none.
    """
    package = rooms.problem(problem)
    instance, plan = package.Instance.load(file), package.Schedule.load(schedule)
    violations = package.check(instance, plan)
    value = None if violations else package.utility(instance, plan)
    try:
        if picture is not None:
            _draw(package, instance, plan, picture, bool(violations))
    finally:
        if as_json:
            output.emit_json({"violations": violations, "utility": value})
        elif violations:
            rows = [(v.rule, v.place, v.message) for v in violations]
            output.table(f"{schedule.name} breaks {len(rows)} rules", ("rule", "place", "what is wrong"), rows)
        else:
            output.facts(f"{schedule.name} is feasible", {"utility": value})
    return 1 if violations else 0


def _options(algorithm: str, function: Any, **wanted: Any) -> dict[str, Any]:
    """Return the options that an algorithm takes, its defaults filled in; refuse those that it does not take."""
    from dlsched.models.document import InputError

    parameters = inspect.signature(function).parameters
    options = {}
    for name, value in wanted.items():
        if name in parameters:
            chosen = parameters[name].default if value is None else value
            if chosen is not None:
                options[name] = str(chosen) if isinstance(chosen, StrEnum) else chosen
        elif value is not None:
            raise InputError(f"--{name.replace('_', '-')}: {algorithm} has no such option")
    return options


def _number(text: str | None) -> float | str | None:
    """Return the number that a text stands for, or the text."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _draw(package: Any, instance: Any, plan: Any, picture: Path, broken: bool) -> None:
    if broken:
        output.note(f"{picture} is not written: the schedule breaks rules")
        return
    package.save_plot(instance, plan, picture)
    output.note(f"wrote {picture}")


def _tell(title: str, result: dict[str, object], as_json: bool) -> None:
    """Print what was found: in a ``finally``, so that a file that cannot be written costs nobody the result."""
    if as_json:
        output.emit_json(result)
    else:
        output.facts(title, result)


def _keep(schedule: Any, out: Path | None) -> None:
    if out is None:
        return
    if schedule is None:
        output.note(f"{out} is not written: there is no feasible schedule")
        return
    schedule.save(out)
    output.note(f"wrote {out}")
