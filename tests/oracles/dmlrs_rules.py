"""The rules of the DMLRS problem on plain JSON, from the physical definitions alone, in rationals.

A placement is one job's allocation in one slot, ``{machine: (workers, servers)}``. The link between a worker on h and a
server on p has the internal rate where h = p and the external rate otherwise. With W workers and S servers in the slot:

* journal: S >= ceil(W / gamma), W <= F, and each worker needs tau + 2 g gamma / (b F) slots a sample, b the slowest
  link of the slot (nominal rule: the rate uses gamma, not W / S);
* asynchronous: S <= W <= K, at least one server to train at all, the traffic of all links within B S, and a worker on h
  needs tau + 2 g / b slots a mini-batch, b its own slowest link.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

Data = dict[str, Any]
Placement = dict[str, tuple[int, int]]


def rational(x: Any) -> Fraction:
    return Fraction(str(x)) if isinstance(x, int | float | str) else Fraction(x)


def worth(job: Data, duration: int) -> Fraction:
    u = job["utility"]
    if u["kind"] == "table":
        return rational(u["values"][duration]) if duration < len(u["values"]) else Fraction(0)
    if u["kind"] == "hyperbolic":
        return rational(u["scale"]) / (1 + duration)
    if u["kind"] == "linear":
        return max(Fraction(0), rational(u["intercept"]) - rational(u["slope"]) * duration)
    if u["kind"] == "step":
        return rational(u["value"]) if duration <= rational(u["deadline"]) else Fraction(0)
    assert u["kind"] == "sigmoid"
    exponent = float(rational(u["steepness"]) * (duration - rational(u["midpoint"])))
    return Fraction(float(rational(u["height"])) / (1 + math.exp(exponent) if exponent < 700 else math.inf))


def work(job: Data) -> Fraction:
    """Return V, in samples, or in mini-batches of an asynchronous job."""
    if "chunks" in job:
        return rational(job["epochs"]) * rational(job["chunks"]) * rational(job["minibatches_per_chunk"])
    return rational(job["epochs"]) * rational(job["samples"])


def most_workers(job: Data) -> int:
    return int(job["chunks"] if "chunks" in job else job["batch"])


def worker_time(job: Data, rate: Fraction) -> Fraction:
    """Return the slots one worker needs a sample (mini-batch) over a link of that rate."""
    g = rational(job["gradient_size"])
    if "chunks" in job:
        return rational(job["slots_per_minibatch"]) + 2 * g / rate
    gamma, batch = rational(job["workers_per_server"]), rational(job["batch"])
    return rational(job["slots_per_sample"]) + 2 * g * gamma / (rate * batch)


def link(job: Data, h: str, p: str) -> Fraction:
    return rational(job["internal_rate" if h == p else "external_rate"])


def trained(job: Data, placement: Placement) -> Fraction | None:
    """Return the work a placement does in its slot, None if it breaks a rule of the job (capacities aside)."""
    if any(w < 0 or s < 0 for w, s in placement.values()):
        return None
    at = {h: w for h, (w, _) in placement.items() if w}
    servers = {p: s for p, (_, s) in placement.items() if s}
    workers, total = sum(at.values()), sum(servers.values())
    if workers > most_workers(job):
        return None
    if "chunks" in job:
        traffic = sum((w * link(job, h, p) for h, w in at.items() for p in servers), Fraction(0))
        if total > workers or traffic > rational(job["server_rate"]) * total or (workers and not total):
            return None
        slowest = {h: min(link(job, h, p) for p in servers) for h in at}
        return sum((w / worker_time(job, slowest[h]) for h, w in at.items()), Fraction(0))
    if total < math.ceil(workers / rational(job["workers_per_server"])):
        return None
    if not workers:
        return Fraction(0)
    return workers / worker_time(job, min(link(job, h, p) for h in at for p in servers))


def needs(job: Data, workers: int, servers: int) -> dict[str, Fraction]:
    return {
        r: rational(job["worker"].get(r, 0)) * workers + rational(job["server"].get(r, 0)) * servers
        for r in {*job["worker"], *job["server"]}
    }


def placements(job: Data, room: dict[str, dict[str, Fraction]]) -> Iterator[tuple[Placement, Fraction]]:
    """Yield every placement with workers that fits the room {machine: {resource: amount}}, and the work it does.

    Journal: only S = ceil(W / gamma) servers. Nothing is lost: taking surplus servers away frees resources, and the
    minimum over the links that remain is no lower, so the work of the slot is no less. Asynchronous: every S.
    """
    nominal = "chunks" not in job
    gamma = rational(job["workers_per_server"]) if nominal else Fraction(1)
    most = most_workers(job)
    most_servers = math.ceil(most / gamma)
    machines = list(room)
    fitting = {
        h: [
            (w, s)
            for w in range(most + 1)
            for s in range(most_servers + 1)
            if all(amount <= room[h].get(r, 0) for r, amount in needs(job, w, s).items())
        ]
        for h in machines
    }

    def extend(k: int, chosen: Placement, workers: int, servers: int) -> Iterator[Placement]:
        if k == len(machines):
            if workers and (servers == math.ceil(workers / gamma) if nominal else servers <= workers):
                yield dict(chosen)
            return
        for w, s in fitting[machines[k]]:
            if workers + w <= most and servers + s <= most_servers:
                rest = {machines[k]: (w, s)} if w or s else {}
                yield from extend(k + 1, chosen | rest, workers + w, servers + s)

    for placement in extend(0, {}, 0, 0):
        done = trained(job, placement)
        if done is not None:
            yield placement, done


def _read(entry: Data) -> dict[int, Placement]:
    """Return the slots of a job's schedule that hold anything."""
    found = {
        int(t): {h: (int(c.get("workers", 0)), int(c.get("servers", 0))) for h, c in machines.items()}
        for t, machines in entry["slots"].items()
    }
    kept = {t: {h: c for h, c in placement.items() if c != (0, 0)} for t, placement in found.items()}
    return {t: placement for t, placement in kept.items() if placement}


