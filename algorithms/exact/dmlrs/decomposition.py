"""Dantzig-Wolfe bounds: one choice a slot and cluster part, one schedule a job, linked by what levels take.

A plan of a cluster is a schedule for each job and, in each slot, what the machines offer; linking rows say that what
the schedules take is offered. For any prices >= 0 of those rows the bound is the sum over jobs of the best schedule's
utility less prices, and over slots of the best offer's prices. Prices and utilities are multiples of a power of
two, so bounds are exact. What an offer is, subclasses say: `configurations` and `by_pattern`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dlsched.algorithms.exact.dmlrs.schedules import Bools, JobSchedule, Limits, Schedules
from dlsched.algorithms.exact.dmlrs.slots import Ints
from dlsched.relaxations.columns import Generated, Priced, generate_columns, keep
from dlsched.relaxations.master import Column, ColumnArrays, Master
from dlsched.solvers.matrix import Floats
from dlsched.tolerances import FEASIBLE

_ALWAYS = -1
"""In place of a position in limits: the last one, which is added to them and always allowed."""


@dataclass(frozen=True, slots=True)
class Offer:
    """An offer of a place (a slot, or some machines in a slot), told by a key."""

    place: int
    key: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part of the plans: limits on schedules, and by place which of the listed offers may be used."""

    limits: Limits
    offers: tuple[Bools, ...]

    @property
    def empty(self) -> bool:
        """Whether a required job cannot complete or a place has no offer."""
        open_ends = self.limits.ends.any(axis=1)
        return bool((self.limits.required & ~open_ends).any()) or not all(mask.any() for mask in self.offers)


