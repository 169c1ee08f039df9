"""Exhaustive search over one slot of the DDLJS problem: workers by server, cyclic orders of servers, simple paths.

A slot is anything with ``nodes`` {name: {resource: capacity}}, ``shares`` (arcs, bandwidth) and ``requests``, each
with ``name``, ``profit`` {ring size: profit}, ``demand`` {resource: amount}, ``bandwidth`` and ``allowed`` (the nodes
that may host each ring node, or None). Two routes lead to the rings of a request: by counts (each hosting server
visited once) and by ring nodes (each of the k workers put somewhere, as in G-VNE; the only one with ``allowed``).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import networkx as nx

Arc = tuple[str, str]
Path = tuple[str, ...]
Amounts = tuple[int, ...]


class Request(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def profit(self) -> Mapping[int, Fraction]: ...
    @property
    def demand(self) -> Mapping[str, Fraction]: ...
    @property
    def bandwidth(self) -> Fraction: ...
    @property
    def allowed(self) -> Sequence[frozenset[str]] | None: ...


class Slot(Protocol):
    @property
    def nodes(self) -> Mapping[str, Mapping[str, Fraction]]: ...
    @property
    def shares(self) -> Sequence[tuple[Sequence[Arc], Fraction]]: ...
    @property
    def requests(self) -> Sequence[Any]: ...


@dataclass(frozen=True)
class Rules:
    """How (5), (8) and (9) are read; the defaults are the corrected problem.

    Attributes
    ----------
    single_hop : bool
        Paths are single links instead of all simple paths.
    literal : bool
        (8) as printed: the jobs on one and the same path are summed, different paths that share a link are not.
    subtours : bool
        Servers may fall into several cycles of two or more: only degrees count.
    ghosts : bool
        Servers without workers may stand in the ring (no y >= x).
    everywhere : bool
        (9) as printed, for every server: a ring of two or more servers has them all.
    mappings : bool
        Ring nodes are mapped one by one (G-VNE) also where nothing tells them apart.
    """

    single_hop: bool = False
    literal: bool = False
    subtours: bool = False
    ghosts: bool = False
    everywhere: bool = False
    mappings: bool = False


CORRECTED = Rules()
Used = dict[Any, tuple[Fraction, Fraction]]
"""Row of (4) or (8): what is used of it, and the limit."""


@dataclass(frozen=True)
class Option:
    """One way to embed a request: the workers, the paths of the ring, and the workers' servers if these matter."""

    workers: tuple[tuple[str, int], ...]
    ring: tuple[Path, ...]
    order: Path | None = None

    @property
    def size(self) -> int:
        return sum(n for _, n in self.workers)

    def entry(self) -> dict[str, Any]:
        """Return the JSON form of one slot of a schedule."""
        found: dict[str, Any] = {"workers": dict(self.workers), "ring": [list(path) for path in self.ring]}
        return found | ({"order": list(self.order)} if self.order is not None else {})


def servers(slot: Slot) -> list[str]:
    return [u for u, capacity in slot.nodes.items() if any(c > 0 for c in capacity.values())]


def room(slot: Slot, request: Request, node: str) -> int:
    """Return how many workers a server can hold alone, at most the largest ring."""
    most = max(request.profit, default=0)
    while most and any(most * need > slot.nodes[node].get(r, 0) for r, need in request.demand.items()):
        most -= 1
    return most


class _Paths:
    """The paths of one request between two nodes over links that carry one of its hops."""

    def __init__(self, slot: Slot, request: Request, rules: Rules) -> None:
        arcs = [arc for shared, limit in slot.shares if request.bandwidth <= limit for arc in shared]
        self.graph, self.cutoff = nx.DiGraph(arcs), 1 if rules.single_hop else None
        self.graph.add_nodes_from(slot.nodes)
        self.found: dict[Arc, list[Path]] = {}

    def between(self, u: str, v: str) -> list[Path]:
        if (u, v) not in self.found:
            self.found[u, v] = [tuple(path) for path in nx.all_simple_paths(self.graph, u, v, self.cutoff)]
        return self.found[u, v]


def _cycles(stops: Sequence[str], rules: Rules) -> Iterator[list[Arc]]:
    """Yield the hops of every ring through the stops; with subtours, of every permutation that moves all stops."""
    if rules.subtours:
        for image in itertools.permutations(stops):
            if all(u != v for u, v in zip(stops, image, strict=True)):
                yield list(zip(stops, image, strict=True))
        return
    for rest in itertools.permutations(stops[1:]):
        ring = (stops[0], *rest)
        yield list(zip(ring, (*rest, stops[0]), strict=True))


def _stops(hosts: tuple[str, ...], every: list[str], rules: Rules) -> Iterator[tuple[str, ...]]:
    """Yield the sets of servers that may stand in the ring of the hosts; one server alone needs no ring."""
    others = [u for u in every if u not in hosts]
    for n in range(len(others) + 1 if rules.ghosts else 1):
        for ghosts in itertools.combinations(others, n):
            stops = (*hosts, *ghosts)
            if len(stops) == 1 or not rules.everywhere or len(stops) == len(every):
                yield stops


def _by_counts(slot: Slot, request: Request, rules: Rules) -> Iterator[tuple[dict[str, int], list[Arc], None]]:
    every = servers(slot)
    ranges = [range(room(slot, request, u) + 1) for u in every]
    for counts in itertools.product(*ranges):
        if sum(counts) in request.profit:
            workers = {u: n for u, n in zip(every, counts, strict=True) if n}
            for stops in _stops(tuple(workers), every, rules):
                for hops in _cycles(stops, rules) if len(stops) > 1 else [[]]:
                    yield workers, hops, None


