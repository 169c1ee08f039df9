"""The linear programs of a slot in exact rationals: the rows of the arrays, the same optima, and (12)-(19) whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dlsched import relaxations
from dlsched.algorithms.exact.certificates.enclosure import enclose
from dlsched.algorithms.exact.ddljs.rationals import slot_program
from dlsched.bounds.gadget.rationals import program_of
from dlsched.models.ddljs import Instance, slot_problem
from dlsched.models.numbers import agree
from dlsched.solvers.matrix import compile_model
from tests.audit.scaling import jittered
from tests.rationals import assert_restates
from tests.strategies.ddljs import drawn

PROGRAMS: dict[str, Callable[..., Any]] = {
    "knapsack": relaxations.knapsack_vne,
    "plain": relaxations.plain_vne,
    "augmented": relaxations.augmented_vne,
}


@pytest.mark.parametrize("cap", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", range(15))
def test_rows_are_those_of_the_arrays_and_so_is_the_optimum(seed: int, name: str, cap: bool) -> None:
    data = drawn(seed).dump()
    if seed % 3 == 0:
        data = jittered(data, np.random.default_rng(seed))
    lp = PROGRAMS[name](slot_problem(Instance.parse(data), 1), cap=cap)
    program = program_of(lp)
    unbounded = replace(program, columns=tuple(replace(column, upper=None) for column in program.columns))
    if program.columns:
        assert_restates(unbounded, compile_model(lp.model))
    if seed % 3:
        found = enclose(program)
        assert found is not None
        assert agree(found.value, lp.solve().value)
        assert agree(found.bound, found.value)


@pytest.mark.parametrize("seed", range(20))
def test_the_plain_program_in_whole_numbers_is_the_slot(seed: int) -> None:
    """(12)-(19) ring node by ring node, and rings as circulations, have one optimum over the rationals."""
    problem = slot_problem(drawn(seed, slots=1), 1)
    plain, circulation = enclose(program_of(relaxations.plain_vne(problem), whole=True)), enclose(slot_program(problem))
    assert plain is not None
    assert circulation is not None
    assert plain.value == circulation.value
