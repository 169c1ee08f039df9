"""The outer problem: the decomposition, the knapsack scheme, and that exact steps are worth the most."""

from __future__ import annotations

from fractions import Fraction

from dlsched.algorithms import solve_knapsack
from dlsched.algorithms.exact.result import Proof
from dlsched.algorithms.exact.smd.rationals import joint
from dlsched.algorithms.knapsack import Method, Selection, TooManyProgramsError
from dlsched.bounds.claim import Expectation, Undecided, always, stated
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.evidence import rests_on
from dlsched.bounds.facts import optimal_schedule, solved
from dlsched.bounds.optima import exactly, relaxed_optima
from dlsched.bounds.shown import shown
from dlsched.bounds.smd.facts import ACCEPTS_ONE, FALLING, FINE, SMD, SmdFacts
from dlsched.bounds.smd.sources import EQUAL_VALUE, FILLED, INNER, KNAPSACK, TINY
from dlsched.models.smd import points

EPSILON = Fraction(1, 2)
"""eps_2 where the scheme's guarantee is checked. Arbitrary: k = R then, and the programs are few."""

_ALL_SUBSETS = Fraction(1, 2**20)
"""eps_2 at which k is the number of jobs, whatever it is: all subsets S. Arbitrary: far below R/I."""

MAX_JOINT = 5_000
"""Points of all jobs that a verdict solves jointly, at most. Arbitrary: limits count work and not seconds, so that
verdicts are the same everywhere."""


def _joint(facts: SmdFacts) -> float:
    """Return the optimum over all jobs and points together, by a program that knows nothing of the decomposition."""
    count = sum(len(points(job)) for job in facts.instance.jobs)
    if count > MAX_JOINT:
        raise Undecided(f"{count} points of all jobs; {MAX_JOINT} are solved jointly")
    return shown(lambda: joint(facts.instance), lambda: solved("smd/milp", facts.instance)).told()


DECOMPOSITION = SMD.printed(
    "smd/decomposition",
    paper="SMD, Section IV, step 1",
    statement="Problem (1) splits into an inner problem for each job and a knapsack problem, since (2) packs limits",
    quantity="the optimum over all jobs and points together, against the knapsack over each job's best point",
    measure=_joint,
    relation=Relation.EQUAL,
    bound=lambda facts: facts.opt,
    expectation=Expectation.TRUE,
    premises=(FALLING,),
    schedule=optimal_schedule,
    sources=(TINY,),
    golden=tuple(f"smd-decomposition-S{k}" for k in range(1, 8)),
)


def selection(facts: SmdFacts, method: Method, epsilon: Fraction = EPSILON) -> Selection:
    """Return what a method takes on (16), at the exact utilities of the inner problems."""
    best = facts.best_points
    resources = facts.instance.resources
    try:
        return solve_knapsack(
            [point.utility for point in best.values()],
            [[facts.instance.job(name).limit_of(r) for r in resources] for name in best],
            [facts.instance.capacity_of(r) for r in resources],
            method=method,
            epsilon=epsilon,
        )
    except TooManyProgramsError as error:
        raise Undecided(str(error)) from None


def _part(facts: SmdFacts, method: Method, epsilon: Fraction = EPSILON) -> Interval:
    """Return the value of a method on (16) over OPT."""
    value = float(selection(facts, method, epsilon).value)
    return Interval(value / facts.opt.high, value / facts.opt.low)


def _floor(facts: SmdFacts) -> Interval:
    """Return what the basic optima of LP(empty) that are looked at are worth, rounded down, over OPT."""
    jobs = {name: point.utility for name, point in facts.best_points.items() if point.utility}
    one, values = Fraction(1), tuple(jobs.values())
    cover, needs = [], []
    for r in facts.instance.resources:
        row = tuple(facts.instance.job(name).limit_of(r) for name in jobs)
        if (excess := sum(row, Fraction(0)) - facts.instance.capacity_of(r)) > 0:
            cover.append(row)
            needs.append(excess)
    # Of what is left out, 1 - x, it is the least that makes up for what all jobs reserve beyond the capacity.
    whole = [tuple(Fraction(i == j) for j in range(len(values))) for i in range(len(values))]
    optima = exactly(lambda: relaxed_optima(values, cover, tuple(needs), whole, (one,) * len(values)))
    rests_on(Proof.EXACT)
    worth = [float(sum((u for u, out in zip(values, left, strict=True) if not out), Fraction(0))) for left in optima]
    return Interval(min(worth) / facts.opt.high, max(worth) / facts.opt.low)


SCHEME = SMD.printed(
    "smd/knapsack-scheme",
    paper="SMD, Section IV, step 3",
    statement="the best of LP(S) over all S, rounded down, is an eps_2-approximation: worth 1 - eps_2 of the optimum",
    quantity="the value of the scheme with all 2^I sets S over OPT, against 1 - eps_2 = .99",
    measure=lambda facts: _part(facts, Method.SCHEME, _ALL_SUBSETS),
    relation=Relation.AT_LEAST,
    bound=always(1 - FINE),
    expectation=Expectation.TRUE,
    premises=(ACCEPTS_ONE,),
    sources=(KNAPSACK, TINY, EQUAL_VALUE, FILLED),
    golden=("smd-knapsack-scheme-six-jobs",),
)

SCHEME_CORRECTED = SCHEME.corrected(
    statement="with |S| <= k = min(I, ceil(R (1 - eps_2)/eps_2)) the scheme is worth at least 1 - eps_2 of the optimum",
    quantity="the value of the scheme at eps_2 = 1/2 over OPT, against 1 - eps_2",
    measure=lambda facts: _part(facts, Method.SCHEME),
    bound=always(1 - EPSILON),
    golden=("smd-knapsack-scheme-corrected-three-jobs", "smd-knapsack-scheme-corrected-two-halves"),
)

FLOOR = SMD.derived(
    "smd/knapsack-floor",
    paper="SMD, Section IV, step 3",
    statement="x and its rounding down differ little, since R is small: LP(empty) rounded down is worth half of OPT",
    quantity="the value of LP(empty), rounded down, over OPT, against 1/2",
    measure=_floor,
    relation=Relation.AT_LEAST,
    bound=always(EPSILON),
    expectation=Expectation.FALSE,
    premises=(ACCEPTS_ONE,),
    open="which basic solution is rounded down, where LP(empty) has several",
    schedule=optimal_schedule,
    sources=(KNAPSACK, TINY),
    counterexamples=("smd-knapsack-floor-three-jobs",),
    golden=("smd-knapsack-floor-six-jobs",),
)

DOMINANCE = SMD.derived(
    "smd/exact-dominates",
    paper="SMD, Section V, Figs. 7 to 10, on every instance",
    statement="SMD with exact inner and outer steps is worth at least ESW and Optimus on every instance",
    quantity="the utility of SMD with exact steps, against the better baseline's",
    measure=lambda facts: facts.exact.utility,
    relation=Relation.AT_LEAST,
    bound=lambda facts: max(facts.baselines.values()),
    worst=always(0),
    expectation=Expectation.TRUE,
    details=lambda facts: dict(facts.baselines),
    schedule=lambda facts: facts.exact.schedule,
    sources=(TINY, INNER),
    golden=("smd-exact-dominates-lost-job",),
)

CLAIMS = stated(globals())
