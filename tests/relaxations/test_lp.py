"""What is particular to relaxed domains and to lifted bounds, and how Pyomo finds the transformations."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import pyomo.environ as pyo
import pytest
from pyomo.common.collections import ComponentMap
from pyomo.core.base.range import NumericRange
from pyomo.gdp import Disjunction

from dlsched import models
from dlsched.models import InputError
from dlsched.relaxations import (
    Relaxation,
    TransformationRefused,
    charnes_cooper,
    dual,
    lift_bounds,
    relax,
    standard_form,
    sum_of_ratios,
    to_cvxpy,
)
from dlsched.relaxations.conformance_cases import bounds, fixings, integers, knapsack, plants
from tests.forks import failed
from tests.relaxations.conformance.solving import solve


def one(**options: Any) -> Any:
    m = pyo.ConcreteModel(name="one")
    m.x = pyo.Var(**options)
    m.row = pyo.Constraint(expr=m.x >= -100)
    m.cost = pyo.Objective(expr=m.x)
    return m


@pytest.mark.parametrize(
    ("domain", "declared", "relaxed"),
    [
        (pyo.Binary, (None, None), (0, 1)),
        (pyo.Boolean, (None, None), (0, 1)),
        (pyo.Binary, (0.5, None), (0.5, 1)),
        (pyo.NonNegativeIntegers, (None, 7), (0, 7)),
        (pyo.PositiveIntegers, (-3, None), (1, None)),
        (pyo.NegativeIntegers, (None, None), (None, -1)),
        (pyo.NonPositiveIntegers, (-2, 5), (-2, 0)),
        (pyo.Integers, (-2.5, 2.5), (-2.5, 2.5)),
        (pyo.RangeSet(0, 10, 2), (None, None), (0, 10)),
        (pyo.PercentFraction, (None, None), (0, 1)),
    ],
    ids=str,
)
def test_relaxed_bounds(domain: Any, declared: tuple[Any, Any], relaxed: tuple[Any, Any]) -> None:
    if not domain.is_constructed():
        domain.construct()
    model = relax(one(domain=domain, bounds=declared)).model
    assert model.x.is_continuous()
    assert model.x.bounds == relaxed


def test_relaxed_bounds_follow_parameters() -> None:
    m = pyo.ConcreteModel()
    m.most = pyo.Param(initialize=3, mutable=True)
    m.x = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(None, m.most))
    model = relax(m).model
    model.most = 8
    assert model.x.bounds == (0, 8)
    assert m.x.bounds == (0, 3)


def test_relaxed_lists_variables_of_the_source() -> None:
    source = integers()
    result = relax(source)
    assert isinstance(result, Relaxation)
    assert result.source is source
    assert [v.name for v in result.relaxed] == ["x", "y", "s", "n"]
    assert result.relaxed[0] is source.x
    assert relax(plants()).relaxed == ()


def test_relax_nonlinear() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(domain=pyo.Integers, initialize=1)
    m.row = pyo.Constraint(expr=pyo.exp(m.x) <= 9)
    result = relax(m)
    assert result.model.x.is_continuous()
    point = result.recover(ComponentMap())
    assert len(point.values) == 0
    assert result.recover().values[m.x] == 1


def test_fixed_integer_stays_fixed() -> None:
    m = knapsack()
    m.x[3].fix(0)
    result = relax(m)
    assert result.model.x[3].fixed
    assert solve(result.model).objective == pytest.approx(160)


def test_lifted_rows() -> None:
    result = lift_bounds(bounds())
    m = result.model
    assert all(v.domain is pyo.Reals and v.bounds == (None, None) for v in m.component_data_objects(pyo.Var))
    rows = {c.name for c in m.component_data_objects(pyo.Constraint)}
    assert {"x_lower", "x_upper", "y_upper", "z_lower", "u_upper", "alone_lower", "objective_constant_fixed"} <= rows
    assert not {"y_lower", "u_lower", "free_lower", "free_upper"} & rows
    assert (m.x_lower.lower, m.x_lower.upper) == (-4, None)


def test_lifted_fixings_are_equalities_with_reduced_costs() -> None:
    source = fixings()
    result = lift_bounds(source)
    assert {i: pyo.value(row.lower) for i, row in result.model.x_fixed.items()} == {"z": 2, "w": 1}
    assert list(result.model.x_upper) == ["x"]
    assert not result.model.x["z"].fixed
    solved = solve(result.model)
    costs = result.recover(solved.values, solved.duals).reduced_costs
    assert {v.index(): cost for v, cost in costs.items()} == pytest.approx({"x": -1, "y": 0, "z": 1, "w": -2})


def test_lifted_integers_stay_integers() -> None:
    model = lift_bounds(integers()).model
    assert all(v.domain is pyo.Integers for v in (model.x, model.y, model.s, model.n))
    assert solve(model).objective == pytest.approx(7)


def test_objective_constant_can_stay() -> None:
    model = lift_bounds(fixings(), objective_constant=False).model
    assert model.component("objective_constant") is None
    created = pyo.TransformationFactory("dlsched.lift_bounds").create_using(fixings(), objective_constant=False)
    assert created.component("objective_constant") is None
    assert solve(created).objective == pytest.approx(32)
    with pytest.raises(ValueError, match="nonsense"):
        pyo.TransformationFactory("dlsched.lift_bounds").create_using(fixings(), nonsense=1)


def test_names_are_the_same_each_time() -> None:
    first, second = (
        [c.name for c in lift_bounds(bounds()).model.component_data_objects((pyo.Constraint, pyo.Var))]
        for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize("transform", [relax, lift_bounds])
def test_unordered_index_sets_map_back(transform: Any) -> None:
    """A copy of an unordered set iterates in another order than the set."""
    names = {f"{a}{b}" for a in "abcdefgh" for b in range(9)}
    m = pyo.ConcreteModel(name="unordered")
    m.names = pyo.Set(initialize=sorted(names), ordered=False)
    m.part = pyo.Block(m.names, rule=lambda block, name: block.add_component("y", pyo.Var(domain=pyo.Binary)))
    m.x = pyo.Var(m.names, domain=pyo.NonNegativeReals)
    m.row = pyo.Constraint(m.names, rule=lambda m, name: m.x[name] >= m.part[name].y)
    result = transform(m)
    new = result.model
    values = ComponentMap((new.x[name], k) for k, name in enumerate(names))
    values.update((new.part[name].y, -k) for k, name in enumerate(names))
    point = result.recover(values, ComponentMap((new.row[name], k) for k, name in enumerate(names)))
    for k, name in enumerate(names):
        assert point.values[m.x[name]] == k
        assert point.values[m.part[name].y] == -k
        assert point.duals[m.row[name]] == k


def with_disjunction() -> Any:
    m = one(bounds=(0, 9))
    m.choice = Disjunction(expr=[[m.x <= 3], [m.x >= 6]])
    return m


def with_sos() -> Any:
    m = one()
    m.y = pyo.Var([1, 2])
    m.sos = pyo.SOSConstraint(var=m.y, sos=1)
    return m


def with_logic() -> Any:
    m = one()
    m.b = pyo.BooleanVar([1, 2])
    m.logic = pyo.LogicalConstraint(expr=m.b[1].implies(m.b[2]))
    return m


def with_outside_variable() -> Any:
    m = one()
    m.row2 = pyo.Constraint(expr=one().x <= m.x)
    return m


SEMICONTINUOUS = pyo.RangeSet(ranges=(NumericRange(0, 0, 0), NumericRange(5, 10, 0)))
REFUSALS = [
    (with_disjunction, "'choice' is an active disjunction: apply gdp.bigm or gdp.hull first"),
    (with_sos, "'sos' is a special ordered set"),
    (with_logic, "'logic' is a logical constraint"),
    (lambda: 3, "int is not a Pyomo model"),
    (lambda: pyo.AbstractModel(name="later"), "abstract: call create_instance[(][)] first"),
    (lambda: pyo.Block([1, 2], concrete=True), "indexed block"),
]


@pytest.mark.parametrize("transform", [relax, lift_bounds, standard_form])
@pytest.mark.parametrize(("build", "reason"), REFUSALS)
def test_refusals(transform: Any, build: Any, reason: str) -> None:
    with pytest.raises(TransformationRefused, match=reason):
        transform(build())


@pytest.mark.parametrize("transform", [relax, lift_bounds])
def test_outside_variable_refused(transform: Any) -> None:
    with pytest.raises(TransformationRefused, match="'row2' uses variable 'x', which is declared outside of 'one'"):
        transform(with_outside_variable())


def with_expression_outside() -> Any:
    """A block whose row is 2 x <= 5, by way of a named expression of the block around it."""
    m = pyo.ConcreteModel()
    m.b = pyo.Block()
    m.b.x = pyo.Var(bounds=(0, 10))
    m.twice = pyo.Expression(expr=2 * m.b.x)
    m.b.own = pyo.Expression(expr=m.twice + 1)
    m.b.row = pyo.Constraint(expr=m.b.own <= 6)
    m.b.worth = pyo.Objective(expr=m.twice / 2, sense=pyo.maximize)
    return m.b


@pytest.mark.parametrize("transform", [relax, lift_bounds, dual, standard_form, charnes_cooper])
def test_a_block_with_a_named_expression_outside(transform: Any) -> None:
    block = with_expression_outside()
    found = transform(block)
    value = solve(found.model).objective
    assert value is not None
    assert abs(value) == pytest.approx(2.5)
    assert block.x.value is None
    assert to_cvxpy(block).problem.solve() == pytest.approx(2.5)


def indexed_block(worth: Any) -> Any:
    """Two blocks in one component: x[1] + x[2] <= 5, by way of a Param of the model around them."""
    m = pyo.ConcreteModel()
    m.most = pyo.Param(initialize=5, mutable=True)
    m.part = pyo.Block([1, 2])
    for k, block in m.part.items():
        block.x = pyo.Var([1, 2], bounds=(0, 2 * k))
        block.row = pyo.Constraint(expr=block.x[1] + block.x[2] <= m.most)
        block.worth = pyo.Objective(expr=worth(block.x), sense=pyo.maximize)
    return m


@pytest.mark.parametrize("transform", [relax, lift_bounds, dual, standard_form])
def test_a_member_of_an_indexed_block(transform: Any) -> None:
    """Its copy is a model: the copy that Pyomo makes of it belongs to no block, and nothing can be done with it."""
    m = indexed_block(lambda x: x[1] + 2 * x[2])
    for k, worth in ((1, 6), (2, 9)):
        found = transform(m.part[k])
        models.solve(found.model)
        found.recover(duals=models.duals(found.model), load=True)
        assert pyo.value(m.part[k].worth) == pytest.approx(worth)
    assert models.explain(m.part[1])


@pytest.mark.parametrize("name", ["statistics", "load", "config", "solutions", "preprocess", "create_instance"])
@pytest.mark.parametrize("transform", [relax, lift_bounds, dual, standard_form, charnes_cooper])
def test_a_member_of_an_indexed_block_with_a_name_that_models_reserve(transform: Any, name: str) -> None:
    """-x to minimise, x <= 4, x + y <= 3, 0 <= y <= 1, the row under that name or in a block of that name: -3."""
    for inner in (False, True):
        m = pyo.ConcreteModel()
        m.part = pyo.Block([1])
        block = m.part[1]
        block.x = pyo.Var(bounds=(0, 4))
        block.add_component(f"{name}_2", pyo.Var(bounds=(0, 1)))
        row = pyo.Constraint(expr=block.x + block.component(f"{name}_2") <= 3)
        if inner:
            block.add_component(name, pyo.Block([5]))
            block.component(name)[5].row = row
        else:
            block.add_component(name, row)
        block.cost = pyo.Objective(expr=-block.x)
        found = transform(block)
        assert models.solve(found.model).objective == pytest.approx(-3)
        point = found.recover(duals=models.duals(found.model), load=True)
        assert pyo.value(block.cost) == pytest.approx(-3)
        assert point.duals[row] == pytest.approx(-1)


def test_ratios_of_a_member_of_an_indexed_block() -> None:
    m = indexed_block(lambda x: (x[1] + 2 * x[2]) / (1 + x[1]))
    found = charnes_cooper(m.part[2])
    models.solve(found.model)
    found.recover(load=True)
    assert pyo.value(m.part[2].worth) == pytest.approx(8)
    least = pyo.ConcreteModel()
    least.part = pyo.Block([1])
    least.part[1].x = pyo.Var(bounds=(0, 1))
    least.part[1].cost = pyo.Objective(expr=2 / (1 + least.part[1].x) + (1 + least.part[1].x) / 2)
    sum_of_ratios(least.part[1], epsilon=0.1).recover(load=True)
    assert 2 <= pyo.value(least.part[1].cost) <= 2.2


@pytest.mark.parametrize("transform", [relax, lift_bounds, dual, standard_form])
def test_what_an_inactive_block_holds(transform: Any) -> None:
    """A row has its variables with the factor 0: they need values. Bounds that cross say nothing."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 4))
    m.off = pyo.Block()
    m.off.named, m.off.other = pyo.Var(bounds=(2, 5)), pyo.Var(bounds=(3, 1))
    m.row = pyo.Constraint(expr=m.x + 0 * m.off.named + 0 * m.off.other <= 3)
    m.worth = pyo.Objective(expr=m.x, sense=pyo.maximize)
    m.off.deactivate()
    found = transform(m)
    models.solve(found.model)
    found.recover(duals=models.duals(found.model), load=True)
    assert (m.x.value, m.off.named.value, pyo.value(m.row.body)) == (pytest.approx(3), 2, pytest.approx(3))
    m.off.named.set_value(None)
    assert models.solve(m).objective == pytest.approx(3)
    assert (m.off.named.value, list(models.residuals(m).values())) == (2, [0])


