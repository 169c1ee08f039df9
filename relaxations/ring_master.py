"""The augmented LP by column generation: rings, one by one, instead of flows.

Every convex combination of ring mappings is a point of the augmented LP; without caps there is no other, but for
circulations. So a linear program over the mappings found so far bounds it from below, and the prices of its rows tell
which mappings are missing. They are found as cheapest closed walks under node and link prices, for all sizes and first
nodes of a request at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dlsched.arithmetic import dot, powers_of_two
from dlsched.lazy import sp
from dlsched.relaxations.ring_copies import Ints, RingBlock, RingCopies
from dlsched.relaxations.ring_lp import RingLp, VneSolution
from dlsched.solvers.highs import Session
from dlsched.solvers.matrix import Floats
from dlsched.solvers.solution import SolverError
from dlsched.tolerances import AS_GOOD, FEASIBLE, HOP, TIGHT


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
        cost, before = sp.csgraph.dijkstra(
            sp.csr_array((weights, (tail, head)), shape=(n, n)), return_predecessors=True
        )
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


_ROUNDS = 300
"""Of pricing, at most. Arbitrary: the simplex method takes the whole program where it is not enough."""

_MOST = 20
"""Mappings that a ring size adds in a round, at most. Arbitrary: with more, rounds are fewer and programs larger."""


_ORDINARY = 13
"""Capacities and bandwidths between two to the power of minus this and of this (1e-4, 1e4) are taken as they are."""


class RingMaster:
    """The LP over the ring mappings found so far.

    Parameters
    ----------
    lp : AugmentedVne
    """

    def __init__(self, lp: RingLp) -> None:
        self._lp = lp
        self._requests = len(lp.problem.requests)
        substrate = lp.substrate
        self._links = self._requests + substrate.capacity.size
        limits = np.concatenate([np.ones(self._requests), substrate.capacity.ravel(), substrate.bandwidth])
        self._units = powers_of_two(limits, _ORDINARY)
        self._session = Session(-1, TIGHT)
        self._session.add_rows(np.full(len(limits), -np.inf), limits / self._units, sp.csr_array((len(limits), 0)))
        self.walks: list[Walk] = []
        self._known: set[bytes] = set()
        self._rings: dict[int, list[RingCopies]] = defaultdict(list)
        for ring in lp.copies:
            self._rings[ring.block.number].append(ring)

    def first_duals(self, bound: VneSolution | None) -> Floats:
        """Return what the duals of a bound say about the master's rows, 0 without a bound."""
        if bound is None:
            return np.zeros(self._lp.shared_rows)
        return np.maximum(self._lp.all_duals(bound.duals), 0.0)[: self._lp.shared_rows]

    def add(self, walks: list[Walk]) -> int:
        """Add mappings whose loads are new; return how many were."""
        fresh, columns = [], []
        for walk in walks:
            column = self._column(walk)
            key = walk.ring.block.size.to_bytes(4, "little") + column.tobytes()
            if key not in self._known:
                self._known.add(key)
                fresh.append(walk)
                columns.append(column)
        if fresh:
            profits = np.array([walk.ring.block.profit for walk in fresh])
            loads = sp.csc_array((np.array(columns) / self._units).T)
            self._session.add_columns(profits, np.full(len(fresh), np.inf), loads)
            self.walks += fresh
        return len(fresh)

    def _column(self, walk: Walk) -> Floats:
        block, (nodes, arcs) = walk.ring.block, walk.loads
        column = np.zeros(self._links + len(block.substrate.bandwidth))
        column[block.number] = 1
        loads = column[self._requests : self._links].reshape(block.substrate.capacity.shape)
        np.add.at(loads, nodes, block.demand)
        np.add.at(column, self._links + block.substrate.share[arcs], block.bandwidth)
        return column

    def price(self, duals: Floats, worth: float, most: int) -> list[Walk]:
        """Return mappings that earn more than `worth` beyond the prices of the rows."""
        nodes, links = self._prices(duals)
        found = []
        for number, rings in self._rings.items():
            node_prices = dot(nodes, rings[0].block.demand)
            found += [w for _, w in cheapest_walks(rings, links, node_prices, duals[number] + worth, most)]
        return found

    def _prices(self, duals: Floats) -> tuple[Floats, Floats]:
        """Return the prices of nodes, shape (nodes, resources), and of links among duals of the master's rows."""
        nodes = duals[self._requests : self._links].reshape(self._lp.substrate.capacity.shape)
        return nodes, duals[self._links :]

    def solve(self) -> tuple[float, Floats, Floats] | None:
        """Return value, weights of the mappings and duals; None where HiGHS fails."""
        try:
            result = self._session.solve()
        except SolverError:
            return None
        if result is None:
            return None
        return result[0], np.maximum(result[1], 0.0), np.maximum(result[2], 0.0) / self._units

    def point(self, weights: Floats) -> Floats:
        """Return the point of the augmented LP that weights of the mappings give."""
        point = np.zeros(len(self._lp.matrix.c))
        for n in np.flatnonzero(weights > 0).tolist():
            walk = self.walks[n]
            ring, (ring_nodes, nodes) = walk.ring, walk.ring.located
            columns = ring.of_point(point)[int(np.searchsorted(ring.block.hosts[0], walk.nodes[0]))]
            columns[0] += weights[n]
            for a, u in enumerate(walk.nodes[1:], start=1):
                columns[1 + int(np.flatnonzero((ring_nodes == a) & (nodes == u))[0])] += weights[n]
            for a, path in enumerate(walk.arcs):
                flows = 1 + len(nodes) + a * len(ring.block.arcs)
                columns[flows + np.searchsorted(ring.block.arcs, path)] += weights[n]
        return point

    def potentials(self, duals: Floats) -> Floats:
        """Return duals of the augmented LP, 0 for caps, from those of the master's rows.

        The dual of (A3) at edge a and node u is minus the cost to go from u. Costs to go differ by at most an arc's
        price along it, and by at most a node's price between the edges before and after a ring node; those of (A2)
        are 0. A request's dual is what its ring earns at most, in the copy whose way around costs least.
        """
        nodes, links = self._prices(duals)
        full = np.concatenate([duals, np.zeros(self._lp.all_rows - len(duals))])
        for ring in self._lp.copies:
            block, first = ring.block, ring.block.hosts[0]
            node_prices = dot(nodes, block.demand)
            costs = costs_to_go(ring, links, node_prices)
            ring.balance_part(full)[...] = -costs[:, :, block.nodes]
            around = costs[np.arange(ring.copies), 0, first] if ring.edges else 0.0
            earned = block.profit - node_prices[first] - around
            full[block.number] = max(full[block.number], float(earned.max(initial=0.0)))
        return full[self._lp.kept]


def by_columns(lp: RingLp, bound: VneSolution | None = None) -> VneSolution | None:
    """Solve the augmented LP by column generation, or return None where that does not prove an optimum.

    Parameters
    ----------
    lp : AugmentedVne
    bound : VneSolution, optional
        An upper bound with its duals in `lp`: where mappings attain it, their optimum is proved. Else costs to go must
        prove it, which without caps they do when no mapping is left that would earn anything.
    """
    master = RingMaster(lp)
    duals, worth = master.first_duals(bound), AS_GOOD if bound is None else -FEASIBLE
    value, weights = 0.0, np.zeros(0)
    for _ in range(_ROUNDS):
        if not master.add(master.price(duals, worth, _MOST)):
            break
        solved = master.solve()
        if solved is None:
            return None
        value, weights, duals = solved
        worth = AS_GOOD * max(1.0, value)
        if bound is not None and value >= bound.value - worth:
            break
    most = value + FEASIBLE * max(1.0, value)
    proof = bound.duals if bound is not None and bound.value <= most else master.potentials(duals)
    if float(dot(lp.matrix.row_upper, proof)) > most:
        return None
    point = master.point(weights)
    return lp.solution(point, proof, "columns")
