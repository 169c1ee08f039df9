"""What every slot offers a synchronous job: n internal or n external workers at least cost (Algorithm 4 for all n).

A state of a slot and n external workers need not be solved where an internal placement of the same slot does at least
as much work for no more than the lower bound on it; nor where the greedy placement costs no more than that bound. The
rest are solved exactly, or taken as greedy has them. By rounding, only the first rule applies.

If external communication is not slower, against the premise of Fact 1, every worker counts 1/kappa_I, which any
placement achieves: the slower of the two rates. That leaves out the schedules in which workers and servers share no
machine; `optimistic` counts external workers in full instead, so that no schedule's payoff is understated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dlsched.algorithms.pd_ors.market import Floats, Ints, Market, Subproblems
from dlsched.algorithms.pd_ors.placements import (
    Placed,
    exact_costs,
    exact_placement,
    greedy,
    greedy_costs,
    internal_costs,
    lower_bound,
)
from dlsched.algorithms.pd_ors.program import Offers
from dlsched.arguments import checked
from dlsched.halt import polled
from dlsched.models.dmlrs import Job
from dlsched.rounding import Rounded
from dlsched.tolerances import ROUNDING

Counts = tuple[Ints, Ints]
"""Workers and servers on every machine."""

Rounder = Callable[[Market, int], tuple[Placed, Rounded]]
"""How one state is rounded: of the market of its slot and the number of workers."""

Bools = NDArray[np.bool_]


class External(StrEnum):
    """How placements with external communication are found."""

    EXACT = "exact"
    GREEDY = "greedy"
    ROUNDING = "lp-rounding"
    LITERAL = "lp-rounding-literal"
    """Of (23)-(26) to the letter, which have no servers: places nothing. In the thesis the same as rounding."""

    @property
    def rounds(self) -> bool:
        """Whether the relaxation is rounded."""
        return self in (External.ROUNDING, External.LITERAL)


@dataclass(frozen=True, slots=True, eq=False)
class SlotOffers:
    """The offers of a job's slots, and how to carry them out.

    Attributes
    ----------
    market : Market
    offers : Offers
        First n = 1..most internal workers, then so many external ones.
    machine : int array (slots, most + 1)
        Where n workers communicate internally.
    settled : dict of (int, int) to Counts
        External placements that were found on the way, by row and n.
    subproblems : Subproblems
    """

    market: Market
    offers: Offers
    machine: Ints
    settled: dict[tuple[int, int], Counts]
    subproblems: Subproblems

    def placement(self, row: int, offer: int) -> dict[int, tuple[int, int]]:
        """Return the workers and servers by machine of an offer."""
        n = int(self.offers.workers[offer].sum())
        if offer < self.market.most:
            return {int(self.machine[row, n]): (n, int(self.market.servers[n]))}
        workers, servers = self.settled[row, n] if (row, n) in self.settled else self._cheapest(row, offer)
        used = np.flatnonzero(workers + servers).tolist()
        return {h: (int(workers[h]), int(servers[h])) for h in used}

    def _cheapest(self, row: int, offer: int) -> Counts:
        """Return the greedy placement where it costs what was offered, else the exact one."""
        n = int(self.offers.workers[offer].sum())
        slot = self.market.row(row)
        found = greedy(slot)
        if found.cost[0, n] <= self.offers.cost[row, offer] * (1 + ROUNDING):
            return found.workers[0, n], found.servers[0, n]
        exact = exact_placement(slot, n)
        return exact.workers, exact.servers


@checked
def slot_offers(
    market: Market,
    job: Job,
    external: External,
    rounder: Rounder | None = None,
    *,
    ceiling: float = np.inf,
    optimistic: bool = False,
) -> SlotOffers:
    """Return the offers of every slot of a market.

    Parameters
    ----------
    market : Market
    job : Job
    external : External
    rounder : callable, optional
        How to round a state, of the market of one slot and n; with ``"lp-rounding"`` and ``"lp-rounding-literal"``.
    ceiling : float
        What the job is worth at most: external placements that cost as much are not looked for.
    optimistic : bool
        Count external workers at the external rate even where it is the faster one.
    """
    internal, machine = internal_costs(market)
    time = job.external_time if optimistic else max(job.internal_time, job.external_time)
    bound = lower_bound(market)
    is_open = (bound < _at_least_as_good(internal, job.internal_time / time)) & (bound < ceiling)
    is_open[:, 0] = False
    settled: dict[tuple[int, int], Counts] = {}
    if external.rounds:
        if rounder is None:
            raise ValueError(f"rounder: is needed for {external}")
        cost, done = _by_rounding(market, is_open, rounder, settled)
    else:
        cost, done = _by_search(market, is_open, bound, external)
    count = np.arange(1, market.most + 1)
    workers = np.concatenate([np.outer(count, (1, 0)), np.outer(count, (0, 1))])
    offers = Offers(workers, (1 / job.internal_time, 1 / time), np.hstack([internal[:, 1:], cost[:, 1:]]))
    return SlotOffers(market, offers, machine, settled, done)


def _at_least_as_good(internal: Floats, ratio: Fraction) -> Floats:
    """Return, for n external workers, the least cost of internal ones that do at least as much work.

    Parameters
    ----------
    internal : float array (slots, most + 1)
    ratio : Fraction
        kappa_I over the slots per unit of work of an external worker.
    """
    later = np.minimum.accumulate(internal[:, ::-1], axis=1)[:, ::-1]
    padded = np.column_stack([later, np.full(len(later), np.inf)])
    fewest = [min(math.ceil(n * ratio), internal.shape[1]) for n in polled(range(internal.shape[1]))]
    result: Floats = padded[:, fewest]
    return result


def _by_search(market: Market, is_open: Bools, bound: Floats, external: External) -> tuple[Floats, Subproblems]:
    cost = np.full(bound.shape, np.inf)
    rows = np.flatnonzero(is_open.any(axis=1))
    cost[rows] = np.where(is_open[rows], greedy_costs(market.rows(rows)), np.inf)
    unsure = is_open & (cost > bound * (1 + ROUNDING))
    if external is External.EXACT:
        for row in polled(np.flatnonzero(unsure.any(axis=1)).tolist()):
            wanted = np.flatnonzero(unsure[row])
            cost[row, wanted] = np.minimum(cost[row, wanted], exact_costs(market.row(row), wanted.tolist()))
    return cost, Subproblems(market.slots * market.most, int(unsure.sum()))


def _by_rounding(
    market: Market, is_open: Bools, rounder: Rounder, settled: dict[tuple[int, int], Counts]
) -> tuple[Floats, Subproblems]:
    cost = np.full(is_open.shape, np.inf)
    rounds = feasible = 0
    for row, n in polled(np.argwhere(is_open).tolist()):
        placed, rounded = rounder(market.row(row), n)
        rounds, feasible = rounds + rounded.rounds, feasible + rounded.feasible
        cost[row, n] = placed.cost
        settled[row, n] = placed.workers, placed.servers
    return cost, Subproblems(market.slots * market.most, int(is_open.sum()), rounds, feasible)