def violations(instance: Data, schedule: Data) -> set[str]:
    """Return the rules that a schedule breaks: names, slots, job (a slot's own rules), capacity, work (unfinished)."""
    jobs = {job["name"]: job for job in instance["jobs"]}
    machines = {machine["name"]: machine for machine in instance["machines"]}
    plans = {name: _read(entry) for name, entry in schedule["jobs"].items()}
    if any(name not in jobs for name in plans) or any(
        h not in machines for plan in plans.values() for placement in plan.values() for h in placement
    ):
        return {"names"}
    broken = set()
    used: dict[tuple[int, str, str], Fraction] = {}
    for name, plan in plans.items():
        job = jobs[name]
        amounts = [trained(job, placement) for placement in plan.values()]
        if None in amounts:
            broken.add("job")
        elif plan and sum(a for a in amounts if a is not None) < work(job):
            broken.add("work")
        for t, placement in plan.items():
            if not job["arrival"] <= t <= instance["slots"] or t < 1:
                broken.add("slots")
            for h, (w, s) in placement.items():
                for r, need in needs(job, w, s).items():
                    used[t, h, r] = used.get((t, h, r), Fraction(0)) + need
    if any(amount > rational(machines[h]["capacity"].get(r, 0)) for (_, h, r), amount in used.items()):
        broken.add("capacity")
    return broken


def feasible(instance: Data, schedule: Data) -> bool:
    """Say whether a schedule keeps all rules; a job with allocations has to finish."""
    return not violations(instance, schedule)


def value(instance: Data, schedule: Data) -> Fraction:
    """Return the sum of utilities of the jobs that finish, each at its last slot with workers."""
    jobs = {job["name"]: job for job in instance["jobs"]}
    total = Fraction(0)
    for name, entry in schedule["jobs"].items():
        job, plan = jobs[name], _read(entry)
        if sum((trained(job, placement) or Fraction(0) for placement in plan.values()), Fraction(0)) >= work(job):
            busy = [t for t, placement in plan.items() if any(w for w, _ in placement.values())]
            total += worth(job, max(busy) - job["arrival"])
    return total
