"""Several routes at once: whichever proves it first, what one finds the others take, what fails is told."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dlsched.algorithms import optimum
from dlsched.algorithms.exact.anytime import Others
from dlsched.algorithms.exact.dmlrs import solver
from dlsched.algorithms.exact.dmlrs.fragmented import solve_fragmented
from dlsched.algorithms.exact.result import Proof
from dlsched.child import Child
from dlsched.models import dmlrs, hadar, problem_of
from tests import paths
from tests.longer import longer

pytestmark = pytest.mark.process

TOY = '''
"""A number from 0 to `most`, and routes that wait, find, bound, prove or fail."""

import os
import signal
import time
from typing import Any

from dlsched.algorithms.algorithm import ExactMethod
from dlsched.algorithms.exact.anytime import Anytime
from dlsched.halt import poll
from dlsched.models import Document, Problem, Violation


class Instance(Document):
    most: int
    here: str
    there: str


class Schedule(Document):
    jobs: dict[str, int] = {}


def check(instance: Instance, schedule: Schedule) -> list[Violation]:
    return [Violation("most", name, "too many") for name, n in schedule.jobs.items() if n > instance.most]


def utility(instance: Instance, schedule: Schedule) -> float:
    return float(sum(schedule.jobs.values()))


def route(which: str) -> Any:
    def solve(instance: Instance, *, time_limit=None, progress=None, stop=None):
        known = Anytime(lambda s: utility(instance, s), lambda s: check(instance, s), progress=progress)

        def steps() -> bool:
            what = getattr(instance, which)
            known.take(Schedule())
            if what == "fail":
                raise ValueError("no luck")
            if what == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            if what in ("find", "prove", "lie"):
                known.take(Schedule(jobs={"x": instance.most + (what == "lie")}))
            if what == "low":
                known.take(Schedule(jobs={"x": instance.most - 1}))
            if what in ("bound", "prove", "low"):
                known.bound(float(instance.most - (what == "low")), "thought")
            while what not in ("prove", "low"):
                known.tell("waiting")
                if what == "bound" and known.closed():
                    break
                poll()
                time.sleep(0.01)
            known.note(f"proved {which}")
            return True

        return known.run(steps, time_limit=time_limit, stop=stop)

    return solve


PROBLEMS = Problem("toy", "a number", Instance, Schedule, check, utility)
ALGORITHMS = ExactMethod("exact", "toy", "waits or proves", route("here"), own_unit=False, beside=(route("there"),))
'''

MAIN = """
import json, sys
import dlsched.plugins
from dlsched.algorithms import optimum
dlsched.plugins.load("toy")
import toy
for here, there, seconds in json.loads(sys.argv[1]):
    told = []
    instance = toy.Instance(most=7, here=here, there=there)
    found = optimum(instance, jobs=2, time_limit=seconds, progress=lambda *known: told.append(known))
    print(json.dumps({
        "value": found.value, "bound": found.bound, "proved": found.proved, "evidence": found.evidence,
        "jobs": dict(found.schedule.jobs), "found": found.seconds_found, "told": told[-1:],
    }), flush=True)
