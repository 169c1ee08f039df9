"""Best fit for many vectors of levels at once: fast, and it may miss packings that exist."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.exact.dmlrs.slots import Alternative, Ints, SlotJob, Slots
from dlsched.halt import polled
from dlsched.solvers.matrix import Floats

Bools = npt.NDArray[np.bool_]

_RULES = 3


class BestFit:
    """Places items one by one, each where it fits best, under three rules.

    Rooms have shape (vectors, machines, resources).

    Parameters
    ----------
    slots : Slots
    """

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        # Sizes only order things: their leading bits are enough, and floats hold no more.
        self._shift = max(0, int(slots.capacity.max(initial=0)).bit_length() - 62)
        self.weight = 1.0 / np.maximum(self._floats(slots.capacity).max(axis=0), 1.0)
        self._tables = [
            [[[], *(job.items(choices[k]) for choices in job.alternatives)] for job in slots.jobs] for k in (0, -1)
        ]

    def add(self, room: Ints, job: SlotJob, choices: tuple[Alternative, ...]) -> tuple[Bools, Ints]:
        """Return in which rooms a level's alternatives fit without moving others, and the room left there."""
        fits, left = np.zeros(len(room), dtype=bool), room.copy()
        for choice in choices:
            items = sorted((np.array(item, dtype=room.dtype) for item in job.items(choice)), key=self._order)
            for rule in range(_RULES):
                todo = np.flatnonzero(~fits)
                if not len(todo):
                    break
                good, after = self._place(left[todo], items, rule)
                fits[todo[good]] = True
                left[todo[good]] = after[good]
        return fits, left

    def pack(self, levels: npt.NDArray[np.integer]) -> tuple[Bools, Ints]:
        """Return which vectors, shape (vectors, jobs), best fit packs from nothing, largest items first, and rooms."""
        fits = np.zeros(len(levels), dtype=bool)
        room = np.zeros((len(levels), *self.slots.capacity.shape), dtype=self.slots.capacity.dtype)
        for alternative in (0, -1):
            todo = np.flatnonzero(~fits)
            items = self._items(levels[todo], alternative)
            for rule in range(_RULES):
                left = np.repeat(self.slots.capacity[None], len(todo), axis=0)
                good, left = self._place(left, list(items.transpose(1, 0, 2)), rule)
                fits[todo[good]], room[todo[good]] = True, left[good]
                todo, items = todo[~good], items[~good]
        return fits, room

    def _order(self, item: Ints) -> float:
        return -float((self._floats(item) * self.weight).max(initial=0.0))

    def _floats(self, amounts: Ints) -> Floats:
        found: Floats = (amounts >> self._shift).astype(float) if self._shift else amounts.astype(float)
        return found

    def _items(self, levels: npt.NDArray[np.integer], alternative: int) -> Ints:
        """Return the items of vectors, padded with empty ones, largest first."""
        tables = self._tables[alternative]
        lists = [
            [item for i, level in enumerate(vector) if level for item in tables[i][level]]
            for vector in polled(levels.tolist())
        ]
        most = max(map(len, lists), default=0)
        items = np.zeros((len(lists), most, len(self.weight)), dtype=self.slots.capacity.dtype)
        for k, row in enumerate(lists):
            if row:
                items[k, : len(row)] = row
        size = (self._floats(items) * self.weight).max(axis=2, initial=0.0)
        order = np.argsort(-size, axis=1, kind="stable")
        return np.take_along_axis(items, order[:, :, None], axis=1)

    def _place(self, room: Ints, items: list[Ints], rule: int) -> tuple[Bools, Ints]:
        """Place items, each of shape (resources,) or (vectors, resources)."""
        room, good, rows = room.copy(), np.ones(len(room), dtype=bool), np.arange(len(room))
        for item in polled(items):
            after = room - (item if item.ndim == 1 else item[:, None])
            weighed = self._floats(after) * self.weight
            score: Floats = weighed.min(axis=2) if rule == 1 else weighed.sum(axis=2)
            score = -score if rule == 2 else score
            score = np.where((after >= 0).astype(bool).all(axis=2), score, np.inf)
            home = score.argmin(axis=1)
            good &= np.isfinite(score[rows, home])
            room[rows, home] = after[rows, home]
        return good, room
