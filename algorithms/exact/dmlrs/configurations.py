"""All slot configurations, and the decomposition whose offers they are: the stronger bound.

A configuration is a vector of one level for each job that fits the machines together in one slot. They are listed job
by job. A vector is kept if it fits: its parent's packing is extended by best fit, for all vectors at once, or its items
are placed in other orders. Vectors above a known one that does not fit are dropped, and those that known prices refute
(`covering`); what is left is searched exactly (`bin_completion`), small vectors first, so that each search that fails
gives prices, or a minimal vector that does not fit.

In the decomposition, for each job i, slot t and level l, the schedules of i that use level l or more in t may not be
more than the configurations of t that give i level l or more. A choice with integral schedules is a plan, as every
configuration in a slot's support then gives all jobs their levels.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dlsched.algorithms.exact.dmlrs.bin_completion import Packer
from dlsched.algorithms.exact.dmlrs.covering import Covering, Prices
from dlsched.algorithms.exact.dmlrs.decomposition import Decomposition, Offer, Part
from dlsched.algorithms.exact.dmlrs.insertion import ByLevels
from dlsched.algorithms.exact.dmlrs.packing import Bools, Items
from dlsched.algorithms.exact.dmlrs.schedules import JobSchedule, Limits, Schedules
from dlsched.algorithms.exact.dmlrs.slots import Alternative, Ints, Slots, TooLarge
from dlsched.arithmetic import integer_product
from dlsched.halt import polled
from dlsched.solvers.matrix import Floats

Levels = npt.NDArray[np.int16]

MOST_CONFIGURATIONS = 1_000_000
"""Of a slot: pricing looks at them all. Arbitrary; to list 150 000 of twelve jobs on five machines takes 14 s."""

MOST_ESTIMATED = 3 * MOST_CONFIGURATIONS
"""By estimate, for them to be listed: of twelve jobs, a fourth to a twelfth of the estimated ones fit."""

_PRICES = 100
"""That are looked up for every vector: most others are refuted by these. Arbitrary, 50 to 200 take as long."""

_SHUFFLES = 16
"""Orders of the items that best fit is tried in, after it fails: by trial, none and 96 take a fifth longer."""

_UNITS = 2_000
"""Into which a resource is divided for the estimate; a finer one is closer, and takes longer. Arbitrary."""


@dataclass(frozen=True, slots=True, eq=False)
class _Partial:
    """Vectors over the first jobs, the rooms that a packing leaves, and the least space the vectors take in all."""

    levels: Levels
    room: Ints
    least: Ints

    def of(self, rows: npt.NDArray[np.bool_]) -> _Partial:
        return _Partial(self.levels[rows], self.room[rows], self.least[rows])


class Configurations:
    """The packable vectors of levels of a cluster, closed downwards.

    Attributes
    ----------
    slots : Slots
    levels : ndarray of shape (configurations, jobs)
    """

    def __init__(self, slots: Slots, levels: Levels) -> None:
        self.slots, self.levels = slots, levels
        sizes = [job.levels + 1 for job in slots.jobs]
        if math.prod(map(float, sizes)) > 2.0**62:
            raise TooLarge("too many levels for one key a configuration")
        self.strides = np.cumprod([1, *sizes[:-1]], dtype=np.int64)
        self._keys = np.sort(integer_product(levels.astype(np.int64), self.strides))

    def room(self, levels: Ints, i: int) -> Bools:
        """Return which levels of a job fit beside those of the others.

        Parameters
        ----------
        levels : ndarray of shape (slots, jobs)
            Of a plan.
        i : int
            The job; what it has in the plan does not count.

        Returns
        -------
        ndarray of shape (slots, most levels + 1)
        """
        job = self.slots.jobs[i]
        others = integer_product(levels, self.strides) - levels[:, i] * self.strides[i]
        keys = others[:, None] + np.arange(job.levels + 1) * self.strides[i]
        at = np.searchsorted(self._keys, keys)
        at[at == len(self._keys)] = 0
        room = np.zeros((len(levels), self.slots.most_levels + 1), dtype=bool)
        room[:, : job.levels + 1] = self._keys[at] == keys
        return room

    def maximal_of(self, levels: Levels) -> Levels:
        """Return the rows of a downward closed set of vectors in which no job can go up a level within the set."""
        keys = integer_product(levels.astype(np.int64), self.strides)
        ordered = np.sort(keys)
        below = np.zeros(len(keys), dtype=bool)
        for i, job in enumerate(self.slots.jobs):
            up = keys + self.strides[i]
            at = np.searchsorted(ordered, up)
            at[at == len(ordered)] = 0
            below |= (levels[:, i] < job.levels) & (ordered[at] == up)
        return levels[~below]


class Listed(ByLevels):
    """The room beside a plan where all configurations are listed: what is in none of them does not fit."""

    def __init__(self, configurations: Configurations) -> None:
        super().__init__(configurations.slots)
        self._configurations = configurations

    def fits(self, i: int) -> tuple[Bools, None]:
        """Return which levels of a job fit, shape (slots, levels + 1)."""
        return self._configurations.room(self._levels, i), None


def enumerate_configurations(slots: Slots) -> Configurations:
    """List all configurations.

    Raises
    ------
    TooLarge
        Where there are more than `MOST_CONFIGURATIONS`.
    """
    return _Enumeration(slots).run()


def most_configurations(slots: Slots) -> float:
    """Return an upper bound on the number of configurations: the vectors whose least needs fit one resource in all."""
    fewest = math.prod(job.levels + 1.0 for job in slots.jobs)
    for r, total in enumerate(slots.capacity.sum(axis=0).tolist()):
        unit = max(1, -(-total // _UNITS))
        ways = np.zeros(total // unit + 1)
        ways[0] = 1.0
        for job in slots.jobs:
            before = ways.copy()
            for choices in job.alternatives:
                need = min(job.needs(choice)[r] for choice in choices) // unit
                if need < len(ways):
                    ways[need:] += before[: len(ways) - need]
        fewest = min(fewest, float(ways.sum()))
    return fewest


class _Enumeration:
    def __init__(self, slots: Slots) -> None:
        self.slots, self.items = slots, Items(slots)
        self.packer = Packer(self.items)
        self.total = slots.capacity.sum(axis=0)
        self.unpackable: list[Levels] = []
        self.prices: list[tuple[int, Prices]] = []
        self.covering: Covering | None = None
        if slots.most_levels:
            with suppress(TooLarge):
                self.covering = Covering(slots)

    def run(self) -> Configurations:
        jobs = self.slots.jobs
        none = np.zeros((1, len(jobs)), dtype=np.int16)
        known = _Partial(none, self.items.coding.rooms[None], 0 * self.total[None])
        for i in sorted(range(len(jobs)), key=lambda i: jobs[i].levels):
            known = self._extend(known, i)
        return Configurations(self.slots, known.levels)

    def _extend(self, known: _Partial, i: int) -> _Partial:
        parts, parents = [known], known
        for level in polled(range(1, self.slots.jobs[i].levels + 1)):
            parents, children = self._raise(parents, i, level)
            parts.append(children)
            if sum(len(part.levels) for part in parts) > MOST_CONFIGURATIONS:
                raise TooLarge(f"over {MOST_CONFIGURATIONS} slot configurations")
        return _Partial(
            np.concatenate([part.levels for part in parts]),
            np.concatenate([part.room for part in parts]),
            np.concatenate([part.least for part in parts]),
        )

    def _raise(self, parents: _Partial, i: int, level: int) -> tuple[_Partial, _Partial]:
        """Return the parents with which job i fits at a level, and those vectors."""
        job = self.slots.jobs[i]
        choices = job.alternatives[level - 1]
        least = np.array([job.needs(choice) for choice in choices], dtype=self.total.dtype).min(axis=0)
        parents = parents.of((parents.least + least <= self.total).astype(bool).all(axis=1))
        levels = parents.levels.copy()
        levels[:, i] = level
        fresh = ~self._above(levels, [u for u in self.unpackable if u[i]])
        parents, levels = parents.of(fresh), levels[fresh]
        fits, room, left = self._best_fit(i, choices, parents.room, levels)
        self._search(levels, left, fits, room)
        parents = parents.of(fits)
        return parents, _Partial(levels[fits], room[fits], parents.least + least)

    def _best_fit(
        self, i: int, choices: tuple[Alternative, ...], room: Ints, levels: Levels
    ) -> tuple[Bools, Ints, Ints]:
        """Add a level to packings of the others, or pack all from nothing.

        Returns
        -------
        fits : ndarray of bool, shape (vectors,)
        room : ndarray of shape (vectors, machines)
        left : ndarray of int
            The vectors that are not placed, and that no known prices refute.
        """
        fits, room = np.zeros(len(levels), dtype=bool), room.copy()
        for choice in choices:
            todo = np.flatnonzero(~fits)
            fits[todo], left = self.items.add(room[todo], i, choice)
            room[todo[fits[todo]]] = left[fits[todo]]
        todo = np.flatnonzero(~fits)
        todo = todo[~self._refuted(levels[todo])]
        fits[todo], room[todo] = self.items.place(levels[todo], _SHUFFLES)
        return fits, room, todo[~fits[todo]]

    def _refuted(self, levels: Levels) -> Bools:
        """Tell which vectors known prices refute; those that refute most stay known."""
        refuted, counted = np.zeros(len(levels), dtype=bool), []
        for count, prices in polled(self.prices):
            left = np.flatnonzero(~refuted)
            refuted[left] = prices.refute(levels[left])
            counted.append((count + int(refuted[left].sum()), prices))
        self.prices = sorted(counted, key=lambda each: -each[0])[:_PRICES]
        return refuted

    @staticmethod
    def _above(levels: Levels, vectors: list[Levels]) -> Bools:
        above = np.zeros(len(levels), dtype=bool)
        for vector in polled(vectors):
            used = np.flatnonzero(vector)
            above |= (levels[:, used] >= vector[used]).all(axis=1)
        return above

    def _search(self, levels: Levels, todo: Ints, fits: Bools, room: Ints) -> None:
        """Decide some vectors by search; prices that refute one refute others too. Changes `fits` and `room`."""
        todo = todo[np.argsort(levels[todo].sum(axis=1), kind="stable")]
        left = levels[todo]
        hopeless = np.zeros(len(todo), dtype=bool)
        for n, k in enumerate(todo.tolist()):
            if hopeless[n]:
                continue
            vector = left[n].tolist()
            if (found := self.packer.fit(vector)) is not None:
                fits[k], room[k] = True, found
                continue
            prices = None if self.covering is None else self.covering.refute(vector)
            if prices is None:
                self.unpackable.append(left[n])
                hopeless |= self._above(left, [left[n]])
            else:
                refuted = prices.refute(left)
                hopeless |= refuted
                self.prices.append((int(refuted.sum()), prices))


class ByConfiguration(Decomposition):
    """One configuration a slot.

    Parameters
    ----------
    configurations : Configurations
    schedules : Schedules
    """

    def __init__(self, configurations: Configurations, schedules: Schedules) -> None:
        index = [
            (i, t, level)
            for i, job in enumerate(schedules.jobs)
            for t in range(job.arrival, schedules.slots.slots)
            for level in range(1, job.levels + 1)
        ]
        super().__init__(schedules, len(index), schedules.slots.slots)
        self.configurations = configurations
        self._at = tuple(np.array(index, dtype=np.int64).reshape(-1, 3).T)
        self._listed: list[Levels] = []
        self._number: list[dict[bytes, int]] = []
        self.list_offers(schedules.limits())

    def list_offers(self, limits: Limits) -> Part:
        """List, by slot, the configurations that are not below another one of the slot."""
        most = np.where(limits.levels, np.arange(self.most + 1), 0).max(axis=2)
        self._listed = []
        for t in range(self.slots):
            inside = self.configurations.levels[(self.configurations.levels <= most[:, t]).all(axis=1)]
            self._listed.append(self.configurations.maximal_of(inside))
        self._number = [{row.tobytes(): k for k, row in enumerate(rows)} for rows in self._listed]
        return self.within(Part(limits, tuple(np.ones(len(rows), dtype=bool) for rows in self._listed)))

    def shrink(self, limits: Limits, prices: Floats) -> Floats:
        """Keep the rows of levels that may be used: that of a level which may not is implied by the next one's."""
        cost = np.where(limits.levels, self.costs(prices), 0.0)
        below = np.maximum.accumulate(cost, axis=2)
        steps = np.diff(below, axis=2, prepend=0.0)
        kept = limits.levels[self._at]
        self._at = tuple(index[kept] for index in self._at)
        self.rows = int(kept.sum())
        self.master.keep_rows(kept)
        return steps[self._at]

    def within(self, part: Part) -> Part:
        """Return the part without the configurations that give a required job too little."""
        least = np.where(part.limits.required[:, None], part.limits.levels.argmax(axis=2), 0)
        offers = [
            mask & (rows >= least[:, t]).all(axis=1) if least[:, t].any() else mask
            for t, (rows, mask) in enumerate(zip(self._listed, part.offers, strict=True))
        ]
        return Part(part.limits, tuple(offers))

    def costs(self, prices: Floats) -> Floats:
        """Return the cost of each (job, slot, level): the prices of this level and those below it."""
        steps = np.zeros((self.jobs, self.slots, self.most + 1))
        steps[self._at] = prices
        return steps.cumsum(axis=2)

    def earned(self, prices: Floats) -> list[Floats]:
        """Return the prices that each configuration earns."""
        cost, found = self.costs(prices), []
        for t, rows in enumerate(self._listed):
            earned = np.zeros(len(rows))
            for i in range(self.jobs):
                earned += cost[i, t][rows[:, i]]
            found.append(earned)
        return found

    def loss(self, place: int, earned: Floats) -> Floats:
        """Return by how much a configuration earns less than the best one."""
        del place
        lost: Floats = earned - earned.max()
        return lost

    def taken(self, schedule: JobSchedule, prices: Floats) -> Floats:
        """Return the levels that a schedule has, and those below them."""
        del prices
        i, t, level = self._at
        found: Floats = ((i == schedule.job) & (level <= np.array(schedule.levels)[t])).astype(float)
        return found

    def offered(self, place: int, number: int) -> tuple[bytes, Floats]:
        """Return the levels that a configuration gives, and those below them."""
        levels = self._listed[place][number]
        i, t, level = self._at
        return levels.tobytes(), ((t == place) & (level <= levels[i])).astype(float)

    def listed(self, offer: Offer) -> int | None:
        """Return the number of a configuration in its slot's list, or None."""
        return self._number[offer.place].get(offer.key)
