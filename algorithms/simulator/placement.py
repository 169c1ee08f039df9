"""Where a gang goes: what is free, and the ways to choose from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from enum import StrEnum

from dlsched.algorithms.simulator.policy import Allocations, State
from dlsched.arguments import checked
from dlsched.models.hadar import Instance, Job
from dlsched.models.hadar.schedule import Allocation


class Placement(StrEnum):
    """Which of the free devices a gang gets, of those on which its job makes progress.

    Attributes
    ----------
    ANY
        The first ones, types and machines as listed: blind to types. A gang may mix them and is as fast as the slowest.
    ONE_TYPE
        Those of the first type that has as many as the gang needs: blind to speed, but no gang mixes types.
    FASTEST
        The fastest ones.

    Examples
    --------
    >>> from dlsched.algorithms.simulator import Placement, Room
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> for placement in Placement:
    ...     print(placement.value, Room(instance).find(instance.job("job3"), placement))
    any {'machine1': {'type1': 1}}
    one-type {'machine1': {'type1': 1}}
    fastest {'machine1': {'type2': 1}}
    """

    ANY = "any"
    ONE_TYPE = "one-type"
    FASTEST = "fastest"


class Room:
    """The devices that are free.

    Parameters
    ----------
    instance : Instance
    taken : iterable of Allocation
        What is not free.

    Examples
    --------
    >>> from dlsched.algorithms.simulator import Placement, Room
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> room = Room(instance, taken=[{"machine1": {"type1": 2}}])
    >>> room.devices
    2
    >>> room.place(instance.job("job3"), Placement.FASTEST)
    {'machine1': {'type2': 1}}
    >>> room.devices
    1
    """

    def __init__(self, instance: Instance, taken: Iterable[Allocation] = ()) -> None:
        self._free: dict[str, dict[str, int]] = {r: {} for r in instance.device_types}
        for machine in instance.machines:
            for r, count in machine.devices.items():
                self._free[r][machine.name] = count
        self._total = dict(instance.capacity)
        self.devices = instance.devices
        for allocation in taken:
            self.take(allocation)

    def take(self, allocation: Allocation) -> None:
        """Take devices."""
        self._add(allocation, -1)

    def give_back(self, allocation: Allocation) -> None:
        """Make devices free."""
        self._add(allocation, 1)

    def _add(self, allocation: Allocation, sign: int) -> None:
        for machine, devices in allocation.items():
            for r, count in devices.items():
                self._free[r][machine] += sign * count
                self._total[r] += sign * count
                self.devices += sign * count

    def common(self, other: Room) -> Room:
        """Return what is free in both, cell by cell."""
        room = copy(self)
        room._free = {
            r: {machine: min(count, other._free[r][machine]) for machine, count in free.items()}
            for r, free in self._free.items()
        }
        room._total = {r: sum(free.values()) for r, free in room._free.items()}
        room.devices = sum(room._total.values())
        return room

    def by_type(self) -> Room:
        """Return what is free as if it were on one machine: who fits there fits here."""
        room = copy(self)
        room._free = {r: {"": count} for r, count in self._total.items()}
        room._total = dict(self._total)
        return room

    def find(self, job: Job, placement: Placement) -> Allocation | None:
        """Return what a job's gang would get; None where it does not fit."""
        if job.gang > self.devices:
            return None
        for types in self._choices(job, placement):
            if sum(self._total[r] for r in types) >= job.gang:
                return self._filled(dict.fromkeys(types, job.gang), job.gang)
        return None

    def fill(self, counts: Mapping[str, int]) -> Allocation:
        """Take so many devices of each type, of the first machines that have some."""
        found = self._filled(counts, sum(counts.values()))
        self.take(found)
        return found

    def place(self, job: Job, placement: Placement) -> Allocation | None:
        """Take what `find` returns."""
        found = self.find(job, placement)
        if found is not None:
            self.take(found)
        return found

    def _choices(self, job: Job, placement: Placement) -> Iterator[Sequence[str]]:
        """Yield the types to fill a gang from, in the order in which they are tried."""
        usable = [r for r in self._free if job.rate_on(r)]
        if placement is Placement.ONE_TYPE:
            yield from ([r] for r in usable)
        elif placement is Placement.FASTEST:
            yield sorted(usable, key=job.rate_on, reverse=True)
        else:
            yield usable

    def _filled(self, most: Mapping[str, int], missing: int) -> Allocation:
        """Return as many devices as are missing, at most so many of each type, types and machines in order."""
        found: Allocation = {}
        for r, left in most.items():
            for machine, free in self._free[r].items():
                count = min(free, left, missing)
                if count:
                    found.setdefault(machine, {})[r] = count
                    left, missing = left - count, missing - count
                if not left or not missing:
                    break
        return found


