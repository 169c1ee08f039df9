"""Which copies run where: Hadar's Algorithm 1 over all copies, and then no node idle that some copy can use.

To Hadar the copies are jobs, of one device each, and the nodes machines with one device, each of a type of its own. So
a node runs one copy, and a job has at most one copy on it. A copy's completion is estimated as Hadar estimates a job's:
as if it alone did all that its job has left.

Hadar leaves a node idle where no copy has a positive payoff. HadarE "lets any unfinished job be executed on as many
available nodes as possible": such a node gets a copy of the job that would take longest with the nodes it has so far.
That order is ours. In the last round of few whole steps, the division gives them to the fastest nodes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from dlsched.algorithms.hadar.find_allocation import Finder
from dlsched.algorithms.hadar.occupancy import Occupancy
from dlsched.algorithms.hadar.prices import constants
from dlsched.algorithms.hadar.selection import select_corrected
from dlsched.algorithms.hadar_e.division import Steps
from dlsched.algorithms.hadar_e.estimate import Throughputs
from dlsched.algorithms.hadar_e.forker import fork, origin
from dlsched.algorithms.hadar_e.rounds import Rules
from dlsched.algorithms.run import Variant
from dlsched.models.hadar import Instance, Job, Machine


class HadarOverCopies:
    """Hadar's scheduler, to which copies are jobs.

    Parameters
    ----------
    instance : Instance
    rules : Rules
    throughputs : Throughputs
        As they are known at the beginning: prices are made of them.
    max_states : int
        Most states of Algorithm 2's recursion in a round; beyond, copies are selected greedily by payoff.
    """

    def __init__(self, instance: Instance, rules: Rules, throughputs: Throughputs, max_states: int) -> None:
        self._rules, self._max_states = rules, max_states
        self._parents = [job.name for job in instance.jobs]
        ids = fork(range(len(instance.jobs)), rules.copies, rules.max_job_count)
        self._ids = {name: ids[parent] for parent, name in enumerate(self._parents)}
        nodes = [machine.name for machine in instance.machines]
        self._copies = {
            str(id): _copy(instance.jobs[parent], id, throughputs.of(self._parents[parent]))
            for parent, own in ids.items()
            for id in own
        }
        self._instance = Instance(
            slots=instance.slots,
            slot_seconds=instance.slot_seconds,
            device_types=tuple(nodes),
            machines=tuple(Machine(name=node, devices={node: 1}) for node in nodes),
            jobs=tuple(self._copies.values()),
        )
        self.occupancy = Occupancy(self._instance, constants(self._instance))

    def __call__(
        self, slot: int, queue: list[Job], left: Mapping[str, Fraction], throughputs: Throughputs
    ) -> dict[str, int]:
        """Return the copies that run in a round, by node."""
        known = {job.name: throughputs.of(job.name) for job in queue}
        copies = [self._copies[str(id)] for id in sorted(id for job in queue for id in self._ids[job.name])]
        parent = {copy.name: self._parents[origin(int(copy.name), self._rules.max_job_count)[0]] for copy in copies}
        now = [copy.model_copy(update={"rate": known[parent[copy.name]]}) for copy in copies]
        remaining = {name: left[job] for name, job in parent.items()}
        finder = Finder(self._instance, self.occupancy, Variant.CORRECTED, 0.0, slot, remaining)
        chosen: dict[str, int] = {}
        for copy, offer in select_corrected(finder, now, self._max_states).selected:
            self.occupancy.commit({slot: offer.counts})
            ((cell, _),) = offer.counts
            chosen[self.occupancy.cells[cell][0]] = int(copy.name)
        self._fill(chosen, known, left, parent)
        listed = [node for node, _ in self.occupancy.cells]
        return {node: chosen[node] for node in listed if node in chosen}

    def _fill(
        self,
        chosen: dict[str, int],
        known: Mapping[str, Mapping[str, Fraction]],
        left: Mapping[str, Fraction],
        parent: Mapping[str, str],
    ) -> None:
        """Give the idle nodes, as listed, copies of the jobs that would take longest."""
        speed = dict.fromkeys(known, Fraction(0))
        free = {job: [id for id in self._ids[job] if id not in chosen.values()] for job in known}
        for node, id in chosen.items():
            speed[parent[str(id)]] += known[parent[str(id)]][node]
        for node, _ in self.occupancy.cells:
            if node in chosen:
                continue
            able = [job for job in known if node in known[job] and free[job] and self._useful(job, free, left)]
            if able:
                slowest = max(able, key=lambda job: left[job] / speed[job] if speed[job] else math.inf)
                chosen[node] = free[slowest].pop(0)
                speed[slowest] += known[slowest][node]

    def _useful(self, job: str, free: Mapping[str, list[int]], left: Mapping[str, Fraction]) -> bool:
        """Tell whether there is a step left for one more copy, where steps are whole."""
        return self._rules.steps is Steps.DIVISIBLE or self._rules.copies - len(free[job]) < left[job]


def _copy(job: Job, id: int, rate: dict[str, Fraction]) -> Job:
    return Job.model_construct(
        name=str(id), arrival=job.arrival, gang=1, iterations=job.iterations, rate=rate, utility=job.utility
    )
