"""What the rounded mappings of a slot become: embeddings that are kept. Two rules, of the paper and of ours.

LP-RS-MDE (`round_until_accepted`): round until the outcome is (1/3, beta, gamma)-approximate, then leave out what does
not fit. Source: GADGET, Algorithm 2, steps 7-9. With "iter <- 1; while ... iter < u_b" the print tests a solution
before there is one and draws u_b - 1 times at most; corrected, the first draw is tested first, and there are u_b at
most. The profit is compared with the value of the linear program that is rounded, as the optimum of (12) is not known.
If no draw is accepted, the last one is used. An accepted draw may exceed capacities (by beta^r and gamma), and ring
sizes rounded up may exceed (11). A schedule may not, so jobs are kept in the order in which they are listed, each if it
fits what those before it leave.

Rounding that keeps to the capacities (`best_draw`): no ring selection, the best of several draws, each filled up. Ring
size and place are rounded together, so that nothing is lost by selecting a size first. Of a draw, jobs are kept by
descending profit as they fit what is left; what they leave goes to jobs that are worth something (`fill`). After the
first, each draw also leaves out one job in five, which the filling may bring back elsewhere. The most profitable of the
results is taken. The print has none of this. A draw that is not cut to the capacities gains the linear program's value
in expectation, in every slot; with concave utilities its schedule is worth half an optimum (GADGET, Theorem 10,
corrected). A schedule within the capacities has no such guarantee, by this or any way of leaving out: the program does
not see bandwidth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from dlsched.algorithms.gadget.events import Rounding
from dlsched.algorithms.gadget.mixtures import Fractional
from dlsched.algorithms.rings import Need, Occupancy, Substrate, embedded, fill, join
from dlsched.halt import poll
from dlsched.models.ddljs import Embedding, RingMapping, RingProblem, embedding
from dlsched.rounding.decomposition import WeightedMapping
from dlsched.rounding.mapping_constants import mapping_constants, third
from dlsched.rounding.mapping_sampling import sample_mappings
from dlsched.rounding.mapping_table import LinkRow, MappingTable, Option, Row
from dlsched.rounding.mappings import Rule, round_mappings
from dlsched.tolerances import AS_GOOD

_LEFT_OUT = 0.2
"""Of the jobs of a draw, how many are left out for the filling to bring back. Arbitrary: one in five."""


def affordable(problem: RingProblem, payable: Mapping[str, int]) -> RingProblem:
    """Return the problem with the ring sizes that (2) and (11) allow, which those that are rounded up may exceed.

    Parameters
    ----------
    problem : RingProblem
    payable : mapping of str to int
        The most workers of each job by (2) and (11).
    """
    if all(max(request.profit) <= payable[request.name] for request in problem.requests):
        return problem
    return problem.keeping(
        request.at_most(payable[request.name])
        for request in problem.requests
        if min(request.profit) <= payable[request.name]
    )


def best_draw(
    problem: RingProblem,
    substrate: Substrate,
    fractional: Fractional,
    rng: np.random.Generator,
    draws: int,
    payable: Mapping[str, int],
) -> tuple[dict[str, Embedding], tuple[str, ...], Rounding]:
    """Return the embeddings of the best draw, first of equals, which jobs were filled in, and how it came about.

    Parameters
    ----------
    problem, substrate, fractional, rng, payable
        As for `round_until_accepted`.
    draws : int
        At least 1; a draw that is worth the linear program's value ends it.
    """
    names = [request.name for request in problem.requests]
    rest = affordable(problem, payable)
    stays = rng.spawn(1)[0].random((draws, len(names))) >= _LEFT_OUT
    stays[0] = True
    sample = sample_mappings(problem, fractional.mappings, rng, draws)
    best: dict[str, Embedding] = {}
    filled: tuple[str, ...] = ()
    first: dict[str, Embedding] = {}
    worth, used, made = -1.0, 0, 0
    while made < draws and worth < fractional.value * (1 - AS_GOOD):
        poll()
        staying = {name for name, stay in zip(names, stays[made].tolist(), strict=True) if stay}
        chosen = _by_profit(sample.table, sample.chosen(made))
        occupancy = Occupancy(substrate)
        staying &= {name for name, one in chosen.items() if one.size <= payable[name]}
        held = settled({name: one for name, one in chosen.items() if name in staying}, occupancy)
        kept = dict(held)
        added = fill(rest, occupancy, held)
        profit = substrate.profit(held)
        if profit > worth:
            best, filled, first, worth, used = held, added, kept, profit, made
        made += 1
    options = sample.chosen(used)
    stripped = {name: one.size for name, one in _by_profit(sample.table, options).items() if name not in first}
    over = overloads(sample.table, sample.table.loads(options))
    raw = float(sample.profits[used])
    log = Rounding(fractional.value, raw, substrate.profit(first), made, not stripped, over, stripped)
    return best, filled, log


def _by_profit(table: MappingTable, options: Sequence[Option]) -> dict[str, WeightedMapping]:
    named = sorted(zip(table.options, options, strict=True), key=lambda pair: -pair[1].profit)
    return {name: option.chosen for name, option in named if option.chosen is not None}


def round_until_accepted(
    problem: RingProblem,
    substrate: Substrate,
    fractional: Fractional,
    rng: np.random.Generator,
    draws: int,
    payable: Mapping[str, int],
    variant: str,
) -> tuple[dict[str, Embedding], Rounding]:
    """Return the embeddings of a slot that are kept, and how they came about.

    Parameters
    ----------
    problem : RingProblem
    substrate : Substrate
        Of the problem, perhaps with more requests.
    fractional : Fractional
        With the ring selection.
    rng : numpy.random.Generator
    draws : int
        u_b.
    payable : mapping of str to int
        The most workers of each job by (2) and (11).
    variant : {"printed", "corrected"}
        How draws are counted.
    """
    sizes = fractional.selection.sizes if fractional.selection is not None else None
    acceptance = mapping_constants(problem, sizes).acceptance(third(problem, fractional.mappings))
    outcome = round_mappings(
        problem, fractional.mappings, rng, rule=Rule.ACCEPTED, rounds=draws, acceptance=acceptance, variant=variant
    )
    affordable = {name: one for name, one in outcome.chosen.items() if one.size <= payable[name]}
    kept = settled(affordable, Occupancy(substrate))
    worth = math.fsum(float(substrate.needs[name].request.profit[ring.size]) for name, ring in kept.items())
    log = Rounding(
        fractional.value,
        float(outcome.profit),
        worth,
        outcome.draws,
        outcome.accepted,
        overloads(outcome.table, outcome.loads()),
        {name: one.size for name, one in outcome.chosen.items() if name not in kept},
    )
    return kept, log


def settled(chosen: Mapping[str, WeightedMapping], occupancy: Occupancy) -> dict[str, Embedding]:
    """Return the embeddings of the jobs that fit, each what those before it leave.

    A ring visits each server once; if there is no bandwidth for it, a ring along other paths is looked for.

    Parameters
    ----------
    chosen : mapping of str to WeightedMapping
        In the order in which jobs are taken.
    occupancy : Occupancy
        What is left; what the embeddings use is taken from it.
    """
    kept = {}
    for name, one in chosen.items():
        need = occupancy.substrate.needs[name]
        ring = _fitting(one.mapping, occupancy, need)
        if ring is not None:
            occupancy.take(need, ring)
            kept[name] = ring
    return kept


def overloads(table: MappingTable, loads: Mapping[Row, Fraction]) -> dict[tuple[str, str], float]:
    """Return load over capacity of the nodes (with the resource) and arcs that hold more than they have."""
    found = {}
    for row, load in loads.items():
        capacity = table.capacity[row]
        if load > capacity:
            place = row.arcs[0] if isinstance(row, LinkRow) else (row.node, row.resource)
            found[place] = float(load / capacity) if capacity else float("inf")
    return found


def _fitting(mapping: RingMapping, occupancy: Occupancy, need: Need) -> Embedding | None:
    ordered = need.request.allowed is not None
    ring = embedding(mapping, ordered=ordered)
    if occupancy.fits(need, ring):
        return ring
    bare = Embedding(workers=ring.workers)
    if ordered or len(ring.workers) < 2 or not occupancy.fits(need, bare):
        return None
    number = occupancy.substrate.number
    counts = {number[node]: n for node, n in ring.workers.items()}
    paths = join(occupancy, need, [*counts])
    return None if paths is None else embedded(occupancy, counts, paths)
