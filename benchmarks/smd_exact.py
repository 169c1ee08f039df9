"""The certified SMD optimum, phases apart, beside the plain programs: ``python benchmarks/smd_exact.py --help``.

Two tables. Jobs of the paper's ranges (`dlsched generate smd --preset paper`): the certified optimum with both routes,
against one solve of (16) by HiGHS and, for few jobs, of (1) over all points. Knapsack problems made to be hard (values
correlated with weights, half of everything fits): the certified optimum against one plain HiGHS solve of the same
program with the same limit. One thread; ratios of times within one run travel better between machines than times do.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from dlsched.algorithms import optimum
from dlsched.algorithms.exact.knapsack import solve_exact
from dlsched.models import build, compile_model
from dlsched.models.smd import best_point, preset
from dlsched.solvers.matrix import Matrix
from dlsched.solvers.solution import Status
from dlsched.solvers.solve import solve_matrix

PAPER = [(jobs, units, mode) for mode in ("sync", "async") for jobs, units in ((50, 5), (200, 1), (200, 5), (200, 20))]
HARD = [(50, 4, 1.0), (100, 4, 0.0), (100, 3, 1.0), (200, 1, 1.0), (200, 3, 0.0), (200, 4, 1.0)]


def paper(jobs: int, units: int, mode: str, seed: int, limit: float) -> dict[str, Any]:
    """Solve one instance of the paper's ranges."""
    alone, instance = (preset("paper", seed, jobs=jobs, units=units, mode=mode) for _ in range(2))
    start = time.perf_counter()
    for job in alone.jobs:
        best_point(job)
    inner = time.perf_counter() - start
    start = time.perf_counter()
    found = optimum(instance, time_limit=limit)
    whole = time.perf_counter() - start
    row = {"jobs": jobs, "units": units, "mode": mode, "seed": seed, "proved": found.proved, "value": found.value}
    row |= {"seconds": whole, "inner": inner, "first": found.seconds_found - inner, "second": found.seconds_proved}
    row["knapsack"] = timed("smd/knapsack", instance, limit)
    row["milp"] = timed("smd/milp", instance, limit) if jobs <= 50 else None
    return row


def timed(formulation: str, instance: Any, limit: float) -> dict[str, Any]:
    """Build, compile and solve a formulation once."""
    start = time.perf_counter()
    matrix = compile_model(build(formulation, instance))
    built = time.perf_counter() - start
    raw = solve_matrix(matrix, time_limit=limit, threads=1)
    seconds = time.perf_counter() - start
    return {"build": built, "seconds": seconds, "value": raw.summary.objective, "status": raw.summary.status.value}


def hard(items: int, rows: int, correlation: float, seed: int, limit: float) -> dict[str, Any]:
    """Solve one hard knapsack problem."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 1001, size=(items, rows))
    drawn = correlation * weights.mean(axis=1) + 500 * (2 - correlation) * rng.random(items)
    values = [Fraction(round(float(v), 3)) for v in drawn]
    capacity = weights.sum(axis=0) // 2
    exact = [[Fraction(int(w)) for w in row] for row in weights]
    start = time.perf_counter()
    found = solve_exact(values, exact, [Fraction(int(c)) for c in capacity], time_limit=limit)
    seconds = time.perf_counter() - start
    raw = solve_matrix(plain(values, weights, capacity), time_limit=limit, threads=1)
    return {
        "items": items,
        "rows": rows,
        "correlation": correlation,
        "seed": seed,
        "proved": found.proved,
        "seconds": seconds,
        "second": found.seconds_proved,
        "gap": float(found.bound / found.value - 1),
        "plain proved": raw.summary.status is Status.OPTIMAL,
        "plain seconds": raw.summary.seconds,
        "plain gap": raw.summary.gap,
    }


def plain(values: list[Fraction], weights: Any, capacity: Any) -> Matrix:
    n, rows = weights.shape
    return Matrix(
        c=np.array([float(v) for v in values]),
        offset=0.0,
        sense=-1,
        A=sp.csr_array(weights.T.astype(float)),
        row_lower=np.full(rows, -np.inf),
        row_upper=capacity.astype(float),
        lower=np.zeros(n),
        upper=np.ones(n),
        integer=np.ones(n, dtype=bool),
        row_names=("",) * rows,
        column_names=("",) * n,
        rows=(),
        columns=(),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=30.0, help="seconds for each solve")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    seeds = range(options.seeds)
    tables = {
        "paper": [paper(*size, seed, options.limit) for size in PAPER for seed in seeds],
        "hard": [hard(*size, seed, options.limit) for size in HARD for seed in seeds],
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print("jobs units mode   proved   seconds (most)   inner   first   second   (16) once")
    for size in PAPER:
        rows = [r for r in tables["paper"] if (r["jobs"], r["units"], r["mode"]) == size]
        median = {k: statistics.median(r[k] for r in rows) for k in ("seconds", "inner", "first", "second")}
        most = max(r["seconds"] for r in rows)
        once = statistics.median(r["knapsack"]["seconds"] for r in rows)
        proved = f"{sum(r['proved'] for r in rows)}/{len(rows)}"
        print(
            f"{size[0]:4} {size[1]:5} {size[2]:6} {proved:>6} {median['seconds']:9.2f} ({most:.2f})"
            f" {median['inner']:7.2f} {median['first']:7.2f} {median['second']:8.2f} {once:11.2f}"
        )
    print("items rows correlation   proved   seconds   gap %   plain proved   seconds   gap %")
    for hard_size in HARD:
        rows = [r for r in tables["hard"] if (r["items"], r["rows"], r["correlation"]) == hard_size]
        median = {k: statistics.median(r[k] for r in rows) for k in ("seconds", "plain seconds")}
        worst = 100 * max(r["gap"] for r in rows), 100 * max(r["plain gap"] for r in rows)
        print(
            f"{hard_size[0]:5} {hard_size[1]:4} {hard_size[2]:11} {sum(r['proved'] for r in rows):4}/{len(rows)}"
            f" {median['seconds']:11.2f} {worst[0]:7.3f} {sum(r['plain proved'] for r in rows):11}/{len(rows)}"
            f" {median['plain seconds']:9.2f} {worst[1]:7.3f}"
        )
    print(f"peak memory {tables['memory']:.0f} MB")
    if options.out:
        options.out.write_text(json.dumps(tables, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