def _by_ring_nodes(slot: Slot, request: Request) -> Iterator[tuple[dict[str, int], list[Arc], Path]]:
    every = servers(slot)
    for size in request.profit:
        allowed = [[u for u in every if request.allowed is None or u in request.allowed[a]] for a in range(size)]
        for order in itertools.product(*allowed):
            workers = {u: order.count(u) for u in order}
            if all(n <= room(slot, request, u) for u, n in workers.items()):
                hops = [(u, v) for u, v in zip(order, (*order[1:], order[0]), strict=True) if u != v]
                yield workers, hops, order


Chosen = tuple[Option | None, ...]


def options(slot: Slot, request: Request, rules: Rules = CORRECTED) -> list[Option]:
    """Return all embeddings of a request that are feasible alone, one of each (workers, links used) that matters.

    Of two with the same workers, the one that loads every link at least as much is left out: it can always be replaced.
    """
    paths = _Paths(slot, request, rules)
    ordered = request.allowed is not None
    found: dict[tuple[tuple[str, int], ...], dict[tuple[Any, ...], Option]] = {}
    chosen = _by_ring_nodes(slot, request) if ordered or rules.mappings else _by_counts(slot, request, rules)
    for workers, hops, order in chosen:
        key = tuple((u, workers[u]) for u in slot.nodes if u in workers)
        for ring in itertools.product(*(paths.between(u, v) for u, v in hops)):
            option = Option(key, ring, order if ordered or rules.mappings else None)
            used = loads(slot, request, option, rules)
            if all(amount <= limit for amount, limit in used.values()):
                rows = tuple(sorted((str(row), amount) for row, (amount, _) in used.items()))
                found.setdefault(key, {}).setdefault(rows, option)
    return [option for same in found.values() for option in _lightest(same)]


def _lightest(found: dict[tuple[Any, ...], Option]) -> list[Option]:
    kept: list[tuple[dict[str, Fraction], Option]] = []
    for rows, option in sorted(found.items(), key=lambda item: sum((amount for _, amount in item[0]), Fraction(0))):
        used = dict(rows)
        if not any(all(amount <= used.get(row, 0) for row, amount in other.items()) for other, _ in kept):
            kept.append((used, option))
    return [option for _, option in kept]


def loads(slot: Slot, request: Request, option: Option, rules: Rules) -> Used:
    """Return {row of (8): (bandwidth used, limit)}: a row is a share of links, or a path where (8) is literal."""
    row_of = {arc: (("links", tuple(arcs)), limit) for arcs, limit in slot.shares for arc in arcs}
    used: Used = {}
    for path in option.ring:
        hops = [row_of[arc] for arc in itertools.pairwise(path)]
        rows = [(("path", path), min(limit for _, limit in hops))] if rules.literal else hops
        for row, limit in rows:
            used[row] = used.get(row, (Fraction(0), limit))[0] + request.bandwidth, limit
    return used


def joint(slot: Slot, rules: Rules = CORRECTED) -> dict[tuple[int, ...], Chosen]:
    """Return V: every vector of ring sizes that fits together (0: not embedded), with embeddings that do it."""
    found = [[(option, use(slot, r, option, rules)) for option in options(slot, r, rules)] for r in slot.requests]
    limits = {row: limit for choices in found for _, used in choices for row, (_, limit) in used.items()}
    amounts = [amount for choices in found for _, used in choices for amount, _ in used.values()]
    scale = math.lcm(*(Fraction(x).denominator for x in (*amounts, *limits.values())))
    states: dict[tuple[Amounts, tuple[int, ...]], Chosen] = {(tuple(int(x * scale) for x in limits.values()), ()): ()}
    for choices in found:
        moves: list[tuple[Option | None, int, Amounts]] = [(None, 0, (0,) * len(limits))]
        for option, used in choices:
            moves.append(
                (option, option.size, tuple(int(used[row][0] * scale) if row in used else 0 for row in limits))
            )
        extended: dict[tuple[Amounts, tuple[int, ...]], Chosen] = {}
        for (left, sizes), chosen in states.items():
            for move, size, taken in moves:
                rest = tuple(a - b for a, b in zip(left, taken, strict=True))
                if min(rest, default=0) >= 0:
                    extended.setdefault((rest, (*sizes, size)), (*chosen, move))
        states = extended
    result: dict[tuple[int, ...], Chosen] = {}
    for (_, sizes), chosen in states.items():
        result.setdefault(sizes, chosen)
    return result


def use(slot: Slot, request: Request, option: Option, rules: Rules) -> Used:
    """Return what an embedding takes of every row, servers' resources and links, with the limit."""
    used = loads(slot, request, option, rules)
    for u, n in option.workers:
        for r, need in request.demand.items():
            if need:
                used["server", (u, r)] = n * need, slot.nodes[u].get(r, Fraction(0))
    return used


def best(slot: Slot, rules: Rules = CORRECTED) -> tuple[Fraction, dict[str, Option]]:
    """Return the largest sum of profits and an embedding of the requests that earn it."""
    value, embeddings = Fraction(-1), {}
    for sizes, chosen in joint(slot, rules).items():
        earned = sum((request.profit[k] for request, k in zip(slot.requests, sizes, strict=True) if k), Fraction(0))
        if earned > value:
            value = earned
            embeddings = {r.name: o for r, o in zip(slot.requests, chosen, strict=True) if o is not None}
    return value, embeddings
