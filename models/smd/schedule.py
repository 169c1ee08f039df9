"""Schedules of the SMD problem: the format, the checker, the utility and measures, exact and without a solver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Literal, Self

from dlsched.arguments import checked
from dlsched.models.document import Record
from dlsched.models.fields import Amount
from dlsched.models.numbers import to_json
from dlsched.models.schedule import JobsSchedule, Measures, Violation, mean_share
from dlsched.models.smd.instance import Instance


class JobSchedule(Record):
    """What an admitted job gets.

    Attributes
    ----------
    workers, servers : int
        w and p.

    Examples
    --------
    >>> from dlsched.models.smd import JobSchedule, Schedule, completion_times, random
    >>> plan = Schedule(jobs={"job1": JobSchedule(workers=1, servers=1)})
    >>> completion_times(random(0), plan)
    {'job1': Fraction(1, 1)}
    """

    workers: Amount
    servers: Amount


class Schedule(JobsSchedule):
    """x_i, w_i and p_i: which jobs are admitted, and with how many workers and servers; an absent job is rejected.

    Attributes
    ----------
    problem : str
        Always ``"smd"``.
    jobs : dict of str to JobSchedule

    Examples
    --------
    >>> from dlsched.models import build, read, smd, solve
    >>> instance = smd.random(0)
    >>> model = build("smd/milp", instance)
    >>> _ = solve(model)
    >>> read(model, instance).dump()["jobs"]
    {'job2': {'workers': 3, 'servers': 1}}
    """

    problem: Literal["smd"] = "smd"
    jobs: dict[str, JobSchedule]

    @classmethod
    def of(cls, counts: Mapping[str, tuple[int, int]]) -> Self:
        """Build a schedule from ``{job: (workers, servers)}``."""
        return cls(jobs={name: JobSchedule(workers=w, servers=p) for name, (w, p) in counts.items()})


@checked
def completion_times(instance: Instance, schedule: Schedule) -> dict[str, Fraction]:
    """Return tau_i of each admitted job, by name.

    Examples
    --------
    >>> from dlsched.models.smd import Schedule, completion_times, random
    >>> plan = Schedule.parse({"jobs": {"job1": {"workers": 1, "servers": 2}}})
    >>> completion_times(random(0), plan)
    {'job1': Fraction(1, 2)}
    """
    return {name: instance.job(name).training.time(job.workers, job.servers) for name, job in schedule.jobs.items()}


@checked
def exact_utility(instance: Instance, schedule: Schedule) -> Fraction:
    """Return sum_i mu_i(tau_i) over the admitted jobs, as a rational (1).

    Examples
    --------
    >>> from dlsched.models.smd import Schedule, exact_utility, random
    >>> exact_utility(random(0), Schedule.parse({"jobs": {"job1": {"workers": 1, "servers": 2}}}))
    Fraction(76, 3)
    """
    times = completion_times(instance, schedule)
    return sum((instance.job(name).utility.exact(time) for name, time in times.items()), Fraction(0))


@checked
def utility(instance: Instance, schedule: Schedule) -> float:
    """Return sum_i mu_i(tau_i) over the admitted jobs (1).

    Examples
    --------
    >>> from dlsched.models import build, read, smd, solve
    >>> instance = smd.random(0)
    >>> model = build("smd/milp", instance)
    >>> solve(model).objective, smd.utility(instance, read(model, instance))
    (27.0, 27.0)
    """
    return float(exact_utility(instance, schedule))


@checked
def check(instance: Instance, schedule: Schedule) -> list[Violation]:
    """Return every rule of Problem (1) that a schedule breaks; an empty list means that it is feasible.

    The rules are (2) the admitted jobs' reservations fit the cluster, (3) each job keeps its limits, (8) at least one
    worker and one server each, and that names mean something.

    Examples
    --------
    >>> from dlsched.models.smd import Schedule, check, random
    >>> plan = Schedule.parse({"jobs": {"job1": {"workers": 9, "servers": 0}}})
    >>> for broken in check(random(0), plan):
    ...     print(broken.rule, broken.place, broken.message, sep=" | ")
    (8) counts | job job1 | 0 servers; an admitted job has at least one
    (3) limit | job job1, resource resource1 | 18 in use exceed the limit 5
    (3) limit | job job1, resource resource2 | 18 in use exceed the limit 5
    """
    jobs = {job.name for job in instance.jobs}
    unknown = [
        Violation("names", f"job {name}", "is not in the instance") for name in schedule.jobs if name not in jobs
    ]
    return unknown or [*_limits(instance, schedule), *_capacity(instance, schedule)]


def _limits(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    for name, entry in schedule.jobs.items():
        for what, count in (("workers", entry.workers), ("servers", entry.servers)):
            if count < 1:
                yield Violation("(8) counts", f"job {name}", f"{count} {what}; an admitted job has at least one")
        job = instance.job(name)
        for r, used in job.uses(entry.workers, entry.servers).items():
            if used > job.limit_of(r):
                message = f"{to_json(used)} in use exceed the limit {to_json(job.limit_of(r))}"
                yield Violation("(3) limit", f"job {name}, resource {r}", message)


def _capacity(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    for r in instance.resources:
        reserved = sum((instance.job(name).limit_of(r) for name in schedule.jobs), Fraction(0))
        if reserved > instance.capacity_of(r):
            message = f"{to_json(reserved)} reserved exceed the {to_json(instance.capacity_of(r))} there are"
            yield Violation("(2) capacity", f"resource {r}", message)


def measures(instance: Instance, schedule: Schedule) -> Measures:
    """Return the measures of a feasible schedule; what jobs use counts, not what they reserve."""
    times = completion_times(instance, schedule)
    used = dict.fromkeys(instance.resources, Fraction(0))
    for name, entry in schedule.jobs.items():
        for r, amount in instance.job(name).uses(entry.workers, entry.servers).items():
            used[r] += amount
    shares = (amount / instance.capacity_of(r) for r, amount in used.items() if instance.capacity_of(r))
    return Measures("time", times, max(times.values(), default=None), mean_share(shares))
