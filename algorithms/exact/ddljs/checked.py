"""Embeddings of ring requests checked and valued in exact rationals, without a solver."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.models.ddljs.rings import Arc, Embedding, broken_ring


def checked_value(problem: RingProblem, embeddings: Mapping[str, Embedding]) -> Fraction:
    """Return the profit of embeddings (12).

    Raises
    ------
    ValueError
        If they break (13)-(19), or a ring has a size that is not offered; the message says where.
    """
    value = Fraction(0)
    for name, embedding in embeddings.items():
        request = problem.request(name)
        if embedding.size not in request.profit:
            raise ValueError(f"request {name}: a ring of {embedding.size} is not offered")
        value += request.profit[embedding.size]
        _check_ring(problem, request, embedding)
    _check_nodes(problem, embeddings)
    _check_links(problem, embeddings)
    return value


def fits(problem: RingProblem, embeddings: Mapping[str, Embedding]) -> bool:
    """Tell whether embeddings pass `checked_value`."""
    try:
        checked_value(problem, embeddings)
    except ValueError:
        return False
    return True


def _check_ring(problem: RingProblem, request: RingRequest, embedding: Embedding) -> None:
    place = f"request {request.name}"
    servers = set(problem.servers)
    if any(n < 1 or u not in servers for u, n in embedding.workers.items()):
        raise ValueError(f"{place}: workers {embedding.workers} where no worker can be")
    fault = broken_ring(embedding, request.allowed)
    if fault:
        raise ValueError(f"{place}: {fault}")


def _check_nodes(problem: RingProblem, embeddings: Mapping[str, Embedding]) -> None:
    used: dict[tuple[str, str], Fraction] = {}
    for name, embedding in embeddings.items():
        for u, n in embedding.workers.items():
            for r, need in problem.request(name).demand.items():
                used[u, r] = used.get((u, r), Fraction(0)) + n * need
    for (u, r), amount in used.items():
        if amount > problem.nodes[u].get(r, 0):
            raise ValueError(f"node {u}, resource {r}: {amount} exceeds {problem.nodes[u].get(r, 0)}")


def _check_links(problem: RingProblem, embeddings: Mapping[str, Embedding]) -> None:
    used: dict[Arc, Fraction] = {}
    for name, embedding in embeddings.items():
        for arc, times in embedding.loads().items():
            if arc not in problem.capacity:
                raise ValueError(f"request {name}: there is no link {' -> '.join(arc)}")
            used[arc] = used.get(arc, Fraction(0)) + times * problem.request(name).bandwidth
    for arcs, limit in problem.shares:
        amount = sum((used.get(arc, Fraction(0)) for arc in arcs), Fraction(0))
        if amount > limit:
            raise ValueError(f"link {' -> '.join(arcs[0])}: {amount} exceeds {limit}")
