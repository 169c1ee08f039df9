"""External communication (23)-(26): n workers and ceil(n / gamma) servers anywhere, bounded and placed greedily.

Workers and servers of a job compete for the room of a machine; without that, each kind would fill the cheapest machines
first. Filling them so, each kind by itself, gives a lower bound for every slot and n at once; filling them in turn, the
second kind into what the first leaves, gives placements. Where the two costs meet, the placement is cheapest, which is
nearly always; the other states are left to a dynamic program or to the paper's rounding.

The paper's (23)-(26) has no row for the servers, so that its optimum has none; here there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dlsched.algorithms.pd_ors.internal import largest_bundle
from dlsched.algorithms.pd_ors.market import Ints, Market, units
from dlsched.algorithms.pd_ors.occupancy import Amounts, Floats
from dlsched.halt import polled

_BLOCK = 2**21


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Workers and servers on every machine, for some slots and numbers of workers.

    Attributes
    ----------
    cost : float array (...)
        Infinite where nothing fits.
    workers, servers : int array (..., machines)
    """

    cost: Floats
    workers: Ints
    servers: Ints


def lower_bound(market: Market) -> Floats:
    """Return a lower bound on the cost of every slot and n, shape (slots, most + 1); infinite only if nothing fits."""
    counts = np.arange(market.most + 1)
    _, workers = _fill(market.worker_price, market.fitting_workers()[:, None, :], counts)
    _, servers = _fill(market.server_price, market.fitting_servers()[:, None, :], market.servers)
    return workers + servers


def greedy_costs(market: Market) -> Floats:
    """Return the cost of the best greedy placement for every slot and n, shape (slots, most + 1).

    It is that of a placement that fits, or infinite, also where some placement would fit.
    """
    blocks = [greedy(market.rows(rows)).cost for rows in polled(_blocks(market))]
    return np.concatenate(blocks) if blocks else np.zeros((0, market.most + 1))


def greedy(market: Market) -> Placed:
    """Return the cheapest of the greedy placements for every slot and n: (slots, most + 1).

    Workers first, servers first, and whole bundles of workers with their servers.
    """
    rules: tuple[Callable[[Market], Placed], ...] = (_workers_first, _servers_first, _bundles)
    best = rules[0](market)
    for rule in rules[1:]:
        other = rule(market)
        better = other.cost < best.cost
        best = Placed(
            np.where(better, other.cost, best.cost),
            np.where(better[..., None], other.workers, best.workers),
            np.where(better[..., None], other.servers, best.servers),
        )
    return best


def _blocks(market: Market) -> Iterator[slice]:
    size = (market.most + 1) * max(1, market.machines) * max(1, len(market.worker))
    height = max(1, _BLOCK // size)
    return (slice(first, first + height) for first in range(0, market.slots, height))


def _workers_first(market: Market) -> Placed:
    workers, cost = _fill(market.worker_price, market.fitting_workers()[:, None, :], np.arange(market.most + 1))
    left = market.room[:, None] - _amounts(market, workers, market.worker)
    servers, more = _fill(market.server_price, units(left, market.server, int(market.servers[-1])), market.servers)
    return Placed(cost + more, workers, servers)


def _servers_first(market: Market) -> Placed:
    servers, cost = _fill(market.server_price, market.fitting_servers()[:, None, :], market.servers)
    left = market.room[:, None] - _amounts(market, servers, market.server)
    workers, more = _fill(market.worker_price, units(left, market.worker, market.most), np.arange(market.most + 1))
    return Placed(cost + more, workers, servers)


def _bundles(market: Market) -> Placed:
    """Fill machines with workers and their own servers, by the price of a full load; then drop surplus servers."""
    ratio = market.servers[-1] / max(1, market.most)
    price = market.worker_price + ratio * market.server_price
    workers, cost = _fill(price, largest_bundle(market)[:, None, :], np.arange(market.most + 1))
    servers, _ = _fill(market.server_price, market.servers[workers], market.servers)
    paid = _paid(workers, market.worker_price) + _paid(servers, market.server_price)
    return Placed(np.where(np.isfinite(cost), paid, np.inf), workers, servers)


def _amounts(market: Market, counts: Ints, need: Amounts) -> Amounts:
    return counts.astype(market.room.dtype)[..., None] * need


def _paid(placed: Ints, price: Floats) -> Floats:
    paid: Floats = (placed * price[:, None]).sum(axis=2)
    return paid


def _fill(price: Floats, limits: Ints, counts: Ints) -> tuple[Ints, Floats]:
    """Place so many units on the cheapest machines.

    Parameters
    ----------
    price : float array (slots, machines)
    limits : int array (slots, 1 or numbers, machines)
    counts : int array (numbers,)

    Returns
    -------
    placed : int array (slots, numbers, machines)
    cost : float array (slots, numbers)
        Infinite where they do not fit.
    """
    order = np.argsort(price, axis=1, kind="stable")[:, None, :]
    ordered = np.take_along_axis(limits, order, axis=2)
    before = np.cumsum(ordered, axis=2) - ordered
    taken = np.minimum(np.maximum(counts[None, :, None] - before, 0), ordered)
    placed = np.empty_like(taken)
    np.put_along_axis(placed, np.broadcast_to(order, taken.shape), taken, axis=2)
    cost = _paid(placed, price)
    return placed, np.where(taken.sum(axis=2) == counts, cost, np.inf)
