"""All schedules of all jobs as paths of one layered graph, and longest paths in it.

A node is (slot, state of a job); an arc runs the job at an option for the slot, or leaves it idle. An arc that
completes the job ends in the common sink and earns U_j. Longest paths from the sink backward and from the roots
forward give, at given prices of running, the best schedule of every job and, for each arc, the best schedule that uses
it: what column generation prices with, and what fixing needs.

Weights are floats that hold integers (see `dlsched.algorithms.exact.hadar.rows`), so sums and maxima are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.exact.hadar.problem import Ints, Options
from dlsched.algorithms.exact.hadar.states import States
from dlsched.halt import poll, polled
from dlsched.solvers.matrix import Floats

Bools = npt.NDArray[np.bool_]
IDLE = -1
"""In place of an option, whose numbers are not negative: the job does nothing in a slot."""


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """The layered graph; arcs are sorted by tail, node numbers grow with the slot, the last node is the sink.

    Attributes
    ----------
    slots, jobs, options : int
    tail, head, job, slot, option : ndarray of shape (arcs,)
        `option` is `IDLE` where the job does not run.
    gain : ndarray of shape (arcs,)
        Utility earned at completion, in units; 0 elsewhere.
    origin : ndarray of shape (arcs,)
        Number of the arc in the graph that this one was cut from.
    root : ndarray of shape (jobs,)
        First node of each job; -1 where the job has no schedule left.
    nodes : int
    onward : ndarray of shape (most arcs of a node, nodes)
        The arcs of each node in their order, then the number of all arcs where it has fewer.
    layers : tuple of (nodes, heads) by slot
        The nodes of a slot (slices), and the heads of their arcs as in `onward`, the sink where there is none.
    price_index : ndarray of shape (arcs,)
        Where an arc's price stands in a flattened array (slots, options, jobs) followed by a 0 for idling.
    """

    slots: int
    jobs: int
    options: int
    tail: Ints
    head: Ints
    job: Ints
    slot: Ints
    option: Ints
    gain: Floats
    origin: Ints
    root: Ints
    nodes: int
    onward: Ints
    layers: tuple[tuple[slice, Ints], ...]
    price_index: Ints

    @property
    def sink(self) -> int:
        """The node in which completing arcs end."""
        return self.nodes - 1

    @property
    def finishing(self) -> Bools:
        """Which arcs complete their job."""
        finishing: Bools = self.head == self.sink
        return finishing

    def backward(self, weight: Floats) -> Floats:
        """Return the longest path from each node to the sink, -inf where there is none."""
        value = np.full(self.nodes, -np.inf)
        value[self.sink] = 0.0
        poll()
        by_node = np.append(weight, -np.inf).take(self.onward)
        for nodes, heads in reversed(self.layers):
            reached = value.take(heads)
            reached += by_node[:, nodes]
            reached.max(axis=0, out=value[nodes])
        return value

    def forward(self, weight: Floats) -> Floats:
        """Return the longest path from a root to each node but the sink, -inf where there is none."""
        value = np.full(self.nodes, -np.inf)
        value[self.root[self.root >= 0]] = 0.0
        poll()
        by_node = np.append(weight, -np.inf).take(self.onward)
        for nodes, heads in self.layers:
            # Flat, as NumPy takes four times as long for indices of two dimensions.
            np.maximum.at(value, heads.ravel(), (by_node[:, nodes] + value[nodes]).ravel())
        value[self.sink] = -np.inf
        return value

    def best(self, value: Floats) -> Floats:
        """Return the value of each job's root, -inf where it has none."""
        return np.where(self.root >= 0, value[self.root], -np.inf)

    def paths(self, weight: Floats, value: Floats) -> Ints:
        """Return the arcs of a longest path of each job, shape (jobs, slots), padded with -1 (jobs without: all -1)."""
        arcs = np.full((self.jobs, self.slots), -1, dtype=np.int64)
        walking = np.flatnonzero(np.isfinite(self.best(value)))
        node = self.root[walking]
        column = np.arange(len(node))
        for step in range(self.slots):
            if not len(walking):
                break
            choices = self.onward.take(node, axis=1)
            heads = self.head.take(choices, mode="clip")
            worth = weight.take(choices, mode="clip")
            worth += value.take(heads)
            worth[choices == len(self.head)] = -np.inf
            best = worth.argmax(axis=0), column[: len(node)]
            arcs[walking, step] = choices[best]
            node = heads[best]
            more = node != self.sink
            walking, node = walking[more], node[more]
        return arcs

    def follow(self, levels: Ints) -> Ints:
        """Return the arcs of given schedules like `paths`; jobs whose schedule is not in the graph get -1.

        Parameters
        ----------
        levels : ndarray of int, shape (jobs, slots)
            Option, `IDLE` where the job does not run.
        """
        arcs = np.full((self.jobs, self.slots), -1, dtype=np.int64)
        for j in np.flatnonzero((self.root >= 0) & (levels != IDLE).any(axis=1)).tolist():
            node, t, path = int(self.root[j]), 0, []
            while node != self.sink:
                choices = self.onward[:, node]
                choices = choices[choices < len(self.head)]
                t = int(self.slot[choices[0]])
                same = choices[self.option[choices] == levels[j, t]]
                if not len(same):
                    break
                path.append(int(same[0]))
                node = int(self.head[path[-1]])
            if node == self.sink and (levels[j, t + 1 :] == IDLE).all():
                arcs[j, : len(path)] = path
        return arcs

    def masked(self, alive: Bools) -> Graph:
        """Return the same graph, in which the arcs that are not alive earn minus infinity."""
        return self if alive.all() else replace(self, gain=np.where(alive, self.gain, -np.inf))

    def numbered(self) -> Graph:
        """Return the same graph, its arcs numbered through."""
        return replace(self, origin=np.arange(len(self.tail)))

    def restrict(self, alive: Bools) -> Graph:
        """Return the graph of the arcs that are alive and on a path from a root to the sink."""
        weight = np.where(alive, 0.0, -np.inf)
        onward = np.isfinite(self.backward(weight))
        reached = np.isfinite(self.forward(weight))
        kept = np.flatnonzero(alive & reached[self.tail] & onward[self.head])
        used = np.zeros(self.nodes, dtype=bool)
        used[self.tail[kept]] = used[self.sink] = True
        number = np.cumsum(used) - 1
        root = np.where((self.root >= 0) & used[self.root], number[self.root], -1)
        return assemble(
            replace(
                self,
                tail=number[self.tail[kept]],
                head=number[self.head[kept]],
                job=self.job[kept],
                slot=self.slot[kept],
                option=self.option[kept],
                gain=self.gain[kept],
                origin=self.origin[kept],
                root=root,
                nodes=int(used.sum()),
            )
        )


