"""The transformations under test. A new one is added here and is then run through every check and model."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from dlsched.relaxations import (
    augmented_vne,
    charnes_cooper,
    dual,
    knapsack_vne,
    lift_bounds,
    plain_vne,
    relax,
    standard_form,
    sum_of_ratios,
)
from dlsched.relaxations.conformance import Kind, Relation, Trait, Transformation, cases

ODD = frozenset({Trait.LOGIC, Trait.SOS, Trait.GAPS})
NOT_LINEAR = frozenset({Trait.NONLINEAR, Trait.OBJECTIVES})
CASES = (
    Transformation(
        relax,
        relation=Relation.BOUND,
        refuses=ODD | {Trait.OUTSIDE},
        pyomo_name="dlsched.lp_relaxation",
        in_place=True,
    ),
    Transformation(lift_bounds, refuses=ODD | {Trait.OUTSIDE}, pyomo_name="dlsched.lift_bounds", in_place=True),
    Transformation(dual, refuses=frozenset(Trait), dualises=True, pyomo_name="dlsched.lp_dual"),
    Transformation(charnes_cooper, refuses=frozenset(Trait) - {Trait.FRACTIONAL}, pyomo_name="dlsched.charnes_cooper"),
    Transformation(
        standard_form, refuses=ODD | NOT_LINEAR | {Trait.FRACTIONAL}, worth=lambda sense, value: sense * value
    ),
)
ON_ARRAYS = (
    Transformation(
        lambda model: sum_of_ratios(model, epsilon=0.05),
        "sum_of_ratios",
        Kind.RATIOS,
        Relation.WITHIN,
        factor=1.05,
        fractional=True,
    ),
    *(
        Transformation(
            lambda problem, transform=transform, cap=cap: transform(problem, cap=cap),
            f"{transform.__name__}{', cap' if cap else ''}",
            Kind.RINGS,
            Relation.BOUND,
            refuses=frozenset({Trait.PLACED}) if transform is knapsack_vne else frozenset(),
            duals=transform is not augmented_vne,
        )
        for transform in (plain_vne, augmented_vne, knapsack_vne)
        for cap in (False, True)
    ),
)
KNOWN = [case for case in cases(Kind.MODEL) if case.optimum is not None and Trait.FRACTIONAL not in case.traits]
"""Linear models with known optima."""


def is_continuous(model: Any) -> bool:
    """Tell whether every free variable of the model is continuous."""
    variables = model.component_data_objects(pyo.Var, active=None, descend_into=True)
    return all(v.is_continuous() or v.fixed for v in variables)
