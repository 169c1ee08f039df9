"""The DMLRS oracle on cases worked out by hand, and its prunings against plain enumeration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.longer import longer
from tests.oracles import dmlrs as oracle
from tests.strategies import dmlrs as dmlrs_strategies

rational = oracle.rational


def journal(**changes: Any) -> dict[str, Any]:
    job = {"name": "J", "arrival": 1, "epochs": 1, "samples": 2, "batch": 2, "slots_per_sample": "1/2"}
    job |= {"gradient_size": "1/2", "workers_per_server": 1, "internal_rate": 1, "external_rate": "1/2"}
    return job | {"worker": {"r": 1}, "server": {"r": 1}, "utility": {"kind": "table", "values": [7, 3, 1]}} | changes


def asynchronous(**changes: Any) -> dict[str, Any]:
    job = {"name": "J", "arrival": 1, "epochs": 1, "chunks": 3, "minibatches_per_chunk": 1, "gradient_size": "1/4"}
    job |= {"slots_per_minibatch": "1/2", "internal_rate": 1, "external_rate": "1/3", "server_rate": 4}
    return job | {"worker": {"r": 1}, "server": {"r": 1}, "utility": {"kind": "table", "values": [7, 3, 1]}} | changes


def cluster(slots: int, rooms: list[Any], *jobs: dict[str, Any]) -> dict[str, Any]:
    """Return an instance; a machine's room is a number (resource r) or a mapping."""
    capacities = [room if isinstance(room, dict) else {"r": room} for room in rooms]
    resources = sorted({r for capacity in capacities for r in capacity})
    machines = [{"name": f"M{h}", "capacity": capacity} for h, capacity in enumerate(capacities, 1)]
    return {"slots": slots, "resources": resources, "machines": machines, "jobs": list(jobs)}


@pytest.mark.parametrize(
    ("rooms", "changes", "expected"),
    [
        ([4], {}, 7),
        ([2, 2], {}, 3),
        ([2, 2], {"internal_rate": "1/2", "external_rate": 1}, 7),
        ([4], {"internal_rate": "1/2", "external_rate": 1}, 3),
        ([3], {}, 3),
        ([3], {"workers_per_server": "3/2", "gradient_size": "1/3"}, 3),
        ([3], {"workers_per_server": 2, "gradient_size": "1/4"}, 7),
    ],
)
def test_journal_by_hand(rooms: list[Any], changes: dict[str, Any], expected: int) -> None:
    """Two samples; a worker needs 1 slot a sample on one machine, 3/2 across machines (or the reverse).

    Two machines of 2 give two workers across them 4/3 samples a slot, or one on one machine 1: with two workers on the
    slower link the second slot ends it (3); on the faster link, with workers and servers apart, the first does (7).
    """
    instance = cluster(3, rooms, journal(**changes))
    value, schedule = oracle.optimum(instance)
    assert value == expected
    assert oracle.feasible(instance, schedule)


@pytest.mark.parametrize(
    ("slots", "rooms", "changes", "expected"),
    [
        (2, [2, 1], {}, 3),
        (2, [2, 1], {"server_rate": "4/3"}, 3),
        (2, [2, 1], {"server_rate": "5/4"}, 0),
        (2, [2], {}, 0),
        (3, [2], {}, 1),
        (1, [6], {}, 7),
        (1, [4], {"server_rate": 3}, 7),
        (1, [5], {"server_rate": 2}, 7),
        (1, [4], {"server_rate": "5/2"}, 0),
        (3, [20], {"server_rate": "1/2"}, 0),
        (3, [20], {"server_rate": 1}, 7),
    ],
)
def test_asynchronous_by_hand(slots: int, rooms: list[Any], changes: dict[str, Any], expected: int) -> None:
    """Three mini-batches; a worker needs 1 slot beside the only server, 2 across machines.

    On machines of 2 and 1, the worker beside the server is internal although another worker is not: 3/2 a slot, with
    traffic 1 + 1/3 of the server's rate (all external, or one machine alone, would take three slots). On one machine,
    three workers need ceil(3 / B) servers, at most three.
    """
    instance = cluster(slots, rooms, asynchronous(**changes))
    value, schedule = oracle.optimum(instance)
    assert value == expected
    assert oracle.feasible(instance, schedule)


@pytest.mark.parametrize(("rate", "expected"), [(2, 7), ("3/2", 3)])
def test_a_worker_sends_to_every_machine_with_servers(rate: Any, expected: int) -> None:
    """Workers on M1, servers on M2 and M3, 1 each: a second server doubles both sides of (3.4), and helps nothing."""
    rooms = [{"w": 2}, {"s": 1}, {"s": 1}]
    job = asynchronous(chunks=2, external_rate=1, internal_rate=2, server_rate=rate, worker={"w": 1}, server={"s": 1})
    assert oracle.optimum(cluster(2, rooms, job))[0] == expected


def test_the_printed_recursion_loses_a_schedule() -> None:
    """V=3, kappa=2/3, F=1, T=2: a worker does 3/2 samples a slot, so two slots suffice; integers force 2 in one."""
    job = journal(samples=3, batch=1, slots_per_sample="2/3", gradient_size=0, server={})
    instance = cluster(2, [1], job)
    price = {("M1", "r", t): Fraction(1) for t in (1, 2)}
    assert oracle.cheapest(instance, job, price, {}, 2) == 2
    assert oracle.cheapest(instance, job, price, {}, 1) is None
    assert oracle.printed_dp(instance, job, price, {}, 2) is None
    assert oracle.printed_dp(instance | {"slots": 3}, job, price, {}, 3) == 2


