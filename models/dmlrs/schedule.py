"""Schedules of the DMLRS problem: the format, the checker, the utility and measures, exact and without a solver."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import chain
from typing import Annotated, Literal, Self

from dlsched.arguments import checked
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.job import AsyncJob, Job, Placement
from dlsched.models.document import Record
from dlsched.models.fields import Amount, PlainSlots
from dlsched.models.numbers import to_integers, to_json
from dlsched.models.schedule import JobsSchedule, Measures, Violation, earned, mean_share

Slot = int


class Counts(Record):
    """w_ih[t] and s_ih[t]: workers and servers of a job on one machine in one slot.

    Examples
    --------
    >>> from dlsched.models.dmlrs import Counts, JobSchedule, Schedule
    >>> slot = {"machine1": Counts(workers=2), "machine2": Counts(workers=1, servers=1)}
    >>> sum(counts.workers for counts in slot.values())
    3
    >>> Schedule(jobs={"job1": JobSchedule(slots={3: slot})}).dump()["jobs"]
    {'job1': {'slots': {'3': {'machine1': {'workers': 2, 'servers': 0}, 'machine2': {'workers': 1, 'servers': 1}}}}}
    """

    workers: Amount = 0
    servers: Amount = 0


class JobSchedule(Record):
    """What one job gets: slot to machine to counts.

    Examples
    --------
    >>> from dlsched.models.dmlrs import JobSchedule
    >>> runs = JobSchedule.model_validate({"slots": {"3": {"machine1": {"workers": 2, "servers": 1}}}})
    >>> {t: {h: (counts.workers, counts.servers) for h, counts in slot.items()} for t, slot in runs.slots.items()}
    {3: {'machine1': (2, 1)}}
    """

    slots: Annotated[dict[Slot, dict[str, Counts]], PlainSlots]


class Schedule(JobsSchedule):
    """Workers and servers of each job on each machine in each slot; an absent job is rejected.

    Attributes
    ----------
    problem : str
        Always ``"dmlrs"``.
    jobs : dict of str to JobSchedule

    Examples
    --------
    >>> from dlsched.models import build, dmlrs, read, solve
    >>> instance = dmlrs.random(0)
    >>> model = build("dmlrs/compact-milp", instance)
    >>> _ = solve(model)
    >>> schedule = read(model, instance)
    >>> {t: sum(counts.workers for counts in slot.values()) for t, slot in schedule.jobs["job3"].slots.items()}
    {2: 2, 3: 2}
    """

    problem: Literal["dmlrs"] = "dmlrs"
    jobs: dict[str, JobSchedule]

    @classmethod
    def of(cls, placements: Mapping[str, Mapping[int, Placement]]) -> Self:
        """Build a schedule from ``{job: {slot: {machine: (workers, servers)}}}``; what is empty is left out."""
        jobs = {}
        for name, slots in placements.items():
            kept = {
                t: {h: Counts(workers=w, servers=s) for h, (w, s) in placement.items() if w or s}
                for t, placement in sorted(slots.items())
            }
            kept = {t: placement for t, placement in kept.items() if placement}
            if kept:
                jobs[name] = JobSchedule(slots=kept)
        return cls(jobs=jobs)

    def items(self) -> Iterator[tuple[str, int, dict[str, tuple[int, int]]]]:
        """Yield (job name, slot, {machine: (workers, servers)}) for every slot in which a job has an entry."""
        for name in self.jobs:
            for slot, placement in self.placements(name).items():
                yield name, slot, placement

    def placements(self, name: str) -> dict[int, dict[str, tuple[int, int]]]:
        """Return a job's ``{slot: {machine: (workers, servers)}}``, slots ascending; empty where it is rejected."""
        slots = self.jobs[name].slots if name in self.jobs else {}
        return {t: {h: (n.workers, n.servers) for h, n in counts.items()} for t, counts in sorted(slots.items())}


@checked
def progress(job: Job | AsyncJob, slots: Mapping[int, Placement]) -> Fraction:
    """Return the work done over some slots: the left side of (3), in the thesis of (3.1).

    Examples
    --------
    >>> from dlsched.models.dmlrs import progress, random
    >>> (job, *_) = random(0).jobs
    >>> alone, apart = {"machine1": (1, 1)}, {"machine1": (1, 0), "machine2": (0, 1)}
    >>> [float(progress(job, {1: placement})) for placement in (alone, apart)]
    [1.2307692307692308, 1.0]
    """
    alike = Counter(tuple(placement.items()) for placement in slots.values())
    return sum((times * job.progress(dict(placement)) for placement, times in alike.items()), Fraction(0))


@checked
def completions(instance: Instance, schedule: Schedule) -> dict[str, int]:
    """Return the completion slot (6), the last slot with a worker, of each job that does all its work.

    Examples
    --------
    >>> from dlsched.models import build, dmlrs, read, solve
    >>> instance = dmlrs.random(0)
    >>> model = build("dmlrs/compact-milp", instance)
    >>> _ = solve(model)
    >>> dmlrs.completions(instance, read(model, instance))
    {'job3': 3}
    """
    result = {}
    for name in schedule.jobs:
        job, slots = instance.job(name), schedule.placements(name)
        used = [t for t, placement in slots.items() if any(w > 0 for w, _ in placement.values())]
        if used and progress(job, slots) >= job.work:
            result[name] = max(used)
    return result


@checked
def exact_utility(instance: Instance, schedule: Schedule) -> Fraction:
    """Return sum_i u_i(t~_i - a_i) over the jobs that finish, as a rational.

    Examples
    --------
    >>> from dlsched.models import build, dmlrs, read, solve
    >>> instance = dmlrs.random(0)
    >>> model = build("dmlrs/compact-milp", instance)
    >>> _ = solve(model)
    >>> dmlrs.exact_utility(instance, read(model, instance))
    Fraction(12, 1)
    """
    return earned(instance, completions(instance, schedule))


