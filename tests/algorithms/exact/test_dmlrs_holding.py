"""What single machines hold: its prices against all contents of a machine; rows refute plans, and no schedule."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dlsched.algorithms import optimum
from dlsched.algorithms.exact.dmlrs.holding import holdings
from dlsched.algorithms.exact.dmlrs.summed import Summed
from dlsched.bounds.pd_ors.families import all_epochs
from dlsched.models import build, solve
from dlsched.models.dmlrs import AsyncJob, Instance, Job, check, preset, random
from dlsched.models.dmlrs.frame import servers_needed
from dlsched.models.numbers import agree, exceeds
from dlsched.relaxations import aggregate_machines


def small(seed: int, asynchronous: bool) -> Instance:
    return random(seed, jobs=3, machines=3, slots=2, resources=2, capacity=5, identical=True, asynchronous=asynchronous)


def contents(instance: Instance) -> list[dict[tuple[str, str], int]]:
    """Return all that a machine may hold, by the papers' rules: each job is at home on it, or has some of it there."""
    machine = instance.machines[0]
    nothing: dict[tuple[str, str], int] = {}
    found = [(nothing, dict.fromkeys(instance.resources, Fraction(0)))]
    for job in instance.jobs:
        own: list[tuple[dict[tuple[str, str], int], int, int]] = []
        for w, s in product(range(job.most_workers + 1), range(servers_needed(job) + 1)):
            if isinstance(job, Job) or not s:
                own.append(({("spread_workers", job.name): w, ("spread_servers", job.name): s}, w, s))
            if isinstance(job, AsyncJob) or job.workers_per_server * s >= w:
                own.append(
                    ({("home", job.name): 1, ("home_workers", job.name): w, ("home_servers", job.name): s}, w, s)
                )
        after = []
        for counts, used in found:
            for more, w, s in own:
                then = {r: used[r] + w * job.worker_needs(r) + s * job.server_needs(r) for r in used}
                if all(amount <= machine.capacity_of(r) for r, amount in then.items()):
                    after.append(({**counts, **more}, then))
        found = after
    return [counts for counts, _ in found]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_no_content_is_dearer_than_the_dearest(seed: int, asynchronous: bool) -> None:
    instance = small(seed, asynchronous)
    (holding,) = holdings(aggregate_machines(instance))
    rng = np.random.default_rng(seed)
    # A kind that the program does not have, as a job never has it there, is in no content.
    every = [
        counts for counts in contents(instance) if all(kind in holding.kinds for kind, count in counts.items() if count)
    ]
    for _ in range(5):
        prices = rng.integers(-300, 1000, len(holding.kinds))
        price = dict(zip(holding.kinds, prices.tolist(), strict=True))
        dearest = max(sum(price.get(kind, 0) * count for kind, count in counts.items()) for counts in every)
        found = holding.dearest(prices)
        assert found is not None
        assert found[0] == dearest
        assert int(found[1] @ prices) == dearest


@pytest.mark.slow
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_rows_leave_every_optimum(seed: int, asynchronous: bool) -> None:
    instance = small(20 + seed, asynchronous)
    value = solve(build("dmlrs/compact-milp", instance)).objective
    summed = Summed.of(instance)
    summed.solve()
    before = summed.upper
    while summed.tighten():
        summed.solve()
        assert summed.finished
    assert not exceeds(value, summed.upper)
    assert summed.upper <= before
    assert summed.confirmed()


@pytest.mark.parametrize(
    ("seed", "before", "value"), [(4, 194.288, 193.945558), (21, 170.968, 141.18759), (24, 322.65, 283.767045)]
)
def test_plans_for_the_sum_that_fit_no_machines_are_refuted(seed: int, before: float, value: float) -> None:
    """The values are those of `dmlrs/compact-milp` in HiGHS."""
    instance = crowded(seed)
    summed = Summed.of(instance)
    summed.solve()
    assert summed.upper == pytest.approx(before, rel=1e-5)
    assert summed.value == 0
    while summed.tighten():
        summed.solve()
    assert agree(summed.upper, value)
    assert agree(summed.value, value)
    assert check(instance, summed.best) == []
    assert summed.confirmed()


def crowded(seed: int) -> Instance:
    """Return a cluster of the paper's ranges, three machines that hold more contents than can be listed."""
    return all_epochs(preset("paper", seed, jobs=5, machines=3, slots=5))


def test_a_row_that_machines_do_not_keep_is_not_confirmed() -> None:
    summed = Summed.of(crowded(21))
    summed.solve()
    assert summed.tighten()
    holding, row = summed.rows[0]
    summed.rows[0] = (holding, replace(row, most=row.most * 99 // 100))
    assert not summed.confirmed()


def test_what_rests_on_rows_says_so() -> None:
    found = optimum(crowded(21))
    assert found.proved
    assert any("rows of what single machines hold, by two routes" in note for note in found.evidence)
