"""Why a run turned jobs away, why a schedule is not better, and what one more of each resource is worth.

A price-based algorithm turns a job away where even its best schedule costs more, at the prices then, than it is worth.
The prices of that moment are read off the run: a price is what the next step of its place says it was before, or else
the final one. The best schedule is asked for with every utility raised by the same amount, which changes no preference
but makes the payoff positive.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dlsched.algorithms import hadar, pd_ors
from dlsched.algorithms.exact.dispatch import optimum
from dlsched.algorithms.exact.result import Optimum
from dlsched.algorithms.hadar.commit import best_response
from dlsched.algorithms.pd_ors.response import EXACT, earning_values, respond
from dlsched.algorithms.run import Decision, Run
from dlsched.arguments import checked, expect
from dlsched.errors import InputError
from dlsched.models import dmlrs
from dlsched.models import hadar as hadar_problem
from dlsched.models.document import Document
from dlsched.models.problem import problem_of
from dlsched.models.utility import Table
from dlsched.readable import Readable, Section, facts

_RAISED = 8
"""How many times more utilities are raised by when no schedule is worth its cost yet. Arbitrary: few searches do."""

_DEAREST = 3
"""Purchases of a rejected job that are told. Arbitrary: they are examples."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """What a schedule takes in one place and slot, at the price there.

    Attributes
    ----------
    machine, resource : str
        The device type, or the resource.
    slot : int
    amount : float
    price : float
        Of one.

    Examples
    --------
    >>> from dlsched.algorithms import hadar, rejections
    >>> from dlsched.models.hadar import preset
    >>> instance = preset("benchmark", 0, jobs=6, machines=2, types=2, slots=4)
    >>> for job in rejections(instance, hadar.run(instance)).jobs:
    ...     for purchase in job.purchases:
    ...         print(f"{job.job}: {purchase}")
    job6: 1 type2 of machine2 in slot 3 for 58 each
    job6: 1 type2 of machine2 in slot 4 for 58 each
    """

    machine: str
    resource: str
    slot: int
    amount: float
    price: float

    @property
    def cost(self) -> float:
        """Amount times price."""
        return self.amount * self.price

    def __str__(self) -> str:
        what = f"{self.amount:.6g} {self.resource} of {self.machine} in slot {self.slot}"
        return f"{what} for {self.price:.6g} each"


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a job was turned away.

    Attributes
    ----------
    job : str
    slot : int
        Of its arrival, when that was decided.
    utility, cost : float or None
        Of the schedule of the greatest payoff that still fitted, at the prices then; None where none fitted.
    completion : int or None
        Of that schedule.
    purchases : tuple of Purchase
        What it would have taken, the dearest first.

    Examples
    --------
    >>> from dlsched.algorithms import hadar, rejections
    >>> from dlsched.models.hadar import preset
    >>> instance = preset("benchmark", 0, jobs=6, machines=2, types=2, slots=4)
    >>> for job in rejections(instance, hadar.run(instance)).jobs:
    ...     print(job.job, job.utility, job.cost, job.completion)
    job3 None None None
    job4 None None None
    job6 1.25 116.0 4
    """

    job: str
    slot: int
    utility: float | None
    cost: float | None
    completion: int | None
    purchases: tuple[Purchase, ...]

    @property
    def reason(self) -> str:
        """In words."""
        if self.utility is None or self.cost is None:
            return "nothing that does its work while it is worth something fitted beside the jobs before it"
        worth = f"{self.utility:.6g} for completing in slot {self.completion}"
        if self.utility > self.cost:
            return f"{worth}, at a cost of {self.cost:.6g}: the algorithm's own search did not find that schedule"
        dearest = "; ".join(map(str, self.purchases[:_DEAREST]))
        return f"{worth} is no more than the cost of {self.cost:.6g}: {dearest}"


@dataclass(frozen=True, slots=True)
class Rejections(Readable):
    """The jobs that a run turned away, in order of their arrival.

    Attributes
    ----------
    jobs : tuple of Rejection

    Examples
    --------
    >>> from dlsched.algorithms import hadar, rejections
    >>> from dlsched.models.hadar import random
    >>> instance = random(0)
    >>> print(rejections(instance, hadar.run(instance)))
    Turned away
      job   slot  why
      job1     1  nothing that does its work while it is worth something fitted
                  beside the jobs before it
    """

    jobs: tuple[Rejection, ...]

    def dump(self) -> list[dict[str, Any]]:
        """Return plain JSON data."""
        return [asdict(job) | {"reason": job.reason} for job in self.jobs]

    def _sections(self) -> Iterable[Section]:
        if not self.jobs:
            yield Section("No job was turned away")
            return
        yield Section("Turned away", [(job.job, job.slot, job.reason) for job in self.jobs], ("job", "slot", "why"))


