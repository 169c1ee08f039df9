"""Small random DMLRS instances as plain JSON: both kinds of job, either link the faster, zero needs and capacities."""

from __future__ import annotations

from typing import Any

import numpy as np

Data = dict[str, Any]

RESOURCES = ("gpu", "cpu")


def draw(seed: int, *, asynchronous: bool | None = None, jobs: int = 3, machines: int = 2, slots: int = 3) -> Data:
    """Return the instance of a seed: up to that many jobs, machines and slots; the kind is drawn if not given."""
    rng = np.random.default_rng(seed)
    kind = bool(rng.integers(2)) if asynchronous is None else asynchronous
    resources = list(RESOURCES[: int(rng.integers(1, 3))])
    horizon = int(rng.integers(1, slots + 1))
    return {
        "slots": horizon,
        "resources": resources,
        "machines": [
            {"name": f"m{h}", "capacity": {r: _capacity(rng) for r in resources if rng.integers(12)}}
            for h in range(int(rng.integers(1, machines + 1)))
        ],
        "jobs": [_job(rng, i, resources, horizon, kind) for i in range(int(rng.integers(1, jobs + 1)))],
    }


def _capacity(rng: np.random.Generator) -> int:
    return int(rng.integers(1, 5)) if rng.integers(6) else 0


def _job(rng: np.random.Generator, number: int, resources: list[str], horizon: int, asynchronous: bool) -> Data:
    needs = [
        {r: f"{rng.integers(0, 4) or 1}/2" if rng.integers(5) else 0 for r in resources if rng.integers(4)}
        for _ in range(2)
    ]
    arrival = int(rng.integers(1, horizon + 1)) if rng.integers(2) else 1
    common = {
        "name": f"job{number}",
        "arrival": arrival,
        "epochs": int(rng.integers(1, 3)),
        "gradient_size": f"{rng.integers(0, 5)}/8",
        "internal_rate": f"{rng.integers(2, 8)}/2",
        "external_rate": f"{rng.integers(1, 6)}/2",
        "worker": needs[0],
        "server": needs[1],
        "utility": utility(rng),
    }
    time = f"{rng.integers(1, 5)}/8"
    if asynchronous:
        chunks = int(rng.integers(1, 4))
        rest = {"chunks": chunks, "minibatches_per_chunk": int(rng.integers(1, 4)), "slots_per_minibatch": time}
        return common | rest | {"server_rate": f"{rng.integers(2, 17)}/2"}
    batch = int(rng.integers(1, 4))
    rest = {"samples": int(rng.integers(1, 8)), "batch": batch, "slots_per_sample": time}
    return common | rest | {"workers_per_server": f"{rng.integers(1, 7)}/2"}


def utility(rng: np.random.Generator) -> Data:
    """Return a non-increasing utility of any kind."""
    height = int(rng.integers(1, 30))
    kinds: tuple[Data, ...] = (
        {"kind": "hyperbolic", "scale": height},
        {"kind": "linear", "intercept": height, "slope": f"{rng.integers(0, 20)}/3"},
        {"kind": "step", "value": height, "deadline": int(rng.integers(0, 3))},
        {"kind": "sigmoid", "height": height, "steepness": f"{rng.integers(0, 9)}/4", "midpoint": 1},
        {"kind": "table", "values": sorted(rng.integers(0, 20, size=int(rng.integers(1, 5))).tolist(), reverse=True)},
    )
    return kinds[int(rng.integers(len(kinds)))]
