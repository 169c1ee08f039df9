"""The programs in exact rationals: what they restate, and that nothing is lost by leaving out."""

from __future__ import annotations

import copy
import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms.exact.certificates import ExactProgram
from dlsched.algorithms.exact.ddljs import rationals as ddljs_rationals
from dlsched.algorithms.exact.dmlrs import rationals as dmlrs_rationals
from dlsched.algorithms.exact.hadar import rationals as hadar_rationals
from dlsched.algorithms.exact.smd import rationals as smd_rationals
from dlsched.models import build, hadar, smd
from dlsched.models.ddljs import Instance as DdljsInstance
from dlsched.models.ddljs import slot_problem
from dlsched.models.dmlrs import Instance
from dlsched.models.dmlrs.schedules import Column, enumerate_schedules
from dlsched.solvers.matrix import compile_model
from tests.audit.numerals import exact
from tests.audit.scaling import jittered, rescaled
from tests.longer import longer
from tests.oracles import dmlrs as oracle
from tests.rationals import assert_restates
from tests.strategies import ddljs as ddljs_strategies
from tests.strategies import dmlrs as strategies
from tests.strategies import smd as smd_strategies

Data = dict[str, Any]

NUMBERS: dict[str, Callable[[Data, np.random.Generator], Data]] = {
    "plain": lambda data, rng: data,
    "jittered": jittered,
    "badly scaled": lambda data, rng: rescaled(data, rng).data,
}


@pytest.fixture(params=NUMBERS)
def numbers(request: pytest.FixtureRequest) -> Callable[[Data, int], Data]:
    """A document's numbers as they are, jittered to ordinary floats, or in units of their own."""
    change = NUMBERS[request.param]
    return lambda data, seed: change(data, np.random.default_rng(seed))


@pytest.mark.parametrize("seed", longer(range(30), *range(10, 30)))
def test_dmlrs_restates_schedules_and_their_dual(seed: int, numbers: Callable[[Data, int], Data]) -> None:
    instance = Instance.parse(numbers(strategies.draw(seed), seed))
    schedules = {job.name: dmlrs_rationals.undominated(instance, job) for job in instance.jobs}
    model = build("dmlrs/schedules", instance, schedules=schedules)
    assert_restates(dmlrs_rationals.program(instance), compile_model(model))
    dual = build("dmlrs/dual", instance, schedules=schedules)
    assert_restates(dmlrs_rationals.dual_over(instance, schedules), compile_model(dual))


@pytest.mark.parametrize("seed", longer(range(60), *range(20, 60)))
def test_dmlrs_program_has_the_optimum(seed: int, numbers: Callable[[Data, int], Data]) -> None:
    """Over one schedule a job or none, all of them tried, the program is worth what exhaustive search finds."""
    source = strategies.draw(seed, jobs=2, slots=2)
    for job in source["jobs"]:
        # The two need not have the same last digit of an exponential.
        if job["utility"]["kind"] == "sigmoid":
            job["utility"] = {"kind": "hyperbolic", "scale": 7}
    data = numbers(source, seed)
    assert _best(dmlrs_rationals.program(Instance.parse(data))) == oracle.optimum(exact(data))[0]


def _best(program: ExactProgram) -> Fraction:
    """Return the optimum of a program of binaries with rows ``once`` and capacities, by trying every choice."""
    groups = [[*row.terms] for row in program.rows if row.name.startswith("once")]
    rooms = [row for row in program.rows if not row.name.startswith("once")]
    best = Fraction(0)

    def choose(rest: list[list[int]], chosen: list[int], worth: Fraction) -> None:
        nonlocal best
        if any(sum((row.terms.get(j, Fraction(0)) for j in chosen), Fraction(0)) > row.upper for row in rooms):
            return
        best = max(best, worth)
        if rest:
            choose(rest[1:], chosen, worth)
            for j in rest[0]:
                choose(rest[1:], [*chosen, j], worth + program.columns[j].cost)

    choose(groups, [], Fraction(0))
    return best


