"""Named families of DDLJS instances: small random ones, the one-slot benchmark, and the setting of the evaluation."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from dlsched.arguments import AtLeast0, AtLeast1, AtLeast2, checked, generator
from dlsched.errors import InputError
from dlsched.models.ddljs.instance import Instance, Link, Node
from dlsched.models.ddljs.job import Job
from dlsched.models.ddljs.random import random
from dlsched.models.presets import chooser, rounded
from dlsched.models.utility import Sigmoid, Sqrt

BUDGETS = ("worker-slots", "iterations")
"""How F_i of GADGET, Section VI, can be read: as the specialised (3) compares it, or as the text calls it."""

_CORES = 2
"""Core switches: assumed, the fewest that leave a choice of paths; the paper prints no number."""

GPUS = (1, 2, 4, 8)
"""What servers have (GADGET, Section VI)."""

_SERVER_LINK = (10.0, 100.0)
"""Gbit/s between a server and its rack (GADGET, Section VI)."""

_CORE_LINK = (200.0, 3200.0)
"""Gbit/s between racks (GADGET, Section VI)."""


@checked
def benchmark(
    rng: np.random.Generator | int,
    *,
    servers: AtLeast1 = 10,
    jobs: AtLeast0 = 10,
    workers: AtLeast2 = 5,
    slots: AtLeast1 = 1,
    tight: bool = False,
) -> Instance:
    """Return an instance of the benchmark family, made to be hard at small sizes.

    Servers stand in racks of about 12 (two racks at least); every rack's switch is linked with two core switches. A
    worker takes one GPU, and k worker-slots of a job are worth U[1,100] sqrt(k). With one slot, k is the size of the
    ring. Bandwidths are in Gbit/s.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        A generator, or a seed.
    servers, jobs : int
        How many there are, S and J: (5,5), (10,10), (20,10), (20,20), (50,10), (50,20) are in use.
    workers : int
        K, the most workers of a job; each N_i is uniform on 2..K.
    slots : int
        T; with several, jobs arrive in the first half of them.
    tight : bool
        Few GPUs, 1 or 2 a server, and narrow links: servers' by 8, cores' by 40.

    Raises
    ------
    InputError
        If a size is too small; `workers` must be at least 2.
    """
    rng = generator(rng)
    racks = np.arange(servers) % max(2, math.ceil(servers / 12))
    nodes, links = _tree(rng, racks, (1, 1, 2) if tight else GPUS, (8, 40) if tight else (1, 1))
    arrivals = np.sort(rng.integers(0, max(1, slots // 2), size=jobs)) + 1
    return Instance(
        slots=slots,
        resources=("gpu",),
        nodes=nodes,
        links=links,
        duplex=True,
        jobs=tuple(
            Job(
                name=f"job{i + 1}",
                arrival=int(arrivals[i]),
                max_workers=int(rng.integers(2, workers + 1)),
                worker={"gpu": Fraction(1)},
                progress=Fraction(1),
                bandwidth=rounded(rng.uniform(0.1, 5), 100),
                utility=Sqrt(scale=rounded(rng.uniform(1, 100), 100)),
            )
            for i in range(jobs)
        ),
    )


@checked
def paper(
    rng: np.random.Generator | int,
    *,
    jobs: AtLeast0 = 50,
    servers: AtLeast1 = 50,
    slots: AtLeast1 = 200,
    workers: AtLeast1 = 5,
    budget: str = "worker-slots",
) -> Instance:
    """Return an instance in the setting of the paper's evaluation (GADGET, Section VI).

    Ranges as printed; the sigmoid utility rises. What the paper does not print is assumed and said so in `origin`.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        A generator, or a seed.
    jobs, servers, slots : int
        How many there are; the paper has 50 servers and 200 slots, and prints no number of jobs.
    workers : int
        The most workers of a job: N_i is uniform on 1 up to this.
    budget : str
        How F_i is read: worker-slots or iterations, see `paper_jobs`.

    Raises
    ------
    InputError
        If there is no such reading of the budget.
    """
    rng = generator(rng)
    racks = rng.integers(int(rng.integers(2, 6)), size=servers)
    nodes, links = _tree(rng, racks, GPUS, (1, 1))
    return Instance(
        slots=slots,
        resources=("gpu",),
        nodes=nodes,
        links=links,
        duplex=True,
        jobs=paper_jobs(rng, jobs=jobs, slots=slots, workers=workers, budget=budget),
        origin={
            "source": "GADGET, Section VI",
            "unit": "Gbit/s",
            "network": f"assumed: {_CORES} core switches, each linked with every rack at the bandwidth between racks; "
            "every link has its bandwidth in both directions",
            **paper_assumptions(budget),
        },
    )


def paper_jobs(
    rng: np.random.Generator, *, jobs: int, slots: int, workers: int = 5, budget: str = "worker-slots"
) -> tuple[Job, ...]:
    """Draw jobs as the paper's evaluation does (GADGET, Section VI), one GPU a worker and bandwidths in Gbit/s.

    Parameters
    ----------
    rng : numpy.random.Generator
    jobs, slots : int
    workers : int
        The most workers of a job: N_i is uniform on 1 up to this.
    budget : str
        F_i in [1000, 6000] limits ``worker-slots``, as (3) is printed there, and then never binds, as N_i T is at most
        1000; or it counts ``iterations``, as the text calls it: K_i = floor(F_i / zeta_i) worker-slots.

    Raises
    ------
    InputError
        If there is no such reading of the budget.
    """
    if budget not in BUDGETS:
        raise InputError(f"budget: {budget!r} must be one of {', '.join(BUDGETS)}")
    arrivals = np.sort(rng.integers(1, slots + 1, size=jobs))
    return tuple(_paper_job(rng, i, int(arrivals[i]), workers, budget) for i in range(jobs))


def paper_assumptions(budget: str) -> dict[str, str]:
    """Return what `paper_jobs` assumes, for an instance's `origin`."""
    meaning = {
        "worker-slots": "F in [1000, 6000] taken as worker-slots, as (3) is printed there",
        "iterations": "F in [1000, 6000] taken as iterations: floor(F / zeta) worker-slots",
    }
    return {
        "arrivals": "assumed: uniform over the slots; the paper takes the pattern of the Google cluster data",
        "budget": meaning[budget],
        "utility": "assumed: the sensitivity lambda_2 is uniform on .001, .002, ..., .999",
    }


