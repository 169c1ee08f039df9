"""Linear-fractional programs as linear ones: the transformation of Charnes and Cooper (1962).

Minimise (a.x + q) / (c.x + d) over linear rows, where c.x + d > 0. With t = 1 / (c.x + d) and y = t x, every row
a_i.x <= b_i is a_i.y <= b_i t, the denominator is the row c.y + d t = 1, and the objective a.y + q t is linear.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap
from pyomo.common.gc_manager import PauseGC
from pyomo.repn import generate_standard_repn

from dlsched.errors import InputError
from dlsched.models.clone import clone, free_name, members
from dlsched.models.ratio import Floats, Ratio
from dlsched.models.solve import no_prices
from dlsched.relaxations.contract import Point, Recovery, TransformationRefused, expect_duals, values_of
from dlsched.relaxations.fractional import FractionalModel, fractional_model
from dlsched.relaxations.lifting import check_liftable, lift_in_place
from dlsched.relaxations.refusals import only_objective
from dlsched.solvers.matrix import Matrix, compile_model
from dlsched.solvers.solution import Status
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import CLEAR, POSITIVE, ROUNDING


@dataclass(frozen=True, slots=True, eq=False)
class CharnesCooper(Recovery[Point]):
    """A linear-fractional program as a linear one.

    Attributes
    ----------
    model : pyomo.environ.ConcreteModel
        A copy in which each variable stands for y = t x and each row is homogeneous; bounds are rows, named as
        `lift_bounds` names them. New are the variable ``t``, the row ``normalisation``, and for a range row ``r`` a
        second row ``r_lower``.
    source : pyomo.environ.ConcreteModel
    scale : Var
        t, the reciprocal of the denominator.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import duals, solve
    >>> from dlsched.relaxations import charnes_cooper
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(bounds=(0, None))
    >>> m.room = pyo.Constraint(expr=m.x <= 3)
    >>> m.yield_ = pyo.Objective(expr=(4 * m.x + 1) / (m.x + 2), sense=pyo.maximize)
    >>> linear = charnes_cooper(m)
    >>> print(linear.model.normalisation.expr, "|", linear.model.room.expr)
    x + 2.0*t  ==  1 | x - 3.0*t  <=  0
    >>> solution = solve(linear.model)
    >>> point = linear.recover(duals=duals(linear.model))
    >>> print(round(point.values[m.x], 6), round(1 / linear.scale.value, 6), round(point.duals[m.room], 6))
    3.0 5.0 0.28
    """

    model: Any
    source: Any
    scale: Any
    _to_source: Any
    _rows: Any

    def _recovered(self, x: Any, duals: Any) -> Point:
        """Return x = y / t, and as prices of rows and bounds t times those of the homogeneous rows.

        Raises
        ------
        InputError
            If t has no value, or is 0: the optimum is then approached at infinity. Where the model is solved and has
            other optima, one with the greatest t is taken.
        """
        expect_duals(self.model, duals)
        values = values_of(members(self.model, pyo.Var), x)
        name = self.scale.name
        if self.scale not in values:
            raise InputError(f"{name} has no value: solve the model" if x is None else f"x: says nothing of {name}")
        if not values[self.scale] > 0:
            if x is not None:
                raise InputError(f"x: {name} is 0, so it is a direction and no point of the source")
            values.update(self._attained())
        t = values[self.scale]
        point = Point() if duals is None else Point(duals=no_prices(self.source))
        for variable, source in self._to_source.items():
            if variable in values and variable.ctype is pyo.Var:
                point.values[source] = values[variable] if variable.fixed else values[variable] / t
        for row, dual in (duals or {}).items():
            kind, component = self._rows.get(row, (None, None))
            if kind is not None:
                target = getattr(point, kind)
                target[component] = target.get(component, 0.0) + t * float(dual)
        return point

    def _attained(self) -> Any:
        """Return an optimum of the linear program with the greatest t, by variable.

        Raises
        ------
        InputError
            If that is 0.
        """
        matrix = compile_model(self.model)
        value = matrix.value(np.array([variable.value for variable in matrix.columns], dtype=float))
        t = next(j for j, variable in enumerate(matrix.columns) if variable is self.scale)
        cost = np.zeros_like(matrix.c)
        cost[t] = 1.0
        most, best = (
            solve_matrix(replace(among, c=cost, offset=0.0, sense=-1)).x for among in (matrix, matrix.beyond(value))
        )
        # The row on the objective is kept as well as a solver keeps rows: so much t comes from nothing.
        if most is None or best is None or best[t] <= CLEAR * most[t]:
            raise InputError("t is 0: the optimum is approached at infinity, and no point of the source has it")
        return ComponentMap(zip(matrix.columns, best.tolist(), strict=True))


def charnes_cooper(model: Any) -> CharnesCooper:
    """Return the linear program of a linear-fractional one.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel or a block of one
        Continuous, with linear constraints and one active objective of either sense: a ratio of linear expressions,
        plus a constant, or with other ratios over the same denominator. A linear objective has the denominator 1.

    Raises
    ------
    TransformationRefused
        If the denominator can be 0 or changes its sign on the region (both are looked for by the variables' bounds,
        then by linear programs), the region is empty, the model has integer variables (`relax` it first), the objective
        is a sum of several ratios (see `sum_of_ratios`) or of another form, or a row is not linear.

    References
    ----------
    SMD, Step 2 and [33].

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import solve
    >>> from dlsched.relaxations import charnes_cooper
    >>> m = pyo.ConcreteModel()
    >>> m.fast, m.slow = pyo.Var(bounds=(1, 6)), pyo.Var(bounds=(2, 9))
    >>> m.power = pyo.Constraint(expr=3 * m.fast + m.slow <= 18)
    >>> m.cost = pyo.Objective(expr=(10 + 2 * m.fast + m.slow) / (4 * m.fast + m.slow))
    >>> linear = charnes_cooper(m)
    >>> print(round(solve(linear.model).objective, 6))
    0.971429
    >>> point = linear.recover(load=True)
    >>> print(round(m.fast.value, 6), round(m.slow.value, 6), round(pyo.value(m.cost), 6))
    5.333333 2.0 0.971429
    """
    with PauseGC():
        read = fractional_model(model)
        ratio = _single(read, only_objective(model).name)
        for idle in (other for other in read.ratios if other.is_zero):
            _sign(read.matrix, idle)
        sign = _sign(read.matrix, ratio)
        copy, to_source = clone(model)
        check_liftable(copy)
        return _homogenised(model, copy, to_source, read, ratio, sign)


def _single(read: FractionalModel, name: str) -> Ratio:
    """Return the objective as one ratio."""
    n = len(read.variables)
    ratios = [ratio for ratio in read.ratios if not ratio.is_zero]
    if not ratios:
        return Ratio(np.zeros(n), 0.0, np.zeros(n), 1.0)
    *rest, last = sorted(ratios, key=lambda ratio: bool(ratio.denominator.any()))
    for other in rest:
        multiple = _multiple(other, last)
        if multiple is None:
            raise TransformationRefused(
                f"objective '{name}' is a sum of ratios with different denominators: sum_of_ratios approximates these"
            )
        last = Ratio(
            last.numerator + multiple[0],
            last.numerator_constant + multiple[1],
            last.denominator,
            last.denominator_constant,
        )
    return last


def _multiple(other: Ratio, ratio: Ratio) -> tuple[Floats, float] | None:
    """Return what another term adds to a ratio's numerator, None where the sum is not one ratio."""
    below = np.append(ratio.denominator, ratio.denominator_constant)
    theirs = np.append(other.denominator, other.denominator_constant)
    above = np.append(other.numerator, other.numerator_constant)
    if not other.numerator.any() and not other.denominator.any():
        added = below * (other.numerator_constant / other.denominator_constant)
        return added[:-1], float(added[-1])
    largest = int(np.argmax(np.abs(theirs)))
    factor = below[largest] / theirs[largest]
    if not np.allclose(theirs * factor, below, rtol=ROUNDING, atol=0):
        return None
    return above[:-1] * factor, float(above[-1] * factor)


