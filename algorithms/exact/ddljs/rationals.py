"""DDLJS over the rationals: `ddljs/offline-circulation`, and of one slot `ddljs/slot-circulation`.

Both are exact, as `dlsched.models.ddljs.circulation` proves; rows and columns are called as there.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate

from dlsched.algorithms.exact.certificates.program import ExactProgram, ProgramBuilder, TooLargeError
from dlsched.models.ddljs.instance import Arc, Instance
from dlsched.models.ddljs.job import Job
from dlsched.models.ddljs.requests import RingProblem, RingRequest, unpriced_problem

Term = tuple[int, Fraction | int]


class PlacedError(TooLargeError):
    """A job says which server may host which worker: circulations, which are small, do not tell its workers apart."""


def program(instance: Instance) -> ExactProgram:
    """Return `ddljs/offline-circulation`, whose optimum is that of the instance.

    Raises
    ------
    PlacedError
        If a job has a placement.
    TooLargeError
        If it has too many columns or coefficients.

    References
    ----------
    GADGET, (2)-(9), corrected.
    """
    for job in instance.jobs:
        if job.placement is not None:
            raise PlacedError(f"job {job.name} has a placement")
    builder = ProgramBuilder("ddljs/offline-circulation")
    rings: dict[str, list[_Ring]] = {job.name: [] for job in instance.jobs}
    for slot in range(1, instance.slots + 1):
        for name, ring in _slot(builder, unpriced_problem(instance, slot), slot).items():
            rings[name].append(ring)
    for job in instance.jobs:
        _count(builder, job, instance.most(job), rings[job.name])
    return builder.program()


def slot_program(problem: RingProblem, slot: int = 1) -> ExactProgram:
    """Return `ddljs/slot-circulation` of ring requests on a substrate: its optimum is that of (12).

    Parameters
    ----------
    problem : RingProblem
        Ring sizes of a request need not be consecutive.
    slot : int
        What stands in the names.

    Raises
    ------
    PlacedError
        If a request says which nodes may host which ring node.
    TooLargeError
        If it has too many columns or coefficients.

    References
    ----------
    GADGET, (10)-(11) with (2)-(9) corrected.
    """
    for request in problem.requests:
        if request.allowed is not None:
            raise PlacedError(f"request {request.name} has a placement")
    builder = ProgramBuilder("ddljs/slot-circulation")
    _slot(builder, problem.keeping(q for q in problem.requests if q.profit and problem.hosts(q)), slot)
    return builder.program()


@dataclass(slots=True, eq=False)
class _Ring:
    """The columns of one request.

    Attributes
    ----------
    of : str
        Job and slot, as they stand in names.
    request : RingRequest
    hosts : tuple of str
    longest : int
        The most servers that the ring can have.
    workers, in_use, root : dict of str to int
        By server.
    size : dict of int to int
        By ring size.
    flow, carry : dict of arc to int
    """

    of: str
    request: RingRequest
    hosts: tuple[str, ...]
    longest: int
    workers: dict[str, int] = field(default_factory=dict)
    in_use: dict[str, int] = field(default_factory=dict)
    root: dict[str, int] = field(default_factory=dict)
    size: dict[int, int] = field(default_factory=dict)
    flow: dict[Arc, int] = field(default_factory=dict)
    carry: dict[Arc, int] = field(default_factory=dict)

    def at_least(self, k: int) -> list[Term]:
        """Return whether the ring has at least k workers."""
        return [(column, 1) for n, column in self.size.items() if n >= k]


def _slot(builder: ProgramBuilder, problem: RingProblem, slot: int) -> dict[str, _Ring]:
    """Write the rings of one slot, each at its profit, and the rows that they share."""
    rings = {}
    for request in problem.requests:
        hosts = problem.hosts(request)
        ring = _Ring(f"{request.name},{slot}", request, hosts, min(len(hosts), max(request.profit)))
        _workers(builder, ring, [problem.room(request, s) for s in hosts])
        if ring.longest > 1:
            _circulation(builder, ring, problem)
        rings[request.name] = ring
    _capacities(builder, problem, rings.values(), slot)
    return rings


def _workers(builder: ProgramBuilder, ring: _Ring, rooms: list[int]) -> None:
    """Write (5) and the ring sizes, with (2) and what they say of the servers in use."""
    for s, room in zip(ring.hosts, rooms, strict=True):
        ring.workers[s] = builder.column(f"workers[{ring.of},{s}]", room, integer=True)
        ring.in_use[s] = builder.binary(f"in_use[{ring.of},{s}]")
        terms = [(ring.workers[s], 1), (ring.in_use[s], -room)]
        builder.row(f"room_in_use[{ring.of},{s}]", terms, upper=0)
    most = list(accumulate(sorted(rooms, reverse=True)))
    for k, profit in ring.request.profit.items():
        if k <= most[-1]:
            ring.size[k] = builder.binary(f"size[{ring.of},{k}]", cost=profit)
    if ring.size:
        builder.row(f"one_size[{ring.of}]", ring.at_least(1), upper=1)
    hosted = [(column, 1) for column in ring.workers.values()]
    builder.row(f"ring_size[{ring.of}]", [*hosted, *((column, -k) for k, column in ring.size.items())], 0, 0)
    servers = [(column, 1) for column in ring.in_use.values()]
    fewest = [(column, -bisect_left(most, k) - 1) for k, column in ring.size.items()]
    builder.row(f"servers_needed[{ring.of}]", [*servers, *fewest], lower=0)


def _circulation(builder: ProgramBuilder, ring: _Ring, problem: RingProblem) -> None:
    """Write (7) and (9): a circulation that is connected from the root."""
    of, n, bandwidth = ring.of, ring.longest, ring.request.bandwidth
    for arc in problem.usable(ring.request):
        most = min(n, math.floor(problem.capacity[arc] / bandwidth)) if bandwidth else n
        hop = f"{of},{arc[0]},{arc[1]}"
        ring.flow[arc] = builder.column(f"flow[{hop}]", most, integer=True)
        ring.carry[arc] = builder.column(f"carry[{hop}]", (n - 1) * most)
        builder.row(f"along[{hop}]", [(ring.carry[arc], 1), (ring.flow[arc], 1 - n)], upper=0)
    for s in ring.hosts:
        ring.root[s] = builder.binary(f"root[{of},{s}]")
    roots = [(column, 1) for column in ring.root.values()]
    builder.row(f"one_root[{of}]", [*roots, *((column, -1) for column, _ in ring.at_least(1))], 0, 0)
    for number, s in enumerate(ring.hosts):
        before = [(column, -1) for column, _ in roots[: number + 1]]
        builder.row(f"first[{of},{s}]", [(ring.in_use[s], 1), *before], upper=0)
        leaves = [*_out(ring.flow, s), (ring.in_use[s], -1), (ring.root[s], 1)]
        builder.row(f"leaves[{of},{s}]", leaves, lower=0)
    passed = dict.fromkeys(u for arc in ring.flow for u in arc)
    for u in passed:
        builder.row(f"balance[{of},{u}]", _out(ring.flow, u) + _in(ring.flow, u, -1), 0, 0)
    for u in {**dict.fromkeys(ring.hosts), **passed}:
        there = [(ring.in_use[u], -1), (ring.root[u], n)] if u in ring.root else []
        builder.row(f"connected[{of},{u}]", [*_in(ring.carry, u), *_out(ring.carry, u, -1), *there], lower=0)


def _out(columns: dict[Arc, int], node: str, sign: int = 1) -> list[Term]:
    return [(column, sign) for (u, _), column in columns.items() if u == node]


def _in(columns: dict[Arc, int], node: str, sign: int = 1) -> list[Term]:
    return [(column, sign) for (_, v), column in columns.items() if v == node]


def _capacities(builder: ProgramBuilder, problem: RingProblem, rings: Iterable[_Ring], slot: int) -> None:
    """Write (4) and (8), over all rings of a slot."""
    nodes: dict[tuple[str, str], list[Term]] = {}
    links: dict[Arc, list[Term]] = {}
    carrier = {arc: arcs[0] for arcs, _ in problem.shares for arc in arcs}
    for ring in rings:
        for s, column in ring.workers.items():
            for r, need in ring.request.demand.items():
                if need:
                    nodes.setdefault((s, r), []).append((column, need))
        for arc, column in ring.flow.items():
            if ring.request.bandwidth:
                links.setdefault(carrier[arc], []).append((column, ring.request.bandwidth))
    for (s, r), terms in nodes.items():
        builder.row(f"capacity[{s},{r},{slot}]", terms, upper=problem.nodes[s].get(r, 0))
    for (u, v), terms in links.items():
        builder.row(f"link_load[{slot},{u},{v}]", terms, upper=problem.capacity[u, v])


def _count(builder: ProgramBuilder, job: Job, most: int, rings: list[_Ring]) -> None:
    """Write n_i as one of the counts that a job's budget and the servers allow (3), at its utility."""
    counts = {}
    for k in range(most + 1):
        try:
            value = job.value(k)
        except ValueError:
            # A log utility at 0 is minus infinity: the count cannot be chosen.
            counts[k] = builder.column(f"count[{job.name},{k}]", 0, integer=True)
        else:
            counts[k] = builder.binary(f"count[{job.name},{k}]", cost=value)
    builder.row(f"one_count[{job.name}]", [(column, 1) for column in counts.values()], 1, 1)
    if most:
        got = [(column, 1) for ring in rings for column in ring.workers.values()]
        builder.row(f"worker_slots[{job.name}]", [*got, *((column, -k) for k, column in counts.items())], 0, 0)
    for ring in rings:
        for k in ring.size:
            fewer = [(counts[n], 1) for n in range(k)]
            builder.row(f"no_fewer[{ring.of},{k}]", [*fewer, *ring.at_least(k)], upper=1)
