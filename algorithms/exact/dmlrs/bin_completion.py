"""Whether one level for each job fits the machines in a slot, exactly: bin completion.

Machine after machine is filled with items until none of those left fits into it. Nothing is lost by that: where all
items fit somehow, they also do with the first machine filled up from the others. What stays empty on a full machine is
lost for good, and of each resource no more may be lost than the cluster has beyond what the items need. Of machines
that are alike the next one takes the largest item that is left.

The searches of whole enumerations took 8 to 18 times as long item by item, by best fit and with a memory of rooms: of
12 jobs on 5 machines 12.7 s for 1.6; of 9 jobs on 5 machines that differ by some per cent 6.7 s for .4.

References
----------
A. S. Fukunaga, R. E. Korf: Bin completion algorithms for multicontainer packing, knapsack, and covering problems.
Journal of Artificial Intelligence Research 28, 2007.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dlsched.algorithms.exact.dmlrs.packing import Coding, Counted, Items
from dlsched.halt import poll
from dlsched.models.dmlrs.job import Placement

_REMEMBERED = 100_000
"""Rooms of which it is remembered what fits into them; beyond, all are forgotten. Arbitrary: some 20 MB."""

_Homes = list[tuple[int, int]]
"""The number of each item, and its machine."""


class Undecided(Exception):
    """Raised where a search needs more nodes than it may."""


class Packer:
    """Packs one level for each job onto the machines.

    Parameters
    ----------
    items : Items
    nodes : int, optional
        How often one search may place an item, at most; `Undecided` is raised beyond.

    Attributes
    ----------
    rooms : list of int
        The empty machines, in the order in which they are filled; `alike` is the first of those that are like the last.
    needs : list of int
        Of each item, in the same coding.
    total : int
        All machines as one.
    guard : int
        As in `Coding`.
    """

    def __init__(self, items: Items, nodes: int | None = None) -> None:
        self.items, self.nodes = items, nodes
        capacity = items.slots.capacity
        # All machines together are one more, so that what may be lost of them all is coded like the room on one.
        coding = Coding(np.vstack([capacity, capacity.sum(axis=0)[None]]))
        needs = np.array([item.needs for item in items.items], dtype=capacity.dtype).reshape(-1, capacity.shape[1])
        *rooms, self.total = coding.rooms.tolist()
        self.needs, self.guard = coding.code(needs).tolist(), coding.guard
        # The largest first, by their first resource: by trial a quarter faster than the smallest.
        self._order = sorted(range(len(rooms)), key=rooms.__getitem__, reverse=True)
        self.rooms: list[int] = [rooms[h] for h in self._order]
        self.alike = self.rooms.index(self.rooms[-1]) if rooms else 0
        self._known: dict[int, int] = {}

    def fit(self, levels: Sequence[int]) -> tuple[int, ...] | None:
        """Return the room that a packing of levels leaves on the machines, in the items' coding; None if none fits."""
        found = self._search(levels)
        if found is None:
            return None
        coding, codes = self.items.codings[0]
        rooms = coding.rooms.tolist()
        for number, home in found:
            rooms[home] -= int(codes[number])
        return tuple(rooms)

    def place(self, levels: Sequence[int]) -> dict[str, Placement] | None:
        """Return a packing, (workers, servers) by machine for each job that runs, or None where there is none."""
        found = self._search(levels)
        return None if found is None else self.items.placement((number, home, 1) for number, home in found)

    def fitting(self, room: int) -> int:
        """Return a bit for each item, by number, that fits into a room."""
        if room not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            fits = (1 << k for k, need in enumerate(self.needs) if (room - need) & self.guard == self.guard)
            self._known[room] = sum(fits)
        return self._known[room]

    def _search(self, levels: Sequence[int]) -> _Homes | None:
        """Return where the items of some alternatives of the levels are, None where no alternatives fit."""
        jobs = self.items.slots.jobs
        running = [(i, jobs[i].alternatives[level - 1]) for i, level in enumerate(levels) if level]
        for choices in itertools.product(*([self.items.of(i, choice) for choice in level] for i, level in running)):
            found = _Search(self, sorted(itertools.chain(*choices))).run()
            if found is not None:
                return [(number, self._order[place]) for number, place in found]
        return None


@dataclass(slots=True)
class _Node:
    """A partial packing.

    Attributes
    ----------
    item : int, optional
        That was placed last, on the machine of the node before.
    machine : int
        That is being filled, by its place in the packer's order.
    room : int
        On it.
    spare : int
        What may still be lost.
    options : int
        A bit for each item that may be placed next.
    state : tuple, optional
        Of an empty machine: it, and how many of each item are left.
    """

    item: int | None
    machine: int
    room: int
    spare: int
    options: int
    state: tuple[int, ...] | None = None


class _Search:
    """Depth first, with a memory of what cannot be placed on the last machines."""

    def __init__(self, packer: Packer, items: Counted) -> None:
        self.packer = packer
        self.left = dict(items)
        self.there = sum(1 << k for k in self.left)
        self.failed: set[tuple[int, ...]] = set()

    def run(self) -> _Homes | None:
        """Return the number of each item and the place of its machine, None where not all fit."""
        if not self.left:
            return []
        packer, spare = self.packer, self.packer.total
        for k, count in self.left.items():
            spare -= count * packer.needs[k]
        if self._is_spent(spare):
            return None
        nodes, placed = [self._opened(None, 0, spare)], 0
        self._back(nodes)
        while nodes:
            if placed == packer.nodes:
                raise Undecided
            placed += 1
            last = nodes[-1]
            lowest = last.options & -last.options
            last.options ^= lowest
            k = lowest.bit_length() - 1
            self.left[k] -= 1
            if not self.left[k]:
                self.there ^= lowest
            if not self.there:
                items = [*(node.item for node in nodes[1:] if node.item is not None), k]
                return [(item, node.machine) for item, node in zip(items, nodes, strict=True)]
            nodes.append(self._after(last, k))
            self._back(nodes)
        return None

    def _back(self, nodes: list[_Node]) -> None:
        """Take back the last nodes that have no options, and the items that led to them."""
        while nodes and not nodes[-1].options:
            node = nodes.pop()
            if node.state is not None:
                self.failed.add(node.state)
            if node.item is not None:
                self.left[node.item] += 1
                self.there |= 1 << node.item

    def _after(self, node: _Node, k: int) -> _Node:
        """Return the node with one more item on the machine, or on the next one if nothing else fits."""
        room = node.room - self.packer.needs[k]
        fits = self.packer.fitting(room) & self.there
        if fits:
            return _Node(k, node.machine, room, node.spare, fits >> k << k)
        return self._opened(k, node.machine + 1, node.spare - (room - self.packer.guard))

    def _opened(self, item: int | None, first: int, spare: int) -> _Node:
        """Return the node of the next machine into which something fits; without options where there is no use."""
        poll()
        packer = self.packer
        for machine in range(first, len(packer.rooms)):
            if self._is_spent(spare):
                break
            room = packer.rooms[machine]
            fits = packer.fitting(room) & self.there
            if fits:
                state = (machine, *self.left.values())
                if state in self.failed:
                    break
                # The largest item has to be on one of these machines, so where they are alike on this one.
                options = fits & self.there & -self.there if machine >= packer.alike else fits
                return _Node(item, machine, room, spare, options, state)
            spare -= room - packer.guard
        return _Node(item, first, packer.guard, spare, 0)

    def _is_spent(self, spare: int) -> bool:
        return spare & self.packer.guard != self.packer.guard
