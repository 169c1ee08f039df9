"""Optima of linear programs whose numbers are of very different sizes: what a solver forgives is worth nothing."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from dlsched.models import Status, compile_model, solve
from dlsched.relaxations import dual
from dlsched.solvers import Builder, Matrix, Session, solve_matrix, solve_to_optimality
from dlsched.solvers.refinement import LinearOptimum, is_better_ray, refined, with_slacks
from tests.longer import examples
from tests.relaxations.conformance.exact import best_vertex, sides

SOLVERS = ["highs", "scip"]


def cheap_for_dear(domain: Any = pyo.UnitInterval) -> Any:
    """Maximise 5e4 p + .5 q - 6e4 s + .001 z, p <= s + 1e-8, q <= .02, q + z <= 1: no s is worth it, so 5e4 1e-8 + .01
    and .98 (z in [0, 1]) or nothing (binary z, which leaves no q) thousandths for z. HiGHS takes -1e-8 for s >= 0."""
    m = pyo.ConcreteModel()
    m.p, m.q, m.s = (pyo.Var(domain=pyo.NonNegativeReals) for _ in range(3))
    m.z = pyo.Var(domain=domain)
    m.little = pyo.Constraint(expr=m.p - m.s <= 1e-8)
    m.some = pyo.Constraint(expr=m.q <= 0.02)
    m.room = pyo.Constraint(expr=m.q + m.z <= 1)
    m.worth = pyo.Objective(expr=5e4 * m.p + 0.5 * m.q - 6e4 * m.s + 0.001 * m.z, sense=pyo.maximize)
    return m


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_bound_broken_by_little_is_worth_nothing(solver: str) -> None:
    model = cheap_for_dear()
    solution = solve(model, solver=solver)
    assert (solution.status, solution.objective) == (Status.OPTIMAL, pytest.approx(0.01148, rel=1e-9))
    assert solution.bound == pytest.approx(0.01148, rel=1e-9)
    assert model.s.value >= 0


def test_of_an_integer_program_it_is_taken_back_and_no_optimum_is_claimed() -> None:
    solution = solve(cheap_for_dear(pyo.Binary))
    assert solution.objective == pytest.approx(0.0105, rel=1e-9)
    assert solution.status is Status.OPTIMAL or solution.gap > 1e-6
    found = solve_to_optimality(compile_model(cheap_for_dear(pyo.Binary)))
    assert found is not None
    assert found.value == pytest.approx(0.0105, rel=1e-9)


@pytest.mark.parametrize("cost", [0, 1e-4, 0.02])
def test_the_dual_of_a_program_with_large_bounds_and_small_costs(cost: float) -> None:
    """Least 1e-8 x + cost y for x >= 5e4, y >= .5, 1e4 <= x <= 6e4, 0 <= y <= 1."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(1e4, 6e4)), pyo.Var(bounds=(0, 1))
    m.r, m.s = pyo.Constraint(expr=m.x >= 5e4), pyo.Constraint(expr=m.y >= 0.5)
    m.cost = pyo.Objective(expr=1e-8 * m.x + cost * m.y)
    expected = pytest.approx(5e-4 + cost / 2, rel=1e-9)
    assert solve(m).objective == expected
    solution = solve(dual(m).model)
    assert (solution.status, solution.objective, solution.bound) == (Status.OPTIMAL, expected, expected)


SIZES = st.sampled_from([1e-7, 1e-4, 1e-2, 1.0, 1e3, 1e6])


@st.composite
def programs(draw: Any) -> Matrix:
    """Boxes and up to three rows, each row, column and the objective in a unit of its own."""
    columns, rows = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    units = [draw(SIZES) for _ in range(columns)]
    worth = draw(SIZES)
    program = Builder(sense=draw(st.sampled_from([1, -1])))
    names = [
        program.column(draw(st.integers(1, 9)) * unit, cost=draw(st.integers(-5, 5)) * worth / unit) for unit in units
    ]
    for _ in range(rows):
        unit = draw(SIZES)
        terms = [(name, draw(st.integers(-3, 3)) * unit / of) for name, of in zip(names, units, strict=True)]
        side = draw(st.integers(0, 9)) * unit
        program.row([term for term in terms if term[1]], upper=side)
    return program.matrix()


def optimum(matrix: Matrix) -> float:
    """Return the optimum of a bounded linear program: the best of its vertices, in rationals."""
    halfspaces = []
    for A, lower, upper in (
        (matrix.A.toarray(), matrix.row_lower, matrix.row_upper),
        (np.eye(len(matrix.c)), matrix.lower, matrix.upper),
    ):
        for row, *ends in zip(A.tolist(), lower.tolist(), upper.tolist(), strict=True):
            low, high = (Fraction(end) if math.isfinite(end) else None for end in ends)
            halfspaces += sides(tuple(map(Fraction, row)), low, high)
    best = best_vertex(tuple(map(Fraction, matrix.c.tolist())), halfspaces, maximise=matrix.sense == -1)
    assert best is not None
    return float(best)


