"""Node loads of the knapsack LP into integer placements, and rings through them."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlsched.models import InputError
from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.rounding import PlacementMix, WeightedCounts, integer_mix, placement_mix
from tests.cases.mappings import HALF, random_problem, request


def test_by_hand() -> None:
    """3/2, 1, 1/2 ring nodes of a ring of 3: half the time 2, 1, 0 and half the time 1, 1, 1."""
    loads = {"a": Fraction(3, 4), "b": HALF, "c": Fraction(1, 4)}
    assert integer_mix(loads, 3) == [
        WeightedCounts(Fraction(1, 4), 3, {"a": 2, "b": 1}),
        WeightedCounts(Fraction(1, 4), 3, {"a": 1, "b": 1, "c": 1}),
    ]
    assert integer_mix({"a": 0, "b": 1e-12}, 2) == []


@pytest.mark.parametrize("seed", range(60))
def test_mix_is_exact_and_between_floor_and_ceiling(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, chi = int(rng.integers(1, 7)), Fraction(int(rng.integers(1, 13)), 12)
    corners = [Counter(rng.choice(list("abcdef"), size=size).tolist()) for _ in range(int(rng.integers(1, 5)))]
    parts = [Fraction(int(n), 1) for n in rng.integers(1, 9, size=len(corners))]
    loads: Counter[Any] = Counter()
    for corner, part in zip(corners, parts, strict=True):
        for u, count in corner.items():
            loads[u] += chi * part / sum(parts) * count
    mixed = integer_mix(loads, size)
    back: Counter[Any] = Counter()
    for one in mixed:
        assert one.weight > 0
        assert sum(one.counts.values()) == one.size == size
        for u, count in one.counts.items():
            back[u] += one.weight * count
        for u in "abcdef":
            assert loads[u] / chi - 1 < one.counts.get(u, 0) < loads[u] / chi + 1
    assert back == loads
    assert sum(one.weight for one in mixed) == chi
    assert len(mixed) <= len(loads)


@pytest.mark.parametrize("seed", range(30))
def test_rounding_errors_make_no_crumbs(seed: int) -> None:
    """Sums of float thirds and sevenths: as many placements as in exact arithmetic, counts within the same caps."""
    rng = np.random.default_rng(seed)
    chi = float(rng.random())
    y = {"a": Fraction(7, 3), "b": Fraction(2, 3), "c": Fraction(1), "d": Fraction(9, 7), "e": Fraction(5, 7)}
    noisy = {u: float(part) * chi * (1 + 1e-12 * rng.uniform(-1, 1)) for u, part in y.items()}
    mixed = integer_mix(noisy, 6)
    assert len(mixed) == len(integer_mix(y, 6)) == 3
    assert all(one.weight > 1e-3 for one in mixed) or chi < 0.01
    caps = {"a": 3, "b": 1, "c": 1, "d": 2, "e": 1}
    assert all(count <= caps[u] for one in mixed for u, count in one.counts.items())
    for u, load in noisy.items():
        assert float(sum(one.weight * one.counts.get(u, 0) for one in mixed)) == pytest.approx(load, abs=1e-9)


def random_loads(rng: np.random.Generator, problem: RingProblem) -> dict[tuple[str, int], dict[str, float]]:
    """Loads of two ring sizes of each request, within the caps."""
    loads = {}
    for wanted in problem.requests:
        hosts = [u for u in problem.hosts(wanted) for _ in range(problem.room(wanted, u))]
        for size in wanted.sizes[-2:]:
            if len(hosts) >= size:
                picks = [Counter(rng.choice(hosts, size=size, replace=False).tolist()) for _ in range(3)]
                share = rng.dirichlet(np.ones(3)) / 2
                names = dict.fromkeys(u for pick in picks for u in pick)
                loads[wanted.name, size] = {u: float(share @ [pick[u] for pick in picks]) for u in names}
    return loads


@pytest.mark.parametrize("seed", range(20))
def test_rings_through_the_placements(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, nodes=6, requests=4)
    loads = random_loads(rng, problem)
    mix = placement_mix(problem, loads)
    for wanted in problem.requests:
        placed, rings = mix.placements[wanted.name], mix.mappings[wanted.name]
        assert len(placed) == len(rings) + len(mix.unrouted[wanted.name])
        assert sum(one.weight for one in placed) <= 1
        usable = set(problem.usable(wanted))
        for one in placed:
            assert all(count <= problem.room(wanted, u) for u, count in one.counts.items())
        for ring in rings:
            assert WeightedCounts(ring.weight, ring.size, ring.mapping.counts()) in placed
            assert set(ring.mapping.loads()) <= usable
            assert all(len(set(path)) == len(path) for path in ring.mapping.paths)
        for u in problem.nodes:
            expected = sum(parts.get(u, 0) for (name, _), parts in loads.items() if name == wanted.name)
            found = sum(one.weight * one.counts.get(u, 0) for one in placed)
            assert float(found) == pytest.approx(expected, abs=1e-9)


def _line(middle: int) -> PlacementMix:
    """Two servers behind a switch; half a ring of 2 across, half on a."""
    nodes = {"a": {"g": Fraction(2)}, "b": {"g": Fraction(1)}, "x": {}}
    widths = {("a", "x"): 1, ("x", "b"): 1, ("b", "x"): middle, ("x", "a"): 1}
    problem = RingProblem(
        nodes, tuple(((arc,), Fraction(w)) for arc, w in widths.items()), (request("r", {2: 1}, g=1),)
    )
    return placement_mix(problem, {("r", 2): {"a": Fraction(3, 2), "b": HALF}})


def test_placements_that_links_cannot_join() -> None:
    joined, cut = _line(1), _line(0)
    assert [m.mapping.nodes for m in joined.mappings["r"]] == [("a", "a"), ("a", "b")]
    assert joined.mappings["r"][1].mapping.paths == (("a", "x", "b"), ("b", "x", "a"))
    assert joined.unrouted == {"r": ()}
    assert [m.mapping.nodes for m in cut.mappings["r"]] == [("a", "a")]
    assert cut.unrouted == {"r": (WeightedCounts(HALF, 2, {"a": 1, "b": 1}),)}


def test_bad_loads() -> None:
    wanted = request("r", {1: 1, 2: 1}, g=1)
    problem = RingProblem({"a": {"g": Fraction(2)}, "x": {}}, (), (wanted,))
    for loads, message in (
        ({("r", 1): {"a": -0.5}}, "loads.a: -0.5 must not be negative"),
        ({("r", 1): {"x": 0.5}}, "node x is not valid"),
        ({("r", 3): {"a": 0.5}}, "size 3 is not valid"),
        ({("r", 1): {"a": 0.5}, ("r", 2): {"a": 1.5}}, "the weights add up to 1.25"),
    ):
        with pytest.raises(InputError, match=message):
            placement_mix(problem, loads)
    placed = RingRequest("r", {1: Fraction(1)}, wanted.demand, Fraction(1), (frozenset("a"),))
    with pytest.raises(InputError, match="ring nodes differ in where they may be"):
        placement_mix(problem.keeping([placed]), {("r", 1): {"a": 0.5}})
