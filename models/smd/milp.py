"""Problem (1)-(3) as a mixed-integer linear program: one binary a job and feasible (workers, servers) point.

Symbols: z_i,(w,p) `chosen`, 1 where job i is admitted with w workers and p servers; v_i^r reservation, C^r capacity.

Exact, since (2) packs reservations and not use: what a point costs does not depend on the point. `build_layers` is the
same program for a completion time in which the critical path through the layers depends on the point, where (4) and (5)
fix it at the measured layer times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dlsched.errors import InputError
from dlsched.lazy import pyo
from dlsched.models.formulation import Formulation, Kind, accepted
from dlsched.models.parameters import declare
from dlsched.models.smd.data import cluster, reserving
from dlsched.models.smd.inner import Ints, points
from dlsched.models.smd.instance import Instance, Job
from dlsched.models.smd.layered import layered_time
from dlsched.models.smd.schedule import Schedule, check

MAX_POINTS = 2_000_000
"""The most points of all jobs together that are written out."""


def build(instance: Instance) -> pyo.ConcreteModel:
    """Return Problem (1) over all feasible points.

    Raises
    ------
    InputError
        If the jobs have more than `MAX_POINTS` points.

    References
    ----------
    SMD, (1)-(3) with (9) and (10), reformulated exactly.
    """
    return _frame(instance, lambda job, w, p: job.utility(job.training.time(w, p)))


def build_layers(instance: Instance) -> pyo.ConcreteModel:
    """Return Problem (1) with the critical path of each point: transfer times grow with w/p, forward times with m.

    Raises
    ------
    InputError
        If the jobs have more than `MAX_POINTS` points.

    References
    ----------
    SMD, Lemma 1 and Lemma 2 corrected, in place of the constant eta of (4) and (5).
    """
    return _frame(instance, lambda job, w, p: job.utility(layered_time(job.training, w, p)))


def _frame(instance: Instance, worth: Callable[[Job, int, int], float]) -> pyo.ConcreteModel:
    model = pyo.ConcreteModel(name="SMD over all points")
    feasible = _points(instance)
    jobs = {name: instance.job(name) for name in feasible}
    model.I = pyo.Set(initialize=list(jobs), doc="jobs whose limits leave room for a worker and a server")
    cluster(model, instance, jobs)
    utility = {(i, w, p): worth(jobs[i], w, p) for i, rows in feasible.items() for w, p in rows.tolist()}
    model.points = pyo.Set(
        initialize=list(utility),
        dimen=3,
        doc="(3) jobs and the numbers of workers and servers that keep their limits",
    )
    model.chosen = pyo.Var(model.points, domain=pyo.Binary, doc="z_i,(w,p)")
    declare(model, "utility", (model.points,), utility, "mu_i(tau_i), worth of the point [utility]", follows=True)
    model.total_utility = pyo.Objective(
        expr=sum(mu * z for mu, z in zip(model.utility.values(), model.chosen.values(), strict=True)),
        sense=pyo.maximize,
        doc="(1) total utility",
    )
    of: dict[str, list[Any]] = {i: [] for i in jobs}
    for (i, _, _), chosen in model.chosen.items():
        of[i].append(chosen)
    model.once = pyo.Constraint(
        model.I, rule=lambda m, i: sum(of[i]) <= 1, doc="(3) rejected, or one point within the job's limits"
    )
    model.capacity = pyo.Constraint(
        model.R, rule=lambda m, r: _reserved(m, r, of) <= m.room[r], doc="(2) reservations fit the cluster"
    )
    return model


def _reserved(m: Any, r: str, of: dict[str, list[Any]]) -> Any:
    sizes = {i: m.reservation[i, r] for i in reserving(m, r)}
    return sum(size * z for i, size in sizes.items() for z in of[i])


def _points(instance: Instance) -> dict[str, Ints]:
    found: dict[str, Ints] = {}
    total = 0
    for job in instance.jobs:
        if job.can_run:
            found[job.name] = points(job)
            total += len(found[job.name])
            if total > MAX_POINTS:
                raise InputError(
                    f"the jobs have more than {MAX_POINTS} feasible (workers, servers) points to write out"
                )
    return found


def read(model: Any, instance: Instance) -> Schedule:
    """Return the schedule of a solved model: each admitted job's point.

    Of `smd/milp-layers` it is worth what the objective says by `dlsched.models.smd.layered.layered_utility`; by (1), in
    which the path that is critical at the measured times stands for all, at least as much.
    """
    found = Schedule.of({i: (w, p) for i, w, p in model.points if round(model.chosen[i, w, p].value)})
    return accepted(found, check(instance, found))


MILP = Formulation(
    "smd/milp",
    Instance,
    "Problem (1) over every feasible number of workers and servers",
    ("(1)", "(2)", "(3)"),
    Kind.EXACT,
    build,
    read,
)

MILP_LAYERS = Formulation(
    "smd/milp-layers",
    Instance,
    "Problem (1) with the critical path through the layers of each point, not a constant eta",
    ("(1)", "(2)", "(3)"),
    Kind.EXTENSION,
    build_layers,
    read,
)
