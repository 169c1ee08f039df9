"""Seeded families of SMD instances, and of packings, on which the claims are checked: small, so that all is exact.

None is a counterexample written down: each describes a kind of workload, and violations in it are found by drawing.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dlsched.arithmetic import exact_power, integer_product, power
from dlsched.bounds.claim import Source
from dlsched.bounds.smd.packing import Balance, Packing, Timed
from dlsched.models.smd import Instance, preset, random


def tiny(rng: np.random.Generator) -> Instance:
    """Return a small instance without structure: 1-4 jobs, 1-3 resources."""
    return random(rng, jobs=int(rng.integers(1, 5)), resources=int(rng.integers(1, 4)), limit=7)


def layered(rng: np.random.Generator) -> Instance:
    """Return 1-2 jobs with 1-6 layers of whole times, some with a transfer much longer than the others."""
    return _instance([_layered_job(rng, i) for i in range(int(rng.integers(1, 3)))], 2)


def positive(rng: np.random.Generator) -> Instance:
    """Return the same with no time of a layer, and no slice, of 0."""
    return _instance([_layered_job(rng, i, least=1) for i in range(int(rng.integers(1, 3)))], 2)


def inner(rng: np.random.Generator) -> Instance:
    """Return one job whose time has terms of very different sizes, most often in a small box, else under one row."""
    mode = "sync" if rng.integers(2) else "async"
    theta = [float(v) for v in rng.integers(0, 5, size=5) * power(10.0, rng.integers(-2, 3, size=5))]
    theta[2] += 10
    limits = [int(v) for v in rng.integers(1, 6, size=2)]
    boxed = bool(rng.integers(4))
    limit = {"cpu": limits[0], "gpu": limits[1]} if boxed else {"cpu": sum(limits) + 1, "gpu": 0}
    job = {
        "name": "job1",
        "worker": {"cpu": 1},
        "server": {"gpu": 1} if boxed else {"cpu": 1},
        "limit": limit,
        "utility": {"kind": "hyperbolic", "scale": 100},
        "training": {"kind": "coefficients", "mode": mode, "theta": theta[: 5 if mode == "sync" else 4]},
    }
    return Instance.parse({"resources": ["cpu", "gpu"], "capacity": {"cpu": 20, "gpu": 20}, "jobs": [job]})


def narrow(rng: np.random.Generator) -> Instance:
    """Return 1-2 jobs whose limits allow few workers and servers of 1-4 resources: M_delta is small there."""
    names = [f"resource{r + 1}" for r in range(int(rng.integers(1, 5)))]
    jobs = []
    for i in range(int(rng.integers(1, 3))):
        most = int(rng.integers(2, 6))
        jobs.append(
            {
                "name": f"job{i + 1}",
                "worker": dict.fromkeys(names, 1),
                "server": dict.fromkeys(names, 1),
                "limit": dict.fromkeys(names, most),
                "utility": {"kind": "hyperbolic", "scale": 10},
                "training": _training(rng),
            }
        )
    return Instance.parse({"resources": names, "capacity": dict.fromkeys(names, 10), "jobs": jobs})


def brim(rng: np.random.Generator) -> Instance:
    """Return 1-2 jobs whose best fractional point is just short of two workers and two servers, in one resource."""
    jobs = [
        {
            "name": f"job{i + 1}",
            "worker": {"cpu": 1},
            "server": {"cpu": 1},
            "limit": {"cpu": f"{int(rng.integers(70, 80))}/20"},
            "utility": {"kind": "hyperbolic", "scale": 10},
            "training": {
                "kind": "coefficients",
                "mode": "async",
                "theta": [0, 0, *rng.integers(4, 6, size=2).tolist()],
            },
        }
        for i in range(int(rng.integers(1, 3)))
    ]
    return Instance.parse({"resources": ["cpu"], "capacity": {"cpu": 10}, "jobs": jobs})


def smooth(rng: np.random.Generator) -> Instance:
    """Return 2-4 jobs whose utility falls slowly with the time, so that a factor on the time leaves something."""
    jobs = []
    for i in range(int(rng.integers(2, 5))):
        jobs.append(
            {
                "name": f"job{i + 1}",
                "worker": {"cpu": int(rng.integers(1, 3))},
                "server": {"cpu": 1},
                "limit": {"cpu": int(rng.integers(4, 13))},
                "utility": {"kind": "hyperbolic", "scale": int(rng.integers(5, 50))},
                "training": _training(rng),
            }
        )
    return Instance.parse({"resources": ["cpu"], "capacity": {"cpu": int(rng.integers(8, 25))}, "jobs": jobs})


def deadline(rng: np.random.Generator) -> Instance:
    """Return 1-2 jobs that end before a deadline at their best point alone, with sigmoids in the paper's ranges."""
    jobs = []
    for i in range(int(rng.integers(1, 3))):
        most, midpoint = int(rng.integers(4, 8)), int(rng.integers(1, 16))
        jobs.append(
            {
                "name": f"job{i + 1}",
                "worker": {"cpu": 1},
                "server": {"cpu": 1},
                "limit": {"cpu": most},
                "utility": {
                    "kind": "sigmoid",
                    "height": int(rng.integers(1, 101)),
                    "steepness": int(rng.integers(4, 7)),
                    "midpoint": midpoint,
                },
                "training": {
                    "kind": "coefficients",
                    "mode": "sync",
                    "theta": [0, 0, 0, 0, midpoint * (most - 1) - int(rng.integers(0, 3))],
                },
            }
        )
    return Instance.parse({"resources": ["cpu"], "capacity": {"cpu": 10}, "jobs": jobs})


