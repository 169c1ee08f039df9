"""Dominant resource fairness (Ghodsi et al., NSDI 2011), as in YARN and Mesos, for gangs: progressive filling.

The dominant share of a job is the part that it has of the cluster's devices. Filling raises all shares together, and a
gang has what it asked for when its share is W_j over all devices: the smallest gangs come first, of equals the one that
arrived first, each that still fits. (Job by job from a share of 0, with the least share next, the order would be open:
a gang is all or nothing, so that every job without devices has the share 0.)
"""

from __future__ import annotations

import numpy as np

from dlsched.algorithms.simulator.placement import Placement, arranged
from dlsched.algorithms.simulator.policy import Allocations, Policy, State
from dlsched.algorithms.simulator.simulate import policy_algorithm
from dlsched.arguments import checked


class Drf(Policy):
    """Dominant resource fairness.

    Parameters
    ----------
    placement : {"any", "one-type", "fastest"}
        Which of the free devices a gang gets.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.drf import Drf
    >>> from dlsched.algorithms.simulator import run_policy
    >>> from dlsched.models import hadar
    >>> run_policy(hadar.random(0), Drf()).utility
    17.0
    """

    name = "drf"

    @checked
    def __init__(self, *, placement: Placement | str = Placement.ANY) -> None:
        self._placement = Placement(placement)

    def decide(self, state: State, rng: np.random.Generator) -> Allocations:
        """Let the jobs run whose gangs are filled first."""
        return arranged(state, sorted(state.jobs, key=lambda job: job.gang), self._placement)


ALGORITHM = policy_algorithm("drf", "DRF: dominant resource fairness, the smallest gangs first", Drf)
run = ALGORITHM.run
