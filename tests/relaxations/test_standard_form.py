"""What is particular to the standard form."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest

from dlsched.models.solve import solve as solve_model
from dlsched.relaxations import TransformationRefused, standard_form
from dlsched.relaxations.conformance_cases import Case, integers, wyndor
from tests.relaxations.conformance.cases import KNOWN
from tests.relaxations.conformance.solving import solve, solve_matrix


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case.name)
def test_shape_of_the_standard_form(case: Case) -> None:
    result = standard_form(case.build())
    form = result.matrix
    assert form.sense == 1
    assert (form.row_lower == form.row_upper).all()
    assert np.isfinite(form.row_lower).all()
    assert (form.lower == 0).all()
    assert np.isinf(form.upper).all()
    arrays, model = solve_matrix(form), solve(result.model)
    assert arrays.status == model.status == "optimal"
    assert arrays.objective == pytest.approx(model.objective, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case.name)
def test_arrays_are_recovered_too(case: Case) -> None:
    result = standard_form(case.build())
    solver_point = solve(result.model)
    x = np.array([solver_point.values.get(v, 0.0) for v in result.model.x.values()])
    assert result.matrix.residual(x) <= 1e-6
    point = result.recover(x)
    source = np.array([point.values[column] for column in result.compiled.columns])
    assert result.compiled.residual(source) <= 1e-6
    assert result.compiled.value(source) == pytest.approx(case.optimum)


def test_wyndor_by_hand() -> None:
    form = standard_form(wyndor()).matrix
    assert form.A.toarray().tolist() == [[1, 0, 1, 0, 0], [0, 2, 0, 1, 0], [3, 2, 0, 0, 1]]
    assert form.c.tolist() == [-3, -5, 0, 0, 0]
    assert form.row_lower.tolist() == [4, 12, 18]
    assert solve_matrix(form).objective == pytest.approx(-36)


def test_integers_are_shifted_to_integers() -> None:
    model = integers()
    model.x.setlb(0.5)
    form = standard_form(model)
    assert form.t[[c.name for c in form.compiled.columns].index("x")] == 1
    assert form.matrix.integer.sum() == 4
    assert -solve_matrix(form.matrix).objective == pytest.approx(7)


@pytest.mark.parametrize("far", [1e10, 1e17, 1e19])
def test_a_bound_far_from_zero_takes_no_digits(far: float) -> None:
    """Shifted by -1e17, ``x + y <= 1.3`` would have the side 1e17: by the other bound, or not at all."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 4)), pyo.Var(bounds=(-far, 1))
    m.above, m.below = pyo.Constraint(expr=m.x + m.y <= 1.3), pyo.Constraint(expr=m.x + 3 * m.y >= -2.1)
    m.worth = pyo.Objective(expr=m.x + 0.7 * m.y, sense=pyo.maximize)
    form = standard_form(m)
    solve_model(form.model)
    form.recover(load=True)
    assert pyo.value(m.worth) == pytest.approx(1.81)
    m.y.setub(None)
    with pytest.raises(TransformationRefused, match=r"^variable 'y' has the bound -1e\+.* far from 0 that above would"):
        standard_form(m)
    m.y.setlb(-1e6)
    assert solve_model(standard_form(m).model).objective == pytest.approx(-1.81)
