"""Which levels of a job fit beside others, decided on demand: where configurations are too many to list.

Best fit decides, first by adding to a packing of the others and then from nothing, largest items first, with each
resource in turn deciding what fits best. "Does not fit" may be wrong, "fits" may not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dlsched.algorithms.exact.dmlrs.coding import Coding, Needs
from dlsched.algorithms.exact.dmlrs.schedules import Bools
from dlsched.algorithms.exact.dmlrs.slots import Alternative, Ints, Slots
from dlsched.models.dmlrs.job import Placement
from dlsched.solvers.matrix import Floats

_REMEMBERED = 300_000
_SLACK = 1e-9

Item = tuple[float, Needs, tuple[int, ...], tuple[int, int, int]]
"""Size, needs, their codes, and (job, workers, servers)."""


@dataclass(frozen=True, slots=True, eq=False)
class Packing:
    """Room on the machines, and what was placed where: items and their machines, on top of another packing."""

    rooms: tuple[int, ...]
    items: Sequence[Item]
    homes: Sequence[int]
    base: Packing | None


class Occupancy:
    """Packings of vectors of levels, remembered.

    Parameters
    ----------
    slots : Slots
    """

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self._unit = [max(1, sum(column)) for column in zip(*slots.capacity.tolist(), strict=True)]
        self._codings = [Coding(slots.capacity, r) for r in range(len(self._unit))]
        self._most: Floats = np.full(len(self._unit), 1 + _SLACK)
        self._least: list[Floats] = [
            np.array(
                [
                    [0.0] * len(self._unit),
                    *map(self._least_share, [[job.needs(c) for c in a] for a in job.alternatives]),
                ]
            )
            for job in slots.jobs
        ]
        self._items = [
            [[sorted(self._of(i, choice)) for choice in choices] for choices in job.alternatives]
            for i, job in enumerate(slots.jobs)
        ]
        self._known: dict[tuple[int, ...], Packing | None] = {}

    def _least_share(self, needs: Sequence[Needs]) -> list[float]:
        """Return the least of each resource that one of several needs takes, as a share of the whole."""
        return [min(column) / unit for column, unit in zip(zip(*needs, strict=True), self._unit, strict=True)]

    def _of(self, i: int, choice: Alternative) -> list[Item]:
        job = self.slots.jobs[i]
        if choice.internal:
            return [self._item(job.needs(choice), (i, choice.workers, choice.servers))]
        worker, server = self._item(job.worker, (i, 1, 0)), self._item(job.server, (i, 0, 1))
        return [worker] * choice.workers + [server] * choice.servers

    def _item(self, needs: Needs, what: tuple[int, int, int]) -> Item:
        size = max((n / u for n, u in zip(needs, self._unit, strict=True)), default=0.0)
        return -size, needs, tuple(coding.code(needs) for coding in self._codings), what

    def learn(self, weight: Floats, most: Floats) -> None:
        """Take note that vectors whose weights sum to more than a limit do not fit.

        Parameters
        ----------
        weight : ndarray of shape (jobs, limits, levels + 1)
        most : ndarray of shape (limits,)
        """
        self._most = np.append(self._most, most * (1 + _SLACK))
        self._least = [np.hstack([table, weight[i, :, : len(table)].T]) for i, table in enumerate(self._least)]

    def place(self, levels: Sequence[int]) -> dict[str, Placement] | None:
        """Return a packing, (workers, servers) by machine for each job that runs, or None where none is found."""
        packing = self.packing(tuple(levels))
        if packing is None:
            return None
        placed: dict[str, dict[str, tuple[int, int]]] = {}
        step: Packing | None = packing
        while step is not None:
            for (_, _, _, (i, workers, servers)), home in zip(step.items, step.homes, strict=True):
                on, machine = placed.setdefault(self.slots.jobs[i].name, {}), self.slots.machines[home]
                before = on.get(machine, (0, 0))
                on[machine] = (before[0] + workers, before[1] + servers)
            step = step.base
        return dict(placed)

    def packing(self, levels: tuple[int, ...]) -> Packing | None:
        """Return a packing of a vector, or None where none was found."""
        if levels not in self._known:
            self._known[levels] = self._packed(levels)
        return self._known[levels]

    def _packed(self, levels: tuple[int, ...]) -> Packing | None:
        first = self._codings[0]
        for alternative in (0, -1):
            parts = [self._items[i][level - 1][alternative] for i, level in enumerate(levels) if level]
            items = sorted(item for part in parts for item in part)
            for r, coding in enumerate(self._codings):
                found = _best_fit(coding.rooms, [item[2][r] for item in items], coding.guard)
                if found is not None:
                    rooms = tuple(first.code(coding.read(room)) | first.guard for room in found[0])
                    return Packing(rooms, items, found[1], None)
        return None

    def _raised(self, levels: tuple[int, ...], base: Packing, i: int) -> bool:
        """Tell whether a vector fits, given a packing of it without job i."""
        if levels not in self._known:
            for items in self._items[i][levels[i] - 1]:
                found = _best_fit(base.rooms, [item[2][0] for item in items], self._codings[0].guard)
                if found is not None:
                    self._known[levels] = Packing(found[0], items, found[1], base)
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
        inside = (taken[:, None] + self._least[i] <= self._most).all(axis=2)
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


def _best_fit(rooms: tuple[int, ...], needs: Sequence[int], guard: int) -> tuple[tuple[int, ...], list[int]] | None:
    """Return the rooms after each item went where it leaves the least, and where; None where one fits nowhere."""
    left, homes = list(rooms), []
    for need in needs:
        best, home = 0, -1
        for h, room in enumerate(left):
            after = room - need
            if after & guard == guard and (home < 0 or after < best):
                best, home = after, h
        if home < 0:
            return None
        left[home] = best
        homes.append(home)
    return tuple(left), homes
