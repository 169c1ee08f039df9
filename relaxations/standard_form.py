"""Standard form: ``min c'x, A x = b, x >= 0``.

A variable ``v`` of the source with a lower bound becomes ``l + x``, one with only an upper bound, or one that is nearer
to 0, ``u - x``, a free one ``x - x'``; ``v = T x + t`` collects these. An inequality gets a slack or surplus variable.
The second side of a range row and the distance of two bounds become rows of their own, after the source's rows. Fixed
variables are constants. A maximisation is negated. An integer variable stays integer, its bounds rounded inwards;
slacks are continuous.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from pyomo.common.collections import ComponentMap

from dlsched.arithmetic import dot, sparse_product
from dlsched.lazy import sp
from dlsched.models.solve import no_prices
from dlsched.relaxations.contract import Point, Recovery, TransformationRefused, array_of
from dlsched.relaxations.matrix_model import MatrixModel, matrix_model
from dlsched.relaxations.refusals import compile_linear
from dlsched.relaxations.tree import constants
from dlsched.solvers.matrix import Floats, Matrix
from dlsched.tolerances import TOLERANCE, ULP

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class StandardForm(Recovery[Point]):
    """A linear model in standard form.

    Attributes
    ----------
    matrix : Matrix
        The standard form: ``sense`` 1, rows equal to ``row_lower``, ``lower`` 0, ``upper`` infinite. Its first rows are
        the source's, in the order of `compiled`. ``compiled.sense * matrix.value(x)`` is the source's objective.
    compiled : Matrix
        The source as it was compiled.
    source : pyomo.environ.ConcreteModel
    T : scipy.sparse.csr_array, shape (source columns, columns before the slacks)
    t : ndarray, shape (source columns,)

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from scipy.optimize import linprog
    >>> from dlsched.relaxations import standard_form
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(["desk", "chair"], bounds=(1, 4))
    >>> m.wood = pyo.Constraint(expr=2 * m.x["desk"] + m.x["chair"] <= 8)
    >>> m.profit = pyo.Objective(expr=5 * m.x["desk"] + 3 * m.x["chair"], sense=pyo.maximize)
    >>> form = standard_form(m)
    >>> found = linprog(form.matrix.c, A_eq=form.matrix.A, b_eq=form.matrix.row_lower)
    >>> point = form.recover(found.x, load=True)
    >>> print(round(m.x["desk"].value, 6), round(m.x["chair"].value, 6), round(pyo.value(m.profit), 6))
    2.0 4.0 22.0
    """

    matrix: Matrix
    compiled: Matrix
    source: Any
    T: sp.csr_array
    t: Floats
    _constants: Any

    @property
    def model(self) -> Any:
        """The standard form as a Pyomo model with variables ``x[j]``, rows ``row[i]`` and ``objective``.

        Built when first asked for. A row that reads 0 = 0 is left out.
        """
        return self._built.model

    @cached_property
    def _built(self) -> MatrixModel:
        rows, columns = self.matrix.A.shape
        return matrix_model(
            self.matrix,
            [("x", (j,)) for j in range(columns)],
            [("row", (i,)) for i in range(rows)],
            name=f"{self.source.name} in standard form",
            docs={"x": "variables and slacks", "row": "A x = b", "objective": "c'x"},
        )

    def _recovered(self, x: Any, duals: Any) -> Point:
        compiled, (rows, columns) = self.compiled, self.matrix.A.shape
        structural = array_of("x", x, columns, lambda: self._built.columns)[: self.T.shape[1]]
        values = sparse_product(self.T, structural) + self.t
        point = Point(values=ComponentMap(self._constants.items()))
        point.values.update(zip(compiled.columns, values.tolist(), strict=True))
        if duals is not None:
            y = compiled.sense * array_of("duals", duals, rows, lambda: self._built.rows)[: len(compiled.rows)]
            reduced = compiled.c - sparse_product(compiled.A.T, y)
            point.duals.update(no_prices(self.source))
            point.duals.update(zip(compiled.rows, y.tolist(), strict=True))
            point.reduced_costs.update(zip(compiled.columns, reduced.tolist(), strict=True))
        return point


def standard_form(model: Any) -> StandardForm:
    """Return the standard form of a linear Pyomo model.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel or a block of one
        Linear, integer variables allowed, with one active objective of either sense.

    Raises
    ------
    TransformationRefused
        If the model is not linear, has not exactly one active objective, has disjunctions or other logic, or has a row
        without variables or an unused variable that no point satisfies; or if bounds are so far from 0 that, shifted by
        them, a row's side loses its digits.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.relaxations import standard_form
    >>> m = pyo.ConcreteModel()
    >>> m.x, m.y = pyo.Var(bounds=(1, None)), pyo.Var()
    >>> m.row = pyo.Constraint(expr=2 * m.x + m.y >= 5)
    >>> m.cost = pyo.Objective(expr=m.x + 3 * m.y)
    >>> form = standard_form(m)
    >>> print(form.model.objective.expr)
    1.0 + x[0] + 3.0*x[1] - 3.0*x[2]
    >>> print(form.model.row[0].expr)
    2.0*x[0] + x[1] - x[2] - x[3]  ==  3.0
    """
    compiled = compile_linear(model)
    whole = compiled.with_whole_bounds()
    lower, upper = whole.lower, whole.upper
    T, t, first = _substitution(lower, upper)
    _refuse_far(compiled, t)
    matrix = _assemble(compiled, T, t, first, lower, upper)
    return StandardForm(matrix, compiled, model, T, t, constants(model, compiled))


def _substitution(lower: Floats, upper: Floats) -> tuple[sp.csr_array, Floats, Indices]:
    """Return T and t of ``v = T x + t``, and the first column that stands for each variable."""
    below, above = np.isfinite(lower), np.isfinite(upper)
    free = np.flatnonzero(~below & ~above)
    first = np.arange(len(lower)) + np.searchsorted(free, np.arange(len(lower)))
    from_above = above & (~below | (abs(upper) < abs(lower)))
    sign = np.where(from_above, -1.0, 1.0)
    T = sp.csr_array(
        (
            np.concatenate([sign, -np.ones(len(free))]),
            (np.concatenate([np.arange(len(lower)), free]), np.concatenate([first, first[free] + 1])),
        ),
        shape=(len(lower), len(lower) + len(free)),
    )
    return T, np.where(from_above, upper, np.where(below, lower, 0.0)), first


def _refuse_far(compiled: Matrix, t: Floats) -> None:
    """Refuse bounds that a row's side would lose its digits to."""
    terms = sp.coo_array(compiled.A)
    scale = np.maximum(1.0, abs(np.where(np.isfinite(compiled.row_upper), compiled.row_upper, compiled.row_lower)))
    np.maximum.at(scale, terms.row, abs(terms.data))
    lost = ULP * abs(terms.data * t[terms.col]) > TOLERANCE * scale[terms.row]
    for k in np.flatnonzero(lost).tolist():
        row, column = int(terms.row[k]), int(terms.col[k])
        raise TransformationRefused(
            f"variable '{compiled.columns[column].name}' has the bound {t[column]:g}, which is so far from 0 that "
            f"{compiled.row(row)} would lose its digits: bound it nearer to 0, or not at all"
        )


