"""Charnes-Cooper on known answers, against bisection (cvxpy, DQCP), and on SMD's ratios."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest

from dlsched.models import InputError, Status, solve
from dlsched.models.smd import Job, preset, ratios
from dlsched.relaxations import TransformationRefused, charnes_cooper, relax, sum_of_ratios
from tests.longer import longer
from tests.relaxations.conformance.solving import solve as solve_with_duals


def textbook(sense: Any = pyo.minimize) -> Any:
    """(-2 x1 + x2 + 2)/(x1 + 3 x2 + 4): least at (7, 0), -12/11; greatest, 1, at (0, 4), (2, 6) or between."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var([1, 2], domain=pyo.NonNegativeReals)
    model.a = pyo.Constraint(expr=-model.x[1] + model.x[2] <= 4)
    model.b = pyo.Constraint(expr=2 * model.x[1] + model.x[2] <= 14)
    model.c = pyo.Constraint(expr=model.x[2] <= 6)
    above, below = -2 * model.x[1] + model.x[2] + 2, model.x[1] + 3 * model.x[2] + 4
    model.ratio = pyo.Objective(expr=above / below, sense=sense)
    return model


def test_the_textbook_problem() -> None:
    linear = charnes_cooper(textbook())
    assert solve(linear.model).objective == pytest.approx(-12 / 11)
    point = linear.recover(load=True)
    assert [point.values[x] for x in linear.source.x.values()] == pytest.approx([7, 0], abs=1e-9)
    assert pyo.value(linear.source.ratio) == pytest.approx(-12 / 11)
    # on the edge x1 = 0, x2 <= 4 the ratio is (x2 + 2)/(3 x2 + 4), greatest at the origin
    assert solve(charnes_cooper(textbook(pyo.maximize)).model).objective == pytest.approx(1 / 2)


@pytest.mark.parametrize("unit", [10, np.float64(10), np.int64(10), np.float32(10)])
def test_ratios_with_numbers_of_numpy_and_factors_in_front_of_sums(unit: Any) -> None:
    """(x + 1)/(x + 2) is 2/3 at 1 and 4/5 at 3. What is not Python's own number ended with an AttributeError."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(1, 3))
    ratio = ((m.x + 1) * unit) / ((m.x + 2) * unit)
    m.cost = pyo.Objective(expr=unit + ratio)
    assert solve(charnes_cooper(m).model).objective == pytest.approx(10 + 2 / 3)
    m.cost.set_value(unit * (ratio + unit * (ratio - unit)))
    m.cost.sense = pyo.maximize
    assert solve(charnes_cooper(m).model).objective == pytest.approx(110 * 4 / 5 - 1000)
    m.cost.set_value(unit * (unit / m.x + (m.x + unit) * unit / (m.x + 2)))
    m.cost.sense = pyo.minimize
    found = sum_of_ratios(m, epsilon=0.01)
    found.recover(load=True)
    least = min(100 / x + 100 * (x + 10) / (x + 2) for x in np.linspace(1, 3, 201))
    assert least <= pyo.value(m.cost) * (1 + 1e-9) <= 1.01 * least * (1 + 1e-9)


def test_a_denominator_that_changes_sign_in_the_box_is_refused() -> None:
    model = textbook()
    model.ratio.set_value((model.x[1] + 1) / (model.x[1] - model.x[2] + 1))
    with pytest.raises(TransformationRefused, match=r"denominator goes from -3 to 8 on the region"):
        charnes_cooper(model)


def test_a_sign_that_only_the_rows_prove() -> None:
    """x1 - x2 + 5 >= 1 since x2 - x1 <= 4, though the box alone allows -1; and its negative."""
    for sign in (1, -1):
        model = textbook()
        model.ratio.set_value(sign * (model.x[1] + 1) / (sign * (model.x[1] - model.x[2] + 5)))
        linear = charnes_cooper(model)
        # least at (0, 0): 1/5
        assert solve(linear.model).objective == pytest.approx(1 / 5)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_denominator_in_a_large_unit(sign: int) -> None:
    """(1e-9 x - 2e-9)/(+-(1e-10 x + 1e-10)) in [0, 10], x <= 4 by a row: at x = 0 or 4, -20 or 4, and the negatives."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(0, 10))
    model.row = pyo.Constraint(expr=model.x <= 4)
    model.ratio = pyo.Objective(expr=(1e-9 * model.x - 2e-9) / (sign * (1e-10 * model.x + 1e-10)))
    linear = charnes_cooper(model)
    assert solve(linear.model).objective == pytest.approx(-20 if sign == 1 else -4)
    linear.recover(load=True)
    assert model.x.value == pytest.approx(0 if sign == 1 else 4, abs=1e-9)


