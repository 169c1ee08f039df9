"""Small random DMLRS instances, made so that exhaustive search can solve them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dlsched.arguments import AtLeast0, AtLeast1, checked, generator
from dlsched.models.dmlrs.instance import Instance, Machine
from dlsched.models.dmlrs.job import AsyncJob, Job
from dlsched.models.utility import Table


@checked
def random(
    rng: np.random.Generator | int,
    *,
    jobs: AtLeast0 = 3,
    machines: AtLeast1 = 2,
    resources: AtLeast1 = 2,
    slots: AtLeast1 = 3,
    capacity: AtLeast1 = 3,
    identical: bool = False,
    asynchronous: bool = False,
    faster_external: bool = False,
) -> Instance:
    """Return a random instance.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        A generator, or a seed.
    jobs, machines, resources, slots : int
        How many there are.
    capacity : int
        The most of one resource in one machine.
    identical : bool
        All machines alike.
    asynchronous : bool
        Jobs of the thesis instead of the journal's.
    faster_external : bool
        Some jobs exchange data faster between machines than within one, against the premise of Fact 1.

    Notes
    -----
    Needs are whole numbers, 0 to 2; a job may need too much, or be too long, to finish; utilities are non-increasing
    tables of whole numbers.

    Examples
    --------
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(7, jobs=2, asynchronous=True)
    >>> len(instance.jobs), instance.jobs[0].chunks, instance == dmlrs.random(7, jobs=2, asynchronous=True)
    (2, 1, True)
    """
    rng = generator(rng)
    names = tuple(f"resource{r + 1}" for r in range(resources))
    drawn = rng.integers(1, capacity + 1, size=(machines, resources))
    room = np.broadcast_to(drawn[0], drawn.shape) if identical else drawn
    cluster = tuple(
        Machine(name=f"machine{h + 1}", capacity={r: Fraction(int(c)) for r, c in zip(names, room[h], strict=True)})
        for h in range(machines)
    )
    draw = _async_job if asynchronous else _job
    return Instance(
        slots=slots,
        resources=names,
        machines=cluster,
        jobs=tuple(draw(rng, j, names, slots, faster_external) for j in range(jobs)),
    )


def _common(rng: np.random.Generator, number: int, resources: tuple[str, ...], slots: int, faster: bool) -> dict:
    needs = rng.integers(0, 3, size=(2, len(resources)))
    needs[0, rng.integers(len(resources))] = 1
    rates = sorted(int(x) for x in rng.choice([1, 2, 3, 4], size=2, replace=False))
    external, internal = rates if not (faster and rng.random() < 0.5) else reversed(rates)
    values = np.sort(rng.integers(0, 21, size=slots))[::-1]
    worker, server = ({r: Fraction(int(n)) for r, n in zip(resources, row, strict=True) if n} for row in needs)
    return {
        "name": f"job{number + 1}",
        "arrival": int(rng.integers(1, slots + 1)),
        "internal_rate": Fraction(internal),
        "external_rate": Fraction(external),
        "worker": worker,
        "server": server,
        "utility": Table(values=tuple(Fraction(int(v)) for v in values)),
    }


def _job(rng: np.random.Generator, number: int, resources: tuple[str, ...], slots: int, faster: bool) -> Job:
    common = _common(rng, number, resources, slots, faster)
    batch = int(rng.integers(1, 4))
    tau, size = Fraction(int(rng.integers(0, 3)), 4), Fraction(int(rng.integers(1, 5)), 4)
    gamma = Fraction(int(rng.choice([1, 1, 2, 3])), int(rng.choice([1, 1, 2])))
    slowest = tau + 2 * size * gamma / (min(common["internal_rate"], common["external_rate"]) * batch)
    return Job(
        **common,
        epochs=Fraction(1),
        samples=max(Fraction(1, 2), Fraction(int(rng.integers(1, 2 * batch * slots + 1)), 2) / slowest),
        batch=batch,
        slots_per_sample=tau,
        gradient_size=size,
        workers_per_server=gamma,
    )


def _async_job(rng: np.random.Generator, number: int, resources: tuple[str, ...], slots: int, faster: bool) -> AsyncJob:
    common = _common(rng, number, resources, slots, faster)
    chunks = int(rng.integers(1, 4))
    tau, size = Fraction(int(rng.integers(0, 3)), 4), Fraction(int(rng.integers(1, 5)), 4)
    slowest = tau + 2 * size / min(common["internal_rate"], common["external_rate"])
    needed = Fraction(int(rng.integers(1, 2 * chunks * slots + 1)), 2) / slowest
    return AsyncJob(
        **common,
        epochs=Fraction(1),
        chunks=chunks,
        minibatches_per_chunk=needed / chunks,
        slots_per_minibatch=tau,
        gradient_size=size,
        server_rate=Fraction(int(rng.integers(2, 9))),
    )