@checked
def rejections(instance: Document, result: Run[Any]) -> Rejections:
    """Return why a run of Hadar or PD-ORS turned jobs away: the prices that made them too dear.

    Parameters
    ----------
    instance : Instance
        Of hadar or dmlrs.
    result : Run
        Of `dlsched.algorithms.hadar.run` with ``mode="commit"``, or of `dlsched.algorithms.pd_ors.run`, on it.

    Raises
    ------
    InputError
        If the run's log does not say once for each job whether it was admitted, and at what prices.

    Examples
    --------
    >>> from dlsched.algorithms import hadar, rejections
    >>> from dlsched.models.hadar import Instance
    >>> job = {"arrival": 1, "gang": 1, "iterations": 1, "rate": {"gpu": 1}}
    >>> instance = Instance.parse({
    ...     "slots": 1, "slot_seconds": 1, "device_types": ["gpu"],
    ...     "machines": [{"name": "m", "devices": {"gpu": 2}}],
    ...     "jobs": [
    ...         job | {"name": "a", "utility": {"kind": "table", "values": [9]}},
    ...         job | {"name": "b", "utility": {"kind": "table", "values": [1]}},
    ...     ],
    ... })
    >>> print(rejections(instance, hadar.run(instance)))
    Turned away
      job  slot  why
      b       1  1 for completing in slot 1 is no more than the cost of 1.06066: 1
                 gpu of m in slot 1 for 1.06066 each
    """
    decided = [event for event in result.log if isinstance(event, Decision | pd_ors.JobDecision)]
    names = [event.job for event in decided]
    if not names or len(set(names)) != len(names) or len(names) != len(instance.jobs):  # type: ignore[attr-defined]
        raise InputError("the run does not decide once for each job at posted prices: hadar (commit) and pd_ors do")
    if isinstance(decided[0], Decision):
        expect("instance", instance, hadar_problem.Instance)
        return Rejections(tuple(_of_hadar(instance, result, decided)))  # type: ignore[arg-type]
    expect("instance", instance, dmlrs.Instance)
    return Rejections(tuple(_of_pd_ors(instance, result, decided)))  # type: ignore[arg-type]


def _of_hadar(instance: hadar_problem.Instance, result: Run[Any], decided: list[Decision]) -> Iterator[Rejection]:
    occupancy = hadar.Occupancy(instance, hadar.constants(instance))
    cell = {where: k for k, where in enumerate(occupancy.cells)}
    capacity = dict(zip(occupancy.cells, occupancy.capacity.tolist(), strict=True))
    for k, decision in enumerate(decided):
        if decision.admitted:
            for step in decision.steps:
                occupancy.used[step.slot - 1, cell[step.machine, step.type]] += step.devices
            continue
        later = ((step.machine, step.type, step.slot, step.before) for own in decided[k:] for step in own.steps)
        prices = _prices_before(result.prices, later)
        for (machine, r, t), price in prices.items():
            occupancy.prices[t - 1, cell[machine, r]] = price
        job = instance.job(decision.job)
        last = instance.last_useful_slot(job)
        values = [] if last is None else [job.utility.exact(d) for d in range(last - job.arrival + 1)]
        plan: Mapping[int, Any] = {}
        for utility in _raised(values, _total(prices, capacity)):
            _, plan = best_response(instance, occupancy, job.model_copy(update={"utility": utility}))
            if plan:
                break
        bought = [
            Purchase(machine, r, t, n, float(occupancy.prices[t - 1, c]))
            for t, counts in plan.items()
            for c, n in counts
            for machine, r in [occupancy.cells[c]]
        ]
        yield _rejection(decision.job, decision.slot, plan, values, bought)


