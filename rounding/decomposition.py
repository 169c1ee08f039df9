"""A fractional embedding of rings as a convex combination of mappings.

In a copy w, ring node 0 is on w. From the place m(a) of ring node a, a breadth-first search over the arcs that carry
flow of ring edge a finds a node that hosts a part of ring node a+1; it ends at m(a) itself where that is one. No search
fails: what the nodes reached host of ring node a flows out to them, so they host as much of ring node a+1, or more.
The last edge leads back to w, the only node that hosts ring node 0 of the copy. The smallest value used is the weight
of the mapping; it is taken off all values used, and at least one of them becomes 0.

One search serves all resources: the places do not depend on the resource, only on whether the node is valid, which is
asked of all resources together. Separate searches for each resource (GADGET, Algorithm 2, step 6, as printed) may
return mappings that have nothing in common: one worker, half of it on each of two nodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Protocol

from dlsched.arguments import checked
from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.models.ddljs.rings import Arc, RingMapping, arcs_of
from dlsched.models.numbers import amount, rational
from dlsched.relaxations.fractional_embedding import FractionalEmbedding, Located, RingFlow, Routed
from dlsched.rounding.paths import shortest
from dlsched.tolerances import TOLERANCE, ZERO


class Invariant(StrEnum):
    """The invariants of the decomposition of a fractional embedding.

    Examples
    --------
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.relaxations import FractionalEmbedding, RingFlow
    >>> from dlsched.rounding import DecompositionError, Invariant, decompose
    >>> problem = RingProblem({"a": {"gpu": 1}}, (), (RingRequest("bert", {1: 6}, {"gpu": 1}, 0),))
    >>> too_much = FractionalEmbedding(problem, {("bert", 1): RingFlow(1, {"a": 1.5})})
    >>> try:
    ...     decompose(too_much)
    ... except DecompositionError as error:
    ...     print(error.invariant is Invariant.WEIGHTS)
    True
    """

    WEIGHTS = "(i) the weights add up to what is embedded, at most 1 for a request"
    CLOSED = "(ii) every mapping is a closed ring on valid nodes and arcs"
    BALANCE = "(iii) all values stay at least 0 and satisfy A2 and A3"
    PROGRESS = "(iv) every mapping uses up a variable"
    LOADS = "(v) the mappings load each node as the solution does, and no arc more"
    SEARCH = "(vi) every search finds the next ring node"


class DecompositionError(ValueError):
    """A fractional embedding cannot be decomposed; `invariant` says which rule broke.

    Examples
    --------
    >>> import networkx as nx
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.relaxations import FractionalEmbedding, RingFlow
    >>> from dlsched.rounding import DecompositionError, decompose
    >>> net = nx.Graph([("a", "b", {"bandwidth": 1})])
    >>> net.add_nodes_from("ab", capacity={"gpu": 1})
    >>> problem = RingProblem.of(net, [RingRequest("bert", {2: 6}, {"gpu": 1}, 0.5)])
    >>> no_flow = RingFlow(2, {"a": 0.5}, {"a": {(1, "b"): 0.5}})
    >>> try:
    ...     mappings = decompose(FractionalEmbedding(problem, {("bert", 2): no_flow}))
    ... except DecompositionError as error:
    ...     print(error.invariant.name, str(error).partition(";")[0])
    BALANCE request bert, ring of 2, copy a: A3 is off by 0.5 at b, edge 0
    """

    def __init__(self, invariant: Invariant, detail: str) -> None:
        super().__init__(f"{detail}; broken: {invariant.value}")
        self.invariant = invariant


class Weighted(Protocol):
    """A mapping with the weight it takes off a fractional embedding."""

    @property
    def weight(self) -> float:
        """Its weight."""

    @property
    def mapping(self) -> RingMapping:
        """Where the ring lies."""


def check_closed(problem: RingProblem, request: RingRequest, mappings: Iterable[RingMapping]) -> None:
    """Check (ii): valid nodes, valid arcs; that paths join their ends a `RingMapping` checks itself.

    Without a placement all ring nodes have the same valid nodes.
    """
    usable = set(problem.usable(request))
    largest = max(request.profit) if request.allowed is not None else 1
    hosts = [set(problem.hosts(request, a)) for a in range(largest)]
    for mapping in mappings:
        for a, node in enumerate(mapping.nodes):
            if node not in hosts[a % largest]:
                raise DecompositionError(
                    Invariant.CLOSED, f"request {request.name}: node {node} cannot host ring node {a}"
                )
        for path in mapping.paths:
            bad = next((arc for arc in arcs_of(path) if arc not in usable), None)
            if bad is not None:
                raise DecompositionError(
                    Invariant.CLOSED,
                    f"request {request.name}: a path uses {' -> '.join(map(str, bad))}, which is not valid",
                )


def check_weights(name: str, embedded: float, weights: Sequence[float]) -> None:
    """Check (i): the weights of a request's mappings add up to rho_i, which is at most 1."""
    total = sum(weights)
    if abs(total - embedded) > TOLERANCE or embedded > 1 + TOLERANCE:
        raise DecompositionError(
            Invariant.WEIGHTS, f"request {name}: weights add up to {float(total):.9g}, embedded {float(embedded):.9g}"
        )


