"""Algorithm 1: in every round the queue is allocated anew, and jobs run one slot at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dlsched.algorithms.hadar.find_allocation import Finder
from dlsched.algorithms.hadar.occupancy import Counts, Occupancy
from dlsched.algorithms.hadar.selection import Selection, select_corrected, select_printed
from dlsched.algorithms.run import Decision, Event, Stripped, Variant
from dlsched.models.hadar import Instance, Job

Plans = dict[str, dict[int, Counts]]


@dataclass(frozen=True, slots=True)
class Round(Event):
    """One round of Algorithm 1.

    Attributes
    ----------
    slot : int
    queue : tuple of str
        Jobs that have arrived and have work left, in order of arrival.
    selected : tuple of str
    states, calls : int
        Distinct states of DP_allocation, and its calls.
    limited : bool
        The state limit was hit; the corrected selection is then greedy, the printed one is empty as it always is.

    Examples
    --------
    >>> from dlsched.algorithms import hadar
    >>> from dlsched.models.hadar import random
    >>> for event in hadar.run(random(0), mode="rounds").log:
    ...     if isinstance(event, hadar.Round):
    ...         print(event.slot, event.queue, event.selected)
    1 ('job1',) ()
    2 ('job1', 'job2') ('job2',)
    3 ('job1', 'job2', 'job3') ('job2', 'job3')
    """

    slot: int
    queue: tuple[str, ...]
    selected: tuple[str, ...]
    states: int
    calls: int
    limited: bool


@dataclass(frozen=True, slots=True)
class Rules:
    """How the rounds are run.

    Attributes
    ----------
    variant : Variant
    comm_cost : float
        Utility that an allocation over several machines costs in a round.
    max_states : int
        Most states of DP_allocation in a round.
    """

    variant: Variant
    comm_cost: float
    max_states: int


def rounds(instance: Instance, occupancy: Occupancy, rules: Rules) -> tuple[Plans, list[Event]]:
    """Run every round; return what the jobs that finish use, by job and slot, and the log.

    Each round starts from empty devices and lowest prices: what a job held is released. A job's completion is estimated
    from its remaining iterations at the rate of the allocation in question.

    Parameters
    ----------
    instance : Instance
    occupancy : Occupancy
        Changed by every allocation, also by those of jobs that do not finish in the end.
    rules : Rules
    """
    remaining = {job.name: job.iterations for job in instance.jobs}
    plans: Plans = {job.name: {} for job in instance.jobs}
    log: list[Event] = []
    for t, queue in queues(instance, remaining):
        finder = Finder(instance, occupancy, rules.variant, rules.comm_cost, t, remaining)
        selection = select(finder, queue, rules)
        names = tuple(job.name for job, _ in selection.selected)
        log.append(
            Round(t, tuple(job.name for job in queue), names, selection.states, selection.calls, selection.limited)
        )
        for job, offer in selection.selected:
            plans[job.name][t] = offer.counts
            remaining[job.name] -= _done(instance, occupancy, job, offer.counts)
            steps = occupancy.commit({t: offer.counts})
            log.append(Decision(job.name, t, True, offer.payoff, offer.completion, steps))
    return _strip(instance, plans, remaining, log), log


def queues(instance: Instance, remaining: Mapping[str, Fraction]) -> Iterator[tuple[int, list[Job]]]:
    """Yield each slot in which jobs are there that have work left, and these jobs in order of arrival.

    Parameters
    ----------
    instance : Instance
    remaining : mapping of str to Fraction
        Iterations left, by job; looked at anew for each slot.
    """
    coming = deque(sorted(instance.jobs, key=lambda job: job.arrival))
    here: list[Job] = []
    t = 1
    while t <= instance.slots and (here or coming):
        if not here:
            t = max(t, coming[0].arrival)
        while coming and coming[0].arrival <= t:
            here.append(coming.popleft())
        yield t, list(here)
        here = [job for job in here if remaining[job.name] > 0]
        t += 1


def select(finder: Finder, queue: list[Job], rules: Rules) -> Selection:
    """Return what Algorithm 2 selects of a queue."""
    if rules.variant is Variant.PRINTED:
        return select_printed(finder, queue, rules.max_states)
    return select_corrected(finder, queue, rules.max_states)


def _done(instance: Instance, occupancy: Occupancy, job: Job, counts: Counts) -> Fraction:
    """Return the iterations of one slot (1a), at the rate of the slowest type used (1b)."""
    return min(instance.work(job, occupancy.cells[cell][1]) for cell, _ in counts)


def _strip(instance: Instance, plans: Plans, remaining: dict[str, Fraction], log: list[Event]) -> Plans:
    for job in instance.jobs:
        if plans[job.name] and remaining[job.name] > 0:
            slots = tuple(plans.pop(job.name))
            log.append(Stripped(job.name, slots, job.iterations - remaining[job.name], job.iterations))
    return plans
