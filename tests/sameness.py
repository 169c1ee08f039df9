"""Digests of what must be the same on every processor: ``python -m tests.sameness`` prints a name and one a line.

Presets and drawn instances, runs of all algorithms, optimal schedules and verdicts to the last digit. The lines that
begin with ``control`` are of what is known to differ: they show that an environment is another one.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np

from dlsched.algorithms import algorithms, optimum, pd_ors
from dlsched.bounds import claims
from dlsched.bounds.search import draw, evaluate, plan
from dlsched.errors import InputError
from dlsched.models.problem import Problem, problem, problems
from tests.sources import SOURCES

SEEDS = 2
DRAWS = 2
EVERY = 8
SMALL = {"jobs": 6, "machines": 5, "servers": 6, "slots": 8}
OPTIONS: dict[str, dict[str, tuple[object, ...]]] = {
    "hadar": {"variant": ("printed", "corrected"), "mode": ("commit", "rounds")},
    "hadar_e": {"variant": ("printed", "corrected"), "steps": ("whole", "divisible")},
    "pd_ors": {"variant": ("printed", "corrected"), "external": ("exact", "greedy", "lp-rounding")},
    "smd": {"variant": ("printed", "corrected"), "epsilon": (0.1,)},
    "gadget": {"variant": ("printed", "corrected", "filled"), "relaxation": ("colocated", "augmented")},
}
"""What the papers' algorithms are run with; the baselines have one way."""

Line = tuple[str, object]


PAPER_SIZED = 50
"""Cost of draws in the papers' own sizes, whose runs are those of `runs` at greater length: seconds each."""


def small(of: Problem[Any, Any], name: str, seed: int) -> Any:
    """An instance of a preset with few jobs, where the preset takes such sizes."""
    taken = inspect.signature(of.families[name]).parameters
    return of.preset(name, seed, **({} if name == "random" else {k: v for k, v in SMALL.items() if k in taken}))


def instances() -> Iterator[Line]:
    for of in problems():
        for name in of.families:
            yield f"preset {of.name} {name}", small(of, name, 0).dump()
    for name, source in sorted(SOURCES.items()):
        for position in range(source.draws(DRAWS)):
            document, seed = draw(source, position, 0)
            yield f"source {name} {position}", [document.dump(), seed]


def runs() -> Iterator[Line]:
    for algorithm in algorithms():
        of = problem(algorithm.problem)
        options = OPTIONS.get(algorithm.name, {})
        for seed, name, chosen in product(range(SEEDS), of.families, product(*options.values())):
            case = f"{algorithm.name} {algorithm.problem} {name} {seed} {' '.join(map(str, chosen))}"
            yield f"run {case}", outcome(algorithm.run, small(of, name, seed), seed, zip(options, chosen, strict=True))
    for seed in (0, 2):
        instance = problem("dmlrs").preset("benchmark", seed, jobs=20, machines=10, slots=10)
        yield f"run pd_ors dmlrs benchmark {seed} larger", outcome(pd_ors.run, instance, seed, ())


def outcome(function: Any, instance: Any, seed: int, options: Iterable[tuple[str, object]]) -> object:
    try:
        run = function(instance, seed=seed, **dict(options))
    except InputError as error:
        return str(error)
    return [run.schedule.dump(), run.utility, sorted((str(k), v) for k, v in run.prices.items()), repr(run.log)]


def optima() -> Iterator[Line]:
    for of, seed in product(problems(), range(SEEDS)):
        found = optimum(of.preset("random", seed))
        yield f"optimum {of.name} {seed}", [found.value, found.bound, found.schedule and found.schedule.dump()]


def verdicts() -> Iterator[Line]:
    for task in list(plan(claims(), 1, 0))[::EVERY]:
        if task.source in SOURCES and SOURCES[task.source].cost >= PAPER_SIZED:
            continue
        for verdict in evaluate(task):
            of = f"{verdict.claim} {verdict.variant} {task.source} {task.name}"
            yield f"verdict {of}", [verdict.status, repr(verdict.measured), repr(verdict.bound), repr(verdict.witness)]


def controls() -> Iterator[Line]:
    """What NumPy, BLAS and the C library compute in their own way."""
    x = np.random.default_rng(0).random(10**5)
    yield "control numpy", np.exp(x).tolist()
    yield "control blas", (x[: 10**4].reshape(100, 100) @ x[:100]).tolist()
    yield "control libm", [math.exp(700 * v) for v in x.tolist()]


def main() -> None:
    for part in (instances, runs, optima, verdicts, controls):
        for name, value in part():
            print(name, hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest(), sep="\t")


if __name__ == "__main__":
    main()
