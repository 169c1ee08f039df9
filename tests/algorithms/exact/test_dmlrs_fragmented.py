"""The exact method for fragmented clusters against exhaustive search, against the exact MILP, and its parts."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Literal

import numpy as np
import pytest

from dlsched.algorithms import pd_ors
from dlsched.algorithms.baselines.dmlrs import dorm, drf
from dlsched.algorithms.exact.anytime import News
from dlsched.algorithms.exact.dmlrs import configurations, fragmented
from dlsched.algorithms.exact.dmlrs.beam import Beam
from dlsched.algorithms.exact.dmlrs.bin_completion import Packer
from dlsched.algorithms.exact.dmlrs.by_pattern import ByPattern
from dlsched.algorithms.exact.dmlrs.configurations import ByConfiguration, enumerate_configurations, most_configurations
from dlsched.algorithms.exact.dmlrs.covering import Covering
from dlsched.algorithms.exact.dmlrs.decomposition import Part
from dlsched.algorithms.exact.dmlrs.fragmented import solve_fragmented
from dlsched.algorithms.exact.dmlrs.insertion import Insertion, Placed
from dlsched.algorithms.exact.dmlrs.packing import Items, Machines
from dlsched.algorithms.exact.dmlrs.patterns import kinds_of, patterns_of
from dlsched.algorithms.exact.dmlrs.repacking import Repacked
from dlsched.algorithms.exact.dmlrs.schedules import JobSchedule, Schedules
from dlsched.algorithms.exact.dmlrs.slots import Alternative, Slots, TooLarge, amounts_left
from dlsched.algorithms.exact.dmlrs.vectors import Vectors
from dlsched.halt import until
from dlsched.models import build, solve
from dlsched.models.dmlrs import Instance, Schedule, check, exact_utility, preset
from dlsched.models.numbers import agree
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import TOLERANCE
from tests.elsewhere import Elsewhere
from tests.longer import in_two, longer
from tests.oracles import dmlrs as oracle
from tests.strategies import dmlrs as dmlrs_strategies


def slower_external(seed: int, **sizes: int) -> dict:
    """Return the instance of a seed as plain JSON, its internal rates not below its external ones."""
    data = dmlrs_strategies.draw(seed, asynchronous=False, **sizes)
    for job in data["jobs"]:
        rates = sorted((job["internal_rate"], job["external_rate"]), key=oracle.rational)
        job["external_rate"], job["internal_rate"] = rates
    return data


@cache
def fragmented_cluster(seed: int) -> tuple[Instance, Schedule, float]:
    """Return a small one, its optimum, and a bound on it."""
    instance = preset("benchmark", seed, jobs=4, machines=3, slots=5, multiple=3, load=0.95)
    best, bound, _ = solve_fragmented(instance)
    return instance, best, bound


def small(seed: int) -> Instance:
    return preset("random", seed, jobs=4, machines=2, slots=4, capacity=4, identical=bool(seed % 2))


@pytest.mark.parametrize("seed", range(40))
def test_the_optimum_is_the_exhaustive_one(seed: int) -> None:
    data = slower_external(seed)
    best, _ = oracle.optimum(data)
    schedule, bound, _ = solve_fragmented(Instance.parse(data))
    assert oracle.feasible(data, schedule.dump())
    assert agree(oracle.value(data, schedule.dump()), best)
    assert float(best) <= bound + TOLERANCE
    assert agree(bound, best)


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(15), *range(4, 15)))
def test_the_optimum_is_that_of_the_exact_program(seed: int) -> None:
    instance = small(seed)
    best = solve(build("dmlrs/compact-milp", instance), presolve=False).objective
    schedule, bound, _ = solve_fragmented(instance)
    assert check(instance, schedule) == []
    assert float(exact_utility(instance, schedule)) == pytest.approx(best, abs=TOLERANCE)
    assert bound == pytest.approx(best, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "searches"), [(1, True), (10**6, False)])
def test_where_all_is_listed_insertion_comes_in_the_tree_or_not_at_all(
    first: int, searches: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After so many nodes: the optimum is the same."""
    instance = preset("benchmark", 1, jobs=6, machines=3, slots=6, multiple=3, load=0.95)
    rounds: list[int | None] = []
    search = Insertion.search

    def counted(self: Insertion, cost: Floats, shares: Floats, most: int | None, ended: Callable[[], bool]) -> None:
        rounds.append(most)
        search(self, cost, shares, most, ended)

    best, bound, evidence = solve_fragmented(instance)
    assert any("configurations" in line for line in evidence)
    monkeypatch.setattr(fragmented, "_NODES_FIRST", first)
    monkeypatch.setattr(Insertion, "search", counted)
    found, again, _ = solve_fragmented(instance)
    assert bool(rounds) == searches
    assert agree(exact_utility(instance, found), exact_utility(instance, best))
    assert agree(again, bound)


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_the_bound_is_not_below_the_optimum_at_any_prices(seed: int) -> None:
    data = slower_external(seed)
    best = float(oracle.optimum(data)[0])
    slots = Slots.of(Instance.parse(data))
    if not slots.most_levels:
        assert best == 0
        return
    schedules = Schedules(slots)
    rows = ByConfiguration(enumerate_configurations(slots), schedules)
    part = rows.list_offers(schedules.limits())
    rng = np.random.default_rng(seed)
    for _ in range(5):
        prices = np.round(rng.uniform(0, 5, rows.rows)) * (rng.random(rows.rows) < 0.5)
        bound, kept = rows.fixed(part, prices, best - 1e-3)
        assert bound >= best - 1e-9
        assert not kept.empty


