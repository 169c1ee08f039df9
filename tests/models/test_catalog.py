"""What the catalog says of each formulation is so of its models: the paper's numbers, and whether it has either-or."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.gdp import Disjunct, Disjunction

from dlsched.models import catalog, ddljs, dmlrs, hadar, inspect, smd
from dlsched.models.formulation import Formulation
from dlsched.models.inspect import described
from tests import paths
from tests.cases.ddljs import built, job

GOLDEN = {name: json.loads((paths.GOLDEN / f"{name}.json").read_text()) for name in ("hadar", "dmlrs", "smd")}
ENTRIES = catalog()
NAMES = [entry.name for entry in ENTRIES]

UNNUMBERED = {"(DDLJS)", "(DMLRS)"}
"""Programs that the papers name, whose objective, and that a job has at most one completion slot, have no number."""

INDICATORS = ("indicator_var", "binary_indicator_var")
"""What Pyomo itself puts into a disjunct."""


def golden(problem: str, name: str) -> Any:
    cases = GOLDEN[problem]["cases" if problem == "hadar" else "instances"]
    return next(case["instance"] for case in cases if case["name"] == name)


PAIR = built({"a": 2, "b": 2}, [("a", "b", 1)], job(budget={"gpu": 1}), job("job2"))
THESIS = dmlrs.random(
    np.random.default_rng(1), jobs=2, machines=2, slots=2, capacity=3, identical=False, asynchronous=True
)
EXAMPLES: dict[str, tuple[Any, ...]] = {
    "ddljs": (ddljs.Instance.parse(PAIR),),
    "dmlrs": (dmlrs.Instance.parse(golden("dmlrs", "D4")), THESIS),
    "hadar": (hadar.Instance.parse(golden("hadar", "H3")),),
    "smd": (smd.Instance.parse(golden("smd", "S5")),),
}
"""Instances by problem in which every equation has a row; of DMLRS, the journal's and the thesis's."""


def examples(entry: Formulation[Any]) -> Iterator[tuple[Any, Any]]:
    """Instances and their models."""
    for instance in EXAMPLES[entry.problem]:
        with suppress(ValueError):  # of the other paper
            yield instance, entry.build(instance)


def numbers(model: Any) -> set[str]:
    """The numbers that docs begin with; a row, an objective and an either-or have one, and all components a text."""
    found: set[str] = set()
    for component in model.component_objects(descend_into=(pyo.Block, Disjunct)):
        if component.local_name in INDICATORS and component.parent_block().ctype is Disjunct:
            continue
        equation, text = described(component)
        assert text, f"{component.name} has no doc"
        if component.ctype in (pyo.Constraint, pyo.Objective, Disjunction):
            assert equation, f"{component.name} has no number: {text}"
        found.update(re.findall(r"\(.*?\)", equation))
    return found - UNNUMBERED


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_components_carry_the_papers_numbers(entry: Formulation[Any]) -> None:
    found: set[str] = set()
    for instance, model in examples(entry):
        own = numbers(model)
        of_thesis = isinstance(instance, dmlrs.Instance) and instance.asynchronous
        assert {number.startswith("(3.") for number in own} == {of_thesis}
        found |= own
    assert found == set(entry.equations)


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if "cap" in entry.data], ids=lambda entry: entry.name)
def test_5_has_a_row_where_it_is_asked_for(entry: Formulation[Any]) -> None:
    for instance, _ in examples(entry):
        assert numbers(entry.build(instance, cap=True)) == {*entry.equations, "(5)"}


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_every_either_or_is_a_disjunction(entry: Formulation[Any]) -> None:
    for _, model in examples(entry):
        assert bool(inspect(model).disjunctions) == entry.disjunctive
