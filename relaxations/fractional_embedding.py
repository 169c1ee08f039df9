"""Fractional embeddings of rings: points of the augmented LP, with a copy of the ring for each place of its first node.

Symbols (GADGET, Section V-C; the augmentation is that of its reference [17], rewritten for rings): x^w weight of the
copy whose ring node 0 is on w; varrho_a^u[w] part of ring node a on u in that copy; theta_a^e[w] flow of ring edge
(a, a+1 mod k) on arc e; rho_i = sum of x^w over sizes and copies, the part of request i that is embedded.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.models.ddljs.rings import Arc
from dlsched.tolerances import TOLERANCE

Located = tuple[int, str]
Routed = tuple[int, Arc]


@dataclass(frozen=True, slots=True)
class RingFlow:
    """One ring size of a request in a fractional embedding, by copy w; values that are 0 may be left out.

    Attributes
    ----------
    size : int
        k: ring nodes 0..k-1 and ring edges (a, a+1 mod k); a ring of one node has no edge.
    weight : mapping of w to float
        x^w.
    location : mapping of w to mapping of (a, u) to float
        varrho_a^u[w] for a = 1..k-1; ring node 0 of copy w is on w, with x^w, and has no entry.
    flow : mapping of w to mapping of (a, arc) to float
        theta_a^e[w] for a = 0..k-1.

    Examples
    --------
    >>> from dlsched.relaxations import RingFlow
    >>> there, back = (0, ("a", "b")), (1, ("b", "a"))
    >>> ring = RingFlow(2, {"a": 0.5}, {"a": {(1, "b"): 0.5}}, {"a": {there: 0.5, back: 0.5}})
    >>> print(ring.total, ring.node_weights(), ring.arc_weights())
    0.5 {'a': 0.5, 'b': 0.5} {('a', 'b'): 0.5, ('b', 'a'): 0.5}
    """

    size: int
    weight: Mapping[str, float]
    location: Mapping[str, Mapping[Located, float]] = field(default_factory=dict)
    flow: Mapping[str, Mapping[Routed, float]] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """chi_ik = sum_w x^w."""
        return math.fsum(self.weight.values())

    @property
    def copies(self) -> tuple[str, ...]:
        """Every w that has a weight, a location or a flow."""
        return tuple(dict.fromkeys((*self.weight, *self.location, *self.flow)))

    def placed(self, copy: str) -> dict[Located, float]:
        """Return the parts of all ring nodes of a copy, that of ring node 0 included, by ring node and node."""
        return {(0, copy): self.weight.get(copy, 0.0), **self.location.get(copy, {})}

    def node_weights(self) -> dict[str, float]:
        """Return how many ring nodes each node hosts, over all copies (a fractional number)."""
        hosted: dict[str, float] = defaultdict(float)
        for copy in self.copies:
            for (_, u), part in self.placed(copy).items():
                hosted[u] += part
        return dict(hosted)

    def arc_weights(self) -> dict[Arc, float]:
        """Return the flow on each arc, over all copies and ring edges."""
        used: dict[Arc, float] = defaultdict(float)
        for parts in self.flow.values():
            for (_, arc), part in parts.items():
                used[arc] += part
        return dict(used)


@dataclass(frozen=True, eq=False)
class FractionalEmbedding:
    """A point of the augmented LP.

    Attributes
    ----------
    problem : RingProblem
    flows : mapping of (request name, ring size) to RingFlow
        Sizes with weight 0 may be left out.

    Examples
    --------
    >>> import networkx as nx
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.relaxations import FractionalEmbedding, RingFlow
    >>> net = nx.Graph([("a", "b", {"bandwidth": 1})])
    >>> net.add_nodes_from("ab", capacity={"gpu": 1})
    >>> problem = RingProblem.of(net, [RingRequest("bert", {2: 6}, {"gpu": 1}, 1)])
    >>> there, back = (0, ("a", "b")), (1, ("b", "a"))
    >>> ring = RingFlow(2, {"a": 0.5}, {"a": {(1, "b"): 0.5}}, {"a": {there: 0.5, back: 0.5}})
    >>> half = FractionalEmbedding(problem, {("bert", 2): ring})
    >>> print(half.profit, half.arc_loads())
    3.0 {('a', 'b'): 0.5, ('b', 'a'): 0.5}
    >>> half.check()
    >>> no_way_back = RingFlow(2, {"a": 0.5}, {"a": {(1, "b"): 0.5}}, {"a": {there: 0.5}})
    >>> FractionalEmbedding(problem, {("bert", 2): no_way_back}).check()
    Traceback (most recent call last):
        ...
    ValueError: the fractional embedding breaks A3 by 0.5
    """

    problem: RingProblem
    flows: Mapping[tuple[str, int], RingFlow]

    @property
    def profit(self) -> float:
        """Sum of pi_ik chi_ik."""
        profits = {request.name: request.profit for request in self.problem.requests}
        return math.fsum(float(profits[name][size]) * ring.total for (name, size), ring in self.flows.items())

    def embedded(self, name: str) -> float:
        """Return rho_i, the part of a request that is embedded."""
        return math.fsum(ring.total for (other, _), ring in self.flows.items() if other == name)

    def node_loads(self) -> dict[tuple[str, str], float]:
        """Return (A4) for nodes, sum_i h_i^{u,r}, by node and resource; loads of 0 may be absent."""
        loads: dict[tuple[str, str], float] = defaultdict(float)
        for (name, _), ring in self.flows.items():
            demand = self.problem.request(name).demand
            for u, hosted in ring.node_weights().items():
                for r, need in demand.items():
                    loads[u, r] += float(need) * hosted
        return dict(loads)

    def arc_loads(self) -> dict[Arc, float]:
        """Return (A4) for arcs, sum_i o_i^e; loads of 0 may be absent."""
        loads: dict[Arc, float] = defaultdict(float)
        for (name, _), ring in self.flows.items():
            bandwidth = float(self.problem.request(name).bandwidth)
            for arc, used in ring.arc_weights().items():
                loads[arc] += bandwidth * used
        return dict(loads)

    def residuals(self) -> dict[str, float]:
        """Return by how much each condition is broken at most, 0 where it holds.

        Returns
        -------
        dict
            ``sign`` (values below 0); ``valid`` (the largest value at a node or arc that is not valid for the request,
            or at a ring node or size it does not have); ``A1`` (rho_i <= 1); ``A2`` (every ring node of a copy has the
            copy's weight); ``A3`` (flows join the ring nodes); ``nodes`` and ``links`` (A5, in units of capacity).
        """
        found = {"sign": 0.0, "valid": 0.0, "A1": 0.0, "A2": 0.0, "A3": 0.0}
        for (name, size), ring in self.flows.items():
            for condition, excess in _of_ring(self.problem, self.problem.request(name), size, ring):
                found[condition] = max(found[condition], excess)
        for request in self.problem.requests:
            found["A1"] = max(found["A1"], self.embedded(request.name) - 1)
        nodes, arcs = self.node_loads(), self.arc_loads()
        capacity = self.problem.nodes
        over_nodes = [load - float(capacity[u].get(r, 0)) for (u, r), load in nodes.items()]
        over_links = [
            math.fsum(arcs.get(arc, 0.0) for arc in shared) - float(limit) for shared, limit in self.problem.shares
        ]
        return found | {"nodes": max(0.0, *over_nodes, 0.0), "links": max(0.0, *over_links, 0.0)}

    def check(self, tolerance: float = TOLERANCE) -> None:
        """Raise ValueError if a condition of `residuals` is broken by more than the tolerance."""
        for condition, excess in self.residuals().items():
            if excess > tolerance:
                raise ValueError(f"the fractional embedding breaks {condition} by {excess:.3g}")


def _of_ring(problem: RingProblem, request: RingRequest, size: int, ring: RingFlow) -> Iterator[tuple[str, float]]:
    """Yield how far each condition is broken that concerns one ring size alone."""
    usable = set(problem.usable(request))
    hosts = [set(problem.hosts(request, a)) for a in range(size)]
    if size not in request.profit or size != ring.size:
        yield "valid", ring.total
    for copy in ring.copies:
        placed, flow = ring.placed(copy), ring.flow.get(copy, {})
        parts: dict[int, float] = defaultdict(float)
        balance: dict[Located, float] = defaultdict(float)
        for (a, u), part in placed.items():
            yield "sign", -part
            if not 0 <= a < size or u not in hosts[a]:
                yield "valid", abs(part)
            parts[a] += part
            if size > 1:
                balance[a, u] -= part
                balance[(a - 1) % size, u] += part
        for a in range(1, size):
            yield "A2", abs(parts[a] - parts[0])
        for (a, (u, v)), part in flow.items():
            yield "sign", -part
            if not 0 <= a < size or size == 1 or (u, v) not in usable:
                yield "valid", abs(part)
            balance[a, u] += part
            balance[a, v] -= part
        yield from (("A3", abs(excess)) for excess in balance.values())
