"""Every choice of items: exhaustive search agrees, whatever is put aside, merged or rounded, and whenever it ends."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlsched.algorithms.exact import enumeration as module
from dlsched.algorithms.exact.enumeration import Enumeration
from dlsched.algorithms.knapsack_items import Items
from dlsched.halt import Halt, until
from dlsched.solvers.matrix import UnfitNumberError
from tests.longer import examples
from tests.oracles import knapsack as oracle


class Known:
    """The best choice that was offered and fits."""

    def __init__(self, items: Items) -> None:
        self.items, self.value = items, Fraction(0)

    def offer(self, chosen: Sequence[int]) -> Fraction:
        assert len(set(chosen)) == len(chosen)
        if self.items.fits(chosen):
            self.value = max(self.value, self.items.worth(chosen))
        return self.value


def exhaustive(items: Items) -> Fraction:
    return oracle.optimum(items.values, items.weights, items.capacity)


def searched(items: Items, scale: Fraction = Fraction(1)) -> tuple[Fraction, Fraction]:
    known = Known(items)
    try:
        prices = items.prices()
    except UnfitNumberError:
        prices = [Fraction(0)] * len(items.capacity)
    search = Enumeration(items, [scale * y for y in prices], known.value, known.offer)
    assert search.run(10**9)
    return known.value, search.bound


def narrow(monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    """Let all happen to a few choices that otherwise happens to thousands."""
    for name, value in {"_TOGETHER": together, "_START": 2, "_FEW": 1, "_EVERY": 1, "_OPEN": 3}.items():
        monkeypatch.setattr(module, name, value)


weights = st.fractions(0, 12, max_denominator=4)
odd = st.fractions(0, 12, max_denominator=10**15)
huge = st.integers(0, 10**30).map(Fraction)


@pytest.mark.slow
@pytest.mark.parametrize("together", [2, 5, 64])
@pytest.mark.parametrize("numbers", [weights, odd, huge], ids=["plain", "odd", "huge"])
@examples(15, 60)
@given(data=st.data(), n=st.integers(2, 8), rows=st.integers(1, 3))
def test_exhaustive_search_agrees(together: int, numbers: Any, data: Any, n: int, rows: int) -> None:
    u = data.draw(st.lists(numbers, min_size=n, max_size=n))
    v = data.draw(st.lists(st.lists(numbers, min_size=rows, max_size=rows), min_size=n, max_size=n))
    C = [sum(row[r] for row in v) * data.draw(st.fractions(0, 1, max_denominator=8)) for r in range(rows)]
    items = Items.of(u, v, C)
    if items.fits(items.useful):
        return
    with pytest.MonkeyPatch.context() as patch:
        narrow(patch, together)
        value, bound = searched(items)
    best = exhaustive(items)
    # In whole numbers of 2^48 in all, a choice may look better than it is by a unit for each item.
    assert best - sum(u) * Fraction(n, 2**47) <= value <= best
    assert best <= bound <= value + sum(u) * Fraction(n, 2**47)


def test_weights_that_doubles_cannot_tell_apart() -> None:
    """What is best in whole numbers does not fit, what is second does."""
    third, more = Fraction(1, 3), Fraction(1, 10**30)
    items = Items.of([3, 2, 2, 2], [[1 + more], [third], [third], [third]], [1])
    assert items.useful == [1, 2, 3]
    items = Items.of([2, 2, 2, 1], [[third + more], [third], [third], [third]], [1])
    assert searched(items)[0] == 5


def test_items_that_are_alike_are_looked_at_once() -> None:
    """Of 60 items that take 2 of 61 each, any 30 are best: 1.2e17 choices, which no bound tells apart."""
    items = Items.of([1] * 60, [[2, 2]] * 60, [61, 61])
    known = Known(items)
    search = Enumeration(items, items.prices(), known.value, known.offer)
    assert search.run(100_000)
    assert known.value == search.bound == 30


def drawn(seed: int, n: int, rows: int) -> Items:
    rng = np.random.default_rng(seed)
    v = rng.integers(1, 1000, size=(n, rows))
    u = (v.mean(axis=1) + 500 * rng.random(n)).round(3)
    return Items.of(u.tolist(), v.tolist(), (v.sum(axis=0) // 2).tolist())


@pytest.mark.parametrize("seed", range(4))
def test_what_prices_decide_is_left_out(seed: int) -> None:
    """The nearer the known value, the fewer items are open; just below the optimum it is found, at it nothing is."""
    items = drawn(seed, 24, 3)
    best, _ = searched(items)
    below = Known(items)
    search = Enumeration(items, items.prices(), best * Fraction(999, 1000), below.offer)
    assert search.run(10**9)
    assert below.value == search.bound == best
    none = Known(items)
    search = Enumeration(items, items.prices(), best, none.offer)
    assert search.run(10**9)
    assert search.bound == best
    assert none.value == 0


@pytest.mark.parametrize("seed", range(4))
def test_other_prices_give_another_order_and_the_same_value(seed: int) -> None:
    items = drawn(seed, 24, 3)
    assert len({searched(items, scale) for scale in (Fraction(0), Fraction(97, 100), Fraction(2))}) == 1


@pytest.mark.parametrize("polls", [1, 2, 3, 5, 9])
def test_whenever_it_ends_the_bound_is_one(polls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in the middle of a set of choices; and it goes on from there to the same end."""
    narrow(monkeypatch, 8)
    items = drawn(1, 12, 3)
    best, known = exhaustive(items), Known(items)
    search = Enumeration(items, items.prices(), known.value, known.offer)
    with pytest.raises(Halt), until(after(polls)):
        search.run(10**9)
    assert known.value <= best <= search.bound
    assert search.run(10**9)
    assert known.value == search.bound == best


def after(asked: int) -> Callable[[], bool]:
    times = itertools.count()
    return lambda: next(times) >= asked


@pytest.mark.slow
def test_a_budget_ends_it_and_what_is_open_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow(monkeypatch, 4)
    items = drawn(2, 14, 3)
    known = Known(items)
    search = Enumeration(items, items.prices(), known.value, known.offer)
    bounds = []
    while not search.run(search.looked_at + 20):
        bounds.append(search.bound)
    best = exhaustive(items)
    assert known.value == search.bound == best
    assert len(bounds) > 2
    assert bounds == sorted(bounds, reverse=True)
    assert min(bounds) >= best


def test_what_is_put_aside_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes on from a set that was put aside is as many as from the first, however often that happens."""
    narrow(monkeypatch, 8)
    rng = np.random.default_rng(0)
    items = Items.of([1] * 30, [[int(w)] for w in rng.integers(10**6, 10**7, 30)], [9 * 10**7])
    search = Enumeration(items, items.prices(), Fraction(0), Known(items).offer)
    for most in range(100, 5000, 100):
        search.run(most)
        assert max((len(choices.worth) for choices in search._open), default=0) <= 16
