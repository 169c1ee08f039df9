"""The program over single machines that solvers get: machines that are alike are in order, and nothing is lost."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyomo.environ as pyo
import pytest

from dlsched.algorithms.exact.dmlrs.single_machines import single_machines
from dlsched.models import build, read, solve
from dlsched.models.dmlrs import Instance, Machine, check, exact_utility, preset, random
from dlsched.models.numbers import agree


@pytest.mark.slow
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_machines_in_order_have_the_optimum(seed: int, asynchronous: bool) -> None:
    rng = np.random.default_rng(40 + seed)
    instance = random(rng, jobs=4, machines=3, slots=2, capacity=3, identical=seed % 4 > 0, asynchronous=asynchronous)
    instance = instance.model_copy(update={"machines": (*instance.machines, _another(instance))})
    ordered = single_machines(instance)
    value = solve(ordered).objective
    assert agree(value, solve(build("dmlrs/compact-milp", instance)).objective)
    schedule = read(ordered, instance)
    assert check(instance, schedule) == []
    assert agree(exact_utility(instance, schedule), value)


def _another(instance: Instance) -> Machine:
    return instance.machines[0].model_copy(update={"name": "another"})


def test_each_choice_of_homes_is_in_order_on_one_arrangement_of_the_machines_used() -> None:
    """By trying all choices: the machines used, by their first jobs, are the first ones, and no other choice is let."""
    instance = preset("benchmark", 0, jobs=3, machines=3, slots=1, multiple=4)
    model = single_machines(instance)
    names = [machine.name for machine in instance.machines]
    assert len(model.home_at) == 9
    for homes in product([None, *names], repeat=3):
        for (i, _, c), variable in model.home.items():
            variable.set_value(int(homes[[job.name for job in instance.jobs].index(i)] == c))
        used = list(dict.fromkeys(home for home in homes if home))
        lets = all(pyo.value(row.body) <= pyo.value(row.upper) for row in model.order.values())
        assert lets == (used == names[: len(used)])


def test_machines_that_differ_are_in_no_order() -> None:
    instance = preset("random", 1, jobs=3, machines=3, slots=2, identical=False)
    assert len({tuple(machine.capacity.items()) for machine in instance.machines}) == 3
    assert len(single_machines(instance).order) == 0


def test_large_programs_have_machines_in_no_order() -> None:
    """Its rows grow with the pairs of jobs."""
    large = preset("benchmark", 0, jobs=40, machines=8, slots=10)
    assert single_machines(large).component("order") is None
