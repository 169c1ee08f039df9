"""Networks of the Internet Topology Zoo into DDLJS instances.

Source: Knight, Nguyen, Falkner, Bowden, Roughan, The Internet Topology Zoo (IEEE JSAC 29(9), 2011), in GraphML or as
alib's YAML. Bandwidths are in Gbit/s.

>>> from pathlib import Path
>>> from dlsched.traces import topology_zoo
>>> nodes = "".join(f"<node id='{name}'/>" for name in "abc")
>>> edges = "".join(f"<edge source='{u}' target='{v}'/>" for u, v in ("ab", "bc", "ca"))
>>> graph = f"<graph edgedefault='undirected'>{nodes}{edges}</graph>"
>>> _ = Path("ring.graphml").write_text(f"<graphml>{graph}</graphml>")
>>> instance = topology_zoo.convert("ring.graphml", servers="all", gpus="2", bandwidth="10")
>>> {node.name: int(node.capacity["gpu"]) for node in instance.nodes}
{'a': 2, 'b': 2, 'c': 2}
>>> [(link.source, link.target, int(link.bandwidth)) for link in instance.links]
[('a', 'b', 10), ('a', 'c', 10), ('b', 'c', 10)]
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dlsched.arguments import Seed, checked, seed_of
from dlsched.errors import InputError, shown
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.presets import GPUS, paper_assumptions, paper_jobs
from dlsched.models.fields import MAX_SLOTS
from dlsched.models.files import PathLike
from dlsched.models.numbers import rational
from dlsched.traces.reader import Reader
from dlsched.traces.substrate import Substrate, substrate
from dlsched.traces.topology_files import Topology, read_topology

__all__ = ["Substrate", "Topology", "convert", "parse_bandwidth", "parse_gpus", "read_topology", "substrate"]


@checked
def parse_gpus(text: str) -> tuple[int, ...]:
    """Read ``"1,2,4,8"``: the numbers of GPUs that a server may have.

    Raises
    ------
    InputError
        If an item is not a positive whole number of at most nine digits.
    """
    items = [item.strip() for item in text.split(",")]
    for item in items:
        if not (item.isascii() and item.isdigit() and len(item) <= 9 and int(item)):
            raise InputError(f"gpus: {shown(item)} must be a positive whole number, as in 1,2,4,8")
    return tuple(int(item) for item in items)


@checked
def parse_bandwidth(text: str) -> tuple[Fraction, Fraction]:
    """Read ``"10"`` or ``"10,100"``: a bandwidth, or the least and the greatest.

    Raises
    ------
    InputError
        If these are not one or two numbers.
    """
    try:
        numbers = [rational(item) for item in text.split(",")]
    except ValueError as error:
        raise InputError(f"bandwidth: {error}") from None
    if len(numbers) > 2:
        raise InputError(f"bandwidth: {shown(text)} must be a number, or LOWEST,HIGHEST")
    return numbers[0], numbers[-1]


@checked
def convert(
    path: PathLike,
    *,
    servers: str | int = "internal",
    gpus: Sequence[int] | str = GPUS,
    bandwidth: tuple[object, object] | str | None = None,
    half: bool = False,
    jobs: int = 0,
    slots: int = 1,
    workers: int = 5,
    budget: str = "worker-slots",
    seed: Seed = 0,
) -> Instance:
    """Make a DDLJS instance of a file of the Topology Zoo.

    A disconnected network stays disconnected. `Instance.origin` says what was chosen, drawn, added up and dropped.

    Parameters
    ----------
    path : path
        GraphML or YAML.
    servers : str or int
        Nodes with GPUs: ``internal``, ``all``, or how many of the internal ones to draw; see `substrate`.
    gpus : sequence of int, or str
        What servers may have, drawn; as text, e.g. ``1,2,4,8``.
    bandwidth : pair of numbers or str, optional
        Of links without a speed, in Gbit/s: a range to draw in; as text a number or two, e.g. ``10`` or ``1,10``.
    half : bool
        Both directions of an undirected link share its bandwidth; else each has it.
    jobs : int
        How many to draw as the evaluation of GADGET does, see `dlsched.models.ddljs.presets.paper_jobs`.
    slots : int
        How many slots the instance has, T.
    workers : int
        The most workers of a job that is drawn: N_i is uniform on 1 up to this.
    budget : str
        How F_i of the jobs drawn is read: worker-slots or iterations.
    seed : int or numpy.random.Generator
        Of the draws.

    Raises
    ------
    InputError
        One line that names the file, the place, the value and the rule.
    """
    if isinstance(gpus, str):
        gpus = parse_gpus(gpus)
    if isinstance(bandwidth, str):
        bandwidth = parse_bandwidth(bandwidth)
    if isinstance(servers, str) and servers.isdecimal() and len(servers) <= 9:
        servers = int(servers)
    for name, value, least, most in (
        ("jobs", jobs, 0, 10**6),
        ("slots", slots, 1, MAX_SLOTS),
        ("workers", workers, 1, 10**6),
    ):
        if not least <= value <= most:
            raise InputError(f"{name}: {value} must be from {least} to {most}")
    seed = seed_of(seed)
    topology = read_topology(path)
    rng = np.random.default_rng(seed)
    try:
        network = substrate(topology.graph, rng, servers=servers, gpus=gpus, bandwidth=bandwidth)
        if half and network.directed:
            raise InputError("half: the links of the file have a direction")
        drawn = paper_jobs(rng, jobs=jobs, slots=slots, workers=workers, budget=budget)
        return Instance.parse(
            {
                "slots": slots,
                "resources": ["gpu"],
                "nodes": network.nodes,
                "links": network.links,
                "duplex": False if network.directed else "half" if half else True,
                "jobs": drawn,
                "origin": _origin(topology, network, half, jobs, budget, seed),
            }
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _origin(topology: Topology, network: Substrate, half: bool, jobs: int, budget: str, seed: int) -> dict[str, str]:
    graph, source = topology.graph, topology.source
    directions = "share the bandwidth of a link" if half else "have the bandwidth of a link each"
    return {
        "format": "topology-zoo",
        "file": f"{source.name}, sha256 {source.sha256}, {topology.layout}, {len(graph)} nodes, "
        f"{graph.number_of_edges()} edges",
        **network.notes,
        "directions": "of the file's edges" if network.directed else f"assumed: both, they {directions}",
        "seed": str(seed),
        "jobs": f"{jobs} drawn as in GADGET, Section VI" if jobs else "none",
        **(paper_assumptions(budget) if jobs else {}),
    }


READER = Reader("topology-zoo", "ddljs", "Networks of the Internet Topology Zoo, as GraphML or alib's YAML", convert)
