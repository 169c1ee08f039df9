"""Internal communication: all workers and servers of a slot on one machine, the cheapest that has room (Algorithm 4).

The numbers are the same on all machines, n workers and ceil(n / gamma) servers, so that the cheapest machine is the
best, which the paper finds by sorting. Here every machine and every n is looked at in one pass: the needs grow with n,
so that each machine has a largest n. Of equally cheap machines, the one of whose room the least share goes.
"""

from __future__ import annotations

import numpy as np

from dlsched.algorithms.pd_ors.market import Ints, Market
from dlsched.algorithms.pd_ors.occupancy import Floats
from dlsched.halt import polled


def internal_costs(market: Market) -> tuple[Floats, Ints]:
    """Return the least cost of n co-located workers with their servers, and the machine, for every slot and n.

    Returns
    -------
    cost : float array (slots, most + 1)
        Infinite where no machine has room; column 0 is 0.
    machine : int array (slots, most + 1)
        Index of the machine; -1 where there is none.
    """
    largest = largest_bundle(market)
    counts = np.arange(market.most + 1)
    cost = np.full((market.slots, market.most + 1), np.inf)
    where = np.full(cost.shape, -1, dtype=np.int64)
    cost[:, 0] = 0.0
    for t in polled(range(market.slots)):
        price = np.outer(market.worker_price[t], counts) + np.outer(market.server_price[t], market.servers)
        price[counts[None, :] > largest[t][:, None]] = np.inf
        if price.size:
            tied = price <= price.min(axis=0)
            machine = np.where(tied, _filled(market, t), np.inf).argmin(axis=0)
            cost[t, 1:] = price[machine, counts][1:]
            where[t, 1:] = np.where(np.isfinite(cost[t, 1:]), machine[1:], -1)
    return cost, where


def _filled(market: Market, row: int) -> Floats:
    """Return the greatest share of a resource's room that n workers with their servers take; (machines, most + 1)."""
    shares = np.zeros((market.machines, market.most + 1))
    counts = np.arange(market.most + 1)
    for alpha, beta, room in zip(market.worker, market.server, market.room[row].T, strict=True):
        need = float(alpha) * counts + float(beta) * market.servers
        np.maximum(shares, need / np.maximum(room.astype(float), 1.0)[:, None], out=shares)
    return shares


def largest_bundle(market: Market) -> Ints:
    """Return the most workers that fit on each machine together with their servers; shape (slots, machines)."""
    counts = np.arange(market.most + 1).astype(market.room.dtype)
    result = np.full(market.room.shape[:-1], market.most, dtype=np.int64)
    for r in range(len(market.worker)):
        need = counts * market.worker[r] + market.servers.astype(market.room.dtype) * market.server[r]
        fits = np.searchsorted(need, market.room[..., r].reshape(-1), side="right") - 1
        np.minimum(result, fits.reshape(result.shape), out=result)
    return result
