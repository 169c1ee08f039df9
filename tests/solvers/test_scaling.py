"""Numbers that solvers drop, refuse or take for infinity: scaled away, or refused by name before a solver sees them."""

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

from dlsched.algorithms.exact import certify
from dlsched.models import Matrix, Status, compile_model, duals, solve
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import UnfitNumberError
from dlsched.solvers.scaling import scaled
from dlsched.solvers.solve import solve_matrix

NAN, INF = math.nan, math.inf
SOLVERS = ["highs", "scip"]


def few_for_many() -> Any:
    """Maximise an integer y <= 1000 with y <= 1e-10 x, 0 <= x <= 1e12: 100, by hand; without the coefficient, 0."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 1e12))
    m.y = pyo.Var(bounds=(0, 1000), domain=pyo.Integers)
    m.row = pyo.Constraint(expr=m.y <= 1e-10 * m.x)
    m.worth = pyo.Objective(expr=m.y, sense=pyo.maximize)
    return m


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("domain", [pyo.Reals, pyo.Integers])
def test_a_coefficient_below_what_solvers_keep(solver: str, domain: Any) -> None:
    model = few_for_many()
    model.x.domain = domain
    solution = solve(model, solver=solver)
    assert (solution.status, solution.objective) == (Status.OPTIMAL, 100)
    assert solution.bound == pytest.approx(100)
    certificate = certify(few_for_many())
    assert certificate.proved
    assert certificate.value == 100


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("large", [1e10, 1e12, 1e16, 1e25])
def test_what_is_always_0_moves_no_row(large: float, solver: str) -> None:
    """x_1 + x_2 <= 1 and values 2 and 1: 2, by hand."""
    m = pyo.ConcreteModel()
    m.x, m.z = pyo.Var([1, 2], domain=pyo.Binary), pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(0, 0))
    m.room = pyo.Constraint(expr=m.x[1] + m.x[2] + large * m.z <= 1)
    m.worth = pyo.Objective(expr=2 * m.x[1] + m.x[2], sense=pyo.maximize)
    solution = solve(m, solver=solver)
    assert (solution.status, solution.objective) == (Status.OPTIMAL, 2)


def test_each_side_of_a_range_is_judged_by_itself() -> None:
    """0 <= x - y <= 1e9: (0, 100) is 100 below, whatever is above; (0, 1e-9) is rounding."""
    matrix = Matrix(
        c=np.zeros(2), offset=0.0, sense=1, A=sp.csr_array([[1, -1]]), row_lower=np.zeros(1),
        row_upper=np.full(1, 1e9), lower=np.zeros(2), upper=np.full(2, 4e9), integer=np.array([False, False]),
    )  # fmt: skip
    assert matrix.residual(np.array([0.0, 100.0])) == 1
    assert matrix.residual(np.array([0.0, 1e-9])) == pytest.approx(1e-9, rel=1e-6, abs=0)
    assert matrix.residual(np.array([2e9, 0.0])) == pytest.approx(0.5)


def test_a_bare_matrix_of_whole_numbers() -> None:
    one = np.ones(2, dtype=int)
    matrix = Matrix(
        c=one, offset=0, sense=-1, A=sp.csr_array([[1, 10**7]]), row_lower=np.array([-np.inf]),
        row_upper=np.array([10**7]), lower=0 * one, upper=one, integer=np.array([True, True]),
    )  # fmt: skip
    assert solve_matrix(matrix).summary.objective == 1


@pytest.mark.parametrize("solver", SOLVERS)
def test_entries_that_stand_twice_are_summed(solver: str) -> None:
    """y + x + y >= 3 in integers: x + y is 2 at least."""
    given = sp.csr_array((np.ones(3), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    matrix = Matrix(
        c=np.ones(2), offset=0.0, sense=1, A=given, row_lower=np.full(1, 3.0), row_upper=np.full(1, np.inf),
        lower=np.zeros(2), upper=np.full(2, 4.0), integer=np.array([True, True]),
    )  # fmt: skip
    assert solve_matrix(matrix, solver=solver).summary.objective == 2
    assert matrix.A.toarray().tolist() == [[1.0, 2.0]]
    assert given.nnz == 3
    assert matrix.residual(np.array([0.0, 1.0])) == pytest.approx(1 / 3)


def plain() -> Any:
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2], bounds=(0, 10))
    m.many = pyo.Var(domain=pyo.Integers, bounds=(0, 1e15))
    m.row = pyo.Constraint(expr=m.x[1] + m.x[2] <= 4)
    m.worth = pyo.Objective(expr=m.x[1] + m.x[2], sense=pyo.maximize)
    return m


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (lambda m: NAN * m.x[1] + m.x[2] <= 1, r"bad: the coefficient of x\[1\] is nan"),
        (lambda m: INF * m.x[1] + m.x[2] <= 1, r"bad: the coefficient of x\[1\] is inf"),
        (lambda m: m.x[1] + m.x[2] <= NAN, r"bad: the upper side is nan"),
        (lambda m: (INF, m.x[1] + m.x[2], INF), r"bad: the lower side is inf"),
        (lambda m: 1e-14 * m.many + 1e14 * m.x[2] <= 1, "bad: the coefficient 1e-14 of many cannot be kept"),
        (lambda m: m.x[1] + m.x[2] <= 1e25, r"bad: 1e\+25 is infinite to solvers"),
    ],
)
@pytest.mark.parametrize("solver", SOLVERS)
def test_rows_are_refused_by_name(row: Any, says: str, solver: str) -> None:
    model = plain()
    model.bad = pyo.Constraint(rule=row)
    with pytest.raises(UnfitNumberError, match=says):
        solve(model, solver=solver)
    assert model.x[1].value is None


@pytest.mark.parametrize(
    ("objective", "says"),
    [
        (lambda m: NAN * m.x[1] + m.x[2], r"objective: the coefficient of x\[1\] is nan"),
        (lambda m: INF * m.x[1] + m.x[2], r"objective: the coefficient of x\[1\] is inf"),
        (lambda m: m.x[1] + NAN, "objective: the constant is nan"),
    ],
)
def test_objectives_are_refused_by_name(objective: Any, says: str) -> None:
    model = plain()
    model.worth.set_value(objective(model))
    with pytest.raises(UnfitNumberError, match=says):
        solve(model)
    with pytest.raises(UnfitNumberError, match=says):
        certify(model)


def test_bounds_are_refused_by_name() -> None:
    model = plain()
    model.n = pyo.Var(domain=pyo.Integers, bounds=(0, 1e25))
    model.use = pyo.Constraint(expr=model.n <= model.x[1] + 3)
    with pytest.raises(UnfitNumberError, match=r"n: 1e\+25 is infinite to solvers"):
        solve(model)


@pytest.mark.parametrize("scale", [1e-20, 1e-9, 1e9, 1e16, 1e20])
@pytest.mark.parametrize("solver", SOLVERS)
def test_one_unit_for_all_is_no_matter(scale: float, solver: str) -> None:
    """Rows and objectives in any unit; as they are, HiGHS would drop, refuse or ignore them."""
    model = plain()
    model.again = pyo.Constraint(expr=scale * model.x[1] + 2 * scale * model.x[2] <= 6 * scale)
    model.worth.set_value(scale * (2 * model.x[1] + 3 * model.x[2]))
    solution = solve(model, solver=solver)
    assert solution.objective == pytest.approx(10 * scale, rel=1e-6, abs=0)
    assert solution.bound == pytest.approx(10 * scale, rel=1e-6, abs=0)
    assert (model.x[1].value, model.x[2].value) == (pytest.approx(2), pytest.approx(2))


def in_unit(unit: float) -> Any:
    """Minimise x + 2 y + 3 z for x + y >= 5 units, y + z >= 3 units, 4 z <= 8 units and x - y <= unit: y = 3 units, x =
    2 units, 8 units by hand (duals 1 and 1 of the first two). Each value is one of so many units."""
    m = pyo.ConcreteModel()
    m.x, m.y, m.z = (pyo.Var(domain=pyo.NonNegativeReals) for _ in range(3))
    m.y.setub(6 * unit)
    m.first = pyo.Constraint(expr=m.x + m.y >= 5 * unit)
    m.second = pyo.Constraint(expr=m.y + m.z >= 3 * unit)
    m.third = pyo.Constraint(expr=4 * m.z <= 8 * unit)
    m.fourth = pyo.Constraint(expr=m.x - m.y <= unit)
    m.cost = pyo.Objective(expr=m.x + 2 * m.y + 3 * m.z)
    return m


@pytest.mark.parametrize("unit", [1e-300, 1e-100, 1e-20, 1e-9, 1e-5, 1e7, 1e13, 1e21, 1e100])
@pytest.mark.parametrize("solver", SOLVERS)
def test_one_unit_for_all_values_is_no_matter(unit: float, solver: str) -> None:
    """As it is, 0 breaks no row by more than a solver forgives; or each row's side is infinite."""
    model = in_unit(unit)
    solution = solve(model, solver=solver)
    assert solution.status is Status.OPTIMAL
    assert (solution.objective / unit, solution.bound / unit) == (pytest.approx(8), pytest.approx(8))
    assert (model.x.value / unit, model.y.value / unit) == (pytest.approx(2), pytest.approx(3))
    if solver == "highs":
        found = duals(model)
        assert (found[model.first], found[model.second]) == (pytest.approx(1), pytest.approx(1))


