"""Solving for the tests: straight to HiGHS, with duals, and the conditions of optimality checked apart from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import highspy
import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.common.collections import ComponentMap

from dlsched.models.matrix import Matrix, compile_model, highs

_STATUS = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kInfeasible: "infeasible",
    highspy.HighsModelStatus.kUnbounded: "unbounded",
    highspy.HighsModelStatus.kModelEmpty: "optimal",
}


@dataclass(frozen=True, slots=True)
class Solved:
    status: str
    objective: float
    values: Any
    duals: Any


def solve(model: Any) -> Solved:
    """Solve a linear Pyomo model; a row without variables or crossing bounds make it infeasible, too."""
    for variable in model.component_data_objects(pyo.Var, active=True):
        lower, upper = variable.bounds
        if not variable.fixed and None not in (lower, upper) and lower > upper:
            return Solved("infeasible", np.nan, ComponentMap(), ComponentMap())
    try:
        return solve_matrix(compile_model(model))
    except ValueError as error:
        if "infeasible" in str(error):
            return Solved("infeasible", np.nan, ComponentMap(), ComponentMap())
        raise


def solve_matrix(matrix: Matrix) -> Solved:
    """Solve arrays; values and duals are given for those that come from Pyomo, duals for continuous ones."""
    solver = highs(matrix, mip_rel_gap=0.0, threads=1)
    solver.run()
    if solver.getModelStatus() == highspy.HighsModelStatus.kUnboundedOrInfeasible:
        feasible = solve_matrix(replace(matrix, c=np.zeros_like(matrix.c))).status == "optimal"
        return Solved("unbounded" if feasible else "infeasible", np.nan, ComponentMap(), ComponentMap())
    if solver.getModelStatus() not in _STATUS:
        solver.setOptionValue("presolve", "off")
        solver.run()
    status = _STATUS[solver.getModelStatus()]
    if status != "optimal":
        return Solved(status, np.nan, ComponentMap(), ComponentMap())
    solution = solver.getSolution()
    return Solved(
        status,
        matrix.value(np.array(solution.col_value)),
        ComponentMap(zip(matrix.columns, solution.col_value, strict=False)),
        None if matrix.integer.any() else ComponentMap(zip(matrix.rows, solution.row_dual, strict=False)),
    )


def assert_feasible(matrix: Matrix, point: Any, objective: float) -> None:
    """Check that a point of the source satisfies its rows, bounds and integrality, and has the objective value."""
    x = np.array([point.values[column] for column in matrix.columns])
    assert matrix.residual(x) <= 1e-6, matrix.worst(x)
    assert matrix.value(x) == pytest.approx(objective, rel=1e-6, abs=1e-6)


def assert_optimal_duals(matrix: Matrix, point: Any) -> None:
    """Check a primal-dual pair of a continuous program: signs, complementary slackness, equal objectives."""
    x = np.array([point.values[column] for column in matrix.columns])
    y = np.array([point.duals.get(row, 0.0) for row in matrix.rows])
    z = matrix.c - matrix.A.T @ y
    dual_objective = matrix.offset
    for prices, activity, lower, upper in (
        (y, matrix.A @ x, matrix.row_lower, matrix.row_upper),
        (z, x, matrix.lower, matrix.upper),
    ):
        side = np.where(matrix.sense * prices > 0, lower, upper)
        tight = np.abs(prices) <= 1e-7
        assert np.isfinite(side[~tight]).all(), "a price on a side that does not exist"
        assert np.abs((activity - side)[~tight]) == pytest.approx(0, abs=1e-6), "a price on a side that is not tight"
        dual_objective += float(prices[~tight] @ side[~tight])
    assert dual_objective == pytest.approx(matrix.value(x), rel=1e-6, abs=1e-6)
