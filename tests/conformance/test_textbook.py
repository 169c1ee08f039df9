"""Every transformation on every textbook model."""

from __future__ import annotations

import pytest

from dlsched.models.matrix import compile_model
from dlsched.relaxations import TransformationRefused

from . import checks
from .cases import CASES, Case, is_continuous
from .solving import solve, solve_matrix
from .textbook import TEXTBOOK, Textbook

PAIRS = [
    pytest.param(case, text, id=f"{case.name}-{text.name}")
    for case in CASES
    for text in TEXTBOOK
    if is_continuous(text.build()) or not case.continuous_only
]
REFUSED = [
    pytest.param(case, text, id=f"{case.name}-{text.name}")
    for case in CASES
    for text in TEXTBOOK
    if case.continuous_only and not is_continuous(text.build())
]
REGISTERED = [pair for pair in PAIRS if pair.values[0].pyomo_name]


@pytest.mark.parametrize("text", TEXTBOOK, ids=lambda text: text.name)
def test_known_optima(text: Textbook) -> None:
    assert solve(text.build()).objective == pytest.approx(text.optimum)
    assert solve_matrix(compile_model(text.build()).relaxed()).objective == pytest.approx(text.relaxed)


@pytest.mark.parametrize(("case", "text"), PAIRS)
def test_optimum_after_transformation(case: Case, text: Textbook) -> None:
    model = text.build()
    solved = solve(case.transform(model).model)
    expected = text.relaxed if case.relaxes else text.optimum
    assert case.value(checks.sense(model), solved.objective) == pytest.approx(expected)


@pytest.mark.parametrize(("case", "text"), PAIRS)
def test_source_unchanged(case: Case, text: Textbook) -> None:
    checks.check_source_unchanged(case, text.build())


@pytest.mark.parametrize(("case", "text"), PAIRS)
def test_maps_back(case: Case, text: Textbook) -> None:
    checks.check_maps_back(case, text.build())


@pytest.mark.parametrize(("case", "text"), PAIRS)
def test_loads(case: Case, text: Textbook) -> None:
    checks.check_loads(case, text.build())


@pytest.mark.parametrize(("case", "text"), PAIRS)
def test_twice(case: Case, text: Textbook) -> None:
    checks.check_twice(case, text.build())


@pytest.mark.parametrize(("case", "text"), REGISTERED)
def test_pyomo_routes(case: Case, text: Textbook) -> None:
    checks.check_pyomo_routes(case, text.build())


@pytest.mark.parametrize(("case", "text"), REFUSED)
def test_integers_refused(case: Case, text: Textbook) -> None:
    with pytest.raises(TransformationRefused, match=r"variable '.*' is not continuous: apply relax first"):
        case.transform(text.build())