@pytest.mark.parametrize("seed", range(12))
def test_configurations_are_the_vectors_that_fit(seed: int) -> None:
    slots = Slots.of(small(seed))
    packer = Packer(Items(slots))
    listed = {tuple(row) for row in enumerate_configurations(slots).levels.tolist()}
    vectors = itertools.product(*(range(job.levels + 1) for job in slots.jobs))
    assert listed == {vector for vector in vectors if packer.fit(vector) is not None}


def fragmented_slots(seed: int) -> Slots:
    return Slots.of(preset("benchmark", seed, jobs=4, machines=2 + seed % 2, slots=5, multiple=3, load=0.95))


@pytest.mark.parametrize("shuffles", [0, 20])
@pytest.mark.parametrize("seed", range(4))
def test_configurations_of_a_fragmented_cluster_are_the_vectors_that_fit(
    seed: int, shuffles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By prices, in other orders, or searched."""
    monkeypatch.setattr(configurations, "_SHUFFLES", shuffles)
    monkeypatch.setattr(configurations, "_PRICES", 3)
    slots = fragmented_slots(seed)
    packer = Packer(Items(slots))
    listed = enumerate_configurations(slots).levels.tolist()
    vectors = itertools.product(*(range(job.levels + 1) for job in slots.jobs))
    assert sorted(map(tuple, listed)) == [vector for vector in vectors if packer.fit(vector) is not None]


@pytest.mark.parametrize("slots", [*map(fragmented_slots, range(4)), *(Slots.of(small(seed)) for seed in range(6))])
def test_prices_refute_no_vector_that_fits(slots: Slots) -> None:
    packer, covering = Packer(Items(slots)), Covering(slots)
    vectors = np.array(list(itertools.product(*(range(job.levels + 1) for job in slots.jobs))))
    fits = np.array([packer.fit(vector) is not None for vector in vectors.tolist()])
    for vector in vectors[:: 1 + len(vectors) // 300].tolist():
        prices = covering.refute(vector)
        if prices is not None:
            assert prices.refute(np.array([vector])).all()
            assert not (prices.refute(vectors) & fits).any()


@pytest.mark.parametrize("machines", [1, 2, 5])
def test_prices_see_that_a_machine_holds_one_of_what_is_more_than_half_of_it(machines: int) -> None:
    """The sum would let five thirds of them be there."""
    worker, free = {"cpu": "3/5"}, {"cpu": 0}
    job = {"arrival": 1, "worker": worker, "server": free, "utility": {"kind": "table", "values": [1]}, "batch": 1}
    job |= {"epochs": 1, "samples": 1, "slots_per_sample": 1, "gradient_size": 0, "workers_per_server": 1}
    job |= {"internal_rate": 1, "external_rate": 1}
    slots = Slots.of(
        Instance.parse(
            {
                "slots": 1,
                "resources": ["cpu"],
                "machines": [{"name": f"m{i}", "capacity": {"cpu": 1}} for i in range(machines)],
                "jobs": [job | {"name": f"j{i}"} for i in range(machines + 1)],
            }
        )
    )
    covering = Covering(slots)
    assert covering.refute([1] * machines + [0]) is None
    prices = covering.refute([1] * (machines + 1))
    assert prices is not None
    one_too_many = np.ones((1, machines + 1), dtype=np.int64)
    assert prices.refute(one_too_many).all()
    one_too_many[0, 0] = 0
    assert not prices.refute(one_too_many).any()


@pytest.mark.slow
def test_a_list_that_takes_too_long_gives_way_to_contents_of_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = preset("benchmark", 2, jobs=3, machines=3, slots=4, multiple=3, load=0.95)
    best, _, evidence = solve_fragmented(instance)
    assert "slot configurations" in str(evidence[0])
    monkeypatch.setattr(fragmented, "_LISTING_SHARE", 0.0)
    with until(seconds=60):
        again, bound, evidence = solve_fragmented(instance)
    assert [str(line) for line in evidence[:2]] == ["slot configurations take too long to list", str(evidence[1])]
    assert "contents of single machines" in str(evidence[1])
    assert agree(exact_utility(instance, again), exact_utility(instance, best))
    assert agree(bound, exact_utility(instance, best))


@pytest.mark.slow
def test_a_fragmented_cluster_is_solved() -> None:
    instance = preset("benchmark", 0, jobs=6, machines=3, slots=6, multiple=3, load=0.95)
    schedule, bound, evidence = solve_fragmented(instance)
    assert check(instance, schedule) == []
    assert agree(exact_utility(instance, schedule), bound)
    assert any("branch and price" in line for line in evidence)


@pytest.mark.slow
def test_a_known_incumbent_is_never_lost() -> None:
    instance = preset("benchmark", 1, jobs=6, machines=3, slots=6, multiple=3, load=0.95)
    best, bound, _ = solve_fragmented(instance)
    with until(seconds=0.0):
        kept, again, _ = solve_fragmented(instance, incumbent=best, upper=bound)
    assert exact_utility(instance, kept) == exact_utility(instance, best)
    assert again == bound


def test_what_is_written_as_a_schedule_is_read_again() -> None:
    schedules = Schedules(Slots.of(preset("benchmark", 1, jobs=8, machines=4, slots=8, multiple=3)))
    machines = Machines(schedules)
    insertion = Insertion(schedules, machines)
    insertion.construct(*insertion.prices_of_load(), 2)
    plan = [placed.schedule for placed in insertion.best.values()]
    written = machines.schedule({i: placed.things for i, placed in insertion.best.items()})
    assert schedules.read(written) == sorted(plan, key=lambda schedule: schedule.job)
    assert schedules.read(Schedule.of({})) == []


@pytest.mark.slow
@pytest.mark.parametrize("only", [None, "plans"])
@pytest.mark.parametrize("seed", longer(range(3), 1, 2))
def test_the_search_goes_on_from_the_plans_of_others(
    seed: int, only: Literal["plans"] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The optimum is the same with dives, with plans of others, and by configurations."""
    instance, best, bound = fragmented_cluster(seed)
    monkeypatch.setattr(fragmented, "MOST_ESTIMATED", 0)
    monkeypatch.setattr(fragmented, "_FIRST_ROUNDS", 10)
    monkeypatch.setattr(fragmented, "_MORE_ROUNDS", 10)
    with until(seconds=2 if only else None):
        found, again, _ = solve_fragmented(instance, others=Elsewhere(News(best, float("inf"))), only=only)
    assert agree(exact_utility(instance, found), exact_utility(instance, best))
    assert again >= bound - TOLERANCE
    assert only or agree(again, bound)


def test_plans_are_looked_for_where_machines_hold_too_many_contents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beams need the decomposition, which there is none of; the search around plans does not."""

    def refused(schedules: Schedules) -> None:
        raise TooLarge("over 3 contents of a machine")

    instance, best, _ = fragmented_cluster(0)
    monkeypatch.setattr(fragmented, "MOST_ESTIMATED", 0)
    monkeypatch.setattr(fragmented, "ByPattern", refused)
    with until(seconds=1):
        found, _, evidence = solve_fragmented(instance, only="plans")
    assert evidence[0] == "over 3 contents of a machine"
    assert 0.9 * exact_utility(instance, best) < exact_utility(instance, found) <= exact_utility(instance, best)


@pytest.mark.slow
@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("seed", longer(range(3), *range(1, 3)))
def test_a_bound_alone_is_confirmed_by_no_plan_of_its_own(
    seed: int, listed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the plan is the best the bound is its value; where it is none, the bound holds."""
    instance, best, bound = fragmented_cluster(seed)
    monkeypatch.setattr(fragmented, "MOST_ESTIMATED", 3e6 if listed else 0)
    monkeypatch.setattr(Insertion, "offer", lambda _: pytest.fail("a plan is looked for"))
    kept, again, _ = solve_fragmented(instance, incumbent=best, only="bound")
    assert kept == best
    assert agree(again, bound)
    _, above, _ = solve_fragmented(instance, only="bound")
    assert above >= exact_utility(instance, best) - TOLERANCE


def test_annealing_keeps_the_best_plan() -> None:
    instance, schedules = of_all_kinds(1, asynchronous=False)
    machines = Machines(schedules)
    insertion, (cost, shares) = constructed(schedules, machines, 1)
    before = insertion.value
    insertion.anneal(cost, shares, iter(np.linspace(0.0, 1.0, 80)).__next__)
    schedule = machines.schedule({i: placed.things for i, placed in insertion.best.items()})
    assert check(instance, schedule) == []
    assert insertion.value >= max(before, insertion.worth())


def test_asynchronous_jobs_are_refused() -> None:
    with pytest.raises(ValueError, match="synchronous"):
        solve_fragmented(preset("random", 0, asynchronous=True))


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(30), 6, *range(12, 30)))
def test_the_optimum_by_single_machines_is_the_exhaustive_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fragmented, "MOST_ESTIMATED", 0)
    data = slower_external(seed)
    best, _ = oracle.optimum(data)
    schedule, bound, _ = solve_fragmented(Instance.parse(data))
    assert oracle.feasible(data, schedule.dump())
    assert agree(oracle.value(data, schedule.dump()), best)
    assert agree(bound, best)


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_the_bound_of_single_machines_holds_at_any_prices(seed: int) -> None:
    data = slower_external(seed)
    slots = Slots.of(Instance.parse(data))
    if not slots.most_levels:
        return
    best = float(oracle.optimum(data)[0])
    rows = ByPattern(Schedules(slots))
    part = rows.list_offers(rows.schedules.limits())
    rng = np.random.default_rng(seed)
    for _ in range(5):
        prices = np.round(rng.uniform(0, 5, rows.rows)) * (rng.random(rows.rows) < 0.5)
        bound, kept = rows.fixed(part, prices, best - 1e-3)
        assert bound >= best - 1e-9
        assert not kept.empty
    whole = ByConfiguration(enumerate_configurations(slots), rows.schedules)
    assert rows.bound(part).bound >= whole.bound(whole.list_offers(part.limits)).bound - 1e-4