def _assemble(compiled: Matrix, T: sp.csr_array, t: Floats, first: Indices, lower: Floats, upper: Floats) -> Matrix:
    """Put the rows, the second sides of ranges and the distances of bounds under each other, with their slacks."""
    m, n = len(compiled.row_lower), T.shape[1]
    at_upper = np.isfinite(compiled.row_upper)
    unequal = np.flatnonzero(compiled.row_lower != compiled.row_upper)
    ranges = np.flatnonzero(at_upper & np.isfinite(compiled.row_lower) & (compiled.row_lower != compiled.row_upper))
    boxed = np.flatnonzero(np.isfinite(lower) & np.isfinite(upper))
    width = (upper - lower)[boxed]
    gaps = np.flatnonzero(width)
    structural = sp.coo_array(sparse_product(compiled.A, T))
    slack, second, gap = np.split(
        n + np.arange(len(unequal) + len(ranges) + len(gaps)), [len(unequal), len(unequal) + len(ranges)]
    )
    range_rows = m + np.arange(len(ranges))
    bound_rows = m + len(ranges) + np.arange(len(boxed))
    entries = [
        (structural.row, structural.col, structural.data),
        (unequal, slack, np.where(at_upper[unequal], 1.0, -1.0)),
        (range_rows, slack[np.searchsorted(unequal, ranges)], np.ones(len(ranges))),
        (range_rows, second, np.ones(len(ranges))),
        (bound_rows, first[boxed], np.ones(len(boxed))),
        (bound_rows[gaps], gap, np.ones(len(gaps))),
    ]
    rows, columns, values = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    shape = (m + len(ranges) + len(boxed), n + len(unequal) + len(ranges) + len(gaps))
    rhs = np.concatenate(
        [
            np.where(at_upper, compiled.row_upper, compiled.row_lower) - sparse_product(compiled.A, t),
            (compiled.row_upper - compiled.row_lower)[ranges],
            width,
        ]
    )
    cost = compiled.sense * compiled.c
    return Matrix(
        c=np.concatenate([sparse_product(T.T, cost), np.zeros(shape[1] - n)]),
        offset=compiled.sense * compiled.offset + float(dot(cost, t)),
        sense=1,
        A=sp.csr_array(sp.coo_array((values, (rows, columns)), shape=shape)),
        row_lower=rhs,
        row_upper=rhs,
        lower=np.zeros(shape[1]),
        upper=np.full(shape[1], np.inf),
        integer=np.concatenate([sparse_product(abs(T).T, compiled.integer) > 0, np.zeros(shape[1] - n, dtype=bool)]),
    )
