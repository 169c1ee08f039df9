"""Rings on a substrate: mappings of ring nodes, embeddings of workers, and the way from closed walks to rings.

A closed walk through all servers that host workers of a job gives a ring: visit them in the order in which the walk
first meets them, and leave out every loop of the walk in between. No link is used more often than the walk uses it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from pydantic import model_validator

from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.models.document import Record
from dlsched.models.fields import Amount

Arc = tuple[str, str]
Path = tuple[str, ...]


def arcs_of(path: Iterable[str]) -> tuple[Arc, ...]:
    """Return the arcs that a path of nodes uses, in its order."""
    return tuple(itertools.pairwise(path))


class Embedding(Record):
    """The workers of a job in one slot, and the ring that joins them.

    Attributes
    ----------
    workers : dict of str to int
        y_is[t], by server.
    ring : tuple of tuple of str
        Empty where one server hosts all; else one path for each hop between servers, in ring order: each starts where
        the one before it ends, the last ends where the first starts.
    order : tuple of str, optional
        The server of each worker in ring order, for a job whose `placement` tells the workers apart.

    Examples
    --------
    >>> from dlsched.models.ddljs import Embedding
    >>> ring = Embedding(workers={"s1": 2, "s2": 1}, ring=(("s1", "switch", "s2"), ("s2", "s1")))
    >>> sum(ring.workers.values()), [len(path) - 1 for path in ring.ring]
    (3, [2, 1])
    """

    workers: dict[str, Amount]
    ring: tuple[Path, ...] = ()
    order: Path | None = None

    @model_validator(mode="after")
    def _paths_have_ends(self) -> Self:
        for n, path in enumerate(self.ring):
            if len(path) < 2:
                raise ValueError(f"ring[{n}]: {list(path)} is not a path from one server to another")
        return self

    @property
    def size(self) -> int:
        """The number of workers."""
        return sum(self.workers.values())

    def loads(self) -> Counter[Arc]:
        """Return how often the ring uses each arc."""
        return Counter(arc for path in self.ring for arc in arcs_of(path))


def broken_ring(embedding: Embedding, placement: Sequence[Collection[str]] | None = None) -> str | None:
    """Return how the paths of an embedding fail to be one directed cycle through its servers (9), or None.

    Parameters
    ----------
    embedding : Embedding
    placement : sequence of collections of str, optional
        For each worker in ring order the nodes that may host it; the embedding then needs its order.
    """
    return _broken_order(embedding, placement) or _broken_cycle(embedding)


def _broken_order(embedding: Embedding, placement: Sequence[Collection[str]] | None) -> str | None:
    order = embedding.order
    if order is None:
        return None if placement is None else "the job has a placement, so the order of its workers is needed"
    if Counter(order) != Counter(embedding.workers):
        return f"the order {', '.join(order)} is not that of the workers"
    for worker, (node, allowed) in enumerate(zip(order, placement or (), strict=False)):
        if node not in allowed:
            return f"worker {worker} is on {node}; its placement allows {', '.join(allowed)}"
    return None


def _broken_cycle(embedding: Embedding) -> str | None:
    servers = [node for node, n in embedding.workers.items() if n > 0]
    starts = [path[0] for path in embedding.ring]
    ends = [path[-1] for path in embedding.ring]
    if len(servers) < 2:
        return "one server needs no paths" if embedding.ring else None
    if not embedding.ring:
        return f"no ring visits the {len(servers)} servers"
    for end, start in zip(ends, (*starts[1:], starts[0]), strict=True):
        if end != start:
            return f"a path ends at {end} and the next starts at {start}"
    if embedding.order is not None:
        turned = (*embedding.order[1:], embedding.order[0])
        wanted = [u for u, v in zip(embedding.order, turned, strict=True) if u != v]
        return None if starts == wanted else f"the ring visits {', '.join(starts)}, the workers {', '.join(wanted)}"
    if Counter(starts) != Counter(servers):
        return f"the ring visits {', '.join(starts)}; it must visit each of {', '.join(servers)} once"
    return None


@dataclass(frozen=True, slots=True)
class RingMapping:
    """Where G-VNE maps the nodes and edges of a ring.

    Attributes
    ----------
    nodes : tuple of str
        m(0), ..., m(k-1), the substrate node of each ring node.
    paths : tuple of tuple of str
        For each ring edge (a, a+1 mod k) the path from m(a) to m(a+1); ``(u,)`` where both are u. A ring of one node
        has no edge.

    Examples
    --------
    >>> from dlsched.models.ddljs import RingMapping, embedding
    >>> mapping = RingMapping(nodes=("s1", "s1", "s2"), paths=(("s1",), ("s1", "switch", "s2"), ("s2", "s1")))
    >>> embedding(mapping)
    Embedding(workers={'s1': 2, 's2': 1}, ring=(('s1', 'switch', 's2'), ('s2', 's1')), order=None)
    """

    nodes: Path
    paths: tuple[Path, ...]

    def __post_init__(self) -> None:
        size = len(self.nodes)
        if len(self.paths) != (size if size > 1 else 0):
            raise InputError(f"a ring of {size} nodes has {size if size > 1 else 0} edges, not {len(self.paths)}")
        for a, path in enumerate(self.paths):
            ends = self.nodes[a], self.nodes[(a + 1) % size]
            if not path or (path[0], path[-1]) != ends:
                raise InputError(f"the path {path} of edge {a} does not lead from {ends[0]!r} to {ends[1]!r}")

    def counts(self) -> Counter[str]:
        """Return how many ring nodes each substrate node hosts."""
        return Counter(self.nodes)

    def loads(self) -> Counter[Arc]:
        """Return how often the ring's edges use each arc."""
        return Counter(arc for path in self.paths for arc in arcs_of(path))


