"""What a Pyomo model may be made of to be solved or transformed, and what helps where it is made of more."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

UNDERSTOOD = {
    "Block",
    "Var",
    "BooleanVar",
    "Param",
    "Set",
    "RangeSet",
    "SetOf",
    "Expression",
    "Constraint",
    "Objective",
}
UNDERSTOOD |= {"Suffix", "BuildAction", "BuildCheck", "ExternalFunction", "ContinuousSet", "Port"}
"""Component types that are rows, objectives, or mean nothing by themselves.

Names, and not classes: importing pyomo.dae, mpec and network takes longer than most models take to solve.
"""

_REMEDIES = {
    "Disjunction": "is an active disjunction: apply gdp.bigm or gdp.hull first",
    "Disjunct": "is an active disjunct: apply gdp.bigm or gdp.hull first, or deactivate it if no active disjunction "
    "has it",
    "LogicalConstraint": "is a logical constraint: apply core.logical_to_linear or gdp.bigm first",
    "SOSConstraint": "is a special ordered set, which no linear row can express: model it with binaries first",
    "PiecewiseLinearFunction": "is a piecewise linear function: apply contrib.piecewise.disaggregated_logarithmic "
    "or another transformation of contrib.piecewise first",
    "Complementarity": "is a complementarity condition: apply an mpec transformation first",
    "Arc": "is an arc: apply network.expand_arcs first",
    "DerivativeVar": "is a derivative: discretise the model with pyomo.dae first",
    "Integral": "is an integral: discretise the model with pyomo.dae first",
}

_PIECEWISE = "is the special ordered set of a Piecewise: give that one pw_repn='INC', which writes it with binaries"


def refuse_foreign(model: Any) -> None:
    """Refuse an active component of a model that says more than rows, bounds and integrality can.

    Raises
    ------
    ValueError
        Naming the first such component, and what to do about it.
    """
    import pyomo.environ as pyo
    from pyomo.gdp import Disjunct

    for block in model.block_data_objects(active=True, descend_into=(pyo.Block, Disjunct)):
        foreign = [c for c in block.component_objects(active=True, descend_into=False) if not _is_understood(c)]
        # A disjunct is the part of a disjunction, which is what a user knows of.
        for component in sorted(foreign, key=lambda c: c.ctype is Disjunct):
            first = next((datum for datum in component.values() if getattr(datum, "active", True)), None)
            if first is not None:
                raise ValueError(f"'{first.name}' {_reason(component.ctype.__name__, block)}")


def _is_understood(component: Any) -> bool:
    return component.ctype.__name__ in UNDERSTOOD


def _reason(kind: str, block: Any) -> str:
    import pyomo.environ as pyo

    if kind == "SOSConstraint" and isinstance(block.parent_component(), pyo.Piecewise):
        return _PIECEWISE
    return _REMEDIES.get(kind, f"is a {kind}, which is unknown here: write it with variables and constraints first")


def valueless(expression: Any) -> str | None:
    """Return what is said of what has no value in an expression; None of none.

    Of the first fixed variable, else the first Param, else the first named expression.
    """
    import pyomo.environ as pyo
    from pyomo.core.base.expression import ExpressionData, ScalarExpression
    from pyomo.core.expr.visitor import identify_components, identify_mutable_parameters, identify_variables

    for variable in identify_variables(expression):
        if variable.fixed and variable.value is None:
            return f"{variable.name}: is fixed and has no value"
    for param in identify_mutable_parameters(expression):
        if pyo.value(param, exception=False) is None:
            return f"{param.name}: has no value"
    for named in identify_components(expression, {ExpressionData, ScalarExpression}):
        if named.expr is None:
            return f"{named.name}: has no expression"
    return None


def without_value(model: Any) -> str | None:
    """Return `valueless` of the first bound, active row or objective of which it says something; None of none.

    A variable that was deleted from the model, and is still in a row of it, has no value either.
    """
    import pyomo.environ as pyo
    from pyomo.core.expr.visitor import identify_variables

    own = model.component_data_objects(pyo.Var, active=True, descend_into=True)
    bounds = ((variable, bound) for variable in own for bound in (variable.lower, variable.upper) if bound is not None)
    rows = model.component_data_objects((pyo.Constraint, pyo.Objective), active=True, descend_into=True)
    for component, expression in chain(bounds, ((row, row.expr) for row in rows)):
        if any(variable.parent_component() is None for variable in identify_variables(expression)):
            return f"{component.name}: has a variable that was deleted from the model"
        if said := valueless(expression):
            return said
    return None


def moving_range(model: Any) -> str | None:
    """Say of the first active range whose sides have free variables that Pyomo hands it to no solver; None of none."""
    import pyomo.environ as pyo
    from pyomo.core.expr import RangedExpression
    from pyomo.core.expr.numvalue import is_fixed

    for row in model.component_data_objects(pyo.Constraint, active=True, descend_into=True):
        if isinstance(row.expr, RangedExpression) and not (is_fixed(row.expr.arg(0)) and is_fixed(row.expr.arg(2))):
            return f"{row.name}: is a range between variables, which Pyomo hands to no solver: write two constraints"
    return None


def summands(expression: Any) -> Iterator[Any]:
    """Yield what an expression is the sum of, signs left aside, and named expressions taken apart."""
    from pyomo.core.expr import NegationExpression, SumExpression

    is_named = getattr(expression, "is_named_expression_type", bool)()
    if is_named or isinstance(expression, SumExpression | NegationExpression):
        for part in expression.args:
            yield from summands(part)
    else:
        yield expression


def only_objective(model: Any) -> Any:
    """Return the active objective of a model.

    Raises
    ------
    ValueError
        If there is none, or another.
    """
    import pyomo.environ as pyo

    objectives = list(model.component_data_objects(pyo.Objective, active=True, descend_into=True))
    if len(objectives) != 1:
        remedy = "deactivate the others" if objectives else "add one, or activate it"
        raise ValueError(f"'{model.name}' has {len(objectives)} active objectives; one is needed: {remedy}")
    return objectives[0]
