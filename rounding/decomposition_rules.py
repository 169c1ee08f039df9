"""What a decomposition into mappings must keep, and the error that names what it broke."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Protocol

from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.models.ddljs.rings import Arc, RingMapping, arcs_of
from dlsched.relaxations.fractional_embedding import RingFlow
from dlsched.tolerances import TOLERANCE


class Invariant(StrEnum):
    """The invariants of the decomposition of a fractional embedding."""

    WEIGHTS = "(i) the weights add up to what is embedded, at most 1 for a request"
    CLOSED = "(ii) every mapping is a closed ring on valid nodes and arcs"
    BALANCE = "(iii) all values stay at least 0 and satisfy A2 and A3"
    PROGRESS = "(iv) every mapping uses up a variable"
    LOADS = "(v) the mappings load each node as the solution does, and no arc more"
    SEARCH = "(vi) every search finds the next ring node"


class DecompositionError(ValueError):
    """A fractional embedding cannot be decomposed; `invariant` says which rule broke."""

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
                    Invariant.CLOSED, f"request {request.name}: a path uses {' -> '.join(bad)}, which is not valid"
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
                f"request {name}: mappings use {' -> '.join(arc)} {float(used):.9g} times, "
                f"the solution {float(flows.get(arc, 0.0)):.9g}",
            )
