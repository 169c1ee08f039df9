"""The certified optimum of one DDLJS slot, phases apart, and the plain program: ``python benchmarks/ddljs_slot.py``.

The family ``dlsched generate ddljs --preset benchmark`` at T=1, normal and tight: the time to make the slot's problem,
to find and first prove its optimum, to confirm it by a second route; then, with the same limit in the same run,
`ddljs/gvne` built, compiled and solved once by the same solver. One thread; ratios of times within one run travel
better between machines than times do. The peak memory of the certified optima is taken before any plain program.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

from dlsched.algorithms.exact.ddljs import embed
from dlsched.algorithms.exact.ddljs.checked import checked_value
from dlsched.models import build, compile_model
from dlsched.models.ddljs import Instance, slot_problem
from dlsched.models.ddljs.presets import benchmark
from dlsched.models.numbers import agree
from dlsched.solvers.solve import solve_matrix

SMALL = {"servers": 2, "jobs": 1, "tight": False, "seed": 0}
"""Built once before the clock starts, so that imports do not count."""
SIZES = [(5, 5), (10, 10), (20, 10), (20, 20), (50, 10), (50, 20)]


def certified(instance: Instance, limit: float) -> dict[str, Any]:
    """Make the slot's problem and solve it with proof."""
    start = time.perf_counter()
    problem = slot_problem(instance, 1)
    made = time.perf_counter() - start
    found = embed(problem, time_limit=limit)
    whole = time.perf_counter() - start
    assert agree(checked_value(problem, found.embeddings), found.value)
    return {
        "value": found.value,
        "bound": found.bound,
        "proved": found.proved,
        "seconds": whole,
        "made": made,
        "first": found.seconds_found,
        "second": found.seconds_proved,
        "evidence": found.evidence,
    }


def plain(instance: Instance, limit: float) -> dict[str, Any]:
    """Build, compile and solve the plain program once."""
    start = time.perf_counter()
    matrix = compile_model(build("ddljs/gvne", instance))
    built = time.perf_counter() - start
    raw = solve_matrix(matrix, time_limit=limit, threads=1)
    return {
        "plain columns": matrix.A.shape[1],
        "plain built": built,
        "plain seconds": raw.summary.seconds,
        "plain value": raw.summary.objective,
        "plain bound": raw.summary.bound,
    }


def memory() -> float:
    """Return the peak memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def show(row: dict[str, Any]) -> None:
    print(
        f"{row['servers']:4} {row['jobs']:4} {'tight' if row['tight'] else 'normal':6} {row['seed']:4}"
        f" {'yes' if row['proved'] else 'no':>7} {row['seconds']:8.2f} {row['made']:6.2f} {row['first']:6.2f}"
        f" {row['second']:6.2f} {row['value']:10.3f}",
        end="",
        flush=True,
    )


def show_plain(row: dict[str, Any]) -> None:
    value, bound = row["plain value"], row["plain bound"]
    gap = "   none" if value is None or bound is None else f"{100 * (bound / value - 1):7.2f}"
    ratio = (row["plain built"] + row["plain seconds"]) / row["seconds"]
    print(f" {row['plain columns']:8} {row['plain built']:7.2f} {row['plain seconds']:8.2f} {gap} {ratio:8.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each solve")
    parser.add_argument("--largest", type=int, default=50, help="servers at most")
    parser.add_argument("--no-plain", action="store_true", help="leave out the plain program")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    cases = [
        {"servers": servers, "jobs": jobs, "tight": tight, "seed": seed}
        for servers, jobs in SIZES
        if servers <= options.largest
        for tight in (False, True)
        for seed in range(options.seeds)
    ]
    rows: list[dict[str, Any]] = []
    print("   S    J kind   seed  proved  seconds   made  first second      value")
    for case in cases:
        rows.append(case | certified(_instance(case), options.limit))
        show(rows[-1])
        print()
    used = memory()
    print(f"peak memory {used:.0f} MB")
    if not options.no_plain:
        build("ddljs/gvne", _instance(SMALL))
        print("the plain program:          columns   built  seconds   gap %    ratio")
        for case, row in zip(cases, rows, strict=True):
            row |= plain(_instance(case), options.limit)
            show(row)
            show_plain(row)
        print(f"peak memory {memory():.0f} MB")
    if options.out:
        options.out.write_text(json.dumps({"rows": rows, "memory": used}, indent=1) + "\n", encoding="utf-8")


def _instance(case: dict[str, Any]) -> Instance:
    rng = np.random.default_rng(case["seed"])
    return benchmark(rng, servers=case["servers"], jobs=case["jobs"], tight=case["tight"])


if __name__ == "__main__":
    main()
