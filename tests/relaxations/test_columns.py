"""Column generation on cutting stock and on a small assignment, with bounds checked against full enumeration."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from dlsched.errors import InputError
from dlsched.relaxations.columns import Priced, Pricing, generate_columns, keep
from dlsched.relaxations.master import Column, Master
from dlsched.solvers.matrix import Floats
from dlsched.solvers.solution import SolverError


class Choice:
    """Blocks with a few listed columns each: the problem is known, pricing is by looking at all of them."""

    def __init__(self, values: list[list[float]], rows: list[list[list[float]]], rhs: list[float]) -> None:
        self.columns = [
            [Column(k, i, v, np.array(a, dtype=float), (k, i)) for i, (v, a) in enumerate(zip(vs, rs, strict=True))]
            for k, (vs, rs) in enumerate(zip(values, rows, strict=True))
        ]
        self.rhs = np.array(rhs, dtype=float)
        self.calls = 0

    def master(self) -> Master:
        return Master(self.rhs, len(self.columns), penalty=1e4)

    def price(self, prices: Floats) -> Priced:
        self.calls += 1
        best = [max(block, key=lambda c: c.value - prices @ c.rows) for block in self.columns]
        return Priced(np.array([c.value - prices @ c.rows for c in best]), best)

    def lp(self) -> float:
        every = [c for block in self.columns for c in block]
        blocks = [[float(c.block == k) for c in every] for k in range(len(self.columns))]
        rows = np.vstack([np.array([c.rows for c in every]).T, blocks])
        limits = np.concatenate([self.rhs, np.ones(len(self.columns))])
        return -linprog([-c.value for c in every], A_ub=rows, b_ub=limits).fun

    def integral(self) -> list[tuple[float, tuple[int, ...]]]:
        """Every feasible choice of at most one column a block (-1: none), with its value."""
        found = []
        for pick in itertools.product(*[range(-1, len(block)) for block in self.columns]):
            chosen = [self.columns[k][i] for k, i in enumerate(pick) if i >= 0]
            if (sum((c.rows for c in chosen), np.zeros(len(self.rhs))) <= self.rhs + 1e-9).all():
                found.append((sum(c.value for c in chosen), pick))
        return found


@st.composite
def choices(draw: st.DrawFn) -> Choice:
    blocks, rows = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    number = st.integers(0, 9).map(float)
    sizes = [draw(st.integers(1, 3)) for _ in range(blocks)]
    return Choice(
        [[draw(number) for _ in range(n)] for n in sizes],
        [[[draw(number) for _ in range(rows)] for _ in range(n)] for n in sizes],
        [draw(st.integers(1, 12)) for _ in range(rows)],
    )


def small() -> Choice:
    """Two blocks and one row of 4: LP 8 (by hand: half of a, b), best whole choice 6."""
    return Choice([[6.0], [5.0]], [[[4.0]], [[2.0]]], [4.0])


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(choices(), st.sampled_from([0.0, 0.3, 0.8]))
def test_bound_is_the_lp_over_all_columns(problem: Choice, smoothing: float) -> None:
    found = generate_columns(problem.master(), problem.price, smoothing=smoothing)
    assert found.finished
    assert found.bound == pytest.approx(problem.lp(), abs=1e-6)
    assert found.value == pytest.approx(found.bound, abs=1e-6)
    assert (found.duals >= 0).all()


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(choices(), st.integers(1, 3))
def test_bound_is_valid_when_cut_short(problem: Choice, rounds: int) -> None:
    found = generate_columns(problem.master(), problem.price, rounds=rounds)
    assert found.bound >= problem.lp() - 1e-9
    assert found.bound >= max(value for value, _ in problem.integral()) - 1e-9


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(choices())
def test_fixing_keeps_every_better_solution(problem: Choice) -> None:
    found = generate_columns(problem.master(), problem.price)
    solutions = problem.integral()
    incumbent = sorted(value for value, _ in solutions)[len(solutions) // 2]
    share = np.maximum(found.best, 0.0)
    for k, block in enumerate(problem.columns):
        reduced = np.array([c.value - found.duals @ c.rows for c in block]) - share[k]
        kept = keep(reduced, found.bound, incumbent - 1e-7)
        assert all(kept[pick[k]] for value, pick in solutions if value > incumbent and pick[k] >= 0)


def test_recover_gives_the_mixture() -> None:
    found = generate_columns(small().master(), small().price)
    assert found.bound == pytest.approx(8)
    assert sorted(found.recover()) == [((0, 0), pytest.approx(0.5)), ((1, 0), pytest.approx(1.0))]


def test_a_required_block_is_served_though_it_costs() -> None:
    problem = Choice([[-3.0], [5.0]], [[[1.0]], [[2.0]]], [4.0])
    master = problem.master()
    assert generate_columns(master, problem.price).bound == pytest.approx(5)
    master.restrict(np.ones(len(master.columns), dtype=bool), np.array([True, False]))
    assert generate_columns(master, problem.price).bound == pytest.approx(2)


def test_banned_columns_are_not_used_until_they_are_allowed_again() -> None:
    problem = small()
    master = problem.master()
    generate_columns(master, problem.price)
    banned = np.array([c.block != 0 for c in master.columns])
    master.restrict(banned, np.zeros(2, dtype=bool))
    assert master.solve()[0] == pytest.approx(5)
    master.restrict(np.ones(2, dtype=bool), np.zeros(2, dtype=bool))
    assert master.solve()[0] == pytest.approx(8)


@pytest.mark.parametrize("bad", [-0.5, np.nan])
def test_a_bound_is_of_prices_that_are_not_negative(bad: float) -> None:
    """At negative ones, what a row has left lowers the "bound", below what the program is worth."""
    master = small().master()
    with pytest.raises(InputError, match=r"^prices: must not be negative"):
        master.bound(np.array([bad]), np.zeros(2))
    with pytest.raises(InputError, match=r"^prices: has shape \(2,\), not \(1,\)$"):
        master.bound(np.zeros(2), np.zeros(2))


def test_a_new_row_tightens_and_can_be_dropped() -> None:
    problem = small()
    master = problem.master()
    generate_columns(master, problem.price)
    master.add_rows(np.ones(1), np.array([[1.0] * len(master.columns)]))
    assert master.solve()[0] == pytest.approx(6)
    assert all(len(c.rows) == 2 for c in master.columns)
    master.keep_rows(np.array([True, False]))
    assert master.solve()[0] == pytest.approx(8)


def test_forgotten_columns_may_come_back() -> None:
    problem = small()
    master = problem.master()
    generate_columns(master, problem.price)
    master.keep_columns(np.zeros(len(master.columns), dtype=bool))
    assert master.solve()[0] == pytest.approx(0)
    assert generate_columns(master, problem.price).bound == pytest.approx(8)


def test_prices_lie_on_the_grid() -> None:
    seen: list[Floats] = []
    problem = Choice([[1.0, 0.7], [0.9]], [[[0.3], [0.1]], [[0.7]]], [0.5])

    def price(prices: Floats) -> Priced:
        seen.append(prices)
        return problem.price(prices)

    generate_columns(problem.master(), price, grid=2.0**-4)
    assert all(float(p * 16).is_integer() for prices in seen for p in prices)


def test_stop_ends_it_with_a_valid_bound() -> None:
    found = generate_columns(small().master(), small().price, stop=lambda bound, value: True)
    assert found.rounds == 1
    assert found.bound >= 8


def test_several_pricing_callables_add_up() -> None:
    problem = small()

    def only(k: int) -> Pricing:
        def price(prices: Floats) -> Priced:
            priced = problem.price(prices)
            return Priced(np.where(np.arange(2) == k, priced.best, 0.0), [c for c in priced.columns if c.block == k])

        return price

    assert generate_columns(problem.master(), [only(0), only(1)]).bound == pytest.approx(8)


@pytest.mark.parametrize(
    ("best", "column", "says"),
    [
        ([5.0], Column(0, "a", 5.0, np.ones(2)), r"best: has shape \(1,\), not \(2,\)"),
        (5.0, Column(0, "a", 5.0, np.ones(2)), r"best: has shape \(\), not \(2,\)"),
        ([0.0, np.nan], Column(0, "a", 5.0, np.ones(2)), "best: that of block 1 is not a number"),
        ([5.0, 0.0], Column(0, "a", 5.0, np.ones(1)), r"columns\[0\]: rows has shape \(1,\), not \(2,\)"),
        ([5.0, 0.0], Column(-1, "a", 5.0, np.ones(2)), r"columns\[0\]: block -1 is not one of 0..1"),
        ([5.0, 0.0], Column(2, "a", 5.0, np.ones(2)), r"columns\[0\]: block 2 is not one of 0..1"),
        ([5.0, 0.0], Column(0.0, "a", 5.0, np.ones(2)), r"columns\[0\]: block 0.0 is not one of 0..1"),
        (
            [5.0, 0.0],
            Column(0, "a", np.nan, np.ones(2)),
            "block 0 with the key 'a' has the value nan, which is not a fin",
        ),
        (
            [5.0, 0.0],
            Column(0, "a", -np.inf, np.ones(2)),
            "block 0 with the key 'a' has the value -inf, which is not a",
        ),
        (
            [5.0, 0.0],
            Column(0, "a", 5.0, np.array([1, np.nan])),
            r"the key 'a' has the rows\[1\] nan, which is not a fin",
        ),
        (
            [5.0, 0.0],
            Column(0, "a", 5.0, np.array([1, np.inf])),
            r"the key 'a' has the rows\[1\] inf, which is not a fin",
        ),
        ([4.0, 0.0], Column(0, "a", 5.0, np.ones(2)), r"best: that of block 0 is 4, but columns\[0\] is worth 5"),
        (
            [-np.inf, 0.0],
            Column(0, "a", 5.0, np.ones(2)),
            r"best: that of block 0 is -inf, but columns\[0\] is worth 5",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_a_pricing_returns_is_of_the_master(best: Any, column: Column, says: str) -> None:
    """One number for two blocks would be taken for both, and the bound be none; a short column, for all rows."""
    with pytest.raises(ValueError, match=says):
        generate_columns(Master(np.ones(2), 2, penalty=100.0), lambda prices: Priced(best, [column]))


@pytest.mark.parametrize(
    ("column", "says"),
    [
        ((0, "a", 5.0, np.ones(1)), r"columns\[0\]: expected a dlsched\.relaxations\.Column, got a tuple"),
        (Column(0, ["a"], 5.0, np.ones(1)), r"columns\[0\]: key must be hashable, as a tuple is; it is a list"),
        (Column(0, "a", "5", np.ones(1)), r"columns\[0\]: value and rows must be numbers"),
        (Column(0, "a", 5.0, np.array(["1"])), r"columns\[0\]: value and rows must be numbers"),
    ],
)
def test_columns_of_the_wrong_types(column: Any, says: str) -> None:
    master = Master(np.ones(1), 1, penalty=100.0)
    with pytest.raises(TypeError, match=f"^{says}$"):
        generate_columns(master, lambda prices: Priced(np.array([5.0]), [column]))
    with pytest.raises(TypeError, match=f"^{says}$"):
        master.add([column])


def test_a_key_stands_for_one_column() -> None:
    """Of two columns with the same key, the second was taken for the first: a bound of 9 stood beside a value of 6."""
    dear, cheap = Column(0, "a", 6.0, np.ones(1)), Column(0, "a", 9.0, np.ones(1))
    says = "^columns: two of block 0 have the key 'a' and other numbers$"
    with pytest.raises(InputError, match=says):
        generate_columns(Master(np.ones(1), 1, penalty=100.0), lambda p: Priced(np.array([9 - p[0]]), [dear, cheap]))
    master = Master(np.ones(1), 2, penalty=100.0)
    assert master.add([dear, dear, Column(0, "a", 6.0, np.ones(1)), Column(1, "a", 9.0, np.ones(1))]) == 2
    with pytest.raises(InputError, match=says):
        master.add([Column(0, "a", 6.0, np.zeros(1))])
    with pytest.raises(InputError, match="has the value nan"):
        master.add([Column(1, "b", np.nan, np.ones(1))])
    assert master.add([Column(1, "b", 7.0, np.ones(1))]) == 1
    assert master.solve()[0] == pytest.approx(9)


def test_a_block_that_is_worth_anything_at_low_prices() -> None:
    """At the price 0 it takes as much as there may be, and has no best; 5 a unit are paid from the next prices on."""
    unit, offers = Column(0, 1, 20.0, np.array([4.0])), [np.inf, 20.0]

    def price(prices: Floats) -> Priced:
        return Priced(np.array([offers[0] if prices[0] < 4 else 20 - 4 * prices[0]]), [unit])

    found = generate_columns(Master(np.array([2.0]), 1, penalty=100.0), price)
    assert (found.finished, found.bound, found.value) == (True, pytest.approx(10), pytest.approx(10))


def test_columns_from_a_generator() -> None:
    def price(prices: Floats) -> Priced:
        once: Any = iter([Column(0, "a", 5.0, np.ones(1))])
        return Priced(np.array([5 - prices[0]]), once)

    assert generate_columns(Master(np.ones(1), 1, penalty=100.0), price).value == pytest.approx(5)


def test_masters_of_wrong_shape() -> None:
    for rhs in ([np.inf], [np.nan], 4.0, [[4.0]]):
        with pytest.raises(InputError, match=r"^rhs: must be a vector of finite numbers, not "):
            Master(np.array(rhs), 1, penalty=100.0)
    master = small().master()
    master.add([column for block in small().columns for column in block])
    with pytest.raises(InputError, match=r"^allowed: has shape \(1,\), not \(2,\)$"):
        master.restrict(np.array([True]), np.array([False, False]))
    with pytest.raises(InputError, match=r"^required: has shape \(3,\), not \(2,\)$"):
        master.restrict(np.array([True, True]), np.array([False, False, False]))
    with pytest.raises(SolverError, match="no columns of the master keep its linking rows: add some that do"):
        Master(np.array([-1.0]), 1, penalty=100.0).solve()


@pytest.mark.parametrize("unit", [1e-30, 1e-11, 1e-9, 1e-6, 1.0, 1e9, 1e14, 1e20])
@pytest.mark.parametrize("first", [0.0, 1e-40])
def test_a_row_whose_side_is_0_may_be_in_any_unit(unit: float, first: float) -> None:
    """By hand: 3 a - 2 b <= 0 lets b = 1 be paid for 2/3 of a. In units of 1e-11 nothing was, and in smaller ones a was
    1 for nothing; those of 1e20 were refused. What a column that came earlier takes is lost beside them."""
    master = Master(np.array([0.0]), 3, penalty=100.0)
    master.add([Column(2, "early", -9.0, np.array([first]))])
    master.add([Column(0, "a", 5.0, np.array([3 * unit]))])
    assert master.solve()[0] == pytest.approx(0.0, abs=1e-9)
    master.add([Column(1, "b", -1.0, np.array([-2 * unit]))])
    value, x, prices, _ = master.solve()
    assert (value, x[1:].tolist()) == (pytest.approx(7 / 3), [pytest.approx(2 / 3), pytest.approx(1)])
    assert prices * unit == pytest.approx(5 / 3)


@pytest.mark.parametrize("unit", [1e-15, 1e-10, 1e-8, 1e-4, 1.0, 1e10])
def test_values_may_be_in_any_unit(unit: float) -> None:
    """From 1e-8 on, columns gained no more than HiGHS forgives: the value was 12 and the bound 31, by hand both 26."""
    values = [[0, 5, 8, 10], [0, 4, 8, 12], [0, 2, 4, 9]]
    sizes = [[[float(n)] for n in range(4)]] * 3
    problem = Choice([[unit * v for v in row] for row in values], sizes, [7.0])
    found = generate_columns(Master(problem.rhs, 3, penalty=100 * unit), problem.price)
    assert found.finished
    assert (found.bound / unit, found.value / unit) == (pytest.approx(26), pytest.approx(26))
    assert (found.duals / unit).tolist() == pytest.approx([3])


def test_masters_without_blocks_or_penalty() -> None:
    """The first ended in "HiGHS did not solve a linear program", or in what numpy says of a negative dimension."""
    with pytest.raises(InputError, match=r"^blocks: 0 must be at least 1$"):
        Master(np.ones(1), 0, penalty=100.0)
    with pytest.raises(TypeError, match=r"^blocks: expected a whole number, got 1.5$"):
        Master(np.ones(1), 1.5, penalty=100.0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^penalty: 0 must be positive$"):
        Master(np.ones(1), 1, penalty=0)


def test_a_pricing_that_returns_something_else() -> None:
    with pytest.raises(TypeError, match=r"^pricing: expected a dlsched\.relaxations\.Priced, got a tuple$"):
        generate_columns(Master(np.ones(2), 2, penalty=100.0), lambda prices: (prices, []))


@pytest.mark.parametrize(
    ("start", "says"),
    [
        ([-1.0], "start: prices must be numbers that are not negative"),
        ([np.nan], "start: prices must be numbers that are not negative"),
        ([0.0, 0.0], r"start: has shape \(2,\), for 1 linking rows"),
    ],
)
def test_prices_to_start_from_are_prices(start: list[float], says: str) -> None:
    """At the price -1, the bound of 100 units, of which the best column, worth 1, needs none, would be -99."""
    column = Column(0, "a", 1.0, np.zeros(1))
    with pytest.raises(InputError, match=f"^{says}$"):
        generate_columns(
            Master(np.array([100.0]), 1, penalty=100.0), lambda p: Priced(np.ones(1), [column]), start=np.array(start)
        )