def test_a_denominator_that_is_fixed_at_0_is_refused() -> None:
    model = textbook()
    model.zero = pyo.Var(bounds=(0, 1))
    model.zero.fix(0)
    model.ratio.set_value((model.x[1] + 1) / model.zero)
    with pytest.raises(TransformationRefused, match=r"^ratio: 1/zero has no value: division by zero$"):
        charnes_cooper(model)
    with pytest.raises(TransformationRefused, match=r"^ratio: 1/zero has no value: division by zero$"):
        sum_of_ratios(model, epsilon=0.1)


def random_problem(seed: int) -> tuple[Any, Any, Any, Any, Any, Any]:
    """Return a (q, c, d, A, b) with x in a box and a denominator that is positive there."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    A = rng.integers(-3, 6, size=(m, n)).astype(float)
    b = A @ rng.uniform(0, 3, size=n) + rng.uniform(0, 2, size=m)
    c = rng.integers(0, 4, size=n).astype(float)
    return rng.integers(-5, 6, size=n).astype(float), float(rng.integers(-4, 5)), c, float(rng.integers(1, 5)), A, b


def fractional(seed: int, sense: Any) -> Any:
    a, q, c, d, A, b = random_problem(seed)
    model = pyo.ConcreteModel()
    model.n = pyo.RangeSet(0, len(a) - 1)
    model.x = pyo.Var(model.n, bounds=(0, 4))
    model.rows = pyo.Constraint(range(len(b)), rule=lambda m, i: sum(A[i, j] * m.x[j] for j in m.n) <= b[i])
    above = sum(a[j] * model.x[j] for j in model.n) + q
    below = sum(c[j] * model.x[j] for j in model.n) + d
    model.ratio = pyo.Objective(expr=above / below, sense=sense)
    return model


def bisected(above: Any, below: Any, region: list[Any], sense: Any, shift: float, high: float) -> float:
    """Return the least or greatest above/below by cvxpy's quasiconvex solver, which needs a known sign: so shifted."""
    numerator, denominator = cp.Variable(nonneg=True), cp.Variable(pos=True)
    region = [*region, numerator == above + shift * below, denominator == below]
    problem = cp.Problem(sense(numerator / denominator), region)
    problem.solve(qcp=True, solver=cp.HIGHS, low=0.0, high=high, eps=1e-7)
    return float(problem.value) - shift


@pytest.mark.slow
@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
@pytest.mark.parametrize("seed", longer(range(12), *range(2, 12)))
def test_bisection_finds_the_same_value(seed: int, sense: Any) -> None:
    """cvxpy's quasiconvex solver works by feasibility problems, without the substitution."""
    a, q, c, d, A, b = random_problem(seed)
    x = cp.Variable(len(a))
    region = [A @ x <= b, x >= 0, x <= 4]
    which = cp.Minimize if sense == pyo.minimize else cp.Maximize
    expected = bisected(a @ x + q, c @ x + d, region, which, 100.0, 200.0)
    found = solve(charnes_cooper(fractional(seed, sense)).model)
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
@pytest.mark.parametrize("seed", longer(range(15), *range(5, 15)))
def test_duals_are_the_changes_of_the_optimal_ratio(seed: int, sense: Any) -> None:
    """Each right-hand side moved a little each way: where both slopes agree, they are the recovered shadow price."""
    model = fractional(seed, sense)
    linear = charnes_cooper(model)
    solved = solve_with_duals(linear.model)
    point = linear.recover(solved.values, solved.duals)
    step = 1e-5
    for i, row in model.rows.items():
        slopes = []
        for sign in (1, -1):
            moved = fractional(seed, sense)
            moved.rows[i].set_value((None, moved.rows[i].body, row.ub + sign * step))
            value = solve(charnes_cooper(moved).model).objective
            assert value is not None
            slopes.append(sign * (value - solved.objective) / step)
        if abs(slopes[0] - slopes[1]) < 1e-4:
            assert point.duals[row] == pytest.approx(slopes[0], abs=1e-3)


@pytest.mark.parametrize("side", [0.3, 0.1 + 0.2])
def test_a_row_of_fixed_variables_holds_but_for_rounding(side: float) -> None:
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(bounds=(1, 10)), pyo.Var([1, 2])
    model.y[1].fix(0.1)
    model.y[2].fix(0.2)
    model.row = pyo.Constraint(expr=model.y[1] + model.y[2] == side)
    model.ratio = pyo.Objective(expr=model.x / (model.x + 1))
    linear = charnes_cooper(model)
    solved = solve_with_duals(linear.model)
    assert solved.objective == pytest.approx(0.5)
    assert linear.recover(solved.values, solved.duals).duals.get(model.row, 0) == 0


