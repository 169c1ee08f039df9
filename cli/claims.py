"""The verbs about claims: claim, verify, attack, replay."""

from __future__ import annotations

import dataclasses
import json
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlsched.cli import interrupt, output
from dlsched.cli.options import Json, Out, Processes, Seed, TimeLimit, given, named, names_of, read

if TYPE_CHECKING:
    from dlsched.bounds.claim import Claim, Verdict
    from dlsched.bounds.table import Row
    from dlsched.models.document import Document

ClaimIds = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CLAIM",
        help="Ids, papers ('hadar') or patterns ('hadar/*'); all where left out.",
        autocompletion=names_of("claims"),
    ),
]
Instances = Annotated[
    int | None, typer.Option("--instances", metavar="N", min=0, help="Draws of each source; 100 where left out.")
]
Each = Annotated[
    int | None,
    typer.Option("--each", metavar="N", min=0, help="Instances of each claim known to be true, over all its sources."),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--executor", metavar="ADDRESS", help="A dask scheduler's, tcp://HOST:PORT, for --jobs (extra cluster)."
    ),
]
Database = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="DB", callback=named, help="Stream verdicts into DB, and go on from what it has."
    ),
]
OwnFiles = Annotated[
    list[Path] | None,
    typer.Option("--on", metavar="FILE", help="Check them on this instance alone; may stand more than once."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the claims that have it, in place of the paper's value; may stand more than once.",
    ),
]
WitnessFile = Annotated[
    Path,
    typer.Argument(
        metavar="WITNESS", help="A witness file, or a shipped witness's name.", autocompletion=names_of("witnesses")
    ),
]


def describe(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="CLAIM", help="Ids, papers or patterns, as of verify.", autocompletion=names_of("claims")
        ),
    ],
    as_json: Json = False,
) -> None:
    """Show what a claim says.

    Where it stands, its hypotheses and where the paper assumes each, what the print leaves open, its parameters.
    """
    from dlsched.bounds.catalog import claims_named

    told = [_description(claim) for claim in claims_named(names)]
    if as_json:
        output.emit_json(told)
        return
    for data in told:
        hypotheses = [f"{name} ({source})" if source else name for name, source in data.pop("premises").items()]
        parameters = [f"{name} = {p['default']}: {p['help']}" for name, p in data.pop("parameters").items()]
        output.facts(f"{data['id']} ({data['kind']})", data | {"premises": hypotheses, "parameters": parameters})


def _description(claim: Claim[Any]) -> dict[str, Any]:
    return {
        "id": claim.id,
        "kind": claim.variant.value,
        "stands in": claim.paper,
        "statement": claim.statement,
        "measured": claim.quantity,
        "relation": claim.relation.value,
        "known to be": claim.expectation.value,
        "left open": claim.open,
        "about": f"averages over draws of {claim.problem}" if claim.sampled else f"instances of {claim.problem}",
        "sources": [source.name for source in claim.sources],
        "witnesses": [*claim.counterexamples],
        "premises": {premise.name: premise.source for premise in claim.premises},
        "parameters": {
            field.name: {"default": field.default, "help": field.metadata["help"]}
            for field in dataclasses.fields(claim.parameters)
        },
    }


def verify(
    claims: ClaimIds = None,
    instances: Instances = None,
    each: Each = None,
    seed: Seed = 0,
    jobs: Processes = None,
    executor: Address = None,
    out: Database = None,
    on: OwnFiles = None,
    settings: Settings = None,
    as_json: Json = False,
) -> int:
    """Check claims on cases and on seeded draws, or on your own instances.

    Exit code 1 where one comes out otherwise than is known.
    """
    if on:
        _refuse_beside_on(instances=instances, each=each, jobs=jobs, executor=executor, out=out)
        return _on_files(claims, on, seed, _parameters(settings), as_json)
    from dlsched.bounds import WorkersLostError
    from dlsched.bounds import verify as verify_
    from dlsched.errors import InputError

    if jobs is not None and executor is not None:
        raise InputError("--jobs: counts processes of this machine; leave it out with --executor")
    if executor is not None:
        # What dask would log, with tracebacks, about a lost scheduler is raised as an error too.
        logging.disable()
    kept = 0, 0

    def tell(done: int, total: int) -> None:
        nonlocal kept
        kept = done, total
        progress(done, total)

    try:
        with output.counting("verdicts") as progress:
            report = verify_(
                claims=claims or None,
                seed=seed,
                parameters=_parameters(settings),
                jobs=jobs,
                out=out,
                executor=executor,
                progress=tell,
                **given(instances=instances, each=each),
            )
    except WorkersLostError as error:
        raise InputError(str(error)) from None
    except KeyboardInterrupt:
        if out is not None and kept[1]:
            output.note(f"{out} keeps {kept[0]} of {kept[1]} verdicts; the same command goes on from there")
        raise
    if as_json:
        output.emit_json(report.dump())
    else:
        columns = ("claim", "finding", "verdicts", ">nearest", "smallest witness")
        output.table("Claims", columns, map(_row, report.rows))
        _tell_premises(report.rows)
        _tell_proofs(report.rows)
    return 0 if report.ok else 1


