"""What of GADGET holds of exhaustive optima of single slots, and of the exact greedy."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlsched.models.ddljs import Instance, slot_problem
from dlsched.models.numbers import agree
from tests.cases.ddljs import built, job
from tests.oracles import ddljs as oracle
from tests.oracles.ddljs_lp import config_lp
from tests.oracles.ddljs_slot import options, room
from tests.strategies.ddljs import drawn, tight, with_placement


@pytest.mark.parametrize("seed", range(60))
def test_requests_of_a_slot_are_those_of_the_oracle(seed: int) -> None:
    """The rings that the problem leaves out for lack of room are those that no server could take anyway."""
    instance = drawn(seed)
    data = with_placement(seed, instance.dump()) if seed % 3 == 0 else instance.dump()
    instance, rng = Instance.parse(data), np.random.default_rng(seed)
    slot = int(rng.integers(1, instance.slots + 1))
    so_far = {found.name: int(rng.integers(0, instance.most(found) + 1)) for found in instance.jobs}
    problem, plain = slot_problem(instance, slot, so_far), oracle.slot_of(data, slot, so_far)
    assert oracle.best(problem)[0] == pytest.approx(oracle.best(plain)[0])
    rings = {ring.name: ring for ring in plain.requests}
    for request in problem.requests:
        ring = rings[request.name]
        assert all(agree(profit, ring.profit[k]) for k, profit in request.profit.items())
        fits = {u: room(plain, ring, u) for u in plain.nodes}
        assert {u: problem.room(request, u) for u in fits} == {u: min(n, max(request.sizes)) for u, n in fits.items()}
        assert sum(fits.values()) >= max(request.sizes)
        assert set(problem.hosts(request)) == {u for u, n in fits.items() if n}
        wide = {arc for arcs, limit in plain.shares for arc in arcs if limit >= request.bandwidth}
        assert set(problem.usable(request)) == wide
    left_out = set(rings) - {request.name for request in problem.requests}
    assert all(not options(plain, rings[name]) for name in left_out)


@pytest.mark.parametrize("seed", range(45))
def test_mapping_ring_nodes_one_by_one_gains_nothing(seed: int) -> None:
    """GADGET, (12)-(19): visiting a server twice never embeds what visiting it once cannot."""
    data = drawn(seed, jobs=1 + seed % 2, servers=3, workers=4, slots=1, resources=1).dump()
    slot = oracle.slot_of(data, 1)
    assert set(oracle.joint(slot)) == set(oracle.joint(slot, oracle.Rules(mappings=True)))


def test_fewer_workers_fit_where_more_do() -> None:
    """V[t] is closed under lowering counts, with all simple paths."""
    larger = 0
    for seed in range(40):
        data = drawn(seed, jobs=2, servers=3, workers=4, slots=1).dump()
        found = set(oracle.joint(oracle.slot_of(data, 1)))
        larger += len(found) > 4
        assert all(lower in found for sizes in found for lower in itertools.product(*(range(n + 1) for n in sizes)))
    assert larger >= 15


@pytest.mark.slow
def test_readings_only_add_or_take() -> None:
    """Summing on links and single cycles restrict, so do single hops; and the configuration LP is a bound."""
    differ: Counter[str] = Counter()
    for seed in range(60):
        data = tight(drawn(seed, jobs=3, servers=4, workers=4, slots=1, resources=1, utility="table"))
        slot = oracle.slot_of(data, 1)
        exact = oracle.best(slot)[0]
        literal = oracle.best(slot, oracle.Rules(literal=True))[0]
        subtours = oracle.best(slot, oracle.Rules(subtours=True))[0]
        single = oracle.best(slot, oracle.Rules(single_hop=True))[0]
        linear = config_lp(slot)[0]
        assert single <= exact <= min(literal, subtours)
        assert linear >= float(exact) - 1e-7
        differ.update(literal=literal > exact, subtours=subtours > exact, single=single < exact)
        differ.update(linear=linear > float(exact) + 1e-6)
    assert all(differ[name] >= 3 for name in ("literal", "single", "linear"))


def conflicts(seed: int) -> dict[str, Any]:
    """One server, and jobs that need one of some of its resources: what a slot takes, a later slot may miss."""
    rng = np.random.default_rng(seed)
    names = ["x", "y", "z"]
    jobs = []
    for i in range(5):
        needs = {r: 1 for r in names if rng.random() < 0.5} or {names[i % 3]: 1}
        height = int(rng.integers(9, 13))
        linear, root = {"kind": "linear", "intercept": 0, "slope": -height}, {"kind": "sqrt", "scale": height}
        shape = linear if rng.random() < 0.7 else root
        fields = {"arrival": int(rng.integers(1, 3)), "max_workers": 1, "worker": needs, "utility": shape}
        jobs.append(job(f"job{i}", **fields, budget=dict.fromkeys(needs, 1)))
    nodes = [{"name": "s", "capacity": dict.fromkeys(names, 1)}]
    return built({}, [], *jobs, slots=2, resources=names, nodes=nodes)


@pytest.mark.slow
def test_the_greedy_has_half_of_a_concave_optimum() -> None:
    """GADGET, Theorem 6 with alpha = 1 and 1/2: concave, non-decreasing utilities that are 0 at 0, worst ties."""
    beaten = 0
    for seed in range(130):
        data = drawn(seed, slots=2, utility="concave").dump() if seed < 30 else conflicts(seed)
        best = oracle.optimum(data)[0]
        worst, luckiest = oracle.greedy(data)
        assert best / 2 <= worst <= luckiest <= best
        assert oracle.greedy(data, share=Fraction(1, 2))[0] >= best / 3
        beaten += worst < best
    assert beaten >= 10
