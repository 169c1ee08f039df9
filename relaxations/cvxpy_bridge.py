"""A linear or convex quadratic model as a cvxpy problem, and its point and duals back.

cvxpy then has its solvers (interior point, first order, GPU), parameters and atoms for what is built here. Rows go over
as they are compiled, in a few constraints on vectors. A quadratic form goes over as a sum of squares, which needs no
proof of convexity from cvxpy.

cvxpy's duals are multipliers of the problem minimised, a maximisation negated; those recovered are shadow prices
(`dlsched.relaxations.contract`). With lambda the ``dual_value`` of a constraint of cvxpy:

====================  ===================  ===================
row                   minimise             maximise
====================  ===================  ===================
``a x >= b``          lambda >= 0          -lambda <= 0
``a x <= b``          -lambda <= 0         lambda >= 0
``a x = b``           -lambda              lambda
====================  ===================  ===================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp
from pyomo.common.collections import ComponentMap
from pyomo.core.expr.visitor import identify_variables
from pyomo.repn import generate_standard_repn
from scipy.sparse.csgraph import connected_components

from dlsched.errors import InputError
from dlsched.models.clone import clone
from dlsched.models.solve import no_prices
from dlsched.relaxations.contract import Point, Recovery, TransformationRefused, array_of
from dlsched.relaxations.lifting import is_linear
from dlsched.relaxations.refusals import compile_linear, only_objective, refuse_foreign, refuse_without_value
from dlsched.relaxations.tree import algebra, constants, refuse_outside, used_variables
from dlsched.solvers.matrix import Floats, Matrix
from dlsched.tolerances import ROUNDING


@dataclass(frozen=True, slots=True, eq=False)
class CvxpyProblem(Recovery[Point]):
    """A model as a cvxpy problem.

    Attributes
    ----------
    problem : cvxpy.Problem
    x : cvxpy.Variable
        Of shape (n,): the values of `columns`, in their order.
    columns : tuple of n Var
        The source's variables; fixed ones are constants, and those in no row and no objective are left out.
    rows : tuple of m Constraint
        The source's rows, those with squares last. Rows without variables or a finite side are left out.
    source : pyomo.environ.ConcreteModel

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.relaxations import to_cvxpy
    >>> m = pyo.ConcreteModel()
    >>> m.share = pyo.Var(["a", "b"], bounds=(0, 1))
    >>> m.all = pyo.Constraint(expr=m.share["a"] + m.share["b"] == 1)
    >>> m.risk = pyo.Objective(expr=2 * m.share["a"] ** 2 + m.share["b"] ** 2)
    >>> bridge = to_cvxpy(m)
    >>> value = bridge.problem.solve(solver="CLARABEL")
    >>> point = bridge.recover(load=True)
    >>> print(round(m.share["a"].value, 4), round(point.duals[m.all], 4))
    0.3333 1.3333
    """

    problem: Any
    x: Any
    columns: tuple[Any, ...]
    rows: tuple[Any, ...]
    source: Any
    _row_sides: tuple[_Side, ...]
    _bound_sides: tuple[_Side, ...]
    _sense: int
    _constants: Any

    def _recovered(self, x: Any, duals: Any) -> Point:
        """Return the point and the duals that cvxpy found, or those that are given.

        `x` is of shape (n,), `duals`, shadow prices, of shape (m,). Without `x`, both are the problem's; reduced costs
        are the duals of bounds.

        Raises
        ------
        InputError
            If the problem was not solved to optimality.
        """
        solved = x is None
        if solved:
            x = self._solution()
        values = ComponentMap(self._constants.items())
        found = array_of("x", x, len(self.columns), lambda: self.columns)
        values.update(zip(self.columns, found.tolist(), strict=True))
        point = Point(values)
        if duals is not None:
            duals = array_of("duals", duals, len(self.rows), lambda: self.rows)
        elif solved:
            duals = self._prices(self._row_sides, len(self.rows))
            reduced = self._prices(self._bound_sides, len(self.columns))
            point.reduced_costs.update(zip(self.columns, reduced.tolist(), strict=True))
        if duals is not None:
            point.duals.update(no_prices(self.source))
            point.duals.update(zip(self.rows, duals.tolist(), strict=True))
        return point

    def _solution(self) -> Floats:
        if self.x.value is None or self.problem.status not in ("optimal", "optimal_inaccurate"):
            raise InputError(f"the problem has no solution to recover (status: {self.problem.status}): solve it first")
        return np.asarray(self.x.value, dtype=float)

    def _prices(self, sides: Iterable[_Side], size: int) -> Floats:
        """Return the shadow prices of rows or bounds, those of two sides added."""
        prices = np.zeros(size)
        for side in sides:
            prices[side.places] += self._sense * side.sign * np.ravel(side.constraint.dual_value)
        return prices


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """Sides of some rows or bounds, as one constraint of cvxpy.

    Attributes
    ----------
    constraint : cvxpy.Constraint
    places : ndarray of int
        Of its rows or columns.
    sign : {1, -1}
        Of its multipliers as shadow prices of a minimisation: 1 for >=.
    """

    constraint: Any
    places: Any
    sign: int


def to_cvxpy(model: Any) -> CvxpyProblem:
    """Return a linear or convex quadratic Pyomo model as a cvxpy problem.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel or a block of one
        Continuous, with one active objective of either sense. Rows are linear or have squares and products on the side
        that makes them convex; so may the objective.

    Returns
    -------
    CvxpyProblem

    Raises
    ------
    TransformationRefused
        If the model has integer variables (`relax` it first), is not convex or not quadratic, has not exactly one
        active objective, has disjunctions or other logic, has a row without variables or an unused variable that no
        point satisfies, uses variables declared outside of it, or has a number that is none or infinite.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.relaxations import to_cvxpy
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(["desk", "chair"], bounds=(0, 4))
    >>> m.wood = pyo.Constraint(expr=2 * m.x["desk"] + m.x["chair"] <= 8)
    >>> m.profit = pyo.Objective(expr=5 * m.x["desk"] + 3 * m.x["chair"], sense=pyo.maximize)
    >>> bridge = to_cvxpy(m)
    >>> round(float(bridge.problem.solve()), 4)
    22.0
    >>> point = bridge.recover(load=True)
    >>> round(m.x["desk"].value, 4), round(point.duals[m.wood], 4), round(point.reduced_costs[m.x["chair"]], 4)
    (2.0, 2.5, 0.5)
    """
    import cvxpy as cp

    refuse_foreign(model)
    refuse_without_value(model)
    objective = only_objective(model)
    curved = [component for component in algebra(model) if not is_linear(component)]
    matrix, columns, rows = _linear_part(model, objective, curved)
    if not columns:
        raise TransformationRefused(
            f"'{model.name}' has no free variable in a row or its objective: there is nothing to solve"
        )
    x = cp.Variable(len(columns), name="x")
    squares = _Squares(x, columns)
    row_sides = list(_sides(matrix.row_lower, matrix.row_upper, lambda some: matrix.A[some] @ x))
    for row in curved:
        if row is not objective and _has_side(row):
            row_sides.append(squares.side(row, len(rows)))
            rows = (*rows, row)
    bound_sides = tuple(_sides(matrix.lower, matrix.upper, lambda some: x[some]))
    sense = 1 if objective.sense == pyo.minimize else -1
    worth = squares.form(objective, objective.expr, sense) if curved else matrix.c @ x + matrix.offset
    aim = cp.Minimize(worth) if sense == 1 else cp.Maximize(worth)
    problem = cp.Problem(aim, [side.constraint for side in (*row_sides, *bound_sides)])
    fixed = constants(model, replace(matrix, columns=columns))
    return CvxpyProblem(problem, x, columns, rows, model, tuple(row_sides), bound_sides, sense, fixed)


def _linear_part(model: Any, objective: Any, curved: list[Any]) -> tuple[Matrix, tuple[Any, ...], tuple[Any, ...]]:
    """Return the linear rows as arrays, with columns for all variables, and the source's variables and rows of these.

    Where something is not linear, the matrix is that of a copy without it, and its objective means nothing.
    """
    if not curved:
        matrix = compile_linear(model)
        refuse_outside(matrix.columns, model)
        columns, rows = matrix.columns, matrix.rows
    else:
        used_variables(model)
        copy, to_source = clone(model)
        own = ComponentMap((source, twin) for twin, source in to_source.items())
        parts = [objective, *curved]
        used = ComponentMap((v, None) for part in parts for v in identify_variables(part.expr, include_fixed=False))
        for row in curved:
            if row is not objective:
                own[row].deactivate()
        only_objective(copy).set_value(sum(own[variable] for variable in used))
        matrix = compile_linear(copy)
        columns, rows = (tuple(to_source[part] for part in parts) for parts in (matrix.columns, matrix.rows))
    if matrix.integer.any():
        raise TransformationRefused(
            f"variable '{columns[int(matrix.integer.argmax())].name}' is not continuous: apply relax first"
        )
    return matrix, columns, rows


def _sides(lower: Floats, upper: Floats, body: Callable[[Any], Any]) -> Iterator[_Side]:
    """Yield what holds with equality, what has a lower and what has an upper side, each as one constraint."""
    equal = lower == upper
    for sign, sides, limits in ((0, equal, upper), (1, ~equal, lower), (-1, ~equal, upper)):
        places = np.flatnonzero(sides & np.isfinite(limits))
        if places.size:
            left, right = body(places), limits[places]
            constraint = left == right if sign == 0 else left >= right if sign == 1 else left <= right
            yield _Side(constraint, places, sign or -1)


def _has_side(row: Any) -> bool:
    try:
        return row.lb is not None or row.ub is not None
    except ValueError as error:  # a side that is NaN, or infinite where it leaves no point
        raise TransformationRefused(str(error)) from None


class _Squares:
    """Writes quadratic expressions over the variables of the source as convex ones over cvxpy's."""

    def __init__(self, x: Any, columns: tuple[Any, ...]) -> None:
        self._x = x
        self._place = ComponentMap((variable, j) for j, variable in enumerate(columns))

    def side(self, row: Any, place: int) -> _Side:
        """Return a quadratic row, which must have one side."""
        if row.lb is not None and row.ub is not None:
            raise TransformationRefused(f"'{row.name}' is quadratic between two sides, {_NOT_CONVEX}")
        if row.ub is not None:
            return _Side(self.form(row, row.body, 1) <= row.ub, np.array([place]), -1)
        return _Side(self.form(row, row.body, -1) >= row.lb, np.array([place]), 1)

    def form(self, component: Any, expression: Any, sign: int) -> Any:
        """Return a quadratic expression that is convex (sign 1) or concave (-1), as sign times a sum of squares.

        Raises
        ------
        TransformationRefused
            If it is not.
        """
        import cvxpy as cp

        terms = generate_standard_repn(expression, compute_values=True, quadratic=True)
        if terms.nonlinear_expr is not None:
            raise TransformationRefused(f"'{component.name}' has terms that are not quadratic, {_NO_ATOMS}")
        _refuse_non_numbers(component, terms)
        Q = self._matrix(terms, sign)
        found = float(terms.constant)
        if terms.linear_vars:
            some = [self._place[variable] for variable in terms.linear_vars]
            found = found + np.array(terms.linear_coefs, dtype=float) @ self._x[some]
        count, block = connected_components(Q, directed=False)
        for k in range(count):
            places = np.flatnonzero(block == k)
            factor = _factor(Q[places][:, places].toarray())
            if factor is None:
                kind = "convex" if sign == 1 else "concave"
                raise TransformationRefused(f"the squares of '{component.name}' are not {kind}, {_NOT_CONVEX}")
            if factor.size:
                found = found + sign * cp.sum_squares(factor @ self._x[places])
        return found

    def _matrix(self, terms: Any, sign: int) -> sp.csr_array:
        """Return sign times the symmetric matrix of the squares and products."""
        n = len(self._place)
        pairs = [(self._place[u], self._place[v]) for u, v in terms.quadratic_vars]
        rows, columns = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        half = sp.coo_array((0.5 * sign * np.array(terms.quadratic_coefs, dtype=float), (rows, columns)), shape=(n, n))
        return sp.csr_array(half + half.T)


