"""One job in one slot at prices: its cheapest workers and servers, on one machine (22) or on several (23)-(26).

Symbols: w_ih `workers`, s_ih `servers`, p_h^r `price`, C^_h^r `residual`; v work to do, F_i or K_i most workers,
kappa_I and kappa_E slots per unit of work and worker, gamma_i workers per server, B_i rate of a server.

Internal. The print decouples (19) by leaving out the workload (20), so that the optimum of (22) is nothing at all, as
it says itself; with workers = gamma servers its only variables are the servers: `dmlrs/internal-slot-printed`. What it
goes on to do, v kappa_I workers and their servers on the cheapest machine that has room, is `dmlrs/internal-slot`.

External. The journal has no row for the servers, so its optimum has none: `dmlrs/external-slot-printed`.
`dmlrs/external-slot` adds (2), servers >= workers / gamma. At an optimum of the LP relaxation the workers are exactly
v kappa_E, so the row may also be read as a cover row, servers >= v kappa_E / gamma; as such the rounding of Algorithm 4
needs it.

The thesis, (3.22)-(3.25), asks for m_p = ceil(m_w b^(e) / B) servers, which bear m_w workers if they share one machine,
and forgets (3.2) and (3.5): `dmlrs/async-external-slot-printed`. `dmlrs/async-external-slot` adds these, and puts the
servers on one machine, as no slot needs more where b^(i) >= b^(e) (`dlsched.models.dmlrs.asynchronous`); then (3.4) is
a row, in which workers on that machine exchange at b^(i) and all others at b^(e).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypedDict, TypeVar, Unpack

from dlsched.arguments import not_negative
from dlsched.lazy import pyo
from dlsched.models.dmlrs.frame import (
    EXTERNAL_LOAD,
    GAMMA,
    INTERNAL_LOAD,
    SERVER,
    WORKER,
    asynchronous,
    servers_needed,
    synchronous,
)
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.job import AsyncJob, Job, Placement
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.job import job_or_first
from dlsched.models.numbers import amount
from dlsched.models.parameters import declare, filled

J = TypeVar("J", Job, AsyncJob)

PRICE = "p_h^r, price of a unit [utility / resource]"
LEFT = "C^_h^r, residual capacity of the machine [resource]"

Amounts = Mapping[tuple[str, str], float | Fraction]
"""By (machine, resource)."""


class SlotData(TypedDict, total=False):
    """What each of them takes beside an instance.

    Attributes
    ----------
    job : str
        By default the first.
    workload : number
        v, samples to do in the slot, in the thesis chunks; by default an equal share of all, V_i or E_i K_i, in each
        slot from the arrival on.
    prices : mapping
        p_h^r by (machine, resource); what is left out costs 1.
    residuals : mapping
        C^_h^r by (machine, resource); what is left out is all of C_h^r.
    """

    job: str | None
    workload: float | Fraction | None
    prices: Amounts | None
    residuals: Amounts | None


DATA = {
    "job": "the first job",
    "workload": "an equal share of the job's work in each slot",
    "prices": "1 for every machine and resource",
    "residuals": "the machines' capacities",
}
"""What is used where one of these is left out."""


@dataclass(frozen=True, slots=True)
class SlotPlacement:
    """Where one job has its workers and servers in one slot, and what that costs.

    Attributes
    ----------
    job : str
    placement : mapping of str to (int, int)
        Machine to (workers, servers), the machines without either left out.
    cost : float
        Sum of the prices of what they use, which is the objective.

    Examples
    --------
    >>> from dlsched.models import build, dmlrs, read, solve
    >>> instance = dmlrs.random(0)
    >>> model = build("dmlrs/internal-slot", instance, job="job3")
    >>> _ = solve(model)
    >>> read(model, instance)
    SlotPlacement(job='job3', placement={'machine1': (2, 1)}, cost=2.0)
    """

    job: str
    placement: Placement
    cost: float


def chosen_job(instance: Instance, formulation: str, name: str | None, kind: type[J]) -> J:
    """Return the job of a name, or the first, of the paper that a formulation states.

    Raises
    ------
    InputError
        If there is none, or the jobs are of the other paper.
    """
    (synchronous if kind is Job else asynchronous)(instance, formulation)
    found = job_or_first(instance.jobs, name)
    assert isinstance(found, kind)
    return found


def _begin(
    instance: Instance,
    name: str,
    kind: type[J],
    *,
    job: str | None = None,
    prices: Amounts | None = None,
    residuals: Amounts | None = None,
) -> tuple[Any, J]:
    """Return a model of one job in one slot, with its workers and servers, and the job.

    Their bounds, the most workers and what servers these need, cut off no optimum of the relaxation: how many fit on a
    machine is left to the capacity rows, as rounded down it would.
    """
    chosen = chosen_job(instance, name, job, kind)
    m = pyo.ConcreteModel(name=name)
    m.job = chosen.name
    places = [(h.name, r) for h in instance.machines for r in instance.resources]
    room = {(h.name, r): h.capacity_of(r) for h in instance.machines for r in instance.resources}
    price = filled("prices", prices, dict.fromkeys(places, Fraction(1)), "a machine and a resource")
    left = filled("residuals", residuals, room, "a machine and a resource")
    needed = [r for r in instance.resources if chosen.worker_needs(r) or chosen.server_needs(r)]
    m.H = pyo.Set(initialize=[h.name for h in instance.machines], doc="machines")
    m.R = pyo.Set(initialize=needed, doc="resources needed")
    m.HR = pyo.Set(initialize=[hr for hr in places if hr[1] in needed], dimen=2, doc="machines, resources needed")
    declare(m, "worker_needs", (m.R,), {r: chosen.worker_needs(r) for r in needed}, WORKER)
    declare(m, "server_needs", (m.R,), {r: chosen.server_needs(r) for r in needed}, SERVER)
    declare(m, "price", (m.HR,), {hr: price[hr] for hr in m.HR}, PRICE, follows=True)
    declare(m, "residual", (m.HR,), {hr: left[hr] for hr in m.HR}, LEFT, within=pyo.NonNegativeReals, follows=True)
    whole = pyo.NonNegativeIntegers
    m.workers = pyo.Var(m.H, domain=whole, bounds=(0, chosen.most_workers), doc="w_ih, workers")
    m.servers = pyo.Var(m.H, domain=whole, bounds=(0, servers_needed(chosen)), doc="s_ih, servers")
    return m, chosen


def _working(
    instance: Instance, name: str, kind: type[J], *, workload: float | Fraction | None = None, **data: Any
) -> tuple[Any, J, Fraction]:
    """Return such a model, the job, and what is to be done of it in the slot."""
    m, chosen = _begin(instance, name, kind, **data)
    unit, work = ("samples", chosen.work) if isinstance(chosen, Job) else ("chunks", chosen.epochs * chosen.chunks)
    done = share(instance, chosen, workload, work)
    declare(m, "workload", (), {None: done}, f"v, work to do in the slot [{unit}]")
    return m, chosen, done


def share(instance: Instance, job: Job | AsyncJob, workload: float | Fraction | None, work: Fraction) -> Fraction:
    """Return what is to be done in the slot: by default an equal share of the work in each slot from the arrival on.

    Raises
    ------
    InputError
        If the workload is negative or no finite number.
    """
    if workload is None:
        return work / (instance.slots - job.arrival + 1)
    given = amount("workload", workload)
    not_negative(workload=given)
    return given


def _pay(m: Any, cost: str, capacity: str) -> None:
    """Add the cost of what is used, and the rows that it fits; the papers' numbers of both."""
    m.cost = pyo.Objective(
        expr=sum(m.price[h, r] * _uses(m, h, r) for h, r in m.HR), sense=pyo.minimize, doc=f"{cost} cost"
    )
    m.capacity = pyo.Constraint(
        m.HR, rule=lambda m, h, r: _uses(m, h, r) <= m.residual[h, r], doc=f"{capacity} residual capacity"
    )


