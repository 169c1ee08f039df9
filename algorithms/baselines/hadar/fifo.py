"""First in, first out, not preemptive: YARN's capacity scheduler (YARN-CS) with one queue.

Within a queue the capacity scheduler's default ordering policy is FIFO, and without its preemption monitor an
application keeps what it has until it ends. Training jobs start as whole gangs, as in Tiresias' simulator
(github.com/SymbioticLab/Tiresias at 959f9b0, `one_queue_fifo_sim_jobs`).

While the first job in the queue does not fit, what happens to those behind it is the option `backfill`. EASY (Lifka,
1995; Mu'alem and Feitelson, TPDS 2001) reserves for the first job: the shadow time is when it will fit if running jobs
end as they will, and another job may start if it ends by then, or if it fits beside what the first one will get. Run
times are known here, so the first job never starts later than without backfill.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction

import numpy as np

from dlsched.algorithms.simulator.placement import Placement, Room
from dlsched.algorithms.simulator.policy import Allocations, Policy, State, speed_of
from dlsched.algorithms.simulator.simulate import policy_algorithm
from dlsched.arguments import checked
from dlsched.models.hadar import Job
from dlsched.models.hadar.schedule import Allocation


class Backfill(StrEnum):
    """Who may start before the first job in the queue: nobody, whoever does not delay it (EASY), whoever fits.

    The last is Tiresias' `fit_first_sim_jobs`; a large job may wait for ever.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.fifo import Backfill, Fifo
    >>> from dlsched.algorithms.simulator import run_policy
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(4, jobs=5)
    >>> {backfill.value: run_policy(instance, Fifo(backfill=backfill)).utility for backfill in Backfill}
    {'none': 19.0, 'easy': 37.0, 'any': 37.0}
    """

    NONE = "none"
    EASY = "easy"
    ANY = "any"


class Fifo(Policy):
    """First in, first out.

    Parameters
    ----------
    backfill : {"none", "easy", "any"}
        Who may start before the first job in the queue.
    placement : {"any", "one-type", "fastest"}
        Which of the free devices a gang gets.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.fifo import Fifo
    >>> from dlsched.algorithms.simulator import run_policy
    >>> from dlsched.models import hadar
    >>> run_policy(hadar.random(0), Fifo(backfill="easy", placement="fastest")).utility
    17.0
    """

    @checked
    def __init__(self, *, backfill: Backfill | str = Backfill.NONE, placement: Placement | str = Placement.ANY) -> None:
        self._backfill, self._placement = Backfill(backfill), Placement(placement)
        self.name = "fifo" if self._backfill is Backfill.NONE else f"fifo-{self._backfill}"
        self._able: dict[str, bool] = {}

    def decide(self, state: State, rng: np.random.Generator) -> Allocations:
        """Start the first jobs of the queue, and those that may overtake the one that has to wait."""
        given = dict(state.current)
        room = Room(state.instance, given.values())
        queue = [job for job in state.jobs if job.name not in given and self._is_able(state, job)]
        for i, job in enumerate(queue):
            found = room.place(job, self._placement)
            if found is not None:
                given[job.name] = found
            elif self._backfill is not Backfill.ANY:
                if self._backfill is Backfill.EASY and room.devices:
                    self._fill(state, room, given, queue[i:])
                break
        return given

    def _is_able(self, state: State, job: Job) -> bool:
        """Tell whether a job fits the empty cluster; one that does not would hold up all others for ever."""
        if job.name not in self._able:
            self._able[job.name] = Room(state.instance).find(job, self._placement) is not None
        return self._able[job.name]

    def _fill(self, state: State, room: Room, given: dict[str, Allocation], queue: Sequence[Job]) -> None:
        """Let those behind the first job start that do not delay it."""
        shadow, beside = self._reservation(state, given, queue[0])
        both = room.common(beside)
        for job in queue[1:]:
            found = room.find(job, self._placement)
            if found is not None and _end(state, job, found) > shadow:
                found = both.find(job, self._placement)
                if found is not None:
                    beside.take(found)
            if found is not None:
                room.take(found)
                both = room.common(beside)
                given[job.name] = found

    def _reservation(self, state: State, given: Allocations, first: Job) -> tuple[Fraction, Room]:
        """Return when the first job will fit if those that run end as they will, and what it leaves free then."""
        room, shadow = Room(state.instance, given.values()), state.time
        ends = sorted(((_end(state, state.instance.job(n), a), n) for n, a in given.items()), reverse=True)
        while (found := room.find(first, self._placement)) is None:
            shadow = ends[-1][0]
            while ends and ends[-1][0] == shadow:
                room.give_back(given[ends.pop()[1]])
        room.take(found)
        return shadow, room


def _end(state: State, job: Job, allocation: Allocation) -> Fraction:
    """Return when others can have a job's devices if it has those from now on."""
    held = state.holdings.get(job.name)
    end = held.done if held else None
    if end is None:
        speed = speed_of(job, allocation, copies=False)
        end = state.time + state.restart_seconds + state.remaining(job) / speed
    if state.round_seconds is None:
        return end
    return math.ceil(end / state.round_seconds) * state.round_seconds


ALGORITHM = policy_algorithm("fifo", "FIFO, or YARN-CS: by arrival, not preemptive", Fifo, also=("yarn-cs",))
run = ALGORITHM.run