def test_values_of_two_units_are_left_as_they_are() -> None:
    matrix = replace(compile_model(in_unit(1e-9)), upper=np.full(3, INF))
    for side in (1.0, 1e9):
        mixed = replace(matrix, row_upper=np.where(np.isfinite(matrix.row_upper), side, INF))
        assert (scaled(mixed).columns == 1.0).all()
    assert (scaled(replace(matrix, integer=np.array([True, False, False]))).columns == 1.0).all()


def test_rounding_noise_beside_a_coefficient_is_left_out() -> None:
    model = plain()
    model.noise = pyo.Constraint(expr=(0.1 + 0.2 - 0.3) * 1e-3 * model.x[1] + model.x[2] <= 1)
    assert solve(model).objective == pytest.approx(4)


def test_a_row_in_a_small_unit_is_checked_in_that_unit() -> None:
    """Capacity 3e-7 and needs of 2e-7: two of them do not fit, though the excess is below 1e-6."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2], domain=pyo.Binary)
    m.fit = pyo.Constraint(expr=2e-7 * m.x[1] + 2e-7 * m.x[2] <= 3e-7)
    m.worth = pyo.Objective(expr=5 * m.x[1] + 4 * m.x[2], sense=pyo.maximize)
    assert solve(m).objective == 5
    assert certify(m).proved


@st.composite
def knapsacks(draw: Any) -> tuple[list[int], list[int], int, int, int]:
    """Worths, weights and room of five items, and the exponents of ten that they are multiplied by."""
    worths = draw(st.lists(st.integers(1, 20), min_size=5, max_size=5))
    weights = draw(st.lists(st.integers(1, 20), min_size=5, max_size=5))
    return worths, weights, draw(st.integers(1, 60)), draw(st.integers(-12, 12)), draw(st.integers(-15, 15))


@pytest.mark.slow
@given(knapsacks(), st.sampled_from(SOLVERS))
def test_random_knapsacks_in_random_units(case: tuple[list[int], list[int], int, int, int], solver: str) -> None:
    worths, weights, room, unit, value = case
    best = max(
        sum(w for k, w in enumerate(worths) if bits >> k & 1)
        for bits in range(32)
        if sum(w for k, w in enumerate(weights) if bits >> k & 1) <= room
    )
    matrix = Matrix(
        c=np.array([float(w * Fraction(10) ** value) for w in worths]),
        offset=0.0,
        sense=-1,
        A=sp.csr_array(np.array([[float(w * Fraction(10) ** unit) for w in weights]])),
        row_lower=np.array([-INF]),
        row_upper=np.array([float(room * Fraction(10) ** unit)]),
        lower=np.zeros(5),
        upper=np.ones(5),
        integer=np.ones(5, dtype=bool),
    )
    raw = solve_matrix(matrix, solver=solver)
    assert raw.summary.objective == pytest.approx(float(best * Fraction(10) ** value), rel=1e-9, abs=0)
    assert raw.summary.bound == pytest.approx(float(best * Fraction(10) ** value), rel=1e-6, abs=0)


@pytest.mark.slow
@given(st.data())
def test_scaling_is_undone(data: Any) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    A = (
        rng.integers(-5, 6, size=(4, 5))
        * 10.0 ** rng.integers(-6, 7, size=(4, 1))
        * 10.0 ** rng.integers(-4, 5, size=5)
    )
    matrix = Matrix(
        c=rng.integers(-5, 6, size=5) * 10.0 ** float(rng.integers(-9, 10)),
        offset=3.0,
        sense=1,
        A=sp.csr_array(A),
        row_lower=np.full(4, -INF),
        row_upper=np.abs(A).sum(axis=1) + 1.0,
        lower=np.zeros(5),
        upper=np.where(rng.random(5) < 0.5, INF, 10.0 ** rng.integers(-8, 9, size=5).astype(float)),
        integer=np.zeros(5, dtype=bool),
    )
    fit = scaled(matrix)
    x = rng.random(5) * np.minimum(matrix.upper, 3.0)
    small = x / fit.columns
    np.testing.assert_allclose(fit.point(small), x, rtol=0)
    np.testing.assert_allclose(fit.matrix.A @ small, fit.rows * (matrix.A @ x), rtol=1e-9, atol=1e-300)
    assert fit.value(fit.matrix.value(small)) == pytest.approx(matrix.value(x), rel=1e-12)
    assert np.frexp(fit.rows)[0] == pytest.approx(0.5)


def test_lp_duals_are_those_of_the_model_as_written() -> None:
    from dlsched.models import duals

    model = plain()
    model.tiny = pyo.Constraint(expr=1e-10 * model.x[1] <= 3e-10)
    model.worth.set_value(3 * model.x[1] + 1 * model.x[2])
    found = duals(model)
    assert found[model.row] == pytest.approx(1)
    assert found[model.tiny] == pytest.approx(2e10)


def test_small_costs_beside_one_that_cannot_be_had() -> None:
    """HiGHS left to costs of at most 2e-4 calls 4e-8 optimal: a share of 1e-4 of the largest cost is missing."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(4), domain=pyo.Binary)
    model.y, model.z = pyo.Var(domain=pyo.Binary), pyo.Var(bounds=(0, 10))
    model.room = pyo.Constraint(expr=7 * model.y + model.z <= 5)
    model.least = pyo.Constraint(expr=model.z >= model.y)
    model.weight = pyo.Constraint(expr=sum((i + 2) * model.x[i] for i in model.x) <= 9)
    worth = 2e-4 * model.y + 1e-8 * sum((i + 1) * model.x[i] for i in model.x)
    model.worth = pyo.Objective(expr=worth, sense=pyo.maximize)
    assert solve(model).objective == pytest.approx(7e-8, rel=1e-6, abs=0)


