"""The certified DMLRS optimum and PD-ORS, phases apart, beside the plain program: ``python benchmarks/dmlrs_exact.py``.

Moderate clusters (`dlsched generate dmlrs --preset benchmark`) and fragmented ones (machines three times as large as a
worker's mean needs): the certified optimum with both routes, the LP bound over all schedules, one run of PD-ORS, and
`dmlrs/compact-milp` solved once by the same solver with the same limit. One thread; ratios of times within one run
travel better between machines than times do.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path
from typing import Any

from dlsched.algorithms import optimum
from dlsched.algorithms.pd_ors import run, schedule_bound
from dlsched.models import build, compile_model
from dlsched.models.dmlrs import Instance, check, preset
from dlsched.solvers.solve import solve_matrix

MODERATE = [(20, 10, 10, 6), (50, 30, 20, 6), (50, 100, 20, 18)]
FRAGMENTED = [(10, 4, 10, 3), (20, 10, 10, 3)]
LOADS = (0.8, 0.85, 0.9, 0.95)


def measure(instance: Instance, limit: float, plain: bool) -> dict[str, Any]:
    """Solve one instance in every way."""
    start = time.perf_counter()
    heuristic = run(instance)
    ran = time.perf_counter() - start
    start = time.perf_counter()
    linear = schedule_bound(instance)
    bounded = time.perf_counter() - start
    start = time.perf_counter()
    found = optimum(instance, time_limit=limit)
    whole = time.perf_counter() - start
    assert not check(instance, found.schedule)
    row = {
        "value": found.value,
        "bound": found.bound,
        "proved": found.proved,
        "seconds": whole,
        "first": found.seconds_found,
        "second": found.seconds_proved,
        "gap": found.bound / found.value - 1 if found.value else 0.0,
        "pd_ors": heuristic.utility,
        "pd_ors seconds": ran,
        "lp": linear.bound,
        "lp seconds": bounded,
    }
    return row | (plainly(instance, limit) if plain else {})


def plainly(instance: Instance, limit: float) -> dict[str, Any]:
    """Build, compile and solve the plain program once."""
    start = time.perf_counter()
    matrix = compile_model(build("dmlrs/compact-milp", instance))
    built = time.perf_counter() - start
    raw = solve_matrix(matrix, time_limit=limit, threads=1)
    return {
        "plain build": built,
        "plain seconds": raw.summary.seconds,
        "plain value": raw.summary.objective,
        "plain bound": raw.summary.bound,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="of moderate clusters")
    parser.add_argument("--fragmented", type=int, default=10, help="seeds of fragmented clusters, loads in turn")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each solve")
    parser.add_argument("--no-plain", action="store_true", help="leave out the plain program")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    print("jobs machines slots  k  load seed  proved  gap %   seconds  first second   LP s  PD-ORS (s)    plain gap %")
    rows: list[dict[str, Any]] = []
    cases = [(size, None, seed) for size in MODERATE for seed in range(options.seeds)]
    cases += [(size, LOADS[s % len(LOADS)], s) for size in FRAGMENTED for s in range(options.fragmented)]
    for (jobs, machines, slots, multiple), load, seed in cases:
        sizes = {"jobs": jobs, "machines": machines, "slots": slots, "multiple": multiple, "load": load}
        row = sizes | {"seed": seed}
        row |= measure(preset("benchmark", seed, **sizes), options.limit, not options.no_plain)
        rows.append(row)
        worth = row["pd_ors"] / row["value"] if row["value"] else 1.0
        other = ""
        if row.get("plain bound") is not None:
            other = f"{100 * (row['plain bound'] / row['plain value'] - 1):8.2f}" if row["plain value"] else "    none"
        print(
            f"{jobs:4} {machines:8} {slots:5} {multiple:2} {load or 0:5} {seed:4} {'yes' if row['proved'] else 'no':>7}"
            f" {100 * row['gap']:6.3f} {row['seconds']:9.2f} {row['first']:6.2f} {row['second']:6.2f}"
            f" {row['lp seconds']:6.2f} {worth:7.4f} ({row['pd_ors seconds']:.2f}) {other}",
            flush=True,
        )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {memory:.0f} MB")
    if options.out:
        options.out.write_text(json.dumps({"rows": rows, "memory": memory}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
