"""Random DDLJS instances and changed schedules, and hypothesis strategies for walks and mappings of rings."""

from __future__ import annotations

import copy
import itertools
from collections import Counter
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dlsched.models.ddljs import Instance, RingMapping, random
from dlsched.models.ddljs.rings import Arc

NODES = tuple("abcdef")
SHAPES = ("mesh", "star", "ring")


def drawn(seed: int, **changes: Any) -> Instance:
    """Return a random instance: shapes, half duplex, links by slot and sizes all vary with the seed."""
    rng = np.random.default_rng(seed)
    shape = SHAPES[seed % 3]
    sizes: dict[str, Any] = {
        "jobs": int(rng.integers(1, 4)),
        "servers": int(rng.integers(1, 4)),
        "resources": int(rng.integers(1, 3)),
        "slots": int(rng.integers(1, 4)),
        "shape": shape,
        "varying": bool(seed % 2),
        "half": shape != "ring" and seed % 4 == 0,
    }
    return random(rng, **sizes | changes)


def with_placement(seed: int, data: dict[str, Any]) -> dict[str, Any]:
    """Return an instance's JSON with servers allowed to each worker of every second job."""
    rng = np.random.default_rng(seed)
    servers = [node["name"] for node in data["nodes"] if any(node["capacity"].values())]
    changed = copy.deepcopy(data)
    for found in changed["jobs"][::2] if servers else []:
        found["placement"] = [
            [u for u in servers if rng.random() < 0.7] or [servers[0]] for _ in range(found["max_workers"])
        ]
    return changed


def with_logarithm(data: dict[str, Any]) -> dict[str, Any]:
    """Return an instance's JSON whose last job has a log utility, minus infinity at 0."""
    changed = copy.deepcopy(data)
    changed["jobs"][-1]["utility"] = {"kind": "log", "scale": 1, "offset": 0}
    return changed


def tight(instance: Instance) -> dict[str, Any]:
    """Return an instance's JSON with at most one of each resource on a server, so that rings must spread."""
    data = instance.dump()
    for node in data["nodes"]:
        node["capacity"] = {r: min(c, 1) for r, c in node["capacity"].items()}
    return data


def random_walk(draw: st.DrawFn, start: str, end: str, most: int = 5) -> tuple[str, ...]:
    """Draw a walk without self loops; it may pass nodes several times."""
    walk = [start]
    for _ in range(draw(st.integers(0, most))):
        walk.append(draw(st.sampled_from([node for node in NODES if node != walk[-1]])))
    if walk[-1] != end:
        walk.append(end)
    return tuple(walk)


@st.composite
def mappings(draw: st.DrawFn) -> RingMapping:
    """A mapping of a ring of 1 to 6 nodes whose paths may have loops, also those of ring edges on one node."""
    nodes = tuple(draw(st.lists(st.sampled_from(NODES), min_size=1, max_size=6)))
    if len(nodes) == 1:
        return RingMapping(nodes, ())
    hops = zip(nodes, (*nodes[1:], nodes[0]), strict=True)
    return RingMapping(nodes, tuple(random_walk(draw, u, v) for u, v in hops))


@st.composite
def circulations(draw: st.DrawFn) -> tuple[dict[str, int], Counter[Arc]]:
    """Workers of some nodes and closed walks, the first through all of these nodes, as {arc: times}."""
    hosts = draw(st.lists(st.sampled_from(NODES), min_size=1, max_size=5, unique=True))
    workers = {node: draw(st.integers(0, 3)) for node in hosts}
    arcs: Counter[Arc] = Counter()
    stops = [*draw(st.permutations(hosts)), hosts[0]]
    starts = [stops, *([node, node] for node in draw(st.lists(st.sampled_from(NODES), max_size=2)))]
    for through in starts:
        for u, v in itertools.pairwise([*through, through[0]]):
            arcs.update(itertools.pairwise(random_walk(draw, u, v)))
    return workers, arcs


def mutated(rng: np.random.Generator, data: dict[str, Any], schedule: dict[str, Any]) -> dict[str, Any]:
    """Return a schedule with one to three random changes; it may break rules or not."""
    changed = copy.deepcopy(schedule)
    for _ in range(int(rng.integers(1, 4))):
        _change(rng, data, changed)
    return changed


def _change(rng: np.random.Generator, data: dict[str, Any], schedule: dict[str, Any]) -> None:
    def pick(items: Any) -> Any:
        listed = list(items)
        return listed[int(rng.integers(len(listed)))]

    nodes = [node["name"] for node in data["nodes"]]
    name = pick(job["name"] for job in data["jobs"])
    plan = schedule["jobs"].setdefault(name, {"slots": {}})["slots"]
    slot = pick(plan) if plan else str(int(rng.integers(1, data["slots"] + 1)))
    entry = plan.setdefault(slot, {"workers": {pick(nodes): 1}, "ring": []})
    ring, workers = entry["ring"], entry["workers"]
    kind = int(rng.integers(16))
    if kind == 0:
        workers[pick(nodes)] = int(rng.integers(-1, 4))
    elif kind == 1 and workers:
        workers[pick(workers)] += 1
    elif kind == 2 and workers:
        del workers[pick(workers)]
    elif kind == 3:
        plan[str(int(rng.integers(0, data["slots"] + 2)))] = copy.deepcopy(entry)
    elif kind == 4 and ring:
        del ring[int(rng.integers(len(ring)))]
    elif kind == 5 and ring:
        ring[int(rng.integers(len(ring)))].reverse()
    elif kind == 6 and ring:
        ring.extend(copy.deepcopy(ring))
    elif kind == 7 and ring:
        path = pick(ring)
        path.insert(int(rng.integers(1, len(path))), pick(nodes))
    elif kind == 8 and len(ring) > 1:
        ring.append(ring.pop(0))
    elif kind == 9:
        ring.clear()
    elif kind == 10:
        u, v = pick(nodes), pick(nodes)
        ring.extend([[u, v], [v, u]])
        workers.setdefault(u, 1)
        workers.setdefault(v, 1)
    elif kind == 11:
        entry["order"] = [node for node, n in workers.items() for _ in range(n)]
    elif kind == 12 and entry.get("order"):
        entry["order"] = [str(node) for node in rng.permutation(entry["order"])]
    elif kind == 13:
        schedule["jobs"].pop(name)
    elif kind == 14 and rng.random() < 0.2:
        entry["workers"]["nowhere"] = 1
    elif kind == 15 and rng.random() < 0.2:
        schedule["jobs"]["nobody"] = {"slots": {}}
