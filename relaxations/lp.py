"""Relaxed domains, and bounds written as rows.

Both work on a copy; the map back is one to one, since no variable or constraint of the source is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap
from pyomo.common.gc_manager import PauseGC

from dlsched.arguments import checked
from dlsched.models.clone import clone, members
from dlsched.readable import Readable, Section
from dlsched.relaxations.contract import Point, Recovery, expect_duals, values_of
from dlsched.relaxations.lifting import check_liftable, lift_in_place
from dlsched.relaxations.refusals import refuse_foreign, refuse_gaps
from dlsched.relaxations.tree import used_variables


@dataclass(frozen=True, slots=True, eq=False)
class Relaxation(Readable, Recovery[Point]):
    """A continuous relaxation.

    Attributes
    ----------
    model : pyomo.environ.ConcreteModel
        The relaxed copy.
    source : pyomo.environ.ConcreteModel
        The model it relaxes, unchanged.
    relaxed : tuple
        The source's variables that were not continuous.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import duals, solve
    >>> from dlsched.relaxations import relax
    >>> m = pyo.ConcreteModel("shifts")
    >>> m.crew = pyo.Var(["day", "night"], domain=pyo.NonNegativeIntegers)
    >>> m.hours = pyo.Constraint(expr=6 * m.crew["day"] + 4 * m.crew["night"] >= 21)
    >>> m.wages = pyo.Objective(expr=3 * m.crew["day"] + 2.5 * m.crew["night"])
    >>> relaxation = relax(m)
    >>> print(relaxation)
    Relaxation of shifts: variables that need not be whole any more
      crew  2
    >>> solution = solve(relaxation.model)
    >>> point = relaxation.recover(duals=duals(relaxation.model))
    >>> print(round(point.values[m.crew["day"]], 6), round(point.duals[m.hours], 6))
    3.5 0.5
    """

    model: Any
    source: Any
    relaxed: tuple[Any, ...]
    _to_source: Any

    def _sections(self) -> Iterable[Section]:
        parts = Counter(variable.parent_component().name for variable in self.relaxed)
        rows = [(name, count) for name, count in parts.items()]
        yield Section(f"Relaxation of {self.source.name}: variables that need not be whole any more", rows)

    def _recovered(self, x: Any, duals: Any) -> Point:
        return _renamed(self._to_source, self.model, x, duals)


@dataclass(frozen=True, slots=True, eq=False)
class LiftedBounds(Recovery[Point]):
    """A model whose variables have no bounds, no fixings and no signs: rows say it all.

    Attributes
    ----------
    model : pyomo.environ.ConcreteModel
        The copy. For a variable ``x``, its rows are ``x_lower``, ``x_upper`` and, where it is fixed or its bounds are
        equal, ``x_fixed``, over the indices of ``x`` that have one; in the block of ``x``.
    source : pyomo.environ.ConcreteModel

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import duals, solve
    >>> from dlsched.relaxations import lift_bounds
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(["desk", "chair"], bounds=(0, 4))
    >>> m.wood = pyo.Constraint(expr=2 * m.x["desk"] + m.x["chair"] <= 8)
    >>> m.profit = pyo.Objective(expr=5 * m.x["desk"] + 3 * m.x["chair"], sense=pyo.maximize)
    >>> lifted = lift_bounds(m)
    >>> solution = solve(lifted.model)
    >>> point = lifted.recover(duals=duals(lifted.model))
    >>> print(round(point.duals[m.wood], 6), round(point.reduced_costs[m.x["chair"]], 6))
    2.5 0.5
    """

    model: Any
    source: Any
    _to_source: Any
    _rows: Any

    def _recovered(self, x: Any, duals: Any) -> Point:
        """Return the duals of the source's rows as they are, and those of the lifted rows as reduced costs."""
        point = _renamed(self._to_source, self.model, x, duals)
        for row, dual in (duals or {}).items():
            if row in self._rows:
                variable = self._rows[row]
                point.reduced_costs[variable] = point.reduced_costs.get(variable, 0.0) + float(dual)
        return point