def _of_pd_ors(instance: dmlrs.Instance, result: Run[Any], decided: list[pd_ors.JobDecision]) -> Iterator[Rejection]:
    occupancy = pd_ors.Occupancy(instance, pd_ors.constants(instance))
    machine = {name: h for h, name in enumerate(occupancy.machines)}
    resource = {name: r for r, name in enumerate(instance.resources)}
    jobs = {job.name: job for job in instance.jobs}
    for k, decision in enumerate(decided):
        job = jobs[decision.job]
        if decision.admitted:
            occupancy.commit(job, decision.placements)
            continue
        later = ((step.machine, step.resource, step.slot, step.before) for own in decided[k:] for step in own.steps)
        prices = _prices_before(result.prices, later)
        occupancy.prices[:] = 0.0
        for (h, r, t), price in prices.items():
            occupancy.prices[t - 1, machine[h], resource[r]] = price
        values = [Fraction(value) for value in earning_values(instance, job)]
        capacity = {(m.name, r): m.capacity_of(r) for m in instance.machines for r in instance.resources}
        plan: Mapping[int, Any] = {}
        for utility in _raised(values, _total(prices, capacity)):
            raised = job.model_copy(update={"utility": utility})
            plan = respond(occupancy, raised, EXACT, np.random.default_rng(0)).plan
            if plan:
                break
        bought = [
            Purchase(h, r, t, float(amount), prices.get((h, r, t), 0.0))
            for t, placement in plan.items()
            for h, (workers, servers) in placement.items()
            for r in instance.resources
            if (amount := workers * job.worker_needs(r) + servers * job.server_needs(r))
        ]
        yield _rejection(decision.job, decision.slot, plan, values, bought)


def _prices_before(
    final: Mapping[Any, float], later: Iterable[tuple[str, str, int, float]]
) -> dict[tuple[str, str, int], float]:
    """Return the prices before some steps, the first of each place counting."""
    prices, seen = dict(final), set()
    for *where, before in later:
        if tuple(where) not in seen:
            seen.add(tuple(where))
            prices[tuple(where)] = before
    return prices


def _total(prices: Mapping[tuple[str, str, int], float], capacity: Mapping[tuple[str, str], Any]) -> Fraction:
    """Return what everything costs, which no schedule costs more than."""
    return sum((Fraction(price) * Fraction(capacity[h, r]) for (h, r, _), price in prices.items()), Fraction(0))


def _raised(values: list[Fraction], most: Fraction) -> Iterator[Table]:
    """Yield the utilities raised by the same amount, ever more, until no cost can outweigh it."""
    amount = max(values, default=Fraction(0))
    while values:
        yield Table(values=tuple(value + amount for value in values))
        if amount > most:
            return
        amount *= _RAISED


def _rejection(
    job: str, slot: int, plan: Mapping[int, Any], values: list[Fraction], bought: list[Purchase]
) -> Rejection:
    if not plan:
        return Rejection(job, slot, None, None, None, ())
    completion = max(plan)
    cost = math.fsum(one.cost for one in bought)
    dearest = tuple(sorted(bought, key=lambda one: -one.cost))
    return Rejection(job, slot, float(values[completion - slot]), cost, completion, dearest)


@dataclass(frozen=True, slots=True)
class Shortfall(Readable):
    """How far a schedule is from the best, and by which jobs.

    Attributes
    ----------
    utility : float
        Of the schedule.
    best : Optimum
        With the bound: nothing is better, for what its evidence says.
    jobs : tuple of (str, float, float)
        Name, worth in the schedule and in the best one known, where they differ; the largest loss first.

    Examples
    --------
    >>> from dlsched.algorithms import shortfall
    >>> from dlsched.algorithms.baselines.hadar.las import run
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> found = shortfall(instance, run(instance).schedule)
    >>> found.gap, found.jobs
    (1.0, (('job2', 0.0, 17.0),))
    """

    utility: float
    best: Optimum
    jobs: tuple[tuple[str, float, float], ...]

    @property
    def gap(self) -> float | None:
        """How far the bound is from the utility, as a share of it: 0 where both are the same."""
        return Optimum(self.utility, self.best.bound, None, False, (), 0.0, 0.0).gap

    def dump(self) -> dict[str, Any]:
        """Return plain JSON data."""
        jobs = [{"job": name, "here": here, "there": there} for name, here, there in self.jobs]
        known = {"best": self.best.value, "bound": self.best.bound, "proved": self.best.proved}
        return {"utility": self.utility, **known, "gap": self.gap, "evidence": list(self.best.evidence), "jobs": jobs}

    def _sections(self) -> Iterable[Section]:
        best = self.best
        yield Section(
            "Why it is not better",
            facts(
                utility=self.utility,
                best_known=best.value,
                bound=best.bound,
                gap=self.gap,
                because="; ".join(best.evidence),
            ),
        )
        if self.jobs:
            rows = [(name, here, there, here - there) for name, here, there in self.jobs]
            yield Section("Jobs that differ", rows, ("job", "here", "in the best known", "difference"))


