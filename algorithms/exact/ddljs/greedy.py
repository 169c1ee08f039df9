"""Embeddings of a slot found quickly: each request's most profitable ring that can be placed, and GADGET's rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dlsched.algorithms.gadget.corrected import best_draw
from dlsched.algorithms.gadget.mixtures import Relaxation, joint
from dlsched.algorithms.rings import Occupancy, Substrate, place
from dlsched.models.ddljs.requests import RingProblem
from dlsched.models.ddljs.rings import Embedding

_DRAWS = 30


def rounded_embeddings(problem: RingProblem) -> dict[str, Embedding]:
    """Return embeddings that fit: the best of some draws from the linear program over sizes and places, filled up.

    None where some request says which nodes may host which ring node.
    """
    gaining = problem.keeping(request for request in problem.requests if max(request.profit.values(), default=0) > 0)
    if not gaining.requests or any(request.allowed is not None for request in gaining.requests):
        return {}
    fractional = joint(gaining, Relaxation.AUTO)
    return best_draw(gaining, Substrate.of(gaining), fractional, np.random.default_rng(0), _DRAWS)[0]


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
