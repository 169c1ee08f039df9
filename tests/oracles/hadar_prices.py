"""Hadar's price constants (6), (7) and the commit-at-arrival primal-dual of its analysis, by enumeration."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .hadar_instance import Counts, Job, Problem, problem, worth

TIE = 1e-9
Plan = dict[int, Counts]


@dataclass(frozen=True, slots=True)
class Constants:
    """The constants of the price function (5), equal for all types since w_j^r is read as W_j.

    Attributes
    ----------
    inverse_eta
        1/eta.
    umin, umax
        Lowest and highest price of one device in one slot.
    d0
        Initial dual objective T * (devices) * umin.
    tmin, tmax
        Slots of each job on its fastest and on its slowest type.
    """

    inverse_eta: Fraction
    umin: Fraction
    umax: Fraction
    d0: Fraction
    tmin: dict[str, int]
    tmax: dict[str, int]


@dataclass(frozen=True, slots=True)
class PrimalDual:
    """One run: payoffs (0 for a rejected job), what was admitted, and the dual it leaves.

    ``prices`` are the final ones by (slot, machine, type); ``alpha`` is the measured max of c dk / (k_old dgamma) over
    all admissions and cells (0 if nothing is admitted); ``dual`` is the sum of payoffs plus prices times capacity;
    ``levels`` are the allocated devices by slot and cell.
    """

    payoffs: dict[str, float]
    plans: dict[str, Plan]
    levels: tuple[Counts, ...]
    schedule: dict[str, Any]
    value: Fraction
    prices: dict[tuple[int, str, str], float]
    dual: float
    alpha: float

    @property
    def admitted(self) -> tuple[str, ...]:
        """The admitted jobs, in the order of decision."""
        return tuple(self.plans)


def constants(data: dict[str, Any], *, horizon_in_eta: bool = False, argument: str = "printed") -> Constants:
    """Return the constants of (6) and (7) with w_j^r and sum_r w_j^r read as W_j, in slots.

    Parameters
    ----------
    data
        The instance; it must have jobs, each with a positive rate. A type with rate 0 does not count for tmax.
    horizon_in_eta
        False: 1/eta = min_j tmax_j W_j / (devices), as printed. True: divided by T as well, as D_0 <= OPT/2 needs.
    argument
        What U_j takes in (6): ``"printed"`` tmin_j - a_j; ``"duration"`` tmin_j - 1, the least possible duration;
        ``"unit"`` U_j(0), for one device instead of W_j, as a guarantee needs.
    """
    p = problem(data)
    if argument not in ("printed", "duration", "unit"):
        raise ValueError(f"unknown argument {argument!r}")
    rates = {job.name: [job.rate[k] for k in data["device_types"] if job.rate.get(k, 0) > 0] for job in p.jobs}
    tmin = {j.name: math.ceil(j.iterations / (j.gang * p.seconds * max(rates[j.name]))) for j in p.jobs}
    tmax = {j.name: math.ceil(j.iterations / (j.gang * p.seconds * min(rates[j.name]))) for j in p.jobs}

    def top(job: Job) -> Fraction:
        if argument == "unit":
            return worth(job.utility, 0)
        return worth(job.utility, tmin[job.name] - (job.arrival if argument == "printed" else 1)) / job.gang

    devices = sum(p.capacity)
    inverse_eta = min(Fraction(tmax[j.name] * j.gang, devices) for j in p.jobs)
    if horizon_in_eta:
        inverse_eta /= p.slots
    umin = inverse_eta / 4 * min(j.at(p.slots) / (tmax[j.name] * j.gang) for j in p.jobs)
    return Constants(inverse_eta, umin, max(top(j) for j in p.jobs), p.slots * devices * umin, tmin, tmax)


def price(level: int, capacity: int, c: Constants) -> float:
    """Return (5): umin (umax/umin)^(level/capacity), exact when nothing or everything is allocated."""
    if level == 0:
        return float(c.umin)
    if level == capacity:
        return float(c.umax)
    return float(c.umin) * math.pow(c.umax / c.umin, level / capacity)


def primal_dual(data: dict[str, Any], c: Constants | None = None) -> PrimalDual:
    """Return the first of `primal_dual_runs`: of equally good schedules, the first in the order of `plans`."""
    return next(primal_dual_runs(data, c))


def primal_dual_runs(data: dict[str, Any], c: Constants | None = None) -> Iterator[PrimalDual]:
    """Yield the run of the commit-at-arrival primal-dual for every way to break ties.

    Jobs come by arrival, then as listed. Each takes a schedule of the greatest payoff U - sum k w at the current
    prices among those that fit the residual capacity, if that payoff is positive; payoffs within 1e-9 (relative) are
    tied. Nothing is ever released.

    Parameters
    ----------
    data
        The instance.
    c
        The constants of the prices; by default `constants(data)`, the printed ones.

    Raises
    ------
    ValueError
        If umin is not positive: (5) then has no meaning.
    """
    p = problem(data)
    c = constants(data) if c is None else c
    if c.umin <= 0:
        raise ValueError("the lowest price is 0: some job is worth nothing at the horizon")
    order = sorted(p.jobs, key=lambda job: job.arrival)
    empty = tuple(tuple(0 for _ in p.cells) for _ in range(p.slots))
    start = PrimalDual({}, {}, empty, {}, Fraction(0), {}, 0.0, 0.0)
    for run in _branch(p, c, order, start):
        yield _close(p, c, run)


def _branch(p: Problem, c: Constants, order: list[Job], run: PrimalDual) -> Iterator[PrimalDual]:
    if not order:
        yield run
        return
    job, later = order[0], order[1:]
    payoff, tied = _best(p, c, job, run.levels)
    if not tied:
        yield from _branch(p, c, later, replace(run, payoffs={**run.payoffs, job.name: 0.0}))
    for plan in tied:
        yield from _branch(p, c, later, _commit(p, c, run, job, plan, payoff))


def _best(p: Problem, c: Constants, job: Job, levels: tuple[Counts, ...]) -> tuple[float, list[Plan]]:
    """Return the greatest payoff and all schedules that reach it; no schedule if it is not positive."""
    prices = [[price(n, cap, c) for n, cap in zip(row, p.capacity, strict=True)] for row in levels]
    valued = [
        (float(job.at(max(plan))) - sum(_dot(prices[slot - 1], counts) for slot, counts in plan.items()), plan)
        for plan in plans(p, job, levels)
    ]
    best = max((payoff for payoff, _ in valued), default=0.0)
    margin = TIE * max(1.0, abs(best))
    return best, [plan for payoff, plan in valued if payoff >= best - margin] if best > TIE else []


def plans(p: Problem, job: Job, levels: tuple[Counts, ...] | None = None) -> Iterator[Plan]:
    """Yield every schedule of one job that fits beside ``levels`` and ends in the slot in which the work is done.

    Early slots run before they idle, and early cells fill first.
    """

    def extend(slot: int, left: int) -> Iterator[Plan]:
        if left <= 0:
            yield {}
        if left <= 0 or slot > p.slots:
            return
        room = p.capacity
        if levels is not None:
            room = tuple(cap - n for cap, n in zip(p.capacity, levels[slot - 1], strict=True))
        for counts in p.gangs(job, room):
            for rest in extend(slot + 1, left - job.progress(counts)):
                yield {slot: counts, **rest}
        yield from extend(slot + 1, left)

    return extend(job.arrival, job.need)


def _commit(p: Problem, c: Constants, run: PrimalDual, job: Job, plan: Plan, payoff: float) -> PrimalDual:
    levels = list(run.levels)
    alpha = run.alpha
    for slot, counts in plan.items():
        for cap, old, more in zip(p.capacity, levels[slot - 1], counts, strict=True):
            if more:
                before = price(old, cap, c)
                alpha = max(alpha, cap * (price(old + more, cap, c) - before) / (before * more))
        levels[slot - 1] = tuple(old + more for old, more in zip(levels[slot - 1], counts, strict=True))
    return replace(
        run,
        payoffs={**run.payoffs, job.name: payoff},
        plans={**run.plans, job.name: plan},
        levels=tuple(levels),
        value=run.value + job.at(max(plan)),
        alpha=alpha,
    )


def _close(p: Problem, c: Constants, run: PrimalDual) -> PrimalDual:
    prices, worth_of_capacity = {}, 0.0
    for slot, row in enumerate(run.levels, start=1):
        for (machine, kind), cap, level in zip(p.cells, p.capacity, row, strict=True):
            prices[slot, machine, kind] = price(level, cap, c)
            worth_of_capacity += cap * price(level, cap, c)
    dual = sum(run.payoffs.values()) + worth_of_capacity
    return replace(run, prices=prices, dual=dual, schedule=p.schedule(run.plans))


def _dot(prices: list[float], counts: Counts) -> float:
    return sum(k * n for k, n in zip(prices, counts, strict=True))
