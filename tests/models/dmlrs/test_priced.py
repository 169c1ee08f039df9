"""The programs of one job at prices, (15)-(26) and (3.22)-(3.25): exhaustive search, cases by hand, refusals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

from dlsched.algorithms.pd_ors import Occupancy, constants, external_lp, market
from dlsched.models import InputError, build, dmlrs, read, solve
from dlsched.models.dmlrs import Instance
from dlsched.relaxations import relax
from tests.cases.dmlrs import built, job
from tests.cases.pd_ors import GOLDEN
from tests.longer import in_two
from tests.oracles import dmlrs as oracle
from tests.oracles.dmlrs_rules import placements

Cells = dict[tuple[str, str, int], Fraction]


def priced(seed: int, **sizes: Any) -> tuple[Instance, Cells, Cells]:
    """A small instance, prices of few values, and what is left of the machines."""
    rng = np.random.default_rng(seed)
    sizes = {"jobs": 2, "machines": 2, "slots": 2, "capacity": 3} | sizes
    instance = dmlrs.random(rng, **sizes)
    cells = [
        (h.name, r, t) for h in instance.machines for r in instance.resources for t in range(1, instance.slots + 1)
    ]
    prices = {cell: Fraction(int(rng.integers(0, 7)), 2) for cell in cells}
    taken = {cell: int(rng.integers(0, 2)) for cell in cells}
    left = {(h, r, t): max(Fraction(0), instance.machine(h).capacity_of(r) - taken[h, r, t]) for h, r, t in cells}
    return instance, prices, left


def in_slot(cells: Cells, slot: int) -> dict[tuple[str, str], Fraction]:
    return {(h, r): amount for (h, r, t), amount in cells.items() if t == slot}


def solved(name: str, instance: Instance, **data: Any) -> tuple[Any, float | None]:
    model = build(name, instance, **data)
    pyo.TransformationFactory("gdp.bigm").apply_to(model)
    return model, solve(model, threads=1).objective


@pytest.mark.slow
@in_two(9, 30)
@pytest.mark.parametrize("faster_external", [False, True])
def test_the_best_response_and_the_cheapest_schedules_are_those_of_exhaustive_search(
    faster_external: bool, seeds: range
) -> None:
    met = 0
    for seed in seeds:
        instance, prices, left = priced(seed, faster_external=faster_external)
        data, one = instance.dump(), instance.jobs[seed % 2]
        own = next(entry for entry in data["jobs"] if entry["name"] == one.name)
        costs = {t: oracle.cheapest(data, own, prices, left, t) for t in range(one.arrival, instance.slots + 1)}
        given = {"job": one.name, "prices_by_slot": prices, "residuals_by_slot": left}
        payoffs = [one.utility(t - one.arrival) - float(cost) for t, cost in costs.items() if cost is not None]
        model, found = solved("dmlrs/response", instance, **given)
        assert found == (pytest.approx(max(payoffs), abs=1e-7) if payoffs else None)
        if found is not None:
            response = read(model, instance)
            assert response.payoff == pytest.approx(found, abs=1e-7)
            assert dmlrs.check(instance, response.schedule) == []
        for t, cost in costs.items():
            _, found = solved("dmlrs/cheapest", instance, **given, deadline=t)
            assert found == (None if cost is None else pytest.approx(float(cost), abs=1e-7))
            met += cost is not None
    assert met >= 0.4 * len(seeds)


@pytest.mark.parametrize("name", GOLDEN)
def test_the_first_payoff_is_the_golden_one(name: str) -> None:
    """lambda_1 of the ledger's instances: all prices are L. The job that cannot be done has no schedule."""
    golden = GOLDEN[name]
    first, low = golden.instance.jobs[0], float(Fraction(golden.low))
    cells = ((h.name, r, t) for h in golden.instance.machines for r in golden.instance.resources for t in range(1, 9))
    prices = {cell: low for cell in cells if cell[2] <= golden.instance.slots}
    _, found = solved("dmlrs/response", golden.instance, job=first.name, prices_by_slot=prices)
    assert found == (pytest.approx(golden.payoffs[0], abs=1e-6) if golden.payoffs[0] else None)


@pytest.mark.slow
@in_two(9, 24)
def test_the_cheapest_slot_is_that_of_exhaustive_search(seeds: range) -> None:
    met = 0
    for seed in seeds:
        instance, prices, left = priced(seed)
        data, one = instance.dump(), instance.jobs[seed % 2]
        workload = one.work / (1 + seed % 3)
        own = next(entry for entry in data["jobs"] if entry["name"] == one.name)
        own = own | {"arrival": instance.slots, "epochs": 1, "samples": str(workload)}
        expected = oracle.cheapest(data, own, prices, left, instance.slots)
        given = {"job": one.name, "workload": workload, "prices": in_slot(prices, instance.slots)}
        given["residuals"] = in_slot(left, instance.slots)
        _, found = solved("dmlrs/one-slot", instance, **given, slot=instance.slots)
        assert found == (None if expected is None else pytest.approx(float(expected), abs=1e-7))
        inside, outside = (solved(f"dmlrs/{kind}-slot", instance, **given)[1] for kind in ("internal", "external"))
        both = [cost for cost in (inside, outside) if cost is not None]
        assert found == (pytest.approx(min(both), abs=1e-7) if both else None)  # Cases 1 and 2
        assert inside == _internal(instance, one, workload, given)
        assert solved("dmlrs/internal-slot-printed", instance, job=one.name)[1] == 0
        met += expected is not None
    assert met >= len(seeds) / 3