def running(mode: str) -> list[Job]:
    jobs = [job for seed in range(8) for job in preset("random", seed, jobs=4).jobs]
    return [job for job in jobs if job.can_run and ratios(job).ratios and job.training.mode == mode][:4]


JOBS = [*running("sync"), *running("async")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "job", longer(JOBS, *(job for k, job in enumerate(JOBS) if k % 4)), ids=lambda job: job.training.mode
)
def test_the_ratio_bounds_of_an_inner_problem_by_bisection(job: Job) -> None:
    """l_j and phi_j as quasiconvex and quasiconcave problems in workers and servers."""
    problem = ratios(job)
    found = sum_of_ratios(problem, epsilon=0.1)
    A, limits = problem.polytope.A, problem.polytope.row_upper
    for j, ratio in enumerate(problem.ratios):
        x = cp.Variable(2)
        above = ratio.numerator @ x + ratio.numerator_constant
        below = ratio.denominator @ x + ratio.denominator_constant
        region = [A @ x <= limits, x >= 1]
        high = 2 * float(found.upper[j]) + 1
        for sense, expected in ((cp.Minimize, found.lower[j]), (cp.Maximize, found.upper[j])):
            value = bisected(above, below, region, sense, 0.0, high)
            assert value == pytest.approx(float(expected), rel=1e-5, abs=1e-5)


def test_integers_are_refused_unless_relaxed() -> None:
    model = textbook()
    model.x[1].domain = pyo.NonNegativeIntegers
    with pytest.raises(TransformationRefused, match=r"variable 'x\[1\]' is not continuous: apply relax first"):
        charnes_cooper(model)
    assert solve(charnes_cooper(relax(model).model).model).objective == pytest.approx(-12 / 11)


def test_an_optimum_at_infinity_has_no_point() -> None:
    """1/(x + 1) falls for ever."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(domain=pyo.NonNegativeReals)
    model.ratio = pyo.Objective(expr=1 / (model.x + 1))
    linear = charnes_cooper(model)
    assert solve(linear.model).objective == pytest.approx(0)
    with pytest.raises(InputError, match="approached at infinity"):
        linear.recover()


def test_an_empty_region_is_refused() -> None:
    model = textbook()
    model.never = pyo.Constraint(expr=model.x[1] >= 100)
    with pytest.raises(TransformationRefused, match="no point satisfies"):
        charnes_cooper(model)


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (lambda m: 1 / (m.x[1] + 1) + 1 / (m.x[2] + 1), "sum_of_ratios approximates these"),
        (lambda m: m.x[1] * m.x[2], "not linear"),
        (lambda m: (m.x[1] * m.x[2]) / (m.x[1] + 1), "not linear"),
        (lambda m: pyo.exp(m.x[1]), "not linear"),
        (lambda m: (m.x[1] + 1) / (0 * m.x[2]), "divided by 0"),
    ],
)
def test_objectives_of_another_form_are_refused(objective: Any, message: str) -> None:
    model = textbook()
    model.ratio.set_value(objective(model))
    with pytest.raises(TransformationRefused, match=message):
        charnes_cooper(model)


@pytest.mark.parametrize(
    ("form", "least"),
    [
        (lambda m, d: 0 * m.x / d, 0),
        (lambda m, d: 0 / d, 0),
        (lambda m, d: m.p * m.x / d, 0),
        (lambda m, d: (m.x - m.x) / d, 0),
        (lambda m, d: 0 * (m.x / d), 0),
        (lambda m, d: m.f / d, 0),
        (lambda m, d: m.x + 0 / d, -4),
        (lambda m, d: (m.x + 9) / (m.x + 8) + 0 / d, 13 / 12),
    ],
)
@pytest.mark.parametrize("shift", [7.0, 70.0, -70.0])
def test_what_is_0_where_it_is_defined_has_its_denominator_looked_at_too(form: Any, least: float, shift: float) -> None:
    """6 y + x / 2 + shift for x and y up to 4 in size: it changes its sign for a shift of 7 alone."""
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(bounds=(-4, 4)), pyo.Var(bounds=(-4, 4))
    model.f, model.p = pyo.Var(initialize=0), pyo.Param(initialize=0, mutable=True)
    model.f.fix()
    model.o = pyo.Objective(expr=form(model, 6 * model.y + 0.5 * model.x + shift))
    if shift == 7:
        for transformed in (charnes_cooper, lambda m: sum_of_ratios(m, epsilon=0.1)):
            with pytest.raises(TransformationRefused, match="denominator"):
                transformed(model)
    else:
        assert solve(charnes_cooper(model).model).objective == pytest.approx(least)


def test_an_optimum_that_a_ray_shares_is_recovered_at_a_point() -> None:
    """0 is reached with 2 used and nothing idle, and approached where both grow: solvers return one or the other."""
    m = pyo.ConcreteModel()
    m.used, m.idle = (pyo.Var(domain=pyo.NonNegativeReals) for _ in range(2))
    m.share = pyo.Objective(expr=m.idle / (m.used + m.idle + 1))
    m.need = pyo.Constraint(expr=m.used >= 2)
    linear = charnes_cooper(m)
    assert solve(linear.model).objective == 0
    for t, used in ((0.0, 1.0), (1 / 3, 2 / 3)):
        linear.scale.set_value(t)
        next(v for v in linear.model.component_data_objects(pyo.Var) if v.name == "used").set_value(used)
        next(v for v in linear.model.component_data_objects(pyo.Var) if v.name == "idle").set_value(0.0)
        point = linear.recover(load=True)
        assert (point.values[m.used] >= 2 - 1e-7, point.values[m.idle]) == (True, 0)
        assert pyo.value(m.share) == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_ratios_that_are_0_at_a_point_are_recovered(seed: int) -> None:
    """A numerator without some of the variables, of which the row asks for some: these alone make it 0."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    above, below, need = (rng.integers(0, 4, size=n) for _ in range(3))
    above[0], need[0] = 0, 1
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), domain=pyo.NonNegativeReals)
    m.row = pyo.Constraint(expr=sum(int(a) * m.x[j] for j, a in enumerate(need)) >= int(rng.integers(1, 5)))
    m.ratio = pyo.Objective(
        expr=sum(int(a) * m.x[j] for j, a in enumerate(above)) / (sum(int(c) * m.x[j] for j, c in enumerate(below)) + 1)
    )
    linear = charnes_cooper(m)
    assert solve(linear.model).objective == pytest.approx(0, abs=1e-9)
    linear.recover(load=True)
    assert pyo.value(m.ratio) == pytest.approx(0, abs=1e-6)
    assert pyo.value(m.row.body) >= pyo.value(m.row.lower) - 1e-6