@pytest.mark.parametrize("transform", [relax, lift_bounds])
@pytest.mark.parametrize("domain", [pyo.Any, SEMICONTINUOUS], ids=str)
def test_domain_with_gaps_refused(transform: Any, domain: Any) -> None:
    with pytest.raises(TransformationRefused, match="variable 'x' has the domain"):
        transform(one(domain=domain))


def test_lift_refuses_what_unfixing_makes_nonlinear() -> None:
    m = one()
    m.y = pyo.Var(initialize=2)
    m.y.fix()
    m.product = pyo.Constraint(expr=m.x * m.y <= 4)
    with pytest.raises(TransformationRefused, match="'product' is linear only while"):
        lift_bounds(m)
    with pytest.raises(TransformationRefused, match="'product' is linear only while"):
        pyo.TransformationFactory("dlsched.lift_bounds").apply_to(m)
    assert m.y.fixed
    assert m.y.value == 2


def test_lift_refuses_fixed_without_value_and_strides() -> None:
    m = one()
    m.x.fixed = True
    with pytest.raises(TransformationRefused, match="variable 'x' is fixed but has no value"):
        lift_bounds(m)
    even = pyo.RangeSet(0, 10, 2)
    even.construct()
    with pytest.raises(TransformationRefused, match="not all the integers"):
        lift_bounds(one(domain=even))


