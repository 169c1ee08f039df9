"""What one slot offers a job: for each bottleneck level, the cheapest gang that fits, at prices that stand still.

Within a slot and a level l the gang takes W_j devices among the free ones whose rate is at least X^l. Each device of a
cell costs the same while the decision is made (prices move after an admission), so the cost is a sum of W_j device
prices and the cheapest choice is the W_j cheapest eligible free devices: exchanging any device outside them for one of
them that is missing does not raise the cost. Taking only devices faster than X^l does more work than the level is
credited with, but that allocation is itself the offer of a faster level, at no higher cost than here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dlsched.algorithms.hadar.occupancy import Counts, Occupancy, merged
from dlsched.models.hadar import Instance, Job


@dataclass(frozen=True, slots=True)
class Offers:
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


def offers(instance: Instance, occupancy: Occupancy, job: Job, last: int) -> Offers:
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
    return Offers(job.arrival, work, cost)


def gang(occupancy: Occupancy, job: Job, slot: int, level: int) -> Counts:
    """Return the allocation behind the offer of a slot at a level (an index of `Offers.work`)."""
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
