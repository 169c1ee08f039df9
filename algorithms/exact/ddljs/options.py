"""All ways to embed one ring request, by enumeration in whole numbers: what the exact dynamic program is made of."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from dlsched.algorithms.exact.ddljs.network import Network
from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.models.ddljs.rings import Arc, Path, arcs_of
from dlsched.models.numbers import to_integers

Usage = tuple[int, ...]
"""How much an embedding takes of each row: of nodes and resources, then of shared bandwidths."""


class TooLargeError(Exception):
    """An enumeration would exceed its limit."""


class Enumeration:
    """The embeddings of a problem's requests, each as what it takes.

    Parameters
    ----------
    problem : RingProblem
    most : int
        How many embeddings of one request may be looked at; beyond, `TooLargeError` is raised.

    Attributes
    ----------
    limits : tuple of int
        The limit of each row.
    """

    def __init__(self, problem: RingProblem, most: int) -> None:
        self.problem, self.most, self.looked = problem, most, 0
        self.network = Network.of(problem.nodes, problem.arcs)
        self.share = {arc: n for n, (arcs, _) in enumerate(problem.shares) for arc in arcs}
        self.limits: Usage = ()
        self._needs: list[dict[str, int]] = [{} for _ in problem.requests]
        self._bandwidths: list[int] = []
        for r in problem.resources:
            needs = [request.demand.get(r, Fraction(0)) for request in problem.requests]
            whole, _ = to_integers([*needs, *(problem.nodes[u].get(r, Fraction(0)) for u in problem.servers)])
            for own, need in zip(self._needs, whole[: len(needs)], strict=True):
                own[r] = need
            self.limits += tuple(whole[len(needs) :])
        widths = [request.bandwidth for request in problem.requests]
        whole, _ = to_integers([*widths, *(limit for _, limit in problem.shares)])
        self._bandwidths = whole[: len(widths)]
        self.limits += tuple(whole[len(widths) :])

    def options(self, number: int) -> dict[int, list[Usage]]:
        """Return, by ring size, what embeddings of a request take; none that takes as much as another everywhere."""
        request, self.looked = self.problem.requests[number], 0
        found: dict[int, set[Usage]] = {}
        for workers, loads in self._plain(request) if request.allowed is None else self._ordered(request):
            self.looked += 1
            if self.looked > self.most:
                raise TooLargeError(f"request {request.name}: more than {self.most} embeddings")
            usage = self._usage(number, workers, loads)
            if all(amount <= limit for amount, limit in zip(usage, self.limits, strict=True)):
                found.setdefault(sum(workers.values()), set()).add(usage)
        return {size: minimal(usages) for size, usages in found.items()}

    def _usage(self, number: int, workers: Mapping[str, int], loads: Mapping[Arc, int]) -> Usage:
        needs, problem = self._needs[number], self.problem
        rows = [needs[r] * workers.get(u, 0) for r in problem.resources for u in problem.servers]
        shares = [0] * len(problem.shares)
        for arc, times in loads.items():
            shares[self.share[arc]] += times * self._bandwidths[number]
        return (*rows, *shares)

    def _plain(self, request: RingRequest) -> Iterator[tuple[dict[str, int], Mapping[Arc, int]]]:
        """Yield workers by server and loads of rings that visit each server once; shortest on the pendant trees."""
        usable = set(self.problem.usable(request))
        paths = _Paths(self, [arc for arc in self.network.arcs if arc in usable])
        rooms = {u: self.problem.room(request, u) for u in self.problem.hosts(request)}
        top = self._tops()
        for size in request.sizes:
            for workers in _spread(list(rooms.items()), size):
                tree = self.network.tree_circulation(workers)
                if not usable.issuperset(tree):
                    continue
                for core in paths.rings({top[u] for u in workers}):
                    yield workers, Counter(tree) + core

    def _tops(self) -> dict[str, str]:
        """Return the core node over each node."""
        top = {c: c for c in self.network.core}
        for u, v in reversed(self.network.parent.items()):
            top[u] = top[v]
        return top

    def _ordered(self, request: RingRequest) -> Iterator[tuple[dict[str, int], Mapping[Arc, int]]]:
        """Yield workers and loads for every place of every ring node and all paths."""
        paths = _Paths(self, self.problem.usable(request))
        for size in request.sizes:
            for order in itertools.product(*(self.problem.hosts(request, a) for a in range(size))):
                for loads in paths.along(order):
                    yield dict(Counter(order)), loads


class _Paths:
    """Rings along simple paths of a graph."""

    def __init__(self, owner: Enumeration, arcs: Iterable[Arc]) -> None:
        import networkx as nx

        self.owner, self.graph = owner, nx.DiGraph(arcs)
        self.found: dict[Arc, list[Path]] = {}
        self.known: dict[frozenset[str], list[Counter[Arc]]] = {}

    def between(self, u: str, v: str) -> list[Path]:
        """Return all simple paths from one node to another."""
        import networkx as nx

        if (u, v) not in self.found:
            known = u in self.graph and v in self.graph
            paths = nx.all_simple_paths(self.graph, u, v) if known else iter(())
            first = list(itertools.islice(paths, self.owner.most + 1))
            if len(first) > self.owner.most:
                raise TooLargeError(f"more than {self.owner.most} paths from {u} to {v}")
            self.found[u, v] = [tuple(path) for path in first]
        return self.found[u, v]

    def along(self, order: tuple[str, ...]) -> Iterator[Counter[Arc]]:
        """Yield the loads of every ring that visits nodes in an order."""
        hops = [(u, v) for u, v in zip(order, (*order[1:], order[0]), strict=True) if u != v]
        for ring in itertools.product(*(self.between(u, v) for u, v in hops)):
            self.owner.looked += 1
            if self.owner.looked > self.owner.most:
                raise TooLargeError(f"more than {self.owner.most} rings")
            yield Counter(arc for path in ring for arc in arcs_of(path))

    def rings(self, nodes: set[str]) -> list[Counter[Arc]]:
        """Return the loads of the rings through nodes, in any order; none that loads every arc as much as another."""
        key = frozenset(nodes)
        if key not in self.known:
            first, *rest = sorted(nodes)
            every = [loads for order in itertools.permutations(rest) for loads in self.along((first, *order))]
            arcs = sorted({arc for loads in every for arc in loads})
            kept = minimal({tuple(loads[arc] for arc in arcs) for loads in every})
            self.known[key] = [Counter({a: n for a, n in zip(arcs, usage, strict=True) if n}) for usage in kept]
        return self.known[key]


def _spread(rooms: list[tuple[str, int]], size: int) -> Iterator[dict[str, int]]:
    """Yield all ways to put workers on servers."""
    if not size:
        yield {}
    elif rooms:
        (u, room), *others = rooms
        for n in range(min(room, size) + 1):
            for rest in _spread(others, size - n):
                yield {u: n, **rest} if n else rest


def minimal(usages: Iterable[Usage]) -> list[Usage]:
    """Return the vectors that are not at least another one in every entry."""
    kept: list[Usage] = []
    for usage in sorted(set(usages), key=sum):
        if not any(all(a <= b for a, b in zip(other, usage, strict=True)) for other in kept):
            kept.append(usage)
    return kept
