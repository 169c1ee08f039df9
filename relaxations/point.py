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

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyomo.common.collections import ComponentMap


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


def values_of(variables: Iterable[Any], x: Mapping[Any, float] | None) -> Any:
    """Return variable to value, from `x` or else from what is loaded; variables without a value are left out.

    Raises
    ------
    ValueError
        If nothing is loaded: the transformed model was not solved.
    """
    known = list(variables)
    pairs = ((v, v.value if x is None else x.get(v)) for v in known)
    found = ComponentMap((v, float(value)) for v, value in pairs if value is not None)
    if x is None and known and not found:
        raise ValueError("no variable of the transformed model has a value: solve it, or pass a map from its variables")
    return found
