"""Certification by two routes, on the matrix that HiGHS gets wrong among others."""

from __future__ import annotations

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp

from dlsched.algorithms.exact import Route, certify
from dlsched.algorithms.exact.certify import Finding, Runner
from dlsched.models import Matrix
from dlsched.solvers.matrix import Floats
from tests import paths

GOLDEN = paths.GOLDEN / "highs-presolve.npz"
TRUE, WRONG = 8.961363, 8.585381


def golden() -> Matrix:
    """The matrix on which HiGHS 1.15.1 with presolve returns 8.585381 as optimal; the optimum is 8.961363."""
    data = np.load(GOLDEN)
    columns = sp.csc_array((data["data"], data["indices"], data["indptr"]), shape=tuple(data["shape"]))
    n = columns.shape[1]
    return Matrix(
        c=data["c"],
        offset=0.0,
        sense=1,
        A=sp.csr_array(columns),
        row_lower=data["lo"],
        row_upper=data["hi"],
        lower=np.zeros(n),
        upper=data["ub"],
        integer=data["integ"].astype(bool),
    )


def knapsack() -> pyo.ConcreteModel:
    """Three items of which a alone, or b and c, fit: the optimum is 10 both ways, by hand."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(["a", "b", "c"], domain=pyo.Binary)
    m.room = pyo.Constraint(expr=5 * m.x["a"] + 4 * m.x["b"] + 3 * m.x["c"] <= 7)
    m.worth = pyo.Objective(expr=10 * m.x["a"] + 6 * m.x["b"] + 4 * m.x["c"], sense=pyo.maximize)
    return m


def saying(bound: float | None, x: Floats | None = None, infeasible: bool = False, attained: bool = False) -> Runner:
    """A route that says what it is told to."""
    return lambda matrix, cutoff, seconds: Finding("a witness", bound, x, infeasible, attained)


def exactly(bound: float | None) -> Finding:
    """What was shown without floats; None for no point."""
    return Finding("exactly", bound, None, infeasible=bound is None, exact=True)


def test_wrong_optimum_of_highs_is_never_proved() -> None:
    certificate = certify(golden())
    assert certificate.value is not None
    assert abs(certificate.value) == pytest.approx(TRUE, abs=1e-5)
    assert certificate.proved
    assert certificate.point is not None
    assert golden().residual(certificate.point) <= 1e-6


def test_the_route_with_the_wrong_bound_is_named_where_the_solver_still_errs() -> None:
    only = certify(golden(), [Route.HIGHS])
    assert not only.proved
    both = certify(golden(), [Route.HIGHS, Route.HIGHS_WITHOUT_PRESOLVE])
    wrong = abs(only.value or 0.0) == pytest.approx(WRONG, abs=1e-5)
    assert both.proved is not wrong
    assert any("refuted" in line for line in both.evidence) is wrong
    assert both.value == pytest.approx(-TRUE, abs=1e-5)


def test_a_wrong_value_is_not_proved_by_routes_that_agree_with_it() -> None:
    point = certify(golden()).point
    liars = [saying(-WRONG), saying(-WRONG), saying(-TRUE, point)]
    certificate = certify(golden(), liars)
    assert not certificate.proved
    assert sum("refuted" in line for line in certificate.evidence) == 2


def test_what_was_shown_before_is_a_route_and_refuted_as_any() -> None:
    shown = certify(knapsack(), [Finding("before", 10.0, None), Route.HIGHS_WITHOUT_PRESOLVE])
    assert shown.proved
    assert shown.evidence[0] == "before: nothing better than 10"
    wrong = certify(knapsack(), [Finding("before", 9.0, None), Route.HIGHS_WITHOUT_PRESOLVE])
    assert not wrong.proved
    assert "refuted" in wrong.evidence[0]


def test_a_model_is_proved_by_two_routes() -> None:
    certificate = certify(knapsack())
    assert certificate.proved
    assert certificate.value == pytest.approx(10)
    assert certificate.bound == pytest.approx(10)
    assert len(certificate.evidence) == 2


def test_one_route_proves_nothing() -> None:
    certificate = certify(knapsack(), [Route.HIGHS])
    assert not certificate.proved
    assert certificate.value == pytest.approx(10)


def test_a_value_known_to_be_optimal_is_confirmed_by_cutoff() -> None:
    certificate = certify(knapsack(), value=10.0)
    assert certificate.proved
    assert certificate.bound == pytest.approx(10, abs=1e-5)


def test_a_value_below_the_optimum_is_improved_and_not_confirmed_as_it_is() -> None:
    certificate = certify(knapsack(), value=6.0)
    assert certificate.value == pytest.approx(10)


def test_a_bound_below_a_checked_point_is_refuted() -> None:
    certificate = certify(knapsack(), [saying(9.0), Route.HIGHS])
    assert not certificate.proved
    assert certificate.value == pytest.approx(10)
    assert "refuted" in certificate.evidence[0]


def test_a_point_that_breaks_the_model_counts_for_nothing() -> None:
    certificate = certify(knapsack(), [saying(20.0, np.ones(3)), Route.HIGHS, Route.HIGHS_WITHOUT_PRESOLVE])
    assert certificate.value == pytest.approx(10)
    assert "breaks the model" in certificate.evidence[0]
    assert certificate.proved


def test_infeasible_needs_two_routes() -> None:
    model = knapsack()
    model.full = pyo.Constraint(expr=sum(model.x.values()) >= 3)
    assert certify(model).infeasible
    assert not certify(model, [Route.HIGHS]).infeasible
    assert certify(model).value is None


def all_but_room() -> pyo.ConcreteModel:
    """One item, worth 1, for which 1e-7 lacks: a solver takes it."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(domain=pyo.Binary)
    m.room = pyo.Constraint(expr=m.x <= 1 - 1e-7)
    m.worth = pyo.Objective(expr=m.x, sense=pyo.maximize)
    return m


