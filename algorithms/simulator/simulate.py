"""Run a policy on a cluster over time, in exact rationals.

What is simulated is an instance of the Hadar problem: machines with devices of several types, gangs, rates by type,
arrivals in slots of L seconds. No other document is needed: a trace in seconds is an instance with slots of a second
(up to a million of them, eleven days; longer ones take slots of some seconds). So what reads, draws, checks, values and
solves instances serves simulations too. Slots only say when jobs arrive, (a_j - 1) L, and what their durations are
counted in; between them time is continuous. Weights of jobs are parameters of the policies that know them.

The rules

- In rounds of R seconds, which start at 0, R, 2 R, ..., a policy decides at the start of each in which a job is there.
  Rounds in which only jobs are there that the whole cluster cannot run may be passed over.
  A job that is done inside a round leaves at that very moment, and its devices idle until the round ends.
- Without rounds it decides when a job arrives or is done, and the devices of that one are free at once.
- Either way it is asked again at the moment that its `wake` names.
- A job that gets other devices than it had at that moment, its first ones included, restarts: it holds them and does
  nothing for `restart_seconds`. One that keeps its devices goes on.
- Nothing runs after the end, at most the last slot's; jobs that are not done by then stay undone.

Times are sums and quotients of the data. In rounds their denominators stay those of the data. At events a completion
may decide when the next job starts, and so on: denominators are products along such chains, and it is rates with few
digits, or run times in whole seconds, that keep them short.

SimPy was looked at and left out: its processes and resources would have to be interrupted at every preemption, its
resources know neither gangs nor device types, and what it would replace is the heap of completions below.
"""

from __future__ import annotations

import copy
import heapq
import inspect
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from operator import index
from typing import Any, cast

import numpy as np

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.run import Event, Run, Stripped
from dlsched.algorithms.simulator.check import check
from dlsched.algorithms.simulator.policy import Allocations, Holding, Policy, State, arrival_of, parts, speed_of
from dlsched.algorithms.simulator.simulation import Moment, Segment, Simulation, schedule
from dlsched.arguments import Seed, checked, described, generator, not_negative, positive
from dlsched.errors import InputError, shown
from dlsched.halt import cut, poll
from dlsched.models.hadar import Instance, Job, Schedule, utility
from dlsched.models.hadar.schedule import Allocation, gang
from dlsched.models.numbers import rational, to_json

_MOST_ROUNDS = 10_000_000
"""That a simulation may need. Arbitrary: ten times as many as an instance has slots, at most; they take minutes."""


class ImpossibleAllocation(InputError):
    """A policy gave what cannot be given; the message names the policy, the moment, and the job or the device.

    Examples
    --------
    >>> from dlsched.algorithms.simulator import ImpossibleAllocation, Policy, simulate
    >>> from dlsched.models import hadar
    >>> class Generous(Policy):
    ...     name = "generous"
    ...     def decide(self, state, rng):
    ...         return {job.name: {"machine2": {"type1": job.gang}} for job in state.jobs}
    >>> try:
    ...     simulate(hadar.random(0), Generous(), round_seconds=1)
    ... except ImpossibleAllocation as refused:
    ...     print(refused)
    policy generous at 1 s: job job2, machine machine2, type type1: 3 devices given of the 1 there
    """


