"""Commit at arrival: the primal-dual that Hadar's analysis speaks of, with exact best responses.

Jobs come by arrival, ties as listed. Each takes the schedule of the greatest payoff phi_j(s) (4) among those that fit
what is left of the cluster, (8), at prices that stand still; it is admitted if that payoff is positive. Then the prices
of what it uses rise by (5). Nothing is ever released, so prices never fall: a payoff, taken at the prices before the
admission, stays at least phi_j(s) at the final prices, for every schedule that fitted.

Ties: of equal payoffs the schedule that the linear relaxation of the search comes upon first, which uses early slots,
faster devices at the same cost, and machines and types as listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from dlsched.algorithms.hadar.cover import best_schedule
from dlsched.algorithms.hadar.occupancy import Counts, Occupancy
from dlsched.algorithms.hadar.offers import gang, offers
from dlsched.algorithms.run import Decision
from dlsched.models.hadar import Instance, Job
from dlsched.models.utility import Utility

Plan = dict[int, Counts]
"""What one job uses: slot to allocation."""


class _Values(Sequence[float]):
    """Utilities by duration, found as they are asked for: of a long horizon the search sees the first few."""

    def __init__(self, utility: Utility, count: int) -> None:
        self._value, self._count = cache(utility), count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, duration: Any) -> Any:
        return self._value(duration)


def commit(instance: Instance, occupancy: Occupancy) -> Iterator[tuple[Decision, Plan]]:
    """Decide on every job in order of arrival; yield each decision with the schedule taken, empty if turned away.

    Parameters
    ----------
    instance : Instance
    occupancy : Occupancy
        Changed by every admission.
    """
    for job in sorted(instance.jobs, key=lambda job: job.arrival):
        payoff, plan = best_response(instance, occupancy, job)
        completion = max(plan, default=None)
        steps = occupancy.commit(plan)
        yield Decision(job.name, job.arrival, bool(plan), payoff, completion, steps), plan


def best_response(instance: Instance, occupancy: Occupancy, job: Job) -> tuple[float, Plan]:
    """Return the greatest payoff of a job at the current prices and residual capacity, and a schedule that has it.

    Returns
    -------
    payoff : float
        ``max(0, max_s phi_j(s))``.
    plan : dict of int to Counts
        Empty where no schedule has a positive payoff.
    """
    last = instance.last_useful_slot(job)
    if last is None:
        return 0.0, {}
    offer = offers(instance, occupancy, job, last)
    best = best_schedule(offer.work, offer.cost, job.iterations, _Values(job.utility, last - job.arrival + 1))
    if best is None:
        return 0.0, {}
    return best.payoff, {offer.first + row: gang(occupancy, job, offer.first + row, level) for row, level in best.picks}
