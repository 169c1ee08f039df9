"""Every transformation on every model of the conformance suite, and that the suite finds what is broken."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import pyomo.environ as pyo
import pytest
from pyomo.gdp import Disjunct

from dlsched.relaxations import Point, Recovery, conformance, conformance_cases, dual, lift_bounds, relax
from dlsched.relaxations.conformance import Case, Kind, Relation, Trait, Transformation, cases, check, check_all
from dlsched.relaxations.lp import LiftedBounds
from dlsched.solvers.matrix import compile_model

from .cases import CASES, KNOWN, ON_ARRAYS
from .solving import solve, solve_matrix


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case.name)
def test_known_optima(case: Case) -> None:
    relaxed = case.optimum if case.relaxed is None else case.relaxed
    assert solve(case.build()).objective == pytest.approx(case.optimum)
    assert solve_matrix(compile_model(case.build()).relaxed()).objective == pytest.approx(relaxed)


@pytest.mark.slow
@pytest.mark.parametrize("transformation", [*CASES, *ON_ARRAYS], ids=str)
def test_every_case(transformation: Transformation) -> None:
    check_all(transformation)


def changes_the_source(model: Any) -> Any:
    model.add_component("trace", pyo.Var())
    return lift_bounds(model)


def loses_a_row(model: Any) -> Any:
    result = lift_bounds(model)
    result.model.plant[3].deactivate()
    return result


class Shifts(LiftedBounds):
    """Recovers a point beside the right one."""

    __slots__ = ()

    def recover(self, x: Any = None, duals: Any = None, *, load: bool = False) -> Point:
        point = LiftedBounds.recover(self, x, duals)
        for variable, value in point.values.items():
            point.values[variable] = value + 1
            if load:
                variable.set_value(value + 1)
        return point


class Narrow(LiftedBounds):
    """Has a recover of its own."""

    __slots__ = ()

    def recover(self, values: Any) -> Point:  # type: ignore[override]
        return LiftedBounds.recover(self, values)


class Spills(LiftedBounds):
    """Fixes what it loads."""

    __slots__ = ()

    def recover(self, x: Any = None, duals: Any = None, *, load: bool = False) -> Point:
        point = LiftedBounds.recover(self, x, duals, load=load)
        if load:
            for variable in point.values:
                variable.fix()
        return point


def as_a(kind: type[LiftedBounds]) -> Any:
    def transform(model: Any) -> Any:
        result = copy(lift_bounds(model))
        object.__setattr__(result, "__class__", kind)
        return result

    return transform


BROKEN = {
    "changes the source": (changes_the_source, "the source is changed"),
    "loses a row": (loses_a_row, "the optimum is 36, the new model's is worth 42"),
    "recovers another point": (as_a(Shifts), "the recovered point breaks"),
    "another signature": (as_a(Narrow), "recover takes"),
    "fixes what it loads": (as_a(Spills), "loading changes whether"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_found(name: str) -> None:
    transform, message = BROKEN[name]
    with pytest.raises(AssertionError, match=message):
        check_all(Transformation(transform, name), among=cases(Kind.MODEL)[:1])


def test_false_promises_are_found() -> None:
    knapsack = next(case for case in cases() if case.name == "knapsack")
    promised = Transformation(relax, refuses=frozenset())
    with pytest.raises(AssertionError, match="the optimum is 220, the new model's is worth 240"):
        check(promised, knapsack)
    check(replace(promised, relation=Relation.BOUND), knapsack)
    with pytest.raises(AssertionError, match="it has integer variables, but is not refused"):
        check(replace(promised, refuses=frozenset({Trait.INTEGER})), knapsack)
    with pytest.raises(AssertionError, match="dual refuses knapsack: variable"):
        check(Transformation(dual, refuses=frozenset(), dualises=True), knapsack)


class Forgets(LiftedBounds):
    """Leaves out what is 0."""

    __slots__ = ()

    def recover(self, x: Any = None, duals: Any = None, *, load: bool = False) -> Point:
        point = LiftedBounds.recover(self, x, duals, load=load)
        return replace(point, values=pyo.ComponentMap((v, value) for v, value in point.values.items() if value))


def test_a_point_has_all_variables() -> None:
    transportation = next(case for case in cases() if case.name == "transportation")
    with pytest.raises(AssertionError, match=r"^forgets on transportation .*: the recovered point has no value of x\["):
        check(Transformation(as_a(Forgets), "forgets"), transportation)


def test_a_bound_may_be_better_than_the_continuous_relaxation() -> None:
    """Of three items two fit at most, by which the relaxation of the knapsack is worth 220 and not 240."""
    knapsack = next(case for case in cases() if case.name == "knapsack")

    def cut(model: Any, room: float = 2) -> Any:
        relaxed = relax(model)
        relaxed.model.add_component(
            f"cut{len(list(model.component_objects(pyo.Constraint)))}",
            pyo.Constraint(expr=sum(_items(relaxed)) <= room),
        )
        return relaxed

    def loosened(model: Any) -> Any:
        relaxed = relax(model)
        for variable in _items(relaxed):
            variable.setub(2)
        return relaxed

    promised = Transformation(cut, relation=Relation.BOUND, refuses=frozenset())
    check(promised, knapsack)
    with pytest.raises(AssertionError, match="the relaxed optimum is 240, not "):
        check(replace(promised, transform=loosened), knapsack)


def _items(result: Any) -> list[Any]:
    return list(result.model.component_data_objects(pyo.Var))


def test_a_bound_of_what_is_not_linear() -> None:
    """Nothing is known of its optimum, but what is recovered has to satisfy it; McCormick's (4/3, 4/3) does not."""
    product = next(case for case in cases() if case.name == "product")

    def mccormick(model: Any) -> Any:
        copied = model.clone()
        if copied.component("area") is not None:
            copied.area.set_value(2 * copied.x[1] + copied.x[2] >= 4)
        return Copy(copied, model)

    with pytest.raises(AssertionError, match="the recovered point breaks area by "):
        check(Transformation(mccormick, relation=Relation.BOUND, refuses=frozenset(), duals=False), product)


