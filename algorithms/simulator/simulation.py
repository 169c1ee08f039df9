"""What came of a simulation, and the schedule that it is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from dlsched.algorithms.simulator.policy import speed_of
from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.models.hadar import Instance, Schedule
from dlsched.models.hadar.schedule import Allocation, gang
from dlsched.models.numbers import to_json


@dataclass(frozen=True, slots=True)
class Segment:
    """A job on the same devices for some time.

    Attributes
    ----------
    job : str
    allocation : Allocation
    start, ready, end : Fraction
        Seconds: it has the devices from `start` to `end`, and works from `ready` on if that is before the end.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.fifo import Fifo
    >>> from dlsched.algorithms.simulator import simulate
    >>> from dlsched.models import hadar
    >>> for segment in simulate(hadar.random(0), Fifo(), round_seconds=None).segments:
    ...     print(segment.job, f"{float(segment.start):.3f} to {float(segment.end):.3f}:", segment.devices)
    job2 1.000 to 2.167: 3
    job3 2.167 to 2.500: 1
    job1 0.000 to 3.000: 1
    """

    job: str
    allocation: Allocation
    start: Fraction
    ready: Fraction
    end: Fraction

    @property
    def devices(self) -> int:
        """How many it has."""
        return gang(self.allocation)

    @property
    def held(self) -> Fraction:
        """Device-seconds that it has."""
        return self.devices * (self.end - self.start)

    @property
    def busy(self) -> Fraction:
        """Device-seconds in which it works."""
        return self.devices * self.working

    @property
    def working(self) -> Fraction:
        """Seconds in which it works."""
        return max(Fraction(0), self.end - self.ready)


@dataclass(frozen=True, slots=True)
class Moment:
    """A decision.

    Attributes
    ----------
    time : Fraction
        Seconds.
    jobs : int
        Jobs that were there.
    devices : int
        Devices in use from then on.
    changed : bool
        A job that was there got, or lost, or changed devices.
    moved : bool
        One that had devices lost or changed them.
    seconds : float
        That the decision took, on this machine; not compared.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.fifo import Fifo
    >>> from dlsched.algorithms.simulator import simulate
    >>> from dlsched.models import hadar
    >>> for moment in simulate(hadar.random(0), Fifo(), round_seconds=None).moments:
    ...     print(float(moment.time), moment.jobs, moment.devices, moment.changed)
    0.0 1 1 True
    1.0 2 4 True
    2.0 3 4 False
    2.1666666666666665 2 2 True
    2.5 1 1 False
    """

    time: Fraction
    jobs: int
    devices: int
    changed: bool
    moved: bool
    seconds: float = field(compare=False)


@dataclass(frozen=True, slots=True)
class Simulation:
    """What came of a policy on an instance.

    Attributes
    ----------
    instance : Instance
    policy : str
    round_seconds : Fraction or None
        None where decisions were at events.
    restart_seconds : Fraction
    copies : bool
        Jobs could run in copies, one a machine.
    end : Fraction
        Seconds: nothing runs later.
    segments : tuple of Segment
        By their ends.
    completions : dict of str to Fraction
        When each job was done, in seconds; jobs that were not are absent.
    moments : tuple of Moment

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.fifo import Fifo
    >>> from dlsched.algorithms.simulator import simulate
    >>> from dlsched.models import hadar
    >>> simulation = simulate(hadar.random(0), Fifo(), round_seconds=1)
    >>> sorted(simulation.completions)
    ['job2']
    >>> print(simulation.work()["job2"], "iterations of job2 are done")
    21/2 iterations of job2 are done
    """

    instance: Instance
    policy: str
    round_seconds: Fraction | None
    restart_seconds: Fraction
    copies: bool
    end: Fraction
    segments: tuple[Segment, ...]
    completions: dict[str, Fraction]
    moments: tuple[Moment, ...]

    def work(self) -> dict[str, Fraction]:
        """Return the iterations done, by job of the instance."""
        done = {job.name: Fraction(0) for job in self.instance.jobs}
        for segment in self.segments:
            speed = speed_of(self.instance.job(segment.job), segment.allocation, copies=self.copies)
            done[segment.job] += speed * segment.working
        return done


@checked
def exact_utility(simulation: Simulation) -> Fraction:
    """Return sum_j U_j(f_j - a_j) over the jobs that are done (1), f_j the slot in which job j is.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar import las, srtf
    >>> from dlsched.algorithms.simulator import exact_utility, simulate
    >>> from dlsched.models import hadar
    >>> for policy in (las.Las(), srtf.Srtf()):
    ...     print(policy.name, exact_utility(simulate(hadar.random(0), policy, round_seconds=1)))
    las 17
    srtf 34
    """
    instance, total = simulation.instance, Fraction(0)
    for name, completion in simulation.completions.items():
        job = instance.job(name)
        total += job.utility.exact(math.ceil(completion / instance.slot_seconds) - job.arrival)
    return total


@checked
def schedule(simulation: Simulation) -> Schedule:
    """Return the schedule of the jobs that are done: the devices of every slot in which they have some.

    It passes the problem's checker, whatever a restart took: there a job works as soon as it has devices.

    Raises
    ------
    InputError
        If a job gets devices inside a slot, or runs in copies: a schedule cannot say that.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.srtf import Srtf
    >>> from dlsched.algorithms.simulator import schedule, simulate
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> found = schedule(simulate(instance, Srtf(), round_seconds=instance.slot_seconds))
    >>> hadar.check(instance, found), hadar.utility(instance, found)
    ([], 34.0)
    """
    instance, slots = simulation.instance, dict[str, dict[int, Allocation]]()
    if simulation.copies:
        raise InputError("simulation: jobs run in copies; a schedule of the problem has one gang a job")
    for segment in simulation.segments:
        first = segment.start / instance.slot_seconds
        if first.denominator != 1:
            raise InputError(
                f"simulation: job {segment.job} gets devices at {to_json(segment.start)} s, inside a slot of "
                f"{to_json(instance.slot_seconds)} s; rounds of whole slots make a schedule"
            )
        if segment.job in simulation.completions:
            last = math.ceil(segment.end / instance.slot_seconds)
            slots.setdefault(segment.job, {}).update(
                dict.fromkeys(range(first.numerator + 1, last + 1), segment.allocation)
            )
    return Schedule.of(slots)
