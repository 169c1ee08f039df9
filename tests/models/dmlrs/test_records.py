"""The DMLRS rules of the package agree with the oracle's on random placements and schedules, valid and broken."""

from __future__ import annotations

import copy
import itertools
import json
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest

from dlsched.models import dmlrs
from dlsched.models.dmlrs import Instance, Schedule, check, completions, exact_utility
from dlsched.models.numbers import agree
from tests import paths
from tests.longer import in_two, longer
from tests.oracles import dmlrs as oracle
from tests.strategies import dmlrs as dmlrs_strategies

GOLDEN = json.loads((paths.GOLDEN / "dmlrs.json").read_text())
CASES = {case["name"]: case for case in GOLDEN["instances"]}

Plan = dict[str, dict[int, dict[str, tuple[int, int]]]]

RULES = {
    "names": "names",
    "slots": "slots",
    "(7) arrival": "slots",
    "(3.7) arrival": "slots",
    "counts": "job",
    "(4) workers": "job",
    "(3.2) workers": "job",
    "(2) servers": "job",
    "(3.4) servers": "job",
    "(3.5) servers": "job",
    "(5) capacity": "capacity",
    "(3.3) capacity": "capacity",
    "(3) work": "work",
    "(3.1) work": "work",
}


def agree_on(data: Any, plan: Plan) -> set[str]:
    """Compare the rules that are broken, and the utility where it has a meaning; return the rules."""
    instance, schedule = Instance.parse(data), Schedule.of(plan)
    found = {RULES[violation.rule] for violation in check(instance, schedule)}
    expected = oracle.violations(data, schedule.dump())
    if "job" in expected:  # work at rates that no rule defines: unfinished or not, the schedule is infeasible
        found, expected = found - {"work"}, expected - {"work"}
    assert found == expected
    assert (not found) == oracle.feasible(data, schedule.dump())
    if not found & {"names", "slots", "job"}:
        assert agree(exact_utility(instance, schedule), oracle.value(data, schedule.dump()))
    return found


def optimal(data: Any) -> Plan:
    """Return the oracle's optimal schedule."""
    _, schedule = oracle.optimum(data)
    return {
        name: {
            int(t): {h: (c["workers"], c["servers"]) for h, c in placement.items()}
            for t, placement in entry["slots"].items()
        }
        for name, entry in schedule["jobs"].items()
    }


def anything(data: Any, rng: np.random.Generator) -> Plan:
    """Return allocations without a thought: up to two workers and two servers on any machine in any slot."""
    return {
        job["name"]: {
            t: {m["name"]: (int(rng.integers(3)), int(rng.integers(3))) for m in data["machines"] if rng.integers(3)}
            for t in range(int(job["arrival"]), data["slots"] + 1)
        }
        for job in data["jobs"]
        if rng.integers(3)
    }


def broken(data: Any, plan: Plan, rng: np.random.Generator) -> Plan:
    """Change one thing: a count, a slot, a machine, or drop a slot; add an allocation where there is none."""
    changed = copy.deepcopy(plan)
    machines = [machine["name"] for machine in data["machines"]]
    entries = [(name, t, h) for name, slots in changed.items() for t, placed in slots.items() for h in placed]
    if not entries:
        name = data["jobs"][int(rng.integers(len(data["jobs"])))]["name"]
        return {name: {1: {machines[0]: (int(rng.integers(0, 2)), 1)}}}
    name, t, h = entries[int(rng.integers(len(entries)))]
    slots, (workers, servers) = changed[name], changed[name][t][h]
    match int(rng.integers(6)):
        case 0:
            slots[t][h] = (workers + int(rng.integers(-1, 3)), servers)
        case 1:
            slots[t][h] = (workers, servers + int(rng.integers(-1, 3)))
        case 2:
            slots[t + int(rng.choice([-1, 1]))] = slots.pop(t)
        case 3:
            del slots[t]
        case 4:
            other = machines[int(rng.integers(len(machines)))]
            slots[t][other] = slots[t].pop(h)
        case _:
            other, extra = int(rng.integers(1, data["slots"] + 1)), (int(rng.integers(2)), 1)
            slots.setdefault(other, {})[machines[int(rng.integers(len(machines)))]] = extra
    return changed


