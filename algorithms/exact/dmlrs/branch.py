"""Branch and price over machines' offers and job schedules: what is left of the gap after the root bound.

A node is a part of the plans. Its bound is the column-generation bound over it; levels, completion slots and offers
that cannot be in a plan better than the incumbent are dropped. Branching is on whether a job is served, on whether it
completes by a slot, then on whether it has a level or more in a slot; of a few candidates the one is taken whose
children's bounds fall most after a few rounds of pricing. A node is closed only when a valid bound of it is not above
the incumbent's value, which is that of a plan that passed the checker, by more than the margin; a node with an
integral LP that is still above is split further.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dlsched.algorithms.exact.dmlrs.decomposition import Decomposition, Part
from dlsched.algorithms.exact.dmlrs.schedules import JobSchedule, Limits
from dlsched.halt import poll
from dlsched.relaxations.columns import Generated
from dlsched.solvers.matrix import Floats

_WHOLE = 1e-6
_CANDIDATES = 6
_REJECTIONS = 3
_ROUNDS = 4
_MOST_COLUMNS = 2000


@dataclass(frozen=True, slots=True)
class Branch:
    """A question about a job: does it have `level` or more in `slot`; with level 0: does it complete by `slot`."""

    job: int
    slot: int
    level: int = 0

    def apply(self, limits: Limits, yes: bool) -> Limits:
        """Return the limits under an answer; "yes" requires the job."""
        i, t, cut = self.job, self.slot, limits.copy()
        cut.required[i] |= yes
        if not self.level:
            cut.ends[i, slice(t + 1, None) if yes else slice(t + 1)] = False
        elif yes:
            cut.levels[i, t, : self.level] = False
            cut.ends[i, :t] = False
        else:
            cut.levels[i, t, self.level :] = False
        return cut


@dataclass(slots=True, eq=False)
class Node:
    """An open node: a part of the plans, a bound on it, and prices to start from."""

    bound: float
    part: Part
    prices: Floats


class Tree:
    """The search tree.

    Parameters
    ----------
    decomposition : Decomposition
    cutoff : float
        Value of the incumbent.
    margin : float
        Plans that are not better by more than this are not looked for.
    found : callable
        Called with the schedules and weights of each node's LP, and prices; returns the value of the best plan known.
    decide : callable
        Called with the only plan of a part; returns whether it is known to fit or not to fit, and the value of the
        best plan known.

    Attributes
    ----------
    nodes : int
        Nodes that were split or closed.
    """

    def __init__(
        self,
        decomposition: Decomposition,
        cutoff: float,
        margin: float,
        found: Callable[[list[tuple[JobSchedule, float]], Floats], float],
        decide: Callable[[list[JobSchedule]], tuple[bool, float]],
    ) -> None:
        self.decomposition, self.cutoff, self.margin = decomposition, cutoff, margin
        self.found, self.decide = found, decide
        self._kept = -np.inf
        self.nodes = 0
        self._open: list[tuple[float, int, Node]] = []
        self._count = itertools.count()

    @property
    def bound(self) -> float:
        """The least upper bound known; `margin` above the incumbent at least, as nothing below that is looked for."""
        worst = -self._open[0][0] if self._open else -np.inf
        return max(worst, self._kept, self.cutoff + self.margin)

    def push(self, node: Node) -> None:
        """Open a node, or close it where its bound allows."""
        if not self._closed(node.bound):
            heapq.heappush(self._open, (-node.bound, next(self._count), node))

    def step(self) -> bool:
        """Work on the node with the largest bound; False where none is open. `Halt` leaves the tree as it was."""
        while self._open and self._closed(-self._open[0][0]):
            heapq.heappop(self._open)
        if not self._open:
            return False
        children = self._split(self._open[0][2])
        heapq.heappop(self._open)
        self.nodes += 1
        for child in children:
            self.push(child)
        return True

    def _split(self, node: Node) -> list[Node]:
        self.decomposition.trim(node.prices, _MOST_COLUMNS)
        generated = self._generate(node.part, node.prices, None)
        bound, part = self.decomposition.fixed(node.part, generated.duals, self.cutoff + self.margin)
        node = Node(min(bound, node.bound), part, generated.duals)
        if self._closed(node.bound) or part.empty:
            return []
        used = [(data, x) for data, x in generated.recover() if isinstance(data, JobSchedule)]
        self.cutoff = max(self.cutoff, self.found(used, generated.duals))
        if self._closed(node.bound):
            return []
        best: tuple[float, list[Node]] | None = None
        most = max(node.bound - self.cutoff, 1e-9)
        for branch in self._candidates(part, generated):
            yes = self._probe(node, branch, True)
            drop = max(min(node.bound - yes.bound, most), 1e-9)
            if best is not None and drop * most <= best[0]:
                continue
            no = self._probe(node, branch, False)
            score = drop * max(min(node.bound - no.bound, most), 1e-9)
            if best is None or score > best[0]:
                best = (score, [yes, no])
        return best[1] if best else self._single(node)

    def _single(self, node: Node) -> list[Node]:
        """Close a part that leaves nothing open, one plan, or keep its bound where it is not known whether it fits."""
        decided, self.cutoff = self.decide(self.decomposition.only(node.part.limits))
        if not decided:
            self._kept = max(self._kept, node.bound)
        return []

    def _probe(self, node: Node, branch: Branch, yes: bool) -> Node:
        part = self.decomposition.within(Part(branch.apply(node.part.limits, yes), node.part.offers))
        if part.empty:
            return Node(-np.inf, part, node.prices)
        quick = self._generate(part, node.prices, _ROUNDS)
        bound, part = self.decomposition.fixed(part, quick.duals, self.cutoff + self.margin)
        return Node(min(bound, node.bound), part, quick.duals)

    def _generate(self, part: Part, prices: Floats, rounds: int | None) -> Generated:
        def stop(bound: float, value: float) -> bool:
            poll()
            return self._closed(bound)

        return self.decomposition.bound(part, start=prices, rounds=rounds, stop=stop)

    def _closed(self, bound: float) -> bool:
        return bound <= self.cutoff + self.margin

    def _candidates(self, part: Part, generated: Generated) -> list[Branch]:
        using, ending = self.decomposition.used(generated)
        by = ending.cumsum(axis=1)
        openness = np.minimum(by, 1 - by)
        openness[:, :-1] *= np.abs(np.diff(by, axis=1)) > _WHOLE
        last = by.shape[1] - 1
        order = np.argsort(-openness[:, last], kind="stable")[:_REJECTIONS].tolist()
        found = [Branch(i, last) for i in order if openness[i, last] > _WHOLE]
        most = len(found) + _CANDIDATES
        openness[:, last] = 0.0
        count: dict[int, int] = {}
        for at in np.argsort(-openness, axis=None, kind="stable")[: 3 * _CANDIDATES].tolist():
            i, t = divmod(at, by.shape[1])
            if openness[i, t] > _WHOLE and count.get(i, 0) < 2 and len(found) < most:
                count[i] = count.get(i, 0) + 1
                found.append(Branch(i, t))
        if found:
            return found
        openness = np.minimum(using, 1 - using)
        for at in np.argsort(-openness, axis=None, kind="stable")[:_CANDIDATES].tolist():
            i, t, level = (int(k) for k in np.unravel_index(at, using.shape))
            if openness[i, t, level] > _WHOLE:
                found.append(Branch(i, t, level))
        return found or list(itertools.islice(_undecided(part.limits), 1))


def _undecided(limits: Limits) -> Iterator[Branch]:
    """Yield questions that limits leave open."""
    for i, ends in enumerate(limits.ends):
        at = np.flatnonzero(ends)
        if len(at) > 1 or (len(at) == 1 and not limits.required[i]):
            yield Branch(i, int(at[0]))
        if len(at):
            for t in range(int(at[-1]) + 1):
                levels = np.flatnonzero(limits.levels[i, t])
                if len(levels) > 1:
                    yield Branch(i, t, int(levels[-1]))