def test_what_a_transformation_raises_says_of_which_case() -> None:
    def broken(model: Any) -> Any:
        raise RuntimeError(model.name)

    with pytest.raises(RuntimeError) as error:
        check_all(Transformation(broken))
    assert error.value.__notes__ == [f"broken on {cases(Kind.MODEL)[0].name}"]


@dataclass(frozen=True)
class Copy:
    """A result as an outsider writes it: without a class of ours."""

    model: Any
    source: Any

    def recover(self, x: Any = None, duals: Any = None, *, load: bool = False) -> Point:
        values = pyo.ComponentMap()
        for twin, own in self._pairs(pyo.Var):
            value = twin.value if x is None else x.get(twin)
            if value is not None:
                values[own] = value
        if x and not values:
            raise ValueError("these are another model's variables")
        rows = ((own, duals[twin]) for twin, own in self._pairs(pyo.Constraint) if duals and twin in duals)
        point = Point(values, pyo.ComponentMap(rows))
        if load:
            point.load()
        return point

    def _pairs(self, ctype: Any) -> Any:
        """Pair by name: over an unordered index set, a component and its copy iterate in different orders."""
        twins, own = (
            {datum.name: datum for datum in model.component_data_objects(ctype, descend_into=(pyo.Block, Disjunct))}
            for model in (self.model, self.source)
        )
        return [(twin, own[name]) for name, twin in twins.items()]


@pytest.mark.slow
def test_a_new_transformation_is_checked_in_a_line() -> None:
    inside = [case for case in cases(Kind.MODEL) if Trait.OUTSIDE not in case.traits]
    check_all(Transformation(lambda model: Copy(model.clone(), model), refuses=frozenset()), inside)


@dataclass(frozen=True, eq=False)
class Misprices(Recovery[Point]):
    """Changes the reduced costs of another result."""

    right: Any
    wrong: Callable[[float], float]

    @property
    def model(self) -> Any:
        return self.right.model

    @property
    def source(self) -> Any:
        return self.right.source

    def _recovered(self, x: Any, duals: Any) -> Point:
        point = self.right.recover(x, duals)
        costs = ((variable, self.wrong(cost)) for variable, cost in point.reduced_costs.items())
        return replace(point, reduced_costs=pyo.ComponentMap(costs))


PRICED = [one for one in CASES if str(one) != "relax"]


@pytest.mark.parametrize("transformation", PRICED, ids=str)
@pytest.mark.parametrize(
    "wrong",
    [
        lambda cost: -1000 - cost,
        lambda cost: -cost,
        lambda cost: 2 * cost,
        lambda cost: cost + 0.01,
        lambda cost: float("nan"),
    ],
    ids=["far off", "the other sign", "twice", "a little off", "NaN"],
)
def test_reduced_costs_that_are_wrong_are_found(transformation: Transformation, wrong: Any) -> None:
    broken = replace(transformation, transform=lambda model: Misprices(transformation.transform(model), wrong))
    cheap = next(case for case in cases() if case.name == "transportation")
    with pytest.raises(AssertionError, match=r"reduced cost"):
        check(replace(broken, pyomo_name=""), cheap)


@pytest.mark.parametrize("module", [conformance, conformance_cases], ids=["suite", "cases"])
def test_what_is_broken_is_found_without_asserts_too(module: ModuleType) -> None:
    """``python -O`` leaves asserts out: what the suite finds, it raises."""
    assert not any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(inspect.getsource(module))))
