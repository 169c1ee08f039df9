"""Plans built job by job: each inserted job gets its best schedule in the room that the others leave.

Large-neighbourhood search takes a few jobs out and inserts them and the rejected ones again, in random order and with
random weight on the prices of the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dlsched.algorithms.exact.dmlrs.schedules import Bools, JobSchedule, Schedules
from dlsched.algorithms.exact.dmlrs.slots import Ints
from dlsched.halt import polled
from dlsched.solvers.matrix import Floats

_WEIGHTS = (0.0, 0.3, 0.6, 1.0)
"""Of the bound's prices: from none, which is greedy, to all of them; the steps between are arbitrary."""

_MOST_OUT = 6
"""Jobs that are taken out together, at most; arbitrary."""

_RECORDS = (0.03, 0.0, 0.01)
"""By how much a plan that is gone on from may be worse than the best one, in turn; arbitrary."""

_IDLE = 200
"""Rounds without a better plan before the next of these, and before the search goes back; arbitrary."""


class Insertion:
    """The search.

    Parameters
    ----------
    schedules : Schedules
    room : callable
        Called with the levels of the others, shape (slots, jobs), and a job; returns which of its levels fit, shape
        (slots, levels + 1).
    seed : int

    Attributes
    ----------
    best : dict of int to JobSchedule
        The best plan.
    value : float
        Its utility, on the grid.
    """

    def __init__(self, schedules: Schedules, room: Callable[[Ints, int], Bools], seed: int = 0) -> None:
        self.schedules, self.room = schedules, room
        self.rng = np.random.default_rng(seed)
        self.best: dict[int, JobSchedule] = {}
        self.value = 0.0

    def worth(self, plan: dict[int, JobSchedule]) -> float:
        """Return a plan's utility."""
        return float(sum(self.schedules.utility[s.job, s.end] for s in plan.values()))

    def insert(self, plan: dict[int, JobSchedule], order: Sequence[int], cost: Floats) -> dict[int, JobSchedule]:
        """Insert jobs in an order; those that do not fit, or are worth less than they cost, are left out."""
        plan = dict(plan)
        levels = self.schedules.levels_of(plan.values())
        for i in polled(order):
            found = self.schedules.best_within(i, self.room(levels, i), cost[i])
            if found is not None:
                plan[i] = found
                levels[:, i] = found.levels
        return plan

    def offer(self, plan: dict[int, JobSchedule]) -> bool:
        """Keep a plan if it is the best one so far; return whether it is."""
        value = self.worth(plan)
        if value <= self.value:
            return False
        self.best, self.value = plan, value
        return True

    def construct(self, cost: Floats, shares: Floats, tries: int) -> bool:
        """Build plans from nothing, jobs with large shares of the bound first; return whether one is the best."""
        better = False
        for k in range(tries):
            noise = self.rng.uniform(0.5, 1.5, len(shares)) if k else 1.0
            order = np.argsort(-shares * noise, kind="stable").tolist()
            weight = _WEIGHTS[k % len(_WEIGHTS)]
            better |= self.offer(self._completed(self.insert({}, order, weight * cost), cost))
        return better

    def _completed(self, plan: dict[int, JobSchedule], cost: Floats) -> dict[int, JobSchedule]:
        """Insert what was left out for its price."""
        left = [i for i in range(len(cost)) if i not in plan]
        return self.insert(plan, left, 0.0 * cost)

    def search(
        self,
        cost: Floats,
        shares: Floats,
        rounds: int,
        stop: Callable[[], bool],
        start: dict[int, JobSchedule] | None = None,
    ) -> bool:
        """Take jobs out of a plan, the best one unless told, and insert them again; return whether the best improved.

        Plans a little worse than the best one are gone on from (record-to-record travel); after many rounds without a
        better plan the search goes back to the best one.
        """
        better, plan, idle = False, dict(self.best if start is None else start), 0
        for k in range(rounds):
            if stop():
                break
            trial = self._moved(plan, cost, shares)
            value = self.worth(trial)
            idle += 1
            if self.offer(trial):
                better, idle = True, 0
            if value >= self.value * (1 - _RECORDS[k // _IDLE % len(_RECORDS)]):
                plan = trial
            if idle > _IDLE:
                plan, idle = dict(self.best), 0
        return better

    def _moved(self, plan: dict[int, JobSchedule], cost: Floats, shares: Floats) -> dict[int, JobSchedule]:
        """Return a plan in which some jobs were taken out, and these and the rejected ones inserted again."""
        out = self.rng.permutation(list(plan))[: self.rng.integers(1, _MOST_OUT + 1)].tolist()
        rest = {i: s for i, s in plan.items() if i not in out}
        left = np.array([i for i in range(len(cost)) if i not in rest], dtype=np.int64)
        if self.rng.random() < 0.5:
            order = self.rng.permutation(left)
        else:
            order = left[np.argsort(-shares[left] * self.rng.uniform(0.3, 1.7, len(left)), kind="stable")]
        weight = float(self.rng.choice(_WEIGHTS)) * self.rng.uniform(0.7, 1.3)
        return self._completed(self.insert(rest, order.tolist(), weight * cost), cost)
