"""The dynamic program over workloads (21), and Theorem 7, which calls it polynomial."""

from __future__ import annotations

from typing import Any

import numpy as np

from dlsched.algorithms.pd_ors import Occupancy, Prices, Rounding, constants, respond
from dlsched.algorithms.pd_ors.offers import External
from dlsched.algorithms.pd_ors.response import Program, Settings
from dlsched.algorithms.run import Variant as RunVariant
from dlsched.bounds.claim import Claim, Expectation, Premise, Undecided, Variant
from dlsched.bounds.comparison import Relation
from dlsched.bounds.pd_ors.competitive import ORDINARY
from dlsched.bounds.pd_ors.facts import PdOrsFacts
from dlsched.bounds.pd_ors.families import ROOMY, SECTION_5, TINY
from dlsched.models.arithmetic import exact_power, power
from dlsched.models.dmlrs import Job
from dlsched.models.document import InputError

DEGREE = 10
"""Of the polynomial that the paper's program is compared with."""

_RULE = Rounding.of("1", 1.0, 1, RunVariant.CORRECTED)


def _payoffs(facts: PdOrsFacts, program: Program) -> float:
    """Return the sum of the best payoffs at the first prices, by a dynamic program with exact one-slot costs."""
    occupancy = Occupancy(facts.instance, constants(facts.instance, Prices.REPAIRED))
    settings = Settings(External.EXACT, _RULE, program, RunVariant.CORRECTED)
    try:
        return sum(respond(occupancy, job, settings, np.random.default_rng(0)).payoff for job in facts.instance.jobs)
    except InputError as limit:
        raise Undecided(str(limit)) from None


def _best_payoffs(facts: PdOrsFacts) -> float:
    """Return the same by enumerating all schedules."""
    low = float(facts.repaired.constants.low)
    priced = facts.repaired.constants.saturation
    total = 0.0
    for columns in facts.schedules.values():
        payoffs = (
            float(column.utility)
            - low * float(sum(n for (h, r, _), n in column.usage(facts.instance).items() if (h, r) in priced))
            for column in columns
        )
        total += max(payoffs, default=0.0) if columns else 0.0
    return total


_SYNCHRONOUS = Premise("jobs are synchronous", lambda facts: not facts.instance.asynchronous)
_PAYING = Premise(
    "every payoff is positive", lambda facts: all(c.utility > 0 for cs in facts.schedules.values() for c in cs)
)

_PROGRAM: dict[str, Any] = {
    "id": "pd-ors/dynamic-program",
    "paper": "PD-ORS, (21)",
    "relation": Relation.EQUAL,
    "facts": PdOrsFacts,
    "sources": (TINY, ROOMY),
}

DYNAMIC_PROGRAM = Claim(
    variant=Variant.PRINTED,
    statement="(21), over whole numbers of samples v, is equivalent to (16)",
    quantity="sum of the best payoffs by (21) at the first prices, against that by the program over worker-slots",
    measure=lambda facts: _payoffs(facts, Program.SAMPLES),
    bound=lambda facts: _payoffs(facts, Program.WORKER_SLOTS),
    expectation=Expectation.FALSE,
    premises=(_SYNCHRONOUS, ORDINARY),
    counterexamples=("pd-ors-dynamic-program-half-samples",),
    golden=("pd-ors-dynamic-program-D1",),
    **_PROGRAM,
)

DYNAMIC_PROGRAM_CORRECTED = Claim(
    variant=Variant.CORRECTED,
    statement="the program over worker-slots, with work counted by totals, is equivalent to (16)",
    quantity="sum of the best payoffs by that program at the first prices, against that over all schedules",
    measure=lambda facts: _payoffs(facts, Program.WORKER_SLOTS),
    bound=_best_payoffs,
    expectation=Expectation.TRUE,
    premises=(_SYNCHRONOUS, ORDINARY, _PAYING),
    golden=("pd-ors-dynamic-program-corrected-half-samples",),
    **_PROGRAM,
)


def _largest(facts: PdOrsFacts) -> Job:
    jobs = [job for job in facts.instance.jobs if isinstance(job, Job)]
    return max(jobs, key=lambda job: job.work)


_SOME = Premise(
    "there are synchronous jobs", lambda facts: bool(facts.instance.jobs) and not facts.instance.asynchronous
)

THEOREM_7 = Claim(
    id="pd-ors/theorem-7",
    paper="PD-ORS, Theorem 7",
    variant=Variant.PRINTED,
    statement=f"the time of PD-ORS is polynomial, of degree at most {DEGREE} in the length of the input",
    quantity="growth of the T (V + 1) states of (21) when V doubles, against the growth of (bits of V)^10",
    measure=lambda facts: (2 * _largest(facts).work + 1) / (_largest(facts).work + 1),
    bound=lambda facts: power(1 + 1 / int(_largest(facts).work).bit_length(), DEGREE),
    relation=Relation.AT_MOST,
    expectation=Expectation.FALSE,
    facts=PdOrsFacts,
    premises=(_SOME, Premise("V >= 1", lambda facts: _largest(facts).work >= 1)),
    details=lambda facts: {"states": facts.instance.slots * (int(_largest(facts).work) + 1)},
    sources=(SECTION_5,),
    counterexamples=("pd-ors-theorem-7-upper-end",),
)


def _cells(facts: PdOrsFacts) -> int:
    """Return the cells of the program over worker-slots of the largest job: T, internal and external totals."""
    job, slots = _largest(facts), facts.instance.slots
    most = [min(-(-(job.work * time) // 1), slots * job.batch) for time in (job.internal_time, job.external_time)]
    return int(slots * (most[0] + 1) * (most[1] + 1))


THEOREM_7_CORRECTED = Claim(
    id="pd-ors/theorem-7",
    paper="PD-ORS, Theorem 7",
    variant=Variant.CORRECTED,
    statement="the program over worker-slots has at most T (T F + 1)^2 cells, whatever K and E",
    quantity="cells of that program for the largest job, against T (T F + 1)^2",
    measure=_cells,
    bound=lambda facts: facts.instance.slots * exact_power(facts.instance.slots * _largest(facts).batch + 1, 2),
    relation=Relation.AT_MOST,
    expectation=Expectation.TRUE,
    facts=PdOrsFacts,
    premises=(_SOME,),
    sources=(SECTION_5, TINY),
    golden=("pd-ors-theorem-7-corrected-upper-end",),
)

CLAIMS = (DYNAMIC_PROGRAM, DYNAMIC_PROGRAM_CORRECTED, THEOREM_7, THEOREM_7_CORRECTED)
