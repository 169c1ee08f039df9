"""Embeddings of ring requests checked and valued in exact rationals, without a solver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.models.ddljs.rings import Arc, Embedding


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
    order = embedding.order
    if request.allowed is not None and order is None:
        raise ValueError(f"{place}: the order of its workers is missing")
    if order is not None:
        if Counter(order) != Counter(embedding.workers):
            raise ValueError(f"{place}: the order {order} is not that of the workers")
        if any(u not in allowed for u, allowed in zip(order, request.allowed or (), strict=False)):
            raise ValueError(f"{place}: the order {order} breaks its placement")
        hops = [(u, v) for u, v in zip(order, (*order[1:], order[0]), strict=True) if u != v]
        if [(path[0], path[-1]) for path in embedding.ring] != hops:
            raise ValueError(f"{place}: the ring does not follow the order {order}")
        return
    starts = [path[0] for path in embedding.ring]
    ends = [path[-1] for path in embedding.ring]
    if Counter(starts) != (Counter() if len(embedding.workers) == 1 else Counter(embedding.workers.keys())):
        raise ValueError(f"{place}: the ring visits {starts}, the workers are on {list(embedding.workers)}")
    if ends != [*starts[1:], *starts[:1]]:
        raise ValueError(f"{place}: the ring is not closed")


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
