"""The embeddings of a job whose workers are told apart: where each ring node is, and a path for each ring edge.

This is G-VNE (12)-(19) with the sizes of a ring in one: ring node a is the same for all sizes above a, and the edge
that leaves it leads to ring node a + 1, or, where a is the last, back to ring node 0.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field

from dlsched.algorithms.exact.ddljs.blocks import Terms, hosting
from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.models.ddljs.rings import Arc, Embedding, Path, RingMapping, embedding
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Floats


@dataclass
class RingNodeBlock:
    """Embeddings of a job with placement; see `dlsched.algorithms.exact.ddljs.blocks.Block`."""

    sizes: dict[int, Terms] = field(default_factory=lambda: defaultdict(list))
    workers: Terms = field(default_factory=list)
    on_node: dict[str, Terms] = field(default_factory=lambda: defaultdict(list))
    on_arc: dict[Arc, Terms] = field(default_factory=lambda: defaultdict(list))
    located: list[dict[str, int]] = field(default_factory=list)
    paths: list[dict[Arc, int]] = field(default_factory=list)

    def hosting(self, x: Floats) -> dict[str, int]:
        """Return the workers by server at a point."""
        return hosting(self, x)

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
    before = {source: source}
    queue = deque([source])
    while target not in before:
        u = queue.popleft()
        for tail, head in arcs:
            if tail == u and head not in before:
                before[head] = u
                queue.append(head)
    path = [target]
    while path[-1] != source:
        path.append(before[path[-1]])
    return tuple(reversed(path))


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
