"""An instance without what no schedule needs to be optimal: jobs, workers, capacities, machines and slots.

Utilities never increase with time, so a schedule is replaced by one in which no job completes later, or by one without
a job that is worth nothing. A job's `most` is its F (journal) or K (thesis), kappa the larger of its two times, V its
work.

Workers. A synchronous job with ceil(V kappa) workers completes in that slot whatever their places, so more are without
effect, and so are more than the cluster holds. F is also in the time of communication, 2 g gamma / (b F): g is reduced
in proportion, as E is to K in the thesis, so that times and work stay.

Capacities. No job needs more servers than for its most workers (a surplus server makes no pair faster; thesis: one
machine with all servers is enough, `dlsched.algorithms.pd_ors.offers`). So in a slot no more of a resource is used than
sum_i (most alpha + servers beta), and a capacity beyond that has no effect. What a machine holds of a resource is a sum
of the jobs' alpha and beta, each some times, so a capacity counts as the largest such sum within it: machines that
differ by less are alike, and amounts are as short as the needs are. Nor are more machines used than there are workers
and servers: of more machines that are alike the first ones are enough.

Slots. Let job i, where it runs at all, do its work alone on the empty cluster within n_i slots: by the placement of
`_alone`, or by repeating the slot of its own schedule in which it does most, at least 1 / kappa. A *period* is a set D
of jobs that arrive in succession, where the next arrival after it is later than its end e = A - 1 + sum_D n_i, A its
last arrival. Then some optimal schedule has all its jobs completed by e, and the slots after e and before the next
arrival are empty: they are left out, and so is what comes after the last period.

Proof, period after period. Let C_1 <= C_2 <= ... be the completion slots of the period's jobs that run, A_j the last
arrival among the first j of them, B_j = A_j - 1 + n_1 + ... + n_j; so B_j <= e. Let j be the last with C_j <= B_j (or
0). Let the jobs after j run one after the other, alone, the next one from the slot after C_j and its own arrival on:
the i-th then completes by B_i < C_i. Of the period no other job runs after C_j, earlier ones have completed before it,
and later ones arrive after e. So that is a schedule, no job completes later, and all complete by e.

The reduced instance has the same periods, so this holds for it as well: both have the same optimum, and `lift` turns a
schedule of the reduced instance into one of the instance that is worth at least as much.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dlsched.halt import polled
from dlsched.models.dmlrs import AsyncJob, Instance, Job, Machine, Schedule
from dlsched.models.dmlrs.frame import fitting, servers_needed
from dlsched.models.dmlrs.instance import AnyJob, Group, can_earn, identical, last_earning, useful_workers
from dlsched.models.dmlrs.job import Placement
from dlsched.models.numbers import to_integers

_LONGEST = 20_000
"""Slots of a schedule that is made at once, in all: to write down, check and lift one takes about 0.1 ms a slot."""

_MOST_UNITS = 100_000
"""Of a capacity, for sums within it to be listed: some milliseconds a resource. Arbitrary; amounts that are not drawn
have far fewer."""


@dataclass(frozen=True, slots=True)
class Alone:
    """How a job runs alone: the placement of each slot, None for that of its own schedule that does most."""

    placement: Placement | None
    slots: int


@dataclass(frozen=True, slots=True)
class Period:
    """Jobs that complete, without loss, from the slot `first` of the instance on within `length` slots."""

    jobs: tuple[AnyJob, ...]
    first: int
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """A reduced instance and the way back.

    Attributes
    ----------
    instance : Instance
        With the same optimum.
    periods : tuple of Period
        In the slots of the original instance; those of the reduced one are without gaps.
    alone : dict of str to Alone
    """

    instance: Instance
    periods: tuple[Period, ...]
    alone: dict[str, Alone]

    @classmethod
    def none(cls, instance: Instance) -> Reduction:
        """Return an instance as it is."""
        alone = {job.name: Alone(None, instance.slots) for job in instance.jobs}
        return cls(instance, (Period(instance.jobs, 1, instance.slots),), alone)

    def one_by_one(self) -> Schedule:
        """Return a schedule of the reduced instance, at once: in each period one job after the other runs alone.

        A job is left out whose placement is not known, that would complete too late to be worth anything, or that takes
        more slots than are left of `_LONGEST`.
        """
        found, begin, most = {}, 1, _LONGEST
        for period in self.periods:
            done = begin - 1
            for job in sorted(period.jobs, key=lambda job: (job.arrival, self.alone[job.name].slots)):
                arrival, alone = job.arrival + begin - period.first, self.alone[job.name]
                first = max(done + 1, arrival)
                last = first + alone.slots - 1
                if alone.slots > most or not alone.placement or last >= begin + period.length:
                    continue
                if job.utility.exact(last - arrival) > 0:
                    found[job.name] = dict.fromkeys(range(first, last + 1), alone.placement)
                    done, most = last, most - alone.slots
            begin += period.length
        return Schedule.of(found)

    def lift(self, schedule: Schedule) -> Schedule:
        """Return a schedule of the original instance that is worth at least as much as one of the reduced one."""
        plans: dict[str, dict[int, Placement]] = {
            name: {t: placed for t, placed in schedule.placements(name).items() if any(w for w, _ in placed.values())}
            for name in schedule.jobs
        }
        found, begin = {}, 1
        for period in self.periods:
            for name, plan in self._settled(period, begin, plans).items():
                found[name] = {t + period.first - begin: placed for t, placed in plan.items()}
            begin += period.length
        return Schedule.of(found)

    def _settled(
        self, period: Period, begin: int, plans: dict[str, dict[int, Placement]]
    ) -> dict[str, dict[int, Placement]]:
        """Return the plans of a period's jobs, completed by its end; the module's proof says how."""
        jobs = sorted((job for job in period.jobs if plans.get(job.name)), key=lambda job: max(plans[job.name]))
        found = {job.name: plans[job.name] for job in jobs}
        if not jobs or max(found[jobs[-1].name]) < begin + period.length:
            return found
        shift = begin - period.first
        kept = last = needed = 0
        for j, job in enumerate(jobs, 1):
            last, needed = max(last, job.arrival + shift), needed + self.alone[job.name].slots
            if max(found[job.name]) < last + needed:
                kept = j
        done = max(found[jobs[kept - 1].name]) if kept else begin - 1
        for job in jobs[kept:]:
            done = max(done, job.arrival + shift - 1)
            placed = self.alone[job.name].placement or max(found[job.name].values(), key=job.progress)
            slots = math.ceil(job.work / job.progress(placed))
            found[job.name] = dict.fromkeys(range(done + 1, done + slots + 1), placed)
            done += slots
        return found


def reduced(instance: Instance) -> Reduction:
    """Return an instance with the same optimum, without what no schedule needs; the module says why."""
    # Twice: with machines that are alike the first step takes less time, and after it jobs need less.
    instance = instance.model_copy(update={"machines": _smaller_machines(instance, instance.jobs)})
    groups = identical(instance)
    fewer = [_fewer_workers(instance, groups, job) for job in polled(instance.jobs)]
    jobs = [job for job in fewer if job is not None and can_earn(instance, job)]
    smaller = instance.model_copy(update={"machines": _smaller_machines(instance, jobs)})
    groups = identical(smaller)
    most = sum(job.most_workers + servers_needed(job) for job in jobs)
    needed = {name for group in groups for name in group.machines[:most]}
    alone = {job.name: _alone(groups, job) for job in polled(jobs)}
    periods = _periods(instance, jobs, alone)
    arrivals, end = {}, 0
    for period in periods:
        arrivals.update({job.name: job.arrival - period.first + end + 1 for job in period.jobs})
        end += period.length
    changes = {
        "slots": max(1, end),
        "machines": tuple(machine for machine in smaller.machines if machine.name in needed),
        "jobs": tuple(job.model_copy(update={"arrival": arrivals[job.name]}) for job in jobs),
    }
    return Reduction(instance.model_copy(update=changes), periods, alone)


def _fewer_workers(instance: Instance, groups: tuple[Group, ...], job: AnyJob) -> AnyJob | None:
    """Return a job whose most workers are of use and fit the cluster; None where no worker fits."""
    most = min(job.most_workers, _in_all(groups, job.worker, job.most_workers))
    if isinstance(job, AsyncJob):
        if not most:
            return None
        return job.model_copy(update={"chunks": most, "epochs": job.epochs * job.chunks / most})
    ratio = job.workers_per_server
    most = min(most, useful_workers(job))
    most = min(most, int(ratio * _in_all(groups, job.server, job.most_servers)))
    for r, room in instance.capacity.items():
        if each := job.worker_needs(r) + job.server_needs(r) / ratio:
            most = min(most, int(room // each))
    if not most:
        return None
    return job.model_copy(update={"batch": most, "gradient_size": job.gradient_size * most / job.batch})


def _in_all(groups: tuple[Group, ...], needs: dict[str, Fraction], most: int) -> int:
    """Return how many units of some needs the whole cluster holds, or `most` where a machine holds as many."""
    return sum(len(group) * fitting(group.model, needs, most) for group in groups)


def _smaller_machines(instance: Instance, jobs: Sequence[AnyJob]) -> tuple[Machine, ...]:
    """Return the machines with no more capacity than jobs can use on them in a slot."""
    use = {
        r: sum((j.worker_needs(r) * j.most_workers + j.server_needs(r) * servers_needed(j) for j in jobs), Fraction(0))
        for r in instance.resources
    }
    rooms = [{r: min(machine.capacity_of(r), most) for r, most in use.items()} for machine in polled(instance.machines)]
    held = {
        r: _Sums(
            [need for j in jobs for need in (j.worker_needs(r), j.server_needs(r))],
            max((room[r] for room in rooms), default=Fraction(0)),
        )
        for r in polled(use)
    }
    return tuple(
        machine.model_copy(update={"capacity": {r: held[r].largest(most) for r, most in room.items()}})
        for machine, room in zip(instance.machines, rooms, strict=True)
    )


class _Sums:
    """The sums of some needs, each any number of times, up to some amount."""

    def __init__(self, needs: list[Fraction], most: Fraction) -> None:
        whole, scale = to_integers(needs)
        unit = math.gcd(*whole)
        self._unit = Fraction(unit, scale)
        # A bit for each sum, in units.
        units = min(self._units(most), _MOST_UNITS)
        self._reached, inside = 1, (1 << units + 1) - 1
        for step in sorted({need // unit for need in whole if need}):
            while step <= units:
                self._reached |= self._reached << step & inside
                step *= 2

    def _units(self, amount: Fraction) -> int:
        return int(amount // self._unit) if self._unit else 0

    def largest(self, most: Fraction) -> Fraction:
        """Return the largest sum up to some amount; beyond `_MOST_UNITS`, the largest multiple of their common unit."""
        units = self._units(most)
        if units <= _MOST_UNITS:
            units = (self._reached & (1 << units + 1) - 1).bit_length() - 1
        return units * self._unit


def _alone(groups: tuple[Group, ...], job: AnyJob) -> Alone:
    """Return how a job runs with bundles of workers and their servers, on one machine or, synchronous, on several."""
    slowest = max(job.internal_time, job.external_time)
    bundles = sorted(((bundle(job, group.model), group) for group in groups), key=lambda pair: -pair[0])
    most, group = bundles[0]
    found: list[tuple[Fraction, Placement | None]] = [(1 / slowest, None)]
    found.append((most / job.internal_time, {group.name: (most, _servers(job, most))}))
    if isinstance(job, Job) and most:
        hosts = [(name, most) for most, group in bundles if most for name in group.machines]
        spread, left = {}, job.most_workers
        for name, most in hosts:
            if left:
                spread[name] = (min(most, left), _servers(job, min(most, left)))
                left -= spread[name][0]
        found.append(((job.most_workers - left) / slowest, spread))
    work, placement = max(found, key=lambda pair: pair[0])
    return Alone(placement, math.ceil(job.work / work))


def bundle(job: AnyJob, machine: Machine) -> int:
    """Return the most workers that fit a machine together with all servers that they need."""
    if isinstance(job, AsyncJob) and job.internal_rate > job.server_rate:
        return 0

    def too_many(workers: int) -> bool:
        return any(amount > machine.capacity_of(r) for r, amount in job.uses(workers, _servers(job, workers)).items())

    return bisect_left(range(1, job.most_workers + 1), True, key=too_many)


def _servers(job: AnyJob, workers: int) -> int:
    """Return the fewest servers for so many workers beside them."""
    if isinstance(job, Job):
        return job.servers_for(workers)
    return math.ceil(workers * job.internal_rate / job.server_rate)


def _periods(instance: Instance, jobs: list[AnyJob], alone: dict[str, Alone]) -> tuple[Period, ...]:
    """Return the periods, by arrival, none beyond the last slot in which a completion is worth anything."""
    found: list[list[AnyJob]] = []
    ends: list[int] = []
    for job in sorted(jobs, key=lambda job: job.arrival):
        if not found or job.arrival > ends[-1]:
            found.append([])
            ends.append(job.arrival - 1)
        last = found[-1][-1].arrival if found[-1] else job.arrival
        found[-1].append(job)
        ends[-1] += job.arrival - last + alone[job.name].slots
    horizon = max((job.arrival + last_earning(instance, job) for job in jobs), default=0)
    return tuple(
        Period(tuple(own), own[0].arrival, min(end, horizon) - own[0].arrival + 1)
        for own, end in zip(found, ends, strict=True)
    )
