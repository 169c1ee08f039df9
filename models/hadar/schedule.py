"""Schedules of the Hadar problem: the format, the checker, the utility and measures, exact and without a solver."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Literal, Self

from dlsched.arguments import checked, named
from dlsched.errors import InputError
from dlsched.models.document import Record
from dlsched.models.fields import Amount, PlainSlots
from dlsched.models.hadar.instance import Instance, Job
from dlsched.models.numbers import to_json
from dlsched.models.schedule import JobsSchedule, Measures, Violation, earned

Slot = int
Devices = dict[str, Amount]
Allocation = dict[str, Devices]
"""w_jh^r(t) of one job and slot: machine name to device type to number of devices."""


class JobSchedule(Record):
    """What one job gets: slot to allocation.

    Examples
    --------
    >>> from dlsched.models.hadar import JobSchedule, Schedule, random, utility
    >>> runs = JobSchedule(slots={1: {"machine1": {"type1": 1}}, 2: {"machine1": {"type1": 1}}})
    >>> Schedule(jobs={"job1": runs}).dump()["jobs"]
    {'job1': {'slots': {'1': {'machine1': {'type1': 1}}, '2': {'machine1': {'type1': 1}}}}}
    """

    slots: Annotated[dict[Slot, Allocation], PlainSlots]


class Schedule(JobsSchedule):
    """w_jh^r(t): which devices each job uses in each slot; an absent job is rejected.

    Attributes
    ----------
    problem : str
        Always ``"hadar"``.
    jobs : dict of str to JobSchedule

    Examples
    --------
    >>> from dlsched.models import build, hadar, read, solve
    >>> instance = hadar.random(0)
    >>> model = build("hadar/hall", instance)
    >>> _ = solve(model)
    >>> schedule = read(model, instance)
    >>> {job: list(given.slots) for job, given in schedule.jobs.items()}
    {'job2': [2, 3], 'job3': [3]}
    >>> schedule.save("best.json")
    >>> hadar.Schedule.load("best.json") == schedule
    True
    """

    problem: Literal["hadar"] = "hadar"
    jobs: dict[str, JobSchedule]

    @classmethod
    def of(cls, allocations: Mapping[str, Mapping[int, Mapping[str, Mapping[str, int]]]]) -> Self:
        """Build a schedule from ``{job: {slot: {machine: {type: count}}}}``; what is empty is left out."""
        jobs = {}
        for name, slots in allocations.items():
            kept = {t: pruned for t, a in sorted(slots.items()) if (pruned := _pruned(a))}
            if kept:
                jobs[name] = JobSchedule(slots=kept)
        return cls(jobs=jobs)

    def items(self) -> Iterator[tuple[str, int, Allocation]]:
        """Yield (job name, slot, allocation) for every slot in which a job has an entry."""
        for name, job in self.jobs.items():
            for slot, allocation in sorted(job.slots.items()):
                yield name, slot, allocation


def _pruned(allocation: Mapping[str, Mapping[str, int]]) -> Allocation:
    kept = {machine: {r: n for r, n in devices.items() if n} for machine, devices in allocation.items()}
    return {machine: devices for machine, devices in kept.items() if devices}


def bottleneck(job: Job, allocation: Allocation) -> Fraction:
    """Return x_j(t), iterations per second at the slowest device used, 0 where none is (1b)."""
    return _slowest(job, _used(allocation))


def gang(allocation: Allocation) -> int:
    """Return the number of devices in an allocation."""
    return sum(count for devices in allocation.values() for count in devices.values())


def progress(instance: Instance, job: Job, slots: Mapping[int, Allocation]) -> Fraction:
    """Return the iterations done over some slots: the left side of (1a)."""
    alike = Counter((_used(allocation), gang(allocation)) for allocation in slots.values())
    return instance.slot_seconds * sum(
        (times * count * _slowest(job, used) for (used, count), times in alike.items()),
        Fraction(0),
    )


def _slowest(job: Job, types: Iterable[str]) -> Fraction:
    return min((job.rate_on(r) for r in types), default=Fraction(0))


def _used(allocation: Allocation) -> frozenset[str]:
    return frozenset(r for devices in allocation.values() for r, count in devices.items() if count > 0)


@checked
def completions(instance: Instance, schedule: Schedule) -> dict[str, int]:
    """Return the completion slot f_j (1c), the last slot with a device, of each job that does all its iterations.

    Examples
    --------
    >>> from dlsched.models import build, hadar, read, solve
    >>> instance = hadar.random(0)
    >>> model = build("hadar/hall", instance)
    >>> _ = solve(model)
    >>> hadar.completions(instance, read(model, instance))
    {'job2': 3, 'job3': 3}
    """
    result = {}
    for name, entry in schedule.jobs.items():
        job = instance.job(name)
        used = [t for t, allocation in entry.slots.items() if gang(allocation) > 0]
        if used and progress(instance, job, entry.slots) >= job.iterations:
            result[name] = max(used)
    return result


@checked
def exact_utility(instance: Instance, schedule: Schedule) -> Fraction:
    """Return sum_j U_j(f_j - a_j) over the jobs that finish, as a rational (1).

    Examples
    --------
    >>> from dlsched.models import build, hadar, read, solve
    >>> instance = hadar.random(0)
    >>> model = build("hadar/hall", instance)
    >>> _ = solve(model)
    >>> hadar.exact_utility(instance, read(model, instance))
    Fraction(34, 1)
    """
    return earned(instance, completions(instance, schedule))


@checked
def utility(instance: Instance, schedule: Schedule) -> float:
    """Return sum_j U_j(f_j - a_j) over the jobs that finish (1).

    Examples
    --------
    >>> from dlsched.models import build, hadar, read, solve
    >>> instance = hadar.random(0)
    >>> model = build("hadar/hall", instance)
    >>> solve(model).objective, hadar.utility(instance, read(model, instance))
    (34.0, 34.0)
    """
    return float(exact_utility(instance, schedule))


@checked
def check(instance: Instance, schedule: Schedule) -> list[Violation]:
    """Return every rule of P1 with admission that a schedule breaks; an empty list means that it is feasible.

    The rules are (1a) every job with an allocation does all its iterations, (1d) capacity, (1e) gangs and arrivals,
    and that names, slots and counts mean something.

    Examples
    --------
    >>> from dlsched.models.hadar import Schedule, check, random
    >>> plan = Schedule.parse({"jobs": {"job1": {"slots": {1: {"machine1": {"type1": 1}}}}}})
    >>> [(broken.rule, broken.place) for broken in check(random(0), plan)], check(random(0), Schedule(jobs={}))
    ([('(1a) work', 'job job1')], [])
    """
    found = [*_unknown(instance, schedule)]
    if found:
        return found
    return [*_slots(instance, schedule), *_capacity(instance, schedule), *_work(instance, schedule)]


def _unknown(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    jobs = {job.name for job in instance.jobs}
    machines = {machine.name for machine in instance.machines}
    for name in schedule.jobs:
        if name not in jobs:
            yield Violation("names", f"job {name}", "is not in the instance")
    for name, slot, allocation in schedule.items():
        place = f"job {name}, slot {slot}"
        for machine, devices in allocation.items():
            if machine not in machines:
                yield Violation("names", f"{place}, machine {machine}", "is not in the instance")
            for r in devices:
                if r not in instance.device_types:
                    yield Violation("names", f"{place}, machine {machine}, type {r}", "is not in the instance")


def _slots(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    for name, slot, allocation in schedule.items():
        job = instance.job(name)
        place = f"job {name}, slot {slot}"
        if not 1 <= slot <= instance.slots:
            yield Violation("slots", place, f"is outside 1..{instance.slots}")
        elif slot < job.arrival:
            yield Violation("(1e) arrival", place, f"is before the arrival {job.arrival}")
        for machine, devices in allocation.items():
            for r, count in devices.items():
                if count < 0:
                    yield Violation("(1d) counts", f"{place}, machine {machine}, type {r}", f"{count} is negative")
        if gang(allocation) not in (0, job.gang):
            yield Violation("(1e) gang", place, f"{gang(allocation)} devices are neither 0 nor the gang {job.gang}")


def _capacity(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    used: dict[tuple[int, str, str], int] = defaultdict(int)
    for _, slot, allocation in schedule.items():
        for machine, devices in allocation.items():
            for r, count in devices.items():
                used[slot, machine, r] += count
    limits = {(machine.name, r): machine.count(r) for machine in instance.machines for r in instance.device_types}
    for slot, machine, r in sorted(cell for cell, count in used.items() if count > limits[cell[1:]]):
        place = f"slot {slot}, machine {machine}, type {r}"
        message = f"{used[slot, machine, r]} devices in use exceed the {limits[machine, r]} there"
        yield Violation("(1d) capacity", place, message)


def _work(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    finished = completions(instance, schedule)
    for name, entry in schedule.jobs.items():
        if name not in finished and entry.slots:
            job = instance.job(name)
            done = to_json(progress(instance, job, entry.slots))
            message = f"{done} of {to_json(job.iterations)} iterations done: a job with devices must finish"
            yield Violation("(1a) work", f"job {name}", message)


@checked
def place(instance: Instance, counts: Mapping[int, Mapping[str, Mapping[str, int]]]) -> Schedule:
    """Put devices counted by type onto machines.

    Every split of a slot's totals over the machines is feasible and worth the same: a machine enters P1 only through
    its capacity (1d) and the gang total (1e), so filling the machines in order is exact.

    Parameters
    ----------
    instance : Instance
    counts : mapping
        ``{slot: {job: {type: devices}}}``.

    Raises
    ------
    InputError
        If a slot needs more devices of a type than the cluster has.

    Examples
    --------
    >>> from dlsched.models.hadar import place, random
    >>> instance = random(0)
    >>> [dict(machine.devices) for machine in instance.machines]
    [{'type1': 2, 'type2': 1}, {'type1': 1}]
    >>> place(instance, {2: {"job2": {"type1": 3}}}).dump()["jobs"]
    {'job2': {'slots': {'2': {'machine1': {'type1': 2}, 'machine2': {'type1': 1}}}}}
    """
    last_first = instance.machines[::-1]
    holders = {r: [(m.name, m.count(r)) for m in last_first if m.count(r)] for r in instance.device_types}
    result: dict[str, dict[int, dict[str, dict[str, int]]]] = {}
    for t, jobs in counts.items():
        spare: dict[str, list[tuple[str, int]]] = {}
        for name, by_type in jobs.items():
            allocation = result.setdefault(name, {}).setdefault(t, {})
            for r, need in by_type.items():
                machines = spare.get(r) or spare.setdefault(r, [*named("device type", r, holders)])
                while need > 0 and machines:
                    machine, free = machines.pop()
                    taken = min(need, free)
                    allocation.setdefault(machine, {})[r] = taken
                    need -= taken
                    if taken < free:
                        machines.append((machine, free - taken))
                if need:
                    raise InputError(f"slot {t}: job {name} needs {need} more devices of type {r} than are free")
    return Schedule.of(result)


def isolated_throughput(instance: Instance, job: Job, jobs: int | Fraction) -> Fraction:
    """Return a gang's iterations per second with an n-th of every type, n the number of jobs, at most all of the time.

    That is sum_r W_j X_j^r x_j^r with x_j^r = c^r / (n W_j), divided by their sum where it is above 1 (Gavel).
    """
    whole = job.gang * sum((job.rate_on(r) * n for r, n in instance.capacity.items()), Fraction(0))
    return whole / max(jobs * job.gang, instance.devices)


def measures(instance: Instance, schedule: Schedule) -> Measures:
    """Return the measures of a feasible schedule; a job takes from the beginning of slot a_j to the end of slot f_j."""
    length, finished = instance.slot_seconds, completions(instance, schedule)
    last = max(finished.values(), default=0)
    busy = sum(gang(allocation) for _, _, allocation in schedule.items())
    alone = {}
    for name in finished:
        job = instance.job(name)
        speed = isolated_throughput(instance, job, len(instance.jobs))
        if speed:
            alone[name] = job.iterations / speed
    return Measures(
        "seconds",
        {name: (f - instance.job(name).arrival + 1) * length for name, f in finished.items()},
        last * length if finished else None,
        Fraction(busy, instance.devices * last) if last and instance.devices else None,
        alone,
    )
