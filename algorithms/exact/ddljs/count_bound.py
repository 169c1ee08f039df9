"""An upper bound on a slot's profit from amounts alone, by dynamic programming in whole numbers."""

from __future__ import annotations

from fractions import Fraction

from dlsched.halt import polled
from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.models.numbers import to_integers

_MOST_CELLS = 2_000_000


def count_bound(problem: RingProblem) -> Fraction:
    """Return an upper bound on the profit (12).

    Of each resource in turn, all servers' capacities are taken together: a multiple-choice knapsack over ring sizes,
    solved exactly. Rings that exceed what all servers have room for are left out; links are not looked at. The least
    of these bounds is returned.
    """
    offers = [_offers(problem, request) for request in problem.requests]
    best = sum((max(offer.values(), default=Fraction(0)) for offer in offers), Fraction(0))
    for resource in problem.resources:
        bound = _knapsack(problem, offers, resource)
        best = best if bound is None else min(best, bound)
    return best


def _offers(problem: RingProblem, request: RingRequest) -> dict[int, Fraction]:
    """Return the positive profits of the sizes that there is room for."""
    room = sum(problem.room(request, u) for u in problem.servers)
    return {k: profit for k, profit in request.profit.items() if k <= room and profit > 0}


def _knapsack(problem: RingProblem, offers: list[dict[int, Fraction]], resource: str) -> Fraction | None:
    """Return the bound of one resource; None where the table would be too large."""
    needs = [request.demand.get(resource, Fraction(0)) for request in problem.requests]
    total = sum((capacity.get(resource, Fraction(0)) for capacity in problem.nodes.values()), Fraction(0))
    (*units, limit), _ = to_integers([*needs, total])
    limit = min(limit, sum(max(offer, default=0) * unit for offer, unit in zip(offers, units, strict=True)))
    if limit * sum(map(len, offers)) > _MOST_CELLS:
        return None
    profits, scale = to_integers(profit for offer in offers for profit in offer.values())
    values = iter(profits)
    best = [0] * (limit + 1)
    for offer, unit in zip(offers, units, strict=True):
        before = best
        best = before[:]
        for size in polled(offer):
            value, weight = next(values), size * unit
            for amount in range(weight, limit + 1):
                best[amount] = max(best[amount], before[amount - weight] + value)
    return Fraction(best[limit], scale)
