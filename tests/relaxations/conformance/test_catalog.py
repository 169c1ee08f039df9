"""Every transformation on every formulation of the catalog, and P3 against the derived dual of P2."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

from dlsched.models import build, catalog, hadar
from dlsched.relaxations import dual, relax
from dlsched.relaxations.conformance import Case, Trait, Transformation, check
from tests.longer import longer

from .cases import CASES, is_continuous
from .solving import solve

SIZES = {
    "hadar": {"jobs": 2, "machines": 1, "types": 2, "slots": 2},
    "smd": {"jobs": 3, "limit": 5},
    "dmlrs": {"jobs": 2, "machines": 2, "slots": 2, "resources": 1, "capacity": 2},
    "ddljs": {"jobs": 2, "servers": 3, "slots": 1, "workers": 3},
}


def formulation(name: str, seed: int) -> Any:
    """Return a formulation of a small random instance, its disjunctions as big-M."""
    entry = next(entry for entry in catalog() if entry.name == name)
    problem = importlib.import_module(f"dlsched.models.{entry.problem}")
    sizes = SIZES[entry.problem] | ({"asynchronous": True} if name.startswith("dmlrs/async") else {})
    instance = problem.random(np.random.default_rng(seed), **sizes)
    model = build(name, instance)
    return pyo.TransformationFactory("gdp.bigm").create_using(model) if entry.disjunctive else model


NAMES = [entry.name for entry in catalog() if entry.linear]


PAIRS = [(transformation, name) for transformation in CASES for name in NAMES]
OTHERS = [(one, name) for one, name in PAIRS if (CASES.index(one) + NAMES.index(name)) % len(CASES)]
"""All but one of each formulation, so that every transformation and every formulation is tried without them too."""


@pytest.mark.slow
@pytest.mark.parametrize(("transformation", "name"), longer(PAIRS, *OTHERS), ids=str)
def test_formulation(transformation: Transformation, name: str) -> None:
    """On one of two instances, so that every transformation and every formulation meets both."""
    model = formulation(name, 1 + (CASES.index(transformation) + NAMES.index(name)) % 2)
    if Trait.INTEGER in transformation.refuses and not is_continuous(model):
        model = relax(model).model
    check(transformation, Case(model.clone))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_p3_is_the_dual_of_the_relaxed_p2(seed: int) -> None:
    """Same optimum as derived, and without the bounds that (2b) implies, the same rows under the same names."""
    instance = hadar.random(np.random.default_rng(seed), jobs=3, machines=2, types=2, slots=3)
    printed = build("hadar/p3", instance)
    relaxed = relax(build("hadar/p2", instance)).model
    optimum = solve(printed).objective
    assert solve(relaxed).objective == pytest.approx(optimum, abs=1e-6)
    assert solve(dual(relaxed).model).objective == pytest.approx(optimum, abs=1e-6)
    for chosen in relaxed.chosen.values():
        chosen.setub(None)
    derived = dual(relaxed).model
    assert solve(derived).objective == pytest.approx(optimum, abs=1e-6)
    assert {v.name for v in derived.component_data_objects(pyo.Var)} <= (
        {f"capacity[{h},{r},{t}]" for h, r, t in printed.price} | {f"once[{j}]" for j in printed.payoff}
    )
    assert set(derived.chosen) == set(printed.reduced_utility)
    for js, row in derived.chosen.items():
        assert row.lower == printed.reduced_utility[js].lb
        assert row.upper is None