@checked
def utility(instance: Instance, schedule: Schedule) -> float:
    """Return sum_i u_i(t~_i - a_i) over the jobs that finish.

    Examples
    --------
    >>> from dlsched.models import build, dmlrs, read, solve
    >>> instance = dmlrs.random(0)
    >>> model = build("dmlrs/compact-milp", instance)
    >>> solve(model).objective, dmlrs.utility(instance, read(model, instance))
    (12.0, 12.0)
    """
    return float(exact_utility(instance, schedule))


@checked
def check(instance: Instance, schedule: Schedule) -> list[Violation]:
    """Return every rule of DMLRS that a schedule breaks; an empty list means that it is feasible.

    The rules are (2)-(5) and (7) of the journal, for asynchronous instances (3.1)-(3.5) and (3.7) of the thesis, that
    names, slots and counts mean something, and that a job with an allocation finishes.

    Examples
    --------
    >>> from dlsched.models.dmlrs import Schedule, check, random
    >>> plan = Schedule.parse({"jobs": {"job1": {"slots": {1: {"machine1": {"workers": 9}}}}}})
    >>> for broken in check(random(0), plan):
    ...     print(broken.rule, broken.place, broken.message, sep=" | ")
    (7) arrival | job job1, slot 1 | is before the arrival 3
    (4) workers | job job1, slot 1 | 9 workers are more than 2
    (2) servers | job job1, slot 1 | 0 servers for 9 workers; at least 3 are needed
    (5) capacity | slot 1, machine machine1, resource resource1 | 9 in use exceeds the 3 there
    (3) work | job job1 | 0 of 5 done: a job with workers or servers must finish
    """
    found = [*_unknown(instance, schedule)]
    if found:
        return found
    return [*_slots(instance, schedule), *_capacity(instance, schedule), *_work(instance, schedule)]


def _unknown(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    jobs = {job.name for job in instance.jobs}
    machines = {machine.name for machine in instance.machines}
    for name in schedule.jobs:
        if name not in jobs:
            yield Violation("names", f"job {name}", "is not in the instance")
    for name, slot, placement in schedule.items():
        for h in placement:
            if h not in machines:
                yield Violation("names", f"job {name}, slot {slot}, machine {h}", "is not in the instance")


def _slots(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    arrival, most = ("(3.7) arrival", "(3.2) workers") if instance.asynchronous else ("(7) arrival", "(4) workers")
    for name, slot, placement in schedule.items():
        job = instance.job(name)
        place = f"job {name}, slot {slot}"
        if not 1 <= slot <= instance.slots:
            yield Violation("slots", place, f"is outside 1..{instance.slots}")
        elif slot < job.arrival:
            yield Violation(arrival, place, f"is before the arrival {job.arrival}")
        negative = [(h, n) for h, counts in placement.items() for n in counts if n < 0]
        for h, n in negative:
            yield Violation("counts", f"{place}, machine {h}", f"{n} is negative")
        if negative:
            continue
        workers = sum(w for w, _ in placement.values())
        if workers > job.most_workers:
            yield Violation(most, place, f"{workers} workers are more than {job.most_workers}")
        shortage = job.server_shortage(placement)
        if shortage:
            rule, message = shortage.split(" ", 1)
            yield Violation(f"{rule} servers", place, message)


def _capacity(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    rule = "(3.3) capacity" if instance.asynchronous else "(5) capacity"
    kinds = {r: [(job.worker_needs(r), job.server_needs(r)) for job in instance.jobs] for r in instance.resources}
    scale = {r: to_integers(chain.from_iterable(needs))[1] for r, needs in kinds.items()}
    limits = {(m.name, r): m.capacity_of(r) * scale[r] // 1 for m in instance.machines for r in scale}
    uses = cache(lambda name, counts: [(r, int(n * scale[r])) for r, n in instance.job(name).uses(*counts).items()])
    used: dict[tuple[int, str, str], int] = defaultdict(int)
    for name, slot, placement in schedule.items():
        for h, counts in placement.items():
            for r, amount in uses(name, counts):
                used[slot, h, r] += amount
    for slot, h, r in sorted(cell for cell, amount in used.items() if amount > limits[cell[1:]]):
        place = f"slot {slot}, machine {h}, resource {r}"
        in_use, there = Fraction(used[slot, h, r], scale[r]), instance.machine(h).capacity_of(r)
        yield Violation(rule, place, f"{to_json(in_use)} in use exceeds the {to_json(there)} there")


def _work(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    rule = "(3.1) work" if instance.asynchronous else "(3) work"
    finished = completions(instance, schedule)
    for name in schedule.jobs:
        if name not in finished:
            job = instance.job(name)
            done = to_json(progress(job, schedule.placements(name)))
            message = f"{done} of {to_json(job.work)} done: a job with workers or servers must finish"
            yield Violation(rule, f"job {name}", message)


def measures(instance: Instance, schedule: Schedule) -> Measures:
    """Return the measures of a feasible schedule; a job takes from the start of slot a_i to the end of slot t~_i."""
    finished = completions(instance, schedule)
    last = max(finished.values(), default=0)
    used: dict[str, Fraction] = defaultdict(Fraction)
    for name, _, placement in schedule.items():
        for counts in placement.values():
            for r, amount in instance.job(name).uses(*counts).items():
                used[r] += amount
    shares = (used[r] / (capacity * last) for r, capacity in instance.capacity.items() if capacity and last)
    return Measures(
        "slots",
        {name: Fraction(t - instance.job(name).arrival + 1) for name, t in finished.items()},
        Fraction(last) if finished else None,
        mean_share(shares),
    )
