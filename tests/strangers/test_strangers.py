"""Each stranger's model through every transformation, through files to SCIP, and through solve."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyomo.environ as pyo
import pyscipopt
import pytest

from dlsched.models import solve
from dlsched.relaxations import TransformationRefused, dual, lift_bounds, sum_of_ratios
from dlsched.relaxations.conformance import Trait, Transformation, check
from tests.longer import longer
from tests.relaxations.conformance.cases import CASES

from . import STRANGERS
from .beyond import NONE, one_site, tariff, wages, wages_answer
from .linear import last_year, plants
from .stranger import INTEGER, Stranger
from .whole import shifts

LINEAR = [s for s in STRANGERS if s.traits <= INTEGER]
CURVED = [s for s in STRANGERS if s.traits & {Trait.NONLINEAR, Trait.FRACTIONAL} and s.traits != NONE]
REFUSED = [s for s in STRANGERS if s not in LINEAR and s not in CURVED]
WRITTEN = [*LINEAR, *(s for s in STRANGERS if s.build in (one_site, tariff))]
"""What LP and MPS files can say; SCIP's reader takes ordered sets, and not Pyomo's quadratic terms."""

REFERRING = (plants, shifts)
"""Models with References, of which Pyomo writes no MPS files."""

by_name = {"ids": lambda case: case.name}


def a_third(strangers: Sequence[Stranger]) -> list[Any]:
    """Pair strangers with transformations, the refusals and a third of the others not as long ones.

    So that each stranger and each transformation is there, and no two of three strangers have the same.
    """
    pairs, long = [(t, s) for t in CASES for s in strangers], []
    for number, stranger in enumerate(strangers):
        taken = [t for t in CASES if not stranger.traits & t.refuses]
        step = min(3, len(taken))
        long += [(t, stranger) for k, t in enumerate(taken) if (k + number) % step]
    return longer(pairs, *long)


def by_names(value: Any) -> str:
    return value.name if isinstance(value, Stranger) else str(value)


def in_scip(model: Any, folder: Path, kind: str = "lp", *, relaxed: bool = False) -> float:
    """Return the optimum that SCIP finds for the file that Pyomo writes: nothing of dlsched has a part in it."""
    file = str(folder / f"model.{kind}")
    model.write(file)
    scip = pyscipopt.Model()
    scip.hideOutput()
    scip.readProblem(file)
    if relaxed:
        for variable in scip.getVars():
            scip.chgVarType(variable, "C")
    scip.setParam("limits/gap", 0.0)
    scip.optimize()
    assert scip.getStatus() == "optimal"
    return float(scip.getObjVal())


@pytest.mark.parametrize("stranger", STRANGERS, **by_name)
def test_answer(stranger: Stranger) -> None:
    assert stranger.answer() == pytest.approx(stranger.optimum or 0, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stranger", "kind"),
    [(s, kind) for s in WRITTEN for kind in ("lp", "mps") if kind == "lp" or s.build not in REFERRING],
    ids=lambda value: getattr(value, "name", value),
)
def test_round_trip_through_a_file(stranger: Stranger, kind: str, tmp_path: Path) -> None:
    assert in_scip(stranger.build(), tmp_path, kind) == pytest.approx(stranger.optimum)


def test_mps_files_of_references_fail_in_pyomo(tmp_path: Path) -> None:
    """Why the round trip leaves one out; should Pyomo learn it, this says so."""
    with pytest.raises(RuntimeError, match="duplicate object"):
        plants().write(str(tmp_path / "model.mps"))


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["highs", "scip"])
@pytest.mark.parametrize("stranger", LINEAR, **by_name)
def test_solve(stranger: Stranger, solver: str) -> None:
    model = stranger.build()
    solution = solve(model, solver=solver)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(stranger.optimum)
    objective = next(model.component_data_objects(pyo.Objective, active=True))
    assert pyo.value(objective) == pytest.approx(stranger.optimum)


@pytest.mark.slow
@pytest.mark.parametrize("stranger", CURVED, **by_name)
def test_solve_what_is_not_linear(stranger: Stranger) -> None:
    assert solve(stranger.build(), solver="scip").objective == pytest.approx(stranger.optimum, rel=1e-5)
    with pytest.raises(ValueError, match='solver="scip" takes nonlinear models') as caught:
        solve(stranger.build())
    assert stranger.culprit in str(caught.value)


@pytest.mark.parametrize("stranger", REFUSED, **by_name)
def test_solve_refuses_in_a_line(stranger: Stranger) -> None:
    with pytest.raises(ValueError, match=r"(first|write|add one)") as caught:
        solve(stranger.build())
    assert "\n" not in str(caught.value)
    assert stranger.culprit.strip("'") in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(("transformation", "stranger"), a_third(STRANGERS), ids=by_names)
def test_transformation(transformation: Transformation, stranger: Stranger) -> None:
    check(transformation, stranger)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("transformation", "stranger"),
    [(t, s) for t in CASES for s in STRANGERS if s.traits & t.refuses],
    ids=lambda value: getattr(value, "name", "") or str(value),
)
def test_refusals_are_one_line_with_a_remedy(transformation: Transformation, stranger: Stranger) -> None:
    with pytest.raises(TransformationRefused) as caught:
        transformation.transform(stranger.build())
    assert "\n" not in str(caught.value)
    assert stranger.remedy in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(("transformation", "stranger"), a_third(LINEAR), ids=by_names)
def test_new_model_in_scip(transformation: Transformation, stranger: Stranger, tmp_path: Path) -> None:
    """The new model is a model as any other: Pyomo writes it, and SCIP finds the value that it must have."""
    source, optimum = stranger.build(), stranger.optimum
    relaxes = str(transformation) == "relax" or Trait.INTEGER in transformation.refuses
    if relaxes and stranger.traits:
        optimum = stranger.relaxed
        assert in_scip(source, tmp_path, relaxed=True) == pytest.approx(optimum)
        source = CASES[0].transform(source).model
    sense = next(source.component_data_objects(pyo.Objective, active=True)).sense
    value = in_scip(transformation.transform(source).model, tmp_path)
    assert transformation.worth(int(sense), value) == pytest.approx(optimum)


def test_products_with_what_is_fixed() -> None:
    """Linear as it stands; only where the fixing itself is to become a row, the product is one of two variables."""
    m = last_year()
    m.power = pyo.Constraint(expr=m.machines["saw"] * m.hours["saw"] <= 60)
    assert solve(m).objective == pytest.approx(-20 + 12 * 20 + 10 * 40)
    assert solve(dual(m).model).objective == pytest.approx(620)
    with pytest.raises(TransformationRefused, match=r"'power' is linear only while .* replace them by parameters"):
        lift_bounds(m)


def test_a_sum_of_ratios_within_a_factor() -> None:
    m = wages()
    result = sum_of_ratios(m, epsilon=0.02)
    assert wages_answer() - 1e-9 <= result.value <= 1.02 * wages_answer()
    assert result.bound <= wages_answer() + 1e-9
    result.recover(load=True)
    assert pyo.value(m.cost) == pytest.approx(result.value)
    assert solve(m, solver="scip").objective == pytest.approx(wages_answer(), rel=1e-5)


def test_references_to_rows() -> None:
    """A row counts once, however many References show it."""
    m = plants()
    m.hours = pyo.Reference(m.site[:].hours)
    assert solve(m).objective == pytest.approx(50)
    result = dual(m)
    assert solve(result.model).objective == pytest.approx(50)
    assert [row.name for row in result.recover().duals].count("site[oslo].hours") == 1


def test_abstract_models_are_refused_until_they_have_data() -> None:
    template = pyo.AbstractModel()
    template.x = pyo.Var(bounds=(0, 1))
    template.o = pyo.Objective(expr=template.x)
    for transformation in CASES:
        with pytest.raises(TransformationRefused, match="create_instance"):
            transformation.transform(template)