def _internal(instance: Instance, one: Any, workload: Fraction, given: dict[str, Any]) -> Any:
    """The cheapest machine with room for ceil(v kappa_I) workers and their servers."""
    workers = math.ceil(workload * one.internal_time)
    needs = one.uses(workers, one.servers_for(workers))
    costs = [
        float(sum(given["prices"][h.name, r] * amount for r, amount in needs.items()))
        for h in instance.machines
        if workers <= one.batch and all(amount <= given["residuals"][h.name, r] for r, amount in needs.items())
    ]
    return pytest.approx(min(costs), abs=1e-7) if costs else None


def thesis(seed: int) -> tuple[Instance, Any, dict[str, Any]]:
    instance, prices, left = priced(seed, asynchronous=True, slots=1)
    one = instance.jobs[seed % 2]
    given = {"job": one.name, "prices": in_slot(prices, 1), "residuals": in_slot(left, 1)}
    return instance, one, given | {"workload": Fraction(one.epochs * one.chunks, 1 + seed % 3)}


def outcomes(instance: Instance, one: Any, given: dict[str, Any]) -> Iterator[tuple[Any, float]]:
    """Every placement of enough workers and servers that fits, by (3.22)-(3.25), with its cost."""
    done = given["workload"] * one.minibatches_per_chunk
    workers = math.ceil(done * one.external_time)
    servers = math.ceil(workers * one.external_rate / one.server_rate)
    top = [range(workers + 1), range(workers + servers + 1)] * len(instance.machines)
    for counts in itertools.product(*top):
        both = zip(counts[::2], counts[1::2], strict=True)
        placed = dict(zip((h.name for h in instance.machines), both, strict=True))
        used = {h: one.uses(*both) for h, both in placed.items()}
        fits = all(n <= given["residuals"][h, r] for h, own in used.items() for r, n in own.items())
        if fits and sum(counts[::2]) >= workers and sum(counts[1::2]) >= servers:
            yield placed, float(sum(given["prices"][h, r] * n for h, own in used.items() for r, n in own.items()))


@pytest.mark.slow
def test_the_thesis_external_problem_is_that_of_exhaustive_search() -> None:
    """Corrected, of all placements, with servers on any machines: (3.2) and (3.5) hold, and (3.4), by the checker."""
    met = broken = 0
    for seed in range(40):
        instance, one, given = thesis(seed)
        found = list(outcomes(instance, one, given))
        printed, value = solved("dmlrs/async-external-slot-printed", instance, **given)
        assert value == (pytest.approx(min(cost for _, cost in found), abs=1e-7) if found else None)
        right = [
            cost
            for placed, cost in found
            if sum(w for w, _ in placed.values()) <= one.chunks and one.server_shortage(placed) is None
        ]
        _, corrected = solved("dmlrs/async-external-slot", instance, **given)
        assert corrected == (pytest.approx(min(right), abs=1e-7) if right else None)
        met += bool(right)
        if found:
            placed = read(printed, instance).placement
            broken += sum(w for w, _ in placed.values()) > one.chunks or one.server_shortage(placed) is not None
    assert met >= 5
    assert broken >= 1


def test_a_worker_may_be_beside_the_servers() -> None:
    """The only place for a server has a GPU, too: of two workers one is there, and 2 + 1 of 3 exchange."""
    one = {
        "name": "a",
        "arrival": 1,
        "epochs": 1,
        "chunks": 2,
        "minibatches_per_chunk": 1,
        "slots_per_minibatch": "1/2",
        "gradient_size": "1/4",
        "internal_rate": 2,
        "external_rate": 1,
        "server_rate": 3,
        "worker": {"gpu": 1},
        "server": {"ssd": 1},
        "utility": {"kind": "table", "values": [1]},
    }
    instance = built([{"gpu": 1, "ssd": 1}, {"gpu": 1, "ssd": 0}], 1, one)
    model, cost = solved("dmlrs/async-external-slot", instance, workload=2)
    assert cost == 3
    assert read(model, instance).placement == {"m1": (1, 1), "m2": (1, 0)}
    assert solved("dmlrs/async", instance)[1] == 1


