"""Everything a transformation could change in a model, as plain data."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
from pyomo.gdp import Disjunct


def snapshot(model: Any) -> dict[str, Any]:
    """Return the state of every component, block by block, keyed by name; equal before and after if nothing changed."""
    state: dict[str, Any] = {}
    for block in model.block_data_objects(active=None, descend_into=(pyo.Block, Disjunct)):
        state[f"block {block.name}"] = (block.active, sorted(vars(block)), [c.name for c in block.component_objects()])
        for component in block.component_objects(descend_into=False):
            state[f"component {component.name}"] = (component.ctype, component.doc, component.active)
            if component.ctype is pyo.Suffix:
                state[f"suffix {component.name}"] = [(str(k), v) for k, v in component.items()]
            elif component.ctype in (pyo.Set, pyo.RangeSet) and not component.is_indexed():
                state[f"datum {component.name}"] = list(component)
            elif component.ctype not in (pyo.Block, Disjunct):
                for datum in component.values():
                    state[f"datum {getattr(datum, 'name', component.name)}"] = _datum(component, datum)
    return state


def _datum(component: Any, datum: Any) -> Any:
    if component.ctype is pyo.Var:
        return (
            str(datum.domain),
            str(datum.lower),
            str(datum.upper),
            datum.bounds,
            datum.value,
            datum.fixed,
            datum.stale,
        )
    if component.ctype is pyo.Constraint:
        return (str(datum.expr), datum.active)
    if component.ctype is pyo.Objective:
        return (str(datum.expr), datum.sense, datum.active)
    if component.ctype is pyo.Expression:
        return str(datum.expr)
    if component.ctype is pyo.Set:
        return list(datum)
    return str(pyo.value(datum, exception=False)) if component.ctype is pyo.Param else str(datum)
