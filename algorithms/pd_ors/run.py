"""PD-ORS on an instance (Algorithm 1): jobs by arrival, each with the best schedule at the prices it finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.pd_ors.external_rounding import GainRule, Optimum, Rounding
from dlsched.algorithms.pd_ors.market import Occupancy, ResourceStep, Subproblems
from dlsched.algorithms.pd_ors.offers import External
from dlsched.algorithms.pd_ors.prices import PriceConstants, Prices, constants
from dlsched.algorithms.pd_ors.response import EXACT, Program, Settings, respond
from dlsched.algorithms.run import Event, Run, Stripped, Variant
from dlsched.arguments import Seed, checked, seed_of
from dlsched.halt import polled
from dlsched.models.dmlrs import Instance, Schedule, progress, utility
from dlsched.models.dmlrs.instance import AnyJob
from dlsched.models.dmlrs.job import Placement

_EXTERNAL = {Variant.PRINTED: External.ROUNDING, Variant.CORRECTED: External.EXACT}
_PRICES = {Variant.PRINTED: Prices.PRINTED, Variant.CORRECTED: Prices.REPAIRED}
_PROGRAM = {Variant.PRINTED: Program.SAMPLES, Variant.CORRECTED: Program.WORKER_SLOTS}


@dataclass(frozen=True, slots=True)
class JobDecision(Event):
    """A job was admitted or turned away on its arrival (Algorithm 1, steps 2-4).

    Attributes
    ----------
    job : str
    slot : int
        Its arrival.
    admitted : bool
    payoff : float
        lambda_i, utility less cost at the prices before this decision; 0 for a job turned away.
    completion : int or None
        Completion slot.
    steps : tuple of ResourceStep
        One for each machine, resource and slot of which it takes something that has a price.
    placements : mapping of int to Placement
        Slot to machine to (workers, servers).
    subproblems : Subproblems

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> for event in pd_ors.run(dmlrs.random(0)).log:
    ...     print(event.job, event.slot, event.admitted, event.completion, event.placements)
    job3 2 True 3 {2: {'machine1': (2, 1)}, 3: {'machine1': (2, 1)}}
    job1 3 False None {}
    job2 3 False None {}
    """

    job: str
    slot: int
    admitted: bool
    payoff: float
    completion: int | None
    steps: tuple[ResourceStep, ...]
    placements: Mapping[int, Placement] = field(default_factory=dict)
    subproblems: Subproblems = field(default_factory=Subproblems)


@checked
def run(
    instance: Instance,
    *,
    seed: Seed = 0,
    variant: Variant | str = Variant.CORRECTED,
    external: External | str | None = None,
    gain: str | float = GainRule.ONE,
    delta: float = 0.5,
    rounds: int = 10,
    optimum: Optimum | str = Optimum.SOLVER,
    prices: Prices | str | PriceConstants | None = None,
    program: Program | str | None = None,
) -> Run[Schedule]:
    """Schedule an instance with PD-ORS; an asynchronous one with that of the thesis.

    Parameters
    ----------
    instance : Instance
    seed : int or numpy.random.Generator
        Of the rounding; each job has a generator of its own.
    variant : str
        ``"corrected"`` or ``"printed"``: which `prices`, `external` and `program` are taken by default, and what the
        rounding does (G over all machines and resources, repeat while infeasible *or* fewer than S rounds; in the
        thesis m_w without communication, and no S). Printed, a schedule that does not finish after all is dropped
        (`Stripped` in the log). In both a synchronous job drops the workers and servers that a rounding has too many
        of, which the print keeps and pays for, and is placed on the cheapest machine for all of it, where Algorithm 4
        takes the first that has room by the price of a worker and its share of a server
        (`dlsched.algorithms.pd_ors.placements`). The `gain` is 1 in both unless another is asked for.
    external : str, optional
        How external placements are found: ``"exact"``, by default if corrected; ``"greedy"``; ``"lp-rounding"``, by
        default if printed, of (23)-(26) with (2), which the model asks for; ``"lp-rounding-literal"``, of (23)-(26) to
        the letter, which places nothing externally. Of asynchronous jobs ``"exact"`` and ``"greedy"`` are both exact,
        and the others the same.
    gain : str or float
        Of the rounding: ``"1"``, the default also if printed, though the print has (29) or (30); ``"packing"`` (29),
        ``"cover"`` (30), or a number up to a million.
    delta : float
        In (0, 1], of (29) and (30).
    rounds : int
        S, at least 1.
    optimum : str
        Which one of the relaxation is rounded where it has several: the ``"solver"``'s, with much on few machines, or
        the one that is ``"even"``, alike on machines that are alike.
    prices : str or PriceConstants, optional
        ``"printed"``, ``"repaired"`` or ``"theorem"``, or constants.
    program : str, optional
        ``"worker-slots"`` or ``"samples"``, the printed (21).

    Returns
    -------
    Run
        Prices are by (machine, resource, slot), of what has a price. The log has a `JobDecision` for each job, in order
        of arrival.

    Raises
    ------
    InputError
        If a parameter is out of range, a name is unknown, the print divides by zero, its program is too large, or the
        theorem's premise fails.

    References
    ----------
    PD-ORS, Algorithms 1-4, and the thesis, chapter 3; its competitive ratios (Theorems 5 and 6, thesis Theorem
    3) are false as printed; with ``prices="theorem"`` and ``external="exact"`` OPT <= 2 max(1, alpha_measured) ALG.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(2, capacity=8)
    >>> run = pd_ors.run(instance)
    >>> run.utility, sorted(run.schedule.jobs)
    (57.0, ['job1', 'job2', 'job3'])
    >>> pd_ors.run(instance, external="lp-rounding", rounds=20, seed=1).utility
    57.0
    >>> pd_ors.run(instance, variant="printed", seed=1).utility
    38.0
    """
    chosen = Variant(variant)
    method = External(external) if external else _EXTERNAL[chosen]
    rule = Rounding.of(gain, delta, rounds, chosen, optimum)
    settings = Settings(method, rule, Program(program) if program else _PROGRAM[chosen], chosen)
    if not isinstance(prices, PriceConstants):
        prices = constants(instance, prices or _PRICES[chosen])
    occupancy = Occupancy(instance, prices)
    log = tuple(_decisions(occupancy, settings, seed_of(seed)))
    decided = [event for event in log if isinstance(event, JobDecision)]
    schedule = Schedule.of({event.job: event.placements for event in decided if event.admitted})
    return Run(schedule, utility(instance, schedule), occupancy.final_prices(), log)


@checked
def decide(instance: Instance) -> Iterator[Event]:
    """Yield what `run` logs by default, job by job: the jobs that are admitted so far have a schedule.

    Raises
    ------
    Halt
        Before a decision, where the work is over (`dlsched.halt`).
    """
    yield from _decisions(Occupancy(instance, constants(instance)), EXACT, 0)


def _decisions(occupancy: Occupancy, settings: Settings, seed: int) -> Iterator[Event]:
    jobs = sorted(occupancy.instance.jobs, key=lambda job: job.arrival)
    for job, own in polled(zip(jobs, np.random.SeedSequence(seed).spawn(len(jobs)), strict=True)):
        yield from _decide(occupancy, job, settings, np.random.default_rng(own))


def _decide(occupancy: Occupancy, job: AnyJob, settings: Settings, rng: np.random.Generator) -> list[Event]:
    """Return what happens on a job's arrival (Algorithm 1, steps 2-4)."""
    response = respond(occupancy, job, settings, rng)
    turned_away = JobDecision(job.name, job.arrival, False, 0.0, None, (), {}, response.subproblems)
    if not response.payoff > 0:
        return [turned_away]
    plan = response.plan
    done = progress(job, plan)
    if done < job.work:
        return [Stripped(job.name, tuple(plan), done, job.work), turned_away]
    steps = occupancy.commit(job, plan)
    return [JobDecision(job.name, job.arrival, True, response.payoff, max(plan), steps, plan, response.subproblems)]


ALGORITHM = Algorithm("pd_ors", "dmlrs", "PD-ORS: jobs by arrival, each with its best schedule at the prices", run)
