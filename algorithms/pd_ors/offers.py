"""What every slot offers a job: numbers of internal and external workers at least cost (Algorithm 4 for all numbers).

Synchronous jobs: n internal or n external workers. A state of a slot and n external workers need not be solved where an
internal placement of the same slot does at least as much work for no more than the lower bound on it; nor where the
greedy placement costs no more than that bound. The rest are solved exactly, or taken as greedy has them. By rounding,
only the first rule applies.

If external communication is not slower, against the premise of Fact 1, every worker counts 1/kappa_I, which any
placement achieves: the slower of the two rates. That leaves out the schedules in which workers and servers share no
machine; `optimistic` counts external workers in full instead, so that no schedule's payoff is understated.

Asynchronous jobs (thesis): i internal and e external workers. One machine p with all servers is enough, and then
everything is exact. Proof: let P be the machines with servers, w the workers, s the servers. What p's own servers would
have to bear alone is load_p = n b^(e) + w_p (b^(i) - b^(e)), n the workers in all; these loads sum to the left side of
(3.4), so B s_p >= load_p for some p in P. Keep only its servers: (3.4) and (3.5) hold, it costs no more, and no worker
waits longer, since each waited for the slowest of P. So: workers on p are internal, the others fill the cheapest
machines other than p, and p has ceil(load_p / B) servers.

Algorithm 4 of the thesis has only i = 0 or e = 0; its external part (3.22)-(3.25) counts m_p = ceil(m_w b^(e) / B)
servers, enough only if they share one machine without workers; rounded points are therefore tested by (3.4). Step 8 has
m_w = ceil(v M tau), which leaves out the communication; it is kept as printed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

import numpy as np

from dlsched.algorithms.pd_ors.external_lp import Bools, external_lp
from dlsched.algorithms.pd_ors.external_rounding import Optimum, Rounding, gain_for, round_external
from dlsched.algorithms.pd_ors.market import Floats, Ints, Market, Subproblems, fewest_servers
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
from dlsched.algorithms.pd_ors.widths import Form
from dlsched.algorithms.run import Variant
from dlsched.arguments import checked
from dlsched.arithmetic import dot
from dlsched.errors import InputError
from dlsched.halt import polled
from dlsched.models.dmlrs import AsyncJob, Job
from dlsched.models.numbers import integer_dtype, to_integers
from dlsched.rounding import Rounded
from dlsched.tolerances import ROUNDING

Counts = tuple[Ints, Ints]
"""Workers and servers on every machine."""

Rounder = Callable[[Market, int], tuple[Placed, Rounded]]
"""How one state is rounded: of the market of its slot and the number of workers."""


class External(StrEnum):
    """How placements with external communication are found.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(2, capacity=8)
    >>> for way in pd_ors.External:
    ...     print(way.value, pd_ors.run(instance, external=way, seed=1).utility)
    exact 57.0
    greedy 57.0
    lp-rounding 57.0
    lp-rounding-literal 38.0
    """

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

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> job = instance.job("job3")
    >>> occupancy = pd_ors.Occupancy(instance, pd_ors.constants(instance))
    >>> found = pd_ors.slot_offers(pd_ors.market(occupancy, job, last=3), job, pd_ors.External.EXACT)
    >>> found.offers.workers.tolist()
    [[1, 0], [2, 0], [0, 1], [0, 2]]
    >>> found.offers.cost.round(3).tolist()
    [[0.148, 0.295, inf, inf], [0.148, 0.295, inf, inf]]
    """
    internal, machine = internal_costs(market)
    time = job.external_time if optimistic else max(job.internal_time, job.external_time)
    bound = lower_bound(market)
    is_open = (bound < _at_least_as_good(internal, job.internal_time / time)) & (bound < ceiling)
    is_open[:, 0] = False
    settled: dict[tuple[int, int], Counts] = {}
    if external.rounds:
        if rounder is None:
            raise InputError(f"rounder: is needed for {external}")
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


Placing = dict[int, tuple[int, int]]
"""Index of a machine to (workers, servers)."""


