"""The rings of the linear programs of embeddings: substrate and requests as arrays, columns and rows of each copy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dlsched.errors import InputError
from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.relaxations.matrix_model import Key
from dlsched.solvers.builder import Builder
from dlsched.solvers.matrix import Floats

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Substrate:
    """A ring problem's nodes, arcs and limits as arrays.

    Attributes
    ----------
    names : tuple of str
        Nodes.
    tail, head : ndarray of int, shape (arcs,)
        Ends of the arcs, in the order of `RingProblem.arcs`.
    share : ndarray of int, shape (arcs,)
        The share whose bandwidth an arc uses.
    bandwidth : ndarray, shape (shares,)
    capacity : ndarray, shape (nodes, resources)
        g^{u,r}, for the resources of `RingProblem.resources`.
    """

    problem: RingProblem
    names: tuple[str, ...]
    tail: Ints
    head: Ints
    share: Ints
    bandwidth: Floats
    capacity: Floats

    @classmethod
    def of(cls, problem: RingProblem) -> Substrate:
        """Take the arrays from a problem."""
        names = tuple(problem.nodes)
        index = {u: n for n, u in enumerate(names)}
        ends = np.array([(index[u], index[v]) for u, v in problem.arcs], dtype=np.int64).reshape(-1, 2)
        share = np.repeat(np.arange(len(problem.shares)), [len(arcs) for arcs, _ in problem.shares])
        capacity = np.array([[float(problem.nodes[u].get(r, 0)) for r in problem.resources] for u in names])
        return cls(
            problem,
            names,
            ends[:, 0],
            ends[:, 1],
            share,
            np.array([float(limit) for _, limit in problem.shares]),
            capacity.reshape(len(names), len(problem.resources)),
        )


@dataclass(frozen=True, eq=False)
class RingBlock:
    """A request with one ring size.

    Attributes
    ----------
    number : int
        Of the request.
    request : RingRequest
    size : int
        k.
    hosts : tuple of ndarray of int
        Valid nodes of each ring node 0..k-1.
    arcs : ndarray of int
        Valid arcs; none for a ring of one node.
    room : ndarray of int, shape (nodes,)
        m_iu, how many of the request's ring nodes fit on a node.
    demand : ndarray, shape (resources,)
    """

    substrate: Substrate
    number: int
    request: RingRequest
    size: int
    hosts: tuple[Ints, ...]
    arcs: Ints
    room: Ints
    demand: Floats

    @property
    def profit(self) -> float:
        """pi_ik."""
        return float(self.request.profit[self.size])

    @property
    def bandwidth(self) -> float:
        """b_i."""
        return float(self.request.bandwidth)

    @cached_property
    def nodes(self) -> Ints:
        """The nodes at which flow is conserved: those with a valid arc, and valid ones."""
        ends = self.substrate.tail[self.arcs], self.substrate.head[self.arcs]
        return np.unique(np.concatenate([*ends, *self.hosts]))


def blocks(problem: RingProblem, sizes: Mapping[str, int] | None) -> tuple[Substrate, tuple[RingBlock, ...]]:
    """Return the substrate and a block for each request and ring size.

    Parameters
    ----------
    problem : RingProblem
    sizes : mapping of request name to ring size, optional
        Only this size of each request; a request that is not named has none. All sizes where it is left out.

    Raises
    ------
    InputError
        If a request of that name, or its ring size, does not exist.
    """
    known = {request.name: request for request in problem.requests}
    for name, size in (sizes or {}).items():
        if name not in known or size not in known[name].profit:
            raise InputError(f"sizes.{name}: there is no request {name!r} with ring size {size}")
    substrate = Substrate.of(problem)
    found: list[RingBlock] = []
    for number, request in enumerate(problem.requests):
        chosen = request.sizes if sizes is None else tuple(sizes[n] for n in (request.name,) if n in sizes)
        found.extend(_of_request(substrate, number, request, chosen))
    return substrate, tuple(found)


def _of_request(substrate: Substrate, number: int, request: RingRequest, sizes: tuple[int, ...]) -> Iterator[RingBlock]:
    problem = substrate.problem
    room = np.array([problem.room(request, u) for u in substrate.names], dtype=np.int64)
    limits = {limit: request.bandwidth <= limit for _, limit in problem.shares}
    wide = np.array([limits[limit] for _, limit in problem.shares], dtype=bool)
    arcs = np.flatnonzero(wide[substrate.share]) if len(substrate.share) else np.zeros(0, dtype=np.int64)
    demand = np.array([float(request.demand.get(r, 0)) for r in problem.resources])
    valid = [np.flatnonzero(room)] * max(sizes, default=0)
    if request.allowed is not None:
        allowed = [np.array([u in some for u in substrate.names]) for some in request.allowed[: len(valid)]]
        valid = [np.flatnonzero((room > 0) & some) for some in allowed]
    for size in sizes:
        reachable = arcs if size > 1 else arcs[:0]
        yield RingBlock(substrate, number, request, size, tuple(valid[:size]), reachable, room, demand)


class Layout(Enum):
    """Which linear program a ring's columns and rows are of."""

    KNAPSACK = "knapsack"
    """One copy; how many ring nodes a node hosts, not which; no flow."""
    PLAIN = "plain"
    """One copy, all of whose ring nodes 0..k-1 have a location, and flow along each ring edge."""
    AUGMENTED = "augmented"
    """A copy for each valid node w of ring node 0; the ring nodes 1..k-1 have a location."""