def test_a_model_that_is_not_solved_is_told_from_one_without_a_point() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(1, 4), initialize=2)
    m.ratio = pyo.Objective(expr=(m.x + 3) / m.x)
    linear = charnes_cooper(m)
    with pytest.raises(InputError, match=r"^t has no value: solve the model$"):
        linear.recover()
    y = next(v for v in linear.model.component_data_objects(pyo.Var) if v.name == "x")
    with pytest.raises(InputError, match=r"^x: says nothing of t$"):
        linear.recover(pyo.ComponentMap([(y, 1.0)]))
    with pytest.raises(InputError, match=r"^x: t is 0, so it is a direction and no point of the source$"):
        linear.recover(pyo.ComponentMap([(y, 1.0), (linear.scale, 0.0)]))


def test_factors_of_0_below_a_power() -> None:
    """(x + 1)(p y + 2)^-1 with p = 0, as a power and in a row: Pyomo asks for values that nothing has."""
    m = pyo.ConcreteModel()
    m.p = pyo.Param(initialize=0, mutable=True)
    m.x, m.y = pyo.Var(bounds=(0, 4)), pyo.Var(bounds=(0, 4))
    m.row = pyo.Constraint(expr=(m.p * m.x + 2) ** 2 * m.y <= 6)
    m.objective = pyo.Objective(expr=(m.x + 1) * (m.p * m.y + 2) ** -1)
    assert solve(charnes_cooper(m).model).objective == pytest.approx(0.5)
    m.objective.set_value((m.x + 1) * (m.y + 1) ** -1)
    assert solve(charnes_cooper(m).model).objective == pytest.approx(0.4)


@pytest.mark.parametrize("transform", [charnes_cooper, lambda model: sum_of_ratios(model, epsilon=0.5)])
def test_an_unused_variable_whose_bounds_cross(transform: Any) -> None:
    m = pyo.ConcreteModel()
    m.x, m.idle = pyo.Var(bounds=(1, 5)), pyo.Var(bounds=(1, 0))
    m.ratio = pyo.Objective(expr=(m.x + 1) / (m.x + 2))
    with pytest.raises(TransformationRefused, match=r"^variable 'idle' is to be above 1 and below 0: no point sat"):
        transform(m)
    m.idle.fix(3)
    assert transform(m).source is m
