"""The inner problem: its sum of ratios, Algorithm 1's guarantee, and what rounding costs and breaks.

All probabilities are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise
from typing import Any

from dlsched import relaxations
from dlsched.arithmetic import exact_power
from dlsched.bounds.claim import Expectation, Premise, Subject, always, stated
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.facts import refused_otherwise
from dlsched.bounds.smd.facts import (
    ACCEPTS_ONE,
    FALLING,
    GRID,
    ROUNDED,
    RUNNING,
    SMD,
    GridFacts,
    Rounding,
    RoundingFacts,
    SmdFacts,
)
from dlsched.bounds.smd.packing import Balance, BalanceFacts, Packing, PackingFacts
from dlsched.bounds.smd.sources import BALANCE, DEADLINE, INNER, NARROW, PACKING, SECTION_V, TINY
from dlsched.models.smd import Job, ratios
from dlsched.tolerances import NEAR_WHOLE


def _vanishing(job: Job, least: float) -> int:
    """Return how many ratios of (12) have a numerator or a denominator that is 0 where w = p = least."""
    sides = (
        (float(side.sum()) * least + constant)
        for ratio in ratios(job).ratios
        for side, constant in (
            (ratio.numerator, ratio.numerator_constant),
            (ratio.denominator, ratio.denominator_constant),
        )
    )
    return sum(value <= 0 for value in sides)


def _most_vanishing(facts: SmdFacts, least: float) -> int:
    return max(_vanishing(job, least) for job in facts.running)


DENOMINATORS = SMD.printed(
    "smd/positive-denominators",
    paper="SMD, Section IV, below (12)",
    statement="all numerators and denominators of (12) are positive on Omega = {A x <= C, x >= 0}",
    quantity="numerators and denominators that vanish somewhere on Omega, against 0",
    measure=lambda facts: _most_vanishing(facts, 0.0),
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(RUNNING,),
    sources=(TINY,),
    counterexamples=("smd-positive-denominators-S3",),
)

DENOMINATORS_CORRECTED = DENOMINATORS.corrected(
    statement=(
        "all numerators and denominators of (12) are positive on {A x <= C, x >= 1}, without the ratios that are "
        "identically 0"
    ),
    measure=lambda facts: _most_vanishing(facts, 1.0),
    golden=("smd-positive-denominators-corrected-S1",),
)


def _overshoot(found: relaxations.SumOfRatios) -> float:
    """Return the greatest phi_j over the last step of ratio j's grid."""
    gridded = [j for j in range(len(found.lower)) if j != found.last]
    return max((float(found.upper[j] / grid[-1]) for j, grid in zip(gridded, found.grids, strict=True)), default=1.0)


def _greatest_overshoot(facts: GridFacts) -> float:
    return max(_overshoot(found) for found in facts.grids["printed"].values())


GRID_COVERS = GRID.printed(
    "smd/grid-covers",
    paper="SMD, Section IV, Step 2.1",
    statement="each point chi of the box has a grid point nu with nu_j <= chi_j <= (1 + eps) nu_j",
    quantity="the greatest phi_j over the last step of its grid, against 1 + eps",
    measure=_greatest_overshoot,
    relation=Relation.AT_MOST,
    bound=lambda facts: 1 + facts.epsilon,
    expectation=Expectation.TRUE,
    premises=(RUNNING,),
    sources=(INNER,),
    golden=("smd-grid-covers-S2",),
)


def _worst(facts: GridFacts, variant: str) -> Interval:
    """Return the least time over the time at Algorithm 1's point, of the worst job; 0 where there is no point.

    The least time is that of `dlsched.bounds.smd.least`, which shares nothing with Algorithm 1: a bound of the finest
    grid would suppose what is claimed.
    """
    values = [(facts.grids[variant][job.name].value, facts.least_time(job)) for job in facts.running]
    return Interval(
        min(least.low / value if value else 1.0 for value, least in values),
        min(least.high / value if value else 1.0 for value, least in values),
    )


def _points(facts: GridFacts) -> dict[str, Any]:
    return {
        variant: {
            name: {
                "points": r.points,
                "feasible": r.feasible,
                "cost": r.cost if r.feasible else None,
                "x": None if r.x is None else r.x.tolist(),
            }
            for name, r in found.items()
        }
        for variant, found in facts.grids.items()
    }