def of_all_kinds(seed: int, asynchronous: bool) -> tuple[Instance, Schedules]:
    instance = preset("random", seed, jobs=6, machines=3, slots=5, capacity=5, asynchronous=asynchronous)
    return instance, Schedules(Slots.safe(instance))


def constructed(schedules: Schedules, machines: Machines, seed: int) -> tuple[Insertion, tuple[Floats, Floats]]:
    """Return what inserts jobs, after a first plan, and the prices of the load."""
    insertion = Insertion(schedules, machines, seed)
    prices = insertion.prices_of_load()
    insertion.construct(*prices, 4)
    return insertion, prices


@pytest.mark.slow
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("seed", longer(range(10), *range(4, 10)))
def test_inserted_plans_are_feasible_and_worth_what_they_say(seed: int, asynchronous: bool) -> None:
    """Of all kinds of jobs, also those that exchange data faster between machines."""
    instance, schedules = of_all_kinds(seed, asynchronous)
    machines = Machines(schedules)
    insertion, (cost, shares) = constructed(schedules, machines, seed)
    before = insertion.value
    insertion.search(cost, shares, 60, lambda: False)
    schedule = machines.schedule({i: placed.things for i, placed in insertion.best.items()})
    assert check(instance, schedule) == []
    assert insertion.value >= before
    assert float(exact_utility(instance, schedule)) >= insertion.value - TOLERANCE


