"""The LP relaxation of R-DMLRS over all schedules, by column generation: the worker-slot program prices the columns.

Rows (8) of identical machines are summed. That changes nothing: a schedule may be permuted over identical machines, and
the mean of all permutations uses each of them equally, so an LP solution that fits the sum has one that fits each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dlsched.algorithms.pd_ors.market import Floats, Occupancy
from dlsched.algorithms.pd_ors.prices import Prices, constants
from dlsched.algorithms.pd_ors.response import EXACT, Response, respond
from dlsched.arguments import checked
from dlsched.halt import polled
from dlsched.models.dmlrs import Instance
from dlsched.models.dmlrs.instance import AnyJob, identical
from dlsched.models.dmlrs.job import Placement
from dlsched.relaxations.columns import Priced, generate_columns
from dlsched.relaxations.master import Column, Master
from dlsched.tolerances import TOLERANCE


@dataclass(frozen=True, slots=True)
class ScheduleBound:
    """The LP relaxation of R-DMLRS, as far as it was solved.

    Attributes
    ----------
    bound : float
        No schedule of all jobs is worth more; valid whether or not `finished`.
    value : float
        Of the LP over the schedules found so far.
    prices : dict of (str, str, int) to float
        p_h^r[t] of the bound, by (machine, resource, slot), where positive.
    payoffs : dict of str to float
        lambda_i of the bound, by job: with the prices, a feasible point of (10)-(11).
    schedules : tuple of (str, dict, float)
        Job, slot to placement, and weight, of the LP's optimum; a placement stands for its permutations over identical
        machines.
    finished : bool
        Value and bound agree, or no schedule could be added.
    rounds : int
        Pricing rounds.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> found = pd_ors.schedule_bound(dmlrs.random(0))
    >>> for job, plan, weight in found.schedules:
    ...     print(job, round(weight, 6), plan)
    job3 1.0 {2: {'machine1': (2, 1)}, 3: {'machine1': (2, 1)}}
    """

    bound: float
    value: float
    prices: dict[tuple[str, str, int], float]
    payoffs: dict[str, float]
    schedules: tuple[tuple[str, dict[int, Placement], float], ...]
    finished: bool
    rounds: int


@checked
def schedule_bound(
    instance: Instance,
    *,
    gap: float = TOLERANCE,
    rounds: int | None = None,
    stop: Callable[[float, float], bool] | None = None,
) -> ScheduleBound:
    """Return the LP bound of R-DMLRS over all schedules.

    Parameters
    ----------
    instance : Instance
        Journal or asynchronous.
    gap : float
        Relative gap of value and bound at which to stop.
    rounds : int, optional
        Pricing rounds, at most.
    stop : callable, optional
        Called with (bound, value of the LP) after each round; where it tells True, what is known is returned.

    References
    ----------
    PD-ORS, (8)-(11); (15) and (16) price, over the empty cluster. Where a job exchanges data faster between
    machines, payoffs and so the bound may be overstated.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> found = pd_ors.schedule_bound(dmlrs.random(2, capacity=8))
    >>> found.finished, round(found.bound, 6)
    (True, 57.0)
    """
    pricing = _Pricing(instance)
    cells = len(instance.resources) * len(pricing.groups) * instance.slots
    if not instance.jobs or not cells:
        worth = sum(pricing.respond(job).payoff for job in instance.jobs)
        payoffs = {job.name: pricing.respond(job).payoff for job in instance.jobs}
        return ScheduleBound(worth, worth, {}, payoffs, (), True, 1)
    most = 1 + sum(max(0.0, job.utility(0)) for job in instance.jobs)
    found = generate_columns(Master(pricing.room, len(instance.jobs), most), pricing, gap=gap, rounds=rounds, stop=stop)
    prices = found.duals.reshape(instance.slots, len(pricing.groups), len(instance.resources))
    return ScheduleBound(
        bound=found.bound,
        value=found.value,
        prices={
            (h, r, t + 1): float(prices[t, c, k])
            for t, c, k in np.argwhere(prices > 0).tolist()
            for h in pricing.groups[c].machines
            for r in (instance.resources[k],)
        },
        payoffs={job.name: max(0.0, float(found.best[i])) for i, job in enumerate(instance.jobs)},
        schedules=tuple((name, plan, weight) for (name, plan), weight in found.recover()),
        finished=found.finished,
        rounds=found.rounds,
    )


class _Pricing:
    """The best schedule of each job at prices of groups of identical machines."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.groups = identical(instance)
        self.occupancy = Occupancy(instance, constants(instance, Prices.REPAIRED))
        self.occupancy.prices[:] = 0.0
        group_of = {h: c for c, group in enumerate(self.groups) for h in group.machines}
        self.group = np.array([group_of[h] for h in self.occupancy.machines])
        room = [[len(g) * float(g.model.capacity_of(r)) for r in instance.resources] for g in self.groups]
        self.room: Floats = np.tile(np.array(room).reshape(-1), instance.slots)

    def __call__(self, prices: Floats) -> Priced:
        """Price every job's schedules."""
        shape = (self.instance.slots, len(self.groups), len(self.instance.resources))
        self.occupancy.prices[:] = prices.reshape(shape)[:, self.group, :]
        best = np.zeros(len(self.instance.jobs))
        columns = []
        for i, job in enumerate(polled(self.instance.jobs)):
            response = self.respond(job)
            best[i] = response.payoff
            if response.plan:
                columns.append(self._column(i, job, response))
        return Priced(best, columns)

    def respond(self, job: AnyJob) -> Response:
        """Return the best schedule of a job on the empty cluster at the present prices."""
        generator = np.random.default_rng(0)
        return respond(self.occupancy, job, EXACT, generator, empty=True, optimistic=True)

    def _column(self, block: int, job: AnyJob, response: Response) -> Column:
        shape = (self.instance.slots, len(self.groups), len(self.instance.resources))
        used = np.zeros(shape)
        group_of = dict(zip(self.occupancy.machines, self.group.tolist(), strict=True))
        for t, placement in response.plan.items():
            for h, counts in placement.items():
                for r, amount in job.uses(*counts).items():
                    used[t - 1, group_of[h], self.instance.resources.index(r)] += float(amount)
        utility = job.utility(max(response.plan) - job.arrival)
        rows = used.reshape(-1)
        return Column(block, (utility, rows.tobytes()), utility, rows, (job.name, dict(response.plan)))
