"""A matrix with named rows and columns as a Pyomo model: what the methods on arrays show of themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from dlsched.lazy import pyo
from dlsched.solvers.matrix import Matrix

Key = tuple[str, tuple[Any, ...]]
"""Component and index of a column or row."""

_NO_DOCS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class MatrixModel:
    """A model, and its components in the order of the matrix.

    Attributes
    ----------
    model : pyomo.environ.ConcreteModel
    columns : tuple of Var
    rows : tuple of Constraint
        None for a row without entries: Pyomo has no such rows.
    """

    model: Any
    columns: tuple[Any, ...]
    rows: tuple[Any, ...]


def matrix_model(
    matrix: Matrix,
    columns: Iterable[Key],
    rows: Iterable[Key],
    *,
    name: str,
    objective: str = "objective",
    docs: Mapping[str, str] = _NO_DOCS,
) -> MatrixModel:
    """Return a matrix as a Pyomo model.

    Parameters
    ----------
    matrix : Matrix
        Rows are equations or have an upper side only; columns lie between 0 and infinity.
    columns, rows : iterable of (component, index)
        Names, in the order of the matrix.
    name, objective : str
        Of the model and of its objective.
    docs : mapping of str to str
        What components are.
    """
    from pyomo.common.gc_manager import PauseGC
    from pyomo.core.expr import LinearExpression

    def linear(coefficients: list[float], places: Sequence[int], constant: float = 0.0) -> Any:
        terms = [variables[place] for place in places]
        return LinearExpression(constant=constant, linear_coefs=coefficients, linear_vars=terms)

    with PauseGC():
        model = pyo.ConcreteModel(name=name)
        placed = _placed(model, pyo.Var, list(columns), docs, domain=pyo.NonNegativeReals)
        variables = [component[index] for component, index in placed]
        for j in np.flatnonzero(matrix.integer):
            variables[j].domain = pyo.NonNegativeIntegers
        paid = np.flatnonzero(matrix.c).tolist()
        added = pyo.Objective(
            expr=linear(matrix.c[paid].tolist(), paid, matrix.offset),
            sense=pyo.minimize if matrix.sense == 1 else pyo.maximize,
            doc=docs.get(objective),
        )
        model.add_component(objective, added)
        starts, places, values = (part.tolist() for part in (matrix.A.indptr, matrix.A.indices, matrix.A.data))
        filled = {i: key for i, key in enumerate(rows) if starts[i] < starts[i + 1]}
        constraints: list[Any] = [None] * len(starts[1:])
        lower, upper = matrix.row_lower.tolist(), matrix.row_upper.tolist()
        for i, (component, index) in zip(
            filled, _placed(model, pyo.Constraint, list(filled.values()), docs), strict=True
        ):
            body = linear(values[starts[i] : starts[i + 1]], places[starts[i] : starts[i + 1]])
            relation = (body, upper[i]) if lower[i] == upper[i] else (None, body, upper[i])
            constraints[i] = component.add(index, relation)
        return MatrixModel(model, tuple(variables), tuple(constraints))


def _placed(model: Any, kind: Any, keys: list[Key], docs: Mapping[str, str], **options: Any) -> list[tuple[Any, Any]]:
    """Add components of a kind, each over the set of its indices; return component and index of each key."""
    indices: dict[str, list[Any]] = defaultdict(list)
    for name, index in keys:
        indices[name].append(index if len(index) > 1 else index[0])
    for name, over in indices.items():
        model.add_component(name, kind(pyo.Set(initialize=over), doc=docs.get(name), **options))
    return [(model.component(name), index if len(index) > 1 else index[0]) for name, index in keys]
