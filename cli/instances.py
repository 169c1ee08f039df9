"""The verbs about instances: generate, convert, schema."""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from dlsched.cli import output, signature
from dlsched.cli.options import Json, Out, ProblemName, Seed, given, help_if_bare, named
from dlsched.models.options import options_of

if TYPE_CHECKING:
    from dlsched.models.problem import Problem

_DRAWN = ("rng",)
_LARGEST = 10**6
"""Of a size: more could not be kept in memory."""

Half = Annotated[bool | None, typer.Option("--half", help="Both directions of a link share its bandwidth.")]
Budget = Annotated[str | None, typer.Option("--budget", metavar="NAME", help="How GADGET's F is read.")]
FileOrFolder = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE|FOLDER", callback=named, help="Write it to FILE, several into FOLDER."),
]


convert = typer.Typer(subcommand_metavar="FORMAT [OPTIONS] [FILES]", rich_markup_mode=None, add_completion=False)


class _Problems(TyperGroup):
    """The registered problems as subcommands, each made when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        del ctx
        from dlsched.models.problem import problems

        return [entry.name for entry in problems() if entry.families]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        del ctx
        from dlsched.models.problem import problem

        return _generating(problem(cmd_name))


generate = typer.Typer(
    cls=_Problems, subcommand_metavar="PROBLEM [OPTIONS]", rich_markup_mode=None, add_completion=False
)


@generate.callback(invoke_without_command=True)
def _generate(context: typer.Context) -> None:
    """Generate an instance of a family.

    Each problem has its own families and sizes: `dlsched generate PROBLEM --help`.
    """
    help_if_bare(context)


def _generating(problem: Problem[Any, Any]) -> Any:
    """Return the command that generates instances of a problem; its options are the sizes of all families."""
    sizes: dict[str, dataclasses.Field[Any]] = {}
    for family in problem.families.values():
        sizes |= signature.fields_that_can_be_typed(options_of(family, without=_DRAWN))
    names = ", ".join(problem.families)
    parameters = [
        signature.parameter("preset", Annotated[str, typer.Option("--preset", metavar="NAME", help=names)], "random"),
        signature.parameter("seed", Seed, 0),
        *signature.parameters(sizes, with_defaults=False, most=_LARGEST),
        signature.parameter("out", Out, None),
        signature.parameter("as_json", Json, False),
    ]
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    doc = f"Generate an instance: {problem.title}.\n\nAs JSON on stdout, or in a file."
    app.command(problem.name)(signature.with_signature(partial(_generated, problem), parameters, doc))
    return typer.main.get_command(app)


def _generated(
    problem: Problem[Any, Any], preset: str, seed: int, out: Path | None, as_json: bool, **sizes: Any
) -> None:
    from dlsched.models.arguments import named
    from dlsched.models.errors import InputError

    family = named("preset", preset, problem.families)
    taken = signature.fields_that_can_be_typed(options_of(family, without=_DRAWN))
    chosen = given(**sizes)
    for name in chosen:
        if name not in taken:
            option = name.replace("_", "-")
            raise InputError(f"--{option}: preset {preset} takes {', '.join(taken) or 'no sizes'}")
    _deliver(problem.preset(preset, seed, **chosen), out, as_json)


def _deliver(instance: Any, out: Path | None, as_json: bool) -> None:
    """Print the instance, or write it and say so: with --json as {"out", "digest", "jobs"}."""
    if out is None:
        output.emit_json(instance.dump())
        return
    instance.save(out)
    if as_json:
        output.emit_json(_written(out, instance))
    else:
        output.note(f"wrote {out}: {len(instance.jobs)} jobs, digest {instance.digest}")


def _written(out: Path, instance: Any) -> dict[str, Any]:
    return {"out": str(out), "digest": instance.digest, "jobs": len(instance.jobs)}


@convert.callback(invoke_without_command=True)
def formats(context: typer.Context) -> None:
    """Convert public formats into an instance."""
    help_if_bare(context)


@convert.command("gavel")
def convert_gavel(
    throughputs: Annotated[Path, typer.Option(metavar="FILE", help="Measured throughputs, as JSON.")],
    trace: Annotated[Path, typer.Option(metavar="FILE", help="A job trace with 7, 10 or 12 columns.")],
    cluster: Annotated[str, typer.Option(metavar="TYPE=N,...", help="Devices by type, e.g. v100=2,p100=3,k80=1.")],
    slots: Annotated[int, typer.Option(help="Slots of the instance.")],
    slot_seconds: Annotated[str, typer.Option(metavar="NUMBER", help="Seconds a slot; a rational p/q will do.")],
    jobs: Annotated[int | None, typer.Option(help="Jobs to take, in order of arrival; all where left out.")] = None,
    skip: Annotated[bool, typer.Option("--skip", help="Leave out and count jobs that cannot be used.")] = False,
    start: Annotated[int, typer.Option(help="Jobs to pass over first.")] = 0,
    per_machine: Annotated[int | None, typer.Option(help="Devices a machine; else one machine a type.")] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Convert Gavel's measured throughputs and a job trace into a Hadar instance."""
    from dlsched.traces import gavel

    instance = gavel.convert(
        throughputs=throughputs,
        trace=trace,
        cluster=gavel.parse_cluster(cluster),
        slots=slots,
        slot_seconds=slot_seconds,
        jobs=jobs,
        skip=skip,
        start=start,
        per_machine=per_machine,
    )
    origin = instance.origin or {}
    if skip:
        output.note(f"{origin['jobs']}; skipped {origin['skipped']}")
    _deliver(instance, out, as_json)


