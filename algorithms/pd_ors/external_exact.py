"""The cheapest external placement, exactly: a dynamic program over machines, for all numbers of workers at once.

State: workers and servers placed on the machines so far. Machines that cannot matter are left out: one that has at
least as many better ones, no dearer for workers and for servers and with no less room, as there are workers and servers
to place (for each of those it can stand aside). Where the program would be too large, each state is an integer program
(HiGHS).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from dlsched.algorithms.pd_ors.external import Placed
from dlsched.algorithms.pd_ors.market import Ints, Market, units
from dlsched.algorithms.pd_ors.occupancy import Floats
from dlsched.arithmetic import dot, integer_product
from dlsched.halt import polled
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Matrix
from dlsched.solvers.optimal import solve_to_optimality

MAX_OPERATIONS = 5 * 10**7
"""Steps of the dynamic program of one slot beyond which integer programs are solved."""


def exact_costs(market: Market, wanted: list[int]) -> Floats:
    """Return the least cost of each wanted number of workers in a market of one slot; infinite where none fits."""
    kept = relevant_machines(market)
    if operations(market, kept) > MAX_OPERATIONS:
        integer_program = _integer_program(market, kept)
        return np.array([_solved(market, kept, integer_program, n).cost for n in wanted])
    table = _empty_table(market)
    for h in kept.tolist():
        table = _add_machine(market, h, table)
    return np.array([table[n, market.servers[n]] for n in wanted])


def exact_placement(market: Market, workers: int) -> Placed:
    """Return a cheapest placement of so many workers and their servers in a market of one slot."""
    kept = relevant_machines(market)
    if operations(market, kept) > MAX_OPERATIONS:
        return _solved(market, kept, _integer_program(market, kept), workers)
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
    for w, q, cost in polled(_options(market, machine)):
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


def _integer_program(market: Market, machines: Ints) -> Matrix:
    """Return the program over all w_h, then all s_h; the last two rows, how many there are in all, are left open.

    What fits on a machine are the whole points of a polygon, and its rows are the sides of their convex hull: no other
    whole point is in that, its numbers are small integers, so that a solver's tolerance lets nothing through, and no
    relaxation is closer.
    """
    tops = np.stack([market.fitting_workers()[0, machines], market.fitting_servers()[0, machines]])
    program = Builder(1)
    prices = np.stack([market.worker_price[0, machines], market.server_price[0, machines]])
    x = program.columns(tops, cost=prices, integer=True)
    for h, (w, s), (workers, servers) in zip(machines.tolist(), x.T.tolist(), tops.T.tolist(), strict=True):
        for a, b, c in _hull(market, h, workers, servers):
            program.row([(w, a), (s, b)], upper=c)
    program.add(program.rows(upper=np.full(2, np.inf))[:, None], x, 1.0)
    return program.matrix()


def _hull(market: Market, machine: int, workers: int, servers: int) -> list[tuple[int, int, int]]:
    """Return (a, b, c), a w + b s <= c: the sides of the hull of what fits, but for its box."""
    needs = np.arange(workers + 1).astype(market.room.dtype)[:, None] * market.worker
    beside = units(market.room[0, machine] - needs, market.server, servers)
    corners: list[tuple[int, int]] = []
    for point in enumerate(beside.tolist()):
        while len(corners) > 1 and not _turns_down(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    sides = []
    for (w, s), (v, q) in pairwise(corners):
        if s > q:
            common = math.gcd(s - q, v - w)
            a, b = (s - q) // common, (v - w) // common
            sides.append((a, b, a * w + b * s))
    return sides


def _turns_down(first: tuple[int, int], middle: tuple[int, int], last: tuple[int, int]) -> bool:
    (w, s), (v, q), (u, r) = first, middle, last
    return (r - q) * (v - w) < (q - s) * (u - v)


def _solved(market: Market, machines: Ints, program: Matrix, workers: int) -> Placed:
    """Return a cheapest placement of so many workers by branch and bound, of infinite cost if it is proved to be none.

    Raises
    ------
    SolverError
        If no solver decides it.
    """
    totals = np.array([workers, market.servers[workers]], dtype=float)
    if (program.upper.reshape(2, -1).sum(axis=1) < totals).any():
        return _nowhere(market)
    lower, upper = program.row_lower.copy(), program.row_upper.copy()
    lower[-2:] = upper[-2:] = totals

    def spread(x: Floats) -> Ints:
        placed = np.zeros((2, market.machines), dtype=np.int64)
        placed[:, machines] = x.reshape(2, len(machines))
        return placed

    def fits(x: Floats) -> bool:
        placed = spread(x)
        amounts = integer_product(placed.T.astype(market.room.dtype), np.array([market.worker, market.server]))
        return bool((amounts <= market.room[0]).all()) and placed.sum(axis=1).tolist() == totals.tolist()

    found = solve_to_optimality(replace(program, row_lower=lower, row_upper=upper), accept=fits)
    if found is None:
        return _nowhere(market)
    placed = spread(found.x)
    return Placed(np.asarray(dot(placed[0], market.worker_price[0]) + dot(placed[1], market.server_price[0])), *placed)


def _nowhere(market: Market) -> Placed:
    nothing = np.zeros(market.machines, dtype=np.int64)
    return Placed(np.asarray(np.inf), nothing, nothing)
