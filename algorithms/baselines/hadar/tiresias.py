"""Tiresias (Gu et al., NSDI 2019): least attained service in a few queues, blind to device types.

A job's attained service is the device-seconds that it has had (2D-LAS). All begin in the first queue; one that has had
as much as its queue's threshold goes to the end of the next. Queues are served in order, and within a queue jobs in
theirs, each that still fits. After each decision those of a queue that run come before those that wait, which else
changes no order: who is preempted stands before those who have waited all the while. PromoteKnob: a job that has run
and then waited, since it came to the first queue, for so many times as long as it has run since then starts anew at the
end of the first queue, its service and waiting counted from 0. (One that has waited enough when it is preempted does so
at the next decision.)

This is `dlas_sim_jobs` of the authors' simulator (github.com/SymbioticLab/Tiresias at 959f9b0), but for the moment of a
demotion: it waits for ``(threshold - executed) / gpus`` more seconds, where ``executed`` is in seconds and not in
device-seconds, and for whole seconds. Here a demotion is at the moment at which the service reaches the threshold; in
rounds, at the start of the next one. The Hadar paper has it with two queues and no promotions. Its placement by
model skew is not here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from dlsched.algorithms.simulator.placement import Placement, arranged
from dlsched.algorithms.simulator.policy import Allocations, Holding, Policy, State
from dlsched.algorithms.simulator.simulate import policy_algorithm
from dlsched.arguments import checked, positive
from dlsched.errors import InputError
from dlsched.models.hadar import Job
from dlsched.models.numbers import amount, rational

THRESHOLD = 3600
"""Device-seconds after which a job leaves the first of two queues: the example of the simulator's documentation."""


@dataclass(slots=True)
class _Place:
    """Where a job stands: its queue, the service it had when it came to the first one, and how long it waited since.

    On the devices of `holding` it ``leaves`` its queue at that moment.
    """

    queue: int = 0
    before: Fraction = Fraction(0)
    waited: Fraction = Fraction(0)
    holding: Holding | None = None
    leaves: Fraction = Fraction(0)


class Tiresias(Policy):
    """Discretised least attained service.

    Parameters
    ----------
    thresholds : number or sequence of number
        Device-seconds after which a job leaves each queue but the last, rising; one number for two queues.
    promote_knob : number, optional
        A job that has waited so many times as long as it has run goes to the first queue again; none if left out.
    placement : {"any", "one-type", "fastest"}
        Which of the free devices a gang gets.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.hadar.tiresias import Tiresias
    >>> from dlsched.algorithms.simulator import run_policy
    >>> from dlsched.models import hadar
    >>> run_policy(hadar.random(0), Tiresias()).utility
    17.0
    """

    name = "tiresias"

    @checked
    def __init__(
        self,
        *,
        thresholds: float | Fraction | Sequence[float | Fraction] = THRESHOLD,
        promote_knob: float | Fraction | None = None,
        placement: Placement | str = Placement.ANY,
    ) -> None:
        positive(promote_knob=promote_knob)
        listed = list(thresholds) if isinstance(thresholds, Sequence) else [thresholds]
        self._thresholds = [amount(f"thresholds[{i}]", threshold) for i, threshold in enumerate(listed)]
        if not all(low < high for low, high in pairwise([Fraction(0), *self._thresholds])):
            raise InputError(f"thresholds: {listed} must be positive and rise")
        self._knob = None if promote_knob is None else rational(promote_knob)
        self._placement = Placement(placement)
        self._queues: list[dict[str, Job]] = [{} for _ in range(len(listed) + 1)]
        self._places: dict[str, _Place] = {}
        self._time = Fraction(0)

    def decide(self, state: State, rng: np.random.Generator) -> Allocations:
        """Serve the queues in order."""
        for queue in self._queues:
            for name in [name for name in queue if not state.is_here(name)]:
                del queue[name], self._places[name]
        for job in state.jobs:
            if job.name not in self._places:
                self._places[job.name] = _Place()
                self._queues[0][job.name] = job
        for job in self._moving(state):
            self._move(state, job)
        self._time = state.time
        given = arranged(state, (job for queue in self._queues for job in queue.values()), self._placement)
        self._queues = [dict(sorted(queue.items(), key=lambda item: item[0] not in given)) for queue in self._queues]
        return given

    def _moving(self, state: State) -> list[Job]:
        """Return the jobs that may change their queues: those that run, and where there are promotions all."""
        return [job for job in state.jobs if self._knob is not None or job.name in state.current]

    def _move(self, state: State, job: Job) -> None:
        """Put a job into the queue where it belongs now."""
        place = self._places[job.name]
        old = place.queue
        if job.name in state.current:
            while (moment := self._leaves(state, job)) is not None and moment <= state.time:
                place.queue, place.holding = place.queue + 1, None
        elif served := self._served(state, job):
            place.waited += state.time - self._time
            if self._knob is not None and old and place.waited >= self._knob * served / job.gang:
                self._places[job.name] = place = _Place(before=state.attained(job))
        if place.queue != old:
            del self._queues[old][job.name]
            self._queues[place.queue][job.name] = job

    def _served(self, state: State, job: Job) -> Fraction:
        return state.attained(job) - self._places[job.name].before

    def _leaves(self, state: State, job: Job) -> Fraction | None:
        """Return when a running job leaves its queue; None if that is the last."""
        place, holding = self._places[job.name], state.holdings[job.name]
        if place.queue == len(self._thresholds):
            return None
        if place.holding is not holding:
            place.holding = holding
            place.leaves = state.time + (self._thresholds[place.queue] - self._served(state, job)) / job.gang
        return place.leaves

    def wake(self, state: State) -> Fraction | None:
        """Return when the next job changes its queue; in rounds that is looked at when they start."""
        if state.round_seconds is not None:
            return None
        changes = (moment for moment in self._changes(state) if moment is not None and moment > state.time)
        return min(changes, default=None)

    def _changes(self, state: State) -> Iterator[Fraction | None]:
        for job in self._moving(state):
            place = self._places[job.name]
            if job.name in state.current:
                yield self._leaves(state, job)
            elif self._knob is not None and place.queue and (served := self._served(state, job)):
                yield state.time + self._knob * served / job.gang - place.waited


ALGORITHM = policy_algorithm("tiresias", "Tiresias: two queues by attained device-seconds, preemptive", Tiresias)
run = ALGORITHM.run
