"""Durations, end and utilisation of a schedule of Hadar's."""

from __future__ import annotations

from fractions import Fraction

from dlsched.models.hadar.instance import Instance, Job
from dlsched.models.hadar.schedule import Schedule, completions, gang
from dlsched.models.measures import Measures


def isolated_throughput(instance: Instance, job: Job, jobs: int | Fraction) -> Fraction:
    """Return a gang's iterations per second with an n-th of every type, n the number of jobs, at most all of the time.

    That is sum_r W_j X_j^r x_j^r with x_j^r = c^r / (n W_j), divided by their sum where it is above 1 (Gavel).
    """
    whole = job.gang * sum((job.rate_on(r) * n for r, n in instance.capacity.items()), Fraction(0))
    return whole / max(jobs * job.gang, instance.devices)


def measures(instance: Instance, schedule: Schedule) -> Measures:
    """Return the measures of a feasible schedule; a job takes from the beginning of slot a_j to the end of slot f_j."""
    length, finished = instance.slot_seconds, completions(instance, schedule)
    last = max(finished.values(), default=0)
    busy = sum(gang(allocation) for _, _, allocation in schedule.items())
    alone = {}
    for name in finished:
        job = instance.job(name)
        speed = isolated_throughput(instance, job, len(instance.jobs))
        if speed:
            alone[name] = job.iterations / speed
    return Measures(
        "seconds",
        {name: (f - instance.job(name).arrival + 1) * length for name, f in finished.items()},
        last * length if finished else None,
        Fraction(busy, instance.devices * last) if last and instance.devices else None,
        alone,
    )
