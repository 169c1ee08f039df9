"""What is known of HadarE on an instance: one job on some of the nodes, and every run of a batch, in exact rationals.

Which copies Hadar puts on which nodes follows from prices that Section V does not speak of, so what the section says of
x copies is measured on all assignments. Steps are whole where there are several jobs (with divisible ones the printed
division never ends a job that does not have all nodes), and divisible in Cases I to IV, as the proof takes them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np

from dlsched.algorithms import Variant as Text
from dlsched.algorithms import hadar_e
from dlsched.algorithms.hadar import find_allocation
from dlsched.algorithms.hadar_e import Overheads, Steps, Throughputs, Tracker, copy_id
from dlsched.algorithms.hadar_e.assign import HadarOverCopies
from dlsched.algorithms.hadar_e.division import divide
from dlsched.algorithms.hadar_e.nodes import speed_on
from dlsched.algorithms.hadar_e.rounds import Round, Rules, play, trained
from dlsched.algorithms.hadar_e.schedule import ForkedSchedule, JobCopies, needed
from dlsched.algorithms.run import Event
from dlsched.bounds.claim import Source, Subject, Undecided
from dlsched.models.hadar import Instance, Job, Machine
from dlsched.models.utility import Table

MAX_STATES = 3000
"""Most different steps left of all jobs that a search over the assignments may come to. Arbitrary: a second or two."""

MAX_ROUNDS = 100
"""Most rounds of jobs whose nodes are fixed: beyond, they may never end. Arbitrary: the jobs of the paper take tens."""

Left = tuple[int, ...]
"""Whole steps left of each job, as listed."""

After = tuple[Left, int, int]
"""What a round leaves, the time for which its nodes are busy, and how long it is, in units of `ForkingFacts.unit`."""


@dataclass(frozen=True, slots=True)
class Span:
    """What the runs of so many rounds come to, at least and at most.

    Attributes
    ----------
    busy : (int, int)
        Time of all nodes.
    last : (int, int)
        Into the last round, after which all jobs are done.
    """

    busy: tuple[int, int]
    last: tuple[int, int]

    def with_other(self, other: Span) -> Span:
        """Return the span of the runs of both."""
        return Span(_hull(self.busy, other.busy), _hull(self.last, other.last))


def _hull(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return min(a[0], b[0]), max(a[1], b[1])


@dataclass(frozen=True, slots=True)
class Runs:
    """All runs of a batch.

    Attributes
    ----------
    cru, ttd : (Fraction, Fraction)
        The least and the greatest.
    waiting : Fraction
        The least that nodes are idle in all rounds but the last, in seconds.
    """

    cru: tuple[Fraction, Fraction]
    ttd: tuple[Fraction, Fraction]
    waiting: Fraction


class ForkingFacts:
    """What is known of copies on the nodes of an instance.

    Parameters
    ----------
    instance : Instance
    seed : int
        Not used: nothing is drawn.
    """

    def __init__(self, instance: Instance, seed: int) -> None:
        del seed
        self.instance = instance
        self.slot = instance.slot_seconds
        self.nodes = [machine.name for machine in instance.machines]
        self.speeds = {
            job.name: {machine.name: speed_on(job, machine) for machine in instance.machines} for job in instance.jobs
        }
        self._team_round = cache(self._uncached_team_round)
        self.runs = cache(self._uncached_runs)
        self._alone = cache(self._uncached_alone)
        self._assignments = cache(self._uncached_assignments)

    @property
    def n(self) -> int:
        """The number of nodes."""
        return len(self.nodes)

    @property
    def fewer(self) -> range:
        """The numbers of copies below n."""
        return range(1, self.n)

    @property
    def homogeneous(self) -> bool:
        """Whether every job is as fast on one node as on another."""
        return all(len(set(speed.values())) == 1 for speed in self.speeds.values())

    def shortest_above_slot(self) -> bool:
        """Tell whether T_S is shorter than the training of every job on the node that is fastest for it."""
        return all(job.iterations > max(self.speeds[job.name].values()) * self.slot for job in self.instance.jobs)

    @cached_property
    def fastest_first(self) -> tuple[str, ...]:
        """The nodes, the fastest for the first job first."""
        speed = self.speeds[self.instance.jobs[0].name]
        return tuple(sorted(self.nodes, key=lambda node: -speed[node]))

    def _uncached_alone(self, nodes: tuple[str, ...]) -> tuple[int, Fraction, Fraction | None]:
        """Return rounds, CRU and TTD of the first job on some nodes, a copy on each, with divisible steps."""
        only = self.instance.model_copy(update={"jobs": self.instance.jobs[:1]})
        jobs = dict.fromkeys(nodes, only.jobs[0].name)
        schedule = self._fixed(only, jobs, len(nodes), Text.CORRECTED, Steps.DIVISIBLE)
        rounds = max(slot for _, slot, _ in schedule.items())
        return rounds, self._cru(schedule, 1), hadar_e.total_time(only, schedule)

    def rounds_on(self, nodes: Sequence[str]) -> int:
        """Return the rounds that the first job takes on some nodes."""
        return self._alone(tuple(nodes))[0]

    def cru_on(self, nodes: Sequence[str]) -> Fraction:
        """Return CRU of the first job alone on some nodes."""
        return self._alone(tuple(nodes))[1]

    def cru_until_done(self, nodes: Sequence[str]) -> Fraction:
        """Return the same over the time until the job is done, not over whole rounds."""
        rounds, cru, seconds = self._alone(tuple(nodes))
        assert seconds is not None
        return cru * rounds * self.slot / seconds

    def cru(self, x: int) -> Fraction:
        """Return CRU of the first job, forked to x copies on the x fastest nodes."""
        return self.cru_on(self.fastest_first[:x])

    def one_each(self, copies: int, text: Text) -> Fraction:
        """Return CRU where each job has the node that is listed at its place until it is done; 0 if that is never."""
        return self._cru(self._of_their_own(copies, text), len(self.instance.jobs))

    @property
    def first_without_forking(self) -> Fraction:
        """CRU of the first round where each job has a node, without forking."""
        longer = self.instance.model_copy(update={"slots": MAX_ROUNDS})
        return hadar_e.utilisation_by_round(longer, self._of_their_own(1, Text.CORRECTED))[1]

    def _of_their_own(self, copies: int, text: Text) -> ForkedSchedule:
        """Return the schedule in which each job keeps the node that is listed at its place."""
        jobs = dict(zip(self.nodes, (job.name for job in self.instance.jobs), strict=False))
        return self._fixed(self.instance, jobs, copies, text, Steps.WHOLE)

    def _fixed(
        self, instance: Instance, jobs: Mapping[str, str], copies: int, text: Text, steps: Steps
    ) -> ForkedSchedule:
        """Return the schedule in which nodes keep their jobs."""
        names = [job.name for job in instance.jobs]
        rules = Rules(copies, len(names), text, steps, Overheads())
        numbers = {job: itertools.count(1) for job in names}
        own = {node: copy_id(names.index(job), next(numbers[job]), len(names)) for node, job in jobs.items()}

        def keep(slot: int, queue: list[Job], left: Mapping[str, Fraction], known: Throughputs) -> dict[str, int]:
            there = {job.name for job in queue}
            return {node: id for node, id in own.items() if jobs[node] in there}

        longer = instance.model_copy(update={"slots": MAX_ROUNDS})
        allocations, _ = play(longer, self.speeds, rules, keep, _tracker(instance, steps), Throughputs(self.speeds))
        return ForkedSchedule(
            copies=copies,
            max_job_count=len(names),
            steps=steps,
            jobs={name: JobCopies(slots=slots) for name, slots in allocations.items()},
        )

    def _cru(self, schedule: ForkedSchedule, jobs: int) -> Fraction:
        """Return CRU of a schedule; 0 where no more steps are done although jobs are not done."""
        longer = self.instance.model_copy(update={"jobs": self.instance.jobs[:jobs], "slots": MAX_ROUNDS})
        if len(hadar_e.completions(longer, schedule)) == jobs:
            return hadar_e.utilisation(longer, schedule)
        if any(slot == MAX_ROUNDS for _, slot, _ in schedule.items()):
            raise Undecided(f"{MAX_ROUNDS} rounds are not enough")
        return Fraction(0)

    @cached_property
    def run(self) -> tuple[list[Round], ForkedSchedule]:
        """HadarE on the batch with n copies and divisible steps: its rounds, and its schedule."""
        result = hadar_e.run(self.instance, steps=Steps.DIVISIBLE)
        return _rounds(result.log), result.schedule

    @property
    def before_last(self) -> list[Round]:
        """The rounds of that run but the last one."""
        return self.run[0][:-1]

    @cached_property
    def paying_before_last(self) -> list[Round]:
        """The rounds but the last one where Hadar's Algorithm 2 decides on the n copies of each job alone."""
        rules = Rules(self.n, len(self.instance.jobs), Text.CORRECTED, Steps.DIVISIBLE, Overheads())
        known = Throughputs(self.speeds)
        hadar = HadarOverCopies(self.instance, rules, known, find_allocation.MAX_STATES, alone=True)
        _, log = play(self.instance, self.speeds, rules, hadar, _tracker(self.instance, rules.steps), known)
        return _rounds(log)[:-1]

    @property
    def waiting(self) -> Fraction:
        """Seconds that nodes are idle in these rounds."""
        by_round = hadar_e.utilisation_by_round(self.instance, self.run[1])
        return sum((1 - by_round[event.slot] for event in self.before_last), Fraction(0)) * self.n * self.slot

    def with_copies(self, copies: int) -> Fraction:
        """Return CRU of HadarE with so many copies of every job, with divisible steps."""
        schedule = hadar_e.run(self.instance, copies=copies, steps=Steps.DIVISIBLE).schedule
        if len(hadar_e.completions(self.instance, schedule)) < len(self.instance.jobs):
            raise Undecided("some job is not done within T")
        return hadar_e.utilisation(self.instance, schedule)

    def _uncached_runs(self, copies: int, text: Text, idle: bool) -> Runs:
        """Return what all runs with so many copies of each job come to, with whole steps.

        Parameters
        ----------
        copies : int
        text : Variant
            Which division of the steps.
        idle : bool
            Whether nodes may stand idle for which there is a copy. Runs with a round that does no step are left out.
        """
        start = tuple(int(needed(job, Steps.WHOLE)) for job in self.instance.jobs)
        following = self._reachable(start, copies, text, idle)
        spans: dict[Left, dict[int, Span]] = {}
        waiting: dict[Left, int] = {}
        slot = int(self.slot * self.unit)
        whole = slot * self.n
        for left in sorted(following, key=sum):
            spans[left] = {}
            for after, busy, longest in following[left]:
                if not any(after):
                    _include(spans[left], 1, Span((busy, busy), (longest, longest)))
                    waiting[left] = 0
                for rounds, span in spans.get(after, {}).items():
                    _include(spans[left], rounds + 1, Span((span.busy[0] + busy, span.busy[1] + busy), span.last))
                if after in waiting:
                    waits = waiting[after] + whole - busy
                    waiting[left] = min(waiting.get(left, waits), waits)
        ends = spans[start]
        if not ends:
            raise Undecided("no run ends: some step does not fit a slot")
        crus = [Fraction(busy, whole * rounds) for rounds, span in ends.items() for busy in span.busy]
        times = [Fraction((rounds - 1) * slot + last, self.unit) for rounds, span in ends.items() for last in span.last]
        return Runs((min(crus), max(crus)), (min(times), max(times)), Fraction(waiting[start], self.unit))

    def _reachable(self, start: Left, copies: int, text: Text, idle: bool) -> dict[Left, set[After]]:
        """Return what every round may come to from each state with steps left that runs come to."""
        following: dict[Left, set[After]] = {}
        todo = [start]
        while todo:
            left = todo.pop()
            if left in following or not any(left):
                continue
            if len(following) >= MAX_STATES:
                raise Undecided(f"more than {MAX_STATES} states")
            jobs = tuple(j for j, steps in enumerate(left) if steps)
            outcomes = {self._round(left, teams, copies, text) for teams in self._assignments(jobs, copies, idle)}
            following[left] = {outcome for outcome in outcomes if outcome[0] != left}
            todo += [after for after, _, _ in following[left]]
        return following

    def _uncached_assignments(self, jobs: tuple[int, ...], copies: int, idle: bool) -> list[dict[int, tuple[str, ...]]]:
        """Return every choice of one of some jobs, or none, for each node: the nodes of each job."""
        choices: list[int | None] = [*jobs, None]
        ways = itertools.combinations_with_replacement if self.homogeneous else _product
        found = []
        for way in ways(choices, self.n):
            teams = {j: tuple(node for node, job in zip(self.nodes, way, strict=True) if job == j) for j in jobs}
            sizes = [len(team) for team in teams.values()]
            if max(sizes) <= copies and (idle or None not in way or min(sizes) == copies):
                found.append({j: team for j, team in teams.items() if team})
        return found

    def _round(self, left: Left, teams: Mapping[int, tuple[str, ...]], copies: int, text: Text) -> After:
        after, busy, longest = list(left), 0, 0
        for j, team in teams.items():
            steps, seconds, end = self._team_round(j, left[j], team, copies, text)
            after[j] -= steps
            busy += seconds
            longest = max(longest, end)
        return tuple(after), busy, longest

    def _uncached_team_round(
        self, j: int, left: int, team: tuple[str, ...], copies: int, text: Text
    ) -> tuple[int, int, int]:
        """Return the steps that a job's nodes do in a round, and the time of all of them and of the longest."""
        speed = self.speeds[self.instance.jobs[j].name]
        portions = divide(Fraction(left), speed, team, copies=copies, variant=text)
        done = [trained(speed[node], portion, self.slot, Steps.WHOLE) for node, portion in portions.items()]
        busy = [int(seconds * self.unit) for _, seconds in done]
        return int(sum(steps for steps, _ in done)), sum(busy), max(busy)

    @cached_property
    def unit(self) -> int:
        """How many units of time a second has, so that a slot and a step on any node are whole numbers of them."""
        speeds = [value for speed in self.speeds.values() for value in speed.values()]
        return math.lcm(self.slot.denominator, *(speed.numerator for speed in speeds))

    def spans_by_copies(self, text: Text, idle: bool = False) -> dict[str, Any]:
        """Return the least and the greatest CRU and TTD of all runs by the number of copies, as JSON data."""
        found = {x: self.runs(x, text, idle) for x in range(1, self.n + 1)}
        return {
            "CRU": {str(x): [*map(str, runs.cru)] for x, runs in found.items()},
            "TTD": {str(x): [*map(str, runs.ttd)] for x, runs in found.items()},
        }


