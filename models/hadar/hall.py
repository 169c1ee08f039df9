"""P1 with admission without device variables: gangs fit into a slot iff Hall's condition holds.

Symbols: z_jlt `run` (job j runs in slot t and type l is its slowest), one-hot `completion`, W_j gang, E_jl the types
that are at least as fast for job j as l, C(S) devices of the types in S in the cluster.

Exactness
---------
1. *Machines* are summed to types as in `hadar/aggregate`.
2. *Devices.* Which devices the running jobs of a slot get is a transportation problem: job j at level l needs W_j
   devices of types in E_jl, type r has C^r. By Gale's theorem (Hall's for one device each) it can be solved iff for
   every set of running jobs the devices of the union of their sets are enough, that is, iff for every union S of sets E

   ``sum over (j, l) with E_jl within S of W_j z_jlt <= C(S)``.

   The data are integral, so devices are then whole. A row whose jobs all fit at once cannot bind and is left out.
3. *Levels.* A declared level below the true minimum loses work only; a level needs W_j devices in E_jl; of equally
   fast types one is enough. Work in a slot is capped at Q_j; of levels with equal capped work the slowest is enough,
   as its set is the largest.
4. *Work by slot.* As in `hadar/aggregate`: the row of the last slot is (1a), the others follow from it and (1c).

All variables are binary. `dlsched.algorithms.exact` solves this formulation by column generation over the jobs, with
more inequalities of the integer hulls of the Hall rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyomo.environ as pyo

from dlsched.models.hadar.aggregate import place_counts
from dlsched.models.hadar.instance import Instance, Job
from dlsched.models.hadar.schedule import Schedule, place

Types = frozenset[str]


def build(instance: Instance) -> pyo.ConcreteModel:
    """Return the model with Hall rows.

    Source: Hadar, (1)-(1e), corrected: with admission.
    """
    m = pyo.ConcreteModel(name="Hadar Hall")
    _sets(m, instance)
    _data(m, instance)
    m.run = pyo.Var(m.JTL, domain=pyo.Binary, doc="z_jlt, job j runs in slot t and type l is its slowest")
    m.completion = pyo.Var(m.JT, domain=pyo.Binary, doc="1 where the job's completion slot f_j is t")
    _constraints(m)
    return m


def _levels(instance: Instance, job: Job) -> tuple[str, ...]:
    """Return the job's levels; of those that do its work in a slot with equal capped work, the slowest."""
    by_work = {min(instance.work(job, level), job.iterations): level for level in instance.levels(job)}
    return tuple(by_work.values())


def _sets(m: Any, instance: Instance) -> None:
    levels = {job.name: _levels(instance, job) for job in instance.jobs}
    m.levels = {j: found for j, found in levels.items() if found}
    m.slots = {j: range(instance.job(j).arrival, instance.slots + 1) for j in m.levels}
    m.J = pyo.Set(initialize=list(m.levels), doc="jobs that can run")
    m.JT = pyo.Set(initialize=[(j, t) for j in m.J for t in m.slots[j]], dimen=2, doc="jobs, slots from arrival on")
    m.JTL = pyo.Set(
        initialize=[(j, t, level) for j, t in m.JT for level in m.levels[j]],
        dimen=3,
        doc="jobs, slots, and types that can be the bottleneck of a whole gang",
    )
    m.within = _within(instance, m.levels)
    m.ST = pyo.Set(
        initialize=[
            (s, t)
            for s, (pairs, devices) in enumerate(m.within)
            for t in range(1, instance.slots + 1)
            if sum(instance.job(j).gang for j in {j for j, _ in pairs} if t in m.slots[j]) > devices
        ],
        dimen=2,
        doc="unions of type sets, and slots in which their jobs may need more than their devices",
    )


def _within(instance: Instance, levels: dict[str, tuple[str, ...]]) -> list[tuple[list[tuple[str, str]], int]]:
    """Return for each union S of type sets: the (job, level) pairs whose types lie in S, and C(S)."""
    pairs = {(j, level): frozenset(instance.eligible(instance.job(j), level)) for j in levels for level in levels[j]}
    return [
        ([pair for pair, types in pairs.items() if types <= union], sum(instance.capacity[r] for r in union))
        for union in sorted(unions(pairs.values()), key=lambda s: (len(s), sorted(s)))
    ]


def unions(sets: Iterable[Types]) -> set[Types]:
    """Return all unions of one or more of the sets."""
    single = set(sets)
    found = set(single)
    fresh = set(single)
    while fresh:
        fresh = {a | b for a in fresh for b in single} - found
        found |= fresh
    return found


def _data(m: Any, instance: Instance) -> None:
    jobs = {j: instance.job(j) for j in m.J}
    m.gang = {j: job.gang for j, job in jobs.items()}
    m.utility = {(j, t): jobs[j].utility(t - jobs[j].arrival) for j, t in m.JT}
    m.share = {
        (j, level): min(float(instance.work(job, level) / job.iterations), 1.0)
        for j, job in jobs.items()
        for level in m.levels[j]
    }


def _constraints(m: Any) -> None:
    m.total_utility = pyo.Objective(
        expr=sum(m.utility[jt] * m.completion[jt] for jt in m.JT), sense=pyo.maximize, doc="(1) total utility"
    )
    m.once = pyo.Constraint(m.J, rule=_once, doc="(1a) corrected: a job may be rejected, as (2b) allows")
    m.last = pyo.Constraint(m.JT, rule=_last, doc="(1c) at most one level, and none after the completion slot")
    m.work = pyo.Constraint(m.JT, rule=_work, doc="(1a) all iterations done by the completion slot, for each slot")
    m.hall = pyo.Constraint(m.ST, rule=_hall, doc="(1b), (1d), (1e) whole gangs of fast enough devices fit")


def _once(m: Any, j: str) -> Any:
    return sum(m.completion[j, t] for t in m.slots[j]) <= 1


def _last(m: Any, j: str, t: int) -> Any:
    running = sum(m.run[j, t, level] for level in m.levels[j])
    return running <= sum(m.completion[j, s] for s in range(t, m.slots[j].stop))


def _work(m: Any, j: str, t: int) -> Any:
    upto = range(m.slots[j][0], t + 1)
    done = sum(m.share[j, level] * m.run[j, s, level] for s in upto for level in m.levels[j])
    return done >= sum(m.completion[j, s] for s in upto)


def _hall(m: Any, s: int, t: int) -> Any:
    pairs, devices = m.within[s]
    return sum(m.gang[j] * m.run[j, t, level] for j, level in pairs if t in m.slots[j]) <= devices


def schedule_of(instance: Instance, model: pyo.ConcreteModel) -> Schedule:
    """Return the schedule of a solved model, devices placed on machines.

    Parameters
    ----------
    instance : Instance
    model : pyomo.environ.ConcreteModel
        Built by `build`, with integral values of `run` and `completion`.
    """
    finished = {j for j, t in model.JT if round(model.completion[j, t].value)}
    levels: dict[int, dict[str, str]] = {}
    for j, t, level in model.JTL:
        if j in finished and round(model.run[j, t, level].value):
            levels.setdefault(t, {})[j] = level
    return place(instance, {t: place_counts(instance, chosen) for t, chosen in sorted(levels.items())})
