"""Theorems 5 and 6: how likely SMD succeeds, what it is worth then, and how many programs it solves."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from dlsched.algorithms.knapsack import Method, subset_size
from dlsched.arithmetic import exact_power
from dlsched.bounds.claim import Claim, Expectation, Premise, always, stated
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.smd.facts import ACCEPTS_ONE, FALLING, ROUNDED, RUNNING, SMD, RoundingFacts, SmdFacts
from dlsched.bounds.smd.inner import LETTER
from dlsched.bounds.smd.selection import EPSILON, selection
from dlsched.bounds.smd.sources import BRIM, INNER, KNAPSACK, NARROW, SECTION_V, SMOOTH, TINY
from dlsched.models.numbers import exceeds
from dlsched.models.smd import Job
from dlsched.rounding import success_probability

SECTION_V_EPSILON = Fraction(1, 100)
"""eps_2 of the paper's evaluation."""


def _least_worth(facts: RoundingFacts) -> float:
    """Return mu'(1 - eps_2)/mu* of the optimum, mu' at (1 + eps_1)(24/M + 4)/delta times tau*."""
    factors = {r.job.name: (1 + facts.epsilon) * facts.factor(r.gain) for r in facts.roundings}
    return facts.promised_ratio(factors) * facts.opt.low


def _promised(facts: RoundingFacts, each: float) -> Fraction:
    """Return (1 - each^F)^I."""
    return exact_power(1 - exact_power(Fraction(each), facts.rounds), len(facts.instance.jobs))


def _failure(facts: RoundingFacts, succeeds: Fraction, each: float) -> float:
    """Return the probability to fail over 1 - (1 - each^F)^I; infinite where that is above every double.

    The probabilities to succeed are 1 to ten digits where F is large, and would be compared at a tolerance.
    """
    try:
        return float((1 - succeeds) / (1 - _promised(facts, each)))
    except OverflowError:
        return math.inf


def _worth_less(facts: RoundingFacts, rounds: int | None) -> float:
    """Return the probability that SMD is worth less than is promised with so many rounds a job, over what may fail."""
    return _failure(facts, facts.chance_of_worth(_least_worth(facts), rounds), facts.delta / 8)


def _worth_less_at_worst(facts: RoundingFacts) -> float:
    """Return the same where no rounding keeps the limits: 0 where the guarantee says nothing."""
    return _failure(facts, Fraction(not exceeds(_least_worth(facts), 0, unit=0.0)), facts.delta / 8)


def _probabilities(facts: RoundingFacts) -> dict[str, Any]:
    return {r.job.name: {"gain": r.gain, "feasible": float(r.probability(r.feasible))} for r in facts.roundings}


def _without_sample(facts: RoundingFacts, fails: Callable[[Job, tuple[float, float]], Fraction]) -> float:
    """Return the probability that F corrected rounds leave some job without a sample, over 1 - (1 - (delta/2)^F)^I."""
    kept = Fraction(1)
    for step in facts.corrected_steps:
        if step.scaled is not None:
            once = fails(facts.instance.job(step.job), step.scaled)
            kept *= 1 - exact_power(once, facts.rounds)
    return _failure(facts, kept, facts.delta / 2)


def _breaks(job: Job, scaled: tuple[float, float]) -> Fraction:
    """Return the probability that one rounding breaks a job's limits."""
    return 1 - success_probability(scaled, lambda counts: job.fits(*counts.tolist()))


def _may_break(job: Job, scaled: tuple[float, float]) -> Fraction:
    """Return 1 if some rounding breaks a job's limits, else 0."""
    return Fraction(not job.fits(*map(math.ceil, scaled)))


WITHIN = Premise[RoundingFacts](
    "Algorithm 1 is within 1 + eps_1 of each job's tau*",
    lambda facts: facts.grid_succeeded,
    "Section IV-A: eps_1 is the performance ratio of solving the sum-of-ratios problem",
)

_POINT = (
    "which x~ is rounded: here that of Algorithm 1 corrected, over w, p >= 1, which is within 1 + eps_1 everywhere "
    "(smd/theorem-4 has x >= 0)"
)