def test_an_objective_at_the_end_of_the_range_of_floats() -> None:
    model = plain()
    model.worth.set_value(5e-324 * model.x[1])
    fit = scaled(compile_model(model))
    assert np.isfinite(fit.objective)
    assert np.isfinite(fit.matrix.c).all()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("none", [1e6, 1e9, 1e12, 1e19])
def test_a_large_bound_that_bounds_nothing_costs_no_precision(none: float, solver: str) -> None:
    """The least b, 3, makes room for a, 6, which lets c be 7. SCIP once said 14 where 1e9 was to be no bound."""
    m = pyo.ConcreteModel()
    m.a, m.b, m.c = pyo.Var(bounds=(0, none)), pyo.Var(bounds=(-none, 4)), pyo.Var(bounds=(-none, none))
    m.one = pyo.Constraint(expr=m.a + m.b <= 9)
    m.two = pyo.Constraint(expr=m.c - m.a <= 1)
    m.three = pyo.Constraint(expr=m.b >= 3)
    m.total = pyo.Objective(expr=m.a + m.b + m.c, sense=pyo.maximize)
    assert solve(m, solver=solver).objective == pytest.approx(16)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("penalty", [1e3, 1e8, 1e12, 1e16, 1e18, 1e20])
def test_costs_beside_a_penalty(penalty: float, solver: str) -> None:
    """By hand 10 * 2 + 2 * 3 + 5/2 * 5, nothing penalised; 97 was once called optimal beside 1e8."""
    m = pyo.ConcreteModel()
    m.x, m.missing = pyo.Var(range(4), bounds=(0, 10)), pyo.Var(bounds=(0, None))
    m.need = pyo.Constraint(expr=m.x[0] + m.x[1] + m.missing >= 12)
    m.other = pyo.Constraint(expr=m.x[2] + 2 * m.x[3] >= 5)
    m.both = pyo.Constraint(expr=m.x[0] + m.x[2] <= 9)
    m.cost = pyo.Objective(expr=3 * m.x[0] + 2 * m.x[1] + 4 * m.x[2] + 5 * m.x[3] + penalty * m.missing)
    assert solve(m, solver=solver).objective == pytest.approx(38.5)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("penalty", [7e9, 7e10, 7e11, 7e13, 7e16])
