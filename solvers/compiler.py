"""Pyomo's compiler of linear models, with what it gets wrong put right (6.10.1).

It takes a fixed variable for a free one where another index of its component is free, so that a product with it is not
linear, and a sum for nonlinear by a term whose factor is 0 (p x^2 where p is 0). It fails on a relation of Params
alone, as in an `Expr_if`, takes all later ones for constants at the point at hand, and ``<`` for ``<=`` where both
sides are constant. Pyomo's own writers, which share its visitor, are left as they are.
"""

from __future__ import annotations

from typing import Any

from pyomo.common.gc_manager import PauseGC
from pyomo.core.expr import EqualityExpression, InequalityExpression, RangedExpression
from pyomo.core.expr.numvalue import is_fixed
from pyomo.repn.linear import LinearBeforeChildDispatcher, LinearRepn, LinearRepnVisitor
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler, _LinearStandardFormCompiler_impl
from pyomo.repn.util import ExprType, check_constant

from dlsched.lazy import without_statistics

_RELATIONS = (EqualityExpression, InequalityExpression, RangedExpression)


class _Dispatcher(LinearBeforeChildDispatcher):
    """What is made of each kind of node before its children are looked at."""

    def __init__(self) -> None:
        super().__init__()
        for kind in _RELATIONS:
            self[kind] = self._before_relation

    @staticmethod
    def record_monomial(visitor: Any, result: Any, coef: Any, var: Any) -> None:
        if not var.fixed:
            LinearBeforeChildDispatcher.record_monomial(visitor, result, coef, var)
        elif coef:
            result.constant += coef * check_constant(var.value, var, visitor)

    @staticmethod
    def _before_relation(visitor: Any, child: Any) -> tuple[bool, Any]:
        if not is_fixed(child):
            return True, None
        try:
            return False, (ExprType.CONSTANT, visitor.evaluate(child))
        except (ValueError, ArithmeticError):  # the visitor says by name what has no value
            return True, None


class _Terms(LinearRepn):
    """The terms of a sum."""

    __slots__ = ()

    def append(self, other: Any) -> None:
        kind, terms = other
        if kind is ExprType.GENERAL and not terms.multiplier:
            terms.nonlinear = None
        super().append(other)


class _Visitor(LinearRepnVisitor):
    Result = _Terms
    before_child_dispatcher = _Dispatcher()


class _Compiler(_LinearStandardFormCompiler_impl):
    _get_visitor = _Visitor


def standard_form(model: Any) -> Any:
    """Return Pyomo's standard form of a model: rows are equations or have one side, those of a range are two."""
    without_statistics()
    config = LinearStandardFormCompiler().config({"mixed_form": True, "set_sense": None})
    with PauseGC():
        return _Compiler(config).write(model)


def look_into_relations() -> None:
    """Have the writer of NL files look at each relation for itself, and not decide for all by the first it meets."""
    from pyomo.repn import ampl

    for kind in _RELATIONS:
        ampl._before_child_handlers[kind] = ampl._before_child_handlers._before_general_expression
