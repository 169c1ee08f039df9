"""An exhaustive search for the DMLRS problem (journal and asynchronous) on plain JSON, in rationals, without any LP.

The rules stand in ``dmlrs_rules``, the cheapest schedule of one job in ``dmlrs_cheapest``.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

from .dmlrs_cheapest import cheapest, cheapest_plan, printed_dp
from .dmlrs_rules import Data, Placement, feasible, needs, placements, rational, trained, value, violations, work, worth

__all__ = [
    "Option",
    "cheapest",
    "cheapest_plan",
    "feasible",
    "optimum",
    "options",
    "printed_dp",
    "rational",
    "trained",
    "value",
    "violations",
    "work",
    "worth",
]

Vector = tuple[int, ...]
Option = tuple[Vector, Fraction, Placement]


def _covers(larger: Vector, smaller: Vector) -> bool:
    return all(a >= b for a, b in zip(larger, smaller, strict=True))


def options(instance: Data, job: Data, scale: int) -> list[Option]:
    """Return one job's placements of a slot as (resources used, work, placement), dominated ones left out.

    The amounts used are integers, in 1/scale units, one for each machine and resource. A placement that uses no more
    anywhere and does as much may take another's place in any schedule: capacities hold, the job has no more work left
    after the slot, and the slot keeps its workers, so by induction the job ends no later. Work beyond V counts as V.
    """
    resources = instance["resources"]
    room = {m["name"]: {r: rational(m["capacity"].get(r, 0)) for r in resources} for m in instance["machines"]}
    best: dict[Vector, tuple[Fraction, Placement]] = {}
    for placement, done in placements(job, room):
        used = {(h, r): amount for h, counts in placement.items() for r, amount in needs(job, *counts).items()}
        key = tuple(int(used.get((h, r), 0) * scale) for h in room for r in resources)
        done = min(done, work(job))
        if key not in best or done > best[key][0]:
            best[key] = done, placement
    ordered = sorted(((key, done, where) for key, (done, where) in best.items()), key=lambda o: (-o[1], sum(o[0])))
    kept: list[Option] = []
    for option in ordered:
        if not any(_covers(option[0], other[0]) for other in kept):
            kept.append(option)
    return kept


def _scale(instance: Data) -> int:
    """Return the common denominator of all capacities and needs."""
    amounts = [rational(x) for machine in instance["machines"] for x in machine["capacity"].values()]
    amounts += [rational(x) for job in instance["jobs"] for part in ("worker", "server") for x in job[part].values()]
    return math.lcm(*(x.denominator for x in amounts))


class _Search:
    """The recursion over (slot, work left of every job); a job that is done, or can gain nothing any more, has 0 left.

    The most that can still be earned falls with the work left: what ends a job ends it with less work left, no later.
    So of the joint placements of a slot only those count whose vector of work done lies below no other's.
    """

    def __init__(self, instance: Data) -> None:
        self.instance, self.jobs = instance, instance["jobs"]
        self.slots = int(instance["slots"])
        scale = _scale(instance)
        self.options = [options(instance, job, scale) for job in self.jobs]
        amounts = [done for found in self.options for _, done, _ in found] + [work(job) for job in self.jobs]
        self.unit = math.lcm(*(x.denominator for x in amounts))
        self.work = [int(work(job) * self.unit) for job in self.jobs]
        self.fastest = [max((int(done * self.unit) for _, done, _ in found), default=0) for found in self.options]
        self.capacity = tuple(
            int(rational(m["capacity"].get(r, 0)) * scale) for m in instance["machines"] for r in instance["resources"]
        )
        self.frontier = functools.cache(self._frontier)
        self.best = functools.cache(self._best)

    def _frontier(self, active: Vector) -> list[tuple[Vector, tuple[Placement, ...]]]:
        """Return the maximal vectors of work that the active jobs can do in one slot together, with placements."""
        joint: dict[tuple[Vector, Vector], tuple[Placement, ...]] = {(self.capacity, ()): ()}
        for i in active:
            extended: dict[tuple[Vector, Vector], tuple[Placement, ...]] = {}
            choices = [(used, int(done * self.unit), where) for used, done, where in self.options[i]]
            choices.append((tuple(0 for _ in self.capacity), 0, {}))
            for (room, done), where in joint.items():
                for used, more, placement in choices:
                    if _covers(room, used):
                        left = tuple(a - b for a, b in zip(room, used, strict=True))
                        extended[left, (*done, more)] = (*where, placement)
            joint = extended
        kept: list[tuple[Vector, tuple[Placement, ...]]] = []
        for done, where in sorted({done: where for (_, done), where in joint.items()}.items(), reverse=True):
            if not any(_covers(other, done) for other, _ in kept):
                kept.append((done, where))
        return kept

    def _alive(self, t: int, left: Vector) -> Vector:
        """Set to 0 the work of jobs that cannot finish in slots t..T, or only when they are worth nothing."""
        kept = []
        for job, amount, fastest in zip(self.jobs, left, self.fastest, strict=True):
            start = max(t, int(job["arrival"]))
            end = start + math.ceil(Fraction(amount, fastest)) - 1 if fastest else self.slots + 1
            kept.append(amount if amount and end <= self.slots and worth(job, end - int(job["arrival"])) > 0 else 0)
        return tuple(kept)

    def _best(self, t: int, left: Vector) -> tuple[Fraction, tuple[int, ...], tuple[Placement, ...], Vector]:
        """Return the most that slots t..T earn, then the active jobs, their placements and the work left after t."""
        if t > self.slots or not any(left):
            return Fraction(0), (), (), left
        active = tuple(i for i, job in enumerate(self.jobs) if left[i] and job["arrival"] <= t)
        best: tuple[Fraction, tuple[int, ...], tuple[Placement, ...], Vector] | None = None
        for done, where in self.frontier(active):
            after, earned = list(left), Fraction(0)
            for i, amount in zip(active, done, strict=True):
                after[i] = max(0, left[i] - amount)
                if not after[i]:
                    earned += worth(self.jobs[i], t - int(self.jobs[i]["arrival"]))
            rest = self._alive(t + 1, tuple(after))
            total = earned + self.best(t + 1, rest)[0]
            if best is None or total > best[0]:
                best = total, active, where, rest
        assert best is not None
        return best


def optimum(instance: Data) -> tuple[Fraction, Data]:
    """Return the largest sum of utilities and a schedule that has it (jobs that finish only, JSON form)."""
    search = _Search(instance)
    left = search._alive(1, tuple(search.work))
    total = search.best(1, left)[0]
    plans: dict[str, dict[str, Any]] = {}
    done = {job["name"]: Fraction(0) for job in instance["jobs"]}
    for t in range(1, search.slots + 1):
        _, active, where, left = search.best(t, left)
        for i, placement in zip(active, where, strict=True):
            if placement:
                job = search.jobs[i]
                counts = {h: {"workers": w, "servers": s} for h, (w, s) in placement.items()}
                plans.setdefault(job["name"], {})[str(t)] = counts
                done[job["name"]] += trained(job, placement) or 0
    finished = {job["name"] for job in instance["jobs"] if done[job["name"]] >= work(job)}
    return total, {"problem": "dmlrs", "jobs": {n: {"slots": plan} for n, plan in plans.items() if n in finished}}
