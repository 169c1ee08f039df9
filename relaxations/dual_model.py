"""How a compiled linear program becomes the Pyomo model of its dual, named and blocked like the source."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.common.gc_manager import PauseGC
from pyomo.core.expr import LinearExpression

from dlsched.relaxations.mirror import Mirror
from dlsched.solvers.matrix import Matrix

_Terms = tuple[list[float], list[Any]]


def build(source: Any, matrix: Matrix) -> tuple[Any, tuple[tuple[Any, ...], ...], tuple[Any, ...]]:
    """Return the dual model, the dual variables of each row, and the dual row of each column.

    Parameters
    ----------
    source : pyomo.environ.ConcreteModel
    matrix : Matrix
        The compiled source, all continuous.
    """
    with PauseGC():
        model = pyo.ConcreteModel(name=f"{source.name} dual")
        mirror = Mirror(source, model)
        prices: _Terms = ([], [])
        row_variables = _row_variables(matrix, mirror, prices)
        bound_variables, natural = _bound_variables(matrix, mirror, prices)
        column_rows = _column_rows(matrix, mirror, row_variables, bound_variables, natural)
        objective = next(source.component_data_objects(pyo.Objective, active=True, descend_into=True))
        mirror.add_objective(
            objective,
            LinearExpression(constant=matrix.offset, linear_coefs=prices[0], linear_vars=prices[1]),
            sense=pyo.maximize if matrix.sense == 1 else pyo.minimize,
        )
    return model, row_variables, column_rows


def _signs(matrix: Matrix) -> tuple[Any, Any]:
    """Return the domains of the dual variables of lower and of upper sides."""
    signs = (pyo.NonNegativeReals, pyo.NonPositiveReals)
    return signs if matrix.sense == 1 else signs[::-1]


def _row_variables(matrix: Matrix, mirror: Mirror, prices: _Terms) -> tuple[tuple[Any, ...], ...]:
    """Add the dual variables of the rows; a range row has two, under its name the one of its lower side."""
    above, below = _signs(matrix)
    lower, upper = matrix.row_lower.tolist(), matrix.row_upper.tolist()
    first, ranges = [], []
    for i, row in enumerate(matrix.rows):
        if lower[i] == upper[i]:
            first.append((row, pyo.Reals))
        elif lower[i] > -np.inf:
            first.append((row, above))
            if upper[i] < np.inf:
                ranges.append(i)
        else:
            first.append((row, below))
    variables = [(variable,) for variable in mirror.add_variables(first)]
    _price(prices, [bound if bound > -np.inf else upper[i] for i, bound in enumerate(lower)], [v for (v,) in variables])
    seconds = mirror.add_variables([(matrix.rows[i], below) for i in ranges], "_upper")
    _price(prices, [upper[i] for i in ranges], seconds)
    result: list[tuple[Any, ...]] = list(variables)
    for i, second in zip(ranges, seconds, strict=True):
        result[i] = (*result[i], second)
    return tuple(result)


def _price(prices: _Terms, values: list[float], variables: list[Any]) -> None:
    for value, variable in zip(values, variables, strict=True):
        if value:
            prices[0].append(value)
            prices[1].append(variable)


def _bound_variables(matrix: Matrix, mirror: Mirror, prices: _Terms) -> tuple[list[list[Any]], list[str]]:
    """Add the dual variables of further bounds; return them by column, and the side at which each column is signed."""
    above, below = _signs(matrix)
    stands = np.diff(matrix.A.tocsc().indptr) > 0
    needed: dict[str, list[tuple[int, float, Any]]] = {"_lower": [], "_upper": [], "_fixed": []}
    natural = []
    for j, (lower, upper) in enumerate(zip(matrix.lower.tolist(), matrix.upper.tolist(), strict=True)):
        sign = "" if lower == upper or not stands[j] else "_lower" if lower == 0 else "_upper" if upper == 0 else ""
        natural.append(sign)
        if lower == upper:
            needed["_fixed"].append((j, lower, pyo.Reals))
            continue
        if lower > -np.inf and sign != "_lower":
            needed["_lower"].append((j, lower, above))
        if upper < np.inf and sign != "_upper":
            needed["_upper"].append((j, upper, below))
        if not stands[j] and lower == -np.inf and upper == np.inf:
            # Pyomo has no rows without variables: this one reads 0 = c
            needed["_fixed"].append((j, 0.0, pyo.RangeSet(0, 0)))
    by_column: list[list[Any]] = [[] for _ in matrix.columns]
    for suffix, entries in needed.items():
        added = mirror.add_variables([(matrix.columns[j], domain) for j, _, domain in entries], suffix)
        _price(prices, [value for _, value, _ in entries], added)
        for (j, _, _), variable in zip(entries, added, strict=True):
            by_column[j].append(variable)
    return by_column, natural


def _column_rows(
    matrix: Matrix,
    mirror: Mirror,
    row_variables: tuple[tuple[Any, ...], ...],
    bound_variables: list[list[Any]],
    natural: list[str],
) -> tuple[Any, ...]:
    """Add the dual row of each column."""
    A = matrix.A.tocsc()
    starts, rows, values = A.indptr.tolist(), A.indices.tolist(), A.data.tolist()
    below = "_lower" if matrix.sense == 1 else "_upper"
    relations: list[tuple[Any, tuple[Any, ...]]] = []
    for j, cost in enumerate(matrix.c.tolist()):
        coefficients = [1.0] * len(bound_variables[j])
        variables = list(bound_variables[j])
        for k in range(starts[j], starts[j + 1]):
            for variable in row_variables[rows[k]]:
                coefficients.append(values[k])
                variables.append(variable)
        body = LinearExpression(linear_coefs=coefficients, linear_vars=variables)
        if not natural[j]:
            relations.append((matrix.columns[j], (body, cost)))
        elif natural[j] == below:
            relations.append((matrix.columns[j], (None, body, cost)))
        else:
            relations.append((matrix.columns[j], (cost, body, None)))
    return tuple(mirror.add_constraints(relations))
