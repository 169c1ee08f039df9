"""Dominant resource fairness (Ghodsi et al., NSDI 2011), as in YARN and Mesos, for gangs: progressive filling.

The dominant share of a job is the part that it has of the cluster's devices. Filling raises all shares together, and a
gang has what it asked for when its share is W_j over all devices: the smallest gangs come first, of equals the one that
arrived first, each that still fits. (Job by job from a share of 0, with the least share next, the order would be open:
a gang is all or nothing, so that every job without devices has the share 0.)
"""

from __future__ import annotations

import numpy as np

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.run import Run
from dlsched.algorithms.simulator.placement import Placement, arranged
from dlsched.algorithms.simulator.policy import Allocations, Policy, State
from dlsched.algorithms.simulator.simulate import run_policy
from dlsched.arguments import Seed, checked
from dlsched.models.hadar import Instance, Schedule


class Drf(Policy):
    """Dominant resource fairness.

    Parameters
    ----------
    placement : {"any", "one-type", "fastest"}
    """

    name = "drf"

    @checked
    def __init__(self, *, placement: Placement | str = Placement.ANY) -> None:
        self._placement = Placement(placement)

    def decide(self, state: State, rng: np.random.Generator) -> Allocations:
        """Let the jobs run whose gangs are filled first."""
        return arranged(state, sorted(state.jobs, key=lambda job: job.gang), self._placement)


@checked
def run(instance: Instance, *, seed: Seed = 0, placement: Placement | str = Placement.ANY) -> Run[Schedule]:
    """Schedule an instance by dominant shares, in rounds of a slot.

    Parameters
    ----------
    instance : Instance
    seed : int or numpy.random.Generator
        Not used: nothing is drawn at random.
    placement : {"any", "one-type", "fastest"}
        Which of the free devices a gang gets.

    Returns
    -------
    Run
        There are no prices. The log has a `Stripped` for each job that ran and does not finish.
    """
    return run_policy(instance, Drf(placement=placement), seed)


ALGORITHM = Algorithm("drf", "hadar", "DRF: dominant resource fairness, the smallest gangs first", run)
