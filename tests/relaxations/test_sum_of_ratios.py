"""Algorithm 1 against hand-computed cases, exact rationals, linear programs of another library, and its guarantee."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy.optimize import linprog

from dlsched.models import solve
from dlsched.models.ratio import FractionalSum, Polytope, Ratio
from dlsched.models.smd import Coefficients, Job, Mode, preset, ratios
from dlsched.models.smd.single import build
from dlsched.models.utility import Hyperbolic
from dlsched.relaxations import (
    LinearProgram,
    Planar,
    TransformationRefused,
    charnes_cooper,
    relax,
    sum_of_ratios,
)
from tests.longer import longer
from tests.oracles.sum_of_ratios import Line, Quotient, algorithm_1, bracket

F = Fraction
Limits = Sequence[tuple[float | str, float | str, float | str]]


def job(theta: Sequence[Any], limits: Limits) -> Job:
    """A job with five coefficients in synchronous, four in asynchronous training, and limits O w + G p <= v."""
    needs = [{f"r{k}": Fraction(row[part]) for k, row in enumerate(limits) if Fraction(row[part])} for part in range(3)]
    return Job(
        name="job",
        worker=needs[0],
        server=needs[1],
        limit=needs[2],
        utility=Hyperbolic(scale=Fraction(1)),
        training=Coefficients(
            mode=Mode.SYNC if len(theta) == 5 else Mode.ASYNC, theta=tuple(Fraction(value) for value in theta)
        ),
    )


def arrays(quotients: Sequence[Quotient], region: Sequence[Line]) -> FractionalSum:
    lines = np.array([[float(value) for value in line] for line in region])
    made = [[[float(value) for value in line] for line in pair] for pair in quotients]
    none = np.full(2, np.inf)
    return FractionalSum(
        tuple(Ratio(np.array(a[:2]), a[2], np.array(c[:2]), c[2]) for a, c in made),
        Polytope(lines[:, :2], np.full(len(lines), -np.inf), lines[:, 2], -none, none),
    )


S2 = job(("1/2", "1/2", 1, 2, 12), [(1, 0, 4), (0, 1, 4)])
S3 = job((0, 1, 6, 6), [(2, 1, 8), (1, 1, 6)])
NOTHING = job(("1/10", "1/10", 10, 1, 40), [(1, 0, 4), (0, 1, 4)])
BAD = job((0, "1/100", 10, 100), [(1, 0, 1), (0, 1, 4)])


@pytest.mark.parametrize("oracle", [None, Planar, LinearProgram])
@pytest.mark.parametrize(
    ("given", "epsilon", "variant", "points", "feasible", "cost"),
    [
        pytest.param(S2, 0.1, "printed", 150, 102, 9.932077, id="two-dimensional"),
        pytest.param(S2, 0.5, "printed", 12, 7, 10.166667, id="coarse"),
        pytest.param(S2, 0.5, "corrected", 20, 15, 10.0, id="coarse-corrected"),
        pytest.param(S3, 0.5, "printed", 4, 4, 5.546154, id="async"),
        pytest.param(S3, 0.1, "printed", 17, 17, 5.491004, id="async-fine"),
        pytest.param(S3, 0.01, "printed", 162, 162, 5.490427, id="async-finest"),
        pytest.param(NOTHING, 0.5, "printed", 4, 0, np.inf, id="returns-nothing"),
        pytest.param(NOTHING, 0.5, "corrected", 10, 6, 21.8, id="returns-nothing-corrected"),
        pytest.param(BAD, 0.5, "printed", 1, 1, 110.01, id="bad-point"),
        pytest.param(BAD, 0.5, "corrected", 2, 2, 35.04, id="bad-point-corrected"),
    ],
)
def test_worked_cases(
    given: Job, epsilon: float, variant: str, points: int, feasible: int, cost: float, oracle: Any
) -> None:
    """Costs of the first six by enumeration in rationals, of the others by hand."""
    found = sum_of_ratios(ratios(given), epsilon=epsilon, variant=variant, oracle=oracle)
    assert (found.points, found.feasible) == (points, feasible)
    assert found.cost == pytest.approx(cost, abs=1e-6)
    assert found.points == np.prod([len(grid) for grid in found.grids])
    assert (found.x is None) == np.isinf(cost)


def test_bounds_of_the_worked_case() -> None:
    found = sum_of_ratios(ratios(S2), epsilon=0.1, variant="printed")
    assert found.lower == pytest.approx([2, 0.5, 3])
    assert found.upper == pytest.approx([5, 8, 12])
    assert found.last == 1
    assert [len(grid) for grid in found.grids] == [10, 15]
    assert found.bound == pytest.approx(5.5)


def test_the_oracle_of_these_tests_finds_the_known_optima() -> None:
    assert bracket((0.5, 0.5, 1, 2, 12), [(1, 0, 4), (0, 1, 4)], 1e-6)[1] == pytest.approx(9.9172, abs=1e-4)
    assert bracket((0, 1, 6, 6), [(2, 1, 8), (1, 1, 6)], 1e-6)[1] == pytest.approx(5.4904, abs=1e-4)


def quotients_over_a_polygon(rng: np.random.Generator) -> tuple[list[Quotient], list[Line]]:
    """Up to three positive ratios over a box of halves, sometimes a segment or a point, with up to two more rows."""
    kind = rng.integers(5)
    lower = [F(int(n), 2) for n in (rng.integers(-4, 3, 2) if kind == 0 else (2, 2))]
    width = [F(int(n), 2) for n in rng.integers(2, 9, 2)]
    if kind in (1, 2):
        width[int(rng.integers(2))] = F(0)
    upper = [a + b for a, b in zip(lower, width, strict=True)]
    region = [(F(1), F(0), upper[0]), (F(-1), F(0), -lower[0]), (F(0), F(1), upper[1]), (F(0), F(-1), -lower[1])]
    corner = [lower[0], upper[1]]
    for _ in range(rng.integers(3)):
        a, b = (F(int(n), 2) for n in rng.integers(-4, 7, 2))
        region.append((a, b, a * corner[0] + b * corner[1] + F(int(rng.integers(3)), 2)))

    def positive() -> Line:
        a, b = (F(int(n), 2) for n in rng.integers(-4, 7, 2) * rng.integers(0, 2, 2))
        least = min(a * x + b * y for x in (lower[0], upper[0]) for y in (lower[1], upper[1]))
        return a, b, F(int(rng.integers(1, 7)), 2) - least

    return [(positive(), positive()) for _ in range(rng.integers(1, 4))], region


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(120), *range(40, 120)))
def test_every_number_agrees_with_exact_rationals(seed: int) -> None:
    quotients, region = quotients_over_a_polygon(np.random.default_rng(seed))
    epsilon, top = (F(1, 2), F(1, 4), F(1, 10))[seed % 3], seed % 2 == 1
    exact = algorithm_1(quotients, region, epsilon, top=top)
    problem = arrays(quotients, region)
    for oracle in (Planar, LinearProgram):
        found = sum_of_ratios(problem, epsilon=float(epsilon), variant="corrected" if top else "printed", oracle=oracle)
        assert found.lower == pytest.approx([float(value) for value in exact.lower], rel=1e-9)
        assert found.upper == pytest.approx([float(value) for value in exact.upper], rel=1e-9)
        assert found.last == exact.last
        assert (found.points, found.feasible) == (exact.points, exact.feasible)
        assert found.cost == pytest.approx(np.inf if exact.cost is None else float(exact.cost), rel=1e-9)
        if found.x is not None:
            assert problem.polytope.excess(found.x) <= 1e-9
            assert found.value == pytest.approx(float(problem(found.x)), rel=1e-12)
            assert found.value <= found.cost * (1 + 1e-9)


def small_jobs(seed: int, count: int) -> list[tuple[list[float], list[tuple[float, float, float]]]]:
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        theta = np.round(rng.uniform(0.1, 1, 5 if rng.integers(2) else 4) * 10 ** rng.uniform(-1, 2), 3)
        rows = [(1.0, 0.0, float(rng.integers(2, 9))), (0.0, 1.0, float(rng.integers(2, 9)))]
        o, g = (float(n) for n in rng.integers(1, 4, 2))
        rows.append((o, g, o + g + float(rng.integers(0, 16))))
        made.append((theta.tolist(), rows))
    return made


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "count"), longer([(0, 60), (7, 300)], (7, 300)))
def test_corrected_is_within_the_factor_and_printed_may_find_nothing(seed: int, count: int) -> None:
    empty = 0
    for theta, rows in small_jobs(seed, count):
        problem = ratios(job([repr(value) for value in theta], [tuple(map(str, row)) for row in rows]))
        low, high = bracket(theta, rows)
        for epsilon in (0.5, 0.1):
            found = sum_of_ratios(problem, epsilon=epsilon)
            assert low * (1 - 1e-9) <= found.value <= found.cost * (1 + 1e-9)
            assert found.cost <= (1 + epsilon) * high * (1 + 1e-9)
            assert found.bound <= high * (1 + 1e-9)
            assert found.x is not None
            assert problem.polytope.excess(found.x) <= 1e-9
            printed = sum_of_ratios(problem, epsilon=epsilon, variant="printed")
            assert printed.points <= found.points
            assert printed.cost >= found.cost * (1 - 1e-9)
            empty += printed.x is None
    assert empty >= count / 30


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_jobs_in_the_papers_ranges(mode: str) -> None:
    for given in preset("paper", 5, jobs=8, mode=mode).jobs:
        if not given.can_run:
            continue
        problem = ratios(given)
        rows = [tuple(float(v) for v in (given.worker_needs(r), given.server_needs(r), given.limit_of(r)))
                for r in given.resources]  # fmt: skip
        low, high = bracket([float(value) for value in given.training.coefficients], rows)
        found = sum_of_ratios(problem, epsilon=0.01)
        assert found.x is not None
        assert low <= found.value <= found.cost * (1 + 1e-12)
        assert found.cost <= 1.01 * high
        assert found.bound <= high
        assert problem.polytope.excess(found.x) <= 1e-9
        coarse = sum_of_ratios(problem, epsilon=0.5)
        by_programs = sum_of_ratios(problem, epsilon=0.5, oracle=LinearProgram)
        assert by_programs.cost == pytest.approx(coarse.cost, rel=1e-8)
        assert by_programs.feasible == coarse.feasible


def least_by_scipy(problem: FractionalSum, last: int, caps: dict[int, float]) -> float:
    """One program (15) in Charnes-Cooper form, built anew; infinite where it is infeasible."""
    region, target = problem.polytope, problem.ratios[last]
    n = len(region.lower)
    rows = [np.append(row, -limit) for row, limit in zip(region.A, region.row_upper, strict=True)]
    rows += [np.append(unit, -limit) for unit, limit in zip(np.eye(n), region.upper, strict=True)]
    rows += [np.append(-unit, limit) for unit, limit in zip(np.eye(n), region.lower, strict=True)]
    for j, cap in caps.items():
        ratio = problem.ratios[j]
        rows.append(
            np.append(
                ratio.numerator - cap * ratio.denominator,
                ratio.numerator_constant - cap * ratio.denominator_constant,
            )
        )
    solved = linprog(
        np.append(target.numerator, target.numerator_constant),
        A_ub=np.array(rows),
        b_ub=np.full(len(rows), 1e-12),
        A_eq=np.append(target.denominator, target.denominator_constant)[None, :],
        b_eq=[1.0],
        bounds=[(None, None)] * n + [(0, None)],
    )
    return float(solved.fun) if solved.status == 0 else np.inf


@pytest.mark.parametrize(
    ("seed", "dimension", "count"), [(0, 1, 2), (1, 3, 2), (2, 3, 3), (3, 4, 3), (4, 5, 1), (5, 3, 4)]
)
def test_any_dimension_and_any_number_of_ratios(seed: int, dimension: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    problem = FractionalSum(
        tuple(
            Ratio(rng.uniform(0, 2, dimension), rng.uniform(0, 1), rng.uniform(0, 2, dimension), rng.uniform(0.1, 1))
            for _ in range(count)
        ),
        Polytope(
            rng.uniform(0, 1, (2, dimension)),
            np.full(2, -np.inf),
            np.full(2, 2.0 * dimension),
            np.ones(dimension),
            np.full(dimension, 5.0),
        ),
    )
    found = sum_of_ratios(problem, epsilon=0.4)
    others = [j for j in range(count) if j != found.last]
    least = [
        sum(caps) + least_by_scipy(problem, found.last, dict(zip(others, caps, strict=True)))
        for caps in itertools.product(*found.grids)
    ]
    assert found.points == len(least)
    assert found.feasible == np.isfinite(least).sum()
    assert found.cost == pytest.approx(min(least), rel=1e-7)
    assert found.x is not None
    assert problem.polytope.excess(found.x) <= 1e-9
    samples = rng.uniform(1, 5, (20_000, dimension))
    inside = samples[(samples @ problem.polytope.A.T <= problem.polytope.row_upper).all(axis=1)]
    assert found.bound <= problem(inside).min()
    assert found.cost <= 1.4 * problem(inside).min()


def test_units_do_not_matter() -> None:
    """Ratios in micro-units or in mega-units have the same grid, the same point and the scaled cost."""
    plain = ratios(S2)
    for oracle in (Planar, LinearProgram):
        first = sum_of_ratios(plain, epsilon=0.1, oracle=oracle)
        for unit in (1e-9, 1e9):
            scaled = FractionalSum(
                tuple(Ratio(r.numerator * unit, r.numerator_constant * unit, r.denominator, r.denominator_constant)
                      for r in plain.ratios),
                plain.polytope,
            )  # fmt: skip
            found = sum_of_ratios(scaled, epsilon=0.1, oracle=oracle)
            assert (found.points, found.feasible) == (first.points, first.feasible)
            assert found.cost == pytest.approx(first.cost * unit, rel=1e-9, abs=0)


@pytest.mark.slow
def test_memory_stays_bounded_on_a_large_grid() -> None:
    given = job((1, "1/100", 1, 3, 5000), [(1, 0, 400), (0, 1, 400)])
    tracemalloc.start()
    found = sum_of_ratios(ratios(given), epsilon=0.005)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.points > 10**6
    assert peak < 250e6


def test_what_no_ratio_uses_gets_the_value_nearest_0() -> None:
    m = pyo.ConcreteModel()
    m.w, m.p, m.idle = pyo.Var(bounds=(1, 4)), pyo.Var(bounds=(1, 4)), pyo.Var(bounds=(-3, -1))
    m.total = pyo.Objective(expr=m.w / m.p + 40 / m.w)
    point = sum_of_ratios(m, epsilon=0.1).recover(load=True)
    assert (point.values[m.idle], m.idle.value) == (-1, -1)


def test_a_model_gets_its_point_back() -> None:
    instance = preset("paper", 1, jobs=3)
    given = next(one for one in instance.jobs if one.can_run)
    model = relax(build(instance, given.name)).model
    found = sum_of_ratios(model, epsilon=0.1)
    same = sum_of_ratios(ratios(given), epsilon=0.1)
    assert found.cost <= 1.1 * same.value
    assert same.cost <= 1.1 * found.value
    point = found.recover(load=True)
    assert point.values[model.workers] == model.workers.value
    assert pyo.value(model.completion_time) == pytest.approx(found.value)
    assert found.bound <= same.value


@pytest.mark.parametrize("unit", [1, 1e3, 1e6, 2.0**30, 1e-6])
def test_units_of_the_variables_change_nothing(unit: float) -> None:
    """x in [2, 5] units and y in [1, 8] of the reciprocal; beyond 1e5 a point outside was returned, worth less."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(2 * unit, 5 * unit)), pyo.Var(bounds=(1 / unit, 8 / unit))
    x, y = m.x / unit, m.y * unit
    m.cost = pyo.Objective(expr=(x + 2 * y) / (3 - x / 40) + 1 / (2 * x) + 5 * y / (x + 3))
    found = sum_of_ratios(m, epsilon=0.5)
    assert (found.value, found.bound) == (pytest.approx(2.605932, rel=1e-6), pytest.approx(2.080932, rel=1e-6))
    found.recover(load=True)
    assert (m.x.value / unit, m.y.value * unit) == (pytest.approx(2), pytest.approx(1))


