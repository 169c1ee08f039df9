"""What is particular to the standard form."""

from __future__ import annotations

import numpy as np
import pytest

from dlsched.relaxations import standard_form
from tests.conformance.checks import check_matrix
from tests.conformance.solving import solve, solve_matrix
from tests.conformance.textbook import TEXTBOOK, Textbook, integers, wyndor


@pytest.mark.parametrize("text", TEXTBOOK, ids=lambda text: text.name)
def test_shape_of_the_standard_form(text: Textbook) -> None:
    result = standard_form(text.build())
    form = result.matrix
    assert form.sense == 1
    assert (form.row_lower == form.row_upper).all()
    assert np.isfinite(form.row_lower).all()
    assert (form.lower == 0).all()
    assert np.isinf(form.upper).all()
    check_matrix(result)


@pytest.mark.parametrize("text", TEXTBOOK, ids=lambda text: text.name)
def test_arrays_are_recovered_too(text: Textbook) -> None:
    result = standard_form(text.build())
    solver_point = solve(result.model)
    x = np.array([solver_point.values.get(v, 0.0) for v in result.model.x.values()])
    assert result.matrix.residual(x) <= 1e-6
    point = result.recover(x)
    source = np.array([point.values[column] for column in result.compiled.columns])
    assert result.compiled.residual(source) <= 1e-6
    assert result.compiled.value(source) == pytest.approx(text.optimum)


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
