"""DMLRS over the rationals: `dmlrs/schedules`, R-DMLRS (8)-(9), over the schedules that no other one dominates.

A program over whole schedules has few columns on small clusters and a strong bound: 1 to 13 nodes on average on the
instances that claims are checked on, where `dmlrs/compact-milp` takes 14 to 940.

No other schedule is needed. A *placement* is what a job has in a slot, by (2) and (4), in the thesis (3.2), (3.4) and
(3.5), so that it does some work; work beyond V counts as V.

1. In the journal n workers need no more than ceil(n/gamma) servers: with one taken away no pair of a worker and a
   server is slower. In the thesis all servers may be on one machine (`dlsched.models.dmlrs.asynchronous` shows it), and
   no more than bear their workers. Where n - 1 workers do all the work at the slower rate, n do no more.
2. A placement that uses no more of any resource of any machine and does no less work takes the other's place in any
   schedule: capacities hold, the job is done with the same slots or fewer. Of placements that are alike in both the
   first stays; so each one has a place-taker among those kept, of which no two use the same.
3. Where a schedule of kept placements still does all the work with one of them left out, or with a smaller one in its
   place, that schedule uses no more, ends no later, and is worth no less, as u_i never increases. Step by step (each
   makes a slot's use smaller) that ends, with one in which no step is possible: those are listed. They end in the slot
   in which the work is done, as a slot after it could be left out.
4. A schedule that is worth nothing takes room in vain. So a job has none where, with as many workers in each slot as it
   may have and the machines hold, it is done too late: those on one machine at b^(i), the others at b^(e), or all.

So every plan has one of listed schedules that is worth no less. Conversely a choice by (8) and (9) is a plan.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from operator import le

from dlsched.algorithms.exact.certificates.program import ExactProgram, ProgramBuilder, TooLargeError, choice
from dlsched.halt import poll, polled
from dlsched.models.dmlrs.instance import Instance, last_earning
from dlsched.models.dmlrs.job import AsyncJob, Job
from dlsched.models.dmlrs.schedule import Schedule
from dlsched.models.dmlrs.schedules import Column, Counts
from dlsched.models.numbers import splits, to_integers

MAX_STEPS = 50_000
"""Of the searches for the placements and for the schedules of one job. Arbitrary: a fraction of a second each."""

MAX_MACHINES = 200
"""Of an instance. Arbitrary: on two hundred, one worker and one server can be placed in 40 000 ways, nearly all of
`MAX_STEPS`."""

MAX_PLACEMENTS = 500
"""Of a job in a slot, that use different amounts and are compared with each other. Arbitrary: a fraction of a second,
and several times those of claims' instances."""


def program(instance: Instance) -> ExactProgram:
    """Return `dmlrs/schedules` over the schedules that no other one dominates: its optimum is that of the instance.

    Raises
    ------
    TooLargeError
        If there are too many placements or schedules to list.

    References
    ----------
    PD-ORS, (8)-(9); PD-ORS thesis, (3.8)-(3.9).
    """
    return over(instance, {job.name: undominated(instance, job) for job in instance.jobs})


def read(instance: Instance, point: Sequence[Fraction]) -> Schedule:
    """Return the schedule that a point of `program` chooses."""
    chosen = iter(point)
    taken = [c for job in instance.jobs for c in undominated(instance, job) if next(chosen)]
    return Schedule.of({column.job: dict(column.slots) for column in taken})


def over(instance: Instance, schedules: Mapping[str, Sequence[Column]]) -> ExactProgram:
    """Return `dmlrs/schedules` over some schedules of each job.

    Raises
    ------
    TooLargeError
        If there are too many.
    """
    listed = {name: [(each.utility, each.usage(instance)) for each in own] for name, own in schedules.items()}
    return choice("dmlrs/schedules", listed, lambda h, r, t: instance.machine(h).capacity_of(r))