@pytest.mark.parametrize("seed", longer(range(12), *range(5, 12)))
def test_plans_with_machines_packed_anew_are_feasible_and_no_worse(seed: int) -> None:
    """They go on from a plan on the machines; what is said to fit is what the exact packing places."""
    instance, schedules = of_all_kinds(seed, asynchronous=False)
    machines = Machines(schedules)
    first, (cost, shares) = constructed(schedules, machines, seed)
    plan = [placed.schedule for placed in first.best.values()]
    given = machines.schedule({i: placed.things for i, placed in first.best.items()})
    room = Repacked(schedules)
    insertion = Insertion(schedules, room, seed)
    insertion.restore({i: Placed(packed, packed) for i, packed in room.adopt(plan, given).items()})
    insertion.offer()
    assert insertion.value == pytest.approx(first.value)
    insertion.search(cost, shares, 60, lambda: False)
    schedule = room.schedule({i: placed.things for i, placed in insertion.best.items()})
    assert check(instance, schedule) == []
    assert insertion.value >= first.value
    assert float(exact_utility(instance, schedule)) >= insertion.value - TOLERANCE
    packer = Packer(Items(schedules.slots))
    levels = schedules.levels_of([placed.schedule for placed in insertion.best.values()])
    for i in range(len(schedules.slots.jobs)):
        for placed in insertion.best.values():
            room.leave(placed.things)
        for placed in insertion.best.values():
            if placed.schedule.job != i:
                room.take(placed.things)
        fits, _ = room.fits(i)
        for t, level in zip(*np.nonzero(fits), strict=True):
            beside = levels[t].copy()
            beside[i] = level
            assert packer.place(beside) is not None


