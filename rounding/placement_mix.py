"""Node loads of the knapsack LP as a mix of integer placements, and placements as rings.

For a ring of k nodes with weight chi the LP gives node loads L_u with sum_u L_u = k chi and L_u <= m_u chi. So
y = L/chi lies in {sum y = k, 0 <= y_u <= m_u}, a polytope with integral corners, and systematic sampling writes y as a
convex combination of integer vectors between floor(y) and ceil(y): lay the y_u end to end on [0, k]; for an offset t in
[0, 1) node u gets as many ring nodes as there are points t, t+1, ..., t+k-1 in its piece. Averaged over t that is y_u,
and the vector changes only where t passes the fractional part of the end of a piece.

The LP knows nothing of bandwidth, so rings found for the vectors may overload links, and where usable links do not join
the nodes there is none.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dlsched.arguments import at_least, checked
from dlsched.errors import InputError
from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.models.ddljs.rings import Arc, Path, RingMapping
from dlsched.models.numbers import amount
from dlsched.relaxations.knapsack_vne import KnapsackVne
from dlsched.relaxations.ring_lp import VneSolution
from dlsched.rounding.decomposition import WeightedMapping, at_most_one
from dlsched.rounding.paths import Tree, heads_of, path_to, tree
from dlsched.rounding.probability import Number
from dlsched.tolerances import TOLERANCE, ZERO


@dataclass(frozen=True, slots=True)
class WeightedCounts:
    """How many ring nodes each node hosts, and the weight of this placement.

    Attributes
    ----------
    weight : Fraction
    size : int
        k, the sum of the counts.
    counts : mapping of str to int
        Positive.

    Examples
    --------
    >>> from dlsched.rounding import integer_mix
    >>> mix = integer_mix({"a": 1.5, "b": 0.75, "c": 0.75}, 3)
    >>> print({u: str(sum(one.weight * one.counts.get(u, 0) for one in mix)) for u in "abc"})
    {'a': '3/2', 'b': '3/4', 'c': '3/4'}
    """

    weight: Fraction
    size: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PlacementMix:
    """Integer placements for each request, and the rings through them.

    Attributes
    ----------
    placements : dict of str to tuple of WeightedCounts
        Their mix has the node loads of the LP.
    mappings : dict of str to tuple of WeightedMapping
        Of the placements that usable links can join.
    unrouted : dict of str to tuple of WeightedCounts
        The others.

    Examples
    --------
    >>> import networkx as nx
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.rounding import placement_mix
    >>> net = nx.DiGraph([("a", "b", {"bandwidth": 2})])
    >>> net.add_nodes_from("ab", capacity={"gpu": 2})
    >>> problem = RingProblem.of(net, [RingRequest("bert", {2: 6}, {"gpu": 1}, 1)])
    >>> mix = placement_mix(problem, {("bert", 2): {"a": 1.5, "b": 0.5}})
    >>> print([one.mapping.nodes for one in mix.mappings["bert"]])
    [('a', 'a')]
    >>> print([one.counts for one in mix.unrouted["bert"]])
    [{'a': 1, 'b': 1}]
    """

    placements: dict[str, tuple[WeightedCounts, ...]]
    mappings: dict[str, tuple[WeightedMapping, ...]]
    unrouted: dict[str, tuple[WeightedCounts, ...]]


@checked
def placement_mix(problem: RingProblem, loads: Mapping[tuple[str, int], Mapping[str, Number]]) -> PlacementMix:
    """Write node loads of the knapsack LP as a mix of placements, and route each as a ring.

    Parameters
    ----------
    problem : RingProblem
    loads : mapping of (request name, ring size k) to mapping of node to number
        L_iku, in ring nodes: they sum to k chi_ik.

    Raises
    ------
    InputError
        If a load is negative, a request's chi add up to more than 1, a node is not valid for the request, or a request
        has a placement of its own.

    References
    ----------
    GADGET, (12)-(18) without bandwidth; the mix is Madow's systematic sampling (1949).

    Examples
    --------
    >>> import networkx as nx
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.rounding import placement_mix
    >>> net = nx.Graph([("a", "b", {"bandwidth": 2})])
    >>> net.add_nodes_from("ab", capacity={"gpu": 2})
    >>> problem = RingProblem.of(net, [RingRequest("bert", {3: 6}, {"gpu": 1}, 1)])
    >>> mix = placement_mix(problem, {("bert", 3): {"a": 1.75, "b": 1.25}})
    >>> for one in mix.mappings["bert"]:
    ...     print(one.weight, one.mapping.nodes, one.mapping.paths)
    3/4 ('a', 'a', 'b') (('a',), ('a', 'b'), ('b', 'a'))
    1/4 ('a', 'b', 'b') (('a', 'b'), ('b',), ('b', 'a'))
    """
    placements: dict[str, tuple[WeightedCounts, ...]] = {}
    mappings: dict[str, tuple[WeightedMapping, ...]] = {}
    unrouted: dict[str, tuple[WeightedCounts, ...]] = {}
    own: dict[str, dict[int, Mapping[str, Number]]] = {request.name: {} for request in problem.requests}
    for (name, size), parts in loads.items():
        own.get(name, {})[size] = parts
    among: dict[int, _Roads] = {}
    for request in problem.requests:
        mixed = _of_request(problem, request, own[request.name])
        usable = problem.usable(request)
        roads = among.setdefault(len(usable), _Roads(usable))
        rings = [(one, roads.ring(one.counts)) for one in mixed]
        placements[request.name] = tuple(mixed)
        mappings[request.name] = tuple(WeightedMapping(o.weight, o.size, ring) for o, ring in rings if ring is not None)
        unrouted[request.name] = tuple(one for one, ring in rings if ring is None)
    return PlacementMix(placements, mappings, unrouted)


@checked
def knapsack_loads(program: KnapsackVne, solution: VneSolution) -> dict[tuple[str, int], dict[str, float]]:
    """Return the loads L_iku of a solution of the knapsack LP, by request and ring size, those up to 1e-9 left out.

    Examples
    --------
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> from dlsched.relaxations import knapsack_vne
    >>> from dlsched.rounding import knapsack_loads, placement_mix
    >>> problem = RingProblem({"a": {"gpu": 3}, "b": {"gpu": 1}}, (), (RingRequest("bert", {4: 6}, {"gpu": 1}, 0),))
    >>> lp = knapsack_vne(problem)
    >>> loads = knapsack_loads(lp, lp.solve())
    >>> print({ring: {u: round(load, 6) for u, load in parts.items()} for ring, parts in loads.items()})
    {('bert', 4): {'a': 3.0, 'b': 1.0}}
    >>> print([one.counts for one in placement_mix(problem, loads).unrouted["bert"]])
    [{'a': 3, 'b': 1}]
    """
    used = {
        ring: {u: load for u, load in loads.items() if load > ZERO}
        for ring, loads in program.loads(solution.point).items()
    }
    return {ring: loads for ring, loads in used.items() if loads}


@checked
def integer_mix(loads: Mapping[str, Number], size: int) -> list[WeightedCounts]:
    """Write node loads as a mix of integer placements of a ring.

    Parameters
    ----------
    loads : mapping of str to number
        L_u, not negative; they sum to k chi. Loads up to 1e-9 count as 0.
    size : int
        k.

    Returns
    -------
    list of WeightedCounts
        At most as many as there are nodes with a load; weights sum to chi. Each count is floor(L_u/chi) or
        ceil(L_u/chi), so caps on L_u/chi hold for it.

    Raises
    ------
    InputError
        If a load is negative or no finite number.

    Examples
    --------
    >>> from dlsched.rounding import integer_mix
    >>> for one in integer_mix({"a": 1.5, "b": 0.75, "c": 0.75}, 3):
    ...     print(one.weight, one.counts)
    1/4 {'a': 2, 'b': 1}
    1/4 {'a': 2, 'c': 1}
    1/2 {'a': 1, 'b': 1, 'c': 1}
    """
    at_least(1, size=size)
    exact = {u: amount(f"loads.{u}", load) for u, load in loads.items()}
    bad = next((u for u, load in exact.items() if load < -TOLERANCE), None)
    if bad is not None:
        raise InputError(f"loads.{bad}: {float(exact[bad]):.3g} must not be negative")
    kept = {u: load for u, load in exact.items() if load > ZERO}
    weight = sum(kept.values(), Fraction(0)) / size
    if not kept:
        return []
    ends = _without_rounding([Fraction(0), *itertools.accumulate(load / weight for load in kept.values())])
    offsets = sorted({end - math.floor(end) for end in ends} | {Fraction(0)})
    mixed = []
    for offset, following in itertools.pairwise((*offsets, Fraction(1))):
        marks = [math.ceil(end - offset) for end in ends]
        counts = {u: b - a for u, (a, b) in zip(kept, itertools.pairwise(marks), strict=True) if b > a}
        mixed.append(WeightedCounts(weight * (following - offset), size, counts))
    return mixed


def _of_request(
    problem: RingProblem, request: RingRequest, loads: Mapping[int, Mapping[str, Number]]
) -> list[WeightedCounts]:
    """Return the mix of one request over all its ring sizes."""
    mixed, place = [], f"request {request.name}"
    for size, parts in loads.items():
        if request.allowed is not None:
            raise InputError(f"{place}: its ring nodes differ in where they may be, so counts do not place them")
        bad = next((u for u, load in parts.items() if load > ZERO and not _hosts(problem, request, u)), None)
        if bad is not None or size not in request.profit:
            raise InputError(
                f"request {request.name}: {f'node {bad}' if bad is not None else f'size {size}'} is not valid"
            )
        mixed += integer_mix(parts, size)
    total = sum((one.weight for one in mixed), Fraction(0))
    if total > 1 + TOLERANCE:
        raise InputError(f"request {request.name}: the weights add up to {float(total):.9g}; at most 1 is possible")
    weights = at_most_one([one.weight for one in mixed])
    return [WeightedCounts(weight, one.size, one.counts) for weight, one in zip(weights, mixed, strict=True)]


def _without_rounding(ends: list[Fraction]) -> list[Fraction]:
    """Return the ends of pieces with fractional parts that differ only by rounding made equal.

    Of parts that follow one another within `ZERO` the least is taken for all; parts so little below 1 are whole.
    """
    groups: list[list[Fraction]] = []
    for part in sorted({end % 1 for end in ends}):
        if groups and part - groups[-1][-1] <= ZERO:
            groups[-1].append(part)
        else:
            groups.append([part])
    meant = {part: group[0] for group in groups for part in group}
    if 1 - groups[-1][-1] <= ZERO:
        meant.update(dict.fromkeys(groups[-1], Fraction(1)))
    return [math.floor(end) + meant[end % 1] for end in ends]


def _hosts(problem: RingProblem, request: RingRequest, node: str) -> bool:
    return node in problem.nodes and problem.room(request, node) > 0


class _Roads:
    """Shortest paths over some arcs."""

    def __init__(self, arcs: Iterable[Arc]) -> None:
        self._heads = heads_of(arcs)
        self._trees: dict[str, Tree] = {}

    def ring(self, counts: Mapping[str, int]) -> RingMapping | None:
        """Return a ring through all nodes with a count, each next one the nearest; None where there is none."""
        stops = [next(iter(counts))]
        left = dict.fromkeys(counts)
        del left[stops[0]]
        while left:
            distances = {v: len(path) for v in left if (path := self._path(stops[-1], v)) is not None}
            if not distances:
                return None
            nearest = min(distances, key=distances.__getitem__)
            stops.append(nearest)
            del left[nearest]
        nodes = tuple(u for u in stops for _ in range(counts[u]))
        if len(nodes) == 1:
            return RingMapping(nodes, ())
        paths = [self._path(u, v) for u, v in zip(nodes, (*nodes[1:], nodes[0]), strict=True)]
        joined = tuple(path for path in paths if path is not None)
        return RingMapping(nodes, joined) if len(joined) == len(paths) else None

    def _path(self, start: str, end: str) -> Path | None:
        if start not in self._trees:
            self._trees[start] = tree(start, self._heads)
        return path_to(end, self._trees[start])
