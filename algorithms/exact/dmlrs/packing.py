"""Whether one level for each job fits the machines in one slot: best fit for many vectors at once, and exact search.

What has to be placed are items: workers and servers one by one, or bundles of them. The room on a machine, and what an
item needs, are single integers, so that one subtraction tells whether all resources suffice and the smallest remainder
is the best fit. By best fit "does not fit" may be wrong, "fits" may not; the search is exact.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.exact.dmlrs.slots import Alternative, Ints, Slots
from dlsched.halt import poll, polled
from dlsched.models.dmlrs.job import Placement
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import AS_GOOD

Bools = npt.NDArray[np.bool_]

Vector = tuple[int, ...]
"""One level for each job, 0 where it is idle."""

Counted = list[tuple[int, int]]
"""Items by number, ascending, and how many there are of each."""

Rooms = tuple[list[int], list[int]]
"""Rooms in ascending order, as integers, and the numbers of their machines."""

_BITS = 62
"""Of integers that NumPy subtracts without overflow, sign and one bit to spare; Python's own hold more."""

_REMEMBERED = 300_000
"""Vectors whose packing is remembered, some kilobytes each; all are forgotten together."""


class Coding:
    """Resources side by side in one integer, each below a bit that a difference clears where it does not suffice.

    Parameters
    ----------
    capacity : ndarray of shape (machines, resources)
    first : int
        Resource of the highest bits: rooms compare by it first.

    Attributes
    ----------
    guard : int
        A difference of room and needs is room again where all of these bits are set.
    largest : int
        More than any room.
    rooms : ndarray of shape (machines,)
        The empty machines.
    """

    def __init__(self, capacity: Ints, first: int = 0) -> None:
        total = capacity.sum(axis=0).tolist()
        self._widths = [int(amount).bit_length() + 1 for amount in total]
        self._shifts = [0] * len(total)
        bits = 0
        for r in ((first - 1 - k) % len(total) for k in range(len(total))):
            self._shifts[r], bits = bits, bits + self._widths[r]
        self.dtype = np.int64 if bits <= _BITS else object
        self.guard = sum(1 << s + w - 1 for s, w in zip(self._shifts, self._widths, strict=True))
        self.largest = 1 << bits
        self.rooms = self.code(capacity) + self.guard

    def code(self, amounts: Ints) -> Ints:
        """Return amounts (..., resources) as integers (...); those of one item are at most what all machines have."""
        found: Ints = np.zeros(amounts.shape[:-1], dtype=self.dtype)
        for r, shift in enumerate(self._shifts):
            found = found + (amounts[..., r].astype(self.dtype) << shift)
        return found

    def read(self, rooms: Ints) -> Ints:
        """Return the amounts of rooms."""
        amounts = [(rooms >> s) & ((1 << w - 1) - 1) for s, w in zip(self._shifts, self._widths, strict=True)]
        return np.stack(amounts, axis=-1) if amounts else np.zeros((*rooms.shape, 0), dtype=self.dtype)

    def recode(self, rooms: Ints, other: Coding) -> Ints:
        """Return rooms in another coding in this one."""
        return rooms if other is self else self.code(other.read(rooms)) + self.guard

    def ordered(self, rooms: Ints, machines: Sequence[int]) -> Rooms:
        """Return rooms of some machines in ascending order."""
        order = sorted(zip(rooms.tolist(), machines, strict=True))
        return [room for room, _ in order], [machine for _, machine in order]

    def place(self, rooms: Rooms, needs: Iterable[tuple[int, int]]) -> tuple[Rooms, list[tuple[int, int]]] | None:
        """Place items one by one, each where it leaves the least; None where one fits nowhere.

        A dozen items on a dozen machines take a few microseconds so, less than NumPy takes to be asked.

        Parameters
        ----------
        rooms : Rooms
        needs : iterable of (int, int)
            Of an item, and how many there are of it.

        Returns
        -------
        rooms : Rooms
        homes : list of (int, int)
            In the order of the items: a machine, and how many are there.
        """
        left, machines, homes = list(rooms[0]), list(rooms[1]), []
        guard, last = self.guard, len(left)
        for need, count in needs:
            while count:
                # Of all rooms that an item fits the smallest is left the smallest, and so it is for the next such item.
                k = bisect_left(left, need + guard)
                while k < last and (left[k] - need) & guard != guard:
                    k += 1
                if k == last:
                    return None
                room, home, there = left.pop(k) - need, machines.pop(k), 1
                while there < count and (room - need) & guard == guard:
                    room, there = room - need, there + 1
                at = bisect_left(left, room, 0, k)
                left.insert(at, room)
                machines.insert(at, home)
                homes.append((home, there))
                count -= there
        return (left, machines), homes

    def place_all(self, rooms: Ints, needs: Ints) -> tuple[Bools, Ints]:
        """Place items of many vectors one by one, each where it leaves the least.

        Parameters
        ----------
        rooms : ndarray of shape (vectors, machines)
        needs : ndarray of shape (vectors, items)
            0 where a vector has fewer items.

        Returns
        -------
        fits : ndarray of shape (vectors,)
        rooms : ndarray of shape (vectors, machines)
            What is left, of those that fit.
        """
        rooms, rows, fits = rooms.copy(), np.arange(len(rooms)), np.ones(len(rooms), dtype=bool)
        for k in polled(range(needs.shape[1])):
            left = rooms - needs[:, k, None]
            left[(left & self.guard) != self.guard] = self.largest
            home = left.argmin(axis=1)
            rooms[rows, home] = least = left[rows, home]
            fits &= (least < self.largest).astype(bool)
        return fits, rooms