ALGORITHM_1 = GRID.printed(
    "smd/algorithm-1",
    paper="SMD, Section IV, Algorithm 1",
    statement="Algorithm 1 is an eps-approximation of the continuous inner problem",
    quantity="the least time of the continuous relaxation over the time at Algorithm 1's point, against 1/(1 + eps)",
    measure=lambda facts: _worst(facts, "printed"),
    relation=Relation.AT_LEAST,
    bound=lambda facts: 1 / (1 + facts.epsilon),
    expectation=Expectation.FALSE,
    premises=(RUNNING,),
    open=(
        'how (9) and (10) are split into ratios ("four and three" summands): into three here, theta_1 w + theta_2 p + '
        "theta_3, w/p and 1/w, or (theta_2 p + theta_3)/w and 1/p; the first witness has no point with four either; "
        "the domain: w, p >= 1, as on x >= 0, which (12) has, w/p and 1/w have no maximum phi_j"
    ),
    details=_points,
    sources=(INNER,),
    counterexamples=("smd-algorithm-1-any-split", "smd-algorithm-1-no-point", "smd-algorithm-1-bad-point"),
    golden=("smd-algorithm-1-S2",),
)

ALGORITHM_1_CORRECTED = ALGORITHM_1.corrected(
    statement="with phi_j as the last step of each grid, Algorithm 1 is an eps-approximation",
    measure=lambda facts: _worst(facts, "corrected"),
    golden=("smd-algorithm-1-corrected-no-point", "smd-algorithm-1-corrected-bad-point"),
)


def _cheap(facts: RoundingFacts, rounding: Rounding) -> Fraction:
    """Return the probability that one of F rounds costs at most (24/M + 4)/delta times what x~ costs."""
    return 1 - exact_power(1 - _cheap_once(facts, rounding), facts.rounds)


def _cheap_at_last(facts: RoundingFacts, rounding: Rounding) -> Fraction:
    """Return the same of the first feasible point of all rounds."""
    feasible = rounding.probability(rounding.feasible)
    return _cheap_once(facts, rounding) / feasible if feasible else Fraction(0)


def _cheap_once(facts: RoundingFacts, rounding: Rounding) -> Fraction:
    factor = facts.factor(rounding.gain)
    return rounding.probability(lambda w, p: rounding.feasible(w, p) and rounding.cost(w, p) <= factor)


def _laws(facts: RoundingFacts) -> dict[str, Any]:
    return {
        r.job.name: {"x": list(r.x), "gain": r.gain, "outcomes": [[*point, str(p)] for point, p in r.outcomes]}
        for r in facts.roundings
    }


def _shifted(facts: RoundingFacts) -> float:
    """Return how near 1 + M (x~ - 1), rounded, comes to what is promised of its cost and of the rows, at the worst."""
    worst = 0.0
    for rounding in facts.roundings:
        shifted = rounding.shifted(facts.delta)
        worst = max(worst, shifted.dearest(rounding.time), shifted.breaks)
    return worst


_SURELY = (
    "rounding 1 + M (x~ - 1), surely w, p >= 1 and the cost is at most 4/M times that of x~, and Pr{(B x^)_i > b_i} <= "
    "delta/(2r) for each i, M from W (ln(1/M) - 1 + M) = ln(2r/delta) and W the least (b - B 1)_i/B_ij"
)
_SHIFTED = (
    "the greatest cost of an outcome over 4/M times that of x~, or probability that a row breaks over delta/(2r), "
    "against 1"
)

_ROUNDED_PROBLEM = "Section IV, below Algorithm 1: the problem that is rounded"

LEMMA_3 = Subject(problem="smd", instance=Balance, facts=BalanceFacts, sources=(BALANCE,)).printed(
    "smd/lemma-3",
    paper="SMD, Section IV-A, Lemma 3",
    statement="with probability above 1 - delta, the cost is at most (8L/M + 4)/delta times that of x~",
    quantity=(
        "the probability of such a cost of theta r + phi/r, r = (w + e p)/(e w + p) and 0/0 counted as 0, against "
        "1 - delta"
    ),
    measure=lambda facts: facts.cheap,
    relation=Relation.AT_LEAST,
    bound=lambda facts: 1 - facts.instance.delta,
    expectation=Expectation.FALSE,
    premises=(
        Premise("B, b, a_l, d_l, c >= 0", refused_otherwise, _ROUNDED_PROBLEM),
        Premise("x~ is a fractional optimum", lambda facts: facts.optimal, "Section IV, below Algorithm 1"),
    ),
    open="what 0/0 is worth where x is rounded to 0",
    details=lambda facts: facts.dump(),
    counterexamples=("smd-lemma-3-positive-denominators", "smd-lemma-3-one-worker-one-server"),
    golden=("smd-lemma-3-roomy",),
)

