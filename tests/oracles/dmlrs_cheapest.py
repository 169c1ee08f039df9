"""The cheapest schedule of one DMLRS job at given prices: over all schedules, and by the printed recursion (21).

Prices and residual capacities are ``{(machine, resource, slot): amount}``; a missing price is 0, a missing residual is
the machine's capacity. Prices are not negative, else surplus servers could pay.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .dmlrs_rules import Data, Placement, needs, placements, rational, work

Cell = tuple[str, str, int]


def _offers(
    instance: Data, job: Data, prices: Mapping[Cell, Any], residual: Mapping[Cell, Any], t: int
) -> list[tuple[Fraction, Any, Placement]]:
    """Return the placements of a slot as (work, cost, placement), each dearer than all that do less; idle first."""
    room = {
        m["name"]: {
            r: Fraction(residual.get((m["name"], r, t), rational(m["capacity"].get(r, 0))))
            for r in instance["resources"]
        }
        for m in instance["machines"]
    }
    found: list[tuple[Fraction, Any, Placement]] = [(Fraction(0), Fraction(0), {})]
    for placement, done in placements(job, room):
        cost = sum(
            (
                prices.get((h, r, t), Fraction(0)) * amount
                for h, counts in placement.items()
                for r, amount in needs(job, *counts).items()
            ),
            Fraction(0),
        )
        found.append((min(done, work(job)), cost, placement))
    kept: list[tuple[Fraction, Any, Placement]] = []
    for offer in sorted(found, key=lambda o: (-o[0], o[1])):
        if not kept or offer[1] < kept[-1][1]:
            kept.append(offer)
    return kept[::-1]


def cheapest_plan(
    instance: Data, job: Data, prices: Mapping[Cell, Any], residual: Mapping[Cell, Any], deadline: int
) -> tuple[Any, dict[int, Placement]] | None:
    """Return the least cost of a schedule of the job in slots arrival..deadline, and such a schedule; None if none.

    From each amount of work left, every placement of the next slot is tried; a placement is left out only if another of
    the slot does as much and costs no more, which may take its place in any schedule (the slots do not interact).
    """
    layer: dict[Fraction, tuple[Any, dict[int, Placement]]] = {work(job): (Fraction(0), {})}
    for t in range(max(1, int(job["arrival"])), min(deadline, int(instance["slots"])) + 1):
        offers = _offers(instance, job, prices, residual, t)
        following: dict[Fraction, tuple[Any, dict[int, Placement]]] = {}
        for left, (cost, plan) in layer.items():
            for done, price, placement in offers:
                after = max(Fraction(0), left - done)
                if after not in following or cost + price < following[after][0]:
                    following[after] = cost + price, plan | ({t: placement} if placement else {})
        layer = following
    return layer.get(Fraction(0))


def cheapest(
    instance: Data, job: Data, prices: Mapping[Cell, Any], residual: Mapping[Cell, Any], deadline: int
) -> Any | None:
    """Return the least cost of any schedule of the job that ends by the deadline, None if there is none."""
    found = cheapest_plan(instance, job, prices, residual, deadline)
    return found[0] if found else None


def printed_dp(
    instance: Data, job: Data, prices: Mapping[Cell, Any], residual: Mapping[Cell, Any], deadline: int
) -> Any | None:
    """Return Theta(deadline, V) of the printed recursion (21), None where it is infinite.

    Each slot does a whole number v of samples (asynchronous: chunks of M mini-batches); theta(t, v) is the cheapest of
    all placements of the slot that do at least v, so only the splitting of V into integers differs from `cheapest`.
    """
    unit = rational(job["minibatches_per_chunk"]) if "chunks" in job else Fraction(1)
    whole = work(job) / unit
    if whole.denominator != 1:
        raise ValueError("the printed recursion needs a whole number of samples")
    first = max(1, int(job["arrival"]))

    @functools.cache
    def offers(t: int) -> list[tuple[Fraction, Any, Placement]]:
        return _offers(instance, job, prices, residual, t)

    @functools.cache
    def theta(t: int, v: int) -> Any | None:
        return min((cost for done, cost, _ in offers(t) if done >= v * unit), default=None)

    @functools.cache
    def total(t: int, v: int) -> Any | None:
        if t < first:
            return Fraction(0) if v == 0 else None
        pairs = ((theta(t, part), total(t - 1, v - part)) for part in range(v + 1))
        return min((now + before for now, before in pairs if now is not None and before is not None), default=None)

    return total(min(deadline, int(instance["slots"])), int(whole))
