"""Hadar, committing at arrival: the golden runs, exact best responses, weak duality, and the options of `run`."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlsched.algorithms import Decision, Run, hadar
from dlsched.algorithms.hadar.commit import best_response
from dlsched.algorithms.hadar.cover import best_schedule
from dlsched.models import InputError
from dlsched.models.hadar import Instance, Job, Schedule, check, preset, utility
from tests import paths
from tests.longer import examples
from tests.oracles import hadar as oracle
from tests.strategies.hadar import hadar_data

GOLDEN = json.loads((paths.GOLDEN / "hadar.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in GOLDEN["cases"]}
BOTH = pytest.mark.parametrize("variant", ["printed", "corrected"])


def instance(name: str) -> Instance:
    return Instance.model_validate(CASES[name]["instance"])


def payoffs(result: Run[Schedule]) -> dict[str, float]:
    return {event.job: event.payoff for event in result.log if isinstance(event, Decision)}


@pytest.mark.parametrize("name", CASES)
def test_golden_commit_runs(name: str) -> None:
    expected = CASES[name]["primal_dual"]
    result = hadar.run(instance(name), variant="printed")
    close = [pytest.approx(p, abs=1e-6) for p in (expected["payoffs"], *expected.get("other_payoffs", []))]
    assert payoffs(result) in close
    if not expected["ties"]:
        assert result.utility == expected["value"]
    if "alpha" in expected:
        assert hadar.alpha_measured(instance(name), result.log) == pytest.approx(expected["alpha"], rel=1e-6)


def test_h3_with_its_tie_broken_as_in_the_ledger() -> None:
    # J1 may run its first slot on a P100 at the same cost; then J3 comes second and the total is 13.
    h3 = instance("H3")
    occupancy = hadar.Occupancy(h3, hadar.constants(h3, "printed"))
    v100, p100, other = (occupancy.cells.index(c) for c in (("m1", "v100"), ("m1", "p100"), ("m2", "v100")))
    plan = {1: ((v100, 1), (p100, 1)), 2: ((v100, 1), (other, 1))}
    assert best_response(h3, occupancy, h3.job("J1"))[0] == pytest.approx(7 - occupancy.cost(plan), abs=1e-12)
    occupancy.commit(plan)
    found = {}
    for name in ("J3", "J2"):
        found[name], plan = best_response(h3, occupancy, h3.job(name))
        occupancy.commit(plan)
    assert found == pytest.approx({"J3": 1.944444, "J2": 3.944444}, abs=1e-6)


def test_h5_admits_the_job_worth_1_and_not_the_job_worth_1000() -> None:
    result = hadar.run(instance("H5"), variant="printed")
    assert result.utility == 1.0
    assert [event.admitted for event in result.log if isinstance(event, Decision)] == [True, False]
    assert 2 * hadar.constants(instance("H5"), "printed").alpha * result.utility < 1000


def test_h6_partial_price() -> None:
    result = hadar.run(instance("H6"), variant="printed")
    assert result.prices["m1", "p100", 1] == pytest.approx(1.357209, abs=1e-6)
    assert {result.prices["m1", "v100", t] for t in (1, 2, 3)} == {5.0}


@pytest.mark.slow
@BOTH
@given(data=hadar_data())
def test_commit_log_tells_how_the_prices_came_about(variant: str, data: dict[str, Any]) -> None:
    given_instance = Instance.model_validate(data)
    result = hadar.run(given_instance, variant=variant)
    constants = hadar.constants(given_instance, variant)
    assert check(given_instance, result.schedule) == []
    assert result.utility == utility(given_instance, result.schedule)
    used = dict.fromkeys(result.prices, 0)
    for event in result.log:
        assert isinstance(event, Decision)
        assert event.admitted == (event.payoff > 0) == bool(event.steps)
        spent = 0.0
        for step in event.steps:
            key = step.machine, step.type, step.slot
            assert step.before == constants.price(step.machine, step.type, used[key])
            used[key] += step.devices
            assert step.after == constants.price(step.machine, step.type, used[key])
            spent += step.devices * step.before
        if event.completion is not None:
            job = given_instance.job(event.job)
            gained = job.utility(event.completion - job.arrival)
            assert event.payoff == pytest.approx(gained - spent, abs=1e-9)
    in_schedule = dict.fromkeys(result.prices, 0)
    for _, t, allocation in result.schedule.items():
        for machine, devices in allocation.items():
            for r, count in devices.items():
                in_schedule[machine, r, t] += count
    assert in_schedule == used
    assert result.prices == {(m, r, t): constants.price(m, r, n) for (m, r, t), n in used.items()}


@pytest.mark.slow
@given(hadar_data())
def test_printed_payoffs_agree_with_an_independent_primal_dual(data: dict[str, Any]) -> None:
    assume(oracle.constants(data).umin > 0)
    mine = payoffs(hadar.run(Instance.model_validate(data), variant="printed"))
    runs = itertools.islice(oracle.primal_dual_runs(data), 500)
    assert any(mine == pytest.approx(run.payoffs, abs=1e-8) for run in runs)


@pytest.mark.slow
@given(hadar_data())
def test_corrected_dual_value_bounds_the_optimum(data: dict[str, Any]) -> None:
    given_instance = Instance.model_validate(data)
    result = hadar.run(given_instance)
    value, _ = oracle.optimum(data)
    assert value is not None
    dual = hadar.dual_value(given_instance, result)
    assert result.utility <= float(value) + 1e-9
    assert dual >= float(value) - 1e-9
    growth = dual - float(hadar.constants(given_instance).d0)
    alpha = max(1.0, hadar.alpha_measured(given_instance, result.log))
    assert growth <= alpha * result.utility * (1 + 1e-9) + 1e-9


def every_plan(p: Instance, occupancy: hadar.Occupancy, job: Job) -> Iterator[dict[int, tuple[tuple[int, int], ...]]]:
    """Every choice of nothing or a gang that fits, in every slot from the arrival on."""
    menus = []
    for t in range(job.arrival, p.slots + 1):
        room = (occupancy.capacity - occupancy.used[t - 1]).tolist()
        counts = itertools.product(*(range(n + 1) for n in room))
        menus.append([(t, c) for c in counts if sum(c) in (0, job.gang)])
    for plan in itertools.product(*menus):
        yield {t: tuple((i, n) for i, n in enumerate(c) if n) for t, c in plan if any(c)}


def payoff_of(p: Instance, occupancy: hadar.Occupancy, job: Job, plan: dict[int, Any]) -> float:
    rates = [job.rate_on(r) for _, r in occupancy.cells]
    done = sum(min(rates[i] for i, _ in counts) * job.gang * p.slot_seconds for counts in plan.values())
    if not plan or done < job.iterations:
        return -math.inf
    return job.utility(max(plan) - job.arrival) - occupancy.cost(plan)


@pytest.mark.slow
@given(hadar_data(jobs=1), st.integers(0, 2**32 - 1))
def test_best_response_is_the_argmax_over_all_schedules(data: dict[str, Any], seed: int) -> None:
    p = Instance.model_validate(data)
    rng = np.random.default_rng(seed)
    occupancy = hadar.Occupancy(p, hadar.constants(p))
    occupancy.prices[:] = rng.integers(0, 4, occupancy.prices.shape) * rng.choice([1.0, 0.3])
    occupancy.used[:] = rng.integers(0, occupancy.capacity + 1, occupancy.used.shape)
    job = p.jobs[0]
    payoff, plan = best_response(p, occupancy, job)
    greatest = max((payoff_of(p, occupancy, job, s) for s in every_plan(p, occupancy, job)), default=0.0)
    assert payoff == pytest.approx(max(0.0, greatest), abs=1e-9)
    if plan:
        assert payoff_of(p, occupancy, job, plan) == pytest.approx(payoff, abs=1e-9)
        occupancy.commit(plan)


@pytest.mark.slow
@examples(75, 300)
@given(drawn=st.data())
def test_covers_are_the_cheapest(drawn: st.DataObject) -> None:
    levels, slots = drawn.draw(st.integers(1, 3)), drawn.draw(st.integers(1, 5))
    number = st.fractions(Fraction(1, 7), 5, max_denominator=7)
    work = sorted(drawn.draw(st.lists(number, min_size=levels, max_size=levels, unique=True)))
    price = st.one_of(st.sampled_from([0.0, 1.0, 2.0, math.inf]), st.floats(0, 5))
    cost = np.array(drawn.draw(st.lists(st.tuples(*[price] * levels), min_size=slots, max_size=slots)))
    need = drawn.draw(st.fractions(Fraction(1, 7), 12, max_denominator=7))
    values = sorted(drawn.draw(st.lists(st.floats(0.5, 30), min_size=slots, max_size=slots)), reverse=True)
    best = best_schedule(work, cost, need, values)
    greatest = 0.0
    for choice in itertools.product(range(-1, levels), repeat=slots):
        used = [(row, level) for row, level in enumerate(choice) if level >= 0]
        if used and sum(work[level] for _, level in used) >= need:
            greatest = max(greatest, values[used[-1][0]] - sum(cost[row, level] for row, level in used))
    assert (best.payoff if best else 0.0) == pytest.approx(greatest, abs=1e-9)
    if best:
        assert sum(work[level] for _, level in best.picks) >= need
        paid = sum(cost[row, level] for row, level in best.picks)
        assert values[best.picks[-1][0]] - paid >= best.payoff - 1e-9


def test_covers_with_awkward_numbers_and_many_slots() -> None:
    # 0.1 + 0.2 style sums: 40 slots of exactly 1/40 of the work, which floats do not add up to 1.
    need = Fraction(123456789123456789, 10**17)
    picked = best_schedule([need / 40], np.full((41, 1), 0.01), need, [1.0] * 41)
    assert picked is not None
    assert len(picked.picks) == 40
    short = best_schedule([need / 40 - Fraction(1, 10**30)], np.full((40, 1), 0.01), need, [1.0] * 40)
    assert short is None


def test_a_slot_that_does_far_more_than_is_needed_leaves_the_others_their_offers() -> None:
    """Costs and what the multiplier saves are of 1e17 here and cancel each other; the second slot's offer is free."""
    work = [n * Fraction(36 * 10**18) for n in (1, 2, 3)]
    cost = np.array([[math.inf, 6e17, math.inf], [math.inf, math.inf, 2.5e-15]])
    found = best_schedule(work, cost, Fraction(3240), [6.0, 2.0])
    assert found is not None
    assert (found.payoff, found.picks) == (2 - 2.5e-15, ((1, 2),))


