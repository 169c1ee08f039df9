"""The verb `run`: a subcommand for each algorithm, with its own options."""

from __future__ import annotations

import dataclasses
import inspect
import time
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlsched.cli import output, signature
from dlsched.cli.options import InstanceFile, Json, Out, Seed, TimeLimit, reading
from dlsched.models.options import can_be_typed

if TYPE_CHECKING:
    from dlsched.algorithms.algorithm import Algorithm

Why = Annotated[bool, typer.Option("--explain", help="Tell what price turned a job away (hadar, pd_ors).")]


def _names() -> list[str]:
    from dlsched.algorithms.algorithm import algorithms

    return sorted({entry.name for entry in algorithms()})


def _command(name: str) -> Any:
    from dlsched.algorithms.algorithm import algorithms_named

    algorithms = algorithms_named(name)
    own: dict[str, dataclasses.Field[Any]] = {}
    for entry in algorithms:
        own |= can_be_typed(entry.options)
    first = [signature.parameter("file", InstanceFile), signature.parameter("seed", Seed, 0)]
    last = [
        signature.parameter("time_limit", TimeLimit, None),
        signature.parameter("out", Out, None),
        signature.parameter("why", Why, False),
        signature.parameter("as_json", Json, False),
    ]
    titles = " Or ".join(f"{entry.title} ({entry.problem})." for entry in algorithms)
    doc = f"{titles}\n\nWith --out, keep its schedule."
    taken = sorted(own.keys() & {parameter.name for parameter in (*first, *last)})
    if taken:
        return signature.command(name, partial(_refuse_options, name, taken), [*first, *last], doc)
    return signature.command(name, partial(_on_file, algorithms), [*first, *signature.parameters(own), *last], doc)


def _refuse_options(name: str, taken: list[str], **given: Any) -> None:
    """Refuse an algorithm whose options have names of the command's own; others are listed beside it all the same."""
    from dlsched.errors import InputError

    del given
    raise InputError(f"{name}: its options {', '.join(taken)} are called like those of `dlsched run` itself")


run = signature.group(
    "Run an algorithm on an instance.\n\nEach has its own options: `dlsched run ALGORITHM --help`.",
    "ALGORITHM [OPTIONS] FILE",
    _names,
    _command,
)


def _on_file(
    algorithms: tuple[Algorithm, ...],
    file: Path,
    seed: int,
    time_limit: float | None,
    out: Path | None,
    why: bool,
    as_json: bool,
    **chosen: Any,
) -> None:
    with reading(file):
        algorithm, instance = _fitting(algorithms, file)
    options = _filled(algorithm, chosen)
    settings: dict[str, Any] = dict(options)
    start = time.perf_counter()
    work = f"running {algorithm.name}"
    tells = "progress" in inspect.signature(algorithm.run).parameters
    with output.counting(work) if tells else output.waiting(work) as tell:
        settings |= {"progress": tell} if tells else {}
        outcome = output.within(time_limit, work, lambda: algorithm(instance, seed=seed, **settings))
    result: dict[str, object] = {
        "algorithm": algorithm.name,
        "utility": outcome.utility,
        "seconds": time.perf_counter() - start,
        "seed": seed,
        **options,
        "jobs": len(instance.jobs),
        "scheduled": len(outcome.schedule.jobs),
        "events": len(outcome.log),
    }
    try:
        output.keep(outcome.schedule, out)
        if why:
            _explain(instance, outcome, result, as_json)
    finally:
        output.tell(f"{algorithm.name} on {file.name}", result, as_json)


def _explain(instance: Any, outcome: Any, result: dict[str, object], as_json: bool) -> None:
    """Tell why jobs were turned away, before the result, or in it."""
    from dlsched.algorithms import rejections

    found = rejections(instance, outcome)
    if as_json:
        result["turned away"] = found.dump()
    else:
        output.emit(str(found))


def _fitting(algorithms: tuple[Algorithm, ...], file: Path) -> tuple[Algorithm, Any]:
    """Return the algorithm that is for the instance in a file, and the instance.

    Raises
    ------
    InputError
        If several problems have an algorithm of that name and the file fits none of them.
    """
    from dlsched.errors import InputError
    from dlsched.models.document import read_json
    from dlsched.models.problem import problem

    if len(algorithms) == 1:
        return algorithms[0], problem(algorithms[0].problem).instance.load(file)
    data = read_json(file)
    for algorithm in algorithms:
        own = problem(algorithm.problem)
        if own.fits(data):
            return algorithm, own.instance.parse(data, file)
    *names, last = (algorithm.problem for algorithm in algorithms)
    raise InputError(
        f"{file}: {algorithms[0].name} runs on {', '.join(names)} and {last}; this is an instance of none of them"
    )


def _filled(algorithm: Algorithm, chosen: dict[str, Any]) -> dict[str, Any]:
    """Return the options that an algorithm takes, its defaults filled in; refuse those that it does not take."""
    from dlsched.errors import InputError

    known = can_be_typed(algorithm.options)
    options: dict[str, Any] = {}
    for name, value in chosen.items():
        if name in known:
            taken = known[name].default if value is None else value
            if taken is not None:
                options[name] = str(taken) if isinstance(taken, StrEnum) else taken
        elif value is not None:
            raise InputError(f"--{name.replace('_', '-')}: {algorithm.problem}/{algorithm.name} has no such option")
    return options
