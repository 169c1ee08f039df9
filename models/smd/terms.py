"""The completion time (9) or (10) as an expression in two Pyomo variables: one ratio a term, as in (12)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dlsched.models.smd.instance import Job
from dlsched.models.smd.training import Mode


def terms(job: Job, workers: Any, servers: Any) -> Iterator[Any]:
    """Yield the ratios of (12), those that are identically 0 left out.

    Synchronous: theta1 w + theta2 p + theta3, theta4 w/p and theta5/w. Asynchronous: theta1, (theta2 p + theta3)/w and
    theta4/p.

    Parameters
    ----------
    job : Job
    workers, servers : Var
        w and p.
    """
    theta = [float(value) for value in job.training.coefficients]
    w, p = workers, servers
    if job.training.mode is Mode.SYNC:
        if any(theta[:3]):
            yield theta[0] * w + theta[1] * p + theta[2]
        if theta[3]:
            yield theta[3] * w / p
        if theta[4]:
            yield theta[4] / w
        return
    if theta[0]:
        yield theta[0]
    if any(theta[1:3]):
        yield (theta[1] * p + theta[2]) / w
    if theta[3]:
        yield theta[3] / p


def completion_time(job: Job, workers: Any, servers: Any) -> Any:
    """Return tau, the sum of the `terms`."""
    return sum(terms(job, workers, servers))
