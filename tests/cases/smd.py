"""SMD instances, and small things that tests of SMD share."""

from __future__ import annotations

from typing import Any

import numpy as np

from dlsched.algorithms.run import Run
from dlsched.algorithms.smd import InnerStep, NeverAdmitted
from dlsched.models.smd import Instance, Schedule, random


def hyp(scale: float) -> dict[str, Any]:
    return {"kind": "hyperbolic", "scale": scale}


def lin(intercept: float, slope: float) -> dict[str, Any]:
    return {"kind": "linear", "intercept": intercept, "slope": slope}


def step(value: float, deadline: float) -> dict[str, Any]:
    return {"kind": "step", "value": value, "deadline": deadline}


def sig(height: float, steepness: float, midpoint: float) -> dict[str, Any]:
    return {"kind": "sigmoid", "height": height, "steepness": steepness, "midpoint": midpoint}


def built(capacity: tuple[Any, ...], *jobs: tuple[str, tuple[Any, ...], dict[str, Any], Any, Any, Any]) -> Instance:
    """An instance from its capacity and (mode, theta, utility, worker, server, limit) of each job, named 1, 2, ..."""
    names = [f"r{k + 1}" for k in range(len(capacity))]

    def by_name(amounts: Any) -> dict[str, Any]:
        return dict(zip(names, amounts if isinstance(amounts, tuple) else (amounts,), strict=True))

    return Instance.model_validate(
        {
            "resources": names,
            "capacity": by_name(capacity),
            "jobs": [
                {
                    "name": str(i + 1),
                    "worker": by_name(worker),
                    "server": by_name(server),
                    "limit": by_name(limit),
                    "utility": utility,
                    "training": {"kind": "coefficients", "mode": mode, "theta": theta},
                }
                for i, (mode, theta, utility, worker, server, limit) in enumerate(jobs)
            ],
        }
    )


HALVES = ("1/2", "1/2", 1, 2, 12)
S1 = built((6,), ("sync", (0, 0, 0, 1, 8), hyp(12), 1, 1, 6))
S2 = built(
    (6, 6),
    ("sync", HALVES, hyp(60), (1, 0), (0, 1), (4, 4)),
    ("async", (1, 1, 6, 4), hyp(40), (1, 0), (0, 1), (3, 2)),
)
S3 = built(
    (10, 8),
    ("async", (0, 1, 6, 6), hyp(30), (2, 1), (1, 1), (8, 6)),
    ("async", (0, 1, 6, 6), hyp(29), (2, 1), (1, 1), (7, 5)),
    ("async", (0, 1, 6, 6), hyp(10), (2, 1), (1, 1), (3, 2)),
)
S4 = built(
    (9, 13),
    ("sync", (1, 0, 0, 3, 9), lin(20, 1), (1, 1), (1, 2), (5, 9)),
    ("sync", (1, 1, 2, 1, 4), lin(15, 1), (2, 1), (1, 1), (6, 4)),
    ("async", (0, 2, 3, 5), lin(9, 1), (1, 1), (1, 1), (4, 4)),
)
S5 = built(
    (6,),
    ("sync", (0, 0, 1, 1, 4), step(10, 4), 1, 1, 3),
    ("sync", (0, 0, 1, 1, 4), step(10, 4), 1, 1, 4),
    ("async", (0, 0, 1, 1), step(6, 2), 1, 1, 1),
    ("async", (0, 0, 1, 1), step(6, 2), 1, 1, 2),
)
S6 = built(
    (15,),
    ("sync", (0, 0, 0, 1, 8), hyp(12), 1, 1, 6),
    ("async", (0, 1, 6, 6), hyp(30), 2, 1, 8),
    ("sync", HALVES, hyp(60), 1, 1, 8),
    ("async", (1, 1, 6, 4), hyp(40), 1, 1, 5),
)
S7 = built(
    (8,),
    ("sync", (0, 0, 0, 1, 8), sig(10, 2, 6), 1, 1, 6),
    ("async", (0, 1, 6, 6), sig(8, 1, 5), 2, 1, 8),
)
# Utilities of each job at its best point, optimum and admitted jobs: joint exhaustive search and a MILP agree on them.
GOLDEN: dict[str, tuple[Instance, list[float], float, list[str]]] = {
    "S1": (S1, [18 / 7], 18 / 7, ["1"]),
    "S2": (S2, [60 / 11, 6], 6, ["2"]),
    "S3": (S3, [9 / 2, 58 / 15, 5 / 7], 481 / 105, ["2", "3"]),
    "S4": (S4, [23 / 2, 6, 3], 29 / 2, ["1", "3"]),
    "S5": (S5, [0, 10, 6], 16, ["2", "4"]),
    "S6": (S6, [18 / 7, 9 / 2, 60 / 11, 6], 126 / 11, ["3", "4"]),
    "S7": (S7, [9.906840406549334, 2.713949049873463], 9.906840406549334, ["1"]),
}
# The box 1 <= w, p <= 4 in which the printed grid has no feasible program at precision 1/2.
BOX = built((4, 4), ("sync", (0.1, 0.1, 10, 1, 40), hyp(50), (1, 0), (0, 1), (4, 4)))


def steps(result: Run[Schedule]) -> list[InnerStep]:
    return [event for event in result.log if isinstance(event, InnerStep)]


def lost(result: Run[Schedule]) -> dict[str, str]:
    return {event.job: event.reason for event in result.log if isinstance(event, NeverAdmitted)}


def drawn(count: int, **sizes: int) -> list[Instance]:
    return [random(np.random.default_rng([7, seed]), **sizes) for seed in range(count)]
