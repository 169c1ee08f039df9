"""Gavel's policies: which part of its time each job should run on each type of device.

Gavel (Narayanan et al., OSDI 2020; the code of its authors, github.com/stanford-futuredata/gavel at c4fa400,
scheduler/policies) states each as a program over shares Y >= 0 with

    sum_r Y_j^r <= 1,    sum_j W_j Y_j^r <= c^r,    throughput_j(Y) = sum_r W_j X_j^r Y_j^r.

Its max-min fairness is `max_min`. What a program leaves open, since it mostly has many optima, is decided here so:
where a least or a greatest over jobs is optimised, by the next one, the one after it, and so on (`water_filled`), of
finish-time fairness by a job's throughput over that which keeps it within the greatest ratio; where a sum is, by the
vertex at which HiGHS ends, the same for the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np

from dlsched.algorithms.baselines.hadar.max_min import (
    Normaliser,
    Weights,
    able_pairs,
    max_min_shares,
    rounded_shares,
    usual_throughput,
    water_filled,
)
from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.lazy import sp
from dlsched.models.hadar import Instance, Job
from dlsched.models.numbers import rational
from dlsched.solvers.solution import SolverError
from dlsched.tolerances import STILL, TIGHT

_DIGITS = 3
"""Of the ratio with which the levels of finish-time fairness begin. cvxpy's interior point finds about eight, the last
of which depend on the processor; so few are the same on every one."""

_START = Fraction(1, 1000)
"""By which part that ratio is raised, so that it can be reached: the last of its digits and more."""

_SOLVED = ("optimal", "optimal_inaccurate")

Shares = dict[str, dict[str, float]]
Amounts = Mapping[str, float | Fraction]


class Policy(StrEnum):
    """What Gavel optimises.

    Attributes
    ----------
    MAX_MIN_FAIRNESS
        The least normalised throughput (`max_min`).
    MAX_SUM_THROUGHPUT
        The sum of the throughputs, on a type per what a device of it costs, with floors that jobs must reach.
    MIN_TOTAL_DURATION
        The time until the last of the jobs there is done. Gavel's own code bisects it to 5 %; here it is exact.
    FINISH_TIME_FAIRNESS
        The greatest ratio of the time from a job's arrival to its end to what it would take on an n-th of each type.
    """

    MAX_MIN_FAIRNESS = "max-min-fairness"
    MAX_SUM_THROUGHPUT = "max-sum-throughput"
    MIN_TOTAL_DURATION = "min-total-duration"
    FINISH_TIME_FAIRNESS = "finish-time-fairness"


@dataclass(frozen=True, slots=True)
class Progress:
    """What has been done when shares are asked for.

    Attributes
    ----------
    remaining : mapping of str to Fraction
        Iterations left, by job.
    since : mapping of str to Fraction
        Seconds since a job's arrival.
    isolated : mapping of str to Fraction
        Seconds that the iterations done would have taken on the n-ths of the cluster that there were.
    """

    remaining: Mapping[str, Fraction]
    since: Mapping[str, Fraction]
    isolated: Mapping[str, Fraction]

    @classmethod
    def none(cls, jobs: Sequence[Job]) -> Progress:
        """Return the progress of jobs that have just arrived."""
        nothing = {job.name: Fraction(0) for job in jobs}
        return cls({job.name: job.iterations for job in jobs}, nothing, nothing)


class Watch:
    """The progress of jobs over the shares that are found anew.

    Parameters
    ----------
    instance : Instance
    """

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._isolated: dict[str, Fraction] = {}
        self._before: dict[str, tuple[Fraction, Fraction]] = {}

    def progress(self, jobs: Sequence[Job], slot: Fraction, remaining: Mapping[str, Fraction]) -> Progress:
        """Return the progress of the jobs that are there when a slot begins, or inside one.

        Parameters
        ----------
        jobs : sequence of Job
        slot : Fraction
            Its number, with the part of it that is over.
        remaining : mapping of str to Fraction
            Iterations left, by job.
        """
        for job in jobs:
            if job.name in self._before:
                was, speed = self._before[job.name]
                self._isolated[job.name] += (was - remaining[job.name]) / speed
        able = {job.name: job for job, _ in able_pairs(self._instance, jobs)}
        self._before = {
            name: (remaining[name], usual_throughput(self._instance, job, len(jobs), Normaliser.ISOLATED))
            for name, job in able.items()
        }
        return Progress(
            {job.name: remaining[job.name] for job in jobs},
            {job.name: (slot - job.arrival) * self._instance.slot_seconds for job in jobs},
            {job.name: self._isolated.setdefault(job.name, Fraction(0)) for job in jobs},
        )


@checked
def policy_shares(
    instance: Instance,
    jobs: Sequence[Job],
    policy: Policy | str = Policy.MAX_MIN_FAIRNESS,
    *,
    progress: Progress | None = None,
    normaliser: Normaliser | str = Normaliser.PROPORTIONAL,
    weights: Weights | None = None,
    costs: Amounts | None = None,
    floors: Amounts | None = None,
) -> Shares:
    """Return the shares of some jobs under one of Gavel's policies.

    Types with fewer devices than the gang, or on which the job makes no progress, have no share: a gang runs as a
    whole.

    Parameters
    ----------
    instance : Instance
    jobs : sequence of Job
    policy : Policy
    progress : Progress, optional
        Of the jobs; none where it is left out.
    normaliser, weights
        Of max-min fairness, as for `max_min_shares`.
    costs : mapping of str to number, optional
        Of the sum of throughputs: what a device of a type costs; 1 where it is left out.
    floors : mapping of str to number, optional
        Of the sum of throughputs: what a job's throughput must be at least, in iterations per second.

    Returns
    -------
    dict of str to dict of str to float
        Y, by job and type, rounded to nine decimals, without zeros; a job that can run on no type is not in it.

    Raises
    ------
    InputError
        If a weight, cost or floor is not positive and finite, or of nothing that there is, or no shares reach the
        floors: Gavel's code drops floors that cannot be reached.
    SolverError
        If a program is not solved.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.gavel_policies import Policy, policy_shares
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> for policy in (Policy.MAX_MIN_FAIRNESS, Policy.MIN_TOTAL_DURATION):
    ...     print(policy.value, policy_shares(instance, instance.jobs, policy))
    max-min-fairness {'job1': {'type1': 1.0}, 'job2': {'type1': 0.666666667}, 'job3': {'type2': 1.0}}
    min-total-duration {'job1': {'type1': 1.0}, 'job2': {'type1': 0.666666667}, 'job3': {'type2': 1.0}}
    """
    policy, progress = Policy(policy), progress or Progress.none(jobs)
    _confirm_positive("costs", costs, instance.device_types)
    _confirm_positive("floors", floors, [job.name for job in jobs])
    if policy is Policy.MAX_MIN_FAIRNESS:
        return max_min_shares(instance, jobs, normaliser=normaliser, weights=weights)
    if policy is Policy.MAX_SUM_THROUGHPUT:
        return _greatest_sum(instance, jobs, costs or {}, floors or {})
    if policy is Policy.MIN_TOTAL_DURATION:
        return _shortest(instance, jobs, progress)
    return _fair_finish(instance, jobs, progress)


def _confirm_positive(name: str, amounts: Amounts | None, known: Sequence[str]) -> None:
    for key, amount in (amounts or {}).items():
        if key not in known:
            raise InputError(f"{name}.{key}: there is no such {'type' if name == 'costs' else 'job'}")
        if not 0 < amount < math.inf:
            raise InputError(f"{name}.{key}: {amount} must be positive and finite")


def _greatest_sum(instance: Instance, jobs: Sequence[Job], costs: Amounts, floors: Amounts) -> Shares:
    import cvxpy as cp

    pairs = able_pairs(instance, jobs)
    unable = set(floors).difference(job.name for job, _ in pairs)
    if unable:
        raise InputError(f"floors.{min(unable)}: the job can run on no type")
    if not pairs:
        return {}
    x, rows = cp.Variable(len(pairs), nonneg=True), _room(instance, pairs)
    speed = [job.gang * job.rate_on(r) for job, r in pairs]
    worth = [s / rational(costs.get(r, 1)) for s, (_, r) in zip(speed, pairs, strict=True)]
    # In units of the greatest: HiGHS takes numbers of 1e15 and more for infinite.
    objective = np.array([float(value / max(worth)) for value in worth])
    reached = [
        cp.sum(x[mine] @ np.array([float(speed[k] / rational(floor)) for k in mine])) >= 1
        for name, floor in floors.items()
        for mine in [[k for k, (job, _) in enumerate(pairs) if job.name == name]]
    ]
    problem = cp.Problem(cp.Maximize(objective @ x), [*rows(x), *reached])
    # The greatest may be of a pair that floors leave no room for, and the others a billionth of it.
    problem.solve(solver=cp.HIGHS, dual_feasibility_tolerance=TIGHT)
    if problem.status in ("infeasible", "infeasible_inaccurate", "infeasible_or_unbounded"):
        raise InputError(f"floors: no shares reach them all ({', '.join(floors)})")
    return rounded_shares(pairs, _values(problem, x))


def _shortest(instance: Instance, jobs: Sequence[Job], progress: Progress) -> Shares:
    """Return the shares of the least total duration: levels are in parts of what the longest job takes at least."""
    fastest = _fastest(able_pairs(instance, jobs))
    least = max((progress.remaining[name] / speed for name, speed in fastest.items()), default=Fraction(1))
    return water_filled(instance, jobs, lambda job: least / progress.remaining[job.name])


def _fastest(pairs: Sequence[tuple[Job, str]]) -> dict[str, Fraction]:
    """Return the throughput of each job on the best of the types that it can run on."""
    fastest: dict[str, Fraction] = {}
    for job, r in pairs:
        fastest[job.name] = max(job.gang * job.rate_on(r), fastest.get(job.name, Fraction(0)))
    return fastest


def _fair_finish(instance: Instance, jobs: Sequence[Job], progress: Progress) -> Shares:
    """Return the shares of finish-time fairness.

    A job is within a ratio z where its throughput is at least remaining/(z alone - since): these are the levels that
    are filled, from a z that can be reached, and again with the greatest ratio that comes out, until it stands still.
    That it does at the least one: with any z above, all levels rise above 1.
    """
    pairs = able_pairs(instance, jobs)
    if not pairs:
        return {}
    able = list({job.name: job for job, _ in pairs}.values())
    alone = {
        job.name: progress.isolated[job.name]
        + progress.remaining[job.name] / usual_throughput(instance, job, len(jobs), Normaliser.ISOLATED)
        for job in able
    }

    def filled(ratio: Fraction) -> Shares:
        return water_filled(
            instance,
            able,
            lambda job: (ratio * alone[job.name] - progress.since[job.name]) / progress.remaining[job.name],
        )

    before, ratio = None, _least_ratio(instance, able, pairs, alone, progress)
    while before is None or ratio < before * (1 - STILL):
        before, shares = ratio, filled(ratio)
        ratio = max(_ratio(instance, job, shares[job.name], alone[job.name], progress) for job in able)
    return shares


def _ratio(
    instance: Instance, job: Job, shares: Mapping[str, float | Fraction], alone: Fraction, progress: Progress
) -> Fraction:
    """Return a job's finish-time ratio with its shares."""
    speed = job.gang * sum(job.rate_on(r) * rational(share) for r, share in shares.items())
    return (progress.since[job.name] + progress.remaining[job.name] / speed) / alone


