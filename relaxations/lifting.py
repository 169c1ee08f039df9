"""How a model's bounds become rows, in place."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap
from pyomo.common.gc_manager import PauseGC
from pyomo.gdp import Disjunct
from pyomo.repn import generate_standard_repn

from dlsched.models.clone import free_name, members
from dlsched.models.inspect import linear_terms
from dlsched.models.solve import is_crossed
from dlsched.relaxations.contract import TransformationRefused
from dlsched.relaxations.refusals import refuse_foreign, refuse_gaps, refuse_without_value
from dlsched.relaxations.tree import algebra, is_live, used_variables

_SIDES = {"lower": "lower bound", "upper": "upper bound", "fixed": "value"}


def check_liftable(model: Any) -> None:
    """Refuse what cannot be written with rows over free variables."""
    refuse_foreign(model)
    used_variables(model)
    for variable in members(model, pyo.Var):
        refuse_gaps(variable)
        if variable.fixed and variable.value is None:
            raise TransformationRefused(
                f"variable '{variable.name}' is fixed but has no value: give it one or unfix it"
            )
        if not (variable.fixed or variable.is_continuous() or variable.is_integer()):
            raise TransformationRefused(
                f"variable '{variable.name}' has the domain {variable.domain}, which is not all the integers between "
                "its bounds: write it as a multiple of an integer variable first"
            )
    refuse_without_value(model)
    for variable in members(model, pyo.Var):
        try:
            _ = variable.bounds
        except ValueError as error:  # in place, nothing may be lifted before the last bound is known to be a number
            raise TransformationRefused(str(error)) from None


def lift_in_place(model: Any, objective_constant: bool, *, keep_fixed: bool = False) -> Any:
    """Turn bounds, fixings and objective constants into rows, and return the map from the rows of a variable to it.

    With `keep_fixed`, fixed variables stay fixed and get no rows. Nor do variables without a value between their bounds
    that only inactive blocks have: a row may name one with the factor 0, and has points then.
    """
    with PauseGC():
        fixings = ComponentMap() if keep_fixed else _unfix(model)
        rows = ComponentMap()
        components = model.component_objects(pyo.Var, active=None, descend_into=(pyo.Block, Disjunct))
        for component in [c for c in components if not c.is_reference()]:
            block = component.parent_block()
            data = [v for v in component.values() if not v.fixed]
            if is_live(block, model):
                _lift_component(block, component, data, fixings, rows)
            else:
                used, crossed = used_variables(model), [v for v in data if is_crossed(v)]
                idle = {id(v) for v in crossed} - (_counting(model) if crossed else set())
                _lift_component(model, component, [v for v in data if id(v) in used - idle], fixings, rows)
        if objective_constant:
            for objective in list(model.component_data_objects(pyo.Objective, active=True, descend_into=True)):
                _lift_constant(model, objective)
    return rows


def _unfix(model: Any) -> Any:
    """Free the fixed variables and return their values; refuses, changing nothing, where that makes a row nonlinear."""
    fixed = [v for v in members(model, pyo.Var) if v.fixed]
    linear = [c for c in algebra(model) if is_linear(c)] if fixed else []
    for variable in fixed:
        variable.unfix()
    for component in linear:
        if not is_linear(component):
            for variable in fixed:
                variable.fix()
            raise TransformationRefused(
                f"'{component.name}' is linear only while some of its variables are fixed: replace them by parameters"
            )
    # A binary may be fixed at True, of which Pyomo makes no equation.
    return ComponentMap((variable, float(variable.value)) for variable in fixed)


def _counting(model: Any) -> set[int]:
    """Return the ids of the variables that an active row or objective has with a factor other than 0."""
    found: set[int] = set()
    for component in algebra(model):
        terms = generate_standard_repn(_expression(component))
        squares = chain.from_iterable(terms.quadratic_vars)
        found.update(id(variable) for variable in (*terms.linear_vars, *squares, *terms.nonlinear_vars))
    return found


def _expression(component: Any) -> Any:
    return component.body if component.ctype is pyo.Constraint else component.expr


def is_linear(component: Any) -> bool:
    """Tell whether a constraint or an objective is linear while what is fixed stays fixed.

    Of what is divided by a fixed variable, written as its power, Pyomo knows no degree.
    """
    expression = _expression(component)
    degree = expression.polynomial_degree()
    if degree is not None:
        return bool(degree <= 1)
    terms = linear_terms(expression)
    return terms is not None and bool(terms.is_linear())


def _lift_component(home: Any, component: Any, variables: list[Any], fixings: Mapping[Any, float], rows: Any) -> None:
    """Add the rows of one variable component to the block `home` and free its variables."""
    sides: dict[str, list[tuple[Any, Any]]] = {side: [] for side in _SIDES}
    for variable in variables:
        lower, upper = variable.bounds
        if variable in fixings:
            sides["fixed"].append((variable, (variable, fixings[variable])))
        elif lower is not None and lower == upper:
            sides["fixed"].append((variable, (variable, lower)))
        else:
            if lower is not None:
                sides["lower"].append((variable, (lower, variable, None)))
            if upper is not None:
                sides["upper"].append((variable, (None, variable, upper)))
        discrete = variable.is_integer() and variable not in fixings
        variable.domain = pyo.Integers if discrete else pyo.Reals
        variable.setlb(None)
        variable.setub(None)
    for side, relations in sides.items():
        if relations:
            _add_rows(home, component, side, relations, rows)


def _add_rows(home: Any, component: Any, side: str, relations: list[tuple[Any, Any]], rows: Any) -> None:
    name = free_name(f"{component.local_name}_{side}", home)
    doc = f"{_SIDES[side]} of {component.name}"
    if component.is_indexed():
        index = pyo.Set(initialize=[v.index() for v, _ in relations], dimen=component.index_set().dimen)
        added = pyo.Constraint(index, doc=doc)
        home.add_component(name, added)
        for variable, relation in relations:
            rows[added.add(variable.index(), relation)] = variable
    else:
        home.add_component(name, pyo.Constraint(expr=relations[0][1], doc=doc))
        rows[home.component(name)] = relations[0][0]


def _lift_constant(model: Any, objective: Any) -> None:
    """Turn the constant of a linear objective into a multiple of a variable that a row keeps at 1."""
    terms = generate_standard_repn(objective.expr)
    if not terms.is_linear() or not terms.constant:
        return
    name = free_name("objective_constant", model)
    unit = pyo.Var(initialize=1.0, doc=f"carries the constant of {objective.name}")
    model.add_component(name, unit)
    row = pyo.Constraint(expr=unit == 1, doc=f"value of {name}")
    model.add_component(free_name(f"{name}_fixed", model), row)
    objective.expr = objective.expr + terms.constant * (unit - 1)
