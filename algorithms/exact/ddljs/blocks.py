"""The embeddings of one job in one slot, as columns and rows: all on one server, or spread over several.

Local: a binary for each server and ring size. Spread: w_u whether server u hosts, s_u its workers, and an integer
circulation that joins the hosting servers. This is exact: the paths of a ring form a closed walk through its servers,
that is a balanced, connected set of arcs with multiplicities; and such a set has an Eulerian circuit, which, its loops
cut out between first visits, is a ring that uses no arc more often (GADGET, (7)-(9) corrected, with all simple paths).

Of a job whose workers are told apart (`ring_node_block`): where each ring node is, and a path for each ring edge. This
is G-VNE (12)-(19) with the sizes of a ring in one: ring node a is the same for all sizes above a, and the edge that
leaves it leads to ring node a + 1, or, where a is the last, back to ring node 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from dlsched.algorithms.exact.ddljs.network import Network
from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.models.ddljs.rings import Arc, Embedding, Path, RingMapping, embedding, embedding_of
from dlsched.rounding.paths import heads_of, shortest
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Floats

Terms = list[tuple[int, int]]
"""A linear expression with whole coefficients: (column, coefficient)."""


@dataclass(kw_only=True)
class Block(ABC):
    """What the rows that jobs share need to know of one job in one slot.

    Attributes
    ----------
    sizes : dict of int to Terms
        Whether the ring has this size.
    workers : Terms
        The size of the ring.
    on_node : dict of str to Terms
        Workers on a node.
    on_arc : dict of arc to Terms
        How often the ring uses an arc.
    """

    sizes: dict[int, Terms] = field(default_factory=lambda: defaultdict(list))
    workers: Terms = field(default_factory=list)
    on_node: dict[str, Terms] = field(default_factory=lambda: defaultdict(list))
    on_arc: dict[Arc, Terms] = field(default_factory=lambda: defaultdict(list))

    def hosting(self, x: Floats) -> dict[str, int]:
        """Return the workers by server at a point."""
        counts = {u: round(sum(value * x[column] for column, value in terms)) for u, terms in self.on_node.items()}
        return {u: n for u, n in counts.items() if n}

    @abstractmethod
    def read(self, x: Floats) -> Embedding | None:
        """Return the embedding at a point; None where there are no workers."""


@dataclass
class CirculationBlock(Block):
    """Local and spread embeddings of a job whose workers are alike."""

    network: Network
    core: bool = True
    circulation: dict[Arc, int] = field(default_factory=dict)

    def read(self, x: Floats) -> Embedding | None:
        """Return the embedding at a point; None where there are no workers."""
        workers = self.hosting(x)
        if not workers:
            return None
        if len(workers) == 1:
            return Embedding(workers=workers)
        arcs = {arc: times for arc, column in self.circulation.items() if (times := round(x[column]))}
        return embedding_of(workers, arcs | self.network.tree_circulation(workers))


def circulation_block(
    program: Builder, problem: RingProblem, request: RingRequest, network: Network, *, core: bool = True
) -> CirculationBlock:
    """Write the embeddings of a request without `allowed`.

    Parameters
    ----------
    program : Builder
        Gets the columns and rows.
    problem : RingProblem
        The substrate.
    request : RingRequest
    network : Network
        Of the substrate.
    core : bool
        False leaves out how the ring runs through the core: a relaxation, exact where the core has one node.
    """
    block = CirculationBlock(network, core)
    rooms = {u: problem.room(request, u) for u in problem.hosts(request)}
    modes: Terms = []
    for u, room in rooms.items():
        for size in request.sizes:
            if size <= room:
                column = program.binary()
                block.sizes[size].append((column, 1))
                block.on_node[u].append((column, size))
                modes.append((column, 1))
    spread = _Spread(program, problem, request, block).write(rooms)
    if spread is not None:
        modes.append((spread, 1))
    if modes:
        program.row(modes, upper=1)
    block.workers = [(column, size * value) for size, terms in block.sizes.items() for column, value in terms]
    return block


class _Spread:
    """The part of a block that spans several servers."""

    def __init__(self, program: Builder, problem: RingProblem, request: RingRequest, block: CirculationBlock) -> None:
        self.program, self.problem, self.request, self.block = program, problem, request, block
        self.network = block.network
        usable = set(problem.usable(request))
        self.usable = usable
        half = {
            arc for arcs, limit in problem.shares if limit < 2 * request.bandwidth for arc in arcs if arc[::-1] in arcs
        }
        self.joined = {u for u, v in self.network.parent.items() if {(u, v), (v, u)} <= usable and (u, v) not in half}

    def write(self, rooms: dict[str, int]) -> int | None:
        """Write it; return the column that tells whether the job is spread, None where it cannot be."""
        sizes = [k for k in self.request.sizes if k > 1]
        leaf = {u for u in self.network.parent if u not in self.network.children}
        rooms = {u: room for u, room in rooms.items() if u not in leaf or u in self.joined}
        if not sizes or len(rooms) < 2:
            return None
        program = self.program
        self.on = on = program.binary()
        self.hosts = {u: program.binary() for u in rooms}
        chosen = {k: program.binary() for k in sizes}
        workers: Terms = []
        for u, room in rooms.items():
            host = self.hosts[u]
            program.row([(host, 1), (on, -1)], upper=0)
            count = host
            most = min(room, sizes[-1] - 1)
            if most > 1:
                count = program.column(most, integer=True)
                program.row([(count, 1), (host, -1)], lower=0)
                program.row([(count, 1), (host, -most)], upper=0)
            self.block.on_node[u].append((count, 1))
            workers.append((count, 1))
        program.row([*((host, 1) for host in self.hosts.values()), (on, -2)], lower=0)
        program.row([*((column, 1) for column in chosen.values()), (on, -1)], 0, 0)
        program.row([*workers, *((column, -k) for k, column in chosen.items())], 0, 0)
        for k, column in chosen.items():
            self.block.sizes[k].append((column, 1))
        self._trees()
        return on

    def _trees(self) -> None:
        """Write the loads on pendant links, from the leaves inwards."""
        inside: dict[str, Terms] = {u: [(column, 1)] for u, column in self.hosts.items()}
        self.all_in: dict[str, int] = {}
        below: dict[str, list[str]] = defaultdict(list)
        for u, v in self.network.parent.items():
            if u in self.network.children and u in below:
                self._inner(u, below[u], inside)
            if u in inside:
                below[v].append(u)
                self._load(u, v, inside[u])
        cores = [c for c in self.network.core if c in below or c in inside]
        if len(cores) == 1:
            self._apart(cores[0], below[cores[0]], inside, self.on)
            return
        for c in cores:
            self._inner(c, below[c], inside)
        self._exclude(cores, inside, self.on)
        if self.block.core:
            self._core(cores, inside)

    def _inner(self, u: str, below: Sequence[str], inside: dict[str, Terms]) -> None:
        """Write whether some worker is in the tree under a node, and whether all are."""
        program = self.program
        some, every = program.column(1.0), program.column(1.0)
        parts = [*(inside[v] for v in below), *([inside[u]] if u in self.hosts else [])]
        for terms in parts:
            program.row([(some, 1), *((column, -value) for column, value in terms)], lower=0)
        program.row([(some, 1), *((column, -value) for terms in parts for column, value in terms)], upper=0)
        program.row([(every, 1), (some, -1)], upper=0)
        self._apart(u, below, inside, every)
        inside[u] = [(some, 1)]
        self.all_in[u] = every

    def _apart(self, u: str, below: Sequence[str], inside: dict[str, Terms], every: int) -> None:
        """Say that all workers are in one of the trees below a node only where they are under the node."""
        self._exclude(below, inside, every)
        alone = [(self.all_in[v], 1) for v in below if v in self.all_in]
        if alone and u in self.hosts:
            self.program.row([*alone, (self.hosts[u], 1), (self.on, -1)], upper=0)

    def _exclude(self, parts: Sequence[str], inside: dict[str, Terms], every: int) -> None:
        """Say that not all workers are in one part if some are in another, at most one part has all."""
        alone = {v: self.all_in[v] for v in parts if v in self.all_in}
        if not alone:
            return
        self.program.row([*((column, 1) for column in alone.values()), (every, -1)], upper=0)
        for v in parts:
            others = [(column, 1) for part, column in alone.items() if part != v]
            if others:
                self.program.row([*others, *inside[v], (self.on, -1)], upper=0)

    def _load(self, u: str, v: str, some: Terms) -> None:
        """Load a pendant link once each way where workers are on both sides."""
        crossing = [*some, *([(self.all_in[u], -1)] if u in self.all_in else [])]
        if u in self.joined:
            self.block.on_arc[u, v] += crossing
            self.block.on_arc[v, u] += crossing
        else:
            self.program.row(crossing, upper=0)

    def _core(self, cores: Sequence[str], inside: dict[str, Terms]) -> None:
        """Write the circulation in the core, connected over the core's nodes that have workers."""
        program, b = self.program, self.request.bandwidth
        most = len(self.hosts)
        out: dict[str, Terms] = defaultdict(list)
        into: dict[str, Terms] = defaultdict(list)
        for arc in self.network.arcs:
            if arc in self.usable:
                column = program.column(min(most, self.problem.capacity[arc] // b) if b else most, integer=True)
                self.block.circulation[arc] = column
                self.block.on_arc[arc].append((column, 1))
                out[arc[0]].append((column, 1))
                into[arc[1]].append((column, 1))
        for u in self.network.core:
            program.row([*out[u], *((column, -1) for column, _ in into[u])], 0, 0)
        needs = {c: [*inside[c], (self.all_in[c], -1)] for c in cores}
        for c, need in needs.items():
            program.row([*out[c], *((column, -value) for column, value in need)], lower=0)
        if len(self.network.core) > 3:
            self._connected(needs)

    def _connected(self, needs: dict[str, Terms]) -> None:
        """Send a unit from the first core node with workers to every other, along arcs that the ring uses."""
        program, most = self.program, len(needs) - 1
        flow = {arc: program.column(most) for arc in self.block.circulation}
        for arc, column in flow.items():
            program.row([(column, 1), (self.block.circulation[arc], -most)], upper=0)
        balance: dict[str, Terms] = {u: [] for u in self.network.core}
        for (u, v), column in flow.items():
            balance[u].append((column, 1))
            balance[v].append((column, -1))
        roots: Terms = []
        for c, need in needs.items():
            root, sent = program.column(1.0), program.column(most)
            program.row([(root, 1), *((column, -value) for column, value in need)], upper=0)
            program.row([(sent, 1), (root, -most)], upper=0)
            roots.append((root, 1))
            program.row([*roots, *((column, -value) for column, value in need)], lower=0)
            balance[c] += [(sent, -1), (root, -1), *need]
        program.row(roots, upper=1)
        for terms in balance.values():
            program.row(terms, 0, 0)


@dataclass
class RingNodeBlock(Block):
    """Embeddings of a job with placement."""

    located: list[dict[str, int]] = field(default_factory=list)
    paths: list[dict[Arc, int]] = field(default_factory=list)

    def read(self, x: Floats) -> Embedding | None:
        """Return the embedding at a point; None where there are no workers."""
        nodes = [u for location in self.located for u, column in location.items() if round(x[column])]
        if not nodes:
            return None
        if len(nodes) == 1:
            return Embedding(workers={nodes[0]: 1}, order=tuple(nodes))
        paths = tuple(
            _path(u, v, [arc for arc, column in self.paths[a].items() if round(x[column])])
            for a, (u, v) in enumerate(zip(nodes, [*nodes[1:], nodes[0]], strict=True))
        )
        return embedding(RingMapping(tuple(nodes), paths), ordered=True)


def _path(source: str, target: str, arcs: list[Arc]) -> Path:
    """Return a path along arcs that hold one, and cycles perhaps."""
    path = shortest(source, heads_of(arcs), (target,))
    assert path is not None
    return path


def ring_node_block(program: Builder, problem: RingProblem, request: RingRequest) -> RingNodeBlock:
    """Write the embeddings of a request with `allowed`."""
    block = RingNodeBlock()
    chosen = {k: program.binary() for k in request.sizes}
    program.row([(column, 1) for column in chosen.values()], upper=1)
    for k, column in chosen.items():
        block.sizes[k].append((column, 1))
        block.workers.append((column, k))
    usable = problem.usable(request)
    for a in range(max(request.sizes, default=0)):
        location = {u: program.binary() for u in problem.hosts(request, a)}
        block.located.append(location)
        active = [(column, -1) for k, column in chosen.items() if k > a]
        program.row([*((column, 1) for column in location.values()), *active], 0, 0)
        for u, column in location.items():
            block.on_node[u].append((column, 1))
        path = {arc: program.binary() for arc in usable}
        block.paths.append(path)
        for arc, column in path.items():
            block.on_arc[arc].append((column, 1))
    for a in range(len(block.located)):
        _edge(program, problem, block, a, chosen.get(a + 1))
    return block


def _edge(program: Builder, problem: RingProblem, block: RingNodeBlock, a: int, last: int | None) -> None:
    """Lead the edge that leaves ring node `a` to ring node a + 1, or to ring node 0 where `a` is the last (15)."""
    rows: dict[str, Terms] = {u: [] for u in problem.nodes}
    for (u, v), column in block.paths[a].items():
        rows[u].append((column, 1))
        rows[v].append((column, -1))
    for u, column in block.located[a].items():
        rows[u].append((column, -1))
    if a + 1 < len(block.located):
        for u, column in block.located[a + 1].items():
            rows[u].append((column, 1))
    if last is not None:
        closing: Terms = []
        for u, column in block.located[0].items():
            closed = program.column(1.0)
            program.row([(closed, 1), (column, -1)], upper=0)
            rows[u].append((closed, 1))
            closing.append((closed, 1))
        program.row([*closing, (last, -1)], 0, 0)
    for terms in rows.values():
        if terms:
            program.row(terms, 0, 0)
