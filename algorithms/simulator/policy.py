"""What a scheduler is to the simulator: at a moment it sees a state and says who has which devices from then on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from dlsched.models.hadar import Instance, Job
from dlsched.models.hadar.schedule import Allocation, bottleneck, gang

Allocations = Mapping[str, Allocation]
"""What each job has: job name to machine name to device type to number of devices; an absent job has nothing."""


class Policy(ABC):
    """A scheduler.

    A policy may remember what it has seen: every simulation works on a copy of its own. Its parameters are those of
    its constructor.

    Attributes
    ----------
    name : str
        What it is called in messages and tables.
    needs_rounds : bool
        It makes sense in rounds only, not at events.
    copies : bool
        A job may run in copies, one a machine, each a whole gang; it is as fast as they are together. A copy may end
        while the others go on. Else a job has one gang, as fast as its slowest device (1b).

    Examples
    --------
    >>> from dlsched.algorithms.simulator import Placement, Policy, Room, simulate
    >>> from dlsched.models import hadar
    >>> class LastComeFirst(Policy):
    ...     name = "last come, first served"
    ...     def decide(self, state, rng):
    ...         room, given = Room(state.instance), {}
    ...         for job in reversed(state.jobs):
    ...             found = room.place(job, Placement.FASTEST)
    ...             if found is not None:
    ...                 given[job.name] = found
    ...         return given
    >>> simulation = simulate(hadar.random(0), LastComeFirst(), round_seconds=1)
    >>> sorted(simulation.completions)
    ['job2', 'job3']
    """

    name: str
    needs_rounds: bool = False
    copies: bool = False

    @abstractmethod
    def decide(self, state: State, rng: np.random.Generator) -> Allocations:
        """Return what each job is to have from now on: whole gangs of jobs that are there.

        A job that is left out, or gets other devices than it has, is preempted.
        """

    def wake(self, state: State) -> Fraction | None:
        """Return a moment, in seconds, at which to be asked again whatever happens; it sees what it has decided."""
        return None


@dataclass(frozen=True, slots=True)
class Holding:
    """Devices that a job has had since a moment.

    Attributes
    ----------
    allocation : Allocation
    start, ready : Fraction
        Seconds: since when it has them, and since when it works on them.
    done : Fraction or None
        When its job is done if it keeps them; None if it makes no progress on them.
    speed : Fraction
        Iterations per second.
    devices : int
    """

    allocation: Allocation
    start: Fraction
    ready: Fraction
    done: Fraction | None
    speed: Fraction
    devices: int

    def work(self, time: Fraction) -> Fraction:
        """Return the iterations done until a moment."""
        return self.speed * (time - self.ready) if time > self.ready else Fraction(0)


class State:
    """What is known at a moment.

    Parameters
    ----------
    instance : Instance
    round_seconds : Fraction or None
        None where decisions are at events.
    restart_seconds : Fraction

    Attributes
    ----------
    time : Fraction
        Seconds.
    current : mapping of str to Allocation
        What each job has that is not done: until now, to a policy that decides; from now on, when it says when to wake.
    holdings : mapping of str to Holding
        The same, with since when and until when.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.fifo import Fifo
    >>> from dlsched.algorithms.simulator import simulate
    >>> from dlsched.models import hadar
    >>> class Talkative(Fifo):
    ...     def decide(self, state, rng):
    ...         left = {job.name: float(state.remaining(job)) for job in state.jobs}
    ...         print(float(state.time), left)
    ...         return super().decide(state, rng)
    >>> simulation = simulate(hadar.random(0), Talkative(), round_seconds=None)
    0.0 {'job1': 2.0}
    1.0 {'job1': 1.5, 'job2': 10.5}
    2.0 {'job1': 1.0, 'job2': 1.5, 'job3': 0.5}
    2.1666666666666665 {'job1': 0.9166666666666666, 'job3': 0.5}
    2.5 {'job1': 0.75}
    """

    def __init__(self, instance: Instance, round_seconds: Fraction | None, restart_seconds: Fraction) -> None:
        self.instance, self.round_seconds, self.restart_seconds = instance, round_seconds, restart_seconds
        self.time = Fraction(0)
        self._present: dict[str, Job] = {}
        self._jobs: tuple[Job, ...] | None = ()
        self._current: dict[str, Allocation] = {}
        self._held: dict[str, Holding] = {}
        self._remaining: dict[str, Fraction] = {}
        self._attained: dict[str, Fraction] = {}
        self.current: Mapping[str, Allocation] = MappingProxyType(self._current)
        self.holdings: Mapping[str, Holding] = MappingProxyType(self._held)

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs that have arrived and are not done, by arrival and then as listed."""
        if self._jobs is None:
            self._jobs = tuple(self._present.values())
        return self._jobs

    def is_here(self, name: str) -> bool:
        """Tell whether a job has arrived and is not done."""
        return name in self._present

    def remaining(self, job: Job) -> Fraction:
        """Return the iterations that a job has left."""
        left, held = self._remaining[job.name], self._held.get(job.name)
        return left - held.work(self.time) if held else left

    def attained(self, job: Job) -> Fraction:
        """Return the device-seconds that a job has had, restarts included."""
        before, held = self._attained[job.name], self._held.get(job.name)
        return before + held.devices * (self.time - held.start) if held else before

    def arrive(self, job: Job) -> None:
        """Let a job arrive."""
        self._present[job.name] = job
        self._remaining[job.name], self._attained[job.name] = job.iterations, Fraction(0)
        self._jobs = None

    def give(self, job: Job, holding: Holding) -> None:
        """Let a job have devices from now on."""
        self._held[job.name], self._current[job.name] = holding, holding.allocation

    def take(self, job: Job) -> Holding:
        """Take from a job what it has."""
        self._remaining[job.name], self._attained[job.name] = self.remaining(job), self.attained(job)
        del self._current[job.name]
        return self._held.pop(job.name)

    def leave(self, job: Job) -> None:
        """Let a job go."""
        del self._present[job.name]
        self._jobs = None


def arrival_of(instance: Instance, job: Job) -> Fraction:
    """Return when a job arrives, in seconds: the start of its first slot."""
    return (job.arrival - 1) * instance.slot_seconds


def parts(allocation: Allocation, *, copies: bool) -> list[Allocation]:
    """Return the gangs that an allocation is made of."""
    return [{machine: devices} for machine, devices in allocation.items()] if copies else [allocation]


def speed_of(job: Job, allocation: Allocation, *, copies: bool) -> Fraction:
    """Return the iterations per second of a job on some devices: of each gang, the devices times the slowest (1b)."""
    return sum((bottleneck(job, part) * gang(part) for part in parts(allocation, copies=copies)), Fraction(0))
