"""What the paper says of its price constants (13) and (14), and of the lowest and the highest price."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from dlsched.bounds.claim import Expectation, Premise, always, stated
from dlsched.bounds.comparison import Relation
from dlsched.bounds.pd_ors.facts import (
    CONSTANTS_DEFINED,
    LOWEST_POSITIVE,
    ORDINARY,
    PD_ORS,
    PRICES_DEFINED,
    SOME_SCHEDULE,
    PdOrsFacts,
)
from dlsched.bounds.pd_ors.families import ASYNC, CRITICAL, RISING, ROOMY, SPLIT, TINY
from dlsched.models.dmlrs.instance import fewest_slots
from dlsched.models.dmlrs.schedules import Column

JOBS = Premise[PdOrsFacts]("there are jobs", lambda facts: bool(facts.instance.jobs), "Section 3 2): the set I of jobs")


def _dearest(facts: PdOrsFacts) -> Fraction:
    """Return the greatest share of its utility that a job pays at the lowest prices for its cheapest schedule."""
    low = facts.defined_constants.low
    return max(
        min(low * sum(column.usage(facts.instance).values()) / column.utility for column in columns)
        for columns in facts.schedules.values()
        if columns
    )


LOWEST_ADMITS = PD_ORS.printed(
    "pd-ors/lowest-price-admits",
    paper="PD-ORS, Section 4.2, i) on (12)",
    statement="while nothing is allocated, every price is L, and any job that can finish can be admitted",
    quantity="greatest share of its utility that a job's cheapest schedule costs at the prices L, against 1",
    measure=_dearest,
    relation=Relation.AT_MOST,
    bound=always(1),
    expectation=Expectation.TRUE,
    premises=(CONSTANTS_DEFINED, LOWEST_POSITIVE, SOME_SCHEDULE),
    sources=(TINY, RISING, ROOMY),
    golden=("pd-ors-lowest-price-admits-D2",),
    open="mu, which is only bounded (here the least that the print allows, which makes L the greatest)",
)


def _payoff(facts: PdOrsFacts, column: Column) -> float:
    """Return a schedule's utility less its cost at the final prices."""
    prices = facts.printed.run.prices
    return float(column.utility) - math.fsum(
        prices[place] * float(amount) for place, amount in column.usage(facts.instance).items()
    )


def _through_full(facts: PdOrsFacts) -> list[float]:
    """Return the payoffs of the schedules of turned-away jobs that take something of what is full."""
    full = facts.printed.full
    return [
        _payoff(facts, column)
        for columns in facts.turned_away.values()
        for column in columns
        if not full.isdisjoint(column.usage(facts.instance))
    ]


def _both_on_full(facts: PdOrsFacts) -> Iterator[float]:
    """Yield the payoffs of the schedules with a worker and a server on machines where one resource is full."""
    full = facts.printed.full
    for column in (column for columns in facts.schedules.values() for column in columns):
        for r in facts.instance.resources:
            there = [counts for t, placed in column.slots for h, counts in placed.items() if (h, r, t) in full]
            if any(w for w, _ in there) and any(s for _, s in there):
                yield _payoff(facts, column)
                break


def _full_places(facts: PdOrsFacts) -> dict[str, Any]:
    return {**facts.printed.dump(), "full": sorted(map(list, facts.printed.full))}


PRICE_BLOCKS = PD_ORS.printed(
    "pd-ors/price-blocks",
    paper="PD-ORS, Section 4.2, iii) on (12)",
    statement="where a resource is exhausted, its price U^r is the highest and keeps out every job that requires it",
    quantity="greatest payoff at the final prices of a turned-away job's schedule that takes what is full, against 0",
    measure=lambda facts: max(_through_full(facts)),
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(
        PRICES_DEFINED,
        LOWEST_POSITIVE,
        ORDINARY,
        Premise(
            "a job that could finish, on what is full among others, is turned away",
            lambda facts: bool(_through_full(facts)),
            "Section 4.2, iii)",
        ),
    ),
    details=_full_places,
    schedule=lambda facts: facts.printed.run.schedule,
    sources=(TINY, RISING, SPLIT),
    counterexamples=("pd-ors-price-blocks-small-jobs", "pd-ors-price-blocks-two-machines"),
    golden=("pd-ors-price-blocks-D5",),
    open="which of equally cheap schedules a job takes (here on one machine), and mu (here the least that is allowed)",
)

PRICE_BLOCKS_CORRECTED = PRICE_BLOCKS.corrected(
    statement="the price U^r keeps out every schedule with a worker and a server on machines where r is exhausted",
    quantity="greatest payoff at the final prices of such a schedule of any job, against 0",
    measure=lambda facts: max(_both_on_full(facts)),
    premises=(
        PRICES_DEFINED,
        LOWEST_POSITIVE,
        ORDINARY,
        Premise("there is such a schedule", lambda facts: any(True for _ in _both_on_full(facts))),
    ),
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
    paper="PD-ORS, Section 4.2, on (13)",
    statement="n - a, n = ceil(V kappa_I/F), is the earliest possible completion time, counted from a: not negative",
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
    premises=(SOME_SCHEDULE, ORDINARY),
    sources=(TINY, ASYNC),
    golden=("pd-ors-least-duration-corrected-late",),
)

POSITIVE_PRICE = PD_ORS.derived(
    "pd-ors/positive-price",
    paper="PD-ORS, (12) and (14)",
    statement="L > 0, as (12) and ln(U^r/L) need it to be",
    quantity="1 where L = 0, against 0",
    measure=lambda facts: not facts.defined_constants.low,
    relation=Relation.AT_MOST,
    bound=always(0),
    expectation=Expectation.FALSE,
    premises=(JOBS, CONSTANTS_DEFINED),
    sources=(TINY, CRITICAL),
    counterexamples=("pd-ors-positive-price-deadline",),
)

POSITIVE_PRICE_CORRECTED = POSITIVE_PRICE.corrected(
    statement="with the last positive utility instead of u_i(T - a_i), over the jobs that can earn something, L > 0",
    measure=lambda facts: not facts.repaired.constants.low,
    premises=(Premise("some job can earn something", lambda facts: bool(facts.repaired.constants.needed)),),
    golden=("pd-ors-positive-price-corrected-deadline",),
)

CLAIMS = stated(globals())
