"""The laws that hold in every simulation, checked on what is recorded of it and without what recorded it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from dlsched.algorithms.simulator.policy import arrival_of, parts
from dlsched.algorithms.simulator.simulation import Segment, Simulation
from dlsched.arguments import checked
from dlsched.models.hadar.schedule import gang
from dlsched.models.numbers import to_json
from dlsched.models.schedule import Violation


@checked
def check(simulation: Simulation) -> list[Violation]:
    """Return every law that a simulation breaks; an empty list means that it keeps them all.

    No device is used twice at a time; jobs run in whole gangs, one at a time, not before they arrive and not after the
    end; those that are done have done all their iterations, the last at that moment, and the others fewer; whoever gets
    devices restarts.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from dlsched.algorithms.baselines.hadar.srtf import Srtf
    >>> from dlsched.algorithms.simulator import check, simulate
    >>> from dlsched.models import hadar
    >>> simulation = simulate(hadar.random(0), Srtf(), round_seconds=1)
    >>> check(simulation)
    []
    >>> for violation in check(replace(simulation, segments=())):
    ...     print(violation)
    job job2: 0 of 10.5 iterations done [work]
    job job2: is done at 2.1666666666666665 s, not when it ends [completion]
    job job3: 0 of 0.5 iterations done [work]
    job job3: is done at 2.125 s, not when it ends [completion]
    """
    by_job: dict[str, list[Segment]] = {}
    for segment in simulation.segments:
        by_job.setdefault(segment.job, []).append(segment)
    return [*_capacity(simulation), *_jobs(simulation, by_job), *_work(simulation, by_job)]


def _capacity(simulation: Simulation) -> Iterator[Violation]:
    steps: dict[tuple[str, str], list[tuple[Fraction, int]]] = {}
    for segment in simulation.segments:
        for machine, devices in segment.allocation.items():
            for r, count in devices.items():
                steps.setdefault((machine, r), []).extend([(segment.start, count), (segment.end, -count)])
    for (machine, r), changes in sorted(steps.items()):
        limit, used = simulation.instance.machine(machine).count(r), 0
        for time, count in sorted(changes):
            used += count
            if used > limit:
                place = f"{to_json(time)} s, machine {machine}, type {r}"
                yield Violation("capacity", place, f"{used} devices in use exceed the {limit} there")
                break


def _jobs(simulation: Simulation, by_job: dict[str, list[Segment]]) -> Iterator[Violation]:
    for name, segments in by_job.items():
        job = simulation.instance.job(name)
        if segments[0].start < arrival_of(simulation.instance, job):
            yield Violation("arrival", f"job {name}", f"runs at {to_json(segments[0].start)} s, before its arrival")
        for before, after in pairwise(segments):
            if after.start < before.end:
                yield Violation("one gang", f"job {name}", f"has two allocations at {to_json(after.start)} s")
        for segment in segments:
            place = f"job {name}, {to_json(segment.start)} s"
            if not segment.start < segment.end <= simulation.end:
                yield Violation("time", place, f"ends at {to_json(segment.end)} s")
            if not simulation.copies and segment.ready != segment.start + simulation.restart_seconds:
                yield Violation("restart", place, f"works from {to_json(segment.ready)} s on")
            for part in parts(segment.allocation, copies=simulation.copies):
                if gang(part) != job.gang:
                    yield Violation("gang", place, f"{gang(part)} devices are not the gang {job.gang}")


def _work(simulation: Simulation, by_job: dict[str, list[Segment]]) -> Iterator[Violation]:
    done = simulation.work()
    for job in simulation.instance.jobs:
        completion = simulation.completions.get(job.name)
        if completion is None:
            if done[job.name] >= job.iterations:
                yield Violation("work", f"job {job.name}", "has done its iterations and is not done")
            continue
        if done[job.name] != job.iterations:
            message = f"{to_json(done[job.name])} of {to_json(job.iterations)} iterations done"
            yield Violation("work", f"job {job.name}", message)
        ends = [segment.end for segment in by_job.get(job.name, ())][-1:]
        if ends != [completion]:
            yield Violation("completion", f"job {job.name}", f"is done at {to_json(completion)} s, not when it ends")
