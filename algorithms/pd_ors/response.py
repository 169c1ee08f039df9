"""The best response of one job (15): the schedule of the greatest payoff at the present prices (Algorithms 2 and 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from dlsched.algorithms.pd_ors.external_rounding import GainRule, Rounding, rounded_placement
from dlsched.algorithms.pd_ors.market import Occupancy, Subproblems, market
from dlsched.algorithms.pd_ors.offers import (
    AsyncOffers,
    External,
    SlotOffers,
    exact_async_offers,
    rounded_async_offers,
    slot_offers,
)
from dlsched.algorithms.pd_ors.program import best_response
from dlsched.algorithms.pd_ors.samples import expect_steps, printed_best_response
from dlsched.algorithms.run import Variant
from dlsched.arguments import checked
from dlsched.halt import polled
from dlsched.models.dmlrs import Instance, Job
from dlsched.models.dmlrs.instance import AnyJob, can_earn
from dlsched.models.dmlrs.job import Placement


class Program(StrEnum):
    """Which dynamic program finds the schedule: over worker-slots, or over whole samples, (21) as printed.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(2, capacity=8)
    >>> {program.value: pd_ors.run(instance, program=program).utility for program in pd_ors.Program}
    {'worker-slots': 57.0, 'samples': 38.0}
    """

    WORKER_SLOTS = "worker-slots"
    SAMPLES = "samples"


@dataclass(frozen=True, slots=True)
class Settings:
    """How a job's schedule is found.

    Attributes
    ----------
    external : External
    rounding : Rounding
    program : Program
    variant : Variant
    """

    external: External
    rounding: Rounding
    program: Program
    variant: Variant


EXACT = Settings(
    External.EXACT, Rounding.of(GainRule.ONE, 1.0, 1, Variant.CORRECTED), Program.WORKER_SLOTS, Variant.CORRECTED
)
"""Nothing is rounded: the payoff is the greatest of all schedules."""


@dataclass(frozen=True, slots=True)
class Response:
    """A schedule of the greatest payoff.

    Attributes
    ----------
    payoff : float
        0 where no schedule has a positive one.
    plan : mapping of int to Placement
        Slot to machine to (workers, servers).
    subproblems : Subproblems
    """

    payoff: float
    plan: Mapping[int, Placement] = field(default_factory=dict)
    subproblems: Subproblems = field(default_factory=Subproblems)


@checked
def respond(
    occupancy: Occupancy,
    job: AnyJob,
    settings: Settings,
    rng: np.random.Generator,
    *,
    empty: bool = False,
    optimistic: bool = False,
) -> Response:
    """Return a job's best response.

    Parameters
    ----------
    occupancy : Occupancy
        Not changed.
    job : Job or AsyncJob
    settings : Settings
    rng : numpy.random.Generator
        Of the rounding.
    empty : bool
        Over all schedules that fit the empty cluster, not what is left of it.
    optimistic : bool
        Do not understate any schedule's payoff, where that would otherwise happen (module `offers`).

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.algorithms.pd_ors.response import EXACT
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> occupancy = pd_ors.Occupancy(instance, pd_ors.constants(instance))
    >>> found = pd_ors.respond(occupancy, instance.job("job3"), EXACT, np.random.default_rng(0))
    >>> round(found.payoff, 3), found.plan
    (11.41, {2: {'machine1': (2, 1)}, 3: {'machine1': (2, 1)}})
    """
    values = earning_values(occupancy.instance, job)
    if not values or not can_earn(occupancy.instance, job):
        return Response(0.0)
    if settings.program is Program.SAMPLES:
        # Before the offers, which would take a minute on a thousand machines.
        expect_steps(job, len(values))
    view = market(occupancy, job, job.arrival + len(values) - 1, empty=empty)
    found: SlotOffers | AsyncOffers
    if isinstance(job, Job):
        rule = settings.rounding
        found = slot_offers(
            view,
            job,
            settings.external,
            lambda slot, n: rounded_placement(slot, n, rule, rng, literal=settings.external is External.LITERAL),
            ceiling=values[0],
            optimistic=optimistic,
        )
    else:
        found = (
            rounded_async_offers(view, job, settings.rounding, rng, ceiling=values[0])
            if settings.external.rounds
            else exact_async_offers(view, job)
        )
    if settings.program is Program.SAMPLES:
        best = printed_best_response(found.offers, job, values)
    else:
        best = best_response(found.offers, job.work, values)
    if best is None:
        return Response(0.0, {}, found.subproblems)
    names = occupancy.machines
    plan = {
        view.first + row: {names[h]: counts for h, counts in found.placement(row, offer).items()}
        for row, offer in best.picks
    }
    return Response(best.payoff, plan, found.subproblems)


def earning_values(instance: Instance, job: AnyJob) -> list[float]:
    """Return the utilities of completing in each slot from the arrival on, as long as they are positive."""
    values: list[float] = []
    for duration in polled(range(instance.slots - job.arrival + 1)):
        value = job.utility(duration)
        if value <= 0:
            break
        values.append(value)
    return values
