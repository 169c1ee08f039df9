"""A big M as small as it may be: every integer point stays, and what HiGHS and SCIP then find is right."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from dlsched.algorithms.exact import certify
from dlsched.models import Matrix, compile_model, solve
from dlsched.solvers.solution import ResidualError
from dlsched.solvers.tightening import tightened


def sites(big: float, *, capped: bool = True) -> Any:
    """12 units from sites of at most 7, 8 and 9: the first and the last, 50 + 64 + 3 * 3 + 9 * 1 = 132.

    The others cost 57 + 64 + 3 * 2 + 9 = 136, 50 + 57 + 4 * 3 + 8 * 2 = 135 and, all three, more.
    """
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(0, None))
    m.open = pyo.Var(range(3), domain=pyo.Binary)
    m.need = pyo.Constraint(expr=sum(m.x[i] for i in range(3)) >= 12)
    m.big = pyo.Constraint(range(3), rule=lambda m, i: m.x[i] <= big * m.open[i])
    if capped:
        m.cap = pyo.Constraint(range(3), rule=lambda m, i: m.x[i] <= 7 + i)
    m.cost = pyo.Objective(expr=sum((50 + 7 * i) * m.open[i] + (3 - i) * m.x[i] for i in range(3)))
    return m


@pytest.mark.parametrize("solver", ["highs", "scip"])
@pytest.mark.parametrize("big", [12, 1e6, 1e7, 1e9, 1e12])
def test_an_m_that_is_too_large(big: float, solver: str) -> None:
    """HiGHS 1.15.1, left to an M of 1e7, calls it infeasible; without presolve it finds 15, all sites almost closed."""
    assert solve(sites(big), solver=solver).objective == pytest.approx(132)


def test_m_becomes_what_the_other_rows_leave() -> None:
    matrix = tightened(compile_model(sites(1e9)))
    rows = [i for i, name in enumerate(matrix.row_names) if name.startswith("big")]
    assert matrix.A[rows].min(axis=1).toarray().ravel().tolist() == [-7, -8, -9]


def test_ordinary_numbers_are_left_alone() -> None:
    matrix = compile_model(sites(1e4))
    assert tightened(matrix) is matrix


def test_a_row_in_a_large_unit_has_no_big_m() -> None:
    model = sites(12)
    model.budget = pyo.Constraint(expr=sum((50 + i) * 1e6 * model.open[i] for i in range(3)) <= 2e8)
    matrix = compile_model(model)
    assert tightened(matrix) is matrix


def test_a_point_that_only_a_big_m_excuses_is_not_taken() -> None:
    """Without a cap no M can be smaller: HiGHS may fail, and then says so; SCIP finds 64 + 12."""
    assert solve(sites(1e9, capped=False), solver="scip").objective == pytest.approx(76)
    with pytest.raises(ResidualError, match="breaks big"):
        solve(sites(1e9, capped=False))


@pytest.mark.parametrize("far", [1e9, 1e12, 5e14])
def test_a_far_bound_of_its_own_takes_nothing_from_what_others_leave(far: float) -> None:
    """With y >= .1, the row leaves x 5.2: not what is left of 5.3 beside 1e14."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(-far, far)), pyo.Var(bounds=(0.1, 9))
    m.on = pyo.Var(domain=pyo.Binary)
    m.room = pyo.Constraint(expr=m.x + m.y <= 5.3)
    m.big = pyo.Constraint(expr=m.x <= 1e7 * m.on)
    m.most = pyo.Objective(expr=m.x, sense=pyo.maximize)
    found = certify(m)
    assert found.proved
    assert found.value == pytest.approx(5.2, rel=1e-9)


@st.composite
def matrices(draw: st.DrawFn) -> Matrix:
    """Two binaries and two integers between 0 and 3 (as bounds or as rows), rows of either sense with large numbers."""
    number, large = st.integers(-4, 4), st.sampled_from([-(10**7), -(10**6), 0, 3, 10**6, 10**7])
    rows = []
    for _ in range(draw(st.integers(1, 3))):
        row = [draw(large), draw(large), draw(number), draw(number)]
        side = draw(st.integers(-6, 9)) + draw(st.sampled_from([0, sum(a for a in row[:2] if a > 0)]))
        rows.append((row, side) if draw(st.booleans()) else ([-a for a in row], None, -side))
    bounded = draw(st.booleans())
    lower = [-np.inf if len(row) == 2 else row[2] for row in rows]
    upper = [row[1] if len(row) == 2 else np.inf for row in rows]
    A = [row[0] for row in rows] + ([] if bounded else [[0, 0, 1, 0], [0, 0, 0, 1]])
    extra = 0 if bounded else 2
    return Matrix(
        c=np.zeros(4),
        offset=0.0,
        sense=1,
        A=sp.csr_array(np.array(A, float)),
        row_lower=np.array([*lower, *[-np.inf] * extra], float),
        row_upper=np.array([*upper, *[3] * extra], float),
        lower=np.zeros(4),
        upper=np.array([1, 1, *([3, 3] if bounded else [np.inf, np.inf])], float),
        integer=np.array([True, True, False, False]),
    )


@pytest.mark.slow
@given(matrices())
def test_every_integer_point_stays(matrix: Matrix) -> None:
    smaller = tightened(matrix)
    assert np.abs(smaller.A.toarray()).max(initial=0) <= np.abs(matrix.A.toarray()).max(initial=0)
    for point in product((0, 1), (0, 1), (0, 1.5, 3), (0, 0.5, 3)):
        kept = [
            bool((one.row_lower <= one.A @ np.array(point)).all() and (one.A @ np.array(point) <= one.row_upper).all())
            for one in (matrix, smaller)
        ]
        assert kept[0] == kept[1], point
