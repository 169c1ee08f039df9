"""PD-ORS, the schedule of one job: dynamic programs and placements against exhaustive search, and the rounding."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import highspy
import numpy as np
import pytest

from dlsched.algorithms.pd_ors import (
    External,
    Form,
    Market,
    Occupancy,
    Offers,
    Program,
    Rounding,
    best_response,
    constants,
    external_lp,
    feasible,
    gain_for,
    least_costs,
    market,
    placements,
    printed_best_response,
    program,
    respond,
    response,
    rounded_placement,
    run,
)
from dlsched.algorithms.pd_ors.placements import greedy, lower_bound
from dlsched.algorithms.pd_ors.response import Settings
from dlsched.algorithms.run import Variant
from dlsched.models import InputError, build, solve
from dlsched.models.dmlrs import Instance, check, preset, random
from dlsched.relaxations import relax
from dlsched.rounding import success_probability
from dlsched.solvers import RawSolution, Solution, Status
from dlsched.solvers.solution import SolverError
from tests.cases.pd_ors import best_payoff, instance, job
from tests.longer import in_two, longer

E1 = Market(
    first=1,
    worker_price=np.array([[1.0, 2.0, 4.0]]),
    server_price=np.array([[3.0, 1.0, 5.0]]),
    room=np.array([[[3, 2], [3, 2], [9, 9]]]),
    worker=np.array([1, 0]),
    server=np.array([0, 1]),
    limit=8,
    most=8,
    servers=np.arange(9),
    resources=2,
)
"""Workers need r0 only and servers r1 only; 4.5 workers are wanted, and as many servers."""


def settings(external: str, gain: str | float = "1") -> Settings:
    rule = Rounding.of(gain, 0.5, 10, Variant.CORRECTED)
    return Settings(External(external), rule, Program.WORKER_SLOTS, Variant.CORRECTED)


def occupied(seed: int, **sizes: object) -> Occupancy:
    """A random instance in which some capacity is taken, at prices of few values, so that ties occur."""
    rng = np.random.default_rng(seed)
    sizes = {"machines": int(rng.integers(1, 4)), "resources": int(rng.integers(1, 3)), "capacity": 4} | sizes
    inst = random(rng, jobs=2, slots=int(rng.integers(1, 4)), **sizes)
    result = Occupancy(inst, constants(inst))
    result.prices[:] = rng.choice([0.0, 0.25, 0.5, 1, 2, 3], size=result.prices.shape) * rng.choice([0.1, 0.5, 1])
    taken = rng.integers(0, 3, size=result.used.shape) * rng.integers(2)
    result.used[:] = np.minimum(taken, result.capacity)
    return result


@pytest.mark.slow
@in_two(15, 60)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_worker_slot_program_is_exhaustive_search(asynchronous: bool, seeds: range) -> None:
    positive = 0
    for seed in seeds:
        state = occupied(seed, asynchronous=asynchronous)
        for one in state.instance.jobs:
            found = respond(state, one, settings("exact"), np.random.default_rng(0))
            expected = best_payoff(state, one)
            assert found.payoff == pytest.approx(expected, abs=1e-9)
            positive += expected > 0
    assert positive >= len(seeds) / 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(25), *range(9, 25)))
def test_the_thesis_needs_one_server_machine_also_where_external_is_faster(seed: int) -> None:
    state = occupied(seed, asynchronous=True, faster_external=True)
    for one in state.instance.jobs:
        found = respond(state, one, settings("exact"), np.random.default_rng(0))
        assert found.payoff == pytest.approx(best_payoff(state, one), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("route", ["greedy", "lp-rounding"])
@pytest.mark.parametrize("asynchronous", [False, True])
@in_two(8, 25)
def test_the_other_routes_never_exceed_exhaustive_search(route: str, asynchronous: bool, seeds: range) -> None:
    for seed in seeds:
        state = occupied(seed, asynchronous=asynchronous)
        for one in state.instance.jobs:
            found = respond(state, one, settings(route), np.random.default_rng(seed))
            assert found.payoff <= best_payoff(state, one) + 1e-9


def external_costs(view: Market) -> list[float]:
    """The least cost of n workers with their servers on the machines of one slot, by looking at all placements."""
    best = [math.inf] * (view.most + 1)
    top = [range(view.most + 1), range(int(view.servers[-1]) + 1)] * view.machines
    for counts in product(*top):
        placed = np.array(counts).reshape(-1, 2)
        n, s = placed.sum(axis=0)
        if n <= view.most and s == view.servers[n]:
            amounts = placed @ np.array([view.worker, view.server])
            if (amounts <= view.room[0]).all():
                cost = float(placed[:, 0] @ view.worker_price[0] + placed[:, 1] @ view.server_price[0])
                best[n] = min(best[n], cost)
    return best


def one_slot(seed: int, machines: int) -> Market:
    rng = np.random.default_rng(seed)
    most = int(rng.integers(1, 4 if machines < 3 else 3))
    return Market(
        first=1,
        worker_price=rng.integers(0, 4, size=(1, machines)).astype(float),
        server_price=rng.integers(0, 4, size=(1, machines)).astype(float),
        room=rng.integers(0, 6, size=(1, machines, 2)),
        worker=np.array([int(rng.integers(1, 3)), int(rng.integers(0, 3))]),
        server=rng.integers(0, 3, size=2),
        limit=most,
        most=most,
        servers=-(-np.arange(most + 1) // int(rng.integers(1, 3))),
        resources=2,
    )


@pytest.mark.parametrize("seed", longer(range(60), *range(20, 60)))
def test_external_placements_by_every_route(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    view = one_slot(seed, 1 + seed % 3)
    expected = external_costs(view)
    wanted = list(range(1, view.most + 1))
    assert placements.exact_costs(view, wanted).tolist() == pytest.approx(expected[1:])
    cheap = greedy(view)
    for n in wanted:
        assert lower_bound(view)[0, n] <= expected[n] + 1e-9 <= cheap.cost[0, n] + 2e-9
        for found in (placements.exact_placement(view, n), _only(cheap, n)):
            if math.isfinite(found.cost):
                point = np.concatenate([found.workers, found.servers])
                assert feasible(view, point, n, int(view.servers[n]), n)
    monkeypatch.setattr(placements, "MAX_OPERATIONS", -1)
    assert placements.exact_costs(view, wanted).tolist() == pytest.approx(expected[1:])
    for n in wanted:
        found = placements.exact_placement(view, n)
        assert float(found.cost) == pytest.approx(expected[n])
        if math.isfinite(found.cost):
            assert feasible(view, np.concatenate([found.workers, found.servers]), n, int(view.servers[n]), n)


@pytest.mark.parametrize("most", [20, 60])
@pytest.mark.parametrize("seed", range(4))
def test_integer_programs_agree_with_the_dynamic_program(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    view = Market(
        first=1,
        worker_price=rng.random((1, 8)),
        server_price=rng.random((1, 8)),
        room=rng.integers(20_000, 60_000, size=(1, 8, 3)),
        worker=np.array([3001, 2003, 907]),
        server=np.array([1013, 2999, 1501]),
        limit=most,
        most=most,
        servers=-(-np.arange(most + 1) // 2),
        resources=3,
    )
    wanted = [1, most // 2, most]
    expected = placements.exact_costs(view, wanted).tolist()
    monkeypatch.setattr(placements, "MAX_OPERATIONS", -1)
    assert placements.exact_costs(view, wanted).tolist() == pytest.approx(expected, rel=1e-9)


def tight_by_one(unit: int) -> Market:
    """The cheap machine has room for a worker and a server but for one part in so many."""
    return Market(
        first=1,
        worker_price=np.array([[1.0, 2.0]]),
        server_price=np.array([[1.0, 2.0]]),
        room=np.array([[[2 * unit - 1], [2 * unit]]], dtype=object if unit > 2**60 else np.int64),
        worker=np.array([unit], dtype=object if unit > 2**60 else np.int64),
        server=np.array([unit], dtype=object if unit > 2**60 else np.int64),
        limit=1,
        most=1,
        servers=np.arange(2),
        resources=1,
    )


@pytest.mark.parametrize("unit", [3, 10**13, 10**25])
@pytest.mark.parametrize("operations", [placements.MAX_OPERATIONS, -1])
def test_what_is_too_large_by_less_than_a_solver_sees_does_not_hide_what_fits(
    unit: int, operations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placements, "MAX_OPERATIONS", operations)
    assert placements.exact_costs(tight_by_one(unit), [1]).tolist() == [3.0]
    found = placements.exact_placement(tight_by_one(unit), 1)
    assert float(found.cost) == 3
    assert sorted([found.workers.tolist(), found.servers.tolist()]) == [[0, 1], [1, 0]]


def silence(monkeypatch: pytest.MonkeyPatch, *solvers: str) -> None:
    """Let solvers end without an answer."""
    if "highs" in solvers:
        monkeypatch.setattr(highspy.Highs, "run", lambda _: highspy.HighsStatus.kError)
    if "scip" in solvers:
        nothing = RawSolution(Solution.unasked(Status.NO_SOLUTION, "scip"), None)
        monkeypatch.setattr("dlsched.solvers.solve.solve_scip", lambda *_: nothing)


def test_a_solver_that_fails_does_not_make_a_placement_impossible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placements, "MAX_OPERATIONS", -1)
    silence(monkeypatch, "highs")
    assert placements.exact_costs(tight_by_one(3), [1]).tolist() == [3.0]
    silence(monkeypatch, "scip")
    with pytest.raises(SolverError, match="no solver decided the program"):
        placements.exact_costs(tight_by_one(3), [1])
    with pytest.raises(SolverError, match="no solver decided the program"):
        placements.exact_placement(tight_by_one(3), 1)


def test_a_solver_that_fails_does_not_make_a_relaxation_infeasible(monkeypatch: pytest.MonkeyPatch) -> None:
    crossed = replace(E1, worker=np.array([1, 1]), server=np.array([1, 1]), room=np.full((1, 3, 2), 4))
    expected = external_lp(crossed, 4.5, 4.5, most=8)
    assert expected.value == pytest.approx(4 + 4 + 0.5 * 4 + 0.5 * 5)
    assert external_lp(crossed, 6.5, 6.5, most=8) is None
    silence(monkeypatch, "highs")
    assert external_lp(crossed, 4.5, 4.5, most=8).value == pytest.approx(expected.value)
    silence(monkeypatch, "scip")
    with pytest.raises(SolverError, match="no solver decided the program"):
        external_lp(crossed, 4.5, 4.5, most=8)


def _only(placed: object, n: int) -> object:
    return replace(placed, cost=placed.cost[0, n], workers=placed.workers[0, n], servers=placed.servers[0, n])


def random_offers(seed: int) -> tuple[Offers, Fraction, list[float]]:
    rng = np.random.default_rng(seed)
    slots, most = int(rng.integers(1, 7)), int(rng.integers(1, 5))
    count = np.arange(1, most + 1)
    workers = np.concatenate([np.outer(count, (1, 0)), np.outer(count, (0, 1))])
    cost = rng.integers(0, 12, size=(slots, 2 * most)) / 4
    cost[rng.random(cost.shape) < 0.3] = np.inf
    rates = Fraction(int(rng.integers(2, 9)), 3), Fraction(int(rng.integers(1, 5)), 3)
    values = np.sort(rng.integers(1, 30, size=slots))[::-1].astype(float).tolist()
    return Offers(workers, rates, cost), Fraction(int(rng.integers(1, 30)), 2), values


@pytest.mark.parametrize("seed", range(80))
def test_the_label_search_takes_over_with_the_same_payoff(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    offers, work, values = random_offers(seed)
    found = best_response(offers, work, values)
    monkeypatch.setattr(program, "MAX_CELLS", 0)
    other = best_response(offers, work, values)
    assert (found is None) == (other is None)
    for best in filter(None, (found, other)):
        assert best.payoff == pytest.approx(found.payoff)
        paid = sum(offers.cost[row, k] for row, k in best.picks)
        assert best.payoff == pytest.approx(values[max(row for row, _ in best.picks)] - paid)
        done, scale = offers.work()
        assert sum(done[k] for _, k in best.picks) >= work * scale


@pytest.mark.parametrize("seed", range(40))
def test_one_forward_pass_gives_every_completion_slot(seed: int) -> None:
    offers, work, values = random_offers(seed)
    costs = least_costs(offers, work)
    for slot in range(len(values)):
        until = Offers(offers.workers, offers.rates, offers.cost[: slot + 1])
        steady = best_response(until, work, [1e6] * (slot + 1))
        assert costs[slot] == pytest.approx(1e6 - steady.payoff if steady else math.inf, abs=1e-6)


def fractional_job() -> Instance:
    """V = 3, kappa = 2/3, F = 1, T = 2: one worker does a sample and a half in a slot."""
    return instance(2, [(2,)], job("j0", "1 1 3 1 2/3 0 1 1 1", (1,), (1,), [9, 8]))


def test_the_printed_program_misses_schedules_that_split_samples() -> None:
    inst = fractional_job()
    assert run(inst).utility == 8
    assert run(inst, program="samples").utility == 0


@pytest.mark.parametrize("seed", range(30))
def test_the_printed_program_never_finds_more(seed: int) -> None:
    inst = random(np.random.default_rng(seed), jobs=1, capacity=5)
    state = Occupancy(inst, constants(inst))
    one = inst.jobs[0]
    exact = settings("exact")
    best = respond(state, one, exact, np.random.default_rng(0))
    printed = respond(state, one, replace(exact, program=Program.SAMPLES), np.random.default_rng(0))
    assert printed.payoff <= best.payoff + 1e-9
    assert printed.payoff == 0 or check(inst, run(inst, program="samples").schedule) == []


def test_a_printed_program_that_is_too_large_is_refused_before_offers_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At the paper's sizes it is; what all machines offer would take seconds first."""
    inst = preset("paper", 0, jobs=6, machines=5, slots=8)

    def asked(*args: object, **options: object) -> None:
        raise AssertionError("offers were asked for")

    monkeypatch.setattr(response, "slot_offers", asked)
    with pytest.raises(InputError, match=r"^job job2: the printed program over \d+ samples has too many steps; take"):
        run(inst, program="samples")


