"""Shortest remaining time first, preemptive: at every decision the jobs go first that could be done soonest.

The time that a job has left is that on the fastest gang it could have in the whole cluster. Tiresias' simulator
(github.com/SymbioticLab/Tiresias at 959f9b0, `shortest_first_sim_jobs`) has the rule for devices of one type: the jobs
in this order, each that still fits. Of equals the one that arrived first goes first here; there they stand as they did
at the decision before.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dlsched.algorithms.simulator.placement import Placement, arranged
from dlsched.algorithms.simulator.policy import Allocations, Policy, State
from dlsched.algorithms.simulator.simulate import policy_algorithm
from dlsched.arguments import checked
from dlsched.models.hadar import Job


class Srtf(Policy):
    """Shortest remaining time first.

    Parameters
    ----------
    placement : {"any", "one-type", "fastest"}
        Which of the free devices a gang gets.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.srtf import Srtf
    >>> from dlsched.algorithms.simulator import run_policy
    >>> from dlsched.models import hadar
    >>> run_policy(hadar.random(0), Srtf(placement="any")).utility
    34.0
    """

    name = "srtf"

    @checked
    def __init__(self, *, placement: Placement | str = Placement.FASTEST) -> None:
        self._placement = Placement(placement)
        self._speed: dict[str, Fraction] = {}
        self._left: dict[str, Fraction] = {}

    def decide(self, state: State, rng: np.random.Generator) -> Allocations:
        """Let the jobs run that have the least time left."""
        for job in state.jobs:
            if job.name not in self._speed:
                levels = state.instance.levels(job)
                self._speed[job.name] = job.gang * job.rate_on(levels[0]) if levels else Fraction(0)
            if job.name in state.current or job.name not in self._left:
                speed = self._speed[job.name]
                self._left[job.name] = state.remaining(job) / speed if speed else Fraction(0)
        able = [job for job in state.jobs if self._speed[job.name]]
        return arranged(state, sorted(able, key=self._time_left), self._placement)

    def _time_left(self, job: Job) -> Fraction:
        return self._left[job.name]


ALGORITHM = policy_algorithm("srtf", "SRTF: who can be done soonest goes first, preemptive", Srtf)
run = ALGORITHM.run