THEOREM_5 = ROUNDED.printed(
    "smd/theorem-5",
    paper="SMD, Section IV-A, Theorem 5",
    statement=(
        "with probability above (1 - (delta/8)^F)^I SMD returns a feasible solution that is worth at least "
        "mu'(1 - eps_2)/mu* of the optimum"
    ),
    quantity=(
        "the exact probability that rounding until a point is feasible gives a solution worth less, over "
        "1 - (1 - (delta/8)^F)^I, against 1"
    ),
    measure=lambda facts: _worth_less(facts, None),
    relation=Relation.AT_MOST,
    bound=always(1),
    worst=_worth_less_at_worst,
    expectation=Expectation.TRUE,
    premises=(FALLING, RUNNING, ACCEPTS_ONE, WITHIN),
    open=f"{_POINT}; {LETTER}",
    details=_probabilities,
    sources=(NARROW, SMOOTH, TINY),
    golden=("smd-theorem-5-four-resources",),
)


def _theorem_5(rounds: int) -> tuple[Claim[RoundingFacts], Claim[RoundingFacts]]:
    """Return what F rounds a job reach in all, as Theorem 6 counts them, and the corrected claim."""
    suffix = "-one-round" if rounds == 1 else f"-{rounds}-rounds"
    counted = replace(THEOREM_5, facts=partial(RoundingFacts, rounds=rounds)).derived(
        f"smd/theorem-5{suffix}",
        paper="SMD, Section IV-A, Theorem 5, with the F rounds of Theorem 6",
        statement=(
            f"where Algorithm 2 rounds F = {rounds} times in all, with probability above (1 - (delta/8)^F)^I SMD "
            "returns a feasible solution that is worth at least mu'(1 - eps_2)/mu* of the optimum"
        ),
        quantity=(
            "the exact probability that F rounds a job give a solution worth less, over 1 - (1 - (delta/8)^F)^I, "
            "against 1"
        ),
        measure=lambda facts: _worth_less(facts, facts.rounds),
        expectation=Expectation.FALSE,
        open=_POINT,
        sources=(NARROW,),
        counterexamples=(f"smd-theorem-5{suffix}-four-resources",),
    )
    return counted, counted.corrected(
        statement=f"rounding x~ - 1, F = {rounds} rounds keep all limits with probability at least (1 - (delta/2)^F)^I",
        quantity="the exact probability that some job gets no sample within its limits, over one minus that, against 1",
        measure=partial(_without_sample, fails=_breaks),
        worst=partial(_without_sample, fails=_may_break),
        premises=(RUNNING,),
        sources=(BRIM, TINY, INNER),
        golden=(f"smd-theorem-5{suffix}-corrected-four-resources",),
    )


THEOREM_5_ONE, THEOREM_5_ONE_CORRECTED = _theorem_5(1)
THEOREM_5_FIVE, THEOREM_5_FIVE_CORRECTED = _theorem_5(5)
THEOREM_5_TWENTY, THEOREM_5_TWENTY_CORRECTED = _theorem_5(20)


def _printed_ratio(facts: RoundingFacts) -> float:
    """Return mu'(1 - eps_2)/mu*, mu' at (1 + eps_1)(24/M + 4)/delta times tau*."""
    gains = {step.job: step.gain for step in facts.printed_steps if step.gain}
    return facts.promised_ratio({name: (1 + facts.epsilon) * facts.factor(gain) for name, gain in gains.items()})


def _corrected_ratio(facts: RoundingFacts) -> float:
    """Return the same, mu' at (1 + eps_1) 4/M times tau*."""
    return facts.promised_ratio({step.job: max(1.0, step.factor) for step in facts.corrected_steps})


_LIMITS = (
    'what "infeasible" is in step 3 of Algorithm 2: a run tests the limits (7), as x^ may be any point of Z_+ there, '
    "and loses a job that is left without a worker or a server; smd/theorem-5 tests (8) too, with which none is lost"
)

RATIO = ROUNDED.printed(
    "smd/theorem-5-ratio",
    paper="SMD, Section IV-A, Theorem 5",
    statement=(
        "where the rounding succeeds, SMD is worth at least mu'(1 - eps_2)/mu* of the optimum, mu' at "
        "(1 + eps_1)(24/M + 4)/delta times tau*"
    ),
    quantity="the utility of SMD as printed over OPT, against mu'(1 - eps_2)/mu*",
    measure=lambda facts: _part_of_optimum(facts, facts.printed.utility),
    relation=Relation.AT_LEAST,
    bound=_printed_ratio,
    worst=always(0),
    expectation=Expectation.TRUE,
    premises=(
        FALLING,
        RUNNING,
        ACCEPTS_ONE,
        WITHIN,
        Premise(
            "Algorithm 2 returns a feasible point of each job",
            lambda facts: facts.rounding_succeeded,
            "Theorem 5: the event whose probability it states",
        ),
    ),
    open=_LIMITS,
    details=lambda facts: {"utility": facts.printed.utility, "opt": facts.opt.low},
    schedule=lambda facts: facts.printed.schedule,
    sources=(SMOOTH, SECTION_V),
    golden=("smd-theorem-5-ratio-eight-each",),
)

