"""The cheapest schedule of one job for every completion slot at once: a dynamic program over worker-slots.

A schedule does work N_I / kappa_I + N_E / kappa_E, where N_I and N_E are its numbers of internal and external workers,
added up over the slots; its cost is a sum over slots. So, with the cheapest placement of every slot and number,

    Theta(t~) = min {F_t~(N_I, N_E) : N_I / kappa_I + N_E / kappa_E >= V},
    F_t(i, e) = min over idling and the offers (j, f) of slot t of cost_t(j, f) + F_{t-1}(max(i - j, 0), max(e - f, 0)),

F_t(i, e) the least cost of at least i internal and e external worker-slots by t. One forward pass gives every Theta.
Its size does not depend on the number of samples. Work is compared in rationals, costs are floats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dlsched.algorithms.hadar.cover import Best, best_schedule
from dlsched.algorithms.pd_ors.market import Floats, Ints
from dlsched.arguments import checked
from dlsched.halt import polled
from dlsched.models.numbers import to_integers
from dlsched.tolerances import ROUNDING

MAX_CELLS, MAX_STEPS = 2 * 10**7, 10**9
"""Cells of the table, and cells times offers, beyond which the schedule is found by the label search of
`dlsched.algorithms.hadar.cover`, whose time has no bound."""


@dataclass(frozen=True, slots=True, eq=False)
class Offers:
    """What each slot offers a job.

    Attributes
    ----------
    workers : int array (offers, 2)
        Internal and external workers of each offer.
    rates : (Fraction, Fraction)
        1/kappa_I and 1/kappa_E, work of such a worker in a slot.
    cost : float array (slots, offers)
        Least cost; infinite where there is no such placement.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from dlsched.algorithms import pd_ors
    >>> rates = Fraction(2), Fraction(1)
    >>> offers = pd_ors.Offers(np.array([[1, 0], [0, 2]]), rates, np.array([[1.0, 0.5], [1.0, 4.0]]))
    >>> print("an internal worker does", offers.rates[0], "in a slot and costs", offers.cost[0, 0], "in the first")
    an internal worker does 2 in a slot and costs 1.0 in the first
    """

    workers: Ints
    rates: tuple[Fraction, Fraction]
    cost: Floats

    def work(self) -> tuple[list[int], int]:
        """Return the work that each offer does in whole units, and how many of these make one."""
        (internal, external), scale = to_integers(self.rates)
        return [i * internal + e * external for i, e in self.workers.tolist()], scale

    def undominated(self) -> Offers:
        """Return the offers, each infinite where another does as much work for no more."""
        work, _ = self.work()
        order = sorted(range(len(work)), key=lambda k: work[k])
        ordered = self.cost[:, order]
        later = np.minimum.accumulate(ordered[:, ::-1], axis=1)[:, ::-1]
        cost = np.full_like(ordered, np.inf)
        keep = np.ones(ordered.shape, dtype=bool)
        keep[:, :-1] = ordered[:, :-1] < later[:, 1:]
        cost[:, order] = np.where(keep, ordered, np.inf)
        return Offers(self.workers, self.rates, cost)


@checked
def best_response(offers: Offers, work: Fraction, values: Sequence[float]) -> Best | None:
    """Return the schedule of the greatest payoff (15); None if no schedule has a positive one.

    Parameters
    ----------
    offers : Offers
    work : Fraction
        V.
    values : sequence of float, shape (slots,)
        Utility of completing in each slot, non-increasing and positive.

    Notes
    -----
    Of equal payoffs the earliest completion.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from dlsched.algorithms import pd_ors
    >>> rates = Fraction(2), Fraction(1)
    >>> offers = pd_ors.Offers(np.array([[1, 0], [0, 2]]), rates, np.array([[1.0, 0.5], [1.0, 4.0]]))
    >>> best = pd_ors.best_response(offers, Fraction(4), values=[9.0, 8.0])
    >>> best.payoff, best.picks
    (6.5, ((0, 1), (1, 0)))
    """
    worth = np.asarray(values) > _per_work(offers)[: len(values)] * float(work)
    if not worth.any():
        return None
    values = values[: int(np.flatnonzero(worth)[-1]) + 1]
    kept = Offers(offers.workers, offers.rates, offers.cost[: len(values)]).undominated()
    limits = _limits(kept, work)
    cells = (limits[0] + 1) * (limits[1] + 1)
    if cells * len(values) > MAX_CELLS or cells * int(np.isfinite(kept.cost).sum()) > MAX_STEPS:
        return _by_labels(kept, work, values)
    tables = _forward(kept, limits)
    frontier = _frontier(kept.rates, limits, work)
    if not frontier:
        return None
    internal, external = np.array(frontier).T
    costs = tables[1:, internal, external]
    payoffs = np.asarray(values) - costs.min(axis=1)
    row = int(payoffs.argmax())
    if not payoffs[row] > ROUNDING * values[row]:
        return None
    i, e = frontier[int(costs[row].argmin())]
    return Best(float(payoffs[row]), _backtrack(kept, tables, row, i, e))


@checked
def least_costs(offers: Offers, work: Fraction) -> Floats:
    """Return Theta for every completion slot, shape (slots,); infinite where the work cannot be done by then.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from dlsched.algorithms import pd_ors
    >>> rates = Fraction(2), Fraction(1)
    >>> offers = pd_ors.Offers(np.array([[1, 0], [2, 0]]), rates, np.array([[1.0, 3.0], [1.0, 3.0]]))
    >>> pd_ors.least_costs(offers, work=Fraction(4))
    array([3., 2.])
    """
    kept = offers.undominated()
    limits = _limits(kept, work)
    frontier = _frontier(kept.rates, limits, work)
    if not frontier:
        return np.full(len(offers.cost), np.inf)
    internal, external = np.array(frontier).T
    costs: Floats = _forward(kept, limits)[1:, internal, external].min(axis=1)
    return costs


def _per_work(offers: Offers) -> Floats:
    """Return the least cost per unit of work in any slot so far, a little rounded down; shape (slots,)."""
    whole, scale = offers.work()
    work = np.array([amount / scale for amount in whole])
    least = (offers.cost / work).min(axis=1, initial=np.inf)
    result: Floats = np.minimum.accumulate(least) * (1 - ROUNDING)
    return result


def _limits(offers: Offers, work: Fraction) -> tuple[int, int]:
    """Return the most internal and external worker-slots that can be of use."""
    internal, external = _held(offers).sum(axis=0).tolist()
    return min(internal, math.ceil(work / offers.rates[0])), min(external, math.ceil(work / offers.rates[1]))


def _held(offers: Offers) -> Ints:
    """Return the most internal and external workers on offer in each slot, shape (slots, 2)."""
    counts = np.where(np.isfinite(offers.cost)[..., None], offers.workers, 0)
    result: Ints = counts.max(axis=1, initial=0)
    return result


def _forward(offers: Offers, limits: tuple[int, int]) -> Floats:
    """Return F_t, shape (slots + 1, N_I + 1, N_E + 1); row 0 is before the first slot."""
    tables = np.full((len(offers.cost) + 1, limits[0] + 1, limits[1] + 1), np.inf)
    tables[0, 0, 0] = 0.0
    reach = [int(most) for most in offers.workers.max(axis=0, initial=0)]
    # what no slot so far could have done stays infinite
    tops = np.minimum(_held(offers).cumsum(axis=0), limits) + 1
    # Fewer worker-slots than an offer does are none: the table is repeated beyond its edges.
    row, column = (np.maximum(np.arange(-most, top + 1), 0) for most, top in zip(reach, limits, strict=True))
    for costs, before, after, (high, wide) in zip(offers.cost, tables, tables[1:], tops.tolist(), strict=False):
        after[:] = before
        padded = before[row[: reach[0] + high, None], column[: reach[1] + wide]]
        reached, sums = after[:high, :wide], np.empty((high, wide))
        for k in polled(np.flatnonzero(np.isfinite(costs)).tolist()):
            i, e = reach - offers.workers[k]
            np.add(padded[i : i + high, e : e + wide], costs[k], out=sums)
            np.minimum(reached, sums, out=reached)
    return tables


def _frontier(rates: tuple[Fraction, Fraction], limits: tuple[int, int], work: Fraction) -> list[tuple[int, int]]:
    """Return the least pairs (N_I, N_E) that do the work."""
    pairs = ((max(0, math.ceil((work - e * rates[1]) / rates[0])), e) for e in range(limits[1] + 1))
    return [(i, e) for i, e in pairs if i <= limits[0]]


def _backtrack(offers: Offers, tables: Floats, row: int, i: int, e: int) -> tuple[tuple[int, int], ...]:
    picks = []
    for t in range(row, -1, -1):
        cost = tables[t + 1, i, e]
        if cost == tables[t, i, e]:
            continue
        for k in np.flatnonzero(np.isfinite(offers.cost[t])).tolist():
            before = max(0, i - int(offers.workers[k, 0])), max(0, e - int(offers.workers[k, 1]))
            if tables[t][before] + offers.cost[t, k] == cost:
                picks.append((t, k))
                i, e = before
                break
    return tuple(reversed(picks))


def _by_labels(offers: Offers, work: Fraction, values: Sequence[float]) -> Best | None:
    done, scale = offers.work()
    order = sorted(np.flatnonzero(np.isfinite(offers.cost).any(axis=0)).tolist(), key=lambda k: done[k])
    found = best_schedule([Fraction(done[k], scale) for k in polled(order)], offers.cost[:, order], work, values)
    return Best(found.payoff, tuple((row, order[k]) for row, k in found.picks)) if found else None
