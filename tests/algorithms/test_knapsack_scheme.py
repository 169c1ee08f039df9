"""The knapsack scheme: the ledger's cases, its guarantee, and the same values as without leaving out any program."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from dlsched.algorithms.knapsack import (
    Items,
    Selection,
    TooManyProgramsError,
    frieze_clarke,
    solve_knapsack,
    subset_size,
)
from dlsched.models import InputError
from dlsched.models.smd import best_point, preset
from dlsched.solvers.highs import Session
from tests.longer import examples

SIX = Items.of((10, 9, 9, 7, 4, 3), ((5, 4), (4, 5), (4, 4), (3, 2), (2, 1), (1, 2)), (9, 9))
THREE = Items.of((15, 16, 13), ((9, 2), (5, 8), (4, 7)), (13, 9))


def subsets(items: int, most: int) -> list[tuple[int, ...]]:
    return [chosen for size in range(most + 1) for chosen in itertools.combinations(range(items), size)]


def best_value(problem: Items) -> Fraction:
    everything = subsets(len(problem.values), len(problem.values))
    return max(problem.worth(chosen) for chosen in everything if problem.fits(chosen))


def literal_scheme(problem: Items, size: int) -> tuple[Fraction, int]:
    """The scheme as stated, over the items that fit by themselves; also the most fractional items in a program."""
    values, weights = np.array(problem.values, dtype=float), np.array(problem.weights, dtype=float)
    best, most = Fraction(0), 0
    for chosen in subsets(len(values), size):
        if not problem.fits(chosen):
            continue
        least = min((problem.values[i] for i in chosen), default=None)
        dearer = [least is not None and value > least for value in problem.values]
        left = [dear or not problem.fits((i,)) for i, dear in enumerate(dearer)]
        bounds = [(1, 1) if i in chosen else (0, 0) if left[i] else (0, 1) for i in range(len(values))]
        room = np.array(problem.capacity, dtype=float)
        x = linprog(-values, A_ub=weights.T, b_ub=room, bounds=bounds, method="highs-ds").x
        most = max(most, int(((x > 1e-9) & (x < 1 - 1e-9)).sum()))
        best = max(best, problem.worth(np.flatnonzero(x > 1 - 1e-9).tolist()))
    return best, most


def drawn(rng: np.random.Generator, items: int, rows: int, largest: int) -> Items:
    weights = rng.integers(0, largest, size=(items, rows))
    capacity = [int(rng.integers(largest // 2, total // 2 + largest)) for total in weights.sum(axis=0)]
    return Items.of(rng.integers(0, largest, size=items).tolist(), weights.tolist(), capacity)


@pytest.mark.parametrize(
    ("problem", "size", "value"), [(SIX, 0, 19), (SIX, 1, 20), (SIX, 6, 20), (THREE, 0, 0), (THREE, 1, 28)]
)
def test_values_by_hand(problem: Items, size: int, value: int) -> None:
    found = frieze_clarke(problem, size)
    assert found.value == value == problem.worth(found.chosen)
    assert problem.fits(found.chosen)


def test_the_best_of_several_is_the_first_found() -> None:
    assert best_value(SIX) == SIX.worth((0, 3, 5)) == SIX.worth((2, 3, 4)) == 20
    assert frieze_clarke(SIX, 1) == Selection((0, 3, 5), Fraction(20), 1, Fraction(1, 3), 7, 7)


@pytest.mark.parametrize("epsilon", [Fraction(4, 5), Fraction(2, 3), Fraction(1, 2), Fraction(2, 5)])
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_the_value_is_within_epsilon_of_the_optimum(rows: int, epsilon: Fraction) -> None:
    for seed in range(12):
        rng = np.random.default_rng([seed, rows])
        # small numbers give ties in value and degenerate bases
        problem = drawn(rng, int(rng.integers(1, 10)), rows, 8 if seed % 2 else 1000)
        found = solve_knapsack(problem.values, problem.weights, problem.capacity, epsilon=epsilon)
        assert problem.fits(found.chosen)
        assert problem.worth(found.chosen) == found.value >= found.guarantee * best_value(problem)
        assert found.guarantee >= 1 - epsilon


@pytest.mark.slow
def test_values_of_very_different_sizes() -> None:
    """Beside what is worth 1e12, HiGHS does not see what is worth 1; the guarantee counts it all the same."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        sizes, count = [Fraction(10) ** int(k) for k in rng.integers(-11, 12, size=8)], int(rng.integers(2, 9))
        values = [int(rng.integers(1, 100)) * size for size in sizes[:count]]
        weights = rng.integers(1, 100, size=(count, 3)).tolist()
        problem = Items.of(values, weights, [Fraction(sum(column)) / 2 for column in zip(*weights, strict=True)])
        best = best_value(problem)
        for epsilon in (Fraction(1, 2), Fraction(1, 100)):
            found = solve_knapsack(problem.values, problem.weights, problem.capacity, epsilon=epsilon)
            assert problem.worth(found.chosen) == found.value >= found.guarantee * best, (seed, epsilon)


