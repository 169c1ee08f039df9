"""What jobs can do in one slot of a cluster.

A job's choice in a slot is a level: level l does at least `work[l - 1]`. Free disposal orders them, so whether workers
sit with their servers (internal) or not matters only for the space a level takes: each level has at most two
alternatives, the fewest external workers and the fewest internal ones that do its work. External workers and servers
are placed one by one, internal ones as one bundle on one machine.

Source: PD-ORS, (1)-(5) and Fact 1, for jobs whose internal rate is at least the external one: external workers that
happen to share a machine do no less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import le

import numpy as np
import numpy.typing as npt

from dlsched.halt import polled
from dlsched.models.dmlrs import Instance, Job
from dlsched.models.dmlrs.job import AsyncJob
from dlsched.models.numbers import integer_dtype, to_integers, whole_units

Ints = npt.NDArray[np.int64]
"""Integers; those of resources and work are of type object where int64 could wrap."""

MOST_STATES = 20_000
"""Of a job; with eight levels each of its pricing takes 160 000 steps a slot. Arbitrary."""

_STEPS = 2_000
"""Of a job's work where it is rounded: with twenty slots it loses a hundredth of it at most. Arbitrary."""

_MOST_ITEMS = 20_000
"""Workers and servers of a job in a slot, each of which is placed by itself; arbitrary."""


