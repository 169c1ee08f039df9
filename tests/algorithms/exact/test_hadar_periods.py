"""Hadar over many slots: bounds over periods of slots, and schedules by lists of jobs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dlsched.algorithms.exact import hadar as exact
from dlsched.algorithms.exact.hadar import solver
from dlsched.algorithms.exact.hadar.greedy import Lists
from dlsched.algorithms.exact.hadar.periods import Periods
from dlsched.algorithms.exact.hadar.problem import useful_jobs, what_matters
from dlsched.algorithms.exact.hadar.solver import knowledge
from dlsched.models.hadar import Instance, check, exact_utility, preset, random
from tests.longer import longer


def periods(instance: Instance) -> Periods:
    return Periods(instance, knowledge(instance), *what_matters(instance), 0)


def two_jobs() -> Instance:
    """Two jobs of two slots each on one device, worth 10, 8, 6, 4 by completion: 8 + 4 in four slots, by hand."""
    utility = {"kind": "table", "values": [10, 8, 6, 4]}
    job = {"arrival": 1, "gang": 1, "iterations": 2, "rate": {"gpu": 1}, "utility": utility}
    return Instance.parse(
        {
            "slots": 4,
            "slot_seconds": 1,
            "device_types": ["gpu"],
            "machines": [{"name": "m", "devices": {"gpu": 1}}],
            "jobs": [{"name": name, **job} for name in ("a", "b")],
        }
    )


@pytest.mark.parametrize(("ends", "bound"), [([0, 4], 16), ([0, 2, 4], 14), ([0, 1, 2, 3, 4], 12)])
def test_two_jobs_by_hand(ends: list[int], bound: float) -> None:
    """One period: both are complete in the second slot, 8 each. Two: 2 slots' work by the end of the first, one job,
    and the other one in the third slot, 6. Four: what is complete does not run, so half of a job that is complete in
    the third slot is a quarter more in the fourth: no better than all of it there."""
    found, _ = periods(two_jobs())._over(np.array(ends))
    assert found == pytest.approx(bound)


def test_a_job_that_is_worth_nothing_late_is_complete_all_the_same() -> None:
    """One that is worth 8 in the second slot and nothing later, then one that is worth 4 in the fourth: 12."""
    data = two_jobs().dump()
    data["jobs"][0]["utility"]["values"] = [10, 8, 0, 0]
    for ends in ([0, 1, 2, 3, 4], [0, 2, 3, 4]):
        found, _ = periods(Instance.parse(data))._over(np.array(ends))
        assert found == pytest.approx(12)


def test_a_gang_takes_the_slowest_devices_that_will_do() -> None:
    """The first job does as well on either device, the second one runs on the fast one alone."""
    data = two_jobs().dump()
    data["device_types"], data["machines"][0]["devices"] = ["fast", "slow"], {"fast": 1, "slow": 1}
    data["jobs"][0]["rate"] = {"fast": 1, "slow": 1}
    data["jobs"][1]["rate"] = {"fast": 1, "slow": 0}
    instance = Instance.parse(data)
    jobs, slots = what_matters(instance)
    runs = Lists(instance, slots, 100).runs(jobs)
    assert [run.devices.tolist() for run in runs] == [[[0, 1]] * 2, [[1, 0]] * 2]


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(150), *range(25, 150)))
def test_bounds_over_any_periods_are_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = random(seed) if seed % 2 else preset("benchmark", seed, jobs=5, machines=2, types=2, slots=6)
    best = exact.solve(instance)
    assert best.proved
    if not useful_jobs(instance):
        return
    route = periods(instance)
    count = len(route.slots)
    coarse = np.unique(np.append(rng.integers(0, count, size=3), [0, count]))
    fine = np.unique(np.append(rng.integers(0, count, size=3), coarse))
    (loose, gains), (tight, _) = route._over(coarse), route._over(fine)
    assert loose is not None
    assert tight is not None
    assert (gains > -1e-6).all()
    assert loose >= tight * (1 - 1e-9) >= best.value * (1 - 2e-9)


@pytest.mark.parametrize("seed", longer(range(100), *range(20, 100)))
def test_a_list_s_schedule_is_valid_and_worth_what_it_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = preset("benchmark", seed, jobs=8, machines=3, types=3, slots=8)
    jobs, slots = what_matters(instance)
    lists = Lists(instance, slots, 10**6)
    order = [jobs[k] for k in rng.permutation(len(jobs))]
    runs = lists.runs(order)
    schedule = lists.schedule(runs)
    assert check(instance, schedule) == []
    assert exact_utility(instance, schedule) == lists.worth(runs)
    left = Lists(instance, lists.slots, len(runs[0].slots)).runs(order)
    assert [run.needs for run in left] == [runs[0].needs]


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(12), *range(4, 12)))
def test_what_it_proves_is_the_optimum(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = preset("benchmark", seed, jobs=4 + seed % 3, machines=2, types=2, slots=8)
    best = exact.solve(instance)
    monkeypatch.setattr(solver, "_MANY_SLOTS", 0)
    found = exact.solve(instance)
    assert check(instance, found.schedule) == []
    assert found.value <= best.value * (1 + 1e-9)
    assert found.bound >= best.value * (1 - 1e-9)
    if found.proved:
        assert found.value == pytest.approx(best.value)
    assert found.value > 0.9 * best.value
    beside = solver.improve(instance, time_limit=1)
    assert not beside.proved
    assert check(instance, beside.schedule) == []


def finer(instance: Instance, times: int) -> Instance:
    """The same cluster and work in shorter slots; utilities are of so many of them."""
    data = instance.dump()
    data["slots"] *= times
    data["slot_seconds"] = f"1/{times}"
    for job in data["jobs"]:
        job["arrival"] = (job["arrival"] - 1) * times + 1
        job["utility"] = {"kind": "hyperbolic", "scale": job["iterations"]}
    return Instance.parse(data)


@pytest.mark.slow
def test_twenty_thousand_slots() -> None:
    """Graphs of all schedules took 12 GB for 2000, and the command ended with a traceback here."""
    instance = finer(preset("benchmark", 3, jobs=20, machines=10, types=3, slots=20), 1000)
    found = exact.solve(instance, time_limit=8)
    assert check(instance, found.schedule) == []
    assert 0.9 * found.bound < found.value <= found.bound
    assert any("periods of slots" in str(line) for line in found.evidence)


@pytest.mark.slow
def test_jobs_that_do_not_meet_are_proved_over_many_slots() -> None:
    """Where each job is as early as it can be, that is the bound which needs no program."""
    instance = finer(preset("benchmark", 3, jobs=2, machines=30, types=3, slots=20), 2000)
    found = exact.solve(instance, time_limit=20)
    assert found.proved
    alone = sum((j.job.utility.exact(j.first - j.job.arrival) for j in useful_jobs(instance)), Fraction(0))
    assert found.value == pytest.approx(float(alone))


@pytest.mark.slow
def test_a_job_alone_asks_for_few_programs() -> None:
    """None of them lowers the bound; it took minutes, and was worth nothing without a word of why."""
    data = two_jobs().dump()
    data["slots"], data["jobs"] = 10**6, [data["jobs"][0] | {"iterations": 6 * 10**5}]
    data["jobs"][0]["utility"] = {"kind": "hyperbolic", "scale": 10**6}
    found = exact.solve(Instance.parse(data))
    assert 0.0 == found.value < found.bound
    assert any("schedules of at most 500000 slots" in line for line in found.evidence)
    assert any(int(line.split(", ")[1].split()[0]) < 100 for line in found.evidence if "over periods" in line)