def _sign(matrix: Matrix, ratio: Ratio) -> int:
    """Return 1 where the denominator is positive on the region, -1 where it is negative."""
    c, d = ratio.denominator, ratio.denominator_constant
    if not c.any():
        return 1 if d > 0 else -1
    with np.errstate(invalid="ignore"):
        ends = np.where(c == 0, 0.0, np.stack([c * matrix.lower, c * matrix.upper]))
    low, high = d + ends.min(axis=0).sum(), d + ends.max(axis=0).sum()
    # A denominator in a large unit has small values everywhere.
    terms = np.append(np.where(np.isfinite(ends), np.abs(ends), np.abs(c)), abs(d))
    near_zero = POSITIVE * min(1.0, float(terms.max()))
    if np.isfinite([low, high]).all() and np.isfinite([matrix.lower, matrix.upper]).all():
        if low > near_zero:
            return 1
        if high < -near_zero:
            return -1
    least, greatest = _extreme(matrix, ratio, 1), _extreme(matrix, ratio, -1)
    if least > near_zero:
        return 1
    if greatest < -near_zero:
        return -1
    raise TransformationRefused(
        f"the denominator goes from {least:.6g} to {greatest:.6g} on the region: it must keep away from 0"
    )


def _extreme(matrix: Matrix, ratio: Ratio, sense: Literal[1, -1]) -> float:
    """Return the least (1) or the greatest (-1) value of the denominator, by a linear program."""
    found = solve_matrix(replace(matrix, c=ratio.denominator, offset=ratio.denominator_constant, sense=sense))
    if found.summary.status is Status.INFEASIBLE:
        raise TransformationRefused("no point satisfies the constraints")
    if found.summary.status is Status.UNBOUNDED:
        return -sense * np.inf
    if found.summary.status is not Status.OPTIMAL or found.summary.objective is None:
        raise TransformationRefused("the sign of the denominator could not be decided: its linear program failed")
    return found.summary.objective


