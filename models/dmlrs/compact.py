"""DMLRS (1)-(7) of the journal as a generalised disjunctive program: idle, internal or external, per job and slot.

Symbols: w_ih[t] `workers`, s_ih[t] `servers` (counts), `samples` done in a slot, t~_i one-hot in `completion`, x_i its
sum, kappa_I and kappa_E slots per sample and worker, V_i samples, F_i most workers, gamma_i workers per server.

(1), the minimum over all pairs of a worker and a server, is a choice (Fact 1): everything on one machine, at the
internal rate, or anywhere, at the external rate. Declaring a placement on one machine external only loses work.
Where a job's external rate is the larger one, Fact 1 fails and the choice is: anywhere, at the internal rate, or no
machine with both workers and servers, at the external rate. (6) needs one direction only: u_i is non-increasing, so
the label t~_i is never later than it must be.

(2) as printed, `dmlrs/compact-printed`, has workers = gamma servers, which whole numbers cannot have for every gamma;
corrected it is servers >= workers / gamma: `dlsched.models.dmlrs.job`.
"""

from __future__ import annotations

from typing import Any

from dlsched.lazy import gdp, pyo
from dlsched.models.dmlrs.frame import GAMMA, completions, frame, read, synchronous
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.job import Job
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.parameters import declare


def build(instance: Instance) -> pyo.ConcreteModel:
    """Return DMLRS as a generalised disjunctive program.

    Raises
    ------
    InputError
        If the jobs are asynchronous.

    References
    ----------
    PD-ORS, (1)-(7) and Fact 1, (2) corrected.
    """
    return _build(instance, "dmlrs/compact", literal=False)


def build_printed(instance: Instance) -> pyo.ConcreteModel:
    """Return the same with (2) as printed: gamma workers for each server in every slot, neither more nor fewer.

    Raises
    ------
    InputError
        If the jobs are asynchronous.

    References
    ----------
    PD-ORS, (1)-(7) and Fact 1.
    """
    return _build(instance, "dmlrs/compact-printed", literal=True)


def _build(instance: Instance, name: str, *, literal: bool) -> pyo.ConcreteModel:
    synchronous(instance, name)
    m = frame(instance, "DMLRS")
    modes(m, instance, literal=literal)
    m.work = pyo.Constraint(m.I, rule=_work, doc="(3) an admitted job does all its samples")
    m.most = pyo.Constraint(m.IT, rule=most, doc="(4) at most F_i workers in a slot")
    m.last = pyo.Constraint(m.IT, rule=last, doc="(6) no worker after the completion slot")
    completions(m)
    return m


def modes(m: Any, instance: Instance, *, literal: bool = False) -> None:
    """Add the samples done in each slot (1), by the choice of Fact 1, and the servers that the workers need (2).

    Parameters
    ----------
    m : ConcreteModel
        Begun by `dlsched.models.dmlrs.frame.placing`.
    instance : Instance
    literal : bool
        (2) as printed.
    """
    _sets(m, instance)
    m.samples = pyo.Var(
        m.IT,
        bounds=lambda m, i, t: (0, _fastest(m, i) * m.most_workers[i]),
        doc="samples done in a slot, as a share of V_i",
    )
    m.separated = pyo.Var(m.separable, domain=pyo.Binary, doc="1 where the machine has no server, 0 where no worker")
    m.idle = gdp.Disjunct(m.IT, rule=_idle, doc="(1) no worker, no server")
    m.internal = gdp.Disjunct(m.ITH, rule=_internal, doc="(1) all workers and servers on one machine")
    m.external = gdp.Disjunct(m.IT, rule=_external, doc="(1) workers and servers anywhere")
    m.apart = gdp.Disjunct(m.IT_apart, rule=_apart, doc="(1) no machine with both workers and servers")
    m.mode = gdp.Disjunction(m.IT, rule=_modes, doc="(1) idle, internal or external")
    if literal:
        m.ratio = pyo.Constraint(m.IT, rule=_ratio, doc="(2) gamma workers a server")
    else:
        m.enough_servers = pyo.Constraint(m.IT, rule=_enough, doc="(2) corrected: at most gamma workers a server")


def _sets(m: Any, instance: Instance) -> None:
    slow = {job.name for job in instance.jobs if job.internal_rate < job.external_rate}
    fast = {job.name for job in instance.jobs if job.internal_rate > job.external_rate}
    m.machines = [machine.name for machine in instance.machines]
    m.ITH = pyo.Set(
        initialize=((i, t, h) for i, t, h in m.placed if i in fast),
        dimen=3,
        doc="jobs that are faster on one machine, slots and machines",
    )
    m.IT_apart = pyo.Set(
        initialize=[(i, t) for i, t in m.IT if i in slow], dimen=2, doc="jobs that are faster between machines, slots"
    )
    m.separable = pyo.Set(
        initialize=((i, t, h) for i, t, h in m.placed if i in slow), dimen=3, doc="those jobs, slots and machines"
    )
    gamma = {job.name: job.workers_per_server for job in instance.jobs if isinstance(job, Job)}
    declare(m, "gamma", (m.I,), gamma, GAMMA)


