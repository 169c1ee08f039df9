"""Infeasible subsystems: no point keeps all sides, and without any one of them there is a point."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dlsched.halt import Halt, until
from dlsched.solvers import Builder, InfeasibleSubsystem, Matrix, infeasible_subsystem, solve_to_optimality
from dlsched.solvers.infeasible import contradiction
from dlsched.solvers.propagation import refutation
from tests.longer import longer


def has_point(matrix: Matrix) -> bool:
    return solve_to_optimality(replace(matrix, c=np.zeros_like(matrix.c))) is not None


def is_irreducible(matrix: Matrix, found: InfeasibleSubsystem) -> None:
    """Check the definition with solves of our own."""
    assert not has_point(found.within(matrix))
    for row in found.lower:
        rest = replace(found, lower=tuple(other for other in found.lower if other != row))
        assert has_point(rest.within(matrix)), row
    for row in found.upper:
        rest = replace(found, upper=tuple(other for other in found.upper if other != row))
        assert has_point(rest.within(matrix)), row
    for column in found.least:
        rest = replace(found, least=tuple(other for other in found.least if other != column))
        assert has_point(rest.within(matrix)), column
    for column in found.most:
        rest = replace(found, most=tuple(other for other in found.most if other != column))
        assert has_point(rest.within(matrix)), column
    assert has_point(matrix.relaxed()) == found.integral


def jobs(integer: bool, room: float) -> Matrix:
    """Three gangs of 2 that must all run, two machines with so much room each, and rows that do not matter."""
    program = Builder(-1)
    x = program.columns(np.ones((3, 2)), cost=1.0, integer=integer)
    for job in x.tolist():
        program.row([(column, 1.0) for column in job], lower=1.0)
    for machine in x.T.tolist():
        program.row([(column, 2.0) for column in machine], upper=room)
    program.row([(int(x[0, 0]), 1.0), (int(x[1, 1]), 1.0)], upper=2.0)
    return program.matrix()


def test_what_is_feasible_has_none() -> None:
    assert infeasible_subsystem(jobs(True, 4.0)) is None
    assert infeasible_subsystem(jobs(False, 3.0)) is None


def test_rows_that_conflict_in_a_linear_program() -> None:
    matrix = jobs(True, 2.0)
    found = infeasible_subsystem(matrix)
    assert found == InfeasibleSubsystem((0, 1, 2), (3, 4), integral=False, irreducible=True)
    assert found.rows == (0, 1, 2, 3, 4)
    is_irreducible(matrix, found)


def test_integers_that_conflict_where_fractions_do_not() -> None:
    matrix = jobs(True, 3.0)
    found = infeasible_subsystem(matrix)
    assert found == InfeasibleSubsystem((0, 1, 2), (3, 4), integral=True, irreducible=True)
    is_irreducible(matrix, found)


def test_one_side_of_an_equation() -> None:
    program = Builder(1)
    x, y = program.column(), program.column()
    program.row([(x, 1.0), (y, 1.0)], 3.0, 3.0)
    program.row([(x, 1.0), (y, 1.0)], upper=2.0)
    assert infeasible_subsystem(program.matrix()) == InfeasibleSubsystem((0,), (1,), False, True)


def test_bounds_that_cross_and_a_row_without_entries() -> None:
    program = Builder(1)
    program.column(1.0, lower=2.0)
    program.row([], lower=-1.0, upper=1.0)
    assert infeasible_subsystem(program.matrix()) == InfeasibleSubsystem((), (), False, True, (0,), (0,))
    program = Builder(1)
    program.column(1.0)
    program.row([], lower=1.0)
    assert infeasible_subsystem(program.matrix()) == InfeasibleSubsystem((0,), (), False, True)


@pytest.mark.parametrize("seed", longer(range(40), *range(15, 40)))
def test_random_programs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 9)), int(rng.integers(2, 7))
    lower = np.where(rng.random(m) < 0.5, rng.integers(-5, 6, m), -np.inf)
    upper = np.where(rng.random(m) < 0.5, np.maximum(lower, rng.integers(-6, 3, m)), np.inf)
    program = Builder(1)
    x = program.columns(np.full(n, 3.0), cost=rng.random(n), integer=rng.random(n) < 0.5)
    rows = program.rows(lower, upper)
    program.add(rows[:, None], x, np.where(rng.random((m, n)) < 0.4, rng.integers(-5, 6, (m, n)), 0))
    matrix = program.matrix()
    found = infeasible_subsystem(matrix)
    assert (found is None) == (solve_to_optimality(matrix) is not None)
    if found is not None:
        assert found.irreducible
        is_irreducible(matrix, found)
        is_shown_by_a_sum(matrix, found)
        is_shown_by_steps(matrix, found)


def is_shown_by_a_sum(matrix: Matrix, found: InfeasibleSubsystem) -> None:
    """No point within the bounds has a sum of the rows as large as is needed: computed in full here."""
    total = contradiction(matrix, found)
    if total is None:
        assert found.integral or not any([*matrix.row_lower[list(found.lower)], *matrix.row_upper[list(found.upper)]])
        return
    own, a = found.within(matrix), matrix.A.toarray()
    assert min([*total.lower.values(), *total.upper.values(), 1.0]) > 0
    row = sum((w * a[i] for i, w in total.lower.items()), np.zeros(a.shape[1]))
    row = row - sum((w * a[i] for i, w in total.upper.items()), np.zeros(a.shape[1]))
    row[np.abs(row) < 1e-9] = 0
    most = sum(c * (own.upper[n] if c > 0 else own.lower[n]) for n, c in enumerate(row.tolist()) if c)
    assert most == pytest.approx(total.bounds)
    assert total.there == pytest.approx(most + sum(w * matrix.row_upper[i] for i, w in total.upper.items()))
    assert total.needed == pytest.approx(sum(w * matrix.row_lower[i] for i, w in total.lower.items()))
    assert total.needed > total.there + 1e-6


def is_shown_by_steps(matrix: Matrix, found: InfeasibleSubsystem) -> None:
    """Each step follows from its row and the steps before: no point of these goes beyond its bound."""
    own = found.within(matrix)
    shown = refutation(own)
    if shown is None:
        return
    bounds = replace(own, lower=own.lower.copy(), upper=own.upper.copy())
    for step in shown.steps:
        row = kept(bounds, step.row)
        cost = np.zeros_like(own.c)
        cost[step.column] = 1.0
        best = solve_to_optimality(replace(row, c=cost, sense=-1 if step.upper else 1, offset=0.0))
        assert best is not None
        assert best.value <= step.bound + 1e-6 if step.upper else best.value >= step.bound - 1e-6
        (bounds.upper if step.upper else bounds.lower)[step.column] = step.bound
    assert not has_point(kept(bounds, shown.row))


def kept(matrix: Matrix, row: int) -> Matrix:
    """The matrix with one row alone."""
    return replace(
        matrix,
        A=matrix.A[[row]],
        row_lower=matrix.row_lower[[row]],
        row_upper=matrix.row_upper[[row]],
        row_names=(),
    )


@pytest.mark.slow
def test_what_is_left_when_time_is_up_is_still_impossible() -> None:
    matrix = jobs(True, 3.0)
    seen = set()
    for most in range(0, 100, 3):
        questions = iter(range(10**9))
        with until(lambda asked=questions, most=most: next(asked) >= most):  # type: ignore[misc]
            try:
                found = infeasible_subsystem(matrix)
            except Halt:
                seen.add("nothing")
                continue
        assert found is not None
        assert solve_to_optimality(found.within(matrix)) is None
        seen.add("all" if found.irreducible else "some")
    assert seen == {"nothing", "some", "all"}


def test_bounds_that_integers_need() -> None:
    """With k = 5 and x = -3 both rows hold, as they do with fractions within the bound; x >= -9 is no cause."""
    program = Builder(1)
    k, x = program.column(4.5, lower=1.0, integer=True), program.column(0.0, lower=-9.0)
    program.row([(x, -3.0)], lower=2.0)
    program.row([(k, -3.0), (x, -1.0)], -12.0, -12.0)
    found = infeasible_subsystem(program.matrix())
    assert found == InfeasibleSubsystem((0,), (1,), True, True, most=(k,))
    is_irreducible(program.matrix(), found)


def test_bounds_of_integers_that_may_go_anywhere() -> None:
    """That no multiples of pi and e are so near to each other is shown within their bounds alone."""
    program = Builder(1)
    k, n = (program.column(50.0, lower=-50.0, integer=True) for _ in range(2))
    program.row([(k, math.pi), (n, -math.e)], 0.5, 0.500001)
    program.row([(program.column(7.0, lower=3.0), 1.0)], 4.0)
    assert infeasible_subsystem(program.matrix()) == InfeasibleSubsystem((0,), (0,), True, False, (n,), (n,))
