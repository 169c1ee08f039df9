"""Dorm's mixed-integer program of one slot: how many workers and servers each job gets, and which jobs keep theirs.

Symbols: alpha, beta what a worker and a server of job i need; C^r capacity of the cluster; F_i the most workers;
gamma_i workers per server; D_i the dominant share of a worker with its part 1/gamma_i of a server; f_i its workers by
dominant resource fairness. Columns for every job: W_i and S_i, workers and servers newly placed; k_i = 1 where a job
that ran in the slot before keeps all it has, w'_i workers; l_i how far its share is from the fair one.

    maximise    sum over i, r of what i has of r / C^r
    subject to  sum_i alpha W_i + beta S_i + (what i has of r) k_i <= C^r
                W_i <= F_i (1 - k_i),   W_i <= gamma_i S_i < W_i + gamma_i   (so that S_i = ceil(W_i / gamma_i))
                D_i |W_i + w'_i k_i - f_i| <= l_i,   sum_i l_i <= fairness
                sum_i (1 - k_i) <= adjustments.

W_i and S_i are at most what fits on empty machines. For an asynchronous job gamma_i = B / b with the smaller data rate
b, the fewest servers that it can have; below 1 it gets nothing, as (3.5) forbids more servers than workers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dlsched.algorithms.baselines.dmlrs.cluster import AnyJob, Cluster, Held, Needs
from dlsched.arithmetic import dot
from dlsched.models.dmlrs import Job
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Floats, Matrix
from dlsched.tolerances import TIE


@dataclass(frozen=True, slots=True)
class Limits:
    """What a plan of one slot has to keep to.

    Attributes
    ----------
    most : dict of str to int
        F_i, by job.
    fair : dict of str to int
        f_i, by job; absent is 0.
    fairness : float
        The most that shares may differ from the fair ones, in all.
    adjustments : int
        How many of the jobs that ran may be changed.
    """

    most: Mapping[str, int]
    fair: Mapping[str, int]
    fairness: float
    adjustments: int


def program(cluster: Cluster, jobs: Sequence[AnyJob], before: Mapping[str, Held], limits: Limits) -> Matrix:
    """Return the program as arrays; columns are W, S, k, l of the first job, then of the second, and so on.

    Parameters
    ----------
    cluster : Cluster
    jobs : sequence of Job or AsyncJob
    before : mapping of str to Held
        What those jobs have that ran in the slot before.
    limits : Limits
    """
    resources = len(cluster.total)
    upper, value = np.zeros((len(jobs), 4)), np.zeros((len(jobs), 4))
    link = np.zeros((resources + 2, len(jobs), 4))
    blocks, lower_rows, upper_rows = [], [], []
    for i, job in enumerate(jobs):
        kept, most, gamma = before.get(job.name, Held(job)), limits.most[job.name], ratio(job)
        units = np.array([_parts(cluster, cluster.worker_needs(job)), _parts(cluster, cluster.server_needs(job))])
        used = np.array([*units, dot([kept.worker_count, kept.server_count], units)])
        link[:resources, i, :3] = used.T
        value[i, :3] = np.maximum(used.sum(axis=1), (TIE, 0.0, TIE))
        link[resources:, i] = (0, 0, 0, 1), (0, 0, 1, 0)
        servers = math.ceil(most / gamma) if gamma else 0
        upper[i] = (
            _fitting(cluster, cluster.worker_needs(job), most if gamma else 0),
            _fitting(cluster, cluster.server_needs(job), servers),
            job.name in before,
            np.inf,
        )
        inverse = float(1 / gamma) if gamma else 0.0
        dominant = float((units[0] + inverse * units[1]).max(initial=0.0))
        have = dominant * kept.worker_count
        blocks.append([[1, 0, most, 0], [-inverse, 1, 0, 0], [dominant, 0, have, -1], [dominant, 0, have, 1]])
        fair = dominant * limits.fair.get(job.name, 0)
        lower_rows += [-np.inf, 0.0, -np.inf, fair]
        upper_rows += [most, 1 - 1 / gamma.numerator if gamma else 0.0, fair, np.inf]
    builder = Builder(-1)
    x = builder.columns(upper, cost=value, integer=[True, True, True, False])
    shared = builder.rows(
        [*[-np.inf] * (resources + 1), len(before) - limits.adjustments],
        [*[1.0] * resources, limits.fairness, np.inf],
    )
    builder.add(shared[:, None, None], x, link)
    own = builder.rows(lower_rows, upper_rows)
    builder.add(own.reshape(-1, 4, 1), x[:, None, :], np.array(blocks, dtype=float).reshape(-1, 4, 4))
    return builder.matrix()


def counts(x: Floats) -> list[tuple[int, bool]]:
    """Return W_i and whether k_i = 1, for each job."""
    return [(int(w), bool(k)) for w, _, k, _ in np.round(x).reshape(-1, 4)]


def ratio(job: AnyJob) -> Fraction | None:
    """Return gamma_i; None where an asynchronous job can have no servers at all."""
    if isinstance(job, Job):
        return job.workers_per_server
    gamma = job.server_rate / min(job.internal_rate, job.external_rate)
    return gamma if gamma >= 1 else None


def _parts(cluster: Cluster, needs: Needs) -> list[float]:
    """Return which part of the cluster's amount of each resource a unit needs; 0 where there is none of it."""
    amounts = dict(needs)
    return [amounts.get(r, 0) / total if total else 0.0 for r, total in enumerate(cluster.total)]


def _fitting(cluster: Cluster, needs: Needs, limit: int) -> int:
    """Return how many units fit on the empty machines, at most `limit`."""
    held = (min((room[r] // amount for r, amount in needs), default=limit) for room in cluster.capacity)
    return min(limit, sum(held))
