"""The decomposition whose offers are whole slot configurations: the stronger bound.

For each job i, slot t and level l the schedules of i that use level l or more in t may not be more than the
configurations of t that give i level l or more. A choice with integral schedules is a plan, as every configuration
in a slot's support then gives all jobs their levels.
"""

from __future__ import annotations

import numpy as np

from dlsched.algorithms.exact.dmlrs.configurations import Configurations, Levels
from dlsched.algorithms.exact.dmlrs.decomposition import Decomposition, Offer, Part
from dlsched.algorithms.exact.dmlrs.schedules import JobSchedule, Limits, Schedules
from dlsched.solvers.matrix import Floats


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
