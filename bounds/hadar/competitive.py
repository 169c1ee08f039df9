"""Theorem 2 and what its proof rests on: Lemmas 1 and 2, and dual feasibility."""

from __future__ import annotations

import math
from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Premise, Undecided, Variant
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.hadar.facts import Commitment, HadarFacts
from dlsched.bounds.hadar.sources import MIXED, PATIENT, RISING, ROOMY, SCATTERED, TINY
from dlsched.models.hadar import Schedule
from dlsched.models.numbers import exceeds

OPT_POSITIVE = Premise("OPT > 0", lambda facts: facts.opt_positive)
UMIN_POSITIVE = Premise("Umin > 0", lambda facts: facts.printed.positive)
SOME_ADMITTED = Premise("some job is admitted", lambda facts: bool(facts.printed.admissions))
SMALL = (TINY, RISING, PATIENT, ROOMY, SCATTERED)
EVERYWHERE = (*SMALL, MIXED)


def optimal_schedule(facts: HadarFacts) -> Schedule | None:
    """Return the schedule that proves the lower end of OPT."""
    schedule: Schedule | None = facts.best.schedule
    return schedule


def opt(facts: HadarFacts) -> Interval:
    """Return OPT."""
    return facts.opt


def run_details(run: Commitment) -> dict[str, Any]:
    """Return the constants and values of a run."""
    low, high = run.constants.umin, run.constants.umax
    return {
        "umin": {r: float(x) for r, x in low.items()},
        "umax": {r: float(x) for r, x in high.items()},
        "alpha": run.constants.alpha if math.isfinite(run.constants.alpha) else None,
        "alpha_measured": run.alpha_measured if math.isfinite(run.alpha_measured) else None,
        "d0": float(run.constants.d0),
        "d_final": run.final_dual,
        "alg": run.run.utility,
        "admitted": [decision.job for decision in run.admissions],
    }


def printed_details(facts: HadarFacts) -> dict[str, Any]:
    """Return what explains a verdict on the printed run."""
    return {**run_details(facts.printed), "opt": facts.opt.low, "evidence": list(facts.best.evidence)}


def corrected_details(facts: HadarFacts) -> dict[str, Any]:
    """Return what explains a verdict on the corrected run."""
    return {**run_details(facts.corrected), "opt": facts.opt.low, "evidence": list(facts.best.evidence)}


def _twice_alpha(facts: HadarFacts, alg: float) -> float:
    """Return 2 alpha ALG; infinite, so that it says nothing, where Umin = 0."""
    alpha = facts.printed.constants.alpha
    return 2 * alpha * alg if math.isfinite(alpha) else math.inf


def _least_alpha(run: Commitment) -> float:
    """Return the least alpha >= 1 with P_j - P_(j-1) >= (D_j - D_(j-1))/alpha; infinite where there is none."""
    ratios = [step.dual / step.primal if step.primal > 0 else math.inf for step in run.steps if step.dual > 0]
    return max([1.0, *ratios])


def _initial_dual_small(facts: HadarFacts) -> bool:
    d0 = facts.printed.constants.d0
    if exceeds(d0, facts.opt.high / 2):
        return False
    if exceeds(d0, facts.opt.low / 2):
        raise Undecided("whether D0 <= OPT/2 is not proved")
    return True


def _weak_duality(facts: HadarFacts) -> bool:
    if exceeds(facts.opt.low, facts.printed.final_dual):
        return False
    if exceeds(facts.opt.high, facts.printed.final_dual):
        raise Undecided("whether D_f >= OPT is not proved")
    return True


THEOREM_2 = Claim(
    id="hadar/theorem-2",
    paper="Hadar, Theorem 2",
    variant=Variant.PRINTED,
    statement="Hadar is 2 alpha-competitive, alpha = max_r(1, ln(Umax^r/Umin^r)): OPT <= 2 alpha ALG",
    quantity="OPT, against 2 alpha times the utility of committing at arrival with the printed prices",
    measure=opt,
    bound=lambda facts: _twice_alpha(facts, facts.printed.run.utility),
    relation=Relation.AT_MOST,
    expectation=Expectation.FALSE,
    facts=HadarFacts,
    premises=(OPT_POSITIVE,),
    details=printed_details,
    schedule=optimal_schedule,
    sources=EVERYWHERE,
    counterexamples=("hadar-theorem-2-H5",),
    golden=("hadar-theorem-2-H1", "hadar-theorem-2-H6", "hadar-theorem-2-worthless"),
)

THEOREM_2_CORRECTED = Claim(
    id="hadar/theorem-2",
    paper="Hadar, Theorem 2",
    variant=Variant.CORRECTED,
    statement=(
        "With Umax = max_j U_j(0) for one device, reached once some gang may not fit, T in eta, exact best responses "
        "and jobs that cannot finish dropped: OPT <= 2 max(1, alpha) ALG, alpha the greatest c dk/(k_old dgamma)"
    ),
    quantity="OPT, against 2 max(1, alpha measured) times the utility of committing at arrival",
    measure=opt,
    bound=lambda facts: 2 * facts.corrected.alpha_measured * facts.corrected.run.utility,
    relation=Relation.AT_MOST,
    expectation=Expectation.TRUE,
    facts=HadarFacts,
    premises=(OPT_POSITIVE,),
    details=corrected_details,
    schedule=optimal_schedule,
    sources=EVERYWHERE,
    golden=("hadar-theorem-2-corrected-H5",),
)

