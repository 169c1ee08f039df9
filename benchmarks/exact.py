"""Certified optima beside formulations in other solvers, family by family."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.benchmark import Benchmark, Outcome, Way
from benchmarks.ways import certified, formulation, solved
from dlsched.algorithms.exact.ddljs import embed
from dlsched.algorithms.exact.ddljs.horizon import alike, horizon_program, values
from dlsched.algorithms.exact.knapsack import solve_exact
from dlsched.bounds.pd_ors.families import all_epochs
from dlsched.models import ddljs, dmlrs, hadar, smd
from dlsched.solvers.matrix import Matrix
from dlsched.traces import topology_zoo

OWN = "optimum"
BOTH = "optimum, two processes"

_MANY_JOBS = 40
"""From which two processes are measured too: no rival is near."""

_LOADS = (0.8, 0.85, 0.9, 0.95)
"""Of fragmented clusters, by seed in turn."""


def _hadar(name: str, jobs: int, machines: int, types: int, slots: int, aim: str, *, big_m: bool = False) -> Benchmark:
    ways: dict[str, Way] = {
        OWN: certified(),
        "hadar/hall in HiGHS": formulation("hadar/hall"),
        "hadar/hall in SCIP": formulation("hadar/hall", "scip"),
    }
    if jobs >= _MANY_JOBS:
        ways[BOTH] = certified(2)
    if big_m:
        ways["hadar/aggregate in HiGHS"] = formulation("hadar/aggregate")
        ways["hadar/p1-admission, big-M, in HiGHS"] = formulation("hadar/p1-admission", relaxed="gdp.bigm")
    return Benchmark(
        name=f"hadar/{name}",
        title=f"{jobs} jobs, {machines} machines, {types} device types, {slots} slots",
        draw=partial(hadar.preset, "benchmark", jobs=jobs, machines=machines, types=types, slots=slots),
        smoke=partial(hadar.preset, "benchmark", jobs=3, machines=2, types=2, slots=4),
        ways=ways,
        aim=aim,
    )


def _dmlrs(name: str, jobs: int, machines: int, slots: int, multiple: float, aim: str, *, loads: bool) -> Benchmark:
    def draw(seed: int) -> dmlrs.Instance:
        load = {"load": _LOADS[seed % len(_LOADS)]} if loads else {}
        sizes = {"jobs": jobs, "machines": machines, "slots": slots, "multiple": multiple}
        return dmlrs.preset("benchmark", seed, **sizes, **load)

    return Benchmark(
        name=f"dmlrs/{name}",
        title=f"{jobs} jobs, {machines} machines, {slots} slots, capacity {multiple:g} times the mean need of a worker",
        draw=draw,
        smoke=partial(dmlrs.preset, "benchmark", jobs=2, machines=2, slots=3),
        ways=_dmlrs_ways() | ({BOTH: certified(2)} if jobs >= _MANY_JOBS else {}),
        aim=aim,
    )


def _paper(jobs: int, machines: int, slots: int) -> Benchmark:
    def draw(seed: int, jobs: int = jobs, machines: int = machines, slots: int = slots) -> dmlrs.Instance:
        return all_epochs(dmlrs.preset("paper", seed, jobs=jobs, machines=machines, slots=slots))

    return Benchmark(
        name=f"dmlrs/paper-{machines}",
        title=f"{jobs} jobs of PD-ORS' ranges, K of all epochs, {machines} machines, {slots} slots",
        draw=draw,
        smoke=partial(draw, jobs=2, machines=2, slots=3),
        ways=_dmlrs_ways(),
    )


def _dmlrs_ways() -> dict[str, Way]:
    return {
        OWN: certified(),
        "dmlrs/compact-milp in HiGHS": formulation("dmlrs/compact-milp"),
        "dmlrs/compact-milp in SCIP": formulation("dmlrs/compact-milp", "scip"),
    }


def _whole(solver: str) -> Way:
    """Return one call of a solver on the matrix of all slots, which is smaller than any Pyomo model here, as a way."""

    def way(instance: ddljs.Instance, limit: float) -> Outcome:
        start = time.perf_counter()
        points = {job.name: values(instance, job) for job in instance.jobs}
        matrix = horizon_program(instance, points, alike(instance)).matrix
        return solved(matrix, limit, solver, {"build": time.perf_counter() - start})

    return way


def _ddljs(servers: int, jobs: int, slots: int, *, tight: bool) -> Benchmark:
    kind = "tight" if tight else "normal"
    return Benchmark(
        name=f"ddljs/{servers}-{jobs}-{slots}-{kind}",
        title=f"{servers} servers, {jobs} jobs, {slots} slots, {kind} links",
        draw=partial(ddljs.preset, "benchmark", servers=servers, jobs=jobs, slots=slots, tight=tight),
        smoke=partial(ddljs.preset, "benchmark", servers=3, jobs=2, slots=2, tight=tight),
        ways={
            OWN: certified(),
            "whole matrix in HiGHS": _whole("highs"),
            "whole matrix in SCIP": _whole("scip"),
        },
        aim="all proved within 15 s",
    )


def _network(name: str, jobs: int, slots: int) -> Benchmark:
    def draw(seed: int, file: Path) -> ddljs.Instance:
        return topology_zoo.convert(
            file, servers="all", gpus=(1, 2), bandwidth=(1, 5), jobs=jobs, slots=slots, seed=seed
        )

    return Benchmark(
        name=f"ddljs/{name.lower()}",
        title=f"{name}, every node a server, {jobs} jobs, {slots} slots",
        draw=draw,
        smoke=partial(ddljs.preset, "benchmark", servers=3, jobs=2, slots=2),
        ways={OWN: certified(), "whole matrix in HiGHS": _whole("highs")},
        aim="all proved within 5 s",
        data=f"topology_zoo/{name}.yml",
    )


def _slot(servers: int, jobs: int, *, tight: bool) -> Benchmark:
    kind = "tight" if tight else "normal"

    def way(instance: ddljs.Instance, limit: float) -> Outcome:
        start = time.perf_counter()
        problem = ddljs.slot_problem(instance, 1)
        made = time.perf_counter() - start
        found = embed(problem, time_limit=limit)
        phases = {"problem": made, "first proof": found.seconds_found, "second route": found.seconds_proved}
        return Outcome(phases, found.value, found.bound, found.proved)

    return Benchmark(
        name=f"ddljs-slot/{servers}-{jobs}-{kind}",
        title=f"one slot of {servers} servers and {jobs} jobs, {kind} links",
        draw=partial(ddljs.preset, "benchmark", servers=servers, jobs=jobs, tight=tight),
        smoke=partial(ddljs.preset, "benchmark", servers=3, jobs=2, tight=tight),
        ways={"embed": way, "ddljs/gvne in HiGHS": formulation("ddljs/gvne")},
    )


def _smd(jobs: int, units: int, mode: str) -> Benchmark:
    return Benchmark(
        name=f"smd/{jobs}-{units}-{mode}",
        title=f"{jobs} {mode}hronous jobs of the paper's ranges, {units} units of resources",
        draw=partial(smd.preset, "paper", jobs=jobs, units=units, mode=mode),
        smoke=partial(smd.preset, "paper", jobs=4, mode=mode),
        ways={OWN: certified(), "smd/knapsack in HiGHS": formulation("smd/knapsack")},
    )


@dataclass(frozen=True, slots=True)
class Packing:
    """A knapsack problem with several rows, in whole numbers and thousandths."""

    values: tuple[Fraction, ...]
    weights: np.ndarray[Any, np.dtype[np.int64]]
    capacity: np.ndarray[Any, np.dtype[np.int64]]


def packing(seed: int, *, items: int, rows: int, tightness: float = 0.5) -> Packing:
    """Return a problem of Chu and Beasley's generator (Journal of Heuristics 4, 1998), with numpy's numbers."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 1001, size=(items, rows))
    drawn = weights.mean(axis=1) + 500 * rng.random(items)
    values = tuple(Fraction(round(1000 * float(value)), 1000) for value in drawn)
    return Packing(values, weights, np.floor(tightness * weights.sum(axis=0)).astype(np.int64))