@pytest.mark.parametrize("seed", range(40))
def test_each_schedule_has_one_that_takes_its_place(seed: int) -> None:
    """What is left out uses no less and ends no earlier than one that stays; of those that stay no two compare so."""
    instance = Instance.parse(strategies.draw(seed))
    for job in instance.jobs:
        kept = dmlrs_rationals.undominated(instance, job)
        for schedule in enumerate_schedules(instance, job):
            if schedule.utility > 0:
                assert any(_dominates(instance, other, schedule) for other in kept)
        # Placements that use nothing are free in any slot, and later ones of them stay.
        for schedule in kept if job.uses(1, 0) and job.uses(0, 1) else ():
            assert [other for other in kept if _dominates(instance, other, schedule)] == [schedule]


def _dominates(instance: Instance, one: Column, other: Column) -> bool:
    more = other.usage(instance)
    fits = all(amount <= more.get(place, 0) for place, amount in one.usage(instance).items())
    return fits and one.completion <= other.completion and one.utility >= other.utility


def test_too_many_placements_are_refused() -> None:
    data = strategies.draw(0, asynchronous=False, jobs=1)
    data["machines"] = [{"name": f"m{h}", "capacity": dict.fromkeys(data["resources"], 50)} for h in range(9)]
    for job in data["jobs"]:
        job |= {"batch": 40, "worker": {data["resources"][0]: 1}, "server": {data["resources"][0]: 1}}
    with pytest.raises(ValueError, match="too many"):
        dmlrs_rationals.program(Instance.parse(data))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_placements_for_which_there_is_no_room_are_tried_up_to_the_limit_too(asynchronous: bool) -> None:
    # No machine holds a server; a server of the thesis bears less than one worker exchanges.
    own: Data = {"samples": 60, "batch": 64, "slots_per_sample": 1, "workers_per_server": 4, "server": {"mem": 100}}
    if asynchronous:
        own = {"chunks": 64, "minibatches_per_chunk": 1, "slots_per_minibatch": 0, "server_rate": "1/2"}
        own["server"] = {"mem": 1}
    job = {"name": "j", "arrival": 1, "epochs": 1, "gradient_size": 1, "internal_rate": 10, "external_rate": 1}
    job |= {"worker": {"gpu": 1}, "utility": {"kind": "table", "values": [5, 4]}} | own
    machines = [{"name": f"m{h}", "capacity": {"gpu": 8, "mem": 64}} for h in range(8)]
    instance = Instance.parse({"slots": 2, "resources": ["gpu", "mem"], "machines": machines, "jobs": [job]})
    with pytest.raises(ValueError, match="job j has too many placements to list"):
        dmlrs_rationals.program(instance)


@pytest.mark.parametrize("seed", longer(range(30), *range(10, 30)))
def test_ddljs_restates_circulations(seed: int, numbers: Callable[[Data, int], Data]) -> None:
    data = numbers(ddljs_strategies.drawn(seed).dump(), seed)
    instance = DdljsInstance.parse(ddljs_strategies.with_logarithm(data) if seed % 5 == 0 else data)
    assert_restates(ddljs_rationals.program(instance), compile_model(build("ddljs/offline-circulation", instance)))


@pytest.mark.parametrize("seed", longer(range(30), *range(10, 30)))
def test_ddljs_restates_the_circulations_of_a_slot(seed: int, numbers: Callable[[Data, int], Data]) -> None:
    instance = DdljsInstance.parse(numbers(ddljs_strategies.drawn(seed).dump(), seed))
    program = ddljs_rationals.slot_program(slot_problem(instance, 1))
    assert_restates(program, compile_model(build("ddljs/slot-circulation", instance)))


def test_jobs_with_a_placement_are_refused() -> None:
    data = ddljs_strategies.with_placement(1, ddljs_strategies.drawn(1).dump())
    instance = DdljsInstance.parse(data)
    with pytest.raises(ddljs_rationals.PlacedError, match="placement"):
        ddljs_rationals.program(instance)
    with pytest.raises(ddljs_rationals.PlacedError, match="placement"):
        ddljs_rationals.slot_program(slot_problem(instance, 1))


