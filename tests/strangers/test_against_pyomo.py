"""The dual of strangers' models, by dlsched and by Pyomo's own `core.lp_dual`: who is right, on which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyomo.environ as pyo
import pytest

from dlsched.models import solve
from dlsched.relaxations import dual, relax
from tests import paths

from . import STRANGERS
from .stranger import INTEGER, Stranger

COMPARED = [s for s in STRANGERS if s.traits <= INTEGER]
"""The linear models; those with integers are relaxed first."""

PYOMO_IS_RIGHT = {
    "transport",
    "blending",
    "pipes",
    "line_fit",
    "game",
    "goals",
    "polygon",
    "farmer",
    "plants",
    "leontief",
    "potentials",
    "lots",
    "bins",
    "cover",
    "colours",
    "pipeline_expanded",
    "tank_discretised",
    "market_disjunctive",
    "latin_with_objective",
    "switched",
    "slices",
    "shifts",
}
"""With Pyomo 6.10.1, whose `core.lp_dual` does not read variables' bounds, fixings, and the objective's constant.

It is right where none of these decides the optimum. It prices the infinite side of a row, too (`diet`).
"""


def pyomo_dual(stranger: Stranger) -> Any:
    model = stranger.build()
    pyo.TransformationFactory("core.relax_integer_vars").apply_to(model)
    return pyo.TransformationFactory("core.lp_dual").create_using(model)


def own_dual(stranger: Stranger) -> Any:
    return dual(relax(stranger.build()).model).model


def is_right(stranger: Stranger, dual_of: Callable[[Stranger], Any]) -> bool:
    """Tell whether a dual has the optimum of the model, or of its relaxation; one that cannot be built has none."""
    optimum = stranger.relaxed if stranger.traits else stranger.optimum
    try:
        found = solve(dual_of(stranger)).objective
    except ValueError:
        return False
    return found is not None and found == pytest.approx(optimum)


@pytest.mark.slow
@pytest.mark.parametrize("stranger", COMPARED, ids=lambda case: case.name)
def test_dual_of_either(stranger: Stranger) -> None:
    assert is_right(stranger, own_dual)
    assert is_right(stranger, pyomo_dual) == (stranger.name in PYOMO_IS_RIGHT)


@pytest.mark.parametrize("page", ["README.md", "docs/transformations/dual.md"])
def test_pages_say_how_many(page: str) -> None:
    text = " ".join((paths.ROOT / page).read_text(encoding="utf-8").split())
    assert f"is right on all {len(COMPARED)} of them" in text
    assert f"`core.lp_dual` is right on {len(PYOMO_IS_RIGHT)}" in text
    assert f"are {len(STRANGERS)} Pyomo models" in text


def bounded() -> Any:
    """The example of Pyomo's issue 3838: at most 4 and 10, 14."""
    m = pyo.ConcreteModel()
    m.x1 = pyo.Var(domain=pyo.NonNegativeReals, bounds=(1, 4))
    m.x2 = pyo.Var(domain=pyo.Reals)
    m.con1 = pyo.Constraint(expr=m.x2 <= 10)
    m.obj = pyo.Objective(expr=m.x1 + m.x2, sense=pyo.maximize)
    return m


def test_bounds_of_a_variable_in_no_row() -> None:
    with pytest.raises(ValueError, match="does not have a proper value"):
        pyo.TransformationFactory("core.lp_dual").create_using(bounded())
    result = dual(bounded())
    assert solve(result.model).objective == pytest.approx(14)


def ranged() -> Any:
    """The example of Pyomo's issue 3843: the bounds of 3838 as a row between two sides."""
    m = bounded()
    m.x1.setlb(0)
    m.x1.setub(None)
    m.range = pyo.Constraint(expr=(1, m.x1, 4))
    return m


def test_a_range_has_one_price() -> None:
    """Of Pyomo's two dual variables of the row, the row leads to one only; here the row has the price of both."""
    model = ranged()
    pyomo = pyo.TransformationFactory("core.lp_dual")
    new = pyomo.create_using(model)
    leading = [v for v in new.x.values() if pyomo.get_primal_constraint(new, v) is model.range]
    assert len(leading) == 2
    assert sum(pyomo.get_dual_var(new, model.range) is v for v in leading) == 1
    result = dual(model)
    assert solve(result.model).objective == pytest.approx(14)
    prices = result.recover().duals
    assert prices[model.range] == pytest.approx(1)
    assert prices[model.con1] == pytest.approx(1)
