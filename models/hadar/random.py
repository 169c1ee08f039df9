"""Small random Hadar instances, made so that exhaustive search can solve them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dlsched.arguments import AtLeast0, AtLeast1, checked, generator
from dlsched.models.hadar.instance import Instance, Job, Machine
from dlsched.models.utility import Table


@checked
def random(
    rng: np.random.Generator | int,
    *,
    jobs: AtLeast0 = 3,
    machines: AtLeast1 = 2,
    types: AtLeast1 = 2,
    slots: AtLeast1 = 3,
    devices: AtLeast1 = 2,
) -> Instance:
    """Return a random instance.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        A generator, or a seed.
    jobs, machines, types, slots : int
        How many there are.
    devices : int
        The most devices of one type in one machine.

    Notes
    -----
    Rates are halves of whole numbers and may be 0 on some types; a job may be too long to finish; utilities are
    non-increasing tables of whole numbers.

    Examples
    --------
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(7, jobs=4, slots=5)
    >>> len(instance.jobs), instance.slots, instance == hadar.random(7, jobs=4, slots=5)
    (4, 5, True)
    """
    rng = generator(rng)
    names = tuple(f"type{r + 1}" for r in range(types))
    counts = rng.integers(0, devices + 1, size=(machines, types))
    if not counts.any():
        counts[0, 0] = 1
    cluster = tuple(
        Machine(name=f"machine{h + 1}", devices={r: int(n) for r, n in zip(names, counts[h], strict=True) if n})
        for h in range(machines)
    )
    total = int(counts.sum())
    return Instance(
        slots=slots,
        slot_seconds=Fraction(1),
        device_types=names,
        machines=cluster,
        jobs=tuple(_job(rng, j, names, total, slots) for j in range(jobs)),
    )


def _job(rng: np.random.Generator, number: int, types: tuple[str, ...], devices: int, slots: int) -> Job:
    arrival = int(rng.integers(1, slots + 1))
    gang = int(rng.integers(1, min(3, devices) + 1))
    halves = rng.integers(0, 9, size=len(types))
    halves[rng.integers(len(types))] += 1
    per_slot = gang * int(halves.max())
    work = max(1, int(rng.integers(1, per_slot * max(1, slots - arrival + 1) + 2)))
    values = np.sort(rng.integers(0, 21, size=slots))[::-1]
    return Job(
        name=f"job{number + 1}",
        arrival=arrival,
        gang=gang,
        iterations=Fraction(work, 2),
        rate={r: Fraction(int(n), 2) for r, n in zip(types, halves, strict=True)},
        utility=Table(values=tuple(Fraction(int(v)) for v in values)),
    )