@checked
def arranged(state: State, ordered: Iterable[Job], placement: Placement) -> Allocations:
    """Give devices to jobs in order, each that still fits; those that ran and are to run on stay where they are.

    Who runs is decided on the empty cluster, first come first served. If the newcomers do not fit around those that
    stay, which takes types that not everybody can use, all are placed anew.

    Examples
    --------
    >>> from dlsched.algorithms.simulator import Placement, Policy, arranged, simulate
    >>> from dlsched.models import hadar
    >>> class ByUtility(Policy):
    ...     name = "by utility"
    ...     def decide(self, state, rng):
    ...         first = sorted(state.jobs, key=lambda job: -job.utility.exact(0))
    ...         return arranged(state, first, Placement.FASTEST)
    >>> sorted(simulate(hadar.random(0), ByUtility(), round_seconds=1).completions)
    ['job2']
    """
    everybody = Room(state.instance).by_type()
    chosen: list[Job] = []
    for job in ordered:
        if not everybody.devices:
            break
        if everybody.place(job, placement) is not None:
            chosen.append(job)
    given = {job.name: state.current[job.name] for job in chosen if job.name in state.current}
    room = Room(state.instance, given.values())
    for job in chosen:
        if job.name not in given:
            found = room.place(job, placement)
            if found is None:
                return _anew(state, chosen, placement)
            given[job.name] = found
    return given


def _anew(state: State, jobs: Iterable[Job], placement: Placement) -> Allocations:
    room, given = Room(state.instance), dict[str, Allocation]()
    for job in jobs:
        found = room.place(job, placement)
        if found is not None:
            given[job.name] = found
    return given


@checked
def settled(state: State, counts: Mapping[str, Mapping[str, int]]) -> Allocations:
    """Put devices counted by type onto machines; jobs whose counts have not changed stay where they are.

    Parameters
    ----------
    state : State
    counts : mapping
        ``{job: {type: devices}}``, no more of a type than there are.

    Examples
    --------
    >>> from dlsched.algorithms.simulator import Policy, settled, simulate
    >>> from dlsched.models import hadar
    >>> class OneType(Policy):
    ...     name = "a lone job on the second type"
    ...     def decide(self, state, rng):
    ...         lone = [job.name for job in state.jobs if job.gang == 1][-1:]
    ...         return settled(state, {name: {"type2": 1} for name in lone})
    >>> simulation = simulate(hadar.random(0), OneType(), round_seconds=1)
    >>> [(segment.job, segment.allocation) for segment in simulation.segments]
    [('job1', {'machine1': {'type2': 1}}), ('job3', {'machine1': {'type2': 1}})]
    """
    given = {name: a for name, a in state.current.items() if by_type(a) == counts.get(name)}
    room = Room(state.instance, given.values())
    for name, wanted in counts.items():
        if name not in given:
            given[name] = room.fill(wanted)
    return given


def by_type(allocation: Allocation) -> dict[str, int]:
    """Return the devices of each type, on all machines together."""
    total: Counter[str] = Counter()
    for devices in allocation.values():
        total.update(devices)
    return dict(total)