def _uses(m: Any, h: str, r: str) -> Any:
    """Return what is used of a resource of a machine, as an expression in the model's variables."""
    return m.worker_needs[r] * m.workers[h] + m.server_needs[r] * m.servers[h]


def read(model: Any, instance: Instance) -> SlotPlacement:
    """Return the placement of a solved model; its `cost` is what the objective says."""
    counts = {h: (round(model.workers[h].value), round(model.servers[h].value)) for h in model.H}
    placement = {h: both for h, both in counts.items() if any(both)}
    job = instance.job(model.job)
    used = ((h, r, uses) for h, both in placement.items() for r, uses in job.uses(*both).items())
    return SlotPlacement(model.job, placement, sum(model.price[h, r].value * float(uses) for h, r, uses in used))


def build_external(instance: Instance, **data: Unpack[SlotData]) -> pyo.ConcreteModel:
    """Return (23)-(26) with a row for the servers.

    Parameters
    ----------
    instance : Instance
    **data
        As `SlotData` says.

    References
    ----------
    PD-ORS, (23)-(26), corrected: the print forgets the servers.
    """
    m, chosen = _journal(instance, "dmlrs/external-slot", **data)
    declare(m, "gamma", (), {None: chosen.workers_per_server}, GAMMA)
    m.enough_servers = pyo.Constraint(
        expr=m.gamma * sum(m.servers.values()) >= sum(m.workers.values()),
        doc="(2) corrected: servers for the workers, which (23)-(26) forget",
    )
    return m


