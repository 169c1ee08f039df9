"""The certified knapsack: exhaustive search agrees, every case is proved, and nothing is believed unchecked."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlsched.algorithms.exact import enumeration
from dlsched.algorithms.exact import knapsack as module
from dlsched.algorithms.exact.knapsack import Knapsack, solve_exact
from dlsched.models import InputError
from dlsched.solvers.solution import RawSolution, Status
from tests.longer import examples, longer
from tests.oracles import knapsack as oracle

numbers = st.fractions(0, 12, max_denominator=4)


def assert_certified(u: Any, v: Any, C: Any, found: Knapsack, best: Fraction) -> None:
    assert found.proved
    assert found.evidence
    assert found.value == best == sum((u[i] for i in found.chosen), Fraction(0))
    assert found.value <= found.bound <= found.value + Fraction(1, 10**6) * max(1, found.value)
    assert list(found.chosen) == sorted(set(found.chosen))
    for r, room in enumerate(C):
        assert sum((v[i][r] for i in found.chosen), Fraction(0)) <= room


@pytest.mark.slow
@examples(50, 150)
@given(data=st.data(), items=st.integers(0, 7), rows=st.integers(0, 3))
def test_exhaustive_search_agrees(data: Any, items: int, rows: int) -> None:
    u = data.draw(st.lists(numbers, min_size=items, max_size=items))
    v = [data.draw(st.lists(numbers, min_size=rows, max_size=rows)) for _ in range(items)]
    C = data.draw(st.lists(st.fractions(0, 30, max_denominator=3), min_size=rows, max_size=rows))
    assert_certified(u, v, C, solve_exact(u, v, C), oracle.optimum(u, v, C))


def correlated(rng: np.random.Generator, items: int, rows: int) -> tuple[list[Fraction], Any, list[Fraction]]:
    v = rng.integers(1, 1000, size=(items, rows))
    u = [Fraction(round(float(row.mean() + 500 * rng.random()), 2)) for row in v]
    return u, [[Fraction(int(a)) for a in row] for row in v], [Fraction(int(c)) for c in v.sum(axis=0) // 2]


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(6), *range(2, 6)))
def test_instances_that_need_branching(seed: int) -> None:
    u, v, C = correlated(np.random.default_rng(seed), 14, 3)
    found = solve_exact(u, v, C)
    assert_certified(u, v, C, found, oracle.optimum(u, v, C))
    assert "every choice of 14 items" in found.evidence[0]
    assert "without presolve" in found.evidence[1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(3), 1, 2))
def test_what_is_too_much_for_one_route_is_left_to_the_others(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """HiGHS twice, where choices are too many; every choice twice, where they are many; the values are the same."""
    u, v, C = correlated(np.random.default_rng(seed), 14, 3)
    best = oracle.optimum(u, v, C)
    monkeypatch.setattr(module, "_MANY", 0)
    found = solve_exact(u, v, C)
    assert_certified(u, v, C, found, best)
    assert "every choice in another order" in found.evidence[1]
    monkeypatch.setattr(module.Enumeration, "run", lambda self, most, tell: False)
    found = solve_exact(u, v, C)
    assert_certified(u, v, C, found, best)
    assert "HiGHS" in found.evidence[0]
    assert "without presolve" in found.evidence[1]


@pytest.mark.slow
def test_a_better_choice_in_another_order_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first route that looks at nothing and says that it is done is found out."""
    u, v, C = correlated(np.random.default_rng(3), 14, 3)
    honest = module.Enumeration.run

    def careless(self: Any, most: int, tell: Any) -> bool:
        if most == module._MOST:
            self._open.clear()
            return True
        return honest(self, most, tell)

    monkeypatch.setattr(module, "_MANY", -1)
    monkeypatch.setattr(module.Enumeration, "run", careless)
    monkeypatch.setattr(module.Items, "greedy", lambda self, prices: [])
    found = solve_exact(u, v, C)
    assert not found.proved
    assert found.value <= oracle.optimum(u, v, C) <= found.bound