@dataclass(frozen=True, slots=True)
class Item:
    """What has to be on one machine: a worker, a server or a bundle of them, of a job by number."""

    needs: tuple[int, ...]
    job: int
    workers: int
    servers: int


class Items:
    """The items of all levels of the jobs of a cluster, by number.

    Attributes
    ----------
    items : tuple of Item
        The largest first, by the share of a resource of the whole cluster.
    coding : Coding
        Of all rooms.
    """

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        total = [max(1, amount) for amount in slots.capacity.sum(axis=0).tolist()]

        def order(item: Item) -> tuple[float, tuple[int, ...], int, int]:
            size = max((need / whole for need, whole in zip(item.needs, total, strict=True)), default=0.0)
            return -size, item.needs, item.job, item.workers

        choices = {(i, c) for i, job in enumerate(slots.jobs) for level in polled(job.alternatives) for c in level}
        self.items = tuple(sorted({item for i, choice in choices for item in self._needed(i, choice)}, key=order))
        self._number = {item: k for k, item in enumerate(self.items)}
        self._of: dict[tuple[int, Alternative], Counted] = {}
        codings = [Coding(slots.capacity, r) for r in range(max(1, len(total)))]
        needs = np.array([item.needs for item in self.items] + [(0,) * len(total)], dtype=slots.capacity.dtype)
        self._codings = [(coding, coding.code(needs).tolist()) for coding in codings]
        self._empty = [coding.ordered(coding.rooms, range(len(coding.rooms))) for coding in codings]
        self.coding = codings[0]

    def _needed(self, i: int, choice: Alternative) -> dict[Item, int]:
        """Return the items of an alternative, and how many there are of each."""
        job = self.slots.jobs[i]
        if choice.internal:
            return {Item(job.needs(choice), i, choice.workers, choice.servers): 1}
        return {Item(job.worker, i, 1, 0): choice.workers, Item(job.server, i, 0, 1): choice.servers}

    def of(self, i: int, choice: Alternative) -> Counted:
        """Return the items of a job's alternative."""
        if (i, choice) not in self._of:
            needed = self._needed(i, choice).items()
            self._of[i, choice] = sorted((self._number[item], count) for item, count in needed)
        return self._of[i, choice]

    def of_vector(self, vector: Sequence[int], alternative: int) -> Counted:
        """Return all items of a vector, each job by its first or last alternative."""
        running = [(i, self.slots.jobs[i].alternatives[level - 1]) for i, level in enumerate(vector) if level]
        return sorted(item for i, choices in running for item in self.of(i, choices[alternative]))

    def add(self, rooms: Rooms, items: Counted) -> tuple[Rooms, list[tuple[int, int]]] | None:
        """Place items on top of others; as `Coding.place`."""
        codes = self._codings[0][1]
        return self.coding.place(rooms, [(codes[k], count) for k, count in items])

    def one_by_one(self, items: Counted) -> tuple[list[int], list[int]]:
        """Return the number and the needs, as an integer, of each single item."""
        numbers = [k for k, count in items for _ in range(count)]
        return numbers, [self._codings[0][1][k] for k in numbers]

    def best_fit(self, rooms: Ints, items: Sequence[Counted]) -> tuple[Bools, Ints]:
        """Place items by best fit, each resource in turn deciding what fits best; as `Coding.place_all`.

        Parameters
        ----------
        rooms : ndarray of shape (vectors, machines)
        items : sequence of Counted
            Of each vector; of one for all of them.
        """
        numbers = [self.one_by_one(counted)[0] for counted in items]
        most = max(map(len, numbers), default=0)
        rows = [[*row, *[-1] * (most - len(row))] for row in numbers]
        padded = np.broadcast_to(np.array(rows, dtype=np.int64).reshape(len(rows), most), (len(rooms), most))
        fits, left = np.zeros(len(rooms), dtype=bool), rooms.copy()
        for coding, codes in self._codings:
            todo = np.flatnonzero(~fits)
            if not len(todo):
                break
            good, after = coding.place_all(coding.recode(left[todo], self.coding), np.array(codes)[padded[todo]])
            fits[todo[good]], left[todo[good]] = True, self.coding.recode(after[good], coding)
        return fits, left

    def best_fit_from_nothing(self, vectors: Sequence[Sequence[int]]) -> tuple[Bools, Ints]:
        """Place vectors on the empty machines by best fit, of each job the first alternatives, then the last ones."""
        rooms = np.repeat(self.coding.rooms[None], len(vectors), axis=0)
        fits = np.zeros(len(vectors), dtype=bool)
        for alternative in (0, -1):
            todo = np.flatnonzero(~fits)
            items = [self.of_vector(vectors[k], alternative) for k in polled(todo.tolist())]
            fits[todo], rooms[todo] = self.best_fit(rooms[todo], items)
        return fits, rooms

    def pack(self, vector: Sequence[int]) -> tuple[Rooms, Counted, list[tuple[int, int]]] | None:
        """Place one vector so; return the rooms left, the items and where they are, or None."""
        tried = None
        for alternative in (0, -1):
            items = self.of_vector(vector, alternative)
            if items == tried:
                break
            tried = items
            for (coding, codes), empty in zip(self._codings, self._empty, strict=True):
                found = coding.place(empty, [(codes[k], count) for k, count in items])
                if found is not None:
                    return self._first(*found[0], coding), items, found[1]
        return None

    def _first(self, left: list[int], machines: list[int], coding: Coding) -> Rooms:
        """Return rooms of a coding in the first one."""
        if coding is self.coding:
            return left, machines
        return self.coding.ordered(self.coding.recode(np.array(left, dtype=coding.dtype), coding), machines)

    def placement(self, placed: Iterable[tuple[int, int, int]]) -> dict[str, Placement]:
        """Return (workers, servers) by machine for each job, of (number of an item, machine, how many)."""
        found: dict[str, dict[str, tuple[int, int]]] = {}
        for number, home, count in placed:
            item, machine = self.items[number], self.slots.machines[home]
            on = found.setdefault(self.slots.jobs[item.job].name, {})
            workers, servers = on.get(machine, (0, 0))
            on[machine] = (workers + count * item.workers, servers + count * item.servers)
        return dict(found)


