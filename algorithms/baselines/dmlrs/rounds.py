"""Schedulers that decide slot by slot: what they share is the count of the work left and the end of the story."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dlsched.algorithms.baselines.dmlrs.cluster import AnyJob, Cluster, Held
from dlsched.algorithms.run import Event, Run, Stripped
from dlsched.halt import polled
from dlsched.models.dmlrs import Instance, Schedule, utility
from dlsched.models.dmlrs.job import Placement

Allocate = Callable[[int, Sequence[AnyJob], Mapping[str, Fraction]], Mapping[str, Held]]
"""Of the slot, the jobs that are there and the work left, by job: what each job gets; an absent job gets nothing."""


@dataclass(frozen=True, slots=True)
class Round(Event):
    """What the jobs got in a slot.

    Attributes
    ----------
    slot : int
    counts : dict of str to (int, int)
        Workers and servers of each job that got some.
    remaining : dict of str to Fraction
        Work left after the slot, of each job that was there.
    """

    slot: int
    counts: dict[str, tuple[int, int]]
    remaining: dict[str, Fraction]


def simulate(instance: Instance, cluster: Cluster, allocate: Allocate, log: list[Event]) -> Run[Schedule]:
    """Run a scheduler over all slots.

    In each slot the jobs that have arrived and have work left, by arrival and then as listed, are given workers and
    servers; a job gets nothing after the slot in which it has done its work. In the end jobs with work left are
    stripped of what they got.

    Parameters
    ----------
    instance : Instance
    cluster : Cluster
        For the names of the machines.
    allocate : callable
    log : list of Event
        What has happened so far. A `Round` is added for each slot with a job, and a `Stripped` for each job that ran in
        vain; `allocate` may add its own.
    """
    remaining = {job.name: job.work for job in instance.jobs}
    order = sorted(instance.jobs, key=lambda job: job.arrival)
    plans: dict[str, dict[int, Placement]] = {}
    for t in polled(range(1, instance.slots + 1)):
        present = [job for job in order if job.arrival <= t and remaining[job.name] > 0]
        if not present:
            continue
        given = allocate(t, present, remaining)
        for name, held in given.items():
            remaining[name] = max(Fraction(0), remaining[name] - held.progress())
            plans.setdefault(name, {})[t] = cluster.placement(held)
        counts = {name: (held.worker_count, held.server_count) for name, held in given.items()}
        log.append(Round(t, counts, {job.name: remaining[job.name] for job in present}))
    unfinished = [name for name in plans if remaining[name] > 0]
    for name in unfinished:
        work = instance.job(name).work
        log.append(Stripped(name, tuple(plans[name]), work - remaining[name], work))
    schedule = Schedule.of({name: plan for name, plan in plans.items() if name not in unfinished})
    return Run(schedule, utility(instance, schedule), {}, tuple(log))
