"""FIFO, as in Hadoop and Spark: jobs in the order of arrival, each with a fixed number of workers until it is done.

The PD-ORS paper fixes the number between 1 and 30. Here it is drawn uniformly for each job, at most its most workers,
and the servers are as many as the workers need. Workers and servers are placed in turn on machines with room, and stay.
While the job at the head of the queue does not fit, those behind it wait.

A job that does not fit even into the empty cluster, where the first machine has the turn, gets the largest number of
workers below that fits, as everything behind it would wait for ever; one without any is turned away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.baselines.dmlrs.cluster import Cluster, Held, grow, place, simulate
from dlsched.algorithms.run import Event, Run
from dlsched.arguments import Seed, checked, generator
from dlsched.models.dmlrs import Instance, Schedule
from dlsched.models.dmlrs.instance import AnyJob

MOST = 30
"""The most workers that are drawn."""


@dataclass(frozen=True, slots=True)
class Fixed(Event):
    """How many workers a job has.

    Attributes
    ----------
    job : str
    workers : int
        0 where the job is turned away.
    drawn : int
    """

    job: str
    workers: int
    drawn: int


@checked
def run(instance: Instance, *, seed: Seed = 0) -> Run[Schedule]:
    """Schedule an instance first in, first out.

    Parameters
    ----------
    instance : Instance
    seed : int or numpy.random.Generator
        Of the numbers of workers.

    Returns
    -------
    Run
        There are no prices. The log has a `Fixed` for each job, a `Round` for each slot in which a job is there, and a
        `Stripped` for each job that ran and does not finish.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.dmlrs.fifo import Fixed, run
    >>> from dlsched.models import dmlrs
    >>> for event in run(dmlrs.random(0), seed=1).log:
    ...     if isinstance(event, Fixed):
    ...         print(event.job, event.workers)
    job1 2
    job2 0
    job3 2
    """
    cluster = Cluster(instance)
    draws = generator(seed).integers(1, MOST + 1, size=len(instance.jobs)).tolist()
    fixed = [Fixed(job.name, _most(cluster, job, n), n) for job, n in zip(instance.jobs, draws, strict=True)]
    queue = _Queue(cluster, {event.job: event.workers for event in fixed})
    return simulate(instance, cluster, queue.allocate, list(fixed))


def _most(cluster: Cluster, job: AnyJob, limit: int) -> int:
    """Return how many workers, up to the limit, the empty cluster holds."""
    held = Held(job)
    while held.worker_count < limit and grow(cluster, held):
        pass
    cluster.clear()
    return held.worker_count


class _Queue:
    """Who runs where."""

    def __init__(self, cluster: Cluster, workers: Mapping[str, int]) -> None:
        self._cluster = cluster
        self._workers = workers
        self._running: dict[str, Held] = {}

    def allocate(self, slot: int, present: Sequence[AnyJob], remaining: Mapping[str, Fraction]) -> dict[str, Held]:
        """Return what the running jobs have, after those at the head of the queue that fit have started."""
        del slot
        for name in [name for name in self._running if not remaining[name]]:
            self._cluster.release(self._running.pop(name))
        for job in present:
            if job.name in self._running or not self._workers[job.name]:
                continue
            if not self._running:
                self._cluster.turn = 0
            held = place(self._cluster, job, self._workers[job.name])
            if held is None:
                break
            self._running[job.name] = held
        return dict(self._running)


ALGORITHM = Algorithm("fifo", "dmlrs", "FIFO: by arrival, with a fixed number of workers until it is done", run)
