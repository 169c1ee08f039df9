"""The worker counts that one slot allows, and the offline optimum by dynamic programming over cumulative counts.

All in whole numbers and rationals, without a solver; for small instances. A ring stays a ring, and loads no link more,
when workers leave it, so the counts of a slot can be lowered. Hence only the largest counts of each slot matter, and a
job that has been given z worker-slots can be taken to use the best number up to z: no assumption on utilities.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TypeVar

from dlsched.algorithms.exact.ddljs.horizon import values
from dlsched.algorithms.exact.ddljs.network import Network
from dlsched.halt import polled
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.requests import RingProblem, RingRequest, unpriced_problem
from dlsched.models.ddljs.rings import Arc, Path, arcs_of
from dlsched.models.numbers import splits, to_integers

T = TypeVar("T")
Counts = tuple[int, ...]
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
            for shares in self._tried(request, splits(size, list(rooms.values()))):
                workers = {u: n for u, n in zip(rooms, shares, strict=True) if n}
                tree = self.network.tree_circulation(workers)
                if not usable.issuperset(tree):
                    continue
                for core in paths.rings({top[u] for u in workers}):
                    yield workers, Counter(tree) + core

    def _tried(self, request: RingRequest, places: Iterable[tuple[T, ...]]) -> Iterator[tuple[T, ...]]:
        """Yield places for workers of one ring size, up to the limit, whether or not rings go through them."""
        for tried, each in enumerate(polled(places), 1):
            if tried > self.most:
                raise TooLargeError(f"request {request.name}: more than {self.most} places for its workers")
            yield each

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
            for order in self._tried(
                request, itertools.product(*(self.problem.hosts(request, a) for a in range(size)))
            ):
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


def minimal(usages: Iterable[Usage]) -> list[Usage]:
    """Return the vectors that are not at least another one in every entry."""
    kept: list[Usage] = []
    for usage in sorted(set(usages), key=sum):
        if not any(all(a <= b for a, b in zip(other, usage, strict=True)) for other in kept):
            kept.append(usage)
    return kept


def count_vectors(problem: RingProblem, *, most: int = 5_000) -> frozenset[Counts]:
    """Return V[t]: the vectors of ring sizes, in the order of the requests, that can be embedded together.

    Parameters
    ----------
    problem : RingProblem
        Its profits do not matter; 0 is a size of every request.
    most : int
        The most embeddings of one request, and of all together, that are looked at.

    Raises
    ------
    TooLargeError
        If there are more.
    """
    enumeration = Enumeration(problem, most)
    states: dict[Counts, list[Usage]] = {(): [(0,) * len(enumeration.limits)]}
    for number in range(len(problem.requests)):
        options = enumeration.options(number)
        extended: dict[Counts, list[Usage]] = {}
        looked = 0
        for sizes, usages in states.items():
            extended[*sizes, 0] = usages
            for size, choices in options.items():
                pairs = len(usages) * len(choices)
                looked += pairs
                if pairs > most or looked > 10 * most:
                    raise TooLargeError(f"request {number + 1}: more than {most} pairs of embeddings")
                together = _together(usages, choices, enumeration.limits)
                if together:
                    extended[*sizes, size] = together
        states = extended
    return frozenset(states)


def _together(usages: list[Usage], choices: list[Usage], limits: Usage) -> list[Usage]:
    sums = (tuple(a + b for a, b in zip(usage, choice, strict=True)) for usage in usages for choice in choices)
    return minimal(total for total in sums if all(a <= limit for a, limit in zip(total, limits, strict=True)))


def maximal(vectors: Iterable[Counts]) -> list[Counts]:
    """Return the vectors that are not at most another one in every entry."""
    return [tuple(-n for n in vector) for vector in minimal(tuple(-n for n in vector) for vector in vectors)]


def best_value(instance: Instance, *, most: int = 5_000) -> Fraction | None:
    """Return the optimum of (2)-(9), corrected; None where no schedule has finite utility.

    Parameters
    ----------
    instance : Instance
    most : int
        The most embeddings, and states in a slot, that are looked at.

    Raises
    ------
    TooLargeError
        If there are more.
    """
    tops = [_running_best(values(instance, job)) for job in instance.jobs]
    ends = [max(best, default=0) for best in tops]
    known: dict[object, list[Counts]] = {}
    reached: list[Counts] = [(0,) * len(instance.jobs)]
    for slot in range(1, instance.slots + 1):
        problem = unpriced_problem(instance, slot)
        key = problem.shares, tuple(request.name for request in problem.requests)
        if key not in known:
            known[key] = _on_all_jobs(instance, problem, maximal(count_vectors(problem, most=most)))
        if len(reached) * len(known[key]) > most:
            raise TooLargeError(f"slot {slot}: more than {most} counts")
        reached = maximal(
            tuple(min(a + b, end) for a, b, end in zip(z, y, ends, strict=True)) for z in reached for y in known[key]
        )
    found = [total for z in reached if (total := _total(tops, z)) is not None]
    return max(found, default=None)


def _running_best(points: Mapping[int, Fraction]) -> dict[int, Fraction]:
    """Return the numbers of worker-slots that beat all smaller ones, with their utility."""
    best: dict[int, Fraction] = {}
    for n in sorted(points):
        if not best or points[n] > max(best.values()):
            best[n] = points[n]
    return best


def _on_all_jobs(instance: Instance, problem: RingProblem, vectors: list[Counts]) -> list[Counts]:
    names = [request.name for request in problem.requests]
    tables = [dict(zip(names, vector, strict=True)) for vector in vectors]
    return [tuple(table.get(job.name, 0) for job in instance.jobs) for table in tables]


def _total(tops: list[dict[int, Fraction]], counts: Counts) -> Fraction | None:
    total = Fraction(0)
    for best, n in zip(tops, counts, strict=True):
        within = [value for k, value in best.items() if k <= n]
        if not within:
            return None
        total += within[-1]
    return total