@pytest.mark.slow
def test_the_benchmark_family_runs_in_both_modes() -> None:
    p = preset("benchmark", 1, jobs=30, machines=9, slots=30)
    for mode, variant in itertools.product(("commit", "rounds"), ("printed", "corrected")):
        result = hadar.run(p, mode=mode, variant=variant, max_states=64)
        assert check(p, result.schedule) == []
        assert (result.utility > 0) == ((mode, variant) != ("rounds", "printed"))


@BOTH
@pytest.mark.parametrize("mode", ["commit", "rounds"])
def test_no_jobs(variant: str, mode: str) -> None:
    machines = [{"name": "m0", "devices": {"t": 1}}]
    empty = Instance.model_validate({"slots": 1, "device_types": ["t"], "machines": machines, "jobs": []})
    result = hadar.run(empty, variant=variant, mode=mode)
    assert (result.utility, result.log, result.schedule.jobs) == (0.0, (), {})
    assert result.prices == {("m0", "t", 1): 0.0}


def test_runs_do_not_depend_on_the_seed() -> None:
    assert hadar.run(instance("H6"), seed=1) == hadar.run(instance("H6"), seed=2)


@pytest.mark.parametrize(
    "options", [{"variant": "final"}, {"mode": "batch"}, {"comm_cost": -1.0}, {"comm_cost": math.nan}]
)
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"final|batch|comm_cost"):
        hadar.run(instance("H1"), **options)