@checked
def shortfall(instance: Document, schedule: Document, *, time_limit: float | None = None) -> Shortfall:
    """Return why a schedule is not better: the bound that nothing is above, and which jobs another does better by.

    Parameters
    ----------
    instance : Instance
    schedule : Schedule
        Feasible.
    time_limit : float, optional
        Seconds to look for the optimum; the bound then is what was proved so far.

    Raises
    ------
    InputError
        If the schedule breaks a rule of the instance.

    Examples
    --------
    >>> from dlsched.algorithms import optimum, shortfall
    >>> from dlsched.models import smd
    >>> instance = smd.preset("random", 0, jobs=3)
    >>> shortfall(instance, optimum(instance).schedule).gap
    0.0
    """
    problem = problem_of(instance)
    expect("schedule", schedule, problem.schedule)
    for violation in problem.violations(instance, schedule):
        raise InputError(f"the schedule breaks a rule: {violation}")
    best = optimum(instance, time_limit=time_limit)
    here = _by_job(problem, instance, schedule)
    there = _by_job(problem, instance, best.schedule) if best.schedule is not None else {}
    names = [name for name in dict.fromkeys([*here, *there]) if here.get(name, 0) != there.get(name, 0)]
    jobs = [(name, float(here.get(name, 0)), float(there.get(name, 0))) for name in names]
    return Shortfall(
        float(problem.worth(instance, schedule)), best, tuple(sorted(jobs, key=lambda job: job[1] - job[2]))
    )


def _by_job(problem: Any, instance: Document, schedule: Any) -> dict[str, Fraction | float]:
    """Return what each job of a schedule adds to nothing; empty where nothing has no worth."""
    try:
        nothing = problem.worth(instance, schedule.model_copy(update={"jobs": {}}))
    except ValueError:
        return {}
    return {
        name: problem.worth(instance, schedule.model_copy(update={"jobs": {name: own}})) - nothing
        for name, own in schedule.jobs.items()
    }


@dataclass(frozen=True, slots=True)
class OneMore:
    """What one more of a resource is worth.

    Attributes
    ----------
    resource : str
    value, bound : float or None
        Of the optimum with it.
    least, most : float or None
        Between which the gain is; both are it where the optima are proved.

    Examples
    --------
    >>> from dlsched.algorithms import one_more
    >>> from dlsched.models import hadar
    >>> growth = one_more(hadar.random(11))
    >>> best = max(growth.more, key=lambda one: one.least)
    >>> best.resource, best.least, best.value - growth.now.value
    ('type2', 15.0, 15.0)
    """

    resource: str
    value: float | None
    bound: float | None
    least: float | None
    most: float | None


@dataclass(frozen=True, slots=True)
class Growth(Readable):
    """What one more of each resource is worth.

    Attributes
    ----------
    now : Optimum
        Of the instance as it is.
    more : tuple of OneMore

    Examples
    --------
    >>> from dlsched.algorithms import one_more
    >>> from dlsched.models import hadar
    >>> print(one_more(hadar.random(11)))
    With one more of a resource, where there is most of it; now 21
      resource  optimum  gain at least  at most
      type1          26              5        5
      type2          36             15       15
    """

    now: Optimum
    more: tuple[OneMore, ...]

    def dump(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {"value": self.now.value, "bound": self.now.bound, "more": [asdict(one) for one in self.more]}

    def _sections(self) -> Iterable[Section]:
        rows = [(one.resource, one.value, one.least, one.most) for one in self.more]
        title = f"With one more of a resource, where there is most of it; now {self.now.value:.9g}"
        yield Section(title, rows, ("resource", "optimum", "gain at least", "at most"))


@checked
def one_more(instance: Document, *, time_limit: float | None = None) -> Growth:
    """Return what one more of each resource, or device type, is worth: the certified optima with it and without.

    Parameters
    ----------
    instance : Instance
    time_limit : float, optional
        Seconds for each optimum.

    Raises
    ------
    InputError
        If the problem does not say what its capacities are, or no schedule of the instance is known.

    Examples
    --------
    >>> from dlsched.algorithms import one_more
    >>> from dlsched.models import smd
    >>> instance = smd.preset("random", 0, jobs=3)
    >>> growth = one_more(instance)
    >>> [one.resource for one in growth.more] == list(instance.resources)
    True
    """
    problem = problem_of(instance)
    now = optimum(instance, time_limit=time_limit)
    if now.value is None or now.bound is None:
        raise InputError("there is no schedule that one more of something could be compared with")
    found = []
    for resource, larger in problem.larger(instance).items():
        best = optimum(larger, time_limit=time_limit)
        least = None if best.value is None else best.value - now.bound
        most = None if best.bound is None else best.bound - now.value
        found.append(OneMore(resource, best.value, best.bound, least, most))
    return Growth(now, tuple(found))
