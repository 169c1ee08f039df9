"""Why jobs were turned away, against all schedules that still fitted; why a schedule is not better; one more."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms import Rejection, hadar, one_more, optimum, pd_ors, rejections, shortfall, smd
from dlsched.models import InputError, dmlrs, problem
from dlsched.models import hadar as hadar_problem
from dlsched.models import smd as smd_problem
from dlsched.models.dmlrs.schedules import enumerate_schedules as schedules_of_dmlrs
from dlsched.models.hadar.schedules import enumerate_schedules as schedules_of_hadar

Usage = dict[tuple[str, str, int], Any]


def drawn(name: str, seed: int, **sizes: Any) -> Any:
    return problem(name).families["random"](np.random.default_rng(seed), **sizes)


def best(columns: list[tuple[Fraction, Usage]], room: Usage, prices: Usage) -> tuple[float, float] | None:
    """The greatest payoff of all schedules that fit, with its utility; None where none fits."""
    fitting = [(u, use) for u, use in columns if u > 0 and all(n <= room[place] for place, n in use.items())]
    payoffs = [
        (float(u) - sum(float(n) * prices.get(at, 0.0) for at, n in use.items()), float(u)) for u, use in fitting
    ]
    return max(payoffs, default=None)


def agrees(found: Rejection, expected: tuple[float, float] | None) -> None:
    if expected is None:
        assert found.utility is None
        assert "fitted beside the jobs before it" in found.reason
        return
    assert found.utility is not None
    assert found.cost is not None
    assert found.utility - found.cost == pytest.approx(expected[0], rel=1e-6, abs=1e-7)
    assert found.utility <= found.cost + 1e-9
    assert found.cost == pytest.approx(sum(one.amount * one.price for one in found.purchases))
    assert "is no more than the cost of" in found.reason


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["corrected", "printed"])
def test_jobs_that_hadar_turns_away(variant: str) -> None:
    reasons = Counter[bool]()
    for seed in range(30):
        instance = drawn("hadar", seed, jobs=5, slots=4)
        run = hadar.run(instance, variant=variant)
        told = {one.job: one for one in rejections(instance, run).jobs}
        known = hadar.constants(instance, variant)
        used: Counter[tuple[str, str, int]] = Counter()
        for decision in run.log:
            job = instance.job(decision.job)  # type: ignore[attr-defined]
            places = [
                (h.name, r, t) for h in instance.machines for r in h.devices for t in range(1, instance.slots + 1)
            ]
            if job.name in told:
                columns = [(c.utility, c.usage()) for c in schedules_of_hadar(instance, job, minimal=False)]
                room = {(h, r, t): instance.machine(h).count(r) - used[h, r, t] for h, r, t in places}
                prices = {
                    (h, r, t): known.price(h, r, used[h, r, t]) for h, r, t in places if instance.machine(h).count(r)
                }
                agrees(told[job.name], best(columns, room, prices))
                reasons[told[job.name].utility is None] += 1
            for step in decision.steps:  # type: ignore[attr-defined]
                used[step.machine, step.type, step.slot] += step.devices
        assert set(told) == {job.name for job in instance.jobs} - set(run.schedule.jobs)
    assert reasons[True]
    assert reasons[False] or variant == "printed"


@pytest.mark.slow
def test_jobs_that_pd_ors_turns_away() -> None:
    reasons = Counter[bool]()
    for seed in range(25):
        instance = drawn("dmlrs", seed)
        run = pd_ors.run(instance)
        told = {one.job: one for one in rejections(instance, run).jobs}
        known = pd_ors.constants(instance)
        used: dict[tuple[str, str, int], Fraction] = defaultdict(Fraction)
        cells = [(machine, r) for machine in instance.machines for r in instance.resources]
        for decision in run.log:
            assert isinstance(decision, pd_ors.JobDecision)
            job = instance.job(decision.job)
            if job.name in told:
                columns = [(c.utility, c.usage(instance)) for c in schedules_of_dmlrs(instance, job)]
                slots = range(1, instance.slots + 1)
                room = {(h.name, r, t): h.capacity_of(r) - used[h.name, r, t] for h, r in cells for t in slots}
                prices = {
                    place: known.price(*place[:2], used[place]) for place in room if place[:2] in known.saturation
                }
                agrees(told[job.name], best(columns, room, prices))
                reasons[told[job.name].utility is None] += 1
            for t, placement in decision.placements.items():
                for h, (workers, servers) in placement.items():
                    for r, amount in job.uses(workers, servers).items():
                        used[h, r, t] += amount
    assert sum(reasons.values()) > 5


def test_runs_without_posted_prices_are_refused() -> None:
    instance = drawn("hadar", 0)
    with pytest.raises(InputError, match="does not decide once for each job at posted prices"):
        rejections(instance, hadar.run(instance, mode="rounds"))
    other = smd_problem.preset("random", 0)
    with pytest.raises(InputError, match="posted prices"):
        rejections(other, smd.run(other))


def test_nobody_turned_away() -> None:
    instance = hadar_problem.preset("benchmark", 0, jobs=1, machines=2, types=2, slots=4)
    run = hadar.run(instance)
    assert list(run.schedule.jobs) == [job.name for job in instance.jobs]
    assert str(rejections(instance, run)) == "No job was turned away"


@pytest.mark.parametrize("name", ["hadar", "dmlrs", "smd", "ddljs"])
def test_why_a_schedule_is_not_better(name: str) -> None:
    instance = drawn(name, 3)
    own = problem(name)
    empty = own.schedule.parse({"problem": name, "jobs": {}})
    best_known = optimum(instance)
    found = shortfall(instance, empty)
    assert found.utility == pytest.approx(float(own.utility(instance, empty)))
    assert found.best.value == pytest.approx(best_known.value)
    assert sum(here - there for _, here, there in found.jobs) == pytest.approx(found.utility - found.best.value)
    assert found.jobs == tuple(sorted(found.jobs, key=lambda job: job[1] - job[2]))
    whole = shortfall(instance, best_known.schedule)
    assert whole.gap == pytest.approx(0, abs=1e-6)
    assert whole.dump()["evidence"] == list(whole.best.evidence)
    assert "because" in str(whole)


def test_schedules_that_break_rules_are_refused() -> None:
    instance = drawn("hadar", 0)
    job, machine = instance.jobs[0], instance.machines[0]
    many = {job.name: {"slots": {"1": {machine.name: {next(iter(machine.devices)): 99}}}}}
    with pytest.raises(InputError, match="breaks a rule"):
        shortfall(instance, hadar_problem.Schedule.parse({"problem": "hadar", "jobs": many}))


@pytest.mark.parametrize("name", ["hadar", "smd", "ddljs"])
def test_one_more_of_each(name: str) -> None:
    instance = drawn(name, 5)
    found = one_more(instance)
    larger = problem(name).larger(instance)
    assert [one.resource for one in found.more] == list(larger)
    for one in found.more:
        again = optimum(larger[one.resource])
        assert one.value == pytest.approx(again.value)
        assert one.least is not None
        assert one.most is not None
        assert -1e-6 <= one.least <= one.most + 1e-6
        assert one.least <= again.value - found.now.value + 1e-6
        assert again.value - found.now.value <= one.most + 1e-6


def test_what_one_more_is() -> None:
    instance = dmlrs.Instance.parse(drawn("dmlrs", 1).dump())
    larger = problem("dmlrs").larger(instance)
    assert list(larger) == list(
        dict.fromkeys(r for machine in instance.dump()["machines"] for r in machine["capacity"])
    )
    for resource, grown in larger.items():
        before = [machine.capacity_of(resource) for machine in instance.machines]
        after = [machine.capacity_of(resource) for machine in grown.machines]
        assert sum(after) == sum(before) + 1
        assert max(after) == max(before) + 1
