"""What the facts of several papers share: a certified optimum, and the primal and dual values of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Generic, TypeVar

from dlsched.algorithms import Optimum, optimum
from dlsched.algorithms.exact.certificates import ExactProgram
from dlsched.algorithms.exact.result import Proof
from dlsched.bounds.claim import Premise, Undecided, comparison_unit
from dlsched.bounds.comparison import Interval
from dlsched.bounds.evidence import rests_on
from dlsched.bounds.sharing import Sharing, shared
from dlsched.bounds.shown import shown
from dlsched.models import Status, build, solve
from dlsched.models.document import Document
from dlsched.models.listed import Listed
from dlsched.models.numbers import exceeds

D = TypeVar("D", bound=Document)


class OptimumFacts(Sharing, Generic[D]):
    """What is known of one (instance, seed), its optimum among it.

    Parameters
    ----------
    instance : Document
    seed : int
        Of the runs.

    Examples
    --------
    >>> from dlsched.bounds import OptimumFacts
    >>> from dlsched.algorithms.hadar import run
    >>> from dlsched.models import hadar
    >>> class Facts(OptimumFacts):
    ...     @property
    ...     def ratio(self):
    ...         return self.opt.over(run(self.instance, seed=self.seed).utility)
    >>> Facts(hadar.random(0), seed=0).ratio
    Interval(low=1.0, high=1.0)
    """

    def __init__(self, instance: D, seed: int) -> None:
        self.instance = instance
        self.seed = seed

    @property
    def unit(self) -> float:
        """Below what utilities count as equally small."""
        return comparison_unit(self.instance)

    @shared
    def best(self) -> Optimum:
        """The certified optimum."""
        return optimum(self.instance)

    @property
    def opt(self) -> Interval:
        """OPT, between the value of a checked schedule and a proved bound."""
        return interval(self.best)

    @property
    def opt_positive(self) -> bool:
        """Whether OPT > 0: where a schedule is worth something, that is all it takes."""
        if self.best.value is not None and self.best.value > 0:
            rests_on(Proof.EXACT)
            return True
        if self.opt.high > 0 and not self.best.proved:
            raise Undecided("whether OPT > 0 is not proved")
        return False

    def explain(self, run: dict[str, Any]) -> dict[str, Any]:
        """Return what explains a verdict on a run against the optimum."""
        return {**run, "opt": self.opt.low, "evidence": list(self.best.evidence)}


OPT_POSITIVE = Premise[OptimumFacts[Any]]("OPT > 0", lambda facts: facts.opt_positive)


def refused_otherwise(facts: object) -> bool:
    """Stand for a hypothesis that every instance keeps: one that breaks it is refused when it is read."""
    return True


def optimal_schedule(facts: OptimumFacts[Any]) -> Document | None:
    """Return the schedule that proves the lower end of OPT."""
    schedule: Document | None = facts.best.schedule
    return schedule


def interval(best: Optimum) -> Interval:
    """Return what is proved of an optimum."""
    rests_on(best.proof)
    if best.value is None or best.bound is None:
        raise Undecided("the optimum has no value")
    if best.proved:
        return Interval(best.value, best.value)
    # Of a cost the bound is the lower end.
    return Interval(min(best.value, best.bound), max(best.value, best.bound))


L = TypeVar("L", bound=Listed[Any])


def over_schedules(
    formulation: str,
    instance: Any,
    schedules: Mapping[str, Sequence[L]],
    write: Callable[[Any, Mapping[str, Sequence[L]]], ExactProgram],
) -> float:
    """Return the optimum of a formulation over the schedules of each job; `write` restates it over the rationals.

    Where utilities are far from 1 it is found in another unit of utility. That is a power of ten, so that what is a
    rational of small numbers stays one.
    """
    unit = _power_of_ten(instance.greatest_utility)
    own = schedules
    if unit != 1:
        own = {name: [replace(each, utility=each.utility / unit) for each in some] for name, some in schedules.items()}
    found = shown(lambda: write(instance, own), lambda: solved(formulation, instance, schedules=own), unit)
    return found.told()


_ORDINARY = range(-3, 9)
"""Exponents of ten of greatest values that are taken as they are. Arbitrary: they leave the tolerances three digits."""


def _power_of_ten(greatest: Fraction) -> Fraction:
    """Return 1 for a greatest value that tolerances of 1e-6 to 1e-9 suit, or 0; else a unit in which it is hundreds."""
    digits = Decimal(float(greatest)).adjusted()
    return Fraction(1) if not greatest or digits in _ORDINARY else Fraction(Decimal(1).scaleb(digits - 2))


def solved(formulation: str, instance: Document, **data: object) -> float:
    """Return the optimum of a formulation by one solver."""
    solution = solve(build(formulation, instance, **data), threads=1, presolve=False)
    if solution.status is not Status.OPTIMAL or solution.objective is None:
        raise Undecided(f"{formulation} was not solved: {solution.status}")
    return solution.objective


@dataclass(frozen=True, slots=True)
class Step:
    """What one admission adds: its job, its utility to the primal, and to the dual its payoff and dearer prices."""

    job: str
    primal: float
    dual: float


def steps_of(instance: Any, admissions: Iterable[Any], capacity: Callable[[Any], float | Fraction]) -> list[Step]:
    """Return what each admission of a run at posted prices adds.

    Parameters
    ----------
    instance : Document
        With its jobs.
    admissions : iterable
        Decisions that admit a job: ``job``, ``payoff``, ``completion``, and ``steps``, each with the price ``before``
        and ``after``.
    capacity : callable
        How much is sold at the price of such a step.
    """
    found = []
    for decision in admissions:
        job = instance.job(decision.job)
        dearer = math.fsum(float(capacity(step)) * (step.after - step.before) for step in decision.steps)
        gain = float(job.utility.exact(decision.completion - job.arrival))
        found.append(Step(job.name, gain, decision.payoff + dearer))
    return found


def least_alpha(steps: Iterable[Step]) -> float:
    """Return the least alpha >= 1 such that no step adds more than alpha times its primal value to the dual.

    Infinite where there is none.
    """
    ratios = [step.dual / step.primal if step.primal > 0 else math.inf for step in steps if step.dual > 0]
    return max([1.0, *ratios])


def initial_dual_small(d0: float | Fraction, opt: Interval, *, unit: float) -> bool:
    """Tell whether D_0 <= OPT/2, in a unit of utility."""
    if exceeds(d0, opt.high / 2, unit=unit):
        return False
    if exceeds(d0, opt.low / 2, unit=unit):
        raise Undecided("whether D0 <= OPT/2 is not proved")
    return True


def final_dual_large(dual: float, opt: Interval, name: str, *, unit: float) -> bool:
    """Tell whether the final dual value, of this name in the paper, is at least OPT, in a unit of utility."""
    if exceeds(opt.low, dual, unit=unit):
        return False
    if exceeds(opt.high, dual, unit=unit):
        raise Undecided(f"whether {name} >= OPT is not proved")
    return True
