"""Small random DDLJS instances, made so that exhaustive search can solve them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dlsched.arguments import AtLeast0, AtLeast1, checked, generator
from dlsched.errors import InputError
from dlsched.lazy import nx
from dlsched.models.ddljs.instance import Instance, Link, Node
from dlsched.models.ddljs.job import Job
from dlsched.models.utility import Linear, Sigmoid, Sqrt, Table, Utility

SHAPES = ("mesh", "star", "ring", "any")
UTILITIES = ("concave", "sigmoid", "table", "any")


@checked
def random(
    rng: np.random.Generator | int,
    *,
    jobs: AtLeast0 = 2,
    servers: AtLeast1 = 3,
    resources: AtLeast1 = 1,
    slots: AtLeast1 = 2,
    workers: AtLeast1 = 3,
    shape: str = "any",
    utility: str = "any",
    varying: bool = False,
    half: bool = False,
) -> Instance:
    """Return a random instance.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        A generator, or a seed.
    jobs, servers, resources, slots : int
        How many there are.
    workers : int
        The most workers of a job in a slot.
    shape : str
        ``mesh`` (random links among servers), ``star`` (one switch), ``ring`` (directed cycle) or ``any``.
    utility : str
        ``concave`` (square roots and lines), ``sigmoid``, ``table`` (any whole numbers) or ``any``.
    varying : bool
        Bandwidths of some links differ by slot.
    half : bool
        Both directions of a link share its bandwidth; refused with ``ring``, and of no effect where ``any`` draws one.

    Notes
    -----
    Capacities, needs and bandwidths are small whole numbers; a link may be too narrow for a job, a job may need more
    than a server has, and budgets may cut a job short.

    Raises
    ------
    InputError
        If there is no such shape or utility, or a ring is to be half.

    Examples
    --------
    >>> from dlsched.models import ddljs
    >>> instance = ddljs.random(7, servers=4, shape="mesh", utility="concave")
    >>> len(instance.nodes), instance == ddljs.random(7, servers=4, shape="mesh", utility="concave")
    (4, True)
    """
    rng = generator(rng)
    for name, value, known in (("shape", shape, SHAPES), ("utility", utility, UTILITIES)):
        if value not in known:
            raise InputError(f"{name}: {value!r} must be one of {', '.join(known)}")
    if half and shape == "ring":
        raise InputError("half: a ring's links have one direction; half is for mesh, star and any")
    chosen = str(rng.choice(SHAPES[:3])) if shape == "any" else shape
    names = tuple(f"resource{r + 1}" for r in range(resources))
    nodes = [
        Node(name=f"server{s + 1}", capacity={r: Fraction(int(rng.integers(0, 4))) for r in names})
        for s in range(servers)
    ]
    links = _links(rng, chosen, [node.name for node in nodes])
    if chosen == "star":
        nodes.append(Node(name="switch"))
    return Instance(
        slots=slots,
        resources=names,
        nodes=tuple(nodes),
        links=links,
        duplex=False if chosen == "ring" else "half" if half else True,
        bandwidth_by_slot=_changes(rng, links, slots) if varying else None,
        jobs=tuple(_job(rng, i, names, slots, workers, utility) for i in range(jobs)),
    )


def _links(rng: np.random.Generator, shape: str, servers: list[str]) -> tuple[Link, ...]:
    graph = {
        "star": lambda: nx.Graph([(server, "switch") for server in servers]),
        "ring": lambda: nx.cycle_graph(servers, create_using=nx.DiGraph) if len(servers) > 1 else nx.DiGraph(),
        "mesh": lambda: nx.Graph([(u, v) for i, u in enumerate(servers) for v in servers[:i] if rng.random() < 0.6]),
    }[shape]()
    return tuple(Link(source=u, target=v, bandwidth=_bandwidth(rng)) for u, v in graph.edges)


def _bandwidth(rng: np.random.Generator) -> Fraction:
    return Fraction(int(rng.integers(0, 5)), 2)


def _changes(rng: np.random.Generator, links: tuple[Link, ...], slots: int) -> dict[int, tuple[Link, ...]]:
    return {
        slot: tuple(link.model_copy(update={"bandwidth": _bandwidth(rng)}) for link in links if rng.random() < 0.5)
        for slot in range(2, slots + 1)
    }


def _job(
    rng: np.random.Generator, number: int, resources: tuple[str, ...], slots: int, workers: int, utility: str
) -> Job:
    needs = rng.integers(0, 3, size=len(resources))
    needs[rng.integers(len(resources))] = 1
    most = int(rng.integers(1, workers + 1))
    budget = {
        r: Fraction(int(n) * int(rng.integers(1, 2 * most * slots))) for r, n in zip(resources, needs, strict=True)
    }
    progress = int(rng.integers(1, 3))
    return Job(
        name=f"job{number + 1}",
        arrival=int(rng.integers(1, slots + 1)),
        max_workers=most,
        worker={r: Fraction(int(n)) for r, n in zip(resources, needs, strict=True) if n},
        budget={r: f for r, f in budget.items() if f} if rng.random() < 0.6 else None,
        progress=Fraction(progress),
        bandwidth=Fraction(int(rng.integers(1, 3)), 2),
        utility=_utility(rng, utility, progress * most * slots),
    )


def _utility(rng: np.random.Generator, kind: str, last: int) -> Utility:
    drawn = str(rng.choice(UTILITIES[:3])) if kind == "any" else kind
    height = Fraction(int(rng.integers(1, 10)))
    if drawn == "table":
        values = np.sort(rng.integers(0, 21, size=last))
        return Table(values=(Fraction(0), *(Fraction(int(v)) for v in values)))
    if drawn == "sigmoid":
        middle = Fraction(int(rng.integers(1, last + 1)))
        return Sigmoid(height=height, steepness=Fraction(-int(rng.integers(1, 5)), 2), midpoint=middle)
    if rng.random() < 0.5:
        return Sqrt(scale=height)
    return Linear(intercept=Fraction(0), slope=-height)
