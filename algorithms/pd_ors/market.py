"""Amounts and prices by slot, machine and resource (`Occupancy`), and what one job can buy there (`Market`).

rho_h^r[t] is what is allocated, in exact integers, and p_h^r[t] what more costs. A job sees the prices of its workers
and servers, and the room left for them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlsched.algorithms.pd_ors.prices import Cell, PriceConstants
from dlsched.arguments import checked
from dlsched.arithmetic import dot, integer_product
from dlsched.errors import InputError
from dlsched.halt import polled
from dlsched.models.dmlrs import Instance, Job
from dlsched.models.dmlrs.instance import AnyJob, useful_workers
from dlsched.models.dmlrs.job import Placement
from dlsched.models.numbers import integer_dtype, to_integers

Floats = NDArray[np.float64]
Amounts = NDArray[Any]
"""Integers: int64 where every sum fits, else Python's own."""


@dataclass(frozen=True, slots=True)
class ResourceStep:
    """How an allocation moved one price.

    Attributes
    ----------
    machine, resource : str
    slot : int
    amount : Fraction
        drho_h^r[t], newly allocated there.
    before, after : float
        p_h^r[t], price of a unit, before and after.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> admitted = [event for event in pd_ors.run(dmlrs.random(0)).log if event.admitted]
    >>> for step in admitted[0].steps[:2]:
    ...     print(step.machine, step.resource, step.slot, step.amount, f"{step.before:.3f} -> {step.after:.3f}")
    machine1 resource1 2 2 0.148 -> 2.770
    machine1 resource1 3 2 0.148 -> 2.770
    """

    machine: str
    resource: str
    slot: int
    amount: Fraction
    before: float
    after: float


