"""Theorems 5 and 6: how likely SMD succeeds, what it is worth then, and how many programs it solves."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dlsched.algorithms.knapsack_scheme import subset_size
from dlsched.algorithms.smd import InnerStep
from dlsched.bounds.claim import Claim, Expectation, Premise, Variant
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.smd.facts import DELTA, FINE, Rounding, SmdFacts
from dlsched.bounds.smd.fractional import RUNNING
from dlsched.bounds.smd.sources import NARROW, SECTION_V, SMOOTH, TINY
from dlsched.models.arithmetic import exact_power, power
from dlsched.rounding import success_probability

LARGEST = 10**300
"""A guarantee that may be so many times off says nothing."""


def _succeeds(facts: SmdFacts, rounds: int) -> Fraction:
    """Return the probability that F printed rounds give every job a valid sample: within limits, one of each at least.

    It also has to cost at most (24/M + 4)/delta times x~'s time.
    """
    return math.prod((1 - exact_power(1 - _valid(rounding), rounds) for rounding in facts.roundings), start=Fraction(1))


def _valid(rounding: Rounding) -> Fraction:
    """Return the probability that one printed round is valid."""
    factor = (24 / rounding.gain + 4) / DELTA
    return rounding.probability(lambda w, p: rounding.job.fits(w, p) and rounding.cost(w, p) <= factor)


def _promised(facts: SmdFacts, rounds: int, each: float) -> float:
    """Return (1 - each^F)^I."""
    return power(1 - power(each, rounds), len(facts.running))


def _true_probabilities(facts: SmdFacts) -> dict[str, Any]:
    return {f"{rounds} rounds": float(_succeeds(facts, rounds)) for rounds in (1, 5, 20)}


def _shifted_success(facts: SmdFacts, rounds: int) -> Fraction:
    """Return the probability that F corrected rounds give every job a sample within its limits."""
    return math.prod((_kept(facts, step, rounds) for step in facts.inner_steps), start=Fraction(1))


def _kept(facts: SmdFacts, step: InnerStep, rounds: int) -> Fraction:
    """Return the probability that one of some rounds keeps a job's limits; 1 where there is nothing to round."""
    job = facts.instance.job(step.job)
    if step.scaled is None:
        return Fraction(1)
    return success_probability(step.scaled, lambda counts: job.fits(*counts.tolist()), rounds)


def _theorem_5(rounds: int) -> tuple[Claim, Claim]:
    """Return the printed and the corrected claim about the probability of success in F rounds."""
    suffix = "" if rounds == 1 else f"-{rounds}-rounds"
    printed = Claim(
        id=f"smd/theorem-5{suffix}",
        paper="SMD, Theorem 5",
        variant=Variant.PRINTED,
        statement=f"with F = {rounds}, SMD returns a feasible solution with probability above (1 - (delta/8)^F)^I",
        quantity="the exact probability that F rounds give every job a valid sample, against that, at delta = 1/2",
        measure=lambda facts: _succeeds(facts, rounds),
        bound=lambda facts: _promised(facts, rounds, DELTA / 8),
        relation=Relation.AT_LEAST,
        expectation=Expectation.FALSE,
        facts=SmdFacts,
        premises=(RUNNING,),
        details=_true_probabilities,
        sources=(NARROW,),
        counterexamples=(f"smd-theorem-5{suffix}-four-resources",),
    )
    corrected = Claim(
        id=f"smd/theorem-5{suffix}",
        paper="SMD, Theorem 5",
        variant=Variant.CORRECTED,
        statement=f"rounding x~ - 1, F = {rounds} rounds keep all limits with probability at least (1 - (delta/2)^F)^I",
        quantity="the exact probability that F rounds give every job a sample within its limits, against that",
        measure=lambda facts: _shifted_success(facts, rounds),
        bound=lambda facts: _promised(facts, rounds, DELTA / 2),
        relation=Relation.AT_LEAST,
        expectation=Expectation.TRUE,
        facts=SmdFacts,
        premises=(RUNNING,),
        sources=(NARROW, TINY),
        golden=(f"smd-theorem-5{suffix}-corrected-four-resources",),
    )
    return printed, corrected


def _ratio(facts: SmdFacts, factor: Callable[[InnerStep], float]) -> float:
    """Return mu*/(mu' (1 - eps_2)), the reciprocal of the guarantee; infinite beyond all doubles."""
    best = facts.best_points
    steps = {step.job: step for step in facts.inner_steps}
    highest = max(point.utility for point in best.values())
    lowest = min(
        facts.instance.job(name).utility.exact(point.time * Fraction(factor(steps[name])))
        for name, point in best.items()
    )
    if highest > lowest * LARGEST:
        return math.inf
    return float(highest / lowest) / (1 - FINE)