@dataclass(frozen=True, eq=False)
class RingCopies:
    """A ring block's columns and rows; those of its copies are alike and follow one another.

    A copy's columns are its weight, the locations by ring node, the flows by ring edge. Its rows say that its ring
    nodes are located, that flows are balanced, and that nodes have room.

    Attributes
    ----------
    block : RingBlock
    layout : Layout
    cap : bool
    column_start, row_start : int
    """

    block: RingBlock
    layout: Layout
    cap: bool
    column_start: int
    row_start: int

    @property
    def name(self) -> tuple[str, int]:
        """Request name and ring size."""
        return self.block.request.name, self.block.size

    @property
    def copies(self) -> int:
        """The number of copies."""
        return len(self.block.hosts[0]) if self.layout is Layout.AUGMENTED else 1

    @property
    def _first(self) -> int:
        """The first ring node with a location."""
        return 1 if self.layout is Layout.AUGMENTED else 0

    @property
    def located_rows(self) -> int:
        """Rows of a copy that say that ring nodes are located; in the knapsack LP one says it of all."""
        return 1 if self.layout is Layout.KNAPSACK else self.block.size - self._first

    @cached_property
    def located(self) -> tuple[Ints, Ints]:
        """Ring node (0 where all are one) and substrate node of each location column of a copy."""
        hosts = self.block.hosts[self._first : self._first + self.located_rows]
        ring_nodes = np.repeat(self._first + np.arange(len(hosts)), [len(some) for some in hosts])
        return ring_nodes, np.concatenate([*hosts, np.zeros(0, dtype=np.int64)])

    @property
    def edges(self) -> int:
        """The number of ring edges."""
        return self.block.size if self.block.size > 1 and self.layout is not Layout.KNAPSACK else 0

    @cached_property
    def width(self) -> int:
        """Columns of a copy."""
        return 1 + len(self.located[0]) + self.edges * len(self.block.arcs)

    @cached_property
    def capped(self) -> Ints:
        """The substrate nodes that can host fewer ring nodes of a copy than the copy can put there."""
        if not self.cap:
            return np.zeros(0, dtype=np.int64)
        times = np.bincount(self.located[1], minlength=len(self.block.room))
        room = self.block.room.copy()
        if self.layout is Layout.KNAPSACK:
            times = times * self.block.size
        elif self.layout is Layout.AUGMENTED:
            room[self.block.hosts[0]] -= 1
        return np.flatnonzero(room < times)

    @cached_property
    def height(self) -> int:
        """Rows of a copy."""
        return self._room_start + len(self.capped)

    @property
    def _room_start(self) -> int:
        return self.located_rows + self.edges * len(self.block.nodes)

    @property
    def columns(self) -> int:
        """Columns of all copies."""
        return self.copies * self.width

    @property
    def rows(self) -> int:
        """Rows of all copies."""
        return self.copies * self.height

    @property
    def weights(self) -> slice:
        """The columns x^w, or chi_ik."""
        return slice(self.column_start, self.column_start + self.columns, self.width)

    def of_point(self, point: Floats) -> Floats:
        """Return the part of a point that belongs to the ring, shape (copies, width); a view."""
        return point[self.column_start : self.column_start + self.columns].reshape(self.copies, self.width)

    def located_part(self, values: Floats) -> Floats:
        """Return the part of a row vector for the locations, shape (copies, located_rows); a view."""
        return self._of_rows(values)[:, : self.located_rows]

    def balance_part(self, values: Floats) -> Floats:
        """Return the part of a row vector for the flows, shape (copies, edges, nodes of the block); a view."""
        mine = self._of_rows(values)[:, self.located_rows : self._room_start]
        return mine.reshape(self.copies, self.edges, len(self.block.nodes))

    def room_part(self, values: Floats) -> Floats:
        """Return the part of a row vector for the room of nodes, shape (copies, capped nodes); a view."""
        return self._of_rows(values)[:, self._room_start :]

    def _of_rows(self, values: Floats) -> Floats:
        return values[self.row_start : self.row_start + self.rows].reshape(self.copies, self.height)

    def put(self, builder: Builder, node_row: int, link_row: int) -> None:
        """Add all nonzeros; the first rows are those of the requests, then nodes and links as the numbers tell."""
        copy = np.arange(self.copies)[:, None]
        columns, rows = self.column_start + copy * self.width, self.row_start + copy * self.height
        for local_rows, local_columns, values in self._local():
            builder.add(rows + local_rows, columns + local_columns, values)
        builder.add(self.block.number, columns, 1.0)
        demand, (_, nodes), resources = self.block.demand, self.located, len(self.block.demand)
        for r in np.flatnonzero(demand):
            builder.add(node_row + nodes * resources + r, columns + 1 + np.arange(len(nodes)), demand[r])
        if self.edges:
            share = self.block.substrate.share[self.block.arcs]
            used = np.arange(self.edges * len(share))
            flows = columns + 1 + len(nodes) + used
            builder.add(link_row + np.tile(share, self.edges), flows, self.block.bandwidth)
        if self.layout is Layout.AUGMENTED:
            self._put_first_node(builder, node_row, columns.ravel(), rows.ravel())

    def _local(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield rows, columns and values that are the same in each copy, numbered from the copy's first."""
        ring_nodes, nodes = self.located
        at = 1 + np.arange(len(nodes))
        size, arcs, start, many = self.block.size, self.block.arcs, self.located_rows, len(self.block.nodes)
        yield np.arange(start), 0, -float(size) if self.layout is Layout.KNAPSACK else -1.0
        yield ring_nodes - self._first, at, 1.0
        if self.edges:
            place = np.searchsorted(self.block.nodes, nodes)
            yield start + ring_nodes * many + place, at, -1.0
            yield start + (ring_nodes - 1) % size * many + place, at, 1.0
            flows = 1 + len(nodes) + np.arange(size * len(arcs))
            edge = np.repeat(np.arange(size) * many, len(arcs))
            for ends, sign in ((self.block.substrate.tail, 1.0), (self.block.substrate.head, -1.0)):
                yield start + edge + np.tile(np.searchsorted(self.block.nodes, ends[arcs]), size), flows, sign
        if len(self.capped):
            here = np.isin(nodes, self.capped)
            yield self._room_start + np.searchsorted(self.capped, nodes[here]), at[here], 1.0
            yield self._room_start + np.arange(len(self.capped)), 0, -self.block.room[self.capped]

    def _put_first_node(self, builder: Builder, node_row: int, weights: Ints, rows: Ints) -> None:
        """Add what depends on the copy: ring node 0 is on w with weight x^w."""
        first, demand = self.block.hosts[0], self.block.demand
        for r in np.flatnonzero(demand):
            builder.add(node_row + first * len(demand) + r, weights, demand[r])
        if self.edges:
            many, place = len(self.block.nodes), rows + self.located_rows + np.searchsorted(self.block.nodes, first)
            builder.add(place, weights, -1.0)
            builder.add(place + (self.edges - 1) * many, weights, 1.0)
        here = np.isin(first, self.capped)
        room = rows[here] + self._room_start + np.searchsorted(self.capped, first[here])
        builder.add(room, weights[here], 1.0)

    def column_keys(self) -> Iterator[Key]:
        """Yield component and index of each column."""
        substrate, block = self.block.substrate, self.block
        names, arcs = substrate.names, [substrate.problem.arcs[e] for e in block.arcs]
        located = [(int(a), names[u]) for a, u in zip(*self.located, strict=True)]
        for copy in self._copy_names():
            index = (*self.name, *copy)
            yield ("x" if self.layout is Layout.AUGMENTED else "chi"), index
            if self.layout is Layout.KNAPSACK:
                yield from (("hosted", (*index, u)) for _, u in located)
            else:
                yield from (("varrho", (*index, a, u)) for a, u in located)
                yield from (("theta", (*index, a, *arc)) for a in range(self.edges) for arc in arcs)

    def row_keys(self) -> Iterator[Key]:
        """Yield component and index of each row."""
        names, block = self.block.substrate.names, self.block
        for copy in self._copy_names():
            index = (*self.name, *copy)
            if self.layout is Layout.KNAPSACK:
                yield "locations", index
            else:
                yield from (("locations", (*index, a)) for a in range(self._first, block.size))
            yield from (("balance", (*index, a, names[u])) for a in range(self.edges) for u in block.nodes)
            yield from (("room", (*index, names[u])) for u in self.capped)

    def _copy_names(self) -> list[tuple[str, ...]]:
        names = self.block.substrate.names
        return [(names[w],) for w in self.block.hosts[0]] if self.layout is Layout.AUGMENTED else [()]
