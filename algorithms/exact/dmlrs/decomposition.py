"""Dantzig-Wolfe bound: one configuration a slot, one schedule a job, linked by levels.

For each job i, slot t and level l the schedules of i that use level l or more in t may not be more than the
configurations of t that give i level l or more. A plan of a cluster is such a choice; a choice with integral schedules
is a plan, as every configuration in a slot's support then gives all jobs their levels. For any prices >= 0 of
those rows the bound is the sum over jobs of the best schedule's utility less prices, and over slots of the best
configuration's prices. Prices and utilities are multiples of a power of two, so bounds are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dlsched.algorithms.exact.dmlrs.configurations import Configurations, Levels
from dlsched.algorithms.exact.dmlrs.schedules import Bools, JobSchedule, Limits, Schedules
from dlsched.models.matrix import Floats
from dlsched.relaxations.columns import Generated, Priced, generate_columns, keep
from dlsched.relaxations.master import Column, Master


@dataclass(frozen=True, slots=True, eq=False)
class SlotChoice:
    """A configuration in a slot."""

    slot: int
    levels: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part of the plans: limits on schedules, and by slot which of the listed configurations may be used."""

    limits: Limits
    choices: tuple[Bools, ...]

    @property
    def empty(self) -> bool:
        """Whether a required job cannot complete or a slot has no configuration."""
        open_ends = self.limits.ends.any(axis=1)
        return bool((self.limits.required & ~open_ends).any()) or not all(mask.any() for mask in self.choices)


