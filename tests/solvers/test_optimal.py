"""Optima that are decided: another setting where one fails, and no infeasibility that nobody proved."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from dlsched.solvers.matrix import Matrix, UnfitNumberError
from dlsched.solvers.solution import RawSolution, ResidualError, SolverError, Status
from dlsched.solvers.solve import solve_to_optimality

SOLVE = sys.modules["dlsched.solvers.solve"]


def program(most: float = 4.0, integer: bool = False) -> Matrix:
    """Maximise x + y where 2 x + 2 y <= most, x + 3 y >= 3."""
    return Matrix(
        c=np.ones(2),
        offset=0.0,
        sense=-1,
        A=sp.csr_array([[2.0, 2.0], [1.0, 3.0]]),
        row_lower=np.array([-np.inf, 3.0]),
        row_upper=np.array([most, np.inf]),
        lower=np.zeros(2),
        upper=np.full(2, 9.0),
        integer=np.full(2, integer),
    )


class Scripted:
    """`solve_matrix` that ends as told, attempt by attempt, and then as it really does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *endings: Status | Exception) -> None:
        self.settings: list[dict[str, Any]] = []
        honest = SOLVE.solve_matrix

        def told(matrix: Matrix, **setting: Any) -> RawSolution:
            self.settings.append(setting)
            raw = honest(matrix, **setting)
            if len(self.settings) > len(endings):
                return raw
            ending = endings[len(self.settings) - 1]
            if isinstance(ending, Exception):
                raise ending
            return RawSolution(replace(raw.summary, status=ending), None)

        monkeypatch.setattr(SOLVE, "solve_matrix", told)


@pytest.mark.parametrize("integer", [False, True])
def test_an_optimum_and_a_proved_infeasibility(integer: bool) -> None:
    found = solve_to_optimality(program(integer=integer))
    assert found is not None
    assert found.value == pytest.approx(2)
    assert solve_to_optimality(program(1.0, integer)) is None


def test_duals_are_those_of_a_linear_program() -> None:
    found = solve_to_optimality(program(), duals=True)
    assert found is not None
    assert found.row_duals is not None
    assert found.row_duals.tolist() == pytest.approx([0.5, 0])


@pytest.mark.parametrize("ending", [Status.NO_SOLUTION, Status.UNBOUNDED, Status.FEASIBLE, ResidualError("off by 4")])
@pytest.mark.parametrize("integer", [False, True])
def test_what_fails_is_tried_otherwise(
    monkeypatch: pytest.MonkeyPatch, ending: Status | Exception, integer: bool
) -> None:
    script = Scripted(monkeypatch, ending)
    found = solve_to_optimality(program(integer=integer))
    assert found is not None
    assert found.value == pytest.approx(2)
    assert [setting["presolve"] for setting in script.settings] == [True, False]


def test_scip_is_the_last_resort(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Scripted(monkeypatch, Status.NO_SOLUTION, Status.NO_SOLUTION)
    found = solve_to_optimality(program())
    assert found is not None
    assert found.value == pytest.approx(2)
    assert script.settings[-1]["solver"] == "scip"


@pytest.mark.parametrize("integer", [False, True])
def test_a_failure_is_no_infeasibility(monkeypatch: pytest.MonkeyPatch, integer: bool) -> None:
    Scripted(monkeypatch, Status.NO_SOLUTION, ResidualError("off by 4"), Status.NO_SOLUTION)
    with pytest.raises(SolverError, match="HiGHS: no_solution; off by 4; SCIP: no_solution"):
        solve_to_optimality(program(integer=integer))


def test_one_word_for_an_empty_integer_program_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    Scripted(monkeypatch, Status.INFEASIBLE)
    found = solve_to_optimality(program(integer=True))
    assert found is not None
    assert found.value == pytest.approx(2)
    Scripted(monkeypatch, Status.INFEASIBLE, Status.NO_SOLUTION, Status.NO_SOLUTION)
    with pytest.raises(SolverError, match="HiGHS: infeasible"):
        solve_to_optimality(program(integer=True))


def test_points_that_the_caller_does_not_accept() -> None:
    with pytest.raises(SolverError, match="HiGHS without presolve: a point that was refused"):
        solve_to_optimality(program(), accept=lambda x: False)


def test_bad_numbers_are_named_and_not_tried_again() -> None:
    with pytest.raises(UnfitNumberError, match="row 1: the coefficient of column 0 is nan"):
        solve_to_optimality(replace(program(), A=sp.csr_array([[2.0, 2.0], [np.nan, 3.0]])))


def test_no_columns() -> None:
    empty = Matrix(
        *(np.zeros(0), 1.5, -1, sp.csr_array((2, 0)), np.full(2, -np.inf), np.ones(2)),
        *(np.zeros(0), np.zeros(0), np.zeros(0, dtype=bool)),
    )
    found = solve_to_optimality(empty, duals=True)
    assert found is not None
    assert found.row_duals is not None
    assert (found.value, found.row_duals.tolist()) == (1.5, [0, 0])
