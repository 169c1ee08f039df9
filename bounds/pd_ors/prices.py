"""What the paper says of its price constants (13) and (14), and of the price of a full resource."""

from __future__ import annotations

from fractions import Fraction

from dlsched.algorithms.pd_ors.prices import fewest_slots
from dlsched.bounds.claim import Expectation, Premise, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.pd_ors.facts import PD_ORS, PRICES_DEFINED, PdOrsFacts
from dlsched.bounds.pd_ors.families import ASYNC, CRITICAL, RISING, ROOMY, TINY
from dlsched.models.dmlrs import check

JOBS = Premise[PdOrsFacts]("there are jobs", lambda facts: bool(facts.instance.jobs))


def _payoff_when_full(facts: PdOrsFacts) -> Fraction:
    """Return the greatest u_i(n - 1) less the price of one worker or server where a resource that it needs is full."""
    constants = facts.repaired.constants
    best = Fraction(0)
    for job in facts.instance.jobs:
        for r in (r for r in facts.instance.resources if r in constants.high):
            for need in (job.worker_needs(r), job.server_needs(r)):
                high = constants.high[r]
                if need and high is not None:
                    best = max(best, job.utility.exact(fewest_slots(job) - 1) - high * need)
    return best


def _rules_broken(facts: PdOrsFacts) -> int:
    return len(check(facts.instance, facts.repaired.run.schedule))


PRICE_BLOCKS = PD_ORS.printed(
    "pd-ors/price-blocks",
    paper="PD-ORS, Section 4.2, iii)",
    statement="where a resource is full, its price U^r keeps out every job that needs it",
    quantity="greatest utility less the price of one worker or server on a full machine, all else free; against 0",
    measure=_payoff_when_full,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(JOBS,),
    details=lambda facts: facts.repaired.dump(),
    sources=(TINY, RISING),
    counterexamples=("pd-ors-price-blocks-D5",),
)

PRICE_BLOCKS_CORRECTED = PRICE_BLOCKS.corrected(
    statement="where a resource is full, (18), the residual capacity, keeps out every schedule that uses it",
    quantity="rules that the final schedule breaks, against 0",
    measure=_rules_broken,
    schedule=lambda facts: facts.repaired.run.schedule,
    sources=(TINY, RISING, ROOMY, ASYNC),
    golden=("pd-ors-price-blocks-corrected-D5",),
)


def _least_durations(facts: PdOrsFacts) -> list[tuple[int, int]]:
    """Return (least duration of a schedule, n - 1), of the jobs that have a schedule."""
    return [
        (min(column.completion for column in columns) - job.arrival, fewest_slots(job) - 1)
        for job in facts.instance.jobs
        if (columns := facts.schedules[job.name])
    ]


def _earliest(facts: PdOrsFacts) -> int:
    """Return the least n - a of a job."""
    return min(fewest_slots(job) - job.arrival for job in facts.instance.jobs)


def _spare(facts: PdOrsFacts) -> int:
    """Return the least difference of a schedule's duration and n - 1."""
    return min(duration - least for duration, least in _least_durations(facts))


LEAST_DURATION = PD_ORS.printed(
    "pd-ors/least-duration",
    paper="PD-ORS, (13)",
    statement="n - a, n = ceil(V kappa_I/F), is a duration, that of the earliest completion: it is not negative",
    quantity="least n - a of a job, against 0",
    measure=_earliest,
    relation=Relation.AT_LEAST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(JOBS,),
    sources=(TINY, ROOMY),
    counterexamples=("pd-ors-least-duration-late",),
)

LEAST_DURATION_CORRECTED = LEAST_DURATION.corrected(
    statement="no schedule of a job is shorter than n - 1",
    quantity="least difference of a schedule's duration and n - 1, against 0",
    measure=_spare,
    premises=(Premise("some job has a schedule", lambda facts: any(facts.schedules.values())),),
    sources=(TINY, ASYNC),
    golden=("pd-ors-least-duration-corrected-late",),
)

POSITIVE_PRICE = PD_ORS.printed(
    "pd-ors/positive-price",
    paper="PD-ORS, (14)",
    statement="L > 0, so that (12) and ln(U^r/L) are defined",
    quantity="1 where L = 0, against 0",
    measure=lambda facts: not facts.defined_constants.low,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(JOBS, PRICES_DEFINED),
    sources=(TINY, CRITICAL),
    counterexamples=("pd-ors-positive-price-deadline",),
)

POSITIVE_PRICE_CORRECTED = POSITIVE_PRICE.corrected(
    statement="with the last positive utility instead of u_i(T - a_i), over the jobs that can finish, L > 0",
    measure=lambda facts: not facts.repaired.constants.low,
    premises=(Premise("some job can earn something", lambda facts: bool(facts.repaired.constants.needed)),),
    golden=("pd-ors-positive-price-corrected-deadline",),
)

CLAIMS = stated(globals())
