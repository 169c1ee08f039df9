"""The dynamic program over workloads (21), and Theorem 7, which calls it polynomial."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dlsched.algorithms.pd_ors import Occupancy, Prices, Rounding, constants, respond
from dlsched.algorithms.pd_ors.offers import External
from dlsched.algorithms.pd_ors.response import Program, Settings
from dlsched.algorithms.run import Variant as RunVariant
from dlsched.arithmetic import exact_power, power
from dlsched.bounds.claim import Expectation, Premise, Undecided, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.pd_ors.facts import ORDINARY, PD_ORS, PdOrsFacts
from dlsched.bounds.pd_ors.families import ROOMY, SECTION_5, TINY
from dlsched.models.dmlrs import Job
from dlsched.models.document import InputError

DEGREE = 10
"""Of the polynomial that the paper's program is compared with. Arbitrary: an exponential outgrows any."""

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


def _all_positive(facts: PdOrsFacts) -> bool:
    return all(column.utility > 0 for columns in facts.schedules.values() for column in columns)


_SYNCHRONOUS = Premise[PdOrsFacts]("jobs are synchronous", lambda facts: not facts.instance.asynchronous)

DYNAMIC_PROGRAM = PD_ORS.printed(
    "pd-ors/dynamic-program",
    paper="PD-ORS, (21)",
    statement="(21), over whole numbers of samples v, is equivalent to (16)",
    quantity="sum of the best payoffs by (21) at the first prices, against that by the program over worker-slots",
    measure=lambda facts: _payoffs(facts, Program.SAMPLES),
    relation=Relation.EQUAL,
    bound=lambda facts: _payoffs(facts, Program.WORKER_SLOTS),
    expectation=Expectation.FALSE,
    premises=(_SYNCHRONOUS, ORDINARY),
    sources=(TINY, ROOMY),
    counterexamples=("pd-ors-dynamic-program-half-samples",),
    golden=("pd-ors-dynamic-program-D1",),
)

DYNAMIC_PROGRAM_CORRECTED = DYNAMIC_PROGRAM.corrected(
    statement="the program over worker-slots, with work counted by totals, is equivalent to (16)",
    quantity="sum of the best payoffs by that program at the first prices, against that over all schedules",
    measure=lambda facts: _payoffs(facts, Program.WORKER_SLOTS),
    bound=_best_payoffs,
    premises=(_SYNCHRONOUS, ORDINARY, Premise("every payoff is positive", _all_positive)),
    golden=("pd-ors-dynamic-program-corrected-half-samples",),
)


def _largest(facts: PdOrsFacts) -> Job:
    jobs = [job for job in facts.instance.jobs if isinstance(job, Job)]
    return max(jobs, key=lambda job: job.work)


def _some_synchronous(facts: PdOrsFacts) -> bool:
    return bool(facts.instance.jobs) and not facts.instance.asynchronous


_SOME = Premise("there are synchronous jobs", _some_synchronous)


def _growth(facts: PdOrsFacts) -> Fraction:
    """Return (2V + 1)/(V + 1), by which the states of (21) grow when V doubles."""
    return (2 * _largest(facts).work + 1) / (_largest(facts).work + 1)


def _polynomial_growth(facts: PdOrsFacts) -> float:
    """Return the growth of (bits of V)^10."""
    return power(1 + 1 / int(_largest(facts).work).bit_length(), DEGREE)


def _states(facts: PdOrsFacts) -> dict[str, Any]:
    return {"states": facts.instance.slots * (int(_largest(facts).work) + 1)}


def _cells(facts: PdOrsFacts) -> int:
    """Return the cells of the program over worker-slots of the largest job: T, internal and external totals."""
    job, slots = _largest(facts), facts.instance.slots
    most = [min(-(-(job.work * time) // 1), slots * job.batch) for time in (job.internal_time, job.external_time)]
    return int(slots * (most[0] + 1) * (most[1] + 1))


def _most_cells(facts: PdOrsFacts) -> int:
    """Return T (T F + 1)^2."""
    slots = facts.instance.slots
    return slots * exact_power(slots * _largest(facts).batch + 1, 2)


THEOREM_7 = PD_ORS.printed(
    "pd-ors/theorem-7",
    paper="PD-ORS, Theorem 7",
    statement=f"the time of PD-ORS is polynomial, of degree at most {DEGREE} in the length of the input",
    quantity="growth of the T (V + 1) states of (21) when V doubles, against the growth of (bits of V)^10",
    measure=_growth,
    relation=Relation.AT_MOST,
    bound=_polynomial_growth,
    expectation=Expectation.FALSE,
    premises=(_SOME, Premise("V >= 1", lambda facts: _largest(facts).work >= 1)),
    details=_states,
    sources=(SECTION_5,),
    counterexamples=("pd-ors-theorem-7-upper-end",),
)

THEOREM_7_CORRECTED = THEOREM_7.corrected(
    statement="the program over worker-slots has at most T (T F + 1)^2 cells, whatever K and E",
    quantity="cells of that program for the largest job, against T (T F + 1)^2",
    measure=_cells,
    bound=_most_cells,
    premises=(_SOME,),
    sources=(SECTION_5, TINY),
    golden=("pd-ors-theorem-7-corrected-upper-end",),
)

CLAIMS = stated(globals())
