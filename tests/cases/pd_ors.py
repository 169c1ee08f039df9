"""Instances on which PD-ORS is known by hand, and exhaustive search for the best response of one job."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlsched.algorithms.pd_ors import Occupancy
from dlsched.models.dmlrs import AsyncJob, Instance, Job

FIELDS = (
    *("arrival", "epochs", "samples", "batch", "slots_per_sample", "gradient_size", "workers_per_server"),
    *("internal_rate", "external_rate"),
)


def job(
    name: str, numbers: str, worker: Sequence[Any], server: Sequence[Any], utility: Sequence[Any]
) -> dict[str, Any]:
    """A synchronous job as JSON data: its numbers in the order of `FIELDS`, and needs of the resources r0, r1, ..."""
    data: dict[str, Any] = dict(zip(FIELDS, numbers.split(), strict=True))
    return data | {
        "name": name,
        "arrival": int(data["arrival"]),
        "batch": int(data["batch"]),
        "worker": {f"r{r}": x for r, x in enumerate(worker)},
        "server": {f"r{r}": x for r, x in enumerate(server)},
        "utility": {"kind": "table", "values": list(utility)},
    }


def instance(slots: int, capacities: Sequence[Sequence[Any]], *jobs: dict[str, Any]) -> Instance:
    resources = [f"r{r}" for r in range(len(capacities[0]))]
    machines = [
        {"name": f"m{h}", "capacity": dict(zip(resources, room, strict=True))} for h, room in enumerate(capacities)
    ]
    return Instance.model_validate({"slots": slots, "resources": resources, "machines": machines, "jobs": list(jobs)})


@dataclass(frozen=True, slots=True)
class Golden:
    """What PD-ORS does with the repaired constants, and these.

    Attributes
    ----------
    needed : N_i. mu. low : L. high : U^r. payoffs : lambda, by arrival.
    prices : final prices other than L, with how many there are.
    utility : ALG. dual : D after the last job; None where it depends on ties.
    """

    instance: Instance
    needed: tuple[int, ...]
    mu: str
    low: str
    high: tuple[str, ...]
    payoffs: tuple[float, ...]
    prices: Mapping[float, int]
    utility: float
    dual: float | None


def _same(numbers: str, *utilities: Sequence[Any], worker: Sequence[Any] = (1,), server: Sequence[Any] = (1,)) -> list:
    return [job(f"j{i}", numbers, worker, server, u) for i, u in enumerate(utilities)]


_UNIT = "1 1 1 1 1 0 1 1 1"
_SLOW = "1 1 4 1 1/4 1/8 1 1 1/2"

GOLDEN = {
    "D1": Golden(
        instance(2, [(2,)], *_same("1 1 2 2 1 0 1 1 1", [10, 4])), (4,), "1", "1/2", ("5",), (2,), {5: 2}, 4, 22
    ),
    "D2": Golden(
        instance(3, [(4,), (4,)], *_same("1 1 4 2 1/2 1/2 1 2 1/2", [10, 8, 3], [9, 5, 4])),
        (12, 12),
        "2",
        "1/16",
        ("4",),
        (7.625, 4.625),
        {0.5: 2, 4: 2},
        13,
        48.75,
    ),
    "D3": Golden(
        instance(
            2,
            [(2,), (2,)],
            job("j0", "1 1 2 2 1/2 1/2 1 1 1/3", (1,), (1,), [7, 3]),
            job("j1", "1 1 1 1 1/2 1/4 1 1 1/2", (1,), (1,), [5, 2]),
            job("j2", "2 1 1 1 1/2 1/4 1 1 1/2", (1,), (1,), [4]),
        ),
        (8, 4, 4),
        "2",
        "3/32",
        ("7/2",),
        (2.625, 4.8125, 3.8125),
        {3.5: 4},
        12,
        39.25,
    ),
    "D4": Golden(
        instance(
            3,
            [(2, 3), (3, 2)],
            job("j0", "1 2 2 3 1/2 3/4 2 3 1", (1, 0), (0, 1), [12, 9, 2]),
            job("j1", "2 1 3 2 1/2 1/2 1 2 1", (1, 1), (1, 0), [8, 3]),
        ),
        (12, 9),
        "10/3",
        "1/40",
        ("9", "9"),
        (8.85, 2.775),
        {},
        12,
        None,
    ),
    "D5": Golden(
        instance(1, [(2,)], *_same(_UNIT, [1], [1000])), (2, 2), "1", "1/4", ("500",), (0.5, 0), {500: 1}, 1, 1000.5
    ),
    "D6": Golden(
        instance(2, [(1, 1), (1, 1)], *_same("1 1 2 1 1/4 1/8 1 1 1/3", [6, 5], [6, 4], worker=(1, 0), server=(0, 1))),
        (4, 4),
        "2",
        "1/4",
        ("6", "6"),
        (5.5, 5.5),
        {6: 4},
        12,
        36,
    ),
    "D7": Golden(instance(2, [(1,), (1,)], *_same(_SLOW, [6, 5])), (6,), "2/3", "5/8", ("5/2",), (0,), {}, 0, 2.5),
    "D8": Golden(
        instance(
            4,
            [(6,)],
            job("j0", "1 1 2 1 1 0 1 1 1", (1,), (1,), [5, 4, 3, 2]),
            job("j1", "1 1 2 1 1 0 1 1 1", (1,), (1,), [8, 6, 4, 1]),
            job("j2", "2 1 2 2 1 0 2 1 1", (1,), (1,), [9, 5, 1]),
            job("j3", "2 1 1 1 1 0 1 1 1", (1,), (1,), [3, 2, 1]),
            job("j4", "3 1 1 1 1 0 1 1 1", (2,), (1,), [4, 2]),
        ),
        (4, 4, 4, 2, 3),
        "12",
        "1/96",
        ("9/2",),
        (3.958333, 5.685020, 4.96875, 1.809449, 3.350481),
        {0.595275: 1, 4.5: 2},
        22,
        77.40619,
    ),
    "D9": Golden(
        instance(3, [(1,), (1,)], *_same(_SLOW, [6, 5, 4])), (6,), "1", "1/3", ("5/2",), (2,), {2.5: 6}, 4, 17
    ),
    "D10": Golden(
        instance(1, [(3,)], *_same(_UNIT, [1], [1], [1])),
        (2, 2, 2),
        "3/2",
        "1/6",
        ("1/2",),
        (2 / 3, 0, 0),
        {0.346681: 1},
        1,
        1.706709,
    ),
    "D11": Golden(
        instance(1, [(3,)], *_same(_UNIT, [1], [1000])),
        (2, 2),
        "3/2",
        "1/6",
        ("500",),
        (2 / 3, 0),
        {34.668064: 1},
        1,
        104.670858,
    ),
}


def best_payoff(occupancy: Occupancy, one: Job | AsyncJob, servers: int = 7) -> float:
    """Return the greatest payoff (15) by looking at all placements of up to so many servers a machine in every slot."""
    inst = occupancy.instance
    done, best = {Fraction(0): 0.0}, 0.0
    for slot in range(one.arrival, inst.slots + 1):
        choices = _placements(occupancy, one, slot, servers)
        reached: dict[Fraction, float] = {}
        for (work, cost), (more, price) in itertools.product(done.items(), choices):
            total = min(work + more, one.work)
            reached[total] = min(reached.get(total, float("inf")), cost + price)
        done = reached
        if one.work in done:
            best = max(best, one.utility(slot - one.arrival) - done[one.work])
    return best


def _placements(occupancy: Occupancy, one: Job | AsyncJob, slot: int, servers: int) -> list[tuple[Fraction, float]]:
    """Return the work and the cost of every placement that is not dominated by another."""
    inst, used = occupancy.instance, occupancy.used[slot - 1]
    options = []
    for h, machine in enumerate(inst.machines):
        prices = dict(zip(inst.resources, occupancy.prices[slot - 1, h].tolist(), strict=True))
        left = {
            r: machine.capacity_of(r) - Fraction(int(used[h, k]), occupancy.scale[k])
            for k, r in enumerate(inst.resources)
        }
        options.append(
            [
                (w, s, sum(float(amount) * prices[r] for r, amount in one.uses(w, s).items()))
                for w in range(one.most_workers + 1)
                for s in range(servers + 1)
                if all(amount <= left[r] for r, amount in one.uses(w, s).items())
            ]
        )
    cheapest = {Fraction(0): 0.0}
    for combination in itertools.product(*options):
        placement = {m.name: (w, s) for m, (w, s, _) in zip(inst.machines, combination, strict=True)}
        if sum(w for w, _ in placement.values()) > one.most_workers or one.server_shortage(placement):
            continue
        work, cost = one.progress(placement), sum(price for _, _, price in combination)
        cheapest[work] = min(cheapest.get(work, float("inf")), cost)
    kept, least = [], float("inf")
    for work, cost in sorted(cheapest.items(), reverse=True):
        if cost < least:
            kept.append((work, cost))
            least = cost
    return kept
