"""Embeddings of a slot found quickly: the most profitable ring of each request that can be placed."""

from __future__ import annotations

from fractions import Fraction

from dlsched.algorithms.rings import Occupancy, Substrate, place
from dlsched.models.ddljs.requests import RingProblem
from dlsched.models.ddljs.rings import Embedding


def greedy_embeddings(problem: RingProblem) -> dict[str, Embedding]:
    """Return embeddings that fit: requests by their best profit, the most profitable size that can be placed."""
    substrate = Substrate.of(problem)
    occupancy = Occupancy(substrate)
    found: dict[str, Embedding] = {}
    order = sorted(problem.requests, key=lambda request: -max(request.profit.values(), default=Fraction(0)))
    for request in order:
        need = substrate.needs[request.name]
        sizes = sorted((k for k, profit in request.profit.items() if profit > 0), key=lambda k: -request.profit[k])
        for size in sizes:
            embedding = place(occupancy, need, size)
            if embedding is not None:
                occupancy.take(need, embedding)
                found[request.name] = embedding
                break
    return found
