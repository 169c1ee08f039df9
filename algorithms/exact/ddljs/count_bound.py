"""What amounts alone say of a slot, in whole numbers: a bound on its profit, and embeddings that often attain it.

All servers' capacities of one resource are taken together, and links are not looked at: a multiple-choice knapsack
over ring sizes. The rings that it chooses are then placed; what does not fit leaves room for others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dlsched.algorithms.rings import Occupancy, Substrate, placed
from dlsched.halt import polled
from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.models.ddljs.rings import Embedding
from dlsched.models.numbers import integer_dtype, to_integers

_MOST_CELLS = 20_000_000
"""Steps of the dynamic program up to which a bound is worth it: about a second where numbers are large."""


@dataclass(frozen=True, slots=True)
class CountBound:
    """An upper bound on a slot's profit.

    Attributes
    ----------
    value : Fraction
    chosen : tuple of dict of str to int
        Ring size by request in an optimum of each knapsack.
    """

    value: Fraction
    chosen: tuple[dict[str, int], ...]


def count_bound(problem: RingProblem) -> CountBound:
    """Return an upper bound on the profit (12): the least value of a knapsack over one resource.

    Rings that exceed what all servers have room for are left out.
    """
    offers = [_offers(problem, request) for request in problem.requests]
    best = sum((max(offer.values(), default=Fraction(0)) for offer in offers), Fraction(0))
    chosen = []
    for resource in problem.resources:
        found = _knapsack(problem, offers, resource)
        if found is not None:
            best = min(best, found[0])
            chosen.append(found[1])
    return CountBound(best, tuple(chosen))


def first_embeddings(problem: RingProblem, bound: CountBound) -> dict[str, Embedding]:
    """Return embeddings that fit: of what each knapsack chose and of nothing, filled up, the most profitable."""
    substrate = Substrate.of(problem)
    found = [placed(problem, Occupancy(substrate), sizes) for sizes in (*bound.chosen, {})]
    return max(found, key=substrate.profit)


def _offers(problem: RingProblem, request: RingRequest) -> dict[int, Fraction]:
    """Return the positive profits of the sizes that there is room for."""
    room, largest = 0, max(request.profit, default=0)
    for u in problem.servers:
        if room >= largest:
            break
        room += problem.room(request, u)
    return {k: profit for k, profit in request.profit.items() if k <= room and profit > 0}


def _knapsack(
    problem: RingProblem, offers: Sequence[Mapping[int, Fraction]], resource: str
) -> tuple[Fraction, dict[str, int]] | None:
    """Return the bound of one resource and the sizes that it chooses; None where the table would be too large."""
    needs = [request.demand.get(resource, Fraction(0)) for request in problem.requests]
    total = sum((capacity.get(resource, Fraction(0)) for capacity in problem.nodes.values()), Fraction(0))
    (*units, limit), _ = to_integers([*needs, total])
    limit = min(limit, sum(max(offer, default=0) * unit for offer, unit in zip(offers, units, strict=True)))
    if limit * sum(map(len, offers)) > _MOST_CELLS:
        return None
    profits, scale = to_integers(profit for offer in offers for profit in offer.values())
    values = iter(profits)
    whole = [{size: next(values) for size in offer} for offer in offers]
    most = sum(max(offer.values(), default=0) for offer in whole)
    tables = [np.zeros(limit + 1, dtype=integer_dtype(most))]
    for offer, unit in zip(whole, units, strict=True):
        before = tables[-1]
        best = before.copy()
        for size, value in polled(offer.items()):
            weight = size * unit
            if weight <= limit:
                best[weight:] = np.maximum(best[weight:], before[: limit + 1 - weight] + value)
        tables.append(best)
    chosen, left = {}, limit
    for i in reversed(range(len(whole))):
        best, before = tables[i + 1], tables[i]
        for size, value in whole[i].items() if best[left] > before[left] else ():
            weight = size * units[i]
            if weight <= left and best[left] == before[left - weight] + value:
                chosen[problem.requests[i].name] = size
                left -= weight
                break
    return Fraction(int(tables[-1][limit]), scale), chosen
