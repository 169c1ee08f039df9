"""Dorm (Sun et al., SMARTCOMP 2017): partitions of the cluster by a mixed-integer program of resource utilisation.

The PD-ORS paper names its parts: numbers and places of workers and servers maximise the resource utilisation, subject
to fairness and to an adjustment overhead. Assumed, after Dorm:

- A new plan is made in a slot before which jobs arrived or completed; until then every job keeps what it has.
- Utilisation is the sum of the parts of the cluster's resources that are in use.
- The dominant shares of the jobs differ from those by dominant resource fairness (`drf`) by at most ``fairness`` times
  2 R in all, R resources; the difference cannot exceed 2 R.
- Of the jobs that ran in the slot before, at most ``adjustment`` times their number, rounded up, are changed.
- Where there is no such plan, running jobs keep what they have and the others wait.
- A job has no more workers than would do its work left in one slot, at the slower of its rates.
- The program finds the numbers for the cluster as a whole. Jobs that keep what they have stay where
  they are; the others, those with the largest workers first, are placed by best fit, and get fewer where machines are
  too fragmented. A program over single machines takes minutes for a slot of the paper's size.

It is solved to a gap of 0.5 %, within a number of nodes rather than of seconds, so that runs can be repeated.

Symbols of the program: alpha, beta what a worker and a server of job i need; C^r capacity of the cluster; F_i the most
workers; gamma_i workers per server; D_i the dominant share of a worker with its part 1/gamma_i of a server; f_i its
workers by dominant resource fairness. Columns for every job: W_i and S_i, workers and servers newly placed; k_i = 1
where a job that ran in the slot before keeps all it has, w'_i workers; l_i how far its share is from the fair one::

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

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.baselines.dmlrs.cluster import Cluster, Held, Needs, grow, place, simulate
from dlsched.algorithms.baselines.dmlrs.drf import fill
from dlsched.algorithms.run import Event, Run
from dlsched.arguments import Seed, checked, seed_of
from dlsched.arithmetic import dot
from dlsched.errors import InputError
from dlsched.models.dmlrs import Instance, Job, Schedule
from dlsched.models.dmlrs.instance import AnyJob, useful_workers
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Floats, Matrix
from dlsched.solvers.solution import Status
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import TIE

_GAP = 0.005
"""Of utilisation; arbitrary."""

_NODES = 1000
"""Arbitrary; nodes rather than seconds, so that runs are the same anywhere."""


@dataclass(frozen=True, slots=True)
class Planned(Event):
    """A new plan was sought.

    Attributes
    ----------
    slot : int
    status : str
        Of the program.
    planned : float or None
        Utilisation as the program has it, 0 to R; None where there is no plan.
    short : dict of str to int
        Workers of each job that found no place.
    kept : tuple of str
        Jobs that ran and keep what they have.
    changed : tuple of str
        Jobs that ran and do not.
    """

    slot: int
    status: Status
    planned: float | None
    short: dict[str, int]
    kept: tuple[str, ...]
    changed: tuple[str, ...]


@checked
def run(instance: Instance, *, seed: Seed = 0, fairness: float = 0.1, adjustment: float = 0.1) -> Run[Schedule]:
    """Schedule an instance with Dorm.

    Parameters
    ----------
    instance : Instance
    seed : int or numpy.random.Generator
        Of the solver.
    fairness, adjustment : float
        In [0, 1]: how unfair a plan may be, and how many jobs may be changed.

    Returns
    -------
    Run
        There are no prices. The log has a `Planned` for each plan, a `Round` for each slot in which a job is there, and
        a `Stripped` for each job that ran and does not finish.

    Raises
    ------
    InputError
        If `fairness` or `adjustment` is not in [0, 1].

    Examples
    --------
    >>> from dlsched.algorithms.baselines.dmlrs.dorm import run
    >>> from dlsched.models import dmlrs
    >>> run(dmlrs.random(0), fairness=0.1, adjustment=1.0).utility
    12.0
    """
    for name, value in (("fairness", fairness), ("adjustment", adjustment)):
        if not 0 <= value <= 1:
            raise InputError(f"{name}: {value} must be in [0, 1]")
    partitions = _Partitions(instance, fairness * 2 * len(instance.resources), adjustment, seed_of(seed))
    return simulate(instance, Cluster(instance), partitions.allocate, partitions.log)


class _Partitions:
    """What each job has, from slot to slot."""

    def __init__(self, instance: Instance, fairness: float, adjustment: float, seed: int) -> None:
        self._cluster = Cluster(instance, tight=True)
        self._fair = Cluster(instance)
        self._fairness = fairness
        self._adjustment = Fraction(str(adjustment))
        self._seed = seed % 2**31
        self._size: dict[str, Fraction] = {}
        for job in instance.jobs:
            self._cluster.clear()
            alone = place(self._cluster, job, 1)
            if alone is not None:
                self._size[job.name] = self._cluster.dominant_share(alone)
        self._present: list[str] = []
        self._held: dict[str, Held] = {}
        self.log: list[Event] = []

    def allocate(self, slot: int, present: Sequence[AnyJob], remaining: Mapping[str, Fraction]) -> dict[str, Held]:
        """Return what each job has, after a new plan where jobs have arrived or completed."""
        names = [job.name for job in present]
        if names != self._present:
            before = {name: held for name, held in self._held.items() if remaining[name]}
            self._present, self._held = names, self._plan(slot, present, before, remaining)
        return self._held

    def _plan(
        self, slot: int, present: Sequence[AnyJob], before: dict[str, Held], remaining: Mapping[str, Fraction]
    ) -> dict[str, Held]:
        fair = {name: held.worker_count for name, held in fill(self._fair, present, remaining).items()}
        most = {job.name: useful_workers(job, remaining[job.name]) if job.name in self._size else 0 for job in present}
        limits = Limits(most, fair, self._fairness, math.ceil(self._adjustment * len(before)))
        matrix = program(self._cluster, present, before, limits)
        found = solve_matrix(matrix, threads=1, gap=_GAP, seed=self._seed, nodes=_NODES)
        if found.x is None:
            self.log.append(Planned(slot, found.summary.status, None, {}, tuple(before), ()))
            return before
        wanted: list[tuple[AnyJob, int]] = []
        kept: dict[str, Held] = {}
        for job, (workers, keep) in zip(present, counts(found.x), strict=True):
            if job.name in before and (keep or workers == before[job.name].worker_count):
                kept[job.name] = before[job.name]
            else:
                wanted.append((job, workers))
        plan = self._place(kept, wanted)
        short = {job.name: n - plan[job.name].worker_count for job, n in wanted}
        self.log.append(
            Planned(
                slot,
                found.summary.status,
                found.summary.objective,
                {name: missing for name, missing in short.items() if missing},
                tuple(kept),
                tuple(name for name in before if name not in kept),
            )
        )
        return {name: held for name, held in plan.items() if held.workers}

    def _place(self, kept: Mapping[str, Held], wanted: Sequence[tuple[AnyJob, int]]) -> dict[str, Held]:
        """Return what the kept jobs have, and as much of what others are to get as finds room."""
        self._cluster.clear()
        plan = dict(kept)
        for held in kept.values():
            self._cluster.claim(held)
        for job, workers in sorted(wanted, key=lambda pair: -self._size.get(pair[0].name, 0)):
            plan[job.name] = held = Held(job)
            while held.worker_count < workers and grow(self._cluster, held):
                pass
        return plan


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


@checked
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


@checked
def counts(x: Floats) -> list[tuple[int, bool]]:
    """Return W_i and whether k_i = 1, for each job."""
    return [(int(w), bool(k)) for w, _, k, _ in np.round(x).reshape(-1, 4)]


@checked
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


ALGORITHM = Algorithm("dorm", "dmlrs", "Dorm: partitions by a mixed-integer program of utilisation", run)
