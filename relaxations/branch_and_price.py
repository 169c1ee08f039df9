"""Branch and price: what is left of the gap after the column-generation bound, best first.

The problem is that of `dlsched.relaxations.columns`. A *part* is a set of solutions; what it is made of, and which
questions split it, a `Branching` says. The bound of a part is the column-generation bound over the columns that it
allows and the blocks that it requires.

Every solution is worth at most `BranchAndPrice.bound`, or is one whose value is known, at any time:

- A node is taken from the tree when a valid bound of it is at most `margin` above the incumbent's value, or when its
  two children take its place, or when its only solution is settled. The answers to a question, yes and no, have all
  solutions of a part between them.
- Fixing by reduced cost (`dlsched.relaxations.columns.keep`) drops from a part only solutions that are at most `margin`
  better than the incumbent.
- A node that leaves nothing to ask, and whose solution cannot be settled, is not taken up again; its bound is kept.

The node with the largest bound comes first. Of a few questions, those whose answers are most open in the LP's optimum,
the one is taken for whose two children the product of the falls of their bounds is largest, after a few rounds of
pricing (strong branching). Those are valid bounds, so a child that is closed by its own is not opened.
"""

from __future__ import annotations

import heapq
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from dlsched.arguments import at_least
from dlsched.halt import poll
from dlsched.relaxations.columns import Generated
from dlsched.relaxations.master import Master
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import AS_GOOD, CLEAR

Part = TypeVar("Part")
Question = TypeVar("Question")

_ROUNDS = 4
"""Of pricing for the bound of a child on trial: most of the fall comes with the first few; found by trial."""


class Branching(ABC, Generic[Part, Question]):
    """What branch and price has to know of a problem.

    Attributes
    ----------
    master : Master
        Shared by all parts.

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.relaxations import BranchAndPrice, Branching, Column, Master, Priced, generate_columns
    >>> plans = [Column(0, 0, 9.0, np.array([3.0]), "bert"), Column(1, 0, 7.0, np.array([2.0]), "vit")]
    >>> class Root(Branching):
    ...     master = Master(np.array([4.0]), blocks=2, penalty=100.0)
    ...
    ...     def price(self, prices):
    ...         return Priced(np.array([plan.value - prices @ plan.rows for plan in plans]), plans)
    ...
    ...     def generate(self, part, *, start, rounds, stop):
    ...         return generate_columns(self.master, self.price, start=start, rounds=rounds, stop=stop)
    ...
    ...     def fixed(self, part, prices, cutoff):
    ...         return self.master.bound(prices, self.price(prices).best), part
    ...
    ...     def questions(self, part, generated):
    ...         return []  # asks nothing: the bound stays that of the root
    ...
    ...     def answered(self, part, question, yes):
    ...         return None
    ...
    ...     def found(self, part, generated):
    ...         return 9.0  # bert alone
    >>> tree = BranchAndPrice(Root(), cutoff=9.0)
    >>> tree.start("everything", np.zeros(1))
    >>> print(tree.step(), tree.step(), tree.cutoff, round(tree.bound, 6))
    True False 9.0 13.0
    """

    master: Master

    @abstractmethod
    def generate(
        self, part: Part, *, start: Floats, rounds: int | None, stop: Callable[[float, float], bool]
    ) -> Generated:
        """Restrict the master to a part, and generate columns as `generate_columns` does with these arguments."""

    @abstractmethod
    def fixed(self, part: Part, prices: Floats, cutoff: float) -> tuple[float, Part]:
        """Return the bound of prices over a part, and what is left of the part with solutions better than a cutoff.

        The bound is minus infinity where nothing is left. To leave the part as it is is right, if weak.
        """

    @abstractmethod
    def questions(self, part: Part, generated: Generated) -> Sequence[Question]:
        """Return questions whose answers are open in the LP's optimum, a few at most."""

    def undecided(self, part: Part) -> Sequence[Question]:
        """Return questions that a part leaves open, whatever the LP's optimum says: it may be whole and not a solution.

        By default none.
        """
        del part
        return ()

    @abstractmethod
    def answered(self, part: Part, question: Question, yes: bool) -> Part | None:
        """Return the solutions of a part for which the answer is yes, or no; None where there are none."""

    @abstractmethod
    def found(self, part: Part, generated: Generated) -> float:
        """Take what an LP's optimum is, or suggests; return the value of the best solution known."""

    def tighten(self, generated: Generated, *, depth: int, passes: int) -> bool:
        """Add linking rows, valid for all solutions, that the LP's optimum breaks; tell whether to bound again.

        By default there are none. `passes` counts how often the node, at this depth of the tree, was bounded already.
        """
        del generated, depth, passes
        return False

    def settle(self, part: Part) -> float | None:
        """Decide on the only solution of a part with nothing open; return the value of the best solution known.

        None, as by default, where it cannot be told whether it is one.
        """
        del part
        return None

    def split(self, part: Part, question: Question, yes: Part | None, no: Part | None) -> None:
        """Take note that a node is split."""

    def saved(self, prices: Floats) -> Any:
        """Return prices in a form in which they can wait while linking rows come and go; by default as they are."""
        return prices

    def restored(self, saved: Any) -> Floats:
        """Return prices that waited, by linking row of the master, which may drop other rows first.

        By default they wait as they are: no row is dropped, and those added since have no price.
        """
        prices: Floats = saved
        return prices

    def packed(self, part: Part) -> Part:
        """Return a part in a form that takes little room, as long as its node waits."""
        return part

    def unpacked(self, part: Part) -> Part:
        """Return a part that was packed as it was."""
        return part


