"""Walks over a model's components, and a clone that knows what it was cloned from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, count
from typing import Any

import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap
from pyomo.common.gc_manager import PauseGC
from pyomo.core.expr.visitor import identify_variables, replace_expressions
from pyomo.gdp import Disjunct

from dlsched.models.solve import is_crossed, nearest_to_zero
from dlsched.relaxations.contract import TransformationRefused
from dlsched.solvers.matrix import Matrix

_BLOCKS = (pyo.Block, Disjunct)


def members(model: Any, ctype: type) -> Iterator[Any]:
    """Yield each datum of a component type once, in declaration order, also those of inactive blocks.

    References are left out, their targets stand elsewhere. Inactive blocks count since `gdp` keeps the indicator
    variables of a transformed disjunct on the inactive disjunct.
    """
    for component in model.component_objects(ctype, active=None, descend_into=_BLOCKS):
        if not component.is_reference():
            yield from component.values()


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


def free_name(name: str, *blocks: Any) -> str:
    """Return the name, or else the first of ``name_2, name_3, ...``, that nothing on any of the blocks has.

    Pyomo's `unique_component_name` draws at random, so that the same model would get other names each time.
    """
    candidates = chain([name], (f"{name}_{k}" for k in count(2)))
    return next(candidate for candidate in candidates if not any(hasattr(block, candidate) for block in blocks))


def clone(model: Any) -> tuple[Any, Any]:
    """Return a copy of the model, and the map from each variable and constraint of the copy to its source."""
    with PauseGC():
        copy = model.clone()
        to_source = ComponentMap(_pairs(copy, model))
        _bring_home(copy, to_source)
        return copy, to_source


def _bring_home(copy: Any, to_source: Any) -> None:
    """Put the copy's variables for the source's: a named expression outside of a block is not copied with it."""
    own = {id(source): twin for twin, source in to_source.items() if twin.ctype is pyo.Var}
    for ctype in (pyo.Constraint, pyo.Objective):
        for component in members(copy, ctype):
            expression = component.expr
            if any(id(variable) in own for variable in identify_variables(expression)):
                component.set_value(replace_expressions(expression, own, remove_named_expressions=True))


def _pairs(copy: Any, source: Any) -> Iterator[tuple[Any, Any]]:
    """Pair by name and index: over an unordered index set, a component and its copy iterate in different orders."""
    for component in source.component_objects((pyo.Var, pyo.Constraint, *_BLOCKS), active=None, descend_into=False):
        if component.is_reference():
            continue
        twin = copy.component(component.local_name)
        for index, datum in component.items():
            if component.ctype in _BLOCKS:
                yield from _pairs(twin[index], datum)
            else:
                yield twin[index], datum


def identity(model: Any) -> Any:
    """Return the map of a model transformed in place: each variable and constraint to itself."""
    return ComponentMap(_pairs(model, model))


def constants(model: Any, matrix: Matrix) -> Any:
    """Return the values of the variables that a compiled model lacks: fixed ones, and unused ones, as near 0 as can be.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
    matrix : Matrix
        The model, compiled.

    Raises
    ------
    TransformationRefused
        If the bounds of an unused variable cross: then no point satisfies the model, which its matrix does not show.
    """
    compiled = {id(column) for column in matrix.columns}
    values = ComponentMap()
    for variable in members(model, pyo.Var):
        if variable.fixed:
            values[variable] = variable.value
        elif id(variable) not in compiled:
            if is_crossed(variable):
                lower, upper = variable.bounds
                raise TransformationRefused(
                    f"variable '{variable.name}' is to be above {lower} and below {upper}: no point satisfies it"
                )
            values[variable] = nearest_to_zero(variable)
    return values
