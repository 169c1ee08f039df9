"""What the formulations that pack reservations share: the cluster's capacities, reservations and (2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from dlsched.lazy import pyo
from dlsched.models.parameters import declare
from dlsched.models.smd.instance import Instance, Job

RESERVATION = "v_i^r, limit and reservation [resource]"
WORKER = "O_i^r, need of a worker [resource]"
SERVER = "G_i^r, need of a server [resource]"
THETA = "theta_ik, coefficient of the completion time (9) or (10) [time]"


def cluster(m: Any, instance: Instance, jobs: Iterable[str]) -> None:
    """Add the resources that jobs reserve, what each reserves, and the capacities.

    Parameters
    ----------
    m : ConcreteModel
    instance : Instance
    jobs : iterable of str
        Those in the model.
    """
    reserved = {(i, r): size for i in jobs for r in instance.resources if (size := instance.job(i).limit_of(r))}
    used = {r for _, r in reserved}
    m.R = pyo.Set(initialize=[r for r in instance.resources if r in used], doc="resources that jobs reserve")
    m.reserved = pyo.Set(initialize=list(reserved), dimen=2, doc="jobs and the resources they reserve")
    declare(m, "reservation", (m.reserved,), reserved, RESERVATION)
    room = {r: instance.capacity_of(r) for r in m.R}
    declare(
        m, "room", (m.R,), room, "C^r, capacity of the cluster [resource]", within=pyo.NonNegativeReals, follows=True
    )


def coefficients_of(jobs: Mapping[str, Job]) -> dict[tuple[str, int], Fraction]:
    """Return theta_ik of some jobs, k from 1 on."""
    return {(i, k): theta for i, job in jobs.items() for k, theta in enumerate(job.training.coefficients, start=1)}


def reserving(m: Any, r: str) -> list[str]:
    """Return the jobs that reserve a resource."""
    return [i for i, other in m.reserved if other == r]
