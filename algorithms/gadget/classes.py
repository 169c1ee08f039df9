"""The bandwidth-blind linear program of a slot over classes of equal servers, and the way back to servers.

Where workers may be on any server with room for one, a point of the plain linear program loads each server with some
number of workers, and so does "all k workers on server u" with matching weights, over no link at all. So the plain, the
augmented and this program have the same value:

    max sum pi_ik x_ik^u,  sum_{k,u} x_ik^u <= 1,  sum_{i,k} k l_i^r x_ik^u <= C_u^r

with x_ik^u the weight of ring size k of job i on u, where u has room for one worker. With constraint (5), a server
holds at most min(k, m_iu) of the k workers: k x_ik^u <= min(k, m_iu) sum_v x_ik^v. Then x_ik^u says how many of the
workers are on u, and no longer where all of them are.

Servers of equal capacity are interchangeable. Their average over a class solves the program, too, so a class of n
servers is one with n times the capacity, and n times min(k, m).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dlsched.arithmetic import dot
from dlsched.models.ddljs import RingProblem, RingRequest
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Floats
from dlsched.solvers.solution import SolverError
from dlsched.solvers.solve import solve_to_optimality
from dlsched.tolerances import TIE, ZERO

Weights = dict[tuple[str, int], dict[int, float]]
"""x by (request name, ring size) and number of the class; zeros are left out."""


@dataclass(frozen=True, slots=True)
class ServerClass:
    """Servers of equal capacity.

    Attributes
    ----------
    servers : tuple of str
    capacity : mapping of str to Fraction
        Of each of them.
    """

    servers: tuple[str, ...]
    capacity: Mapping[str, Fraction]


def server_classes(problem: RingProblem) -> tuple[ServerClass, ...]:
    """Return the classes of servers that have the same capacity of the resources in demand."""
    groups: dict[tuple[Fraction, ...], list[str]] = {}
    group: dict[str, list[str]] = {}
    for u, kind in problem.kinds.items():
        if kind not in group:
            capacity = tuple(problem.nodes[u].get(r, Fraction(0)) for r in problem.resources)
            group[kind] = groups.setdefault(capacity, [])
        group[kind].append(u)
    return tuple(
        ServerClass(tuple(servers), dict(zip(problem.resources, capacity, strict=True)))
        for capacity, servers in groups.items()
    )


def weights(problem: RingProblem, classes: Sequence[ServerClass], *, cap: bool) -> tuple[Weights, float]:
    """Solve the program.

    Parameters
    ----------
    problem : RingProblem
        No request may have `allowed` nodes.
    classes : sequence of ServerClass
        Of the problem.
    cap : bool
        With constraint (5).

    Returns
    -------
    weights : Weights
        Of optima, one that prefers servers which can hold the whole ring, to a millionth of its profit.
    value : float
    """
    rooms = {request.name: [problem.room(request, each.servers[0]) for each in classes] for request in problem.requests}
    columns = [
        (i, k, c)
        for i, request in enumerate(problem.requests)
        for k, profit in request.profit.items()
        if profit > 0
        for c, room in enumerate(rooms[request.name])
        if room
    ]
    if not columns:
        return {}, 0.0
    profits = np.array([float(problem.requests[i].profit[k]) for i, k, _ in columns])
    alone = np.array([rooms[problem.requests[i].name][c] >= k for i, k, c in columns])
    rows = _rows(problem, classes, columns)
    if cap:
        rows += _cap_rows(problem, classes, columns, rooms)
    x = _solve(np.where(alone, profits, profits * (1 - TIE)), rows)
    found: Weights = defaultdict(dict)
    for (i, k, c), value in zip(columns, x.tolist(), strict=True):
        if value > ZERO:
            found[problem.requests[i].name, k][c] = value
    return dict(found), float(dot(profits, x))


def largest_counts(
    problem: RingProblem, classes: Sequence[ServerClass], limits: Mapping[str, float]
) -> dict[str, float]:
    """Return sum_s y_is, by request, in an optimum of the joint relaxation of (10).

    Parameters
    ----------
    problem : RingProblem
        With the gains of all ring sizes up to the limits.
    classes : sequence of ServerClass
    limits : mapping of str to float
        What (2) and (11) allow, not rounded.

    Notes
    -----
    In the relaxation a server may hold part of a worker, so that any with some of each resource will do.
    """
    columns = [
        (i, k, c)
        for i, request in enumerate(problem.requests)
        for k in request.profit
        for c, each in enumerate(classes)
        if all(each.capacity[r] for r in request.demand)
    ]
    counts = dict.fromkeys((request.name for request in problem.requests), 0.0)
    if columns:
        profits = np.array([float(problem.requests[i].profit[k]) for i, k, _ in columns])
        jobs = np.array([i for i, _, _ in columns])
        sizes = np.array([k for _, k, _ in columns], dtype=float)
        limit = [
            ({int(j): sizes[j] for j in np.flatnonzero(jobs == i)}, limits[request.name])
            for i, request in enumerate(problem.requests)
        ]
        x = _solve(profits, _rows(problem, classes, columns) + limit)
        for i, request in enumerate(problem.requests):
            counts[request.name] = float((sizes * x)[jobs == i].sum())
    return counts


Row = tuple[dict[int, float], float]
"""Coefficients by column, and the largest value of the row."""


def _rows(problem: RingProblem, classes: Sequence[ServerClass], columns: Sequence[tuple[int, int, int]]) -> list[Row]:
    """Return the rows of the requests and of the classes' resources."""
    once: dict[int, dict[int, float]] = defaultdict(dict)
    load: dict[tuple[int, str], dict[int, float]] = defaultdict(dict)
    demand = [{r: float(need) for r, need in request.demand.items() if need} for request in problem.requests]
    for j, (i, k, c) in enumerate(columns):
        once[i][j] = 1.0
        for r, need in demand[i].items():
            load[c, r][j] = k * need
    limits = {
        (c, r): float(each.capacity[r] * len(each.servers)) for c, each in enumerate(classes) for r in each.capacity
    }
    return [*((row, 1.0) for row in once.values()), *((row, limits[key]) for key, row in load.items())]


