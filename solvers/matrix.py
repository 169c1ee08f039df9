"""A linear model as arrays, with its bounds.

Compiling once and passing arrays is several times faster than the solver interfaces for large or repeated solves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from dlsched.arguments import expect_model, floats, vector
from dlsched.arithmetic import dot, sparse_product
from dlsched.errors import InputError, shown
from dlsched.halt import cut
from dlsched.lazy import sp
from dlsched.solvers.components import (
    moving_range,
    only_objective,
    refuse_foreign,
    summands,
    without_number,
    without_value,
)
from dlsched.tolerances import ROUNDING, TOLERANCE

Floats = npt.NDArray[np.float64]


class InfeasibleError(ValueError):
    """The model cannot be compiled because a row without variables does not hold."""


class NotLinearError(ValueError):
    """The model cannot be compiled because a row or the objective is not linear."""


class UnfitNumberError(ValueError):
    """The model has a number that no solver takes as it is: not a number, infinite, or lost beside the others.

    Examples
    --------
    >>> from dlsched.solvers import Builder, UnfitNumberError, solve_matrix
    >>> program = Builder(sense=1)
    >>> x = program.column(1.0, cost=float("nan"))
    >>> solve_matrix(program.matrix())
    Traceback (most recent call last):
        ...
    dlsched.solvers.matrix.UnfitNumberError: objective: the coefficient of column 0 is nan, which is no...
    """


@dataclass(frozen=True, eq=False)
class Matrix:
    """``min or max c'x + offset`` over ``row_lower <= A x <= row_upper``, ``lower <= x <= upper``, some x integer.

    Attributes
    ----------
    c : ndarray, shape (n,)
    offset : float
    sense : {1, -1}
        1 to minimise, -1 to maximise.
    A : scipy.sparse.csr_array, shape (m, n)
        A matrix of another kind, sparse or dense, is made one. Entries that stand more than once in a row are summed.
    row_lower, row_upper : ndarray, shape (m,)
    lower, upper : ndarray, shape (n,)
    integer : ndarray of bool, shape (n,)
    row_names, column_names : tuple of str
        May be empty where nobody needs names.
    rows, columns : tuple
        The Pyomo constraints and variables behind rows and columns; empty for a bare matrix.

    Raises
    ------
    InputError
        If `sense` is neither 1 nor -1, something is no array of numbers, `integer` none of truth values, or the shapes
        do not go together.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from dlsched.solvers import Matrix, solve_matrix
    >>> one, most = np.ones(2), np.full(1, np.inf)
    >>> matrix = Matrix(
    ...     c=one, offset=0.0, sense=1, A=sp.csr_array([[1.0, 2.0]]), row_lower=np.array([3.0]), row_upper=most,
    ...     lower=0 * one, upper=4 * one, integer=np.array([True, True]),
    ... )
    >>> solve_matrix(matrix).summary.objective
    2.0
    """

    c: Floats
    offset: float
    sense: Literal[1, -1]
    A: sp.csr_array
    row_lower: Floats
    row_upper: Floats
    lower: Floats
    upper: Floats
    integer: npt.NDArray[np.bool_]
    row_names: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()
    rows: tuple[Any, ...] = ()
    columns: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        expect_sense(self.sense)
        # A bare matrix of whole numbers is as good as any; what is computed from it is not whole.
        if not isinstance(self.A, sp.csr_array) or self.A.dtype != float or self.A.ndim != 2:
            object.__setattr__(self, "A", _csr(self.A))
        height, width = self.A.shape
        for name in ("c", "lower", "upper"):
            object.__setattr__(self, name, vector(name, getattr(self, name), width))
        for name in ("row_lower", "row_upper"):
            object.__setattr__(self, name, vector(name, getattr(self, name), height))
        whole = self.integer
        if not (isinstance(whole, np.ndarray) and whole.dtype.kind == "b" and whole.shape == (width,)):
            object.__setattr__(self, "integer", _truths("integer", whole, width))
        # HiGHS refuses a row that names a column twice, and the largest term of a row is that of its sum.
        if not self.A.has_canonical_format:
            object.__setattr__(self, "A", self.A.copy())
            self.A.sum_duplicates()

    @property
    def numbers(self) -> tuple[object, ...]:
        """All that decides what a solver answers, bit by bit; it can be hashed."""
        sides = (self.c, self.row_lower, self.row_upper, self.lower, self.upper, self.integer)
        entries = (self.A.indptr, self.A.indices, self.A.data)
        return self.sense, self.offset, self.A.shape, *(array.tobytes() for array in (*sides, *entries))

    def value(self, x: Floats) -> float:
        """Return the objective at a point of shape (n,)."""
        return float(dot(self.c, x)) + self.offset

    @cached_property
    def entry_rows(self) -> npt.NDArray[np.int64]:
        """The row of each entry of A."""
        return np.repeat(np.arange(self.A.shape[0]), np.diff(self.A.indptr))

    @cached_property
    def magnitudes(self) -> Floats:
        """How large the values of each column are: 1, or what the bounds of a continuous column allow where it is less.

        Shape (n,).
        """
        most = np.maximum(np.abs(self.lower), np.abs(self.upper))
        return np.where(self.integer, 1.0, np.minimum(1.0, most))

    @property
    def unit(self) -> float:
        """The largest term of the objective where that is below 1, else 1: what differences in it are compared with."""
        return min(1.0, float((np.abs(self.c) * self.magnitudes).max(initial=0.0))) or 1.0

    def residual(self, x: Floats) -> float:
        """Return how far a point is from satisfying its rows, bounds and integrality, 0 where it does.

        A row's excess counts relative to its largest term or the side that it is beyond, a bound's to the bound or the
        column's magnitude.
        """
        return self.worst(x)[1]

    def worst(self, x: Floats) -> tuple[str, float]:
        """Return the name of the row or column that a point breaks most, and by how much, as in `residual`."""
        worst, where = 0.0, ""
        for part, name in (
            (self._row_excess(x), self.row),
            (self._bound_excess(x), self.column),
            (np.where(self.integer, np.abs(x - np.round(x)), 0.0), self.column),
        ):
            at = int(part.argmax()) if part.size else -1
            # A comparison that a NaN fails would let it pass.
            if part.size and not part[at] <= worst:
                worst, where = float(part[at]), name(at)
        return where, worst

    def _row_excess(self, x: Floats) -> Floats:
        activity = sparse_product(self.A, x)
        # An integer is what it says: a big M times 0 is no term, and excuses nothing.
        sizes = np.where(self.integer, np.abs(x), np.maximum(self.magnitudes, np.abs(x)))
        terms = np.abs(self.A.data) * sizes[self.A.indices]
        largest = np.zeros(len(activity))
        np.maximum.at(largest, self.entry_rows, terms)
        excess: Floats = np.zeros(len(activity))
        # Each side by itself: that a range is wide says nothing about how near its other end is.
        for side, beyond in ((self.row_lower, self.row_lower - activity), (self.row_upper, activity - self.row_upper)):
            scale = np.maximum(largest, np.where(np.isfinite(side), np.abs(side), 0.0))
            excess = np.maximum(excess, beyond / np.where(scale > 0, scale, 1.0))
        idle = (largest == 0.0) & (excess > 0.0)
        if idle.any():
            # Of integers that are all 0, a side of .1 + .2 - .3 asks for nothing: they could only make whole steps.
            steps = np.where(self.A.data != 0, np.abs(self.A.data), np.inf)
            least = np.full(len(activity), np.inf)
            np.minimum.at(least, self.entry_rows, steps)
            noise = np.maximum(self.row_lower, -self.row_upper) <= ROUNDING * np.where(np.isfinite(least), least, 0.0)
            excess = np.where(idle & noise, 0.0, excess)
        return excess

    def _bound_excess(self, x: Floats) -> Floats:
        scale = np.maximum(self.magnitudes, np.abs(x))
        excess = np.maximum(np.maximum(self.lower - x, x - self.upper), 0.0)
        return excess / np.where(scale > 0, scale, 1.0)

    def row(self, i: int) -> str:
        """Return the name of a row."""
        return self.row_names[i] if self.row_names else f"row {i}"

    def column(self, j: int) -> str:
        """Return the name of a column."""
        return self.column_names[j] if self.column_names else f"column {j}"

    def beyond(self, cutoff: float) -> Self:
        """Return the matrix with one more row: the objective is at least as good as `cutoff`."""
        limit, none = np.array([cutoff - self.offset]), np.array([self.sense * -np.inf])
        lower, upper = (none, limit) if self.sense == 1 else (limit, none)
        return replace(
            self,
            A=sp.csr_array(sp.vstack([self.A, sp.csr_array(self.c[None, :])])),
            row_lower=np.concatenate([self.row_lower, lower]),
            row_upper=np.concatenate([self.row_upper, upper]),
            row_names=(*self.row_names, "cutoff") if self.row_names else (),
        )

    def with_whole_bounds(self) -> Self:
        """Return the matrix with the bounds of integers at integers, where a lower one may be above the upper one then.

        HiGHS 1.15.1 loses optima, and all points, where they are not: n in 3..3.5, n + x <= 4, x to maximise. A bound
        that an integer misses by what a solver forgives is moved to it.
        """
        if not self.integer.any():
            return self
        lower = np.where(self.integer, whole_from(self.lower), self.lower)
        upper = np.where(self.integer, -whole_from(-self.upper), self.upper)
        return replace(self, lower=lower, upper=upper)

    def without_costs(self) -> Self:
        """Return the same matrix with an objective of 0."""
        return replace(self, c=np.zeros_like(self.c))

    def relaxed(self) -> Self:
        """Return the same matrix without integrality."""
        return replace(self, integer=np.zeros_like(self.integer))

    def fixed(self, x: Floats) -> Self:
        """Return the linear program that is left with the integers fixed as at a point of shape (n,)."""
        return replace(
            self.relaxed(), lower=np.where(self.integer, x, self.lower), upper=np.where(self.integer, x, self.upper)
        )


def expect_sense(sense: Any) -> None:
    """Refuse what says neither to minimise nor to maximise.

    Raises
    ------
    InputError
    """
    if sense not in (1, -1):
        raise InputError(f"sense: {shown(sense)} is neither 1, to minimise, nor -1, to maximise")


def _csr(A: Any) -> sp.csr_array:
    """Return a matrix of any kind in rows, of floats: what reads `indptr` would take columns for rows."""
    array = A if sp.issparse(A) else floats("A", A)
    if array.ndim != 2:
        raise InputError(f"A: has shape {array.shape}; it must have rows and columns")
    if array.dtype.kind not in "biuf":
        raise InputError(f"A: must be a matrix of numbers, not of {array.dtype}")
    return sp.csr_array(array, dtype=float)


def _truths(name: str, values: Any, size: int) -> npt.NDArray[np.bool_]:
    """Return a vector of truth values, for which 0 and 1 stand too."""
    numbers = vector(name, values, size)
    if not ((numbers == 0) | (numbers == 1)).all():
        raise InputError(f"{name}: must be an array of truth values, not {shown(values)}")
    return numbers.astype(bool)


def whole_from(lower: Any) -> Any:
    """Return the least integers that lower bounds, a number or an array, leave; what all but is one counts as it."""
    return np.ceil(lower - TOLERANCE)


def compile_model(model: Any) -> Matrix:
    """Compile a linear Pyomo model, with its bounds and fixed variables, to arrays.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        One active objective, linear constraints, nothing that says more (`refuse_foreign`). Fixed variables are folded
        into constants.

    Raises
    ------
    TypeError
        If it is no Pyomo model.
    InputError
        If the model is abstract.
    ValueError
        If it is not linear, has no or several objectives, has active disjunctions, special ordered sets, derivatives or
        the like, or has a variable whose domain is neither an interval nor its integers.
    InfeasibleError
        If a row without variables does not hold.
    UnfitNumberError
        If a part of a bound, row or objective has no value (1/p where p is 0), or one that no float holds.
    Halt
        If the work (`dlsched.halt`) is over before it is compiled.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.solvers import compile_model
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var([1, 2], domain=pyo.Binary)
    >>> m.room = pyo.Constraint(expr=2 * m.x[1] + 3 * m.x[2] <= 4)
    >>> m.total = pyo.Objective(expr=5 * m.x[1] + m.x[2], sense=pyo.maximize)
    >>> matrix = compile_model(m)
    >>> matrix.column_names, matrix.c.tolist(), matrix.A.toarray().tolist(), matrix.row_upper.tolist()
    (('x[1]', 'x[2]'), [5.0, 1.0], [[2.0, 3.0]], [4.0])
    """
    expect_model(model)
    return cut(lambda: _compiled(model))


def _compiled(model: Any) -> Matrix:
    from pyomo.common.errors import DeveloperError, InvalidExpressionError
    from pyomo.repn.util import InvalidValueError

    refuse_foreign(model)
    objective = only_objective(model)
    try:
        return _without_broken_constants(_from_form(_form(model), objective))
    except (ArithmeticError, AttributeError, TypeError, ValueError, DeveloperError) as error:
        if missing := without_value(model):
            raise ValueError(missing) from None
        if wrong := without_number(model):
            raise UnfitNumberError(wrong) from None
        if between := moving_range(model):
            raise InputError(between) from None
        if isinstance(error, InvalidExpressionError):
            raise NotLinearError(f"the model is not linear: {error}") from error
        if isinstance(error, DeveloperError):  # it has no rule for an "and" or "or" of relations, for instance
            raise NotLinearError(f"the model has what Pyomo cannot compile: {error.args[0]}") from error
        if isinstance(error, InvalidValueError):
            raise ValueError(f"a fixed variable or parameter has no value: {_last_line(error)}") from error
        raise


def _last_line(error: Exception) -> str:
    return str(error).splitlines()[-1].strip()


def _form(model: Any) -> Any:
    """Return Pyomo's standard form; rows of fixed variables alone are looked at by `constant_excess` first.

    Pyomo forgives them no rounding, and so calls a model infeasible whose variables are fixed at a point of it.
    """
    import pyomo.environ as pyo
    from pyomo.common.errors import InfeasibleConstraintException

    from dlsched.solvers.compiler import standard_form

    try:
        return standard_form(model)
    except InfeasibleConstraintException:
        rows = list(filter(is_constant, model.component_data_objects(pyo.Constraint, active=True, descend_into=True)))
        for row in rows:
            _expect_holds(row)
        try:
            for row in rows:
                row.deactivate()
            return standard_form(model)
        finally:
            for row in rows:
                row.activate()


def is_constant(constraint: Any) -> bool:
    """Tell whether fixed variables and factors of 0 leave nothing of a linear constraint."""
    from pyomo.repn import generate_standard_repn

    # With `quadratic=False`, Pyomo asks for the values of variables with the factor 0 below a power.
    form = generate_standard_repn(constraint.body)
    return form.nonlinear_expr is None and not any(form.linear_coefs) and not any(form.quadratic_coefs)


def constant(constraint: Any) -> float:
    """Return what a constraint's body is without its free variables."""
    return _constant(constraint.body)


