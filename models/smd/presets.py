"""Named families of SMD instances: small random ones, and the settings of the paper's evaluation."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from dlsched.arguments import AtLeast0, AtLeast1, checked, generator
from dlsched.models.presets import chooser, drawn_needs, rounded
from dlsched.models.smd.instance import Instance, Job
from dlsched.models.smd.random import random
from dlsched.models.smd.speed import Layer, Overlap
from dlsched.models.smd.training import Measured, Mode
from dlsched.models.utility import Sigmoid

_UNIT = {"gpu": 600, "vcpu": 3400, "memory": 1400, "storage": 1200}
"""One unit of resources, in GB where it is bytes (SMD, Section V, Figs. 7 to 10)."""

_MACHINE = {"gpu": 4, "vcpu": 36, "memory": 60, "storage": 40}
"""What a virtual machine has: assumed, see `_ORIGIN`; the paper names Amazon's C4 (SMD, Section V)."""

_WORKER = {"gpu": (0, 4), "vcpu": (1, 10), "memory": (2, 32), "storage": (5, 10)}
"""Least and most that a worker needs (SMD, Section V)."""

_SERVER = {"vcpu": (1, 10), "memory": (2, 32), "storage": (5, 10)}
"""The same of a parameter server (SMD, Section V)."""

_UNIT_OF_TIME = {Mode.SYNC: 86_400, Mode.ASYNC: 3_600}
"""Seconds that the midpoints of utilities are counted in: assumed, a day and an hour, see `_ORIGIN`."""

_ORIGIN = {
    "source": "SMD, Section V",
    "unit": "seconds, GB",
    "midpoint": "assumed: 1 to 15 days in synchronous, hours in asynchronous training; the paper has no unit",
    "machine": "assumed: c4.8xlarge (36 vCPU, 60 GB), with 4 GPUs and 40 GB of storage, which C4 does not have",
    "overlap": "assumed: the paper does not say which speed model it evaluates",
    "beta": "assumed: beta_1 and beta_2 in seconds; the paper has no unit",
}


@checked
def paper(
    rng: np.random.Generator | int,
    *,
    jobs: AtLeast0 = 50,
    units: AtLeast1 = 1,
    mode: Mode | str = "sync",
    overlap: Overlap | str = "wait-free",
) -> Instance:
    """Return an instance in the setting of Figs. 7 to 10 and 12.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        A generator, or a seed.
    jobs : int
        I; the paper has 50, and 40 to 200 in Fig. 12.
    units : int
        1 to 5 in the paper; one unit is 3400 vCPUs, 600 GPUs, 1400 GB of memory and 1200 GB of storage.
    mode : {"sync", "async"}
        Servers update the parameters after all workers have reported, or after each.
    overlap : {"sequential", "wait-free", "priority"}
        How communication overlaps computation.

    Notes
    -----
    What the paper does not print is assumed and said so in `origin`.
    """
    return _evaluation(
        generator(rng), jobs, {r: Fraction(units * amount) for r, amount in _UNIT.items()}, mode, overlap
    )


@checked
def roomy(
    rng: np.random.Generator | int,
    *,
    jobs: AtLeast0 = 50,
    mode: Mode | str = "sync",
    overlap: Overlap | str = "wait-free",
) -> Instance:
    """Return an instance in the setting of Fig. 11: a cluster of 1000 virtual machines.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        A generator, or a seed.
    jobs : int
        10 to 50 in the paper.
    mode, overlap : str
        As for `paper`.
    """
    return _evaluation(
        generator(rng), jobs, {r: Fraction(1000 * amount) for r, amount in _MACHINE.items()}, mode, overlap
    )


def _evaluation(
    rng: np.random.Generator, jobs: int, capacity: dict[str, Fraction], mode: str, overlap: str
) -> Instance:
    return Instance(
        resources=tuple(_UNIT),
        capacity=capacity,
        jobs=tuple(_job(rng, i, Mode(mode), Overlap(overlap)) for i in range(jobs)),
        origin=_ORIGIN,
    )


def _job(rng: np.random.Generator, number: int, mode: Mode, overlap: Overlap) -> Job:
    machines, unit = int(rng.integers(1, 21)), _UNIT_OF_TIME[mode]
    return Job(
        name=f"job{number + 1}",
        worker=drawn_needs(rng, _WORKER),
        server=drawn_needs(rng, _SERVER),
        limit={r: Fraction(machines * amount) for r, amount in _MACHINE.items()},
        utility=Sigmoid(
            height=rounded(rng.uniform(1, 100), 100),
            steepness=rounded(rng.uniform(4, 6), 100) / unit,
            midpoint=rounded(rng.uniform(1, 15), 100) * unit,
        ),
        training=_training(rng, mode, overlap),
    )


def _training(rng: np.random.Generator, mode: Mode, overlap: Overlap) -> Measured:
    minibatch = int(rng.integers(10, 101))
    layers = int(rng.integers(10, 101))
    milliseconds = zip(
        rng.integers(1, 501, size=layers).tolist(),
        rng.integers(1, 301, size=layers).tolist(),
        rng.integers(80, 501, size=layers).tolist(),
        strict=True,
    )
    return Measured(
        mode=mode,
        iterations=Fraction(int(rng.integers(50, 201))),
        global_batch=Fraction(int(rng.integers(1, 101)) * minibatch),
        minibatch=Fraction(minibatch),
        model_size=Fraction(int(rng.integers(30, 576)), 1000),
        bandwidth=rounded(rng.uniform(5, 20) / 8, 1000),
        beta1=rounded(rng.uniform(3, 4), 100),
        beta2=rounded(rng.uniform(0, 0.01), 10_000),
        alpha=rounded(rng.uniform(0, 1), 100),
        overlap=overlap,
        layers=tuple(
            Layer(forward=Fraction(f, 1000), backward=Fraction(b, 1000), transfer=Fraction(r, 1000))
            for f, b, r in milliseconds
        ),
    )


PRESETS: MappingProxyType[str, Callable[..., Instance]] = MappingProxyType(
    {"random": random, "paper": paper, "roomy": roomy}
)
"""Family name to its function of a generator and sizes."""

preset = chooser(PRESETS)
