"""Rounding the relaxed points of strangers' packing, covering and assignment models."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, floor
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

from dlsched.models import compile_model, residuals, solve
from dlsched.relaxations import relax
from dlsched.rounding import joint_violation_probability, outcome_distribution, round_independent, round_until_feasible

from .stranger import Stranger
from .whole import MODELS, assignment, bins, colours, cover, cutting, knapsack

ROUNDED = [s for s in MODELS if s.build in (knapsack, assignment, cover, bins, colours, cutting)]
"""All of their variables are integers, so that a rounded point is one that may do."""

LISTED = [s for s in ROUNDED if s.build in (knapsack, cover, cutting)]
"""Those whose rows all have the same sense."""


def relaxed(stranger: Stranger) -> tuple[Any, list[Any], list[Fraction]]:
    """Return the model with its relaxed optimum loaded, its variables, and their values as short fractions."""
    model = stranger.build()
    relaxation = relax(model)
    assert solve(relaxation.model).objective == pytest.approx(stranger.relaxed)
    relaxation.recover(load=True)
    variables = list(compile_model(model).columns)
    return model, variables, [Fraction(v.value).limit_denominator(1000) for v in variables]


def holds(model: Any, variables: list[Any], point: Any) -> bool:
    for variable, value in zip(variables, point, strict=True):
        variable.set_value(int(value))
    return max(residuals(model).values()) <= 1e-9


@pytest.mark.parametrize("stranger", LISTED, ids=lambda case: case.name)
def test_probability_that_a_row_breaks(stranger: Stranger) -> None:
    """It is what trying every outcome in the model itself gives; the objective's mean is the relaxed optimum."""
    model, variables, x = relaxed(stranger)
    objective = next(model.component_data_objects(pyo.Objective, active=True))
    broken, mean = Fraction(0), 0.0
    ends = [{floor(v): 1 - v % 1, ceil(v): v % 1 or 1} for v in x]
    for point in product(*ends):
        chance = Fraction(1)
        for end, value in zip(ends, point, strict=True):
            chance *= end[value]
        broken += 0 if holds(model, variables, point) else chance
        mean += float(chance) * pyo.value(objective)
    matrix = compile_model(model)
    upper = bool(np.isfinite(matrix.row_upper).all())
    sides = matrix.row_upper if upper else matrix.row_lower
    told = joint_violation_probability(matrix.A.toarray().tolist(), x, sides.tolist(), "<=" if upper else ">=")
    assert told == broken
    assert mean == pytest.approx(stranger.relaxed)
    assert sum(outcome_distribution(x).probabilities) == 1


@pytest.mark.slow
@pytest.mark.parametrize("stranger", ROUNDED, ids=lambda case: case.name)
def test_rounded_points(stranger: Stranger) -> None:
    """Each draw is a neighbour of the relaxed point; the best that keeps all rows is no better than the optimum."""
    model, variables, x = relaxed(stranger)
    values = np.array(x, float)
    draws = round_independent(values, 5, draws=50)
    assert (np.abs(draws - values) < 1).all()
    matrix = compile_model(model)
    found = round_until_feasible(
        values,
        lambda point: holds(model, variables, point),
        5,
        rounds=200,
        cost=lambda p: matrix.sense * matrix.value(p),
    )
    assert (found.x is None) == (found.feasible == 0)
    if found.x is not None:
        assert holds(model, variables, found.x)
        assert matrix.sense * matrix.value(found.x) >= matrix.sense * stranger.optimum - 1e-9
