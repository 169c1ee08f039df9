"""The outer problem: the decomposition, the knapsack scheme, and SMD against its baselines."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dlsched.algorithms import Selection, solve_knapsack
from dlsched.algorithms.knapsack_scheme import TooManyProgramsError
from dlsched.bounds.claim import Claim, Expectation, Premise, Undecided, Variant
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.smd.facts import SmdFacts
from dlsched.bounds.smd.sources import EQUAL_VALUE, INNER, KNAPSACK, TINY
from dlsched.models.catalog import build
from dlsched.models.smd import points
from dlsched.models.solve import Status, solve

EPSILON = Fraction(1, 2)
"""eps_2 where the scheme's guarantee is checked."""

MAX_JOINT = 5_000
"""Points of all jobs that a verdict solves jointly, at most."""

_OPT = Premise("OPT > 0", lambda facts: facts.opt.low > 0)


def _joint(facts: SmdFacts) -> Interval:
    """Return the optimum over all jobs and points together, by a program that knows nothing of the decomposition."""
    count = sum(len(points(job)) for job in facts.instance.jobs)
    if count > MAX_JOINT:
        raise Undecided(f"{count} points of all jobs; {MAX_JOINT} are solved jointly")
    solution = solve(build("smd/milp", facts.instance))
    if solution.status is not Status.OPTIMAL or solution.objective is None or solution.bound is None:
        raise Undecided("the joint program is not solved")
    return Interval(solution.objective, max(solution.objective, solution.bound))


DECOMPOSITION = Claim(
    id="smd/decomposition",
    paper="SMD, Section IV, step 1",
    variant=Variant.PRINTED,
    statement="Problem (1) splits into an inner problem for each job and a knapsack problem, since (2) packs limits",
    quantity="the optimum over all jobs and points together, against the knapsack over each job's best point",
    measure=_joint,
    bound=lambda facts: facts.opt,
    relation=Relation.EQUAL,
    expectation=Expectation.TRUE,
    facts=SmdFacts,
    schedule=lambda facts: facts.best.schedule,
    sources=(TINY,),
    golden=tuple(f"smd-decomposition-S{k}" for k in range(1, 8)),
)


def _scheme(facts: SmdFacts, method: str, **options: Any) -> Selection:
    """Solve (16) at the exact utilities of the inner problems."""
    best = facts.best_points
    resources = facts.instance.resources
    try:
        return solve_knapsack(
            [point.utility for point in best.values()],
            [[facts.instance.job(name).limit_of(r) for r in resources] for name in best],
            [facts.instance.capacity_of(r) for r in resources],
            method=method,
            **options,
        )
    except TooManyProgramsError as error:
        raise Undecided(str(error)) from None


def _part(selection: Selection, opt: Interval) -> Interval:
    value = float(selection.value)
    return Interval(value / opt.high, value / opt.low)


_SCHEME: dict[str, Any] = {
    "id": "smd/knapsack-scheme",
    "paper": "SMD, Section IV, step 3",
    "relation": Relation.AT_LEAST,
    "facts": SmdFacts,
    "premises": (_OPT,),
    "sources": (KNAPSACK, TINY, EQUAL_VALUE),
}

SCHEME = Claim(
    variant=Variant.PRINTED,
    statement="the best of LP(S) over all S, rounded down, is optimal: some S is the optimum itself (2^I programs)",
    quantity="the value of the scheme with k = I over OPT, against 1",
    measure=lambda facts: _part(_scheme(facts, "scheme", epsilon=Fraction(1, 10**6)), facts.opt),
    bound=lambda facts: 1,
    expectation=Expectation.TRUE,
    golden=("smd-knapsack-scheme-six-jobs",),
    **_SCHEME,
)

SCHEME_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="with |S| <= k = min(I, ceil(R (1 - eps)/eps)) the scheme is worth at least (1 - eps) OPT",
    quantity="the value of the scheme at eps = 1/2 over OPT, against 1 - eps",
    measure=lambda facts: _part(_scheme(facts, "scheme", epsilon=EPSILON), facts.opt),
    bound=lambda facts: 1 - EPSILON,
    expectation=Expectation.TRUE,
    golden=("smd-knapsack-scheme-corrected-three-jobs",),
    **_SCHEME,
)

FLOOR = Claim(
    id="smd/knapsack-floor",
    paper="SMD, Section IV, step 3",
    variant=Variant.PRINTED,
    statement="x and its rounding down differ little, since R is small: LP(empty) rounded down is worth half of OPT",
    quantity="the value of LP(empty), rounded down, over OPT, against 1/2",
    measure=lambda facts: _part(_scheme(facts, "lp-floor"), facts.opt),
    bound=lambda facts: EPSILON,
    relation=Relation.AT_LEAST,
    expectation=Expectation.FALSE,
    facts=SmdFacts,
    premises=(_OPT,),
    schedule=lambda facts: facts.best.schedule,
    sources=(KNAPSACK, TINY),
    counterexamples=("smd-knapsack-floor-three-jobs",),
    golden=("smd-knapsack-floor-six-jobs",),
)

_EVALUATION: dict[str, Any] = {
    "id": "smd/evaluation",
    "paper": "SMD, Figs. 7 to 10",
    "bound": lambda facts: max(facts.baselines.values()),
    "relation": Relation.AT_LEAST,
    "facts": SmdFacts,
    "details": lambda facts: dict(facts.baselines),
    "sources": (TINY, INNER),
}

EVALUATION = Claim(
    variant=Variant.PRINTED,
    statement="SMD as evaluated (M = 1, eps = .01) is worth at least ESW and Optimus on every instance",
    quantity="SMD's utility, against the better baseline's",
    measure=lambda facts: facts.evaluated.utility,
    expectation=Expectation.FALSE,
    schedule=lambda facts: facts.evaluated.schedule,
    counterexamples=("smd-evaluation-lost-job",),
    **_EVALUATION,
)

EVALUATION_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="SMD with exact inner and outer steps is worth at least ESW and Optimus on every instance",
    quantity="SMD's utility, against the better baseline's",
    measure=lambda facts: facts.exact.utility,
    expectation=Expectation.TRUE,
    schedule=lambda facts: facts.exact.schedule,
    golden=("smd-evaluation-corrected-lost-job",),
    **_EVALUATION,
)

CLAIMS = (DECOMPOSITION, SCHEME, SCHEME_CORRECTED, FLOOR, EVALUATION, EVALUATION_CORRECTED)
