"""Columns and rows of one ring in the linear programs of ring embeddings, repeated for each of its copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dlsched.models.matrix import Floats
from dlsched.relaxations.ring_blocks import Entries, Ints, RingBlock

Key = tuple[str, tuple[Any, ...]]
"""Component and index of a column or row."""


@dataclass(frozen=True, eq=False)
class RingCopies:
    """A ring block's columns and rows; those of its copies are alike and follow one another.

    In the plain LP a ring has one copy, all of whose nodes 0..k-1 have a location; in the augmented LP it has one for
    each valid node w of ring node 0, and nodes 1..k-1 have a location. A copy's columns are its weight, the locations
    by ring node, the flows by ring edge.

    Attributes
    ----------
    block : RingBlock
    augmented, cap : bool
    column_start, row_start : int
    """

    block: RingBlock
    augmented: bool
    cap: bool
    column_start: int
    row_start: int

    @property
    def copies(self) -> int:
        """The number of copies."""
        return len(self.block.hosts[0]) if self.augmented else 1

    @property
    def first(self) -> int:
        """The first ring node with a location."""
        return 1 if self.augmented else 0

    @cached_property
    def located(self) -> tuple[Ints, Ints]:
        """Ring node and substrate node of each location column of a copy."""
        hosts = self.block.hosts[self.first :]
        ring_nodes = np.repeat(np.arange(self.first, self.block.size), [len(some) for some in hosts])
        return ring_nodes, np.concatenate([*hosts, np.zeros(0, dtype=np.int64)])

    @property
    def edges(self) -> int:
        """The number of ring edges."""
        return self.block.size if self.block.size > 1 else 0

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
        if self.augmented:
            room[self.block.hosts[0]] -= 1
        return np.flatnonzero(room < times)

    @cached_property
    def height(self) -> int:
        """Rows of a copy."""
        return self._balance_start + self.edges * len(self.block.nodes) + len(self.capped)

    @property
    def _balance_start(self) -> int:
        return self.block.size - self.first

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

    def room_rows(self, values: Floats) -> Floats:
        """Return the part of a row vector that belongs to the room of nodes, shape (copies, capped nodes)."""
        mine = values[self.row_start : self.row_start + self.rows].reshape(self.copies, self.height)
        return mine[:, self.height - len(self.capped) :]

    def put(self, entries: Entries, node_row: int, link_row: int) -> None:
        """Add all nonzeros; the first rows are those of the requests, then nodes and links as the numbers tell."""
        copy = np.arange(self.copies)[:, None]
        columns, rows = self.column_start + copy * self.width, self.row_start + copy * self.height
        for local_rows, local_columns, values in self._local():
            entries.add(rows + local_rows, columns + local_columns, values)
        entries.add(self.block.number, columns, 1.0)
        demand, (_, nodes), resources = self.block.demand, self.located, len(self.block.demand)
        for r in np.flatnonzero(demand):
            entries.add(node_row + nodes * resources + r, columns + 1 + np.arange(len(nodes)), demand[r])
        if self.edges:
            share = self.block.substrate.share[self.block.arcs]
            used = np.arange(self.edges * len(share))
            flows = columns + 1 + len(nodes) + used
            entries.add(link_row + np.tile(share, self.edges), flows, self.block.bandwidth)
        if self.augmented:
            self._put_first_node(entries, node_row, columns.ravel(), rows.ravel())

    def _local(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield rows, columns and values that are the same in each copy, numbered from the copy's first."""
        ring_nodes, nodes = self.located
        at = 1 + np.arange(len(nodes))
        yield np.arange(self._balance_start), 0, -1.0
        yield ring_nodes - self.first, at, 1.0
        size, arcs, start, many = self.block.size, self.block.arcs, self._balance_start, len(self.block.nodes)
        if self.edges:
            place = np.searchsorted(self.block.nodes, nodes)
            yield start + ring_nodes * many + place, at, -1.0
            yield start + (ring_nodes - 1) % size * many + place, at, 1.0
            flows = 1 + len(nodes) + np.arange(size * len(arcs))
            edge = np.repeat(np.arange(size) * many, len(arcs))
            for ends, sign in ((self.block.substrate.tail, 1.0), (self.block.substrate.head, -1.0)):
                yield start + edge + np.tile(np.searchsorted(self.block.nodes, ends[arcs]), size), flows, sign
        if len(self.capped):
            start += self.edges * many
            here = np.isin(nodes, self.capped)
            yield start + np.searchsorted(self.capped, nodes[here]), at[here], 1.0
            yield start + np.arange(len(self.capped)), 0, -self.block.room[self.capped]

    def _put_first_node(self, entries: Entries, node_row: int, weights: Ints, rows: Ints) -> None:
        """Add what depends on the copy: ring node 0 is on w with weight x^w."""
        first, demand = self.block.hosts[0], self.block.demand
        for r in np.flatnonzero(demand):
            entries.add(node_row + first * len(demand) + r, weights, demand[r])
        if self.edges:
            many, place = len(self.block.nodes), rows + self._balance_start + np.searchsorted(self.block.nodes, first)
            entries.add(place, weights, -1.0)
            entries.add(place + (self.edges - 1) * many, weights, 1.0)
        here = np.isin(first, self.capped)
        start = rows[here] + self._balance_start + self.edges * len(self.block.nodes)
        entries.add(start + np.searchsorted(self.capped, first[here]), weights[here], 1.0)

    def column_keys(self) -> Iterator[Key]:
        """Yield component and index of each column."""
        substrate, block = self.block.substrate, self.block
        names, arcs = substrate.names, [substrate.problem.arcs[e] for e in block.arcs]
        located = [(int(a), names[u]) for a, u in zip(*self.located, strict=True)]
        for copy in self._copy_names():
            index = (block.request.name, block.size, *copy)
            yield ("x" if self.augmented else "chi"), index
            yield from (("varrho", (*index, a, u)) for a, u in located)
            yield from (("theta", (*index, a, *arc)) for a in range(self.edges) for arc in arcs)

    def row_keys(self) -> Iterator[Key]:
        """Yield component and index of each row."""
        names, block = self.block.substrate.names, self.block
        for copy in self._copy_names():
            index = (block.request.name, block.size, *copy)
            yield from (("locations", (*index, a)) for a in range(self.first, block.size))
            yield from (("balance", (*index, a, names[u])) for a in range(self.edges) for u in block.nodes)
            yield from (("room", (*index, names[u])) for u in self.capped)

    def _copy_names(self) -> list[tuple[str, ...]]:
        names = self.block.substrate.names
        return [(names[w],) for w in self.block.hosts[0]] if self.augmented else [()]