def everything(instance: dict[str, Any], job: dict[str, Any]) -> list[dict[str, tuple[int, int]]]:
    """Return all allocations of a slot, surplus servers and idle ones too, that keep the job's own rules."""
    names = [machine["name"] for machine in instance["machines"]]
    counts = list(itertools.product(range(4), repeat=2))
    found = [dict(zip(names, chosen, strict=True)) for chosen in itertools.product(counts, repeat=len(names))]
    alone = instance | {"jobs": [job]}
    return [p for p in found if oracle.trained(job, p) is not None and fits(alone, [p])]


def fits(instance: dict[str, Any], chosen: list[dict[str, tuple[int, int]]]) -> bool:
    for machine in instance["machines"]:
        for r in instance["resources"]:
            used = sum(
                rational(job["worker"].get(r, 0)) * p[machine["name"]][0]
                + rational(job["server"].get(r, 0)) * p[machine["name"]][1]
                for job, p in zip(instance["jobs"], chosen, strict=True)
            )
            if used > rational(machine["capacity"].get(r, 0)):
                return False
    return True


def enumerated(instance: dict[str, Any]) -> Fraction:
    """Return the optimum over all joint allocations, slot by slot, nothing left out."""
    jobs = instance["jobs"]
    choices = [everything(instance, job) for job in jobs]
    joint = {
        tuple(oracle.trained(job, p) for job, p in zip(jobs, chosen, strict=True))
        for chosen in itertools.product(*choices)
        if fits(instance, list(chosen))
    }
    states = {tuple(oracle.work(job) for job in jobs): Fraction(0)}
    for t in range(1, instance["slots"] + 1):
        following: dict[Any, Fraction] = {}
        for (left, earned), done in itertools.product(states.items(), joint):
            after, total = [], earned
            for job, amount, gained in zip(jobs, left, done, strict=True):
                now = max(Fraction(0), amount - gained) if t >= job["arrival"] else amount
                total += oracle.worth(job, t - job["arrival"]) if amount and not now else 0
                after.append(now)
            following[tuple(after)] = max(following.get(tuple(after), Fraction(0)), total)
        states = following
    return max(states.values())


@pytest.mark.parametrize("seed", longer(range(60), *range(20, 60)))
def test_nothing_that_is_left_out_matters(seed: int) -> None:
    instance = dmlrs_strategies.draw(seed, jobs=2, slots=2)
    if math.prod(len(everything(instance, job)) for job in instance["jobs"]) > 20_000:
        instance["jobs"] = instance["jobs"][:1]
    value, schedule = oracle.optimum(instance)
    assert value == enumerated(instance)
    assert oracle.feasible(instance, schedule)
    assert oracle.value(instance, schedule) == value


def market(instance: dict[str, Any], rng: np.random.Generator) -> tuple[dict[Any, Fraction], dict[Any, Fraction]]:
    """Return random prices and residual capacities of all cells."""
    cells = [
        (m["name"], r, t, rational(m["capacity"].get(r, 0)))
        for m in instance["machines"]
        for r in instance["resources"]
        for t in range(1, instance["slots"] + 1)
    ]
    price = {(h, r, t): Fraction(int(rng.integers(0, 9)), 4) for h, r, t, _ in cells}
    room = {(h, r, t): max(Fraction(0), c - int(rng.integers(0, 2))) for h, r, t, c in cells}
    return price, room


def enumerated_cost(instance: dict[str, Any], job: Any, price: Any, room: Any, deadline: int) -> Fraction | None:
    costs = {oracle.work(job): Fraction(0)}
    for t in range(job["arrival"], deadline + 1):
        machines = [
            m | {"capacity": {r: room[m["name"], r, t] for r in instance["resources"]}} for m in instance["machines"]
        ]
        following: dict[Fraction, Fraction] = {}
        for placement in everything(instance | {"machines": machines}, job):
            done = oracle.trained(job, placement)
            assert done is not None
            cost = sum(
                price[h, r, t] * (rational(job["worker"].get(r, 0)) * w + rational(job["server"].get(r, 0)) * s)
                for h, (w, s) in placement.items()
                for r in instance["resources"]
            )
            for left, before in costs.items():
                after = max(Fraction(0), left - done)
                following[after] = min(following.get(after, before + cost), before + cost)
        costs = following
    return costs.get(Fraction(0))


@pytest.mark.parametrize("seed", longer(range(80), *range(27, 80)))
def test_the_cheapest_schedule_is_the_cheapest_of_all(seed: int) -> None:
    instance = dmlrs_strategies.draw(seed, jobs=1)
    (job,) = instance["jobs"]
    price, room = market(instance, np.random.default_rng(seed))
    reachable = []
    for deadline in range(job["arrival"], instance["slots"] + 1):
        found = oracle.cheapest(instance, job, price, room, deadline)
        assert found == enumerated_cost(instance, job, price, room, deadline)
        printed = oracle.printed_dp(instance, job, price, room, deadline)
        assert printed is None or (found is not None and printed >= found)
        if oracle.cheapest(instance, job, {}, {}, deadline) is not None:
            reachable.append(oracle.worth(job, deadline - job["arrival"]))
    assert oracle.optimum(instance)[0] == max(reachable, default=Fraction(0))
