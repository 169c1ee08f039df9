"""Rounding that keeps to the capacities: no ring selection, the best of several draws.

Ring size and place are rounded together, so that nothing is lost by selecting a size first. Of a draw, jobs are kept by
descending profit as they fit what is left. Of the draws, the one that keeps the most is taken.

A draw that is not cut to the capacities gains the linear program's value in expectation, in every slot; with concave
utilities its schedule is worth half an optimum (GADGET, Theorem 10, corrected). A schedule within the capacities has no
such guarantee, by this or any way of leaving out: the program does not see bandwidth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlsched.algorithms.baselines.ddljs.occupancy import Occupancy, Substrate
from dlsched.algorithms.gadget.events import Rounding
from dlsched.algorithms.gadget.mixtures import Fractional
from dlsched.algorithms.gadget.settling import overloads, settled
from dlsched.models.ddljs import Embedding, RingProblem
from dlsched.rounding.decomposition import WeightedMapping
from dlsched.rounding.mapping_sampling import sample_mappings
from dlsched.rounding.mapping_table import MappingTable, Option

_AS_GOOD = 1e-9


def best_draw(
    problem: RingProblem, substrate: Substrate, fractional: Fractional, rng: np.random.Generator, draws: int
) -> tuple[dict[str, Embedding], Rounding]:
    """Return the embeddings of the draw that keeps the most profit, the first of equals, and how they came about.

    Parameters
    ----------
    problem, substrate, fractional, rng
        As for `round_until_accepted`.
    draws : int
        At least 1; a draw that keeps the linear program's value ends it.
    """
    sample = sample_mappings(problem, fractional.mappings, rng, draws)
    best: dict[str, Embedding] = {}
    worth, used, made = -1.0, 0, 0
    while made < draws and worth < fractional.value * (1 - _AS_GOOD):
        chosen = _by_profit(sample.table, sample.chosen(made))
        kept = settled(chosen, Occupancy(substrate))
        profit = sum(_worth(substrate, name, ring.size) for name, ring in kept.items())
        if profit > worth:
            best, worth, used = kept, profit, made
        made += 1
    options = sample.chosen(used)
    stripped = {name: one.size for name, one in _by_profit(sample.table, options).items() if name not in best}
    over = overloads(sample.table, sample.table.loads(options))
    return best, Rounding(fractional.value, float(sample.profits[used]), worth, made, not stripped, over, stripped)


def _by_profit(table: MappingTable, options: Sequence[Option]) -> dict[str, WeightedMapping]:
    named = sorted(zip(table.options, options, strict=True), key=lambda pair: -pair[1].profit)
    return {name: option.chosen for name, option in named if option.chosen is not None}


def _worth(substrate: Substrate, name: str, size: int) -> float:
    return float(substrate.needs[name].request.profit[size])
