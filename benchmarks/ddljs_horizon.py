"""GADGET and its baselines over whole horizons, phases apart: ``python benchmarks/ddljs_horizon.py``.

The setting of the paper's evaluation (`dlsched generate ddljs --preset paper`), also with budgets read as iterations
and with fewer servers than the jobs could use, and a tight network with concave utilities (`--preset benchmark`).
Of every algorithm: seconds for all slots, utility in units of the exact greedy's (its slots unproved at the limit take
the better of what was found and rounding), and in how many of the seeds filled GADGET is worth more, as much or less.
The phases of a filled slot are timed by doing its steps again.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dlsched.algorithms import Run
from dlsched.algorithms.baselines.ddljs import drf, fifo, las
from dlsched.algorithms.gadget import SlotEmbedding, run
from dlsched.algorithms.gadget.activity import Activity, Sizes
from dlsched.algorithms.gadget.best_draw import best_draw
from dlsched.algorithms.gadget.mixtures import Relaxation, joint
from dlsched.algorithms.rings import Substrate
from dlsched.models.ddljs import Instance, Schedule, check, preset
from dlsched.models.numbers import agree

SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "paper": ("paper", {"jobs": 100}),
    "paper, iterations": ("paper", {"jobs": 100, "budget": "iterations"}),
    "paper, crowded": ("paper", {"jobs": 150, "servers": 20}),
    "tight network": ("benchmark", {"servers": 50, "jobs": 100, "slots": 20, "tight": True}),
}


def algorithms(limit: float) -> dict[str, Callable[[Instance, int], Run[Schedule]]]:
    return {
        "exact": lambda instance, seed: run(
            instance, seed=seed, variant="filled", embedding="exact", seconds_per_slot=limit
        ),
        "filled": lambda instance, seed: run(instance, seed=seed, variant="filled"),
        "filled, not idle": lambda instance, seed: run(instance, seed=seed, variant="filled", idle=False),
        "corrected": lambda instance, seed: run(instance, seed=seed),
        "printed": lambda instance, seed: run(instance, seed=seed, variant="printed"),
        "fifo": lambda instance, seed: fifo.run(instance, seed=seed),
        "drf": lambda instance, seed: drf.run(instance, seed=seed),
        "las": lambda instance, seed: las.run(instance, seed=seed),
    }


def measure(instance: Instance, seed: int, limit: float) -> dict[str, dict[str, float]]:
    """Run every algorithm on an instance."""
    rows = {}
    for name, algorithm in algorithms(limit).items():
        start = time.perf_counter()
        outcome = algorithm(instance, seed)
        seconds = time.perf_counter() - start
        assert not check(instance, outcome.schedule)
        rows[name] = {"utility": outcome.utility, "seconds": seconds} | embedded(outcome)
    return rows


def embedded(outcome: Run[Schedule]) -> dict[str, float]:
    """Return how much of its draws a run keeps, or how many slots it proves."""
    events = [event for event in outcome.log if isinstance(event, SlotEmbedding)]
    rounded = [event.rounding for event in events if event.rounding is not None]
    exact = [event.exact for event in events if event.exact is not None]
    if exact:
        return {"proved": sum(one.proved for one in exact) / len(exact)}
    if not rounded:
        return {}
    raw = sum(one.raw for one in rounded)
    return {
        "profit / relaxation": sum(e.profit for e in events) / max(1e-9, sum(one.relaxation for one in rounded)),
        "kept / raw": sum(one.kept for one in rounded) / raw if raw else 1.0,
        "overload": max(one.overload for one in rounded),
        "draws": sum(one.draws for one in rounded) / len(rounded),
    }


def phases(instance: Instance) -> dict[str, float]:
    """Return the seconds of a filled run's steps, over all slots."""
    schedule = run(instance, variant="filled").schedule
    activity = Activity(instance, Sizes.FLOOR)
    so_far = dict.fromkeys((job.name for job in instance.jobs), 0)
    seconds: dict[str, float] = defaultdict(float)
    for slot in range(1, instance.slots + 1):
        start = time.perf_counter()
        problem = activity.problem(slot, so_far)
        problem = problem.keeping(request for request in problem.requests if max(request.profit.values()) > 0)
        substrate = Substrate.of(problem)
        asked = time.perf_counter()
        fractional = joint(problem, Relaxation.AUTO)
        solved = time.perf_counter()
        best_draw(problem, substrate, fractional, np.random.default_rng([0, slot]), 10)
        seconds["gains"] += asked - start
        seconds["linear program and placements"] += solved - asked
        seconds["draws and filling"] += time.perf_counter() - solved
        for name in schedule.jobs:
            embedding = schedule.jobs[name].slots.get(slot)
            so_far[name] += 0 if embedding is None else embedding.size
    return dict(seconds)


def compared(rows: list[dict[str, dict[str, float]]], name: str) -> dict[str, Any]:
    """Return an algorithm's means over seeds, and how filled GADGET fares against it."""
    mine = [row["filled"]["utility"] for row in rows]
    theirs = [row[name]["utility"] for row in rows]
    equal = [agree(a, b) for a, b in zip(mine, theirs, strict=True)]
    more = [a > b and not same for a, b, same in zip(mine, theirs, equal, strict=True)]
    ratios = [row[name]["utility"] / row["exact"]["utility"] for row in rows]
    measured = {key: float(np.mean([row[name][key] for row in rows])) for key in rows[0][name]}
    return measured | {
        "of exact": float(np.mean(ratios)),
        "least of exact": min(ratios),
        "filled more, as much, less": (sum(more), sum(equal), len(rows) - sum(more) - sum(equal)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=2.0, help="seconds of the exact method for a slot")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    result: dict[str, Any] = {}
    for setting, (family, sizes) in SETTINGS.items():
        instances = [preset(family, seed, **sizes) for seed in range(options.seeds)]
        rows = [measure(instance, seed, options.limit) for seed, instance in enumerate(instances)]
        result[setting] = {name: compared(rows, name) for name in rows[0]} | {"phases": phases(instances[0])}
        print(f"\n{setting}: seconds, utility / exact greedy (least), filled GADGET more, as much, less")
        for name, found in result[setting].items():
            if name == "phases":
                print("  phases: " + ", ".join(f"{phase} {seconds:.2f} s" for phase, seconds in found.items()))
                continue
            counts = "{} {} {}".format(*found["filled more, as much, less"])
            more = {key: round(found[key], 3) for key in ("proved", "kept / raw", "overload", "draws") if key in found}
            print(
                f"  {name:20} {found['seconds']:6.2f} s  {found['of exact']:.4f} ({found['least of exact']:.4f})"
                f"  {counts}  " + ", ".join(f"{key} {value}" for key, value in more.items())
            )
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