def _constant(expression: Any) -> float:
    from pyomo.repn import generate_standard_repn

    return float(generate_standard_repn(expression).constant)


def constant_excess(constraint: Any) -> float:
    """Return how far a constraint that fixed variables leave nothing of is from holding.

    Relative to its largest term or its side, as `Matrix.residual` counts: a point that a solve loads holds where a user
    fixes it.
    """
    body, largest, excess = constant(constraint), _largest_term(constraint.body), 0.0
    for side, sign in ((constraint.lb, -1), (constraint.ub, 1)):
        if side is not None:
            excess = max(excess, sign * (body - side) / (max(largest, abs(side)) or 1.0))
    return excess


def _largest_term(expression: Any) -> float:
    """Return the largest of the products that an expression of fixed variables is the sum of."""
    return max(map(_size, summands(expression)), default=0.0)


def _size(expression: Any) -> float:
    """Return how large a summand counts: a product of sums by their largest terms, what is no product as a whole.

    A continuous variable counts as in `Matrix.residual`, one that is free, and has a factor of 0, as 0.
    """
    from pyomo.core.expr import DivisionExpression, ProductExpression

    if getattr(expression, "is_variable_type", bool)():
        if not expression.fixed:
            return 0.0
        value, bounds = abs(float(expression.value)), [math.inf if b is None else abs(b) for b in expression.bounds]
        return value if expression.is_integer() else max(value, min(1.0, max(bounds)))
    if isinstance(expression, ProductExpression):
        return math.prod(map(_largest_term, expression.args))
    if isinstance(expression, DivisionExpression):
        return _largest_term(expression.args[0]) / abs(_constant(expression.args[1]))
    return abs(_constant(expression))