@pytest.mark.slow
@examples(20, 60)
@given(matrix=programs())
def test_programs_in_any_units(matrix: Matrix) -> None:
    """Their best vertex, in rationals: what they are off by is no more than rounding of the objective's own terms."""
    best = optimum(matrix)
    raw = solve_matrix(matrix)
    assert raw.summary.status is Status.OPTIMAL
    terms = np.abs(matrix.c * np.maximum(np.abs(matrix.upper), np.abs(matrix.lower))).max()
    assert raw.summary.objective == pytest.approx(best, rel=1e-9, abs=1e-9 * terms)
    assert raw.summary.bound == pytest.approx(best, rel=1e-9, abs=1e-9 * terms)


def test_what_is_lacking() -> None:
    """x = 0 with price 0, where 2 x for 1 <= x <= 3 is least: the row lacks 1, worth 2."""
    program = Builder(sense=1)
    x = program.column(9.0, cost=2.0)
    program.row([(x, 1.0)], lower=1.0, upper=3.0)
    matrix = program.matrix()
    lacking = LinearOptimum.of(matrix, np.zeros(1), np.zeros(1))
    assert (lacking.primal, lacking.dual, lacking.worth) == (1, 0, 2)
    priced = LinearOptimum.of(matrix, np.full(1, 2.0), np.full(1, 2.0))
    assert (priced.primal, priced.dual, priced.worth) == (0, 2, 2)
    exact = LinearOptimum.of(matrix, np.ones(1), np.full(1, 2.0))
    assert (exact.worth, exact.reduced_costs.tolist()) == (0, [0])
    wide = with_slacks(matrix)
    assert wide.A.toarray().tolist() == [[1, -1]]
    assert (wide.lower[1], wide.upper[1], wide.row_lower[0], wide.row_upper[0]) == (1, 3, 0, 0)


def test_a_correction_that_fails_or_is_none_changes_nothing() -> None:
    matrix = compile_model(cheap_for_dear())
    lacking = LinearOptimum.of(matrix, np.zeros(4), np.zeros(3))
    assert lacking.worth > 0
    assert refined(matrix, lacking, lambda left: None) is lacking
    assert refined(matrix, lacking, lambda left: (np.zeros(len(left.c)), np.zeros(len(left.row_lower)))) is lacking


def all_but_equal() -> Matrix:
    """Maximise 1e-6 x + .1 y with -1e-4 x - 9.999999999 y >= 3, -2e4 <= x <= -1e4, -.2 <= y <= -.1: -.03, by hand."""
    program = Builder(sense=-1)
    x, y = program.column(-1e4, cost=1e-6, lower=-2e4), program.column(-0.1, cost=0.1, lower=-0.2)
    program.row([(x, -1e-4), (y, -9.999999999)], lower=3.0)
    return program.matrix()


def test_what_presolve_alone_calls_infeasible_is_asked_once_more() -> None:
    matrix = all_but_equal()
    found = solve_matrix(matrix)
    assert (found.summary.status, found.summary.objective) == (Status.OPTIMAL, pytest.approx(-0.03))
    assert solve_to_optimality(matrix) is not None
    session = Session(matrix.sense)
    session.add_rows(matrix.row_lower, matrix.row_upper, np.zeros((1, 0)))
    session.add_columns(matrix.c, matrix.upper, matrix.A, matrix.lower)
    solved = session.solve()
    assert solved is not None
    assert solved[0] == pytest.approx(-0.03)
    empty = replace(matrix, row_lower=np.array([4.1]))
    assert solve_matrix(empty).summary.status is Status.INFEASIBLE
    session.bound_rows(np.zeros(1, dtype=np.int64), empty.row_lower, empty.row_upper)
    assert session.solve() is None


@pytest.mark.parametrize(
    ("costs", "upper", "ray", "is_one"),
    [
        ([-1.0, 2.0], np.inf, [1.0, 0.0], True),
        ([-1e-10, 2.0], np.inf, [1.0, 0.0], True),
        ([0.0, 2.0], np.inf, [1.0, 0.0], False),
        ([-1.0, 2.0], 1e9, [1.0, 0.0], False),
        ([-1.0, 2.0], np.inf, [-1.0, 0.0], False),
        ([-1.0, -2.0], np.inf, [1.0, 2.0], False),
        ([-1.0 - 1e-12, 1.0], np.inf, [1.0, 1.0], False),
        ([-1.0 - 1e-3, 1.0], np.inf, [1.0, 1.0], True),
    ],
)
def test_a_ray(costs: list[float], upper: float, ray: list[float], is_one: bool) -> None:
    """Of y <= x, where what the objective gains is more than the rounding of its own terms."""
    matrix = Matrix(
        c=np.array(costs),
        offset=0.0,
        sense=1,
        A=sp.csr_array([[-1.0, 1.0]]),
        row_lower=np.array([-np.inf]),
        row_upper=np.array([0.0]),
        lower=np.zeros(2),
        upper=np.array([upper, np.inf]),
        integer=np.zeros(2, dtype=bool),
    )
    assert is_better_ray(matrix, np.array(ray)) is is_one
