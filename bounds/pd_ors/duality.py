"""The dual values of a run: D_0 <= OPT/2, D_I >= OPT, the certificate of one run, and the dual value repaired."""

from __future__ import annotations

from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Premise, Variant
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.pd_ors.competitive import (
    OPT_POSITIVE,
    ORDINARY,
    SMALL,
    SMALL_DEMAND,
    opt,
    optimal_schedule,
    repaired_details,
    run_details,
    theorem_details,
)
from dlsched.bounds.pd_ors.facts import PdOrsFacts
from dlsched.bounds.pd_ors.families import ASYNC, ASYNC_RISING

_DUAL_FEASIBLE: dict[str, Any] = {
    "id": "pd-ors/dual-feasible",
    "paper": "PD-ORS, proof of Theorems 5 and 6",
    "statement": "the payoffs and final prices of a run are a feasible point of (10)-(11), so that D_I >= OPT",
    "quantity": "D_I = sum_i lambda_i + sum p C, against OPT",
    "bound": opt,
    "relation": Relation.AT_LEAST,
    "facts": PdOrsFacts,
    "schedule": optimal_schedule,
    "sources": SMALL,
}

DUAL_FEASIBLE = Claim(
    variant=Variant.PRINTED,
    measure=lambda facts: facts.repaired.certificate.dual,
    expectation=Expectation.FALSE,
    premises=(OPT_POSITIVE, ORDINARY),
    details=repaired_details,
    counterexamples=("pd-ors-dual-feasible-D11",),
    golden=("pd-ors-dual-feasible-D5",),
    **_DUAL_FEASIBLE,
)

DUAL_FEASIBLE_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    measure=lambda facts: facts.theorem.certificate.dual,
    expectation=Expectation.TRUE,
    premises=(OPT_POSITIVE, ORDINARY, SMALL_DEMAND),
    details=theorem_details,
    golden=("pd-ors-dual-feasible-corrected-D11",),
    **_DUAL_FEASIBLE,
)

INITIAL_DUAL = Claim(
    id="pd-ors/initial-dual",
    paper="PD-ORS, proof of Theorems 5 and 6",
    variant=Variant.PRINTED,
    statement="D_0 = T sum_h sum_r C_h^r L <= OPT/2, if the optimum accepts a job",
    quantity="D_0 with L of (14) as printed, against OPT/2",
    measure=lambda facts: facts.printed_constants.d0,
    bound=lambda facts: Interval(facts.opt.low / 2, facts.opt.high / 2),
    relation=Relation.AT_MOST,
    expectation=Expectation.TRUE,
    facts=PdOrsFacts,
    premises=(Premise("(13) and (14) are defined", lambda facts: facts.printed_constants is not None), OPT_POSITIVE),
    details=lambda facts: {"L": float(facts.printed_constants.low), "opt": facts.opt.low},
    schedule=optimal_schedule,
    sources=SMALL,
    golden=("pd-ors-initial-dual-D1",),
)

CERTIFICATE = Claim(
    id="pd-ors/certificate",
    paper="PD-ORS, Lemmas 8 and 9, for one run",
    variant=Variant.PRINTED,
    statement="P >= (D - D_0)/max(1, alpha), alpha the greatest C dp/(p_old drho) of the run",
    quantity="P, against (D - D_0)/max(1, alpha measured)",
    measure=lambda facts: facts.repaired.run.utility,
    bound=lambda facts: (facts.repaired.certificate.dual - facts.repaired.certificate.initial) / facts.repaired.alpha,
    relation=Relation.AT_LEAST,
    expectation=Expectation.TRUE,
    facts=PdOrsFacts,
    premises=(Premise("some job is admitted", lambda facts: bool(facts.repaired.admissions)),),
    details=lambda facts: run_details(facts.repaired),
    schedule=lambda facts: facts.repaired.run.schedule,
    sources=(*SMALL, ASYNC, ASYNC_RISING),
    golden=("pd-ors-certificate-D8",),
)

REPAIRED_DUAL = Claim(
    id="pd-ors/repaired-dual",
    paper="PD-ORS, (10)-(11) at the final prices",
    variant=Variant.PRINTED,
    statement="with lambda_i the greatest right side of (11) over all schedules, or 0, the dual value is at least OPT",
    quantity="sum_i lambda_i + sum p C so repaired, against OPT",
    measure=lambda facts: facts.repaired.certificate.bound,
    bound=opt,
    relation=Relation.AT_LEAST,
    expectation=Expectation.TRUE,
    facts=PdOrsFacts,
    details=repaired_details,
    schedule=optimal_schedule,
    sources=(*SMALL, ASYNC, ASYNC_RISING),
    golden=("pd-ors-repaired-dual-D11",),
)

CLAIMS = (DUAL_FEASIBLE, DUAL_FEASIBLE_CORRECTED, INITIAL_DUAL, CERTIFICATE, REPAIRED_DUAL)
