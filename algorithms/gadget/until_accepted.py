"""LP-RS-MDE: round until the outcome is (1/3, beta, gamma)-approximate, then leave out what does not fit.

Source: GADGET, Algorithm 2, steps 7-9. With "iter <- 1; while ... iter < u_b" the print tests a solution before there
is one and draws u_b - 1 times at most; corrected, the first draw is tested first, and there are u_b at most. The profit
is compared with the value of the linear program that is rounded, as the optimum of (12) is not known. If no draw is
accepted, the last one is used.

An accepted draw may exceed capacities (by beta^r and gamma), and ring sizes rounded up may exceed (11). A schedule may
not, so jobs are kept in the order in which they are listed, each if it fits what those before it leave.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dlsched.algorithms.gadget.events import Rounding
from dlsched.algorithms.gadget.mixtures import Fractional
from dlsched.algorithms.gadget.settling import overloads, settled
from dlsched.algorithms.rings import Occupancy, Substrate
from dlsched.models.ddljs import Embedding, RingProblem
from dlsched.rounding.mapping_constants import mapping_constants, third
from dlsched.rounding.mappings import Rule, round_mappings


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
