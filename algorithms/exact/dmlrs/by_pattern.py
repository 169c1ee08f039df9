"""The decomposition whose offers are contents of single machines: a weaker bound, for clusters of any size.

Machines of one group are alike; a slot's offer of a group is a content of one machine, for all its machines. Linking
rows, by slot: workers, and servers, of each job for external levels, and for internal levels bundles of n workers or
more. Whatever the machines of a group hold in a plan, its mean is a mixture of such offers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dlsched.algorithms.exact.dmlrs.decomposition import Decomposition, Offer, Part
from dlsched.algorithms.exact.dmlrs.patterns import Patterns
from dlsched.algorithms.exact.dmlrs.schedules import JobSchedule, Limits, Schedules
from dlsched.arithmetic import exact_product
from dlsched.lazy import sp
from dlsched.solvers.matrix import Floats


class ByPattern(Decomposition):
    """One content of a machine a slot and group of machines.

    Parameters
    ----------
    schedules : Schedules
    """

    def __init__(self, schedules: Schedules) -> None:
        slots, patterns = schedules.slots, Patterns(schedules.slots)
        self.kinds, self._machines = patterns.kinds, patterns.machines
        self._patterns = [sp.csr_array(rows, dtype=float) for rows in patterns.contents]
        super().__init__(schedules, slots.slots * len(self.kinds), slots.slots * len(self._patterns))
        self._needs = np.zeros((self.jobs, self.most + 1, 2, len(self.kinds)))
        self._open = np.full((self.jobs, self.most + 1, 2), np.inf)
        self._open[:, 0, 0] = 0.0
        self._priced: tuple[Floats, Floats] | None = None
        self._unused = np.ones((self.jobs, self.most + 1), dtype=bool)
        self._unused[:, 0] = False
        for i, job in enumerate(slots.jobs):
            for level, choices in enumerate(job.alternatives, 1):
                self._unused[i, level] = False
                for q, choice in enumerate(choices):
                    self._needs[i, level, q] = patterns.needed(i, choice)
                    self._open[i, level, q] = 0.0

    @property
    def patterns(self) -> int:
        """How many patterns there are."""
        return sum(rows.shape[0] for rows in self._patterns)

    def list_offers(self, limits: Limits) -> Part:
        """Return the part with all patterns."""
        masks = [np.ones(self._of(place).shape[0], dtype=bool) for place in range(self.places)]
        return Part(limits, tuple(masks))

    def _of(self, place: int) -> Any:
        return self._patterns[place % len(self._patterns)]

    def within(self, part: Part) -> Part:
        """Return the part: a single machine's content excludes nothing."""
        return part

    def _by_alternative(self, prices: Floats) -> Floats:
        """Return the cost of each (job, slot, level, alternative), infinite where there is none."""
        if self._priced is None or self._priced[0] is not prices:
            by_slot = prices.reshape(self.slots, len(self.kinds))
            self._priced = prices, np.moveaxis(exact_product(self._needs, by_slot.T), 3, 1) + self._open[:, None]
        return self._priced[1]

    def costs(self, prices: Floats) -> Floats:
        """Return the cost of each (job, slot, level) at its cheapest alternative."""
        cost = self._by_alternative(prices).min(axis=3)
        return np.where(self._unused[:, None], 0.0, cost)

    def earned(self, prices: Floats) -> list[Floats]:
        """Return the prices that each pattern earns on all machines of its group."""
        by_slot = prices.reshape(self.slots, len(self.kinds))
        values = [
            machines * exact_product(rows, by_slot.T)
            for machines, rows in zip(self._machines, self._patterns, strict=True)
        ]
        return [value[:, t] for t in range(self.slots) for value in values]

    def loss(self, place: int, earned: Floats) -> Floats:
        """Return by how much a pattern earns less than the best one on one machine."""
        lost: Floats = (earned - earned.max()) / self._machines[place % len(self._machines)]
        return lost

    def taken(self, schedule: JobSchedule, prices: Floats) -> Floats:
        """Return what a schedule needs, by (slot, kind), each level in its cheapest way."""
        cheapest = self._by_alternative(prices)[schedule.job].argmin(axis=2)
        slots = np.arange(self.slots)
        levels = np.array(schedule.levels)
        rows: Floats = self._needs[schedule.job, levels, cheapest[slots, levels]]
        return rows.ravel()

    def offered(self, place: int, number: int) -> tuple[bytes, Floats]:
        """Return what a pattern has on all machines of its group, by (slot, kind)."""
        slot, group = divmod(place, len(self._patterns))
        rows = np.zeros((self.slots, len(self.kinds)))
        contents = self._patterns[group]
        held = slice(*contents.indptr[number : number + 2])
        rows[slot, contents.indices[held]] = self._machines[group] * contents.data[held]
        return number.to_bytes(4, "big"), rows.ravel()

    def listed(self, offer: Offer) -> int | None:
        """Return the number of a pattern."""
        return int.from_bytes(offer.key, "big")
