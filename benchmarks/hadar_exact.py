"""The certified Hadar optimum beside the textbook models: ``python benchmarks/hadar_exact.py --help``.

Each row is one seed of the benchmark family, solved in a process of its own with one thread. The textbook rows use the
same HiGHS with the same limit; their build, pass and solve phases are timed apart, as are the first proof and the
second route of the certified optimum. Ratios of times within one run travel better between machines than times do.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from typing import Any

SIZES = {"8": (8, 4, 3, 10), "12": (12, 5, 3, 15), "20": (20, 10, 3, 20), "40": (40, 15, 3, 40)}
GOALS = {"8": "proved in 3 s", "12": "proved in 20 s", "20": "proved in 60 s", "40": "gap 1 % after 60 s"}
METHODS = ("optimum", "hadar/aggregate", "hadar/hall", "hadar/p1-admission")


def measure(method: str, size: str, seed: int, limit: float) -> dict[str, Any]:
    """Solve one instance in this process and return value, bound, phases in seconds and peak memory in MB."""
    from dlsched.models.hadar import preset

    jobs, machines, types, slots = SIZES[size]
    instance = preset("benchmark", seed, jobs=jobs, machines=machines, types=types, slots=slots)
    cpu = time.process_time()
    row = certified(instance, limit) if method == "optimum" else textbook(method, instance, limit)
    row |= {"method": method, "size": size, "seed": seed, "cpu": time.process_time() - cpu}
    row["gap"] = None if not row["value"] else 100 * (row["bound"] / row["value"] - 1)
    row["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return row


def certified(instance: Any, limit: float) -> dict[str, Any]:
    from dlsched.algorithms import optimum
    from dlsched.models.hadar import check

    found = optimum(instance, time_limit=limit)
    start = time.perf_counter()
    if check(instance, found.schedule):
        raise RuntimeError("the schedule breaks a rule")
    return {
        "value": found.value,
        "bound": found.bound,
        "proved": found.proved,
        "solve": found.seconds_found,
        "second": found.seconds_proved,
        "check": time.perf_counter() - start,
        "evidence": found.evidence,
    }


def textbook(method: str, instance: Any, limit: float) -> dict[str, Any]:
    import pyomo.environ as pyo

    from dlsched.models import build, compile_model
    from dlsched.solvers.solution import Status
    from dlsched.solvers.solve import solve_matrix

    start = time.perf_counter()
    model = build(method, instance)
    if method == "hadar/p1-admission":
        pyo.TransformationFactory("gdp.bigm").apply_to(model)
    built = time.perf_counter()
    matrix = compile_model(model)
    compiled = time.perf_counter()
    summary = solve_matrix(matrix, time_limit=limit, threads=1).summary
    solved = time.perf_counter()
    return {
        "value": summary.objective,
        "bound": summary.bound,
        "proved": summary.status is Status.OPTIMAL,
        "build": built - start,
        "pass": compiled - built + (solved - compiled - summary.seconds),
        "solve": summary.seconds,
    }


def apart(method: str, size: str, seed: int, limit: float) -> dict[str, Any]:
    """Measure in a process of its own."""
    command = [sys.executable, __file__, "--one", method, "--sizes", size, "--seeds", str(seed), "--limit", str(limit)]
    run = subprocess.run(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, check=True, capture_output=True, text=True)
    row: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return row


def line(row: dict[str, Any]) -> str:
    gap = "-" if row["gap"] is None else f"{max(row['gap'], 0.0):.2f}"
    names = ("build", "pass", "solve", "second", "check")
    phases = "  ".join(f"{name} {row[name]:.2f}" for name in names if name in row)
    state = "proved" if row["proved"] else f"gap {gap} %"
    return f"{row['size']:>3} seed {row['seed']}  {row['method']:<18} {state:<13} {phases}  {row['memory']:.0f} MB"


def summary(rows: list[dict[str, Any]], size: str, method: str) -> str:
    mine = [row for row in rows if row["size"] == size and row["method"] == method]
    seconds = [row["solve"] + row.get("build", 0.0) + row.get("pass", 0.0) for row in mine]
    gaps = [float("inf") if row["gap"] is None else max(row["gap"], 0.0) for row in mine]
    return (
        f"{size:>3} {method:<18} proved {sum(row['proved'] for row in mine)}/{len(mine)}, "
        f"seconds median {statistics.median(seconds):.1f} max {max(seconds):.1f}, "
        f"gap median {statistics.median(gaps):.2f} % max {max(gaps):.2f} %, "
        f"memory max {max(row['memory'] for row in mine):.0f} MB   (aim: {GOALS[size]})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="The certified Hadar optimum beside the textbook models.")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(5)))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each solve")
    parser.add_argument("--out", help="write the rows as JSON to this file")
    parser.add_argument("--one", choices=METHODS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.sizes[0], options.seeds[0], options.limit)))
        return
    rows = []
    for size in options.sizes:
        for method in options.methods:
            for seed in options.seeds:
                rows.append(apart(method, size, seed, options.limit))
                print(line(rows[-1]), flush=True)
    print()
    for size in options.sizes:
        for method in options.methods:
            print(summary(rows, size, method))
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
