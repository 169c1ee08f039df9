"""What is known at any moment: what refutes it, what others say of it, and what is left where a program fails."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dlsched.algorithms import optimum
from dlsched.algorithms.exact import ddljs, dmlrs, knapsack
from dlsched.algorithms.exact.anytime import Anytime, Around, News, sharing
from dlsched.algorithms.exact.dmlrs import decomposition
from dlsched.models.ddljs import random as random_ddljs
from dlsched.models.dmlrs import preset
from dlsched.models.numbers import agree
from dlsched.solvers.matrix import UnfitNumberError
from dlsched.solvers.solution import ResidualError, SolverError
from tests.elsewhere import Elsewhere
from tests.longer import longer


def number() -> Anytime[float]:
    """A problem whose schedules are numbers up to 100, each worth itself."""
    known = Anytime[float](float, lambda value: [], upper=100.0)
    known.take(5.0)
    return known


def proved_at_5(known: Anytime[float]) -> Callable[[], bool]:
    def steps() -> bool:
        known.bound(5.0, "tree")
        return known.closed()

    return steps


def test_a_better_schedule_from_elsewhere_refutes_a_proof() -> None:
    known = number()
    with sharing(Elsewhere(News(7.0, 9.0))):
        found = known.run(proved_at_5(known), time_limit=None)
    assert (found.value, found.bound, found.proved) == (7.0, 9.0, False)
    assert found.evidence[0] == "tree: nothing better than 5, refuted (7 is feasible)"


def test_a_schedule_from_elsewhere_that_is_no_better_leaves_a_proof() -> None:
    known = number()
    with sharing(Elsewhere(News(5.0, 5.0))):
        found = known.run(proved_at_5(known), time_limit=None)
    assert (found.value, found.bound, found.proved) == (5.0, 5.0, True)


def test_a_search_within_another_one_shares_what_it_finds() -> None:
    around = number()
    within = Anytime[float](float, lambda value: [], upper=90.0, others=Around(around, "within"))
    within.tell("begin")
    assert (within.value, within.shared) == (5.0, False)
    within.take(8.0)
    within.bound(9.0, "tree")
    assert (around.value, around.upper) == (8.0, 9.0)
    around.bound(8.5, "elsewhere")
    within.tell("end")
    assert within.upper == 9.0


def test_a_search_within_another_one_hears_of_others() -> None:
    seen = []

    def steps() -> bool:
        within = Anytime[float](float, lambda value: [], upper=90.0, others=Around(known, "within"))
        within.tell("begin")
        seen.append((within.value, within.shared))
        return False

    known = number()
    with sharing(Elsewhere(News(7.0, 9.0))):
        found = known.run(steps, time_limit=None)
    assert seen == [(7.0, True)]
    assert (found.value, found.bound) == (7.0, 9.0)


def test_the_bound_of_another_search_for_dmlrs() -> None:
    with sharing(Elsewhere(News(None, 200.0))):
        found = dmlrs.solve(preset("benchmark", 0, jobs=6, machines=4, slots=6), time_limit=0)
    assert found.bound == 200
    assert found.evidence[-1] == "another process: nothing better than 200"


@pytest.mark.parametrize("failure", [SolverError("no optimum"), ResidualError("bent"), UnfitNumberError("1e30")])
def test_a_program_that_fails_loses_nothing(failure: Exception) -> None:
    known = number()

    def steps() -> bool:
        known.bound(9.0, "tree")
        raise failure

    found = known.run(steps, time_limit=None)
    assert (found.value, found.bound, found.proved) == (5.0, 9.0, False)
    assert found.evidence == (f"a program failed: {failure}",)


def failing(*_: object, **__: object) -> None:
    raise SolverError("the program has no optimum")


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(2), 1))
def test_dmlrs_without_column_generation(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = preset("benchmark", seed, jobs=5, machines=3, slots=5, multiple=3)
    best = optimum(instance).value
    monkeypatch.setattr(decomposition, "generate_columns", failing)
    found = dmlrs.solve(instance, time_limit=1)
    assert 0 < found.value <= best + 1e-6 * best
    assert found.bound >= best - 1e-6 * best


@pytest.mark.parametrize("seed", [2, 20, 36])
def test_ddljs_without_configurations(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = random_ddljs(np.random.default_rng(seed))
    best = optimum(instance).value
    monkeypatch.setattr(ddljs.configurations, "solve_matrix", failing)
    monkeypatch.setattr(ddljs.solver, "dual_bound", lambda *_: None)
    found = ddljs.solve(instance, time_limit=10)
    assert found.proved
    assert agree(found.value, best)


def test_a_knapsack_without_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of values 6, 5 and 9 and weights 3, 2 and 5, items 0 and 1 fit into 6, or 2: 11 and 9."""
    monkeypatch.setattr(knapsack, "solve_matrix", failing)
    found = knapsack.solve_exact([6, 5, 9], [[3], [2], [5]], [6])
    assert not found.proved
    assert found.value <= 11 <= found.bound
