"""Branching on Hadar schedules, with a record of the tree that can be replayed.

A part is a set of arcs that may be used and of jobs that must be served. Its bound is tightened by hull inequalities;
they are valid everywhere, so rows are shared by all nodes. Branching is on whether a job completes by a slot or runs in
one, then on its option there.

A node whose LP is integral and whose bound is still above the incumbent is split further: an integral point closes no
node, it only raises the incumbent, once whoever is told of it has made a schedule of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.exact.hadar.bound import Path, Prices, Relaxation
from dlsched.algorithms.exact.hadar.graph import Bools, Graph
from dlsched.relaxations.branch_and_price import Branching, most_decisive, most_open
from dlsched.relaxations.columns import Generated
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import CLEAR

_CANDIDATES = 8
"""Questions that are tried for a node. Of those that stand first by what they decide on, (20) seed 0 with the optimum
known is closed after 17.9 s by 8, 19.9 s by 5, 22.4 s by 16."""

_PASSES = (8, 3)
"""How often a node is bounded, with rows added in between: the root, and the others; found by trial."""

_SHRUNK = 0.9
"""Share of a graph's arcs below which it is worth to build a smaller one."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A yes/no question about a job's schedule.

    Attributes
    ----------
    job, slot : int
    options : tuple of int
        The job runs in the slot at one of these; empty: it completes by the slot.
    """

    job: int
    slot: int
    options: tuple[int, ...] = ()

    def allows(self, graph: Graph, yes: bool) -> Bools:
        """Return the arcs that may be used under an answer; with "yes" the job must also be served."""
        mine: Bools = graph.job == self.job
        if not self.options:
            late: Bools = graph.slot > self.slot
            banned: Bools = mine & graph.finishing & (late if yes else ~late)
            return ~banned
        runs = (graph.slot == self.slot) & np.isin(graph.option, self.options)
        early = graph.finishing & (graph.slot < self.slot)
        banned = mine & ((early | ((graph.slot == self.slot) & ~runs)) if yes else runs)
        return ~banned


@dataclass(slots=True, eq=False)
class Record:
    """A node for the replay: prices by (slot, inequality), and where it was not closed the question and its children.

    Attributes
    ----------
    steps : list of Prices
        One entry for each time arcs were fixed, in order.
    branch : Branch, optional
    children : tuple of Record
        Yes, no.
    """

    steps: list[Prices] = field(default_factory=list)
    branch: Branch | None = None
    children: tuple[Record, ...] = ()


@dataclass(slots=True, eq=False)
class Part:
    """PathBranching over some arcs of a graph that serve some jobs at least.

    Attributes
    ----------
    graph : Graph
        Cut from the base graph; the base graph itself where the part is packed.
    arcs : ndarray
        Which of the graph's arcs may be used; packed bits where the part is packed.
    required : ndarray of bool, shape (jobs,)
    record : Record
        Of the node.
    """

    graph: Graph
    arcs: npt.NDArray[np.bool_ | np.uint8]
    required: Bools
    record: Record

    def masked(self) -> Graph:
        """Return the graph; arcs that may not be used earn minus infinity."""
        return self.graph.masked(self.arcs.astype(bool))

    def cut(self) -> Part:
        """Return the part over a graph cut to the arcs that may be used, where many may not."""
        if np.count_nonzero(self.arcs) >= _SHRUNK * len(self.arcs):
            return self
        graph = self.graph.restrict(self.arcs.astype(bool))
        return Part(graph, np.ones(len(graph.tail), dtype=bool), self.required, self.record)


class Stuck(RuntimeError):
    """The linear programs tell nothing that helps to close a node."""


class PathBranching(Branching[Part, Branch]):
    """The schedules of all jobs, and what is recorded of the tree.

    Parameters
    ----------
    relaxation : Relaxation
    found : callable
        Called with the paths of an integral LP optimum; returns the value of the best schedule known, minus infinity
        where they do not fit together, as the master lacks rows.
    utility : ndarray of shape (jobs, slots)
        By completion slot.
    """

    def __init__(self, relaxation: Relaxation, found: Callable[[list[Path]], float], utility: Floats) -> None:
        self.relaxation, self.master, self._found, self._utility = relaxation, relaxation.master, found, utility

    def whole(self, required: Bools, record: Record) -> Part:
        """Return all schedules over the base graph that serve some jobs."""
        base = self.relaxation.base
        return Part(base, np.ones(len(base.tail), dtype=bool), required, record)

    def generate(
        self, part: Part, *, start: Floats, rounds: int | None, stop: Callable[[float, float], bool]
    ) -> Generated:
        """Generate columns over a part."""
        return self.relaxation.bound(part.masked(), part.required, start=start, rounds=rounds, stop=stop)

    def fixed(self, part: Part, prices: Floats, cutoff: float) -> tuple[float, Part]:
        """Return the bound of prices, and the part without arcs that are in no better schedule; record the prices."""
        part.record.steps.append(self.relaxation.priced(prices))
        bound, arcs, required = self.relaxation.fixed(part.masked(), part.required, prices, cutoff)
        return bound, Part(part.graph, arcs, required, part.record).cut()

    def found(self, part: Part, generated: Generated) -> float:
        """Tell of the LP's optimum where it is integral."""
        del part
        if generated.finished and _whole(generated):
            return self._found([path for path, _ in generated.recover(CLEAR)])
        return -np.inf

    def tighten(self, generated: Generated, *, depth: int, passes: int) -> bool:
        """Add hull inequalities that the LP's optimum breaks; where it is integral, until it breaks none."""
        more = passes < _PASSES[min(depth, 1)] or _whole(generated)
        return more and bool(self.relaxation.tighten(generated))

    def answered(self, part: Part, question: Branch, yes: bool) -> Part | None:
        """Return the schedules with an answer."""
        required = part.required.copy()
        required[question.job] |= yes
        if (part.graph.root[required] < 0).any():
            return None
        return Part(part.graph, part.arcs.astype(bool) & question.allows(part.graph, yes), required, Record())

    def settle(self, part: Part) -> float | None:
        """Refuse: of a part with nothing open the LP's optimum is its only schedule, and its bound that one's value.

        Raises
        ------
        Stuck
        """
        raise Stuck("a node is open and has nothing to branch on")

    def split(self, part: Part, question: Branch, yes: Part | None, no: Part | None) -> None:
        """Record the question, and the nodes of the two answers."""
        part.record.branch = question
        part.record.children = tuple(Record() if child is None else child.record for child in (yes, no))

    def saved(self, prices: Floats) -> Prices:
        """Return prices by slot and inequality."""
        return self.relaxation.priced(prices)

    def restored(self, saved: Prices) -> Floats:
        """Return prices by row; rows without one are forgotten."""
        return self.relaxation.rows_with(saved)

    def packed(self, part: Part) -> Part:
        """Return a part as packed bits over the base graph."""
        base = self.relaxation.base
        arcs = np.zeros(len(base.tail), dtype=bool)
        arcs[part.graph.origin[part.arcs.astype(bool)]] = True
        return Part(base, np.packbits(arcs), part.required, part.record)

    def unpacked(self, part: Part) -> Part:
        """Return the graph of a part that was packed."""
        base = self.relaxation.base
        arcs = np.unpackbits(part.arcs.astype(np.uint8), count=len(base.tail)).astype(bool)
        graph = base if arcs.all() else base.restrict(arcs)
        return Part(graph, np.ones(len(graph.tail), dtype=bool), part.required, part.record)

    def questions(self, part: Part, generated: Generated) -> Sequence[Branch]:
        """Ask whether jobs complete by a slot, then whether they run in one; where that is settled, how."""
        del part
        by = np.zeros(self._utility.shape)
        for path, x in generated.recover(CLEAR):
            by[path.job, path.finish :] += x
        if completions := most_decisive(by, self._utility, _CANDIDATES):
            return [Branch(j, t) for j, t in completions]
        z = self.relaxation.running(generated)
        every = tuple(range(z.shape[1]))
        runs = [Branch(j, t, every) for t, j in most_open(z.sum(axis=1), _CANDIDATES)]
        if runs:
            return runs
        cells = most_open(z.reshape(-1, z.shape[2]), 1)
        return [Branch(j, row // z.shape[1], (row % z.shape[1],)) for row, j in cells]

    def undecided(self, part: Part) -> Sequence[Branch]:
        """Ask what the arcs leave open, where the LP is integral and the node is not closed."""
        graph = part.graph.restrict(part.arcs.astype(bool))
        for j in range(graph.jobs):
            mine = graph.job == j
            slots = np.unique(graph.slot[mine & graph.finishing])
            if len(slots) > 1 or (len(slots) == 1 and not part.required[j]):
                return [Branch(j, int(slots[0]))]
            runs = mine & (graph.option >= 0)
            for t in np.unique(graph.slot[runs]).tolist():
                options = np.unique(graph.option[mine & (graph.slot == t)])
                if len(options) > 1:
                    return [Branch(j, t, (int(options[-1]),))]
        return []


def _whole(generated: Generated) -> bool:
    return all(abs(x - 1) <= CLEAR for _, x in generated.recover(CLEAR))
