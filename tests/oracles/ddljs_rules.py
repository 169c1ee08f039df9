"""The rules of the DDLJS problem on plain JSON, in rationals, and an independent checker of schedules.

A ring of two or more servers is a directed cycle: every hosting server is left once and entered once, along simple
paths over links that exist. A job with `placement` says where each worker is; then the ring visits the workers' servers
in that order, and one server may be visited several times.
"""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction
from typing import Any

import networkx as nx

from .hadar_instance import rational as exact

Data = dict[str, Any]
Shares = list[tuple[tuple[tuple[str, str], ...], Fraction]]


@functools.cache
def rational(x: Any) -> Fraction:
    return exact(x)


def worth(u: Data, x: Fraction) -> Fraction | None:
    """Return mu(x), None for minus infinity; x below 0 counts as 0."""
    kind, x = u["kind"], max(Fraction(0), x)
    if kind == "table":
        return rational(u["values"][int(x)]) if x < len(u["values"]) else Fraction(0)
    if kind == "linear":
        return max(Fraction(0), rational(u["intercept"]) - rational(u["slope"]) * x)
    if kind == "sqrt":
        return Fraction(float(rational(u["scale"])) * math.sqrt(x))
    if kind == "log":
        inside = rational(u.get("offset", 1)) + x
        return Fraction(float(rational(u["scale"])) * math.log(inside)) if inside > 0 else None
    if kind == "power":
        return rational(u["scale"]) * x ** int(rational(u["exponent"]))
    assert kind == "sigmoid"
    height, exponent = float(rational(u["height"])), float(rational(u["steepness"]) * (x - rational(u["midpoint"])))
    return Fraction(height * (math.exp(-exponent) if exponent > 700 else 1 / (1 + math.exp(exponent))))