def _paper_job(rng: np.random.Generator, number: int, arrival: int, workers: int, budget: str) -> Job:
    progress, limit = int(rng.integers(50, 501)), int(rng.integers(1000, 6001))
    return Job(
        name=f"job{number + 1}",
        arrival=arrival,
        max_workers=int(rng.integers(1, workers + 1)),
        worker={"gpu": Fraction(1)},
        budget={"gpu": Fraction(limit if budget == "worker-slots" else limit // progress)},
        progress=Fraction(progress),
        bandwidth=Fraction(int(rng.integers(100, 5001)), 1000),
        utility=Sigmoid(
            height=rounded(rng.uniform(1, 100), 100),
            steepness=-Fraction(int(rng.integers(1, 1000)), 1000),
            midpoint=Fraction(int(rng.integers(300, 3001))),
        ),
    )


def _tree(
    rng: np.random.Generator, racks: np.ndarray, gpus: tuple[int, ...], divisors: tuple[int, int]
) -> tuple[tuple[Node, ...], tuple[Link, ...]]:
    """Return servers in racks, one switch a rack, and core switches that every rack is linked with."""
    servers = [
        Node(name=f"server{s + 1}", capacity={"gpu": Fraction(int(rng.choice(gpus)))}) for s in range(len(racks))
    ]
    switches = [f"rack{r + 1}" for r in range(int(racks.max(initial=0)) + 1)]
    cores = [f"core{c + 1}" for c in range(_CORES)]
    links = [
        Link(source=server.name, target=switches[r], bandwidth=rounded(rng.uniform(*_SERVER_LINK) / divisors[0], 100))
        for server, r in zip(servers, racks, strict=True)
    ]
    links += [
        Link(source=switch, target=core, bandwidth=rounded(rng.uniform(*_CORE_LINK) / divisors[1], 100))
        for switch in switches
        for core in cores
    ]
    return (*servers, *(Node(name=name) for name in (*switches, *cores))), tuple(links)


PRESETS: MappingProxyType[str, Callable[..., Instance]] = MappingProxyType(
    {"random": random, "benchmark": benchmark, "paper": paper}
)
"""Family name to its function of a generator and sizes."""

preset = chooser(PRESETS)
