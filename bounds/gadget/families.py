"""Seeded families of DDLJS instances on which the claims are checked: so small that all of their plans are enumerated.

None is a counterexample written down: each describes a kind of workload, and violations in it are found by drawing.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

from dlsched.arithmetic import power
from dlsched.bounds.claim import Source
from dlsched.models.ddljs import Instance, Job, Link, Node, random
from dlsched.models.utility import Linear, Sigmoid, Sqrt, Table, Utility

_GPU = {"gpu": Fraction(1)}
"""One GPU: what a worker takes and, in the small families, a server has, so that all that matters is who gets it."""


def tiny(rng: np.random.Generator) -> Instance:
    """Return a small instance without structure: 1-2 jobs, 1-3 servers, 1-2 resources, 1-3 slots, any utility."""
    return random(
        rng,
        jobs=int(rng.integers(1, 3)),
        servers=int(rng.integers(1, 4)),
        resources=int(rng.integers(1, 3)),
        slots=int(rng.integers(1, 4)),
        varying=bool(rng.random() < 0.5),
        half=bool(rng.random() < 0.2),
        shape=str(rng.choice(["mesh", "star"])),
    )


def concave(rng: np.random.Generator) -> Instance:
    """Return the same with concave utilities, on any shape."""
    shape = str(rng.choice(["mesh", "star", "ring"]))
    return random(
        rng,
        jobs=int(rng.integers(1, 3)),
        servers=int(rng.integers(2, 4)),
        slots=int(rng.integers(2, 4)),
        utility="concave",
        varying=bool(rng.random() < 0.5),
        shape=shape,
    )


def thresholds(rng: np.random.Generator) -> Instance:
    """Return jobs of Section VI: sigmoids that say little before some progress is made, on few servers."""
    slots = int(rng.integers(5, 9))
    jobs = []
    for i in range(int(rng.integers(2, 4))):
        progress = int(rng.integers(50, 501))
        utility = Sigmoid(
            height=Fraction(int(rng.integers(1, 101))),
            steepness=-Fraction(round(1000 * power(10, rng.uniform(-3, -0.1))), 1000),
            midpoint=Fraction(int(rng.integers(300, 1001))),
        )
        jobs.append(_job(i, 1, 1, Fraction(progress), utility))
    return Instance(slots=slots, resources=("gpu",), nodes=(Node(name="server1", capacity=_GPU),), jobs=tuple(jobs))


def outages(rng: np.random.Generator) -> Instance:
    """Return a directed ring of one-GPU servers whose links are down in some slots."""
    servers, slots = int(rng.choice([3, 4, 5, 5])), int(rng.integers(2, 4))
    names = [f"server{s + 1}" for s in range(servers)]
    links = [Link(source=u, target=v, bandwidth=Fraction(1)) for u, v in zip(names, names[1:] + names[:1], strict=True)]
    down = {
        slot: tuple(link.model_copy(update={"bandwidth": Fraction(0)}) for link in links)
        for slot in range(1, slots + 1)
        if rng.random() < (0.8 if slot < slots else 0.2)
    }
    jobs = [
        _job(i, 1, servers if i == 0 else 1, Fraction(1), _concave(rng), budget=servers if i == 0 else None)
        for i in range(int(rng.integers(1, 3)))
    ]
    return Instance(
        slots=slots,
        resources=("gpu",),
        nodes=tuple(Node(name=name, capacity=_GPU) for name in names),
        links=tuple(links),
        bandwidth_by_slot=down or None,
        jobs=tuple(jobs),
    )


def lasting(rng: np.random.Generator) -> Instance:
    """Return one or two jobs with concave utilities that share a small server for many slots, often with a budget."""
    jobs = []
    for i in range(int(rng.integers(1, 3))):
        budget = int(rng.integers(2, 5)) if rng.random() < 0.6 else None
        jobs.append(_job(i, 1, int(rng.integers(1, 4)), Fraction(1), _concave(rng), budget=budget))
    node = Node(name="server1", capacity={"gpu": Fraction(int(rng.integers(1, 4)))})
    return Instance(slots=int(rng.integers(4, 9)), resources=("gpu",), nodes=(node,), jobs=tuple(jobs))


def pairs(rng: np.random.Generator) -> Instance:
    """Return two pairs of one-GPU servers: of two kinds on the ends of one link between switches, or with no link.

    Utilities are concave tables.
    """
    joined = bool(rng.random() < 0.5)
    kinds = ("gpu", "tpu") if joined and rng.random() < 0.8 else ("gpu", "gpu")
    ends = [("left", "right") if joined else (f"switch{p}", f"switch{p}") for p in (1, 2)]
    links = [
        Link(source=f"server{2 * p + side + 1}", target=ends[p][side], bandwidth=Fraction(1))
        for p in range(2)
        for side in range(2)
    ]
    if joined:
        links.append(Link(source="left", target="right", bandwidth=Fraction(int(rng.integers(2, 5)), 2)))
    nodes = [Node(name=f"server{n + 1}", capacity={kinds[n // 2]: Fraction(1)}) for n in range(4)]
    nodes += [Node(name=name) for name in dict.fromkeys(end for pair in ends for end in pair)]
    jobs = []
    for i in range(2 if joined else int(rng.integers(1, 3))):
        gains = sorted(rng.integers(0, 10, size=4).tolist(), reverse=True)
        values = (Fraction(0), *map(Fraction, itertools.accumulate(gains)))
        job = _job(i, 1, 2 if joined else int(rng.integers(2, 5)), Fraction(1), Table(values=values))
        jobs.append(job.model_copy(update={"worker": {kinds[i]: Fraction(1)}}))
    return Instance(
        slots=1,
        resources=tuple(dict.fromkeys(kinds)),
        nodes=tuple(nodes),
        links=tuple(links),
        duplex=True,
        jobs=tuple(jobs),
    )


def one_slot(rng: np.random.Generator) -> Instance:
    """Return one slot: of 1-3 jobs on 2-3 servers, of small servers without links, or of resources in a circle."""
    kind = rng.random()
    if kind < 0.3:
        return _small_servers(rng, 1)
    if kind < 0.6:
        return _circle(rng, 1)
    return random(
        rng,
        jobs=int(rng.integers(1, 4)),
        servers=int(rng.integers(2, 4)),
        slots=1,
        shape=str(rng.choice(["mesh", "star"])),
        utility="concave" if rng.random() < 0.6 else "any",
    )


def joint(rng: np.random.Generator) -> Instance:
    """Return one slot of one or two jobs whose needs do not divide what a server has, or their budgets."""
    names = [f"server{s + 1}" for s in range(int(rng.integers(1, 3)))]
    jobs = []
    for i in range(int(rng.integers(1, 3))):
        need = Fraction(int(rng.integers(1, 4)))
        job = _job(i, 1, int(rng.integers(2, 5)), Fraction(1), _concave(rng))
        budget = {"gpu": Fraction(int(rng.integers(int(need), 9)))} if rng.random() < 0.7 else None
        jobs.append(job.model_copy(update={"worker": {"gpu": need}, "budget": budget}))
    return Instance(
        slots=1,
        resources=("gpu",),
        nodes=tuple(Node(name=name, capacity={"gpu": Fraction(int(rng.integers(3, 9)))}) for name in names),
        links=tuple(Link(source=u, target=v, bandwidth=Fraction(1)) for u, v in itertools.pairwise(names)),
        duplex=True,
        jobs=tuple(jobs),
    )


def shared(rng: np.random.Generator) -> Instance:
    """Return one slot of two or three servers with GPUs for a worker and a half, one job more, and memory for all."""
    servers = int(rng.integers(2, 4))
    resources = ("gpu", "memory")[: 2 if rng.random() < 0.8 else 1]
    have = {"gpu": Fraction(3), "memory": Fraction(int(rng.integers(3, 6)))}
    need = {"gpu": Fraction(2), "memory": Fraction(1)}
    jobs = tuple(
        _job(i, 1, int(rng.integers(1, 3)), Fraction(1), _concave(rng)).model_copy(
            update={"worker": {r: need[r] for r in resources}}
        )
        for i in range(servers + 1)
    )
    nodes = tuple(Node(name=f"server{s + 1}", capacity={r: have[r] for r in resources}) for s in range(servers))
    return Instance(slots=1, resources=resources, nodes=nodes, jobs=jobs)


def few(rng: np.random.Generator) -> Instance:
    """Return 1-2 slots of concave jobs: on 1-2 servers, on small servers without links, or on resources in a circle."""
    slots, kind = int(rng.integers(1, 3)), int(rng.integers(3))
    if kind == 1:
        return _small_servers(rng, slots)
    if kind == 2:
        return _circle(rng, slots)
    servers = int(rng.integers(1, 3))
    return random(rng, jobs=2, servers=servers, slots=slots, workers=2, shape="mesh", utility="concave")


def _small_servers(rng: np.random.Generator, slots: int) -> Instance:
    """Return one-GPU servers that no link joins, and jobs that want a worker on each."""
    nodes = tuple(Node(name=f"server{s + 1}", capacity=_GPU) for s in range(int(rng.integers(2, 4))))
    jobs = tuple(_job(i, 1, len(nodes), Fraction(1), _concave(rng)) for i in range(int(rng.integers(1, 3))))
    return Instance(slots=slots, resources=("gpu",), nodes=nodes, jobs=jobs)


def _circle(rng: np.random.Generator, slots: int) -> Instance:
    """Return a server with one of each of three resources, and three jobs that need two of them each."""
    names = ("gpu", "cpu", "memory")
    jobs = []
    for i, left_out in enumerate(names):
        utility = Linear(intercept=Fraction(0), slope=-Fraction(int(rng.integers(3, 6))))
        worker = {r: Fraction(1) for r in names if r != left_out}
        jobs.append(_job(i, 1, 1, Fraction(1), utility).model_copy(update={"worker": worker}))
    node = Node(name="server1", capacity=dict.fromkeys(names, Fraction(1)))
    return Instance(slots=slots, resources=names, nodes=(node,), jobs=tuple(jobs))


def wheel(rng: np.random.Generator) -> Instance:
    """Return 3, 5 or 8 jobs in a circle that only one of three servers can host, in one slot: see `wheel_of`."""
    jobs, needs = [(3, 2), (5, 3), (5, 3), (8, 3)][int(rng.integers(4))]
    return wheel_of(rng, jobs, needs, 1)


def wheels(rng: np.random.Generator) -> Instance:
    """Return the same with 3 or 5 jobs in two slots; each job can pay for one or two worker-slots."""
    jobs, needs = [(3, 2), (5, 3), (5, 3)][int(rng.integers(3))]
    return wheel_of(rng, jobs, needs, 2)


def wheel_of(rng: np.random.Generator, jobs: int, needs: int, slots: int) -> Instance:
    """Return jobs in a circle: each needs as many resources, one of each, from its own on, and all of them memory.

    With one of each resource, and memory for jobs/needs of the jobs, the linear program has 1/needs of every job, if
    they are worth about the same: where jobs and needs have no common divisor, all its rows are then tight and
    independent. All jobs can be drawn at once, which overloads the memory by beta from 5 jobs and needs of 3 on.
    """
    own = tuple(f"resource{j + 1}" for j in range(jobs))
    nodes = (
        Node(name="server1", capacity=dict.fromkeys(own, Fraction(1)) | {"memory": Fraction(jobs, needs)}),
        Node(name="server2", capacity={"memory": Fraction(1)}),
        Node(name="server3", capacity={own[0]: Fraction(1)}),
    )
    chosen = []
    for i in range(jobs):
        worker = dict.fromkeys((own[(i + j) % jobs] for j in range(needs)), Fraction(1)) | {"memory": Fraction(1)}
        height, last = int(rng.integers(9, 11)), int(rng.integers(1, slots + 1))
        utility = Linear(intercept=Fraction(0), slope=-Fraction(height))
        job = _job(i, 1, 1, Fraction(1), utility)
        budget = dict.fromkeys(worker, Fraction(last))
        chosen.append(job.model_copy(update={"worker": worker, "budget": budget}))
    return Instance(slots=slots, resources=(*own, "memory"), nodes=nodes, jobs=tuple(chosen))


def _concave(rng: np.random.Generator) -> Utility:
    height = Fraction(int(rng.integers(1, 10)))
    return Sqrt(scale=height) if rng.random() < 0.3 else Linear(intercept=Fraction(0), slope=-height)


def _job(
    number: int, arrival: int, workers: int, progress: Fraction, utility: Utility, budget: int | None = None
) -> Job:
    """Return a job whose workers need one GPU each, and whose ring reserves a bandwidth of 1."""
    return Job(
        name=f"job{number + 1}",
        arrival=arrival,
        max_workers=workers,
        worker=_GPU,
        budget=None if budget is None else {"gpu": Fraction(budget)},
        progress=progress,
        bandwidth=Fraction(1),
        utility=utility,
    )


TINY = Source("ddljs/tiny", tiny)
CONCAVE = Source("ddljs/concave", concave)
THRESHOLDS = Source("ddljs/thresholds", thresholds)
OUTAGES = Source("ddljs/outages", outages)
LASTING = Source("ddljs/lasting", lasting)
PAIRS = Source("ddljs/pairs", pairs)
SLOT = Source("ddljs/slot", one_slot)
FEW = Source("ddljs/few", few, cost=2)
WHEELS = Source("ddljs/wheels", wheel, cost=8)
COUPLED = Source("ddljs/coupled", wheels, cost=20)
JOINT = Source("ddljs/joint", joint)
SHARED = Source("ddljs/shared", shared)
