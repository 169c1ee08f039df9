"""What `dmlrs/compact` and `dmlrs/async` share: sets, workers and servers, capacity, completion and the objective."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dlsched.lazy import pyo
from dlsched.models.dmlrs.instance import Instance, Machine
from dlsched.models.dmlrs.job import AsyncJob, Job


def synchronous(instance: Instance, name: str) -> None:
    """Refuse an instance of asynchronous jobs, which the formulation of that name cannot state."""
    if instance.asynchronous:
        raise ValueError(f"{name} states the journal's problem and the jobs have chunks: use dmlrs/async")


def asynchronous(instance: Instance, name: str) -> None:
    """Refuse an instance of synchronous jobs, which the formulation of that name cannot state."""
    if instance.jobs and not instance.asynchronous:
        raise ValueError(f"{name} states the thesis's problem and the jobs have no chunks: use dmlrs/compact")


def servers_needed(job: Job | AsyncJob) -> int:
    """Return a number of servers that a job never needs more of in a slot: what all its workers need, at most."""
    if isinstance(job, AsyncJob):
        return min(job.chunks, math.ceil(job.chunks * max(job.internal_rate, job.external_rate) / job.server_rate))
    return job.servers_for(job.most_workers)


def fitting(machine: Machine, needs: dict[str, Fraction], most: int) -> int:
    """Return how many workers (or servers) of these needs fit on an empty machine, at most `most`."""
    return min((int(machine.capacity_of(r) // need) for r, need in needs.items() if need), default=most)


def frame(instance: Instance, name: str, *, capacity: str = "(5)", arrival: str = "(7)") -> pyo.ConcreteModel:
    """Return a model with the sets, variables, objective and capacity rows of DMLRS.

    Parameters
    ----------
    instance : Instance
    name : str
    capacity, arrival : str
        Number of the equation in the paper.
    """
    m = pyo.ConcreteModel(name=name)
    _sets(m, instance, arrival)
    _variables(m, instance)
    m.total_utility = pyo.Objective(
        expr=sum(m.utility[it] * m.completion[it] for it in m.IT), sense=pyo.maximize, doc="(DMLRS) total utility"
    )
    m.capacity = pyo.Constraint(m.used, rule=_capacity, doc=f"{capacity} capacity of a machine and resource")
    return m


def completions(m: Any) -> None:
    """Add x_i, whether a job is admitted, as the sum of its completion labels."""
    m.once = pyo.Constraint(
        m.I,
        rule=lambda m, i: sum(m.completion[i, t] for t in m.slots_of[i]) <= 1,
        doc="(DMLRS) x_i, a job is admitted at most once",
    )


def _sets(m: Any, instance: Instance, arrival: str) -> None:
    jobs, machines = instance.jobs, instance.machines
    slots = range(1, instance.slots + 1)
    m.job = {job.name: job for job in jobs}
    m.slots_of = {job.name: range(job.arrival, instance.slots + 1) for job in jobs}
    m.most_workers = {job.name: job.most_workers for job in jobs}
    m.present = {t: [job.name for job in jobs if job.arrival <= t] for t in slots}
    m.utility = {(job.name, t): job.utility(t - job.arrival) for job in jobs for t in m.slots_of[job.name]}
    m.room = {(h.name, r): float(h.capacity_of(r)) for h in machines for r in instance.resources}
    m.needs = {
        (job.name, r): (float(job.worker_needs(r)), float(job.server_needs(r)))
        for job in jobs
        for r in instance.resources
    }
    m.I = pyo.Set(initialize=[job.name for job in jobs], doc="jobs")
    m.IT = pyo.Set(
        initialize=[(i, t) for i, own in m.slots_of.items() for t in own],
        dimen=2,
        doc=f"{arrival} jobs and the slots from their arrival on",
    )
    m.placed = pyo.Set(
        initialize=((i, t, h.name) for i, own in m.slots_of.items() for t in own for h in machines),
        dimen=3,
        doc=f"{arrival} jobs, slots from their arrival on, machines",
    )
    wanted = {t: [r for r in instance.resources if any(any(m.needs[i, r]) for i in m.present[t])] for t in slots}
    m.used = pyo.Set(
        initialize=[(h.name, r, t) for t in slots for h in machines for r in wanted[t]],
        dimen=3,
        doc="machines, resources and slots that jobs could use",
    )


def _variables(m: Any, instance: Instance) -> None:
    workers = {
        (job.name, h.name): fitting(h, job.worker, job.most_workers) for job in instance.jobs for h in instance.machines
    }
    servers = {
        (job.name, h.name): fitting(h, job.server, servers_needed(job))
        for job in instance.jobs
        for h in instance.machines
    }
    most = {job.name: servers_needed(job) for job in instance.jobs}
    m.workers = pyo.Var(
        m.placed,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, i, t, h: (0, min(workers[i, h], m.most_workers[i])),
        doc="w_ih[t], workers",
    )
    m.servers = pyo.Var(
        m.placed,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, i, t, h: (0, min(servers[i, h], most[i])),
        doc="s_ih[t], servers",
    )
    m.completion = pyo.Var(m.IT, domain=pyo.Binary, doc="1 where the job's completion slot t~_i is t")


def _capacity(m: Any, h: str, r: str, t: int) -> Any:
    return (
        sum(
            m.needs[i, r][0] * m.workers[i, t, h] + m.needs[i, r][1] * m.servers[i, t, h]
            for i in m.present[t]
            if any(m.needs[i, r])
        )
        <= m.room[h, r]
    )
