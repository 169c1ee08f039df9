"""Least attained service, as in Tiresias (Gu et al., NSDI 2019): in every slot who has had least goes first.

The attained service of a job is its worker-slots so far; of equals the one that arrived first goes first. Each job has
a fixed number of workers, drawn as for FIFO; one that does not fit what is left is passed over until the next slot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.baselines.ddljs.rounds import Network, fixed_numbers, payable, simulate
from dlsched.algorithms.rings import Occupancy, place
from dlsched.algorithms.run import Run
from dlsched.arguments import Seed, checked
from dlsched.models.ddljs import Embedding, Instance, Job, Schedule


@checked
def run(instance: Instance, *, seed: Seed = 0) -> Run[Schedule]:
    """Schedule an instance by least attained service.

    Parameters
    ----------
    instance : Instance
    seed : int or numpy.random.Generator
        Of the numbers of workers.

    Returns
    -------
    Run
        There are no prices. The log has a `Fixed` for each job, and a `Round` for each slot in which a job is there.
    """
    network = Network(instance)
    fixed = fixed_numbers(instance, network, seed)

    def allocate(occupancy: Occupancy, present: Sequence[Job], so_far: Mapping[str, int]) -> dict[str, Embedding]:
        given: dict[str, Embedding] = {}
        for job in sorted(present, key=lambda job: so_far[job.name]):
            workers = min(fixed[job.name].workers, payable(job, so_far[job.name]))
            need = occupancy.substrate.needs[job.name]
            embedding = place(occupancy, need, workers) if workers else None
            if embedding is not None:
                occupancy.take(need, embedding)
                given[job.name] = embedding
        return given

    return simulate(instance, network, allocate, [*fixed.values()])


ALGORITHM = Algorithm("las", "ddljs", "LAS: in every slot who has had least goes first", run)
