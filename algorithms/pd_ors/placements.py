"""The cheapest placements of n workers and ceil(n / gamma) servers in one slot: on one machine, or anywhere.

Internal communication (Algorithm 4): the numbers are the same on all machines, so that the cheapest machine is the
best. Here every machine and every n is looked at in one pass: the needs grow with n, so that each machine has a
largest n. Of equally cheap machines, the one of whose room the least share goes.

The paper, steps 2 to 6, sorts machines by sum_r p^r (alpha^r gamma + beta^r) and takes the first that has room. That is
the cheapest where n = gamma s; where s = ceil(n / gamma) is rounded up it need not be, and here the cheapest is taken
in every variant. With gamma = 2, one worker, one server, and prices of (worker, server) of (0, 5) on machine A and (3,
0) on B, the paper's keys are 5 and 6 and it takes A at a cost of 5; B costs 3.

External communication (23)-(26): workers and servers of a job compete for the room of a machine; without that, each
kind would fill the cheapest machines first. Filling them so, each kind by itself, gives a lower bound for every slot
and n at once; filling them in turn, the second kind into what the first leaves, gives placements. Where the two costs
meet, the placement is cheapest, which is nearly always; the other states are left to a dynamic program or to the
paper's rounding. The paper's program has no row for the servers, so that its optimum has none; here there is one.

The dynamic program is exact, over machines, for all n at once; its state is the workers and servers placed so far.
Machines that cannot matter are left out: one that has at least as many better ones, no dearer for workers and for
servers and with no less room, as there are workers and servers to place (for each of those it can stand aside). Where
it would be too large, each state is an integer program (HiGHS).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dlsched.algorithms.pd_ors.market import Amounts, Floats, Ints, Market, units
from dlsched.arithmetic import dot, integer_product
from dlsched.halt import polled
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Matrix
from dlsched.solvers.solve import solve_to_optimality


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


_BLOCK = 2**21
"""Amounts that are held at once, 16 MB of them, by slot, number of workers, machine and resource."""


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
    few = _Few.of(market)
    _, workers = few.workers_alone()
    _, servers = few.servers_alone()
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
    few = _Few.of(market)
    best = few.workers_first()
    for rule in (few.servers_first, few.bundles):
        other = rule()
        better = other.cost < best.cost
        best = Placed(
            np.where(better, other.cost, best.cost),
            np.where(better[..., None], other.workers, best.workers),
            np.where(better[..., None], other.servers, best.servers),
        )
    return Placed(best.cost, few.spread(best.workers), few.spread(best.servers))


def _blocks(market: Market) -> Iterator[slice]:
    size = (market.most + 1) * max(1, market.machines) * max(1, len(market.worker))
    height = max(1, _BLOCK // size)
    return (slice(first, first + height) for first in range(0, market.slots, height))


@dataclass(frozen=True, slots=True, eq=False)
class _Few:
    """A market in which each slot has only the machines that filling the cheapest ones can come to.

    Every machine that is used holds at least one of the n workers or s servers, and room for a server is taken away on
    at most n machines, for a worker on at most s: so the first n + s machines by price that have room for any will do.

    Attributes
    ----------
    market : Market
        Of these machines only, in the order of the whole one.
    seats : int array (slots, few) or None
        Which machines they are; None for all.
    machines : int
        Of the whole market.
    """

    market: Market
    seats: Ints | None
    machines: int

    @classmethod
    def of(cls, market: Market) -> Self:
        workers, servers = market.most, int(market.servers[-1])
        if 2 * (workers + servers) + workers >= market.machines:
            return cls(market, None, market.machines)
        needed = _first(market.worker_price, market.fitting_workers() > 0, workers + servers)
        needed |= _first(market.server_price, market.fitting_servers() > 0, workers + servers)
        needed |= _first(_bundle_price(market), largest_bundle(market) > 0, workers)
        few = int(needed.sum(axis=1).max(initial=1))
        seats = np.sort(np.argsort(~needed, axis=1, kind="stable")[:, :few], axis=1)
        return cls(market.among(seats), seats, market.machines)

    def workers_alone(self) -> tuple[Ints, Floats]:
        """Return 0, 1, ... workers on the cheapest machines, and what they cost."""
        market = self.market
        return self._fill(market.worker_price, market.fitting_workers()[:, None, :], np.arange(market.most + 1))

    def servers_alone(self) -> tuple[Ints, Floats]:
        """Return the servers of 0, 1, ... workers on the cheapest machines, and what they cost."""
        return self._fill(self.market.server_price, self.market.fitting_servers()[:, None, :], self.market.servers)

    def workers_first(self) -> Placed:
        """Fill machines with workers, then what is left with servers."""
        market, (workers, cost) = self.market, self.workers_alone()
        left = market.room[:, None] - _amounts(market, workers, market.worker)
        limits = units(left, market.server, int(market.servers[-1]))
        servers, more = self._fill(market.server_price, limits, market.servers)
        return Placed(cost + more, workers, servers)

    def servers_first(self) -> Placed:
        """Fill machines with servers, then what is left with workers."""
        market, (servers, cost) = self.market, self.servers_alone()
        left = market.room[:, None] - _amounts(market, servers, market.server)
        limits = units(left, market.worker, market.most)
        workers, more = self._fill(market.worker_price, limits, np.arange(market.most + 1))
        return Placed(cost + more, workers, servers)

    def bundles(self) -> Placed:
        """Fill machines with workers and their own servers, by the price of a full load; then drop surplus servers."""
        market = self.market
        limits = largest_bundle(market)[:, None, :]
        workers, cost = self._fill(_bundle_price(market), limits, np.arange(market.most + 1))
        servers, _ = self._fill(market.server_price, market.servers[workers], market.servers)
        paid = self._paid(workers, market.worker_price) + self._paid(servers, market.server_price)
        return Placed(np.where(np.isfinite(cost), paid, np.inf), workers, servers)

    def spread(self, placed: NDArray[Any]) -> NDArray[Any]:
        """Return amounts (slots, numbers, few) on the machines of the whole market."""
        if self.seats is None:
            return placed
        whole = np.zeros((*placed.shape[:2], self.machines), dtype=placed.dtype)
        np.put_along_axis(whole, self.seats[:, None, :], placed, axis=2)
        return whole

    def _paid(self, placed: Ints, price: Floats) -> Floats:
        """Return what is paid in all; the sums are over the whole market, so that their last bits are the same."""
        paid: Floats = self.spread(placed * price[:, None]).sum(axis=2)
        return paid

    def _fill(self, price: Floats, limits: Ints, counts: Ints) -> tuple[Ints, Floats]:
        """Place so many units on the cheapest machines.

        Parameters
        ----------
        price : float array (slots, few)
        limits : int array (slots, 1 or numbers, few)
        counts : int array (numbers,)

        Returns
        -------
        placed : int array (slots, numbers, few)
        cost : float array (slots, numbers)
            Infinite where they do not fit.
        """
        order = np.argsort(price, axis=1, kind="stable")[:, None, :]
        # As np.take_along_axis and np.put_along_axis do it, which take longer than all the rest where machines are few.
        slot, number = np.arange(len(limits))[:, None, None], np.arange(limits.shape[1])[:, None]
        ordered = limits[slot, number, order]
        before = ordered.cumsum(axis=2) - ordered
        taken = np.minimum(np.maximum(counts[None, :, None] - before, 0), ordered)
        placed = np.empty_like(taken)
        placed[slot, np.arange(taken.shape[1])[:, None], order] = taken
        cost = self._paid(placed, price)
        return placed, np.where(taken.sum(axis=2) == counts, cost, np.inf)


def _first(price: Floats, usable: NDArray[np.bool_], count: int) -> NDArray[np.bool_]:
    """Tell which are the first usable machines of each slot by price, of equals by number: so many, or all."""
    if not count:
        return np.zeros_like(usable)
    wanted = np.where(usable, price, np.inf)
    limit = np.partition(wanted, count - 1, axis=1)[:, count - 1 : count]
    cheaper, tied = usable & (wanted < limit), usable & (wanted == limit)
    left = count - cheaper.sum(axis=1, keepdims=True)
    result: NDArray[np.bool_] = cheaper | (tied & (np.cumsum(tied, axis=1) <= left))
    return result


def _bundle_price(market: Market) -> Floats:
    """Return the price of a worker with its share of the servers of a full load."""
    ratio = market.servers[-1] / max(1, market.most)
    price: Floats = market.worker_price + ratio * market.server_price
    return price


def _amounts(market: Market, counts: Ints, need: Amounts) -> Amounts:
    return counts.astype(market.room.dtype)[..., None] * need


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
