"""The program (15) at the caps that Algorithm 1 chose: its optimum is the point found, and points map back."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest

from dlsched.models import InputError, build, solve
from dlsched.models.smd import preset, ratios
from dlsched.relaxations import charnes_cooper, relax, sum_of_ratios


@pytest.mark.parametrize("seed", range(8))
def test_the_program_of_the_grid_point_has_the_point_as_its_optimum(seed: int) -> None:
    source = relax(build("smd/inner", preset("random", seed, jobs=6))).model
    found = sum_of_ratios(source, epsilon=0.1)
    assert found.x is not None
    assert set(found.model.cap) == {j for j in range(len(found.lower)) if j != found.last}
    linear = charnes_cooper(found.model)
    least = solve(linear.model).objective
    for variable, value in found.recover().values.items():
        found.model.find_component(variable.name).set_value(value)
    assert least == pytest.approx(pyo.value(next(found.model.component_data_objects(pyo.Objective))), rel=1e-6)
    assert all(row.slack() >= -1e-6 for row in found.model.component_data_objects(pyo.Constraint))
    again = found.recover(linear.recover().values, load=True)
    assert len(again.values) == len(found.recover().values) == 2
    objective = next(source.component_data_objects(pyo.Objective))
    assert pyo.value(objective) <= found.cost * (1 + 1e-6)
    found.recover(load=True)
    assert pyo.value(objective) == pytest.approx(found.value)


def test_arrays_have_no_model() -> None:
    job = next(job for job in preset("random", 0, jobs=6).jobs if job.can_run)
    found = sum_of_ratios(ratios(job), epsilon=0.1)
    assert found.model is None
    with pytest.raises(InputError, match="given as arrays"):
        found.recover()