def knapsack(rng: np.random.Generator) -> Instance:
    """Return 2-6 jobs of a fixed worth and 1-3 resources, of which little more than one fits."""
    rows = int(rng.integers(1, 4))
    sizes = rng.integers(1, 10, size=(int(rng.integers(2, 7)), rows))
    capacity = sizes.max(axis=0) + rng.integers(0, 4, size=rows)
    return _worth(rng.integers(1, 20, size=len(sizes)), sizes, capacity)


def filled(rng: np.random.Generator) -> Instance:
    """Return two jobs that fill one resource together, and 1-2 that are worth little and reserve less still."""
    each, small = int(rng.integers(20, 60)), int(rng.integers(1, 3))
    worth = each * int(rng.integers(1, 4))
    sizes = np.array([[each], [each], *[[1]] * small])
    values = np.array([worth, worth, *rng.integers(1, worth // each + 4, size=small)])
    return _worth(values, sizes, np.array([2 * each]))


def evaluation(rng: np.random.Generator) -> Instance:
    """Return 50 jobs on 1-5 units of resources: a draw of Figs. 7 and 8."""
    return preset("paper", rng, units=int(rng.integers(1, 6)), mode="sync" if rng.integers(2) else "async")


def equal_value(rng: np.random.Generator) -> Instance:
    """Return 3-6 jobs of the same worth and two resources."""
    sizes = rng.integers(1, 8, size=(int(rng.integers(3, 7)), 2))
    return _worth(np.full(len(sizes), 5), sizes, np.maximum(sizes.max(axis=0), sizes.sum(axis=0) // 2))


def section_v(rng: np.random.Generator) -> Instance:
    """Return 4 jobs in the setting of the paper's evaluation."""
    return preset("paper", rng, jobs=4, mode="sync" if rng.integers(2) else "async")


def packing(rng: np.random.Generator) -> Packing:
    """Return 1-4 rows over 2-5 coordinates, mostly below 1, that use up their rows, and a small delta."""
    rows, n = int(rng.integers(1, 5)), int(rng.integers(2, 6))
    B = rng.integers(0, 3, size=(rows, n))
    B[np.arange(rows), rng.integers(n, size=rows)] += 1
    tenths = rng.integers(0, 12, size=n)
    limits = [max(1, *row.tolist(), -(-int(integer_product(row, tenths)) // 10)) for row in B]
    return Packing(
        rows=tuple(tuple(Fraction(int(a)) for a in row) for row in B),
        limits=tuple(Fraction(limit) for limit in limits),
        point=tuple(Fraction(int(v), 10) for v in tenths),
        delta=Fraction(1, exact_power(10, int(rng.integers(0, 6)))),
    )


def balance(rng: np.random.Generator) -> Balance:
    """Return 1-4 rows over (w, p), an optimum of theta w/p + phi p/w that uses up one of them, and a delta."""
    rows = int(rng.integers(1, 5))
    w, p = (int(v) for v in rng.integers(1, 4, size=2))
    B = rng.integers(1, 3, size=(rows, 2))
    return Balance(
        rows=tuple(tuple(Fraction(int(a)) for a in row) for row in B),
        limits=tuple(Fraction(int(row[0]) * w + int(row[1]) * p) for row in B),
        point=(Fraction(w), Fraction(p)),
        delta=Fraction(1, int(rng.choice([2, 5, 10, 20]))),
        theta=Fraction(p * p),
        phi=Fraction(w * w),
    )


def omega(rng: np.random.Generator) -> Timed:
    """Return 1-4 rows over (w, p), and times (9) that are least at a point with less than one worker, mostly.

    Either the time alone decides, or rows that are full, with room for a worker and a server or few, have the opposite
    slope there.
    """
    none = Fraction(0)
    if rng.integers(2):
        tenths, needs = int(rng.integers(1, 10)), int(rng.choice([10, 100, 1000]))
        w, p = Fraction(tenths, 10), needs * (10 - tenths) // 10 + int(rng.integers(1, 4))
        transfer = p * p / w
        rows = ((Fraction(needs), Fraction(1)),) * int(rng.integers(1, 5))
        limits = (needs * w + p,) * len(rows)
        theta = [none, none, none, transfer, w * (transfer * w / p + needs * w)]
    else:
        root, p = int(rng.integers(2, 300)), int(rng.integers(2, 120))
        w = Fraction(1, root * root)
        rows = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
        limits = (Fraction(int(rng.integers(1, 9))), Fraction(p * root))
        theta = [none, w / (p * p), none, Fraction(1), w * w / p]
    return Timed(
        rows=rows,
        limits=limits,
        point=(w, Fraction(p)),
        delta=Fraction(1, int(rng.choice([2, 5, 10]))),
        theta=tuple(theta),
    )


def _training(rng: np.random.Generator) -> dict[str, Any]:
    mode = "sync" if rng.integers(2) else "async"
    theta = [int(v) for v in rng.integers(0, 7, size=5 if mode == "sync" else 4)]
    theta[-1] += 1
    return {"kind": "coefficients", "mode": mode, "theta": theta}


def _layered_job(rng: np.random.Generator, number: int, *, least: int = 0) -> dict[str, Any]:
    count = int(rng.integers(1, 7))
    transfer = rng.integers(least, 4, size=count)
    transfer[rng.integers(count)] += int(rng.integers(1, 12))
    layers = [
        {"forward": int(f), "backward": int(b), "transfer": int(r)}
        for f, b, r in zip(rng.integers(1, 5, size=count), rng.integers(1, 5, size=count), transfer, strict=True)
    ]
    slice_ = Fraction(int(rng.integers(least, 2 * int(transfer[0]) + 1)), 2)
    return {
        "name": f"job{number + 1}",
        "worker": {"resource1": 1},
        "server": {"resource2": 1},
        "limit": {"resource1": int(rng.integers(1, 5)), "resource2": int(rng.integers(1, 5))},
        "utility": {"kind": "hyperbolic", "scale": 100},
        "training": {
            "kind": "measured",
            "mode": "sync" if rng.integers(2) else "async",
            "iterations": 10,
            "global_batch": 4,
            "minibatch": 1,
            "model_size": int(rng.integers(1, 9)),
            "bandwidth": 1,
            "overlap": "wait-free" if rng.integers(2) else "priority",
            "slice": str(slice_),
            "layers": layers,
        },
    }


def _instance(jobs: list[dict[str, Any]], resources: int) -> Instance:
    names = [f"resource{r + 1}" for r in range(resources)]
    return Instance.parse({"resources": names, "capacity": dict.fromkeys(names, 10), "jobs": jobs})


def _worth(values: Any, sizes: Any, capacity: Any) -> Instance:
    """Return jobs that are worth a fixed value if admitted, and reserve the given sizes."""
    names = [f"resource{r + 1}" for r in range(sizes.shape[1])]
    jobs = [
        {
            "name": f"job{i + 1}",
            "worker": {names[0]: "1/2"},
            "server": {names[0]: "1/2"},
            "limit": dict(zip(names, size.tolist(), strict=True)),
            "utility": {"kind": "step", "value": int(value), "deadline": 1},
            "training": {"kind": "coefficients", "mode": "async", "theta": [1, 0, 0, 0]},
        }
        for i, (value, size) in enumerate(zip(values, sizes, strict=True))
    ]
    return Instance.parse(
        {"resources": names, "capacity": dict(zip(names, map(int, capacity), strict=True)), "jobs": jobs}
    )


TINY = Source("smd/tiny", tiny)
LAYERED = Source("smd/layered", layered)
POSITIVE = Source("smd/positive", positive)
INNER = Source("smd/inner", inner)
NARROW = Source("smd/narrow", narrow)
BRIM = Source("smd/brim", brim)
SMOOTH = Source("smd/smooth", smooth)
DEADLINE = Source("smd/deadline", deadline)
KNAPSACK = Source("smd/knapsack", knapsack)
FILLED = Source("smd/filled", filled)
EVALUATION = Source("smd/evaluation", evaluation, cost=10)
EQUAL_VALUE = Source("smd/equal-value", equal_value)
SECTION_V = Source("smd/section-v", section_v, cost=5)
PACKING = Source("smd/packing", packing)
BALANCE = Source("smd/balance", balance)
OMEGA = Source("smd/omega", omega)