def _expect_holds(constraint: Any) -> None:
    if not constant_excess(constraint) <= TOLERANCE:
        raise InfeasibleError(f"{constraint.name}: no variable is left in it, and no point satisfies it")


def _from_form(form: Any, objective: Any) -> Matrix:
    import pyomo.environ as pyo

    columns = tuple(form.columns)
    lower, upper = _bounds(columns)
    A = sp.csr_array(form.A)
    rhs = np.asarray(form.rhs, dtype=float)
    kind = np.fromiter((row.bound_type for row in form.rows), dtype=np.int8, count=len(form.rows))
    A, row_lower, row_upper, rows = _merge_ranges(A, rhs, kind, [row.constraint for row in form.rows])
    return Matrix(
        # A Reference to the objective is another row of the same.
        c=np.asarray(form.c[[0]].todense(), dtype=float).ravel(),
        offset=float(form.c_offset[0]),
        sense=1 if objective.sense == pyo.minimize else -1,
        A=A,
        row_lower=row_lower,
        row_upper=row_upper,
        lower=lower,
        upper=upper,
        integer=np.fromiter((_is_integer(v) for v in columns), dtype=bool, count=len(columns)),
        row_names=tuple(row.name for row in rows),
        column_names=tuple(v.name for v in columns),
        rows=tuple(rows),
        columns=columns,
    )


