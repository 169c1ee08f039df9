"""Problem (1)-(3) as a mixed-integer nonlinear program, its ratios written out.

Symbols: x_i `admitted`, w_i `workers`, p_i `servers`, tau_i `completion_time` (9) or (10), mu_i utility, O_i^r and
G_i^r needs, v_i^r limit and reservation, C^r capacity.

Sigmoid and hyperbolic utilities stand as they are. `linear` is not cut off at 0: a job that is worth less is rejected.
Utilities by steps (`step`, `table`) choose a level, with the latest completion time that is worth it: binaries
`reaches`.

A global solver for such programs is needed: ``solve(model, solver="scip")``. Only jobs whose limits leave room for one
worker and one server are in the model; the paper does not say what becomes of the others.
"""

from __future__ import annotations

from typing import Any

from dlsched.lazy import pyo
from dlsched.models.formulation import Formulation, Kind, UnreadableModel, accepted
from dlsched.models.smd.instance import Instance, Job
from dlsched.models.smd.levels import levels
from dlsched.models.smd.schedule import Schedule, check, completion_times
from dlsched.models.smd.terms import completion_time
from dlsched.models.utility import Hyperbolic, Linear, Sigmoid

_SMOOTH = (Sigmoid, Hyperbolic, Linear)


def build(instance: Instance) -> pyo.ConcreteModel:
    """Return Problem (1).

    Source: SMD, (1)-(3).
    """
    model = pyo.ConcreteModel(name="SMD Problem (1)")
    _sets(model, instance)
    _variables(model)
    model.completion_time = pyo.Expression(
        model.I, rule=_completion_time, doc="tau_i, completion time (9) or (10), a sum of ratios"
    )
    model.total_utility = pyo.Objective(rule=_total_utility, sense=pyo.maximize, doc="(1) total utility")
    model.capacity = pyo.Constraint(model.R, rule=_capacity, doc="(2) reservations fit the cluster")
    model.limit = pyo.Constraint(model.IR, rule=_limit, doc="(3) an admitted job keeps its limits")
    model.reach = pyo.Constraint(model.levels, rule=_reach, doc="(1) a level is reached by its deadline")
    model.one_level = pyo.Constraint(model.stepped, rule=_one_level, doc="(1) an admitted job is worth one level")
    return model


def _sets(m: Any, instance: Instance) -> None:
    m.job = {job.name: job for job in instance.jobs if job.can_run}
    m.levels_of = {name: levels(job) for name, job in m.job.items() if not isinstance(job.utility, _SMOOTH)}
    reserved = {r: [name for name, job in m.job.items() if job.limit_of(r)] for r in instance.resources}
    m.capacity_of = {r: float(instance.capacity_of(r)) for r in instance.resources}
    m.I = pyo.Set(initialize=list(m.job), doc="jobs whose limits leave room for a worker and a server")
    m.R = pyo.Set(initialize=[r for r, jobs in reserved.items() if jobs], doc="resources that jobs reserve")
    m.IR = pyo.Set(
        initialize=[(name, r) for name, job in m.job.items() for r in job.resources],
        dimen=2,
        doc="jobs and the resources they need",
    )
    m.stepped = pyo.Set(initialize=list(m.levels_of), doc="jobs whose utility falls by steps")
    m.levels = pyo.Set(
        initialize=[(name, k) for name, found in m.levels_of.items() for k in range(len(found))],
        dimen=2,
        doc="jobs and the levels of their utility, the highest first",
    )


def _variables(m: Any) -> None:
    m.admitted = pyo.Var(m.I, domain=pyo.Binary, doc="x_i")
    m.workers = pyo.Var(
        m.I, domain=pyo.PositiveIntegers, bounds=lambda m, i: (1, m.job[i].most_workers), doc="w_i, workers"
    )
    m.servers = pyo.Var(
        m.I, domain=pyo.PositiveIntegers, bounds=lambda m, i: (1, m.job[i].most_servers), doc="p_i, servers"
    )
    m.reaches = pyo.Var(m.levels, domain=pyo.Binary, doc="1 where the job is worth that level")


def _completion_time(m: Any, i: str) -> Any:
    return completion_time(m.job[i], m.workers[i], m.servers[i])


def _total_utility(m: Any) -> Any:
    smooth = sum(_worth(m.job[i], m.completion_time[i]) * m.admitted[i] for i in m.I if i not in m.stepped)
    return smooth + sum(float(m.levels_of[i][k].value) * m.reaches[i, k] for i, k in m.levels)


def _worth(job: Job, time: Any) -> Any:
    utility = job.utility
    if isinstance(utility, Hyperbolic):
        return float(utility.scale) / (1 + time)
    if isinstance(utility, Linear):
        return float(utility.intercept) - float(utility.slope) * time
    assert isinstance(utility, Sigmoid)
    return float(utility.height) / (1 + pyo.exp(float(utility.steepness) * (time - float(utility.midpoint))))


def _capacity(m: Any, r: str) -> Any:
    return sum(float(m.job[i].limit_of(r)) * m.admitted[i] for i in m.I if m.job[i].limit_of(r)) <= m.capacity_of[r]


def _limit(m: Any, i: str, r: str) -> Any:
    job = m.job[i]
    used = float(job.worker_needs(r)) * m.workers[i] + float(job.server_needs(r)) * m.servers[i]
    return used * m.admitted[i] <= float(job.limit_of(r))


def _reach(m: Any, i: str, k: int) -> Any:
    return m.completion_time[i] * m.reaches[i, k] <= float(m.levels_of[i][k].deadline)


def _one_level(m: Any, i: str) -> Any:
    return sum(m.reaches[i, k] for k in range(len(m.levels_of[i]))) <= m.admitted[i]


def read(model: Any, instance: Instance) -> Schedule:
    """Return the schedule of a solved model: workers and servers of the jobs that are admitted.

    Raises
    ------
    UnreadableModel
        If it breaks a rule, or a job misses the deadline of its level, by less than the solver's tolerance.
    """
    admitted = [i for i in model.I if round(model.admitted[i].value)]
    found = Schedule.of({i: (round(model.workers[i].value), round(model.servers[i].value)) for i in admitted})
    times = completion_times(instance, found)
    for i, k in model.levels:
        if round(model.reaches[i, k].value) and times[i] > model.levels_of[i][k].deadline:
            raise UnreadableModel(f"job {i} takes {float(times[i])}, past the deadline of its level")
    return accepted(found, check(instance, found))


MINLP = Formulation(
    "smd/minlp",
    Instance,
    "Problem (1), its ratios written out: nonlinear, for a global solver",
    ("(1)", "(2)", "(3)"),
    Kind.EXACT,
    build,
    read,
    linear=False,
)
