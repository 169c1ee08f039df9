"""The questions that the Hadar tree branches on, and the record of a tree that the replay checks."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dlsched.algorithms.exact.hadar.graph import Bools, Graph
from dlsched.algorithms.exact.hadar.states import Ints
from dlsched.solvers.matrix import Floats


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
    steps : list of (slot, inequality, price) arrays
        One entry for each time arcs were fixed, in order.
    branch : Branch, optional
    children : tuple of Record
        Yes, no.
    """

    steps: list[tuple[Ints, Ints, Floats]] = field(default_factory=list)
    branch: Branch | None = None
    children: tuple[Record, ...] = ()


def undecided(graph: Graph, required: Bools) -> list[Branch]:
    """Return a question that the arcs leave open, for a node whose LP is integral and yet not closed."""
    for j in range(graph.jobs):
        mine = graph.job == j
        slots = np.unique(graph.slot[mine & graph.finishing])
        if len(slots) > 1 or (len(slots) == 1 and not required[j]):
            return [Branch(j, int(slots[0]))]
        runs = mine & (graph.option >= 0)
        for t in np.unique(graph.slot[runs]).tolist():
            options = np.unique(graph.option[mine & (graph.slot == t)])
            if len(options) > 1:
                return [Branch(j, t, (int(options[-1]),))]
    return []
