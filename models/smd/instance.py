"""The SMD problem's data: a cluster with resources, and training jobs that reserve some of each.

Symbols (SMD, Table I): job i needs O_i^r of resource r for each worker and G_i^r for each parameter server, may use at
most v_i^r in all, and reserves that much if it is admitted; the cluster has C^r.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Self

from pydantic import model_validator

from dlsched.arguments import named
from dlsched.models.document import Record
from dlsched.models.fields import Name, distinct, falling, known, made_of_numbers
from dlsched.models.numbers import NonNegative
from dlsched.models.smd.training import Training
from dlsched.models.timed import TimedInstance
from dlsched.models.utility import Table, Utility

MAX_COUNT = 10**6
"""The most workers, and the most servers, that a job's limits may allow. Arbitrary: exact methods hold an array by
workers."""


class Job(Record):
    """A training job i.

    Attributes
    ----------
    name : str
    worker, server : dict of str to Fraction
        O_i^r and G_i^r, what one worker and one parameter server need, by resource; an absent resource counts 0.
    limit : dict of str to Fraction
        v_i^r, what the job may use in all, and reserves; an absent resource counts 0.
    utility : Utility
        mu_i, non-increasing, of the completion time.
    training : Training
        What the completion time depends on.

    Examples
    --------
    >>> from dlsched.models.smd import points, random
    >>> (job, *_) = random(0).jobs
    >>> {r: int(most) for r, most in job.limit.items()}, len(points(job)), str(job.training.mode)
    ({'resource1': 5, 'resource2': 5}, 1, 'sync')
    """

    name: Name
    worker: dict[Name, NonNegative]
    server: dict[Name, NonNegative]
    limit: dict[Name, NonNegative]
    utility: Utility
    training: Training

    def worker_needs(self, resource: str) -> Fraction:
        """Return O_i^r."""
        return self.worker.get(resource, Fraction(0))

    def server_needs(self, resource: str) -> Fraction:
        """Return G_i^r."""
        return self.server.get(resource, Fraction(0))

    def limit_of(self, resource: str) -> Fraction:
        """Return v_i^r."""
        return self.limit.get(resource, Fraction(0))

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """The resources of which a worker or a server needs some: the rows of (3)."""
        return tuple(
            r for r in dict.fromkeys((*self.worker, *self.server)) if self.worker_needs(r) + self.server_needs(r)
        )

    def uses(self, workers: int, servers: int) -> dict[str, Fraction]:
        """Return O_i^r w + G_i^r p, by resource."""
        return {r: self.worker_needs(r) * workers + self.server_needs(r) * servers for r in self.resources}

    def fits(self, workers: int, servers: int) -> bool:
        """Tell whether so many workers and servers keep the job's limits (3)."""
        return all(used <= self.limit_of(r) for r, used in self.uses(workers, servers).items())

    @cached_property
    def can_run(self) -> bool:
        """Whether the limits leave room for one worker and one server; a job that cannot run is never admitted."""
        return self.fits(1, 1)

    @cached_property
    def most_workers(self) -> int:
        """The most workers that fit beside one server, 0 where none does."""
        return self._most(self.worker, self.server)

    @cached_property
    def most_servers(self) -> int:
        """The most servers that fit beside one worker, 0 where none does."""
        return self._most(self.server, self.worker)

    def _most(self, of: dict[str, Fraction], beside: dict[str, Fraction]) -> int:
        if not self.can_run:
            return 0
        return min((self.limit_of(r) - beside.get(r, Fraction(0))) // need for r, need in of.items() if need)


class Instance(TimedInstance):
    """An instance of the SMD problem.

    Attributes
    ----------
    resources : tuple of str
        Names of the resources r.
    capacity : dict of str to Fraction
        C^r; an absent resource counts 0.
    jobs : tuple of Job
    origin : dict of str to str, optional
        What was derived or assumed, and from what.

    Examples
    --------
    >>> from dlsched.models.smd import Instance, best_point
    >>> instance = Instance.parse({
    ...     "resources": ["gpu"], "capacity": {"gpu": 4},
    ...     "jobs": [{
    ...         "name": "bert", "worker": {"gpu": 1}, "server": {"gpu": "1/2"}, "limit": {"gpu": 3},
    ...         "utility": {"kind": "linear", "intercept": 20, "slope": 1},
    ...         "training": {"kind": "coefficients", "mode": "sync", "theta": [0, 0, 6, 1, 8]},
    ...     }],
    ... })
    >>> best_point(instance.jobs[0])
    Point(workers=2, servers=2, time=Fraction(11, 1), utility=Fraction(9, 1))
    """

    resources: tuple[Name, ...]
    capacity: dict[Name, NonNegative]
    jobs: tuple[Job, ...]
    origin: dict[str, str] | None = None

    @cached_property
    def _jobs(self) -> dict[str, Job]:
        return {job.name: job for job in self.jobs}

    def job(self, name: str) -> Job:
        """Return the job of that name (KeyError where there is none)."""
        return named("job", name, self._jobs)

    def capacity_of(self, resource: str) -> Fraction:
        """Return C^r."""
        return self.capacity.get(resource, Fraction(0))

    def admissible(self, job: Job) -> bool:
        """Tell whether a job could be admitted to the empty cluster: it can run, and its reservation fits."""
        return job.can_run and all(job.limit_of(r) <= self.capacity_of(r) for r in self.resources)

    @model_validator(mode="after")
    def _references(self) -> Self:
        distinct("resources", self.resources)
        distinct("jobs", [job.name for job in self.jobs], ".name")
        known("capacity", self.capacity, "resource", "resources", self.resources)
        for i, job in enumerate(self.jobs):
            for field in ("worker", "server", "limit"):
                known(f"jobs[{i}].{field}", getattr(job, field), "resource", "resources", self.resources)
            _bounded(f"jobs[{i}]", job)
            for k, theta in enumerate(job.training.coefficients, start=1):
                made_of_numbers(f"jobs[{i}].training", f"theta{k}", theta)
            points = range(len(job.utility.values) + 1) if isinstance(job.utility, Table) else range(2)
            falling(f"jobs[{i}].utility", job.utility, points, "completion time")
        return self


def _bounded(place: str, job: Job) -> None:
    for field, needs in (("worker", job.worker), ("server", job.server)):
        if not any(needs.values()):
            raise ValueError(
                f"{place}.{field}: needs nothing of any resource, so nothing bounds the number of {field}s"
            )
    for field, most in (("worker", job.most_workers), ("server", job.most_servers)):
        if most > MAX_COUNT:
            raise ValueError(f"{place}.limit: allows {most} {field}s; at most {MAX_COUNT} are supported")
