"""A matrix of named rows and columns as a Pyomo model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.common.gc_manager import PauseGC
from pyomo.core.expr.numeric_expr import LinearExpression

from dlsched.models.matrix import Matrix

Key = tuple[str, tuple[Any, ...]]


def pyomo_model(matrix: Matrix, columns: Sequence[Key], rows: Sequence[Key]) -> Any:
    """Return the linear program of a matrix as a Pyomo model.

    Parameters
    ----------
    matrix : Matrix
        Without integers and range rows, with columns between 0 and infinity.
    columns, rows : sequence of (component, index)
        Names, in the order of the matrix.

    Returns
    -------
    pyomo.environ.ConcreteModel
        A `Var` or `Constraint` for each component, indexed by a set of the indices, and the objective ``profit``.
    """
    with PauseGC():
        model = pyo.ConcreteModel()
        variables = _variables(model, columns)
        starts, places = matrix.A.indptr.tolist(), matrix.A.indices.tolist()
        values = matrix.A.data.tolist()
        grouped: dict[str, dict[Any, Any]] = {}
        equal = (matrix.row_lower == matrix.row_upper).tolist()
        for n, (name, index) in enumerate(rows):
            entries = slice(starts[n], starts[n + 1])
            body = LinearExpression(
                linear_coefs=values[entries], linear_vars=[variables[column] for column in places[entries]]
            )
            upper = float(matrix.row_upper[n])
            grouped.setdefault(name, {})[_index(index)] = (upper if equal[n] else None, body, upper)
        for name, relations in grouped.items():
            added = pyo.Constraint(pyo.Set(initialize=list(relations), ordered=True), rule=_rule(relations))
            model.add_component(name, added)
        paid = np.flatnonzero(matrix.c).tolist()
        profit = LinearExpression(
            linear_coefs=matrix.c[paid].tolist(), linear_vars=[variables[column] for column in paid]
        )
        model.profit = pyo.Objective(expr=profit, sense=pyo.minimize if matrix.sense == 1 else pyo.maximize)
    return model


def _variables(model: Any, columns: Sequence[Key]) -> list[Any]:
    grouped: dict[str, list[Any]] = {}
    for name, index in columns:
        grouped.setdefault(name, []).append(_index(index))
    for name, indices in grouped.items():
        model.add_component(name, pyo.Var(pyo.Set(initialize=indices, ordered=True), domain=pyo.NonNegativeReals))
    return [model.component(name)[_index(index)] for name, index in columns]


def _index(index: tuple[Any, ...]) -> Any:
    return index if len(index) > 1 else index[0]


def _rule(relations: dict[Any, Any]) -> Any:
    def relation(_: Any, *index: Any) -> Any:
        return relations[_index(index)]

    return relation
