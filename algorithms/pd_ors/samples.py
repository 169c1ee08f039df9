"""The printed dynamic program (21), over whole samples v, for small instances.

    Theta(t~, V) = min over v = 0..V of theta(t~, v) + Theta(t~ - 1, V - v)

with theta(t, v) the cost of ceil(v kappa_I) internal or ceil(v kappa_E) external workers. It has T V states and T V^2
steps, V up to 10^8 in the paper's evaluation. Algorithm 3 as printed recurses without a memory; here it has one. It is
not equivalent to (16): workers that together process a sample and a half in a slot count for one. V = 3, kappa = 2/3,
F = 1: two slots of one worker process 3 samples, but every split of 3 asks for 2 workers in some slot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dlsched.algorithms.hadar.cover import Best
from dlsched.algorithms.pd_ors.market import Floats, Ints
from dlsched.algorithms.pd_ors.program import Offers
from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.models.dmlrs import Job
from dlsched.models.dmlrs.instance import AnyJob

MAX_STEPS = 10**9
"""Most steps T V^2 of the program."""


@checked
def printed_best_response(offers: Offers, job: AnyJob, values: Sequence[float]) -> Best | None:
    """Return the schedule of the greatest payoff by (21); None if no schedule has a positive one.

    Parameters
    ----------
    offers : Offers
        Of purely internal or purely external workers.
    job : Job or AsyncJob
    values : sequence of float, shape (slots,)
        Utility of completing in each slot.

    Raises
    ------
    InputError
        If the program is too large.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(2)
    >>> job = instance.job("job3")
    >>> occupancy = pd_ors.Occupancy(instance, pd_ors.constants(instance))
    >>> found = pd_ors.slot_offers(pd_ors.market(occupancy, job, last=3), job, pd_ors.External.EXACT)
    >>> values = [job.utility(duration) for duration in range(3 - job.arrival + 1)]
    >>> round(pd_ors.printed_best_response(found.offers, job, values).payoff, 3)
    19.953
    """
    expect_steps(job, len(values))
    unit, each = whole_units(job)
    theta, offer = sample_costs(offers, unit, each)
    table = np.full(unit + 1, np.inf)
    table[0] = 0.0
    tables, best, row = [table], 0.0, -1
    for t, value in enumerate(values):
        tables.append(np.array([(theta[t, : v + 1] + tables[-1][v::-1]).min() for v in range(unit + 1)]))
        if value - tables[-1][unit] > best:
            best, row = float(value - tables[-1][unit]), t
    if row < 0:
        return None
    return Best(best, _sample_picks(theta, offer, tables, row, unit))


def expect_steps(job: AnyJob, slots: int) -> None:
    """Raise InputError where the program of a job over some slots is too large."""
    unit, _ = whole_units(job)
    if slots * unit * unit > MAX_STEPS:
        raise InputError(
            f"job {job.name}: the printed program over {unit} samples has too many steps; take program='worker-slots'"
        )


def whole_units(job: AnyJob) -> tuple[int, Fraction]:
    """Return V, rounded up to whole samples, in the thesis to chunks, and the work in one of them."""
    if isinstance(job, Job):
        return math.ceil(job.work), Fraction(1)
    return math.ceil(job.epochs * job.chunks), job.minibatches_per_chunk


def sample_costs(offers: Offers, unit: int, each: Fraction) -> tuple[Floats, Ints]:
    """Return theta(t, v) and the offer that has it, for every slot and v = 0..V; shape (slots, V + 1).

    Parameters
    ----------
    offers : Offers
    unit : int
        V.
    each : Fraction
        Work in one of the V units.
    """
    theta = np.full((len(offers.cost), unit + 1), np.inf)
    offer = np.full(theta.shape, -1, dtype=np.int64)
    theta[:, 0] = 0.0
    place = {(int(i), int(e)): k for k, (i, e) in enumerate(offers.workers)}
    shares = [(each / rate).as_integer_ratio() for rate in offers.rates]
    for v in range(1, unit + 1):
        counts = [-(-v * workers // units) for workers, units in shares]
        for pair in ((counts[0], 0), (0, counts[1])):
            k = place.get(pair)
            if k is not None:
                cheaper = offers.cost[:, k] < theta[:, v]
                theta[cheaper, v] = offers.cost[cheaper, k]
                offer[cheaper, v] = k
    return theta, offer


def _sample_picks(theta: Floats, offer: Ints, tables: list[Floats], row: int, left: int) -> tuple[tuple[int, int], ...]:
    picks = []
    for t in range(row, -1, -1):
        sums = theta[t, : left + 1] + tables[t][left::-1]
        v = int(sums.argmin())
        if v:
            picks.append((t, int(offer[t, v])))
            left -= v
    return tuple(reversed(picks))