def test_whole_samples_are_enough_for_the_printed_program() -> None:
    workers = np.array([[1, 0], [2, 0], [0, 1], [0, 2]])
    offers = Offers(workers, (Fraction(1), Fraction(1, 2)), np.array([[1.0, 3.0, 0.5, 0.75], [1.0, 2.5, 0.5, 0.75]]))
    one = instance(2, [(9,)], job("j0", "1 1 2 2 1 0 1 1 1", (1,), (1,), [9, 8])).jobs[0]
    found = printed_best_response(offers, one, [9.0, 8.0])
    assert found.payoff == pytest.approx(best_response(offers, one.work, [9.0, 8.0]).payoff)


def test_the_relaxation_of_e1_printed_and_with_servers() -> None:
    whole = external_lp(E1, 4.5, 4.5, most=8)
    assert whole.value == pytest.approx(16.5)
    assert whole.workers == pytest.approx([3, 1.5, 0])
    assert whole.servers == pytest.approx([2, 2, 0.5])
    printed = external_lp(E1, 4.5, 0, most=8, whole_units=False)
    assert printed.value == pytest.approx(6)
    assert not printed.servers.any()
    assert placements.exact_costs(E1, [5])[0] == pytest.approx(20)


@pytest.mark.parametrize(
    ("gain", "value", "probability"),
    [
        ("packing", 0.133821, 0),
        (0.9, 0.9, Fraction(7056, 100000)),
        ("1", 1, Fraction(1, 4)),
        (1.1, 1.1, Fraction(16016, 100000)),
        ("cover", 2.375346, 0),
    ],
)
def test_a_round_of_e1_is_feasible_with_this_probability(
    gain: str | float, value: float, probability: Fraction
) -> None:
    rule = Rounding.of(gain, 0.5, 1, Variant.PRINTED)
    found = gain_for(E1, rule, Form.PRINTED, 4.5, 4.5)
    assert found == pytest.approx(value, abs=1e-6)
    whole = external_lp(E1, 4.5, 4.5, most=8)
    x = (found * np.concatenate([whole.workers, whole.servers])).tolist()
    assert success_probability(x, lambda point: feasible(E1, point, 4.5, 4.5, 8)) == probability


