"""What formulations of DMLRS share: sets, workers and servers, capacity, completion, the objective, and reading back.

A schedule that is read has what a job needs to finish, and nothing beside.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from dlsched.errors import InputError
from dlsched.lazy import pyo
from dlsched.models.dmlrs.instance import Instance, Machine
from dlsched.models.dmlrs.job import AsyncJob, Job, Placement
from dlsched.models.dmlrs.schedule import Schedule, check
from dlsched.models.formulation import stopping, until_done
from dlsched.models.parameters import declare

WORTH = "u_i(t - a_i), worth of the job if slot t completes it [utility]"
WORKER = "alpha_i^r, need of a worker [resource]"
SERVER = "beta_i^r, need of a server [resource]"
MOST = "F_i or K_i, most workers in a slot [workers]"
INTERNAL_LOAD = "b^(i)/B_i, load of a worker on the servers' machine [servers]"
EXTERNAL_LOAD = "b^(e)/B_i, load of a worker elsewhere [servers]"
GAMMA = "gamma_i, workers a server [1]"
ROOM = "C_h^r, capacity of the machine [resource]"
FITTED = "the bounds of workers and servers, and with them the big-M, were derived from it"


def synchronous(instance: Instance, name: str) -> None:
    """Refuse an instance of asynchronous jobs, which the formulation of that name cannot state.

    Raises
    ------
    InputError
    """
    if instance.asynchronous:
        raise InputError(f"{name} states the journal's problem and the jobs have chunks: use dmlrs/async")


def asynchronous(instance: Instance, name: str) -> None:
    """Refuse an instance of synchronous jobs, which the formulation of that name cannot state.

    Raises
    ------
    InputError
    """
    if instance.jobs and not instance.asynchronous:
        raise InputError(f"{name} states the thesis's problem and the jobs have no chunks: use dmlrs/compact")


def servers_needed(job: Job | AsyncJob) -> int:
    """Return a number of servers that a job never needs more of in a slot: what all its workers need, at most."""
    if isinstance(job, AsyncJob):
        return min(job.chunks, math.ceil(job.chunks * max(job.internal_rate, job.external_rate) / job.server_rate))
    return job.servers_for(job.most_workers)


def fitting(machine: Machine, needs: dict[str, Fraction], most: int) -> int:
    """Return how many workers (or servers) of these needs fit on an empty machine; `most` where they need nothing."""
    return min((int(machine.capacity_of(r) // need) for r, need in needs.items() if need), default=most)


def placing(instance: Instance, name: str, arrival: str = "(7)") -> pyo.ConcreteModel:
    """Return a model with the sets of DMLRS and its workers and servers.

    Parameters
    ----------
    instance : Instance
    name : str
    arrival : str
        Number of the equation in the paper.
    """
    m = pyo.ConcreteModel(name=name)
    _sets(m, instance, arrival)
    _variables(m, instance)
    return m


def frame(instance: Instance, name: str, *, capacity: str = "(5)", arrival: str = "(7)") -> pyo.ConcreteModel:
    """Return a model with the sets, variables, objective and capacity rows of DMLRS.

    Parameters
    ----------
    instance : Instance
    name : str
    capacity, arrival : str
        Number of the equation in the paper.
    """
    m = placing(instance, name, arrival)
    worths(m, instance)
    m.completion = pyo.Var(m.IT, domain=pyo.Binary, doc="1 where the job's completion slot t~_i is t")
    room = {(h.name, r): h.capacity_of(r) for h in instance.machines for r in m.R}
    declare(m, "room", (m.H, m.R), room, ROOM, within=pyo.NonNegativeReals, why=FITTED)
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


def jobs(m: Any, instance: Instance, arrival: str) -> None:
    """Add the jobs and their slots, and what is known of them.

    Parameters
    ----------
    m : ConcreteModel
    instance : Instance
    arrival : str
        Number of the equation in the paper.
    """
    by_name = {job.name: job for job in instance.jobs}
    slots = range(1, instance.slots + 1)
    m.slots_of = {i: range(job.arrival, instance.slots + 1) for i, job in by_name.items()}
    m.I = pyo.Set(initialize=list(by_name), doc="jobs")
    m.R = pyo.Set(initialize=list(instance.resources), doc="resources")
    m.IT = pyo.Set(
        initialize=[(i, t) for i, own in m.slots_of.items() for t in own],
        dimen=2,
        doc=f"{arrival} jobs and the slots from their arrival on",
    )
    workers = {(i, r): job.worker_needs(r) for i, job in by_name.items() for r in m.R}
    servers = {(i, r): job.server_needs(r) for i, job in by_name.items() for r in m.R}
    inside = {i: 1 / (job.internal_time * job.work) for i, job in by_name.items()}
    outside = {i: 1 / (job.external_time * job.work) for i, job in by_name.items()}
    declare(m, "arrival", (m.I,), {i: job.arrival for i, job in by_name.items()}, "a_i, arrival [slot]")
    declare(m, "most_workers", (m.I,), {i: j.most_workers for i, j in by_name.items()}, MOST)
    declare(m, "worker_needs", (m.I, m.R), workers, WORKER)
    declare(m, "server_needs", (m.I, m.R), servers, SERVER)
    declare(m, "internal_share", (m.I,), inside, "1/(kappa_I V_i), work of a worker beside its servers [V_i / slot]")
    declare(m, "external_share", (m.I,), outside, "1/(kappa_E V_i), work of a worker elsewhere [V_i / slot]")
    needed = {r: [i for i in by_name if workers[i, r] or servers[i, r]] for r in m.R}
    m.users = {(r, t): [i for i in needed[r] if by_name[i].arrival <= t] for t in slots for r in m.R}


def worths(m: Any, instance: Instance) -> None:
    """Add what jobs are worth, by completion slot; of the jobs and slots of the model."""
    jobs = {i: instance.job(i) for i in m.I}
    worth = {(i, t): jobs[i].utility(t - jobs[i].arrival) for i, t in m.IT}
    declare(m, "utility", (m.IT,), worth, WORTH, follows=True, falling=True)


def loads(m: Any, instance: Instance) -> None:
    """Add how much of a server a worker of an asynchronous job takes."""
    asynchronous = {job.name: job for job in instance.jobs if isinstance(job, AsyncJob)}
    inside = {i: job.internal_rate / job.server_rate for i, job in asynchronous.items()}
    outside = {i: job.external_rate / job.server_rate for i, job in asynchronous.items()}
    declare(m, "internal_load", (m.I,), inside, INTERNAL_LOAD)
    declare(m, "external_load", (m.I,), outside, EXTERNAL_LOAD)


def _sets(m: Any, instance: Instance, arrival: str) -> None:
    jobs(m, instance, arrival)
    machines = [h.name for h in instance.machines]
    m.H = pyo.Set(initialize=machines, doc="machines")
    m.placed = pyo.Set(
        initialize=((i, t, h) for i, own in m.slots_of.items() for t in own for h in machines),
        dimen=3,
        doc=f"{arrival} jobs, slots from their arrival on, machines",
    )
    m.used = pyo.Set(
        initialize=[(h, r, t) for t in range(1, instance.slots + 1) for h in machines for r in m.R if m.users[r, t]],
        dimen=3,
        doc="machines, resources and slots that jobs could use",
    )


def _variables(m: Any, instance: Instance) -> None:
    most = {job.name: servers_needed(job) for job in instance.jobs}
    workers = {
        (job.name, h.name): fitting(h, job.worker, job.most_workers) for job in instance.jobs for h in instance.machines
    }
    servers = {
        (job.name, h.name): fitting(h, job.server, most[job.name]) for job in instance.jobs for h in instance.machines
    }
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


def _capacity(m: Any, h: str, r: str, t: int) -> Any:
    return used(m, h, r, t) <= m.room[h, r]


def used(m: Any, h: str, r: str, t: int) -> Any:
    """Return what jobs use of a resource of a machine in a slot, as an expression in the model's variables."""
    return sum(
        m.worker_needs[i, r] * m.workers[i, t, h] + m.server_needs[i, r] * m.servers[i, t, h] for i in m.users[r, t]
    )


Placements = Mapping[str, Mapping[int, Placement]]
"""Job to slot to machine to (workers, servers)."""


def read(model: Any, instance: Instance) -> Schedule:
    """Return the schedule of a model begun by `frame`.

    Raises
    ------
    UnreadableModel
        As `finishing`.
    """
    found: dict[str, dict[int, dict[str, tuple[int, int]]]] = {}
    for i, t, h in model.placed:
        counts = round(model.workers[i, t, h].value), round(model.servers[i, t, h].value)
        if any(counts):
            found.setdefault(i, {}).setdefault(t, {})[h] = counts
    return finishing(instance, found, finished(model))


def finished(model: Any) -> list[str]:
    """Return the jobs that have a completion slot in a solved model."""
    return [i for i, t in model.IT if round(model.completion[i, t].value)]


def finishing(instance: Instance, placements: Placements, jobs: Iterable[str]) -> Schedule:
    """Return the schedule of the jobs that finish at a point, by all that is placed at it; see `stopping`."""
    return stopping(instance, placements, jobs, _needed, Schedule.of, check)


def _needed(instance: Instance, name: str, slots: Mapping[int, Placement]) -> dict[int, Placement]:
    job = instance.job(name)
    return until_done(name, slots, job.progress, job.work, "of its work")
