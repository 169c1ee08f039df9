"""ESW, equal shares of workers and servers: the SMD paper's first baseline, one server for every worker.

The paper only fixes the ratio of 1 to 1. Here a job gets k workers and k servers with the largest k that its limits
allow, whether or not fewer would be faster, and jobs are then admitted as SMD admits them: by the same knapsack problem
(16), solved exactly by default.
"""

from __future__ import annotations

from dataclasses import dataclass

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.run import Event, Run
from dlsched.algorithms.smd.admission import Outer, admit, inadmissible
from dlsched.arguments import Seed, checked, expect_share
from dlsched.models.smd import Instance, Job, Point, Schedule, utility


@dataclass(frozen=True, slots=True)
class Equal(Event):
    """A job got as many workers as servers.

    Attributes
    ----------
    job : str
    chosen : Point
    """

    job: str
    chosen: Point


@checked
def run(
    instance: Instance, *, seed: Seed = 0, outer: Outer | str = Outer.EXACT, outer_epsilon: float = 0.01
) -> Run[Schedule]:
    """Schedule an instance with equal numbers of workers and servers.

    Parameters
    ----------
    instance : Instance
    seed : int or numpy.random.Generator
        Not used: nothing is drawn at random.
    outer, outer_epsilon
        As for `dlsched.algorithms.smd.run`.

    Returns
    -------
    Run
        There are no prices. The log has a `NeverAdmitted` for each job that cannot be admitted, an `Equal` for each of
        the others, and an `OuterStep`.

    Raises
    ------
    InputError
        If `outer` is unknown, `outer_epsilon` not in (0, 1), or the scheme was asked for and needs too many linear
        programs.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.smd.esw import run
    >>> from dlsched.models import smd
    >>> round(run(smd.random(7, jobs=6)).utility, 6)
    38.103666
    """
    del seed
    expect_share(whole=False, outer_epsilon=outer_epsilon)
    log: list[Event] = list(inadmissible(instance))
    points = {job.name: _equal(job) for job in instance.jobs if instance.admissible(job)}
    log.extend(Equal(name, chosen) for name, chosen in points.items())
    schedule, admission = admit(instance, points, outer=outer, epsilon=outer_epsilon)
    return Run(schedule, utility(instance, schedule), {}, (*log, admission))


def _equal(job: Job) -> Point:
    each = min(job.limit_of(r) // need for r, need in job.uses(1, 1).items())
    return Point.of(job, each, each)


ALGORITHM = Algorithm("esw", "smd", "ESW: equal shares of workers and servers", run)