@convert.command("topology-zoo")
def convert_topology_zoo(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Networks, as GraphML or alib's YAML.")],
    servers: Annotated[str, typer.Option(metavar="internal|all|N", help="Nodes with GPUs.")] = "internal",
    gpus: Annotated[str, typer.Option(metavar="N,...", help="What servers may have; drawn.")] = "1,2,4,8",
    bandwidth: Annotated[
        str | None,
        typer.Option(metavar="GBPS[,GBPS]", help="Of links without a speed: a number, or a range to draw in."),
    ] = None,
    half: Half = None,
    jobs: Annotated[int, typer.Option(help="Jobs to draw as in GADGET's evaluation.")] = 0,
    slots: Annotated[int, typer.Option(help="Slots of the instance.")] = 1,
    workers: Annotated[int, typer.Option(help="The most workers of a job.")] = 5,
    budget: Budget = None,
    seed: Seed = 0,
    out: FileOrFolder = None,
    as_json: Json = False,
) -> None:
    """Convert networks of the Internet Topology Zoo into DDLJS instances.

    One as JSON on stdout, or in a file; several into the folder --out, each under its file's name.
    """
    from dlsched.traces import topology_zoo

    sizes = given(half=half, budget=budget, bandwidth=topology_zoo.parse_bandwidth(bandwidth) if bandwidth else None)
    sizes |= {"gpus": topology_zoo.parse_gpus(gpus), "jobs": jobs, "slots": slots, "workers": workers, "seed": seed}
    sizes["servers"] = int(servers) if servers.isdecimal() and len(servers) <= 9 else servers
    if len(files) == 1:
        _deliver(topology_zoo.convert(files[0], **sizes), out, as_json)
        return
    targets = _in_folder(files, out)
    instances = [topology_zoo.convert(file, **sizes) for file in files]
    for target, instance in zip(targets, instances, strict=True):
        instance.save(target)
    if as_json:
        output.emit_json([_written(target, instance) for target, instance in zip(targets, instances, strict=True)])
    else:
        output.note(f"wrote {len(targets)} instances into {out}")


def _in_folder(files: list[Path], out: Path | None) -> list[Path]:
    """Return where the instances of several files go: their names with the ending .json, in an existing folder."""
    from dlsched.models.document import InputError

    if out is None or not out.is_dir():
        raise InputError(f"--out: {'is missing' if out is None else out}: several files go into a folder that is there")
    names = [file.name.partition(".")[0] + ".json" for file in files]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InputError(f"{files[i]}: would be written as {name}, as {files[names.index(name)]}")
    return [out / name for name in names]


def schema(
    problem: ProblemName,
    schedule: Annotated[bool, typer.Option("--schedule", help="Of schedules, not of instances.")] = False,
    as_json: Json = False,
) -> None:
    """Print the JSON schema of instances."""
    del as_json
    from dlsched.models.problem import problem as find

    own = find(problem)
    document = own.schedule if schedule else own.instance
    output.emit(json.dumps(document.model_json_schema(), indent=1))