def check_loads(name: str, ring: RingFlow, mappings: Sequence[Weighted]) -> None:
    """Check (v), in ring nodes and ring edges, so for all resources at once."""
    nodes: dict[str, float] = defaultdict(float)
    arcs: dict[Arc, float] = defaultdict(float)
    for one in mappings:
        for node, count in one.mapping.counts().items():
            nodes[node] += one.weight * count
        for arc, count in one.mapping.loads().items():
            arcs[arc] += one.weight * count
    allowed = TOLERANCE * max(1, ring.size)
    solved = ring.node_weights()
    for node in {*nodes, *solved}:
        if abs(nodes[node] - solved.get(node, 0.0)) > allowed:
            raise DecompositionError(
                Invariant.LOADS,
                f"request {name}: mappings put {float(nodes[node]):.9g} ring nodes on {node}, "
                f"the solution {float(solved.get(node, 0.0)):.9g}",
            )
    flows = ring.arc_weights()
    for arc, used in arcs.items():
        if used > flows.get(arc, 0.0) + allowed:
            raise DecompositionError(
                Invariant.LOADS,
                f"request {name}: mappings use {' -> '.join(map(str, arc))} {float(used):.9g} times, "
                f"the solution {float(flows.get(arc, 0.0)):.9g}",
            )


@dataclass(frozen=True, slots=True)
class WeightedMapping:
    """A mapping of a request's ring and its weight phi in a convex combination.

    Attributes
    ----------
    weight : Fraction
        phi, positive; the weights of a request's mappings add up to at most 1.
    size : int
        k, the number of ring nodes.
    mapping : RingMapping

    Raises
    ------
    InputError
        If the weight is no finite number.

    Notes
    -----
    A float stands for the fraction that is meant by it (`dlsched.models.numbers.rational`): 0.1 for 1/10.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import networkx as nx
    >>> from dlsched.models.ddljs import RingMapping, RingProblem, RingRequest
    >>> from dlsched.rounding import MappingLaw, WeightedMapping
    >>> net = nx.Graph([("a", "b", {"bandwidth": 1})])
    >>> net.add_nodes_from("ab", capacity={"gpu": 1})
    >>> problem = RingProblem.of(net, [RingRequest(job, {2: 6}, {"gpu": 1}, 0.5) for job in ("bert", "vit")])
    >>> across = WeightedMapping(Fraction(1, 2), 2, RingMapping(("a", "b"), (("a", "b"), ("b", "a"))))
    >>> law = MappingLaw(problem, {"bert": [across], "vit": [across]})
    >>> print({str(profit): str(chance) for profit, chance in law.profit().items()}, law.violation("a", "gpu"))
    {'0': '1/4', '6': '1/2', '12': '1/4'} 1/4
    """

    weight: Fraction
    size: int
    mapping: RingMapping

    def __post_init__(self) -> None:
        if type(self.weight) is not Fraction:
            object.__setattr__(self, "weight", amount("weight", self.weight))


@dataclass(frozen=True, slots=True)
class Piece:
    """A mapping as it is taken off a copy, with the weight in the numbers of the solution."""

    weight: float
    mapping: RingMapping