LEMMA_3_CORRECTED = LEMMA_3.corrected(
    statement=_SURELY,
    quantity=_SHIFTED,
    measure=lambda facts: max(facts.shifted.dearest(facts.cost), facts.shifted.breaks),
    relation=Relation.AT_MOST,
    bound=always(1),
    premises=(Premise("x~ >= 1", lambda facts: min(facts.instance.point) >= 1),),
    golden=("smd-lemma-3-corrected-one-worker-one-server",),
)

LETTER = (
    'how often Algorithm 2 rounds: on the letter of step 3, "infeasible or cnt < F", until a point is feasible, which '
    "is measured here; F times where it is to take the time of Theorem 6"
)

_DOMAIN = (
    "the domain of the relaxation: w, p >= 1 here, which is (8) without integrality; (12) prints x >= 0, on which it "
    "is another claim, {}, and false"
)

BY_TIME = (
    "what is approximated: the sentence above the theorem compares utilities, Theorem 5 takes times of it, and times "
    "are compared here; of utilities it is smd/theorem-4-utility, and false"
)

THEOREM_4 = ROUNDED.printed(
    "smd/theorem-4",
    paper="SMD, Section IV-A, Theorem 4",
    statement="with probability above 1 - delta, Algorithm 2 has an approximation ratio of at most (24/M + 4)/delta",
    quantity="the least probability of such a time over the jobs, of the first feasible point, against 1 - delta",
    measure=lambda facts: min(_cheap_at_last(facts, r) for r in facts.roundings),
    relation=Relation.AT_LEAST,
    bound=lambda facts: 1 - facts.delta,
    expectation=Expectation.TRUE,
    premises=(RUNNING,),
    open=f"{_DOMAIN.format('smd/theorem-4-omega')}; {BY_TIME}; {LETTER}",
    details=_laws,
    sources=(NARROW, TINY, INNER),
    golden=("smd-theorem-4-four-resources",),
)


def _enough(facts: RoundingFacts) -> float:
    """Return OPT over (24/M + 4)/delta, M the least of the jobs'."""
    return facts.opt.low / max(facts.factor(r.gain) for r in facts.roundings)


THEOREM_4_UTILITY = THEOREM_4.derived(
    "smd/theorem-4-utility",
    paper="SMD, Section IV-A, Theorem 4, by the sentence above it",
    statement="with probability above 1 - delta, OPT is at most (24/M + 4)/delta times the overall utility",
    quantity=(
        "the exact probability that rounding until a point is feasible gives a solution worth OPT over that, M the "
        "least of the jobs', against 1 - delta"
    ),
    measure=lambda facts: facts.chance_of_worth(_enough(facts), None),
    expectation=Expectation.FALSE,
    premises=(FALLING, RUNNING, ACCEPTS_ONE),
    open=LETTER,
    sources=(DEADLINE, SECTION_V),
    counterexamples=("smd-theorem-4-utility-deadline",),
)

THEOREM_4_ONE = THEOREM_4.derived(
    "smd/theorem-4-one-round",
    paper="SMD, Section IV-A, Theorem 4, with the F rounds of Theorem 6",
    statement=(
        "where Algorithm 2 rounds F = 1 times in all, with probability above 1 - delta it has an approximation ratio "
        "of at most (24/M + 4)/delta"
    ),
    quantity="the least probability of such a time in F rounds over the jobs, against 1 - delta",
    measure=lambda facts: min(_cheap(facts, r) for r in facts.roundings),
    expectation=Expectation.FALSE,
    sources=(NARROW,),
    counterexamples=("smd-theorem-4-one-round-four-resources",),
)

THEOREM_4_ONE_CORRECTED = THEOREM_4_ONE.corrected(
    statement=_SURELY,
    quantity=_SHIFTED,
    measure=_shifted,
    relation=Relation.AT_MOST,
    bound=always(1),
    sources=(INNER, TINY),
    golden=("smd-theorem-4-one-round-corrected-four-resources",),
)


def _rounded_down(facts: RoundingFacts) -> float:
    """Return the greatest time at x~ rounded down over that at x~; a point that breaks a limit takes for ever."""
    worst = 0.0
    for rounding in facts.roundings:
        workers, servers = (math.floor(x * (1 + NEAR_WHOLE)) for x in rounding.x)
        fits = rounding.feasible(workers, servers)
        worst = max(worst, rounding.cost(workers, servers) if fits else math.inf)
    return worst


