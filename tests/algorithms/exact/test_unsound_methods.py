"""What a plug-in's exact method returns is looked at: schedule, value, bound and what it calls proved."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from dlsched.algorithms import ExactMethod, Optimum, optimum
from dlsched.algorithms.algorithm import exact_method
from dlsched.models import dmlrs, hadar
from dlsched.solvers import SolverError

INSTANCE = hadar.random(0)
RIGHT = optimum(INSTANCE)
assert RIGHT.value is not None
WRONG = {
    "no schedule": ({"schedule": None}, "has no schedule"),
    "a schedule worth less": ({"schedule": hadar.Schedule(jobs={})}, "its schedule is worth"),
    "a value that is none": ({"value": math.nan}, "its value is nan"),
    "a greater value": ({"value": RIGHT.value + 1, "bound": RIGHT.value + 1}, "its schedule is worth"),
    "a bound below": ({"bound": RIGHT.value - 1, "proved": False}, "beyond its bound"),
    "a bound that is none": ({"bound": math.nan, "proved": False}, "beyond its bound"),
    "proved with a gap": ({"bound": RIGHT.value + 1}, "it calls 34.0 proved, and its bound is 35.0"),
    "proved without a bound": ({"bound": None}, "its bound is None"),
    "a job that is none": ({"schedule": hadar.Schedule.parse({"jobs": {"none": {"slots": {}}}})}, "breaks a rule"),
}


def method(found: Optimum) -> ExactMethod:
    def solve(instance: Any, *, time_limit: Any = None, progress: Any = None, stop: Any = None) -> Optimum:
        return found

    return ExactMethod("own", "hadar", "a stranger's", solve, own_unit=False)


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_is_refused(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changes, message = WRONG[what]
    dispatch = import_module("dlsched.algorithms.exact.dispatch")
    monkeypatch.setattr(dispatch, "exact_method", lambda problem: method(replace(RIGHT, **changes)))
    with pytest.raises(SolverError, match=r"^exact method 'own' of hadar: ") as caught:
        optimum(INSTANCE)
    assert message in str(caught.value)


def test_what_is_right_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    dispatch = import_module("dlsched.algorithms.exact.dispatch")
    for found in (RIGHT, replace(RIGHT, bound=math.inf, proved=False), replace(RIGHT, bound=40.0, proved=False)):
        monkeypatch.setattr(dispatch, "exact_method", lambda problem, found=found: method(found))
        assert optimum(INSTANCE).value == RIGHT.value


def test_time_that_ends_while_a_better_schedule_is_read_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method ends below the optimum, and the tree over the rationals has a better point as time is up."""
    dispatch = import_module("dlsched.algorithms.exact.dispatch")
    instance = dmlrs.random(0)
    right = optimum(instance)
    worse = replace(right, value=0.0, schedule=dmlrs.Schedule.of({}), proved=False)
    own, read = exact_method("dmlrs"), dispatch._better
    assert own is not None
    low = replace(own, solve=lambda *_, **__: worse, own_unit=False)
    begun: list[bool] = []

    def late(*arguments: Any) -> Optimum | None:
        begun.append(True)
        better: Optimum | None = read(*arguments)
        return better

    monkeypatch.setattr(dispatch, "exact_method", lambda problem: low)
    monkeypatch.setattr(dispatch, "_better", late)
    found = optimum(instance, stop=lambda: bool(begun))
    assert begun
    assert found.value == right.value
    assert dmlrs.utility(instance, found.schedule) == right.value
    assert "not exact: interrupted" in str(found.evidence[-1])