@dataclass(frozen=True, slots=True, eq=False)
class AsyncOffers:
    """The offers of an asynchronous job's slots, and how to carry them out.

    Attributes
    ----------
    offers : Offers
    placement : callable
        Of a row and an offer: its workers and servers by machine.
    subproblems : Subproblems

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(18, capacity=8, asynchronous=True)
    >>> job = instance.jobs[0]
    >>> occupancy = pd_ors.Occupancy(instance, pd_ors.constants(instance))
    >>> found = pd_ors.exact_async_offers(pd_ors.market(occupancy, job, last=3), job)
    >>> found.offers.workers[-1].tolist(), found.placement(0, 4)
    ([2, 0], {0: (2, 2)})
    """

    offers: Offers
    placement: Callable[[int, int], Placing]
    subproblems: Subproblems


@checked
def exact_async_offers(market: Market, job: AsyncJob) -> AsyncOffers:
    """Return the cheapest placement of every i internal and e external workers in every slot.

    Parameters
    ----------
    market : Market
    job : AsyncJob

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(18, capacity=8, asynchronous=True)
    >>> occupancy = pd_ors.Occupancy(instance, pd_ors.constants(instance))
    >>> found = pd_ors.exact_async_offers(pd_ors.market(occupancy, instance.jobs[0], last=3), instance.jobs[0])
    >>> for (internal, external), cost in zip(found.offers.workers, found.offers.cost[0]):
    ...     print(internal, external, round(float(cost), 3))
    0 1 0.076
    0 2 0.133
    1 0 0.076
    1 1 0.133
    2 0 0.152
    """
    most = market.most
    pairs = np.array([(i, e) for i in range(most + 1) for e in range(most + 1 - i) if i + e], dtype=np.int64)
    pairs = pairs.reshape(-1, 2)
    servers = _servers(job, pairs)
    cost = np.full((market.slots, len(pairs)), np.inf)
    home = np.full(cost.shape, -1, dtype=np.int64)
    for t in polled(range(market.slots)):
        each = _pair_costs(market.row(t), pairs, servers)
        if each.size:
            home[t] = each.argmin(axis=0)
            cost[t] = each.min(axis=0)

    def carry_out(row: int, offer: int) -> Placing:
        p, (i, e) = int(home[row, offer]), pairs[offer].tolist()
        placed = {p: (i, int(servers[offer]))}
        for h in _cheapest_units(market.row(row), p)[:e].tolist():
            placed[h] = (placed.get(h, (0, 0))[0] + 1, 0)
        return placed

    offers = Offers(pairs, (1 / job.internal_time, 1 / job.external_time), cost)
    return AsyncOffers(offers, carry_out, Subproblems(market.slots * len(pairs), 0))


def _servers(job: AsyncJob, pairs: Ints) -> Ints:
    """Return ceil((i b^(i) + e b^(e)) / B) for every pair; more than i + e where (3.5) forbids so many."""
    whole, _ = to_integers([job.internal_rate, job.external_rate, job.server_rate])
    load = pairs[:, 0].astype(object) * whole[0] + pairs[:, 1].astype(object) * whole[1]
    needed = (load + whole[2] - 1) // whole[2]
    result: Ints = np.minimum(needed, pairs.sum(axis=1) + 1).astype(np.int64)
    return result


def _pair_costs(slot: Market, pairs: Ints, servers: Ints) -> Floats:
    """Return the cost of every pair with the servers on every machine, shape (machines, pairs)."""
    local = np.outer(slot.worker_price[0], pairs[:, 0]) + np.outer(slot.server_price[0], servers)
    fits = np.broadcast_to(servers <= pairs.sum(axis=1), local.shape).copy()
    kind = slot.room.dtype
    for r in range(len(slot.worker)):
        need = pairs[:, 0].astype(kind) * slot.worker[r] + servers.astype(kind) * slot.server[r]
        fits &= (need[None, :] <= slot.room[0, :, r][:, None]).astype(bool)
    away = np.full((slot.machines, slot.most + 1), np.inf)
    away[:, 0] = 0.0
    for p in polled(range(slot.machines)):
        prices = slot.worker_price[0, _cheapest_units(slot, p)]
        away[p, 1 : len(prices) + 1] = np.cumsum(prices)
    return np.where(fits, local + away[:, pairs[:, 1]], np.inf)


def _cheapest_units(slot: Market, without: int) -> Ints:
    """Return the machines of the cheapest single workers, one entry a worker, up to the most, not on `without`."""
    held = slot.fitting_workers()[0]
    order = np.argsort(slot.worker_price[0], kind="stable")
    order = order[(held[order] > 0) & (order != without)][: slot.most]
    return np.repeat(order, held[order])[: slot.most]


