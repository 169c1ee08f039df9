"""DMLRS as a mixed-integer program over groups of machines: a home on one machine, or spread over all.

Symbols: `home` 1 where the job has its home in a group: in the journal all its workers and servers are on one machine
of the group, in the thesis all its servers (`home_workers`, `home_servers`); `spread_workers`, `spread_servers` what it
has beside that; kappa_I and kappa_E slots per unit of work and worker; V_i all work.

With each machine a group of its own (`build`) the program is exact. With identical machines summed (`build_summed`) it
is a relaxation: a home fits one machine, but what is spread, and the homes together, only fit the sum of the machines.
`dlsched.relaxations.aggregation` packs its solutions back onto machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dlsched.errors import InputError
from dlsched.lazy import pyo
from dlsched.models.dmlrs.frame import (
    GAMMA,
    ROOM,
    completions,
    finished,
    finishing,
    fitting,
    jobs,
    loads,
    servers_needed,
    worths,
)
from dlsched.models.dmlrs.instance import Group, Instance, identical, singletons
from dlsched.models.dmlrs.job import AsyncJob, Job
from dlsched.models.dmlrs.schedule import Schedule
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.parameters import declare

_FITTED = "the bounds of workers and servers, and what fits one machine, were derived from it"


def build(instance: Instance) -> pyo.ConcreteModel:
    """Return the exact program over single machines.

    Raises
    ------
    InputError
        If a job's external rate is above its internal rate.

    References
    ----------
    PD-ORS, (1)-(7) and Fact 1, for asynchronous jobs PD-ORS thesis, (3.1)-(3.7); see
    `dlsched.models.dmlrs.asynchronous` for why one machine has all servers.
    """
    return _build(instance, singletons(instance))


def build_summed(instance: Instance) -> pyo.ConcreteModel:
    """Return the relaxation in which identical machines are summed.

    Raises
    ------
    InputError
        If a job's external rate is above its internal rate.
    """
    return _build(instance, identical(instance))


def _build(instance: Instance, groups: tuple[Group, ...]) -> pyo.ConcreteModel:
    for job in instance.jobs:
        if job.external_rate > job.internal_rate:
            raise InputError(
                f"job {job.name}: its external rate is above its internal rate: use dmlrs/compact or async"
            )
    m = pyo.ConcreteModel(name="DMLRS over groups of machines")
    by_name = {group.name: group for group in groups}
    _sets(m, instance, by_name)
    _variables(m, instance, by_name)
    m.total_utility = pyo.Objective(
        expr=sum(m.utility[it] * m.completion[it] for it in m.IT), sense=pyo.maximize, doc="(DMLRS) total utility"
    )
    completions(m)
    _modes(m, instance, by_name)
    number = THESIS if instance.asynchronous else JOURNAL
    m.work = pyo.Constraint(m.I, rule=_work, doc=f"{number.work} an admitted job does all its work")
    m.capacity = pyo.Constraint(
        m.used,
        rule=lambda m, c, r, t: load(m, c, r, t) <= m.room[c, r],
        doc=f"{number.capacity} capacity of a group and resource",
    )
    each = {(c, r): float(group.model.capacity_of(r)) for c, group in by_name.items() for r in m.R}
    m.fits = pyo.Constraint(
        m.homely,
        rule=lambda m, i, t, c, r: _fits(m, each[c, r], i, t, c, r),
        doc=f"{number.capacity} a home fits one machine",
    )
    return m


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What a paper calls the rows that both have."""

    work: str
    most: str
    capacity: str
    last: str
    arrival: str


JOURNAL = _Numbers("(3)", "(4)", "(5)", "(6)", "(7)")
THESIS = _Numbers("(3.1)", "(3.2)", "(3.3)", "(3.6)", "(3.7)")


def _sets(m: Any, instance: Instance, groups: Mapping[str, Group]) -> None:
    arrival = (THESIS if instance.asynchronous else JOURNAL).arrival
    jobs(m, instance, arrival)
    worths(m, instance)
    m.C = pyo.Set(initialize=list(groups), doc="groups of machines")
    room = {(c, r): len(group) * group.model.capacity_of(r) for c, group in groups.items() for r in m.R}
    declare(m, "room", (m.C, m.R), room, ROOM, within=pyo.NonNegativeReals, why=_FITTED)
    homes = [(job.name, c) for job in instance.jobs for c, group in groups.items() if has_home(job, group)]
    needed = {
        job.name: [r for r in instance.resources if job.worker_needs(r) or job.server_needs(r)] for job in instance.jobs
    }
    m.ITC = pyo.Set(
        initialize=((i, t, c) for i, own in m.slots_of.items() for t in own for c in groups),
        dimen=3,
        doc=f"{arrival} jobs, slots from their arrival on, groups",
    )
    m.home_at = pyo.Set(
        initialize=((i, t, c) for i, c in homes for t in m.slots_of[i]),
        dimen=3,
        doc="jobs, slots and the groups on whose machines a worker and a server fit",
    )
    m.homely = pyo.Set(
        initialize=((i, t, c, r) for i, c in homes for t in m.slots_of[i] for r in needed[i]),
        dimen=4,
        doc="those, and the resources needed",
    )
    m.used = pyo.Set(
        initialize=[(c, r, t) for t in range(1, instance.slots + 1) for c, r in room if m.users[r, t]],
        dimen=3,
        doc="groups, resources and slots that jobs could use",
    )
    m.homes_of = {it: [c for i, c in homes if i == it[0]] for it in m.IT}