THEOREM_2_ROUNDS = Claim(
    id="hadar/theorem-2-rounds",
    paper="Hadar, Theorem 2 of Algorithms 1 and 2 to the letter",
    variant=Variant.PRINTED,
    statement="Algorithms 1 and 2 as printed, run round by round, are 2 alpha-competitive",
    quantity="OPT, against 2 alpha times the utility of the printed rounds; with positive prices they select nothing",
    measure=opt,
    bound=lambda facts: _twice_alpha(facts, facts.printed_rounds.utility),
    relation=Relation.AT_MOST,
    expectation=Expectation.FALSE,
    facts=HadarFacts,
    premises=(OPT_POSITIVE,),
    details=lambda facts: {"alg": facts.printed_rounds.utility, "opt": facts.opt.low},
    schedule=optimal_schedule,
    sources=(TINY, RISING),
    counterexamples=("hadar-theorem-2-rounds-G4",),
)

LEMMA_1 = Claim(
    id="hadar/lemma-1",
    paper="Hadar, Lemma 1",
    variant=Variant.PRINTED,
    statement=(
        "If P_j - P_(j-1) >= (D_j - D_(j-1))/alpha for all jobs, P_0 = 0 and D_0 <= OPT/2, then OPT <= 2 alpha ALG "
        "(D_f, the value of a feasible point of P3, being at least OPT)"
    ),
    quantity="OPT, against 2 alpha ALG with the least alpha >= 1 of the run that the lemma allows",
    measure=opt,
    bound=lambda facts: 2 * _least_alpha(facts.printed) * facts.printed.run.utility,
    relation=Relation.AT_MOST,
    expectation=Expectation.TRUE,
    facts=HadarFacts,
    premises=(
        OPT_POSITIVE,
        Premise("the increments have some alpha", lambda facts: math.isfinite(_least_alpha(facts.printed))),
        Premise("D_0 <= OPT/2", _initial_dual_small),
        Premise("D_f >= OPT", _weak_duality),
    ),
    details=printed_details,
    schedule=optimal_schedule,
    sources=EVERYWHERE,
    golden=("hadar-lemma-1-H5",),
)

LEMMA_2 = Claim(
    id="hadar/lemma-2",
    paper="Hadar, Lemma 2",
    variant=Variant.PRINTED,
    statement="If the allocation-cost relationship holds for alpha >= 1, then P_j - P_(j-1) >= (D_j - D_(j-1))/alpha",
    quantity="greatest (D_j - D_(j-1))/(P_j - P_(j-1)), against the least alpha of the run for which it holds",
    measure=lambda facts: _least_alpha(facts.printed),
    bound=lambda facts: facts.printed.alpha_measured,
    relation=Relation.AT_MOST,
    expectation=Expectation.TRUE,
    facts=HadarFacts,
    premises=(SOME_ADMITTED, UMIN_POSITIVE),
    details=lambda facts: run_details(facts.printed),
    schedule=lambda facts: facts.printed.run.schedule,
    sources=EVERYWHERE,
    golden=("hadar-lemma-2-H2",),
)

_DUAL_FEASIBLE: dict[str, Any] = {
    "id": "hadar/dual-feasible",
    "paper": "Hadar, proof of Theorem 2",
    "statement": "the payoffs and final prices of a run are a feasible point of P3, so that its value D_f >= OPT",
    "quantity": "D_f = sum_j mu_j + sum k c, against OPT",
    "bound": opt,
    "relation": Relation.AT_LEAST,
    "facts": HadarFacts,
    "schedule": optimal_schedule,
    "sources": EVERYWHERE,
}

DUAL_FEASIBLE = Claim(
    variant=Variant.PRINTED,
    measure=lambda facts: facts.printed.final_dual,
    expectation=Expectation.FALSE,
    premises=(OPT_POSITIVE, UMIN_POSITIVE),
    details=printed_details,
    counterexamples=("hadar-dual-feasible-gap",),
    **_DUAL_FEASIBLE,
)

DUAL_FEASIBLE_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    measure=lambda facts: facts.corrected.final_dual,
    expectation=Expectation.TRUE,
    premises=(OPT_POSITIVE,),
    details=corrected_details,
    golden=("hadar-dual-feasible-corrected-gap",),
    **_DUAL_FEASIBLE,
)

CLAIMS = (
    THEOREM_2,
    THEOREM_2_CORRECTED,
    THEOREM_2_ROUNDS,
    LEMMA_1,
    LEMMA_2,
    DUAL_FEASIBLE,
    DUAL_FEASIBLE_CORRECTED,
)
