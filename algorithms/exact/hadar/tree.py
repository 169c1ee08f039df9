"""Branch, cut and price: what is left of the gap after the root bound, with a record that can be replayed.

A node is a set of arcs that may be used and of jobs that must be served. Its bound is the column-generation bound over
those arcs, tightened by hull inequalities (valid everywhere, so rows are shared by all nodes); arcs that cannot be in a
solution better than the incumbent are dropped. Branching is on whether a job completes by a slot, then on whether
it runs in a slot, then on its option there; of a few candidates the one is taken whose children's bounds, after
a few rounds of pricing, fall most. Bounds of children are valid bounds, so a child that falls below the incumbent
there and then is closed.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.exact.hadar.bound import Path, Relaxation
from dlsched.algorithms.exact.hadar.branch import Branch, Record, undecided
from dlsched.algorithms.exact.hadar.graph import Bools, Graph
from dlsched.halt import Halt, poll
from dlsched.relaxations.columns import Generated
from dlsched.solvers.matrix import Floats

_WHOLE = 1e-6
_CANDIDATES = 6
_ROUNDS = 4
_SEARCHES = (40, 10)
_COLUMNS_A_JOB = 40


@dataclass(slots=True, eq=False)
class Node:
    """An open node; arcs as packed bits over the base graph."""

    bound: float
    arcs: npt.NDArray[np.uint8]
    required: Bools
    prices: Floats
    record: Record
    depth: int


class Stuck(RuntimeError):
    """A node is open, and the linear programs tell nothing that helps to close it."""


class Tree:
    """The search tree.

    Parameters
    ----------
    relaxation : Relaxation
    cutoff : float
        Value of the incumbent; solutions that are not better by more than `margin` are not looked for.
    margin : float
    found : callable
        Called with the paths of an integral solution; returns the new cutoff.
    record : Record
        Of the root; children are attached to it.
    """

    def __init__(
        self,
        relaxation: Relaxation,
        cutoff: float,
        margin: float,
        found: Callable[[list[Path]], float],
        record: Record,
    ) -> None:
        self.relaxation, self.cutoff, self.margin = relaxation, cutoff, margin
        self.found = found
        self.nodes = 0
        self.root = record
        self._open: list[tuple[float, int, Node]] = []
        self._count = itertools.count()
        self._closing = -np.inf

    @property
    def bound(self) -> float:
        """The least upper bound known: of the open nodes, and of the incumbent."""
        worst = -self._open[0][0] if self._open else -np.inf
        return max(worst, self.cutoff, self._closing)

    def start(self, prices: Floats, required: Bools, bound: float) -> None:
        """Open the root, over all arcs of the base graph."""
        arcs = np.ones(len(self.relaxation.base.tail), dtype=bool)
        self._push(Node(bound, np.packbits(arcs), required, prices, self.root, 0))

    def _push(self, node: Node) -> None:
        heapq.heappush(self._open, (-node.bound, next(self._count), node))

    def step(self) -> bool:
        """Work on the node with the largest bound; False where none is open. `Halt` leaves the tree as it was."""
        while self._open and -self._open[0][0] <= self.cutoff + self.margin:
            heapq.heappop(self._open)
        if not self._open:
            return False
        node = self._open[0][2]
        start = np.append(node.prices, np.zeros(len(self.relaxation.row_slot) - len(node.prices)))
        self.relaxation.keep_columns(start, _COLUMNS_A_JOB * len(self.relaxation.jobs))
        children = self._work(node)
        heapq.heappop(self._open)
        self.nodes += 1
        for child in children:
            self._push(child)
        return True

    def _work(self, node: Node) -> list[Node]:
        steps = list(node.record.steps)
        try:
            return self._split(node)
        except Halt:
            node.record.steps[:] = steps
            raise

    def _graph(self, node: Node) -> Graph:
        base = self.relaxation.base
        alive = np.unpackbits(node.arcs, count=len(base.tail)).astype(bool)
        return base if alive.all() else base.restrict(alive)

    def _split(self, node: Node) -> list[Node]:
        graph, required = self._graph(node), node.required
        solved = self._solve(node, graph, required)
        if solved is None:
            return []
        graph, required, generated = solved
        split = self._choose(graph, required, generated, node)
        if split is None:
            raise Stuck("a node is open and has nothing to branch on")
        node.record.branch = split.branch
        node.record.children = (split.children[0].record, split.children[1].record)
        return [child for child in split.children if not self._closed(child.bound)]

    def _choose(self, graph: Graph, required: Bools, generated: Generated, node: Node) -> Split | None:
        candidates = self._candidates(generated) or undecided(graph, required)
        best: tuple[float, Split] | None = None
        most = max(generated.bound - self.cutoff, 1e-9)
        for branch in candidates:
            yes = self._probe(graph, required, generated, node, branch, True)
            drop = max(min(generated.bound - yes.bound, most), 1e-9)
            if best is not None and drop * most <= best[0]:
                continue
            no = self._probe(graph, required, generated, node, branch, False)
            score = drop * max(min(generated.bound - no.bound, most), 1e-9)
            if best is None or score > best[0]:
                best = (score, Split(branch, (yes, no)))
        return best[1] if best else None

    def _probe(
        self, graph: Graph, required: Bools, generated: Generated, node: Node, branch: Branch, yes: bool
    ) -> Node:
        poll()
        cut = graph.restrict(branch.allows(graph, yes))
        needs = required.copy()
        needs[branch.job] |= yes
        record = Record()
        if (cut.root[needs] < 0).any():
            return Node(-np.inf, np.zeros(0, dtype=np.uint8), needs, generated.duals, record, node.depth + 1)
        quick = self.relaxation.bound(cut, needs, start=generated.duals, rounds=_ROUNDS, stop=self._closed)
        bound, alive, needs = self._fix(cut, needs, quick.duals, record)
        arcs = np.zeros(len(self.relaxation.base.tail), dtype=bool)
        arcs[cut.origin[alive]] = True
        return Node(min(bound, node.bound), np.packbits(arcs), needs, quick.duals, record, node.depth + 1)

    def _fix(self, graph: Graph, required: Bools, prices: Floats, record: Record) -> tuple[float, Bools, Bools]:
        record.steps.append(self.relaxation.priced(prices))
        return self.relaxation.fixed(graph, required, prices, self.cutoff + self.margin)

    def _closed(self, bound: float, value: float = 0.0) -> bool:
        """Tell whether nothing that is better than the incumbent fits below a bound."""
        return bound <= self.cutoff + self.margin

    def _solve(self, node: Node, graph: Graph, required: Bools) -> tuple[Graph, Bools, Generated] | None:
        """Bound a node, fix and tighten while that helps; None where it is closed."""
        relaxation, prices = self.relaxation, node.prices
        passes = 8 if node.depth == 0 else 3
        for attempt in range(passes):
            poll()
            start = np.append(prices, np.zeros(len(relaxation.row_slot) - len(prices)))
            generated = relaxation.bound(graph, required, start=start, stop=self._closed)
            prices = generated.duals
            bound, alive, required = self._fix(graph, required, prices, node.record)
            node.bound = min(node.bound, bound)
            if not self._closed(bound):
                self._take_integral(generated)
            if self._closed(bound):
                return None
            if np.count_nonzero(alive) < 0.9 * len(alive):
                graph = graph.restrict(alive)
            if attempt + 1 == passes or not relaxation.tighten(
                generated, searches=_SEARCHES[min(node.depth, len(_SEARCHES) - 1)]
            ):
                break
        return graph, required, generated

    def _take_integral(self, generated: Generated) -> None:
        """Raise the cutoff where the LP's optimum is integral."""
        chosen = generated.recover(_WHOLE)
        if generated.finished and all(abs(x - 1) <= _WHOLE for _, x in chosen):
            self.cutoff = max(self.cutoff, self.found([path for path, _ in chosen]))

    def _candidates(self, generated: Generated) -> list[Branch]:
        """Return questions whose answer is most open in the LP's optimum, those on completion first."""
        by = np.zeros((len(self.relaxation.jobs), self.relaxation.base.slots))
        for path, x in generated.recover(_WHOLE):
            by[path.job, path.finish :] += x
        openness = np.minimum(by, 1 - by)
        openness[:, :-1] *= np.abs(np.diff(by, axis=1)) > _WHOLE
        order = np.argsort(-openness, axis=None, kind="stable")[: 3 * _CANDIDATES]
        pairs = [(int(i) // by.shape[1], int(i) % by.shape[1]) for i in order]
        jobs: dict[int, int] = {}
        found: list[Branch] = []
        for j, t in pairs:
            if openness[j, t] > _WHOLE and jobs.get(j, 0) < 2 and len(found) < _CANDIDATES:
                jobs[j] = jobs.get(j, 0) + 1
                found.append(Branch(j, t))
        return found or self._uses(self.relaxation.running(generated))

    def _uses(self, z: Floats) -> list[Branch]:
        options = tuple(range(z.shape[1]))
        total = z.sum(axis=1)
        openness = np.minimum(total, 1 - total)
        t, j = (int(i) for i in np.unravel_index(openness.argmax(), openness.shape))
        if openness[t, j] > _WHOLE:
            return [Branch(j, t, options)]
        openness = np.minimum(z, 1 - z)
        t, option, j = (int(i) for i in np.unravel_index(openness.argmax(), openness.shape))
        return [Branch(j, t, (option,))] if openness[t, option, j] > _WHOLE else []


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """A question and the nodes of its two answers."""

    branch: Branch
    children: tuple[Node, Node]