@dataclass(slots=True, eq=False)
class Node(Generic[Part]):
    """A node: a part of the solutions, a bound on it, and prices to start from, while it waits as they are saved."""

    bound: float
    part: Part
    prices: Any
    depth: int = 0


class BranchAndPrice(Generic[Part, Question]):
    """The search tree, to be worked on step by step: ``while tree.step(): ...``.

    Parameters
    ----------
    branching : Branching
    cutoff : float
        Value of the incumbent; minus infinity where there is none.
    margin : float
        Solutions that are not better than the incumbent by more than this are not looked for.
    columns : int
        More than so many are halved before a node is worked on; see `Master.trim`.

    Attributes
    ----------
    cutoff : float
        May be raised between steps.
    nodes : int
        Nodes that were split or closed.

    Raises
    ------
    InputError
        If the margin is negative or no column is to be kept.

    Examples
    --------
    >>> from functools import partial
    >>> import numpy as np
    >>> from dlsched.relaxations import BranchAndPrice, Branching, Column, Master, Priced, generate_columns
    >>> class Chosen(Branching):
    ...     def __init__(self, plans, gpus):
    ...         self.plans, self.best = plans, 0.0
    ...         self.master = Master(np.array([gpus]), blocks=len(plans), penalty=100.0)
    ...
    ...     def price(self, part, prices):
    ...         allowed, _ = part
    ...         worth = [p.value - prices @ p.rows if p.data in allowed else -np.inf for p in self.plans]
    ...         return Priced(np.array(worth), [p for p in self.plans if p.data in allowed])
    ...
    ...     def generate(self, part, *, start, rounds, stop):
    ...         allowed, required = part
    ...         listed = np.array([column.data in allowed for column in self.master.columns], dtype=bool)
    ...         self.master.restrict(listed, np.array([p.data in required for p in self.plans]))
    ...         return generate_columns(self.master, partial(self.price, part), start=start, rounds=rounds, stop=stop)
    ...
    ...     def fixed(self, part, prices, cutoff):
    ...         return self.master.bound(prices, self.price(part, prices).best), part
    ...
    ...     def questions(self, part, generated):
    ...         return [job for job, share in generated.recover() if share < 0.999]
    ...
    ...     def answered(self, part, job, yes):
    ...         allowed, required = part
    ...         return (allowed, required | {job}) if yes else (allowed - {job}, required)
    ...
    ...     def found(self, part, generated):
    ...         if not self.questions(part, generated):
    ...             self.best = max(self.best, generated.value)
    ...         return self.best
    >>> jobs = {"bert": (9.0, 3.0), "vit": (7.0, 2.0), "gpt": (12.0, 5.0)}
    >>> plans = [Column(k, 0, worth, np.array([gpus]), job) for k, (job, (worth, gpus)) in enumerate(jobs.items())]
    >>> tree = BranchAndPrice(Chosen(plans, gpus=7.0), cutoff=0.0)
    >>> tree.start((frozenset(jobs), frozenset()), np.zeros(1))
    >>> while tree.step():
    ...     assert tree.cutoff <= tree.bound
    >>> print(tree.nodes, round(tree.cutoff, 6), round(tree.bound, 6))
    2 19.0 19.0
    """

    def __init__(
        self, branching: Branching[Part, Question], *, cutoff: float, margin: float = 0.0, columns: int = 2000
    ) -> None:
        at_least(0, margin=margin)
        at_least(1, columns=columns)
        self.branching, self.cutoff, self.margin = branching, cutoff, margin
        self.nodes = 0
        self._columns = columns
        self._kept = -np.inf
        self._open: list[tuple[float, int, Node[Part]]] = []
        self._count = itertools.count()

    @property
    def bound(self) -> float:
        """The least upper bound known; `margin` above the incumbent at least, as nothing below that is looked for."""
        worst = -self._open[0][0] if self._open else -np.inf
        return max(worst, self._kept, self.cutoff + self.margin)

    def start(self, part: Part, prices: Floats, bound: float = np.inf) -> None:
        """Open a node for a part, with prices to start from and a bound that is known."""
        self._push(Node(bound, self.branching.packed(part), self.branching.saved(prices)))

    def step(self) -> bool:
        """Work on the node with the largest bound; return False where none is open.

        Raises
        ------
        Halt
            If the work (`dlsched.halt`) is over; the node is still open then.
        """
        while self._open and self._closed(-self._open[0][0]):
            heapq.heappop(self._open)
        if not self._open:
            return False
        children = self._children(self._open[0][2])
        heapq.heappop(self._open)
        self.nodes += 1
        for child in children:
            self._push(child)
        return True

    def _push(self, node: Node[Part]) -> None:
        if not self._closed(node.bound):
            heapq.heappush(self._open, (-node.bound, next(self._count), node))

    def _closed(self, bound: float) -> bool:
        """Tell whether nothing that is better than the incumbent fits below a bound."""
        return bound <= self.cutoff + self.margin

    def _stop(self, bound: float, value: float) -> bool:
        del value
        poll()
        return self._closed(bound)

    def _children(self, node: Node[Part]) -> list[Node[Part]]:
        branching = self.branching
        prices = branching.restored(node.prices)
        branching.master.trim(prices, self._columns)
        bounded = self._bounded(node, prices)
        if bounded is None:
            return []
        part, generated = bounded
        questions = branching.questions(part, generated) or branching.undecided(part)
        if not questions:
            poll()  # what was cut short may only look as if nothing were open
            self._settle(node, part)
            return []
        question, children = self._best(Node(node.bound, part, generated.duals, node.depth), questions)
        branching.split(part, question, children[0].part, children[1].part)
        return [
            Node(child.bound, branching.packed(child.part), branching.saved(child.prices), child.depth)
            for child in children
            if child.part is not None and not self._closed(child.bound)
        ]

    def _bounded(self, node: Node[Part], prices: Floats) -> tuple[Part, Generated] | None:
        """Bound a node, fix and tighten while that helps; None where it is closed."""
        branching, part = self.branching, self.branching.unpacked(node.part)
        for passes in itertools.count(1):
            generated = branching.generate(part, start=prices, rounds=None, stop=self._stop)
            prices = generated.duals
            bound, part = branching.fixed(part, prices, self.cutoff + self.margin)
            node.bound = min(node.bound, bound)
            if not self._closed(node.bound):
                self.cutoff = max(self.cutoff, branching.found(part, generated))
            if self._closed(node.bound):
                return None
            if not branching.tighten(generated, depth=node.depth, passes=passes):
                break
        return part, generated

    def _best(
        self, node: Node[Part], questions: Sequence[Question]
    ) -> tuple[Question, tuple[Node[Part | None], Node[Part | None]]]:
        """Return the question whose answers' bounds fall most, and the two nodes."""
        best: tuple[float, Question, tuple[Node[Part | None], Node[Part | None]]] | None = None
        most = max(node.bound - self.cutoff, AS_GOOD)
        basis = self.branching.master.basis()
        said_yes = []
        for question in questions:
            yes = self._tried(node, question, True, basis)
            said_yes.append((max(min(node.bound - yes.bound, most), AS_GOOD), question, yes))
        # Those with the largest falls come first: the sooner the best is known, the fewer are tried with "no".
        for fall, question, yes in sorted(said_yes, key=lambda tried: -tried[0]):
            if best is not None and fall * most <= best[0]:
                break
            no = self._tried(node, question, False, basis)
            score = fall * max(min(node.bound - no.bound, most), AS_GOOD)
            if best is None or score > best[0]:
                best = score, question, (yes, no)
        if best is None:
            raise ValueError("there is no question to split a node by")
        _, question, (yes, no) = best
        return question, (self._fixed(yes), self._fixed(no))

    def _tried(self, node: Node[Part], question: Question, yes: bool, basis: Any) -> Node[Part | None]:
        """Return the node of an answer, with a bound found in a few rounds from the basis of the node's own LP."""
        poll()
        part = self.branching.answered(node.part, question, yes)
        if part is None:
            return Node(-np.inf, None, node.prices, node.depth + 1)
        self.branching.master.start_from(basis)
        quick = self.branching.generate(part, start=node.prices, rounds=_ROUNDS, stop=self._stop)
        return Node(min(quick.bound, node.bound), part, quick.duals, node.depth + 1)

    def _fixed(self, node: Node[Part | None]) -> Node[Part | None]:
        """Fix by the prices of a node that is to stay."""
        if node.part is None:
            return node
        bound, part = self.branching.fixed(node.part, node.prices, self.cutoff + self.margin)
        return Node(min(node.bound, bound), part, node.prices, node.depth)

    def _settle(self, node: Node[Part], part: Part) -> None:
        value = self.branching.settle(part)
        if value is None:
            self._kept = max(self._kept, node.bound)
        else:
            self.cutoff = max(self.cutoff, value)


