"""Hadar in the simulator: Algorithms 1 and 2 at the start of every round, or for the jobs that wait only.

Every round the queue is allocated anew (module `rounds`, which this agrees with in rounds of a slot). Incremental is
what Section IV-B says of updating: "Hadar just allocates resources to those newly incoming jobs progressively, without
changing the allocated resources of running jobs", so that running jobs keep their devices, which are taken and priced
when Algorithm 2 is asked about the others. The paper does not say when a running job is preempted all the same; here
none is.

Where a split over several machines costs nothing, a gang that is given as many devices of each type as it has stays on
them: any split does the same work, and moving would be a restart for nothing. Completions are estimated in slots, and
without restarts.
"""

from __future__ import annotations

import numpy as np

from dlsched.algorithms.hadar.find_allocation import MAX_STATES, Finder
from dlsched.algorithms.hadar.occupancy import Cells
from dlsched.algorithms.hadar.prices import PriceConstants, constants
from dlsched.algorithms.hadar.rounds import Rules, select
from dlsched.algorithms.run import Variant
from dlsched.algorithms.simulator.placement import by_type, settled
from dlsched.algorithms.simulator.policy import Allocations, Policy, State
from dlsched.arguments import at_least, checked, not_negative


class Hadar(Policy):
    """Hadar in rounds.

    Parameters
    ----------
    variant : {"corrected", "printed"}
        Printed, nothing is ever selected (module `selection`).
    comm_cost : float
        Utility that an allocation over several machines costs in a round.
    max_states : int
        Most states of Algorithm 2's recursion in a round; beyond that jobs are selected greedily by payoff.
    incremental : bool
        Running jobs keep their devices.
    prices : PriceConstants, optional
        Constants of the prices, where they are to differ from those of `variant`; those are of all jobs of the
        instance, also of jobs to come.

    Examples
    --------
    >>> from dlsched.algorithms import simulator
    >>> from dlsched.algorithms.hadar import Hadar
    >>> from dlsched.models.hadar import random
    >>> instance = random(0)
    >>> kept = simulator.simulate(instance, Hadar(incremental=True), round_seconds=0.5)
    >>> sorted(kept.completions), float(simulator.exact_utility(kept))
    (['job2', 'job3'], 34.0)
    """

    name = "hadar"
    needs_rounds = True

    @checked
    def __init__(
        self,
        *,
        variant: Variant | str = Variant.CORRECTED,
        comm_cost: float = 0.0,
        max_states: int = MAX_STATES,
        incremental: bool = False,
        prices: PriceConstants | None = None,
    ) -> None:
        not_negative(comm_cost=comm_cost)
        at_least(0, max_states=max_states)
        self._rules = Rules(Variant(variant), comm_cost, max_states)
        self._incremental, self._prices = incremental, prices
        self._cells: Cells | None = None

    def decide(self, state: State, rng: np.random.Generator) -> Allocations:
        """Run Algorithm 2 on the queue."""
        if self._cells is None:
            self._cells = Cells(state.instance, self._prices or constants(state.instance, self._rules.variant))
        cells, kept = self._cells, dict(state.current) if self._incremental else {}
        queue = [job for job in state.jobs if job.name not in kept]
        finder = Finder(
            state.instance,
            cells,
            self._rules.variant,
            self._rules.comm_cost,
            state.time // state.instance.slot_seconds + 1,
            {job.name: state.remaining(job) for job in queue},
            [cells.counts(allocation) for allocation in kept.values()],
        )
        for job, offer in select(finder, queue, self._rules).selected:
            kept[job.name] = cells.allocation(offer.counts)
        if self._rules.comm_cost:
            return kept
        return settled(state, {name: by_type(allocation) for name, allocation in kept.items()})