def _fastest(m: Any, i: str) -> float:
    return float(max(m.internal_share[i], m.external_share[i]))


def _idle(disjunct: Any, i: str, t: int) -> None:
    m = disjunct.model()
    disjunct.nothing = pyo.Constraint(
        expr=total(m.workers, m, i, t) + total(m.servers, m, i, t) == 0, doc="(1) no worker and no server"
    )
    disjunct.rate = pyo.Constraint(expr=m.samples[i, t] <= 0, doc="(1) no samples")


def _internal(disjunct: Any, i: str, t: int, h: str) -> None:
    m = disjunct.model()
    others = [m.workers[i, t, p] + m.servers[i, t, p] for p in m.machines if p != h]
    if others:
        disjunct.elsewhere = pyo.Constraint(expr=sum(others) <= 0, doc="(1) P = W = {h}")
    disjunct.rate = pyo.Constraint(
        expr=m.samples[i, t] <= m.internal_share[i] * m.workers[i, t, h], doc="(1) samples at the internal rate"
    )


def _external(disjunct: Any, i: str, t: int) -> None:
    m = disjunct.model()
    slower = min(m.internal_share[i], m.external_share[i])
    disjunct.rate = pyo.Constraint(
        expr=m.samples[i, t] <= slower * total(m.workers, m, i, t), doc="(1) samples at the slower rate"
    )


def _apart(disjunct: Any, i: str, t: int) -> None:
    m = disjunct.model()
    disjunct.rate = pyo.Constraint(
        expr=m.samples[i, t] <= _fastest(m, i) * total(m.workers, m, i, t), doc="(1) samples at the external rate"
    )
    disjunct.workers_only = pyo.Constraint(
        m.machines,
        rule=lambda d, h: m.workers[i, t, h] <= m.workers[i, t, h].ub * m.separated[i, t, h],
        doc="(1) workers where no server is",
    )
    disjunct.servers_only = pyo.Constraint(
        m.machines,
        rule=lambda d, h: m.servers[i, t, h] <= m.servers[i, t, h].ub * (1 - m.separated[i, t, h]),
        doc="(1) servers where no worker is",
    )


def _modes(m: Any, i: str, t: int) -> Any:
    internal = [m.internal[i, t, h] for h in m.machines if (i, t, h) in m.ITH]
    apart = [m.apart[i, t]] if (i, t) in m.IT_apart else []
    return [m.idle[i, t], *internal, m.external[i, t], *apart]


def _ratio(m: Any, i: str, t: int) -> Any:
    return m.gamma[i] * total(m.servers, m, i, t) == total(m.workers, m, i, t)


def _enough(m: Any, i: str, t: int) -> Any:
    return m.gamma[i] * total(m.servers, m, i, t) >= total(m.workers, m, i, t)


def total(variable: Any, m: Any, i: str, t: int) -> Any:
    """Return the workers, or servers, of a job on all machines in a slot."""
    return sum(variable[i, t, h] for h in m.machines)


def _work(m: Any, i: str) -> Any:
    return sum(m.samples[i, t] for t in m.slots_of[i]) >= sum(m.completion[i, t] for t in m.slots_of[i])


def most(m: Any, i: str, t: int) -> Any:
    """Return the row that a job has at most so many workers in a slot, and none where it is not admitted."""
    return total(m.workers, m, i, t) <= m.most_workers[i] * sum(m.completion[i, q] for q in m.slots_of[i])


def last(m: Any, i: str, t: int) -> Any:
    """Return the row that a job is idle in a slot after its completion slot."""
    return 1 - m.idle[i, t].binary_indicator_var <= sum(m.completion[i, q] for q in range(t, m.slots_of[i].stop))


COMPACT = Formulation(
    "dmlrs/compact",
    Instance,
    "DMLRS of the journal: idle, internal or external, per job and slot",
    ("(1)", "(2)", "(3)", "(4)", "(5)", "(6)", "(7)"),
    Kind.EXACT,
    build,
    read,
    disjunctive=True,
)

COMPACT_PRINTED = Formulation(
    "dmlrs/compact-printed",
    Instance,
    "the same with (2) as printed, W = gamma S",
    ("(1)", "(2)", "(3)", "(4)", "(5)", "(6)", "(7)"),
    Kind.AS_PRINTED,
    build_printed,
    read,
    disjunctive=True,
)
