"""The outcomes of rounding each request, with what each adds to the profit and to every node and link.

Requests are rounded independently: mapping omega_i^k with probability phi_i^k, none with what is left (GADGET,
Algorithm 2, step 8).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from typing import NamedTuple, Self

from dlsched.errors import InputError
from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.models.ddljs.rings import Arc, RingMapping
from dlsched.models.numbers import amount
from dlsched.rounding.decomposition import WeightedMapping

Weighted = Mapping[str, Sequence[WeightedMapping]]


class NodeRow(NamedTuple):
    """The load A^{u,r} of one resource of a node.

    Examples
    --------
    >>> from dlsched.models.ddljs import RingMapping, RingProblem, RingRequest
    >>> from dlsched.rounding import MappingTable, NodeRow, WeightedMapping
    >>> problem = RingProblem({"a": {"gpu": 3}}, (), (RingRequest("bert", {1: 6}, {"gpu": 2}, 0),))
    >>> table = MappingTable.of(problem, {"bert": [WeightedMapping(1, 1, RingMapping(("a",), ()))]})
    >>> print(table.capacity[NodeRow("a", "gpu")], table.loads([table.options["bert"][1]])[NodeRow("a", "gpu")])
    3 2
    """

    node: str
    resource: str


class LinkRow(NamedTuple):
    """The load of one link: one arc, or both directions of a half-duplex link.

    Examples
    --------
    >>> import networkx as nx
    >>> from dlsched.models.ddljs import RingMapping, RingProblem, RingRequest
    >>> from dlsched.rounding import LinkRow, MappingTable, WeightedMapping
    >>> net = nx.Graph([("a", "b", {"bandwidth": 3})])
    >>> net.add_nodes_from("ab", capacity={"gpu": 1})
    >>> problem = RingProblem.of(net, [RingRequest("bert", {2: 6}, {"gpu": 1}, 1)])
    >>> across = RingMapping(("a", "b"), (("a", "b"), ("b", "a")))
    >>> table = MappingTable.of(problem, {"bert": [WeightedMapping(1, 2, across)]})
    >>> both_ways = LinkRow((("a", "b"), ("b", "a")))
    >>> print(table.capacity[both_ways], table.loads([table.options["bert"][1]])[both_ways])
    3 2
    """

    arcs: tuple[Arc, ...]


Row = NodeRow | LinkRow
Loads = Mapping[Row, Fraction]


@dataclass(frozen=True, slots=True)
class Option:
    """One outcome of a request.

    Attributes
    ----------
    probability : Fraction
    profit : Fraction
        pi_ik, 0 for none.
    loads : mapping of row to Fraction
    chosen : WeightedMapping or None
    """

    probability: Fraction
    profit: Fraction
    loads: Loads
    chosen: WeightedMapping | None


@dataclass(frozen=True, eq=False)
class MappingTable:
    """The outcomes of all requests.

    Attributes
    ----------
    problem : RingProblem
    options : dict of str to tuple of Option
        By request, in the order of the problem; the first is to embed nothing.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.models.ddljs import RingMapping, RingProblem, RingRequest
    >>> from dlsched.rounding import MappingTable, WeightedMapping
    >>> problem = RingProblem({"a": {"gpu": 3}}, (), (RingRequest("bert", {1: 6}, {"gpu": 2}, 0),))
    >>> weighted = {"bert": [WeightedMapping(Fraction(3, 4), 1, RingMapping(("a",), ()))]}
    >>> table = MappingTable.of(problem, weighted)
    >>> print([(str(option.probability), str(option.profit)) for option in table.options["bert"]])
    [('1/4', '0'), ('3/4', '6')]
    >>> print(table.expected_profit, table.loads([table.options["bert"][1]]))
    9/2 {NodeRow(node='a', resource='gpu'): Fraction(2, 1)}
    """

    problem: RingProblem
    options: dict[str, tuple[Option, ...]]

    @classmethod
    def of(cls, problem: RingProblem, weighted: Weighted) -> Self:
        """Tabulate weighted mappings.

        Parameters
        ----------
        problem : RingProblem
        weighted : mapping of str to sequence of WeightedMapping
            As `dlsched.rounding.decompose` returns it; absent requests are never embedded.

        Raises
        ------
        InputError
            If a request is unknown, its weights are negative or add up to more than 1, or a mapping is not of its size,
            has a size that the request does not have, or uses nodes or arcs that the substrate does not have.
        """
        for name in weighted:
            problem.request(name)
        shares = {arc: LinkRow(arcs) for arcs, _ in problem.shares for arc in arcs}
        options = {}
        for request in problem.requests:
            chosen = tuple(weighted.get(request.name, ()))
            rest = 1 - sum((one.weight for one in chosen), Fraction(0))
            if rest < 0 or any(one.weight < 0 for one in chosen):
                raise InputError(f"request {request.name}: weights must be at least 0 and add up to at most 1")
            for one in chosen:
                _check(problem, request, one)
            some = [
                Option(one.weight, request.profit[one.size], loads_of(request, one.mapping, shares), one)
                for one in chosen
            ]
            options[request.name] = (Option(rest, Fraction(0), {}, None), *some)
        return cls(problem, options)

    @cached_property
    def capacity(self) -> dict[Row, Fraction]:
        """The capacity of every node and link."""
        nodes: dict[Row, Fraction] = {
            NodeRow(u, r): capacity.get(r, Fraction(0))
            for u, capacity in self.problem.nodes.items()
            for r in self.problem.resources
        }
        return {**nodes, **{LinkRow(arcs): limit for arcs, limit in self.problem.shares}}

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows that some outcome loads."""
        loaded = {row for options in self.options.values() for option in options for row in option.loads}
        return tuple(row for row in self.capacity if row in loaded)

    @cached_property
    def expected_profit(self) -> Fraction:
        """The expected profit, which is that of the decomposed fractional embedding."""
        every = (option for options in self.options.values() for option in options)
        return sum((option.probability * option.profit for option in every), Fraction(0))

    def row(self, place: Row | str | Arc, resource: str | None = None) -> Row:
        """Return the row of a node and resource, or of an arc.

        Raises
        ------
        KeyError
            If there is none.
        """
        if isinstance(place, NodeRow | LinkRow):
            found: Row | None = place
        elif isinstance(place, str | Integral):
            found = NodeRow(place, resource or "")
        else:
            found = next((LinkRow(arcs) for arcs, _ in self.problem.shares if place in arcs), None)
        if found not in self.capacity:
            raise KeyError(f"there is no row {place!r}" + (f" of resource {resource!r}" if resource else ""))
        return found

    def loads(self, chosen: Iterable[Option]) -> dict[Row, Fraction]:
        """Return the loads of an outcome for every request, rows without load left out."""
        total: dict[Row, Fraction] = defaultdict(Fraction)
        for option in chosen:
            for row, load in option.loads.items():
                total[row] += load
        return dict(total)


