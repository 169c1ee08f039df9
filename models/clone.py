"""A copy of a model that knows what it was copied from, and refers to none of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count
from typing import Any

import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap
from pyomo.common.gc_manager import PauseGC
from pyomo.core.expr.visitor import identify_variables, replace_expressions
from pyomo.gdp import Disjunct

_BLOCKS = (pyo.Block, Disjunct)


def members(model: Any, ctype: type) -> Iterator[Any]:
    """Yield each datum of a component type once, in declaration order, also those of inactive blocks.

    References are left out, their targets stand elsewhere. Inactive blocks count since `gdp` keeps the indicator
    variables of a transformed disjunct on the inactive disjunct.
    """
    for component in model.component_objects(ctype, active=None, descend_into=_BLOCKS):
        if not component.is_reference():
            yield from component.values()


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
        to_source = ComponentMap(pairs(copy, model))
        copy = _at_home(copy, model.name)
        _bring_home(copy, to_source)
        return copy, to_source


def _at_home(copy: Any, name: str) -> Any:
    """Return a copy: of a member of an indexed block as a model, since the member's own copy belongs to no block.

    What has the name of a part of every model, such as ``statistics``, gets a number after it there.
    """
    if copy.parent_component() is not None:
        return copy
    home = pyo.ConcreteModel(name=name)
    for reserved in [local for local in copy.component_map() if hasattr(home, local)]:
        component = copy.component(reserved)
        copy.del_component(component)
        copy.add_component(free_name(reserved, home, copy), component)
    home.transfer_attributes_from(copy)
    return home


def pairs(copy: Any, source: Any) -> Iterator[tuple[Any, Any]]:
    """Pair by name and index: over an unordered index set, a component and its copy iterate in different orders."""
    for component in source.component_objects((pyo.Var, pyo.Constraint, *_BLOCKS), active=None, descend_into=False):
        if component.is_reference():
            continue
        twin = copy.component(component.local_name)
        for index, datum in component.items():
            if component.ctype in _BLOCKS:
                yield from pairs(twin[index], datum)
            else:
                yield twin[index], datum


def _bring_home(copy: Any, to_source: Any) -> None:
    """Put the copy's variables for the source's: a named expression outside of a block is not copied with it."""
    own = {id(source): twin for twin, source in to_source.items() if twin.ctype is pyo.Var}
    for ctype in (pyo.Constraint, pyo.Objective):
        for component in members(copy, ctype):
            expression = component.expr
            if any(id(variable) in own for variable in identify_variables(expression)):
                component.set_value(replace_expressions(expression, own, remove_named_expressions=True))
