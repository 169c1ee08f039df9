"""Least attained service, as in Tiresias (Gu et al., NSDI 2019): in every slot who has had least goes first.

The attained service of a job is its worker-slots so far; of equals the one that arrived first goes first. Each job has
a fixed number of workers, drawn as for FIFO; one that does not fit what is left is passed over until the next slot.
"""

from __future__ import annotations

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.baselines.ddljs.rounds import simulate_fixed
from dlsched.algorithms.run import Run
from dlsched.arguments import Seed, checked
from dlsched.models.ddljs import Instance, Schedule


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

    Raises
    ------
    InputError
        If a job gets nothing whose utility at 0 is minus infinity (a logarithm's).

    Examples
    --------
    >>> from dlsched.algorithms.baselines.ddljs.las import run
    >>> from dlsched.models import ddljs
    >>> run(ddljs.random(20), seed=1).utility
    23.0
    """
    return simulate_fixed(
        instance, seed, lambda present, so_far: sorted(present, key=lambda job: so_far[job.name]), waiting=False
    )


ALGORITHM = Algorithm("las", "ddljs", "LAS: in every slot who has had least goes first", run)
