"""Policies over time, and Hadar's decisions as jobs and cluster grow: ``python benchmarks/simulator.py``.

First, 10 000 synthetic jobs on 64 nodes of 4 devices (V100, P100, K80 in turn, half and a quarter as fast): gangs of 1,
2, 4 and 8 (70, 10, 15 and 5 %), run times on V100 log-normal about 20 minutes, arrivals uniform over the time in which
the work would fill .9 of the cluster; every policy with its defaults, at events or in rounds of 6 minutes. Then the
seconds of the first decision of Hadar on n jobs, all there, and n devices on nodes of 4. Seconds are of the processor.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dlsched.algorithms.baselines.hadar.drf import Drf
from dlsched.algorithms.baselines.hadar.fifo import Fifo
from dlsched.algorithms.baselines.hadar.las import Las
from dlsched.algorithms.baselines.hadar.srtf import Srtf
from dlsched.algorithms.baselines.hadar.tiresias import Tiresias
from dlsched.algorithms.hadar import Hadar
from dlsched.algorithms.simulator import Policy, metrics, simulate
from dlsched.models.hadar import Instance

TYPES = {"V100": Fraction(1), "P100": Fraction(1, 2), "K80": Fraction(1, 4)}
POLICIES: list[tuple[Callable[[], Policy], int | None]] = [
    (Fifo, None),
    (lambda: Fifo(backfill="easy"), None),
    (Tiresias, None),
    (Srtf, None),
    (Drf, 360),
    (Las, 360),
    (lambda: Hadar(incremental=True), 360),
]


def synthetic(seed: int, *, jobs: int, nodes: int, slot: int = 1, load: float = 0.9) -> Instance:
    """Draw jobs and the time over which they arrive; a load of 0 has all of them at the beginning."""
    rng, names = np.random.default_rng(seed), list(TYPES)
    gangs = rng.choice([1, 2, 4, 8], p=[0.7, 0.1, 0.15, 0.05], size=jobs)
    seconds = np.round(np.exp(rng.normal(7, 1, size=jobs))).astype(int) + 60
    mean = sum(float(TYPES[names[h % 3]]) for h in range(nodes)) / nodes
    span = float((gangs * seconds).sum()) / (4 * nodes * mean * load) if load else 1.0
    arrivals = np.sort(rng.integers(0, max(1, int(span)), size=jobs)) // slot
    base = rng.integers(10, 200, size=jobs)
    return Instance.parse(
        {
            "slots": min(10**6, int((3 * span + 10**6) / slot)),
            "slot_seconds": slot,
            "device_types": names,
            "machines": [{"name": f"node{h}", "devices": {names[h % 3]: 4}} for h in range(nodes)],
            "jobs": [
                {
                    "name": f"job{j}",
                    "arrival": int(arrivals[j]) + 1,
                    "gang": int(gangs[j]),
                    "iterations": int(gangs[j] * seconds[j] * base[j]),
                    "rate": {r: int(base[j]) * factor for r, factor in TYPES.items()},
                    "utility": {"kind": "hyperbolic", "scale": int(gangs[j] * seconds[j] * base[j])},
                }
                for j in range(jobs)
            ],
        }
    )


def over_time(policy: Policy, rounds: int | None, instance: Instance) -> dict[str, Any]:
    """Simulate, and say what it took and what came of it."""
    start = time.process_time()
    simulation = simulate(instance, policy, round_seconds=rounds)
    took, found = time.process_time() - start, metrics(simulation)
    return {
        "policy": policy.name,
        "seconds": round(took, 1),
        "decisions": len(simulation.moments),
        "most jobs there": max(moment.jobs for moment in simulation.moments),
        "done": found.done,
        "mean JCT, h": round(float(found.jct.mean) / 3600, 2) if found.jct else None,
        "GRU": round(float(found.gru), 3),
        "changed": round(float(found.changed), 2),
    }


def decision(jobs: int) -> dict[str, Any]:
    """Time Hadar's first decision; rounds are so long that there is no other."""
    instance = synthetic(0, jobs=jobs, nodes=max(3, jobs // 4), slot=360, load=0)
    start = time.process_time()
    simulation = simulate(instance, Hadar(), round_seconds=360, horizon=360)
    return {
        "jobs": jobs,
        "decision": round(simulation.moments[0].seconds, 3),
        "simulation": round(time.process_time() - start, 3),
        "running": simulation.moments[0].devices,
    }


def main() -> None:
    """Print both tables as JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    instance = synthetic(0, jobs=arguments.jobs, nodes=64)
    rows = []
    for make, rounds in POLICIES:
        rows.append(over_time(make(), rounds, instance))
        print(json.dumps(rows[-1]), flush=True)
    for jobs in (32, 64, 128, 256, 512, 1024, 2048):
        rows.append(decision(jobs))
        print(json.dumps(rows[-1]), flush=True)
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
