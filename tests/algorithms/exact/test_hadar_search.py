"""How the exact method finds Hadar schedules: slots that matter, polishing, and stopping when told."""

from __future__ import annotations

import functools
import itertools
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

from dlsched.algorithms import optimum
from dlsched.algorithms.exact.hadar import solver as exact
from dlsched.algorithms.exact.hadar.beam import Beam
from dlsched.algorithms.exact.hadar.bound import Relaxation
from dlsched.algorithms.exact.hadar.dive import Polish
from dlsched.algorithms.exact.hadar.graph import IDLE, build_graph
from dlsched.algorithms.exact.hadar.greedy import first_schedule
from dlsched.algorithms.exact.hadar.problem import Options, what_matters
from dlsched.algorithms.exact.hadar.states import build_states
from dlsched.models import build, solve
from dlsched.models.hadar import Instance, check, exact_utility, preset
from tests.longer import examples, in_two
from tests.strategies.hadar import hadar_data


def sparse(seed: int) -> Instance:
    """Small jobs on two types in many slots: nothing happens in most of them, and the utility is lost at some time."""
    rng = random.Random(seed)
    slots = rng.randint(6, 14)
    jobs = []
    for j in range(rng.randint(1, 4)):
        arrival = rng.randint(1, slots)
        values = sorted((rng.choice([1, 2, 3, 5, 8, 13]) for _ in range(rng.randint(1, slots))), reverse=True)
        jobs.append(
            {
                "name": f"j{j}",
                "arrival": arrival,
                "gang": rng.randint(1, 3),
                "iterations": rng.randint(1, 9),
                "rate": {"a": rng.randint(1, 4), "b": rng.randint(0, 2)},
                "utility": {"kind": "table", "values": values},
            }
        )
    machines = [{"name": "m", "devices": {"a": rng.randint(1, 3), "b": 2}}]
    return Instance.parse({"slots": slots, "device_types": ["a", "b"], "machines": machines, "jobs": jobs})


@pytest.mark.slow
@in_two(20, 60)
def test_slots_that_do_not_matter_are_left_out_and_the_optimum_is_the_same(seeds: range) -> None:
    left_out = gaps = 0
    for seed in seeds:
        instance = sparse(seed)
        _, slots = what_matters(instance)
        left_out += len(slots) < instance.slots
        gaps += any(b - a > 1 for a, b in itertools.pairwise(slots))
        found = exact.solve(instance)
        assert found.proved
        assert check(instance, found.schedule) == []
        assert found.value == pytest.approx(solve(build("hadar/hall", instance)).objective, abs=1e-6)
    assert left_out > 5 / 6 * len(seeds)
    assert gaps > len(seeds) / 6


@pytest.mark.parametrize("kind", [{"kind": "step", "value": 5, "deadline": 3}, {"kind": "hyperbolic", "scale": 5}])
def test_a_million_slots_with_two_small_jobs(kind: dict[str, Any]) -> None:
    job = {"gang": 2, "iterations": 3, "rate": {"a": 1}, "utility": kind}
    jobs = [job | {"name": "early", "arrival": 1}, job | {"name": "late", "arrival": 900_000}]
    machines = [{"name": "m", "devices": {"a": 3}}]
    instance = Instance.parse({"slots": 10**6, "device_types": ["a"], "machines": machines, "jobs": jobs})
    found = optimum(instance, time_limit=20)
    assert found.proved
    assert found.value == pytest.approx(10 if kind["kind"] == "step" else 5)
    assert [sorted(found.schedule.jobs[name].slots) for name in ("early", "late")] == [[1, 2], [900_000, 900_001]]
    assert check(instance, found.schedule) == []


@pytest.mark.slow
@examples(40, 100)
@given(data=hadar_data())
def test_a_first_schedule_keeps_the_rules_and_serves_somebody(data: dict[str, Any]) -> None:
    instance = Instance.parse(data)
    jobs, slots = what_matters(instance)
    schedule = first_schedule(instance, jobs, slots)
    assert check(instance, schedule) == []
    assert bool(schedule.jobs) == bool(jobs)


