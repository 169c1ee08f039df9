"""What one job can buy: prices of its workers and servers, and the room left for them, by slot and machine."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlsched.algorithms.pd_ors.occupancy import Amounts, Floats, Occupancy
from dlsched.arguments import checked
from dlsched.arithmetic import dot
from dlsched.halt import polled
from dlsched.models.dmlrs import Job
from dlsched.models.dmlrs.instance import AnyJob

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Market:
    """The slots that a job may use, seen from that job; only the resources it needs.

    Attributes
    ----------
    first : int
        Slot of row 0.
    worker_price, server_price : float array (slots, machines)
        p^w, p^s of (23).
    room : integer array (slots, machines, resources)
        Residual capacity C^ (18).
    worker, server : integer array (resources,)
        alpha, beta, in the units of `room`.
    limit : int
        F, the most workers in one slot (4).
    most : int
        The most workers that can be of use in one slot.
    servers : int array (most + 1,)
        Fewest servers for so many workers, non-decreasing; of an asynchronous job with all of them on one machine.
    resources : int
        R, those of the cluster, needed or not.
    """

    first: int
    worker_price: Floats
    server_price: Floats
    room: Amounts
    worker: Amounts
    server: Amounts
    limit: int
    most: int
    servers: Ints
    resources: int

    @property
    def slots(self) -> int:
        """Number of slots."""
        return len(self.worker_price)

    @property
    def machines(self) -> int:
        """Number of machines."""
        return int(self.worker_price.shape[1])

    def fitting_workers(self) -> Ints:
        """Return how many workers fit on each machine that has no servers, up to `most`; shape (slots, machines)."""
        return units(self.room, self.worker, self.most)

    def fitting_servers(self) -> Ints:
        """Return how many servers fit on each machine that has no workers, up to those of `most` workers."""
        return units(self.room, self.server, int(self.servers[-1]))

    def row(self, slot: int) -> Market:
        """Return the market of one slot."""
        return self.rows(np.array([slot]))

    def rows(self, slots: Any) -> Market:
        """Return the market of some slots; `first` then means nothing."""
        return replace(
            self, worker_price=self.worker_price[slots], server_price=self.server_price[slots], room=self.room[slots]
        )

    def with_servers(self, servers: Ints) -> Market:
        """Return the market with another number of servers for so many workers."""
        return replace(self, servers=servers)


@dataclass(frozen=True, slots=True)
class Subproblems:
    """How the one-slot problems with external communication of one job were settled.

    Attributes
    ----------
    states : int
        Pairs of a slot and a number of workers.
    solved : int
        Those that the bounds left open: no internal placement does as much for as little, and no greedy one is known
        to be cheapest.
    rounds : int
        Roundings made, where states are settled by rounding.
    feasible : int
        Of these, the feasible ones.
    """

    states: int = 0
    solved: int = 0
    rounds: int = 0
    feasible: int = 0


def units(room: Amounts, need: Amounts, limit: int) -> Ints:
    """Return how many units of a need fit into each room, at most `limit`.

    Parameters
    ----------
    room : integer array (..., resources)
    need : integer array (resources,)
    limit : int
    """
    result = np.full(room.shape[:-1], limit, dtype=np.int64)
    for r in np.flatnonzero(need):
        np.minimum(result, np.minimum(room[..., r] // need[r], limit).astype(np.int64), out=result)
    return result


@checked
def market(occupancy: Occupancy, job: AnyJob, last: int, *, empty: bool = False) -> Market:
    """Return what a job can buy from its arrival to the slot `last`.

    Parameters
    ----------
    occupancy : Occupancy
    job : Job or AsyncJob
    last : int
    empty : bool
        Take the whole capacity for what is left of it: all schedules that fit the empty cluster.
    """
    needs = occupancy.needs(job)
    kept = np.flatnonzero(needs.any(axis=0))
    slots = slice(job.arrival - 1, last)
    prices = occupancy.prices[slots][:, :, kept]
    scale = np.array([float(occupancy.scale[r]) for r in kept])
    alpha, beta = (needs[k][kept].astype(np.float64) / scale for k in (0, 1))
    capacity = np.broadcast_to(occupancy.capacity, occupancy.used[slots].shape)[:, :, kept]
    room = capacity if empty else capacity - occupancy.used[slots][:, :, kept]
    worker, server = needs[0][kept], needs[1][kept]
    useful = math.ceil(job.work * max(job.internal_time, job.external_time))
    most = min(job.most_workers, useful)
    held = units(room, worker, most).sum(axis=1).max(initial=0)
    most = min(most, int(held))
    servers = np.array([fewest_servers(job, n) for n in polled(range(most + 1))], dtype=np.int64)
    return Market(
        first=job.arrival,
        worker_price=dot(prices, alpha),
        server_price=dot(prices, beta),
        room=room,
        worker=worker,
        server=server,
        limit=job.most_workers,
        most=most,
        servers=servers,
        resources=needs.shape[1],
    )


def fewest_servers(job: AnyJob, workers: int, rate: Fraction | None = None) -> int:
    """Return ceil(w / gamma) (2); in the thesis the m_p of (3.25), ceil(w b / B), by default with the internal b."""
    if isinstance(job, Job):
        return job.servers_for(workers)
    return math.ceil(workers * (job.internal_rate if rate is None else rate) / job.server_rate)
