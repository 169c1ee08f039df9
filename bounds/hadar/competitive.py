"""Theorem 2 and what its proof rests on: Lemmas 1 and 2, dual feasibility, and the initial dual value (9)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dlsched.bounds.claim import Expectation, Premise, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.facts import OPT_POSITIVE, final_dual_large, initial_dual_small, optimal_schedule
from dlsched.bounds.hadar.facts import (
    ACCEPTS_ONE,
    BELOW_CAPACITY,
    EACH_FINISHES,
    HADAR,
    NOT_INCREASING,
    OPT_OPEN,
    SOME_ADMITTED,
    UMIN_POSITIVE,
    HadarFacts,
)
from dlsched.bounds.hadar.sources import LONE, MIXED, PAIRS, PATIENT, RISING, ROOMY, SCATTERED, TINY

SMALL = (TINY, RISING, PATIENT, ROOMY, SCATTERED)
EVERYWHERE = (*SMALL, MIXED)


def _printed(facts: HadarFacts) -> dict[str, Any]:
    """Return what explains a verdict on the run with printed prices against the optimum."""
    return facts.explain(facts.printed.dump())


def _corrected(facts: HadarFacts) -> dict[str, Any]:
    """Return the same of the run with corrected prices."""
    return facts.explain(facts.corrected.dump())


def _twice_alpha(facts: HadarFacts, alg: float) -> float:
    """Return 2 alpha ALG; infinite, so that it says nothing, where Umin = 0."""
    alpha = facts.printed.constants.alpha
    return 2 * alpha * alg if math.isfinite(alpha) else math.inf


def _of_commitment(facts: HadarFacts) -> float:
    return _twice_alpha(facts, facts.printed.run.utility)


def _of_rounds(facts: HadarFacts) -> float:
    return _twice_alpha(facts, facts.printed_rounds.utility)


def _of_payoff_rounds(facts: HadarFacts) -> float:
    return _twice_alpha(facts, facts.payoff_rounds.utility)


def _payoff_rounds_details(facts: HadarFacts) -> dict[str, Any]:
    return {"alg": facts.payoff_rounds.utility, "opt": facts.opt.low, "alpha": facts.printed.constants.alpha}


def _rounds_details(facts: HadarFacts) -> dict[str, Any]:
    return {"alg": facts.printed_rounds.utility, "opt": facts.opt.low}


def _four_thirds(facts: HadarFacts, alpha: float) -> float:
    """Return (4/3) alpha ALG, by OPT <= D_f <= OPT/4 + alpha ALG."""
    return 4 * alpha * facts.corrected.run.utility / 3


def _of_least_alpha(facts: HadarFacts) -> float:
    return 2 * facts.printed.least_alpha * facts.printed.run.utility


THEOREM_2 = HADAR.printed(
    "hadar/theorem-2",
    paper="Hadar, Section III-D, Theorem 2",
    statement="Hadar is 2 alpha-competitive, alpha = max_r(1, ln(Umax^r/Umin^r)): OPT <= 2 alpha ALG",
    quantity="OPT, against 2 alpha times the utility of committing at arrival with the printed prices",
    measure=lambda facts: facts.opt,
    relation=Relation.AT_MOST,
    bound=_of_commitment,
    expectation=Expectation.FALSE,
    premises=(NOT_INCREASING, ACCEPTS_ONE, BELOW_CAPACITY),
    open=(
        f"{OPT_OPEN}; w_j^r and M_j of (6) and (7) are not defined: read as W_j; 1/eta is only bounded from above: "
        "read as its bound; when jobs are decided on: at their arrival, as in the proof and in (1)-(4), or in each "
        "round anew, as in Algorithm 1 (hadar/theorem-2-payoff-rounds)"
    ),
    details=_printed,
    schedule=optimal_schedule,
    sources=(LONE, *EVERYWHERE),
    counterexamples=("hadar-theorem-2-staggered", "hadar-theorem-2-four-jobs", "hadar-theorem-2-lone-job"),
    golden=("hadar-theorem-2-H5", "hadar-theorem-2-H6", "hadar-theorem-2-worthless"),
)

THEOREM_2_CORRECTED = THEOREM_2.corrected(
    statement=(
        "With Umax = max_j U_j(0) for one device, reached once some gang may not fit, T in eta, exact best responses "
        "and jobs that cannot finish dropped: OPT <= (4/3) max(1, alpha) ALG, alpha the greatest c dk/(k_old dgamma) "
        "of the run (a certificate of that run)"
    ),
    quantity="OPT, against (4/3) max(1, alpha measured) times the utility of committing at arrival",
    bound=lambda facts: _four_thirds(facts, facts.corrected.alpha_measured),
    premises=(NOT_INCREASING, OPT_POSITIVE),
    details=_corrected,
    golden=("hadar-theorem-2-corrected-H5", "hadar-theorem-2-corrected-lone-job"),
)

THEOREM_2_A_PRIORI = THEOREM_2.derived(
    "hadar/theorem-2-a-priori",
    statement=(
        "With the prices of the corrected Theorem 2, OPT <= (4/3) alpha ALG for an alpha of the instance alone: the "
        "greatest of 1 and c ((Umax/Umin)^(w/s) - 1)/w, s the devices at which a price is Umax, w the most that a job "
        "takes, up to s"
    ),
    quantity="OPT, against (4/3) alpha times the utility of committing at arrival, alpha known before the run",
    bound=lambda facts: _four_thirds(facts, facts.corrected.alpha_possible),
    expectation=Expectation.TRUE,
    premises=(NOT_INCREASING, OPT_POSITIVE),
    details=_corrected,
    golden=("hadar-theorem-2-a-priori-lone-job", "hadar-theorem-2-a-priori-H5"),
)

THEOREM_2_ROUNDS = THEOREM_2.derived(
    "hadar/theorem-2-rounds",
    statement="Algorithms 1 and 2 to the letter, run round by round, are 2 alpha-competitive",
    quantity="OPT, against 2 alpha times the utility of the printed rounds; with positive prices they select nothing",
    bound=_of_rounds,
    open=OPT_OPEN,
    details=_rounds_details,
    sources=(TINY, RISING),
    counterexamples=("hadar-theorem-2-rounds-G4",),
)

THEOREM_2_PAYOFF_ROUNDS = THEOREM_2.derived(
    "hadar/theorem-2-payoff-rounds",
    statement=(
        "Algorithm 1, which decides in each round on the whole queue, is 2 alpha-competitive where Algorithm 2 takes "
        "the jobs of the greatest payoff together"
    ),
    quantity="OPT, against 2 alpha times the utility of such rounds with the printed prices",
    bound=_of_payoff_rounds,
    open=f"{OPT_OPEN}; Algorithm 2 as printed takes no job (hadar/theorem-2-rounds)",
    details=_payoff_rounds_details,
    sources=(TINY, PAIRS),
    counterexamples=("hadar-theorem-2-payoff-rounds-one-by-one", "hadar-theorem-2-payoff-rounds-pairs"),
)

LEMMA_1 = HADAR.printed(
    "hadar/lemma-1",
    paper="Hadar, Section III-D, Lemma 1",
    statement=(
        "If P_j - P_(j-1) >= (D_j - D_(j-1))/alpha for all jobs, P_0 = 0 and D_0 <= OPT/2, then OPT <= 2 alpha ALG "
        "(D_f, the value of a feasible point of P3, being at least OPT)"
    ),
    quantity="OPT, against 2 alpha ALG with the least alpha >= 1 of the run that the lemma allows",
    measure=lambda facts: facts.opt,
    relation=Relation.AT_MOST,
    bound=_of_least_alpha,
    expectation=Expectation.TRUE,
    premises=(
        NOT_INCREASING,
        ACCEPTS_ONE,
        Premise("the increments have some alpha", lambda facts: math.isfinite(facts.printed.least_alpha), "Lemma 1"),
        Premise(
            "D_0 <= OPT/2",
            lambda facts: initial_dual_small(facts.printed.constants.d0, facts.opt, unit=facts.unit),
            "Lemma 1",
        ),
        Premise(
            "D_f >= OPT",
            lambda facts: final_dual_large(facts.printed.final_dual, facts.opt, "D_f", unit=facts.unit),
            "Section III-D, proof of Theorem 2: D_f is a value of the dual P3",
        ),
    ),
    open=(
        f"{OPT_OPEN}; D_f >= OPT is none of the lemma's hypotheses: read into it, as D_j is the value of the dual P3 "
        "that Algorithm 1 returns, and weak duality is of feasible points; to the letter, with the three hypotheses "
        "alone, it is false, on hadar-dual-feasible-staggered, where 2 alpha ALG = 663.1 and OPT = 1001"
    ),
    details=_printed,
    schedule=optimal_schedule,
    sources=EVERYWHERE,
    golden=("hadar-lemma-1-H5",),
)

LEMMA_2 = HADAR.printed(
    "hadar/lemma-2",
    paper="Hadar, Section III-D, Lemma 2",
    statement="If the allocation-cost relationship holds for alpha >= 1, then P_j - P_(j-1) >= (D_j - D_(j-1))/alpha",
    quantity="greatest (D_j - D_(j-1))/(P_j - P_(j-1)), against the least alpha of the run for which it holds",
    measure=lambda facts: facts.printed.least_alpha,
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.printed.alpha_measured,
    expectation=Expectation.TRUE,
    premises=(NOT_INCREASING, SOME_ADMITTED, UMIN_POSITIVE),
    details=lambda facts: facts.printed.dump(),
    schedule=lambda facts: facts.printed.run.schedule,
    sources=EVERYWHERE,
    golden=("hadar-lemma-2-H2",),
)

DUAL_FEASIBLE = HADAR.printed(
    "hadar/dual-feasible",
    paper="Hadar, Section III-D, proof of Theorem 2",
    statement="D_f is the objective value of the dual P3 that Algorithm 1 returns, so that D_f >= OPT",
    quantity="D_f = sum_j mu_j + sum k c, against OPT",
    measure=lambda facts: facts.printed.final_dual,
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.opt,
    expectation=Expectation.FALSE,
    premises=(NOT_INCREASING, ACCEPTS_ONE, UMIN_POSITIVE, BELOW_CAPACITY),
    open=OPT_OPEN,
    details=_printed,
    schedule=optimal_schedule,
    sources=EVERYWHERE,
    counterexamples=("hadar-dual-feasible-staggered", "hadar-dual-feasible-three-devices"),
    golden=("hadar-dual-feasible-gap",),
)

DUAL_FEASIBLE_CORRECTED = DUAL_FEASIBLE.corrected(
    statement=(
        "with the prices of the corrected Theorem 2, the payoffs and final prices of a run are a feasible point of P3: "
        "D_f >= OPT"
    ),
    measure=lambda facts: facts.corrected.final_dual,
    premises=(NOT_INCREASING, OPT_POSITIVE),
    details=_corrected,
    golden=("hadar-dual-feasible-corrected-gap",),
)


INITIAL_DUAL = HADAR.printed(
    "hadar/initial-dual",
    paper="Hadar, Section III-D, (9)",
    statement="D_0 <= OPT/2 with 1/eta = min_j tmax_j W_j / (sum c)",
    quantity="D_0 = T sum_h sum_r c_h^r Umin^r, against OPT/2",
    measure=lambda facts: facts.printed.constants.d0,
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.opt.over(2),
    expectation=Expectation.FALSE,
    premises=(NOT_INCREASING, ACCEPTS_ONE),
    open=f"{OPT_OPEN}; 1/eta is only bounded from above, by min_j tmax_j W_j / (sum c): read as that",
    details=_printed,
    schedule=optimal_schedule,
    sources=EVERYWHERE,
    counterexamples=("hadar-initial-dual-two-devices", "hadar-initial-dual-H4"),
    golden=("hadar-initial-dual-H2",),
)

INITIAL_DUAL_CORRECTED = INITIAL_DUAL.corrected(
    statement=(
        "D_0 <= OPT/4 with 1/eta = min_j tmax_j W_j / (T sum c), jobs that cannot finish while worth something dropped "
        "from it and from (7), and in (7) U_j at the last slot at which it is positive in place of U_j(T - a_j)"
    ),
    quantity="D_0 = T sum_h sum_r c_h^r Umin^r, against OPT/4",
    measure=lambda facts: facts.corrected.constants.d0,
    bound=lambda facts: facts.opt.over(4),
    details=_corrected,
    golden=("hadar-initial-dual-corrected-H4",),
)


def _least_over_schedules(facts: HadarFacts) -> Fraction:
    """Return min over (j, s) of U_j(f_js - a_j)/(tmax_j W_j)."""
    return min(
        column.utility / (facts.printed.constants.tmax[name] * facts.instance.job(name).gang)
        for name, columns in facts.all_schedules.items()
        for column in columns
    )


def _least_at_horizon(facts: HadarFacts) -> Fraction:
    """Return min over j of U_j(T - a_j)/(tmax_j W_j)."""
    instance, tmax = facts.instance, facts.printed.constants.tmax
    return min(job.utility.exact(instance.slots - job.arrival) / (tmax[job.name] * job.gang) for job in instance.jobs)


_SOME_SCHEDULE = Premise[HadarFacts](
    "some job has a schedule",
    lambda facts: any(facts.all_schedules.values()),
    "Section III-D, below (9): OPT accepts a job",
)

ONE_OVER_FOUR_ETA = HADAR.printed(
    "hadar/one-over-four-eta",
    paper="Hadar, Section III-D, (9)",
    statement="Umin = (1/(4 eta)) min over (j, s) of U_j(f_js - a_j)/(tmax_j W_j), as the proof writes for (7)",
    quantity="min over (j, s) of U_j(f_js - a_j)/(tmax_j W_j), against min over j of U_j(T - a_j)/(tmax_j W_j)",
    measure=_least_over_schedules,
    relation=Relation.EQUAL,
    bound=_least_at_horizon,
    expectation=Expectation.TRUE,
    premises=(NOT_INCREASING, EACH_FINISHES, _SOME_SCHEDULE),
    sources=(TINY,),
    golden=("hadar-one-over-four-eta-H2",),
)

ONE_OVER_FOUR_ETA_UNFINISHED = ONE_OVER_FOUR_ETA.derived(
    "hadar/one-over-four-eta-unfinished",
    statement="Umin = (1/(4 eta)) min over (j, s) of U_j(f_js - a_j)/(tmax_j W_j) also where some job cannot finish by "
    "T, as P2 allows and (1a) does not",
    expectation=Expectation.FALSE,
    premises=(NOT_INCREASING, _SOME_SCHEDULE),
    counterexamples=("hadar-one-over-four-eta-unfinished-two-devices",),
)

ONE_OVER_FOUR_ETA_UNFINISHED_CORRECTED = ONE_OVER_FOUR_ETA_UNFINISHED.corrected(
    statement="Umin is at most what the proof writes, since no schedule ends after T",
    relation=Relation.AT_LEAST,
    golden=("hadar-one-over-four-eta-unfinished-corrected-two-devices",),
)


def _least_utility(facts: HadarFacts) -> Fraction:
    return min(column.utility for columns in facts.all_schedules.values() for column in columns)


OPTIMUM_ADMITS = HADAR.printed(
    "hadar/optimum-admits-one",
    paper="Hadar, Section III-D, (9)",
    statement="if the optimum accepts at least one job, OPT >= min over (j, s) of U_j(f_js - a_j)",
    quantity="OPT, against the least utility of a schedule",
    measure=lambda facts: facts.opt,
    relation=Relation.AT_LEAST,
    bound=_least_utility,
    expectation=Expectation.TRUE,
    premises=(NOT_INCREASING, _SOME_SCHEDULE),
    open=OPT_OPEN,
    schedule=optimal_schedule,
    sources=(TINY,),
    golden=("hadar-optimum-admits-one-H6",),
)

CLAIMS = stated(globals())