def test_a_machine_without_room_makes_the_printed_packing_gain_zero() -> None:
    crowded = replace(E1, room=np.array([[[3, 2], [0, 2], [9, 9]]]))
    rule = Rounding.of("packing", 0.5, 1, "printed")
    assert gain_for(crowded, rule, Form.PRINTED, 4.5, 4.5) == 0
    assert gain_for(crowded, rule, Form.CORRECTED, 4.5, 4.5) > 0


def test_the_printed_gain_counts_the_rows_of_all_resources() -> None:
    """Four resources of which the job needs two, one machine, W_2 = 10, delta = .3: r = 5, corrected 3."""
    one = instance(1, [(10, 10, 1, 1)], job("j0", "1 1 1 20 1 0 1 1 1", (1, 0, 0, 0), (0, 1, 0, 0), [9]))
    view = market(Occupancy(one, constants(one)), one.jobs[0], 1).row(0)
    rule = Rounding.of("packing", 0.3, 1, "printed")
    assert gain_for(view, rule, Form.PRINTED, 4, 4) == pytest.approx(0.354754, abs=1e-6)
    assert gain_for(view, rule, Form.CORRECTED, 4, 4) == pytest.approx(0.378525, abs=1e-6)


def test_rounding_keeps_no_surplus_and_no_round_is_feasible_without_servers() -> None:
    found, made = rounded_placement(E1, 5, Rounding.of(1.1, 0.5, 200, "corrected"), np.random.default_rng(0))
    assert (found.workers.sum(), found.servers.sum()) == (5, 5)
    assert made.rounds == 200
    assert 0 < made.feasible < 200
    assert feasible(E1, np.concatenate([found.workers, found.servers]), 5, 5, 5)
    printed, made = rounded_placement(E1, 5, Rounding.of(1.1, 0.5, 1, "printed"), np.random.default_rng(0))
    assert (printed.workers.sum(), printed.servers.sum(), made.feasible) == (5, 5, 1)
    rule = Rounding.of("1", 0.5, 5, "printed")
    literal, made = rounded_placement(E1, 5, rule, np.random.default_rng(0), literal=True)
    assert math.isinf(literal.cost)
    assert made.rounds == 0