def _least_ratio(
    instance: Instance,
    jobs: Sequence[Job],
    pairs: Sequence[tuple[Job, str]],
    alone: Mapping[str, Fraction],
    progress: Progress,
) -> Fraction:
    """Return the least greatest finish-time ratio, rounded up to few digits.

    Where the interior point does not find it, as where one type is 1e7 times as fast as another, the greatest with an
    even part of each type, which can be reached, too: it takes more steps from there.
    """
    import cvxpy as cp

    x, rows = cp.Variable(len(pairs), nonneg=True), _room(instance, pairs)
    number = {job.name: i for i, job in enumerate(jobs)}
    best = _fastest(pairs)
    share_of_best = sp.csr_array(
        (
            [float(job.gang * job.rate_on(r) / best[job.name]) for job, r in pairs],
            ([number[job.name] for job, _ in pairs], range(len(pairs))),
        ),
        shape=(len(jobs), len(pairs)),
    )
    waited = np.array([float(progress.since[job.name] / alone[job.name]) for job in jobs])
    fastest = np.array([float(progress.remaining[j.name] / (best[j.name] * alone[j.name])) for j in jobs])
    ratios = waited + cp.multiply(fastest, cp.inv_pos(share_of_best @ x))
    problem = cp.Problem(cp.Minimize(cp.max(ratios)), rows(x))
    with suppress(cp.SolverError), np.errstate(divide="ignore"):
        problem.solve(solver=cp.CLARABEL)
    if problem.status in _SOLVED and math.isfinite(problem.value):
        return Fraction(f"{problem.value:.{_DIGITS}e}") * (1 + _START)
    even = _even(instance, jobs, pairs)
    return max(_ratio(instance, job, even[job.name], alone[job.name], progress) for job in jobs)


