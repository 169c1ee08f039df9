"""The verbs about instances: generate, convert, schema."""

from __future__ import annotations

import dataclasses
import inspect
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlsched.cli import output, signature
from dlsched.cli.options import Json, Out, ProblemName, Seed, given, named, once, read_alone
from dlsched.models.options import can_be_typed, options_of

if TYPE_CHECKING:
    from dlsched.models.problem import Problem
    from dlsched.traces.reader import Reader

_LARGEST = 10**6
"""Of a size: more could not be kept in memory."""

FileOrFolder = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE|FOLDER", callback=named, help="Write it to FILE, several into FOLDER."),
]


def _generated_problems() -> list[str]:
    from dlsched.models.problem import problems

    return [entry.name for entry in problems() if entry.families]


def _generating(name: str) -> Any:
    """Return the command that generates instances of a problem; its options are the sizes of all families."""
    from dlsched.arguments import least_of
    from dlsched.models.problem import problem as find

    problem = find(name)
    sizes: dict[str, dataclasses.Field[Any]] = {}
    limits: dict[str, int | None] = {}
    for family in problem.families.values():
        # Of families that share a size the first that says something of it tells: the default one, `random`, is first.
        for size, field in can_be_typed(options_of(family)).items():
            least = least_of(field.type)
            if size not in sizes or not sizes[size].metadata["help"]:
                sizes[size] = field
            known = limits.setdefault(size, least)
            limits[size] = None if known is None or least is None else min(known, least)
    names = ", ".join(problem.families)
    parameters = [
        signature.parameter("preset", Annotated[str, typer.Option("--preset", metavar="NAME", help=names)], "random"),
        signature.parameter("seed", Seed, 0),
        *signature.parameters(sizes, with_defaults=False, least=limits, most=_LARGEST),
        signature.parameter("out", Out, None),
        signature.parameter("as_json", Json, False),
    ]
    doc = f"Generate an instance: {problem.title}.\n\nAs JSON on stdout, or in a file."
    return signature.command(name, partial(_generated, problem), parameters, doc)


generate = signature.group(
    "Generate an instance of a family.\n\n"
    "Each problem has its own families and sizes: `dlsched generate PROBLEM --help`.",
    "PROBLEM [OPTIONS]",
    _generated_problems,
    _generating,
)


def _generated(
    problem: Problem[Any, Any], preset: str, seed: int, out: Path | None, as_json: bool, **sizes: Any
) -> None:
    from dlsched.arguments import named
    from dlsched.errors import InputError

    family = named("preset", preset, problem.families)
    taken = can_be_typed(options_of(family))
    chosen = given(**sizes)
    for name in chosen:
        if name not in taken:
            option = name.replace("_", "-")
            raise InputError(f"--{option}: preset {preset} takes {', '.join(taken) or 'no sizes'}")
    with output.waiting(f"generating {problem.name}/{preset}"):
        instance = problem.preset(preset, seed, **chosen)
    _deliver(instance, out, as_json)


def _deliver(instance: Any, out: Path | None, as_json: bool) -> None:
    """Print the instance, or write it and say so: with --json as {"out", "digest", "jobs"}."""
    if skipped := (getattr(instance, "origin", None) or {}).get("skipped"):
        output.note(f"skipped {skipped}")
    if out is None:
        output.emit_json(instance.dump())
        return
    with output.waiting(f"writing {out}"):
        instance.save(out)
        written = _written(out, instance)
    if as_json:
        output.emit_json(written)
    else:
        output.note(f"wrote {out}: {written['jobs']} jobs, digest {written['digest']}")


def _written(out: Path, instance: Any) -> dict[str, Any]:
    """Return what --json tells of an instance that was written; its digest takes as long as writing it."""
    return {"out": str(out), "digest": instance.digest, "jobs": len(instance.jobs)}


def _formats() -> list[str]:
    from dlsched.traces.reader import readers

    return [entry.name for entry in readers()]


def _converting(name: str) -> Any:
    """Return the command that converts a format: of one file or several each by itself, or of files in options."""
    from dlsched.traces.reader import reader as find

    reader = find(name)
    of_files = any(p.kind is not p.KEYWORD_ONLY for p in inspect.signature(reader.read).parameters.values())
    files = Annotated[list[Path], typer.Argument(metavar="FILE", callback=read_alone, help="Each becomes an instance.")]
    fields = can_be_typed(reader.options)
    parameters = [
        *([signature.parameter("files", files)] if of_files else []),
        *signature.parameters(fields),
        signature.parameter("out", FileOrFolder if of_files else Out, None),
        signature.parameter("as_json", Json, False),
    ]
    doc = f"{reader.title}, into an instance of {reader.problem}."
    if of_files:
        doc += "\n\nOne as JSON on stdout, or in a file; several into the folder --out, each under its file's name."
    return signature.command(name, partial(_converted, reader), parameters, doc)


convert = signature.group(
    "Convert public formats into an instance.\n\nEach has its own options: `dlsched convert FORMAT --help`.",
    "FORMAT [OPTIONS] [FILES]",
    _formats,
    _converting,
)


def _converted(reader: Reader, out: Path | None, as_json: bool, files: list[Path] | None = None, **chosen: Any) -> None:
    options = given(**chosen)
    if out is not None:  # files that a reader takes as options are text
        once(out, [Path(value) for value in options.values() if isinstance(value, str)])
    if files is None:
        _deliver(_read(reader, **options), out, as_json)
        return
    if len(files) == 1:
        _deliver(_read(reader, files[0], **options), out, as_json)
        return
    targets = _in_folder(files, out)
    instances = [_read(reader, file, **options) for file in files]
    with output.waiting(f"writing into {out}"):
        for target, instance in zip(targets, instances, strict=True):
            instance.save(target)
        written = list(map(_written, targets, instances)) if as_json else []
    if as_json:
        output.emit_json(written)
    else:
        output.note(f"wrote {len(targets)} instances into {out}")


def _read(reader: Reader, *file: Path, **options: Any) -> Any:
    """Return what a reader makes; a plug-in's may return anything."""
    from dlsched.arguments import expect
    from dlsched.models.problem import problem

    with output.waiting(" ".join(("converting", *(path.name for path in file)))):
        instance = reader.read(*file, **options)
    expect(f"what reader {reader.name} returns", instance, problem(reader.problem).instance)
    return instance


def _in_folder(files: list[Path], out: Path | None) -> list[Path]:
    """Return where the instances of several files go: their names with the ending .json, in an existing folder."""
    from dlsched.errors import InputError

    if out is None or not out.is_dir():
        raise InputError(f"--out: {'is missing' if out is None else out}: several files go into a folder that is there")
    names = [file.name.partition(".")[0] + ".json" for file in files]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InputError(f"{files[i]}: would be written as {name}, as {files[names.index(name)]}")
    targets = [out / name for name in names]
    for target in targets:
        once(target, files)
    return targets


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