def build_external_printed(instance: Instance, **data: Unpack[SlotData]) -> pyo.ConcreteModel:
    """Return (23)-(26) as printed, in which no server is needed.

    Parameters are those of `build_external`.

    References
    ----------
    PD-ORS, (23)-(26), as printed.
    """
    return _journal(instance, "dmlrs/external-slot-printed", **data)[0]


def _journal(instance: Instance, name: str, **data: Unpack[SlotData]) -> tuple[Any, Job]:
    m, chosen, done = _working(instance, name, Job, **data)
    _pay(m, "(23)", "(24)")
    m.most = pyo.Constraint(expr=sum(m.workers.values()) <= chosen.most_workers, doc="(25) at most F_i workers")
    m.work = pyo.Constraint(
        expr=sum(m.workers.values()) >= float(done * chosen.external_time), doc="(26) workers for the workload"
    )
    return m, chosen


def build_async(instance: Instance, **data: Unpack[SlotData]) -> pyo.ConcreteModel:
    """Return (3.22)-(3.25) with (3.2), (3.4) and (3.5).

    Parameters are those of `build_external`; the workload is in chunks, by default a share of E_i K_i.

    References
    ----------
    PD-ORS thesis, (3.22)-(3.25), corrected.
    """
    m, chosen = _thesis(instance, "dmlrs/async-external-slot", **data)
    m.hub = pyo.Var(m.H, domain=pyo.Binary, doc="1 where the servers are")
    m.beside = pyo.Var(m.H, domain=pyo.NonNegativeIntegers, doc="workers beside the servers")
    declare(m, "internal_load", (), {None: chosen.internal_rate / chosen.server_rate}, INTERNAL_LOAD)
    declare(m, "external_load", (), {None: chosen.external_rate / chosen.server_rate}, EXTERNAL_LOAD)
    m.most = pyo.Constraint(expr=sum(m.workers.values()) <= chosen.most_workers, doc="(3.2) at most K_i workers")
    m.one_hub = pyo.Constraint(expr=sum(m.hub.values()) == 1, doc="(3.4) corrected: servers on one machine")
    m.servers_only = pyo.Constraint(
        m.H, rule=lambda m, h: m.servers[h] <= m.servers[h].ub * m.hub[h], doc="(3.4) corrected: no server elsewhere"
    )
    m.beside_servers = pyo.Constraint(
        m.H,
        rule=lambda m, h: m.beside[h] <= m.workers[h].ub * m.hub[h],
        doc="(3.4) corrected: no worker beside servers elsewhere",
    )
    m.beside_workers = pyo.Constraint(
        m.H, rule=lambda m, h: m.beside[h] <= m.workers[h], doc="(3.4) corrected: no more than workers"
    )
    m.all_beside = pyo.Constraint(
        m.H,
        rule=lambda m, h: m.beside[h] >= m.workers[h] - m.workers[h].ub * (1 - m.hub[h]),
        doc="(3.4) corrected: all workers there",
    )
    m.server_load = pyo.Constraint(
        expr=m.internal_load * sum(m.beside.values())
        + m.external_load * (sum(m.workers.values()) - sum(m.beside.values()))
        <= sum(m.servers.values()),
        doc="(3.4) servers bear their workers",
    )
    m.fewer_servers = pyo.Constraint(
        expr=sum(m.servers.values()) <= sum(m.workers.values()), doc="(3.5) no more servers than workers"
    )
    return m


