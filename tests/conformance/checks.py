"""What every transformation has to satisfy, on any model."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
import pytest

from dlsched.models.matrix import compile_model

from .cases import Case
from .snapshot import snapshot
from .solving import assert_feasible, assert_optimal_duals, solve, solve_matrix

_DUAL_STATUS = {"optimal": {"optimal"}, "infeasible": {"infeasible", "unbounded"}, "unbounded": {"infeasible"}}


def sense(model: Any) -> int:
    objective = next(model.component_data_objects(pyo.Objective, active=True))
    return int(objective.sense)


def check_source_unchanged(case: Case, model: Any) -> None:
    """Transforming, solving the result and recovering leave the source as it was."""
    before = snapshot(model)
    result = case.transform(model)
    solved = solve(result.model)
    if solved.status == "optimal":
        result.recover(solved.values, solved.duals)
    assert snapshot(model) == before
    if case.pyomo_name:
        pyo.TransformationFactory(case.pyomo_name).create_using(model)
        assert snapshot(model) == before


def check_status_and_objective(case: Case, model: Any) -> str:
    """The optimum is the source's, or a bound on its right side; without one, the statuses correspond."""
    source, new = solve(model), solve(case.transform(model).model)
    if case.dualises:
        assert new.status in _DUAL_STATUS[source.status]
    elif not case.relaxes:
        assert new.status == source.status
    elif source.status != "infeasible":
        assert new.status != "infeasible"
    if source.status == new.status == "optimal":
        value = case.value(sense(model), new.objective)
        slack = 1e-6 * max(1.0, abs(source.objective))
        if case.relaxes:
            assert sense(model) * (value - source.objective) <= slack
        else:
            assert abs(value - source.objective) <= slack
    return source.status


def check_maps_back(case: Case, model: Any) -> None:
    """The recovered point is feasible with the same objective, the recovered duals prove it optimal."""
    result = case.transform(model)
    solved = solve(result.model)
    if solved.status != "optimal":
        return
    point = result.recover(solved.values, solved.duals)
    matrix = compile_model(model)
    if case.relaxes:
        matrix = matrix.relaxed()
    assert_feasible(matrix, point, case.value(sense(model), solved.objective))
    if solved.duals is not None and not matrix.integer.any():
        assert_optimal_duals(matrix, point)


def check_loads(case: Case, model: Any) -> None:
    """``load=True`` sets the source's variables to the recovered values and nothing else."""
    for variable in model.component_data_objects(pyo.Var, active=None):
        if variable.value is None:
            variable.set_value(0, skip_validation=True)
    result = case.transform(model)
    solved = solve(result.model)
    if solved.status != "optimal":
        return
    before = {v.name: (v.fixed, v.value) for v in model.component_data_objects(pyo.Var, active=None)}
    point = result.recover(solved.values, solved.duals, load=True)
    for variable in model.component_data_objects(pyo.Var, active=None):
        was_fixed, old = before[variable.name]
        assert variable.fixed == was_fixed
        expected = old if was_fixed else point.values.get(variable, old)
        assert variable.value == expected
    objective = next(model.component_data_objects(pyo.Objective, active=True))
    assert pyo.value(objective) == pytest.approx(case.value(sense(model), solved.objective), rel=1e-6, abs=1e-6)


def check_pyomo_routes(case: Case, model: Any) -> None:
    """The registered transformation gives the function's model, out of place and, if it can, in place."""
    result = case.transform(model)
    expected = snapshot(result.model)
    transformation = pyo.TransformationFactory(case.pyomo_name)
    created = transformation.create_using(model)
    assert snapshot(created) == expected
    solved = solve(created)
    if solved.status == "optimal":
        point = transformation.recover(created, solved.values, solved.duals)
        assert_feasible(
            compile_model(model).relaxed() if case.relaxes else compile_model(model), point, solved.objective
        )
    copy = model.clone()
    if case.in_place:
        transformation.apply_to(copy)
        assert snapshot(copy) == expected
    else:
        with pytest.raises(ValueError, match="create_using"):
            transformation.apply_to(copy)
        assert snapshot(copy) == snapshot(model)


def check_twice(case: Case, model: Any) -> None:
    """Transforming the result again, as any user's model, keeps its optimum."""
    once = case.transform(model).model
    twice = case.transform(once).model
    first, second = solve(once), solve(twice)
    if first.status == "optimal":
        assert second.status == "optimal"
        assert case.value(sense(once), second.objective) == pytest.approx(first.objective, rel=1e-6, abs=1e-6)


def check_matrix(result: Any) -> None:
    """The arrays of a standard form are its Pyomo model."""
    arrays, model = solve_matrix(result.matrix), solve(result.model)
    assert arrays.status == model.status
    if arrays.status == "optimal":
        assert arrays.objective == pytest.approx(model.objective, rel=1e-6, abs=1e-6)