def most_open(shares: Floats, count: int, a_row: int = 2) -> list[tuple[int, int]]:
    """Return the (row, column) of the shares that are furthest from 0 and 1, those first, at most so many a row.

    Parameters
    ----------
    shares : ndarray of shape (rows, columns)
        Between 0 and 1.
    count : int
        Of pairs, at most.
    a_row : int
        Pairs of one row, at most: neighbours in a row often tell the same.
    """
    openness = np.minimum(shares, 1 - shares)
    found: list[tuple[int, int]] = []
    taken: dict[int, int] = {}
    for at in np.argsort(-openness, axis=None, kind="stable")[: 3 * count].tolist():
        row, column = divmod(at, shares.shape[1])
        if openness[row, column] > CLEAR and taken.get(row, 0) < a_row and len(found) < count:
            taken[row] = taken.get(row, 0) + 1
            found.append((row, column))
    return found


def most_decisive(by: Floats, worth: Floats, count: int, a_row: int = 2) -> list[tuple[int, int]]:
    """Return the (row, slot) of questions "complete by this slot?" on which most depends, those first.

    Over a gap, from one completion of an LP's optimum to the slot before the next, the share of a row is the same, so
    each of its slots cuts off the same optimum; but at its last slot "yes" lets the row be nearly as late as the next
    completion, and takes little off. So the first slot of a gap and its middle are asked about. A gap counts by the
    worth that is lost over it, times how open the answer is.

    Parameters
    ----------
    by : ndarray of shape (rows, slots)
        Share of a row that is complete by the end of each slot; at most 1, never less than in the slot before.
    worth : ndarray of shape (rows, slots)
        Of a completion in a slot; what is never complete is worth 0.
    count : int
        Of pairs, at most.
    a_row : int
        Gaps of one row, at most: neighbours often tell the same.
    """
    slots = by.shape[1]
    later = np.hstack([worth, np.zeros((len(by), 1))])
    gaps = []
    for row in np.flatnonzero((np.minimum(by, 1 - by) > CLEAR).any(axis=1)).tolist():
        ends = [*np.flatnonzero(np.diff(by[row]) > CLEAR).tolist(), slots - 1]
        for first, last in zip([0, *(end + 1 for end in ends[:-1])], ends, strict=True):
            openness = min(by[row, first], 1 - by[row, first])
            if openness > CLEAR:
                gaps.append((openness * (later[row, first] - later[row, last + 1]), row, first, last))
    found: dict[tuple[int, int], None] = {}
    taken: dict[int, int] = {}
    for _, row, first, last in sorted(gaps, key=lambda gap: -gap[0]):
        if taken.get(row, 0) < a_row:
            taken[row] = taken.get(row, 0) + 1
            found |= dict.fromkeys([(row, first), (row, (first + last + 1) // 2)])
    return list(found)[:count]