def relax(model: Any) -> Relaxation:
    """Return the continuous relaxation of a Pyomo model, linear or not.

    Every integer variable becomes real between the bounds it had: a binary lies in [0, 1], a positive integer starts
    at 1. Fixed variables stay fixed.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel or a block of one

    Raises
    ------
    TransformationRefused
        If the model has active disjunctions or other logic that has no continuous relaxation as it stands, special
        ordered sets, a variable whose domain has gaps (semi-continuous), or a row that uses a variable declared
        outside of the model.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import solve
    >>> from dlsched.relaxations import relax
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(["bert", "vit", "gpt"], domain=pyo.Binary)
    >>> m.gpus = pyo.Constraint(expr=4 * m.x["bert"] + 2 * m.x["vit"] + 5 * m.x["gpt"] <= 8)
    >>> m.worth = pyo.Objective(expr=8 * m.x["bert"] + 6 * m.x["vit"] + 5 * m.x["gpt"], sense=pyo.maximize)
    >>> relaxation = relax(m)
    >>> print(round(solve(m).objective, 6), round(solve(relaxation.model).objective, 6))
    14.0 16.0
    >>> point = relaxation.recover(load=True)
    >>> print(round(m.x["gpt"].value, 6))
    0.4
    """
    with PauseGC():
        check_relaxable(model)
        copy, to_source = clone(model)
        return Relaxation(copy, model, tuple(to_source[v] for v in relax_in_place(copy)), to_source)


def check_relaxable(model: Any) -> None:
    """Refuse what has no continuous relaxation."""
    refuse_foreign(model)
    used_variables(model)
    for variable in members(model, pyo.Var):
        refuse_gaps(variable)


def relax_in_place(model: Any) -> tuple[Any, ...]:
    """Relax a model itself, which `check_relaxable` passed, and return the variables that were not continuous."""
    discrete = tuple(v for v in members(model, pyo.Var) if not v.is_continuous())
    with PauseGC():
        for variable in discrete:
            lower, upper = variable.lower, variable.upper
            variable.domain = pyo.Reals
            variable.setlb(lower)
            variable.setub(upper)
    return discrete


@checked
def lift_bounds(model: Any, *, objective_constant: bool = True) -> LiftedBounds:
    """Write the bounds of all variables, their signs and their fixings as rows.

    Afterwards every variable is free, with domain Reals, or Integers where it was discrete; a fixed variable is real,
    pinned by an equality row (and, as in Pyomo, its bounds no longer matter). What reads only rows and domains
    (`core.lp_dual`) then sees the whole model.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel or a block of one
    objective_constant : bool
        Also write a linear objective's constant as a multiple of a new variable ``objective_constant``, which a row
        ``objective_constant_fixed`` keeps at 1.

    Raises
    ------
    TransformationRefused
        As `relax`; also if a variable is fixed without a value or has a discrete domain other than consecutive
        integers, a bound is no number, a Param has no value, or an expression is linear only while a variable is fixed.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import solve
    >>> from dlsched.relaxations import lift_bounds
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(["day", "night"], bounds=(1, 4))
    >>> m.x["night"].fix(2)
    >>> m.cost = pyo.Objective(expr=3 * m.x["day"] + 2 * m.x["night"])
    >>> lifted = lift_bounds(m)
    >>> for row in lifted.model.component_data_objects(pyo.Constraint):
    ...     print(row.name, row.lower, row.upper)
    x_lower[day] 1.0 None
    x_upper[day] None 4.0
    x_fixed[night] 2.0 2.0
    >>> core = pyo.TransformationFactory("core.lp_dual").create_using(lifted.model)
    >>> print(round(solve(m).objective, 6), round(solve(core).objective, 6))
    7.0 7.0
    """
    with PauseGC():
        check_liftable(model)
        copy, to_source = clone(model)
        rows = lift_in_place(copy, objective_constant)
        return LiftedBounds(copy, model, to_source, ComponentMap((row, to_source[v]) for row, v in rows.items()))


def _renamed(to_source: Any, model: Any, x: Any, duals: Any) -> Point:
    expect_duals(model, duals)
    own = (v for v in members(model, pyo.Var) if v in to_source)
    values = values_of(own, x, is_fixed=lambda v: bool(to_source[v].fixed))
    return Point(
        ComponentMap((to_source[v], value) for v, value in values.items()),
        ComponentMap((to_source[row], float(dual)) for row, dual in (duals or {}).items() if row in to_source),
    )
