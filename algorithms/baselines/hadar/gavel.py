"""Gavel's round-based mechanism, as the Hadar paper's motivational example describes it (Section II-A, Figure 1(a)).

A share Y_j^r says which part of its time job j should run on devices of type r. In every round the pairs (j, r) are
taken by priority, Y_j^r over the rounds that j has had on r, infinite if it has had none, ties by job and then type as
listed; a job gets its whole gang on that one type if so many devices are free, and runs on one type at most. A share of
0 means never. On the paper's example this takes 6 rounds and keeps 28 of 36 devices busy.

Where no shares are given they are those of Gavel's max-min policy, found by a linear program over the jobs at hand and
found anew, with the counts of rounds back at 0, whenever a job arrives or completes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from dlsched.algorithms.run import Event, Run, Stripped
from dlsched.models.hadar import Instance, Job, Schedule, place, utility

Shares = Mapping[str, Mapping[str, float]]
"""Y: job name to type to the part of the time, absent types 0."""


@dataclass(frozen=True, slots=True)
class Round(Event):
    """One round.

    Attributes
    ----------
    slot : int
    types : dict of str to str
        The type that each running job runs on.
    remaining : dict of str to Fraction
        Iterations left after the round, by job of the instance.
    busy : int
        Devices in use.
    """

    slot: int
    types: dict[str, str]
    remaining: dict[str, Fraction]
    busy: int


def run(instance: Instance, shares: Shares | None = None, *, seed: int = 0) -> Run[Schedule]:
    """Schedule an instance by priorities in rounds; one round is one slot.

    Parameters
    ----------
    instance : Instance
    shares : mapping, optional
        Y, ``{job: {type: part}}``; by default those of `max_min_shares`, kept up to date.
    seed : int
        Not used: nothing is drawn at random.

    Returns
    -------
    Run
        There are no prices. The log has a `Round` for each slot in which a job is there, and a `Stripped` for each job
        that ran and does not finish.

    Raises
    ------
    ValueError
        If a share is of an unknown job or type, negative or not finite.
    """
    del seed
    if shares is not None:
        _check(instance, shares)
    remaining = {job.name: job.iterations for job in instance.jobs}
    given: dict[tuple[str, str], int] = {}
    counts: dict[int, dict[str, dict[str, int]]] = {}
    log: list[Event] = []
    present: list[Job] = []
    current: Shares = shares or {}
    for t in range(1, instance.slots + 1):
        before, present = present, [job for job in instance.jobs if job.arrival <= t and remaining[job.name] > 0]
        if shares is None and present != before:
            current, given = max_min_shares(instance, present), {}
        if not present:
            continue
        types = _round(instance, present, current, given)
        for name, r in types.items():
            job = instance.job(name)
            remaining[name] = max(Fraction(0), remaining[name] - instance.work(job, r))
            given[name, r] = given.get((name, r), 0) + 1
        counts[t] = {name: {r: instance.job(name).gang} for name, r in types.items()}
        log.append(Round(t, types, dict(remaining), sum(instance.job(name).gang for name in types)))
    return _result(instance, counts, remaining, log)


def max_min_shares(instance: Instance, jobs: list[Job]) -> dict[str, dict[str, float]]:
    """Return the shares that maximise the least normalised throughput of some jobs (Gavel's max-min policy).

    Maximise z over Y >= 0 and z with sum_r X_j^r Y_j^r >= z E_j for every job, sum_r Y_j^r <= 1, and
    sum_j W_j Y_j^r <= c^r, where E_j = sum_r X_j^r c^r / sum_r c^r is the job's rate on an average device. Types with
    fewer devices than the gang, or on which the job makes no progress, have no share; a job left with none is not in
    the answer. Shares below 1e-9 count as 0.

    Parameters
    ----------
    instance : Instance
    jobs : list of Job
    """
    pairs = [(job, r) for job in jobs for r in instance.usable_types(job) if instance.capacity[r] >= job.gang]
    able = list(dict.fromkeys(job.name for job, _ in pairs))
    if not able:
        return {}
    types = instance.device_types
    row, limit = {name: i for i, name in enumerate(able)}, {r: 2 * len(able) + i for i, r in enumerate(types)}
    matrix = np.zeros((2 * len(able) + len(types), len(pairs) + 1))
    for column, (job, r) in enumerate(pairs):
        matrix[row[job.name], column] = -float(job.rate_on(r) / _average_rate(instance, job))
        matrix[len(able) + row[job.name], column] = 1.0
        matrix[limit[r], column] = job.gang
    matrix[: len(able), -1] = 1.0
    right = [0.0] * len(able) + [1.0] * len(able) + [float(instance.capacity[r]) for r in types]
    solution = linprog([0.0] * len(pairs) + [-1.0], A_ub=matrix, b_ub=right, method="highs")
    if solution.x is None:
        raise RuntimeError(f"the linear program of the max-min shares failed: {solution.message}")
    shares: dict[str, dict[str, float]] = {name: {} for name in able}
    for (job, r), share in zip(pairs, solution.x, strict=False):
        if share > 1e-9:
            shares[job.name][r] = float(share)
    return shares


def _average_rate(instance: Instance, job: Job) -> Fraction:
    return sum((job.rate_on(r) * n for r, n in instance.capacity.items()), Fraction(0)) / instance.devices


def _round(
    instance: Instance, present: list[Job], shares: Shares, given: Mapping[tuple[str, str], int]
) -> dict[str, str]:
    """Return the type that each job runs on in one round."""
    pairs = []
    for i, job in enumerate(present):
        for k, r in enumerate(instance.device_types):
            share, rounds = shares.get(job.name, {}).get(r, 0.0), given.get((job.name, r), 0)
            if share > 0 and job.rate_on(r):
                pairs.append((-share / rounds if rounds else -math.inf, i, k))
    free = dict(instance.capacity)
    types: dict[str, str] = {}
    for _, i, k in sorted(pairs):
        job, r = present[i], instance.device_types[k]
        if job.name not in types and job.gang <= free[r]:
            types[job.name] = r
            free[r] -= job.gang
    return types


def _result(
    instance: Instance,
    counts: dict[int, dict[str, dict[str, int]]],
    remaining: dict[str, Fraction],
    log: list[Event],
) -> Run[Schedule]:
    schedule = place(instance, counts)
    unfinished = [name for name in schedule.jobs if remaining[name] > 0]
    for name in unfinished:
        needed = instance.job(name).iterations
        log.append(Stripped(name, tuple(schedule.jobs[name].slots), needed - remaining[name], needed))
    kept = schedule.without(unfinished)
    return Run(kept, utility(instance, kept), {}, tuple(log))


def _check(instance: Instance, shares: Shares) -> None:
    jobs = {job.name for job in instance.jobs}
    for name, by_type in shares.items():
        if name not in jobs:
            raise ValueError(f"shares.{name}: unknown job")
        for r, share in by_type.items():
            if r not in instance.device_types:
                raise ValueError(f"shares.{name}.{r}: unknown device type")
            if not 0 <= share < math.inf:
                raise ValueError(f"shares.{name}.{r}: {share} must be finite and not negative")