def dual_over(instance: Instance, schedules: Mapping[str, Sequence[Column]]) -> ExactProgram:
    """Return `dmlrs/dual` over some schedules of each job.

    Raises
    ------
    TooLargeError
        If there are too many.

    References
    ----------
    PD-ORS, (10)-(11); PD-ORS thesis, (3.10)-(3.11).
    """
    builder = ProgramBuilder("dmlrs/dual", "minimize")
    prices: dict[tuple[str, str, int], int] = {}
    for name, listed in schedules.items():
        payoff = builder.column(f"payoff[{name}]", cost=1)
        for k, schedule in enumerate(listed):
            terms = [(payoff, Fraction(1))]
            for (h, r, t), amount in schedule.usage(instance).items():
                if (h, r, t) not in prices:
                    room = instance.machine(h).capacity_of(r)
                    prices[h, r, t] = builder.column(f"price[{h},{r},{t}]", cost=room)
                terms.append((prices[h, r, t], amount))
            builder.row(f"reduced_utility[{name},{k}]", terms, lower=schedule.utility)
    return builder.program()


@dataclass(frozen=True, slots=True)
class _Choice:
    """A placement.

    Attributes
    ----------
    counts : dict
    use : tuple of int
        By machine and resource, in the unit of the job's needs.
    done : int
        Work, in the unit of the job.
    spare : int
        The least work that is lost where it is left out, or a smaller one takes its place.
    """

    counts: Counts
    use: tuple[int, ...]
    done: int
    spare: int


def undominated(instance: Instance, job: Job | AsyncJob) -> list[Column]:
    """Return the schedules of a job that are worth something and that no other one dominates; the module says why.

    Raises
    ------
    TooLargeError
        If there are too many to list.
    """
    found: list[Column] = []
    last, cluster = last_earning(instance, job), _Cluster(instance, job)
    if job.work > cluster.most_work(job) * (last + 1):
        return found
    choices, work = _choices(instance, job, cluster)
    for slots in _searched(job, choices, work, job.arrival + last):
        completion = slots[-1][0]
        worth = job.utility.exact(completion - job.arrival)
        if worth > 0:
            placed = tuple((t, choice.counts) for t, choice in slots)
            found.append(Column(job=job.name, completion=completion, utility=worth, slots=placed))
    return found