@pytest.mark.slow
@in_two(3, 12)
def test_beams_find_plans_that_fit_and_none_above_the_optimum(seeds: range) -> None:
    optimal = 0
    for seed in seeds:
        instance = small(seed)
        schedules = Schedules(Slots.of(instance))
        best = solve_fragmented(instance)[1]
        rows, room = ByPattern(schedules), Repacked(schedules)
        part = rows.list_offers(schedules.limits())
        beam = Beam(rows, part, room, seed)
        prices = rows.bound(part).duals
        assert beam.run(prices, best + 1e-3) is None
        values = []
        hasty = Beam(rows, part, room, seed)
        # From the first slot, from the middle, and from the first slot with time for one way a slot.
        for levels in (beam.run(prices, -1.0), beam.run(prices, -1.0), hasty.run(prices, -1.0, 0.0)):
            assert levels is not None
            packer = Packer(Items(schedules.slots))
            assert all(packer.place(row) is not None for row in levels)
            plan = schedules.read(room.on_machines(levels))
            named = {schedules.slots.jobs[each.job].name for each in plan}
            on_machines = room.on_machines(schedules.levels_of(plan))
            assert {name for name, job in on_machines.jobs.items() if job.slots} == named
            assert check(instance, on_machines) == []
            values.append(float(exact_utility(instance, on_machines)))
            assert values[-1] == pytest.approx(sum(schedules.utility[each.job, each.end] for each in plan))
        optimal += max(values) > best - 1e-3
        assert max(values) <= best + TOLERANCE
    assert optimal >= 2 * len(seeds) / 3


@pytest.mark.parametrize("seed", longer(range(6), *range(3, 6)))
def test_vectors_of_levels_fit_and_annealing_gains(seed: int) -> None:
    schedules = Schedules(Slots.of(small(seed)))
    rng, packer = np.random.default_rng(seed), Packer(Items(schedules.slots))
    levels = np.array([job.levels for job in schedules.jobs])
    open_levels = np.arange(schedules.slots.most_levels + 1) <= levels[:, None]
    reached = -np.sort(-rng.random(open_levels[:, 1:].shape), axis=1) * open_levels[:, 1:]
    vectors = Vectors(Repacked(schedules), seed)
    likely = vectors.likely(reached, 8)
    assert likely.shape == (8, len(levels))
    assert all(packer.place(row) is not None for row in likely)
    open_levels[:, 1:] &= rng.random(open_levels[:, 1:].shape) < 0.8
    gains = np.where(open_levels, rng.normal(size=open_levels.shape), -np.inf)
    better, jobs = vectors.improved(likely, gains), np.arange(len(levels))
    assert all(packer.place(row) is not None for row in better)
    worth = gains[jobs, better].sum(axis=1)
    assert len(worth)
    assert np.isfinite(worth).all()
    assert (np.diff(worth) <= 0).all()
    assert worth[0] >= gains[jobs, likely].sum(axis=1).max()
    assert (vectors.improved(likely, np.where(np.arange(gains.shape[1]) == 0, gains, -np.inf)) == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(6), *range(2, 6)))
