"""What a plug-in's algorithm and a plug-in's check return is looked at, wherever an algorithm is asked for by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from dlsched.algorithms import Algorithm, compare
from dlsched.models import hadar, problem
from dlsched.solvers import SolverError

INSTANCE = hadar.random(0)
RIGHT = import_module("dlsched.algorithms.hadar").run(INSTANCE)
DEVICES = {1: {"machine1": {"type1": 1}}}
WRONG = {
    "a greater utility": (replace(RIGHT, utility=RIGHT.utility + 1), "its value is 35.0, and its schedule is worth 34"),
    "no utility": (replace(RIGHT, utility=None), "its value is None"),
    "a rule broken": (
        replace(RIGHT, schedule=hadar.Schedule.parse({"jobs": {"job1": {"slots": DEVICES}}})),
        r"its schedule breaks a rule: job job1: .* \[\(1a\) work\]",
    ),
}


def algorithm(found: Any) -> Algorithm:
    def run(instance: Any, *, seed: int = 0) -> Any:
        return found

    return Algorithm("own", "hadar", "a stranger's", run)


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_is_refused(what: str) -> None:
    found, message = WRONG[what]
    with pytest.raises(SolverError, match=rf"^algorithm 'own' of hadar: {message}"):
        algorithm(found)(INSTANCE)


@pytest.mark.parametrize("found", [None, {"schedule": 1}, replace(RIGHT, schedule=None)])
def test_what_is_no_run_is_told(found: Any) -> None:
    with pytest.raises(TypeError, match="algorithm 'own' of hadar"):
        algorithm(found)(INSTANCE)


def test_what_is_right_is_taken() -> None:
    assert algorithm(RIGHT)(INSTANCE) is RIGHT


def test_a_comparison_keeps_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    known = import_module("dlsched.algorithms.compare")
    usual: Callable[[str], tuple[Algorithm, ...]] = known.algorithms_named
    own = algorithm(WRONG["a greater utility"][0])
    monkeypatch.setattr(known, "algorithms_named", lambda name: (own,) if name == "own" else usual(name))
    optimum, wrong, right = compare(INSTANCE, ["own", "las"]).rows
    assert (optimum.utility, wrong.utility, right.utility) == (34, None, 17)
    assert wrong.note.startswith("algorithm 'own' of hadar: its value is 35.0")


def test_a_check_that_returns_nothing_lets_nothing_pass() -> None:
    def nothing(instance: Any, schedule: Any) -> Any:
        return None

    careless = replace(problem("hadar"), check=nothing)
    with pytest.raises(TypeError, match="what the check of hadar returns"):
        careless.violations(INSTANCE, RIGHT.schedule)