def _even(instance: Instance, jobs: Sequence[Job], pairs: Sequence[tuple[Job, str]]) -> dict[str, dict[str, Fraction]]:
    """Return shares that give each job the same part of each type that it can run on, and all of its time at most."""
    shares: dict[str, dict[str, Fraction]] = {job.name: {} for job in jobs}
    for job, r in pairs:
        shares[job.name][r] = Fraction(instance.capacity[r], len(jobs) * job.gang)
    return {name: {r: share / max(1, sum(own.values())) for r, share in own.items()} for name, own in shares.items()}


def _room(instance: Instance, pairs: Sequence[tuple[Job, str]]) -> Any:
    """Return the function that states, of cvxpy's shares, that time and devices suffice."""
    names = list(dict.fromkeys(job.name for job, _ in pairs))
    types = instance.device_types
    columns = range(len(pairs))
    of_job = sp.csr_array(
        (np.ones(len(pairs)), ([names.index(job.name) for job, _ in pairs], columns)), shape=(len(names), len(pairs))
    )
    of_type = sp.csr_array(
        ([job.gang / max(instance.capacity[r], 1) for job, r in pairs], ([types.index(r) for _, r in pairs], columns)),
        shape=(len(types), len(pairs)),
    )
    return lambda x: [of_job @ x <= 1, of_type @ x <= 1]


def _values(problem: Any, x: Any) -> list[float]:
    if problem.status not in _SOLVED:
        raise SolverError(f"cvxpy did not solve a policy's program: {problem.status}")
    values: list[float] = np.clip(x.value, 0.0, 1.0).tolist()
    return values