@pytest.mark.slow
def test_there_is_a_schedule_and_a_bound_when_time_is_up_at_once() -> None:
    instance = preset("benchmark", 1, jobs=200, machines=40, types=3, slots=100)
    found = exact.solve(instance, time_limit=0.0)
    assert check(instance, found.schedule) == []
    assert 4000 < found.value < found.bound


@pytest.mark.slow
def test_polish_keeps_what_is_not_free_and_finds_better_schedules() -> None:
    instance = preset("benchmark", 1, jobs=8, machines=4, types=3, slots=10)
    solver = exact.Solver(instance, exact.knowledge(instance), *what_matters(instance), exact.MAX_STATES, 0)
    solver.begin()
    assert solver.steps()
    graph = build_graph(solver.jobs, build_states(solver.jobs, len(solver.slots)), len(solver.slots), solver.units)
    relaxation = Relaxation(solver.jobs, solver.sets, graph)
    nobody = np.zeros(len(solver.jobs), dtype=bool)
    prices = relaxation.bound(graph, nobody).duals
    best = solver.search.best
    paths = relaxation.paths_of(best.levels)
    assert {p.job: p.finish for p in paths} == {j: t for j, t in enumerate(best.finish.tolist()) if t >= 0}
    assert all((p.levels == best.levels[p.job]).all() for p in paths)
    polish = Polish(relaxation, 0)
    completed = polish.dive(nobody, prices, paths[1:], 0.0)
    assert {(p.job, p.finish) for p in paths[1:]} <= {(p.job, p.finish) for p in completed}
    assert polish.dive(nobody, prices, paths[1:], best.value + 1e-3) == []
    found = [polish.around(best.levels, nobody, prices, 0.0) for _ in range(5)]
    for schedule in found:
        value = sum(solver.units[p.job, p.finish] for p in schedule)
        assert 0 < value <= best.value + 1e-6


def solved(seed: int) -> tuple[exact.Solver, Relaxation]:
    """Return an instance's optimum, and a fresh relaxation over all its schedules."""
    instance = preset("benchmark", seed, jobs=7, machines=3, types=2, slots=9)
    solver = exact.Solver(instance, exact.knowledge(instance), *what_matters(instance), exact.MAX_STATES, 0)
    solver.begin()
    assert solver.steps()
    graph = build_graph(solver.jobs, build_states(solver.jobs, len(solver.slots)), len(solver.slots), solver.units)
    return solver, Relaxation(solver.jobs, solver.sets, graph)


@pytest.mark.slow
@in_two(2, 6)
def test_beams_find_schedules_that_fit_and_none_above_the_optimum(seeds: range) -> None:
    optimal = 0
    for seed in seeds:
        solver, relaxation = solved(seed)
        nobody = np.zeros(len(solver.jobs), dtype=bool)
        prices = relaxation.bound(relaxation.base, nobody).duals
        saved = relaxation.priced(prices)
        found = []
        for _ in range(2):
            paths = Beam(relaxation, seed).run(relaxation.rows_with(saved), nobody, 0.0)
            levels = np.full((len(solver.jobs), len(solver.slots)), IDLE)
            for path in paths:
                levels[path.job] = path.levels
            assert all(hall.fits(levels) for hall in solver.sets)
            assert len({path.job for path in paths}) == len(paths)
            found.append(sum(solver.units[path.job, path.finish] for path in paths))
            assert 0 < found[-1] <= solver.lower + 1e-9
        optimal += max(found) > solver.lower - 1e-6
        rows = relaxation.rows_with(saved)
        assert Beam(relaxation, seed).run(rows, nobody, solver.lower + 1e-3) == []
    assert optimal >= 2 * len(seeds) / 3


