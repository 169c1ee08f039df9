"""The inner problem (6)-(10) of one job, its completion time a sum of ratios as in (12)."""

from __future__ import annotations

from typing import Any

from dlsched.errors import InputError
from dlsched.lazy import pyo
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.job import job_or_first
from dlsched.models.parameters import declare
from dlsched.models.smd.data import RESERVATION, SERVER, THETA, WORKER, coefficients_of
from dlsched.models.smd.inner import Point
from dlsched.models.smd.instance import Instance, Job
from dlsched.models.smd.ratios import completion_time

_BOUNDED = "the bounds of workers and servers were derived from it"


def build(instance: Instance, job: str | None = None) -> pyo.ConcreteModel:
    """Return the inner problem of a job.

    To maximise the utility (6) is to minimise the completion time, since no utility increases. The counts start at 1:
    with the x >= 0 that (12) prints, the origin is feasible and the denominators vanish there.

    Parameters
    ----------
    instance : Instance
    job : str, optional
        Name of the job; the first that can run where it is left out.

    Raises
    ------
    InputError
        If there is no such job, or its limits leave no room for one worker and one server.

    References
    ----------
    SMD, (6)-(10) and (12), corrected.
    """
    data = job_of(instance, job)
    model = pyo.ConcreteModel(name=f"SMD inner problem of {data.name}")
    model.job = data.name
    model.R = pyo.Set(initialize=list(data.resources), doc="resources that the job needs")
    limit = {r: data.limit_of(r) for r in model.R}
    declare(model, "worker_needs", (model.R,), {r: data.worker_needs(r) for r in model.R}, WORKER)
    declare(model, "server_needs", (model.R,), {r: data.server_needs(r) for r in model.R}, SERVER)
    declare(model, "reservation", (model.R,), limit, RESERVATION, within=pyo.NonNegativeReals, why=_BOUNDED)
    coefficients = coefficients_of({data.name: data})
    model.K = pyo.Set(initialize=[k for _, k in coefficients], doc="coefficients of the completion time")
    declare(model, "theta", (model.K,), {k: value for (_, k), value in coefficients.items()}, THETA)
    model.workers = pyo.Var(domain=pyo.PositiveIntegers, bounds=(1, data.most_workers), doc="w, workers (8)")
    model.servers = pyo.Var(domain=pyo.PositiveIntegers, bounds=(1, data.most_servers), doc="p, servers (8)")
    model.completion_time = pyo.Objective(
        expr=completion_time(data, model.workers, model.servers), doc="(6) (12) completion time, a sum of ratios"
    )
    model.limit = pyo.Constraint(
        model.R,
        rule=lambda m, r: m.worker_needs[r] * m.workers + m.server_needs[r] * m.servers <= m.reservation[r],
        doc="(7) the job keeps its limits",
    )
    return model


def job_of(instance: Instance, name: str | None) -> Job:
    """Return a job that can run, by its name; the first one for None.

    Raises
    ------
    InputError
        If there is none, or its limits leave no room for one worker and one server.
    """
    found = job_or_first(instance.jobs, name, lambda job: job.can_run)
    if not found.can_run:
        who = "no job's limits leave" if name is None else f"the limits of {name} leave no"
        raise InputError(f"job: {who} room for one worker and one server")
    return found


def read(model: Any, instance: Instance) -> Point:
    """Return the job's workers and servers; the point's `time` is what the objective says."""
    return Point.of(instance.job(model.job), round(model.workers.value), round(model.servers.value))


INNER = Formulation(
    "smd/inner",
    Instance,
    "the inner problem of one job, its completion time a sum of ratios: nonlinear",
    ("(6)", "(7)", "(12)"),
    Kind.SUBPROBLEM,
    build,
    read,
    data={"job": "the first job that can run"},
    linear=False,
)
