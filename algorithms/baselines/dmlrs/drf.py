"""Dominant resource fairness (Ghodsi et al., NSDI 2011), as in Yarn and Mesos: progressive filling anew in every slot.

The dominant share of a job is the largest part that it has of the cluster's amount of any one resource. The job with
the smallest one, of equals the one that arrived first, is given one worker more and the servers that it then needs,
placed in turn on machines with room. A job is full when it has its most workers, enough to finish in this slot, or when
one more does not fit; the filling ends when all are.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from fractions import Fraction

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.baselines.dmlrs.cluster import Cluster, Held, grow, simulate
from dlsched.algorithms.run import Run
from dlsched.arguments import Seed, checked
from dlsched.halt import poll
from dlsched.models.dmlrs import Instance, Schedule
from dlsched.models.dmlrs.instance import AnyJob


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
        There are no prices. The log has a `Round` for each slot in which a job is there, and a `Stripped` for each job
        that ran and does not finish.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.dmlrs.drf import run
    >>> from dlsched.models import dmlrs
    >>> [type(event).__name__ for event in run(dmlrs.random(0)).log]
    ['Round', 'Round', 'Stripped', 'Stripped', 'Stripped']
    """
    del seed
    cluster = Cluster(instance)

    def allocate(slot: int, present: Sequence[AnyJob], remaining: Mapping[str, Fraction]) -> dict[str, Held]:
        del slot
        return fill(cluster, present, remaining)

    return simulate(instance, cluster, allocate, [])


@checked
def fill(cluster: Cluster, jobs: Sequence[AnyJob], remaining: Mapping[str, Fraction]) -> dict[str, Held]:
    """Return what each job gets of the empty cluster; a job that gets nothing is absent.

    Parameters
    ----------
    cluster : Cluster
        Is cleared first.
    jobs : sequence of Job or AsyncJob
        Of equal shares the first is served.
    remaining : mapping
        Work left, by job.
    """
    cluster.clear()
    held = [Held(job) for job in jobs]
    queue = [(Fraction(0), k) for k in range(len(held))]
    while queue:
        poll()
        _, k = queue[0]
        if held[k].progress() < remaining[held[k].job.name] and grow(cluster, held[k]):
            heapq.heapreplace(queue, (cluster.dominant_share(held[k]), k))
        else:
            heapq.heappop(queue)
    return {each.job.name: each for each in held if each.workers}


ALGORITHM = Algorithm("drf", "dmlrs", "DRF: dominant resource fairness anew in every slot", run)