class Decomposition(ABC):
    """A master and its pricing.

    Parameters
    ----------
    schedules : Schedules
    rows, places : int
        Numbers of linking rows and of places.
    """

    def __init__(self, schedules: Schedules, rows: int, places: int) -> None:
        self.schedules, self.rows, self.places = schedules, rows, places
        self.jobs, self.slots, self.most = len(schedules.jobs), schedules.slots.slots, schedules.slots.most_levels
        penalty = 20.0 * float(schedules.utility.max(axis=1).sum() + 1.0)
        self.master = Master(np.zeros(rows), self.jobs + places, penalty)
        self._cells = ColumnArrays(self.master, self._cells_of)

    @abstractmethod
    def list_offers(self, limits: Limits) -> Part:
        """List the offers that plans within limits need; what is outside the limits is lost."""

    def shrink(self, limits: Limits, prices: Floats) -> Floats:
        """Drop linking rows that plans within limits do not need; return prices of the rest that are as good."""
        del limits
        return prices

    @abstractmethod
    def within(self, part: Part) -> Part:
        """Return the part without offers that its required jobs exclude."""

    @abstractmethod
    def costs(self, prices: Floats) -> Floats:
        """Return the cost of each (job, slot, level), shape (jobs, slots, levels + 1)."""

    @abstractmethod
    def earned(self, prices: Floats) -> list[Floats]:
        """Return the prices that each listed offer earns, by place."""

    @abstractmethod
    def loss(self, place: int, earned: Floats) -> Floats:
        """Return by how much plans that use an offer of a place are worth less at least (not positive)."""

    @abstractmethod
    def taken(self, schedule: JobSchedule, prices: Floats) -> Floats:
        """Return what a schedule takes, by linking row, in the way that is cheapest at some prices."""

    @abstractmethod
    def offered(self, place: int, number: int) -> tuple[bytes, Floats]:
        """Return the key of a listed offer and what it has, by linking row."""

    @abstractmethod
    def listed(self, offer: Offer) -> int | None:
        """Return the number of an offer in the list of its place, or None."""

    def pricing(self, part: Part) -> Callable[[Floats], Priced]:
        """Return the pricing callable of a part."""

        def price(prices: Floats) -> Priced:
            cost = self.costs(prices)
            value = self.schedules.backward(cost, part.limits)
            best = np.zeros(self.jobs + self.places)
            best[: self.jobs] = self.schedules.best(value)
            columns = [self._schedule(s, prices) for s in self.schedules.trace(cost, part.limits, value)]
            for place, earned in enumerate(self._earned(part, prices)):
                k = int(earned.argmax())
                best[self.jobs + place] = earned[k]
                key, rows = self.offered(place, k)
                columns.append(Column(self.jobs + place, key, 0.0, -rows, Offer(place, key)))
            return Priced(best, columns)

        return price

    def _schedule(self, schedule: JobSchedule, prices: Floats) -> Column:
        rows = self.taken(schedule, prices)
        value = float(self.schedules.utility[schedule.job, schedule.end])
        return Column(schedule.job, (schedule.levels, rows.tobytes()), value, rows, schedule)

    def bound(
        self,
        part: Part,
        *,
        start: Floats | None = None,
        gap: float = FEASIBLE,
        rounds: int | None = None,
        stop: Callable[[float, float], bool] | None = None,
    ) -> Generated:
        """Generate columns over a part."""
        allowed = self._allowed(part)
        required = np.append(part.limits.required, np.zeros(self.places, dtype=bool))
        self.master.restrict(allowed, required)
        grid = self.schedules.grid
        return generate_columns(
            self.master, self.pricing(part), start=start, grid=grid, smoothing=0.5, gap=gap, rounds=rounds, stop=stop
        )

    def _allowed(self, part: Part) -> Bools:
        """Return which columns of the master are in a part."""
        cell, end = self._cells()
        levels = np.append(part.limits.levels.ravel(), [True])
        ends = np.append(part.limits.ends.ravel(), [True])
        inside: Bools = np.logical_and.reduce(levels.take(cell), axis=1) & ends.take(end)
        for k in np.flatnonzero(end == _ALWAYS).tolist():
            offer = self.master.columns[k].data
            number = self.listed(offer)
            inside[k] = number is not None and part.offers[offer.place][number]
        return inside

    def _cells_of(self, data: Sequence[JobSchedule | Offer]) -> tuple[Ints, Ints]:
        """Return where schedules stand in flattened limits, on levels and on ends; an offer is always allowed there."""
        cell = np.full((len(data), self.slots), _ALWAYS, dtype=np.int64)
        end = np.full(len(data), _ALWAYS, dtype=np.int64)
        schedules = {k: each for k, each in enumerate(data) if isinstance(each, JobSchedule)}
        if schedules:
            mine, t = list(schedules), np.arange(self.slots)
            first = np.array([each.job for each in schedules.values()]) * self.slots
            last = np.array([each.end for each in schedules.values()])
            levels = np.array([each.levels for each in schedules.values()])
            cell[mine] = np.where(t <= last[:, None], (first[:, None] + t) * (self.most + 1) + levels, _ALWAYS)
            end[mine] = first + last
        return cell, end

    def fixed(self, part: Part, prices: Floats, incumbent: float) -> tuple[float, Part]:
        """Return the bound of prices, and the part of the plans that can be better than an incumbent."""
        limits, cost = part.limits, self.costs(prices)
        value = self.schedules.backward(cost, limits)
        best = self.schedules.best(value)
        share = np.where(limits.required, best, np.maximum(best, 0.0))
        earned = self._earned(part, prices)
        bound = float(share.sum() + sum(float(e.max(initial=-np.inf)) for e in earned))
        if not bound > incumbent:
            return bound, part
        using, ending = self.schedules.through(cost, limits, value)
        levels = limits.levels & keep(using - share[:, None, None], bound, incumbent)
        levels[:, :, 0] |= ~limits.required[:, None]
        ends = limits.ends & keep(ending - share[:, None], bound, incumbent)
        required = limits.required | ~keep(-share, bound, incumbent)
        losses = [self.loss(place, e) for place, e in enumerate(earned)]
        offers = tuple(mask & keep(e, bound, incumbent) for mask, e in zip(part.offers, losses, strict=True))
        return bound, self.within(Part(Limits(levels, ends, required), offers))

    def gains(self, part: Part, prices: Floats, slot: int) -> tuple[float, Floats]:
        """Return what the bound of prices is without a slot, and what each (job, level) of the slot adds.

        With the slot's prices refunded, the sum over one level a job is a bound for all plans that have these there.

        Returns
        -------
        rest : float
        gains : ndarray of shape (jobs, levels + 1)
            Minus infinity where no plan has a level.
        """
        limits, cost = part.limits, self.costs(prices)
        value = self.schedules.backward(cost, limits)
        using, _ = self.schedules.through(cost, limits, value)
        gains = np.where(limits.levels[:, slot], using[:, slot] + cost[:, slot], -np.inf)
        rejected = np.where(limits.required, -np.inf, 0.0)
        gains[:, 0] = np.maximum(gains[:, 0], rejected)
        earned = enumerate(self._earned(part, prices))
        rest = sum(float(e.max(initial=-np.inf)) for k, e in earned if k * self.slots // self.places != slot)
        return rest, gains

    def _earned(self, part: Part, prices: Floats) -> list[Floats]:
        """Return the prices that each listed offer earns, by place, minus infinity where a part does not have it."""
        return [np.where(mask, e, -np.inf) for mask, e in zip(part.offers, self.earned(prices), strict=True)]

    def only(self, limits: Limits) -> list[JobSchedule]:
        """Return the schedules of the required jobs within limits that leave nothing open."""
        cost = np.zeros((self.jobs, self.slots, self.most + 1))
        found = self.schedules.trace(cost, limits, self.schedules.backward(cost, limits))
        return [schedule for schedule in found if limits.required[schedule.job]]

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
