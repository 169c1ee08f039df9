"""`difference` sees what makes two models differ, whatever it is called, and refuses what it cannot compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyomo.environ as pyo
import pytest
from pyomo.gdp import Disjunct, Disjunction
from pyomo.mpec import Complementarity, complements

from dlsched.models import InputError, difference


def model() -> Any:
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2], bounds=(0, 9))
    m.total = pyo.Objective(expr=m.x[1])
    return m


def found(before: Any, after: Any) -> dict[tuple[str, str], tuple[int, int, int, int]]:
    """What is removed, added, changed and kept of each component that differs."""
    parts = difference(before, after).components
    return {(c.kind, c.name): (c.removed, c.added, c.changed, c.kept) for c in parts}


CURVES: dict[str, Callable[[Any, Any], Any]] = {
    "an exponent": lambda m, p: m.x[1] ** p,
    "inside exp": lambda m, p: pyo.exp(p * m.x[1]),
    "inside log": lambda m, p: pyo.log(1 + m.x[1] * p),
    "computed of Params": lambda m, p: m.x[1] ** (p**2 - 1),
    "a condition": lambda m, p: pyo.Expr_if(m.x[1] >= p, m.x[1], m.x[2]),
}


def curve(kind: str, name: str, value: float) -> Any:
    m = model()
    m.add_component(name, pyo.Param(initialize=value, mutable=True))
    m.row = pyo.Constraint(expr=CURVES[kind](m, m.component(name)) <= 8)
    return m


@pytest.mark.parametrize("kind", CURVES)
def test_values_of_params_in_what_is_not_linear(kind: str) -> None:
    assert found(curve(kind, "p", 2), curve(kind, "p", 3)) == {("constraint", "row"): (0, 0, 1, 0)}
    assert found(curve(kind, "p", 2), curve(kind, "q", 2)) == {}


def named(power: int) -> Any:
    m = model()
    m.inner = pyo.Expression(expr=m.x[1] ** power)
    m.total.set_value(pyo.exp(m.inner))
    return m


def fixed(value: float) -> Any:
    """The variable that is fixed stands outside of the block."""
    m = model()
    m.x[2].fix(value)
    m.part = pyo.Block()
    m.part.row = pyo.Constraint(expr=m.x[1] ** m.x[2] <= 8)
    return m


def test_what_stands_behind_names() -> None:
    assert found(named(2), named(3)) == {("objective", "total"): (0, 0, 1, 0)}
    assert found(named(2), named(2)) == {}
    before, after = fixed(2), fixed(3)
    assert found(before.part, after.part) == {("constraint", "part.row"): (0, 0, 1, 0)}


def either_or(*, xor: bool) -> Any:
    m = model()
    m.way = Disjunct([1, 2])
    m.way[1].row, m.way[2].row = pyo.Constraint(expr=m.x[1] <= 3), pyo.Constraint(expr=m.x[1] >= 2)
    m.choice = Disjunction(expr=[m.way[1], m.way[2]], xor=xor)
    return m


def test_exactly_one_and_at_least_one() -> None:
    assert found(either_or(xor=True), either_or(xor=False)) == {("disjunction", "choice"): (0, 0, 1, 0)}
    assert found(either_or(xor=False), either_or(xor=False)) == {}
    taken = either_or(xor=True)
    taken.way[1].indicator_var.fix(True)
    assert found(either_or(xor=True), taken) == {("variable", "way.binary_indicator_var"): (0, 0, 1, 1)}


def within(domain: Any, name: str = "S") -> Any:
    m = model()
    if isinstance(domain, list):
        domain = pyo.Set(initialize=domain)
        m.add_component(name, domain)
    m.y = pyo.Var(domain=domain)
    return m


DOMAINS = [[0, 3, 5], [0, 4, 5], pyo.RangeSet(0, 5), pyo.RangeSet(0, 10, 2), pyo.RangeSet(0, 5, 0)]
DOMAINS += [pyo.NonNegativeReals, pyo.PositiveReals, pyo.NonNegativeIntegers, pyo.Reals, pyo.Integers, pyo.Any]


@pytest.mark.parametrize("first", range(len(DOMAINS)))
def test_domains(first: int) -> None:
    for second in range(len(DOMAINS)):
        expected = {} if first == second else {("variable", "y"): (0, 0, 1, 0)}
        assert found(within(DOMAINS[first]), within(DOMAINS[second])) == expected


def test_a_domain_of_another_name() -> None:
    assert found(within([0, 3, 5]), within([5, 0, 3], "T")) == {}
    assert found(within(pyo.Binary), within(pyo.RangeSet(0, 1))) == {}


def test_a_variable_that_is_fixed_without_a_value() -> None:
    other = model()
    other.x[2].fix()
    assert found(model(), other) == {("variable", "x"): (0, 0, 1, 1)}
    other.row = pyo.Constraint(expr=other.x[1] + other.x[2] <= 1)
    with pytest.raises(InputError, match=r"^x\[2\]: is fixed and has no value$"):
        difference(model(), other)


def logical(expression: Callable[[Any], Any] | None = None) -> Any:
    m = model()
    m.on = pyo.BooleanVar([1, 2])
    m.least = pyo.Param(initialize=1, mutable=True)
    if expression is not None:
        m.rule = pyo.LogicalConstraint(expr=expression(m.on))
    return m


def test_logical_constraints() -> None:
    implies = logical(lambda on: on[1].implies(on[2]))
    assert found(logical(), implies) == {("logical constraint", "rule"): (0, 1, 0, 0)}
    assert found(implies, logical()) == {("logical constraint", "rule"): (1, 0, 0, 0)}
    assert found(implies, implies.clone()) == {}
    changed = {("logical constraint", "rule"): (0, 0, 1, 0)}
    assert found(implies, logical(lambda on: on[2].implies(on[1]))) == changed
    one, two = logical(), logical()
    for m in (one, two):
        m.rule = pyo.LogicalConstraint(expr=pyo.atleast(m.least, m.on[1], m.on[2]))
    two.least.set_value(2)
    assert found(one, two) == changed
    implies.on[1].fix(True)
    assert found(logical(lambda on: on[1].implies(on[2])), implies) == {
        **changed,
        ("variable", "on"): (0, 0, 1, 1),
    }
    implies.rule.deactivate()
    assert found(logical(), implies) == {("variable", "on"): (0, 0, 1, 1)}


def ordered(sos: int = 0, weights: tuple[int, int] = (1, 2)) -> Any:
    m = model()
    if sos:
        m.set = pyo.SOSConstraint(var=m.x, sos=sos, weights=dict(zip((1, 2), weights, strict=True)))
    return m


def test_special_ordered_sets() -> None:
    assert found(ordered(), ordered(1)) == {("special ordered set", "set"): (0, 1, 0, 0)}
    assert found(ordered(1), ordered(1)) == {}
    changed = {("special ordered set", "set"): (0, 0, 1, 0)}
    assert found(ordered(1), ordered(2)) == changed
    assert found(ordered(2), ordered(2, (2, 1))) == changed


def complementary() -> Any:
    m = model()
    m.clearing = Complementarity(expr=complements(m.x[1] >= 0, m.x[2] >= 0))
    return m


def external() -> Any:
    m = model()
    m.f = pyo.ExternalFunction(lambda a: a * a)
    m.row = pyo.Constraint(expr=m.f(m.x[1]) <= 1)
    return m


def test_what_cannot_be_compared_is_refused() -> None:
    assert found(model(), complementary()) == {("Complementarity", "clearing"): (0, 1, 0, 0)}
    with pytest.raises(InputError, match=r"^clearing: in both models, and of type Complementarity, which cannot be"):
        difference(complementary(), complementary())
    with pytest.raises(InputError, match=r"^f\(x\[1\].*: has an external function, which cannot be compared$"):
        difference(external(), external())
    m = curve("inside exp", "p", 2)
    m.row.set_value(pyo.exp(m.x[1] * pyo.log(-m.p)) <= m.p)
    with pytest.raises(InputError, match=r"^exp\(.*: has no value: "):
        difference(m, model())
    m.p.clear()
    with pytest.raises(InputError, match=r"^p: has no value$"):
        difference(m, model())


def test_a_division_by_0_is_refused() -> None:
    m = model()
    m.p = pyo.Param(initialize=0, mutable=True)
    m.row = pyo.Constraint(expr=m.x[1] / m.p <= 1)
    with pytest.raises(InputError, match=r"has no value: division by zero$"):
        difference(m, model())
