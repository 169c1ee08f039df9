"""FIFO, as in Hadoop and Spark: jobs in the order of arrival, each with a fixed number of workers while it can pay.

The GADGET paper fixes the number between 1 and 10. It is drawn uniformly for each job, at most N_i and what the empty
network holds. While a job does not fit, those behind it wait; one that would not fit into the empty network of the slot
is passed over.
"""

from __future__ import annotations

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.baselines.ddljs.rounds import simulate_fixed
from dlsched.algorithms.run import Run
from dlsched.arguments import Seed, checked
from dlsched.models.ddljs import Instance, Schedule


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

    Raises
    ------
    InputError
        If a job gets nothing whose utility at 0 is minus infinity (a logarithm's).

    Examples
    --------
    >>> from dlsched.algorithms.baselines.ddljs.fifo import run
    >>> from dlsched.models import ddljs
    >>> run(ddljs.random(20), seed=1).utility
    23.0
    """
    return simulate_fixed(instance, seed, lambda present, so_far: present, waiting=True)


ALGORITHM = Algorithm("fifo", "ddljs", "FIFO: by arrival, with a fixed number of workers while it can pay", run)
