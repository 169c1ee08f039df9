"""Ring problems, mappings and fractional embeddings for the tests of rounding."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest

from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.models.ddljs.rings import Arc, RingMapping
from dlsched.relaxations.fractional_embedding import FractionalEmbedding, Located, RingFlow, Routed
from dlsched.rounding import WeightedMapping, decompose

Combination = Mapping[str, Sequence[tuple[float, RingMapping]]]
HALF = Fraction(1, 2)
ZOO = (
    "Aarnet Abilene Agis Arpanet196912 Basnet Bellcanada Bics Cernet Claranet Compuserve DeutscheTelekom Dfn Eenet "
    "Epoch Garr200109 Geant2001 Geant2012 Getnet Gridnet Nsfnet Sprint"
)


def one(node: str) -> RingMapping:
    """A ring of one node."""
    return RingMapping((node,), ())


def request(name: str, profit: Mapping[int, int], bandwidth: int = 1, **demand: int) -> RingRequest:
    """A request with whole numbers."""
    return RingRequest(
        name,
        {k: Fraction(p) for k, p in profit.items()},
        {r: Fraction(need) for r, need in demand.items()},
        Fraction(bandwidth),
    )


def odd_cycle() -> tuple[RingProblem, dict[str, tuple[WeightedMapping, ...]]]:
    """G8: three requests that share three resources pairwise; the LP embeds half of each."""
    nodes = {"s": {r: Fraction(1) for r in "pqr"}, "d1": {}, "d2": {}}
    requests = (request("1", {1: 1}, p=1, q=1), request("2", {1: 1}, q=1, r=1), request("3", {1: 1}, p=1, r=1))
    problem = RingProblem(nodes, (), requests)
    return problem, {r.name: (WeightedMapping(HALF, 1, one("s")),) for r in requests}


def coins(jobs: int, nodes: int = 3) -> tuple[RingProblem, dict[str, tuple[WeightedMapping, ...]]]:
    """Requests of one ring node, each on one server with probability 1/2; it has room for half of them."""
    places = {f"n{u}": {"g": Fraction(jobs, 2) if u == 0 else Fraction(0)} for u in range(nodes)}
    requests = tuple(request(f"j{i}", {1: 1}, g=1) for i in range(jobs))
    return RingProblem(places, (), requests), {r.name: (WeightedMapping(HALF, 1, one("n0")),) for r in requests}


def random_problem(rng: np.random.Generator, nodes: int = 5, requests: int = 3, half: bool = False) -> RingProblem:
    """A strongly connected substrate with two resources, and requests of up to four ring nodes."""
    graph: nx.Graph = nx.connected_watts_strogatz_graph(nodes, 2 + 2 * (nodes > 4), 0.5, seed=int(rng.integers(2**31)))
    graph = nx.relabel_nodes(graph, {u: f"u{u}" for u in graph})
    graph = graph if half else graph.to_directed()
    for u in graph:
        graph.nodes[u]["capacity"] = {"g": int(rng.integers(1, 5)), "m": int(rng.integers(1, 5))}
    for u, v in graph.edges:
        graph.edges[u, v]["bandwidth"] = int(rng.integers(1, 4))
    wanted = []
    for i in range(requests):
        profit = {k: int(rng.integers(1, 9)) for k in range(1, int(rng.integers(2, 5)) + 1)}
        demand = {"g": int(rng.integers(0, 2)) + 1, "m": int(rng.integers(0, 2))}
        wanted.append(request(f"r{i}", profit, int(rng.integers(0, 3)), **demand))
    return RingProblem.of(graph, wanted)


def random_mapping(rng: np.random.Generator, problem: RingProblem, name: str, size: int) -> RingMapping | None:
    """A valid mapping along random walks cut to paths; None where the request has none."""
    wanted = problem.request(name)
    hosts = [problem.hosts(wanted, a) for a in range(size)]
    graph = nx.DiGraph(list(problem.usable(wanted)))
    graph.add_nodes_from(problem.nodes)
    if not all(hosts):
        return None
    nodes = tuple(str(rng.choice(places)) for places in hosts)
    if size == 1:
        return RingMapping(nodes, ())
    weight = {arc: float(rng.random()) for arc in graph.edges}
    nx.set_edge_attributes(graph, weight, "w")
    try:
        ends = zip(nodes, (*nodes[1:], nodes[0]), strict=True)
        paths = tuple(tuple(nx.shortest_path(graph, u, v, weight="w")) for u, v in ends)
    except nx.NetworkXNoPath:
        return None
    return RingMapping(nodes, paths)


def random_combination(
    rng: np.random.Generator, problem: RingProblem, most: int = 5
) -> dict[str, list[tuple[float, RingMapping]]]:
    """Weighted mappings of every request, weights adding up to at most 1."""
    found: dict[str, list[tuple[float, RingMapping]]] = {}
    for wanted in problem.requests:
        sizes = rng.choice(wanted.sizes, size=int(rng.integers(1, most + 1)))
        mappings = [random_mapping(rng, problem, wanted.name, int(size)) for size in sizes]
        weights = rng.dirichlet(np.ones(len(mappings))) * float(rng.choice([1.0, 0.7]))
        pairs = zip(weights.tolist(), mappings, strict=True)
        found[wanted.name] = [(weight, mapping) for weight, mapping in pairs if mapping is not None]
    return found


def superpose(problem: RingProblem, combination: Combination) -> FractionalEmbedding:
    """The fractional embedding that weighted mappings add up to."""
    weight: dict[tuple[str, int], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    location: dict[tuple[str, int], dict[str, dict[Located, float]]] = defaultdict(lambda: defaultdict(dict))
    flow: dict[tuple[str, int], dict[str, dict[Routed, float]]] = defaultdict(lambda: defaultdict(dict))
    for name, mappings in combination.items():
        for part, mapping in mappings:
            key, w = (name, len(mapping.nodes)), mapping.nodes[0]
            weight[key][w] += part
            for a, u in enumerate(mapping.nodes[1:], start=1):
                parts = location[key][w]
                parts[a, u] = parts.get((a, u), 0) + part
            for a, path in enumerate(mapping.paths):
                for arc in pairwise(path):
                    flows = flow[key][w]
                    flows[a, arc] = flows.get((a, arc), 0) + part
    rings = {key: RingFlow(key[1], weight[key], location[key], flow[key]) for key in weight}
    return FractionalEmbedding(problem, rings)


def with_circulation(fractional: FractionalEmbedding, cycle: Sequence[str], amount: float) -> FractionalEmbedding:
    """The embedding with a detached cycle of flow added to ring edge 0 of every copy of rings of two or more."""
    arcs: list[Arc] = list(pairwise((*cycle, cycle[0])))
    rings = {}
    for key, ring in fractional.flows.items():
        flow = {w: dict(ring.flow.get(w, {})) for w in ring.weight}
        if ring.size > 1:
            for flows in flow.values():
                for arc in arcs:
                    flows[0, arc] = flows.get((0, arc), 0) + amount
        rings[key] = RingFlow(ring.size, ring.weight, ring.location, flow)
    return FractionalEmbedding(fractional.problem, rings)


def variables(ring: RingFlow) -> int:
    """Positive variables of one ring size."""
    values = [*ring.weight.values()]
    values += [part for parts in (*ring.location.values(), *ring.flow.values()) for part in parts.values()]
    return sum(value > 1e-9 for value in values)


def check_decomposition(fractional: FractionalEmbedding) -> dict[str, tuple[WeightedMapping, ...]]:
    """Check every invariant that can be seen from outside, in loads of all resources."""
    problem, found = fractional.problem, decompose(fractional)
    assert list(found) == [r.name for r in problem.requests]
    nodes: dict[Any, float] = defaultdict(float)
    arcs: dict[Any, float] = defaultdict(float)
    for wanted in problem.requests:
        weights = [m.weight for m in found[wanted.name]]
        assert sum(weights) <= 1
        assert all(weight > 0 for weight in weights)
        assert float(sum(weights)) == pytest.approx(fractional.embedded(wanted.name), abs=1e-6)
        usable = set(problem.usable(wanted))
        for m in found[wanted.name]:
            assert len(m.mapping.nodes) == m.size
            assert m.size in wanted.profit
            assert all(node in problem.hosts(wanted, a) for a, node in enumerate(m.mapping.nodes))
            for node, count in m.mapping.counts().items():
                for r, need in wanted.demand.items():
                    nodes[node, r] += float(m.weight * need * count)
            for arc, count in m.mapping.loads().items():
                assert arc in usable
                arcs[arc] += float(m.weight * wanted.bandwidth * count)
        for size, count in Counter(m.size for m in found[wanted.name]).items():
            assert count <= variables(fractional.flows[wanted.name, size])
    expected = fractional.node_loads()
    for key in {*nodes, *expected}:
        assert nodes[key] == pytest.approx(expected.get(key, 0.0), abs=1e-5)
    flow = fractional.arc_loads()
    assert all(load <= flow.get(arc, 0.0) + 1e-5 for arc, load in arcs.items())
    return found
