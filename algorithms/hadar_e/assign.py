"""Which copies run where: Hadar's Algorithm 1 over all copies, and then no node idle that some copy can use.

To Hadar the copies are jobs, of one device each, and the nodes machines with one device, each of a type of its own. So
a node runs one copy, and a job has at most one copy on it. (Prices depend on the jobs and not on how often each is
there, so its instance has one of each.) A copy's completion is estimated as Hadar estimates a job's:
as if it alone did all that its job has left.

Two rules follow, both ours. Hadar does not know that copies share the work of one job: where the faster nodes of a
job do all that it has left within the slot, its other copies give way to jobs of which that is not so. (Not with the
printed division, by which each copy keeps its portion.) And Hadar leaves a node idle where no copy has a positive
payoff, while HadarE "lets any unfinished job be executed on as many available nodes as possible": such a node gets a
copy of the job that would take longest with the nodes it has. In a last round of few whole steps the division gives
them to the fastest nodes; those that get none of them idle for their job, and go to another one as well.

A rule of the paper is left out. "In general, the last round may involve beta nodes", "those beta fastest nodes that
complete their assigned epochs in the immediately earlier round" (Section V-A): here the last round is like every other,
and has all nodes that get some of the steps, whether they were done early before or not. What beta is the paper does
not say, and no round is known to be the last before it is over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from dlsched.algorithms.hadar.find_allocation import Finder
from dlsched.algorithms.hadar.occupancy import Cells, Counts, Occupancy
from dlsched.algorithms.hadar.prices import constants
from dlsched.algorithms.hadar.selection import select_corrected
from dlsched.algorithms.hadar_e.division import Steps, divide
from dlsched.algorithms.hadar_e.estimate import Throughputs
from dlsched.algorithms.hadar_e.forker import fork
from dlsched.algorithms.hadar_e.rounds import Rules
from dlsched.algorithms.run import Variant
from dlsched.models.hadar import Instance, Job, Machine


def copies_as_jobs(instance: Instance, throughputs: Throughputs) -> Instance:
    """Return what Hadar sees: nodes of one device each, each of its own type, and one copy of every job."""
    nodes = [machine.name for machine in instance.machines]
    return instance.model_copy(
        update={
            "device_types": tuple(nodes),
            "machines": tuple(Machine(name=node, devices={node: 1}) for node in nodes),
            "jobs": tuple(_copy(job, throughputs.of(job.name)) for job in instance.jobs),
        }
    )


class Assigner:
    """Tells which job each node trains in a round.

    Parameters
    ----------
    instance : Instance
        Of `copies_as_jobs`.
    cells : Cells
        Of that instance.
    rules : Rules
    max_states : int
        Most states of Algorithm 2's recursion in a round; beyond, copies are selected greedily by payoff.
    round_seconds : Fraction
    """

    def __init__(
        self, instance: Instance, cells: Cells, rules: Rules, max_states: int, round_seconds: Fraction
    ) -> None:
        self._instance, self._cells, self._rules, self._max_states = instance, cells, rules, max_states
        overheads = rules.overheads
        self._time = round_seconds - overheads.before(True) - overheads.after(rules.copies)

    def choose(
        self, slot: int, queue: Sequence[Job], left: Mapping[str, Fraction], throughputs: Throughputs
    ) -> tuple[list[Counts], dict[str, str]]:
        """Return what Hadar's Algorithm 2 takes in a round, and the job that each node trains after the rules above."""
        known = {job.name: throughputs.of(job.name) for job in queue}
        taken, chosen = self._selected(slot, queue, left, known)
        nodes = [node for node, _ in self._cells.cells]
        teams = _Teams(nodes, self._rules, self._time, known, left, chosen)
        corrected = self._rules.variant is Variant.CORRECTED
        if corrected and teams.short():
            teams.release()
        teams.fill()
        while corrected and teams.short() and teams.dismiss():
            teams.fill()
        return taken, {node: teams.jobs[node] for node in nodes if node in teams.jobs}

    def paying(
        self, slot: int, queue: Sequence[Job], left: Mapping[str, Fraction], throughputs: Throughputs
    ) -> tuple[list[Counts], dict[str, str]]:
        """Return what Hadar's Algorithm 2 takes in a round, and the job that each node trains by it alone."""
        return self._selected(slot, queue, left, {job.name: throughputs.of(job.name) for job in queue})

    def _selected(
        self, slot: int, queue: Sequence[Job], left: Mapping[str, Fraction], known: Mapping[str, dict[str, Fraction]]
    ) -> tuple[list[Counts], dict[str, str]]:
        copies = [_copy(job, known[job.name]) for job in queue] * self._rules.copies
        finder = Finder(self._instance, self._cells, Variant.CORRECTED, 0.0, slot, left)
        taken: list[Counts] = []
        chosen: dict[str, str] = {}
        for copy, offer in select_corrected(finder, copies, self._max_states).selected:
            taken.append(offer.counts)
            ((cell, _),) = offer.counts
            chosen[self._cells.cells[cell][0]] = copy.name
        return taken, chosen


