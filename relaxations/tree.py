"""Walks over what a model is made of, and what has values in it that its matrix lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap
from pyomo.core.expr.visitor import identify_variables

from dlsched.models.clone import members, pairs
from dlsched.models.solve import is_crossed, nearest_to_zero
from dlsched.relaxations.contract import TransformationRefused
from dlsched.solvers.matrix import Matrix, UnfitNumberError


def algebra(model: Any) -> Iterator[Any]:
    """Yield the active constraints and objectives."""
    for ctype in (pyo.Constraint, pyo.Objective):
        yield from model.component_data_objects(ctype, active=True, descend_into=True)


def is_live(block: Any, model: Any) -> bool:
    """Tell whether the components of a block of the model take part, none of the blocks around it being inactive."""
    while block is not None and block is not model:
        if not block.active or block.ctype is not pyo.Block:
            return False
        block = block.parent_block()
    return True


def used_variables(model: Any) -> set[int]:
    """Return the ids of the variables in active constraints and objectives.

    Raises
    ------
    TransformationRefused
        If one of them is declared outside of the model: a transformation of the model could not change it.
    """
    own = {id(variable) for variable in members(model, pyo.Var)}
    used: set[int] = set()
    for component in algebra(model):
        for variable in identify_variables(component.expr):
            if id(variable) in used:
                continue
            if id(variable) not in own:
                raise TransformationRefused(f"'{component.name}' uses {_outside(variable, model)}")
            used.add(id(variable))
    return used


def refuse_outside(variables: Iterable[Any], model: Any) -> None:
    """Refuse variables that are declared outside of the model.

    Raises
    ------
    TransformationRefused
    """
    own = {id(variable) for variable in members(model, pyo.Var)}
    for variable in variables:
        if id(variable) not in own:
            raise TransformationRefused(f"'{model.name}' uses {_outside(variable, model)}")


def _outside(variable: Any, model: Any) -> str:
    return (
        f"variable '{variable.name}', which is declared outside of '{model.name}': "
        "transform the model that holds both, or declare it inside"
    )


def identity(model: Any) -> Any:
    """Return the map of a model transformed in place: each variable and constraint to itself."""
    return ComponentMap(pairs(model, model))


def refuse_crossed(model: Any, matrix: Matrix) -> None:
    """Refuse unused variables whose bounds cross, or are no numbers, which the model's matrix does not show.

    Bounds that cross leave no point; those of inactive blocks may.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
    matrix : Matrix
        The model, compiled.

    Raises
    ------
    TransformationRefused
    """
    for variable in _unused(model, matrix):
        try:
            crossed = is_crossed(variable)
        except UnfitNumberError as error:
            raise TransformationRefused(str(error)) from None
        if crossed and is_live(variable.parent_block(), model):
            lower, upper = variable.bounds
            raise TransformationRefused(
                f"variable '{variable.name}' is to be above {lower} and below {upper}: no point satisfies it"
            )


def constants(model: Any, matrix: Matrix) -> Any:
    """Return the values of the variables that a compiled model lacks: fixed ones, and unused ones, as near 0 as can be.

    Those of inactive blocks are among them, since a row may have one with the factor 0. One that is fixed without a
    value, which only an unused one can be, has none here either.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
    matrix : Matrix
        The model, compiled.

    Raises
    ------
    TransformationRefused
        As `refuse_crossed`.
    """
    refuse_crossed(model, matrix)
    values = ComponentMap((v, v.value) for v in members(model, pyo.Var) if v.fixed and v.value is not None)
    values.update((variable, nearest_to_zero(variable)) for variable in _unused(model, matrix))
    return values


def _unused(model: Any, matrix: Matrix) -> Iterator[Any]:
    compiled = {id(column) for column in matrix.columns}
    return (v for v in members(model, pyo.Var) if not v.fixed and id(v) not in compiled)