@checked
def decompose(fractional: FractionalEmbedding) -> dict[str, tuple[WeightedMapping, ...]]:
    """Write a fractional embedding as a convex combination of mappings, request by request.

    Parameters
    ----------
    fractional : FractionalEmbedding
        A point of the augmented LP. Values up to 1e-9 count as 0; what is lost by that is checked to stay below 1e-6.

    Returns
    -------
    dict of str to tuple of WeightedMapping
        For every request of the problem, over all its ring sizes. A weight is the rational that
        `dlsched.models.numbers.rational` takes the number for; where rounding carried their sum past 1 they are scaled.

    Raises
    ------
    DecompositionError
        If one of the six invariants breaks; it says which.

    References
    ----------
    GADGET, Section V-C, Algorithm 2, steps 5-6, corrected: one search for all resources.

    Examples
    --------
    >>> import networkx as nx
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.relaxations import augmented_vne
    >>> from dlsched.rounding import decompose
    >>> net = nx.Graph([("a", "b", {"bandwidth": 1}), ("b", "c", {"bandwidth": 1})])
    >>> net.add_nodes_from("ac", capacity={"gpu": 1})
    >>> net.add_node("b", capacity={"gpu": 2})
    >>> problem = RingProblem.of(net, [RingRequest("bert", {3: 8}, {"gpu": 1}, 1)])
    >>> lp = augmented_vne(problem, cap=True)
    >>> for one in decompose(lp.recover(lp.solve().point))["bert"]:
    ...     print(one.weight, sorted(one.mapping.counts().items()))
    1/2 [('a', 1), ('b', 2)]
    1/2 [('b', 2), ('c', 1)]
    """
    problem, found = fractional.problem, {}
    for request in problem.requests:
        pieces: list[tuple[int, Piece]] = []
        for (name, size), ring in fractional.flows.items():
            if name == request.name:
                pieces += [(size, piece) for piece in decompose_ring(problem, request, size, ring)]
        check_weights(request.name, fractional.embedded(request.name), [piece.weight for _, piece in pieces])
        exact = at_most_one([rational(piece.weight) for _, piece in pieces])
        found[request.name] = tuple(
            WeightedMapping(weight, size, piece.mapping) for weight, (size, piece) in zip(exact, pieces, strict=True)
        )
    return found


def at_most_one(weights: Sequence[Fraction]) -> list[Fraction]:
    """Return the weights, scaled where rounding carried their sum past 1."""
    most = max(Fraction(1), sum(weights, Fraction(0)))
    return [weight / most for weight in weights]


def decompose_ring(problem: RingProblem, request: RingRequest, size: int, ring: RingFlow) -> list[Piece]:
    """Decompose one ring size of a request; parameters as in `decompose`.

    Returns
    -------
    list of Piece
        At most as many as the ring size has positive variables.
    """
    if size not in request.profit or size != ring.size:
        raise DecompositionError(Invariant.CLOSED, f"request {request.name}: it has no ring of {size} nodes")
    pieces = []
    for w in ring.copies:
        copy = Copy(request.name, w, ring)
        pieces += list(copy.pieces())
    check_closed(problem, request, (piece.mapping for piece in pieces))
    check_loads(request.name, ring, pieces)
    return pieces


