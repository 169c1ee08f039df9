"""The inner problem of one job in the general form (12): ratios over a polytope, as arrays in (workers, servers)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dlsched.arguments import Floats, checked
from dlsched.models.ratio import FractionalSum, Polytope, Ratio
from dlsched.models.smd.instance import Job
from dlsched.models.smd.training import Mode


@checked
def ratios(job: Job) -> FractionalSum:
    """Return the continuous inner problem of a job that can run.

    Synchronous: (theta1 w + theta2 p + theta3)/1, theta4 w/p, theta5/w. Asynchronous: (theta2 p + theta3)/w, theta4/p,
    and theta1 as a ratio of its own. Ratios that are identically 0 are left out. The polytope has w, p >= 1: with the
    x >= 0 that (12) prints, denominators vanish at the origin.

    References
    ----------
    SMD, (9), (10) and (12), corrected.

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.models.smd import random, ratios, times
    >>> (job, *_) = random(0).jobs
    >>> found = ratios(job)
    >>> len(found.ratios), sum(float(ratio(np.array([1.0, 2.0]))) for ratio in found.ratios)
    (1, 0.5)
    >>> float(times(job, np.array([1]), np.array([2]))[0])
    0.5
    """
    return FractionalSum(_terms(job), _polytope(job))


def completion_time(job: Job, workers: Any, servers: Any) -> Any:
    """Return tau of (9) or (10), the sum of the ratios, as an expression in two variables of Pyomo."""
    return sum(quotient(ratio, workers, servers) for ratio in ratios(job).ratios)


def quotient(ratio: Ratio, workers: Any, servers: Any) -> Any:
    """Return a ratio as an expression in two variables of Pyomo."""

    def linear(coefficients: Floats, constant: float) -> Any:
        pairs = zip(coefficients.tolist(), (workers, servers), strict=True)
        return sum(a * variable for a, variable in pairs if a) + constant

    above = linear(ratio.numerator, ratio.numerator_constant)
    return above / linear(ratio.denominator, ratio.denominator_constant)


def _terms(job: Job) -> tuple[Ratio, ...]:
    theta = [float(value) for value in job.training.coefficients]
    if job.training.mode is Mode.SYNC:
        candidates = (
            _ratio((theta[0], theta[1], theta[2]), (0, 0, 1)),
            _ratio((theta[3], 0, 0), (0, 1, 0)),
            _ratio((0, 0, theta[4]), (1, 0, 0)),
        )
    else:
        candidates = (
            _ratio((0, 0, theta[0]), (0, 0, 1)),
            _ratio((0, theta[1], theta[2]), (1, 0, 0)),
            _ratio((0, 0, theta[3]), (0, 1, 0)),
        )
    return tuple(ratio for ratio in candidates if ratio.numerator.any() or ratio.numerator_constant)


def _ratio(above: tuple[float, float, float], below: tuple[float, float, float]) -> Ratio:
    """Return a ratio of two linear functions, each given by its coefficients of w and p and its constant."""
    return Ratio(np.array(above[:2], dtype=float), above[2], np.array(below[:2], dtype=float), below[2])


def _polytope(job: Job) -> Polytope:
    rows = [[float(job.worker_needs(r)), float(job.server_needs(r))] for r in job.resources]
    limits = np.array([float(job.limit_of(r)) for r in job.resources])
    return Polytope(
        A=np.array(rows, dtype=float).reshape(-1, 2),
        row_lower=np.full(limits.shape, -np.inf),
        row_upper=limits,
        lower=np.ones(2),
        upper=np.full(2, np.inf),
    )
