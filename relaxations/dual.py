"""The dual of a linear program, written so that it can be laid beside a paper's.

The dual variable of a constraint keeps its name, its indices and its block, and the dual row of a variable keeps the
variable's: the dual of ``capacity[h, r, t]`` is the variable ``capacity[h, r, t]``, the row of ``x[i]`` is ``x[i]``.
Where a block has a name that no model may have, such as ``statistics``, the dual of the block has ``statistics_2``.
The signs are those of shadow prices (`dlsched.relaxations.contract`), so that the objectives agree for either sense.

==============================  ====================================  ====================================
source                          dual of a minimisation (maximises)    dual of a maximisation (minimises)
==============================  ====================================  ====================================
row ``a x >= b``                variable >= 0                         variable <= 0
row ``a x <= b``                variable <= 0                         variable >= 0
row ``a x = b``                 variable free                         variable free
row ``l <= a x <= u``           ``row`` as for >= and ``row_upper``   ``row`` as for >= and ``row_upper``
                                as for <=                             as for <=
variable ``x >= 0``             row ``a' y <= c``                     row ``a' y >= c``
variable ``x <= 0``             row ``a' y >= c``                     row ``a' y <= c``
variable ``x`` free             row ``a' y = c``                      row ``a' y = c``
further bound ``x >= l``        variable ``x_lower`` >= 0             variable ``x_lower`` <= 0
further bound ``x <= u``        variable ``x_upper`` <= 0             variable ``x_upper`` >= 0
bounds ``x = l = u``            variable ``x_fixed`` free             variable ``x_fixed`` free
==============================  ====================================  ====================================

A bound of 0 is a further bound too where the other bound is 0, or where the variable stands in no row. A further bound
adds its variable to the row of ``x``, with coefficient 1, and to the objective, with the bound as its price. A fixed
variable is a constant: it has no row, and its share moves into right-hand sides and the objective's constant, which the
dual keeps. A row without variables or without a finite side has no dual variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap
from pyomo.common.gc_manager import PauseGC
from pyomo.core.expr import LinearExpression

from dlsched.arithmetic import sparse_product
from dlsched.models.clone import free_name
from dlsched.models.solve import no_prices
from dlsched.relaxations.contract import Point, Recovery, TransformationRefused, expect_duals, values_of
from dlsched.relaxations.refusals import compile_linear
from dlsched.relaxations.tree import constants, refuse_outside
from dlsched.solvers.matrix import Floats, Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Dual(Recovery[Point]):
    """The dual of a linear program.

    Attributes
    ----------
    model : pyomo.environ.ConcreteModel
        The dual program.
    source : pyomo.environ.ConcreteModel
        The program it is the dual of, unchanged.
    matrix : Matrix
        The source, compiled: rows and columns as in the dual.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import duals, solve
    >>> from dlsched.relaxations import dual
    >>> m = pyo.ConcreteModel()
    >>> m.ship = pyo.Var(["road", "rail"], domain=pyo.NonNegativeReals)
    >>> m.demand = pyo.Constraint(expr=m.ship["road"] + m.ship["rail"] >= 10)
    >>> m.trains = pyo.Constraint(expr=m.ship["rail"] <= 6)
    >>> m.cost = pyo.Objective(expr=5 * m.ship["road"] + 3 * m.ship["rail"])
    >>> result = dual(m)
    >>> solution = solve(result.model)
    >>> point = result.recover(duals=duals(result.model))
    >>> print({row.name: round(price, 6) for row, price in point.duals.items()})
    {'demand': 5.0, 'trains': -2.0}
    >>> print({variable.name: round(value, 6) for variable, value in point.values.items()})
    {'ship[road]': 4.0, 'ship[rail]': 6.0}
    """

    model: Any
    source: Any
    matrix: Matrix
    _row_variables: tuple[tuple[Any, ...], ...]
    _column_rows: tuple[Any, ...]
    _constants: Any

    def _recovered(self, x: Any, duals: Any) -> Point:
        """Return the shadow prices that `x` is, and the primal point that `duals` are, which is empty without them.

        A range row's price is the sum of its two dual variables. Fixed variables are at their value, variables in no
        row and no objective at their bound nearest 0.
        """
        expect_duals(self.model, duals)
        y = self._prices(values_of(self.model.component_data_objects(pyo.Var, descend_into=True), x))
        reduced = self.matrix.c - sparse_product(self.matrix.A.T, y)
        prices = no_prices(self.source)
        prices.update(zip(self.matrix.rows, y.tolist(), strict=True))
        return Point(
            values=ComponentMap() if duals is None else self._primal(duals),
            duals=prices,
            reduced_costs=ComponentMap(zip(self.matrix.columns, reduced.tolist(), strict=True)),
        )

    def _prices(self, values: Mapping[Any, float]) -> Floats:
        return np.array([sum(values.get(v, 0.0) for v in variables) for variables in self._row_variables], dtype=float)

    def _primal(self, duals: Mapping[Any, float]) -> Any:
        values = ComponentMap(self._constants.items())
        for column, row in zip(self.matrix.columns, self._column_rows, strict=True):
            if row in duals:
                values[column] = float(duals[row])
        return values


def dual(model: Any) -> Dual:
    """Return the dual of a linear Pyomo model.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel or a block of one
        Linear, with one active objective of either sense; bounds, ranges, equalities, constants and fixed variables as
        they come.

    Raises
    ------
    TransformationRefused
        If the model has integer variables (`relax` it first), is not linear, has not exactly one active objective, has
        disjunctions or other logic, has a row without variables or an unused variable that no point satisfies, or uses
        variables declared outside of it.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import solve
    >>> from dlsched.relaxations import dual
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(["desk", "chair"], bounds=(0, 4))
    >>> m.wood = pyo.Constraint(expr=2 * m.x["desk"] + m.x["chair"] <= 8)
    >>> m.profit = pyo.Objective(expr=5 * m.x["desk"] + 3 * m.x["chair"], sense=pyo.maximize)
    >>> result = dual(m)
    >>> for row in result.model.component_data_objects(pyo.Constraint):
    ...     print(row.name, row.expr)
    x[desk] 5.0  <=  x_upper[desk] + 2.0*wood
    x[chair] 3.0  <=  x_upper[chair] + wood
    >>> print(round(solve(m).objective, 6), round(solve(result.model).objective, 6))
    22.0 22.0
    """
    matrix = compile_linear(model)
    if matrix.integer.any():
        column = matrix.columns[int(matrix.integer.argmax())]
        raise TransformationRefused(f"variable '{column.name}' is not continuous: apply relax first")
    refuse_outside(matrix.columns, model)
    new, row_variables, column_rows = build(model, matrix)
    return Dual(new, model, matrix, row_variables, column_rows, constants(model, matrix))


_Terms = tuple[list[float], list[Any]]


def build(source: Any, matrix: Matrix) -> tuple[Any, tuple[tuple[Any, ...], ...], tuple[Any, ...]]:
    """Return the dual model, the dual variables of each row, and the dual row of each column.

    Parameters
    ----------
    source : pyomo.environ.ConcreteModel
    matrix : Matrix
        The compiled source, all continuous.
    """
    with PauseGC():
        model = pyo.ConcreteModel(name=f"{source.name} dual")
        mirror = Mirror(source, model)
        prices: _Terms = ([], [])
        row_variables = _row_variables(matrix, mirror, prices)
        bound_variables, natural = _bound_variables(matrix, mirror, prices)
        column_rows = _column_rows(matrix, mirror, row_variables, bound_variables, natural)
        objective = next(source.component_data_objects(pyo.Objective, active=True, descend_into=True))
        mirror.add_objective(
            objective,
            LinearExpression(constant=matrix.offset, linear_coefs=prices[0], linear_vars=prices[1]),
            sense=pyo.maximize if matrix.sense == 1 else pyo.minimize,
        )
    return model, row_variables, column_rows


def _signs(matrix: Matrix) -> tuple[Any, Any]:
    """Return the domains of the dual variables of lower and of upper sides."""
    signs = (pyo.NonNegativeReals, pyo.NonPositiveReals)
    return signs if matrix.sense == 1 else signs[::-1]


def _row_variables(matrix: Matrix, mirror: Mirror, prices: _Terms) -> tuple[tuple[Any, ...], ...]:
    """Add the dual variables of the rows; a range row has two, under its name the one of its lower side."""
    above, below = _signs(matrix)
    lower, upper = matrix.row_lower.tolist(), matrix.row_upper.tolist()
    first, ranges = [], []
    for i, row in enumerate(matrix.rows):
        if lower[i] == upper[i]:
            first.append((row, pyo.Reals))
        elif lower[i] > -np.inf:
            first.append((row, above))
            if upper[i] < np.inf:
                ranges.append(i)
        else:
            first.append((row, below))
    variables = [(variable,) for variable in mirror.add_variables(first)]
    _price(prices, [bound if bound > -np.inf else upper[i] for i, bound in enumerate(lower)], [v for (v,) in variables])
    seconds = mirror.add_variables([(matrix.rows[i], below) for i in ranges], "_upper")
    _price(prices, [upper[i] for i in ranges], seconds)
    result: list[tuple[Any, ...]] = list(variables)
    for i, second in zip(ranges, seconds, strict=True):
        result[i] = (*result[i], second)
    return tuple(result)


def _price(prices: _Terms, values: list[float], variables: list[Any]) -> None:
    for value, variable in zip(values, variables, strict=True):
        if value:
            prices[0].append(value)
            prices[1].append(variable)


def _bound_variables(matrix: Matrix, mirror: Mirror, prices: _Terms) -> tuple[list[list[Any]], list[str]]:
    """Add the dual variables of further bounds; return them by column, and the side at which each column is signed."""
    above, below = _signs(matrix)
    stands = np.diff(matrix.A.tocsc().indptr) > 0
    needed: dict[str, list[tuple[int, float, Any]]] = {"_lower": [], "_upper": [], "_fixed": []}
    natural = []
    for j, (lower, upper) in enumerate(zip(matrix.lower.tolist(), matrix.upper.tolist(), strict=True)):
        sign = "" if lower == upper or not stands[j] else "_lower" if lower == 0 else "_upper" if upper == 0 else ""
        natural.append(sign)
        if lower == upper:
            needed["_fixed"].append((j, lower, pyo.Reals))
            continue
        if lower > -np.inf and sign != "_lower":
            needed["_lower"].append((j, lower, above))
        if upper < np.inf and sign != "_upper":
            needed["_upper"].append((j, upper, below))
        if not stands[j] and lower == -np.inf and upper == np.inf:
            # Pyomo has no rows without variables: this one reads 0 = c
            needed["_fixed"].append((j, 0.0, pyo.RangeSet(0, 0)))
    by_column: list[list[Any]] = [[] for _ in matrix.columns]
    for suffix, entries in needed.items():
        added = mirror.add_variables([(matrix.columns[j], domain) for j, _, domain in entries], suffix)
        _price(prices, [value for _, value, _ in entries], added)
        for (j, _, _), variable in zip(entries, added, strict=True):
            by_column[j].append(variable)
    return by_column, natural


def _column_rows(
    matrix: Matrix,
    mirror: Mirror,
    row_variables: tuple[tuple[Any, ...], ...],
    bound_variables: list[list[Any]],
    natural: list[str],
) -> tuple[Any, ...]:
    """Add the dual row of each column."""
    A = matrix.A.tocsc()
    starts, rows, values = A.indptr.tolist(), A.indices.tolist(), A.data.tolist()
    below = "_lower" if matrix.sense == 1 else "_upper"
    relations: list[tuple[Any, tuple[Any, ...]]] = []
    for j, cost in enumerate(matrix.c.tolist()):
        coefficients = [1.0] * len(bound_variables[j])
        variables = list(bound_variables[j])
        for k in range(starts[j], starts[j + 1]):
            for variable in row_variables[rows[k]]:
                coefficients.append(values[k])
                variables.append(variable)
        body = LinearExpression(linear_coefs=coefficients, linear_vars=variables)
        if not natural[j]:
            relations.append((matrix.columns[j], (body, cost)))
        elif natural[j] == below:
            relations.append((matrix.columns[j], (None, body, cost)))
        else:
            relations.append((matrix.columns[j], (cost, body, None)))
    return tuple(mirror.add_constraints(relations))


_SIDES = {"": "", "_lower": "the lower side of ", "_upper": "the upper side of ", "_fixed": "the value of "}


class Mirror:
    """Adds components to a new model at the places that components of a source model have.

    Parameters
    ----------
    source, model : pyomo.environ.ConcreteModel
        The model to look at, and the empty model to fill.
    """

    def __init__(self, source: Any, model: Any) -> None:
        self._blocks = {id(source): model}

    def add_variables(self, items: Iterable[tuple[Any, Any]], suffix: str = "") -> list[Any]:
        """Add a variable for each (component datum of the source, domain), in the order given.

        Parameters
        ----------
        items : iterable of (component datum, Pyomo set)
        suffix : {"", "_lower", "_upper", "_fixed"}
            Appended to the component's name, and a number after it where the source has that name already.
        """
        pairs = list(items)
        created: dict[int, Any] = {}
        for component, members in _by_component(pairs):
            first = members[0][1]
            doc = f"dual of {_SIDES[suffix]}{_described(component)}"
            variable = pyo.Var(*self._index(component, members), domain=first, doc=doc)
            self._add(component, suffix, variable)
            for datum, domain in members:
                added = variable[datum.index()]
                if domain is not first:
                    added.domain = domain
                created[id(datum)] = added
        return [created[id(datum)] for datum, _ in pairs]

    def add_constraints(self, items: Iterable[tuple[Any, Any]]) -> list[Any]:
        """Add a constraint for each (component datum of the source, relation), in the order given."""
        pairs = list(items)
        created: dict[int, Any] = {}
        for component, members in _by_component(pairs):
            constraint = pyo.Constraint(*self._index(component, members), doc=f"dual row of {_described(component)}")
            self._add(component, "", constraint)
            for datum, relation in members:
                created[id(datum)] = constraint.add(datum.index(), relation)
        return [created[id(datum)] for datum, _ in pairs]

    def add_objective(self, datum: Any, expression: Any, sense: Any) -> None:
        """Add the objective under the name that the source's has."""
        component = datum.parent_component()
        self._add(component, "", pyo.Objective(expr=expression, sense=sense, doc=f"dual of {_described(component)}"))

    def _add(self, component: Any, suffix: str, new: Any) -> None:
        block = component.parent_block()
        target = self._block(block)
        target.add_component(_name(component, suffix, target), new)

    def _index(self, component: Any, members: list[tuple[Any, Any]]) -> tuple[Any, ...]:
        if not component.is_indexed():
            return ()
        return (pyo.Set(initialize=[datum.index() for datum, _ in members], dimen=component.index_set().dimen),)

    def _block(self, block: Any) -> Any:
        if id(block) not in self._blocks:
            component = block.parent_component()
            self._mirror_block(component, self._block(component.parent_block()))
        return self._blocks[id(block)]

    def _mirror_block(self, component: Any, target: Any) -> None:
        index = (pyo.Set(initialize=list(component.keys()), dimen=component.index_set().dimen),)
        new = pyo.Block(*(index if component.is_indexed() else ()), doc=component.doc)
        target.add_component(_name(component, "", target), new)
        for key, datum in component.items():
            self._blocks[id(datum)] = new[key]


def _name(component: Any, suffix: str, target: Any) -> str:
    """Return what a component's mirror is called: as the component, unless models have a part of that name."""
    name = str(component.local_name)
    if not suffix and not hasattr(target, name):
        return name
    return free_name(name + suffix, target, component.parent_block())


def _by_component(pairs: list[tuple[Any, Any]]) -> list[tuple[Any, list[tuple[Any, Any]]]]:
    groups: dict[int, tuple[Any, list[tuple[Any, Any]]]] = {}
    for datum, payload in pairs:
        component = datum.parent_component()
        groups.setdefault(id(component), (component, []))[1].append((datum, payload))
    return list(groups.values())


def _described(component: Any) -> str:
    return str(component.doc or component.name)
