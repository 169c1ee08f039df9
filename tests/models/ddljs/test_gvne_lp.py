"""The linear programs of Algorithm 2 as formulations: against those of arrays, and by hand."""

from __future__ import annotations

from typing import Any

import pytest

from dlsched.models import InputError, Status, build, solve
from dlsched.models.ddljs import Instance, slot_problem
from dlsched.models.ddljs.gvne_lp import augmented_program
from dlsched.models.numbers import agree
from dlsched.relaxations import augmented_vne, plain_vne
from tests.cases.ddljs import built, job, problem
from tests.longer import longer
from tests.strategies.ddljs import drawn, with_placement


def value(model: Any) -> float:
    solution = solve(model, threads=1)
    assert solution.status is Status.OPTIMAL
    assert solution.objective is not None
    return solution.objective


@pytest.mark.parametrize("seed", longer(range(12), *range(6, 12)))
def test_they_are_the_programs_that_are_solved_as_arrays(seed: int) -> None:
    of = Instance.parse(with_placement(seed, drawn(seed, jobs=3, servers=3).dump()))
    slot = slot_problem(of, 1)
    for cap in (False, True):
        assert agree(value(build("ddljs/gvne-plain", of, cap=cap)), plain_vne(slot, cap=cap).solve().value)
        assert agree(value(build("ddljs/gvne-augmented", of, cap=cap)), augmented_vne(slot, cap=cap).solve().value)
    sizes = {request.name: max(request.profit) for request in slot.requests[:2]}
    if sizes:
        one = augmented_vne(slot, sizes=sizes, cap=True).solve().value
        assert agree(value(build("ddljs/gvne-augmented", of, cap=True, sizes=sizes)), one)


# Directed cycle of four: half flows between alternating nodes; a mapping uses all four links. Then (5), and one server.
@pytest.mark.parametrize(
    ("name", "cap", "plain", "augmented"),
    [("G10", False, 2, 2), ("G10", True, 2, 1), ("G14", False, 4, 4), ("G14", True, 4, 3.5)],
)
def test_values_by_hand(name: str, cap: bool, plain: float, augmented: float) -> None:
    assert value(augmented_program(problem(name), cap=cap)) == pytest.approx(augmented)
    assert plain_vne(problem(name), cap=cap).solve().value == pytest.approx(plain)


def test_placements_let_half_flows_alternate() -> None:
    """G9: on a directed cycle of four the plain program takes half of what a mapping takes."""
    assert plain_vne(problem("G9_cap1")).solve().value == pytest.approx(4)
    assert value(augmented_program(problem("G9_cap1"))) == pytest.approx(2)


def test_the_augmented_program_has_a_copy_for_each_place_of_ring_node_0() -> None:
    """Two servers, one and two ring nodes: 2 + 2 copies; per copy of two, 2 places of node 1 and 2 edges on 2 arcs."""
    of = Instance.parse(built({"a": 1, "b": 1}, [("a", "b", 1)], job("J")))
    model = build("ddljs/gvne-augmented", of)
    assert (len(model.weight), len(model.place), len(model.route)) == (4, 4, 8)
    assert len(augmented_vne(slot_problem(of, 1)).matrix.c) == 16
    with pytest.raises(InputError, match="no job 'J' with a ring of 3"):
        build("ddljs/gvne-augmented", of, sizes={"J": 3})