def _tracker(instance: Instance, steps: Steps) -> Tracker:
    """Return a tracker of all jobs, with nothing done."""
    left = {parent: needed(job, steps) for parent, job in enumerate(instance.jobs)}
    return Tracker(left, max_job_count=len(instance.jobs))


def _rounds(log: Sequence[Event]) -> list[Round]:
    """Return the rounds of a run that has all jobs done."""
    rounds = [event for event in log if isinstance(event, Round)]
    if any(rounds[-1].left.values()):
        raise Undecided("some job is not done within T")
    return rounds


def _product(choices: Sequence[int | None], repeat: int) -> Iterator[tuple[int | None, ...]]:
    return itertools.product(choices, repeat=repeat)


def _include(spans: dict[int, Span], rounds: int, span: Span) -> None:
    spans[rounds] = spans[rounds].with_other(span) if rounds in spans else span


def single(rng: np.random.Generator) -> Instance:
    """Return one job of more than a slot on 3-4 nodes, every other time all equally fast; slots of a second."""
    n = int(rng.integers(3, 5))
    speeds = [Fraction(int(rng.integers(2, 7)), 2) for _ in range(n)]
    if rng.integers(2):
        speeds = speeds[:1] * n
    quarters = int(rng.integers(1, 4 * n))
    return _batch(Fraction(1), [(max(speeds) * (1 + Fraction(quarters, 4)), speeds)])