def _without_broken_constants(matrix: Matrix) -> Matrix:
    """Return the matrix, where rows without variables hold, also where the rounding of their constants says no.

    Those that Pyomo does not drop are of variables that cancel.

    Raises
    ------
    InfeasibleError
        Naming a row that does not hold.
    """
    constant = np.bincount(matrix.entry_rows, matrix.A.data != 0, len(matrix.row_lower)) == 0
    lower, upper = matrix.row_lower, matrix.row_upper
    broken = constant & ((lower > 0) | (upper < 0))
    if not broken.any():
        return matrix
    for row in np.flatnonzero(broken).tolist():
        _expect_holds(matrix.rows[row])
    return replace(
        matrix,
        row_lower=np.where(constant, np.minimum(lower, 0.0), lower),
        row_upper=np.where(constant, np.maximum(upper, 0.0), upper),
    )


def _is_integer(variable: Any) -> bool:
    interval = variable.domain.get_interval()
    if interval is None or interval[2] not in (0, 1) or (interval[2] == 1 and (interval[0] or 0) % 1):
        raise ValueError(
            f"{variable.name}: domain {variable.domain} is neither an interval nor its integers: "
            "write it with integer or binary variables"
        )
    return bool(interval[2] == 1)


def _bounds(columns: tuple[Any, ...]) -> tuple[Floats, Floats]:
    lower = np.full(len(columns), -np.inf)
    upper = np.full(len(columns), np.inf)
    for i, variable in enumerate(columns):
        lb, ub = variable.bounds
        if lb is not None:
            lower[i] = lb
        if ub is not None:
            upper[i] = ub
    return lower, upper


def _merge_ranges(
    A: sp.csr_array, rhs: Floats, kind: npt.NDArray[np.int8], constraints: list[Any]
) -> tuple[sp.csr_array, Floats, Floats, list[Any]]:
    """Join the two rows that the compiler makes of a range row; ``kind`` is 0 for =, 1 for <=, -1 for >=."""
    row_lower = np.where(kind <= 0, rhs, -np.inf)
    row_upper = np.where(kind >= 0, rhs, np.inf)
    first: dict[int, int] = {}
    keep = []
    for i, constraint in enumerate(constraints):
        previous = first.setdefault(id(constraint), i)
        if previous == i:
            keep.append(i)
        else:
            row_lower[previous] = max(row_lower[previous], row_lower[i])
            row_upper[previous] = min(row_upper[previous], row_upper[i])
    if len(keep) == len(constraints):
        return A, row_lower, row_upper, constraints
    return A[keep], row_lower[keep], row_upper[keep], [constraints[i] for i in keep]