RATIO_CORRECTED = RATIO.corrected(
    statement="SMD corrected is worth at least mu'(1 - eps_2)/mu* of the optimum, mu' at (1 + eps_1) 4/M times tau*",
    quantity="the utility of SMD corrected over OPT, against mu'(1 - eps_2)/mu*",
    measure=lambda facts: _part_of_optimum(facts, facts.corrected.utility),
    bound=_corrected_ratio,
    premises=(FALLING, RUNNING, ACCEPTS_ONE),
    details=lambda facts: {"utility": facts.corrected.utility, "opt": facts.opt.low},
    schedule=lambda facts: facts.corrected.schedule,
    sources=(SMOOTH, TINY),
    golden=("smd-theorem-5-ratio-corrected-S6",),
)

RATIO_ALWAYS = RATIO.derived(
    "smd/theorem-5-ratio-always",
    statement="SMD as printed is worth at least mu'(1 - eps_2)/mu* of the optimum whatever is drawn",
    expectation=Expectation.FALSE,
    premises=(FALLING, RUNNING, ACCEPTS_ONE, WITHIN),
    open=_LIMITS,
    sources=(SMOOTH,),
    counterexamples=("smd-theorem-5-ratio-always-one-each",),
)


def _part_of_optimum(facts: RoundingFacts, utility: float) -> Interval:
    return Interval(utility / facts.opt.high, utility / facts.opt.low)


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
    """Return (I + 1)^k, k = min(I, R) at eps_2 = 1/2."""
    items, size, _ = _programs(facts, EPSILON)
    return exact_power(items + 1, size)


THEOREM_6 = SMD.printed(
    "smd/theorem-6",
    paper="SMD, Section IV-A, Theorem 6",
    statement="T_2, the time of the knapsack scheme, is polynomial",
    quantity=(
        "the scheme's linear programs at eps_2 = .01 (Section V), against (I+1)^(99 R), which is what they are at most "
        "for fixed R, if that is below all 2^I subsets"
    ),
    measure=lambda facts: _programs(facts, SECTION_V_EPSILON)[2],
    relation=Relation.AT_MOST,
    bound=_polynomial,
    expectation=Expectation.VACUOUS,
    premises=(
        Premise("there are jobs", lambda facts: bool(facts.instance.jobs), "Section III-A: the set of active jobs"),
    ),
    open="what is fixed: Section IV, step 3, has eps and I, with which every time is polynomial",
    details=_sizes,
    sources=(SECTION_V,),
)

THEOREM_6_CORRECTED = THEOREM_6.corrected(
    statement="for fixed eps_2 and R, the scheme solves at most (I + 1)^k programs, k = ceil(R (1 - eps_2)/eps_2)",
    quantity="the linear programs that the scheme solves at eps_2 = 1/2, against (I + 1)^min(I, R)",
    measure=lambda facts: selection(facts, Method.SCHEME, EPSILON).lps,
    bound=_fixed_degree,
    sources=(SECTION_V, TINY, KNAPSACK),
)


def _attempts(facts: RoundingFacts) -> float:
    """Return how often Algorithm 2 rounds on average, to the letter of step 3, for the job that takes most."""
    feasible = [rounding.probability(rounding.feasible) for rounding in facts.roundings]
    return max(facts.rounds + float(1 / chance) if chance else math.inf for chance in feasible)


THEOREM_6_ROUNDS = ROUNDED.derived(
    "smd/theorem-6-rounds",
    paper="SMD, Section IV-A, Theorem 6, of the sum of T_i + F",
    statement="to the letter of step 3, which makes F + 1 at least, Algorithm 2 makes F + 1 rounds a job on average",
    quantity="the rounds expected until a point is feasible and F were made before, of the worst job, against F + 1",
    measure=_attempts,
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.rounds + 1,
    expectation=Expectation.FALSE,
    premises=(RUNNING,),
    sources=(NARROW,),
    counterexamples=("smd-theorem-6-rounds-four-resources",),
)

CLAIMS = stated(globals())
