"""Commit at arrival: the primal-dual that Hadar's analysis speaks of, with exact best responses.

Jobs come by arrival, ties as listed. Each takes the schedule of the greatest payoff phi_j(s) (4) among those that fit
what is left of the cluster, (8), at prices that stand still; it is admitted if that payoff is positive. Then the prices
of what it uses rise by (5). Nothing is ever released, so prices never fall: a payoff, taken at the prices before the
admission, stays at least phi_j(s) at the final prices, for every schedule that fitted.

What one slot offers a job: within a slot and a level l the gang takes W_j devices among the free ones whose rate is at
least X^l. Each device of a cell costs the same while the decision is made (prices move after an admission), so the cost
is a sum of W_j device prices and the cheapest choice is the W_j cheapest eligible free devices: exchanging any device
outside them for one of them that is missing does not raise the cost. Taking only devices faster than X^l does more work
than the level is credited with, but that allocation is itself the offer of a faster level, at no higher cost than here.

Ties: of equal payoffs the schedule that the linear relaxation of the search comes upon first, which uses early slots,
faster devices at the same cost, and machines and types as listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlsched.algorithms.hadar.cover import best_schedule
from dlsched.algorithms.hadar.occupancy import Counts, Occupancy, merged
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
    offer = _offers(instance, occupancy, job, last)
    best = best_schedule(offer.work, offer.cost, job.iterations, _Values(job.utility, last - job.arrival + 1))
    if best is None:
        return 0.0, {}
    return best.payoff, {
        offer.first + row: _gang(occupancy, job, offer.first + row, level) for row, level in best.picks
    }


@dataclass(frozen=True, slots=True)
class _Offers:
    """The undominated offers of a run of slots to one job.

    Attributes
    ----------
    first : int
        The first slot; row i is slot ``first + i``.
    work : tuple of Fraction
        W_j X^l L, iterations in a slot, of each level, ascending.
    cost : float array (slots, levels)
        Cost of the cheapest gang; infinite where none fits, or where a faster one costs no more.
    """

    first: int
    work: tuple[Fraction, ...]
    cost: NDArray[np.float64]


def _offers(instance: Instance, occupancy: Occupancy, job: Job, last: int) -> _Offers:
    """Return what the slots from the job's arrival to `last` offer it, at the current prices and residual capacity."""
    rates = _rates(occupancy, job)
    levels = sorted({rate for rate in rates if rate})
    rows = slice(job.arrival - 1, last)
    order = np.argsort(occupancy.prices[rows], axis=1, kind="stable")
    prices = np.take_along_axis(occupancy.prices[rows], order, axis=1)
    free = np.take_along_axis(occupancy.capacity - occupancy.used[rows], order, axis=1)
    rank = np.array([levels.index(rate) if rate else -1 for rate in rates], dtype=np.int64)[order]
    cost = np.full((order.shape[0], len(levels)), np.inf)
    best = np.full(order.shape[0], np.inf)
    for level in reversed(range(len(levels))):
        eligible = np.where(rank >= level, free, 0)
        before = np.cumsum(eligible, axis=1) - eligible
        take = np.clip(job.gang - before, 0, eligible)
        spent = (take * prices).sum(axis=1).astype(np.float64)
        total = np.where(take.sum(axis=1) == job.gang, spent, np.inf)
        cost[:, level] = np.where(total < best, total, np.inf)
        best = np.minimum(best, total)
    work = tuple(job.gang * rate * instance.slot_seconds for rate in levels)
    return _Offers(job.arrival, work, cost)


def _gang(occupancy: Occupancy, job: Job, slot: int, level: int) -> Counts:
    """Return the allocation behind the offer of a slot at a level (an index of `_Offers.work`)."""
    rates = _rates(occupancy, job)
    threshold = sorted({rate for rate in rates if rate})[level]
    missing, counts = job.gang, []
    for cell in np.argsort(occupancy.prices[slot - 1], kind="stable").tolist():
        if rates[cell] >= threshold and missing:
            take = min(missing, int(occupancy.capacity[cell] - occupancy.used[slot - 1, cell]))
            counts.append((cell, take))
            missing -= take
    return merged(counts)


def _rates(occupancy: Occupancy, job: Job) -> list[Fraction]:
    return [job.rate_on(r) for _, r in occupancy.cells]
