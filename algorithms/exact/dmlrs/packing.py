"""Whether one level for each job fits the machines in one slot: exact depth-first search with memory."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from dlsched.algorithms.exact.dmlrs.coding import Coding, Needs
from dlsched.algorithms.exact.dmlrs.slots import Alternative, Slots
from dlsched.halt import poll
from dlsched.models.dmlrs.job import Placement

Room = tuple[Needs, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """What has to be on one machine: a worker, a server or a bundle of them, of a job by number.

    `code` is its needs as one integer; items are placed in ascending `order`.
    """

    needs: Needs
    job: int
    workers: int
    servers: int
    code: int
    order: tuple[float, Needs]


class Undecided(Exception):
    """Raised where a search needs more nodes than it may."""


class Packer:
    """Packs one level for each job onto the machines; exact.

    Parameters
    ----------
    slots : Slots
    nodes : int, optional
        The most nodes of one search; `Undecided` is raised beyond.

    Attributes
    ----------
    searches : int
        Vectors of levels that were searched for.
    """

    def __init__(self, slots: Slots, nodes: int | None = None) -> None:
        self.slots, self.nodes = slots, nodes
        self.searches = 0
        self._total = tuple(slots.capacity.sum(axis=0).tolist())
        self._coding = Coding(slots.capacity)
        self._items: dict[tuple[int, Alternative], list[Item]] = {}

    def fit(self, levels: Sequence[int]) -> Room | None:
        """Return the room that a packing of levels (0 is idle) leaves on the machines, or None where there is none."""
        found = self._search(levels)
        return None if found is None else tuple(self._coding.read(room) for room in found[1])

    def place(self, levels: Sequence[int]) -> dict[str, Placement] | None:
        """Return a packing, (workers, servers) by machine for each job that runs, or None where there is none."""
        found = self._search(levels)
        if found is None:
            return None
        placed: dict[str, dict[str, tuple[int, int]]] = {}
        for item, home in found[0]:
            on = placed.setdefault(self.slots.jobs[item.job].name, {})
            workers, servers = on.get(self.slots.machines[home], (0, 0))
            on[self.slots.machines[home]] = (workers + item.workers, servers + item.servers)
        return dict(placed)

    def _search(self, levels: Sequence[int]) -> tuple[list[tuple[Item, int]], tuple[int, ...]] | None:
        self.searches += 1
        running = [i for i, level in enumerate(levels) if level]
        for choices in itertools.product(*(self.slots.jobs[i].alternatives[levels[i] - 1] for i in running)):
            items = [item for i, choice in zip(running, choices, strict=True) for item in self._needed(i, choice)]
            for r, total in enumerate(self._total):
                if sum(item.needs[r] for item in items) > total:
                    break
            else:
                items.sort(key=lambda item: item.order)
                found = self._pack([item.code for item in items])
                if found is not None:
                    return list(zip(items, found[0], strict=True)), found[1]
        return None

    def _needed(self, i: int, choice: Alternative) -> list[Item]:
        if (i, choice) not in self._items:
            job = self.slots.jobs[i]
            if choice.internal:
                items = [self._item(job.needs(choice), i, choice.workers, choice.servers)]
            else:
                worker, server = self._item(job.worker, i, 1, 0), self._item(job.server, i, 0, 1)
                items = [worker] * choice.workers + [server] * choice.servers
            self._items[i, choice] = items
        return self._items[i, choice]

    def _item(self, needs: Needs, job: int, workers: int, servers: int) -> Item:
        size = max((need / max(1, total) for need, total in zip(needs, self._total, strict=True)), default=0.0)
        return Item(needs, job, workers, servers, self._coding.code(needs), (-size, needs))

    def _pack(self, items: list[int]) -> tuple[list[int], tuple[int, ...]] | None:
        """Return the machine of each item, placed in this order, and the room left."""
        guard, count = self._coding.guard, len(items)
        failed: set[tuple[int, ...]] = set()
        homes: list[int] = []

        def search(k: int, room: tuple[int, ...]) -> tuple[int, ...] | None:
            poll()
            if k == count:
                return room
            state = (k, *sorted(room))
            if state in failed:
                return None
            if self.nodes is not None and len(failed) > self.nodes:
                raise Undecided
            needs = items[k]
            after = {room[h] - needs: h for h in range(len(room))}
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

        room = search(0, self._coding.rooms)
        return None if room is None else (homes, room)
