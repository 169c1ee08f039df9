"""The internal problem of one job and slot, (22): the cheapest machine for all workers and servers.

Symbols: w_ih `workers`, s_ih `servers`, v samples to do, kappa_I slots per sample and worker, gamma_i workers a server.

The print decouples (19) by leaving out the workload (20), so that the optimum of (22) is nothing at all, as it says
itself; with workers = gamma servers its only variables are the servers: `dmlrs/internal-slot-printed`. What it goes on
to do, v kappa_I workers and their servers on the cheapest machine that has room, is `dmlrs/internal-slot`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dlsched.lazy import pyo
from dlsched.models.dmlrs.frame import GAMMA
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.job import Job
from dlsched.models.dmlrs.priced import DATA, Amounts, SlotPlacement, begin, pay, read, share
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.parameters import declare


def build(
    instance: Instance,
    job: str | None = None,
    workload: float | Fraction | None = None,
    prices: Amounts | None = None,
    residuals: Amounts | None = None,
) -> pyo.ConcreteModel:
    """Return (22) with the workload (20), on one machine.

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

    Source: PD-ORS, Section 4.3, Case 1.
    """
    m, chosen = begin(instance, "dmlrs/internal-slot", job, Job, prices, residuals)
    done = share(instance, chosen, workload, chosen.work)
    declare(m, "workload", (), {None: done}, "v, work to do in the slot [samples]")
    declare(m, "gamma", (), {None: chosen.workers_per_server}, GAMMA)
    m.here = pyo.Var(m.H, domain=pyo.Binary, doc="1 where the workers and servers are")
    pay(m, "(22)", "(22)")
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


def build_printed(
    instance: Instance, job: str | None = None, prices: Amounts | None = None, residuals: Amounts | None = None
) -> pyo.ConcreteModel:
    """Return (22) as printed, for all machines and resources; its least cost is 0.

    Parameters are those of `build`.

    Source: PD-ORS, (22), as printed.
    """
    m, chosen = begin(instance, "dmlrs/internal-slot-printed", job, Job, prices, residuals)
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


def read_printed(model: Any, instance: Instance) -> SlotPlacement:
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


INTERNAL_SLOT = Formulation(
    "dmlrs/internal-slot",
    Instance,
    "the cheapest machine for the workers and servers of one job in one slot",
    ("(2)", "(4)", "(20)", "(22)"),
    Kind.SUBPROBLEM,
    build,
    read,
    data=DATA,
)

INTERNAL_SLOT_PRINTED = Formulation(
    "dmlrs/internal-slot-printed",
    Instance,
    "(22) as printed: no row asks for workers",
    ("(4)", "(22)"),
    Kind.SUBPROBLEM,
    build_printed,
    read_printed,
    data={name: said for name, said in DATA.items() if name != "workload"},
)
