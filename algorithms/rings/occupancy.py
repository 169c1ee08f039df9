"""What is left of the servers and links in one slot, in whole numbers, and shortest paths through what is left.

Capacities and demands are scaled to integers (`to_integers`), so that nothing is rounded however often rings come and
go. Nodes are numbered as the problem lists them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from dlsched.models.ddljs import Embedding, RingProblem, RingRequest
from dlsched.models.ddljs.rings import Arc
from dlsched.models.numbers import to_integers


@dataclass(frozen=True, slots=True)
class Need:
    """What one worker of a request takes, scaled.

    Attributes
    ----------
    request : RingRequest
    amounts : tuple of (int, int)
        (number of the resource, amount) where the amount is positive.
    hop : int
        Bandwidth of a hop between two servers.
    """

    request: RingRequest
    amounts: tuple[tuple[int, int], ...]
    hop: int


@dataclass(frozen=True, slots=True)
class Substrate:
    """The servers and links of a ring problem, scaled to integers.

    Attributes
    ----------
    names : tuple of str
        Node names, by number.
    number : mapping of str to int
    is_server : tuple of bool
    resources : tuple of str
    capacity : tuple of tuple of int
        By node and resource.
    shared : tuple of tuple of arcs
        What shares a bandwidth: an arc, or both directions of a half-duplex link.
    limits : tuple of int
        Bandwidths, one for each share.
    arcs : tuple of tuple of (int, int)
        For each node the arcs that leave it: (node it leads to, share).
    needs : mapping of str to Need
        By request name.
    """

    names: tuple[str, ...]
    number: Mapping[str, int]
    is_server: tuple[bool, ...]
    resources: tuple[str, ...]
    capacity: tuple[tuple[int, ...], ...]
    shared: tuple[tuple[Arc, ...], ...]
    limits: tuple[int, ...]
    arcs: tuple[tuple[tuple[int, int], ...], ...]
    needs: Mapping[str, Need]

    @classmethod
    def of(cls, problem: RingProblem) -> Self:
        """Scale a ring problem."""
        names, requests = tuple(problem.nodes), problem.requests
        number = {name: u for u, name in enumerate(names)}
        columns, amounts = [], []
        for r in problem.resources:
            have = [problem.nodes[u].get(r, Fraction(0)) for u in names]
            scaled, _ = to_integers([*have, *(request.demand.get(r, Fraction(0)) for request in requests)])
            columns.append(scaled[: len(names)])
            amounts.append(scaled[len(names) :])
        hops, _ = to_integers([*(limit for _, limit in problem.shares), *(r.bandwidth for r in requests)])
        leaving: list[list[tuple[int, int]]] = [[] for _ in names]
        for share, (arcs, _) in enumerate(problem.shares):
            for u, v in arcs:
                leaving[number[u]].append((number[v], share))
        links = len(problem.shares)
        needs = {
            request.name: Need(
                request, tuple((r, column[i]) for r, column in enumerate(amounts) if column[i]), hops[links + i]
            )
            for i, request in enumerate(requests)
        }
        capacity = tuple(zip(*columns, strict=True)) if columns else ((),) * len(names)
        servers = set(problem.servers)
        is_server = tuple(u in servers for u in names)
        return cls(
            names,
            number,
            is_server,
            problem.resources,
            capacity,
            tuple(arcs for arcs, _ in problem.shares),
            tuple(hops[:links]),
            tuple(map(tuple, leaving)),
            needs,
        )

    def profit(self, held: Mapping[str, Embedding]) -> float:
        """Return what rings are worth (12)."""
        return math.fsum(float(self.needs[name].request.profit[ring.size]) for name, ring in held.items())


class Occupancy:
    """Residual capacities of a substrate.

    Parameters
    ----------
    substrate : Substrate
        Of which nothing is taken yet.
    """

    def __init__(self, substrate: Substrate) -> None:
        self.substrate = substrate
        self._free = [list(row) for row in substrate.capacity]
        self._left = list(substrate.limits)
        self._share = {(u, v): s for u, arcs in enumerate(substrate.arcs) for v, s in arcs}

    def copy(self) -> Occupancy:
        """Return an independent copy."""
        twin = Occupancy.__new__(Occupancy)
        twin.substrate, twin._share = self.substrate, self._share
        twin._free, twin._left = [list(row) for row in self._free], list(self._left)
        return twin

    def rooms(self, need: Need) -> list[int]:
        """Return by node how many workers it has room for; 0 on switches. Workers that need nothing fill a ring."""
        if len(need.amounts) == 1:
            ((r, amount),) = need.amounts
            return [
                row[r] // amount if there else 0
                for row, there in zip(self._free, self.substrate.is_server, strict=True)
            ]
        most = max(need.request.profit, default=0)
        return [
            min((row[r] // amount for r, amount in need.amounts), default=most) if there else 0
            for row, there in zip(self._free, self.substrate.is_server, strict=True)
        ]

    def fits(self, need: Need, embedding: Embedding) -> bool:
        """Tell whether there is room for the workers, and bandwidth for the ring."""
        number = self.substrate.number
        for node, workers in embedding.workers.items():
            row = self._free[number[node]]
            if not self.substrate.is_server[number[node]] or any(
                row[r] < amount * workers for r, amount in need.amounts
            ):
                return False
        return all(times * need.hop <= self._left[share] for share, times in self._shares(embedding).items())

    def take(self, need: Need, embedding: Embedding) -> None:
        """Take what an embedding uses; the caller sees to it that it fits."""
        self._move(need, embedding, 1)

    def give(self, need: Need, embedding: Embedding) -> None:
        """Give back what an embedding uses."""
        self._move(need, embedding, -1)

    def path(self, start: int, targets: Iterable[int], hop: int, reserved: Counter[int]) -> tuple[int, ...] | None:
        """Return a shortest path, in hops, to the nearest target over links with bandwidth left, or None.

        Parameters
        ----------
        start : int
        targets : iterable of int
            Other nodes; of equally near ones, the one met first.
        hop : int
            Bandwidth that the path needs.
        reserved : Counter
            How many hops of this ring use a share already.
        """
        wanted = set(targets)
        before = {start: start}
        frontier = [start]
        left, arcs = self._left, self.substrate.arcs
        while frontier:
            reached = []
            for u in frontier:
                for v, share in arcs[u]:
                    if v in before or left[share] < hop * (1 + reserved[share] if reserved else 1):
                        continue
                    before[v] = u
                    if v in wanted:
                        return _back(before, start, v)
                    reached.append(v)
            frontier = reached
        return None

    def distances(self, start: int, hop: int) -> dict[int, int]:
        """Return the hops from a node to those that links with bandwidth left lead to."""
        found, frontier = {start: 0}, [start]
        while frontier:
            reached = []
            for u in frontier:
                for v, share in self.substrate.arcs[u]:
                    if v not in found and self._left[share] >= hop:
                        found[v] = found[u] + 1
                        reached.append(v)
            frontier = reached
        return found

    def leaves(self, node: int, hop: int) -> bool:
        """Tell whether some link that leaves a node has bandwidth left."""
        return any(self._left[share] >= hop for _, share in self.substrate.arcs[node])

    def share(self, u: int, v: int) -> int:
        """Return the share of an arc."""
        return self._share[u, v]

    def node_loads(self) -> Iterator[tuple[str, str, float]]:
        """Yield (node, resource, load over capacity) wherever something is taken."""
        for name, capacity, free in zip(self.substrate.names, self.substrate.capacity, self._free, strict=True):
            for r, have, left in zip(self.substrate.resources, capacity, free, strict=True):
                if left < have:
                    yield name, r, _ratio(have - left, have)

    def _shares(self, embedding: Embedding) -> Counter[int]:
        number = self.substrate.number
        used: Counter[int] = Counter()
        for (u, v), times in embedding.loads().items():
            used[self._share[number[u], number[v]]] += times
        return used

    def _move(self, need: Need, embedding: Embedding, sign: int) -> None:
        for node, workers in embedding.workers.items():
            row = self._free[self.substrate.number[node]]
            for r, amount in need.amounts:
                row[r] -= sign * amount * workers
        for share, times in self._shares(embedding).items():
            self._left[share] -= sign * times * need.hop


def _ratio(load: int, capacity: int) -> float:
    return load / capacity if capacity else math.inf


def _back(before: Mapping[int, int], start: int, end: int) -> tuple[int, ...]:
    path = [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return tuple(reversed(path))
