"""Optimus (Peng et al., EuroSys 2018) as the SMD paper evaluates it: workers and servers one by one, by utility gain.

A job starts with one worker and one server. Of one worker more and one server more, those that keep its limits, it gets
the one with the larger gain in utility, a worker where the gains are equal, until neither gains anything. The speed is
SMD's, where Optimus estimates it online. Jobs are then admitted as SMD admits them: by the same knapsack problem (16),
solved exactly by default.

A sigmoid falls strictly, but in doubles it is flat far from its midpoint; there the job goes on by the completion time,
as with the sigmoid itself. Where a utility is truly flat, e.g. past a deadline, Optimus gains nothing and stops.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.run import Event, Run
from dlsched.algorithms.smd.admission import Outer, admit, inadmissible
from dlsched.arguments import Seed, checked, expect_share
from dlsched.models.smd import Instance, Job, Point, Schedule, utility
from dlsched.models.utility import Sigmoid


@dataclass(frozen=True, slots=True)
class Grown(Event):
    """A job's workers and servers were added one by one.

    Attributes
    ----------
    job : str
    chosen : Point
    limited : bool
        It stopped because nothing more fits its limits, not for want of gain.
    """

    job: str
    chosen: Point
    limited: bool


@checked
def run(
    instance: Instance, *, seed: Seed = 0, outer: Outer | str = Outer.EXACT, outer_epsilon: float = 0.01
) -> Run[Schedule]:
    """Schedule an instance with workers and servers added by utility gain.

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
        There are no prices. The log has a `NeverAdmitted` for each job that cannot be admitted, a `Grown` for each of
        the others, and an `OuterStep`.

    Raises
    ------
    InputError
        If `outer` is unknown, `outer_epsilon` not in (0, 1), or the scheme was asked for and needs too many linear
        programs.

    Examples
    --------
    >>> from dlsched.algorithms.baselines.smd.optimus import run
    >>> from dlsched.models import smd
    >>> round(run(smd.random(7, jobs=6)).utility, 6)
    44.899783
    """
    del seed
    expect_share(whole=False, outer_epsilon=outer_epsilon)
    log: list[Event] = list(inadmissible(instance))
    grown = [_grow(job) for job in instance.jobs if instance.admissible(job)]
    points = {event.job: event.chosen for event in grown}
    schedule, admission = admit(instance, points, outer=outer, epsilon=outer_epsilon)
    return Run(schedule, utility(instance, schedule), {}, (*log, *grown, admission))


def _grow(job: Job) -> Grown:
    here = Point.of(job, 1, 1)
    while True:
        w, p = here.workers, here.servers
        larger = [Point.of(job, *counts) for counts in ((w + 1, p), (w, p + 1)) if job.fits(*counts)]
        if not larger:
            return Grown(job.name, here, limited=True)
        best = max(larger, key=lambda other: _worth(job, other))
        if _worth(job, best) <= _worth(job, here):
            return Grown(job.name, here, limited=False)
        here = best


def _worth(job: Job, at: Point) -> tuple[Fraction, Fraction]:
    """Return a key that increases with the utility, as exactly as its kind can tell."""
    falls = isinstance(job.utility, Sigmoid) and job.utility.height > 0 and job.utility.steepness > 0
    return at.utility, -at.time if falls else Fraction(0)


ALGORITHM = Algorithm("optimus", "smd", "Optimus: workers and servers one by one, by utility gain", run)