def test_the_printed_loop_takes_the_first_feasible_point_from_round_s_on() -> None:
    sure = replace(E1, room=np.array([[[9, 0], [0, 9], [0, 0]]]))  # whole at once: every round is feasible
    for rounds in (1, 5):
        rule = Rounding.of("1", 0.5, rounds, "printed")
        found, made = rounded_placement(sure, 5, rule, np.random.default_rng(0))
        assert (made.rounds, made.feasible) == (rounds, rounds)
        assert (found.workers.tolist(), found.servers.tolist()) == ([5, 0, 0], [0, 5, 0])


def test_a_printed_loop_that_cannot_end_is_not_begun() -> None:
    full = replace(E1, room=np.array([[[5, 0], [0, 5], [0, 0]]]))  # 5 of 5 needed: G of (29) and (30) both fail
    for gain in ("packing", "cover"):
        found, made = rounded_placement(full, 5, Rounding.of(gain, 0.5, 1, "printed"), np.random.default_rng(0))
        assert math.isinf(found.cost)
        assert made.rounds == 0


def alike(machines: int, room: int) -> Market:
    """A slot of equal machines, in which a worker and a server take one unit each, and a worker needs a server."""
    ones = np.ones((1, machines))
    return replace(
        E1,
        worker_price=ones,
        server_price=ones,
        room=np.full((1, machines, 1), room),
        worker=np.array([1]),
        server=np.array([1]),
        limit=60,
        most=60,
        servers=np.minimum(np.arange(61), 1),
    )


