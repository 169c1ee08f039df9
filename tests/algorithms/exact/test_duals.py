"""What row multipliers prove, against optima of random linear programs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dlsched.algorithms.exact.certify import dual_bound
from dlsched.models.numbers import agree
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Matrix
from dlsched.solvers.solve import solve_matrix


def drawn(seed: int) -> Matrix:
    """Return a random bounded program with a point: rows of all kinds, negative lower bounds, an offset."""
    rng = np.random.default_rng(seed)
    program = Builder(1 if seed % 2 else -1, offset=float(rng.integers(-3, 4)))
    columns, rows = int(rng.integers(1, 6)), int(rng.integers(0, 6))
    lower = rng.integers(-3, 1, columns).astype(float)
    upper = lower + rng.integers(1, 5, columns)
    inside = lower + (upper - lower) * rng.random(columns)
    program.columns(upper, lower=lower, cost=rng.normal(size=columns), integer=rng.random(columns) < 0.5)
    for _ in range(rows):
        values = rng.normal(size=columns).round(2)
        middle, kind = float((values * inside).sum()), int(rng.integers(4))
        below = -np.inf if kind == 0 else middle - (0 if kind == 3 else float(rng.random()))
        above = np.inf if kind == 1 else middle + (0 if kind == 3 else float(rng.random()))
        program.row(enumerate(values.tolist()), below, above)
    return program.matrix()


@pytest.mark.parametrize("seed", range(60))
def test_duals_of_an_optimum_prove_it(seed: int) -> None:
    matrix = drawn(seed)
    raw = solve_matrix(matrix.relaxed(), threads=1)
    assert raw.row_duals is not None
    bound = dual_bound(matrix, raw.row_duals)
    assert bound is not None
    assert agree(float(bound), raw.summary.objective or 0.0)


@pytest.mark.parametrize("seed", range(60))
def test_no_multipliers_prove_too_much(seed: int) -> None:
    matrix = drawn(seed)
    best = solve_matrix(matrix.relaxed(), threads=1).summary.objective
    assert best is not None
    rng = np.random.default_rng(seed)
    for scale in (0.0, 0.1, 1.0, 100.0):
        bound = dual_bound(matrix, scale * rng.normal(size=matrix.A.shape[0]))
        assert bound is not None
        assert -matrix.sense * (float(bound) - best) >= -1e-9 * max(1.0, abs(best))


@pytest.mark.parametrize("scale", [1e-300, 1e-40, 1e-20, 1e-12, 1e12, 1e40])
def test_the_unit_of_multipliers_is_no_matter(scale: float) -> None:
    """At 1e-40 all of them were rounded to 0, and every job was worth what it is at its best."""
    program = Builder(-1)
    x = program.columns(np.array([3.0, 5.0, 50.0]), cost=scale * np.array([1.0, 2.0, 3.0]))
    program.row([(int(column), 1.0) for column in x], upper=4.0)
    program.row(zip(x.tolist(), (2.0, 1.0, 3.0), strict=True), upper=7.0)
    bound = dual_bound(program.matrix(), scale * np.array([1.5, 0.5]))
    assert bound is not None
    assert float(bound / Fraction(scale)) == pytest.approx(9.5, rel=1e-15, abs=0)


def test_nothing_is_proved_of_an_unbounded_program() -> None:
    program = Builder(-1)
    program.column(cost=1.0)
    assert dual_bound(program.matrix(), np.zeros(0)) is None


def test_the_bound_is_exact() -> None:
    program = Builder(-1)
    program.row([(program.column(1.0, cost=0.1), 3.0)], upper=1.0)
    multiplier = Fraction(0.1 / 3)
    left = Fraction(0.1) - 3 * multiplier
    assert left != 0
    assert dual_bound(program.matrix(), np.array([0.1 / 3])) == multiplier + max(Fraction(0), left)