def _own_packing(problem: Packing, limit: float) -> Outcome:
    start = time.perf_counter()
    weights = [[Fraction(int(weight)) for weight in row] for row in problem.weights]
    found = solve_exact(problem.values, weights, [Fraction(int(c)) for c in problem.capacity], time_limit=limit)
    first = time.perf_counter() - start - found.seconds_proved
    phases = {"first proof": first, "second route": found.seconds_proved}
    return Outcome(phases, float(found.value), float(found.bound), found.proved)


def _packing_in(solver: str) -> Way:
    def way(problem: Packing, limit: float) -> Outcome:
        n, rows = problem.weights.shape
        matrix = Matrix(
            c=np.array([float(value) for value in problem.values]),
            offset=0.0,
            sense=-1,
            A=sp.csr_array(problem.weights.T.astype(float)),
            row_lower=np.full(rows, -np.inf),
            row_upper=problem.capacity.astype(float),
            lower=np.zeros(n),
            upper=np.ones(n),
            integer=np.ones(n, dtype=bool),
            row_names=("",) * rows,
            column_names=("",) * n,
            rows=(),
            columns=(),
        )
        return solved(matrix, limit, solver, {})

    return way


def _chu_beasley(items: int, rows: int, tightness: float) -> Benchmark:
    return Benchmark(
        name=f"knapsack/{items}-{rows}-{tightness:g}",
        title=f"{items} items, {rows} rows, tightness {tightness:g} (Chu and Beasley)",
        draw=partial(packing, items=items, rows=rows, tightness=tightness),
        smoke=partial(packing, items=12, rows=2, tightness=tightness),
        ways={"solve_exact": _own_packing, "HiGHS": _packing_in("highs"), "SCIP": _packing_in("scip")},
        aim="first proof at most 1.1 times the best of HiGHS and SCIP",
        seeds=10,
    )


