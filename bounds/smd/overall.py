"""Theorems 5 and 6: how likely SMD succeeds, what it is worth then, and how many programs it solves."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from dlsched.algorithms.knapsack import subset_size
from dlsched.algorithms.smd import InnerStep
from dlsched.arithmetic import exact_power, power
from dlsched.bounds.claim import Claim, Expectation, Premise, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.facts import OPT_POSITIVE
from dlsched.bounds.smd.facts import DELTA, FINE, RUNNING, SMD, Rounding, SmdFacts
from dlsched.bounds.smd.sources import NARROW, SECTION_V, SMOOTH, TINY
from dlsched.rounding import success_probability

SECTION_V_EPSILON = Fraction(1, 100)
"""eps_2 of the paper's evaluation."""

LARGEST = 10**300
"""A guarantee that may be so many times off says nothing; beyond 1.8e308 it would be no float."""


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


def _theorem_5(rounds: int) -> tuple[Claim[SmdFacts], Claim[SmdFacts]]:
    """Return the printed and the corrected claim about the probability of success in F rounds."""
    suffix = "" if rounds == 1 else f"-{rounds}-rounds"
    printed = SMD.printed(
        f"smd/theorem-5{suffix}",
        paper="SMD, Theorem 5",
        statement=f"with F = {rounds}, SMD returns a feasible solution with probability above (1 - (delta/8)^F)^I",
        quantity="the exact probability that F rounds give every job a valid sample, against that, at delta = 1/2",
        measure=partial(_succeeds, rounds=rounds),
        relation=Relation.AT_LEAST,
        bound=partial(_promised, rounds=rounds, each=DELTA / 8),
        expectation=Expectation.FALSE,
        premises=(RUNNING,),
        details=_true_probabilities,
        sources=(NARROW,),
        counterexamples=(f"smd-theorem-5{suffix}-four-resources",),
    )
    return printed, printed.corrected(
        statement=f"rounding x~ - 1, F = {rounds} rounds keep all limits with probability at least (1 - (delta/2)^F)^I",
        quantity="the exact probability that F rounds give every job a sample within its limits, against that",
        measure=partial(_shifted_success, rounds=rounds),
        bound=partial(_promised, rounds=rounds, each=DELTA / 2),
        sources=(NARROW, TINY),
        golden=(f"smd-theorem-5{suffix}-corrected-four-resources",),
    )


THEOREM_5, THEOREM_5_CORRECTED = _theorem_5(1)
THEOREM_5_FIVE, THEOREM_5_FIVE_CORRECTED = _theorem_5(5)
THEOREM_5_TWENTY, THEOREM_5_TWENTY_CORRECTED = _theorem_5(20)


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


def _printed_factor(step: InnerStep) -> float:
    return (1 + FINE) * (24 + 4) / DELTA


def _corrected_factor(step: InnerStep) -> float:
    return max(1.0, step.factor)


RATIO = SMD.printed(
    "smd/theorem-5-ratio",
    paper="SMD, Theorem 5",
    statement="SMD is worth at least mu'(1 - eps_2)/mu* of the optimum, mu' at (1 + eps_1)(24/M + 4)/delta times tau*",
    quantity="OPT over SMD's utility, against mu*/(mu'(1 - eps_2)), in the setting of Section V",
    measure=lambda facts: facts.opt.over(facts.corrected.utility),
    relation=Relation.AT_MOST,
    bound=lambda facts: _ratio(facts, _printed_factor),
    expectation=Expectation.VACUOUS,
    premises=(RUNNING, OPT_POSITIVE),
    schedule=lambda facts: facts.corrected.schedule,
    sources=(SECTION_V,),
)

RATIO_CORRECTED = RATIO.corrected(
    statement="SMD corrected is worth at least mu'(1 - eps_2)/mu* of the optimum, mu' at (1 + eps_1) 4/M times tau*",
    quantity="OPT over SMD's utility, against mu*/(mu'(1 - eps_2))",
    bound=lambda facts: _ratio(facts, _corrected_factor),
    sources=(SMOOTH, TINY),
    golden=("smd-theorem-5-ratio-corrected-S6",),
)


def _subsets(items: int, size: int) -> int:
    return sum(math.comb(items, k) for k in range(size + 1))


def _programs(facts: SmdFacts, epsilon: Fraction) -> tuple[int, int, int]:
    """Return I, k and the number of subsets of at most k jobs: the scheme's linear programs."""
    items = len(facts.instance.jobs)
    size = subset_size(items, len(facts.instance.resources), epsilon)
    return items, size, _subsets(items, size)


def _polynomial(facts: SmdFacts) -> float:
    """Return (I + 1)^K, K = ceil(R/eps) - R the exponent for that eps; infinite where all 2^I are fewer."""
    items = len(facts.instance.jobs)
    rows = len(facts.instance.resources)
    exponent = math.ceil(rows * (1 - SECTION_V_EPSILON) / SECTION_V_EPSILON)
    bound = exact_power(items + 1, exponent)
    return math.inf if bound >= exact_power(2, items) else float(bound)


def _sizes(facts: SmdFacts) -> dict[str, Any]:
    return dict(zip(("jobs", "k", "programs"), _programs(facts, SECTION_V_EPSILON), strict=True))


def _fixed_degree(facts: SmdFacts) -> int:
    """Return (I + 1)^R."""
    return exact_power(len(facts.instance.jobs) + 1, len(facts.instance.resources))


THEOREM_6 = SMD.printed(
    "smd/theorem-6",
    paper="SMD, Theorem 6",
    statement="T_2, the time of the knapsack scheme, is polynomial: at the paper's eps_2 = .01, I^(99 R) programs",
    quantity="the scheme's linear programs at eps_2 = .01, against (I+1)^(99 R), if that is below all 2^I subsets",
    measure=lambda facts: _programs(facts, SECTION_V_EPSILON)[2],
    relation=Relation.AT_MOST,
    bound=_polynomial,
    expectation=Expectation.VACUOUS,
    premises=(Premise("there are jobs", lambda facts: bool(facts.instance.jobs)),),
    details=_sizes,
    sources=(SECTION_V,),
)

THEOREM_6_CORRECTED = THEOREM_6.corrected(
    statement="for fixed eps_2 and R, the scheme solves at most (I + 1)^k programs, k = ceil(R (1 - eps_2)/eps_2)",
    quantity="the scheme's linear programs at eps_2 = 1/2, against (I + 1)^R",
    measure=lambda facts: _programs(facts, Fraction(1, 2))[2],
    bound=_fixed_degree,
    sources=(SECTION_V, TINY),
)

CLAIMS = stated(globals())
