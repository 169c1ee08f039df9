"""The DMLRS problem's data: machines with capacities of several resources, and jobs of workers and parameter servers.

Symbols (PD-ORS, Table 1): machine h has C_h^r of resource r in every slot of 1..T; jobs as in
`dlsched.models.dmlrs.job`. An instance is asynchronous (the thesis) where its jobs have `chunks`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Tag, model_validator

from dlsched.arguments import checked, named
from dlsched.models.dmlrs.job import AsyncJob, Job
from dlsched.models.document import Record
from dlsched.models.fields import MAX_SLOTS, Name, countable, distinct, falling, known, made_of_numbers
from dlsched.models.numbers import NonNegative
from dlsched.models.timed import TimedInstance


class Machine(Record):
    """A machine h.

    Attributes
    ----------
    name : str
    capacity : dict of str to Fraction
        C_h^r, by resource; an absent resource counts 0.

    Examples
    --------
    >>> from dlsched.models.dmlrs import Machine, random
    >>> larger = random(0).model_copy(update={"machines": (Machine(name="node", capacity={"resource1": 8}),)})
    >>> [{r: int(most) for r, most in machine.capacity.items()} for machine in larger.machines]
    [{'resource1': 8}]
    """

    name: Name
    capacity: dict[Name, NonNegative]

    def capacity_of(self, resource: str) -> Fraction:
        """Return C_h^r."""
        return self.capacity.get(resource, Fraction(0))


def _kind(job: Any) -> str:
    return "[async]" if isinstance(job, AsyncJob) or (isinstance(job, dict) and "chunks" in job) else "[sync]"


AnyJob = Annotated[
    Annotated[Job, Tag("[sync]")] | Annotated[AsyncJob, Tag("[async]")],
    Discriminator(_kind),
]


class Instance(TimedInstance):
    """An instance of the DMLRS problem.

    Attributes
    ----------
    slots : int
        T, slots are 1..T.
    resources : tuple of str
        Names of the resources r.
    machines : tuple of Machine
    jobs : tuple of Job or of AsyncJob
        All of the journal's kind, or all of the thesis's.
    origin : dict of str to str, optional
        What was derived or assumed, and from what.

    Examples
    --------
    >>> from dlsched.models.dmlrs import random
    >>> instance = random(0)
    >>> {machine.name: {r: int(most) for r, most in machine.capacity.items()} for machine in instance.machines}
    {'machine1': {'resource1': 3, 'resource2': 2}, 'machine2': {'resource1': 2, 'resource2': 1}}
    >>> instance.asynchronous, random(0, asynchronous=True).asynchronous
    (False, True)
    """

    slots: Annotated[int, Field(strict=True, ge=1, le=MAX_SLOTS)]
    resources: tuple[Name, ...]
    machines: tuple[Machine, ...] = Field(min_length=1)
    jobs: tuple[AnyJob, ...]
    origin: dict[str, str] | None = None

    @cached_property
    def asynchronous(self) -> bool:
        """Whether the jobs are asynchronous, as in the thesis."""
        return any(isinstance(job, AsyncJob) for job in self.jobs)

    @cached_property
    def _jobs(self) -> dict[str, Job | AsyncJob]:
        return {job.name: job for job in self.jobs}

    @cached_property
    def _machines(self) -> dict[str, Machine]:
        return {machine.name: machine for machine in self.machines}

    def job(self, name: str) -> Job | AsyncJob:
        """Return the job of that name (KeyError where there is none)."""
        return named("job", name, self._jobs)

    def machine(self, name: str) -> Machine:
        """Return the machine of that name (KeyError where there is none)."""
        return named("machine", name, self._machines)

    @cached_property
    def capacity(self) -> dict[str, Fraction]:
        """Capacity of each resource in the whole cluster."""
        return {r: sum((h.capacity_of(r) for h in self.machines), Fraction(0)) for r in self.resources}

    @model_validator(mode="after")
    def _references(self) -> Self:
        distinct("resources", self.resources)
        distinct("machines", [machine.name for machine in self.machines], ".name")
        distinct("jobs", [job.name for job in self.jobs], ".name")
        for h, machine in enumerate(self.machines):
            known(f"machines[{h}].capacity", machine.capacity, "resource", "resources", self.resources)
        for i, job in enumerate(self.jobs):
            for field in ("worker", "server"):
                known(f"jobs[{i}].{field}", getattr(job, field), "resource", "resources", self.resources)
            self._check_job(f"jobs[{i}]", job)
        return self

    def _check_job(self, place: str, job: Job | AsyncJob) -> None:
        if isinstance(job, AsyncJob) != self.asynchronous:
            raise ValueError(
                f"{place}: has no chunks, but other jobs have; jobs are all synchronous or all asynchronous"
            )
        if job.arrival > self.slots:
            raise ValueError(f"{place}.arrival: {job.arrival} is after the last slot {self.slots}")
        if not (job.internal_time and job.external_time):
            compute = "slots_per_minibatch" if self.asynchronous else "slots_per_sample"
            raise ValueError(f"{place}.{compute}: is 0, and so is gradient_size: the job would take no time")
        made_of_numbers(place, "all of its work", job.work)
        made_of_numbers(place, "slots per unit of work within a machine", job.internal_time)
        made_of_numbers(place, "slots per unit of work between machines", job.external_time)
        try:
            countable(job.most_servers)
        except ValueError as error:
            raise ValueError(f"{place}: its servers, {error}") from None
        falling(f"{place}.utility", job.utility, range(self.slots - job.arrival + 1))


@dataclass(frozen=True, slots=True)
class Group:
    """Machines with the same capacities.

    Attributes
    ----------
    name : str
        Name of the first of them.
    machines : tuple of str
    model : Machine
        The first of them: what one machine of the group has.
    """

    name: str
    machines: tuple[str, ...]
    model: Machine

    def __len__(self) -> int:
        """Return how many machines there are."""
        return len(self.machines)


def singletons(instance: Instance) -> tuple[Group, ...]:
    """Return each machine as a group of its own."""
    return tuple(Group(machine.name, (machine.name,), machine) for machine in instance.machines)


def identical(instance: Instance) -> tuple[Group, ...]:
    """Return the groups of machines with the same capacities, in the order of their first machines."""
    found: dict[tuple[Fraction, ...], list[Machine]] = {}
    for machine in instance.machines:
        found.setdefault(tuple(machine.capacity_of(r) for r in instance.resources), []).append(machine)
    return tuple(Group(same[0].name, tuple(h.name for h in same), same[0]) for same in found.values())


def fewest_slots(job: AnyJob, time: Fraction | None = None) -> int:
    """Return ceil(V kappa / F), the slots that a job takes at the least, by default at the better of its two rates."""
    each = min(job.internal_time, job.external_time) if time is None else time
    return math.ceil(job.work * each / job.most_workers)


def useful_workers(job: AnyJob, work: Fraction | None = None) -> int:
    """Return min{F, ceil(V kappa)}, the workers of use in a slot: so many, at the slower rate, do all of the work.

    `work` is what is left of V, all of it by default.
    """
    left = job.work if work is None else work
    return min(job.most_workers, math.ceil(left * max(job.internal_time, job.external_time)))


@checked
def can_earn(instance: Instance, job: AnyJob) -> bool:
    """Tell whether a job, given all the workers it can use, finishes within the horizon while worth something.

    Examples
    --------
    >>> from dlsched.models import dmlrs
    >>> from dlsched.models.dmlrs.instance import can_earn
    >>> instance = dmlrs.random(0)
    >>> {job.name: can_earn(instance, job) for job in instance.jobs}
    {'job1': False, 'job2': True, 'job3': True}
    """
    duration = fewest_slots(job) - 1
    return duration <= instance.slots - job.arrival and job.utility.exact(duration) > 0


def last_earning(instance: Instance, job: AnyJob) -> int:
    """Return the longest duration within the horizon that is worth anything; 0 where none is."""
    return job.utility.last_positive(instance.slots - job.arrival) or 0
