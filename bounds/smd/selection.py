"""The outer problem: the decomposition, the knapsack scheme, and SMD against its baselines."""

from __future__ import annotations

from fractions import Fraction

from dlsched.algorithms import solve_knapsack
from dlsched.algorithms.knapsack import Method, TooManyProgramsError
from dlsched.bounds.claim import Expectation, Undecided, always, stated
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.facts import OPT_POSITIVE, optimal_schedule
from dlsched.bounds.smd.facts import SMD, SmdFacts
from dlsched.bounds.smd.sources import EQUAL_VALUE, INNER, KNAPSACK, TINY
from dlsched.models.catalog import build
from dlsched.models.smd import points
from dlsched.models.solve import solve
from dlsched.solvers.solution import Status

EPSILON = Fraction(1, 2)
"""eps_2 where the scheme's guarantee is checked. Arbitrary: k = R then, and the programs are few."""

MAX_JOINT = 5_000
"""Points of all jobs that a verdict solves jointly, at most. Arbitrary: limits count work and not seconds, so that
verdicts are the same everywhere."""


def _joint(facts: SmdFacts) -> Interval:
    """Return the optimum over all jobs and points together, by a program that knows nothing of the decomposition."""
    count = sum(len(points(job)) for job in facts.instance.jobs)
    if count > MAX_JOINT:
        raise Undecided(f"{count} points of all jobs; {MAX_JOINT} are solved jointly")
    solution = solve(build("smd/milp", facts.instance))
    if solution.status is not Status.OPTIMAL or solution.objective is None or solution.bound is None:
        raise Undecided("the joint program is not solved")
    return Interval(solution.objective, max(solution.objective, solution.bound))


DECOMPOSITION = SMD.printed(
    "smd/decomposition",
    paper="SMD, Section IV, step 1",
    statement="Problem (1) splits into an inner problem for each job and a knapsack problem, since (2) packs limits",
    quantity="the optimum over all jobs and points together, against the knapsack over each job's best point",
    measure=_joint,
    relation=Relation.EQUAL,
    bound=lambda facts: facts.opt,
    expectation=Expectation.TRUE,
    schedule=optimal_schedule,
    sources=(TINY,),
    golden=tuple(f"smd-decomposition-S{k}" for k in range(1, 8)),
)


def _part(facts: SmdFacts, method: Method, epsilon: Fraction = EPSILON) -> Interval:
    """Return the value of a method on (16), at the exact utilities of the inner problems, over OPT."""
    best = facts.best_points
    resources = facts.instance.resources
    try:
        selection = solve_knapsack(
            [point.utility for point in best.values()],
            [[facts.instance.job(name).limit_of(r) for r in resources] for name in best],
            [facts.instance.capacity_of(r) for r in resources],
            method=method,
            epsilon=epsilon,
        )
    except TooManyProgramsError as error:
        raise Undecided(str(error)) from None
    value = float(selection.value)
    return Interval(value / facts.opt.high, value / facts.opt.low)


SCHEME = SMD.printed(
    "smd/knapsack-scheme",
    paper="SMD, Section IV, step 3",
    statement="the best of LP(S) over all S, rounded down, is optimal: some S is the optimum itself (2^I programs)",
    quantity="the value of the scheme with k = I over OPT, against 1",
    measure=lambda facts: _part(facts, Method.SCHEME, Fraction(1, 10**6)),
    relation=Relation.AT_LEAST,
    bound=always(1),
    expectation=Expectation.TRUE,
    premises=(OPT_POSITIVE,),
    sources=(KNAPSACK, TINY, EQUAL_VALUE),
    golden=("smd-knapsack-scheme-six-jobs",),
)

SCHEME_CORRECTED = SCHEME.corrected(
    statement="with |S| <= k = min(I, ceil(R (1 - eps)/eps)) the scheme is worth at least (1 - eps) OPT",
    quantity="the value of the scheme at eps = 1/2 over OPT, against 1 - eps",
    measure=lambda facts: _part(facts, Method.SCHEME),
    bound=always(1 - EPSILON),
    golden=("smd-knapsack-scheme-corrected-three-jobs",),
)

FLOOR = SMD.derived(
    "smd/knapsack-floor",
    paper="SMD, Section IV, step 3",
    statement="x and its rounding down differ little, since R is small: LP(empty) rounded down is worth half of OPT",
    quantity="the value of LP(empty), rounded down, over OPT, against 1/2",
    measure=lambda facts: _part(facts, Method.LP_FLOOR),
    relation=Relation.AT_LEAST,
    bound=always(EPSILON),
    expectation=Expectation.FALSE,
    premises=(OPT_POSITIVE,),
    schedule=optimal_schedule,
    sources=(KNAPSACK, TINY),
    counterexamples=("smd-knapsack-floor-three-jobs",),
    golden=("smd-knapsack-floor-six-jobs",),
)

EVALUATION = SMD.printed(
    "smd/evaluation",
    paper="SMD, Figs. 7 to 10",
    statement="SMD as evaluated (M = 1, eps = .01) is worth at least ESW and Optimus on every instance",
    quantity="SMD's utility, against the better baseline's",
    measure=lambda facts: facts.evaluated.utility,
    relation=Relation.AT_LEAST,
    bound=lambda facts: max(facts.baselines.values()),
    expectation=Expectation.FALSE,
    details=lambda facts: dict(facts.baselines),
    schedule=lambda facts: facts.evaluated.schedule,
    sources=(TINY, INNER),
    counterexamples=("smd-evaluation-lost-job",),
)

EVALUATION_CORRECTED = EVALUATION.corrected(
    statement="SMD with exact inner and outer steps is worth at least ESW and Optimus on every instance",
    measure=lambda facts: facts.exact.utility,
    schedule=lambda facts: facts.exact.schedule,
    golden=("smd-evaluation-corrected-lost-job",),
)

CLAIMS = stated(globals())