def has_home(job: Job | AsyncJob, group: Group) -> bool:
    """Tell whether one machine of a group has room for the least home of a job.

    In the journal that is a worker and its servers, on a job that is faster so; in the thesis a server alone.
    """
    if isinstance(job, AsyncJob):
        needed = job.uses(0, 1)
    elif job.internal_rate > job.external_rate:
        needed = job.uses(1, job.servers_for(1))
    else:
        return False
    return all(amount <= group.model.capacity_of(r) for r, amount in needed.items())


def _variables(m: Any, instance: Instance, groups: Mapping[str, Group]) -> None:
    whole = pyo.NonNegativeIntegers
    journal = not instance.asynchronous
    servers = {job.name: servers_needed(job) for job in instance.jobs}
    most = {
        (job.name, c): (
            min(job.most_workers, fitting(group.model, job.worker, job.most_workers)),
            min(servers[job.name], fitting(group.model, job.server, servers[job.name])),
        )
        for job in instance.jobs
        for c, group in groups.items()
    }

    def _home(k: int) -> Any:
        return lambda m, i, t, c: (0, most[i, c][k])

    def _spread(k: int) -> Any:
        limit = (m.most_workers, servers)[k]
        return lambda m, i, t, c: (0, min(limit[i], most[i, c][k] * len(groups[c])))

    m.completion = pyo.Var(m.IT, domain=pyo.Binary, doc="1 where the job's completion slot t~_i is t")
    m.home = pyo.Var(m.home_at, domain=pyo.Binary, doc="1 where the job has its home in the group")
    m.home_workers = pyo.Var(m.home_at, domain=whole, bounds=_home(0), doc="workers at home")
    m.home_servers = pyo.Var(m.home_at, domain=whole, bounds=_home(1), doc="servers at home")
    m.spread_workers = pyo.Var(m.ITC, domain=whole, bounds=_spread(0), doc="workers elsewhere")
    m.spread_servers = pyo.Var(
        m.ITC if journal else [], domain=whole, bounds=_spread(1), doc="servers elsewhere (journal)"
    )
    m.external = pyo.Var(
        m.IT if journal else [], domain=pyo.Binary, doc="1 where workers and servers are spread (journal)"
    )


def _modes(m: Any, instance: Instance, groups: Mapping[str, Group]) -> None:
    number = THESIS if instance.asynchronous else JOURNAL
    m.last = pyo.Constraint(m.IT, rule=_last, doc=f"{number.last} one mode, none after the completion slot")
    m.home_most = pyo.Constraint(m.home_at, rule=_home_most, doc=f"{number.most} workers at home")
    m.spread_most = pyo.Constraint(m.IT, rule=_spread_most, doc=f"{number.most} workers elsewhere")
    if not instance.asynchronous:
        gamma = {job.name: job.workers_per_server for job in instance.jobs if isinstance(job, Job)}
        declare(m, "gamma", (m.I,), gamma, GAMMA)
        m.home_enough = pyo.Constraint(m.home_at, rule=_home_enough, doc="(2) corrected: servers at home")
        m.spread_enough = pyo.Constraint(m.IT, rule=_spread_enough, doc="(2) corrected: servers elsewhere")
    else:
        loads(m, instance)
        m.all_workers = pyo.Constraint(m.IT, rule=_all_workers, doc="(3.2) at most K_i workers")
        m.server_load = pyo.Constraint(m.IT, rule=_load, doc="(3.4) servers bear their workers")
        m.fewer_servers = pyo.Constraint(m.IT, rule=_fewer_servers, doc="(3.5) no more servers than workers")
        m.away = pyo.Constraint(
            [itc for itc in m.home_at if len(groups[itc[2]]) == 1],
            rule=_away,
            doc="(3.4) a worker on the servers' machine is at home",
        )
    speed = "(3.1)" if instance.asynchronous else "(1)"
    m.home_servers_only = pyo.Constraint(
        m.home_at, rule=_home_servers_only, doc=f"{speed} servers at home only where it is"
    )


def _homes(m: Any, variable: Any, i: str, t: int) -> Any:
    return sum(variable[i, t, c] for c in m.homes_of[i, t])


def _spread(m: Any, variable: Any, i: str, t: int) -> Any:
    return sum(variable[i, t, c] for c in m.C)


def _last(m: Any, i: str, t: int) -> Any:
    external = [m.external[i, t]] if (i, t) in m.external else []
    return _homes(m, m.home, i, t) + sum(external) <= sum(m.completion[i, q] for q in range(t, m.slots_of[i].stop))


