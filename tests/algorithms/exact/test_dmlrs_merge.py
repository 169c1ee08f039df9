"""The best plan over the slots of good plans is the best of all choices, and fits."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest

from dlsched.algorithms.exact.anytime import Anytime
from dlsched.algorithms.exact.dmlrs import merge
from dlsched.algorithms.exact.dmlrs.fragmented import _Fragmented, solve_fragmented
from dlsched.algorithms.exact.dmlrs.insertion import Insertion, Placed
from dlsched.algorithms.exact.dmlrs.merge import Merge
from dlsched.algorithms.exact.dmlrs.repacking import Repacked
from dlsched.algorithms.exact.dmlrs.schedules import Schedules
from dlsched.algorithms.exact.dmlrs.slots import Slots
from dlsched.models.dmlrs import Instance, Schedule, check, exact_utility, preset


def prepared(seed: int, plans: int) -> tuple[Instance, Insertion, Merge]:
    """An instance, a search that tried some plans at prices drawn at random, and what was noted of them."""
    instance = preset("benchmark", seed, jobs=7, machines=3, slots=4, multiple=3, load=0.95)
    schedules = Schedules(Slots.of(instance))
    room = Repacked(schedules)
    insertion, merged = Insertion(schedules, room, seed), Merge(schedules, room)
    insertion.watch = merged.note
    rng, (cost, shares) = np.random.default_rng(seed), insertion.prices_of_load()
    for _ in range(plans):
        insertion.restore({})
        for i in rng.permutation(len(shares)).tolist():
            insertion.insert(i, 2 * cost[i] * rng.random(cost[i].shape))
        merged.note(insertion._plan, insertion.worth())
        insertion.offer()
    return instance, insertion, merged


def best_choice(schedules: Schedules, merged: Merge) -> float:
    """The greatest utility of all choices of a vector for each slot."""
    ways: list[list[list[int]]] = [[[0] * len(schedules.jobs)] for _ in range(schedules.slots.slots)]
    for t, vector in merged.pool.value:
        ways[t].append(np.frombuffer(vector, dtype=np.int64).tolist())
    best = 0.0
    for choice in itertools.product(*ways):
        value = 0.0
        for i, job in enumerate(schedules.jobs):
            done = list(itertools.accumulate((0, *job.work)[vector[i]] for vector in choice))
            value += max((schedules.utility[i, t] for t, work in enumerate(done) if work >= job.total), default=0.0)
        best = max(best, value)
    return best


@pytest.mark.slow
def test_it_is_the_best_of_all_choices_and_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "_NEAR", 0.0)
    better = 0
    for seed in range(12):
        instance, insertion, merged = prepared(seed, 6)
        plan = merged.run(None)
        value = sum(float(insertion.schedules.utility[i, packed.end]) for i, packed in plan.items())
        assert value == pytest.approx(best_choice(insertion.schedules, merged))
        better += value > insertion.value + 1e-9
        insertion.restore({i: Placed(packed, packed) for i, packed in plan.items()})
        assert insertion.worth() == pytest.approx(value)
        room = insertion.room
        assert isinstance(room, Repacked)
        schedule = room.schedule(plan)
        assert check(instance, schedule) == []
        assert float(exact_utility(instance, schedule)) == pytest.approx(value)
        # The search goes on from there as from any plan.
        cost, shares = insertion.prices_of_load()
        insertion.search(cost, shares, 20, lambda: False)
        assert insertion.value >= value - 1e-9
        best = {i: placed.things for i, placed in insertion.best.items()}
        assert check(instance, room.schedule(best)) == []
    assert better >= 3


def test_slots_of_plans_that_are_much_worse_are_not_kept() -> None:
    _, insertion, merged = prepared(1, 1)
    noted = dict(merged.pool.value)
    insertion.restore({})
    insertion.insert(0, 0 * insertion.prices_of_load()[0][0])
    merged.note(insertion._plan, 0.98 * max(noted.values()))
    assert merged.pool.value == noted
    merged.note(insertion._plan, 0.99 * max(noted.values()))
    assert len(merged.pool.value) > len(noted)


def test_with_nothing_noted_there_is_no_plan() -> None:
    _, insertion, _ = prepared(0, 0)
    room = insertion.room
    assert isinstance(room, Repacked)
    assert Merge(insertion.schedules, room).run(None) == {}


def test_the_search_goes_on_from_a_better_plan_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = preset("benchmark", 3, jobs=7, machines=3, slots=4, multiple=3, load=0.95)
    known = Anytime[Schedule](partial(exact_utility, instance), partial(check, instance), upper=1e9)
    search = _Fragmented(Slots.of(instance), known, 0, None)
    search.schedules = Schedules(search.slots)
    search._place_anew([], Schedule.of({}))
    room, merged = search.room, search.merge
    assert isinstance(room, Repacked)
    assert merged is not None
    best, _, _ = solve_fragmented(instance)
    answers = [room.adopt(search.schedules.read(best), best), {}]
    monkeypatch.setattr(merged, "run", lambda seconds: answers.pop(0))
    assert [search._merge(), search._merge()] == [True, False]
    assert search.insertion.value == pytest.approx(float(exact_utility(instance, best)))
    search._keep()
    assert known.best is not None
    assert known.value == pytest.approx(search.insertion.value)
    assert merged.pool.value