@pytest.mark.parametrize("epsilon", [0.1, 0.2, 0.5, 1])
def test_caps_that_all_but_allow_a_point(epsilon: float) -> None:
    """At some caps there is a point or none by a part in 1e12, and HiGHS's simplex methods do not say."""
    m = pyo.ConcreteModel()
    m.x, m.y, m.z = pyo.Var(bounds=(2, 3)), pyo.Var(bounds=(2, 3)), pyo.Var(bounds=(1, 4))
    m.cost = pyo.Objective(
        expr=5 * m.y / (m.z + 3) + (m.y + 5 * m.z + 12) / (m.x + m.z + 1) + (2 * m.x + m.y + 12) / (2 * m.y)
    )
    found = sum_of_ratios(m, epsilon=epsilon)
    corners = [(x, y, z) for x in (2, 3) for y in (2, 3) for z in (1, 4)]
    best = min(5 * y / (z + 3) + (y + 5 * z + 12) / (x + z + 1) + (2 * x + y + 12) / (2 * y) for x, y, z in corners)
    assert found.bound <= best * (1 + 1e-9)
    assert found.value <= (1 + epsilon) * best


def test_the_capped_model_has_the_point_where_a_cap_is_the_least_value_of_its_ratio() -> None:
    """The cap is 10000 but for rounding, which 2000 <= x[1] and 1000 <= x[2] made a contradiction of."""
    m = pyo.ConcreteModel()
    bounds = [(0, 0.004), (2000, 5000), (1000, 8000)]
    m.x = pyo.Var(range(3), bounds=lambda m, i: bounds[i])
    above, below = 1e7 * m.x[0] + 10 * m.x[1] + 20 * m.x[2], 0.001 * m.x[1] + 0.002 * m.x[2]
    m.time = pyo.Objective(expr=3e7 * m.x[0] + 20 * m.x[1] + 20 * m.x[2] + 5000 + above / below)
    found = sum_of_ratios(m, epsilon=0.1)
    assert found.value == pytest.approx(75000)
    assert solve(charnes_cooper(found.model).model).objective == pytest.approx(65000)


