"""Every transformation on models drawn by hypothesis."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings

from dlsched.relaxations import TransformationRefused, dual

from . import checks, exact
from .cases import CASES, Case, is_continuous
from .random_models import Spec, build, specs
from .solving import solve

LIGHT = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


def refusal(case: Case, model: object) -> str | None:
    """Return what the case must say where it must refuse the model."""
    if case.name not in ("charnes_cooper", "dual", "standard_form"):
        return None
    try:
        case.transform(model)
    except TransformationRefused as error:
        return str(error)
    return None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@given(spec=specs(integers=True))
@LIGHT
def test_transformation(case: Case, spec: Spec) -> None:
    refused = refusal(case, build(spec))
    if refused is not None:
        if "no point satisfies it" in refused:
            assert exact.optimum(spec.boxed()) is None
        else:
            assert "apply relax first" in refused
            assert case.continuous_only
            assert not is_continuous(build(spec))
        return
    checks.check_status_and_objective(case, build(spec))
    checks.check_source_unchanged(case, build(spec))
    checks.check_maps_back(case, build(spec))
    checks.check_loads(case, build(spec))


@pytest.mark.parametrize("case", [case for case in CASES if case.pyomo_name], ids=lambda case: case.name)
@given(spec=specs(integers=True))
@LIGHT
def test_pyomo_routes(case: Case, spec: Spec) -> None:
    if refusal(case, build(spec)) is None and solve(build(spec)).status == "optimal":
        checks.check_pyomo_routes(case, build(spec))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@given(spec=specs(integers=False))
@LIGHT
def test_twice(case: Case, spec: Spec) -> None:
    if refusal(case, build(spec)) is None:
        checks.check_twice(case, build(spec))


@given(spec=specs(integers=False, largest=3))
@LIGHT
def test_duals_against_exact_vertices(spec: Spec) -> None:
    """The dual's optimum is the best vertex, and its prices, as rationals, prove that value from the numbers alone."""
    spec = spec.boxed()
    best = exact.optimum(spec)
    if refusal(CASES[2], build(spec)) is not None:
        assert best is None
        return
    result = dual(build(spec))
    solved = solve(result.model)
    if best is None:
        assert solved.status in ("unbounded", "infeasible")
        return
    assert solved.objective == pytest.approx(float(best), abs=1e-7)
    prices = {
        row.index(): Fraction(price).limit_denominator(10**4)
        for row, price in result.recover(solved.values).duals.items()
    }
    assert exact.lagrangian_bound(spec, prices) == best
