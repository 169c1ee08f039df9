"""DP_allocation of Algorithm 2: which jobs of the queue run in a round, and on which devices.

A state is (index of a job in the queue, devices allocated). Results depend on nothing else: prices are a function of
what is allocated, and so is sum k w over everything allocated so far. States are therefore visited once, layer by
layer, which is the recursion with the memory that the text asks for. Their number is not polynomial, whatever Theorem 1
says: n jobs that prefer n different types reach 2^(n+1) - 1 of them.

Printed, a state in which FIND_ALLOC answers null, or in which no device is free, ends the recursion. Otherwise the job
is selected iff costQ < costQ/j, where costQ is sum k w after its selection at the prices that follow it, costQ/j the
same without it. That selects nothing, ever: while nothing is allocated, what the jobs after this one return without it
is nothing, by induction on their number, so that costQ/j = 0, and no cost is below 0.

Corrected, the sum of the payoffs mu_j over the selected jobs is maximised, and null skips the job.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from dlsched.algorithms.hadar.find_allocation import Finder, Offer, State, after
from dlsched.models.hadar import Job

Selected = list[tuple[Job, Offer]]


@dataclass(frozen=True, slots=True)
class Selection:
    """What a round runs.

    Attributes
    ----------
    selected : list of (Job, Offer)
        In the order of the queue, or of selection where it is greedy.
    states : int
        Distinct states visited.
    calls : int
        Calls of DP_allocation, including those that the memory answers.
    limited : bool
        The state limit was hit.
    """

    selected: Selected
    states: int
    calls: int
    limited: bool


@dataclass(frozen=True, slots=True)
class _Tree:
    """The reachable states: for each job and state the offer, None where there is none, absent where recursion ends."""

    layers: list[dict[State, Offer | None]]
    states: int
    calls: int
    complete: bool


def select_printed(finder: Finder, queue: Sequence[Job], limit: int) -> Selection:
    """Run the printed recursion; past the limit return what it would return, nothing.

    Parameters
    ----------
    finder : Finder
    queue : sequence of Job
    limit : int
        Most states to visit.
    """
    tree = _explore(finder, queue, limit, null_ends=True)
    if not tree.complete:
        return Selection([], tree.states, tree.calls, True)
    final: dict[State, State] = {}
    taken: list[set[State]] = []
    for layer in reversed(tree.layers):
        below, final, chosen = final, {}, set()
        for state, offer in layer.items():
            final[state] = state
            if offer is None:
                continue
            selected = after(state, offer.counts)
            with_it, without = below.get(selected, selected), below.get(state, state)
            better = finder.cost(selected, with_it) < finder.cost(state, without)
            final[state] = with_it if better else without
            if better:
                chosen.add(state)
        taken.append(chosen)
    return Selection(_walk(finder, queue, tree, taken[::-1]), tree.states, tree.calls, False)


def select_corrected(finder: Finder, queue: Sequence[Job], limit: int) -> Selection:
    """Return the subset of the greatest total payoff; past the limit, one chosen greedily by payoff.

    Parameters
    ----------
    finder : Finder
    queue : sequence of Job
    limit : int
        Most states to visit.
    """
    tree = _explore(finder, queue, limit, null_ends=False)
    if not tree.complete:
        return Selection(greedy(finder, queue), tree.states, tree.calls, True)
    value: dict[State, float] = {}
    taken: list[set[State]] = []
    for layer in reversed(tree.layers):
        below, value, chosen = value, {}, set()
        for state, offer in layer.items():
            value[state] = below.get(state, 0.0)
            if offer is not None:
                gain = offer.payoff + below.get(after(state, offer.counts), 0.0)
                if gain > value[state]:
                    value[state] = gain
                    chosen.add(state)
        taken.append(chosen)
    return Selection(_walk(finder, queue, tree, taken[::-1]), tree.states, tree.calls, False)


def greedy(finder: Finder, queue: Sequence[Job]) -> Selected:
    """Select the job of the greatest payoff, again and again, until no job left has a positive one.

    Payoffs only fall as devices fill up and prices rise, so a job's last known payoff bounds its present one.
    """
    state, selected = finder.start, []
    heap = [(-offer.payoff, i) for i, job in enumerate(queue) if (offer := finder.find(job, state))]
    heapq.heapify(heap)
    while heap and not finder.is_full(state):
        _, i = heapq.heappop(heap)
        offer = finder.find(queue[i], state)
        if offer is None:
            continue
        if heap and -offer.payoff > heap[0][0]:
            heapq.heappush(heap, (-offer.payoff, i))
            continue
        selected.append((queue[i], offer))
        state = after(state, offer.counts)
    return selected


def _explore(finder: Finder, queue: Sequence[Job], limit: int, *, null_ends: bool) -> _Tree:
    layers: list[dict[State, Offer | None]] = []
    frontier = [finder.start]
    states = calls = 1
    for job in queue:
        layer: dict[State, Offer | None] = {}
        following: dict[State, None] = {}
        for state in frontier:
            if finder.is_full(state):
                continue
            offer = finder.find(job, state)
            layer[state] = offer
            children = [after(state, offer.counts), state] if offer else [] if null_ends else [state]
            following.update(dict.fromkeys(children))
            calls += len(children)
            if states + len(following) > limit:
                return _Tree(layers, states + len(following), calls, False)
        layers.append(layer)
        frontier = list(following)
        states += len(frontier)
    return _Tree(layers, states, calls, True)


def _walk(finder: Finder, queue: Sequence[Job], tree: _Tree, taken: list[set[State]]) -> Selected:
    state, selected = finder.start, []
    for job, layer, chosen in zip(queue, tree.layers, taken, strict=True):
        offer = layer.get(state)
        if offer is not None and state in chosen:
            selected.append((job, offer))
            state = after(state, offer.counts)
    return selected
