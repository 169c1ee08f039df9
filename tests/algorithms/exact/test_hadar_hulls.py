"""Rows of whole numbers say the same as shares and gangs do, for whole numbers, and nothing stronger does."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from dlsched.algorithms.exact.hadar.hulls import Coefficients, covering, packing
from tests.longer import examples

SHARES = st.lists(
    st.fractions(Fraction(1, 12), 1, max_denominator=40) | st.floats(1 / 12, 1).map(Fraction),
    min_size=1,
    max_size=3,
    unique=True,
).map(lambda shares: sorted(shares, reverse=True))
GANGS = st.dictionaries(st.integers(1, 7), st.integers(1, 4), min_size=1, max_size=4).map(
    lambda gangs: dict(sorted(gangs.items(), reverse=True))
)
SEEDS = st.integers(0, 2**32 - 1)


def times(row: Sequence[Fraction | int], n: Sequence[int]) -> Fraction:
    return sum((Fraction(a * k) for a, k in zip(row, n, strict=True)), Fraction(0))


def best(costs: np.ndarray, rows: list[Coefficients], sign: int) -> float:
    """Return the least (sign 1) or greatest (-1) of what costs, times n >= 0, by the linear program over rows."""
    found = scipy.optimize.linprog(
        sign * costs, A_ub=[[-sign * float(a) for a in row] for row in rows], b_ub=-sign * np.ones(len(rows))
    )
    return sign * float(found.fun)


def counts(levels: int, slots: int) -> list[tuple[int, ...]]:
    """Every way to run in so many slots at most."""
    return [n for n in itertools.product(range(slots + 1), repeat=levels) if sum(n) <= slots]


@pytest.mark.slow
@given(SHARES, st.integers(1, 7))
def test_the_same_numbers_are_complete(shares: list[Fraction], slots: int) -> None:
    rows = covering(shares, slots)
    assert len(rows) == slots
    for upto, own in enumerate(rows, 1):
        for n in counts(len(shares), upto):
            assert (times(shares, n) >= 1) == all(times(row, n) >= 1 for row in own)


@pytest.mark.slow
@examples(20, 60)
@given(shares=SHARES, slots=st.integers(2, 8), seed=SEEDS)
def test_the_cheapest_complete_numbers_are_whole(shares: list[Fraction], slots: int, seed: int) -> None:
    rows = covering(shares, slots)[-1]
    complete = [n for n in counts(len(shares), slots) if times(shares, n) >= 1]
    if not complete:
        assert rows == [(0,) * len(shares)]
        return
    for costs in np.random.default_rng(seed).uniform(0, 1, (5, len(shares))):
        assert best(costs, rows, 1) == pytest.approx(min(float(costs @ n) for n in complete), abs=1e-7)


@pytest.mark.slow
@examples(20, 60)
@given(gangs=GANGS, data=st.data())
def test_the_same_gangs_fit(gangs: dict[int, int], data: st.DataObject) -> None:
    sizes, most = tuple(gangs), tuple(gangs.values())
    room = data.draw(st.integers(max(sizes), times(sizes, most).numerator))
    rows = packing(sizes, most, room)
    for n in itertools.product(*(range(jobs + 2) for jobs in most)):
        fits = times(sizes, n) <= room and all(k <= jobs for k, jobs in zip(n, most, strict=True))
        assert fits == all(times(row, n) <= 1 for row in rows)


@pytest.mark.slow
@examples(20, 60)
@given(gangs=GANGS, data=st.data(), seed=SEEDS)
def test_the_dearest_gangs_that_fit_are_whole(gangs: dict[int, int], data: st.DataObject, seed: int) -> None:
    sizes, most = tuple(gangs), tuple(gangs.values())
    room = data.draw(st.integers(max(sizes), times(sizes, most).numerator))
    rows = packing(sizes, most, room)
    fitting = [n for n in itertools.product(*(range(jobs + 1) for jobs in most)) if times(sizes, n) <= room]
    for costs in np.random.default_rng(seed).uniform(0, 1, (5, len(sizes))):
        assert best(costs, rows, -1) == pytest.approx(max(float(costs @ n) for n in fitting), abs=1e-7)


@pytest.mark.slow
@given(SHARES, GANGS, st.integers(1, 7))
def test_none_implies_another(shares: list[Fraction], gangs: dict[int, int], slots: int) -> None:
    fitting = packing(tuple(gangs), tuple(gangs.values()), max(gangs) + slots)
    for own in (*covering(shares, slots), fitting):
        for one, other in itertools.permutations(own, 2):
            assert any(a < b for a, b in zip(one, other, strict=True))


def test_one_level_counts_slots() -> None:
    assert covering([Fraction(3, 10)], 5) == [[(0,)], [(0,)], [(0,)], [(Fraction(1, 4),)], [(Fraction(1, 4),)]]


def test_two_levels_by_hand() -> None:
    """1, .4: once at the first, or three times at the second; with one of each there is one too many."""
    assert covering([Fraction(1), Fraction(2, 5)], 3) == [[(1, 0)], [(1, 0)], [(1, Fraction(1, 3))]]


def test_gangs_by_hand() -> None:
    """Of three gangs of two and one of three, five devices hold two, or one and the large one."""
    assert packing((3, 2), (1, 3), 5) == [(Fraction(1, 2), Fraction(1, 2)), (1, 0)]


def test_too_many_numbers_leave_one_row() -> None:
    shares = tuple(Fraction(1, 30 + k) for k in range(4))
    assert covering(shares, 60) == [[shares]] * 60
    sizes = (13, 11, 7, 5, 3)
    assert packing(sizes, (40,) * 5, 400) == [tuple(Fraction(size, 400) for size in sizes)]


def test_many_devices_and_far_speeds_take_no_time() -> None:
    """Numbers are listed one by one, and none but those that count."""
    assert covering([Fraction(1), *(Fraction(1, 1000 + k) for k in range(6))], 900)[0] == [(1, *(0,) * 6)]
    assert len(packing((16, 8, 4, 2, 1), (400,) * 5, 7000)) == 1
