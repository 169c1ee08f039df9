"""Seeded families of Hadar instances on which the claims are checked: small, so that their optimum can be certified.

None is a counterexample written down: each describes a kind of workload, and violations in it are found by drawing.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dlsched.arithmetic import exact_power, power
from dlsched.bounds.claim import Source
from dlsched.bounds.drawn import falling
from dlsched.models.hadar import Instance, Job, Machine, preset, random
from dlsched.models.utility import Table


def tiny(rng: np.random.Generator) -> Instance:
    """Return a small instance without structure: 1-4 jobs, 1-2 machines, 1-2 types, 1-3 slots."""
    return random(
        rng,
        jobs=int(rng.integers(1, 5)),
        machines=int(rng.integers(1, 3)),
        types=int(rng.integers(1, 3)),
        slots=int(rng.integers(1, 4)),
        devices=2,
    )


def rising(rng: np.random.Generator) -> Instance:
    """Return an instance in which each job that comes is worth more than the ones before: 1-3 devices, 2-4 jobs.

    Utilities grow from job to job by a factor between 2 and 1000, as when urgent jobs come late.
    """
    devices, slots = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    jobs, worth = [], 1.0
    for j in range(int(rng.integers(2, 5))):
        value = max(1, round(worth))
        gang = int(rng.integers(1, devices + 1))
        work = gang * int(rng.integers(1, slots + 1))
        jobs.append(_job(j, 1, gang, work, {"type1": Fraction(1)}, falling(rng, value, slots)))
        worth *= power(10, rng.uniform(0.3, 3.0))
    return _instance(slots, [{"type1": devices}], jobs)


def patient(rng: np.random.Generator) -> Instance:
    """Return an instance with a long horizon and short jobs that lose little by waiting: 1-2 devices, 1-2 jobs."""
    devices, slots = int(rng.integers(1, 3)), int(rng.integers(3, 13))
    jobs = []
    for j in range(int(rng.integers(1, 3))):
        gang = int(rng.integers(1, devices + 1))
        work = gang * int(rng.integers(1, 3))
        utility = falling(rng, int(rng.integers(10, 21)), slots)
        jobs.append(_job(j, int(rng.integers(1, slots // 2 + 1)), gang, work, {"type1": Fraction(1)}, utility))
    return _instance(slots, [{"type1": devices}], jobs)


def lone(rng: np.random.Generator) -> Instance:
    """Return one job, on all but one of 2-3 devices for a part of a long horizon, that loses little by waiting."""
    devices, slots = int(rng.integers(2, 4)), int(rng.integers(8, 13))
    work = (devices - 1) * int(rng.integers(1, slots + 1))
    utility = falling(rng, int(rng.integers(1, 11)), slots)
    return _instance(slots, [{"type1": devices}], [_job(0, 1, devices - 1, work, {"type1": Fraction(1)}, utility)])


def roomy(rng: np.random.Generator) -> Instance:
    """Return an instance whose machines have more devices of each type than any gang needs: 3-5 jobs, 1-2 slots."""
    types = ("type1", "type2")[: int(rng.integers(1, 3))]
    slots, largest = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    machine = {r: largest + int(rng.integers(1, 3)) for r in types}
    jobs = []
    for j in range(int(rng.integers(3, 6))):
        gang = int(rng.integers(1, largest + 1))
        rate = {r: Fraction(int(rng.integers(1, 5)), 2) for r in types}
        work = Fraction(int(rng.integers(1, 2 * slots + 2)) * gang, 2)
        utility = falling(rng, int(rng.integers(1, exact_power(10, int(rng.integers(1, 4))))), slots)
        jobs.append(_job(j, int(rng.integers(1, slots + 1)), gang, work, rate, utility))
    return _instance(slots, [machine], jobs)


def specialists(rng: np.random.Generator) -> Instance:
    """Return an instance in which n jobs are each fastest on a type of their own, with one device of each type."""
    n = int(rng.integers(2, 9))
    types = tuple(f"type{r + 1}" for r in range(n))
    jobs = []
    for j in range(n):
        rate = {r: Fraction(int(rng.integers(1, 5)), 2) for r in types}
        rate[types[j]] = Fraction(int(rng.integers(3, 7)))
        jobs.append(_job(j, 1, 1, Fraction(1), rate, Table(values=(Fraction(int(rng.integers(5, 21))),))))
    return _instance(1, [dict.fromkeys(types, 1)], jobs)


def scattered(rng: np.random.Generator) -> Instance:
    """Return an instance of machines with a single device each, which gangs of 1-3 of 3-5 jobs compete for."""
    machines, slots = int(rng.integers(2, 5)), int(rng.integers(1, 3))
    jobs = []
    for j in range(int(rng.integers(3, 6))):
        gang = int(rng.integers(1, min(3, machines) + 1))
        work = gang * int(rng.integers(1, slots + 1))
        utility = falling(rng, gang * int(rng.integers(5, 21)), slots)
        jobs.append(_job(j, 1, gang, work, {"type1": Fraction(1)}, utility))
    return _instance(slots, [{"type1": 1}] * machines, jobs)


def mixed(rng: np.random.Generator) -> Instance:
    """Return a small instance of the benchmark family: 4 jobs, 2 machines of different types, 5 slots."""
    return preset("benchmark", rng, jobs=4, machines=2, types=2, slots=5)


def _job(number: int, arrival: int, gang: int, work: int | Fraction, rate: dict[str, Fraction], utility: Table) -> Job:
    return Job(
        name=f"job{number + 1}",
        arrival=arrival,
        gang=gang,
        iterations=Fraction(work),
        rate=rate,
        utility=utility,
    )


def _instance(slots: int, machines: list[dict[str, int]], jobs: list[Job]) -> Instance:
    types = tuple(dict.fromkeys(r for devices in machines for r in devices))
    return Instance(
        slots=slots,
        slot_seconds=Fraction(1),
        device_types=types,
        machines=tuple(Machine(name=f"machine{h + 1}", devices=devices) for h, devices in enumerate(machines)),
        jobs=tuple(jobs),
    )


def pairs(rng: np.random.Generator) -> Instance:
    """Return two long jobs on two devices, and in each of 8 to 12 slots two short ones that are worth a little less."""
    slots, worth = int(rng.integers(8, 13)), int(rng.integers(10, 1001))
    rate, constant = {"type1": Fraction(1)}, Table(values=(Fraction(worth),) * slots)
    better = [Table(values=(Fraction(worth + int(rng.integers(1, 10))),) * slots) for _ in range(2)]
    long = [_job(j, 1, 1, Fraction(slots), rate, utility) for j, utility in enumerate(better)]
    short = [_job(2 + j, 1 + j // 2, 1, Fraction(1), rate, constant) for j in range(2 * slots)]
    return _instance(slots, [{"type1": 2}], [*long, *short])


TINY = Source("hadar/tiny", tiny)
RISING = Source("hadar/rising", rising)
PAIRS = Source("hadar/pairs", pairs, cost=10)
PATIENT = Source("hadar/patient", patient)
LONE = Source("hadar/lone", lone)
ROOMY = Source("hadar/roomy", roomy)
SPECIALISTS = Source("hadar/specialists", specialists)
SCATTERED = Source("hadar/scattered", scattered)
MIXED = Source("hadar/mixed", mixed)
