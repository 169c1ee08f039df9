"""Theorems 5 and 6, the thesis's Theorem 3, and Lemma 8, from which they follow."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dlsched.bounds.claim import Claim, Expectation, Premise, Undecided, Variant
from dlsched.bounds.comparison import Interval, Relation
from dlsched.bounds.pd_ors.facts import Commitment, PdOrsFacts, finite
from dlsched.bounds.pd_ors.families import ASYNC, ASYNC_RISING, BENCHMARK, RISING, ROOMY, TINY
from dlsched.models.dmlrs import Schedule
from dlsched.models.numbers import exceeds
from dlsched.rounding import gain_cover, gain_packing

DELTA = 1.0
"""delta of Theorems 5 and 6: the larger, the weaker what they promise."""

OPT_POSITIVE = Premise("OPT > 0", lambda facts: facts.opt_positive)
ORDINARY = Premise("b^(i) >= b^(e)", lambda facts: facts.ordinary)
SMALL_DEMAND = Premise("C_h^r > A_h^r, the most that one job puts there", lambda facts: facts.small_demand)
SMALL = (TINY, RISING, ROOMY, BENCHMARK)


def opt(facts: PdOrsFacts) -> Interval:
    """Return OPT."""
    return facts.opt


def optimal_schedule(facts: PdOrsFacts) -> Schedule | None:
    """Return the schedule that proves the lower end of OPT."""
    schedule: Schedule | None = facts.best.schedule
    return schedule


def run_details(run: Commitment) -> dict[str, Any]:
    """Return the constants and values of a run."""
    return {
        "L": float(run.constants.low),
        "U": {r: None if high is None else float(high) for r, high in run.constants.high.items()},
        "alpha_measured": finite(run.alpha),
        "d0": run.certificate.initial,
        "d_final": run.certificate.dual,
        "alg": run.run.utility,
        "admitted": [decision.job for decision in run.admissions],
    }


def repaired_details(facts: PdOrsFacts) -> dict[str, Any]:
    """Return what explains a verdict on the run with prices (12)-(14)."""
    return {**run_details(facts.repaired), "opt": facts.opt.low, "evidence": list(facts.best.evidence)}


def theorem_details(facts: PdOrsFacts) -> dict[str, Any]:
    """Return what explains a verdict on the run with the corrected theorem's prices."""
    return {**run_details(facts.theorem), "opt": facts.opt.low, "evidence": list(facts.best.evidence)}


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


_RATIO: dict[str, Any] = {
    "measure": opt,
    "relation": Relation.AT_MOST,
    "facts": PdOrsFacts,
    "schedule": optimal_schedule,
}

_PRINTED_RATIO: dict[str, Any] = {
    **_RATIO,
    "variant": Variant.PRINTED,
    "expectation": Expectation.FALSE,
    "premises": (OPT_POSITIVE, ORDINARY),
    "details": repaired_details,
}

THEOREM_5 = Claim(
    id="pd-ors/theorem-5",
    paper="PD-ORS, Theorem 5",
    statement="PD-ORS is 6 G/delta max_r(1, ln(U^r/L))-competitive, G of (29)",
    quantity="OPT, against that times the utility of PD-ORS with exact subproblems, delta = 1",
    bound=lambda facts: _ratio_bound(facts, _gain_29(facts), facts.repaired.log_ratio),
    sources=SMALL,
    counterexamples=("pd-ors-theorem-5-D5",),
    golden=("pd-ors-theorem-5-D2",),
    **_PRINTED_RATIO,
)

THEOREM_5_CORRECTED = Claim(
    id="pd-ors/theorem-5",
    paper="PD-ORS, Theorems 5 and 6",
    variant=Variant.CORRECTED,
    statement=(
        "With exact subproblems, U^r = max u_i(0) over the least need of a unit, reached at C_h^r - A_h^r, L by (14) "
        "and C_h^r > A_h^r, the most that any one job can put there: OPT <= 2 max(1, alpha) ALG, alpha the greatest "
        "C dp/(p_old drho)"
    ),
    quantity="OPT, against 2 max(1, alpha measured) times the utility of PD-ORS",
    bound=lambda facts: 2 * facts.theorem.alpha * facts.theorem.run.utility,
    expectation=Expectation.TRUE,
    premises=(OPT_POSITIVE, ORDINARY, SMALL_DEMAND),
    details=theorem_details,
    sources=SMALL,
    golden=("pd-ors-theorem-5-corrected-D11",),
    **_RATIO,
)