def test_devices_cannot_be_given_away_twice() -> None:
    h1 = instance("H1")
    occupancy = hadar.Occupancy(h1, hadar.constants(h1))
    occupancy.commit({1: ((0, 1),)})
    with pytest.raises(InputError, match="slot 1, machine m1: 2 devices of type v100"):
        occupancy.commit({1: ((0, 1),)})


@pytest.mark.parametrize("mode", ["commit", "rounds"])
def test_devices_are_added_up_without_wrapping(mode: str) -> None:
    """1100 machines with as many devices as may be, 2**53, have more than 2**63."""
    machines = [{"name": f"m{h}", "devices": {"a": 2**53}} for h in range(1100)]
    job = {"arrival": 1, "gang": 2**53, "iterations": 2**53, "rate": {"a": 1}}
    utility = {"kind": "table", "values": [3, 2]}
    jobs = [job | {"name": name, "utility": utility} for name in "jk"]
    instance = Instance.parse({"slots": 2, "device_types": ["a"], "machines": machines, "jobs": jobs})
    assert hadar.run(instance, mode=mode).utility == 6


FACTORS = st.sampled_from([Fraction(1), Fraction(10) ** -9, Fraction(10) ** 12, Fraction("3.141592653589793"), "7/3"])


@pytest.mark.slow
@examples(15, 40)
@given(data=hadar_data(), drawn=st.data())
def test_runs_do_not_depend_on_the_units_of_work_and_time(data: dict[str, Any], drawn: st.DataObject) -> None:
    """Every job counts its work in a unit of its own; the schedules are the same."""
    seconds = Fraction(drawn.draw(FACTORS))
    other = json.loads(json.dumps(data))
    other["slot_seconds"] = str(Fraction(data["slot_seconds"]) * seconds)
    for job in other["jobs"]:
        work = Fraction(drawn.draw(FACTORS))
        job["iterations"] = str(Fraction(job["iterations"]) * work)
        job["rate"] = {r: str(Fraction(rate) * work / seconds) for r, rate in job["rate"].items()}
    for mode, variant in itertools.product(["commit", "rounds"], ["printed", "corrected"]):
        one, two = (hadar.run(Instance.parse(d), mode=mode, variant=variant) for d in (data, other))
        assert one.schedule == two.schedule
        assert one.prices == two.prices
