"""Every transformation on models drawn by hypothesis."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given

from dlsched.relaxations import TransformationRefused, dual
from dlsched.relaxations.conformance import Case, Trait, Transformation, check
from tests.longer import examples

from . import exact
from .cases import CASES, is_continuous
from .random_models import Spec, build, specs
from .solving import solve


def refusal(transformation: Transformation, model: object) -> str | None:
    """Return what a transformation says where it may refuse the model."""
    if str(transformation) not in ("charnes_cooper", "dual", "standard_form"):
        return None
    try:
        transformation.transform(model)
    except TransformationRefused as error:
        return str(error)
    return None


@pytest.mark.slow
@pytest.mark.parametrize("transformation", CASES, ids=str)
@examples(10, 30)
@given(spec=specs(integers=True))
def test_transformation(transformation: Transformation, spec: Spec) -> None:
    refused = refusal(transformation, build(spec))
    if refused is not None:
        if "no point satisfies it" in refused:
            assert exact.optimum(spec.boxed()) is None
        else:
            assert "apply relax first" in refused
            assert Trait.INTEGER in transformation.refuses
            assert not is_continuous(build(spec))
        return
    check(transformation, Case(lambda: build(spec)))


@pytest.mark.slow
@examples(15, 30)
@given(spec=specs(integers=False, largest=3))
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
