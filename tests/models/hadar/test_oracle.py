"""The exhaustive Hadar reference reproduces every golden number."""

from __future__ import annotations

import copy
import json
import math
import random
from fractions import Fraction
from typing import Any

import pytest

from tests import paths
from tests.oracles import hadar
from tests.oracles.hadar_instance import problem
from tests.oracles.hadar_prices import plans

GOLDEN = json.loads((paths.GOLDEN / "hadar.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in GOLDEN["cases"]}
MOTIVATION = {case["name"]: case for case in GOLDEN["motivation"]}
EVERY = {**CASES, **MOTIVATION}


def close(number: float | Fraction) -> Any:
    return pytest.approx(float(number), rel=1e-6, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_optimum_with_admission(name: str) -> None:
    data = EVERY[name]["instance"]
    value, schedule = hadar.optimum(data)
    assert value == EVERY[name]["p2"]
    assert schedule is not None
    assert hadar.check(data, schedule) == []
    assert hadar.value(data, schedule) == value


@pytest.mark.parametrize("name", EVERY)
def test_optimum_when_every_job_must_finish(name: str) -> None:
    data = EVERY[name]["instance"]
    value, schedule = hadar.optimum(data, every_job=True)
    assert value == EVERY[name]["p1"]
    assert (schedule is None) == (value is None)
    if schedule is not None:
        assert hadar.check(data, schedule) == []
        assert hadar.value(data, schedule) == value
        assert set(hadar.completions(data, schedule)) == {job["name"] for job in data["jobs"]}


@pytest.mark.slow
@pytest.mark.parametrize("name", MOTIVATION)
def test_minimum_makespan_of_the_motivational_example(name: str) -> None:
    data, expected = MOTIVATION[name]["instance"], MOTIVATION[name]["makespan"]
    assert hadar.makespan(data, cap=expected + 2) == expected
    assert hadar.makespan(data, cap=expected - 1) is None
    shorter = {**data, "slots": expected - 1}
    assert hadar.optimum(shorter, every_job=True) == (None, None)


@pytest.mark.parametrize("name", CASES)
def test_constants(name: str) -> None:
    expected = CASES[name]["constants"]
    found = hadar.constants(CASES[name]["instance"])
    for field in ("inverse_eta", "umin", "umax", "d0"):
        assert float(getattr(found, field)) == close(expected[field]), field
    assert found.tmin == expected["tmin"]
    assert found.tmax == expected["tmax"]
    if "alpha" in expected:
        assert max(1.0, math.log(found.umax / found.umin)) == close(expected["alpha"])


@pytest.mark.parametrize("name", CASES)
def test_primal_dual(name: str) -> None:
    data, expected = CASES[name]["instance"], CASES[name]["primal_dual"]
    runs = list(hadar.primal_dual_runs(data))
    wanted = [expected["payoffs"], *expected.get("other_payoffs", [])]
    assert all(any(run.payoffs == pytest.approx(w, rel=1e-6, abs=1e-6) for w in wanted) for run in runs)
    assert all(any(run.payoffs == pytest.approx(w, rel=1e-6, abs=1e-6) for run in runs) for w in wanted)
    assert (len(wanted) > 1) == expected["ties"]
    first = hadar.primal_dual(data)
    assert first.payoffs == pytest.approx(expected["payoffs"], rel=1e-6, abs=1e-6)
    assert first.value == expected["value"] == hadar.value(data, first.schedule)
    assert hadar.check(data, first.schedule) == []
    assert set(first.admitted) == {job for job, payoff in first.payoffs.items() if payoff > 0}
    assert list(first.admitted) == expected.get("order", list(first.admitted))
    if "alpha" in expected:
        assert first.alpha == close(expected["alpha"])


@pytest.mark.parametrize("name", CASES)
def test_prices_after_the_last_admission(name: str) -> None:
    data = CASES[name]["instance"]
    found, run = hadar.constants(data), hadar.primal_dual(data)
    capacity = {(m["name"], kind): n for m in data["machines"] for kind, n in m["devices"].items()}
    partial = []
    for (slot, machine, kind), price in run.prices.items():
        held = [job["slots"].get(str(slot), {}).get(machine, {}).get(kind, 0) for job in run.schedule["jobs"].values()]
        level = sum(held)
        if level in (0, capacity[machine, kind]):
            assert price == close(found.umax if level else found.umin)
        else:
            partial.append(price)
    expected = CASES[name]["primal_dual"].get("partial_price")
    assert partial == ([] if expected is None else pytest.approx([expected] * len(partial), rel=1e-6))
    assert (expected is None) == (partial == [])


def test_dual_objective_by_hand() -> None:
    """H5: the payoff 3/4 and the price 1000 of the one device in the one slot."""
    assert hadar.primal_dual(CASES["H5"]["instance"]).dual == close(1000.75)


def test_initial_dual_printed_and_corrected() -> None:
    data = CASES["H4"]["instance"]
    best, _ = hadar.optimum(data)
    assert best is not None
    assert hadar.constants(data).d0 > best / 2
    assert hadar.constants(data, horizon_in_eta=True).d0 == Fraction(1, 4) <= best / 2


def test_arguments_of_the_utility_in_umax() -> None:
    job = {
        "name": "J",
        "arrival": 2,
        "gang": 2,
        "iterations": 4,
        "rate": {"v100": 1},
        "utility": {"kind": "table", "values": [10, 4]},
    }
    data = {**CASES["H1"]["instance"], "slots": 3, "machines": [{"name": "m1", "devices": {"v100": 2}}], "jobs": [job]}
    found = {a: hadar.constants(data, argument=a).umax for a in ("printed", "duration", "unit")}
    assert found == {"printed": 5, "duration": 2, "unit": 10}
    with pytest.raises(ValueError, match="latest"):
        hadar.constants(data, argument="latest")


def test_no_prices_where_a_job_is_worth_nothing_at_the_horizon() -> None:
    data = {**CASES["H1"]["instance"], "slots": 3}
    assert hadar.constants(data).umin == 0
    with pytest.raises(ValueError, match="lowest price is 0"):
        hadar.primal_dual(data)


def _by_columns(data: dict[str, Any], every_job: bool) -> Fraction | None:
    """P2 literally: at most one (P1: exactly one) of all schedules of each job, (2a)-(2c)."""
    p = problem(data)

    def best(index: int, free: list[list[int]]) -> Fraction | None:
        if index == len(p.jobs):
            return Fraction(0)
        job = p.jobs[index]
        totals = [None if every_job else best(index + 1, free)]
        for plan in plans(p, job):
            if all(n <= c for t, counts in plan.items() for n, c in zip(counts, free[t - 1], strict=True)):
                rest = [list(row) for row in free]
                for t, counts in plan.items():
                    rest[t - 1] = [c - n for c, n in zip(rest[t - 1], counts, strict=True)]
                tail = best(index + 1, rest)
                totals.append(None if tail is None else tail + job.at(max(plan)))
        return max((total for total in totals if total is not None), default=None)

    return best(0, [list(p.capacity) for _ in range(p.slots)])


def _tiny(seed: int) -> dict[str, Any]:
    rng = random.Random(seed)
    kinds, slots = ["v100", "p100"], rng.randint(1, 3)

    def utility() -> dict[str, Any]:
        table = sorted((rng.randint(0, 20) for _ in range(3)), reverse=True)
        return rng.choice(
            [
                {"kind": "table", "values": table},
                {"kind": "step", "value": table[0], "deadline": rng.randint(0, 2)},
                {"kind": "linear", "intercept": table[0], "slope": "7/3"},
                {"kind": "hyperbolic", "scale": table[0]},
            ]
        )

    return {
        "slots": slots,
        "slot_seconds": rng.choice([1, 0.5, "3/2"]),
        "device_types": kinds,
        "machines": [{"name": m, "devices": {k: rng.randint(0, 2) for k in kinds}} for m in ("m1", "m2")],
        "jobs": [
            {
                "name": f"J{i}",
                "arrival": rng.randint(1, slots),
                "gang": rng.randint(1, 2),
                "iterations": rng.randint(1, 9),
                "rate": {k: rng.choice([0, 1, 2, "5/3", 0.7]) for k in kinds},
                "utility": utility(),
            }
            for i in range(rng.randint(2, 3))
        ],
    }


@pytest.mark.slow
def test_forward_search_agrees_with_the_choice_among_all_schedules() -> None:
    infeasible = rejected = 0
    for seed in range(60):
        data = _tiny(seed)
        for every_job in (False, True):
            value, schedule = hadar.optimum(data, every_job=every_job)
            assert value == _by_columns(data, every_job), (seed, every_job)
            if schedule is not None:
                assert hadar.check(data, schedule) == [], (seed, every_job)
                assert hadar.value(data, schedule) == value, (seed, every_job)
                rejected += len(schedule["jobs"]) < len(data["jobs"])
            infeasible += value is None
    assert infeasible > 5
    assert rejected > 5


@pytest.mark.slow
def test_makespan_agrees_with_the_shortest_feasible_horizon() -> None:
    found = []
    for seed in range(40):
        data = _tiny(seed)
        feasible = [t for t in range(1, 5) if _finishes(data, t)]
        found.append(hadar.makespan(data, cap=4))
        assert found[-1] == (min(feasible) if feasible else None), seed
    assert len(set(found)) >= 4


def _finishes(data: dict[str, Any], slots: int) -> bool:
    return hadar.optimum({**data, "slots": slots}, every_job=True)[0] is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_taking_away_any_slot_is_refused_or_costs_utility(name: str) -> None:
    data = EVERY[name]["instance"]
    best, schedule = hadar.optimum(data)
    assert best is not None
    assert schedule is not None
    for job, entry in schedule["jobs"].items():
        for slot in entry["slots"]:
            less = copy.deepcopy(schedule)
            del less["jobs"][job]["slots"][slot]
            assert hadar.check(data, less) or hadar.value(data, less) < best
