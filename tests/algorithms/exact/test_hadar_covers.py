"""Rows of whole numbers of slots say the same as shares, for whole numbers, and nothing stronger does."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from dlsched.algorithms.exact.hadar.covers import cover_rows

SHARES = st.lists(
    st.fractions(Fraction(1, 12), 1, max_denominator=40) | st.floats(1 / 12, 1).map(Fraction),
    min_size=1,
    max_size=3,
    unique=True,
)


def counts(levels: int, slots: int) -> list[tuple[int, ...]]:
    """Every way to run in so many slots at most."""
    return [n for n in itertools.product(range(slots + 1), repeat=levels) if sum(n) <= slots]


def times(row: tuple[Fraction, ...], n: tuple[int, ...]) -> Fraction:
    return sum((a * k for a, k in zip(row, n, strict=True)), Fraction(0))


@given(SHARES, st.integers(1, 7))
def test_the_same_numbers_are_complete(shares: list[Fraction], slots: int) -> None:
    rows = cover_rows(shares, slots)
    assert len(rows) == slots
    for upto, own in enumerate(rows, 1):
        for n in counts(len(shares), upto):
            assert (times(tuple(shares), n) >= 1) == all(times(row, n) >= 1 for row in own)


@given(SHARES, st.integers(2, 8), st.integers(0, 2**32 - 1))
def test_they_are_the_hull(shares: list[Fraction], slots: int, seed: int) -> None:
    """By linear programs over the rows: the cheapest numbers are whole ones, whatever slots cost."""
    rows = cover_rows(shares, slots)[-1]
    complete = [n for n in counts(len(shares), slots) if times(tuple(shares), n) >= 1]
    if not complete:
        assert rows == [(0,) * len(shares)]
        return
    for costs in np.random.default_rng(seed).uniform(0, 1, (5, len(shares))):
        rounded = [[-float(a) for a in row] for row in rows]
        found = scipy.optimize.linprog(costs, A_ub=rounded, b_ub=-np.ones(len(rows)))
        assert found.fun == pytest.approx(min(float(costs @ n) for n in complete), abs=1e-7)


@given(SHARES, st.integers(1, 7))
def test_none_implies_another(shares: list[Fraction], slots: int) -> None:
    for own in cover_rows(shares, slots):
        for one, other in itertools.permutations(own, 2):
            assert any(a < b for a, b in zip(one, other, strict=True))


def test_one_level_counts_slots() -> None:
    assert cover_rows([Fraction(3, 10)], 5) == [[(0,)], [(0,)], [(0,)], [(Fraction(1, 4),)], [(Fraction(1, 4),)]]


def test_two_levels_by_hand() -> None:
    """1, .4: once at the first, or three times at the second; of the two once and twice is more than enough."""
    assert cover_rows([Fraction(1), Fraction(2, 5)], 3) == [
        [(Fraction(1), Fraction(0))],
        [(Fraction(1), Fraction(0))],
        [(Fraction(1), Fraction(1, 3))],
    ]


def test_too_many_numbers_leave_the_shares() -> None:
    shares = tuple(Fraction(1, 30 + k) for k in range(4))
    assert cover_rows(shares, 60) == [[shares]] * 60
