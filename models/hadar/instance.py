"""The Hadar problem's data: a cluster of machines with devices of several types, and gang-scheduled training jobs.

Symbols (Hadar, Table I): machine h has c_h^r devices of type r; job j arrives in slot a_j of 1..T, needs W_j devices at
once (its gang), and E_j N_j iterations; X_j^r is iterations per second and device on type r; a slot lasts L seconds.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Annotated, Self

from pydantic import Field, model_validator

from dlsched.arguments import named
from dlsched.models.document import Record
from dlsched.models.fields import MAX_SLOTS, Count, Name, Ordinal, distinct, falling, known, made_of_numbers
from dlsched.models.numbers import NonNegative, Positive
from dlsched.models.timed import TimedInstance
from dlsched.models.utility import Utility


class Machine(Record):
    """A machine h.

    Attributes
    ----------
    name : str
    devices : dict of str to int
        c_h^r, devices by type; an absent type counts 0.

    Examples
    --------
    >>> from dlsched.models.hadar import Machine, random
    >>> larger = random(0).model_copy(update={"machines": (Machine(name="node", devices={"type1": 8}),)})
    >>> [dict(machine.devices) for machine in larger.machines]
    [{'type1': 8}]
    """

    name: Name
    devices: dict[Name, Count]

    def count(self, type_: str) -> int:
        """Return c_h^r, the number of devices of a type."""
        return self.devices.get(type_, 0)


class Job(Record):
    """A training job j.

    Attributes
    ----------
    name : str
    arrival : int
        a_j, the first slot it may run in, from 1.
    gang : int
        W_j, devices it uses in every slot in which it runs.
    iterations : Fraction
        E_j N_j, iterations in all.
    rate : dict of str to Fraction
        X_j^r, iterations per second and device, by type; an absent type counts 0.
    utility : Utility
        U_j, non-increasing, of the duration d = completion slot - arrival, in slots.

    Examples
    --------
    >>> from dlsched.models.hadar import random
    >>> (job, *_) = random(0).jobs
    >>> job.arrival, job.gang, int(job.iterations), {r: float(rate) for r, rate in job.rate.items()}, job.utility(0)
    (1, 1, 2, {'type1': 0.5, 'type2': 0.0}, 19.0)
    >>> job.model_copy(update={"gang": 2}).gang
    2
    """

    name: Name
    arrival: Ordinal
    gang: Ordinal
    iterations: Positive
    rate: dict[Name, NonNegative]
    utility: Utility

    def rate_on(self, type_: str) -> Fraction:
        """Return X_j^r, iterations per second and device of a type."""
        return self.rate.get(type_, Fraction(0))


class Instance(TimedInstance):
    """An instance of the Hadar problem.

    Attributes
    ----------
    slots : int
        T, slots are 1..T.
    slot_seconds : Fraction
        L, seconds a slot.
    device_types : tuple of str
        Names of the types r.
    machines : tuple of Machine
    jobs : tuple of Job
    origin : dict of str to str, optional
        What was derived or assumed, and from what.

    Examples
    --------
    >>> from dlsched.models.hadar import Instance
    >>> instance = Instance.parse({
    ...     "slots": 4, "slot_seconds": 3600, "device_types": ["v100", "k80"],
    ...     "machines": [{"name": "node1", "devices": {"v100": 2}}, {"name": "node2", "devices": {"k80": 4}}],
    ...     "jobs": [{
    ...         "name": "bert", "arrival": 1, "gang": 2, "iterations": 28800, "rate": {"v100": 2, "k80": "1/2"},
    ...         "utility": {"kind": "linear", "intercept": 10, "slope": 3},
    ...     }],
    ... })
    >>> bert = instance.job("bert")
    >>> {r: float(bert.iterations / instance.work(bert, r)) for r in instance.device_types}  # slots
    {'v100': 2.0, 'k80': 8.0}
    """

    slots: Annotated[int, Field(strict=True, ge=1, le=MAX_SLOTS)]
    slot_seconds: Positive = Fraction(1)
    device_types: tuple[Name, ...]
    machines: tuple[Machine, ...]
    jobs: tuple[Job, ...]
    origin: dict[str, str] | None = None

    @cached_property
    def capacity(self) -> dict[str, int]:
        """Devices of each type in the whole cluster."""
        return {r: sum(machine.count(r) for machine in self.machines) for r in self.device_types}

    @cached_property
    def devices(self) -> int:
        """Devices of the whole cluster."""
        return sum(self.capacity.values())

    @cached_property
    def _jobs(self) -> dict[str, Job]:
        return {job.name: job for job in self.jobs}

    @cached_property
    def _machines(self) -> dict[str, Machine]:
        return {machine.name: machine for machine in self.machines}

    def job(self, name: str) -> Job:
        """Return the job of that name (KeyError where there is none)."""
        return named("job", name, self._jobs)

    def machine(self, name: str) -> Machine:
        """Return the machine of that name (KeyError where there is none)."""
        return named("machine", name, self._machines)

    def work(self, job: Job, type_: str) -> Fraction:
        """Return W_j X_j^r L: iterations a job does in a slot in which `type_` is its slowest device."""
        return job.gang * job.rate_on(type_) * self.slot_seconds

    def usable_types(self, job: Job) -> tuple[str, ...]:
        """Return the types that the cluster has and the job makes progress on, the fastest first."""
        types = [r for r in self.device_types if self.capacity[r] and job.rate_on(r)]
        return tuple(sorted(types, key=job.rate_on, reverse=True))

    def eligible(self, job: Job, level: str) -> tuple[str, ...]:
        """Return the types that the cluster has and that are at least as fast for the job as `level`."""
        return tuple(r for r in self.usable_types(job) if job.rate_on(r) >= job.rate_on(level))

    def levels(self, job: Job) -> tuple[str, ...]:
        """Return the types that can be the bottleneck of a whole gang, the fastest first; of equally fast ones, one.

        A level needs W_j devices that are at least as fast in the cluster.
        """
        by_rate = {job.rate_on(r): r for r in reversed(self.usable_types(job))}
        fastest_first = sorted(by_rate.values(), key=job.rate_on, reverse=True)
        return tuple(r for r in fastest_first if sum(map(self.capacity.__getitem__, self.eligible(job, r))) >= job.gang)

    def last_useful_slot(self, job: Job) -> int | None:
        """Return the last slot in which completing a job is worth something; None where there is none."""
        last = job.utility.last_positive(self.slots - job.arrival)
        return None if last is None else job.arrival + last

    @model_validator(mode="after")
    def _references(self) -> Self:
        distinct("device_types", self.device_types)
        distinct("machines", [machine.name for machine in self.machines], ".name")
        distinct("jobs", [job.name for job in self.jobs], ".name")
        for i, machine in enumerate(self.machines):
            known(f"machines[{i}].devices", machine.devices, "device type", "device_types", self.device_types)
        for i, job in enumerate(self.jobs):
            known(f"jobs[{i}].rate", job.rate, "device type", "device_types", self.device_types)
            self._check_job(f"jobs[{i}]", job)
        return self

    def _check_job(self, place: str, job: Job) -> None:
        if job.arrival > self.slots:
            raise ValueError(f"{place}.arrival: {job.arrival} is after the last slot {self.slots}")
        if job.gang > self.devices:
            raise ValueError(f"{place}.gang: {job.gang} exceeds the {self.devices} devices of the whole cluster")
        if not any(job.rate.values()):
            raise ValueError(f"{place}.rate: is 0 on every device type; at least one must be positive")
        fastest = max(job.rate, key=job.rate_on)
        made_of_numbers(f"{place}.rate.{fastest}", "iterations a slot", self.work(job, fastest))
        falling(f"{place}.utility", job.utility, range(self.slots - job.arrival + 1))