THEOREM_6 = Claim(
    id="pd-ors/theorem-6",
    paper="PD-ORS, Theorem 6",
    statement="PD-ORS is 6 G/delta max_r(1, ln(U^r/L))-competitive, G of (30)",
    quantity="OPT, against that times the utility of PD-ORS with exact subproblems, delta = 1 and W_1 = 1, the least",
    bound=lambda facts: _ratio_bound(facts, gain_cover(1.0, 1, DELTA), facts.repaired.log_ratio),
    sources=SMALL,
    counterexamples=("pd-ors-theorem-6-D5",),
    golden=("pd-ors-theorem-6-D2",),
    **_PRINTED_RATIO,
)

THESIS_THEOREM_3 = Claim(
    id="pd-ors-thesis/theorem-3",
    paper="PD-ORS thesis, Theorem 3",
    statement="PD-ORS is 6 G/delta min_r(1, ln(U^r/L))-competitive",
    quantity="OPT, against that times the utility of PD-ORS with exact subproblems, delta = 1 and W_1 = 1, the least",
    bound=lambda facts: _ratio_bound(facts, gain_cover(1.0, 2, DELTA), facts.repaired.least_log_ratio),
    sources=(ASYNC, ASYNC_RISING),
    counterexamples=("pd-ors-thesis-theorem-3-D5",),
    **_PRINTED_RATIO,
)

THESIS_THEOREM_3_CORRECTED = Claim(
    id="pd-ors-thesis/theorem-3",
    paper="PD-ORS thesis, Theorem 3",
    variant=Variant.CORRECTED,
    statement="With the premises and constants of the corrected Theorem 5 of the journal: OPT <= 2 max(1, alpha) ALG",
    quantity="OPT, against 2 max(1, alpha measured) times the utility of PD-ORS",
    bound=lambda facts: 2 * facts.theorem.alpha * facts.theorem.run.utility,
    expectation=Expectation.TRUE,
    premises=(OPT_POSITIVE, ORDINARY, SMALL_DEMAND),
    details=theorem_details,
    sources=(ASYNC, ASYNC_RISING),
    golden=("pd-ors-thesis-theorem-3-corrected-D11",),
    **_RATIO,
)


def least_alpha(run: Commitment) -> float:
    """Return the least alpha >= 1 with P_i - P_(i-1) >= (D_i - D_(i-1))/alpha; infinite where there is none."""
    ratios = [step.dual / step.primal if step.primal > 0 else math.inf for step in run.steps if step.dual > 0]
    return max([1.0, *ratios])


def _initial_dual_small(facts: PdOrsFacts) -> bool:
    d0 = facts.repaired.certificate.initial
    if exceeds(d0, facts.opt.high / 2):
        return False
    if exceeds(d0, facts.opt.low / 2):
        raise Undecided("whether D0 <= OPT/2 is not proved")
    return True


def _weak_duality(facts: PdOrsFacts) -> bool:
    final = facts.repaired.certificate.dual
    if exceeds(facts.opt.low, final):
        return False
    if exceeds(facts.opt.high, final):
        raise Undecided("whether D_I >= OPT is not proved")
    return True


LEMMA_8 = Claim(
    id="pd-ors/lemma-8",
    paper="PD-ORS, Lemma 8",
    variant=Variant.PRINTED,
    statement=(
        "If P_i - P_(i-1) >= (D_i - D_(i-1))/alpha for all jobs and D_0 <= OPT/2, then OPT <= 2 alpha ALG "
        "(D_I, the value of a feasible point of (10), being at least OPT)"
    ),
    quantity="OPT, against 2 alpha ALG with the least alpha >= 1 of the run that the lemma allows",
    bound=lambda facts: 2 * least_alpha(facts.repaired) * facts.repaired.run.utility,
    expectation=Expectation.TRUE,
    premises=(
        OPT_POSITIVE,
        Premise("the increments have some alpha", lambda facts: math.isfinite(least_alpha(facts.repaired))),
        Premise("D_0 <= OPT/2", _initial_dual_small),
        Premise("D_I >= OPT", _weak_duality),
    ),
    details=repaired_details,
    sources=SMALL,
    golden=("pd-ors-lemma-8-D8",),
    **_RATIO,
)

CLAIMS = (
    THEOREM_5,
    THEOREM_5_CORRECTED,
    THEOREM_6,
    THESIS_THEOREM_3,
    THESIS_THEOREM_3_CORRECTED,
    LEMMA_8,
)