def _check(problem: RingProblem, request: RingRequest, one: WeightedMapping) -> None:
    if one.size not in request.profit or len(one.mapping.nodes) != one.size:
        raise InputError(f"request {request.name}: a mapping of {len(one.mapping.nodes)} nodes as ring of {one.size}")
    visited = (node for path in (one.mapping.nodes, *one.mapping.paths) for node in path)
    bad = next((node for node in visited if node not in problem.nodes), None)
    if bad is not None:
        raise InputError(f"request {request.name}: there is no node {bad!r}")
    missing = next((arc for arc in one.mapping.loads() if arc not in problem.capacity), None)
    if missing is not None:
        raise InputError(f"request {request.name}: there is no arc {' -> '.join(map(str, missing))}")


def loads_of(request: RingRequest, mapping: RingMapping, shares: Mapping[Arc, LinkRow]) -> dict[Row, Fraction]:
    """Return what a mapping of a request adds to nodes and links.

    Parameters
    ----------
    request : RingRequest
    mapping : RingMapping
    shares : mapping of arc to LinkRow
        The link whose bandwidth the arc uses.
    """
    loads: dict[Row, Fraction] = defaultdict(Fraction)
    for node, count in mapping.counts().items():
        for resource, need in request.demand.items():
            if need:
                loads[NodeRow(node, resource)] += need * count
    if request.bandwidth:
        for arc, count in mapping.loads().items():
            loads[shares[arc]] += request.bandwidth * count
    return dict(loads)


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What a rounded solution must keep.

    Attributes
    ----------
    least_profit : Fraction or float or None
        Least profit; None where any will do.
    node : mapping of str to float, optional
        beta^r by resource: the most that a node may hold, in capacities; 1 where absent.
    link : float or Fraction
        gamma: the most that a link may carry, in bandwidths.

    Notes
    -----
    A load of exactly beta^r g is accepted; on a node without capacity only a load of 0 is. A float stands for the
    fraction that is meant by it (`dlsched.models.numbers.rational`): 1.2 for 6/5.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.models.ddljs import RingMapping, RingProblem, RingRequest
    >>> from dlsched.rounding import Acceptance, MappingLaw, WeightedMapping
    >>> jobs = [RingRequest(job, {1: 6}, {"gpu": 2}, 0) for job in ("bert", "vit")]
    >>> problem = RingProblem({"a": {"gpu": 3}}, (), jobs)
    >>> on_a = RingMapping(("a",), ())
    >>> weighted = {job.name: [WeightedMapping(Fraction(3, 4), 1, on_a)] for job in jobs}
    >>> law = MappingLaw(problem, weighted)
    >>> for acceptance in (Acceptance(), Acceptance(least_profit=6), Acceptance(least_profit=6, node={"gpu": 1.5})):
    ...     print(law.accepted(acceptance), law.accepted(acceptance, rounds=3))
    7/16 3367/4096
    3/8 387/512
    15/16 4095/4096
    """

    least_profit: Fraction | float | None = None
    node: Mapping[str, float | Fraction] | None = None
    link: float | Fraction = Fraction(1)

    def limit(self, row: Row, capacity: Fraction) -> Fraction:
        """Return the largest load accepted on a row."""
        if isinstance(row, LinkRow):
            return amount("link", self.link) * capacity
        return amount(f"node[{row.resource!r}]", (self.node or {}).get(row.resource, Fraction(1))) * capacity

    @property
    def least(self) -> Fraction | None:
        """The least profit as a fraction."""
        return None if self.least_profit is None else amount("least_profit", self.least_profit)

    def limits(self, table: MappingTable) -> dict[Row, Fraction]:
        """Return the largest accepted load of each row that some outcome loads."""
        return {row: self.limit(row, table.capacity[row]) for row in table.rows}

    def accepts(self, table: MappingTable, chosen: Sequence[Option]) -> bool:
        """Tell whether an outcome for every request is accepted."""
        least, profit = self.least, sum((option.profit for option in chosen), Fraction(0))
        if least is not None and profit < least:
            return False
        return all(load <= self.limit(row, table.capacity[row]) for row, load in table.loads(chosen).items())


FEASIBLE = Acceptance()
"""Accepts what keeps every node and link within its capacity."""