ROUNDING_DOWN = ROUNDED.derived(
    "smd/rounding-down",
    paper="SMD, Section IV-A, Theorem 4, without chance",
    statement="x~ rounded down keeps the limits and takes at most twice the time of x~",
    quantity="the greatest time at x~ rounded down over that at x~, against 2",
    measure=_rounded_down,
    relation=Relation.AT_MOST,
    bound=always(2),
    expectation=Expectation.TRUE,
    premises=(RUNNING,),
    sources=(NARROW, TINY, INNER),
)


def _breaks_a_row(rounding: Rounding) -> Fraction:
    """Return the greatest probability that a row of (7) breaks."""
    job = rounding.job

    def over(r: str) -> Fraction:
        needs, limit = (job.worker_needs(r), job.server_needs(r)), job.limit_of(r)
        return rounding.probability(lambda w, p: needs[0] * w + needs[1] * p > limit)

    return max(map(over, job.resources), default=Fraction(0))


STEP_2 = "what x^ is: here one rounding, step 2 of Algorithm 2; to the letter step 3 returns none that breaks a row"

THEOREM_4_ROW = ROUNDED.printed(
    "smd/theorem-4-row",
    paper="SMD, Section IV-A, Theorem 4",
    statement="Pr{LHS of (7) > v^r} <= delta/8 for each resource (in fact no rounding breaks a limit)",
    quantity="the greatest probability that a row of (7) breaks, against delta/8",
    measure=lambda facts: max(map(_breaks_a_row, facts.roundings)),
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.delta / 8,
    expectation=Expectation.TRUE,
    premises=(RUNNING,),
    open=f"{_DOMAIN.format('smd/theorem-4-row-omega')}; {STEP_2}",
    sources=(NARROW, TINY, INNER),
)


def _shrunk(rounding: Rounding) -> float:
    """Return the time at M x~ over that at x~."""
    w, p = (rounding.gain * x for x in rounding.x)
    return rounding.time(w, p) / rounding.relaxed_time


THEOREM_4_FORM = ROUNDED.printed(
    "smd/theorem-4-form",
    paper="SMD, Section IV-A, above Theorem 4",
    statement=(
        "Theorem 4 follows by specialising Lemma 3 to (6): (9) and (10) are of its form sum_l a_l'x/d_l'x + c'x, which "
        "costs no more at M x than at x"
    ),
    quantity="the greatest time at M x~ over that at x~ of a job, against 1",
    measure=lambda facts: max(map(_shrunk, facts.roundings)),
    relation=Relation.AT_MOST,
    bound=always(1),
    expectation=Expectation.FALSE,
    premises=(RUNNING,),
    sources=(NARROW,),
    counterexamples=("smd-theorem-4-form-one-resource",),
)


def _gains(facts: PackingFacts) -> dict[str, Any]:
    return {"printed gain": facts.printed.gain, "exact gain": facts.exact_gain}


ROWS = Subject[Packing, PackingFacts](
    problem="smd",
    instance=Packing,
    facts=PackingFacts,
    details=_gains,
    sources=(PACKING,),
    premises=(
        Premise("B, b >= 0", refused_otherwise, _ROUNDED_PROBLEM),
        Premise(
            "x~ is a fractional optimum of some cost with a_l, d_l, c >= 0",
            lambda facts: facts.optimal_for_some_cost,
            "Section IV, below Algorithm 1",
        ),
    ),
)
"""What claims about the rows of any packing program are about."""

SOME_ROW = ROWS.printed(
    "smd/lemma-3-some-row",
    paper="SMD, Section IV-A, Lemma 3",
    statement="at M_delta, Pr{(B x^)_i > b_i, exists i} <= delta/(2r)",
    quantity="the probability that some row breaks over delta/(2r), against 1",
    measure=lambda facts: facts.printed.some / facts.promise,
    relation=Relation.AT_MOST,
    bound=always(1),
    expectation=Expectation.FALSE,
    open=STEP_2,
    counterexamples=("smd-lemma-3-some-row-halves", "smd-lemma-3-some-row-hundred-copies"),
)

SOME_ROW_CORRECTED = SOME_ROW.corrected(
    statement="with M from W_b (ln(1/M) - 1 + M) = ln(2r/delta), Pr{(B x^)_i > b_i, exists i} <= delta/2",
    quantity="the probability that some row breaks over delta/2, against 1",
    measure=lambda facts: facts.corrected.some / (facts.instance.delta / 2),
    golden=("smd-lemma-3-some-row-corrected-hundred-copies",),
)

