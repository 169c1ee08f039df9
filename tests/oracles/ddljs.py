"""An exhaustive search for the DDLJS problem on plain JSON: dynamic programs over the worker-slots of all jobs.

Of a slot only the vector of worker counts matters for the slots after it, so the optimum is a shortest path over the
reachable vectors of worker-slots. One slot stands in ``ddljs_slot``, the rules of schedules in ``ddljs_rules``.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .ddljs_rules import Data, bandwidths, budget_slots, rational, worth
from .ddljs_slot import CORRECTED, Option, Rules, best, joint

__all__ = ["CORRECTED", "Ring", "Rules", "Substrate", "best", "greedy", "joint", "optimum", "slot_of"]

Counts = tuple[int, ...]
TIE = Fraction(1, 10**12)


@dataclass(frozen=True)
class Ring:
    """A request of one job in one slot."""

    name: str
    profit: dict[int, Fraction]
    demand: dict[str, Fraction]
    bandwidth: Fraction
    allowed: tuple[frozenset[str], ...] | None


@dataclass(frozen=True)
class Substrate:
    """The network of a slot, and the requests on it."""

    nodes: dict[str, dict[str, Fraction]]
    shares: list[tuple[tuple[tuple[str, str], ...], Fraction]]
    requests: list[Ring]


def slot_of(data: Data, t: int, so_far: dict[str, int] | None = None) -> Substrate:
    """Return the slot problem (10)-(11): the jobs that have arrived, and what k workers add to each."""
    done = so_far or {}
    requests = []
    for job in data["jobs"]:
        z, limit = done.get(job["name"], 0), budget_slots(job)
        most = job["max_workers"] if limit is None else min(job["max_workers"], limit - z)
        if job["arrival"] <= t and most > 0:
            places = job.get("placement")
            requests.append(
                Ring(
                    job["name"],
                    {k: value(job, z + k) - value(job, z) for k in range(1, most + 1)},
                    {r: rational(need) for r, need in job["worker"].items()},
                    rational(job["bandwidth"]),
                    None if places is None else tuple(map(frozenset, places)),
                )
            )
    nodes = {n["name"]: {r: rational(c) for r, c in n.get("capacity", {}).items()} for n in data["nodes"]}
    return Substrate(nodes, bandwidths(data, t), requests)


def value(job: Data, worker_slots: int) -> Fraction:
    """Return mu_i(zeta_i n_i); a utility of minus infinity counts as minus 10**9."""
    found = worth(job["utility"], rational(job["progress"]) * worker_slots)
    return Fraction(-(10**9)) if found is None else found


class _Horizon:
    """V[t] of every slot, over all jobs of the instance; jobs that have not arrived have 0 workers."""

    def __init__(self, data: Data, rules: Rules) -> None:
        self.data, self.rules = data, rules
        self.names = [job["name"] for job in data["jobs"]]
        self.limits = [budget_slots(job) for job in data["jobs"]]
        self.sets: dict[str, dict[Counts, dict[str, Option]]] = {}
        self.worth = functools.cache(lambda i, n: value(data["jobs"][i], n))

    def feasible(self, t: int) -> dict[Counts, dict[str, Option]]:
        """Return V[t] with an embedding for each vector."""
        slot = slot_of(self.data, t)
        key = repr((slot.shares, [ring.name for ring in slot.requests]))
        if key not in self.sets:
            names = [ring.name for ring in slot.requests]
            found = {}
            for sizes, chosen in joint(slot, self.rules).items():
                by_name = dict(zip(names, sizes, strict=True))
                placed = {n: option for n, option in zip(names, chosen, strict=True) if option is not None}
                found[tuple(by_name.get(name, 0) for name in self.names)] = placed
            self.sets[key] = found
        return self.sets[key]

    def after(self, t: int, z: Counts) -> list[tuple[Counts, Counts]]:
        """Return (y, z + y) for the vectors y of V[t] within the budgets (11)."""
        moved = [(y, tuple(a + b for a, b in zip(z, y, strict=True))) for y in self.feasible(t)]
        return [
            (y, after)
            for y, after in moved
            if all(limit is None or n <= limit for n, limit in zip(after, self.limits, strict=True))
        ]

    def lost(self, z: Counts) -> int:
        """Return how many jobs are at minus infinity, which in a unit of 10**17 is far below minus 10**9."""
        jobs = self.data["jobs"]
        return sum(worth(job["utility"], rational(job["progress"]) * n) is None for job, n in zip(jobs, z, strict=True))

    def value(self, z: Counts) -> Fraction:
        return sum((self.worth(i, n) for i, n in enumerate(z)), Fraction(0))


def optimum(data: Data, rules: Rules = CORRECTED) -> tuple[Fraction, Data]:
    """Return the largest sum of utilities and a schedule that has it (JSON form)."""
    horizon = _Horizon(data, rules)
    start: Counts = tuple(0 for _ in horizon.names)
    reached: list[dict[Counts, tuple[Counts, Counts]]] = [{start: (start, start)}]
    for t in range(1, data["slots"] + 1):
        layer: dict[Counts, tuple[Counts, Counts]] = {}
        for z in reached[-1]:
            for y, after in horizon.after(t, z):
                layer.setdefault(after, (z, y))
        reached.append(layer)
    z = max(reached[-1], key=lambda z: (-horizon.lost(z), horizon.value(z)))
    total = horizon.value(z)
    jobs: dict[str, Any] = {}
    for t in range(data["slots"], 0, -1):
        z, y = reached[t][z]
        for name, option in horizon.feasible(t)[y].items():
            jobs.setdefault(name, {"slots": {}})["slots"][str(t)] = option.entry()
    return total, {"problem": "ddljs", "jobs": jobs}


def greedy(data: Data, rules: Rules = CORRECTED, share: Fraction = Fraction(1)) -> tuple[Fraction, Fraction]:
    """Return the least and the most that Algorithm 1 can end with, over all ways to break ties.

    A slot takes any vector of V[t] whose gain is at least `share` times the largest.
    """
    horizon = _Horizon(data, rules)
    states: set[Counts] = {tuple(0 for _ in horizon.names)}
    for t in range(1, data["slots"] + 1):
        chosen: set[Counts] = set()
        for z in states:
            gains = {after: horizon.value(after) - horizon.value(z) for _, after in horizon.after(t, z)}
            largest = max(gains.values())
            slack = TIE * max(1, abs(largest))
            chosen |= {after for after, gain in gains.items() if gain >= share * largest - slack}
        states = chosen
    values = [horizon.value(z) for z in states]
    return min(values), max(values)
