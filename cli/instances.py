"""The verbs about instances: generate, convert, schema."""

from __future__ import annotations

import inspect
import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from dlsched.cli import output, rooms
from dlsched.cli.options import Json, Out, Problem, Seed, given, help_if_bare, named

Preset = Annotated[str, typer.Option("--preset", metavar="NAME", help="A family, as `dlsched list` names it.")]
Count = Annotated[int | None, typer.Option(min=1, max=10**6)]
Load = Annotated[float | None, typer.Option(min=1e-6, max=1e6, help="Work offered, relative to the family's measure.")]
PerDevice = Annotated[bool | None, typer.Option("--per-device", help="Read printed speeds per device.")]
Multiple = Annotated[float | None, typer.Option(min=1e-6, max=1e6, help="Machines' size, in a worker's mean needs.")]
Identical = Annotated[bool | None, typer.Option("--identical", help="All machines alike.")]
Asynchronous = Annotated[bool | None, typer.Option("--asynchronous", help="Jobs of the thesis, not of the journal.")]
FasterExternal = Annotated[
    bool | None, typer.Option("--faster-external", help="Some jobs exchange data faster between machines.")
]
Shape = Annotated[str | None, typer.Option("--shape", metavar="NAME", help="How servers are linked.")]
UtilityKind = Annotated[str | None, typer.Option("--utility", metavar="NAME", help="What kind of utilities.")]
Varying = Annotated[bool | None, typer.Option("--varying", help="Bandwidths differ by slot.")]
Half = Annotated[bool | None, typer.Option("--half", help="Both directions of a link share its bandwidth.")]
Tight = Annotated[bool | None, typer.Option("--tight", help="Few devices and narrow links.")]
Budget = Annotated[str | None, typer.Option("--budget", metavar="NAME", help="How GADGET's F is read.")]
Units = Annotated[int | None, typer.Option(min=1, max=10**6, help="Size of the cluster, in the paper's units.")]

FileOrFolder = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE|FOLDER", callback=named, help="Write it to FILE, several into FOLDER."),
]


class Training(StrEnum):
    """When servers update the parameters."""

    SYNC = "sync"
    ASYNC = "async"


class OverlapOption(StrEnum):
    """How communication overlaps computation."""

    SEQUENTIAL = "sequential"
    WAIT_FREE = "wait-free"
    PRIORITY = "priority"


convert = typer.Typer(rich_markup_mode=None, add_completion=False)


def generate(
    problem: Problem,
    preset: Preset = "random",
    seed: Seed = 0,
    jobs: Count = None,
    machines: Count = None,
    types: Count = None,
    slots: Count = None,
    devices: Count = None,
    load: Load = None,
    per_device: PerDevice = None,
    resources: Count = None,
    limit: Count = None,
    units: Units = None,
    mode: Annotated[Training | None, typer.Option("--mode", help="How jobs train.")] = None,
    overlap: Annotated[OverlapOption | None, typer.Option("--overlap", help="How they communicate.")] = None,
    capacity: Count = None,
    multiple: Multiple = None,
    identical: Identical = None,
    asynchronous: Asynchronous = None,
    faster_external: FasterExternal = None,
    mix: Annotated[str | None, typer.Option("--mix", metavar="NAME", help="How urgent the jobs are.")] = None,
    ratio: Annotated[int | None, typer.Option(min=1, max=10**6, help="Internal to external data rate.")] = None,
    servers: Count = None,
    workers: Count = None,
    shape: Shape = None,
    utility: UtilityKind = None,
    varying: Varying = None,
    half: Half = None,
    tight: Tight = None,
    budget: Budget = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Generate an instance of a family.

    As JSON on stdout, or in a file.
    """
    from dlsched.models.document import InputError

    package = rooms.problem(problem)
    rooms.choose("preset", preset, package.PRESETS)
    sizes = given(
        jobs=jobs,
        machines=machines,
        types=types,
        slots=slots,
        devices=devices,
        load=load,
        per_device=per_device,
        resources=resources,
        limit=limit,
        units=units,
        mode=mode,
        overlap=overlap,
        capacity=capacity,
        multiple=multiple,
        identical=identical,
        asynchronous=asynchronous,
        faster_external=faster_external,
        mix=mix,
        ratio=ratio,
        servers=servers,
        workers=workers,
        shape=shape,
        utility=utility,
        varying=varying,
        half=half,
        tight=tight,
        budget=budget,
    )
    taken = list(inspect.signature(package.PRESETS[preset]).parameters)[1:]
    for name in sizes:
        if name not in taken:
            option = name.replace("_", "-")
            raise InputError(f"--{option}: preset {preset} takes {', '.join(taken) or 'no sizes'}")
    _deliver(package.preset(preset, seed, **sizes), out, as_json)


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
    problem: Problem,
    schedule: Annotated[bool, typer.Option("--schedule", help="Of schedules, not of instances.")] = False,
    as_json: Json = False,
) -> None:
    """Print the JSON schema of instances."""
    del as_json
    package = rooms.problem(problem)
    document = package.Schedule if schedule else package.Instance
    output.emit(json.dumps(document.model_json_schema(), indent=1))
