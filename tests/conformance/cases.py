"""The transformations under test. A new one adds its `Case` here and is then run through every check and model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyomo.environ as pyo

from dlsched.relaxations import charnes_cooper, dual, lift_bounds, relax, standard_form


@dataclass(frozen=True, slots=True)
class Case:
    """A transformation and what it promises.

    Attributes
    ----------
    name : str
    transform : callable
        From a model to a result with ``.model`` and ``.recover``.
    pyomo_name : str
        Its name at the TransformationFactory, if any.
    in_place : bool
        Whether ``apply_to`` works.
    relaxes : bool
        Whether the result is a continuous relaxation, so that its optimum is a bound; else the optima are equal.
    continuous_only : bool
        Whether it refuses integer variables.
    dualises : bool
        Whether the duals of the result are the point of the source.
    value : callable
        From the source's sense (1 or -1) and the optimum of the result to the source's.
    """

    name: str
    transform: Callable[[Any], Any]
    pyomo_name: str = ""
    in_place: bool = False
    relaxes: bool = False
    continuous_only: bool = False
    dualises: bool = False
    value: Callable[[int, float], float] = lambda sense, value: value


CASES = (
    Case("relax", relax, "dlsched.lp_relaxation", in_place=True, relaxes=True),
    Case("lift_bounds", lift_bounds, "dlsched.lift_bounds", in_place=True),
    Case("dual", dual, "dlsched.lp_dual", continuous_only=True, dualises=True),
    Case("charnes_cooper", charnes_cooper, "dlsched.charnes_cooper", continuous_only=True),
    Case("standard_form", standard_form, value=lambda sense, value: sense * value),
)


def is_continuous(model: Any) -> bool:
    """Tell whether every free variable of the model is continuous."""
    variables = model.component_data_objects(pyo.Var, active=None, descend_into=True)
    return all(v.is_continuous() or v.fixed for v in variables)
