"""What a run of PD-ORS proves about its instance: how far it is from the optimum, at most.

Every admission raises the dual value D = sum lambda + sum p C by its payoff and by what the prices rose, C dp; with
alpha the greatest C dp / (p_old drho), that is at most max(1, alpha) times what it raises the utility P by. So always
P >= (D - D_0) / max(1, alpha). D itself bounds the optimum only if (11) holds for all schedules, also for those that no
longer fitted when a job came; repaired, lambda_i = max(0, max of the right side of (11)) at the final prices, it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from dlsched.algorithms.pd_ors.market import Occupancy
from dlsched.algorithms.pd_ors.prices import Prices, constants
from dlsched.algorithms.pd_ors.response import EXACT, respond
from dlsched.algorithms.pd_ors.run import JobDecision
from dlsched.algorithms.run import Event, Run
from dlsched.arguments import checked
from dlsched.models.dmlrs import Instance, Schedule
from dlsched.models.numbers import exceeds, small_unit


@dataclass(frozen=True, slots=True)
class Certificate:
    """The dual values that belong to a run.

    Attributes
    ----------
    primal : float
        P, utility of the schedule.
    dual : float
        D, of the payoffs and final prices of the run.
    initial : float
        D_0, of the prices before the first job.
    alpha : float
        Greatest C dp / (p_old drho) of the run.
    payoffs : dict of str to float
        Repaired lambda, by job.
    bound : float
        Dual value of the final prices and the repaired payoffs: no schedule is worth more.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> found = pd_ors.certificate(instance, pd_ors.run(instance))
    >>> found.holds
    True
    >>> print(f"the run has at least {found.share:.0%} of the optimum")
    the run has at least 39% of the optimum
    """

    primal: float
    dual: float
    initial: float
    alpha: float
    payoffs: dict[str, float]
    bound: float

    @property
    def share(self) -> float:
        """Least share of the optimum that the schedule has; 1 where the bound is 0."""
        return min(1.0, self.primal / self.bound) if self.bound > 0 else 1.0

    @property
    def holds(self) -> bool:
        """Whether P >= (D - D_0) / max(1, alpha), as it must."""
        return not exceeds((self.dual - self.initial) / max(1.0, self.alpha), self.primal, unit=small_unit(self.dual))


@checked
def certificate(instance: Instance, result: Run[Schedule]) -> Certificate:
    """Return the certificate of a run, of any variant whose payoffs are utility less cost at the prices before.

    Parameters
    ----------
    instance : Instance
    result : Run
        Of `run` on this instance.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> found = pd_ors.certificate(instance, pd_ors.run(instance))
    >>> found.primal <= found.bound, (found.dual - found.initial) / max(1, found.alpha) <= found.primal
    (True, True)
    """
    decisions = [event for event in result.log if isinstance(event, JobDecision)]
    first = dict(result.prices)
    for decision in reversed(decisions):
        first.update({(step.machine, step.resource, step.slot): step.before for step in decision.steps})
    dual = sum(decision.payoff for decision in decisions) + _worth(instance, result.prices)
    payoffs = repaired_payoffs(instance, result.prices)
    return Certificate(
        primal=result.utility,
        dual=dual,
        initial=_worth(instance, first),
        alpha=alpha_measured(instance, result.log),
        payoffs=payoffs,
        bound=sum(payoffs.values()) + _worth(instance, result.prices),
    )


@checked
def alpha_measured(instance: Instance, log: Iterable[Event]) -> float:
    """Return max C dp / (p_old drho) over the price steps of a log: the least factor of the allocation-cost relation.

    It is 0 where no price moved, and infinite where one rose from 0.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> run = pd_ors.run(instance)
    >>> pd_ors.alpha_measured(instance, run.log) == pd_ors.certificate(instance, run).alpha
    True
    """
    worst = 0.0
    for step in (step for event in log if isinstance(event, JobDecision) for step in event.steps):
        rise = float(instance.machine(step.machine).capacity_of(step.resource)) * (step.after - step.before)
        if rise > 0:
            paid = step.before * float(step.amount)
            worst = max(worst, rise / paid if paid else float("inf"))
    return worst


@checked
def repaired_payoffs(instance: Instance, prices: Mapping[tuple[str, str, int], float]) -> dict[str, float]:
    """Return max(0, max of the right side of (11)) by job, over all schedules that fit the empty cluster.

    Parameters
    ----------
    instance : Instance
    prices : mapping of (str, str, int) to float
        By (machine, resource, slot); what is absent is free.

    Notes
    -----
    A schedule that does not fit the empty cluster is in no solution, so that (11) need not hold for it. Where external
    communication is the faster, payoffs are overstated rather than understated.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> pd_ors.repaired_payoffs(instance, {})["job3"]
    12.0
    >>> prices = {(m, "resource1", t): 2.0 for m in ("machine1", "machine2") for t in (1, 2, 3)}
    >>> pd_ors.repaired_payoffs(instance, prices)["job3"]
    4.0
    """
    occupancy = Occupancy(instance, constants(instance, Prices.REPAIRED))
    machine = {name: h for h, name in enumerate(occupancy.machines)}
    resource = {name: r for r, name in enumerate(instance.resources)}
    occupancy.prices[:] = 0.0
    for (h, r, t), price in prices.items():
        occupancy.prices[t - 1, machine[h], resource[r]] = price
    generator = np.random.default_rng(0)
    return {
        job.name: respond(occupancy, job, EXACT, generator, empty=True, optimistic=True).payoff for job in instance.jobs
    }


def _worth(instance: Instance, prices: Mapping[tuple[str, str, int], float]) -> float:
    """Return sum p C."""
    return sum(price * float(instance.machine(h).capacity_of(r)) for (h, r, _), price in prices.items())