@pytest.mark.parametrize("where", ["c", "offset", "upper", "lower", "row_upper", "row_lower", "A", "integer", "sense"])
def test_a_difference_is_found(where: str) -> None:
    """The comparison with a compiled formulation fails where it is not the same in one place."""
    instance = DdljsInstance.parse(ddljs_strategies.drawn(1).dump())
    matrix = compile_model(build("ddljs/offline-circulation", instance))
    value = copy.deepcopy(getattr(matrix, where))
    if where in ("offset", "sense"):
        value = -value or 1e-9
    elif where == "A":
        value.data[0] *= 1 + 1e-9
    else:
        at = int(np.flatnonzero(np.isfinite(value) & (value != 0 if where in ("c", "row_upper") else True))[0])
        value[at] = not value[at] if where == "integer" else value[at] + 1e-9
    with pytest.raises(AssertionError):
        assert_restates(ddljs_rationals.program(instance), replace(matrix, **{where: value}))


WHOLE = ("work", "hall")
"""Rows in whose place there are those of whole numbers."""


@pytest.mark.parametrize("seed", range(30))
def test_hadar_restates_hall_but_rows_of_whole_numbers(seed: int) -> None:
    instance = hadar.preset("random", seed, jobs=4, slots=5)
    program, matrix = hadar_rationals.program(instance), compile_model(build("hadar/hall", instance))
    kept = [i for i, name in enumerate(matrix.row_names) if not name.startswith(WHOLE)]
    others = replace(
        matrix,
        A=matrix.A[kept],
        row_names=[matrix.row_names[i] for i in kept],
        row_lower=matrix.row_lower[kept],
        row_upper=matrix.row_upper[kept],
    )
    # Without the others a column may stand in no row.
    rows = tuple(row for row in program.rows if not row.name.startswith(WHOLE))
    assert_restates(replace(program, rows=rows), others)


@pytest.mark.parametrize("seed", range(30))
def test_hadar_rows_of_work_are_kept_by_what_does_the_work(seed: int) -> None:
    """Whatever runs in the slots before: a job may complete where it has done its work, and only there."""
    instance = hadar.preset("random", seed, jobs=2, slots=5)
    program = hadar_rationals.program(instance)
    columns = {column.name: j for j, column in enumerate(program.columns)}
    for job in instance.jobs:
        levels = [level for level in instance.levels(job) if f"bottleneck[{job.name},{job.arrival},{level}]" in columns]
        if not levels:
            continue
        for t in range(job.arrival, instance.slots + 1):
            rows = [row for row in program.rows if row.name.startswith(f"work[{job.name},{t},")]
            for choice in itertools.product([None, *levels], repeat=t - job.arrival + 1):
                ran = [(slot, level) for slot, level in enumerate(choice, job.arrival) if level]
                point = {columns[f"bottleneck[{job.name},{slot},{level}]"] for slot, level in ran}
                point.add(columns[f"completion[{job.name},{t}]"])
                kept = all(sum(value for j, value in row.terms.items() if j in point) >= 0 for row in rows)
                assert kept == (sum(instance.work(job, level) for _, level in ran) >= job.iterations)


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(30), 1, 3, *range(6, 30)))
def test_hadar_rows_of_a_slot_are_kept_by_gangs_that_fit(seed: int) -> None:
    """Each choice of levels keeps the rows of whole numbers where it keeps Hall's, as they are in the formulation."""
    instance = hadar.preset("benchmark", seed, jobs=5, machines=3, types=2 + seed % 2, slots=3)
    program, matrix = hadar_rationals.program(instance), compile_model(build("hadar/hall", instance))
    names = [column.name for column in program.columns]
    for t in range(1, instance.slots + 1):
        levels = [[None, *(n for n in names if n.startswith(f"bottleneck[{job.name},{t},"))] for job in instance.jobs]
        own = [row for row in program.rows if row.name.startswith("hall[") and row.name.split(",")[1] == str(t)]
        printed = [i for i, n in enumerate(matrix.row_names) if n.startswith("hall[") and n.endswith(f",{t}]")]
        for choice in itertools.product(*levels):
            running = {name for name in choice if name}
            kept = all(sum(v for j, v in row.terms.items() if names[j] in running) <= row.upper for row in own)
            point = np.array([name in running for name in matrix.column_names], dtype=float)
            assert kept == bool((matrix.A[printed] @ point <= matrix.row_upper[printed] + 1e-9).all())