NOTHING, ITEM = np.array([0.0]), np.array([1.0])


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_a_point_beyond_what_is_exact_is_none(order: tuple[int, ...]) -> None:
    routes = [saying(1.0, ITEM, attained=True), exactly(0.0), saying(0.0, NOTHING)]
    certificate = certify(all_but_room(), [routes[k] for k in order])
    assert (certificate.proved, certificate.value, certificate.bound) == (True, 0.0, 0.0)
    assert certificate.point is not None
    assert certificate.point.tolist() == [0.0]
    assert not [line for line in certificate.evidence if "exactly: nothing better than 0, refuted" in line]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_an_exact_route_says_alone_that_there_is_no_point(order: tuple[int, ...]) -> None:
    routes = [saying(1.0, ITEM, attained=True), exactly(None)]
    certificate = certify(all_but_room(), [routes[k] for k in order])
    assert (certificate.infeasible, certificate.value, certificate.point) == (True, None, None)


def test_a_value_that_was_checked_refutes_an_exact_route_too() -> None:
    certificate = certify(all_but_room(), [exactly(0.0), saying(1.0, ITEM, attained=True)], value=1.0)
    assert (certificate.proved, certificate.value) == (False, 1.0)
    assert "refuted" in certificate.evidence[0]


def test_infeasible_is_refuted_by_a_point() -> None:
    certificate = certify(knapsack(), [saying(None, infeasible=True), Route.HIGHS, Route.HIGHS_WITHOUT_PRESOLVE])
    assert certificate.proved
    assert "refuted" in certificate.evidence[0]


def test_scip_is_a_route() -> None:
    certificate = certify(knapsack(), [Route.SCIP, Route.HIGHS])
    assert certificate.proved
    assert certificate.evidence[0].startswith("SCIP")


def test_minimisation() -> None:
    model = knapsack()
    model.worth.deactivate()
    model.some = pyo.Constraint(expr=sum(model.x.values()) >= 2)
    model.cost = pyo.Objective(expr=10 * model.x["a"] + 6 * model.x["b"] + 4 * model.x["c"])
    certificate = certify(model)
    assert certificate.proved
    assert certificate.value == pytest.approx(10)


def test_a_standing_route_that_claims_a_better_optimum_keeps_the_proof_open() -> None:
    agreeing = [saying(10.0, np.array([1.0, 0.0, 0.0])), saying(10.0)]
    assert not certify(knapsack(), [saying(12.0, attained=True), *agreeing]).proved
    assert certify(knapsack(), [saying(12.0), *agreeing]).proved


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_objectives_of_any_unit(scale: float) -> None:
    """With an absolute tolerance, 6e-9 and 10e-9 would be the same."""
    model = knapsack()
    model.worth.set_value(scale * model.worth.expr)
    assert certify(model).value == pytest.approx(10 * scale, rel=1e-9, abs=0)
    lie = saying(6 * scale, np.array([0.0, 1.0, 0.0]))
    certificate = certify(model, [lie, Route.HIGHS, Route.HIGHS_WITHOUT_PRESOLVE])
    assert certificate.proved
    assert certificate.value == pytest.approx(10 * scale, rel=1e-9, abs=0)
    assert "refuted" in certificate.evidence[0]
    assert certify(model, value=6 * scale).value == pytest.approx(10 * scale, rel=1e-9, abs=0)