@pytest.mark.parametrize(("workers", "gain", "ends"), [(30, 0.2, False), (20, 0.9, True), (60, 1.0, True)])
def test_a_printed_loop_that_ends_too_rarely_is_not_begun(workers: int, gain: float, ends: bool) -> None:
    """Thirty of 60 coins that are up once in ten: at most exp(-30.6), once in 10^13 times."""
    rule = Rounding.of(gain, 0.5, 1, "printed", "even")
    for room in (2, 0):
        view = alike(60, room)
        _, made = rounded_placement(view, workers, rule, np.random.default_rng(0))
        assert (made.feasible, made.rounds > 0) == ((1, True) if ends and room else (0, False))


@pytest.mark.parametrize("seed", range(40))
def test_the_even_optimum_costs_the_same_and_treats_machines_alike(seed: int) -> None:
    view = one_slot(seed, 1 + seed % 3)
    twice = view.rows([0])
    twice = replace(
        twice,
        worker_price=np.tile(view.worker_price, 2),
        server_price=np.tile(view.server_price, 2),
        room=np.tile(view.room, (1, 2, 1)),
    )
    for n in range(1, view.most + 1):
        one = external_lp(twice, n, int(view.servers[n]), most=view.limit)
        even = external_lp(twice, n, int(view.servers[n]), most=view.limit, even=True)
        assert (one is None) == (even is None)
        if even is not None:
            assert even.value == pytest.approx(one.value, abs=1e-9)
            for placed, needed in ((even.workers, n), (even.servers, int(view.servers[n]))):
                assert placed.sum() >= needed - 1e-9
                assert np.array_equal(*np.split(placed, 2))
            amounts = np.outer(even.workers, view.worker) + np.outer(even.servers, view.server)
            assert (amounts <= twice.room[0] + 1e-6).all()


