"""Small random SMD instances as plain JSON: every kind of utility and training, and jobs that can never run."""

from __future__ import annotations

from typing import Any

import numpy as np

Data = dict[str, Any]

RESOURCES = ("cpu", "gpu", "disk")


def draw(seed: int, *, jobs: int | None = None) -> Data:
    """Return the instance of a seed: 0-3 jobs, at most three resources."""
    rng = np.random.default_rng(seed)
    resources = list(RESOURCES[: int(rng.integers(1, 4))])
    made = [_job(rng, i, resources) for i in range(int(rng.integers(0, 4)) if jobs is None else jobs)]
    capacity = {r: int(rng.integers(0, 6 * max(1, len(made)))) for r in resources if rng.integers(6)}
    return {"resources": resources, "capacity": capacity, "jobs": made}


def _job(rng: np.random.Generator, number: int, resources: list[str]) -> Data:
    needs = [{r: f"{rng.integers(1, 5)}/2" for r in resources if rng.integers(3)} for _ in range(2)]
    for needed in needs:
        needed.setdefault(resources[int(rng.integers(len(resources)))], 1)
    return {
        "name": f"job{number}",
        "worker": needs[0],
        "server": needs[1],
        "limit": {r: int(rng.integers(1, 6)) for r in resources},
        "utility": utility(rng),
        "training": measured(rng) if rng.integers(2) else coefficients(rng),
    }


def utility(rng: np.random.Generator) -> Data:
    """Return a non-increasing utility of any kind."""
    height, at = int(rng.integers(1, 30)), float(rng.integers(1, 80)) / 2
    kinds: tuple[Data, ...] = (
        {"kind": "hyperbolic", "scale": height},
        {"kind": "linear", "intercept": height, "slope": f"{rng.integers(0, 4)}/3"},
        {"kind": "step", "value": height, "deadline": at},
        {"kind": "sigmoid", "height": height, "steepness": f"{rng.integers(0, 9)}/4", "midpoint": at},
        {"kind": "table", "values": sorted(rng.integers(0, 20, size=int(rng.integers(1, 40))).tolist(), reverse=True)},
    )
    return kinds[int(rng.integers(len(kinds)))]


def coefficients(rng: np.random.Generator) -> Data:
    """Return training with given coefficients, some of them 0."""
    mode = "sync" if rng.integers(2) else "async"
    theta = (
        rng.integers(0, 12, size=5 if mode == "sync" else 4)
        * rng.integers(0, 4, size=5)[: 5 if mode == "sync" else 4].clip(0, 1)
    ).tolist()
    return {"kind": "coefficients", "mode": mode, "theta": [f"{t}/2" for t in theta]}


def layers(rng: np.random.Generator, most: int = 5) -> list[Data]:
    """Return 1 to `most` layers with whole and half times, not all of a phase 0."""
    count = int(rng.integers(1, most + 1))
    drawn = rng.integers(0, 9, size=(3, count))
    drawn[np.arange(3), rng.integers(count, size=3)] += 1
    phases = ("forward", "backward", "transfer")
    return [{phase: f"{drawn[k, j]}/2" for k, phase in enumerate(phases)} for j in range(count)]


def measured(rng: np.random.Generator) -> Data:
    """Return measured training with any overlap."""
    found = layers(rng)
    data: Data = {
        "kind": "measured",
        "mode": "sync" if rng.integers(2) else "async",
        "iterations": int(rng.integers(1, 4)),
        "global_batch": int(rng.integers(1, 9)),
        "minibatch": int(rng.integers(1, 4)),
        "model_size": f"{rng.integers(0, 9)}/2",
        "bandwidth": int(rng.integers(1, 4)),
        "beta1": f"{rng.integers(0, 3)}/4",
        "beta2": f"{rng.integers(0, 3)}/4",
        "alpha": f"{rng.integers(0, 5)}/4",
        "overlap": ("sequential", "wait-free", "priority")[int(rng.integers(3))],
        "layers": found,
    }
    if rng.integers(3) == 0:
        data |= {"forward": f"{rng.integers(1, 9)}/3", "backward": f"{rng.integers(1, 9)}/3"}
    if rng.integers(2):
        data["slice"] = f"{rng.integers(0, int(found[0]['transfer'].split('/')[0]) + 1)}/2"
    return data
