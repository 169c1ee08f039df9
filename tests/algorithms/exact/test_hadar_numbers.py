"""The certified optimum of Hadar instances with the numbers of a user's own data: right, proved, and by both routes."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlsched.algorithms import optimum
from dlsched.algorithms.exact.hadar import solver as exact
from dlsched.models import build, solve
from dlsched.models.hadar import Instance, check
from dlsched.models.hadar.shares import shares
from tests.audit.scaling import jittered, rescaled
from tests.cases.hadar import middle, nearly
from tests.longer import examples, in_two
from tests.oracles import hadar as oracle
from tests.strategies.hadar import hadar_data


def other_numbers(data: dict[str, Any], kind: str, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    for step in kind.split(" and "):
        if step == "nearly":
            data = nearly(data, seed)
        elif step == "jittered":
            data = jittered(data, rng)
        else:
            data = rescaled(data, rng).data
    plain: dict[str, Any] = json.loads(json.dumps(data))
    return plain


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nearly", "jittered", "rescaled", "nearly and rescaled", "jittered and rescaled"])
@examples(10, 30)
@given(data=hadar_data(), seed=st.integers(0, 2**20))
def test_any_numbers_agree_with_exhaustive_search(kind: str, data: dict[str, Any], seed: int) -> None:
    data = other_numbers(data, kind, seed)
    instance = Instance.parse(data)
    expected, _ = oracle.optimum(data)
    assert expected is not None
    found = optimum(instance)
    assert found.proved
    assert "hadar/" not in str(found.evidence)
    assert found.value == pytest.approx(float(expected), rel=1e-6, abs=1e-6 * float(instance.greatest_utility))
    assert check(instance, found.schedule) == []


@pytest.mark.parametrize("formulation", ["hadar/aggregate", "hadar/hall", "hadar/p2"])
@settings(max_examples=10)
@given(data=hadar_data(), seed=st.integers(0, 2**20))
def test_formulations_agree_on_work_that_is_nearly_done(formulation: str, data: dict[str, Any], seed: int) -> None:
    data = other_numbers(data, "nearly", seed)
    expected, _ = oracle.optimum(data)
    assert solve(build(formulation, Instance.parse(data))).objective == pytest.approx(float(expected or 0), abs=2e-5)


@pytest.mark.slow
@pytest.mark.usefixtures("no_heuristics")
@in_two(6, 225, start=200)
@pytest.mark.parametrize("jitter", [0.0, 0.05])
def test_middle_sizes_end_proved_by_tree_and_replay(jitter: float, seeds: range) -> None:
    branched = 0
    for seed in seeds:
        found = optimum(Instance.parse(middle(seed, jitter=jitter)), time_limit=60)
        assert found.proved
        assert "hadar/" not in str(found.evidence)
        branched += "nodes from" in str(found.evidence)
    assert branched > 0.8 * len(seeds)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "heuristics"), [(134, True), (97, False), (99, False)])
def test_amounts_of_work_that_are_rounded_end_proved(
    seed: int, heuristics: bool, request: pytest.FixtureRequest
) -> None:
    """A bound from before a refinement is in no record: the tree was closed by it, and the replay was weaker."""
    if not heuristics:
        request.getfixturevalue("no_heuristics")
    instance = Instance.parse(middle(seed, jitter=0.05))
    expected, found = exact.solve(instance), exact.solve(instance, max_states=6, time_limit=60)
    assert found.proved
    assert found.value == pytest.approx(expected.value)
    assert "hadar/" not in str(found.evidence)


JOBS = st.tuples(
    st.integers(1, 7),
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 4), st.integers(-2, 2)), min_size=1, max_size=3),
)


@pytest.mark.slow
@settings(max_examples=80)
@given(JOBS)
def test_shares_tell_done_from_all_but_done(drawn: tuple[int, list[tuple[int, int, int]]]) -> None:
    """Rates are fractions of the work, off by parts in 10**12; the weights leave a gap that a solver sees."""
    slots, fractions = drawn
    types = [f"r{i}" for i in range(len(fractions))]
    job = {
        "name": "j",
        "arrival": 1,
        "gang": 1,
        "iterations": 12 * 10**12,
        "rate": {r: 12 * 10**12 * n // m + e for r, (m, n, e) in zip(types, fractions, strict=True)},
        "utility": {"kind": "table", "values": [1]},
    }
    machines = [{"name": "m", "devices": dict.fromkeys(types, 1)}]
    instance = Instance.parse({"slots": slots, "device_types": types, "machines": machines, "jobs": [job]})
    weights = shares(instance, instance.jobs[0])
    gap = 1.0
    for counts in np.ndindex(*[slots + 1] * len(types)):
        if sum(counts) <= slots:
            work = sum(n * Fraction(job["rate"][r]) for n, r in zip(counts, types, strict=True))
            total = sum(n * weights[r] for n, r in zip(counts, types, strict=True))
            if work >= job["iterations"]:
                assert total >= 1 - 1e-9
            else:
                gap = min(gap, 1 - total)
    assert gap > 1e-4
