"""Rounding that keeps to the capacities: no ring selection, the best of several draws, each filled up.

Ring size and place are rounded together, so that nothing is lost by selecting a size first. Of a draw, jobs are kept by
descending profit as they fit what is left; what they leave goes to jobs that are worth something (`fill`). After the
first, each draw also leaves out one job in five, which the filling may bring back elsewhere. The most profitable of the
results is taken. The print has none of this.

A draw that is not cut to the capacities gains the linear program's value in expectation, in every slot; with concave
utilities its schedule is worth half an optimum (GADGET, Theorem 10, corrected). A schedule within the capacities has no
such guarantee, by this or any way of leaving out: the program does not see bandwidth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlsched.algorithms.gadget.events import Rounding
from dlsched.algorithms.gadget.mixtures import Fractional
from dlsched.algorithms.gadget.settling import overloads, settled
from dlsched.algorithms.rings import Occupancy, Substrate, fill
from dlsched.halt import poll
from dlsched.models.ddljs import Embedding, RingProblem
from dlsched.rounding.decomposition import WeightedMapping
from dlsched.rounding.mapping_sampling import sample_mappings
from dlsched.rounding.mapping_table import MappingTable, Option
from dlsched.tolerances import AS_GOOD

_LEFT_OUT = 0.2
"""Of the jobs of a draw, how many are left out for the filling to bring back. Arbitrary: one in five."""


def best_draw(
    problem: RingProblem, substrate: Substrate, fractional: Fractional, rng: np.random.Generator, draws: int
) -> tuple[dict[str, Embedding], tuple[str, ...], Rounding]:
    """Return the embeddings of the best draw, first of equals, which jobs were filled in, and how it came about.

    Parameters
    ----------
    problem, substrate, fractional, rng
        As for `round_until_accepted`.
    draws : int
        At least 1; a draw that is worth the linear program's value ends it.
    """
    names = [request.name for request in problem.requests]
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
        held = settled({name: one for name, one in chosen.items() if name in staying}, occupancy)
        kept = dict(held)
        added = fill(problem, occupancy, held)
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
