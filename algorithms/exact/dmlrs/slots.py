"""What jobs can do in one slot of a cluster, and whether it fits the machines.

A job's choice in a slot is a level: level l does at least `work[l - 1]`. Free disposal orders them, so whether workers
sit with their servers (internal) or not matters only for the space a level takes: each level has at most two
alternatives, the fewest external workers and the fewest internal ones that do its work. External workers and servers
are placed one by one, internal ones as one bundle on one machine.

Source: PD-ORS, (1)-(5) and Fact 1, for jobs whose internal rate is at least the external one: external workers that
happen to share a machine do no less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dlsched.models.dmlrs import Instance, Job
from dlsched.models.numbers import to_integers

Ints = npt.NDArray[np.int64]

MOST_STATES = 20_000


class TooLarge(Exception):
    """Raised where lists of slot configurations or of amounts of work would be too long."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A way to reach a level: workers and servers, on one machine where `internal`."""

    internal: bool
    workers: int
    servers: int


@dataclass(frozen=True, slots=True, eq=False)
class SlotJob:
    """A job's levels.

    Attributes
    ----------
    name : str
    arrival : int
        First slot it may run in, from 0.
    worker, server : tuple of int
        Needs by resource, in the unit of the cluster.
    work : tuple of int
        Work done at each level from 1 on, ascending, at most `total`.
    alternatives : tuple of tuples of Alternative
        By level; none is dominated.
    total : int
        Work to be done.
    utility : tuple of Fraction
        By completion slot from 0; 0 before the arrival.
    """

    name: str
    arrival: int
    worker: tuple[int, ...]
    server: tuple[int, ...]
    work: tuple[int, ...]
    alternatives: tuple[tuple[Alternative, ...], ...]
    total: int
    utility: tuple[Fraction, ...]

    @property
    def levels(self) -> int:
        """How many levels there are besides idling."""
        return len(self.work)

    def needs(self, choice: Alternative) -> tuple[int, ...]:
        """Return what an alternative takes, by resource."""
        return tuple(a * choice.workers + b * choice.servers for a, b in zip(self.worker, self.server, strict=True))

    def items(self, choice: Alternative) -> list[tuple[int, ...]]:
        """Return what has to be placed: each worker and server, or the bundle."""
        if choice.internal:
            return [self.needs(choice)]
        return [self.worker] * choice.workers + [self.server] * choice.servers


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """A cluster and the levels of its jobs, in integers.

    Attributes
    ----------
    machines : tuple of str
    capacity : ndarray of shape (machines, resources)
    jobs : tuple of SlotJob
    slots : int
    """

    machines: tuple[str, ...]
    capacity: Ints
    jobs: tuple[SlotJob, ...]
    slots: int

    @classmethod
    def of(cls, instance: Instance) -> Slots:
        """Read an instance of journal jobs (ValueError where the levels do not hold for it)."""
        amounts = {r: _amounts(instance, r) for r in instance.resources}
        capacity = np.array([[amounts[r][0][h] for r in instance.resources] for h in range(len(instance.machines))])
        shape = (len(instance.machines), len(instance.resources))
        capacity = capacity.astype(np.int64).reshape(shape)
        jobs = [
            _levels(
                job,
                instance.slots,
                tuple(amounts[r][1][i] for r in instance.resources),
                tuple(amounts[r][2][i] for r in instance.resources),
                capacity,
            )
            for i, job in enumerate(instance.jobs)
        ]
        return cls(tuple(h.name for h in instance.machines), capacity, tuple(jobs), instance.slots)

    @property
    def most_levels(self) -> int:
        """The largest number of levels of a job."""
        return max((job.levels for job in self.jobs), default=0)


def _amounts(instance: Instance, resource: str) -> tuple[list[int], list[int], list[int]]:
    """Return capacities by machine and needs of workers and servers by job, of one resource, in one unit."""
    machines, jobs = instance.machines, instance.jobs
    values = [h.capacity_of(resource) for h in machines]
    values += [job.worker_needs(resource) for job in jobs] + [job.server_needs(resource) for job in jobs]
    whole, _ = to_integers(values)
    cut = len(machines), len(machines) + len(jobs)
    return whole[: cut[0]], whole[cut[0] : cut[1]], whole[cut[1] :]


def _levels(job: object, slots: int, worker: tuple[int, ...], server: tuple[int, ...], capacity: Ints) -> SlotJob:
    if not isinstance(job, Job) or job.external_rate > job.internal_rate:
        raise ValueError("levels need synchronous jobs whose internal rate is at least the external one")
    total, room, most = job.work, capacity.sum(axis=0), job.most_workers
    done: list[tuple[Fraction, Alternative]] = []
    for n in range(1, most + 1):
        servers = job.servers_for(n)
        needs = np.array(worker) * n + np.array(server) * servers
        if (needs > room).any():
            break
        done.append((min(total, n / job.external_time), Alternative(False, n, servers)))
        if (needs <= capacity).all(axis=1).any():
            done.append((min(total, n / job.internal_time), Alternative(True, n, servers)))
        if n / job.external_time >= total:
            break
    works = sorted({work for work, _ in done})
    alternatives = tuple(_fewest([choice for work, choice in done if work >= least]) for least in works)
    whole, _ = to_integers([total, *works])
    utility = tuple(
        job.utility.exact(t - job.arrival + 1) if t >= job.arrival - 1 else Fraction(0) for t in range(slots)
    )
    return SlotJob(job.name, job.arrival - 1, worker, server, tuple(whole[1:]), alternatives, whole[0], utility)


def _fewest(choices: Sequence[Alternative]) -> tuple[Alternative, ...]:
    """Return the fewest external workers, and the fewest internal ones where they are fewer."""
    external = [c for c in choices if not c.internal][:1]
    internal = [c for c in choices if c.internal][:1]
    if external and internal and external[0].workers <= internal[0].workers:
        return tuple(external)
    return (*external, *internal)


def amounts_left(job: SlotJob, slots: int) -> Ints:
    """Return every amount of work that a job can have left, ascending from 0.

    Raises
    ------
    TooLarge
        Where there are more than `MOST_STATES`.
    """
    found = {job.total}
    frontier = found
    for _ in range(slots - job.arrival):
        frontier = {max(0, left - work) for left in frontier for work in job.work} - found
        found = found | frontier
        if len(found) > MOST_STATES:
            raise TooLarge(f"job {job.name} has over {MOST_STATES} amounts of work left")
    return np.array(sorted(found | {0}), dtype=np.int64)
