"""What a Pyomo model may be made of to be solved or transformed, and what helps where it is made of more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from numbers import Complex, Real
from operator import is_
from typing import Any

from dlsched.errors import cut

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
    from pyomo.core.expr.visitor import identify_variables

    for component, expression in chain(_bounds(model), _relations(model)):
        if any(variable.parent_component() is None for variable in identify_variables(expression)):
            return f"{component.name}: has a variable that was deleted from the model"
        if said := valueless(expression):
            return said
    return None


def _bounds(model: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the active variables with each of their bounds."""
    import pyomo.environ as pyo

    for variable in model.component_data_objects(pyo.Var, active=True, descend_into=True):
        yield from ((variable, bound) for bound in (variable.lower, variable.upper) if bound is not None)


def _relations(model: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the active constraints and objectives with their expressions."""
    import pyomo.environ as pyo

    for component in model.component_data_objects((pyo.Constraint, pyo.Objective), active=True, descend_into=True):
        yield component, component.expr


def without_number(model: Any) -> str | None:
    """Say what in the first bound, active row or objective has no value, or one that no float holds; None of none.

    That is a part without free variables: 1/p where p is 0, log(p) where it is negative, or 10^400. All that
    `without_value` looks for must be there.
    """
    for variable, bound in _bounds(model):
        if said := bound_without_number(variable, bound):
            return said
    for component, expression in _relations(model):
        if (found := _without_number(expression)) is not None:
            part, reason = found
            said = f"{part} has no value: {reason}" if reason else f"has a number {_TOO_LARGE}{part}"
            return f"{component.name}: {said}"
    return None


def bound_without_number(variable: Any, bound: Any) -> str | None:
    """Say of a bound of a variable what `without_number` says."""
    if (found := _without_number(bound)) is None:
        return None
    part, reason = found
    said = f"in a bound, {part} has no value: {reason}" if reason else f"has a bound {_TOO_LARGE}{part}"
    return f"{variable.name}: {said}"


_TOO_LARGE = "that no float holds"


def _without_number(expression: Any) -> tuple[str, str] | None:
    """Return the least part without free variables that has no value, and why; with no reason one that no float holds.

    Such a part begins with a colon, and a plain number is left out, as it may have thousands of digits.
    """
    constants: list[Any] = []
    expression = _taken(expression)
    if _is_constant(expression, constants):
        # The sides of a relation may be compared where no float holds them.
        constants += expression.args if _is_relation(expression) else [expression]
    for least in constants:
        reason = None if type(least) is float else _lacking(least)
        if reason is None:
            continue
        while below := [(part, why) for part in _parts(least) if (why := _lacking(part)) is not None]:
            least, reason = below[0]
        if not hasattr(least, "is_expression_type"):
            return "", reason
        return cut(str(least)) if reason else f": {cut(str(least))}", reason
    return None


def _is_constant(expression: Any, found: list[Any]) -> bool:
    """Tell whether an expression has no free variable; of one that has, add the largest parts that have none to a list.

    Pyomo's `is_fixed` takes what has the factor 0 for a constant, too. A divisor that is a part stands there as a
    reciprocal.
    """
    if not hasattr(expression, "is_expression_type"):
        return True
    if not expression.is_expression_type():
        return not expression.is_variable_type() or expression.fixed
    parts = _parts(expression)
    constant = [_is_constant(part, found) for part in parts]
    # A value of the whole would need one of what a condition leaves out.
    if all(constant) and all(map(is_, parts, expression.args)):
        return True
    found.extend(part for part, is_one in zip(parts, constant, strict=True) if is_one)
    if constant[-1] and isinstance(expression, _kinds()[0]):
        found.append(1 / parts[1])
    return False


def _is_relation(expression: Any) -> bool:
    return hasattr(expression, "is_expression_type") and isinstance(expression, _kinds()[1])


def _parts(expression: Any) -> Sequence[Any]:
    """Return what an expression is made of."""
    if not hasattr(expression, "is_expression_type") or not expression.is_expression_type():
        return ()
    return [_taken(part) for part in expression.args]


def _taken(expression: Any) -> Any:
    """Return the expression; of an `Expr_if` whose condition has no free variable the one that it takes."""
    if isinstance(expression, _kinds()[2]):
        from pyomo.core.expr.visitor import evaluate_expression

        condition, one, other = expression.args
        if _is_constant(condition, []) and _lacking(condition) is None:
            return _taken(one if evaluate_expression(condition) else other)
    return expression


@cache
def _kinds() -> tuple[Any, Any, Any]:
    """Return the classes of divisions, relations and conditions; imported for each term, they take half of the time."""
    from pyomo.core.expr import DivisionExpression, Expr_ifExpression, RelationalExpression

    return DivisionExpression, RelationalExpression, Expr_ifExpression


def _lacking(constant: Any) -> str | None:
    """Return why an expression without free variables has no value; nothing where no float holds it, None of others."""
    from pyomo.core.expr.visitor import evaluate_expression

    try:
        value = evaluate_expression(constant)
        if isinstance(value, Complex) and not isinstance(value, Real):
            return "it is no real number"
        if isinstance(value, Real):
            float(value)
    except OverflowError:
        return ""
    except (ArithmeticError, ValueError) as error:
        return str(error)
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
