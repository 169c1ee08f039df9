"""What one model has that another has not: what a transformation added, removed and changed, by component."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dlsched.arguments import checked, expect_model
from dlsched.errors import InputError, cut
from dlsched.lazy import gdp, pyo
from dlsched.models.inspect import expect_values, linear_terms, source_of, unindexed
from dlsched.readable import Readable, Section
from dlsched.solvers.components import UNDERSTOOD

_EXAMPLES = 3
"""Members of a component that are named. Arbitrary: they are examples."""

_What = tuple[str, str]
"""Kind and name of a component."""


@dataclass(frozen=True, slots=True)
class Changed:
    """Members of a component that one of two models has alone, or in another form.

    Attributes
    ----------
    kind : {"objective", "constraint", "disjunction", "logical constraint", "special ordered set", "variable"}
        Or the name of another type of Pyomo's components, of which only one model has any.
    name : str
        Of the component, without indices.
    removed, added, changed, kept : int
        Members of the first model alone; of the second alone; of both, with other terms or limits, or another domain,
        bounds or fixed value; of both, alike.
    examples : tuple of str
        Some that are not alike.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import difference
    >>> old, new = pyo.ConcreteModel(), pyo.ConcreteModel()
    >>> for m, limit in ((old, 4), (new, 5)):
    ...     m.x = pyo.Var([1, 2], domain=pyo.Binary)
    ...     m.room = pyo.Constraint(expr=2 * m.x[1] + 3 * m.x[2] <= limit)
    ...     m.total = pyo.Objective(expr=m.x[1], sense=pyo.maximize)
    >>> [(part.kind, part.name, part.changed, part.kept) for part in difference(old, new).components]
    [('constraint', 'room', 1, 0)]
    """

    kind: str
    name: str
    removed: int
    added: int
    changed: int
    kept: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference(Readable):
    """How two models differ.

    Attributes
    ----------
    components : tuple of Changed
        Those that differ, as they stand in the models.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import difference
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var([1, 2], domain=pyo.Binary)
    >>> m.total = pyo.Objective(expr=m.x[1], sense=pyo.maximize)
    >>> new = m.clone()
    >>> new.row = pyo.Constraint(expr=new.x[1] <= new.x[2])
    >>> bool(difference(m, m.clone()).components), [part.name for part in difference(m, new).components]
    (False, ['row'])
    """

    components: tuple[Changed, ...]

    def dump(self) -> list[dict[str, Any]]:
        """Return plain JSON data."""
        return [asdict(one) for one in self.components]

    def _sections(self) -> Iterable[Section]:
        if not self.components:
            yield Section("No difference")
            return
        rows = [(c.kind, c.name, c.removed, c.added, c.changed, c.kept) for c in self.components]
        yield Section("Difference", rows, ("kind", "component", "removed", "added", "changed", "kept"))


@checked
def difference(before: Any, after: Any) -> Difference:
    """Return what a model has that another has not, by name: what is active in them, and how it reads.

    Params, and variables that are fixed, read as their values. What is not linear has to be written alike to read
    alike.

    Parameters
    ----------
    before, after : pyomo.environ.ConcreteModel
        Such as a model, and what a transformation made of it. Of a block, its own variables are compared.

    Raises
    ------
    TypeError
        If one is no Pyomo model.
    InputError
        If one is abstract, or has in a row what has no value, or an external function; or if both have what cannot be
        compared, such as a complementarity condition.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import difference
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var([1, 2], domain=pyo.Binary)
    >>> m.room = pyo.Constraint(expr=m.x[1] + m.x[2] <= 1)
    >>> m.total = pyo.Objective(expr=m.x[1], sense=pyo.maximize)
    >>> print(difference(m, pyo.TransformationFactory("core.relax_integer_vars").create_using(m)))
    Difference
      kind      component  removed  added  changed  kept
      variable  x                0      0        2     0
    """
    expect_model(before)
    expect_model(after)
    first, second = _members(before), _members(after)
    found = []
    for what in dict.fromkeys([*first, *second]):
        old, new = first.get(what, {}), second.get(what, {})
        if what[0] not in _KINDS.values() and old and new:
            raise InputError(f"{what[1]}: in both models, and of type {what[0]}, which cannot be compared")
        removed = [name for name in old if name not in new]
        added = [name for name in new if name not in old]
        changed = [name for name in old if name in new and old[name] != new[name]]
        kept = len(old) - len(removed) - len(changed)
        if removed or added or changed:
            examples = tuple([*changed, *removed, *added][:_EXAMPLES])
            found.append(Changed(*what, len(removed), len(added), len(changed), kept, examples))
    return Difference(tuple(found))


def _members(model: Any) -> Mapping[_What, Mapping[str, Any]]:
    """Return what stands in each member of each component, by name; a row that GDP wrote is of what it stands for."""
    found: dict[_What, dict[str, Any]] = {}
    blocks = pyo.Block, gdp.Disjunct
    either_or = {
        choice.algebraic_constraint.name: choice.name
        for choice in model.component_data_objects(gdp.Disjunction, descend_into=blocks)
        if choice.algebraic_constraint is not None
    }
    types = {ctype.__name__: ctype for ctype in model.collect_ctypes(descend_into=blocks)}
    unknown = sorted(types.keys() - _KINDS.keys() - UNDERSTOOD - {"Disjunct"})
    for kind in (*(kind for kind in _KINDS if kind in types), *unknown):
        called = _KINDS.get(kind, kind)
        active = None if called == "variable" else True
        for data in model.component_data_objects(types[kind], active=active, descend_into=blocks):
            if isinstance(data, gdp.disjunct.AutoLinkedBooleanVar):
                continue  # its disjunct has a binary variable for it
            of = either_or.get(data.name) or (source_of(data).name if called == "constraint" else data.name)
            found.setdefault((called, unindexed(of)), {})[data.name] = _form(called, data)
    return found


_KINDS = {
    "Objective": "objective",
    "Constraint": "constraint",
    "Disjunction": "disjunction",
    "LogicalConstraint": "logical constraint",
    "SOSConstraint": "special ordered set",
    "Var": "variable",
    "BooleanVar": "variable",
}
"""What is compared: the type of its component, and what it is called."""


def _form(called: str, data: Any) -> Any:
    """Return what is equal where two members read alike; None of what is of an unknown kind."""
    if called in ("objective", "constraint", "logical constraint"):
        expect_values(data.expr)
    if called == "objective":
        return data.sense, _algebra(data.expr)
    if called == "constraint":
        return data.lb, data.ub, _algebra(data.body)
    if called == "disjunction":
        return bool(data.xor), tuple(disjunct.name for disjunct in data.disjuncts)
    if called == "logical constraint":
        return _written(data.expr)
    if called == "special ordered set":
        return data.level, [(variable.name, float(pyo.value(weight))) for variable, weight in data.get_items()]
    if called == "variable":
        fixed = data.fixed, data.value if data.fixed else None
        return fixed if data.ctype is pyo.BooleanVar else (*fixed, _values(data.domain), data.bounds)
    return None


def _values(domain: Any) -> frozenset[str]:
    """Return what is equal where two domains are: a Set of the user's may have any name."""
    return frozenset(str(part) for part in domain.ranges())


def _algebra(expression: Any) -> Any:
    """Return an expression in a form that is equal where the terms are; one that is not linear as it is written."""
    try:
        repn = linear_terms(expression)
    except ArithmeticError:
        repn = None
    if repn is None:
        return _written(expression)
    terms = ((v.name, float(c)) for v, c in zip(repn.linear_vars, repn.linear_coefs, strict=True))
    rest = "" if repn.nonlinear_expr is None else _written(repn.nonlinear_expr)
    return frozenset(terms), float(repn.constant), rest


def _written(expression: Any) -> str:
    """Return an expression as it is written, with the values of its Params and of what is fixed.

    Raises
    ------
    InputError
        If that is a number nowhere, or there is an external function: its name does not say what it is.
    """
    from pyomo.core.expr import ExternalFunctionExpression
    from pyomo.core.expr.visitor import evaluate_fixed_subexpressions, identify_components

    try:
        plain = evaluate_fixed_subexpressions(expression)
    except (ValueError, ArithmeticError) as error:
        raise InputError(f"{cut(str(expression))}: has no value: {error}") from None
    if next(identify_components(plain, {ExternalFunctionExpression}), None) is not None:
        raise InputError(f"{cut(str(expression))}: has an external function, which cannot be compared")
    return str(plain)