def _refuse_beside_on(**options: object) -> None:
    from dlsched.errors import InputError

    for name in given(**options):
        raise InputError(f"--{name}: goes with draws, not with --on")


def _parameters(settings: list[str] | None) -> dict[str, str]:
    """Return what ``NAME=VALUE`` says; a claim reads the value."""
    from dlsched.errors import InputError

    given: dict[str, str] = {}
    for text in settings or ():
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise InputError(f"--set: {text!r} is not NAME=VALUE")
        if name in given:
            raise InputError(f"--set: {name} is given twice")
        given[name] = value.strip()
    return given


def _on_files(
    names: list[str] | None, files: list[Path], seed: int, parameters: Mapping[str, str], as_json: bool
) -> int:
    """Check claims on the instances in some files, and tell the verdicts; 1 where one fails that is known to hold."""
    from dlsched.bounds.catalog import claims_named
    from dlsched.bounds.claim import Expectation, among, confirm_taken, decided
    from dlsched.bounds.comparison import Status

    code, told, named = 0, [], claims_named(names)
    confirm_taken(named, parameters)
    for file in files:
        about, instance = _about(named, file)
        with output.counting(f"claims on {file.name}") as tell:
            rows = []
            for claim, verdict in zip(about, decided(about, instance, seed, parameters), strict=True):
                rows.append(_on_file(file, claim, verdict))
                tell(len(rows), len(about))
                known = claim.expectation is not Expectation.FALSE and not among(claim, parameters)
                if verdict.status is Status.VIOLATED and known:
                    code = 1
        told += rows
        if not as_json:
            columns = [name for name in rows[0] if name != "file"]
            output.table(f"Claims on {file}", columns, [tuple(row[name] for name in columns) for row in rows])
    if as_json:
        output.emit_json({"seed": seed, "parameters": dict(parameters), "verdicts": told})
    return code


def _about(claims: Iterable[Claim[Any]], file: Path) -> tuple[list[Claim[Any]], Document]:
    """Return the claims that are about such an instance as a file has, and the instance.

    Raises
    ------
    InputError
        If there is none, as the kind of instance that the first claim is about refuses the file.
    """
    from dlsched.errors import InputError

    kinds = dict.fromkeys(claim.instance for claim in claims)
    refusals = []
    for kind in kinds:
        try:
            instance = read(kind, file)
        except InputError as error:
            refusals.append(error)
        else:
            return [claim for claim in claims if claim.instance is kind], instance
    raise refusals[0]


def _on_file(file: Path, claim: Claim[Any], verdict: Verdict) -> dict[str, object]:
    return {
        "file": str(file),
        "claim": claim.id,
        "kind": claim.variant.value,
        "known": claim.expectation.value,
        "status": verdict.status.value,
        "measured": verdict.measured,
        "relation": claim.relation.value,
        "bound": verdict.bound,
        "reason": verdict.reason,
    }


def _row(row: Row) -> tuple[object, ...]:
    from dlsched.bounds.table import FALSE_IN_PRINT

    near = "" if row.nearness is None else f"{row.nearness:.3g}"
    finding = row.finding if row.finding == FALSE_IN_PRINT else f"{row.variant}: {row.finding}"
    return row.id, finding, row.verdicts, near, _witness(row)


def _witness(row: Row) -> str:
    """Return which instance is the smallest witness, and the two sides on it."""
    if row.witness is None:
        return ""
    entry = row.witness
    name = entry.name.removeprefix(f"{row.id.replace('/', '-')}-") or f"{entry.source} {entry.position}"
    return f"{name}: {entry.verdict.measured:.6g} vs {entry.verdict.bound:.6g}"


