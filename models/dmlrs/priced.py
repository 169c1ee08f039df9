"""What the programs of one job in one slot at prices share: sets, prices, what is left of the machines, and the reader.

Symbols: w_ih `workers`, s_ih `servers`, p_h^r `price`, C^_h^r `residual`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from dlsched.lazy import pyo
from dlsched.models.dmlrs.frame import SERVER, WORKER, asynchronous, servers_needed, synchronous
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.job import AsyncJob, Job, Placement
from dlsched.models.parameters import declare

J = TypeVar("J", Job, AsyncJob)
K = TypeVar("K", bound=Hashable)

PRICE = "p_h^r, price of a unit [utility / resource]"
LEFT = "C^_h^r, residual capacity of the machine [resource]"

Amounts = Mapping[tuple[str, str], float | Fraction]
"""By (machine, resource)."""

DATA = {
    "job": "the first job",
    "workload": "an equal share of the job's work in each slot",
    "prices": "1 for every machine and resource",
    "residuals": "the machines' capacities",
}
"""What each of them takes beside an instance."""


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
    """

    job: str
    placement: Placement
    cost: float


def chosen_job(instance: Instance, name: str | None, kind: type[J]) -> J:
    """Return the job of a name, or the first.

    Raises
    ------
    ValueError
        If there is none.
    """
    for job in instance.jobs:
        if name in (None, job.name) and isinstance(job, kind):
            return job
    raise ValueError("the instance has no job" if name is None else f"job: {name!r} is not a job of the instance")


def filled(
    what: str, given: Mapping[K, float | Fraction] | None, default: Mapping[K, float], kind: str
) -> dict[K, float]:
    """Return amounts by place, by default where they are left out.

    Raises
    ------
    ValueError
        If a place is not among the default's, or an amount is negative.
    """
    result = dict(default)
    for place, amount in (given or {}).items():
        if place not in default:
            raise ValueError(f"{what}: {place} is not {kind} of the instance")
        if amount < 0:
            raise ValueError(f"{what}: {float(amount):g} at {place} must not be negative")
        result[place] = float(amount)
    return result


def begin(
    instance: Instance, name: str, job: str | None, kind: type[J], prices: Amounts | None, residuals: Amounts | None
) -> tuple[Any, J]:
    """Return a model of one job in one slot, with its workers and servers, and the job.

    Their bounds, the most workers and what servers these need, cut off no optimum of the relaxation: how many fit on a
    machine is left to the capacity rows, as rounded down it would.
    """
    (synchronous if kind is Job else asynchronous)(instance, name)
    m = pyo.ConcreteModel(name=name)
    chosen = chosen_job(instance, job, kind)
    m.job = chosen.name
    places = [(h.name, r) for h in instance.machines for r in instance.resources]
    room = {(h.name, r): float(h.capacity_of(r)) for h in instance.machines for r in instance.resources}
    price = filled("prices", prices, dict.fromkeys(places, 1.0), "a machine and a resource")
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


def share(instance: Instance, job: Job | AsyncJob, workload: float | Fraction | None, work: Fraction) -> Fraction:
    """Return what is to be done in the slot: by default an equal share of the work in each slot from the arrival on."""
    return work / (instance.slots - job.arrival + 1) if workload is None else Fraction(workload)


def pay(m: Any, cost: str, capacity: str) -> None:
    """Add the cost of what is used, and the rows that it fits; the papers' numbers of both."""
    m.cost = pyo.Objective(
        expr=sum(m.price[h, r] * uses(m, h, r) for h, r in m.HR), sense=pyo.minimize, doc=f"{cost} cost"
    )
    m.capacity = pyo.Constraint(
        m.HR, rule=lambda m, h, r: uses(m, h, r) <= m.residual[h, r], doc=f"{capacity} residual capacity"
    )


def uses(m: Any, h: str, r: str) -> Any:
    """Return what is used of a resource of a machine, as an expression in the model's variables."""
    return m.worker_needs[r] * m.workers[h] + m.server_needs[r] * m.servers[h]


def read(model: Any, instance: Instance) -> SlotPlacement:
    """Return the placement of a solved model; its `cost` is what the objective says."""
    counts = {h: (round(model.workers[h].value), round(model.servers[h].value)) for h in model.H}
    placement = {h: both for h, both in counts.items() if any(both)}
    job = instance.job(model.job)
    used = ((h, r, amount) for h, both in placement.items() for r, amount in job.uses(*both).items())
    return SlotPlacement(model.job, placement, sum(model.price[h, r].value * float(amount) for h, r, amount in used))
