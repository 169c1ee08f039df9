"""Rounding of weighted mappings: Algorithm 2, draws that fit, the best draw, and the program over mappings."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from dlsched.models import InputError
from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.models.ddljs.rings import RingMapping
from dlsched.rounding import (
    Acceptance,
    LinkRow,
    MappingTable,
    NodeRow,
    WeightedMapping,
    choose_mappings,
    decompose,
    mapping_constants,
    round_mappings,
)
from tests.cases.mappings import HALF, odd_cycle, one, random_combination, random_problem, request, superpose


def test_printed_algorithm_2_draws_once_less() -> None:
    problem, weighted = odd_cycle()
    never = Acceptance(least_profit=4)
    for rounds in (1, 2, 7):
        for variant, draws in (("corrected", rounds), ("printed", rounds - 1)):
            rng = np.random.default_rng(1)
            result = round_mappings(
                problem, weighted, rng, rule="accepted", rounds=rounds, acceptance=never, variant=variant
            )
            assert (result.draws, result.accepted) == (draws, False)
    # Without a draw nothing is accepted, though nothing fits.
    for acceptance in (never, Acceptance()):
        undefined = round_mappings(
            problem, weighted, 1, rule="accepted", rounds=1, acceptance=acceptance, variant="printed"
        )
        assert (undefined.chosen, undefined.profit, undefined.draws, undefined.accepted) == ({}, 0, 0, False)


def test_first_accepted_draw_is_returned() -> None:
    problem, weighted = odd_cycle()
    accept = mapping_constants(problem).acceptance(least_profit=2)
    drawn = [
        round_mappings(problem, weighted, np.random.default_rng(s), rule="accepted", rounds=9, acceptance=accept)
        for s in range(40)
    ]
    assert all(result.accepted == (result.profit >= 2) for result in drawn)
    assert {result.draws for result in drawn if result.accepted} >= {1, 2, 3}
    assert all(result.draws == 9 for result in drawn if not result.accepted)


@pytest.mark.parametrize("seed", range(15))
def test_fitting_draws_keep_all_capacities(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, requests=6, half=bool(seed % 2))
    weighted = decompose(superpose(problem, random_combination(rng, problem)))
    for order in ("given", "random"):
        result = round_mappings(problem, weighted, rng, rule="fitting", rounds=3, order=order)
        loads: Counter[Any] = Counter()
        for name, m in result.chosen.items():
            wanted = problem.request(name)
            for node, count in m.mapping.counts().items():
                for r, need in wanted.demand.items():
                    loads[node, r] += count * need
            for arc, count in m.mapping.loads().items():
                loads[arc] += count * wanted.bandwidth
            assert result.embeddings()[name].size == m.size
        for u, capacity in problem.nodes.items():
            assert all(loads[u, r] <= limit for r, limit in capacity.items())
        assert all(sum(loads[arc] for arc in arcs) <= limit for arcs, limit in problem.shares)
        assert result.accepted
        assert result.overloads() == {}


def test_fitting_keeps_what_comes_first() -> None:
    """All three want s; the first that is drawn fits, the others no longer do."""
    problem, weighted = odd_cycle()
    for seed in range(30):
        result = round_mappings(problem, weighted, np.random.default_rng(seed), rule="fitting")
        raw = round_mappings(problem, weighted, np.random.default_rng(seed))
        assert list(result.chosen) == list(raw.chosen)[:1]


def test_best_is_the_most_profitable_draw() -> None:
    problem, weighted = odd_cycle()
    rng = np.random.default_rng(3)
    single = [round_mappings(problem, weighted, rng).profit for _ in range(60)]
    rng = np.random.default_rng(3)
    best = round_mappings(problem, weighted, rng, rule="best", rounds=60)
    assert best.profit == max(single) == 3
    assert not best.accepted
    assert best.overloads() == {NodeRow("s", r): Fraction(1) for r in "pqr"}


def test_ring_workers_keep_their_places() -> None:
    """With a placement of its own the order of ring nodes is kept."""
    allowed = tuple(frozenset({u}) for u in "aba")
    wanted = RingRequest("r", {3: Fraction(1)}, {"g": Fraction(1)}, Fraction(1), allowed)
    shares = ((("a", "b"), ("b", "a")), Fraction(2))
    problem = RingProblem({u: {"g": Fraction(2)} for u in "ab"}, (shares,), (wanted,))
    ring = RingMapping(("a", "b", "a"), (("a", "b"), ("b", "a"), ("a",)))
    weighted = decompose(superpose(problem, {"r": [(1.0, ring)]}))
    result = round_mappings(problem, weighted, np.random.default_rng(0))
    assert result.embeddings()["r"].order == ("a", "b", "a")
    assert result.loads() == {NodeRow("a", "g"): 2, NodeRow("b", "g"): 1, LinkRow((("a", "b"), ("b", "a"))): 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounds": 0}, "rounds: 0 must be at least 1"),
        ({"variant": "literal"}, "neither 'corrected' nor 'printed'"),
        ({"rule": "luckiest"}, "rule: 'luckiest' is not one of once, accepted, fitting, best"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    problem, weighted = odd_cycle()
    with pytest.raises(InputError, match=message):
        round_mappings(problem, weighted, np.random.default_rng(0), **options)


def test_bad_weights() -> None:
    problem, weighted = odd_cycle()
    problem = problem.keeping([*problem.requests[:1], request("2", {1: 1, 2: 1}), *problem.requests[2:]])
    pair = RingMapping(("s", "d1"), (("s", "d1"), ("d1", "s")))
    for bad, message in (
        ({"4": weighted["1"]}, "unknown request '4'; there are "),
        ({"1": weighted["1"] * 3}, "add up to at most 1"),
        ({"1": (WeightedMapping(HALF, 2, one("s")),)}, "a mapping of 1 nodes as ring of 2"),
        ({"1": (WeightedMapping(HALF, 2, RingMapping(("s", "s"), (("s",), ("s",)))),)}, "a mapping of 2 nodes"),
        ({"1": (WeightedMapping(HALF, 1, one("nowhere")),)}, "there is no node 'nowhere'"),
        ({"2": (WeightedMapping(HALF, 2, pair),)}, "there is no arc s -> d1"),
    ):
        with pytest.raises(InputError, match=message):
            MappingTable.of(problem, bad)


@pytest.mark.parametrize("seed", range(12))
def test_program_against_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, requests=4, half=bool(seed % 2))
    weighted = decompose(superpose(problem, random_combination(rng, problem, most=4)))
    table = MappingTable.of(problem, weighted)
    best = max(
        sum((option.profit for option in chosen), Fraction(0))
        for chosen in product(*table.options.values())
        if Acceptance().accepts(table, chosen)
    )
    for presolve in (True, False):
        choice = choose_mappings(problem, weighted, presolve=presolve)
        assert choice.proved
        assert choice.chosen.accepted
        assert choice.chosen.profit == best == pytest.approx(choice.bound)
    fitting = round_mappings(problem, weighted, rng, rule="fitting", rounds=10)
    assert fitting.profit <= best


def test_program_without_mappings() -> None:
    problem, _ = odd_cycle()
    choice = choose_mappings(problem, {})
    assert choice.chosen.chosen == {}
    assert choice.bound == 0
