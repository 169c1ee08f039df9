"""Small random SMD instances, made so that exhaustive search can solve them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dlsched.arguments import AtLeast0, AtLeast1, AtLeast2, checked, generator
from dlsched.models.smd.instance import Instance, Job
from dlsched.models.smd.training import TERMS, Coefficients, Mode
from dlsched.models.utility import Hyperbolic, Linear, Sigmoid, Step, Table, Utility


@checked
def random(
    rng: np.random.Generator | int, *, jobs: AtLeast0 = 3, resources: AtLeast1 = 2, limit: AtLeast2 = 8
) -> Instance:
    """Return a random instance.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        A generator, or a seed.
    jobs, resources : int
        How many there are.
    limit : int
        The most of a resource that a job may use.

    Notes
    -----
    Coefficients are halves of whole numbers and may be 0; a worker or server may need nothing of some resource; a job's
    limits may be too small for one worker and one server, or exceed the cluster; about half of the reservations fit.

    Examples
    --------
    >>> from dlsched.models import smd
    >>> instance = smd.random(7, jobs=4)
    >>> len(instance.jobs), instance == smd.random(7, jobs=4)
    (4, True)
    """
    rng = generator(rng)
    names = tuple(f"resource{r + 1}" for r in range(resources))
    made = tuple(_job(rng, i, names, limit) for i in range(jobs))
    reserved = {r: sum(job.limit_of(r) for job in made) for r in names}
    return Instance(
        resources=names,
        capacity={r: Fraction(int(rng.integers(int(reserved[r]) // 3, int(reserved[r]) + 2))) for r in names},
        jobs=made,
    )


def _job(rng: np.random.Generator, number: int, resources: tuple[str, ...], limit: int) -> Job:
    mode = Mode.SYNC if rng.integers(2) else Mode.ASYNC
    halves = rng.integers(0, 9, size=TERMS[mode]) * rng.integers(0, 5, size=TERMS[mode]).clip(0, 1)
    needs = rng.integers(0, 3, size=(2, len(resources)))
    for needed in needs:
        needed[rng.integers(len(resources))] += 1
    worker, server = ({r: Fraction(int(n)) for r, n in zip(resources, needed, strict=True) if n} for needed in needs)
    return Job(
        name=f"job{number + 1}",
        worker=worker,
        server=server,
        limit={r: Fraction(int(rng.integers(2, limit + 1))) for r in resources},
        utility=_utility(rng),
        training=Coefficients(mode=mode, theta=tuple(Fraction(int(n), 2) for n in halves)),
    )


def _utility(rng: np.random.Generator) -> Utility:
    height, at = Fraction(int(rng.integers(1, 41))), Fraction(int(rng.integers(6, 41)), 2)
    falling = np.sort(rng.integers(0, 21, size=int(rng.integers(1, 21))))[::-1]
    choices: tuple[Utility, ...] = (
        Hyperbolic(scale=height),
        Linear(intercept=height, slope=Fraction(int(rng.integers(0, 5)), 2)),
        Step(value=height, deadline=at),
        Sigmoid(height=height, steepness=Fraction(int(rng.integers(0, 7)), 2), midpoint=at),
        Table(values=tuple(Fraction(int(v)) for v in falling)),
    )
    return choices[rng.integers(len(choices))]
