"""Gavel: its rounds, as the Hadar paper describes them or as the code of Gavel's authors has them.

A share Y_j^r says which part of its time job j should run on devices of type r. In every round the pairs (j, r) are
taken by priority; a job gets its whole gang on that one type if so many devices are free, and runs on one type at most.
What a priority is, and what has none, is the `Mechanism`.

Where no shares are given they are those of one of Gavel's policies (`gavel_policies`) over the jobs at hand, found
anew, with the counts of rounds back at 0, whenever a job arrives or completes. Neither mechanism waits for that, as the
authors' code does: by default until 1920 seconds have gone by since it last found them. Until then the shares stand
there, and a job that has arrived has none and gets what is left.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import partial

import numpy as np

from dlsched.algorithms import simulator
from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.baselines.hadar.gavel_policies import Amounts, Policy, Watch, policy_shares
from dlsched.algorithms.baselines.hadar.max_min import DIGITS, Normaliser, Weights
from dlsched.algorithms.hadar.rounds import queues
from dlsched.algorithms.run import Event, Run, Stripped
from dlsched.arguments import Seed, checked
from dlsched.arithmetic import exact_power
from dlsched.errors import InputError
from dlsched.models.hadar import Instance, Job, Schedule, place, utility
from dlsched.models.numbers import rational, to_integers

Shares = Mapping[str, Mapping[str, float]]
"""Y: job name to type to the part of the time, absent types 0."""

_FINE = 2**64
"""Shares over rounds are compared in whole parts of this: far finer than a quotient by any number of slots."""

_WHOLE = int(exact_power(10, DIGITS))
"""All of the time, where shares are found and not given, as a whole number of the last digit that they have."""

_Units = dict[str, dict[str, int]]
"""Shares as multiples of one number."""


class Mechanism(StrEnum):
    """How the jobs of a round are chosen.

    Attributes
    ----------
    PAPER
        As the Hadar paper's motivational example has it (Section II-A, Fig. 1(a)): a priority is Y_j^r over the rounds
        that j has had on r, infinite if it has had none, ties by job and then type as listed; a share of 0 means never.
        On the example this takes 6 rounds and keeps 28 of 36 devices busy.
    CODE
        As scheduler/scheduler.py of Gavel's authors (github.com/stanford-futuredata/gavel at c4fa400) fills a round
        where speeds differ by type: the types are served one after the other, as listed; on each, a job goes by Y_j^r
        over its rounds there, half a round more for all, ties by what it lacks on that type since it came (Y_j^r of the
        rounds before the last change of the shares, less those it had), then by Y_j^r, then as listed; and devices that
        are left go to jobs with a share of 0. That code also finds new shares later than is done here (above).
    """

    PAPER = "paper"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Round(Event):
    """One round.

    Attributes
    ----------
    slot : int
    types : dict of str to str
        The type that each running job runs on.
    remaining : dict of str to Fraction
        Iterations left after the round, by job of the instance.
    busy : int
        Devices in use.
    """

    slot: int
    types: dict[str, str]
    remaining: dict[str, Fraction]
    busy: int


@checked
def run(
    instance: Instance,
    shares: Shares | None = None,
    *,
    seed: Seed = 0,
    mechanism: Mechanism | str = Mechanism.PAPER,
    policy: Policy | str = Policy.MAX_MIN_FAIRNESS,
    normaliser: Normaliser | str = Normaliser.PROPORTIONAL,
    weights: Weights | None = None,
    costs: Amounts | None = None,
    floors: Amounts | None = None,
) -> Run[Schedule]:
    """Schedule an instance by priorities in rounds; one round is one slot.

    Parameters
    ----------
    instance : Instance
    shares : mapping, optional
        Y, ``{job: {type: part}}``; by default those of the policy, kept up to date.
    seed : int or numpy.random.Generator
        Not used: nothing is drawn at random.
    mechanism : Mechanism
        How the jobs of a round are chosen.
    policy : Policy
        What Gavel optimises. Of no use where the shares are given, as what follows.
    normaliser : Normaliser
        What a job's throughput is measured in under max-min fairness.
    weights : mapping of str to number, optional
        How much each job counts under max-min fairness.
    costs : mapping of str to number, optional
        What a device of a type costs, for the sum of throughputs.
    floors : mapping of str to number, optional
        Least iterations per second of jobs, for the sum of throughputs.

    Returns
    -------
    Run
        There are no prices. The log has a `Round` for each slot in which a job is there, and a `Stripped` for each job
        that ran and does not finish.

    Raises
    ------
    InputError
        If a share is of an unknown job or type, negative or not finite, or a weight, cost or floor not positive and
        finite.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.gavel import run
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> run(instance, weights={"job2": 3}).utility
    17.0
    >>> run(instance, {"job2": {"type1": 1.0}, "job3": {"type2": 1.0}}).utility
    34.0
    >>> run(instance, mechanism="code").utility
    17.0
    """
    del seed
    gavel = _Rounds(instance, shares, mechanism, policy, normaliser, weights, costs, floors)
    remaining = {job.name: job.iterations for job in instance.jobs}
    counts: dict[int, dict[str, dict[str, int]]] = {}
    log: list[Event] = []
    for t, queue in queues(instance, remaining):
        types = gavel.types(queue, Fraction(t), remaining)
        for name, r in types.items():
            remaining[name] = max(Fraction(0), remaining[name] - instance.work(instance.job(name), r))
        counts[t] = {name: {r: instance.job(name).gang} for name, r in types.items()}
        log.append(Round(t, types, dict(remaining), sum(instance.job(name).gang for name in types)))
    return _result(instance, counts, remaining, log)


class Gavel(simulator.Policy):
    """Gavel in the simulator: the same rounds, of any length, and jobs that stay on a type stay on their devices.

    Parameters
    ----------
    shares, weights, costs, floors
        As for `run`.
    mechanism : Mechanism
        How the jobs of a round are chosen.
    policy : Policy
        What Gavel optimises.
    normaliser : Normaliser
        What a job's throughput is measured in under max-min fairness.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.gavel import Gavel
    >>> from dlsched.algorithms.simulator import run_policy
    >>> from dlsched.models import hadar
    >>> run_policy(hadar.random(0), Gavel()).utility
    17.0
    """

    name = "gavel"
    needs_rounds = True

    @checked
    def __init__(
        self,
        shares: Shares | None = None,
        *,
        mechanism: Mechanism | str = Mechanism.PAPER,
        policy: Policy | str = Policy.MAX_MIN_FAIRNESS,
        normaliser: Normaliser | str = Normaliser.PROPORTIONAL,
        weights: Weights | None = None,
        costs: Amounts | None = None,
        floors: Amounts | None = None,
    ) -> None:
        self._asked = (shares, mechanism, policy, normaliser, weights, costs, floors)
        self._rounds: _Rounds | None = None

    def decide(self, state: simulator.State, rng: np.random.Generator) -> simulator.Allocations:
        """Take the pairs of jobs and types by priority."""
        if self._rounds is None:
            self._rounds = _Rounds(state.instance, *self._asked)
        slot = state.time / state.instance.slot_seconds + 1
        types = self._rounds.types(state.jobs, slot, {job.name: state.remaining(job) for job in state.jobs})
        return simulator.settled(state, {name: {r: state.instance.job(name).gang} for name, r in types.items()})


class _Rounds:
    """The shares, kept up to date, and the rounds that jobs have had on types."""

    def __init__(
        self,
        instance: Instance,
        shares: Shares | None,
        mechanism: Mechanism | str,
        policy: Policy | str,
        normaliser: Normaliser | str,
        weights: Weights | None,
        costs: Amounts | None,
        floors: Amounts | None,
    ) -> None:
        for name in set(floors or ()).difference(job.name for job in instance.jobs):
            raise InputError(f"floors.{name}: unknown job")
        self._instance, self._fixed = instance, shares is not None
        self._chosen = {Mechanism.PAPER: self._by_priority, Mechanism.CODE: self._by_type}[Mechanism(mechanism)]
        self._policy, self._normaliser, self._weights = policy, normaliser, weights
        self._costs, self._floors = costs, floors or {}
        self._shares = {} if shares is None else _units(_checked(instance, shares))
        self._listed, self._watch = {job.name: i for i, job in enumerate(instance.jobs)}, Watch(instance)
        self._present: list[Job] = []
        self._given: Counter[tuple[str, str]] = Counter()
        self._lacking: Counter[tuple[str, str]] = Counter()
        self._past = 0

    def types(self, jobs: Sequence[Job], slot: Fraction, remaining: Mapping[str, Fraction]) -> dict[str, str]:
        """Return the type that each job runs on in the round that begins with a slot, or inside one."""
        present = sorted(jobs, key=lambda job: self._listed[job.name])
        if not self._fixed and self._present != present:
            self._begin(present, slot, remaining)
        self._present = present
        types = self._fitting(self._chosen())
        self._given.update(types.items())
        self._past += 1
        return types

    def _begin(self, present: list[Job], slot: Fraction, remaining: Mapping[str, Fraction]) -> None:
        """Find the shares of the jobs that are there from now on, and count their rounds anew."""
        for job in self._present:
            for r in self._instance.device_types:
                self._lacking[job.name, r] += self._share(job, r) * self._past - _WHOLE * self._given[job.name, r]
        self._shares, self._given, self._past = self._found(present, slot, remaining), Counter(), 0

    def _share(self, job: Job, r: str) -> int:
        return self._shares.get(job.name, {}).get(r, 0)

    def _by_priority(self) -> list[tuple[Job, str]]:
        """Return the pairs of jobs and types with a share, in the order of `Mechanism.PAPER`."""
        pairs: list[tuple[float, int, int]] = []
        for i, job in enumerate(self._present):
            for k, r in enumerate(self._instance.device_types):
                if share := self._share(job, r):
                    rounds = self._given[job.name, r]
                    pairs.append((-(share * _FINE // rounds) if rounds else -math.inf, i, k))
        return [(self._present[i], self._instance.device_types[k]) for _, i, k in sorted(pairs)]

    def _by_type(self) -> list[tuple[Job, str]]:
        """Return all pairs of jobs and types, in the order of `Mechanism.CODE`."""

        def order(job: Job, r: str) -> tuple[int, int, int]:
            share = self._share(job, r)
            return -(share * _FINE // (2 * self._given[job.name, r] + 1)), -self._lacking[job.name, r], -share

        return [(job, r) for r in self._instance.device_types for job in sorted(self._present, key=partial(order, r=r))]

    def _fitting(self, pairs: Iterable[tuple[Job, str]]) -> dict[str, str]:
        """Return the type that each job runs on, from pairs in the order in which they are taken."""
        free, types = dict(self._instance.capacity), {}
        for job, r in pairs:
            if job.name not in types and job.gang <= free[r] and job.rate_on(r):
                types[job.name] = r
                free[r] -= job.gang
        return types

    def _found(self, present: list[Job], slot: Fraction, remaining: Mapping[str, Fraction]) -> _Units:
        found = policy_shares(
            self._instance,
            present,
            self._policy,
            progress=self._watch.progress(present, slot, remaining),
            normaliser=self._normaliser,
            weights=self._weights,
            costs=self._costs,
            floors={job.name: self._floors[job.name] for job in present if job.name in self._floors} or None,
        )
        return {name: {r: round(share * _WHOLE) for r, share in by_type.items()} for name, by_type in found.items()}


def _result(
    instance: Instance,
    counts: dict[int, dict[str, dict[str, int]]],
    remaining: dict[str, Fraction],
    log: list[Event],
) -> Run[Schedule]:
    schedule = place(instance, counts)
    unfinished = [name for name in schedule.jobs if remaining[name] > 0]
    for name in unfinished:
        needed = instance.job(name).iterations
        log.append(Stripped(name, tuple(schedule.jobs[name].slots), needed - remaining[name], needed))
    kept = schedule.without(unfinished)
    return Run(kept, utility(instance, kept), {}, tuple(log))


def _units(shares: Shares) -> _Units:
    """Return shares as integers, so that equal quotients are equal and no other ones."""
    flat = {(name, r): rational(share) for name, by_type in shares.items() for r, share in by_type.items()}
    units: _Units = {name: {} for name in shares}
    for (name, r), share in zip(flat, to_integers(flat.values())[0], strict=True):
        units[name][r] = share
    return units


def _checked(instance: Instance, shares: Shares) -> Shares:
    jobs = {job.name for job in instance.jobs}
    for name, by_type in shares.items():
        if name not in jobs:
            raise InputError(f"shares.{name}: unknown job")
        for r, share in by_type.items():
            if r not in instance.device_types:
                raise InputError(f"shares.{name}.{r}: unknown device type")
            if not 0 <= share < math.inf:
                raise InputError(f"shares.{name}.{r}: {share} must be finite and not negative")
    return shares


ALGORITHM = Algorithm("gavel", "hadar", "Gavel: shares of time by a policy of its own, in rounds", run, policy=Gavel)
