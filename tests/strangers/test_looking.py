"""What `explain` and `inspect` say of strangers' models, held against Pyomo's own counts and against SCIP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyomo.environ as pyo
import pyscipopt
import pytest
from pyomo.util.model_size import build_model_size_report

from dlsched.models import Conflict, explain, inspect
from tests.longer import longer

from . import LINEAR, STRANGERS, WHOLE
from .beyond import job_shop, reactors, tank
from .stranger import INTEGER, Stranger

by_name = {"ids": lambda case: case.name}
EXPLAINED = [s for s in STRANGERS if s.traits <= INTEGER or s.build in (job_shop, reactors)]
"""Linear, the either-or included, which `explain` writes with binaries itself."""

NOT_EXPLAINED = [s for s in STRANGERS if s not in EXPLAINED and s.optimum is not None]


def objective_of(model: Any) -> Any:
    return next(model.component_data_objects(pyo.Objective, active=True))


@pytest.mark.parametrize("stranger", EXPLAINED, **by_name)
def test_optimum_is_explained(stranger: Stranger) -> None:
    model = stranger.build()
    told = explain(model)
    assert told.conflict is None
    assert told.objective == pytest.approx(stranger.optimum)
    sense = int(objective_of(model).sense)
    for side in (*told.binding, *told.bounds):
        assert side.dual * sense * (1 if side.sense == ">=" else -1) > 0, side


@pytest.mark.parametrize("stranger", LINEAR, **by_name)
def test_what_binds_makes_the_optimum(stranger: Stranger) -> None:
    """Strong duality: the duals times their limits, and what the objective is where all free variables are 0."""
    model = stranger.build()
    told = explain(model)
    for variable in model.component_data_objects(pyo.Var):
        if not variable.fixed:
            variable.set_value(0, skip_validation=True)
    constant = pyo.value(objective_of(model))
    assert constant + sum(s.dual * s.limit for s in (*told.binding, *told.bounds)) == pytest.approx(stranger.optimum)


@pytest.mark.parametrize("stranger", NOT_EXPLAINED, **by_name)
def test_what_cannot_be_explained_is_refused_in_a_line(stranger: Stranger) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        explain(stranger.build())
    assert "\n" not in str(caught.value)
    assert stranger.culprit.strip("'") in str(caught.value)


def better(stranger: Stranger) -> Any:
    """Return the model with one more row, which no point satisfies: it asks for more than the optimum."""
    model = stranger.build()
    objective = objective_of(model)
    more = 1 + 0.01 * abs(stranger.optimum)
    if objective.sense == pyo.maximize:
        model.better = pyo.Constraint(expr=objective.expr >= stranger.optimum + more)
    else:
        model.better = pyo.Constraint(expr=objective.expr <= stranger.optimum - more)
    return model


def alone(model: Any, conflict: Conflict, without: int | None = None) -> Any:
    """Keep of a model the sides of a conflict, perhaps but one, and which variables are binary or start at 0."""
    kept = {(side.name, side.sense) for k, side in enumerate(conflict.sides) if k != without}
    for row in model.component_data_objects(pyo.Constraint, active=True):
        lower = row.lb if (row.name, ">=") in kept else None
        upper = row.ub if (row.name, "<=") in kept else None
        if lower is None and upper is None:
            row.deactivate()
        else:
            row.set_value(pyo.inequality(lower, row.body, upper))
    for variable in model.component_data_objects(pyo.Var):
        lower, upper = variable.bounds
        binary = variable.is_binary()
        if not conflict.integers and not variable.fixed:
            variable.domain = pyo.Reals
        variable.setlb(lower if lower == 0 or (variable.name, ">=") in kept else None)
        variable.setub(upper if binary or (variable.name, "<=") in kept else None)
    objective_of(model).set_value(0)
    return model


def has_a_point(model: Any, folder: Path) -> bool:
    file = str(folder / "model.lp")
    model.write(file)
    scip = pyscipopt.Model()
    scip.hideOutput()
    scip.readProblem(file)
    scip.optimize()
    assert scip.getStatus() in ("optimal", "infeasible")
    return bool(scip.getStatus() == "optimal")


OTHERS = [s for n, s in enumerate((*LINEAR, *WHOLE)) if n % 3]
"""Two of three: all together take ten seconds."""


@pytest.mark.slow
@pytest.mark.parametrize("stranger", longer((*LINEAR, *WHOLE), *OTHERS), **by_name)
def test_conflict_is_one_and_irreducible(stranger: Stranger, tmp_path: Path) -> None:
    conflict = explain(better(stranger)).conflict
    assert conflict is not None
    assert conflict.irreducible
    assert "better" in {side.name for side in conflict.sides}
    assert not has_a_point(alone(better(stranger), conflict), tmp_path)
    for k in range(len(conflict.sides)):
        assert has_a_point(alone(better(stranger), conflict, without=k), tmp_path), conflict.sides[k]


@pytest.mark.parametrize("stranger", [s for s in STRANGERS if s.build is not tank], **by_name)
def test_inspect_counts_as_pyomo_does(stranger: Stranger) -> None:
    """But for a derivative, which Pyomo counts as a variable before there are equations for it."""
    model = stranger.build()
    seen, counted = inspect(model), build_model_size_report(stranger.build()).activated
    assert (seen.rows, seen.disjunctions) == (counted.constraints, counted.disjunctions)
    assert seen.binary + seen.integer + seen.continuous >= counted.variables


HAND_COUNTED = {
    "transport": (7, 24, 0, 0, 12),
    "diet": (2, 8, 0, 0, 4),
    "pipes": (12, 20, 0, 0, 8),
    "farmer": (13, 33, 0, 0, 21),
    "plants": (5, 10, 0, 0, 4),
    "staffing": (4, 6, 0, 0, 6),
    "knapsack": (1, 4, 4, 0, 0),
    "assignment": (8, 32, 16, 0, 0),
    "tour": (22, 76, 20, 5, 0),
    "budget": (2, 5, 0, 3, 0),
}
"""Rows, nonzeros, binary, integer and continuous variables; fixed ones stand in no row, and are variables still."""


@pytest.mark.parametrize("stranger", [s for s in STRANGERS if s.name in HAND_COUNTED], **by_name)
def test_inspect_counts_as_one_does_by_hand(stranger: Stranger) -> None:
    seen = inspect(stranger.build())
    counts = seen.rows, seen.nonzeros, seen.binary, seen.integer, seen.continuous
    assert counts == HAND_COUNTED[stranger.name]
    assert str(seen)