class Decomposition:
    """The master and its pricing.

    Parameters
    ----------
    configurations : Configurations
    schedules : Schedules

    Attributes
    ----------
    listed : list of ndarray of shape (configurations, jobs)
        By slot, the configurations that are not below another one of the slot.
    """

    def __init__(self, configurations: Configurations, schedules: Schedules) -> None:
        self.configurations, self.schedules = configurations, schedules
        slots = schedules.slots
        self.jobs, self.slots, self.most = len(slots.jobs), slots.slots, slots.most_levels
        self.row = np.full((self.jobs, self.slots, self.most + 1), -1, dtype=np.int64)
        index = [
            (i, t, level)
            for i, job in enumerate(slots.jobs)
            for t in range(job.arrival, self.slots)
            for level in range(1, job.levels + 1)
        ]
        self._at = tuple(np.array(index, dtype=np.int64).reshape(-1, 3).T)
        self.row[self._at] = np.arange(len(index))
        self.rows = len(index)
        penalty = 20.0 * float(schedules.utility.max(axis=1).sum() + 1.0)
        self.master = Master(np.zeros(self.rows), self.jobs + self.slots, penalty)
        self.listed: list[Levels] = []
        self._number: list[dict[bytes, int]] = []
        self.list_choices(schedules.limits())

    def list_choices(self, limits: Limits) -> Part:
        """List the configurations that plans within limits need; what is outside the limits is lost."""
        most = np.where(limits.levels, np.arange(self.most + 1), 0).max(axis=2)
        self.listed = []
        for t in range(self.slots):
            inside = self.configurations.levels[(self.configurations.levels <= most[:, t]).all(axis=1)]
            self.listed.append(self.configurations.maximal_of(inside))
        self._number = [{row.tobytes(): k for k, row in enumerate(rows)} for rows in self.listed]
        whole = tuple(np.ones(len(rows), dtype=bool) for rows in self.listed)
        return self.within(Part(limits, whole))

    def within(self, part: Part) -> Part:
        """Return the part without the configurations that give a required job too little."""
        least = np.where(part.limits.required[:, None], part.limits.levels.argmax(axis=2), 0)
        choices = [
            mask & (rows >= least[:, t]).all(axis=1) if least[:, t].any() else mask
            for t, (rows, mask) in enumerate(zip(self.listed, part.choices, strict=True))
        ]
        return Part(part.limits, tuple(choices))

    def costs(self, prices: Floats) -> Floats:
        """Return the cost of each (job, slot, level): the prices of this level and those below it."""
        steps = np.zeros(self.row.shape)
        steps[self._at] = prices
        return steps.cumsum(axis=2)

    def _earned(self, cost: Floats) -> list[Floats]:
        """Return the prices that each listed configuration earns, by slot."""
        found = []
        for t, rows in enumerate(self.listed):
            earned = np.zeros(len(rows))
            for i in range(self.jobs):
                earned += cost[i, t][rows[:, i]]
            found.append(earned)
        return found

    def pricing(self, part: Part) -> Callable[[Floats], Priced]:
        """Return the pricing callable of a part."""

        def price(prices: Floats) -> Priced:
            cost = self.costs(prices)
            value = self.schedules.backward(cost, part.limits)
            best = np.zeros(self.jobs + self.slots)
            best[: self.jobs] = self.schedules.best(value)
            columns = [self._schedule(s) for s in self.schedules.trace(cost, part.limits, value)]
            for t, earned in enumerate(self._earned(cost)):
                earned = np.where(part.choices[t], earned, -np.inf)
                k = int(earned.argmax())
                best[self.jobs + t] = earned[k]
                columns.append(self._choice(SlotChoice(t, tuple(self.listed[t][k].tolist()))))
            return Priced(best, columns)

        return price

    def _schedule(self, schedule: JobSchedule) -> Column:
        value = float(self.schedules.utility[schedule.job, schedule.end])
        return Column(schedule.job, schedule.levels, value, self._uses(schedule), schedule)

    def _uses(self, schedule: JobSchedule) -> Floats:
        i, t, level = self._at
        found: Floats = ((i == schedule.job) & (level <= np.array(schedule.levels)[t])).astype(float)
        return found

    def _choice(self, choice: SlotChoice) -> Column:
        i, t, level = self._at
        rows = -((t == choice.slot) & (level <= np.array(choice.levels)[i])).astype(float)
        return Column(self.jobs + choice.slot, choice.levels, 0.0, rows, choice)

    def add(self, schedules: list[JobSchedule]) -> None:
        """Give the master columns for schedules and for the slots' configurations that they make."""
        levels = self.schedules.levels_of(schedules)
        columns = [self._schedule(schedule) for schedule in schedules]
        for t in range(self.slots):
            above = self.listed[t][(self.listed[t] >= levels[t]).all(axis=1)]
            if len(above):
                columns.append(self._choice(SlotChoice(t, tuple(above[0].tolist()))))
        self.master.add(columns)

    def bound(
        self,
        part: Part,
        *,
        start: Floats | None = None,
        rounds: int | None = None,
        stop: Callable[[float, float], bool] | None = None,
        smoothing: float = 0.5,
    ) -> Generated:
        """Generate columns over a part."""
        allowed = np.array([self._allowed(part, c.data) for c in self.master.columns], dtype=bool)
        required = np.append(part.limits.required, np.zeros(self.slots, dtype=bool))
        self.master.restrict(allowed, required)
        return generate_columns(
            self.master,
            self.pricing(part),
            start=start,
            grid=self.schedules.grid,
            smoothing=smoothing,
            rounds=rounds,
            stop=stop,
        )

    def _allowed(self, part: Part, data: Any) -> bool:
        if isinstance(data, JobSchedule):
            limits = part.limits
            at = limits.levels[data.job, np.arange(self.slots), data.levels]
            return bool(limits.ends[data.job, data.end] and at[: data.end + 1].all())
        number = self._number[data.slot].get(np.array(data.levels, dtype=np.int16).tobytes())
        return number is not None and bool(part.choices[data.slot][number])

    def fixed(self, part: Part, prices: Floats, incumbent: float) -> tuple[float, Part]:
        """Return the bound of prices, and the part of the plans that can be better than an incumbent."""
        limits, cost = part.limits, self.costs(prices)
        value = self.schedules.backward(cost, limits)
        best = self.schedules.best(value)
        share = np.where(limits.required, best, np.maximum(best, 0.0))
        earned = [np.where(mask, e, -np.inf) for mask, e in zip(part.choices, self._earned(cost), strict=True)]
        most = [float(e.max(initial=-np.inf)) for e in earned]
        bound = float(share.sum() + sum(most))
        if not bound > incumbent:
            return bound, part
        using, ending = self.schedules.through(cost, limits, value)
        levels = limits.levels & keep(using - share[:, None, None], bound, incumbent)
        levels[:, :, 0] |= ~limits.required[:, None]
        ends = limits.ends & keep(ending - share[:, None], bound, incumbent)
        required = limits.required | ~keep(-share, bound, incumbent)
        choices = tuple(
            mask & keep(e - m, bound, incumbent) for mask, e, m in zip(part.choices, earned, most, strict=True)
        )
        return bound, self.within(Part(Limits(levels, ends, required), choices))

    def only(self, limits: Limits) -> list[JobSchedule]:
        """Return the schedules of the required jobs within limits that leave nothing open."""
        cost = np.zeros(self.row.shape)
        found = self.schedules.trace(cost, limits, self.schedules.backward(cost, limits))
        return [schedule for schedule in found if limits.required[schedule.job]]

    def trim(self, prices: Floats, most: int) -> None:
        """Forget the columns with the lowest reduced values at some prices where there are more than `most`."""
        columns = self.master.columns
        if len(columns) > most:
            reduced = np.array([c.value for c in columns]) - np.array([c.rows for c in columns]) @ prices
            block = np.array([c.block for c in columns])
            best = np.full(self.jobs + self.slots, -np.inf)
            np.maximum.at(best, block, reduced)
            mask = np.zeros(len(columns), dtype=bool)
            mask[np.argsort(best[block] - reduced, kind="stable")[: most // 2]] = True
            self.master.keep_columns(mask)

    def used(self, generated: Generated) -> tuple[Floats, Floats]:
        """Return how much the LP's optimum uses each (job, slot, level or more), and completes by (job, slot)."""
        using = np.zeros((self.jobs, self.slots, self.most + 1))
        ending = np.zeros((self.jobs, self.slots))
        for data, x in generated.recover():
            if isinstance(data, JobSchedule):
                ending[data.job, data.end] += x
                for t, level in enumerate(data.levels):
                    using[data.job, t, 1 : level + 1] += x
        return using, ending
