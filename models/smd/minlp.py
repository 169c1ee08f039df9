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

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlsched.lazy import pyo
from dlsched.models.formulation import Formulation, Kind, UnreadableModel, accepted
from dlsched.models.parameters import declare
from dlsched.models.smd.data import SERVER, THETA, WORKER, cluster, coefficients_of, reserving
from dlsched.models.smd.inner import points
from dlsched.models.smd.instance import Instance, Job
from dlsched.models.smd.ratios import completion_time
from dlsched.models.smd.schedule import Schedule, check, completion_times
from dlsched.models.utility import Hyperbolic, Linear, Sigmoid


@dataclass(frozen=True, slots=True)
class Level:
    """A value of a job's utility.

    Attributes
    ----------
    value : Fraction
    deadline : Fraction
        The latest completion time, of those that the job's limits allow, that is worth as much.
    """

    value: Fraction
    deadline: Fraction


def levels(job: Job) -> tuple[Level, ...]:
    """Return the positive values of a job's utility over its feasible points, the highest first."""
    deadlines: dict[Fraction, Fraction] = {}
    for workers, servers in points(job).tolist():
        time = job.training.time(workers, servers)
        value = job.utility.exact(time)
        if value > 0:
            deadlines[value] = max(deadlines.get(value, time), time)
    return tuple(Level(value, deadlines[value]) for value in sorted(deadlines, reverse=True))


_SMOOTH = {
    Sigmoid: {
        "height": "gamma_i1, height of the sigmoid [utility]",
        "steepness": "gamma_i2, steepness of the sigmoid [1 / time]",
        "midpoint": "gamma_i3, midpoint of the sigmoid [time]",
    },
    Hyperbolic: {"scale": "a_i, worth at time 0 [utility]"},
    Linear: {"intercept": "a_i, worth at time 0 [utility]", "slope": "b_i, loss with time [utility / time]"},
}
"""Kinds of utilities that stand as they are, and what their data mean."""


def build(instance: Instance) -> pyo.ConcreteModel:
    """Return Problem (1).

    References
    ----------
    SMD, (1)-(3).
    """
    model = pyo.ConcreteModel(name="SMD Problem (1)")
    jobs = {job.name: job for job in instance.jobs if job.can_run}
    _sets(model, jobs)
    _data(model, instance, jobs)
    _variables(model, jobs)
    model.completion_time = pyo.Expression(
        model.I,
        rule=lambda m, i: completion_time(jobs[i], m.workers[i], m.servers[i]),
        doc="tau_i, completion time (9) or (10), a sum of ratios",
    )
    model.total_utility = pyo.Objective(rule=_total_utility, sense=pyo.maximize, doc="(1) total utility")
    model.capacity = pyo.Constraint(
        model.R,
        rule=lambda m, r: sum(m.reservation[i, r] * m.admitted[i] for i in reserving(m, r)) <= m.room[r],
        doc="(2) reservations fit the cluster",
    )
    model.limit = pyo.Constraint(model.IR, rule=_limit, doc="(3) an admitted job keeps its limits")
    model.reach = pyo.Constraint(model.levels, rule=_reach, doc="(1) a level is reached by its deadline")
    model.one_level = pyo.Constraint(model.stepped, rule=_one_level, doc="(1) an admitted job is worth one level")
    return model


def _sets(m: Any, jobs: Mapping[str, Job]) -> None:
    m.levels_of = {name: levels(job) for name, job in jobs.items() if not isinstance(job.utility, tuple(_SMOOTH))}
    m.I = pyo.Set(initialize=list(jobs), doc="jobs whose limits leave room for a worker and a server")
    m.IR = pyo.Set(
        initialize=[(name, r) for name, job in jobs.items() for r in job.resources],
        dimen=2,
        doc="jobs and the resources they need",
    )
    m.stepped = pyo.Set(initialize=list(m.levels_of), doc="jobs whose utility falls by steps")
    m.levels = pyo.Set(
        initialize=[(name, k) for name, found in m.levels_of.items() for k in range(len(found))],
        dimen=2,
        doc="jobs and the levels of their utility, the highest first",
    )


def _data(m: Any, instance: Instance, jobs: Mapping[str, Job]) -> None:
    cluster(m, instance, jobs)
    coefficients = coefficients_of(jobs)
    m.IK = pyo.Set(initialize=list(coefficients), dimen=2, doc="jobs and coefficients of their completion time")
    declare(m, "worker_needs", (m.IR,), {(i, r): jobs[i].worker_needs(r) for i, r in m.IR}, WORKER)
    declare(m, "server_needs", (m.IR,), {(i, r): jobs[i].server_needs(r) for i, r in m.IR}, SERVER)
    declare(m, "theta", (m.IK,), coefficients, THETA)
    values = {(i, k): m.levels_of[i][k].value for i, k in m.levels}
    deadlines = {(i, k): m.levels_of[i][k].deadline for i, k in m.levels}
    declare(m, "value", (m.levels,), values, "mu_ik, worth of the level [utility]", follows=True, falling=True)
    declare(m, "deadline", (m.levels,), deadlines, "tau_ik, latest completion time that is worth the level [time]")
    for kind, fields in _SMOOTH.items():
        own = [i for i, job in jobs.items() if isinstance(job.utility, kind)]
        index = pyo.Set(initialize=own, doc=f"jobs whose utility is {kind.__name__.lower()}")
        m.add_component(kind.__name__.lower(), index)
        for field, doc in fields.items():
            declare(m, field, (index,), {i: getattr(jobs[i].utility, field) for i in own}, doc, follows=True)


def _variables(m: Any, jobs: Mapping[str, Job]) -> None:
    m.admitted = pyo.Var(m.I, domain=pyo.Binary, doc="x_i")
    m.workers = pyo.Var(
        m.I, domain=pyo.PositiveIntegers, bounds=lambda m, i: (1, jobs[i].most_workers), doc="w_i, workers"
    )
    m.servers = pyo.Var(
        m.I, domain=pyo.PositiveIntegers, bounds=lambda m, i: (1, jobs[i].most_servers), doc="p_i, servers"
    )
    m.reaches = pyo.Var(m.levels, domain=pyo.Binary, doc="1 where the job is worth that level")


def _total_utility(m: Any) -> Any:
    smooth = sum(_worth(m, i) * m.admitted[i] for i in m.I if i not in m.stepped)
    return smooth + sum(m.value[i, k] * m.reaches[i, k] for i, k in m.levels)


def _worth(m: Any, i: str) -> Any:
    time = m.completion_time[i]
    if i in m.hyperbolic:
        return m.scale[i] / (1 + time)
    if i in m.linear:
        return m.intercept[i] - m.slope[i] * time
    return m.height[i] / (1 + pyo.exp(m.steepness[i] * (time - m.midpoint[i])))


def _limit(m: Any, i: str, r: str) -> Any:
    used = m.worker_needs[i, r] * m.workers[i] + m.server_needs[i, r] * m.servers[i]
    return used * m.admitted[i] <= m.reservation[i, r]


def _reach(m: Any, i: str, k: int) -> Any:
    # The number, not the Param: LaTeX writers then write the row out, as they know no indexed expressions.
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
