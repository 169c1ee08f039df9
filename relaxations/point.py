"""A point with its duals, as the transformations hand it back to the source model.

Duals are shadow prices throughout, for either sense of the objective: the change of the optimal objective value per
unit of a row's right-hand side. This is what HiGHS reports.

===========  ==================  ==================  ===========
objective    dual of a >= row    dual of a <= row    dual of =
===========  ==================  ==================  ===========
minimise     >= 0                <= 0                free
maximise     <= 0                >= 0                free
===========  ==================  ==================  ===========

A range row has one dual, the sum over its two sides. A variable's reduced cost is its objective coefficient minus what
its column costs at the duals, which is the sum of the duals of its two bounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap

from dlsched.models.document import InputError


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a model, as far as it was given.

    Attributes
    ----------
    values : ComponentMap
        Variable to value.
    duals : ComponentMap
        Constraint to its dual, a shadow price. Rows that the transformation left out have dual 0: rows without
        variables and rows without a finite side.
    reduced_costs : ComponentMap
        Variable to its reduced cost, where the transformation knows it.
    """

    values: Any = field(default_factory=ComponentMap)
    duals: Any = field(default_factory=ComponentMap)
    reduced_costs: Any = field(default_factory=ComponentMap)

    def load(self) -> None:
        """Set the variables to the values, unchecked: a relaxed value need not lie in the variable's domain."""
        for variable, value in self.values.items():
            if not variable.fixed:
                variable.set_value(value, skip_validation=True)


def expect_known(name: str, given: ComponentMap | None, known: Iterable[Any]) -> None:
    """Refuse a map that says nothing of the transformed model, as one of the source's components does.

    Raises
    ------
    InputError
    """
    if given and not any(component in given for component in known):
        first = next(iter(given), None)
        raise InputError(f"{name}: '{getattr(first, 'name', first)}' is not of the transformed model, nor is any other")


def expect_duals(model: Any, duals: ComponentMap | None) -> None:
    """Refuse duals of another model.

    Raises
    ------
    InputError
    """
    if duals:
        expect_known("duals", duals, model.component_data_objects(pyo.Constraint, descend_into=True))


def values_of(components: Iterable[Any], x: ComponentMap | None, name: str = "x") -> ComponentMap:
    """Return component to number, from `x` or else the values that are loaded; what has none is left out.

    Raises
    ------
    ValueError
        If nothing is loaded: the transformed model was not solved. If `x` says nothing of its components.
    """
    known = list(components)
    expect_known(name, x, known)
    pairs = ((v, v.value if x is None else x.get(v)) for v in known)
    found = ComponentMap((v, float(value)) for v, value in pairs if value is not None)
    if x is None and known and not found:
        raise ValueError("no variable of the transformed model has a value: solve it, or pass a map from its variables")
    return found
