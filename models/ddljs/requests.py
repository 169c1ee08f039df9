"""Ring requests on a substrate: the data of one slot's embedding problem, for this problem's instances and for others.

Symbols (GADGET, Section V-C): chi_ik ring size k is chosen for job i; pi_ik its profit; Q_i the sizes; g^{u,r} capacity
of node u; e^{u,v} bandwidth of link (u, v); d demands of ring nodes and edges, the same for all of a job's.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from types import MappingProxyType
from typing import Any, Self

from dlsched.arguments import checked, described, named, not_negative
from dlsched.errors import InputError, shown
from dlsched.models.ddljs.instance import Arc, Instance, Share
from dlsched.models.ddljs.job import Job
from dlsched.models.numbers import amount, small_unit

_NO_PROGRESS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RingRequest:
    """A ring that wants to be embedded, in one of several sizes.

    Attributes
    ----------
    name : str
    profit : mapping of int to Fraction
        pi_ik of each ring size k that may be chosen.
    demand : mapping of str to Fraction
        What each ring node needs of a resource.
    bandwidth : Fraction
        What each ring edge between two substrate nodes reserves.
    allowed : tuple of frozenset of str, optional
        For each ring node, the substrate nodes that may host it.

    Raises
    ------
    InputError
        If a number is none, a demand or the bandwidth is negative, or a size is not positive or has too few `allowed`.

    Notes
    -----
    A float stands for the fraction that is meant by it (`dlsched.models.numbers.rational`): 0.3 for 3/10.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.models.ddljs import RingRequest
    >>> ring = RingRequest("job1", {2: Fraction(5), 3: Fraction(6)}, {"gpu": Fraction(1)}, Fraction(4))
    >>> max(ring.profit, key=ring.profit.get)
    3
    """

    name: str
    profit: Mapping[int, Fraction]
    demand: Mapping[str, Fraction]
    bandwidth: Fraction
    allowed: tuple[frozenset[str], ...] | None = None

    def __post_init__(self) -> None:
        place = f"request {self.name}: "
        object.__setattr__(self, "profit", _rationals(f"{place}profit", self.profit))
        object.__setattr__(self, "demand", _amounts(f"{place}demand", self.demand))
        object.__setattr__(self, "bandwidth", _amount(f"{place}bandwidth", self.bandwidth))
        if any(size < 1 for size in self.profit):
            raise InputError(f"request {self.name}: ring size {min(self.profit)} is not positive")
        if self.allowed is not None and len(self.allowed) < max(self.profit, default=0):
            raise InputError(
                f"request {self.name}: a ring of {max(self.profit)} nodes, but {len(self.allowed)} allowed"
            )

    @property
    def sizes(self) -> tuple[int, ...]:
        """Q_i, ascending."""
        return tuple(sorted(self.profit))

    def only(self, size: int) -> RingRequest:
        """Return the request with one ring size left."""
        return RingRequest(self.name, {size: self.profit[size]}, self.demand, self.bandwidth, self.allowed)

    def at_most(self, size: int) -> RingRequest:
        """Return the request with the ring sizes up to one left, which must be some."""
        profit = {k: gain for k, gain in self.profit.items() if k <= size}
        return RingRequest(self.name, profit, self.demand, self.bandwidth, self.allowed)


@dataclass(frozen=True)
class RingProblem:
    """Ring requests and the substrate that they share.

    Attributes
    ----------
    nodes : mapping of str to mapping of str to Fraction
        g^{u,r} by node and resource; an absent resource counts 0. A node may also be an int, which `Embedding` and
        `Schedule` name as text.
    shares : tuple of (tuple of arcs, Fraction)
        Arcs whose loads together stay within a bandwidth; one arc each, or both directions of a half-duplex link.
    requests : tuple of RingRequest

    Raises
    ------
    InputError
        If a number is none or negative, a node is neither text nor a whole number or two are the same as text, an arc
        is no arc of the nodes or stands twice, or requests share a name.

    Notes
    -----
    A float stands for the fraction that is meant by it, as in `RingRequest`.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import networkx as nx
    >>> from dlsched.models.ddljs import RingProblem, RingRequest
    >>> graph = nx.cycle_graph(["s1", "s2", "s3"])
    >>> nx.set_node_attributes(graph, {server: {"gpu": 2} for server in graph}, "capacity")
    >>> nx.set_edge_attributes(graph, 10, "bandwidth")
    >>> asked = RingProblem.of(graph, [RingRequest("job1", {3: Fraction(6)}, {"gpu": Fraction(1)}, Fraction(4))])
    >>> asked.nodes["s1"], len(asked.shares), asked.hosts(asked.requests[0])
    ({'gpu': 2}, 3, ('s1', 's2', 's3'))
    """

    nodes: Mapping[str, Mapping[str, Fraction]]
    shares: tuple[Share, ...]
    requests: tuple[RingRequest, ...]

    def __post_init__(self) -> None:
        nodes = {u: _amounts(f"node {u}: capacity", capacity) for u, capacity in self.nodes.items()}
        object.__setattr__(self, "nodes", nodes)
        shares = tuple((arcs, _amount(_bandwidth(arcs), limit)) for arcs, limit in self.shares)
        object.__setattr__(self, "shares", shares)
        self._network.refuse_bad_nodes()
        self._network.refuse_bad_arcs()
        self._refuse_same_names()

    def _refuse_same_names(self) -> None:
        names = [request.name for request in self.requests]
        if len(set(names)) < len(names):
            raise InputError("two requests have the same name")

    @classmethod
    def of(cls, graph: Any, requests: Iterable[RingRequest]) -> Self:
        """Take the substrate from a networkx graph.

        Parameters
        ----------
        graph : networkx.DiGraph or networkx.Graph
            Its nodes are text or whole numbers; `networkx.relabel_nodes` names others. Node attribute
            ``capacity`` (mapping of resource to number; absent on a switch), edge attribute ``bandwidth`` (number). An
            undirected edge is shared by both directions.
        requests : iterable of RingRequest

        Raises
        ------
        InputError
            As the class; also if an edge has no bandwidth, or the graph has parallel edges.
        """
        if graph.is_multigraph():
            raise InputError("the graph may have parallel edges; add their bandwidths in a DiGraph or Graph")
        nodes = {u: d.get("capacity") or {} for u, d in graph.nodes(data=True)}
        bare = next(((u, v) for u, v, d in graph.edges(data=True) if "bandwidth" not in d), None)
        if bare is not None:
            raise InputError(f"edge {bare[0]!r} -> {bare[1]!r} has no bandwidth")
        shares = tuple(
            (((u, v),) if graph.is_directed() else ((u, v), (v, u)), d["bandwidth"])
            for u, v, d in graph.edges(data=True)
        )
        return cls(nodes, shares, tuple(requests))

    @cached_property
    def _network(self) -> _Network:
        return _Network(self.nodes, self.shares)

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """All arcs, in the order of the shares."""
        return self._network.arcs

    @property
    def capacity(self) -> dict[Arc, Fraction]:
        """The bandwidth that each arc could have for itself."""
        return self._network.capacity

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """Resources that some request needs, in order of appearance."""
        return tuple(dict.fromkeys(r for request in self.requests for r, need in request.demand.items() if need))

    @property
    def servers(self) -> tuple[str, ...]:
        """Nodes with capacity of some resource."""
        return self._network.servers

    @property
    def kinds(self) -> dict[str, str]:
        """For each server the first one of the same capacity, which stands for it where workers may be anywhere."""
        return self._network.kinds

    @property
    def limits(self) -> list[Fraction]:
        """The bandwidths that an arc could have for itself, ascending."""
        return self._network.limits

    @property
    def unit(self) -> float:
        """Below what profits count as equally small: 1, or the greatest where that is less."""
        return small_unit(max((most for request in self.requests for most in request.profit.values()), default=1))

    def request(self, name: str) -> RingRequest:
        """Return the request of that name (KeyError where there is none)."""
        return named("request", name, self._requests)

    @cached_property
    def _requests(self) -> dict[str, RingRequest]:
        return {request.name: request for request in self.requests}

    def room(self, request: RingRequest, node: str) -> int:
        """Return m_iu = floor(min_r g^{u,r} / l_i^r), at most the largest ring size: what one node can host alone."""
        capacity = self.nodes[node]
        if not any(capacity.values()):
            return 0
        fits = [math.floor(capacity.get(r, Fraction(0)) / need) for r, need in request.demand.items() if need]
        return min([max(request.profit, default=0), *fits])

    def hosts(self, request: RingRequest, ring_node: int | None = None) -> tuple[str, ...]:
        """Return the valid nodes: those that can host one ring node, where given the ring node of that number."""
        allowed = None if request.allowed is None or ring_node is None else request.allowed[ring_node]
        rooms = {kind: self.room(request, kind) for kind in set(self.kinds.values())}
        return tuple(u for u, kind in self.kinds.items() if rooms[kind] and (allowed is None or u in allowed))

    def usable(self, request: RingRequest) -> tuple[Arc, ...]:
        """Return the valid arcs: those whose bandwidth carries one ring edge; the same tuple for equal ones."""
        return self._network.usable(request.bandwidth)

    def keeping(self, requests: Iterable[RingRequest]) -> Self:
        """Return the problem with the same substrate, and what is known of it, and other requests."""
        kept = object.__new__(type(self))
        vars(kept).update(nodes=self.nodes, shares=self.shares, requests=tuple(requests), _network=self._network)
        kept._refuse_same_names()
        return kept


def _rationals(place: str, numbers: Mapping[Any, Any]) -> Mapping[Any, Fraction]:
    """Return numbers as rationals, by key: the mapping itself where that is what they are."""
    if all(type(number) is Fraction or type(number) is int for number in numbers.values()):
        return numbers
    return {key: amount(f"{place}[{key!r}]", number) for key, number in numbers.items()}


def _amounts(place: str, numbers: Mapping[str, Any]) -> Mapping[str, Fraction]:
    """Do as `_rationals`, and refuse what is negative."""
    found = _rationals(place, numbers)
    if any(number.numerator < 0 for number in found.values()):
        not_negative(**{f"{place}[{key!r}]": number for key, number in found.items()})
    return found


def _amount(place: str, number: Any) -> Fraction:
    found = amount(place, number)
    not_negative(**{place: found})
    return found


def _bandwidth(arcs: Iterable[Arc]) -> str:
    return f"link {' and '.join(' -> '.join(map(str, arc)) for arc in arcs)}: bandwidth"


class _Network:
    """The substrate of ring problems, which those of thousands of slots share, and what is found out about it."""

    def __init__(self, nodes: Mapping[str, Mapping[str, Fraction]], shares: tuple[Share, ...]) -> None:
        self.nodes = nodes
        self.arcs: tuple[Arc, ...] = tuple(arc for arcs, _ in shares for arc in arcs)
        self.capacity: dict[Arc, Fraction] = {arc: limit for arcs, limit in shares for arc in arcs}
        self._usable: dict[int, tuple[Arc, ...]] = {}

    def refuse_bad_nodes(self) -> None:
        """Refuse nodes that Pyomo would not take for one index, or whose names as text are the same."""
        texts: dict[str, object] = {}
        nodes: Iterable[object] = self.nodes
        for node in nodes:
            if isinstance(node, bool) or not isinstance(node, str | Integral):
                raise InputError(
                    f"node {shown(node)}: must be text or a whole number; networkx.relabel_nodes(graph, str) names it"
                )
            if texts.setdefault(str(node), node) != node:
                raise InputError(f"nodes {texts[str(node)]!r} and {node!r} have the same name: relabel one of them")

    def refuse_bad_arcs(self) -> None:
        """Refuse arcs to what is no node, from a node to itself, and twice the same."""
        unknown = [node for arc in self.arcs for node in arc if node not in self.nodes]
        if unknown:
            raise InputError(f"links join {min(unknown, key=str)!r}, which is not a node")
        loop = next((u for u, v in self.arcs if u == v), None)
        if loop is not None:
            raise InputError(f"self loop at {loop!r}; a ring node needs no link to itself")
        if len(self.capacity) < len(self.arcs):
            raise InputError("an arc stands in two shares; add the bandwidths of parallel links")

    @cached_property
    def servers(self) -> tuple[str, ...]:
        """Nodes with capacity of some resource."""
        return tuple(u for u, capacity in self.nodes.items() if any(capacity.values()))

    @cached_property
    def kinds(self) -> dict[str, str]:
        """For each server the first one of the same capacity."""
        first: dict[frozenset[tuple[str, Fraction]], str] = {}
        return {u: first.setdefault(frozenset((r, c) for r, c in self.nodes[u].items() if c), u) for u in self.servers}

    @cached_property
    def limits(self) -> list[Fraction]:
        """What arcs carry, ascending."""
        return sorted(self.capacity.values())

    def usable(self, bandwidth: Fraction) -> tuple[Arc, ...]:
        """Return the arcs that carry a bandwidth; how many are too narrow tells which."""
        narrow = bisect_left(self.limits, bandwidth)
        if narrow not in self._usable:
            self._usable[narrow] = tuple(arc for arc, limit in self.capacity.items() if bandwidth <= limit)
        return self._usable[narrow]


def largest_ring(instance: Instance, job: Job, so_far: int = 0) -> int:
    """Return q_i[t] = min(N_i, K_i - z, sum_s m_is), the largest ring of a job in a slot.

    References
    ----------
    GADGET, Section V-C, corrected: the printed bound, a joint relaxation of (10) rounded up, can be too small
    for a job and can break (11).
    """
    left = [] if job.budget_slots is None else [job.budget_slots - so_far]
    return max(0, min([job.max_workers, instance.total_room(job), *left]))


def request_of(job: Job, profit: Mapping[int, Fraction]) -> RingRequest:
    """Return what a job asks of a slot, each ring size at its profit."""
    return RingRequest(
        job.name,
        profit,
        {r: need for r, need in job.worker.items() if need},
        job.bandwidth,
        None if job.placement is None else tuple(map(frozenset, job.placement)),
    )


def problem_of(instance: Instance, slot: int, requests: Iterable[RingRequest]) -> RingProblem:
    """Return the problem of requests on the network of a slot."""
    nodes = {node.name: dict(node.capacity) for node in instance.nodes}
    return RingProblem(nodes, instance.shares(slot), tuple(requests))


def expect_stage(instance: Instance, slot: int, so_far: Mapping[str, int]) -> None:
    """Refuse a slot outside 1..T, and worker-slots so far that are negative, no whole number or of no job.

    Raises
    ------
    TypeError, InputError
    """
    names = {job.name for job in instance.jobs}
    numbers: Mapping[str, object] = {"slot": slot} | {f"so_far.{name}": done for name, done in so_far.items()}
    for place, number in numbers.items():
        if not isinstance(number, Integral):
            raise TypeError(f"{place}: expected a whole number, got {described(number)}")
    if not 1 <= slot <= instance.slots:
        raise InputError(f"slot: {slot} is outside 1..{instance.slots}")
    for name, done in so_far.items():
        if name not in names:
            raise InputError(f"so_far.{name}: is not a job of the instance")
        if done < 0:
            raise InputError(f"so_far.{name}: {done} must not be negative")


def _rings(instance: Instance, slot: int, so_far: Mapping[str, int]) -> Iterator[tuple[Job, range]]:
    """Yield the jobs that can have a ring in a slot, with the sizes of it."""
    for job in instance.jobs:
        largest = largest_ring(instance, job, so_far.get(job.name, 0)) if job.arrival <= slot else 0
        if largest:
            yield job, range(1, largest + 1)


def unpriced_problem(instance: Instance, slot: int, so_far: Mapping[str, int] = _NO_PROGRESS) -> RingProblem:
    """Return a slot's problem with every ring size that a job can have there, at no profit.

    Parameters are those of `slot_problem`.
    """
    rings = _rings(instance, slot, so_far)
    return problem_of(instance, slot, (request_of(job, dict.fromkeys(sizes, Fraction(0))) for job, sizes in rings))


@checked
def slot_problem(instance: Instance, slot: int, so_far: Mapping[str, int] = _NO_PROGRESS) -> RingProblem:
    """Return the embedding problem of one slot: the active jobs, their ring sizes and what each adds (12).

    Parameters
    ----------
    instance : Instance
    slot : int
    so_far : mapping of str to int
        z_{i,t-1}, the worker-slots that each job has had; absent jobs count 0.

    Raises
    ------
    InputError
        If the slot is outside 1..T, the worker-slots so far are negative or of no job, or a job's utility so far is
        minus infinity (a log utility at 0).

    Examples
    --------
    >>> from dlsched.models.ddljs import random, slot_problem
    >>> asked = slot_problem(random(0), 2)
    >>> [(request.name, {k: float(worth) for k, worth in request.profit.items()}) for request in asked.requests]
    [('job1', {1: 11.0}), ('job2', {1: 0.0})]
    """
    expect_stage(instance, slot, so_far)
    requests = []
    for job, sizes in _rings(instance, slot, so_far):
        done = so_far.get(job.name, 0)
        requests.append(request_of(job, {k: job.gain(done, k) for k in sizes}))
    return problem_of(instance, slot, requests)