class HadarOverCopies:
    """Hadar's scheduler, to which copies are jobs.

    Parameters
    ----------
    instance : Instance
    rules : Rules
    throughputs : Throughputs
        As they are known at the beginning: prices are made of them.
    max_states : int
        As for `Assigner`.
    alone : bool
        Whether Algorithm 2 decides alone, without the rules above.
    """

    def __init__(
        self, instance: Instance, rules: Rules, throughputs: Throughputs, max_states: int, *, alone: bool = False
    ) -> None:
        ids = fork(range(len(instance.jobs)), rules.copies, rules.max_job_count)
        self._ids = {job.name: ids[parent] for parent, job in enumerate(instance.jobs)}
        seen = copies_as_jobs(instance, throughputs)
        self.occupancy = Occupancy(seen, constants(seen))
        assigner = Assigner(seen, self.occupancy, rules, max_states, instance.slot_seconds)
        self._choose = assigner.paying if alone else assigner.choose

    def __call__(
        self, slot: int, queue: list[Job], left: Mapping[str, Fraction], throughputs: Throughputs
    ) -> dict[str, int]:
        """Return the copies that run in a round, by node: the first copies of each job."""
        taken, jobs = self._choose(slot, queue, left, throughputs)
        for counts in taken:
            self.occupancy.commit({slot: counts})
        numbers = {job.name: iter(self._ids[job.name]) for job in queue}
        return {node: next(numbers[job]) for node, job in jobs.items()}


class _Teams:
    """Which job each node runs in a round, ``jobs``, and whether that is enough to do what the job has left."""

    def __init__(
        self,
        nodes: Sequence[str],
        rules: Rules,
        time: Fraction,
        known: Mapping[str, Mapping[str, Fraction]],
        left: Mapping[str, Fraction],
        jobs: dict[str, str],
    ) -> None:
        self._nodes, self._rules, self._time = nodes, rules, time
        self._known, self._left, self.jobs = known, left, jobs
        self._dismissed: set[tuple[str, str]] = set()

    def _team(self, job: str) -> list[str]:
        return [node for node in self._nodes if self.jobs.get(node) == job]

    def _enough(self, job: str, team: list[str]) -> bool:
        """Tell whether a team does in the slot what a job has left, each node the portion that it gets of it."""
        if not team:
            return False
        known, portions = self._known[job], self._portions(job, team)
        done = sum(portions.values()) >= self._left[job]
        return done and all(portion <= known[node] * self._time for node, portion in portions.items())

    def _portions(self, job: str, team: list[str]) -> dict[str, Fraction]:
        rules, known = self._rules, self._known[job]
        return divide(self._left[job], known, team, copies=rules.copies, variant=rules.variant, steps=rules.steps)

    def short(self) -> list[str]:
        """Return the jobs whose teams are not enough."""
        return [job for job in self._known if not self._enough(job, self._team(job))]

    def release(self) -> None:
        """Take from each team the slowest nodes that it can do without."""
        for job in self._known:
            team = self._team(job)
            for node in sorted(team, key=lambda node: self._known[job][node]):
                rest = [other for other in team if other != node]
                if self._enough(job, rest):
                    team = rest
                    del self.jobs[node]

    def dismiss(self) -> bool:
        """Take from each team the nodes that get no step of what its job has left, for good; tell whether any did."""
        found = False
        for job in self._known:
            if team := self._team(job):
                idle = [node for node, portion in self._portions(job, team).items() if not portion]
                self._dismissed |= {(node, job) for node in idle}
                for node in idle:
                    del self.jobs[node]
                found = found or bool(idle)
        return found

    def fill(self) -> None:
        """Give each idle node to the job that would take longest, among those whose teams are not enough if it can."""
        for node in self._nodes:
            if node not in self.jobs:
                able = [job for job in self._known if self._has_use(job, node)]
                short = self.short()
                job = max((job for job in able if job in short), key=self._longest, default=None)
                job = job or max(able, key=self._longest, default=None)
                if job:
                    self.jobs[node] = job

    def _has_use(self, job: str, node: str) -> bool:
        """Tell whether a node can run a copy, there is one left, and where steps are whole a step for it."""
        if node not in self._known[job] or (node, job) in self._dismissed:
            return False
        size = len(self._team(job))
        return size < self._rules.copies and (self._rules.steps is Steps.DIVISIBLE or size < self._left[job])

    def _longest(self, job: str) -> float | Fraction:
        speed = sum((self._known[job][node] for node in self._team(job)), Fraction(0))
        return self._left[job] / speed if speed else math.inf


def _copy(job: Job, rate: dict[str, Fraction]) -> Job:
    """Return what a copy of a job is to Hadar, at the throughputs that are known; all copies of it are the same."""
    return job.model_copy(update={"gang": 1, "rate": rate})