def _home_most(m: Any, i: str, t: int, c: str) -> Any:
    return m.home_workers[i, t, c] <= min(m.home_workers[i, t, c].ub, m.most_workers[i]) * m.home[i, t, c]


def _home_servers_only(m: Any, i: str, t: int, c: str) -> Any:
    return m.home_servers[i, t, c] <= m.home_servers[i, t, c].ub * m.home[i, t, c]


def _spread_most(m: Any, i: str, t: int) -> Any:
    on = m.external[i, t] if (i, t) in m.external else _homes(m, m.home, i, t)
    return _spread(m, m.spread_workers, i, t) <= m.most_workers[i] * on


def _home_enough(m: Any, i: str, t: int, c: str) -> Any:
    return m.gamma[i] * m.home_servers[i, t, c] >= m.home_workers[i, t, c]


def _spread_enough(m: Any, i: str, t: int) -> Any:
    servers = _spread(m, m.spread_servers, i, t)
    return m.gamma[i] * servers >= _spread(m, m.spread_workers, i, t)


def _all_workers(m: Any, i: str, t: int) -> Any:
    workers = _homes(m, m.home_workers, i, t) + _spread(m, m.spread_workers, i, t)
    return workers <= m.most_workers[i]


def _load(m: Any, i: str, t: int) -> Any:
    inside = m.internal_load[i] * _homes(m, m.home_workers, i, t)
    outside = m.external_load[i] * _spread(m, m.spread_workers, i, t)
    return inside + outside <= _homes(m, m.home_servers, i, t)


def _away(m: Any, i: str, t: int, c: str) -> Any:
    return m.spread_workers[i, t, c] <= m.spread_workers[i, t, c].ub * (1 - m.home[i, t, c])


def _fewer_servers(m: Any, i: str, t: int) -> Any:
    workers = _homes(m, m.home_workers, i, t) + _spread(m, m.spread_workers, i, t)
    return _homes(m, m.home_servers, i, t) <= workers


def _work(m: Any, i: str) -> Any:
    inside, outside = m.internal_share[i], m.external_share[i]
    done = sum(
        inside * _homes(m, m.home_workers, i, t) + outside * _spread(m, m.spread_workers, i, t) for t in m.slots_of[i]
    )
    return done >= sum(m.completion[i, t] for t in m.slots_of[i])


def load(m: Any, c: str, r: str, t: int) -> Any:
    """Return what jobs use of a resource of a group in a slot, as an expression in the model's variables."""
    return sum(_used(m, i, t, c, r) for i in m.users[r, t])


def _used(m: Any, i: str, t: int, c: str, r: str) -> Any:
    worker, server = m.worker_needs[i, r], m.server_needs[i, r]
    amount = worker * m.spread_workers[i, t, c]
    if (i, t, c) in m.spread_servers:
        amount += server * m.spread_servers[i, t, c]
    if (i, t, c) in m.home_at:
        amount += worker * m.home_workers[i, t, c] + server * m.home_servers[i, t, c]
    return amount


def _fits(m: Any, room: float, i: str, t: int, c: str, r: str) -> Any:
    used = m.worker_needs[i, r] * m.home_workers[i, t, c] + m.server_needs[i, r] * m.home_servers[i, t, c]
    return used <= room * m.home[i, t, c]


def read(model: Any, instance: Instance) -> Schedule:
    """Return the schedule of a solved `dmlrs/compact-milp`: what is at home on a machine, and what is spread to it.

    A journal job that is at home on one machine in a slot has no servers elsewhere, though no row forbids them.
    """
    found: dict[str, dict[int, dict[str, tuple[int, int]]]] = {}
    for i, t, h in model.ITC:
        workers, servers = round(model.spread_workers[i, t, h].value), 0
        if (i, t, h) in model.spread_servers and round(model.external[i, t].value):
            servers = round(model.spread_servers[i, t, h].value)
        if (i, t, h) in model.home_at:
            workers += round(model.home_workers[i, t, h].value)
            servers += round(model.home_servers[i, t, h].value)
        if workers or servers:
            found.setdefault(i, {}).setdefault(t, {})[h] = (workers, servers)
    return finishing(instance, found, finished(model))


_EQUATIONS = (
    *("(1)", "(2)", "(3)", "(4)", "(5)", "(6)", "(7)"),
    *("(3.1)", "(3.2)", "(3.3)", "(3.4)", "(3.5)", "(3.6)", "(3.7)"),
)
"""The journal's of synchronous instances, the thesis's of asynchronous ones."""

COMPACT_MILP = Formulation(
    "dmlrs/compact-milp",
    Instance,
    "a home on one machine or spread over all, journal and thesis: what a MILP solver should get",
    _EQUATIONS,
    Kind.EXACT,
    build,
    read,
)

AGGREGATE = Formulation(
    "dmlrs/aggregate",
    Instance,
    "compact-milp with identical machines summed: an upper bound",
    _EQUATIONS,
    Kind.RELAXATION,
    build_summed,
)
