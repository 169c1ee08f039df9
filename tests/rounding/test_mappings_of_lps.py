"""Solutions of the ring LPs, decomposed and rounded: random problems, hand-made ones and Topology Zoo networks."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from dlsched.models.ddljs import random
from dlsched.models.ddljs.requests import RingProblem, RingRequest, slot_problem
from dlsched.relaxations import augmented_vne, knapsack_vne, plain_vne
from dlsched.rounding import (
    MappingLaw,
    choose_mappings,
    decompose,
    knapsack_loads,
    placement_mix,
    round_mappings,
)
from dlsched.traces.topology_zoo import convert
from tests.cases.mappings import ZOO, check_decomposition, odd_cycle, random_problem, request
from tests.longer import longer


def check_lp(problem: RingProblem, cap: bool) -> float:
    """Solve, decompose, and compare the value with the expected profit and the best choice of mappings."""
    program = augmented_vne(problem, cap=cap)
    solution = program.solve()
    weighted = check_decomposition(program.recover(solution.point))
    law = MappingLaw(problem, weighted)
    assert float(law.table.expected_profit) == pytest.approx(solution.value, abs=1e-6 * max(1, solution.value))
    assert float(choose_mappings(problem, weighted).chosen.profit) <= solution.value + 1e-6
    return solution.value


@pytest.mark.parametrize("cap", [False, True])
@pytest.mark.parametrize("seed", longer(range(15), *range(6, 15)))
def test_random_problems(seed: int, cap: bool) -> None:
    rng = np.random.default_rng(seed)
    check_lp(random_problem(rng, nodes=5, requests=4, half=bool(seed % 2)), cap)


@pytest.mark.parametrize("seed", range(15))
def test_slots_of_random_instances(seed: int) -> None:
    instance = random(
        np.random.default_rng(seed), jobs=4, servers=4, resources=2, slots=1, workers=4, utility="concave"
    )
    check_lp(slot_problem(instance, 1), cap=bool(seed % 2))


@pytest.mark.parametrize(("width", "requests", "value"), [(1, 2, 2), (Fraction(3, 2), 3, 3)])
def test_directed_four_cycle(width: Fraction, requests: int, value: int) -> None:
    """G9: ring nodes have places of their own; every mapping uses all four links."""
    arcs = (("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"))
    allowed = (frozenset("ac"), frozenset("bd"))
    wanted = [RingRequest(f"r{i}", {2: Fraction(2)}, {"g": Fraction(1)}, Fraction(1), allowed) for i in range(requests)]
    nodes = {u: {"g": Fraction(10)} for u in "abcd"}
    problem = RingProblem(nodes, tuple(((arc,), Fraction(width)) for arc in arcs), tuple(wanted))
    assert check_lp(problem, cap=False) == pytest.approx(value)
    program = augmented_vne(problem)
    for mappings in decompose(program.recover(program.solve().point)).values():
        assert all(set(m.mapping.loads()) == set(arcs) for m in mappings)


def test_solved_odd_cycle() -> None:
    """G8: the LP's solution is unique, half of each request."""
    problem, weighted = odd_cycle()
    program = augmented_vne(problem)
    assert decompose(program.recover(program.solve().point)) == weighted


def test_rings_on_servers_that_are_too_small() -> None:
    """G10: without caps all of the solution is mappings of two workers to a server for one; with caps none is."""
    nodes = {u: {"g": Fraction(1)} for u in "ab"}
    shares = tuple(((arc,), Fraction(0)) for arc in (("a", "b"), ("b", "a")))
    problem = RingProblem(nodes, shares, (request("r", {1: 1, 2: 2}, g=1),))
    for cap, value, feasible in ((False, 2, 0), (True, 1, 1)):
        assert check_lp(problem, cap) == pytest.approx(value)
        program = augmented_vne(problem, cap=cap)
        assert MappingLaw(problem, decompose(program.recover(program.solve().point))).accepted() == feasible


@pytest.mark.parametrize("cap", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_knapsack_solutions_as_placements(seed: int, cap: bool) -> None:
    """The mix has the loads and the value of the LP; with caps every placement keeps them."""
    problem = random_problem(np.random.default_rng(seed), nodes=5, requests=4)
    program = knapsack_vne(problem, cap=cap)
    solution = program.solve()
    loads = knapsack_loads(program, solution)
    mix = placement_mix(problem, loads)
    value = 0.0
    for wanted in problem.requests:
        for one in mix.placements[wanted.name]:
            value += float(one.weight * wanted.profit[one.size])
            assert not cap or all(count <= problem.room(wanted, u) for u, count in one.counts.items())
    assert value == pytest.approx(solution.value, abs=1e-6 * max(1, solution.value))
    for (name, size), parts in loads.items():
        for u in problem.nodes:
            found = sum(o.weight * o.counts.get(u, 0) for o in mix.placements[name] if o.size == size)
            assert float(found) == pytest.approx(parts.get(u, 0.0), abs=1e-7)


@pytest.mark.shared_data
@pytest.mark.parametrize("network", ZOO.split())
def test_topology_zoo(network: str, shared: Path) -> None:
    """Four requests on a real network with seven servers, of one worker each, or two: rings must spread."""
    path = shared / "data" / "topology_zoo" / f"{network}.yml"
    substrate = slot_problem(convert(path, servers="all", gpus=(1, 2), seed=5, bandwidth=(2, 4)), 1)
    rng = np.random.default_rng(2)
    chosen = set(rng.permutation(list(substrate.nodes))[:7].tolist())
    nodes = {u: capacity if u in chosen else {} for u, capacity in substrate.nodes.items()}
    wanted = tuple(request(f"r{i}", {2: 3, 3: 4 + i}, int(rng.integers(1, 3)), gpu=1) for i in range(4))
    problem = RingProblem(nodes, substrate.shares, wanted)
    spread, together = check_lp(problem, cap=True), check_lp(problem, cap=False)
    assert 0 < spread <= together + 1e-6


@pytest.mark.parametrize("names", [(0, 1, 2), (1, "a", "b"), (7, "8", 9)])
def test_numbered_nodes(names: tuple[int | str, ...]) -> None:
    """Nodes named by numbers are as good as nodes named by their texts."""

    def said(nodes: Sequence[int | str], ordered: bool) -> list[Any]:
        net = nx.cycle_graph(nodes)
        nx.set_node_attributes(net, {node: {"gpu": 1} for node in nodes}, "capacity")
        nx.set_edge_attributes(net, 1, "bandwidth")
        allowed = tuple(map(frozenset, [nodes[:1], nodes[1:]])) if ordered else None
        rings = [
            RingRequest(name, {2: Fraction(5)}, {"gpu": Fraction(1)}, Fraction(1, 2), allowed) for name in ("i", "j")
        ]
        problem = RingProblem.of(net, rings)
        program = augmented_vne(problem, cap=True)
        found = decompose(program.recover(program.solve().point))
        law = MappingLaw(problem, found)
        drawn = round_mappings(problem, found, 3)
        for transform in (plain_vne, augmented_vne, *(() if ordered else (knapsack_vne,))):
            assert transform(problem).model is not None
        shares = [law.violation(node, "gpu") for node in nodes], law.violation((nodes[0], nodes[1]))
        return [*shares, law.accepted(), drawn.embeddings(), [str(node) for node in problem.nodes]]

    for ordered in (False, True):
        assert said(names, ordered) == said([str(name) for name in names], ordered)
