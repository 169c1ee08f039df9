"""What is particular to the dual: names, signs, and the models on which Pyomo's own dual goes wrong."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
import pytest

from dlsched.models import InputError
from dlsched.relaxations import TransformationRefused, dual, lift_bounds, relax, standard_form, to_cvxpy
from dlsched.relaxations.conformance_cases import Case, plants, ranges, wyndor
from tests.relaxations.conformance.cases import KNOWN
from tests.relaxations.conformance.solving import solve

CONTINUOUS = [case for case in KNOWN if not case.traits]


def bounded(constant: float) -> Any:
    """max x + constant over 2 x <= 10 and the binding bound x <= 1."""
    m = pyo.ConcreteModel(name="bounded")
    m.x = pyo.Var(bounds=(0, 1))
    m.row = pyo.Constraint(expr=2 * m.x <= 10)
    m.value = pyo.Objective(expr=m.x + constant, sense=pyo.maximize)
    return m


@pytest.mark.parametrize("place", ["c", "objective"])
@pytest.mark.parametrize("transform", [dual, standard_form, to_cvxpy])
def test_what_is_no_number_is_refused_by_name(place: str, transform: Any) -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 4))
    m.c = pyo.Constraint(expr=(float("nan") if place == "c" else 1) * m.x >= 1)
    m.total = pyo.Objective(expr=(float("nan") if place == "objective" else 1) * m.x)
    with pytest.raises(TransformationRefused, match=rf"^{place}: the coefficient of x is nan"):
        transform(m)


@pytest.mark.parametrize(("constant", "optimum"), [(0, 1), (5, 6), (0.5, 1.5)])
def test_binding_bound_and_constant(constant: float, optimum: float) -> None:
    assert solve(bounded(constant)).objective == pytest.approx(optimum)
    assert solve(dual(bounded(constant)).model).objective == pytest.approx(optimum)


def test_pyomo_dual_is_wrong_without_lifting() -> None:
    """The bound is invisible to core.lp_dual, which gives 5; this pins why the dual here is built from the arrays."""
    core = pyo.TransformationFactory("core.lp_dual")
    assert solve(core.create_using(bounded(0))).objective == pytest.approx(5)
    assert solve(core.create_using(lift_bounds(bounded(0)).model)).objective == pytest.approx(1)


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case.name)
def test_pyomo_dual_is_right_after_lifting(case: Case) -> None:
    lifted = lift_bounds(relax(case.build()).model).model
    core = pyo.TransformationFactory("core.lp_dual").create_using(lifted)
    assert solve(core).objective == pytest.approx(case.optimum if case.relaxed is None else case.relaxed)


def test_shadow_prices_of_wyndor() -> None:
    result = dual(wyndor())
    solved = solve(result.model)
    prices = {row.index(): price for row, price in result.recover(solved.values).duals.items()}
    assert prices == pytest.approx({1: 0, 2: 1.5, 3: 1})
    assert solved.values[result.model.plant[2]] == pytest.approx(1.5)
    point = result.recover(solved.values, solved.duals)
    assert {v.index(): x for v, x in point.values.items()} == pytest.approx({"doors": 2, "windows": 6})
    assert list(point.reduced_costs.values()) == pytest.approx([0, 0])


def test_names_docs_and_signs() -> None:
    m = dual(wyndor()).model
    assert [v.name for v in m.component_data_objects(pyo.Var)] == ["plant[1]", "plant[2]", "plant[3]"]
    assert [c.name for c in m.component_data_objects(pyo.Constraint)] == ["x[doors]", "x[windows]"]
    assert m.plant.doc == "dual of hours of the plants"
    assert all(v.lb == 0 and v.ub is None for v in m.plant.values())
    assert m.x["doors"].lower == 3
    assert m.x["doors"].upper is None
    assert m.profit.sense == pyo.minimize
    assert sorted(m.plant.index_set()) == [1, 2, 3]


def test_block_structure_is_kept() -> None:
    m = dual(plants()).model
    assert m.plant[1].line.load.ctype is pyo.Var
    assert m.plant[2].make.ctype is pyo.Constraint
    assert m.shared.ub is None
    assert m.component("idle") is None
    assert m.component("skipped") is None


def test_range_row_has_two_variables() -> None:
    m = dual(ranges()).model
    assert (m.total.lb, m.total.ub) == (None, 0)
    assert (m.total_upper.lb, m.total_upper.ub) == (0, None)
    assert m.x.equality


def test_bound_variable_evades_names_of_the_source() -> None:
    m = bounded(0)
    m.x_upper = pyo.Constraint(expr=m.x <= 3)
    new = dual(m).model
    assert new.component("x_upper").doc == "dual of x_upper"
    assert new.component("x_upper_2").doc == "dual of the upper side of x"
    assert solve(new).objective == pytest.approx(1)


def test_mixed_index_lengths() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(pyo.Any, dense=False, domain=pyo.NonNegativeReals)
    m.row = pyo.Constraint(pyo.Any)
    m.row[1] = m.x[1] + m.x["a", 2] >= 2
    m.row["b", 3, 4] = m.x[1] >= 1
    m.cost = pyo.Objective(expr=m.x[1] + 3 * m.x["a", 2])
    new = dual(m).model
    assert solve(new).objective == pytest.approx(2)
    assert set(new.row) == {1, ("b", 3, 4)}


@pytest.mark.parametrize("case", CONTINUOUS, ids=lambda case: case.name)
def test_dual_of_the_dual_has_the_names_of_the_source(case: Case) -> None:
    source = case.build()
    result = dual(source)
    twice = dual(result.model).model
    assert {c.name for c in result.matrix.columns} <= {v.name for v in twice.component_data_objects(pyo.Var)}
    assert {r.name for r in result.matrix.rows} <= {c.name for c in twice.component_data_objects(pyo.Constraint)}
    assert solve(twice).objective == pytest.approx(case.optimum)


def test_weak_duality_at_any_feasible_pair() -> None:
    m, new = wyndor(), dual(wyndor()).model
    for doors, windows in ((0, 0), (4, 3), (2, 6)):
        m.x["doors"], m.x["windows"] = doors, windows
        for prices in ((3, 2.5, 0), (0, 1.5, 1), (3, 0, 2.5)):
            for k, price in enumerate(prices, start=1):
                new.plant[k] = price
            assert all(pyo.value(row.body) >= row.lower for row in new.x.values())
            assert pyo.value(m.profit) <= pyo.value(new.profit)


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_unbounded_source_has_an_infeasible_dual(sense: int) -> None:
    m = pyo.ConcreteModel()
    m.x, m.alone = pyo.Var(), pyo.Var()
    m.row = pyo.Constraint(expr=m.x == 1)
    m.value = pyo.Objective(expr=m.x + m.alone, sense=sense)
    assert solve(dual(m).model).status == "infeasible"


def test_recover_reads_loaded_values_and_refuses_none() -> None:
    result = dual(wyndor())
    with pytest.raises(InputError, match="solve it"):
        result.recover()
    for variable, value in solve(result.model).values.items():
        variable.value = value
    assert list(result.recover().duals.values()) == pytest.approx([0, 1.5, 1])
    assert len(result.recover().values) == 0


def test_suffix_gives_the_primal_point() -> None:
    source = wyndor()
    result = dual(source)
    solved = solve(result.model)
    result.model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    result.model.dual.update(solved.duals)
    result.recover(solved.values, result.model.dual, load=True)
    assert pyo.value(source.profit) == pytest.approx(36)


def refused(model: Any) -> str:
    with pytest.raises(TransformationRefused) as caught:
        dual(model)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_refusals() -> None:
    m = bounded(0)
    m.x.domain = pyo.Binary
    assert refused(m) == "variable 'x' is not continuous: apply relax first"
    m = bounded(0)
    m.square = pyo.Constraint(expr=m.x * m.x <= 1)
    assert "square" in refused(m)
    m = bounded(0)
    m.value.deactivate()
    assert refused(m) == "'bounded' has 0 active objectives; one is needed: add one, or activate it"
    m = bounded(0)
    m.again = pyo.Objective(expr=m.x)
    assert refused(m) == "'bounded' has 2 active objectives; one is needed: deactivate the others"
    m = bounded(0)
    m.x.fix(6)
    assert "row: no variable" in refused(m)
    assert "no point satisfies it" in refused(m)
    m = bounded(0)
    m.idle = pyo.Var(bounds=(2, 1))
    assert refused(m) == "variable 'idle' is to be above 2 and below 1: no point satisfies it"


def test_block_of_a_model() -> None:
    m = pyo.ConcreteModel()
    m.outer = pyo.Var(bounds=(0, 1))
    m.part = bounded(0).clone()
    assert solve(dual(m.part).model).objective == pytest.approx(1)
    m.part.tie = pyo.Constraint(expr=m.part.x <= m.outer)
    assert "declared outside" in refused(m.part)


def test_what_is_fixed_without_a_value_has_none_in_the_point() -> None:
    """Nothing uses it, so the model has optima; the value it has not is not passed off as one."""
    model = pyo.ConcreteModel()
    model.x, model.idle = pyo.Var(bounds=(0, 3)), pyo.Var()
    model.idle.fixed = True
    model.room = pyo.Constraint(expr=2 * model.x <= 8)
    model.worth = pyo.Objective(expr=model.x, sense=pyo.maximize)
    priced, form, bridge = dual(model), standard_form(model), to_cvxpy(model)
    found = solve(priced.model)
    bridge.problem.solve()
    for point in (priced.recover(found.values, found.duals), form.recover(solve(form.model).values), bridge.recover()):
        assert [variable.name for variable in point.values] == ["x"]
        assert point.values[model.x] == pytest.approx(3, abs=1e-6)