@checked
def embedding(mapping: RingMapping, *, ordered: bool = False) -> Embedding:
    """Return the workers and the ring of a mapping; no link is used more than the mapping uses it.

    Parameters
    ----------
    mapping : RingMapping
        Nodes that are whole numbers are named as text, as in a `Schedule`.
    ordered : bool
        Keep the order of the ring nodes, as a job with `placement` needs it; else each server is visited once.

    Examples
    --------
    >>> from dlsched.models.ddljs import RingMapping, embedding
    >>> mapping = RingMapping(nodes=("s1", "s2"), paths=(("s1", "s2"), ("s2", "switch", "s1")))
    >>> embedding(mapping).workers, embedding(mapping).ring
    ({'s1': 1, 's2': 1}, (('s1', 's2'), ('s2', 'switch', 's1')))
    """
    nodes, paths = tuple(map(str, mapping.nodes)), [tuple(map(str, path)) for path in mapping.paths]
    workers = Counter(nodes)
    if ordered:
        ring = tuple(without_loops(path) for path in paths if path[0] != path[-1])
        return Embedding(workers=workers, ring=ring, order=nodes)
    walk = (nodes[0], *(node for path in paths for node in path[1:]))
    return Embedding(workers=workers, ring=ring_along(walk, workers))


@checked
def embedding_of(workers: Mapping[str, int], circulation: Mapping[Arc, int]) -> Embedding:
    """Return the ring that runs through a circulation.

    Parameters
    ----------
    workers : mapping of str to int
        Workers by server.
    circulation : mapping of arc to int
        How often each arc may be used; at every node as often in as out. Parts that meet no server with workers are
        left out.

    Raises
    ------
    InputError
        If it is not balanced or does not join all servers with workers.

    Examples
    --------
    >>> from dlsched.models.ddljs import embedding_of
    >>> found = embedding_of({"s1": 1, "s2": 2}, {("s1", "s2"): 1, ("s2", "switch"): 1, ("switch", "s1"): 1})
    >>> found.ring
    (('s1', 's2'), ('s2', 'switch', 's1'))
    """
    import networkx as nx

    hosting = {node: n for node, n in workers.items() if n}
    if len(hosting) < 2:
        return Embedding(workers=hosting)
    graph = nx.MultiDiGraph()
    graph.add_edges_from(arc for arc, times in circulation.items() for _ in range(times))
    start = next(iter(hosting))
    reached = nx.node_connected_component(graph.to_undirected(as_view=True), start) if start in graph else {start}
    missed = [node for node in hosting if node not in reached]
    if missed:
        raise InputError(f"the circulation does not join {start!r} and {missed[0]!r}")
    part = graph.subgraph(reached)
    if not nx.is_eulerian(part):
        raise InputError("the circulation is not balanced at every node")
    walk = (start, *(v for _, v in nx.eulerian_circuit(part, source=start)))
    return Embedding(workers=hosting, ring=ring_along(walk, hosting))


def ring_along(walk: Sequence[str], servers: Iterable[str]) -> tuple[Path, ...]:
    """Return the ring of the servers that a closed walk passes, in the order in which it first meets them."""
    wanted, met, cuts = set(servers), set[str](), []
    for place, node in enumerate(walk):
        if node in wanted and node not in met:
            met.add(node)
            cuts.append(place)
    if len(cuts) < 2:
        return ()
    last = (*walk[cuts[-1] :], *walk[1 : cuts[0] + 1])
    hops = [walk[here : there + 1] for here, there in itertools.pairwise(cuts)]
    return tuple(without_loops(hop) for hop in (*hops, last))


def without_loops(walk: Iterable[str]) -> Path:
    """Return the simple path that is left of a walk when every loop is cut out."""
    path: list[str] = []
    for node in walk:
        if node in path:
            del path[path.index(node) :]
        path.append(node)
    return tuple(path)
