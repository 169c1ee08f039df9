"""Named families of DMLRS instances: small random ones, the benchmark, and the settings of the two evaluations."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from dlsched.arguments import AtLeast0, AtLeast1, checked, generator, positive
from dlsched.errors import InputError
from dlsched.models.dmlrs.instance import Instance, Machine
from dlsched.models.dmlrs.job import AsyncJob, Job
from dlsched.models.dmlrs.random import random
from dlsched.models.numbers import rational
from dlsched.models.presets import chooser, drawn_needs, rounded
from dlsched.models.utility import Hyperbolic, Sigmoid

_WORKER = {"gpu": (0, 4), "cpu": (1, 10), "memory": (2, 32), "storage": (5, 10)}
"""Least and most that a worker needs (PD-ORS, Section 5)."""

_SERVER = {"gpu": (0, 0), "cpu": (1, 10), "memory": (2, 32), "storage": (5, 10)}
"""The same of a parameter server, which needs no GPU (PD-ORS, Section 5)."""

_MEAN = {r: (low + high) / 2 for r, (low, high) in _WORKER.items()}
"""What a worker needs on average."""

_THESIS = {"gpu": (0, 4), "memory": (2, 30), "storage": (4, 8)}
"""Least and most that workers and servers alike need (thesis, chapter 4)."""

_COMPUTE = Fraction(1, 16)
"""Slots a sample that the benchmark's workers compute. Arbitrary below 1/8, the whole time of a sample for the fastest
of them: the rest is communication."""


@checked
def benchmark(
    rng: np.random.Generator | int,
    *,
    jobs: AtLeast0 = 20,
    machines: AtLeast1 = 10,
    slots: AtLeast1 = 10,
    multiple: float = 6.0,
    load: float | None = None,
) -> Instance:
    """Return an instance of the benchmark family, made to be hard at small sizes.

    Workers and servers need amounts of four resources as in the paper; every machine has `multiple` times the mean
    needs of a worker. An external worker does 4 units of work a slot, an internal one 5, 6 or 8.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        A generator, or a seed.
    jobs, machines, slots : int
        I, H, T. Moderate: multiple 6 at (20, 10, 10) and (50, 30, 20), 18 at (50, 100, 20). Fragmented: multiple 3
        and load .8 to .95 at (10, 4, 10) and (20, 10, 10).
    multiple : float
        k, of the mean needs of a worker, which every machine has.
    load : float, optional
        Worker-slots and their servers' share, at most this multiple of ``machines * slots * multiple``; by default as
        the draws have it.
    """
    positive(multiple=multiple, load=load)
    rng = generator(rng)
    batches = rng.integers(2, 9, size=jobs)
    ratios = rng.choice([1, 2, 4], size=jobs)
    speeds = rng.choice([5, 6, 8], size=jobs)
    arrivals = _arrivals(rng, jobs, max(1, slots // 2))
    needed = batches * rng.uniform(0.5, max(0.5, slots / 3), size=jobs)
    if load is not None:
        needed = needed * min(1.0, load * machines * slots * multiple / float((needed * (1 + 1 / ratios)).sum()))
    return Instance(
        slots=slots,
        resources=tuple(_WORKER),
        machines=_machines(machines, {r: round(multiple * mean) for r, mean in _MEAN.items()}),
        jobs=tuple(
            Job(
                name=f"job{i + 1}",
                arrival=int(arrivals[i]),
                epochs=Fraction(1),
                samples=Fraction(max(4, round(4 * float(needed[i])))),
                batch=int(batches[i]),
                slots_per_sample=_COMPUTE,
                gradient_size=(Fraction(1, 4) - _COMPUTE) * int(batches[i]) / (2 * int(ratios[i])),
                workers_per_server=Fraction(int(ratios[i])),
                internal_rate=(Fraction(1, 4) - _COMPUTE) / (Fraction(1, int(speeds[i])) - _COMPUTE),
                external_rate=Fraction(1),
                worker=drawn_needs(rng, _WORKER),
                server=drawn_needs(rng, _SERVER),
                utility=_sigmoid(rng, (0.10, 0.55, 0.35), slots - 1),
            )
            for i in range(jobs)
        ),
    )


@checked
def paper(
    rng: np.random.Generator | int,
    *,
    jobs: AtLeast0 = 50,
    machines: AtLeast1 = 100,
    slots: AtLeast1 = 20,
    mix: str = "default",
) -> Instance:
    """Return an instance in the setting of the paper's evaluation (PD-ORS, Section 5).

    Ranges as printed; machines have 18 times the mean needs of a worker; arrivals come with rates 1/3 and 2/3 in odd
    and even slots. What the paper does not print is assumed and said so in `origin`.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        A generator, or a seed.
    jobs, machines, slots : int
    mix : str
        Shares of time-insensitive, -sensitive and -critical jobs: ``default`` 10, 55, 35 %; ``google`` 30, 69, 1 %.
    """
    rng = generator(rng)
    mixes = {"default": (0.10, 0.55, 0.35), "google": (0.30, 0.69, 0.01)}
    if mix not in mixes:
        raise InputError(f"mix: {mix!r} must be one of {', '.join(mixes)}")
    weights = np.where(np.arange(1, slots + 1) % 2, 1.0, 2.0)
    arrivals = np.sort(rng.choice(np.arange(1, slots + 1), size=jobs, p=weights / weights.sum()))
    return Instance(
        slots=slots,
        resources=tuple(_WORKER),
        machines=_machines(machines, {r: round(18 * mean) for r, mean in _MEAN.items()}),
        jobs=tuple(
            Job(
                name=f"job{i + 1}",
                arrival=int(arrivals[i]),
                epochs=Fraction(int(rng.integers(50, 201))),
                samples=Fraction(int(rng.integers(20_000, 500_001))),
                batch=int(rng.integers(1, 201)),
                slots_per_sample=rounded(rng.uniform(1e-5, 1e-4), 10**7),
                gradient_size=Fraction(int(rng.integers(30, 576))),
                workers_per_server=Fraction(int(rng.integers(1, 11))),
                internal_rate=Fraction(1_500_000),
                external_rate=Fraction(150_000),
                worker=drawn_needs(rng, _WORKER),
                server=drawn_needs(rng, _SERVER),
                utility=_sigmoid(rng, mixes[mix], 15),
            )
            for i in range(jobs)
        ),
        origin={
            "source": "PD-ORS, Section 5",
            "rates": "assumed: slots of 20 minutes, 1 Gbps between machines, 10 Gbps within one; not printed",
            "machine": "roughly 18 times the needs of a worker or server; assumed: 18 times a worker's mean needs",
            "arrivals": "rates of 1/3 and 2/3 in odd and even slots; assumed: each job has a slot, drawn with odds 1:2",
            "unit": "MB, slots",
        },
    )


@checked
def thesis(
    rng: np.random.Generator | int,
    *,
    jobs: AtLeast0 = 15,
    machines: AtLeast1 = 30,
    slots: AtLeast1 = 100,
    ratio: float = 40,
    seconds: float = 3600,
) -> Instance:
    """Return an asynchronous instance in the setting of the thesis's evaluation (chapter 4).

    Parameters
    ----------
    rng : numpy.random.Generator or int
        A generator, or a seed.
    jobs, machines, slots : int
    ratio : float
        b^(i) / b^(e), how much faster data are exchanged within a machine.
    seconds : float
        Of a slot, which the thesis does not print; by default an hour. A mini-batch takes .01 to .05 slots to compute
        and seconds to transfer: of an external one's time the transfer is 26 % in slots of an hour, 60 % in slots of
        ten minutes and 93 % in slots of a minute (mean of seeds 0 to 3), and jobs finish the later for it.
    """
    positive(ratio=ratio, seconds=seconds)
    rng = generator(rng)
    arrivals = _arrivals(rng, jobs, max(1, slots // 2))
    needs = {r: round(18 * (low + high) / 2) for r, (low, high) in _THESIS.items()}
    gigabit = 125 * rational(seconds)
    internal = [rounded(rate, 1000) * gigabit for rate in rng.uniform(0.1, 4, size=jobs)]
    return Instance(
        slots=slots,
        resources=tuple(_THESIS),
        machines=_machines(machines, needs),
        jobs=tuple(
            AsyncJob(
                name=f"job{i + 1}",
                arrival=int(arrivals[i]),
                epochs=Fraction(int(rng.integers(50, 151))),
                chunks=int(rng.integers(5, 21)),
                minibatches_per_chunk=Fraction(int(rng.integers(20, 41))),
                slots_per_minibatch=rounded(rng.uniform(0.01, 0.05), 10**4),
                gradient_size=Fraction(int(rng.integers(50, 101))),
                internal_rate=internal[i],
                external_rate=internal[i] / rational(ratio),
                server_rate=Fraction(int(rng.integers(4, 21)) * gigabit),
                worker=drawn_needs(rng, _THESIS),
                server=drawn_needs(rng, _THESIS),
                utility=Hyperbolic(scale=Fraction(1)),
            )
            for i in range(jobs)
        ),
        origin={
            "source": "PD-ORS thesis, chapter 4",
            "rates": f"drawn within a machine; assumed: slots of {seconds} s",
            "machine": "assumed: 18 times the mean needs, as in the paper's evaluation",
            "arrivals": "assumed: uniform over the first half of the slots",
            "unit": "MB, slots; assumed for g_i and tau_i, as in the paper's evaluation",
        },
    )


def _arrivals(rng: np.random.Generator, jobs: int, span: int) -> Any:
    arrivals = np.sort(rng.integers(0, span, size=jobs)) + 1
    arrivals[:1] = 1
    return arrivals


def _machines(count: int, capacity: dict[str, int]) -> tuple[Machine, ...]:
    room = {r: Fraction(c) for r, c in capacity.items()}
    return tuple(Machine(name=f"machine{h + 1}", capacity=room) for h in range(count))


def _sigmoid(rng: np.random.Generator, shares: tuple[float, float, float], latest: int) -> Sigmoid:
    insensitive, sensitive, _ = shares
    kind = rng.random()
    steepness = (
        0.0 if kind < insensitive else rng.uniform(0.01, 1) if kind < insensitive + sensitive else rng.uniform(4, 6)
    )
    return Sigmoid(
        height=rounded(rng.uniform(1, 100), 100),
        steepness=rounded(steepness, 1000),
        midpoint=Fraction(int(rng.integers(1, max(2, latest + 1)))),
    )


PRESETS: MappingProxyType[str, Callable[..., Instance]] = MappingProxyType(
    {"random": random, "benchmark": benchmark, "paper": paper, "thesis": thesis}
)
"""Family name to its function of a generator and sizes."""

preset = chooser(PRESETS)
