"""Least attained service: in every round who has had the fewest device-seconds goes first, blind to device types.

Of equals the one that arrived first goes first; who does not fit what is left is passed over. With rounds as the
quantum this is what Tiresias (Gu et al., NSDI 2019, Section 3.2; module `tiresias`) makes discrete in its own way.
"""

from __future__ import annotations

import numpy as np

from dlsched.algorithms.simulator.placement import Placement, arranged
from dlsched.algorithms.simulator.policy import Allocations, Policy, State
from dlsched.algorithms.simulator.simulate import policy_algorithm
from dlsched.arguments import checked


class Las(Policy):
    """Least attained service.

    Parameters
    ----------
    placement : {"any", "one-type", "fastest"}
        Which of the free devices a gang gets.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.las import Las
    >>> from dlsched.algorithms.simulator import run_policy
    >>> from dlsched.models import hadar
    >>> run_policy(hadar.random(0), Las()).utility
    17.0
    """

    name = "las"
    needs_rounds = True

    @checked
    def __init__(self, *, placement: Placement | str = Placement.ANY) -> None:
        self._placement = Placement(placement)

    def decide(self, state: State, rng: np.random.Generator) -> Allocations:
        """Let the jobs run that have had least."""
        return arranged(state, sorted(state.jobs, key=state.attained), self._placement)


ALGORITHM = policy_algorithm("las", "LAS: who has had the fewest device-seconds goes first", Las)
run = ALGORITHM.run
