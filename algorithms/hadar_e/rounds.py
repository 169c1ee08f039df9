"""The rounds of HadarE: what every copy trains in a slot, whether its node is done early or not, and what is left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from dlsched.algorithms.hadar.rounds import queues
from dlsched.algorithms.hadar_e.division import Steps, divide
from dlsched.algorithms.hadar_e.estimate import Throughputs
from dlsched.algorithms.hadar_e.forker import origin
from dlsched.algorithms.hadar_e.nodes import Speeds
from dlsched.algorithms.hadar_e.schedule import Copy, Overheads
from dlsched.algorithms.hadar_e.tracker import Parameters, Report, Tracker
from dlsched.algorithms.run import Event, Variant
from dlsched.halt import polled
from dlsched.models.hadar import Instance, Job

Assign: TypeAlias = Callable[[int, list[Job], Mapping[str, Fraction], Throughputs], Mapping[str, int]]
"""``(slot, queue, steps left by job, throughputs) -> copy id by node``: which copies run in a round."""

Trainer: TypeAlias = Callable[[str, str, Parameters, Fraction], Parameters]
"""``(job, node, parameters, steps) -> parameters`` after so many steps of training."""


@dataclass(frozen=True, slots=True)
class Round(Event):
    """One round.

    Attributes
    ----------
    slot : int
    nodes : dict of str to str
        The job that each node trains.
    left : dict of str to Fraction
        Steps left after the round, of the jobs that were there.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> for event in hadar_e.run(hadar_e.figure_6()).log:
    ...     if isinstance(event, hadar_e.Round):
    ...         print(event.slot, sorted(event.nodes.values()))
    1 ['J1', 'J1', 'J1', 'J2', 'J3']
    2 ['J2', 'J2', 'J2', 'J3', 'J3']
    3 ['J3', 'J3', 'J3', 'J3', 'J3']
    4 ['J3']
    """

    slot: int
    nodes: dict[str, str]
    left: dict[str, Fraction]


@dataclass(frozen=True, slots=True)
class Finished(Event):
    """A job is done, and its copies are discarded.

    Attributes
    ----------
    job : str
    slot : int
    parameters : array or None
        Consolidated; None where none are trained.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> log = hadar_e.run(hadar_e.figure_6()).log
    >>> [(event.job, event.slot) for event in log if isinstance(event, hadar_e.Finished)]
    [('J1', 1), ('J2', 2), ('J3', 4)]
    """

    job: str
    slot: int
    parameters: Parameters | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Rules:
    """How rounds are run.

    Attributes
    ----------
    copies : int
        f.
    max_job_count : int
    variant : Variant
        Which division of the steps.
    steps : Steps
    overheads : Overheads
    """

    copies: int
    max_job_count: int
    variant: Variant
    steps: Steps
    overheads: Overheads


def trained(speed: Fraction, assigned: Fraction, time: Fraction, steps: Steps) -> tuple[Fraction, Fraction]:
    """Return the steps that a copy does in some seconds, and how many of them its node is busy.

    It stops when its steps are done. A whole step that is not done in time is lost.
    """
    possible = speed * time
    if possible >= assigned:
        return assigned, assigned / speed
    return Fraction(possible // 1) if steps is Steps.WHOLE else possible, time


Allocations = dict[str, dict[int, tuple[Copy, ...]]]


def play(
    instance: Instance,
    speeds: Speeds,
    rules: Rules,
    assign: Assign,
    tracker: Tracker,
    throughputs: Throughputs,
    trainer: Trainer | None = None,
) -> tuple[Allocations, list[Event]]:
    """Run every round until all jobs are done or the slots end; return the copies by job and slot, and the log.

    Parameters
    ----------
    instance : Instance
    speeds : Speeds
        How fast copies really are.
    rules : Rules
    assign : callable
    tracker : Tracker
        Its jobs are numbered as in the instance; changed by every round.
    throughputs : Throughputs
        As HadarE knows them; it observes those of all copies that did a step.
    trainer : callable, optional
        Trains the models that the tracker has parameters of.
    """
    names = [job.name for job in instance.jobs]
    left = {name: tracker.left(parent) for parent, name in enumerate(names)}
    allocations: Allocations = {}
    log: list[Event] = []
    before: dict[str, str] = {}
    for slot, queue in polled(queues(instance, left)):
        chosen = assign(slot, queue, left, throughputs)
        nodes = {node: names[origin(id, rules.max_job_count)[0]] for node, id in chosen.items()}
        done: dict[str, list[Copy]] = {}
        for name in dict.fromkeys(nodes.values()):
            mine = [node for node, job in nodes.items() if job == name]
            portions = divide(
                left[name],
                throughputs.of(name),
                mine,
                copies=rules.copies,
                variant=rules.variant,
                steps=rules.steps,
            )
            working = {node: portion for node, portion in portions.items() if portion}
            for node, portion in working.items():
                lost = rules.overheads.before(before.get(node) != name) + rules.overheads.after(len(working))
                steps, seconds = trained(speeds[name][node], portion, instance.slot_seconds - lost, rules.steps)
                copy = Copy.model_construct(id=chosen[node], node=node, assigned=portion, steps=steps, seconds=seconds)
                done.setdefault(name, []).append(copy)
                if steps:
                    throughputs.observe(name, node, speeds[name][node])
        finished = tracker.close(_reports(done, names, tracker, trainer))
        for name, copies in done.items():
            allocations.setdefault(name, {})[slot] = tuple(copies)
            left[name] = tracker.left(names.index(name))
        before = {copy.node: name for name, copies in done.items() for copy in copies}
        log.append(Round(slot, before, {job.name: left[job.name] for job in queue}))
        log += [Finished(names[parent], slot, tracker.parameters(parent)) for parent in finished]
    return allocations, log


def _reports(
    done: Mapping[str, list[Copy]], names: list[str], tracker: Tracker, trainer: Trainer | None
) -> list[Report]:
    """Return what the nodes report, with the parameters that each copy has trained from the consolidated ones."""
    reports = []
    for name, copies in done.items():
        start = tracker.parameters(names.index(name)) if trainer is not None else None
        for copy in copies:
            after = start if start is None or trainer is None else trainer(name, copy.node, start.copy(), copy.steps)
            reports.append(Report(copy.id, copy.steps, after))
    return reports