def summed(model: Any) -> Any:
    return sum_of_ratios(model, epsilon=0.1)


def _quotient(m: Any, value: Any) -> None:
    m.cost.set_value((m.x + value) / (m.y + 1))


WITHOUT_VALUE = {
    "objective": _quotient,
    "row": lambda m, value: m.add_component("more", pyo.Constraint(expr=(m.x + value) / (value + 1) <= 3)),
    "side": lambda m, value: m.add_component("more", pyo.Constraint(expr=m.x <= value)),
}


@pytest.mark.parametrize("place", WITHOUT_VALUE)
@pytest.mark.parametrize("kind", ["variable", "parameter"])
@pytest.mark.parametrize("refused", [solve, dual, standard_form, charnes_cooper, summed, lift_bounds])
def test_what_has_no_value_is_named(refused: Any, kind: str, place: str) -> None:
    m = one(bounds=(1, 2))
    m.y, m.z, m.p = pyo.Var(bounds=(1, 2)), pyo.Var(), pyo.Param(["k"], mutable=True)
    m.z.fix()
    WITHOUT_VALUE[place](m, m.z if kind == "variable" else m.p["k"])
    words = r"z'?:? is fixed (and|but) has no value" if kind == "variable" else r"^p\[k\]: has no value$"
    if kind == "parameter":
        m.z.unfix()
    with pytest.raises(ValueError, match=words):
        refused(m)