BENCHMARKS = (
    _hadar("8", 8, 4, 3, 10, "proved in 3 s", big_m=True),
    _hadar("12", 12, 5, 3, 15, "5 proved, most 8 s", big_m=True),
    _hadar("20", 20, 10, 3, 20, "5 proved"),
    _hadar("40", 40, 15, 3, 40, "gap at most .2 % on every seed, two cores"),
    *(_ddljs(*size, 20, tight=tight) for size in ((10, 10), (20, 20)) for tight in (False, True)),
    _network("Abilene", 10, 8),
    _network("Nsfnet", 10, 8),
    _network("Geant2001", 15, 12),
    *(_slot(*size, tight=tight) for size in ((20, 20), (50, 20)) for tight in (False, True)),
    _dmlrs("fragmented-10", 10, 4, 10, 3, "most 15 s", loads=True),
    _dmlrs("fragmented-12", 12, 5, 10, 3, "", loads=True),
    _dmlrs("fragmented-20", 20, 10, 10, 3, "at most .5 %", loads=True),
    _dmlrs("contended-2", 50, 30, 20, 2, "at most 1 %, two cores", loads=False),
    _dmlrs("contended-3", 50, 30, 20, 3, "at most 1 %, two cores", loads=False),
    _dmlrs("moderate", 50, 30, 20, 6, "", loads=False),
    _paper(10, 6, 10),
    *(_smd(jobs, units, mode) for mode in ("sync", "async") for jobs, units in ((50, 5), (200, 5))),
    *(_chu_beasley(100, 5, tightness) for tightness in (0.25, 0.5, 0.75)),
    *(_chu_beasley(items, rows, 0.5) for rows in (5, 10, 30) for items in (100, 250, 500) if (items, rows) != (100, 5)),
)
