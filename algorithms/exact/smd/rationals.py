"""SMD's programs over the rationals: `smd/knapsack` with the exact optimum of each job's inner problem; `smd/milp`.

Symbols: v_i^r reservation, C^r capacity, theta_ik coefficients of the completion time tau.

Exactness
---------
(2) packs what jobs reserve, whatever they use of it, and no utility rises with time. So an admitted job loses nothing
by the point (w, p) of its least time, and (1) is the knapsack problem (16) over the worths of these points. For w
workers, tau is convex in p: from p - 1 to p it changes by a non-negative multiple of theta2 - theta4 w / (p (p - 1)).
So the largest p with ``theta2 p (p - 1) <= theta4 w`` that fits is best; and all w are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import isqrt

from dlsched.algorithms.exact.certificates.program import ExactProgram, ProgramBuilder, TooLargeError
from dlsched.halt import polled
from dlsched.models.smd.inner import most_servers
from dlsched.models.smd.instance import Instance, Job

MAX_WORKERS = 20_000
"""Numbers of workers that are tried for all jobs together. Arbitrary: it takes a tenth of a second."""


def program(instance: Instance) -> ExactProgram:
    """Return `smd/knapsack` in exact numbers.

    Raises
    ------
    TooLargeError
        If it is larger than exact certificates are made for.

    References
    ----------
    SMD, (1)-(3) and (16).
    """
    built = ProgramBuilder("smd/knapsack")
    jobs = [job for job in instance.jobs if job.can_run]
    if (tried := sum(job.most_workers for job in jobs)) > MAX_WORKERS:
        raise TooLargeError(f"{tried} numbers of workers; at most {MAX_WORKERS} are tried")
    admitted = {
        job.name: [built.binary(f"admitted[{job.name}]", cost=job.utility.exact(_least_time(job)))] for job in jobs
    }
    _pack(built, instance, admitted)
    return built.program()


def joint(instance: Instance) -> ExactProgram:
    """Return `smd/milp` in exact numbers: a column for each job and point (w, p), whichever is best.

    Raises
    ------
    TooLargeError
        If it is larger than exact certificates are made for.

    References
    ----------
    SMD, (1)-(3).
    """
    built = ProgramBuilder("smd/milp")
    chosen: dict[str, list[int]] = {}
    for job in instance.jobs:
        chosen[job.name] = [
            built.binary(f"chosen[{job.name},{w},{p}]", cost=job.utility.exact(job.training.time(w, p)))
            for w, room in enumerate(polled(most_servers(job).tolist()), 1)
            for p in range(1, room + 1)
        ]
        if chosen[job.name]:
            built.row(f"once[{job.name}]", [(column, 1) for column in chosen[job.name]], upper=1)
    _pack(built, instance, chosen)
    return built.program()


def _pack(built: ProgramBuilder, instance: Instance, columns: Mapping[str, Sequence[int]]) -> None:
    """Write (2): what the jobs reserve whose columns are 1 fits the cluster."""
    for r in instance.resources:
        sizes = {name: instance.job(name).limit_of(r) for name in columns}
        terms = [(column, size) for name, size in sizes.items() if size for column in columns[name]]
        if terms:
            built.row(f"capacity[{r}]", terms, upper=instance.capacity_of(r))


def _least_time(job: Job) -> Fraction:
    """Return the completion time at the job's best point."""
    best = _best_servers(job)
    return min(job.training.time(w, best(w, room)) for w, room in enumerate(polled(most_servers(job).tolist()), 1))


def _best_servers(job: Job) -> Callable[[int, int], int]:
    """Return the function that tells how many servers, of those that there is room for, are best beside workers."""
    _, theta2, _, theta4, *_ = job.training.coefficients
    if not theta2:
        return lambda workers, room: room if theta4 else 1
    ratio = 4 * theta4 / theta2
    # The largest p with p (p - 1) <= theta4 w / theta2: (2p - 1)^2 <= 4 theta4 w / theta2 + 1, and p is whole.
    return lambda workers, room: max(1, min(room, (1 + isqrt(ratio.numerator * workers // ratio.denominator + 1)) // 2))