class Occupancy:
    """Amounts allocated and prices, by slot, machine and resource.

    Parameters
    ----------
    instance : Instance
    constants : PriceConstants

    Attributes
    ----------
    scale : tuple of int
        Units of each resource in the integers below to one in the instance.
    capacity : integer array (machines, resources)
    used : integer array (slots, machines, resources)
        rho_h^r[t]; row i is slot i + 1.
    prices : float array (slots, machines, resources)
        p_h^r[t], of one unit of the instance; 0 where there is no price.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> occupancy = pd_ors.Occupancy(instance, pd_ors.constants(instance))
    >>> job = instance.job("job3")
    >>> for step in occupancy.commit(job, {job.arrival: {"machine1": (1, 1)}}):
    ...     print(step.resource, step.slot, step.amount, f"{step.before:.3f} -> {step.after:.3f}")
    resource1 2 1 0.148 -> 0.639
    """

    def __init__(self, instance: Instance, constants: PriceConstants) -> None:
        self.instance = instance
        self.constants = constants
        self.machines = tuple(machine.name for machine in instance.machines)
        columns, scales = [], []
        self._needs: dict[str, Amounts] = {}
        needs: list[list[int]] = []
        for r in instance.resources:
            amounts = [machine.capacity_of(r) for machine in instance.machines]
            amounts += [need for job in instance.jobs for need in (job.worker_needs(r), job.server_needs(r))]
            whole, scale = to_integers(amounts)
            columns.append(whole[: len(self.machines)])
            needs.append(whole[len(self.machines) :])
            scales.append(scale)
        self.scale = tuple(scales)
        self._dtype = self._smallest_type(columns, needs)
        self.capacity = self._array(columns, (len(self.machines), 2))
        for i, job in enumerate(instance.jobs):
            self._needs[job.name] = self._array([row[2 * i : 2 * i + 2] for row in needs], (2, 2))
        shape = (instance.slots, len(self.machines), len(instance.resources))
        self.used: Amounts = np.zeros(shape, dtype=self._dtype)
        self._saturation = self._cells(constants.saturation)
        alike: dict[tuple[int, Fraction], int] = {}
        self._alike = {(h, k): alike.setdefault((k, s), len(alike)) for (h, k), s in self._saturation.items()}
        self._known: dict[tuple[int, int], float] = {}
        self.prices: Floats = np.zeros(shape)
        for h, k in self._saturation:
            self.prices[:, h, k] = self._price(h, k, 0)

    def _smallest_type(self, columns: list[list[int]], needs: list[list[int]]) -> Any:
        largest = max((max(column, default=0) for column in columns), default=0)
        for row in needs:
            for i, job in enumerate(self.instance.jobs):
                largest = max(largest, (row[2 * i] + row[2 * i + 1]) * job.most_workers * 2)
        return integer_dtype(largest)

    def _array(self, columns: list[list[int]], empty: tuple[int, int]) -> Amounts:
        """Return an array (rows, resources) from one list a resource."""
        if not columns:
            return np.zeros((empty[0], 0), dtype=self._dtype)
        return np.array(columns, dtype=self._dtype).T.copy()

    def _cells(self, saturation: Mapping[Cell, Fraction]) -> dict[tuple[int, int], Fraction]:
        machine = {name: h for h, name in enumerate(self.machines)}
        resource = {name: r for r, name in enumerate(self.instance.resources)}
        return {(machine[h], resource[r]): limit for (h, r), limit in saturation.items()}

    def _price(self, machine: int, resource: int, used: int) -> float:
        """Return the price where so much is used; it is the same on machines that are saturated alike."""
        key = (self._alike[machine, resource], used)
        if key not in self._known:
            amount = Fraction(used, self.scale[resource])
            self._known[key] = self.constants.price(self.machines[machine], self.instance.resources[resource], amount)
        return self._known[key]

    def needs(self, job: AnyJob) -> Amounts:
        """Return what a worker and a server need, integers of shape (2, resources)."""
        return self._needs[job.name]

    def commit(self, job: AnyJob, plan: Mapping[int, Placement]) -> tuple[ResourceStep, ...]:
        """Allocate a job's schedule and raise the prices of what it uses; return how each price moved.

        Raises
        ------
        InputError
            If it takes more than is left.
        """
        machine = {name: h for h, name in enumerate(self.machines)}
        steps = []
        for t, placement in sorted(plan.items()):
            for name, counts in placement.items():
                h = machine[name]
                amounts = integer_product(np.array(counts, dtype=self._dtype), self.needs(job))
                if (self.used[t - 1, h] + amounts > self.capacity[h]).any():
                    raise InputError(f"job {job.name}, slot {t}, machine {name}: more than what is left")
                self.used[t - 1, h] += amounts
                steps += [self._step(t, h, int(r), int(amounts[r])) for r in np.flatnonzero(amounts)]
        return tuple(step for step in steps if step is not None)

    def _step(self, slot: int, machine: int, resource: int, amount: int) -> ResourceStep | None:
        if (machine, resource) not in self._saturation:
            return None
        where = (slot - 1, machine, resource)
        before = float(self.prices[where])
        self.prices[where] = self._price(machine, resource, int(self.used[where]))
        moved = Fraction(amount, self.scale[resource])
        names = self.machines[machine], self.instance.resources[resource]
        return ResourceStep(*names, slot, moved, before, float(self.prices[where]))

    def final_prices(self) -> dict[tuple[str, str, int], float]:
        """Return every price, by (machine, resource, slot)."""
        return {
            (self.machines[h], self.instance.resources[r], t): price
            for h, r in self._saturation
            for t, price in enumerate(self.prices[:, h, r].tolist(), start=1)
        }


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

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> occupancy = pd_ors.Occupancy(instance, pd_ors.constants(instance))
    >>> view = pd_ors.market(occupancy, instance.job("job1"), last=3)
    >>> view.worker_price.shape, view.most, view.servers.tolist()
    ((1, 2), 2, [0, 1, 1])
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

    def among(self, machines: Ints) -> Market:
        """Return the market with only some machines in each slot: their numbers, of shape (slots, few)."""
        return replace(
            self,
            worker_price=np.take_along_axis(self.worker_price, machines, axis=1),
            server_price=np.take_along_axis(self.server_price, machines, axis=1),
            room=np.take_along_axis(self.room, machines[:, :, None], axis=1),
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

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> run = pd_ors.run(dmlrs.random(0), external="lp-rounding", seed=1)
    >>> for event in run.log:
    ...     print(event.job, event.subproblems.states, event.subproblems.solved, event.subproblems.rounds)
    job3 4 0 0
    job1 0 0 0
    job2 1 1 10
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

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> occupancy = pd_ors.Occupancy(instance, pd_ors.constants(instance))
    >>> job = instance.job("job1")
    >>> before = pd_ors.market(occupancy, job, last=3)
    >>> steps = occupancy.commit(job, {3: {"machine1": (1, 1)}})
    >>> after = pd_ors.market(occupancy, job, last=3)
    >>> int(before.room.sum()) > int(after.room.sum())
    True
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
    most = useful_workers(job)
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