def assemble(graph: Graph) -> Graph:
    """Return the graph with its arcs by node and slot, and where their prices stand; they are sorted by tail."""
    arcs = len(graph.tail)
    rank = np.arange(arcs) - np.searchsorted(graph.tail, np.arange(graph.nodes))[graph.tail]
    onward = np.full((int(rank.max(initial=0)) + 1, graph.nodes), arcs, dtype=np.int64)
    onward[rank, graph.tail] = np.arange(arcs)
    heads = np.append(graph.head, graph.sink)[onward]
    bounds = np.append(graph.tail, graph.sink)[np.searchsorted(graph.slot, np.arange(graph.slots + 1))].tolist()
    nodes = [slice(low, high) for low, high in pairwise(bounds)]
    layers = tuple((each, np.ascontiguousarray(heads[:, each])) for each in polled(nodes))
    cell = (graph.slot * graph.options + graph.option) * graph.jobs + graph.job
    cell[graph.option == IDLE] = graph.slots * graph.options * graph.jobs
    return replace(graph, onward=onward, layers=layers, price_index=cell)


def build_graph(jobs: tuple[Options, ...], states: States, slots: int, units: Floats) -> Graph:
    """Build the graph of all schedules.

    Parameters
    ----------
    jobs : tuple of Options
    states : States
    slots : int
    units : ndarray of shape (jobs, slots)
        Utility by completion slot, in units; completions worth 0 are left out.
    """
    most = states.following.shape[0]
    layers = _layers(jobs, states, slots, units)
    first = np.cumsum([0, *(len(layer.states) for layer in layers)])
    root = np.full(len(jobs), -1, dtype=np.int64)
    for j, options in enumerate(jobs):
        layer = layers[options.arrival]
        root[j] = first[options.arrival] + np.searchsorted(layer.states, states.root[j])
    tail, head, job, option, gain = [], [], [], [], []
    sink = int(first[-1])
    for t, layer in enumerate(polled(layers)):
        order = np.argsort(layer.tail, kind="stable")
        tail.append(first[t] + np.searchsorted(layer.states, layer.tail[order]))
        following = layers[t + 1].states if t + 1 < slots else layer.states[:0]
        inner = first[t + 1] + np.searchsorted(following, layer.head[order])
        head.append(np.where(layer.finish[order], sink, inner))
        job.append(states.job[layer.tail[order]])
        option.append(layer.option[order])
        gain.append(np.where(layer.finish[order], units[job[-1], t], 0.0))
    counts = [len(part) for part in tail]
    whole = Graph(
        slots=slots,
        jobs=len(jobs),
        options=most,
        tail=np.concatenate(tail),
        head=np.concatenate(head),
        job=np.concatenate(job),
        slot=np.repeat(np.arange(slots), counts),
        option=np.concatenate(option),
        gain=np.concatenate(gain),
        origin=np.arange(sum(counts)),
        root=root,
        nodes=sink + 1,
        onward=np.zeros((0, 0), dtype=np.int64),
        layers=(),
        price_index=np.zeros(0, dtype=np.int64),
    )
    merged = assemble(_merged(whole))
    return merged.restrict(np.ones(len(merged.tail), dtype=bool)).numbered()


