"""How the exact method finds Hadar schedules: polishing, and stopping when told."""

from __future__ import annotations

import numpy as np

from dlsched.algorithms.exact.hadar import method as exact
from dlsched.algorithms.exact.hadar.bound import Relaxation
from dlsched.algorithms.exact.hadar.graph import build_graph
from dlsched.algorithms.exact.hadar.polish import Polish
from dlsched.algorithms.exact.hadar.states import build_states
from dlsched.models.hadar import check, preset


def test_polish_keeps_what_is_not_free_and_finds_better_schedules() -> None:
    instance = preset("benchmark", 1, jobs=8, machines=4, types=3, slots=10)
    solver = exact.Solver(instance, exact.knowledge(instance), exact.MAX_STATES, 0)
    solver.begin()
    assert solver.steps()
    graph = build_graph(solver.jobs, build_states(solver.jobs, instance.slots), instance.slots, solver.units)
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


def test_a_method_that_is_told_to_stop_returns_what_it_has() -> None:
    instance = preset("benchmark", 1, jobs=12, machines=5, types=3, slots=15)
    found = exact.solve(instance, stop=lambda: True)
    assert not found.proved
    assert check(instance, found.schedule) == []
    assert 0 < found.value < found.bound