def _cap_rows(
    problem: RingProblem,
    classes: Sequence[ServerClass],
    columns: Sequence[tuple[int, int, int]],
    rooms: Mapping[str, Sequence[int]],
) -> list[Row]:
    """Return (5) where a class may hold less than the ring: k x_ik^c <= n_c min(k, m_ic) sum_d x_ik^d."""
    of_ring: dict[tuple[int, int], list[int]] = defaultdict(list)
    for j, (i, k, _) in enumerate(columns):
        of_ring[i, k].append(j)
    rows: list[Row] = []
    for j, (i, k, c) in enumerate(columns):
        most = len(classes[c].servers) * min(k, rooms[problem.requests[i].name][c])
        if most < k:
            row = dict.fromkeys(of_ring[i, k], float(-most))
            row[j] += k
            rows.append((row, 0.0))
    return rows


def _solve(c: Floats, rows: Sequence[Row]) -> Floats:
    """Maximise over x >= 0 within the rows."""
    program = Builder(-1)
    program.columns(np.inf, cost=c)
    for row, limit in rows:
        program.row(row.items(), upper=limit)
    found = solve_to_optimality(program.matrix())
    if found is None:
        raise SolverError("the linear program of a slot has no point, although embedding nothing is one")
    x: Floats = np.maximum(found.x, 0.0)
    return x


def spread(
    problem: RingProblem, classes: Sequence[ServerClass], found: Weights, *, cap: bool
) -> dict[tuple[str, int], dict[str, float]]:
    """Return how many workers (a fractional number) of each request and size each server holds.

    Rings are kept together as long as that works: largest first, each on the server with the least room that has
    enough. If resources run out on the way, all servers of the class hold the same.

    Parameters
    ----------
    problem, classes, cap
        As for `weights`.
    found : Weights
    """
    result: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    requests = {request.name: request for request in problem.requests}
    for c, each in enumerate(classes):
        amounts = {key: key[1] * x[c] for key, x in found.items() if c in x}
        most = {}
        for name, k in amounts:
            chi = math.fsum(found[name, k].values())
            most[name, k] = min(k, problem.room(requests[name], each.servers[0])) * chi if cap else k * chi
        packed = _packed(each, amounts, most, requests)
        for key, amount in amounts.items():
            result[key] |= packed[key] if packed else dict.fromkeys(each.servers, amount / len(each.servers))
    return dict(result)


def evenly(classes: Sequence[ServerClass], found: Weights) -> dict[tuple[str, int], dict[str, float]]:
    """Return the same with the same amount on all servers of a class, without (5); parameters as for `spread`."""
    return {
        key: {u: key[1] * part / len(classes[c].servers) for c, part in x.items() for u in classes[c].servers}
        for key, x in found.items()
    }


def _packed(
    each: ServerClass,
    amounts: Mapping[tuple[str, int], float],
    most: Mapping[tuple[str, int], float],
    requests: Mapping[str, RingRequest],
) -> dict[tuple[str, int], dict[str, float]] | None:
    """Put amounts on the servers of a class, at most `most` of one on a server; None if something is left over."""
    free = {u: {r: float(have) for r, have in each.capacity.items()} for u in each.servers}
    result: dict[tuple[str, int], dict[str, float]] = {key: {} for key in amounts}
    for key in sorted(amounts, key=lambda key: -key[1]):
        demand = {r: float(need) for r, need in requests[key[0]].demand.items() if need}
        left = amounts[key]
        while left > ZERO:
            room = {
                u: min((have[r] / need for r, need in demand.items()), default=left)
                for u, have in free.items()
                if u not in result[key]
            }
            if not room:
                return None
            wanted = min(left, most[key])
            enough = [u for u, amount in room.items() if amount >= wanted - ZERO]
            chosen = min(enough, key=room.__getitem__) if enough else max(room, key=room.__getitem__)
            part = min(wanted, room[chosen])
            if part <= ZERO:
                return None
            result[key][chosen] = part
            left -= part
            for r, need in demand.items():
                free[chosen][r] -= part * need
    return result
