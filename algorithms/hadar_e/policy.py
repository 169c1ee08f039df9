"""HadarE in the simulator: at the start of every round the copies of jobs are put on nodes anew.

Which copies run where is what `run` decides with divisible steps and the corrected division (module `assign`): the
copies of a job share its steps by their speeds, so that they are done together. In rounds of a slot, without restarts,
both do the same. The simulator takes rounds of any length, and a job that fits no node, which `run` refuses, never
runs. It knows of no communication, and a job to which a node is added restarts on all of its nodes, where `run` loses
the time of the new one alone.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dlsched.algorithms.hadar.find_allocation import MAX_STATES
from dlsched.algorithms.hadar.occupancy import Cells
from dlsched.algorithms.hadar.prices import constants
from dlsched.algorithms.hadar_e.assign import Assigner, copies_as_jobs
from dlsched.algorithms.hadar_e.division import Steps
from dlsched.algorithms.hadar_e.estimate import Throughputs
from dlsched.algorithms.hadar_e.nodes import devices_on, speeds_of
from dlsched.algorithms.hadar_e.rounds import Rules
from dlsched.algorithms.hadar_e.schedule import Overheads
from dlsched.algorithms.run import Variant
from dlsched.algorithms.simulator.policy import Allocations, Policy, State
from dlsched.arguments import at_least, checked


class HadarE(Policy):
    """HadarE in rounds.

    Parameters
    ----------
    copies : int, optional
        How many each job is forked into, as many as there are nodes by default.
    max_states : int
        Most states of Algorithm 2's recursion in a round; beyond, copies are selected greedily by payoff.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> from dlsched.algorithms.simulator import simulate
    >>> instance = hadar_e.figure_6()
    >>> simulation = simulate(instance, hadar_e.HadarE(), round_seconds=1, restart_seconds=0.1)
    >>> {job: round(float(end), 3) for job, end in simulation.completions.items()}
    {'J1': 0.876, 'J2': 1.92, 'J3': 3.362}
    """

    name = "hadar_e"
    needs_rounds = True
    copies = True

    @checked
    def __init__(self, *, copies: int | None = None, max_states: int = MAX_STATES) -> None:
        at_least(1, copies=copies)
        at_least(0, max_states=max_states)
        self._most, self._max_states = copies, max_states
        self._assigner: Assigner | None = None
        self._throughputs = Throughputs({})

    def decide(self, state: State, rng: np.random.Generator) -> Allocations:
        """Put copies on nodes."""
        assigner = self._assigner = self._assigner or self._begun(state)
        queue = [job for job in state.jobs if self._throughputs.of(job.name)]
        slot = state.time // state.instance.slot_seconds + 1
        _, jobs = assigner.choose(slot, queue, {job.name: state.remaining(job) for job in queue}, self._throughputs)
        given: dict[str, dict[str, dict[str, int]]] = {}
        for node, name in jobs.items():
            devices = devices_on(state.instance.job(name), state.instance.machine(node))
            given.setdefault(name, {})[node] = devices
        return given

    def _begun(self, state: State) -> Assigner:
        instance = state.instance
        speeds = {job.name: speeds_of(job, instance) for job in instance.jobs}
        self._throughputs = Throughputs(speeds)
        able = instance.model_copy(update={"jobs": tuple(job for job in instance.jobs if speeds[job.name])})
        rules = Rules(
            copies=self._most or len(instance.machines),
            max_job_count=len(instance.jobs),
            variant=Variant.CORRECTED,
            steps=Steps.DIVISIBLE,
            overheads=Overheads(restart=state.restart_seconds, communication=Fraction(0), consolidation=Fraction(0)),
        )
        seen = copies_as_jobs(able, self._throughputs)
        length = instance.slot_seconds if state.round_seconds is None else state.round_seconds
        return Assigner(seen, Cells(seen, constants(seen)), rules, self._max_states, length)