def build_async_printed(instance: Instance, **data: Unpack[SlotData]) -> pyo.ConcreteModel:
    """Return (3.22)-(3.25) as printed, without (3.2), (3.4) and (3.5).

    Parameters are those of `build_async`.

    References
    ----------
    PD-ORS thesis, (3.22)-(3.25), as printed, with the m_w of the text: that of Algorithm 4 is v M tau.
    """
    return _thesis(instance, "dmlrs/async-external-slot-printed", **data)[0]


def _thesis(instance: Instance, name: str, **data: Unpack[SlotData]) -> tuple[Any, AsyncJob]:
    m, chosen, done = _working(instance, name, AsyncJob, **data)
    workers = math.ceil(done * chosen.minibatches_per_chunk * chosen.external_time)
    servers = math.ceil(workers * chosen.external_rate / chosen.server_rate)
    for h in m.H:
        m.workers[h].setub(max(chosen.most_workers, workers))
        m.servers[h].setub(max(m.servers[h].ub, servers))
    declare(m, "workers_needed", (), {None: workers}, "m_w, workers for the workload [workers]")
    declare(m, "servers_needed", (), {None: servers}, "m_p, servers for them [servers]")
    _pay(m, "(3.22)", "(3.23)")
    m.work = pyo.Constraint(expr=sum(m.workers.values()) >= workers, doc="(3.24) workers for the workload")
    m.enough = pyo.Constraint(expr=sum(m.servers.values()) >= servers, doc="(3.25) servers for the workers")
    return m, chosen


def build_internal(instance: Instance, **data: Unpack[SlotData]) -> pyo.ConcreteModel:
    """Return (22) with the workload (20), on one machine.

    Parameters
    ----------
    instance : Instance
    **data
        As `SlotData` says.

    References
    ----------
    PD-ORS, Section 4.3, Case 1.
    """
    m, chosen, done = _working(instance, "dmlrs/internal-slot", Job, **data)
    declare(m, "gamma", (), {None: chosen.workers_per_server}, GAMMA)
    m.here = pyo.Var(m.H, domain=pyo.Binary, doc="1 where the workers and servers are")
    _pay(m, "(22)", "(22)")
    m.one = pyo.Constraint(expr=sum(m.here.values()) == 1, doc="(22) one machine, P = W = {h}")
    m.most = pyo.Constraint(
        m.H, rule=lambda m, h: m.workers[h] <= chosen.most_workers * m.here[h], doc="(4) at most F_i workers, there"
    )
    m.servers_there = pyo.Constraint(
        m.H, rule=lambda m, h: m.servers[h] <= m.servers[h].ub * m.here[h], doc="(22) no server elsewhere"
    )
    m.enough_servers = pyo.Constraint(
        m.H,
        rule=lambda m, h: m.gamma * m.servers[h] >= m.workers[h],
        doc="(2) corrected: at most gamma workers a server",
    )
    m.work = pyo.Constraint(
        expr=sum(m.workers.values()) >= float(done * chosen.internal_time), doc="(20) workers for the workload"
    )
    return m