class TooLarge(Exception):
    """Raised where lists of slot configurations, of amounts of work or of things to place would be too long."""


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
    together : bool
        The servers of an alternative have to be on one machine (thesis: a worker exchanges with each that has some).
    """

    name: str
    arrival: int
    worker: tuple[int, ...]
    server: tuple[int, ...]
    work: tuple[int, ...]
    alternatives: tuple[tuple[Alternative, ...], ...]
    total: int
    utility: tuple[Fraction, ...]
    together: bool = False

    @property
    def levels(self) -> int:
        """How many levels there are besides idling."""
        return len(self.work)

    def needs(self, choice: Alternative) -> tuple[int, ...]:
        """Return what an alternative takes, by resource."""
        return tuple(a * choice.workers + b * choice.servers for a, b in zip(self.worker, self.server, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """A cluster and the levels of its jobs, in integers.

    Attributes
    ----------
    machines : tuple of str
    capacity : ndarray of shape (machines, resources)
    jobs : tuple of SlotJob
    slots : int
    exact : bool
        False where amounts of resources were rounded down: every plan of the instance is one of these slots, and one of
        these may exceed a capacity by a trifle.
    """

    machines: tuple[str, ...]
    capacity: Ints
    jobs: tuple[SlotJob, ...]
    slots: int
    exact: bool = True

    @classmethod
    def of(cls, instance: Instance, *, exact: bool = False) -> Slots:
        """Read an instance of journal jobs; `exact` as for `dlsched.models.numbers.whole_units`.

        Raises
        ------
        ValueError
            Where a plan of the instance may be none of levels: see `levels_hold`.
        TooLarge
            Where a job has more workers and servers to place than could ever be listed.
        """
        if not levels_hold(instance):
            raise ValueError("levels need synchronous jobs whose internal rate is at least the external one")
        return cls._read(instance, exact, None)

    @classmethod
    def safe(cls, instance: Instance) -> Slots:
        """Read an instance of any jobs so that each plan of levels is one of the instance, though not conversely.

        External workers count at the slower rate, and have servers for the faster one; work is done in steps of a
        two thousandth where it has smaller ones, and what is done in a slot is rounded down to them.

        Raises
        ------
        TooLarge
            As for `of`.
        """
        return cls._read(instance, True, _STEPS)

    @classmethod
    def _read(cls, instance: Instance, exact: bool, steps: int | None) -> Slots:
        """Read an instance; `steps` is the most steps of a job's work, None where it is not rounded.

        Raises
        ------
        TooLarge
            Where a job has more workers and servers to place than could ever be listed.
        """
        machines, jobs, slots = instance.machines, instance.jobs, instance.slots
        room, workers, servers, kept = [], [], [], []
        for r in instance.resources:
            needs = [job.worker_needs(r) for job in jobs] + [job.server_needs(r) for job in jobs]
            capacities, whole, sure = whole_units([h.capacity_of(r) for h in machines], needs, exact=exact)
            room.append(capacities)
            workers.append(whole[: len(jobs)])
            servers.append(whole[len(jobs) :])
            kept.append(sure)
        largest = max((max(*row, *a, *b) for row, a, b in zip(room, workers, servers, strict=True)), default=0)
        shape = (len(instance.resources), len(machines))
        capacity: Ints = np.array(room, dtype=integer_dtype(largest * _MOST_ITEMS)).reshape(shape).T.copy()
        levels = [
            _levels(job, slots, tuple(row[i] for row in workers), tuple(row[i] for row in servers), capacity, steps)
            for i, job in enumerate(jobs)
        ]
        return cls(tuple(h.name for h in machines), capacity, tuple(levels), slots, all(kept))

    @property
    def most_levels(self) -> int:
        """The largest number of levels of a job."""
        return max((job.levels for job in self.jobs), default=0)


def levels_hold(instance: Instance) -> bool:
    """Tell whether every plan of an instance is one of levels, and conversely."""
    return all(isinstance(job, Job) and job.external_rate <= job.internal_rate for job in instance.jobs)


def _levels(
    job: Job | AsyncJob,
    slots: int,
    worker: tuple[int, ...],
    server: tuple[int, ...],
    capacity: Ints,
    steps: int | None,
) -> SlotJob:
    slower = max(job.internal_time, job.external_time)
    machines = sorted(set(map(tuple, capacity.tolist())))
    room = tuple(sum(column) for column in zip(*capacity.tolist(), strict=True))

    def fit(workers: int, servers: int, rooms: Sequence[tuple[int, ...]]) -> bool:
        needs = [a * workers + b * servers for a, b in zip(worker, server, strict=True)]
        return any(all(map(le, needs, each)) for each in rooms)

    done: list[tuple[Fraction, Alternative]] = []
    for n in polled(range(1, job.most_workers + 1)):
        apart, beside = _servers(job, n)
        if n + apart > _MOST_ITEMS and fit(n, beside, [room]):
            raise TooLarge(f"job {job.name} has over {_MOST_ITEMS} workers and servers in a slot")
        if not fit(n, beside, [room]):
            break
        if fit(n, apart, [room]):
            done.append((min(job.work, n / slower), Alternative(False, n, apart)))
        if fit(n, beside, machines):
            done.append((min(job.work, n / job.internal_time), Alternative(True, n, beside)))
        if n / slower >= job.work:
            break
    if isinstance(job, AsyncJob):
        done = [(work, choice) for work, choice in done if choice.servers <= choice.workers]
    total, done = _in_steps(job.work, done, steps)
    works = sorted({Fraction(0), *(work for work, _ in done)})[1:]
    alternatives = tuple(_fewest([choice for work, choice in done if work >= least]) for least in polled(works))
    whole, _ = to_integers([total, *works])
    utility = tuple(
        job.utility.exact(t - job.arrival + 1) if t >= job.arrival - 1 else Fraction(0) for t in polled(range(slots))
    )
    together = isinstance(job, AsyncJob)
    return SlotJob(
        job.name, job.arrival - 1, worker, server, tuple(whole[1:]), alternatives, whole[0], utility, together
    )


def _servers(job: Job | AsyncJob, workers: int) -> tuple[int, int]:
    """Return the fewest servers that are enough wherever so many workers are, and beside all of them."""
    if isinstance(job, Job):
        return job.servers_for(workers), job.servers_for(workers)
    fastest = max(job.internal_rate, job.external_rate)
    return math.ceil(workers * fastest / job.server_rate), math.ceil(workers * job.internal_rate / job.server_rate)


def _in_steps(
    total: Fraction, done: list[tuple[Fraction, Alternative]], steps: int | None
) -> tuple[Fraction, list[tuple[Fraction, Alternative]]]:
    """Return the work, and what alternatives do of it, rounded down where there are more steps than some."""
    whole, _ = to_integers([total, *(work for work, _ in done)])
    if steps is None or whole[0] <= steps:
        return total, done
    unit = total / steps
    return Fraction(steps), [(Fraction(work // unit), choice) for work, choice in done]


def _fewest(choices: Sequence[Alternative]) -> tuple[Alternative, ...]:
    """Return the fewest external workers, and the fewest internal ones where they are fewer."""
    external = [c for c in choices if not c.internal][:1]
    internal = [c for c in choices if c.internal][:1]
    if external and internal and external[0].workers <= internal[0].workers:
        return tuple(external)
    return (*external, *internal)


def amounts_left(job: SlotJob, slots: int) -> list[int]:
    """Return every amount of work that a job can have left, ascending from 0.

    Raises
    ------
    TooLarge
        Where there are more than `MOST_STATES`.
    """
    found = {job.total}
    frontier = found
    for _ in polled(range(slots - job.arrival)):
        frontier = {max(0, left - work) for left in frontier for work in job.work} - found
        found = found | frontier
        if len(found) > MOST_STATES:
            raise TooLarge(f"job {job.name} has over {MOST_STATES} amounts of work left")
    return sorted(found | {0})
