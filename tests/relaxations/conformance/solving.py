"""Solving for the tests: straight to HiGHS, with duals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import highspy
import numpy as np
import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap

from dlsched.solvers.highs import loaded
from dlsched.solvers.matrix import Matrix, compile_model

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
    solver = loaded(matrix, mip_rel_gap=0.0)
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
