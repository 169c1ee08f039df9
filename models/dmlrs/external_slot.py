"""The external problem of one job and slot: the cheapest workers and servers on several machines.

(23)-(26) of the journal and (3.22)-(3.25) of the thesis. Symbols: w_ih `workers`, s_ih `servers`, v work to do, F_i or
K_i most workers, kappa_E slots per unit of work and worker, gamma_i workers per server, B_i rate of a server.

The journal has no row for the servers, so its optimum has none: `dmlrs/external-slot-printed`. `dmlrs/external-slot`
adds (2), servers >= workers / gamma. At an optimum of the LP relaxation the workers are exactly v kappa_E, so the row
may also be read as a cover row, servers >= v kappa_E / gamma; as such the rounding of Algorithm 4 needs it.

The thesis asks for m_p = ceil(m_w b^(e) / B) servers, which bear m_w workers if they share one machine, and forgets
(3.2) and (3.5): `dmlrs/async-external-slot-printed`. `dmlrs/async-external-slot` adds these, and puts the servers on
one machine without workers, as no slot needs more (`dlsched.models.dmlrs.asynchronous`); then (3.4) is a row.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dlsched.lazy import pyo
from dlsched.models.dmlrs.frame import GAMMA
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.job import AsyncJob, Job
from dlsched.models.dmlrs.priced import DATA, Amounts, begin, pay, read, share
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.parameters import declare


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
    m, chosen = _journal(instance, "dmlrs/external-slot", job, workload, prices, residuals)
    declare(m, "gamma", (), {None: chosen.workers_per_server}, GAMMA)
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
    return _journal(instance, "dmlrs/external-slot-printed", job, workload, prices, residuals)[0]


def _journal(
    instance: Instance,
    name: str,
    job: str | None,
    workload: float | Fraction | None,
    prices: Amounts | None,
    residuals: Amounts | None,
) -> tuple[Any, Job]:
    m, chosen = begin(instance, name, job, Job, prices, residuals)
    done = share(instance, chosen, workload, chosen.work)
    declare(m, "workload", (), {None: done}, "v, work to do in the slot [samples]")
    pay(m, "(23)", "(24)")
    m.most = pyo.Constraint(expr=sum(m.workers.values()) <= chosen.most_workers, doc="(25) at most F_i workers")
    m.work = pyo.Constraint(
        expr=sum(m.workers.values()) >= float(done * chosen.external_time), doc="(26) workers for the workload"
    )
    return m, chosen


def build_async(
    instance: Instance,
    job: str | None = None,
    workload: float | Fraction | None = None,
    prices: Amounts | None = None,
    residuals: Amounts | None = None,
) -> pyo.ConcreteModel:
    """Return (3.22)-(3.25) with (3.2), (3.4) and (3.5).

    Parameters are those of `build`, but for

    workload : number, optional
        v, chunks to do in the slot; by default an equal share of E_i K_i in each slot from the arrival on.

    Source: PD-ORS thesis, (3.22)-(3.25), corrected.
    """
    m, chosen = _thesis(instance, "dmlrs/async-external-slot", job, workload, prices, residuals)
    m.hub = pyo.Var(m.H, domain=pyo.Binary, doc="1 where the servers are")
    load = float(chosen.external_rate / chosen.server_rate)
    m.most = pyo.Constraint(expr=sum(m.workers.values()) <= chosen.most_workers, doc="(3.2) at most K_i workers")
    m.one_hub = pyo.Constraint(expr=sum(m.hub.values()) == 1, doc="(3.4) corrected: servers on one machine")
    m.servers_only = pyo.Constraint(
        m.H, rule=lambda m, h: m.servers[h] <= m.servers[h].ub * m.hub[h], doc="(3.4) corrected: no server elsewhere"
    )
    m.workers_only = pyo.Constraint(
        m.H,
        rule=lambda m, h: m.workers[h] <= m.workers[h].ub * (1 - m.hub[h]),
        doc="(3.4) corrected: workers elsewhere, at the external rate",
    )
    m.server_load = pyo.Constraint(
        expr=load * sum(m.workers.values()) <= sum(m.servers.values()), doc="(3.4) servers bear their workers"
    )
    m.fewer_servers = pyo.Constraint(
        expr=sum(m.servers.values()) <= sum(m.workers.values()), doc="(3.5) no more servers than workers"
    )
    return m


def build_async_printed(
    instance: Instance,
    job: str | None = None,
    workload: float | Fraction | None = None,
    prices: Amounts | None = None,
    residuals: Amounts | None = None,
) -> pyo.ConcreteModel:
    """Return (3.22)-(3.25) as printed, without (3.2), (3.4) and (3.5).

    Parameters are those of `build_async`.

    Source: PD-ORS thesis, (3.22)-(3.25), as printed, with the m_w of the text: that of Algorithm 4 is v M tau.
    """
    return _thesis(instance, "dmlrs/async-external-slot-printed", job, workload, prices, residuals)[0]


def _thesis(
    instance: Instance,
    name: str,
    job: str | None,
    workload: float | Fraction | None,
    prices: Amounts | None,
    residuals: Amounts | None,
) -> tuple[Any, AsyncJob]:
    m, chosen = begin(instance, name, job, AsyncJob, prices, residuals)
    done = share(instance, chosen, workload, chosen.epochs * chosen.chunks)
    workers = math.ceil(done * chosen.minibatches_per_chunk * chosen.external_time)
    servers = math.ceil(workers * chosen.external_rate / chosen.server_rate)
    for h in m.H:
        m.workers[h].setub(max(chosen.most_workers, workers))
        m.servers[h].setub(max(m.servers[h].ub, servers))
    declare(m, "workload", (), {None: done}, "v, work to do in the slot [chunks]")
    declare(m, "workers_needed", (), {None: workers}, "m_w, workers for the workload [workers]")
    declare(m, "servers_needed", (), {None: servers}, "m_p, servers for them [servers]")
    pay(m, "(3.22)", "(3.23)")
    m.work = pyo.Constraint(expr=sum(m.workers.values()) >= workers, doc="(3.24) workers for the workload")
    m.enough = pyo.Constraint(expr=sum(m.servers.values()) >= servers, doc="(3.25) servers for the workers")
    return m, chosen


EXTERNAL_SLOT = Formulation(
    "dmlrs/external-slot",
    Instance,
    "the cheapest workers and servers of one job in one slot, on any machines, with the row that the print forgets",
    ("(2)", "(23)", "(24)", "(25)", "(26)"),
    Kind.SUBPROBLEM,
    build,
    read,
    data=DATA,
)

EXTERNAL_SLOT_PRINTED = Formulation(
    "dmlrs/external-slot-printed",
    Instance,
    "the same as printed: no row asks for servers",
    ("(23)", "(24)", "(25)", "(26)"),
    Kind.SUBPROBLEM,
    build_printed,
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