class Undecided(Exception):
    """Raised where a search needs more nodes than it may."""


class Packer:
    """Packs one level for each job onto the machines: exact depth-first search with memory.

    Parameters
    ----------
    items : Items
    nodes : int, optional
        The most nodes of one search; `Undecided` is raised beyond.
    """

    def __init__(self, items: Items, nodes: int | None = None) -> None:
        self.items, self.nodes = items, nodes
        self._total = items.slots.capacity.sum(axis=0).tolist()

    def fit(self, levels: Sequence[int]) -> Vector | None:
        """Return the room that a packing of levels leaves on the machines, or None where there is none."""
        found = self._search(levels)
        return None if found is None else found[1]

    def place(self, levels: Sequence[int]) -> dict[str, Placement] | None:
        """Return a packing, (workers, servers) by machine for each job that runs, or None where there is none."""
        found = self._search(levels)
        return None if found is None else self.items.placement(found[0])

    def _search(self, levels: Sequence[int]) -> tuple[list[tuple[int, int, int]], Vector] | None:
        jobs = self.items.slots.jobs
        running = [(i, jobs[i].alternatives[level - 1]) for i, level in enumerate(levels) if level]
        for choices in itertools.product(*([self.items.of(i, choice) for choice in level] for i, level in running)):
            items = sorted(itertools.chain(*choices))
            needs = [[count * need for need in self.items.items[k].needs] for k, count in items]
            if all(sum(column) <= total for column, total in zip(zip(*needs, strict=True), self._total, strict=False)):
                numbers, codes = self.items.one_by_one(items)
                found = self._pack(codes)
                if found is not None:
                    return [(k, home, 1) for k, home in zip(numbers, found[0], strict=True)], found[1]
        return None

    def _pack(self, needs: list[int]) -> tuple[list[int], Vector] | None:
        """Return the machine of each item, placed in this order, and the room left."""
        guard, count = self.items.coding.guard, len(needs)
        failed: set[Vector] = set()
        homes: list[int] = []

        def search(k: int, room: Vector) -> Vector | None:
            poll()
            if k == count:
                return room
            state = (k, *sorted(room))
            if state in failed:
                return None
            if self.nodes is not None and len(failed) > self.nodes:
                raise Undecided
            after = {room[h] - needs[k]: h for h in range(len(room))}
            for left in sorted(after):
                if left & guard == guard:
                    h = after[left]
                    homes.append(h)
                    found = search(k + 1, (*room[:h], left, *room[h + 1 :]))
                    if found is not None:
                        return found
                    homes.pop()
            failed.add(state)
            return None

        room = search(0, tuple(self.items.coding.rooms.tolist()))
        return None if room is None else (homes, room)


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Room on the machines, and what was placed where: items and their machines, on top of another packing."""

    rooms: Rooms
    items: Counted
    homes: list[tuple[int, int]]
    base: Packed | None

    def placed(self) -> Iterator[tuple[int, int, int]]:
        """Yield (number of an item, machine, how many)."""
        homes = iter(self.homes)
        for k, count in self.items:
            while count:
                home, there = next(homes)
                yield k, home, there
                count -= there


class Packings:
    """Which levels of a job fit beside others, by best fit and remembered: for where configurations cannot be listed.

    A level is added to a packing of the others, or else all are packed from nothing.

    Parameters
    ----------
    items : Items
    """

    def __init__(self, items: Items) -> None:
        self.items, self.slots = items, items.slots
        unit = [max(1, amount) for amount in self.slots.capacity.sum(axis=0).tolist()]
        self._most: Floats = np.full(len(unit), 1 + AS_GOOD)
        self._least: list[Floats] = [
            np.array(
                [
                    [0.0] * len(unit),
                    *(
                        [min(column) / u for column, u in zip(zip(*map(job.needs, a), strict=True), unit, strict=True)]
                        for a in job.alternatives
                    ),
                ]
            )
            for job in self.slots.jobs
        ]
        self._known: dict[Vector, Packed | None] = {}

    def learn(self, weight: Floats, most: Floats) -> None:
        """Take note that vectors whose weights sum to more than a limit do not fit.

        Parameters
        ----------
        weight : ndarray of shape (jobs, limits, levels + 1)
        most : ndarray of shape (limits,)
        """
        self._most = np.append(self._most, most * (1 + AS_GOOD))
        self._least = [np.hstack([table, weight[i, :, : len(table)].T]) for i, table in enumerate(self._least)]

    def place(self, levels: Sequence[int]) -> dict[str, Placement] | None:
        """Return a packing, (workers, servers) by machine for each job that runs, or None where none is found."""
        step = found = self._packed(tuple(levels))
        placed: list[tuple[int, int, int]] = []
        while step is not None:
            placed += step.placed()
            step = step.base
        return None if found is None else self.items.placement(placed)

    def room(self, levels: Ints, i: int) -> Bools:
        """Return which levels of a job fit beside those of the others; as `Configurations.room`."""
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        found = np.zeros((len(levels), self.slots.most_levels + 1), dtype=bool)
        found[:, 0] = True
        others = levels.copy()
        others[:, i] = 0
        taken = np.sum([table[others[:, j]] for j, table in enumerate(self._least)], axis=0)
        inside = (taken[:, None] + self._least[i] <= self._most).all(axis=2)
        for t in range(self.slots.jobs[i].arrival, len(levels)):
            vector = others[t].tolist()
            base = self._packed(tuple(vector))
            if base is not None:
                for level in range(1, self.slots.jobs[i].levels + 1):
                    vector[i] = level
                    if not inside[t, level] or not self._raised(tuple(vector), base, i):
                        break
                    found[t, level] = True
        return found

    def _packed(self, vector: Vector) -> Packed | None:
        """Return a packing of a vector, or None where none was found."""
        if vector not in self._known:
            found = self.items.pack(vector)
            self._known[vector] = None if found is None else Packed(*found, None)
        return self._known[vector]

    def _raised(self, vector: Vector, base: Packed, i: int) -> bool:
        """Tell whether a vector fits, given a packing of it without job i."""
        if vector not in self._known:
            for choice in self.slots.jobs[i].alternatives[vector[i] - 1]:
                items = self.items.of(i, choice)
                found = self.items.add(base.rooms, items)
                if found is not None:
                    self._known[vector] = Packed(found[0], items, found[1], base)
                    return True
        return self._packed(vector) is not None
