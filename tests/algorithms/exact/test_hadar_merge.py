"""The best plan that schedules of good plans make together is the best of all choices, and counts only where it is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms.exact.hadar import merge
from dlsched.algorithms.exact.hadar import solver as exact
from dlsched.algorithms.exact.hadar.merge import Merge
from dlsched.algorithms.exact.hadar.problem import Plan, schedule_of, what_matters
from dlsched.algorithms.exact.hadar.rows import needed
from dlsched.models.hadar import check, exact_utility, preset
from dlsched.solvers.matrix import Floats


def prepared(seed: int, **sizes: int) -> exact.Solver:
    instance = preset("benchmark", seed, **{"jobs": 5, "machines": 2, "types": 2, "slots": 6, **sizes})
    return exact.Solver(instance, exact.knowledge(instance), *what_matters(instance), exact.MAX_STATES, 0)


def merge_of(solver: exact.Solver) -> Merge:
    need = needed(solver.sets, max(len(job.works) for job in solver.jobs), len(solver.jobs))
    return Merge(need, np.array([hall.devices for hall in solver.sets]), solver.units)


def some_plans(solver: exact.Solver, count: int) -> Iterator[Plan]:
    """Plans of a search that goes on at noisy prices, each without one of its jobs."""
    rng = np.random.default_rng(count)
    solver.begin()
    for _ in range(count):
        solver.search._cost = rng.random(solver.search._cost.shape, dtype=np.float32) * np.float32(solver.units.max())
        solver.search.run(1)
        state = solver.search._state
        assert state is not None
        levels, finish = state.levels[0].copy(), state.finish[0].copy()
        lost = rng.choice(np.flatnonzero(finish >= 0))
        value = float(state.value[0] - solver.units[lost, finish[lost]])
        levels[lost], finish[lost] = -1, -1
        yield Plan(levels, finish, value)


def best_choice(solver: exact.Solver, plans: list[Plan]) -> float:
    """The greatest value of all choices of one schedule a job, or none, that fit in every slot."""
    ways: list[set[tuple[float, tuple[int, ...]]]] = [{(0.0, (-1,) * len(solver.slots))} for _ in solver.jobs]
    for plan in plans:
        for job, finish in enumerate(plan.finish.tolist()):
            if finish >= 0:
                ways[job].add((float(solver.units[job, finish]), tuple(plan.levels[job].tolist())))
    best = 0.0
    for choice in itertools.product(*ways):
        value = sum(worth for worth, _ in choice)
        if value > best and all(hall.fits(np.array([levels for _, levels in choice])) for hall in solver.sets):
            best = value
    return best


def test_it_is_the_best_of_all_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "_NEAR", 0.0)
    better = 0
    for seed in range(12):
        solver = prepared(seed)
        plans = list(some_plans(solver, 3))
        merged = merge_of(solver)
        for plan in plans:
            merged.note(plan.levels, plan.finish, plan.value)
        found = merged.run(None)
        assert found is not None
        assert found.value == pytest.approx(best_choice(solver, plans))
        schedule = schedule_of(solver.instance, solver.jobs, solver.slots, found)
        assert check(solver.instance, schedule) == []
        assert solver.scale.utility(found.value) == pytest.approx(float(exact_utility(solver.instance, schedule)))
        better += found.value > max(plan.value for plan in plans) + 1e-9
    assert better >= 3


def test_schedules_of_plans_that_are_much_worse_are_no_part_of_it() -> None:
    solver = prepared(0)
    solver.begin()
    plan = solver.search.best
    merged = merge_of(solver)
    assert merged.run(None) is None
    merged.note(plan.levels, plan.finish, plan.value)
    merged.note(np.full_like(plan.levels, 0), np.zeros_like(plan.finish), 0.98 * plan.value)
    found = merged.run(None)
    assert found is not None
    assert (found.levels == plan.levels).all()
    assert (found.finish == plan.finish).all()


def test_of_many_schedules_those_of_the_best_plans_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "_NEAR", 0.0)
    solver = prepared(1)
    plans = sorted(some_plans(solver, 6), key=lambda plan: plan.value)
    monkeypatch.setattr(merge, "_MERGED", int((plans[-1].finish >= 0).sum()))
    merged = merge_of(solver)
    for plan in plans:
        merged.note(plan.levels, plan.finish, plan.value)
    found = merged.run(None)
    assert found is not None
    assert found.value == pytest.approx(plans[-1].value)


def before_a_beam(seed: int) -> tuple[exact.Solver, Plan, Floats]:
    """A solver whose root is bounded, the best plan, and the prices of the bound."""
    solver = prepared(seed, jobs=8, machines=4, types=3, slots=10)
    solver.begin()
    best = exact.solve(solver.instance)
    assert best.schedule is not None
    solver._relax()
    prices = solver._root()
    return solver, exact.plan_of(best.schedule, solver.instance, solver.jobs, solver.slots, solver.units), prices


@pytest.mark.slow
def test_what_it_finds_is_taken_where_it_is_better_and_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    solver, whole, _ = before_a_beam(3)
    asked: list[float | None] = []
    answers: list[Any] = [Plan(whole.levels * 0, whole.finish, 2 * whole.value), whole, None]

    def run(self: Merge, seconds: float | None) -> Plan | None:
        asked.append(seconds)
        return answers.pop(0) if answers else None

    monkeypatch.setattr(Merge, "run", run)
    before = solver.lower
    solver._merge()
    assert solver.lower == before
    solver.search.best = Plan(np.full_like(whole.levels, -1), np.full_like(whole.finish, -1), 0.0)
    solver._merge()
    assert solver.lower == whole.value
    solver._merge()
    assert solver.lower == whole.value
    assert asked[0] is None


@pytest.mark.slow
def test_after_a_better_beam_plans_are_refined_and_merged_until_that_gains_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solver, whole, prices = before_a_beam(3)
    # The beam finds a plan without the job that is worth least, and merging all of it.
    worth = solver.units[np.arange(len(whole.finish)), whole.finish] + np.where(whole.finish < 0, np.inf, 0.0)
    lost = int(worth.argmin())
    part = Plan(whole.levels.copy(), whole.finish.copy(), whole.value - float(worth[lost]))
    part.levels[lost], part.finish[lost] = -1, -1
    solver.search.best = Plan(np.full_like(whole.levels, -1), np.full_like(whole.finish, -1), 0.0)
    solver.known, solver._told = exact.knowledge(solver.instance), 0.0
    steps: list[str] = []
    answers: list[Plan | None] = [whole, None]

    def merged(self: Merge, seconds: float | None) -> Plan | None:
        steps.append("merge")
        return answers.pop(0)

    monkeypatch.setattr(solver, "_take", lambda paths: solver.search.offer(part))
    monkeypatch.setattr(solver.search, "refine", lambda rounds: steps.append("refine"))
    monkeypatch.setattr(solver, "_anneal", lambda: steps.append("anneal"))
    monkeypatch.setattr(Merge, "run", merged)
    solver.upper = 2 * whole.value
    solver._search_slots(prices, refines=True)
    assert steps == ["refine", "anneal", "merge"] * 2
    assert solver.lower == whole.value
    # A beam that is no better leaves it at that.
    solver._search_slots(solver.relaxation.rows_with(solver.relaxation.priced(prices * 0)), refines=True)
    assert len(steps) == 6