"""

CASES = {
    "proved here": ("prove", "wait", None),
    "proved there": ("wait", "prove", None),
    "found there, bounded here": ("bound", "find", None),
    "found here, bounded there": ("find", "bound", None),
    "bounded there, not found": ("wait", "bound", 2.0),
    "failed there": ("find", "fail", 2.0),
    "killed there": ("find", "die", 2.0),
    "a lie there": ("wait", "lie", 2.0),
    "found here, a wrong proof there": ("find", "low", 2.0),
}


@pytest.fixture(scope="module")
def races(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What came of each case, in two processes that start others: most cases wait."""
    folder: Path = tmp_path_factory.mktemp("toy")
    (folder / "toy.py").write_text(TOY)
    halves = [dict(list(CASES.items())[half::2]) for half in (0, 1)]

    def came(cases: dict[str, Any]) -> dict[str, Any]:
        command = [sys.executable, "-c", MAIN, json.dumps(list(cases.values()))]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert (run.returncode, run.stderr) == (0, "")
        return dict(zip(cases, map(json.loads, run.stdout.splitlines()), strict=True))

    with ThreadPoolExecutor() as pool:
        return {case: found for half in pool.map(came, halves) for case, found in half.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "line"),
    {
        "proved here": "proved here",
        "proved there": "proved there",
        "found there, bounded here": "proved here",
        "found here, bounded there": "proved there",
    }.items(),
)
def test_the_first_proof_ends_the_race(case: str, line: str, races: dict[str, Any]) -> None:
    found = races[case]
    assert (found["value"], found["bound"], found["proved"]) == (7.0, 7.0, True)
    assert found["jobs"] == {"x": 7}
    assert found["evidence"] == [line]


def test_a_bound_of_another_process_is_told_and_proves_nothing(races: dict[str, Any]) -> None:
    found = races["bounded there, not found"]
    assert (found["value"], found["bound"], found["proved"]) == (0.0, 7.0, False)
    assert found["told"] == [["waiting", 0.0, 7.0]]


@pytest.mark.parametrize(
    ("case", "line"), [("failed there", "ValueError: no luck"), ("killed there", "ended before it had a result")]
)
def test_a_process_that_fails_is_told(case: str, line: str, races: dict[str, Any]) -> None:
    found = races[case]
    assert (found["value"], found["bound"], found["proved"]) == (7.0, float("inf"), False)
    assert found["evidence"] == [f"another process: {line}"]


def test_a_schedule_of_another_process_is_checked(races: dict[str, Any]) -> None:
    assert (races["a lie there"]["value"], races["a lie there"]["jobs"]) == (0.0, {})


def test_a_better_schedule_refutes_the_proof_of_another_process(races: dict[str, Any]) -> None:
    found = races["found here, a wrong proof there"]
    assert (found["value"], found["bound"], found["proved"]) == (7.0, float("inf"), False)
    assert any("nothing better than 6, refuted" in line for line in found["evidence"])


def test_a_process_that_cannot_start_leaves_the_search_for_schedules_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: Child) -> None:
        raise OSError("no more processes")

    shared = []

    def noted(*arguments: Any, others: Others, **named: Any) -> Any:
        shared.append(others.present())
        return solve_fragmented(*arguments, others=others, **named)

    monkeypatch.setattr(Child, "start", refused)
    monkeypatch.setattr(solver, "solve_fragmented", noted)
    assert optimum(INSTANCES[-1], jobs=2).proved
    assert shared
    assert not any(shared)


INSTANCES = [
    *(hadar.preset("benchmark", seed, jobs=8, machines=4, types=3, slots=10) for seed in range(3)),
    dmlrs.preset("benchmark", 0, jobs=6, machines=3, slots=6, multiple=3, load=0.95),
]


@pytest.mark.slow
@pytest.mark.parametrize("instance", longer(INSTANCES, *INSTANCES[1:3]), ids=lambda instance: problem_of(instance).name)
def test_two_processes_prove_the_same_value(instance: Any) -> None:
    one, two = optimum(instance), optimum(instance, jobs=2)
    assert one.proved
    assert two.proved
    assert two.value == pytest.approx(one.value, rel=1e-6)
    assert problem_of(instance).check(instance, two.schedule) == []


def test_what_ends_early_does_not_wait_for_a_search() -> None:
    """Nothing fits, by exhaustive search; only the tree over the rationals shows it, if there is time left for it."""
    instance = dmlrs.Instance.load(paths.GOLDEN / "dmlrs-async-nothing-fits.json")
    found = optimum(instance, jobs=2, time_limit=20)
    assert (found.value, found.bound, found.proof) == (0, 0, Proof.EXACT)