def _merged(graph: Graph) -> Graph:
    """Return the graph in which nodes of the same future are one, found from the last slot to the first.

    Amounts of remaining work, rounded along different ways, may differ though the same options complete the job in the
    same slots. Of options that lead to the same future, idling among them, the slowest is kept. The replay, which
    follows the amounts as they are and leaves out the same options, is never weaker than this graph.
    """
    same = np.arange(graph.nodes)
    alive = np.ones(len(graph.tail), dtype=bool)
    bounds = np.searchsorted(graph.slot, np.arange(graph.slots + 1)).tolist()
    for low, high in polled(reversed(list(pairwise(bounds)))):
        tails, start, row = np.unique(graph.tail[low:high], return_index=True, return_inverse=True)
        future = np.full((len(tails), graph.options + 1), -1)
        future[row, graph.option[low:high]] = same[graph.head[low:high]]  # idling stands last, the slowest
        for option in range(graph.options):
            slower = future[:, option + 1 :]
            future[(future[:, option, None] == slower).any(axis=1), option] = -1
        alive[low:high] = future[row, graph.option[low:high]] >= 0
        _, which, kind = np.unique(
            np.column_stack([graph.job[low:high][start], future]), axis=0, return_index=True, return_inverse=True
        )
        same[tails] = tails[which[kind.ravel()]]
    alive &= same[graph.tail] == graph.tail
    return replace(
        graph,
        tail=graph.tail[alive],
        head=same[graph.head[alive]],
        job=graph.job[alive],
        slot=graph.slot[alive],
        option=graph.option[alive],
        gain=graph.gain[alive],
        origin=np.arange(int(alive.sum())),
        root=np.where(graph.root >= 0, same[graph.root], -1),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Layer:
    """The states and the arcs (by tail and head state) of a slot; idling first, then slow before fast."""

    states: Ints
    tail: Ints
    head: Ints
    option: Ints
    finish: Bools


def _layers(jobs: tuple[Options, ...], states: States, slots: int, units: Floats) -> list[_Layer]:
    arrival = np.array([o.arrival for o in jobs], dtype=np.int64)
    layers: list[_Layer] = []
    alive = np.zeros(len(states.job), dtype=bool)
    for t in polled(range(slots)):
        alive[states.root[arrival == t]] = True
        layer = _layer(states, np.flatnonzero(alive), t, slots, units)
        layers.append(layer)
        alive = np.zeros(len(states.job), dtype=bool)
        alive[layer.head[~layer.finish]] = True
    return layers


def _layer(states: States, here: Ints, t: int, slots: int, units: Floats) -> _Layer:
    left = slots - t - 1
    idle = here[states.steps[here] <= left]
    parts = [(idle, idle, np.full(len(idle), IDLE, dtype=np.int64), np.zeros(len(idle), dtype=bool))]
    for option in reversed(range(states.following.shape[0])):
        runs = here[states.useful[option, here]]
        to = states.following[option, runs]
        finish = to == states.done[states.job[runs]]
        ok = np.where(finish, units[states.job[runs], t] > 0, states.steps[to] <= left)
        parts.append((runs[ok], to[ok], np.full(int(ok.sum()), option, dtype=np.int64), finish[ok]))
    tail, head, options, finishes = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _Layer(here, tail, head, options, finishes)
