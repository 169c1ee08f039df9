"""Cheapest closed walks of rings under node and link prices, for all sizes and first nodes of a request at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from dlsched.relaxations.ring_blocks import Ints, RingBlock
from dlsched.relaxations.ring_copies import RingCopies
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import HOP


@dataclass(frozen=True, eq=False)
class Walk:
    """A ring mapping: the node of each ring node and the arcs of each ring edge, by number."""

    ring: RingCopies
    nodes: tuple[int, ...]
    arcs: tuple[tuple[int, ...], ...]

    @property
    def loads(self) -> tuple[Ints, Ints]:
        """Nodes and arcs used, with repetition."""
        return np.array(self.nodes), np.array([e for path in self.arcs for e in path], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Distances:
    """Cheapest paths between all nodes for one request.

    Attributes
    ----------
    cost, before : ndarray, shape (nodes, nodes)
        Cost of the path from a node to another, infinite where there is none, and the last node but one on it.
    """

    cost: Floats
    before: Ints
    arc: dict[tuple[int, int], int]

    @classmethod
    def of(cls, block: RingBlock, prices: Floats) -> Distances:
        """Return the paths under a price for each share's bandwidth."""
        substrate, arcs = block.substrate, block.arcs
        tail, head = substrate.tail[arcs], substrate.head[arcs]
        n = len(substrate.names)
        weights = block.bandwidth * prices[substrate.share[arcs]] + HOP
        cost, before = dijkstra(csr_array((weights, (tail, head)), shape=(n, n)), return_predecessors=True)
        ends = zip(tail.tolist(), head.tolist(), strict=True)
        return cls(cost, before, dict(zip(ends, arcs.tolist(), strict=True)))

    def path(self, start: int, end: int) -> tuple[int, ...]:
        """Return the arcs of the cheapest path."""
        arcs: list[int] = []
        while end != start:
            previous = int(self.before[start, end])
            arcs.append(self.arc[previous, end])
            end = previous
        return tuple(reversed(arcs))


def costs_to_go(ring: RingCopies, prices: Floats, node_prices: Floats) -> Floats:
    """Return what it costs at least to go from each node along a ring edge, on to the ring nodes after it, and back.

    Parameters
    ----------
    ring : RingCopies
        Of the augmented LP: the way of a copy ends at its node w.
    prices, node_prices : ndarray
        Of the shares' bandwidth, and of one ring node on each node.

    Returns
    -------
    ndarray, shape (copies, edges, nodes)
        At most 1 above the ring's profit: what costs more, or leads nowhere, is not taken anyway.
    """
    block, k = ring.block, ring.edges
    costs = np.empty((ring.copies, k, len(node_prices)))
    if not k:
        return costs
    limit = max(block.profit, 0.0) + 1
    distance = np.minimum(Distances.of(block, prices).cost, limit)
    costs[:, k - 1] = distance[:, block.hosts[0]].T
    for a in range(k - 2, -1, -1):
        hosts = block.hosts[a + 1]
        from_host = node_prices[hosts] + costs[:, a + 1, hosts]
        ways = distance[:, hosts] + from_host[:, None, :]
        costs[:, a] = np.minimum(ways.min(axis=2, initial=np.inf), limit)
    return costs


def cheapest_walks(
    rings: list[RingCopies], prices: Floats, node_prices: Floats, worth: float, most: int
) -> Iterator[tuple[float, Walk]]:
    """Yield what rings earn beyond their price, with the rings, for those that earn more than `worth`.

    Forward, ring node by ring node: the cheapest way to each node, for each first node w. With caps a way that would
    put more ring nodes on a node than fit is not taken, so that another, dearer way to the same node that could go on
    may be missed; without caps the walks are the cheapest.

    Parameters
    ----------
    rings : list of RingCopies
        All sizes of one request.
    prices, node_prices : ndarray
        Of the shares' bandwidth, and of one ring node on each node.
    worth : float
    most : int
        The most walks for a ring size.
    """
    largest = max(rings, key=lambda ring: ring.block.size)
    distances = Distances.of(largest.block, prices)
    block, by_size = largest.block, {ring.block.size: ring for ring in rings}
    nodes = np.unique(np.concatenate(block.hosts))
    if not len(block.hosts[0]):
        return
    first = np.searchsorted(nodes, block.hosts[0])
    between, price, room = distances.cost[np.ix_(nodes, nodes)], node_prices[nodes], block.room[nodes]
    copies = np.arange(len(first))
    cost = np.full((len(first), len(nodes)), np.inf)
    cost[copies, first] = price[first]
    visits = np.zeros((len(first), len(nodes), len(nodes)), dtype=np.int16)
    visits[copies, first, first] = 1
    back: list[Ints] = []
    for a in range(block.size):
        if a:
            valid = np.isin(nodes, block.hosts[a])
            ways = cost[:, :, None] + between
            if largest.cap:
                ways[visits >= room] = np.inf
            came = ways.argmin(axis=1)
            cost = np.where(valid, np.take_along_axis(ways, came[:, None, :], axis=1)[:, 0] + price, np.inf)
            visits = visits[copies[:, None], came]
            visits[:, np.arange(len(nodes)), np.arange(len(nodes))] += 1
            back.append(came)
        ring = by_size.get(a + 1)
        if ring is not None:
            closed = cost + between[:, first].T
            last = closed.argmin(axis=1)
            earned = ring.block.profit - closed[copies, last]
            for copy in np.argsort(-earned, kind="stable")[:most].tolist():
                if earned[copy] > worth:
                    yield float(earned[copy]), _walk(ring, nodes, back, copy, int(last[copy]), distances)


def _walk(ring: RingCopies, nodes: Ints, back: list[Ints], copy: int, last: int, distances: Distances) -> Walk:
    places = [last]
    for came in reversed(back[: ring.block.size - 1]):
        places.append(int(came[copy, places[-1]]))
    route = tuple(int(nodes[place]) for place in reversed(places))
    hops = zip(route, (*route[1:], route[0]), strict=True)
    return Walk(ring, route, tuple(distances.path(u, v) for u, v in hops) if ring.edges else ())
