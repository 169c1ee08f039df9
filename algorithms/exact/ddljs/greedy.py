"""A schedule slot by slot, without a solver: in each what adds the most utility of the embeddings quickly found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction

from dlsched.algorithms.exact.ddljs.count_bound import count_bound, first_embeddings
from dlsched.halt import Halt, poll
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.job import Job
from dlsched.models.ddljs.requests import largest_ring, problem_of, request_of
from dlsched.models.ddljs.rings import Embedding
from dlsched.models.ddljs.schedule import Schedule

_SIZES = 64
"""Ring sizes of a job that are tried in a slot, at most: all of the papers' jobs have; of more, every so many."""


def greedy_schedule(instance: Instance, groups: Sequence[Sequence[int]]) -> Schedule:
    """Return a feasible schedule; where the work is over (`dlsched.halt`), what was placed until then.

    Parameters
    ----------
    instance : Instance
        Utilities are finite at 0.
    groups : sequence of sequences of int
        The slots that are alike.
    """
    found: dict[str, dict[int, Embedding]] = defaultdict(dict)
    with suppress(Halt):
        _place(instance, groups, found)
    return Schedule.of(found)


def _place(instance: Instance, groups: Sequence[Sequence[int]], found: dict[str, dict[int, Embedding]]) -> None:
    got = {job.name: 0 for job in instance.jobs}
    largest = {job.name: largest_ring(instance, job) for job in instance.jobs}
    most = {job.name: instance.most(job) for job in instance.jobs}
    for group in groups:
        empty = problem_of(instance, group[0], ())
        held: dict[str, Embedding] = {}
        for slot in group:
            poll()
            gains = {
                job.name: _gains(job, got[job.name], min(largest[job.name], most[job.name] - got[job.name]))
                for job in instance.jobs
                if job.arrival <= slot
            }
            gains = {name: own for name, own in gains.items() if max(own.values(), default=0) > 0}
            # Rings that were the best for every job alone are so again, and no embedding is worth more.
            best = {name: max(own, key=own.__getitem__) for name, own in gains.items()}
            if {name: ring.size for name, ring in held.items()} != best:
                problem = empty.keeping(request_of(instance.job(name), own) for name, own in gains.items())
                held = first_embeddings(problem, count_bound(problem))
            for name, ring in held.items():
                found[name][slot] = ring
                got[name] += ring.size


def _gains(job: Job, got: int, largest: int) -> Mapping[int, Fraction]:
    """Return what ring sizes add to a job's utility."""
    now, steps = job.value(got), min(largest, _SIZES)
    return {size: job.value(got + size) - now for size in (largest * step // steps for step in range(1, steps + 1))}
