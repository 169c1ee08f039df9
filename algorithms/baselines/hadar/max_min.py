"""Gavel's max-min fairness: which part of its time each job should run on each type of device.

Gavel (Narayanan et al., OSDI 2020; the code of its authors, github.com/stanford-futuredata/gavel at c4fa400,
scheduler/policies/max_min_fairness.py, class MaxMinFairnessPolicyWithPerf) maximises over Y >= 0

    min_j  scale_j throughput_j(Y) / (weight_j normaliser_j),    sum_r Y_j^r <= 1,    sum_j scale_j Y_j^r <= c^r

where scale_j is the job's gang W_j, so that of two jobs that are equally fast as gangs, one of a single device gets
more time than one of four, and throughput_j(Y) = sum_r W_j X_j^r Y_j^r counts the whole gang's iterations.

That program mostly has many optima: it says nothing of jobs above the least. Here the one is taken that is also largest
in the second least, the third, and so on, which is what Gavel calls water filling, for single jobs, and has as another
policy. The throughputs of that optimum are unique. The parts of time need not be: they are those of the vertex at which
HiGHS's simplex method ends, the same for the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction

import numpy as np

from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.lazy import sp
from dlsched.models.hadar import Instance, Job
from dlsched.models.hadar.schedule import isolated_throughput
from dlsched.models.numbers import rational
from dlsched.solvers.highs import Session
from dlsched.solvers.matrix import Floats
from dlsched.solvers.solution import SolverError
from dlsched.tolerances import AS_GOOD, CLEAR, TIGHT

DIGITS = 9
"""Decimals of a share: what is equal but for rounding becomes equal."""

_BITS = 40
"""Of numbers of ordinary size, which are passed as they are; HiGHS refuses those of 1e15, which is 2**50, and more."""

Weights = Mapping[str, float | Fraction]
"""How much each job counts: it should get so many times the normalised throughput of one with weight 1."""


class Normaliser(StrEnum):
    """What a job's throughput is measured in.

    Attributes
    ----------
    PROPORTIONAL
        The throughput on an average device of the cluster, sum_r W_j X_j^r c^r / sum_r c^r: Gavel's own, since May 2020
        (its change 155).
    ISOLATED
        The throughput with an n-th of every type where there are n jobs, for at most all of the time: sum_r W_j X_j^r
        x_j^r with x_j^r = c^r / (n W_j), divided by their sum where that is above 1. Gavel's before that change, and
        still that of its finish-time fairness. The gang counts twice with it, in the scale and in x.
    """

    PROPORTIONAL = "proportional"
    ISOLATED = "isolated"


@checked
def max_min_shares(
    instance: Instance,
    jobs: Sequence[Job],
    *,
    normaliser: Normaliser | str = Normaliser.PROPORTIONAL,
    weights: Weights | None = None,
) -> dict[str, dict[str, float]]:
    """Return the shares of some jobs under Gavel's max-min fairness, ties by lexicographic max-min.

    Types with fewer devices than the gang, or on which the job makes no progress, have no share: a gang runs as a
    whole. (Gavel's program gives a gang of four half of its time on a type with two devices, which no round can give.)
    They count in the normaliser all the same.

    Parameters
    ----------
    instance : Instance
    jobs : sequence of Job
    normaliser : {"proportional", "isolated"}
    weights : mapping of str to number, optional
        By job; 1 where it is left out.

    Returns
    -------
    dict of str to dict of str to float
        Y, by job and type, rounded to nine decimals, without zeros; a job that can run on no type is not in it.

    Raises
    ------
    InputError
        If a weight is not positive and finite, or of a job that the instance does not have.
    SolverError
        If HiGHS does not solve a program.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.max_min import max_min_shares
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> max_min_shares(instance, instance.jobs)
    {'job1': {'type1': 1.0}, 'job2': {'type1': 0.666666667}, 'job3': {'type2': 1.0}}
    >>> max_min_shares(instance, instance.jobs, weights={"job2": 3})
    {'job1': {'type1': 0.6}, 'job2': {'type1': 0.8}, 'job3': {'type2': 1.0}}
    """
    normaliser = Normaliser(normaliser)
    weight = _checked(instance, weights or {})
    return water_filled(
        instance,
        jobs,
        lambda job: job.gang / (usual_throughput(instance, job, len(jobs), normaliser) * weight.get(job.name, 1)),
    )


@checked
def water_filled(
    instance: Instance, jobs: Sequence[Job], factor: Callable[[Job], Fraction]
) -> dict[str, dict[str, float]]:
    """Return the shares whose throughputs, each times its job's factor, are lexicographically max-min.

    Parameters
    ----------
    instance : Instance
    jobs : sequence of Job
    factor : callable
        Of a job; positive.

    Returns
    -------
    dict of str to dict of str to float
        As of `max_min_shares`.

    Raises
    ------
    SolverError
        If HiGHS does not solve a program.
    """
    pairs = able_pairs(instance, jobs)
    able = {job.name: job for job, _ in pairs}
    if not able:
        return {}
    level = {name: job.gang * factor(job) for name, job in able.items()}
    worth = np.array([float(level[job.name] * job.rate_on(r)) for job, r in pairs])
    worth /= _unit_of(worth)
    return rounded_shares(pairs, _water_filled(instance, pairs, list(able), worth))


@checked
def able_pairs(instance: Instance, jobs: Sequence[Job]) -> list[tuple[Job, str]]:
    """Return the pairs of a job and a type that has devices for its gang, on which it makes progress."""
    return [(job, r) for job in jobs for r in instance.usable_types(job) if instance.capacity[r] >= job.gang]


@checked
def rounded_shares(pairs: Sequence[tuple[Job, str]], values: Sequence[float]) -> dict[str, dict[str, float]]:
    """Return shares by job and type, rounded, without zeros, from those of the pairs."""
    shares: dict[str, dict[str, float]] = {job.name: {} for job, _ in pairs}
    for (job, r), share in zip(pairs, values, strict=True):
        if rounded := round(share, DIGITS):
            shares[job.name][r] = rounded
    return shares


def _unit_of(numbers: Floats) -> float:
    """Return the power of two to measure large numbers in; 1 for those of ordinary size."""
    return math.ldexp(1.0, max(0, math.frexp(float(numbers.max(initial=0.0)))[1] - _BITS))


def _checked(instance: Instance, weights: Weights) -> dict[str, Fraction]:
    jobs = {job.name for job in instance.jobs}
    for name, weight in weights.items():
        if name not in jobs:
            raise InputError(f"weights.{name}: unknown job")
        if not 0 < weight < math.inf:
            raise InputError(f"weights.{name}: {weight} must be positive and finite")
    return {name: rational(weight) for name, weight in weights.items()}


@checked
def usual_throughput(instance: Instance, job: Job, jobs: int, normaliser: Normaliser) -> Fraction:
    """Return the throughput of a gang, in iterations per second, that counts as 1 where there are so many jobs."""
    if normaliser is Normaliser.ISOLATED:
        return isolated_throughput(instance, job, jobs)
    whole = job.gang * sum((job.rate_on(r) * n for r, n in instance.capacity.items()), Fraction(0))
    return whole / instance.devices


def _water_filled(
    instance: Instance, pairs: Sequence[tuple[Job, str]], able: Sequence[str], worth: Floats
) -> list[float]:
    """Return the share of each pair: levels are raised together, and jobs left behind where they can get no more.

    A job with a positive dual is at the level in every optimum, so its level is final, as is that of one that has all
    of the time on its best type. The duals of one program sum to 1 over at most as many jobs, so one of them is clear.
    """
    types = instance.device_types
    number = {name: i for i, name in enumerate(able)}
    device = {r: 2 * len(able) + k for k, r in enumerate(types)}
    level = len(pairs)
    best = np.zeros(len(able))
    A = np.zeros((2 * len(able) + len(types), level + 1))
    for column, ((job, r), value) in enumerate(zip(pairs, worth.tolist(), strict=True)):
        A[number[job.name], column] = value
        best[number[job.name]] = max(best[number[job.name]], value)
        A[len(able) + number[job.name], column] = 1.0
        A[device[r], column] = job.gang
    A[: len(able), level] = -1.0
    room = np.array([float(instance.capacity[r]) for r in types])
    for k, row in enumerate(A[2 * len(able) :]):
        room[k], row[:] = room[k] / _unit_of(row), row / _unit_of(row)
    lp = Session(-1, TIGHT)
    lp.add_columns(np.eye(level + 1)[level], np.full(level + 1, np.inf), sp.csc_array((0, level + 1)))
    lp.add_rows(
        np.concatenate([np.zeros(len(able)), np.full(len(able) + len(types), -np.inf)]),
        np.concatenate([np.full(len(able), np.inf), np.ones(len(able)), room]),
        sp.csr_array(A),
    )
    rising, final = np.arange(len(able)), np.zeros(len(able))
    while True:
        solved = lp.solve()
        if solved is None:
            # What rounding has put a part in 1e9 too high is asked for no more.
            left = np.flatnonzero(final).astype(np.int32)
            lp.bound_rows(left, final[left] * (1 - AS_GOOD), np.full(len(left), np.inf))
            solved = lp.solve()
        if solved is None:
            raise SolverError(
                "the program of the max-min shares has no optimum, although it is bounded and 0 is a point"
            )
        reached, point, duals = solved
        ended = (-duals[rising] > CLEAR) | (best[rising] <= reached * (1 + AS_GOOD))
        done = rising[ended].astype(np.int32)
        rising = np.setdiff1d(rising, done)
        if not len(rising):
            shares: list[float] = point[:level].tolist()
            return shares
        if not len(done):
            raise SolverError("the duals of the max-min shares do not sum to 1")
        for row in done.tolist():
            lp.set_coefficient(row, level, 0.0)
        final[done] = np.minimum(reached, best[done])
        lp.bound_rows(done, final[done], np.full(len(done), np.inf))
