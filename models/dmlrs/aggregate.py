"""DMLRS as a mixed-integer program over groups of machines: a home on one machine, or spread over all.

Symbols: `home` 1 where the job has its home in a group: in the journal all its workers and servers are on one machine
of the group, in the thesis all its servers (`home_workers`, `home_servers`); `spread_workers`, `spread_servers` what it
has beside that; kappa_I and kappa_E slots per unit of work and worker; V_i all work.

With each machine a group of its own (`build`) the program is exact. With identical machines summed (`build_summed`) it
is a relaxation: a home fits one machine, but what is spread, and the homes together, only fit the sum of the machines.
`dlsched.relaxations.aggregation` packs its solutions back onto machines.
"""

from __future__ import annotations

from typing import Any

from dlsched.lazy import pyo
from dlsched.models.dmlrs.frame import completions, fitting, servers_needed
from dlsched.models.dmlrs.groups import Group, identical, singletons
from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.job import AsyncJob, Job
from dlsched.models.dmlrs.read import finished, finishing
from dlsched.models.dmlrs.schedule import Schedule
from dlsched.models.formulation import Formulation, Kind


def build(instance: Instance) -> pyo.ConcreteModel:
    """Return the exact program over single machines.

    Source: PD-ORS, (1)-(7) and Fact 1, for asynchronous jobs PD-ORS thesis, (3.1)-(3.7); see
    `dlsched.models.dmlrs.asynchronous` for why one machine has all servers.

    Raises
    ------
    ValueError
        If a job's external rate is above its internal rate.
    """
    return _build(instance, singletons(instance))


def build_summed(instance: Instance) -> pyo.ConcreteModel:
    """Return the relaxation in which identical machines are summed.

    Raises
    ------
    ValueError
        If a job's external rate is above its internal rate.
    """
    return _build(instance, identical(instance))


def _build(instance: Instance, groups: tuple[Group, ...]) -> pyo.ConcreteModel:
    for job in instance.jobs:
        if job.external_rate > job.internal_rate:
            raise ValueError(
                f"job {job.name}: its external rate is above its internal rate: use dmlrs/compact or async"
            )
    m = pyo.ConcreteModel(name="DMLRS over groups of machines")
    _sets(m, instance, groups)
    _variables(m)
    m.total_utility = pyo.Objective(
        expr=sum(m.utility[it] * m.completion[it] for it in m.IT), sense=pyo.maximize, doc="(DMLRS) total utility"
    )
    completions(m)
    _modes(m)
    m.work = pyo.Constraint(m.I, rule=_work, doc="(3) an admitted job does all its work")
    m.capacity = pyo.Constraint(m.used, rule=_capacity, doc="(5) capacity of a group and resource")
    m.fits = pyo.Constraint(m.homely, rule=_fits, doc="(5) a home fits one machine")
    return m