ROW = ROWS.derived(
    "smd/lemma-3-row",
    paper="SMD, Section IV-A, Lemma 3, of each row for itself as in Theorem 4",
    statement="at M_delta, Pr{(B x^)_i > b_i} <= delta/(2r) for each i",
    quantity="the greatest probability that a row breaks over delta/(2r), against 1",
    measure=lambda facts: max(facts.printed.rows) / facts.promise,
    relation=Relation.AT_MOST,
    bound=always(1),
    expectation=Expectation.FALSE,
    open=STEP_2,
    counterexamples=("smd-lemma-3-row-halves", "smd-lemma-3-row-ten-coordinates"),
)

ROW_CORRECTED = ROW.corrected(
    statement="with M from W_b (ln(1/M) - 1 + M) = ln(2r/delta), Pr{(B x^)_i > b_i} <= delta/(2r) for each i",
    measure=lambda facts: max(facts.corrected.rows) / facts.promise,
    golden=("smd-lemma-3-row-corrected-halves",),
)


def _gain(facts: RoundingFacts, delta: float) -> float:
    """Return the greatest M_delta of the jobs."""
    return max(facts.gain(job, delta) for job in facts.running)


GAIN = ROUNDED.printed(
    "smd/gain-increases",
    paper="SMD, Section IV-A, below Lemma 3",
    statement="M_delta increases as delta increases",
    quantity="M at delta, against M at (1 + delta)/2",
    measure=lambda facts: _gain(facts, facts.delta),
    relation=Relation.AT_MOST,
    bound=lambda facts: _gain(facts, (1 + facts.delta) / 2),
    expectation=Expectation.TRUE,
    premises=(
        RUNNING,
        Premise(
            "some row bounds a job", lambda facts: any(job.resources for job in facts.running), "Lemma 3: W_b is finite"
        ),
    ),
    sources=(TINY,),
    golden=("smd-gain-increases-S1",),
)

_GAINS = tuple(Fraction(tenths, 10) for tenths in range(1, 11))
"""At which chances are compared. Arbitrary: the text speaks of every M in (0, 1]."""


def _chances(facts: RoundingFacts, good: Callable[[Rounding, int, int], bool]) -> Iterator[tuple[Fraction, ...]]:
    """Yield, of each job, the probability that a rounding of M x~ is good at each of `_GAINS`."""
    for rounding in facts.roundings:
        laws = [Rounding.of(rounding.job, rounding.x, float(gain)) for gain in _GAINS]
        yield tuple(law.probability(partial(good, rounding)) for law in laws)


def _fall_of_violations(facts: RoundingFacts) -> Fraction:
    """Return by how much the probability that some limit breaks falls from a gain to a greater one, at most."""
    keeps = _chances(facts, lambda rounding, w, p: rounding.job.fits(w, p))
    return max(after - before for chances in keeps for before, after in pairwise(chances))


def _fewer_attempts(facts: RoundingFacts) -> float:
    """Return how many times as many attempts a gain takes as a greater one, at most."""
    worst = 0.0
    for chances in _chances(facts, Rounding.feasible):
        for before, after in combinations(chances, 2):
            if after:
                worst = max(worst, float(after / before) if before else math.inf)
    return worst


VIOLATIONS = ROUNDED.printed(
    "smd/violation-increases",
    paper="SMD, Section V, on M_delta",
    statement="as M_delta becomes larger, the probability of violating the packing constraints (7) increases",
    quantity="the greatest fall, from M to a greater M, of the probability that some limit breaks, against 0",
    measure=_fall_of_violations,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.TRUE,
    premises=(RUNNING,),
    open='"increases": is no less, as where no limit can break it stays 0',
    sources=(NARROW, TINY, INNER),
)

ATTEMPTS = VIOLATIONS.derived(
    "smd/attempts",
    paper="SMD, Section V, on M_delta, with (8)",
    statement=(
        "as M_delta becomes larger, more rounding attempts are needed to obtain an integer feasible solution of (6)"
    ),
    quantity="the attempts expected at M over those at a greater M, until a point keeps (7) and (8), against 1",
    measure=_fewer_attempts,
    bound=always(1),
    expectation=Expectation.FALSE,
    open="what a feasible solution is: (6) has (8), a worker and a server; of (7) alone it is smd/violation-increases",
    counterexamples=("smd-attempts-four-resources",),
)

CLAIMS = stated(globals())