def build_internal_printed(
    instance: Instance, job: str | None = None, prices: Amounts | None = None, residuals: Amounts | None = None
) -> pyo.ConcreteModel:
    """Return (22) as printed, for all machines and resources; its least cost is 0.

    Parameters are those of `build_internal`, without a workload.

    References
    ----------
    PD-ORS, (22), as printed.
    """
    m, chosen = _begin(instance, "dmlrs/internal-slot-printed", Job, job=job, prices=prices, residuals=residuals)
    m.del_component(m.workers)
    gamma = chosen.workers_per_server
    declare(m, "gamma", (), {None: gamma}, GAMMA)
    m.cost = pyo.Objective(
        expr=sum(m.price[h, r] * _bundle(m, h, r) for h, r in m.HR), sense=pyo.minimize, doc="(22) cost"
    )
    m.capacity = pyo.Constraint(
        m.HR, rule=lambda m, h, r: _bundle(m, h, r) <= m.residual[h, r], doc="(22) residual capacity"
    )
    m.most = pyo.Constraint(
        m.H, rule=lambda m, h: m.gamma * m.servers[h] <= chosen.most_workers, doc="(4) at most F_i workers"
    )
    return m


def _bundle(m: Any, h: str, r: str) -> Any:
    return m.servers[h] * (m.worker_needs[r] * m.gamma + m.server_needs[r])


def read_internal_printed(model: Any, instance: Instance) -> SlotPlacement:
    """Return the servers of a solved model with what they let work, in whole workers, and what the objective says."""
    job = instance.job(model.job)
    assert isinstance(job, Job)
    servers = {h: round(model.servers[h].value) for h in model.H}
    cost = sum(
        model.price[h, r].value * servers[h] * float(job.worker_needs(r) * job.workers_per_server + job.server_needs(r))
        for h, r in model.HR
    )
    placement = {h: (math.floor(n * job.workers_per_server), n) for h, n in servers.items() if n}
    return SlotPlacement(job.name, placement, cost)


EXTERNAL_SLOT = Formulation(
    "dmlrs/external-slot",
    Instance,
    "the cheapest workers and servers of one job in one slot, on any machines, with the row that the print forgets",
    ("(2)", "(23)", "(24)", "(25)", "(26)"),
    Kind.SUBPROBLEM,
    build_external,
    read,
    data=DATA,
)

EXTERNAL_SLOT_PRINTED = Formulation(
    "dmlrs/external-slot-printed",
    Instance,
    "the same as printed: no row asks for servers",
    ("(23)", "(24)", "(25)", "(26)"),
    Kind.SUBPROBLEM,
    build_external_printed,
    read,
    data=DATA,
)

ASYNC_EXTERNAL_SLOT = Formulation(
    "dmlrs/async-external-slot",
    Instance,
    "the thesis's cheapest workers of one job in one slot, and its servers on another machine, with the rows forgotten",
    ("(3.2)", "(3.4)", "(3.5)", "(3.22)", "(3.23)", "(3.24)", "(3.25)"),
    Kind.SUBPROBLEM,
    build_async,
    read,
    data=DATA,
)

ASYNC_EXTERNAL_SLOT_PRINTED = Formulation(
    "dmlrs/async-external-slot-printed",
    Instance,
    "the same as printed: no limit of workers, and servers anywhere",
    ("(3.22)", "(3.23)", "(3.24)", "(3.25)"),
    Kind.SUBPROBLEM,
    build_async_printed,
    read,
    data=DATA,
)

INTERNAL_SLOT = Formulation(
    "dmlrs/internal-slot",
    Instance,
    "the cheapest machine for the workers and servers of one job in one slot",
    ("(2)", "(4)", "(20)", "(22)"),
    Kind.SUBPROBLEM,
    build_internal,
    read,
    data=DATA,
)

INTERNAL_SLOT_PRINTED = Formulation(
    "dmlrs/internal-slot-printed",
    Instance,
    "(22) as printed: no row asks for workers",
    ("(4)", "(22)"),
    Kind.SUBPROBLEM,
    build_internal_printed,
    read_internal_printed,
    data={name: said for name, said in DATA.items() if name != "workload"},
)