@pytest.mark.parametrize("bound", ["nan", "no value"])
def test_a_bound_that_is_no_number_is_refused_before_anything_is_lifted(bound: str) -> None:
    m = one(bounds=(0, 4))
    m.p = pyo.Param(mutable=True)
    m.y = pyo.Var(bounds=(m.p if bound == "no value" else math.nan, 1))
    for lift in (lift_bounds, pyo.TransformationFactory("dlsched.lift_bounds").apply_to):
        with pytest.raises(TransformationRefused, match="p: has no value" if bound == "no value" else "Var 'y'"):
            lift(m)
    assert m.x.bounds == (0, 4)


def test_recover_refuses_a_foreign_model() -> None:
    with pytest.raises(InputError, match="does not come from"):
        pyo.TransformationFactory("dlsched.lp_relaxation").recover(one())


def test_transformed_model_can_be_cloned_and_transformed_by_pyomo() -> None:
    created = pyo.TransformationFactory("dlsched.lp_relaxation").create_using(knapsack())
    assert solve(created.clone()).objective == pytest.approx(240)
    dual = pyo.TransformationFactory("dlsched.lp_dual").create_using(created)
    assert solve(dual).objective == pytest.approx(240)


REGISTRATION = {
    "pyomo first": "import pyomo.environ as pyo; import dlsched.relaxations",
    "pyomo last": "import dlsched.relaxations; import pyomo.environ as pyo",
    "part of pyomo first": "import pyomo.core; import dlsched.relaxations; import pyomo.environ as pyo",
    "part of pyomo last": "import dlsched.relaxations; import pyomo.core; import pyomo.environ as pyo",
    "models first": "import dlsched.models; import pyomo.environ as pyo; import dlsched.relaxations",
    "models between": "import dlsched.relaxations; from dlsched.models import solve; import pyomo.environ as pyo",
    "a module": "import dlsched.relaxations.lp; import pyomo.environ as pyo",
    "pyomo looked for": (
        "import dlsched.relaxations, importlib.util; assert importlib.util.find_spec('pyomo.environ');"
        "import pyomo.environ as pyo"
    ),
    "a name": "from dlsched.relaxations import standard_form; import pyomo.environ as pyo",
    "an attribute": "import dlsched.relaxations as room; room.relax; import pyomo.environ as pyo",
    "lazily, before": "from dlsched.lazy import pyo; import dlsched.relaxations",
    "lazily, after": "import dlsched.relaxations; from dlsched.lazy import pyo",
    "lazily, used before": "from dlsched.lazy import pyo; pyo.Var; import dlsched.relaxations",
    "lazily, both": "import dlsched.relaxations; from dlsched.lazy import pyo; pyo.Var; import pyomo.environ as pyo",
    "another part of dlsched": "import dlsched.rounding; import pyomo.environ as pyo; import dlsched.relaxations",
}


