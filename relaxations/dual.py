"""The dual of a linear program, written so that it can be laid beside a paper's.

The dual variable of a constraint keeps its name, its indices and its block, and the dual row of a variable keeps the
variable's: the dual of ``capacity[h, r, t]`` is the variable ``capacity[h, r, t]``, the row of ``x[i]`` is ``x[i]``.
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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap

from dlsched.arithmetic import sparse_product
from dlsched.relaxations.contract import Point, Recovery, TransformationRefused, expect_duals, values_of
from dlsched.relaxations.dual_model import build
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
        return Point(
            values=ComponentMap() if duals is None else self._primal(duals),
            duals=ComponentMap(zip(self.matrix.rows, y.tolist(), strict=True)),
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
    """
    matrix = compile_linear(model)
    if matrix.integer.any():
        column = matrix.columns[int(matrix.integer.argmax())]
        raise TransformationRefused(f"variable '{column.name}' is not continuous: apply relax first")
    refuse_outside(matrix.columns, model)
    new, row_variables, column_rows = build(model, matrix)
    return Dual(new, model, matrix, row_variables, column_rows, constants(model, matrix))