def _sets(m: Any, instance: Instance, groups: tuple[Group, ...]) -> None:
    jobs = instance.jobs
    slots = range(1, instance.slots + 1)
    m.job = {job.name: job for job in jobs}
    m.group = {group.name: group for group in groups}
    m.slots_of = {job.name: range(job.arrival, instance.slots + 1) for job in jobs}
    m.present = {t: [job.name for job in jobs if job.arrival <= t] for t in slots}
    m.utility = {(job.name, t): job.utility(t - job.arrival) for job in jobs for t in m.slots_of[job.name]}
    m.needs = {
        (i, r): (float(j.worker_needs(r)), float(j.server_needs(r)))
        for i, j in m.job.items()
        for r in instance.resources
    }
    m.room = {(c, r): float(len(g) * g.model.capacity_of(r)) for c, g in m.group.items() for r in instance.resources}
    m.most = {
        (i, c): (fitting(g.model, j.worker, j.most_workers), fitting(g.model, j.server, servers_needed(j)))
        for i, j in m.job.items()
        for c, g in m.group.items()
    }
    m.I = pyo.Set(initialize=list(m.job), doc="jobs")
    m.C = pyo.Set(initialize=list(m.group), doc="groups of machines")
    m.IT = pyo.Set(
        initialize=[(i, t) for i, own in m.slots_of.items() for t in own],
        dimen=2,
        doc="(7) jobs and the slots from their arrival on",
    )
    homes = [(i, c) for i, j in m.job.items() for c in m.group if has_home(j, m.group[c])]
    m.ITC = pyo.Set(
        initialize=((i, t, c) for i, own in m.slots_of.items() for t in own for c in m.group),
        dimen=3,
        doc="(7) jobs, slots from their arrival on, groups",
    )
    m.home_at = pyo.Set(
        initialize=((i, t, c) for i, c in homes for t in m.slots_of[i]),
        dimen=3,
        doc="jobs, slots and the groups on whose machines a worker and a server fit",
    )
    m.homely = pyo.Set(
        initialize=(
            (i, t, c, r) for i, c in homes for t in m.slots_of[i] for r in instance.resources if any(m.needs[i, r])
        ),
        dimen=4,
        doc="those, and the resources needed",
    )
    m.used = pyo.Set(
        initialize=[
            (c, r, t)
            for t in slots
            for c in m.group
            for r in instance.resources
            if any(any(m.needs[i, r]) for i in m.present[t])
        ],
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


def _variables(m: Any) -> None:
    whole = pyo.NonNegativeIntegers

    def _most(k: int, alone: bool) -> Any:
        def bounds(m: Any, i: str, t: int, c: str) -> tuple[int, int]:
            one = m.most[i, c][k]
            limit = m.job[i].most_workers if k == 0 else servers_needed(m.job[i])
            return 0, one if alone else min(limit, one * len(m.group[c]))

        return bounds

    m.completion = pyo.Var(m.IT, domain=pyo.Binary, doc="1 where the job's completion slot t~_i is t")
    m.home = pyo.Var(m.home_at, domain=pyo.Binary, doc="1 where the job has its home in the group")
    m.home_workers = pyo.Var(m.home_at, domain=whole, bounds=_most(0, True), doc="workers at home")
    m.home_servers = pyo.Var(m.home_at, domain=whole, bounds=_most(1, True), doc="servers at home")
    m.spread_workers = pyo.Var(m.ITC, domain=whole, bounds=_most(0, False), doc="workers elsewhere")
    m.spread_servers = pyo.Var(
        [itc for itc in m.ITC if isinstance(m.job[itc[0]], Job)],
        domain=whole,
        bounds=_most(1, False),
        doc="servers elsewhere (journal)",
    )
    m.external = pyo.Var(
        [it for it in m.IT if isinstance(m.job[it[0]], Job)],
        domain=pyo.Binary,
        doc="1 where workers and servers are spread (journal)",
    )


def _modes(m: Any) -> None:
    m.last = pyo.Constraint(m.IT, rule=_last, doc="(6) one mode, none after the completion slot")
    m.home_most = pyo.Constraint(m.home_at, rule=_home_most, doc="(4) workers at home")
    m.spread_most = pyo.Constraint(m.IT, rule=_spread_most, doc="(4) workers elsewhere")
    m.home_enough = pyo.Constraint(
        [itc for itc in m.home_at if isinstance(m.job[itc[0]], Job)],
        rule=_home_enough,
        doc="(2) servers at home",
    )
    m.spread_enough = pyo.Constraint(m.external.index_set(), rule=_spread_enough, doc="(2) servers elsewhere")
    asynchronous = [it for it in m.IT if isinstance(m.job[it[0]], AsyncJob)]
    m.all_workers = pyo.Constraint(asynchronous, rule=_all_workers, doc="(3.2) at most K_i workers")
    m.server_load = pyo.Constraint(asynchronous, rule=_load, doc="(3.4) servers bear their workers")
    m.fewer_servers = pyo.Constraint(asynchronous, rule=_fewer_servers, doc="(3.5) no more servers than workers")
    m.away = pyo.Constraint(
        [itc for itc in m.home_at if isinstance(m.job[itc[0]], AsyncJob) and len(m.group[itc[2]]) == 1],
        rule=_away,
        doc="(3.4) a worker on the servers' machine is at home",
    )
    m.home_servers_only = pyo.Constraint(m.home_at, rule=_home_servers_only, doc="(1) servers at home only where it is")


def _homes(m: Any, variable: Any, i: str, t: int) -> Any:
    return sum(variable[i, t, c] for c in m.homes_of[i, t])


def _spread(m: Any, variable: Any, i: str, t: int) -> Any:
    return sum(variable[i, t, c] for c in m.C)


def _last(m: Any, i: str, t: int) -> Any:
    external = [m.external[i, t]] if (i, t) in m.external else []
    return _homes(m, m.home, i, t) + sum(external) <= sum(m.completion[i, q] for q in range(t, m.slots_of[i].stop))


def _home_most(m: Any, i: str, t: int, c: str) -> Any:
    return m.home_workers[i, t, c] <= min(m.most[i, c][0], m.job[i].most_workers) * m.home[i, t, c]


def _home_servers_only(m: Any, i: str, t: int, c: str) -> Any:
    return m.home_servers[i, t, c] <= m.home_servers[i, t, c].ub * m.home[i, t, c]


def _spread_most(m: Any, i: str, t: int) -> Any:
    on = m.external[i, t] if (i, t) in m.external else _homes(m, m.home, i, t)
    return _spread(m, m.spread_workers, i, t) <= m.job[i].most_workers * on


def _home_enough(m: Any, i: str, t: int, c: str) -> Any:
    return float(m.job[i].workers_per_server) * m.home_servers[i, t, c] >= m.home_workers[i, t, c]


def _spread_enough(m: Any, i: str, t: int) -> Any:
    servers = _spread(m, m.spread_servers, i, t)
    return float(m.job[i].workers_per_server) * servers >= _spread(m, m.spread_workers, i, t)


def _all_workers(m: Any, i: str, t: int) -> Any:
    workers = _homes(m, m.home_workers, i, t) + _spread(m, m.spread_workers, i, t)
    return workers <= m.job[i].most_workers


def _load(m: Any, i: str, t: int) -> Any:
    job = m.job[i]
    inside = float(job.internal_rate / job.server_rate) * _homes(m, m.home_workers, i, t)
    outside = float(job.external_rate / job.server_rate) * _spread(m, m.spread_workers, i, t)
    return inside + outside <= _homes(m, m.home_servers, i, t)


def _away(m: Any, i: str, t: int, c: str) -> Any:
    return m.spread_workers[i, t, c] <= m.spread_workers[i, t, c].ub * (1 - m.home[i, t, c])


def _fewer_servers(m: Any, i: str, t: int) -> Any:
    workers = _homes(m, m.home_workers, i, t) + _spread(m, m.spread_workers, i, t)
    return _homes(m, m.home_servers, i, t) <= workers


def _work(m: Any, i: str) -> Any:
    job = m.job[i]
    inside = float(1 / (job.internal_time * job.work))
    outside = float(1 / (job.external_time * job.work))
    done = sum(
        inside * _homes(m, m.home_workers, i, t) + outside * _spread(m, m.spread_workers, i, t) for t in m.slots_of[i]
    )
    return done >= sum(m.completion[i, t] for t in m.slots_of[i])


def used(m: Any, i: str, t: int, c: str, r: str) -> Any:
    """Return what a job uses of a resource of a group in a slot, as an expression in the model's variables."""
    worker, server = m.needs[i, r]
    amount = worker * m.spread_workers[i, t, c]
    if (i, t, c) in m.spread_servers:
        amount += server * m.spread_servers[i, t, c]
    if (i, t, c) in m.home_at:
        amount += worker * m.home_workers[i, t, c] + server * m.home_servers[i, t, c]
    return amount


def _capacity(m: Any, c: str, r: str, t: int) -> Any:
    return sum(used(m, i, t, c, r) for i in m.present[t] if any(m.needs[i, r])) <= m.room[c, r]


def _fits(m: Any, i: str, t: int, c: str, r: str) -> Any:
    worker, server = m.needs[i, r]
    used = worker * m.home_workers[i, t, c] + server * m.home_servers[i, t, c]
    return used <= float(m.group[c].model.capacity_of(r)) * m.home[i, t, c]


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


COMPACT_MILP = Formulation(
    "dmlrs/compact-milp",
    Instance,
    "a home on one machine or spread over all, journal and thesis: what a MILP solver should get",
    ("(1)", "(2)", "(3)", "(4)", "(5)", "(6)", "(7)"),
    Kind.EXACT,
    build,
    read,
)

AGGREGATE = Formulation(
    "dmlrs/aggregate",
    Instance,
    "compact-milp with identical machines summed: an upper bound",
    ("(1)", "(2)", "(3)", "(4)", "(5)", "(6)", "(7)"),
    Kind.RELAXATION,
    build_summed,
)
