"""FIFO, as in Hadoop and Spark: jobs in the order of arrival, each with a fixed number of workers while it can pay.

The GADGET paper fixes the number between 1 and 10. It is drawn uniformly for each job, at most N_i and what the empty
network holds. While a job does not fit, those behind it wait; one that would not fit into the empty network of the slot
is passed over.
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
    """Schedule an instance first in, first out.

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
        for job in present:
            workers = min(fixed[job.name].workers, payable(job, so_far[job.name]))
            if not workers:
                continue
            need = occupancy.substrate.needs[job.name]
            embedding = place(occupancy, need, workers)
            if embedding is not None:
                occupancy.take(need, embedding)
                given[job.name] = embedding
            elif place(Occupancy(occupancy.substrate), need, workers) is not None:
                break
        return given

    return simulate(instance, network, allocate, [*fixed.values()])


ALGORITHM = Algorithm("fifo", "ddljs", "FIFO: by arrival, with a fixed number of workers while it can pay", run)