@pytest.mark.slow
def test_a_scheme_of_size_one_is_not_exact() -> None:
    # k / (k + R) = 1/3 for k = 1 and two rows
    worst = min(
        frieze_clarke(p, 1).value / best_value(p)
        for p in (drawn(np.random.default_rng(seed), 7, 2, 12) for seed in range(150))
        if best_value(p)
    )
    assert Fraction(1, 3) <= worst < Fraction(19, 20)


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 1, 2, 3, 7])
def test_no_program_left_out_would_have_been_better(size: int) -> None:
    for seed in range(6):
        rng = np.random.default_rng([seed, size])
        problem = drawn(rng, 7, int(rng.integers(1, 4)), 100_000)
        found = frieze_clarke(problem, size)
        value, fractional = literal_scheme(problem, size)
        assert found.value == value
        assert fractional <= len(problem.capacity)
        assert found.lps <= found.subsets == len(subsets(len(problem.useful), size)) or not problem.rows


def test_equally_valuable_items_stay_free() -> None:
    # With items worth as much as the least of S left out, S = {0} would be worth 1 and no S of one item worth 3.
    problem = Items.of((1, 1, 1, 1), ((1,), (1,), (1,), (2,)), (3,))
    assert frieze_clarke(problem, 1).value == 3


@pytest.mark.parametrize(
    ("items", "rows", "epsilon", "size"),
    [
        (50, 4, 0.01, 50),
        (500, 4, 0.01, 396),
        (9, 3, 0.6, 2),  # 3 in floats
        (9, 1, 0.1, 9),
        (9, 2, "2/3", 1),
        (9, 0, 0.5, 0),
        (0, 3, 0.5, 0),
        (9, 3, 0.999, 1),
    ],
)
def test_subset_size(items: int, rows: int, epsilon: float, size: int) -> None:
    assert subset_size(items, rows, Fraction(epsilon) if isinstance(epsilon, str) else epsilon) == size


@pytest.mark.parametrize("epsilon", [0, 1, -0.5, 2])
def test_an_epsilon_outside_its_range_is_refused(epsilon: float) -> None:
    with pytest.raises(InputError, match=r"epsilon: .* is not in \(0, 1\)"):
        subset_size(3, 1, epsilon)


def test_only_rows_that_can_bind_count() -> None:
    found = solve_knapsack((3, 2, 2), ((2, 1, 0), (2, 1, 0), (2, 1, 0)), (4, 3, 1), epsilon="1/2")
    assert (found.subset_size, found.value) == (1, 5)


def test_where_everything_fits_nothing_is_solved() -> None:
    assert solve_knapsack((3, 0, 2), ((1,), (1,), (2,)), (3,)) == Selection((0, 2), Fraction(5), 0, Fraction(1), 1, 0)
    assert solve_knapsack((), (), (3,)) == Selection((), Fraction(0), 0, Fraction(1), 1, 0)
    assert solve_knapsack((3, 4), ((), ()), ()).value == 7
    assert solve_knapsack((3, 4), ((2,), (3,)), (1,)).chosen == ()


def test_the_programs_are_limited() -> None:
    with pytest.raises(TooManyProgramsError, match=r"all 2\^6 subsets of 6 items, .* after 5 linear programs") as error:
        solve_knapsack(SIX.values, SIX.weights, SIX.capacity, epsilon=0.01, max_lps=5)
    assert isinstance(error.value, InputError)
    with pytest.raises(TooManyProgramsError, match="2-item subsets of 6 items"):
        frieze_clarke(SIX, 2, max_lps=5)
    assert frieze_clarke(SIX, 1, max_lps=7).value == 20


