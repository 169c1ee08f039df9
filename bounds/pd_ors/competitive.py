"""Theorems 5 and 6, the thesis's Theorem 3, Lemma 8, from which they follow, and the dual values of a run."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from dlsched.bounds.claim import Expectation, Premise, Subject, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.facts import OPT_POSITIVE, final_dual_large, initial_dual_small, optimal_schedule
from dlsched.bounds.pd_ors.facts import (
    ADMITS_ONE,
    AGAINST_OPT,
    ASYNCHRONOUS,
    CONSTANTS_DEFINED,
    LOWEST_POSITIVE,
    ORDINARY,
    PD_ORS,
    PRICES_DEFINED,
    SMALL_NEEDS,
    SOME_ADMITTED,
    SYNCHRONOUS,
    WHOSE_DEMAND,
    PdOrsFacts,
    SmallNeedsFacts,
)
from dlsched.bounds.pd_ors.families import ASYNC, ASYNC_RISING, BENCHMARK, FINE, FINER, RISING, ROOMY, SMALL_JOBS, TINY
from dlsched.bounds.pd_ors.ratios import OPEN, OPEN_SMALL, RATIOS, SMALL_RATIOS, RatioFacts, known_alpha
from dlsched.models.dmlrs import Instance

SMALL_DEMAND = Premise[PdOrsFacts]("C_h^r > A_h^r, the most that one job puts there", lambda facts: facts.small_demand)
SMALL = (TINY, RISING, ROOMY, BENCHMARK)


def _printed(facts: RatioFacts) -> dict[str, Any]:
    """Return what explains a verdict on the run with printed prices against the optimum."""
    return {"delta": facts.delta, **facts.explain(facts.printed.dump())}


def _repaired(facts: PdOrsFacts) -> dict[str, Any]:
    """Return the same of the run with repaired prices."""
    return facts.explain(facts.repaired.dump())


def _theorem(facts: PdOrsFacts) -> dict[str, Any]:
    """Return the same of the run with the prices of the corrected theorem."""
    return facts.explain(facts.theorem.dump())


def _of_measured_alpha(facts: PdOrsFacts) -> float:
    return 2 * facts.theorem.alpha * facts.theorem.run.utility


def _of_known_alpha(facts: PdOrsFacts) -> float:
    return 2 * known_alpha(facts.instance, facts.theorem.constants) * facts.theorem.run.utility


def _with_known_alpha(facts: PdOrsFacts) -> dict[str, Any]:
    return {**_theorem(facts), "alpha_known": known_alpha(facts.instance, facts.theorem.constants)}


THEOREM_5 = SMALL_RATIOS.printed(
    "pd-ors/theorem-5",
    paper="PD-ORS, Theorem 5",
    statement="PD-ORS is 6 G/delta max_r(1, ln(U^r/L))-competitive, G of (29)",
    quantity="OPT, against that times the utility of PD-ORS with exact subproblems",
    measure=lambda facts: facts.opt,
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.promised(facts.ratio_29),
    expectation=Expectation.FALSE,
    premises=(SYNCHRONOUS, PRICES_DEFINED, SMALL_NEEDS, ORDINARY, ADMITS_ONE),
    details=_printed,
    sources=(FINE, FINER, SMALL_JOBS),
    counterexamples=(
        "pd-ors-theorem-5-batches-of-five",
        "pd-ors-theorem-5-small-jobs",
        "pd-ors-theorem-5-whole-machine",
    ),
    golden=("pd-ors-theorem-5-one-job",),
    open=OPEN_SMALL,
)

THEOREM_5_A_PRIORI = AGAINST_OPT.derived(
    "pd-ors/theorem-5-a-priori",
    paper="PD-ORS, Theorems 5 and 6",
    statement=(
        "With the premises and constants of the corrected theorem: OPT <= 2 max(1, alpha) ALG, alpha = max over (h, r) "
        "of ((U^r/L)^(A/(C - A)) - 1) C/A, which is known before any job comes"
    ),
    quantity="OPT, against 2 max(1, that alpha) times the utility of PD-ORS",
    measure=lambda facts: facts.opt,
    relation=Relation.AT_MOST,
    bound=_of_known_alpha,
    expectation=Expectation.TRUE,
    premises=(OPT_POSITIVE, ORDINARY, SMALL_DEMAND),
    details=_with_known_alpha,
    sources=SMALL,
    golden=("pd-ors-theorem-5-a-priori-D11",),
)

THEOREM_5_CORRECTED = replace(
    THEOREM_5_A_PRIORI.corrected(
        statement=(
            "With exact subproblems and, over the jobs that can earn something, U^r = max u_i(0) over the least need "
            "of a unit, reached at C_h^r - A_h^r, L by (14) repaired (the last positive utility for u_i(T - a_i)) and "
            "C_h^r > A_h^r, the most that any one job can put there with min{F, ceil(V kappa_E)} workers: OPT <= "
            "2 max(1, alpha) ALG, alpha the greatest C dp/(p_old drho)"
        ),
        quantity="OPT, against 2 max(1, alpha measured) times the utility of PD-ORS",
        bound=_of_measured_alpha,
        details=_theorem,
        golden=("pd-ors-theorem-5-corrected-D11",),
    ),
    id=THEOREM_5.id,
)

THEOREM_6 = SMALL_RATIOS.printed(
    "pd-ors/theorem-6",
    paper="PD-ORS, Theorem 6",
    statement="PD-ORS is 6 G/delta max_r(1, ln(U^r/L))-competitive, G of (30)",
    quantity="OPT, against that times the utility of PD-ORS with exact subproblems",
    measure=lambda facts: facts.opt,
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.promised(facts.ratio_30),
    expectation=Expectation.FALSE,
    premises=THEOREM_5.premises,
    details=_printed,
    sources=(FINE, FINER, SMALL_JOBS),
    counterexamples=("pd-ors-theorem-6-small-jobs", "pd-ors-theorem-6-whole-machine"),
    golden=("pd-ors-theorem-6-one-job",),
    open=OPEN_SMALL,
)

_THESIS_ORDINARY = replace(ORDINARY, source="Section 3.1 2): b^(i) >> b^(e) in practice")
_THESIS_OPEN = (
    f"{OPEN}, and whether a worker's and a server's demand is much smaller than the capacity, as the journal assumes "
    "and the thesis does not (not assumed here, but it is so in the first witness)"
)

THESIS_THEOREM_3 = RATIOS.printed(
    "pd-ors-thesis/theorem-3",
    paper="PD-ORS thesis, Theorem 3",
    statement="PD-ORS is 6 G/delta max_r(1, ln(U^r/L))-competitive, with max_r as the journal has it, where the print "
    "has min_r (which is pd-ors-thesis/theorem-3-minimum)",
    quantity="OPT, against that times the utility of PD-ORS with exact subproblems",
    measure=lambda facts: facts.opt,
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.promised(facts.ratio_thesis),
    expectation=Expectation.FALSE,
    premises=(
        ASYNCHRONOUS,
        replace(PRICES_DEFINED, name="(3.12)-(3.14) are defined, but for L = 0", source="Section 3.2.2, (3.12)-(3.14)"),
        _THESIS_ORDINARY,
        replace(ADMITS_ONE, source="Appendix B: D_0 <= OPT/2"),
    ),
    details=_printed,
    sources=(ASYNC, ASYNC_RISING),
    counterexamples=("pd-ors-thesis-theorem-3-hundred-units", "pd-ors-thesis-theorem-3-D5"),
    open=_THESIS_OPEN,
)

THESIS_THEOREM_3_MINIMUM = THESIS_THEOREM_3.derived(
    "pd-ors-thesis/theorem-3-minimum",
    statement="PD-ORS is 6 G/delta min_r(1, ln(U^r/L))-competitive, to the letter: at most 6 G/delta",
    quantity="OPT, against that times the utility of PD-ORS with exact subproblems",
    bound=lambda facts: facts.promised(facts.ratio_thesis, min),
    counterexamples=("pd-ors-thesis-theorem-3-minimum-hundred-units", "pd-ors-thesis-theorem-3-minimum-D5"),
    open=_THESIS_OPEN,
)

THESIS_THEOREM_3_A_PRIORI = THEOREM_5_A_PRIORI.derived(
    "pd-ors-thesis/theorem-3-a-priori",
    paper="PD-ORS thesis, Theorem 3",
    statement="pd-ors/theorem-5-a-priori for asynchronous jobs: OPT <= 2 max(1, alpha) ALG, alpha known beforehand",
    premises=(ASYNCHRONOUS, OPT_POSITIVE, _THESIS_ORDINARY, SMALL_DEMAND),
    sources=(ASYNC, ASYNC_RISING),
    golden=("pd-ors-thesis-theorem-3-a-priori-D11",),
)

THESIS_THEOREM_3_CORRECTED = replace(
    THESIS_THEOREM_3_A_PRIORI.corrected(
        statement="With the premises and constants of the corrected Theorem 5 of the journal: OPT <= 2 max(1, alpha) "
        "ALG",
        quantity="OPT, against 2 max(1, alpha measured) times the utility of PD-ORS",
        bound=_of_measured_alpha,
        details=_theorem,
        golden=("pd-ors-thesis-theorem-3-corrected-D11",),
    ),
    id=THESIS_THEOREM_3.id,
)


def _of_least_alpha(facts: PdOrsFacts) -> float:
    return 2 * facts.repaired.least_alpha * facts.repaired.run.utility


LEMMA_8 = AGAINST_OPT.printed(
    "pd-ors/lemma-8",
    paper="PD-ORS, Appendix C, Lemma 8",
    statement="if P_i - P_(i-1) >= (D_i - D_(i-1))/alpha for all jobs, P_0 = 0 and D_0 <= OPT/2: OPT <= 2 alpha ALG "
    "(D_I, the value of a feasible point of (10)-(11), being at least OPT)",
    quantity="OPT, against 2 alpha ALG with the least alpha >= 1 of a run that the lemma allows",
    measure=lambda facts: facts.opt,
    relation=Relation.AT_MOST,
    bound=_of_least_alpha,
    expectation=Expectation.TRUE,
    premises=(
        ADMITS_ONE,
        Premise(
            "P_i - P_(i-1) >= (D_i - D_(i-1))/alpha for some alpha",
            lambda facts: math.isfinite(facts.repaired.least_alpha),
            "Lemma 8",
        ),
        Premise(
            "D_0 <= OPT/2",
            lambda facts: initial_dual_small(facts.repaired.certificate.initial, facts.opt, unit=facts.unit),
            "Lemma 8",
        ),
        Premise(
            "D_I >= OPT",
            lambda facts: final_dual_large(facts.repaired.certificate.dual, facts.opt, "D_I", unit=facts.unit),
            "Appendix C, before Lemma 8: D_I is a value of the dual, and its proof: by weak duality",
        ),
    ),
    details=_repaired,
    sources=SMALL,
    golden=("pd-ors-lemma-8-D8",),
    open="which prices the run has (here (13) and (14) repaired where they are not defined); D_I >= OPT is none of the "
    "lemma's hypotheses: read into it, as D_I is the value of the dual that Algorithm 1 returns, and weak duality is "
    "of feasible points; to the letter, with the three hypotheses alone, it is false, on "
    "pd-ors-dual-feasible-forty-workers, where 2 alpha ALG = 78328 and OPT = 1000000",
)

_SMALL = Subject(problem="dmlrs", instance=Instance, facts=SmallNeedsFacts, schedule=optimal_schedule)

DUAL_FEASIBLE = _SMALL.printed(
    "pd-ors/dual-feasible",
    paper="PD-ORS, Appendix C, proof of Lemma 8",
    statement="the payoffs and final prices of a run are a feasible point of (10)-(11), so that D_I >= OPT",
    quantity="D_I = sum_i lambda_i + sum p C, against OPT",
    measure=lambda facts: facts.printed.certificate.dual,
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.opt,
    expectation=Expectation.FALSE,
    premises=(PRICES_DEFINED, LOWEST_POSITIVE, SMALL_NEEDS, ORDINARY, ADMITS_ONE),
    details=lambda facts: facts.explain(facts.printed.dump()),
    sources=(FINE, FINER, SMALL_JOBS),
    counterexamples=("pd-ors-dual-feasible-small-jobs", "pd-ors-dual-feasible-forty-workers"),
    golden=("pd-ors-dual-feasible-whole-machine",),
    open=f"which mu (here the least that the print allows), and {WHOSE_DEMAND}",
)

DUAL_FEASIBLE_CORRECTED = DUAL_FEASIBLE.corrected(
    statement="the same with the constants of the corrected Theorem 5, if C_h^r > A_h^r",
    measure=lambda facts: facts.theorem.certificate.dual,
    premises=(OPT_POSITIVE, ORDINARY, SMALL_DEMAND),
    details=_theorem,
    sources=SMALL,
    golden=("pd-ors-dual-feasible-corrected-D11",),
)


def _initial_details(facts: PdOrsFacts) -> dict[str, Any]:
    return {"L": float(facts.defined_constants.low), "opt": facts.opt.low}


INITIAL_DUAL = AGAINST_OPT.printed(
    "pd-ors/initial-dual",
    paper="PD-ORS, Appendix C, proof of Theorems 5 and 6",
    statement="D_0 = T sum_h sum_r C_h^r L <= OPT/2, if the optimum accepts a job",
    quantity="D_0 with L of (14) as printed, against OPT/2",
    measure=lambda facts: facts.defined_constants.d0,
    relation=Relation.AT_MOST,
    bound=lambda facts: facts.opt.over(2),
    expectation=Expectation.TRUE,
    premises=(CONSTANTS_DEFINED, LOWEST_POSITIVE, ADMITS_ONE),
    details=_initial_details,
    sources=SMALL,
    golden=("pd-ors-initial-dual-D1",),
    open="mu, which is only bounded (here the least that the print allows, which makes D_0 the greatest)",
)


def _increase_over_alpha(facts: PdOrsFacts) -> float:
    """Return (D - D_0)/max(1, alpha)."""
    run = facts.repaired
    return (run.certificate.dual - run.certificate.initial) / run.alpha


CERTIFICATE = PD_ORS.derived(
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

REPAIRED_DUAL = AGAINST_OPT.derived(
    "pd-ors/repaired-dual",
    paper="PD-ORS, (10)-(11) at the final prices",
    statement="with lambda_i the greatest right side of (11) over all schedules, or 0, the dual value is at least OPT",
    quantity="sum_i lambda_i + sum p C so repaired, against OPT",
    measure=lambda facts: facts.repaired.certificate.bound,
    relation=Relation.AT_LEAST,
    bound=lambda facts: facts.opt,
    expectation=Expectation.TRUE,
    premises=(OPT_POSITIVE,),
    details=_repaired,
    sources=(*SMALL, ASYNC, ASYNC_RISING),
    golden=("pd-ors-repaired-dual-D11",),
)

CLAIMS = stated(globals())