_NOT_CONVEX = "so the model is not convex: solve(model, solver='scip') takes it"
_NO_ATOMS = "of which no atoms of cvxpy are made: solve(model, solver='scip') takes it"


def _refuse_non_numbers(component: Any, terms: Any) -> None:
    """Refuse NaN and infinity in a quadratic expression, in the words that are said of a linear one's."""
    place = "objective" if component.ctype is pyo.Objective else component.name
    numbers = [terms.constant, *terms.linear_coefs, *terms.quadratic_coefs]
    for at in np.flatnonzero(~np.isfinite(np.array(numbers, dtype=float)))[:1].tolist():
        term = [(), *((variable,) for variable in terms.linear_vars), *terms.quadratic_vars][at]
        what = f"coefficient of {'*'.join(variable.name for variable in term)}" if term else "constant"
        raise TransformationRefused(f"{place}: the {what} is {numbers[at]}, which is not a finite number")


def _factor(Q: Floats) -> Floats | None:
    """Return F with Q = F'F, by Cholesky's method with pivots; None where Q has a negative eigenvalue.

    Shape (rank, n). Each variable is counted in the unit in which its square has the coefficient 1; what is below
    `ROUNDING` then is taken for nothing.
    """
    squares = Q.diagonal()
    if (squares < 0).any() or Q[squares == 0].any():
        return None
    sizes = np.where(squares > 0, np.sqrt(squares), 1.0)
    rest = Q / sizes[:, None] / sizes[None, :]
    rows: list[Floats] = []
    while True:
        pivot = int(rest.diagonal().argmax())
        largest = rest[pivot, pivot]
        if largest <= ROUNDING:
            return None if np.abs(rest).max(initial=0.0) > ROUNDING else np.array(rows).reshape(-1, len(Q)) * sizes
        row = rest[pivot] / np.sqrt(largest)
        rest = rest - row[:, None] * row[None, :]
        rows.append(row)