@checked
def rounded_async_offers(
    market: Market, job: AsyncJob, rule: Rounding, rng: np.random.Generator, *, ceiling: float = np.inf
) -> AsyncOffers:
    """Return what Algorithm 4 of the thesis offers: n internal workers on one machine, or n by rounding.

    Parameters
    ----------
    market : Market
    job : AsyncJob
    rule : Rounding
        Printed, n external workers count 1/tau each, and there are none where tau is 0; there is no S.
    rng : numpy.random.Generator
    ceiling : float
        What the job is worth at most: external placements that cost as much are not looked for.

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(18, capacity=8, asynchronous=True)
    >>> occupancy = pd_ors.Occupancy(instance, pd_ors.constants(instance))
    >>> view = pd_ors.market(occupancy, instance.jobs[0], last=3)
    >>> rule = pd_ors.Rounding.of(1.0, 0.5, 10, "corrected")
    >>> found = pd_ors.rounded_async_offers(view, instance.jobs[0], rule, np.random.default_rng(0))
    >>> found.offers.cost[0].round(3).tolist()
    [0.076, 0.152, 0.076, inf]
    """
    most = market.most
    rule = replace(rule, rounds=1) if rule.variant is Variant.PRINTED else rule
    internal, machine = internal_costs(market)
    internal[:, market.servers > np.arange(most + 1)] = np.inf
    time = job.slots_per_minibatch if rule.variant is Variant.PRINTED else max(job.internal_time, job.external_time)
    cost = np.full((market.slots, most), np.inf)
    found: dict[tuple[int, int], Ints] = {}
    rounds = good = 0
    servers = np.array([fewest_servers(job, n, job.external_rate) for n in range(most + 1)], dtype=np.int64)
    states = np.argwhere(lower_bound(market.with_servers(servers))[:, 1:] < (ceiling if time else 0.0)).tolist()
    for row, k in polled(states):
        slot = market.row(row)
        rounded = _round(slot, job, k + 1, rule, rng)
        rounds, good = rounds + rounded.rounds, good + rounded.feasible
        if rounded.x is not None:
            found[row, k + 1] = rounded.x.reshape(2, -1)
            cost[row, k] = float(dot(np.concatenate([slot.worker_price[0], slot.server_price[0]]), rounded.x))

    def carry_out(row: int, offer: int) -> Placing:
        n = offer % most + 1
        if offer < most:
            return {int(machine[row, n]): (n, int(market.servers[n]))}
        point = found[row, n]
        return {h: (int(point[0, h]), int(point[1, h])) for h in np.flatnonzero(point.sum(axis=0)).tolist()}

    count = np.arange(1, most + 1)
    workers = np.concatenate([np.outer(count, (1, 0)), np.outer(count, (0, 1))])
    offers = Offers(workers, (1 / job.internal_time, 1 / (time or Fraction(1))), np.hstack([internal[:, 1:], cost]))
    return AsyncOffers(offers, carry_out, Subproblems(market.slots * most, len(states), rounds, good))


def _round(slot: Market, job: AsyncJob, workers: int, rule: Rounding, rng: np.random.Generator) -> Rounded:
    """Round (3.22)-(3.25) to a point that keeps (3.2)-(3.5)."""
    servers = fewest_servers(job, workers, job.external_rate)
    printed = rule.variant is Variant.PRINTED
    relaxed = external_lp(slot, workers, servers, whole_units=not printed, even=rule.optimum is Optimum.EVEN)
    if relaxed is None:
        return Rounded(None, 0, 0)

    gain = gain_for(slot, rule, Form.THESIS if printed else Form.CORRECTED, workers, servers)
    needs = (workers, servers, slot.limit)
    return round_external(slot, relaxed, rule, gain, needs, rng, lambda x: _bearable(job, x))


def _bearable(job: AsyncJob, x: Ints) -> Bools:
    """Tell which points (draws, 2 machines) keep (3.4) and (3.5)."""
    (internal, external, each), _ = to_integers([job.internal_rate, job.external_rate, job.server_rate])
    most = max(internal, external, each) * int(x.sum(axis=1).max(initial=0)) * x.shape[1]
    workers, servers = np.split(x.astype(integer_dtype(most), copy=False), 2, axis=1)
    homes = servers > 0
    load = workers.sum(axis=1) * homes.sum(axis=1) * external + (workers * homes).sum(axis=1) * (internal - external)
    total = servers.sum(axis=1)
    result: Bools = ((load <= each * total) & (total <= workers.sum(axis=1))).astype(bool)
    return result
