"""Transformed instances: valid, of the same sizes, and worth as many times the source as its utilities grew."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.audit import reference
from tests.audit.draws import FAMILIES, draw, package
from tests.audit.numerals import exact, rational
from tests.audit.scaling import jittered, problem_of, rescaled

seeds = st.integers(0, 2**32 - 1)
families = st.sampled_from(FAMILIES)


def shape(data: Any) -> Any:
    """Return what no factor may change: names, whole numbers, lengths, and which numbers are 0."""
    if isinstance(data, dict):
        return {key: shape(value) for key, value in data.items()}
    if isinstance(data, list):
        return [shape(value) for value in data]
    try:
        return data if isinstance(data, bool) else bool(rational(data))
    except ValueError:
        return data


@pytest.mark.slow
@given(families, seeds)
def test_transformed_instances_are_valid_and_of_the_same_shape(family: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = draw(family, rng).data
    before = json.dumps(data)
    for changed in (jittered(data, rng), rescaled(data, rng).data, rescaled(jittered(data, rng), rng).data):
        assert package(family).Instance.parse(json.loads(json.dumps(changed)))
        assert problem_of(changed) == problem_of(data)
        if problem_of(data) != "ddljs":
            assert shape(changed | {"slot_seconds": 1}) == shape(data | {"slot_seconds": 1})
    assert json.dumps(data) == before


@pytest.mark.slow
@given(families, seeds)
def test_jittered_numbers_have_all_their_digits_and_are_near(family: str, seed: int) -> None:
    data = draw(family, np.random.default_rng(seed)).data
    changed = jittered(data, np.random.default_rng(seed))
    again = jittered(data, np.random.default_rng(seed))
    assert changed == again
    for job, source in zip(changed["jobs"], data["jobs"], strict=True):
        for field in ("worker", "server", "rate", "limit"):
            for key, value in source.get(field, {}).items():
                assert job[field][key] == pytest.approx(float(rational(value)), rel=0.04)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_units_change_no_optimum(family: str) -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        data = draw(family, rng).data
        other = rescaled(data, rng)
        best = reference.optimum(data)
        again = reference.optimum(other.data)
        if best is None or again is None:
            assert best == again
        else:
            assert reference.agree(again, best * other.utility, reference.unit(other.data))


def test_numbers_read_back_exactly() -> None:
    assert exact({"a": [0.1, 1, "1/3", True, None]}) == {"a": ["1/10", 1, "1/3", True, None]}
    assert exact(0.12345678901234567) == "6172839450617283/50000000000000000"