class _Cluster:
    """What there is for one job, in whole units of its needs: a rest that no need divides is of no use.

    Attributes
    ----------
    needs : list of (int, int)
        What a worker and a server need, by resource.
    rooms : list of list of int
        By machine and resource.
    """

    def __init__(self, instance: Instance, job: Job | AsyncJob) -> None:
        scaled = [to_integers([job.worker_needs(r), job.server_needs(r)]) for r in instance.resources]
        self.needs = [(worker, server) for (worker, server), _ in scaled]
        scales = {r: scale for r, (_, scale) in zip(instance.resources, scaled, strict=True)}
        self.rooms = [[math.floor(h.capacity_of(r) * scale) for r, scale in scales.items()] for h in instance.machines]

    def most(self, machine: int, kind: int, limit: int, workers: int = 0) -> int:
        """Return how many workers (kind 0) or servers (1) fit a machine beside some workers; -1 where those do not."""
        for each, room in zip(self.needs, self.rooms[machine], strict=True):
            left = room - each[0] * workers
            limit = min(limit, left // each[kind] if each[kind] else limit if left >= 0 else -1)
        return limit

    def rooms_for_workers(self, job: Job | AsyncJob) -> list[int]:
        """Return how many workers fit each machine alone."""
        return [self.most(h, 0, job.most_workers) for h in range(len(self.rooms))]

    def most_work(self, job: Job | AsyncJob) -> Fraction:
        """Return what no placement of a slot exceeds: only workers on one machine exchange at b^(i)."""
        rooms = self.rooms_for_workers(job)
        alone, workers = max(rooms, default=0), min(job.most_workers, sum(rooms))
        apart = workers / job.external_time
        return max(apart, alone / job.internal_time + (workers - alone) / job.external_time)

    def use(self, workers: Sequence[int], servers: Sequence[int]) -> tuple[int, ...]:
        """Return what workers and servers by machine take, by machine and resource."""
        return tuple(a * w + b * s for w, s in zip(workers, servers, strict=True) for a, b in self.needs)


_Placed = tuple[tuple[int, ...], tuple[int, ...], Fraction]
"""Workers and servers by machine, and the work that they do."""


class _Tried:
    """What is tried to place a job, whether or not there is room for it: polled, and counted up to `MAX_STEPS`."""

    def __init__(self, job: Job | AsyncJob) -> None:
        self._job, self._steps = job, count()

    def splits(self, total: int, rooms: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Yield the ways to share a number among places."""
        for shares in polled(splits(total, rooms)):
            if next(self._steps) > MAX_STEPS:
                raise _too_many(self._job)
            yield shares


def _too_many(job: Job | AsyncJob) -> TooLargeError:
    """Return the refusal of a job with too many placements."""
    return TooLargeError(f"job {job.name} has too many placements to list")


def _synchronous(cluster: _Cluster, job: Job) -> Iterator[_Placed]:
    """Yield the placements of a job of the journal that may be needed, on the empty cluster."""
    rooms, tried = cluster.rooms_for_workers(job), _Tried(job)
    slower = max(job.internal_time, job.external_time)
    for n in range(1, min(job.most_workers, math.ceil(job.work * slower), sum(rooms)) + 1):
        needed = job.servers_for(n)
        for workers in tried.splits(n, rooms):
            for servers in tried.splits(needed, [cluster.most(h, 1, needed, w) for h, w in enumerate(workers)]):
                both = sum(w > 0 and s > 0 for w, s in zip(workers, servers, strict=True))
                alone = max(workers) == n and max(servers) == needed
                time = job.external_time if not both else job.internal_time if alone else slower
                yield workers, servers, n / time


def _asynchronous(cluster: _Cluster, job: AsyncJob) -> Iterator[_Placed]:
    """Yield the placements of a job of the thesis that may be needed, on the empty cluster."""
    machines = range(len(cluster.rooms))
    rooms, tried = cluster.rooms_for_workers(job), _Tried(job)
    slower = max(job.internal_time, job.external_time)
    for n in range(1, min(job.most_workers, math.ceil(job.work * slower), sum(rooms)) + 1):
        for workers in tried.splits(n, rooms):
            for hub, inside in enumerate(workers):
                load = inside * job.internal_rate + (n - inside) * job.external_rate
                needed = math.ceil(load / job.server_rate)
                if needed <= min(n, cluster.most(hub, 1, needed, inside)):
                    servers = tuple(needed if h == hub else 0 for h in machines)
                    yield workers, servers, inside / job.internal_time + (n - inside) / job.external_time


def _choices(instance: Instance, job: Job | AsyncJob, cluster: _Cluster) -> tuple[list[_Choice], int]:
    """Return the placements that no other one dominates, and all the work, in one unit."""
    if len(instance.machines) > MAX_MACHINES:
        raise TooLargeError(f"{len(instance.machines)} machines: placements on more than {MAX_MACHINES} are not listed")
    best: dict[tuple[int, ...], _Placed] = {}
    listed = _asynchronous(cluster, job) if isinstance(job, AsyncJob) else _synchronous(cluster, job)
    for placed in listed:
        use = cluster.use(*placed[:2])
        if use not in best or best[use][2] < placed[2]:
            best[use] = placed
        if len(best) > MAX_PLACEMENTS:
            raise _too_many(job)
    (work, *done), _ = to_integers([job.work, *(placed[2] for placed in best.values())])
    kept: list[_Choice] = []
    # What is smaller comes first.
    for (use, (workers, servers, _)), each in sorted(zip(best.items(), done, strict=True), key=lambda p: sum(p[0][0])):
        amount = min(each, work)
        smaller = [other for other in kept if all(map(le, other.use, use))]
        if all(other.done < amount for other in smaller):
            pairs = zip(instance.machines, workers, servers, strict=True)
            counts = {h.name: (w, s) for h, w, s in pairs if w or s}
            kept.append(_Choice(counts, use, amount, min([amount, *(amount - other.done for other in smaller)])))
    return kept, work


def _searched(
    job: Job | AsyncJob, choices: list[_Choice], work: int, last: int
) -> Iterator[tuple[tuple[int, _Choice], ...]]:
    """Yield the ways to do all the work up to the last slot of which no slot can be left out or made smaller."""
    fastest = max((choice.done for choice in choices), default=0)
    stack: list[tuple[int, int, int, tuple[tuple[int, _Choice], ...]]] = [(job.arrival, work, work, ())]
    steps = 0
    while stack:
        poll()
        t, left, spare, slots = stack.pop()
        if left <= 0 and -left < spare:
            yield slots
        elif 0 < left <= fastest * (last - t + 1):
            steps += 1 + len(choices)
            if steps > MAX_STEPS:
                raise TooLargeError(f"job {job.name} has too many schedules to list")
            stack.append((t + 1, left, spare, slots))
            stack += [(t + 1, left - c.done, min(spare, c.spare), (*slots, (t, c))) for c in choices]
