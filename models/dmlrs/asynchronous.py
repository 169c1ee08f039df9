"""The thesis's DMLRS, (3.1)-(3.7), as a generalised disjunctive program: idle, or all servers on one machine.

Symbols: w_ih[t] `workers`, s_ih[t] `servers`, `batches` mini-batches done in a slot, kappa_I and kappa_E slots per
mini-batch and worker, b^(i) and b^(e) data rates, B_i rate of a server, K_i chunks.

No slot needs servers on two machines. Let servers stand on the machines of P and sum (3.4) over them:
B sum_p s_p >= sum_p (b^(e) W + (b^(i) - b^(e)) w_p), so some p in P alone has B s_p >= b^(e) W + (b^(i) - b^(e)) w_p.
Keeping only the servers of p keeps (3.3), (3.4) and (3.5), and no worker is slower in (3.1): the minimum is over fewer
servers. Then a worker on p works at the internal rate and all others at the external one, whichever is the larger.
"""

from __future__ import annotations

from typing import Any

from dlsched.lazy import gdp, pyo
from dlsched.models.dmlrs.compact import last, most
from dlsched.models.dmlrs.frame import asynchronous, completions, frame, loads, read
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.formulation import Formulation, Kind


def build(instance: Instance) -> pyo.ConcreteModel:
    """Return the thesis's DMLRS as a generalised disjunctive program.

    Raises
    ------
    InputError
        If the jobs are synchronous.

    References
    ----------
    PD-ORS thesis, (3.1)-(3.7). Its Fact 1, that a worker is internal only where all workers and servers share
    one machine, is false and not used.
    """
    asynchronous(instance, "dmlrs/async")
    m = frame(instance, "DMLRS, asynchronous", capacity="(3.3)", arrival="(3.7)")
    m.machines = [machine.name for machine in instance.machines]
    loads(m, instance)
    m.batches = pyo.Var(m.IT, bounds=_most_batches, doc="mini-batches done in a slot, as a share of E_i K_i M_i")
    m.idle = gdp.Disjunct(m.IT, rule=_idle, doc="(3.1) no worker, no server")
    m.hub = gdp.Disjunct(m.placed, rule=_hub, doc="(3.1) all servers on one machine")
    m.mode = gdp.Disjunction(
        m.IT,
        rule=lambda m, i, t: [m.idle[i, t], *(m.hub[i, t, h] for h in m.machines)],
        doc="(3.1) idle, or which machine has the servers",
    )
    _constraints(m)
    completions(m)
    return m


def _most_batches(m: Any, i: str, t: int) -> tuple[float, float]:
    return 0, max(m.internal_share[i], m.external_share[i]) * m.most_workers[i]


def _idle(disjunct: Any, i: str, t: int) -> None:
    m = disjunct.model()
    everything = sum(m.workers[i, t, h] + m.servers[i, t, h] for h in m.machines)
    disjunct.nothing = pyo.Constraint(expr=everything == 0, doc="(3.1) no worker and no server")
    disjunct.rate = pyo.Constraint(expr=m.batches[i, t] <= 0, doc="(3.1) no mini-batches")


def _hub(disjunct: Any, i: str, t: int, h: str) -> None:
    m = disjunct.model()
    others = [p for p in m.machines if p != h]
    spokes = sum(m.workers[i, t, p] for p in others)
    if others:
        disjunct.elsewhere = pyo.Constraint(
            expr=sum(m.servers[i, t, p] for p in others) <= 0, doc="(3.1) no server elsewhere"
        )
    disjunct.rate = pyo.Constraint(
        expr=m.batches[i, t] <= m.internal_share[i] * m.workers[i, t, h] + m.external_share[i] * spokes,
        doc="(3.1) each worker at its own rate",
    )
    load = m.internal_load[i] * m.workers[i, t, h]
    load += m.external_load[i] * spokes
    disjunct.server_load = pyo.Constraint(expr=load <= m.servers[i, t, h], doc="(3.4) servers bear their workers")


def _constraints(m: Any) -> None:
    m.work = pyo.Constraint(
        m.I,
        rule=lambda m, i: sum(m.batches[i, t] for t in m.slots_of[i]) >= sum(m.completion[i, t] for t in m.slots_of[i]),
        doc="(3.1) an admitted job does all its mini-batches",
    )
    m.most = pyo.Constraint(m.IT, rule=most, doc="(3.2) at most K_i workers in a slot")
    m.fewer_servers = pyo.Constraint(
        m.IT,
        rule=lambda m, i, t: sum(m.servers[i, t, h] for h in m.machines) <= sum(m.workers[i, t, h] for h in m.machines),
        doc="(3.5) no more servers than workers",
    )
    m.last = pyo.Constraint(m.IT, rule=last, doc="(3.6) no worker after the completion slot")


ASYNC = Formulation(
    "dmlrs/async",
    Instance,
    "DMLRS of the thesis: idle, or all servers on one machine, per job and slot",
    ("(3.1)", "(3.2)", "(3.3)", "(3.4)", "(3.5)", "(3.6)", "(3.7)"),
    Kind.EXACT,
    build,
    read,
    disjunctive=True,
)