def _over_run(facts: SmdFacts) -> Interval:
    """Return OPT over the utility of the corrected run."""
    value = facts.corrected.utility
    return Interval(facts.opt.low / value, facts.opt.high / value) if value else Interval(math.inf, math.inf)


_WORTH = Premise("OPT > 0", lambda facts: facts.opt.low > 0)

_RATIO: dict[str, Any] = {
    "id": "smd/theorem-5-ratio",
    "paper": "SMD, Theorem 5",
    "measure": _over_run,
    "relation": Relation.AT_MOST,
    "facts": SmdFacts,
    "premises": (RUNNING, _WORTH),
    "schedule": lambda facts: facts.corrected.schedule,
}

RATIO = Claim(
    variant=Variant.PRINTED,
    statement="SMD is worth at least mu'(1 - eps_2)/mu* of the optimum, mu' at (1 + eps_1)(24/M + 4)/delta times tau*",
    quantity="OPT over SMD's utility, against mu*/(mu'(1 - eps_2)), in the setting of Section V",
    bound=lambda facts: _ratio(facts, lambda step: (1 + FINE) * (24 + 4) / DELTA),
    expectation=Expectation.VACUOUS,
    sources=(SECTION_V,),
    **_RATIO,
)

RATIO_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="SMD corrected is worth at least mu'(1 - eps_2)/mu* of the optimum, mu' at (1 + eps_1) 4/M times tau*",
    quantity="OPT over SMD's utility, against mu*/(mu'(1 - eps_2))",
    bound=lambda facts: _ratio(facts, lambda step: max(1.0, step.factor)),
    expectation=Expectation.TRUE,
    sources=(SMOOTH, TINY),
    golden=("smd-theorem-5-ratio-corrected-S6",),
    **_RATIO,
)


def _subsets(items: int, size: int) -> int:
    return sum(math.comb(items, k) for k in range(size + 1))


def _programs(facts: SmdFacts, epsilon: Fraction) -> tuple[int, int, int]:
    """Return I, k and the number of subsets of at most k jobs: the scheme's linear programs."""
    items = len(facts.instance.jobs)
    size = subset_size(items, len(facts.instance.resources), epsilon)
    return items, size, _subsets(items, size)


def _polynomial(facts: SmdFacts, epsilon: Fraction) -> float:
    """Return (I + 1)^K, K = ceil(R/eps) - R the exponent for fixed eps; infinite where all 2^I subsets are fewer."""
    items = len(facts.instance.jobs)
    rows = len(facts.instance.resources)
    exponent = math.ceil(rows * (1 - epsilon) / epsilon)
    bound = exact_power(items + 1, exponent)
    return math.inf if bound >= exact_power(2, items) else float(bound)


_THEOREM_6: dict[str, Any] = {
    "id": "smd/theorem-6",
    "paper": "SMD, Theorem 6",
    "relation": Relation.AT_MOST,
    "facts": SmdFacts,
    "premises": (Premise("there are jobs", lambda facts: bool(facts.instance.jobs)),),
}

THEOREM_6 = Claim(
    variant=Variant.PRINTED,
    statement="T_2, the time of the knapsack scheme, is polynomial: at the paper's eps_2 = .01, I^(99 R) programs",
    quantity="the scheme's linear programs at eps_2 = .01, against (I+1)^(99 R), if that is below all 2^I subsets",
    measure=lambda facts: _programs(facts, Fraction(1, 100))[2],
    bound=lambda facts: _polynomial(facts, Fraction(1, 100)),
    expectation=Expectation.VACUOUS,
    details=lambda facts: dict(zip(("jobs", "k", "programs"), _programs(facts, Fraction(1, 100)), strict=True)),
    sources=(SECTION_V,),
    **_THEOREM_6,
)

THEOREM_6_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="for fixed eps_2 and R, the scheme solves at most (I + 1)^k programs, k = ceil(R (1 - eps_2)/eps_2)",
    quantity="the scheme's linear programs at eps_2 = 1/2, against (I + 1)^R",
    measure=lambda facts: _programs(facts, Fraction(1, 2))[2],
    bound=lambda facts: exact_power(len(facts.instance.jobs) + 1, len(facts.instance.resources)),
    expectation=Expectation.TRUE,
    sources=(SECTION_V, TINY),
    **_THEOREM_6,
)

CLAIMS = (*_theorem_5(1), *_theorem_5(5), *_theorem_5(20), RATIO, RATIO_CORRECTED, THEOREM_6, THEOREM_6_CORRECTED)
