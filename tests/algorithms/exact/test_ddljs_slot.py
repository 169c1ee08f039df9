"""The certified optimum of one slot's embedding problem against golden values and exhaustive search."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from dlsched.algorithms.exact.ddljs import embed
from dlsched.algorithms.exact.ddljs.count_bound import count_bound, first_embeddings
from dlsched.algorithms.exact.ddljs.counts import TooLargeError, count_vectors
from dlsched.algorithms.exact.ddljs.network import Network
from dlsched.algorithms.exact.ddljs.slot import checked_value
from dlsched.algorithms.exact.ddljs.slot_program import slot_program
from dlsched.models.ddljs import Embedding, RingProblem, RingRequest, slot_problem
from dlsched.models.ddljs.presets import benchmark
from dlsched.models.numbers import agree
from dlsched.solvers.solve import solve_matrix
from tests.cases.ddljs import SLOTS, expected, instance, problem
from tests.longer import longer
from tests.oracles import ddljs as oracle

OPTIMA = {name: value for name in SLOTS if (value := expected(name).get("ilp"))}


def drawn(seed: int) -> RingProblem:
    """Return a small random problem: trees and graphs with cycles, switches, one-way and shared links, holes in the
    sizes, negative profits, and placement."""
    rng = np.random.default_rng(seed)
    names = [f"node{n}" for n in range(int(rng.integers(2, 7)))]
    resources = ["p", "q"][: int(rng.integers(1, 3))]
    nodes = {u: {r: Fraction(int(rng.integers(0, 4))) for r in resources} if rng.random() < 0.7 else {} for u in names}
    requests = tuple(_request(rng, f"job{j}", names, resources) for j in range(int(rng.integers(1, 4))))
    return RingProblem(nodes, _shares(rng, names), requests)


def _shares(rng: np.random.Generator, names: list[str]) -> tuple[tuple[tuple[tuple[str, str], ...], Fraction], ...]:
    tree, extra = [(True, 0), (True, 1), (False, len(names))][int(rng.integers(3))]
    pairs = {(names[int(rng.integers(i))], names[i]) for i in range(1, len(names)) if tree}
    for _ in range(extra):
        u, v = rng.choice(names, 2, replace=False).tolist()
        if (v, u) not in pairs:
            pairs.add((u, v))
    half = rng.random() < 0.4
    shares: list[tuple[tuple[tuple[str, str], ...], Fraction]] = []
    for u, v in sorted(pairs):
        kind, width = rng.random(), Fraction(int(rng.integers(0, 6)), 2)
        if half and kind < 0.8:
            shares.append((((u, v), (v, u)), width))
            continue
        shares.append((((u, v),), width))
        if kind < 0.85:
            shares.append((((v, u),), Fraction(int(rng.integers(0, 6)), 2)))
    return tuple(shares)


def _request(rng: np.random.Generator, name: str, nodes: list[str], resources: list[str]) -> RingRequest:
    largest = int(rng.integers(1, 4))
    demand = {r: Fraction(int(rng.integers(0, 3))) for r in resources}
    profit = {k: Fraction(int(rng.integers(-2, 10))) for k in range(1, largest + 1) if rng.random() < 0.8}
    allowed = None
    if rng.random() < 0.25:
        allowed = tuple(frozenset(u for u in nodes if rng.random() < 0.6) for _ in range(largest))
    return RingRequest(name, profit, demand, Fraction(int(rng.integers(0, 4)), 2), allowed)


@pytest.mark.parametrize("name", OPTIMA)
def test_golden(name: str) -> None:
    result = embed(problem(name))
    assert result.proved
    assert agree(result.value, OPTIMA[name])
    assert agree(result.value, checked_value(problem(name), result.embeddings))


def test_every_golden_slot_optimum_is_tested() -> None:
    assert set(OPTIMA) == {
        "G2_cap1",
        "G2_cap0.5",
        "G3_acc1",
        "G3_acc2",
        "G8",
        "G9_cap1",
        "G9_cap1.5",
        "G10",
        "G14",
        "G15",
    }


@pytest.mark.parametrize("seed", longer(range(150), *range(50, 150)))
def test_random(seed: int) -> None:
    whole = drawn(seed)
    vectors = oracle.joint(whole)
    best = float(oracle.best(whole)[0])
    result = embed(whole)
    assert result.proved
    assert agree(result.value, best)
    assert agree(result.value, checked_value(whole, result.embeddings))
    assert count_vectors(whole) == frozenset(vectors)
    bound = count_bound(whole)
    assert float(checked_value(whole, first_embeddings(whole, bound))) <= best <= float(bound.value) + 1e-9


@pytest.mark.parametrize("seed", range(0, 150, 3))
def test_program_of_the_whole_network(seed: int) -> None:
    whole = drawn(seed)
    program, blind = slot_program(whole), slot_program(whole, core=False)
    raw, bound = (solve_matrix(p.matrix, threads=1, presolve=False) for p in (program, blind))
    best = float(oracle.best(whole)[0])
    assert raw.x is not None
    assert agree(checked_value(whole, program.read(raw.x)), best)
    assert bound.summary.objective is not None
    assert bound.summary.objective >= best - 1e-6


def with_cycles(seed: int) -> RingProblem:
    """Return a random problem on a graph with cycles, few workers a server and rings that must spread."""
    rng = np.random.default_rng(seed)
    graph = nx.gnm_random_graph(5, int(rng.integers(5, 7)), seed=int(rng.integers(10**6)))
    names = [f"node{u}" for u in graph]
    nodes = {u: {"p": Fraction(1)} if rng.random() < 0.9 else {} for u in names}
    shares: list[tuple[tuple[tuple[str, str], ...], Fraction]] = []
    for u, v in graph.edges:
        for arc in ((names[u], names[v]), (names[v], names[u])):
            if rng.random() < 0.9:
                shares.append(((arc,), Fraction(int(rng.integers(1, 3)))))
    profits = [{k: Fraction(k * int(rng.integers(1, 4))) for k in range(1, most + 1)} for most in (4, 2)]
    requests = (RingRequest(f"job{j}", p, {"p": Fraction(1)}, Fraction(1)) for j, p in enumerate(profits))
    return RingProblem(nodes, tuple(shares), tuple(requests))


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(30), 2, 7, *range(10, 30)))
def test_rings_in_graphs_with_cycles(seed: int) -> None:
    whole = with_cycles(seed)
    program = slot_program(whole)
    raw = solve_matrix(program.matrix, threads=1)
    assert raw.x is not None
    best = float(oracle.best(whole)[0])
    assert agree(checked_value(whole, program.read(raw.x)), best)
    assert agree(embed(whole).value, best)


@pytest.mark.slow
def test_a_ring_is_not_split_over_parts_of_the_network() -> None:
    pairs = ["ab", "bc", "ca", "de", "ef", "fd"]
    shares = tuple((((u, v),), Fraction(1)) for pair in pairs for u, v in (pair, pair[::-1]))
    request = RingRequest("J", {2: Fraction(1), 4: Fraction(5)}, {"g": Fraction(1)}, Fraction(1))
    for order in ("dabcef", "adbecf"):
        whole = RingProblem({u: {"g": Fraction(1)} for u in order}, shares, (request,))
        raw = solve_matrix(slot_program(whole).matrix, threads=1)
        assert raw.summary.objective == pytest.approx(1)
        assert embed(whole).value == 1


def test_network_of_two_levels() -> None:
    graph = benchmark(np.random.default_rng(0), servers=6).graph()
    network = Network.of(graph.nodes, graph.edges)
    servers = {u for u, capacity in graph.nodes(data="capacity") if capacity}
    assert set(network.parent) == servers
    assert len(network.core) == 4
    assert len(network.arcs) == 8


def test_tree_circulation_crosses_links_between_servers_only() -> None:
    links = [("a", "x"), ("b", "x"), ("x", "y"), ("c", "y"), ("y", "z"), ("d", "z")]
    arcs = links + [(v, u) for u, v in links]
    network = Network.of("abcdxyz", arcs)
    assert len(network.core) == 1
    ring = network.tree_circulation(["a", "c"])
    assert ring == {arc: 1 for u, v in [("a", "x"), ("x", "y"), ("c", "y")] for arc in ((u, v), (v, u))}
    assert network.tree_circulation(["d"]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("tight", [False, True])
@pytest.mark.parametrize("sizes", [(5, 5), (10, 10), (20, 10)])
def test_benchmark_family(sizes: tuple[int, int], tight: bool) -> None:
    whole = slot_problem(benchmark(np.random.default_rng(1), servers=sizes[0], jobs=sizes[1], tight=tight), 1)
    result = embed(whole)
    assert result.proved
    assert agree(result.value, checked_value(whole, result.embeddings))
    raw = solve_matrix(slot_program(whole).matrix, threads=1)
    assert agree(result.value, raw.summary.objective or 0.0)


def test_no_requests() -> None:
    whole = slot_problem(instance("G1"), 1).keeping([])
    result = embed(whole)
    assert (result.value, result.bound, result.embeddings, result.proved) == (0, 0, {}, True)


@pytest.mark.parametrize("name", OPTIMA)
def test_no_time_gives_valid_bounds(name: str) -> None:
    result = embed(problem(name), time_limit=0)
    assert result.value - 1e-9 <= OPTIMA[name] <= result.bound + 1e-9
    assert result.proved == agree(result.value, result.bound)


def test_no_time_is_no_proof() -> None:
    assert not embed(problem("G14"), time_limit=0).proved


def test_too_many_embeddings() -> None:
    with pytest.raises(TooLargeError, match="more than 3 "):
        count_vectors(problem("G15"), most=3)


def test_places_between_which_no_rings_go_are_looked_at_up_to_the_limit_too() -> None:
    graph = nx.Graph()
    graph.add_nodes_from((f"s{n}" for n in range(9)), capacity={"gpu": 9})
    for allowed in (None, (frozenset(graph),) * 40):
        request = RingRequest("ring", {40: Fraction(1)}, {"gpu": Fraction(1)}, Fraction(1), allowed)
        with pytest.raises(TooLargeError, match="request ring: more than 5000 places for its workers"):
            count_vectors(RingProblem.of(graph, [request]))


@pytest.mark.parametrize(
    ("embedding", "message"),
    [
        (Embedding(workers={"a": 2}), "node a"),
        (Embedding(workers={"a": 3}), "not offered"),
        (Embedding(workers={"a": 1, "b": 1}), "visits"),
        (Embedding(workers={"a": 1, "b": 1}, ring=(("a", "b"), ("b", "a"))), "link a -> b: 1 exceeds 1/2"),
        (Embedding(workers={"a": 1, "b": 1}, ring=(("a", "b"), ("b", "c", "a"))), "no link"),
        (Embedding(workers={"a": 1, "c": 1}, ring=(("a", "b"), ("b", "a"))), "no worker can be"),
    ],
)
def test_embeddings_that_do_not_fit(embedding: Embedding, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checked_value(problem("G2_cap0.5"), {"J": embedding})
