"""Theorems 5 and 6, the thesis's Theorem 3, Lemma 8, from which they follow, and the dual values of a run."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dlsched.bounds.claim import Expectation, Premise, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.facts import OPT_POSITIVE, final_dual_large, initial_dual_small, optimal_schedule
from dlsched.bounds.pd_ors.facts import ORDINARY, PD_ORS, PRICES_DEFINED, SOME_ADMITTED, PdOrsFacts
from dlsched.bounds.pd_ors.families import ASYNC, ASYNC_RISING, BENCHMARK, RISING, ROOMY, TINY
from dlsched.rounding import gain_cover, gain_packing

DELTA = 1.0
"""delta of Theorems 5 and 6: the larger, the weaker what they promise."""

SMALL_DEMAND = Premise[PdOrsFacts]("C_h^r > A_h^r, the most that one job puts there", lambda facts: facts.small_demand)
SMALL = (TINY, RISING, ROOMY, BENCHMARK)


def _gain_29(facts: PdOrsFacts) -> float:
    """Return G of (29) at the greatest W_2 of a job on the empty cluster: the most that Theorem 5 allows."""
    widths = []
    for job in facts.instance.jobs:
        needs = [n(r) for r in facts.instance.resources for n in (job.worker_needs, job.server_needs)]
        room = [h.capacity_of(r) for h in facts.instance.machines for r in facts.instance.resources]
        ratios = [max(room) / need for need in needs if need]
        widths.append(float(min([Fraction(job.most_workers), *ratios])))
    rows = len(facts.instance.resources) * len(facts.instance.machines) + 1
    width = max(widths, default=0.0)
    return gain_packing(width, rows, DELTA, events=3) if width else 0.0


def _ratio_bound(facts: PdOrsFacts, gain: float, factor: float) -> float:
    """Return 6 G/delta times a factor of ln(U/L) times ALG; infinite, so that it says nothing, where L = 0."""
    return 6 * gain / DELTA * factor * facts.repaired.run.utility if math.isfinite(factor) else math.inf


def _repaired(facts: PdOrsFacts) -> dict[str, Any]:
    """Return what explains a verdict on the run with repaired prices against the optimum."""
    return facts.explain(facts.repaired.dump())


def _theorem(facts: PdOrsFacts) -> dict[str, Any]:
    """Return the same of the run with the prices of the corrected theorem."""
    return facts.explain(facts.theorem.dump())


def _theorem_5(facts: PdOrsFacts) -> float:
    return _ratio_bound(facts, _gain_29(facts), facts.repaired.log_ratio)


def _theorem_6(facts: PdOrsFacts) -> float:
    return _ratio_bound(facts, gain_cover(1.0, 1, DELTA), facts.repaired.log_ratio)


def _thesis_theorem_3(facts: PdOrsFacts) -> float:
    return _ratio_bound(facts, gain_cover(1.0, 2, DELTA), facts.repaired.least_log_ratio)


def _of_measured_alpha(facts: PdOrsFacts) -> float:
    return 2 * facts.theorem.alpha * facts.theorem.run.utility


THEOREM_5 = PD_ORS.printed(
    "pd-ors/theorem-5",
    paper="PD-ORS, Theorem 5",
    statement="PD-ORS is 6 G/delta max_r(1, ln(U^r/L))-competitive, G of (29)",
    quantity="OPT, against that times the utility of PD-ORS with exact subproblems, delta = 1",
    measure=lambda facts: facts.opt,
    relation=Relation.AT_MOST,
    bound=_theorem_5,
    expectation=Expectation.FALSE,
    premises=(OPT_POSITIVE, ORDINARY),
    details=_repaired,
    schedule=optimal_schedule,
    sources=SMALL,
    counterexamples=("pd-ors-theorem-5-D5",),
    golden=("pd-ors-theorem-5-D2",),
)

THEOREM_5_CORRECTED = THEOREM_5.corrected(
    paper="PD-ORS, Theorems 5 and 6",
    statement=(
        "With exact subproblems, U^r = max u_i(0) over the least need of a unit, reached at C_h^r - A_h^r, L by (14) "
        "and C_h^r > A_h^r, the most that any one job can put there: OPT <= 2 max(1, alpha) ALG, alpha the greatest "
        "C dp/(p_old drho)"
    ),
    quantity="OPT, against 2 max(1, alpha measured) times the utility of PD-ORS",
    bound=_of_measured_alpha,
    premises=(OPT_POSITIVE, ORDINARY, SMALL_DEMAND),
    details=_theorem,
    golden=("pd-ors-theorem-5-corrected-D11",),
)

THEOREM_6 = PD_ORS.printed(
    "pd-ors/theorem-6",
    paper="PD-ORS, Theorem 6",
    statement="PD-ORS is 6 G/delta max_r(1, ln(U^r/L))-competitive, G of (30)",
    quantity="OPT, against that times the utility of PD-ORS with exact subproblems, delta = 1 and W_1 = 1, the least",
    measure=lambda facts: facts.opt,
    relation=Relation.AT_MOST,
    bound=_theorem_6,
    expectation=Expectation.FALSE,
    premises=(OPT_POSITIVE, ORDINARY),
    details=_repaired,
    schedule=optimal_schedule,
    sources=SMALL,
    counterexamples=("pd-ors-theorem-6-D5",),
    golden=("pd-ors-theorem-6-D2",),
)

THESIS_THEOREM_3 = PD_ORS.printed(
    "pd-ors-thesis/theorem-3",
    paper="PD-ORS thesis, Theorem 3",
    statement="PD-ORS is 6 G/delta min_r(1, ln(U^r/L))-competitive",
    quantity="OPT, against that times the utility of PD-ORS with exact subproblems, delta = 1 and W_1 = 1, the least",
    measure=lambda facts: facts.opt,
    relation=Relation.AT_MOST,
    bound=_thesis_theorem_3,
    expectation=Expectation.FALSE,
    premises=(OPT_POSITIVE, ORDINARY),
    details=_repaired,
    schedule=optimal_schedule,
    sources=(ASYNC, ASYNC_RISING),
    counterexamples=("pd-ors-thesis-theorem-3-D5",),
)

THESIS_THEOREM_3_CORRECTED = THESIS_THEOREM_3.corrected(
    statement="With the premises and constants of the corrected Theorem 5 of the journal: OPT <= 2 max(1, alpha) ALG",
    quantity="OPT, against 2 max(1, alpha measured) times the utility of PD-ORS",
    bound=_of_measured_alpha,
    premises=(OPT_POSITIVE, ORDINARY, SMALL_DEMAND),
    details=_theorem,
    golden=("pd-ors-thesis-theorem-3-corrected-D11",),
)


def _of_least_alpha(facts: PdOrsFacts) -> float:
    return 2 * facts.repaired.least_alpha * facts.repaired.run.utility


LEMMA_8 = PD_ORS.printed(
    "pd-ors/lemma-8",
    paper="PD-ORS, Lemma 8",
    statement=(
        "If P_i - P_(i-1) >= (D_i - D_(i-1))/alpha for all jobs and D_0 <= OPT/2, then OPT <= 2 alpha ALG "
        "(D_I, the value of a feasible point of (10), being at least OPT)"
    ),
    quantity="OPT, against 2 alpha ALG with the least alpha >= 1 of the run that the lemma allows",
    measure=lambda facts: facts.opt,
    relation=Relation.AT_MOST,
    bound=_of_least_alpha,
    expectation=Expectation.TRUE,
    premises=(
        OPT_POSITIVE,
        Premise("the increments have some alpha", lambda facts: math.isfinite(facts.repaired.least_alpha)),
        Premise("D_0 <= OPT/2", lambda facts: initial_dual_small(facts.repaired.certificate.initial, facts.opt)),
        Premise("D_I >= OPT", lambda facts: final_dual_large(facts.repaired.certificate.dual, facts.opt, "D_I")),
    ),
    details=_repaired,
    schedule=optimal_schedule,
    sources=SMALL,
    golden=("pd-ors-lemma-8-D8",),
)

DUAL_FEASIBLE = PD_ORS.printed(
    "pd-ors/dual-feasible",
    paper="PD-ORS, proof of Theorems 5 and 6",
    statement="the payoffs and final prices of a run are a feasible point of (10)-(11), so that D_I >= OPT",
    quantity="D_I = sum_i lambda_i + sum p C, against OPT",
    measure=lambda facts: facts.repaired.certificate.dual,
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.opt,
    expectation=Expectation.FALSE,
    premises=(OPT_POSITIVE, ORDINARY),
    details=_repaired,
    schedule=optimal_schedule,
    sources=SMALL,
    counterexamples=("pd-ors-dual-feasible-D11",),
    golden=("pd-ors-dual-feasible-D5",),
)

DUAL_FEASIBLE_CORRECTED = DUAL_FEASIBLE.corrected(
    statement=DUAL_FEASIBLE.statement,
    measure=lambda facts: facts.theorem.certificate.dual,
    premises=(OPT_POSITIVE, ORDINARY, SMALL_DEMAND),
    details=_theorem,
    golden=("pd-ors-dual-feasible-corrected-D11",),
)


def _initial_details(facts: PdOrsFacts) -> dict[str, Any]:
    return {"L": float(facts.defined_constants.low), "opt": facts.opt.low}


INITIAL_DUAL = PD_ORS.printed(
    "pd-ors/initial-dual",
    paper="PD-ORS, proof of Theorems 5 and 6",
    statement="D_0 = T sum_h sum_r C_h^r L <= OPT/2, if the optimum accepts a job",
    quantity="D_0 with L of (14) as printed, against OPT/2",
    measure=lambda facts: facts.defined_constants.d0,
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.opt.over(2),
    expectation=Expectation.TRUE,
    premises=(PRICES_DEFINED, OPT_POSITIVE),
    details=_initial_details,
    schedule=optimal_schedule,
    sources=SMALL,
    golden=("pd-ors-initial-dual-D1",),
)


def _increase_over_alpha(facts: PdOrsFacts) -> float:
    """Return (D - D_0)/max(1, alpha)."""
    run = facts.repaired
    return (run.certificate.dual - run.certificate.initial) / run.alpha


CERTIFICATE = PD_ORS.printed(
    "pd-ors/certificate",
    paper="PD-ORS, Lemmas 8 and 9, for one run",
    statement="P >= (D - D_0)/max(1, alpha), alpha the greatest C dp/(p_old drho) of the run",
    quantity="P, against (D - D_0)/max(1, alpha measured)",
    measure=lambda facts: facts.repaired.run.utility,
    relation=Relation.AT_LEAST,
    bound=_increase_over_alpha,
    expectation=Expectation.TRUE,
    premises=(SOME_ADMITTED,),
    details=lambda facts: facts.repaired.dump(),
    schedule=lambda facts: facts.repaired.run.schedule,
    sources=(*SMALL, ASYNC, ASYNC_RISING),
    golden=("pd-ors-certificate-D8",),
)

REPAIRED_DUAL = PD_ORS.printed(
    "pd-ors/repaired-dual",
    paper="PD-ORS, (10)-(11) at the final prices",
    statement="with lambda_i the greatest right side of (11) over all schedules, or 0, the dual value is at least OPT",
    quantity="sum_i lambda_i + sum p C so repaired, against OPT",
    measure=lambda facts: facts.repaired.certificate.bound,
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.opt,
    expectation=Expectation.TRUE,
    details=_repaired,
    schedule=optimal_schedule,
    sources=(*SMALL, ASYNC, ASYNC_RISING),
    golden=("pd-ors-repaired-dual-D11",),
)

CLAIMS = stated(globals())