@pytest.mark.slow
@pytest.mark.parametrize("units", [1, 3])
def test_the_papers_precision_is_reached_on_its_instances(units: int) -> None:
    instance = preset("paper", 4, jobs=30, units=units)
    points = [(job, best_point(job)) for job in instance.jobs]
    values = [point.utility if point else 0 for _, point in points]
    weights = [[job.limit_of(r) for r in instance.resources] for job, _ in points]
    found = solve_knapsack(values, weights, list(instance.capacity.values()), epsilon=0.01)
    problem = Items.of(values, weights, list(instance.capacity.values()))
    assert problem.fits(found.chosen)
    assert found.subset_size == len(problem.useful)
    assert float(found.value) == pytest.approx(_milp(problem), rel=1e-7)


def _milp(problem: Items) -> float:
    from scipy.optimize import Bounds, LinearConstraint, milp

    values, weights = np.array(problem.values, dtype=float), np.array(problem.weights, dtype=float)
    rows = LinearConstraint(weights.T, -np.inf, np.array(problem.capacity, dtype=float))
    integers, gap = np.ones(len(values)), {"mip_rel_gap": 0}
    solved = milp(-values, constraints=rows, integrality=integers, bounds=Bounds(0, 1), options=gap)
    return float(-solved.fun)


def test_what_fits_is_decided_exactly() -> None:
    # x_1 = 1 - 1/10^10 passes for 1 in floats, but both items together exceed the capacity by 1.
    problem = Items.of((2, 3), ((1,), (10**10,)), (10**10,))
    assert frieze_clarke(problem, 0).chosen in ((0,), (1,))
    assert frieze_clarke(problem, 1).chosen == (1,)
    third = Items.of((1, 1, 1), ((Fraction(1, 3),), (Fraction(1, 3),), (Fraction(1, 3),)), (1,))
    assert frieze_clarke(third, 0).chosen == (0, 1, 2)


@pytest.mark.slow
@examples(40, 120)
@given(data=st.data())
def test_whatever_the_sizes_the_choice_fits(data: st.DataObject) -> None:
    number = st.builds(lambda m, e: Fraction(m) * Fraction(10) ** e, st.integers(0, 30), st.integers(-9, 9))
    rows, items = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 6))
    vectors = st.lists(number, min_size=rows, max_size=rows)
    problem = Items.of(
        data.draw(st.lists(number, min_size=items, max_size=items)),
        data.draw(st.lists(vectors, min_size=items, max_size=items)),
        data.draw(vectors),
    )
    found = frieze_clarke(problem, items)
    assert problem.fits(found.chosen)
    assert found.value == problem.worth(found.chosen)
    assert float(found.value) == pytest.approx(float(best_value(problem)), rel=1e-6)


def test_a_point_that_is_not_basic_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "solve", lambda _: (10.0, np.full(6, 0.5), np.zeros(2)))
    with pytest.raises(RuntimeError, match="6 fractional items, more than a basis of 2 has"):
        frieze_clarke(SIX, 0)
    monkeypatch.setattr(Session, "solve", lambda _: None)
    with pytest.raises(RuntimeError, match="no optimum"):
        frieze_clarke(SIX, 0)


@pytest.mark.parametrize(
    ("values", "weights", "capacity", "message"),
    [
        ((1, -1), ((1,), (1,)), (1,), r"values\[1\]: -1 must not be negative"),
        ((1,), ((-2,),), (1,), r"weights\[0\]\[0\]: -2 must not be negative"),
        ((1,), ((2,),), (-1,), r"capacity\[0\]: -1 must not be negative"),
        ((float("nan"),), ((2,),), (1,), r"values\[0\]: must be a finite number"),
        ((1, 2), ((1,),), (1,), "weights: has 1 rows for 2 values"),
        ((1,), ((1, 2),), (1,), r"weights\[0\]: has 2 entries for 1 capacities"),
    ],
)
def test_bad_numbers_are_refused(
    values: Sequence[float], weights: Sequence[Sequence[float]], capacity: Sequence[float], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        solve_knapsack(values, weights, capacity)


def test_the_methods() -> None:
    assert solve_knapsack(SIX.values, SIX.weights, SIX.capacity, method="lp-floor").value == 19
    exact = solve_knapsack(np.array(SIX.values, dtype=float), SIX.weights, SIX.capacity, method="exact")
    assert exact == Selection(exact.chosen, Fraction(20), None, Fraction(1), 0, 0)
    assert exact.chosen in ((0, 3, 5), (2, 3, 4))
    assert solve_knapsack((0, 1), ((0,), (1,)), (1,), method="exact").chosen == (1,)
    with pytest.raises(ValueError, match="greedy"):
        solve_knapsack(SIX.values, SIX.weights, SIX.capacity, method="greedy")