def test_there_are_vectors_whenever_the_lowest_open_levels_fit(seed: int) -> None:
    schedules = Schedules(Slots.of(small(seed)))
    rng, room = np.random.default_rng(seed), Repacked(schedules)
    levels = np.array([job.levels for job in schedules.jobs])
    numbers, found = np.arange(schedules.slots.most_levels + 1), 0
    for _ in range(20):
        least = rng.integers(0, levels + 1) * (rng.random(len(levels)) < 0.4)
        open_levels = (numbers >= least[:, None]) & (numbers <= levels[:, None])
        gains = np.where(open_levels, rng.normal(size=open_levels.shape), -np.inf)
        better = Vectors(room, seed).improved(np.zeros((4, len(levels)), dtype=np.int64), gains)
        assert open_levels[np.arange(len(levels)), better].all()
        assert all(room.fitting(each[None])[0] for each in better)
        assert len(better) or not room.fitting(least[None])[0]
        found += len(better) > 0
    assert 0 < found < 20


@pytest.mark.parametrize("seed", longer(range(8), *range(3, 8)))
def test_gains_of_a_slot_bound_what_goes_on_with_its_levels(seed: int) -> None:
    schedules = Schedules(Slots.of(small(seed)))
    rows, rng = ByPattern(schedules), np.random.default_rng(seed)
    whole = rows.list_offers(schedules.limits())
    prices = rows.bound(whole, rounds=2).duals
    at_once = 0
    for slot in range(rows.slots):
        rest, gains = rows.gains(whole, prices, slot)
        for levels in Vectors(Repacked(schedules), seed).likely(rng.random((rows.jobs, rows.most)), 4):
            levels = np.where(whole.limits.levels[np.arange(rows.jobs), slot, levels], levels, 0)
            limits = whole.limits.settled(slot, levels)
            limits.required[levels > 0] = True
            most = rest + float(gains[np.arange(rows.jobs), levels].sum())
            assert rows.bound(Part(limits, whole.offers)).bound <= most + TOLERANCE * max(1.0, most)
            at_once += most < rows.fixed(whole, prices, np.inf)[0]
    assert at_once


@pytest.mark.parametrize("seed", range(8))
def test_schedules_after_settled_slots_are_worth_what_they_are_step_by_step(seed: int) -> None:
    schedules = Schedules(Slots.of(small(seed)))
    rng, slots = np.random.default_rng(seed), schedules.slots.slots
    limits = schedules.limits()
    cost = rng.random(limits.levels.shape)
    cost[:, :, 0] = 0.0
    onward = schedules.backward(cost, limits)
    settled = int(rng.integers(1, slots + 1))
    chosen = np.where(limits.levels[:, :, 1], rng.integers(0, 2, limits.levels.shape[:2]), 0)
    for t in range(settled):
        limits.levels[:, t] = False
        limits.levels[np.arange(len(chosen)), t, chosen[:, t]] = True
    found = schedules.best(schedules.backward(cost, limits))
    for i, job in enumerate(schedules.jobs):
        left, paid, expected = job.total, 0.0, -np.inf
        for t in range(settled):
            paid += cost[i, t, chosen[i, t]]
            left -= job.work[0] if chosen[i, t] else 0
            if left <= 0:
                expected = float(schedules.utility[i, t]) if limits.ends[i, t] else -np.inf
                break
        else:
            expected = float(onward[settled, i, amounts_left(job, slots).index(left)])
        assert found[i] == pytest.approx(expected - paid)


UNLUCKY = preset("benchmark", 210, jobs=6, machines=3, slots=2, multiple=3)
"""Best fit places levels 2, 2 and 1 of its jobs 0, 4 and 5, but not those of 0 and 4 alone, which fit as well."""


def violations(schedule: Schedule) -> list[str]:
    """Return the rules that a schedule of it breaks, but that jobs must finish."""
    return [violation.rule for violation in check(UNLUCKY, schedule) if violation.rule != "(3) work"]


def test_what_a_job_leaves_behind_is_placed_though_best_fit_does_not_find_it() -> None:
    schedules = Schedules(Slots.safe(UNLUCKY))
    room = Repacked(schedules)
    put = {}
    for i, level in ((5, 1), (0, 2), (4, 2)):
        fits, ways = room.fits(i)
        assert fits[1, level]
        put[i] = room.put(JobSchedule(i, (0, level), 1), ways)
    room.leave(put.pop(5))
    assert not room.fitting(schedules.levels_of(put.values())[1:])[0]
    schedule = room.schedule(put)
    assert set(schedule.jobs) == {"job1", "job5"}
    assert violations(schedule) == []


