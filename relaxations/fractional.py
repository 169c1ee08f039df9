"""Pyomo objectives that are sums of linear-fractional terms, read into arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap
from pyomo.core.expr import DivisionExpression, NegationExpression, PowExpression, ProductExpression, SumExpression
from pyomo.repn import generate_standard_repn

from dlsched.models.clone import clone
from dlsched.models.ratio import Floats, FractionalSum, Polytope, Ratio
from dlsched.relaxations.contract import TransformationRefused
from dlsched.relaxations.refusals import compile_linear, only_objective, refuse_foreign, refuse_without_value
from dlsched.relaxations.tree import refuse_crossed, used_variables
from dlsched.solvers.matrix import Matrix


@dataclass(frozen=True, slots=True, eq=False)
class FractionalModel:
    """A model whose objective is a sum of ratios, as arrays.

    Attributes
    ----------
    matrix : Matrix
        The constraints, compiled from a copy; its objective means nothing.
    sense : {1, -1}
        1 to minimise, -1 to maximise.
    ratios : tuple of Ratio
        Over the matrix's columns; what is linear in the objective is one ratio with denominator 1, left out where it is
        identically 0. A ratio that is 0 wherever it is defined stays, as its denominator may be 0 somewhere.
    variables, rows : tuple
        The source's variable of each column and constraint of each row.
    """

    matrix: Matrix
    sense: int
    ratios: tuple[Ratio, ...]
    variables: tuple[Any, ...]
    rows: tuple[Any, ...]


def fractional_model(model: Any) -> FractionalModel:
    """Read a Pyomo model with linear constraints and an objective that is a sum of ratios of linear expressions.

    Raises
    ------
    TransformationRefused
        If the objective has a term of another form, there is not exactly one active objective, a row is not linear, or
        the model has integer variables or other logic, a fixed variable or Param has no value, or the bounds of an
        unused variable cross.
    """
    refuse_foreign(model)
    refuse_without_value(model)
    used_variables(model)
    copy, to_source = clone(model)
    objective = only_objective(copy)
    terms = _merged(_terms(objective.expr, 1.0, objective.name))
    sense = 1 if objective.sense == pyo.minimize else -1
    objective.set_value(_all_variables(terms))
    matrix = compile_linear(copy)
    if matrix.integer.any():
        column = matrix.columns[int(matrix.integer.argmax())]
        raise TransformationRefused(f"variable '{to_source[column].name}' is not continuous: apply relax first")
    refuse_crossed(copy, matrix)
    place = ComponentMap((column, j) for j, column in enumerate(matrix.columns))
    ratios = tuple(_ratio(above, below, place) for above, below in terms)
    return FractionalModel(
        matrix,
        sense,
        tuple(ratio for ratio in ratios if not ratio.is_zero or ratio.denominator.any()),
        tuple(to_source[column] for column in matrix.columns),
        tuple(to_source[row] for row in matrix.rows),
    )


def continuous_sum(model: Any) -> tuple[tuple[Any, ...], FractionalSum]:
    """Return a minimisation model's variables, and its sum of ratios over its polytope.

    Raises
    ------
    TransformationRefused
        As `fractional_model`; also if the model maximises.
    """
    read = fractional_model(model)
    if read.sense != 1:
        raise TransformationRefused(
            f"'{model.name}' maximises a sum of ratios: only the least sum is approximated; "
            "charnes_cooper takes a single ratio of either sense"
        )
    matrix = read.matrix
    names = tuple(variable.name for variable in read.variables)
    polytope = Polytope(matrix.A.toarray(), matrix.row_lower, matrix.row_upper, matrix.lower, matrix.upper, names)
    return read.variables, FractionalSum(read.ratios, polytope)


_BY_ZERO = "a term of the objective is divided by 0"

Linear = Any
"""What `generate_standard_repn` makes of a linear expression."""


def _terms(expression: Any, factor: float, name: str) -> Iterator[tuple[Linear, Linear | None]]:
    """Yield (numerator, denominator) of each term, the denominator None where the term is linear."""
    if not _varies(expression):
        yield generate_standard_repn(factor * expression), None
        return
    if expression.is_named_expression_type():
        yield from _terms(expression.expr, factor, name)
    elif isinstance(expression, SumExpression):
        for part in expression.args:
            yield from _terms(part, factor, name)
    elif isinstance(expression, NegationExpression):
        yield from _terms(expression.arg(0), -factor, name)
    elif isinstance(expression, ProductExpression) and not all(map(_varies, expression.args)):
        constant, part = sorted(expression.args, key=_varies)
        yield from _terms(part, factor * float(pyo.value(constant)), name)
    else:
        try:
            yield _quotient(expression, factor, name)
        except ZeroDivisionError:
            raise TransformationRefused(_BY_ZERO) from None


def _quotient(expression: Any, factor: float, name: str) -> tuple[Linear, Linear]:
    above, below = _split(expression)
    for part, where in ((above, "numerator"), (below, "denominator")):
        if not generate_standard_repn(part).is_linear():
            raise TransformationRefused(
                f"objective '{name}': the {where} of {expression} is not linear: {part}; "
                "each term must be a ratio of linear expressions"
            )
    return generate_standard_repn(factor * above), generate_standard_repn(below)


def _split(expression: Any) -> tuple[Any, Any]:
    """Return numerator and denominator of a product, quotient or reciprocal."""
    if not hasattr(expression, "is_expression_type") or not expression.is_expression_type():
        return expression, 1
    if expression.is_named_expression_type():
        return _split(expression.expr)
    if isinstance(expression, NegationExpression):
        above, below = _split(expression.arg(0))
        return -above, below
    if isinstance(expression, ProductExpression):
        (a, b), (c, d) = map(_split, expression.args)
        return a * c, b * d
    if isinstance(expression, DivisionExpression):
        (a, b), (c, d) = map(_split, expression.args)
        return a * d, b * c
    if isinstance(expression, PowExpression) and not _varies(expression.arg(1)) and pyo.value(expression.arg(1)) == -1:
        above, below = _split(expression.arg(0))
        return below, above
    return expression, 1


def _is_constant(linear: Linear) -> bool:
    return linear.is_linear() and not any(linear.linear_coefs)


def _varies(expression: Any) -> bool:
    return hasattr(expression, "is_potentially_variable") and expression.is_potentially_variable()


def _merged(terms: Iterator[tuple[Linear, Linear | None]]) -> list[tuple[dict[Any, Any], dict[Any, Any]]]:
    """Return the terms as (numerator, denominator) of coefficients, everything linear in one; empty keys are constants.

    A denominator without variables is a constant, which its numerator is divided by.
    """
    linear: dict[Any, Any] = {}
    ratios = []
    for above, below in terms:
        scale = 1.0
        if below is not None and _is_constant(below):
            if below.constant == 0:
                raise TransformationRefused(_BY_ZERO)
            scale, below = 1 / float(below.constant), None
        if below is None:
            _add(linear, above, scale)
        else:
            ratios.append((_add({}, above), _add({}, below)))
    constant = {None: (None, 1.0)}
    return [*([(linear, constant)] if linear else []), *ratios]


def _add(into: dict[Any, Any], linear: Linear, scale: float = 1.0) -> dict[Any, Any]:
    """Add the coefficients of a linear expression, by the id of the variable."""
    pairs = [(None, linear.constant), *zip(linear.linear_vars, linear.linear_coefs, strict=True)]
    for variable, coefficient in pairs:
        key = None if variable is None else id(variable)
        value = into.get(key, (variable, 0.0))[1] + scale * float(coefficient)
        if not math.isfinite(value):
            raise TransformationRefused("a coefficient of the objective is not a finite number")
        into[key] = variable, value
    return into


def _all_variables(terms: list[tuple[dict[Any, Any], dict[Any, Any]]]) -> Any:
    """Return a linear expression in which each variable of the terms has a coefficient, so that it is compiled."""
    variables = {key: v for pair in terms for part in pair for key, (v, _) in part.items() if key is not None}
    return sum(variables.values())


def _ratio(above: dict[Any, Any], below: dict[Any, Any], place: Any) -> Ratio:
    return Ratio(*_arrays(above, place), *_arrays(below, place))


def _arrays(linear: dict[Any, Any], place: Any) -> tuple[Floats, float]:
    coefficients = np.zeros(len(place))
    constant = 0.0
    for variable, value in linear.values():
        if variable is None:
            constant = value
        else:
            coefficients[place[variable]] = value
    return coefficients, constant
