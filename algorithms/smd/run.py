"""Run SMD on an instance: workers and servers for each job by itself, then a knapsack over the jobs."""

from __future__ import annotations

import numpy as np

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.run import Event, Run, Variant
from dlsched.algorithms.smd.admission import NeverAdmitted, Outer, admit, inadmissible
from dlsched.algorithms.smd.inner import Inner, Settings, exact_step, inner_step
from dlsched.arguments import Seed, at_least, checked, expect_share, seed_of
from dlsched.errors import InputError
from dlsched.models.smd import Instance, Point, Schedule, utility


@checked
def run(
    instance: Instance,
    *,
    seed: Seed = 0,
    variant: Variant | str = Variant.CORRECTED,
    epsilon: float = 0.01,
    delta: float | None = None,
    rounds: int = 10,
    gain: float | None = None,
    inner: Inner | str = Inner.ALGORITHM,
    outer: Outer | str = Outer.AUTO,
    outer_epsilon: float = 0.01,
) -> Run[Schedule]:
    """Schedule an instance with SMD.

    Parameters
    ----------
    instance : Instance
    seed : int or numpy.random.Generator
        Of the rounding; each job has a generator of its own.
    variant : str
        ``"corrected"`` or ``"printed"``, of the inner step. Printed, the grid may leave a job without any point, and
        the rounding may leave it without a worker or a server: it is then lost, and the log says so (`NeverAdmitted`).
        Corrected, the completion time of every job that can be admitted is at most `InnerStep.factor` times the best.
    epsilon : float
        eps_1, precision of Algorithm 1, in (0, 1).
    delta : float, optional
        In (0, 1]: take M_delta of Lemma 3 as the gain, corrected from the exact Chernoff bound.
    rounds : int
        F, at least 1. Corrected: the best of so many roundings. Printed: the first that keeps the limits after so many.
    gain : float, optional
        M of Algorithm 2, in (0, 1]; without `delta` 1, as in the paper's evaluation. Corrected, 1 also has the best
        guarantee: a smaller gain only makes the rounds keep the limits more often.
    inner : str
        ``"algorithm"``, or ``"exact"``, which makes the other parameters above irrelevant.
    outer : str
        ``"scheme"``, ``"exact"``, or ``"auto"``: the scheme where it is done soon, else the exact method.
    outer_epsilon : float
        eps_2, precision of the scheme, in (0, 1).

    Returns
    -------
    Run
        There are no prices. The log has a `NeverAdmitted` for each job that cannot be admitted, an `InnerStep` for each
        of the others, and an `OuterStep`.

    Raises
    ------
    InputError
        If a parameter is out of range, a name is unknown, gain and delta are both given, or the scheme was asked for
        and needs too many linear programs.

    Notes
    -----
    With the corrected inner and any outer step the utility is at least (1 - eps_2) min_i mu_i(rho_i tau_i*) /
    mu_i(tau_i*) times the optimum, with rho_i = 4 (1 + eps_1) / M_i, in every run; the minimum is over the jobs worth
    something at their best. With both steps exact it is the optimum.

    References
    ----------
    SMD, Section IV; Theorem 5, corrected: as printed its probability is false.

    Examples
    --------
    >>> from dlsched.algorithms import smd
    >>> from dlsched.models.smd import random
    >>> instance = random(7, jobs=6)
    >>> run = smd.run(instance, seed=0)
    >>> round(run.utility, 6), sorted(run.schedule.jobs)
    (43.965946, ['job3', 'job4', 'job6'])
    >>> round(smd.run(instance, inner="exact", outer="exact").utility, 6)
    44.899783
    """
    _check(epsilon, delta, rounds, gain, outer_epsilon)
    settings = Settings(
        Variant(variant), epsilon, rounds, delta, 1.0 if gain is None else gain, len(instance.resources)
    )
    how, outer = Inner(inner), Outer(outer)
    log: list[Event] = list(inadmissible(instance))
    never = {event.job for event in log if isinstance(event, NeverAdmitted)}
    points: dict[str, Point] = {}
    for job, own in zip(instance.jobs, np.random.SeedSequence(seed_of(seed)).spawn(len(instance.jobs)), strict=True):
        if job.name in never:
            continue
        step = exact_step(job) if how is Inner.EXACT else inner_step(job, settings, np.random.default_rng(own))
        log.append(step)
        if step.chosen is None:
            log.append(NeverAdmitted(job.name, step.loss))
        else:
            points[job.name] = step.chosen
    schedule, admission = admit(instance, points, outer=outer, epsilon=outer_epsilon)
    return Run(schedule, utility(instance, schedule), {}, (*log, admission))


def _check(epsilon: float, delta: float | None, rounds: int, gain: float | None, outer_epsilon: float) -> None:
    expect_share(whole=False, epsilon=epsilon, outer_epsilon=outer_epsilon)
    expect_share(delta=delta, gain=gain)
    if gain is not None and delta is not None:
        raise InputError(f"gain: is given, {gain}, and so is delta, which chooses it; give one of them")
    at_least(1, rounds=rounds)


ALGORITHM = Algorithm("smd", "smd", "SMD: a sum of ratios for each job, then a knapsack over the jobs", run)
