"""The cheapest external placement, exactly: a dynamic program over machines, for all numbers of workers at once.

State: workers and servers placed on the machines so far. Machines that cannot matter are left out: one that has at
least as many better ones, no dearer for workers and for servers and with no less room, as there are workers and servers
to place (for each of those it can stand aside). Where the program would be too large, each state is an integer program
(HiGHS).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_diag, coo_array, vstack

from dlsched.algorithms.pd_ors.external import Placed
from dlsched.algorithms.pd_ors.market import Ints, Market
from dlsched.algorithms.pd_ors.occupancy import Floats

MAX_OPERATIONS = 5 * 10**7
"""Steps of the dynamic program of one slot beyond which integer programs are solved."""


def exact_costs(market: Market, wanted: list[int]) -> Floats:
    """Return the least cost of each wanted number of workers in a market of one slot; infinite where none fits."""
    kept = relevant_machines(market)
    if operations(market, kept) > MAX_OPERATIONS:
        return np.array([_integer_program(market, kept, n).cost for n in wanted])
    table = _empty_table(market)
    for h in kept.tolist():
        table = _add_machine(market, h, table)
    return np.array([table[n, market.servers[n]] for n in wanted])


def exact_placement(market: Market, workers: int) -> Placed:
    """Return a cheapest placement of so many workers and their servers in a market of one slot."""
    kept = relevant_machines(market)
    if operations(market, kept) > MAX_OPERATIONS:
        return _integer_program(market, kept, workers)
    tables = [_empty_table(market)]
    for h in kept.tolist():
        tables.append(_add_machine(market, h, tables[-1]))
    n, s = workers, int(market.servers[workers])
    cost = tables[-1][n, s]
    placed = np.zeros((2, market.machines), dtype=np.int64)
    for k in range(len(kept) - 1, -1, -1):
        if not np.isfinite(cost):
            break
        h = int(kept[k])
        w, q = next((w, q) for w, q, c in _options(market, h) if w <= n and q <= s and _same(tables, k, n, s, w, q, c))
        placed[:, h] = w, q
        n, s = n - w, s - q
    return Placed(np.asarray(cost), placed[0], placed[1])


def _same(tables: list[Floats], k: int, n: int, s: int, w: int, q: int, cost: float) -> bool:
    return bool(tables[k + 1][n, s] == tables[k][n - w, s - q] + cost)


def relevant_machines(market: Market) -> Ints:
    """Return the machines of a market of one slot that a cheapest placement may need, in order."""
    fits = (market.fitting_workers()[0] > 0) | (market.fitting_servers()[0] > 0)
    kept = np.flatnonzero(fits)
    wp, sp, room = market.worker_price[0, kept], market.server_price[0, kept], market.room[0, kept]
    no_worse = (wp[:, None] <= wp) & (sp[:, None] <= sp) & (room[:, None] >= room).all(axis=2).astype(bool)
    ties = no_worse & no_worse.T
    first = np.arange(len(kept))[:, None] < np.arange(len(kept))
    better = (no_worse & ~ties) | (ties & first)
    result: Ints = kept[better.sum(axis=0) < market.most + int(market.servers[-1])]
    return result


def operations(market: Market, machines: Ints) -> int:
    """Return about how many steps the dynamic program takes."""
    states = (market.most + 1) * (int(market.servers[-1]) + 1)
    w, q = market.fitting_workers()[0, machines], market.fitting_servers()[0, machines]
    return int(((w + 1) * (q + 1)).sum()) * states


def _empty_table(market: Market) -> Floats:
    table = np.full((market.most + 1, int(market.servers[-1]) + 1), np.inf)
    table[0, 0] = 0.0
    return table


def _add_machine(market: Market, machine: int, table: Floats) -> Floats:
    """Return the least costs once a machine may also be used; shape (workers + 1, servers + 1)."""
    result = table.copy()
    height, breadth = table.shape
    for w, q, cost in _options(market, machine):
        if w or q:
            np.minimum(result[w:, q:], table[: height - w, : breadth - q] + cost, out=result[w:, q:])
    return result


def _options(market: Market, machine: int) -> Iterator[tuple[int, int, float]]:
    """Yield the pairs of workers and servers that fit on a machine, with what they cost."""
    room = market.room[0, machine]
    needs = [(int(a), int(b), int(c)) for a, b, c in zip(market.worker, market.server, room, strict=True)]
    wp, sp = float(market.worker_price[0, machine]), float(market.server_price[0, machine])
    for w in range(market.most + 1):
        for q in range(int(market.servers[-1]) + 1):
            if any(a * w + b * q > c for a, b, c in needs):
                if q == 0:
                    return
                break
            yield w, q, wp * w + sp * q


def _integer_program(market: Market, machines: Ints, workers: int) -> Placed:
    """Return a cheapest placement by branch and bound; the columns are all w_h, then all s_h."""
    count, used = len(machines), np.flatnonzero(market.worker + market.server)
    servers = int(market.servers[workers])
    nothing = np.zeros(market.machines, dtype=np.int64)
    if not count:
        return Placed(np.asarray(0.0 if not workers else np.inf), nothing, nothing)
    # each row in units of its largest need: the integers may be too large for the solver's tolerances
    size = np.maximum(market.worker, market.server)[used].astype(float)
    alpha, beta = market.worker[used].astype(float) / size, market.server[used].astype(float) / size
    room = (market.room[0][np.ix_(machines, used)].astype(float) / size).reshape(-1)
    packing = coo_array(np.hstack([np.kron(np.eye(count), alpha[:, None]), np.kron(np.eye(count), beta[:, None])]))
    totals = coo_array(block_diag([np.ones((1, count)), np.ones((1, count))]))
    rows = vstack([packing, totals])
    limits = LinearConstraint(rows, [*([-np.inf] * len(room)), workers, servers], [*room, workers, servers])
    price = np.concatenate([market.worker_price[0, machines], market.server_price[0, machines]])
    top = np.concatenate([market.fitting_workers()[0, machines], market.fitting_servers()[0, machines]])
    found = milp(price, constraints=limits, integrality=np.ones(2 * count), bounds=Bounds(0, top), options=_EXACT)
    if found.x is None:
        return Placed(np.asarray(np.inf), nothing, nothing)
    placed = np.zeros((2, market.machines), dtype=np.int64)
    placed[:, machines] = np.round(found.x).astype(np.int64).reshape(2, count)
    amounts = placed.T.astype(market.room.dtype) @ np.array([market.worker, market.server])
    if (amounts > market.room[0]).any():
        return Placed(np.asarray(np.inf), nothing, nothing)
    cost = float(placed[0] @ market.worker_price[0] + placed[1] @ market.server_price[0])
    return Placed(np.asarray(cost), placed[0], placed[1])


_EXACT = {"mip_rel_gap": 0.0}
