"""Which levels of a job fit beside others, decided on demand: where configurations are too many to list.

Best fit decides, first by adding to a packing of the others and then from nothing, largest items first, with each
resource in turn deciding what fits best. "Does not fit" may be wrong, "fits" may not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlsched.algorithms.exact.dmlrs.coding import Coding, Needs
from dlsched.algorithms.exact.dmlrs.schedules import Bools
from dlsched.algorithms.exact.dmlrs.slots import Alternative, Ints, Slots

_REMEMBERED = 300_000

Rooms = tuple[int, ...]
Items = list[tuple[float, Needs, tuple[int, ...]]]


class Occupancy:
    """Packings of vectors of levels, remembered.

    Parameters
    ----------
    slots : Slots
    """

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.total = slots.capacity.sum(axis=0)
        self._codings = [Coding(slots.capacity, r) for r in range(len(self.total))]
        self._least = [
            np.array([[0] * len(self.total), *(np.min([job.needs(c) for c in a], axis=0) for a in job.alternatives)])
            for job in slots.jobs
        ]
        self._items = [
            [[sorted(self._of(i, choice)) for choice in choices] for choices in job.alternatives]
            for i, job in enumerate(slots.jobs)
        ]
        self._known: dict[tuple[int, ...], Rooms | None] = {}

    def _of(self, i: int, choice: Alternative) -> Items:
        """Return the items of an alternative, with their codes."""
        unit = np.maximum(self.total, 1).tolist()
        return [
            (-max(n / u for n, u in zip(needs, unit, strict=True)), needs, tuple(c.code(needs) for c in self._codings))
            for needs in self.slots.jobs[i].items(choice)
        ]

    def packing(self, levels: tuple[int, ...]) -> Rooms | None:
        """Return the rooms that a packing of a vector leaves, or None where none was found."""
        if levels not in self._known:
            self._known[levels] = self._packed(levels)
        return self._known[levels]

    def forget(self, levels: tuple[int, ...]) -> None:
        """Take a vector for one that does not fit."""
        self._known[levels] = None

    def _packed(self, levels: tuple[int, ...]) -> Rooms | None:
        for alternative in (0, -1):
            parts = [self._items[i][level - 1][alternative] for i, level in enumerate(levels) if level]
            items = sorted(item for part in parts for item in part)
            for r, coding in enumerate(self._codings):
                rooms = _best_fit(coding.rooms, [codes[r] for _, _, codes in items], coding.guard)
                if rooms is not None:
                    first = self._codings[0]
                    return tuple(first.code(coding.read(room)) | first.guard for room in rooms) if r else rooms
        return None

    def _raised(self, levels: tuple[int, ...], base: Rooms, i: int) -> bool:
        """Tell whether a vector fits, given a packing of it without job i."""
        if levels not in self._known:
            for items in self._items[i][levels[i] - 1]:
                rooms = _best_fit(base, [codes[0] for _, _, codes in items], self._codings[0].guard)
                if rooms is not None:
                    self._known[levels] = rooms
                    return True
        return self.packing(levels) is not None

    def room(self, levels: Ints, i: int) -> Bools:
        """Return which levels of a job fit beside those of the others; as `Configurations.room`."""
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        found = np.zeros((len(levels), self.slots.most_levels + 1), dtype=bool)
        found[:, 0] = True
        others = levels.copy()
        others[:, i] = 0
        taken = np.sum([table[others[:, j]] for j, table in enumerate(self._least)], axis=0)
        inside = (taken[:, None] + self._least[i] <= self.total).all(axis=2)
        for t in range(self.slots.jobs[i].arrival, len(levels)):
            vector = others[t].tolist()
            base = self.packing(tuple(vector))
            if base is not None:
                for level in range(1, self.slots.jobs[i].levels + 1):
                    vector[i] = level
                    if not inside[t, level] or not self._raised(tuple(vector), base, i):
                        break
                    found[t, level] = True
        return found


def _best_fit(rooms: Rooms, needs: Sequence[int], guard: int) -> Rooms | None:
    """Return the rooms after each item went where it leaves the least, or None where one fits nowhere."""
    left = list(rooms)
    for need in needs:
        best, home = 0, -1
        for h, room in enumerate(left):
            after = room - need
            if after & guard == guard and (home < 0 or after < best):
                best, home = after, h
        if home < 0:
            return None
        left[home] = best
    return tuple(left)
