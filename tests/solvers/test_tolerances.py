"""What the reasons of the tolerances say of solvers is so in the versions that are installed."""

from __future__ import annotations

import highspy
import pyscipopt
import pytest

from dlsched.solvers.scaling import INFINITE, REFUSED
from dlsched.tolerances import DROPPED, FEASIBLE, LEAST_DROPPED, TIGHT, TOLERANCE


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("primal_feasibility_tolerance", FEASIBLE),
        ("dual_feasibility_tolerance", FEASIBLE),
        ("mip_feasibility_tolerance", TOLERANCE),
        ("small_matrix_value", DROPPED),
        ("large_matrix_value", REFUSED),
        ("infinite_bound", INFINITE),
        ("infinite_cost", INFINITE),
    ],
)
def test_defaults_of_highs(option: str, value: float) -> None:
    assert highspy.Highs().getOptionValue(option) == (highspy.HighsStatus.kOk, value)


@pytest.mark.parametrize(
    ("option", "value"),
    [("numerics/epsilon", DROPPED), ("numerics/feastol", 10 * FEASIBLE), ("numerics/infinity", INFINITE)],
)
def test_defaults_of_scip(option: str, value: float) -> None:
    assert pyscipopt.Model().getParam(option) == pytest.approx(value, rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("option", "least"), [("small_matrix_value", LEAST_DROPPED), ("primal_feasibility_tolerance", TIGHT / 10)]
)
def test_the_least_that_highs_takes(option: str, least: float) -> None:
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.setOptionValue(option, least) == highspy.HighsStatus.kOk
    assert solver.setOptionValue(option, least / 2) == highspy.HighsStatus.kError