def test_what_fits_in_one_slot_as_in_a_given_plan_fits_in_all() -> None:
    """Whether levels fit is remembered for all slots: it must not be said of one where they cannot be placed."""
    schedules = Schedules(Slots.safe(UNLUCKY))
    plan = [JobSchedule(0, (0, 2), 1), JobSchedule(4, (0, 2), 1)]
    placed = Packer(Items(schedules.slots)).place([2, 0, 0, 0, 2, 0])
    assert placed is not None
    room = Repacked(schedules)
    room.adopt(plan, Schedule.of({name: {2: placement} for name, placement in placed.items()}))
    put = {0: room.put(JobSchedule(0, (2, 2), 1), None)}
    for _ in range(2):
        fits, ways = room.fits(4)
        assert fits[0, 2]
        assert fits[1, 2]
    put[4] = room.put(JobSchedule(4, (2, 2), 1), ways)
    schedule = room.schedule(put)
    assert {name: set(job.slots) for name, job in schedule.jobs.items()} == {"job1": {1, 2}, "job5": {1, 2}}
    assert violations(schedule) == []


def test_items_are_placed_in_another_order_too() -> None:
    """Those with the largest share of a resource first, these levels are not found to fit, whatever decides."""
    schedules = Schedules(Slots.of(preset("benchmark", 33, jobs=6, machines=3, slots=2, multiple=3)))
    levels = np.array([0, 0, 2, 0, 0, 5])
    assert Packer(Items(schedules.slots)).place(levels.tolist()) is not None
    assert Repacked(schedules).fitting(levels[None]).tolist() == [True]


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(6), 0, 1, 4, 5))
def test_insertion_is_at_least_as_good_as_the_online_algorithms(seed: int) -> None:
    instance = preset("benchmark", seed, jobs=12, machines=6, slots=8, multiple=3)
    schedules = Schedules(Slots.safe(instance))
    insertion = Insertion(schedules, Machines(schedules))
    cost, shares = insertion.prices_of_load()
    insertion.construct(cost, shares, 4)
    insertion.search(cost, shares, 100, lambda: False)
    others = (drf, dorm, pd_ors)
    assert insertion.value >= max(each.run(instance).utility for each in others) - TOLERANCE


def test_work_in_many_steps_is_rounded_down() -> None:
    """Three thousand and one samples by ten workers in ten slots: in two thousand steps, no plan does less than all."""
    data = preset("benchmark", 0, jobs=1, machines=4, slots=12, multiple=9).dump()
    data["jobs"][0] |= {"samples": "3001/7", "arrival": 1}
    instance = Instance.parse(data)
    (rounded,), (exact,) = Slots.safe(instance).jobs, Slots.of(instance).jobs
    assert rounded.total <= 2000 < exact.total
    assert len(rounded.work) == len(exact.work)
    assert all(
        Fraction(coarse, rounded.total) <= Fraction(fine, exact.total)
        for coarse, fine in zip(rounded.work, exact.work, strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(8), 0, 4, 5))
def test_patterns_are_the_full_contents_of_a_machine(seed: int) -> None:
    """Of things that need anything; the others are always there."""
    slots = Slots.of(small(seed))
    kinds, capacity = kinds_of(slots), slots.capacity[0]
    needs = np.array([slots.jobs[k.job].needs(Alternative(k.bundle, k.workers, k.servers)) for k in kinds])
    needy = needs.any(axis=1)
    needs = needs[needy]
    most = [min(int(room // need) for need, room in zip(row, capacity, strict=True) if need) for row in needs]
    found = set()
    for content in itertools.product(*(range(n + 1) for n in most)):
        room = capacity - (needs * np.array(content)[:, None]).sum(axis=0)
        if (room >= 0).all() and not (needs <= room).all(axis=1).any():
            found.add(content)
    listed = [tuple(row) for row in patterns_of(slots, kinds, capacity)[:, needy].tolist()]
    assert len(listed) == len(set(listed))
    assert set(listed) == found


@pytest.mark.parametrize("seed", range(12))
def test_no_more_configurations_than_estimated(seed: int) -> None:
    slots = Slots.of(small(seed))
    assert len(enumerate_configurations(slots).levels) <= most_configurations(slots)
