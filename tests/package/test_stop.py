"""An optimum that is told to stop, at any question: what is known is kept, and nothing long is begun any more."""

from __future__ import annotations

import importlib
import threading
import time
from functools import cache
from typing import Any

import pytest

from dlsched.algorithms import optimum
from dlsched.halt import Halt, over, until
from dlsched.models import build, solve
from dlsched.solvers.matrix import compile_model

CASES: dict[str, tuple[str, str, int, dict[str, Any]]] = {
    "hadar": ("hadar", "benchmark", 0, {"jobs": 40, "machines": 15, "types": 3, "slots": 40}),
    "smd": ("smd", "paper", 0, {"jobs": 300}),
    "dmlrs": ("dmlrs", "benchmark", 0, {"jobs": 50, "machines": 100, "slots": 20}),
    "dmlrs, fragmented": (
        "dmlrs",
        "benchmark",
        0,
        {"jobs": 20, "machines": 10, "slots": 10, "multiple": 3.0, "load": 0.95},
    ),
    "dmlrs, asynchronous": ("dmlrs", "thesis", 0, {"jobs": 30, "machines": 20, "slots": 20}),
    "ddljs": ("ddljs", "benchmark", 0, {"servers": 50, "jobs": 100, "slots": 200}),
    "ddljs, few slots": ("ddljs", "benchmark", 0, {"servers": 12, "jobs": 12, "slots": 6}),
    "ddljs, one slot": ("ddljs", "benchmark", 1, {"servers": 20, "jobs": 10, "slots": 1}),
}


class Asked:
    """Tells True at the k-th question; counts the questions."""

    def __init__(self, k: int) -> None:
        self.k, self.count = k, 0

    def __call__(self) -> bool:
        self.count += 1
        return self.count >= self.k


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """What solvers were begun after work was over."""
    late: list[None] = []
    module = importlib.import_module("dlsched.solvers.solve")
    solved = module.solve_here

    def recorded(*arguments: Any, **options: Any) -> Any:
        if over():
            late.append(None)
        return solved(*arguments, **options)

    monkeypatch.setattr(module, "solve_here", recorded)
    return late


@cache
def instance_of(name: str) -> tuple[Any, Any]:
    problem, preset, seed, sizes = CASES[name]
    models = importlib.import_module(f"dlsched.models.{problem}")
    return models, models.preset(preset, seed, **sizes)


def is_sound(models: Any, instance: Any, found: Any) -> None:
    assert found.schedule is not None
    assert models.check(instance, found.schedule) == []
    assert found.value == pytest.approx(models.utility(instance, found.schedule))
    assert found.value <= found.bound


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 20, 400, 2_000])
@pytest.mark.parametrize("name", CASES)
def test_at_any_question(name: str, k: int, begun: list[None]) -> None:
    models, instance = instance_of(name)
    stop = Asked(k)
    found = optimum(instance, stop=stop)
    is_sound(models, instance, found)
    assert stop.count <= k
    assert begun == []


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_from_another_thread_while_this_one_is_no_main_thread(name: str) -> None:
    models, instance = instance_of(name)
    asked, results = threading.Event(), []
    worker = threading.Thread(target=lambda: results.append(optimum(instance, stop=asked.is_set)))
    timer = threading.Timer(0.3, asked.set)
    worker.start()
    timer.start()
    worker.join(60)
    timer.cancel()
    assert not worker.is_alive()
    is_sound(models, instance, results[0])


LARGE = {"dmlrs/compact-milp": {"machines": 100}, "dmlrs/aggregate": {"slots": 2_000}}
"""Sizes with which building takes much longer than a second."""


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.3, 0.6])
def test_building_and_compiling_end(name: str, seconds: float, capfd: pytest.CaptureFixture[str]) -> None:
    instance = importlib.import_module("dlsched.models.dmlrs").preset("benchmark", 0, jobs=50, **LARGE[name])
    with pytest.raises(Halt), until(seconds=seconds):
        compile_model(build(name, instance))
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_model_that_is_not_built_can_be_built_again() -> None:
    instance = importlib.import_module("dlsched.models.dmlrs").preset("benchmark", 0, jobs=50)
    with pytest.raises(Halt), until(seconds=0.1):
        build("dmlrs/compact-milp", instance)
    assert compile_model(build("dmlrs/compact-milp", instance)).A.shape[0]


@pytest.mark.slow
def test_a_solve_of_a_user_ends_without_a_solution() -> None:
    instance = importlib.import_module("dlsched.models.dmlrs").preset("benchmark", 0)
    model = build("dmlrs/compact-milp", instance)
    assert solve(model, stop=lambda: True).status == "no_solution"
    end = time.perf_counter() + 0.2
    assert solve(model, stop=lambda: time.perf_counter() > end).objective is None


@pytest.mark.parametrize("k", [3, 30])
def test_in_the_midst_of_a_job_whose_points_are_all_equal(k: int) -> None:
    """A thousand numbers of workers take the same time, and are compared in rationals."""
    smd = importlib.import_module("dlsched.models.smd")
    one = {"gpu": 1}
    training = {"kind": "coefficients", "mode": "sync", "theta": [0, 0, 6, 0, 0]}
    job = {"name": "a", "worker": one, "server": one, "limit": {"gpu": 1000}, "training": training}
    job |= {"utility": {"kind": "hyperbolic", "scale": 100}}
    instance = smd.Instance.parse({"resources": ["gpu"], "capacity": {"gpu": 1000}, "jobs": [job]})
    stop = Asked(k)
    found = optimum(instance, stop=stop)
    is_sound(smd, instance, found)
    assert (stop.count, found.value) == (k, 0)
    assert found.bound < float("inf")


@pytest.mark.slow
def test_a_deadline_is_one_too() -> None:
    """Without it this would take hours."""
    models, instance = instance_of("ddljs")
    is_sound(models, instance, optimum(instance, time_limit=0.5))
