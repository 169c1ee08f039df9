"""Solve a model honestly: exact gap, values only where a solution exists, every row checked at the loaded point; duals.

An optimum that decides something needs more than one solver's word; see `dlsched.algorithms.optimum`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from numbers import Real
from typing import Any

import numpy as np

from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.halt import Halt, until
from dlsched.models.parameters import expect_current
from dlsched.solvers.components import bound_without_number, summands
from dlsched.solvers.matrix import (
    Floats,
    InfeasibleError,
    Matrix,
    NotLinearError,
    UnfitNumberError,
    compile_model,
    whole_from,
)
from dlsched.solvers.options import SolverOptions, expect_settings
from dlsched.solvers.solution import ResidualError, Solution, Status
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import TOLERANCE, WHOLE


@checked
def solve(
    model: Any,
    *,
    solver: str = "highs",
    time_limit: float | None = None,
    threads: int | None = None,
    gap: float = 0.0,
    seed: int | None = None,
    presolve: bool = True,
    stop: Callable[[], bool] | None = None,
) -> Solution:
    """Solve a Pyomo model and load its solution.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        Without active disjunctions; linear, or factorable for SCIP, which finds global optima.
    solver : {"highs", "scip"}
        SCIP needs the extra ``certify``.
    time_limit : float, optional
        Seconds, not negative.
    threads : int, optional
        At least 1; as many as there are processors where it is more, as HiGHS starts each, whatever the limit on time.
    gap : float
        Relative gap at which the solver may stop; not negative.
    seed : int, optional
        At most 2^31 - 1.
    presolve : bool
    stop : callable, optional
        Asked often, also from other threads; where it tells True, the solve ends as if time were up.

    Returns
    -------
    Solution

    Raises
    ------
    TypeError
        If `model` is no Pyomo model, or an argument is of another type.
    InputError
        If the model is abstract, an argument is out of range, or the solver is unknown.
    ValueError
        If the model is not linear and the solver is not SCIP, or `dlsched.solvers.compile_model` refuses it.
    StaleModelError
        If a Param was changed that the model does not follow; a ValueError.
    UnfitNumberError
        If a coefficient or bound is NaN, infinite, or of a size that solvers drop or refuse; a ValueError.
    ResidualError
        If the loaded point breaks a row or bound by more than 1e-6 of its scale, or SCIP's bound on the objective.

    Notes
    -----
    HiGHS's optimum of a linear program is refined until it is as good as floats are, in any units
    (`dlsched.solvers.refinement`). Of an integer program what a solver forgave the continuous variables is taken back
    where it is worth something; where the value is then not the solver's own, the status is ``feasible``.

    A cost that is more than 2^70 (1e21) times smaller than the largest counts as noise.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import solve
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var([1, 2], domain=pyo.Binary)
    >>> m.room = pyo.Constraint(expr=2 * m.x[1] + 3 * m.x[2] <= 4)
    >>> m.total = pyo.Objective(expr=5 * m.x[1] + 6 * m.x[2], sense=pyo.maximize)
    >>> found = solve(m, time_limit=10)
    >>> str(found.status), found.objective, pyo.value(m.x[2])
    ('optimal', 6.0, 1)
    """
    expect_settings(solver, time_limit=time_limit, threads=threads, gap=gap, seed=seed)
    try:
        with until(stop, time_limit):
            return _solve(model, SolverOptions(solver, None, threads, gap, seed, presolve))
    except Halt:
        return Solution.unasked(Status.NO_SOLUTION, solver)


def _solve(model: Any, asked: SolverOptions) -> Solution:
    expect_current(model)
    try:
        matrix = compile_model(model)
    except InfeasibleError:
        return Solution.unasked(Status.INFEASIBLE, asked.solver)
    except NotLinearError as error:
        if asked.solver != "scip":
            raise NotLinearError(f'{error}; solver="scip" takes nonlinear models') from None
        return _solve_nonlinear(model, asked)
    unused = unused_variables(model, matrix)
    if any(is_crossed(variable) for variable in unused):
        return Solution.unasked(Status.INFEASIBLE, asked.solver)
    raw = solve_matrix(matrix, **asdict(asked))
    if raw.x is not None:
        _load(model, matrix, raw.x, unused)
    return raw.summary


def _solve_nonlinear(model: Any, asked: SolverOptions) -> Solution:
    import pyomo.environ as pyo
    from pyomo.common.errors import InfeasibleConstraintException

    from dlsched.solvers.scip import solve_nonlinear

    free = _free(model)
    if any(map(is_crossed, free)):
        return Solution.unasked(Status.INFEASIBLE, "scip")
    try:
        summary, point = solve_nonlinear(model, asked)
    except InfeasibleConstraintException:  # a row without free variables does not hold
        return Solution.unasked(Status.INFEASIBLE, "scip")
    if point is None:
        return summary
    for variable, value in point.items():
        variable.set_value(value, skip_validation=True)
    _load_unused(model, [v for v in free if v not in point])
    largest = max([1.0, *(abs(value) for value in point.values())])
    objective = next(model.component_data_objects(pyo.Objective, active=True, descend_into=True))
    try:
        excesses, value = residuals(model), float(pyo.value(objective))
    except ArithmeticError as error:
        raise ResidualError(f"scip returned a point at which the model has no value: {error}") from None

    def allowed(expression: Any) -> float:
        return float(TOLERANCE * max([largest, *(abs(pyo.value(term)) for term in summands(expression))]))

    for row, excess in excesses.items():
        if not excess <= allowed(row.body):
            raise ResidualError(f"scip returned a point that breaks the model by {excess:.3g} ({row.name})")
    if summary.bound is not None:
        beyond = (summary.bound - value) * (1 if objective.is_minimizing() else -1)
        if beyond > allowed(objective.expr):
            raise ResidualError(
                f"scip returned a bound, {summary.bound:.6g}, that its own point passes with {value:.6g}: a function "
                "may be without a value, or without an end, within the bounds of its variables"
            )
    return (summary if point else replace(summary, bound=value)).with_value(value).if_reached()


def unused_variables(model: Any, matrix: Matrix) -> list[Any]:
    """Return the variables that are not fixed, in no row and not in the objective."""
    used = {id(variable) for variable in matrix.columns}
    return [variable for variable in _free(model) if id(variable) not in used]


def _free(model: Any) -> list[Any]:
    import pyomo.environ as pyo

    found = model.component_data_objects(pyo.Var, active=True, descend_into=True)
    return [variable for variable in found if not variable.fixed]


def _whole_bounds(variable: Any) -> tuple[float | None, float | None]:
    """Return the bounds of a variable, those of an integer one at integers, as `Matrix.with_whole_bounds` does."""
    try:
        lower, upper = variable.bounds
    except (ArithmeticError, TypeError, ValueError):
        for bound in (variable.lower, variable.upper):
            if said := bound_without_number(variable, bound):
                raise UnfitNumberError(said) from None
        raise
    if not all(bound is None or isinstance(bound, Real) for bound in (lower, upper)):
        raise ValueError(f"variable '{variable.name}' has the domain {variable.domain}, which has no numbers alone")
    if variable.is_integer():
        lower = None if lower is None else int(whole_from(lower))
        upper = None if upper is None else -int(whole_from(-upper))
    return lower, upper


def is_crossed(variable: Any) -> bool:
    """Tell whether a variable has no value between its bounds."""
    lower, upper = _whole_bounds(variable)
    return lower is not None and upper is not None and lower > upper


def load_point(model: Any, matrix: Matrix, x: Floats) -> None:
    """Put a point of a model's matrix into the model, as `solve` does with what it finds.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
    matrix : Matrix
        Compiled from it.
    x : ndarray, shape (n,)
        Its integers are rounded.
    """
    _load(model, matrix, x, unused_variables(model, matrix))


def _load(model: Any, matrix: Matrix, x: Floats, unused: list[Any]) -> None:
    """Put the point into the model."""
    for variable, value in zip(matrix.columns, x.tolist(), strict=True):
        variable.set_value(round(value) if variable.is_integer() else value, skip_validation=True)
    _load_unused(model, unused)


def _load_unused(model: Any, unused: list[Any]) -> None:
    """Give values to unused variables, and to those of inactive blocks that rows cannot be evaluated without."""
    for variable in [*unused, *_idle(model, unused)]:
        variable.set_value(nearest_to_zero(variable), skip_validation=True)


def _idle(model: Any, unused: list[Any]) -> list[Any]:
    """Return the variables without a value, of inactive blocks, that active rows and objectives have with factor 0."""
    import pyomo.environ as pyo
    from pyomo.core.expr.visitor import identify_variables

    from dlsched.models.clone import members

    known = {id(variable) for variable in unused}
    bare = {id(v): v for v in members(model, pyo.Var) if v.value is None and not v.fixed and id(v) not in known}
    found: dict[int, Any] = {}
    if bare:
        for ctype in (pyo.Constraint, pyo.Objective):
            for component in model.component_data_objects(ctype, active=True, descend_into=True):
                found |= {id(v): v for v in identify_variables(component.expr) if id(v) in bare}
    return list(found.values())


def nearest_to_zero(variable: Any) -> float:
    """Return the value nearest 0 of a variable: what one gets that is in no row and not in the objective."""
    lower, upper = _whole_bounds(variable)
    value = 0 if upper is None else min(0, upper)
    return value if lower is None else max(value, lower)


def residuals(model: Any) -> Any:
    """Return how far each active constraint is from holding at the values in the model.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        With a value in every variable; may be nonlinear.

    Returns
    -------
    pyomo.environ.ComponentMap
        Constraint to residual, 0 where it holds.

    Raises
    ------
    TypeError
        If it is no Pyomo model.
    InputError
        If it is abstract, a variable has no value, or a Param was changed that the model does not follow.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import residuals
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var([1, 2], initialize={1: 1, 2: 3})
    >>> m.room = pyo.Constraint(expr=m.x[1] + 2 * m.x[2] <= 4)
    >>> m.same = pyo.Constraint(expr=m.x[1] == 1)
    >>> {row.name: value for row, value in residuals(m).items()}
    {'room': 3, 'same': 0.0}
    """
    import pyomo.environ as pyo
    from pyomo.core.expr.visitor import identify_variables

    expect_current(model)
    result = pyo.ComponentMap()
    for constraint in model.component_data_objects(pyo.Constraint, active=True, descend_into=True):
        body = pyo.value(constraint.body, exception=False)
        if body is None:
            missing = next(v.name for v in identify_variables(constraint.body) if v.value is None)
            raise InputError(f"{missing}: has no value, and {constraint.name} needs it: solve the model first")
        lower, upper = constraint.lb, constraint.ub
        result[constraint] = max(
            0.0, -np.inf if lower is None else lower - body, -np.inf if upper is None else body - upper
        )
    return result


@checked
def duals(model: Any, fix_integers: bool = True) -> Any:
    """Return the dual value of each active constraint of a linear model.

    The sign is HiGHS's and Pyomo's: the change of the objective per unit of right-hand side, whatever the sense.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
    fix_integers : bool
        Fix the integer variables at the values in the model (their marginal prices are then those of the LP that is
        left). Without it, a model with integer variables is refused: a MILP has no duals.

    Returns
    -------
    pyomo.environ.ComponentMap
        Constraint to dual value; 0 where fixed variables leave nothing of it.

    Raises
    ------
    TypeError
        If it is no Pyomo model.
    InputError
        If the model has integers that are not to be fixed, or whose value is none, no whole number or outside of their
        bounds; if its LP has no optimum; or if a Param was changed that the model does not follow.
    ValueError
        If the model is not linear, or `dlsched.solvers.compile_model` refuses it.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import duals
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var([1, 2], bounds=(0, 9))
    >>> m.room = pyo.Constraint(expr=m.x[1] + 2 * m.x[2] <= 4)
    >>> m.total = pyo.Objective(expr=m.x[1] + 6 * m.x[2], sense=pyo.maximize)
    >>> duals(m)[m.room]
    3.0
    """
    expect_current(model)
    matrix = compile_model(model)
    if matrix.integer.any():
        if not fix_integers:
            raise InputError("the model has integer variables: relax it, or fix them with fix_integers=True")
        matrix = matrix.fixed(_whole_values(matrix))
    raw = solve_matrix(matrix)
    if raw.summary.status is not Status.OPTIMAL or raw.row_duals is None:
        raise InputError(f"the LP has no optimum (it is {raw.summary.status}), so it has no duals")
    found = no_prices(model)
    found.update(zip(matrix.rows, raw.row_duals.tolist(), strict=True))
    return found


def no_prices(model: Any) -> Any:
    """Return the price 0 for each active constraint: a solver, or a transformation, may have been given fewer."""
    import pyomo.environ as pyo

    return pyo.ComponentMap(
        (row, 0.0) for row in model.component_data_objects(pyo.Constraint, active=True, descend_into=True)
    )


def _whole_values(matrix: Matrix) -> Floats:
    """Return the values in the model, those of its integers whole: what a solver leaves of a whole number is one."""
    x = np.array([variable.value for variable in matrix.columns], dtype=float)
    if np.isnan(x[matrix.integer]).any():
        raise InputError("the model's integer variables have no values to fix them at: solve it first")
    whole = np.where(matrix.integer, np.round(x), x)
    bounds = matrix.with_whole_bounds()
    for wrong, reason in (
        (np.abs(x - whole) > WHOLE, "is no whole number"),
        ((whole < bounds.lower) | (whole > bounds.upper), "is outside of its bounds"),
    ):
        for at in np.flatnonzero(wrong & matrix.integer)[:1].tolist():
            raise InputError(
                f"{matrix.column(at)}: its value {x[at]:.15g} {reason}, to fix it at: solve the model first"
            )
    return whole
