"""Schedules of the DDLJS problem: the format, the checker, the utility and measures, exact and without a solver."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Literal, Self

from dlsched.arguments import checked
from dlsched.models.ddljs.instance import Instance, Share
from dlsched.models.ddljs.rings import Arc, Embedding, arcs_of, broken_ring
from dlsched.models.document import Record
from dlsched.models.fields import PlainSlots
from dlsched.models.numbers import to_integers, to_json
from dlsched.models.schedule import JobsSchedule, Measures, Violation, mean_share


class JobSchedule(Record):
    """What one job gets: slot to workers and ring.

    Examples
    --------
    >>> from dlsched.models.ddljs import Embedding, JobSchedule, Schedule
    >>> alone = Embedding(workers={"server1": 2})
    >>> Schedule(jobs={"job1": JobSchedule(slots={1: alone})}).dump()["jobs"]
    {'job1': {'slots': {'1': {'workers': {'server1': 2}, 'ring': []}}}}
    """

    slots: Annotated[dict[int, Embedding], PlainSlots]


class Schedule(JobsSchedule):
    """Workers and ring of each job in each slot; an absent job gets nothing.

    Attributes
    ----------
    problem : str
        Always ``"ddljs"``.
    jobs : dict of str to JobSchedule

    Examples
    --------
    >>> from dlsched.models import build, ddljs, read, solve
    >>> instance = ddljs.random(0)
    >>> model = build("ddljs/offline-circulation", instance)
    >>> _ = solve(model)
    >>> read(model, instance).dump()["jobs"]
    {'job1': {'slots': {'2': {'workers': {'server1': 1}, 'ring': []}}}}
    """

    problem: Literal["ddljs"] = "ddljs"
    jobs: dict[str, JobSchedule]

    @classmethod
    def of(cls, embeddings: Mapping[str, Mapping[int, Embedding]]) -> Self:
        """Build a schedule from ``{job: {slot: embedding}}``; what has no workers is left out."""
        jobs = {}
        for name, slots in embeddings.items():
            kept = {t: embedding for t, embedding in sorted(slots.items()) if embedding.workers}
            if kept:
                jobs[name] = JobSchedule(slots=kept)
        return cls(jobs=jobs)

    def embeddings(self, name: str) -> dict[int, Embedding]:
        """Return a job's embedding in each of its slots, ascending; empty where it gets nothing."""
        return dict(sorted(self.jobs[name].slots.items())) if name in self.jobs else {}

    def items(self) -> Iterator[tuple[str, int, Embedding]]:
        """Yield (job name, slot, embedding) for every slot in which a job has an entry."""
        for name in self.jobs:
            for slot, embedding in self.embeddings(name).items():
                yield name, slot, embedding


@checked
def worker_slots(instance: Instance, schedule: Schedule) -> dict[str, int]:
    """Return n_i, the worker-slots of every job of the instance.

    Examples
    --------
    >>> from dlsched.models import build, ddljs, read, solve
    >>> instance = ddljs.random(0)
    >>> model = build("ddljs/offline-circulation", instance)
    >>> _ = solve(model)
    >>> ddljs.worker_slots(instance, read(model, instance))
    {'job1': 1, 'job2': 0}
    """
    return {job.name: sum(e.size for e in schedule.embeddings(job.name).values()) for job in instance.jobs}


@checked
def exact_utility(instance: Instance, schedule: Schedule) -> Fraction:
    """Return sum_i mu_i(zeta_i n_i) over all jobs, as a rational.

    Raises
    ------
    InputError
        If it is minus infinity: a job with a log utility gets nothing.

    Examples
    --------
    >>> from dlsched.models import ddljs
    >>> ddljs.exact_utility(ddljs.random(0), ddljs.Schedule(jobs={}))
    Fraction(0, 1)
    """
    slots = worker_slots(instance, schedule)
    return sum((job.value(slots[job.name]) for job in instance.jobs), Fraction(0))


@checked
def utility(instance: Instance, schedule: Schedule) -> float:
    """Return sum_i mu_i(zeta_i n_i) over all jobs; minus infinity where a log utility is at 0.

    Examples
    --------
    >>> from dlsched.models import build, ddljs, read, solve
    >>> instance = ddljs.random(0)
    >>> model = build("ddljs/offline-circulation", instance)
    >>> solve(model).objective, ddljs.utility(instance, read(model, instance))
    (11.0, 11.0)
    """
    try:
        return float(exact_utility(instance, schedule))
    except ValueError:
        return -math.inf


@checked
def check(instance: Instance, schedule: Schedule) -> list[Violation]:
    """Return every rule of DDLJS that a schedule breaks; an empty list means that it is feasible.

    The rules are (2)-(9), corrected: bandwidth is summed over all paths on a link (8), and each job's servers form one
    directed cycle (9); and that names, slots and counts mean something, and that no utility is minus infinity.

    Examples
    --------
    >>> from dlsched.models.ddljs import Schedule, check, random
    >>> slot = {"workers": {"server1": 1, "server2": 1}, "ring": []}
    >>> plan = Schedule.parse({"jobs": {"job1": {"slots": {1: slot}}}})
    >>> for broken in check(random(0), plan):
    ...     print(broken.rule, broken.place, broken.message, sep=" | ")
    (6) arrival | job job1, slot 1 | is before the arrival 2
    (2) workers | job job1, slot 1 | 2 workers are more than 1
    (9) ring | job job1, slot 1 | no ring visits the 2 servers
    """
    found = [*_unknown(instance, schedule)]
    if found:
        return found
    return [
        *_slots(instance, schedule),
        *_rings(instance, schedule),
        *_capacity(instance, schedule),
        *_bandwidth(instance, schedule),
        *_finite(instance, schedule),
    ]