def test_a_row_that_lacks_little_beside_a_penalty(penalty: float, solver: str) -> None:
    """By hand b = 8/3 and a = 1/12: 16 + 1/6. SCIP's presolve fixed a, so that 16.5 was optimal (b = 11/4)."""
    m = pyo.ConcreteModel()
    m.a, m.b, m.c, m.d = (pyo.Var(domain=pyo.NonNegativeReals) for _ in range(4))
    m.one = pyo.Constraint(expr=4 * m.a + 4 * m.b + 4 * m.c + 3 * m.d >= 11)
    m.two = pyo.Constraint(expr=3 * m.b - m.c + m.d >= 8)
    m.cost = pyo.Objective(expr=2 * m.a + 6 * m.b + 8 * m.c + penalty * m.d)
    found = solve(m, solver=solver)
    assert (found.status, found.objective, found.bound) == ("optimal", pytest.approx(97 / 6), pytest.approx(97 / 6))


@pytest.mark.parametrize("solver", SOLVERS)
def test_integers_beside_penalties(solver: str) -> None:
    """By enumeration 3 a, b and 5 c; SCIP, with weak reductions alone, 3.1e11 + 21."""
    program = Builder(sense=1)
    a, b, c, d, e, f = (program.column(cost=cost, integer=True) for cost in (8e10, 6e10, 3.0, 7e10, 1.0, 1.0))
    program.row([(a, -1.0), (b, 2.0), (c, 1.0), (e, 3.0), (f, 3.0)], lower=4.0)
    program.row([(a, 4.0), (d, -2.0), (e, 2.0), (f, 2.0)], lower=8.0)
    program.row([(a, 2.0), (b, 1.0), (d, 2.0), (e, -2.0), (f, -1.0)], lower=7.0)
    found = solve_matrix(program.matrix(), solver=solver).summary
    assert (found.status, found.objective) == ("optimal", pytest.approx(3e11 + 15, rel=1e-13))


def test_what_misses_its_bound_is_not_called_optimal() -> None:
    """7 is the optimum, by hand, z = 1; SCIP called it so beside its bound of -63."""
    program = Builder(sense=1)
    x, y, z = (program.column(10.0, cost=cost, integer=True) for cost in (3e18, 4.0, 7.0))
    program.row([(x, 4.0), (y, -1.0), (z, 4.0)], lower=1.0)
    found = solve_matrix(program.matrix(), solver="scip").summary
    assert (found.status == "optimal") == (found.gap <= 1e-6)
    assert solve_matrix(program.matrix()).summary.objective == found.objective == 7


def test_large_costs_that_are_all_alike_are_scaled_to_1() -> None:
    model = plain()
    model.worth.set_value(3e12 * model.x[1] + 2e12 * model.x[2])
    assert 0.5 <= np.abs(scaled(compile_model(model)).matrix.c).max() <= 1
    model.worth.set_value(3e12 * model.x[1] + 2 * model.x[2])
    assert scaled(compile_model(model)).matrix.c[1] >= 1e-4
