"""Schedules of the SMD problem: the format, the checker and the utility, in exact rationals and without a solver."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Literal, Self

from dlsched.arguments import checked
from dlsched.models.document import Document, Record
from dlsched.models.fields import Amount
from dlsched.models.numbers import to_json
from dlsched.models.smd.instance import Instance
from dlsched.models.violation import Violation


class JobSchedule(Record):
    """What an admitted job gets.

    Attributes
    ----------
    workers, servers : int
        w and p.
    """

    workers: Amount
    servers: Amount


class Schedule(Document):
    """x_i, w_i and p_i: which jobs are admitted, and with how many workers and servers; an absent job is rejected.

    Attributes
    ----------
    problem : str
        Always ``"smd"``.
    jobs : dict of str to JobSchedule
    """

    problem: Literal["smd"] = "smd"
    jobs: dict[str, JobSchedule]

    @classmethod
    def of(cls, counts: Mapping[str, tuple[int, int]]) -> Self:
        """Build a schedule from ``{job: (workers, servers)}``."""
        return cls(jobs={name: JobSchedule(workers=w, servers=p) for name, (w, p) in counts.items()})

    def without(self, names: Iterable[str]) -> Self:
        """Return the schedule in which the named jobs are rejected."""
        dropped = set(names)
        return type(self)(jobs={name: job for name, job in self.jobs.items() if name not in dropped})


@checked
def completion_times(instance: Instance, schedule: Schedule) -> dict[str, Fraction]:
    """Return tau_i of each admitted job, by name."""
    return {name: instance.job(name).training.time(job.workers, job.servers) for name, job in schedule.jobs.items()}


@checked
def exact_utility(instance: Instance, schedule: Schedule) -> Fraction:
    """Return sum_i mu_i(tau_i) over the admitted jobs, as a rational (1)."""
    times = completion_times(instance, schedule)
    return sum((instance.job(name).utility.exact(time) for name, time in times.items()), Fraction(0))


@checked
def utility(instance: Instance, schedule: Schedule) -> float:
    """Return sum_i mu_i(tau_i) over the admitted jobs (1)."""
    return float(exact_utility(instance, schedule))


@checked
def check(instance: Instance, schedule: Schedule) -> list[Violation]:
    """Return every rule of Problem (1) that a schedule breaks; an empty list means that it is feasible.

    The rules are (2) the admitted jobs' reservations fit the cluster, (3) each job keeps its limits, (8) at least one
    worker and one server each, and that names mean something.
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
