"""DMLRS against the oracle: the certified optimum, the formulations and the best response of one job."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

from dlsched.algorithms import optimum
from dlsched.algorithms.pd_ors import External, Occupancy, Program, Rounding, constants, respond
from dlsched.algorithms.pd_ors.response import Settings
from dlsched.algorithms.run import Variant
from dlsched.models import build, solve
from dlsched.models.dmlrs import Instance
from dlsched.models.numbers import agree
from dlsched.tolerances import TOLERANCE
from tests import paths
from tests.longer import in_two, longer
from tests.oracles import dmlrs as oracle
from tests.strategies import dmlrs as dmlrs_strategies

GOLDEN = json.loads((paths.GOLDEN / "dmlrs.json").read_text())
CASES = {case["name"]: case for case in GOLDEN["instances"]}


@pytest.mark.parametrize("name", CASES)
def test_golden_optima_are_proved(name: str) -> None:
    found = optimum(Instance.parse(CASES[name]["instance"]))
    assert found.proved
    assert agree(found.value, oracle.rational(CASES[name]["optimum"]))


@pytest.mark.parametrize("seed", longer(range(60), *range(20, 60)))
def test_the_certified_optimum_is_the_exhaustive_one(seed: int) -> None:
    data = dmlrs_strategies.draw(seed)
    best, _ = oracle.optimum(data)
    found = optimum(Instance.parse(data))
    assert found.proved
    assert agree(found.value, best)
    assert oracle.feasible(data, found.schedule.dump())
    assert agree(oracle.value(data, found.schedule.dump()), best)


@pytest.mark.parametrize("transformation", ["gdp.bigm", "gdp.hull"])
@pytest.mark.parametrize("seed", longer(range(25), *range(10, 25)))
def test_the_disjunctive_program_has_the_exhaustive_optimum(seed: int, transformation: str) -> None:
    data = dmlrs_strategies.draw(seed)
    instance = Instance.parse(data)
    model = build("dmlrs/async" if instance.asynchronous else "dmlrs/compact", instance)
    pyo.TransformationFactory(transformation).apply_to(model)
    assert solve(model).objective == pytest.approx(float(oracle.optimum(data)[0]), abs=TOLERANCE)


@pytest.mark.parametrize("seed", longer(range(40), *range(14, 40)))
def test_the_plain_milp_has_the_exhaustive_optimum(seed: int) -> None:
    data = dmlrs_strategies.draw(seed)
    for job in data["jobs"]:
        if oracle.rational(job["external_rate"]) > oracle.rational(job["internal_rate"]):
            job["internal_rate"], job["external_rate"] = job["external_rate"], job["internal_rate"]
    model = build("dmlrs/compact-milp", Instance.parse(data))
    assert solve(model).objective == pytest.approx(float(oracle.optimum(data)[0]), abs=TOLERANCE)


def market(data: Any, rng: np.random.Generator) -> tuple[Occupancy, dict[Any, Fraction], dict[Any, Fraction]]:
    """Return random prices and amounts in use, for the package and for the oracle."""
    instance = Instance.parse(data)
    state = Occupancy(instance, constants(instance))
    price, room = {}, {}
    for t, h, k in np.ndindex(state.used.shape):
        cell = state.machines[h], instance.resources[k], t + 1
        capacity, taken = int(state.capacity[h, k]), int(rng.integers(2)) * state.scale[k]
        state.used[t, h, k] = min(taken, capacity)
        state.prices[t, h, k] = float(price.setdefault(cell, Fraction(int(rng.integers(0, 9)), 8)))
        room[cell] = Fraction(capacity - min(taken, capacity), state.scale[k])
    return state, price, room


def best_payoff(data: Any, job: Any, least: Any, price: Any, room: Any) -> Fraction:
    payoffs = [Fraction(0)]
    for deadline in range(job["arrival"], data["slots"] + 1):
        cost = least(data, job, price, room, deadline)
        if cost is not None:
            payoffs.append(oracle.worth(job, deadline - job["arrival"]) - cost)
    return max(payoffs)


@pytest.mark.slow
@in_two(52, 200)
@pytest.mark.parametrize("program", ["worker-slots", "samples"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_best_response_of_one_job_is_the_exhaustive_one(asynchronous: bool, program: str, seeds: range) -> None:
    """Equal, but for two simplifications of PD-ORS, which can only find less.

    Synchronous workers count at the slower rate where external links are the faster ones, and the printed recursion of
    the thesis has no placements in which some workers are internal and others external.
    """
    rule = Rounding.of("1", 0.5, 10, Variant.CORRECTED)
    settings = Settings(External.EXACT, rule, Program(program), Variant.CORRECTED)
    least = oracle.cheapest if program == "worker-slots" else oracle.printed_dp
    equal = 0
    for seed in seeds:
        data = dmlrs_strategies.draw(seed, asynchronous=asynchronous)
        rng = np.random.default_rng(seed)
        state, price, room = market(data, rng)
        for job, plain in zip(state.instance.jobs, data["jobs"], strict=True):
            found = respond(state, job, settings, rng)
            expected = best_payoff(data, plain, least, price, room)
            assert found.payoff <= float(expected) + 1e-9
            simplified = program == "samples" if asynchronous else job.external_rate > job.internal_rate
            same = found.payoff == pytest.approx(float(expected), abs=1e-9)
            assert same or simplified
            equal += same and expected > 0
    assert equal >= 0.45 * len(seeds)
