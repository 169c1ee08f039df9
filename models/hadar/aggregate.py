"""P1 with admission, machines summed to types: the same optimum with far fewer integers.

Symbols: b_jlt `bottleneck` (job j runs in slot t and type l is its slowest), n_j^r(t) `devices` of a type in the whole
cluster (continuous), one-hot `completion`, W_j gang, C^r devices of a type in the cluster.

Exactness
---------
1. *Machines.* w_jh^r(t) enters P1 through (1d), the gang total (1e) and the set of types in use (1b) only. Given
   integers n_j^r(t) with sum_j n_j^r(t) <= C^r = sum_h c_h^r, the machines can be filled one after the other
   (`dlsched.models.hadar.place`), so the two problems have the same feasible completions.
2. *Bottleneck.* With b fixed, a job that runs at level l may use any type at least as fast as l: the rows
   ``n_j^r <= min(W_j, C^r) sum_{l: X^l <= X^r} b_l`` say so. A declared level below the true minimum loses work only.
   A level needs W_j devices at least as fast in the cluster, and of equally fast types one is enough.
3. *Continuous counts.* With b fixed to integers, the rows of a slot are those of a transportation problem (supply
   W_j at each running job, demand at most C^r at each type, integral data), whose polyhedron is integral: if any
   n exists, an integral one does, and `place_counts` finds it by a maximum flow.
4. *Work by slot.* A job complete by slot s has done all its work in slots <= s. The row for s = T is (1a); the others
   are implied by it, by (1c) and by integrality, and tighten the LP. A slot's work is capped at Q_j, which no
   schedule notices.

So b and `completion` are the only integers. The LP relaxation is at least as tight as the big-M relaxation of
`hadar/p1-admission`: from its point, spreading n_j^r over machines in proportion to c_h^r and setting
x_j(t) = sum_l X_j^l b_jlt is feasible there with the same objective.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx
import pyomo.environ as pyo

from dlsched.models.hadar.instance import Instance
from dlsched.models.hadar.schedule import Schedule, place


def build(instance: Instance) -> pyo.ConcreteModel:
    """Return the aggregated model.

    Source: Hadar, (1)-(1e), corrected: with admission.
    """
    m = pyo.ConcreteModel(name="Hadar aggregate")
    _sets(m, instance)
    _data(m, instance)
    _variables(m)
    _constraints(m)
    return m


def _sets(m: Any, instance: Instance) -> None:
    able = [job for job in instance.jobs if instance.levels(job)]
    m.slots = {job.name: range(job.arrival, instance.slots + 1) for job in able}
    m.levels = {job.name: instance.levels(job) for job in able}
    m.types = {job.name: instance.eligible(job, instance.levels(job)[-1]) for job in able}
    m.J = pyo.Set(initialize=list(m.slots), doc="jobs that can run")
    m.JT = pyo.Set(initialize=[(j, t) for j in m.J for t in m.slots[j]], dimen=2, doc="jobs, slots from arrival on")
    m.JTL = pyo.Set(
        initialize=[(j, t, level) for j, t in m.JT for level in m.levels[j]],
        dimen=3,
        doc="jobs, slots, and types that can be the bottleneck of a whole gang",
    )
    m.JTR = pyo.Set(
        initialize=[(j, t, r) for j, t in m.JT for r in m.types[j]], dimen=3, doc="jobs, slots, and types they may use"
    )
    m.RT = pyo.Set(
        initialize=sorted({(r, t) for _, t, r in m.JTR}), dimen=2, doc="device types and slots that a job may use"
    )


def _data(m: Any, instance: Instance) -> None:
    jobs = {j: instance.job(j) for j in m.J}
    m.gang = {j: job.gang for j, job in jobs.items()}
    m.count = dict(instance.capacity)
    m.utility = {(j, t): jobs[j].utility(t - jobs[j].arrival) for j, t in m.JT}
    m.share = {
        (j, level): min(float(instance.work(job, level) / job.iterations), 1.0)
        for j, job in jobs.items()
        for level in m.levels[j]
    }
    m.users = {(r, t): [j for j in m.J if t in m.slots[j] and r in m.types[j]] for r, t in m.RT}
    m.slow_enough = {
        (j, r): [level for level in m.levels[j] if job.rate_on(level) <= job.rate_on(r)]
        for j, job in jobs.items()
        for r in m.types[j]
    }


def _variables(m: Any) -> None:
    m.bottleneck = pyo.Var(m.JTL, domain=pyo.Binary, doc="b_jlt, job j runs in slot t and type l is its slowest")
    m.devices = pyo.Var(m.JTR, domain=pyo.NonNegativeReals, doc="n_j^r(t), devices of the type in the cluster")
    m.completion = pyo.Var(m.JT, domain=pyo.Binary, doc="1 where the job's completion slot f_j is t")


def _constraints(m: Any) -> None:
    m.total_utility = pyo.Objective(
        expr=sum(m.utility[jt] * m.completion[jt] for jt in m.JT), sense=pyo.maximize, doc="(1) total utility"
    )
    m.once = pyo.Constraint(m.J, rule=_once, doc="(1a) corrected: a job may be rejected, as (2b) allows")
    m.last = pyo.Constraint(m.JT, rule=_last, doc="(1c) at most one bottleneck, and none after the completion slot")
    m.work = pyo.Constraint(m.JT, rule=_work, doc="(1a) all iterations done by the completion slot, for each slot")
    m.whole_gang = pyo.Constraint(m.JT, rule=_whole_gang, doc="(1e) a gang or nothing")
    m.fast_enough = pyo.Constraint(m.JTR, rule=_fast_enough, doc="(1b) no device slower than the bottleneck")
    m.capacity = pyo.Constraint(m.RT, rule=_capacity, doc="(1d) devices of a type in the cluster")


def _once(m: Any, j: str) -> Any:
    return sum(m.completion[j, t] for t in m.slots[j]) <= 1


def _last(m: Any, j: str, t: int) -> Any:
    return _running(m, j, t) <= sum(m.completion[j, s] for s in range(t, m.slots[j].stop))


def _running(m: Any, j: str, t: int) -> Any:
    return sum(m.bottleneck[j, t, level] for level in m.levels[j])


def _work(m: Any, j: str, t: int) -> Any:
    upto = range(m.slots[j][0], t + 1)
    done = sum(m.share[j, level] * m.bottleneck[j, s, level] for s in upto for level in m.levels[j])
    return done >= sum(m.completion[j, s] for s in upto)


def _whole_gang(m: Any, j: str, t: int) -> Any:
    return sum(m.devices[j, t, r] for r in m.types[j]) == m.gang[j] * _running(m, j, t)


def _fast_enough(m: Any, j: str, t: int, r: str) -> Any:
    most = min(m.gang[j], m.count[r])
    return m.devices[j, t, r] <= most * sum(m.bottleneck[j, t, level] for level in m.slow_enough[j, r])


def _capacity(m: Any, r: str, t: int) -> Any:
    return sum(m.devices[j, t, r] for j in m.users[r, t]) <= m.count[r]


def schedule_of(instance: Instance, model: pyo.ConcreteModel) -> Schedule:
    """Return the schedule of a solved model, devices placed on machines.

    Parameters
    ----------
    instance : Instance
    model : pyomo.environ.ConcreteModel
        Built by `build`, with integral values of `bottleneck` and `completion`.
    """
    finished = {j for j, t in model.JT if round(model.completion[j, t].value)}
    levels: dict[int, dict[str, str]] = {}
    for j, t, level in model.JTL:
        if j in finished and round(model.bottleneck[j, t, level].value):
            levels.setdefault(t, {})[j] = level
    return place(instance, {t: place_counts(instance, chosen) for t, chosen in sorted(levels.items())})


def place_counts(instance: Instance, levels: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Return integral devices by job and type for the jobs that run in one slot, by a maximum flow.

    Parameters
    ----------
    instance : Instance
    levels : mapping of str to str
        Job to its bottleneck type; it may use any type at least as fast.

    Raises
    ------
    ValueError
        If the cluster does not have the devices.
    """
    graph = nx.DiGraph()
    for r, devices in instance.capacity.items():
        graph.add_edge(("type", r), "sink", capacity=devices)
    for name, level in levels.items():
        job = instance.job(name)
        graph.add_edge("source", ("job", name), capacity=job.gang)
        for r in instance.eligible(job, level):
            graph.add_edge(("job", name), ("type", r), capacity=job.gang)
    need = sum(instance.job(name).gang for name in levels)
    flow, routes = nx.maximum_flow(graph, "source", "sink") if levels else (0, {})
    if flow < need:
        raise ValueError(f"the running jobs need {need} devices at their levels; {flow} can be given")
    return {name: {r: n for (_, r), n in routes["job", name].items() if n} for name in levels}
