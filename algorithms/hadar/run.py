"""Run Hadar on an instance: commit at arrival, or in rounds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.hadar.commit import commit
from dlsched.algorithms.hadar.find_allocation import MAX_STATES
from dlsched.algorithms.hadar.occupancy import Occupancy
from dlsched.algorithms.hadar.policy import Hadar
from dlsched.algorithms.hadar.prices import PriceConstants, constants
from dlsched.algorithms.hadar.rounds import Plans, Rules, rounds
from dlsched.algorithms.run import Decision, Event, Run, Variant
from dlsched.arguments import Seed, at_least, checked, not_negative
from dlsched.models.hadar import Instance, Schedule, utility


class Mode(StrEnum):
    """When devices are given away: for good when a job arrives, or anew in every round (Algorithms 1 and 2).

    Examples
    --------
    >>> from dlsched.algorithms import hadar
    >>> from dlsched.models.hadar import random
    >>> {mode.value: hadar.run(random(0), mode=mode).utility for mode in hadar.Mode}
    {'commit': 34.0, 'rounds': 34.0}
    """

    COMMIT = "commit"
    ROUNDS = "rounds"


@checked
def run(
    instance: Instance,
    *,
    seed: Seed = 0,
    variant: Variant | str = Variant.CORRECTED,
    mode: Mode | str = Mode.COMMIT,
    comm_cost: float = 0.0,
    max_states: int = MAX_STATES,
    prices: PriceConstants | None = None,
) -> Run[Schedule]:
    """Schedule an instance with Hadar.

    Parameters
    ----------
    instance : Instance
    seed : int or numpy.random.Generator
        Not used: nothing is drawn at random.
    variant : str
        ``"corrected"`` or ``"printed"``. With ``mode="commit"`` they differ in the price constants only; the corrected
        ones give OPT <= (4/3) max(1, alpha) ALG with alpha = `alpha_measured`, the printed ones give no bound (one
        device, one slot, a job worth 1 and then one worth 1000: ALG = 1, 2 alpha < 17). With ``mode="rounds"``
        ``"printed"`` is Algorithm 2 to the letter, which selects nothing (module `selection` has the proof).
    mode : str
        ``"commit"``: commit at arrival, what the analysis speaks of (module `commit`). ``"rounds"``: Algorithms 1 and 2
        (modules `rounds`, `selection`, `find_allocation`); no bound is known.
    comm_cost : float
        Rounds: utility that an allocation over several machines costs in a round; the paper does not define it.
    max_states : int
        Rounds: most states of Algorithm 2's recursion in a round; beyond that the corrected variant selects jobs
        greedily by payoff, and the log says so.
    prices : PriceConstants, optional
        Constants of the prices, where they are to differ from those of `variant`.

    Returns
    -------
    Run
        Prices are by (machine, type, slot); after rounds they still count the allocations of jobs that did not finish,
        which are not in the schedule (`Stripped` in the log).

    Raises
    ------
    InputError
        If `variant` or `mode` is unknown, or `comm_cost` is negative.

    Examples
    --------
    >>> from dlsched.algorithms import hadar
    >>> from dlsched.models.hadar import random
    >>> instance = random(0)
    >>> run = hadar.run(instance)
    >>> run.utility, sorted(run.schedule.jobs)
    (34.0, ['job2', 'job3'])
    >>> hadar.run(instance, mode="rounds").utility
    34.0
    >>> hadar.run(instance, mode="rounds", variant="printed").utility
    0.0
    """
    del seed
    chosen, how = Variant(variant), Mode(mode)
    not_negative(comm_cost=comm_cost)
    at_least(0, max_states=max_states)
    price_constants = constants(instance, chosen) if prices is None else prices
    occupancy = Occupancy(instance, price_constants)
    log: list[Event] = []
    plans: Plans = {}
    if how is Mode.COMMIT:
        for decision, plan in commit(instance, occupancy):
            log.append(decision)
            plans[decision.job] = plan
    else:
        plans, log = rounds(instance, occupancy, Rules(chosen, comm_cost, max_states))
    schedule = Schedule.of(
        {name: {t: occupancy.allocation(counts) for t, counts in plan.items()} for name, plan in plans.items()}
    )
    return Run(schedule, utility(instance, schedule), occupancy.final_prices(), tuple(log))


@checked
def alpha_measured(instance: Instance, log: Iterable[Event]) -> float:
    """Return max c dk / (k_old dgamma) over the price steps of a log (Definition 1, the least alpha it holds with).

    It is 0 where no price moved, and infinite where one rose from 0.

    Examples
    --------
    >>> from dlsched.algorithms import hadar, optimum
    >>> from dlsched.models.hadar import random
    >>> instance = random(0)
    >>> run = hadar.run(instance)
    >>> alpha = hadar.alpha_measured(instance, run.log)
    >>> optimum(instance).value <= 2 * max(1, alpha) * run.utility
    True
    """
    worst = 0.0
    for step in (step for event in log if isinstance(event, Decision) for step in event.steps):
        rise = instance.machine(step.machine).count(step.type) * (step.after - step.before) / step.devices
        if rise > 0:
            worst = max(worst, rise / step.before if step.before else float("inf"))
    return worst


@checked
def dual_value(instance: Instance, result: Run[Schedule]) -> float:
    """Return the value (3) of the payoffs and final prices that a run in commit mode leaves: sum mu + sum k c.

    With the corrected constants they are feasible for P3, so that this is at least the optimum of P1 with admission.

    Examples
    --------
    >>> from dlsched.algorithms import hadar, optimum
    >>> from dlsched.models.hadar import random
    >>> instance = random(0)
    >>> optimum(instance).value <= hadar.dual_value(instance, hadar.run(instance))
    True
    """
    payoffs = math.fsum(event.payoff for event in result.log if isinstance(event, Decision))
    capacity = {(m.name, r): m.count(r) for m in instance.machines for r in m.devices}
    return payoffs + math.fsum(price * capacity[machine, r] for (machine, r, _), price in result.prices.items())


ALGORITHM = Algorithm(
    "hadar", "hadar", "Hadar: prices on devices, committed at arrival or anew in rounds", run, policy=Hadar
)
