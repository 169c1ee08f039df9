"""The DMLRS formulations: the order of their bounds, and the external problem of a slot."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

from dlsched.models import InputError, build, solve
from dlsched.models.dmlrs import Instance, Schedule, check, exact_utility, random
from dlsched.relaxations import dual, relax
from dlsched.tolerances import TOLERANCE
from tests import paths
from tests.longer import longer

GOLDEN = json.loads((paths.GOLDEN / "dmlrs.json").read_text())
CASES = {case["name"]: case for case in GOLDEN["instances"]}
EXTERNAL = GOLDEN["external"]


def small(seed: int, *, asynchronous: bool = False) -> Instance:
    rng = np.random.default_rng(seed)
    return random(rng, jobs=2, machines=2, slots=2, capacity=3, identical=seed % 2 == 0, asynchronous=asynchronous)


@pytest.mark.slow
@pytest.mark.parametrize("seed", longer(range(24), *range(3, 24)))
def test_the_order_of_the_bounds(seed: int) -> None:
    """OPT <= LP over all schedules = its dual, and OPT <= the sum of machines; hull is at least as tight as big-M."""
    instance = small(seed, asynchronous=seed % 3 == 2)
    schedules = build("dmlrs/schedules", instance)
    best = solve(schedules).objective
    assert best is not None
    over = solve(relax(schedules).model).objective
    assert over >= best - TOLERANCE
    assert solve(build("dmlrs/dual", instance)).objective == pytest.approx(over, abs=TOLERANCE)
    assert solve(build("dmlrs/aggregate", instance)).objective >= best - TOLERANCE
    assert solve(build("dmlrs/compact-milp", instance)).objective == pytest.approx(best, abs=TOLERANCE)
    name = "dmlrs/async" if instance.asynchronous else "dmlrs/compact"
    bounds = []
    for transformation in ("gdp.hull", "gdp.bigm"):
        model = build(name, instance)
        pyo.TransformationFactory(transformation).apply_to(model)
        bounds.append(solve(relax(model).model).objective)
        assert solve(model).objective == pytest.approx(best, abs=TOLERANCE)
    assert best - TOLERANCE <= bounds[0] <= bounds[1] + TOLERANCE


@pytest.mark.parametrize("seed", range(12))
def test_the_printed_dual_is_the_dual_of_the_relaxation(seed: int) -> None:
    relaxed = relax(build("dmlrs/schedules", small(seed))).model
    for chosen in relaxed.chosen.values():
        chosen.setub(None)
    derived = dual(relaxed).model
    printed = build("dmlrs/dual", small(seed))
    if not len(printed.reduced_utility):
        assert solve(printed).objective == 0
        return
    assert solve(derived).objective == pytest.approx(solve(printed).objective, abs=TOLERANCE)
    assert set(derived.chosen) == set(printed.reduced_utility)
    assert {v.name for v in derived.component_data_objects(pyo.Var)} <= (
        {f"capacity[{h},{r},{t}]" for h, r, t in printed.price} | {f"once[{i}]" for i in printed.payoff}
    )


@pytest.mark.parametrize("seed", longer(range(12), *range(6, 12)))
def test_the_point_of_compact_is_a_schedule(seed: int) -> None:
    instance = small(seed)
    model = build("dmlrs/compact", instance)
    pyo.TransformationFactory("gdp.bigm").apply_to(model)
    best = solve(model).objective
    plan: dict[str, Any] = {}
    for i, t, h in model.placed:
        counts = round(model.workers[i, t, h].value or 0), round(model.servers[i, t, h].value or 0)
        if any(counts):
            plan.setdefault(i, {}).setdefault(t, {})[h] = counts
    admitted = {i for i in model.I if any(model.completion[i, t].value > 0.5 for t in model.slots_of[i])}
    schedule = Schedule.of({i: slots for i, slots in plan.items() if i in admitted})
    assert check(instance, schedule) == []
    assert float(exact_utility(instance, schedule)) >= best - TOLERANCE


def external() -> tuple[Instance, dict[str, Any]]:
    instance = Instance.parse(EXTERNAL["instance"])
    table = {
        name: {(h, r): float(x) for h, row in EXTERNAL[key].items() for r, x in row.items()}
        for name, key in (("prices", "prices"), ("residuals", "residual"))
    }
    return instance, table


def test_e1_with_servers_and_as_printed() -> None:
    """By the ledger of the golden data: 16.5 by the relaxation, 20 in whole numbers; 6 without servers."""
    instance, data = external()
    data |= {"workload": instance.jobs[0].work}
    right = build("dmlrs/external-slot", instance, **data)
    assert solve(relax(right).model).objective == pytest.approx(16.5)
    assert solve(right).objective == pytest.approx(20)
    assert sum(v.value for v in right.servers.values()) == sum(v.value for v in right.workers.values()) == 5
    printed = build("dmlrs/external-slot-printed", instance, **data)
    assert solve(relax(printed).model).objective == pytest.approx(6)
    assert solve(printed).objective == pytest.approx(7)
    assert all(not v.value for v in printed.servers.values())


def test_half_a_worker_more_fits_in_fractions() -> None:
    """Two machines with room for a worker and a half, at 1 and 10: three cost 2 (1.5) (1 + 10), one and a half 3."""
    data = CASES["D1"]["instance"]
    job = data["jobs"][0] | {"slots_per_sample": 1, "gradient_size": 0, "batch": 9, "workers_per_server": 1}
    job |= {"worker": {"r": 2}, "server": {}}
    machines = [{"name": name, "capacity": {"r": 3}} for name in ("m0", "m1")]
    instance = Instance.parse(data | {"resources": ["r"], "machines": machines, "jobs": [job]})
    prices = {("m0", "r"): 1, ("m1", "r"): 10}
    for name in ("dmlrs/external-slot", "dmlrs/external-slot-printed"):
        for workload, cost in ((3, 33), (1.5, 3)):
            model = build(name, instance, workload=workload, prices=prices)
            assert solve(relax(model).model).objective == pytest.approx(cost)


def test_the_external_problem_refuses_what_it_cannot_read() -> None:
    instance, _ = external()
    for data, message in (
        ({"job": "x"}, "unknown job 'x'; there are "),
        ({"prices": {("m", "r"): 1}}, r"prices: \('m', 'r'\) is not a machine and a resource"),
        ({"residuals": {(instance.machines[0].name, instance.resources[0]): -1}}, "must not be negative"),
    ):
        with pytest.raises(InputError, match=message):
            build("dmlrs/external-slot", instance, **data)


SLOTS = ["external-slot", "external-slot-printed", "internal-slot", "one-slot", "async-external-slot"]


@pytest.mark.parametrize("name", [*SLOTS, "async-external-slot-printed"])
def test_a_workload_is_not_negative(name: str) -> None:
    instance = small(1, asynchronous=name.startswith("async"))
    for workload in (-1, -0.5, Fraction(-1, 2)):
        with pytest.raises(InputError, match=r"^workload: -[0-9./]+ must not be negative$"):
            build(f"dmlrs/{name}", instance, workload=workload)
    assert build(f"dmlrs/{name}", instance, workload=0).workload == 0


def test_formulations_of_the_other_paper_are_refused() -> None:
    with pytest.raises(InputError, match="use dmlrs/async"):
        build("dmlrs/compact", small(1, asynchronous=True))
    with pytest.raises(InputError, match="use dmlrs/compact"):
        build("dmlrs/async", small(1))
    faster = CASES["D4"]["instance"]
    jobs = [job | {"internal_rate": 1, "external_rate": 2} for job in faster["jobs"]]
    with pytest.raises(InputError, match="external rate is above its internal rate"):
        build("dmlrs/compact-milp", Instance.parse(faster | {"jobs": jobs}))


@pytest.mark.parametrize(
    "name", ["dmlrs/compact", "dmlrs/async", "dmlrs/compact-milp", "dmlrs/aggregate", "dmlrs/schedules", "dmlrs/dual"]
)
def test_no_jobs(name: str) -> None:
    instance = Instance.parse(CASES["D1"]["instance"] | {"jobs": []})
    model = build(name, instance)
    if name in ("dmlrs/compact", "dmlrs/async"):
        pyo.TransformationFactory("gdp.bigm").apply_to(model)
    assert solve(model).objective == 0


@pytest.mark.slow
def test_too_many_schedules_are_not_written_out() -> None:
    data = CASES["D1"]["instance"]
    machines = [{"name": f"m{h}", "capacity": dict.fromkeys(data["resources"], 50)} for h in range(6)]
    jobs = [job | {"batch": 40, "samples": 400} for job in data["jobs"]]
    with pytest.raises(InputError, match="too many"):
        build("dmlrs/schedules", Instance.parse(data | {"slots": 9, "machines": machines, "jobs": jobs}))
