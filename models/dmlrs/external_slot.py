"""The external problem of one job and slot, (23)-(26): the cheapest workers and servers on several machines.

Symbols: w_ih `workers`, s_ih `servers`, p_h^w and p_h^s prices of a worker and a server on a machine, v samples to do,
C^_h^r residual capacity, F_i most workers, kappa_E slots per sample and worker, gamma_i workers per server.

The print has no row for the servers, so its optimum has none: `dmlrs/external-slot-printed`. `dmlrs/external-slot` adds
servers >= workers / gamma. At an optimum of the LP relaxation the workers are exactly v kappa_E, so the row may also
be read as a cover row, servers >= v kappa_E / gamma; as such the rounding of Algorithm 4 needs it.

The variables' bounds, F and ceil(F / gamma), cut off no optimum of the relaxation: how many units fit on a machine is
left to (24), as rounded down it would.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlsched.lazy import pyo
from dlsched.models.dmlrs.frame import GAMMA, SERVER, WORKER, synchronous
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.job import Job, Placement
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.parameters import declare

_LEFT = "C^_h^r, residual capacity of the machine [resource]"

Amounts = Mapping[tuple[str, str], float | Fraction]
"""By (machine, resource)."""


def build(
    instance: Instance,
    job: str | None = None,
    workload: float | Fraction | None = None,
    prices: Amounts | None = None,
    residuals: Amounts | None = None,
) -> pyo.ConcreteModel:
    """Return (23)-(26) with a row for the servers.

    Parameters
    ----------
    instance : Instance
    job : str, optional
        By default the first.
    workload : number, optional
        v, samples to do in the slot; by default an equal share of V_i in each slot from the arrival on.
    prices : mapping, optional
        p_h^r by (machine, resource); what is left out costs 1.
    residuals : mapping, optional
        C^_h^r by (machine, resource); what is left out is all of C_h^r.

    Source: PD-ORS, (23)-(26), corrected: the print forgets the servers.
    """
    m = _frame(instance, "dmlrs/external-slot", job, workload, prices, residuals)
    declare(m, "gamma", (), {None: _job(instance, job).workers_per_server}, GAMMA)
    m.enough_servers = pyo.Constraint(
        expr=m.gamma * sum(m.servers.values()) >= sum(m.workers.values()),
        doc="(2) corrected: servers for the workers, which (23)-(26) forget",
    )
    return m


def build_printed(
    instance: Instance,
    job: str | None = None,
    workload: float | Fraction | None = None,
    prices: Amounts | None = None,
    residuals: Amounts | None = None,
) -> pyo.ConcreteModel:
    """Return (23)-(26) as printed, in which no server is needed.

    Parameters are those of `build`.

    Source: PD-ORS, (23)-(26), as printed.
    """
    return _frame(instance, "dmlrs/external-slot-printed", job, workload, prices, residuals)


def _frame(
    instance: Instance,
    name: str,
    job: str | None,
    workload: float | Fraction | None,
    prices: Amounts | None,
    residuals: Amounts | None,
) -> pyo.ConcreteModel:
    synchronous(instance, name)
    m = pyo.ConcreteModel(name="external problem of a slot")
    chosen = _job(instance, job)
    m.job = chosen.name
    room = {(h.name, r): float(h.capacity_of(r)) for h in instance.machines for r in instance.resources}
    price, residual = _filled("prices", prices, dict.fromkeys(room, 1.0)), _filled("residuals", residuals, room)
    done = chosen.work / (instance.slots - chosen.arrival + 1) if workload is None else Fraction(workload)
    needed = [r for r in instance.resources if chosen.worker_needs(r) or chosen.server_needs(r)]
    m.H = pyo.Set(initialize=[h.name for h in instance.machines], doc="machines")
    m.R = pyo.Set(initialize=needed, doc="resources needed")
    m.HR = pyo.Set(initialize=[(h, r) for h, r in room if r in needed], dimen=2, doc="machines, resources needed")
    declare(m, "worker_needs", (m.R,), {r: chosen.worker_needs(r) for r in needed}, WORKER)
    declare(m, "server_needs", (m.R,), {r: chosen.server_needs(r) for r in needed}, SERVER)
    declare(m, "workload", (), {None: done}, "v, work to do in the slot [samples]")
    price = {hr: price[hr] for hr in m.HR}
    residual = {hr: residual[hr] for hr in m.HR}
    declare(m, "price", (m.HR,), price, "p_h^r, price of a unit [utility / resource]", follows=True)
    declare(m, "residual", (m.HR,), residual, _LEFT, within=pyo.NonNegativeReals, follows=True)
    most_servers = chosen.servers_for(chosen.most_workers)
    m.workers = pyo.Var(m.H, domain=pyo.NonNegativeIntegers, bounds=(0, chosen.most_workers), doc="w_ih, workers")
    m.servers = pyo.Var(m.H, domain=pyo.NonNegativeIntegers, bounds=(0, most_servers), doc="s_ih, servers")
    m.cost = pyo.Objective(
        expr=sum(m.price[h, r] * _used(m, h, r) for h, r in m.HR), sense=pyo.minimize, doc="(23) cost"
    )
    m.capacity = pyo.Constraint(
        m.HR, rule=lambda m, h, r: _used(m, h, r) <= m.residual[h, r], doc="(24) residual capacity"
    )
    m.most = pyo.Constraint(expr=sum(m.workers.values()) <= chosen.most_workers, doc="(25) at most F_i workers")
    m.work = pyo.Constraint(
        expr=sum(m.workers.values()) >= float(done * chosen.external_time), doc="(26) workers for the workload"
    )
    return m


def _job(instance: Instance, name: str | None) -> Job:
    for job in instance.jobs:
        if name in (None, job.name) and isinstance(job, Job):
            return job
    raise ValueError("the instance has no job" if name is None else f"job: {name!r} is not a job of the instance")


def _filled(what: str, given: Amounts | None, default: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    result = dict(default)
    for place, amount in (given or {}).items():
        if place not in default:
            raise ValueError(f"{what}: {place} is not a machine and a resource of the instance")
        if amount < 0:
            raise ValueError(f"{what}: {float(amount):g} at {place} must not be negative")
        result[place] = float(amount)
    return result


def _used(m: Any, h: str, r: str) -> Any:
    return m.worker_needs[r] * m.workers[h] + m.server_needs[r] * m.servers[h]


@dataclass(frozen=True, slots=True)
class SlotPlacement:
    """Where one job has its workers and servers in one slot, and what that costs.

    Attributes
    ----------
    job : str
    placement : mapping of str to (int, int)
        Machine to (workers, servers), the machines without either left out.
    cost : float
        Sum of the prices of what they use, which is the objective (23).
    """

    job: str
    placement: Placement
    cost: float


def read(model: Any, instance: Instance) -> SlotPlacement:
    """Return the placement of a solved model; its `cost` is what the objective says.

    As printed it has no servers: no row asks for them.
    """
    counts = {h: (round(model.workers[h].value), round(model.servers[h].value)) for h in model.H}
    placement = {h: both for h, both in counts.items() if any(both)}
    job = instance.job(model.job)
    used = ((h, r, amount) for h, both in placement.items() for r, amount in job.uses(*both).items())
    return SlotPlacement(model.job, placement, sum(model.price[h, r].value * float(amount) for h, r, amount in used))


_DATA = {
    "job": "the first job",
    "workload": "an equal share of the job's work in each slot",
    "prices": "1 for every machine and resource",
    "residuals": "the machines' capacities",
}

EXTERNAL_SLOT = Formulation(
    "dmlrs/external-slot",
    Instance,
    "the cheapest workers and servers of one job in one slot, on any machines, with the row that the print forgets",
    ("(2)", "(23)", "(24)", "(25)", "(26)"),
    Kind.SUBPROBLEM,
    build,
    read,
    data=_DATA,
)

EXTERNAL_SLOT_PRINTED = Formulation(
    "dmlrs/external-slot-printed",
    Instance,
    "the same as printed: no row asks for servers",
    ("(23)", "(24)", "(25)", "(26)"),
    Kind.SUBPROBLEM,
    build_printed,
    read,
    data=_DATA,
)
