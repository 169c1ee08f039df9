"""Run HadarE on an instance of Hadar's problem in which every job fits a node."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from numpy.typing import ArrayLike

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.hadar.find_allocation import MAX_STATES
from dlsched.algorithms.hadar_e.assign import HadarOverCopies
from dlsched.algorithms.hadar_e.division import Steps
from dlsched.algorithms.hadar_e.estimate import Throughputs
from dlsched.algorithms.hadar_e.nodes import Speeds, node_speeds
from dlsched.algorithms.hadar_e.plot import plot, save_plot
from dlsched.algorithms.hadar_e.policy import HadarE
from dlsched.algorithms.hadar_e.rounds import Rules, Trainer, play
from dlsched.algorithms.hadar_e.schedule import ForkedSchedule, JobCopies, Overheads, check, exact_utility, needed
from dlsched.algorithms.hadar_e.tracker import Averaging, Tracker
from dlsched.algorithms.run import Run, Variant
from dlsched.arguments import Seed, at_least, checked, not_negative
from dlsched.errors import InputError
from dlsched.models.hadar import Instance
from dlsched.models.numbers import amount, rational, to_json
from dlsched.models.problem import Problem


@checked
def run(
    instance: Instance,
    *,
    seed: Seed = 0,
    variant: Variant | str = Variant.CORRECTED,
    copies: int | None = None,
    max_job_count: int | None = None,
    steps: Steps | str = Steps.WHOLE,
    averaging: Averaging | str = Averaging.STEPS,
    restart: float | Fraction = 0,
    communication: float | Fraction = 0,
    consolidation: float | Fraction = 0,
    max_states: int = MAX_STATES,
    estimates: Mapping[str, Mapping[str, Fraction]] | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    trainer: Trainer | None = None,
) -> Run[ForkedSchedule]:
    """Schedule an instance with HadarE.

    Parameters
    ----------
    instance : Instance
        Machines are nodes; a gang is of one node.
    seed : int or numpy.random.Generator
        Not used: nothing is drawn at random.
    variant : str
        How the steps left are divided (module `division`): ``"printed"`` among all copies, ``"corrected"`` among those
        that are scheduled.
    copies : int, optional
        How many each job is forked into, as many as there are nodes by default. 1 is no forking: with divisible steps,
        and a device a node, Hadar's rounds, but that no node idles that a job can use (module `assign`); Hadar lets one
        idle that is worth its price to no job.
    max_job_count : int, optional
        That ids of copies are made with, the number of jobs by default.
    steps : str
        Whether steps are ``"whole"``, or ``"divisible"`` as in the paper's analysis.
    averaging : str
        Weights of the copies' parameters, ``"steps"`` or ``"equal"``.
    restart, communication, consolidation : number
        Seconds that a node loses in a round (`Overheads`).
    max_states : int
        Most states of Algorithm 2's recursion in a round; beyond, copies are selected greedily by payoff.
    estimates : mapping of str to mapping of str to Fraction, optional
        Throughputs by job and node that are thought at the beginning, e.g. by `throughput`; the true ones by default.
    parameters : mapping of str to array, optional
        Where the models of jobs start, by job.
    trainer : callable, optional
        ``(job, node, parameters, steps) -> parameters``: trains the models that have parameters.

    Returns
    -------
    Run
        The schedule is a `ForkedSchedule`, worth sum_j U_j(f_j - a_j) over the jobs that are done within T. Prices are
        by (node, slot). The log has a `Round` for each, and a `Finished` for each job that is done, with its
        parameters.

    Raises
    ------
    InputError
        If a job can run on no single machine, a number is out of range, or an estimate or a model's start is missing.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> instance = hadar_e.figure_6()
    >>> run = hadar_e.run(instance)
    >>> run.schedule.copies, hadar_e.completions(instance, run.schedule)
    (5, {'J1': 1, 'J2': 2, 'J3': 4})
    >>> hadar_e.completions(instance, hadar_e.run(instance, copies=1).schedule)
    {'J1': 3, 'J2': 4, 'J3': 8}
    """
    del seed
    at_least(1, copies=copies, max_job_count=max_job_count)
    at_least(0, max_states=max_states)
    not_negative(restart=restart, communication=communication, consolidation=consolidation)
    lost = rational(restart) + rational(communication) + rational(consolidation)
    if lost >= instance.slot_seconds:
        raise InputError(f"restart, communication, consolidation: {to_json(lost)} s leave a slot no time to train")
    speeds = node_speeds(instance)
    rules = Rules(
        copies=len(instance.machines) if copies is None else copies,
        max_job_count=max(1, len(instance.jobs)) if max_job_count is None else max_job_count,
        variant=Variant(variant),
        steps=Steps(steps),
        overheads=Overheads(
            restart=rational(restart), communication=rational(communication), consolidation=rational(consolidation)
        ),
    )
    throughputs = Throughputs(speeds if estimates is None else _checked(speeds, estimates))
    scheduler = HadarOverCopies(instance, rules, throughputs, max_states)
    tracker = _tracker(instance, rules, parameters or {}, Averaging(averaging), trainer)
    allocations, log = play(instance, speeds, rules, scheduler, tracker, throughputs, trainer)
    schedule = ForkedSchedule(
        copies=rules.copies,
        max_job_count=rules.max_job_count,
        steps=rules.steps,
        overheads=rules.overheads,
        jobs={name: JobCopies(slots=slots) for name, slots in allocations.items()},
    )
    prices = {(node, slot): price for (node, _, slot), price in scheduler.occupancy.final_prices().items()}
    return Run(schedule, float(exact_utility(instance, schedule)), prices, tuple(log))


def _checked(speeds: Speeds, estimates: Mapping[str, Mapping[str, Fraction]]) -> Speeds:
    """Return the estimates of the pairs that can run, all of them positive."""
    taken: Speeds = {}
    for job, nodes in speeds.items():
        taken[job] = {}
        for node in nodes:
            estimate = amount(f"estimates.{job}.{node}", estimates.get(job, {}).get(node, 0))
            if estimate <= 0:
                raise InputError(f"estimates.{job}.{node}: a positive throughput is needed")
            taken[job][node] = estimate
    return taken


def _tracker(
    instance: Instance,
    rules: Rules,
    parameters: Mapping[str, ArrayLike],
    averaging: Averaging,
    trainer: Trainer | None,
) -> Tracker:
    parents = {job.name: parent for parent, job in enumerate(instance.jobs)}
    for name in parameters:
        if name not in parents:
            raise InputError(f"parameters.{name}: unknown job")
    if (trainer is None) != (not parameters):
        raise InputError("trainer: models have parameters and a trainer, or neither")
    return Tracker(
        {parents[job.name]: needed(job, rules.steps) for job in instance.jobs},
        max_job_count=rules.max_job_count,
        parameters={parents[name]: start for name, start in parameters.items()},
        averaging=averaging,
    )


ALGORITHM = Algorithm(
    "hadar_e",
    "hadar",
    "HadarE: jobs forked into copies that train on several nodes at once",
    run,
    ForkedSchedule,
    policy=HadarE,
    judge=Problem(
        "hadar_e",
        "copies of Hadar's jobs, on nodes that each run one",
        Instance,
        ForkedSchedule,
        check,
        exact_utility,
        save_plot=save_plot,
        plot=plot,
    ),
)
