"""The room on the machines in one slot, workers and servers placed there in turn, and schedulers that decide by slot.

A job grows worker by worker. Each worker, and each server that the job then needs, goes to the next machine with room,
counted on from the machine that was used last (round robin). With n workers a synchronous job needs ceil(n / gamma)
servers, on any machines. An asynchronous job keeps all its servers on one machine, because each further machine with
servers would add the load (3.4) of all workers once more; it needs the load of its workers divided by B, rounded up.

What schedulers that decide slot by slot share is the count of the work left and the end of the story (`simulate`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice

from dlsched.algorithms.run import Event, Run, Stripped
from dlsched.halt import polled
from dlsched.models.dmlrs import AsyncJob, Instance, Job, Schedule, utility
from dlsched.models.dmlrs.instance import AnyJob
from dlsched.models.dmlrs.job import Placement
from dlsched.models.numbers import to_integers

Needs = tuple[tuple[int, int], ...]
"""(index of a resource, amount) where something is needed."""


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """What a job has in one slot.

    Attributes
    ----------
    job : Job or AsyncJob
    workers, servers : dict of int to int
        How many, by index of the machine.
    """

    job: AnyJob
    workers: dict[int, int] = field(default_factory=dict)
    servers: dict[int, int] = field(default_factory=dict)

    @property
    def worker_count(self) -> int:
        """Workers on all machines."""
        return sum(self.workers.values())

    @property
    def server_count(self) -> int:
        """Servers on all machines."""
        return sum(self.servers.values())

    def counts(self) -> dict[int, tuple[int, int]]:
        """Return (workers, servers) by index of the machine."""
        return {h: (self.workers.get(h, 0), self.servers.get(h, 0)) for h in sorted({*self.workers, *self.servers})}

    def progress(self) -> Fraction:
        """Return the work that is done in the slot, as `Job.progress` does, in time linear in the machines."""
        job = self.job
        if not self.workers or not self.servers:
            return Fraction(0)
        same = sum(n for h, n in self.workers.items() if h in self.servers)
        internal, external = job.internal_time, job.external_time
        if isinstance(job, AsyncJob):
            near = internal if len(self.servers) == 1 else max(internal, external)
            return same / near + (self.worker_count - same) / external
        apart = len({*self.workers, *self.servers}) > 1
        return self.worker_count / max(internal if same else Fraction(0), external if apart else Fraction(0))


class Cluster:
    """The room left on the machines in one slot, in whole numbers, and whose turn it is.

    Parameters
    ----------
    instance : Instance
    tight : bool
        Try the fullest machine first, of equals the first, not the one whose turn it is.

    Attributes
    ----------
    names : tuple of str
        Of the machines.
    capacity : tuple of tuple of int
        By machine and resource, in units of the resource.
    total : tuple of int
        By resource.
    free : list of list of int
        What is left of the capacity.
    turn : int
        Index of the machine that is tried first.
    """

    def __init__(self, instance: Instance, *, tight: bool = False) -> None:
        self._tight = tight
        self.names = tuple(machine.name for machine in instance.machines)
        self._jobs = {job.name: k for k, job in enumerate(instance.jobs)}
        rows: list[list[int]] = []
        for r in instance.resources:
            amounts = [machine.capacity_of(r) for machine in instance.machines]
            amounts += [need for job in instance.jobs for need in (job.worker_needs(r), job.server_needs(r))]
            rows.append(to_integers(amounts)[0])
        count = len(self.names)
        self.capacity = tuple(tuple(row[h] for row in rows) for h in range(count))
        self.total = tuple(sum(row[:count]) for row in rows)
        self._needs = [
            tuple((r, row[k]) for r, row in enumerate(rows) if row[k])
            for k in range(count, count + 2 * len(instance.jobs))
        ]
        self.clear()

    def clear(self) -> None:
        """Free all machines; the first one has the turn."""
        self.free = [list(row) for row in self.capacity]
        self.turn = 0

    def worker_needs(self, job: AnyJob) -> Needs:
        """Return what a worker needs."""
        return self._needs[2 * self._jobs[job.name]]

    def server_needs(self, job: AnyJob) -> Needs:
        """Return what a server needs."""
        return self._needs[2 * self._jobs[job.name] + 1]

    def in_order(self) -> list[int]:
        """Return all machines in the order in which they are tried."""
        machines = range(len(self.names))
        if self._tight:
            return sorted(machines, key=self._room)
        return [*machines[self.turn :], *machines[: self.turn]]

    def _room(self, machine: int) -> float:
        return sum(free / total for free, total in zip(self.free[machine], self.total, strict=True) if total)

    def pass_turn(self, machine: int) -> None:
        """Give the turn to the machine after this one."""
        self.turn = (machine + 1) % len(self.names)

    def fits(self, machine: int, needs: Needs, count: int = 1) -> bool:
        """Tell whether a machine has room for so many units."""
        free = self.free[machine]
        return all(free[r] >= amount * count for r, amount in needs)

    def take(self, machine: int, needs: Needs, count: int = 1) -> None:
        """Take the room of so many units, or give it back where the count is negative."""
        for r, amount in needs:
            self.free[machine][r] -= amount * count

    def spread(self, needs: Needs, count: int) -> dict[int, int] | None:
        """Take the room of so many units, each on the first machine that has it, and return how many are on each.

        None where there is no room: nothing changes then. Units come by the billion where a worker has as many servers,
        so they are taken in whole rounds of the machines.
        """
        given: dict[int, int] = {}
        turn = self.turn
        while count:
            # The fullest machine stays the fullest.
            roomy = (h for h in self.in_order() if self.fits(h, needs))
            takers = list(islice(roomy, 1 if self._tight else count))
            if not takers:
                for machine, units in given.items():
                    self.take(machine, needs, -units)
                self.turn = turn
                return None
            each = min(count // len(takers), *(self._room_for(h, needs, count) for h in takers))
            for machine in takers:
                self.take(machine, needs, each)
                given[machine] = given.get(machine, 0) + each
            self.pass_turn(takers[-1])
            count -= each * len(takers)
        return given

    def _room_for(self, machine: int, needs: Needs, most: int) -> int:
        """Return how many units fit a machine, `most` where they need nothing."""
        return min((self.free[machine][r] // amount for r, amount in needs), default=most)

    def used(self, held: Held) -> dict[tuple[int, int], int]:
        """Return what a job has, by machine and resource."""
        amounts: dict[tuple[int, int], int] = {}
        for needs, counts in self._parts(held):
            for machine, count in counts.items():
                for r, amount in needs:
                    amounts[machine, r] = amounts.get((machine, r), 0) + amount * count
        return amounts

    def claim(self, held: Held) -> bool:
        """Take all that a job has, or nothing where there is no room; tell which."""
        amounts = self.used(held)
        if any(amount > self.free[h][r] for (h, r), amount in amounts.items()):
            return False
        for (h, r), amount in amounts.items():
            self.free[h][r] -= amount
        return True

    def release(self, held: Held) -> None:
        """Give back all that a job has."""
        for (h, r), amount in self.used(held).items():
            self.free[h][r] += amount

    def dominant_share(self, held: Held) -> Fraction:
        """Return the largest of a job's shares of the cluster's resources."""
        used = [0] * len(self.total)
        for needs, counts in self._parts(held):
            count = sum(counts.values())
            for r, amount in needs:
                used[r] += amount * count
        return max((Fraction(u, total) for u, total in zip(used, self.total, strict=True) if u), default=Fraction(0))

    def _parts(self, held: Held) -> tuple[tuple[Needs, dict[int, int]], ...]:
        return (self.worker_needs(held.job), held.workers), (self.server_needs(held.job), held.servers)

    def placement(self, held: Held) -> dict[str, tuple[int, int]]:
        """Return (workers, servers) by name of the machine."""
        return {self.names[h]: counts for h, counts in held.counts().items()}


def place(cluster: Cluster, job: AnyJob, workers: int) -> Held | None:
    """Place so many workers of a job and their servers, or nothing where that does not fit."""
    held, turn = Held(job), cluster.turn
    for _ in range(workers):
        if not grow(cluster, held):
            cluster.release(held)
            cluster.turn = turn
            return None
    return held


def grow(cluster: Cluster, held: Held) -> bool:
    """Give a job one worker more, and the servers that it then needs; tell whether they had room.

    It has none beyond its most workers. Nothing changes where there is no room.
    """
    if held.worker_count >= held.job.most_workers:
        return False
    if isinstance(held.job, AsyncJob):
        return _grow_around_servers(cluster, held, held.job)
    return _grow_anywhere(cluster, held, held.job)


def _grow_anywhere(cluster: Cluster, held: Held, job: Job) -> bool:
    turn, worker = cluster.turn, cluster.worker_needs(job)
    at_work = cluster.spread(worker, 1)
    if at_work is None:
        return False
    servers = cluster.spread(cluster.server_needs(job), job.servers_for(held.worker_count + 1) - held.server_count)
    if servers is None:
        for machine, count in at_work.items():
            cluster.take(machine, worker, -count)
        cluster.turn = turn
        return False
    for machine, count in at_work.items():
        _add(held.workers, machine, count)
    for machine, count in servers.items():
        _add(held.servers, machine, count)
    return True


def _grow_around_servers(cluster: Cluster, held: Held, job: AsyncJob) -> bool:
    worker, server = cluster.worker_needs(job), cluster.server_needs(job)
    for machine in cluster.in_order():
        if not cluster.fits(machine, worker):
            continue
        turn = cluster.turn
        cluster.take(machine, worker)
        cluster.pass_turn(machine)
        for home in list(held.servers) or cluster.in_order():
            more = _servers_with(held, job, machine, home) - held.server_count
            if held.server_count + more <= held.worker_count + 1 and cluster.fits(home, server, more):
                cluster.take(home, server, more)
                if not held.servers:
                    cluster.pass_turn(home)
                _add(held.workers, machine)
                _add(held.servers, home, more)
                return True
        cluster.take(machine, worker, -1)
        cluster.turn = turn
    return False


def _servers_with(held: Held, job: AsyncJob, machine: int, home: int) -> int:
    """Return ceil(load / B) (3.4) with one worker more on a machine and all servers at home."""
    internal = held.workers.get(home, 0) + (machine == home)
    external = held.worker_count + 1 - internal
    return math.ceil((internal * job.internal_rate + external * job.external_rate) / job.server_rate)


def _add(counts: dict[int, int], machine: int, more: int = 1) -> None:
    if more:
        counts[machine] = counts.get(machine, 0) + more


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