@checked
def simulate(
    instance: Instance,
    policy: Policy,
    *,
    round_seconds: float | Fraction | None,
    restart_seconds: float | Fraction = 0,
    seed: Seed = 0,
    horizon: float | Fraction | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Simulation:
    """Run a policy on an instance.

    Parameters
    ----------
    instance : Instance
    policy : Policy
    round_seconds : number or None
        Length of a round; None for decisions at events.
    restart_seconds : number
        That a job does nothing on a new allocation.
    seed : int or numpy.random.Generator
        Of what the policy draws.
    horizon : number, optional
        Seconds after which nothing runs; by default, and at most, the end of the instance's last slot.
    progress : callable, optional
        Told (how many jobs are done, how many there are) at every decision.

    Raises
    ------
    InputError
        If a number is out of range, rounds are so short that there are tens of millions, or the policy needs rounds and
        there are none.
    ImpossibleAllocation
        If the policy gives a job that is not there anything, devices that are not there, or not a whole gang.
    RuntimeError
        If what was simulated breaks a law of `check`: a defect of this module.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.fifo import Fifo
    >>> from dlsched.algorithms.simulator import simulate
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> at_events = simulate(instance, Fifo(), round_seconds=None)
    >>> {job: round(float(end), 3) for job, end in at_events.completions.items()}
    {'job2': 2.167, 'job3': 2.5}
    >>> in_rounds = simulate(instance, Fifo(), round_seconds=1, restart_seconds=0.25)
    >>> {job: round(float(end), 3) for job, end in in_rounds.completions.items()}
    {'job2': 2.417}
    """
    state, end = begun(instance, policy, round_seconds, restart_seconds, horizon)
    simulation = _Engine(state, copy.deepcopy(policy), generator(seed), end).run(progress)
    broken = cut(partial(check, simulation))
    if broken:
        raise RuntimeError(f"the simulation of policy {policy.name} breaks a law: {broken[0]}")
    return simulation


def begun(
    instance: Instance,
    policy: Policy,
    round_seconds: float | Fraction | None,
    restart_seconds: float | Fraction,
    horizon: float | Fraction | None,
) -> tuple[State, Fraction]:
    """Return the state at the beginning, and the moment of the end; refuse what `simulate` refuses."""
    positive(round_seconds=round_seconds, horizon=horizon)
    not_negative(restart_seconds=restart_seconds)
    last = instance.slots * instance.slot_seconds
    end = last if horizon is None else rational(horizon)
    if end > last:
        raise InputError(f"horizon: {to_json(end)} s is after the last slot, which ends at {to_json(last)} s")
    if round_seconds is None and policy.needs_rounds:
        raise InputError(f"round_seconds: policy {policy.name} decides in rounds; say how long they are")
    rounds = None if round_seconds is None else rational(round_seconds)
    if rounds is not None and (least := _least_time(instance, policy, end) / rounds) > _MOST_ROUNDS:
        raise InputError(
            f"round_seconds: {to_json(rounds)} s make at least {float(least):.3g} rounds, more than {_MOST_ROUNDS}; "
            "longer rounds will do, or decisions at events"
        )
    return State(instance, rounds, rational(restart_seconds)), end


def _least_time(instance: Instance, policy: Policy, end: Fraction) -> Fraction:
    """Return seconds in which some job is there whatever the policy decides: until it is done at its fastest."""
    least = Fraction(0)
    for job in instance.jobs:
        if levels := instance.levels(job):
            gangs = instance.devices // job.gang if policy.copies else 1
            fastest = gangs * job.gang * job.rate_on(levels[0])
            least = max(least, min(job.iterations / fastest, end - arrival_of(instance, job)))
    return least


class _Engine:
    """One simulation under way."""

    def __init__(self, state: State, policy: Policy, rng: np.random.Generator, end: Fraction) -> None:
        self.state, self.policy, self.rng, self.end = state, policy, rng, end
        self.instance = state.instance
        self.coming = deque(sorted(self.instance.jobs, key=lambda job: job.arrival))
        self.ending: list[tuple[Fraction, int, Job, Holding]] = []
        self.given = 0
        self.there = {(m.name, r): count for m in self.instance.machines for r, count in m.devices.items()}
        self.wake: Fraction | None = None
        self.allocations: dict[str, Allocation] = {}
        self.used: Counter[tuple[str, str]] = Counter()
        self.segments: list[Segment] = []
        self.completions: dict[str, Fraction] = {}
        self.moments: list[Moment] = []

    def run(self, progress: Callable[[int, int], None] | None) -> Simulation:
        """Go from decision to decision until the end."""
        while (moment := self._next()) is not None and moment < self.end:
            poll()
            self.wake = None
            self._advance(moment)
            while self.coming and arrival_of(self.instance, self.coming[0]) <= moment:
                self.state.arrive(self.coming.popleft())
            if self.state.jobs:
                self._decide()
            if progress is not None:
                progress(len(self.completions), len(self.instance.jobs))
        self._advance(self.end)
        for name in list(self.state.current):
            self._take(self.instance.job(name))
        state = self.state
        return Simulation(
            instance=self.instance,
            policy=self.policy.name,
            round_seconds=state.round_seconds,
            restart_seconds=state.restart_seconds,
            copies=self.policy.copies,
            end=self.end,
            segments=tuple(self.segments),
            completions=self.completions,
            moments=tuple(self.moments),
        )

    def _next(self) -> Fraction | None:
        """Return the moment of the next decision; None where there is none to come."""
        arrival = arrival_of(self.instance, self.coming[0]) if self.coming else None
        moments = [self.wake]
        if self.state.round_seconds is None:
            moments += [arrival, self._completion()]
        elif any(self.instance.levels(job) for job in self.state.jobs):
            moments.append((self.state.time // self.state.round_seconds + 1) * self.state.round_seconds)
        elif arrival is not None:
            moments.append(math.ceil(arrival / self.state.round_seconds) * self.state.round_seconds)
        return min((moment for moment in moments if moment is not None), default=None)

    def _completion(self) -> Fraction | None:
        """Return when the next job is done, if all keep what they have."""
        while self.ending and self.state.holdings.get(self.ending[0][2].name) is not self.ending[0][3]:
            heapq.heappop(self.ending)
        return self.ending[0][0] if self.ending else None

    def _advance(self, to: Fraction) -> None:
        """Let time go on to a moment, and jobs be done on the way."""
        while (moment := self._completion()) is not None and moment <= to:
            job = self.ending[0][2]
            self.state.time = self.completions[job.name] = moment
            self._take(job)
            self.state.leave(job)
        self.state.time = to

    def _decide(self) -> None:
        """Ask the policy and do what it says, if it can be done."""
        state, before = self.state, dict(self.allocations)
        began = time.perf_counter()
        given = self.policy.decide(state, self.rng)
        seconds = time.perf_counter() - began
        if not isinstance(given, Mapping):
            raise self._impossible("", f"gives {described(given)} and not a mapping of jobs to devices")
        plain = {name: self._plain(name, a) for name, a in given.items() if not self._is_kept(name, a)}
        self._undo_edits()
        fresh = {name: allocation for name, allocation in plain.items() if allocation != before.get(name, {})}
        jobs = {name: self._job(name, allocation) for name, allocation in fresh.items()}
        lost = [name for name in before if name not in given or name in fresh]
        taken = {name: self._take(self.instance.job(name)) for name in lost}
        for name, allocation in fresh.items():
            if allocation:
                self._give(jobs[name], allocation, taken.get(name))
        self._refuse_too_many(fresh)
        self.wake = self.policy.wake(state)
        if self.wake is not None and self.wake <= state.time:
            raise self._impossible("", f"wants to be asked again at {to_json(self.wake)} s")
        in_use = sum(holding.devices for holding in state.holdings.values())
        self.moments.append(Moment(state.time, len(state.jobs), in_use, bool(fresh or lost), bool(lost), seconds))

    def _is_kept(self, name: str, allocation: object) -> bool:
        """Tell whether an allocation is the one that a job has, as the policy was given it and did not edit it."""
        return allocation is self.state.current.get(name, self) and allocation == self.allocations[name]

    def _undo_edits(self) -> None:
        """Make what a policy edited of the state what jobs have."""
        for name, allocation in self.allocations.items():
            if (shown := self.state.current[name]) != allocation:
                shown.clear()
                shown.update(_copied(allocation))

    def _give(self, job: Job, allocation: Allocation, before: Holding | None) -> None:
        now = self.state.time
        goes_on = before is not None and self.policy.copies and allocation.items() <= before.allocation.items()
        ready = max(now, before.ready) if before and goes_on else now + self.state.restart_seconds
        speed = speed_of(job, allocation, copies=self.policy.copies)
        done = ready + self.state.remaining(job) / speed if speed else None
        holding = Holding(_copied(allocation), now, ready, done, speed, gang(allocation))
        self.allocations[job.name] = allocation
        for cell, count in _cells(allocation):
            self.used[cell] += count
        self.state.give(job, holding)
        if done is not None:
            self.given += 1
            heapq.heappush(self.ending, (done, self.given, job, holding))

    def _take(self, job: Job) -> Holding:
        holding, allocation = self.state.take(job), self.allocations.pop(job.name)
        for cell, count in _cells(allocation):
            self.used[cell] -= count
        self.segments.append(Segment(job.name, allocation, holding.start, holding.ready, self.state.time))
        return holding

    def _plain(self, name: str, allocation: Allocation) -> Allocation:
        """Return a copy of an allocation without what is empty, its numbers Python's."""
        try:
            found = {machine: {r: index(n) for r, n in devices.items()} for machine, devices in allocation.items()}
        except (AttributeError, TypeError):
            message = "its allocation is no mapping of machines to types to whole numbers of devices"
            raise self._impossible(f"job {shown(name)}", message) from None
        kept = {machine: {r: n for r, n in devices.items() if n} for machine, devices in found.items()}
        return {machine: devices for machine, devices in kept.items() if devices}

    def _job(self, name: str, allocation: Allocation) -> Job:
        """Return the job of a name, if it may have an allocation as far as that can be said of it alone."""
        if not self.state.is_here(name):
            raise self._impossible(f"job {shown(name)}", "is not there: it has not arrived, or is done")
        job = self.instance.job(name)
        for (machine, r), count in _cells(allocation):
            there = self.there.get((machine, r), 0)
            if not 0 < count <= there:
                place = f"job {name}, machine {machine}, type {r}"
                raise self._impossible(place, f"{count} devices given of the {there} there")
        for part in parts(allocation, copies=self.policy.copies):
            if part and gang(part) != job.gang:
                raise self._impossible(f"job {name}", f"{gang(part)} devices given, which are not its gang {job.gang}")
        return job

    def _refuse_too_many(self, fresh: Allocations) -> None:
        for name, allocation in fresh.items():
            for cell, _ in _cells(allocation):
                if self.used[cell] > self.there[cell]:
                    place = "machine {}, type {}".format(*cell)
                    message = f"{self.used[cell]} devices given of the {self.there[cell]} there"
                    raise self._impossible(place, f"{message}, job {name}'s among them")

    def _impossible(self, place: str, message: str) -> ImpossibleAllocation:
        where = f"{place}: " if place else ""
        return ImpossibleAllocation(f"policy {self.policy.name} at {to_json(self.state.time)} s: {where}{message}")


def _copied(allocation: Allocation) -> Allocation:
    """Return a copy, for policies to see: one that edits it changes nothing."""
    return {machine: dict(devices) for machine, devices in allocation.items()}


def _cells(allocation: Allocation) -> Iterator[tuple[tuple[str, str], int]]:
    for machine, devices in allocation.items():
        for r, count in devices.items():
            yield (machine, r), count


@checked
def run_policy(instance: Instance, policy: Policy, seed: Seed = 0) -> Run[Schedule]:
    """Run a policy in rounds of a slot, without restarts: an algorithm for the problem itself.

    Returns
    -------
    Run
        There are no prices. The log has a `Stripped` for each job that ran and is not done.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.srtf import Srtf
    >>> from dlsched.algorithms.simulator import run_policy
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> run = run_policy(instance, Srtf())
    >>> run.utility, hadar.check(instance, run.schedule)
    (34.0, [])
    """
    simulation = simulate(instance, policy, round_seconds=instance.slot_seconds, seed=seed)
    work, ran = simulation.work(), dict[str, list[int]]()
    for segment in simulation.segments:
        first, beyond = (int(edge / instance.slot_seconds) + 1 for edge in (segment.start, segment.end))
        ran.setdefault(segment.job, []).extend(range(first, beyond))
    log: list[Event] = [
        Stripped(name, tuple(ran[name]), work[name], instance.job(name).iterations)
        for name in ran
        if name not in simulation.completions
    ]
    found = schedule(simulation)
    return Run(found, utility(instance, found), {}, tuple(log))


@checked
def policy_algorithm(name: str, title: str, policy: type[Policy], also: tuple[str, ...] = ()) -> Algorithm:
    """Return the algorithm that runs a policy by `run_policy`; its options are those of the policy.

    Parameters
    ----------
    name, title, also
        As of an `Algorithm`.
    policy : type
        Its constructor has keyword parameters with defaults.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.srtf import Srtf
    >>> from dlsched.algorithms.simulator import policy_algorithm
    >>> from dlsched.models import hadar
    >>> algorithm = policy_algorithm("soonest", "who can be done soonest goes first", Srtf)
    >>> algorithm.run(hadar.random(0), placement="any").utility
    34.0
    >>> algorithm.policy(placement="any").name
    'srtf'
    """

    def run(instance: Instance, *, seed: Seed = 0, **options: Any) -> Run[Schedule]:
        return run_policy(instance, policy(**options), seed)

    first = list(inspect.signature(run, eval_str=True).parameters.values())[:2]
    own = inspect.signature(policy, eval_str=True).parameters.values()
    # What makes options of an algorithm's parameters, and help of its docstring, finds those of the policy.
    told = cast(Any, run)
    told.__signature__, told.__doc__ = inspect.Signature([*first, *own]), policy.__doc__
    return Algorithm(name, "hadar", title, run, policy=policy, also=also)
