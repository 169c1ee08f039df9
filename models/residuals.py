"""What a loaded point does to a model's rows, and the duals of a linear one."""

from __future__ import annotations

from typing import Any

import numpy as np

from dlsched.arguments import checked
from dlsched.models.document import InputError
from dlsched.models.parameters import expect_current
from dlsched.solvers.matrix import compile_model
from dlsched.solvers.solution import Status
from dlsched.solvers.solve import solve_matrix


def residuals(model: Any) -> Any:
    """Return how far each active constraint is from holding at the values in the model.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        With a value in every variable; may be nonlinear.

    Returns
    -------
    pyomo.environ.ComponentMap
        Constraint to residual, 0 where it holds.

    Raises
    ------
    TypeError
        If it is no Pyomo model.
    ValueError
        If it is abstract, a variable has no value, or a Param was changed that the model does not follow.
    """
    import pyomo.environ as pyo
    from pyomo.core.expr.visitor import identify_variables

    expect_current(model)
    result = pyo.ComponentMap()
    for constraint in model.component_data_objects(pyo.Constraint, active=True, descend_into=True):
        body = pyo.value(constraint.body, exception=False)
        if body is None:
            missing = next(v.name for v in identify_variables(constraint.body) if v.value is None)
            raise InputError(f"{missing}: has no value, and {constraint.name} needs it: solve the model first")
        lower, upper = constraint.lb, constraint.ub
        result[constraint] = max(
            0.0, -np.inf if lower is None else lower - body, -np.inf if upper is None else body - upper
        )
    return result


@checked
def duals(model: Any, fix_integers: bool = True) -> Any:
    """Return the dual value of each active constraint of a linear model.

    The sign is HiGHS's and Pyomo's: the change of the objective per unit of right-hand side, whatever the sense.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
    fix_integers : bool
        Fix the integer variables at the values in the model (their marginal prices are then those of the LP that is
        left). Without it, a model with integer variables is refused: a MILP has no duals.

    Returns
    -------
    pyomo.environ.ComponentMap
        Constraint to dual value.

    Raises
    ------
    TypeError
        If it is no Pyomo model.
    ValueError
        If the model is not linear, has integers that are not to be fixed or have no value, or its LP has no optimum; or
        if a Param was changed that the model does not follow.
    """
    import pyomo.environ as pyo

    expect_current(model)
    matrix = compile_model(model)
    if matrix.integer.any():
        if not fix_integers:
            raise ValueError("the model has integer variables: relax it, or fix them with fix_integers=True")
        values = [v.value for v, flag in zip(matrix.columns, matrix.integer, strict=True) if flag]
        if any(value is None for value in values):
            raise ValueError("the model's integer variables have no values to fix them at: solve it first")
        matrix.lower[matrix.integer] = matrix.upper[matrix.integer] = np.round(np.array(values, dtype=float))
    raw = solve_matrix(matrix.relaxed())
    if raw.summary.status is not Status.OPTIMAL or raw.row_duals is None:
        raise ValueError(f"the LP has no optimum (it is {raw.summary.status}), so it has no duals")
    return pyo.ComponentMap(zip(matrix.rows, raw.row_duals.tolist(), strict=True))
