"""SMD's program over the rationals: `smd/knapsack` with the exact optimum of each job's inner problem.

Symbols: v_i^r reservation, C^r capacity, theta_ik coefficients of the completion time tau.

Exactness
---------
(2) packs what jobs reserve, whatever they use of it, and no utility rises with time. So an admitted job loses nothing
by the point (w, p) of its least time, and (1) is the knapsack problem (16) over the worths of these points. For w
workers, tau is convex in p: from p - 1 to p it changes by a non-negative multiple of theta2 - theta4 w / (p (p - 1)).
So the largest p with ``theta2 p (p - 1) <= theta4 w`` that fits is best; and all w are tried.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from dlsched.algorithms.exact.certificates.program import ExactProgram, ProgramBuilder, TooLargeError
from dlsched.halt import polled
from dlsched.models.smd.instance import Instance, Job

MAX_WORKERS = 20_000
"""Numbers of workers that are tried for all jobs together. Arbitrary: it takes a tenth of a second."""


def program(instance: Instance) -> ExactProgram:
    """Return `smd/knapsack` in exact numbers.

    Raises
    ------
    TooLargeError
        If it is larger than exact certificates are made for.

    Source: SMD, (1)-(3) and (16).
    """
    built = ProgramBuilder("smd/knapsack")
    jobs = [job for job in instance.jobs if job.can_run]
    if (tried := sum(job.most_workers for job in jobs)) > MAX_WORKERS:
        raise TooLargeError(f"{tried} numbers of workers; at most {MAX_WORKERS} are tried")
    admitted = [built.binary(f"admitted[{job.name}]", cost=job.utility.exact(_least_time(job))) for job in jobs]
    for r in instance.resources:
        terms = [(column, job.limit_of(r)) for column, job in zip(admitted, jobs, strict=True)]
        if any(size for _, size in terms):
            built.row(f"capacity[{r}]", terms, upper=instance.capacity_of(r))
    return built.program()


def _least_time(job: Job) -> Fraction:
    """Return the completion time at the job's best point."""
    counts = ((w, _best_servers(job, w)) for w in polled(range(1, job.most_workers + 1)))
    return min(job.training.time(w, p) for w, p in counts)


def _best_servers(job: Job, workers: int) -> int:
    """Return the servers that are best beside some workers."""
    room = min(
        (job.limit_of(r) - job.worker_needs(r) * workers) // need
        for r in job.resources
        if (need := job.server_needs(r))
    )
    _, theta2, _, theta4, *_ = job.training.coefficients
    if not theta2:
        return room if theta4 else 1
    ratio = theta4 * workers / theta2
    # The largest p with p (p - 1) <= ratio: (2p - 1)^2 <= 4 ratio + 1, and p is whole.
    return max(1, min(room, (1 + isqrt(4 * ratio.numerator // ratio.denominator + 1)) // 2))