@pytest.mark.parametrize("seed", longer(range(60), *range(20, 60)))
def test_a_placement_does_the_same_work(seed: int) -> None:
    data = dmlrs_strategies.draw(seed)
    instance = Instance.parse(data)
    machines = [machine["name"] for machine in data["machines"]]
    for job, plain in zip(instance.jobs, data["jobs"], strict=True):
        assert job.work == oracle.work(plain)
        for counts in itertools.product(itertools.product(range(4), repeat=2), repeat=len(machines)):
            placement = dict(zip(machines, counts, strict=True))
            done = oracle.trained(plain, placement)
            workers = sum(w for w, _ in counts)
            allowed = workers <= job.most_workers and job.server_shortage(placement) is None
            assert allowed == (done is not None)
            assert done is None or job.progress(placement) == done


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_wide_placement_is_not_looked_at_pair_by_pair(asynchronous: bool) -> None:
    job = dmlrs.random(0, asynchronous=asynchronous).jobs[0]
    counted = {}
    for machines in (100, 400):
        placement = {f"machine{h}": (1, 1) for h in range(machines)}
        calls = Counter[str]()
        sys.setprofile(lambda _frame, event, _of, seen=calls: seen.update([event]))
        try:
            assert job.progress(placement) > 0
            job.server_shortage(placement)
        finally:
            sys.setprofile(None)
        counted[machines] = calls.total()
    assert counted[400] < 6 * counted[100]


@pytest.mark.slow
@in_two(60, 250)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_checkers_agree_on_any_schedule(asynchronous: bool, seeds: range) -> None:
    seen: dict[frozenset[str], int] = {}
    for seed in seeds:
        rng = np.random.default_rng(seed)
        data = dmlrs_strategies.draw(seed, asynchronous=asynchronous)
        plan = optimal(data)
        assert agree_on(data, plan) == set()
        plans = [plan, anything(data, rng)]
        for _ in range(5):
            plans = [broken(data, plan, rng) for plan in plans]
            for plan in plans:
                rules = frozenset(agree_on(data, plan))
                seen[rules] = seen.get(rules, 0) + 1
    assert all(any(rule in rules for rules in seen) for rule in ("slots", "job", "capacity", "work"))
    assert all(seen[frozenset(rules)] >= 0.08 * len(seeds) for rules in ((), ("work",), ("job",), ("capacity",)))


@pytest.mark.parametrize("place", ["nobody", "nowhere"])
def test_unknown_names_are_violations(place: str) -> None:
    data = CASES["D1"]["instance"]
    plan: Plan = {"J1": {1: {"M1": (1, 1)}, 2: {"M1": (1, 1)}}}
    assert agree_on(data, plan) == set()
    unknown: Plan = {"nobody": plan["J1"]} if place == "nobody" else {"J1": plan["J1"] | {2: {place: (1, 1)}}}
    assert agree_on(data, unknown) == {"names"}


def test_a_job_ends_at_its_last_slot_with_workers() -> None:
    """More workers than needed, later, postpone the completion (6); servers alone do not."""
    data = copy.deepcopy(CASES["D1"]["instance"])
    data["slots"], data["machines"][0]["capacity"] = 3, {"r1": 4}
    data["jobs"][0]["utility"]["values"] = [10, 4, 1]
    for last, slot in (((1, 1), 3), ((0, 1), 1)):
        plan: Plan = {"J1": {1: {"M1": (2, 2)}, 3: {"M1": last}}}
        assert agree_on(data, plan) == set()
        assert completions(Instance.parse(data), Schedule.of(plan)) == {"J1": slot}