def budget_slots(job: Data) -> int | None:
    """Return the largest n with l n <= F for every resource, None without a limit."""
    needs = {r: rational(need) for r, need in job["worker"].items() if rational(need) > 0}
    if job.get("budget") is None or not needs:
        return None
    return min(rational(job["budget"].get(r, 0)) // need for r, need in needs.items())


def bandwidths(data: Data, t: int) -> Shares:
    """Return the arcs that share a bandwidth, and the bandwidth, in a slot."""
    changed = {
        (link["source"], link["target"]): rational(link["bandwidth"])
        for link in (data.get("bandwidth_by_slot") or {}).get(str(t), [])
    }
    duplex = data.get("duplex", False)
    shares: Shares = []
    for link in data["links"]:
        forth = link["source"], link["target"]
        back, usual = forth[::-1], rational(link["bandwidth"])
        if duplex == "half":
            shares.append(((forth, back), changed.get(forth, changed.get(back, usual))))
        else:
            shares.append(((forth,), changed.get(forth, usual)))
            if duplex:
                shares.append(((back,), changed.get(back, usual)))
    return shares


def ring_is_one_cycle(entry: Data) -> bool:
    """Say whether the hops form one directed cycle, listed in its order, through the servers that host workers."""
    hosts = {u for u, n in entry["workers"].items() if n > 0}
    hops = [(path[0], path[-1]) for path in entry.get("ring", [])]
    if len(hosts) <= 1:
        return not hops
    order = entry.get("order")
    if order is not None:
        ring = [(order[a - 1], order[a]) for a in range(len(order))]
        return hops == [hop for hop in (*ring[1:], ring[0]) if hop[0] != hop[1]]
    graph = nx.MultiDiGraph(hops)
    once = all(graph.in_degree(u) == graph.out_degree(u) == 1 for u in graph)
    listed = all(hops[i - 1][1] == hops[i][0] for i in range(len(hops)))
    return bool(hops) and set(graph) == hosts and once and nx.is_strongly_connected(graph) and listed


def violations(data: Data, schedule: Data) -> set[str]:
    """Return the rules that a schedule breaks, by the numbers of the paper's constraints where they have one."""
    jobs = {job["name"]: job for job in data["jobs"]}
    nodes = {node["name"]: node for node in data["nodes"]}
    entries = [(n, int(t), entry) for n, plan in schedule["jobs"].items() for t, entry in plan["slots"].items()]
    mentioned = {
        u for _, _, e in entries for u in (*e["workers"], *(e.get("order") or ()), *itertools.chain(*e.get("ring", [])))
    }
    if not set(schedule["jobs"]) <= set(jobs) or not mentioned <= set(nodes):
        return {"names"}
    broken: set[str] = set()
    for name, t, entry in entries:
        broken |= _alone(data, jobs[name], t, entry)
    return broken | _totals(data, schedule, entries) | _shared(data, jobs, nodes, entries)


def _alone(data: Data, job: Data, t: int, entry: Data) -> set[str]:
    """Return the rules that one job's entry of one slot breaks by itself."""
    broken = set()
    workers, paths = entry["workers"], entry.get("ring", [])
    has_capacity = {n["name"]: any(rational(c) > 0 for c in n.get("capacity", {}).values()) for n in data["nodes"]}
    arcs = {arc for shared, _ in bandwidths(data, 1) for arc in shared}
    if t < 1 or t > data["slots"]:
        broken.add("slots")
    elif t < job["arrival"]:
        broken.add("(6)")
    if any(n <= 0 for n in workers.values()):
        broken.add("counts")
    if any(n > 0 and not has_capacity[u] for u, n in workers.items()):
        broken.add("(5)")
    if sum(workers.values()) > job["max_workers"]:
        broken.add("(2)")
    if any(arc not in arcs for path in paths for arc in itertools.pairwise(path)) or any(
        len(set(path)) != len(path) for path in paths
    ):
        broken.add("(7)")
    order, places = entry.get("order"), job.get("placement")
    misplaced = order is None if places is not None else False
    if order is not None:
        misplaced = {u: order.count(u) for u in order} != {u: n for u, n in workers.items() if n}
        misplaced |= any(u not in allowed for u, allowed in zip(order, places or [], strict=False))
    if misplaced or not ring_is_one_cycle(entry):
        broken.add("(9)")
    return broken


def _totals(data: Data, schedule: Data, entries: list[tuple[str, int, Data]]) -> set[str]:
    broken = set()
    for job in data["jobs"]:
        n = sum(sum(entry["workers"].values()) for name, _, entry in entries if name == job["name"])
        limit = budget_slots(job)
        if limit is not None and n > limit:
            broken.add("(3)")
        if worth(job["utility"], rational(job["progress"]) * n) is None:
            broken.add("utility")
    return broken


def _shared(data: Data, jobs: Data, nodes: Data, entries: list[tuple[str, int, Data]]) -> set[str]:
    """Return the broken rules of what jobs share in a slot: servers (4) and links (8)."""
    broken = set()
    for t in {t for _, t, _ in entries}:
        now = [(jobs[name], entry) for name, slot, entry in entries if slot == t]
        for u, node in nodes.items():
            for r in data["resources"]:
                used = sum(rational(job["worker"].get(r, 0)) * entry["workers"].get(u, 0) for job, entry in now)
                if used > rational(node.get("capacity", {}).get(r, 0)):
                    broken.add("(4)")
        hops = [(job, arc) for job, e in now for path in e.get("ring", []) for arc in itertools.pairwise(path)]
        for shared, limit in bandwidths(data, t) if 1 <= t <= data["slots"] else []:
            if sum(rational(job["bandwidth"]) for job, arc in hops if arc in shared) > limit:
                broken.add("(8)")
    return broken


def total(data: Data, schedule: Data) -> Fraction | None:
    """Return the sum of utilities, None for minus infinity."""
    found = []
    for job in data["jobs"]:
        plan = schedule["jobs"].get(job["name"], {"slots": {}})["slots"]
        n = sum(sum(entry["workers"].values()) for entry in plan.values())
        found.append(worth(job["utility"], rational(job["progress"]) * n))
    return None if None in found else sum((x for x in found if x is not None), Fraction(0))
