"""The joint relaxation of (10), by which the print bounds ring sizes.

Symbols: y_is[t] `workers`, continuous; `count` the share that a job has of each worker count, so that its utility is
the concave envelope of mu_i on whole counts; z_{i,t-1} worker-slots so far.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dlsched.lazy import pyo
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.job import Job
from dlsched.models.ddljs.requests import RingProblem, expect_stage, problem_of, request_of
from dlsched.models.solve import solve
from dlsched.models.utility import Table
from dlsched.tolerances import TOLERANCE


def left(job: Job, so_far: int = 0) -> Fraction | None:
    """Return min_r F_i^r / l_i^r - z, the right-hand side of (11), not rounded; None where no budget limits it."""
    if job.budget is None:
        return None
    ratios = [job.budget.get(r, Fraction(0)) / need for r, need in job.worker.items() if need]
    return min(ratios) - so_far if ratios else None


def active(instance: Instance, slot: int, so_far: Mapping[str, int]) -> tuple[Job, ...]:
    """Return I[t] as printed: the jobs that have arrived and have some budget left, be it for less than a worker."""
    jobs = [(job, left(job, so_far.get(job.name, 0))) for job in instance.jobs if job.arrival <= slot]
    return tuple(job for job, rest in jobs if rest is None or rest > 0)


def build_joint(instance: Instance, slot: int, so_far: Mapping[str, int]) -> pyo.ConcreteModel:
    """Return (10) with (2), (4) and (11) relaxed and the ring left out.

    References
    ----------
    GADGET, Section V-C, step i). Utilities between whole counts are interpolated; where mu_i is not concave,
    its envelope is.
    """
    m = pyo.ConcreteModel(name="joint relaxation of (10)")
    jobs = {job.name: job for job in active(instance, slot, so_far)}
    limit = {i: _limit(job, so_far.get(i, 0)) for i, job in jobs.items()}
    m.largest = {i: math.ceil(most) for i, most in limit.items()}
    m.limit = {i: float(most) for i, most in limit.items()}
    m.need = {(i, r): float(job.worker_needs(r)) for i, job in jobs.items() for r in instance.resources}
    servers = [node.name for node in instance.servers]
    m.I = pyo.Set(initialize=list(jobs), doc="active jobs")
    m.S = pyo.Set(initialize=servers, doc="servers")
    m.SR = pyo.Set(
        initialize=[(s, r) for s in servers for r in instance.resources if any(m.need[i, r] for i in jobs)],
        dimen=2,
        doc="servers and resources that jobs need",
    )
    m.counts = pyo.Set(
        initialize=[(i, k) for i in jobs for k in range(m.largest[i] + 1)], dimen=2, doc="jobs and worker counts"
    )
    m.workers = pyo.Var(m.I, m.S, domain=pyo.NonNegativeReals, doc="y_is[t], workers")
    m.count = pyo.Var(m.counts, bounds=(0, 1), doc="share of a worker count")
    value = {(i, k): float(_value(instance, jobs[i], so_far.get(i, 0) + k)) for i, k in m.counts}
    m.total_utility = pyo.Objective(
        expr=sum(value[ik] * m.count[ik] for ik in m.counts), sense=pyo.maximize, doc="(10) utility of the active jobs"
    )
    m.capacity = pyo.Constraint(
        m.SR,
        rule=lambda m, s, r: (
            sum(m.need[i, r] * m.workers[i, s] for i in m.I if m.need[i, r]) <= float(instance.node(s).capacity_of(r))
        ),
        doc="(4) capacity of a server and resource",
    )
    m.one = pyo.Constraint(m.I, rule=_one, doc="(10) shares of worker counts")
    m.total = pyo.Constraint(m.I, rule=_total, doc="(10) workers by their counts")
    m.most = pyo.Constraint(
        m.I if servers else [],
        rule=lambda m, i: sum(m.workers[i, s] for s in m.S) <= m.limit[i],
        doc="(2) (11) at most N_i workers, within the budget",
    )
    return m


def _limit(job: Job, so_far: int) -> Fraction:
    rest = left(job, so_far)
    return Fraction(job.max_workers) if rest is None else min(Fraction(job.max_workers), rest)


def _one(m: Any, i: str) -> Any:
    return sum(m.count[i, k] for k in range(m.largest[i] + 1)) == 1


def _total(m: Any, i: str) -> Any:
    return sum(k * m.count[i, k] for k in range(1, m.largest[i] + 1)) == sum(m.workers[i, s] for s in m.S)


def joint_sizes(instance: Instance, slot: int, so_far: Mapping[str, int]) -> dict[str, int]:
    """Return ceil(q_i[t]) as printed, by active job: its workers in an optimum of the joint relaxation, rounded up.

    Of several optima it is the one that the solver finds; and it is an optimum for mu_i interpolated between whole
    counts, where the print has mu_i itself: a strictly concave one may give other sizes.
    """
    m = build_joint(instance, slot, so_far)
    solve(m, threads=1)
    return {i: math.ceil(sum(m.workers[i, s].value for s in m.S) - TOLERANCE) for i in m.I}


def _value(instance: Instance, job: Job, worker_slots: int) -> Fraction:
    """Return mu_i(zeta_i n); a table, which need not cover what breaks the budget, keeps its last value there."""
    if isinstance(job.utility, Table):
        worker_slots = min(worker_slots, instance.most(job))
    return job.value(worker_slots)


def printed_problem(instance: Instance, slot: int, so_far: Mapping[str, int]) -> RingProblem:
    """Return the embedding problem of a slot with the ring sizes Q_i[t] = {1, .., ceil(q_i[t])} as printed.

    Raises
    ------
    InputError
        If the slot is outside 1..T, or a job's utility so far is minus infinity (a log utility at 0).
    """
    expect_stage(instance, slot, so_far)
    requests = []
    for name, largest in joint_sizes(instance, slot, so_far).items():
        job, done = instance.job(name), so_far.get(name, 0)
        if largest:
            now = _value(instance, job, done)
            profit = {k: _value(instance, job, done + k) - now for k in range(1, largest + 1)}
            requests.append(request_of(job, profit))
    return problem_of(instance, slot, requests)