REGISTERED = """
names = "dlsched.lp_relaxation", "dlsched.lift_bounds", "dlsched.lp_dual", "dlsched.charnes_cooper"
assert all(pyo.TransformationFactory(name) is not None for name in names)
m = pyo.ConcreteModel()
m.x = pyo.Var(bounds=(0, 2))
m.worth = pyo.Objective(expr=3 * m.x, sense=pyo.maximize)
dual = pyo.TransformationFactory("dlsched.lp_dual").create_using(m)
from dlsched.models import solve
assert solve(dual).objective == 6
"""


LOADED = """
import highspy, numpy, pydantic, scipy.stats

assert not {"pyomo", "dlsched"} & sys.modules.keys()
"""


@pytest.mark.slow
def test_registered() -> None:
    scripts = {case: f"{imports}\n{REGISTERED}" for case, imports in REGISTRATION.items()}
    found, told = failed(LOADED, scripts)
    assert found == [], told


def test_room_imports_without_pyomo() -> None:
    script = "import sys, dlsched.relaxations; assert 'pyomo' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.slow
def test_each_name_in_a_fresh_process() -> None:
    """With the module of the name imported before it: what Pyomo brings has no part in it."""
    modules = {"relax": "lp", "lift_bounds": "lp", "dual": "dual", "standard_form": "standard_form"}
    script = "import dlsched.relaxations.{}; from dlsched.relaxations import {}; assert callable({})"
    found, told = failed(
        "import pyomo.environ", {name: script.format(module, name, name) for name, module in modules.items()}
    )
    assert found == [], told


@pytest.mark.parametrize("row", [lambda m: m.x * m.z**-1, lambda m: m.x / m.z, lambda m: m.x * m.z**2], ids="abc")
@pytest.mark.parametrize("where", ["row", "objective"])
def test_lift_refuses_what_is_linear_only_while_a_variable_is_fixed(row: Any, where: str) -> None:
    m = pyo.ConcreteModel()
    m.x, m.z = pyo.Var(bounds=(0, 4)), pyo.Var(initialize=2)
    m.z.fix()
    m.row = pyo.Constraint(expr=(row(m) if where == "row" else m.x) <= 6)
    m.objective = pyo.Objective(expr=row(m) if where == "objective" else m.x, sense=pyo.maximize)
    with pytest.raises(TransformationRefused, match=f"^'{where}' is linear only while some of its variables are fixed"):
        lift_bounds(m)
    assert m.z.fixed


@pytest.mark.parametrize("constant", [0, 1])
def test_lift_takes_factors_of_0_below_a_power(constant: int) -> None:
    """(p x + 2)^2 y with p = 0 in the objective: it is 4 y, whatever x is, which has no value."""
    m = pyo.ConcreteModel()
    m.p = pyo.Param(initialize=0, mutable=True)
    m.x, m.y = pyo.Var(bounds=(0, 4)), pyo.Var(bounds=(0, 4))
    m.row = pyo.Constraint(expr=m.x + m.y <= 6)
    m.objective = pyo.Objective(expr=(m.p * m.x + 2) ** 2 * m.y + constant, sense=pyo.maximize)
    assert models.solve(lift_bounds(m).model).objective == pytest.approx(16 + constant)