@pytest.mark.parametrize("oracle", [Planar, LinearProgram])
def test_a_sum_of_which_no_variable_is_left(oracle: Any) -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=2)
    m.x.fix()
    m.time = pyo.Objective(expr=(3 * m.x + 1) / (m.x + 5))
    found = sum_of_ratios(m, epsilon=0.5, oracle=oracle)
    assert found.value == found.bound == 1
    nothing = np.zeros(0)
    empty = Polytope(np.zeros((1, 0)), np.ones(1), np.ones(1), nothing, nothing)
    with pytest.raises(TransformationRefused, match="the region is empty"):
        sum_of_ratios(FractionalSum((Ratio(nothing, 1.0, nothing, 1.0),), empty), epsilon=0.5, oracle=oracle)


@pytest.mark.slow
def test_caps_that_no_point_keeps_by_very_little() -> None:
    """At the caps (1.2, 1.0198) simplex on scaled numbers says neither that there is a point nor that there is none."""
    m = pyo.ConcreteModel()
    m.x, m.y, m.z = pyo.Var(bounds=(0, 1)), pyo.Var(bounds=(0, 3)), pyo.Var(bounds=(2, 5))
    first = (0.1 * m.x + 30 * m.y + 0.1 * m.z + 1) / (0.03 * m.x + 0.001 * m.y + 1)
    second = (0.3 * m.x + 20 * m.z + 3) / (0.001 * m.y + 20 * m.z + 1)
    third = (1000 * m.y + 0.01 * m.z + 4) / (0.2 * m.x + 0.1 * m.y + 2000 * m.z + 3)
    m.cost = pyo.Objective(expr=first + second + third)
    found = sum_of_ratios(m, epsilon=0.05)
    found.recover(load=True)
    corners = []
    for x, y, z in itertools.product((0, 1), (0, 3), (2, 5)):
        m.x.set_value(x), m.y.set_value(y), m.z.set_value(z)
        corners.append(pyo.value(m.cost))
    assert found.bound <= found.value <= min(corners) * (1 + 1e-9)
    assert found.value <= 1.05 * found.bound
