"""The optimum that figures compare with, and ratios to it."""

from __future__ import annotations

import math

import pytest

from dlsched.algorithms import optimum
from dlsched.bounds.pd_ors.families import all_epochs
from dlsched.figures import certified as module
from dlsched.figures.certified import certified, ratio
from dlsched.models.dmlrs import preset


def test_there_is_no_optimum_that_is_not_proved_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = all_epochs(preset("paper", 0, jobs=4, machines=2, slots=6))
    assert certified(instance) == optimum(instance).value
    monkeypatch.setattr(module, "_LONGEST", 0.0)
    assert math.isnan(certified(instance))


def test_the_ratio_to_nothing_is_infinite_and_that_of_nothing_is_none() -> None:
    assert ratio(3.0, 2.0) == 1.5
    assert ratio(3.0, 0.0) == math.inf
    assert math.isnan(ratio(0.0, 0.0))
    assert math.isnan(ratio(math.nan, 0.0))
    assert math.isnan(ratio(math.nan, 2.0))