def _homogenised(
    source: Any, copy: Any, to_source: Any, read: FractionalModel, ratio: Ratio, sign: int
) -> CharnesCooper:
    objective = next(copy.component_data_objects(pyo.Objective, active=True, descend_into=True))
    own = ComponentMap((original, twin) for twin, original in to_source.items())
    lifted = lift_in_place(copy, False, keep_fixed=True)
    scale = pyo.Var(domain=pyo.NonNegativeReals, doc="t, the reciprocal of the denominator")
    copy.add_component(free_name("t", copy), scale)
    rows = ComponentMap()
    ranges = []
    for row in list(copy.component_data_objects(pyo.Constraint, active=True, descend_into=True)):
        rows[row] = ("reduced_costs", to_source[lifted[row]]) if row in lifted else ("duals", to_source[row])
        other_side = _homogenise(row, scale)
        if other_side is not None:
            ranges.append((row, other_side))
    for row, lower_side in _lower_sides(ranges):
        rows[lower_side] = rows[row]
    columns = [own[variable] for variable in read.variables]
    above = sum((sign * float(a) * y for a, y in zip(ratio.numerator, columns, strict=True) if a), 0.0)
    below = sum((sign * float(c) * y for c, y in zip(ratio.denominator, columns, strict=True) if c), 0.0)
    copy.add_component(
        free_name("normalisation", copy),
        pyo.Constraint(expr=below + sign * ratio.denominator_constant * scale == 1, doc="the denominator, times t"),
    )
    objective.set_value(above + sign * ratio.numerator_constant * scale)
    return CharnesCooper(copy, source, scale, to_source, rows)


def _homogenise(row: Any, scale: Any) -> Any:
    """Multiply a row by t, and return the relation of a range's lower side; a row without a side is deactivated."""
    lower, upper = row.lb, row.ub
    if lower is None and upper is None:
        row.deactivate()
        return None
    terms = generate_standard_repn(row.body)
    body = sum(float(a) * y for a, y in zip(terms.linear_coefs, terms.linear_vars, strict=True))
    low, high = (None if side is None else float(side - terms.constant) for side in (lower, upper))
    if not any(terms.linear_coefs):
        # It holds, but for rounding, of which t would make more.
        low, high = None if low is None else min(low, 0.0), None if high is None else max(high, 0.0)
    if low is not None and low == high:
        row.set_value(body - low * scale == 0)
    elif high is None:
        row.set_value(body - low * scale >= 0)
    else:
        row.set_value(body - high * scale <= 0)
        return None if low is None else body - low * scale >= 0
    return None


def _lower_sides(ranges: list[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
    """Add the lower sides of range rows, a component for each of theirs, and yield each row with its lower side."""
    added: dict[int, Any] = {}
    for row, relation in ranges:
        component = row.parent_component()
        if id(component) not in added:
            indices = [other.index() for other, _ in ranges if other.parent_component() is component]
            index = (pyo.Set(initialize=indices, dimen=component.index_set().dimen),) if component.is_indexed() else ()
            home = pyo.Constraint(*index, doc=f"lower side of {component.name}")
            block = component.parent_block()
            block.add_component(free_name(f"{component.local_name}_lower", block), home)
            added[id(component)] = home
        yield row, added[id(component)].add(row.index(), relation)
