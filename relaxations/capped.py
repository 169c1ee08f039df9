"""The program (15) of one grid point as a Pyomo model: one ratio minimised, the others capped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap

from dlsched.models.ratio import Floats, Ratio
from dlsched.relaxations.tree import clone, free_name


def capped_model(
    source: Any, variables: Sequence[Any], ratios: Sequence[Ratio], last: int, caps: Sequence[float], x: Floats
) -> tuple[Any, Any]:
    """Return a copy of a model whose objective is one ratio and whose other ratios are capped, and the map back.

    Parameters
    ----------
    source : pyomo.environ.ConcreteModel
    variables : sequence of n Var
        Of the source, in the order of the ratios' coefficients.
    ratios : sequence of Ratio
        With positive denominators.
    last : int
        J, the ratio that is minimised.
    caps : sequence of float
        nu_j of the others, in their order.
    x : ndarray of shape (n,)
        The optimum, which is loaded.

    Returns
    -------
    model : pyomo.environ.ConcreteModel
        A linear-fractional program, which `charnes_cooper` makes linear. Its new rows are ``cap[j]``.
    to_source : ComponentMap
        From each of its variables and constraints to the source's.

    Source: SMD, (15).
    """
    copy, to_source = clone(source)
    own = ComponentMap((original, twin) for twin, original in to_source.items())
    columns = [own[variable] for variable in variables]
    for column, value in zip(columns, x.tolist(), strict=True):
        column.set_value(value, skip_validation=True)
    others = [j for j in range(len(ratios)) if j != last]
    objective = next(copy.component_data_objects(pyo.Objective, active=True, descend_into=True))
    above, below = _parts(ratios[last], columns)
    objective.set_value(above / below)
    cap = pyo.Constraint(others, doc="(15) the other ratios stay below their grid point's values")
    copy.add_component(free_name("cap", copy), cap)
    for j, limit in zip(others, caps, strict=True):
        above, below = _parts(ratios[j], columns)
        relation = above - float(limit) * below <= 0
        cap.add(j, relation if not isinstance(relation, bool) else pyo.Constraint.Feasible)
    return copy, to_source


def _parts(ratio: Ratio, columns: list[Any]) -> tuple[Any, Any]:
    """Return numerator and denominator as expressions."""
    return (
        _linear(ratio.numerator, ratio.numerator_constant, columns),
        _linear(ratio.denominator, ratio.denominator_constant, columns),
    )


def _linear(coefficients: Floats, constant: float, columns: list[Any]) -> Any:
    return sum((float(a) * y for a, y in zip(coefficients, columns, strict=True) if a), float(constant))