def test_the_relaxation_is_below_every_placement() -> None:
    met = 0
    for seed in range(40):
        view = one_slot(seed, 1 + seed % 3)
        for n, cost in enumerate(external_costs(view)):
            relaxed = external_lp(view, n, int(view.servers[n]), most=view.limit)
            if n and math.isfinite(cost):
                met += 1
                assert relaxed.value <= cost + 1e-9
                amounts = np.outer(relaxed.workers, view.worker) + np.outer(relaxed.servers, view.server)
                assert (amounts <= view.room[0] + 1e-6).all()
    assert met >= 40


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dmlrs/external-slot", "dmlrs/external-slot-printed"])
def test_the_relaxation_is_that_of_the_formulation(name: str) -> None:
    """A worker takes two thirds of a machine's room or so: rounded down, as on paper nothing is, less would fit."""
    met = 0
    for seed in range(30):
        state = occupied(seed, capacity=5)
        one = state.instance.jobs[seed % 2]
        view = market(state, one, one.arrival).row(0)
        workload = Fraction(1 + seed % 7, 2) / one.external_time
        servers = float(workload * one.external_time / one.workers_per_server)
        found = external_lp(
            view,
            float(workload * one.external_time),
            servers if name == "dmlrs/external-slot" else 0.0,
            most=view.limit,
            whole_units=False,
        )
        places = [(h, r) for h in range(len(state.machines)) for r in range(len(state.instance.resources))]
        keys = {place: (state.machines[place[0]], state.instance.resources[place[1]]) for place in places}
        prices = {keys[h, r]: state.prices[one.arrival - 1, h, r] for h, r in places}
        left = (state.capacity - state.used[one.arrival - 1]) / np.array([float(scale) for scale in state.scale])
        residuals = {keys[h, r]: float(left[h, r]) for h, r in places}
        model = build(name, state.instance, job=one.name, workload=workload, prices=prices, residuals=residuals)
        expected = solve(relax(model).model).objective
        assert (found is None) == (expected is None)
        if found is not None:
            assert found.value == pytest.approx(expected, abs=1e-7)
            met += 1
    assert met >= 10