class Copy:
    """What is left of one copy of a ring while mappings are taken off."""

    def __init__(self, name: str, copy: str, ring: RingFlow) -> None:
        self.size = ring.size
        self._where = f"request {name}, ring of {ring.size}, copy {copy}"
        placed, flow = ring.placed(copy), ring.flow.get(copy, {})
        self._check_indices(placed, flow)
        self.parts: list[dict[str, float]] = [{} for _ in range(ring.size)]
        self.flows: list[dict[str, dict[str, float]]] = [{} for _ in range(ring.size)]
        for (a, u), part in placed.items():
            if self._positive(part):
                self.parts[a][u] = part
        for (a, (u, v)), part in flow.items():
            if self._positive(part):
                self.flows[a].setdefault(u, {})[v] = part
        self._copy = copy
        self._sums = [sum(parts.values()) for parts in self.parts]
        self._balance = [self._balance_of(a) for a in range(ring.size)]
        self._check((a, u) for a, balance in enumerate(self._balance) for u in balance)

    @property
    def weight(self) -> float:
        """What is left of x^w."""
        return self.parts[0].get(self._copy, 0.0)

    @property
    def variables(self) -> int:
        """How many values are not yet 0."""
        return sum(map(len, self.parts)) + sum(len(heads) for flow in self.flows for heads in flow.values())

    def pieces(self) -> Iterator[Piece]:
        """Take mappings off until nothing, or no more than rounding leaves, is left."""
        while self.weight > ZERO:
            mapping = self._search()
            if mapping is None:
                return
            before = self.variables
            piece = self.take(mapping)
            if self.variables >= before:
                raise DecompositionError(Invariant.PROGRESS, f"{self._where}: nothing is used up")
            self._check((a, u) for a, path in enumerate(mapping.paths) for u in path)
            yield piece

    def _search(self) -> RingMapping | None:
        """Return the next mapping; None where only a rest of the size of rounding errors is left and has none."""
        nodes, paths = [self._copy], []
        for a in range(self.size if self.size > 1 else 0):
            path = shortest(nodes[a], self.flows[a], self.parts[(a + 1) % self.size])
            if path is None:
                if self.weight <= TOLERANCE:
                    return None
                raise DecompositionError(
                    Invariant.SEARCH, f"{self._where}: no way from {nodes[a]} to a host of ring node {a + 1}"
                )
            paths.append(path)
            nodes.append(path[-1])
        return RingMapping(tuple(nodes[: self.size]), tuple(paths))

    def take(self, mapping: RingMapping) -> Piece:
        """Take a mapping off with the largest weight that it can have."""
        arcs = [(a, u, v) for a, path in enumerate(mapping.paths) for u, v in arcs_of(path)]
        used = [self.parts[a][node] for a, node in enumerate(mapping.nodes)]
        weight = min([*used, *(self.flows[a][u][v] for a, u, v in arcs)])
        for a, node in enumerate(mapping.nodes):
            change = _lower(self.parts[a], node, weight)
            self._sums[a] -= change
            self._balance[a][node] += change
            self._balance[(a - 1) % self.size][node] -= change
        for a, u, v in arcs:
            change = _lower(self.flows[a][u], v, weight)
            self._balance[a][u] -= change
            self._balance[a][v] += change
        return Piece(weight, mapping)

    def _positive(self, part: float) -> bool:
        if part < -TOLERANCE:
            raise DecompositionError(Invariant.BALANCE, f"{self._where}: a value is {float(part):.3g}")
        return part > ZERO

    def _check_indices(self, placed: Mapping[Located, float], flow: Mapping[Routed, float]) -> None:
        edges = self.size if self.size > 1 else 0
        extra = [(f"node {a}", part) for (a, _), part in placed.items() if not 0 <= a < self.size]
        extra += [(f"edge {a}", part) for (a, _), part in flow.items() if not 0 <= a < edges]
        bad = next((what for what, part in extra if abs(part) > ZERO), None)
        if bad is not None:
            raise DecompositionError(Invariant.CLOSED, f"{self._where}: it has no ring {bad}")

    def _balance_of(self, a: int) -> dict[str, float]:
        """Return by how much A3 is off at each node for ring edge a."""
        balance = dict(self.parts[(a + 1) % self.size])
        for u, part in self.parts[a].items():
            balance[u] = balance.get(u, 0) - part
        for u, heads in self.flows[a].items():
            for v, part in heads.items():
                balance[u] = balance.get(u, 0) + part
                balance[v] = balance.get(v, 0) - part
        return balance

    def _check(self, places: Iterable[tuple[int, str]]) -> None:
        """Check A2, and A3 at some ring edges and nodes."""
        for a, total in enumerate(self._sums):
            if abs(total - self.weight) > TOLERANCE:
                raise DecompositionError(
                    Invariant.BALANCE, f"{self._where}: A2 is off by {float(total - self.weight):.3g} at ring node {a}"
                )
        for a, u in places:
            if abs(self._balance[a][u]) > TOLERANCE:
                raise DecompositionError(
                    Invariant.BALANCE, f"{self._where}: A3 is off by {float(self._balance[a][u]):.3g} at {u}, edge {a}"
                )


def _lower(values: dict[str, float], key: str, weight: float) -> float:
    """Take a weight off a value, or all of it where next to nothing would be left; return what was taken."""
    rest = values[key] - weight
    if rest > ZERO:
        values[key] = rest
        return weight
    return values.pop(key)