_DIGESTS = """
from hashlib import sha256
from dlsched.algorithms.algorithm import exact_program
from dlsched.models import problem
for name in ("ddljs", "dmlrs", "hadar", "smd"):
    program = exact_program(name)(problem(name).preset("benchmark" if name == "hadar" else "random", 3))
    rows = [(row.name, list(row.terms.items()), row.lower, row.upper) for row in program.rows]
    print(name, sha256(repr((program.columns, rows)).encode()).hexdigest())
"""


@pytest.mark.process
def test_programs_are_the_same_in_every_process() -> None:
    """Leaves of a certificate name rows by number, so no order may come from a set."""
    command = [sys.executable, "-c", _DIGESTS]
    said = [
        subprocess.run(command, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in ("1", "2")
    ]
    assert said[0] == said[1] != b""


@pytest.mark.parametrize("seed", range(30))
def test_hadar_restates_p2_over_listed_schedules(seed: int) -> None:
    instance = hadar.preset("random", seed, jobs=3, slots=4)
    schedules = {job.name: hadar.enumerate_schedules(instance, job) for job in instance.jobs}
    model = build("hadar/p2", instance, schedules=schedules)
    assert_restates(hadar_rationals.over(instance, schedules), compile_model(model))


@pytest.mark.parametrize("seed", longer(range(30), *range(10, 30)))
def test_smd_restates_knapsack_and_all_points(seed: int, numbers: Callable[[Data, int], Data]) -> None:
    instance = smd.Instance.parse(numbers(smd_strategies.draw(seed), seed))
    assert_restates(smd_rationals.program(instance), compile_model(build("smd/knapsack", instance)))
    assert_restates(smd_rationals.joint(instance), compile_model(build("smd/milp", instance)))


@pytest.mark.parametrize("seed", range(40))
def test_a_job_that_ends_too_late_has_no_schedule(seed: int) -> None:
    """By listing every schedule: none is worth anything where none is needed, and only there."""
    instance = Instance.parse(strategies.draw(seed, slots=2))
    for job in instance.jobs:
        worth = [schedule for schedule in enumerate_schedules(instance, job) if schedule.utility > 0]
        assert bool(dmlrs_rationals.undominated(instance, job)) == bool(worth)


def test_placements_are_not_listed_where_the_machines_hold_too_few_workers() -> None:
    """A job needs 40 workers at once. Nine machines hold 36, in more ways than are listed; with one more it may fit."""
    data = strategies.draw(0, asynchronous=False, jobs=1, slots=1)
    resource = data["resources"][0]
    needs = {"batch": 40, "worker": {resource: 1}, "server": {resource: 1}, "workers_per_server": 40}
    work = {"arrival": 1, "epochs": 1, "samples": 40, "slots_per_sample": 1, "gradient_size": 0}
    data["jobs"] = [data["jobs"][0] | needs | work | {"utility": {"kind": "hyperbolic", "scale": 7}}]
    machines = [{"name": f"m{h}", "capacity": {resource: 4}} for h in range(11)]
    assert not dmlrs_rationals.program(Instance.parse(data | {"machines": machines[:9]})).columns
    with pytest.raises(ValueError, match="too many"):
        dmlrs_rationals.program(Instance.parse(data | {"machines": machines}))
