"""Rows over integers: what divides their coefficients moves the sides, and no integer point goes."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlsched.models import compile_model, explain, solve
from dlsched.solvers import Builder
from dlsched.solvers.divisors import divided


def parity() -> Any:
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(domain=pyo.Integers), pyo.Var(domain=pyo.Integers)
    m.odd = pyo.Constraint(expr=6 * m.x - 4 * m.y == 1)
    m.total = pyo.Objective(expr=m.x)
    return m


@pytest.mark.parametrize("solver", ["highs", "scip"])
def test_integers_without_bounds(solver: str) -> None:
    """HiGHS 1.15.1 searched for ever, and beyond its limit."""
    found = solve(parity(), solver=solver)
    assert (found.status, found.bound) == ("infeasible", None)


def test_why_there_is_no_point() -> None:
    conflict = explain(parity()).conflict
    assert conflict is not None
    assert ({side.name for side in conflict.sides}, conflict.integers) == ({"odd"}, ("x", "y"))


def test_which_sides_move() -> None:
    program = Builder(sense=1)
    x, y, z = program.column(integer=True), program.column(integer=True), program.column()
    rows = [
        ([(x, 6.0), (y, -4.0)], (1.0, 7.0), (2.0, 6.0)),
        ([(x, 6.0), (y, 4.0)], (2.0, np.inf), (2.0, np.inf)),
        ([(x, 6.0), (z, 4.0)], (1.0, 7.0), (1.0, 7.0)),
        ([(x, 0.5), (y, 4.0)], (1.2, 7.0), (1.2, 7.0)),
        ([(x, 3.0), (y, 2.0)], (0.5, 7.2), (1.0, 7.0)),
        ([(x, 3.0), (y, 0.0)], (0.5, 7.2), (3.0, 6.0)),
        ([(x, 0.0), (y, 0.0)], (-0.5, 7.2), (-0.5, 7.2)),
        ([(x, 2.5)], (1.0, 7.6), (2.5, 7.5)),
        ([(x, 1e8)], (2.0, 3e8 + 2), (1e8, 3e8 + 2)),
        ([(x, 1e8), (y, -2e8)], (-np.inf, -3.0), (-np.inf, -1e8)),
        ([(x, -1e7)], (1e-6, 1e-6), (1e-6, 1e-6)),
        ([(z, 2.5)], (1.0, 7.6), (1.0, 7.6)),
        ([(x, 2.0)], (2.0000001, 4.0000001), (2.0000001, 4.0000001)),
        ([(x, 2.0)], (-np.inf, -1.0), (-np.inf, -2.0)),
    ]
    for terms, sides, _ in rows:
        program.row(terms, *sides)
    found = divided(program.matrix())
    assert list(zip(found.row_lower.tolist(), found.row_upper.tolist(), strict=True)) == [after for *_, after in rows]


@pytest.mark.slow
@given(st.lists(st.integers(-12, 12), min_size=1, max_size=3), st.integers(-60, 60), st.integers(0, 60))
def test_no_integer_point_goes(terms: list[int], lower: int, width: int) -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(len(terms)), bounds=(-3, 3), domain=pyo.Integers)
    m.row = pyo.Constraint(expr=(lower, sum(a * m.x[i] for i, a in enumerate(terms) if a) + 12 * m.x[0], lower + width))
    m.total = pyo.Objective(expr=0)
    before = compile_model(m)
    after = divided(before)
    for x in product(range(-3, 4), repeat=before.A.shape[1]):
        sides = before.A @ np.array(x, dtype=float)
        kept = [((m.row_lower <= sides) & (sides <= m.row_upper)).all() for m in (before, after)]
        assert kept[0] == kept[1]
