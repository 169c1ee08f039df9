"""The best numbers of workers and servers for one job: the inner problem (6)-(10), solved exactly.

For w workers the completion time is convex in the number of servers p: from p-1 to p it changes by a multiple of
theta2 - theta4 w / (p(p-1)), in (9) as in (10). So the best p is the largest with p(p-1) <= theta4 w / theta2 that
fits, and an exact optimum takes one evaluation a number of workers. Floats only propose: every candidate within a
relative 1e-9 of the least float is compared in rationals.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
import numpy.typing as npt

from dlsched.arguments import checked
from dlsched.halt import polled
from dlsched.models.numbers import integer_dtype, to_integers
from dlsched.models.smd.instance import Job
from dlsched.models.smd.training import Mode
from dlsched.tolerances import AS_GOOD

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Point:
    """Numbers of workers and servers for a job, and what they are worth.

    Attributes
    ----------
    workers, servers : int
        w and p.
    time : Fraction
        tau, the completion time.
    utility : Fraction
        mu(tau).

    Examples
    --------
    >>> from dlsched.models.smd import best_point, random
    >>> found = best_point(random(0).jobs[0])
    >>> found.workers, found.servers, float(found.time), float(found.utility)
    (1, 1, 1.0, 19.0)
    """

    workers: int
    servers: int
    time: Fraction
    utility: Fraction

    @classmethod
    def of(cls, job: Job, workers: int, servers: int) -> Self:
        """Return what so many workers and servers are worth to a job."""
        time = job.training.time(workers, servers)
        return cls(workers, servers, time, job.utility.exact(time))


@checked
def most_servers(job: Job) -> Ints:
    """Return the most servers that fit beside w = 1, 2, ... workers (3); an empty array where the job cannot run.

    Examples
    --------
    >>> from dlsched.models.smd import most_servers, random
    >>> most_servers(random(0).jobs[1]).tolist()
    [1, 1, 1]
    """
    workers = np.arange(1, job.most_workers + 1, dtype=object)
    if not workers.size:
        return np.zeros(0, dtype=np.int64)
    room = np.full(workers.size, job.most_servers, dtype=object)
    for r in job.resources:
        (each, server, limit), _ = to_integers((job.worker_needs(r), job.server_needs(r), job.limit_of(r)))
        if server:
            counts = workers.astype(integer_dtype(max(limit, each * job.most_workers)))
            room = np.minimum(room, (limit - each * counts) // server)
    return room.astype(np.int64)


@checked
def points(job: Job) -> Ints:
    """Return all (w, p) that fit a job's limits (3), as rows, by workers and then servers; shape (k, 2).

    Examples
    --------
    >>> from dlsched.models.smd import points, random
    >>> points(random(0).jobs[1]).tolist()
    [[1, 1], [2, 1], [3, 1]]
    """
    rooms = most_servers(job)
    workers = np.repeat(np.arange(1, rooms.size + 1), rooms)
    first = np.repeat(np.cumsum(rooms) - rooms, rooms)
    return np.column_stack([workers, np.arange(workers.size) - first + 1])


@checked
def times(job: Job, workers: Ints, servers: Ints) -> Floats:
    """Return tau of (9) or (10) for arrays of w and p, in floats.

    Examples
    --------
    >>> from dlsched.models.smd import points, random, times
    >>> job = random(0).jobs[1]
    >>> workers, servers = points(job).T
    >>> times(job, workers, servers).round(3).tolist()
    [5.5, 4.0, 3.5]
    """
    theta = [float(value) for value in job.training.coefficients]
    w, p = np.asarray(workers, dtype=float), np.asarray(servers, dtype=float)
    if job.training.mode is Mode.SYNC:
        return np.asarray(theta[0] * w + theta[1] * p + theta[2] + theta[3] * w / p + theta[4] / w)
    return np.asarray(theta[0] + (theta[1] * p + theta[2]) / w + theta[3] / p)


@checked
def best_point(job: Job) -> Point | None:
    """Return the exact optimum of the inner problem, None where not even one worker and one server fit.

    Of equally fast points, the one with the fewest workers, then servers.

    References
    ----------
    SMD, (6)-(8) with (9) or (10).

    Examples
    --------
    >>> from dlsched.models.smd import best_point, random
    >>> [(point.workers, point.servers) if (point := best_point(job)) else None for job in random(0).jobs]
    [(1, 1), (3, 1), (1, 1)]
    """
    rooms = most_servers(job)
    if not rooms.size:
        return None
    workers = np.arange(1, rooms.size + 1)
    ideal = _ideal_servers(job, workers)
    tried = [np.clip(ideal + shift, 1, rooms) for shift in (-1, 0, 1)]
    w, p = np.tile(workers, 3), np.concatenate(tried)
    approximate = times(job, w, p)
    least = approximate.min()
    near = {(int(w[i]), int(p[i])) for i in np.flatnonzero(approximate <= least + AS_GOOD * abs(least))}
    best = min(polled(near), key=lambda counts: (job.training.time(*counts), counts))
    return Point.of(job, *best)


def _ideal_servers(job: Job, workers: Ints) -> Ints:
    """Return, within one, the largest p with p(p-1) <= theta4 w / theta2; 2^62 stands for infinity."""
    theta = job.training.coefficients
    if theta[3] == 0:
        return np.ones(workers.size, dtype=np.int64)
    if theta[1] == 0:
        return np.full(workers.size, 2**62)
    ideal = 0.5 + np.sqrt(0.25 + float(theta[3] / theta[1]) * workers)
    result: Ints = np.minimum(np.floor(ideal), 2.0**62).astype(np.int64)
    return result