def batches(rng: np.random.Generator) -> Instance:
    """Return 2-3 jobs of little more than a slot on as many nodes; three times of four all equally fast."""
    n, slot, same = int(rng.integers(2, 4)), int(rng.integers(3, 5)), rng.integers(4) > 0
    jobs = []
    for _ in range(n):
        speeds = [Fraction(1)] * n if same else [Fraction(int(rng.integers(2, 5)), 2) for _ in range(n)]
        jobs.append((Fraction(max(speeds) * slot // 1 + int(rng.integers(1, 6))), speeds))
    return _batch(Fraction(slot), jobs)


def few(rng: np.random.Generator) -> Instance:
    """Return 1-3 jobs of more than a slot on more nodes, 3 or 4; slots of 2 s."""
    n, slot = int(rng.integers(3, 5)), 2
    jobs = []
    for _ in range(int(rng.integers(1, n))):
        speeds = [Fraction(int(rng.integers(2, 7)), 2) for _ in range(n)]
        jobs.append((Fraction(max(speeds) * slot // 1 + int(rng.integers(1, 9))), speeds))
    return _batch(Fraction(slot), jobs)


def hurried(rng: np.random.Generator) -> Instance:
    """Return a job on 2-3 nodes that is worth something until the fastest alone can have done it; slots of a second."""
    rounds = int(rng.integers(2, 5))
    speeds = [Fraction(int(rng.integers(1, 5))) for _ in range(int(rng.integers(2, 4)))]
    instance = _batch(Fraction(1), [(max(speeds) * rounds, speeds)])
    worth = Table(values=tuple(Fraction(10 * (d < rounds)) for d in range(instance.slots)))
    return instance.model_copy(update={"jobs": (instance.jobs[0].model_copy(update={"utility": worth}),)})


def _batch(slot: Fraction, jobs: Sequence[tuple[Fraction, Sequence[Fraction]]]) -> Instance:
    nodes = tuple(f"node{h + 1}" for h in range(len(jobs[0][1])))
    slots = 4 + 2 * int(sum(work / (min(speeds) * slot) for work, speeds in jobs))
    return Instance(
        slots=slots,
        slot_seconds=slot,
        device_types=nodes,
        machines=tuple(Machine(name=node, devices={node: 1}) for node in nodes),
        jobs=tuple(
            Job(
                name=f"job{j + 1}",
                arrival=1,
                gang=1,
                iterations=work,
                rate=dict(zip(nodes, speeds, strict=True)),
                utility=Table(values=(Fraction(1),) * slots),
            )
            for j, (work, speeds) in enumerate(jobs)
        ),
    )


SINGLE = Source("hadar/forked-jobs", single, cost=2)
BATCHES = Source("hadar/forked-batches", batches, cost=2)
FEW = Source("hadar/fewer-jobs", few)
HURRIED = Source("hadar/hurried-jobs", hurried)
FORKING = Subject(problem="hadar", instance=Instance, facts=ForkingFacts)