def _unknown(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    jobs = {job.name for job in instance.jobs}
    nodes = {node.name for node in instance.nodes}
    for name in schedule.jobs:
        if name not in jobs:
            yield Violation("names", f"job {name}", "is not in the instance")
    for name, slot, embedding in schedule.items():
        visited = itertools.chain(embedding.workers, embedding.order or (), *embedding.ring)
        for node in dict.fromkeys(visited):
            if node not in nodes:
                yield Violation("names", f"job {name}, slot {slot}, node {node}", "is not in the instance")


def _slots(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    for name, slot, embedding in schedule.items():
        job, place = instance.job(name), f"job {name}, slot {slot}"
        if not 1 <= slot <= instance.slots:
            yield Violation("slots", place, f"is outside 1..{instance.slots}")
        elif slot < job.arrival:
            yield Violation("(6) arrival", place, f"is before the arrival {job.arrival}")
        for node, n in embedding.workers.items():
            if n < 1:
                yield Violation("counts", f"{place}, server {node}", f"{n} workers; a server in use hosts at least 1")
            elif not instance.node(node).is_server:
                yield Violation("(5) servers", f"{place}, node {node}", "is a switch: it has no capacity")
        if embedding.size > job.max_workers:
            yield Violation("(2) workers", place, f"{embedding.size} workers are more than {job.max_workers}")
    for name, n in worker_slots(instance, schedule).items():
        most = instance.job(name).budget_slots
        if most is not None and n > most:
            yield Violation("(3) budget", f"job {name}", f"{n} worker-slots are more than the {most} that it pays for")


def _rings(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    arcs = set(instance.arcs)
    for name, slot, embedding in schedule.items():
        place = f"job {name}, slot {slot}"
        for path in embedding.ring:
            for arc in arcs_of(path):
                if arc not in arcs:
                    yield Violation("(7) paths", place, f"there is no link {' -> '.join(arc)}")
            if len(set(path)) < len(path):
                yield Violation("(7) paths", place, f"the path {' -> '.join(path)} visits a node twice")
        problem = broken_ring(embedding, instance.job(name).placement)
        if problem:
            yield Violation("(9) ring", place, problem)


def _capacity(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    scale = {r: to_integers(job.worker_needs(r) for job in instance.jobs)[1] for r in instance.resources}
    needs = {job.name: [(r, int(need * scale[r])) for r, need in job.worker.items()] for job in instance.jobs}
    limits = {(node.name, r): node.capacity_of(r) * scale[r] // 1 for node in instance.nodes for r in scale}
    used: dict[tuple[int, str, str], int] = defaultdict(int)
    for name, slot, embedding in schedule.items():
        for node, n in embedding.workers.items():
            for r, need in needs[name]:
                used[slot, node, r] += need * n
    for slot, node, r in sorted(cell for cell, amount in used.items() if amount > limits[cell[1:]]):
        place = f"slot {slot}, server {node}, resource {r}"
        amount, limit = to_json(Fraction(used[slot, node, r], scale[r])), to_json(instance.node(node).capacity_of(r))
        yield Violation("(4) capacity", place, f"{amount} in use exceeds the {limit} there")


def _bandwidth(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    hops, scale = to_integers(job.bandwidth for job in instance.jobs)
    hop = dict(zip((job.name for job in instance.jobs), hops, strict=True))
    used: dict[int, dict[Arc, int]] = defaultdict(lambda: defaultdict(int))
    for name, slot, embedding in schedule.items():
        loads = used[slot]
        for path in embedding.ring:
            for arc in arcs_of(path):
                loads[arc] += hop[name]
    numbers = {arc: n for n, (arcs, _) in enumerate(instance.shares(1)) for arc in arcs}
    shares: tuple[Share, ...] = ()
    for slot, loads in sorted(used.items()):
        if not 1 <= slot <= instance.slots:
            continue
        if shares is not instance.shares(slot):
            shares = instance.shares(slot)
            limits = [limit * scale // 1 for _, limit in shares]
        for n in sorted({numbers[arc] for arc in loads if arc in numbers}):
            arcs, limit = shares[n]
            amount = sum(loads.get(arc, 0) for arc in arcs)
            if amount > limits[n]:
                place = f"slot {slot}, link {' -> '.join(arcs[0])}"
                message = f"{to_json(Fraction(amount, scale))} in use exceeds the bandwidth {to_json(limit)}"
                yield Violation("(8) bandwidth", place, message)


def _finite(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    for name, n in worker_slots(instance, schedule).items():
        try:
            instance.job(name).value(n)
        except ValueError as error:
            yield Violation("utility", f"job {name}", str(error))


def measures(instance: Instance, schedule: Schedule) -> Measures:
    """Return the measures of a feasible schedule: jobs have no end, and what is in use is told of all slots."""
    used: dict[str, Fraction] = defaultdict(Fraction)
    for name, _, embedding in schedule.items():
        for r, need in instance.job(name).worker.items():
            used[r] += need * embedding.size
    total = {r: sum((node.capacity_of(r) for node in instance.servers), Fraction(0)) for r in instance.resources}
    shares = (used[r] / (capacity * instance.slots) for r, capacity in total.items() if capacity)
    return Measures("slots", {}, None, mean_share(shares))