@pytest.mark.parametrize(
    ("u", "v", "C", "best"),
    [
        ((10, 9, 9, 7, 4, 3), ((5, 4), (4, 5), (4, 4), (3, 2), (2, 1), (1, 2)), (9, 9), 20),
        ((15, 16, 13), ((9, 2), (5, 8), (4, 7)), (13, 9), 28),
        ((5, 5, 5), ((1,), (1,), (1,)), (2,), 10),
        ((5,), ((3,),), (2,), 0),
        ((0, 0), ((1,), (1,)), (1,), 0),
        ((4, 3), ((0,), (7,)), (0,), 4),
        ((), (), (5,), 0),
        ((2, 3), ((), ()), (), 5),
    ],
)
def test_known_optima(u: Any, v: Any, C: Any, best: int) -> None:
    """By hand: the first two choose items 1, 4, 6 and 1, 3."""
    args = [Fraction(a) for a in u], [[Fraction(a) for a in row] for row in v], [Fraction(c) for c in C]
    assert_certified(*args, solve_exact(*args), Fraction(best))


def test_tiny_values_are_compared_with_each_other() -> None:
    """Utilities of time-critical jobs may all be 1e-50: the better choice is still found."""
    u = [Fraction(3, 10**50), Fraction(4, 10**50), Fraction(5, 10**50)]
    found = solve_exact(u, [[Fraction(2)], [Fraction(3)], [Fraction(4)]], [Fraction(5)])
    assert found.chosen == (0, 1)
    assert found.proved


def test_weights_that_doubles_cannot_tell_apart() -> None:
    """Both fit to 1e-30 short of the capacity, and not 1e-30 above it."""
    third = Fraction(1, 3)
    u = [Fraction(1), Fraction(1), Fraction(1)]
    assert len(solve_exact(u, [[third]] * 3, [Fraction(1)]).chosen) == 3
    assert len(solve_exact(u, [[third + Fraction(1, 10**30)]] * 3, [Fraction(1)]).chosen) == 2