def test_a_market_sees_only_what_its_job_needs_and_what_is_left() -> None:
    inst = instance(2, [(4, 7)], job("j0", "1 1 2 2 1 0 1 1 1", ("1/2", 0), ("3/2", 0), [9, 8]))
    state = Occupancy(inst, constants(inst))
    state.commit(inst.jobs[0], {2: {"m0": (1, 1)}})
    view = market(state, inst.jobs[0], 2)
    assert view.room.tolist() == [[[8]], [[4]]]
    assert (view.worker.tolist(), view.server.tolist()) == ([1], [3])
    assert market(state, inst.jobs[0], 2, empty=True).room.tolist() == [[[8]], [[8]]]
    with pytest.raises(InputError, match="more than what is left"):
        state.commit(inst.jobs[0], {2: {"m0": (2, 1)}})


def test_amounts_too_large_for_a_machine_word_stay_exact() -> None:
    big = 2**70
    inst = instance(1, [(2 * big, 1)], job("j0", "1 1 1 1 1 0 1 1 1", (big, 0), (big, 0), [9]))
    assert run(inst).utility == 9
    tight = instance(1, [(2 * big - 1, 1)], job("j0", "1 1 1 1 1 0 1 1 1", (big, 0), (big, 0), [9]))
    assert run(tight).utility == 0


def crowd(seed: int) -> Market:
    """Return a market of far more machines than workers, with few different prices and rooms: many are equal."""
    rng, shape = np.random.default_rng(seed), (3, 70)
    return Market(
        first=1,
        worker_price=rng.integers(1, 4, shape) / 4,
        server_price=rng.integers(1, 4, shape) / 4,
        room=rng.integers(0, 6, (*shape, 2)),
        worker=np.array([2, 1]),
        server=np.array([1, 2]),
        limit=5,
        most=5,
        servers=np.array([0, 1, 1, 2, 2, 3]),
        resources=2,
    )


def filled(slot: Market, price: list[float], need: np.ndarray, left: np.ndarray, units: int) -> float:
    """Put units on the cheapest machines one by one, with nothing clever; change what is left."""
    paid = 0.0
    for _ in range(units):
        fitting = [h for h in range(slot.machines) if (left[h] >= need).all()]
        if not fitting:
            return math.inf
        h = min(fitting, key=price.__getitem__)
        left[h] -= need
        paid += price[h]
    return paid


@pytest.mark.parametrize("seed", range(4))
def test_of_many_machines_those_are_filled_that_one_unit_after_the_other_would_take(seed: int) -> None:
    view = crowd(seed)
    found, least = greedy(view), lower_bound(view)
    for t, n in product(range(view.slots), range(view.most + 1)):
        slot, s = view.row(t), int(view.servers[n])
        kinds = [(slot.worker_price[0].tolist(), slot.worker, n), (slot.server_price[0].tolist(), slot.server, s)]
        alone = [filled(slot, price, need, slot.room[0].copy(), units) for price, need, units in kinds]
        assert least[t, n] == pytest.approx(sum(alone), rel=1e-12)
        for order in (kinds, kinds[::-1]):
            left = slot.room[0].copy()
            cost = sum(filled(slot, price, need, left, units) for price, need, units in order)
            assert found.cost[t, n] <= cost * (1 + 1e-12)
        workers, servers = found.workers[t, n], found.servers[t, n]
        used = np.outer(workers, view.worker) + np.outer(servers, view.server)
        assert (used <= view.room[t]).all()
        assert (workers.sum(), servers.sum()) == (n, s)
        assert found.cost[t, n] == pytest.approx(workers @ view.worker_price[t] + servers @ view.server_price[t])
