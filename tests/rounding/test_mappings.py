"""Fractional embeddings of rings into mappings: the six invariants, what breaks them, and real networks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dlsched.models.ddljs.requests import RingProblem, slot_problem
from dlsched.models.ddljs.rings import RingMapping
from dlsched.relaxations.fractional_embedding import FractionalEmbedding, RingFlow
from dlsched.rounding import (
    DecompositionError,
    Invariant,
    WeightedMapping,
    decompose,
    decomposition,
    round_mappings,
)
from dlsched.traces.topology_zoo import convert
from tests.cases.mappings import (
    HALF,
    ZOO,
    check_decomposition,
    one,
    random_combination,
    random_problem,
    request,
    superpose,
    with_circulation,
)


@pytest.mark.parametrize("seed", range(40))
def test_decomposition_keeps_the_invariants(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, nodes=int(rng.integers(3, 8)), requests=4, half=bool(seed % 2))
    fractional = superpose(problem, random_combination(rng, problem))
    check_decomposition(fractional)


def test_detached_circulations_are_left_over() -> None:
    """(15) admits them; they only consume capacity."""
    wanted = request("r", {2: 3}, g=1)
    nodes = {u: {"g": Fraction(2)} for u in "abcd"}
    shares = tuple(((arc,), Fraction(2)) for arc in ("ab", "ba", "bc", "cd", "db"))
    shares = tuple(((tuple(arc),), limit) for ((arc,), limit) in shares)
    problem = RingProblem(nodes, shares, (wanted,))
    ring = RingMapping(("a", "b"), (("a", "b"), ("b", "a")))
    fractional = with_circulation(superpose(problem, {"r": [(HALF, ring)]}), "bcd", HALF)
    assert decompose(fractional) == {"r": (WeightedMapping(HALF, 2, ring),)}


def test_rationals_stay_exact() -> None:
    rng = np.random.default_rng(5)
    problem = random_problem(rng, requests=3)
    rounded = {
        name: [(Fraction(int(weight * 97), 97), mapping) for weight, mapping in pairs]
        for name, pairs in random_combination(rng, problem).items()
    }
    for name, found in decompose(superpose(problem, rounded)).items():
        wanted: Counter[Any] = Counter()
        for weight, mapping in rounded[name]:
            for node, count in mapping.counts().items():
                wanted[node] += weight * count
        for m in found:
            for node, count in m.mapping.counts().items():
                wanted[node] -= m.weight * count
        assert not any(wanted.values())


def test_one_search_serves_all_resources() -> None:
    """Half a worker on each of two nodes: searches by resource could return disjoint mappings, one search cannot."""
    nodes = {u: {"p": Fraction(1), "q": Fraction(1)} for u in ("s1", "s2")}
    problem = RingProblem(nodes, (), (request("r", {1: 1}, p=1, q=1),))
    fractional = FractionalEmbedding(problem, {("r", 1): RingFlow(1, {"s1": 0.5, "s2": 0.5})})
    assert decompose(fractional)["r"] == (WeightedMapping(HALF, 1, one("s1")), WeightedMapping(HALF, 1, one("s2")))


def test_neighbours_on_one_node_need_no_flow() -> None:
    problem = RingProblem({"a": {"g": Fraction(3)}}, (), (request("r", {3: 1}, g=1),))
    ring = RingFlow(3, {"a": 1.0}, {"a": {(1, "a"): 1.0, (2, "a"): 1.0}})
    (found,) = decompose(FractionalEmbedding(problem, {("r", 3): ring}))["r"]
    assert found == WeightedMapping(Fraction(1), 3, RingMapping(("a",) * 3, (("a",),) * 3))


@pytest.mark.parametrize("noise", [1e-12, 1e-10, 1e-8])
def test_solver_noise_is_harmless(noise: float) -> None:
    rng = np.random.default_rng(7)
    problem = random_problem(rng, requests=3)
    fractional = superpose(problem, random_combination(rng, problem))

    def shake(values: dict[Any, float]) -> dict[Any, float]:
        return {k: v + noise * rng.uniform(-1, 1) for k, v in values.items()}

    noisy = {}
    for key, ring in fractional.flows.items():
        noisy[key] = RingFlow(
            ring.size,
            shake(ring.weight),
            {w: shake(parts) for w, parts in ring.location.items()},
            {w: shake(parts) for w, parts in ring.flow.items()},
        )
    check_decomposition(FractionalEmbedding(problem, noisy))


def test_weights_that_rounding_carried_past_one_are_scaled() -> None:
    problem = RingProblem({u: {"g": Fraction(1)} for u in "ab"}, (), (request("r", {1: 1}, g=1),))
    fractional = FractionalEmbedding(problem, {("r", 1): RingFlow(1, {"a": 0.5, "b": 0.5 + 3e-7})})
    assert sum(m.weight for m in decompose(fractional)["r"]) == 1


Mutation = Callable[[RingFlow], RingFlow]


def _weights(change: Callable[[dict[str, float]], None]) -> Mutation:
    def apply(ring: RingFlow) -> RingFlow:
        weight = dict(ring.weight)
        change(weight)
        return replace(ring, weight=weight)

    return apply


def _inside(field: str, change: Callable[[dict[Any, float]], None]) -> Mutation:
    def apply(ring: RingFlow) -> RingFlow:
        inner = {w: dict(parts) for w, parts in getattr(ring, field).items()}
        change(inner["a"])
        return replace(ring, **{field: inner})

    return apply


def _detour(flows: dict[Any, float]) -> None:
    """Balanced, but over an arc that is too narrow."""
    part = flows.pop((0, ("a", "b")))
    flows.update({(0, ("a", "d")): part, (0, ("d", "b")): part})


def _triangle() -> tuple[RingProblem, RingFlow]:
    """Two mappings of a ring of three on a directed triangle a, b, c; d hosts nothing and arc a -> d is narrow."""
    nodes = {**{u: {"g": Fraction(2)} for u in "abc"}, "d": {"g": Fraction(0)}}
    widths = {("a", "b"): 3, ("b", "c"): 3, ("c", "a"): 3, ("a", "d"): 0, ("d", "b"): 3}
    shares = tuple(((arc,), Fraction(width)) for arc, width in widths.items())
    problem = RingProblem(nodes, shares, (request("r", {3: 3}, g=1),))
    around = RingMapping(("a", "b", "c"), (("a", "b"), ("b", "c"), ("c", "a")))
    twice = RingMapping(("a", "a", "b"), (("a",), ("a", "b"), ("b", "c", "a")))
    return problem, superpose(problem, {"r": [(0.5, around), (0.25, twice)]}).flows["r", 3]


@pytest.mark.parametrize(
    ("mutate", "broken"),
    [
        (_weights(lambda weight: weight.update(a=1.5)), Invariant.BALANCE),
        (_weights(lambda weight: weight.update(a=-0.75)), Invariant.BALANCE),
        (_weights(lambda weight: weight.update(b=0.2)), Invariant.BALANCE),
        (_inside("location", lambda parts: parts.update({(1, "b"): 0.4})), Invariant.BALANCE),
        (_inside("location", lambda parts: parts.pop((2, "c"))), Invariant.BALANCE),
        (_inside("location", lambda parts: parts.update({(1, "c"): parts.pop((1, "b"))})), Invariant.BALANCE),
        (_inside("location", lambda parts: parts.update({(3, "b"): 0.1})), Invariant.CLOSED),
        (_inside("flow", lambda flows: flows.pop((1, ("b", "c")))), Invariant.BALANCE),
        (_inside("flow", lambda flows: flows.update({(0, ("a", "b")): 0.6})), Invariant.BALANCE),
        (_inside("flow", lambda flows: flows.update({(0, ("b", "c")): -0.1})), Invariant.BALANCE),
        (_inside("flow", lambda flows: flows.update({(3, ("a", "b")): 0.1})), Invariant.CLOSED),
        (_inside("flow", _detour), Invariant.CLOSED),
    ],
)
def test_mutations_are_caught(mutate: Mutation, broken: Invariant) -> None:
    problem, ring = _triangle()
    assert len(decompose(FractionalEmbedding(problem, {("r", 3): ring}))["r"]) == 2
    with pytest.raises(DecompositionError) as caught:
        decompose(FractionalEmbedding(problem, {("r", 3): mutate(ring)}))
    assert caught.value.invariant is broken


def test_hosts_sizes_and_sums_are_checked() -> None:
    problem = RingProblem({"a": {"g": Fraction(1)}, "b": {}}, (), (request("r", {1: 1, 2: 1}, g=1),))
    for flows, broken in (
        ({("r", 1): RingFlow(1, {"b": 0.5})}, Invariant.CLOSED),
        ({("r", 3): RingFlow(3, {"a": 0.5})}, Invariant.CLOSED),
        ({("r", 2): RingFlow(1, {"a": 0.5})}, Invariant.CLOSED),
        ({("r", 1): RingFlow(1, {"a": 1.0 + 1e-4})}, Invariant.WEIGHTS),
    ):
        with pytest.raises(DecompositionError) as caught:
            decompose(FractionalEmbedding(problem, flows))
        assert caught.value.invariant is broken


def test_faults_of_the_search_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Balance rules out failing searches, idle steps and wrong loads; break the steps themselves to see them caught."""
    problem, ring = _triangle()
    fractional = FractionalEmbedding(problem, {("r", 3): ring})
    copy, take = decomposition.Copy, decomposition.Copy.take

    def doubled(self: Any, mapping: RingMapping) -> Any:
        return replace(take(self, mapping), weight=0.1)

    def idle(self: Any, mapping: RingMapping) -> Any:
        return decomposition.Piece(0.1, mapping)

    def lost(*_: object) -> None:
        return None

    for place, name, fault, broken in (
        (copy, "take", idle, Invariant.PROGRESS),
        (copy, "take", doubled, Invariant.LOADS),
        (decomposition, "shortest", lost, Invariant.SEARCH),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, fault)
            with pytest.raises(DecompositionError) as caught:
                decompose(fractional)
        assert caught.value.invariant is broken


@pytest.mark.shared_data
@pytest.mark.parametrize("network", ZOO.split())
def test_topology_zoo(network: str, shared: Path) -> None:
    """Rings of up to four on real networks, ring nodes of each request all over the network."""
    path = shared / "data" / "topology_zoo" / f"{network}.yml"
    instance = convert(path, servers="all", jobs=6, seed=3, workers=4, bandwidth=(10, 40))
    problem = slot_problem(instance, 1)
    rng = np.random.default_rng(len(network))
    fractional = superpose(problem, random_combination(rng, problem))
    assert fractional.flows
    weighted = check_decomposition(fractional)
    rounded = round_mappings(problem, weighted, rng, rule="fitting", rounds=5, order="random")
    assert rounded.accepted
    assert not rounded.overloads()
