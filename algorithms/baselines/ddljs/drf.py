"""Dominant resource fairness (Ghodsi et al., NSDI 2011), as in Yarn and Mesos: progressive filling in every slot.

The dominant share of a job is the largest part that it has of the cluster's amount of any one resource. The job with
the smallest one, of equals the one that arrived first, gets one worker more: on a server that it uses if that has
room, else all its workers are placed anew. It is full when it has N_i workers, when its budget ends, or when one more
finds no place; the filling ends when all are.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from fractions import Fraction

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.baselines.ddljs.rounds import Network, simulate
from dlsched.algorithms.rings import Need, Occupancy, place
from dlsched.algorithms.run import Run
from dlsched.arguments import Seed, checked
from dlsched.models.ddljs import Embedding, Instance, Job, Schedule


@checked
def run(instance: Instance, *, seed: Seed = 0) -> Run[Schedule]:
    """Schedule an instance by dominant shares.

    Parameters
    ----------
    instance : Instance
    seed : int or numpy.random.Generator
        Not used: nothing is drawn at random.

    Returns
    -------
    Run
        There are no prices. The log has a `Round` for each slot in which a job is there.

    Raises
    ------
    InputError
        If a job gets nothing whose utility at 0 is minus infinity (a logarithm's).

    Examples
    --------
    >>> from dlsched.algorithms.baselines.ddljs.drf import run
    >>> from dlsched.models import ddljs
    >>> run(ddljs.random(20)).utility
    23.0
    """
    del seed
    totals = {r: sum((node.capacity_of(r) for node in instance.nodes), Fraction(0)) for r in instance.resources}
    shares = {
        job.name: max((need / totals[r] for r, need in job.worker.items() if need and totals[r]), default=Fraction(0))
        for job in instance.jobs
    }

    def allocate(occupancy: Occupancy, present: Sequence[Job], so_far: Mapping[str, int]) -> dict[str, Embedding]:
        return _fill(occupancy, present, so_far, shares)

    return simulate(instance, Network(instance), allocate, [])


def _fill(
    occupancy: Occupancy, present: Sequence[Job], so_far: Mapping[str, int], shares: Mapping[str, Fraction]
) -> dict[str, Embedding]:
    """Return what each job gets of an empty slot."""
    given: dict[str, Embedding] = {}
    queue = [(Fraction(0), i) for i in range(len(present))]
    while queue:
        job = present[queue[0][1]]
        held = given.get(job.name)
        size = 0 if held is None else held.size
        need = occupancy.substrate.needs[job.name]
        larger = _grown(occupancy, need, held) if size < job.payable(so_far[job.name]) else None
        if larger is None:
            heapq.heappop(queue)
        else:
            given[job.name] = larger
            heapq.heapreplace(queue, (shares[job.name] * larger.size, queue[0][1]))
    return given


def _grown(occupancy: Occupancy, need: Need, held: Embedding | None) -> Embedding | None:
    """Return what a job has, one worker larger, and take it in place of that; None if one more finds no place."""
    if held is None:
        larger = place(occupancy, need, 1)
    else:
        occupancy.give(need, held)
        larger = _beside(occupancy, need, held) or place(occupancy, need, held.size + 1)
    taken = larger or held
    if taken is not None:
        occupancy.take(need, taken)
    return larger


def _beside(occupancy: Occupancy, need: Need, held: Embedding) -> Embedding | None:
    """Return the embedding with one worker more on a server that it uses, or None where none has room."""
    if held.order is not None:
        return None
    rooms, number = occupancy.rooms(need), occupancy.substrate.number
    node = next((u for u, n in held.workers.items() if rooms[number[u]] > n), None)
    if node is None:
        return None
    return held.model_copy(update={"workers": held.workers | {node: held.workers[node] + 1}})


ALGORITHM = Algorithm("drf", "ddljs", "DRF: dominant resource fairness in every slot", run)
