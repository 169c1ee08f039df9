"""Programs written down one by one and in blocks are the same arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

from dlsched.halt import Halt, until
from dlsched.solvers import Builder, solve_to_optimality


def test_one_by_one() -> None:
    program = Builder(-1, offset=2.0)
    x, y = program.binary(cost=3.0), program.column(4.0, lower=-1.0, integer=True)
    z = program.column()
    assert (x, y, z) == (0, 1, 2)
    assert program.row([(z, 1.0), (x, 2.0), (z, 0.5)], upper=5.0) == 0
    assert program.row([(y, 1.0), (x, 1.0), (y, -1.0)], 0.0, 0.0) == 1
    program.price(z, 7.0)
    matrix = program.matrix(["load", "balance"], ["x", "y", "z"])
    assert (matrix.sense, matrix.offset) == (-1, 2.0)
    assert matrix.c.tolist() == [3.0, 0.0, 7.0]
    assert matrix.lower.tolist() == [0.0, -1.0, 0.0]
    assert matrix.upper.tolist() == [1.0, 4.0, math.inf]
    assert matrix.integer.tolist() == [True, True, False]
    assert matrix.A.toarray().tolist() == [[2.0, 0.0, 1.5], [1.0, 0.0, 0.0]]
    assert matrix.A.nnz == 3
    assert matrix.row_lower.tolist() == [-math.inf, 0.0]
    assert matrix.row_upper.tolist() == [5.0, 0.0]
    assert (matrix.row(1), matrix.column(2)) == ("balance", "z")


@pytest.mark.parametrize("seed", range(30))
def test_blocks_and_single_rows_in_any_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    program, dense = Builder(1), np.zeros((0, 0))
    lower, upper, cost = [], [], []
    row_upper: list[float] = []
    for _ in range(12):
        if rng.random() < 0.5:
            shape = tuple(rng.integers(0, 4, 2).tolist())
            low, worth = rng.random(shape), float(rng.random())
            numbers = program.columns(1.0, lower=low, cost=worth)
            assert numbers.shape == shape
            assert numbers.ravel().tolist() == list(range(dense.shape[1], dense.shape[1] + low.size))
            lower += low.ravel().tolist()
            upper += [1.0] * low.size
            cost += [worth] * low.size
        else:
            assert program.column(2.0, cost=5.0) == dense.shape[1]
            lower, upper, cost = [*lower, 0.0], [*upper, 2.0], [*cost, 5.0]
        dense = np.pad(dense, ((0, 0), (0, len(lower) - dense.shape[1])))
        terms = [(int(j), float(rng.integers(-2, 3))) for j in rng.integers(0, max(1, len(lower)), 3) if lower]
        if rng.random() < 0.5:
            own = program.row(terms, upper=1.0)
            dense = np.pad(dense, ((0, 1), (0, 0)))
            row_upper.append(1.0)
            for column, value in terms:
                dense[own, column] += value
        else:
            sides = rng.random((2, int(rng.integers(0, 3))))
            rows = program.rows(upper=sides)
            dense = np.pad(dense, ((0, sides.size), (0, 0)))
            row_upper += sides.ravel().tolist()
            for column, value in terms:
                program.add(rows, column, value)
                dense[rows.ravel(), column] += value
    matrix = program.matrix()
    assert np.array_equal(matrix.A.toarray(), dense)
    assert matrix.A.has_canonical_format
    assert (matrix.A.data != 0).all()
    assert (matrix.lower.tolist(), matrix.upper.tolist(), matrix.c.tolist()) == (lower, upper, cost)
    assert matrix.row_upper.tolist() == row_upper
    assert not np.isfinite(matrix.row_lower).any()


def test_a_matrix_is_not_changed_by_what_is_written_later() -> None:
    program = Builder(-1)
    x = program.columns(np.ones(2), cost=1.0)
    program.add(program.rows(upper=[1.0]), x, 1.0)
    before = program.matrix()
    program.row([(0, 1.0)], upper=0.25)
    program.price(x, 0.0)
    assert before.A.shape == (1, 2)
    assert before.c.tolist() == [1.0, 1.0]
    assert program.matrix().A.shape == (2, 2)


def test_programs_without_rows_or_columns() -> None:
    assert Builder(1).matrix().A.shape == (0, 0)
    program = Builder(-1)
    program.columns(np.full(3, 2.0), cost=[1.0, 0.0, -1.0])
    found = solve_to_optimality(program.matrix())
    assert found is not None
    assert found.value == 2.0
    program = Builder(1)
    program.row([], lower=1.0)
    assert isinstance(program.matrix().A, sp.csr_array)
    assert solve_to_optimality(program.matrix()) is None


def test_rows_are_not_written_when_the_work_is_over() -> None:
    program = Builder(1)
    with until(lambda: True):
        for write in (lambda: program.row([]), lambda: program.rows(upper=[1.0])):
            with pytest.raises(Halt):
                write()
    assert program.matrix().A.shape == (0, 0)
