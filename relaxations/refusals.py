"""What a transformation cannot do, it refuses with the reason and the component."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyomo.environ as pyo

from dlsched.models.parameters import expect_current
from dlsched.relaxations.contract import TransformationRefused
from dlsched.solvers import components
from dlsched.solvers.matrix import Matrix, NotLinearError, compile_model
from dlsched.solvers.scaling import refuse_non_numbers


def refuse_foreign(model: Any) -> None:
    """Refuse what is not a concrete Pyomo model, up to date, made of components that the transformations understand.

    Raises
    ------
    TransformationRefused
        Naming the first component that stands in the way, and what to do about it.
    """
    try:
        expect_current(model)
        components.refuse_foreign(model)
    except (TypeError, ValueError) as error:
        raise TransformationRefused(str(error)) from None


def refuse_without_value(model: Any) -> None:
    """Refuse a model that needs the value of a fixed variable or a Param that has none, or a number that is none.

    Raises
    ------
    TransformationRefused
        Naming the first.
    """
    missing = components.without_value(model) or components.without_number(model)
    if missing:
        raise TransformationRefused(missing)


def refuse_gaps(variable: Any) -> None:
    """Refuse a variable whose domain is neither real nor integer nor evenly spaced.

    Raises
    ------
    TransformationRefused
    """
    if not variable.is_continuous() and variable.domain.get_interval()[2] is None:
        raise TransformationRefused(
            f"variable '{variable.name}' has the domain {variable.domain}, which has gaps (semi-continuous) or is no "
            "interval of numbers: write it with a binary variable first"
        )


def only_objective(model: Any) -> Any:
    """Return the active objective of a model.

    Raises
    ------
    TransformationRefused
        If there is none, or another.
    """
    try:
        return components.only_objective(model)
    except ValueError as error:
        raise TransformationRefused(str(error)) from None


def compile_linear(model: Any) -> Matrix:
    """Compile a model to arrays, refusing what is not linear; rows without a finite side are left out.

    Raises
    ------
    TransformationRefused
        If the model is not linear, has not exactly one active objective, a number that is none, or a row without
        variables that no point can satisfy.
    """
    refuse_foreign(model)
    only_objective(model)
    try:
        matrix = compile_model(model)
        refuse_non_numbers(matrix)
    except ValueError as error:
        cause = error.__cause__
        for variable in model.component_data_objects(pyo.Var, active=True, descend_into=True):
            refuse_gaps(variable)
        reason = " ".join(str(cause or error).split())
        remedy = " Write it with linear terms first." if isinstance(error, NotLinearError) else ""
        raise TransformationRefused(reason + remedy) from error
    return _without_free_rows(matrix)


def _without_free_rows(matrix: Matrix) -> Matrix:
    kept = np.flatnonzero(np.isfinite(matrix.row_lower) | np.isfinite(matrix.row_upper))
    if len(kept) == len(matrix.row_lower):
        return matrix
    return replace(
        matrix,
        A=matrix.A[kept],
        row_lower=matrix.row_lower[kept],
        row_upper=matrix.row_upper[kept],
        row_names=tuple(matrix.row_names[i] for i in kept),
        rows=tuple(matrix.rows[i] for i in kept),
    )