@pytest.mark.parametrize("unit", [Fraction(1, 10**9), 1, 10**6, 2**30, 10**20])
def test_the_unit_of_a_row_is_no_matter(unit: Fraction) -> None:
    """Of even weights an odd room leaves one over, and so do weights of 7 and 11 with some rooms."""
    rng = np.random.default_rng(4)
    weights = [2 * int(w) for w in rng.integers(1, 51, 60)]
    found = solve_exact(weights, [[w * unit] for w in weights], [(sum(weights) // 2 | 1) * unit])
    assert_certified(weights, [[w * unit] for w in weights], [sum(weights) * unit], found, Fraction(sum(weights) // 2))
    weights = [7] * 30 + [11] * 30
    found = solve_exact(weights, [[w * unit] for w in weights], [Fraction(270 - 1, 1) * unit])
    assert (found.proved, found.value) == (True, 269)


@pytest.mark.parametrize("room", [Fraction(10) ** 21, 8 + Fraction(1, 10**20)])
@pytest.mark.parametrize("weight", [Fraction(0), Fraction(1)])
def test_room_that_never_binds_may_be_anything(room: Fraction, weight: Fraction) -> None:
    values, weights = [Fraction(6), Fraction(5), Fraction(4)], [[Fraction(w), weight] for w in (3, 2, 2)]
    assert_certified(values, weights, [Fraction(4), room], solve_exact(values, weights, [4, room]), Fraction(9))


@pytest.mark.slow
def test_items_that_all_but_fit_are_proved_in_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any five of twelve fit, no six do by some bytes in 96e9: HiGHS takes each of 924 sets for one that fits."""
    honest, calls = module.solve_matrix, []

    def counted(*arguments: Any, **options: Any) -> RawSolution:
        calls.append(None)
        return honest(*arguments, **options)

    monkeypatch.setattr(module, "solve_matrix", counted)
    values = [Fraction(1000 + 31 * i) for i in range(12)]
    weights = [[Fraction(16 * 10**9 + 1 + 5 * i)] for i in range(12)]
    room = [Fraction(96 * 10**9)]
    assert_certified(values, weights, room, solve_exact(values, weights, room), sum(values[-5:], Fraction(0)))
    assert len(calls) < 20


def test_a_point_that_does_not_fit_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that returns items that exceed a row is asked again without them."""
    honest, calls = module.solve_matrix, []

    def careless(matrix: Any, **options: Any) -> RawSolution:
        raw: RawSolution = honest(matrix, **options)
        calls.append(len(matrix.row_upper))
        if matrix.integer.any() and len(matrix.row_upper) == 1:
            summary = replace(raw.summary, status=Status.OPTIMAL, bound=99.0)
            return RawSolution(summary, np.ones(len(matrix.c)))
        return raw

    monkeypatch.setattr(module, "solve_matrix", careless)
    monkeypatch.setattr(module.Enumeration, "run", lambda self, most, tell: False)
    u, v, C = correlated(np.random.default_rng(1), 10, 1)
    found = solve_exact(u, v, C)
    assert max(calls) == 2
    assert found.value == oracle.optimum(u, v, C)


@pytest.mark.parametrize("unit", [1, Fraction(1, 10**9)])
def test_a_bound_below_a_choice_that_fits_closes_nothing(unit: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """The greedy choice is not the best one, and better than the bound of a first route that finds nothing."""
    honest = module.solve_matrix
    values, weights, C = [unit * u for u in (6, 5, 9, 10, 7, 8)], [[Fraction(v)] for v in (3, 2, 5, 6, 4, 5)], [11]

    def wrong(matrix: Any, **options: Any) -> RawSolution:
        raw: RawSolution = honest(matrix, **options)
        if not matrix.integer.any():
            return raw
        if options["presolve"]:
            return RawSolution(replace(raw.summary, status=Status.OPTIMAL, bound=1e-3), np.zeros(len(matrix.c)))
        return RawSolution(replace(raw.summary, status=Status.NO_SOLUTION, bound=None), None)

    monkeypatch.setattr(module, "solve_matrix", wrong)
    monkeypatch.setattr(module.Enumeration, "run", lambda self, most, tell: False)
    monkeypatch.setattr(module.Items, "greedy", lambda self, prices: [5])
    found = solve_exact(values, weights, [Fraction(c) for c in C])
    best = oracle.optimum(values, weights, [Fraction(c) for c in C])
    assert not found.proved
    assert found.value < best <= found.bound
    assert found.evidence == ("a choice that fits refutes the bound of HiGHS",)


@pytest.mark.slow
def test_a_first_route_that_misses_the_optimum_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second route finds the better choice, so nothing is called proved."""
    honest = module.solve_matrix
    u, v, C = correlated(np.random.default_rng(3), 14, 3)
    best = oracle.optimum(u, v, C)

    def wrong(matrix: Any, **options: Any) -> RawSolution:
        if matrix.integer.any() and options["presolve"]:
            nothing = np.zeros(len(matrix.c))
            summary = replace(honest(matrix.relaxed()).summary, status=Status.OPTIMAL, bound=0.0, objective=0.0)
            return RawSolution(summary, nothing)
        return honest(matrix, **options)

    monkeypatch.setattr(module, "solve_matrix", wrong)
    monkeypatch.setattr(module.Enumeration, "run", lambda self, most, tell: False)
    monkeypatch.setattr(module.Items, "greedy", lambda self, prices: [])
    found = solve_exact(u, v, C)
    assert not found.proved
    assert found.value <= best <= found.bound
    assert found.evidence == ("a choice that fits refutes the bound of HiGHS",)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"time_limit": 0.0}, {"stop": lambda: True}])
def test_out_of_time_the_best_choice_and_a_valid_bound_are_kept(options: dict[str, Any]) -> None:
    u, v, C = correlated(np.random.default_rng(0), 14, 3)
    found = solve_exact(u, v, C, **options)
    assert not found.proved
    assert 0 < found.value <= oracle.optimum(u, v, C) <= found.bound


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while choices are looked at, with bounds that fall."""
    monkeypatch.setattr(module, "_MANY", 0)
    monkeypatch.setattr(enumeration, "_TOGETHER", 16)
    monkeypatch.setattr(enumeration, "_START", 4)
    news: list[tuple[str, float, float]] = []
    u, v, C = correlated(np.random.default_rng(0), 30, 3)
    solve_exact(u, v, C, progress=lambda *report: news.append(report))
    assert list(dict.fromkeys(phase for phase, _, _ in news)) == ["branching", "second route"]
    assert all(low <= high + 1e-9 for _, low, high in news)
    bounds = [high for _, _, high in news]
    assert len(set(bounds)) > 5
    assert bounds == sorted(bounds, reverse=True)


@pytest.mark.parametrize(
    ("u", "v", "C", "message"),
    [
        ([1], [], [1], "weights: has 0 rows for 1 values"),
        ([1], [[1, 2]], [1], r"weights\[0\]: has 2 entries for 1 capacities"),
        ([1], [[-1]], [1], r"weights\[0\]\[0\]: -1 must not be negative"),
        ([1], [[1]], [-2], r"capacity\[0\]: -2 must not be negative"),
    ],
)
def test_bad_input(u: Any, v: Any, C: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        solve_exact([Fraction(a) for a in u], [[Fraction(a) for a in row] for row in v], [Fraction(c) for c in C])
