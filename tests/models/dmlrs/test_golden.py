"""The DMLRS oracle has the golden numbers: optima, constants, runs of PD-ORS, and the external slot."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from typing import Any

import pytest

from tests import paths
from tests.oracles import dmlrs as oracle
from tests.oracles import dmlrs_prices as prices

GOLDEN = json.loads((paths.GOLDEN / "dmlrs.json").read_text())
CASES = {case["name"]: case for case in GOLDEN["instances"]}
EXTERNAL = GOLDEN["external"]
rational = oracle.rational


def rationals(data: dict[str, Any]) -> dict[str, Any]:
    return {key: [rational(v) for v in x] if isinstance(x, list) else rational(x) for key, x in data.items()}


@pytest.mark.parametrize("name", CASES)
def test_golden_optima(name: str) -> None:
    instance = CASES[name]["instance"]
    value, schedule = oracle.optimum(instance)
    assert value == rational(CASES[name]["optimum"])
    assert oracle.feasible(instance, schedule)
    assert oracle.value(instance, schedule) == value


@pytest.mark.parametrize("name", CASES)
def test_golden_constants(name: str) -> None:
    case = CASES[name]
    found = prices.constants(case["instance"])
    assert found.mu == rational(case["mu"])
    assert found.lowest == rational(case["lowest"])
    assert found.highest == rationals(case["highest"])
    assert found.start == rational(case["initial_dual"])
    for job, kappa in rationals(case.get("kappa", {})).items():
        assert list(found.kappa[job]) == kappa
    for job, needed in rationals(case.get("external_demand", {})).items():
        assert found.external[job] == needed


@pytest.mark.parametrize("name", CASES)
def test_golden_runs(name: str) -> None:
    case = CASES[name]
    found = prices.run(case["instance"])
    assert found.value == case["algorithm"]
    for job, payoff in case["payoffs"].items():
        assert found.payoffs[job] == pytest.approx(payoff, abs=1e-6)
    assert {job for job, payoff in found.payoffs.items() if payoff > 0} == set(case["payoffs"])
    if "final_dual" in case:
        assert found.dual == pytest.approx(case["final_dual"], abs=1e-5)
    for amount, price in case.get("prices", {}).items():
        assert price_at(case, rational(amount)) == pytest.approx(price, abs=1e-6)
    for share, price in case.get("prices_after_J1", {}).items():
        room = rational(case["instance"]["machines"][0]["capacity"]["r1"])
        assert price_at(case, rational(share) * room) == pytest.approx(price, abs=1e-6)


def price_at(case: dict[str, Any], amount: Fraction) -> float:
    """Return the price (12) of r1 on the first machine."""
    lowest, highest = (float(rational(x)) for x in (case["lowest"], case["highest"]["r1"]))
    return lowest * (highest / lowest) ** float(amount / case["instance"]["machines"][0]["capacity"]["r1"])


def test_d10_has_a_larger_linear_bound() -> None:
    """Half of each job is feasible, and the price 1/2 with no payoffs is a dual solution of the same value."""
    case = CASES["D10"]
    needed, capacity, bound = 2, 3, rational(case["lp_bound"])
    assert 3 * Fraction(1, 2) * needed <= capacity
    assert 3 * Fraction(1, 2) == bound == Fraction(1, 2) * capacity
    assert Fraction(1, 2) * needed >= 1
    assert bound > rational(case["optimum"])


def cheapest_fill(amount: Fraction, resource: str) -> tuple[dict[str, Fraction], Fraction]:
    """Fill the machines in order of price: the optimum of a linear program with one row and bounds."""
    left, cost, filled = amount, Fraction(0), {}
    for machine in sorted(EXTERNAL["prices"], key=lambda m: EXTERNAL["prices"][m][resource]):
        filled[machine] = min(left, Fraction(EXTERNAL["residual"][machine][resource]))
        left -= filled[machine]
        cost += filled[machine] * EXTERNAL["prices"][machine][resource]
    assert left == 0
    return filled, cost


@pytest.mark.slow
def test_external_slot() -> None:
    needed = rational(EXTERNAL["workers_needed"])
    workers, worker_cost = cheapest_fill(needed, "r1")
    servers, server_cost = cheapest_fill(needed, "r2")
    assert workers == rationals(EXTERNAL["linear"]["workers"]) == rationals(EXTERNAL["linear_printed"]["workers"])
    assert servers == rationals(EXTERNAL["linear"]["servers"])
    assert worker_cost + server_cost == rational(EXTERNAL["linear"]["cost"])
    assert worker_cost == EXTERNAL["linear_printed"]["cost"]
    (job,) = EXTERNAL["instance"]["jobs"]
    price = {(m, r, 1): Fraction(p) for m, found in EXTERNAL["prices"].items() for r, p in found.items()}
    room = {(m, r, 1): Fraction(c) for m, found in EXTERNAL["residual"].items() for r, c in found.items()}
    assert oracle.work(job) * prices.constants(EXTERNAL["instance"]).kappa["J1"][1] == needed
    assert oracle.cheapest(EXTERNAL["instance"], job, price, room, 1) == EXTERNAL["integer"]["cost"]


def test_external_gains() -> None:
    """The gains solve (1-G)^2 W / (3G) = ln(3r/delta) and (G-1)^2 W / (2G) = ln(3/delta)."""
    delta, gains = float(rational(EXTERNAL["delta"])), EXTERNAL["gains"]
    packing, cover = gains["packing"], gains["cover"]
    widths = float(rational(EXTERNAL["packing_width"])), float(rational(EXTERNAL["cover_width"]))
    rows = EXTERNAL["packing_rows"]
    assert (1 - packing) ** 2 * widths[0] / (3 * packing) == pytest.approx(math.log(3 * rows / delta), rel=1e-4)
    assert (cover - 1) ** 2 * widths[1] / (2 * cover) == pytest.approx(math.log(3 / delta), rel=1e-4)


@pytest.mark.parametrize("entry", EXTERNAL["feasible_probability"], ids=lambda entry: str(entry["gain"]))
def test_external_rounding(entry: dict[str, Any]) -> None:
    """All outcomes of rounding the linear solution times the gain, one by one."""
    gain = rational(EXTERNAL["gains"].get(entry["gain"], entry["gain"]))
    machines = list(EXTERNAL["residual"])
    scaled = [rational(EXTERNAL["linear"][kind][m]) * gain for kind in ("workers", "servers") for m in machines]
    limits = [EXTERNAL["residual"][m][r] for r in ("r1", "r2") for m in machines]
    probability = Fraction(0)
    for up in itertools.product((0, 1), repeat=len(scaled)):
        counts = [math.floor(x) + bit for x, bit in zip(scaled, up, strict=True)]
        chance = math.prod(
            x - math.floor(x) if bit else 1 - x + math.floor(x) for x, bit in zip(scaled, up, strict=True)
        )
        workers, servers = sum(counts[:3]), sum(counts[3:])
        enough = workers >= rational(EXTERNAL["workers_needed"]) and servers >= workers <= EXTERNAL["batch"]
        if enough and all(n <= limit for n, limit in zip(counts, limits, strict=True)):
            probability += chance
    assert probability == rational(entry["probability"])