@pytest.mark.slow
def test_prices_with_devices_are_the_same_prices_and_name_the_rows_of_a_new_relaxation() -> None:
    for seed in range(3):
        _, relaxation = solved(seed)
        devices = set(zip(relaxation.row_slot.tolist(), relaxation.row_pool.tolist(), strict=True))
        assert {t for t, _ in devices} >= set(range(relaxation.base.slots // 2, relaxation.base.slots))
        nobody = np.zeros(relaxation.base.jobs, dtype=bool)
        generated = relaxation.bound(relaxation.base, nobody)
        relaxation.tighten(generated)
        generated = relaxation.bound(relaxation.base, nobody, start=generated.duals)
        saved = relaxation.priced(generated.duals)
        kept = relaxation.with_devices(saved)
        again = relaxation.rows_with(kept)
        named = set(zip(relaxation.row_slot.tolist(), relaxation.row_pool.tolist(), strict=True))
        assert len(kept[0]) == len(named) > len(saved[0])
        assert named == devices | set(zip(saved[0].tolist(), saved[1].tolist(), strict=True))
        before, after = (
            dict(zip(zip(slot.tolist(), pool.tolist(), strict=True), price.tolist(), strict=True))
            for slot, pool, price in (saved, relaxation.priced(again))
        )
        assert after == pytest.approx(before)


@pytest.mark.slow
def test_what_a_slot_loses_is_what_the_bound_of_its_arcs_falls_by() -> None:
    solver, relaxation = solved(3)
    graph = relaxation.base
    required = np.arange(len(solver.jobs)) == 2
    prices = relaxation.bound(graph, required).duals
    whole = relaxation.fixed(graph, required, prices, -np.inf)[0]
    unequal = 0
    for slot in range(len(solver.slots)):
        running, idling = relaxation.losses(graph, required, prices, slot)
        for job, options in enumerate(solver.jobs):
            for option in (IDLE, *range(len(options.works))):
                mine = graph.job == job
                here = graph.slot == slot
                early = graph.finishing & (graph.slot < slot)
                banned = mine & ((here & (graph.option != option)) | (early & (option != IDLE)))
                served = required | ((np.arange(len(solver.jobs)) == job) & (option != IDLE))
                runs = (mine & here & (graph.option == option)).any()
                lost = idling[job] if option == IDLE else running[option, job]
                if not runs and option != IDLE:
                    assert lost > solver.most
                    continue
                bound = relaxation.fixed(graph.masked(~banned), served, prices, -np.inf)[0]
                if np.isfinite(bound):
                    assert whole - bound == pytest.approx(lost, abs=1e-9)
                    unequal += lost > 1e-3
    assert unequal > 20


@pytest.mark.slow
def test_refining_puts_all_incumbents_on_the_best_plan() -> None:
    instance = preset("benchmark", 2, jobs=8, machines=3, types=2, slots=10)
    solver = exact.Solver(instance, exact.knowledge(instance), *what_matters(instance), exact.MAX_STATES, 0)
    solver.begin()
    search = solver.search
    search.run(40)
    before = search.best.value
    search.refine(30)
    state = search._state
    assert state is not None
    assert (state.levels == search.best.levels).all()
    assert (state.value == before).all()
    for slot in range(len(solver.slots)):
        for k, hall in enumerate(solver.sets):
            used = sum(
                int(hall.weight[j])
                for j, level in enumerate(search.best.levels[:, slot].tolist())
                if level != IDLE and hall.member[level, j]
            )
            assert (state.left[:, slot, k] == hall.devices - used).all()
    assert search.left == 30
    assert search.run(30).value >= before


def futures(options: Options, slots: int) -> list[set[object]]:
    """By slot, what may still become of the job: of amounts of remaining work that it may have, in whole numbers."""
    names: dict[tuple[object, ...], int] = {}
    works = (*options.works, 0)

    @functools.cache
    def future(left: int, slot: int) -> int | str | None:
        if left <= 0:
            return "complete"
        onward = tuple(future(left - work, slot + 1) for work in works) if slot < slots else ()
        return names.setdefault((slot, *onward), len(names)) if any(each is not None for each in onward) else None

    found, amounts = [], {options.need}
    for slot in range(options.arrival, slots):
        found.append({future(left, slot) for left in amounts} - {None})
        amounts = {left - work for left in amounts for work in works if left > work}
    return found


@pytest.mark.parametrize("seed", range(30))
def test_nodes_differ_in_what_may_still_become_of_the_job(seed: int) -> None:
    """Else fixing by prices may see more than the replay does, which follows amounts: of 86, 79, 79 in any order."""
    rng = random.Random(seed)
    works, need = ((86, 79, 18), 575) if not seed else (tuple(sorted(rng.sample(range(5, 60), 3))[::-1]), 150)
    slots, worth = 10 if seed else 15, Fraction(1)
    job = Options("j", 0, 1, need, works, (1, 3, 7), ("a", "b", "c"), (worth,) * slots)
    units = np.ones((1, slots))
    graph = build_graph((job,), build_states((job,), slots), slots, units)
    nodes = [len(np.unique(graph.tail[graph.slot == t])) for t in range(slots)]
    assert all(n <= len(different) for n, different in zip(nodes, futures(job, slots), strict=True))
    assert graph.best(graph.backward(graph.gain)).tolist() == [1.0]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("share", [1.0, 0.7, 0.2])
def test_longest_paths_are_those_found_arc_by_arc(seed: int, share: float) -> None:
    """In whole graphs, in parts with jobs and slots that have nothing left, and where some arcs may not be used."""
    rng = np.random.default_rng(seed)
    instance = preset("benchmark", seed, jobs=6, machines=3, types=2, slots=7)
    solver = exact.Solver(instance, exact.knowledge(instance), *what_matters(instance), exact.MAX_STATES, 0)
    whole = build_graph(solver.jobs, build_states(solver.jobs, len(solver.slots)), len(solver.slots), solver.units)
    graph = whole.restrict(rng.random(len(whole.tail)) < share)
    weight = rng.integers(-9, 9, len(graph.tail)).astype(float)
    weight[rng.random(len(weight)) < 0.1] = -np.inf
    onward, so_far = dict.fromkeys(range(graph.nodes), -np.inf), dict.fromkeys(range(graph.nodes), -np.inf)
    onward[graph.sink] = 0.0
    so_far |= dict.fromkeys(graph.root[graph.root >= 0].tolist(), 0.0)
    arcs = list(zip(graph.tail.tolist(), graph.head.tolist(), weight.tolist(), strict=True))
    for tail, head, w in reversed(arcs):
        onward[tail] = max(onward[tail], w + onward[head])
    for tail, head, w in arcs:
        if head != graph.sink:
            so_far[head] = max(so_far[head], so_far[tail] + w)
    value = graph.backward(weight)
    assert value.tolist() == list(onward.values())
    assert graph.forward(weight).tolist() == list(so_far.values())
    for best, path in zip(graph.best(value), graph.paths(weight, value), strict=True):
        walked = path[path >= 0]
        assert (len(walked) > 0) == np.isfinite(best)
        if len(walked):
            assert weight[walked].sum() == best
            assert graph.head[walked[-1]] == graph.sink
            assert (graph.head[walked[:-1]] == graph.tail[walked[1:]]).all()


def test_a_method_that_is_told_to_stop_returns_what_it_has() -> None:
    instance = preset("benchmark", 1, jobs=12, machines=5, types=3, slots=15)
    found = exact.solve(instance, stop=lambda: True)
    assert not found.proved
    assert check(instance, found.schedule) == []
    assert 0 < found.value < found.bound


@pytest.mark.slow
@examples(15, 40)
@given(data=hadar_data())
def test_a_schedule_found_elsewhere_is_where_the_search_goes_on(data: dict[str, Any]) -> None:
    instance = Instance.parse(data)
    best = optimum(instance)
    solver = exact.Solver(instance, exact.knowledge(instance), *what_matters(instance), exact.MAX_STATES, 0)
    assume(solver.jobs)
    states = build_states(solver.jobs, len(solver.slots))
    solver.search = exact.Search(solver.jobs, states, solver.sets, solver.units)
    solver.known.take(best.schedule)
    solver.progress("search")
    again = exact.schedule_of(instance, solver.jobs, solver.slots, solver.search.best)
    assert check(instance, again) == []
    assert float(exact_utility(instance, again)) == best.value


@pytest.mark.slow
def test_a_search_beside_the_method_finds_what_it_finds_and_proves_nothing() -> None:
    instance = preset("benchmark", 2, jobs=8, machines=4, types=3, slots=10)
    best, found = exact.solve(instance), exact.improve(instance, time_limit=3)
    assert best.proved
    assert not found.proved
    assert check(instance, found.schedule) == []
    assert found.value == pytest.approx(best.value)
    assert found.bound >= best.value - 1e-6