@pytest.mark.slow
def test_the_relaxation_of_the_thesis_external_problem_is_what_its_algorithm_solves() -> None:
    met = 0
    for seed in range(40):
        instance, one, given = thesis(seed)
        state = Occupancy(instance, constants(instance))
        for h, r in given["prices"]:
            k, j = state.machines.index(h), instance.resources.index(r)
            state.prices[0, k, j] = float(given["prices"][h, r])
            state.used[0, k, j] = state.capacity[k, j] - int(given["residuals"][h, r] * state.scale[j])
        workers = math.ceil(given["workload"] * one.minibatches_per_chunk * one.external_time)
        servers = math.ceil(workers * one.external_rate / one.server_rate)
        found = external_lp(market(state, one, 1).row(0), workers, servers, whole_units=False)
        expected = solve(relax(build("dmlrs/async-external-slot-printed", instance, **given)).model).objective
        assert (found is None) == (expected is None)
        if found is not None:
            assert found.value == pytest.approx(expected, abs=1e-7)
            met += 1
    assert met >= 10


def test_three_workers_cannot_be_two_for_each_server() -> None:
    """W = gamma S with gamma = 2: for three samples in one slot four workers and two servers, of which five fit."""
    three = job("a", {"gpu": 1}, 4, 3, workers_per_server=2, server={"gpu": 1})
    for capacity, printed in ((5, 0), (6, 9)):
        instance = built([{"gpu": capacity}], 1, three)
        assert solved("dmlrs/compact", instance)[1] == 9
        assert solved("dmlrs/compact-printed", instance)[1] == printed


@pytest.mark.slow
def test_the_printed_ratio_is_that_of_exhaustive_search() -> None:
    worth = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        instance = dmlrs.random(rng, jobs=1, machines=2, slots=2, capacity=3)
        (one,), (own,) = instance.jobs, instance.dump()["jobs"]
        room = {h.name: {r: h.capacity_of(r) for r in instance.resources} for h in instance.machines}
        offers = [Fraction(0)] + [
            done
            for placed, done in placements(own, room)
            if sum(w for w, _ in placed.values()) == one.workers_per_server * sum(s for _, s in placed.values())
        ]
        slots = range(one.arrival, instance.slots + 1)
        best = max(
            [0.0] + [one.utility(t - one.arrival) for t in slots if max(offers) * (t - one.arrival + 1) >= one.work]
        )
        assert solved("dmlrs/compact-printed", instance)[1] == pytest.approx(best)
        worth += best > 0
    assert worth >= 5


@pytest.mark.slow
@pytest.mark.parametrize("residual", [None, Fraction(3, 10), 0.3, np.float64(0.1 + 0.2)])
def test_workers_that_fill_a_machine_exactly_fit_it(residual: Any) -> None:
    """Three of 1/10 in 3/10, of which floats hold less than three times 0.1."""
    instance = built([{"gpu": "3/10"}], 1, job("a", {"gpu": "1/10"}, 3, 3))
    cells = {} if residual is None else {("m1", "gpu", 1): residual}
    _, payoff = solved("dmlrs/response", instance, residuals_by_slot=cells)
    assert payoff == pytest.approx(8.7)
    assert solved("dmlrs/cheapest", instance, residuals_by_slot=cells)[1] == pytest.approx(0.3)
    slot = {cell[:2]: amount for cell, amount in cells.items()}
    assert solved("dmlrs/one-slot", instance, residuals=slot)[1] == pytest.approx(0.3)


@pytest.mark.parametrize("workload", [Fraction(1, 10), 0.1, np.float64(0.1)])
def test_a_workload_in_floats_is_the_fraction_that_it_stands_for(workload: Any) -> None:
    """A tenth of a chunk of ten mini-batches is one, and as a float's binary value more than one."""
    thesis = {"chunks": 4, "minibatches_per_chunk": 10, "slots_per_minibatch": 1, "server_rate": 1}
    one = job("a", {"gpu": 1}, 1, 1, server={"gpu": 1}) | thesis
    for field in ("samples", "batch", "slots_per_sample", "workers_per_server"):
        del one[field]
    instance = built([{"gpu": 3}, {"gpu": 3}], 1, one)
    for name in ("dmlrs/async-external-slot", "dmlrs/async-external-slot-printed"):
        model = build(name, instance, workload=workload)
        assert (model.workers_needed.value, solve(model).objective) == (1, 2)


def test_what_is_no_job_slot_or_place_is_refused() -> None:
    instance, _, _ = priced(0)
    late = instance.slots + 1
    for name, data, message in (
        ("dmlrs/response", {"job": "x"}, "unknown job 'x'; there are "),
        ("dmlrs/response", {"prices_by_slot": {("m", "r", 1): 1}}, "is not a machine, a resource and a slot"),
        ("dmlrs/cheapest", {"deadline": late}, f"deadline: {late} is outside"),
        ("dmlrs/one-slot", {"slot": late}, f"slot: {late} is outside"),
        ("dmlrs/internal-slot", {"residuals": {(instance.machines[0].name, instance.resources[0]): -1}}, "negative"),
        ("dmlrs/external-slot", {"prices": {(instance.machines[0].name, instance.resources[0]): math.inf}}, "finite"),
        ("dmlrs/external-slot", {"workload": math.nan}, "workload: must be a finite number, not nan"),
        ("dmlrs/async-external-slot", {}, "use dmlrs/compact"),
    ):
        with pytest.raises(InputError, match=message):
            build(name, instance, **data)