def _tell_premises(rows: Iterable[Row]) -> None:
    """Tell which premises failed, and on how many instances, where some did."""
    failing = [(row.id, row.variant, name, count) for row in rows for name, count in row.premises.items()]
    if failing:
        output.table("Premises that fail", ("claim", "kind", "premise", ">instances"), failing)


def _tell_proofs(rows: Iterable[Row]) -> None:
    """Tell how many verdicts rest on an optimum, and how that is known."""
    from dlsched.algorithms.exact.result import Proof

    counts = [sum(row.proofs.get(proof, 0) for row in rows) for proof in (Proof.EXACT, Proof.AGREED)]
    if any(counts):
        exact, agreed = counts
        output.emit(f"Verdicts that rest on an optimum: {exact} exactly proved, {agreed} where two routes agree.")


def attack(
    claim: Annotated[str, typer.Argument(metavar="CLAIM", help="A claim's id.", autocompletion=names_of("claims"))],
    variant: Annotated[
        str | None,
        typer.Option(
            "--variant", metavar="NAME", help="printed, derived or corrected; the first there is if left out."
        ),
    ] = None,
    instances: Annotated[
        int, typer.Option("--instances", metavar="N", min=0, help="Draws of each source, then so many neighbours.")
    ] = 1000,
    seconds: Annotated[float | None, typer.Option("--seconds", metavar="S", min=0, help="When to stop.")] = None,
    settings: Settings = None,
    seed: Seed = 0,
    out: Out = None,
    as_json: Json = False,
) -> int:
    """Search for the instance that comes nearest to a claim's bound, or breaks it.

    On draws of its sources and on neighbours of the nearest ones. With --out, keep the violation as a witness, or else
    the nearest instance. Ctrl-C ends it with what is known so far. Exit code 1 where a claim is broken that is known to
    hold.
    """
    from dlsched.bounds import Expectation
    from dlsched.bounds import attack as attack_
    from dlsched.bounds import claim as find

    known, parameters = find(claim, variant), _parameters(settings)
    with output.counting("instances") as progress, interrupt.deferred() as stop:
        found = attack_(
            claim,
            variant,
            instances=instances,
            seconds=seconds,
            seed=seed,
            parameters=parameters,
            progress=progress,
            stop=stop,
        )
    nearest = found.nearest
    verdicts = {status.value: count for status, count in sorted(found.verdicts.items(), key=lambda e: e[0].value)}
    data: dict[str, object] = {
        "claim": known.id,
        "variant": known.variant.value,
        "statement": known.statement,
        "verdicts": verdicts,
        "status": nearest and nearest.status.value,
        "measured": nearest and nearest.measured,
        "bound": nearest and nearest.bound,
        "nearness": found.nearness,
        "seed": nearest and nearest.seed,
        "instance": found.instance and found.instance.dump(),
    }
    try:
        kept = found.violation.witness if found.violation else found.instance
        if out is not None and kept is not None:
            kept.save(out)
            output.note(f"wrote {out}")
    finally:
        if as_json:
            output.emit_json(data)
        else:
            counts = ", ".join(f"{count} {status}" for status, count in verdicts.items())
            shown = {"verdicts": counts, "instance": json.dumps(data["instance"])}
            output.facts(f"Attack on {known.id}", data | shown)
    if stop():
        return stop.code
    return 1 if found.violation and known.expectation is Expectation.TRUE and not parameters else 0


def replay(witness: WitnessFile, time_limit: TimeLimit = None, as_json: Json = False) -> int:
    """Check a witness again, and tell its story.

    From its instance and seed alone: what is claimed, assumed and measured, and which other claims about the same run
    fail there. Exit code 1 where something else comes out.
    """
    from dlsched.bounds import replay as replay_
    from dlsched.bounds import story

    with output.waiting(f"replaying {witness.name}"):
        result = output.within(time_limit, f"replaying {witness}", lambda: replay_(witness))
        told = output.within(time_limit, f"telling of {witness}", lambda: story(result))
    data: dict[str, object] = {
        "claim": result.verdict.claim,
        "variant": result.verdict.variant.value,
        "status": result.verdict.status.value,
        "measured": result.verdict.measured,
        "bound": result.verdict.bound,
        "reason": result.verdict.reason,
        "reproduced": result.reproduced,
        "differences": list(result.differences),
        "story": told,
    }
    if as_json:
        output.emit_json(data)
    else:
        output.prose(told)
    return 0 if result.reproduced else 1
